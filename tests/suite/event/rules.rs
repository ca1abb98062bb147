//! The decisions that the rules leave to people, and the wishes that a runner refuses.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use gate4k::model::game::ending::{GameEnding, Termination};
use serde_json::Value;
use shakmaty::Color;

use super::past::{Past, REPEATED, WHITE_MATES};
use super::table::{Event, MINIFINAL, POOL};

use crate::trials::Test;

fn a_second_runner_a_changed_entry_and_changed_settings_are_refused() {
    let entries = [("A", "elf"), ("B", "elf32")];
    // So many games that a busy host does not play them all before it hears of the pause.
    let stage = POOL.replace("double-round-robins = 1", "double-round-robins = 3");
    let event = Event::new(&entries, "5+0.1", &stage);
    let mut runner = event.start();
    let deadline = Instant::now() + Duration::from_secs(300);
    while event.records("ply").len() < 5 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let (code, text) = event.ask(&["event", "run"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("another runner is writing to"), "{text}");

    // A pause lets the game under way end.
    let (code, text) = event.ask(&["event", "pause"]);
    assert!(code == 0 && text.contains("`gate4k event run event.toml` goes on"), "{text}");
    assert_eq!(runner.wait().unwrap().code(), Some(4));
    let played = event.finished().len();
    assert!((1..6).contains(&played), "{played}");
    assert_eq!(event.records("paused").len(), 1);
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains(&format!("{played} of 6 games")), "{status}");
    assert!(status.contains("paused"), "{status}");

    let engine = event.path("A/engine");
    let before = fs::read(&engine).unwrap();
    let journal = fs::read(event.path("event.journal")).unwrap();
    let mut changed = before.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&engine, &changed).unwrap();
    let (code, text) = event.ask(&["event", "run"]);
    assert_eq!(code, 2, "{text}");
    let frozen = event.records("receipt")[0]["frozen"]["file"].as_str().unwrap().to_owned();
    assert!(text.contains("rule 4.4") && text.contains(&frozen), "{text}");
    let (code, text) = event.ask(&["event", "fix", "A", "--reason", "faster"]);
    assert!(code == 2 && text.contains("never crashed") && text.contains("rule 6.3"), "{text}");
    fs::write(&engine, &before).unwrap();

    let file = event.path("event.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("5+0.1", "6+0.1")).unwrap();
    // Those who look on are told, too, and go on.
    for (words, expected) in [
        (&["event", "run"][..], 2),
        (&["event", "status"], 0),
        (&["event", "status", "--format", "json"], 0),
        (&["event", "export", "pgn"], 0),
    ] {
        let (code, told) = event.ask(words);
        assert!(code == expected && told.contains("changed since the event began"), "{told}");
    }
    fs::write(&file, text).unwrap();
    let (_, told) = event.ask(&["event", "export", "pgn"]);
    assert!(!told.contains("changed since"), "{told}");
    assert_eq!(fs::read(event.path("event.journal")).unwrap(), journal);

    let (code, text) = event.ask(&["event", "decide", "--order", "A,B", "--reason", "x"]);
    assert!(code == 2 && text.contains("games are still to be played"), "{text}");
}

fn a_new_event_is_the_4k_event_and_mistakes_in_it_are_told_where_they_are() {
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "1+0.01", POOL);
    fs::create_dir(event.path("all")).unwrap();
    for name in ["A", "B"] {
        fs::rename(event.path(name), event.path("all").join(name)).unwrap();
    }
    let (code, text) = event.ask(&["event", "new", "--entries", "all", "new.toml"]);
    assert_eq!(code, 0, "{text}");
    let (code, text) = event.ask(&["event", "new", "--entries", "all", "new.toml"]);
    assert!(code == 2 && text.contains("cannot write new.toml"), "{text}");
    let (code, text) = event.ask(&["event", "status", "new.toml"]);
    assert!(code == 3 && text.contains("new.journal"), "{text}");
    let text = fs::read_to_string(event.path("new.toml")).unwrap();
    fs::write(event.path("new.toml"), text.replace("gate = \"full\"", "gate = \"none\"")).unwrap();
    let (code, told) = event.ask(&["event", "run", "new.toml"]);
    assert!(code == 2 && told.contains("new.toml:9:8: "), "{told}");
    // Books are looked at before anything else is done, those of later stages among them.
    fs::write(event.path("new.toml"), &text).unwrap();
    let (code, told) = event.ask(&["event", "run", "new.toml"]);
    assert!(code == 2 && told.contains("pool.pgn") && !told.contains("frozen"), "{told}");
    let text = text.replace("minifinal.pgn", "book.txt");
    fs::write(event.path("new.toml"), text.replace("pool.pgn", "book.txt")).unwrap();
    let (code, told) = event.ask(&["event", "run", "new.toml"]);
    let small = "the stage MiniFinal needs 25 openings, and book.txt has 3";
    assert!(code == 2 && told.contains(small) && !told.contains("frozen"), "{told}");
    assert_eq!(event.ask(&["event", "run", "nothing.toml"]).0, 3);
}

