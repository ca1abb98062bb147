//! Pull requests that forge: a repository of their own among the entries, a configuration that names commands,
//! settings that let their own entry in. Each is played through `gate4k check` and through the action.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Sound, and quick to judge.
const GOOD: &str = "accept/elf";
/// Refused by its bytes alone.
const BAD: &str = "reject/format-junk";
/// Sound but for `sed`, which the list that is built in refuses.
const SED: &str = "reject/commands-sed";
/// Sound but for `rm`, which is tolerated, and refused where `strict = true` stands.
const RM: &str = "accept/rules-example-1";

/// The target branch `main`, the branch `pull` of a pull request, and a command that nobody may run.
struct Repository {
    top: tempfile::TempDir,
    runner: tempfile::TempDir,
}

/// What one way of judging brought.
#[derive(Debug)]
struct Told {
    way: &'static str,
    code: i32,
    err: String,
    /// Rule and file of each finding that rejects.
    errors: Vec<(String, String)>,
}

impl Repository {
    /// On the branch of the pull request, with `main` as it is given.
    fn new(main: &[(&str, &[u8])]) -> Repository {
        let repository =
            Repository { top: tempfile::tempdir().unwrap(), runner: tempfile::tempdir().unwrap() };
        repository.git(&["init", "-q", "-b", "main"]);
        for (name, bytes) in main {
            repository.write(name, bytes);
        }
        repository.commit();
        repository.git(&["switch", "-q", "-c", "pull"]);
        repository
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.top.path().join(name)
    }

    fn marker(&self) -> PathBuf {
        self.runner.path().join("it-was-run")
    }

    /// A command that leaves the mark, and does nothing else that its caller could mind.
    fn planted(&self) -> String {
        format!("touch {}; cat", self.marker().display())
    }

    fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn link(&self, name: &str, target: &str) {
        let path = self.path(name);
        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        symlink(target, path).unwrap();
    }

    fn git(&self, words: &[&str]) {
        self.git_in(self.top.path(), words);
    }

