//! Standings as text for a terminal.

use super::{Sheet, Side, headline, notes, rank, symbols, total};
use crate::event::standings::Standings;
use crate::view::text::{clean, put};

/// The table, what decided it, and the crosstable: with every result where these fit into `width` columns,
/// else with points and games.
#[must_use]
pub(crate) fn text(standings: &Standings, width: usize) -> String {
    let mut page = clean(&headline(standings)) + "\n\n";
    let sheet = Sheet::of(standings);
    let heads: Vec<String> = sheet.columns.iter().map(|c| c.title.to_owned()).collect();
    let sides: Vec<Side> = sheet.columns.iter().map(|c| c.side).collect();
    grid(&mut page, &heads, &sheet.rows, &sides);

    let notes = notes(standings);
    if !notes.is_empty() {
        page.push('\n');
    }
    for note in &notes {
        put(&mut page, "", 2, &clean(note), width);
    }

    if standings.rows.len() > 1 {
        page.push('\n');
        let whole = cross(standings, symbols);
        let widest = whole.lines().map(|line| line.chars().count()).max();
        if widest.is_some_and(|widest| widest <= width) {
            page += &whole;
        } else {
            page += &cross(standings, |cells| format!("{}/{}", total(cells), cells.len()));
        }
    }
    page
}

fn cross(
    standings: &Standings,
    cell: impl Fn(&[crate::event::standings::Cell]) -> String,
) -> String {
    let mut heads = vec![String::new(), "Crosstable".to_owned()];
    heads.extend((1..=standings.rows.len()).map(|number| number.to_string()));
    let mut sides = vec![Side::Right, Side::Left];
    sides.resize(heads.len(), Side::Left);
    let rows = standings.rows.iter().enumerate().map(|(own, row)| {
        let mut cells = vec![rank(row), row.engine.name.clone()];
        cells.extend(row.results.iter().enumerate().map(|(column, results)| {
            if column == own {
                "·".to_owned()
            } else if results.is_empty() {
                "-".to_owned()
            } else {
                cell(results)
            }
        }));
        cells
    });
    let mut page = String::new();
    grid(&mut page, &heads, &rows.collect::<Vec<_>>(), &sides);
    page
}

/// Columns as wide as what stands in them, two blanks between.
fn grid(page: &mut String, heads: &[String], rows: &[Vec<String>], sides: &[Side]) {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| clean(cell)).collect()).collect();
    let length = |text: &String| text.chars().count();
    let widths: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(column, head)| {
            let cells = rows.iter().map(|row| length(&row[column]));
            cells.chain([length(head)]).max().unwrap_or(0)
        })
        .collect();
    for row in std::iter::once(heads).chain(rows.iter().map(Vec::as_slice)) {
        let mut line = String::new();
        for ((cell, width), side) in row.iter().zip(&widths).zip(sides) {
            if !line.is_empty() {
                line.push_str("  ");
            }
            match side {
                Side::Left => line += &format!("{cell:<width$}"),
                Side::Right => line += &format!("{cell:>width$}"),
            }
        }
        page.push_str(line.trim_end());
        page.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::standings::tests::standings;

    #[test]
    fn a_whole_page() {
        let page = text(&standings("a-b 1, b-a =, a-c 0, c-b 1!", "4k"), 100);
        assert_eq!(
            page,
            "Test: 4 games\n\
             \n\
             #  Engine  Points  Games  White     Black     DE   S-B     r-mob  2-0  won in  lost in  Crashes\n\
             1  c            2      2  +1 =0 -0  +1 =0 -0   –  2.00  2.000000    0    1.00        –        0\n\
             2  a          1.5      3  +1 =0 -1  +0 =1 -0   –  0.75  1.500000    0    1.00     1.00        0\n\
             3  b          0.5      3  +0 =1 -0  +0 =0 -2   –  0.75  0.500000    0       –     1.00        1\n\
             \n   Crosstable  1  2   3\n\
             1  c           ·  1   1\n\
             2  a           0  ·   1=\n\
             3  b           0  0=  ·\n"
        );
    }

    #[test]
    fn a_name_steers_no_terminal() {
        let page = text(&standings("\u{1b}[2J-b\u{202e} 1, b\u{202e}-\u{1b}[2J 1", "swiss"), 100);
        assert!(page.contains("\\u{1b}[2J") && page.contains("b\\u{202e}"), "{page}");
        let steered = page.lines().filter(|line| line.contains(crate::model::text::steers));
        assert_eq!(steered.count(), 0, "{page:?}");
    }

    #[test]
    fn a_narrow_page_has_points_for_results() {
        let games = vec!["a-b =, b-a ="; 30].join(", ");
        let standings = standings(&games, "4k");
        assert!(text(&standings, 200).contains(&"=".repeat(60)));
        let narrow = text(&standings, 40);
        assert!(!narrow.contains("===") && narrow.contains("30/60"), "{narrow}");
    }
}
