//! The hosts once more, with a kernel that has an older Landlock: its answers are played by a program that runs this test
//! (`c/landlock_abi.c`), its rights are the real kernel's. Version 2 and older confine nothing here; `ci/kernels` boots them.

use std::path::Path;
use std::process::Command;

use nix::unistd::Uid;

use crate::host::{self, Copy};
use crate::world::NOBODY;

/// The places of an attack, as `GATE4K_ABUSE_MODE` has them.
const MODES: [&str; 2] = ["namespaces", "bare"];

/// All attacks on a host with this version of Landlock, as root and as a user, with namespaces and without.
fn everything(abi: i32) {
    let root = Uid::effective().is_root();
    // An ordinary user is itself, and nobody else.
    let users = if root { vec![None, Some(NOBODY)] } else { vec![None] };
    std::thread::scope(|scope| {
        for user in users {
            for mode in MODES {
                let name = format!("ABI {abi}, {mode}, user {user:?}");
                let work = move || {
                    let copy = Copy::new(user);
                    player(&copy.at("landlock_abi"));
                    let player = copy.at("landlock_abi").to_string_lossy().into_owned();
                    let through = [player.as_str(), &abi.to_string()];
                    let mut command = copy.command(&through, "abi::inner", mode, user);
                    command.env("GATE4K_ABUSE_ABI", abi.to_string());
                    host::wait(command);
                    copy.is_clean();
                };
                std::thread::Builder::new().name(name).spawn_scoped(scope, work).unwrap();
            }
        }
    });
}

/// Compiles the program that plays an older kernel.
fn player(out: &Path) {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/abuse/c/landlock_abi.c");
    let status = Command::new("cc").args(["-O1", "-w", "-o"]).arg(out).arg(source).status();
    assert!(status.unwrap().success(), "{source} does not compile");
}

#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn inner() {
    let wanted = std::env::var("GATE4K_ABUSE_ABI").unwrap();
    let played = gate4k::sandbox::capability::Capability::probe().landlock_abi;
    assert_eq!(played.to_string(), wanted, "the version is not played");
    host::attack_here();
}

#[test]
fn landlock_3_on_every_host() {
    everything(3);
}

#[test]
fn landlock_4_on_every_host() {
    everything(4);
}

#[test]
fn landlock_5_on_every_host() {
    everything(5);
}

#[test]
fn landlock_6_on_every_host() {
    everything(6);
}
