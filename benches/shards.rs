//! The cost of spreading a match over shards and putting them together: `cargo bench --bench shards` (`GATE4K_GAMES=N` for
//! another number than 10,000; `GATE4K=PATH` measures another build).
//!
//! One run with four games at a time, and four shards with one each beside one another, in turn and three times; the engines answer
//! at once (tests/engine/instant.c), so that nearly all the time is gate4k's. The ratio is of the medians. Then the merge of the four
//! journals with its PGN: its time, the processor's part of that, and the most memory that it had.
#![expect(clippy::expect_used, reason = "a benchmark that cannot measure has nothing to say")]

#[path = "../tests/engine/mod.rs"]
mod engine;
#[path = "common/median.rs"]
mod median;
#[path = "common/processor.rs"]
mod processor;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use engine::instant;
use median::median;
use processor::children;

const SHARDS: usize = 4;
const TURNS: usize = 3;

fn gate4k(words: &[String]) -> Child {
    let program = std::env::var_os("GATE4K")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_gate4k")), PathBuf::from);
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null());
    command.spawn().expect("gate4k starts")
}

fn ended(mut child: Child) {
    let status = child.wait().expect("gate4k is waited for");
    assert!(status.success(), "{status}");
}

/// The words of the match, with its journal.
fn words(folder: &Path, rounds: usize, journal: &str, more: &[&str]) -> Vec<String> {
    let engine =
        |name: &str, seed: u32| format!("name={name} cmd={} args=seed={seed}", instant().display());
    let journal = folder.join(journal);
    // One that is left from the turn before would go on.
    let _ = std::fs::remove_file(&journal);
    let fixed = ["match", "--quiet", "--tc", "600+1", "--journal"];
    let fixed = fixed.iter().chain(more).map(|word| (*word).to_owned());
    let mut words: Vec<String> = fixed.collect();
    words.insert(5, journal.display().to_string());
    words.extend(["--rounds".into(), rounds.to_string(), engine("A", 1), engine("B", 2)]);
    words
}

fn journal(index: usize) -> String {
    format!("{index}.journal")
}

fn one_run(folder: &Path, rounds: usize) -> Duration {
    let at_once = SHARDS.to_string();
    let words = words(folder, rounds, "one.journal", &["--concurrency", &at_once]);
    let began = Instant::now();
    ended(gate4k(&words));
    began.elapsed()
}

fn shards(folder: &Path, rounds: usize) -> Duration {
    let words = |index: usize| {
        words(folder, rounds, &journal(index), &["--shard", &format!("{index}/{SHARDS}")])
    };
    let all: Vec<_> = (1..=SHARDS).map(words).collect();
    let began = Instant::now();
    let all: Vec<Child> = all.iter().map(|words| gate4k(words)).collect();
    all.into_iter().for_each(ended);
    began.elapsed()
}

fn merge(folder: &Path) {
    let path = |name: &str| folder.join(name).display().to_string();
    let mut words = vec!["merge".into(), "--quiet".into(), "--pgn".into(), path("games.pgn")];
    words.extend((1..=SHARDS).map(|index| path(&journal(index))));
    let (before, began) = (children(), Instant::now());
    let mut child = gate4k(&words);
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    let done = loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib: Option<u64> =
            line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        most = most.max(kib.unwrap_or(0));
        if let Some(done) = child.try_wait().expect("gate4k is waited for") {
            break done;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    assert!(done.success(), "{done}");
    let bytes: u64 = (1..=SHARDS)
        .filter_map(|index| folder.join(journal(index)).metadata().ok())
        .map(|file| file.len())
        .sum();
    println!(
        "merge of {} MB: {:.2} s, {:.2} s of a processor, {:.1} MiB",
        bytes / 1_000_000,
        began.elapsed().as_secs_f64(),
        children().saturating_sub(before).as_secs_f64(),
        most as f64 / 1024.0
    );
}

fn main() {
    let games = std::env::var("GATE4K_GAMES").ok().and_then(|word| word.parse().ok());
    let rounds = games.unwrap_or(10_000_usize).div_ceil(2);
    let folder = tempfile::tempdir().expect("a directory");
    let (mut one, mut four) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        one.push(one_run(folder.path(), rounds).as_secs_f64());
        four.push(shards(folder.path(), rounds).as_secs_f64());
    }
    let (one, four) = (median(one), median(four));
    println!(
        "{} games: one run with {SHARDS} at a time {one:.2} s, {SHARDS} shards {four:.2} s, ratio {:.3}",
        2 * rounds,
        four / one
    );
    merge(folder.path());
}
