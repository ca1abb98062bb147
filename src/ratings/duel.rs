//! All games between two engines: single ones, pairs, and the estimates by both.

use super::elo::{Estimate, Pentanomial, Sample, Trinomial};
use crate::model::game::points::HalfPoints;

/// A match of two, seen from the first engine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Duel {
    /// The engine from which it is seen.
    pub(crate) first: String,
    /// The other.
    pub(crate) second: String,
    /// Every game.
    pub(crate) games: Trinomial,
    /// Game pairs, where there are any.
    pub(crate) pairs: Pentanomial,
    /// True if every game is in a pair; a test is then by pairs, else by games.
    pub(crate) all_paired: bool,
}

impl Duel {
    /// The match of these two, by the first one's points in every game and in both games of every pair.
    pub(crate) fn new(
        [first, second]: [String; 2],
        games: impl IntoIterator<Item = HalfPoints>,
        pairs: impl IntoIterator<Item = [HalfPoints; 2]>,
    ) -> Duel {
        let mut singles = Trinomial::default();
        for points in games {
            match points {
                HalfPoints::ONE => singles.wins += 1,
                HalfPoints::HALF => singles.draws += 1,
                _ => singles.losses += 1,
            }
        }
        let mut counted = Pentanomial::default();
        for [one, two] in pairs {
            let cell = match (one + two).0 {
                0 => &mut counted.ll,
                1 => &mut counted.ld,
                2 if one == HalfPoints::HALF => &mut counted.dd,
                2 => &mut counted.wl,
                3 => &mut counted.wd,
                _ => &mut counted.ww,
            };
            *cell += 1;
        }
        let in_pairs = 2 * Sample::from(counted).results();
        Duel {
            first,
            second,
            all_paired: in_pairs == Sample::from(singles).results(),
            games: singles,
            pairs: counted,
        }
    }

    /// The sample that tests are made with: pairs where every game is in one, else games.
    pub(crate) fn sample(&self) -> Sample {
        if self.all_paired { self.pairs.into() } else { self.games.into() }
    }

    /// The estimate by single games.
    pub(crate) fn by_games(&self) -> Option<Estimate> {
        Sample::from(self.games).estimate()
    }

    /// The estimate by pairs.
    pub(crate) fn by_pairs(&self) -> Option<Estimate> {
        Sample::from(self.pairs).estimate()
    }
}
