//! The event's own crosstable document, as its runner writes it and its pages read it.
//!
//! `CrosstableRows` holds an object for each engine: among others `Neustadtl` is Sonneborn-Berger, `Performance` the share
//! of points in percent, `Elo` the rating change 32 × Σ(result − expectation) by the ratings that the engines
//! entered with, `Strikes` the crashes. `RMobilityScore` is text there, so it is here.

use serde::{Serialize, Serializer};

use super::{symbols, total};
use crate::event::standings::{Cell, Standings, StandingsRow};

/// The document of `gate4k standings --format crosstable`. Games are written as they are met: a long event is
/// never held a second time.
pub(crate) fn crosstable(standings: &Standings) -> impl Serialize {
    let names = || standings.rows.iter().map(|row| row.engine.name.as_str());
    let entries = standings.rows.iter().zip(abbreviations(names())).enumerate();
    CrosstableDocument {
        event: &standings.event,
        order: names().collect(),
        table: CrosstableRows(
            entries
                .map(|(place, (row, short))| (row, entry(standings, row, place + 1, short)))
                .collect(),
        ),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct CrosstableDocument<'a> {
    event: &'a str,
    order: Vec<&'a str>,
    table: CrosstableRows<'a>,
}

struct CrosstableRows<'a>(Vec<(&'a StandingsRow, TableLine<'a>)>);

impl Serialize for CrosstableRows<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(row, entry)| (&row.engine.name, entry)))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct TableLine<'a> {
    abbreviation: String,
    elo: f64,
    games: u32,
    games_as_black: u32,
    games_as_white: u32,
    loss_as_black: u32,
    loss_as_white: u32,
    neustadtl: f64,
    performance: f64,
    #[serde(rename = "RMobilityScore")]
    r_mobility: String,
    rank: usize,
    rating: i32,
    results: OpponentResults<'a>,
    score: f64,
    strikes: u32,
    wins_as_black: u32,
    wins_as_white: u32,
}

/// The games against each other engine.
struct OpponentResults<'a> {
    rows: &'a [StandingsRow],
    of: &'a StandingsRow,
}

impl<'a> OpponentResults<'a> {
    fn met(&self) -> impl Iterator<Item = (&'a StandingsRow, &'a [Cell])> + use<'a> {
        let own = &self.of.engine.name;
        let all = self.rows.iter().zip(self.of.results.iter().map(Vec::as_slice));
        all.filter(move |(other, _)| other.engine.name != *own)
    }
}

impl Serialize for OpponentResults<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.met().map(|(other, cells)| {
            let scores = Scores(cells);
            (&other.engine.name, Met { h2h: total(cells).as_f64(), scores, text: symbols(cells) })
        }))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Met<'a> {
    h2h: f64,
    scores: Scores<'a>,
    text: String,
}

struct Scores<'a>(&'a [Cell]);

impl Serialize for Scores<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(score))
    }
}

fn entry<'a>(
    standings: &'a Standings,
    row: &'a StandingsRow,
    place: usize,
    short: String,
) -> TableLine<'a> {
    let rank = row.place.rank().map_or(place, |rank| rank as usize);
    let results = OpponentResults { rows: &standings.rows, of: row };
    let games = row.games();
    TableLine {
        abbreviation: short,
        elo: results.met().map(|(other, cells)| rating_change(row, other, cells)).sum(),
        games,
        games_as_black: row.black.games(),
        games_as_white: row.white.games(),
        loss_as_black: row.black.losses,
        loss_as_white: row.white.losses,
        neustadtl: row.sonneborn_berger.as_f64(),
        performance: match games {
            0 => 0.0,
            games => 100.0 * row.points.as_f64() / f64::from(games),
        },
        r_mobility: row.r_mobility.to_string(),
        rank,
        rating: row.engine.rating.unwrap_or(0),
        results,
        score: row.points.as_f64(),
        strikes: row.crashes,
        wins_as_black: row.black.wins,
        wins_as_white: row.white.wins,
    }
}

/// The change of an Elo rating by the games against one opponent; zero without both ratings.
fn rating_change(row: &StandingsRow, other: &StandingsRow, cells: &[Cell]) -> f64 {
    const K: f64 = 32.0;
    let (Some(own), Some(others)) = (row.engine.rating, other.engine.rating) else {
        return 0.0;
    };
    let expected = 1.0 / (1.0 + 10f64.powf(f64::from(others - own) / 400.0));
    K * (total(cells).as_f64() - expected * cells.len() as f64)
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Score {
    game: u32,
    result: f64,
    winner: &'static str,
}

fn score(cell: &Cell) -> Score {
    let winner = match cell.symbol() {
        '=' => "None",
        '1' => cell.color.fold_wb("White", "Black"),
        _ => cell.color.fold_wb("Black", "White"),
    };
    Score { game: cell.game, result: cell.points().as_f64(), winner }
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
    use serde_json::json;

    #[test]
    fn the_form_of_the_events_runner() {
        let standings = standings("a-b 1, b-a =, a-c 0, c-b 1!", "4k");
        let document = serde_json::to_value(crosstable(&standings)).unwrap();
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
