//! Standings for people and programs: each view reads [`Standings`], none counts anything.

mod crosstable;
mod html;
mod json;
mod markdown;
mod text;

pub(crate) use crosstable::crosstable;
pub(crate) use html::html;
pub(in crate::view) use html::{GameLink, section};
pub(crate) use json::json;
pub(crate) use markdown::markdown;
pub(crate) use text::{plain, text};

use shakmaty::Color;

use crate::event::standings::{Cell, ColourTally, Place, Standings, StandingsRow};
use crate::model::game::points::HalfPoints;
use crate::model::words::{all, counted};

/// The table that text, Markdown and HTML share, as strings.
struct Sheet {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// The title of the column that names each row.
const NAME: &str = "Engine";

/// A column's head.
struct Column {
    title: &'static str,
    /// The words that the title stands for, where it is short for something.
    long: &'static str,
    side: Side,
}

/// The side of a column at which its cells stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl Sheet {
    fn of(standings: &Standings) -> Sheet {
        let column = |title, long, side| Column { title, long, side };
        let mut columns = vec![
            column("#", "rank", Side::Right),
            column(NAME, "", Side::Left),
            column("Points", "", Side::Right),
            column("Games", "", Side::Right),
            column("White", "won, drawn, lost with White", Side::Left),
            column("Black", "won, drawn, lost with Black", Side::Left),
        ];
        let byes = has_unplayed_wins(standings);
        if byes {
            columns.push(column("Bye", UNPLAYED, Side::Left));
        }
        for criterion in standings.chain.criteria {
            columns.push(column(criterion.short(), criterion.title(), Side::Right));
        }
        // The chain of season 17 has a column of them already.
        let crashes = !columns.iter().any(|column| column.title == "Crashes");
        if crashes {
            columns.push(column("Crashes", "counted as losses", Side::Right));
        }
        let rows = standings.rows.iter().map(|row| {
            let mut cells = vec![
                rank(row),
                row.engine.name.clone(),
                row.points.to_string(),
                row.games().to_string(),
                tally(row.white),
                tally(row.black),
            ];
            if byes {
                cells.push(unplayed_wins(row));
            }
            cells.extend(row.figures.iter().map(|figure| match figure {
                Some(figure) => figure.to_string(),
                None => "–".to_owned(),
            }));
            if crashes {
                cells.push(row.crashes.to_string());
            }
            cells
        });
        Sheet { rows: rows.collect(), columns }
    }
}

/// `1`, `1=` where others have the same, and without a rank `dq` or `wd`.
pub(in crate::view) fn rank(row: &StandingsRow) -> String {
    match (row.place.rank(), row.place) {
        (Some(rank), place) => format!("{rank}{}", if place.is_shared() { "=" } else { "" }),
        (None, Place::Withdrawn { .. }) => "wd".to_owned(),
        (None, _) => "dq".to_owned(),
    }
}

fn tally(tally: ColourTally) -> String {
    format!("+{} ={} -{}", tally.wins, tally.draws, tally.losses)
}

/// The meaning of the sign for a game that was won without being played.
const UNPLAYED: &str = "won without being played: a bye, or a walkover";

/// True if points of some engine are of no game, so that the tables have a column of them.
fn has_unplayed_wins(standings: &Standings) -> bool {
    standings.rows.iter().any(|row| row.unplayed_wins > 0)
}

/// A `+` for each game that an engine has won without playing it.
fn unplayed_wins(row: &StandingsRow) -> String {
    "+".repeat(row.unplayed_wins as usize)
}

/// The results of a cell of the crosstable, `1==0`.
fn symbols(cells: &[Cell]) -> String {
    cells.iter().map(|cell| cell.symbol()).collect()
}

/// The points of a cell of the crosstable.
fn total(cells: &[Cell]) -> HalfPoints {
    cells.iter().map(|cell| cell.points()).sum()
}

/// The colour's word.
fn color(color: Color) -> &'static str {
    color.fold_wb("white", "black")
}

/// The event's name and how far it has come, in a line.
fn headline(standings: &Standings) -> String {
    let name = if standings.event.is_empty() { "Standings" } else { &standings.event };
    let mut line = format!("{name}: {}", counted(standings.games, "game"));
    if let Some(format) = standings.format {
        line += &format!(" of {format}");
    } else if let Some(progress) = &standings.progress {
        let unit = if progress.seats.len() == 2 { "pair" } else { "double round robin" };
        line += &match (progress.complete as usize, progress.further) {
            (complete, 0) => format!(", {}", counted(complete, unit)),
            (0, _) => format!(", in the first {unit}"),
            (complete, further) => {
                let further = counted(further, "game");
                format!(", {} and {further} of the next", counted(complete, unit))
            }
        };
        if progress.seats.len() > 2 {
            line += " in Berger order";
        }
    }
    line
}

