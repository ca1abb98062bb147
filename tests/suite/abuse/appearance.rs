//! Judged and played, an entry finds the same world: nothing that it can ask tells one start from another.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use gate4k::sandbox::capability::Capability;
use gate4k::sandbox::plan::Audit;
use serde_json::Value;

use super::attack::c;
use super::inside::{Sandboxes, run};
use super::program::Program;
use super::world::World;
use crate::trials::Test;

/// Lines that differ from start to start by nature: numbers of namespaces and the name of the staged file.
fn plain(text: &str) -> Vec<&str> {
    // (The number of an autogroup goes on from session to session of the whole host.)
    let own = ["Name:", "HELD", "ESCAPED", "/autogroup-"];
    text.lines().filter(|line| !own.iter().any(|start| line.starts_with(start))).collect()
}

fn same(one: &str, other: &str) {
    let (one, other) = (plain(one), plain(other));
    let differ: Vec<_> = one.iter().zip(&other).filter(|(a, b)| a != b).collect();
    assert!(differ.is_empty() && one.len() == other.len(), "{differ:#?}");
}

fn every_start_looks_the_same_from_inside() {
    let program = Program::get();
    let world = World::new(None, Some(std::process::id()));
    let entry = program.entry(&c(26, "appearance"), &world);
    let able = Capability::probe().namespaces.is_ok();
    let sandboxes = Sandboxes::new(able);
    let patience = Duration::from_secs(60);
    let probed = run(sandboxes.plain(), entry.clone(), Audit::Full, patience).out;
    let played = run(sandboxes.plain(), entry.clone(), Audit::ProgramsOnly, patience).out;
    assert!(probed.contains("== /proc/self/uid_map") && probed.contains("net b701"), "{probed}");
    same(&probed, &played);

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("entry");
    super::write_program(&path, &entry);
    // Whatever the caller's own streams are: pipes, or a device and files.
    let run = |command: &mut Command| command.arg("run").arg(&path).output().unwrap();
    let gate4k = || Command::new(env!("CARGO_BIN_EXE_gate4k"));
    let piped = run(gate4k().stdin(Stdio::piped()));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(text(&piped.stdout).contains("net b701"), "{piped:?}");
    same(&probed, &text(&piped.stdout));
    let file = |name: &str| std::fs::File::create(dir.path().join(name)).unwrap();
    let mut child = gate4k();
    child.stdin(Stdio::null()).stdout(file("out")).stderr(file("err"));
    assert!(child.arg("run").arg(&path).status().unwrap().code().is_some());
    same(&probed, &std::fs::read_to_string(dir.path().join("out")).unwrap());
}

/// A check of this entry with two games, and the statuses of its findings by their rules.
fn check(entry: &Path) -> BTreeMap<String, String> {
    let out = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["check", "--quick", "--match=1", "--no-cache", "--format=json", "--size-limit=1M"])
        .arg(entry)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&out.stderr)));
    let word = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
    let findings = document["entries"][0]["findings"].as_array().unwrap();
    findings.iter().map(|finding| (word(finding, "rule"), word(finding, "status"))).collect()
}

/// An entry alone can tell how a game of a check, or of a match, looks from inside: it ends where it is not as in a probe.
fn an_entry_that_gives_up_wherever_it_is_not_probed_plays_all_the_same() {
    let program = Program::get();
    let able = Capability::probe().namespaces.is_ok();
    let sandboxes = Sandboxes::new(able);
    let asks = program.told(&c(26, "appearance_sum"), "nothing");
    let probed = run(sandboxes.plain(), asks, Audit::Full, Duration::from_secs(60)).out;
    let sum = probed.lines().find_map(|line| line.strip_prefix("sum ")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let entry = |name: &str, sum: &str| {
        let path = dir.path().join(name);
        super::write_program(&path, &program.engine_told(&c(26, "appearance_known"), sum));
        path
    };
    let (one, other) = (entry("one", sum), entry("other", sum));
    let status = check(&one);
    assert_eq!(status["startup"], "pass", "{status:?}");
    assert_eq!(status["match"], "pass", "{status:?}");
    let status = check(&entry("mistaken", "1"));
    assert_eq!(status["startup"], "fail", "{status:?}");
    // (Where a match puts its engines on one core, that can be told.)
    let pgn = dir.path().join("games.pgn");
    let out = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["match", "-q", "--games=1", "--max-plies=6", "--tc=30+1", "--affinity=off", "--pgn"])
        .args([&pgn, &one, &other])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let played = std::fs::read_to_string(&pgn).unwrap_or_default();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(played.contains("[Result \"1/2-1/2\"]"), "{played} {said}");
}

