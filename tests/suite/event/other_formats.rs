//! Events of the other formats, played whole, each killed and gone on with.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::instants::{event_of, event_with, order, play_killed, rounds, stage};
use super::table::Event;

use crate::trials::Test;

/// Seeds of events in which two random movers are level first, and told apart later.
const CUP: usize = 0;
const NTCEC: usize = 600;
const DIVISIONS: usize = 1100;
const MATCH: usize = 200;

/// Asserts that nobody meets twice in a Swiss of double rounds with so many pairs.
fn meetings_differ(games: &std::collections::BTreeMap<String, Value>, pairs: usize) {
    let both = |game: &Value| {
        let mut both = ["white", "black"].map(|side| game[side].as_str().unwrap().to_owned());
        both.sort();
        both
    };
    let meetings: BTreeSet<[String; 2]> = games.values().map(both).collect();
    assert_eq!(meetings.len(), pairs);
}

fn a_swiss_of_eight_is_played_killed_and_verified() {
    let format = "swiss = { rounds = 4, pairing = \"monrad\", sections = 2 }";
    let event = event_of(8, "", &stage("Swiss", format, "ties = \"swiss\""));
    let games = play_killed(&event, "a Swiss of eight is killed");
    assert_eq!(rounds(&games, 0), (1..=4).map(|round| (round, 8)).collect());
    assert_eq!(event.records("bye").len(), 0);
    meetings_differ(&games, 16);
    assert_eq!(order(&event, 0)[0], "E1");
    // Two sections: seeds 1 and 2 are the first of each, and the worst pair plays first.
    let first = games.values().find(|game| game["round"] == 1 && game["game"] == 1).unwrap();
    assert_eq!((first["white"].as_str(), first["black"].as_str()), (Some("E8"), Some("E4")));
}

fn a_swiss_with_byes_is_played_killed_and_verified() {
    let format = "swiss = { rounds = 4, pairing = \"monrad\", sections = 2 }";
    let event =
        event_with(&[32, 28, 24, 20, 16, 12, 8], 10, &stage("Swiss", format, "ties = \"swiss\""));
    let games = play_killed(&event, "a Swiss with byes is killed");
    assert_eq!(rounds(&games, 0), (1..=4).map(|round| (round, 6)).collect());
    let byes = event.records("bye");
    let engines: BTreeSet<&str> = byes.iter().map(|bye| bye["engine"].as_str().unwrap()).collect();
    assert_eq!((byes.len(), engines.len()), (4, 4), "{byes:?}");
    meetings_differ(&games, 12);
    // A bye counts as two won games in every table.
    let total = |table: &str| {
        let table: Value = serde_json::from_str(table).unwrap();
        let rows = table["rows"].as_array().unwrap();
        rows.iter().map(|row| row["points"].as_f64().unwrap()).sum::<f64>()
    };
    let (code, table) = event.ask(&["standings", "event.journal", "--format", "json"]);
    assert_eq!(code, 0, "{table}");
    assert!((total(&table) - 32.0).abs() < 0.1, "{table}");
}

/// The moves of each game's opening, with the match that it belongs to.
fn openings(games: &std::collections::BTreeMap<String, Value>) -> BTreeSet<(u64, String)> {
    let opening = |game: &Value| {
        let opening = game["moves"].as_str().unwrap().split(' ').take(2).collect();
        (game["round"].as_u64().unwrap(), opening)
    };
    games.values().map(opening).collect()
}

fn a_cup_is_played_killed_and_verified() {
    let format =
        "knockout = { bracket = \"equal-distance\", pairs = [1, 2], bronze = 1, early = true }";
    let event = event_of(8, "", &stage("Cup", format, ""));
    let games = play_killed(&event, "a cup is killed");
    // Each match ends as soon as it is decided: at 2-0 of one pair, at 3-0 of two.
    let lengths: Vec<usize> = rounds(&games, 0).into_values().collect();
    assert_eq!(lengths, [2, 2, 2, 2, 3, 3, 2, 3]);
    assert_eq!(order(&event, 0)[..3], ["E1", "E2", "E3"]);
    // No two matches have the same openings.
    let openings = openings(&games);
    let distinct: BTreeSet<&String> = openings.iter().map(|(_, opening)| opening).collect();
    assert_eq!(openings.len(), distinct.len());
}

