//! The first minutes of somebody new: nothing of theirs is overwritten, and a wrong word is answered by a right one.

use gate4k::model::rule::RULES;

use crate::outcome::told;
use crate::trials::Test;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn gate4k(words: &[&str]) -> Output {
    gate4k_in(Path::new("."), words)
}

fn gate4k_in(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(words)
        .current_dir(folder)
        .env_remove("CLICOLOR_FORCE")
        .env("COLUMNS", "120")
        .stdin(Stdio::null())
        .output()
        .unwrap()
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

/// Each is told before anything is packed and proved, which takes seconds.
fn pack_tells_first_what_it_cannot_read_or_write() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    let entry = folder.path().join("entry");
    let empty = folder.path().join("empty.c");
    fs::write(&empty, "\n").unwrap();
    for (source, output, words) in [
        (&source, &folder.path().join("nowhere/entry"), "nowhere/entry: there is no such folder"),
        (&source, &source.join("entry"), "engine.c/entry: "),
        (&empty, &entry, "empty.c is empty"),
    ] {
        let output = pack(source, output, &[]);
        let told = told(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.starts_with("error: ") && told.contains(words), "{words}: {told}");
        assert_eq!((told.lines().count(), told.contains("/.gate4k-")), (1, false), "{told}");
    }
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
        (&["match", "--plies", "x", "a", "b"], "write a whole number"),
        (&["match", "--shuffle", "x", "a", "b"], "write a whole number"),
        (&["match", "--max-plies", "1.5", "a", "b"], "write a whole number"),
        (&["ratings", "--offset", "x", "a"], "write a number"),
        (&["standings", "--crash-limit", "0", "a"], "write a whole number from 1 up"),
        (&["check", "--report", "html=/no/such/folder/x", "a"], "there is no such folder"),
        (&["check", "--receipt", "/no/such/folder/x", "a"], "there is no such folder"),
        (&["match", "entry=a args=b", "c"], "an entry is started by the sandbox"),
        (&["match", "name=a", "b"], "there is neither cmd= nor entry="),
        (&["match", "a", "a"], "\"name=a-2 entry=a\""),
        (&["size", "--hints", "--apply", "0", "a", "-o", "b"], "write a whole number from 1 up"),
        (&["size", "--hints", "--apply", "1", "a", "b", "-o", "c"], "--apply needs one <ENTRY>"),
    ] {
        let output = gate4k(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", told(&output));
        assert!(told(&output).contains(part), "{words:?}: {}", told(&output));
    }
}

/// Each message speaks of what was typed, and in no words of the library that found the mistake.
fn no_message_speaks_of_the_inside() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (toml, json) = (place("broken.toml", "garbage"), place("r.json", "{}"));
    let jobs = place("gate4k.toml", "jobs = 0\n");
    let missing = "/no/such/thing";
    for words in [
        &["check", missing][..],
        &["check", "--config", missing, "x"],
        &["check", "--config", &toml, "x"],
        &["check", "--config", &jobs, "x"],
        &["check", "--allowlist", missing, "x"],
        &["check", "--allowlist", &toml, "x"],
        &["check", "--engines-json", missing, "x"],
        &["check", "--match", "x", "x"],
        &["size", missing],
        &["verify", missing, missing],
        &["verify", &json, missing],
        &["match", "a"],
        &["match", "--engines", missing],
        &["match", "--engines", &toml],
        &["match", "--tc", "soon", "a", "b"],
        &["match", "--memory", "much", "a", "b"],
        &["match", "--sprt", "1", "a", "b"],
        &["match", "--win-rule", "x", "a", "b"],
        &["run", missing],
        &["doctor", "--allowlist", missing],
        &["event", "new", "--entries", missing],
        &["event", "run", missing],
        &["event", "run", &toml],
        &["event", "status", missing],
        &["event", "export", "pgn", missing],
        &["event", "decide", missing, "--order", "A,B", "--reason", "x"],
        &["event", "fix", "A", missing, "--reason", "x"],
        &["event", "replay-games", &toml, missing],
        &["standings", missing],
        &["ratings", missing],
        &["pack", missing, "-o", "/no/such/output"],
    ] {
        let output = gate4k(words);
        let told = told(&output);
        assert!(matches!(output.status.code(), Some(2 | 3)), "{words:?}: {told}");
        assert!(told.starts_with("error: "), "{words:?}: {told}");
        for jargon in [
            "os error",
            "TOML parse",
            "nonzero",
            "non-zero",
            "usize",
            "u32",
            "literal",
            "digit",
            "entity",
            "at line ",
            "Some(",
            "Err(",
            "struct ",
        ] {
            assert!(!told.contains(jargon), "{words:?}: {jargon:?} in {told}");
        }
    }
}

