//! Real events: what the program counts must be what was recorded.

use std::fs::File;
use std::io::Write as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gate4k::event::field::{Field, FieldBuilder};
use gate4k::event::pgn_source::PgnSource;
use gate4k::event::rmobility::{self, Goal, RMobility};
use gate4k::event::schedule::{BookPolicy, StageSchedule};
use gate4k::event::standings::{Place, PlacedBy, Standings};
use gate4k::event::tiebreak::{Criterion, TiebreakChain};
use gate4k::model::game::listed::ListedGame;
use gate4k::model::game::result::GameResult;
use lzma_rust2::{XzOptions, XzWriter};
use shakmaty::Color;

use crate::outcome::told_apart;
use crate::trials::Test;

/// The path of a real event's games.
fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/games/4k").join(file)
}

fn games(path: &Path) -> Vec<ListedGame> {
    PgnSource::open(path).unwrap().map(|game| game.unwrap()).collect()
}

fn field(games: &[ListedGame]) -> Field {
    let mut builder = FieldBuilder::default();
    for game in games {
        builder.add(game, 0);
    }
    builder.finish()
}

fn standings(games: &[ListedGame], chain: &str) -> Standings {
    Standings::of(&field(games), TiebreakChain::named(chain).unwrap())
}

/// Name and points in order, as `4ku 4.0 34.5`.
fn table(standings: &Standings) -> Vec<String> {
    let rows = standings.rows.iter();
    rows.map(|row| format!("{} {}", row.engine.name, row.points)).collect()
}

fn figure(standings: &Standings, row: usize, criterion: Criterion) -> String {
    let at = standings.chain.criteria.iter().position(|c| *c == criterion);
    standings.rows[row].figures[at.unwrap()].unwrap().to_string()
}

/// A row's Sonneborn-Berger, double wins, and average moves in won and in lost games.
fn lower(standings: &Standings, row: usize) -> String {
    [Criterion::SonnebornBerger, Criterion::DoubleWins, Criterion::WonLength, Criterion::LostLength]
        .map(|criterion| figure(standings, row, criterion))
        .join(" ")
}

/// Every game must be where the schedule has it, with the right colours; `seats` in the order of the draw.
fn follows(games: &[ListedGame], schedule: StageSchedule, seats: &[&str]) {
    assert_eq!(games.len(), schedule.games());
    for (game, planned) in games.iter().zip(schedule.pairings()) {
        assert_eq!(game.round, Some(planned.at));
        let (white, black) = (seats[planned.white.0], seats[planned.black.0]);
        assert_eq!(
            (game.white.name.as_str(), game.black.name.as_str()),
            (white, black),
            "round {}",
            planned.at
        );
    }
}

/// All games with one opening have the same book moves, others have others; bookless games have none.
fn openings(games: &[ListedGame], schedule: StageSchedule) {
    let mut books: Vec<Option<Vec<String>>> = Vec::new();
    for (game, planned) in games.iter().zip(schedule.pairings()) {
        let book: Vec<String> =
            game.record.opening.moves().iter().map(|one| format!("{one:?}")).collect();
        match planned.opening {
            None => assert_eq!(book.len(), 0, "round {}", planned.at),
            Some(opening) => {
                assert_ne!(book.len(), 0, "round {}", planned.at);
                books.resize(books.len().max(opening.0 + 1), None);
                let known = books[opening.0].get_or_insert_with(|| book.clone());
                assert_eq!(*known, book, "round {}", planned.at);
            }
        }
    }
    let distinct: std::collections::BTreeSet<_> = books.iter().collect();
    assert_eq!(distinct.len(), books.len());
}

