//! Journals whose games were forged after they were written, with sums that fit: what `event verify` finds by playing
//! them again.

use std::fs;

use gate4k::event::journal::{self, Journal, JournalRecord};
use gate4k::model::game::ending::{GameEnding, Termination};
use serde_json::{Value, json};
use shakmaty::Color;

use super::past::{Past, REPEATED, WHITE_MATES};
use super::table::{Event, POOL};

use crate::trials::Test;

const FIRST: &str = "small/pool/1.1/a/b";
const BASE: u64 = 5_000_000;

/// The records of an event's journal.
pub(super) fn records(event: &Event) -> Vec<Value> {
    let mut records = Vec::new();
    journal::read(&event.path("event.journal"), &mut |_, record| {
        records.push(serde_json::to_value(record).unwrap());
        Ok(())
    })
    .unwrap();
    records
}

/// Writes the journal anew with these records.
pub(super) fn rewrite(event: &Event, records: &[Value]) {
    let path = event.path("event.journal");
    fs::remove_file(&path).unwrap();
    let (mut journal, _) = Journal::open(&path, &mut |_, _| Ok(())).unwrap();
    for record in records {
        let record: JournalRecord = serde_json::from_value(record.clone()).unwrap();
        journal.append(&record).unwrap();
    }
}

/// The same, and verifies it.
fn verified(event: &Event, records: &[Value]) -> (i32, String) {
    rewrite(event, records);
    event.ask(&["event", "verify"])
}

/// A change of a journal's records.
pub(super) type Forgery<'a> = &'a dyn Fn(&mut Vec<Value>);

/// Asserts that a journal is right, and that each forgery of it is found, with these words.
pub(super) fn found(event: &Event, right: &[Value], forgeries: &[(Forgery<'_>, &str)]) {
    let (code, told) = verified(event, right);
    assert_eq!(code, 0, "{told}");
    for (forge, words) in forgeries {
        let mut forged = right.to_vec();
        forge(&mut forged);
        let (code, told) = verified(event, &forged);
        assert!(code == 1 && told.contains(words), "{words:?}: {code} {told}");
    }
}

/// The records of a kind that are of one game, in their order.
fn of<'a>(
    records: &'a mut [Value],
    kind: &'a str,
    id: &'a str,
) -> impl Iterator<Item = &'a mut Value> {
    records
        .iter_mut()
        .filter_map(move |record| record.get_mut(kind))
        .filter(move |one| one["id"] == id)
}

/// Gives the moves of a game these evaluations, and these distances to the win rule.
fn evaluated(records: &mut [Value], id: &str, evals: &[i32], win_in: &[i32]) {
    for ((ply, eval), win) in of(records, "ply", id).zip(evals).zip(win_in) {
        ply["eval"] = json!(eval);
        ply["rules-in"] = json!([-1000, win]);
    }
}

/// The number of the record with this move of a game.
fn ply(records: &[Value], id: &str, number: usize) -> usize {
    let is = |record: &Value| record["ply"]["id"] == id && record["ply"]["number"] == number;
    records.iter().position(is).unwrap()
}

