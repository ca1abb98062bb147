//! The example of a submissions repository, and three pull requests to it, as the action runs them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::test_folder::TestFolder;
use crate::trials::Test;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The result of the action.
struct Told {
    code: i32,
    out: String,
    err: String,
    summary: String,
    outputs: String,
    sarif: Value,
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for item in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(item.file_name());
        if item.file_type().unwrap().is_dir() {
            copy(&item.path(), &target);
        } else {
            fs::copy(item.path(), target).unwrap();
        }
    }
}

/// A checkout of the example, on the branch of a pull request.
fn checked_out() -> TestFolder {
    let checkout = TestFolder::new();
    copy(&root().join("fixtures/submissions"), checkout.top());
    checkout.git(&["init", "-q", "-b", "main"]);
    checkout.commit();
    checkout.git(&["switch", "-q", "-c", "pull"]);
    checkout
}

fn act(checkout: &TestFolder) -> Told {
    act_with(checkout, "", "")
}

/// The action with packages to install; `path` goes before the folders in which commands are looked for.
fn act_with(checkout: &TestFolder, packages: &str, path: &str) -> Told {
    checkout.commit();
    let temp = |name: &str| -> PathBuf { checkout.home().join(name) };
    fs::write(temp("output"), "").unwrap();
    let output = Command::new("bash")
        .arg(root().join("ci/action.sh"))
        .current_dir(checkout.top())
        .env("GATE4K", env!("CARGO_BIN_EXE_gate4k"))
        .env("GATE4K_SINCE", "main")
        .env("GATE4K_ARGUMENTS", "--quick\n--jobs=2\n")
        .env("GATE4K_ENTRIES", "")
        .env("GATE4K_PACKAGES", packages)
        .env("PATH", format!("{path}:{}", std::env::var("PATH").unwrap()))
        .env("GATE4K_ALLOW_UNDECIDED", "false")
        .env("GITHUB_WORKSPACE", checkout.top())
        .env("GITHUB_STEP_SUMMARY", temp("summary.md"))
        .env("GITHUB_OUTPUT", temp("output"))
        .env("RUNNER_TEMP", checkout.home())
        .env("HOME", checkout.home())
        .env("XDG_CACHE_HOME", temp("cache"))
        .env("COLUMNS", "120")
        .env_remove("GITHUB_ACTIONS")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    let read = |name: &str| {
        fs::read_to_string(temp(name)).unwrap_or_else(|e| panic!("{name}: {e}\n{out}{err}"))
    };
    Told {
        summary: read("summary.md"),
        outputs: read("output"),
        sarif: serde_json::from_str(&read("gate4k-reports/gate4k.sarif")).unwrap(),
        code: output.status.code().unwrap(),
        out,
        err,
    }
}

impl Told {
    fn annotations(&self, level: &str) -> Vec<&str> {
        self.out.lines().filter(|line| line.starts_with(&format!("::{level} "))).collect()
    }

    fn errors(&self) -> Vec<(&str, &str)> {
        let results = self.sarif["runs"][0]["results"].as_array().unwrap().iter();
        results
            .filter(|result| result["level"] == "error")
            .map(|result| {
                let place = "/locations/0/physicalLocation/artifactLocation/uri";
                (
                    result["ruleId"].as_str().unwrap(),
                    result.pointer(place).unwrap().as_str().unwrap(),
                )
            })
            .collect()
    }
}

fn first() -> Vec<u8> {
    fs::read(root().join("fixtures/submissions/entries/first/engine")).unwrap()
}

fn a_good_entry_passes_and_only_it_is_judged() {
    let checkout = checked_out();
    checkout.write("entries/second/engine", first());
    let told = act(&checkout);
    assert_eq!(told.code, 0, "{}{}", told.out, told.err);
    assert_eq!(told.annotations("error"), [""; 0]);
    assert!(told.summary.contains("## gate4k: accepted"), "{}", told.summary);
    assert!(told.summary.contains("| entries/second | ✅ accepted | 4048 |"), "{}", told.summary);
    assert!(!told.summary.contains("entries/first"), "{}", told.summary);
    assert!(told.err.contains("1 of 2 entries changed since main"), "{}", told.err);
    assert!(told.outputs.starts_with("exit-code=0\nsarif=/"), "{}", told.outputs);
    assert_eq!(told.errors(), []);
}

fn one_byte_too_many_is_told_at_the_file() {
    let checkout = checked_out();
    let mut bytes = first();
    bytes.resize(4097, 0);
    checkout.write("entries/first/engine", bytes);
    let told = act(&checkout);
    assert_eq!(told.code, 1, "{}{}", told.out, told.err);
    let errors = told.annotations("error");
    assert_eq!(errors.len(), 1, "{}", told.out);
    assert!(
        errors[0].starts_with("::error file=entries/first/engine,line=1,title=size "),
        "{}",
        errors[0]
    );
    assert!(errors[0].contains("4097 of 4096 bytes, 1 over"), "{}", errors[0]);
    assert!(
        told.summary.contains("| entries/first | ❌ rejected | 4097 | size |"),
        "{}",
        told.summary
    );
    assert_eq!(told.errors(), [("size", "entries/first/engine")]);
    assert!(told.outputs.starts_with("exit-code=1\n"), "{}", told.outputs);
}

