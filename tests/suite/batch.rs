//! Many entries at once, as organisers and the CI of a submissions repository have them: directories,
//! changes by git, kept results, gate4k.toml, waivers and receipts.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::outcome::Outcome;
use crate::test_folder::{TestFolder, fixture};
use crate::trials::Test;

/// The results that are kept.
fn kept(place: &TestFolder) -> Vec<PathBuf> {
    let folder = place.home().join("cache/gate4k/check-2");
    let found = fs::read_dir(folder).into_iter().flatten();
    let results = found.map(|file| file.unwrap().path());
    // Beside the results lies the key that they are summed with.
    results.filter(|path| path.file_name().is_some_and(|name| name != "key")).collect()
}

/// Path and verdict of each entry.
fn verdicts(told: &Outcome) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let document = told.json();
    let entries = document["entries"].as_array().unwrap().iter();
    entries.map(|entry| (text(&entry["path"]), text(&entry["verdict"]))).collect()
}

fn finding<'a>(entry: &'a Value, rule: &str) -> &'a Value {
    entry["findings"].as_array().unwrap().iter().find(|found| found["rule"] == rule).unwrap()
}

/// It needs nothing of the host, and is quick.
const GOOD: &str = "accept/elf";
const BAD: &str = "reject/format-junk";

fn a_directory_of_entries_is_judged_as_a_whole() {
    let place = TestFolder::new();
    place.copy(BAD, "entries/a");
    fs::create_dir_all(place.path("entries/b")).unwrap();
    place.copy(GOOD, "entries/c");
    place.copy(GOOD, "entries/d");
    place.write("entries/d/second", "x");
    place.write("entries/README.md", "x");
    let told = place.run(&["check", "--quick", "--jobs=2", "entries"]);
    assert_eq!(told.code, 1, "{}{}", told.out, told.err);
    let table = told.out.split_once("\nverdict ").unwrap().1;
    let lines: Vec<&str> = table.lines().collect();
    for (line, start, end) in [
        (1, "rejected    entries/a ", "format"),
        (2, "not judged  entries/b ", "it is empty"),
        (3, "accepted    entries/c ", "s"),
        (4, "rejected    entries/d ", "single-file"),
        (6, "4 entries: 1 accepted, 2 rejected, 1 not judged", ""),
    ] {
        assert!(lines[line].starts_with(start), "{start}: {}", told.out);
        assert!(lines[line].contains(end), "{end}: {}", told.out);
    }
    // Elsewhere than on a terminal, a line an entry, as they are judged.
    let progress: Vec<&str> = told.err.lines().filter(|line| line.contains(" of 4: ")).collect();
    assert_eq!(progress.len(), 4, "{}", told.err);
    for (number, line) in (1..).zip(&progress) {
        assert!(line.starts_with(&format!("{number} of 4: ")), "{}", told.err);
    }
    assert!(told.err.contains(" of 4: accepted    entries/c"), "{}", told.err);
}

fn a_name_that_is_no_text_keeps_no_other_entry_from_its_judge() {
    let place = TestFolder::new();
    place.copy(GOOD, "entries/a");
    let odd = place.path("entries").join(OsStr::from_bytes(b"c\xff"));
    fs::create_dir(&odd).unwrap();
    fs::copy(place.path("entries/a/engine"), odd.join("engine")).unwrap();
    let told = place.run(&["check", "--quick", "--no-cache", "--format=json", "entries"]);
    let accepted = |path: &str| (path.to_owned(), "accepted".to_owned());
    assert_eq!(
        verdicts(&told),
        [accepted("entries/a"), accepted("entries/c\\xff")],
        "{}",
        told.err
    );
    let table = place.run(&["check", "--quick", "entries"]);
    assert!(table.out.contains("accepted    entries/c\\xff "), "{}", table.out);
    assert_eq!((told.code, table.code), (0, 0));
}

