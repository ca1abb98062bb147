//! A match that is followed while it is played: the stream of events and the live file.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::table::Table;

use crate::trials::Test;

fn the_stream_tells_each_move_and_says_nothing_twice() {
    let table = Table::set("stream");
    let engines = [table.engine("A", "seed=1"), table.engine("B", "seed=2")];
    let played = table.play(&engines, &["--rounds", "2", "--max-plies", "30"]);
    assert_eq!((played.code, played.games().len()), (0, 4), "{}", played.err);
    for game in played.games() {
        let of_game = |one: &&&Value| one["game"] == game["game"];
        let told = played.of_kind("move-played");
        let told: Vec<&&Value> = told.iter().filter(of_game).collect();
        let moves = game["moves"].as_array().unwrap();
        assert_eq!(told.len(), moves.len());
        for (number, (one, whole)) in told.iter().zip(moves).enumerate() {
            assert_eq!((&one["number"], &one["ply"]), (&number.into(), whole));
            let side = if number % 2 == 0 { "white" } else { "black" };
            assert_eq!((&one["side"], &one["clocks"][side]), (&side.into(), &whole["left"]));
            let san = one["san"].as_str().unwrap();
            assert!(played.pgn.contains(san), "{san}");
            assert!(one["fen"].as_str().unwrap().split(' ').count() == 6, "{one}");
        }
        let started = played.of_kind("game-started");
        let started = started.iter().find(of_game).unwrap();
        assert!(started["fen"].as_str().unwrap().starts_with("rnbqkbnr/"), "{started}");
        assert_eq!(game["white"], started["white"]);
    }
    // A key that stands twice in an object is read once by most, and by no two alike.
    for line in fs::read_to_string(table.path("events")).unwrap().lines() {
        let again = serde_json::from_str::<Value>(line).unwrap().to_string();
        assert_eq!(again.len(), line.len(), "{line}");
    }
}

/// No game is kept here, whose lines would be told with it.
fn the_stream_has_the_expected_lines_without_a_pgn() {
    let table = Table::set("stream-alone");
    let engines = [table.engine("A", "seed=1"), table.engine("B", "seed=2")];
    let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
    command.arg("match").args(&engines).args(["--games", "1", "--max-plies", "6"]);
    command.arg("--events").arg(table.path("events")).stdin(Stdio::null());
    let played = table.played(&command.output().unwrap());
    let told = played.of_kind("move-played");
    assert_eq!((played.code, told.len()), (0, 6), "{}", played.err);
    for one in told {
        let uci = one["ply"]["uci"].as_str().unwrap();
        assert!(one["pv"].as_str().unwrap().starts_with(uci), "{one}");
    }
}

fn the_live_file_is_whole_at_any_moment_and_agrees_with_the_stream() {
    let table = Table::set("live");
    let live = table.path("live.json");
    let engines = [table.engine("A", "seed=1"), table.engine("B", "seed=2")];
    let more = ["--rounds", "3", "--live", live.to_str().unwrap(), "--max-plies", "3000"];
    let mut command = table.command(&engines, &more);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut seen = Vec::new();
    while child.try_wait().unwrap().is_none() {
        if let Ok(text) = fs::read_to_string(&live) {
            let whole: Value = serde_json::from_str(&text).unwrap();
            seen.extend(whole["games"].as_array().unwrap().iter().map(|game| game["last"].clone()));
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let played = table.played(&child.wait_with_output().unwrap());
    assert_eq!(played.code, 0, "{}", played.err);
    let told = played.of_kind("move-played");
    for last in seen.iter().filter(|last| !last.is_null()) {
        let same =
            |one: &&&Value| (&one["game"], &one["number"]) == (&last["game"], &last["number"]);
        let one = told.iter().find(same).expect("a move of the stream");
        for key in ["san", "fen", "clocks", "ply", "side"] {
            assert_eq!(one[key], last[key], "{key}");
        }
    }
    let over: Value = serde_json::from_str(&fs::read_to_string(&live).unwrap()).unwrap();
    assert_eq!((&over["over"], &over["games"]), (&true.into(), &Value::Array(Vec::new())));
}

fn a_live_file_that_cannot_be_written_is_told_before_a_game() {
    let table = Table::set("no-live");
    let engines = [table.engine("A", ""), table.engine("B", "")];
    let path = table.path("no/live.json");
    let played = table.play(&engines, &["--live", path.to_str().unwrap()]);
    assert_eq!((played.code, played.events.len()), (2, 0), "{}", played.err);
    assert!(
        played.err.contains("cannot write") && played.err.contains("live.json"),
        "{}",
        played.err
    );
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick the_stream_tells_each_move_and_says_nothing_twice,
        quick the_stream_has_the_expected_lines_without_a_pgn,
        quick the_live_file_is_whole_at_any_moment_and_agrees_with_the_stream,
        quick a_live_file_that_cannot_be_written_is_told_before_a_game,
    ]
}
