//! All games between two engines: single ones, pairs, and what they say.

use super::elo::{Estimate, Pentanomial, Sample, Trinomial};
use crate::event::field::{EngineIx, Field};
use crate::event::points::HalfPoints;
use crate::event::progress::pairs;

/// A match of two, seen from the first engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Duel {
    /// The engine from which it is seen.
    pub first: String,
    /// The other.
    pub second: String,
    /// Every game.
    pub games: Trinomial,
    /// Game pairs, where there are any.
    pub pairs: Pentanomial,
    /// Whether every game is in a pair; a test is then by pairs, else by games.
    pub all_paired: bool,
}

impl Duel {
    /// The match; none unless the field has just two engines, `first` being one of them.
    #[must_use]
    pub fn of(field: &Field, first: &str) -> Option<Duel> {
        let engines: Vec<EngineIx> = field.indices().collect();
        let [one, other] = *engines.as_slice() else {
            return None;
        };
        let (own, other) =
            if field.engine(one).name == first { (one, other) } else { (other, one) };
        let mut games = Trinomial::default();
        for seen in field.of(own) {
            match seen.points {
                HalfPoints::ONE => games.wins += 1,
                HalfPoints::HALF => games.draws += 1,
                _ => games.losses += 1,
            }
        }
        let points = |number: u32| {
            let game = field.games()[number as usize];
            let color = game.color(own)?;
            game.result.points(color)
        };
        let mut counted = Pentanomial::default();
        for pair in pairs(field) {
            let both = (points(pair.first), points(pair.second));
            let (Some(one), Some(two)) = both else {
                continue;
            };
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
        Some(Duel {
            first: field.engine(own).name.clone(),
            second: field.engine(other).name.clone(),
            all_paired: in_pairs == Sample::from(games).results(),
            games,
            pairs: counted,
        })
    }

    /// What tests are made with: pairs where every game is in one, else games.
    #[must_use]
    pub fn sample(&self) -> Sample {
        if self.all_paired { self.pairs.into() } else { self.games.into() }
    }

    /// What the games say, one by one.
    #[must_use]
    pub fn by_games(&self) -> Option<Estimate> {
        Sample::from(self.games).estimate()
    }

    /// What the pairs say.
    #[must_use]
    pub fn by_pairs(&self) -> Option<Estimate> {
        Sample::from(self.pairs).estimate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::tests::field;

    #[test]
    fn every_kind_of_pair_is_counted() {
        let games =
            "a-b 1, b-a 0, a-b 0, b-a 1, a-b 1, b-a 1, a-b =, b-a =, a-b 1, b-a =, a-b 0, b-a =";
        let duel = Duel::of(&field(games), "a").unwrap();
        let expected = Pentanomial { ll: 1, ld: 1, wl: 1, dd: 1, wd: 1, ww: 1 };
        assert_eq!(duel.pairs, expected);
        assert!(duel.all_paired);
        assert_eq!((duel.games.wins, duel.games.losses, duel.games.draws), (4, 4, 4));
        let other = Duel::of(&field(games), "b").unwrap();
        assert_eq!(other.first, "b");
        assert_eq!(other.pairs.wd, 1);
        let open = Duel::of(&field("a-b 1, b-a 0, a-b 1"), "a").unwrap();
        assert!(!open.all_paired);
        assert_eq!(open.pairs.ww, 1);
    }

    #[test]
    fn three_engines_are_no_duel() {
        assert_eq!(Duel::of(&field("a-b 1, b-c 1"), "a"), None);
    }
}
