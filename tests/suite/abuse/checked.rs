//! One attack of each group in a whole check by the real binary: an engine that attacks at its start and keeps every
//! rule otherwise.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use gate4k::sandbox::capability::Capability;
use serde_json::Value;

use super::attack::{Attack, How, Place, Told};
use super::program::Program;
use super::world::World;

use crate::needs::Need;
use crate::trials::Test;

/// One of each group, those that name something where there are namespaces. The first two groups are the rules'
/// own examples; what fills a limit would fill this host's (`inside.rs` has them with a small one).
const CHECKED: [&str; 27] = [
    "sed",
    "loader",
    "memfd_own",
    "opath_fexecve",
    "symlink_named_xz",
    "exec_other_argv0",
    "hard_link_allowed",
    "path_swap_race",
    "posix_spawn_exec",
    "signal_flood",
    "i386_socket",
    "shebang_nested",
    "as_directly",
    "shadow",
    "udp",
    "unix_abstract",
    "mount_tmpfs",
    "tiocsti",
    "fork_bomb",
    "open_files",
    "stopped_child",
    "ugly_name",
    "socket_flood",
    "daemon_without_leader",
    "race_to_device",
    "lock_flock",
    "clone_newuts",
];

fn there_is_one_of_each_group() {
    let all = super::attacks();
    let chosen = all.iter().filter(|attack| CHECKED.contains(&attack.name));
    let groups: BTreeSet<u8> = chosen.map(|attack| attack.group).collect();
    assert_eq!(groups, (3..=28).collect());
}

/// A check of an engine that attacks names the attack.
fn is_named(attack: &Attack) {
    let place =
        if Capability::probe().namespaces.is_ok() { Place::Namespaces } else { Place::Bare };
    let world = World::new(None, Some(std::process::id()));
    let dir = tempfile::tempdir().unwrap();
    let entry = dir.path().join("engine");
    super::write_program(&entry, &Program::get().engine(attack, &world));
    let wrong = wrong_about(attack, &check(&entry), place, &world);
    assert_eq!(wrong, None, "{}", attack.group);
}

/// True for an attack whose whole check is known.
pub(crate) fn is_known(attack: &Attack) -> bool {
    CHECKED.contains(&attack.name)
}

/// Everything that is wrong with the report on an engine that attacks.
pub(crate) fn wrong_about(
    attack: &Attack,
    report: &Value,
    place: Place,
    world: &World,
) -> Option<String> {
    let mut told = attack.told(place, &world.tell(attack.param), false, false);
    // Nothing here is near the limits of an event.
    told.retain(|_| attack.name != "fork_bomb");
    let wrong = wrong(report, &told);
    let caught = attack.may_be_caught
        && report["findings"].as_array().unwrap().iter().any(|found| {
            found["rule"] == "commands"
                && found["status"] == "fail"
                && found["summary"].as_str().is_some_and(|told| told.ends_with("it was refused"))
        });
    (!caught && !wrong.is_empty()).then(|| wrong.join("; "))
}

fn check(entry: &Path) -> Value {
    let out = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["check", "--quick", "--format", "json"])
        .arg(entry)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&out.stderr)));
    document["entries"][0].clone()
}

/// True if a text of a finding holds a name.
fn says(value: &Value, name: &str) -> bool {
    match value {
        Value::String(text) => text.contains(name),
        Value::Array(items) => items.iter().any(|item| says(item, name)),
        Value::Object(fields) => fields.values().any(|field| says(field, name)),
        _ => false,
    }
}

/// Everything that is wrong with a report. The C program is far too large for an entry, and nothing else may be.
fn wrong(report: &Value, told: &[Told]) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap();
    let mut wrong = Vec::new();
    for told in told {
        let finding = findings.iter().find(|f| f["rule"] == told.rule.name()).unwrap();
        if finding["status"] != told.status.word() || !says(finding, &told.name) {
            wrong.push(format!("wanted {told:?}: {finding}"));
        }
    }
    let accused = |word: &str| {
        let all = findings.iter().filter(|finding| finding["status"] == word);
        all.filter_map(|finding| finding["rule"].as_str()).collect::<BTreeSet<_>>()
    };
    let mut wanted: BTreeSet<&str> = told
        .iter()
        .filter(|told| told.status.word() == "fail")
        .map(|told| told.rule.name())
        .collect();
    let mut found = accused("fail");
    let too_large = found.remove("size");
    wanted.remove("size");
    let open = accused("undecided");
    if found != wanted || !open.is_empty() {
        wrong.push(format!("broken: {found:?}, not {wanted:?}; undecided: {open:?}"));
    }
    let rejected = too_large || !wanted.is_empty();
    if report["verdict"] != if rejected { "rejected" } else { "accepted" } {
        wrong.push(format!("the verdict is {}", report["verdict"]));
    }
    wrong
}

pub(crate) fn tests() -> Vec<Test> {
    let mut all = Vec::new();
    if super::wanted().is_none() {
        all.extend(tests![quick there_is_one_of_each_group]);
    }
    let chosen = super::attacks().into_iter().filter(|attack| CHECKED.contains(&attack.name));
    all.extend(chosen.map(|attack| {
        // The sound engine behind a script is packed.
        let packed = matches!(attack.how, How::Sh(_)).then_some(Need::Xz);
        let needs: Vec<Need> =
            [Need::Landlock].into_iter().chain(packed).chain(attack.needs()).collect();
        Test::new("slow", module_path!(), attack.name, move || is_named(&attack)).needs(&needs)
    }));
    all
}
