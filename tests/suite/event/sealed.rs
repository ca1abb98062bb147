//! Journals that were made anew after they were written: what their sums hold, and what only a seal does.

use std::fs;
use std::path::Path;

use gate4k::event::journal::{self, Journal, JournalRecord};

use super::past::Past;
use super::table::{Event, POOL};

use crate::trials::Test;

/// A journal of an event whose entries are frozen, and nothing more.
fn frozen() -> Event {
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "5+0.1", POOL);
    Past::new(&event);
    event
}

/// Writes the journal anew with other records, and with sums that fit.
fn rewrite(path: &Path, change: impl Fn(&mut JournalRecord)) {
    let mut records = Vec::new();
    journal::read(path, &mut |_, record| {
        records.push(record);
        Ok(())
    })
    .unwrap();
    fs::remove_file(path).unwrap();
    let (mut journal, _) = Journal::open(path, &mut |_, _| Ok(())).unwrap();
    for mut record in records {
        change(&mut record);
        journal.append(&record).unwrap();
    }
}

/// The sum of the last record, as `event verify` prints it.
fn sum(event: &Event) -> String {
    let (code, told) = event.ask(&["event", "verify"]);
    assert_eq!(code, 0, "{told}");
    let line = told.lines().find(|line| line.starts_with("sum of 3 records: ")).unwrap();
    line.rsplit(' ').next().unwrap().to_owned()
}

fn an_edited_or_spliced_journal_is_damaged() {
    let event = frozen();
    let path = event.path("event.journal");
    let whole = fs::read_to_string(&path).unwrap();
    sum(&event);
    let edited = whole.replacen("\"accepted\"", "\"rejected\"", 1);
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    // The last record of a journal that was begun otherwise.
    rewrite(&path, |record| {
        if let JournalRecord::Header(header) = record {
            header.event = "Other".into();
        }
    });
    let other = fs::read_to_string(&path).unwrap();
    let spliced = [lines[0], lines[1], other.split_inclusive('\n').nth(2).unwrap()].concat();
    for (text, word, line) in
        [(edited, "is damaged", "line 2"), (spliced, "is not whole", "line 3")]
    {
        fs::write(&path, text).unwrap();
        let (code, told) = event.ask(&["event", "verify"]);
        assert!(code == 2 && told.contains(word) && told.contains(line), "{code} {told}");
        let (code, told) = event.ask(&["event", "run"]);
        assert!(code == 2 && told.contains(line), "{code} {told}");
    }
}

