//! Files of games and of an event as an organiser has them who moves from elsewhere: in any order, with other events beside
//! them, and by the event files that `event new` writes.

use super::odd_files::{LEAGUE, LONG, MATCH, Row, differences, files, games, league, pgn, row};

/// A cup of four engines in three files, each with its date.
fn cup() -> [String; 4] {
    let part = |name, date: &str, rows: &[(&str, &str)]| {
        let mut all = Vec::new();
        for (white, black) in rows {
            all.push(row(name, "1.1", white, black, "0-1"));
            all.push(row(name, "1.2", black, white, "1/2-1/2"));
        }
        pgn(&all, "1. e4").replace("[Round", &format!("[Date \"2026.01.{date}\"]\n[Round"))
    };
    [
        part("Bronze", "03", &[("d", "b")]),
        part("Final", "04", &[("c", "a")]),
        part("Semis", "02", &[("b", "a"), ("d", "c")]),
        part("Testing", "01", &[("x", "y")]),
    ]
}

const CUP: &str =
    "[[stage]]\nname = \"Cup\"\nformat = { knockout = { pairs = [1], bronze = 1 } }\n";

#[test]
fn files_of_a_knockout_are_taken_in_the_order_of_their_dates() {
    let [bronze, last, semis, _] = cup();
    let one = format!("{bronze}{last}{semis}");
    let three = [bronze.as_bytes(), last.as_bytes(), semis.as_bytes()];
    for given in [&three[..], &[one.as_bytes()]] {
        let replay = files(CUP, given);
        assert_eq!(differences(&replay, 0), [""; 0]);
        assert_eq!(
            replay.notes,
            ["the files are not in the order of play; the dates of their games give it"]
        );
        let places: Vec<&str> =
            replay.stages[0].table.iter().map(|row| row.engine.as_str()).collect();
        assert_eq!(places, ["a", "c", "b", "d"]);
    }
}

/// Cups 1 and 2: each match has an Event tag, and a match of a round may have been played later than its place.
#[test]
fn matches_of_a_file_keep_their_places_whatever_their_dates() {
    let [bronze, last, semis, _] = cup();
    let first = semis.rfind("[Event").and_then(|at| semis[..at].rfind("[Event")).unwrap();
    let (one, other) = semis.split_at(first);
    for date in ["01.01", "01.02"] {
        let first = one.replace("Semis", "Match 1");
        let second = other.replace("Semis", "Match 2").replace("01.02", date);
        let semis = format!("{first}{second}");
        let replay = files(CUP, &[bronze.as_bytes(), last.as_bytes(), semis.as_bytes()]);
        assert_eq!(differences(&replay, 0), [""; 0]);
        let places = replay.stages[0].table.iter().map(|row| row.engine.as_str());
        assert_eq!(places.collect::<Vec<_>>(), ["a", "c", "b", "d"]);
    }
}

#[test]
fn the_only_stage_takes_no_other_event_beside_its_own() {
    let [bronze, last, semis, other] = cup();
    let stage = CUP.replace("format", "games = [\"Semis\", \"Bronze\", \"Final\"]\nformat");
    let replay =
        files(&stage, &[bronze.as_bytes(), other.as_bytes(), last.as_bytes(), semis.as_bytes()]);
    assert_eq!(differences(&replay, 0), [""; 0]);
    assert_eq!(replay.notes, ["2 games of \"E - Testing\" belong to no stage of the event"]);
    // A league that takes whatever there is tells how much that is.
    let all = LEAGUE.replace("format", "games = \"*\"\nformat");
    let replay = files(&all, &[pgn(&league(), LONG).as_bytes(), other.as_bytes()]);
    let told = "the games of League have 2 Event tags: 12 of \"E - League\", 2 of \"E - Testing\"";
    assert!(replay.notes.contains(&told.to_owned()), "{:?}", replay.notes);
}

/// As in the 4k events: the pool has the event's own name, and the final more words.
#[test]
fn a_stage_whose_name_no_tag_has_takes_the_games_of_the_event() {
    let stages =
        format!("{}{}", LEAGUE.replace("League", "Pool"), MATCH.replace("Match", "MiniFinal"));
    let mut rows = league();
    rows.iter_mut().for_each(|row| row.0 = "4k");
    rows.push(row("4k MiniFinal", "1.1", "a", "d", "1-0"));
    rows.push(row("4k Testing", "1.1", "a", "x", "1-0"));
    let replay = games(&stages, &rows);
    assert_eq!(replay.stages[0].games, 12);
    assert_eq!(
        replay.notes,
        [
            "12 games of \"E - 4k\" are taken for Pool, of which there are no others",
            "1 game of \"E - 4k Testing\" belongs to no stage of the event",
        ]
    );
    // The pool alone.
    let replay = games(&stages, &rows[..12]);
    assert_eq!((replay.stages[0].games, differences(&replay, 0).len()), (12, 0));
    assert_eq!(replay.notes.len(), 2, "{:?}", replay.notes);
}