fn a_payload_beside_the_file_counts_and_no_setting_of_its_own_lets_it_in() {
    let checkout = checked_out();
    let engines = format!(
        "[{{\"name\": \"Third\", \"command\": \"./engine\", \"protocol\": \"uci\", \"options\": \
         [{{\"name\": \"Weights\", \"type\": \"text\", \"value\": \"{}\"}}]}}]",
        "k7Qp".repeat(30)
    );
    checkout.write("entries/third/engine", first());
    checkout.write("entries/third/engines.json", engines);
    let toml = fs::read_to_string(checkout.path("gate4k.toml")).unwrap();
    let waiver = "\n[[waiver]]\nentry = \"entries/third\"\nrule = \"size\"\nreason = \"mine\"\ndate = 2026-11-21\n";
    checkout.write("gate4k.toml", toml + waiver);
    let told = act(&checkout);
    assert_eq!(told.code, 1, "{}{}", told.out, told.err);
    let errors = told.annotations("error");
    assert!(errors.iter().any(|line| line.contains("title=size ")), "{}", told.out);
    assert!(errors.iter().any(|line| line.contains("option Weights (132)")), "{}", told.out);
    assert!(told.summary.contains("| entries/third | ❌ rejected |"), "{}", told.summary);
    assert!(
        told.err.contains("gate4k.toml has changed; what it said before holds"),
        "{}",
        told.err
    );
    assert!(told.errors().contains(&("size", "entries/third/engine")), "{:?}", told.errors());
}

fn settings_that_a_pull_request_breaks_are_told_before_they_are_merged() {
    for (name, text, said) in [
        ("gate4k.toml", "entries = [\"entries\"\n", "this branch breaks gate4k.toml"),
        ("gate4k.toml", "entires = [\"entries\"]\n", "entires"),
        (
            "gate4k.toml",
            "[[waiver]]\nentry = \"entries/first\"\n",
            "this branch breaks gate4k.toml",
        ),
        ("list.toml", "commands = 7\n", "this branch breaks list.toml"),
    ] {
        let checkout = checked_out();
        if name == "list.toml" {
            let toml = fs::read_to_string(checkout.path("gate4k.toml")).unwrap();
            checkout.write("gate4k.toml", format!("allowlist = \"list.toml\"\n{toml}"));
        }
        checkout.write(name, text);
        let told = act(&checkout);
        assert_eq!(told.code, 2, "{name}: {}{}", told.out, told.err);
        let errors = told.annotations("error");
        assert_eq!(errors.len(), 1, "{}", told.out);
        assert!(
            errors[0].starts_with("::error title=gate4k::") && errors[0].contains(said),
            "{}",
            errors[0]
        );
        assert!(
            told.summary.contains("judged nothing") && told.summary.contains(said),
            "{}",
            told.summary
        );
        let run = &told.sarif["runs"][0]["invocations"][0];
        assert_eq!(run["executionSuccessful"], false, "{run}");
        let text = &run["toolConfigurationNotifications"][0]["message"]["text"];
        assert!(text.as_str().unwrap().contains(said), "{run}");
    }
}

/// A change of a pull request, done to a path.
type Change<'a> = &'a dyn Fn(&Path);

