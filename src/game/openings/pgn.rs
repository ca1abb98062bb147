//! Books of games: the moves of each main line, until `plies` or the end.

use std::io::Cursor;
use std::ops::ControlFlow;

use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Visitor};
use shakmaty::fen::Fen;
use shakmaty::{Chess, Move, Position};

use super::{BookPart, BookPlace, Wrong, playable};
use crate::game::pgn_text::{self, Lines, unread};
use crate::model::game::opening::{Opening, OpeningNames};
use crate::model::game::variant::Variant;
use crate::model::units::Ply;
use crate::model::words::counted;

pub(super) fn read(bytes: &[u8], wanted: BookPart) -> Result<Vec<Opening>, Wrong> {
    let most =
        wanted.plies.map_or(usize::MAX, |Ply(plies)| usize::try_from(plies).unwrap_or(usize::MAX));
    let lines = Lines::of_book(Cursor::new(bytes));
    let mut reader = Reader::build(lines).set_supported_comment_length(COMMENT_BYTES).finish();
    let mut visitor = MainLine { most, variant: wanted.variant };
    let mut openings = Vec::new();
    while openings.len() < wanted.most {
        let place = BookPlace::Game(openings.len() + 1);
        match reader.read_game(&mut visitor) {
            Ok(Some(game)) => {
                let game = game.and_then(|opening| playable(opening, wanted));
                openings.push(game.map_err(|what| (place, what))?);
            }
            Ok(None) => break,
            Err(error) => return Err((place, error.to_string())),
        }
    }
    Ok(openings)
}

struct MainLine {
    most: usize,
    variant: Variant,
}

/// The longest comment that is looked at as one, in bytes.
const COMMENT_BYTES: usize = 1 << 12;

/// The words for a file that is none.
const NO_PGN: &str = "it has neither tags nor moves; is the file a PGN?";

/// The longest name of an opening that is kept, in characters.
const NAME_CHARS: usize = 200;

struct Tags {
    start: Chess,
    /// The number of tags.
    count: usize,
    names: OpeningNames,
}

struct Line {
    names: OpeningNames,
    tags: usize,
    start: Chess,
    position: Chess,
    moves: Vec<Move>,
}

impl Visitor for MainLine {
    type Tags = Tags;
    type Movetext = Line;
    type Output = Result<Opening, String>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Tags> {
        // A game without a position begins with the classical one, which is one of Chess960's.
        let start = Fen::default().into_position(self.variant.castling()).unwrap_or_default();
        ControlFlow::Continue(Tags { start, count: 0, names: OpeningNames::default() })
    }

