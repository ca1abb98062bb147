//! The Swiss of the events: Monrad pairing with sections, double or single rounds.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::super::schedule::Seat;
use super::due::{Due, Next, StageHistory, next_of_rounds, points_with_byes};
use super::heaviest::is_perfect;
use crate::model::game::listed::RoundGame;
use crate::model::game::points::HalfPoints;

/// A Swiss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Swiss {
    /// Rounds.
    pub(crate) rounds: NonZeroU32,
    /// Games of an encounter: two, or one.
    pub(crate) games: NonZeroU32,
    /// The sections in which seeds are set before the first round.
    pub(crate) sections: NonZeroU32,
}

/// A round: its encounters, the best first, each with who has White in its first game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SwissRound {
    /// White and Black of the first game, the best encounter first.
    pub(crate) pairs: Vec<(Seat, Seat)>,
    /// The seat that does not play.
    pub(crate) bye: Option<Seat>,
}

impl Swiss {
    /// The seats in the order of seeds: section g takes its equal share of those that are left, and seeds run
    /// through the sections, first the best of each.
    pub(crate) fn seeds(&self, seats: usize) -> Vec<Seat> {
        let sections = (self.sections.get() as usize).clamp(1, seats.max(1));
        let mut first = 0;
        let mut parts = Vec::new();
        for section in 0..sections {
            let size = (seats - first).div_ceil(sections - section);
            parts.push(first..first + size);
            first += size;
        }
        let longest = parts.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        (0..longest)
            .flat_map(|rank| parts.iter().filter_map(move |part| part.clone().nth(rank)))
            .map(Seat)
            .collect()
    }

    /// The points of a seat; a bye counts as many wins as an encounter has games.
    pub(crate) fn points(&self, past: &StageHistory, seat: Seat) -> HalfPoints {
        points_with_byes(past, seat, HalfPoints(2 * self.games.get()))
    }

    /// The seats as they stand before a round: by points, then by seed.
    fn order(&self, seats: usize, past: &StageHistory, round: u32) -> Vec<Seat> {
        let mut order = self.seeds(seats);
        order.retain(|seat| past.is_paired(*seat, round));
        order.sort_by_cached_key(|seat| Reverse(self.points(past, *seat)));
        order
    }

    /// The pairings of a round, from 1, by what was played before it.
    pub(crate) fn round(&self, seats: usize, past: &StageHistory, round: u32) -> SwissRound {
        let past = past.before(round);
        let mut order = self.order(seats, &past, round);
        let bye = (!order.len().is_multiple_of(2)).then(|| bye(&past, &mut order)).flatten();
        let mut met = BTreeMap::new();
        for game in past.games.values() {
            let last = met.entry(meeting(game.white, game.black)).or_insert(game.at.round);
            *last = game.at.round.max(*last);
        }
        let pairs = paired(&order, &met, round);
        let pairs =
            pairs.into_iter().map(|(better, other)| self.colored(&past, round, better, other));
        SwissRound { pairs: pairs.collect(), bye }
    }

    /// White and Black of the first game of any two that meet in a round.
    pub(crate) fn colors(
        &self,
        seats: usize,
        past: &StageHistory,
        round: u32,
        a: Seat,
        b: Seat,
    ) -> (Seat, Seat) {
        let past = past.before(round);
        let order = self.order(seats, &past, round);
        let rank = |seat: Seat| order.iter().position(|other| *other == seat);
        let (first, second) = if rank(a) <= rank(b) { (a, b) } else { (b, a) };
        self.colored(&past, round, first, second)
    }

    /// White and Black of the first game; `first` stands higher, by points and then by seed.
    fn colored(&self, past: &StageHistory, round: u32, first: Seat, second: Seat) -> (Seat, Seat) {
        let is_black = if self.games.get().is_multiple_of(2) {
            true
        } else {
            match balance(past, first).cmp(&balance(past, second)) {
                Ordering::Less => false,
                Ordering::Greater => true,
                Ordering::Equal => {
                    self.points(past, first) > self.points(past, second)
                        || matches!(round % 4, 0 | 1)
                }
            }
        };
        if is_black { (second, first) } else { (first, second) }
    }

    /// Returns the next step of the stage: a bye, the games that are due, or the end.
    pub(crate) fn next(&self, seats: usize, past: &StageHistory) -> Next {
        let round = |number| {
            let paired = self.round(seats, past, number);
            (paired.bye, self.games_of(&paired, seats, number))
        };
        next_of_rounds(self.rounds, seats, past, round, |seat| self.points(past, seat))
    }

    /// The games of a round, the worst pair first.
    pub(crate) fn games_of(&self, round: &SwissRound, seats: usize, number: u32) -> Vec<Due> {
        let each = self.games.get();
        let per_round = u32::try_from(seats / 2).unwrap_or(u32::MAX);
        let pairs = (0..).zip(round.pairs.iter().rev());
        let games = pairs.flat_map(|(at, &(first, second))| {
            let pair = (number - 1).saturating_mul(per_round).saturating_add(at);
            (0..each).map(move |game| {
                let is_reverse = game % 2 == 1;
                let seats = if is_reverse { (second, first) } else { (first, second) };
                let at = RoundGame { round: number, game: at * each + game + 1 };
                Due::of_pair(at, seats, pair as usize)
            })
        });
        games.collect()
    }
}