fn a_link_is_told_in_few_lines_and_where_it_leads() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("engine");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    let output = gate4k(&["check", "-q", link.to_str().unwrap()]);
    let told = told(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("it leads to nowhere, which is not there"), "{told}");
    let others = RULES.len() - 1;
    let skipped =
        format!("  skipped    not tried, because of single-file: {others} rules (-v names them)\n");
    assert!(told.contains(&skipped), "{told}");
    assert!(told.lines().count() < 12, "{told}");
}

/// A source is no entry; what the organisers let pass of it stays theirs, and is not told as not tried.
fn a_waiver_stands_beside_the_word_that_a_file_is_no_entry() {
    let folder = tempfile::tempdir().unwrap();
    let entry = folder.path().join("engine.c");
    fs::write(&entry, format!("int main(void) {{ return 0; }}\n//{}\n", "x".repeat(5000))).unwrap();
    let config = folder.path().join("gate4k.toml");
    let waiver = "[[waiver]]\nentry = \"engine.c\"\nrule = \"size\"\nreason = \"a trial\"\ndate = 2026-11-21\n";
    fs::write(&config, waiver).unwrap();
    let output = gate4k(&[
        "check",
        "-q",
        "--quick",
        "--format",
        "json",
        "--config",
        config.to_str().unwrap(),
        entry.to_str().unwrap(),
    ]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let finding = |rule: &str| {
        let all = report["entries"][0]["findings"].as_array().unwrap();
        all.iter().find(|one| one["rule"] == rule).unwrap().clone()
    };
    assert_eq!(finding("format")["status"], "fail", "{}", told(&output));
    assert_eq!(finding("size")["status"], "advice", "{}", finding("size"));
    assert_eq!(finding("size")["evidence"]["waived"]["reason"], "a trial");
    assert_eq!(finding("startup")["status"], "skipped");
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/accept").join(name)
}

/// Two entries of the shipped ones in `a` and `b`, both in a file `engine`.
fn two_entries() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, from) in [("a", "c-xz"), ("b", "c-bzip2")] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::copy(fixture(from).join("engine"), folder.path().join(name).join("engine")).unwrap();
    }
    folder
}