fn ends_by_evaluations_are_adjudicated_again() {
    let rule = "win-rule = { level = 5, moves = 2 }\n";
    let event = Event::with(&[("A", "elf"), ("B", "elf32")], "5+0.1", rule, POOL);
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    let four = "e2e4 e7e5 g1f3 g8f6 f3g1 f6g8";
    past.ended(1, "A", "B", four, GameEnding::win(Color::White, Termination::WinByEval));
    past.game(2, "B", "A", WHITE_MATES);
    drop(past);
    let second = "small/pool/2.1/b/a";
    let mut right = records(&event);
    evaluated(&mut right, FIRST, &[600; 4], &[-4, 2, 2, 0]);
    for ply in of(&mut right, "ply", second) {
        ply["rules-in"] = json!([-1000, -4]);
    }
    let one_too_many = |records: &mut Vec<Value>| {
        let mut more = records[ply(records, FIRST, 3)].clone();
        (more["ply"]["number"], more["ply"]["move"]) = (json!(4), json!("g1f3"));
        records.insert(ply(records, FIRST, 3) + 1, more);
        for game in of(records, "game-finished", FIRST) {
            game["moves"] = json!(format!("{four} g1f3"));
        }
    };
    // A mate that is cut short, and given to the other side.
    let cut = |records: &mut Vec<Value>| {
        records.retain(|record| {
            record["ply"]["id"] != second || record["ply"]["number"].as_u64() < Some(3)
        });
        for game in of(records, "game-finished", second) {
            let moves: Vec<&str> = WHITE_MATES.split(' ').take(5).collect();
            game["moves"] = json!(moves.join(" "));
            game["result"] = json!("0-1");
            game["reason"] = json!("win-by-eval");
            game["details"] = json!("TCEC win rule");
            game["termination"] = json!("adjudication");
        }
    };
    let no_end = |records: &mut Vec<Value>| {
        cut(records);
        for game in of(records, "game-finished", second) {
            game["reason"] = json!("adjudicated");
            game["details"] = json!("Adjudicated");
        }
    };
    let tables = |records: &mut Vec<Value>| {
        cut(records);
        for game in of(records, "game-finished", second) {
            game["reason"] = json!("tables");
            game["details"] = json!("Syzygy tables");
        }
    };
    found(
        &event,
        &right,
        &[
            (
                &|records| evaluated(records, FIRST, &[0; 4], &[-4; 4]),
                "small/pool/1.1/a/b had not ended by its evaluations",
            ),
            (&|records| evaluated(records, FIRST, &[600; 4], &[-4, 2, 1, 0]), "the win rule are"),
            (
                &|records| {
                    for game in of(records, "game-finished", FIRST) {
                        game["result"] = json!("0-1");
                    }
                },
                "small/pool/1.1/a/b ended 1-0 by TCEC win rule, and is recorded as 0-1",
            ),
            (&one_too_many, "small/pool/1.1/a/b goes on after move 3"),
            (&cut, "small/pool/2.1/b/a had not ended by its evaluations"),
            (&no_end, "small/pool/2.1/b/a is recorded as over, and has no end"),
            (&tables, "small/pool/2.1/b/a is over by tables, which its stage does not ask"),
        ],
    );
}

/// A ruling of these words on the first game.
fn ruling(rule: &str, result: Option<&str>, compensation: u64) -> Value {
    let (id, why, clocks) = (FIRST, "", [BASE; 2]);
    json!({ "interrupted": {
        "id": id, "rule": rule, "why": why, "result": result, "clocks": clocks, "compensation": compensation
    } })
}

/// Adds time to the clocks of the first game from a record on.
fn more_time(records: &mut [Value], from: usize, more: u64) {
    for kind in ["ply", "game-started", "interrupted"] {
        for one in of(&mut records[from..], kind, FIRST) {
            for clock in one["clocks"].as_array_mut().unwrap() {
                *clock = json!(clock.as_u64().unwrap() + more);
            }
        }
    }
}

fn an_interrupted_game_goes_on_by_its_ruling_alone() {
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "5+0.1", POOL);
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    past.game(1, "A", "B", WHITE_MATES);
    drop(past);
    let mut right = records(&event);
    let start = right.iter().position(|one| one["game-started"]["id"] == FIRST).unwrap();
    let mut again = right[start].clone();
    again["game-started"]["attempt"] = json!(2);
    let at = ply(&right, FIRST, 2);
    right.splice(at..at, [ruling("6.1.5", None, 100_000), again]);
    // The time that an event of the suite gives both sides.
    more_time(&mut right, at + 1, 100_000);
    let without_ruling = |records: &mut Vec<Value>| {
        records.remove(at);
    };
    let much = |records: &mut Vec<Value>| {
        records[at]["interrupted"]["compensation"] = json!(100_100_000);
        more_time(records, at + 1, 100_000_000);
    };
    found(
        &event,
        &right,
        &[
            (&without_ruling, "attempt 2 of small/pool/1.1/a/b follows no ruling"),
            (&much, "should be by rule 6.1.5: it goes on after 4 half-moves with 5.100 s"),
            (
                &|records| more_time(records, at, 100_000_000),
                "the ruling on small/pool/1.1/a/b by rule 6.1.5 should be",
            ),
            (
                &|records| more_time(records, at + 1, 100_000_000),
                "attempt 2 of small/pool/1.1/a/b begins with the clocks [105100000, 105100000]",
            ),
            (
                &|records| more_time(records, start, 100_000_000),
                "attempt 1 of small/pool/1.1/a/b begins with the clocks [105000000, 105000000]",
            ),
            (
                &|records| records[at]["interrupted"]["rule"] = json!("6.1.4"),
                "is decided by tables, and the event names none",
            ),
            (
                &|records| records[at] = ruling("6.1.2", Some("1-0"), 0),
                "small/pool/1.1/a/b goes on, and the ruling on it had ended it",
            ),
        ],
    );
}

