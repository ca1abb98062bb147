//! Entries that attack, in batches beside sound ones, checked at once by the real binary: every batch ends, every sound entry is
//! accepted, each attack that `checked.rs` knows by name is told as it is there, and nothing stays on the host.
//! `GATE4K_CHECKS=1000` checks so many entries (here one batch), drawn by `GATE4K_SEED`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use gate4k::sandbox::capability::Capability;
use serde_json::Value;

use super::attack::{Attack, Place};
use super::checked;
use super::program::Program;
use super::world::World;

use crate::killed::{below_us, groups, reap, until};
use crate::seed::Chance;
use crate::trials::{Test, keep_log};

/// Those that attack, and those that are sound, of one batch.
const ATTACKS: u64 = 9;
const SOUND: usize = 3;

/// Entries that start fast and that nothing but a fault of ours rejects.
const ACCEPTED: [&str; 6] = ["elf", "c-xz", "c-gzip", "python3", "rules-example-1", "own-streams"];

/// The groups whose attacks fill a limit of the host, and would take from the sound entries what these need.
const FILL_THE_HOST: [u8; 2] = [21, 22];

/// The marks of a start that outlive their process: lines of tables that every user of the host may read.
fn tables() -> BTreeMap<&'static str, usize> {
    [
        "/proc/sysvipc/shm",
        "/proc/sysvipc/sem",
        "/proc/sysvipc/msg",
        "/proc/self/mountinfo",
        "/proc/keys",
    ]
    .into_iter()
    .map(|table| (table, std::fs::read_to_string(table).unwrap_or_default().lines().count()))
    .collect()
}

fn names(directory: &str) -> Vec<String> {
    let items = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        items.map(|item| item.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn batches_of_attacks_and_sound_entries_end_with_the_right_verdicts() {
    // A process that loses its parent becomes our child, so that nothing can hide.
    nix::sys::prctl::set_child_subreaper(true).unwrap();
    let wanted: u64 = std::env::var("GATE4K_CHECKS").map_or(1, |text| text.parse().unwrap());
    let mut chance = Chance::of("batches");
    let attacks: Vec<Attack> = super::attacks()
        .into_iter()
        .filter(|attack| !FILL_THE_HOST.contains(&attack.group) && !attack.is_about_limits())
        .collect();
    let groups_before = groups();
    let before = (tables(), names("/dev/shm"), names("/dev/mqueue"), names("/var/tmp"));
    let (mut checks, mut told, mut verdicts) = (0, 0, BTreeMap::<String, u64>::new());
    while checks < wanted {
        let drawn: Vec<&Attack> =
            (0..ATTACKS).map(|_| &attacks[chance.below(attacks.len() as u64) as usize]).collect();
        let first = chance.below(ACCEPTED.len() as u64) as usize;
        let sound: Vec<&str> =
            (first..first + SOUND).map(|at| ACCEPTED[at % ACCEPTED.len()]).collect();
        told += batch(&drawn, &sound, &mut verdicts);
        checks += ATTACKS + SOUND as u64;
    }
    let after = (tables(), names("/dev/shm"), names("/dev/mqueue"), names("/var/tmp"));
    assert_eq!(before, after);
    until("cgroups go", 120, || match groups().difference(&groups_before).next() {
        Some(group) => Err(format!("a cgroup is left: {}", group.display())),
        None => Ok(()),
    });
    keep_log(
        "batches",
        &format!("{checks} checks, {told} attacks told by name, verdicts {verdicts:?}\n"),
    );
}

/// Checks them at once; the number of attacks whose findings were looked at.
fn batch(attacks: &[&Attack], sound: &[&str], verdicts: &mut BTreeMap<String, u64>) -> u64 {
    let place =
        if Capability::probe().namespaces.is_ok() { Place::Namespaces } else { Place::Bare };
    let world = World::new(None, Some(std::process::id()));
    let (top, tmp) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let name = |number: usize, name: &str| format!("{number:02}-{name}");
    let write = |folder: &str, bytes: &[u8]| {
        std::fs::create_dir(top.path().join(folder)).unwrap();
        super::write_program(&top.path().join(folder).join("engine"), bytes);
    };
    for (number, attack) in attacks.iter().enumerate() {
        write(&name(number, attack.name), &Program::get().engine(attack, &world));
    }
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/accept");
    for (number, fixture) in sound.iter().enumerate() {
        let bytes = std::fs::read(fixtures.join(fixture).join("engine")).unwrap();
        write(&name(attacks.len() + number, fixture), &bytes);
    }
    let began = Instant::now();
    let out = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["check", "--quick", "--no-cache", "--format", "json"])
        .arg(top.path())
        .env("TMPDIR", tmp.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let drawn: Vec<&str> = attacks.iter().map(|attack| attack.name).collect();
    let what = format!("{drawn:?} beside {sound:?} ({:?})", began.elapsed());
    let document: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|error| {
        panic!("{what}: {error}: {}", String::from_utf8_lossy(&out.stderr))
    });
    let entries = document["entries"].as_array().unwrap();
    assert_eq!(entries.len(), attacks.len() + sound.len(), "{what}");
    let of = |folder: &str| {
        let is = |entry: &&Value| {
            entry["path"].as_str().is_some_and(|path| path.contains(&format!("/{folder}")))
        };
        entries.iter().find(is).unwrap_or_else(|| panic!("{what}: no report on {folder}"))
    };
    let mut wrong = Vec::new();
    let mut told = 0;
    for (number, attack) in attacks.iter().enumerate() {
        let report = of(&name(number, attack.name));
        *verdicts.entry(report["verdict"].as_str().unwrap().to_owned()).or_default() += 1;
        if checked::is_known(attack) {
            told += 1;
            let found = checked::wrong_about(attack, report, place, &world);
            wrong.extend(found.map(|found| format!("{}: {found}", attack.name)));
        }
    }
    for (number, fixture) in sound.iter().enumerate() {
        let report = of(&name(attacks.len() + number, fixture));
        if report["verdict"] != "accepted" {
            wrong.push(format!("{fixture}: {report}"));
        }
    }
    assert!(wrong.is_empty(), "{what}: {}", wrong.join("\n"));
    assert_eq!(world.harm(), None, "{what}");
    until(&what, 120, || {
        reap();
        let left = below_us();
        if left.is_empty() { Ok(()) } else { Err(format!("processes are left: {left:?}")) }
    });
    let left = names(&tmp.path().to_string_lossy());
    assert!(left.is_empty(), "{what}: files are left: {left:?}");
    told
}

pub(crate) fn tests() -> Vec<Test> {
    if super::wanted().is_some() {
        return Vec::new();
    }
    tests![slow batches_of_attacks_and_sound_entries_end_with_the_right_verdicts [Landlock, Xz, Python3] apart alone]
}
