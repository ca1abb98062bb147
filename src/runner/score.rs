//! Results, couple by couple: wins, draws and losses, and pairs of games for the pentanomial statistics.

use std::collections::HashMap;

use serde::Serialize;
use shakmaty::Color;

use super::schedule::{MatchSchedule, ScheduledGame};
use crate::model::game::points::HalfPoints;
use crate::model::game::result::GameResult;

/// Results between two engines, from the first one's point of view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct MatchTally {
    /// Games won.
    pub(crate) wins: u64,
    /// Games drawn.
    pub(crate) draws: u64,
    /// Games lost.
    pub(crate) losses: u64,
    /// Pairs of games by their results: LL, LD, WL, DD, WD, WW.
    pub(crate) pairs: [u64; 6],
}

impl MatchTally {
    /// Games that count.
    pub(crate) fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// Points scored.
    pub(crate) fn points(&self) -> HalfPoints {
        HalfPoints(u32::try_from(2 * self.wins + self.draws).unwrap_or(u32::MAX))
    }

    /// The tally from the other engine's point of view.
    pub(crate) fn reversed(&self) -> MatchTally {
        let [ll, ld, wl, dd, wd, ww] = self.pairs;
        MatchTally {
            wins: self.losses,
            draws: self.draws,
            losses: self.wins,
            pairs: [ww, wd, wl, dd, ld, ll],
        }
    }

    /// The sum of both.
    #[must_use]
    pub(crate) fn plus(mut self, other: &MatchTally) -> MatchTally {
        self.wins += other.wins;
        self.draws += other.draws;
        self.losses += other.losses;
        for (mine, theirs) in self.pairs.iter_mut().zip(other.pairs) {
            *mine += theirs;
        }
        self
    }

    fn add_pair(&mut self, one: HalfPoints, other: HalfPoints) {
        let cell = match (one + other).0 {
            0 => 0,
            1 => 1,
            2 if one == other => 3,
            2 => 2,
            3 => 4,
            _ => 5,
        };
        self.pairs[cell] += 1;
    }
}

/// All results of a match.
#[derive(Clone, Debug)]
pub(crate) struct MatchScore {
    couples: Vec<((usize, usize), MatchTally)>,
    /// The first result of a pair that waits for its second: by couple and encounter.
    half: HashMap<(usize, usize), HalfPoints>,
}

impl MatchScore {
    /// Nothing played yet.
    pub(crate) fn new(schedule: &MatchSchedule) -> MatchScore {
        MatchScore {
            couples: schedule
                .couples()
                .iter()
                .map(|couple| (*couple, MatchTally::default()))
                .collect(),
            half: HashMap::new(),
        }
    }

    /// Counts a result; unfinished games count for nothing.
    pub(crate) fn add(&mut self, pairing: &ScheduledGame, result: GameResult) {
        let Some(((first, _), tally)) = self.couples.get_mut(pairing.couple) else {
            return;
        };
        let side = if pairing.white == *first { Color::White } else { Color::Black };
        let Some(points) = result.points(side) else {
            return;
        };
        match points {
            HalfPoints::ONE => tally.wins += 1,
            HalfPoints::HALF => tally.draws += 1,
            _ => tally.losses += 1,
        }
        if pairing.paired {
            let key = (pairing.couple, pairing.encounter);
            match self.half.remove(&key) {
                Some(before) => tally.add_pair(before, points),
                None => {
                    self.half.insert(key, points);
                }
            }
        }
    }

    /// The results of each couple, from the first engine's point of view.
    pub(crate) fn couples(&self) -> &[((usize, usize), MatchTally)] {
        &self.couples
    }

    /// All results of one engine.
    pub(crate) fn of(&self, engine: usize) -> MatchTally {
        self.couples.iter().fold(MatchTally::default(), |sum, ((one, other), tally)| {
            if *one == engine {
                sum.plus(tally)
            } else if *other == engine {
                sum.plus(&tally.reversed())
            } else {
                sum
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::schedule::{ColourOrder, PairingSystem};

    #[test]
    fn games_and_pairs_are_counted_from_the_first_engines_side() {
        let schedule =
            MatchSchedule::new(2, PairingSystem::RoundRobin, 3, 2, ColourOrder::Reversed);
        let mut score = MatchScore::new(&schedule);
        let white = GameResult::Win(Color::White);
        // Won both; then a win for each White: WL; then a draw and an unfinished game.
        let results = [
            white,
            GameResult::Win(Color::Black),
            white,
            white,
            GameResult::Draw,
            GameResult::Unfinished,
        ];
        // In any order: games end when they end.
        for game in [3, 0, 5, 1, 2, 4] {
            score.add(&schedule.pairing(game).unwrap(), results[game]);
        }
        let tally = score.of(0);
        assert_eq!((tally.wins, tally.draws, tally.losses), (3, 1, 1));
        assert_eq!(tally.pairs, [0, 0, 1, 0, 0, 1]);
        assert_eq!((tally.games(), tally.points()), (5, HalfPoints(7)));
        assert_eq!(score.of(1), tally.reversed());
        assert_eq!(score.of(1).pairs, [1, 0, 1, 0, 0, 0]);
    }
}
