//! Chess960 and its double, through the real program: engines that Debian ships, PGN that a second authority on chess reads
//! back, events that are killed and gone on with, and clear words for who cannot play it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::match_::engine::instant;
use crate::needs::{installed, python};
use crate::test_folder::TestFolder;
use crate::trials::Test;

/// Replays a file with castling as Chess960 has it; prints its games and its castlings.
const REPLAY: &str = r#"
import sys, chess, chess.pgn
games = castlings = 0
with open(sys.argv[1]) as file:
    while True:
        game = chess.pgn.read_game(file)
        if game is None:
            break
        games += 1
        assert not game.errors, (games, game.errors)
        board = game.board()
        assert board.chess960 and game.headers["SetUp"] == "1", game.headers
        assert board.fen() == game.headers["FEN"], (board.fen(), game.headers["FEN"])
        for move in game.mainline_moves():
            assert move in board.legal_moves, (games, move)
            castlings += board.is_castling(move)
            board.push(move)
        if game.headers["TerminationDetails"].endswith(" mates"):
            assert board.is_checkmate() and board.result() == game.headers["Result"], games
print(games, castlings)
"#;

/// Plays a match of both fishes; its games as the stream tells them.
fn play(hall: &TestFolder, more: &[&str]) -> Vec<Value> {
    let [fish, fairy] = fishes();
    let words = ["match", &fish, &fairy, "--tc", "nodes=300", "--quiet"];
    let files = ["--pgn", "games.pgn", "--events", "events"];
    let (code, told) = hall.ask(&[&words[..], &files, more].concat());
    assert_eq!(code, 0, "{told}");
    let events = fs::read_to_string(hall.path("events")).unwrap();
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let games: Vec<Value> = events.filter(|event| event["event"] == "game-finished").collect();
    let faults = ["illegal-move", "crash", "stall", "no-start"];
    for game in &games {
        assert!(faults.iter().all(|fault| game["reason"].get(fault).is_none()), "{game}");
    }
    games
}

/// The games and castlings that python-chess reads in a file.
fn replayed(hall: &TestFolder, name: &str) -> (usize, usize) {
    let output = Command::new(python())
        .args(["-c", REPLAY])
        .arg(hall.path(name))
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", fs::read_to_string(hall.path(name)).unwrap());
    let told = String::from_utf8(output.stdout).unwrap();
    let (games, castlings) = told.trim().split_once(' ').unwrap();
    (games.parse().unwrap(), castlings.parse().unwrap())
}

fn program(name: &str) -> PathBuf {
    installed(name).unwrap()
}

fn fishes() -> [String; 2] {
    let words = |name: &str| {
        format!("name={name} cmd={} options.Hash=4 options.Threads=1", program(name).display())
    };
    [words("stockfish"), words("fairy-stockfish")]
}

fn games_from_numbers_are_read_back_by_a_second_authority() {
    let hall = TestFolder::new();
    // A number for each two games: 100, 101 and so on.
    let games = play(&hall, &["--variant", "chess960", "--rounds", "8", "--start", "101"]);
    assert_eq!(games.len(), 16);
    let fen = |number: u32| {
        let text = number.to_string().parse::<gate4k::game::start_positions::StartNumber>();
        gate4k::game::notation::fen(&text.unwrap().position().unwrap())
    };
    for (number, game) in (0..).zip(&games) {
        assert_eq!(game["fen"], fen(100 + number / 2), "{game}");
    }
    let pgn = fs::read_to_string(hall.path("games.pgn")).unwrap();
    for (tag, count) in [("[Variant \"fischerandom\"]", 16), ("[SetUp \"1\"]", 16), ("[FEN \"", 16)]
    {
        assert_eq!(pgn.matches(tag).count(), count, "{tag}");
    }
    let castled = pgn.matches("O-O").count();
    let (read, castlings) = replayed(&hall, "games.pgn");
    assert_eq!(read, 16);
    // Expected lines have castlings, too.
    assert!(castlings > 0 && castlings <= castled, "{castlings} of {castled}");
    let (code, table) = hall.ask(&["standings", "games.pgn"]);
    assert!(code == 0 && table.contains("16 games"), "{table}");
}

