//! The event's pure rooms: what was played, in what order it must be played, who stands where.

pub mod conduct;
pub mod config;
pub mod duel;
pub mod entrants;
pub mod export;
pub mod field;
pub mod format;
pub mod history;
pub mod interrupted;
pub mod journal;
pub mod journal_games;
pub mod ledger;
pub mod outlook;
mod pgn_lines;
pub mod pgn_source;
pub mod plan;
pub mod progress;
pub mod ratings;
pub mod recorder;
pub mod replay;
pub mod rmobility;
pub mod schedule;
pub mod stage;
pub mod standings;
mod termination;
pub mod tiebreak;
pub mod verify;