fn entries_beside_each_other_are_told_so_and_alone_they_are_not() {
    let place = TestFolder::new();
    place.copy(GOOD, "entries/a");
    place.copy(GOOD, "entries/b");
    let words = ["check", "--quick", "--format=json", "--no-cache", "entries/a", "entries/b"];
    let beside = place.run(&[&words[..], &["--jobs=2"]].concat());
    assert_eq!(beside.code, 0, "{}{}", beside.out, beside.err);
    for entry in beside.json()["entries"].as_array().unwrap() {
        assert_eq!(entry["judged_beside"], 1);
    }
    let alone = place.run(&[&words[..], &["--jobs=1", "--quiet"]].concat());
    assert_eq!((alone.code, alone.err.as_str()), (0, ""));
    for entry in alone.json()["entries"].as_array().unwrap() {
        assert_eq!(entry["judged_beside"], Value::Null);
    }
    assert!(kept(&place).is_empty());
}

fn what_has_not_changed_is_not_judged_again() {
    let place = TestFolder::new();
    place.copy(GOOD, "entries/a");
    place.copy(BAD, "entries/b");
    let words = ["check", "--quick", "--format=json", "entries"];
    let judged = |told: &Outcome| -> Vec<bool> {
        let document = told.json();
        let entries = document["entries"].as_array().unwrap().iter();
        entries.map(|entry| entry["judged"].is_null()).collect()
    };
    let first = place.run(&words);
    assert_eq!((first.code, judged(&first)), (1, vec![true, true]), "{}", first.err);
    assert_eq!(kept(&place).len(), 2);
    let second = place.run(&words);
    assert_eq!((second.code, judged(&second)), (1, vec![false, false]));
    assert_eq!(verdicts(&second), verdicts(&first));
    let human = place.run(&["check", "--quick", "entries"]);
    assert!(human.out.contains("from cache   judged 20"), "{}", human.out);
    // Other settings, and a wish, judge anew; so does a changed file, and that one only.
    assert_eq!(judged(&place.run(&[&words[..], &["--strict"]].concat())), [true, true]);
    assert_eq!(judged(&place.run(&[&words[..], &["--no-cache"]].concat())), [true, true]);
    place.write("entries/b/engine", "other junk");
    assert_eq!(judged(&place.run(&words)), [false, true]);
    // A call for one entry gets it judged.
    assert_eq!(judged(&place.run(&["check", "--quick", "--format=json", "entries/b"])), [true]);
    // A result that is damaged is not believed, and is written anew.
    for file in kept(&place) {
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("\"rejected\"", "\"accepted\"") + " ").unwrap();
    }
    let damaged = place.run(&words);
    assert_eq!((damaged.code, judged(&damaged)), (1, vec![true, true]));
    assert_eq!(judged(&place.run(&words)), [false, false]);
}

fn steps_are_told_on_standard_error_to_those_who_ask_twice() {
    let place = TestFolder::new();
    place.copy(BAD, "a");
    let once = place.run(&["check", "--quick", "-v", "a"]);
    let twice = place.run(&["check", "--quick", "-vv", "a"]);
    assert_eq!((once.code, once.err.as_str()), (1, ""));
    assert_eq!(twice.code, 1);
    assert!(twice.err.contains("DEBUG") && twice.err.contains("judged"), "{}", twice.err);
    assert!(!twice.err.contains("TRACE"), "{}", twice.err);
    assert!(twice.out.starts_with("rejected   a\n"), "{}", twice.out);
}

