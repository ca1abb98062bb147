//! Matches through the real program, with an engine that misbehaves on request: right result, right reason,
//! the match goes on, and nothing is left running.
//!
//! The engine is `tests/engine/instant.c`.

#[path = "../../engine/mod.rs"]
pub(crate) mod engine;
mod limits;
mod openbench;
mod other_runners;
mod screen;
mod shards;
mod shards_tested;
mod stream;
mod syzygy;
mod table;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use table::{Played, Table};

use crate::trials::Test;

fn a_crash_is_a_loss_and_the_engine_comes_back() {
    let table = Table::set("crash");
    let engines = [table.engine("A", "crash@10"), table.engine("B", "seed=2")];
    let played = table.play(&engines, &["--rounds", "2"]);
    played.lost_by_first(4, " disconnects");
    assert!(played.pgn.contains("[Termination \"abandoned\"]"));
    let killed = played.of_kind("engine-killed");
    assert_eq!(killed.len(), 4);
    assert_eq!(killed[0]["exit"]["signal"], 6);
    // Started once for each game it crashed in; the other one once for all.
    let starts = |engine| {
        let all = played.of_kind("engine-started");
        all.iter().filter(|event| event["engine"] == engine).count()
    };
    assert_eq!((starts(0), starts(1)), (4, 1));
}

