//! The pages of events of every format: each link leads somewhere, each game is reached, and no moment of an event leaves
//! a part that is empty or makes no sense.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::audience::crawl;
use super::instants::{engine, event, event_of, event_with, stage};
use super::table::Event;

use crate::match_::engine::instant;
use crate::trials::Test;

/// The front page of the exported site, after all its pages were visited.
fn exported(event: &Event) -> String {
    let (code, text) = event.ask(&["event", "export", "site", "site"]);
    assert_eq!(code, 0, "{text}");
    let site = event.path("site");
    let visited = crawl(&site);
    let games = visited.iter().filter(|name| name.starts_with("games/") && name.ends_with(".html"));
    assert_eq!(games.count(), event.finished().len());
    fs::read_to_string(site.join("index.html")).unwrap()
}

/// The part of a page from one text to the next that follows it.
fn part<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let begin = page.find(from).unwrap_or_else(|| panic!("{from}: {page}"));
    let end = page[begin..].find(to).map_or(page.len(), |end| begin + end);
    &page[begin..end]
}

fn words(html: &str) -> String {
    let mut words = String::new();
    for piece in html.split('<') {
        words.push(' ');
        words += piece.split_once('>').map_or(piece, |(_, text)| text);
    }
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    // The end of an element is no blank.
    words.replace(" .", ".").replace(" ,", ",")
}

fn the_page_of_a_cup_is_its_bracket() {
    let format =
        "knockout = { bracket = \"equal-distance\", pairs = [1, 2], bronze = 1, early = true }";
    let event = event_of(6, "", &stage("Cup", format, ""));
    event.finish();
    let page = exported(&event);
    let bracket = words(part(&page, "<h3>Bracket</h3>", "<h3>Schedule</h3>"));
    for told in [
        "Quarterfinals",
        "Quarterfinal 1 E1 1 1 2 E5 0 0 0 E1 goes on",
        "E3 and E4 have no opponent and go on",
        "Semifinals",
        "Semifinal 2 E2 1 1 1 3",
        "Final Final E1",
        "E1 wins",
        "Match for the third place E3",
        "E3 is third",
    ] {
        assert!(bracket.contains(told), "{told}: {bracket}");
    }
    let whole = words(&page);
    for told in [
        "A knockout of 3 rounds, a match ends as soon as it is decided",
        "Places 1: E1 2: E2 3: E3 4: E4 5 to 6: E5 and E6",
        "Semifinal 1: 3 games played",
        "Match for the third place: 2 games played",
        "The first wins the event.",
    ] {
        assert!(whole.contains(told), "{told}: {whole}");
    }
    // A table by points would say something else than the bracket.
    assert!(!whole.contains("Crosstable") && !whole.contains("Ties are broken"), "{whole}");
    // Each game has its link in the rows of both engines.
    for game in event.finished().values() {
        let link = format!("href=\"games/1-{}.{}.html\" title", game["round"], game["game"]);
        assert_eq!(page.matches(&link).count(), 2, "{link}");
    }
}

fn the_page_of_a_swiss_has_its_pairings_and_byes() {
    let format = "swiss = { rounds = 3, pairing = \"monrad\", sections = 2 }";
    let event = event_with(&[32, 28, 24, 20, 16], 10, &stage("Swiss", format, "ties = \"swiss\""));
    event.finish();
    let page = exported(&event);
    let pairings = part(&page, "<h3>Pairings</h3>", "<h3>Schedule</h3>");
    let rounds: Vec<String> = pairings.split("<details").skip(1).map(words).collect();
    assert_eq!(rounds.len(), 3, "{pairings}");
    let byes = event.records("bye");
    assert_eq!(byes.len(), 3);
    for (number, (round, bye)) in rounds.iter().zip(&byes).enumerate() {
        let told = format!(
            "{} has no opponent in this round: a bye, 2 points",
            bye["engine"].as_str().unwrap()
        );
        assert!(round.contains(&format!("Round {}: 2 pairings", number + 1)), "{round}");
        assert!(round.contains(&told), "{told}: {round}");
    }
    for game in event.finished().values() {
        let link = format!("href=\"games/1-{}.{}.html\"", game["round"], game["game"]);
        assert_eq!(pairings.matches(&link).count(), 1, "{link}");
    }
    assert!(!pairings.contains("paired when"), "{pairings}");
    assert!(words(&page).contains("A Swiss of 3 rounds, 2 games a pairing."));
}

