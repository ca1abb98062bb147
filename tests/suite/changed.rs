//! Changes of a branch as git's objects tell them: the library's own answers, in repositories made for the purpose.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use gate4k::batch::changed::{ChangedError, RepositoryChanges, TargetSettings, is_missing};

use crate::test_folder::git_in;
use crate::trials::Test;

/// A repository with one commit.
fn repository() -> tempfile::TempDir {
    let top = tempfile::tempdir().unwrap();
    git_in(top.path(), &["init", "-q", "-b", "main"]);
    write(&top, &[("entries/a/engine", "1"), ("entries/b/engine", "1"), ("list.toml", "old")]);
    commit(&top);
    top
}

fn write(top: &tempfile::TempDir, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = top.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn commit(top: &tempfile::TempDir) {
    git_in(top.path(), &["add", "-A"]);
    git_in(top.path(), &["commit", "-q", "-m", "x"]);
}

fn what_a_branch_touched_is_told_and_nothing_else() {
    let top = repository();
    git_in(top.path(), &["switch", "-q", "-c", "pull"]);
    write(&top, &[("entries/c d\n/engine", "new"), ("list.toml", "new")]);
    commit(&top);
    // The other branch goes on meanwhile with what is no entry.
    git_in(top.path(), &["switch", "-q", "main"]);
    write(&top, &[("notes", "2")]);
    commit(&top);
    git_in(top.path(), &["switch", "-q", "pull"]);
    fs::remove_dir_all(top.path().join("entries/a")).unwrap();
    write(&top, &[("entries/e/engine", "not committed")]);

    let changes = RepositoryChanges::since("main", &top.path().join("entries")).unwrap();
    let touched = |name: &str| changes.touches(&top.path().join(name)).unwrap();
    assert!(touched("entries/c d\n") && touched("entries/e") && touched("entries/a"));
    assert!(touched("entries") && touched("."));
    assert!(!touched("entries/b") && !touched("entries/c") && !touched("entries/never"));
    assert!(is_missing(&top.path().join("entries/a")));
    let before = |name: &str| changes.before(&top.path().join(name)).unwrap();
    assert_eq!(before("list.toml"), TargetSettings::Text(b"old".into()));
    assert_eq!(before("entries/e/engine"), TargetSettings::Missing);
    assert_eq!(before("entries"), TargetSettings::Missing);
    assert_eq!(changes.before(Path::new("/etc/x")).unwrap(), TargetSettings::Outside);
    let error = changes.before(&top.path().join("../x")).unwrap_err();
    assert!(error.to_string().contains("leads out of the repository"), "{error}");
}

fn what_the_tip_changed_meanwhile_is_judged_with_the_branch() {
    let top = repository();
    git_in(top.path(), &["switch", "-q", "-c", "pull"]);
    git_in(top.path(), &["switch", "-q", "main"]);
    write(&top, &[("entries/b/engine", "2")]);
    commit(&top);
    git_in(top.path(), &["switch", "-q", "pull"]);
    let changes = RepositoryChanges::since("main", top.path()).unwrap();
    assert!(changes.touches(&top.path().join("entries/b")).unwrap());
    assert!(!changes.touches(&top.path().join("entries/a")).unwrap());
}

fn every_kind_of_change_is_one() {
    let top = repository();
    let path = |name: &str| top.path().join(name);
    for name in ["kind", "link", "mode", "same", "far", "extra", "round"] {
        write(&top, &[(&format!("e/{name}/engine"), "1")]);
    }
    write(&top, &[("far", "1")]);
    symlink("../../far", path("e/far/lib")).unwrap();
    symlink("same", path("e/alias")).unwrap();
    symlink("../link", path("e/link/self")).unwrap();
    symlink(".", path("e/round/up")).unwrap();
    symlink("/nowhere", path("e/out")).unwrap();
    symlink("gone", path("e/dangling")).unwrap();
    commit(&top);
    let changes = RepositoryChanges::since("HEAD", top.path()).unwrap();
    let touched = |name: &str| changes.touches(&path("e").join(name)).unwrap();
    for name in ["kind", "link", "mode", "same", "far", "extra", "round", "alias", "dangling"] {
        assert!(!touched(name), "{name}");
    }
    // Nobody can say what was there.
    assert!(touched("out"));
    fs::set_permissions(path("e/mode/engine"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(path("e/kind/engine")).unwrap();
    symlink("../same/engine", path("e/kind/engine")).unwrap();
    fs::write(path("far"), "2").unwrap();
    fs::create_dir(path("e/extra/empty")).unwrap();
    for name in ["mode", "kind", "far", "extra"] {
        assert!(touched(name), "{name}");
    }
    assert!(!touched("alias") && !touched("link"));
    fs::write(path("e/same/engine"), "2").unwrap();
    assert!(touched("alias") && touched("same"));
    assert!(!changes.leads_elsewhere(&path("e/alias/engine")));
    fs::remove_file(path("e/alias")).unwrap();
    symlink("mode", path("e/alias")).unwrap();
    assert!(changes.leads_elsewhere(&path("e/alias/engine")));
}

fn what_git_does_not_know_is_told() {
    let top = repository();
    // A word that looks like an option is none.
    for rev in ["no-such", "--all", "", "main..main", "HEAD^{tree}"] {
        let error = RepositoryChanges::since(rev, top.path()).unwrap_err();
        assert!(error.to_string().contains("knows no commit"), "{error}");
    }
    let error = RepositoryChanges::since("main", Path::new("/proc")).unwrap_err();
    assert!(error.to_string().contains("repository"), "{error}");
    let changes = RepositoryChanges::since("main", top.path()).unwrap();
    let error = changes.touches(Path::new("/proc")).unwrap_err();
    assert!(matches!(error, ChangedError::Elsewhere { .. }), "{error}");
}

/// Git keeps no empty directory: with the last entry the folder goes that gate4k.toml names.
fn the_last_entry_of_a_folder_may_be_removed() {
    let top = tempfile::tempdir().unwrap();
    git_in(top.path(), &["init", "-q", "-b", "main"]);
    write(&top, &[("gate4k.toml", "entries = [\"entries\"]\n"), ("entries/a/engine", "1")]);
    commit(&top);
    git_in(top.path(), &["switch", "-q", "-c", "pull"]);
    fs::remove_dir_all(top.path().join("entries")).unwrap();
    commit(&top);
    let check = || {
        let words = ["check", "--changed-since", "main"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        let output = command.args(words).current_dir(top.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, told) = check();
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("0 of 0 entries changed since main"), "{told}");
    // A branch that names a folder which never was is at fault.
    write(&top, &[("gate4k.toml", "entries = [\"never\"]\n")]);
    commit(&top);
    let (code, told) = check();
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("there is no directory never"), "{told}");
}

/// The lines of `ci/gitlab.yml` behind the fetching of the program, in a clone of `top` that has the branch `pull` only. The words
/// with which it installs something go to a file.
fn gitlab_job(top: &Path, job: &Path) -> (Option<i32>, String) {
    let _ = fs::remove_dir_all(job.join("job"));
    let from = top.to_str().unwrap();
    git_in(job, &["clone", "-q", "--single-branch", "--branch", "pull", from, "job"]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("ci/gitlab.yml")).unwrap();
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("- "));
    let ours = |line: &&str| ["git ", "gate4k ", "if ["].iter().any(|word| line.starts_with(word));
    let script: Vec<&str> = lines.filter(ours).collect();
    fs::create_dir_all(job.join("bin")).unwrap();
    let apt = job.join("bin/apt-get");
    fs::write(&apt, format!("#!/bin/sh\necho \"$@\" >>{}/installed\n", job.display())).unwrap();
    fs::set_permissions(&apt, fs::Permissions::from_mode(0o755)).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_gate4k")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args(["-ec", &script.join("\n")])
        .env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
        .env("PATH", format!("{}/bin:{}:{path}", job.display(), program.display()))
        .current_dir(job.join("job"))
        .output()
        .unwrap();
    let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.code(), told)
}

fn the_job_for_gitlab_compares_with_the_tip_of_the_branch_that_it_goes_to() {
    let top = repository();
    git_in(top.path(), &["switch", "-q", "-c", "pull"]);
    write(&top, &[("notes", "1")]);
    commit(&top);
    git_in(top.path(), &["switch", "-q", "main"]);
    write(&top, &[("gate4k.toml", "entries = [\"entries\"]\n")]);
    commit(&top);
    let job = tempfile::tempdir().unwrap();
    // Nothing to judge, and nothing to install.
    let (code, told) = gitlab_job(top.path(), job.path());
    assert_eq!(code, Some(0), "{told}");
    assert!(!job.path().join("installed").exists(), "{told}");

    write(&top, &[("entries/b/engine", "2")]);
    commit(&top);
    let (code, told) = gitlab_job(top.path(), job.path());
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("1 of 2 entries changed since origin/main"), "{told}");
    assert!(fs::read_to_string(job.path().join("job/gate4k.xml")).unwrap().contains("entries/b"));
    let installed = fs::read_to_string(job.path().join("installed")).unwrap();
    assert!(installed.contains("install ") && installed.contains(" gcc "), "{installed}");
}

