//! The game pair that the game of a place belongs to: one opening, played with both colours.

use std::collections::BTreeMap;

use super::super::field::Field;
use super::super::ledger::StageState;
use super::super::schedule::rounds_per_cycle;
use super::super::stage::{Stage, StageFormat};
use super::{Format, StageHistory};
use crate::model::game::listed::RoundGame;

/// A game pair of two engines of a stage: two games between them that have the same one are each other's reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PairAt(u32, u32);

impl PairAt {
    /// The pair of two engines in a double round robin.
    pub(crate) fn of_double(number: u32) -> PairAt {
        PairAt(number, 0)
    }
}

impl Stage {
    /// The games of a stage as its standings count them, with the pairs that its format has.
    pub(crate) fn field(&self, state: &StageState) -> Field {
        let mut field = state.field(self.crash_limit);
        field.pair_by(self.format.pairs(state.started.seats.len(), state.past()));
        field
    }
}

impl StageFormat {
    /// The pair of the game of each place in a stage of so many seats; none for a game that has no reverse.
    pub(crate) fn pairs(
        &self,
        seats: usize,
        past: &StageHistory,
    ) -> impl Fn(RoundGame) -> Option<PairAt> {
        // A go of a playoff is of those whom the goes before left level.
        let mut gone = BTreeMap::new();
        if let StageFormat::Of(Format::Playoff(of)) = self {
            of.goes(seats, past, |go| gone.extend(go.iter().map(|due| (due.at, due.pair.0))));
        }
        move |at| {
            let (round, game) = (at.round.checked_sub(1)?, at.game.checked_sub(1)?);
            Some(match self {
                StageFormat::DoubleRoundRobins(_)
                | StageFormat::Pairs(_)
                | StageFormat::Of(Format::RoundRobin(_)) => {
                    PairAt(round / (2 * rounds_per_cycle(seats).max(1)), 0)
                }
                StageFormat::Of(Format::Match(_)) => PairAt(round / 2, 0),
                StageFormat::Of(Format::Knockout(_)) => PairAt(round, game / 2),
                StageFormat::Of(Format::Swiss(of)) => PairAt(round, game % of.games.get() / 2),
                StageFormat::Of(Format::Dutch(_)) => return None,
                StageFormat::Of(Format::Playoff(_)) => PairAt(*gone.get(&at)?, 0),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::super::bracket_draw::BracketDraw;
    use super::super::due::{Due, Next, PlayedPairing};
    use super::super::dutch::Dutch;
    use super::super::knockout::{Knockout, WhiteFirst};
    use super::super::match_::MatchFormat;
    use super::super::playoff::Playoff;
    use super::super::round_robin::{PairOrder, RoundRobin};
    use super::super::swiss::Swiss;
    use super::*;
    use crate::event::stage::tests::stage;
    use crate::model::game::result::GameResult;

    /// Every game of a stage, all drawn, as far as its first forty.
    fn games(stage: &Stage, seats: usize) -> (Vec<Due>, StageHistory) {
        let (mut past, mut games) = (StageHistory::default(), Vec::new());
        while games.len() < 40 {
            match stage.next(seats, &past) {
                Next::Play(due) => {
                    for Due { at, white, black, .. } in due.iter().copied() {
                        past.add(PlayedPairing { at, white, black, result: GameResult::Draw });
                    }
                    games.extend(due);
                }
                Next::Bye(seat, round) => {
                    past.byes.insert((seat, round));
                }
                Next::Over(_) => break,
            }
        }
        (games, past)
    }

    #[test]
    fn a_place_has_the_pair_that_its_format_gives_its_game() {
        let two = NonZeroU32::MIN.saturating_add(1);
        let knockout = Knockout {
            draw: BracketDraw::EqualDistance,
            pairs: vec![two],
            bronze: None,
            early: false,
            white_first: WhiteFirst::Lower,
        };
        let swiss = |games| Swiss { rounds: two, games, sections: NonZeroU32::MIN };
        for (format, seats) in [
            (StageFormat::DoubleRoundRobins(two), 5),
            (StageFormat::Pairs(two), 2),
            (
                StageFormat::Of(Format::RoundRobin(RoundRobin::of_doubles(
                    two,
                    PairOrder::Rotation,
                ))),
                4,
            ),
            (StageFormat::Of(Format::Match(MatchFormat::until_decisive(two, false))), 2),
            (StageFormat::Of(Format::Knockout(knockout)), 4),
            (StageFormat::Of(Format::Swiss(swiss(two))), 6),
            (StageFormat::Of(Format::Swiss(swiss(NonZeroU32::MIN))), 6),
            (StageFormat::Of(Format::Dutch(Dutch { rounds: two })), 6),
            (StageFormat::Of(Format::Playoff(Playoff { doubles: two, spots: NonZeroU32::MIN })), 3),
        ] {
            let is_single = matches!(&format, StageFormat::Of(of) if of.games_each() == 1);
            let stage = stage(format);
            let (games, past) = games(&stage, seats);
            let pair = stage.format.pairs(seats, &past);
            for a in &games {
                for b in games.iter().filter(|b| b.at != a.at) {
                    let is_reverse = (a.white, a.black) == (b.black, b.white);
                    let due = is_reverse && a.pair == b.pair && !is_single;
                    let told = is_reverse && pair(a.at).is_some() && pair(a.at) == pair(b.at);
                    assert_eq!(told, due, "{:?}: {} and {}", stage.format, a.at, b.at);
                }
            }
        }
    }
}