/// The remarks besides the figures: the tie-break that decided each tie, the ties that are left, the missing games.
fn notes(standings: &Standings) -> Vec<String> {
    let mut notes = Vec::new();
    for rows in standings.rows.windows(2) {
        // Engines that share a place have its tie-break in common: it parted them from those above.
        if let Place::Ranked { by: Some(by), .. } = rows[1].place
            && rows[0].place.rank() != rows[1].place.rank()
            && !standings.is_of_matches
        {
            notes.push(format!(
                "{} before {}, both {}: {}",
                rows[0].engine.name,
                rows[1].engine.name,
                rows[1].points,
                by.title()
            ));
        }
    }
    for rows in standings.ties().filter(|_| !standings.is_of_matches) {
        let names: Vec<&str> = rows.iter().map(|row| row.engine.name.as_str()).collect();
        notes.push(format!(
            "{} are tied on place {}{}: {}",
            all(&names),
            rank(&rows[0]).trim_end_matches('='),
            if standings.is_played_on { "" } else { ", level in every tie-break" },
            standings.tie_goes_to(rows[0].place)
        ));
    }
    if standings.is_of_matches {
        notes.push("its matches decide the places, not the points".to_owned());
    }
    for row in &standings.rows {
        if row.place == Place::Disqualified {
            notes.push(format!(
                "{} is disqualified after {}: all its games are annulled",
                row.engine.name,
                counted(row.crashes, "crash")
            ));
        }
    }
    if standings.unfinished > 0 {
        notes.push(format!(
            "{} without a result: not counted",
            counted(standings.unfinished, "game")
        ));
    }
    if has_unplayed_wins(standings) {
        notes.push(format!("+ in the column Bye: {UNPLAYED}"));
    }
    notes.extend(standings.annulled.iter().cloned());
    if let Some(progress) = &standings.progress
        && !progress.missing.is_empty()
    {
        let mut places: Vec<String> = progress.missing.iter().map(|at| at.to_string()).collect();
        let more = places.len().saturating_sub(10);
        places.truncate(10);
        if more > 0 {
            places.push(format!("{more} more"));
        }
        notes.push(format!("passed over so far: {}", places.join(", ")));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::standings::tests::standings;

    #[test]
    fn the_headline_tells_how_far_the_event_has_come() {
        let told = |games| headline(&standings(games, "4k"));
        assert_eq!(told("a-b 1, b-a 1, a-b 1"), "Test: 3 games, 1 pair and 1 game of the next");
        assert_eq!(told("a-b 1"), "Test: 1 game, in the first pair");
        assert_eq!(
            told("b-c 1, a-b 1, c-a 0, c-b 1, b-a 0, a-c 1"),
            "Test: 6 games, 1 double round robin in Berger order"
        );
        assert_eq!(told("a-b 1, a-c 1, b-c 1"), "Test: 3 games");
    }

    #[test]
    fn notes_tell_what_decided_and_what_did_not() {
        // Three in a circle on 3 points each, with everything below them equal too.
        let notes = notes(&standings("a-b 1, b-a 0, b-c 1, c-b 0, c-a 1, a-c 0, x-a *", "swiss"));
        assert_eq!(
            notes,
            [
                "a, b and c are tied on place 1, level in every tie-break: they share the place",
                "1 game without a result: not counted"
            ]
        );
    }

    #[test]
    fn engines_that_share_a_place_are_not_told_to_be_parted() {
        let notes = notes(&standings("a-x 1, b-x =, x-b =, c-x =, x-c =", "swiss"));
        let parted: Vec<_> = notes.iter().filter(|note| note.contains(" before ")).collect();
        assert_eq!(parted.len(), 1, "{notes:?}");
        assert!(parted[0].starts_with("a before b, both 1"), "{notes:?}");
        assert!(
            notes.iter().any(|note| note.starts_with("b and c are tied on place 3")),
            "{notes:?}"
        );
    }

    /// The points of each row are those of its games and of its byes, in every form.
    #[test]
    fn points_without_a_game_have_a_column_of_their_own() {
        let mut games = standings("a-b 1, b-a =", "swiss");
        assert!(!text(&games, 100).contains("Bye") && !html(&games).contains("Bye"));
        games.rows[0].unplayed_wins = 2;
        games.rows[0].points = HalfPoints(7);
        let page = text(&games, 100);
        let row = |from: &str| page.lines().find(|line| line.starts_with(from)).unwrap();
        assert!(row("1  a          3.5      2  +1 =0 -0  +0 =1 -0  ++ ").len() > 1);
        assert!(
            page.contains("\n   Crosstable  1   2   Bye\n1  a           ·   1=  ++\n"),
            "{page}"
        );
        assert!(page.contains("+ in the column Bye: won without being played"), "{page}");
        let narrow = text(&games, 20);
        assert!(narrow.contains("  Bye\n") && narrow.contains("  ++\n"), "{narrow}");
        assert!(plain(&games, 100).contains("; 2 games won without being played"));
        assert!(markdown(&games).contains("| 1 | a | · | 1.5 `1=` | 2 `++` |"));
        assert!(html(&games).contains("<span class=\"games\">++</span>"));
        let document = serde_json::to_value(json(&games)).unwrap();
        assert_eq!(
            (&document["rows"][0]["unplayed_wins"], &document["rows"][1]["unplayed_wins"]),
            (&2.into(), &0.into())
        );
    }

    #[test]
    fn a_stage_without_double_round_robins_is_named_by_its_format() {
        let mut swiss = standings("a-b 1, c-d 1", "swiss");
        swiss.format = Some("a Swiss");
        assert_eq!(headline(&swiss), "Test: 2 games of a Swiss");
    }

    #[test]
    fn a_decided_tie_is_told_as_decided() {
        let mut decided = standings("a-b =, b-a =", "swiss");
        let order = ["b", "a"].map(str::to_owned);
        decided.decide([&order[..]]);
        assert_eq!(notes(&decided), ["b before a, both 1: decided by the organisers"]);
    }

    #[test]
    fn a_column_of_crashes_is_there_once() {
        for chain in ["4k", "s17"] {
            let sheet = Sheet::of(&standings("a-b 1!, b-a =", chain));
            let crashes = sheet.columns.iter().filter(|c| c.title == "Crashes");
            assert_eq!(crashes.count(), 1);
            assert!(sheet.rows.iter().all(|row| row.len() == sheet.columns.len()));
        }
    }
}
