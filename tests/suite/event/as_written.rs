//! The files that `gate4k event new` writes, each played to its end: shorter matches and fewer rounds, all stages.
//! `GATE4K_KILLS=100` plays each a second time, with a runner that is killed so often: the games and places are the same.

use std::fmt::Write as _;
use std::path::Path;

use super::instants::{kill, same};
use super::table::{Event, wanted};

use crate::match_::engine::instant;
use crate::seed::Chance;
use crate::trials::Test;

/// Runs of an event that pauses before each stage whose engines may be updated, and where organisers decide.
const MOST_RUNS: usize = 20;

/// Writes the event for so many engines, of which each loses to all before it, makes it small and plays it.
fn played(like: &str, engines: usize, small: &[(&str, &str)]) -> Event {
    // Tens of thousands of records, each on the disk before the next: no power goes here, so memory will do.
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let event = Event { dir: tempfile::tempdir_in(place).unwrap() };
    let mut list = String::new();
    for number in 1..=engines {
        let last = 4 + 2 * (engines - number);
        let arguments =
            [format!("illegal@{last}"), format!("seed={number}"), "chess960".to_owned()];
        let (cmd, name) = (instant(), format!("E{number}"));
        writeln!(list, "[[engine]]\nname = {name:?}\ncmd = {cmd:?}\nargs = {arguments:?}").unwrap();
    }
    event.write("engines.toml", &list);
    let (code, told) =
        event.ask(&["event", "new", "--like", like, "--engines", "engines.toml", "event.toml"]);
    assert_eq!(code, 0, "{told}");
    let mut text = std::fs::read_to_string(event.path("event.toml")).unwrap();
    for (long, short) in small {
        assert!(text.contains(long), "{long} is not in {text}");
        text = text.replace(long, short);
    }
    // Four games at a time, with openings in the form that is written here.
    text = text.replace(".pgn\"", ".txt\"").replace("concurrency = 1", "concurrency = 4");
    for line in text.lines().filter(|line| line.starts_with("book = ")) {
        for name in line.split('"').filter(|part| part.ends_with(".txt")) {
            event.write(name, &book());
        }
    }
    event.write("event.toml", &text);
    let (code, told) = event.ask(&["event", "plan"]);
    assert_eq!(code, 0, "{told}");
    let interrupted = wanted("GATE4K_KILLS").map(|kills| (kills, copy(&event)));
    play(&event);
    if let Some((kills, interrupted)) = interrupted {
        kill(&interrupted, &event, kills, &mut Chance::of(like), |told| {
            decide(&interrupted, "event.toml", told)
        });
        play(&interrupted);
        same(&interrupted, &event);
    }
    let stages = text.lines().filter(|line| *line == "[[stage]]").count();
    assert_eq!(event.records("stage-finished").len(), stages);
    // Its games, in the order in which they ended, are what its formats give.
    let (code, pgn) = event.ask(&["event", "export", "pgn"]);
    assert_eq!(code, 0, "{pgn}");
    event.write("all.pgn", &pgn);
    let (code, told) = event.ask(&["event", "replay-games", "event.toml", "all.pgn"]);
    assert_eq!(code, 0, "{told}");
    event
}

/// The same event in a directory of its own, not begun.
fn copy(event: &Event) -> Event {
    let place = event.dir.path().parent().unwrap();
    let copy = Event { dir: tempfile::tempdir_in(place).unwrap() };
    for item in std::fs::read_dir(event.dir.path()).unwrap() {
        let item = item.unwrap();
        std::fs::copy(item.path(), copy.dir.path().join(item.file_name())).unwrap();
    }
    copy
}

/// Plays it to its end, through all its pauses.
fn play(event: &Event) {
    for _ in 0..MOST_RUNS {
        let (code, told) = event.ask(&["event", "run", "--quiet"]);
        if code == 0 {
            break;
        }
        assert_eq!(code, 4, "{told}");
        decide(event, "event.toml", &told);
    }
    let told = event.finish();
    assert!(told.contains(" is over: "), "{told}");
}

