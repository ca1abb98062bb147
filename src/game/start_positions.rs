//! The start positions of Chess960 by their numbers (Scharnagl's, 0 to 959; 518 is the classical one), and of double
//! Chess960 by two of them, White's first.

use std::fmt;
use std::str::FromStr;

use shakmaty::{Board, CastlingMode, Chess, Color, PositionError, Setup};

use crate::model::game::variant::Variant;

/// The start positions of Chess960.
const POSITIONS: u16 = 960;

/// A start position: the number of White's pieces and that of Black's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartNumber {
    white: u16,
    black: u16,
}

/// The text is no number of a start position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no start position; write its number, 0 to 959, or in double Chess960 White's and Black's, such as 336:518"
)]
pub struct NoStart(String);

impl StartNumber {
    /// The start position of an index in the order of numbers, from 0; beyond the last they come again. Of double Chess960
    /// there are 921,600, in the order of White's number.
    pub(crate) fn nth(variant: Variant, index: usize) -> StartNumber {
        let all = usize::from(POSITIONS);
        let number = |index: usize| u16::try_from(index % all).unwrap_or_default();
        match variant {
            Variant::DoubleChess960 => {
                StartNumber { white: number(index / all), black: number(index) }
            }
            Variant::Standard | Variant::Chess960 => {
                StartNumber { white: number(index), black: number(index) }
            }
        }
    }

    /// The number of start positions in a variant.
    pub(crate) fn count(variant: Variant) -> usize {
        let all = usize::from(POSITIONS);
        match variant {
            Variant::Standard => 1,
            Variant::Chess960 => all,
            Variant::DoubleChess960 => all * all,
        }
    }

    /// True if both sides have the same.
    pub(crate) fn is_shared(self) -> bool {
        self.white == self.black
    }

    /// The position, with all rights to castle.
    ///
    /// # Errors
    /// None for a number that was read: each is a position of a game.
    pub fn position(self) -> Result<Chess, Box<PositionError<Chess>>> {
        let [white, black] =
            [self.white, self.black].map(|number| Board::chess960(u32::from(number % POSITIONS)));
        let mut board = white;
        for square in black.by_color(Color::Black) {
            if let Some(piece) = black.piece_at(square) {
                board.set_piece_at(square, piece);
            }
        }
        let castling_rights = board.rooks();
        let setup = Setup { board, castling_rights, ..Setup::initial() };
        setup.position(CastlingMode::Chess960).map_err(Box::new)
    }
}

impl FromStr for StartNumber {
    type Err = NoStart;

    fn from_str(text: &str) -> Result<StartNumber, NoStart> {
        let wrong = || NoStart(text.to_owned());
        let number = |text: &str| {
            let is_plain =
                (1..=3).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
            text.parse().ok().filter(|number| is_plain && *number < POSITIONS)
        };
        let (white, black) = text.split_once(':').unwrap_or((text, text));
        match (number(white), number(black)) {
            (Some(white), Some(black)) => Ok(StartNumber { white, black }),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for StartNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_shared() {
            write!(f, "{}", self.white)
        } else {
            write!(f, "{}:{}", self.white, self.black)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::notation::fen;
    use shakmaty::Position;

    fn told(text: &str) -> String {
        fen(&text.parse::<StartNumber>().unwrap().position().unwrap())
    }

    #[test]
    fn numbers_are_scharnagls() {
        let rest = "/pppppppp/8/8/8/8/PPPPPPPP/";
        assert_eq!(told("0"), format!("bbqnnrkr{rest}BBQNNRKR w KQkq - 0 1"));
        assert_eq!(told("518"), format!("rnbqkbnr{rest}RNBQKBNR w KQkq - 0 1"));
        assert_eq!(told("959"), format!("rkrnnqbb{rest}RKRNNQBB w KQkq - 0 1"));
        assert_eq!(told("336:518"), format!("rnbqkbnr{rest}BBNRKQRN w KQkq - 0 1"));
        let double: StartNumber = "336:518".parse().unwrap();
        assert_eq!(double.position().unwrap().legal_moves().len(), 19);
        for wrong in ["960", "", "1:", ":1", "0001", "+1", "1:960", "x"] {
            assert!(wrong.parse::<StartNumber>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_number_is_a_position_that_castles_as_chess960_does() {
        for index in 0..StartNumber::count(Variant::Chess960) {
            let start = StartNumber::nth(Variant::Chess960, index);
            assert_eq!(start.to_string(), index.to_string());
            assert_eq!(start.to_string().parse(), Ok(start));
            let position = start.position().unwrap();
            assert_eq!(position.castles().castling_rights().count(), 4);
            assert!(position.castles().mode().is_chess960());
        }
        for (index, told) in [(0, "0"), (1, "0:1"), (960, "1:0"), (921_599, "959")] {
            assert_eq!(StartNumber::nth(Variant::DoubleChess960, index).to_string(), told);
        }
    }
}
