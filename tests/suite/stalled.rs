//! A tracer that does not get on: a thread of gate4k's is stopped from outside, as if something that it does never ended. It is given
//! up and told, nobody is accused or accepted for it, and everybody else is judged.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::ptrace;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde_json::Value;

use crate::trials::Test;

const SOUND: &[u8] = include_bytes!("../../fixtures/entries/accept/elf/engine");

/// When the tracer is stopped.
#[derive(Clone, Copy, PartialEq)]
enum Moment {
    /// Wherever it is.
    Any,
    /// In the middle of an event.
    Event,
}

/// An entry that opens files all the time for two seconds and then is a sound engine, and its folder.
fn entry(top: &Path, name: &str, head: &str) -> PathBuf {
    let folder = top.join(name);
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("engine");
    let mut bytes = head.as_bytes().to_vec();
    bytes.extend_from_slice(SOUND);
    std::fs::write(&path, bytes).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

/// The thread of this gate4k that traces a shell: the start of an entry that is a script.
fn tracer_of_a_shell(gate4k: u32) -> Option<Pid> {
    let field = |status: &str, name: &str| -> Option<i32> {
        status.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
    };
    let tracer = |item: std::fs::DirEntry| {
        let status = std::fs::read_to_string(item.path().join("status")).ok()?;
        let tracer = field(&status, "TracerPid:").filter(|pid| *pid != 0)?;
        let of = std::fs::read_to_string(format!("/proc/{tracer}/status")).ok()?;
        if field(&of, "Tgid:") != Some(gate4k as i32) {
            return None;
        }
        let words = std::fs::read(item.path().join("cmdline")).ok()?;
        words.starts_with(b"/bin/sh\0").then_some(Pid::from_raw(tracer))
    };
    std::fs::read_dir("/proc").unwrap().flatten().find_map(tracer)
}

/// True if a stopped thread waited for something, and is in the middle of nothing.
fn waits(thread: Pid) -> bool {
    let call = std::fs::read_to_string(format!("/proc/{thread}/syscall")).unwrap_or_default();
    let number = call.split_ascii_whitespace().next().and_then(|word| word.parse::<i64>().ok());
    let waits = [
        nix::libc::SYS_waitid,
        nix::libc::SYS_wait4,
        nix::libc::SYS_ppoll,
        nix::libc::SYS_futex,
        nix::libc::SYS_write,
    ];
    number.is_none_or(|number| number < 0 || waits.contains(&number))
}

/// Stops the first tracer of a shell, and keeps it stopped until it has ended with the whole program.
fn stop_tracer(gate4k: u32, moment: Moment) {
    let deadline = Instant::now() + Duration::from_secs(120);
    let thread = loop {
        assert!(Instant::now() < deadline, "no tracer was caught");
        let Some(thread) = tracer_of_a_shell(gate4k) else {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        };
        if ptrace::seize(thread, ptrace::Options::empty()).is_ok() {
            break thread;
        }
    };
    loop {
        assert!(Instant::now() < deadline, "the tracer was in the middle of nothing");
        ptrace::interrupt(thread).unwrap();
        let stopped = waitpid(thread, Some(WaitPidFlag::__WALL)).unwrap();
        assert!(!matches!(stopped, WaitStatus::Exited(..) | WaitStatus::Signaled(..)));
        if moment == Moment::Any || !waits(thread) {
            break;
        }
        ptrace::cont(thread, None).unwrap();
    }
    while let Ok(status) = waitpid(thread, Some(WaitPidFlag::__WALL)) {
        if matches!(status, WaitStatus::Exited(..) | WaitStatus::Signaled(..)) {
            break;
        }
    }
}

fn a_batch_goes_on_without_the_entry_whose_tracer_stands_still() {
    let top = tempfile::tempdir().unwrap();
    let stub =
        "#!/bin/sh\nsleep 2;T=`mktemp`;tail -n+3 \"$0\">$T;chmod +x $T;(sleep 1;rm $T)&exec $T\n";
    let entries = [entry(top.path(), "stalled", stub), entry(top.path(), "sound", "")];
    let mut child = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["check", "--quick", "--no-cache", "--format=json", "--jobs=1", "--size-limit=64K"])
        .args(["--startup-limit=5s"])
        .args(&entries)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let gate4k = child.id();
    let stopper = std::thread::spawn(move || stop_tracer(gate4k, Moment::Any));
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    let status = child.wait().unwrap();
    stopper.join().unwrap();
    let document: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
    let verdict = |at: usize| document["entries"][at]["verdict"].as_str().unwrap().to_owned();
    assert_eq!([verdict(0), verdict(1)], ["undecided", "accepted"], "{text}");
    let findings = document["entries"][0]["findings"].as_array().unwrap();
    let told = |found: &&Value| found["summary"].as_str().is_some_and(|s| s.contains("given up"));
    assert!(findings.iter().any(|found| told(&found)), "{text}");
    assert_eq!(status.code(), Some(4));
}

fn a_run_by_hand_ends_when_its_tracer_stands_still() {
    let top = tempfile::tempdir().unwrap();
    let busy = "#!/bin/sh\nwhile :;do : </dev/null;done\n";
    let path = entry(top.path(), "busy", busy);
    let mut child = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .arg("run")
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let input = child.stdin.take();
    let gate4k = child.id();
    let stopper = std::thread::spawn(move || stop_tracer(gate4k, Moment::Event));
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let status = child.wait().unwrap();
    stopper.join().unwrap();
    drop(input);
    // As of an entry that was killed.
    assert_eq!(status.code(), Some(137), "{said}");
    assert!(said.contains("given up"), "{said}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_batch_goes_on_without_the_entry_whose_tracer_stands_still [Landlock],
        slow a_run_by_hand_ends_when_its_tracer_stands_still [Landlock],
    ]
}
