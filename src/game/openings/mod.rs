//! Openings: where games begin.
//!
//! For an engine of which only rule 7.9 is asked, an opening is a list of moves from the start position;
//! one that begins elsewhere needs an engine that takes FEN, and [`Book::require_move_lists`] says so
//! before the first game.

mod lines;
mod pgn;
mod polyglot;
mod positions;
mod sequence;

use std::fmt;
use std::path::{Path, PathBuf};

pub(crate) use sequence::{BookOrder, Sequence};

use crate::files::read;
use crate::game::end::{Material, Referee};
use crate::game::start_positions::StartNumber;
use crate::model::game::opening::Opening;
use crate::model::game::variant::Variant;
use crate::model::text::{sha256, shown};
use crate::model::units::Ply;

/// The form in which a book is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BookFormat {
    /// Games; comments and variations are passed over.
    Pgn,
    /// One position a line, EPD or FEN.
    Positions,
    /// One line of moves a line, UCI or SAN.
    Moves,
    /// Polyglot's table of positions and weighted moves.
    Polyglot,
}

impl BookFormat {
    /// By the file's ending.
    fn of(path: &Path) -> Option<BookFormat> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "pgn" => BookFormat::Pgn,
            "epd" | "fen" => BookFormat::Positions,
            "bin" => BookFormat::Polyglot,
            "txt" | "uci" | "san" | "moves" => BookFormat::Moves,
            _ => return None,
        })
    }
}

/// The part of a book that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BookPart {
    /// Openings longer than this are cut.
    pub(crate) plies: Option<Ply>,
    /// The number of openings that is enough: a table of moves has more lines than anybody plays.
    pub(crate) most: usize,
    /// For a table of moves: lines by weight from the heaviest, or drawn by this seed.
    pub(crate) order: BookOrder,
    /// The kind of chess that is played from there.
    pub(crate) variant: Variant,
}

/// Openings read from a file.
#[derive(Clone, Debug)]
pub(crate) struct Book {
    path: PathBuf,
    sha256: String,
    openings: Vec<Opening>,
}

/// A book that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BookError {
    /// The file cannot be read.
    #[error(
        "cannot read the openings in {}: {source}; put your file of openings there, or name another as `book`",
        shown(path)
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The ending tells no format.
    #[error(
        "cannot tell how the openings in {} are written; name the file *.pgn, *.epd, *.bin or *.txt (one \
         line of moves a line)",
        shown(path)
    )]
    Unknown {
        /// The file.
        path: PathBuf,
    },
    /// A place in the file is wrong.
    #[error("{}, {place}: {what}", shown(path))]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The place of the opening in it.
        place: BookPlace,
        /// The reason why it cannot be played.
        what: String,
    },
    /// Nothing to play is in the file.
    #[error("there is no opening in {}", shown(path))]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// Positions for engines that are told moves only.
    #[error(
        "{}, {place} is a position and no list of moves, but {engine} may be told moves only (rule 7.9); \
         use a book of moves (PGN, *.txt, polyglot); of an engine of a match, fen=yes says that it knows positions",
        shown(path)
    )]
    NeedsFen {
        /// The file.
        path: PathBuf,
        /// The first such opening.
        place: BookPlace,
        /// The engine that knows no FEN.
        engine: String,
    },
}

/// A place in a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BookPlace {
    /// A line, from 1.
    Line(usize),
    /// A game, from 1.
    Game(usize),
    /// An opening of those read, from 1.
    Opening(usize),
    /// The file as a whole.
    File,
}

impl fmt::Display for BookPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BookPlace::Line(number) => write!(f, "line {number}"),
            BookPlace::Game(number) => write!(f, "game {number}"),
            BookPlace::Opening(number) => write!(f, "opening {number}"),
            BookPlace::File => f.write_str("the file"),
        }
    }
}

/// A fault inside a book, before its path is known.
type Wrong = (BookPlace, String);

