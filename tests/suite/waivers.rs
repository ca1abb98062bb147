//! Rule 7.8: a waiver lets an entry in, grants the programs that it names to that entry alone, and is told wherever
//! the verdict is.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::test_folder::{TestFolder, fixture};
use crate::trials::Test;

/// The shipped entry that runs sed for nothing, made to end where it does not get it.
fn needs_sed() -> Vec<u8> {
    let text = String::from_utf8(fixture("reject/commands-sed")).unwrap();
    let needs = text.replacen(">/dev/null\n", ">/dev/null||exit 1\n", 1);
    assert_ne!(needs, text);
    needs.into_bytes()
}

fn waiver(entry: &str, rule: &str, more: &str) -> String {
    format!(
        "[[waiver]]\nentry = \"{entry}\"\nrule = \"{rule}\"\nreason = \"harmless as it is used here\"\n\
         date = 2026-11-21\n{more}\n"
    )
}

fn sed(entry: &str) -> String {
    waiver(entry, "commands", "programs = [\"sed\"]")
}

fn finding<'a>(report: &'a Value, rule: &str) -> &'a Value {
    let found = report["entries"][0]["findings"].as_array().unwrap().iter();
    found.clone().find(|finding| finding["rule"] == rule).unwrap()
}

fn a_waived_command_is_granted_and_the_entry_accepted_with_games() {
    let folder = TestFolder::new();
    folder.write("sed/engine", fixture("reject/commands-sed"));
    assert_eq!(folder.run(&["check", "--quiet", "--quick", "sed"]).code, 1);
    folder.write("gate4k.toml", sed("sed"));
    let json = folder.run(&["check", "--quiet", "--match=1", "--format=json", "sed"]);
    assert_eq!(json.code, 0, "{}{}", json.out, json.err);
    let report = json.json();
    assert_eq!(report["entries"][0]["verdict"], "accepted");
    let found = finding(&report, "commands");
    assert_eq!(found["status"], "advice", "{found}");
    let waived = &found["evidence"]["waived"];
    assert_eq!((&waived["status"], &waived["programs"][0]), (&"fail".into(), &"sed".into()));
    let summary = found["summary"].as_str().unwrap();
    assert!(
        summary.starts_with("waived by the organisers (harmless as it is used here, 2026-11-21)")
    );
    assert!(summary.contains("sed (waived)"), "{summary}");
    assert_eq!(finding(&report, "match")["status"], "pass", "{}", finding(&report, "match"));
    let execs = report["entries"][0]["execs"].as_array().unwrap();
    let of_sed = execs.iter().find(|exec| exec["name"] == "sed").unwrap();
    assert_eq!((&of_sed["class"], &of_sed["outcome"]), (&"waived".into(), &"ran".into()));

    let human = folder.run(&["check", "--quiet", "--quick", "sed"]);
    assert_eq!(human.code, 0, "{}{}", human.out, human.err);
    let words: Vec<&str> = human.out.split_whitespace().collect();
    let words = words.join(" ");
    for part in ["accepted", "waived by the organisers", "sed (waived)", "gate4k.toml:2:9 stands"] {
        assert!(words.contains(part), "{part}: {}", human.out);
    }
}

fn a_receipt_of_a_waived_entry_holds_and_tells_the_waiver() {
    let folder = TestFolder::new();
    folder.write("sed/engine", needs_sed());
    folder.write("gate4k.toml", sed("sed"));
    let check = folder.run(&["check", "--quiet", "--quick", "--receipt=r.json", "sed"]);
    assert_eq!(check.code, 0, "{}{}", check.out, check.err);
    let receipt: Value = serde_json::from_slice(&fs::read(folder.path("r.json")).unwrap()).unwrap();
    let entry = &receipt["entries"][0];
    assert_eq!(entry["verdict"], "accepted");
    let found = entry["findings"].as_array().unwrap().iter().find(|f| f["rule"] == "commands");
    assert_eq!(found.unwrap()["waived"]["date"], "2026-11-21");
    let verify = folder.run(&["verify", "r.json", "sed"]);
    assert_eq!(verify.code, 0, "{}{}", verify.out, verify.err);
    assert!(verify.out.contains("note: commands: waived by the organisers"), "{}", verify.out);
}

