//! The program under the name and with the words that OpenBench's client starts its match runner with, and what that client reads.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use super::table::Table;

use crate::trials::Test;

/// As the client puts it together, but for limits and adjudication.
fn openbench(table: &Table, more: &str) -> Command {
    let words = format!(
        "-recover -variant standard -testEnv -concurrency 6 -rounds 3 -games 2 {more} \
         -engine dir=Engines/ cmd=./dev-1 proto=uci tc=60.00+0.10 timemargin=250 name=X-dev \
         -engine dir=Engines/ cmd=./base-1 proto=uci tc=60.00+0.10 timemargin=250 name=X-base \
         -openings file=Books/b.epd format=epd order=random start=2 -srand 7 -pgnout file=PGNs/1.2.3.0.pgn seldepth=true nodes=true"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
    command.arg0("./fastchess-ob").args(words.split_whitespace());
    command.arg("match_line=^info string pgncomment .*");
    command.current_dir(table.dir.path()).stdin(Stdio::null());
    command
}

/// The client's folders, with engines that are started without arguments.
fn folders(table: &Table, dev: &str) {
    for folder in ["Engines", "Books", "PGNs"] {
        fs::create_dir(table.path(folder)).unwrap();
    }
    for (name, words) in [("dev-1", dev), ("base-1", "seed=2")] {
        let path = table.path("Engines").join(name);
        let engine = table.engine.display();
        fs::write(&path, format!("#!/bin/sh\nexec {engine} {} {words}\n", table.mark)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let book = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1\n\
                rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1\n";
    fs::write(table.path("Books").join("b.epd"), book).unwrap();
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The number and the result of each game, taken from the lines as the client does, and the reason.
fn games(output: &Output) -> Vec<(usize, String, String)> {
    let out = text(&output.stdout);
    // The client takes an empty line for the end, and stops at a byte that is not of ASCII.
    assert!(out.is_ascii() && out.lines().all(|line| line.starts_with("Finished game ")), "{out}");
    let game = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let reason = line.split(':').nth(1).unwrap().to_owned();
        (words[2].parse().unwrap(), words[6].to_owned(), reason)
    };
    let mut games: Vec<_> = out.lines().map(game).collect();
    games.sort();
    games
}

fn the_client_reads_games_and_their_failures() {
    for (dev, reason, termination) in [
        ("crash@10", "disconnect", "abandoned"),
        ("illegal@10", "illegal", "illegal"),
        ("late@8:3000", "on time", "time forfeit"),
        ("hang@10", "stalls", "stalled"),
    ] {
        let table = Table::set("openbench");
        folders(&table, dev);
        let mut command = openbench(&table, "-resign movecount=3 score=9000");
        if dev.starts_with("late") || dev.starts_with("hang") {
            let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
            command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
            command.arg("fastchess").current_dir(table.dir.path());
            // The one that is not late has two seconds for a move of no time at all, also on a busy host.
            for word in words {
                let word = word.to_str().unwrap().replace("tc=60.00+0.10", "st=0.10");
                command.arg(word.replace("timemargin=250", "timemargin=2000"));
            }
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let games = games(&output);
        assert_eq!(games.iter().map(|game| game.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
        for (number, result, why) in &games {
            // The first engine has White in the odd games, and loses each.
            let expected = if number % 2 == 1 { "0-1" } else { "1-0" };
            assert!(result == expected && why.contains(reason), "{number} {result} {why}");
        }
        let pgn = fs::read_to_string(table.path("PGNs/1.2.3.0.pgn")).unwrap();
        assert_eq!(pgn.matches(&format!("[Termination \"{termination}")).count(), 6, "{pgn}");
        // The client deletes what is old in this folder, and expects files.
        assert_eq!(fs::read_dir(table.path("PGNs")).unwrap().count(), 1);
        assert!(pgn.contains("s, n=") && pgn.contains(", sd="), "{pgn}");
        table.nothing_is_left();
    }
}

/// The client writes a margin for each engine: one that is late within its own does not lose by the other's.
fn each_engine_has_the_margin_that_is_given_to_it() {
    let table = Table::set("openbench-margins");
    folders(&table, "late@28:3000");
    let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
    command.arg("fastchess").current_dir(table.dir.path()).stdin(Stdio::null());
    let mut margins = ["timemargin=60000", "timemargin=2500"].into_iter();
    for word in openbench(&table, "-maxmoves 15").get_args() {
        command.arg(match word.to_str().unwrap() {
            "timemargin=250" => margins.next().unwrap().to_owned(),
            other => other.replace("tc=60.00+0.10", "st=0.10"),
        });
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let games = games(&output);
    assert_eq!(games.len(), 6);
    assert!(games.iter().all(|(_, _, why)| !why.contains("on time")), "{games:?}");
    let pgn = fs::read_to_string(table.path("PGNs/1.2.3.0.pgn")).unwrap();
    let seconds = |word: &str| word.strip_suffix("s,").and_then(|time| time.parse::<f64>().ok());
    assert!(pgn.split_whitespace().filter_map(seconds).any(|time| time >= 3.0), "{pgn}");
    table.nothing_is_left();
}

/// As the client's `match_line=` asks for; its reader takes what stands between the quotes.
fn lines_for_a_data_set_stand_with_their_moves() {
    let table = Table::set("openbench-lines");
    folders(&table, "pgncomment");
    let output = openbench(&table, "-maxmoves 6").output().unwrap();
    assert_eq!((output.status.code(), games(&output).len()), (Some(0), 6));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    let pgn = fs::read_to_string(table.path("PGNs/1.2.3.0.pgn")).unwrap().replace('\n', " ");
    // Each opening is a position; the first engine has every second ply of a game, and tells how many there were before.
    for plies in 0..12 {
        let line = format!(", line=\"info string pgncomment 'plies' {plies}\"");
        assert_eq!(pgn.matches(&line).count(), 3, "{plies}: {pgn}");
    }
    assert_eq!(pgn.matches(" n=").count(), 2 * pgn.matches(" line=").count());
    table.nothing_is_left();
}

fn the_first_crash_ends_a_match_without_recovery_and_a_log_has_it() {
    let table = Table::set("openbench-crash");
    folders(&table, "crash@10");
    let words = openbench(&table, "-log file=log engine=true -ratinginterval 1");
    let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
    command.arg("fastchess").current_dir(table.dir.path()).stdin(Stdio::null());
    // More games than are under way at once, for those go on to their end: 100, one at a time.
    for word in words.get_args().filter(|word| *word != "-recover") {
        command.arg(match word.to_str().unwrap() {
            "3" => "50",
            "6" => "1",
            other => other,
        });
    }
    let output = command.output().unwrap();
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(games(&output).len() < 100, "{}", text(&output.stdout));
    assert!(
        err.contains("X-dev was lost in 1 game, as many") && err.contains("1 of 100 games"),
        "{err}"
    );
    let log = fs::read_to_string(table.path("log")).unwrap();
    assert!(log.contains(" X-dev(1) > uci\n") && log.contains(" X-base(1) < bestmove "), "{log}");
    table.nothing_is_left();
}

fn a_version_is_told_and_what_is_not_known_is_refused() {
    let table = Table::set("openbench-words");
    folders(&table, "seed=1");
    let mut version = Command::new(env!("CARGO_BIN_EXE_gate4k"));
    let version = version.arg0("./fastchess-ob").arg("--version").output().unwrap();
    assert!(text(&version.stdout).starts_with("fastchess 1.8.1"), "{}", text(&version.stdout));
    let refused = openbench(&table, "-maxmove 3").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("did you mean -maxmoves?"), "{}", text(&refused.stderr));
    assert!(refused.stdout.is_empty());
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow the_client_reads_games_and_their_failures,
        slow each_engine_has_the_margin_that_is_given_to_it,
        slow lines_for_a_data_set_stand_with_their_moves,
        slow the_first_crash_ends_a_match_without_recovery_and_a_log_has_it,
        quick a_version_is_told_and_what_is_not_known_is_refused,
    ]
}
