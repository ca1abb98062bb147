//! A match in shards: put together it is what one machine would have played, whatever was stopped, repeated or mixed up. Tests
//! that end a match before its last game are in `shards_tested`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use gate4k::event::journal::JournalOf;
use gate4k::model::game::result::GameResult;
use gate4k::runner::schedule::{ColourOrder, PairingSystem};
use gate4k::shard::Shard;
use gate4k::shard::record::{MatchRun, ShardGame, ShardHeader, ShardRecord, VERSION};

use super::table::Table;

use crate::seed::Chance;
use crate::trials::Test;

/// `gate4k match` with a journal; the games are short and depend on nothing but their opening.
pub(super) fn shard(table: &Table, journal: &str, more: &[&str]) -> Command {
    let book = table.path("book.txt");
    if !book.exists() {
        let first = ["a3", "a4", "b3", "b4", "c3", "c4", "d3", "d4", "e3", "e4", "f3", "f4", "g3"];
        let second = ["a6", "a5", "b6", "b5", "c6", "c5", "d6", "d5", "e6", "e5"];
        let lines = first.iter().flat_map(|one| second.map(|other| format!("1. {one} {other}\n")));
        fs::write(&book, lines.collect::<String>()).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
    command.arg("match").args([table.engine("A", "seed=1"), table.engine("B", "seed=2")]);
    command.args(["--tc", "60+1", "--max-plies", "30", "--pgn-style", "moves"]);
    command.arg("--openings").arg(book).args(more);
    if !journal.is_empty() {
        command.arg("--journal").arg(table.path(journal));
    }
    for name in ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "PARALLEL_SEQ"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

pub(super) fn done(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    String::from_utf8(output.stdout).unwrap()
}

pub(super) fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(super) fn merge(table: &Table, journals: &[PathBuf], more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
    command.arg("merge").args(journals).args(more).arg("--pgn").arg(table.path("merged.pgn"));
    command.output().unwrap()
}

/// A PGN without the lines that tell of times.
pub(super) fn masked(table: &Table, name: &str) -> String {
    let text = fs::read_to_string(table.path(name)).unwrap();
    let timed = |line: &&str| line.starts_with("[Game") || line.starts_with("[Date");
    text.lines().filter(|line| !timed(line)).map(|line| format!("{line}\n")).collect()
}

fn seven_shards_are_one_match() {
    let table = Table::set("seven");
    let rounds = ["--rounds", "100"];
    let mut one = shard(&table, "", &rounds);
    one.arg("--pgn").arg(table.path("one.pgn"));
    let one = done(one);
    let mut journals = Vec::new();
    for index in (1..=7).rev() {
        let (name, part) = (format!("{index}.journal"), format!("{index}/7"));
        done(shard(&table, &name, &[&rounds[..], &["--shard", &part]].concat()));
        journals.push(table.path(&name));
    }
    // Again, by the environment: the same shard, and nothing is left to play.
    let before = fs::read_to_string(&journals[4]).unwrap();
    let mut again = shard(&table, "3.journal", &[&rounds[..], &["--shard", "auto/7"]].concat());
    again.env("JOB_COMPLETION_INDEX", "2");
    assert!(!done(again).contains("Finished game"));
    let after = fs::read_to_string(&journals[4]).unwrap();
    assert_eq!(after.strip_prefix(&before).unwrap().lines().count(), 1);

    let merged = merge(&table, &journals, &[]);
    assert_eq!(merged.status.code(), Some(0), "{}", err(&merged));
    assert_eq!(String::from_utf8(merged.stdout).unwrap(), one);
    assert_eq!(masked(&table, "merged.pgn"), masked(&table, "one.pgn"));
    assert_eq!(one.matches("Finished game ").count(), 200);
    table.nothing_is_left();
}

/// For any number of shards, played in any order, some of them twice: the match is the one that one machine plays. 2,000 games
/// with `GATE4K_GAMES=2000`.
fn any_number_of_shards_in_any_order_is_one_match() {
    let games: usize = from_the_caller("GATE4K_GAMES", 48);
    let table = Table::set("any-shards");
    let rounds = ["--rounds".to_owned(), games.div_ceil(2).to_string()];
    let rounds = [&*rounds[0], &*rounds[1]];
    let mut one = shard(&table, "", &rounds);
    one.arg("--pgn").arg(table.path("one.pgn"));
    let one = done(one);
    let mut chance = Chance::of("shards of a match");
    let mut below = |bound: usize| usize::try_from(chance.below(bound as u64)).unwrap();
    for of in 1..=7 {
        let mut left: Vec<usize> = (1..=of).collect();
        let mut journals = Vec::new();
        while !left.is_empty() {
            let index = left.remove(below(left.len()));
            let (name, part) = (format!("{of}-{index}.journal"), format!("{index}/{of}"));
            let play = || done(shard(&table, &name, &[&rounds[..], &["--shard", &part]].concat()));
            let told = play();
            if below(3) == 0 {
                assert!(!play().contains("Finished game"), "{part} is played twice");
            }
            assert!(told.contains("Finished game"), "{told}");
            journals.insert(below(journals.len() + 1), table.path(&name));
        }
        let merged = merge(&table, &journals, &[]);
        assert_eq!(merged.status.code(), Some(0), "{}", err(&merged));
        assert!(err_of(&merged.stdout) == one, "{of} shards tell something else");
        assert!(masked(&table, "merged.pgn") == masked(&table, "one.pgn"), "{of} shards");
    }
    table.nothing_is_left();
}

/// A number of the caller's, or this one.
fn from_the_caller(name: &str, usual: usize) -> usize {
    std::env::var(name).map_or(usual, |number| number.parse().unwrap())
}

/// Starts a match of so many games again and again, and kills it as often as `GATE4K_KILLS` says (else three times), each time
/// after some more of them.
fn kill(table: &Table, words: &[&str], games: usize) {
    let mut kills = 0;
    let often = from_the_caller("GATE4K_KILLS", 3);
    for kill in 1..=often {
        let at_least = games * kill / (often + 1);
        let mut command = shard(table, "all.journal", words);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(300);
        while kept(table) < at_least && child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "no games");
            std::thread::sleep(Duration::from_millis(2));
        }
        kills += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(kills > 0);
}

pub(super) fn kept(table: &Table) -> usize {
    let text = fs::read_to_string(table.path("all.journal")).unwrap_or_default();
    text.matches("{\"game\":{").count()
}

fn a_shard_that_was_killed_goes_on() {
    let table = Table::set("killed-shard");
    let rounds = ["--rounds", "30", "--concurrency", "2"];
    kill(&table, &rounds, 60);
    done(shard(&table, "all.journal", &rounds));
    assert_eq!(kept(&table), 60);
    let merged = merge(&table, &[table.path("all.journal")], &[]);
    let mut one = shard(&table, "", &["--rounds", "30"]);
    one.arg("--pgn").arg(table.path("one.pgn"));
    assert_eq!(String::from_utf8(merged.stdout).unwrap(), done(one), "{}", err_of(&merged.stderr));
    assert_eq!(masked(&table, "merged.pgn"), masked(&table, "one.pgn"));
    table.nothing_is_left();
}

/// The points and games of each engine, as a PGN has them, in the order of their names.
fn tallied(pgn: &str) -> Vec<(String, f64, u32)> {
    let mut engines: BTreeMap<String, (f64, u32)> = BTreeMap::new();
    let tag = |name: &str| -> Vec<String> {
        let begin = format!("[{name} \"");
        let value = |line: &str| Some(line.strip_prefix(&begin)?.strip_suffix("\"]")?.to_owned());
        pgn.lines().filter_map(value).collect()
    };
    for ((white, black), result) in tag("White").into_iter().zip(tag("Black")).zip(tag("Result")) {
        let points = match &*result {
            "1-0" => 1.0,
            "0-1" => 0.0,
            "1/2-1/2" => 0.5,
            other => panic!("{other}"),
        };
        for (engine, points) in [(white, points), (black, 1.0 - points)] {
            let own = engines.entry(engine).or_default();
            *own = (own.0 + points, own.1 + 1);
        }
    }
    engines.into_iter().map(|(name, (points, games))| (name, points, games)).collect()
}

/// Table, PGN and journal agree to the game, and with a match that was never killed; 3,000 games with `GATE4K_GAMES=3000`.
fn a_match_of_three_that_was_killed_goes_on() {
    let table = Table::set("killed-three");
    let third = table.engine("C", "seed=3");
    // Three couples of two games a round.
    let rounds = from_the_caller("GATE4K_GAMES", 48).div_ceil(6);
    let number = rounds.to_string();
    let words = [&*third, "--rounds", &number, "--concurrency", "2"];
    kill(&table, &words, 6 * rounds);
    let last = done(shard(&table, "all.journal", &words));
    assert_eq!(kept(&table), 6 * rounds);
    let merged = merge(&table, &[table.path("all.journal")], &[]);
    let merged = String::from_utf8(merged.stdout).unwrap();
    let mut one = shard(&table, "", &words[..3]);
    one.arg("--pgn").arg(table.path("one.pgn"));
    assert_eq!(merged, done(one));
    assert_eq!(masked(&table, "merged.pgn"), masked(&table, "one.pgn"));
    // The run that ended the match counts the games of those that were killed.
    let told = |text: &str| text.split_once("\nengine").unwrap().1.to_owned();
    assert_eq!(told(&last), told(&merged));
    let mut counted: Vec<(String, f64, u32)> = told(&last)
        .lines()
        .skip(1)
        .take(3)
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            (words[0].to_owned(), words[1].parse().unwrap(), words[2].parse().unwrap())
        })
        .collect();
    counted.sort_by(|one, other| one.0.cmp(&other.0));
    let pgn = fs::read_to_string(table.path("merged.pgn")).unwrap();
    assert_eq!(counted, tallied(&pgn));
    assert!(counted.iter().all(|(_, _, games)| *games as usize == 4 * rounds), "{counted:?}");
    table.nothing_is_left();
}