impl Book {
    /// Reads a file, its format told by its ending.
    ///
    /// # Errors
    /// Where it cannot be read, is no book, or holds a move that is not legal.
    pub(crate) fn read(path: &Path, wanted: BookPart) -> Result<Book, BookError> {
        let format =
            BookFormat::of(path).ok_or_else(|| BookError::Unknown { path: path.into() })?;
        let bytes = read::bytes(path, read::BOOK)
            .map_err(|source| BookError::Read { path: path.into(), source })?;
        let openings = parse(&bytes, format, wanted).map_err(|(place, what)| BookError::Wrong {
            path: path.into(),
            place,
            what,
        })?;
        if openings.is_empty() {
            return Err(BookError::Empty { path: path.into() });
        }
        Ok(Book { path: path.into(), sha256: sha256(&bytes), openings })
    }

    /// Start positions of Chess960 without a file, in the order of their numbers or shuffled: `wanted.most` of them.
    ///
    /// # Errors
    /// None: each number is a position.
    pub(crate) fn of_starts(wanted: BookPart) -> Result<Book, BookError> {
        let BookPart { variant, order, most, .. } = wanted;
        let path = PathBuf::from("the start positions");
        let count = StartNumber::count(variant);
        let sequence = Sequence::new(count, order, 0);
        let mut text = String::new();
        let mut openings = Vec::with_capacity(most);
        for at in 0..most {
            let start = StartNumber::nth(variant, sequence.opening(at).unwrap_or(at));
            text += &format!("{start}\n");
            openings.push(positions::of_number(start).map_err(|what| BookError::Wrong {
                path: path.clone(),
                place: BookPlace::Opening(at + 1),
                what,
            })?);
        }
        Ok(Book { path, sha256: sha256(text.as_bytes()), openings })
    }