    fn tag(
        &mut self,
        tags: &mut Tags,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        tags.count += 1;
        if name == b"FEN" {
            match start(value.as_bytes(), self.variant) {
                Ok(start) => tags.start = start,
                Err(why) => return ControlFlow::Break(Err(why)),
            }
        }
        let slot = match name {
            b"ECO" => &mut tags.names.eco,
            b"Opening" => &mut tags.names.opening,
            b"Variation" => &mut tags.names.variation,
            _ => return ControlFlow::Continue(()),
        };
        let value = pgn_text::tag(value, NAME_CHARS);
        *slot = (!value.is_empty() && value != "?").then_some(value);
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<Self::Output, Line> {
        let Tags { start, count, names } = tags;
        ControlFlow::Continue(Line {
            names,
            tags: count,
            position: start.clone(),
            start,
            moves: Vec::new(),
        })
    }

    fn san(&mut self, line: &mut Line, san: SanPlus) -> ControlFlow<Self::Output> {
        if line.moves.len() >= self.most {
            // The names tell of more moves than are played.
            line.names = OpeningNames::default();
            return ControlFlow::Break(Ok(finish(line)));
        }
        match san.san.to_move(&line.position) {
            Ok(one) => {
                line.position.play_unchecked(one);
                line.moves.push(one);
                ControlFlow::Continue(())
            }
            Err(why) => ControlFlow::Break(Err(format!(
                "{san} is no legal move after {}: {why}",
                counted(line.moves.len(), "ply")
            ))),
        }
    }

    fn comment(&mut self, line: &mut Line, comment: RawComment<'_>) -> ControlFlow<Self::Output> {
        match unread(comment.as_bytes()) {
            // Anything is a PGN to its parser.
            Some(_) if line.tags == 0 && line.moves.is_empty() => {
                ControlFlow::Break(Err(NO_PGN.to_owned()))
            }
            Some(word) => ControlFlow::Break(Err(format!(
                "{word} is no move in SAN, after {}",
                counted(line.moves.len(), "ply")
            ))),
            None => ControlFlow::Continue(()),
        }
    }

    fn end_game(&mut self, mut line: Line) -> Self::Output {
        // Anything is a PGN to its parser, and this would be the classical position.
        if line.tags == 0 && line.moves.is_empty() {
            return Err(NO_PGN.to_owned());
        }
        Ok(finish(&mut line))
    }
}

/// The position of a FEN.
fn start(fen: &[u8], variant: Variant) -> Result<Chess, String> {
    let fen = Fen::from_ascii(fen).map_err(|why| format!("its FEN cannot be read: {why}"))?;
    fen.into_position(variant.castling()).map_err(|why| format!("its FEN is no position: {why}"))
}

fn finish(line: &mut Line) -> Opening {
    let names = std::mem::take(&mut line.names);
    Opening::new(line.start.clone(), std::mem::take(&mut line.moves)).named(Some(names))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{all, told};
    use super::*;

    const BOOK: &[u8] = b"[Event \"x\"]\n\n1. e4 {best by test} e5 (1... c5 2. Nf3 (2. c3) d6) \
                          2. Nf3 $1 Nc6 1/2-1/2\n\n[Event \"y\"]\n\n1. d4 d5 *\n";

    #[test]
    fn main_lines_only() {
        let openings = read(BOOK, all()).unwrap();
        assert_eq!(told(&openings), ["e2e4 e7e5 g1f3 b8c6", "d2d4 d7d5"]);
        let two = BookPart { plies: Some(Ply(2)), ..all() };
        assert_eq!(told(&read(BOOK, two).unwrap()), ["e2e4 e7e5", "d2d4 d7d5"]);
    }

    #[test]
    fn a_game_from_a_position_is_no_move_list() {
        let book = b"[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 Kd7 *\n";
        let openings = read(book, all()).unwrap();
        assert_eq!(told(&openings), ["e2e4 e8d7"]);
        assert!(!openings[0].is_move_list());
    }

    #[test]
    fn a_book_names_its_openings_unless_they_are_cut() {
        let book =
            b"[ECO \"B90\"]\n[Opening \"Sicilian\"]\n[Variation \"?\"]\n\n1. e4 c5 *\n\n1. d4 *\n";
        let openings = read(book, all()).unwrap();
        let names = openings[0].names().unwrap();
        assert_eq!(
            (names.eco.as_deref(), names.opening.as_deref()),
            (Some("B90"), Some("Sicilian"))
        );
        assert_eq!((&names.variation, openings[1].names()), (&None, None));
        let one = BookPart { plies: Some(Ply(1)), ..all() };
        assert_eq!(read(book, one).unwrap()[0].names(), None);
    }

    #[test]
    fn a_word_that_is_no_move_is_refused_and_not_passed_over() {
        for (book, word) in [
            ("[Event \"x\"]\n\n1. e2-e4 e7-e5 2. Nf3 *", "e2-e4"),
            ("1. d4 d5 2. c4 foo e6 *", "foo"),
        ] {
            let (_, what) = read(book.as_bytes(), all()).unwrap_err();
            assert!(what.starts_with(&format!("{word} is no move in SAN")), "{what}");
        }
        assert_eq!(told(&read(b"% 1. d4\n1. e4 e5 *\n", all()).unwrap()), ["e2e4 e7e5"]);
    }

    #[test]
    fn an_illegal_move_is_told_with_its_game() {
        let (place, what) = read(b"1. e4 e5 *\n\n1. e4 Ke7 *\n", all()).unwrap_err();
        assert_eq!(place.to_string(), "game 2");
        assert!(what.starts_with("Ke7 is no legal move after 1 ply"), "{what}");
    }
}
