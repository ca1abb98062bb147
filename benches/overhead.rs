//! The cost of gate4k itself, as ratios against baselines of the same run: `cargo bench --bench overhead`.
//!
//! - the start of a sandboxed `true` (clone, namespaces, root, Landlock, seccomp, ptrace, exec, end, tear-down)
//!   against a plain start and, where they are installed, bwrap with all namespaces and firejail;
//! - the nodes per second of Stockfish inside and outside, where it is installed;
//! - the rules' second example (sh, xz, cc) from its start to `uciok`, inside and outside;
//! - a whole check of an engine that answers at once, less what the engine itself used.
#![expect(clippy::expect_used, reason = "a benchmark that cannot measure has nothing to say")]

#[path = "common/median.rs"]
mod median;
#[path = "common/processor.rs"]
mod processor;

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use gate4k::judge::Judge;
use gate4k::judge::probe::ProbeWaits;
use gate4k::judge::settings::Settings;
use gate4k::model::evidence::Shell;
use gate4k::policy::allowlist::Allowlist;
use gate4k::policy::decide::Strictness;
use gate4k::policy::toolchain::Toolchain;
use gate4k::sandbox::Sandbox;
use gate4k::sandbox::capability::Capability;
use gate4k::sandbox::plan::{Audit, Launcher, Staging, StartPlan};
use median::median;
use processor::children;

const RUNS: usize = 200;
/// Starts without a pause between them, before the others have their turn.
const BLOCK: usize = 20;
/// Until nothing is left of the one before.
const SETTLE: Duration = Duration::from_millis(100);

/// An ELF that only exits: 64-bit header, one segment, `mov eax,60; xor edi,edi; syscall`.
fn nothing() -> Vec<u8> {
    let mut elf = vec![0x7f, b'E', b'L', b'F', 2, 1, 1];
    elf.resize(16, 0);
    let code = [0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05];
    let base = 0x40_0000u64;
    elf.extend(2u16.to_le_bytes());
    elf.extend(62u16.to_le_bytes());
    elf.extend(1u32.to_le_bytes());
    elf.extend((base + 120).to_le_bytes());
    elf.extend(64u64.to_le_bytes());
    elf.extend(0u64.to_le_bytes());
    elf.extend(0u32.to_le_bytes());
    for half in [64u16, 56, 1, 0, 0, 0] {
        elf.extend(half.to_le_bytes());
    }
    elf.extend(1u32.to_le_bytes());
    elf.extend(5u32.to_le_bytes());
    let size = 120 + code.len() as u64;
    for word in [0, base, base, size, size, 0x1000] {
        elf.extend(word.to_le_bytes());
    }
    elf.extend(code);
    elf
}

fn median_time(times: &[Duration]) -> Duration {
    Duration::from_secs_f64(median(times.iter().map(Duration::as_secs_f64)))
}

fn plain(path: &Path) -> Duration {
    let start = Instant::now();
    let done = Command::new(path).stdin(Stdio::null()).stdout(Stdio::null()).status();
    assert!(done.is_ok_and(|status| status.success()), "the plain start failed");
    start.elapsed()
}

fn bwrap(path: &Path) -> Option<Duration> {
    let start = Instant::now();
    let done = Command::new("bwrap")
        .args(["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/"])
        .args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/var/tmp"])
        .arg(path)
        .status()
        .ok()?;
    done.success().then(|| start.elapsed())
}

fn firejail(path: &Path) -> Option<Duration> {
    let start = Instant::now();
    let done = Command::new("firejail")
        .args(["--quiet", "--noprofile", "--net=none", "--seccomp", "--caps.drop=all"])
        .args(["--private-tmp", "--private-dev", "--"])
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .ok()?;
    done.success().then(|| start.elapsed())
}

fn sandboxed(sandbox: &dyn Launcher, plan: &StartPlan) -> Duration {
    let start = Instant::now();
    let (confined, pipes) = sandbox.launch(plan).expect("the sandbox starts");
    drop(pipes);
    assert!(confined.wait_empty(start + Duration::from_secs(10)), "it did not end");
    let traces = confined.close();
    assert!(traces.launch_failure.is_none(), "{:?}", traces.launch_failure);
    start.elapsed()
}

