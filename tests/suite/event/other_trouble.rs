//! Events of the other formats that cannot go on: files that cannot be played, crashes, an engine that is gone.

use std::fs;

use super::forged::{records, rewrite};
use super::instants::{engine, event, event_of, event_with, order, stage};
use super::table::{Event, shipped};

use serde_json::Value;

use crate::match_::engine::instant;
use crate::trials::Test;

fn an_entry_plays_beside_trusted_engines_and_both_are_frozen() {
    let event = event_of(
        2,
        "gate = \"quick\"\nadmit-undecided = true\n",
        &format!(
            "[[entry]]\nname = \"Entry\"\npath = \"entry\"\nseed = 1\n{}",
            stage("Cup", "knockout = { pairs = [1], early = true }", "")
        ),
    );
    fs::create_dir(event.path("entry")).unwrap();
    fs::copy(shipped("elf").join("engine"), event.path("entry").join("engine")).unwrap();
    fs::copy(instant(), event.path("program")).unwrap();
    let text = fs::read_to_string(event.path("event.toml")).unwrap();
    let text = text.replace(&format!("{:?}", instant()), "\"program\"");
    event.write("event.toml", &text);
    let winner = event.finish();
    assert!(winner.ends_with("Entry wins\n"), "{winner}");
    let receipts = event.records("receipt");
    let verdicts: Vec<&str> =
        receipts.iter().map(|receipt| receipt["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts.iter().filter(|verdict| **verdict == "trusted").count(), 2);
    // A program that changed stops the event, as an entry does.
    let journal = fs::read_to_string(event.path("event.journal")).unwrap();
    let unfinished: Vec<&str> =
        journal.lines().take_while(|line| !line.contains("\"stage-finished\"")).collect();
    event.write("event.journal", &(unfinished.join("\n") + "\n"));
    let mut program = fs::read(event.path("program")).unwrap();
    program.push(0);
    fs::write(event.path("program"), program).unwrap();
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && told.contains("the file of E1 changed since it was frozen"), "{told}");
}

/// The run goes on with what was frozen, or not at all: a trusted engine that crashes is started anew from the disk.
fn a_file_of_a_trusted_engine_that_is_replaced_in_a_run_stops_the_event() {
    let own = "[[engine]]\nname = \"E2\"\ncmd = \"own\"\nargs = [\"net\"]\n";
    let engines = engine(1, &["illegal@40"]) + own;
    let event = event(&engines, "", &stage("Match", "match = { pairs = 2 }", ""));
    let text = fs::read_to_string(event.path("event.toml")).unwrap();
    event.write("event.toml", &text.replace("concurrency = 2", "concurrency = 1"));
    event.write("net", "old");
    let script = format!(
        "#!/bin/sh\n[ -e begun ] && echo new > net\n: > begun\nexec '{}' crash@10 seed=2\n",
        instant().display()
    );
    event.write("own", &script);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(event.path("own"), executable).unwrap();
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 4 && told.contains("E2 does not start: "), "{told}");
    assert!(told.contains("net changed since it was frozen: SHA-256"), "{told}");
    let played = event.finished().len();
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && told.contains("the file net of E2 changed since it was frozen"), "{told}");
    event.write("net", "old");
    fs::remove_file(event.path("begun")).unwrap();
    // It is put back, and the next start of the script changes it once more.
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 4 && event.finished().len() > played, "{told}");
}

/// Engines of cutechess's file, named by the event file.
fn engines_of_another_file_play_and_are_frozen_with_it() {
    let event =
        event("", "engines = \"engines.json\"\n", &stage("Match", "match = { pairs = 1 }", ""));
    let engine = |number: usize, last: usize| {
        let command = format!("{} illegal@{last} seed={number}", instant().display());
        format!("{{\"name\":\"E{number}\",\"command\":{command:?},\"protocol\":\"uci\"}}")
    };
    let file = |last: usize| format!("[{},{}]", engine(1, 20), engine(2, last));
    event.write("engines.json", &file(12));
    let winner = event.finish();
    assert!(winner.ends_with("E1 wins\n"), "{winner}");
    let (code, told) = event.ask(&["event", "verify"]);
    assert_eq!(code, 0, "{told}");
    // Other arguments are another engine, though the event file is the same.
    let journal = fs::read_to_string(event.path("event.journal")).unwrap();
    let unfinished: Vec<&str> =
        journal.lines().take_while(|line| !line.contains("\"stage-finished\"")).collect();
    event.write("event.journal", &(unfinished.join("\n") + "\n"));
    event.write("engines.json", &file(30));
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && told.contains("engines.json of E1 changed since it was frozen"), "{told}");
    event.write("engines.json", "[{}]");
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && told.contains("event.toml:") && told.contains("missing field"), "{told}");
}

