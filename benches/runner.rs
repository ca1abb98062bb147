//! The cost of the match runner itself: `cargo bench --bench runner`.
//!
//! Two engines that answer at once (tests/engine/instant.c) play on from the first plies of real games
//! (fixtures/games), so that nearly all the time is the runner's and the kernel's. Figures are of one run on one machine: ratios
//! hold elsewhere, and the instructions that callgrind counts do not depend on the machine at all. Parts whose tool
//! (strace, valgrind, a sandbox) is not there are skipped by name. `GATE4K=PATH` measures
//! another build of gate4k than the one made for this; `C_CHESS_CLI=PATH` and `FASTCHESS=PATH` are other runners
//! that take turns with it. One part alone: `cargo bench --bench runner -- speed` (crowd, stream, memory, sandbox, calls,
//! instructions, peers).
#![expect(clippy::expect_used, reason = "a benchmark that cannot measure has nothing to say")]

#[path = "../tests/engine/mod.rs"]
mod engine;
#[path = "common/median.rs"]
mod median;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use engine::instant;
use gate4k::event::pgn_source::PgnSource;
use median::median;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use serde_json::Value;
use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode};
use tempfile::TempDir;

/// The things that are played with.
struct Bench {
    dir: TempDir,
    engine: &'static Path,
    book: PathBuf,
    gate4k: PathBuf,
}

/// The cost of one match.
#[derive(Clone, Copy)]
struct Cost {
    wall: Duration,
    /// The runner's own processor time, without that of engines.
    cpu: Duration,
    /// Its largest resident size, in KiB.
    peak: u64,
}

impl Bench {
    fn open() -> Bench {
        let dir = tempfile::tempdir().expect("a directory");
        let book = dir.path().join("openings.epd");
        std::fs::write(&book, openings().join("\n")).expect("a book");
        let gate4k = std::env::var_os("GATE4K")
            .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_gate4k")), PathBuf::from);
        Bench { dir, engine: instant(), book, gate4k }
    }

    fn engine(&self, name: &str, words: &str) -> String {
        format!("name={name} cmd={} args='{words}'", self.engine.display())
    }

    /// The words of a match of so many games.
    fn words(&self, engines: [String; 2], games: usize, more: &[&str]) -> Vec<String> {
        let rounds = (games / 2).max(1).to_string();
        let book = self.book.display().to_string();
        let fixed = ["match", "--quiet", "--openings", &book, "--rounds", &rounds];
        let words = fixed.iter().chain(more).map(|&word| word.to_owned());
        words.chain(engines).collect()
    }

    fn plain(&self, games: usize, more: &[&str]) -> Vec<String> {
        self.words([self.engine("A", "seed=1"), self.engine("B", "seed=2")], games, more)
    }

    fn play(&self, words: &[String]) -> Cost {
        measured(Command::new(&self.gate4k).args(words))
    }

    /// The games of a match as its stream of events tells them.
    fn told(&self, words: &[String]) -> Vec<Value> {
        let (_, games) = self.told_by(Command::new(&self.gate4k).args(words)).expect("a match");
        games
    }

    /// The same of a command that ends in the words of a match.
    fn told_by(&self, command: &mut Command) -> Option<(Output, Vec<Value>)> {
        let path = self.dir.path().join("events");
        let _ = std::fs::remove_file(&path);
        let command = command.arg("--events").arg(&path).stdin(Stdio::null());
        let output = command.output().ok().filter(|output| output.status.success())?;
        let text = std::fs::read_to_string(&path).ok()?;
        let events = text.lines().map(|line| serde_json::from_str(line).expect("an event"));
        Some((output, events.filter(|event: &Value| event["event"] == "game-finished").collect()))
    }

    /// The plies of a match; engines without chance play the same games each time.
    fn plies(&self, words: &[String]) -> usize {
        self.told(words).iter().filter_map(|game| Some(game["moves"].as_array()?.len())).sum()
    }
}

/// The positions after eight plies of the real games that began with the usual array, each once.
fn openings() -> Vec<String> {
    const PLIES: usize = 8;
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/games");
    let mut found = BTreeSet::new();
    for directory in ["4k", "others"] {
        let files = std::fs::read_dir(games.join(directory)).expect("the games of the fixtures");
        for file in files.map(|file| file.expect("a name").path()) {
            let source = PgnSource::open(&file).expect("a file of games");
            // One file has a game whose tags are wrong, and is read up to there.
            let games = source.map_while(Result::ok).map(|game| game.record);
            for game in games.filter(|game| game.opening.start() == Chess::default()) {
                if let Some((_, position)) = game.positions().nth(PLIES - 1) {
                    found.insert(Fen::from_position(&position, EnPassantMode::Legal).to_string());
                }
            }
        }
    }
    found.into_iter().collect()
}