fn starts(sandbox: &Sandbox, namespaces: bool) {
    // Not in /tmp, of which firejail shows a private one.
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let path = dir.path().join("true");
    std::fs::write(&path, nothing()).expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("a mode");

    let plan = |audit| StartPlan {
        bytes: nothing().into(),
        staging: Staging::Neutral,
        shell: Shell::AsIs,
        audit,
    };
    let (play, full) = (plan(Audit::ProgramsOnly), plan(Audit::Full));
    let mut times: [Vec<Duration>; 5] = Default::default();
    // By turns, since the speed of a machine drifts; and each alone for a while, or one would pay for what the kernel
    // still clears away of another.
    for _ in 0..RUNS / BLOCK {
        let mut block = |index: usize, one: &dyn Fn() -> Option<Duration>| {
            std::thread::sleep(SETTLE);
            for _ in 0..BLOCK {
                times[index].extend(one());
            }
        };
        block(0, &|| Some(plain(&path)));
        block(1, &|| bwrap(&path));
        block(2, &|| Some(sandboxed(sandbox, &play)));
        block(3, &|| Some(sandboxed(sandbox, &full)));
        block(4, &|| firejail(&path));
    }
    let [plain, bwrap, play, full, firejail] =
        times.map(|times| (!times.is_empty()).then(|| median_time(&times)));
    let base = plain.unwrap_or_default();
    println!("start of a program that only exits, median of {RUNS} (namespaces: {namespaces})");
    for (name, time) in [
        ("plain", plain),
        ("bwrap, all namespaces", bwrap),
        ("firejail", firejail),
        ("sandbox, programs only", play),
        ("sandbox, full audit", full),
    ] {
        match time {
            Some(time) => println!(
                "  {name:24} {:7.2} ms  {:5.2} x plain{}",
                time.as_secs_f64() * 1e3,
                time.as_secs_f64() / base.as_secs_f64(),
                bwrap.map_or(String::new(), |b| format!(
                    "  {:4.2} x bwrap",
                    time.as_secs_f64() / b.as_secs_f64()
                ))
            ),
            None => println!("  {name:24} not installed or not possible here"),
        }
    }
}

/// Runs a program in the sandbox with this input and gives its output up to the line that holds `word`, and the time
/// from its start to that line.
fn talk_inside(sandbox: &Sandbox, bytes: &[u8], input: &str, word: &str) -> (Duration, String) {
    let plan = StartPlan {
        bytes: bytes.into(),
        staging: Staging::Neutral,
        shell: Shell::AsIs,
        audit: Audit::ProgramsOnly,
    };
    let start = Instant::now();
    let (confined, pipes) = sandbox.launch(&plan).expect("the sandbox starts");
    File::from(pipes.stdin).write_all(input.as_bytes()).expect("input is taken");
    let heard = hear(File::from(pipes.stdout), File::from(pipes.stderr), word);
    let time = start.elapsed();
    confined.kill();
    confined.close();
    (time, heard)
}

