//! The games that were under way when a runner ended or stood still: the ruling on each (rule 6.1).

use std::collections::HashMap;
use std::time::Duration;

use super::play::ContinuedGame;
use super::{Conductor, EventError};
use crate::event::interrupted::{self, Continuation};
use crate::event::journal::record::{GameStarted, JournalRecord};
use crate::event::recorder::{ResumedGame, from_clocks};
use crate::game::pgn;
use crate::model::game::record::Resume;

impl Conductor<'_> {
    /// Decides what becomes of the games of a stage that are under way (rule 6.1), but for those that go on already.
    pub(super) fn settle(
        &mut self,
        number: usize,
        going_on: &mut HashMap<String, ContinuedGame>,
    ) -> Result<(), EventError> {
        let mut open = self.ledger.open.clone();
        // One that an earlier gate4k left under way in a stage before is never played.
        open.retain(|id, game| game.started.stage == number && !going_on.contains_key(id));
        if open.is_empty() {
            return Ok(());
        }
        let tables = self.tables()?;
        for (id, game) in open {
            let broken = ResumedGame::replay(&game, self.config).map_err(EventError::State)?;
            if self.had_ended(&game.started, &broken)? {
                continue;
            }
            let probe = |position: &_| tables.as_ref()?.probe(position);
            let rule = self
                .config
                .stages
                .get(game.started.stage)
                .map_or(self.config.terms.interruption, |stage| stage.terms.interruption);
            let compensation = self.config.compensation;
            let ruling = interrupted::decide(&broken.moment, probe, compensation, rule);
            self.audience.say(&match ruling.verdict {
                Continuation::BeginsAnew => format!("{id}: {}", ruling.why),
                _ => format!("{id}, rule {} of the 4k rules: {}", ruling.rule, ruling.why),
            });
            self.keep(JournalRecord::Interrupted(broken.interrupted(&id, &ruling)))?;
            match ruling.verdict {
                Continuation::Over(ending) => {
                    let finished = broken.finished(&game.started, &ending, Some(ruling.rule));
                    self.keep(JournalRecord::GameFinished(finished))?;
                }
                Continuation::GoesOn { clocks, .. } => {
                    let before = broken.played_for();
                    let (opening, resume) = broken.resume(clocks);
                    going_on.insert(id, ContinuedGame { opening, resume, before });
                }
                Continuation::BeginsAnew => {
                    // Each attempt of such a game began with the whole clocks.
                    let clocks = from_clocks(game.started.clocks);
                    let (opening, resume) = (broken.opening, Resume { plies: Vec::new(), clocks });
                    going_on.insert(id, ContinuedGame { opening, resume, before: Duration::ZERO });
                }
            }
        }
        Ok(())
    }

    /// Keeps the result of a game that had ended on the board; true if it had.
    pub(super) fn had_ended(
        &mut self,
        started: &GameStarted,
        broken: &ResumedGame,
    ) -> Result<bool, EventError> {
        let Some(ending) = broken.ending.clone() else { return Ok(false) };
        self.audience.say(&format!("{} had ended: {}", started.id, pgn::summary(&ending)));
        self.keep(JournalRecord::GameFinished(broken.finished(started, &ending, None)))?;
        Ok(true)
    }
}
