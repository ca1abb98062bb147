//! Lines for people: how wide they may be, and how they are broken.

use std::os::fd::AsFd;

use unicode_width::UnicodeWidthStr;

use crate::model::text::escape;

/// The columns of a page on standard output: those of the terminal, or fewer where `COLUMNS` asks for fewer; where there
/// is no terminal, those that `COLUMNS` names, else 100. Narrower than 40 no layout makes sense, wider than 200 no line is
/// read.
pub(crate) fn width() -> usize {
    width_from(columns_wanted(), real_width(std::io::stdout())).clamp(40, 200)
}

/// The columns after which a terminal breaks a line by itself, in the midst of a word; none where the stream is no
/// terminal.
pub(crate) fn terminal_width(stream: impl AsFd) -> Option<usize> {
    real_width(stream).map(|real| width_from(columns_wanted(), Some(real)).max(10))
}

fn columns_wanted() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.trim().parse().ok()
}

fn real_width(stream: impl AsFd) -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(stream)?;
    Some(usize::from(width.0)).filter(|width| *width > 0)
}

/// A `COLUMNS` that was set in a wider terminal must not break lines in a narrower one.
fn width_from(wanted: Option<usize>, real: Option<usize>) -> usize {
    match (wanted, real) {
        (Some(wanted), Some(real)) => wanted.min(real),
        (wanted, real) => wanted.or(real).unwrap_or(100),
    }
}

/// The columns that a text takes on a terminal.
pub(super) fn columns(text: &str) -> usize {
    if text.is_ascii() && !text.contains('\x1b') {
        return text.len();
    }
    anstream::adapter::strip_str(text).to_string().width()
}

/// A cell with blanks behind it, so that it takes so many columns at least.
pub(super) fn padded(cell: &str, width: usize) -> String {
    cell.to_owned() + &" ".repeat(width.saturating_sub(columns(cell)))
}

/// Breaks a line at blanks so that no part takes more than `width` columns. A line that fits keeps its blanks as they
/// are; a word that is longer than a line is left whole, since it is mostly a path that somebody wants to copy.
pub(crate) fn wrap(line: &str, width: usize) -> Vec<String> {
    if columns(line) <= width {
        return vec![line.to_owned()];
    }
    let mut lines = Vec::new();
    let mut current = String::new();
    let mut used = 0;
    for word in line.split_whitespace() {
        let length = columns(word);
        if used > 0 && length > 0 && used + 1 + length > width {
            lines.push(std::mem::take(&mut current));
            used = 0;
        }
        // A word of no column only changes the style.
        if used > 0 && length > 0 {
            current.push(' ');
            used += 1;
        }
        current.push_str(word);
        used += length;
    }
    lines.push(current);
    lines
}

/// A line broken to fit; what follows its first part stands a little further in.
pub(crate) fn fit(line: &str, width: usize) -> String {
    if columns(line) <= width {
        return line.to_owned();
    }
    let text = line.trim_start_matches(' ');
    // A column that stands far to the right is moved where it leaves no room.
    let before = (line.len() - text.len()).min(width / 4);
    let lead = &line[..before];
    let between = format!("\n{lead}  ");
    lead.to_owned() + &wrap(text, width.saturating_sub(before + 2).max(10)).join(&between)
}

/// Text of a report is escaped where it is made; once more does no harm, and a slip there cannot
/// forge a line here.
pub(crate) fn clean(text: &str) -> String {
    escape(text.as_bytes(), usize::MAX)
}

/// Escapes a message of several lines, such as one that shows a line of a file: each stays a line.
pub(crate) fn clean_lines(text: &str) -> String {
    text.lines().map(clean).collect::<Vec<_>>().join("\n")
}

/// A lead that is so wide is a label, and no mere indentation or arrow.
const LABEL: usize = 12;

/// Adds `line` to `page`, broken to fit: the first part follows `lead` (whose visible width is
/// `indent`), the others stand below it. Where there is no room for a column, all of it is one text.
pub(crate) fn put(page: &mut String, lead: &str, indent: usize, line: &str, width: usize) {
    // A line that stands further in than its lead does so with each of its parts.
    let own = line.len() - line.trim_start_matches(' ').len();
    if own > 0 && columns(line) + indent > width {
        let lead = format!("{lead}{:own$}", "");
        return put(page, &lead, indent + own, line.trim_start_matches(' '), width);
    }
    if width < indent + 20 {
        page.push_str(&fit(format!("{lead}{line}").trim_end(), width));
        page.push('\n');
        return;
    }
    let room = width - indent;
    let length = columns(line);
    // A sum or a path that a terminal would break beside its label stands whole below it, to be copied.
    let is_label = indent >= LABEL && !lead.trim().is_empty();
    if is_label && length > room && !line.contains(' ') {
        page.push_str(lead.trim_end());
        page.push_str(if length + 2 > width { "\n" } else { "\n  " });
        page.push_str(line);
        page.push('\n');
        return;
    }
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
    fn the_width_is_the_terminals_unless_less_is_wanted() {
        assert_eq!(width_from(None, None), 100);
        assert_eq!(width_from(Some(72), Some(80)), 72);
        assert_eq!(width_from(Some(200), Some(80)), 80);
        assert_eq!(width_from(Some(120), None), 120);
        assert_eq!(width_from(None, Some(60)), 60);
    }

    #[test]
    fn styles_take_no_column_and_wide_characters_two() {
        assert_eq!(wrap("\x1b[1mone\x1b[0m two", 7), ["\x1b[1mone\x1b[0m two"]);
        assert_eq!(wrap("\x1b[1mone \x1b[0m two", 3), ["\x1b[1mone\x1b[0m", "two"]);
        assert_eq!(wrap("馬馬 馬", 5), ["馬馬", "馬"]);
    }

    #[test]
    fn a_line_that_is_too_long_goes_on_further_in() {
        assert_eq!(fit("  fits  here", 12), "  fits  here");
        assert_eq!(fit("  one  two three four", 15), "  one two\n    three four");
        assert_eq!(fit(&format!("{:30}one two three", ""), 20), "     one two three");
    }

    #[test]
    fn where_there_is_no_room_beside_a_lead_it_is_part_of_the_text() {
        let mut page = String::new();
        put(&mut page, "  a lead of many columns    ", 28, "one two three four", 40);
        assert_eq!(page, "  a lead of many columns one two three\n    four\n");
    }

    #[test]
    fn a_sum_stands_below_its_label_where_it_does_not_fit_beside_it() {
        let sum = "ab".repeat(32);
        let told = |width| {
            let mut page = String::new();
            put(&mut page, "  sha256       ", 15, &sum, width);
            page
        };
        assert_eq!(told(79), format!("  sha256       {sum}\n"));
        assert_eq!(told(78), format!("  sha256\n  {sum}\n"));
        assert_eq!(told(60), format!("  sha256\n{sum}\n"));
        assert_eq!(told(40), told(60));
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
        put(&mut page, "    ", 4, "  one two three four five", 28);
        assert_eq!(page, "      one two three four\n      five\n");
        page.clear();
        put(&mut page, "  → ", 4, "one two three four five", 24);
        assert_eq!(page, "  → one two three four\n    five\n");
    }
}
