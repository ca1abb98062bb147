//! Ties that are played on: how long, and which of them the organisers may end.

use std::collections::BTreeMap;

use super::format::match_::MatchFormat;
use super::format::{Format, Next, StageHistory};
use super::ledger::StageState;
use super::schedule::Seat;
use super::stage::{Stage, StageFormat};
use crate::model::game::listed::RoundGame;

/// A match that is level is played on for so many pairs in one run: two engines that crash at every start would play
/// for ever.
pub(crate) const MOST_MORE_PAIRS: usize = 25;

impl Stage {
    /// The pairs beyond those of the format that each match was played on for since it was level: of a bracket by the
    /// number of the match, of all else together.
    pub(crate) fn pairs_beyond(&self, seats: usize, past: &StageHistory) -> BTreeMap<u32, usize> {
        let beyond = |pairs: usize| (past.games.len() / 2).saturating_sub(pairs);
        let of_all = match &self.format {
            StageFormat::Pairs(pairs) => beyond(pairs.get() as usize),
            StageFormat::Of(Format::Knockout(knockout)) => {
                return knockout.beyond(seats, past);
            }
            StageFormat::Of(format) if self.format.is_played_on() => beyond(format.openings(seats)),
            StageFormat::DoubleRoundRobins(_) | StageFormat::Of(_) => 0,
        };
        BTreeMap::from([(0, of_all)])
    }

    /// True if a game is of pairs that are played since engines were level, of a playoff all: half of a pair would decide
    /// between them.
    pub(crate) fn is_of_deciding_part(&self, seats: usize, at: RoundGame) -> bool {
        match &self.format {
            StageFormat::Pairs(pairs) => at.round > 2 * pairs.get(),
            StageFormat::Of(Format::Match(of)) => of.part(at.round) > 0,
            StageFormat::Of(Format::Knockout(of)) => of.is_further(seats, at),
            StageFormat::Of(Format::Playoff(_)) => true,
            StageFormat::DoubleRoundRobins(_)
            | StageFormat::Of(Format::RoundRobin(_) | Format::Swiss(_) | Format::Dutch(_)) => false,
        }
    }

    /// The engines of each match that was played on for [`MOST_MORE_PAIRS`] and is level still, with nothing begun since:
    /// the organisers may end it.
    pub(crate) fn endless(&self, state: &StageState) -> Vec<Vec<String>> {
        let names = &state.started.seats;
        let past = self.past_of(state);
        let beyond = self.pairs_beyond(names.len(), &past);
        let is_long = |game: u32| beyond.get(&game).is_some_and(|pairs| *pairs >= MOST_MORE_PAIRS);
        let level = self.level(names.len(), &past).into_iter().filter(|(game, _)| is_long(*game));
        let name = |seat: &Seat| names.get(seat.0).cloned();
        level.map(|(_, seats)| seats.iter().filter_map(name).collect()).collect()
    }

    /// The matches that are level, with a further part due of which nothing is played: of a bracket by the number of the
    /// match, of all else 0.
    fn level(&self, seats: usize, past: &StageHistory) -> Vec<(u32, Vec<Seat>)> {
        let both = || vec![(0, vec![Seat(0), Seat(1)])];
        let due = match self.next(seats, past) {
            Next::Play(due) => due,
            Next::Bye(..) | Next::Over(_) => return Vec::new(),
        };
        match &self.format {
            StageFormat::Pairs(_) if due.len() == 2 => both(),
            StageFormat::Of(Format::Match(of)) if of.is_level(&MatchFormat::results(past)) => {
                both()
            }
            StageFormat::Of(Format::Knockout(of)) => {
                let level = of.level(seats, past).into_iter();
                level.map(|(number, seats)| (number, seats.to_vec())).collect()
            }
            StageFormat::Of(Format::Playoff(of)) => {
                of.level(seats, past).map(|seats| (0, seats)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::super::format::bracket_draw::BracketDraw;
    use super::super::format::knockout::{Knockout, WhiteFirst};
    use super::super::format::match_::MatchPart;
    use super::super::format::playoff::Playoff;
    use super::super::stage::tests::stage;
    use super::*;

    #[test]
    fn games_after_a_tie_decide_by_whole_pairs() {
        let two = NonZeroU32::new(2).unwrap();
        let first = |format: StageFormat, at: fn(u32) -> RoundGame| {
            let stage = stage(format);
            (1..20).find(|game| stage.is_of_deciding_part(2, at(*game)))
        };
        let by_round = |round: u32| RoundGame { round, game: 1 };
        let of = |then: Vec<MatchPart>| {
            StageFormat::Of(Format::Match(MatchFormat { pairs: two, early: false, then }))
        };
        let [once, again] = [false, true].map(|again| MatchPart { pairs: two, again });
        assert_eq!(first(StageFormat::Pairs(two), by_round), Some(5));
        assert_eq!(first(of(vec![]), by_round), None);
        assert_eq!(first(of(vec![once]), by_round), Some(5));
        assert_eq!(first(of(vec![once, again]), by_round), Some(5));
        let playoff = Playoff { doubles: two, spots: NonZeroU32::MIN };
        assert_eq!(first(StageFormat::Of(Format::Playoff(playoff)), by_round), Some(1));
        let knockout = Knockout {
            draw: BracketDraw::EqualDistance,
            pairs: vec![two],
            bronze: None,
            early: false,
            white_first: WhiteFirst::Lower,
        };
        let of_first = |game: u32| RoundGame { round: 1, game };
        assert_eq!(first(StageFormat::Of(Format::Knockout(knockout)), of_first), Some(5));
    }
}
