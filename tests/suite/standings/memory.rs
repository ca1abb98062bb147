//! Files that are far longer than the memory that their table may take.

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
