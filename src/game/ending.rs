//! How games end: every end as one typed value, with the words that the event's PGN uses.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};
use shakmaty::Color;

use crate::model::evidence::ExitHow;

/// The result as PGN writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// One side won.
    Win(Color),
    /// Half a point each.
    Draw,
    /// No result: the game was broken off from outside.
    Unfinished,
}

impl GameResult {
    /// `1-0`, `0-1`, `1/2-1/2`, `*`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            GameResult::Win(Color::White) => "1-0",
            GameResult::Win(Color::Black) => "0-1",
            GameResult::Draw => "1/2-1/2",
            GameResult::Unfinished => "*",
        }
    }

    /// Reads the PGN word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<GameResult> {
        [
            GameResult::Win(Color::White),
            GameResult::Win(Color::Black),
            GameResult::Draw,
            GameResult::Unfinished,
        ]
        .into_iter()
        .find(|result| result.word() == word)
    }

    /// Half points for a side; none for an unfinished game.
    #[must_use]
    pub fn half_points(self, side: Color) -> Option<u8> {
        match self {
            GameResult::Win(winner) if winner == side => Some(2),
            GameResult::Win(_) => Some(0),
            GameResult::Draw => Some(1),
            GameResult::Unfinished => None,
        }
    }
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Serialize for GameResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// Why a game ended. Ends that one side suffers name no side: [`Ending::loser`] does.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Mate on the board (rule 2.1).
    Mate,
    /// No legal move and no check (rule 2.2).
    Stalemate,
    /// The same position for the third time (rule 2.2).
    Threefold,
    /// A hundred plies without a pawn move or a capture (rule 2.2).
    FiftyMoves,
    /// Neither side can mate. Rule 2.2 does not list it, the real events played so: a setting.
    InsufficientMaterial,
    /// A `bestmove` that is no legal move (rule 2.1), with what it said.
    IllegalMove(String),
    /// Out of time (rules 1.2, 2.1).
    Time {
        /// How much later than the clock allowed the move came; none if it never came.
        over: Option<Duration>,
    },
    /// `bestmove resign` (rule 2.1).
    Resignation,
    /// The process ended or closed its output in the middle of the game (rule 6.2).
    Crash {
        /// How it ended, where that is known.
        exit: Option<ExitHow>,
    },
    /// Without a clock: no answer within the bound on every wait.
    Stall {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The engine could not be started, with the reason.
    NoStart(String),
    /// The draw rule on evaluations.
    DrawByEval,
    /// The win rule on evaluations.
    WinByEval,
    /// The result that the endgame tables give.
    Tables,
    /// The longest game that was asked for.
    Length,
    /// Broken off from outside: no fault of an engine.
    Aborted(String),
}

/// The end of a game: result, reason, and the side that it is told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ending {
    /// The result.
    pub result: GameResult,
    /// Why.
    pub reason: Reason,
}

impl Ending {
    /// A draw.
    #[must_use]
    pub fn draw(reason: Reason) -> Ending {
        Ending { result: GameResult::Draw, reason }
    }

    /// A win.
    #[must_use]
    pub fn win(winner: Color, reason: Reason) -> Ending {
        Ending { result: GameResult::Win(winner), reason }
    }

    /// No result.
    #[must_use]
    pub fn aborted(why: impl Into<String>) -> Ending {
        Ending { result: GameResult::Unfinished, reason: Reason::Aborted(why.into()) }
    }

    /// The side that lost, where one did.
    #[must_use]
    pub fn loser(&self) -> Option<Color> {
        match self.result {
            GameResult::Win(winner) => Some(!winner),
            _ => None,
        }
    }

    /// The PGN tag `Termination`; none for a normal end, as the event writes it.
    #[must_use]
    pub fn termination(&self) -> Option<&'static str> {
        Some(match self.reason {
            Reason::Mate
            | Reason::Stalemate
            | Reason::Threefold
            | Reason::FiftyMoves
            | Reason::InsufficientMaterial
            | Reason::Resignation => return None,
            Reason::IllegalMove(_) => "illegal move",
            Reason::Time { .. } => "time forfeit",
            Reason::Crash { .. } | Reason::NoStart(_) => "abandoned",
            Reason::Stall { .. } => "stalled connection",
            Reason::DrawByEval | Reason::WinByEval | Reason::Tables | Reason::Length => {
                "adjudication"
            }
            Reason::Aborted(_) => "unterminated",
        })
    }

    /// The PGN tag `TerminationDetails`, in the event's words where the event has some.
    #[must_use]
    pub fn details(&self) -> String {
        let name = |side: Option<Color>| match side {
            Some(Color::White) => "White",
            Some(Color::Black) => "Black",
            None => "Nobody",
        };
        let loser = name(self.loser());
        let winner = name(self.loser().map(|side| !side));
        match &self.reason {
            Reason::Mate => format!("{winner} mates"),
            Reason::Stalemate => "Stalemate".into(),
            Reason::Threefold => "3-Fold repetition".into(),
            Reason::FiftyMoves => "Fifty moves rule".into(),
            Reason::InsufficientMaterial => "Insufficient material".into(),
            Reason::IllegalMove(said) => format!("{loser} makes an illegal move: {said}"),
            Reason::Time { .. } => format!("{loser} loses on time"),
            Reason::Resignation => format!("{loser} resigns"),
            Reason::Crash { .. } => format!("{loser} disconnects"),
            Reason::Stall { .. } => format!("{loser}'s connection stalls"),
            Reason::NoStart(_) => format!("{loser} does not start"),
            Reason::DrawByEval => "TCEC draw rule".into(),
            Reason::WinByEval => "TCEC win rule".into(),
            Reason::Tables => "Syzygy tables".into(),
            Reason::Length => "Longest game reached".into(),
            Reason::Aborted(why) => format!("Unfinished: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_words() {
        let lost = |reason| Ending::win(Color::White, reason);
        for (ending, word, details) in [
            (lost(Reason::Time { over: None }), "time forfeit", "Black loses on time"),
            (
                lost(Reason::Stall { waited: Duration::from_secs(1) }),
                "stalled connection",
                "Black's connection stalls",
            ),
            (
                lost(Reason::IllegalMove("a1a1".into())),
                "illegal move",
                "Black makes an illegal move: a1a1",
            ),
            (lost(Reason::Crash { exit: None }), "abandoned", "Black disconnects"),
        ] {
            assert_eq!(ending.termination(), Some(word));
            assert_eq!(ending.details(), details);
            assert_eq!(ending.loser(), Some(Color::Black));
        }
        assert_eq!(GameResult::from_word("1/2-1/2"), Some(GameResult::Draw));
        assert_eq!(GameResult::Draw.half_points(Color::White), Some(1));
    }
}
