//! A supervisor that is stuck: its thread is stopped in the midst of an event, as a bug or the kernel could stop it.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gate4k::model::evidence::Record;
use nix::sys::ptrace;
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use crate::trials::Test;

/// The threads of a process that trace.
fn tracers(process: u32) -> Vec<Pid> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let traces = |task: &std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name == "tracer\n")
    };
    let number = |task: std::fs::DirEntry| task.file_name().to_str()?.parse().ok();
    tasks.filter(traces).filter_map(number).map(Pid::from_raw).collect()
}

/// Stops a thread while it handles an event, that is, does not wait for one.
fn stop_within_an_event(thread: Pid, deadline: Instant) {
    ptrace::seize(thread, ptrace::Options::empty()).unwrap();
    while Instant::now() < deadline {
        ptrace::interrupt(thread).unwrap();
        waitpid(thread, Some(WaitPidFlag::__WALL)).unwrap();
        let waits = ptrace::getregs(thread).unwrap().orig_rax == nix::libc::SYS_wait4 as u64;
        if !waits {
            return;
        }
        ptrace::cont(thread, None).unwrap();
        std::thread::sleep(Duration::from_micros(700));
    }
    panic!("the tracer was never seen at work");
}

fn a_run_whose_supervisor_is_stuck_ends_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("engine");
    // Event after event, and never a word of UCI.
    super::write_program(&path, b"#!/bin/sh\nwhile :; do : </dev/null; done\n");
    let mut child = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["check", "--quick", "--match=off", "--startup-limit=10min"])
        .arg(&path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(240);
    // The first threads may be of starts that only try the host: one that lives on is the entry's.
    let thread = loop {
        let before = tracers(child.id());
        std::thread::sleep(Duration::from_millis(1500));
        let after = tracers(child.id());
        if let Some(stays) = before.into_iter().find(|thread| after.contains(thread)) {
            break stays;
        }
        assert!(Instant::now() < deadline, "nothing is traced");
    };
    stop_within_an_event(thread, deadline);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("it goes on although its tracer is stuck");
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    let out = child.wait_with_output().unwrap();
    let text =
        String::from_utf8_lossy(&out.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(status.code(), Some(4), "{text}");
    assert!(text.contains(&Record::Tracer.to_string()), "{text}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![slow a_run_whose_supervisor_is_stuck_ends_and_says_so [Landlock]]
}