#[test]
fn a_game_that_breaks_off_in_a_comment_counts_by_its_tags() {
    let mut text = pgn(&league(), "1. e4 {good}");
    text.truncate(text.rfind('}').unwrap());
    let replay = files(LEAGUE, &[text.as_bytes()]);
    assert_eq!((replay.stages[0].games, differences(&replay, 0).len()), (12, 0));
    assert!(replay.notes[0].contains("game 12 breaks off, its tags count"), "{:?}", replay.notes);
}

#[test]
fn a_swiss_of_single_games_in_place_of_double_ones_is_one_difference() {
    let stage = |games: u32| {
        format!(
            "[[stage]]\nname = \"Swiss\"\nformat = {{ swiss = {{ rounds = 1, pairing = \"monrad\", games = {games} }} }}\n"
        )
    };
    let single = [row("Swiss", "1.1", "d", "c", "0-1"), row("Swiss", "1.2", "b", "a", "0-1")];
    let told = |number, rows: &[Row]| differences(&games(&stage(number), rows), 0);
    assert_eq!(told(1, &single), [""; 0]);
    assert_eq!(told(2, &single), ["lengths the stage: 2 games of each pair; 1 game of each pair"]);
    let mut double = Vec::new();
    for one in &single {
        double.push(one.clone());
        double.push(row("Swiss", &one.1, &one.3, &one.2, "1-0"));
    }
    assert_eq!(told(2, &double), [""; 0]);
    assert_eq!(told(1, &double), ["lengths the stage: 1 game of each pair; 2 games of each pair"]);
}

#[test]
fn a_cup_of_other_lengths_and_colours_is_a_difference_a_round_and_one() {
    let [bronze, last, semis, _] = cup();
    let all = format!("{semis}{bronze}{last}");
    let told = |stage: &str| differences(&files(stage, &[all.as_bytes()]), 0);
    assert_eq!(
        told(&CUP.replace("[1]", "[2, 1]")),
        ["lengths round 1: 2 pairs a match, to their end; 1 pair a match, to their end"]
    );
    let upper = told(&CUP.replace("pairs", "white-first = \"upper\", pairs"));
    assert_eq!(
        upper,
        ["colours the stage: White first for the upper places; White first for the lower places"]
    );
}

/// Rules 6 and 7 of the leagues: those who are level for the Superfinal play for it, and nobody where points tell who goes on.
#[test]
fn a_conditional_tiebreak_is_of_those_who_are_level() {
    let tiebreak = "[[stage]]\nname = \"Tiebreak\"\nfrom = \"League:tied\"\nformat = { playoff = { doubles = 1, spots = 2 } }\n";
    let last = "[[stage]]\nname = \"Final\"\nfrom = \"Tiebreak:1..2\"\nformat = { match = { pairs = 1 } }\nseating = \"reversed-ranking\"\n";
    let stages = format!("{LEAGUE}{tiebreak}{last}");
    // The better letter wins, but b and c draw: they are level behind a.
    let mut rows = league();
    for row in &mut rows {
        let better = |name: &str| "abcd".find(name).unwrap_or(9);
        let (white, black) = (better(&row.2), better(&row.3));
        row.4 = if white.abs_diff(black) == 1 && white + black == 3 {
            "1/2-1/2"
        } else if white < black {
            "1-0"
        } else {
            "0-1"
        };
    }
    let playoff =
        [row("Tiebreak", "1.1", "c", "b", "1-0"), row("Tiebreak", "2.1", "b", "c", "1/2-1/2")];
    let finals = |second: &str| {
        [row("Final", "1.1", second, "a", "0-1"), row("Final", "1.2", "a", second, "1-0")]
    };
    let told = |rows: &[Row]| {
        let replay = games(&stages, rows);
        (0..replay.stages.len()).flat_map(|stage| differences(&replay, stage)).collect::<Vec<_>>()
    };
    let all = |playoff: &[Row], second: &str| [&rows[..], playoff, &finals(second)].concat();
    assert_eq!(told(&all(&playoff, "c")), [""; 0]);
    let other = told(&all(&playoff, "b"));
    assert_eq!(other.len(), 2, "{other:?}");
    assert!(other[0].starts_with("promotions place 2 of Tiebreak"), "{other:?}");
    // An engine that is not level for a spot does not play for it.
    let strange = [playoff[0].clone(), playoff[1].clone(), row("Tiebreak", "3.1", "d", "b", "0-1")];
    assert_eq!(told(&all(&strange, "c"))[0], "promotions level in League: nobody else; d");
    // Without the games of it the table's tie-breaks say who went on.
    let replay = games(&stages, &all(&[], "b"));
    assert_eq!(replay.notes, ["there are no games of Tiebreak, for which b, c are level"]);
    // Nobody was level, and nobody played.
    let mut clear = rows.clone();
    clear
        .iter_mut()
        .filter(|row| row.4 == "1/2-1/2")
        .for_each(|row| row.4 = if row.2 == "b" { "1-0" } else { "0-1" });
    let replay = games(&stages, &[&clear[..], &finals("b")].concat());
    assert!(replay.agrees() && replay.notes.is_empty(), "{replay:?}");
}

