//! The capabilities that an engine showed beyond rule 7.9.

use serde::{Deserialize, Serialize};

/// The capabilities that the engine showed beyond rule 7.9. None: not tried, or no answer to trust.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Capabilities {
    /// `go wtime A btime B winc C binc D`.
    pub go_clock: Option<bool>,
    /// `go` alone.
    pub go_bare: Option<bool>,
    /// `position fen`.
    pub fen: Option<bool>,
    /// `stop` ends a search.
    pub stop: Option<bool>,
    /// `go movetime`.
    pub movetime: Option<bool>,
    /// `go depth`.
    pub depth: Option<bool>,
    /// `go nodes`.
    pub nodes: Option<bool>,
    /// `setoption` of an announced option is survived.
    pub setoption: Option<bool>,
    /// `id name` is printed.
    pub id: Option<bool>,
    /// `info` lines with a score.
    pub info: Option<bool>,
    /// `info` lines with a pv.
    pub pv: Option<bool>,
    /// Ends at the end of input.
    pub end_of_input: Option<bool>,
    /// Ends at `quit` while it thinks.
    pub quit_while_thinking: Option<bool>,
    /// Starts at a path with a blank.
    pub blank_path: Option<bool>,
    /// Leaves nothing when it is killed in the middle.
    pub clean_when_killed: Option<bool>,
    /// Understands a list of 1,000 plies.
    pub thousand_plies: Option<bool>,
    /// Starts where /bin/sh is dash (scripts only).
    pub dash: Option<bool>,
    /// Starts where /bin/sh is bash (scripts only).
    pub bash: Option<bool>,
    /// Of an entry that is slow: the looks that were left out, since they can only advise.
    #[serde(skip)]
    pub left_out: Option<LeftOut>,
}

/// The looks for which the time was too short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The number of looks that were left out.
    pub looks: usize,
    /// The number of looks that there are.
    pub of: usize,
}
