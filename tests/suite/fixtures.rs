//! Every shipped entry through the real binary: the accepted ones are accepted, the others are rejected (or
//! left undecided) for the rule that `expected.toml` names, and for no other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use crate::needs::{NO_USER_NAMESPACES, Need};
use crate::trials::Test;

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
    /// Where the engine leads to, if it is a link.
    link: Option<PathBuf>,
}

/// A fixture as it was written, and the place of the copy if one had to be made.
struct Laid {
    entry: PathBuf,
    _copy: Option<tempfile::TempDir>,
}

/// Git can be told to write links as plain files, and archives do too: then the link is made anew.
fn laid(entry: &Path, expected: &Expected) -> Laid {
    let is_link = std::fs::symlink_metadata(entry.join("engine")).is_ok_and(|m| m.is_symlink());
    let Some(target) = expected.link.as_ref().filter(|_| !is_link) else {
        return Laid { entry: entry.to_owned(), _copy: None };
    };
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join(entry.file_name().unwrap_or_default());
    std::fs::create_dir(&copy).unwrap();
    std::os::unix::fs::symlink(entry.join(target), copy.join("engine")).unwrap();
    std::fs::copy(entry.join("expected.toml"), copy.join("expected.toml")).unwrap();
    Laid { entry: copy, _copy: Some(dir) }
}

fn entries(kind: &str) -> Vec<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries").join(kind);
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(top).unwrap().map(|item| item.unwrap().path()).collect();
    let least = if kind == "accept" { 10 } else { 60 };
    assert!(all.len() >= least, "{} of {kind}", all.len());
    if let Ok(only) = std::env::var("GATE4K_FIXTURES") {
        all.retain(|entry| only.split(',').any(|name| entry.ends_with(name)));
    }
    all.sort();
    all
}

fn name(entry: &Path) -> String {
    entry.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn expected(entry: &Path) -> Expected {
    let file = entry.join("expected.toml");
    let note = std::fs::read_to_string(&file).unwrap();
    toml::from_str(&note).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The needs, beyond Debian's base and a C compiler, of an entry that must be accepted.
fn needs_to_be_accepted(entry: &Path) -> &'static [Need] {
    match name(entry).as_str() {
        "elf" | "elf32" | "elf-bss" | "exactly-4096" | "c-gzip" => &[],
        "python3"
        | "python3-find-library"
        | "asleep-in-read"
        | "bare-go-only"
        | "clock-dies-below-ten-seconds"
        | "clock-floor-of-four-seconds"
        | "clock-none-below-a-second"
        | "lives-with-its-parent"
        | "long-game-line-2048"
        | "long-game-segv-at-400"
        | "match-tires-below-half-a-second"
        | "newgame-dies-below-a-second"
        | "own-streams"
        | "ponder-clears-tables"
        | "ponder-many-threads"
        | "ponder-works-a-second"
        | "resigns-when-behind"
        | "slow-games-tidy" => &[Need::Python3],
        "python3-numpy" => &[Need::Xz, Need::Numpy],
        "pypy3" => &[Need::Xz, Need::Pypy3],
        "cc-from-descriptor" => &[Need::Xz, Need::Bash],
        "opencl" => &[Need::Xz, Need::OpenCl],
        "process-substitution" => &[Need::Xz, Need::Bash, Need::Python3],
        "perl" => &[Need::Xz, Need::Perl],
        "c-bzip2" => &[Need::Bzip2],
        "clang-xz" | "clang-lto" | "clang-modules" => &[Need::Xz, Need::Clang],
        "cpp-xz" => &[Need::Xz, Need::Cplusplus],
        "gunzip-tolerated" => &[Need::Cplusplus],
        "rust-xz" | "cargo-dev" => &[Need::Xz, Need::Rustc],
        _ => &[Need::Xz],
    }
}

/// The needs of an entry that must not be accepted, by the commands in its note.
fn needs_to_be_judged(entry: &Path) -> Vec<Need> {
    expected(entry).requires.iter().filter_map(|command| Need::of_command(command)).collect()
}

/// The report of a run of the real binary, whose exit status must be the verdict's.
fn report_of(command: &mut Command) -> Result<Value, String> {
    let out = command.output().map_err(|error| error.to_string())?;
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

fn check(entry: &Path, args: &[String]) -> Result<Value, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
    report_of(command.args(["check", "--format", "json"]).args(args).arg(entry))
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
    lines_about_also(report, &BTreeSet::new())
}

/// The findings that speak against it, and those of these rules, whatever they say.
fn lines_about_also(report: &Value, rules: &BTreeSet<String>) -> String {
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    findings
        .iter()
        .filter(|finding| {
            matches!(finding["status"].as_str(), Some("fail" | "undecided" | "skipped"))
                || finding["rule"].as_str().is_some_and(|rule| rules.contains(rule))
        })
        .map(|f| {
            format!("\n      {} {}: {} {}", f["status"], f["rule"], f["summary"], f["evidence"])
        })
        .collect()
}

/// Judges an entry that must not be accepted by the given way of running `check`.
fn judge(
    entry: &Path,
    check: impl Fn(&Path, &[String]) -> Result<Value, String>,
) -> Result<(), String> {
    let expected = expected(entry);
    let laid = laid(entry, &expected);
    let report = check(&laid.entry, &expected.args)?;
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
        lines_about_also(&report, &wanted)
    ))
}

