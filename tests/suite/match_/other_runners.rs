//! The options that other runners have, too: the log, the pause, strikes, the table now and then, seeds; and the folder of a crash.

use std::fs;
use std::process::{Command, Stdio};

use super::table::Table;

use crate::trials::Test;

/// Lines of a log without their times, for one game and engine.
fn of<'a>(log: &'a str, who: &str) -> Vec<&'a str> {
    let line = |line: &'a str| line.trim_start().split_once(' ')?.1.strip_prefix(who);
    log.lines().filter_map(line).map(str::trim_start).collect()
}

fn the_log_has_the_dialogue_of_every_engine() {
    let table = Table::set("log");
    let log = table.path("log");
    let script = "echo warm >&2\nENGINE crash@8\n";
    let engines = [table.wrapped("A", script), table.engine("B", "seed=2")];
    let more = ["--log", log.to_str().unwrap(), "--rounds", "2", "--concurrency", "2"];
    let played = table.play(&engines, &more);
    assert_eq!((played.code, played.games().len()), (0, 4), "{}", played.err);
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.starts_with("# gate4k "), "{log:.80}");
    for game in played.games() {
        let number = game["game"].as_u64().unwrap() + 1;
        let own = of(&log, &format!("A({number})"));
        // Started in each game, since it was lost in the one before.
        assert_eq!(own.iter().filter(|line| **line == "> uci").count(), 1, "{own:?}");
        assert!(own.contains(&"! warm") && own.contains(&"> isready"), "{own:?}");
        let other = of(&log, &format!("B({number})"));
        // Each move of the game was asked for and said, with nothing between that is of another game.
        let moves = game["moves"].as_array().unwrap();
        let mut said =
            moves.iter().map(|one| format!("< bestmove {}", one["uci"].as_str().unwrap()));
        assert!(said.all(|line| own.contains(&&*line) || other.contains(&&*line)), "{other:?}");
        let asked = |lines: &[&str]| lines.iter().filter(|line| line.starts_with("> go ")).count();
        // The question that was answered by a crash is the one that has no move.
        assert_eq!(asked(&own) + asked(&other), moves.len() + 1);
    }
    let output = table.command(&engines, &["--log", "/nowhere/log"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write /nowhere/log"));
}

/// Two games at a time between engines that answer at once: more lines than one thread writes, and none is lost.
fn the_log_of_engines_that_answer_at_once_is_whole() {
    let table = Table::set("whole-log");
    let log = table.path("log");
    let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
    command
        .arg("match")
        .args([table.engine("A", "seed=1 spam:5"), table.engine("B", "seed=2 spam:5")]);
    command.args([
        "-q",
        "--rounds",
        "60",
        "--concurrency",
        "2",
        "--max-plies",
        "200",
        "--tc",
        "600+1",
    ]);
    let output = command.arg("--log").arg(&log).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let log = fs::read_to_string(&log).unwrap();
    let count = |part: &str| log.matches(part).count();
    assert_eq!(count(" lines are missing"), 0);
    assert!(
        count(" > go ") > 10_000 && count(" > go ") == count(" < bestmove "),
        "{}",
        count(" > go ")
    );
    assert_eq!(count(" < info "), 6 * count(" > go "));
}

/// A least time, which no busy host makes shorter.
fn a_pause_comes_between_two_games() {
    let table = Table::set("wait");
    let engines = [table.engine("A", "seed=1"), table.engine("B", "seed=2")];
    let played = table.play(&engines, &["--wait", "300ms"]);
    let games = played.games();
    assert_eq!((played.code, games.len()), (0, 2), "{}", played.err);
    let moves = |game: usize| games[game]["moves"].as_array().unwrap();
    let heard = moves(0).last().unwrap()["heard"].as_u64().unwrap();
    let sent = moves(1)[0]["sent"].as_u64().unwrap();
    assert!(sent >= heard + 300_000, "{heard} {sent}");
}

/// The file that ends the match is there before its first game has ended.
fn a_pause_ends_with_the_match() {
    let table = Table::set("long-wait");
    let until = table.path("until");
    let script = format!("touch {}\nENGINE\n", until.display());
    let engines = [table.wrapped("A", &script), table.engine("B", "seed=2")];
    let more = ["--rounds", "3", "--wait", "1day", "--until", until.to_str().unwrap()];
    let played = table.play(&engines, &more);
    assert_eq!((played.code, played.games().len()), (0, 1), "{}", played.err);
}

fn strikes_end_a_match_that_goes_on_by_its_journal() {
    let table = Table::set("strikes");
    let journal = table.path("journal");
    let play = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        command.arg("match").args([table.engine("A", "seed=1"), table.engine("B", "crash@9")]);
        command.args(["--rounds", "10", "--journal"]).arg(&journal).args(more);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let kept = || fs::read_to_string(&journal).unwrap_or_default().matches("{\"game\":{").count();
    // It is a word on the engine and no trouble of the host, so that another try changes nothing: it begins no game.
    for (strikes, of_all) in [("3", 3), ("3", 3), ("7", 7)] {
        let before = kept();
        let (code, out, err) = play(&["--strikes", strikes]);
        assert_eq!(code, Some(1), "{out}{err}");
        let words = format!("note: B was lost in {strikes} games, as many as --strikes allows");
        assert_eq!(err.matches(&words).count(), 1, "{err}");
        // Those of the tries before are counted, and a game that was under way is finished.
        let played = out.matches("Finished game").count();
        assert_eq!((kept(), played > 0), (before + played, before < of_all), "{out}");
        assert!(kept() >= of_all && kept() < 20, "{before} {}", kept());
    }
    // The rest is played where engines are started again, which is the default.
    let (code, out, err) = play(&[]);
    assert_eq!((code, kept()), (Some(0), 20), "{err}");
    let line = out.lines().find(|line| line.starts_with("A ")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["A", "20", "20", "20", "0", "0"]);
    table.nothing_is_left();
}

fn the_table_is_told_after_each_so_many_games() {
    let table = Table::set("interval");
    let engines = [table.engine("A", "illegal@6"), table.engine("B", "")];
    let played = table.play(&engines, &["--rounds", "3", "--rating-interval", "2", "--quiet"]);
    assert_eq!(played.code, 0, "{}", played.err);
    let told: Vec<Vec<&str>> =
        played.err.lines().map(|line| line.split_whitespace().collect()).collect();
    let scores: Vec<&str> = told.iter().filter(|line| line[0] == "B").map(|line| line[1]).collect();
    assert_eq!(scores, ["2/2", "4/4", "6/6"], "{}", played.err);
    assert!(told[0].starts_with(&["2", "of", "6", "games,"]), "{}", played.err);
    assert!(!played.out.contains("Finished game"), "{}", played.out);
}

fn seeds_meet_the_others_and_not_one_another() {
    let table = Table::set("seeds");
    let engines = ["A", "B", "C", "D"].map(|name| table.engine(name, "illegal@6"));
    let gauntlet = ["--schedule", "gauntlet", "--seeds", "2", "--games", "1"];
    let played = table.play(&engines, &gauntlet);
    assert_eq!(played.code, 0, "{}", played.err);
    let mut met: Vec<[u64; 2]> = played
        .games()
        .iter()
        .map(|game| [&game["white"], &game["black"]].map(|engine| engine.as_u64().unwrap()))
        .map(|mut both| {
            both.sort_unstable();
            both
        })
        .collect();
    met.sort_unstable();
    assert_eq!(met, [[0, 2], [0, 3], [1, 2], [1, 3]]);
    for (more, words) in [
        (&["--seeds", "2"][..], "give --schedule gauntlet"),
        (&["--rounds", "18446744073709551615"], "a match has 10000000 at most"),
        (&["--schedule", "gauntlet", "--seeds", "4"], "leaves no opponent"),
    ] {
        let output = table.command(&engines, more).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && err.contains(words), "{err}");
    }
    // A journal is of the same seeds, and its merge knows them.
    let journal = table.path("journal");
    let run = |command: &str, more: &[&str]| {
        let engines: &[String] = if command == "match" { &engines } else { &[] };
        let mut run = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        run.arg(command).args(engines).args(more).stdin(Stdio::null()).output().unwrap()
    };
    let kept = [&gauntlet[..], &["--journal", journal.to_str().unwrap()]].concat();
    let one = run("match", &kept);
    let merged = run("merge", &[journal.to_str().unwrap()]);
    assert_eq!((one.status.code(), one.stdout), (Some(0), merged.stdout));
    let other = run("match", &[&kept[..2], &kept[4..]].concat());
    assert!(String::from_utf8_lossy(&other.stderr).replace('\n', " ").contains("seeds is 2 and 1"));
}

