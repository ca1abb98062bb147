//! The checks of openings: a stage's book as it was frozen, and the opening that is due in each of its games.

use std::collections::{BTreeMap, HashMap};

use super::RecordCheck;
use crate::event::conduct::books::{self, StageBook};
use crate::event::format::Due;
use crate::event::journal::record::{FrozenBook, GameStarted, StageStarted};
use crate::event::stage::Stage;
use crate::model::game::opening::OpeningNames;

/// The openings and books that are kept from one record to the next.
#[derive(Default)]
pub(super) struct Openings {
    /// The books as they are now, each read once; none where one cannot be read.
    books: BTreeMap<usize, Option<StageBook>>,
    /// The opening of each encounter of a stage, with the first game that had it: stage, double round robin, both engines.
    encounters: HashMap<(usize, u32, [usize; 2]), (String, String)>,
}

impl Openings {
    /// A stage's book, as long as that is the one that was frozen.
    fn book(&mut self, number: usize, stage: &Stage, frozen: &FrozenBook) -> Option<&StageBook> {
        let read = || books::read(stage).ok().flatten();
        let book = self.books.entry(number).or_insert_with(read).as_ref()?;
        let sums = std::iter::once(&frozen.sha256).chain(&frozen.further);
        sums.eq(book.files().iter().map(|file| file.sha256())).then_some(book)
    }
}

/// The opening that is due in a game.
struct DueOpening {
    /// As a [`FrozenBook`] has it.
    words: String,
    /// Its names; none where the book that has them is not there.
    names: Option<Option<OpeningNames>>,
}

impl RecordCheck<'_> {
    /// Checks that a stage's openings were frozen, all of them, and are those of its book as long as that is the same.
    pub(super) fn book(&mut self, started: &StageStarted) {
        let Some(stage) = self.config.stages.get(started.stage) else { return };
        let (name, needed) = (&stage.name, stage.openings());
        let Some(frozen) = &started.book else {
            if needed > 0 && !self.is_of_0_1 {
                self.wrong(format!("{name} begins, and its book was not frozen"));
            }
            return;
        };
        let there = frozen.openings.len();
        if there != needed {
            self.wrong(format!(
                "{name} needs {needed} openings of its book, and {there} were frozen"
            ));
            return;
        }
        let Some(book) = self.openings.book(started.stage, stage, frozen) else {
            if stage.start_seed.is_some() {
                self.wrong(format!(
                    "the start positions of {name} are not those that its lot draws"
                ));
            }
            return;
        };
        if book.frozen(stage).openings != frozen.openings {
            self.wrong(format!("the openings of {name} are not those of its book"));
        }
    }

    /// Checks that a game has the opening that was drawn for it, and the same as its reverse.
    pub(super) fn opening(&mut self, started: &GameStarted, due: Option<Due>) {
        let Some(pairing) = due else { return };
        let id = &started.id;
        let opening = &FrozenBook::opening(started.start.as_deref(), &started.opening);
        match self.due_opening(started, &pairing) {
            Some(due) if due.words != *opening => {
                self.wrong(format!("{id} has not the opening that was drawn for it"));
            }
            Some(DueOpening { names: Some(names), .. }) if names != started.opening_names => {
                self.wrong(format!("the opening of {id} has other names than its book gives it"));
            }
            None if started.start.is_some() && !self.is_chess960(started.stage) => {
                self.wrong(format!("{id} begins from another position than that of its variant"));
            }
            _ => {}
        }
        let mut seats = [pairing.white.0, pairing.black.0];
        seats.sort_unstable();
        let at = (started.stage, pairing.pair.0, seats);
        let (first, game) =
            self.openings.encounters.entry(at).or_insert_with(|| (opening.clone(), id.clone()));
        if first != opening {
            let what = format!("{id} and its reverse {game} have different openings");
            self.wrong(what);
        }
    }

    /// The opening that is due in a game; none where it stands behind those that were frozen in a book that is not there
    /// any more, or gate4k 0.1 began the stage, which froze no book.
    fn due_opening(&mut self, started: &GameStarted, pairing: &Due) -> Option<DueOpening> {
        let number = started.stage;
        let (stage, state) = self.stage_at(number)?;
        let Some(index) = pairing.opening.filter(|_| stage.openings() > 0) else {
            return Some(DueOpening { words: String::new(), names: Some(None) });
        };
        let frozen = state.started.book.as_ref()?;
        let seats = state.started.seats.len();
        let in_book = self.openings.book(number, stage, frozen);
        let in_book = in_book.map(|book| book.opening(stage, seats, pairing));
        let names = in_book.as_ref().map(|opening| opening.names().cloned());
        let words = match frozen.openings.get(index.0) {
            Some(words) => words.clone(),
            None => books::frozen(&in_book?),
        };
        Some(DueOpening { words, names })
    }

    /// True if a stage's games may begin from positions of Chess960.
    fn is_chess960(&self, stage: usize) -> bool {
        self.config.stages.get(stage).is_some_and(|stage| stage.variant.is_chess960())
    }
}