/// A tie is played on by pairs, and only there: E1 and E2 are equally strong and meet in the final.
fn an_older_cup_with_free_places_and_a_tie_is_played_killed_and_verified() {
    let format =
        "knockout = { bracket = \"equal-distance\", pairs = [2], bronze = 2, early = true }";
    let event = event_with(&[67, 67, 20, 16, 12, 8], CUP, &stage("Cup", format, ""));
    let games = play_killed(&event, "an older cup is killed");
    let lengths: Vec<usize> = rounds(&games, 0).into_values().collect();
    // Two of eight places are free; the match for the third place comes before the final.
    assert_eq!(lengths[..5], [3, 3, 3, 3, 3], "{lengths:?}");
    assert_eq!(lengths.len(), 6);
    assert!(lengths[5] > 4, "{lengths:?}");
    assert_eq!(order(&event, 0)[2..4], ["E3", "E4"]);
}

/// A season of nTCEC in the small: a Dutch Swiss, two groups of its places, a final group, a match with what follows a
/// tie.
fn a_season_of_ntcec_is_played_killed_and_verified() {
    let group = |name: &str, from: &str| {
        let more =
            format!("from = [{from}]\nties = \"4k\"\nterms = {{ interruption = \"restart\" }}");
        stage(name, "round-robin = { doubles = 1, order = \"rotation\" }", &more)
    };
    const TIES: &str = "ties = [\"cumulative-opponents\", \"wins\", \"won-length\", \"lost-length\", \"organisers\"]";
    let dutch = "swiss = { rounds = 3, pairing = \"dutch\", order = \"worst-first\" }";
    let stages = stage("Stage 1", dutch, TIES)
        + &group("Stage 2a", "\"Stage 1:1,4,5\"")
        + &group("Stage 2b", "\"Stage 1:2,3,6\"")
        + &group("Stage 3", "\"Stage 2a:1..2\", \"Stage 2b:1\"")
        + &stage(
            "Superfinal",
            "match = { pairs = 2, then = [{ pairs = 2, until = \"decisive\" }] }",
            "from = \"Stage 3:1..2\"",
        );
    let event = event_with(&[67, 67, 36, 32, 28, 24, 20, 16, 12], NTCEC, &stages);
    let games = play_killed(&event, "a season of nTCEC is killed");
    assert_eq!(rounds(&games, 0), (1..=3).map(|round| (round, 4)).collect());
    assert_eq!(event.records("bye").len(), 3);
    let last = rounds(&games, 4).len();
    // It was level after its pairs, and further ones were played.
    assert!(last > 4 && last.is_multiple_of(4), "{last}");
    let mut first = order(&event, 4);
    first.sort();
    assert_eq!(first, ["E1", "E2"]);
}

fn leagues_feed_a_final_league_and_a_match() {
    let league = |name: &str, engines: &str| {
        let more = format!("ties = \"frd\"\nengines = [{engines}]");
        stage(name, "round-robin = { doubles = 1 }", &more)
    };
    let stages = league("League A", "\"E1\", \"E4\", \"E5\"")
        + &league("League B", "\"E2\", \"E3\", \"E6\"")
        + &stage(
            "Final League",
            "round-robin = { doubles = 1, order = \"rotation\" }",
            "from = [\"League A:1..2\", \"League B:1..2\"]\nties = [\"direct-encounter\", \"organisers\"]",
        )
        + &stage(
            "Final",
            "match = { pairs = 2, early = true, then = [{ pairs = 1, until = \"decisive\" }] }",
            "from = \"Final League:1..2\"\nseating = \"reversed-ranking\"",
        );
    let event = event_of(6, "", &stages);
    let games = play_killed(&event, "leagues are killed");
    assert_eq!(order(&event, 2), ["E1", "E2", "E3", "E4"]);
    assert_eq!(rounds(&games, 3).len(), 3);
    // The winner of the league has Black first.
    let first = games.values().find(|game| game["stage"] == 3 && game["round"] == 1).unwrap();
    assert_eq!(first["black"], "E1");
    let (code, table) = event.ask(&["standings", "event.journal", "--stage", "League B"]);
    assert!(code == 0 && table.contains("E6"), "{table}");
}

