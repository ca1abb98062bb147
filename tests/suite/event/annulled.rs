//! Games that the organisers strike out, and what every view then shows.

use gate4k::event::journal::record::{AfterAnnulment, Annulled};
use gate4k::event::journal::{Journal, JournalRecord};
use gate4k::model::game::ending::{GameEnding, Termination};
use shakmaty::Color;

use super::past::{Past, REPEATED, WHITE_MATES};
use super::table::{Event, MINIFINAL, POOL};

use crate::trials::Test;

/// A pool of two in which A has won as White and lost by a crash as Black.
fn played() -> Event {
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "0.5+0.01", POOL);
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    past.game(1, "A", "B", WHITE_MATES);
    let crash = GameEnding::win(Color::White, Termination::Crash { exit: None });
    past.ended(2, "B", "A", REPEATED.strip_suffix(" f6g8").unwrap(), crash);
    past.add(JournalRecord::Paused { why: "a test".into() });
    event
}

fn an_annulled_game_counts_for_nobody_and_is_not_played_again() {
    let event = played();
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains("crashed: A, 1"), "{status}");
    let (code, text) = event.ask(&["event", "annul", "2.1", "--reason", "the disk was full"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("small/pool/2.1/b/a: annulled by the organisers: the disk"), "{text}");
    let (code, again) = event.ask(&["event", "annul", "Pool 2.1", "--reason", "x"]);
    assert!(code == 2 && again.contains("annulled already"), "{again}");
    let (code, none) = event.ask(&["event", "annul", "7.1", "--reason", "x"]);
    assert!(code == 2 && none.contains("no game \"7.1\" has been played"), "{none}");

    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains("annulled by the organisers: the disk was full"), "{status}");
    assert!(!status.contains("crashed: A"), "{status}");
    let (code, table) = event.ask(&["standings", "event.journal"]);
    assert!(
        code == 0
            && table.contains("small/pool/2.1/b/a: annulled by the organisers: the disk was full"),
        "{table}"
    );
    assert!(table.contains("Small: Pool: 1 game"), "{table}");
    let (_, pgn) = event.ask(&["event", "export", "pgn"]);
    let game = pgn.split("[Event ").nth(2).unwrap();
    for tag in ["[Result \"*\"]", "[Termination \"annulled\"]", "Annulled: the disk was full"] {
        assert!(game.contains(tag), "{tag} is not in {game}");
    }
    event.write("all.pgn", &pgn);
    let (code, of_pgn) = event.ask(&["standings", "all.pgn"]);
    assert!(code == 0 && of_pgn.contains("1 game without a result"), "{of_pgn}");

    let text = event.finish();
    assert!(text.contains("Small is over: A wins"), "{text}");
    assert_eq!(event.finished().len(), 2);
}

/// The game that decides a stage, and the event with it, can be struck out until another stage begins.
fn the_deciding_game_is_played_again_until_a_later_stage_begins() {
    let entries = [("A", "elf"), ("B", "elf32")];
    let event = Event::new(&entries, "0.5+0.01", POOL);
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    past.game(1, "A", "B", WHITE_MATES);
    past.game(2, "B", "A", REPEATED);
    drop(past);
    let text = event.finish();
    assert!(text.contains("Small is over: A wins"), "{text}");
    let (code, text) = event.ask(&["event", "replay", "2.1", "--reason", "a wrong opening"]);
    assert!(code == 0 && text.contains("Pool is open again"), "{text}");
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains("in Pool") && !status.contains("over"), "{status}");
    let (code, told) = event.ask(&["event", "verify"]);
    assert_eq!(code, 0, "{told}");
    event.finish();
    assert_eq!(event.records("stage-finished").len(), 2);
    assert_eq!(event.records("event-finished").len(), 2);
    let (code, page) = event.ask(&["event", "export", "json"]);
    assert!(code == 0 && page.contains("\"winners\""), "{page}");
    let (code, told) = event.ask(&["event", "annul", "1.1", "--reason", "a wrong opening"]);
    assert_eq!(code, 0, "{told}");

    let event = Event::new(&entries, "0.5+0.01", &format!("{POOL}{MINIFINAL}"));
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    past.game(1, "A", "B", WHITE_MATES);
    past.game(2, "B", "A", REPEATED);
    past.over(["A", "B"]);
    past.stage(&["B", "A"]);
    drop(past);
    let (code, late) = event.ask(&["event", "replay", "Pool 2.1", "--reason", "x"]);
    assert!(code == 2 && late.contains("Pool is over, and MiniFinal has begun"), "{late}");
}

fn a_replayed_game_is_played_from_its_beginning_and_counted_once() {
    let event = played();
    let id = "small/pool/2.1/b/a";
    let (code, text) = event.ask(&["event", "replay", id, "--reason", "a power cut"]);
    assert_eq!(code, 0, "{text}");
    let (_, status) = event.ask(&["event", "status"]);
    assert!(status.contains("annulled and played again by the organisers: a power"), "{status}");
    assert!(status.contains("Pool: 1 of 2 games"), "{status}");
    event.finish();
    let games = event.records("game-finished");
    let again: Vec<_> = games.iter().filter(|game| game["id"] == id).collect();
    assert_eq!(again.len(), 2);
    assert_ne!(again[0]["moves"], again[1]["moves"]);
    let (code, table) = event.ask(&["standings", "event.journal"]);
    assert!(code == 0 && table.contains("Small: Pool: 2 games"), "{table}");
    let (_, list) = event.ask(&["ratings", "event.journal"]);
    assert!(list.contains("2"), "{list}");
    // Both stand in the export, the first without a result.
    let (_, pgn) = event.ask(&["event", "export", "pgn"]);
    assert_eq!(pgn.matches("[Round \"2.1\"]").count(), 2);
    assert_eq!(pgn.matches("[Termination \"annulled\"]").count(), 1);
    event.write("all.pgn", &pgn);
    let (code, of_pgn) = event.ask(&["standings", "all.pgn"]);
    assert!(code == 0 && of_pgn.contains("Small: Pool: 2 games"), "{of_pgn}");
}

