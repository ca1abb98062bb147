//! The engines that go on from a stage, and the ties that keep it from being over.

use super::stage::{Ranking, Stage, StageFormat, playing};
use super::standings::Standings;
use super::tiebreak::TiedRest;

impl Stage {
    /// Returns the engines that go on by a ranking without an open tie; none that plays no more, so there may be too few.
    /// Engines that share the last place that counts are all among them.
    #[must_use]
    pub fn promoted(&self, standings: &Standings, ranking: &Ranking) -> Vec<String> {
        let mut promoted = Vec::new();
        for group in playing(standings, ranking) {
            if promoted.len() >= self.promote {
                break;
            }
            promoted.extend(group);
        }
        promoted
    }

    /// The first tie that keeps the stage from being over: one across the last place that goes on, or between places of
    /// which a later stage needs the order. Where nothing follows, one on any place that counts, unless the rules let
    /// engines share it (Swiss, rule 3.5).
    #[must_use]
    pub fn open_tie(&self, standings: &Standings, ranking: &Ranking) -> Option<Vec<String>> {
        let mut place = 0;
        for group in playing(standings, ranking) {
            let last = place + group.len();
            if (place + 1..last).any(|place| self.tells_apart(place)) {
                return Some(group);
            }
            place = last;
        }
        None
    }

    /// True if something follows from the order of the engines on a place, from 1, and on the next one.
    fn tells_apart(&self, place: usize) -> bool {
        // Matches have decided who goes on from a bracket or a playoff; those that share a place stand by their seats.
        let is_ranked = matches!(&self.format, StageFormat::Of(format) if format.ranks());
        let taken = self.taken.iter().any(|taken| {
            let [this, next] = [place, place + 1].map(|place| taken.places.contains(&place));
            this != next || this && taken.by_ranking && !is_ranked
        });
        let counts = match (self.taken.is_empty(), self.chain.rest) {
            (true, TiedRest::Shared) => false,
            (true, TiedRest::Organisers) if !is_ranked => place <= self.promote,
            _ => place == self.promote,
        };
        taken || counts
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::super::journal::record::TieDecision;
    use super::super::journal_games::tests::finished;
    use super::super::stage::PlacesTaken;
    use super::super::stage::tests::{after, stage};
    use super::super::tiebreak::TiebreakChain;
    use super::*;
    use crate::model::game::listed::RoundGame;

    #[test]
    fn a_tie_on_a_place_that_counts_stays_open_until_it_is_decided() {
        let stage = stage(StageFormat::Pairs(NonZeroU32::MIN));
        let game = |white: &str, black: &str, round, word| {
            finished(white, black, RoundGame { round, game: 1 }, word, "e2e4 e7e5")
        };
        // a first; b and c level in everything.
        let games = [
            game("a", "b", 1, "1-0"),
            game("a", "c", 2, "1-0"),
            game("b", "c", 3, "1/2-1/2"),
            game("c", "b", 4, "1/2-1/2"),
        ];
        let mut state = after(&games);
        let standings = stage.standings(&state.field(None));
        let ranking = stage.ranking(&standings, &state);
        let tied = Some(vec!["b".to_owned(), "c".to_owned()]);
        assert_eq!(stage.open_tie(&standings, &ranking), tied);
        let decision = TieDecision {
            stage: 0,
            order: vec!["c".into(), "b".into()],
            reason: "a coin".into(),
            at: String::new(),
        };
        state.decisions.push(decision);
        let ranking = stage.ranking(&standings, &state);
        assert_eq!(ranking.concat(), ["a", "c", "b"]);
        assert_eq!(stage.open_tie(&standings, &ranking), None);
        let one = Stage { promote: 1, ..stage };
        assert_eq!(one.open_tie(&standings, &vec![vec!["a".into()]]), None);
    }

    /// a and b level, c behind them; d and e level behind c.
    #[test]
    fn a_tie_is_open_only_where_something_follows_from_its_order() {
        let game = |white: &str, black: &str, round, word| {
            finished(white, black, RoundGame { round, game: 1 }, word, "e2e4 e7e5")
        };
        let games = [
            game("a", "c", 1, "1-0"),
            game("b", "c", 2, "1-0"),
            game("c", "d", 3, "1-0"),
            game("c", "e", 4, "1-0"),
            game("f", "c", 5, "0-1"),
        ];
        let state = after(&games);
        let stage = stage(StageFormat::DoubleRoundRobins(NonZeroU32::MIN));
        let standings = stage.standings(&state.field(None));
        let ranking: Ranking = ["a b", "c", "d e"]
            .iter()
            .map(|group| group.split(' ').map(str::to_owned).collect())
            .collect();
        let shared = TiebreakChain::named("swiss").unwrap();
        let taken =
            |places: &[usize], by_ranking| PlacesTaken { places: places.to_vec(), by_ranking };
        let first = Some(vec!["a".to_owned(), "b".to_owned()]);
        let last = Some(vec!["d".to_owned(), "e".to_owned()]);
        for (promote, chain, places, open) in [
            (1, stage.chain, vec![], first.clone()),
            (2, stage.chain, vec![], first.clone()),
            (1, shared, vec![], None),
            (1, shared, vec![taken(&[1], false)], first.clone()),
            (2, shared, vec![taken(&[1, 2], false)], None),
            (2, stage.chain, vec![taken(&[1, 2], true)], first.clone()),
            (3, stage.chain, vec![taken(&[1, 2, 3], false)], None),
            (4, stage.chain, vec![taken(&[1, 2, 3, 4], false)], last),
            (2, stage.chain, vec![taken(&[1], false), taken(&[2], false)], first),
        ] {
            let one = Stage { promote, chain, taken: places, ..stage.clone() };
            assert_eq!(one.open_tie(&standings, &ranking), open, "{promote} {:?}", one.taken);
        }
        let one = Stage { promote: 1, chain: shared, ..stage.clone() };
        assert_eq!(one.promoted(&standings, &ranking), ["a", "b"]);
    }
}
