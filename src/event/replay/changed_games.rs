//! Games as they were played, of which one was changed, lost or written otherwise since: that is one difference, which names it.

use super::odd_files::{
    LEAGUE, LONG, MATCH, Row, differences, files, games, league, pgn, row, swiss, swiss_rows,
};

/// Five pairs of a match that a wins.
fn five_pairs() -> Vec<Row> {
    let one = |round: usize| {
        let (white, black) = if round % 2 == 1 { ("a", "b") } else { ("b", "a") };
        row(
            "Match",
            &format!("{round}.1"),
            white,
            black,
            if white == "a" { "1-0" } else { "1/2-1/2" },
        )
    };
    (1..=10).map(one).collect()
}

const CUP: &str = "[[stage]]\nname = \"Cup\"\n\
                   format = { knockout = { bracket = \"equal-distance\", pairs = [2], bronze = 1 } }\n";

/// A cup of four, tagged as an event of ours is: the match and its game. The better letter wins each game.
fn cup() -> Vec<Row> {
    let mut rows = Vec::new();
    for (number, pair, length) in [(1, "ba", 4), (2, "dc", 4), (3, "db", 2), (4, "ca", 4)] {
        for game in 1..=length {
            let (white, black) = if game % 2 == 1 { (0, 1) } else { (1, 0) };
            let at = |at: usize| &pair[at..=at];
            let result = if at(white) < at(black) { "1-0" } else { "0-1" };
            rows.push(row("Cup", &format!("{number}.{game}"), at(white), at(black), result));
        }
    }
    rows
}

fn turned(row: &Row) -> Row {
    let result = match row.4 {
        "1-0" => "0-1",
        "0-1" => "1-0",
        other => other,
    };
    Row(row.0, row.1.clone(), row.3.clone(), row.2.clone(), result)
}

#[test]
fn a_game_that_is_missing_is_told_and_nothing_follows_from_it() {
    for (stage, rows) in [(MATCH, five_pairs()), (CUP, cup())] {
        assert_eq!(differences(&games(stage, &rows), 0), [""; 0]);
        for at in 0..rows.len() {
            let mut less = rows.clone();
            let gone = less.remove(at);
            let told = differences(&games(stage, &less), 0);
            let named = format!("games {}: {} – {}; there is no such game", gone.1, gone.2, gone.3);
            // Of the last game of a match nothing says that it was played.
            let is_last = less.get(at).is_none_or(|next| next.1.ends_with(".1") && stage == CUP);
            if is_last {
                assert!(told.len() == 1 && told[0].starts_with("lengths "), "{at}: {told:?}");
            } else {
                assert_eq!(told, [named], "{at}");
            }
        }
    }
    // A season whose numbers leave out games that were annulled is whole as it is.
    let mut rows = five_pairs();
    rows.iter_mut().skip(4).for_each(|row| {
        let round: u32 = row.1.split('.').next().unwrap().parse().unwrap();
        row.1 = format!("{}.1", round + 2);
    });
    assert_eq!(differences(&games(MATCH, &rows), 0), [""; 0]);
}

/// Two games that are missing here and there stay two.
#[test]
fn the_last_two_games_of_an_engine_that_left_are_one_difference() {
    for (name, from) in [("a", "5.2"), ("b", "5.2"), ("c", "5.1"), ("d", "5.1")] {
        let mut less = league();
        less.retain(|row| row.1.as_str() < "5" || row.2 != name && row.3 != name);
        let told = differences(&games(LEAGUE, &less), 0);
        let expected = format!("games from {from} on: 2 games of {name}; there are no such games");
        assert_eq!(told, [expected]);
    }
    let mut less = league();
    less.retain(|row| !["2.1", "3.1"].contains(&row.1.as_str()));
    assert_eq!(differences(&games(LEAGUE, &less), 0).len(), 2);
}

