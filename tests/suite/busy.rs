//! A check on a host that other programs keep busy.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::trials::Test;

/// Programs that compute until they are dropped.
struct Load(Vec<Child>);

impl Load {
    fn of(programs: usize) -> Load {
        let loops = (0..programs).map(|_| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn().unwrap()
        });
        Load(loops.collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Checks an entry beside many programs that compute for 15 s. Where still others compute, nothing is decided; held against it
/// is nothing.
fn is_not_rejected_beside_others(engine: &[u8], words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let entry = folder.path().join("engine");
    fs::write(&entry, engine).unwrap();
    fs::set_permissions(&entry, fs::Permissions::from_mode(0o755)).unwrap();

    let processors = thread::available_parallelism().unwrap().get();
    let load = Load::of(8 * processors);
    let ends = thread::spawn(move || {
        thread::sleep(Duration::from_secs(15));
        drop(load);
    });
    let output = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["check", "--quick", "--format=json", "--jobs=1"])
        .args(words)
        .env("GATE4K_ON_BUSY_HOST", "judge-again")
        .arg(&entry)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    ends.join().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let judged = &document["entries"][0];
    if judged["verdict"] != "accepted" {
        assert_eq!(judged["verdict"], "undecided", "{told}\n{document:#}");
        assert!(judged.to_string().contains("the host was too busy to tell"), "{document:#}");
    }
}

/// It needs half of its limit for its start, which a ninth of a processor does not give it.
fn a_start_that_other_programs_kept_back_is_judged_again_when_they_have_ended() {
    let sound = fs::read("fixtures/entries/accept/python3/engine").unwrap();
    let rest = sound.strip_prefix(b"#!/usr/bin/python3\n").unwrap();
    let slow = b"#!/usr/bin/python3\nimport time\nwhile time.process_time()<1.5:pass\n";
    is_not_rejected_beside_others(&[&slow[..], rest].concat(), &["--startup-limit=3s"]);
}

/// It dies at a `go` where it gets less than a third of a processor for a moment, whatever its clock says.
fn a_crash_that_other_programs_caused_is_judged_again_when_they_have_ended() {
    let sound = fs::read_to_string("fixtures/entries/accept/clock-none-below-a-second/engine");
    let go = " if a[0] == \"go\":\n";
    let starved = "  t = time.time(), time.process_time()\n  while time.time() < t[0] + 0.1:\n   pass\n  \
        if time.process_time() < t[1] + 0.03:\n   os.kill(os.getpid(), 11)\n";
    let engine = sound.unwrap().replacen("import sys", "import sys, os, time", 1);
    assert_eq!(engine.matches(go).count(), 1);
    is_not_rejected_beside_others(engine.replace(go, &(go.to_owned() + starved)).as_bytes(), &[]);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_start_that_other_programs_kept_back_is_judged_again_when_they_have_ended
            [Landlock, Python3] alone,
        slow a_crash_that_other_programs_caused_is_judged_again_when_they_have_ended
            [Landlock, Python3] alone,
    ]
}
