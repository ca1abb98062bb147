//! Events that an older gate4k has begun: their journals are read, verified and played on.

use std::fs;
use std::path::Path;

use gate4k::event::journal::{self, JournalError};
use gate4k::event::ledger::Ledger;
use serde_json::Value;

use super::instants::{event_with, stage};
use super::table::Event;

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
        fs::copy(data.join(entry), event.path(name).join("engine")).unwrap();
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

/// Organisers tidy up: the journal holds all that is shown.
fn an_event_is_shown_when_its_entries_are_gone_and_is_not_played() {
    let event = begun_by_0_1();
    for name in ["elf", "elf32", "twin"] {
        fs::remove_dir_all(event.path(name)).unwrap();
    }
    for words in [
        &["event", "status"][..],
        &["event", "verify"],
        &["event", "export", "pgn"],
        &["event", "export", "settings"],
        &["event", "export", "site", "site"],
        &["event", "annul", "2.1", "--reason", "a ruling after all"],
    ] {
        let (code, told) = event.ask(words);
        assert_eq!(code, 0, "{words:?}: {told}");
    }
    for words in [["event", "run"], ["event", "plan"]] {
        let (code, told) = event.ask(&words);
        assert_eq!(code, 2, "{words:?}: {told}");
        assert!(told.contains("there is no entry at"), "{told}");
    }
}

/// The records of a journal, which follow each other as they should.
fn records(path: &Path) -> Vec<journal::JournalRecord> {
    let mut ledger = Ledger::default();
    let mut records = Vec::new();
    journal::read(path, &mut |_, record| {
        records.push(record.clone());
        ledger.apply(record)
    })
    .unwrap();
    records
}

/// The power may go at each record's end and within each record; ext4 then leaves zeros, or a part of them.
fn a_real_journal_loses_nothing_that_was_on_the_disk_wherever_the_power_goes() {
    let event = begun_by_0_1();
    let path = event.path("event.journal");
    power_goes(&path);
}

/// The same for what 0.1 did not write: sums that hold each other, a bye, a game that is struck out, an engine that leaves,
/// places that are shared.
fn a_journal_of_now_loses_nothing_that_was_on_the_disk_wherever_the_power_goes() {
    let swiss = "swiss = { rounds = 2, pairing = \"monrad\" }";
    let event = event_with(&[4; 5], 0, &stage("Swiss", swiss, "ties = [\"wins\", \"shared\"]"));
    event.finish();
    let struck = ["event", "annul", "2.4", "--reason", "a test"];
    let left = ["event", "withdraw", "E5", "--reason", "a test"];
    for words in [struck, left] {
        let (code, told) = event.ask(&words);
        assert_eq!(code, 0, "{told}");
    }
    event.finish();
    for kind in ["bye", "annulled", "withdrawn", "stage-finished", "event-finished"] {
        assert!(!event.records(kind).is_empty(), "{kind}");
    }
    power_goes(&event.path("event.journal"));
}

/// Tries it at each record's end, its middle, and both.
fn power_goes(path: &Path) {
    let whole = fs::read(path).unwrap();
    let mut begins = vec![0];
    begins
        .extend(whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1));
    for (kept, ends) in begins.windows(2).enumerate() {
        fs::write(path, &whole[..ends[0]]).unwrap();
        let before = records(path);
        assert_eq!(before.len(), kept);
        let middle = ends[0] + (ends[1] - ends[0]) / 2;
        let zeros = |from: usize, to: usize| {
            let mut bytes = whole[..ends[1]].to_vec();
            bytes[from..to].fill(0);
            bytes
        };
        let left = [
            whole[..middle].to_vec(),
            whole[..ends[1] - 1].to_vec(),
            zeros(ends[0], ends[1]),
            zeros(middle, ends[1]),
            zeros(ends[0], middle),
            zeros(middle, ends[1] - 1),
        ];
        for bytes in left {
            fs::write(path, &bytes).unwrap();
            let opened = journal::Journal::open(path, &mut |_, _| Ok(())).map(|_| ());
            if let Err(JournalError::LastDamaged { .. }) = opened {
                assert_eq!(fs::read(path).unwrap(), bytes);
                assert!(journal::repair(path).unwrap().is_some());
            } else {
                opened.unwrap();
            }
            assert!(records(path) == before, "{kept} records");
        }
    }
}

/// The same through the program: status and verify name what is wrong, and repair mends it.
fn a_last_record_of_zeros_is_repaired_on_request() {
    let event = begun_by_0_1();
    let path = event.path("event.journal");
    let mut bytes = fs::read(&path).unwrap();
    let begin = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let end = bytes.len() - 1;
    bytes[begin..end].fill(0);
    fs::write(&path, &bytes).unwrap();
    for words in [&["event", "status"][..], &["event", "verify"], &["event", "run", "--quiet"]] {
        let (code, told) = event.ask(words);
        assert!(
            code == 2 && told.contains("zero bytes") && told.contains("event repair"),
            "{told}"
        );
    }
    assert_eq!(fs::read(&path).unwrap(), bytes);
    let (code, told) = event.ask(&["event", "repair"]);
    let kept = format!("event.journal.cut-{begin}");
    assert!(code == 0 && told.contains(&kept), "{told}");
    assert_eq!(fs::read(event.path(&kept)).unwrap(), bytes[begin..]);
    assert_eq!(event.ask(&["event", "verify"]).0, 0);
    let (code, told) = event.ask(&["event", "repair"]);
    assert!(code == 0 && told.contains("nothing to repair"), "{told}");
}

/// A checksum vouches for each line, not for its having been written once.
fn a_game_that_stands_twice_is_refused() {
    let event = begun_by_0_1();
    let path = event.path("event.journal");
    let copy = event.path("twice.journal");
    let (mut again, _) = journal::Journal::open(&copy, &mut |_, _| Ok(())).unwrap();
    journal::read(&path, &mut |_, record| {
        again.append(&record).unwrap();
        if let journal::JournalRecord::GameFinished(_) = &record {
            again.append(&record).unwrap();
        }
        Ok(())
    })
    .unwrap();
    drop(again);
    for command in ["standings", "ratings"] {
        let (code, told) = event.ask(&[command, "twice.journal"]);
        assert!(code == 2 && told.contains("has ended before"), "{told}");
    }
    fs::copy(&copy, &path).unwrap();
    assert_eq!(event.ask(&["event", "status"]).0, 2);
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
    // The third game went on (rule 6.1.5), or was decided, once; a host that is too busy for the referee may interrupt
    // games, too, and each of these is told.
    let notes = event.records("note");
    let of_host = |note: &&Value| note["text"].to_string().contains("the referee did not run for ");
    let others = notes.iter().filter(of_host).count();
    assert_eq!(event.records("interrupted").len(), 1 + others);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick a_journal_of_0_1_is_read_and_verified,
        quick an_event_is_shown_when_its_entries_are_gone_and_is_not_played,
        slow a_real_journal_loses_nothing_that_was_on_the_disk_wherever_the_power_goes,
        slow a_journal_of_now_loses_nothing_that_was_on_the_disk_wherever_the_power_goes,
        quick a_last_record_of_zeros_is_repaired_on_request,
        quick a_game_that_stands_twice_is_refused,
        slow an_event_begun_by_0_1_goes_on_to_its_winner [Landlock],
    ]
}
