//! The commands of a finding, sent to its entry once more.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::trials::Test;

/// Exit code, standard output and standard error.
fn gate4k(folder: &Path, words: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
    let output = command.args(words).current_dir(folder).stdin(Stdio::null()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn entry(folder: &Path, name: &str, fixture: &str) {
    let place = folder.join(name);
    fs::create_dir(&place).unwrap();
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/reject");
    fs::copy(top.join(fixture).join("engine"), place.join("engine")).unwrap();
}

/// The lines of one direction, without their times.
fn lines<'a>(dialogue: &'a str, sign: &str) -> Vec<&'a str> {
    dialogue.lines().filter_map(|line| line.get(9..)?.strip_prefix(sign)).collect()
}

fn a_finding_is_replayed_to_the_letter() {
    let folder = tempfile::tempdir().unwrap();
    entry(folder.path(), "one", "legal-moves-null-move");
    let (_, report, _) = gate4k(folder.path(), &["check", "-q", "--quick", "--format=json", "one"]);
    fs::write(folder.path().join("report.json"), &report).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let findings = report["entries"][0]["findings"].as_array().unwrap();
    let finding = findings.iter().find(|found| found["rule"] == "legal-moves").unwrap();
    let commands: Vec<&str> = finding["evidence"]["commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|command| command.as_str().unwrap())
        .collect();
    let words = ["replay-question", "report.json", "legal-moves"];
    let (code, dialogue, told) = gate4k(folder.path(), &words);
    assert_eq!(code, 0, "{dialogue}{told}");
    let sent = lines(&dialogue, "> ");
    assert_eq!(sent.split_last().unwrap(), (&"quit", &commands[..]), "{dialogue}");
    assert!(lines(&dialogue, "< ").contains(&"bestmove 0000"), "{dialogue}");

    let (code, _, told) =
        gate4k(folder.path(), &["replay-question", "report.json", "uci-handshake"]);
    assert!(code == 2 && told.contains("no finding of rule uci-handshake with commands"), "{told}");
    let (code, _, told) = gate4k(folder.path(), &["replay-question", "one/engine", "match"]);
    assert!(code == 2 && told.contains("is no report"), "{told}");
}

fn a_question_that_ends_the_entry_says_so() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        entry(folder.path(), name, "uci-newgame-dies");
    }
    let words = ["check", "-q", "--quick", "--format=json", "one", "two"];
    fs::write(folder.path().join("report.json"), gate4k(folder.path(), &words).1).unwrap();
    let words = ["replay-question", "report.json", "uci-newgame"];
    let (code, _, told) = gate4k(folder.path(), &words);
    assert!(code == 2 && told.contains("name one entry"), "{told}");
    let (code, dialogue, told) = gate4k(folder.path(), &[&words[..], &["two"]].concat());
    assert_eq!(code, 1, "{dialogue}{told}");
    assert!(dialogue.contains("# it ended, or closed its output"), "{dialogue}");
    assert!(dialogue.contains("# its first process ended: "), "{dialogue}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_finding_is_replayed_to_the_letter [Landlock, Python3],
        slow a_question_that_ends_the_entry_says_so [Landlock, Python3],
    ]
}
