//! One line on standard error that says what is being done, while a person watches.

use std::sync::{Mutex, PoisonError};

use super::live::Live;
use crate::model::text::escape;

/// The line; it is taken away when this is dropped.
#[derive(Debug)]
pub(crate) struct ProgressLine(Mutex<Live>);

impl ProgressLine {
    /// A line if standard error is a terminal that can move its cursor, else one that stays silent.
    pub(crate) fn new(quiet: bool) -> ProgressLine {
        ProgressLine(Mutex::new(Live::new(quiet)))
    }

    /// Shows one step of one entry, in place of the one before; called from any thread.
    pub(crate) fn step(&self, entry: &str, step: &str) {
        let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = told(entry, step, live.width());
        live.draw(&[line]);
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
