//! Books of games: the moves of each main line, until `plies` or the end.

use std::io::Cursor;
use std::ops::ControlFlow;

use pgn_reader::{RawTag, Reader, SanPlus, Visitor};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Move, Position};

use super::{Opening, Place, Wanted, Wrong};
use crate::units::Ply;

pub(super) fn read(bytes: &[u8], wanted: Wanted) -> Result<Vec<Opening>, Wrong> {
    let most =
        wanted.plies.map_or(usize::MAX, |Ply(plies)| usize::try_from(plies).unwrap_or(usize::MAX));
    let mut reader = Reader::new(Cursor::new(bytes));
    let mut visitor = MainLine { most };
    let mut openings = Vec::new();
    while openings.len() < wanted.most {
        let place = Place::Game(openings.len() + 1);
        match reader.read_game(&mut visitor) {
            Ok(Some(game)) => openings.push(game.map_err(|what| (place, what))?),
            Ok(None) => break,
            Err(error) => return Err((place, error.to_string())),
        }
    }
    Ok(openings)
}

struct MainLine {
    most: usize,
}

struct Line {
    start: Chess,
    position: Chess,
    moves: Vec<Move>,
}

impl Visitor for MainLine {
    type Tags = Chess;
    type Movetext = Line;
    type Output = Result<Opening, String>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Chess> {
        ControlFlow::Continue(Chess::default())
    }

    fn tag(
        &mut self,
        tags: &mut Chess,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        if name == b"FEN" {
            let fen = match Fen::from_ascii(value.as_bytes()) {
                Ok(fen) => fen,
                Err(why) => {
                    return ControlFlow::Break(Err(format!("its FEN cannot be read: {why}")));
                }
            };
            *tags = match fen.into_position(CastlingMode::Standard) {
                Ok(position) => position,
                Err(why) => {
                    return ControlFlow::Break(Err(format!("its FEN is no position: {why}")));
                }
            };
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, start: Chess) -> ControlFlow<Self::Output, Line> {
        ControlFlow::Continue(Line { position: start.clone(), start, moves: Vec::new() })
    }

    fn san(&mut self, line: &mut Line, san: SanPlus) -> ControlFlow<Self::Output> {
        if line.moves.len() >= self.most {
            return ControlFlow::Break(Ok(finish(line)));
        }
        match san.san.to_move(&line.position) {
            Ok(one) => {
                line.position.play_unchecked(one);
                line.moves.push(one);
                ControlFlow::Continue(())
            }
            Err(why) => ControlFlow::Break(Err(format!(
                "{san} is no legal move after {} plies: {why}",
                line.moves.len()
            ))),
        }
    }

    fn end_game(&mut self, mut line: Line) -> Self::Output {
        Ok(finish(&mut line))
    }
}

fn finish(line: &mut Line) -> Opening {
    Opening::new(line.start.clone(), std::mem::take(&mut line.moves))
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
        let two = Wanted { plies: Some(Ply(2)), ..all() };
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
    fn an_illegal_move_is_told_with_its_game() {
        let (place, what) = read(b"1. e4 e5 *\n\n1. e4 Ke7 *\n", all()).unwrap_err();
        assert_eq!(place.to_string(), "game 2");
        assert!(what.starts_with("Ke7 is no legal move after 1 plies"), "{what}");
    }
}