/// The lines of the folder bring the engine to the move at which it crashed, and no further.
fn a_crash_leaves_a_folder_beside_the_games() {
    let table = Table::set("crash-folder");
    let book = table.path("book.epd");
    fs::write(&book, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1\n").unwrap();
    let script = "echo before >&2\nENGINE crash@8\n";
    let engines = [table.wrapped("A", script), table.engine("B", "seed=2")];
    let more = ["--tc", "60+1", "--openings", book.to_str().unwrap()];
    let played = table.play(&engines, &more);
    assert_eq!(
        (played.code, played.out.matches(" disconnects}").count()),
        (0, 2),
        "{}",
        played.out
    );
    assert!(played.err.contains("what is known of the crash is in "), "{}", played.err);
    for game in ["1", "2"] {
        let folder = table.path("pgn.crashes").join(game);
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let told = read("crash.txt");
        assert!(
            told.starts_with("A was ended: ") && told.contains("gate4k match: game "),
            "{told}"
        );
        assert!(told.contains("(cat moment.uci; sleep 10) | sh "), "{told}");
        assert!(told.contains("\nLinux "), "{told}");
        assert!(read("game.pgn").contains(" disconnects"), "{}", read("game.pgn"));
        assert_eq!(read("stderr.txt").lines().next(), Some("before"));
        let moment = read("moment.uci");
        let go = moment.lines().last().unwrap();
        assert!(moment.contains("position fen rnbqkbnr/pppppppp/8/8/4P3/"), "{moment}");
        assert!(go.starts_with("go wtime 6") && go.ends_with("winc 1000 binc 1000"), "{go}");
        let dialogue = read("dialogue.txt");
        assert!(dialogue.starts_with("> uci\n"), "{dialogue}");
        // Each question has its answer, but for the last.
        let (before, _) = dialogue.rsplit_once("\n> go ").unwrap();
        let count = |words: &str| before.lines().filter(|line| line.starts_with(words)).count();
        assert_eq!(count("> go "), count("< bestmove "), "{dialogue}");
        assert!(count("> go ") >= 3, "{dialogue}");
        assert!(dialogue.contains(&format!("\n> {go}\n")) && dialogue.ends_with(")\n"));
        // The clock is that of the side that was to move.
        let white = read("position.fen").contains(" w ");
        let side = if white { "with White" } else { "with Black" };
        assert!(told.contains(side), "{told}");
        for (words, crashes) in [("crash@8", true), ("crash@10", false)] {
            let mut engine = Command::new(table.engine)
                .args([&*table.mark, words])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            let mut input = engine.stdin.take().unwrap();
            let _ = std::io::Write::write_all(&mut input, moment.as_bytes());
            drop(input);
            assert_eq!(engine.wait().unwrap().code().is_none(), crashes, "{words}");
        }
    }
    // The same file again: what was kept stays.
    let before = fs::read(table.path("pgn.crashes/1/crash.txt")).unwrap();
    table.play(&engines, &more);
    assert_eq!(fs::read(table.path("pgn.crashes/1/crash.txt")).unwrap(), before);
    assert!(table.path("pgn.crashes/1-2/dialogue.txt").exists());
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow the_log_of_engines_that_answer_at_once_is_whole,
        slow the_log_has_the_dialogue_of_every_engine,
        slow a_pause_comes_between_two_games,
        slow a_pause_ends_with_the_match,
        slow strikes_end_a_match_that_goes_on_by_its_journal,
        slow the_table_is_told_after_each_so_many_games,
        slow seeds_meet_the_others_and_not_one_another,
        slow a_crash_leaves_a_folder_beside_the_games,
    ]
}
