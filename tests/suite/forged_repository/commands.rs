//! Commands that are planted for whoever reads the repository.

use crate::test_folder::{fixture, git_in};
use crate::trials::Test;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::pull_request::{BAD, GOOD, refused, said, usual};

fn a_bare_repository_among_the_entries_is_no_repository() {
    let repository = usual();
    repository.write("entries/bad/engine", fixture(BAD));
    repository.commit();
    // A repository whose `main` has it all, so that nothing is changed, and whose filter is a command.
    let entries = repository.path("entries");
    let forged = ["--git-dir=.", "--work-tree=."];
    let git = |words: &[&str]| git_in(&entries, &[&forged[..], words].concat());
    git_in(&entries, &["init", "-q", "--bare", "-b", "main", "."]);
    git(&["add", "a", "b", "bad"]);
    git(&["commit", "-q", "-m", "x"]);
    git(&["config", "core.bare", "false"]);
    git(&["config", "core.worktree", "."]);
    git(&["config", "filter.evil.clean", &repository.planted()]);
    repository.write("entries/info/attributes", "* filter=evil\n");
    repository.write("entries/bad/engine", fixture(BAD));
    repository.commit();
    for entries in [&[][..], &["entries"], &["entries/bad"], &["entries/a", "entries/bad"]] {
        for told in repository.judged("", entries) {
            assert_eq!(told.code, 1, "{entries:?}: {told:#?}");
        }
    }
    refused(&repository.judged("", &["entries/bad"]), "format", "entries/bad/engine");
    refused(&repository.judged("entries", &[]), "format", "entries/bad/engine");
    refused(&repository.judged("entries", &["bad"]), "format", "bad/engine");
    git_in(&repository.path("entries"), &["--git-dir=../.git", "status", "--short"]);
}

