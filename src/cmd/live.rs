//! Several lines on a terminal that are drawn anew as things change, while a person watches.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;

use crate::model::lock::lock;
use crate::model::text::escape;

/// The lines that stand on the terminal now. A message of any thread goes above them.
static ON_SCREEN: Mutex<Option<OnScreen>> = Mutex::new(None);

#[derive(Debug)]
struct OnScreen {
    to: TerminalStream,
    lines: usize,
    /// The text that drew them.
    text: String,
}

impl OnScreen {
    fn erase(&self) {
        self.to.write(&drawing(self.lines, &[], 1, 0));
    }
}

/// Prints something while no lines stand there: below them it would be taken away with the next drawing, and a part of
/// them would stay.
pub(super) fn while_away(print: impl FnOnce()) {
    let drawn = lock(&ON_SCREEN);
    if let Some(drawn) = &*drawn {
        drawn.erase();
    }
    print();
    if let Some(drawn) = &*drawn {
        drawn.to.write(&drawn.text);
    }
}

/// The stream that is a terminal.
#[derive(Clone, Copy, Debug)]
enum TerminalStream {
    Output,
    Errors,
}

/// The lines; they are taken away when this is dropped.
#[derive(Debug)]
pub(super) struct Live {
    to: TerminalStream,
    shown: bool,
}

impl Live {
    /// Lines if standard error is a terminal that can move its cursor, else none ever.
    pub(super) fn new(quiet: bool) -> Live {
        Live {
            to: TerminalStream::Errors,
            shown: !quiet && !is_dumb() && TerminalStream::Errors.is_terminal(),
        }
    }

    /// Lines on standard output, where they are all that is asked for.
    pub(super) fn on_output() -> Live {
        Live {
            to: TerminalStream::Output,
            shown: !is_dumb() && TerminalStream::Output.is_terminal(),
        }
    }

    /// The lines that there is room for.
    pub(super) fn height(&self) -> usize {
        self.to.size().1
    }

    /// The columns that there is room for.
    pub(super) fn width(&self) -> usize {
        self.to.size().0 - 1
    }

    /// True if the lines are shown.
    pub(super) fn is_shown(&self) -> bool {
        self.shown
    }

    /// Draws lines in place of those before. Text that does not fit the terminal is left out: a line that wraps and a
    /// line that scrolled away could not be taken back.
    pub(super) fn draw(&mut self, lines: &[String]) {
        if !self.shown {
            return;
        }
        let (width, height) = self.to.size();
        let mut drawn = lock(&ON_SCREEN);
        let before = drawn.as_ref().map_or(0, |drawn| drawn.lines);
        // One write, so that nothing is seen half drawn.
        self.to.write(&drawing(before, lines, width, height));
        let text = drawing(0, lines, width, height);
        *drawn = Some(OnScreen { to: self.to, lines: lines.len().min(height), text });
    }

    /// Takes the lines away, so that others can be printed.
    pub(super) fn clear(&mut self) {
        if self.shown
            && let Some(drawn) = lock(&ON_SCREEN).take()
        {
            drawn.erase();
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.clear();
    }
}

impl TerminalStream {
    fn is_terminal(self) -> bool {
        match self {
            TerminalStream::Output => std::io::stdout().is_terminal(),
            TerminalStream::Errors => std::io::stderr().is_terminal(),
        }
    }

    /// A terminal that was closed hears nothing more, which is nobody's fault.
    fn write(self, text: &str) {
        let _ = match self {
            TerminalStream::Output => {
                let mut out = std::io::stdout().lock();
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
            TerminalStream::Errors => std::io::stderr().write_all(text.as_bytes()),
        };
    }

    /// Columns and lines that may be used.
    fn size(self) -> (usize, usize) {
        let told = match self {
            TerminalStream::Output => terminal_size::terminal_size_of(std::io::stdout()),
            TerminalStream::Errors => terminal_size::terminal_size_of(std::io::stderr()),
        };
        let (width, height) =
            told.map_or((80, 24), |(width, height)| (usize::from(width.0), usize::from(height.0)));
        // The last column may wrap, and the last line is the cursor's.
        (width.saturating_sub(1).max(20), height.saturating_sub(1).max(1))
    }
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term == "dumb")
}

/// The bytes for a terminal: back over the old lines, clear to the end, the new lines (ECMA-48: CUU, ED).
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