#[test]
fn colours_of_one_game_are_one_difference() {
    for (stage, rows, from) in [(MATCH, five_pairs(), "games game"), (CUP, cup(), "match")] {
        for at in 0..rows.len() {
            let mut other = rows.clone();
            other[at] = turned(&other[at]);
            let told = differences(&games(stage, &other), 0);
            let Row(_, _, white, black, _) = &rows[at];
            let expected = format!(": {white} – {black}; {black} – {white}");
            // Of two games with the same colours either one may be it.
            let is_of_two = stage == CUP && rows[at].1.starts_with('3');
            assert_eq!(told.len(), 1, "{from} {at}: {told:?}");
            assert!(is_of_two || told[0].ends_with(&expected), "{at}: {told:?}");
        }
    }
    // Of a double game of a Swiss, too.
    let rows = swiss_rows(8, 2, 4, &[]);
    for at in 0..rows.len() {
        let mut other = rows.clone();
        other[at] = turned(&other[at]);
        let told = differences(&games(&swiss(2, 4), &other), 0);
        let mut own: Vec<&String> = told.iter().filter(|one| one.starts_with("games ")).collect();
        assert!(
            own.pop().is_some_and(|one| one.contains("a game with each colour; 2 of")),
            "{told:?}"
        );
        assert!(own.is_empty() && told.len() <= 3, "{at}: {told:?}");
    }
}

/// Later rounds tell how it ended.
#[test]
fn a_game_of_a_swiss_that_is_missing_or_without_a_result_counts_as_later_rounds_say() {
    let stage = swiss(2, 5);
    let rows = swiss_rows(9, 2, 5, &[]);
    for at in 0..rows.len() {
        let mut less = rows.clone();
        let gone = less.remove(at);
        let told = differences(&games(&stage, &less), 0);
        let round = &gone.1[..1];
        assert_eq!(told.len(), 1, "{at}: {told:?}");
        assert!(
            told[0].starts_with(&format!("games round {round}: a game with each colour; 1 of ")),
            "{told:?}"
        );
        let mut open = rows.clone();
        open[at].4 = "*";
        let replay = games(&stage, &open);
        assert_eq!(differences(&replay, 0), [""; 0], "{at}");
        let note = format!(
            "1 game has no result; without one nothing counts: {} {} – {}",
            gone.1, gone.2, gone.3
        );
        assert!(replay.stages[0].notes.contains(&note), "{:?}", replay.stages[0].notes);
    }
}

#[test]
fn a_game_without_a_round_tag_has_the_place_that_is_free() {
    for (stage, rows) in [
        (LEAGUE.to_owned(), league()),
        (CUP.to_owned(), cup()),
        (swiss(1, 5), swiss_rows(8, 1, 5, &[])),
        (swiss(2, 4), swiss_rows(9, 2, 4, &[])),
    ] {
        for at in 0..rows.len() {
            let mut other = rows.clone();
            let tag = std::mem::replace(&mut other[at].1, "?".to_owned());
            let replay = games(&stage, &other);
            assert_eq!(differences(&replay, 0), [""; 0], "{at} {tag}");
            let note = format!(
                "1 game has no Round tag; the free place beside it is taken for its own: {tag} {} – {}",
                rows[at].2, rows[at].3
            );
            assert!(replay.stages[0].notes.contains(&note), "{:?}", replay.stages[0].notes);
        }
    }
}

#[test]
fn a_name_that_is_misspelt_in_one_game_is_one_difference() {
    for (stage, rows) in [
        (LEAGUE.to_owned(), league()),
        (CUP.to_owned(), cup()),
        (swiss(2, 4), swiss_rows(9, 2, 4, &[])),
    ] {
        let long = |name: &String| format!("engine{}", name.repeat(3));
        let long =
            rows.iter().map(|row| Row(row.0, row.1.clone(), long(&row.2), long(&row.3), row.4));
        let rows: Vec<Row> = long.collect();
        for at in 0..rows.len() {
            let mut other = rows.clone();
            other[at].3.pop();
            let told = differences(&games(&stage, &other), 0);
            let expected = format!(
                "pairs {}: {} – {}; {} – {}",
                rows[at].1, rows[at].2, rows[at].3, other[at].2, other[at].3
            );
            assert_eq!(told, [expected], "{at}");
        }
    }
}

/// Games with the times at which they began, in the order in which they ended: two at a time, of which the second one ends first.
fn at_a_time(rows: &[Row], moves: &str) -> Vec<String> {
    let mut all: Vec<String> = (0..)
        .zip(rows)
        .map(|(at, row)| {
            // The later one of two may be a little earlier by its clock.
            let (minute, milliseconds) = (at / 2, if at % 6 == 1 { 9 } else { 10 });
            let time = format!(
                "[GameStartTime \"2026-01-01T{:02}:{:02}:00.{milliseconds:03} UTC\"]\n[Round",
                minute / 60,
                minute % 60
            );
            pgn(std::slice::from_ref(row), moves).replace("[Round", &time)
        })
        .collect();
    all.chunks_mut(2).for_each(<[String]>::reverse);
    all
}

