//! The event's own crosstable document, as its runner writes it and its pages read it.
//!
//! `Table` holds an object for each engine: among others `Neustadtl` is Sonneborn-Berger, `Performance` the share
//! of points in percent, `Elo` the rating change 32 × Σ(result − expectation) by the ratings that the engines
//! entered with, `Strikes` the crashes. `RMobilityScore` is text there, so it is here.

use serde_json::{Map, Value, json};

use super::{symbols, total};
use crate::event::standings::{Cell, Place, Row, Standings};

/// The document of `gate4k standings --format crosstable`.
///
/// # Errors
/// None that can be met: all that standings hold has a JSON form.
pub fn crosstable(standings: &Standings) -> serde_json::Result<String> {
    let names = || standings.rows.iter().map(|row| row.engine.name.as_str());
    let short = abbreviations(names());
    let table: Map<String, Value> = standings
        .rows
        .iter()
        .zip(short)
        .enumerate()
        .map(|(place, (row, short))| {
            let entry = entry(standings, row, place + 1, &short);
            (row.engine.name.clone(), entry)
        })
        .collect();
    let document = json!({
        "Event": standings.event,
        "Order": names().collect::<Vec<_>>(),
        "Table": table,
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn entry(standings: &Standings, row: &Row, place: usize, short: &str) -> Value {
    let rank = match row.place {
        Place::Ranked { rank, .. } => rank as usize,
        Place::Disqualified => place,
    };
    let opponents = || {
        let others = standings.rows.iter().zip(&row.results);
        others.filter(|(other, _)| other.engine.name != row.engine.name)
    };
    let change: f64 = opponents().map(|(other, cells)| rating_change(row, other, cells)).sum();
    let results: Map<String, Value> = opponents()
        .map(|(other, cells)| {
            let scores: Vec<Value> = cells.iter().map(score).collect();
            let value = json!({
                "H2h": total(cells).as_f64(),
                "Scores": scores,
                "Text": symbols(cells),
            });
            (other.engine.name.clone(), value)
        })
        .collect();
    let games = row.games();
    let share = if games == 0 { 0.0 } else { 100.0 * row.points.as_f64() / f64::from(games) };
    json!({
        "Abbreviation": short,
        "Elo": change,
        "Games": games,
        "GamesAsBlack": row.black.games(),
        "GamesAsWhite": row.white.games(),
        "LossAsBlack": row.black.losses,
        "LossAsWhite": row.white.losses,
        "Neustadtl": row.sonneborn_berger.as_f64(),
        "Performance": share,
        "RMobilityScore": row.r_mobility.to_string(),
        "Rank": rank,
        "Rating": row.engine.rating.unwrap_or(0),
        "Results": results,
        "Score": row.points.as_f64(),
        "Strikes": row.crashes,
        "WinsAsBlack": row.black.wins,
        "WinsAsWhite": row.white.wins,
    })
}

/// Nothing without both ratings.
fn rating_change(row: &Row, other: &Row, cells: &[Cell]) -> f64 {
    const K: f64 = 32.0;
    let (Some(own), Some(others)) = (row.engine.rating, other.engine.rating) else {
        return 0.0;
    };
    let expected = 1.0 / (1.0 + 10f64.powf(f64::from(others - own) / 400.0));
    K * (total(cells).as_f64() - expected * cells.len() as f64)
}

fn score(cell: &Cell) -> Value {
    let winner = match cell.symbol() {
        '=' => "None",
        '1' => cell.color.fold_wb("White", "Black"),
        _ => cell.color.fold_wb("Black", "White"),
    };
    json!({
        "Game": cell.game,
        "Result": cell.points.as_f64(),
        "Winner": winner,
    })
}

/// Two characters for each name, the first a capital and all distinct: the first letter and the next of
/// the name that is free, then digits.
fn abbreviations<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for name in names {
        let mut letters = name.chars().filter(|c| c.is_alphanumeric());
        let first: String = letters.next().unwrap_or('?').to_uppercase().collect();
        let seconds = letters
            .map(|c| c.to_lowercase().to_string())
            .chain((0..).map(|number: usize| number.to_string()));
        let mut candidates = seconds.map(|second| format!("{first}{second}"));
        let free = candidates.find(|short| !taken.contains(short));
        taken.push(free.unwrap_or(first));
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::standings::tests::standings;

    #[test]
    fn the_form_of_the_events_runner() {
        let text = crosstable(&standings("a-b 1, b-a =, a-c 0, c-b 1!", "4k")).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["Order"], json!(["c", "a", "b"]));
        let row = &document["Table"]["a"];
        let keys: Vec<&String> = row.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            [
                "Abbreviation",
                "Elo",
                "Games",
                "GamesAsBlack",
                "GamesAsWhite",
                "LossAsBlack",
                "LossAsWhite",
                "Neustadtl",
                "Performance",
                "RMobilityScore",
                "Rank",
                "Rating",
                "Results",
                "Score",
                "Strikes",
                "WinsAsBlack",
                "WinsAsWhite"
            ]
        );
        assert_eq!(row["Score"], 1.5);
        assert_eq!(row["Performance"], 50.0);
        assert_eq!(row["Results"]["b"]["Text"], "1=");
        assert_eq!(row["Results"]["b"]["H2h"], 1.5);
        assert_eq!(
            row["Results"]["c"]["Scores"][0],
            json!({"Game": 3, "Result": 0.0, "Winner": "Black"})
        );
        assert_eq!(row["Results"].get("a"), None);
        assert_eq!(document["Table"]["b"]["Strikes"], 1);
    }

    #[test]
    fn abbreviations_are_distinct() {
        let short = abbreviations(["ice4", "4ku", "ic", "i", "icy", ""].into_iter());
        assert_eq!(short, ["Ic", "4k", "I0", "I1", "Iy", "?0"]);
    }
}
