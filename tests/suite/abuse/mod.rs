//! Attacks on the sandbox: each is shown to work outside, and must fail inside, be named, and leave nothing,
//! as root and as an ordinary user, with namespaces and without.

mod abi;
mod appearance;
mod attack;
mod batches;
mod channels;
mod checked;
mod control;
mod events;
mod files;
mod host;
mod inside;
mod kernel;
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
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use attack::{Attack, Control};
use program::Program;

use crate::needs::Need;
use crate::trials::Test;

/// The attacks that alone are asked for.
fn wanted() -> Option<String> {
    std::env::var("GATE4K_ABUSE_ONLY").ok()
}

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
    all.extend(channels::attacks());
    all.extend(kernel::attacks());
    if let Some(only) = wanted() {
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
    // With any mask.
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// Starts a program that was written just now.
fn started(command: &mut std::process::Command) -> std::process::Child {
    use std::time::{Duration, Instant};
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match command.spawn() {
            Ok(child) => return child,
            // Another thread has just forked, and its child has not let go of the file that was written.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                assert!(Instant::now() < deadline, "{error}");
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// A descriptor that was not meant for the entry and that nobody marked to be closed when a program starts.
fn leave_open() -> OwnedFd {
    nix::unistd::dup(std::fs::File::open("/dev/null").unwrap()).unwrap()
}

fn there_are_some_four_hundred_and_each_group_has_some() {
    let all = attacks();
    let groups: BTreeSet<u8> = all.iter().map(|attack| attack.group).collect();
    // The first two groups, the rules' own examples, are in `host.rs`.
    assert_eq!(groups, (3..=28).collect());
    let names: BTreeSet<&str> = all.iter().map(|attack| attack.name).collect();
    assert!((380..480).contains(&names.len()), "SECURITY.md says some 400: {}", names.len());
    for attack in &all {
        if let Control::Skipped(why) = attack.control {
            assert!(why.contains(' '), "{} is not shown outside, for no reason", attack.name);
        }
    }
}

/// Of SECURITY.md's table of attacks, the last column: attacks, `*` for any letters, or modules and files with tests.
fn every_name_in_the_table_of_security_is_one_of_a_test() {
    let text = include_str!("../../../SECURITY.md");
    let (_, table) = text.split_once("| Group | Attacks |").unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let tests = rows.map(|row| row.rsplit('|').nth(1).unwrap());
    let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = attacks();
    let mut count = 0;
    for word in tests.flat_map(|cell| cell.split([',', ';', ' '])) {
        let word = word.trim_matches(['`', '(', ')']).replace('\\', "");
        let known = if word.contains('/') {
            top.join(&word).exists()
        } else if let Some((module, test)) = word.split_once("::") {
            let file = top.join(format!("tests/suite/abuse/{module}.rs"));
            let text = std::fs::read_to_string(file).unwrap_or_default();
            text.contains(&format!("fn {}", test.trim_end_matches('…')))
        } else if word.contains('_') {
            let parts: Vec<&str> = word.split('*').collect();
            all.iter().any(|attack| match parts[..] {
                [start, end] => attack.name.starts_with(start) && attack.name.ends_with(end),
                _ => attack.name == word,
            })
        } else {
            continue;
        };
        assert!(known, "SECURITY.md names {word}, which is no attack, test or file");
        count += 1;
    }
    assert!(count > 60, "{count}");
}

/// Each attack outside of the sandbox; those that cannot be shown there have no test there.
fn outside() -> Vec<Test> {
    let mut all = Vec::new();
    for attack in attacks() {
        let root = match attack.control {
            Control::Skipped(_) => continue,
            Control::Root | Control::RootIfAble => Some(Need::Root),
            Control::User | Control::IfAble => None,
        };
        let needs: Vec<Need> = root.into_iter().chain(attack.needs()).collect();
        let module = concat!(module_path!(), "::outside");
        let test = Test::new("slow", module, attack.name, move || {
            // Of the whole process, and never closed.
            static STRAY: OnceLock<OwnedFd> = OnceLock::new();
            STRAY.get_or_init(leave_open);
            control::show(&attack, Program::get());
        });
        all.push(test.needs(&needs));
    }
    all
}

pub(crate) fn tests() -> Vec<Test> {
    let mut all = host::tests();
    all.extend(abi::tests());
    all.extend(appearance::tests());
    all.extend(channels::tests());
    all.extend(checked::tests());
    all.extend(batches::tests());
    all.extend(outside());
    if wanted().is_none() {
        all.extend(tests![
            quick there_are_some_four_hundred_and_each_group_has_some,
            quick every_name_in_the_table_of_security_is_one_of_a_test,
        ]);
    }
    all
}
