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
    // The games of slow engines are cut, here and anywhere, and need not be long.
    let report = check(entry, &["--match-limit".to_owned(), "10s".to_owned()])?;
    let games = report["findings"].as_array().into_iter().flatten();
    let games = games.filter(|finding| finding["rule"] == "match");
    let begun: usize = games.map(|f| f["evidence"]["games"].as_array().map_or(0, Vec::len)).sum();
    if begun == 0 {
        return Err(format!("no games were played{}", lines_about(&report)));
    }
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
    use std::os::unix::fs::PermissionsExt;
    if !nix::unistd::Uid::effective().is_root() {
        println!("skipped: this is an ordinary user's run already");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let binary = dir.path().join("gate4k");
    std::fs::copy(env!("CARGO_BIN_EXE_gate4k"), &binary).unwrap();
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
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((entry, verdict)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = as_user(&binary, dir.path(), entry, verdict) {
                        wrong.lock().unwrap().push(why);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs the binary as a user that owns nothing; links and modes of the entry are kept.
fn as_user(binary: &Path, dir: &Path, entry: &Path, verdict: &str) -> Result<(), String> {
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
    let out = Command::new(binary)
        .args(["check", "--format", "json", "--quick"])
        .args(args)
        .arg(&copy)
        .uid(65534)
        .gid(65534)
        .env("HOME", "/nonexistent")
        .output()
        .map_err(|error| error.to_string())?;
    let document: Value = serde_json::from_slice(&out.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&out.stderr)))?;
    let report = &document["entries"][0];
    // Rust's toolchain may lie in root's home, closed to others: then it is missing, and said to be.
    let rust = name == "rust-xz" && report["verdict"] == "undecided";
    if report["verdict"] == verdict || rust {
        return Ok(());
    }
    Err(format!("{}: {}{}", name.display(), report["verdict"], lines_about(report)))
}