fn a_tied_minifinal_is_played_on_in_pairs_until_one_is_won() {
    let entries = [("A", "elf"), ("B", "python3")];
    let event = Event::new(&entries, "1+0.01", &format!("{POOL}{MINIFINAL}"));
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    past.game(1, "A", "B", WHITE_MATES);
    past.game(2, "B", "A", REPEATED);
    past.over(["A", "B"]);
    past.stage(&["B", "A"]);
    past.game(1, "B", "A", WHITE_MATES);
    past.game(2, "A", "B", WHITE_MATES);
    drop(past);
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains("MiniFinal: 2 of 4 games\nin MiniFinal; no runner"), "{status}");
    assert!(status.contains("Pool: over, 2 games: A and B go on"), "{status}");
    event.finish();
    let games: Vec<Value> = event.finished().into_values().filter(|g| g["stage"] == 1).collect();
    assert!(games.len() >= 4 && games.len().is_multiple_of(2), "{} games", games.len());
    // Every pair but the last is level.
    let points = |pair: u64| -> i64 {
        let games = games.iter().filter(|game| (game["round"].as_u64().unwrap() - 1) / 2 == pair);
        games
            .map(|game| match (game["result"].as_str().unwrap(), game["white"] == "A") {
                ("1-0", true) | ("0-1", false) => 1,
                ("1/2-1/2", _) => 0,
                _ => -1,
            })
            .sum()
    };
    let pairs = games.len() as u64 / 2;
    for pair in 0..pairs {
        assert_eq!(points(pair) != 0, pair == pairs - 1, "pair {pair} of {pairs}");
    }
}

fn a_tie_that_no_rule_breaks_waits_for_the_organisers() {
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "1+0.01", POOL);
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    past.game(1, "A", "B", REPEATED);
    past.game(2, "B", "A", REPEATED);
    drop(past);
    for _ in 0..2 {
        let (code, text) = event.ask(&["event", "run", "--quiet"]);
        assert_eq!(code, 4, "{text}");
        assert!(text.contains("A and B are tied") && text.contains("rule 3.1.7"), "{text}");
        // It says that nothing is left to ask.
        let figures = "A and B are level: points 1, direct encounter 1, Sonneborn-Berger 1.00, \
                       r-mobility 1.000000, double wins 0, average moves in won games –, average moves in \
                       lost games –";
        assert!(text.contains(figures), "{text}");
    }
    let (_, text) = event.ask(&["event", "status"]);
    let waits = "Pool: 2 of 2 games; A and B are tied, and the organisers decide (rule 3.1.7)";
    assert!(text.contains(waits), "{text}");
    let (_, text) = event.ask(&["standings", "event.journal"]);
    assert!(text.contains("level in every tie-break: the organisers decide"), "{text}");
    let (code, text) = event.ask(&["event", "decide", "--order", "B", "--reason", "x"]);
    assert!(code == 2 && text.contains("name exactly these"), "{text}");
    let (code, text) = event.ask(&["event", "decide", "--order", "B,A", "--reason", "a coin"]);
    assert_eq!(code, 0, "{text}");
    let text = event.finish();
    assert!(text.contains("Small is over: B wins"), "{text}");
    assert_eq!(event.records("decision")[0]["reason"], "a coin");
}