/// A Dutch Swiss, groups of its places, a league whose tie is played off, and a match.
fn season() -> Event {
    let league = "round-robin = { doubles = 1 }";
    let stages = stage(
        "Stage 1",
        "swiss = { rounds = 2, pairing = \"dutch\" }",
        "ties = [\"cumulative-opponents\", \"wins\", \"won-length\", \"lost-length\", \"organisers\"]",
    ) + &stage(
        "League",
        league,
        "from = [\"Stage 1:1..3\"]\nties = \"4k\"\npromote = 3",
    ) + &stage(
        "Tiebreak",
        "playoff = { doubles = 1, spots = 2 }",
        "from = \"League:tied\"",
    ) + &stage(
        "Final",
        "match = { pairs = 2, then = [{ pairs = 1, until = \"decisive\" }] }",
        "from = \"Tiebreak:1..2\"",
    );
    event_with(&[60, 50, 40, 30, 20], 5, &stages)
}

fn the_page_of_a_season_tells_the_terms_of_each_stage() {
    let event = season();
    event.finish();
    let page = words(&exported(&event));
    for told in [
        "A Swiss of 2 rounds, one game a pairing, by the Dutch system. Places 1 to 3 go on to League.",
        "A double round robin. Ties for its last spots are played off in Tiebreak.",
        "It is played only if places of League are tied.",
        "No game was needed; E2 and E1 go on. E2 and E1 did not have to play.",
        "A match of 2 pairs, after a tie 1 pair at a time until it is decided. The first wins the event.",
        "Games: 6 games played",
        "Over: E1 wins.",
    ] {
        assert!(page.contains(told), "{told}: {page}");
    }
}

fn a_tie_that_waits_for_the_organisers_is_told() {
    let format = "swiss = { rounds = 4, pairing = \"monrad\", sections = 2 }";
    let ties = "ties = [\"sonneborn-berger\", \"r-mobility\", \"wins\", \"direct-encounter\", \"organisers\"]";
    let event = event_of(7, "", &stage("Swiss", format, ties));
    let (code, told) = event.ask(&["event", "run", "--quiet"]);
    assert_eq!(code, 4, "{told}");
    let page = words(&exported(&event));
    let told = "24 of 24 games played. E1 and E2 are tied, and the organisers decide.";
    assert!(page.contains(told), "{page}");
}

