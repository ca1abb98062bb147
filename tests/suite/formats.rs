//! Real events of every format: what the formats give must be what was played.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::trials::Test;

fn fixtures(dir: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(dir)
}

/// The recorded files whose names begin so.
fn games(dir: &str, start: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(fixtures(dir))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(start))
        .collect();
    found.sort();
    assert!(!found.is_empty(), "no games are called {start}");
    found
}

/// Runs the command; its exit code and its report.
fn replayed(event: &Path, files: &[PathBuf]) -> (i32, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["event", "replay-games", "--format", "json"])
        .arg(event)
        .args(files)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    let report = serde_json::from_slice(&output.stdout);
    (output.status.code().unwrap(), report.unwrap_or_else(|_| panic!("{told}")))
}

/// Replays recorded files; each stage with its counts, as `Swiss: pairs 105/105, …`.
fn counts(event: &str, start: &str) -> (i32, Vec<String>) {
    let dir = if start.starts_with("s24-4k") || start.starts_with("s26-4k") {
        "games/4k"
    } else {
        "games/others"
    };
    let (code, report) = replayed(&fixtures("events").join(event), &games(dir, start));
    let stages = report["stages"].as_array().unwrap().iter().map(|stage| {
        let counts: Vec<String> = stage["counts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|count| {
                format!("{} {}/{}", count["kind"].as_str().unwrap(), count["agree"], count["of"])
            })
            .collect();
        format!("{}: {}", stage["stage"].as_str().unwrap(), counts.join(", "))
    });
    (code, stages.collect())
}

/// All of an event agrees, stage by stage.
fn agrees(event: &str, start: &str, expected: &[&str]) {
    let (code, stages) = counts(event, start);
    assert_eq!(stages, expected, "{event}");
    assert_eq!(code, 0, "{event}");
}

fn the_swiss_of_season_20_is_paired_as_it_was() {
    agrees(
        "s20-swiss-test-2.toml",
        "s20-swiss",
        &["Swiss: pairs 105/105, colours 105/105, rounds 5/5"],
    );
}

fn the_cups_go_on_as_they_did() {
    agrees(
        "cup-15.toml",
        "cup15",
        &["Cup: matches 32/32, colours 214/214, lengths 32/32, rounds 5/5"],
    );
    agrees(
        "cup-8.toml",
        "cup8",
        &["Cup: matches 32/32, colours 150/150, lengths 32/32, rounds 5/5"],
    );
}

fn a_cup_by_the_rules_of_another_is_told_match_by_match() {
    let (code, stages) = counts("cup-8.toml", "cup15");
    assert_eq!(code, 1);
    assert!(stages[0].contains("matches 32/32"), "{stages:?}");
    assert!(!stages[0].contains("lengths 32/32"), "{stages:?}");
}

fn the_leagues_of_chess960_promote_as_they_did() {
    let league = |name: &str, games: usize, rounds: usize| {
        format!(
            "{name}: lengths 1/1, games {games}/{games}, pairs {games}/{games}, colours {games}/{games}, rounds {rounds}/{rounds}, variants {games}/{games}"
        )
    };
    let promoted = |name: &str, games: usize, rounds: usize| {
        league(name, games, rounds).replacen(": ", ": promotions 4/4, ", 1)
    };
    let (code, stages) = counts("frc-5.toml", "frc5");
    assert_eq!(
        stages,
        [
            league("League A", 42, 14),
            league("League B", 30, 10),
            league("League C", 30, 10),
            league("League D", 30, 10),
            promoted("Semileague 1", 24, 12),
            promoted("Semileague 2", 24, 12),
            promoted("Final League", 48, 24),
            "Final: promotions 2/2, colours 50/50, lengths 1/1, variants 50/50".to_owned(),
        ]
    );
    assert_eq!(code, 0);
    // By today's rules the leagues would have been twice as long, and that is one difference each.
    let (code, stages) = counts("frd.toml", "frc5");
    assert_eq!(code, 1);
    assert_eq!(stages.iter().filter(|stage| stage.contains("lengths 0/1")).count(), 4);
    let (code, stages) = counts("frd.toml", "frd4");
    assert_eq!(
        stages,
        [
            league("Semileague 1", 60, 20),
            "Final: colours 50/50, lengths 1/1, variants 50/50".to_owned()
        ]
    );
    assert_eq!(code, 0);
}

