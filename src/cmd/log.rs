//! The log of gate4k's steps on standard error: `-vv`, and `-vvv` for more of it.

use std::io::IsTerminal;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt;

/// From the second `-v` on.
const DEBUG: u8 = 2;

/// True if so many `-v` ask for steps; then no progress is shown between them.
pub(super) fn is_on(verbose: u8) -> bool {
    verbose >= DEBUG
}

/// Tells steps from now on.
pub(super) fn start(verbose: u8) {
    if !is_on(verbose) {
        return;
    }
    let level = if verbose == DEBUG { LevelFilter::DEBUG } else { LevelFilter::TRACE };
    // A log that is on already is no fault, nor is one that nobody reads.
    let _ = fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_timer(fmt::time::uptime())
        .log_internal_errors(false)
        .try_init();
}
