//! Files as they come: of other GUIs, cut off, with games that were played again, left out or annulled. One cause is one
//! difference, and no game is counted that was not played.

use std::fmt::Write as _;

use super::{Replay, ReportRow, replay};
use crate::event::plan::EventPlan;

/// A game: stage, Round tag, White, Black, result.
#[derive(Clone)]
pub(super) struct Row(
    pub(super) &'static str,
    pub(super) String,
    pub(super) String,
    pub(super) String,
    pub(super) &'static str,
);

pub(super) fn row(
    stage: &'static str,
    round: &str,
    white: &str,
    black: &str,
    result: &'static str,
) -> Row {
    Row(stage, round.to_owned(), white.to_owned(), black.to_owned(), result)
}

/// Twenty plies, by which a game is told from another.
pub(super) const LONG: &str = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nc3 Nc6 4. Nb1 Nb8 5. Nh3 Nh6 6. Ng1 Ng8 7. Na3 Na6 8. Nb1 Nb8 9. e4 e5 10. d4 d5";

pub(super) fn pgn(rows: &[Row], moves: &str) -> String {
    let mut text = String::new();
    for Row(event, round, white, black, result) in rows {
        write!(
            text,
            "[Event \"E - {event}\"]\n[Round \"{round}\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n\
             [Result \"{result}\"]\n\n{moves} {result}\n\n"
        )
        .unwrap();
    }
    text
}

/// Replays files by an event of these stages.
pub(super) fn files(stages: &str, files: &[&[u8]]) -> Replay {
    let dir = tempfile::tempdir().unwrap();
    let event = dir.path().join("e.toml");
    std::fs::write(&event, format!("event = \"E\"\n{stages}")).unwrap();
    let paths = (1..).zip(files).map(|(number, text)| {
        let path = dir.path().join(format!("{number}.pgn"));
        std::fs::write(&path, text).unwrap();
        path
    });
    let paths: Vec<_> = paths.collect();
    replay(&EventPlan::load(&event).unwrap(), &paths).unwrap()
}

pub(super) fn games(stages: &str, rows: &[Row]) -> Replay {
    files(stages, &[pgn(rows, "1. e4").as_bytes()])
}

/// The differences of a stage, as `kind at: expected; played`.
pub(super) fn differences(replay: &Replay, stage: usize) -> Vec<String> {
    let all = replay.stages[stage].differences.iter();
    all.map(|one| format!("{} {}: {}; {}", one.kind.title(), one.at, one.expected, one.played))
        .collect()
}

fn points(replay: &Replay, stage: usize) -> Vec<(String, f64)> {
    let told = |row: &ReportRow| (row.engine.clone(), row.points.unwrap());
    replay.stages[stage].table.iter().map(told).collect()
}

pub(super) const LEAGUE: &str =
    "[[stage]]\nname = \"League\"\nformat = { round-robin = { doubles = 1 } }\n";
pub(super) const MATCH: &str = "[[stage]]\nname = \"Match\"\n\
                     format = { match = { pairs = 5, then = [{ pairs = 1, until = \"decisive\" }] } }\n";

/// Four engines in Berger order; White wins.
pub(super) fn league() -> Vec<Row> {
    let mut rows = Vec::new();
    for (round, pairs) in (1..).zip(["ad bc", "dc ab", "bd ca", "da cb", "cd ba", "db ac"]) {
        for (game, pair) in (1..).zip(pairs.split(' ')) {
            rows.push(row("League", &format!("{round}.{game}"), &pair[..1], &pair[1..], "1-0"));
        }
    }
    rows
}

#[test]
fn what_other_programs_write_changes_nothing() {
    let plain = pgn(&league(), LONG);
    let fancy = plain
        .replace(
            "1. Nf3",
            "{ book, d=1 } 1. Nf3 $1 {wv=0.1} (1. e4 e5 (1... c5 {x}) 2. Nf3) ; to the end\n",
        )
        .replace("2. Ng1", "\n% not looked at\n2. Ng1!? ")
        .replace("10. d4", "10.d4")
        .replace(
            "[Result",
            "[Time \"12:00:00\"]\n[WhiteElo \"3500?\"]\n[Annotator \"a \\\"b\\\"\"]\n[Result",
        );
    for text in [
        fancy.clone(),
        fancy.replace('\n', "\r\n"),
        format!("\u{feff}{fancy}"),
        fancy.replace("\n\n", "\n\n\n\n"),
        fancy.replace("]\n\n", "]\n"),
    ] {
        let replay = files(LEAGUE, &[text.as_bytes()]);
        assert!(replay.agrees() && replay.notes.is_empty(), "{text}: {replay:?}");
        assert_eq!((replay.stages[0].games, replay.stages[0].notes.len()), (12, 0), "{text}");
    }
}

