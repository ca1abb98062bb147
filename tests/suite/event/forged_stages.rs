//! Journals whose stages were forged after they were written, with sums that fit: games that are not due, stages that were
//! left out, decisions without a tie, and what an event is given from outside.

use serde_json::{Value, json};

use super::forged::{found, records};
use super::instants::{engine, event, event_of, event_with, stage};
use super::table::Event;

use crate::trials::Test;

/// A pool of three that E1 wins before E2, and their final.
fn pool_and_final(more: &str) -> Event {
    let stages = stage("Pool", "double-round-robins = 1", "ties = \"4k\"\npromote = 2")
        + &stage("Final", "pairs = 1", "ties = \"4k\"");
    event_of(3, more, &stages)
}

/// The number of the first record of a kind that is of this stage.
fn at(records: &[Value], kind: &str, stage: usize) -> usize {
    records.iter().position(|record| record[kind]["stage"] == stage).unwrap()
}

/// The id of the first game of a round of a stage.
fn id_of(records: &[Value], stage: usize, round: u32) -> String {
    let mut started = records.iter().map(|record| &record["game-started"]);
    let game = started.find(|game| game["stage"] == stage && game["round"] == round).unwrap();
    game["id"].as_str().unwrap().to_owned()
}

/// A game of two rounds before once more, in this round and by another id.
fn again(records: &[Value], id: &str, round: u32) -> Vec<Value> {
    let kinds = ["game-started", "ply", "game-finished"];
    let new = id.replacen(&format!("/{}.1/", round - 2), &format!("/{round}.1/"), 1);
    let mut game = Vec::new();
    for record in records {
        for kind in kinds.iter().filter(|kind| record[**kind]["id"] == id) {
            let mut record = record.clone();
            record[*kind]["id"] = json!(new);
            if record[*kind].get("round").is_some() {
                record[*kind]["round"] = json!(round);
            }
            game.push(record);
        }
    }
    assert!(game.len() > 2, "{id} was not played");
    game
}

fn event_over(winner: &str) -> Value {
    json!({ "event-finished": { "winner": winner } })
}

fn games_that_are_not_due_and_stages_that_were_left_out_are_found() {
    let event = pool_and_final("");
    event.finish();
    let right = records(&event);
    let [first, second] = [1, 2].map(|round| id_of(&right, 1, round));
    let (first, second) = (first.as_str(), second.as_str());
    let third = first.replacen("/1.1/", "/3.1/", 1);
    let fourth = second.replacen("/2.1/", "/4.1/", 1);
    let end = at(&right, "stage-finished", 1);
    let pool_end = at(&right, "stage-finished", 0);
    let insert = |records: &mut Vec<Value>, at: usize, more: Vec<Value>| {
        records.splice(at..at, more);
    };
    let pool = id_of(&right, 0, 5);
    let [not_due, after, open] = [
        format!("{third} is not the game that the schedule has there"),
        format!("{fourth} is played after the end of Final"),
        format!("{fourth} was under way when Final ended"),
    ];
    found(
        &event,
        &right,
        &[
            (
                &|records| {
                    let pair = [again(records, first, 3), again(records, second, 4)].concat();
                    insert(records, end, pair);
                },
                &not_due,
            ),
            (
                &|records| insert(records, pool_end, again(records, &pool, 7)),
                "is not the game that the schedule has there",
            ),
            (
                &|records| {
                    let game = again(records, second, 4);
                    records.extend(game);
                },
                &after,
            ),
            (&|records| insert(records, end, again(records, second, 4)[..1].to_vec()), &open),
            (
                &|records| {
                    records.truncate(pool_end + 1);
                    records.push(event_over("E1"));
                },
                "the event ended without Final",
            ),
            (
                &|records| {
                    records.remove(pool_end);
                },
                "Final begins, and Pool is not over",
            ),
            (&|records| records.push(event_over("E1")), "the event had ended before"),
        ],
    );
}

