//! Packages of the host that are upgraded while entries are judged or play: a new file takes the place of an old one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::trials::Test;

/// Runs gate4k on a host of its own, whose /usr/bin can be written to, and where after so many seconds `mv` puts
/// another file of the same bytes in the place of xz.
fn while_xz_is_replaced(folder: &Path, after: &str, words: &str) -> Output {
    let bin = env!("CARGO_BIN_EXE_gate4k");
    let script = format!(
        "set -e; mount -t tmpfs none /mnt; mkdir /mnt/upper /mnt/work\n\
         mount -t overlay none -o lowerdir=/usr/bin,upperdir=/mnt/upper,workdir=/mnt/work /usr/bin\n\
         cp /usr/bin/xz /usr/bin/xz.new\n\
         (sleep {after}; mv /usr/bin/xz.new /usr/bin/xz) &\n\
         {bin} {words}"
    );
    Command::new("unshare")
        .args(["--mount", "--", "/bin/sh", "-c", &script])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The shipped entry that unpacks itself with xz, under these names.
fn entries(folder: &Path, names: &[&str]) {
    for name in names {
        let place = folder.join(name);
        fs::create_dir_all(&place).unwrap();
        fs::copy("fixtures/entries/accept/c-xz/engine", place.join("engine")).unwrap();
        fs::set_permissions(place.join("engine"), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn a_check_is_judged_by_the_new_program() {
    let folder = tempfile::tempdir().unwrap();
    entries(folder.path(), &["a"]);
    // Before the first start, between starts, and in the middle of one.
    for after in ["0.1", "1", "3", "4.5"] {
        let output = while_xz_is_replaced(folder.path(), after, "check -q --format=json a");
        let document: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", told(&output)));
        let entry = &document["entries"][0];
        assert_eq!(entry["verdict"], "accepted", "after {after} s: {entry:#}");
    }
}

fn a_batch_is_judged_by_the_new_program() {
    let folder = tempfile::tempdir().unwrap();
    entries(folder.path(), &["entries/a", "entries/b", "entries/c", "entries/d"]);
    let words = "check -q --no-cache --format=json --jobs=2 entries";
    let output = while_xz_is_replaced(folder.path(), "5", words);
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", told(&output)));
    let entries = document["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 4);
    for entry in entries {
        assert_eq!(entry["verdict"], "accepted", "{entry:#}");
    }
}

fn a_match_goes_on_with_the_new_program() {
    let folder = tempfile::tempdir().unwrap();
    entries(folder.path(), &["a", "b"]);
    let words = "match a b --games=8 --tc=0.5+0.05 --restart --events=-";
    let output = while_xz_is_replaced(folder.path(), "6", words);
    let told = told(&output);
    assert!(output.status.success(), "{told}");
    assert!(!told.contains("does not start"), "{told}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_check_is_judged_by_the_new_program [Landlock, Root, Unshare, Mounts, Xz],
        slow a_batch_is_judged_by_the_new_program [Landlock, Root, Unshare, Mounts, Xz],
        slow a_match_goes_on_with_the_new_program [Landlock, Root, Unshare, Mounts, Xz],
    ]
}
