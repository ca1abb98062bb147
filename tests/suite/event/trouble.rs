//! The troubles that an event must survive unwatched: an engine that hangs, a clock that jumps, a disk that fills.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use gate4k::event::journal::JournalRecord;
use serde_json::Value;

use super::past::{Past, REPEATED, WHITE_MATES};
use super::table::{Event, MINIFINAL, POOL, shipped};

use crate::trials::Test;

/// Between two, and never left tied.
const MATCH: &str = "[[stage]]\nname = \"Match\"\nformat = { pairs = 2 }\n\
    book-policy = \"each\"\nbook = \"book.txt\"\ndraw = \"seeds\"\ntie-breaks = \"4k\"\n\
    promote = 1\n";

/// Makes an entry hang: a shell hands on what it is told to a packed copy of a shipped engine, until it is
/// told ten moves or more of a game that begins with a3 h6.
fn hangs(event: &Event, name: &str) {
    let packed = Command::new("xz")
        .args(["-9", "-e", "--format=lzma", "-c"])
        .arg(shipped("elf").join("engine"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(packed.status.success());
    let mut entry = format!(
        "#!/bin/sh\nT=`mktemp`\ntail -n+10 $0|xz -d>$T\nchmod +x $T\n(while read -r l;do\n\
         case $l in *a2a3?h7h6{}*)sleep 999;;esac\necho \"$l\";[ \"$l\" = quit ]&&break\ndone)|$T;rm $T\nexit\n",
        "?????".repeat(8)
    )
    .into_bytes();
    entry.extend(packed.stdout);
    assert!(entry.len() <= 4096, "{} bytes", entry.len());
    let path = event.path(name).join("engine");
    fs::write(&path, entry).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn an_engine_that_hangs_in_the_middle_loses_that_game_and_the_event_goes_on() {
    let pairs = MATCH.replace("pairs = 2", "pairs = 3");
    let event = Event::new(&[("Good", "elf32"), ("Hangs", "elf")], "0.5+0.005", &pairs);
    // The hang is due at its first move of its own, which it comes to however busy the host is.
    event.write("book.txt", "e4 e5\na3 h6 b3 g6 c3 f6 d3 e6 e3 d6\nd4 d5\n");
    hangs(&event, "Hangs");
    drop(Past::new(&event));
    let text = event.finish();
    let games: Vec<Value> = event.finished().into_values().collect();
    assert!(games.len() >= 6, "{text}");
    let mut hung = 0;
    for game in &games {
        let moves = game["moves"].as_str().unwrap();
        let plies = moves.split(' ').count();
        let to_move = if plies.is_multiple_of(2) { "white" } else { "black" };
        if moves.starts_with("a2a3 h7h6") && plies >= 10 && game[to_move] == "Hangs" {
            hung += 1;
            let winner = if game["white"] == "Good" { "1-0" } else { "0-1" };
            assert_eq!(game["result"], winner, "{game}");
            assert_eq!(game["termination"], "stalled connection", "{game}");
            let [waited, left] = [0, 1].map(|at| game["unanswered"][at].as_u64().unwrap());
            assert!(waited > left, "{game}");
        }
    }
    // As White it is to move at once; as Black only if its opponent has moved in time.
    assert!(hung > 0, "{games:?}");
    // It was ended for it, and started anew for the next game.
    let killed = event.records("engine-killed");
    assert!(killed.iter().filter(|one| one["entry"] == "Hangs").count() >= hung, "{killed:?}");
    // A hang is a crash (rules 6.2 and 6.3); so is one in another game, where the host kept it from answering.
    let stalled = games.iter().filter(|game| {
        let lost = if game["white"] == "Hangs" { "0-1" } else { "1-0" };
        game["termination"] == "stalled connection" && game["result"] == lost
    });
    let crashes = stalled.count();
    assert!(crashes >= hung, "{games:?}");
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains(&format!("crashed: Hangs, {crashes}")), "{status}");
}

/// A library that makes the wall clock jump an hour to and fro, by a day at most, with every look at it.
const JUMPING: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *at)
{
    static int (*real)(clockid_t, struct timespec *);
    static unsigned looks;
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int done = real(id, at);
    if (id == CLOCK_REALTIME) {
        unsigned look = __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED) % 24;
        at->tv_sec += look % 2 ? 3600L * look : -3600L * look;
    }
    return done;
}
"#;

fn jumping(dir: &Path) -> std::path::PathBuf {
    let (source, library) = (dir.join("jumping.c"), dir.join("jumping.so"));
    fs::write(&source, JUMPING).unwrap();
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    library
}