#[test]
fn two_games_at_a_time_are_in_the_order_of_their_tags() {
    let dutch =
        "[[stage]]\nname = \"Swiss\"\nformat = { swiss = { rounds = 3, pairing = \"dutch\" } }\n";
    // Boards are tagged from the top, and played from the bottom.
    let down = [
        ("1.4", "h", "d", "0-1"),
        ("1.3", "c", "g", "1-0"),
        ("1.2", "f", "b", "0-1"),
        ("1.1", "a", "e", "1-0"),
    ];
    let down: Vec<Row> =
        down.map(|(tag, white, black, result)| row("Swiss", tag, white, black, result)).into();
    for (stage, rows) in [
        (LEAGUE, league()),
        (MATCH, five_pairs()),
        (CUP, cup()),
        (&swiss(2, 4), swiss_rows(8, 2, 4, &[])),
        (dutch, down),
    ] {
        let all = at_a_time(&rows, "1. e4");
        let told = |text: &str| differences(&files(stage, &[text.as_bytes()]), 0);
        assert_eq!(told(&all.concat()), [""; 0], "{stage}");
        // Without times most of the file tells whether tags go up or down.
        let mut untimed: Vec<String> =
            rows.iter().map(|row| pgn(std::slice::from_ref(row), "1. e4")).collect();
        untimed.chunks_mut(2).step_by(3).for_each(<[String]>::reverse);
        assert_eq!(told(&untimed.concat()), [""; 0], "{stage}");
        let mut turned: Vec<String> = all;
        turned.reverse();
        assert_eq!(told(&turned.concat()), [""; 0], "{stage}");
    }
}

/// Deterministic engines without a book may play the same game twice.
#[test]
fn the_same_moves_at_another_time_are_another_game() {
    let rows: Vec<Row> =
        league().iter().map(|row| Row { 1: "?".to_owned(), ..row.clone() }).collect();
    let two = LEAGUE.replace("doubles = 1", "doubles = 2");
    let twice = [&rows[..], &rows].concat();
    let all: String = (0..)
        .zip(&twice)
        .map(|(at, row)| {
            let time = format!("[GameStartTime \"2026-01-01T12:{at:02}:00.000 UTC\"]\n[Round");
            pgn(std::slice::from_ref(row), LONG).replace("[Round", &time)
        })
        .collect();
    let replay = files(&two, &[all.as_bytes()]);
    assert!(replay.agrees() && replay.stages[0].games == 24, "{replay:?}");
}

#[test]
fn a_result_that_the_end_of_its_game_denies_is_noted() {
    let ended = |details: &str| {
        let text = pgn(&league(), "1. e4");
        text.replacen("[Result", &format!("[TerminationDetails \"{details}\"]\n[Result"), 1)
    };
    for (details, noted) in
        [("Black disconnects", false), ("White disconnects", true), ("White loses on time", false)]
    {
        let replay = files(LEAGUE, &[ended(details).as_bytes()]);
        let note = "game 1 (1.1 a – d) says 1-0, and its end 0-1; the tag counts";
        assert_eq!(replay.notes.iter().any(|one| one.ends_with(note)), noted, "{:?}", replay.notes);
    }
}

#[test]
fn a_knockout_whose_file_ends_early_is_one_difference() {
    let rows = cup();
    let told = |games_of: usize| differences(&games(CUP, &rows[..games_of]), 0);
    assert_eq!(told(8), ["matches from match 3 on: further matches; there are no games of them"]);
    assert_eq!(
        told(10),
        ["matches match 4: c – a; d – c, c – b; b – a, a – d"].map(|_| told(10)[0].clone())
    );
}