/// Takes the lowest that had no bye out of the order; where all had one, the lowest that had fewest.
fn bye(past: &StageHistory, order: &mut Vec<Seat>) -> Option<Seat> {
    let byes = |seat: &Seat| past.byes.iter().filter(|(bye, _)| bye == seat).count();
    let (at, _) = order.iter().enumerate().rev().min_by_key(|(_, seat)| byes(seat))?;
    Some(order.remove(at))
}

/// Two seats, whoever is first.
fn meeting(a: Seat, b: Seat) -> (Seat, Seat) {
    (a.min(b), a.max(b))
}

/// Games with White less games with Black.
fn balance(past: &StageHistory, seat: Seat) -> i64 {
    past.games.values().filter_map(|game| game.color(seat)).map(|color| color.fold_wb(1, -1)).sum()
}

/// Pairs everybody: the highest with the highest allowed opponent that leaves a full pairing for the rest.
/// Meetings of the oldest rounds are forgotten where no full pairing exists.
fn paired(order: &[Seat], met: &BTreeMap<(Seat, Seat), u32>, round: u32) -> Vec<(Seat, Seat)> {
    // With one opponent met a round, each may still meet half of so many: all of them can be paired then (Dirac).
    let is_sure = |seats: usize| seats >= 2 * round as usize;
    for forgotten in 0..=round {
        let allowed =
            |a: Seat, b: Seat| met.get(&meeting(a, b)).is_none_or(|last| *last <= forgotten);
        let mut left: Vec<Seat> = order.to_vec();
        if !is_sure(left.len()) && !can_be_paired(&left, &allowed) {
            continue;
        }
        let mut pairs = Vec::new();
        while let Some((&first, others)) = left.split_first() {
            let found = others.iter().copied().find(|&second| {
                let rest: Vec<Seat> =
                    others.iter().copied().filter(|seat| *seat != second).collect();
                allowed(first, second) && (is_sure(rest.len()) || can_be_paired(&rest, &allowed))
            });
            let Some(second) = found else { break };
            pairs.push((first, second));
            left.retain(|seat| *seat != first && *seat != second);
        }
        return pairs;
    }
    Vec::new()
}

fn can_be_paired(seats: &[Seat], allowed: &impl Fn(Seat, Seat) -> bool) -> bool {
    is_perfect(seats.len(), |a, b| allowed(seats[a], seats[b]))
}

#[cfg(test)]
mod tests {
    use super::super::due::PlayedPairing;
    use super::*;
    use crate::model::game::result::GameResult;
    use shakmaty::Color;
    use std::collections::BTreeSet;

    fn swiss(rounds: u32, games: u32, sections: u32) -> Swiss {
        let number = |number| NonZeroU32::new(number).unwrap();
        Swiss { rounds: number(rounds), games: number(games), sections: number(sections) }
    }

    fn told(round: &SwissRound) -> String {
        let pairs = round.pairs.iter().rev();
        let pairs: Vec<String> = pairs.map(|(w, b)| format!("E{}-E{}", w.0 + 1, b.0 + 1)).collect();
        pairs.join(", ")
    }

    #[test]
    fn eight_engines_in_two_sections() {
        let format = swiss(4, 2, 2);
        let seeds: Vec<usize> = format.seeds(8).iter().map(|seat| seat.0 + 1).collect();
        assert_eq!(seeds, [1, 5, 2, 6, 3, 7, 4, 8]);
        let mut past = StageHistory::default();
        assert_eq!(told(&format.round(8, &past, 1)), "E8-E4, E7-E3, E6-E2, E5-E1");
        let mut rounds = Vec::new();
        for _ in 0..4 {
            let Next::Play(due) = format.next(8, &past) else { panic!("nothing is due") };
            let mut pairs: Vec<String> = Vec::new();
            for game in due {
                // The better engine (the smaller number) wins 2-0 at a gap of three and more, else 1.5-0.5.
                let (white, black) = (game.white.0, game.black.0);
                let better = if white < black { Color::White } else { Color::Black };
                let wide = white.abs_diff(black) >= 3;
                let is_drawn = !wide && game.at.game.is_multiple_of(2);
                let result = if is_drawn { GameResult::Draw } else { GameResult::Win(better) };
                past.add(PlayedPairing {
                    at: game.at,
                    white: game.white,
                    black: game.black,
                    result,
                });
                if game.at.game.is_multiple_of(2) {
                    pairs.insert(0, format!("{}{}", white.min(black) + 1, white.max(black) + 1));
                }
            }
            rounds.push(pairs.join(","));
        }
        assert_eq!(rounds[1..], ["12,34,56,78", "13,24,57,68", "14,23,58,67"]);
        let points: Vec<f64> =
            (0..8).map(|seat| format.points(&past, Seat(seat)).as_f64()).collect();
        assert_eq!(points, [7.0, 5.5, 4.5, 3.0, 5.0, 3.5, 2.5, 1.0]);
        assert!(matches!(format.next(8, &past), Next::Over(groups) if groups[0] == [Seat(0)]));
    }

