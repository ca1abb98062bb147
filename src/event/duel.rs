//! The games of a field of two, as a match.

use super::field::{EngineIx, Field};
use super::progress::pairs;
use crate::ratings::duel::Duel;

/// The match; none unless the field has just two engines, `first` being one of them.
pub(crate) fn duel(field: &Field, first: &str) -> Option<Duel> {
    let engines: Vec<EngineIx> = field.indices().collect();
    let [one, other] = *engines.as_slice() else {
        return None;
    };
    let (own, other) = if field.engine(one).name == first { (one, other) } else { (other, one) };
    let points = |number: u32| {
        let game = field.games()[number as usize];
        game.result.points(game.color(own)?)
    };
    let both = pairs(field);
    Some(Duel::new(
        [own, other].map(|engine| field.engine(engine).name.clone()),
        field.of(own).map(|seen| seen.points),
        both.iter().filter_map(|pair| Some([points(pair.first)?, points(pair.second)?])),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::tests::field;
    use crate::ratings::elo::Pentanomial;

    #[test]
    fn every_kind_of_pair_is_counted() {
        let games =
            "a-b 1, b-a 0, a-b 0, b-a 1, a-b 1, b-a 1, a-b =, b-a =, a-b 1, b-a =, a-b 0, b-a =";
        let seen = duel(&field(games), "a").unwrap();
        let expected = Pentanomial { ll: 1, ld: 1, wl: 1, dd: 1, wd: 1, ww: 1 };
        assert_eq!(seen.pairs, expected);
        assert!(seen.all_paired);
        assert_eq!((seen.games.wins, seen.games.losses, seen.games.draws), (4, 4, 4));
        let other = duel(&field(games), "b").unwrap();
        assert_eq!(other.first, "b");
        assert_eq!(other.pairs.wd, 1);
        let open = duel(&field("a-b 1, b-a 0, a-b 1"), "a").unwrap();
        assert!(!open.all_paired);
        assert_eq!(open.pairs.ww, 1);
    }

    #[test]
    fn three_engines_are_no_duel() {
        assert_eq!(duel(&field("a-b 1, b-c 1"), "a"), None);
    }
}
