//! An event that is watched without a browser: on a terminal, in plain lines, and by relays of its PGN.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::instants::{engine, event, event_of, held_match, stage};
use super::table::Event;

use crate::trials::Test;

const ROUND_ROBIN: &str = "round-robin = { doubles = 1 }";

fn small() -> Event {
    event_of(3, "", &stage("League", ROUND_ROBIN, "ties = \"4k\""))
}

fn a_run_prints_a_line_for_each_game_and_the_table_at_each_stages_end() {
    let stages = stage("League", ROUND_ROBIN, "ties = \"4k\"\npromote = 2")
        + &stage("Final", "match = { pairs = 1 }", "from = \"League:1..2\"");
    for (more, tables) in [(&[][..], 2), (&["--table"], 8), (&["--quiet"], 0)] {
        let event = event_of(3, "", &stages);
        let (code, text) = event.ask(&[&["event", "run"], more].concat());
        assert_eq!(code, 0, "{text}");
        assert_eq!(text.lines().filter(|line| line.ends_with(" left)")).count(), 8, "{text}");
        assert_eq!(text.matches("Crosstable").count(), tables, "{more:?}: {text}");
    }
}

fn in_plain_lines_each_move_is_told_once_and_the_end_with_the_table() {
    let event = small();
    let mut watch = event
        .command(&["event", "watch"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A spectator who watches from the beginning has seen it before the first game.
    let mut told = BufReader::new(watch.stdout.take().unwrap());
    let mut text = String::new();
    told.read_line(&mut text).unwrap();
    told.read_line(&mut text).unwrap();
    event.finish();
    told.read_to_string(&mut text).unwrap();
    assert!(watch.wait().unwrap().success());
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let waits = "No runner is at work. `gate4k event run event.toml` begins the event.";
    assert!(text.starts_with(&format!("Other – Not begun.\n{waits}\n")), "{text}");
    for game in event.finished().values() {
        let place = format!("1-{}.{}", game["round"], game["game"]);
        let both = ["white", "black"].map(|side| game[side].as_str().unwrap());
        let head = format!("{place} {} – {}: ", both[0], both[1]);
        let own: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(&head)).collect();
        assert_eq!(own[0], format!("begins, League {}.{}", game["round"], game["game"]));
        let plies = event.records("ply").iter().filter(|ply| ply["id"] == game["id"]).count();
        assert_eq!(own.len(), plies + 2, "{own:#?}");
        let result = game["result"].as_str().unwrap();
        assert!(own[plies + 1].starts_with(&format!("{result}: ")), "{own:#?}");
    }
    let end = text.split("Other – Over: E1 wins.").nth(1).expect("an end");
    assert!(end.contains("6 of 6 games played") && end.contains("Crosstable"), "{end}");

    // Of an event that is over there is the end alone, and a pipe that closes is no fault.
    let (code, again) = event.ask(&["event", "watch"]);
    assert_eq!(code, 0, "{again}");
    assert!(again.starts_with("Other – Over: E1 wins.") && !again.contains("begins"), "{again}");
}

fn in_plain_lines_a_runner_that_has_gone_is_told() {
    let pace = tempfile::tempdir().unwrap();
    let go = pace.path().join("go");
    let event = held_match(1, &go);
    let mut run = event.start();
    let mut watch = event.command(&["event", "watch"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(watch.stdout.take().unwrap());
    let mut hear = |words: &str| {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            assert!(told.read_line(&mut line).unwrap() > 0, "it never said: {words}");
        }
    };
    hear(": begins, ");
    run.kill().unwrap();
    run.wait().unwrap();
    hear("No runner is at work.");
    fs::write(&go, "").unwrap();
    event.finish();
    hear("Over: ");
    assert!(watch.wait().unwrap().success());
}

fn on_a_terminal_the_board_is_drawn_anew_and_nothing_else_steers_it() {
    // One move takes so long that it is surely seen under way.
    let engines = engine(1, &["late@12:3000", "illegal@40"]) + &engine(2, &["illegal@30"]);
    let event = event(&engines, "", &stage("League", ROUND_ROBIN, "ties = \"4k\""));
    // A name that would steer it is refused before anything is shown.
    let file = fs::read_to_string(event.path("event.toml")).unwrap();
    fs::write(event.path("event.toml"), file.replace("E1", "E1\\u001b[2Jx")).unwrap();
    let (code, told) = event.ask(&["event", "watch"]);
    assert!(code == 2 && told.contains("control characters"), "{code}: {told:?}");
    assert!(!told.contains('\u{1b}'), "{told:?}");
    fs::write(event.path("event.toml"), file).unwrap();
    let program = env!("CARGO_BIN_EXE_gate4k");
    // util-linux's script gives a terminal; it is told to run one command and write no typescript.
    let mut shown = Command::new("script")
        .args(["-q", "-e", "-c", &format!("{program} event watch"), "/dev/null"])
        .current_dir(event.dir.path())
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(shown.stdout.take().unwrap());
    let mut text = String::new();
    told.read_line(&mut text).unwrap();
    event.finish();
    told.read_to_string(&mut text).unwrap();
    assert!(shown.wait().unwrap().success());
    for part in [
        "Other – Not begun. No runner is at work.",
        "Other – Under way: League.",
        // Whichever game moved last is drawn.
        ".1, 20+0.1",
        "8 ♜",
        "  a b c d e f g h    ",
        " to move",
        " ◂",
        "○ E",
        "#  Engine",
        "2 of 2 games played",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Drawn, taken back, drawn again; nothing else steers the terminal.
    assert!(text.contains("A\u{1b}[J"), "{text:?}");
    for rest in text.split('\u{1b}').skip(1) {
        let is_ours = rest.starts_with("[J")
            || rest.starts_with('[')
                && rest[1..].starts_with(|c: char| c.is_ascii_digit())
                && rest.contains('A');
        assert!(is_ours && !rest.starts_with("[2J"), "{rest:?}");
    }
    assert!(text.contains("Over: E"), "{text:?}");
    for words in [&["event", "status"][..], &["event", "watch"], &["event", "run"]] {
        let (code, told) = event.ask(words);
        assert_eq!(code, 0, "{words:?}: {told}");
        assert!(!told.contains('\u{1b}'), "{words:?}: {told:?}");
    }
}

fn a_relay_finds_every_move_and_every_end_in_the_live_pgn() {
    // One move of each game takes so long that it is surely seen under way.
    let engines = engine(1, &["late@12:1500", "illegal@40"]) + &engine(2, &["illegal@30"]);
    let event = event(&engines, "", &stage("League", ROUND_ROBIN, "ties = \"4k\""));
    let mut follow = event
        .command(&["event", "export", "pgn", "--live", "live.pgn"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut run = event.start();
    let (mut seen, mut texts) = (0, Vec::new());
    let deadline = Instant::now() + Duration::from_secs(300);
    while follow.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline);
        if let Ok(text) = fs::read_to_string(event.path("live.pgn")) {
            // Whole at any moment: each game ends with its result and a blank line.
            assert!(text.is_empty() || text.ends_with("\n\n"), "{text}");
            assert_eq!(text.matches("[Event ").count(), text.matches("[Result ").count());
            seen += usize::from(text.contains("[Result \"*\"]"));
            texts.push(text);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(run.wait().unwrap().success());
    assert!(seen > 0, "no game was seen under way");
    assert!(texts.iter().any(|text| text.contains(" [%clk 0:00:")), "{texts:#?}");
    // At the end it holds the games that ended last, with their results, and no other file is left.
    let last = fs::read_to_string(event.path("live.pgn")).unwrap();
    assert!(!last.contains("[Result \"*\"]") && last.contains("[Result \""), "{last}");
    assert!(!event.path("live.pgn.new").exists());
    // Each game stood on standard output once, as `export pgn` has it.
    let mut printed = String::new();
    follow.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    let (code, whole) = event.ask(&["event", "export", "pgn"]);
    assert_eq!(code, 0);
    let games = |text: &str| {
        let mut games: Vec<String> = text.split("[Event ").skip(1).map(str::to_owned).collect();
        games.sort();
        games
    };
    assert_eq!(games(&printed), games(&whole));
    assert!(!whole.contains("[%clk"), "{whole}");

    let (code, told) = event.ask(&["event", "export", "pgn", "--live", "no/live.pgn"]);
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("cannot write no/live.pgn"), "{told}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick a_run_prints_a_line_for_each_game_and_the_table_at_each_stages_end,
        slow in_plain_lines_each_move_is_told_once_and_the_end_with_the_table,
        slow in_plain_lines_a_runner_that_has_gone_is_told,
        slow on_a_terminal_the_board_is_drawn_anew_and_nothing_else_steers_it [Script],
        slow a_relay_finds_every_move_and_every_end_in_the_live_pgn,
    ]
}