fn what_cannot_be_played_is_refused_with_a_word() {
    let swiss = "swiss = { rounds = 4, pairing = \"monrad\" }";
    for (engines, format, more, expected) in [
        (
            4,
            swiss,
            "ties = \"swiss\"",
            "a Swiss of 4 rounds is of 5 to 1000 engines, and here are 4",
        ),
        (
            8,
            "knockout = { bracket = \"edps8-rrc\", pairs = [2] }",
            "",
            "is of 32 engines, and here are 8",
        ),
        (3, "match = { pairs = 2 }", "", "a match is between two engines, and here are 3"),
        (2, "playoff = { spots = 2 }", "", "a playoff for 2 spots is of 3 to 1000 engines"),
        (
            3,
            "knockout = { pairs = [1], bronze = 1 }",
            "",
            "a match for the third place is of 4 to 1000 engines, and here are 3",
        ),
        (
            5,
            "knockout = { pairs = [1], bronze = 1 }",
            "",
            "of 8 places with a match for the third place is of 7 to 8 engines, and here are 5",
        ),
        (5, swiss, "", "what breaks ties?"),
        (5, swiss, "ties = \"swiss\"\nfrom = []", "name the places that its engines come from"),
        (
            4,
            "round-robin = { doubles = 1 }",
            "ties = \"4k\"\n[[stage]]\nname = \"T\"\nformat = { match = { pairs = 1 } }\nbook = \"book.txt\"\nfrom = \"S:4..5\"",
            ":8: S has no place 5: 4 engines play in it",
        ),
        (5, "playoff = { spots = 1 }", "from = \"A:tied\"", "no stage \"A\" stands before"),
        (5, swiss, "ties = \"swiss\"\nvariant = \"960\"", "unknown value `960`"),
        (5, swiss, "ties = \"swiss\"\nfrom = \"A:1..2\"", "no stage \"A\" stands before this one"),
        (5, swiss, "ties = \"swiss\"\nengines = [\"E1\", \"E0\"]", "is called \"E0\""),
        (
            5,
            swiss,
            "ties = \"swiss\"\nbook-policy = \"first-bookless\"",
            "only double-round-robins",
        ),
    ] {
        let event = event_of(engines, "", &stage("S", format, more));
        let (code, told) = event.ask(&["event", "run", "--quiet"]);
        assert!(code == 2 && told.contains(expected), "{expected:?} is not in {told}");
        assert!(!event.path("event.journal").exists());
    }
    // A book too short is told before the first game.
    let event = event_of(5, "", &stage("S", swiss, "ties = \"swiss\""));
    event.write("book.txt", "e4 e5\nd4 d5\n");
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && told.contains("needs 8 openings") && told.contains("has 2"), "{told}");
}

/// An event of engines with these arguments, by season 17's crash rule; two leave its league.
fn crashing(arguments: &[&str], limit: usize) -> Event {
    let engines: String =
        (1..).zip(arguments).map(|(number, argument)| engine(number, &[argument])).collect();
    let stages = stage("League", "round-robin = { doubles = 1 }", "ties = \"s17\"\npromote = 2")
        + &stage("Final", "round-robin = { doubles = 1 }", "ties = \"s17\"");
    event(&engines, &format!("crash-limit = {limit}\n"), &stages)
}

