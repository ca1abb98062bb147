//! The files of `--publish tcec=` whose contents move as an event goes on: the archive, the bracket, the crashes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use super::audience::wait_until;
use super::instants::{engine, event, event_of, stage};
use super::table::Event;

use crate::match_::engine::instant;
use crate::trials::Test;

const RUN: [&str; 5] = ["event", "run", "--quiet", "--publish", "tcec=tcec"];

fn read(event: &Event, name: &str) -> Value {
    let text =
        fs::read_to_string(event.path("tcec").join(name)).unwrap_or_else(|_| panic!("{name}"));
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{name}: {text}"))
}

/// An engine by the name of E3 that waits in its first two games until the file `go` is there, and then moves as the instant one.
/// From its third game on it loses by its first move.
fn turning(counter: &Path, go: &Path) -> String {
    let (counter, go) = (counter.display(), go.display());
    let script = format!(
        "while read -r line; do echo \"$line\"; case $line in ucinewgame*) echo x >>'{counter}';; quit*) break;; \
         esac; done | \
         '{}' illegal@20 | while read -r line; do case $line in bestmove*) n=$(wc -l <'{counter}'); \
         while [ $n -le 2 ] && [ ! -e '{go}' ]; do sleep 0.05; done; \
         [ $n -gt 2 ] && line='bestmove a1a1';; esac; echo \"$line\"; done",
        instant().display()
    );
    format!("[[engine]]\nname = \"E3\"\ncmd = \"/bin/sh\"\nargs = [\"-c\", {script:?}]\n")
}

/// The Round tags of the games in the archive, by their numbers.
fn archive(event: &Event) -> BTreeMap<u64, String> {
    let Ok(all) = fs::read_dir(event.path("tcec/archive")) else { return BTreeMap::new() };
    let games = all.filter_map(|file| {
        let path = file.unwrap().path();
        let name = path
            .file_name()?
            .to_str()?
            .strip_prefix("Other_Cup_")?
            .strip_suffix(".pgn")?
            .parse()
            .ok()?;
        let text = fs::read_to_string(&path).ok()?;
        Some((name, text.split("[Round \"").nth(1)?.split('"').next()?.to_owned()))
    });
    games.collect()
}

/// Both games of match 1 (E1 and E3) wait while match 2 (E2 and E4) is played beside them. The first is level then, and gets two
/// more games: those of the second were 3 and 4, and are 5 and 6 now.
fn a_match_that_becomes_longer_moves_the_games_behind_it_in_the_archive() {
    let pace = tempfile::tempdir().unwrap();
    let (counter, go) = (pace.path().join("games"), pace.path().join("go"));
    let engines = engine(1, &["illegal@20"])
        + &engine(2, &["illegal@40"])
        + &turning(&counter, &go)
        + &engine(4, &["illegal@12"]);
    let cup = "knockout = { bracket = \"equal-distance\", pairs = [1] }";
    let terms = "terms = { time-control = \"900+1\" }";
    let event = event(&engines, "", &stage("Cup", cup, terms));
    let text = fs::read_to_string(event.path("event.toml")).unwrap();
    event.write("event.toml", &text.replacen("concurrency = 2", "concurrency = 3", 1));
    let mut child =
        event.command(&RUN).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let before = [(3, "2.1"), (4, "2.2")].map(|(number, at)| (number, at.to_owned())).into();
    wait_until(|| archive(&event) == before);
    let open = json!([[[[null, null], [2.0, 0.0]], [[null, null]]]]);
    wait_until(|| read(&event, "Eventcrosstable.json")["results"] == open);
    fs::write(&go, "").unwrap();
    assert!(child.wait().unwrap().success());
    let rounds: BTreeMap<u64, String> = (1..)
        .zip(["1.1", "1.2", "1.3", "1.4", "2.1", "2.2", "3.1", "3.2"].map(str::to_owned))
        .collect();
    assert_eq!(archive(&event), rounds);
    // The numbers are those of the schedule beside them.
    let schedule = read(&event, "archive/Other_Cup_Schedule.sjson");
    assert_eq!(schedule, read(&event, "schedule.json"));
    for (number, row) in (1..).zip(schedule.as_array().unwrap()) {
        assert_eq!(row["Game"], number);
        let path = event.path(&format!("tcec/archive/Other_Cup_{number}.pgn"));
        let pgn = fs::read_to_string(path).unwrap();
        for side in ["White", "Black"] {
            let name = row[side].as_str().unwrap();
            assert!(pgn.contains(&format!("[{side} \"{name}\"]")), "{row}: {pgn}");
        }
    }
    let bracket = read(&event, "Eventcrosstable.json");
    assert_eq!(bracket["results"], json!([[[[3.0, 1.0], [2.0, 0.0]], [[0.0, 2.0]]]]), "{bracket}");
}