/// Two games at a time: a file has them in the order in which they ended, and its times tell in which they began.
#[test]
fn games_that_were_played_at_the_same_time_are_in_order() {
    let mut rows = league();
    rows.chunks_mut(2).for_each(|round| round.swap(0, 1));
    let text = |second: fn(usize) -> usize| {
        let all = rows.iter().enumerate().map(|(at, row)| {
            let time = format!(
                "[GameStartTime \"2026-01-01T12:{:02}:{:02}.000 UTC\"]\n[Round",
                at / 2,
                second(at)
            );
            pgn(std::slice::from_ref(row), "1. e4").replace("[Round", &time)
        });
        all.collect::<String>()
    };
    let ended = files(LEAGUE, &[text(|at| 1 - at % 2).as_bytes()]);
    assert!(ended.agrees() && ended.stages[0].notes.is_empty(), "{ended:?}");
    // One after the other in this order: it is the one in which they were played.
    let other = files(LEAGUE, &[text(|at| at % 2).as_bytes()]);
    assert_eq!(differences(&other, 0).len(), 6);
}

/// Season 17's rule 15.c: whoever crashes three times is out, and plays no more.
#[test]
fn games_that_a_disqualified_engine_does_not_play_are_no_difference() {
    let crash = |row: &Row| {
        let text = pgn(std::slice::from_ref(row), "1. e4");
        let lost = "[TerminationDetails \"White disconnects\"]\n[Result \"0-1\"";
        text.replace("[Result \"1-0\"", lost).replace("e4 1-0", "e4 0-1")
    };
    // d has White in three games; of the others two were not played.
    let rows = league();
    let is_played = |row: &&Row| row.3 != "d" || row.2 == "b";
    let text: String = rows
        .iter()
        .filter(is_played)
        .map(|row| if row.2 == "d" { crash(row) } else { pgn(std::slice::from_ref(row), "1. e4") })
        .collect();
    let limited = |limit| format!("{LEAGUE}terms = {{ crash-limit = {limit} }}\n");
    let told = |limit: u32| files(&limited(limit), &[text.as_bytes()]);
    let replay = told(3);
    assert_eq!(differences(&replay, 0), [""; 0], "{text}");
    assert_eq!(replay.stages[0].notes, ["d crashed too often: 2 games of it were not played"]);
    assert_eq!(differences(&told(4), 0).len(), 2);
}

#[test]
fn rounds_of_which_nothing_is_there_are_one_difference() {
    let rows: Vec<Row> =
        league().into_iter().filter(|row| !row.1.starts_with(['2', '3', '5'])).collect();
    let replay = games(LEAGUE, &rows);
    assert_eq!(
        differences(&replay, 0),
        [
            "games rounds 2 to 3: 4 games; there are no such games",
            "games round 5: 2 games; there are no such games",
        ]
    );
}

/// A game without a result may be the one that decides who is ahead.
#[test]
fn the_order_of_a_stage_that_is_not_whole_gives_no_colours() {
    let last = "[[stage]]\nname = \"Final\"\nfrom = \"League:1..2\"\nformat = { match = { pairs = 1 } }\nseating = \"reversed-ranking\"\n";
    let mut rows = league();
    rows.iter_mut().for_each(|row| row.4 = if row.2 < row.3 { "1-0" } else { "0-1" });
    let finals = [row("Final", "1.1", "a", "b", "1-0"), row("Final", "1.2", "b", "a", "0-1")];
    let told = |rows: &[Row]| games(&format!("{LEAGUE}{last}"), &[rows, &finals].concat());
    assert_eq!(differences(&told(&rows), 1), ["colours game 1: b – a; a – b"]);
    rows[11].4 = "*";
    let replay = told(&rows);
    assert_eq!(differences(&replay, 1), [""; 0]);
    assert_eq!(
        replay.stages[1].notes,
        ["games are missing before it, and its own tell who is ahead"]
    );
}
