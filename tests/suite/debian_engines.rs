//! Engines that Debian ships, as trusted opponents through the real program: a book of FEN, options, nodes,
//! a test that stops.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::needs::installed;
use crate::test_folder::TestFolder;
use crate::trials::Test;

fn engine_of(name: &str) -> PathBuf {
    installed(name).expect(name)
}

struct Played {
    out: String,
    games: Vec<Value>,
    pgn: String,
}

/// Balanced positions in the middle of games, as FEN.
fn book(hall: &TestFolder) -> String {
    let book = hall.path("book.epd");
    let lines = [
        "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
        "rnbqkb1r/ppp1pppp/5n2/3p4/2PP4/8/PP2PPPP/RNBQKBNR w KQkq - 1 3",
        "rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2",
        "8/5k2/3p4/1p1Pp2p/pP2Pp1P/P4P1K/8/8 b - - 99 50",
    ];
    fs::write(&book, lines.join("\n")).unwrap();
    book.to_str().unwrap().to_owned()
}

fn play(hall: &TestFolder, engines: &[String], more: &[&str]) -> Played {
    let (events, pgn) = (hall.path("events"), hall.path("pgn"));
    let _ = fs::remove_file(&events);
    let _ = fs::remove_file(&pgn);
    let output = hall
        .command(&["match"])
        .args(engines)
        .args(more)
        .arg("--events")
        .arg(&events)
        .arg("--pgn")
        .arg(&pgn)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{told}");
    let events = fs::read_to_string(&events).unwrap();
    let events = events.lines().map(|line| serde_json::from_str(line).unwrap());
    Played {
        out: String::from_utf8(output.stdout).unwrap(),
        games: events.filter(|event: &Value| event["event"] == "game-finished").collect(),
        pgn: fs::read_to_string(&pgn).unwrap(),
    }
}

fn engine(name: &str, program: &Path, more: &str) -> String {
    format!("name={name} cmd={} {more}", program.display())
}

/// The number of games that no engine lost by a fault.
fn faultless(played: &Played) -> bool {
    let faults = ["illegal-move", "crash", "stall", "no-start", "time"];
    let reasons = played.games.iter().map(|game| &game["reason"]);
    let bad: Vec<&Value> =
        reasons.filter(|reason| faults.iter().any(|fault| reason.get(fault).is_some())).collect();
    assert!(bad.is_empty(), "{bad:?}");
    true
}

fn stockfish_and_fairy_stockfish_play_by_nodes_from_fen_with_options() {
    let (fish, fairy) = (engine_of("stockfish"), engine_of("fairy-stockfish"));
    let hall = TestFolder::new();
    let options = "options.hash=4 options.Threads=1 options.Nonsense=7";
    let engines = [engine("fish", &fish, options), engine("fairy", &fairy, options)];
    let book = book(&hall);
    let more = ["--tc", "nodes=400", "--rounds", "4", "--openings", &book, "--max-plies", "60"];
    let played = play(&hall, &engines, &more);
    assert_eq!(played.games.len(), 8, "{}", played.out);
    assert!(faultless(&played));
    // Both games of a pair begin at the book's position; the last one of the book is drawn with the next move.
    assert!(
        played
            .pgn
            .contains("[FEN \"r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3\"]")
    );
    let last = &played.games[6];
    assert_eq!(
        (&last["reason"], &last["moves"].as_array().unwrap().len()),
        (&"fifty-moves".into(), &1)
    );
    assert!(played.pgn.contains("Threads=1"), "{}", played.pgn);
    let told = played.games[0]["moves"].as_array().unwrap().iter();
    assert!(told.filter(|one| one["depth"].is_u64()).count() > 0);
}

fn gnuchess_plays_by_uci_on_a_clock() {
    let gnuchess = engine_of("gnuchess");
    let hall = TestFolder::new();
    let engines =
        [engine("one", &gnuchess, "args=--uci"), engine("two", &gnuchess, "args='--uci'")];
    // It looks at its clock seldom, and machines are busy: the margin keeps that out of this test.
    let more = ["--tc", "2+0.05", "--margin", "20s", "--max-plies", "12", "--games", "2"];
    let played = play(&hall, &engines, &more);
    assert_eq!(played.games.len(), 2, "{}", played.out);
    assert!(faultless(&played));
    for game in &played.games {
        assert_eq!(game["reason"], "length", "{game}");
    }
}

fn a_test_between_unequal_engines_is_decided() {
    let fish = engine_of("stockfish");
    let hall = TestFolder::new();
    let engines = [
        engine("strong", &fish, "tc=nodes=3000 options.Hash=4"),
        engine("weak", &fish, "tc=nodes=1 options.Hash=4"),
    ];
    let win =
        ["--win-rule", "6:2", "--max-plies", "160", "--affinity", "off", "--concurrency", "2"];
    let test = ["--sprt", "0,40", "--scale", "logistic", "--rounds", "200"];
    let played = play(&hall, &engines, &[&win[..], &test[..]].concat());
    assert!(played.games.len() < 400, "{}", played.games.len());
    assert!(faultless(&played));
    assert!(played.out.contains("40 accepted"), "{}", played.out);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow stockfish_and_fairy_stockfish_play_by_nodes_from_fen_with_options [Stockfish, FairyStockfish],
        slow gnuchess_plays_by_uci_on_a_clock [Gnuchess],
        slow a_test_between_unequal_engines_is_decided [Stockfish],
    ]
}
