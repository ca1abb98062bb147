//! A check in shards: put together it is what one machine would have told, in every form of the report.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use gate4k::view::report_format::ReportFormat;
use serde_json::Value;

use crate::outcome::Outcome;
use crate::seed::Chance;
use crate::test_folder::TestFolder;
use crate::trials::Test;

/// The names of all formats of a report.
fn formats() -> Vec<String> {
    ReportFormat::value_variants().iter().map(|format| format.name()).collect()
}

/// A shipped entry that needs nothing of the host, under another name.
fn elf(pool: &TestFolder, name: &str) {
    pool.copy("accept/elf", &format!("entries/{name}"));
}

fn judge_shard(pool: &TestFolder, journal: &str, shard: &str, more: &[&str]) -> Outcome {
    let words = ["check", "--quick", "--journal", journal, "--shard", shard];
    pool.run(&[&words[..], more, &["entries"]].concat())
}

/// All that a command tells: its exit code, its standard output, each report and the receipt.
fn told(pool: &TestFolder, words: &[&str], rest: &[&str]) -> Vec<(String, String)> {
    let mut all = words.to_vec();
    let formats = formats();
    let reports: Vec<String> =
        formats.iter().map(|format| format!("{format}=out/{format}")).collect();
    reports.iter().for_each(|report| all.extend(["--report", report]));
    all.extend(["--receipt", "out/receipt"]);
    all.extend(rest);
    fs::create_dir_all(pool.path("out")).unwrap();
    let output = pool.run(&all);
    let mut told = vec![
        ("exit code".to_owned(), output.code.to_string()),
        ("output".to_owned(), output.out.clone()),
    ];
    for format in formats {
        let text = fs::read_to_string(pool.path("out").join(&format));
        told.push((format, text.unwrap_or_else(|_| panic!("{}", err(&output)))));
    }
    let receipt = fs::read_to_string(pool.path("out/receipt")).unwrap();
    let mut receipt: Value = serde_json::from_str(&receipt).unwrap();
    receipt["written"] = Value::Null;
    receipt["host"]["timing"] = Value::Null;
    told.push(("receipt".to_owned(), format!("{receipt:#}")));
    fs::remove_dir_all(pool.path("out")).unwrap();
    told
}

/// The number of results that a journal holds.
fn results(pool: &TestFolder, journal: &str) -> usize {
    let text = fs::read_to_string(pool.path(journal)).unwrap_or_default();
    text.matches("\"record\":{\"entry\":").count()
}

fn err(outcome: &Outcome) -> String {
    outcome.err.replace('\n', " ")
}

fn shuffled<T>(mut all: Vec<T>, chance: &mut Chance) -> Vec<T> {
    for last in (1..all.len()).rev() {
        all.swap(last, usize::try_from(chance.below(last as u64 + 1)).unwrap());
    }
    all
}

