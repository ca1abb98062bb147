//! The rating list of rule 5: over the games before the event and its own, in every view of it.

use std::fs;

use serde_json::Value;

use super::past::Past;
use super::table::Event;

use crate::trials::Test;

const HISTORY: &str = "[White \"A 1.0\"]\n[Black \"Other\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n\n\
    [White \"Other\"]\n[Black \"B\"]\n[Result \"1/2-1/2\"]\n\n1. e4 1/2-1/2\n\n";
const BOOK: &str =
    "[ECO \"C20\"]\n[Opening \"King's pawn\"]\n[Variation \"none\"]\n\n1. e4 e5 *\n\n";
const POOL: &str = "[[stage]]\nname = \"Pool\"\nformat = { double-round-robins = 1 }\n\
    book-policy = \"each\"\nbook = \"book.pgn\"\ndraw = \"seeds\"\ntie-breaks = \"4k\"\npromote = 2\n";

fn ratings_follow_every_game_and_stand_in_every_view() {
    let entries = [("A", "elf"), ("B", "elf32")];
    let more = "history = [\"before.pgn\"]\nrating-mean = 2500\n";
    let event = Event::with(&entries, "0.2+0.002", more, POOL);
    event.write("book.pgn", BOOK);
    let (code, text) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && text.contains("before.pgn"), "{text}");
    event.write("before.pgn", HISTORY);
    fs::remove_file(event.path("event.journal")).unwrap();
    drop(Past::new(&event));
    let (code, told) = event.ask(&["event", "run", "--table"]);
    assert!(code == 0 || code == 4, "{told}");
    assert!(told.contains("2 games before the event count"), "{told}");
    for games in 1..=2 {
        assert!(
            told.contains(&format!("2 games before the event and {games} of its own")),
            "{told}"
        );
    }
    // Versions are one (rule 5.4), and the list does not need the file any more.
    fs::remove_file(event.path("before.pgn")).unwrap();
    let history = &event.records("history")[0];
    assert_eq!(history["meetings"][0]["white"], "A 1.0");
    let (code, verified) = event.ask(&["event", "verify"]);
    assert_eq!(code, 0, "{verified}");
    let (_, status) = event.ask(&["event", "status"]);
    let list = status.split("Ratings by").nth(1).unwrap();
    assert!(list.contains("Rank Name") && !list.contains("Other"), "{status}");

    let entered = &event.records("stage-started")[0]["ratings"];
    assert!(entered["A"].as_i64().unwrap() > entered["B"].as_i64().unwrap(), "{entered}");
    let (_, pgn) = event.ask(&["event", "export", "pgn"]);
    let game = pgn.split("[Event ").find(|game| game.contains("[White \"A\"]")).unwrap();
    for (tag, value) in [
        ("WhiteElo", entered["A"].to_string()),
        ("BlackElo", entered["B"].to_string()),
        ("ECO", "C20".to_owned()),
        ("Opening", "King's pawn".to_owned()),
        ("Variation", "none".to_owned()),
    ] {
        assert!(game.contains(&format!("\n[{tag} \"{value}\"]\n")), "{tag} {value}: {game}");
    }
    let tags: Vec<&str> = game.lines().skip(7).take_while(|line| !line.is_empty()).collect();
    assert!(tags.is_sorted(), "{tags:?}");

    let (_, json) = event.ask(&["event", "export", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["ratings"]["engines"].as_array().unwrap().len(), 3);
    assert_eq!(json["ratings"]["games"], serde_json::json!({"history": 2, "event": 2}));
    assert!(json["stages"][0]["rows"][0]["rating"].is_i64(), "{json}");
    let (_, html) = event.ask(&["event", "export", "html"]);
    assert!(html.contains("<h2>Ratings by 2 games before the event and 2 of its own</h2>"));

    // The table by the journal is that by the PGN, ratings and all. Only a journal tells that the two play for places:
    // where they are level, its tie-breaks put one of them first.
    event.write("pool.pgn", &pgn);
    let table = |file: &str| {
        let (code, text) = event.ask(&["standings", "--format", "crosstable", file]);
        assert_eq!(code, 0, "{text}");
        let mut table: Value = serde_json::from_str(&text).unwrap();
        let scores = ["A", "B"].map(|name| table["Table"][name]["Score"].as_f64().unwrap());
        if scores[0] == scores[1] {
            table["Order"].take();
            for name in ["A", "B"] {
                table["Table"][name]["Rank"].take();
            }
        }
        table
    };
    let (by_journal, by_pgn) = (table("event.journal"), table("pool.pgn"));
    assert_eq!(by_journal, by_pgn);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow ratings_follow_every_game_and_stand_in_every_view [Landlock],
    ]
}
