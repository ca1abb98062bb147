//! The cost of a batch: `cargo bench --bench batch`.
//!
//! A hundred entries under other names (each accepted fixture twice, and fifty that break a rule without hanging) are
//! judged by `gate4k check DIRECTORY` with its defaults; with `-- hang`, one that stops itself and one that floods its
//! output stand among them, too. Printed is the wall time against half of the processor time on two processors (or the
//! share of as many as there are). That time is the whole machine's: what is killed in a sandbox is waited for by no
//! parent, so that `getrusage` does not know of it. Run it on a machine that does nothing else.
#![expect(clippy::expect_used, reason = "a benchmark that cannot measure has nothing to say")]

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/entries");

/// Of each rule some, and none that is waited for as long as a start may take.
const REJECTED: [&str; 50] = [
    "chess-library-as",
    "chess-library-pypy",
    "commands-awk",
    "commands-cat-needed",
    "commands-date",
    "commands-memfd",
    "commands-perl",
    "commands-python-sh",
    "commands-sed",
    "commands-thread",
    "file-name-key",
    "format-elf-cut",
    "format-junk",
    "leftover-files-after-game",
    "leftover-files-home",
    "leftover-files-no-rm-cc",
    "leftover-files-tmp-hidden",
    "leftover-processes-deaf",
    "leftover-processes-stopped",
    "legal-moves-castle-rook-stays",
    "legal-moves-en-passant-pinned",
    "legal-moves-leaves-check",
    "legal-moves-null-move",
    "legal-moves-promotion-upper",
    "legal-moves-round-the-edge",
    "libraries-perl-json",
    "long-game-byte",
    "long-game-segv",
    "match-illegal",
    "payload-binary",
    "payload-options-number",
    "ponder-ignored",
    "single-file-source",
    "size-json-check",
    "size-json-initstring-many",
    "size-json-ownbook",
    "size-json-workingdirectory",
    "startup-compile-error",
    "startup-hash-c",
    "startup-no-loader",
    "startup-segv-elf",
    "startup-unpack-error",
    "uci-go-dies",
    "uci-go-hash",
    "uci-isready-dies",
    "uci-newgame-dies",
    "uci-position-dies",
    "uci-position-first",
    "uci-position-ignored",
    "uci-quit-asks",
];

/// Copies a fixture without what is expected of it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a directory");
    for file in std::fs::read_dir(from).expect("a fixture").flatten() {
        if file.file_name() != "expected.toml" {
            std::fs::copy(file.path(), to.join(file.file_name())).expect("a file");
        }
    }
}

/// The time that the processors have computed since the machine was started (`/proc/stat`, proc(5): user, nice, system,
/// irq and softirq, in hundredths of a second).
fn busy() -> Duration {
    let stat = std::fs::read_to_string("/proc/stat").expect("/proc/stat");
    let line = stat.lines().next().unwrap_or_default();
    let ticks: Vec<u64> = line.split_whitespace().skip(1).filter_map(|n| n.parse().ok()).collect();
    let sum = [0, 1, 2, 5, 6].iter().filter_map(|at| ticks.get(*at)).sum::<u64>();
    Duration::from_millis(sum * 10)
}

fn main() {
    let hang = std::env::args().any(|word| word == "hang");
    let mut accepted: Vec<_> = std::fs::read_dir(Path::new(FIXTURES).join("accept"))
        .expect("the accepted fixtures")
        .flatten()
        .map(|item| item.path())
        .collect();
    accepted.sort();
    let rejected = REJECTED.map(|name| Path::new(FIXTURES).join("reject").join(name));
    let dir = tempfile::tempdir().expect("a directory");
    let twice = accepted.iter().chain(&accepted);
    for (number, fixture) in twice.chain(&rejected).enumerate() {
        copy(fixture, &dir.path().join(format!("e{number:03}")));
    }
    let sound = 2 * accepted.len();
    if hang {
        for (name, fixture) in [("hang", "startup-stops-itself"), ("flood", "startup-flood")] {
            // In the middle of the list, which is in the order of its names.
            let to = dir.path().join(format!("e{:03}-{name}", sound - 1));
            copy(&Path::new(FIXTURES).join("reject").join(fixture), &to);
        }
    }

    let (start, before) = (Instant::now(), busy());
    let done = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["check", "--no-cache", "--quiet", "--format", "json"])
        .arg(dir.path())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .expect("gate4k");
    let (wall, used) = (start.elapsed(), busy().saturating_sub(before));
    let report: Value = serde_json::from_slice(&done.stdout).expect("a report");
    let entries = report["entries"].as_array().expect("entries");
    let is_accepted = |entry: &&Value| entry["verdict"] == "accepted";
    let count = entries.iter().filter(is_accepted).count();
    assert_eq!(count, sound, "each fixture has its verdict");

    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let share = used.as_secs_f64() / processors as f64;
    println!("{} entries, {count} of them accepted, on {processors} processors", entries.len());
    println!("  wall                      {:7.1} s", wall.as_secs_f64());
    println!("  processor time, each      {share:7.1} s");
    println!("  wall / processor time     {:7.2} x", wall.as_secs_f64() / share);
}
