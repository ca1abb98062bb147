//! gate4k decides whether a chess engine may enter the TCEC 4k event, and runs that event.
//!
//! An entry is judged by evidence: what touches an entry yields typed [`model::evidence`], each [`model::rule`]
//! turns evidence into a finding, findings make the [`model::verdict`], and every output is a view of it.
//!
//! The library is for this program alone: [`main`] is all of it. Further items are public only where the suite in
//! `tests` and the benchmarks name them, and no version promises them to anybody else.

pub mod batch;
mod cli;
mod cmd;
mod config;
mod doctor;
pub mod engine;
pub mod event;
mod files;
pub mod game;
pub mod judge;
pub mod model;
pub mod pack;
pub mod policy;
mod publish;
pub mod ratings;
mod receipt;
pub mod runner;
pub mod sandbox;
mod serve;
pub mod shard;
pub mod submission;
pub mod view;

pub use cmd::main;