#[test]
fn a_result_that_is_told_twice_or_not_at_all_is_noted() {
    let mut rows = league();
    rows[0].4 = "1/2-1/2";
    let text = pgn(&rows, "1. e4");
    let (first, rest) = text.split_once("1. e4 1/2-1/2").unwrap();
    for (given, noted) in [
        (
            format!("{first}1. e4 1-0{rest}"),
            "1/2-1/2 in its tag and 1-0 behind its moves; the tag counts",
        ),
        (
            format!("{first}1. e4 *{rest}"),
            "1/2-1/2 in its tag and * behind its moves; the tag counts",
        ),
        (format!("{first}1. e4 {rest}"), "has no result behind its moves, as if it were cut off"),
        (text.replace("[Result \"1/2-1/2\"]", "[Result \"1/2\"]"), ""),
        (text.replace("[Result \"1/2-1/2\"]", "[Result \"?\"]"), ""),
    ] {
        let replay = files(LEAGUE, &[given.as_bytes()]);
        assert_eq!(differences(&replay, 0), [""; 0]);
        // White wins all other games.
        assert_eq!(points(&replay, 0)[0], ("d".to_owned(), 3.5));
        assert_eq!(replay.notes.len(), usize::from(!noted.is_empty()), "{:?}", replay.notes);
        assert!(replay.notes.iter().all(|note| note.contains(noted)), "{:?}", replay.notes);
    }
    // The last game of a file that is cut off, at each byte of its moves.
    let whole = pgn(&league(), LONG);
    for cut in 0..60 {
        let replay = files(LEAGUE, &[&whole.as_bytes()[..whole.len() - 12 - cut]]);
        assert_eq!(differences(&replay, 0), [""; 0], "{cut}");
        assert!(replay.notes.iter().any(|note| note.contains("game 12 (6.2 a – c) has ")), "{cut}");
    }
}

#[test]
fn a_bye_is_no_game() {
    let mut rows = league();
    rows.insert(2, row("League", "1.3", "a", "BYE", "1-0"));
    let replay = games(LEAGUE, &rows);
    assert_eq!(differences(&replay, 0), [""; 0]);
    assert!(replay.notes[0].ends_with("game 3 is left out: it is a bye"), "{:?}", replay.notes);
}

#[test]
fn a_file_that_is_given_twice_counts_once() {
    let text = pgn(&league(), LONG);
    let replay = files(LEAGUE, &[text.as_bytes(), text.as_bytes()]);
    assert_eq!(differences(&replay, 0), [""; 0]);
    assert_eq!(
        replay.stages[0].notes,
        ["12 games stand twice, with the same moves: 1.1 a – d, 1.2 b – c, 2.1 d – c and 9 more"]
    );
}

#[test]
fn a_shuffled_first_rank_is_chess960_without_a_tag_that_says_so() {
    let fen = "[SetUp \"1\"]\n[FEN \"bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1\"]\n[Result";
    let text = pgn(&league(), "1. e4").replace("[Result", fen);
    let stage = format!("{LEAGUE}variant = \"chess960\"\n");
    let replay = files(&stage, &[text.as_bytes()]);
    assert!(replay.agrees() && replay.notes.is_empty(), "{replay:?}");
    // An opening of classical chess is none.
    let fen = "[FEN \"r1bqkbnr/pppppppp/2n5/8/8/2N5/PPPPPPPP/R1BQKBNR w KQkq - 2 2\"]\n[Result";
    let text = pgn(&league(), "1. e4").replace("[Result", fen);
    assert!(files(LEAGUE, &[text.as_bytes()]).agrees());
}

