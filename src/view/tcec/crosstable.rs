//! `crosstable.json`: the standings of a stage, and each result with its game's number in the schedule.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use shakmaty::Color;

use super::Numbers;
use crate::event::broadcast::{GameKey, StageTable};
use crate::event::standings::{Cell, StandingsRow};
use crate::model::game::result::GameResult;

/// The document; `ratings` are those of now.
pub(super) fn document(
    title: &str,
    stage: usize,
    table: &StageTable,
    ratings: &BTreeMap<String, i32>,
    numbers: &Numbers,
) -> Value {
    let rows = &table.standings.rows;
    let names: Vec<&str> = rows.iter().map(|row| row.engine.name.as_str()).collect();
    let short = abbreviations(&names);
    let number = |cell: &Cell| {
        let at = (*table.places.get((cell.game as usize).checked_sub(1)?)?)?;
        numbers.get(&GameKey { stage, at }).copied()
    };
    let mut lines = Map::new();
    for (row, abbreviation) in rows.iter().zip(short) {
        let mut line = figures(row, ratings);
        line["Abbreviation"] = abbreviation.into();
        line["Results"] = results(&names, row, &number);
        lines.insert(row.engine.name.clone(), line);
    }
    json!({ "Event": title, "Type": "RoundRobin", "Order": names, "Table": lines })
}

fn figures(row: &StandingsRow, ratings: &BTreeMap<String, i32>) -> Value {
    let entered = row.engine.rating.unwrap_or(0);
    let now = ratings.get(&row.engine.name).filter(|_| row.engine.rating.is_some());
    let (points, games) = (row.points.as_f64(), row.games());
    let rank = row.place.rank().map_or_else(|| Value::from("-"), Value::from);
    json!({
        "Rank": rank,
        "Rating": entered,
        "Elo": now.map_or(0, |now| now - entered),
        "Score": points,
        "Games": games,
        "GamesAsWhite": row.white.games(),
        "GamesAsBlack": row.black.games(),
        "WinsAsWhite": row.white.wins,
        "WinsAsBlack": row.black.wins,
        "LossAsWhite": row.white.losses,
        "LossAsBlack": row.black.losses,
        "Neustadtl": row.sonneborn_berger.as_f64(),
        "Performance": performance(row),
        "Strikes": row.crashes,
        "RMobilityScore": row.r_mobility.as_f64(),
    })
}

/// The share of the points of its games in per cent: what byes gave is no part of them.
fn performance(row: &StandingsRow) -> f64 {
    let [wins, draws] =
        [row.white.wins + row.black.wins, row.white.draws + row.black.draws].map(f64::from);
    match row.games() {
        0 => 0.0,
        games => 100.0 * (wins + draws / 2.0) / f64::from(games),
    }
}

/// The games against each opponent that was met.
fn results(names: &[&str], row: &StandingsRow, number: &dyn Fn(&Cell) -> Option<u32>) -> Value {
    let met = names.iter().zip(&row.results).filter(|(_, cells)| !cells.is_empty());
    let met = met.map(|(name, cells)| {
        let scores = cells.iter().map(|cell| {
            let winner = match cell.result {
                GameResult::Win(Color::White) => "White",
                GameResult::Win(Color::Black) => "Black",
                _ => "None",
            };
            json!({
                "Game": number(cell),
                "Color": cell.color.fold_wb(0, 1),
                "Result": cell.points().as_f64(),
                "Winner": winner,
            })
        });
        let value = json!({
            "H2h": cells.iter().map(|cell| cell.points().as_f64()).sum::<f64>(),
            "Text": cells.iter().map(|cell| cell.symbol()).collect::<String>(),
            "Scores": scores.collect::<Value>(),
        });
        ((*name).to_owned(), value)
    });
    Value::Object(met.collect())
}

/// Two letters for each, no two alike; a number behind the first where no letters are left. The page makes names of
/// columns of them.
fn abbreviations(names: &[&str]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let short = names.iter().map(|name| {
        let mut letters = name.chars().filter(char::is_ascii_alphanumeric);
        let first = letters.next().unwrap_or('X').to_ascii_uppercase();
        let second = letters.map(|c| c.to_string());
        let words = second.chain((1..=names.len() + 1).map(|number| number.to_string()));
        let free = words
            .map(|rest| format!("{first}{rest}"))
            .find(|word| taken.insert(word.to_ascii_lowercase()));
        free.unwrap_or_default()
    });
    short.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::FieldBuilder;
    use crate::event::standings::Standings;
    use crate::event::tiebreak::TiebreakChain;
    use crate::model::game::listed::ListedPlayer;
    use crate::model::game::listed::tests::listed;

    #[test]
    fn points_of_byes_are_no_performance() {
        let mut games = FieldBuilder::default();
        games.add(&listed("a", "b", GameResult::Draw, "e4 e5"), 0);
        let a = ListedPlayer { name: "a".into(), rating: None };
        games.add_bye(&a, 2, 2);
        let chain = TiebreakChain::named("swiss").unwrap();
        let standings = Standings::of(&games.finish(), chain);
        let told = figures(&standings.rows[0], &BTreeMap::new());
        assert_eq!((&told["Score"], &told["Performance"]), (&json!(2.5), &json!(50.0)));
    }

    #[test]
    fn no_two_engines_have_the_same_letters() {
        let names = ["Stockfish", "Stash", "st", "ST", "Ä", "<b>"];
        assert_eq!(abbreviations(&names), ["St", "Sa", "S1", "S2", "X1", "B1"]);
    }
}