/// The same seed draws the same positions, and a book names them.
fn double_chess960_is_drawn_by_a_seed_or_named_by_a_book() {
    let hall = TestFolder::new();
    let drawn = ["--variant", "double-chess960", "--rounds", "2", "--shuffle", "7"];
    let fens = |games: &[Value]| {
        games.iter().map(|game| game["fen"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let first = fens(&play(&hall, &[&drawn[..], &["--max-plies", "4"]].concat()));
    fs::remove_file(hall.path("games.pgn")).unwrap();
    fs::remove_file(hall.path("events")).unwrap();
    assert_eq!(first, fens(&play(&hall, &[&drawn[..], &["--max-plies", "6"]].concat())));
    assert!(first[0] == first[1] && first[1] != first[2], "{first:?}");
    let sides = |fen: &str| {
        let ranks: Vec<&str> = fen.split(' ').next().unwrap().split('/').collect();
        (ranks[0].to_uppercase(), ranks[7].to_owned())
    };
    assert!(first.iter().any(|fen| sides(fen).0 != sides(fen).1));
    fs::remove_file(hall.path("games.pgn")).unwrap();
    fs::remove_file(hall.path("events")).unwrap();
    hall.write("book.txt", "336:518 e2e4\n0:959\n");
    let book = ["--variant", "double-chess960", "--openings", "book.txt", "--rounds", "2"];
    let games = play(&hall, &book);
    assert_eq!(games[0]["fen"], "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/BBNRKQRN w KQkq - 0 1");
    assert_eq!(games[0]["opening"], serde_json::json!(["e2e4"]));
    assert_eq!(replayed(&hall, "games.pgn").0, 4);
}

fn who_does_not_offer_chess960_is_refused_before_the_first_game() {
    let hall = TestFolder::new();
    let engine = |name: &str| format!("name={name} cmd={}", instant().display());
    let words = ["match", &engine("A"), &engine("B"), "--variant", "chess960", "--pgn", "p.pgn"];
    let (code, told) = hall.ask(&words);
    assert!(code == 2 && told.contains("A and B offer no option UCI_Chess960"), "{told}");
    assert!(!hall.path("p.pgn").exists());
    let text = "event = \"E\"\ntime-control = \"1+0.1\"\nvariant = \"chess960\"\n\
        [[engine]]\nname = \"A\"\ncmd = PROGRAM\n[[engine]]\nname = \"B\"\ncmd = PROGRAM\n\
        [[stage]]\nname = \"League\"\nformat = { round-robin = { doubles = 1 } }\nties = \"frd\"\n";
    let text = text.replace("PROGRAM", &format!("{:?}", instant()));
    hall.write("event.toml", text.clone() + "start-seed = 7\n");
    let (code, told) = hall.ask(&["event", "run"]);
    assert!(code == 2 && told.contains("A and B offer no option UCI_Chess960"), "{told}");
    let (code, told) = hall.ask(&["event", "plan"]);
    assert!(code == 0 && told.contains("1 start position, drawn by the lot of 7"), "{told}");
    for (more, expected) in [
        ("", "start-seed = 7"),
        ("book-policy = \"none\"\n", "begins from a start position"),
        ("start-seed = 7\nbook = \"b.txt\"\n", "both say where games begin"),
        ("start-seed = 7\nvariant = \"standard\"\n", "draws start positions of Chess960"),
    ] {
        hall.write("event.toml", text.clone() + more);
        let (code, told) = hall.ask(&["event", "plan"]);
        assert!(code == 2 && told.contains(expected), "{expected:?} is not in {told}");
    }
}

fn an_entry_is_told_that_chess960_is_not_for_it() {
    let hall = TestFolder::new();
    let entry = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/accept/elf/engine");
    let entry = entry.to_str().unwrap();
    let engine = format!("name=B cmd={}", instant().display());
    let (code, told) = hall.ask(&["match", entry, &engine, "--variant", "chess960"]);
    assert!(code == 2 && told.contains("an entry is for classical chess"), "{told}");
    let text = format!(
        "event = \"E\"\ntime-control = \"1+0.1\"\nvariant = \"chess960\"\n\
         [[entry]]\nname = \"A\"\npath = {entry:?}\n[[engine]]\nname = \"B\"\ncmd = {:?}\n\
         [[stage]]\nname = \"S\"\nformat = {{ match = {{ pairs = 1 }} }}\nstart-seed = 1\n",
        instant()
    );
    hall.write("event.toml", &text);
    let (code, told) = hall.ask(&["event", "run"]);
    assert!(code == 2 && told.contains("event.toml:3:"), "{told}");
    assert!(told.contains("A is an [[entry]]") && told.contains("no UCI_Chess960"), "{told}");
}

/// A league in Chess960 and a match in its double, killed within both and gone on with.
fn an_event_of_chess960_is_killed_gone_on_with_verified_and_read_back() {
    let hall = TestFolder::new();
    let engine = |name: &str, path: &Path, seed: u32| {
        format!("[[engine]]\nname = {name:?}\ncmd = {path:?}\nseed = {seed}\n")
    };
    let text = "event = \"FRD\"\ntime-control = \"0.6+0.006\"\ncompensation = \"100ms\"\nhash = 4\n\
        draw-rule = \"new\"\nmargin = \"10s\"\nvariant = \"chess960\"\n"
        .to_owned()
        + &engine("Stockfish", &program("stockfish"), 1)
        + &engine("Fairy", &program("fairy-stockfish"), 2)
        + "[[stage]]\nname = \"League\"\nformat = { round-robin = { doubles = 1 } }\nties = \"frd\"\n\
           promote = 2\nbook = \"starts.txt\"\n\
           [[stage]]\nname = \"Final\"\nvariant = \"double-chess960\"\nstart-seed = 7\n\
           format = { match = { pairs = 1, then = [{ pairs = 1, until = \"decisive\" }] } }\n\
           seating = \"reversed-ranking\"\n";
    hall.write("event.toml", &text);
    hall.write("starts.txt", "# a bookmaker's choice\n354 e2e4\n");
    let journal = || fs::read_to_string(hall.path("event.journal")).unwrap_or_default();
    for until in ["\"ply\"", "\"game-finished\"", "\"stage\":1,\"name\":\"Final\""] {
        let mut child = hall.command(&["event", "run", "--quiet"]).spawn().unwrap();
        while !journal().contains(until) && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::thread::sleep(std::time::Duration::from_millis(300));
        let _ = child.kill();
        child.wait().unwrap();
        let (code, told) = hall.ask(&["event", "verify"]);
        assert!(code == 0 || told.contains("is torn"), "{told}");
    }
    let (mut code, mut told) = hall.ask(&["event", "run", "--quiet"]);
    if told.contains("the organisers decide") {
        let order = ["--order", "Stockfish,Fairy", "--reason", "drawn by lot"];
        let (decided, words) = hall.ask(&[&["event", "decide"][..], &order].concat());
        assert_eq!(decided, 0, "{words}");
        (code, told) = hall.ask(&["event", "run", "--quiet"]);
    }
    assert!(code == 0 && told.contains(" wins"), "{told}");
    let (code, told) = hall.ask(&["event", "verify"]);
    assert_eq!(code, 0, "{told}");
    assert!(journal().contains("\"attempt\":2"), "no game went on");
    let (code, pgn) = hall.ask(&["event", "export", "pgn"]);
    assert_eq!(code, 0, "{pgn}");
    hall.write("event.pgn", &pgn);
    let (games, _) = replayed(&hall, "event.pgn");
    assert!(games >= 4, "{pgn}");
    assert_eq!(pgn.matches("[Variant \"fischerandom\"]").count(), games);
    // The page steps back to each game's own position.
    let (code, told) = hall.ask(&["event", "export", "site", "site"]);
    assert_eq!(code, 0, "{told}");
    let mut pages = 0;
    for file in fs::read_dir(hall.path("site/games")).unwrap() {
        let page = file.unwrap().path();
        if page.extension().is_some_and(|ending| ending == "html") {
            let own = fs::read_to_string(page.with_extension("pgn")).unwrap();
            let fen = own.lines().find_map(|line| line.strip_prefix("[FEN \"")).unwrap();
            let start = format!("data-start=\"{}\"", fen.trim_end_matches("\"]"));
            assert!(fs::read_to_string(&page).unwrap().contains(&start), "{start}");
            pages += 1;
        }
    }
    assert_eq!(pages, games);
    for file in ["event.journal", "event.pgn"] {
        let (code, table) = hall.ask(&["standings", file]);
        assert!(code == 0 && table.contains("Stockfish"), "{table}");
    }
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow games_from_numbers_are_read_back_by_a_second_authority
            [Stockfish, FairyStockfish, PythonChess],
        slow double_chess960_is_drawn_by_a_seed_or_named_by_a_book
            [Stockfish, FairyStockfish, PythonChess],
        slow who_does_not_offer_chess960_is_refused_before_the_first_game,
        slow an_entry_is_told_that_chess960_is_not_for_it [Landlock],
        slow an_event_of_chess960_is_killed_gone_on_with_verified_and_read_back
            [Stockfish, FairyStockfish, PythonChess],
    ]
}
