//! Events of the other formats, played whole by trusted engines that answer at once, each killed and gone on with.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::processes::{descendants, wait_for_end};
use super::table::{Event, shipped};

use crate::match_::engine::instant;
use crate::trials::Test;

const MOVES: [&str; 10] = ["a3", "b3", "c3", "d3", "e3", "f3", "g3", "h3", "c4", "d4"];

/// An event of so many trusted engines. The engine `Ei` loses to all with a smaller number: who plays an illegal move
/// first has lost.
fn event_of(engines: usize, more: &str, stages: &str) -> Event {
    let event = Event { dir: tempfile::tempdir().unwrap() };
    let mut text = format!(
        "event = \"Other\"\ntime-control = \"20+0.1\"\ncompensation = \"100ms\"\nconcurrency = 2\n{more}"
    );
    for number in 1..=engines {
        text += &engine(number, engines);
    }
    event.write("event.toml", &(text + stages));
    event.write("book.txt", &book());
    event
}

fn engine(number: usize, engines: usize) -> String {
    let last = 8 + 4 * (engines - number);
    format!(
        "[[engine]]\nname = \"E{number}\"\ncmd = {:?}\nargs = [\"illegal@{last}\", \"seed={number}\"]\n",
        instant()
    )
}

fn book() -> String {
    let black = ["a6", "b6", "c6", "d6", "e6", "f6", "g6", "h6"];
    let lines = MOVES.iter().flat_map(|white| black.map(|black| format!("{white} {black}\n")));
    lines.collect()
}

/// Plays an event whose runner is killed each time the journal has grown by so much, and checks that nothing which was
/// kept is lost.
fn play_killed(event: &Event, bytes: u64) -> BTreeMap<String, Value> {
    let length = || fs::metadata(event.path("event.journal")).map_or(0, |file| file.len());
    let mut before = BTreeMap::new();
    let mut killed = 0;
    for _ in 0..5 {
        let until = length() + bytes;
        let mut child = event.start();
        while length() < until && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let started = descendants(child.id());
        killed += u32::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
        assert_eq!(wait_for_end(started), [], "processes are left");
        let (code, told) = event.ask(&["event", "verify"]);
        // A record that the kill has torn is told, and cut off by the next run.
        assert!(code == 0 || told.contains("is torn"), "{told}");
        let now = event.finished();
        assert!(before.iter().all(|(id, game)| now.get(id) == Some(game)), "a game changed");
        before = now;
    }
    assert!(killed >= 3, "{killed} of 5 kills found a runner");
    let text = event.finish();
    assert!(text.ends_with("E1 wins\n"), "{text}");
    let games = event.finished();
    assert!(before.iter().all(|(id, game)| games.get(id) == Some(game)), "a game changed");
    let (code, pgn) = event.ask(&["event", "export", "pgn"]);
    assert_eq!((code, pgn.matches("[Event ").count()), (0, games.len()), "{pgn}");
    let (code, status) = event.ask(&["event", "status"]);
    assert!(code == 0 && status.contains("over: E1 wins"), "{status}");
    for words in
        [&["event", "export", "json"][..], &["event", "export", "html"], &["event", "plan"]]
    {
        let (code, told) = event.ask(words);
        assert_eq!(code, 0, "{told}");
    }
    games
}

