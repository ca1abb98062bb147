//! Engines that leave an event in the middle: what becomes of their games, and who plays on.

use std::fs;

use gate4k::event::config::EventConfig;
use gate4k::event::field::WithdrawnGames;
use gate4k::event::journal::record::{StageStarted, Withdrawn};
use gate4k::event::journal::{Journal, JournalRecord};
use serde_json::Value;

use super::instants::{event_of, event_with, order, rounds, stage};
use super::table::Event;

use crate::match_::engine::instant;
use crate::trials::Test;

/// A played event's journal, cut off behind the line of this number, as a runner leaves it that was killed.
fn cut_at(event: &Event, whole: &str, line: usize) {
    let lines: Vec<&str> = whole.lines().take(line).collect();
    event.write("event.journal", &(lines.join("\n") + "\n"));
}

/// The number of the first line of a kind, from 0, that holds this.
fn line(whole: &str, kind: &str, part: &str) -> usize {
    let kind = format!("\"record\":{{\"{kind}\"");
    whole.lines().position(|line| line.contains(&kind) && line.contains(part)).unwrap()
}

fn played(event: &Event) -> String {
    event.finish();
    fs::read_to_string(event.path("event.journal")).unwrap()
}

fn withdraw(event: &Event, name: &str) -> (i32, String) {
    event.ask(&["event", "withdraw", name, "--reason", "its author asked"])
}

/// The number of games of an engine that have ended.
fn games_of(event: &Event, stage: u64, name: &str) -> usize {
    let own =
        |game: &&Value| game["stage"] == stage && (game["white"] == name || game["black"] == name);
    event.finished().values().filter(own).count()
}