fn who_crashes_too_often_is_out_and_the_rest_play_on() {
    let event = crashing(&["crash@10", "illegal@20", "illegal@16", "illegal@12"], 3);
    let told = event.finish();
    assert!(told.contains("Other is over: E2 wins\n"), "{told}");
    // It is told when it happens.
    let out = "E1 is disqualified after 3 crashes: all its games are annulled\n";
    let (before, _) = told.split_once("League is over").unwrap();
    assert_eq!(before.matches(out).count(), 1, "{told}");
    assert_eq!(order(&event, 0), ["E2", "E3", "E4", "E1"]);
    let (code, status) = event.ask(&["event", "status"]);
    assert!(code == 0 && status.contains("crashed: E1, 3"), "{status}");
}

/// The games that E1 does not play any more keep the others' tie from nobody.
fn a_tie_beside_an_engine_that_is_disqualified_stands_on_the_page() {
    let engines = (1..)
        .zip(["crash@2", "illegal@4", "illegal@4"])
        .map(|(number, argument)| engine(number, &[argument]))
        .collect::<String>();
    let league = stage("League", "round-robin = { doubles = 1 }", "ties = \"s17\"");
    let event = event(&engines, "crash-limit = 3\n", &league);
    let text = fs::read_to_string(event.path("event.toml")).unwrap();
    event.write("event.toml", &text.replace("concurrency = 2", "concurrency = 1"));
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 4 && told.contains("E2 and E3 are tied"), "{told}");
    assert!(event.finished().len() < 6, "E1 played on");
    let (code, page) = event.ask(&["event", "export", "html"]);
    assert!(code == 0 && page.contains("E2 and E3 are tied, and the organisers decide."), "{page}");
}

/// A runner was killed when E1 had crashed three times, and its fourth game was under way: that is played to its end, as it is
/// by a runner that goes on, and only then are the two others asked for.
fn a_game_under_way_of_an_engine_that_is_out_is_played_to_its_end() {
    let engines = (1..)
        .zip(["crash@2", "illegal@4", "illegal@4"])
        .map(|(number, argument)| engine(number, &[argument]))
        .collect::<String>();
    let league = stage("League", "round-robin = { doubles = 1 }", "ties = \"s17\"");
    let event = event(&engines, "crash-limit = 3\n", &league);
    let text = fs::read_to_string(event.path("event.toml")).unwrap();
    event.write("event.toml", &text.replace("concurrency = 2", "concurrency = 24"));
    let tied = || {
        let (code, told) = event.ask(&["event", "run", "--quiet"]);
        assert!(code == 4 && told.contains("E2 and E3 are tied"), "{told}");
    };
    tied();
    let all = records(&event);
    let begin = all.iter().position(|record| record.get("stage-started").is_some()).unwrap();
    let ids: Vec<String> = event.finished().into_keys().filter(|id| id.contains("/e1")).collect();
    assert_eq!(ids.len(), 4);
    let kinds = ["game-started", "ply", "engine-killed", "game-finished"];
    let of = |id: &String, kinds: &[&str]| -> Vec<Value> {
        let is = |record: &&Value| kinds.iter().any(|kind| record[*kind]["id"] == **id);
        all.iter().filter(is).cloned().collect()
    };
    let mut killed = all[..=begin].to_vec();
    killed.extend(of(&ids[3], &kinds[..1]));
    ids[..3].iter().for_each(|id| killed.extend(of(id, &kinds)));
    rewrite(&event, &killed);
    tied();
    assert!(event.finished().contains_key(&ids[3]));
    let (code, told) = event.ask(&["event", "decide", "--order", "E3,E2", "--reason", "a coin"]);
    assert_eq!(code, 0, "{told}");
    assert!(event.finish().ends_with("Other is over: E3 wins\n"));
}

/// After the last stage `event fix` takes nothing. Every line of `--events` that is of a game has its id.
fn a_crash_is_told_with_its_game_and_a_fix_only_before_a_later_stage() {
    let engines = engine(1, &["crash@10"]) + &engine(2, &["illegal@20"]);
    let of = |name| stage(name, "round-robin = { doubles = 1 }", "ties = \"s17\"\npromote = 2");
    let event = event(&engines, "", &(of("League") + &of("Final")));
    let run = || event.ask(&["event", "run", "--quiet", "--events", "events"]);
    let fix = "E1 crashed more than once, yet promotes";
    let (code, told) = run();
    assert!(code == 4 && told.contains(fix), "{told}");
    let (code, told) = run();
    assert!(code == 0 && told.contains("Final begins") && !told.contains(fix), "{told}");
    let events = fs::read_to_string(event.path("events")).unwrap();
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let killed = events.filter(|one| one["event"] == "engine-killed" && one.get("game").is_some());
    let ids: Vec<Value> = killed.map(|one| one["id"].clone()).collect();
    let kept = event.records("engine-killed").into_iter().map(|one| one["id"].clone());
    let kept: Vec<Value> = kept.filter(|id| !id.is_null()).collect();
    assert!(ids.len() >= 4 && ids == kept, "{ids:?} {kept:?}");
}