/// Games are timed by the monotonic clock alone; a suspended host stops that, and an NTP step does not move it.
fn a_wall_clock_that_jumps_changes_no_game() {
    let tools = tempfile::tempdir().unwrap();
    let library = jumping(tools.path());
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "0.3+0.003", MATCH);
    drop(Past::new(&event));
    let run =
        event.command(&["event", "run", "--quiet"]).env("LD_PRELOAD", &library).output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let stamps: Vec<String> = ["game-started", "game-finished"]
        .iter()
        .flat_map(|kind| event.records(kind))
        .map(|game| game["at"].as_str().unwrap().to_owned())
        .collect();
    // Where the program asks the kernel past the C library, nothing can be put in between.
    if cfg!(target_env = "gnu") {
        assert!(!stamps.is_sorted(), "the clock did not jump: {stamps:?}");
    }
    // Clocks, results and promotions follow from the times of the moves all the same.
    let (code, verified) = event.ask(&["event", "verify"]);
    assert_eq!(code, 0, "{verified}");
}

fn stamps_that_go_backwards_do_no_harm() {
    let event =
        Event::new(&[("A", "elf"), ("B", "elf32")], "0.2+0.002", &format!("{POOL}{MINIFINAL}"));
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    past.at = "2026-07-01T12:00:00.000Z";
    past.game(1, "A", "B", WHITE_MATES);
    past.at = "1969-12-31T23:59:59.000Z";
    past.game(2, "B", "A", REPEATED);
    past.over(["A", "B"]);
    past.stage(&["B", "A"]);
    past.at = "9999-12-31T23:59:59.999Z";
    past.game(1, "B", "A", WHITE_MATES);
    past.at = "no time at all";
    past.add(JournalRecord::Paused { why: "a test".into() });
    drop(past);
    let (code, status) = event.ask(&["event", "status"]);
    assert!(code == 0 && status.contains("Pool: over, 2 games"), "{status}");
    event.finish();
    let games = event.finished();
    assert!(games.len() >= 4);
    let (code, pgn) = event.ask(&["event", "export", "pgn"]);
    assert_eq!((code, pgn.matches("[GameStartTime ").count()), (0, games.len()));
    event.write("all.pgn", &pgn);
    let (code, text) = event.ask(&["standings", "all.pgn"]);
    assert_eq!(code, 0, "{text}");
}

/// Runs with at most so many bytes in a file, as a disk that is full.
fn run_with_room(event: &Event, bytes: u64) -> (i32, String) {
    let script = format!("ulimit -S -f {}; trap '' 25; exec \"$0\" event run --quiet", bytes / 512);
    let output = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_gate4k")])
        .current_dir(event.dir.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code().unwrap_or(-1), text.concat())
}

fn a_journal_that_cannot_grow_stops_the_event_and_loses_nothing() {
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "0.3+0.003", MATCH);
    drop(Past::new(&event));
    let journal = event.path("event.journal");
    let mut room = fs::metadata(&journal).unwrap().len() + 9_000;
    let mut before = event.finished();
    let mut stopped = 0;
    loop {
        let (code, text) = run_with_room(&event, room);
        let length = fs::metadata(&journal).unwrap().len();
        assert!(length <= room, "{length} of {room} bytes");
        let now = event.finished();
        for (id, game) in &before {
            assert_eq!(now.get(id), Some(game), "{id} changed");
        }
        before = now;
        if code == 0 {
            break;
        }
        stopped += 1;
        assert_eq!(code, 2, "{text}");
        for part in
            ["cannot write to the journal", "event.journal", "nothing that it holds is lost"]
        {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
        // A record that could not be kept is not there, not even in part.
        assert!(fs::read(&journal).unwrap().ends_with(b"\n"));
        room += 60_000;
        assert!(stopped < 100, "{text}");
    }
    assert!(stopped > 0, "there was room enough");
    event.finish();
}

/// The same on a file system that is really full.
fn a_full_disk_stops_the_event_and_loses_nothing() {
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "0.3+0.003", MATCH);
    drop(Past::new(&event));
    fs::create_dir(event.path("disk")).unwrap();
    // The mount is seen by this shell and what it starts, and gone with it.
    let script = "mount -t tmpfs -o size=8m none disk || exit 50\n\
        cp -r A B book.txt event.toml event.journal disk && cd disk || exit 51\n\
        cat /dev/zero >filler 2>/dev/null; truncate -s -12288 filler || exit 53\n\
        \"$0\" event run --quiet; echo \"first: $?\"\n\
        cp event.journal ..\n\
        rm filler\n\
        \"$0\" event run --quiet; echo \"second: $?\"\n\
        \"$0\" event verify; echo \"verified: $?\"\n\
        cp event.journal ../whole.journal\n";
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .arg(env!("CARGO_BIN_EXE_gate4k"))
        .current_dir(event.dir.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let text = text.concat();
    for part in ["first: 2", "No space left on device", "second: 0", "verified: 0"] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let whole = fs::read(event.path("whole.journal")).unwrap();
    assert!(whole.starts_with(&fs::read(event.path("event.journal")).unwrap()));
}

