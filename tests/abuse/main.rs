//! Attacks on the sandbox: each is shown to work outside, and must fail inside, be named, and leave nothing,
//! as root and as an ordinary user, with namespaces and without.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "all of this is a test, and a test that cannot go on has failed"
)]

mod appearance;
mod attack;
mod checked;
mod control;
mod events;
mod files;
mod host;
mod inside;
mod leftovers;
mod network;
mod privileges;
mod processes;
mod program;
mod programs;
mod resources;
mod unseen;
mod verdict;
mod world;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use attack::Attack;
use control::Shown;
use program::Program;

fn attacks() -> Vec<Attack> {
    let mut all = programs::attacks();
    all.extend(network::attacks());
    all.extend(privileges::attacks());
    all.extend(processes::attacks());
    all.extend(resources::attacks());
    all.extend(files::attacks());
    all.extend(leftovers::attacks());
    all.extend(events::attacks());
    all.extend(unseen::attacks());
    if let Ok(only) = std::env::var("GATE4K_ABUSE_ONLY") {
        all.retain(|attack| only.split(',').any(|name| name == attack.name));
    }
    all
}

/// Does something with every attack, three at a time, since most of them wait.
fn each(attacks: &[Attack], work: impl Fn(&Attack) -> Vec<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(attack) = attacks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = work(attack);
                    if !found.is_empty() {
                        let line =
                            format!("{} {}: {}", attack.group, attack.name, found.join("; "));
                        wrong.lock().unwrap().push(line);
                    }
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}

/// Writes a file that can be executed at once.
fn write_program(path: &std::path::Path, bytes: &[u8]) {
    use std::io::Write;
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o755);
    options.open(path).unwrap().write_all(bytes).unwrap();
    // Whatever the mask is.
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// A descriptor that was not meant for the entry and that nobody marked to be closed when a program starts.
fn leave_open() -> std::os::fd::OwnedFd {
    nix::unistd::dup(std::fs::File::open("/dev/null").unwrap()).unwrap()
}

#[test]
fn there_are_more_than_a_hundred_and_each_group_has_some() {
    let all = attacks();
    let groups: BTreeSet<u8> = all.iter().map(|attack| attack.group).collect();
    // The first two groups, the rules' own examples, are in `host.rs`.
    assert_eq!(groups, (3..=26).collect());
    let names: BTreeSet<&str> = all.iter().map(|attack| attack.name).collect();
    assert!(names.len() > 100, "{}", names.len());
}

#[test]
fn every_attack_works_outside() {
    let program = Program::get();
    let root = nix::unistd::Uid::effective().is_root();
    let stray = leave_open();
    let failed = each(&attacks(), |attack| match control::show(attack, &program, root) {
        Shown::Works => Vec::new(),
        Shown::Skipped(why) => {
            println!("skipped outside: {} {}: {why}", attack.group, attack.name);
            Vec::new()
        }
        Shown::Fails(out) => vec![format!("it does not work outside: {out:?}")],
    });
    drop(stray);
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
