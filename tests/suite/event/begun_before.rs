//! Events that an older gate4k has begun: their journals are read, verified and played on.

use std::fs;
use std::path::Path;

use super::table::{Event, shipped};

use crate::trials::Test;

/// The event that gate4k 0.1 began and was killed in: two games had ended, a third was in its thirteenth ply.
fn begun_by_0_1() -> Event {
    let event = Event { dir: tempfile::tempdir().unwrap() };
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/journals/0.1");
    for file in ["event.toml", "minifinal.txt", "allowlist.toml", "event.journal"] {
        fs::copy(data.join(file), event.path(file)).unwrap();
    }
    for (name, entry) in [("elf", "elf"), ("elf32", "elf32"), ("twin", "elf")] {
        fs::create_dir(event.path(name)).unwrap();
        fs::copy(shipped(entry).join("engine"), event.path(name).join("engine")).unwrap();
    }
    event
}

fn a_journal_of_0_1_is_read_and_verified() {
    let event = begun_by_0_1();
    let (code, told) = event.ask(&["event", "verify"]);
    assert_eq!(code, 0, "{told}");
    let (code, table) = event.ask(&["standings", "event.journal"]);
    assert_eq!(code, 0, "{table}");
    assert!(table.contains("Journal of 0.1: Pool: 2 games"), "{table}");
    let (code, pgn) = event.ask(&["event", "export", "pgn"]);
    assert_eq!(code, 0, "{pgn}");
    assert_eq!(pgn.matches("[Event \"Journal of 0.1: Pool\"]").count(), 2, "{pgn}");
}

fn an_event_begun_by_0_1_goes_on_to_its_winner() {
    let event = begun_by_0_1();
    let before = event.finished();
    assert_eq!(before.len(), 2);
    event.finish();
    let games = event.finished();
    // The games that had ended stay as they were; six of the pool and two of the MiniFinal at least.
    assert!(before.iter().all(|(id, game)| games.get(id) == Some(game)));
    assert!(games.len() >= 8, "{}", games.len());
    assert_eq!(event.records("event-finished").len(), 1);
    // The third game went on (rule 6.1.5), or was decided, once.
    assert_eq!(event.records("interrupted").len(), 1);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick a_journal_of_0_1_is_read_and_verified,
        slow an_event_begun_by_0_1_goes_on_to_its_winner [Landlock],
    ]
}