/// A merge request that breaks the settings is told where GitLab shows the results of tests.
fn the_job_for_gitlab_tells_settings_that_a_branch_breaks() {
    let top = repository();
    write(&top, &[("gate4k.toml", "entries = [\"entries\"]\n")]);
    commit(&top);
    git_in(top.path(), &["switch", "-q", "-c", "pull"]);
    write(&top, &[("gate4k.toml", "entries = [\"entries\"\n")]);
    commit(&top);
    let job = tempfile::tempdir().unwrap();
    let (code, told) = gitlab_job(top.path(), job.path());
    assert_eq!(code, Some(2), "{told}");
    let results = fs::read_to_string(job.path().join("job/gate4k.xml")).unwrap();
    assert!(results.contains("this branch breaks gate4k.toml"), "{results}");
    assert!(results.contains("errors=\"1\""), "{results}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick what_a_branch_touched_is_told_and_nothing_else [Git],
        quick what_the_tip_changed_meanwhile_is_judged_with_the_branch [Git],
        quick every_kind_of_change_is_one [Git],
        quick what_git_does_not_know_is_told [Git],
        quick the_last_entry_of_a_folder_may_be_removed [Git],
        slow the_job_for_gitlab_compares_with_the_tip_of_the_branch_that_it_goes_to [Git, Landlock],
        quick the_job_for_gitlab_tells_settings_that_a_branch_breaks [Git],
    ]
}
