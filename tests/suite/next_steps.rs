//! The next step of a finding leads somewhere: what it says is done to a copy of the reject fixture that gives it, and the finding passes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::trials::Test;

/// Of what the next step says, that which a program can do.
enum Step {
    /// The command that the step names, from this word up to the mark behind it, typed as it stands.
    Typed(&'static str, char),
    /// Texts of the engine, each of which stands there once, and what comes in their place.
    Edit(&'static [(&'static str, &'static str)]),
    /// The file beside the engine with this name is taken away.
    Remove(&'static str),
    /// engines.json is written anew.
    Configure(&'static str),
}

/// A fixture, the rule whose finding it gives, words of its next step, and what is done.
type Case = (&'static str, &'static str, &'static str, Step);

/// The engines.json that cutechess writes of an engine without options.
const SOUND: &str = r#"[ { "name": "Plain", "command": "./engine", "options": [ ] } ]"#;

/// Rules that the bytes decide: such a check takes no time beside what it runs afterwards.
const READ: &[Case] = &[
    ("single-file-readme", "single-file", "put everything else into it", Step::Remove("README.md")),
    ("size-json-option", "size", "what counts of engines.json", Step::Remove("engines.json")),
    ("payload-string", "payload", "write it as cutechess does", Step::Configure(SOUND)),
    ("payload-cut", "payload", "mend the JSON", Step::Configure(SOUND)),
    ("payload-same-name", "payload", "leave only one in the file", Step::Configure(SOUND)),
];

const LINE_ENDS: &[Case] = &[
    ("format-crlf-sh", "format", "LF line ends", Step::Typed("sed ", ')')),
    ("format-crlf-python", "startup", "with LF alone", Step::Typed("sed ", '`')),
    (
        "startup-no-path",
        "format",
        "the interpreter's full path",
        Step::Edit(&[("#!python3\n", "#!/usr/bin/python3\n")]),
    ),
];

const START: &[Case] = &[
    (
        "uci-handshake-not-flushed",
        "startup",
        "`python3 -u`",
        Step::Edit(&[("#!/usr/bin/python3\n", "#!/usr/bin/python3 -u\n")]),
    ),
    (
        "startup-stderr",
        "startup",
        "standard output",
        Step::Edit(&[("flush=True, file=sys.stderr", "flush=True")]),
    ),
    (
        "startup-offset-wrong",
        "startup",
        "begins where the stub cuts it",
        Step::Edit(&[("tail -n +9", "tail -n +5")]),
    ),
];

const BEHAVIOUR: &[Case] = &[
    (
        "leftover-files-no-rm",
        "leftover-files",
        "(sleep 3;rm $T)&exec $T",
        Step::Edit(&[("exec python3 $T", "(sleep 3;rm $T)&exec python3 $T")]),
    ),
    ("commands-uname", "commands", "do without it", Step::Edit(&[("M=`uname -m`\n", "\n")])),
    (
        "commands-sed-needed",
        "commands",
        "do without it",
        Step::Edit(&[("sed 1,2d \"$0\"", "tail -n +3 \"$0\"")]),
    ),
    (
        "legal-moves-upper",
        "legal-moves",
        "all in lower case",
        Step::Edit(&[("name2(m).upper()", "name2(m)")]),
    ),
];

/// The finding of a rule in a quick check of a copy, named as in a shell.
fn finding(folder: &Path, name: &str, rule: &str) -> Value {
    finding_with(&[], folder, name, rule)
}

/// The same in a check with these words.
fn finding_with(words: &[&str], folder: &Path, name: &str, rule: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["check", "-q", "--quick", "--no-cache", "--format", "json", name])
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{name}: {error}: {told}"));
    let findings = report["entries"][0]["findings"].as_array().unwrap();
    findings.iter().find(|one| one["rule"] == rule).unwrap().clone()
}

/// A copy without the note of what is expected, so that it is what its author would hand in.
fn copy(name: &str, folder: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/reject").join(name);
    fs::create_dir(folder.join(name)).unwrap();
    for item in fs::read_dir(from).unwrap() {
        let item = item.unwrap();
        if item.file_name() != "expected.toml" {
            fs::copy(item.path(), folder.join(name).join(item.file_name())).unwrap();
        }
    }
}

fn take(step: &Step, entry: &Path, help: &str) {
    let engine = entry.join("engine");
    match step {
        Step::Typed(from, mark) => {
            let typed = &help[help.find(from).unwrap_or_else(|| panic!("no {from:?}: {help}"))..];
            let typed = typed.split(*mark).next().unwrap();
            let status = Command::new("sh")
                .args(["-c", typed])
                .current_dir(entry.parent().unwrap())
                .status()
                .unwrap();
            assert!(status.success(), "{typed}");
        }
        Step::Edit(pairs) => {
            let mut bytes = fs::read(&engine).unwrap();
            for (old, new) in *pairs {
                let old = old.as_bytes();
                let places: Vec<usize> = (0..bytes.len())
                    .filter(|at| bytes.get(*at..).is_some_and(|rest| rest.starts_with(old)))
                    .collect();
                let [at] = places[..] else { panic!("{}: {places:?}", engine.display()) };
                bytes.splice(at..at + old.len(), new.bytes());
            }
            fs::write(&engine, bytes).unwrap();
        }
        Step::Remove(name) => fs::remove_file(entry.join(name)).unwrap(),
        Step::Configure(text) => fs::write(entry.join("engines.json"), text).unwrap(),
    }
}

/// Each next step is done; whatever else the check says then, this finding has gone.
fn lead_somewhere(cases: &[Case]) {
    let folder = tempfile::tempdir().unwrap();
    for (name, rule, words, step) in cases {
        copy(name, folder.path());
        let before = finding(folder.path(), name, rule);
        assert!(
            matches!(before["status"].as_str(), Some("fail" | "undecided")),
            "{name}: {before:#}"
        );
        let help = before["help"].as_str().unwrap();
        assert!(help.contains(words), "{name}: {help}");
        take(step, &folder.path().join(name), help);
        let after = finding(folder.path(), name, rule);
        assert!(
            matches!(after["status"].as_str(), Some("pass" | "advice")),
            "{name}: {help}: {after:#}"
        );
    }
}

fn what_the_bytes_decide_goes_by_its_next_step() {
    lead_somewhere(READ);
}

fn a_first_line_is_mended_by_its_next_step() {
    lead_somewhere(LINE_ENDS);
}

fn an_entry_starts_after_its_next_step() {
    lead_somewhere(START);
}

fn what_an_entry_does_goes_by_its_next_step() {
    lead_somewhere(BEHAVIOUR);
}

/// It was told to answer `uci` sooner, as one that is slow.
fn an_entry_that_stops_itself_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let name = "startup-stops-itself";
    copy(name, folder.path());
    let found = finding_with(&["--startup-limit", "2s"], folder.path(), name, "startup");
    let said = |field: &str| found[field].as_str().unwrap().to_owned();
    assert!(said("summary").contains("it stopped itself (a signal stopped `"), "{found:#}");
    assert!(said("help").starts_with("do not send SIGSTOP"), "{found:#}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow an_entry_that_stops_itself_is_told_so [Landlock, Python3],
        slow what_the_bytes_decide_goes_by_its_next_step [Landlock, Python3],
        slow a_first_line_is_mended_by_its_next_step [Landlock, Python3],
        slow an_entry_starts_after_its_next_step [Landlock, Python3, Xz],
        slow what_an_entry_does_goes_by_its_next_step [Landlock, Python3],
    ]
}