/// The organisers of these events take the order that they are told.
pub(crate) fn decide(event: &Event, file: &str, told: &str) {
    if let Some((_, next)) = told.split_once(&format!("`gate4k event decide {file} --order ")) {
        let order = next.split(' ').next().unwrap();
        let (code, told) =
            event.ask(&["event", "decide", file, "--order", order, "--reason", "a lot"]);
        assert_eq!(code, 0, "{told}");
    } else {
        assert!(told.contains("may be updated now") || told.contains(" is over: "), "{told}");
    }
}

/// Four hundred openings that differ.
fn book() -> String {
    let files = 'a'..='h';
    let pawns = |ranks: [char; 2]| {
        files.clone().flat_map(move |file| ranks.map(|rank| format!("{file}{rank}")))
    };
    let white: Vec<String> =
        pawns(['3', '4']).chain(["Nc3", "Nf3", "Na3", "Nh3"].map(String::from)).collect();
    let black: Vec<String> =
        pawns(['6', '5']).chain(["Nc6", "Nf6", "Na6", "Nh6"].map(String::from)).collect();
    let lines = white.iter().flat_map(|white| black.iter().map(move |b| format!("{white} {b}\n")));
    lines.collect()
}

fn the_swiss_as_it_is_written_is_played() {
    played("swiss", 32, &[("rounds = 12", "rounds = 4")]);
}

/// Rule 4.a: six books; the games of each round have the openings of its own.
fn the_cup_as_it_is_written_is_played() {
    let event = played("cup", 32, &[]);
    let started = &event.records("stage-started")[0];
    assert_eq!(started["book"]["further"].as_array().unwrap().len(), 5);
}

fn the_older_cup_as_it_is_written_is_played() {
    played("cup-older", 32, &[]);
}

fn the_season_of_ntcec_as_it_is_written_is_played() {
    played("ntcec", 32, &[("pairs = 24", "pairs = 2"), ("doubles = 3", "doubles = 1")]);
}

fn the_frd_as_it_is_written_is_played() {
    let small = [
        ("doubles = 2", "doubles = 1"),
        ("doubles = 4", "doubles = 1"),
        ("pairs = 25", "pairs = 2"),
    ];
    played("frd", 16, &small);
}

fn the_leagues_as_they_are_written_are_played() {
    let small = [
        ("doubles = 2", "doubles = 1"),
        ("doubles = 4", "doubles = 1"),
        ("pairs = 50", "pairs = 2"),
        ("pairs = 12", "pairs = 1"),
    ];
    let event = played("leagues", 32, &small);
    // Rule 2.6: the order of engines is a lot.
    let seats = event.records("stage-started")[0]["seats"].clone();
    let mut sorted: Vec<&str> =
        seats.as_array().unwrap().iter().filter_map(|s| s.as_str()).collect();
    sorted.sort_by_key(|name| name[1..].parse::<u32>().unwrap());
    assert_ne!(seats, serde_json::json!(sorted));
}

/// Two competitions side by side that meet in a playoff.
fn season_17_as_it_is_written_is_played() {
    let small = [
        ("doubles = 2", "doubles = 1"),
        ("doubles = 3", "doubles = 1"),
        ("pairs = 50", "pairs = 2"),
        ("pairs = 8", "pairs = 1"),
        ("pairs = 4", "pairs = 1"),
    ];
    let event = played("season-17", 37, &small);
    let playoff = &event.records("stage-started")[4];
    assert_eq!(playoff["name"], "DivP Entrance Playoff");
    assert_eq!(playoff["seats"].as_array().unwrap().len(), 6);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow the_swiss_as_it_is_written_is_played,
        slow the_cup_as_it_is_written_is_played,
        slow the_older_cup_as_it_is_written_is_played,
        slow the_season_of_ntcec_as_it_is_written_is_played,
        slow the_frd_as_it_is_written_is_played,
        slow the_leagues_as_they_are_written_are_played,
        slow season_17_as_it_is_written_is_played,
    ]
}
