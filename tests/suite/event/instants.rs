//! Events of trusted engines that answer at once. An engine that is to move from the ply of its name's number on loses
//! by an illegal move, so that the results are known; no game lasts long enough for rule 6.1 to end it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::processes::{descendants, wait_for_end};
use super::table::{Event, wanted};

use crate::match_::engine::instant;
use crate::seed::Chance;

/// The number of times that a runner is killed in an event, if the environment names no other number.
const KILLS: u32 = 12;

/// An event of so many engines, of which E1 beats all others, E2 all but E1, and so on.
pub(crate) fn event_of(engines: usize, more: &str, stages: &str) -> Event {
    let engines: String = (1..=engines)
        .map(|number| {
            let last = 8 + 4 * (engines - number);
            engine(number, &[&format!("illegal@{last}"), &format!("seed={number}")])
        })
        .collect();
    event(&engines, more, stages)
}

/// An event of engines E1, E2 and so on, each with the ply from which it loses. Two that lose from 67 on move at random,
/// as the seed has it.
pub(crate) fn event_with(last: &[usize], seed: usize, stages: &str) -> Event {
    let text: String = (1..)
        .zip(last)
        .map(|(number, last)| {
            engine(number, &[&format!("illegal@{last}"), &format!("seed={}", seed + number)])
        })
        .collect();
    event(&text, "", stages)
}

/// An event of these engines.
pub(crate) fn event(engines: &str, more: &str, stages: &str) -> Event {
    let event = Event { dir: tempfile::tempdir().unwrap() };
    let text = format!(
        "event = \"Other\"\ntime-control = \"20+0.1\"\ncompensation = \"100ms\"\nconcurrency = 2\n\
         {more}{engines}{stages}"
    );
    event.write("event.toml", &text);
    event.write("book.txt", &book());
    event
}

/// An engine with these arguments.
pub(crate) fn engine(number: usize, arguments: &[&str]) -> String {
    format!("[[engine]]\nname = \"E{number}\"\ncmd = {:?}\nargs = {arguments:?}\n", instant())
}

/// A match of so many pairs between two engines that take their time, and no processor's. After three moves in their
/// first game they wait until the file `go` is there, on clocks that outlast any delay of a test: so far it is under way,
/// and until then it does not end.
pub(crate) fn held_match(pairs: u32, go: &Path) -> Event {
    let engine = |number: usize| {
        let script = format!(
            "'{}' late@0:50 illegal@{} | {{ n=0; while read -r line; do case $line in bestmove*) n=$((n+1)); \
             while [ $n -gt 3 ] && [ ! -e '{}' ]; do sleep 0.05; done;; esac; echo \"$line\"; done; }}",
            instant().display(),
            30 + 4 * number,
            go.display()
        );
        format!(
            "[[engine]]\nname = \"E{number}\"\ncmd = \"/bin/sh\"\nargs = [\"-c\", {script:?}]\n"
        )
    };
    let format = format!("match = {{ pairs = {pairs} }}");
    let more = "terms = { time-control = \"900+1\" }";
    event(&[1, 2].map(engine).concat(), "", &stage("Match", &format, more))
}

/// Eighty openings that differ.
fn book() -> String {
    let white = ["a3", "b3", "c3", "d3", "e3", "f3", "g3", "h3", "c4", "d4"];
    let black = ["a6", "b6", "c6", "d6", "e6", "f6", "g6", "h6"];
    let lines = white.iter().flat_map(|white| black.map(|black| format!("{white} {black}\n")));
    lines.collect()
}

/// A stage with the book of [`event_of`].
pub(crate) fn stage(name: &str, format: &str, more: &str) -> String {
    format!("[[stage]]\nname = \"{name}\"\nformat = {{ {format} }}\nbook = \"book.txt\"\n{more}\n")
}

/// The same event, not begun.
fn twin(event: &Event) -> Event {
    let twin = Event { dir: tempfile::tempdir().unwrap() };
    for file in ["event.toml", "book.txt"] {
        fs::copy(event.path(file), twin.path(file)).unwrap();
    }
    twin
}

/// The results and moves of all games.
fn played(event: &Event) -> BTreeMap<String, [String; 3]> {
    let word = |game: &Value, key: &str| game[key].as_str().unwrap().to_owned();
    let games = event.finished().into_iter();
    games
        .map(|(id, game)| (id, ["result", "details", "moves"].map(|key| word(&game, key))))
        .collect()
}