/// Rule 3.1 excepts the MiniFinal alone: a pool in which only two play has all its tie-breaks.
fn a_pool_of_two_that_ends_level_is_decided_by_its_tie_breaks() {
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "1+0.01", POOL);
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    // Each wins as White, A in fewer moves.
    let longer = "e2e4 e7e5 a2a3 a7a6 d1h5 b8c6 f1c4 g8f6 h5f7";
    past.game(1, "A", "B", WHITE_MATES);
    past.ended(2, "B", "A", longer, GameEnding::win(Color::White, Termination::Mate));
    drop(past);
    let decided = "A before B, both 1: average moves in won games";
    for words in [&["event", "status"][..], &["standings", "event.journal"]] {
        let (code, text) = event.ask(words);
        assert!(code == 0 && text.contains(decided), "{text}");
    }
    let text = event.finish();
    assert!(text.contains("Small is over: A wins"), "{text}");
    assert_eq!(event.records("decision").len(), 0);
}

fn an_engine_that_crashed_twice_and_promotes_may_be_fixed() {
    let entries = [("A", "elf"), ("B", "elf32")];
    let event = Event::new(&entries, "1+0.01", &format!("{POOL}{MINIFINAL}"));
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    let crash = |winner| GameEnding::win(winner, Termination::Crash { exit: None });
    past.ended(1, "A", "B", "e2e4 e7e5 g1f3", crash(Color::White));
    past.ended(2, "B", "A", "e2e4 e7e5 d2d4 d7d5", crash(Color::Black));
    past.over(["A", "B"]);
    drop(past);
    let (_, status) = event.ask(&["event", "status"]);
    // Which rule says so is another one in each event.
    assert!(status.contains("crashed: B, 2 (counted as losses)\n"), "{status}");
    let other = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/entries/accept/rules-example-1/engine");
    fs::copy(other, event.path("B/engine")).unwrap();
    let (code, text) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && text.contains("rule 4.4"), "{text}");
    let (code, text) = event.ask(&["event", "fix", "A", "--reason", "x"]);
    assert!(code == 2 && text.contains("never crashed"), "{text}");
    let (code, text) = event.ask(&["event", "fix", "B", "--reason", "no crash any more"]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(event.records("fix")[0]["crashes"], 2);
    event.finish();
}

/// As in a real event, whose engine stalled in the pool and was updated for the MiniFinal.
fn engines_may_be_updated_before_a_stage_that_says_so_through_the_gate() {
    let minifinal = MINIFINAL.to_owned() + "updates = true\n";
    let event =
        Event::new(&[("A", "elf"), ("B", "elf32")], "0.5+0.01", &format!("{POOL}{minifinal}"));
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    past.game(1, "A", "B", WHITE_MATES);
    past.game(2, "B", "A", REPEATED);
    drop(past);
    let old = fs::read(event.path("B/engine")).unwrap();
    let other = super::table::shipped("rules-example-1").join("engine");
    // Not before the stage is over.
    fs::copy(&other, event.path("B/engine")).unwrap();
    let (code, text) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && text.contains("rule 4.4"), "{text}");
    fs::write(event.path("B/engine"), &old).unwrap();
    let (code, text) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 4 && text.contains("paused before MiniFinal"), "{text}");
    // An update that does not pass the gate does not play.
    fs::write(event.path("B/engine"), "#!/bin/sh\nexit 1\n").unwrap();
    let (code, text) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 1 && text.contains("rejected"), "{text}");
    fs::copy(&other, event.path("B/engine")).unwrap();
    let text = event.finish();
    assert!(text.contains("B is accepted and frozen") || text.contains("B is undecided"), "{text}");
    let updates = event.records("update");
    assert_eq!(updates.len(), 1);
    assert_eq!(updates[0]["before"]["file"], gate4k::model::text::sha256(&old));
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains("updated before MiniFinal: B is "), "{status}");
}

