//! A game as it was played, with the evidence of each move.

use std::ops::Range;
use std::time::Duration;

use serde::Serialize;
use shakmaty::{ByColor, Color, Move};

use crate::game::clock::Stamp;
use crate::game::end::Ending;
use crate::game::info::Info;
use crate::game::openings::Opening;

/// A game that goes on after an interruption (rule 6.1.5).
#[derive(Clone, Debug, Default)]
pub struct Resume {
    /// The moves that players had made.
    pub plies: Vec<PlyRecord>,
    /// What the clocks show when it goes on, compensation included.
    pub clocks: ByColor<Duration>,
}

/// A move as it is told while the game goes on.
#[derive(Debug)]
pub struct Played<'a> {
    /// The moves that players made before it.
    pub number: usize,
    /// Who made it.
    pub mover: Color,
    /// The move.
    pub ply: &'a PlyRecord,
    /// Both clocks after it.
    pub clocks: ByColor<Duration>,
    /// The line of play that its search expected.
    pub pv: &'a [u8],
}

/// One move and its evidence.
#[derive(Clone, Debug)]
pub struct PlyRecord {
    /// The move.
    pub played: Move,
    /// When it was asked for.
    pub sent: Stamp,
    /// When it was heard.
    pub heard: Stamp,
    /// What the mover's clock showed after it, increment included.
    pub left: Duration,
    /// What the search said, from the mover's point of view.
    pub info: Info,
    /// Where its expected line stands in [`GameRecord::pvs`].
    pub pv: Range<usize>,
    /// Plies to the draw and the win rule; negative while these do not count.
    pub rules_in: (i32, i32),
}

impl PlyRecord {
    /// How long the move took.
    #[must_use]
    pub fn used(&self) -> Duration {
        self.heard.since(self.sent)
    }
}

/// The question that ended a game without a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Unanswered {
    /// When it was asked.
    pub sent: Stamp,
    /// When the answer came, or the waiting ended.
    pub heard: Stamp,
    /// What the clock allowed.
    pub left: Duration,
}

/// A game as it was played.
#[derive(Clone, Debug)]
pub struct GameRecord {
    /// The opening.
    pub opening: Opening,
    /// The moves that players made.
    pub plies: Vec<PlyRecord>,
    /// The expected lines, one after the other.
    pub pvs: Vec<u8>,
    /// How it ended.
    pub ending: Ending,
    /// The question without an answer that counts, where the game ended by one.
    pub unanswered: Option<Unanswered>,
    /// The side that gave no answer at all: its engine must not be asked again.
    pub hung: Option<Color>,
}
