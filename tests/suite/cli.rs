//! The command line as people meet it: exit codes, messages, streams.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::outcome::told_apart;
use crate::trials::Test;

/// Every rule of the gate, with the section it comes from. Written out here on purpose: ids are stable,
/// and a change of one must be noticed.
const RULES: &[(&str, &str)] = &[
    ("single-file", "7.2"),
    ("format", "7.2"),
    ("file-name", "7.3"),
    ("size", "7.1, 7.3"),
    ("payload", "7.3"),
    ("startup", "7.4"),
    ("leftover-files", "7.4"),
    ("leftover-processes", "7.4"),
    ("commands", "7.5, 7.8"),
    ("libraries", "7.6"),
    ("chess-library", "7.7"),
    ("uci-handshake", "7.9"),
    ("uci-isready", "7.9"),
    ("uci-newgame", "7.9"),
    ("uci-position", "7.9"),
    ("uci-go", "7.9"),
    ("uci-quit", "7.9"),
    ("legal-moves", "2.1"),
    ("long-game", "7.9"),
    ("match", "2.1, 6.2"),
    ("own-book", "0.1"),
    ("ponder", "0.1"),
    ("clock", "1"),
];

fn gate4k() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
    for name in ["NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    command
}

fn run(words: &[&str]) -> Output {
    gate4k().args(words).output().unwrap()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn usage_errors_exit_with_2_and_say_what_is_wrong() {
    for (words, part) in [
        (&[][..], "Usage:"),
        (&["chek", "x"], "'check'"),
        (&["check"], "<ENTRY>"),
        (&["size"], "<ENTRY>"),
        (&["check", "x", "--strikt"], "'--strict'"),
        (&["check", "x", "--grace", "soon"], "--grace"),
        (&["check", "x", "--jobs", "0"], "--jobs"),
        (&["check", "x", "--format", "xml"], "json"),
        (&["explain", "size", "format"], "format"),
    ] {
        let (code, out, err) = told_apart(&run(words));
        assert_eq!(code, 2, "{words:?}: {err}");
        assert_eq!(out, "", "{words:?}");
        assert!(err.contains(part), "{words:?}: {part:?} is not in {err}");
    }
}

fn help_and_version_go_to_standard_output() {
    for (words, part) in [
        (&["--help"][..], "70 a bug in gate4k"),
        (&["check", "--help"], "--allowlist"),
        (&["--version"], env!("CARGO_PKG_VERSION")),
    ] {
        let (code, out, err) = told_apart(&run(words));
        assert_eq!((code, err.as_str()), (0, ""), "{words:?}");
        let out = out.replace("\n", " ");
        assert!(out.contains(part), "{words:?}: {part:?} is not in {out}");
    }
}

fn explain_lists_every_rule() {
    let (code, out, _) = told_apart(&run(&["explain"]));
    assert_eq!(code, 0);
    assert_eq!(gate4k::model::rule::RULES.len(), RULES.len(), "a rule that is not in this list");
    for &(rule, section) in RULES {
        assert!(
            out.lines()
                .any(|line| line.split_whitespace().next() == Some(rule) && line.contains(section)),
            "{rule} is not in {out}"
        );
    }
}

fn explain_tells_each_rule() {
    for &(rule, section) in RULES {
        let (code, out, err) = told_apart(&run(&["explain", rule]));
        assert_eq!((code, err.as_str()), (0, ""), "{rule}");
        let first = out.lines().next().unwrap();
        assert!(first.starts_with(rule), "{rule}: {first}");
        assert!(first.contains(section), "{rule}: {first}");
        assert!(out.lines().count() > 3, "{rule} has no text: {out}");
    }
}

fn an_unknown_rule_is_answered_with_the_nearest() {
    for (slip, meant) in
        [("sise", "'size'"), ("uci-isredy", "'uci-isready'"), ("leftover-file", "'leftover-files'")]
    {
        let (code, out, err) = told_apart(&run(&["explain", slip]));
        assert_eq!((code, out.as_str()), (2, ""));
        assert!(err.contains("similar"), "{err}");
        assert!(err.contains(meant), "{err}");
    }
}

fn a_reader_that_goes_away_is_no_error() {
    for words in [&["explain"][..], &["explain", "size"], &["--help"]] {
        let mut child =
            gate4k().args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Closed before a byte was read: whatever it writes meets a broken pipe.
        drop(child.stdout.take());
        let (code, _, err) = told_apart(&child.wait_with_output().unwrap());
        assert_eq!((code, err.as_str()), (0, ""), "{words:?}");
    }
}

fn a_full_disk_is_told() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = gate4k().arg("explain").stdout(full).output().unwrap();
    let (code, _, err) = told_apart(&output);
    assert_eq!(code, 2);
    assert!(err.contains("could not be written"), "{err}");
}

