//! Settings that would let their own author in.

use crate::test_folder::fixture;
use crate::trials::Test;
use std::fs;

use super::pull_request::{BAD, GOOD, RM, Repository, SED, lax_list, refused, said, strict_list};

fn an_allow_list_behind_a_link_is_the_one_of_the_target_branch() {
    let (good, list) = (fixture(GOOD), strict_list());
    let main: &[(&str, &[u8])] = &[
        ("gate4k.toml", b"entries = [\"entries\"]\nallowlist = \"conf/list.toml\"\n"),
        ("conf/list.toml", list.as_bytes()),
        ("lists/a.toml", list.as_bytes()),
        ("entries/a/engine", &good),
    ];

    // The folder becomes a link to another one.
    let repository = Repository::new(main);
    repository.write("conf2/list.toml", lax_list());
    repository.link("conf", "conf2");
    repository.write("entries/sed/engine", fixture(SED));
    repository.commit();
    said(&repository.judged("", &[]), 2, "this branch breaks conf/list.toml");

    // The file becomes a link.
    let repository = Repository::new(main);
    repository.write("mine.toml", lax_list());
    repository.link("conf/list.toml", "../mine.toml");
    repository.write("entries/sed/engine", fixture(SED));
    repository.commit();
    said(&repository.judged("", &[]), 2, "this branch breaks conf/list.toml");

    // It was a link, and its target changes.
    let repository = Repository::new(main);
    repository.git(&["switch", "-q", "main"]);
    repository.link("conf/list.toml", "../lists/a.toml");
    repository.commit();
    repository.git(&["switch", "-q", "-C", "pull"]);
    repository.write("lists/a.toml", lax_list());
    repository.write("entries/sed/engine", fixture(SED));
    repository.commit();
    refused(&repository.judged("", &[]), "commands", "entries/sed/engine");
}

fn an_allow_list_that_the_target_branch_lacks_is_not_taken_from_the_pull_request() {
    let good = fixture(GOOD);
    let repository = Repository::new(&[
        ("gate4k.toml", b"entries = [\"entries\"]\nallowlist = \"conf/list.toml\"\n"),
        ("entries/a/engine", &good),
    ]);
    repository.write("conf/list.toml", lax_list());
    repository.write("entries/sed/engine", fixture(SED));
    repository.commit();
    let told = repository.judged("", &[]);
    refused(&told, "commands", "entries/sed/engine");
    said(&told, 1, "conf/list.toml is not in main");

    // A link of the target branch that leads out of it is nobody's list.
    repository.git(&["switch", "-q", "main"]);
    fs::create_dir_all(repository.path("conf")).unwrap();
    repository.link("conf/list.toml", "/etc/passwd");
    repository.commit();
    repository.git(&["switch", "-q", "-C", "pull"]);
    repository.write("entries/sed/engine", fixture(SED));
    repository.commit();
    said(&repository.judged("", &[]), 2, "leads out of the repository");
}

fn settings_are_those_of_the_tip_and_not_of_where_the_branch_parted() {
    let (good, strict, lax) = (fixture(GOOD), strict_list(), lax_list());
    let repository = Repository::new(&[
        ("gate4k.toml", b"entries = [\"entries\"]\nallowlist = \"list.toml\"\n"),
        ("list.toml", strict.as_bytes()),
        ("entries/a/engine", &good),
    ]);
    // A pair of commits that together change nothing, merged.
    repository.write("list.toml", &lax);
    repository.write("entries/sed/engine", fixture(SED));
    repository.commit();
    repository.git(&["branch", "second"]);
    repository.write("list.toml", &strict);
    fs::remove_dir_all(repository.path("entries/sed")).unwrap();
    repository.commit();
    repository.git(&["switch", "-q", "main"]);
    repository.git(&["merge", "-q", "--no-ff", "--no-edit", "pull"]);
    // A branch from the first of the pair: where it parted, there are the list and the entry.
    repository.git(&["switch", "-q", "second"]);
    repository.write("README.md", "x");
    repository.commit();
    refused(&repository.judged("", &[]), "commands", "entries/sed/engine");
}

fn an_added_file_of_settings_does_not_drop_those_above() {
    let (good, rm) = (fixture(GOOD), fixture(RM));
    let repository = Repository::new(&[
        ("gate4k.toml", b"strict = true\nentries = [\"entries\"]\n"),
        ("entries/a/engine", &good),
    ]);
    repository.write("entries/gate4k.toml", "");
    repository.write("entries/rm/engine", &rm);
    repository.commit();
    let told = repository.judged("entries", &["rm"]);
    refused(&told, "commands", "rm/engine");
    said(&told, 1, "gate4k.toml is not in main");
    refused(&repository.judged("", &[]), "commands", "entries/rm/engine");

    // One that is removed holds as well.
    fs::remove_file(repository.path("entries/gate4k.toml")).unwrap();
    fs::remove_file(repository.path("gate4k.toml")).unwrap();
    repository.commit();
    refused(&repository.judged("entries", &["rm"]), "commands", "rm/engine");
    refused(&repository.judged("", &[]), "commands", "entries/rm/engine");

    // And so does one that is named.
    repository.write("gate4k.toml", "entries = [\"entries\"]\n");
    repository.commit();
    let told = repository.check_with("--config=gate4k.toml", "entries/rm");
    refused(&[told], "commands", "entries/rm/engine");
}