fn playoffs_and_tiebreaks_end_when_they_did() {
    agrees(
        "s17-playoff.toml",
        "s17",
        &["Playoff for DivP: lengths 1/1, games 60/60, pairs 60/60, colours 60/60, rounds 20/20"],
    );
    agrees(
        "s28-entrance-tiebreaks.toml",
        "s28-entrance",
        &[
            "Entrance League Tiebreak 1: games 2/2, colours 2/2",
            "Entrance League Tiebreak 2: games 10/10, colours 10/10",
        ],
    );
}

/// Season 14: who crashed three times is out, and its games count for nobody.
fn a_disqualified_engine_leaves_the_table_as_it_did() {
    let event = fixtures("events").join("s14-divisions.toml");
    let (code, report) = replayed(&event, &games("games/others", "s14"));
    assert_eq!(code, 0);
    let first = &report["stages"][2];
    assert_eq!(first["stage"], "Division 1");
    let table: Vec<String> = first["table"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let name = row["engine"].as_str().unwrap().split(' ').next().unwrap();
            format!("{name} {} {}", row["points"], row["sonneborn_berger"])
        })
        .collect();
    assert_eq!(
        table,
        [
            "LCZero 17.0 183.75",
            "KomodoMCTS 14.5 162.5",
            "Fizbo 12.0 138.5",
            "Chiron 12.0 132.0",
            "Laser 11.0 122.0",
            "Jonny 11.0 125.25",
            "Fritz 6.5 80.5",
            "Ginkgo 0.0 0.0",
        ]
    );
    assert!(first["table"][7]["place"].is_null());
}

/// The pairs of season 4 that no known system gives stay a difference; everything else agrees.
fn the_season_of_ntcec_is_what_its_files_hold() {
    let (code, stages) = counts("ntcec.toml", "ntcec");
    assert_eq!(code, 1);
    assert!(stages[0].contains("colours 112/112"), "{stages:?}");
    let pairs = stages[0].split("pairs ").nth(1).unwrap().split('/').next().unwrap();
    assert!(pairs.parse::<u32>().unwrap() >= PAIRS_OF_DUTCH, "{stages:?}");
    let group = |name: &str| {
        format!(
            "Stage {name}: promotions 8/8, lengths 1/1, games 56/56, pairs 56/56, colours 56/56, rounds 14/14"
        )
    };
    assert_eq!(stages[1..3], [group("2a"), group("2b")]);
    assert_eq!(
        stages[3..],
        [
            // Six games of Chiron are not in the file.
            "Stage 3: promotions 8/8, lengths 1/1, games 50/56, pairs 50/50, colours 50/50, rounds 14/14",
            "Stage 4: promotions 4/4, lengths 1/1, games 36/36, pairs 36/36, colours 36/36, rounds 18/18",
            "Superfinal: promotions 2/2, colours 48/48, lengths 1/1",
        ]
    );
}

/// Of 112, in the first stage of season 4.
const PAIRS_OF_DUTCH: u32 = 88;

fn the_4k_events_are_what_their_rules_say() {
    let pool = |games: usize, rounds: usize| {
        format!(
            "Pool: lengths 1/1, games {games}/{games}, pairs {games}/{games}, colours {games}/{games}, rounds {rounds}/{rounds}"
        )
    };
    agrees(
        "4k.toml",
        "s26-4k",
        &[&pool(120, 40), "MiniFinal: promotions 2/2, colours 50/50, lengths 1/1"],
    );
    agrees(
        "4k-2.toml",
        "s24-4k",
        &[&pool(180, 60), "Final: promotions 2/2, colours 24/24, lengths 1/1"],
    );
    agrees("4k-elf.toml", "s29-4k", &["4K ELF II: colours 50/50, lengths 1/1"]);
}

