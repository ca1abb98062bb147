//! The hosts once more, with a kernel that has an older Landlock: its answers are played by a program that runs this test
//! (`c/landlock_abi.c`), its rights are the real kernel's. Version 2 and older confine nothing here; `ci/kernels` boots them.

use std::path::Path;
use std::process::Command;

use gate4k::sandbox::capability::Capability;

use super::host::{self, Copy, Part};
use super::world::NOBODY;
use crate::needs::Need;
use crate::trials::Test;

/// The versions that a host may have and that confine an entry, but for the newest.
const OLDER: [i32; 4] = [3, 4, 5, 6];
/// The one that is tried with namespaces and as root, too: each newer one has all of its rights and more.
const OLDEST: i32 = OLDER[0];

/// All attacks of a part on a host with this version of Landlock.
fn everything(abi: i32, part: Part, mode: &str, user: Option<u32>) {
    let copy = Copy::new(user);
    player(&copy.at("landlock_abi"));
    let player = copy.at("landlock_abi").to_string_lossy().into_owned();
    let through = [player.as_str(), &abi.to_string()];
    let test = format!("abi::{}", part.of("run_all"));
    let mut command = copy.command(&through, &test, mode, user);
    command.env("GATE4K_ABUSE_ABI", abi.to_string());
    host::wait(command);
    copy.is_clean();
}

/// Compiles the program that plays an older kernel.
fn player(out: &Path) {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/abuse/c/landlock_abi.c");
    let status = Command::new("cc").args(["-O1", "-w", "-o"]).arg(out).arg(source).status();
    assert!(status.unwrap().success(), "{source} does not compile");
}

/// All attacks of a part, in a process of its own that the player started.
fn run_all(part: Part) {
    let wanted = std::env::var("GATE4K_ABUSE_ABI").unwrap();
    let played = Capability::probe().landlock_abi;
    assert_eq!(played.to_string(), wanted, "the version is not played");
    // Landlock limits no number and no size.
    host::run_all(part, |attack| !attack.is_about_limits());
}

pub(crate) fn tests() -> Vec<Test> {
    let mut all = Vec::new();
    for part in Part::ALL {
        all.push(Test::new("inner", module_path!(), &part.of("run_all"), move || run_all(part)));
        for abi in OLDER {
            for (who, user) in [("root", None), ("a_user", Some(NOBODY))] {
                for (place, mode) in [("with", "namespaces"), ("without", "bare")] {
                    if abi != OLDEST && (mode == "namespaces" || user.is_none()) {
                        continue;
                    }
                    let name = part.of(&format!("landlock_{abi}_as_{who}_{place}_namespaces"));
                    let test = Test::new("slow", module_path!(), &name, move || {
                        everything(abi, part, mode, user);
                    });
                    let mut needs = vec![Need::Landlock, Need::Root];
                    needs.extend((mode == "namespaces").then_some(Need::Namespaces));
                    needs.extend(part.needs());
                    all.push(test.needs(&needs));
                }
            }
        }
    }
    all
}
