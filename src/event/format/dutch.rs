//! A Swiss of single games in the manner of FIDE's Dutch system, as the older seasons played it.
//!
//! Engines are numbered anew for each round, by points, Buchholz and seed. Score groups are paired from the top:
//! upper half against lower half, with the least changes that forbidden meetings and colours ask for. Which
//! program paired the recorded seasons is not known, and its choice of who leaves a group is not always this
//! one. The colours are those of the recorded seasons, not FIDE's.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroU32;

use shakmaty::Color;

use super::super::points::HalfPoints;
use super::super::record::RoundGame;
use super::super::schedule::{OpeningIndex, Seat};
use super::due::{Due, Next, PairId, Past, groups, open, points};
use super::matching::{is_perfect, largest};
use super::swiss::Round;

/// Up to so many engines of a group, the pairs with the fewest colours refused are found by counting all.
const COUNTED: usize = 16;

/// A Swiss of single games; seats are seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dutch {
    /// Rounds.
    pub rounds: NonZeroU32,
}

/// What pairing asks of an engine.
#[derive(Clone, Debug)]
struct Player {
    seat: Seat,
    points: HalfPoints,
    buchholz: HalfPoints,
    colors: Vec<(u32, Color)>,
    met: BTreeSet<Seat>,
    /// Whether it met a lower score (a bye counts so), or a higher one, in the last round and in the one before.
    floats: [Option<Float>; 2],
}

/// Where an engine met another score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Float {
    Down,
    Up,
}

impl Player {
    /// Games with White less games with Black.
    fn balance(&self) -> i64 {
        self.colors.iter().map(|(_, color)| color.fold_wb(1, -1)).sum()
    }

    fn floated(&self, rounds_ago: usize, float: Float) -> bool {
        self.floats.get(rounds_ago).copied().flatten() == Some(float)
    }

    /// The colour that it wants, and whether it must have it.
    fn wants(&self) -> Option<(Color, bool)> {
        let (_, last) = self.colors.last()?;
        let twice = self.colors.iter().rev().nth(1).is_some_and(|(_, before)| before == last);
        let color = match self.balance().cmp(&0) {
            Ordering::Less => Color::White,
            Ordering::Greater => Color::Black,
            Ordering::Equal => !*last,
        };
        Some((color, twice || self.balance().abs() > 1))
    }
}

impl Dutch {
    fn points(past: &Past, seat: Seat) -> HalfPoints {
        let byes = past.byes.iter().filter(|(bye, _)| *bye == seat).count();
        std::iter::repeat_n(HalfPoints::ONE, byes).fold(points(past, seat), |sum, bye| sum + bye)
    }

    /// How a seat floated in a round.
    fn float(past: &Past, seat: Seat, round: u32) -> Option<Float> {
        if past.byes.contains(&(seat, round)) {
            return Some(Float::Down);
        }
        let game = past
            .games
            .values()
            .find(|game| game.at.round == round && game.color(seat).is_some())?;
        let other = if game.white == seat { game.black } else { game.white };
        let before = past.before(round);
        match Dutch::points(&before, seat).cmp(&Dutch::points(&before, other)) {
            Ordering::Greater => Some(Float::Down),
            Ordering::Less => Some(Float::Up),
            Ordering::Equal => None,
        }
    }

    /// Those who play, by points, Buchholz and seed.
    fn players(seats: usize, past: &Past) -> Vec<Player> {
        let all: BTreeMap<Seat, HalfPoints> =
            (0..seats).map(|seat| (Seat(seat), Dutch::points(past, Seat(seat)))).collect();
        let last = past.games.keys().map(|at| at.round).max().unwrap_or(0);
        let floats = |seat: Seat| {
            [0, 1]
                .map(|ago| last.checked_sub(ago).and_then(|round| Dutch::float(past, seat, round)))
        };
        let player = |(&seat, &points): (&Seat, &HalfPoints)| {
            let own = past.games.values().filter_map(|game| Some((game, game.color(seat)?)));
            let other =
                |(game, color): (&super::Played, Color)| color.fold_wb(game.black, game.white);
            let met: Vec<Seat> = own.clone().map(other).collect();
            Player {
                seat,
                points,
                buchholz: met.iter().filter_map(|seat| all.get(seat)).copied().sum(),
                colors: own.map(|(game, color)| (game.at.round, color)).collect(),
                met: met.into_iter().collect(),
                floats: floats(seat),
            }
        };
        let mut players: Vec<Player> = all.iter().map(player).collect();
        players.retain(|player| !past.out.contains(&player.seat));
        players.sort_by_key(|one| (Reverse(one.points), Reverse(one.buchholz), one.seat));
        players
    }

