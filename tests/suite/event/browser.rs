//! The pages in a real browser: `tests/suite/event/browser.py` drives Chromium, and the events that it looks at are made here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::instants::{event, event_of, event_with, stage};
use super::table::{Event, shipped};

use crate::match_::engine::instant;
use crate::needs::{installed, python};
use crate::trials::Test;

/// An engine that takes its time over each move until a file is there.
fn slow(number: usize, last: usize, pace: &Path) -> String {
    let script = format!(
        "'{}' illegal@{last} seed={number} spam:3 | while read -r line; do \
         case $line in bestmove*) [ -e '{}' ] || sleep 0.5;; esac; echo \"$line\"; done",
        instant().display(),
        pace.display()
    );
    format!("[[engine]]\nname = \"E{number}\"\ncmd = \"/bin/sh\"\nargs = [\"-c\", {script:?}]\n")
}

/// The front page of a finished event's site.
fn site(event: &Event) -> PathBuf {
    event.finish();
    let (code, text) = event.ask(&["event", "export", "site", "site"]);
    assert_eq!(code, 0, "{text}");
    event.path("site/index.html")
}

/// A report on an entry that is accepted and on one that castles through check.
fn report(event: &Event) -> PathBuf {
    let rejected = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/entries/reject/legal-moves-castle-through");
    for (name, entry) in [("good", shipped("c-xz")), ("bad", rejected)] {
        fs::create_dir(event.path(name)).unwrap();
        fs::copy(entry.join("engine"), event.path(name).join("engine")).unwrap();
    }
    let check = ["check", "-q", "--quick", "--no-cache", "--report", "html=check.html"];
    let (code, text) = event.ask(&[&check[..], &["good", "bad"]].concat());
    assert_eq!(code, 1, "{text}");
    event.path("check.html")
}

fn an_event_is_watched_in_a_browser_from_before_its_first_game_to_its_end() {
    let pace = tempfile::tempdir().unwrap();
    let fast = pace.path().join("fast");
    // Each game takes half a minute, so that the event outlasts what is watched on a busy host; then the engines are told to be fast.
    let engines: String = (1..=6).map(|number| slow(number, 72 - 4 * number, &fast)).collect();
    let watched = event(
        &engines,
        "",
        &(stage("League", "round-robin = { doubles = 1 }", "ties = \"4k\"\npromote = 2")
            + &stage("Final", "match = { pairs = 1 }", "from = \"League:1..2\"")),
    );
    let cup = "knockout = { bracket = \"equal-distance\", pairs = [1], bronze = 1, early = true }";
    let swiss = "swiss = { rounds = 2, pairing = \"monrad\" }";
    let cup = event_of(6, "", &stage("Cup", cup, ""));
    let swiss = event_with(&[32, 28, 24, 20, 16], 10, &stage("Swiss", swiss, "ties = \"swiss\""));
    let crash =
        super::instants::engine(1, &["crash@20"]) + &super::instants::engine(2, &["illegal@40"]);
    // A name that leaves a phone no room beside it.
    let crash = crash.replace("\"E1\"", &format!("\"E{}1\"", "x".repeat(50)));
    let crash = event(&crash, "", &stage("Match", "match = { pairs = 1 }", ""));

    let output = Command::new(python())
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/event/browser.py"))
        .args([env!("CARGO_BIN_EXE_gate4k").as_ref(), watched.dir.path(), &fast])
        .arg(installed("chromium").unwrap())
        .args([report(&watched), site(&cup), site(&swiss), site(&crash)])
        .env("HOME", pace.path())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&text));
    // All that it says on its way, for who asks for it by the test's name.
    println!("{}", String::from_utf8_lossy(&text));
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow an_event_is_watched_in_a_browser_from_before_its_first_game_to_its_end
            [Landlock, Xz, Chromium, Playwright],
    ]
}