/// The names in their order at the end of a stage.
pub(crate) fn order(event: &Event, stage: usize) -> Vec<String> {
    let order = &event.records("stage-finished")[stage]["order"];
    order.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// The finished games of each round of a stage.
pub(crate) fn rounds(games: &BTreeMap<String, Value>, stage: u64) -> BTreeMap<u64, usize> {
    let mut rounds = BTreeMap::new();
    for game in games.values().filter(|game| game["stage"] == stage) {
        *rounds.entry(game["round"].as_u64().unwrap()).or_default() += 1;
    }
    rounds
}

/// Plays an event whose runner is killed at drawn moments, and the same one undisturbed: nothing that was kept may be lost,
/// and all results and places are the same. `GATE4K_KILLS` is how often it is killed.
pub(crate) fn play_killed(event: &Event, name: &str) -> BTreeMap<String, Value> {
    let mut chance = Chance::of(name);
    let undisturbed = twin(event);
    undisturbed.finish();
    kill(event, &undisturbed, wanted("GATE4K_KILLS").unwrap_or(KILLS), &mut chance, |_| ());
    let winner = event.finish();
    let games = event.finished();
    same(event, &undisturbed);
    views(event, &games, &winner);
    games
}

/// Kills the runner of an event so often while it plays what another has played. `paused` hears all that a run says which
/// ends by itself.
pub(crate) fn kill(
    event: &Event,
    undisturbed: &Event,
    kills: u32,
    chance: &mut Chance,
    mut paused: impl FnMut(&str),
) {
    let whole = fs::metadata(undisturbed.path("event.journal")).unwrap().len();
    let length = || fs::metadata(event.path("event.journal")).map_or(0, |file| file.len());
    let mut before = BTreeMap::new();
    let mut killed = 0;
    for left in (1..=kills).rev() {
        let rest = whole.saturating_sub(length());
        let until = length() + 1 + chance.below(1 + 2 * rest / u64::from(left));
        let told = fs::File::create(event.path("told")).unwrap();
        let mut run = event.command(&["event", "run", "--quiet"]);
        let mut child = run.stdout(told.try_clone().unwrap()).stderr(told).spawn().unwrap();
        while length() < until && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(50));
        }
        let started = descendants(child.id());
        if child.try_wait().unwrap().is_none() {
            killed += 1;
            let _ = child.kill();
            child.wait().unwrap();
        } else {
            paused(&fs::read_to_string(event.path("told")).unwrap());
        }
        assert_eq!(wait_for_end(started), [], "processes are left");
        let (code, told) = event.ask(&["event", "verify"]);
        // A record that the kill has torn is told, and cut off by the next run.
        assert!(code == 0 || told.contains("is torn") || told.contains("has not begun"), "{told}");
        let now = event.finished();
        assert!(before.iter().all(|(id, game)| now.get(id) == Some(game)), "a game changed");
        before = now;
    }
    assert!(killed > 0, "no kill of {kills} found a runner");
    if wanted("GATE4K_KILLS").is_some() {
        println!("{killed} of {kills} kills found a runner");
    }
}

/// Asserts that two events had the same games, results and places.
pub(crate) fn same(event: &Event, undisturbed: &Event) {
    assert_eq!(played(event), played(undisturbed));
    for stage in 0..event.records("stage-finished").len() {
        assert_eq!(order(event, stage), order(undisturbed, stage));
    }
}

/// Asserts that all that is made of a journal can be had of a whole one.
fn views(event: &Event, games: &BTreeMap<String, Value>, winner: &str) {
    let winner = winner.trim_end().rsplit(" is over: ").next().unwrap();
    let (code, pgn) = event.ask(&["event", "export", "pgn"]);
    assert_eq!((code, pgn.matches("[Event ").count()), (0, games.len()), "{pgn}");
    let (code, status) = event.ask(&["event", "status"]);
    assert!(code == 0 && status.contains(&format!("over: {winner}")), "{status}");
    for words in
        [&["event", "export", "json"][..], &["event", "export", "html"], &["event", "plan"]]
    {
        let (code, told) = event.ask(words);
        assert_eq!(code, 0, "{told}");
    }
}
