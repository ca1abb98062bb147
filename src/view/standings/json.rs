//! Standings for programs: one versioned document.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::color;
use crate::event::standings::{Cell, ColourTally, Place, Standings, StandingsRow};

/// The name and version of the document.
const STANDINGS_SCHEMA: &str = "gate4k/standings/1";

/// The document of `gate4k standings --format json`. Points are numbers that are exact in binary; a figure
/// that an engine does not have (the average of no games) is null. Games are written as they are met: a long
/// event is never held a second time.
pub(crate) fn json(standings: &Standings) -> impl Serialize {
    StandingsDocument {
        schema: STANDINGS_SCHEMA,
        event: &standings.event,
        tiebreaks: standings.chain.name,
        criteria: standings.chain.criteria.iter().map(|c| c.id()).collect(),
        games: standings.games,
        unfinished: standings.unfinished,
        annulled: &standings.annulled,
        schedule: standings.progress.as_ref().map(|progress| Schedule {
            double_round_robins: progress.complete,
            further_games: progress.further,
            passed_over: progress.missing.iter().map(|at| at.to_string()).collect(),
        }),
        rows: standings.rows.iter().map(|r| row(standings, r)).collect(),
        ties: standings
            .ties()
            .map(|rows| Tie {
                engines: rows.iter().map(|row| row.engine.name.as_str()).collect(),
                then: standings.tie_goes_to(rows[0].place),
            })
            .collect(),
    }
}

#[derive(Serialize)]
struct StandingsDocument<'a> {
    schema: &'static str,
    event: &'a str,
    tiebreaks: &'static str,
    criteria: Vec<&'static str>,
    games: usize,
    unfinished: usize,
    annulled: &'a [String],
    schedule: Option<Schedule>,
    rows: Vec<StandingsLine<'a>>,
    ties: Vec<Tie<'a>>,
}

#[derive(Serialize)]
struct Schedule {
    double_round_robins: u32,
    further_games: usize,
    passed_over: Vec<String>,
}

#[derive(Serialize)]
struct StandingsLine<'a> {
    engine: &'a str,
    rating: Option<i32>,
    rank: Option<u32>,
    tied: bool,
    decided_by: Option<&'static str>,
    disqualified: bool,
    withdrawn: bool,
    points: f64,
    games: u32,
    white: ColourTally,
    black: ColourTally,
    unplayed_wins: u32,
    crashes: u32,
    figures: Map<String, Value>,
    results: OpponentResults<'a>,
}

/// The games against each opponent that was met.
struct OpponentResults<'a> {
    rows: &'a [StandingsRow],
    of: &'a StandingsRow,
}

impl Serialize for OpponentResults<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let met = self.rows.iter().zip(&self.of.results).filter(|(_, cells)| !cells.is_empty());
        to.collect_map(met.map(|(other, cells)| (&other.engine.name, Games(cells))))
    }
}

struct Games<'a>(&'a [Cell]);

impl Serialize for Games<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(|cell| Game {
            game: cell.game,
            color: color(cell.color),
            points: cell.points().as_f64(),
        }))
    }
}

#[derive(Serialize)]
struct Game {
    game: u32,
    color: &'static str,
    points: f64,
}

#[derive(Serialize)]
struct Tie<'a> {
    engines: Vec<&'a str>,
    then: Cow<'static, str>,
}

fn row<'a>(standings: &'a Standings, row: &'a StandingsRow) -> StandingsLine<'a> {
    let by = match row.place {
        Place::Ranked { by, .. } => by,
        Place::Disqualified | Place::Withdrawn { .. } => None,
    };
    let figures = standings.chain.criteria.iter().zip(&row.figures);
    StandingsLine {
        engine: &row.engine.name,
        rating: row.engine.rating,
        rank: row.place.rank(),
        tied: row.place.is_shared(),
        decided_by: by.map(|by| by.id()),
        disqualified: row.place == Place::Disqualified,
        withdrawn: matches!(row.place, Place::Withdrawn { .. }),
        points: row.points.as_f64(),
        games: row.games(),
        white: row.white,
        black: row.black,
        unplayed_wins: row.unplayed_wins,
        crashes: row.crashes,
        figures: figures
            .map(|(criterion, figure)| {
                let value = figure.and_then(|figure| figure.as_f64());
                (criterion.id().to_owned(), value.into())
            })
            .collect(),
        results: OpponentResults { rows: &standings.rows, of: row },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::standings::tests::standings;

    #[test]
    fn the_document_is_the_one_promised() {
        let standings = standings("a-b 1, b-a =, a-c 0, c-b 1!", "4k");
        let document = serde_json::to_value(json(&standings)).unwrap();
        assert_eq!(document["schema"], STANDINGS_SCHEMA);
        assert_eq!(document["games"], 4);
        assert_eq!(document["schedule"], Value::Null);
        let row = &document["rows"][2];
        assert_eq!(row["engine"], "b");
        assert_eq!(row["rank"], 3);
        assert_eq!(row["points"], 0.5);
        assert_eq!(row["crashes"], 1);
        assert_eq!(row["black"]["losses"], 2);
        assert_eq!(row["figures"]["won-length"], Value::Null);
        assert_eq!(row["figures"]["sonneborn-berger"], 0.75);
        assert_eq!(row["results"]["c"][0]["game"], 4);
        assert_eq!(row["results"]["c"][0]["color"], "black");
    }

    #[test]
    fn ties_are_told_as_ties() {
        let standings = standings("a-b 1, b-a 1", "4k");
        let document = serde_json::to_value(json(&standings)).unwrap();
        assert_eq!(document["ties"][0]["engines"], serde_json::json!(["a", "b"]));
        assert_eq!(document["rows"][1]["rank"], 1);
        assert_eq!(document["rows"][1]["tied"], true);
        assert_eq!(document["schedule"]["double_round_robins"], 1);
    }
}