/// Two divisions and their final: of the lower one the first is promoted; the last of the upper one meets its second.
/// `last` are the plies of six engines, E1 to E3 of the upper division.
fn divisions(last: &[usize], spots: u32) -> Event {
    let round_robin = "round-robin = { doubles = 1 }";
    let playoff = format!("playoff = {{ doubles = 1, spots = {spots} }}");
    let stages = stage(
        "Division 2",
        round_robin,
        "engines = [\"E4\", \"E5\", \"E6\"]\nties = \"4k\"",
    ) + &stage(
        "Division 1",
        round_robin,
        "engines = [\"E1\", \"E3\", \"E2\"]\nfrom = \"Division 2:1..\"\nsize = 4\nties = \"4k\"\npromote = 4\n\
         terms = { time-control = \"30+0.2\", draw-rule = \"old\" }",
    ) + &stage("Tiebreak", &playoff, "from = \"Division 1:tied\"")
        + &stage(
            "Relegation",
            "match = { pairs = 1, early = true, then = [{ pairs = 1, until = \"decisive\" }] }",
            "from = [\"Division 1:4\", \"Division 2:2\"]",
        )
        + &stage(
            "Final",
            "match = { pairs = 2, then = [{ pairs = 1, until = \"decisive\" }] }",
            &format!("from = \"{}\"", if spots == 2 { "Tiebreak:1..2" } else { "Division 1:1..2" }),
        );
    event_with(last, DIVISIONS, &stages)
}

