//! A host on which `xz`, `tail` and others are one file of many programs, busybox by hard links: what is allowed of it works,
//! and what is not is named, by whatever of its names it was started.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::needs::installed;
use crate::trials::Test;

/// A copy of busybox with allowed names linked to it, to lie over /usr/local/bin.
fn linked(busybox: &Path) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let first = dir.path().join("xz");
    std::fs::copy(busybox, &first).unwrap();
    std::fs::set_permissions(&first, PermissionsExt::from_mode(0o755)).unwrap();
    for name in ["tail", "mktemp", "sleep", "rm", "gzip", "busybox"] {
        std::fs::hard_link(&first, dir.path().join(name)).unwrap();
    }
    dir
}

/// The rules' way to unpack and start, behind these lines.
fn entry(dir: &Path, lines: &[&str]) -> PathBuf {
    let stub = include_bytes!("../../fixtures/entries/accept/c-xz/engine");
    let payload = stub.splitn(5, |byte| *byte == b'\n').nth(4).unwrap();
    let mut text = String::from("#!/bin/sh\n");
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(&format!(
        "T=`mktemp`\ntail -n+{} $0|xz -d|cc -O1 -o$T -xc -\n(sleep 1;rm $T)&exec $T\n",
        lines.len() + 5
    ));
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(payload);
    let path = dir.join("engine");
    std::fs::write(&path, bytes).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

fn check(bin: &Path, lines: &[&str]) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let out = Command::new("bwrap")
        .args(["--dev-bind", "/", "/", "--bind"])
        .arg(bin)
        .args(["/usr/local/bin", "--", env!("CARGO_BIN_EXE_gate4k")])
        .args(["check", "--quick", "--format", "json"])
        .arg(entry(dir.path(), lines))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&out.stderr)));
    document["entries"][0].clone()
}

fn commands(report: &Value) -> (String, String) {
    let findings = report["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["rule"] == "commands").unwrap();
    (finding["status"].as_str().unwrap().to_owned(), finding.to_string())
}

fn programs_in_one_file_are_told_apart() {
    let bin = linked(&installed("busybox").unwrap());
    // The programs that rule 7.5 allows work, out of the same file; and an allowed one of them under another's name is
    // the one that it runs as.
    let report = check(bin.path(), &["bash -c 'exec -a gzip xz -h' 2>/dev/null"]);
    assert_eq!(report["verdict"], "accepted", "{report:#}");
    let (_, text) = commands(&report);
    for lineage in ["entry > tail", "entry > xz", "entry > bash > gzip"] {
        assert!(text.contains(lineage), "{lineage}: {text}");
    }
    // The same file by the same paths; only argv says that it is another program.
    let report = check(
        bin.path(),
        &[
            "bash -c 'exec -a cat /usr/local/bin/xz /dev/null'",
            "bash -c 'exec -a /x/awk tail 1 /dev/null'",
            "bash -c 'exec -a busybox xz wget' 2>/dev/null",
            "bash -c 'exec -a -sed gzip p /dev/null'",
        ],
    );
    let (status, _) = commands(&report);
    assert_eq!((status.as_str(), report["verdict"].as_str()), ("fail", Some("rejected")));
    let findings = report["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["rule"] == "commands").unwrap();
    let refused = finding["evidence"]["refused"].as_array().unwrap();
    let names: Vec<&str> =
        refused.iter().filter_map(|charge| charge["exec"]["name"].as_str()).collect();
    assert_eq!(names, ["cat", "awk", "wget", "sed"], "{finding:#}");
}

fn refused_names(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["rule"] == "commands").unwrap();
    let refused = finding["evidence"]["refused"].as_array();
    let names = refused.into_iter().flatten().filter_map(|charge| charge["exec"]["name"].as_str());
    names.map(str::to_owned).collect()
}

fn the_reader_of_a_script_is_told_by_what_the_kernel_gave_it() {
    let bin = linked(&installed("busybox").unwrap());
    let script = "echo '#!/usr/local/bin/busybox cut'>s;chmod +x s";
    let report = check(bin.path(), &[script, "bash -c 'exec -a tail ./s' 2>/dev/null;rm s"]);
    assert_eq!(refused_names(&report), ["cut"], "{report:#}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow programs_in_one_file_are_told_apart [Landlock, Busybox, Bash, Bwrap],
        slow the_reader_of_a_script_is_told_by_what_the_kernel_gave_it [Landlock, Busybox, Bash, Bwrap],
    ]
}
