//! Endgame tables: what is read from real ones, and games that end by them. `GATE4K_SYZYGY` names a directory with tables
//! (python-chess brings some of three and four pieces with its source), `GATE4K_PYTHON` a python3 that can
//! `import chess`.

use std::fs;
use std::process::Command;

use gate4k::game::tables::Tables;
use gate4k::model::game::result::GameResult;
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Color, Position, PositionError};

use super::table::Table;

use crate::needs::{python, tables};
use crate::trials::Test;

/// Positions of every material that there are tables for, with what the second reader of tables says of them.
const ASK: &str = r"
import sys, random, pathlib, chess, chess.syzygy
random.seed(7)
with chess.syzygy.open_tablebase(sys.argv[1]) as tables:
    for file in sorted(pathlib.Path(sys.argv[1]).glob('*.rtbw')):
        white, black = file.stem.split('v')
        done = 0
        while done < 40:
            board = chess.Board(None)
            squares = random.sample(range(64), len(white) + len(black))
            swap = random.random() < 0.5
            for color, side in ((chess.WHITE ^ swap, white), (chess.BLACK ^ swap, black)):
                for letter in side:
                    piece = chess.Piece(chess.PIECE_SYMBOLS.index(letter.lower()), color)
                    board.set_piece_at(squares.pop(), piece)
            board.turn = random.random() < 0.5
            if board.is_valid() and any(board.legal_moves):
                print(tables.probe_wdl(board), board.fen())
                done += 1
";

fn position(fen: &str) -> Chess {
    let setup = fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard);
    setup.or_else(PositionError::ignore_impossible_check).unwrap()
}

fn a_second_reader_of_tables_agrees() {
    let directory = tables().unwrap();
    let asked = Command::new(python()).args(["-c", ASK]).arg(&directory).output().unwrap();
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let tables = Tables::open([&directory]).unwrap();
    let mut counts = [0; 3];
    for line in String::from_utf8(asked.stdout).unwrap().lines() {
        let (wdl, fen) = line.split_once(' ').unwrap();
        let position = position(fen);
        // From the mover's side; one step from the middle is a win that the fifty-move rule takes away.
        let expected = match wdl {
            "2" => GameResult::Win(position.turn()),
            "-2" => GameResult::Win(!position.turn()),
            _ => GameResult::Draw,
        };
        let ending = tables.probe(&position).unwrap_or_else(|| panic!("no word on {fen}"));
        assert_eq!(ending.result, expected, "{fen}");
        let kind = match expected {
            GameResult::Win(Color::White) => 0,
            GameResult::Win(Color::Black) => 1,
            _ => 2,
        };
        counts[kind] += 1;
    }
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");

    // While castling is possible, with a piece too many, and without the table: nothing.
    for fen in ["8/8/8/8/8/6k1/8/4K2R w K - 0 1", "7k/8/8/8/8/8/8/1NNBK1N1 w - - 0 1"] {
        assert!(tables.probe(&position(fen)).is_none(), "{fen}");
    }
    assert!(tables.probe(&position("8/8/8/8/8/6k1/8/4K2R w - - 0 1")).is_some());
    let few = tempfile::tempdir().unwrap();
    fs::copy(directory.join("KRvK.rtbw"), few.path().join("KRvK.rtbw")).unwrap();
    let tables = Tables::open([few.path()]).unwrap();
    assert!(tables.probe(&position("8/8/8/8/8/6k1/8/4K2R w - - 0 1")).is_some());
    assert!(tables.probe(&position("8/8/8/8/8/6k1/8/4K2Q w - - 0 1")).is_none());
}

fn games_end_by_the_tables() {
    let directory = tables().unwrap();
    let table = Table::set("syzygy");
    // After any answer of Black, a rook wins and two knights do not.
    for (fen, result) in
        [("7k/8/5K2/8/8/8/8/R7 b - - 0 1", "1-0"), ("7k/8/5K2/8/8/8/8/NN6 b - - 0 1", "1/2-1/2")]
    {
        let book = table.path("book.epd");
        fs::write(&book, fen).unwrap();
        for file in ["events", "pgn"] {
            let _ = fs::remove_file(table.path(file));
        }
        let engines = [table.engine("A", ""), table.engine("B", "seed=2")];
        let more = ["--openings", book.to_str().unwrap(), "--syzygy", directory.to_str().unwrap()];
        let played = table.play(&engines, &more);
        assert_eq!((played.code, played.games().len()), (0, 2), "{}", played.err);
        for game in played.games() {
            assert_eq!(game["result"], result, "{game}");
            assert_eq!(game["details"], "Syzygy tables", "{game}");
        }
        assert!(played.pgn.contains("[PlyCount \"1\"]"), "{}", played.pgn);
    }
    let engines = [table.engine("A", ""), table.engine("B", "seed=2")];
    let empty = tempfile::tempdir().unwrap();
    let played = table.play(&engines, &["--syzygy", empty.path().to_str().unwrap()]);
    assert_eq!(played.code, 2, "{}", played.err);
    assert!(played.err.contains("no endgame tables in"), "{}", played.err);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_second_reader_of_tables_agrees [Tables, PythonChess],
        slow games_end_by_the_tables [Tables],
    ]
}
