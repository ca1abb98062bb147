//! Engines that do not start, or end as soon as they are asked: nothing is forfeited untried, and nothing is endless.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::past::Past;
use super::table::{Event, POOL};

use crate::trials::Test;

const MATCH: &str = "[[stage]]\nname = \"Match\"\nformat = { pairs = 1 }\n\
    book-policy = \"each\"\nbook = \"book.txt\"\ndraw = \"seeds\"\ntie-breaks = \"4k\"\npromote = 1\n";
const NEVER_STARTS: &str = "#!/bin/sh\necho no luck today >&2\nexit 3\n";
const CRASHES: &str = "#!/bin/sh\nwhile read -r l;do case $l in uci)echo uciok;;isready)echo readyok;;\
    go*|quit)exit 9;;esac;done\n";

/// Puts a script in an entry's place; the event takes it for the one that passed the gate.
pub(super) fn script(event: &Event, name: &str, text: &str) {
    let path = event.path(name).join("engine");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn an_engine_that_does_not_start_pauses_the_event_and_forfeits_nothing() {
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "0.5+0.01", POOL);
    script(&event, "B", NEVER_STARTS);
    drop(Past::new(&event));
    for _ in 0..4 {
        let (code, text) = event.ask(&["event", "run", "--quiet"]);
        assert_eq!(code, 4, "{text}");
        for part in ["B does not start", "no luck today", "nothing is forfeited", "event forfeit"] {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
        assert!(event.finished().is_empty(), "{text}");
    }
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains("paused: B does not start"), "{status}");
    // The organisers may say that it is at fault, and nobody else.
    let forfeit = |loser: &str, place: &str| {
        let words = ["event", "forfeit", place, "--loser", loser, "--reason", "its file is broken"];
        event.ask(&words)
    };
    let (code, text) = forfeit("C", "1.1");
    assert!(code == 2 && text.contains("C does not play in small/pool/1.1/a/b"), "{text}");
    let (code, text) = forfeit("B", "2.1");
    assert!(code == 2 && text.contains("there are small/pool/1.1/a/b"), "{text}");
    let (code, text) = forfeit("B", "1.1");
    assert!(code == 0 && text.contains("1-0 {Black does not start}"), "{text}");
    assert_eq!(event.ask(&["event", "run", "--quiet"]).0, 4);
    assert_eq!(forfeit("B", "Pool 2.1").0, 0);
    let text = event.finish();
    assert!(text.contains("Small is over: A wins"), "{text}");
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains("crashed: B, 2"), "{status}");
}

/// Neither can win a pair; each would have lost every game as White, for ever.
fn a_match_whose_engines_both_do_not_start_pauses() {
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "0.5+0.01", MATCH);
    script(&event, "A", NEVER_STARTS);
    script(&event, "B", NEVER_STARTS);
    drop(Past::new(&event));
    let (code, text) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 4 && text.contains("A does not start"), "{text}");
    assert!(event.finished().is_empty(), "{text}");
}

fn a_match_whose_engines_both_crash_at_every_move_is_bounded() {
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "5+0.1", MATCH);
    script(&event, "A", CRASHES);
    script(&event, "B", CRASHES);
    drop(Past::new(&event));
    for run in 1..=2 {
        let (code, text) = event.ask(&["event", "run", "--quiet"]);
        assert_eq!(code, 4, "{text}");
        assert!(text.contains("Match is still level after 25 more pairs"), "{text}");
        assert_eq!(event.finished().len(), 2 + run * 50);
    }
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains("paused: Match is still level"), "{status}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow an_engine_that_does_not_start_pauses_the_event_and_forfeits_nothing [Landlock],
        slow a_match_whose_engines_both_do_not_start_pauses [Landlock],
        slow a_match_whose_engines_both_crash_at_every_move_is_bounded [Landlock],
    ]
}