fn entries_of_one_file_name_play_under_the_names_of_their_directories() {
    let folder = two_entries();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let pgn = path("games.pgn");
    let words = ["match", "-q", "--games", "1", "--max-plies", "6", "--tc", "5+0.1", "--pgn", &pgn];
    let output = gate4k(&[&words[..], &[&path("a/engine"), &path("b/engine")]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let played = fs::read_to_string(&pgn).unwrap();
    assert!(played.contains("[White \"a\"]") && played.contains("[Black \"b\"]"), "{played}");
    // Named and configured, in the sandbox all the same; one that is too long for the event plays, and is told.
    let mut long = fs::read(folder.path().join("b/engine")).unwrap();
    long.resize(4100, b'\n');
    fs::write(folder.path().join("b/engine"), long).unwrap();
    let named =
        format!("name=First entry='{}' options.Hash=1 tc=6+0.1 memory=512M", path("a/engine"));
    let output = gate4k(&[&words[..], &[&named, &path("b")]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(
        told(&output).contains("b is no entry as it is: 4100 of 4096 bytes, 4 over"),
        "{}",
        told(&output)
    );
    let played = fs::read_to_string(&pgn).unwrap();
    assert!(played.contains("[White \"First\"]"), "{played}");
}

fn a_batch_may_be_told_in_a_table_alone() {
    let folder = two_entries();
    let output = gate4k(&["check", "-q", "--quick", "--summary", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let told = told(&output);
    assert!(told.starts_with("verdict ") && told.ends_with("2 entries: 2 accepted\n"), "{told}");
    assert_eq!(told.lines().count(), 5, "{told}");
}

fn many_receipts_are_verified_against_a_folder() {
    let folder = two_entries();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let entries = folder.path().join("entries");
    fs::create_dir(&entries).unwrap();
    for name in ["a", "b"] {
        fs::rename(folder.path().join(name), entries.join(name)).unwrap();
        let receipt = path(&format!("{name}.json"));
        let entry = path(&format!("entries/{name}"));
        let output = gate4k(&["check", "-q", "--quick", "--receipt", &receipt, &entry]);
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    }
    let verify = || gate4k(&["verify", &path("a.json"), &path("b.json"), &path("entries")]);
    let output = verify();
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(
        told(&output).ends_with("2 of 2 entries have a receipt that holds\n"),
        "{}",
        told(&output)
    );
    fs::write(entries.join("b/engine"), "#!/bin/sh\n").unwrap();
    let output = verify();
    let told = told(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("none of the 2 receipts is for this file"), "{told}");
    assert!(told.contains("/entries/b, which is not in "), "{told}");
    assert!(told.ends_with("1 of 2 entries have a receipt that holds\n"), "{told}");
}

fn a_hint_is_done_to_a_copy_that_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let entry = folder.path().join("engine");
    let copy = folder.path().join("smaller");
    fs::copy(fixture("c-xz").join("engine"), &entry).unwrap();
    let before = fs::read(&entry).unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let apply = |number: &str, output: &Path| {
        gate4k(&["size", "--hints", "--apply", number, &path(&entry), "-o", &path(output)])
    };
    let output = apply("1", &copy);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(told(&output).contains("accepted by `gate4k check --quick`"), "{}", told(&output));
    let written = fs::read(&copy).unwrap();
    assert!(written.len() < before.len() && fs::read(&entry).unwrap() == before);
    assert_eq!(gate4k(&["check", "-q", "--quick", &path(&copy)]).status.code(), Some(0));
    let output = apply("99", &copy);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(told(&output).contains("and no number 99"), "{}", told(&output));
    let output = apply("1", &entry);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(told(&output).contains("is the source itself"), "{}", told(&output));
    assert_eq!(fs::read(&entry).unwrap(), before);
}

/// A file that somebody puts at the output's path while the copy is judged is not replaced.
fn a_file_that_comes_while_a_copy_is_judged_stays() {
    for _ in 0..9 {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::create_dir(path("tmp")).unwrap();
        fs::copy(fixture("c-xz").join("engine"), path("engine")).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_gate4k"))
            .args(["size", "--hints", "--apply", "1", &path("engine"), "-o", &path("smaller")])
            .env("TMPDIR", path("tmp"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The copy is there once the output's path has been looked at for the first time.
        let copy = || {
            let folders = fs::read_dir(path("tmp")).unwrap().map(Result::unwrap);
            folders.into_iter().any(|folder| folder.path().join("engine").is_file())
        };
        while !copy() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let written = fs::File::create_new(path("smaller"));
        let output = child.wait_with_output().unwrap();
        // On a busy host the copy may have been judged before we came.
        if written.is_ok() {
            assert_eq!(output.status.code(), Some(2), "{}", told(&output));
            assert!(told(&output).contains("is there already"), "{}", told(&output));
            assert_eq!(fs::read(path("smaller")).unwrap(), b"");
            return;
        }
    }
    panic!("nine times the copy was judged before its file could be written");
}

/// A hint that costs the behaviour is not carried out: this entry reads its own first line.
fn a_hint_that_breaks_the_entry_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let entry = folder.path().join("engine");
    let bytes = fs::read(fixture("c-xz").join("engine")).unwrap();
    let first = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    // Written with a backslash, so that no hint changes the pattern as well.
    let guard = b": | :;case `head -n2 $0|tail -n1` in *:\\ \\|\\ :*);;*)exit;;esac;";
    fs::write(&entry, [&bytes[..first], guard, &bytes[first..]].concat()).unwrap();
    fs::set_permissions(&entry, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let copy = folder.path().join("copy");
    let hints = gate4k(&["size", "--hints", &path(&entry)]);
    let Some(number) = told(&hints).lines().find_map(|line| {
        let (number, what) = line.trim().split_once(". ")?;
        what.contains("`|` for ` | `").then(|| number.to_owned())
    }) else {
        panic!("no such hint: {}", told(&hints));
    };
    let output =
        gate4k(&["size", "--hints", "--apply", &number, &path(&entry), "-o", &path(&copy)]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert!(
        told(&output).contains("it no longer keeps startup; above is why"),
        "{}",
        told(&output)
    );
    assert!(!copy.exists());
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
            "gate4k pack engine -o engine-packed",
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
        ("engine.o", &fs::read(&object).unwrap(), "an object file", "cc -o program engine.o"),
    ] {
        fs::write(folder.path().join(name), bytes).unwrap();
        let words = ["check", "-q", "--quick", "--no-cache", "--format", "json", name];
        let output = gate4k_in(folder.path(), &words);
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
        // `size` runs nothing, and has the same words.
        let size = told(&gate4k_in(folder.path(), &["size", name]));
        let size = size.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(size.contains(is) && size.contains(next), "{name}: {size}");
    }
}

/// The next step for a file that is no entry yet, where it is a command, does what it says when it is typed as it stands.
fn a_next_step_that_is_a_command_can_be_typed() {
    let c = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/engine.c")).unwrap();
    let python = fs::read_to_string(fixture("python3").join("engine")).unwrap();
    let python = python.split_once('\n').unwrap().1;
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("my entries");
    fs::create_dir(&inside).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_gate4k")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let marked = |text: &str| ["\u{feff}", text].concat().into_bytes();
    let wide = |text: &str, bytes: fn(u16) -> [u8; 2]| {
        text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>()
    };
    let script = "#!/bin/sh\necho uciok\n";
    for (name, bytes, command, made) in [
        ("engine", c.clone(), "gate4k pack ", Made::Entry("engine-packed")),
        ("my entries/it's.h", c, "gate4k pack ", Made::Entry("my entries/it's")),
        ("chess player", python.into(), "gate4k pack ", Made::Entry("chess player-packed")),
        ("marked it", marked(script), "tail ", Made::Text("marked it")),
        ("wide", wide(script, u16::to_le_bytes), "iconv ", Made::Text("wide")),
        ("-big", wide(script, u16::to_be_bytes), "iconv ", Made::Text("-big")),
        (
            "both",
            wide(&format!("\u{feff}{script}"), u16::to_be_bytes),
            "iconv ",
            Made::Text("both"),
        ),
    ] {
        fs::write(folder.path().join(name), bytes).unwrap();
        let words = ["check", "-q", "--quick", "--no-cache", "--format", "json", "--", name];
        let report = gate4k_in(folder.path(), &words).stdout;
        let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
        let findings = report["entries"][0]["findings"].as_array().unwrap();
        let format = findings.iter().find(|one| one["rule"] == "format").unwrap();
        let help = format["help"].as_str().unwrap();
        let typed = &help[help.find(command).unwrap_or_else(|| panic!("{name}: {help}"))..];
        let output = Command::new("sh")
            .args(["-c", typed])
            .current_dir(folder.path())
            .env("PATH", &path)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{name}: {typed}: {}", told(&output));
        match made {
            // It is written only when it is accepted.
            Made::Entry(made) => assert!(folder.path().join(made).is_file(), "{typed}"),
            Made::Text(made) => {
                assert_eq!(
                    fs::read_to_string(folder.path().join(made)).unwrap(),
                    script,
                    "{typed}"
                );
            }
        }
    }
}

/// The file that a command makes or mends.
enum Made {
    Entry(&'static str),
    Text(&'static str),
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_file_that_is_no_entry_yet_is_called_by_its_name [Landlock],
        slow a_next_step_that_is_a_command_can_be_typed [Landlock, Xz, Python3],
        quick pack_never_overwrites_its_source,
        quick pack_replaces_no_file_that_it_did_not_write,
        quick pack_tells_first_what_it_cannot_read_or_write,
        quick pack_asks_for_a_program_of_the_rules_first,
        quick a_wrong_value_is_answered_by_what_to_write,
        quick a_cause_is_told_once,
        quick no_message_speaks_of_the_inside,
        quick a_link_is_told_in_few_lines_and_where_it_leads,
        slow a_waiver_stands_beside_the_word_that_a_file_is_no_entry [Landlock],
        slow entries_of_one_file_name_play_under_the_names_of_their_directories [Landlock, Xz, Bzip2],
        slow a_batch_may_be_told_in_a_table_alone [Landlock, Xz, Bzip2],
        slow many_receipts_are_verified_against_a_folder [Landlock, Xz, Bzip2],
        slow a_hint_is_done_to_a_copy_that_is_checked [Landlock, Xz],
        slow a_file_that_comes_while_a_copy_is_judged_stays [Landlock, Xz],
        slow a_hint_that_breaks_the_entry_is_refused [Landlock, Xz],
    ]
}
