//! The limits on engines' memory and commands: `--memory`, `--allowlist`, `--strict`.

use std::fs;
use std::path::Path;

use super::table::Table;

use crate::trials::Test;

/// A shell that takes some 150 MB before the engine below it starts.
const HUNGRY: &str = "x=$(head -c 150000000 /dev/zero | tr '\\000' x)\nENGINE\ntrue\n";

fn fixture(name: &str) -> String {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/accept");
    top.join(name).join("engine").to_str().unwrap().to_owned()
}

fn a_trusted_engine_that_uses_too_much_memory_is_killed_and_loses() {
    let table = Table::set("memory");
    // It thinks so long that nothing else can end its game.
    let slow = HUNGRY.replace("ENGINE", "ENGINE late@0:600000");
    let engines = [table.wrapped("A", &slow), table.engine("B", "")];
    let more = ["--games", "1", "--memory", "32M", "--startup-limit", "60s", "--tc", "600+0"];
    let played = table.play(&engines, &more);
    assert_eq!((played.code, played.games().len()), (0, 1), "{}", played.err);
    assert_eq!(played.games()[0]["result"], "0-1", "{}", played.out);
    assert!(played.err.contains("of memory in use at once (it was killed)"), "{}", played.err);

    let _ = fs::remove_file(table.path("events"));
    let _ = fs::remove_file(table.path("pgn"));
    // A limit of its own comes before that of the match.
    let engines = [format!("{} memory=4G", table.wrapped("A", HUNGRY)), table.engine("B", "")];
    let played = table.play(&engines, &more);
    assert_eq!((played.code, played.games().len()), (0, 1), "{}", played.err);
    assert_eq!(played.of_kind("engine-killed").len(), 0, "{}", played.err);
    played.pgn_is_clean(1);
}

fn an_entry_gets_the_memory_that_is_named() {
    let table = Table::set("entry-memory");
    let path = table.path("hungry");
    // It takes its memory and shakes no hand before.
    let script = "#!/usr/bin/python3\nx = bytes(range(256)) * 600000\ninput()\nprint('uciok', flush=True)\n\
                  input()\nprint('readyok', flush=True)\nimport time\ntime.sleep(900)\n";
    fs::write(&path, script).unwrap();
    let engines = [path.to_str().unwrap().to_owned(), table.engine("B", "")];
    let more = ["--games", "1", "--memory", "48M", "--startup-limit", "60s", "--tc", "600+0"];
    let played = table.play(&engines, &more);
    assert_eq!(played.games()[0]["result"], "0-1", "{}", played.out);
    assert!(played.err.contains("of memory in use at once (it was killed)"), "{}", played.err);
}

fn strict_refuses_entries_what_is_only_tolerated() {
    let table = Table::set("strict");
    let engines = [fixture("gunzip-tolerated"), table.engine("B", "")];
    let more = ["--games", "1", "--max-plies", "4", "--tc", "20+0.1"];
    let played = table.play(&engines, &more);
    assert_eq!(played.games()[0]["reason"], "length", "{} {}", played.out, played.err);
    let _ = fs::remove_file(table.path("events"));
    let _ = fs::remove_file(table.path("pgn"));
    let played = table.play(&engines, &[&more[..], &["--strict"]].concat());
    assert!(played.out.contains("does not start"), "{} {}", played.out, played.err);
}

/// It runs uname in the middle of its games, in one process for both.
fn a_forbidden_program_in_a_game_is_told_with_the_game_and_the_rule() {
    let table = Table::set("broke-rule");
    let entry = fixture("python3").replace("accept/python3", "reject/commands-at-move-ten");
    let engines = [format!("name=A entry={entry}"), table.engine("B", "")];
    let more = ["--games", "2", "--max-plies", "24", "--tc", "60+0.1", "--concurrency", "1"];
    let played = table.play(&engines, &more);
    assert_eq!(played.games().len(), 2, "{} {}", played.out, played.err);
    let told = played.of_kind("broke-rule");
    let [one] = &told[..] else { panic!("{told:?}") };
    assert_eq!((&one["engine"], &one["game"]), (&0.into(), &0.into()), "{one}");
    assert_eq!((&one["rule"], &one["section"]), (&"commands".into(), &"7.5, 7.8".into()), "{one}");
    assert!(one["what"].as_str().unwrap().contains("uname"), "{one}");
    assert!(
        played.err.contains("A in game 1: ") && played.err.contains("(rule 7.5, 7.8)"),
        "{}",
        played.err
    );
    assert!(
        played.out.contains("A broke rule 7.5, 7.8 in its games, as was seen of 1 process"),
        "{}",
        played.out
    );
}

fn an_allow_list_that_cannot_be_read_is_refused_before_the_first_game() {
    let table = Table::set("allowlist");
    let engines = [fixture("elf"), table.engine("B", "")];
    let list = table.path("list.toml");
    let list = list.to_str().unwrap();
    let output = table.command(&engines, &["--allowlist", list]).output().unwrap();
    let played = table.played(&output);
    assert_eq!((played.code, played.events.len()), (2, 0), "{}", played.err);
    assert!(played.err.contains("list.toml"), "{}", played.err);
    let output = table.command(&engines, &["--memory", "lots"]).output().unwrap();
    let played = table.played(&output);
    assert_eq!(played.code, 2);
    assert!(played.err.contains("512M"), "{}", played.err);
}

/// Announces switches of a book and of pondering, and writes down each `setoption` it is sent.
const SWITCHES: &str = "\
sed -u 's/^setoption.*/&/w LOG' | ENGINE | while read -r line; do\n\
case \"$line\" in uciok)\n\
echo 'option name OwnBook type check default true'\n\
echo 'option name Ponder type check default true'\n\
echo 'option name Book File type string default a.bin';;\n\
esac\necho \"$line\"\ndone\n";

fn books_and_pondering_are_switched_off_before_a_game() {
    let table = Table::set("switches");
    let log = table.path("sent");
    let script = SWITCHES.replace("LOG", log.to_str().unwrap());
    let more = ["--games", "1", "--max-plies", "4", "--tc", "20+0.1"];
    let engines = [table.wrapped("A", &script), table.engine("B", "")];
    let played = table.play(&engines, &more);
    assert_eq!(played.games()[0]["reason"], "length", "{} {}", played.out, played.err);
    let sent = fs::read_to_string(&log).unwrap();
    let both = "setoption name OwnBook value false\nsetoption name Ponder value false\n";
    assert_eq!(sent, both);

    let _ = fs::remove_file(table.path("events"));
    let _ = fs::remove_file(table.path("pgn"));
    // An organiser who sets it for a trusted engine means it.
    let engines = [format!("{} option.OwnBook=true", engines[0]), engines[1].clone()];
    let played = table.play(&engines, &more);
    assert_eq!(played.games()[0]["reason"], "length", "{} {}", played.out, played.err);
    let sent = fs::read_to_string(&log).unwrap();
    assert_eq!(sent, both.replacen("false", "true", 1));
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow books_and_pondering_are_switched_off_before_a_game,
        slow a_trusted_engine_that_uses_too_much_memory_is_killed_and_loses,
        slow an_entry_gets_the_memory_that_is_named [Landlock, Python3],
        slow strict_refuses_entries_what_is_only_tolerated [Landlock, Cplusplus],
        slow a_forbidden_program_in_a_game_is_told_with_the_game_and_the_rule [Landlock, Python3],
        slow an_allow_list_that_cannot_be_read_is_refused_before_the_first_game,
    ]
}