/// Two random movers are level behind a clear first: they play double round robins for the spot that is left.
fn divisions_with_a_conditional_tiebreak_are_played_killed_and_verified() {
    let event = divisions(&[90, 67, 67, 40, 20, 10], 2);
    let games = play_killed(&event, "divisions are killed");
    let begun = event.records("stage-started");
    assert_eq!(begun[1]["seats"], serde_json::json!(["E4", "E1", "E3", "E2"]));
    assert_eq!(begun[2]["through"], serde_json::json!(["E1"]));
    // The upper division has a clock of its own.
    let clocks: BTreeSet<(u64, String)> =
        clocks(&event, |started| started["stage"].as_u64().unwrap());
    let due = [(0, "20+0.1"), (1, "30+0.2"), (2, "20+0.1"), (3, "20+0.1"), (4, "20+0.1")];
    assert_eq!(clocks, due.map(|(stage, clock)| (stage, clock.to_owned())).into());
    let mut tied: Vec<&str> =
        begun[2]["seats"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    tied.sort_unstable();
    assert_eq!(tied, ["E2", "E3"]);
    let goes = rounds(&games, 2).len();
    assert!(goes > 2 && goes.is_multiple_of(2), "{goes}");
    let order_of_playoff = order(&event, 2);
    assert_eq!(order_of_playoff[0], "E1");
    assert_eq!(begun[4]["seats"], serde_json::json!(order_of_playoff[..2]));
    assert_eq!(begun[3]["seats"], serde_json::json!(["E4", "E5"]));
    let (code, status) = event.ask(&["event", "status"]);
    assert!(code == 0 && status.contains("Tiebreak: over"), "{status}");
}

/// The clocks of all games, each with what `of` says of its game.
fn clocks<K: Ord>(event: &Event, of: impl Fn(&Value) -> K) -> BTreeSet<(K, String)> {
    let started = event.records("game-started");
    let clock = |one: &Value| (of(one), one["time-control"].as_str().unwrap().to_owned());
    started.iter().map(clock).collect()
}

/// Where points tell who goes on, no game of the tiebreak is played.
fn a_conditional_tiebreak_is_left_out_where_no_place_is_tied() {
    let event = divisions(&[60, 50, 45, 40, 20, 10], 2);
    let told = event.finish();
    assert!(told.contains("Tiebreak is not needed: no place is tied for E1 and E2"), "{told}");
    assert_eq!(rounds(&event.finished(), 2).len(), 0);
    assert_eq!(order(&event, 2), ["E1", "E2"]);
    let (code, plan) = event.ask(&["event", "plan"]);
    assert!(code == 0 && plan.contains("only if places are tied"), "{plan}");
    let (code, table) = event.ask(&["standings", "event.journal"]);
    assert!(code == 0 && table.contains("E1"), "{table}");
    next_season(&event);
}

/// The order of a journal is that of its event: by the chain of its stage, and in a bracket by its matches. Beside the journal
/// alone lies nothing that its settings name.
fn standings_of_a_journal_have_the_order_of_its_event() {
    let cup =
        "knockout = { bracket = \"equal-distance\", pairs = [1, 2], bronze = 1, early = true }";
    let league = "ties = [\"wins-black\", \"shared\"]";
    for (engines, text) in [
        (8, stage("Cup", cup, "")),
        (3, stage("League", "round-robin = { doubles = 1 }", league)),
        (4, stage("Swiss", "swiss = { rounds = 2, pairing = \"monrad\" }", "ties = \"swiss\"")),
    ] {
        let event = event_of(engines, "", &text);
        event.finish();
        let (_, status) = event.ask(&["event", "status"]);
        fs::create_dir(event.path("alone")).unwrap();
        fs::copy(event.path("event.journal"), event.path("alone/x")).unwrap();
        for journal in ["event.journal", "alone/x"] {
            let (code, table) = event.ask(&["standings", journal]);
            assert!(code == 0 && status.contains(table.trim_end()), "{table}\n{status}");
        }
        let (code, told) = event.ask(&["standings", "event.journal", "--tiebreaks", "ntcec"]);
        let note = "ties are broken by --tiebreaks ntcec, not as in the event";
        assert!(code == 0 && told.contains(note), "{told}");
    }
}

/// The season after one: places of its journal begin where it left them, and the place of an engine that is not entered
/// again is vacant, so that more are promoted (leagues, rule 1.8).
fn next_season(event: &Event) {
    let text = fs::read_to_string(event.path("event.toml")).unwrap();
    let (head, _) = text.split_once("[[stage]]").unwrap();
    let without = |number: usize| {
        let (before, rest) = head.split_once(&format!("[[engine]]\nname = \"E{number}\"")).unwrap();
        before.to_owned() + &rest[rest.find("[[engine]]").unwrap_or(rest.len())..]
    };
    let round_robin = "round-robin = { doubles = 1 }";
    let lower =
        "from = [\"event.journal/Division 1:4\", \"event.journal/Division 2:2..3\"]\nties = \"4k\"";
    let upper = |size: &str| {
        let from = "from = [\"event.journal/Division 1:1..3\", \"Division 2:1..\"]";
        stage("Division 1", round_robin, &format!("{from}\n{size}ties = \"4k\"\npromote = 2"))
    };
    let stages = stage("Division 2", round_robin, lower) + &upper("size = 4\n");
    event.write("next.toml", &(without(3) + &stages));
    let (code, told) = event.ask(&["event", "run", "next.toml", "--quiet"]);
    assert!(code == 0 && told.ends_with("E1 and E2 go on\nOther is over: E1 wins\n"), "{told}");
    assert!(told.contains("Division 2 begins: E4, E5, E6"), "{told}");
    assert!(told.contains("Division 1 begins: E1, E2, E4, E5"), "{told}");
    let (code, told) = event.ask(&["event", "verify", "next.toml"]);
    assert_eq!(code, 0, "{told}");
    // Nobody is left out unsaid, and no place is taken twice.
    for (text, expected) in [
        (without(3) + &stages.replace("size = 4\n", ""), "no [[entry]] or [[engine]] is called so"),
        (without(3) + &stages.replace("size = 4", "size = 2"), "no place is left"),
        (
            head.to_owned() + &stages.replace("1:1..3", "1:1..4").replace("size = 4", "size = 5"),
            "E4 begins in a stage already",
        ),
        (
            without(3) + &stages.replace("event.journal/Division 1", "event.journal/X"),
            "has the stages Division 2",
        ),
        (
            without(3) + &stages.replace("event.journal/Division 1", "none.journal/Division 1"),
            "none.journal",
        ),
    ] {
        event.write("wrong.toml", &text);
        let (code, told) = event.ask(&["event", "plan", "wrong.toml"]);
        assert!(code == 2 && told.contains(expected), "{expected:?} is not in {told}");
    }
    // The journal of the last season is frozen, too.
    let journal = fs::read_to_string(event.path("event.journal")).unwrap();
    let table = event.ask(&["standings", "next.journal"]);
    let pgn = event.ask(&["event", "export", "pgn", "next.toml"]);
    fs::remove_file(event.path("event.journal")).unwrap();
    shown_without_the_last_season(event, &table, &pgn);
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert_eq!(code, 0, "{told}");
    let (_, told) = event.ask(&["event", "verify", "next.toml"]);
    assert!(told.contains("the journals of the events before are not those"), "{told}");
    let (code, told) = event.ask(&["event", "run", "next.toml", "--quiet"]);
    assert!(code == 2 && told.contains("event.journal changed since the event began"), "{told}");
    let cut = journal.trim_end().rfind('\n').unwrap() + 1;
    event.write("event.journal", &journal[..cut]);
    let (code, told) = event.ask(&["event", "plan", "next.toml"]);
    assert!(code == 2 && told.contains("is not over"), "{told}");
}

/// Looks at `next.toml` when the journal that its engines came from is gone: its own journal has all that is shown.
fn shown_without_the_last_season(event: &Event, table: &(i32, String), pgn: &(i32, String)) {
    assert_eq!(event.ask(&["standings", "next.journal"]), *table);
    assert_eq!(event.ask(&["event", "export", "pgn", "next.toml"]), *pgn);
    let (code, told) = event.ask(&["event", "export", "site", "site", "next.toml"]);
    assert_eq!(code, 0, "{told}");
    let (code, told) = event.ask(&["event", "status", "next.toml"]);
    assert!(code == 0 && told.contains("over: E1 wins"), "{told}");
    assert!(told.contains("there is no journal ") && told.contains("own journal"), "{told}");
    // Rulings need it, and so does an event that has not begun.
    let (code, told) = event.ask(&["event", "annul", "1.1", "--reason", "a test", "next.toml"]);
    assert!(code == 2 && told.contains("event.journal changed since"), "{told}");
    let text = fs::read_to_string(event.path("next.toml")).unwrap();
    event.write("later.toml", &text);
    for words in [["event", "status", "later.toml"], ["event", "plan", "later.toml"]] {
        let (code, told) = event.ask(&words);
        assert!(code == 2 && told.contains("put back the one of that event"), "{told}");
    }
}

fn a_match_goes_on_by_its_further_parts_while_it_is_level() {
    let format = "match = { pairs = 1, then = [{ pairs = 2, time-control = \"10+0.1\" }, \
         { pairs = 1, until = \"decisive\", time-control = \"9+0.1\" }] }";
    let event = event_with(&[67, 67], MATCH, &stage("Match", format, ""));
    let games = play_killed(&event, "a match is killed");
    let played = rounds(&games, 0).len();
    assert!(played > 6 && played.is_multiple_of(2), "{played}");
    let clocks = clocks(&event, |started| match started["round"].as_u64().unwrap() {
        1..=2 => 0,
        3..=6 => 1,
        _ => 2,
    });
    let due = [(0, "20+0.1"), (1, "10+0.1"), (2, "9+0.1")];
    assert_eq!(clocks, due.map(|(part, clock)| (part, clock.to_owned())).into());
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_swiss_of_eight_is_played_killed_and_verified,
        slow a_swiss_with_byes_is_played_killed_and_verified,
        slow a_cup_is_played_killed_and_verified,
        slow an_older_cup_with_free_places_and_a_tie_is_played_killed_and_verified,
        slow a_season_of_ntcec_is_played_killed_and_verified,
        slow leagues_feed_a_final_league_and_a_match,
        slow divisions_with_a_conditional_tiebreak_are_played_killed_and_verified,
        slow a_conditional_tiebreak_is_left_out_where_no_place_is_tied,
        slow standings_of_a_journal_have_the_order_of_its_event,
        slow a_match_goes_on_by_its_further_parts_while_it_is_level,
    ]
}
