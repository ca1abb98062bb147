//! The stages' books: read before the first game, frozen when their stage begins.

use std::collections::HashMap;

use shakmaty::{Chess, Position};

use super::{Conductor, EventError};
use crate::event::stage::Stage;
use crate::game::openings::{Book, Order, Wanted};
use crate::model::text::shown;
use crate::model::words::counted;

impl Conductor<'_> {
    /// Reads the books of all stages to come: what is wrong is told now, not when a pool is over. A later
    /// stage's may still be missing.
    pub(super) fn books(&mut self) -> Result<(), EventError> {
        let config = self.config;
        let over = self.ledger.stages.iter().filter(|stage| stage.outcome.is_some()).count();
        for (number, stage) in config.stages.iter().enumerate().skip(over) {
            let missing = stage.book.as_ref().filter(|book| stage.openings() > 0 && !book.exists());
            match missing {
                Some(path) if number > over => self.audience.say(&format!(
                    "{} needs a book of {}, and {} is not there yet: put it there before {} is over",
                    stage.name,
                    counted(stage.openings(), "opening"),
                    shown(path),
                    config.stages[number - 1].name
                )),
                _ => {
                    let book = self.book(stage, number)?;
                    if let Some(book) = book.filter(|_| self.ledger.stages.is_empty()) {
                        self.remarks(stage, &book);
                    }
                }
            }
        }
        Ok(())
    }

    /// Tells organisers what is odd about a book, before the first game.
    fn remarks(&mut self, stage: &Stage, book: &Book) {
        let needed = stage.openings();
        let mut met: HashMap<Chess, usize> = HashMap::new();
        for (number, opening) in (1..).zip(book.openings().iter().take(needed)) {
            let mut position = opening.start();
            opening.moves().iter().for_each(|one| position.play_unchecked(*one));
            if let Some(first) = met.insert(position, number) {
                self.audience.say(&format!(
                    "{}: the openings {first} and {number} of {} lead to the same position",
                    stage.name,
                    shown(book.path())
                ));
            }
        }
        let there = book.openings().len();
        if stage.format.is_played_on() && there == needed {
            self.audience.say(&format!(
                "{}: {} holds no opening beyond the {needed} of the match, so a tie would be played on with these \
                 again, and engines that always play the same moves would never end it; more openings behind \
                 them help",
                stage.name,
                shown(book.path())
            ));
        }
    }

    pub(super) fn book(&self, stage: &Stage, number: usize) -> Result<Option<Book>, EventError> {
        let Some(path) = stage.book.as_ref().filter(|_| stage.openings() > 0) else {
            return Ok(None);
        };
        let is_table = path.extension().is_some_and(|ending| ending == "bin");
        let most = if is_table { stage.openings() } else { usize::MAX };
        let book = Book::read(path, Wanted { plies: None, most, order: Order::Sequential })?;
        book.require_move_lists("a 4k entry")?;
        let frozen = self.ledger.stages.get(number).and_then(|state| state.started.book.as_ref());
        if let Some(frozen) = frozen.filter(|frozen| frozen.sha256 != book.sha256()) {
            return Err(EventError::BookChanged {
                stage: stage.name.clone(),
                path: path.clone(),
                before: frozen.sha256.clone(),
                now: book.sha256().to_owned(),
            });
        }
        let there = book.openings().len();
        if there < stage.openings() {
            return Err(EventError::SmallBook {
                stage: stage.name.clone(),
                needed: stage.openings(),
                there,
                path: path.clone(),
            });
        }
        Ok(Some(book))
    }
}
