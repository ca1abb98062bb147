//! The table at the end of many entries: a line each, as narrow as its texts allow.

use std::path::Path;

use super::human;
use super::layout::PageLayout;
use super::text::{clean, columns, padded, put};
use super::weight::because;
use crate::model::entry_report::EntryReport;
use crate::model::text::shown;
use crate::model::verdict::Verdict;

/// A line of the table.
#[derive(Clone, Debug)]
pub(crate) struct TableRow {
    path: String,
    verdict: Option<Verdict>,
    bytes: String,
    start: String,
    because: String,
}

impl TableRow {
    /// Of an entry that was judged.
    pub(crate) fn judged(report: &EntryReport) -> TableRow {
        TableRow {
            path: shown(&report.path),
            verdict: Some(report.verdict),
            bytes: report.size.as_ref().map_or_else(|| "–".into(), |size| size.total.0.to_string()),
            start: (report.startup.readyok)
                .map_or_else(|| "–".into(), |time| format!("{:.2} s", time.as_secs_f64())),
            because: because(report),
        }
    }

    /// Of one that was not, and why.
    pub(crate) fn not_judged(path: &Path, why: &str) -> TableRow {
        TableRow {
            path: shown(path),
            verdict: None,
            bytes: "–".into(),
            start: "–".into(),
            // The first line says it; what follows points into a file.
            because: clean(why.lines().next().unwrap_or_default()),
        }
    }
}

/// The table with the tally below.
pub(crate) fn table(rows: &[TableRow], layout: PageLayout) -> String {
    let columns = if layout.plain { None } else { in_columns(rows, layout.width) };
    let table = columns.unwrap_or_else(|| in_words(rows, layout.width));
    format!("{table}\n{}", human::tally(rows.iter().map(|row| row.verdict)))
}

/// The table in columns; none where there is no room for them.
fn in_columns(rows: &[TableRow], width: usize) -> Option<String> {
    let widest = |text: fn(&TableRow) -> &str| {
        rows.iter().map(|row| columns(text(row))).max().unwrap_or_default()
    };
    let (path, bytes, start) =
        (widest(|row| &row.path).max(5), widest(|row| &row.bytes).max(5), widest(|r| &r.start));
    let start = start.max(8);
    let mut page = format!(
        "{:<10}  {:<path$}  {:>bytes$}  {:>start$}  because of\n",
        "verdict", "entry", "bytes", "start-up"
    );
    let indent = 10 + 2 + path + 2 + bytes + 2 + start + 2;
    if width + 2 < indent {
        return None;
    }
    for row in rows {
        let (word, style) = match row.verdict {
            Some(verdict) => (verdict.word(), human::verdict_style(verdict)),
            None => ("not judged", anstyle::Style::new().bold()),
        };
        let lead = format!(
            "{style}{word:<10}{style:#}  {}  {:>bytes$}  {:>start$}  ",
            padded(&row.path, path),
            row.bytes,
            row.start
        );
        if width >= indent + 20 {
            put(&mut page, &lead, indent, &row.because, width);
        } else {
            put(&mut page, &lead, indent, "", width);
            if !row.because.is_empty() {
                put(&mut page, "            ", 12, &row.because, width);
            }
        }
    }
    Some(page)
}

/// The table in sentences.
fn in_words(rows: &[TableRow], width: usize) -> String {
    let mut page = String::new();
    for row in rows {
        let word = row.verdict.map_or("not judged", Verdict::word);
        let mut line = format!("{word}: {}", row.path);
        if row.bytes != "–" {
            line += &format!(", {} bytes", row.bytes);
        }
        if row.start != "–" {
            line += &format!(", start-up {}", row.start);
        }
        if !row.because.is_empty() {
            line += &format!(", because of {}", row.because);
        }
        put(&mut page, "", 0, &line, width);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::tests::report;

    fn plain(rows: &[TableRow], width: usize) -> String {
        anstream::adapter::strip_str(&table(rows, PageLayout::of_width(width))).to_string()
    }

    #[test]
    fn a_line_an_entry_and_the_tally() {
        let good = EntryReport { path: "e/x".into(), verdict: Verdict::Accepted, ..report() };
        let rows = [
            TableRow::judged(&good),
            TableRow::judged(&report()),
            TableRow::not_judged(Path::new("gone"), "nothing there\n3 | x"),
        ];
        assert_eq!(
            plain(&rows, 100),
            "\
verdict     entry         bytes  start-up  because of
accepted    e/x            4117    0.41 s
rejected    entries/tiny   4117    0.41 s  size
not judged  gone              –         –  nothing there

3 entries: 1 accepted, 1 rejected, 1 not judged
"
        );
        let narrow = plain(&rows, 60);
        assert!(narrow.contains("    0.41 s\n            size\n"), "{narrow}");
        let narrower = plain(&rows, 40);
        assert!(narrower.starts_with("accepted: e/x, 4117 bytes, start-up 0.41\n"), "{narrower}");
    }

    #[test]
    fn a_hostile_name_cannot_forge_a_line() {
        let rows = [TableRow::not_judged(Path::new("x\naccepted  y"), "a\rb\u{1b}[2J")];
        let page = table(&rows, PageLayout::of_width(100));
        assert!(!page.contains("\u{1b}[2J") && !page.contains('\r'), "{page}");
        assert_eq!(page.lines().count(), 4, "{page}");
    }
}
