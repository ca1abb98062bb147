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

fn a_file_that_is_no_entry_yet_is_called_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("engine.o");
    let source = folder.path().join("engine.c");
    fs::write(&source, "int number(int of) { return of; }\n").unwrap();
    let made = Command::new("cc").arg("-c").arg("-o").arg(&object).arg(&source).status().unwrap();
    assert!(made.success());
    let python = "import sys\nfor line in sys.stdin:\n    print('uciok')\n";
    let wide: Vec<u8> = python.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (name, bytes, is, next) in [
        (
            "engine.c",
            &b"int main(void) { return 0; }\n"[..],
            "C source",
            "gate4k pack engine.c -o engine",
        ),
        (
            "engine",
            b"#include <vector>\nusing namespace std;\n",
            "C++ source",
            "gate4k pack engine -o engine",
        ),
        ("engine.rs", b"fn main() {}\n", "Rust source", "gate4k pack engine.rs -o engine"),
        ("engine.py", python.as_bytes(), "Python without a first line", "#!/usr/bin/python3"),
        ("engine.pl", b"use strict;\n", "Perl without a first line", "#!/usr/bin/perl"),
        (
            "bom",
            b"\xef\xbb\xbf#!/bin/sh\necho uciok\n",
            "byte order mark",
            "remove its first 3 bytes",
        ),
        ("wide", &wide, "UTF-16", "save it as UTF-8"),
        ("engine.zip", b"PK\x03\x04\x14\0\0\0\0\0", "a zip archive", "take out of it the one file"),
        ("engine.o", &fs::read(&object).unwrap(), "an object file", "cc -o ENTRY FILE"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let output = gate4k(&[
            "check",
            "-q",
            "--quick",
            "--no-cache",
            "--format",
            "json",
            path.to_str().unwrap(),
        ]);
        assert_eq!(output.status.code(), Some(1), "{name}: {}", told(&output));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = report["entries"][0]["findings"].as_array().unwrap();
        let failed: Vec<&serde_json::Value> =
            findings.iter().filter(|one| one["status"] == "fail").collect();
        assert_eq!(failed.len(), 1, "{name}: {failed:#?}");
        assert_eq!(failed[0]["rule"], "format", "{name}");
        assert!(failed[0]["summary"].as_str().unwrap().contains(is), "{name}: {failed:#?}");
        assert!(failed[0]["help"].as_str().unwrap().contains(next), "{name}: {failed:#?}");
        let advised = findings.iter().filter(|one| one["status"] == "advice").count();
        assert_eq!(advised, 0, "{name}: {findings:#?}");
    }
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_file_that_is_no_entry_yet_is_called_by_its_name [Landlock],
        quick pack_never_overwrites_its_source,
        quick pack_replaces_no_file_that_it_did_not_write,
        quick pack_asks_for_a_program_of_the_rules_first,
        quick a_wrong_value_is_answered_by_what_to_write,
        quick a_cause_is_told_once,
    ]
}