fn engines_end_with_a_match_that_is_killed() {
    let table = Table::set("killed-game");
    // It hears nothing of the end of its input.
    let engines = [table.engine("A", "hang@4"), table.engine("B", "seed=2")];
    let words = ["--games", "1", "--tc", "600+1", "--answer-limit", "600s"];
    let mut child = table.command(&engines, &words).stdout(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    let moves = || fs::read_to_string(table.path("events")).unwrap_or_default();
    while moves().matches("\"event\":\"move-played\"").count() < 4 {
        assert!(Instant::now() < deadline, "no moves: {}", moves());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(table.running().len(), 2);
    child.kill().unwrap();
    child.wait().unwrap();
    table.nothing_is_left();
}

fn the_last_words_of_a_crashed_engine_are_kept() {
    let table = Table::set("stderr");
    let script = "echo before >&2\nENGINE exit@6\necho out of luck >&2\nexit 9\n";
    let engines = [table.wrapped("A", script), table.engine("B", "")];
    let played = table.play(&engines, &["--games", "1"]);
    played.lost_by_first(1, " disconnects");
    assert!(played.err.contains("(exit status 9)"), "{}", played.err);
    assert!(played.err.contains("it said: out of luck"), "{}", played.err);
    assert_eq!(played.games()[0]["reason"]["crash"]["exit"]["status"], 9);
}

fn lines_to_begin_with_come_before_uci() {
    let table = Table::set("init");
    let log = table.path("log");
    let heard = |name: &str| format!("tee {}.{name} | ENGINE\n", log.display());
    // On the command line, and as cutechess has them.
    let config = table.path("engines.json");
    let script = table.path("B.sh");
    fs::write(
        &script,
        heard("B").replace("ENGINE", &format!("{} {}", table.engine.display(), table.mark)),
    )
    .unwrap();
    let command = format!("sh {}", script.display());
    let engine = serde_json::json!([{
        "name": "B", "protocol": "uci", "command": command,
        "initStrings": ["first", "setoption name Any value 1"],
    }]);
    fs::write(&config, engine.to_string()).unwrap();
    let engines = [format!("{} init=\"hello there\" init=again", table.wrapped("A", &heard("A")))];
    let played = table.play(&engines, &["--games", "1", "--engines", config.to_str().unwrap()]);
    assert_eq!((played.code, played.games().len()), (0, 1), "{}", played.err);
    for (name, begin) in
        [("A", "hello there\nagain\nuci\n"), ("B", "first\nsetoption name Any value 1\nuci\n")]
    {
        let heard = fs::read_to_string(table.path(&format!("log.{name}"))).unwrap();
        assert!(heard.starts_with(begin), "{heard:.80}");
    }
}

fn a_hang_with_a_clock_is_a_stalled_connection() {
    let table = Table::set("hang-clock");
    // Only the clock of the one that hangs can run out, on a host however busy.
    let short = format!("{} tc=3+0.01", table.engine("A", "hang@8"));
    let more = ["--tc", "600+0", "--concurrency", "2"];
    let played = table.play(&[short, table.engine("B", "")], &more);
    played.lost_by_first(2, "'s connection stalls");
    assert!(played.pgn.contains("[Termination \"stalled connection\"]"));
    let hung = played.games().iter().filter(|game| plies(game) >= 8).count();
    assert_eq!(played.of_kind("engine-killed").len(), hung);
}

fn a_hang_without_a_clock_is_bounded_too() {
    let table = Table::set("hang-nodes");
    let engines = [table.engine("A", "hang@8"), table.engine("B", "")];
    // Within that an engine that answers at once has answered, also on a busy host.
    let more = ["--tc", "nodes=10", "--answer-limit", "4s", "--concurrency", "2"];
    let played = table.play(&engines, &more);
    played.lost_by_first(2, "'s connection stalls");
    assert!(played.pgn.contains("[Termination \"stalled connection\"]"));
}

/// In two writes, so that the second lies in the pipe when the next move is asked for.
fn a_move_that_is_said_twice_is_no_answer_to_the_next_question() {
    let table = Table::set("twice");
    // So slow that A has said it again before it is asked, also on a busy host.
    let slow = table.engine("B", "late@0:400");
    let more = ["--tc", "600+0", "--max-plies", "8", "--concurrency", "2"];
    let played = table.play(&[table.engine("A", "twice:3"), slow], &more);
    assert_eq!(played.code, 0, "{}", played.err);
    assert_eq!(played.games().len(), 2);
    for game in played.games() {
        assert_eq!(game["details"], "Longest game reached", "{game}");
    }
    let told = played.of_kind("unasked");
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().all(|one| one["engine"] == 0), "{told:?}");
    let words = "A said \"bestmove ";
    assert!(
        played.err.contains(words) && played.err.contains("it was passed over"),
        "{}",
        played.err
    );
}

fn illegal_and_null_moves_lose() {
    let table = Table::set("illegal");
    for (words, said) in [("illegal@9", "a1a1"), ("null@9", "0000")] {
        let engines = [table.engine("A", words), table.engine("B", "")];
        let _ = fs::remove_file(table.path("events"));
        let _ = fs::remove_file(table.path("pgn"));
        let played = table.play(&engines, &[]);
        played.lost_by_first(2, &format!(" makes an illegal move: {said}"));
        assert!(played.pgn.contains("[Termination \"illegal move\"]"));
        // It answered, so it lives on for its next game.
        assert_eq!(played.of_kind("engine-killed").len(), 0);
    }
}

fn a_late_move_loses_by_both_stamps_and_the_engine_lives() {
    let table = Table::set("late");
    let late = format!("{} tc=0.2+0", table.engine("A", "late@6:400"));
    let played = table.play(&[late, table.engine("B", "")], &["--tc", "600+0"]);
    played.lost_by_first(2, " loses on time");
    assert_eq!(played.of_kind("engine-killed").len(), 0);
    for game in played.games() {
        let time = |key: &str| game["unanswered"][key].as_u64().unwrap();
        let used = time("heard") - time("sent");
        assert!(used > time("left"), "{game}");
        assert!(used >= 400_000 || plies(game) < 6, "{used}");
        assert!(game["reason"]["time"]["over"].is_object(), "{game}");
    }
    let _ = fs::remove_file(table.path("events"));
    let _ = fs::remove_file(table.path("pgn"));
    let engines = [table.engine("A", "late@6:100"), table.engine("B", "")];
    let more = ["--tc", "0.05+0.05", "--margin", "60s", "--max-plies", "16", "--games", "1"];
    let played = table.play(&engines, &more);
    assert_eq!(played.games()[0]["reason"], "length", "{}", played.games()[0]);
}

fn many_lines_a_move_disturb_nothing() {
    let table = Table::set("spam");
    let engines = [table.engine("A", "spam:2000"), table.engine("B", "")];
    let played = table.play(&engines, &["--games", "1", "--tc", "600+0"]);
    assert_eq!((played.code, played.games().len()), (0, 1));
    assert_eq!(played.of_kind("engine-killed").len(), 0);
    // The last line that counts is the one recorded.
    let depths: Vec<&Value> =
        played.games()[0]["moves"].as_array().unwrap().iter().map(|one| &one["depth"]).collect();
    assert!(depths.iter().all(|depth| **depth == 1), "{depths:?}");
}

fn a_slow_start_is_waited_for_and_a_dead_one_loses_its_games() {
    let table = Table::set("slow");
    let engines = [table.engine("A", "slowinit:700"), table.engine("B", "")];
    let played = table.play(&engines, &[]);
    assert_eq!((played.code, played.games().len()), (0, 2));
    assert_eq!(played.of_kind("engine-killed").len(), 0);
    let started = played.of_kind("engine-started");
    assert!(started.iter().any(|event| event["took"].as_u64().unwrap() > 700_000));

    for (engine, why) in [
        (table.engine("A", "slowinit:60000"), "no uciok within 2s"),
        ("name=A cmd=false".to_owned(), "it ended before uciok (exit status 1)"),
    ] {
        let _ = fs::remove_file(table.path("events"));
        let _ = fs::remove_file(table.path("pgn"));
        let engines = [engine, table.engine("B", ""), table.engine("C", "")];
        let more = ["--startup-limit", "2s", "--rounds", "2", "--concurrency", "4"];
        let played = table.play(&engines, &more);
        assert_eq!(played.code, 0);
        let games = played.games();
        assert_eq!(games.len(), 12);
        let dead: Vec<_> = games.iter().filter(|game| game["couple"] != 2).collect();
        assert_eq!(dead.len(), 8);
        for game in &dead {
            assert!(game["details"].as_str().unwrap().ends_with("does not start"), "{game}");
        }
        let told = games.iter().any(|game| {
            let reason = game["reason"]["no-start"].as_str().unwrap_or_default();
            reason.contains(why)
        });
        assert!(told, "{games:?}");
    }
}

fn a_program_that_does_not_exist_is_refused_before_the_first_game() {
    let table = Table::set("nowhere");
    let readme = format!("name=A cmd={}/README.md", env!("CARGO_MANIFEST_DIR"));
    for (engine, named) in [
        ("name=A cmd=/nonexistent/engine".to_owned(), "/nonexistent/engine"),
        ("name=A cmd=no-such-engine-on-the-path".to_owned(), "no-such-engine-on-the-path"),
        // There, but no program.
        (readme, "README.md"),
    ] {
        let output = table.command(&[table.engine("B", ""), engine], &[]).output().unwrap();
        let played = table.played(&output);
        assert_eq!((played.code, played.events.len()), (2, 0), "{}", played.err);
        assert!(played.err.contains("cannot run") && played.err.contains(named), "{}", played.err);
    }
}

fn an_ignored_quit_and_wrappers_leave_nothing_behind() {
    let table = Table::set("quit");
    let engines = [
        table.engine("A", "ignorequit"),
        table.wrapped(
            "B",
            "exec 3<&0\nsh -c 'sleep 300; true' MARK &\nENGINE ignorequit <&3 &\nexec sleep 301\n",
        ),
        table.wrapped("C", "ENGINE\ntrue\n"),
    ];
    // B's shell gives its place to a sleep while the engine plays on its pipes.
    let more = ["--quit-limit", "200ms", "--restart"];
    let played = table.play(&engines, &more);
    assert_eq!(played.games().len(), 6, "{}", played.err);
    assert!(played.err.contains("A: it did not end after quit"), "{}", played.err);
}

fn games_run_beside_each_other_and_are_written_in_order() {
    let table = Table::set("order");
    let engines = [
        table.engine("A", "seed=1"),
        table.engine("B", "seed=2"),
        table.engine("C", "seed=3 late@20:5"),
    ];
    let played = table.play(&engines, &["--rounds", "8", "--concurrency", "4"]);
    assert_eq!((played.code, played.games().len()), (0, 48));
    played.pgn_is_clean(48);
    assert!(played.out.contains("A vs B: pairs LL "), "{}", played.out);
    let last = played.events.last().unwrap();
    assert_eq!((&last["event"], &last["played"]), (&"match-finished".into(), &48.into()));
}

fn an_engine_is_sent_only_what_it_may_be_sent() {
    let table = Table::set("wire");
    let log = table.path("log");
    let script = format!("tee {} | ENGINE\n", log.display());
    let book = table.path("book.txt");
    fs::write(&book, "e2e4 e7e5\n").unwrap();
    let engines = [
        format!("{} fen=no options.hash=8 options.Nonsense=1", table.wrapped("A", &script)),
        table.engine("B", ""),
    ];
    let more = ["--openings", book.to_str().unwrap(), "--games", "1"];
    let played = table.play(&engines, &more);
    assert_eq!(played.games().len(), 1, "{}", played.err);
    let told = "A does not offer Nonsense, so it was not told that";
    assert_eq!(played.err.matches(told).count(), 1, "{}", played.err);
    let log = fs::read_to_string(&log).unwrap();
    let mut lines = log.lines();
    let start: Vec<&str> = lines.by_ref().take(5).collect();
    assert_eq!(start, ["uci", "setoption name Hash value 8", "isready", "ucinewgame", "isready"]);
    assert_eq!(lines.next(), Some("position startpos moves e2e4 e7e5"));
    assert_eq!(lines.next(), Some("go wtime 10000 btime 10000 winc 100 binc 100"));
    for line in lines {
        let allowed = ["position startpos moves ", "go wtime ", "quit"];
        assert!(allowed.iter().any(|word| line.starts_with(word)), "{line}");
    }
}

fn what_cannot_be_played_is_refused_before_the_first_game() {
    let table = Table::set("refused");
    let book = table.path("book.epd");
    fs::write(&book, "4k3/8/8/8/8/8/4P3/4K3 w - -\n").unwrap();
    let book = book.to_str().unwrap();
    let (a, b) = (table.engine("A", ""), table.engine("B", ""));
    let rule = format!("{a} fen=no");
    for (engines, more, part) in [
        (vec![rule.clone(), b.clone()], vec!["--openings", book], "may be told moves only"),
        (vec![rule, b.clone()], vec!["--tc", "nodes=5"], "rule 7.9"),
        (vec![format!("{a} options.Hash='16\nquit'"), b.clone()], vec![], "are one line of UCI"),
        (vec![a.clone()], vec![], "needs two engines"),
        (vec![a.clone(), a.clone()], vec![], "two engines are called \"A\""),
        (vec![a.clone(), b.clone()], vec!["--tc", "fast"], "\"fast\" is not understood"),
        (vec![a.clone(), b.clone()], vec!["--openings", "/none.txt"], "/none.txt"),
        (vec![a, b], vec!["--win-rule", "10"], "PAWNS:MOVES"),
    ] {
        let output = table.command(&engines, &more).output().unwrap();
        let played = table.played(&output);
        assert_eq!((played.code, played.events.len()), (2, 0), "{}", played.err);
        assert!(played.err.contains(part), "{}", played.err);
    }
}

fn an_entry_plays_in_the_sandbox() {
    let table = Table::set("entry");
    let entry = table.path("anything");
    fs::copy(table.engine, &entry).unwrap();
    let book = table.path("book.txt");
    fs::write(&book, "e4 e5\nd4 d5\n").unwrap();
    let engines = [entry.to_str().unwrap().to_owned(), table.engine("B", "seed=2")];
    let more = ["--rounds", "3", "--openings", book.to_str().unwrap()];
    let played = table.play(&engines, &more);
    assert_eq!((played.code, played.games().len()), (0, 6), "{}", played.err);
    played.pgn_is_clean(6);
    assert!(played.pgn.contains("[White \"anything\"]"));
    assert!(played.games().iter().all(|game| game["reason"].is_string()), "{}", played.out);
    // One start of each was enough, and the entry's process has no number outside.
    let started = played.of_kind("engine-started");
    assert_eq!(started.len(), 2);
    assert!(started.iter().any(|event| event["engine"] == 0 && event["pid"].is_null()));
}

fn what_is_no_entry_yet_is_told_with_the_next_step() {
    let table = Table::set("no entry yet");
    let source = table.path("eng.c");
    fs::write(&source, "#include <stdio.h>\nint main() { puts(\"hi\"); }\n").unwrap();
    let other = table.engine("B", "");
    let source = source.to_str().unwrap().to_owned();
    let played = table.play(&[source.clone(), other.clone()], &["--games", "1"]);
    // A command that can be typed from where the match was.
    let step = format!("pack it: gate4k pack {source} -o ");
    assert!(played.err.contains(&step), "{}", played.err);
    assert!(played.out.contains("no Elo, since all points"), "{}", played.out);
    let table = Table::set("no such entry");
    let output = table.command(&["python3".into(), other], &[]).output().unwrap();
    let played = table.played(&output);
    assert_eq!((played.code, played.events.len()), (3, 0), "{}", played.err);
    assert!(played.err.contains("no such file; a program that you trust"), "{}", played.err);
}

fn a_test_ends_the_match_when_it_is_decided() {
    let table = Table::set("sprt");
    let engines = [table.engine("A", "illegal@30"), table.engine("B", "")];
    let more = ["--rounds", "500", "--sprt", "0,50", "--quiet"];
    let played = table.play(&engines, &more);
    assert_eq!(played.code, 0, "{}", played.err);
    assert!(played.games().len() < 500, "{}", played.games().len());
    assert!(played.out.contains("SPRT [0, 50]: LLR -"), "{}", played.out);
    assert!(played.out.contains("(-2.94 to 2.94), 0 accepted"), "{}", played.out);
    let three = [engines[0].clone(), engines[1].clone(), table.engine("C", "")];
    let output = table.command(&three, &["--sprt", "0,5"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// The number of moves of a game.
fn plies(game: &Value) -> usize {
    game["moves"].as_array().unwrap().len()
}

/// Starts a match that is mate at once in its first pair and slow in all others, each engine answering so late from the
/// fourth ply on; interrupts it so many times after a first game.
fn interrupted(table: &Table, times: usize, late: &str) -> Played {
    let book = table.path("book.txt");
    fs::write(&book, "f2f3 e7e5 g2g4\ne2e4 e7e5 g1f3 b8c6\n").unwrap();
    let words = format!("late@4:{late}");
    let engines = [table.engine("A", &words), table.engine("B", &words)];
    let book = book.to_str().unwrap();
    let mut more = vec!["--rounds", "500", "--max-plies", "30", "--concurrency", "2"];
    more.extend(["--tc", "600+0", "--openings", book]);
    let mut child = table
        .command(&engines, &more)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(300);
    // Two at a time: both games of the second pair are under way, and those of the first are over.
    let begun = |table: &Table| {
        let events = fs::read_to_string(table.path("events")).unwrap_or_default();
        events.matches("\"game-started\"").count()
    };
    while begun(table) < 4 {
        assert!(Instant::now() < deadline, "no game ends");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    for _ in 0..times {
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
        // The next one comes when the first has been heard.
        while !told.contains("finishing the games under way") {
            assert_ne!(err.read_line(&mut told).unwrap(), 0, "{told}");
        }
    }
    err.read_to_string(&mut told).unwrap();
    let mut output = child.wait_with_output().unwrap();
    output.stderr = told.into_bytes();
    table.played(&output)
}

fn one_interrupt_finishes_the_games_under_way() {
    let table = Table::set("once");
    let played = interrupted(&table, 1, "30");
    assert_eq!(played.code, 4);
    assert!(played.err.contains("finishing the games under way"), "{}", played.err);
    let games = played.games();
    assert!(games.len() < 1000 && games.iter().all(|game| game["result"] != "*"));
    assert_eq!(played.of_kind("game-started").len(), games.len());
    played.pgn_is_clean(games.len());
}

fn two_interrupts_stop_at_once_and_keep_what_was_finished() {
    let table = Table::set("twice");
    // No slow game ends in less than ten minutes, its engines' clocks; what was not broken off is of the first pair.
    let played = interrupted(&table, 2, "900000");
    assert_eq!(played.code, 4);
    let (whole, broken): (Vec<_>, Vec<_>) =
        played.games().into_iter().partition(|game| game["result"] != "*");
    assert!(!whole.is_empty() && !broken.is_empty());
    played.pgn_is_clean(whole.len());
}

pub(crate) fn tests() -> Vec<Test> {
    let mut all = tests![
        slow a_crash_is_a_loss_and_the_engine_comes_back,
        slow engines_end_with_a_match_that_is_killed,
        slow the_last_words_of_a_crashed_engine_are_kept,
        slow lines_to_begin_with_come_before_uci,
        slow a_hang_with_a_clock_is_a_stalled_connection,
        quick a_program_that_does_not_exist_is_refused_before_the_first_game,
        slow a_move_that_is_said_twice_is_no_answer_to_the_next_question,
        slow a_hang_without_a_clock_is_bounded_too,
        slow illegal_and_null_moves_lose,
        slow a_late_move_loses_by_both_stamps_and_the_engine_lives,
        slow many_lines_a_move_disturb_nothing,
        slow a_slow_start_is_waited_for_and_a_dead_one_loses_its_games,
        slow an_ignored_quit_and_wrappers_leave_nothing_behind,
        slow games_run_beside_each_other_and_are_written_in_order,
        slow an_engine_is_sent_only_what_it_may_be_sent,
        slow what_cannot_be_played_is_refused_before_the_first_game,
        slow an_entry_plays_in_the_sandbox [Landlock],
        slow what_is_no_entry_yet_is_told_with_the_next_step [Landlock],
        slow a_test_ends_the_match_when_it_is_decided,
        slow one_interrupt_finishes_the_games_under_way,
        slow two_interrupts_stop_at_once_and_keep_what_was_finished,
    ];
    all.extend(other_runners::tests());
    all.extend(limits::tests());
    all.extend(openbench::tests());
    all.extend(screen::tests());
    all.extend(shards::tests());
    all.extend(shards_tested::tests());
    all.extend(stream::tests());
    all.extend(syzygy::tests());
    all
}
