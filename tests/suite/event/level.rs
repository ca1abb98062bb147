//! Engines that nothing tells apart: places that are shared, and ties that are played on without an end.

use super::instants::{event_with, order, stage};

use crate::trials::Test;

/// White loses every game of these, so that each pair of games is level.
const LEVEL: &[usize] = &[4, 4, 4, 4];

/// Swiss rule 3.5: engines that every tie-break leaves tied share the place, the first one too.
fn a_shared_first_place_ends_a_swiss_and_is_not_guessed_by_the_next_event() {
    let swiss = "swiss = { rounds = 2, pairing = \"monrad\" }";
    let ties = "ties = [\"wins\", \"shared\"]";
    let event = event_with(LEVEL, 0, &stage("Swiss", swiss, ties));
    let text = event.finish();
    let all = "E1, E2, E3 and E4 share the first place";
    assert!(text.ends_with(&format!("Swiss is over: {all}\nOther is over: {all}\n")), "{text}");
    let outcome = &event.records("stage-finished")[0];
    assert_eq!(outcome["shared"], serde_json::json!([["E1", "E2", "E3", "E4"]]));
    assert_eq!(
        event.records("event-finished")[0],
        serde_json::json!({ "winner": "E1", "shared": ["E2", "E3", "E4"] })
    );
    let (code, status) = event.ask(&["event", "status"]);
    assert!(code == 0 && status.contains(&format!("over: {all}")), "{status}");
    let (code, json) = event.ask(&["event", "status", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, &json["winners"]), (0, &serde_json::json!(["E1", "E2", "E3", "E4"])));
    assert_eq!(json["winner"], "E1");

    let text = std::fs::read_to_string(event.path("event.toml")).unwrap();
    let (head, _) = text.split_once("[[stage]]").unwrap();
    let next = |from: &str, draw: &str| {
        let more = format!("from = \"event.journal:{from}\"\nties = \"frd\"\n{draw}");
        event.write(
            "next.toml",
            &(head.to_owned() + &stage("League", "round-robin = { doubles = 1 }", &more)),
        );
        event.ask(&["event", "plan", "next.toml"])
    };
    let shared = "E1, E2, E3 and E4 share the places 1 to 4 of Swiss";
    for (from, draw) in [("1..4", ""), ("1..2", ""), ("1..2", "draw = \"alphabetical\"\n")] {
        let (code, told) = next(from, draw);
        assert!(code == 2 && told.contains(shared), "{from} {draw}: {told}");
    }
    for (draw, right) in [("\"alphabetical\"", 0), ("\"seeds\"", 0), ("\"ranking\"", 2)] {
        let (code, told) = next("1..4", &format!("draw = {draw}\n"));
        assert_eq!(code, right, "{draw}: {told}");
    }
}

/// Where a later stage takes some of them, only the organisers can tell which.
fn a_shared_place_across_the_last_that_goes_on_waits_for_the_organisers() {
    let swiss = stage(
        "Swiss",
        "swiss = { rounds = 2, pairing = \"monrad\" }",
        "ties = [\"wins\", \"shared\"]\npromote = 2",
    );
    let last = stage("Final", "match = { pairs = 1, then = [] }", "ties = [\"wins\", \"shared\"]");
    let event = event_with(LEVEL, 0, &(swiss + &last));
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 4 && told.contains("E1, E2, E3 and E4 are tied"), "{told}");
    assert!(!told.contains("3.1.7"), "{told}");
    let (code, told) =
        event.ask(&["event", "decide", "--order", "E3,E2,E1,E4", "--reason", "a lot"]);
    assert_eq!(code, 0, "{told}");
    let text = event.finish();
    assert!(text.contains("Final begins: E3, E2"), "{text}");
    // The match of one pair is level, and nothing follows from it.
    assert!(text.ends_with("Other is over: E3 and E2 share the first place\n"), "{text}");
}

