//! The conditional tiebreak of the leagues (section 6 of their rules): double round robins among the tied engines,
//! until as many are left as there are spots.

use std::num::NonZeroU32;

use super::super::schedule::Seat;
use super::due::{Due, Next, PairId, StageHistory, groups, open};
use super::round_robin::{PairOrder, RoundRobin};
use crate::model::game::listed::RoundGame;
use crate::model::game::points::HalfPoints;

/// A playoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Playoff {
    /// Double round robins in one go.
    pub(crate) doubles: NonZeroU32,
    /// Spots at stake.
    pub(crate) spots: NonZeroU32,
}

/// The goes so far, and who is still in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Standing {
    /// The seats that play on, in order.
    left: Vec<Seat>,
    /// The seats that have a spot, the first ones first.
    promoted: Vec<Vec<Seat>>,
    /// The seats that are out, the last to leave last.
    behind: Vec<Vec<Seat>>,
    /// Rounds and pairs of all goes before.
    rounds: u32,
    pairs: u32,
}

impl Playoff {
    /// Returns the next step of the playoff.
    pub(crate) fn next(&self, seats: usize, past: &StageHistory) -> Next {
        self.played(seats, past, |_| {})
    }

    /// Tells the games of each go that has begun.
    pub(super) fn goes(&self, seats: usize, past: &StageHistory, begun: impl FnMut(&[Due])) {
        self.played(seats, past, begun);
    }

    /// The seats that play on, where a go is due of which nothing is played.
    pub(crate) fn level(&self, seats: usize, past: &StageHistory) -> Option<Vec<Seat>> {
        let mut last = Vec::new();
        let next = self.played(seats, past, |go| last = go.to_vec());
        let is_whole = matches!(next, Next::Play(due) if due == last);
        let mut level: Vec<Seat> = last.iter().flat_map(|due| [due.white, due.black]).collect();
        level.sort();
        level.dedup();
        is_whole.then_some(level)
    }

    /// True if the pairing of round `later` followed from the results of round `from`, which is of an earlier go.
    pub(crate) fn follows(&self, seats: usize, past: &StageHistory, later: u32, from: u32) -> bool {
        let mut ends = Vec::new();
        self.played(seats, past, |go| ends.extend(go.iter().map(|due| due.at.round).max()));
        let go = |round: u32| ends.iter().filter(|end| **end < round).count();
        go(later) > go(from)
    }

    /// The same, telling each go that has begun.
    fn played(&self, seats: usize, past: &StageHistory, mut begun: impl FnMut(&[Due])) -> Next {
        let mut standing = Standing {
            left: (0..seats).map(Seat).filter(|seat| past.left(*seat).is_none()).collect(),
            promoted: Vec::new(),
            behind: Vec::new(),
            rounds: 0,
            pairs: 0,
        };
        loop {
            let given = past.taken + standing.promoted.iter().map(Vec::len).sum::<usize>();
            let spots = (self.spots.get() as usize).saturating_sub(given);
            if standing.left.len() <= spots || spots == 0 {
                let mut places = standing.promoted;
                places.push(standing.left);
                places.extend(standing.behind.into_iter().rev());
                places
                    .push((0..seats).map(Seat).filter(|seat| past.left(*seat).is_some()).collect());
                places.retain(|group| !group.is_empty());
                return Next::Over(places);
            }
            let go = self.go(&standing);
            begun(&go);
            let due = open(go.iter().copied(), past);
            if standing.rounds > 0
                && due.len() == go.len()
                && let Some(order) = past.decision(&standing.left)
            {
                let (promoted, behind) = order.split_at(spots);
                standing.promoted.extend(promoted.iter().map(|seat| vec![*seat]));
                standing.behind.extend(behind.iter().rev().map(|seat| vec![*seat]));
                standing.left.clear();
                continue;
            }
            if !due.is_empty() {
                return Next::Play(due);
            }
            self.count(&mut standing, &go, past, spots);
        }
    }

    /// The games of the go that comes now.
    fn go(&self, standing: &Standing) -> Vec<Due> {
        let format = RoundRobin::of_doubles(self.doubles, PairOrder::Berger);
        let games = format.games(standing.left.len()).unwrap_or_default();
        let seat = |seat: Seat| standing.left.get(seat.0).copied().unwrap_or(seat);
        games
            .into_iter()
            .map(|due| Due {
                at: RoundGame { round: due.at.round + standing.rounds, ..due.at },
                white: seat(due.white),
                black: seat(due.black),
                pair: PairId(due.pair.0 + standing.pairs),
                opening: due.opening.map(|index| {
                    super::super::schedule::OpeningIndex(index.0 + standing.pairs as usize)
                }),
            })
            .collect()
    }