/// True for some sound entries of different kinds.
fn is_in_sample(entry: &Path) -> bool {
    const SAMPLE: [&str; 6] =
        ["elf", "c-xz", "python3", "dollar-dollar", "lives-with-its-parent", "rules-example-1"];
    SAMPLE.iter().any(|name| entry.ends_with(name))
}

/// Judges a sound entry by the given way of running `check`.
fn accept(
    entry: &Path,
    check: impl Fn(&Path, &[String]) -> Result<Value, String>,
) -> Result<(), String> {
    // Games are played once on this host as it is; they say nothing of another user or namespace. Nor do long questions, but for a sample.
    let args =
        if every_one() || is_in_sample(entry) { vec!["--match", "off"] } else { vec!["--quick"] };
    accepted(&check(entry, &args.into_iter().map(str::to_owned).collect::<Vec<_>>())?)
}

/// As [`accept`] on this host as it is, with games: those of slow engines are cut, and need not be long.
fn accept_with_games(entry: &Path) -> Result<(), String> {
    let report = check(entry, &["--match-limit".to_owned(), "10s".to_owned()])?;
    if report["capabilities"]["go_clock"] == false {
        // Games have a clock.
        return accepted(&report);
    }
    let findings = report["findings"].as_array().into_iter().flatten();
    let games = findings.filter(|finding| finding["rule"] == "match");
    let begun: usize = games.map(|f| f["evidence"]["games"].as_array().map_or(0, Vec::len)).sum();
    if begun == 0 {
        return Err(format!("no games were played{}", lines_about(&report)));
    }
    accepted(&report)
}

fn accepted(report: &Value) -> Result<(), String> {
    if report["verdict"] == "accepted" {
        Ok(())
    } else {
        Err(format!("{}{}", report["verdict"], lines_about(report)))
    }
}

/// The user that owns nothing, by convention.
const NOBODY: u32 = 65534;

fn passes(result: Result<(), String>) {
    if let Err(why) = result {
        panic!("{why}");
    }
}

/// A test of a fixture: `slow::fixtures::KIND::NAME`.
fn test(kind: &str, entry: &Path, needs: &[Need], body: impl Fn() + Send + 'static) -> Test {
    let module = format!("{}::{kind}", module_path!());
    Test::new("slow", &module, &name(entry), body).needs(&[Need::Landlock]).needs(needs)
}

/// Sound entries are accepted, and the others rejected for their rule, as this user on this host.
fn as_it_is() -> Vec<Test> {
    let mut all = Vec::new();
    for entry in entries("accept") {
        let at = entry.clone();
        let body = move || passes(accept_with_games(&at));
        all.push(test("accept", &entry, needs_to_be_accepted(&entry), body));
    }
    for entry in entries("reject") {
        let at = entry.clone();
        let body = move || passes(judge(&at, check));
        all.push(test("reject", &entry, &needs_to_be_judged(&entry), body).waits());
    }
    all
}

/// A root's judgement must be an ordinary user's as well: the sandbox is built in another way for each.
fn as_an_ordinary_user() -> Vec<Test> {
    let mut all = Vec::new();
    if !nix::unistd::Uid::effective().is_root() {
        // Then this is what the others do.
        return all;
    }
    for entry in entries("accept") {
        let at = entry.clone();
        all.push(test("ordinary_user", &entry, needs_to_be_accepted(&entry), move || {
            passes(accept(&at, |entry, args| Mode::new(&[], Some(NOBODY)).check(entry, args)));
        }));
    }
    // The first of each rule, since most of the time is waits; or all of them, where that is asked for.
    let mut seen = BTreeSet::new();
    let mut rejected = entries("reject");
    if !every_one() {
        rejected.retain(|entry| {
            let name = name(entry);
            let of =
                |rule: &&gate4k::model::rule::Rule| name.starts_with(&format!("{}-", rule.name));
            seen.insert(gate4k::model::rule::RULES.iter().find(of).map(|rule| rule.name))
        });
    }
    for entry in rejected {
        let at = entry.clone();
        let body = move || {
            passes(judge(&at, |entry, args| Mode::new(&[], Some(NOBODY)).check(entry, args)));
        };
        all.push(test("ordinary_user", &entry, &needs_to_be_judged(&entry), body).waits());
    }
    all
}

