//! A Swiss of single games, as the older seasons played it.

use std::num::NonZeroU32;

use super::super::schedule::Seat;
use super::due::{Next, Past};
use super::swiss::Round;

/// A Swiss of single games in FIDE's Dutch system; seats are seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dutch {
    /// Rounds.
    pub rounds: NonZeroU32,
}

impl Dutch {
    /// The pairings of a round.
    #[must_use]
    pub fn round(&self, _seats: usize, _past: &Past, _round: u32) -> Round {
        Round::default()
    }

    /// White and Black of two that meet.
    #[must_use]
    pub fn colored(
        &self,
        _seats: usize,
        _past: &Past,
        _round: u32,
        a: Seat,
        b: Seat,
    ) -> (Seat, Seat) {
        (a, b)
    }

    /// What is due.
    #[must_use]
    pub fn next(&self, _seats: usize, _past: &Past) -> Next {
        Next::Over(Vec::new())
    }
}