/// Two engines that play the same games again and again.
fn an_endless_tie_is_ended_by_the_organisers() {
    let endless = "then = [{ pairs = 1, until = \"decisive\" }]";
    let formats = [
        (format!("match = {{ pairs = 1, {endless} }}"), ""),
        ("pairs = 1".to_owned(), "ties = \"4k\"\n"),
        ("knockout = { pairs = [1] }".to_owned(), ""),
        ("playoff = { spots = 1 }".to_owned(), ""),
    ];
    for (format, more) in formats {
        let event = event_with(&LEVEL[..2], 0, &stage("Match", &format, more));
        let (code, told) =
            event.ask(&["event", "decide", "--order", "E2,E1", "--reason", "too early"]);
        assert_eq!(code, 3, "{format}: {told}");
        let (code, told) = event.ask(&["event", "run", "--quiet"]);
        assert!(code == 4 && told.contains("still level after 25 more pairs"), "{format}: {told}");
        let names = ["E1,E2", "E2,E1"];
        let next = names.map(|names| format!("event decide event.toml --order {names} --reason"));
        assert!(next.iter().any(|next| told.contains(next)), "{format}: {told}");
        let (_, status) = event.ask(&["event", "status"]);
        assert!(status.contains("--reason …` can end it"), "{format}: {status}");
        let decide = ["event", "decide", "--order", "E2,E1", "--reason", "a coin"];
        let (code, told) = event.ask(&decide);
        assert_eq!(code, 0, "{format}: {told}");
        let text = event.finish();
        assert!(text.ends_with("Other is over: E2 wins\n"), "{format}: {text}");
        assert_eq!(order(&event, 0), ["E2", "E1"], "{format}");
        assert_eq!(event.finished().len(), 52, "{format}");
        let (code, told) = event.ask(&decide);
        assert!(code == 2 && told.contains("no tie"), "{format}: {told}");
    }
}

/// The results are others then, although they may leave the same engines tied.
fn a_tie_is_decided_anew_after_a_game_was_played_again() {
    let event = event_with(
        &LEVEL[..2],
        0,
        &stage("Div", "round-robin = { doubles = 1 }", "ties = \"s17\""),
    );
    let tied = |words: &str| {
        let (code, told) = event.ask(&["event", "run", "--quiet"]);
        assert!(code == 4 && told.contains("are tied"), "{words}: {told}");
    };
    tied("at first");
    let (code, told) = event.ask(&["event", "decide", "--order", "E2,E1", "--reason", "a coin"]);
    assert_eq!(code, 0, "{told}");
    assert!(event.finish().ends_with("Other is over: E2 wins\n"));
    let (code, told) = event.ask(&["event", "replay", "1.1", "--reason", "a lamp"]);
    assert!(code == 0 && told.contains("Div is open again"), "{told}");
    tied("after a game was played again");
    let (code, told) = event.ask(&["event", "annul", "2.1", "--reason", "a lamp"]);
    assert_eq!(code, 0, "{told}");
    // One game is left, which E2 has won.
    let text = event.finish();
    assert!(text.ends_with("Other is over: E2 wins\n"), "{text}");
}

/// The reason for the pause rests on a game that is played again, and a text of people begins no line of its own.
fn a_game_that_is_struck_out_takes_the_reason_for_a_pause_with_it() {
    let event = event_with(&LEVEL[..2], 0, &stage("Match", "playoff = { spots = 1 }", ""));
    assert_eq!(event.ask(&["event", "run", "--quiet"]).0, 4);
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains("paused: Match is still level"), "{status}");
    let (code, told) = event.ask(&["event", "replay", "52.1", "--reason", "a\nb"]);
    assert!(code == 2 && told.contains("write the reason in one line"), "{told}");
    let (code, told) = event.ask(&["event", "replay", "52.1", "--reason", "::error::x"]);
    assert_eq!(code, 0, "{told}");
    assert!(!told.lines().any(|line| line.starts_with("::")), "{told}");
    let (_, status) = event.ask(&["event", "status"]);
    assert!(!status.contains("still level") && status.contains("no runner is at work"), "{status}");
    // Nobody reads the wish for a pause.
    let (code, told) = event.ask(&["event", "pause"]);
    assert!(code == 2 && told.contains("no runner is at work"), "{told}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_tie_is_decided_anew_after_a_game_was_played_again,
        slow a_game_that_is_struck_out_takes_the_reason_for_a_pause_with_it,
        slow a_shared_first_place_ends_a_swiss_and_is_not_guessed_by_the_next_event,
        slow a_shared_place_across_the_last_that_goes_on_waits_for_the_organisers,
        slow an_endless_tie_is_ended_by_the_organisers,
    ]
}
