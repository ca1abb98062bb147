//! The games of the round of a Swiss that is played, paired once and not again for each of its games.

use super::RecordCheck;
use crate::event::format::{Due, Format};
use crate::event::journal::record::JournalRecord;
use crate::event::stage::StageFormat;

/// The games that are due in a stage whose rounds are paired one by one.
#[derive(Debug, Default)]
pub(super) struct RoundDue {
    stage: usize,
    /// Those of its round that have no result; nothing is known where there are none.
    left: Vec<Due>,
}

impl RecordCheck<'_> {
    /// The games that are due in a Swiss; none of a stage of another format, whose games are known without pairing a round.
    pub(super) fn due_in_round(&mut self, number: usize) -> Option<&[Due]> {
        let (stage, state) = self.stage_at(number)?;
        let StageFormat::Of(Format::Swiss(_) | Format::Dutch(_)) = &stage.format else {
            return None;
        };
        if self.round.stage != number || self.round.left.is_empty() {
            let left = stage.due(state.started.seats.len(), state.past());
            *self.round = RoundDue { stage: number, left };
        }
        Some(&self.round.left)
    }

    /// Keeps of the round what still holds after a record: a pairing rests on the rounds before it, its byes and those who left.
    pub(super) fn follow_round(&mut self, record: &JournalRecord) {
        match record {
            JournalRecord::GameFinished(game) => {
                let seats = self.stage_at(game.stage).map(|(_, state)| &state.started.seats);
                let is_this = |due: &Due| {
                    let name = |seat: usize| seats.and_then(|seats| seats.get(seat));
                    due.at == game.place()
                        && name(due.white.0) == Some(&game.white)
                        && name(due.black.0) == Some(&game.black)
                };
                let before = self.round.left.len();
                self.round.left.retain(|due| !is_this(due));
                if self.round.stage != game.stage || self.round.left.len() == before {
                    // Whatever that is, the next round may follow from it.
                    self.round.left.clear();
                }
            }
            JournalRecord::Ply(_)
            | JournalRecord::GameStarted(_)
            | JournalRecord::Interrupted(_)
            | JournalRecord::EngineKilled(_)
            | JournalRecord::Paused { .. }
            | JournalRecord::Note { .. } => {}
            _ => self.round.left.clear(),
        }
    }
}
