//! The words of `gate4k merge`.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::{OutputFormat, ReportTo, report};

/// `gate4k merge`.
#[derive(Clone, Debug, Args)]
pub(crate) struct MergeArgs {
    /// The journals of all shards of one match or of one check (`--journal`), in any order
    #[arg(value_name = "JOURNAL", required = true)]
    pub(crate) journals: Vec<PathBuf>,
    /// Count what there is, and name what is missing
    #[arg(long)]
    pub(crate) partial: bool,
    /// Of a match: look again and again until its test is decided or its last game is played; once it is decided, write FILE,
    /// which ends the shards that have it as `match --until`
    #[arg(long, value_name = "FILE")]
    pub(crate) watch: Option<PathBuf>,
    /// Of a match: write the games to this file, in the order of the match
    #[arg(long, value_name = "FILE")]
    pub(crate) pgn: Option<PathBuf>,
    /// Of a match: no line for each game
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Of a check: how to print the result
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<OutputFormat>,
    /// Of a check: only the table of the entries
    #[arg(long, conflicts_with = "verbose")]
    pub(crate) summary: bool,
    /// Of a check: also show evidence of what passed, every run, and the transcript of the main one
    #[arg(long, short, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Of a check: also write the result, as with `check`; may be repeated
    #[arg(long, value_name = "FORMAT=PATH", value_parser = report::report_to)]
    pub(crate) report: Vec<ReportTo>,
    /// Of a check: write a receipt, as with `check`
    #[arg(long, value_name = "FILE")]
    pub(crate) receipt: Option<PathBuf>,
    /// Of a check: sign the receipt with this secret key of minisign, as with `check`
    #[arg(long, value_name = "KEY", requires = "receipt")]
    pub(crate) sign_key: Option<PathBuf>,
}