    fn git_in(&self, folder: &Path, words: &[&str]) {
        let output = Command::new("git")
            .args(["-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"])
            .args(["-c", "protocol.file.allow=always"])
            .args(words)
            .current_dir(folder)
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .env("HOME", self.runner.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
    }

    fn commit(&self) {
        self.git(&["add", "-A", "-f"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    }

    /// The pull request as both judge it, from `folder` below the top. No planted command may have run.
    fn judged(&self, folder: &str, entries: &[&str]) -> [Told; 2] {
        self.judged_since("main", folder, entries)
    }

    fn judged_since(&self, since: &str, folder: &str, entries: &[&str]) -> [Told; 2] {
        let _ = fs::remove_file(self.marker());
        let told = [self.check(since, folder, entries), self.act(since, folder, entries)];
        assert!(!self.marker().exists(), "the planted command has run: {told:?}");
        told
    }

    fn check(&self, since: &str, folder: &str, entries: &[&str]) -> Told {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        let sarif = self.runner.path().join("check.sarif");
        command
            .args(["check", "--quick", "--jobs=2"])
            .arg(format!("--changed-since={since}"))
            .arg(format!("--report=sarif={}", sarif.display()))
            .arg("--")
            .args(entries);
        self.told("check", command, folder, &sarif)
    }

    fn act(&self, since: &str, folder: &str, entries: &[&str]) -> Told {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("ci/action.sh");
        let mut command = Command::new("bash");
        command
            .arg(script)
            .env("GATE4K", env!("CARGO_BIN_EXE_gate4k"))
            .env("GATE4K_SINCE", since)
            .env("GATE4K_ARGUMENTS", "--quick\n--jobs=2\n")
            .env("GATE4K_ENTRIES", entries.join("\n"))
            .env("GATE4K_ALLOW_UNDECIDED", "false")
            .env("GITHUB_OUTPUT", self.runner.path().join("output"))
            .env("RUNNER_TEMP", self.runner.path());
        let sarif = self.runner.path().join("gate4k-reports/gate4k.sarif");
        self.told("action", command, folder, &sarif)
    }

    fn told(&self, way: &'static str, mut command: Command, folder: &str, sarif: &Path) -> Told {
        let _ = fs::remove_file(sarif);
        for name in ["GITHUB_ACTIONS", "GITHUB_WORKSPACE", "GITHUB_STEP_SUMMARY", "GIT_DIR"] {
            command.env_remove(name);
        }
        let output = command
            .current_dir(self.path(folder))
            .env("HOME", self.runner.path())
            .env("XDG_CACHE_HOME", self.runner.path().join("cache"))
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
    /// Whether `file` is refused by `rule`.
    fn refuses(&self, rule: &str, file: &str) -> bool {
        self.errors.iter().any(|(by, at)| by == rule && at.ends_with(file))
    }
}

/// Both ways refuse `file` by `rule`.
#[track_caller]
fn refused(told: &[Told], rule: &str, file: &str) {
    for told in told {
        assert_eq!(told.code, 1, "{told:#?}");
        assert!(told.refuses(rule, file), "{told:#?}");
    }
}

/// Both ways say `words`, and end so.
#[track_caller]
fn said(told: &[Told], code: i32, words: &str) {
    for told in told {
        assert!(told.code == code && told.err.contains(words), "{words}: {told:#?}");
    }
}

fn engine(name: &str) -> Vec<u8> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries");
    fs::read(top.join(name).join("engine")).unwrap()
}

/// The list that is built in.
fn strict_list() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("allowlist.toml")).unwrap()
}

/// The same with `sed`.
fn lax_list() -> String {
    strict_list() + "\n[[command]]\nname = \"sed\"\nclass = \"listed\"\nrule = \"7.5\"\n"
}

/// A repository as most are: two sound entries, listed at the top.
fn usual() -> Repository {
    let good = engine(GOOD);
    Repository::new(&[
        ("gate4k.toml", b"entries = [\"entries\"]\n"),
        ("entries/a/engine", &good),
        ("entries/b/engine", &good),
    ])
}

#[test]
fn a_bare_repository_among_the_entries_is_no_repository() {
    let repository = usual();
    repository.write("entries/bad/engine", engine(BAD));
    repository.commit();
    // A repository whose `main` has it all, so that nothing is changed, and whose filter is a command.
    let entries = repository.path("entries");
    let forged = ["--git-dir=.", "--work-tree=."];
    let git = |words: &[&str]| repository.git_in(&entries, &[&forged[..], words].concat());
    repository.git_in(&entries, &["init", "-q", "--bare", "-b", "main", "."]);
    git(&["add", "a", "b", "bad"]);
    git(&["commit", "-q", "-m", "x"]);
    git(&["config", "core.bare", "false"]);
    git(&["config", "core.worktree", "."]);
    git(&["config", "filter.evil.clean", &repository.planted()]);
    repository.write("entries/info/attributes", "* filter=evil\n");
    repository.write("entries/bad/engine", engine(BAD));
    repository.commit();
    for entries in [&[][..], &["entries"], &["entries/bad"], &["entries/a", "entries/bad"]] {
        for told in repository.judged("", entries) {
            assert_eq!(told.code, 1, "{entries:?}: {told:#?}");
        }
    }
    refused(&repository.judged("", &["entries/bad"]), "format", "entries/bad/engine");
    refused(&repository.judged("entries", &[]), "format", "entries/bad/engine");
    refused(&repository.judged("entries", &["bad"]), "format", "bad/engine");
    repository.git_in(&repository.path("entries"), &["--git-dir=../.git", "status", "--short"]);
}

#[test]
fn a_configuration_full_of_commands_runs_none() {
    let repository = usual();
    repository.write("entries/bad/engine", engine(BAD));
    repository.write(".gitattributes", "* filter=evil diff=evil merge=evil\n");
    repository.git(&["add", "-A"]);
    repository.commit();
    let planted = repository.planted();
    let quoted = format!("\"{planted}\"");
    let hooks = repository.runner.path().join("hooks");
    fs::create_dir(&hooks).unwrap();
    for hook in
        ["post-index-change", "fsmonitor-watchman", "post-checkout", "reference-transaction"]
    {
        for folder in [&hooks, &repository.path(".git/hooks")] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(hook), format!("#!/bin/sh\n{planted}\n")).unwrap();
            fs::set_permissions(folder.join(hook), fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    let beside = repository.runner.path().join("included");
    fs::write(&beside, format!("[core]\n\tfsmonitor = {quoted}\n")).unwrap();
    let config = format!(
        "[include]\n\tpath = {}\n\
         [core]\n\tfsmonitor = {quoted}\n\tpager = {quoted}\n\teditor = {quoted}\n\tsshCommand = {quoted}\n\
         \taskPass = {quoted}\n\tgitProxy = {quoted}\n\talternateRefsCommand = {quoted}\n\tattributesFile = {}\n\
         \trepositoryformatversion = 1\n\
         [extensions]\n\tpartialClone = origin\n\
         [filter \"evil\"]\n\tclean = {quoted}\n\tsmudge = {quoted}\n\tprocess = {quoted}\n\trequired = true\n\
         [diff]\n\texternal = {quoted}\n\
         [diff \"evil\"]\n\tcommand = {quoted}\n\ttextconv = {quoted}\n\tcachetextconv = true\n\
         [merge \"evil\"]\n\tdriver = {quoted}\n\
         [alias]\n\trev-parse = \"!{planted}\"\n\tls-tree = \"!{planted}\"\n\tcat-file = \"!{planted}\"\n\
         [pager]\n\tls-tree = {quoted}\n\tcat-file = {quoted}\n\tconfig = {quoted}\n\
         [credential]\n\thelper = \"!{planted}\"\n\
         [gpg]\n\tprogram = {quoted}\n\
         [log]\n\tshowSignature = true\n\
         [uploadpack]\n\tpackObjectsHook = {quoted}\n\
         [protocol]\n\tallow = always\n\
         [remote \"origin\"]\n\turl = \"ext::sh -c %S\"\n\tpromisor = true\n\tuploadpack = {quoted}\n\
         \tpartialclonefilter = blob:none\n\tvcs = evil\n",
        beside.display(),
        repository.path(".gitattributes").display(),
    );
    let path = repository.path(".git/config");
    fs::write(&path, fs::read_to_string(&path).unwrap() + &config).unwrap();
    // Stale, so that whoever trusts the index has to read it again, through the filter.
    repository.write("entries/a/engine", engine(GOOD));
    refused(&repository.judged("", &[]), "format", "entries/bad/engine");
    refused(&repository.judged("entries", &["bad"]), "format", "bad/engine");

    // Neither does a work tree that lies elsewhere hide what is here,
    let elsewhere = format!("[core]\n\tworktree = {}\n", repository.runner.path().display());
    fs::write(&path, fs::read_to_string(&path).unwrap() + &elsewhere).unwrap();
    refused(&repository.judged("", &["entries"]), "format", "entries/bad/engine");

    // nor is an object that is missing fetched by what the repository says of its remotes.
    let objects = repository.path(".git/objects");
    for folder in fs::read_dir(&objects).unwrap().map(|item| item.unwrap().path()) {
        if folder.file_name().unwrap().len() == 2 {
            fs::remove_dir_all(folder).unwrap();
        }
    }
    for told in repository.judged("", &["entries"]) {
        assert_eq!(told.code, 2, "{told:#?}");
        assert!(told.err.contains("main"), "{told:#?}");
    }
}

#[test]
fn a_git_file_that_names_a_forged_repository_runs_nothing() {
    let repository = usual();
    repository.write("entries/bad/engine", engine(BAD));
    repository.commit();
    let elsewhere = repository.runner.path().join("moved");
    fs::rename(repository.path(".git"), &elsewhere).unwrap();
    fs::write(repository.path(".git"), format!("gitdir: {}\n", elsewhere.display())).unwrap();
    let config = format!(
        "[core]\n\tfsmonitor = \"{0}\"\n[filter \"evil\"]\n\tclean = \"{0}\"\n",
        repository.planted()
    );
    let path = elsewhere.join("config");
    fs::write(&path, fs::read_to_string(&path).unwrap() + &config).unwrap();
    fs::write(elsewhere.join("info/attributes"), "* filter=evil\n").unwrap();
    refused(&repository.judged("", &["entries"]), "format", "entries/bad/engine");
}

#[test]
fn an_allow_list_behind_a_link_is_the_one_of_the_target_branch() {
    let (good, list) = (engine(GOOD), strict_list());
    let main: &[(&str, &[u8])] = &[
        ("gate4k.toml", b"entries = [\"entries\"]\nallowlist = \"conf/list.toml\"\n"),
        ("conf/list.toml", list.as_bytes()),
        ("lists/a.toml", list.as_bytes()),
        ("entries/a/engine", &good),
    ];

    // The folder becomes a link to another one.
    let repository = Repository::new(main);
    repository.write("conf2/list.toml", lax_list());
    repository.link("conf", "conf2");
    repository.write("entries/sed/engine", engine(SED));
    repository.commit();
    let told = repository.judged("", &[]);
    refused(&told, "commands", "entries/sed/engine");
    said(&told, 1, "what it said before holds");

    // The file becomes a link.
    let repository = Repository::new(main);
    repository.write("mine.toml", lax_list());
    repository.link("conf/list.toml", "../mine.toml");
    repository.write("entries/sed/engine", engine(SED));
    repository.commit();
    refused(&repository.judged("", &[]), "commands", "entries/sed/engine");

    // It was a link, and its target changes.
    let repository = Repository::new(main);
    repository.git(&["switch", "-q", "main"]);
    repository.link("conf/list.toml", "../lists/a.toml");
    repository.commit();
    repository.git(&["switch", "-q", "-C", "pull"]);
    repository.write("lists/a.toml", lax_list());
    repository.write("entries/sed/engine", engine(SED));
    repository.commit();
    refused(&repository.judged("", &[]), "commands", "entries/sed/engine");
}

#[test]
fn an_allow_list_that_the_target_branch_lacks_is_not_taken_from_the_pull_request() {
    let good = engine(GOOD);
    let repository = Repository::new(&[
        ("gate4k.toml", b"entries = [\"entries\"]\nallowlist = \"conf/list.toml\"\n"),
        ("entries/a/engine", &good),
    ]);
    repository.write("conf/list.toml", lax_list());
    repository.write("entries/sed/engine", engine(SED));
    repository.commit();
    let told = repository.judged("", &[]);
    refused(&told, "commands", "entries/sed/engine");
    said(&told, 1, "conf/list.toml is not in main");

    // A link of the target branch that leads out of it is nobody's list.
    repository.git(&["switch", "-q", "main"]);
    fs::create_dir_all(repository.path("conf")).unwrap();
    repository.link("conf/list.toml", "/etc/passwd");
    repository.commit();
    repository.git(&["switch", "-q", "-C", "pull"]);
    repository.write("entries/sed/engine", engine(SED));
    repository.commit();
    said(&repository.judged("", &[]), 2, "leads out of the repository");
}

#[test]
fn settings_are_those_of_the_tip_and_not_of_where_the_branch_parted() {
    let (good, strict, lax) = (engine(GOOD), strict_list(), lax_list());
    let repository = Repository::new(&[
        ("gate4k.toml", b"entries = [\"entries\"]\nallowlist = \"list.toml\"\n"),
        ("list.toml", strict.as_bytes()),
        ("entries/a/engine", &good),
    ]);
    // A pair of commits that together change nothing, merged.
    repository.write("list.toml", &lax);
    repository.write("entries/sed/engine", engine(SED));
    repository.commit();
    repository.git(&["branch", "second"]);
    repository.write("list.toml", &strict);
    fs::remove_dir_all(repository.path("entries/sed")).unwrap();
    repository.commit();
    repository.git(&["switch", "-q", "main"]);
    repository.git(&["merge", "-q", "--no-ff", "--no-edit", "pull"]);
    // A branch from the first of the pair: where it parted, there are the list and the entry.
    repository.git(&["switch", "-q", "second"]);
    repository.write("README.md", "x");
    repository.commit();
    refused(&repository.judged("", &[]), "commands", "entries/sed/engine");
}

#[test]
fn a_merge_of_its_own_hides_no_entry() {
    let repository = usual();
    repository.write("entries/bad/engine", engine(BAD));
    repository.commit();
    // Criss-cross: each has merged the other once, so there are two places where they parted.
    repository.git(&["switch", "-q", "main"]);
    repository.write("notes", "1");
    repository.commit();
    repository.git(&["branch", "was-main"]);
    repository.git(&["merge", "-q", "--no-edit", "-s", "ours", "pull"]);
    repository.git(&["switch", "-q", "pull"]);
    repository.git(&["merge", "-q", "--no-edit", "was-main"]);
    refused(&repository.judged("", &[]), "format", "entries/bad/engine");
}

#[test]
fn attributes_marks_and_ignore_files_hide_no_change() {
    let repository = usual();
    let attributes = "entries/** text eol=crlf working-tree-encoding=UTF-16 ident -diff\n";
    repository.write(".gitattributes", attributes);
    repository.write(".gitignore", "hidden\n*.bin\n");
    repository.commit();
    fs::write(repository.path(".git/info/exclude"), "entries/c\n").unwrap();
    // A change that `eol=crlf` takes back when git compares,
    let with_carriage: Vec<u8> = b"#!/bin/sh\r\nread x\r\n".to_vec();
    repository.git(&["switch", "-q", "main"]);
    repository.write("entries/text/engine", "#!/bin/sh\nread x\n");
    repository.commit();
    repository.git(&["switch", "-q", "pull"]);
    repository.git(&["merge", "-q", "--no-edit", "main"]);
    repository.write("entries/text/engine", with_carriage);
    refused(&repository.judged("", &[]), "startup", "entries/text/engine");
    repository.git(&["checkout", "-q", "-f", "main", "--", "entries", "gate4k.toml"]);
    repository.git(&["reset", "-q", "--hard", "main"]);

    // one that the index is told not to look at,
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        repository.git(&["update-index", mark, "entries/a/engine"]);
        repository.write("entries/a/engine", engine(BAD));
        refused(&repository.judged("", &[]), "format", "entries/a/engine");
        repository.git(&[
            "update-index",
            "--no-assume-unchanged",
            "--no-skip-worktree",
            "entries/a/engine",
        ]);
    }
    repository.git(&["reset", "-q", "--hard", "main"]);

    // files that are ignored, and a bit of a mode.
    repository.write("entries/c/engine", engine(BAD));
    refused(&repository.judged("", &[]), "format", "entries/c/engine");
    fs::remove_dir_all(repository.path("entries/c")).unwrap();
    repository.write("entries/a/hidden", "x");
    refused(&repository.judged("", &[]), "single-file", "entries/a/hidden");
    fs::remove_file(repository.path("entries/a/hidden")).unwrap();
    let engine = repository.path("entries/a/engine");
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o644)).unwrap();
    said(&repository.judged("", &[]), 0, "1 of 3 entries changed since main");
}