fn doubles(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

fn season_26_pool() {
    let path = data("s26-4k-iii.pgn.xz");
    let games = games(&path);
    let standings = standings(&games, "4k");
    assert_eq!(standings.event, "TCEC Season 26 - 4k III");
    let expected = [
        ("4ku 4.0 34.5", "519.75"),
        ("ice4 4 34.5", "511.75"),
        ("STRO4K 2.0 26", "269.00"),
        ("M4sseur 1.0 16.5", "85.25"),
        ("pygone 1.5.5 8", "4.00"),
        ("moonfish d7b5af5c 0.5", "17.25"),
    ];
    assert_eq!(table(&standings), expected.map(|row| row.0));
    for (row, (_, sonneborn)) in expected.iter().enumerate() {
        assert_eq!(figure(&standings, row, Criterion::SonnebornBerger), *sonneborn);
    }
    // Counted from the tags by a program of its own.
    let counted = [
        "519.75 14 51.03 103.00",
        "511.75 14 53.80 97.00",
        "269.00 12 44.25 81.92",
        "85.25 8 43.62 58.96",
        "4.00 4 63.25 37.97",
        "17.25 0 – 42.49",
    ];
    assert_eq!([0, 1, 2, 3, 4, 5].map(|row| lower(&standings, row)), counted);
    let ratings: Vec<Option<i32>> = standings.rows.iter().map(|row| row.engine.rating).collect();
    assert_eq!(ratings, [2982, 2969, 2756, 2277, 1664, 1504].map(Some));
    // 4-4 against each other; every lower criterion as recorded.
    let both = |criterion| [0, 1].map(|row| figure(&standings, row, criterion));
    assert_eq!(both(Criterion::DirectEncounter), ["4", "4"]);
    assert_eq!(both(Criterion::RMobility), ["34.500427", "34.468811"]);
    assert_eq!(both(Criterion::DoubleWins), ["14", "14"]);
    assert_eq!(both(Criterion::WonLength), ["51.03", "53.80"]);
    assert_eq!(both(Criterion::LostLength), ["103.00", "97.00"]);
    assert_eq!(
        standings.rows[1].place,
        Place::Ranked {
            rank: 2,
            tied: false,
            by: Some(PlacedBy::Criterion(Criterion::SonnebornBerger))
        }
    );
    let progress = standings.progress.unwrap();
    assert_eq!((progress.complete, progress.further), (4, 0));
}

fn season_26_pool_schedule() {
    let path = data("s26-4k-iii.pgn.xz");
    let games = games(&path);
    let seats =
        ["4ku 4.0", "M4sseur 1.0", "STRO4K 2.0", "ice4 4", "moonfish d7b5af5c", "pygone 1.5.5"];
    let schedule = StageSchedule::new(6, doubles(4), BookPolicy::FirstBookless).unwrap();
    let found: Vec<&str> = games[..3]
        .iter()
        .map(|game| game.white.name.as_str())
        .chain(games[..3].iter().rev().map(|game| game.black.name.as_str()))
        .collect();
    assert_eq!(found, seats);
    follows(&games, schedule, &seats);
    openings(&games, schedule);
}

fn season_26_minifinal() {
    let path = data("s26-4k-iii-minifinal.pgn.xz");
    let games = games(&path);
    let standings = standings(&games, "4k");
    assert_eq!(table(&standings), ["4ku 4.0 28", "ice4 4 22"]);
    let counted = ["616.00 0 97.46 94.86", "616.00 1 94.86 97.46"];
    assert_eq!([0, 1].map(|row| lower(&standings, row)), counted);
    // The list that the runner read was newer from game 42 on; the latest rating is shown.
    assert_eq!(standings.rows[0].engine.rating, Some(2965));
    // The pool's winner is Black in the first game of each pair.
    let schedule = StageSchedule::new(2, doubles(25), BookPolicy::EachDouble).unwrap();
    follows(&games, schedule, &["ice4 4", "4ku 4.0"]);
    openings(&games, schedule);
}

fn season_24_pool() {
    let path = data("s24-4k-2.pgn.xz");
    let games = games(&path);
    let standings = standings(&games, "4k");
    assert_eq!(
        table(&standings),
        [
            "4ku 3.0 54",
            "ice4 v3 52",
            "STRO4K 1.0 37.5",
            "M4sseur 1.0 24",
            "pygone 1.5.4 7.5",
            "sunfish 2022-12-24_classic 5"
        ]
    );
    let counted = [
        "1235.75 21 51.04 –",
        "1104.00 24 52.04 73.75",
        "519.00 18 40.92 72.24",
        "174.50 11 42.83 53.54",
        "37.50 1 69.83 39.14",
        "45.75 0 43.67 42.91",
    ];
    assert_eq!([0, 1, 2, 3, 4, 5].map(|row| lower(&standings, row)), counted);
    let seats = [
        "4ku 3.0",
        "ice4 v3",
        "M4sseur 1.0",
        "pygone 1.5.4",
        "STRO4K 1.0",
        "sunfish 2022-12-24_classic",
    ];
    let schedule = StageSchedule::new(6, doubles(6), BookPolicy::FirstBookless).unwrap();
    follows(&games, schedule, &seats);
    openings(&games, schedule);
}

fn season_24_final() {
    let path = data("s24-4k-2-final.pgn.xz");
    let games = games(&path);
    let standings = standings(&games, "4k");
    assert_eq!(table(&standings), ["ice4 v3 12.5", "4ku 3.0 11.5"]);
    let counted = ["143.75 1 78.00 87.25", "143.75 0 87.25 78.00"];
    assert_eq!([0, 1].map(|row| lower(&standings, row)), counted);
    let schedule = StageSchedule::new(2, doubles(12), BookPolicy::EachDouble).unwrap();
    follows(&games, schedule, &["ice4 v3", "4ku 3.0"]);
    openings(&games, schedule);
}

fn a_recorded_goal() {
    let path = data("s26-4k-iii.pgn.xz");
    let games = games(&path);
    let game =
        games.iter().find(|game| game.round.is_some_and(|at| at.to_string() == "40.2")).unwrap();
    let held = rmobility::of_game(&game.record).unwrap();
    assert_eq!((held.goal, held.holder), (Goal(4), Color::White));
    let white = RMobility::of_side(Some(held), Color::White);
    assert_eq!(white.as_f64(), 0.53125);
}

/// Stopped anywhere, the pool's table is that of the games so far, and only complete pairs count.
fn a_pool_that_is_not_finished() {
    let path = data("s26-4k-iii.pgn.xz");
    let games = games(&path);
    for stop in [0, 1, 14, 15, 16, 29, 30, 31, 67, 119] {
        let standings = standings(&games[..stop], "4k");
        let points: u32 = standings.rows.iter().map(|row| row.points.0).sum();
        assert_eq!(points as usize, 2 * stop);
        let pairs = gate4k::event::progress::pairs(&field(&games[..stop]));
        assert_eq!(pairs.len(), stop / 30 * 15 + (stop % 30).saturating_sub(15));
        for pair in pairs {
            assert_eq!(pair.second - pair.first, 15);
        }
    }
}

/// Three games of this event ended otherwise than by the rules of chess.
fn crashes_and_lost_clocks() {
    let path = data("s28-4k-testing.pgn.xz");
    let games = games(&path);
    assert_eq!(games.len(), 131);
    let crashed = games.iter().filter_map(|game| Some(game.player(game.record.ending.crashed()?)));
    let crashed: Vec<&str> = crashed.map(|player| player.name.as_str()).collect();
    assert_eq!(crashed.len(), 2);
    let standings = standings(&games, "s17");
    let counted: u32 = standings.rows.iter().map(|row| row.crashes).sum();
    assert_eq!(counted, 2);
    assert!(games.iter().all(|game| game.record.ending.result != GameResult::Unfinished));
}

/// A real table without a schedule, with a two-way and a three-way tie that Sonneborn-Berger breaks.
fn season_28_testing() {
    let path = data("s28-4k-testing.pgn.xz");
    let standings = standings(&games(&path), "swiss");
    let expected = [
        ("Stockfish_15_10k 17", "96.50"),
        ("Stockfish_15_3k 14.5", "59.50"),
        ("ice4 6 12.5", "122.50"),
        ("Stockfish_15_100k 12.5", "118.00"),
        ("Stockfish_15_300k 11", "108.00"),
        ("STRO4K 4.0 10", "93.25"),
        ("4ku 5.1 8.5", "75.50"),
        ("Stockfish_15_1k 8", "21.00"),
        ("4k.c 1.0 7", "87.25"),
        ("Stockfish_15_1M 7", "72.50"),
        ("Stockfish_15_30k 7", "60.00"),
        ("pygone 1.5.6 5.5", "50.50"),
        ("molly e317a0c7b8 5", "62.00"),
        ("M4sseur 1.0 3.5", "43.50"),
        ("Stockfish_15_3M 2", "21.00"),
        ("moonfish 1-41e9faca 0", "0.00"),
    ];
    assert_eq!(table(&standings), expected.map(|row| row.0));
    for (row, (_, sonneborn)) in expected.iter().enumerate() {
        assert_eq!(figure(&standings, row, Criterion::SonnebornBerger), *sonneborn);
    }
    for row in [3, 9, 10] {
        let by = Some(PlacedBy::Criterion(Criterion::SonnebornBerger));
        let rank = row as u32 + 1;
        assert_eq!(standings.rows[row].place, Place::Ranked { rank, tied: false, by });
    }
}

mod command {
    use super::*;

    fn run(words: &[&str], files: &[&Path]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_gate4k"))
            .args(words)
            .args(files)
            .env_remove("COLUMNS")
            .output()
            .unwrap()
    }

    const GAME: &str = "[Event \"E\"]\n[Round \"1.1\"]\n[White \"a <b>\"]\n[Black \"c|d\"]\n\
                        [Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n";

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games.pgn");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    fn every_format_has_every_engine() {
        let (_folder, path) = file(GAME);
        for (format, names) in [
            ("text", ["a <b>", "c|d"]),
            ("json", ["a <b>", "c|d"]),
            ("crosstable", ["a <b>", "c|d"]),
            ("markdown", ["a &lt;b&gt;", "c\\|d"]),
            ("html", ["a &lt;b&gt;", "c|d"]),
        ] {
            let output = run(&["standings", "--format", format], &[&path]);
            let (code, out, err) = told_apart(&output);
            assert_eq!((code, err.as_str()), (0, ""), "{format}");
            for name in names {
                assert!(out.contains(name), "{format}: {name} is not in {out}");
            }
        }
    }

    fn errors_name_file_game_and_line() {
        let wrong = GAME.replace("g4", "g5");
        let cases = [
            (GAME.to_owned() + &wrong, "games.pgn:15: game 2: 2. g5 is illegal"),
            (GAME.replace(" 0-1\n", "\n"), "game 1: its moves end without a result"),
            (GAME.replace(" 0-1\n", " 1-0\n"), "its tag says 0-1, but its moves end with 1-0"),
            (GAME.replace("[White \"a <b>\"]\n", ""), "it has no White tag"),
            (GAME.replace("0-1", "0-2"), "is no result"),
            (GAME.replace("[Result", "[FEN \"8/8\"]\n[Result"), "is no FEN"),
            (
                "event = \"An event\"\n".into(),
                "games.pgn is neither a PGN nor a journal; name a PGN",
            ),
        ];
        for (text, part) in cases {
            let (_folder, path) = file(&text);
            for command in ["standings", "ratings"] {
                let (code, out, err) = told_apart(&run(&[command], &[&path]));
                assert_eq!((code, out.as_str()), (2, ""), "{part}: {err}");
                assert!(err.contains(part), "{part:?} is not in {err}");
            }
        }
    }

    fn a_game_without_a_result_that_ends_in_mate_does_not_count_and_is_not_said_to() {
        let (_folder, path) = file(&(GAME.to_owned() + &GAME.replace("0-1", "*")));
        let (code, out, err) = told_apart(&run(&["standings"], &[&path]));
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(out.contains("1 game without a result: not counted"), "{out}");
    }

    fn a_wrong_ply_count_is_a_warning() {
        let (_folder, path) = file(&GAME.replace("[Result", "[PlyCount \"5\"]\n[Result"));
        for command in ["standings", "ratings"] {
            let (code, out, err) = told_apart(&run(&[command], &[&path]));
            assert!(code == 0 && !out.is_empty(), "{err}");
            let warned = "games.pgn:9: game 1: its PlyCount tag says 5, and it has 4 plies";
            assert!(
                err.contains("warning: ") && !err.contains("error: ") && err.contains(warned),
                "{err}"
            );
        }
    }

    /// The rest of a game whose tags and moves were lost, such as its result alone.
    fn text_behind_the_last_result_is_a_warning() {
        for torso in ["0-1\n", "(1. d4 d5)\n", "{cut} 0-1\n"] {
            let (_folder, path) = file(&(GAME.to_owned() + GAME + torso));
            for command in ["standings", "ratings"] {
                let (code, out, err) = told_apart(&run(&[command], &[&path]));
                assert!(code == 0 && !out.is_empty(), "{err}");
                let warned = "game 2: more text stands behind its result, and is passed over";
                assert!(err.contains("warning: ") && err.contains(warned), "{torso:?}: {err}");
            }
        }
    }

    fn no_file_and_no_game_are_nothing_to_count() {
        let (_folder, path) = file("");
        for command in ["standings", "ratings"] {
            let (code, _, err) = told_apart(&run(&[command], &[&path]));
            assert_eq!(code, 3, "{err}");
            assert!(err.contains("no games"), "{err}");
            let missing = path.with_file_name("missing.pgn");
            let (code, _, err) = told_apart(&run(&[command], &[&missing]));
            assert_eq!(code, 3, "{err}");
            assert!(err.contains("missing.pgn"), "{err}");
            assert_eq!(told_apart(&run(&[command], &[])).0, 2);
        }
    }

    fn a_packed_file_is_read_as_the_plain_one() {
        let (_folder, path) = file(GAME);
        let plain = told_apart(&run(&["standings"], &[&path]));
        let packed = path.with_file_name("games.pgn.xz");
        let mut writer =
            XzWriter::new(File::create(&packed).unwrap(), XzOptions::with_preset(6)).unwrap();
        writer.write_all(GAME.as_bytes()).unwrap();
        writer.finish().unwrap();
        assert_eq!(told_apart(&run(&["standings"], &[&packed])), plain);
        // A torn file is an error, not a shorter event.
        let mut torn = std::fs::read(&packed).unwrap();
        torn.truncate(torn.len() - 30);
        std::fs::write(&packed, torn).unwrap();
        let (code, _, err) = told_apart(&run(&["standings"], &[&packed]));
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("games.pgn.xz"), "{err}");
    }

    fn the_real_pool_through_the_command() {
        let path = data("s26-4k-iii.pgn.xz");
        let (code, out, _) = told_apart(&run(&["standings"], &[&path]));
        assert_eq!(code, 0);
        assert!(out.contains("519.75") && out.contains("34.500427"), "{out}");

        let (_, out, _) = told_apart(&run(&["standings", "--format=crosstable"], &[&path]));
        let document: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(document["Order"][0], "4ku 4.0");
        let row = &document["Table"]["4ku 4.0"];
        assert_eq!(row["Neustadtl"], 519.75);
        assert_eq!(row["Score"], 34.5);
        assert_eq!(row["Results"]["ice4 4"]["H2h"], 4.0);

        let (_, out, _) = told_apart(&run(&["ratings"], &[&path]));
        // Figures of BayesElo itself on this file, with its full covariance.
        let words: Vec<Vec<&str>> = out.lines().map(|l| l.split_whitespace().collect()).collect();
        assert!(
            words
                .iter()
                .any(|line| line
                    == &["1", "ice4", "4", "374", "123", "123", "40", "86%", "-75", "23%"]),
            "{out}"
        );
    }

    pub(crate) fn tests() -> Vec<Test> {
        tests![
            quick every_format_has_every_engine,
            quick errors_name_file_game_and_line,
            quick a_game_without_a_result_that_ends_in_mate_does_not_count_and_is_not_said_to,
            quick a_wrong_ply_count_is_a_warning,
            quick text_behind_the_last_result_is_a_warning,
            quick no_file_and_no_game_are_nothing_to_count,
            quick a_packed_file_is_read_as_the_plain_one,
            quick the_real_pool_through_the_command,
        ]
    }
}

