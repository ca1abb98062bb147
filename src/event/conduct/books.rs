//! The stages' books: read before the first game, frozen when their stage begins.

use std::collections::HashMap;

use shakmaty::{Chess, Position};

use super::{Conductor, EventError};
use crate::event::format;
use crate::event::stage::{Stage, StageFormat};
use crate::game::openings::{Book, BookError, BookOrder, BookPart};
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
        let (of, further) = match &stage.format {
            StageFormat::Of(format::Format::Knockout(knockout)) => {
                ("all matches", knockout.matches(stage.seats))
            }
            _ => ("the match", 1),
        };
        if stage.format.is_played_on() && there < needed + further {
            let (book, name) = (shown(book.path()), &stage.name);
            let beyond = match there - needed {
                0 => format!("no opening beyond the {needed} of {of}"),
                more => format!("{} beyond the {needed} of {of}", counted(more, "opening")),
            };
            self.audience.say(&format!(
                "{name}: {book} holds {beyond}, so a tie would be played on with the same ones again, and engines \
                 that always play the same moves would never end it; more openings behind them help"
            ));
        }
    }

    pub(super) fn book(&self, stage: &Stage, number: usize) -> Result<Option<Book>, EventError> {
        let Some(book) = read(stage)? else { return Ok(None) };
        let frozen = self.ledger.stages.get(number).and_then(|state| state.started.book.as_ref());
        if let Some(frozen) = frozen.filter(|frozen| frozen.sha256 != book.sha256()) {
            return Err(EventError::BookChanged {
                stage: stage.name.clone(),
                path: book.path().to_owned(),
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
                path: book.path().to_owned(),
            });
        }
        Ok(Some(book))
    }
}

/// Start positions behind those of a stage, for ties that are played on.
const SPARE: usize = 500;

/// A stage's openings; none where it needs none.
///
/// # Errors
/// When they cannot be read, or not be told to entries.
pub(crate) fn read(stage: &Stage) -> Result<Option<Book>, BookError> {
    let (needed, variant) = (stage.openings(), stage.variant);
    if needed == 0 {
        return Ok(None);
    }
    let wanted = BookPart { plies: None, most: usize::MAX, order: BookOrder::Sequential, variant };
    if let Some(seed) = stage.start_seed {
        let order = BookOrder::Shuffled { seed };
        return Book::of_starts(BookPart { order, most: needed + SPARE, ..wanted }).map(Some);
    }
    let Some(path) = &stage.book else { return Ok(None) };
    let is_table = path.extension().is_some_and(|ending| ending == "bin");
    let most = if is_table { needed } else { usize::MAX };
    let book = Book::read(path, BookPart { most, ..wanted })?;
    if !variant.is_chess960() {
        book.require_move_lists("a 4k entry")?;
    }
    Ok(Some(book))
}
