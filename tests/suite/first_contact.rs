//! The first minutes of somebody new: nothing of theirs is overwritten, and a wrong word is answered by a right one.

use crate::trials::Test;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn gate4k(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(words)
        .env_remove("CLICOLOR_FORCE")
        .env("COLUMNS", "120")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

const SOURCE: &str = "int main(void) { return 0; }\n";

fn source(folder: &Path) -> PathBuf {
    let path = folder.join("engine.c");
    fs::write(&path, SOURCE).unwrap();
    path
}

fn pack(source: &Path, output: &Path, more: &[&str]) -> Output {
    let words = ["pack", "-q", "--quick", source.to_str().unwrap(), "-o", output.to_str().unwrap()];
    gate4k(&[&words[..], more].concat())
}

fn pack_never_overwrites_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    let (soft, hard) = (folder.path().join("soft"), folder.path().join("hard"));
    std::os::unix::fs::symlink(&source, &soft).unwrap();
    fs::hard_link(&source, &hard).unwrap();
    for output in [&source, &soft, &hard] {
        for more in [&[][..], &["--force"]] {
            let output = pack(&source, output, more);
            assert_eq!(output.status.code(), Some(2), "{}", told(&output));
            assert!(told(&output).contains("is the source itself"), "{}", told(&output));
        }
    }
    assert_eq!(fs::read_to_string(&source).unwrap(), SOURCE);
    assert!(soft.is_symlink());
}

fn pack_replaces_no_file_that_it_did_not_write() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    let notes = folder.path().join("notes");
    fs::write(&notes, "mine").unwrap();
    let output = pack(&source, &notes, &[]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(told(&output).contains("--force"), "{}", told(&output));
    let output = pack(&source, folder.path(), &[]);
    assert!(told(&output).contains("is a directory"), "{}", told(&output));
    assert_eq!(fs::read_to_string(&notes).unwrap(), "mine");
}

fn pack_asks_for_a_program_of_the_rules_first() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    let output = pack(&source, &folder.path().join("entry"), &["--with", "tcc"]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(told(&output).contains("rule 7.5 does not list it"), "{}", told(&output));
}

fn a_wrong_value_is_answered_by_what_to_write() {
    for (words, part) in [
        (&["check", "--jobs", "0", "x"][..], "write a whole number from 1 up"),
        (&["check", "--startup-limit", "abc", "x"], "write a time with its unit: 90s"),
        (&["match", "--concurrency", "0", "a", "b"], "write a whole number from 1 up"),
        (&["check", "--watch", "/no/such/file"], "there is nothing at /no/such/file"),
        (&["size", "--watch", "/no/such/file"], "there is nothing at /no/such/file"),
    ] {
        let output = gate4k(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", told(&output));
        assert!(told(&output).contains(part), "{words:?}: {}", told(&output));
    }
}

fn a_cause_is_told_once() {
    let output = gate4k(&["verify", "/no/such/receipt", "/no/such/entry"]);
    assert_eq!(told(&output).matches("No such file").count(), 1, "{}", told(&output));
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick pack_never_overwrites_its_source,
        quick pack_replaces_no_file_that_it_did_not_write,
        quick pack_asks_for_a_program_of_the_rules_first,
        quick a_wrong_value_is_answered_by_what_to_write,
        quick a_cause_is_told_once,
    ]
}
