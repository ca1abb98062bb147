//! The ends of games: each one typed value, with the words that the event's PGN uses.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::result::GameResult;
use crate::model::evidence::ExitHow;

/// The text of [`Termination::IllegalMove`] for a `bestmove` with nothing behind it.
pub(crate) const NO_WORD: &str = "no move after bestmove";

/// The reason why a game ended. Ends that one side suffers name no side: [`GameEnding::loser`] does.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Termination {
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
    /// A `bestmove` that is no legal move (rule 2.1), with what it said ([`NO_WORD`] where that was nothing).
    IllegalMove(String),
    /// Out of time (rules 1.2, 2.1): a move came, but too late.
    Time {
        /// The time by which the move came later than the clock allowed; none where the source does not say.
        over: Option<Duration>,
    },
    /// `bestmove resign` (rule 2.1).
    Resignation,
    /// The process ended or closed its output in the middle of the game (rule 6.2).
    Crash {
        /// The end of the process, where that is known.
        exit: Option<ExitHow>,
    },
    /// A hang: no answer for longer than is waited for at all, past the end of the clock where there is one.
    Stall {
        /// The time that was waited for it.
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
    /// Broken off because the referee itself did not run.
    Standstill {
        /// For how long.
        lasted: Duration,
    },
    /// Struck out by the organisers, for this reason.
    Annulled(String),
    /// Scored after an interruption by this rule of the 4k rules, on evaluations.
    Interrupted(String),
    /// Decided by somebody else; the source does not say by which rule.
    Adjudicated,
    /// The source does not say, or in words that are not known here.
    Unknown,
}

impl Termination {
    /// True if the loser crashed (rule 6.2): it ended, hung or did not start. A lost clock or an illegal move is
    /// a loss of an engine that still works.
    pub(crate) fn is_crash(&self) -> bool {
        matches!(
            self,
            Termination::Crash { .. } | Termination::Stall { .. } | Termination::NoStart(_)
        )
    }

    /// True if the rules on the board end the game so.
    pub(crate) fn is_on_the_board(&self) -> bool {
        matches!(
            self,
            Termination::Mate
                | Termination::Stalemate
                | Termination::Threefold
                | Termination::FiftyMoves
                | Termination::InsufficientMaterial
        )
    }
}

/// The end of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameEnding {
    /// The result.
    pub result: GameResult,
    /// The reason.
    pub reason: Termination,
}

impl GameEnding {
    /// A draw.
    pub fn draw(reason: Termination) -> GameEnding {
        GameEnding { result: GameResult::Draw, reason }
    }

    /// A win.
    pub fn win(winner: Color, reason: Termination) -> GameEnding {
        GameEnding { result: GameResult::Win(winner), reason }
    }

    /// No result.
    pub(crate) fn aborted(why: impl Into<String>) -> GameEnding {
        GameEnding { result: GameResult::Unfinished, reason: Termination::Aborted(why.into()) }
    }

    /// No result, since the referee itself did not run for so long.
    pub(crate) fn standstill(lasted: Duration) -> GameEnding {
        GameEnding { result: GameResult::Unfinished, reason: Termination::Standstill { lasted } }
    }

    /// The side that crashed, where a crash ended the game. Crashes are counted as losses (rule 6.2).
    pub fn crashed(&self) -> Option<Color> {
        self.loser().filter(|_| self.reason.is_crash())
    }

    /// True of a game that goes on: it has no end yet.
    pub(crate) fn is_under_way(&self) -> bool {
        self.result == GameResult::Unfinished && self.reason == Termination::Unknown
    }

    /// The side that lost, where one did.
    pub(crate) fn loser(&self) -> Option<Color> {
        match self.result {
            GameResult::Win(winner) => Some(!winner),
            _ => None,
        }
    }