/// Settings that are no text of the branch's own: neither the text behind a link nor a long one is told, and the job fails.
fn settings_that_cannot_be_looked_at_fail_the_job_and_tell_no_text() {
    let secret = tempfile::tempdir().unwrap();
    fs::write(secret.path().join("key"), "top secret = = words\n").unwrap();
    let key = secret.path().join("key");
    let link = |path: &Path| std::os::unix::fs::symlink(&key, path).unwrap();
    let dangling = |path: &Path| std::os::unix::fs::symlink("nowhere", path).unwrap();
    let long = |path: &Path| fs::write(path, "# secret\n".repeat(1 << 17)).unwrap();
    let folder = |path: &Path| {
        fs::create_dir(path).unwrap();
        fs::write(path.join("secret"), "").unwrap();
    };
    let gone = |_: &Path| {};
    let cases: [(&str, Change<'_>, Option<&str>); 9] = [
        ("gate4k.toml", &link, Some("a link leads there")),
        ("gate4k.toml", &dangling, Some("a link leads there")),
        ("gate4k.toml", &long, Some("longer than 1 MiB")),
        ("gate4k.toml", &folder, Some("it is no file")),
        ("gate4k.toml", &gone, None),
        ("list.toml", &link, Some("a link leads there")),
        ("list.toml", &long, Some("longer than 1 MiB")),
        ("list.toml", &folder, Some("it is no file")),
        ("list.toml", &gone, Some("there is no such file")),
    ];
    for (at, (name, change, said)) in cases.into_iter().enumerate() {
        let checkout = checked_out();
        let toml = fs::read_to_string(checkout.path("gate4k.toml")).unwrap();
        checkout.git(&["switch", "-q", "main"]);
        checkout.write("gate4k.toml", format!("allowlist = \"list.toml\"\n{toml}"));
        fs::copy(root().join("allowlist.toml"), checkout.path("list.toml")).unwrap();
        checkout.commit();
        checkout.git(&["switch", "-q", "-C", "pull"]);
        fs::remove_file(checkout.path(name)).unwrap();
        change(&checkout.path(name));
        let told = act(&checkout);
        let all = format!("{}{}{}", told.out, told.err, told.summary);
        let expected = if said.is_some() { 2 } else { 0 };
        assert_eq!(told.code, expected, "{at} {name}: {all}");
        assert!(!all.contains("secret"), "{at} {name}: {all}");
        if let Some(said) = said {
            let broken = format!("this branch breaks {name}");
            assert!(all.contains(&broken) && all.contains(said), "{at} {name}: {all}");
        }
    }
}

/// A job that GitHub starts only for changed entries would never see settings that a pull request breaks.
fn the_example_starts_a_job_for_every_pull_request() {
    let path = root().join("fixtures/submissions/.github/workflows/entries.yml");
    let text = fs::read_to_string(path).unwrap();
    let lines = || text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    assert!(lines().any(|line| line == "on: pull_request"), "{text}");
    for line in lines() {
        let filters = ["paths:", "paths-ignore:", "if:", "branches:"];
        assert!(!filters.iter().any(|filter| line.starts_with(filter)), "{line}");
        // The work that takes long is the action's, which asks first whether there is an entry to judge.
        assert!(!line.contains("run:") && !line.contains("apt-get"), "{line}");
    }
}

fn compilers_are_installed_only_where_an_entry_is_judged() {
    let checkout = checked_out();
    let bin = checkout.home().join("bin");
    let installed = checkout.home().join("installed");
    fs::create_dir(&bin).unwrap();
    let sudo = bin.join("sudo");
    fs::write(&sudo, format!("#!/bin/sh\nprintf '%s\\n' \"$*\" >>{}\n", installed.display()))
        .unwrap();
    fs::set_permissions(&sudo, fs::Permissions::from_mode(0o755)).unwrap();
    let act = || act_with(&checkout, "gcc xz-utils", bin.to_str().unwrap());
    checkout.write("README.md", "more words\n");
    let told = act();
    assert_eq!(told.code, 0, "{}{}", told.out, told.err);
    assert!(told.err.contains("0 of 1 entries changed since main"), "{}", told.err);
    assert!(!installed.exists(), "{}", fs::read_to_string(&installed).unwrap());
    let mut bytes = first();
    bytes.resize(4097, 0);
    checkout.write("entries/first/engine", bytes);
    let told = act();
    assert_eq!(told.code, 1, "{}{}", told.out, told.err);
    let installed = fs::read_to_string(&installed).unwrap();
    assert!(
        installed.ends_with("install -q -y --no-install-recommends gcc xz-utils\n"),
        "{installed}"
    );
}

fn the_last_entry_may_go_and_an_accepted_one_has_one_notice_at_most() {
    let checkout = checked_out();
    fs::remove_dir_all(checkout.path("entries/first")).unwrap();
    let told = act(&checkout);
    assert_eq!(told.code, 0, "{}{}", told.out, told.err);
    assert_eq!(told.annotations("error"), [""; 0]);

    let checkout = checked_out();
    let stub = fs::read(root().join("fixtures/entries/accept/c-gzip/engine")).unwrap();
    checkout.write("entries/second/engine", stub);
    let told = act(&checkout);
    assert_eq!(told.code, 0, "{}{}", told.out, told.err);
    assert!(told.annotations("notice").len() <= 1, "{}", told.out);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_good_entry_passes_and_only_it_is_judged [Landlock, Git, Bash, Xz],
        slow one_byte_too_many_is_told_at_the_file [Landlock, Git, Bash, Xz],
        slow a_payload_beside_the_file_counts_and_no_setting_of_its_own_lets_it_in [Landlock, Git, Bash, Xz],
        slow settings_that_a_pull_request_breaks_are_told_before_they_are_merged [Git, Bash],
        slow settings_that_cannot_be_looked_at_fail_the_job_and_tell_no_text [Git, Bash],
        quick the_example_starts_a_job_for_every_pull_request,
        slow compilers_are_installed_only_where_an_entry_is_judged [Landlock, Git, Bash],
        slow the_last_entry_may_go_and_an_accepted_one_has_one_notice_at_most [Landlock, Git, Bash],
    ]
}
