//! Several lines on standard error that are drawn anew as things change, while a person watches.

use std::io::{IsTerminal, Write};

use crate::model::text::escape;

/// The lines; they are taken away when this is dropped.
#[derive(Debug)]
pub(super) struct Live {
    shown: bool,
    /// How many stand there now.
    drawn: usize,
}

impl Live {
    /// Lines if standard error is a terminal that can move its cursor, else none ever.
    pub(super) fn new(quiet: bool) -> Live {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Live { shown: !quiet && !dumb && std::io::stderr().is_terminal(), drawn: 0 }
    }

    /// Whether anybody sees them.
    pub(super) fn is_shown(&self) -> bool {
        self.shown
    }

    /// Draws lines in place of those before. What does not fit the terminal is left out: a line that wraps
    /// and a line that scrolled away could not be taken back.
    pub(super) fn draw(&mut self, lines: &[String]) {
        if !self.shown {
            return;
        }
        let (width, height) = size();
        let text = drawing(self.drawn, lines, width, height);
        self.drawn = lines.len().min(height);
        // One write, so that nothing is seen half drawn.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }

    /// Takes the lines away, so that others can be printed.
    pub(super) fn clear(&mut self) {
        if self.drawn > 0 {
            let _ = std::io::stderr().write_all(drawing(self.drawn, &[], 1, 0).as_bytes());
            self.drawn = 0;
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Columns and lines that may be used.
fn size() -> (usize, usize) {
    let (width, height) = terminal_size::terminal_size_of(std::io::stderr())
        .map_or((80, 24), |(width, height)| (usize::from(width.0), usize::from(height.0)));
    // The last column may wrap, and the last line is the cursor's.
    (width.saturating_sub(1).max(20), height.saturating_sub(1).max(1))
}

/// What a terminal is told: back over the old lines, clear to the end, the new lines (ECMA-48: CUU, ED).
fn drawing(before: usize, lines: &[String], width: usize, height: usize) -> String {
    let mut text = String::new();
    if before > 0 {
        text += &format!("\r\x1b[{before}A\x1b[J");
    }
    for line in lines.iter().take(height) {
        // The ellipsis takes a column, too.
        text += &escape(line.as_bytes(), width - 1);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_lines_replace_the_old_and_fit() {
        let lines = ["short".to_owned(), "far too long a line".to_owned(), "third".to_owned()];
        assert_eq!(drawing(0, &lines, 11, 2), "short\nfar too lo…\n");
        assert_eq!(drawing(2, &lines[..1], 80, 24), "\r\x1b[2A\x1b[Jshort\n");
        assert_eq!(drawing(1, &[], 1, 0), "\r\x1b[1A\x1b[J");
    }
}