/// The lines of a crash's folder bring an engine to the move at which it crashed, and no further.
fn the_moment_of_a_crash_plays_it_again() {
    let engines = engine(1, &["crash@20"]) + &engine(2, &["illegal@40"]);
    let event = event(&engines, "", &stage("Match", "match = { pairs = 1 }", ""));
    event.finish();
    exported(&event);
    for game in event.finished().values() {
        let folder = format!("site/crashes/1-{}.{}-1", game["round"], game["game"]);
        let told = fs::read_to_string(event.path(&folder).join("crash.txt")).unwrap();
        assert!(told.starts_with("E1 was ended: "), "{told}");
        assert!(told.contains("Exit: killed by SIGABRT\n"), "{told}");
        let dialogue = fs::read_to_string(event.path(&folder).join("dialogue.txt")).unwrap();
        let (before, question) = dialogue.rsplit_once("\n> go ").expect("a question");
        assert!(before.starts_with("> uci\n"), "{dialogue}");
        assert_eq!(before.matches("\n> go ").count(), before.matches("\n< bestmove ").count());
        assert!(told.contains("\nLinux ") && told.contains("sleep 10) | "), "{told}");
        let pgn = fs::read_to_string(event.path(&folder).join("game.pgn")).unwrap();
        assert!(pgn.contains(game["result"].as_str().unwrap()), "{pgn}");
        // The same lies beside the journal since the game ended.
        let kept = event.path(&folder.replace("site/crashes", "event.crashes"));
        for file in fs::read_dir(event.path(&folder)).unwrap().map(|file| file.unwrap()) {
            let both =
                [file.path(), kept.join(file.file_name())].map(|path| fs::read(path).unwrap());
            assert_eq!(both[0], both[1], "{file:?}");
        }
        // The move before is what it said last.
        assert!(question.contains("\n< bestmove ") && question.ends_with(")\n"), "{dialogue}");
        let moment = fs::read(event.path(&folder).join("moment.uci")).unwrap();
        let again = |arguments: &[&str]| {
            let mut engine = Command::new(instant())
                .args(arguments)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            let _ = engine.stdin.take().unwrap().write_all(&moment);
            engine.wait().unwrap().signal()
        };
        assert_eq!(again(&["crash@20"]), Some(6));
        assert_eq!(again(&["crash@22"]), None);
    }
    // Each says in which game it was, and the state of the event names the folders.
    let killed = event.records("engine-killed");
    let crashed: Vec<&Value> = killed.iter().filter(|one| one["entry"] == "E1").collect();
    let finished = event.finished();
    assert_eq!(crashed.len(), finished.len());
    let (code, status) = event.ask(&["event", "status"]);
    let (_, told) = event.ask(&["event", "status", "--format", "json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    for one in crashed {
        let game = &finished[one["id"].as_str().unwrap()];
        let folder = format!("crashes/1-{}.{}-1", game["round"], game["game"]);
        let here = format!("event.{folder}");
        assert!(code == 0 && status.contains(&format!("  {here}/: E1: ")), "{status}");
        assert!(event.path(&here).is_dir(), "{here}");
        let folders = told["crash-folders"].as_array().unwrap();
        assert!(folders.iter().any(|other| other["folder"] == folder.as_str()), "{told}");
    }
}

/// Every event is shown at many moments between its first record and its last.
fn no_moment_leaves_a_part_empty_or_without_sense() {
    let cup = "knockout = { bracket = \"equal-distance\", pairs = [1], bronze = 1, early = true }";
    let swiss = "swiss = { rounds = 2, pairing = \"monrad\" }";
    let events = [
        event_of(5, "", &stage("Cup", cup, "")),
        event_of(5, "", &stage("Swiss", swiss, "ties = \"swiss\"")),
        season(),
    ];
    for event in events {
        event.finish();
        let journal = event.path("event.journal");
        let whole = fs::read(&journal).unwrap();
        let ends: Vec<usize> =
            (0..whole.len()).filter(|at| whole[*at] == b'\n').map(|at| at + 1).collect();
        // Every moment at which something else than a move is recorded, and a few moves.
        let is_ply = |begin: usize, end: usize| {
            String::from_utf8_lossy(&whole[begin..end]).contains("\"ply\"")
        };
        let moments = ends.windows(2).enumerate();
        let moments = moments.filter(|(at, ends)| at % 40 == 0 || !is_ply(ends[0], ends[1]));
        let mut states = BTreeSet::new();
        for (_, ends) in moments {
            fs::write(&journal, &whole[..ends[1]]).unwrap();
            let (code, page) = event.ask(&["event", "export", "html"]);
            assert_eq!(code, 0, "{page}");
            for nonsense in [
                "<tbody></tbody>",
                "<ul></ul>",
                "<ol></ol>",
                "<td></td></tr><tr>",
                "first 0",
                " 0 to",
            ] {
                assert!(!page.contains(nonsense), "{nonsense}: {page}");
            }
            let text = words(&page);
            for nonsense in
                ["0 of 0", "Round 0", ",,", "..", "winner of E", "loser of E", "are tied, and the"]
            {
                assert!(!text.contains(nonsense), "{nonsense}: {text}");
            }
            states.insert(part(&page, "data-part=\"state\"", "</p>").to_owned());
            // Names stand where engines do: nobody's is empty.
            assert!(!page.contains("<th scope=\"row\"></th>"), "{page}");
        }
        assert!(states.len() >= 3, "{states:?}");
    }
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow the_page_of_a_cup_is_its_bracket,
        slow the_page_of_a_swiss_has_its_pairings_and_byes,
        slow the_page_of_a_season_tells_the_terms_of_each_stage,
        slow a_tie_that_waits_for_the_organisers_is_told,
        slow the_moment_of_a_crash_plays_it_again,
        slow no_moment_leaves_a_part_empty_or_without_sense,
    ]
}