fn colours_are_for_terminals_and_for_those_who_ask() {
    let coloured = |command: &mut Command| {
        let output = command.arg("explain").output().unwrap();
        output.stdout.contains(&0x1b)
    };
    assert!(!coloured(&mut gate4k()));
    assert!(coloured(gate4k().args(["--color", "always"])));
    assert!(!coloured(gate4k().args(["--color", "never"])));
    assert!(coloured(gate4k().env("CLICOLOR_FORCE", "1")));
    assert!(coloured(gate4k().env("FORCE_COLOR", "1")));
    assert!(!coloured(gate4k().env("FORCE_COLOR", "0")));
    assert!(!coloured(gate4k().env("FORCE_COLOR", "1").env("NO_COLOR", "1")));
    assert!(!coloured(gate4k().env("NO_COLOR", "1")));
    assert!(!coloured(gate4k().env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1")));
    // An explicit option goes before the environment.
    assert!(coloured(gate4k().env("NO_COLOR", "1").args(["--color", "always"])));
}

/// Tests that depend on the modules behind the command line.
mod rooms {
    use super::*;

    fn a_missing_file_is_nothing_to_check() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no-such-entry");
        for command in ["check", "size"] {
            let (code, out, err) = told_apart(&run(&[command, path(&missing)]));
            assert_eq!((code, out.as_str()), (3, ""), "{command}: {err}");
            assert!(err.contains("no-such-entry"), "{command}: {err}");
        }
    }

    fn an_empty_directory_is_nothing_to_check() {
        let folder = tempfile::tempdir().unwrap();
        for command in ["check", "size"] {
            let (code, _, err) = told_apart(&run(&[command, path(folder.path())]));
            assert_eq!(code, 3, "{command}: {err}");
            assert!(err.contains("no entry at"), "{command}: {err}");
        }
    }

    fn a_hostile_path_steers_no_terminal() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("x\n\u{1b}[2Jaccepted");
        let (code, _, err) = told_apart(&run(&["check", path(&missing)]));
        assert_eq!(code, 3, "{err}");
        assert!(!err.contains('\u{1b}'), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }

    fn a_mistake_in_an_allow_list_is_shown_at_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let entry = folder.path().join("entry");
        fs::write(&entry, "#!/bin/sh\n").unwrap();
        let list = folder.path().join("list.toml");
        fs::write(&list, "# a comment\n# another\nno-such-table = 7\n").unwrap();
        for command in ["check", "size"] {
            let words = [command, path(&entry), "--allowlist", path(&list)];
            let (code, out, err) = told_apart(&run(&words));
            assert_eq!((code, out.as_str()), (2, ""), "{command}: {err}");
            assert!(err.contains("list.toml:3"), "{command}: {err}");
            assert!(err.contains("no-such-table"), "{command}: {err}");
        }
    }

    fn an_allow_list_that_is_not_there_is_a_usage_error() {
        let folder = tempfile::tempdir().unwrap();
        let entry = folder.path().join("entry");
        fs::write(&entry, "#!/bin/sh\n").unwrap();
        let list = folder.path().join("missing.toml");
        let (code, _, err) = told_apart(&run(&["check", path(&entry), "--allowlist", path(&list)]));
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("missing.toml"), "{err}");
    }

    fn size_tells_the_bytes_and_the_exit_code() {
        let folder = tempfile::tempdir().unwrap();
        for (bytes, code, words) in [
            (4095, 0, "4095 of 4096 bytes, 1 left"),
            (4096, 0, "4096 of 4096 bytes, 0 left"),
            (4097, 1, "4097 of 4096 bytes, 1 over"),
        ] {
            let entry = folder.path().join("entry");
            let mut script = b"#!/bin/sh\nexit\n".to_vec();
            script.resize(bytes, b'#');
            fs::write(&entry, script).unwrap();
            let human = told_apart(&run(&["size", path(&entry)]));
            assert_eq!(human.0, code, "{}", human.2);
            assert!(human.1.contains(words), "{}", human.1);
            let json = told_apart(&run(&["size", path(&entry), "--format", "json"]));
            assert_eq!(json.0, code, "{}", json.2);
            let document: serde_json::Value = serde_json::from_str(&json.1).unwrap();
            assert_eq!(document["schema"], "gate4k/size/1");
            assert_eq!(document["entries"][0]["size"]["file"], bytes);
        }
    }

    pub(crate) fn tests() -> Vec<Test> {
        tests![
            quick a_missing_file_is_nothing_to_check,
            quick an_empty_directory_is_nothing_to_check,
            quick a_hostile_path_steers_no_terminal,
            quick a_mistake_in_an_allow_list_is_shown_at_its_line,
            quick an_allow_list_that_is_not_there_is_a_usage_error,
            quick size_tells_the_bytes_and_the_exit_code,
        ]
    }
}

