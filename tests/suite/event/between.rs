//! The organisers' powers while an event goes on, and when it is too late: a game is struck out, an engine is fixed,
//! one crashes too often.

use std::fs;
use std::time::{Duration, Instant};

use super::instants::{engine, event, event_of, event_with, order, stage};
use super::table::Event;

use crate::match_::engine::instant;
use crate::trials::Test;

/// A played event's journal, cut off before the first line that is such, as a runner leaves it that was killed.
fn cut_before(event: &Event, whole: &str, is_such: impl Fn(&str) -> bool) {
    let lines: Vec<&str> = whole.lines().take_while(|line| !is_such(line)).collect();
    assert!(lines.len() < whole.lines().count(), "no line is such");
    event.write("event.journal", &(lines.join("\n") + "\n"));
}

/// A journal of a whole event, from before a pause for fixes on to its end.
fn played_past_the_fixes(event: &Event, pause: &str) -> String {
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 4 && told.contains(pause), "{told}");
    played(event)
}

fn played(event: &Event) -> String {
    event.finish();
    fs::read_to_string(event.path("event.journal")).unwrap()
}

/// Matches 1 and 2 are the semifinals: neither follows from the other, the final does from both.
fn a_game_of_a_match_is_struck_out_until_a_match_that_follows_from_it_begins() {
    let format = "knockout = { bracket = \"equal-distance\", pairs = [2], early = true }";
    let event = event_of(4, "concurrency = 1\n", &stage("Cup", format, ""));
    let text = fs::read_to_string(event.path("event.toml")).unwrap();
    event.write("event.toml", &text.replacen("concurrency = 2\n", "", 1));
    let whole = played(&event);
    let is_final = |line: &str| line.contains("\"game-started\"") && line.contains("\"round\":3");
    cut_before(&event, &whole, is_final);
    assert_eq!(event.finished().len(), 6);
    // Match 2 is over, and match 1 is not concerned.
    let (code, told) = event.ask(&["event", "annul", "Cup 1.1", "--reason", "a power cut"]);
    assert_eq!(code, 0, "{told}");
    let (code, told) = event.ask(&["event", "replay", "Cup 1.2", "--reason", "a power cut"]);
    assert_eq!(code, 0, "{told}");
    event.ask(&["event", "run", "--quiet"]);
    assert_eq!(event.ask(&["event", "verify"]).0, 0);
    assert_eq!(order(&event, 0)[..2], ["E1", "E2"]);
    // The second game was played again, and with the third the match is decided without the first.
    let games = event.records("game-finished");
    let of_first = games.iter().filter(|game| game["round"] == 1).count();
    assert_eq!(of_first, 4);

    let began = whole.lines().position(is_final).unwrap();
    let lines: Vec<&str> = whole.lines().take(began + 1).collect();
    event.write("event.journal", &(lines.join("\n") + "\n"));
    for game in ["Cup 1.1", "Cup 2.3"] {
        let (code, told) = event.ask(&["event", "annul", game, "--reason", "x"]);
        assert!(code == 2 && told.contains("game 3.1, which was played"), "{told}");
    }
    let (code, told) = event.ask(&["event", "replay", "Cup 3.1", "--reason", "x"]);
    assert_eq!(code, 0, "{told}");
    event.finish();
}

/// E1 crashes in each game of its league, and goes on with all others: of leagues beside each other it is not the one
/// that ended last.
fn a_fix_is_taken_before_the_stage_that_it_is_for_and_within_none() {
    let engines: String = [&["crash@10"][..], &["illegal@40"], &["illegal@36"], &["illegal@32"]]
        .iter()
        .zip(1..)
        .map(|(arguments, number)| engine(number, arguments))
        .collect();
    let league = |name: &str, engines: &str| {
        let more = format!("ties = \"s17\"\nengines = [{engines}]");
        stage(name, "round-robin = { doubles = 1 }", &more)
    };
    let stages = league("League A", "\"E1\", \"E2\"")
        + &league("League B", "\"E3\", \"E4\"")
        + &stage(
            "Final League",
            "round-robin = { doubles = 1 }",
            "from = [\"League A:1..2\", \"League B:1..2\"]\nties = \"s17\"\npromote = 1",
        );
    let engines = engines.replacen(&format!("{:?}", instant()), "\"own\"", 1);
    let event = event(&engines, "", &stages);
    fs::copy(instant(), event.path("own")).unwrap();
    // League B begins, in which E1 does not play.
    let whole = played_past_the_fixes(&event, "paused before Final League: E1 crashed more than");
    let before = fs::read(event.path("own")).unwrap();
    let fixed = [&before[..], &[0]].concat();
    fs::remove_file(event.path("own")).unwrap();
    fs::write(event.path("own"), &fixed).unwrap();
    fs::set_permissions(event.path("own"), fs::metadata(instant()).unwrap().permissions()).unwrap();
    let fix = |name: &str| event.ask(&["event", "fix", name, "--reason", "no crash any more"]);
    // The final league is under way, though none of its games is at this moment.
    let begins = |line: &str, stage: usize| {
        line.contains("\"game-started\"") && line.contains(&format!("\"stage\":{stage}"))
    };
    cut_before(&event, &whole, |line| begins(line, 2));
    let (code, told) = fix("E1");
    assert!(code == 2 && told.contains("plays in Final League, which is not over"), "{told}");
    // It is over, and nothing is to come.
    event.write("event.journal", &whole);
    let (code, told) = fix("E1");
    assert!(
        code == 2 && told.contains("has not been promoted to a stage that is to come"),
        "{told}"
    );
    // In the middle of its league.
    let mut games = 0;
    let ended: Vec<&str> = whole
        .lines()
        .take_while(|line| {
            games += usize::from(line.contains("\"game-finished\""));
            games < 2 || !line.contains("\"stage-finished\"")
        })
        .collect();
    event.write("event.journal", &(ended.join("\n") + "\n"));
    let (code, told) = fix("E1");
    assert!(code == 2 && told.contains("plays in League A"), "{told}");
    // Both leagues are over, its own before the other.
    let is_final = |line: &str| line.contains("\"stage-started\"") && line.contains("Final");
    cut_before(&event, &whole, is_final);
    assert_eq!(event.records("stage-finished").len(), 2);
    let (code, told) = fix("E2");
    assert!(code == 2 && told.contains("never crashed"), "{told}");
    let (code, told) = fix("E1");
    assert_eq!(code, 0, "{told}");
    assert_eq!(event.records("fix")[0]["crashes"], 2);
    event.finish();
}