    /// The pairings of a round, from 1, by what was played before it.
    #[must_use]
    pub fn round(&self, seats: usize, past: &Past, round: u32) -> Round {
        let past = past.before(round);
        let mut players = Dutch::players(seats, &past);
        let mut bye = None;
        if !players.len().is_multiple_of(2) {
            let had = |player: &Player| past.byes.iter().any(|(seat, _)| *seat == player.seat);
            let fits = |at: &usize| {
                let mut rest = players.clone();
                rest.remove(*at);
                !had(&players[*at]) && can_be_paired(&rest, Strict::Colors)
            };
            let lowest = (0..players.len()).rev();
            let at =
                lowest.clone().find(fits).or_else(|| lowest.clone().find(|at| !had(&players[*at])));
            bye = Some(players.remove(at.unwrap_or(players.len() - 1)).seat);
        }
        let strict = [Strict::Colors, Strict::Meetings, Strict::Nothing];
        let strict = strict.into_iter().find(|strict| can_be_paired(&players, *strict));
        let strict = strict.unwrap_or(Strict::Nothing);
        let mut pairs = Groups { players: &players, strict }.paired();
        // Boards by the better score, then by both, then by the better rank.
        let points = |at: usize| players[at].points;
        pairs.sort_by_key(|(a, b)| {
            let best = (*a).min(*b);
            (Reverse(points(best)), Reverse(points(*a) + points(*b)), best)
        });
        let boards = pairs.iter().zip(1..).map(|((a, b), board)| {
            let (upper, lower) = (&players[*a.min(b)], &players[*a.max(b)]);
            colored(upper, lower, board)
        });
        Round { pairs: boards.collect(), bye }
    }

    /// White and Black of any two that meet in a later round than the first.
    #[must_use]
    pub fn colored(&self, seats: usize, past: &Past, round: u32, a: Seat, b: Seat) -> (Seat, Seat) {
        let players = Dutch::players(seats, &past.before(round));
        let pair: Vec<&Player> =
            players.iter().filter(|one| one.seat == a || one.seat == b).collect();
        match pair[..] {
            // The board of the first round is the seed of its better engine.
            [upper, lower] => colored(upper, lower, upper.seat.0 + 1),
            _ => (a, b),
        }
    }

    /// What is due.
    #[must_use]
    pub fn next(&self, seats: usize, past: &Past) -> Next {
        let under_way = past.games.keys().map(|at| at.round).max().unwrap_or(1);
        let due = |round: u32| {
            let paired = self.round(seats, past, round);
            match paired.bye {
                Some(seat) if !past.byes.contains(&(seat, round)) => Some(Next::Bye(seat, round)),
                _ => {
                    let games = open(games_of(&paired, seats, round), past);
                    (!games.is_empty()).then_some(Next::Play(games))
                }
            }
        };
        let next = (under_way..=self.rounds.get()).find_map(due);
        next.unwrap_or_else(|| {
            let all = (0..seats).map(Seat).collect();
            Next::Over(groups(all, |seat| Dutch::points(past, seat)))
        })
    }
}

/// The games of a round; boards keep their numbers, and the last one plays first.
fn games_of(round: &Round, seats: usize, number: u32) -> Vec<Due> {
    let per_round = u32::try_from(seats / 2).unwrap_or(u32::MAX);
    let boards = round.pairs.iter().enumerate().rev();
    boards
        .map(|(at, &(white, black))| {
            let board = u32::try_from(at).unwrap_or(u32::MAX - 1) + 1;
            let pair = (number - 1).saturating_mul(per_round).saturating_add(board - 1);
            Due {
                at: RoundGame { round: number, game: board },
                white,
                black,
                pair: PairId(pair),
                opening: Some(OpeningIndex(pair as usize)),
            }
        })
        .collect()
}

