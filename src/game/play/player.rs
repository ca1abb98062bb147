//! The player of a side, and the answers that it gives.

use std::time::Duration;

use shakmaty::uci::UciMove;

use crate::model::evidence::ExitHow;
use crate::model::game::record::SearchInfo;
use crate::model::game::record::Stamp;

/// The player of a side, who can be asked for moves.
pub(crate) trait Player {
    /// A new game begins.
    ///
    /// # Errors
    /// The reason why this player cannot play it.
    fn new_game(&mut self) -> Result<(), PlayerLost>;

    /// Sends the text (`position …`, `go …`, with their line ends) and waits for an answer, `wait` at most.
    fn think(&mut self, text: &[u8], wait: Duration) -> Thought;

    /// The numbers of the last answer's search.
    fn info(&self) -> SearchInfo {
        SearchInfo::default()
    }

    /// The line of play that the last answer's search expected, in UCI's words.
    fn pv(&self) -> &[u8] {
        b""
    }

    /// The lines that it said for the record before its last answer, each with its line end.
    fn comments(&self) -> &[u8] {
        b""
    }
}

/// The loss of a player, besides its moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlayerLost {
    /// Could not be started.
    NotStarted(String),
    /// The host could not give it what it needs, which is nobody's loss.
    Host(String),
    /// Ended, or closed its output.
    Gone(Option<ExitHow>),
    /// Gave no answer for so long.
    Silent(Duration),
    /// The match is broken off.
    Stopped,
    /// The referee itself did not run for so long while the answer was waited for, which is nobody's loss.
    Standstill(Duration),
}

/// An answer, with the moments at which the question was written and the answer read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thought {
    /// Just before `go` was written.
    pub(crate) sent: Stamp,
    /// Just after the read that brought the answer (or the end of waiting).
    pub(crate) heard: Stamp,
    /// The answer.
    pub(crate) said: PlayerAnswer,
}

/// A player's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlayerAnswer {
    /// A move, legal or not.
    Move(UciMove),
    /// `bestmove` with something else behind it: what stood there.
    NoMove(String),
    /// `bestmove resign`.
    Resign,
    /// No answer, and no player any more.
    Lost(PlayerLost),
}