#[test]
fn an_added_file_of_settings_does_not_drop_those_above() {
    let (good, rm) = (engine(GOOD), engine(RM));
    let repository = Repository::new(&[
        ("gate4k.toml", b"strict = true\nentries = [\"entries\"]\n"),
        ("entries/a/engine", &good),
    ]);
    repository.write("entries/gate4k.toml", "");
    repository.write("entries/rm/engine", &rm);
    repository.commit();
    let told = repository.judged("entries", &["rm"]);
    refused(&told, "commands", "rm/engine");
    said(&told, 1, "gate4k.toml is not in main");
    refused(&repository.judged("", &[]), "commands", "entries/rm/engine");

    // One that is removed holds as well.
    fs::remove_file(repository.path("entries/gate4k.toml")).unwrap();
    fs::remove_file(repository.path("gate4k.toml")).unwrap();
    repository.commit();
    refused(&repository.judged("entries", &["rm"]), "commands", "rm/engine");
    refused(&repository.judged("", &[]), "commands", "entries/rm/engine");

    // And so does one that is named.
    repository.write("gate4k.toml", "entries = [\"entries\"]\n");
    repository.commit();
    let told = repository.check_with("--config=gate4k.toml", "entries/rm");
    refused(&[told], "commands", "entries/rm/engine");
}

