//! A move list from the start position, and the position it leads to: the only way a 4k engine is shown
//! a position.

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move, Position};

use crate::engine::legality;
use crate::engine::uci::UciCommand;
use crate::game::notation::fen;
use crate::model::evidence::WhyIllegal;
use crate::model::units::Ply;

/// Moves played from the start position; every one was legal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moves {
    list: Vec<UciMove>,
    position: Chess,
}

/// A word of a list that is not a legal move there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{word} after {after}: {why}")]
pub(crate) struct BadList {
    /// The word.
    pub(crate) word: String,
    /// The plies before it.
    pub(crate) after: Ply,
    /// The reason why it cannot be played.
    pub(crate) why: WhyIllegal,
}

impl Moves {
    /// The start position.
    pub(crate) fn start() -> Moves {
        Moves::default()
    }

    /// Reads a list like `e2e4 e7e5`.
    ///
    /// # Errors
    /// At the first word that is not a legal move.
    pub(crate) fn read(list: &str) -> Result<Moves, BadList> {
        let mut moves = Moves::start();
        for word in list.split_ascii_whitespace() {
            let one = legality::judge(&moves.position, word).map_err(|why| BadList {
                word: word.to_owned(),
                after: moves.plies(),
                why,
            })?;
            moves.play(one);
        }
        Ok(moves)
    }

    /// Plays a move that is legal here (as [`legality::judge`] found, or from the legal moves).
    pub(crate) fn play(&mut self, one: Move) {
        self.list.push(one.to_uci(CastlingMode::Standard));
        self.position.play_unchecked(one);
    }

    /// The position reached.
    pub(crate) fn position(&self) -> &Chess {
        &self.position
    }

    /// The moves as sent.
    #[cfg(test)]
    pub(crate) fn list(&self) -> &[UciMove] {
        &self.list
    }

    /// The number of plies that were played.
    pub(crate) fn plies(&self) -> Ply {
        Ply(u32::try_from(self.list.len()).unwrap_or(u32::MAX))
    }

    /// The `position` command that leads here.
    pub(crate) fn command(&self) -> String {
        UciCommand::StartPos(&self.list).to_string()
    }

    /// The position as FEN.
    pub(crate) fn fen(&self) -> String {
        fen(&self.position)
    }

    /// True if no move is possible here.
    pub(crate) fn is_over(&self) -> bool {
        self.position.legal_moves().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_played_and_printed_again() {
        let text = "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 e1g1";
        let moves = Moves::read(text).unwrap();
        assert_eq!(moves.command(), format!("position startpos moves {text}"));
        assert_eq!(moves.plies(), Ply(7));
        assert!(
            moves.fen().starts_with("r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b kq")
        );
        assert!(!moves.is_over());
        assert!(Moves::read("f2f3 e7e5 g2g4 d8h4").unwrap().is_over());
    }

    #[test]
    fn the_first_bad_word_is_named() {
        let bad = Moves::read("e2e4 e2e4").unwrap_err();
        assert_eq!((bad.word.as_str(), bad.after), ("e2e4", Ply(1)));
    }
}
