//! Standings as text for a terminal.

use super::{Sheet, Side, has_unplayed_wins, headline, notes, rank, symbols, total, unplayed_wins};
use crate::event::standings::{ColourTally, Place, Standings};
use crate::model::game::points::HalfPoints;
use crate::model::words::counted;
use crate::view::text::{clean, columns, padded, put};

/// Rank and name, with which each part of a table begins.
const NAMES: usize = 2;

/// The table, what decided it, and the crosstable: with every result where these fit into `width` columns,
/// else with points and games. A table that is wider goes on below itself, beside the same names.
pub(crate) fn text(standings: &Standings, width: usize) -> String {
    let mut page = clean(&headline(standings)) + "\n\n";
    let sheet = Sheet::of(standings);
    let heads: Vec<String> = sheet.columns.iter().map(|c| c.title.to_owned()).collect();
    let sides: Vec<Side> = sheet.columns.iter().map(|c| c.side).collect();
    let table = grid(&heads, &sheet.rows, &sides);
    page += &folded(&table, width);

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
        page += &if parts(&whole, width).len() == 1 {
            folded(&whole, width)
        } else {
            folded(&cross(standings, |cells| format!("{}/{}", total(cells), cells.len())), width)
        };
    }
    page
}

/// The standings for people who hear them: a sentence for each engine, one for each of its opponents, and no columns.
pub(crate) fn plain(standings: &Standings, width: usize) -> String {
    let mut page = String::new();
    let mut say = |line: &str| put(&mut page, "", 0, &clean(line), width);
    say(&headline(standings));
    for row in &standings.rows {
        let rank = row.place.rank().map(|rank| {
            format!("place {rank}{}", if row.place.is_shared() { " with others" } else { "" })
        });
        let place = match (row.place, rank) {
            (Place::Withdrawn { .. }, Some(rank)) => format!("{rank}, withdrawn"),
            (_, Some(rank)) => rank,
            (Place::Withdrawn { .. }, None) => "withdrawn".to_owned(),
            (_, None) => "disqualified".to_owned(),
        };
        let tally = |tally: ColourTally| {
            format!("{} won, {} drawn, {} lost", tally.wins, tally.draws, tally.losses)
        };
        let mut line = format!(
            "{}: {place}, {} {} of {}; with White {}; with Black {}",
            row.engine.name,
            row.points,
            if row.points == HalfPoints(2) { "point" } else { "points" },
            counted(row.games(), "game"),
            tally(row.white),
            tally(row.black)
        );
        for (criterion, figure) in standings.chain.criteria.iter().zip(&row.figures) {
            if let Some(figure) = figure {
                line += &format!("; {} {figure}", criterion.title());
            }
        }
        if row.unplayed_wins > 0 {
            line += &format!("; {} won without being played", counted(row.unplayed_wins, "game"));
        }
        line += &format!("; {}", counted(row.crashes, "crash"));
        say(&line);
    }
    notes(standings).iter().for_each(|note| say(note));
    for row in &standings.rows {
        let others = standings.rows.iter().zip(&row.results).filter(|(_, games)| !games.is_empty());
        let met: Vec<String> = others
            .map(|(other, games)| {
                format!("{} of {} against {}", total(games), games.len(), other.engine.name)
            })
            .collect();
        if !met.is_empty() {
            say(&format!("{}: {}", row.engine.name, met.join(", ")));
        }
    }
    page
}

fn cross(
    standings: &Standings,
    cell: impl Fn(&[crate::event::standings::Cell]) -> String,
) -> Vec<Vec<String>> {
    let mut heads = vec![String::new(), "Crosstable".to_owned()];
    heads.extend((1..=standings.rows.len()).map(|number| number.to_string()));
    let byes = has_unplayed_wins(standings);
    heads.extend(byes.then(|| "Bye".to_owned()));
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
        cells.extend(byes.then(|| unplayed_wins(row)));
        cells
    });
    grid(&heads, &rows.collect::<Vec<_>>(), &sides)
}

/// Lines of cells, heads first, each as wide as the widest of its column.
fn grid(heads: &[String], rows: &[Vec<String>], sides: &[Side]) -> Vec<Vec<String>> {
    let mut lines: Vec<Vec<String>> = std::iter::once(heads)
        .chain(rows.iter().map(Vec::as_slice))
        .map(|row| row.iter().map(|cell| clean(cell)).collect())
        .collect();
    for (column, side) in sides.iter().enumerate() {
        let width = lines.iter().map(|line| columns(&line[column])).max().unwrap_or(0);
        for line in &mut lines {
            let cell = &line[column];
            line[column] = match side {
                Side::Left => padded(cell, width),
                // Figures, each character of which is a column.
                Side::Right => format!("{cell:>width$}"),
            };
        }
    }
    lines
}

/// The columns of each part, behind rank and name, that fits.
fn parts(table: &[Vec<String>], width: usize) -> Vec<std::ops::Range<usize>> {
    let Some(heads) = table.first() else { return Vec::new() };
    let names: usize = heads.iter().take(NAMES).map(|head| columns(head) + 2).sum();
    let mut parts = Vec::new();
    let (mut from, mut used) = (NAMES, names);
    for (column, head) in heads.iter().enumerate().skip(NAMES) {
        if used + columns(head) > width && column > from {
            parts.push(from..column);
            (from, used) = (column, names);
        }
        used += columns(head) + 2;
    }
    parts.push(from..heads.len());
    parts
}

/// The table in as many parts as it takes, a blank line between, with two blanks between columns.
fn folded(table: &[Vec<String>], width: usize) -> String {
    let part = |columns: &std::ops::Range<usize>| -> String {
        table
            .iter()
            .map(|line| {
                let cells = [&line[..NAMES], &line[columns.clone()]].concat();
                cells.join("  ").trim_end().to_owned() + "\n"
            })
            .collect()
    };
    parts(table, width).iter().map(part).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::standings::tests::standings;

    #[test]
    fn figures_stand_under_their_heads_beside_wide_names() {
        let page = text(&standings("漢字-b 1, b-漢字 =", "4k"), 100);
        let ends = |line: &str| columns(line.trim_end());
        let rows: Vec<&str> =
            page.lines().filter(|line| line.contains("漢字") || line.contains(" b ")).collect();
        assert!(rows.len() == 4 && ends(rows[0]) == ends(rows[1]), "{page}");
    }

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
    fn a_table_that_is_too_wide_goes_on_below_itself() {
        let page = text(&standings("a-b 1, b-a =, a-c 0, c-b 1!", "4k"), 60);
        let expected = "\
#  Engine  Points  Games  White     Black     DE   S-B
1  c            2      2  +1 =0 -0  +1 =0 -0   –  2.00
2  a          1.5      3  +1 =0 -1  +0 =1 -0   –  0.75
3  b          0.5      3  +0 =1 -0  +0 =0 -2   –  0.75

#  Engine     r-mob  2-0  won in  lost in  Crashes
1  c       2.000000    0    1.00        –        0
";
        assert!(page.contains(expected), "{page}");
        assert!(page.lines().all(|line| line.chars().count() <= 60), "{page}");
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
