//! An engine that leaves an event before its end, by its author's wish.

use super::{Conductor, EventError};
use crate::event::entrants::now;
use crate::event::journal::record::{JournalRecord, Withdrawn};
use crate::event::recorder::ResumedGame;
use crate::event::withdraw;

impl Conductor<'_> {
    /// Withdraws an engine; what follows from it is the format's. Gives what was done, in words.
    ///
    /// # Errors
    /// When the engine cannot be withdrawn now.
    pub(crate) fn withdraw(&mut self, engine: &str, reason: &str) -> Result<String, EventError> {
        if let Some(why) = withdraw::knocked_out(self.config, &self.ledger, engine) {
            return Err(EventError::NotNow(why));
        }
        // A word against it comes before anything is kept.
        withdraw::withdrawal(self.config, &self.ledger, engine).map_err(EventError::NotNow)?;
        if let Some(why) = withdraw::plays_no_more(self.config, &self.ledger, engine) {
            return Err(EventError::NotNow(why));
        }
        self.keep_ends(engine)?;
        let withdrawn = Withdrawn {
            reason: reason.to_owned(),
            at: now(),
            ..withdraw::withdrawal(self.config, &self.ledger, engine).map_err(EventError::NotNow)?
        };
        let told = withdrawn.in_words();
        self.keep(JournalRecord::Withdrawn(withdrawn))?;
        Ok(told)
    }

    /// Keeps the results of an engine's games that had ended on the board when their runner was ended.
    fn keep_ends(&mut self, engine: &str) -> Result<(), EventError> {
        for game in self.ledger.open.clone().into_values() {
            if !game.started.plays(engine) {
                continue;
            }
            let broken = ResumedGame::replay(&game, self.config).map_err(EventError::State)?;
            self.had_ended(&game.started, &broken)?;
        }
        Ok(())
    }
}
