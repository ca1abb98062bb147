//! The beginning of a game: a position and moves from there.

use serde::{Deserialize, Serialize};
use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode, Move, Position};

/// Where a game begins: a position and moves from there. Every move is legal.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// The position before the moves; none for the start position.
    start: Option<Box<Chess>>,
    moves: Vec<Move>,
    names: Option<Box<OpeningNames>>,
}

/// The names of an opening: its PGN's tags `ECO`, `Opening` and `Variation`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct OpeningNames {
    /// The code of the Encyclopaedia of Chess Openings, such as `B90`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eco: Option<String>,
    /// The opening.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening: Option<String>,
    /// The variation of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variation: Option<String>,
}

impl Opening {
    /// The start position, without a move.
    #[must_use]
    pub fn none() -> Opening {
        Opening::default()
    }

    /// Legal moves from a position.
    #[must_use]
    pub fn new(start: Chess, moves: Vec<Move>) -> Opening {
        let start =
            (start != Chess::default() || start.fullmoves().get() != 1).then(|| Box::new(start));
        Opening { start, moves, names: None }
    }

    /// Legal moves from the start position.
    #[must_use]
    pub fn of_moves(moves: Vec<Move>) -> Opening {
        Opening { start: None, moves, names: None }
    }

    /// The same with these names.
    #[must_use]
    pub fn named(self, names: Option<OpeningNames>) -> Opening {
        let names = names.filter(|names| *names != OpeningNames::default()).map(Box::new);
        Opening { names, ..self }
    }

    /// Drops the moves behind so many, and with them the names, which told of more than is played.
    pub fn cut(&mut self, plies: usize) {
        if self.moves.len() > plies {
            self.moves.truncate(plies);
            self.names = None;
        }
    }

    /// Its names in the book.
    #[must_use]
    pub fn names(&self) -> Option<&OpeningNames> {
        self.names.as_deref()
    }

    /// The position before the moves.
    #[must_use]
    pub fn start(&self) -> Chess {
        self.start.as_deref().cloned().unwrap_or_default()
    }

    /// The position before the moves as FEN, where it is not the start position.
    #[must_use]
    pub fn fen(&self) -> Option<String> {
        let start = self.start.as_deref()?;
        Some(Fen::from_position(start, EnPassantMode::Legal).to_string())
    }

    /// The moves.
    #[must_use]
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// True if it can be told as moves from the start position.
    #[must_use]
    pub fn is_move_list(&self) -> bool {
        self.start.is_none()
    }
}