fn order(event: &Event, stage: usize) -> Vec<String> {
    let order = &event.records("stage-finished")[stage]["order"];
    order.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn rounds(games: &BTreeMap<String, Value>, stage: u64) -> BTreeMap<u64, usize> {
    let mut rounds = BTreeMap::new();
    for game in games.values().filter(|game| game["stage"] == stage) {
        *rounds.entry(game["round"].as_u64().unwrap()).or_default() += 1;
    }
    rounds
}

fn stage(name: &str, format: &str, more: &str) -> String {
    format!("[[stage]]\nname = \"{name}\"\nformat = {{ {format} }}\nbook = \"book.txt\"\n{more}\n")
}

fn a_swiss_with_byes_is_played_killed_and_verified() {
    let format = "swiss = { rounds = 4, pairing = \"monrad\", sections = 2 }";
    let event = event_of(7, "", &stage("Swiss", format, "ties = \"swiss\""));
    let games = play_killed(&event, 9_000);
    assert_eq!(rounds(&games, 0), (1..=4).map(|round| (round, 6)).collect());
    let byes = event.records("bye");
    let engines: std::collections::BTreeSet<&str> =
        byes.iter().map(|bye| bye["engine"].as_str().unwrap()).collect();
    assert_eq!((byes.len(), engines.len()), (4, 4), "{byes:?}");
    // Nobody meets twice; a bye counts as two won games in every table.
    let meetings: std::collections::BTreeSet<[String; 2]> = games
        .values()
        .map(|game| {
            let mut both = ["white", "black"].map(|side| game[side].as_str().unwrap().to_owned());
            both.sort();
            both
        })
        .collect();
    assert_eq!(meetings.len(), 12);
    let total = |table: &str| {
        let table: Value = serde_json::from_str(table).unwrap();
        let rows = table["standings"].as_array().unwrap();
        rows.iter().map(|row| row["points"].as_f64().unwrap()).sum::<f64>()
    };
    let (code, table) = event.ask(&["standings", "event.journal", "--format", "json"]);
    assert_eq!(code, 0, "{table}");
    assert!((total(&table) - 32.0).abs() < 0.1, "{table}");
}

fn a_cup_is_played_killed_and_verified() {
    let format =
        "knockout = { bracket = \"equal-distance\", pairs = [1, 2], bronze = 1, early = true }";
    let event = event_of(8, "", &stage("Cup", format, ""));
    let games = play_killed(&event, 9_000);
    // Two matches are played at a time, and each ends as soon as it is decided: at 2-0 of one pair, at 3-0 of two.
    let lengths: Vec<usize> = rounds(&games, 0).into_values().collect();
    assert_eq!(lengths, [2, 2, 2, 2, 3, 3, 2, 3]);
    assert_eq!(order(&event, 0)[..3], ["E1", "E2", "E3"]);
    // The lower seed has White first; no two matches have the same openings.
    let openings: std::collections::BTreeSet<(u64, String)> = games
        .values()
        .map(|game| {
            let opening = game["moves"].as_str().unwrap().split(' ').take(2).collect();
            (game["round"].as_u64().unwrap(), opening)
        })
        .collect();
    let distinct: std::collections::BTreeSet<&String> =
        openings.iter().map(|(_, opening)| opening).collect();
    assert_eq!(openings.len(), distinct.len());
}

fn leagues_feed_a_final_league_and_a_match() {
    let league = |name: &str, engines: &str| {
        let more = format!("ties = \"frd\"\nengines = [{engines}]");
        stage(name, "round-robin = { doubles = 1 }", &more)
    };
    let stages = league("League A", "\"E1\", \"E4\", \"E5\"")
        + &league("League B", "\"E2\", \"E3\", \"E6\"")
        + &stage(
            "Final League",
            "round-robin = { doubles = 1, order = \"rotation\" }",
            "from = [\"League A:1..2\", \"League B:1..2\"]\nties = [\"direct-encounter\", \"organisers\"]",
        )
        + &stage(
            "Final",
            "match = { pairs = 2, early = true, then = [{ pairs = 1, until = \"decisive\" }] }",
            "from = \"Final League:1..2\"\nseating = \"reversed-ranking\"",
        );
    let event = event_of(6, "", &stages);
    let games = play_killed(&event, 9_000);
    assert_eq!(order(&event, 2), ["E1", "E2", "E3", "E4"]);
    assert_eq!(rounds(&games, 3).len(), 3);
    // The winner of the league has Black first.
    let first = games.values().find(|game| game["stage"] == 3 && game["round"] == 1).unwrap();
    assert_eq!(first["black"], "E1");
    let (code, table) = event.ask(&["standings", "event.journal", "--stage", "League B"]);
    assert!(code == 0 && table.contains("E6"), "{table}");
}

fn a_dutch_swiss_and_a_playoff_are_played() {
    let dutch = "swiss = { rounds = 3, pairing = \"dutch\" }";
    let stages = stage("Stage 1", dutch, "ties = \"ntcec-stage1\"\npromote = 1")
        + &stage(
            "Playoff",
            "playoff = { doubles = 1, spots = 1 }",
            "engines = [\"E1\", \"E2\", \"E3\"]",
        );
    let stages = stages.replacen(
        "promote = 1",
        "engines = [\"E4\", \"E5\", \"E6\", \"E7\", \"E8\", \"E9\", \"E10\"]",
        1,
    );
    let event = event_of(10, "", &stages);
    let games = play_killed(&event, 5_000);
    assert_eq!(rounds(&games, 0), (1..=3).map(|round| (round, 3)).collect());
    assert_eq!(event.records("bye").len(), 3);
    assert_eq!(order(&event, 1)[0], "E1");
}

fn an_entry_plays_beside_trusted_engines_and_both_are_frozen() {
    let event = event_of(
        2,
        "gate = \"quick\"\nadmit-undecided = true\n",
        &format!(
            "[[entry]]\nname = \"Entry\"\npath = \"entry\"\nseed = 1\n{}",
            stage("Cup", "knockout = { pairs = [1], early = true }", "")
        ),
    );
    fs::create_dir(event.path("entry")).unwrap();
    fs::copy(shipped("elf").join("engine"), event.path("entry").join("engine")).unwrap();
    fs::copy(instant(), event.path("program")).unwrap();
    let text = fs::read_to_string(event.path("event.toml")).unwrap();
    let text = text.replace(&format!("{:?}", instant()), "\"program\"");
    event.write("event.toml", &text);
    let winner = event.finish();
    assert!(winner.ends_with("Entry wins\n"), "{winner}");
    let receipts = event.records("receipt");
    let verdicts: Vec<&str> =
        receipts.iter().map(|receipt| receipt["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts.iter().filter(|verdict| **verdict == "trusted").count(), 2);
    // A program that changed stops the event, as an entry does.
    let journal = fs::read_to_string(event.path("event.journal")).unwrap();
    let unfinished: Vec<&str> =
        journal.lines().take_while(|line| !line.contains("\"stage-finished\"")).collect();
    event.write("event.journal", &(unfinished.join("\n") + "\n"));
    let mut program = fs::read(event.path("program")).unwrap();
    program.push(0);
    fs::write(event.path("program"), program).unwrap();
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && told.contains("the file of E1 changed since it was frozen"), "{told}");
}

fn what_cannot_be_played_is_refused_with_a_word() {
    let swiss = "swiss = { rounds = 4, pairing = \"monrad\" }";
    for (engines, format, more, expected) in [
        (
            4,
            swiss,
            "ties = \"swiss\"",
            "a Swiss of 4 rounds is of 5 to 1000 engines, and here are 4",
        ),
        (
            8,
            "knockout = { bracket = \"edps8-rrc\", pairs = [2] }",
            "",
            "is of 32 engines, and here are 8",
        ),
        (3, "match = { pairs = 2 }", "", "a match is between two engines, and here are 3"),
        (2, "playoff = { spots = 2 }", "", "a playoff for 2 spots is of 3 to 1000 engines"),
        (5, swiss, "", "what breaks ties?"),
        (5, swiss, "ties = \"swiss\"\nvariant = \"chess960\"", "the classical start position only"),
        (5, swiss, "ties = \"swiss\"\nfrom = \"A:1..2\"", "no stage \"A\" stands before this one"),
        (5, swiss, "ties = \"swiss\"\nengines = [\"E1\", \"E0\"]", "is called \"E0\""),
        (
            5,
            swiss,
            "ties = \"swiss\"\nbook-policy = \"first-bookless\"",
            "only double-round-robins",
        ),
    ] {
        let event = event_of(engines, "", &stage("S", format, more));
        let (code, told) = event.ask(&["event", "run", "--quiet"]);
        assert!(code == 2 && told.contains(expected), "{expected:?} is not in {told}");
        assert!(!event.path("event.journal").exists());
    }
    let event = event_of(5, "crash-limit = 3\n", &stage("S", swiss, "ties = \"swiss\""));
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && told.contains("crash-limit is for round robins"), "{told}");
    // A book too short is told before the first game.
    let event = event_of(5, "", &stage("S", swiss, "ties = \"swiss\""));
    event.write("book.txt", "e4 e5\nd4 d5\n");
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && told.contains("needs 8 openings") && told.contains("has 2"), "{told}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_swiss_with_byes_is_played_killed_and_verified,
        slow a_cup_is_played_killed_and_verified,
        slow leagues_feed_a_final_league_and_a_match,
        slow a_dutch_swiss_and_a_playoff_are_played,
        slow an_entry_plays_beside_trusted_engines_and_both_are_frozen [Landlock],
        slow what_cannot_be_played_is_refused_with_a_word,
    ]
}