/// White and Black: first on odd boards, then by balance, then by the last difference, then by rank.
fn colored(upper: &Player, lower: &Player, board: usize) -> (Seat, Seat) {
    let is_white = if upper.colors.is_empty() && lower.colors.is_empty() {
        !board.is_multiple_of(2)
    } else {
        match upper.balance().cmp(&lower.balance()) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => {
                let pairs = upper.colors.iter().rev().zip(lower.colors.iter().rev());
                let differed = pairs.map(|((_, a), (_, b))| (*a, *b)).find(|(a, b)| a != b);
                let last = differed.map(|(own, _)| own);
                last.or(upper.colors.last().map(|(_, color)| *color)) == Some(Color::Black)
            }
        }
    };
    if is_white { (upper.seat, lower.seat) } else { (lower.seat, upper.seat) }
}

/// What speaks against a set of engines that leave their group, the weightiest first.
type Cost = [usize; 5];

/// What no pairing may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strict {
    /// No second meeting, and no two that must have the same colour.
    Colors,
    /// No second meeting.
    Meetings,
    /// Everything goes.
    Nothing,
}

fn may_meet(a: &Player, b: &Player, strict: Strict) -> bool {
    let same = matches!((a.wants(), b.wants()), (Some((a, true)), Some((b, true))) if a == b);
    match strict {
        Strict::Colors => !a.met.contains(&b.seat) && !same,
        Strict::Meetings => !a.met.contains(&b.seat),
        Strict::Nothing => true,
    }
}

fn can_be_paired(players: &[Player], strict: Strict) -> bool {
    let graph = (0..players.len())
        .map(|a| {
            let others = (0..players.len())
                .filter(|&b| a != b && may_meet(&players[a], &players[b], strict));
            others.collect()
        })
        .collect::<Vec<_>>();
    is_perfect(&graph)
}

/// Score groups on their way to pairs; players are told by their rank.
struct Groups<'a> {
    players: &'a [Player],
    strict: Strict,
}