    /// The openings, in the file's order.
    pub(crate) fn openings(&self) -> &[Opening] {
        &self.openings
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The SHA-256 of the file.
    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Refuses the book if an opening cannot be told to `engine` as moves from the start position.
    ///
    /// # Errors
    /// Names the first such opening.
    pub(crate) fn require_move_lists(&self, engine: &str) -> Result<(), BookError> {
        match self.openings.iter().position(|one| !one.is_move_list()) {
            Some(index) => Err(BookError::NeedsFen {
                path: self.path.clone(),
                place: BookPlace::Opening(index + 1),
                engine: engine.to_owned(),
            }),
            None => Ok(()),
        }
    }
}

fn parse(bytes: &[u8], format: BookFormat, wanted: BookPart) -> Result<Vec<Opening>, Wrong> {
    if format != BookFormat::Polyglot && bytes.contains(&0) {
        return Err((BookPlace::File, "it holds zero bytes, so it is no text in UTF-8".to_owned()));
    }
    match format {
        BookFormat::Pgn => pgn::read(bytes, wanted),
        BookFormat::Positions => positions::read(bytes, wanted),
        BookFormat::Moves => lines::read(bytes, wanted),
        BookFormat::Polyglot if wanted.variant.is_chess960() => {
            Err((BookPlace::File, "a table of moves begins with the classical position".to_owned()))
        }
        BookFormat::Polyglot => polyglot::read(bytes, wanted),
    }
}

/// An opening as it is played: no longer than is wanted, and with something left to play.
fn playable(mut opening: Opening, wanted: BookPart) -> Result<Opening, String> {
    if let Some(Ply(plies)) = wanted.plies {
        opening.cut(usize::try_from(plies).unwrap_or(usize::MAX));
    }
    let mut referee = Referee::new(opening.start(), Material::Draws);
    let mut ending = referee.ending();
    for one in opening.moves() {
        if ending.is_some() {
            break;
        }
        ending = referee.play(*one);
    }
    match ending {
        Some(ending) => Err(format!(
            "the game is over before an engine has moved ({}); take it out of the book",
            ending.details()
        )),
        None => Ok(opening),
    }
}

/// The text of a file's lines with their numbers, without comments (`#`) and empty lines, nor the byte order mark that
/// some editors begin a file with.
fn text_lines(bytes: &[u8]) -> impl Iterator<Item = (BookPlace, String)> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    bytes.split(|byte| *byte == b'\n').enumerate().filter_map(|(index, line)| {
        let line = String::from_utf8_lossy(line);
        let text = line.split('#').next().unwrap_or_default().trim();
        (!text.is_empty()).then(|| (BookPlace::Line(index + 1), text.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    pub(super) fn all() -> BookPart {
        let (most, order) = (usize::MAX, BookOrder::Sequential);
        BookPart { plies: None, most, order, variant: Variant::Standard }
    }

    /// The moves as UCI, a line an opening.
    pub(super) fn told(openings: &[Opening]) -> Vec<String> {
        openings
            .iter()
            .map(|opening| {
                let words =
                    opening.moves().iter().map(|one| one.to_uci(opening.castling()).to_string());
                words.collect::<Vec<_>>().join(" ")
            })
            .collect()
    }

    #[test]
    fn the_ending_tells_the_format() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let book = Book::read(&write("a.txt", "e2e4 e7e5\n"), all()).unwrap();
        assert_eq!(told(book.openings()), ["e2e4 e7e5"]);
        let book = Book::read(&write("a.pgn", "1. e4 (1. d4) e5 *\n"), all()).unwrap();
        assert_eq!(told(book.openings()), ["e2e4 e7e5"]);
        let error = Book::read(&write("a.doc", ""), all()).unwrap_err();
        assert!(error.to_string().contains("*.pgn"), "{error}");
        let error = Book::read(&write("b.txt", "# nothing\n"), all()).unwrap_err();
        assert!(error.to_string().contains("no opening"), "{error}");
        let error = Book::read(&dir.path().join("none.epd"), all()).unwrap_err();
        assert!(error.to_string().contains("none.epd"), "{error}");
        let error = Book::read(&write("c.txt", "e2e4\ne2e5\n"), all()).unwrap_err();
        assert!(error.to_string().contains("c.txt, line 2: "), "{error}");
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_book() {
        let dir = tempfile::tempdir().unwrap();
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
        for (name, text) in [("a.txt", "e2e4"), ("a.pgn", "1. e4 *"), ("a.epd", start)] {
            let path = dir.path().join(name);
            fs::write(&path, format!("\u{feff}{text}\n")).unwrap();
            let book = Book::read(&path, all());
            assert_eq!(book.unwrap().openings().len(), 1, "{name}");
        }
    }

    #[test]
    fn a_book_of_positions_is_refused_for_engines_without_fen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.epd");
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
        fs::write(&path, format!("{start}\n")).unwrap();
        let book = Book::read(&path, all()).unwrap();
        assert!(book.require_move_lists("x").is_ok());
        fs::write(&path, format!("{start}\n4k3/8/8/8/8/8/4P3/4K3 b - -\n")).unwrap();
        let book = Book::read(&path, all()).unwrap();
        let error = book.require_move_lists("tiny").unwrap_err().to_string();
        assert!(error.contains("opening 2 is a position"), "{error}");
        assert!(error.contains("tiny may be told moves only"), "{error}");
    }

    #[test]
    fn openings_that_end_the_game_are_refused_with_their_line() {
        let mate = "f3 e5 g4 Qh4#";
        let repeated = "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8 e4";
        for (text, place, why) in [
            (format!("e4 e5\n{mate}\n"), "line 2", "Black mates"),
            (format!("# x\n{repeated}\n"), "line 2", "3-Fold repetition"),
        ] {
            let (at, what) = parse(text.as_bytes(), BookFormat::Moves, all()).unwrap_err();
            assert_eq!(at.to_string(), place);
            assert!(what.contains(why), "{what}");
        }
        let game = format!("[Event \"x\"]\n\n1. d4 *\n\n[Event \"y\"]\n\n{mate} 0-1\n");
        let (at, _) = parse(game.as_bytes(), BookFormat::Pgn, all()).unwrap_err();
        assert_eq!(at.to_string(), "game 2");
        let stalemate = b"7k/5Q2/6K1/8/8/8/8/8 b - -\n";
        assert!(parse(stalemate, BookFormat::Positions, all()).is_err());
        // Of a whole game only the beginning may be wanted.
        let wanted = BookPart { plies: Some(Ply(3)), ..all() };
        assert_eq!(parse(mate.as_bytes(), BookFormat::Moves, wanted).unwrap().len(), 1);
    }

    #[test]
    fn books_of_chess960_hold_numbers_positions_and_moves_from_them() {
        let single = BookPart { variant: Variant::Chess960, ..all() };
        let double = BookPart { variant: Variant::DoubleChess960, ..all() };
        // King f1, rook g1: castling at once is the king taking his rook.
        let castled = b"bbrnnkrq/pppppppp/8/8/8/8/PPPPPPPP/BBRNNKRQ w KQkq - 0 1\n518\n";
        let openings = parse(castled, BookFormat::Positions, single).unwrap();
        assert!(openings.iter().all(|one| one.castling().is_chess960()));
        assert_eq!(openings[1].uci_fen().unwrap().split(' ').nth(2), Some("HAha"));
        let lines = b"# a comment\n518 e4 e5 Nf3 Nc6 Bc4 Bc5 O-O\n356: f1g1\n".as_slice();
        let (place, what) = parse(lines, BookFormat::Moves, single).unwrap_err();
        assert!(place.to_string() == "line 3" && what.contains("no start position"), "{what}");
        let lines = b"518 e4 e5 Nf3 Nc6 Bc4 Bc5 O-O\n336:518 1. d2d4 d7d5\n".as_slice();
        assert_eq!(
            told(&parse(lines, BookFormat::Moves, double).unwrap()),
            ["e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1h1", "d2d4 d7d5"]
        );
        let (_, what) = parse(lines, BookFormat::Moves, single).unwrap_err();
        assert!(what.contains("double Chess960"), "{what}");
        for (text, format) in [("e4 e5", BookFormat::Moves), ("960", BookFormat::Positions)] {
            assert!(parse(text.as_bytes(), format, single).is_err(), "{text}");
        }
        let game =
            b"[FEN \"bbrnnkrq/pppppppp/8/8/8/8/PPPPPPPP/BBRNNKRQ w KQkq - 0 1\"]\n\n1. O-O e5 *\n";
        assert_eq!(told(&parse(game, BookFormat::Pgn, single).unwrap()), ["f1g1 e7e5"]);
        assert!(parse(game, BookFormat::Pgn, all()).is_err());
        assert!(parse(&[0; 16], BookFormat::Polyglot, single).is_err());
    }

    #[test]
    fn start_positions_come_by_number_or_shuffled_each_once() {
        let wanted = BookPart { most: 960, variant: Variant::Chess960, ..all() };
        let book = Book::of_starts(wanted).unwrap();
        let classical = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        assert_eq!(book.openings()[518].fen().as_deref(), Some(classical));
        let shuffled = |seed| {
            let order = BookOrder::Shuffled { seed };
            let book = Book::of_starts(BookPart { order, ..wanted }).unwrap();
            book.openings().iter().map(|one| one.fen().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(shuffled(7), shuffled(7));
        assert_ne!(shuffled(7), shuffled(8));
        assert_eq!(shuffled(7).into_iter().collect::<std::collections::BTreeSet<_>>().len(), 960);
    }

    #[test]
    fn openings_are_cut() {
        let wanted = BookPart { plies: Some(Ply(3)), ..all() };
        let openings = parse(b"e4 e5 Nf3 Nc6\nd4", BookFormat::Moves, wanted).unwrap();
        assert_eq!(told(&openings), ["e2e4 e7e5 g1f3", "d2d4"]);
    }
}
