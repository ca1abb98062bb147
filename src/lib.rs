//! gate4k decides whether a chess engine may enter the TCEC 4k event, and runs that event.
//!
//! An entry is judged by evidence: what touches an entry yields typed [`evidence`], each [`rule`]
//! turns evidence into a finding, findings make the [`verdict`], and every output is a view of it.

pub mod batch;
pub mod cli;
pub mod cmd;
pub mod config;
pub mod conformance;
pub mod doctor;
pub mod error;
pub mod event;
pub mod evidence;
pub mod game;
pub mod gate;
pub mod openings;
pub mod pack;
pub mod policy;
pub mod ratings;
pub mod receipt;
pub mod report;
pub mod rule;
pub mod runner;
pub mod sandbox;
pub mod submission;
pub mod uci;
pub mod units;
pub mod verdict;
pub mod words;
