//! The gate of an event: entries beside each other, told in the order of the file, and left at once when somebody wants to stop.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::starts::script;
use super::table::{Event, POOL, shipped};
use crate::trials::Test;

/// Starts, and never says a word: it is waited for as long as rule 7.4 allows.
const SILENT: &str = "#!/bin/sh\nsleep 1000\n";
/// Breaks a rule in a moment, by what no other work on the host can be behind.
const ENDS: &str = "#!/bin/sh\nsed q\n";

fn a_signal_ends_the_gate_at_once_and_the_event_goes_on_later() {
    let event = Event::new(&[("Silent", "elf"), ("Quick", "elf32")], "0.5+0.01", POOL);
    script(&event, "Silent", SILENT);
    script(&event, "Quick", ENDS);
    let mut command = event.command(&["event", "run"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    // The second has been judged while the first is still waited for.
    while !told.contains("1 of 2: ") {
        assert_ne!(err.read_line(&mut told).unwrap(), 0, "{told}");
    }
    assert!(told.contains("Quick"), "{told}");
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGTERM).unwrap();
    err.read_to_string(&mut told).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(4), "{said}{told}");
    assert!(told.contains("entries without a receipt are judged again"), "{told}");
    assert_eq!(said, "paused; `gate4k event run event.toml` goes on\n");
    assert!(event.records("receipt").is_empty());
    // The first entry in the file is told first, however long the others take.
    std::fs::copy(shipped("elf").join("engine"), event.path("Silent/engine")).unwrap();
    let (code, text) = event.ask(&["event", "run"]);
    assert_eq!(code, 1, "{text}");
    let first = text.find("Silent is ").unwrap();
    assert!(text.find("rejected   Quick").unwrap() > first, "{text}");
    assert!(text.contains("Quick did not pass the gate: the event does not begin"), "{text}");
    assert_eq!(event.records("receipt").len(), 1);
}

/// Asks for more memory than any host has before it says a word.
const BIG: &str = "#!/usr/bin/python3\nimport mmap\nmmap.mmap(-1, 1 << 46)\n";

/// The advice of `event run` works when the journal has another entry already; nothing else may change by then.
fn an_undecided_entry_is_admitted_by_the_key_that_is_advised() {
    let event = Event::new(&[("Sound", "elf"), ("Big", "elf32")], "0.5+0.01", POOL);
    script(&event, "Big", BIG);
    let admits = std::fs::read_to_string(event.path("event.toml")).unwrap();
    let text = admits.replacen("admit-undecided = true\n", "", 1);
    event.write("event.toml", &text);
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert_eq!(code, 4, "{told}");
    assert!(
        told.contains("Big could not be decided here; `admit-undecided = true` in event.toml"),
        "{told}"
    );
    assert_eq!(event.records("receipt").len(), 1);
    event.write("event.toml", &admits.replacen("0.5+0.01", "0.6+0.01", 1));
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && told.contains("changed since the event began"), "{told}");
    assert!(told.contains("`gate4k event export settings event.toml >as-it-was"), "{told}");

    event.write("event.toml", &admits);
    // It plays, and does not start: the event pauses there, and not before.
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(told.contains("changed before anything was played"), "{told}");
    assert_eq!((event.records("receipt").len(), event.records("settings").len()), (2, 1), "{told}");
    assert_eq!(event.records("stage-started").len(), 1, "{told}");
    assert_eq!(code, 4, "{told}");
    assert_eq!(event.ask(&["event", "verify"]).0, 0);

    // From now on the file stays as it is.
    event.write("event.toml", &text);
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && told.contains("changed since the event began"), "{told}");
    assert_eq!(event.ask(&["event", "verify"]).0, 1);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_signal_ends_the_gate_at_once_and_the_event_goes_on_later [Landlock],
        slow an_undecided_entry_is_admitted_by_the_key_that_is_advised [Landlock, Python3],
    ]
}