impl Repository {
    fn check_with(&self, word: &str, entry: &str) -> Told {
        let sarif = self.runner.path().join("check.sarif");
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        command
            .args(["check", "--quick", "--changed-since=main", word, entry])
            .arg(format!("--report=sarif={}", sarif.display()));
        self.told("check", command, "", &sarif)
    }
}

#[test]
fn an_allow_list_of_the_command_line_is_read_from_the_target_branch_too() {
    let (good, list) = (engine(GOOD), strict_list());
    let repository =
        Repository::new(&[("list.toml", list.as_bytes()), ("entries/a/engine", &good)]);
    repository.write("list.toml", lax_list());
    repository.write("entries/sed/engine", engine(SED));
    repository.commit();
    let told = repository.check_with("--allowlist=list.toml", "entries/sed");
    refused(&[told], "commands", "entries/sed/engine");
    // One outside of the repository is the organisers' own.
    let ours = repository.runner.path().join("list.toml");
    fs::write(&ours, lax_list()).unwrap();
    let told = repository.check_with(&format!("--allowlist={}", ours.display()), "entries/sed");
    assert!(!told.refuses("commands", "entries/sed/engine"), "{told:#?}");
}

#[test]
fn a_waiver_is_not_passed_on_by_a_link() {
    let good = engine(GOOD);
    let waiver = "entries = [\"entries\"]\n[[waiver]]\nentry = \"entries/old\"\nrule = \"format\"\n\
                  reason = \"known\"\ndate = 2026-11-21\n";
    let repository =
        Repository::new(&[("gate4k.toml", waiver.as_bytes()), ("entries/old/engine", &good)]);
    repository.write("entries/bad/engine", engine(BAD));
    repository.link("entries/old", "bad");
    repository.commit();
    refused(&repository.judged("", &["entries/bad"]), "format", "entries/bad/engine");
}