/// The same outside.
fn talk_outside(program: &Path, input: &str, word: &str) -> (Duration, String) {
    let start = Instant::now();
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a start");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("input is taken");
    drop(stdin);
    let heard =
        hear(child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"), word);
    let time = start.elapsed();
    // Processes that only sleep and clean up end by themselves.
    let _ = child.kill();
    let _ = child.wait();
    (time, heard)
}

/// The first line with the word, from either stream.
fn hear(out: impl Read + Send + 'static, err: impl Read + Send + 'static, word: &str) -> String {
    let (send, lines) = mpsc::channel::<String>();
    let read = |from: Box<dyn Read + Send>, send: mpsc::Sender<String>| {
        std::thread::spawn(move || {
            for line in BufReader::new(from).lines().map_while(Result::ok) {
                // Nobody listens any more once the word has come.
                if send.send(line).is_err() {
                    break;
                }
            }
        })
    };
    read(Box::new(out), send.clone());
    read(Box::new(err), send);
    lines.into_iter().find(|line| line.contains(word)).expect("the word comes")
}

/// Nodes per second of a search that is the same each time.
fn speed(sandbox: &Sandbox) {
    const INPUT: &str =
        "setoption name Use NNUE value false\nbench 16 1 11 default depth classical\nquit\n";
    let program = ["/usr/games/stockfish", "/usr/bin/stockfish", "/usr/local/bin/stockfish"]
        .into_iter()
        .map(Path::new)
        .find(|path| path.is_file());
    let Some(program) = program else {
        println!("Stockfish is not installed");
        return;
    };
    let bytes = std::fs::read(program).expect("its file");
    let nodes = |line: &str| -> f64 {
        line.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("a number")
    };
    let word = "Nodes/second";
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for _ in 0..13 {
        outside.push(nodes(&talk_outside(program, INPUT, word).1));
        inside.push(nodes(&talk_inside(sandbox, &bytes, INPUT, word).1));
    }
    let (inside, outside) = (median(inside), median(outside));
    println!("Stockfish, nodes per second, median of 13 interleaved runs");
    println!("  outside {outside:.0}, inside {inside:.0}: {:.2} %", inside / outside * 100.0);
}

/// An entry that unpacks and compiles itself, up to `uciok`.
fn compiles(sandbox: &Sandbox) {
    const TIMES: usize = 41;
    let entry = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/accept/c-xz/engine");
    let bytes = std::fs::read(&entry).expect("the fixture");
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        outside.push(talk_outside(&entry, "uci\nquit\n", "uciok").0);
        inside.push(talk_inside(sandbox, &bytes, "uci\nquit\n", "uciok").0);
    }
    let (inside, outside) = (median_time(&inside), median_time(&outside));
    println!("sh, xz and cc up to uciok, median of {TIMES} interleaved runs");
    println!(
        "  outside {:.1} ms, inside {:.1} ms: {:.3} x",
        outside.as_secs_f64() * 1e3,
        inside.as_secs_f64() * 1e3,
        inside.as_secs_f64() / outside.as_secs_f64()
    );
}

fn whole_check() {
    // One byte too many, and otherwise sound: an ELF that answers at once.
    let entry = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/reject/size-elf-4097");
    let mut totals = Vec::new();
    let mut engines = Vec::new();
    for _ in 0..5 {
        let before = children();
        let start = Instant::now();
        let judge = Judge::open(Settings::default()).expect("the judge opens");
        let report = judge.assess(&entry, judge.settings().jobs, &|_| ()).expect("a report");
        totals.push(start.elapsed());
        engines.push(children().saturating_sub(before));
        assert!(report.startup.readyok.is_some(), "it did not start");
    }
    let (total, engine) = (median_time(&totals), median_time(&engines));
    let waits = ProbeWaits::default().watched_at_rest();
    println!("a whole check of an engine that answers at once, median of 5");
    println!("  total                    {:7.1} ms", total.as_secs_f64() * 1e3);
    println!("  its processes' CPU time  {:7.1} ms", engine.as_secs_f64() * 1e3);
    println!(
        "  waits that rules force   {:7.1} ms (whether it rests before and after a move)",
        waits.as_secs_f64() * 1e3
    );
    let own = total.saturating_sub(engine).saturating_sub(waits);
    println!(
        "  gate4k's own             {:7.1} ms, {:.2} x the total",
        own.as_secs_f64() * 1e3,
        own.as_secs_f64() / total.as_secs_f64()
    );
}

fn main() {
    let list = Arc::new(Allowlist::built_in().clone());
    let looked = Instant::now();
    let tools = Arc::new(Toolchain::discover(list, Strictness::Tolerant));
    println!("looking through the host, once: {:.1} ms", looked.elapsed().as_secs_f64() * 1e3);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load of the machine: {}", load.trim());
    let namespaces = Capability::probe().namespaces.is_ok();
    let sandbox = Sandbox::new(tools.host(namespaces), tools);
    // One part alone: `cargo bench --bench overhead -- starts`.
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let wanted = |part: &str| words.is_empty() || words.iter().any(|word| word == part);
    if wanted("starts") {
        starts(&sandbox, namespaces);
    }
    if wanted("speed") {
        speed(&sandbox);
    }
    if wanted("compiles") {
        compiles(&sandbox);
    }
    if wanted("check") {
        whole_check();
    }
}
