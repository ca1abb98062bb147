//! An event from its gate to its winner, its runner killed at any moment.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::processes::{descendants, wait_for_end};
use super::table::{Event, MINIFINAL, POOL, wanted};
use super::whole::{check, six};

use crate::seed::Chance;
use crate::trials::Test;

/// Runs an event with its runner killed at random moments, the first of them while the gate is at work; then
/// plays it to its end.
fn play_killed(event: &Event, kills: u32) -> String {
    let mut chance = Chance::of("an event is killed");
    let mut moment = |most| Duration::from_millis(40 + chance.below(most));
    let mut before = BTreeMap::new();
    let (mut killed, mut in_gate) = (0, 0);
    for kill in 0..kills {
        let mut child = event.start();
        let mut end = Instant::now() + moment(1800);
        if kill >= kills / 4 {
            // The first games come when the gate is through.
            while event.records("game-started").is_empty() && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(20));
            }
            end = end.max(Instant::now() + moment(100));
        }
        while Instant::now() < end && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        let started = descendants(child.id());
        killed += u32::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
        assert_eq!(wait_for_end(started), [], "processes are left");
        in_gate += u32::from(event.records("stage-started").is_empty());
        let now = event.finished();
        for (id, game) in &before {
            assert_eq!(now.get(id), Some(game), "{id} changed");
        }
        before = now;
        if kill % 5 == 4 {
            // As if the kill had come in the middle of a write; this record is no journal's first.
            let path = event.path("event.journal");
            let record = br#"{"n":99999,"crc":"0123abcd","record":{"note":{"text":"torn"}}}"#;
            let has_begun = fs::metadata(&path).is_ok_and(|file| file.len() > 0);
            if let Some(mut file) =
                has_begun.then(|| fs::OpenOptions::new().append(true).open(path).unwrap())
            {
                file.write_all(&record[..1 + kill as usize % (record.len() - 1)]).unwrap();
            }
        }
    }
    assert!(killed > 0, "no kill of {kills} found a runner; {in_gate} came before the first game");
    let text = event.finish();
    assert!(text.ends_with(" wins\n"), "{text}");
    let games = event.finished();
    for (id, game) in &before {
        assert_eq!(games.get(id), Some(game), "{id} changed");
    }
    for ruling in event.records("interrupted") {
        assert!(ruling["rule"].as_str().unwrap().starts_with("6.1."), "{ruling}");
    }
    text
}

/// `GATE4K_KILLS=100` does it a hundred times to the event of six.
fn an_event_of_six_survives_being_killed_a_hundred_times() {
    let event = six("1+0.01", 4, 25);
    play_killed(&event, wanted("GATE4K_KILLS").unwrap());
    check(&event, 4, 25);
}

fn an_event_is_played_to_its_winner_and_survives_being_killed() {
    let entries = [("A", "elf"), ("B", "elf32"), ("C", "c-gzip")];
    let event = Event::new(&entries, "1+0.01", &format!("{POOL}{MINIFINAL}"));
    play_killed(&event, 12);
    let games = event.finished();
    let of_stage = |stage: u64| games.values().filter(|game| game["stage"] == stage).count();
    assert_eq!(of_stage(0), 6);
    assert!(of_stage(1) >= 2 && of_stage(1).is_multiple_of(2));
    // The pool's winner is Black in the first game of the MiniFinal (rule 3.2).
    let order = &event.records("stage-finished")[0]["order"];
    let first = games.values().find(|game| game["stage"] == 1 && game["round"] == 1).unwrap();
    assert_eq!(first["black"], order[0]);

    // The views that follow from the journal.
    let (code, status) = event.ask(&["event", "status"]);
    assert!(code == 0 && status.contains("Pool: over, 6 games"), "{status}");
    let (_, pgn) = event.ask(&["event", "export", "pgn"]);
    assert_eq!(pgn.matches("[Event ").count(), games.len());
    fs::write(event.path("pool.pgn"), pgn.split("[Event \"Small: MiniFinal").next().unwrap())
        .unwrap();
    let (_, by_pgn) = event.ask(&["standings", "pool.pgn"]);
    let (code, by_journal) = event.ask(&["standings", "event.journal", "--stage", "Pool"]);
    assert_eq!((code, by_journal), (0, by_pgn));
    let (code, html) = event.ask(&["event", "export", "html"]);
    assert!(code == 0 && html.matches("</html>").count() == 1);
    let (code, json) = event.ask(&["event", "export", "json"]);
    assert_eq!(code, 0);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["stages"].as_array().unwrap().len(), 2);
    assert_eq!(event.ask(&["ratings", "event.journal"]).0, 0);

    // A last record that is torn is cut off; damage before it is told and nothing is touched.
    let whole = fs::read(event.path("event.journal")).unwrap();
    fs::write(event.path("event.journal"), &whole[..whole.len() - 7]).unwrap();
    let text = event.finish();
    assert!(text.contains("was torn"), "{text}");
    assert_eq!(fs::read(event.path("event.journal")).unwrap(), whole);
    let mut damaged = whole;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(event.path("event.journal"), &damaged).unwrap();
    let line = damaged[..middle].iter().filter(|byte| **byte == b'\n').count() + 1;
    for command in ["run", "verify", "status"] {
        let (code, text) = event.ask(&["event", command]);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(&format!("is damaged at line {line} (byte ")), "{text}");
    }
    assert_eq!(fs::read(event.path("event.journal")).unwrap(), damaged);
}

pub(crate) fn tests() -> Vec<Test> {
    let mut all =
        tests![slow an_event_is_played_to_its_winner_and_survives_being_killed [Landlock, Xz]];
    // It takes minutes, and is there only where it is asked for.
    if wanted("GATE4K_KILLS").is_some() {
        all.extend(tests![
            slow an_event_of_six_survives_being_killed_a_hundred_times
                [Landlock, Xz, Python3, PerlModules]
        ]);
    }
    all
}
