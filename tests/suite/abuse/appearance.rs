//! Judged and played, an entry finds the same world: nothing that it can ask tells one start from another.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::Duration;

use gate4k::sandbox::capability::Capability;
use gate4k::sandbox::plan::Audit;

use super::attack::c;
use super::inside::{Sandboxes, run};
use super::program::Program;
use super::world::World;
use crate::trials::Test;

/// Lines that differ from start to start by nature: numbers of namespaces and the name of the staged file.
fn plain(text: &str) -> Vec<&str> {
    // (The number of an autogroup goes on from session to session of the whole host.)
    let own = ["Name:", "HELD", "ESCAPED", "/autogroup-"];
    text.lines().filter(|line| !own.iter().any(|start| line.starts_with(start))).collect()
}

fn same(one: &str, other: &str) {
    let (one, other) = (plain(one), plain(other));
    let differ: Vec<_> = one.iter().zip(&other).filter(|(a, b)| a != b).collect();
    assert!(differ.is_empty() && one.len() == other.len(), "{differ:#?}");
}

fn every_start_looks_the_same_from_inside() {
    let program = Program::get();
    let world = World::new(None, Some(std::process::id()));
    let entry = program.entry(&c(26, "appearance"), &world);
    let able = Capability::probe().namespaces.is_ok();
    let sandboxes = Sandboxes::new(able);
    let patience = Duration::from_secs(60);
    let probed = run(sandboxes.plain(), entry.clone(), Audit::Full, patience).out;
    let played = run(sandboxes.plain(), entry.clone(), Audit::ProgramsOnly, patience).out;
    assert!(probed.contains("== /proc/self/uid_map") && probed.contains("net b701"), "{probed}");
    same(&probed, &played);

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("entry");
    super::write_program(&path, &entry);
    let (mut error, writer) = std::io::pipe().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .arg("run")
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(OwnedFd::from(writer))
        .spawn()
        .unwrap();
    let mut run = String::new();
    child.stdout.take().unwrap().read_to_string(&mut run).unwrap();
    child.wait().unwrap();
    let mut said = String::new();
    error.read_to_string(&mut said).unwrap();
    assert!(run.contains("net b701"), "{run} {said}");
    same(&probed, &run);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![slow every_start_looks_the_same_from_inside [Landlock]]
}