fn a_ruling_that_ends_a_game_is_made_again() {
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "5+0.1", POOL);
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    let four = "e2e4 e7e5 g1f3 g8f6 f3g1 f6g8";
    past.ended(1, "A", "B", four, GameEnding::win(Color::White, Termination::WinByEval));
    drop(past);
    let mut right = records(&event);
    evaluated(&mut right, FIRST, &[0, 0, 1500, 1200], &[-1000; 4]);
    let at = ply(&right, FIRST, 3) + 1;
    right.insert(at, ruling("6.1.2", Some("1-0"), 0));
    right[at + 1]["game-finished"]["by-rule"] = json!("6.1.2");
    let turned = |records: &mut Vec<Value>| {
        records[at]["interrupted"]["result"] = json!("0-1");
        records[at + 1]["game-finished"]["result"] = json!("0-1");
    };
    let without_ruling = |records: &mut Vec<Value>| {
        records.remove(at);
    };
    found(
        &event,
        &right,
        &[
            (&turned, "evaluations 15.00 and 12.00: both above +10, White wins"),
            (
                &|records| evaluated(records, FIRST, &[0; 4], &[-1000; 4]),
                "by rule 6.1.2 should be by rule 6.1.5",
            ),
            (&without_ruling, "(rule 6.1.2), and no ruling says so"),
            (
                &|records| records[at + 1]["game-finished"]["result"] = json!("0-1"),
                "(rule 6.1.2), and no ruling says so",
            ),
            (
                &|records| records[at + 1]["game-finished"]["by-rule"] = json!(null),
                "and did not go on after its interruption",
            ),
        ],
    );
    // Its words are those of an adjudication in the journal, and its own wherever it is told.
    rewrite(&event, &right);
    let (_, pgn) = event.ask(&["event", "export", "pgn"]);
    for tag in [
        "[Termination \"adjudication\"]",
        "[TerminationDetails \"Interrupted: White wins by rule 6.1.2 of the 4k rules\"]",
    ] {
        assert!(pgn.contains(tag), "{tag} is not in {pgn}");
    }
    assert!(!pgn.contains("TCEC win rule"), "{pgn}");
}

fn a_side_forfeits_only_where_it_was_to_move_and_its_move_is_not_legal() {
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "5+0.1", POOL);
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    let illegal = Termination::IllegalMove("e1e8".into());
    past.ended(1, "A", "B", "e2e4 e7e5", GameEnding::win(Color::Black, illegal));
    let crash = GameEnding::win(Color::White, Termination::Crash { exit: None });
    past.ended(2, "B", "A", REPEATED.strip_suffix(" f6g8").unwrap(), crash);
    drop(past);
    let mut right = records(&event);
    for game in of(&mut right, "game-finished", FIRST) {
        game["unanswered"] = json!([40_000, BASE]);
    }
    found(
        &event,
        &right,
        &[
            (
                &|records| {
                    for game in of(records, "game-finished", FIRST) {
                        game["reason"] = json!({ "illegal-move": "g1f3" });
                        game["details"] = json!("White makes an illegal move: g1f3");
                    }
                },
                "was lost by an illegal move, and g1f3 is legal",
            ),
            (
                &|records| {
                    for game in of(records, "game-finished", FIRST) {
                        game["unanswered"] = json!([40_000, 1_000]);
                    }
                },
                "ended with 1000 µs for the side to move, whose clock shows 5000000 µs",
            ),
            (
                &|records| {
                    for game in of(records, "game-finished", "small/pool/2.1/b/a") {
                        game["result"] = json!("0-1");
                        game["details"] = json!("White disconnects");
                    }
                },
                "was lost by the side that was not to move",
            ),
            (
                &|records| {
                    for game in of(records, "game-finished", "small/pool/2.1/b/a") {
                        game["result"] = json!("1/2-1/2");
                        game["details"] = json!("Nobody disconnects");
                    }
                },
                "was lost by the side that was not to move",
            ),
        ],
    );
}

