//! `schedule.json`: the games of a stage in their order, as far as each has come.

use std::time::Duration;

use serde_json::{Value, json};
use shakmaty::Color;

use super::Tcec;
use crate::event::broadcast::{BroadcastGame, Slot};
use crate::model::game::score::Score;
use crate::model::units::hours_minutes_seconds;
use crate::view::figures::search;

/// The rows; of a game to come nothing but its engines: the page expects times by itself, and takes a game with a start for one
/// that has begun.
pub(super) fn document(event: &Tcec<'_>, stage: usize, slots: &[Slot]) -> Value {
    let goals = event.broadcast.goals(event.config, stage);
    let rows = (1..).zip(slots).map(|(number, slot): (u32, _)| {
        let mut row = json!({ "Game": number, "White": slot.white, "Black": slot.black });
        let game = slot.game(event.broadcast);
        if let (Some(Value::Object(more)), Some(row)) = (game.map(begun), row.as_object_mut()) {
            row.extend(more);
            let is_over = game.is_some_and(|game| game.finished.is_some());
            if let (Some(goal), true) = (goals.get(&slot.key), is_over) {
                row.insert("RMobilityResult".into(), goal.as_str().into());
            }
        }
        row
    });
    rows.collect()
}

fn begun(game: &BroadcastGame) -> Value {
    let mut row = json!({ "Start": start(&game.started.at), "Result": "*" });
    if let Some(names) = &game.started.opening_names {
        row["ECO"] = json!(names.eco);
        row["Opening"] = json!(names.opening);
    }
    let Some(finished) = &game.finished else {
        row["Termination"] = "in progress".into();
        return row;
    };
    let moves = game.moves();
    let last = |side: Color| {
        let (_, ply) = search(&moves, side)?;
        Some(Score::from_value(ply.eval.unwrap_or(0)).to_string())
    };
    let lasted = Duration::from_micros(finished.lasted);
    row["Result"] = finished.result.as_str().into();
    row["Termination"] = finished.details.as_str().into();
    row["WhiteEv"] = json!(last(Color::White));
    row["BlackEv"] = json!(last(Color::Black));
    row["Duration"] = hours_minutes_seconds(lasted).into();
    row["FinalFen"] = moves.last().map_or(game.start(), |last| &last.fen).into();
    // The page takes a game without moves for one that is not over.
    row["Moves"] = moves.len().div_ceil(2).max(1).into();
    row
}

/// `18:18:54 on 2020.05.06`.
fn start(at: &str) -> String {
    let (date, time) = at.split_once('T').unwrap_or(("", at));
    let time = time.split(['.', 'Z']).next().unwrap_or_default();
    format!("{time} on {}", date.replace('-', "."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_as_the_page_reads_it() {
        assert_eq!(start("2026-11-23T20:01:02.345Z"), "20:01:02 on 2026.11.23");
        assert_eq!(start("2026-11-23T20:01:02Z"), "20:01:02 on 2026.11.23");
    }
}