/// Rule 6.1 names time losses due to lag: what the referee did not hear because it was stopped is nobody's loss.
fn a_runner_that_was_stopped_interrupts_games_and_loses_none() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    use std::time::Instant;

    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "3+0.1", MATCH);
    drop(Past::new(&event));
    let mut runner = event.start();
    let pid = Pid::from_raw(i32::try_from(runner.id()).unwrap());
    let deadline = Instant::now() + Duration::from_secs(300);
    let mut notes = event.records("note");
    // A stop that falls between two moves takes nobody's time; then the next one is tried.
    while notes.is_empty() && Instant::now() < deadline && runner.try_wait().unwrap().is_none() {
        if !event.records("ply").is_empty() {
            kill(pid, Signal::SIGSTOP).unwrap();
            std::thread::sleep(Duration::from_secs(4));
            kill(pid, Signal::SIGCONT).unwrap();
        }
        std::thread::sleep(Duration::from_millis(300));
        notes = event.records("note");
    }
    assert_eq!(runner.wait().unwrap().code(), Some(0));
    let told = notes.first().expect("a game under way")["text"].as_str().unwrap().to_owned();
    let (id, why) = told.split_once(": ").unwrap();
    assert!(why.starts_with("Unfinished: the referee did not run for "), "{told}");
    let decided = event.records("interrupted");
    assert!(decided.iter().any(|one| one["id"] == id && one["rule"] == "6.1.5"), "{decided:?}");
    let game = &event.finished()[id];
    let termination = game["termination"].as_str().unwrap_or_default();
    assert!(!["time forfeit", "stalled connection"].contains(&termination), "{game}");
    let (code, verified) = event.ask(&["event", "verify"]);
    assert_eq!(code, 0, "{verified}");
}

fn a_game_of_a_stage_that_restarts_begins_anew_with_the_whole_clocks() {
    let restart = format!("{MATCH}terms = {{ interruption = \"restart\" }}\n");
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "1+0.01", &restart);
    let mut runner = event.start();
    while event.records("ply").len() < 3 && runner.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    runner.kill().unwrap();
    runner.wait().unwrap();
    event.finish();
    let rulings = event.records("interrupted");
    let anew = |one: &Value| one["rule"] == "restart" && one["begins-anew"] == true;
    assert!(!rulings.is_empty() && rulings.iter().all(anew), "{rulings:?}");
    let again = |one: &&Value| one["attempt"] == 2;
    let starts = event.records("game-started");
    let second = starts.iter().find(again).expect("a second attempt");
    assert_eq!(second["clocks"], serde_json::json!([1_000_000, 1_000_000]));
    let (code, verified) = event.ask(&["event", "verify"]);
    assert_eq!(code, 0, "{verified}");
    // Those who are told have the moves of the attempt that counts.
    let (code, pgn) = event.ask(&["event", "export", "pgn"]);
    assert_eq!((code, pgn.matches("[Event ").count()), (0, event.finished().len()));
}

/// One of two asks for a program that is not allowed, in a game with an opening that no check asks for.
fn a_forbidden_program_in_a_game_is_told_by_the_status() {
    let event = Event::new(&[("Good", "elf32"), ("Asks", "elf")], "5+0.05", MATCH);
    event.write("book.txt", "a3 h6 b3 g6 c3 f6\na3 h6 b3 g6 c3 e6\n");
    let entry = shipped("elf").join("../../reject/commands-at-move-ten/engine");
    let text = fs::read_to_string(entry).unwrap();
    let secret = text.replace("18 <= ply < 22", "ply == 10 and moves[:2] == ['a2a3', 'h7h6']");
    assert_ne!(secret, text);
    let path = event.path("Asks").join("engine");
    fs::write(&path, secret).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let text = event.finish();
    let notes = event.records("note");
    let told = notes.iter().find(|one| one["rule"] == "7.5, 7.8").expect("a note of the rule");
    let words = told["text"].as_str().unwrap();
    assert!(words.starts_with("Asks in ") && words.contains("uname"), "{words}");
    assert!(text.contains(words), "{text}");
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains(&format!("against the rules: {words}")), "{status}");
    let (code, verified) = event.ask(&["event", "verify"]);
    assert_eq!(code, 0, "{verified}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow an_engine_that_hangs_in_the_middle_loses_that_game_and_the_event_goes_on [Landlock, Xz],
        slow a_forbidden_program_in_a_game_is_told_by_the_status [Landlock, Python3],
        slow a_runner_that_was_stopped_interrupts_games_and_loses_none [Landlock],
        slow a_game_of_a_stage_that_restarts_begins_anew_with_the_whole_clocks [Landlock],
        slow a_wall_clock_that_jumps_changes_no_game [Landlock],
        slow stamps_that_go_backwards_do_no_harm [Landlock],
        slow a_journal_that_cannot_grow_stops_the_event_and_loses_nothing [Landlock],
        slow a_full_disk_stops_the_event_and_loses_nothing [Landlock, Mounts],
    ]
}
