//! The 4k event's own shape at a fast control: six shipped entries, a pool, a MiniFinal that is tied by force.

use std::collections::BTreeMap;

use serde_json::Value;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Position};

use super::as_written::decide;
use super::table::{Event, wanted};

use crate::trials::Test;

/// Of every kind: plain ELF files, packed ones, compiled at the start, interpreted.
const SIX: [(&str, &str); 6] = [
    ("Bare", "elf"),
    ("Bare32", "elf32"),
    ("Packed", "rules-example-1"),
    ("Compiled", "c-xz"),
    ("Python", "python3"),
    ("Perl", "perl"),
];

/// An event of the six: `doubles` double round robins and `pairs` pairs, whose openings let White mate at once,
/// so that each pair is level; what a tie is played on with are ordinary openings.
pub(crate) fn six(control: &str, doubles: u32, pairs: usize) -> Event {
    let stages = format!(
        "[[stage]]\nname = \"Pool\"\nformat = {{ double-round-robins = {doubles} }}\n\
         book-policy = \"first-bookless\"\nbook = \"book.txt\"\ndraw = \"seeds\"\n\
         tie-breaks = \"4k\"\npromote = 2\n\
         [[stage]]\nname = \"MiniFinal\"\nformat = {{ pairs = {pairs} }}\n\
         book-policy = \"each\"\nbook = \"minifinal.txt\"\ndraw = \"reversed-ranking\"\n\
         tie-breaks = \"4k\"\npromote = 1\n"
    );
    let event = Event::with(&SIX, control, "concurrency = 2\n", &stages);
    let mut book = mates(pairs).join("\n");
    for white in ["e4", "d4", "c4", "Nf3"] {
        for black in ["e5", "d5", "c5", "Nf6"] {
            book += &format!("\n{white} {black}");
        }
    }
    event.write("minifinal.txt", &(book + "\n"));
    event
}

/// Distinct openings after which White mates with one move.
fn mates(number: usize) -> Vec<String> {
    let mut start = Chess::default();
    let play = |position: &mut Chess, word: &str| {
        let one = word.parse::<UciMove>().unwrap().to_move(position).unwrap();
        position.play_unchecked(one);
    };
    for word in ["e2e4", "e7e5", "f1c4"] {
        play(&mut start, word);
    }
    let mut found = Vec::new();
    for first in start.legal_moves() {
        let mut middle = start.clone();
        middle.play_unchecked(first);
        play(&mut middle, "d1h5");
        for second in middle.legal_moves() {
            let mut end = middle.clone();
            end.play_unchecked(second);
            let queen = "h5f7".parse::<UciMove>().unwrap().to_move(&end);
            let is_mate = queen.is_ok_and(|queen| {
                let mut mated = end.clone();
                mated.play_unchecked(queen);
                mated.is_checkmate()
            });
            if is_mate {
                let [first, second] =
                    [first, second].map(|one| one.to_uci(CastlingMode::Standard).to_string());
                found.push(format!("e2e4 e7e5 f1c4 {first} d1h5 {second}"));
            }
        }
    }
    assert!(found.len() >= number, "{} openings", found.len());
    found.truncate(number);
    found
}