/// A host on which no user namespace can be made: what was accepted still is, or is left open for a reason that is
/// true. A sample, or all of them.
fn without_user_namespaces() -> Vec<Test> {
    let mut sound = entries("accept");
    if !every_one() {
        sound.retain(|entry| is_in_sample(entry));
    }
    let mut modes = vec![("no_user_namespaces", None)];
    if nix::unistd::Uid::effective().is_root() {
        modes.push(("no_user_namespaces_ordinary_user", Some(NOBODY)));
    }
    let mut all = Vec::new();
    for (kind, user) in modes {
        for entry in &sound {
            let at = entry.clone();
            let body = move || {
                let mode = Mode::new(&NO_USER_NAMESPACES, user);
                passes(accept(&at, |entry, args| mode.check(entry, args)));
            };
            let test = test(kind, entry, needs_to_be_accepted(entry), body);
            all.push(test.needs(&[Need::Bwrap]));
        }
    }
    all
}

pub(crate) fn tests() -> Vec<Test> {
    [as_it_is(), as_an_ordinary_user(), without_user_namespaces()].into_iter().flatten().collect()
}

/// True if the hosts that need long are to judge every fixture, and not a sample.
fn every_one() -> bool {
    std::env::var_os("GATE4K_ALL_FIXTURES").is_some()
}

/// The command that starts the binary: a copy of it that everybody may run.
struct Mode {
    through: &'static [&'static str],
    user: Option<u32>,
    dir: tempfile::TempDir,
}

impl Mode {
    fn new(through: &'static [&'static str], user: Option<u32>) -> Mode {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        // By a process of its own: what another test starts meanwhile would hold the file open for writing, and nobody could start it.
        let copied = Command::new("cp")
            .arg(env!("CARGO_BIN_EXE_gate4k"))
            .arg(dir.path().join("gate4k"))
            .status();
        assert!(copied.is_ok_and(|status| status.success()));
        Mode { through, user, dir }
    }

    /// Judges a copy of the entry, whose links and modes are kept.
    fn check(&self, entry: &Path, args: &[String]) -> Result<Value, String> {
        use std::os::unix::process::CommandExt;
        let copy = self.dir.path().join(entry.file_name().unwrap_or_default());
        let copied = Command::new("cp").arg("-a").arg(entry).arg(&copy).status();
        if !copied.is_ok_and(|status| status.success()) {
            return Err(format!("{} could not be copied", entry.display()));
        }
        let binary = self.dir.path().join("gate4k");
        let mut command = match self.through {
            [] => Command::new(binary),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(binary);
                command
            }
        };
        command.args(["check", "--format", "json"]).args(args).arg(&copy);
        if !args.iter().any(|arg| arg == "--quick") {
            command.arg("--quick");
        }
        if let Some(user) = self.user {
            command.uid(user).gid(user).env("HOME", "/nonexistent");
        }
        let mut report = report_of(&mut command)?;
        if report["verdict"] == "undecided" && self.may_leave_open(entry, &report) {
            report["verdict"] = "accepted".into();
        }
        Ok(report)
    }

    /// True if the only reason is a lack that this host is known to have.
    fn may_leave_open(&self, entry: &Path, report: &Value) -> bool {
        let open: Vec<&Value> = (report["findings"].as_array().into_iter().flatten())
            .filter(|finding| finding["status"] == "undecided")
            .collect();
        // Rust's toolchain may lie in root's home, closed to others: then it is missing, and said to be.
        let is_rust = ["rust-xz", "cargo-dev"].iter().any(|name| entry.ends_with(name));
        let rust = self.user.is_some() && is_rust;
        // A fixed path below /tmp cannot be made private on such a host.
        let fixed = !self.through.is_empty()
            && open.iter().all(|f| f["summary"].to_string().contains("without a mount namespace"));
        rust || fixed
    }
}