/// Of three engines the second has a bye. The bracket stays as it ended when the next stage is shown.
fn the_bracket_of_a_knockout_is_there_with_its_byes_and_its_last_result() {
    let cup = "knockout = { bracket = \"equal-distance\", pairs = [1] }";
    let stages = stage("Cup", cup, "promote = 2")
        + &stage(
            "Final",
            "match = { pairs = 1, then = [{ pairs = 1, until = \"decisive\" }] }",
            "",
        );
    let event = event_of(3, "", &stages);
    let (code, told) = event.ask(&RUN);
    assert_eq!(code, 0, "{told}");
    let told = read(&event, "Eventcrosstable.json");
    let pair =
        |a: &str, b: &str| json!([{ "name": a, "winner": true }, { "name": b, "winner": false }]);
    assert_eq!(told["teams"], json!([pair("E1", "E3"), pair("E2", "bye")]), "{told}");
    assert_eq!(told["results"], json!([[[[2.0, 0.0], [1.0, 0.0]], [[2.0, 0.0]]]]), "{told}");
    let score = |a: (&str, f64), b: (&str, f64)| {
        json!([
            { "name": a.0, "winner": true, "origscore": a.1 },
            { "name": b.0, "winner": false, "origscore": b.1 },
        ])
    };
    let matches = [
        score(("E2", 1.0), ("bye", 0.0)),
        score(("E1", 2.0), ("E3", 0.0)),
        score(("E1", 2.0), ("E2", 0.0)),
    ];
    assert_eq!(told["matchresults"], json!(matches), "{told}");
    assert_eq!(read(&event, "tournament.json")["event"], "Other: Final");
}

/// E1 crashes in each of its games: one counts, one is annulled.
fn the_crashes_are_told_with_what_was_decided_on_their_games() {
    let engines = engine(1, &["crash@20"]) + &engine(2, &["illegal@40"]);
    let event =
        event(&engines, "", &stage("League", "round-robin = { doubles = 1 }", "ties = \"s17\""));
    let (code, told) = event.ask(&RUN);
    assert_eq!(code, 0, "{told}");
    let crash = |number: u64, white: &str, black: &str, decision: &str, result: &str| {
        let killed = event.records("engine-killed");
        let ends = format!("/{number}.1/{}/{}", white.to_lowercase(), black.to_lowercase());
        let killed =
            killed.iter().find(|one| one["id"].as_str().unwrap().ends_with(&ends)).unwrap();
        json!({
            "gameno": number, "White": white, "Black": black,
            "Reason": format!("E1: {}", killed["why"].as_str().unwrap()),
            "Decision": decision, "Action": "-", "Result": result, "Log": "-",
        })
    };
    let loss = "loss";
    assert_eq!(
        read(&event, "crash.json"),
        json!([crash(1, "E1", "E2", loss, "0-1"), crash(2, "E2", "E1", loss, "1-0")])
    );
    assert_eq!(event.ask(&["event", "annul", "2.1", "--reason", "x"]).0, 0);
    let (code, told) = event.ask(&RUN);
    assert_eq!(code, 0, "{told}");
    let struck = json!([crash(1, "E1", "E2", loss, "0-1"), crash(2, "E2", "E1", "annulled", "*")]);
    assert_eq!(read(&event, "crash.json"), struck);
    assert_eq!(read(&event, "archive/Other_League_crash.xjson"), struck);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_match_that_becomes_longer_moves_the_games_behind_it_in_the_archive,
        slow the_bracket_of_a_knockout_is_there_with_its_byes_and_its_last_result,
        slow the_crashes_are_told_with_what_was_decided_on_their_games,
    ]
}
