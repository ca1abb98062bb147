//! Questions to an engine, and its answers.

use std::time::Duration;

use serde::Serialize;

use super::programs::ExitHow;
use super::why_illegal::WhyIllegal;
use crate::model::text::{millis, millis_opt};
use crate::model::units::{Bytes, Ply};

/// A question to an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// `uci`, until `uciok`.
    Uci,
    /// `isready`, until `readyok`.
    IsReady,
    /// `ucinewgame`, then `isready`, until `readyok`.
    NewGame,
    /// A position and `go`, until `bestmove`.
    Go(GoQuestion),
    /// `quit`, until the engine has ended.
    Quit,
    /// Input closed, until the engine has ended.
    EndOfInput,
}

/// A search that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GoQuestion {
    /// The name of the position (`castling-short-white`), or of the probe.
    pub(crate) position: String,
    /// The `position` command, whole.
    pub(crate) command: String,
    /// Plies in its move list.
    pub(crate) plies: Ply,
    /// The position as FEN, for the report.
    pub(crate) fen: String,
    /// The `go` command.
    pub(crate) go: String,
    /// The time that the rule's clock had left for the engine; none for forms without a clock.
    #[serde(rename = "left_ms", serialize_with = "millis_opt")]
    pub(crate) left: Option<Duration>,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// `uciok`, `readyok`, or the end after `quit`.
    Done,
    /// A move that is legal there, as written.
    Legal(String),
    /// `bestmove resign`: no move, and no fault, since a game may end so (rule 2.1).
    Resigned,
    /// A `bestmove` that is not a legal move there: the line, escaped, and why.
    Illegal {
        /// The line as it came, escaped.
        line: String,
        /// `illegal: the king would be in check`, `not written as in UCI: upper case` …
        why: WhyIllegal,
    },
    /// Nothing while it waited for more input; the right answer once that was closed.
    OnlyAtEnd,
    /// Nothing within the limit.
    Timeout,
    /// Output ended (closed by the engine, or it ended by itself).
    Ended(Option<ExitHow>),
    /// More than the allowed number of bytes came without the answer: a flood.
    Flood(Bytes),
    /// The engine no longer took input.
    NotTaken,
}

impl Answer {
    /// True if the question was answered as it may be; that a move came, and a legal one, [`Answer::Legal`] alone shows.
    pub(crate) fn is_good(&self) -> bool {
        matches!(self, Answer::Done | Answer::Legal(_) | Answer::Resigned)
    }
}

/// A question, its answer, and the time between.
#[derive(Clone, Debug, Serialize)]
pub struct Ask {
    /// The `setoption` that was sent with it, before `isready`; more than one is a line each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// The question.
    pub question: Question,
    /// When it was sent.
    #[serde(rename = "at_ms", serialize_with = "millis")]
    pub at: Duration,
    /// From the write of the question to the read of the answer (or to giving up).
    #[serde(rename = "took_ms", serialize_with = "millis")]
    pub took: Duration,
    /// The answer.
    pub answer: Answer,
    /// `info` lines seen meanwhile.
    pub infos: u32,
    /// The last `info` line with a score, escaped.
    pub last_info: Option<String>,
    /// The last line that is none of UCI's, escaped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// The unfinished line that it had said by the time when it was no longer waited for, escaped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<String>,
}

impl Ask {
    /// True where a search was not waited for as long as its clock allowed: the missing answer is then no
    /// fault of the engine's.
    pub(crate) fn was_cut(&self) -> bool {
        self.answer == Answer::Timeout
            && self.search().and_then(|go| go.left).is_some_and(|left| self.took < left)
    }

    /// The search, where the question is one.
    pub(crate) fn search(&self) -> Option<&GoQuestion> {
        match &self.question {
            Question::Go(go) => Some(go),
            _ => None,
        }
    }

    /// True if it is a search.
    pub(crate) fn is_search(&self) -> bool {
        self.search().is_some()
    }

    /// True if a legal move came.
    pub(crate) fn moved(&self) -> bool {
        matches!(self.answer, Answer::Legal(_))
    }
}