/// `gate4k doctor` on the host of the tests, and on one without user namespaces.
mod doctor {
    use super::*;

    fn checks(output: &Output) -> (i32, Vec<serde_json::Value>) {
        let (code, out, err) = told_apart(output);
        let document: serde_json::Value = serde_json::from_str(&out).expect(&err);
        assert_eq!(document["schema"], "gate4k/doctor/1");
        (code, document["checks"].as_array().unwrap().clone())
    }

    fn line<'a>(checks: &'a [serde_json::Value], topic: &str, name: &str) -> &'a serde_json::Value {
        let found = checks.iter().find(|check| check["topic"] == topic && check["name"] == name);
        found.expect(name)
    }

    fn every_matter_has_a_line_and_every_gap_a_fix() {
        let (code, checks) = checks(&run(&["doctor", "--format", "json"]));
        assert_eq!(code, 0, "{checks:?}");
        for (topic, name) in [
            ("kernel", "release"),
            ("kernel", "landlock"),
            ("kernel", "ptrace"),
            ("kernel", "seccomp"),
            ("kernel", "crashes"),
            ("sandbox", "user"),
            ("sandbox", "cgroup"),
            ("sandbox", "start"),
            ("command", "pypy3"),
            ("command", "rustc"),
            ("library", "libc"),
            ("library", "CUDA"),
            ("library", "OpenCL"),
        ] {
            line(&checks, topic, name);
        }
        for check in &checks {
            assert_eq!(check["state"] == "pass", check["fix"].is_null(), "{check}");
        }
        for name in ["sh", "cc", "tail"] {
            let check = line(&checks, "command", name);
            assert!(check["what"].as_str().unwrap().ends_with("works inside"), "{check}");
        }
        let human = told_apart(&run(&["doctor"]));
        assert_eq!(human.0, 0);
        assert!(human.1.contains("this host can judge entries"), "{}", human.1);
    }

    fn numpy_has_a_line_where_there_is_python() {
        let (_, checks) = checks(&run(&["doctor", "--format", "json"]));
        line(&checks, "library", "numpy/python3");
    }

    fn xz_works_inside() {
        let (_, checks) = checks(&run(&["doctor", "--format", "json"]));
        let check = line(&checks, "command", "xz");
        assert!(check["what"].as_str().unwrap().ends_with("works inside"), "{check}");
    }

    fn a_host_without_namespaces_is_told_and_still_fit() {
        let output = Command::new("bwrap")
            .args(["--unshare-user", "--disable-userns", "--dev-bind", "/", "/"])
            .args([env!("CARGO_BIN_EXE_gate4k"), "doctor", "--format", "json"])
            .output()
            .unwrap();
        let (code, checks) = checks(&output);
        assert_eq!(code, 0, "{checks:?}");
        let user = line(&checks, "sandbox", "user");
        assert_eq!(user["state"], "caution");
        assert!(user["fix"].as_str().unwrap().contains("max_user_namespaces"), "{user}");
        assert_eq!(line(&checks, "sandbox", "start")["state"], "pass");
    }

    pub(crate) fn tests() -> Vec<Test> {
        tests![
            quick every_matter_has_a_line_and_every_gap_a_fix [Landlock],
            quick numpy_has_a_line_where_there_is_python [Landlock, Python3],
            quick xz_works_inside [Landlock, Xz],
            quick a_host_without_namespaces_is_told_and_still_fit [Landlock, Bwrap],
        ]
    }
}

pub(crate) fn tests() -> Vec<Test> {
    let mut all = tests![
        quick usage_errors_exit_with_2_and_say_what_is_wrong,
        quick help_and_version_go_to_standard_output,
        quick explain_lists_every_rule,
        quick explain_tells_each_rule,
        quick an_unknown_rule_is_answered_with_the_nearest,
        quick a_reader_that_goes_away_is_no_error,
        quick a_full_disk_is_told,
        quick colours_are_for_terminals_and_for_those_who_ask,
    ];
    all.extend(rooms::tests());
    all.extend(doctor::tests());
    all
}