fn decisions_moves_and_entries_that_the_rules_do_not_take_are_found() {
    let event = pool_and_final("history = [\"old.pgn\"]\n");
    event.write("old.pgn", "[White \"E1\"]\n[Black \"E2\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n");
    event.finish();
    let right = records(&event);
    let (end, begin) = (at(&right, "stage-finished", 1), at(&right, "stage-started", 1));
    let decided = |records: &mut Vec<Value>, order: [&str; 2], stage: usize| {
        let decision = json!({ "stage": stage, "order": order, "reason": "x", "at": "" });
        records.insert(end, json!({ "decision": decision }));
    };
    let is = |kind: &'static str| move |record: &&mut Value| record.get(kind).is_some();
    let receipt = right.iter().find(|record| record["receipt"]["entry"] == "E1").unwrap();
    let receipt = receipt["receipt"].clone();
    found(
        &event,
        &right,
        &[
            (
                &|records| decided(records, ["E2", "E1"], 1),
                "Final was decided between E2 and E1, where they were not tied",
            ),
            (&|records| decided(records, ["X", "Y"], 1), "was decided between X and Y"),
            (&|records| decided(records, ["E2", "E3"], 0), "Pool was decided between E2 and E3"),
            (
                &|records| {
                    let ply = records.iter_mut().rfind(is("ply")).unwrap();
                    ply["ply"]["used"] = json!(3_600_000_000u64);
                },
                "took 3600000000 µs, and the clock allowed",
            ),
            (
                &|records| {
                    let one = records.iter_mut().find(is("receipt")).unwrap();
                    one["receipt"]["verdict"] = json!("rejected");
                    one["receipt"]["findings"] = json!({ "size": "fail" });
                },
                "E1 plays, and the gate found that it breaks rule size",
            ),
            (
                &|records| {
                    let (entry, before) = ("E1", &receipt["frozen"]);
                    let fix = json!({
                        "entry": entry, "reason": "x", "crashes": 2, "before": before, "receipt": receipt, "at": ""
                    });
                    records.insert(begin, json!({ "fix": fix }));
                },
                "E1 could not be fixed (rule 6.3 of the 4k rules): E1 has never crashed",
            ),
            (
                &|records| {
                    let started = records[begin]["stage-started"].as_object_mut().unwrap();
                    started.remove("book");
                },
                "Final begins, and its book was not frozen",
            ),
            (
                &|records| {
                    let openings = &mut records[begin]["stage-started"]["book"]["openings"];
                    openings[0] = json!("b1c3 b8c6");
                },
                "the openings of Final are not those of its book",
            ),
            (
                &|records| records.retain(|record| record.get("history").is_none()),
                "begins without the games before it",
            ),
            (
                &|records| {
                    let history = records.iter_mut().find(is("history")).unwrap();
                    history["history"]["meetings"][0]["results"] = json!([0, 0, 1]);
                },
                "the games before the event are not those of its files",
            ),
            (
                &|records| {
                    let history = records.iter_mut().find(is("history")).unwrap();
                    history["history"]["files"][0]["games"] = json!(7);
                    history["history"]["meetings"] = json!([]);
                },
                "the games before the event are not those of its files",
            ),
        ],
    );
}

fn start_positions_are_those_of_the_lot() {
    let engines = [1, 2].map(|number| engine(number, &["chess960", "illegal@8"])).concat();
    let more = "variant = \"chess960\"\nstart-seed = 3\nties = \"frd\"\n";
    let lot = stage("Lot", "round-robin = { doubles = 1 }", more);
    let event = event(&engines, "", &lot.replace("book = \"book.txt\"\n", ""));
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 0 || code == 4 && told.contains("are tied"), "{told}");
    let right = records(&event);
    let begin = at(&right, "stage-started", 0);
    let forged = |key: &'static str, value: Value| {
        move |records: &mut Vec<Value>| {
            records[begin]["stage-started"]["book"][key] = value.clone();
        }
    };
    let classical = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    found(
        &event,
        &right,
        &[
            (&forged("openings", json!([classical])), "the openings of Lot are not those of its"),
            (
                &forged("sha256", json!("0".repeat(64))),
                "the start positions of Lot are not those that its lot draws",
            ),
        ],
    );
}

/// White loses every game of these, so that each pair is level and the next one would decide.
fn half_of_a_pair_that_decides_is_not_struck_out() {
    for (format, more, place) in [
        ("match = { pairs = 1, then = [{ pairs = 1 }] }", "ties = \"s17\"\n", "4.1"),
        ("playoff = { spots = 1 }", "", "6.1"),
        ("pairs = 1", "ties = \"4k\"\n", "6.1"),
    ] {
        let event = event_with(&[4, 4], 0, &stage("Match", format, more));
        let (code, told) = event.ask(&["event", "run", "--quiet"]);
        assert_eq!(code, 4, "{format}: {told}");
        let last = event.finished().len();
        let (code, told) =
            event.ask(&["event", "annul", &format!("{last}.1"), "--reason", "a lamp"]);
        assert!(code == 2 && told.contains("half of a pair decides nothing"), "{format}: {told}");
        let mut right = records(&event);
        // Nothing was played behind this game.
        let round: u32 = place.split_once('.').unwrap().0.parse().unwrap();
        right.retain(|record| {
            let kinds = ["game-started", "ply", "game-finished"];
            let late = |one: &Value| one["id"].as_str().is_some_and(|id| round_of(id) > round);
            record.get("paused").is_none() && !kinds.iter().any(|kind| late(&record[*kind]))
        });
        let game = right.iter().rfind(|record| record["game-finished"]["round"] == round).unwrap();
        let id = game["game-finished"]["id"].clone();
        let struck = json!({ "annulled": {
            "id": id, "stage": 0, "round": round, "game": 1, "then": "nothing", "reason": "x", "at": ""
        } });
        found(
            &event,
            &right,
            &[(
                &|records| records.push(struck.clone()),
                "a game was struck out that could not be: ",
            )],
        );
    }
}

