//! The oddities of real seasons, each as a few made-up games: one cause is one difference, and nothing follows from it.

use std::fmt::Write as _;
use std::process::Command;

use serde_json::Value;

use crate::trials::Test;

/// A game of the stage `EVENT`: its Round tag, White, Black and result.
type Game = (&'static str, String, &'static str, &'static str, &'static str);

fn pgn(games: &[Game]) -> String {
    let mut text = String::new();
    for (event, round, white, black, result) in games {
        write!(
            text,
            "[Event \"E - {event}\"]\n[Round \"{round}\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n\
             [Result \"{result}\"]\n\n1. e4 {result}\n\n"
        )
        .unwrap();
    }
    text
}

/// The report of a replay of these games by an event file of these stages.
fn replayed(stages: &str, pgn: &str) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let (event, file) = (dir.path().join("e.toml"), dir.path().join("games.pgn"));
    std::fs::write(&event, format!("event = \"E\"\n{stages}")).unwrap();
    std::fs::write(&file, pgn).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["event", "replay-games", "--format", "json"])
        .args([&event, &file])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{told}"))
}

/// A stage's counts, as `pairs 3/3, …`, and its differences, as `kind at: expected; played`.
fn told(report: &Value, stage: usize) -> (String, Vec<String>) {
    let stage = &report["stages"][stage];
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let counts: Vec<String> = stage["counts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|count| format!("{} {}/{}", text(&count["kind"]), count["agree"], count["of"]))
        .collect();
    let differences = stage["differences"].as_array().unwrap().iter().map(|one| {
        let [kind, at, expected, played] =
            ["kind", "at", "expected", "played"].map(|key| text(&one[key]));
        format!("{kind} {at}: {expected}; {played}")
    });
    (counts.join(", "), differences.collect())
}

const CUP: &str = "[[stage]]\nname = \"Cup\"\ngames = [\"Quarterfinal\", \"Semifinal\", \"Bronze\", \"Final\"]\n\
                   format = { knockout = { bracket = \"equal-distance\", pairs = [1, 1, 2], bronze = 1 } }\n";

/// A cup of eight engines: the better letter wins its match by its first game, with Black.
fn cup() -> Vec<Game> {
    let mut games = Vec::new();
    for (event, tag, pairs) in [
        ("Quarterfinal", "1.1", vec![("b", "a"), ("d", "c"), ("f", "e"), ("h", "g")]),
        ("Semifinal", "1.1", vec![("c", "a"), ("g", "e")]),
        ("Bronze", "1", vec![("g", "c")]),
        ("Final", "1", vec![("e", "a"), ("e", "a")]),
    ] {
        for (white, black) in pairs {
            games.push((event, tag.to_owned(), white, black, "0-1"));
            games.push((event, tag.to_owned(), black, white, "1/2-1/2"));
        }
    }
    games
}

/// Cups 1 and 2: each match has the tags 1.1, 2.1 and so on, or `1` for all of its games.
fn games_that_share_a_tag_are_no_games_that_stand_twice() {
    let report = replayed(CUP, &pgn(&cup()));
    let (counts, differences) = told(&report, 0);
    assert_eq!(counts, "matches 8/8, colours 18/18, lengths 8/8, rounds 3/3");
    assert!(differences.is_empty(), "{differences:?}");
    assert_eq!(report["stages"][0]["games"], 18);
}

/// Cups 1, 9 and 16, and the match of season 1: colours that turn round stay so.
fn colours_that_turn_round_in_a_match_are_one_difference() {
    let mut games = cup();
    let is_second = |game: &Game| game.0 == "Semifinal" && [game.2, game.3].contains(&"g");
    for game in games.iter_mut().filter(|game| is_second(game)) {
        (game.2, game.3) = (game.3, game.2);
        game.4 = if game.4 == "0-1" { "1-0" } else { game.4 };
    }
    let (counts, differences) = told(&replayed(CUP, &pgn(&games)), 0);
    assert_eq!(counts, "matches 8/8, colours 17/18, lengths 8/8, rounds 3/3");
    assert_eq!(differences, ["colours match 6, game 1: g – e; e – g"]);
    let stage = "[[stage]]\nname = \"Match\"\nformat = { match = { pairs = 2 } }\n";
    let white = [("a", "b"), ("b", "a"), ("b", "a"), ("a", "b")];
    let games = white.map(|(white, black)| ("Match", "1".to_owned(), white, black, "1/2-1/2"));
    let (counts, differences) = told(&replayed(stage, &pgn(&games)), 0);
    assert_eq!(counts, "colours 3/4, lengths 1/1");
    assert_eq!(differences, ["colours game 3: a – b; b – a"]);
}

/// Cup 11: three matches of the first round are not in its file, and nothing behind them is in doubt.
fn matches_that_are_missing_are_told_and_the_bracket_stands() {
    let games = cup();
    let (counts, differences) = told(&replayed(CUP, &pgn(&games[2..])), 0);
    assert_eq!(counts, "matches 7/8, colours 16/16, lengths 7/7, rounds 3/3");
    assert_eq!(differences, ["matches match 1: ? – a; there are no games of it"]);
}

/// Cups 5 and 13: the file of the first round is not there, and later rounds have their own lengths.
fn a_cup_without_its_first_round_begins_with_the_second() {
    let games = cup();
    let report = replayed(CUP, &pgn(&games[8..]));
    let (counts, differences) = told(&report, 0);
    assert_eq!(counts, "matches 4/4, colours 10/10, lengths 4/4, rounds 2/2");
    assert!(differences.is_empty(), "{differences:?}");
    let notes = report["stages"][0]["notes"].to_string();
    assert!(notes.contains("there are no games of the first round\""), "{notes}");
}

const SINGLE: &str = "[[stage]]\nname = \"League\"\nformat = { round-robin = { cycles = 1 } }\n";
const DOUBLE: &str = "[[stage]]\nname = \"League\"\nformat = { round-robin = { doubles = 1 } }\n";

/// Games of these rounds, drawn; engines by digits.
fn league(rounds: &[&str]) -> Vec<Game> {
    const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
    let mut games = Vec::new();
    for (round, pairs) in (1..).zip(rounds) {
        for (game, pair) in (1..).zip(pairs.split(' ')) {
            let seat = |at: usize| NAMES[pair[at..=at].parse::<usize>().unwrap()];
            games.push(("League", format!("{round}.{game}"), seat(0), seat(1), "1/2-1/2"));
        }
    }
    games
}

const BERGER: [&str; 6] = ["03 12", "32 01", "13 20", "30 21", "23 10", "31 02"];

/// Stage 1 of nTCEC's seasons 6 to 9: everybody meets everybody once, and tags tell rounds alone.
fn a_single_round_robin_is_a_format_of_its_own() {
    let mut games = league(&BERGER[..3]);
    for (at, game) in games.iter_mut().enumerate() {
        game.1 = (at / 2 + 1).to_string();
    }
    let (counts, differences) = told(&replayed(SINGLE, &pgn(&games)), 0);
    assert_eq!(counts, "lengths 1/1, games 6/6, pairs 6/6, colours 6/6, rounds 3/3");
    assert!(differences.is_empty(), "{differences:?}");
    let (_, differences) = told(&replayed(DOUBLE, &pgn(&games)), 0);
    assert_eq!(differences, ["lengths the stage: 1 double round robin; 1 single round robin"]);
}

/// Season 12, division 1, where each reverse follows its game, and the rotation of the first seasons.
fn another_order_of_a_round_robin_is_one_difference() {
    let at_once = [
        "05 50 14", "41 23 32", "53 35 42", "24 01 10", "15 51 20", "02 34 43", "54 45 03",
        "30 12 21", "25 52 31", "13 40 04",
    ];
    let (counts, differences) = told(&replayed(DOUBLE, &pgn(&league(&at_once))), 0);
    assert!(counts.ends_with("games 15/15, colours 15/15"), "{counts}");
    assert_eq!(differences.len(), 1, "{differences:?}");
    assert!(differences[0].starts_with("pairs the stage: the order \"berger\"; another one;"));
    let rotation = [
        "05 14 23", "15 20 34", "25 31 40", "35 42 01", "45 03 12", "50 41 32", "51 02 43",
        "52 13 04", "53 24 10", "54 30 21",
    ];
    let (_, differences) = told(&replayed(DOUBLE, &pgn(&league(&rotation))), 0);
    assert_eq!(differences, ["pairs the stage: the order \"berger\"; the order \"rotation\""]);
}

/// Season 13, division 3: a game that was left out was made up for in another round, and tagged as if it were the
/// first of all.
fn a_game_that_was_made_up_for_is_one_difference() {
    let mut games = league(&BERGER);
    let mut late = games.remove(4);
    late.1 = "1.1".to_owned();
    games.insert(8, late);
    let (counts, differences) = told(&replayed(DOUBLE, &pgn(&games)), 0);
    assert_eq!(counts, "lengths 1/1, games 12/12, pairs 12/12, colours 12/12, rounds 6/7");
    assert_eq!(differences, ["rounds 3.1: b – d; at another time, tagged 1.1"]);
}

/// Tournament 4: games of a round that changed their places are other pairs of no round.
fn games_of_a_round_in_another_order_are_one_difference() {
    let mut games = league(&BERGER);
    games.swap(2, 3);
    (games[2].1, games[3].1) = ("2.1".to_owned(), "2.2".to_owned());
    let (counts, differences) = told(&replayed(DOUBLE, &pgn(&games)), 0);
    assert_eq!(counts, "lengths 1/1, games 12/12, pairs 12/12, colours 12/12, rounds 5/6");
    assert_eq!(differences.len(), 1, "{differences:?}");
    assert!(differences[0].starts_with("rounds round 2: d – c, a – b; a – b, d – c"));
}

/// Seasons 3 and 4: the end of a stage is not in its file, and an engine that left plays no more.
fn games_that_are_missing_for_one_cause_are_one_difference() {
    let games = league(&BERGER);
    let (counts, differences) = told(&replayed(DOUBLE, &pgn(&games[..9])), 0);
    assert!(counts.contains("games 9/12, pairs 9/9, colours 9/9"), "{counts}");
    assert_eq!(differences, ["games from 5.2 on: the last 3 games; there are no such games"]);
    let left: Vec<Game> = (0..)
        .zip(&games)
        .filter(|(at, game)| *at < 6 || game.2 != "d" && game.3 != "d")
        .map(|(_, game)| game.clone())
        .collect();
    let (counts, differences) = told(&replayed(DOUBLE, &pgn(&left)), 0);
    assert!(counts.contains("games 9/12, pairs 9/9, colours 9/9"), "{counts}");
    assert_eq!(differences, ["games from 4.1 on: 3 games of d; there are no such games"]);
}

/// The tiebreak of FRD 4 was of Chess960, which no line of its event file said.
fn a_stage_of_another_variant_is_one_difference() {
    let pgn = pgn(&league(&BERGER)).replace(
        "\n\n1. e4",
        "\n[Variant \"fischerandom\"]\n\
         [FEN \"bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1\"]\n\n1. e4",
    );
    let (counts, differences) = told(&replayed(DOUBLE, &pgn), 0);
    assert!(counts.ends_with("variants 0/12"), "{counts}");
    assert_eq!(differences, ["variants all 12 games: Standard; Chess960"]);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick games_that_share_a_tag_are_no_games_that_stand_twice,
        quick colours_that_turn_round_in_a_match_are_one_difference,
        quick matches_that_are_missing_are_told_and_the_bracket_stands,
        quick a_cup_without_its_first_round_begins_with_the_second,
        quick a_single_round_robin_is_a_format_of_its_own,
        quick another_order_of_a_round_robin_is_one_difference,
        quick a_game_that_was_made_up_for_is_one_difference,
        quick games_of_a_round_in_another_order_are_one_difference,
        quick games_that_are_missing_for_one_cause_are_one_difference,
        quick a_stage_of_another_variant_is_one_difference,
    ]
}
