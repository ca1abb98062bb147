//! A terminal as people have it: its width, its colours or none, and what is said while they wait. Each test opens a
//! pseudo-terminal.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use unicode_width::UnicodeWidthStr;

use crate::event::{Event, POOL};
use crate::trials::Test;

const WIDTHS: [u16; 4] = [40, 60, 80, 200];

/// Everything that a terminal of so many columns is sent.
pub(crate) fn on_terminal(columns: u16, words: &[&str], variables: &[(&str, &str)]) -> String {
    interrupted_on_terminal(columns, words, variables, None)
}

/// The same of a command that gets Ctrl-C once the terminal has been sent these words.
pub(crate) fn interrupted_on_terminal(
    columns: u16,
    words: &[&str],
    variables: &[(&str, &str)],
    interrupt: Option<&str>,
) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let nocontrol = i32::try_from(rustix::fs::OFlags::NOCTTY.bits()).unwrap();
    let slave = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(nocontrol)
        .open(name.to_str().unwrap())
        .unwrap();
    let size = Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&slave, size).unwrap();
    let stream = || Stdio::from(slave.try_clone().unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
    // With CI set, even a terminal that calls itself dumb is sent colours, since the logs of such services show them.
    for name in ["CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm-256color").args(words);
    for (name, value) in variables {
        command.env(name, value);
    }
    let mut child = command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .stdout(stream())
        .stderr(stream())
        .spawn()
        .unwrap();
    // Its streams are the last that hold the terminal, so that reading ends when they do.
    drop((slave, command));
    let mut told = Vec::new();
    // The end is told as an error (EIO), behind everything that was written.
    let mut terminal = File::from(master);
    if let Some(words) = interrupt {
        let has_words = |told: &[u8]| String::from_utf8_lossy(told).contains(words);
        let mut part = [0; 4096];
        while !has_words(&told) {
            let read = terminal.read(&mut part).expect("the words come before the end");
            told.extend(&part[..read]);
        }
        let id = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
        nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGINT).unwrap();
    }
    let _ = terminal.read_to_end(&mut told);
    child.wait().unwrap();
    String::from_utf8(told).unwrap().replace("\r\n", "\n")
}

fn stripped(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// No line is so long that a terminal would break it within a word, unless the word is longer than the line.
fn assert_whole_words(columns: u16, words: &[&str], told: &str) {
    let told = stripped(told);
    assert!(!told.trim().is_empty(), "{words:?} says nothing");
    // Of a line that is drawn anew the last drawing stays.
    for line in told.lines().map(|line| line.rsplit('\r').next().unwrap_or_default()) {
        let fits = line.width() <= usize::from(columns);
        let is_one_word = line.split_whitespace().count() <= 1;
        assert!(fits || is_one_word, "{words:?} on {columns} columns: {line:?}");
    }
}

fn fixture(path: &str) -> String {
    format!("fixtures/entries/{path}")
}

fn no_word_is_broken() {
    let (size, two) = (fixture("accept/c-xz"), fixture("reject/size-json-two-readings"));
    let pool = games();
    let commands: &[&[&str]] = &[
        &[],
        &["--help"],
        &["check", "-h"],
        &["check", "--help"],
        &["match", "--help"],
        &["event", "new", "--help"],
        &["explain"],
        &["explain", "commands"],
        &["explain", "startup"],
        &["size", &size, &two],
        &["size", "--format", "plain", &size],
        &["check"],
        &["check", "--jobs", "0", "x"],
        &["check", "/no/such/folder/with a long name/and/another/one/engine"],
        &["check", "x", "--report", "nonsense"],
        &["verify", "a", "b"],
        &["match", "name=A cmd=x hash=3", "b"],
        &["match", "a"],
        &["pack", "notes.txt", "-o", "x"],
        &["event", "status", "/no/such/event.toml"],
        &["standings", &pool],
        &["standings", "--format", "plain", &pool],
        &["ratings", &pool],
        &["ratings", "--format", "plain", &pool],
        &["size", "--hints", &size],
        &["doctor", "--allowlist", "/no/such/list.toml"],
    ];
    for columns in WIDTHS {
        for words in commands {
            assert_whole_words(columns, words, &on_terminal(columns, words, &[]));
        }
    }
}

/// Those that play, and what is told of an event with games in it.
fn no_word_is_broken_where_games_are_played() {
    let (first, second) = (fixture("accept/elf"), fixture("accept/elf32"));
    let folder = tempfile::tempdir().unwrap();
    let packed = folder.path().join("packed").to_str().unwrap().to_owned();
    let pack = ["pack", "--quick", "docs/examples/engine.c", "-o", &packed];
    let played = ["match", "--games", "2", "--max-plies", "8", "--tc", "1+0.01", &first, &second];
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "0.2+0.002", POOL);
    let file = event.path("event.toml").to_str().unwrap().to_owned();
    let commands: &[&[&str]] = &[
        &played,
        // The first run plays, the others tell that it is over.
        &["event", "run", &file],
        &["event", "plan", &file],
        &["event", "status", &file],
        &["event", "verify", &file],
    ];
    for columns in WIDTHS {
        for words in commands {
            assert_whole_words(columns, words, &on_terminal(columns, words, &[]));
        }
    }
    let told = on_terminal(40, &pack, &[]);
    assert!(stripped(&told).contains("accepted by"), "{told}");
    assert_whole_words(40, &pack, &told);
}

