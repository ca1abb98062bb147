//! The result of a game.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shakmaty::{Color, KnownOutcome, Outcome};

use super::points::HalfPoints;

/// The result as PGN writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// One side won.
    Win(Color),
    /// Half a point each.
    Draw,
    /// No result (`*`): it counts for nothing.
    Unfinished,
}

impl GameResult {
    const ALL: [GameResult; 4] = [
        GameResult::Win(Color::White),
        GameResult::Win(Color::Black),
        GameResult::Draw,
        GameResult::Unfinished,
    ];

    /// `1-0`, `0-1`, `1/2-1/2`, `*`.
    pub fn word(self) -> &'static str {
        match self {
            GameResult::Win(Color::White) => "1-0",
            GameResult::Win(Color::Black) => "0-1",
            GameResult::Draw => "1/2-1/2",
            GameResult::Unfinished => "*",
        }
    }

    /// Reads the PGN word.
    pub(crate) fn from_word(word: &str) -> Option<GameResult> {
        GameResult::ALL.into_iter().find(|result| result.word() == word)
    }

    /// The points of a side; none for an unfinished game.
    #[must_use]
    pub(crate) fn points(self, side: Color) -> Option<HalfPoints> {
        match self {
            GameResult::Win(winner) if winner == side => Some(HalfPoints::ONE),
            GameResult::Win(_) => Some(HalfPoints::ZERO),
            GameResult::Draw => Some(HalfPoints::HALF),
            GameResult::Unfinished => None,
        }
    }
}

impl From<Outcome> for GameResult {
    fn from(outcome: Outcome) -> GameResult {
        match outcome {
            Outcome::Known(KnownOutcome::Decisive { winner }) => GameResult::Win(winner),
            Outcome::Known(KnownOutcome::Draw) => GameResult::Draw,
            Outcome::Unknown => GameResult::Unfinished,
        }
    }
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Serialize for GameResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for GameResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<GameResult, D::Error> {
        let word = String::deserialize(deserializer)?;
        GameResult::from_word(&word)
            .ok_or_else(|| serde::de::Error::custom(format!("{word:?} is no result")))
    }
}

/// The name of a side, as sentences have it.
pub(crate) fn color_name(color: Color) -> &'static str {
    color.fold_wb("White", "Black")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_result_reads_as_it_is_written() {
        for result in GameResult::ALL {
            assert_eq!(GameResult::from_word(result.word()), Some(result));
            let json = serde_json::to_string(&result).unwrap();
            assert_eq!(serde_json::from_str::<GameResult>(&json).unwrap(), result);
        }
        assert_eq!(GameResult::from_word("2-0"), None);
        assert_eq!(GameResult::Draw.points(Color::White), Some(HalfPoints::HALF));
        assert_eq!(GameResult::Unfinished.points(Color::White), None);
    }
}