#[test]
fn a_link_that_is_moved_to_another_target_changes_its_entry() {
    let good = engine(GOOD);
    let repository = Repository::new(&[
        ("gate4k.toml", b"entries = [\"entries\"]\n"),
        ("entries/a/engine", &good),
        ("attic/engine", &engine(BAD)),
        ("attic2/a/engine", &engine(BAD)),
    ]);
    // An entry, and the directory of entries, lead to what was there before and was no entry.
    repository.link("entries/a", "../attic");
    repository.commit();
    for told in repository.judged("", &[]) {
        assert_ne!(told.code, 0, "{told:#?}");
        assert!(told.err.contains("1 of 1 entries changed since main"), "{told:#?}");
    }
    repository.link("entries", "attic2");
    for told in repository.judged("", &["entries/a"]) {
        assert_ne!(told.code, 0, "{told:#?}");
        assert!(told.err.contains("1 of 1 entries changed since main"), "{told:#?}");
    }
}

#[test]
fn a_submodule_in_the_place_of_the_entries_is_no_repository_to_ask() {
    let repository = usual();
    let forged = repository.runner.path().join("forged");
    repository.git(&["clone", "-q", ".", forged.to_str().unwrap()]);
    fs::remove_dir_all(repository.path("entries")).unwrap();
    repository.commit();
    repository.git(&["submodule", "--quiet", "add", forged.to_str().unwrap(), "entries"]);
    repository.git_in(&repository.path("entries"), &["branch", "-f", "main"]);
    repository.commit();
    for told in repository.judged("", &["entries"]) {
        assert_ne!(told.code, 0, "{told:#?}");
    }
    said(&repository.judged("entries", &[]), 2, "is a submodule of");
}