fn a_journal_made_anew_has_another_sum_and_breaks_its_seal() {
    let event = frozen();
    let journal = event.path("event.journal");
    let before = sum(&event);
    let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
    event.write("key", &pair.sk.to_box(None).unwrap().into_string());
    let public = pair.pk.to_base64();
    let verify = ["event", "verify", "--public-key", &public];
    let (code, told) = event.ask(&verify);
    assert!(code == 1 && told.contains("there is no seal event.journal.seal"), "{code} {told}");

    let (code, told) = event.ask(&["event", "seal", "--sign-key", "key"]);
    assert!(code == 0 && told.contains(&before), "{code} {told}");
    let (code, told) = event.ask(&verify);
    assert!(code == 0 && told.contains("after 3 records by the key"), "{code} {told}");
    // A journal that has gone on keeps its seal.
    let (mut writer, _) = Journal::open(&journal, &mut |_, _| Ok(())).unwrap();
    writer.append(&JournalRecord::Note { text: "more".into(), rule: None }).unwrap();
    drop(writer);
    let (code, told) = event.ask(&verify);
    assert!(code == 0 && told.contains("after 3 records by the key"), "{code} {told}");

    let whole = fs::read(&journal).unwrap();
    rewrite(&journal, |record| {
        if let JournalRecord::Receipt(receipt) = record {
            receipt.verdict = "rejected".into();
        }
    });
    // Only the seal tells.
    for words in [&verify[..2], &verify] {
        let (code, told) = event.ask(words);
        assert!(code == 1 && told.contains("not those that were sealed"), "{code} {told}");
    }
    fs::write(&journal, &whole).unwrap();
    let (code, told) = event.ask(&verify);
    assert_eq!(code, 0, "{told}");

    // A journal that is shorter than its seal, a seal for something else, and one of another's key.
    let shorter = whole.split_inclusive(|byte| *byte == b'\n').take(2).collect::<Vec<_>>().concat();
    fs::write(&journal, shorter).unwrap();
    let (code, told) = event.ask(&verify);
    assert!(code == 1 && told.contains("3 records were sealed"), "{code} {told}");
    fs::write(&journal, &whole).unwrap();
    let seal = fs::read_to_string(event.path("event.journal.seal")).unwrap();
    event.write("event.journal.seal", &seal.replace("records: 3", "records: 4"));
    let (code, told) = event.ask(&verify);
    assert!(code == 1 && told.contains("signature does not hold"), "{code} {told}");
    event.write("event.journal.seal", &seal);
    let other = minisign::KeyPair::generate_unencrypted_keypair().unwrap().pk.to_base64();
    let (code, told) = event.ask(&["event", "verify", "--public-key", &other]);
    assert_eq!(code, 1, "{told}");

    // One that was emptied is a fault as long as there is the seal.
    fs::write(&journal, "").unwrap();
    for words in [&verify[..2], &verify] {
        let (code, told) = event.ask(words);
        assert!(code == 1 && told.contains("3 records were sealed"), "{code} {told}");
    }
}

/// Before its first record an event has not begun, which is no fault of its journal: every command says so in the same words.
fn a_journal_without_a_record_is_of_an_event_that_has_not_begun() {
    let event = frozen();
    let journal = event.path("event.journal");
    let first = fs::read(&journal).unwrap()[..20].to_vec();
    let commands: [&[&str]; 11] = [
        &["status"],
        &["status", "--format", "json"],
        &["verify"],
        &["pause"],
        &["export", "pgn"],
        &["export", "json"],
        &["export", "html"],
        &["export", "site", "site"],
        &["export", "settings"],
        &["annul", "1.1", "--reason", "x"],
        &["decide", "--order", "A,B", "--reason", "x"],
    ];
    for (text, why) in [
        (Some(&b""[..]), "its journal event.journal holds no record; `gate4k event run "),
        (Some(&first[..]), "its journal event.journal holds no record; `gate4k event run "),
        (None, "there is no journal event.journal; `gate4k event run "),
    ] {
        match text {
            Some(text) => fs::write(&journal, text).unwrap(),
            None => fs::remove_file(&journal).unwrap(),
        }
        for words in commands {
            let (code, told) = event.ask(&[&["event"][..], words].concat());
            let begins = format!("the event has not begun: {why}event.toml` begins it");
            assert!(code == 3 && told.contains(&begins), "{words:?}: {code} {told}");
            assert!(!told.contains("wrong") && !event.path("site").exists(), "{told}");
        }
        if text.is_none_or(<[u8]>::is_empty) {
            let (code, told) = event.ask(&["event", "repair"]);
            assert!(code == 3 && told.contains(why), "{code} {told}");
        }
    }
}

fn a_journal_that_is_no_file_ends_at_once() {
    let event = frozen();
    let journal = event.path("event.journal");
    fs::remove_file(&journal).unwrap();
    nix::unistd::mkfifo(&journal, nix::sys::stat::Mode::S_IRWXU).unwrap();
    for command in ["verify", "status", "run"] {
        let (code, told) = event.ask(&["event", command]);
        assert!(code == 2 && told.contains("no regular file"), "{command}: {code} {told}");
    }
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick an_edited_or_spliced_journal_is_damaged,
        quick a_journal_made_anew_has_another_sum_and_breaks_its_seal,
        quick a_journal_without_a_record_is_of_an_event_that_has_not_begun,
        quick a_journal_that_is_no_file_ends_at_once,
    ]
}
