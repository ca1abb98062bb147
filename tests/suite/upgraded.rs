//! Packages of the host that are upgraded while entries are judged or play: a new file takes the place of an old one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::event::table::{Event, POOL};
use crate::outcome::told;
use crate::trials::Test;

/// Another xz with the same abilities: a byte behind its end changes its sum and nothing else.
const OTHER_XZ: &str =
    "cp /usr/bin/xz /usr/bin/xz.new; echo >>/usr/bin/xz.new; mv /usr/bin/xz.new /usr/bin/xz";

/// A python3 of another version: the name leads to a new file, and the old one goes.
const OTHER_PYTHON: &str = "old=$(readlink -f /usr/bin/python3); cp $old /usr/bin/python3.99\n\
    ln -s python3.99 /usr/bin/python3.new; mv -T /usr/bin/python3.new /usr/bin/python3; rm $old";

/// Runs gate4k on a host of its own, whose /usr/bin can be written to, and changes that host when `until` is true.
fn while_the_host_changes(folder: &Path, until: &str, change: &str, words: &str) -> Output {
    let bin = env!("CARGO_BIN_EXE_gate4k");
    let script = format!(
        "set -e; mount -t tmpfs none /mnt; mkdir /mnt/upper /mnt/work\n\
         mount -t overlay none -o lowerdir=/usr/bin,upperdir=/mnt/upper,workdir=/mnt/work /usr/bin\n\
         ({until}; {change}) &\n\
         {bin} {words}"
    );
    Command::new("unshare")
        .args(["--mount", "--", "/bin/sh", "-c", &script])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn while_xz_is_replaced(folder: &Path, after: &str, words: &str) -> Output {
    while_the_host_changes(folder, &format!("sleep {after}"), OTHER_XZ, words)
}

/// A condition of the shell: this stands in a file.
fn once(words: &str, file: &str) -> String {
    format!("until grep -q '{words}' {file} 2>/dev/null; do sleep 0.1; done")
}

/// The shipped entry that unpacks itself with xz, under these names.
fn entries(folder: &Path, names: &[&str]) {
    for name in names {
        let place = folder.join(name);
        fs::create_dir_all(&place).unwrap();
        fs::copy("fixtures/entries/accept/c-xz/engine", place.join("engine")).unwrap();
        fs::set_permissions(place.join("engine"), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn a_check_is_judged_by_the_new_program() {
    let folder = tempfile::tempdir().unwrap();
    entries(folder.path(), &["a"]);
    // Before the first start, between starts, and in the middle of one.
    for after in ["0.1", "1", "3", "4.5"] {
        let output = while_xz_is_replaced(folder.path(), after, "check -q --format=json a");
        let document: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", told(&output)));
        let entry = &document["entries"][0];
        assert_eq!(entry["verdict"], "accepted", "after {after} s: {entry:#}");
    }
}

/// A replaced program is told in the report and in the receipt.
fn a_report_and_its_receipt_name_what_was_replaced() {
    let folder = tempfile::tempdir().unwrap();
    entries(folder.path(), &["a"]);
    let words = "check -vv --format=json --receipt=receipt.json a 2>steps";
    // The step after the look at the host.
    let until = once("handshake", "steps");
    let output = while_the_host_changes(folder.path(), &until, OTHER_XZ, words);
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", told(&output)));
    let findings = document["entries"][0]["findings"].as_array().unwrap();
    let commands = findings.iter().find(|found| found["rule"] == "commands").unwrap();
    let replaced = commands["evidence"]["replaced"].as_str().unwrap();
    assert!(replaced.split(", ").any(|name| name == "xz"), "{commands:#}");
    let receipt = fs::read_to_string(folder.path().join("receipt.json")).unwrap();
    let receipt: Value = serde_json::from_str(&receipt).unwrap();
    assert_eq!(receipt["entries"][0]["replaced"], replaced, "{receipt:#}");
}

fn a_batch_is_judged_by_the_new_program() {
    let folder = tempfile::tempdir().unwrap();
    entries(folder.path(), &["entries/a", "entries/b", "entries/c", "entries/d"]);
    let words = "check -q --no-cache --format=json --jobs=2 entries";
    let output = while_xz_is_replaced(folder.path(), "5", words);
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", told(&output)));
    let entries = document["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 4);
    for entry in entries {
        assert_eq!(entry["verdict"], "accepted", "{entry:#}");
    }
}

/// The words with which a match tells what it starts its engines by from now on.
const REPLACED: &str = "replaced on this host before";

fn a_match_goes_on_with_the_new_program() {
    let folder = tempfile::tempdir().unwrap();
    entries(folder.path(), &["a", "b"]);
    let words = "match a b --games=6 --tc=0.5+0.05 --restart --events=games";
    let until = once("game-finished", "games");
    let output = while_the_host_changes(folder.path(), &until, OTHER_XZ, words);
    let told = told(&output);
    assert!(output.status.success(), "{told}");
    assert!(!told.contains("does not start") && told.contains(REPLACED), "{told}");
    let events = fs::read_to_string(folder.path().join("games")).unwrap();
    assert!(events.contains(r#""event":"host-changed""#), "{events}");
}

fn a_match_goes_on_by_a_python_of_another_version() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        let place = folder.path().join(name);
        fs::create_dir_all(&place).unwrap();
        fs::copy("fixtures/entries/accept/python3/engine", place.join("engine")).unwrap();
    }
    let words = "match a b --games=6 --tc=0.5+0.05 --restart --events=games";
    let until = once("game-finished", "games");
    let output = while_the_host_changes(folder.path(), &until, OTHER_PYTHON, words);
    let told = told(&output);
    assert!(output.status.success(), "{told}");
    assert!(!told.contains("does not start") && told.contains(REPLACED), "{told}");
}

/// Nobody loses where a program is gone for good.
fn a_match_is_broken_off_where_a_program_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    entries(folder.path(), &["a", "b"]);
    let words = "match a b --games=6 --tc=0.5+0.05 --restart --events=games";
    let until = once("game-finished", "games");
    let output = while_the_host_changes(folder.path(), &until, "rm /usr/bin/xz", words);
    let told = told(&output);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("the match is broken off, and nobody has lost by it"), "{told}");
    let events = fs::read_to_string(folder.path().join("games")).unwrap();
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let games: Vec<Value> = events.filter(|event| event["event"] == "game-finished").collect();
    let (last, before) = games.split_last().unwrap();
    assert!(before.iter().all(|game| game["result"] != "*"), "{games:#?}");
    assert_eq!(last["result"], "*", "{last:#}");
    // It has several names.
    let words = last["details"].as_str().unwrap();
    assert!(
        words
            .split_once("replaced on this host meanwhile: ")
            .is_some_and(|(_, names)| names.split(", ").any(|name| name == "xz")),
        "{words}"
    );
}

fn an_event_goes_on_with_the_new_program_and_keeps_a_note() {
    let entries = ["A", "B", "C"].map(|name| (name, "c-xz"));
    let event = Event::new(&entries, "0.5+0.05", POOL);
    let until = once("game-started", "event.journal");
    let words = "event run --quiet event.toml";
    let output = while_the_host_changes(event.dir.path(), &until, OTHER_XZ, words);
    let told = told(&output);
    assert!(output.status.success(), "{told}");
    assert_eq!(event.finished().len(), 6, "{told}");
    let notes = event.records("note");
    let note = |note: &Value| note["text"].as_str().is_some_and(|text| text.starts_with(REPLACED));
    assert!(notes.iter().any(note), "{notes:?}\n{told}");
    assert_eq!(event.ask(&["event", "verify"]).0, 0);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_check_is_judged_by_the_new_program [Landlock, Root, Unshare, Mounts, Xz],
        slow a_report_and_its_receipt_name_what_was_replaced [Landlock, Root, Unshare, Mounts, Xz],
        slow a_batch_is_judged_by_the_new_program [Landlock, Root, Unshare, Mounts, Xz],
        slow a_match_goes_on_with_the_new_program [Landlock, Root, Unshare, Mounts, Xz],
        slow a_match_goes_on_by_a_python_of_another_version
            [Landlock, Root, Unshare, Mounts, Python3],
        slow a_match_is_broken_off_where_a_program_is_gone [Landlock, Root, Unshare, Mounts, Xz],
        slow an_event_goes_on_with_the_new_program_and_keeps_a_note
            [Landlock, Root, Unshare, Mounts, Xz],
    ]
}
