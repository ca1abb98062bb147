//! Games of shipped entries in the sandbox, two at a time, and every one of them replayed by a second
//! authority on chess: python-chess (from PyPI), which must agree with each move, result and ending.
//!
//! Six games by default; `GATE4K_GAMES=1000 cargo test --test suite replayed` plays as many as are asked for.
//! `GATE4K_PYTHON` names a python3 that can `import chess`, where the one on PATH cannot.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::needs::python;
use crate::trials::Test;

/// Replays a file; prints how many games it holds. Disagreement is an error.
const REPLAY: &str = r#"
import sys, chess, chess.pgn
count = 0
with open(sys.argv[1]) as file:
    while True:
        game = chess.pgn.read_game(file)
        if game is None:
            break
        count += 1
        assert not game.errors, (count, game.errors)
        board = game.board()
        for move in game.mainline_moves():
            assert board.outcome() is None or board.is_seventyfive_moves() or board.is_fivefold_repetition(), count
            assert move in board.legal_moves, (count, move)
            board.push(move)
        result, how = game.headers["Result"], game.headers["TerminationDetails"]
        if how.endswith(" mates"):
            assert board.is_checkmate() and board.result() == result, (count, how)
        elif how == "Stalemate":
            assert board.is_stalemate() and result == "1/2-1/2", (count, how)
        elif how == "3-Fold repetition":
            assert board.is_repetition(3) and result == "1/2-1/2", (count, how)
        elif how == "Fifty moves rule":
            assert board.is_fifty_moves() and result == "1/2-1/2", (count, how)
        elif how == "Insufficient material":
            assert board.is_insufficient_material() and result == "1/2-1/2", (count, how)
        else:
            assert how.endswith(" on time"), (count, how)
            assert not board.is_game_over() and result != "1/2-1/2", (count, how)
print(count)
"#;

fn a_second_authority_agrees_with_every_game_of_confined_entries() {
    let wanted: usize =
        std::env::var("GATE4K_GAMES").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/accept");
    let dir = tempfile::tempdir().unwrap();
    let engines: Vec<String> = ["elf", "python3", "perl"]
        .into_iter()
        .map(|name| {
            let copy = dir.path().join(name);
            fs::copy(top.join(name).join("engine"), &copy).unwrap();
            copy.to_str().unwrap().to_owned()
        })
        .collect();
    let book = dir.path().join("book.txt");
    let lines = ["e4 e5", "d4 d5", "c4 e5", "Nf3 d5", "e4 c5", "d4 Nf6", "e4 e6", "e4 c6"];
    fs::write(&book, lines.join("\n")).unwrap();
    let couples = engines.len() * (engines.len() - 1) / 2;
    let rounds = wanted.div_ceil(2 * couples).max(1);
    let (pgn, events) = (dir.path().join("games.pgn"), dir.path().join("events"));
    let output = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["match", "--quiet", "--concurrency", "2", "--tc", "1+0.01"])
        .args(["--rounds", &rounds.to_string(), "--openings"])
        .arg(&book)
        .arg("--pgn")
        .arg(&pgn)
        .arg("--events")
        .arg(&events)
        .args(&engines)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let games = rounds * 2 * couples;
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for line in fs::read_to_string(&events).unwrap().lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        if event["event"] != "game-finished" {
            continue;
        }
        let reason = &event["reason"];
        if reason.get("time").is_some() {
            // A loss on time is proved by its stamps, or it is ours.
            let at = |key: &str| event["unanswered"][key].as_u64().unwrap();
            assert!(at("heard") - at("sent") > at("left"), "{event}");
        }
        let kind = reason.as_object().and_then(|kind| kind.keys().next().cloned());
        let kind = kind.unwrap_or_else(|| reason.as_str().unwrap().to_owned());
        assert!(
            !["crash", "illegal-move", "no-start", "stall"].contains(&kind.as_str()),
            "{event}"
        );
        *ends.entry(kind).or_default() += 1;
    }
    assert_eq!(ends.values().sum::<usize>(), games, "{ends:?}");
    let replayed = Command::new(python()).args(["-c", REPLAY]).arg(&pgn).output().unwrap();
    assert!(replayed.status.success(), "{}", String::from_utf8_lossy(&replayed.stderr));
    assert_eq!(String::from_utf8_lossy(&replayed.stdout).trim(), games.to_string());
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_second_authority_agrees_with_every_game_of_confined_entries [Landlock, Python3, PerlModules, PythonChess],
    ]
}