/// Files that are far longer than the memory that their table may take.
mod memory {
    use std::fmt::Write as _;

    use super::*;
    use gate4k::event::journal::record::{GameFinished, JournalHeader, StageStarted};
    use gate4k::event::journal::{Journal, JournalRecord, VERSION};
    use gate4k::model::game::ending::Termination;

    /// In the last stage.
    const GAMES: u32 = 200;
    /// All games together are more than 12 MB.
    const WORDS: usize = 60_000;
    /// The memory that the program may allocate, in KiB: a few times what it takes for one game.
    const ROOM: u32 = 6 << 10;

    /// A directory in memory where there is one: a journal brings each record to the disk.
    fn folder() -> tempfile::TempDir {
        tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
    }

    fn journal(path: &Path) {
        let (mut journal, _) = Journal::open(path, &mut |_, _| Ok(())).unwrap();
        let mut add = |record| journal.append(&record).unwrap();
        add(JournalRecord::Header(JournalHeader {
            previous: Vec::new(),
            version: VERSION,
            event: "Long".into(),
            gate4k: String::new(),
            settings: String::new(),
            settings_sha256: String::new(),
        }));
        let moves = "g1f3 g8f6 f3g1 f6g8 ".repeat(25);
        // The table is that of the last stage; what came before is forgotten.
        for stage in 0..2 {
            let (name, seats) = (format!("Stage {stage}"), Vec::new());
            add(JournalRecord::StageStarted(StageStarted {
                stage,
                name,
                seats,
                ..StageStarted::default()
            }));
            for round in 1..=if stage == 0 { 50 } else { GAMES } {
                let [white, black] =
                    if round % 2 == 1 { ["A", "B"] } else { ["B", "A"] }.map(str::to_owned);
                add(JournalRecord::GameFinished(GameFinished {
                    id: format!("{stage}/{round}"),
                    stage,
                    round,
                    game: 1,
                    white,
                    black,
                    result: "1/2-1/2".into(),
                    termination: None,
                    details: "3-Fold repetition ".repeat(WORDS / 18),
                    reason: Termination::Threefold,
                    by_rule: None,
                    start: None,
                    moves: moves.clone(),
                    book: 0,
                    unanswered: None,
                    lasted: 0,
                    at: String::new(),
                }));
            }
        }
    }

