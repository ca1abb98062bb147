//! Every shipped entry through the real binary: the accepted ones are accepted, the others are rejected (or
//! left undecided) for the rule that `expected.toml` names, and for no other.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::Value;

/// The note beside an entry that is not accepted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    verdict: String,
    fails: Vec<String>,
    #[serde(default)]
    also: Vec<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    requires: Vec<String>,
}

fn entries(kind: &str) -> Vec<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries").join(kind);
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(top).unwrap().map(|item| item.unwrap().path()).collect();
    all.sort();
    all
}

fn installed(command: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(command).is_file())
}

fn check(entry: &Path, args: &[String]) -> Result<Value, String> {
    let out = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["check", "--format", "json"])
        .args(args)
        .arg(entry)
        .output()
        .map_err(|error| error.to_string())?;
    let document: Value = serde_json::from_slice(&out.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&out.stderr)))?;
    let report = document["entries"][0].clone();
    let code = match report["verdict"].as_str() {
        Some("accepted") => 0,
        Some("rejected") => 1,
        _ => 4,
    };
    if out.status.code() == Some(code) {
        Ok(report)
    } else {
        Err(format!("exit status {:?} for verdict {}", out.status.code(), report["verdict"]))
    }
}

fn rules_with(report: &Value, status: &str) -> BTreeSet<String> {
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    findings
        .iter()
        .filter(|finding| finding["status"] == status)
        .filter_map(|finding| finding["rule"].as_str().map(str::to_owned))
        .collect()
}

fn lines_about(report: &Value) -> String {
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    findings
        .iter()
        .filter(|finding| {
            matches!(finding["status"].as_str(), Some("fail" | "undecided" | "skipped"))
        })
        .map(|f| format!("\n      {} {}: {}", f["status"], f["rule"], f["summary"]))
        .collect()
}

fn judge(entry: &Path) -> Result<(), String> {
    let note = std::fs::read_to_string(entry.join("expected.toml")).map_err(|e| e.to_string())?;
    let expected: Expected = toml::from_str(&note).map_err(|error| error.to_string())?;
    if let Some(missing) = expected.requires.iter().find(|command| !installed(command)) {
        println!("skipped {}: {missing} is not installed here", entry.display());
        return Ok(());
    }
    let report = check(entry, &expected.args)?;
    let status = if expected.verdict == "undecided" { "undecided" } else { "fail" };
    let found = rules_with(&report, status);
    let wanted: BTreeSet<String> = expected.fails.iter().cloned().collect();
    let allowed: BTreeSet<String> = expected.fails.into_iter().chain(expected.also).collect();
    let verdict = report["verdict"].as_str().unwrap_or_default();
    if verdict == expected.verdict && wanted.is_subset(&found) && found.is_subset(&allowed) {
        return Ok(());
    }
    let verdict_wanted = expected.verdict;
    Err(format!(
        "{verdict} for {found:?}, wanted {verdict_wanted} for {wanted:?}{}",
        lines_about(&report)
    ))
}

fn accept(entry: &Path) -> Result<(), String> {
    let report = check(entry, &[])?;
    if report["verdict"] == "accepted" {
        Ok(())
    } else {
        Err(format!("{}{}", report["verdict"], lines_about(&report)))
    }
}

