//! The stages' books: read before the first game, frozen when their stage begins.

use std::collections::HashMap;

use shakmaty::{Chess, Position};

use super::{Conductor, EventError};
use crate::event::config::EventConfig;
use crate::event::format::{Due, Format};
use crate::event::journal::record::FrozenBook;
use crate::event::recorder::uci;
use crate::event::stage::{Stage, StageFormat};
use crate::game::openings::{Book, BookOrder, BookPart};
use crate::model::game::opening::Opening;
use crate::model::text::shown;
use crate::model::words::{all, counted};

impl Conductor<'_> {
    /// Reads the books of all stages to come: what is wrong is told now, not when a pool is over. A later
    /// stage's may still be missing.
    pub(super) fn books(&mut self) -> Result<(), EventError> {
        let config = self.config;
        let over = self.ledger.stages_over();
        for (number, stage) in config.stages.iter().enumerate().skip(over) {
            let missing = stage.books.iter().find(|book| stage.openings() > 0 && !book.exists());
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
    fn remarks(&mut self, stage: &Stage, book: &StageBook) {
        let needed = stage.openings();
        let mut met: HashMap<Chess, usize> = HashMap::new();
        let mut again = Vec::new();
        for (number, opening) in (1..).zip(book.openings().iter().take(needed)) {
            let mut position = opening.start();
            opening.moves().iter().for_each(|one| position.play_unchecked(*one));
            if let Some(first) = met.insert(position, number) {
                again.push((first, number));
            }
        }
        if let Some((first, number)) = again.first() {
            let (name, book) = (&stage.name, book.names());
            let more = match again.len() - 1 {
                0 => String::new(),
                1 => ", as one more pair does".to_owned(),
                more => format!(", as {more} more pairs do"),
            };
            self.audience.say(&format!(
                "{name}: the openings {first} and {number} of {book} lead to the same position{more}"
            ));
        }
        let there = book.openings().len();
        let (of, further) = match &stage.format {
            StageFormat::Of(Format::Knockout(knockout)) => {
                ("all matches", knockout.matches(stage.seats))
            }
            _ => ("the match", 1),
        };
        if stage.format.is_played_on() && there < needed + further {
            let (book, name) = (book.names(), &stage.name);
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

    pub(super) fn book(
        &self,
        stage: &Stage,
        number: usize,
    ) -> Result<Option<StageBook>, EventError> {
        let Some(book) = read(stage)? else { return Ok(None) };
        let frozen = self.ledger.stages.get(number).and_then(|state| state.started.book.as_ref());
        if let Some(frozen) = frozen {
            let before = std::iter::once(&frozen.sha256).chain(&frozen.further);
            let mut both = before.zip(&book.files);
            if let Some((before, now)) = both.find(|(before, now)| **before != now.sha256()) {
                return Err(EventError::BookChanged {
                    stage: stage.name.clone(),
                    path: now.path().to_owned(),
                    before: before.clone(),
                    now: now.sha256().to_owned(),
                });
            }
        }
        for (file, needed) in book.files.iter().zip(needed(stage)) {
            let there = file.openings().len();
            if there < needed {
                return Err(EventError::SmallBook {
                    stage: stage.name.clone(),
                    needed,
                    there,
                    path: file.path().to_owned(),
                });
            }
        }
        Ok(Some(book))
    }
}

/// The openings of a stage, of one file or of several.
pub(crate) struct StageBook {
    files: Vec<Book>,
    /// In the order of the stage.
    openings: Vec<Opening>,
}

impl StageBook {
    /// The openings, in the order of the stage.
    pub(crate) fn openings(&self) -> &[Opening] {
        &self.openings
    }

    /// The files.
    pub(crate) fn files(&self) -> &[Book] {
        &self.files
    }

    /// The files by their names.
    fn names(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        for file in &self.files {
            let name = shown(file.path());
            if !names.contains(&name) {
                names.push(name);
            }
        }
        all(&names)
    }

    /// The opening of a game; beyond the book's end its openings come again.
    pub(crate) fn opening(&self, stage: &Stage, seats: usize, game: &Due) -> Opening {
        let index = stage.opening(seats, game, self.openings.len());
        index.and_then(|index| self.openings.get(index)).cloned().unwrap_or_default()
    }

    /// As the journal keeps it.
    pub(crate) fn frozen(&self, stage: &Stage) -> FrozenBook {
        let mut sums = self.files.iter().map(|file| file.sha256().to_owned());
        FrozenBook {
            sha256: sums.next().unwrap_or_default(),
            further: sums.collect(),
            openings: self.openings.iter().take(stage.openings()).map(frozen).collect(),
        }
    }
}

/// An opening as a [`FrozenBook`] has it.
pub(crate) fn frozen(opening: &Opening) -> String {
    let moves = uci(opening.moves(), opening.castling());
    FrozenBook::opening(opening.fen().as_deref(), &moves)
}

impl EventConfig {
    /// The book of a stage as the journal keeps it; none where it needs none, or cannot be read.
    pub fn frozen_book(&self, number: usize) -> Option<FrozenBook> {
        let stage = self.stages.get(number)?;
        Some(read(stage).ok()??.frozen(stage))
    }
}

/// The openings that each file of a stage must hold, in their order.
pub(crate) fn needed(stage: &Stage) -> Vec<usize> {
    let mut needed = vec![0; stage.books.len()];
    match &stage.format {
        StageFormat::Of(Format::Knockout(of)) if needed.len() > 1 => {
            for (book, one) in of.by_book(stage.seats, stage.books.len()) {
                needed[book] += one.own_openings().len();
            }
        }
        StageFormat::Of(Format::Match(of)) if needed.len() > 1 => {
            needed[0] = of.pairs.get() as usize;
            for (book, then) in needed[1..].iter_mut().zip(&of.then) {
                *book = then.pairs.get() as usize;
            }
        }
        _ => return vec![stage.openings()],
    }
    needed
}

/// Puts the openings of several files into the order of a stage: those of each round or part, and behind them those for
/// which ties are played on, each from the file of its match. Where that holds none any more, its own come again.
fn in_order(stage: &Stage, files: &[Book]) -> Vec<Opening> {
    let mut rest: Vec<_> = files.iter().map(|file| file.openings().iter().cloned()).collect();
    let mut all = Vec::new();
    match &stage.format {
        StageFormat::Of(Format::Knockout(of)) if files.len() > 1 => {
            let mut put = |at: usize, opening: Opening| {
                let length = all.len().max(at + 1);
                all.resize(length, Opening::default());
                all[at] = opening;
            };
            let matches = of.by_book(stage.seats, stage.books.len());
            let mut own: Vec<Vec<Opening>> = Vec::new();
            for (book, one) in &matches {
                let range = one.own_openings();
                let openings: Vec<Opening> = rest[*book].by_ref().take(range.len()).collect();
                range.zip(&openings).for_each(|(at, opening)| put(at, opening.clone()));
                own.push(openings);
            }
            for beyond in 0.. {
                let further: Vec<Option<Opening>> =
                    matches.iter().map(|(book, _)| rest[*book].next()).collect();
                if further.iter().all(Option::is_none) {
                    break;
                }
                for ((further, (_, one)), own) in further.into_iter().zip(&matches).zip(&own) {
                    let again = || own.get(beyond % own.len().max(1)).cloned();
                    put(one.opening_beyond(beyond), further.or_else(again).unwrap_or_default());
                }
            }
        }
        StageFormat::Of(Format::Match(of)) if files.len() > 1 => {
            let parts = std::iter::once((of.pairs, false));
            let parts = parts.chain(of.then.iter().map(|then| (then.pairs, then.again)));
            for ((pairs, again), openings) in parts.zip(rest) {
                let most = if again { usize::MAX } else { pairs.get() as usize };
                all.extend(openings.take(most));
            }
        }
        _ => all.extend(rest.into_iter().flatten()),
    }
    all
}

/// Start positions behind those of a stage, for ties that are played on.
const SPARE: usize = 500;

/// A stage's openings; none where it needs none.
///
/// # Errors
/// When they cannot be read, or not be told to entries.
pub(crate) fn read(stage: &Stage) -> Result<Option<StageBook>, EventError> {
    let (openings, variant) = (stage.openings(), stage.variant);
    if openings == 0 {
        return Ok(None);
    }
    let wanted = BookPart { plies: None, most: usize::MAX, order: BookOrder::Sequential, variant };
    if let Some(seed) = stage.start_seed {
        let order = BookOrder::Shuffled { seed };
        let starts = Book::of_starts(BookPart { order, most: openings + SPARE, ..wanted })?;
        let openings = starts.openings().to_vec();
        return Ok(Some(StageBook { files: vec![starts], openings }));
    }
    let mut files = Vec::new();
    for (path, needed) in stage.books.iter().zip(needed(stage)) {
        let is_table = path.extension().is_some_and(|ending| ending == "bin");
        let most = if is_table { needed } else { usize::MAX };
        let book = Book::read(path, BookPart { most, ..wanted })?;
        if !variant.is_chess960() {
            book.require_move_lists("an engine of an event")?;
        }
        files.push(book);
    }
    if files.is_empty() {
        return Ok(None);
    }
    let openings = in_order(stage, &files);
    Ok(Some(StageBook { files, openings }))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::event::format::bracket_draw::BracketDraw;
    use crate::event::format::knockout::{Knockout, WhiteFirst};
    use crate::event::format::match_::{MatchFormat, MatchPart};
    use crate::event::stage::tests::stage;

    /// A stage of so many engines whose files hold these openings, each White's first move.
    fn read_of(format: Format, seats: usize, files: &[&str]) -> (Vec<usize>, String) {
        let dir = tempfile::tempdir().unwrap();
        let mut books = Vec::new();
        for (number, moves) in files.iter().enumerate() {
            let path = dir.path().join(format!("{number}.txt"));
            std::fs::write(&path, moves.replace(' ', "\n") + "\n").unwrap();
            books.push(path);
        }
        let policy = crate::event::schedule::BookPolicy::EachDouble;
        let stage = Stage { seats, books, policy, ..stage(StageFormat::Of(format)) };
        let book = read(&stage).unwrap().unwrap();
        let moves = book.openings().iter().map(|one| uci(one.moves(), one.castling()));
        (needed(&stage), moves.collect::<Vec<_>>().join(" "))
    }

    /// Cup rule 4.a. Four engines: two matches, the one for the third place, the final; then pairs that are played on.
    #[test]
    fn each_round_of_a_bracket_has_the_openings_of_its_own_book() {
        let cup = |bronze: bool| {
            Format::Knockout(Knockout {
                draw: BracketDraw::EqualDistance,
                pairs: vec![NonZeroU32::MIN, NonZeroU32::MIN.saturating_add(1)],
                bronze: bronze.then_some(NonZeroU32::MIN),
                early: true,
                white_first: WhiteFirst::Lower,
            })
        };
        // Behind their own the first round has two more openings, the others one and none; own ones come again.
        let (needed, moves) = read_of(cup(true), 4, &["a3 b3 c3 d3", "e3 f3", "g3 h3"]);
        assert_eq!(needed, [2, 1, 2]);
        assert_eq!(moves, "a2a3 b2b3 e2e3 g2g3 h2h3 c2c3 d2d3 f2f3 g2g3");
        // The last book is both the final's and that of the third place.
        let (needed, moves) = read_of(cup(true), 4, &["a3 b3", "e3 f3 g3 h3"]);
        assert_eq!(needed, [2, 3]);
        assert_eq!(moves, "a2a3 b2b3 e2e3 f2f3 g2g3 a2a3 b2b3 h2h3 f2f3");
        let (_, moves) = read_of(cup(false), 4, &["a3 b3 c3 d3 e3 f3 g3"]);
        assert_eq!(moves, "a2a3 b2b3 c2c3 d2d3 e2e3 f2f3 g2g3");
    }

    /// Engines that are trusted are told the same as all others, and no key of the file would change that.
    #[test]
    fn positions_are_refused_with_the_words_of_an_event() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("book.epd");
        std::fs::write(&path, "4k3/8/8/8/8/8/4P3/4K3 w - -\n").unwrap();
        let of = MatchFormat { pairs: NonZeroU32::MIN, early: false, then: Vec::new() };
        let policy = crate::event::schedule::BookPolicy::EachDouble;
        let format = StageFormat::Of(Format::Match(of));
        let stage = Stage { seats: 2, books: vec![path], policy, ..stage(format) };
        let Err(error) = read(&stage) else { panic!("a position is no list of moves") };
        let error = error.to_string();
        assert!(error.contains("opening 1 is a position"), "{error}");
        assert!(error.contains("engines of an event") && !error.contains("fen=yes"), "{error}");
    }

    /// Leagues, rule 7.5: further openings are of other books.
    #[test]
    fn each_part_of_a_match_has_the_openings_of_its_own_book() {
        let part = |again| MatchPart { pairs: NonZeroU32::MIN, again };
        let then = vec![part(false), part(true)];
        let of = MatchFormat { pairs: NonZeroU32::MIN, early: false, then };
        let (needed, moves) = read_of(Format::Match(of), 2, &["a3 b3", "c3 d3", "e3 f3"]);
        assert_eq!(needed, [1, 1, 1]);
        assert_eq!(moves, "a2a3 c2c3 e2e3 f2f3");
    }
}