fn a_configuration_decides_for_its_folder() {
    let place = TestFolder::new();
    place.copy(GOOD, "engines/a");
    place.write("engines/loose", fixture(BAD));
    place.write("gate4k.toml", "entries = [\"engines\"]\nquick = true\ncache = false\n");
    // A file and a directory side by side are one entry, unless the configuration says otherwise.
    let told = place.run(&["check", "--format=json"]);
    assert_eq!(told.code, 1, "{}{}", told.out, told.err);
    let verdicts = verdicts(&told);
    assert!(verdicts[0].0.ends_with("engines/a") && verdicts[0].1 == "accepted", "{verdicts:?}");
    assert!(verdicts[1].0.ends_with("engines/loose"), "{verdicts:?}");
    assert_eq!(verdicts[1].1, "rejected");
    let dumped = place.run(&["check", "--dump-config", "--grace=7s"]);
    assert_eq!((dumped.code, dumped.err.as_str()), (0, ""));
    for part in ["quick = true", "cache = false", "grace = \"7s\"", "startup-limit = \"1m\""] {
        assert!(dumped.out.contains(part), "{part}: {}", dumped.out);
    }
    place.write("again.toml", &dumped.out);
    let again = place.run(&["check", "--dump-config", "--config=again.toml"]);
    assert_eq!(again.out, dumped.out);
    // The list that is built in, printed, is one to be used; a receipt is compared by the same settings.
    let list = place.run(&["check", "--dump-allowlist"]);
    assert_eq!((list.code, list.err.as_str()), (0, ""));
    place.write("list.toml", &list.out);
    place
        .write("gate4k.toml", "quick = true\nentries = [\"engines\"]\nallowlist = \"list.toml\"\n");
    assert_eq!(place.run(&["check", "engines", "--receipt=receipt.json"]).code, 1);
    let verified = place.run(&["verify", "receipt.json", "engines"]);
    let told = (&verified.out, &verified.err);
    assert!(verified.out.contains("2 of 2 entries have a receipt"), "{told:?}");
    place.write("gate4k.toml", "quick = true\nstrikt = true\n");
    let wrong = place.run(&["check", "engines/a"]);
    assert_eq!((wrong.code, wrong.out.as_str()), (2, ""));
    assert!(wrong.err.contains("gate4k.toml:2:1"), "{}", wrong.err);
    assert!(wrong.err.contains("strict"), "{}", wrong.err);
}

fn a_waiver_is_shown_and_one_for_nothing_is_a_finding() {
    let place = TestFolder::new();
    place.copy(GOOD, "entries/a");
    // No engine, since it cannot be executed; but the entry is more than one file.
    fs::write(place.path("entries/a/notes"), "x").unwrap();
    let waiver = |rule: &str| {
        format!(
            "[[waiver]]\nentry = \"entries/a\"\nrule = \"{rule}\"\nreason = \"since 2019\"\ndate = 2026-11-21\n"
        )
    };
    let gone =
        "[[waiver]]\nentry = \"entries/z\"\nrule = \"size\"\nreason = \"r\"\ndate = 2026-11-21\n";
    place.write("gate4k.toml", waiver("single-file") + &waiver("size") + gone);
    let told = place.run(&["check", "--quick", "--format=json", "--report=junit=j", "entries/a"]);
    assert_eq!(told.code, 0, "{}{}", told.out, told.err);
    let document = told.json();
    let missing = &document["findings"][0];
    assert_eq!((&missing["line"], &missing["status"]), (&12.into(), &"advice".into()), "{missing}");
    let summary = missing["summary"].as_str().unwrap();
    assert!(summary.contains("gate4k.toml:12:9) matches nothing: there is no "), "{missing}");
    let human = place.run(&["check", "--quick", "--quiet", "entries/a"]);
    assert!(human.out.contains("\ngate4k.toml:12:9\n  advice "), "{}", human.out);
    let entry = &document["entries"][0];
    let waived = finding(entry, "single-file");
    assert_eq!(waived["status"], "advice");
    assert_eq!(waived["evidence"]["waived"]["status"], "fail");
    let stale = finding(entry, "size");
    assert_eq!(stale["status"], "advice");
    assert!(stale["summary"].as_str().unwrap().contains("matches nothing"), "{stale}");
    assert!(fs::read_to_string(place.path("j")).unwrap().contains("since 2019"));
}