pub(super) fn err_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn shards_that_do_not_fit_are_refused_by_name() {
    let table = Table::set("refused-shards");
    let play = |name: &str, more: &[&str]| {
        done(shard(&table, name, more));
        table.path(name)
    };
    let first = play("first", &["--rounds", "4", "--shard", "1/3"]);
    let second = play("second", &["--rounds", "4", "--shard", "2/3"]);
    let other = play("other", &["--rounds", "4", "--margin", "1s", "--shard", "2/3"]);
    let of_two = play("of-two", &["--rounds", "4", "--shard", "2/2"]);
    let copy = table.path("copy");
    fs::copy(&second, &copy).unwrap();
    let damaged = table.path("damaged");
    let text = fs::read_to_string(&second).unwrap();
    fs::write(&damaged, text.replacen("1/2-1/2", "1-0", 1).replacen("0-1", "1-0", 1)).unwrap();
    let empty = table.path("empty");
    fs::write(&empty, "").unwrap();
    for (shards, code, words) in [
        (vec![&first, &second], 4, "shard 3/3 is missing"),
        (vec![&first, &second, &copy], 2, "shard 2/3 is given twice"),
        (vec![&first, &other], 2, "margin is 0ns and 1s"),
        (vec![&first, &of_two], 2, "it is one of 2 shards, not of 3"),
        (vec![&first, &damaged], 2, "is damaged at line"),
        (vec![&first, &empty], 4, "is empty: its shard has not begun"),
        (vec![&first, &table.path("nowhere")], 3, "cannot read the journal"),
    ] {
        let shards: Vec<PathBuf> = shards.into_iter().cloned().collect();
        let merged = merge(&table, &shards, &[]);
        assert_eq!(merged.status.code(), Some(code), "{words}: {}", err(&merged));
        assert!(err(&merged).replace('\n', " ").contains(words), "{words}: {}", err(&merged));
    }
    let merged = merge(&table, &[second, first.clone()], &["--partial"]);
    assert_eq!(merged.status.code(), Some(0), "{}", err(&merged));
    assert!(err(&merged).contains("shard 3/3 is missing"), "{}", err(&merged));
    assert_eq!(err_of(&merged.stdout).matches("Finished game ").count(), 6);

    // A shard that has not begun is named; a journal is never written over.
    let merged = merge(&table, &[first.clone(), empty], &["--partial"]);
    assert_eq!(merged.status.code(), Some(0), "{}", err(&merged));
    assert!(err(&merged).contains("is empty: its shard has not begun"), "{}", err(&merged));
    let before = fs::read(&first).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
    command.args(["merge", "--partial", "--pgn"]).arg(&first).arg(table.path("copy"));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert!(err(&output).contains("is a journal"), "{}", err(&output));
    assert_eq!(fs::read(&first).unwrap(), before);

    // A network that an engine reads is part of the match.
    let net = table.path("net");
    fs::write(&net, "1").unwrap();
    let with_net = |name: &str| {
        let third = format!("{} options.EvalFile={}", table.engine("C", ""), net.display());
        shard(&table, name, &[&third, "--rounds", "2"]).output().unwrap()
    };
    assert_eq!(with_net("net-1").status.code(), Some(0));
    fs::write(&net, "2").unwrap();
    let output = with_net("net-1");
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert!(err(&output).replace('\n', " ").contains("engine C is sha256"), "{}", err(&output));

    // A journal goes on only with the very same match.
    for (more, words) in [
        (&["--rounds", "5", "--shard", "1/3"][..], "rounds is 4 and 5"),
        (&["--rounds", "4", "--shard", "2/3"], "shard is 1/3 and 2/3"),
        (&["--rounds", "4", "--shard", "auto/3"], "none of SLURM_ARRAY_TASK_ID"),
        (&["--rounds", "4", "--shard", "4/3"], "write I/N"),
    ] {
        let output = shard(&table, "first", more).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}: {}", err(&output));
        assert!(err(&output).replace('\n', " ").contains(words), "{words}: {}", err(&output));
    }
}