/// Runs to the end. Processor time is read when the process has ended and was not yet waited for.
fn measured(command: &mut Command) -> Cost {
    let began = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("gate4k");
    let pid = Pid::from_raw(child.id().cast_signed()).expect("a number");
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let mut peak = 0;
    while !matches!(waitid(WaitId::Pid(pid), look), Ok(Some(_))) {
        peak = high_water(child.id()).unwrap_or(peak);
        std::thread::sleep(Duration::from_millis(5));
    }
    let wall = began.elapsed();
    let cpu = own_time(child.id()).expect("the times of a process that has ended");
    let status = child.wait().expect("its status");
    assert!(status.success(), "{command:?}: {status}");
    Cost { wall, cpu, peak }
}

fn high_water(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// utime and stime of /proc/PID/stat: all threads, no children.
fn own_time(pid: u32) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    let a_second = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok().flatten()?;
    Some(Duration::from_secs_f64(ticks as f64 / a_second as f64))
}

fn micros(time: Duration, plies: usize) -> f64 {
    time.as_secs_f64() * 1e6 / plies.max(1) as f64
}

/// A part of the benchmark by its name.
type Part = (&'static str, fn(&Bench));
/// The words for a program that is to play so many games at a time.
type CommandLine<'a> = &'a dyn Fn(&str) -> Vec<String>;

/// Turns taken one after the other: a machine is not equally fast for long.
const TURNS: usize = 5;

fn speed(bench: &Bench) {
    const GAMES: usize = 600;
    let of = |count: &str| bench.plain(GAMES, &["--concurrency", count]);
    let plies = bench.plies(&of("1"));
    println!(
        "{GAMES} games of {:.0} plies between engines that answer at once, medians of {TURNS} turns",
        plies as f64 / GAMES as f64
    );
    let turns: Vec<[Cost; 2]> =
        (0..TURNS).map(|_| ["1", "2"].map(|count| bench.play(&of(count)))).collect();
    for (number, count) in ["1", "2"].into_iter().enumerate() {
        let of_these = |figure: fn(&Cost) -> Duration| {
            median(turns.iter().map(|turn| micros(figure(&turn[number]), plies)))
        };
        let wall = of_these(|cost| cost.wall);
        println!(
            "  {count} at a time        {:8.0} games/s  {wall:6.1} µs wall a ply  {:6.1} µs runner's CPU a ply",
            1e6 * GAMES as f64 / (wall * plies as f64),
            of_these(|cost| cost.cpu)
        );
    }
    let gain = turns.iter().map(|[one, two]| one.wall.as_secs_f64() / two.wall.as_secs_f64());
    println!("  two at a time      {:8.2} x one at a time", median(gain));
    let loud = |words: &str| {
        let engines = [bench.engine("A", words), bench.engine("B", &format!("seed=2 {words}"))];
        bench.words(engines, GAMES, &[])
    };
    let (quiet, spam) = (bench.play(&loud("seed=1")), bench.play(&loud("seed=1 spam:50")));
    println!(
        "  50 info lines a move {:+6.1} µs runner's CPU a ply",
        micros(spam.cpu, plies) - micros(quiet.cpu, plies)
    );
}

/// The cost of telling every move, beside a match of the same run that tells none.
fn stream(bench: &Bench) {
    const GAMES: usize = 600;
    let file = |name: &str| bench.dir.path().join(name).display().to_string();
    let (events, live) = (file("told"), file("live.json"));
    let words = [vec![], vec!["--events", &events], vec!["--live", &live]];
    let words = words.map(|more| bench.plain(GAMES, &more));
    let plies = bench.plies(&words[0]);
    let turns: Vec<[Cost; 3]> =
        (0..TURNS).map(|_| [0, 1, 2].map(|way| bench.play(&words[way]))).collect();
    let base = median(turns.iter().map(|turn| micros(turn[0].cpu, plies)));
    println!("  nothing told       {base:6.1} µs runner's CPU a ply");
    for (way, name) in [(1, "--events"), (2, "--live")] {
        let more =
            turns.iter().map(|turn| micros(turn[way].cpu, plies) - micros(turn[0].cpu, plies));
        let ratio = |cost: fn(&Cost) -> Duration| {
            median(
                turns
                    .iter()
                    .map(|turn| cost(&turn[way]).as_secs_f64() / cost(&turn[0]).as_secs_f64()),
            )
        };
        println!(
            "  {name:<18} {:+6.1} µs of all threads a ply, {:5.2} x the CPU, {:5.2} x the wall time",
            median(more),
            ratio(|cost| cost.cpu),
            ratio(|cost| cost.wall)
        );
    }
}

/// Other runners with the same engines, openings and number of games, in turns with this one. Each writes its
/// games as PGN, and games are counted: the engines choose by their moves since the opening, so that a runner
/// that sends positions in place of them plays other games of about the same length.
fn peers(bench: &Bench) {
    const GAMES: usize = 600;
    let engine = bench.engine.display();
    let book = bench.book.display();
    let pgn = bench.dir.path().join("games.pgn").display().to_string();
    let (games, rounds) = (GAMES.to_string(), (GAMES / 2).to_string());
    let split = |text: String| text.split('|').map(str::to_owned).collect::<Vec<String>>();
    let c_chess_cli = |count: &str| {
        split(format!(
            "-each|tc=10+0.1|-engine|name=A|cmd={engine} seed=1|-engine|name=B|cmd={engine} seed=2|-openings|file={book}|\
             -repeat|-games|{games}|-concurrency|{count}|-pgn|{pgn}|2"
        ))
    };
    let fastchess = |count: &str| {
        split(format!(
            "-engine|cmd={engine}|name=A|args=seed=1|-engine|cmd={engine}|name=B|args=seed=2|-each|tc=10+0.1|-openings|\
             file={book}|format=epd|order=sequential|-rounds|{rounds}|-repeat|-concurrency|{count}|-pgnout|file={pgn}"
        ))
    };
    let named: [(&str, CommandLine<'_>); 2] =
        [("C_CHESS_CLI", &c_chess_cli), ("FASTCHESS", &fastchess)];
    for (name, words) in named {
        let Some(program) = std::env::var_os(name) else {
            println!("skipped: another runner: {name} names none");
            continue;
        };
        for count in ["1", "2"] {
            let ours = bench.plain(GAMES, &["--concurrency", count, "--pgn", &pgn]);
            let turns: Vec<(f64, f64)> = (0..TURNS)
                .map(|_| {
                    let rate = |command: &mut Command| {
                        let _ = std::fs::remove_file(&pgn);
                        let wall = measured(command.current_dir(bench.dir.path())).wall;
                        GAMES as f64 / wall.as_secs_f64()
                    };
                    let its = rate(Command::new(&program).args(words(count)));
                    (rate(Command::new(&bench.gate4k).args(&ours)), its)
                })
                .collect();
            println!(
                "  {count} at a time        {:8.0} games/s against {:.0} of {name}, {:.2} x (medians of {TURNS} turns)",
                median(turns.iter().map(|turn| turn.0)),
                median(turns.iter().map(|turn| turn.1)),
                median(turns.iter().map(|turn| turn.0 / turn.1))
            );
        }
    }
}

/// Many games at a time on few cores: engines that answer at once lose on time only by the runner. `GATE4K_AT_A_TIME=N` for
/// another number than 256; `taskset -c 0,1` gives two cores.
fn crowd(bench: &Bench) {
    let asked = std::env::var("GATE4K_AT_A_TIME").ok().and_then(|word| word.parse().ok());
    let at_a_time: usize = asked.unwrap_or(256);
    let count = at_a_time.to_string();
    let words = bench.plain(4 * at_a_time, &["--concurrency", &count, "--tc", "2+0.05"]);
    let games = bench.told(&words);
    let lost = games.iter().filter(|game| game["reason"].get("time").is_some()).count();
    println!(
        "{count} at a time        {:6} games at 2+0.05, {lost} lost on time, {} cores",
        games.len(),
        std::thread::available_parallelism().map_or(0, std::num::NonZero::get)
    );
}

fn memory(bench: &Bench) {
    let few = bench.play(&bench.plain(100, &[])).peak;
    let many = bench.play(&bench.plain(10_000, &["--concurrency", "2"])).peak;
    let mib = |kib: u64| kib as f64 / 1024.0;
    println!(
        "peak memory          {:6.2} MiB after 100 games, {:6.2} MiB after 10,000 ({:.2} x)",
        mib(few),
        mib(many),
        many as f64 / few.max(1) as f64
    );
}

/// In the sandbox against outside: how long games take once engines are up.
fn sandbox(bench: &Bench) {
    const GAMES: usize = 300;
    let entry = |name: &str| {
        let path = bench.dir.path().join(name);
        std::fs::copy(bench.engine, &path).expect("a copy");
        path.display().to_string()
    };
    // Entries take no FEN.
    let book = bench.dir.path().join("lines.txt");
    std::fs::write(&book, "e4 e5\nd4 d5\nc4 c5\nNf3 Nf6\n").expect("a book");
    let words = |engines: [String; 2]| {
        let rounds = (GAMES / 2).to_string();
        let fixed = ["match", "--quiet", "--openings"].map(str::to_owned);
        let rest = [book.display().to_string(), "--rounds".into(), rounds];
        fixed.into_iter().chain(rest).chain(engines).collect::<Vec<String>>()
    };
    let probe = Command::new(&bench.gate4k)
        .args(words([entry("probe-a"), entry("probe-b")]))
        .output()
        .expect("gate4k");
    if !probe.status.success() {
        println!("skipped: the sandbox: {}", String::from_utf8_lossy(&probe.stderr).trim());
        return;
    }
    let pace = |engines: [String; 2]| {
        let games = bench.told(&words(engines));
        let figures =
            |game: &Value| Some((game["lasted"].as_u64()?, game["moves"].as_array()?.len()));
        // The first games start the engines.
        let (time, plies) = games
            .iter()
            .skip(2)
            .filter_map(figures)
            .fold((0, 0), |(time, plies), (more, count)| (time + more, plies + count));
        time as f64 / plies.max(1) as f64
    };
    let turns: Vec<(f64, f64)> = (0..2 * TURNS)
        .map(|_| {
            let outside = pace([bench.engine("A", ""), bench.engine("B", "")]);
            (pace([entry("inside-a"), entry("inside-b")]), outside)
        })
        .collect();
    println!(
        "in the sandbox       {:6.2} µs a ply against {:.2} outside, {:.3} x (medians of {} turns)",
        median(turns.iter().map(|turn| turn.0)),
        median(turns.iter().map(|turn| turn.1)),
        median(turns.iter().map(|turn| turn.0 / turn.1)),
        turns.len()
    );
}

/// System calls of the runner's own threads.
fn calls(bench: &Bench) {
    const GAMES: usize = 20;
    let words = bench.plain(GAMES, &[]);
    let plies = bench.plies(&words);
    let traces = bench.dir.path().join("traces");
    std::fs::create_dir(&traces).expect("a directory");
    let traced = Command::new("strace")
        .args(["-ff", "-qq", "-o"])
        .arg(traces.join("of"))
        .arg(&bench.gate4k)
        .args(&words)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !traced.is_ok_and(|status| status.success()) {
        println!("skipped: system calls a ply: no strace here, or it may not trace");
        return;
    }
    let engine = format!("execve(\"{}\"", bench.engine.display());
    let files = std::fs::read_dir(&traces).expect("traces").flatten();
    let own = files.map(|file| std::fs::read_to_string(file.path()).unwrap_or_default());
    let count: usize =
        own.filter(|text| !text.contains(&engine)).map(|text| text.lines().count()).sum();
    println!(
        "system calls         {:6.2} a ply of the runner, its start included",
        count as f64 / plies as f64
    );
}

/// Instructions that callgrind counts, of a longer match less a shorter one. `CALLGRIND=PATH` is another program than
/// `valgrind --tool=callgrind`, whose older releases do not know pidfd_open, without which no engine starts.
fn instructions(bench: &Bench) {
    let counted = |games: usize| -> Option<(u64, usize)> {
        let words = bench.plain(games, &["--affinity", "off", "--tc", "600+1"]);
        let out = bench.dir.path().join("callgrind");
        let tool = std::env::var_os("CALLGRIND").unwrap_or_else(|| "valgrind".into());
        let mut counted = Command::new(tool);
        counted
            .arg("--tool=callgrind")
            .arg(format!("--callgrind-out-file={}", out.display()))
            .arg(&bench.gate4k)
            .args(&words);
        let (output, games) = bench.told_by(&mut counted)?;
        let plies = games.iter().filter_map(|game| Some(game["moves"].as_array()?.len())).sum();
        let text = String::from_utf8_lossy(&output.stderr);
        let line = text.lines().rev().find_map(|line| line.split_once("Collected : "))?;
        (plies > 0).then_some((line.1.trim().parse().ok()?, plies))
    };
    match (counted(10), counted(40)) {
        (Some((few, few_plies)), Some((many, many_plies))) if many_plies > few_plies => println!(
            "instructions         {:6.0} a ply of the runner (callgrind)",
            many.saturating_sub(few) as f64 / (many_plies - few_plies) as f64
        ),
        _ => println!("skipped: instructions a ply: no valgrind here that can run a match"),
    }
}

fn main() {
    let bench = Bench::open();
    let asked: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let parts: [Part; 8] = [
        ("speed", speed),
        ("crowd", crowd),
        ("stream", stream),
        ("peers", peers),
        ("memory", memory),
        ("sandbox", sandbox),
        ("calls", calls),
        ("instructions", instructions),
    ];
    for (name, part) in parts {
        if asked.is_empty() || asked.iter().any(|word| word == name) {
            part(&bench);
        }
    }
}