fn a_receipt_holds_until_something_changes() {
    let place = TestFolder::new();
    place.copy(GOOD, "a");
    let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
    place.write("key", pair.sk.to_box(None).unwrap().into_string());
    place.write("key.pub", pair.pk.to_box().unwrap().into_string());
    let told = place.run(&["check", "--quick", "--receipt=r.json", "--sign-key=key", "a"]);
    assert_eq!(told.code, 0, "{}{}", told.out, told.err);
    let receipt: Value = serde_json::from_slice(&fs::read(place.path("r.json")).unwrap()).unwrap();
    assert_eq!(receipt["schema"], "gate4k/receipt/1");
    assert_eq!(receipt["entries"][0]["verdict"], "accepted");

    let holds = place.run(&["verify", "r.json", "a"]);
    assert_eq!(holds.code, 0, "{}{}", holds.out, holds.err);
    assert!(holds.out.starts_with("holds          a: accepted on 20"), "{}", holds.out);
    let plain = place.run(&["verify", "--format=plain", "r.json", "a"]);
    assert!(plain.out.starts_with("holds: a: accepted on 20"), "{}", plain.out);
    let json = place.run(&["verify", "--format=json", "r.json", "a"]);
    let document: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(document["schema"], "gate4k/verify/1");
    let entry = &document["entries"][0];
    assert_eq!((&entry["holds"], &entry["verdict"]), (&true.into(), &"accepted".into()));
    let signed = place.run(&["verify", "--public-key=key.pub", "r.json", "a/engine"]);
    assert_eq!(signed.code, 0, "{}{}", signed.out, signed.err);

    // The receipt itself is changed by a byte.
    let text = fs::read_to_string(place.path("r.json")).unwrap();
    fs::write(place.path("r.json"), text.replacen("accepted", "accepteD", 1)).unwrap();
    assert_eq!(place.run(&["verify", "--public-key=key.pub", "r.json", "a"]).code, 2);
    fs::write(place.path("r.json"), format!("{text} ")).unwrap();
    let forged = place.run(&["verify", "--public-key=key.pub", "r.json", "a"]);
    assert_eq!(forged.code, 1);
    assert!(forged.out.contains("signature does not hold"), "{}", forged.out);

    // The entry is.
    let mut bytes = fixture(GOOD);
    *bytes.last_mut().unwrap() ^= 1;
    place.write("a/engine", bytes);
    let changed = place.run(&["verify", "r.json", "a"]);
    assert_eq!(changed.code, 1);
    assert!(changed.out.starts_with("does not hold  a\n"), "{}", changed.out);
    assert_eq!(place.run(&["verify", "r.json", "gone"]).code, 3);
    assert_eq!(place.run(&["verify", "gone.json", "a"]).code, 3);
}

fn a_locked_key_signs_with_its_password_from_the_environment() {
    let place = TestFolder::new();
    place.copy(BAD, "a");
    let word = "correct horse";
    let pair = minisign::KeyPair::generate_encrypted_keypair(Some(word.into())).unwrap();
    place.write("key", pair.sk.to_box(None).unwrap().into_string());
    place.write("key.pub", pair.pk.to_box().unwrap().into_string());
    let sign = |word: Option<&str>| {
        let mut command = place.command(&["check", "--quick", "-q", "--receipt=r.json"]);
        command.args(["--sign-key=key", "a"]).env_remove("GATE4K_KEY_PASSWORD");
        Outcome::of(command.envs(word.map(|word| ("GATE4K_KEY_PASSWORD", word))))
    };
    for (given, said) in [
        (None, "the key key has a password; put it into the environment as GATE4K_KEY_PASSWORD"),
        (Some("wrong"), "GATE4K_KEY_PASSWORD is not the password of the key key"),
    ] {
        let told = sign(given);
        // Before anything is judged, and nothing is written.
        assert_eq!((told.code, told.out.as_str()), (2, ""));
        assert!(told.err.contains(said), "{}", told.err);
        assert!(!place.path("r.json").exists() && !place.path("r.json.minisig").exists());
    }
    let told = sign(Some(word));
    assert_eq!(told.code, 1, "{}", told.err);
    let signed = place.run(&["verify", "--public-key=key.pub", "r.json", "a"]);
    assert_eq!(signed.code, 1, "{}{}", signed.out, signed.err);
    assert!(signed.out.starts_with("holds          a: rejected on "), "{}", signed.out);
    assert!(signed.out.contains("signed by the key that was given"), "{}", signed.out);
}