/// Fifty entries, of which each is judged once: later runs find their results in the cache, with the very same times, so that
/// reports are equal byte for byte. An error in a path cannot be kept there, and is found again each time.
fn any_number_of_shards_in_any_order_tells_what_one_run_tells() {
    let pool = TestFolder::new();
    for number in 0..48 {
        let name = format!("e{number:02}");
        match number % 4 {
            0 if number < 24 => elf(&pool, &name),
            1 => pool.write(format!("entries/{name}/engine"), vec![b'x'; 5000 + number]),
            _ if number > 4 => {
                pool.write(format!("entries/{name}/engine"), b"int main(void) { return 0; }\n");
            }
            _ => {
                pool.write(format!("entries/{name}/engine"), b"#!/bin/sh\nread x\n");
                pool.write(format!("entries/{name}/second"), b"x");
            }
        }
    }
    // An entry whose name no text can hold, and one that is not there.
    let odd = OsStr::from_bytes(b"od\xffd");
    fs::create_dir(pool.path("beside")).unwrap();
    fs::write(pool.path("beside").join(odd), vec![b'y'; 5000]).unwrap();
    let words = ["entries", "beside", "gone"];
    let first = pool.run(&[&["check", "--quick"], &words[..]].concat());
    assert_eq!(first.code, 1, "{}", err(&first));

    let one = told(&pool, &["check", "--quick", "--jobs", "1"], &words);
    assert!(one[1].1.contains("50 entries: 6 accepted, 43 rejected, 1 not judged"), "{}", one[1].1);
    let mut chance = Chance::of("shards of a check");
    for of in 1..=7 {
        let names: Vec<String> = (1..=of).map(|index| format!("{index}/{of}")).collect();
        let mut journals = Vec::new();
        for shard in shuffled(names, &mut chance) {
            let journal = format!("{}.journal", shard.replace('/', "-"));
            let check = ["check", "--quick", "--jobs", "1", "--journal", &journal, "--shard"];
            let done = pool.run(&[&check[..], &[&*shard], &words].concat());
            assert_ne!(done.code, 2, "{}", err(&done));
            if chance.below(2) == 0 {
                // Again, by the environment: nothing is left but what was not there.
                let before = results(&pool, &journal);
                let auto = format!("auto/{of}");
                let mut again = pool.command(&[&check[..], &[&*auto], &words].concat());
                let index: usize = shard.split('/').next().unwrap().parse().unwrap();
                let again = again.env("JOB_COMPLETION_INDEX", (index - 1).to_string());
                assert_eq!(Outcome::of(again).code, done.code);
                let gone = usize::from(shard == format!("{}/{of}", (50 - 1) % of + 1));
                assert_eq!(results(&pool, &journal), before + gone, "{shard}");
            }
            journals.push(journal);
        }
        let total: usize = journals.iter().map(|journal| results(&pool, journal)).sum();
        assert!((50..=51).contains(&total), "{total}");
        let journals = shuffled(journals, &mut chance);
        let journals: Vec<&str> = journals.iter().map(String::as_str).collect();
        let merged = told(&pool, &["merge"], &journals);
        for ((name, one), (_, merged)) in one.iter().zip(&merged) {
            let mut lines = one.lines().zip(merged.lines());
            let differ = lines.find(|(one, merged)| one != merged);
            assert_eq!(differ, None, "{name} of {of} shards");
            assert!(one == merged, "{name} of {of} shards has another end");
        }
        // The receipt of a merge holds like any other.
        if of == 7 {
            let merge = [&["merge", "--receipt", "receipt.json"], &journals[..]].concat();
            assert_eq!(pool.run(&merge).code, 1);
            let verified = pool.run(&["verify", "receipt.json", "entries/e00"]);
            assert_eq!(verified.code, 0, "{}", err(&verified));
        }
    }
}

