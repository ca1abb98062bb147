//! The event's pure rooms: what was played, in what order it must be played, who stands where.

pub mod conduct;
pub mod config;
pub mod entrants;
pub mod export;
pub mod field;
pub mod history;
pub mod interrupted;
pub mod journal;
pub mod journal_games;
pub mod ledger;
mod pgn_comment;
mod pgn_lines;
pub mod pgn_source;
pub mod points;
pub mod progress;
pub mod ratings;
pub mod record;
pub mod recorder;
pub mod rmobility;
pub mod schedule;
pub mod stage;
pub mod standings;
mod termination;
pub mod tiebreak;
pub mod verify;