#[test]
fn a_game_that_was_played_again_stands_for_the_one_without_a_result() {
    let mut annulled = league();
    annulled[4].4 = "*";
    let again = row("League", "3.1", "b", "d", "1-0");
    // At once, at the end, and at the end with a tag of its own.
    for (at, round, rounds) in [(5, "3.1", 0), (12, "3.1", 0), (12, "6.3", 1), (8, "1.1", 1)] {
        let mut rows = annulled.clone();
        rows.insert(at, Row { 1: round.to_owned(), ..again.clone() });
        let replay = games(LEAGUE, &rows);
        let told = differences(&replay, 0);
        assert_eq!(told.len(), rounds, "{at} {round}: {told:?}");
        assert!(
            told.iter().all(|one| one.starts_with("order of rounds 3.1: b – d; at another time")),
            "{told:?}"
        );
        let all: f64 = points(&replay, 0).iter().map(|(_, points)| points).sum();
        assert!((all - 12.0).abs() < 0.1, "{at} {round}: {all}");
    }
    // Without tags the order tells it.
    let mut rows = annulled;
    rows.insert(5, again);
    rows.iter_mut().for_each(|row| row.1 = "?".to_owned());
    let replay = games(LEAGUE, &rows);
    assert_eq!(differences(&replay, 0), [""; 0]);
}

/// Of four engines one left after half of its games: all others met twice.
#[test]
fn games_that_an_engine_left_unplayed_are_no_shorter_league() {
    let two = LEAGUE.replace("doubles = 1", "doubles = 2");
    let mut rows = league();
    let second = league().into_iter().map(|one| Row {
        1: format!("{}.{}", one.1[..1].parse::<u32>().unwrap() + 6, &one.1[2..]),
        ..one
    });
    rows.extend(second.filter(|one| one.2 != "d" && one.3 != "d"));
    assert_eq!(rows.len(), 18);
    let told = differences(&games(&two, &rows), 0);
    assert_eq!(told, ["games from 7.1 on: 6 games of d; there are no such games"]);
}

#[test]
fn a_tie_that_is_played_on_with_tags_that_begin_again_loses_no_game() {
    let pair = |round: u32, result| {
        [
            row("Match", &format!("{}.1", round), "a", "b", result),
            row("Match", &format!("{}.1", round + 1), "b", "a", "1/2-1/2"),
        ]
    };
    let mut rows: Vec<Row> = (0..5).flat_map(|at| pair(2 * at + 1, "1/2-1/2")).collect();
    rows.extend(pair(1, "0-1"));
    let replay = games(MATCH, &rows);
    assert_eq!(differences(&replay, 0), [""; 0]);
    assert_eq!((replay.stages[0].games, replay.stages[0].notes.len()), (12, 0));
    assert_eq!(replay.stages[0].table[0].engine, "b");
    // A game that was played again is another matter: it has the tag of one before, and others follow.
    let mut rows: Vec<Row> = (0..5).flat_map(|at| pair(2 * at + 1, "1-0")).collect();
    rows.insert(5, row("Match", "5.1", "a", "b", "0-1"));
    rows.insert(1, row("Match", "1.1", "a", "b", "0-1"));
    let replay = games(MATCH, &rows);
    assert_eq!(differences(&replay, 0), [""; 0]);
    assert_eq!(
        replay.stages[0].notes,
        ["2 games stand twice; the later ones count: 1.1 a – b, 5.1 a – b"]
    );
}

#[test]
fn a_game_of_a_match_without_a_result_is_none_of_its_games() {
    let mut rows: Vec<Row> = (1..=10)
        .map(|round| {
            let (white, black) = if round % 2 == 1 { ("a", "b") } else { ("b", "a") };
            row(
                "Match",
                &round.to_string(),
                white,
                black,
                if white == "a" { "1-0" } else { "1/2-1/2" },
            )
        })
        .collect();
    rows.insert(3, row("Match", "99", "a", "b", "*"));
    let replay = games(MATCH, &rows);
    assert_eq!(differences(&replay, 0), [""; 0]);
    assert_eq!(replay.stages[0].table[0].engine, "a");
}

const PLAYOFF: &str = "[[stage]]\nname = \"Tiebreak\"\nformat = { playoff = { spots = 1 } }\n\
                       [[stage]]\nname = \"Match\"\nfrom = \"Tiebreak:1\"\ninvited = true\nformat = { match = { pairs = 1 } }\n";