impl Groups<'_> {
    fn may_meet(&self, a: usize, b: usize) -> bool {
        may_meet(&self.players[a], &self.players[b], self.strict)
    }

    /// Whether both want the same colour.
    fn is_refused(&self, a: usize, b: usize) -> bool {
        let wants = |at: usize| self.players[at].wants().map(|(color, _)| color);
        wants(a).is_some() && wants(a) == wants(b)
    }

    fn is_perfect(&self, ranks: &[usize], only: impl Fn(usize, usize) -> bool) -> bool {
        let all = 0..ranks.len();
        let others = |a: usize| {
            let fits = |b: &usize| {
                a != *b && self.may_meet(ranks[a], ranks[*b]) && only(ranks[a], ranks[*b])
            };
            all.clone().filter(fits).collect::<Vec<_>>()
        };
        is_perfect(&all.clone().map(others).collect::<Vec<_>>())
    }

    /// All pairs, the best board first.
    fn paired(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        let mut down: Vec<usize> = Vec::new();
        let mut rest: Vec<usize> = (0..self.players.len()).collect();
        while !rest.is_empty() || !down.is_empty() {
            let points = rest.first().map(|at| self.players[*at].points);
            let same = |at: &usize| Some(self.players[*at].points) == points;
            let residents: Vec<usize> = rest.iter().copied().filter(same).collect();
            rest.retain(|at| !same(at));
            let (own, leaving) = self.group(&down, &residents, &rest);
            if own.is_empty() && residents.is_empty() {
                break;
            }
            pairs.extend(own);
            down = leaving;
        }
        pairs
    }

    /// The pairs of a group, and who leaves it: as few as can be, the lowest first, so that all below can be
    /// paired, too; among these those that refuse the fewest colours.
    fn group(
        &self,
        down: &[usize],
        residents: &[usize],
        below: &[usize],
    ) -> (Vec<(usize, usize)>, Vec<usize>) {
        let all: Vec<usize> = down.iter().chain(residents).copied().collect();
        let mut leave = all.len() % 2;
        while leave <= all.len() {
            let mut best: Option<(Cost, Vec<usize>)> = None;
            for leaving in subsets(&all, leave) {
                let stay: Vec<usize> =
                    all.iter().copied().filter(|at| !leaving.contains(at)).collect();
                let next: Vec<usize> = leaving.iter().chain(below).copied().collect();
                if !self.is_perfect(&stay, |_, _| true) || !self.is_perfect(&next, |_, _| true) {
                    continue;
                }
                let count =
                    |is: &dyn Fn(usize) -> bool| leaving.iter().filter(|at| is(**at)).count();
                let cost = [
                    count(&|at| down.contains(&at)),
                    self.left_over(&leaving, below),
                    self.refused(&stay),
                    count(&|at| self.players[at].floated(0, Float::Down)),
                    count(&|at| self.players[at].floated(1, Float::Down)),
                ];
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, leaving));
                }
            }
            if let Some((_, leaving)) = best {
                let stay: Vec<usize> =
                    all.iter().copied().filter(|at| !leaving.contains(at)).collect();
                return (self.halves(&stay, down), leaving);
            }
            leave += 2;
        }
        (Vec::new(), all)
    }

    /// How many of the next group and of those who come down to it would stay without an opponent there.
    fn left_over(&self, leaving: &[usize], below: &[usize]) -> usize {
        let points = below.first().map(|at| self.players[*at].points);
        let same = below.iter().filter(|at| Some(self.players[**at].points) == points);
        let group: Vec<usize> = leaving.iter().chain(same).copied().collect();
        let others = |a: usize| {
            let fits = |b: &usize| a != *b && self.may_meet(group[a], group[*b]);
            (0..group.len()).filter(fits).collect::<Vec<_>>()
        };
        let graph: Vec<Vec<usize>> = (0..group.len()).map(others).collect();
        largest(&graph).iter().filter(|partner| partner.is_none()).count()
    }

    /// The fewest pairs of these in which both want the same colour; where they are many, whether any is.
    fn refused(&self, ranks: &[usize]) -> usize {
        if ranks.len() > COUNTED {
            return usize::from(!self.is_perfect(ranks, |a, b| !self.is_refused(a, b)));
        }
        self.fewest(ranks, (1 << ranks.len()) - 1, &mut HashMap::new()).unwrap_or(ranks.len())
    }

    fn fewest(
        &self,
        ranks: &[usize],
        left: u32,
        known: &mut HashMap<u32, Option<usize>>,
    ) -> Option<usize> {
        if left == 0 {
            return Some(0);
        }
        if let Some(found) = known.get(&left) {
            return *found;
        }
        let first = left.trailing_zeros() as usize;
        let without = left & !(1 << first);
        let mut best: Option<usize> = None;
        for second in (first + 1..ranks.len()).filter(|second| without & (1 << second) != 0) {
            if self.may_meet(ranks[first], ranks[second]) {
                let own = usize::from(self.is_refused(ranks[first], ranks[second]));
                let rest = self.fewest(ranks, without & !(1 << second), known);
                let sum = rest.map(|rest| rest + own);
                best = [best, sum].into_iter().flatten().min();
            }
        }
        known.insert(left, best);
        best
    }

    /// Pairs those who stay: who came down with the highest it can meet, then upper half with lower half.
    fn halves(&self, stay: &[usize], down: &[usize]) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        let mut left = stay.to_vec();
        let mut least = self.refused(&left);
        while let Some(&first) = left.first() {
            let others: Vec<usize> = left[1..].to_vec();
            let came_down = |at: usize| down.contains(&at);
            let homogeneous = !came_down(first);
            let half = left.len() / 2;
            // The natural opponent first, then those behind it, then those before it.
            let natural = if homogeneous {
                half - 1
            } else {
                others.iter().take_while(|at| came_down(**at)).count()
            };
            let mut order: Vec<usize> = (natural..others.len()).chain((0..natural).rev()).collect();
            if !homogeneous {
                // Whoever met a higher score of late is spared.
                let spared = |at: &usize| {
                    let one = &self.players[others[*at]];
                    (one.floated(0, Float::Up), one.floated(1, Float::Up))
                };
                order.sort_by_key(spared);
            }
            let fitting = |at: &usize| {
                let second = others[*at];
                let rest: Vec<usize> =
                    others.iter().copied().filter(|one| *one != second).collect();
                let own = usize::from(self.is_refused(first, second));
                self.may_meet(first, second)
                    && self.is_perfect(&rest, |_, _| true)
                    && self.refused(&rest) + own <= least
            };
            let found = order.iter().copied().find(fitting).or_else(|| {
                order.iter().copied().find(|at| {
                    let rest: Vec<usize> =
                        others.iter().copied().filter(|one| *one != others[*at]).collect();
                    self.may_meet(first, others[*at]) && self.is_perfect(&rest, |_, _| true)
                })
            });
            let Some(found) = found else { break };
            let second = others[found];
            pairs.push((first, second));
            left.retain(|one| *one != first && *one != second);
            least = self.refused(&left);
        }
        pairs
    }
}

