//! What gate4k itself costs, as ratios against baselines of the same run: `cargo bench --bench overhead`.
//!
//! - the start of a sandboxed `true` (clone, namespaces, root, Landlock, seccomp, ptrace, exec, end, tear-down)
//!   against a plain start and, where it is installed, bwrap with all namespaces;
//! - a whole check of an engine that answers at once, less what the engine itself used.
#![expect(clippy::expect_used, reason = "a benchmark that cannot measure has nothing to say")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gate4k::conformance::probe::Waits;
use gate4k::evidence::Shell;
use gate4k::gate::{Gate, Settings};
use gate4k::policy::allowlist::Allowlist;
use gate4k::policy::decide::Strictness;
use gate4k::policy::toolchain::Toolchain;
use gate4k::sandbox::Sandbox;
use gate4k::sandbox::capability::Capability;
use gate4k::sandbox::plan::{Audit, Launcher, Plan, Staging};
use nix::sys::resource::{UsageWho, getrusage};

const RUNS: usize = 200;

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

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
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

fn sandboxed(sandbox: &Sandbox, plan: &Plan) -> Duration {
    let start = Instant::now();
    let (confined, pipes) = sandbox.launch(plan).expect("the sandbox starts");
    drop(pipes);
    assert!(confined.wait_empty(start + Duration::from_secs(10)), "it did not end");
    let traces = confined.close();
    assert!(traces.launch_failure.is_none(), "{:?}", traces.launch_failure);
    start.elapsed()
}

fn starts() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("true");
    std::fs::write(&path, nothing()).expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("a mode");

    let list = Arc::new(Allowlist::built_in().clone());
    let looked = Instant::now();
    let tools = Arc::new(Toolchain::discover(list, Strictness::Tolerant));
    let looked = looked.elapsed();
    let capability = Capability::probe();
    let namespaces = capability.namespaces.is_ok();
    let sandbox = Sandbox::new(tools.host(namespaces), tools);
    let plan = |audit| Plan {
        bytes: nothing().into(),
        staging: Staging::Neutral,
        shell: Shell::AsIs,
        audit,
    };
    let (play, full) = (plan(Audit::ProgramsOnly), plan(Audit::Full));
    let mut times: [Vec<Duration>; 4] = Default::default();
    for _ in 0..RUNS {
        times[0].push(plain(&path));
        times[1].extend(bwrap(&path));
        times[2].push(sandboxed(&sandbox, &play));
        times[3].push(sandboxed(&sandbox, &full));
    }
    let [plain, bwrap, play, full] = times.map(|times| (!times.is_empty()).then(|| median(times)));
    let base = plain.unwrap_or_default();
    println!("start of a program that only exits, median of {RUNS} (namespaces: {namespaces})");
    for (name, time) in [
        ("plain", plain),
        ("bwrap, all namespaces", bwrap),
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
    println!("  looking through the host, once: {:.1} ms", looked.as_secs_f64() * 1e3);
}

/// Processor time of all children that have been waited for.
fn children() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("rusage");
    let time =
        |t: nix::sys::time::TimeVal| Duration::new(t.tv_sec() as u64, t.tv_usec() as u32 * 1000);
    time(usage.user_time()) + time(usage.system_time())
}

fn whole_check() {
    // One byte too many, and otherwise sound: an ELF that answers at once.
    let entry = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/reject/size-elf-4097");
    let mut totals = Vec::new();
    let mut engines = Vec::new();
    for _ in 0..5 {
        let before = children();
        let start = Instant::now();
        let gate = Gate::open(Settings::default()).expect("the gate opens");
        let report = gate.check(&entry, &|_| ()).expect("a report");
        totals.push(start.elapsed());
        engines.push(children().saturating_sub(before));
        assert!(report.startup.readyok.is_some(), "it did not start");
    }
    let (total, engine) = (median(totals), median(engines));
    let waits = Waits::default().idle * 2;
    println!("a whole check of an engine that answers at once, median of 5");
    println!("  total                    {:7.1} ms", total.as_secs_f64() * 1e3);
    println!("  its processes' CPU time  {:7.1} ms", engine.as_secs_f64() * 1e3);
    println!(
        "  waits that rules force   {:7.1} ms (idle before and after a move)",
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
    starts();
    whole_check();
}