/// The lower seed has White first, and a match may be won by it: who is seeded how is in the event's own file.
#[test]
fn the_seeds_of_the_file_tell_the_colours_after_an_upset() {
    let cup = "[[stage]]\nname = \"Cup\"\ndraw = \"seeds\"\n\
               format = { knockout = { bracket = \"equal-distance\", pairs = [1] } }\n";
    let engine = |name: char| format!("[[engine]]\nname = \"{name}\"\ncmd = \"x\"\n");
    let own: String = "abcd".chars().map(engine).collect::<String>() + cup;
    let rows: Vec<Row> = [(1, "ca"), (2, "db"), (3, "cb")]
        .into_iter()
        .flat_map(|(number, pair)| {
            let better = if number == 1 { "c" } else { "b" };
            [(&pair[..1], &pair[1..], 1), (&pair[1..], &pair[..1], 2)].map(
                |(white, black, game)| {
                    let result = if white == better { "1-0" } else { "0-1" };
                    row("Cup", &format!("{number}.{game}"), white, black, result)
                },
            )
        })
        .collect();
    assert_eq!(differences(&games(&own, &rows), 0), [""; 0]);
    assert_eq!(differences(&games(cup, &rows), 0), ["colours match 3, game 1: b – c; c – b"]);
    // Other seeds than those of the bracket explain nothing, and the games tell.
    let other: String = "acbd".chars().map(engine).collect::<String>() + cup;
    let replay = games(&other, &rows);
    assert_eq!(differences(&replay, 0), ["colours match 3, game 1: b – c; c – b"]);
}

#[test]
fn a_swiss_of_three_games_a_pair_is_read_as_it_was_played() {
    let rows = swiss_rows(7, 3, 4, &[]);
    assert_eq!(differences(&games(&swiss(3, 4), &rows), 0), [""; 0]);
    let mut less = rows.clone();
    less.remove(4);
    let told = differences(&games(&swiss(3, 4), &less), 0);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("games round 1: 3 games with the colours in turn; 2 of 1.4 "),
        "{told:?}"
    );
}

/// Byes count before ties are broken, also for the opponents: a, c, d and e have 2 points, and their Sonneborn-Berger is
/// 3, 3, 2 and 2.
#[test]
fn byes_of_a_swiss_count_before_its_ties_are_broken() {
    let rows = [
        ("1.1", "a", "b", "1-0"),
        ("1.2", "c", "d", "1-0"),
        ("2.1", "e", "a", "1-0"),
        ("2.2", "c", "b", "1-0"),
        ("3.1", "a", "c", "1-0"),
        ("3.2", "d", "e", "1-0"),
    ];
    let rows = rows.map(|(tag, white, black, result)| row("Swiss", tag, white, black, result));
    let stage = swiss(1, 3).replace("\"swiss\"", "[\"sonneborn-berger\", \"shared\"]");
    let replay = games(&stage, &rows);
    let told: Vec<_> = replay.stages[0]
        .table
        .iter()
        .map(|row| (row.place, row.engine.as_str(), row.points, row.sonneborn_berger))
        .collect();
    let line = |place, engine, points, berger| (Some(place), engine, Some(points), Some(berger));
    assert_eq!(
        told,
        [
            line(1, "a", 2.0, 3.0),
            line(1, "c", 2.0, 3.0),
            line(3, "d", 2.0, 2.0),
            line(3, "e", 2.0, 2.0),
            line(5, "b", 1.0, 0.0),
        ]
    );
}

/// Games with the times at which they began, one after the other.
fn one_by_one(rows: &[Row]) -> String {
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        let time = format!(
            "[GameStartTime \"2026-01-01T{:02}:{:02}:00.000 UTC\"]\n[Round",
            at / 60,
            at % 60
        );
        text += &pgn(std::slice::from_ref(row), "1. e4").replace("[Round", &time);
    }
    text
}

#[test]
fn a_game_that_was_played_again_later_has_the_turn_of_its_first_copy() {
    for (stage, rows) in [
        (LEAGUE, league()),
        (MATCH, five_pairs()),
        (CUP, cup()),
        (&swiss(2, 4), swiss_rows(8, 2, 4, &[])),
    ] {
        for at in 0..rows.len() {
            // At the end of the stage, and two games later.
            for later in [rows.len(), (at + 3).min(rows.len())] {
                let mut again = rows.clone();
                again.insert(later, rows[at].clone());
                again[at].4 = "*";
                for text in [one_by_one(&again), pgn(&again, "1. e4")] {
                    let replay = files(stage, &[text.as_bytes()]);
                    let what = format!("{at} {later} {stage} {:?}", replay.stages[0].notes);
                    assert_eq!(differences(&replay, 0), [""; 0], "{what}");
                    let twice =
                        format!("1 game stands twice; the later ones count: {} ", rows[at].1);
                    let notes = &replay.stages[0].notes;
                    assert!(notes.iter().any(|note| note.starts_with(&twice)), "{what}");
                }
            }
        }
    }
}
