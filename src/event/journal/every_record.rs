//! A crash of the host in the middle of every kind of record that there is.

use super::repair::repair;
use super::tests::records_of;
use super::{Journal, JournalError, JournalRecord, line};

/// The kinds, from 0. A new one belongs into [`every`], too.
const KINDS: usize = 20;

fn kind(record: &JournalRecord) -> usize {
    match record {
        JournalRecord::Header(_) => 0,
        JournalRecord::Settings(_) => 1,
        JournalRecord::Receipt(_) => 2,
        JournalRecord::History(_) => 3,
        JournalRecord::StageStarted(_) => 4,
        JournalRecord::Bye(_) => 5,
        JournalRecord::GameStarted(_) => 6,
        JournalRecord::Ply(_) => 7,
        JournalRecord::EngineKilled(_) => 8,
        JournalRecord::Interrupted(_) => 9,
        JournalRecord::GameFinished(_) => 10,
        JournalRecord::Annulled(_) => 11,
        JournalRecord::Withdrawn(_) => 12,
        JournalRecord::Decision(_) => 13,
        JournalRecord::StageFinished(_) => 14,
        JournalRecord::Fix(_) => 15,
        JournalRecord::Update(_) => 16,
        JournalRecord::Paused { .. } => 17,
        JournalRecord::EventFinished { .. } => 18,
        JournalRecord::Note { .. } => 19,
    }
}

/// One record of each kind, as a journal has it.
fn every() -> Vec<JournalRecord> {
    const FROZEN: &str = r#"{"file":"aa","engines-json":null,"allowlist":"bb"}"#;
    let receipt = format!(
        r#"{{"entry":"A","frozen":{FROZEN},"verdict":"accepted","bytes":4096,"findings":{{"size":"pass"}},"at":"t"}}"#
    );
    let played = r#""id":"e/s/1.1/a/b","stage":0,"round":1,"game":1,"white":"A","black":"B""#;
    let all = [
        r#"{"header":{"version":1,"event":"E","gate4k":"0","settings":"event = \"E\"\n","settings-sha256":"cc"}}"#.to_owned(),
        r#"{"settings":{"settings":"event = \"ü\"\n","settings-sha256":"dd","at":"t"}}"#.to_owned(),
        format!(r#"{{"receipt":{receipt}}}"#),
        r#"{"history":{"files":[{"name":"h.pgn","sha256":"ee","games":3}],"meetings":[{"white":"A","black":"B","results":[1,2,0]}]}}"#.to_owned(),
        r#"{"stage-started":{"stage":0,"name":"S","seats":["A","B"],"ratings":{"A":3000}}}"#.to_owned(),
        r#"{"bye":{"stage":0,"round":1,"engine":"A","wins":2}}"#.to_owned(),
        format!(
            r#"{{"game-started":{{{played},"attempt":1,"opening":"e2e4","time-control":"9+1","sha256":["aa","bb"],"options":["",""],"clocks":[9,9],"at":"t"}}}}"#
        ),
        r#"{"ply":{"id":"e/s/1.1/a/b","number":0,"move":"e7e5","used":5,"clocks":[9,4],"eval":-3,"pv":"g1f3","rules-in":[-1,-1]}}"#.to_owned(),
        r#"{"engine-killed":{"id":"e/s/1.1/a/b","entry":"A","why":"it hung","exit":null,"stderr":["x"]}}"#.to_owned(),
        r#"{"interrupted":{"id":"e/s/1.1/a/b","rule":"6.1.5","why":"it goes on","result":null,"clocks":[9,4],"compensation":1}}"#.to_owned(),
        format!(
            r#"{{"game-finished":{{{played},"result":"1-0","termination":null,"details":"White mates","reason":"mate","moves":"e2e4","book":1,"lasted":7,"at":"t"}}}}"#
        ),
        r#"{"annulled":{"id":"e/s/1.1/a/b","stage":0,"round":1,"game":1,"then":"played-again","reason":"r","at":"t"}}"#.to_owned(),
        r#"{"withdrawn":{"engine":"A","stage":0,"round":2,"played":"counts","reason":"r","at":"t"}}"#.to_owned(),
        r#"{"decision":{"stage":0,"order":["B","A"],"reason":"a coin","at":"t"}}"#.to_owned(),
        r#"{"stage-finished":{"stage":0,"order":["B","A"],"promoted":["B"]}}"#.to_owned(),
        format!(
            r#"{{"fix":{{"entry":"A","reason":"r","crashes":2,"before":{FROZEN},"receipt":{receipt},"at":"t"}}}}"#
        ),
        format!(
            r#"{{"update":{{"entry":"A","stage":1,"before":{FROZEN},"receipt":{receipt},"at":"t"}}}}"#
        ),
        r#"{"paused":{"why":"it was asked to stop"}}"#.to_owned(),
        r#"{"event-finished":{"winner":"B"}}"#.to_owned(),
        r#"{"note":{"text":"n"}}"#.to_owned(),
    ];
    all.iter().map(|text| serde_json::from_str(text).unwrap()).collect()
}

/// The states in which a crash may leave a record, of which only the bytes before `from` were written: the end of the file,
/// or zeros up to its length.
fn left(whole: &[u8], from: usize, to: usize) -> [Vec<u8>; 2] {
    let mut zeros = whole[..to].to_vec();
    zeros[from..].fill(0);
    [whole[..from].to_vec(), zeros]
}

/// Places within a record: all of its beginning and its end, where its form is decided, and some between them.
fn within(from: usize, to: usize) -> impl Iterator<Item = usize> {
    let head = from + line::BEGINNINGS[0].len();
    (from..to).filter(move |at| *at < head || *at + 4 > to || (at - from).is_multiple_of(17))
}

#[test]
fn every_kind_of_record_may_be_torn_and_nothing_before_it_is_lost() {
    let records = every();
    assert!(records.iter().map(kind).eq(0..KINDS));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("j");
    let (mut journal, _) = Journal::open(&path, &mut |_, _| Ok(())).unwrap();
    let mut ends = vec![0];
    for record in &records {
        journal.append(record).unwrap();
        ends.push(std::fs::metadata(&path).unwrap().len() as usize);
    }
    drop(journal);
    let whole = std::fs::read(&path).unwrap();
    let (mut offered, mut cut) = (0, 0);
    for (at, record) in records.iter().enumerate() {
        let (from, to) = (ends[at], ends[at + 1]);
        for bytes in within(from, to).flat_map(|place| left(&whole, place, to)) {
            std::fs::write(&path, &bytes).unwrap();
            let opened = Journal::open(&path, &mut |_, _| Ok(()));
            let mut journal = match opened {
                Ok((journal, torn)) => {
                    cut += usize::from(torn.is_some());
                    journal
                }
                Err(error) => {
                    assert!(matches!(error, JournalError::LastDamaged { .. }), "{error}");
                    assert_eq!(repair(&path).unwrap().unwrap().line as usize, at + 1);
                    offered += 1;
                    Journal::open(&path, &mut |_, _| Ok(())).unwrap().0
                }
            };
            assert_eq!(records_of(&path).unwrap().0, records[..at]);
            // The record that is written again is what it would have been.
            journal.append(record).unwrap();
            drop(journal);
            assert_eq!(std::fs::read(&path).unwrap(), whole[..to]);
        }
    }
    assert!(offered > 0 && cut > 0);
}