/// Games in any order, twice, without a result, without moves: nothing stops, and what is whole still agrees.
fn files_in_disorder_are_replayed_all_the_same() {
    use std::fmt::Write as _;
    let dir = tempfile::tempdir().unwrap();
    let names = ["Ant 1", "Bee 2", "Cat 3", "Dog 4"];
    let rounds = ["03 12", "32 01", "13 20", "30 21", "23 10", "31 02"];
    let mut list = Vec::new();
    for (round, games) in (1..).zip(rounds) {
        for (game, pair) in (1..).zip(games.split(' ')) {
            let seat = |at: usize| names[pair[at..=at].parse::<usize>().unwrap()];
            // A version changes on the way.
            let white =
                if round > 3 { seat(0).replace("Bee 2", "Bee 2.1") } else { seat(0).to_owned() };
            let black =
                if round > 3 { seat(1).replace("Bee 2", "Bee 2.1") } else { seat(1).to_owned() };
            list.push(format!(
                "[Event \"E - League\"]\n[Round \"{round}.{game}\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n\
                 [Result \"1-0\"]\n[PlyCount \"9\"]\n\n1. e4 Ke9 1-0\n\n"
            ));
        }
    }
    let aborted = list[4].replace("1-0", "*");
    list.insert(4, aborted);
    list.rotate_left(5);
    let event = dir.path().join("e.toml");
    std::fs::write(
        &event,
        "event = \"E\"\n[[stage]]\nname = \"League\"\nformat = { round-robin = { doubles = 1 } }\n",
    )
    .unwrap();
    let file = dir.path().join("games.pgn");
    std::fs::write(&file, list.concat()).unwrap();
    let (code, report) = replayed(&event, std::slice::from_ref(&file));
    let mut told = String::new();
    write!(told, "{report}").unwrap();
    assert_eq!(code, 0, "{told}");
    assert_eq!(report["stages"][0]["engines"], 4);
    // A game that is missing is one difference, and one that nobody planned another.
    std::fs::write(&file, list[1..].concat().replace("[Round \"2.2\"]", "[Round \"9.9\"]"))
        .unwrap();
    let (code, _) = replayed(&event, &[file]);
    assert_eq!(code, 1);
}

/// Rounds that no tag tells may be more than the format has: these are one difference and are not paired.
fn a_swiss_is_compared_up_to_its_last_round() {
    let dir = tempfile::tempdir().unwrap();
    let event = dir.path().join("e.toml");
    std::fs::write(
        &event,
        "event = \"E\"\n[[stage]]\nname = \"Swiss\"\ngames = \"*\"\n\
         format = { swiss = { rounds = 1, pairing = \"dutch\" } }\n",
    )
    .unwrap();
    let file = dir.path().join("games.pgn");
    let game = |round: u32, game: u32, white: &str, black: &str| {
        format!(
            "[Round \"{round}.{game}\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n\n"
        )
    };
    let games = [
        game(1, 1, "Ant", "Bee"),
        game(1, 2, "Cat", "Dog"),
        game(2, 1, "Bee", "Cat"),
        game(2, 2, "Dog", "Ant"),
        game(3, 1, "Ant", "Cat"),
    ];
    std::fs::write(&file, games.concat()).unwrap();
    let (code, report) = replayed(&event, &[file]);
    assert_eq!(code, 1);
    let kind = |kind: &str| {
        let counts = report["stages"][0]["counts"].as_array().unwrap();
        counts.iter().find(|count| count["kind"] == kind).map(|count| count["of"].as_u64().unwrap())
    };
    assert_eq!((kind("rounds"), kind("colours"), kind("games")), (Some(1), Some(2), Some(1)));
}