#[test]
fn no_revision_runs_anything() {
    let repository = usual();
    repository.write("entries/bad/engine", engine(BAD));
    repository.commit();
    for since in [
        "--all",
        "--exec=touch x",
        ":/text",
        "@{upstream}",
        "main..pull",
        "^main",
        "main:entries",
        "main --",
        "!touch x",
        "main\npull",
        "-",
    ] {
        let told = repository.judged_since(since, "", &["entries"]);
        said(&told, 2, "no commit");
    }
    assert!(!repository.path("x").exists());
    refused(&repository.judged_since("main~0", "", &["entries"]), "format", "entries/bad/engine");
}

#[test]
fn replaced_objects_and_grafts_are_not_believed() {
    let repository = usual();
    repository.write("entries/bad/engine", engine(BAD));
    repository.commit();
    repository.git(&["replace", "main", "pull"]);
    refused(&repository.judged("", &["entries"]), "format", "entries/bad/engine");
}

#[test]
fn names_that_are_no_text_are_told_apart() {
    let repository = usual();
    let odd = OsStr::from_bytes(b"entries/\xff\n\"x\"");
    repository.git(&["switch", "-q", "main"]);
    repository.write(Path::new(odd).join("engine"), engine(BAD));
    repository.commit();
    repository.git(&["switch", "-q", "-C", "pull"]);
    let path = repository.path(odd);
    let check = |code: i32, counts: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_gate4k"))
            .args(["check", "--quick", "--changed-since=main"])
            .arg(&path)
            .current_dir(repository.top.path())
            .env("XDG_CACHE_HOME", repository.runner.path())
            .output()
            .unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{err}");
        assert!(err.contains(counts), "{err}");
    };
    check(0, "0 of 1 entries changed since main");
    fs::write(path.join("engine"), "x").unwrap();
    check(1, "1 of 1 entries changed since main");
}