/// Nothing that has to be seen in columns is said to those who hear it.
fn what_is_heard_has_no_columns() {
    let pool = games();
    for words in
        [&["standings", "--format", "plain", &pool][..], &["ratings", "--format", "plain", &pool]]
    {
        let told = stripped(&on_terminal(200, words, &[]));
        for line in told.lines() {
            assert!(!line.trim_start().contains("  "), "{words:?}: {line}");
        }
    }
}

fn games() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/games/4k");
    let mut games: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    games.sort();
    games.first().unwrap().to_str().unwrap().to_owned()
}

fn no_word_of_a_report_is_broken() {
    let (good, long) = (fixture("accept/elf"), fixture("reject/commands-sed"));
    let commands: &[&[&str]] = &[
        &["doctor"],
        &["check", "--quick", "--no-cache", &long, "-v"],
        &["check", "--quick", "--no-cache", &long, &good],
        &["check", "--quick", "--no-cache", "--format", "plain", &long],
    ];
    for columns in WIDTHS {
        for words in commands {
            assert_whole_words(columns, words, &on_terminal(columns, words, &[]));
        }
    }
}

/// A line for each entry, and one now and then, is wrapped as everything else where it goes to a terminal.
fn no_word_of_progress_in_plain_lines_is_broken() {
    let (long, junk) = (fixture("reject/size-4097"), fixture("reject/format-junk"));
    let words = ["check", "--quick", "--no-cache", "--format", "plain", &long, &junk];
    let told = on_terminal(40, &words, &[]);
    assert!(told.contains("1 of 2: rejected"), "{told}");
    assert_whole_words(40, &words, &told);
}

fn the_terminals_own_width_is_used() {
    let line = |columns, variables| {
        let told = on_terminal(columns, &["explain", "size"], variables);
        stripped(&told).lines().map(UnicodeWidthStr::width).max().unwrap()
    };
    assert!((100..=200).contains(&line(200, &[])));
    assert!((50..=60).contains(&line(60, &[])));
    // A width that a shell exported before its window was made narrower must not count.
    assert!((50..=60).contains(&line(60, &[("COLUMNS", "200")])));
    assert!((50..=60).contains(&line(200, &[("COLUMNS", "60")])));
}

fn what_programs_read_is_not_broken() {
    let size = fixture("accept/c-xz");
    for words in [&["size", "--format", "json", &size][..], &["explain", "--format", "json"]] {
        let told = on_terminal(40, words, &[]);
        let document: serde_json::Value = serde_json::from_str(&told).unwrap();
        assert!(document["schema"].as_str().unwrap().starts_with("gate4k/"), "{words:?}");
    }
}

fn a_terminal_without_colours_is_sent_none() {
    let size = fixture("reject/size-4097");
    for words in
        [&["explain", "size"][..], &["size", &size], &["check"], &["chek"], &["verify", "a", "b"]]
    {
        assert!(on_terminal(80, words, &[]).contains('\x1b'), "{words:?}");
        for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
            let told = on_terminal(80, words, &[(name, value)]);
            assert!(!told.contains('\x1b'), "{words:?} with {name}={value}: {told:?}");
        }
    }
}

/// A script that answers nothing until its limit is over.
fn silent() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("silent");
    fs::write(&path, "#!/bin/sh\nsleep 99\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

fn a_person_who_waits_is_told_for_what_and_how_long() {
    let (_folder, silent) = silent();
    let words = ["check", "--quick", "--no-cache", "--startup-limit", "3s", &silent];
    let told = on_terminal(120, &words, &[]);
    assert!(told.contains("readyok within 3 s"), "{told}");
    // Each second is told to those whose terminal is as quick as that; on a busy host one of them may be left out.
    let waited = |told: &str| (1..=9).any(|time| stripped(told).contains(&format!(" {time}s  ")));
    assert!(waited(&told), "{told}");
    // Nothing is drawn anew for those who cannot see it, and on a terminal that cannot.
    for (words, term) in
        [(&[&words[..], &["--format", "plain"]].concat(), "xterm"), (&words.to_vec(), "dumb")]
    {
        let told = on_terminal(120, words, &[("TERM", term), ("NO_COLOR", "1")]);
        assert!(!told.contains('\x1b') && !told.contains('\r'), "{told:?}");
    }
}

fn a_log_is_told_now_and_then_what_is_waited_for() {
    let (_folder, silent) = silent();
    let output = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["check", "--quick", "--no-cache", "--startup-limit", "20s", &silent])
        .output()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let line = told.lines().next().unwrap_or_default();
    assert!(line.starts_with("still checking ") && line.contains("/silent ("), "{told}");
    assert!(line.contains(" s): ") && line.contains("start"), "{told}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick no_word_is_broken [Xz],
        slow no_word_is_broken_where_games_are_played [Landlock, Xz],
        quick what_is_heard_has_no_columns [Xz],
        slow no_word_of_a_report_is_broken [Landlock, Xz],
        slow no_word_of_progress_in_plain_lines_is_broken [Landlock],
        quick the_terminals_own_width_is_used,
        quick what_programs_read_is_not_broken,
        quick a_terminal_without_colours_is_sent_none,
        slow a_person_who_waits_is_told_for_what_and_how_long [Landlock],
        slow a_log_is_told_now_and_then_what_is_waited_for [Landlock],
    ]
}