/// An engine whose name is what the kernel had counted of its process when it began: the high-water mark of memory in KiB, minor faults, switches,
/// and all else, which is the same for every start.
const MARKED: &str = r#"
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
int main() {
    struct rusage usage;
    char line[9999], stat[999] = "", io[999] = "";
    getrusage(RUSAGE_SELF, &usage);
    FILE *file = fopen("/proc/self/io", "r");
    if (file) io[fread(io, 1, 998, file)] = 0, fclose(file);
    for (char *at = io; *at; at++) if (*at == '\n') *at = ',';
    file = fopen("/proc/self/stat", "r");
    if (file) stat[fread(stat, 1, 998, file)] = 0, fclose(file);
    long number[9] = {0};
    char *name = strrchr(stat, ')');
    if (name) sscanf(name, ") %*c %ld %ld %ld %ld %ld %ld %ld %ld %ld", number, number + 1, number + 2, number + 3, number + 4, number + 5,
                     number + 6, number + 7, number + 8);
    setbuf(stdout, 0);
    while (fgets(line, sizeof line, stdin)) {
        if (line[0] == 'u' && line[3] < 32)
            printf("id name mark=%ld,%ld,%ld,%ld,flags %ld children's faults %ld majors %ld blocks %ld %ld io %s=\nuciok\n", usage.ru_maxrss,
                   usage.ru_minflt, number[6] - usage.ru_minflt, usage.ru_nvcsw + usage.ru_nivcsw, number[5], number[7], number[8], usage.ru_inblock,
                   usage.ru_oublock, io);
        if (line[0] == 'i') puts("readyok");
        if (line[0] == 'g') puts("bestmove 0000");
        if (line[0] == 'q') return 0;
    }
}
"#;

/// By the memory of gate4k itself, which the kernel remembers across the exec, a check was told from a match; and by the faults that hid it, once
/// they were taken off.
fn the_mark_of_memory_and_the_count_of_faults_are_alike_in_every_mode() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    std::fs::write(path("engine.c"), MARKED).unwrap();
    let made = Command::new("cc").arg("-o").args([path("one"), path("engine.c")]).status();
    assert!(made.unwrap().success());
    std::fs::copy(path("one"), path("other")).unwrap();
    let told = |words: &[&str], input: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gate4k"))
            .args(words)
            .current_dir(dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let log = std::fs::read_to_string(path("log")).unwrap_or_default();
        String::from_utf8_lossy(&output.stdout).into_owned() + &log
    };
    // The first start of all reads programs from the disk, whichever mode it is of.
    told(&["run", "one"], "uci\nquit\n");
    let mut others = Vec::new();
    for words in [
        &["run", "one"][..],
        &["check", "-q", "--quick", "--no-cache", "--format=json", "--size-limit=1M", "one"],
        &["match", "-q", "--games=1", "--tc=5+0.1", "--log=log", "one", "other"],
    ] {
        let text = told(words, "uci\nquit\n");
        let mark = text.split("mark=").nth(1).and_then(|rest| rest.split('=').next());
        let mut told = mark.unwrap_or_else(|| panic!("{text}")).splitn(5, ',');
        let mut number =
            || told.next().unwrap().parse::<u32>().unwrap_or_else(|_| panic!("{text}"));
        let (mark, faults, later, switches) = (number(), number(), number(), number());
        // From 16 MiB on, and by chance up to four more.
        assert!((15 << 10..22 << 10).contains(&mark), "{words:?}: {mark} KiB");
        // From 512 on, by chance up to 256 more, and those of the program's own start.
        assert!((512..512 + 256 + 200).contains(&faults), "{words:?}: {faults} faults");
        assert!(later < 50 && switches < 1_000, "{words:?}: {later} faults, {switches} switches");
        others.push(told.next().unwrap().to_owned());
    }
    assert!(others.iter().all(|other| *other == others[0]), "{others:#?}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow the_mark_of_memory_and_the_count_of_faults_are_alike_in_every_mode [Landlock],
        // (A table of descriptors is as long as the most that this process ever had open.)
        slow every_start_looks_the_same_from_inside [Landlock] apart,
        slow an_entry_that_gives_up_wherever_it_is_not_probed_plays_all_the_same [Landlock, Namespaces] apart,
    ]
}
