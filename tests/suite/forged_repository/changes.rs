//! Changes that would pass unseen, and repositories of every kind.

use crate::test_folder::{fixture, git_in};
use crate::trials::Test;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::pull_request::{BAD, GOOD, Repository, refused, said, usual};

fn a_merge_of_its_own_hides_no_entry() {
    let repository = usual();
    repository.write("entries/bad/engine", fixture(BAD));
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

fn attributes_marks_and_ignore_files_hide_no_change() {
    // A change that `eol=crlf` takes back when git compares,
    let repository = Repository::new(&[
        ("gate4k.toml", b"entries = [\"entries\"]\n"),
        ("entries/text/engine", b"#!/bin/sh\nread x\n"),
    ]);
    repository.write(".gitattributes", "entries/** text eol=crlf ident -diff\n");
    repository.commit();
    repository.write("entries/text/engine", "#!/bin/sh\r\nread x\r\n");
    refused(&repository.judged("", &[]), "startup", "entries/text/engine");

    let repository = usual();
    fs::write(repository.path(".git/info/exclude"), "entries/c\n").unwrap();

    // one that the index is told not to look at,
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        repository.git(&["update-index", mark, "entries/a/engine"]);
        repository.write("entries/a/engine", fixture(BAD));
        refused(&repository.judged("", &[]), "format", "entries/a/engine");
        repository.write("entries/a/engine", fixture(GOOD));
    }

    // files that are ignored, and a bit of a mode.
    repository.write("entries/c/engine", fixture(BAD));
    refused(&repository.judged("", &[]), "format", "entries/c/engine");
    fs::remove_dir_all(repository.path("entries/c")).unwrap();
    repository.write(".gitignore", "hidden\n");
    repository.write("entries/a/hidden", "x");
    refused(&repository.judged("", &[]), "single-file", "entries/a");
    fs::remove_file(repository.path("entries/a/hidden")).unwrap();
    let engine = repository.path("entries/a/engine");
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o644)).unwrap();
    said(&repository.judged("", &[]), 0, "1 of 2 entries changed since main");
}

fn a_link_that_is_moved_to_another_target_changes_its_entry() {
    let good = fixture(GOOD);
    let repository = Repository::new(&[
        ("gate4k.toml", b"entries = [\"entries\"]\n"),
        ("entries/a/engine", &good),
        ("attic/engine", &fixture(BAD)),
        ("attic2/a/engine", &fixture(BAD)),
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

fn names_that_are_no_text_are_told_apart() {
    let repository = usual();
    let odd = OsStr::from_bytes(b"entries/\xff\n\"x\"");
    repository.git(&["switch", "-q", "main"]);
    repository.write(Path::new(odd).join("engine"), fixture(BAD));
    repository.commit();
    repository.git(&["switch", "-q", "-C", "pull"]);
    let path = repository.path(odd);
    let check = |code: i32, counts: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_gate4k"))
            .args(["check", "--quick", "--changed-since=main"])
            .arg(&path)
            .current_dir(repository.top())
            .env("XDG_CACHE_HOME", repository.home())
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

fn work_trees_shallow_clones_and_the_repositories_of_others_can_be_judged() {
    let repository = usual();
    repository.write("entries/bad/engine", fixture(BAD));
    repository.commit();
    let aside = |name: &str, words: &[&str]| {
        let path = repository.home().join(name);
        repository.git(&[words, &[path.to_str().unwrap()]].concat());
        path
    };
    let refuses = |top: &Path, since: &str| {
        let sarif = repository.home().join("aside.sarif");
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

    let from = format!("file://{}", repository.top().display());
    let shallow = aside("shallow", &["clone", "-q", "--depth=1", "--branch=pull", &from]);
    let sarif = repository.home().join("no.sarif");
    let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
    command.args(["check", "--changed-since=origin/main"]);
    let told = repository.told("check", command, shallow.to_str().unwrap(), &sarif);
    said(&[told], 2, "fetch-depth: 0");
    git_in(&shallow, &["fetch", "-q", "--depth=1", "origin", "main"]);
    refuses(&shallow, "FETCH_HEAD");

    let packed = aside("packed", &["clone", "-q", "--branch=pull", &from]);
    git_in(&packed, &["gc", "-q"]);
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

fn a_repository_with_longer_sums_is_read() {
    let top = tempfile::tempdir().unwrap();
    let git = |words: &[&str]| git_in(top.path(), words);
    git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    for (name, from) in [("entries/a", GOOD), ("entries/b", BAD)] {
        fs::create_dir_all(top.path().join(name)).unwrap();
        fs::write(top.path().join(name).join("engine"), fixture(from)).unwrap();
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

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_merge_of_its_own_hides_no_entry [Landlock, Git, Bash],
        slow attributes_marks_and_ignore_files_hide_no_change [Landlock, Git, Bash],
        slow a_link_that_is_moved_to_another_target_changes_its_entry [Landlock, Git, Bash],
        slow names_that_are_no_text_are_told_apart [Landlock, Git, Bash],
        slow work_trees_shallow_clones_and_the_repositories_of_others_can_be_judged [Landlock, Git, Bash],
        slow a_repository_with_longer_sums_is_read [Landlock, Git, Bash],
    ]
}