fn an_allow_list_of_the_command_line_is_read_from_the_target_branch_too() {
    let (good, list) = (fixture(GOOD), strict_list());
    let repository =
        Repository::new(&[("list.toml", list.as_bytes()), ("entries/a/engine", &good)]);
    repository.write("list.toml", lax_list());
    repository.write("entries/sed/engine", fixture(SED));
    repository.commit();
    let told = repository.check_with("--allowlist=list.toml", "entries/sed");
    refused(&[told], "commands", "entries/sed/engine");
    // One outside of the repository is the organisers' own.
    let ours = repository.home().join("list.toml");
    fs::write(&ours, lax_list()).unwrap();
    let told = repository.check_with(&format!("--allowlist={}", ours.display()), "entries/sed");
    assert!(!told.refuses("commands", "entries/sed/engine"), "{told:#?}");
}

fn a_waiver_is_not_passed_on_by_a_link() {
    let good = fixture(GOOD);
    let waiver = "entries = [\"entries\"]\n[[waiver]]\nentry = \"entries/old\"\nrule = \"format\"\n\
                  reason = \"known\"\ndate = 2026-11-21\n";
    let repository =
        Repository::new(&[("gate4k.toml", waiver.as_bytes()), ("entries/old/engine", &good)]);
    repository.write("entries/bad/engine", fixture(BAD));
    repository.link("entries/old", "bad");
    repository.commit();
    refused(&repository.judged("", &["entries/bad"]), "format", "entries/bad/engine");
}

fn no_output_goes_through_a_link_of_the_branch_and_no_journal_of_it_is_believed() {
    let good = fixture(GOOD);
    let repository = Repository::new(&[
        ("gate4k.toml", b"entries = [\"entries\"]\n"),
        ("entries/a/engine", &good),
        ("reports/old.xml", b"old"),
    ]);
    let precious = repository.home().join("precious");
    fs::write(&precious, "precious").unwrap();
    repository.link("gate4k.xml", precious.to_str().unwrap());
    repository.link("reports", repository.home().to_str().unwrap());
    repository.write("kept.journal", "");
    repository.write("entries/bad/engine", fixture(BAD));
    // Other faults do not matter: a report that tells of it would go there as well.
    repository.write("gate4k.toml", "no = text");
    repository.commit();
    for (word, says) in [
        ("--report=junit=gate4k.xml", "--report: a link of this branch leads from gate4k.xml"),
        ("--report=json=reports/precious", "a link of this branch leads from reports/precious"),
        ("--receipt=gate4k.xml", "--receipt: a link of this branch"),
        ("--journal=gate4k.xml", "--journal: a link of this branch"),
        ("--journal=kept.journal", "kept.journal was there before"),
    ] {
        said(&[repository.check_with(word, "entries/bad")], 2, says);
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious", "{word}");
    }
    // A file that is not there yet is written, and one that is there is replaced, whoever brought it along.
    fs::remove_file(repository.path("gate4k.xml")).unwrap();
    repository.write("gate4k.xml", "of the branch");
    repository.write("gate4k.toml", "entries = [\"entries\"]\n");
    repository.commit();
    for word in ["--report=junit=gate4k.xml", "--journal=new.journal"] {
        let told = repository.check_with(word, "entries/bad");
        refused(&[told], "format", "entries/bad/engine");
    }
    assert!(fs::read_to_string(repository.path("gate4k.xml")).unwrap().contains("<testsuites"));
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow an_allow_list_behind_a_link_is_the_one_of_the_target_branch [Landlock, Git, Bash],
        slow an_allow_list_that_the_target_branch_lacks_is_not_taken_from_the_pull_request [Landlock, Git, Bash],
        slow settings_are_those_of_the_tip_and_not_of_where_the_branch_parted [Landlock, Git, Bash],
        slow an_added_file_of_settings_does_not_drop_those_above [Landlock, Git, Bash],
        slow an_allow_list_of_the_command_line_is_read_from_the_target_branch_too [Landlock, Git, Bash],
        slow a_waiver_is_not_passed_on_by_a_link [Landlock, Git, Bash],
        slow no_output_goes_through_a_link_of_the_branch_and_no_journal_of_it_is_believed [Landlock, Git],
    ]
}
