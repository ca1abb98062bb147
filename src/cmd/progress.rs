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

    /// Shows one step of one entry.
    pub(crate) fn step(&self, entry: &str, step: &str) {
        self.show(&told(entry, step, self.width));
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

/// Fewer characters of an entry tell nothing.
const LEAST: usize = 8;

/// The step of an entry; where both do not fit, the entry is cut, since the step is what changes.
fn told(entry: &str, step: &str, width: usize) -> String {
    let entry = escape(entry.as_bytes(), usize::MAX);
    let line = format!("checking {entry}: {step}");
    let over = (line.chars().count() + 1).saturating_sub(width);
    if over == 0 {
        return line;
    }
    let room = entry.chars().count().saturating_sub(over + 1);
    if room < LEAST {
        step.to_owned()
    } else {
        format!("checking {}: {step}", escape(entry.as_bytes(), room))
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_is_told_before_the_entry() {
        let packing = "2363 bytes (lzma, lc=0 lp=0 pb=0 nice=24)";
        assert_eq!(told("engine", "judging", 40), "checking engine: judging");
        let cut = told(packing, "judging", 40);
        assert!(cut.starts_with("checking 2363 bytes") && cut.ends_with(": judging"), "{cut}");
        assert!(cut.chars().count() < 40, "{cut}");
        assert_eq!(
            told(packing, "start, handshake, first moves", 40),
            "start, handshake, first moves"
        );
    }
}
