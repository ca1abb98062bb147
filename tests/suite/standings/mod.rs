//! Real events: what the program counts must be what was recorded.

mod command;
mod memory;

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