/// Nobody wins an event of which all were disqualified; its organisers can still strike out games.
fn nobody_wins_where_all_are_disqualified() {
    let event = crashing(&["crash@10", "crash@10"], 1);
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && told.contains("every engine is disqualified"), "{told}");
    assert!(
        event.records("event-finished").is_empty() && event.records("stage-finished").is_empty()
    );
    assert_eq!(event.ask(&["event", "verify"]).0, 0);
    assert_eq!(event.ask(&["event", "status"]).0, 0);
}

/// An engine whose program is gone stops a run with a word; once it is back, the event goes on as if nothing had been.
fn an_engine_that_is_gone_in_the_middle_loses_nothing() {
    let swiss = "swiss = { rounds = 3, pairing = \"monrad\" }";
    let event = event_of(5, "", &stage("Swiss", swiss, "ties = \"swiss\""));
    let text = fs::read_to_string(event.path("event.toml")).unwrap();
    fs::copy(instant(), event.path("own")).unwrap();
    let at = text.rfind("cmd = ").unwrap();
    let (before, own) = text.split_at(at);
    event.write(
        "event.toml",
        &(before.to_owned() + &own.replace(&format!("{:?}", instant()), "\"own\"")),
    );
    // As a runner leaves it that is killed when five games have ended.
    event.finish();
    let whole = fs::read_to_string(event.path("event.journal")).unwrap();
    let mut ended = 0;
    let begin = whole.split_inclusive('\n').take_while(|line| {
        ended += usize::from(line.contains("\"game-finished\""));
        ended <= 5
    });
    event.write("event.journal", &begin.collect::<String>());
    let kept = event.finished();
    assert_eq!(kept.len(), 5);
    fs::rename(event.path("own"), event.path("elsewhere")).unwrap();
    let journal = fs::read(event.path("event.journal")).unwrap();
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && told.contains("own"), "{told}");
    assert_eq!(fs::read(event.path("event.journal")).unwrap(), journal);
    fs::rename(event.path("elsewhere"), event.path("own")).unwrap();
    event.finish();
    let games = event.finished();
    assert!(kept.iter().all(|(id, game)| games.get(id) == Some(game)), "a game changed");
    assert_eq!((games.len(), order(&event, 0)[0].as_str()), (12, "E1"));
}

/// An engine that does not start any more loses what the organisers forfeit, and the Swiss goes on with the others.
fn games_of_an_engine_that_does_not_start_are_forfeited_one_by_one() {
    let swiss = "swiss = { rounds = 2, pairing = \"monrad\" }";
    let event = event_of(4, "", &stage("Swiss", swiss, "ties = \"swiss\""));
    let text = fs::read_to_string(event.path("event.toml")).unwrap();
    // It answers nothing at all.
    event.write("event.toml", &text.replacen(&format!("{:?}", instant()), "\"/bin/true\"", 1));
    let mut forfeits = 0;
    let told = loop {
        let (code, told) = event.ask(&["event", "run", "--quiet"]);
        if code == 0 {
            break told;
        }
        assert!(code == 4 && forfeits < 4, "{told}");
        let open = event.ask(&["event", "status"]).1;
        let game = open.lines().find_map(|line| line.strip_prefix("under way: ")).unwrap();
        let id = game.split(',').next().unwrap();
        let words = ["event", "forfeit", id, "--loser", "E1", "--reason", "does not start"];
        let (code, told) = event.ask(&words);
        assert_eq!(code, 0, "{told}");
        forfeits += 1;
    };
    assert!(told.ends_with("E2 wins\n"), "{told}");
    assert_eq!(forfeits, 4);
    assert_eq!(event.ask(&["event", "verify"]).0, 0);
}