fn an_engine_that_was_killed_lost_its_own_game_by_that() {
    let entries = [("A", "elf"), ("B", "elf32"), ("C", "elf")];
    let event = Event::new(&entries, "5+0.1", POOL);
    let mut past = Past::new(&event);
    past.stage(&["A", "B", "C"]);
    let crash = GameEnding::win(Color::Black, Termination::Crash { exit: None });
    past.ended(1, "B", "C", "e2e4 e7e5", crash);
    past.game(2, "A", "B", WHITE_MATES);
    drop(past);
    let right = records(&event);
    let killed = |records: &mut Vec<Value>, key: &str, value: &str| {
        for killed in records.iter_mut().filter_map(|record| record.get_mut("engine-killed")) {
            killed[key] = json!(value);
        }
    };
    let id = "small/pool/1.1/b/c";
    found(
        &event,
        &right,
        &[
            (&|records| killed(records, "entry", "C"), "which did not end by that"),
            (&|records| killed(records, "entry", "A"), "in which it does not play"),
            (&|records| killed(records, "entry", "Z"), "is no engine of the event"),
            (&|records| killed(records, "id", "small/pool/2.1/a/b"), "which is not under way"),
            (
                &|records| records.retain(|record| record.get("engine-killed").is_none()),
                "is lost by a crash of B, and no record tells of it",
            ),
            (
                &|records| {
                    for game in of(records, "game-finished", id) {
                        game["at"] = json!("2026-11-27T18:00:00.000Zx");
                    }
                },
                "2026-11-27T18:00:00.000Zx is no instant",
            ),
        ],
    );
}

fn games_that_are_played_one_at_a_time_begin_in_their_order() {
    let entries = [("A", "elf"), ("B", "elf32"), ("C", "elf")];
    let event = Event::new(&entries, "5+0.1", POOL);
    let begun = |rounds: &[u32]| {
        let mut past = Past::new(&event);
        past.stage(&["A", "B", "C"]);
        for round in rounds {
            let (white, black) = [("B", "C"), ("A", "B"), ("C", "A")][*round as usize - 1];
            past.game(*round, white, black, WHITE_MATES);
        }
        drop(past);
        let told = event.ask(&["event", "verify"]);
        fs::remove_file(event.path("event.journal")).unwrap();
        told
    };
    assert_eq!(begun(&[1, 2, 3]).0, 0);
    let (code, told) = begun(&[1, 3, 2]);
    assert!(
        code == 1 && told.contains("3.1/c/a begins before game 2.1, which is due first"),
        "{told}"
    );
}

fn a_stage_with_a_crash_limit_is_played_to_its_end() {
    let entries = [("A", "elf"), ("B", "elf32"), ("C", "elf")];
    let event = Event::with(&entries, "5+0.1", "crash-limit = 2\n", POOL);
    let mut past = Past::new(&event);
    past.stage(&["A", "B", "C"]);
    let crash = |winner| GameEnding::win(winner, Termination::Crash { exit: None });
    // B is out after its second game; A and C play their other one.
    past.ended(1, "B", "C", "e2e4 e7e5", crash(Color::Black));
    past.ended(2, "A", "B", "e2e4 e7e5 g1f3", crash(Color::White));
    let resigns = GameEnding::win(Color::Black, Termination::Resignation);
    past.ended(3, "C", "A", "e2e4 e7e5", resigns);
    past.game(6, "A", "C", WHITE_MATES);
    drop(past);
    let mut right = records(&event);
    let (order, promoted) = (["A", "C", "B"], ["A", "C"]);
    right.push(json!({ "stage-finished": { "stage": 0, "order": order, "promoted": promoted } }));
    let last = "small/pool/6.1/a/c";
    let unplayed = |records: &mut Vec<Value>| {
        records.retain(|record| {
            ["game-started", "ply", "game-finished"].iter().all(|kind| record[kind]["id"] != last)
        });
    };
    found(&event, &right, &[(&unplayed, "Pool was ended with 1 game to play")]);
}

