//! gate4k decides whether a chess engine may enter the TCEC 4k event, and runs that event.
//!
//! An entry is judged by evidence: what touches an entry yields typed [`evidence`], each [`rule`]
//! turns evidence into a finding, findings make the [`verdict`], and every output is a view of it.

pub mod batch;
pub mod cli;
pub mod cmd;
pub mod config;
pub mod doctor;
pub mod engine;
pub mod event;
pub mod game;
pub mod judge;
pub mod model;
pub mod pack;
pub mod policy;
pub mod publish;
pub mod ratings;
pub mod receipt;
pub mod runner;
pub mod sandbox;
pub mod serve;
pub mod shard;
pub mod submission;
pub mod view;