/// A crash costs its game in the cup, and the league in the league.
fn crashes_disqualify_in_round_robins_and_are_losses_elsewhere() {
    let engines: String = [&["crash@10"][..], &["illegal@40"], &["illegal@36"], &["illegal@32"]]
        .iter()
        .zip(1..)
        .map(|(arguments, number)| engine(number, arguments))
        .collect();
    let cup = "knockout = { pairs = [1], early = true }";
    let stages = stage("Cup", cup, "promote = 4")
        + &stage("League", "round-robin = { doubles = 1 }", "ties = \"s17\"\npromote = 2")
        + &stage("Final", "match = { pairs = 1 }", "");
    let event = event(&engines, "crash-limit = 2\n", &stages);
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 4 && told.contains("paused before League: E1 crashed"), "{told}");
    let told = event.finish();
    assert!(told.contains("E2 wins"), "{told}");
    // E1 lost its match by crashes, and played the league until it had crashed twice there.
    assert_eq!(order(&event, 0)[..2], ["E2", "E3"]);
    assert_eq!(order(&event, 1), ["E2", "E3", "E4", "E1"]);
    let games = event.finished();
    let of = |stage: u64| {
        let own = games.values().filter(|game| game["stage"] == stage);
        own.filter(|game| game["white"] == "E1" || game["black"] == "E1").count()
    };
    assert_eq!(of(0), 2);
    assert!((2..6).contains(&of(1)), "{}", of(1));
}

fn a_crash_limit_of_a_stage_says_why_it_cannot_be_kept() {
    for (format, why) in [
        ("swiss = { rounds = 2, pairing = \"monrad\" }", "later rounds of a Swiss were paired by"),
        ("knockout = { pairs = [1] }", "does not bring them back"),
        ("playoff = { spots = 1 }", "who is left in a playoff follows from"),
    ] {
        let more = "terms = { crash-limit = 3 }\nties = \"s17\"";
        let event = event_of(4, "", &stage("S", format, more));
        let (code, told) = event.ask(&["event", "run", "--quiet"]);
        assert!(code == 2 && told.contains(why) && told.contains("event.toml:"), "{told}");
        assert!(!event.path("event.journal").exists());
    }
    let more = "terms = { crash-limit = 3 }\nties = \"s17\"";
    let event = event_of(3, "", &stage("S", "round-robin = { doubles = 1 }", more));
    assert_eq!(event.ask(&["event", "plan"]).0, 0);
}

/// Somebody may update an engine before the next stage, whoever ended the runner.
fn a_run_pauses_before_a_stage_with_updates_also_after_a_kill() {
    let stages = stage("League", "round-robin = { doubles = 1 }", "ties = \"s17\"\npromote = 2")
        + &stage("Final", "match = { pairs = 1 }", "updates = true");
    let event = event_of(3, "", &stages);
    let pauses = |words: &str| {
        let (code, told) = event.ask(&["event", "run", "--quiet"]);
        assert!(code == 4 && told.contains("paused before Final"), "{words}: {told}");
    };
    pauses("at first");
    let whole = fs::read_to_string(event.path("event.journal")).unwrap();
    cut_before(&event, &whole, |line| line.contains("\"record\":{\"paused\""));
    assert_eq!(event.records("stage-finished").len(), 1);
    pauses("after the kill");
    event.finish();
}

