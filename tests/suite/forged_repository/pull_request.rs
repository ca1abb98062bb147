//! A repository with a pull request, judged by `gate4k check` and by the action.

use std::fs;
use std::ops::Deref;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::test_folder::{TestFolder, fixture};

/// Sound, and quick to judge.
pub(crate) const GOOD: &str = "accept/elf";
/// Refused by its bytes alone.
pub(crate) const BAD: &str = "reject/format-junk";
/// Sound but for `sed`, which the list that is built in refuses.
pub(crate) const SED: &str = "reject/commands-sed";
/// Sound but for `rm`, which is tolerated, and refused where `strict = true` stands.
pub(crate) const RM: &str = "accept/rules-example-1";

/// The target branch `main`, the branch `pull` of a pull request, and a command that nobody may run.
pub(crate) struct Repository(TestFolder);

impl Deref for Repository {
    type Target = TestFolder;

    fn deref(&self) -> &TestFolder {
        &self.0
    }
}

/// The result of one way of judging.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) way: &'static str,
    pub(crate) code: i32,
    pub(crate) err: String,
    /// Rule and file of each finding that rejects.
    pub(crate) errors: Vec<(String, String)>,
}

impl Repository {
    /// On the branch of the pull request, with `main` as it is given.
    pub(crate) fn new(main: &[(&str, &[u8])]) -> Repository {
        let repository = Repository(TestFolder::new());
        repository.git(&["init", "-q", "-b", "main"]);
        for (name, bytes) in main {
            repository.write(name, bytes);
        }
        repository.commit();
        repository.git(&["switch", "-q", "-c", "pull"]);
        repository
    }

    pub(crate) fn marker(&self) -> PathBuf {
        self.home().join("it-was-run")
    }

    /// A command that leaves the mark, and does nothing else that its caller could mind.
    pub(crate) fn planted(&self) -> String {
        format!("touch {}; cat", self.marker().display())
    }

    pub(crate) fn link(&self, name: &str, target: &str) {
        let path = self.path(name);
        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        symlink(target, path).unwrap();
    }

    /// The pull request as both judge it, from `folder` below the top. No planted command may have run.
    pub(crate) fn judged(&self, folder: &str, entries: &[&str]) -> [Told; 2] {
        self.judged_since("main", folder, entries)
    }

    pub(crate) fn judged_since(&self, since: &str, folder: &str, entries: &[&str]) -> [Told; 2] {
        let _ = fs::remove_file(self.marker());
        let told = [self.check(since, folder, entries), self.act(since, folder, entries)];
        assert!(!self.marker().exists(), "the planted command has run: {told:?}");
        told
    }

    pub(crate) fn check_with(&self, word: &str, entry: &str) -> Told {
        let sarif = self.home().join("check.sarif");
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        command
            .args(["check", "--quick", "--changed-since=main", word, entry])
            .arg(format!("--report=sarif={}", sarif.display()));
        self.told("check", command, "", &sarif)
    }

    pub(crate) fn check(&self, since: &str, folder: &str, entries: &[&str]) -> Told {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        let sarif = self.home().join("check.sarif");
        command
            .args(["check", "--quick", "--jobs=2"])
            .arg(format!("--changed-since={since}"))
            .arg(format!("--report=sarif={}", sarif.display()))
            .arg("--")
            .args(entries);
        self.told("check", command, folder, &sarif)
    }

    pub(crate) fn act(&self, since: &str, folder: &str, entries: &[&str]) -> Told {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("ci/action.sh");
        let mut command = Command::new("bash");
        command
            .arg(script)
            .env("GATE4K", env!("CARGO_BIN_EXE_gate4k"))
            .env("GATE4K_SINCE", since)
            .env("GATE4K_ARGUMENTS", "--quick\n--jobs=2\n")
            .env("GATE4K_ENTRIES", entries.join("\n"))
            .env("GATE4K_ALLOW_UNDECIDED", "false")
            .env("GITHUB_OUTPUT", self.home().join("output"))
            .env("RUNNER_TEMP", self.home());
        let sarif = self.home().join("gate4k-reports/gate4k.sarif");
        self.told("action", command, folder, &sarif)
    }

    pub(crate) fn told(
        &self,
        way: &'static str,
        mut command: Command,
        folder: &str,
        sarif: &Path,
    ) -> Told {
        let _ = fs::remove_file(sarif);
        for name in ["GITHUB_ACTIONS", "GITHUB_WORKSPACE", "GITHUB_STEP_SUMMARY", "GIT_DIR"] {
            command.env_remove(name);
        }
        let output = command
            .current_dir(self.path(folder))
            .env("HOME", self.home())
            .env("XDG_CACHE_HOME", self.home().join("cache"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let sarif = fs::read_to_string(sarif).unwrap_or_default();
        let sarif: Value = serde_json::from_str(&sarif).unwrap_or_default();
        let text = |result: &Value, place: &str| {
            result.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let results = sarif.pointer("/runs/0/results").and_then(Value::as_array);
        let errors = results.into_iter().flatten().filter(|result| result["level"] == "error");
        Told {
            way,
            code: output.status.code().unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            errors: errors
                .map(|result| {
                    let file = "/locations/0/physicalLocation/artifactLocation/uri";
                    (text(result, "/ruleId"), text(result, file))
                })
                .collect(),
        }
    }
}

impl Told {
    /// True if `file` is refused by `rule`.
    pub(crate) fn refuses(&self, rule: &str, file: &str) -> bool {
        self.errors.iter().any(|(by, at)| by == rule && at.ends_with(file))
    }
}

/// Both ways refuse `file` by `rule`.
#[track_caller]
pub(crate) fn refused(told: &[Told], rule: &str, file: &str) {
    for told in told {
        assert_eq!(told.code, 1, "{}: {told:#?}", told.way);
        assert!(told.refuses(rule, file), "{told:#?}");
    }
}

/// Both ways say `words`, and end so.
#[track_caller]
pub(crate) fn said(told: &[Told], code: i32, words: &str) {
    for told in told {
        assert!(told.code == code && told.err.contains(words), "{words}: {told:#?}");
    }
}

/// The list that is built in.
pub(crate) fn strict_list() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("allowlist.toml")).unwrap()
}

/// The same with `sed`.
pub(crate) fn lax_list() -> String {
    strict_list() + "\n[[command]]\nname = \"sed\"\nclass = \"listed\"\nrule = \"7.5\"\n"
}

/// A repository as most are: two sound entries, listed at the top.
pub(crate) fn usual() -> Repository {
    let good = fixture(GOOD);
    Repository::new(&[
        ("gate4k.toml", b"entries = [\"entries\"]\n"),
        ("entries/a/engine", &good),
        ("entries/b/engine", &good),
    ])
}