fn a_round_robin_goes_on_without_the_best_and_so_does_the_final() {
    let stages = stage("League", "round-robin = { doubles = 1 }", "ties = \"s17\"\npromote = 2")
        + &stage("Final", "match = { pairs = 1 }", "");
    let event = event_of(4, "", &stages);
    // E1 has a program of its own.
    let text = fs::read_to_string(event.path("event.toml")).unwrap();
    event.write("event.toml", &text.replacen(&format!("{:?}", instant()), "\"own\"", 1));
    fs::copy(instant(), event.path("own")).unwrap();
    let (code, none) = withdraw(&event, "E1");
    assert!(code == 3 && none.contains("has not begun: there is no journal"), "{code} {none}");
    // A file without a record is no missing one, and a directory or a file of others is no journal.
    let journal = event.path("event.journal");
    fs::write(&journal, "").unwrap();
    let (code, none) = withdraw(&event, "E1");
    assert!(code == 3 && none.contains("event.journal holds no record"), "{code} {none}");
    fs::write(&journal, "1. e4 e5\n").unwrap();
    let (code, other) = withdraw(&event, "E1");
    assert!(code == 2 && other.contains("event.journal is no journal"), "{code} {other}");
    fs::remove_file(&journal).unwrap();
    fs::create_dir(&journal).unwrap();
    let (code, other) = withdraw(&event, "E1");
    assert!(code == 2 && other.contains("it is no regular file"), "{code} {other}");
    fs::remove_dir(&journal).unwrap();
    let whole = played(&event);
    assert_eq!(order(&event, 1)[0], "E1");
    let (code, late) = withdraw(&event, "E1");
    assert!(code == 2 && late.contains("the event is over"), "{late}");

    cut_at(&event, &whole, line(&whole, "game-started", "\"round\":4") + 1);
    let (code, unknown) = withdraw(&event, "E9");
    assert!(code == 2 && unknown.contains("there are E1, E2, E3, E4"), "{unknown}");
    let held = Journal::open(&event.path("event.journal"), &mut |_, _| Ok(())).unwrap();
    let (code, busy) = withdraw(&event, "E1");
    assert!(code == 2 && busy.contains("another runner is writing"), "{busy}");
    drop(held);
    let (code, told) = withdraw(&event, "E1");
    assert!(code == 0 && told.contains("E1 is withdrawn: its author asked; its games"), "{told}");
    let (code, twice) = withdraw(&event, "E1");
    assert!(code == 2 && twice.contains("E1 is withdrawn already"), "{twice}");
    let before = games_of(&event, 0, "E1");
    assert!(before > 0);
    for words in [&["event", "status"][..], &["standings", "event.journal"]] {
        let (code, told) = event.ask(words);
        assert!(code == 0 && told.contains("wd") && told.contains("E1 is withdrawn"), "{told}");
    }
    let (_, json) = event.ask(&["event", "export", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["withdrawn"][0]["engine"], "E1");
    let rows = json["stages"][0]["rows"].as_array().unwrap();
    let own = rows.iter().find(|row| row["engine"] == "E1").unwrap();
    assert!(own["withdrawn"] == true && own["games"] == 0, "{own}");
    assert_eq!(event.ask(&["event", "verify"]).0, 0);
    let (_, page) = event.ask(&["event", "export", "html"]);
    assert!(page.contains("E1 is withdrawn: its author asked"));
    // A file of another kind in its place is not looked at.
    fs::rename(event.path("own"), event.path("elsewhere")).unwrap();
    event.write("own", "another");
    event.finish();
    fs::rename(event.path("elsewhere"), event.path("own")).unwrap();
    assert_eq!(order(&event, 0), ["E2", "E3", "E4", "E1"]);
    assert_eq!(order(&event, 1), ["E2", "E3"]);
    assert_eq!(games_of(&event, 0, "E1"), before);
    // The games that it played are there with their results, and those that were broken off without one.
    let (_, pgn) = event.ask(&["event", "export", "pgn"]);
    let is_own = |game: &&str| game.contains("[White \"E1\"]") || game.contains("[Black \"E1\"]");
    let own = pgn.split("[Event ").filter(is_own);
    let (broken, ended): (Vec<&str>, Vec<&str>) =
        own.partition(|game| game.contains("[Result \"*\"]"));
    let broken_off = event.records("withdrawn")[0]["broken-off"].as_array().unwrap().len();
    assert_eq!((ended.len(), broken.len()), (before, broken_off));

    // Between the stages its seat is the next one's.
    cut_at(&event, &whole, line(&whole, "stage-started", "Final"));
    assert_eq!(withdraw(&event, "E2").0, 0);
    let kept = fs::read_to_string(event.path("event.journal")).unwrap();
    event.finish();
    let seats = &event.records("stage-started")[1]["seats"];
    assert_eq!(*seats, serde_json::json!(["E1", "E3"]));
    assert!(fs::read_to_string(event.path("event.journal")).unwrap().starts_with(&kept));
}

/// The first match is under way, and neither side has won it.
fn a_match_of_a_bracket_goes_to_the_opponent_of_who_leaves() {
    let format = "knockout = { bracket = \"equal-distance\", pairs = [1], early = true }";
    let event = event_of(4, "", &stage("Cup", format, ""));
    let whole = played(&event);
    assert_eq!(order(&event, 0)[0], "E1");
    cut_at(&event, &whole, line(&whole, "stage-finished", ""));
    let (code, told) = withdraw(&event, "E1");
    assert!(code == 2 && told.contains("Cup is decided"), "{told}");

    // Its first game, with either side: two are played at a time.
    cut_at(&event, &whole, line(&whole, "game-started", "\"E1\"") + 1);
    let before = games_of(&event, 0, "E1");
    let (code, told) = withdraw(&event, "E1");
    assert_eq!(code, 0, "{told}");
    let withdrawn = &event.records("withdrawn")[0];
    assert_eq!(withdrawn["broken-off"].as_array().map(Vec::len), Some(1), "{withdrawn}");
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains("Cup: E1 is withdrawn: its author asked"), "{status}");
    event.finish();
    assert_eq!(order(&event, 0)[0], "E2");
    assert_eq!(games_of(&event, 0, "E1"), before);
    // Every view has the places of the journal, also for an engine that left.
    let (_, json) = event.ask(&["event", "export", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let rows = json["stages"][0]["rows"].as_array().unwrap();
    let own = rows.iter().find(|row| row["engine"] == "E1").unwrap();
    assert!(own["withdrawn"] == true && own["rank"] == 3 && own["tied"] == true, "{own}");
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains("\n3=  E1 ") && !status.contains("wd  E1"), "{status}");
    let (code, pages) = event.ask(&["event", "export", "html"]);
    assert!(code == 0 && pages.contains("E1 is withdrawn"));
}

fn the_open_round_of_a_swiss_is_won_without_who_leaves() {
    let swiss = "swiss = { rounds = 3, pairing = \"monrad\" }";
    let event = event_of(6, "", &stage("Swiss", swiss, "ties = \"swiss\""));
    let whole = played(&event);
    let second = line(&whole, "game-started", "\"round\":2");
    cut_at(&event, &whole, second + 1);
    let game: Value = serde_json::from_str(whole.lines().nth(second).unwrap()).unwrap();
    let game = &game["record"]["game-started"];
    let [name, opponent] = ["white", "black"].map(|side| game[side].as_str().unwrap().to_owned());
    let (code, told) = withdraw(&event, &name);
    let expected = format!("{opponent} has 2 wins of round 2 without playing");
    assert!(code == 0 && told.contains(&expected), "{told}");
    assert_eq!(event.ask(&["event", "verify"]).0, 0);
    let (code, told) = event.ask(&["event", "replay", "1.1", "--reason", "x"]);
    assert!(code == 2, "{told}");
    event.finish();
    assert_eq!(games_of(&event, 0, &name), 2);
    // A round that it could not play, with five in the next one and a bye.
    assert_eq!(event.records("bye").len(), 1);
    assert_eq!(order(&event, 0)[5], name);
    // The table by the journal alone is that of the event.
    let (_, json) =
        event.ask(&["standings", "event.journal", "--tiebreaks", "swiss", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let points: f64 = rows.iter().map(|row| row["points"].as_f64().unwrap()).sum();
    // 3 encounters, 3 with the walkover, 2 and a bye: two points each.
    assert!((points - 18.0).abs() < 1e-9, "{points}");
    assert_eq!(rows[5]["withdrawn"], true);
}

/// E3 and E4 are level in everything, and nobody has decided which of them is the third.
fn a_seat_that_two_would_have_the_same_right_to_stays_vacant() {
    let stages = stage("League", "round-robin = { doubles = 1 }", "ties = \"s17\"\npromote = 2")
        + &stage("Final", "match = { pairs = 1 }", "");
    let event = event_with(&[20, 16, 12, 12], 0, &stages);
    let whole = played(&event);
    cut_at(&event, &whole, line(&whole, "stage-started", "Final"));
    assert_eq!(withdraw(&event, "E2").0, 0);
    event.finish();
    assert_eq!(event.records("stage-started")[1]["seats"], serde_json::json!(["E1"]));
    assert_eq!(event.records("event-finished")[0]["winner"], "E1");
}

/// All five go on, so that nobody comes for E2: E4 has nobody to play in its semifinal.
fn a_place_of_a_bracket_that_nobody_has_leaves_it_as_it_was_planned() {
    let cup = "knockout = { bracket = \"equal-distance\", pairs = [1, 2, 4] }";
    let stages = stage("League", "round-robin = { doubles = 1 }", "ties = \"s17\"\npromote = 5")
        + &stage("Cup", cup, "draw = \"ranking\"");
    let event = event_of(5, "", &stages);
    let whole = played(&event);
    let before = line(&whole, "stage-started", "Cup");
    cut_at(&event, &whole, before);
    assert_eq!(withdraw(&event, "E2").0, 0);
    event.finish();
    let seats = |event: &Event| event.records("stage-started")[1]["seats"].clone();
    assert_eq!(seats(&event), serde_json::json!(["E1", "", "E3", "E4", "E5"]));
    let lengths = |event: &Event| rounds(&event.finished(), 1).into_iter().collect::<Vec<_>>();
    assert_eq!(lengths(&event), [(1, 2), (2, 4), (4, 8)]);
    assert_eq!(order(&event, 1)[..2], ["E1", "E4"]);
    for words in [&["event", "export", "html"][..], &["event", "export", "json"]] {
        let (code, told) = event.ask(words);
        assert_eq!(code, 0, "{told}");
    }
    // gate4k 0.2 moved up all behind it. What it began is played on as it was begun.
    cut_at(&event, &whole, before);
    assert_eq!(withdraw(&event, "E2").0, 0);
    let config = EventConfig::load(&event.path("event.toml")).unwrap();
    let (mut journal, _) = Journal::open(&event.path("event.journal"), &mut |_, _| Ok(())).unwrap();
    let seats_by_0_2 = ["E1", "E3", "E4", "E5"].map(str::to_owned).to_vec();
    let begins = StageStarted {
        stage: 1,
        name: "Cup".into(),
        seats: seats_by_0_2,
        book: config.frozen_book(1),
        ..StageStarted::default()
    };
    journal.append(&JournalRecord::StageStarted(begins)).unwrap();
    drop(journal);
    let (code, told) = event.ask(&["event", "verify"]);
    // Its ratings are left out here.
    assert!(code == 0 || told.matches("wrong:").count() == 1 && told.contains("ratings"), "{told}");
    assert_eq!(event.ask(&["event", "run", "--quiet"]).0, 0);
    assert_eq!(lengths(&event), [(1, 2), (2, 2), (3, 4)]);
}

/// E3 and E4 did not go on, and no stage to come has a seat for them.
fn who_has_no_stage_to_come_is_not_withdrawn() {
    let stages = stage("League", "round-robin = { doubles = 1 }", "ties = \"s17\"\npromote = 2")
        + &stage("Final", "match = { pairs = 1 }", "");
    let event = event_of(4, "", &stages);
    let whole = played(&event);
    cut_at(&event, &whole, line(&whole, "stage-started", "Final"));
    let (code, told) = withdraw(&event, "E4");
    assert!(code == 2 && told.contains("E4 has nothing to withdraw from"), "{told}");
    let (code, told) = event.ask(&["event", "annul", "League 1.1", "--reason", "lag"]);
    assert_eq!(code, 0, "{told}");
}

fn a_withdrawal_with_other_consequences_is_found() {
    let event =
        event_of(4, "", &stage("League", "round-robin = { doubles = 1 }", "ties = \"s17\""));
    let whole = played(&event);
    let cut = line(&whole, "game-started", "\"round\":3");
    let of = |engine: &str, played| {
        JournalRecord::Withdrawn(Withdrawn {
            engine: engine.to_owned(),
            stage: 0,
            round: 3,
            played,
            broken_off: Vec::new(),
            walkovers: Vec::new(),
            reason: "a test".into(),
            at: String::new(),
        })
    };
    for (record, expected) in [
        (
            of("E2", WithdrawnGames::Counts),
            "the withdrawal of E2 has other consequences than it should",
        ),
        (of("E7", WithdrawnGames::Annulled), "E7 could not be withdrawn: no engine is called"),
    ] {
        cut_at(&event, &whole, cut);
        let (mut journal, _) =
            Journal::open(&event.path("event.journal"), &mut |_, _| Ok(())).unwrap();
        journal.append(&record).unwrap();
        drop(journal);
        let (code, told) = event.ask(&["event", "verify"]);
        assert!(code == 1 && told.contains(expected), "{told}");
    }
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_round_robin_goes_on_without_the_best_and_so_does_the_final,
        slow a_seat_that_two_would_have_the_same_right_to_stays_vacant,
        slow a_place_of_a_bracket_that_nobody_has_leaves_it_as_it_was_planned,
        slow who_has_no_stage_to_come_is_not_withdrawn,
        slow a_withdrawal_with_other_consequences_is_found,
        slow a_match_of_a_bracket_goes_to_the_opponent_of_who_leaves,
        slow the_open_round_of_a_swiss_is_won_without_who_leaves,
    ]
}