/// The round in an id such as `other/match/6.1/e1/e2`.
fn round_of(id: &str) -> u32 {
    let place = id.split('/').nth(2).unwrap();
    place.split_once('.').unwrap().0.parse().unwrap()
}

fn what_a_stage_and_its_games_begin_with_is_compared() {
    let event = pool_and_final("");
    event.finish();
    let right = records(&event);
    let begin = at(&right, "stage-started", 0);
    let game = at(&right, "game-started", 0);
    let receipt = right.iter().position(|record| record.get("receipt").is_some()).unwrap();
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKB1R w KQkq - 0 1";
    let without_book = |records: &mut Vec<Value>| {
        records[begin]["stage-started"].as_object_mut().unwrap().remove("book");
    };
    found(
        &event,
        &right,
        &[
            (&|records| records[0]["header"]["event"] = json!("X"), "the event is called Other"),
            (
                &|records| records[begin]["stage-started"]["name"] = json!("Open"),
                "Open begins, and the stage there is called Pool",
            ),
            (
                &|records| records[begin]["stage-started"]["book"]["openings"] = json!([]),
                "Pool needs 1 openings of its book, and 0 were frozen",
            ),
            (
                &|records| {
                    records[0]["header"]["gate4k"] = json!("0.1.0");
                    without_book(records);
                },
                "Pool begins, and its book was not frozen",
            ),
            (
                &|records| {
                    records[0]["header"]["gate4k"] = json!("");
                    without_book(records);
                },
                "Pool begins, and its book was not frozen",
            ),
            (
                &|records| records[game]["game-started"]["start"] = json!(start),
                "has not the opening that was drawn for it",
            ),
            (
                &|records| {
                    let names = json!({ "eco": "A00" });
                    records[game]["game-started"]["opening-names"] = names;
                },
                "has other names than its book gives it",
            ),
            (
                &|records| {
                    let options = "Protocol=uci; Threads=512;";
                    records[game]["game-started"]["options"][0] = json!(options);
                },
                "plays with other options than its own",
            ),
            (
                &|records| records[receipt]["receipt"]["verdict"] = json!("undecided"),
                "the event does not admit one that is undecided",
            ),
        ],
    );
}

fn a_stage_without_a_book_has_no_openings() {
    let stage = stage("Pool", "double-round-robins = 1", "ties = \"4k\"");
    let bookless = stage.replace("book = \"book.txt\"", "book-policy = \"none\"");
    let event = event_of(3, "", &bookless);
    event.finish();
    let right = records(&event);
    let game = at(&right, "game-started", 0);
    found(
        &event,
        &right,
        &[(
            &|records| records[game]["game-started"]["opening"] = json!("a2a3"),
            "has not the opening that was drawn for it",
        )],
    );
}

/// Openings behind those of the match, for which it is played on.
fn the_openings_of_a_tie_that_is_played_on_are_those_of_the_book() {
    // The first pair is level: White makes an illegal move in both games.
    let format = "match = { pairs = 1, then = [{ pairs = 1, until = \"decisive\" }] }";
    let engines = [engine(1, &["illegal@8"]), engine(2, &["illegal@8"])].concat();
    let event = event(&engines, "", &stage("Match", format, ""));
    // It is level for ever.
    let (_, told) = event.ask(&["event", "run", "--quiet"]);
    let right = records(&event);
    let third = right.iter().position(|record| record["game-started"]["round"] == 3);
    let third = third.unwrap_or_else(|| panic!("{told}"));
    found(
        &event,
        &right,
        &[(
            &|records| records[third]["game-started"]["opening"] = json!("h2h4 h7h5"),
            "/3.1/e1/e2 has not the opening that was drawn for it",
        )],
    );
}