fn wait_for(child: &mut Child, mut is_there: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_there() {
        assert!(Instant::now() < deadline, "it did not come");
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

fn a_check_that_was_killed_goes_on_and_judges_nothing_twice() {
    let pool = TestFolder::new();
    (0..6).for_each(|number| elf(&pool, &format!("e{number}")));
    let check = ["check", "--quick", "--no-cache", "--jobs", "1", "--journal", "all"];
    let words = [&check[..], &["entries"]].concat();
    let mut child =
        pool.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert!(wait_for(&mut child, || results(&pool, "all") >= 2), "it ended");
    child.kill().unwrap();
    child.wait().unwrap();
    // A host that crashed leaves zeros where the last record should be.
    let mut bytes = fs::read(pool.path("all")).unwrap();
    let kept = bytes.len();
    bytes.extend(vec![0; 300]);
    bytes.push(b'\n');
    fs::write(pool.path("all"), &bytes).unwrap();
    let merged = pool.run(&["merge", "all"]);
    assert_eq!(merged.code, 2, "{}", err(&merged));
    assert!(err(&merged).contains("give the command of its shard again"), "{}", err(&merged));

    let before = results(&pool, "all");
    let done = pool.run(&words);
    assert_eq!(done.code, 0, "{}", err(&done));
    assert!(err(&done).contains("was damaged and is cut off"), "{}", err(&done));
    assert_eq!(fs::read(pool.path(format!("all.cut-{kept}"))).unwrap().len(), 301);
    assert!(before >= 2 && results(&pool, "all") == 6);
    let out = done.out;
    assert!(out.ends_with("6 entries: 6 accepted\n"), "{out}");
    let merged = pool.run(&["merge", "all"]);
    assert_eq!(merged.out, out);
}

fn shards_of_a_check_that_do_not_fit_are_refused_by_name() {
    let pool = TestFolder::new();
    for number in 0..5 {
        pool.write(format!("entries/e{number}/engine"), vec![b'x'; 5000 + number]);
    }
    for (journal, shard, more) in [
        ("first", "1/3", &[][..]),
        ("second", "2/3", &[]),
        ("strict", "2/3", &["--strict"]),
        ("of-two", "2/2", &[]),
    ] {
        let done = judge_shard(&pool, journal, shard, more);
        assert_eq!(done.code, 1, "{}", err(&done));
    }
    fs::copy(pool.path("second"), pool.path("copy")).unwrap();
    fs::write(pool.path("empty"), "").unwrap();
    let text = fs::read_to_string(pool.path("second")).unwrap();
    fs::write(pool.path("damaged"), text.replacen("\"rejected\"", "\"accepted\"", 1)).unwrap();
    // A pool that changes between two shards makes another check.
    pool.write("entries/e3/engine", b"changed");
    let done = judge_shard(&pool, "changed", "3/3", &[]);
    assert_eq!(done.code, 1, "{}", err(&done));
    for (journals, code, words) in [
        (&["first", "second"][..], 4, "shard 3/3 is missing"),
        (&["first", "second", "copy"], 2, "shard 2/3 is given twice"),
        (&["first", "strict"], 2, "strict is false and true"),
        (&["first", "of-two"], 2, "it is one of 2 shards, not of 3"),
        (&["first", "damaged"], 2, "is damaged at line"),
        (&["first", "empty"], 4, "is empty: its shard has not begun"),
        (&["first", "changed"], 2, "the files of entries/e3 are others"),
        (&["first", "second", "--pgn", "x"], 2, "--pgn is of a match"),
        (&["entries/e0/engine"], 2, "is no journal; name a file that `--journal` wrote"),
    ] {
        let merged = pool.run(&[&["merge"], journals].concat());
        assert_eq!(merged.code, code, "{words}: {}", err(&merged));
        assert!(err(&merged).contains(words), "{words}: {}", err(&merged));
    }
    // A gap is told in the table as well, and nothing with a gap is accepted.
    let merged = pool.run(&["merge", "--partial", "second", "first"]);
    assert_eq!(merged.code, 1, "{}", err(&merged));
    assert!(err(&merged).contains("note: shard 3/3 is missing"), "{}", err(&merged));
    let out = merged.out;
    assert!(out.contains("shard 3/3 has no result on it"), "{out}");
    assert!(out.ends_with("5 entries: 4 rejected, 1 not judged\n"), "{out}");

    // A journal goes on only with the very same check.
    for (shard, more, words) in [
        ("2/3", &[][..], "the files of entries/e3 are others"),
        ("2/3", &["--size-limit", "8K"], "the files of entries/e3 are others"),
    ] {
        let output = judge_shard(&pool, "second", shard, more);
        assert_eq!(output.code, 2, "{words}: {}", err(&output));
        assert!(err(&output).contains(words), "{words}: {}", err(&output));
    }
    pool.write("entries/e3/engine", [b'x'; 5003]);
    let output = judge_shard(&pool, "second", "2/3", &["--size-limit", "8K"]);
    assert!(err(&output).contains("size-limit is 4096 and 8192"), "{}", err(&output));
    let output = judge_shard(&pool, "second", "1/3", &[]);
    assert!(err(&output).contains("shard is 2/3 and 1/3"), "{}", err(&output));
    // There may be any number of shards, and those without an entry need not be there.
    let done = judge_shard(&pool, "huge", "1/1000000000000", &[]);
    assert_eq!(done.code, 1, "{}", err(&done));
    let merged = pool.run(&["merge", "huge"]);
    assert!(err(&merged).contains("shard 5/1000000000000 is missing; judge"), "{}", err(&merged));
    // A file that is no journal is not made one.
    let output = judge_shard(&pool, "entries/e0/engine", "1/3", &[]);
    assert_eq!(output.code, 2, "{}", err(&output));
    assert_eq!(fs::read(pool.path("entries/e0/engine")).unwrap(), [b'x'; 5000]);
    let output = pool.run(&["check", "--shard", "1/3", "entries"]);
    assert!(err(&output).contains("--journal"), "{}", err(&output));
}

/// Of a branch the shards are of the entries that differ, and of no others.
fn shards_of_what_a_branch_changes_are_one_check() {
    let pool = TestFolder::new();
    let source = |number: u32| format!("int main(void) {{ return {number}; }}\n");
    for number in 0..6 {
        pool.write(format!("entries/e{number}/engine"), source(number).as_bytes());
    }
    pool.git(&["init", "-q", "-b", "main"]);
    pool.commit();
    for number in [1, 2, 4] {
        pool.write(format!("entries/e{number}/engine"), source(10 + number).as_bytes());
    }
    let words = ["check", "--no-cache", "--jobs", "1", "--changed-since", "main", "entries"];
    let one = pool.run(&words);
    assert_eq!(one.code, 1, "{}", err(&one));
    for shard in ["1/2", "2/2"] {
        let name = &shard[..1];
        let done = pool.run(&[&words[..], &["--shard", shard, "--journal", name]].concat());
        assert_eq!(done.code, 1, "{}", err(&done));
    }
    assert_eq!((results(&pool, "1"), results(&pool, "2")), (2, 1));
    let merged = pool.run(&["merge", "2", "1"]);
    assert_eq!(merged.code, 1, "{}", err(&merged));
    let [merged, one] = [merged, one].map(|told| told.out);
    assert_eq!(merged, one);
    assert!(one.ends_with("3 entries: 3 rejected\n"), "{one}");
}

/// The journal lists the files as they were when the check began, and answers for no other one.
fn a_file_that_is_exchanged_before_its_turn_is_not_judged_for_the_one_that_is_listed() {
    let pool = TestFolder::new();
    pool.copy("accept/c-xz", "entries/a");
    elf(&pool, "b");
    let words = ["check", "--quick", "--no-cache", "--jobs", "1", "--journal", "j", "entries"];
    let child = pool.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !fs::read_to_string(pool.path("j")).is_ok_and(|text| text.contains("\"host\"")) {
        assert!(Instant::now() < deadline, "it never began");
    }
    // Another one, that is as sound.
    let mut other = fs::read(pool.path("entries/b/engine")).unwrap();
    other.push(0);
    fs::write(pool.path("entries/b/engine"), other).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("entries/b was changed after the check had begun"), "{told}");
    assert_eq!(output.status.code(), Some(4), "{told}");
    let merged = pool.run(&["merge", "--partial", "j"]);
    assert!(merged.code == 4 && merged.err.contains("entries/b was changed"), "{}", err(&merged));
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow any_number_of_shards_in_any_order_tells_what_one_run_tells,
        slow a_check_that_was_killed_goes_on_and_judges_nothing_twice,
        slow shards_of_what_a_branch_changes_are_one_check [Git],
        quick shards_of_a_check_that_do_not_fit_are_refused_by_name,
        slow a_file_that_is_exchanged_before_its_turn_is_not_judged_for_the_one_that_is_listed [Xz],
    ]
}