    fn pgn(path: &Path) {
        let comment = "3-Fold repetition ".repeat(WORDS / 18);
        let mut text = String::new();
        for round in 1..=GAMES {
            let (white, black) = if round % 2 == 1 { ("A", "B") } else { ("B", "A") };
            // writing to memory does not fail
            let _ = write!(
                text,
                "[Event \"Long: Stage 1\"]\n[Round \"{round}.1\"]\n[White \"{white}\"]\n\
                 [Black \"{black}\"]\n[Result \"1/2-1/2\"]\n\n{{ {comment} }}"
            );
            for pair in 0..25 {
                let first = 2 * pair + 1;
                let _ = write!(text, "\n{first}. Nf3 Nf6 {}. Ng1 Ng8", first + 1);
            }
            text += " 1/2-1/2\n\n";
        }
        std::fs::write(path, text).unwrap();
    }

    fn a_table_needs_no_more_of_a_game_than_its_figures() {
        let folder = folder();
        let [one, other] = ["long.journal", "long.pgn"].map(|name| folder.path().join(name));
        journal(&one);
        pgn(&other);
        assert!(std::fs::metadata(&one).unwrap().len() > 12_000_000);
        let mut tables = Vec::new();
        for file in [&one, &other] {
            for format in ["text", "json"] {
                let script =
                    format!("ulimit -d {ROOM} && exec \"$0\" standings --format {format} \"$1\"");
                let output = Command::new("sh")
                    .args(["-c", &script, env!("CARGO_BIN_EXE_gate4k")])
                    .arg(file)
                    .env_remove("COLUMNS")
                    .output()
                    .unwrap();
                let told = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(output.status.success(), "{}: {told}", file.display());
                tables.push(String::from_utf8(output.stdout).unwrap());
            }
        }
        assert!(tables[0].contains("Long: Stage 1: 200 games, 100 pairs"), "{}", tables[0]);
        // The same games are the same table, wherever they stand.
        assert_eq!(tables[0], tables[2]);
        assert_eq!(tables[1], tables[3]);
    }

    pub(crate) fn tests() -> Vec<Test> {
        tests![
            quick a_table_needs_no_more_of_a_game_than_its_figures,
        ]
    }
}

pub(crate) fn tests() -> Vec<Test> {
    let mut all = tests![
        quick season_26_pool,
        quick season_26_pool_schedule,
        quick season_26_minifinal,
        quick season_24_pool,
        quick season_24_final,
        quick a_recorded_goal,
        quick a_pool_that_is_not_finished,
        quick crashes_and_lost_clocks,
        quick season_28_testing,
    ];
    all.extend(command::tests());
    all.extend(memory::tests());
    all
}