#[test]
fn work_trees_shallow_clones_and_the_repositories_of_others_can_be_judged() {
    let repository = usual();
    repository.write("entries/bad/engine", engine(BAD));
    repository.commit();
    let aside = |name: &str, words: &[&str]| {
        let path = repository.runner.path().join(name);
        repository.git(&[words, &[path.to_str().unwrap()]].concat());
        path
    };
    let refuses = |top: &Path, since: &str| {
        let sarif = repository.runner.path().join("aside.sarif");
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        command
            .args(["check", "--quick", &format!("--changed-since={since}")])
            .arg(format!("--report=sarif={}", sarif.display()));
        let told = repository.told("check", command, top.to_str().unwrap(), &sarif);
        refused(&[told], "format", "entries/bad/engine");
    };
    let tree = aside("tree", &["worktree", "add", "-q", "--detach"]);
    refuses(&tree, "main");
    refuses(&tree, "HEAD~1");

    let from = format!("file://{}", repository.top.path().display());
    let shallow = aside("shallow", &["clone", "-q", "--depth=1", "--branch=pull", &from]);
    let sarif = repository.runner.path().join("no.sarif");
    let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
    command.args(["check", "--changed-since=origin/main"]);
    let told = repository.told("check", command, shallow.to_str().unwrap(), &sarif);
    said(&[told], 2, "fetch-depth: 0");
    repository.git_in(&shallow, &["fetch", "-q", "--depth=1", "origin", "main"]);
    refuses(&shallow, "FETCH_HEAD");

    let packed = aside("packed", &["clone", "-q", "--branch=pull", &from]);
    repository.git_in(&packed, &["gc", "-q"]);
    refuses(&packed, "origin/main");
    let shared = aside("shared", &["clone", "-q", "--shared", "--branch=pull", "."]);
    refuses(&shared, "origin/main");
    let partial = aside("partial", &["clone", "-q", "--filter=blob:none", "--branch=pull", &from]);
    refuses(&partial, "origin/main");

    // Only root can give a directory away.
    if nix::unistd::geteuid().is_root() {
        let words = ["-R", "65534:65534", packed.to_str().unwrap()];
        assert!(Command::new("chown").args(words).status().unwrap().success());
        refuses(&packed, "origin/main");
    }
}

#[test]
fn a_repository_with_longer_sums_is_read() {
    let top = tempfile::tempdir().unwrap();
    let git = |words: &[&str]| {
        let who = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"];
        let done = Command::new("git").args(who).args(words).current_dir(top.path()).output();
        assert!(done.unwrap().status.success(), "{words:?}");
    };
    git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    for (name, from) in [("entries/a", GOOD), ("entries/b", BAD)] {
        fs::create_dir_all(top.path().join(name)).unwrap();
        fs::write(top.path().join(name).join("engine"), engine(from)).unwrap();
    }
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "x"]);
    let output = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["check", "--quick", "--changed-since=main", "entries"])
        .current_dir(top.path())
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("0 of 2 entries changed since main"), "{err}");
}