fn only_the_named_program_is_granted_and_to_the_named_entry_only() {
    let folder = TestFolder::new();
    folder.write("sed/engine", needs_sed());
    folder.write("other/engine", needs_sed());
    folder.write("gate4k.toml", waiver("sed", "commands", "programs = [\"awk\"]") + &sed("other"));
    let sed = folder.run(&["check", "--quiet", "--quick", "--format=json", "sed"]);
    assert_eq!(sed.code, 1, "{}{}", sed.out, sed.err);
    let report = sed.json();
    let found = finding(&report, "commands");
    assert_eq!(found["status"], "fail", "{found}");
    let summary = found["summary"].as_str().unwrap();
    assert!(summary.contains("sed, which is not in rule 7.5; it was refused"), "{summary}");
    assert!(summary.contains("the entry started none of its programs"), "{summary}");
    let other = folder.run(&["check", "--quiet", "--quick", "other"]);
    assert_eq!(other.code, 0, "{}{}", other.out, other.err);
}

fn a_rule_that_is_judged_by_running_can_be_waived_and_games_are_played() {
    let folder = TestFolder::new();
    folder.write("left/engine", fixture("reject/leftover-files-tmp"));
    let words = ["check", "--quiet", "--match=1", "--format=json", "left"];
    let before = folder.run(&words);
    assert_eq!(before.code, 1, "{}{}", before.out, before.err);
    assert_eq!(finding(&before.json(), "match")["status"], "skipped");
    folder.write("gate4k.toml", waiver("left", "leftover-files", ""));
    let waived = folder.run(&words);
    assert_eq!(waived.code, 0, "{}{}", waived.out, waived.err);
    let report = waived.json();
    assert_eq!(finding(&report, "leftover-files")["evidence"]["waived"]["status"], "fail");
    assert_eq!(finding(&report, "match")["status"], "pass");
}

