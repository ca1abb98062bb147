//! Lines for people: how wide they may be, and how they are broken.

use std::os::fd::AsFd;

use crate::model::text::{escape, without_commands};

/// The columns of a page on standard output: those that `COLUMNS` names, else those of the terminal, else 100.
#[must_use]
pub fn width() -> usize {
    width_of(std::io::stdout())
}

/// As [`width`], for another stream.
#[must_use]
pub fn width_of(stream: impl AsFd) -> usize {
    let terminal = terminal_size::terminal_size_of(stream).map(|(width, _)| usize::from(width.0));
    width_from(std::env::var("COLUMNS").ok().as_deref(), terminal)
}

/// Shells keep `COLUMNS` to themselves, so where it is set somebody wants it. Narrower than 40 no column layout makes
/// sense, wider than 200 no line is read.
fn width_from(columns: Option<&str>, terminal: Option<usize>) -> usize {
    let wanted: Option<usize> = columns.and_then(|columns| columns.trim().parse().ok());
    wanted.or(terminal.filter(|width| *width > 0)).map_or(100, |width| width.clamp(40, 200))
}

/// Breaks a line at blanks so that no part is longer than `width` characters. A line that fits keeps
/// its blanks as they are; a word that is longer than a line is left whole, since it is mostly a path
/// that somebody wants to copy.
#[must_use]
pub fn wrap(line: &str, width: usize) -> Vec<String> {
    if line.chars().count() <= width {
        return vec![line.to_owned()];
    }
    let mut lines = Vec::new();
    let mut current = String::new();
    let mut used = 0;
    for word in line.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push(std::mem::take(&mut current));
            used = 0;
        }
        if used > 0 {
            current.push(' ');
            used += 1;
        }
        current.push_str(word);
        used += length;
    }
    lines.push(current);
    lines
}

/// Text of a report is escaped where it is made; once more does no harm, and a slip there cannot
/// forge a line here.
pub(crate) fn clean(text: &str) -> String {
    without_commands(&escape(text.as_bytes(), usize::MAX))
}

/// Adds `line` to `page`, broken to fit: the first part follows `lead` (whose visible width is
/// `indent`), the others stand below it.
pub(crate) fn put(page: &mut String, lead: &str, indent: usize, line: &str, width: usize) {
    let room = width.saturating_sub(indent).max(20);
    for (number, part) in wrap(line, room).iter().enumerate() {
        if number == 0 {
            page.push_str(lead);
        } else {
            page.extend(std::iter::repeat_n(' ', indent));
        }
        page.push_str(part);
        while page.ends_with(' ') {
            page.pop();
        }
        page.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_command_of_a_runner_stands_within_a_line() {
        let line = clean("a ##[error]b ###[c ##vso[task.setvariable]d # e");
        assert!(!line.contains("##[") && !line.contains("##vso["), "{line}");
        let line = clean("section_start:1:a[collapsed=true] section_end:1:a");
        assert!(!line.contains("section_start:") && !line.contains("section_end:"), "{line}");
        assert_eq!(clean(&line), line);
        assert_eq!(clean("## [x] #1"), "## [x] #1");
    }

    #[test]
    fn the_width_comes_from_the_environment_within_reason() {
        assert_eq!(width_from(None, None), 100);
        assert_eq!(width_from(Some("72"), Some(80)), 72);
        assert_eq!(width_from(Some("3"), None), 40);
        assert_eq!(width_from(Some("100000"), None), 200);
        assert_eq!(width_from(Some("wide"), None), 100);
        assert_eq!(width_from(None, Some(60)), 60);
        assert_eq!(width_from(None, Some(0)), 100);
        assert_eq!(width_from(None, Some(300)), 200);
    }

    #[test]
    fn lines_break_at_blanks_and_words_stay_whole() {
        assert_eq!(wrap("a  b", 4), ["a  b"]);
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("/a/very/long/path x", 5), ["/a/very/long/path", "x"]);
        assert_eq!(wrap("", 5), [""]);
    }

    #[test]
    fn later_parts_stand_below_the_first() {
        let mut page = String::new();
        put(&mut page, "  → ", 4, "one two three four five", 24);
        assert_eq!(page, "  → one two three four\n    five\n");
    }
}
