//! The engines that go on from a stage, and the ties that keep it from being over.

use super::format::Next;
use super::ledger::StageState;
use super::stage::{Ranking, Stage, playing};
use super::standings::Standings;
use super::tiebreak::TiedRest;

impl Stage {
    /// Returns the engines that go on by a ranking without an open tie; none that plays no more, so there may be too few.
    /// Engines that share the last place that counts are all among them.
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
    pub(crate) fn open_tie(&self, standings: &Standings, ranking: &Ranking) -> Option<Vec<String>> {
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

    /// Returns the places of a stage that fewer than two engines play: those that go on without a game come first.
    pub(crate) fn places_without_games(
        &self,
        standings: &Standings,
        state: &StageState,
    ) -> Ranking {
        if !state.started.level.is_empty() {
            return self.ranking(standings, state);
        }
        let all = state.started.through.iter().chain(&state.started.seats);
        all.map(|name| vec![name.clone()]).collect()
    }

    /// The ties that organisers may decide now, each by its engines: the one that keeps a stage from being over, or those
    /// that are played on without an end.
    pub(crate) fn ties(&self, state: &StageState) -> Vec<Vec<String>> {
        if state.outcome.is_some() {
            return Vec::new();
        }
        if !self.is_played(state) {
            return self.endless(state);
        }
        let standings = self.standings_of(state);
        self.open_tie(&standings, &self.ranking(&standings, state)).into_iter().collect()
    }

    /// True if all games of a stage are played, but for those of engines that are out.
    pub(crate) fn is_played(&self, state: &StageState) -> bool {
        matches!(self.next(state.started.seats.len(), &self.past_of(state)), Next::Over(_))
    }

    /// True if something follows from the order of the engines on a place, from 1, and on the next one.
    pub(super) fn tells_apart(&self, place: usize) -> bool {
        // Matches have decided who goes on from a bracket or a playoff; those that share a place stand by their seats, but for
        // those whom the stage before a playoff left level in everything.
        let is_ranked = self.format.ranks();
        let by_seats = is_ranked && self.breaks_ties_of.is_none();
        let taken = self.taken.iter().any(|taken| {
            let [this, next] = [place, place + 1].map(|place| taken.places.contains(&place));
            this != next || this && taken.by_ranking && !by_seats
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

    use super::super::format::Format;
    use super::super::format::playoff::Playoff;
    use super::super::journal::record::{StageStarted, TieDecision};
    use super::super::journal_games::tests::finished;
    use super::super::stage::PlacesTaken;
    use super::super::stage::StageFormat;
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

    /// Section 6 of the leagues says who has the two places of the Superfinal, and rule 7.3 gives the first of them Black.
    #[test]
    fn two_whom_a_playoff_lets_through_level_in_everything_are_told_apart_by_the_organisers() {
        let names = |list: &str| list.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let playoff = Playoff { doubles: NonZeroU32::MIN, spots: NonZeroU32::new(2).unwrap() };
        let superfinal = PlacesTaken { places: vec![1, 2], by_ranking: true };
        let stage = Stage {
            breaks_ties_of: Some(0),
            taken: vec![superfinal],
            ..stage(StageFormat::Of(Format::Playoff(playoff)))
        };
        // a and b are level before c, each with a won and a drawn game of two.
        let games = [
            ("b", "c", "1-0"),
            ("a", "b", "1/2-1/2"),
            ("c", "a", "0-1"),
            ("c", "b", "0-1"),
            ("b", "a", "1/2-1/2"),
            ("a", "c", "1-0"),
        ];
        let state = |through: &[&str], seats: &str, level: &[&str]| {
            let level = level.iter().map(|group| names(group)).collect();
            let through = through.iter().copied().map(str::to_owned).collect();
            let seats = names(seats);
            let started =
                StageStarted { seats, through, level, name: "S".into(), ..StageStarted::default() };
            let mut state = StageState::new(started);
            for (round, (white, black, word)) in (1..).zip(games) {
                let at = RoundGame { round, game: 1 };
                state.add("E", &finished(white, black, at, word, "e2e4 e7e5")).unwrap();
            }
            state
        };
        let told = |stage: &Stage, state: &StageState| {
            let standings = stage.standings(&state.field(None));
            let ranking = stage.ranking(&standings, state);
            (ranking.concat(), stage.open_tie(&standings, &ranking))
        };
        let tied = Some(names("a b"));
        // The stage before told them apart: they stand as it has them.
        assert_eq!(told(&stage, &state(&[], "a b c", &[])), (names("a b c"), None));
        let mut level = state(&[], "a b c", &["a b"]);
        assert_eq!(told(&stage, &level), (names("a b c"), tied.clone()));
        // By lot, nothing follows from their order.
        let by_lot = PlacesTaken { places: vec![1, 2], by_ranking: false };
        let drawn = Stage { taken: vec![by_lot], ..stage.clone() };
        assert_eq!(told(&drawn, &level).1, None);
        level.decisions.push(TieDecision {
            stage: 0,
            order: names("b a"),
            reason: "a coin".into(),
            at: String::new(),
        });
        assert_eq!(told(&stage, &level), (names("b a c"), None));
        // Both were clear of all others, and nobody plays.
        let started = StageStarted {
            through: names("a b"),
            level: vec![names("a b")],
            ..StageStarted::default()
        };
        assert_eq!(told(&stage, &StageState::new(started)), (names("a b"), tied));
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