/// A tie of two games as other programs may write it.
const ODD: &str = "[Event \"E - Match\"]\n[Round \"1.1\"]\n[White \"A 1\"]\n[Black \"B 2\"]\n[Result \"1/2-1/2\"]\n\n\
    1. e4 e5 2. Nf3 Nc6 1/2-1/2\n\n\
    [Event \"E - Match\"]\n[Round \"1.2\"]\n[White \"B 2\"]\n[Black \"A 1\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n";

fn odd_pgns_are_compared_as_far_as_they_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let event = dir.path().join("e.toml");
    let stage = "event = \"E\"\n[[stage]]\nname = \"Match\"\nformat = { match = { pairs = 1 } }\n";
    std::fs::write(&event, stage).unwrap();
    let asked = |text: &str| {
        let file = dir.path().join("odd.pgn");
        std::fs::write(&file, text).unwrap();
        let words = ["event", "replay-games", "e.toml", "odd.pgn"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        let output = command.current_dir(dir.path()).args(words).output().unwrap();
        let told = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8_lossy(&told).into_owned())
    };
    let variation = "1. e4 {a {comment} (1. d4 d5 (1... Nf6)) $1 e5 ; the rest\n";
    for (text, code, expected) in [
        (format!("\u{feff}{}", ODD.replace('\n', "\r\n")), 0, "colours              2 of 2"),
        (ODD.replace("1. e4 e5", variation), 0, "colours              2 of 2"),
        (ODD.replace("[Round \"1.1\"]\n", "").replace("\"1.2\"", "\"?\""), 0, "2 of 2"),
        (ODD.replace("e5", "--"), 0, "game 1 (1.1 A 1 – B 2) has a move that is no move: 1 --"),
        (ODD.replace("1/2-1/2", "*"), 0, "1 game has no result"),
        (
            ODD.replace("[Black \"A 1\"]\n", ""),
            1,
            "game 2 is left out: it does not name both engines",
        ),
        (
            ODD.replace("[White", "[white"),
            3,
            "no game that can be read; odd.pgn: game 1 is left out",
        ),
        (String::new(), 3, "these files hold no game that can be read"),
        (
            format!("{ODD}\n{}", ODD.replace("A 1", "C 3")),
            1,
            "expected two engines; played 3 in 4 games",
        ),
    ] {
        let (exit, told) = asked(&text);
        assert!(
            exit == code && told.contains(expected),
            "{code} {expected:?} is not {exit} {told}"
        );
    }
}

fn mistakes_in_an_event_file_are_shown_at_their_line() {
    let dir = tempfile::tempdir().unwrap();
    let event = dir.path().join("e.toml");
    std::fs::write(
        &event,
        "event = \"E\"\n[[stage]]\nname = \"A\"\nformat = { roundrobin = { doubles = 1 } }\n",
    )
    .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["event", "replay-games"])
        .arg(&event)
        .arg("none.pgn")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("e.toml:4:") && told.contains("did you mean `round-robin`?"), "{told}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick the_swiss_of_season_20_is_paired_as_it_was,
        quick the_cups_go_on_as_they_did,
        quick a_cup_by_the_rules_of_another_is_told_match_by_match,
        quick the_leagues_of_chess960_promote_as_they_did,
        quick playoffs_and_tiebreaks_end_when_they_did,
        quick a_disqualified_engine_leaves_the_table_as_it_did,
        quick the_season_of_ntcec_is_what_its_files_hold,
        quick the_4k_events_are_what_their_rules_say,
        quick files_in_disorder_are_replayed_all_the_same,
        quick a_swiss_is_compared_up_to_its_last_round,
        quick odd_pgns_are_compared_as_far_as_they_can_be_read,
        quick mistakes_in_an_event_file_are_shown_at_their_line,
    ]
}