/// Season 17's rule, off for the 4k event: three crashes, and all games of an engine are annulled.
fn an_engine_that_crashes_three_times_is_out_where_the_event_says_so() {
    // With three, one has a bye in each round: A-C and B's games of the first double are rounds 1 to 6.
    let entries = [("A", "elf"), ("B", "elf32"), ("C", "rules-example-1")];
    let pool = POOL.replace("double-round-robins = 1", "double-round-robins = 2");
    let stages = format!("{pool}{MINIFINAL}");
    let event = Event::with(&entries, "0.2+0.002", "crash-limit = 3\n", &stages);
    let mut past = Past::new(&event);
    past.stage(&["A", "B", "C"]);
    let crash = |winner| GameEnding::win(winner, Termination::Crash { exit: None });
    past.ended(1, "B", "C", "e2e4 e7e5 g1f3", crash(Color::Black));
    past.ended(2, "A", "B", "e2e4 e7e5 g1f3", crash(Color::White));
    past.game(3, "C", "A", REPEATED);
    past.ended(4, "C", "B", "e2e4 e7e5 g1f3", crash(Color::White));
    drop(past);
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains("B is disqualified after 3 crashes"), "{status}");
    let crashed = "crashed: B, 3 (in annulled games, which count for nobody)";
    assert!(status.contains(crashed), "{status}");
    let (code, text) = event.ask(&["event", "run", "--quiet"]);
    assert_eq!(code, 0, "{text}");
    // A and C alone play on, in the pool and in the MiniFinal.
    let games = event.finished();
    let played = games.values().filter(|game| game["stage"] == 0 && game["at"] != "");
    for game in played {
        assert!(game["white"] != "B" && game["black"] != "B", "{game}");
    }
    assert_eq!(games.values().filter(|game| game["stage"] == 0).count(), 3 + 4);
    let outcome = &event.records("stage-finished")[0];
    assert_eq!(outcome["order"][2], "B");
    assert!(!outcome["promoted"].as_array().unwrap().contains(&"B".into()), "{outcome}");
    // The pool is over, and nothing of it is waited for.
    let (_, status) = event.ask(&["event", "status"]);
    let headline = "Pool: 7 games, 2 double round robins in Berger order";
    assert!(status.contains(headline) && !status.contains("passed over"), "{status}");
    // The journal tells the limit; another one can be asked for.
    let (_, text) = event.ask(&["standings", "event.journal", "--stage", "Pool"]);
    assert!(text.contains("dq") && text.contains("all its games are annulled"), "{text}");
    let (_, text) =
        event.ask(&["standings", "event.journal", "--stage", "Pool", "--crash-limit", "4"]);
    assert!(!text.contains("dq"), "{text}");
}

/// The reverses of games that have been played come from the openings of these.
fn a_book_that_was_edited_is_refused_and_reverses_are_compared() {
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "5+0.1", POOL);
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    past.game(1, "A", "B", WHITE_MATES);
    past.game(2, "B", "A", REPEATED);
    drop(past);
    assert_eq!(event.ask(&["event", "verify"]).0, 0);
    // A journal without the book's sum is told by its games.
    fs::remove_file(event.path("event.journal")).unwrap();
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    past.game(1, "A", "B", WHITE_MATES);
    past.opening = "d2d4 d7d5";
    past.ended(2, "B", "A", "d2d4 d7d5", GameEnding::win(Color::White, Termination::Resignation));
    drop(past);
    let (code, text) = event.ask(&["event", "verify"]);
    let told = "small/pool/2.1/b/a and its reverse small/pool/1.1/a/b have different openings";
    assert!(code == 1 && text.contains(told), "{text}");

    // The program's own journal has the sum and the openings.
    fs::remove_file(event.path("event.journal")).unwrap();
    drop(Past::new(&event));
    let mut runner = event.start();
    let deadline = Instant::now() + Duration::from_secs(300);
    while event.records("ply").is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(event.ask(&["event", "pause"]).0, 0);
    assert_eq!(runner.wait().unwrap().code(), Some(4));
    let book = &event.records("stage-started")[0]["book"];
    assert_eq!(book["openings"], serde_json::json!(["e2e4 e7e5"]));
    let before = fs::read(event.path("book.txt")).unwrap();
    assert_eq!(book["sha256"], gate4k::model::text::sha256(&before));
    event.write("book.txt", "Nf3 Nf6\n");
    let (code, text) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && text.contains("book.txt changed since Pool began: SHA-256"), "{text}");
    fs::write(event.path("book.txt"), before).unwrap();
    let (code, text) = event.ask(&["event", "run", "--quiet"]);
    // Two engines of one source may play two games that are level in everything.
    assert!(code == 0 || code == 4 && text.contains("are tied"), "{text}");
    assert_eq!(event.finished().len(), 2);
    assert_eq!(event.ask(&["event", "verify"]).0, 0);
}