    /// The PGN tag `Termination`; none for a normal end, as the event writes it.
    pub fn termination(&self) -> Option<&'static str> {
        Some(match self.reason {
            Termination::Mate
            | Termination::Stalemate
            | Termination::Threefold
            | Termination::FiftyMoves
            | Termination::InsufficientMaterial
            | Termination::Resignation
            | Termination::Unknown => return None,
            Termination::IllegalMove(_) => "illegal move",
            Termination::Time { .. } => "time forfeit",
            Termination::Crash { .. } | Termination::NoStart(_) => "abandoned",
            Termination::Stall { .. } => "stalled connection",
            Termination::DrawByEval
            | Termination::WinByEval
            | Termination::Tables
            | Termination::Length
            | Termination::Interrupted(_)
            | Termination::Adjudicated => "adjudication",
            Termination::Annulled(_) => "annulled",
            Termination::Aborted(_) | Termination::Standstill { .. } => "unterminated",
        })
    }

    /// The PGN tag `TerminationDetails`, in the event's words where the event has some.
    pub fn details(&self) -> String {
        let name = |side: Option<Color>| match side {
            Some(Color::White) => "White",
            Some(Color::Black) => "Black",
            None => "Nobody",
        };
        let loser = name(self.loser());
        let winner = name(self.loser().map(|side| !side));
        match &self.reason {
            Termination::Mate => format!("{winner} mates"),
            Termination::Stalemate => "Stalemate".into(),
            Termination::Threefold => "3-Fold repetition".into(),
            Termination::FiftyMoves => "Fifty moves rule".into(),
            Termination::InsufficientMaterial => "Insufficient material".into(),
            Termination::IllegalMove(said) if said.is_empty() => {
                format!("{loser} makes an illegal move")
            }
            Termination::IllegalMove(said) => format!("{loser} makes an illegal move: {said}"),
            Termination::Time { .. } => format!("{loser} loses on time"),
            Termination::Resignation => format!("{loser} resigns"),
            Termination::Crash { .. } => format!("{loser} disconnects"),
            Termination::Stall { .. } => format!("{loser}'s connection stalls"),
            // Not held against anybody.
            Termination::NoStart(why) if self.loser().is_none() => format!("Unfinished: {why}"),
            Termination::NoStart(_) => format!("{loser} does not start"),
            Termination::DrawByEval => "TCEC draw rule".into(),
            Termination::WinByEval => "TCEC win rule".into(),
            Termination::Tables => "Syzygy tables".into(),
            Termination::Length => "Longest game reached".into(),
            Termination::Aborted(why) => format!("Unfinished: {why}"),
            Termination::Annulled(why) => format!("Annulled: {why}"),
            Termination::Standstill { lasted } => {
                format!("Unfinished: the referee did not run for {:.1} s", lasted.as_secs_f64())
            }
            Termination::Interrupted(rule) => {
                let what = match self.loser() {
                    None => "a draw".to_owned(),
                    Some(_) => format!("{winner} wins"),
                };
                format!("Interrupted: {what} by rule {rule} of the 4k rules")
            }
            Termination::Adjudicated => "Adjudicated".into(),
            Termination::Unknown => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_words() {
        let lost = |reason| GameEnding::win(Color::White, reason);
        for (ending, word, details) in [
            (lost(Termination::Time { over: None }), "time forfeit", "Black loses on time"),
            (
                lost(Termination::Stall { waited: Duration::from_secs(1) }),
                "stalled connection",
                "Black's connection stalls",
            ),
            (
                lost(Termination::IllegalMove("a1a1".into())),
                "illegal move",
                "Black makes an illegal move: a1a1",
            ),
            // A file may not say which.
            (
                lost(Termination::IllegalMove(String::new())),
                "illegal move",
                "Black makes an illegal move",
            ),
            (lost(Termination::Crash { exit: None }), "abandoned", "Black disconnects"),
        ] {
            assert_eq!(ending.termination(), Some(word));
            assert_eq!(ending.details(), details);
            assert_eq!(ending.loser(), Some(Color::Black));
        }
    }

    #[test]
    fn an_interruption_has_words_of_its_own() {
        let by = |rule: &str| Termination::Interrupted(rule.to_owned());
        for (ending, details) in [
            (GameEnding::draw(by("6.1.3")), "Interrupted: a draw by rule 6.1.3 of the 4k rules"),
            (
                GameEnding::win(Color::Black, by("6.1.2")),
                "Interrupted: Black wins by rule 6.1.2 of the 4k rules",
            ),
        ] {
            assert_eq!(ending.termination(), Some("adjudication"));
            assert_eq!(ending.details(), details);
        }
    }

    #[test]
    fn a_crash_is_the_losers() {
        let crashed = |reason| GameEnding::win(Color::White, reason).crashed();
        assert_eq!(crashed(Termination::Crash { exit: None }), Some(Color::Black));
        assert_eq!(crashed(Termination::NoStart("no file".into())), Some(Color::Black));
        assert_eq!(crashed(Termination::Time { over: None }), None);
        assert_eq!(GameEnding::aborted("a crash of the host").crashed(), None);
        // Its words tell of a crash; its type does not.
        assert_eq!(crashed(Termination::IllegalMove("crash".into())), None);
    }
}
