//! The moves of a game as they are shown: in both notations, with the position after each and the engine's figures.

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Color, Position};

use super::BroadcastGame;
use crate::event::journal::record::JournalPly;
use crate::event::journal_games;
use crate::game::notation::{self, LineMove};

/// A move on the board.
#[derive(Clone, Debug)]
pub(crate) struct ShownMove<'a> {
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
    /// The figures of its search; none for a move of the opening.
    pub(crate) ply: Option<&'a JournalPly>,
    /// The line of play that its engine expected, from the position before it, as far as it is legal.
    pub(crate) line: Vec<LineMove>,
}

impl BroadcastGame {
    /// Its moves, the opening's first; they end before one that is not legal.
    #[must_use]
    pub(crate) fn moves(&self) -> Vec<ShownMove<'_>> {
        let start = self.started.start.as_deref();
        let opening = journal_games::opening(start, &self.started.opening).unwrap_or_default();
        let mut position = opening.start();
        let length = opening.moves().len() + self.plies.len();
        let mut shown: Vec<ShownMove<'_>> = Vec::with_capacity(length);
        for one in opening.moves() {
            shown.push(step(&mut position, *one, None));
        }
        for ply in &self.plies {
            let word = ply.uci.parse::<UciMove>().ok();
            let Some(one) = word.and_then(|word| word.to_move(&position).ok()) else { break };
            shown.push(step(&mut position, one, Some(ply)));
        }
        shown
    }
}

fn step<'a>(
    position: &mut Chess,
    one: shakmaty::Move,
    ply: Option<&'a JournalPly>,
) -> ShownMove<'a> {
    let line = ply.map(|ply| notation::line(position, &ply.pv)).unwrap_or_default();
    let (side, number) = (position.turn(), position.fullmoves().get());
    let uci = one.to_uci(position.castles().mode()).to_string();
    let (san, after) = notation::played(position, one);
    *position = after;
    let (fen, quiet) = (notation::fen(position), position.halfmoves());
    ShownMove { side, number, uci, san, fen, quiet, ply, line }
}