/// Most of the time is waits, so a few run beside each other.
fn all(entries: &[PathBuf], beside: usize, one: impl Fn(&Path) -> Result<(), String> + Sync) {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..beside {
            scope.spawn(|| {
                while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = one(entry) {
                        let name = entry.file_name().unwrap_or_default().to_string_lossy();
                        wrong.lock().unwrap().push(format!("{name}: {why}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), entries.len(), wrong.join("\n"));
}

#[test]
fn every_sound_entry_is_accepted() {
    let entries = entries("accept");
    assert!(entries.len() >= 10, "{}", entries.len());
    all(&entries, 2, accept);
}

#[test]
fn every_unsound_entry_is_rejected_for_its_rule() {
    let entries = entries("reject");
    assert!(entries.len() >= 60, "{}", entries.len());
    all(&entries, 4, judge);
}

/// A root's judgement must be an ordinary user's as well: the sandbox is built in another way for each.
#[test]
fn an_ordinary_user_comes_to_the_same_verdicts() {
    if !nix::unistd::Uid::effective().is_root() {
        println!("skipped: this is an ordinary user's run already");
        return;
    }
    let all = entries("accept").into_iter().map(|entry| (entry, "accepted"));
    // One of each rule: the first folder of each prefix.
    let mut seen = BTreeSet::new();
    let rejected = entries("reject").into_iter().filter(|entry| {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let rule =
            gate4k::rule::RULES.iter().find(|rule| name.starts_with(&format!("{}-", rule.name)));
        seen.insert(rule.map(|rule| rule.name))
    });
    let jobs: Vec<(PathBuf, &str)> = all.chain(rejected.map(|entry| (entry, "rejected"))).collect();
    elsewhere(&Mode { through: &[], user: Some(NOBODY) }, &jobs);
}

/// A host on which no user namespace can be made: what was accepted still is, or is left open for a reason that is
/// true. A sample; all of them where `GATE4K_ALL_FIXTURES` is set.
#[test]
fn without_user_namespaces_sound_entries_are_accepted_or_left_open() {
    const SAMPLE: [&str; 5] = ["elf", "c-xz", "python3", "dollar-dollar", "rules-example-1"];
    let works = Command::new(NO_USER_NAMESPACES[0])
        .args(&NO_USER_NAMESPACES[1..])
        .arg("true")
        .output()
        .is_ok_and(|out| out.status.success());
    if !works {
        println!("skipped: bwrap is not installed here, or may not do it");
        return;
    }
    let every = std::env::var_os("GATE4K_ALL_FIXTURES").is_some();
    let jobs: Vec<(PathBuf, &str)> = entries("accept")
        .into_iter()
        .filter(|entry| {
            let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            every || SAMPLE.contains(&name.as_str())
        })
        .map(|entry| (entry, "accepted"))
        .collect();
    assert!(jobs.len() >= SAMPLE.len());
    let users =
        if nix::unistd::Uid::effective().is_root() { vec![None, Some(NOBODY)] } else { vec![None] };
    for user in users {
        elsewhere(&Mode { through: &NO_USER_NAMESPACES, user }, &jobs);
    }
}

/// The user that owns nothing, by convention.
const NOBODY: u32 = 65534;
const NO_USER_NAMESPACES: [&str; 7] =
    ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--disable-userns", "--"];

/// How the binary is started.
struct Mode {
    through: &'static [&'static str],
    user: Option<u32>,
}

/// Judges entries in another mode, three at a time, each against its verdict.
fn elsewhere(mode: &Mode, jobs: &[(PathBuf, &str)]) {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let binary = dir.path().join("gate4k");
    std::fs::copy(env!("CARGO_BIN_EXE_gate4k"), &binary).unwrap();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((entry, verdict)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = judged_in(mode, &binary, dir.path(), entry, verdict) {
                        wrong.lock().unwrap().push(why);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{:?}: {}", mode.user, wrong.join("\n"));
}

/// Runs the binary on a copy of the entry; links and modes are kept.
fn judged_in(
    mode: &Mode,
    binary: &Path,
    dir: &Path,
    entry: &Path,
    verdict: &str,
) -> Result<(), String> {
    use std::os::unix::process::CommandExt;
    let name = entry.file_name().unwrap_or_default();
    let copy = dir.join(name);
    let copied = Command::new("cp").arg("-a").arg(entry).arg(&copy).status();
    if !copied.is_ok_and(|status| status.success()) {
        return Err(format!("{} could not be copied", entry.display()));
    }
    let args = std::fs::read_to_string(entry.join("expected.toml"))
        .ok()
        .and_then(|note| toml::from_str::<Expected>(&note).ok())
        .map(|expected| expected.args)
        .unwrap_or_default();
    let mut command = match mode.through {
        [] => Command::new(binary),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(binary);
            command
        }
    };
    command.args(["check", "--format", "json", "--quick"]).args(args).arg(&copy);
    if let Some(user) = mode.user {
        command.uid(user).gid(user).env("HOME", "/nonexistent");
    }
    let out = command.output().map_err(|error| error.to_string())?;
    let document: Value = serde_json::from_slice(&out.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&out.stderr)))?;
    let report = &document["entries"][0];
    if report["verdict"] == verdict {
        return Ok(());
    }
    let lines = lines_about(report);
    let left_open = report["verdict"] == "undecided";
    // Rust's toolchain may lie in root's home, closed to others: then it is missing, and said to be.
    let rust = name == "rust-xz" && mode.user.is_some();
    // A fixed path below /tmp cannot be made private on such a host.
    let fixed = !mode.through.is_empty() && lines.contains("without a mount namespace");
    if left_open && (rust || fixed) {
        println!("left open{}: {}{lines}", if rust { "" } else { ", rightly" }, name.display());
        return Ok(());
    }
    Err(format!("{}: {}{lines}", name.display(), report["verdict"]))
}