/// Rule 6.3 of the 4k rules: whoever runs the event hears of it while a fix is still taken, and nobody has to fix anything.
fn a_run_pauses_once_before_a_stage_whose_engine_may_be_fixed() {
    let engines = engine(1, &["crash@10"]).replace(&format!("{:?}", instant()), "\"own\"")
        + &engine(2, &["illegal@20"]);
    let of = |name| stage(name, "round-robin = { doubles = 1 }", "ties = \"s17\"\npromote = 2");
    let event = event(&engines, "", &(of("League") + &of("Middle") + &of("Final")));
    fs::copy(instant(), event.path("own")).unwrap();
    let run = || event.ask(&["event", "run", "--quiet"]);
    let paused = |stage: &str| {
        let (code, told) = run();
        let words = format!(
            "paused before {stage}: E1 crashed more than once, yet plays in it, and may be fixed now (rule 6.3 of the 4k rules): \
             `gate4k event fix E1 event.toml --reason …` takes the fix"
        );
        assert!(code == 4 && told.contains(&words), "{told}");
    };
    paused("Middle");
    assert_eq!(event.records("stage-started").len(), 1);
    let (_, status) = event.ask(&["event", "status"]);
    let why = "paused: engines that crashed more than once may be fixed before Middle";
    assert!(status.contains(why), "{status}");
    // Nobody fixed it, and it crashes again.
    paused("Final");
    assert_eq!(event.records("stage-started").len(), 2);
    let program = fs::read(event.path("own")).unwrap();
    fs::write(event.path("own"), [&program[..], &[0]].concat()).unwrap();
    let (code, told) = event.ask(&["event", "fix", "E1", "--reason", "no crash any more"]);
    assert_eq!(code, 0, "{told}");
    event.finish();
    let whole = fs::read_to_string(event.path("event.journal")).unwrap();
    // A runner was ended between the stage's end and the pause, and the engine was fixed then.
    let lines: Vec<&str> = whole.lines().collect();
    let last = lines.iter().rposition(|line| line.contains("\"record\":{\"paused\"")).unwrap();
    fs::write(event.path("own"), &program).unwrap();
    event.write("event.journal", &(lines[..last].join("\n") + "\n"));
    fs::write(event.path("own"), [&program[..], &[0]].concat()).unwrap();
    let (code, told) = event.ask(&["event", "fix", "E1", "--reason", "no crash any more"]);
    assert_eq!(code, 0, "{told}");
    event.finish();
}

/// The organisers asked for a pause to decide something before the next stage.
fn a_pause_in_the_last_games_of_a_stage_lets_the_stage_end_and_begins_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let event = super::instants::held_match(1, &go);
    let text = fs::read_to_string(event.path("event.toml")).unwrap();
    let second = text[text.find("[[stage]]").unwrap()..].replace("Match", "Again");
    event.write("event.toml", &(text + "promote = 2\n" + &second + "promote = 1\n"));
    let mut runner = event.start();
    let deadline = Instant::now() + Duration::from_secs(300);
    while event.records("game-started").len() < 2 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let (code, told) = event.ask(&["event", "pause"]);
    assert_eq!(code, 0, "{told}");
    fs::write(&go, "").unwrap();
    assert_eq!(runner.wait().unwrap().code(), Some(4));
    assert_eq!(event.records("stage-finished").len(), 1);
    assert_eq!(event.records("stage-started").len(), 1);
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains("paused: it was asked to stop"), "{status}");
    event.finish();
}

/// A runner was ended between the last move of a game and the record of its end.
fn a_game_that_had_ended_on_the_board_is_not_forfeited() {
    let ties = "ties = [\"wins\", \"shared\"]";
    let stages = stage("League", "round-robin = { doubles = 4 }", ties);
    let event = event_with(&[1000; 3], 7, &stages);
    let whole = played(&event);
    let is_mate = |line: &str| line.contains("\"game-finished\"") && line.contains("\"mate\"");
    let game = whole.lines().find(|line| is_mate(line));
    let game = game.unwrap_or_else(|| panic!("no game ends with mate"));
    let game = &serde_json::from_str::<serde_json::Value>(game).unwrap()["record"]["game-finished"];
    cut_before(&event, &whole, is_mate);
    let [id, white, black] = ["id", "white", "black"].map(|key| game[key].as_str().unwrap());
    let winner = if game["result"] == "1-0" { white } else { black };
    let words = ["event", "forfeit", id, "--loser", winner, "--reason", "does not start"];
    let (code, told) = event.ask(&words);
    assert!(code == 2 && told.contains("had ended on the board"), "{told}");
    event.finish();
    assert_eq!(event.finished()[id]["result"], game["result"]);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_run_pauses_before_a_stage_with_updates_also_after_a_kill,
        slow a_run_pauses_once_before_a_stage_whose_engine_may_be_fixed,
        slow a_pause_in_the_last_games_of_a_stage_lets_the_stage_end_and_begins_no_other,
        slow a_game_that_had_ended_on_the_board_is_not_forfeited,
        slow a_game_of_a_match_is_struck_out_until_a_match_that_follows_from_it_begins,
        slow a_fix_is_taken_before_the_stage_that_it_is_for_and_within_none,
        slow crashes_disqualify_in_round_robins_and_are_losses_elsewhere,
        slow a_crash_limit_of_a_stage_says_why_it_cannot_be_kept,
    ]
}
