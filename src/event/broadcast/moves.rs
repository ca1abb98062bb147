//! The moves of a game as they are shown: in both notations, with the position after each and the engine's figures.

use std::cell::RefCell;
use std::ops::Deref;
use std::sync::Arc;

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Color, Position};

use super::BroadcastGame;
use crate::event::journal::record::JournalPly;
use crate::event::journal_games;
use crate::game::notation::{self, LineMove};

/// A move on the board, with the figures of its search.
#[derive(Clone, Debug)]
pub(crate) struct ShownMove<'a> {
    step: Arc<ShownStep>,
    /// The figures of its search; none for a move of the opening.
    pub(crate) ply: Option<&'a JournalPly>,
}

impl Deref for ShownMove<'_> {
    type Target = ShownStep;

    fn deref(&self) -> &ShownStep {
        &self.step
    }
}

/// A move on the board.
#[derive(Clone, Debug)]
pub(crate) struct ShownStep {
    /// Its side.
    pub(crate) side: Color,
    /// The number of the move, as people count.
    pub(crate) number: u32,
    /// As UCI writes it.
    pub(crate) uci: String,
    /// As people write it.
    pub(crate) san: String,
    /// The position after it.
    pub(crate) fen: String,
    /// Plies without a capture or a pawn's move, after it.
    pub(crate) quiet: u32,
    /// The line of play that its engine expected, from the position before it, as far as it is legal.
    pub(crate) line: Vec<LineMove>,
}

/// The moves of a game under way as far as they were shown: the next is added to them, so that a game costs each
/// time what is new in it. Of a game that is over they are made anew, since an event has many.
#[derive(Debug, Default)]
pub(super) struct ShownSoFar(RefCell<Option<SoFar>>);

#[derive(Debug)]
struct SoFar {
    /// The moves of the opening among them.
    book: usize,
    steps: Vec<Arc<ShownStep>>,
    /// The position after them.
    position: Chess,
}

impl BroadcastGame {
    /// Its moves, the opening's first; they end before one that is not legal.
    pub(crate) fn moves(&self) -> Vec<ShownMove<'_>> {
        let mut shown = self.shown.0.take().unwrap_or_else(|| self.opening_steps());
        let known = shown.steps.len() - shown.book;
        for ply in self.plies.iter().skip(known) {
            let word = ply.uci.parse::<UciMove>().ok();
            let one = word.and_then(|word| word.to_move(&shown.position).ok());
            let Some(one) = one else { break };
            let line = notation::line(&shown.position, &ply.pv);
            shown.steps.push(Arc::new(step(&mut shown.position, one, line)));
        }
        let book = std::iter::repeat_n(None, shown.book);
        let plies = book.chain(self.plies.iter().map(Some));
        let steps = shown.steps.iter().cloned();
        let moves = steps.zip(plies).map(|(step, ply)| ShownMove { step, ply }).collect();
        if self.is_open() {
            self.shown.0.replace(Some(shown));
        }
        moves
    }

    /// The positions along the line that was expected at one of its moves, as FEN.
    pub(crate) fn line_fens(&self, moves: &[ShownMove<'_>], number: usize) -> Vec<String> {
        let before = number.checked_sub(1).and_then(|before| moves.get(before));
        let fen = before.map_or(self.start(), |before| &before.fen).parse::<Fen>().ok();
        let start = self.started.start.as_deref();
        let castling = journal_games::opening(start, "").unwrap_or_default().castling();
        let position = fen.and_then(|fen| fen.into_position::<Chess>(castling).ok());
        let (Some(mut position), Some(own)) = (position, moves.get(number)) else {
            return Vec::new();
        };
        let fens = own.line.iter().map_while(|step| {
            let one = step.uci.parse::<UciMove>().ok()?.to_move(&position).ok()?;
            position.play_unchecked(one);
            Some(notation::fen(&position))
        });
        fens.collect()
    }

    fn opening_steps(&self) -> SoFar {
        let start = self.started.start.as_deref();
        let opening = journal_games::opening(start, &self.started.opening).unwrap_or_default();
        let mut position = opening.start();
        let moves = opening.moves().iter();
        let steps: Vec<Arc<ShownStep>> =
            moves.map(|one| Arc::new(step(&mut position, *one, Vec::new()))).collect();
        SoFar { book: steps.len(), steps, position }
    }
}

fn step(position: &mut Chess, one: shakmaty::Move, line: Vec<LineMove>) -> ShownStep {
    let (side, number) = (position.turn(), position.fullmoves().get());
    let uci = one.to_uci(position.castles().mode()).to_string();
    let (san, after) = notation::played(position, one);
    *position = after;
    let (fen, quiet) = (notation::fen(position), position.halfmoves());
    ShownStep { side, number, uci, san, fen, quiet, line }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{begun, ply};
    use super::*;
    use crate::event::journal::record::JournalRecord;
    use crate::event::journal_games::tests::{finished, started};
    use crate::model::game::listed::RoundGame;

    #[test]
    fn moves_are_added_to_those_that_were_shown_and_the_same_as_all_anew() {
        let mut broadcast = begun();
        let mut game = finished("a", "b", RoundGame { round: 1, game: 1 }, "1-0", "e2e4 e7e5");
        game.book = 2;
        let mut begins = started(&game);
        begins.opening = "e2e4 e7e5".into();
        broadcast.apply(JournalRecord::GameStarted(begins)).unwrap();
        let words = ["g1f3", "b8c6", "f1c4", "no move", "a7a6"];
        for (number, uci) in words.into_iter().enumerate() {
            broadcast.apply(ply(&game.id, number, uci, [7, 9])).unwrap();
            let own = broadcast.under_way().next().unwrap();
            let grown = own.moves();
            let kept = own.shown.0.take();
            let anew = own.moves();
            own.shown.0.replace(kept);
            let legal = number.min(2) + 1;
            assert_eq!(grown.len(), 2 + legal, "{uci}");
            assert_eq!(format!("{grown:?}"), format!("{anew:?}"));
            let again = own.moves();
            // The same ones, not their like.
            assert!(grown.iter().zip(&again).all(|(a, b)| Arc::ptr_eq(&a.step, &b.step)));
            assert_eq!(grown.iter().filter(|one| one.ply.is_none()).count(), 2);
        }
        broadcast.apply(JournalRecord::GameFinished(game)).unwrap();
        let over = broadcast.finished()[0];
        assert_eq!(over.moves().len(), 5);
        assert!(over.shown.0.take().is_none());
    }
}
