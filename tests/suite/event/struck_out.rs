//! Games that are struck out while they are under way, and crashes in games that are struck out: every export has them.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::instants::{engine, event, event_of, stage};
use super::table::Event;

use crate::trials::Test;

const LEAGUE: &str = "round-robin = { doubles = 1 }";

/// A league of three in which the game of round 2 is under way, with moves of its engines.
fn under_way() -> Event {
    let event = event_of(3, "", &stage("League", LEAGUE, "ties = \"s17\""));
    let text = fs::read_to_string(event.path("event.toml")).unwrap();
    event.write("event.toml", &text.replacen("concurrency = 2\n", "", 1));
    event.finish();
    let whole = fs::read_to_string(event.path("event.journal")).unwrap();
    let is_end = |line: &&str| !line.contains("\"game-finished\"") || !line.contains("\"round\":2");
    let before: Vec<&str> = whole.lines().take_while(is_end).collect();
    event.write("event.journal", &(before.join("\n") + "\n"));
    event
}

/// The games of a PGN by their rounds, each with its text.
fn games(pgn: &str) -> Vec<(String, String)> {
    let round =
        |game: &str| game.split("[Round \"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    pgn.split("[Event ").skip(1).map(|game| (round(game), game.trim_end().to_owned())).collect()
}

/// Asserts that the game of round 2 is in every export, with its moves and without a result.
fn is_exported(event: &Event, why: &str) {
    let (code, pgn) = event.ask(&["event", "export", "pgn"]);
    assert_eq!(code, 0, "{pgn}");
    let all = games(&pgn);
    assert_eq!(all.iter().map(|(round, _)| round.as_str()).collect::<Vec<_>>(), ["1.1", "2.1"]);
    let text = &all[1].1;
    let end = format!("[TerminationDetails \"Annulled: {why}");
    for told in ["[Result \"*\"]", "[Termination \"annulled\"]", &end, "2. "] {
        assert!(text.contains(told), "{told} is not in {text}");
    }
    assert!(text.ends_with("\n*"), "{text}");
    let (code, told) = event.ask(&["event", "export", "site", "site"]);
    assert_eq!(code, 0, "{told}");
    let site = |name: &str| fs::read_to_string(event.path("site").join(name)).unwrap();
    assert_eq!(games(&site("games.pgn")), all);
    assert_eq!(games(&site("games/1-2.1.pgn")), all[1..]);
    assert!(site("games/1-2.1.html").contains("href=\"../games/1-2.1.pgn\""));
    event.write("all.pgn", &pgn);
    let (code, table) = event.ask(&["standings", "all.pgn"]);
    assert!(code == 0 && table.contains("1 game without a result"), "{code} {table}");
}

fn a_game_that_is_annulled_under_way_is_exported_without_a_result() {
    for command in ["annul", "replay"] {
        let event = under_way();
        let (code, told) = event.ask(&["event", command, "2.1", "--reason", "a power cut"]);
        assert_eq!(code, 0, "{told}");
        is_exported(&event, "a power cut");
        event.finish();
        let (_, pgn) = event.ask(&["event", "export", "pgn"]);
        let again = games(&pgn).iter().filter(|(round, _)| round == "2.1").count();
        assert_eq!(again, if command == "replay" { 2 } else { 1 }, "{pgn}");
        let (_, live) = event.ask(&["event", "export", "pgn", "--live", "live.pgn"]);
        let ended = games(&live).iter().filter(|(round, _)| round == "2.1").count();
        assert_eq!(ended, 1, "{live}");
    }
}

fn a_game_that_is_broken_off_by_a_withdrawal_is_exported_without_a_result() {
    let event = under_way();
    let records = event.records("game-started");
    let white = records.last().unwrap()["white"].as_str().unwrap().to_owned();
    let (code, told) = event.ask(&["event", "withdraw", &white, "--reason", "its author asked"]);
    assert_eq!(code, 0, "{told}");
    is_exported(&event, &format!("{white} is withdrawn: its author asked"));
}

fn an_annulled_game_is_not_passed_over_in_the_standings_of_a_journal() {
    let doubles = "double-round-robins = 1";
    let event = event_of(3, "", &stage("League", doubles, "tie-breaks = \"4k\""));
    event.finish();
    assert_eq!(event.ask(&["event", "annul", "1.1", "--reason", "x"]).0, 0);
    for more in [&[][..], &["--tiebreaks", "s17"]] {
        let (code, table) = event.ask(&[&["standings", "event.journal"], more].concat());
        let headline = "5 games, 1 double round robin in Berger order";
        assert!(code == 0 && table.contains(headline), "{table}");
        assert!(!table.contains("passed over"), "{table}");
    }
}

/// E1 crashes in both games. One is annulled, the other one played again, in which it crashes anew.
fn a_crash_in_a_game_that_was_struck_out_is_marked_and_keeps_its_folder() {
    let engines = engine(1, &["crash@20"]) + &engine(2, &["illegal@40"]);
    let event = event(&engines, "", &stage("League", LEAGUE, "ties = \"s17\""));
    event.finish();
    let folders = || -> BTreeSet<String> {
        let all = fs::read_dir(event.path("event.crashes")).unwrap();
        all.map(|one| one.unwrap().file_name().into_string().unwrap()).collect()
    };
    let first = ["1-1.1-1", "1-2.1-1"].map(str::to_owned).into();
    assert_eq!(folders(), first);
    let line = |folder: &str| {
        let (code, status) = event.ask(&["event", "status"]);
        let begin = format!("  event.crashes/{folder}/: E1: ");
        let found = status.lines().find(|line| line.starts_with(&begin)).map(str::to_owned);
        assert!(code == 0 && found.is_some(), "{folder}: {status}");
        found.unwrap()
    };
    assert!(folders().iter().all(|folder| !line(folder).contains("annulled")));
    assert_eq!(event.ask(&["event", "annul", "1.1", "--reason", "x"]).0, 0);
    assert_eq!(event.ask(&["event", "replay", "2.1", "--reason", "x"]).0, 0);
    assert!(line("1-1.1-1").ends_with(" (its game is annulled)"));
    assert!(line("1-2.1-1").ends_with(" (its game is annulled, to be played again)"));
    let (_, told) = event.ask(&["event", "status", "--format", "json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    let marks: Vec<bool> = told["crash-folders"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["annulled"] == true)
        .collect();
    assert_eq!(marks, [true, true], "{told}");
    // The annulled game has its one folder still. That of the other game may have a second one, if its moves took other times.
    event.finish();
    let now = folders();
    let again = "1-2.1-1-again-2".to_owned();
    let is_other = now.contains(&again);
    assert_eq!(now.len(), 2 + usize::from(is_other), "{now:?}");
    assert!(!line(if is_other { &again } else { "1-2.1-1" }).contains("annulled"));
    assert!(line("1-1.1-1").ends_with(" (its game is annulled)"));
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_game_that_is_annulled_under_way_is_exported_without_a_result,
        slow a_game_that_is_broken_off_by_a_withdrawal_is_exported_without_a_result,
        slow an_annulled_game_is_not_passed_over_in_the_standings_of_a_journal,
        slow a_crash_in_a_game_that_was_struck_out_is_marked_and_keeps_its_folder,
    ]
}