/// Two engines of which White always loses are never told apart: the run pauses, and the next one goes on.
fn an_endless_tie_pauses() {
    let playoff = "playoff = { spots = 1 }";
    let event = event_with(&[2, 2], 0, &stage("Playoff", playoff, ""));
    for _ in 0..2 {
        let (code, told) = event.ask(&["event", "run", "--quiet"]);
        assert!(code == 4 && told.contains("25 more pairs"), "{told}");
    }
    assert_eq!(event.finished().len(), 102);
    assert_eq!(event.ask(&["event", "verify"]).0, 0);
}

/// The engines of an event are told moves only: a book of positions is refused before there is a file that names it.
fn a_book_that_no_stage_can_use_is_refused_by_new_as_by_plan() {
    let event = event_with(&[4, 4], 0, &stage("Match", "match = { pairs = 1 }", ""));
    for name in ["one", "two"] {
        fs::create_dir_all(event.path("all").join(name)).unwrap();
        fs::copy(shipped("elf").join("engine"), event.path("all").join(name).join("engine"))
            .unwrap();
    }
    event.write("book.epd", "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -\n");
    let words = ["event", "new", "--entries", "all", "--book", "book.epd", "new.toml"];
    let (code, told) = event.ask(&words);
    let why = "book.epd, opening 1 is a position and no list of moves";
    assert!(code == 2 && told.contains(why) && !event.path("new.toml").exists(), "{told}");
    // The same words as those of `event plan`.
    let text = fs::read_to_string(event.path("event.toml")).unwrap();
    event.write("other.toml", &text.replace("book.txt", "book.epd"));
    let (code, told) = event.ask(&["event", "plan", "other.toml"]);
    assert!(code == 1 && told.contains(why), "{told}");
}

/// Each message names the next step.
fn an_event_whose_files_are_gone_is_told_where_they_are() {
    let event = event_with(&[4, 4], 0, &stage("Match", "match = { pairs = 1, then = [] }", ""));
    let text = fs::read_to_string(event.path("event.toml")).unwrap();
    let lost = text.replacen("[[stage]]", "[[entry]]\nname = \"C\"\npath = \"none\"\n[[stage]]", 1);
    event.write("gone.toml", &lost);
    let (code, told) = event.ask(&["event", "plan", "gone.toml"]);
    let next = "put it there, or write here where it lies";
    assert!(code == 2 && told.contains("there is no entry at ") && told.contains(next), "{told}");
    // The file of the event itself is in its journal.
    event.ask(&["event", "run", "--quiet"]);
    fs::remove_file(event.path("event.toml")).unwrap();
    for words in [["event", "status"], ["event", "run"], ["event", "plan"]] {
        let (code, told) = event.ask(&words);
        let next = "`gate4k event export settings event.toml > event.toml` writes it anew";
        assert!(code == 3 && told.contains(next), "{told}");
    }
    event.write("event.toml", "");
    let (code, settings) = event.ask(&["event", "export", "settings", "event.toml"]);
    assert_eq!((code, settings), (0, text));
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick a_book_that_no_stage_can_use_is_refused_by_new_as_by_plan,
        quick an_event_whose_files_are_gone_is_told_where_they_are,
        slow a_game_under_way_of_an_engine_that_is_out_is_played_to_its_end,
        slow an_entry_plays_beside_trusted_engines_and_both_are_frozen [Landlock],
        slow a_file_of_a_trusted_engine_that_is_replaced_in_a_run_stops_the_event,
        slow engines_of_another_file_play_and_are_frozen_with_it,
        slow what_cannot_be_played_is_refused_with_a_word,
        slow who_crashes_too_often_is_out_and_the_rest_play_on,
        slow a_tie_beside_an_engine_that_is_disqualified_stands_on_the_page,
        slow a_crash_is_told_with_its_game_and_a_fix_only_before_a_later_stage,
        slow nobody_wins_where_all_are_disqualified,
        slow an_engine_that_is_gone_in_the_middle_loses_nothing,
        slow games_of_an_engine_that_does_not_start_are_forfeited_one_by_one,
        slow an_endless_tie_pauses,
    ]
}