    #[test]
    fn forty_four_engines_stand_in_ten_sections() {
        let seeds = swiss(12, 2, 10).seeds(44);
        assert_eq!(seeds[..3], [Seat(0), Seat(5), Seat(10)]);
        assert_eq!(seeds.len(), 44);
        assert_eq!(BTreeSet::from_iter(&seeds).len(), 44);
    }

    /// The first full pairing in the order of ranks without a second meeting, by trying all.
    fn by_trying(order: &[Seat], met: &BTreeSet<(Seat, Seat)>) -> Option<Vec<(Seat, Seat)>> {
        let Some((&first, others)) = order.split_first() else { return Some(Vec::new()) };
        others.iter().filter(|other| !met.contains(&meeting(first, **other))).find_map(|&other| {
            let rest: Vec<Seat> = others.iter().copied().filter(|seat| *seat != other).collect();
            Some([vec![meeting(first, other)], by_trying(&rest, met)?].concat())
        })
    }

    #[test]
    fn a_round_is_the_first_pairing_in_the_order_of_ranks() {
        let mut lots = 3u64;
        for seats in 2..=12usize {
            for sections in 1..=3 {
                let format = swiss(seats as u32 - 1, 1, sections);
                let (mut past, mut met) = (StageHistory::default(), BTreeSet::new());
                let mut compared = 0;
                for round in 1..seats as u32 {
                    let mut order = format.seeds(seats);
                    order.sort_by_key(|seat| Reverse(format.points(&past, *seat)));
                    let paired = format.round(seats, &past, round);
                    let had = |seat: &Seat| past.byes.iter().any(|(bye, _)| bye == seat);
                    let lowest = order.iter().rev().find(|seat| !had(seat)).copied();
                    assert_eq!(paired.bye, lowest.filter(|_| !seats.is_multiple_of(2)));
                    order.retain(|seat| Some(*seat) != paired.bye);
                    if let Some(first) = by_trying(&order, &met) {
                        let pairs = paired.pairs.iter().map(|(a, b)| meeting(*a, *b));
                        assert_eq!(pairs.collect::<Vec<_>>(), first, "round {round} of {seats}");
                        compared += 1;
                    }
                    past.byes.extend(paired.bye.map(|seat| (seat, round)));
                    for due in format.games_of(&paired, seats, round) {
                        lots = lots.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(13);
                        let winner = Color::from_white(lots >> 62 < 2);
                        let result = if lots >> 60 & 3 == 0 {
                            GameResult::Draw
                        } else {
                            GameResult::Win(winner)
                        };
                        let Due { at, white, black, .. } = due;
                        past.add(PlayedPairing { at, white, black, result });
                        met.insert(meeting(white, black));
                    }
                }
                assert!(compared > 0);
            }
        }
    }

    /// Whole tournaments with 2 to 60 engines and results by lot.
    #[test]
    fn nobody_meets_twice_while_it_can_be_helped_and_byes_come_once() {
        let mut lots = 7u64;
        for seats in 2..=60usize {
            for games in [1, 2] {
                let rounds = (seats as u32).saturating_sub(1).clamp(1, 9);
                let format = swiss(rounds, games, 6);
                let mut past = StageHistory::default();
                let mut met: BTreeSet<(Seat, Seat)> = BTreeSet::new();
                loop {
                    let mut due = match format.next(seats, &past) {
                        Next::Play(due) => due,
                        Next::Bye(seat, round) => {
                            let is_first = past.byes.iter().all(|(had, _)| *had != seat);
                            assert!(is_first, "{seats} {seat:?} has a second bye");
                            past.byes.insert((seat, round));
                            continue;
                        }
                        Next::Over(groups) => {
                            assert_eq!(groups.concat().len(), seats);
                            break;
                        }
                    };
                    // The order in which results come changes nothing.
                    due.reverse();
                    let mut fresh: BTreeSet<(Seat, Seat)> = BTreeSet::new();
                    for game in due {
                        fresh.insert(meeting(game.white, game.black));
                        lots = lots.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(13);
                        let result = match lots >> 60 {
                            0..6 => GameResult::Draw,
                            6..11 => GameResult::Win(Color::White),
                            _ => GameResult::Win(Color::Black),
                        };
                        past.add(PlayedPairing {
                            at: game.at,
                            white: game.white,
                            black: game.black,
                            result,
                        });
                    }
                    let again = fresh.intersection(&met).count();
                    if again > 0 {
                        let all: Vec<Seat> = (0..seats)
                            .map(Seat)
                            .filter(|seat| fresh.iter().any(|(a, b)| a == seat || b == seat))
                            .collect();
                        assert!(
                            !can_be_paired(&all, &|a, b| !met.contains(&meeting(a, b))),
                            "{seats} engines meet again for nothing"
                        );
                    }
                    met.extend(fresh);
                }
                if games == 2 {
                    assert!((0..seats).all(|seat| balance(&past, Seat(seat)) == 0));
                }
            }
        }
    }
}
