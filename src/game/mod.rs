//! One game of chess between two players: its clock, its end, its record.
//!
//! Everything here but [`play`] is pure, and `play` meets engines only as [`play::Player`]: referee tests
//! start no process and never sleep.

pub(crate) mod adjudicate;
pub mod clock;
pub mod end;
pub mod go;
pub mod legal;
pub mod moment;
mod movetext;
pub mod notation;
pub(crate) mod openings;
pub(crate) mod pgn;
pub(crate) mod pgn_tags;
pub(crate) mod pgn_text;
mod pgn_words;
pub(crate) mod play;
#[cfg(test)]
mod random_positions;
pub mod start_positions;
pub mod tables;