fn a_configuration_full_of_commands_runs_none() {
    let repository = usual();
    repository.write("entries/bad/engine", fixture(BAD));
    repository.write(".gitattributes", "* filter=evil diff=evil merge=evil\n");
    repository.git(&["add", "-A"]);
    repository.commit();
    let planted = repository.planted();
    let quoted = format!("\"{planted}\"");
    let hooks = repository.home().join("hooks");
    fs::create_dir(&hooks).unwrap();
    for hook in
        ["post-index-change", "fsmonitor-watchman", "post-checkout", "reference-transaction"]
    {
        for folder in [&hooks, &repository.path(".git/hooks")] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(hook), format!("#!/bin/sh\n{planted}\n")).unwrap();
            fs::set_permissions(folder.join(hook), fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    let beside = repository.home().join("included");
    fs::write(&beside, format!("[core]\n\tfsmonitor = {quoted}\n")).unwrap();
    let config = format!(
        "[include]\n\tpath = {}\n\
         [core]\n\tfsmonitor = {quoted}\n\tpager = {quoted}\n\teditor = {quoted}\n\tsshCommand = {quoted}\n\
         \taskPass = {quoted}\n\tgitProxy = {quoted}\n\talternateRefsCommand = {quoted}\n\tattributesFile = {}\n\
         \trepositoryformatversion = 1\n\
         [extensions]\n\tpartialClone = origin\n\
         [filter \"evil\"]\n\tclean = {quoted}\n\tsmudge = {quoted}\n\tprocess = {quoted}\n\trequired = true\n\
         [diff]\n\texternal = {quoted}\n\
         [diff \"evil\"]\n\tcommand = {quoted}\n\ttextconv = {quoted}\n\tcachetextconv = true\n\
         [merge \"evil\"]\n\tdriver = {quoted}\n\
         [alias]\n\trev-parse = \"!{planted}\"\n\tls-tree = \"!{planted}\"\n\tcat-file = \"!{planted}\"\n\
         [pager]\n\tls-tree = {quoted}\n\tcat-file = {quoted}\n\tconfig = {quoted}\n\
         [credential]\n\thelper = \"!{planted}\"\n\
         [gpg]\n\tprogram = {quoted}\n\
         [log]\n\tshowSignature = true\n\
         [uploadpack]\n\tpackObjectsHook = {quoted}\n\
         [protocol]\n\tallow = always\n\
         [remote \"origin\"]\n\turl = \"ext::sh -c %S\"\n\tpromisor = true\n\tuploadpack = {quoted}\n\
         \tpartialclonefilter = blob:none\n\tvcs = evil\n",
        beside.display(),
        repository.path(".gitattributes").display(),
    );
    let path = repository.path(".git/config");
    fs::write(&path, fs::read_to_string(&path).unwrap() + &config).unwrap();
    // Stale, so that whoever trusts the index has to read it again, through the filter.
    repository.write("entries/a/engine", fixture(GOOD));
    refused(&repository.judged("", &[]), "format", "entries/bad/engine");
    refused(&repository.judged("entries", &["bad"]), "format", "bad/engine");

    // Neither does a work tree that lies elsewhere hide what is here,
    let elsewhere = format!("[core]\n\tworktree = {}\n", repository.home().display());
    fs::write(&path, fs::read_to_string(&path).unwrap() + &elsewhere).unwrap();
    refused(&repository.judged("", &["entries"]), "format", "entries/bad/engine");

    // nor is an object that is missing fetched by what the repository says of its remotes.
    let objects = repository.path(".git/objects");
    for folder in fs::read_dir(&objects).unwrap().map(|item| item.unwrap().path()) {
        if folder.file_name().unwrap().len() == 2 {
            fs::remove_dir_all(folder).unwrap();
        }
    }
    for told in repository.judged("", &["entries"]) {
        assert_eq!(told.code, 2, "{told:#?}");
        assert!(told.err.contains("main"), "{told:#?}");
    }
}

fn a_git_file_that_names_a_forged_repository_runs_nothing() {
    let repository = usual();
    repository.write("entries/bad/engine", fixture(BAD));
    repository.commit();
    let elsewhere = repository.home().join("moved");
    fs::rename(repository.path(".git"), &elsewhere).unwrap();
    fs::write(repository.path(".git"), format!("gitdir: {}\n", elsewhere.display())).unwrap();
    let config = format!(
        "[core]\n\tfsmonitor = \"{0}\"\n[filter \"evil\"]\n\tclean = \"{0}\"\n",
        repository.planted()
    );
    let path = elsewhere.join("config");
    fs::write(&path, fs::read_to_string(&path).unwrap() + &config).unwrap();
    fs::write(elsewhere.join("info/attributes"), "* filter=evil\n").unwrap();
    refused(&repository.judged("", &["entries"]), "format", "entries/bad/engine");
}

fn a_submodule_in_the_place_of_the_entries_is_no_repository_to_ask() {
    let repository = usual();
    let forged = repository.home().join("forged");
    repository.git(&["clone", "-q", ".", forged.to_str().unwrap()]);
    fs::remove_dir_all(repository.path("entries")).unwrap();
    repository.commit();
    repository.git(&["submodule", "--quiet", "add", forged.to_str().unwrap(), "entries"]);
    git_in(&repository.path("entries"), &["branch", "-f", "main"]);
    repository.commit();
    for told in repository.judged("", &["entries"]) {
        assert_ne!(told.code, 0, "{told:#?}");
    }
    said(&repository.judged("entries", &[]), 2, "is a submodule of");
}

fn no_revision_runs_anything() {
    let repository = usual();
    repository.write("entries/bad/engine", fixture(BAD));
    repository.commit();
    for since in [
        "--all",
        "--exec=touch x",
        ":/text",
        "@{upstream}",
        "main..pull",
        "^main",
        "main:entries",
        "main --",
        "!touch x",
        "main\npull",
        "-",
    ] {
        let told = repository.judged_since(since, "", &["entries"]);
        said(&told, 2, "no commit");
    }
    assert!(!repository.path("x").exists());
    refused(&repository.judged_since("main~0", "", &["entries"]), "format", "entries/bad/engine");
}

/// A checkout can hold a rust-toolchain.toml, which says what `cargo` is.
fn the_action_builds_nothing_in_the_checkout() {
    let action = Path::new(env!("CARGO_MANIFEST_DIR")).join("action.yml");
    let action = fs::read_to_string(action).unwrap();
    let builds: Vec<&str> =
        action.split("- name:").filter(|step| step.contains("ci/fetch")).collect();
    assert!(!builds.is_empty());
    for step in builds {
        assert!(step.contains("working-directory: ${{ github.action_path }}"), "{step}");
    }
}

fn replaced_objects_and_grafts_are_not_believed() {
    let repository = usual();
    repository.write("entries/bad/engine", fixture(BAD));
    repository.commit();
    repository.git(&["replace", "main", "pull"]);
    refused(&repository.judged("", &["entries"]), "format", "entries/bad/engine");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_bare_repository_among_the_entries_is_no_repository [Landlock, Git, Bash],
        slow a_configuration_full_of_commands_runs_none [Landlock, Git, Bash],
        slow a_git_file_that_names_a_forged_repository_runs_nothing [Landlock, Git, Bash],
        slow a_submodule_in_the_place_of_the_entries_is_no_repository_to_ask [Landlock, Git, Bash],
        slow no_revision_runs_anything [Landlock, Git, Bash],
        slow the_action_builds_nothing_in_the_checkout [Landlock, Git, Bash],
        slow replaced_objects_and_grafts_are_not_believed [Landlock, Git, Bash],
    ]
}
