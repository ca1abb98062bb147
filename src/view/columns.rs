//! Tables for a terminal, as wide as their cells: where there is no room for all columns, the last ones are left out
//! before the name is cut.

use super::text::columns;
use crate::model::text::escape;

/// A table of a row for each engine.
pub(crate) struct ColumnTable<'a> {
    /// The heads of the columns. A name stands on the left of its column, everything else on the right.
    pub(crate) heads: &'a [&'a str],
    /// The column that holds the names.
    pub(crate) name: usize,
    /// The numbers of columns that may stand alone: all of them first, the fewest last.
    pub(crate) counts: &'a [usize],
}

/// A name is not cut to fewer columns than these.
const SHORTEST_NAME: usize = 6;

impl ColumnTable<'_> {
    /// The lines of the table with these rows, the heads first.
    pub(crate) fn lines(&self, rows: &[Vec<String>], width: usize) -> Vec<String> {
        let heads: Vec<String> = self.heads.iter().map(|head| (*head).to_owned()).collect();
        let all: Vec<&[String]> =
            std::iter::once(&*heads).chain(rows.iter().map(Vec::as_slice)).collect();
        let mut widths: Vec<usize> = (0..heads.len())
            .map(|at| all.iter().map(|row| columns(&row[at])).max().unwrap_or_default())
            .collect();
        let needs = |count: usize, gap: usize| {
            widths[..count].iter().sum::<usize>() + gap * count.saturating_sub(1)
        };
        let ways = self.counts.iter().flat_map(|count| [(*count, 2), (*count, 1)]);
        let fewest = self.counts.last().copied().unwrap_or(heads.len());
        let (count, gap) =
            ways.clone().find(|(count, gap)| needs(*count, *gap) <= width).unwrap_or((fewest, 1));
        let over = needs(count, gap).saturating_sub(width);
        widths[self.name] = widths[self.name].saturating_sub(over).max(SHORTEST_NAME);
        let cell = |at: usize, text: &str| match at == self.name {
            true => {
                let text = cut(text, widths[at]);
                let blank = widths[at].saturating_sub(columns(&text));
                format!("{text}{:blank$}", "")
            }
            false => format!("{:>1$}", text, widths[at]),
        };
        let between = " ".repeat(gap);
        let line = |row: &&[String]| {
            let cells = row[..count].iter().enumerate().map(|(at, text)| cell(at, text));
            cells.collect::<Vec<_>>().join(&between).trim_end().to_owned()
        };
        all.iter().map(line).collect()
    }
}

/// A name that is no wider than so many columns, with an ellipsis where a part of it is left out.
fn cut(name: &str, width: usize) -> String {
    if columns(name) <= width {
        return name.to_owned();
    }
    let shorter = (0..width).rev().map(|letters| escape(name.as_bytes(), letters));
    shorter.into_iter().find(|text| columns(text) <= width).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(width: usize) -> Vec<String> {
        let table =
            ColumnTable { heads: &["#", "engine", "won", "LL", "WW"], name: 1, counts: &[5, 3] };
        let row = |cells: [&str; 5]| cells.map(str::to_owned).to_vec();
        let rows = [row(["1", "Alphabetical", "12", "0", "1"]), row(["12", "B", "3", "1", "0"])];
        table.lines(&rows, width)
    }

    #[test]
    fn a_table_gives_way_from_the_right_and_then_cuts_names() {
        assert_eq!(
            lines(80),
            [
                " #  engine        won  LL  WW",
                " 1  Alphabetical   12   0   1",
                "12  B               3   1   0"
            ]
        );
        assert_eq!(lines(25)[1], " 1 Alphabetical  12  0  1");
        assert_eq!(lines(24)[1], " 1  Alphabetical   12");
        assert_eq!(lines(16), [" # engine    won", " 1 Alphabet…  12", "12 B           3"]);
        for width in 14..90 {
            assert!(lines(width).iter().all(|line| columns(line) <= width), "{width}");
        }
    }

    #[test]
    fn a_name_of_wide_letters_takes_the_columns_that_it_has() {
        let table = ColumnTable { heads: &["engine", "won"], name: 0, counts: &[2] };
        let rows = [vec!["棋棋棋棋棋棋".to_owned(), "1".to_owned()]];
        assert_eq!(table.lines(&rows, 40)[1], "棋棋棋棋棋棋    1");
        let cut = &table.lines(&rows, 12)[1];
        assert!(columns(cut) <= 12 && cut.starts_with("棋棋棋…"), "{cut}");
    }
}
