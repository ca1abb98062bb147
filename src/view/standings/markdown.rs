//! Standings in Markdown, as GitHub and others have tables.

use super::{Sheet, Side, has_unplayed_wins, headline, notes, rank, symbols, total, unplayed_wins};
use crate::event::standings::Standings;
use crate::view::markup::markdown as safe;

/// The table, what decided it, and the crosstable.
pub(crate) fn markdown(standings: &Standings) -> String {
    let mut page = format!("## {}\n\n", safe(&headline(standings)));
    let sheet = Sheet::of(standings);
    let heads: Vec<&str> = sheet.columns.iter().map(|c| c.title).collect();
    line(&mut page, &heads);
    let rules: Vec<&str> = sheet.columns.iter().map(|c| rule(c.side)).collect();
    line(&mut page, &rules);
    for row in &sheet.rows {
        line(&mut page, &row.iter().map(|cell| safe(cell)).collect::<Vec<_>>());
    }

    let notes = notes(standings);
    if !notes.is_empty() {
        page.push('\n');
    }
    for note in &notes {
        page += &format!("- {}\n", safe(note));
    }

    if standings.rows.len() > 1 {
        page.push('\n');
        let mut heads = vec!["#".to_owned(), "Engine".to_owned()];
        let mut rules = vec![rule(Side::Right), rule(Side::Left)];
        for row in &standings.rows {
            heads.push(safe(&rank(row)));
            rules.push(rule(Side::Left));
        }
        let byes = has_unplayed_wins(standings);
        if byes {
            heads.push("Bye".to_owned());
            rules.push(rule(Side::Left));
        }
        line(&mut page, &heads);
        line(&mut page, &rules);
        for (own, row) in standings.rows.iter().enumerate() {
            let mut cells = vec![rank(row), safe(&row.engine.name)];
            for (column, results) in row.results.iter().enumerate() {
                cells.push(if column == own {
                    "·".to_owned()
                } else if results.is_empty() {
                    String::new()
                } else {
                    format!("{} `{}`", total(results), symbols(results))
                });
            }
            if byes {
                cells.push(match row.unplayed_wins {
                    0 => String::new(),
                    wins => format!("{wins} `{}`", unplayed_wins(row)),
                });
            }
            line(&mut page, &cells);
        }
    }
    page
}

fn rule(side: Side) -> &'static str {
    match side {
        Side::Left => ":--",
        Side::Right => "--:",
    }
}

fn line(page: &mut String, cells: &[impl AsRef<str>]) {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    *page += &format!("| {} |\n", cells.join(" | "));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::standings::tests::standings;

    #[test]
    fn every_row_has_as_many_cells_as_its_head() {
        let page = markdown(&standings("a-b 1, b-a =, a-c 0, c-b 1", "swiss"));
        for table in page.split("\n\n").filter(|part| part.starts_with('|')) {
            let cells: Vec<usize> = table.lines().map(|l| l.matches(" | ").count()).collect();
            assert!(cells.iter().all(|count| *count == cells[0]), "{page}");
        }
        assert!(page.contains("| 1 | c | · | 1 `1` | 1 `1` |"), "{page}");
    }
}