/// The programs that an entry may start are part of the match, and so are the tables by which games end.
fn other_waivers_and_other_tables_are_another_match() {
    let table = Table::set("settings-of-shards");
    let entry =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/accept/elf/engine");
    let tables = table.path("tables");
    fs::create_dir(&tables).unwrap();
    let settings = |reason: &str| {
        let waiver = format!(
            "[[waiver]]\nentry = \"{}\"\nrule = \"commands\"\nreason = \"{reason}\"\ndate = 2026-11-21\n\
             programs = [\"sed\"]\n",
            entry.display()
        );
        fs::write(table.path("gate4k.toml"), waiver).unwrap();
    };
    let name = |file: &str| fs::write(tables.join(file), [1; 80]).unwrap();
    let play = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        command.arg("match").arg(format!("name=A entry={}", entry.display()));
        command.arg(table.engine("B", "seed=2")).args(["--max-plies", "4", "--tc", "60+1"]);
        command.arg("--syzygy").arg(&tables).arg("--journal").arg(table.path("journal"));
        command.current_dir(table.dir.path()).stdin(Stdio::null()).output().unwrap()
    };
    settings("harmless as it is used here");
    name("KQvK.rtbw");
    let changes: [(&dyn Fn(), Option<&str>); 4] = [
        (&|| {}, None),
        (&|| name("KRvK.rtbw"), Some("syzygy is 1 files")),
        (&|| fs::remove_file(tables.join("KRvK.rtbw")).unwrap(), None),
        (&|| settings("another reason"), Some("waivers is")),
    ];
    for (change, words) in changes {
        change();
        let output = play();
        let refused = words.map_or(0, |_| 2);
        assert_eq!(output.status.code(), Some(refused), "{words:?}: {}", err(&output));
        let told = err(&output).replace('\n', " ");
        assert!(words.is_none_or(|words| told.contains(words)), "{words:?}: {told}");
    }
}