    /// Counts a go: who is ahead of the last spot, such as the clear first of two, has one; who is behind it is out.
    fn count(&self, standing: &mut Standing, go: &[Due], past: &StageHistory, spots: usize) {
        let points = |seat: Seat| -> HalfPoints {
            go.iter().filter_map(|due| past.games.get(&due.at)).map(|game| game.points(seat)).sum()
        };
        let mut order = groups(standing.left.clone(), points);
        standing.rounds += go.iter().map(|due| due.at.round).max().unwrap_or(0) - standing.rounds;
        standing.pairs += u32::try_from(go.len() / 2).unwrap_or(u32::MAX);
        let mut spots = spots;
        while order.first().is_some_and(|group| group.len() < spots) {
            let group = order.remove(0);
            spots -= group.len();
            standing.promoted.push(group);
        }
        // Everybody on the points of the last spot stays in, everybody behind leaves.
        let mut kept = 0;
        let mut places = 0;
        for group in &order {
            if places >= spots {
                break;
            }
            places += group.len();
            kept += 1;
        }
        let behind = order.split_off(kept);
        standing.behind.extend(behind.into_iter().rev());
        standing.left = order.concat();
        standing.left.sort();
    }
}

#[cfg(test)]
mod tests {
    use super::super::due::PlayedPairing;
    use super::*;
    use crate::model::game::result::GameResult;
    use shakmaty::Color;

    fn playoff(spots: u32) -> Playoff {
        Playoff { doubles: NonZeroU32::MIN, spots: NonZeroU32::new(spots).unwrap() }
    }

    /// Plays while `decide` says who wins; the games of each go.
    fn played(
        spots: u32,
        seats: usize,
        decide: impl Fn(usize, &Due) -> Option<Seat>,
    ) -> (Vec<usize>, Vec<Vec<Seat>>) {
        let (mut past, mut goes) = (StageHistory::default(), Vec::new());
        loop {
            match playoff(spots).next(seats, &past) {
                Next::Play(due) => {
                    for game in &due {
                        let result = match decide(goes.len(), game) {
                            Some(seat) if seat == game.white => GameResult::Win(Color::White),
                            Some(seat) if seat == game.black => GameResult::Win(Color::Black),
                            _ => GameResult::Draw,
                        };
                        let (white, black) = (game.white, game.black);
                        past.add(PlayedPairing { at: game.at, white, black, result });
                    }
                    goes.push(due.len());
                }
                Next::Over(groups) => return (goes, groups),
                Next::Bye(..) => panic!("no playoff has byes"),
            }
        }
    }

    #[test]
    fn two_for_one_spot_play_until_one_is_ahead() {
        let (goes, groups) = played(1, 2, |go, _| (go == 2).then_some(Seat(1)));
        assert_eq!((goes, groups), (vec![2, 2, 2], vec![vec![Seat(1)], vec![Seat(0)]]));
    }

    #[test]
    fn the_clear_first_of_three_has_its_spot_and_the_rest_play_for_the_other() {
        // Seat 2 beats all in the first go; 0 and 1 are level, and go on for the spot that is left.
        let (goes, groups) = played(2, 3, |go, due| match go {
            0 => [due.white, due.black].contains(&Seat(2)).then_some(Seat(2)),
            1 => None,
            _ => Some(Seat(1)),
        });
        assert_eq!(goes, [6, 2, 2]);
        assert_eq!(groups, [[Seat(2)], [Seat(1)], [Seat(0)]]);
    }

    /// Swiss 9: nine for six spots, of whom five were ahead of the two that shared the sixth place, and only these
    /// two went on.
    #[test]
    fn who_is_ahead_of_the_last_spot_plays_no_more() {
        // In the first go 0 beats all; 1 and 2 are level, as are 3 and 4 behind them; in the second 4 wins.
        let level = |a: Seat, b: Seat| a.0.div_ceil(2) == b.0.div_ceil(2);
        let (goes, groups) = played(4, 6, |go, due| match go {
            0 if level(due.white, due.black) => None,
            0 => Some(due.white.min(due.black)),
            _ => Some(Seat(4)),
        });
        assert_eq!(goes, [30, 2]);
        assert_eq!(
            groups,
            [vec![Seat(0)], vec![Seat(1), Seat(2)], vec![Seat(4)], vec![Seat(3)], vec![Seat(5)]]
        );
    }

    /// Two for one spot: one double round robin has two rounds.
    #[test]
    fn only_later_goes_follow_from_a_game() {
        let mut past = StageHistory::default();
        for round in 1..=3 {
            let (white, black) = (Seat((round as usize + 1) % 2), Seat(round as usize % 2));
            let at = RoundGame { round, game: 1 };
            past.add(PlayedPairing { at, white, black, result: GameResult::Draw });
        }
        let follows = |later, from| playoff(1).follows(2, &past, later, from);
        assert!(!follows(2, 1) && !follows(4, 3) && !follows(1, 3));
        assert!(follows(3, 1) && follows(3, 2) && follows(4, 2));
    }

    #[test]
    fn who_is_behind_the_last_spot_leaves() {
        // Three for two spots: 0 and 1 are level before 2.
        let (goes, groups) = played(2, 3, |_, due| {
            [due.white, due.black]
                .into_iter()
                .find(|seat| *seat != Seat(2) && { due.white == Seat(2) || due.black == Seat(2) })
        });
        assert_eq!((goes, groups), (vec![6], vec![vec![Seat(0), Seat(1)], vec![Seat(2)]]));
        // Four for one spot: all but the first two leave.
        let (goes, _) = played(1, 4, |go, due| match go {
            0 if due.white.0 < 2 && due.black.0 < 2 => None,
            0 => Some(due.white.min(due.black)),
            _ => Some(Seat(0)),
        });
        assert_eq!(goes, [12, 2]);
    }
}