fn a_changed_waiver_is_never_answered_from_the_cache() {
    let folder = TestFolder::new();
    folder.write("entries/sed/engine", needs_sed());
    let verdict = |waivers: &str| {
        folder.write("gate4k.toml", format!("entries = [\"entries\"]\nquick = true\n{waivers}"));
        let check = folder.run(&["check", "--quiet", "--format=json"]);
        check.json()["entries"][0]["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(verdict(""), "rejected");
    assert_eq!(verdict(&sed("entries/sed")), "accepted");
    assert_eq!(verdict(&sed("entries/sed")), "accepted");
    assert_eq!(verdict(""), "rejected");
    let awk = waiver("entries/sed", "commands", "programs = [\"awk\"]");
    assert_eq!(verdict(&awk), "rejected");
}

fn a_waiver_for_commands_without_programs_is_a_mistake_with_its_fix() {
    let folder = TestFolder::new();
    folder.write("sed/engine", needs_sed());
    folder.write("gate4k.toml", waiver("sed", "commands", ""));
    let check = folder.run(&["check", "--quiet", "sed"]);
    assert_eq!(check.code, 2, "{}{}", check.out, check.err);
    assert!(check.err.contains("gate4k.toml:3:8: a waiver for commands names"), "{}", check.err);
    assert!(check.err.contains("add programs = [\"sed\"]"), "{}", check.err);
}

fn run_grants_the_same() {
    let folder = TestFolder::new();
    folder.write("sed/engine", needs_sed());
    let run = || {
        let mut command = folder.command(&["run", "sed"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Without sed the entry has ended before it reads.
        let _ = child.stdin.take().unwrap().write_all(b"uci\nisready\nquit\n");
        let output = child.wait_with_output().unwrap();
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let [out, err] = run();
    assert!(!out.contains("readyok") && err.contains("program refused"), "{out}{err}");
    folder.write("gate4k.toml", sed("sed"));
    let [out, err] = run();
    assert!(out.contains("readyok") && !err.contains("program refused"), "{out}{err}");
}

fn a_match_grants_the_same() {
    let folder = TestFolder::new();
    folder.write("sed/engine", needs_sed());
    folder.write("plain/engine", fixture("accept/elf"));
    let games = || {
        let words = [
            "match",
            "sed",
            "plain",
            "--tc=2+0.05",
            "--margin=20s",
            "--max-plies=6",
            "--pgn=g.pgn",
        ];
        let _ = fs::remove_file(folder.path("g.pgn"));
        let answer = folder.run(&words);
        let pgn = fs::read_to_string(folder.path("g.pgn")).unwrap_or_default();
        (answer.code, pgn, answer.out + &answer.err)
    };
    let (_, pgn, told) = games();
    assert!(!pgn.contains("1. "), "{told}{pgn}");
    folder.write("gate4k.toml", sed("sed"));
    let (code, pgn, told) = games();
    assert_eq!(code, 0, "{told}");
    assert!(pgn.contains("1. ") && pgn.contains("3. "), "{told}{pgn}");
}

/// An event of two entries, one of them waived where `waivers` say so.
fn event(folder: &TestFolder, waivers: &str) {
    folder.write("sed/engine", needs_sed());
    folder.write("plain/engine", fixture("accept/elf"));
    let text = format!(
        "event = \"Waived\"\ngate = \"quick\"\ntime-control = \"1+0.05\"\nmargin = \"20s\"\n\
         [[entry]]\nname = \"Sed\"\npath = \"sed\"\n[[entry]]\nname = \"Plain\"\npath = \"plain\"\n\
         [[stage]]\nname = \"Pool\"\nformat = {{ double-round-robins = 1 }}\nbook-policy = \"none\"\n\
         draw = \"seeds\"\ntie-breaks = \"4k\"\npromote = 1\n{waivers}"
    );
    folder.write("event.toml", text);
}

fn records(folder: &TestFolder, kind: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.path("event.journal")).unwrap_or_default();
    let record =
        |line: &str| serde_json::from_str::<Value>(line).unwrap()["record"].get(kind).cloned();
    text.lines().filter_map(record).collect()
}

fn an_event_plays_a_waived_entry_and_freezes_the_waiver() {
    let folder = TestFolder::new();
    event(&folder, "");
    let refused = folder.run(&["event", "run", "--quiet", "event.toml"]);
    assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
    fs::remove_file(folder.path("event.journal")).unwrap();

    event(&folder, &sed("sed"));
    let run = folder.run(&["event", "run", "--quiet", "event.toml"]);
    // Two engines may end level, which the organisers decide.
    assert!(matches!(run.code, 0 | 4), "{}{}", run.out, run.err);
    let receipts = records(&folder, "receipt");
    let of_sed = receipts.iter().find(|receipt| receipt["entry"] == "Sed").unwrap();
    assert_eq!(of_sed["verdict"], "accepted", "{of_sed}");
    assert_eq!(of_sed["findings"]["commands"], "advice", "{of_sed}");
    let games = records(&folder, "game-finished");
    assert_eq!(games.len(), 2, "{}{}", run.out, run.err);
    assert!(records(&folder, "ply").len() > 20, "{games:?}");
    assert!(records(&folder, "header")[0]["settings"].as_str().unwrap().contains("[[waiver]]"));
    let verify = folder.run(&["event", "verify", "event.toml"]);
    assert_eq!(verify.code, 0, "{}{}", verify.out, verify.err);

    event(&folder, &waiver("sed", "commands", "programs = [\"sed\", \"awk\"]"));
    let changed = folder.run(&["event", "run", "--quiet", "event.toml"]);
    assert_eq!(changed.code, 2, "{}{}", changed.out, changed.err);
    assert!(changed.err.contains("changed since the event began"), "{}", changed.err);
}

fn a_waiver_of_an_event_is_about_one_of_its_entries() {
    let folder = TestFolder::new();
    event(&folder, &sed("gone"));
    let run = folder.run(&["event", "run", "--quiet", "event.toml"]);
    assert_eq!(run.code, 2, "{}{}", run.out, run.err);
    assert!(run.err.contains("no [[entry]] of the event lies at gone"), "{}", run.err);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_waived_command_is_granted_and_the_entry_accepted_with_games [Landlock, Python3],
        slow a_receipt_of_a_waived_entry_holds_and_tells_the_waiver [Landlock, Python3],
        slow only_the_named_program_is_granted_and_to_the_named_entry_only [Landlock, Python3],
        slow a_rule_that_is_judged_by_running_can_be_waived_and_games_are_played [Landlock, Python3],
        slow a_changed_waiver_is_never_answered_from_the_cache [Landlock, Python3],
        slow a_waiver_for_commands_without_programs_is_a_mistake_with_its_fix,
        slow run_grants_the_same [Landlock, Python3],
        slow a_match_grants_the_same [Landlock, Python3],
        slow an_event_plays_a_waived_entry_and_freezes_the_waiver [Landlock, Python3],
        slow a_waiver_of_an_event_is_about_one_of_its_entries [Landlock, Python3],
    ]
}