/// An annulled game's place is played after all where the organisers think again.
fn a_game_that_was_annulled_may_be_played_again() {
    let event = played();
    assert_eq!(event.ask(&["event", "annul", "2.1", "--reason", "a power cut"]).0, 0);
    assert_eq!(event.ask(&["event", "replay", "2.1", "--reason", "both agreed"]).0, 0);
    let journal = std::fs::read(event.path("event.journal")).unwrap();
    for command in ["annul", "replay"] {
        let (code, text) = event.ask(&["event", command, "2.1", "--reason", "x"]);
        assert!(code == 2 && text.contains("to be played again already"), "{text}");
    }
    assert_eq!(std::fs::read(event.path("event.journal")).unwrap(), journal);
    event.finish();
    let (_, table) = event.ask(&["standings", "event.journal"]);
    assert!(table.contains("Small: Pool: 2 games") && !table.contains("annulled"), "{table}");
}

/// A has won the first two games of four and B the third, so that the fourth is due, which is under way. gate4k 0.2 struck the
/// third one out, and ended the match with the fourth open.
fn a_game_on_which_one_under_way_rests_is_not_struck_out_before_it() {
    let stage = "[[stage]]\nname = \"M\"\nbook = \"book.txt\"\ndraw = \"seeds\"\nformat = { match = { pairs = 2, \
                 early = true, then = [{ pairs = 1, until = \"decisive\" }] } }\n";
    let event = Event::new(&[("A", "elf"), ("B", "elf32")], "0.5+0.01", stage);
    let mut past = Past::new(&event);
    past.stage(&["A", "B"]);
    past.game(1, "A", "B", WHITE_MATES);
    let crash = |winner| GameEnding::win(winner, Termination::Crash { exit: None });
    past.ended(2, "B", "A", "e2e4 e7e5", crash(Color::Black));
    past.opening = "d2d4 d7d5";
    past.ended(3, "A", "B", "d2d4 d7d5", crash(Color::Black));
    past.ended(4, "B", "A", "d2d4 d7d5", crash(Color::White));
    drop(past);
    let whole = std::fs::read_to_string(event.path("event.journal")).unwrap();
    let (begun, _) = whole.trim_end().rsplit_once('\n').unwrap();
    event.write("event.journal", &format!("{begun}\n"));
    let (code, told) = event.ask(&["event", "verify"]);
    assert_eq!(code, 0, "{told}");
    for command in ["annul", "replay"] {
        let (code, told) = event.ask(&["event", command, "3.1", "--reason", "lag"]);
        assert!(code == 2 && told.contains("small/m/4.1/b/a would not be due"), "{told}");
    }
    let (mut journal, _) = Journal::open(&event.path("event.journal"), &mut |_, _| Ok(())).unwrap();
    let struck = Annulled {
        id: "small/m/3.1/a/b".into(),
        stage: 0,
        round: 3,
        game: 1,
        then: AfterAnnulment::Nothing,
        reason: "lag".into(),
        at: String::new(),
    };
    journal.append(&JournalRecord::Annulled(struck)).unwrap();
    drop(journal);
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert!(code == 2 && told.contains("4.1/b/a is under way, and is not due"), "{code} {told}");
    assert!(event.records("stage-finished").is_empty());
    assert_eq!(event.ask(&["event", "annul", "4.1", "--reason", "lag"]).0, 0);
    let told = event.finish();
    assert!(told.contains("Small is over: A wins"), "{told}");
}

fn the_first_settings_are_printed_whatever_became_of_the_event_file() {
    let event = played();
    let begun_with = std::fs::read_to_string(event.path("event.toml")).unwrap();
    assert_eq!(event.ask(&["event", "export", "settings"]), (0, begun_with.clone()));
    event.write("event.toml", "");
    assert_eq!(event.ask(&["event", "export", "settings"]), (0, begun_with.clone()));
    event.write("event.toml", &begun_with);
    let (_, paused) = event.ask(&["event", "status"]);
    assert!(paused.contains("paused: a test") && !paused.contains("no runner"), "{paused}");
    // The same journal without its last record, as a runner leaves it that was killed.
    let journal = std::fs::read_to_string(event.path("event.journal")).unwrap();
    let (rest, _) = journal.trim_end().rsplit_once('\n').unwrap();
    event.write("event.journal", &format!("{rest}\n"));
    let (_, killed) = event.ask(&["event", "status"]);
    assert!(killed.contains("in Pool; no runner is at work"), "{killed}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow an_annulled_game_counts_for_nobody_and_is_not_played_again [Landlock],
        slow the_deciding_game_is_played_again_until_a_later_stage_begins [Landlock],
        slow a_replayed_game_is_played_from_its_beginning_and_counted_once [Landlock],
        slow a_game_that_was_annulled_may_be_played_again [Landlock],
        slow a_game_on_which_one_under_way_rests_is_not_struck_out_before_it [Landlock],
        quick the_first_settings_are_printed_whatever_became_of_the_event_file,
    ]
}
