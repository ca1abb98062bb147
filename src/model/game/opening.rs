//! The beginning of a game: a position and moves from there.

use serde::{Deserialize, Serialize};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Move, Position};

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
    pub(crate) eco: Option<String>,
    /// The opening.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) opening: Option<String>,
    /// The variation of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) variation: Option<String>,
}

impl Opening {
    /// Legal moves from a position.
    pub(crate) fn new(start: Chess, moves: Vec<Move>) -> Opening {
        // Chess960 is told by its position, also where that is the classical one.
        let is_told = start != Chess::default()
            || start.fullmoves().get() != 1
            || start.castles().mode().is_chess960();
        let start = is_told.then(|| Box::new(start));
        Opening { start, moves, names: None }
    }

    /// Legal moves from the start position.
    pub(crate) fn of_moves(moves: Vec<Move>) -> Opening {
        Opening { start: None, moves, names: None }
    }

    /// The opening with these names.
    #[must_use]
    pub(crate) fn named(self, names: Option<OpeningNames>) -> Opening {
        let names = names.filter(|names| *names != OpeningNames::default()).map(Box::new);
        Opening { names, ..self }
    }

    /// Drops the moves behind so many, and with them the names, which told of more than is played.
    pub(crate) fn cut(&mut self, plies: usize) {
        if self.moves.len() > plies {
            self.moves.truncate(plies);
            self.names = None;
        }
    }

    /// Its names in the book.
    pub(crate) fn names(&self) -> Option<&OpeningNames> {
        self.names.as_deref()
    }

    /// The position before the moves.
    pub fn start(&self) -> Chess {
        self.start.as_deref().cloned().unwrap_or_default()
    }

    /// The position before the moves as FEN, where it is not the start position.
    pub(crate) fn fen(&self) -> Option<String> {
        let start = self.start.as_deref()?;
        Some(Fen::from_position(start, EnPassantMode::Legal).to_string())
    }

    /// The same as engines of Chess960 are told it: rights to castle are the files of the rooks (Shredder-FEN), which no
    /// engine has to find by itself.
    pub(crate) fn uci_fen(&self) -> Option<String> {
        let (start, fen) = (self.start.as_deref()?, self.fen()?);
        if !start.castles().mode().is_chess960() {
            return Some(fen);
        }
        let mut rights = String::new();
        for color in Color::ALL {
            let rooks = start.castles().castling_rights() & color.backrank();
            rights.extend(rooks.into_iter().rev().map(|rook| {
                let file = rook.file().char();
                color.fold_wb(file.to_ascii_uppercase(), file)
            }));
        }
        let mut fields: Vec<&str> = fen.split(' ').collect();
        if let Some(field) = fields.get_mut(2).filter(|_| !rights.is_empty()) {
            *field = &rights;
        }
        Some(fields.join(" "))
    }

    /// The way in which castling is told in games from here.
    pub(crate) fn castling(&self) -> CastlingMode {
        self.start.as_deref().map_or(CastlingMode::Standard, |start| start.castles().mode())
    }

    /// The moves.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// True if it can be told as moves from the start position.
    pub(crate) fn is_move_list(&self) -> bool {
        self.start.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_to_castle_are_told_to_engines_as_files_in_chess960_alone() {
        // The outer rook of White's has none.
        let text = "rk2r3/pppppppp/8/8/8/8/1PPPPPPP/1RKR3R w Dq - 0 1";
        let fen: Fen = text.parse().unwrap();
        let start: Chess = fen.into_position(CastlingMode::Chess960).unwrap();
        let opening = Opening::new(start, Vec::new());
        assert_eq!(opening.fen().unwrap(), text);
        assert_eq!(opening.uci_fen().unwrap(), "rk2r3/pppppppp/8/8/8/8/1PPPPPPP/1RKR3R w Da - 0 1");
        assert!(opening.castling().is_chess960());
        let text = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1";
        for (mode, told) in [(CastlingMode::Standard, "KQ"), (CastlingMode::Chess960, "HA")] {
            let start: Chess = text.parse::<Fen>().unwrap().into_position(mode).unwrap();
            let fen = Opening::new(start, Vec::new()).uci_fen().unwrap();
            assert_eq!(fen, text.replace("KQ", told));
        }
        // The classical position is one of Chess960's.
        let start: Chess = Fen::default().into_position(CastlingMode::Chess960).unwrap();
        assert!(!Opening::new(start, Vec::new()).is_move_list());
        assert!(Opening::new(Chess::default(), Vec::new()).is_move_list());
    }
}
