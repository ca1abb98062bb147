//! Events through the real program: from the gate to the winner, killed at any moment, with a journal that was
//! torn or damaged, on a disk that fills, with engines that hang and clocks that jump, with two runners, and
//! with entries that changed.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "all of this is a test, and a test that cannot go on has failed"
)]

mod killed;
mod past;
mod processes;
mod ratings;
mod rules;
mod table;
mod trouble;
mod whole;