/// Asserts what must hold of such an event when it is over; says whether its MiniFinal was tied.
pub(crate) fn check(event: &Event, doubles: u32, pairs: usize) -> bool {
    let games = event.finished();
    let of_stage = |stage: u64| games.values().filter(move |game| game["stage"] == stage);
    let pool = 30 * doubles as usize;
    assert_eq!(of_stage(0).count(), pool);
    let outcomes = event.records("stage-finished");
    let [first, second] = [0, 1].map(|place| outcomes[0]["promoted"][place].as_str().unwrap());

    // The pool's winner is Black in the first game of each pair (rule 3.2).
    let final_games: BTreeMap<u64, &Value> =
        of_stage(1).map(|game| (game["round"].as_u64().unwrap(), game)).collect();
    for (round, game) in &final_games {
        let black = if round % 2 == 1 { first } else { second };
        assert_eq!(game["black"], black, "round {round}");
    }
    let lead = |rounds: std::ops::RangeInclusive<u64>| -> i32 {
        let games = final_games.range(rounds).map(|(_, game)| game);
        games
            .map(|game| match (game["result"].as_str().unwrap(), game["white"] == *first) {
                ("1-0", true) | ("0-1", false) => 1,
                ("1/2-1/2", _) => 0,
                _ => -1,
            })
            .sum()
    };
    // Its games are tied by force, but for clocks that run out on a host that is too busy. A tie is played on until one
    // engine wins a pair.
    let (planned, played) = (2 * pairs as u64, final_games.len() as u64);
    let flagged = final_games.range(1..=planned).any(|(_, game)| {
        game["termination"] == "time forfeit" || game["termination"] == "stalled connection"
    });
    let tied = lead(1..=planned) == 0;
    assert!(tied || flagged, "the MiniFinal was not tied");
    assert!(played.is_multiple_of(2) && (played > planned) == tied, "{played} games");
    for last in (planned + 2..=played).step_by(2) {
        assert_eq!(lead(last - 1..=last) != 0, last == played, "pair to {last} of {played}");
    }
    let winner = if lead(1..=played) > 0 { first } else { second };
    assert_eq!(event.records("event-finished")[0]["winner"], winner);
    let (code, status) = event.ask(&["event", "status"]);
    assert!(code == 0 && status.contains(&format!("over: {winner} wins")), "{status}");
    let (code, told) = event.ask(&["event", "pause"]);
    assert!(code == 2 && told.contains("there is nothing to pause"), "{told}");
    let (code, pgn) = event.ask(&["event", "export", "pgn"]);
    assert_eq!((code, pgn.matches("[Event ").count()), (0, games.len()));
    tied
}

/// `GATE4K_FULL=1` plays the whole shape of the rules: 120 games, and 50 in the MiniFinal.
fn six_entries_play_a_pool_and_a_minifinal_that_is_tied() {
    let (control, doubles, pairs) = match wanted("GATE4K_FULL") {
        Some(_) => ("1+0.01", 4, 25),
        None => ("0.4+0.004", 1, 2),
    };
    let event = six(control, doubles, pairs);
    let (code, text) = event.ask(&["event", "run", "--quiet"]);
    assert_eq!(code, 0, "{text}");
    let (code, verified) = event.ask(&["event", "verify"]);
    assert_eq!(code, 0, "{verified}");
    let tied = check(&event, doubles, pairs);
    assert_eq!(text.contains("more pair"), tied, "{text}");
    // A pause that was asked for too late for a runner waits for no other one.
    event.write("event.journal.pause", "");
    assert_eq!(event.ask(&["event", "run", "--quiet"]).0, 0);
    assert!(!event.path("event.journal.pause").exists());
}

/// From a folder of entries and a file of openings to the winner: what `event new` writes is played as it stands, but for a
/// clock and numbers of games that a test can wait for.
fn a_new_event_is_played_as_it_is_written() {
    let event = six("1+0.01", 1, 25);
    let all = event.path("all");
    std::fs::create_dir(&all).unwrap();
    for (name, _) in SIX {
        std::fs::rename(event.path(name), all.join(name)).unwrap();
    }
    let (code, text) =
        event.ask(&["event", "new", "--entries", "all", "--book", "minifinal.txt", "new.toml"]);
    assert_eq!(code, 0, "{text}");
    let (code, plan) = event.ask(&["event", "plan", "new.toml"]);
    assert_eq!(code, 0, "{plan}");
    let mut text = std::fs::read_to_string(event.path("new.toml")).unwrap();
    for (from, to) in [
        ("time-control = \"30:00+3\"", "time-control = \"0.4+0.004\""),
        ("double-round-robins = 4", "double-round-robins = 1"),
        ("pairs = 25", "pairs = 2"),
        ("gate = \"full\"", "gate = \"quick\""),
        ("concurrency = 1", "concurrency = 2"),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        text = text.replace(from, to);
    }
    event.write("new.toml", &text);
    let run = ["event", "run", "--quiet", "new.toml"];
    let (mut code, mut told) = event.ask(&run);
    // The pool's order hangs on the clock here: two that play the same games again and again may have come through it.
    if code == 4 && told.contains("MiniFinal is still level after") {
        decide(&event, "new.toml", &told);
        (code, told) = event.ask(&run);
    }
    assert_eq!(code, 0, "{told}");
    let (code, verified) = event.ask(&["event", "verify", "new.toml"]);
    assert_eq!(code, 0, "{verified}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_new_event_is_played_as_it_is_written [Landlock, Xz, Python3, PerlModules],
        slow six_entries_play_a_pool_and_a_minifinal_that_is_tied [Landlock, Xz, Python3, PerlModules],
    ]
}