/// Each with one game at a time, all shards of a machine played on its first core.
fn shards_beside_each_other_play_on_different_cores() {
    let table = Table::set("cores-of-shards");
    let cores = ["1", "2"].map(|index| {
        let file = table.path(&format!("cores-{index}"));
        let script =
            format!("grep Cpus_allowed_list /proc/self/status >{}\nexec ENGINE\n", file.display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        command.args(["match", "-q", "--affinity", "on", "--rounds", "2", "--max-plies", "4"]);
        command.args([table.wrapped("A", &script), table.engine("B", "seed=2")]);
        command.arg("--journal").arg(table.path(index)).args(["--shard", &format!("{index}/2")]);
        done(command);
        fs::read_to_string(file).unwrap()
    });
    // The processors that may be used, whatever share of their time is ours.
    let own = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0)).unwrap();
    let several =
        (0..nix::sched::CpuSet::count()).filter(|cpu| own.is_set(*cpu).unwrap()).count() > 1;
    assert_eq!(cores[0] != cores[1], several, "{cores:?}");
}

/// A crash of the host leaves zeros in place of the last record. No scheduler can repair that, so the shard does.
fn a_shard_whose_last_record_is_damaged_plays_it_again() {
    let table = Table::set("damaged-shard");
    let whole = shard(&table, "whole", &["--rounds", "3"]);
    done(whole);
    let text = fs::read(table.path("whole")).unwrap();
    let last = text[..text.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let mut damaged = text.clone();
    damaged[last..text.len() - 1].fill(0);
    fs::write(table.path("damaged"), &damaged).unwrap();
    let merged = merge(&table, &[table.path("damaged")], &[]);
    assert_eq!(merged.status.code(), Some(2), "{}", err(&merged));
    let words = "give the command of its shard again, which will cut off these";
    assert!(err(&merged).replace('\n', " ").contains(words), "{}", err(&merged));

    let again = shard(&table, "damaged", &["--rounds", "3"]).output().unwrap();
    assert_eq!(again.status.code(), Some(0), "{}", err(&again));
    let words = "the last record of";
    assert!(err(&again).contains(words), "{}", err(&again));
    assert!(err_of(&again.stdout).contains("Finished game 6 "), "{}", err_of(&again.stdout));
    let copy = fs::read(table.path(&format!("damaged.cut-{last}"))).unwrap();
    assert_eq!(copy, damaged[last..]);
    let merged = |name: &str| err_of(&merge(&table, &[table.path(name)], &[]).stdout);
    assert_eq!(merged("damaged"), merged("whole"));
    // A journal that is damaged before its end is left as it is.
    let mut middle = text;
    middle[last - 2] = b'x';
    fs::write(table.path("middle"), &middle).unwrap();
    let again = shard(&table, "middle", &["--rounds", "3"]).output().unwrap();
    assert_eq!(again.status.code(), Some(2), "{}", err(&again));
    assert_eq!(fs::read(table.path("middle")).unwrap(), middle);
}

/// More shards than files that may be open at a time.
fn hundreds_of_shards_are_merged_with_few_files_open() {
    const SHARDS: usize = 400;
    let table = Table::set("many-shards");
    let run = MatchRun {
        engines: vec!["A".into(), "B".into()],
        schedule: PairingSystem::RoundRobin,
        seeds: None,
        rounds: SHARDS,
        games: 2,
        colours: ColourOrder::Reversed,
        test: None,
        settings: BTreeMap::new(),
    };
    let pgn = |game: usize| format!("[Round \"{game}\"]\n[Result \"1/2-1/2\"]\n\n1/2-1/2\n\n");
    let journals = (1..=SHARDS).map(|index| {
        let path = table.path(&index.to_string());
        let (mut journal, _) = JournalOf::open(&path, &mut |_, _| Ok(())).unwrap();
        let shard = Shard::new(index, SHARDS).unwrap();
        let header = ShardHeader { version: VERSION, shard, run: run.clone() };
        journal.append(&ShardRecord::Shard(Box::new(header))).unwrap();
        for game in [2 * (index - 1), 2 * index - 1] {
            let (result, summary) = (GameResult::Draw, "1/2-1/2 {x}".to_owned());
            let record = ShardGame { game, result, summary, pgn: pgn(game), lost: None };
            journal.append(&ShardRecord::Game(record)).unwrap();
        }
        path
    });
    let journals: Vec<PathBuf> = journals.collect();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 256; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_gate4k")]);
    command.args(["merge", "--quiet", "--pgn"]).arg(table.path("pgn")).args(&journals);
    let merged = command.output().unwrap();
    assert_eq!(merged.status.code(), Some(0), "{}", err(&merged));
    let games: String = (0..2 * SHARDS).map(pgn).collect();
    assert_eq!(fs::read_to_string(table.path("pgn")).unwrap(), games);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow seven_shards_are_one_match,
        slow any_number_of_shards_in_any_order_is_one_match,
        slow a_shard_that_was_killed_goes_on,
        slow a_match_of_three_that_was_killed_goes_on,
        slow shards_that_do_not_fit_are_refused_by_name,
        slow other_waivers_and_other_tables_are_another_match [Landlock],
        slow shards_beside_each_other_play_on_different_cores,
        slow a_shard_whose_last_record_is_damaged_plays_it_again,
        slow hundreds_of_shards_are_merged_with_few_files_open,
    ]
}
