//! The reasons why an answer is no move that may be played.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::listed_enum::listed_enum;

listed_enum! {
    /// The fault of a `bestmove` that is not a move written as in UCI.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
    pub enum MoveFault {
        /// `bestmove` and nothing more.
        #[error("no move on the line")]
        Missing,
        /// `0000`.
        #[error("the null move 0000")]
        Null,
        /// `resign`, in whatever case: no move, though games take it as a loss (rule 2.1).
        #[error("it resigns")]
        Resignation,
        /// `(none)`, `none`, `NULL`, `(resign)`.
        #[error("a word in place of a move")]
        Word,
        /// `E2E4`, `e7e8Q`.
        #[error("not written as in UCI: upper case")]
        UpperCase,
        /// `Nf3`, `exd5`, `O-O`.
        #[error("not written as in UCI: algebraic notation in place of the two squares")]
        Algebraic,
        /// `e2-e4`, `e7e8=q`.
        #[error("not written as in UCI: a sign between or after the squares")]
        Separator,
        /// `e7e8k`, `e7e8x`.
        #[error("not written as in UCI: the promotion letter is none of q, r, b, n")]
        PromotionLetter,
        /// A square that the board does not have.
        #[error("not written as in UCI: a square that the board does not have")]
        Square,
        /// NULs, control characters, broken UTF-8.
        #[error("not written as in UCI: control characters or broken bytes")]
        Bytes,
        /// Anything else.
        #[error("not written as in UCI: not two squares")]
        Shape,
    }
}

/// The reason why an answer is no move that may be played. Files have it in the words of its [`fmt::Display`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "String", into = "String")]
pub enum WhyIllegal {
    /// The word is not a move written as in UCI.
    Word(MoveFault),
    /// Castling is told as the king that takes his own rook.
    CastlingAsRook,
    /// A promotion letter is missing or too many, in words.
    PromotionLetter(String),
    /// The position does not allow the move, in words.
    OnBoard(String),
}

/// The words for [`WhyIllegal::CastlingAsRook`].
const CASTLING: &str = "illegal: castling is written as the king's own move, e1g1 or e1c1";

/// The words that every [`WhyIllegal::PromotionLetter`] has.
const LETTER: &str = "promotion letter";

impl WhyIllegal {
    /// A promotion letter that is missing (`needs a`) or too many (`a`), with the words around it.
    pub(crate) fn promotion_letter(before: &str, after: &str) -> WhyIllegal {
        WhyIllegal::PromotionLetter(format!("illegal: {before} {LETTER}{after}"))
    }

    /// A move that the position does not allow, for this reason.
    pub(crate) fn on_board(why: impl fmt::Display) -> WhyIllegal {
        WhyIllegal::OnBoard(format!("illegal: {why}"))
    }

    /// True if no move was told.
    pub(crate) fn is_no_move(&self) -> bool {
        use MoveFault::{Missing, Null, Word};
        matches!(self, WhyIllegal::Word(Missing | Null | Word))
    }

    /// True if something was told that is not written as UCI writes moves.
    pub(crate) fn is_misspelt(&self) -> bool {
        let is_word = matches!(self, WhyIllegal::Word(fault) if *fault != MoveFault::Resignation);
        is_word && !self.is_no_move()
    }

    /// True for a move that is written in another way than UCI's, as the engine writes all of its kind: neither load nor a
    /// small clock is behind that.
    pub(crate) fn is_a_way_of_writing(&self) -> bool {
        use MoveFault::{Algebraic, PromotionLetter, Separator, UpperCase};
        match self {
            WhyIllegal::Word(fault) => {
                matches!(fault, UpperCase | Algebraic | Separator | PromotionLetter)
            }
            WhyIllegal::CastlingAsRook | WhyIllegal::PromotionLetter(_) => true,
            WhyIllegal::OnBoard(_) => false,
        }
    }
}

impl fmt::Display for WhyIllegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WhyIllegal::Word(fault) => fault.fmt(f),
            WhyIllegal::CastlingAsRook => f.write_str(CASTLING),
            WhyIllegal::PromotionLetter(why) | WhyIllegal::OnBoard(why) => f.write_str(why),
        }
    }
}

impl From<WhyIllegal> for String {
    fn from(why: WhyIllegal) -> String {
        why.to_string()
    }
}

/// Reads what a file has.
impl From<String> for WhyIllegal {
    fn from(text: String) -> WhyIllegal {
        if let Some(fault) = MoveFault::ALL.into_iter().find(|fault| fault.to_string() == text) {
            WhyIllegal::Word(fault)
        } else if text == CASTLING {
            WhyIllegal::CastlingAsRook
        } else if text.contains(LETTER) {
            WhyIllegal::PromotionLetter(text)
        } else {
            WhyIllegal::OnBoard(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_survives_its_way_through_a_file() {
        let faults = MoveFault::ALL.map(WhyIllegal::Word);
        let others = [
            WhyIllegal::CastlingAsRook,
            WhyIllegal::promotion_letter("a", " without a promotion"),
            WhyIllegal::on_board("the king would be in check"),
        ];
        for why in faults.into_iter().chain(others) {
            let text = serde_json::to_string(&why).unwrap();
            assert_eq!(text, format!("{:?}", why.to_string()));
            assert_eq!(serde_json::from_str::<WhyIllegal>(&text).unwrap(), why);
        }
    }

    #[test]
    fn what_is_told_falls_into_one_kind() {
        for fault in MoveFault::ALL {
            let why = WhyIllegal::Word(fault);
            let misspelt = why.to_string().starts_with("not written as in UCI");
            assert_eq!(why.is_misspelt(), misspelt, "{why}");
            let no_move = !misspelt && fault != MoveFault::Resignation;
            assert_eq!(why.is_no_move(), no_move, "{why}");
        }
        let why = WhyIllegal::on_board("no piece stands on e3");
        assert!(!why.is_misspelt() && !why.is_no_move() && !why.is_a_way_of_writing());
    }
}