fn a_game_ends_as_it_began_and_is_struck_out_once_and_at_its_place() {
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "5+0.1", POOL);
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    past.game(1, "A", "B", WHITE_MATES);
    past.game(2, "B", "A", WHITE_MATES);
    drop(past);
    let mut right = records(&event);
    let struck = |id: &str, round: u32| {
        let (then, reason, at) = ("nothing", "a power cut", "");
        json!({ "annulled": {
            "id": id, "stage": 0, "round": round, "game": 1, "then": then, "reason": reason, "at": at
        } })
    };
    right.push(struck(FIRST, 1));
    found(
        &event,
        &right,
        &[
            (
                &|records| {
                    for game in of(records, "game-finished", FIRST) {
                        (game["white"], game["black"]) = (json!("B"), json!("A"));
                    }
                },
                "small/pool/1.1/a/b began as A against B at 1.1 of stage 1, and ended as B against A at 1.1",
            ),
            (&|records| records.push(struck(FIRST, 1)), "small/pool/1.1/a/b is annulled already"),
            (
                &|records| records.push(struck(FIRST, 2)),
                "small/pool/1.1/a/b is not the game of stage 1 at 2.1",
            ),
            (
                &|records| records.push(struck("small/pool/2.1/a/b", 2)),
                "small/pool/2.1/a/b is not the game of stage 1 at 2.1",
            ),
        ],
    );
}

fn a_move_that_comes_within_the_margin_loses_nothing() {
    let event = Event::with(&[("A", "elf"), ("B", "elf32")], "5+0.1", "margin = \"200ms\"\n", POOL);
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    let late = GameEnding::win(Color::Black, Termination::Time { over: None });
    past.ended(1, "A", "B", "e2e4 e7e5", late);
    drop(past);
    let mut right = records(&event);
    let waited = |records: &mut [Value], late: u64| {
        for game in of(records, "game-finished", FIRST) {
            game["unanswered"] = json!([BASE + late, BASE]);
        }
    };
    waited(&mut right, 200_100);
    let words = "was lost for want of a move with time left";
    found(&event, &right, &[(&|records| waited(records, 100), words)]);
}

fn no_game_is_broken_off_that_had_ended_and_none_begins_of_an_engine_that_is_out() {
    let entries = [("A", "elf"), ("B", "elf32"), ("C", "elf")];
    let event = Event::with(&entries, "5+0.1", "crash-limit = 2\n", POOL);
    let mut past = Past::new(&event);
    past.stage(&["A", "B", "C"]);
    let crash = |winner| GameEnding::win(winner, Termination::Crash { exit: None });
    past.ended(1, "B", "C", "e2e4 e7e5", crash(Color::Black));
    past.ended(2, "A", "B", "e2e4 e7e5 g1f3", crash(Color::White));
    past.ended(4, "C", "B", "e2e4 e7e5 g1f3", crash(Color::White));
    drop(past);
    let (code, told) = event.ask(&["event", "verify"]);
    assert!(code == 1 && told.contains("is played by B, which is disqualified"), "{told}");

    let event = Event::new(&entries, "5+0.1", POOL);
    let mut past = Past::new(&event);
    past.stage(&["A", "B", "C"]);
    past.ended(1, "B", "C", "e2e4 e7e5", crash(Color::Black));
    past.game(2, "A", "B", WHITE_MATES);
    drop(past);
    let mut right = records(&event);
    right.push(json!({ "withdrawn": {
        "engine": "B", "stage": 0, "round": 3, "played": "annulled", "reason": "x", "at": ""
    } }));
    let second = "small/pool/2.1/a/b";
    let broken_off = |records: &mut Vec<Value>| {
        records.retain(|record| record["game-finished"]["id"] != second);
        let last = records.last_mut().unwrap();
        last["withdrawn"]["broken-off"] = json!([second]);
    };
    found(&event, &right, &[(&broken_off, "was broken off after its end: White mates")]);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick ends_by_evaluations_are_adjudicated_again,
        quick an_interrupted_game_goes_on_by_its_ruling_alone,
        quick a_ruling_that_ends_a_game_is_made_again,
        quick a_side_forfeits_only_where_it_was_to_move_and_its_move_is_not_legal,
        quick a_game_ends_as_it_began_and_is_struck_out_once_and_at_its_place,
        quick an_engine_that_was_killed_lost_its_own_game_by_that,
        quick games_that_are_played_one_at_a_time_begin_in_their_order,
        quick a_stage_with_a_crash_limit_is_played_to_its_end,
        quick a_move_that_comes_within_the_margin_loses_nothing,
        quick no_game_is_broken_off_that_had_ended_and_none_begins_of_an_engine_that_is_out,
    ]
}
