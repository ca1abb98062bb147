//! One line on standard error that says what is being done, while a person watches.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::model::text::escape;
use crate::view::text;

/// The line; it is taken away when this is dropped.
#[derive(Debug)]
pub(crate) struct ProgressLine {
    shown: bool,
    width: usize,
    /// Something stands there now.
    dirty: AtomicBool,
}

impl ProgressLine {
    /// A line if standard error is a terminal that can move its cursor, else one that stays silent.
    pub(crate) fn new(quiet: bool) -> ProgressLine {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        ProgressLine {
            shown: !quiet && !dumb && std::io::stderr().is_terminal(),
            // A line that wraps could not be cleared.
            width: text::terminal_width(std::io::stderr()).unwrap_or(80) - 1,
            dirty: AtomicBool::new(false),
        }
    }

    /// True if somebody sees it.
    pub(crate) fn is_shown(&self) -> bool {
        self.shown
    }

    /// Shows one step of one entry.
    pub(crate) fn step(&self, entry: &str, step: &str) {
        self.show(&format!("checking {entry}: {step}"));
    }

    /// Shows a line in place of the one before.
    pub(crate) fn show(&self, line: &str) {
        if self.shown {
            let line = escape(line.as_bytes(), self.width - 1);
            self.dirty.store(true, Ordering::Relaxed);
            // One write, since other threads may report at the same time.
            let _ = std::io::stderr().write_all(format!("\r\x1b[2K{line}").as_bytes());
        }
    }

    /// Takes the line away, so that a report can be printed.
    pub(crate) fn clear(&self) {
        if self.dirty.swap(false, Ordering::Relaxed) {
            let _ = std::io::stderr().write_all(b"\r\x1b[2K");
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}