fn what_is_odd_about_a_book_is_told_before_the_first_game() {
    let stages = format!("{POOL}{}", MINIFINAL.replace("pairs = 1", "pairs = 3"));
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "0.5+0.01", &stages);
    event.write("book.txt", "Nf3 Nf6 g3 g6\ng3 g6 Nf3 Nf6\nd4 d5\n");
    fs::remove_file(event.path("A/engine")).unwrap();
    let (_, text) = event.ask(&["event", "run", "--quiet"]);
    for told in [
        "MiniFinal: the openings 1 and 2 of book.txt lead to the same position",
        "MiniFinal: book.txt holds no opening beyond the 3 of the match",
    ] {
        assert!(text.contains(told), "{told:?} is not in {text}");
    }
    // One note is enough for a book that has many of them.
    event.write("book.txt", "Nf3 Nf6\nNf3 Nf6\nNf3 Nf6\n");
    let (_, text) = event.ask(&["event", "run", "--quiet"]);
    let told = "1 and 2 of book.txt lead to the same position, as one more pair does";
    assert_eq!(text.matches(told).count(), 1, "{text}");
    assert_eq!(text.matches("MiniFinal: the openings ").count(), 1, "{text}");
    event.write("book.txt", "d4 d5\nf3 e5 g4 Qh4\ne4 e5\n");
    let (code, text) = event.ask(&["event", "run", "--quiet"]);
    let told = "book.txt, line 2: the game is over before an engine has moved (Black mates)";
    assert!(code == 2 && text.contains(told), "{text}");
}

fn a_plan_tells_games_hours_and_openings() {
    let stages = format!("{POOL}{}", MINIFINAL.replace("pairs = 1", "pairs = 3"));
    let entries = [("A", "elf"), ("B", "elf32"), ("C", "elf")];
    let event = Event::with(&entries, "30:00+3", "concurrency = 2\n", &stages);
    let (code, text) = event.ask(&["event", "plan"]);
    assert_eq!(code, 0, "{text}");
    // Two sides of 30 minutes and 80 times 3 seconds; three turns of two games each.
    let expected = "Small: 3 engines at 1800+3, 2 games at a time\n\
        Pool: 3 engines, 6 rounds, 6 games; up to 3h 24m\n  1 opening of book.txt, which holds 3\n\
        MiniFinal: 2 engines, 6 rounds, 6 games, and pairs until one is decisive if tied; up to 3h 24m\n  \
        3 openings of book.txt, which holds 3\n\
        in all 12 games; up to 6h 48m if each has 80 moves and uses all its time\n";
    assert_eq!(text, expected);
    event.write("book.txt", "e4 e5\n");
    let (code, text) = event.ask(&["event", "plan"]);
    assert!(code == 1 && text.contains("which holds only 1"), "{text}");
}

fn the_systemd_unit_says_what_the_program_understands() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let unit = fs::read_to_string(root.join("contrib/gate4k-event@.service")).unwrap();
    let value = |name: &str| unit.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let words: Vec<&str> = value("ExecStart=").split(' ').collect();
    assert!(words[0].ends_with("/gate4k"));
    let final_codes: Vec<&str> = value("RestartPreventExitStatus=").split(' ').collect();
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "1+0.01", POOL);
    fs::remove_file(event.path("event.toml")).unwrap();
    let (code, text) = event.ask(&words[1..]);
    assert_eq!(code, 3, "{text}");
    assert_eq!(final_codes, ["1", "3", "4"]);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_second_runner_a_changed_entry_and_changed_settings_are_refused [Landlock],
        slow a_new_event_is_the_4k_event_and_mistakes_in_it_are_told_where_they_are [Landlock],
        slow a_tied_minifinal_is_played_on_in_pairs_until_one_is_won [Landlock, Python3],
        slow a_tie_that_no_rule_breaks_waits_for_the_organisers [Landlock],
        slow a_pool_of_two_that_ends_level_is_decided_by_its_tie_breaks [Landlock],
        slow an_engine_that_crashed_twice_and_promotes_may_be_fixed [Landlock, Xz],
        slow engines_may_be_updated_before_a_stage_that_says_so_through_the_gate [Landlock, Xz],
        slow an_engine_that_crashes_three_times_is_out_where_the_event_says_so [Landlock, Xz],
        slow a_book_that_was_edited_is_refused_and_reverses_are_compared [Landlock],
        quick what_is_odd_about_a_book_is_told_before_the_first_game,
        quick a_plan_tells_games_hours_and_openings,
        quick the_systemd_unit_says_what_the_program_understands,
    ]
}