fn places_that_are_shared_and_ties_that_are_decided_are_compared() {
    // White loses each game, so all are level.
    let pool = |ties: &str| stage("Pool", "round-robin = { doubles = 1 }", ties);
    let event = event_with(&[8; 3], 0, &pool("ties = [\"wins\", \"shared\"]"));
    event.finish();
    let right = records(&event);
    let end = at(&right, "stage-finished", 0);
    let decided = |records: &mut Vec<Value>, order: &[&str]| {
        let decision = json!({ "stage": 0, "order": order, "reason": "x", "at": "" });
        records.insert(end, json!({ "decision": decision }));
    };
    found(
        &event,
        &right,
        &[
            (
                &|records| {
                    let outcome = records[end]["stage-finished"].as_object_mut().unwrap();
                    outcome.remove("shared").expect("a place that is shared");
                },
                "the order of Pool does not follow from its games",
            ),
            (&|records| decided(records, &["E2", "E1", "E3"]), "where they were not tied"),
        ],
    );

    let event = event_with(&[8; 3], 0, &pool("ties = [\"wins\"]"));
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert_eq!(code, 4, "{told}");
    let order = ["event", "decide", "--order", "E2,E1,E3", "--reason", "a coin"];
    let (code, told) = event.ask(&order);
    assert_eq!(code, 0, "{told}");
    event.finish();
    let right = records(&event);
    let decision = at(&right, "decision", 0);
    found(
        &event,
        &right,
        &[(
            &|records| {
                records[decision]["decision"]["order"] = json!(["E2", "E2", "E1", "E3"]);
            },
            "where they were not tied",
        )],
    );
}

fn an_update_is_of_an_engine_of_the_next_stage_between_stages() {
    let stages = stage("Pool", "double-round-robins = 1", "ties = \"4k\"\npromote = 2")
        + &stage("Final", "pairs = 1", "ties = \"4k\"\nupdates = true");
    let event = event_of(3, "", &stages);
    // Between the stages it waits for updates.
    event.ask(&["event", "run", "--quiet"]);
    event.finish();
    let right = records(&event);
    let (end, begin) = (at(&right, "stage-finished", 0), at(&right, "stage-started", 1));
    let updated = |records: &mut Vec<Value>, at: usize, entry: &str, before: Option<&str>| {
        let mut receipts = records.iter().map(|record| &record["receipt"]);
        let receipt = receipts.find(|receipt| receipt["entry"] == entry).unwrap().clone();
        let mut frozen = receipt["frozen"].clone();
        if let Some(before) = before {
            frozen["file"] = json!(before);
        }
        let update = json!({
            "entry": entry, "stage": 1, "before": frozen, "receipt": receipt, "at": ""
        });
        records.insert(at, json!({ "update": update }));
    };
    found(
        &event,
        &right,
        &[
            (&|records| updated(records, end, "E1", None), "or the one before was not over"),
            (&|records| updated(records, begin, "E3", None), "does not play in the next stage"),
            (
                &|records| updated(records, begin, "E1", Some("00")),
                "what E1 was before its update is not what played",
            ),
        ],
    );
}

/// With an odd number of engines, so that each round has its bye.
fn a_round_of_a_swiss_is_played_as_it_is_paired_and_in_its_order() {
    for format in [
        "swiss = { rounds = 3, pairing = \"monrad\", games = 2 }",
        "swiss = { rounds = 3, pairing = \"dutch\" }",
    ] {
        let event = event_of(5, "", &stage("Swiss", format, "ties = \"swiss\""));
        let text = std::fs::read_to_string(event.path("event.toml")).unwrap();
        event.write("event.toml", &text.replacen("concurrency = 2\n", "", 1));
        event.finish();
        let right = records(&event);
        let begins = |number: usize| {
            let is_game = |record: &Value| record.get("game-started").is_some();
            let games = right.iter().enumerate().filter(|(_, record)| is_game(record));
            games.map(|(at, _)| at).nth(number).unwrap()
        };
        // The first two games of the second round stand one behind the other.
        let games = right.iter().filter(|record| record["game-started"]["round"] == 1).count();
        let [second, next, rest] = [games, games + 1, games + 2].map(begins);
        let [first, after] = [0, 1].map(begins);
        found(
            &event,
            &right,
            &[
                (&|records| records[second..rest].rotate_left(next - second), "which is due first"),
                (
                    &|records| drop(records.drain(first..after)),
                    "is not the game that the schedule has there",
                ),
                (
                    &|records| {
                        let bye = records.iter_mut().rfind(|record| record.get("bye").is_some());
                        bye.unwrap()["bye"]["engine"] = json!("E1");
                    },
                    "E1 has a bye in round 3 that was not due",
                ),
            ],
        );
    }
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow games_that_are_not_due_and_stages_that_were_left_out_are_found,
        slow decisions_moves_and_entries_that_the_rules_do_not_take_are_found,
        slow start_positions_are_those_of_the_lot,
        slow half_of_a_pair_that_decides_is_not_struck_out,
        slow what_a_stage_and_its_games_begin_with_is_compared,
        slow a_stage_without_a_book_has_no_openings,
        slow the_openings_of_a_tie_that_is_played_on_are_those_of_the_book,
        slow places_that_are_shared_and_ties_that_are_decided_are_compared,
        slow an_update_is_of_an_engine_of_the_next_stage_between_stages,
        slow a_round_of_a_swiss_is_played_as_it_is_paired_and_in_its_order,
    ]
}