/// Three for one spot, and then two of them; each go has tags from 1.1 on.
fn playoff() -> Vec<Row> {
    let first = [
        ("b", "c", "1/2-1/2"),
        ("a", "b", "0-1"),
        ("c", "a", "1-0"),
        ("c", "b", "1/2-1/2"),
        ("b", "a", "1-0"),
        ("a", "c", "0-1"),
    ];
    let mut rows: Vec<Row> = (1..)
        .zip(first)
        .map(|(round, (w, b, result))| row("Tiebreak", &format!("{round}.1"), w, b, result))
        .collect();
    // b and c are level before a.
    rows.push(row("Tiebreak", "1.1", "b", "c", "1-0"));
    rows.push(row("Tiebreak", "2.1", "c", "b", "1/2-1/2"));
    rows
}

#[test]
fn the_goes_of_a_tiebreak_have_tags_of_their_own() {
    let mut rows = playoff();
    rows.push(row("Match", "1", "b", "z", "1-0"));
    rows.push(row("Match", "2", "z", "b", "1/2-1/2"));
    let replay = games(PLAYOFF, &rows);
    assert_eq!(differences(&replay, 0), [""; 0], "{:?}", replay.stages[0].notes);
    assert_eq!(replay.stages[0].games, 8);
    assert_eq!(differences(&replay, 1), [""; 0]);
}

#[test]
fn a_tiebreak_that_its_games_do_not_decide_promotes_nobody_for_certain() {
    let mut rows = playoff();
    rows.truncate(7);
    rows.push(row("Match", "1", "b", "z", "1-0"));
    rows.push(row("Match", "2", "z", "b", "1/2-1/2"));
    let replay = games(&PLAYOFF.replace("invited = true\n", ""), &rows);
    assert_eq!(differences(&replay, 0), ["games game 8: c – b; there is no such game"]);
    assert_eq!(differences(&replay, 1), [""; 0]);
    let notes = &replay.stages[1].notes;
    assert!(notes.iter().any(|note| note.contains("no games decide Tiebreak")), "{notes:?}");
}

pub(super) fn swiss(games: u32, rounds: u32) -> String {
    format!(
        "[[stage]]\nname = \"Swiss\"\nties = \"swiss\"\nseating = \"alphabetical\"\n\
         format = {{ swiss = {{ rounds = {rounds}, pairing = \"monrad\", games = {games}, sections = 2 }} }}\n"
    )
}

/// The games of a Swiss as the format itself pairs them; `left` play no more from a round on. The better letter wins.
pub(super) fn swiss_rows(
    engines: usize,
    each: u32,
    rounds: u32,
    left: &[(usize, u32)],
) -> Vec<Row> {
    use crate::event::format::{Next, PlayedPairing, StageHistory, swiss::Swiss};
    use crate::event::schedule::Seat;
    use crate::model::game::result::GameResult;
    use std::num::NonZeroU32;
    let number = |number| NonZeroU32::new(number).unwrap();
    let format = Swiss { rounds: number(rounds), games: number(each), sections: number(2) };
    let out = left.iter().map(|(seat, round)| (Seat(*seat), *round)).collect();
    let mut past = StageHistory { out, ..StageHistory::default() };
    let mut rows = Vec::new();
    for round in 1..=rounds {
        let paired = format.round(engines, &past, round);
        past.byes.extend(paired.bye.map(|seat| (seat, round)));
        for due in format.games_of(&paired, engines, round) {
            let is_white = due.white < due.black;
            let result = GameResult::Win(shakmaty::Color::from_white(is_white));
            past.add(PlayedPairing { at: due.at, white: due.white, black: due.black, result });
            let name = |seat: Seat| char::from(b'a' + seat.0 as u8).to_string();
            let (white, black) = (name(due.white), name(due.black));
            rows.push(Row("Swiss", due.at.to_string(), white, black, result.word()));
        }
    }
    // As a check of the rows themselves.
    assert!(matches!(format.next(engines, &past), Next::Over(_)) || !left.is_empty());
    rows
}