/// Sets of so many out of a list, the last ones first; no more than can be looked at.
fn subsets(all: &[usize], size: usize) -> Vec<Vec<usize>> {
    const MOST: usize = 400;
    if size > all.len() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut chosen: Vec<usize> = (0..size).collect();
    let length = all.len();
    loop {
        found.push(chosen.iter().rev().map(|at| all[length - 1 - at]).collect());
        let Some(at) = (0..size).rev().find(|at| chosen[*at] < length - size + at) else { break };
        chosen[at] += 1;
        for next in at + 1..size {
            chosen[next] = chosen[next - 1] + 1;
        }
        if found.len() >= MOST {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::super::record::GameResult;
    use super::super::due::Played;
    use super::*;

    #[test]
    fn the_first_round_is_the_upper_half_against_the_lower() {
        let format = Dutch { rounds: NonZeroU32::MIN };
        let round = format.round(8, &Past::default(), 1);
        let told: Vec<(usize, usize)> = round.pairs.iter().map(|(w, b)| (w.0, b.0)).collect();
        assert_eq!(told, [(0, 4), (5, 1), (2, 6), (7, 3)]);
    }

    #[test]
    fn nobody_meets_twice_while_it_can_be_helped_and_byes_come_once() {
        let mut lots = 11u64;
        for seats in 2..=60usize {
            let rounds = (seats as u32 - 1).clamp(1, 7);
            let format = Dutch { rounds: NonZeroU32::new(rounds).unwrap() };
            let mut past = Past::default();
            let mut met = BTreeSet::new();
            loop {
                let mut due = match format.next(seats, &past) {
                    Next::Play(due) => due,
                    Next::Bye(seat, round) => {
                        assert!(past.byes.iter().all(|(had, _)| *had != seat), "{seats}");
                        past.byes.insert((seat, round));
                        continue;
                    }
                    Next::Over(groups) => {
                        assert_eq!(groups.concat().len(), seats);
                        break;
                    }
                };
                due.reverse();
                assert_eq!(due.len(), seats / 2);
                let players = Dutch::players(seats, &past.before(due[0].at.round));
                let byes: Vec<Seat> = past
                    .byes
                    .iter()
                    .filter(|(_, round)| *round == due[0].at.round)
                    .map(|(seat, _)| *seat)
                    .collect();
                let players: Vec<Player> =
                    players.into_iter().filter(|one| !byes.contains(&one.seat)).collect();
                let must_repeat = !can_be_paired(&players, Strict::Meetings);
                for game in due {
                    let pair = (game.white.min(game.black), game.white.max(game.black));
                    assert!(met.insert(pair) || must_repeat, "{seats}: {pair:?} again");
                    lots = lots.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(13);
                    let result = match lots >> 60 {
                        0..5 => GameResult::Drawn,
                        5..11 => GameResult::Won(Color::White),
                        _ => GameResult::Won(Color::Black),
                    };
                    past.add(Played { at: game.at, white: game.white, black: game.black, result });
                }
            }
            for seat in 0..seats {
                let colors = past.games.values().filter_map(|game| game.color(Seat(seat)));
                let balance: i32 = colors.map(|color| color.fold_wb(1, -1)).sum();
                assert!(balance.abs() <= 3, "{seats}: {balance}");
            }
        }
    }
}