fn a_branch_is_judged_by_what_it_changed_and_by_the_rules_before_it() {
    let place = TestFolder::new();
    place.git(&["init", "-q", "-b", "main"]);
    place.copy(GOOD, "entries/a");
    place.copy(BAD, "entries/b");
    place.write("gate4k.toml", "entries = [\"entries\"]\nquick = true\n");
    place.commit();
    let words = ["check", "--format=json", "--changed-since=main"];

    place.git(&["switch", "-q", "-c", "pull"]);
    let nothing = place.run(&words);
    assert_eq!((nothing.code, verdicts(&nothing).len()), (0, 0), "{}", nothing.err);
    assert!(nothing.err.contains("0 of 2 entries changed since main"), "{}", nothing.err);

    // It removes one and lets itself in by a waiver.
    fs::remove_dir_all(place.path("entries/b")).unwrap();
    place.copy(BAD, "entries/new");
    place.write(
        "gate4k.toml",
        "entries = [\"entries\"]\nquick = true\n[[waiver]]\nentry = \"entries/new\"\nrule = \"format\"\n\
         reason = \"mine\"\ndate = 2026-11-21\n",
    );
    place.commit();
    let told = place.run(&words);
    assert_eq!(told.code, 1, "{}{}", told.out, told.err);
    let verdicts = verdicts(&told);
    assert_eq!(verdicts.len(), 1, "{verdicts:?}");
    assert!(verdicts[0].0.ends_with("entries/new"), "{verdicts:?}");
    assert_eq!(finding(&told.json()["entries"][0], "format")["status"], "fail");
    assert!(
        told.err.contains("gate4k.toml has changed; what it said before holds"),
        "{}",
        told.err
    );
    // One that is named and gone is not missing, but removed.
    let removed = place.run(&[&words[..], &["entries/b"]].concat());
    assert_eq!(removed.code, 0, "{}{}", removed.out, removed.err);

    let unknown = place.run(&["check", "--changed-since=no-such"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (2, ""));
    let err = &unknown.err;
    assert!(err.contains("git knows no commit") && !err.contains("single revision"), "{err}");
}

fn one_that_hangs_and_one_that_floods_spoil_nothing_for_the_rest() {
    let place = TestFolder::new();
    place.write("entries/a/engine", "#!/bin/sh\nwhile read x;do :;done\n");
    place.write("entries/b/engine", "#!/bin/sh\nwhile :;do echo info string x;done\n");
    place.copy(GOOD, "entries/c");
    place.copy(GOOD, "entries/d");
    let limits = ["--startup-limit=2s", "--answer-limit=5s", "--jobs=2", "--no-cache"];
    let words = ["check", "--quick", "--match=off", "--format=json", "-vv", "entries"];
    let told = place.run(&[&words[..], &limits].concat());
    let verdicts: Vec<String> = verdicts(&told).into_iter().map(|(_, verdict)| verdict).collect();
    assert_eq!(verdicts, ["rejected", "rejected", "accepted", "accepted"], "{}", told.err);
    let document = told.json();
    let start = |index: usize| finding(&document["entries"][index], "startup")["status"].clone();
    assert_eq!((start(0), start(1), start(2)), ("fail".into(), "fail".into(), "pass".into()));
    // It slept, so that the others did not keep it from anything: its limit is not waited for again.
    let again: Vec<&str> = told.err.lines().filter(|line| line.contains("again alone")).collect();
    assert!(!again.iter().any(|line| line.contains("index=0")), "{again:#?}");
    assert_eq!(told.code, 1);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_directory_of_entries_is_judged_as_a_whole [Landlock],
        slow a_name_that_is_no_text_keeps_no_other_entry_from_its_judge [Landlock],
        slow entries_beside_each_other_are_told_so_and_alone_they_are_not [Landlock],
        slow what_has_not_changed_is_not_judged_again [Landlock],
        slow steps_are_told_on_standard_error_to_those_who_ask_twice [Landlock],
        slow a_configuration_decides_for_its_folder [Landlock],
        slow a_waiver_is_shown_and_one_for_nothing_is_a_finding [Landlock],
        slow a_receipt_holds_until_something_changes [Landlock],
        slow a_locked_key_signs_with_its_password_from_the_environment [Landlock],
        slow a_branch_is_judged_by_what_it_changed_and_by_the_rules_before_it [Landlock, Git],
        slow one_that_hangs_and_one_that_floods_spoil_nothing_for_the_rest [Landlock],
    ]
}