#[test]
fn an_engine_that_leaves_a_swiss_is_one_difference() {
    for each in [1, 2] {
        for engines in [8, 9, 15, 16] {
            for left in [&[(3, 3)][..], &[(0, 2)], &[(3, 3), (5, 4)], &[(5, 2), (6, 2)]] {
                let rows = swiss_rows(engines, each, 6, left);
                let told = differences(&games(&swiss(each, 6), &rows), 0);
                let gone = |(seat, round): &(usize, u32)| {
                    let name = char::from(b'a' + *seat as u8);
                    format!("games from round {round} on: games of {name}; there are no such games")
                };
                let expected: Vec<String> = left.iter().map(gone).collect();
                assert_eq!(told, expected, "{each} {engines}");
            }
        }
    }
}

#[test]
fn rounds_of_a_swiss_are_told_by_tags_or_by_who_plays() {
    for each in [1, 2] {
        for engines in [6, 7, 8, 13] {
            let rows = swiss_rows(engines, each, 5, &[]);
            let told = |rows: &[Row]| differences(&games(&swiss(each, 5), rows), 0);
            let with = |tag: &dyn Fn(&str) -> String| {
                let own = rows.iter().map(|one| Row { 1: tag(&one.1), ..one.clone() });
                own.collect::<Vec<Row>>()
            };
            let none = with(&|_| "?".to_owned());
            let rounds = with(&|tag| tag.split('.').next().unwrap().to_owned());
            let again = with(&|tag| format!("1.{}", tag.split('.').nth(1).unwrap()));
            assert_eq!(told(&rows), [""; 0], "{each} {engines}");
            assert_eq!(told(&none), [""; 0], "{each} {engines} none");
            assert_eq!(told(&rounds), [""; 0], "{each} {engines} rounds");
            assert_eq!(told(&again), [""; 0], "{each} {engines} again");
            // A game of the second round that was made up for in the third: its order, and nothing that follows.
            let per_round = rows.len() / 5;
            for mut rows in [rows, rounds] {
                let late = rows.remove(per_round + 1);
                rows.insert(2 * per_round + 2, late);
                let told = told(&rows);
                assert!(
                    told.iter().all(|one| one.starts_with("order of rounds round 2:")),
                    "{told:?}"
                );
            }
        }
    }
}

/// The last round is being played.
#[test]
fn pairs_that_have_not_played_yet_are_one_difference() {
    let rows = swiss_rows(8, 2, 4, &[]);
    let told = differences(&games(&swiss(2, 4), &rows[..rows.len() - 4]), 0);
    assert_eq!(told, ["games round 4: 2 more pairs; there are no games of these"]);
}

/// Komodo 1 crashed in round 3, was mended, and played that game again.
#[test]
fn an_engine_that_was_updated_within_a_round_is_one_engine() {
    let mut rows = league();
    for (at, row) in rows.iter_mut().enumerate() {
        let version = if at < 5 { "Komodo 1" } else { "Komodo 2" };
        for name in [&mut row.2, &mut row.3].into_iter().filter(|name| *name == "b") {
            version.clone_into(name);
        }
    }
    rows.insert(5, row("League", "3.1", "Komodo 2", "d", "1-0"));
    let replay = games(LEAGUE, &rows);
    assert_eq!(replay.stages[0].engines, 4);
    assert_eq!(differences(&replay, 0), [""; 0]);
}

/// The second of a league does not play the match, and the third does.
#[test]
fn who_does_not_take_a_place_changes_no_seats() {
    let stages = format!(
        "{LEAGUE}[[stage]]\nname = \"Match\"\nfrom = \"League:1..2\"\nseating = \"reversed-ranking\"\nformat = {{ match = {{ pairs = 1 }} }}\n"
    );
    let mut rows = league();
    // a before b before c before d.
    for row in &mut rows {
        row.4 = if row.2 < row.3 { "1-0" } else { "0-1" };
    }
    rows.push(row("Match", "1", "c", "a", "1/2-1/2"));
    rows.push(row("Match", "2", "a", "c", "1-0"));
    let replay = games(&stages, &rows);
    assert_eq!(
        differences(&replay, 1),
        [
            "promotions place 2 of League: b; it does not play here",
            "promotions place 3 of League: not promoted; c"
        ]
    );
    assert_eq!(replay.stages[1].table[0].engine, "a");
}
