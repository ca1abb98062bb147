//! A check in shards: put together it is what one machine would have told, in every form of the report.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use gate4k::view::report_format::ReportFormat;
use serde_json::Value;

use crate::seed::Chance;
use crate::trials::Test;

/// The names of all formats of a report.
fn formats() -> Vec<String> {
    ReportFormat::value_variants().iter().map(|format| format.name()).collect()
}

/// A directory of entries, and a home of its own.
struct Pool {
    top: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl Pool {
    fn new() -> Pool {
        Pool { top: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A shipped entry that needs nothing of the host, under another name.
    fn elf(&self, name: &str) {
        let elf = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/accept/elf/engine");
        self.write(&format!("entries/{name}/engine"), &fs::read(elf).unwrap());
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        for name in [
            "NO_COLOR",
            "CLICOLOR_FORCE",
            "GITHUB_ACTIONS",
            "GITHUB_STEP_SUMMARY",
            "GITHUB_WORKSPACE",
            "SLURM_ARRAY_TASK_ID",
            "JOB_COMPLETION_INDEX",
            "PARALLEL_SEQ",
        ] {
            command.env_remove(name);
        }
        command.args(words).current_dir(self.top.path()).env("COLUMNS", "120");
        command.env("HOME", self.home.path()).env("XDG_CACHE_HOME", self.home.path().join("cache"));
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    fn shard(&self, journal: &str, shard: &str, more: &[&str]) -> Output {
        let words = ["check", "--quick", "--journal", journal, "--shard", shard];
        self.run(&[&words[..], more, &["entries"]].concat())
    }

    /// All that a command tells: its exit code, its standard output, each report and the receipt.
    fn told(&self, words: &[&str], rest: &[&str]) -> Vec<(String, String)> {
        let mut all = words.to_vec();
        let formats = formats();
        let reports: Vec<String> =
            formats.iter().map(|format| format!("{format}=out/{format}")).collect();
        reports.iter().for_each(|report| all.extend(["--report", report]));
        all.extend(["--receipt", "out/receipt"]);
        all.extend(rest);
        fs::create_dir_all(self.path("out")).unwrap();
        let output = self.run(&all);
        let mut told = vec![
            ("exit code".to_owned(), output.status.code().unwrap().to_string()),
            ("output".to_owned(), String::from_utf8(output.stdout.clone()).unwrap()),
        ];
        for format in formats {
            let text = fs::read_to_string(self.path("out").join(&format));
            told.push((format, text.unwrap_or_else(|_| panic!("{}", err(&output)))));
        }
        let receipt = fs::read_to_string(self.path("out/receipt")).unwrap();
        let mut receipt: Value = serde_json::from_str(&receipt).unwrap();
        receipt["written"] = Value::Null;
        receipt["host"]["timing"] = Value::Null;
        told.push(("receipt".to_owned(), format!("{receipt:#}")));
        fs::remove_dir_all(self.path("out")).unwrap();
        told
    }

    /// The number of results that a journal holds.
    fn results(&self, journal: &str) -> usize {
        let text = fs::read_to_string(self.path(journal)).unwrap_or_default();
        text.matches("\"record\":{\"entry\":").count()
    }
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).replace('\n', " ")
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
    let pool = Pool::new();
    for number in 0..48 {
        let name = format!("e{number:02}");
        match number % 4 {
            0 if number < 24 => pool.elf(&name),
            1 => pool.write(&format!("entries/{name}/engine"), &vec![b'x'; 5000 + number]),
            _ if number > 4 => {
                pool.write(&format!("entries/{name}/engine"), b"int main(void) { return 0; }\n");
            }
            _ => {
                pool.write(&format!("entries/{name}/engine"), b"#!/bin/sh\nread x\n");
                pool.write(&format!("entries/{name}/second"), b"x");
            }
        }
    }
    // An entry whose name no text can hold, and one that is not there.
    let odd = OsStr::from_bytes(b"od\xffd");
    fs::create_dir(pool.path("beside")).unwrap();
    fs::write(pool.path("beside").join(odd), vec![b'y'; 5000]).unwrap();
    let words = ["entries", "beside", "gone"];
    let first = pool.run(&[&["check", "--quick"], &words[..]].concat());
    assert_eq!(first.status.code(), Some(1), "{}", err(&first));

    let one = pool.told(&["check", "--quick", "--jobs", "1"], &words);
    assert!(one[1].1.contains("50 entries: 6 accepted, 43 rejected, 1 not judged"), "{}", one[1].1);
    let mut chance = Chance::of("shards of a check");
    for of in 1..=7 {
        let names: Vec<String> = (1..=of).map(|index| format!("{index}/{of}")).collect();
        let mut journals = Vec::new();
        for shard in shuffled(names, &mut chance) {
            let journal = format!("{}.journal", shard.replace('/', "-"));
            let check = ["check", "--quick", "--jobs", "1", "--journal", &journal, "--shard"];
            let done = pool.run(&[&check[..], &[&*shard], &words].concat());
            assert_ne!(done.status.code(), Some(2), "{}", err(&done));
            if chance.below(2) == 0 {
                // Again, by the environment: nothing is left but what was not there.
                let before = pool.results(&journal);
                let auto = format!("auto/{of}");
                let mut again = pool.command(&[&check[..], &[&*auto], &words].concat());
                let index: usize = shard.split('/').next().unwrap().parse().unwrap();
                let again = again.env("JOB_COMPLETION_INDEX", (index - 1).to_string()).output();
                assert_eq!(again.unwrap().status, done.status);
                let gone = usize::from(shard == format!("{}/{of}", (50 - 1) % of + 1));
                assert_eq!(pool.results(&journal), before + gone, "{shard}");
            }
            journals.push(journal);
        }
        let total: usize = journals.iter().map(|journal| pool.results(journal)).sum();
        assert!((50..=51).contains(&total), "{total}");
        let journals = shuffled(journals, &mut chance);
        let journals: Vec<&str> = journals.iter().map(String::as_str).collect();
        let merged = pool.told(&["merge"], &journals);
        for ((name, one), (_, merged)) in one.iter().zip(&merged) {
            let mut lines = one.lines().zip(merged.lines());
            let differ = lines.find(|(one, merged)| one != merged);
            assert_eq!(differ, None, "{name} of {of} shards");
            assert!(one == merged, "{name} of {of} shards has another end");
        }
        // The receipt of a merge holds like any other.
        if of == 7 {
            let merge = [&["merge", "--receipt", "receipt.json"], &journals[..]].concat();
            assert_eq!(pool.run(&merge).status.code(), Some(1));
            let verified = pool.run(&["verify", "receipt.json", "entries/e00"]);
            assert_eq!(verified.status.code(), Some(0), "{}", err(&verified));
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
    let pool = Pool::new();
    (0..6).for_each(|number| pool.elf(&format!("e{number}")));
    let check = ["check", "--quick", "--no-cache", "--jobs", "1", "--journal", "all"];
    let words = [&check[..], &["entries"]].concat();
    let mut child =
        pool.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert!(wait_for(&mut child, || pool.results("all") >= 2), "it ended");
    child.kill().unwrap();
    child.wait().unwrap();
    // A host that crashed leaves zeros where the last record should be.
    let mut bytes = fs::read(pool.path("all")).unwrap();
    let kept = bytes.len();
    bytes.extend(vec![0; 300]);
    bytes.push(b'\n');
    fs::write(pool.path("all"), &bytes).unwrap();
    let merged = pool.run(&["merge", "all"]);
    assert_eq!(merged.status.code(), Some(2), "{}", err(&merged));
    assert!(err(&merged).contains("give the command of its shard again"), "{}", err(&merged));

    let before = pool.results("all");
    let done = pool.run(&words);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert!(err(&done).contains("was damaged and is cut off"), "{}", err(&done));
    assert_eq!(fs::read(pool.path(&format!("all.cut-{kept}"))).unwrap().len(), 301);
    assert!(before >= 2 && pool.results("all") == 6);
    let out = String::from_utf8(done.stdout).unwrap();
    assert!(out.ends_with("6 entries: 6 accepted\n"), "{out}");
    let merged = pool.run(&["merge", "all"]);
    assert_eq!(String::from_utf8(merged.stdout).unwrap(), out);
}

fn shards_of_a_check_that_do_not_fit_are_refused_by_name() {
    let pool = Pool::new();
    for number in 0..5 {
        pool.write(&format!("entries/e{number}/engine"), &vec![b'x'; 5000 + number]);
    }
    for (journal, shard, more) in [
        ("first", "1/3", &[][..]),
        ("second", "2/3", &[]),
        ("strict", "2/3", &["--strict"]),
        ("of-two", "2/2", &[]),
    ] {
        let done = pool.shard(journal, shard, more);
        assert_eq!(done.status.code(), Some(1), "{}", err(&done));
    }
    fs::copy(pool.path("second"), pool.path("copy")).unwrap();
    fs::write(pool.path("empty"), "").unwrap();
    let text = fs::read_to_string(pool.path("second")).unwrap();
    fs::write(pool.path("damaged"), text.replacen("\"rejected\"", "\"accepted\"", 1)).unwrap();
    // A pool that changes between two shards makes another check.
    pool.write("entries/e3/engine", b"changed");
    let done = pool.shard("changed", "3/3", &[]);
    assert_eq!(done.status.code(), Some(1), "{}", err(&done));
    for (journals, code, words) in [
        (&["first", "second"][..], 4, "shard 3/3 is missing"),
        (&["first", "second", "copy"], 2, "shard 2/3 is given twice"),
        (&["first", "strict"], 2, "strict is false and true"),
        (&["first", "of-two"], 2, "it is one of 2 shards, not of 3"),
        (&["first", "damaged"], 2, "is damaged at line"),
        (&["first", "empty"], 4, "is empty: its shard has not begun"),
        (&["first", "changed"], 2, "the files of entries/e3 are others"),
        (&["first", "second", "--pgn", "x"], 2, "--pgn is of a match"),
        (&["entries/e0/engine"], 2, "is no journal that this gate4k can read"),
    ] {
        let merged = pool.run(&[&["merge"], journals].concat());
        assert_eq!(merged.status.code(), Some(code), "{words}: {}", err(&merged));
        assert!(err(&merged).contains(words), "{words}: {}", err(&merged));
    }
    // A gap is told in the table as well, and nothing with a gap is accepted.
    let merged = pool.run(&["merge", "--partial", "second", "first"]);
    assert_eq!(merged.status.code(), Some(1), "{}", err(&merged));
    assert!(err(&merged).contains("note: shard 3/3 is missing"), "{}", err(&merged));
    let out = String::from_utf8(merged.stdout).unwrap();
    assert!(out.contains("shard 3/3 has no result on it"), "{out}");
    assert!(out.ends_with("5 entries: 4 rejected, 1 not judged\n"), "{out}");

    // A journal goes on only with the very same check.
    for (shard, more, words) in [
        ("2/3", &[][..], "the files of entries/e3 are others"),
        ("2/3", &["--size-limit", "8K"], "the files of entries/e3 are others"),
    ] {
        let output = pool.shard("second", shard, more);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", err(&output));
        assert!(err(&output).contains(words), "{words}: {}", err(&output));
    }
    pool.write("entries/e3/engine", &[b'x'; 5003]);
    let output = pool.shard("second", "2/3", &["--size-limit", "8K"]);
    assert!(err(&output).contains("size-limit is 4096 and 8192"), "{}", err(&output));
    let output = pool.shard("second", "1/3", &[]);
    assert!(err(&output).contains("shard is 2/3 and 1/3"), "{}", err(&output));
    // There may be any number of shards, and those without an entry need not be there.
    let done = pool.shard("huge", "1/1000000000000", &[]);
    assert_eq!(done.status.code(), Some(1), "{}", err(&done));
    let merged = pool.run(&["merge", "huge"]);
    assert!(err(&merged).contains("shard 5/1000000000000 is missing; judge"), "{}", err(&merged));
    // A file that is no journal is not made one.
    let output = pool.shard("entries/e0/engine", "1/3", &[]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert_eq!(fs::read(pool.path("entries/e0/engine")).unwrap(), [b'x'; 5000]);
    let output = pool.run(&["check", "--shard", "1/3", "entries"]);
    assert!(err(&output).contains("--journal"), "{}", err(&output));
}

/// Of a branch the shards are of the entries that differ, and of no others.
fn shards_of_what_a_branch_changes_are_one_check() {
    let pool = Pool::new();
    let source = |number: u32| format!("int main(void) {{ return {number}; }}\n");
    for number in 0..6 {
        pool.write(&format!("entries/e{number}/engine"), source(number).as_bytes());
    }
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        let who = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"];
        command.args(who).args(words).current_dir(pool.top.path()).env("HOME", pool.home.path());
        assert!(command.output().unwrap().status.success(), "{words:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "x"]);
    for number in [1, 2, 4] {
        pool.write(&format!("entries/e{number}/engine"), source(10 + number).as_bytes());
    }
    let words = ["check", "--no-cache", "--jobs", "1", "--changed-since", "main", "entries"];
    let one = pool.run(&words);
    assert_eq!(one.status.code(), Some(1), "{}", err(&one));
    for shard in ["1/2", "2/2"] {
        let name = &shard[..1];
        let done = pool.run(&[&words[..], &["--shard", shard, "--journal", name]].concat());
        assert_eq!(done.status.code(), Some(1), "{}", err(&done));
    }
    assert_eq!((pool.results("1"), pool.results("2")), (2, 1));
    let merged = pool.run(&["merge", "2", "1"]);
    assert_eq!(merged.status.code(), Some(1), "{}", err(&merged));
    let [merged, one] = [merged, one].map(|told| String::from_utf8(told.stdout).unwrap());
    assert_eq!(merged, one);
    assert!(one.ends_with("3 entries: 3 rejected\n"), "{one}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow any_number_of_shards_in_any_order_tells_what_one_run_tells,
        slow a_check_that_was_killed_goes_on_and_judges_nothing_twice,
        slow shards_of_what_a_branch_changes_are_one_check [Git],
        quick shards_of_a_check_that_do_not_fit_are_refused_by_name,
    ]
}
