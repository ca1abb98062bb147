//! Tests of the event file.

use super::super::ledger::Ledger;
use super::super::stage::SeatDraw;
use super::*;
use crate::game::clock::TimeControl;
use crate::model::source_place::assert_listed;

const STAGES: &str = "[[stage]]\nname = \"Pool\"\nformat = { double-round-robins = 1 }\n\
    book-policy = \"none\"\ndraw = \"seeds\"\ntie-breaks = \"4k\"\npromote = 2\n";

fn event(stages: &str) -> String {
    format!(
        "event = \"A b\"\ntime-control = \"1+0.1\"\ncompensation = \"2s\"\nhash = 16\n\
         [[entry]]\nname = \"A\"\npath = \"/dev/null\"\nseed = 2\n\
         [[entry]]\nname = \"B\"\npath = \"/dev/null\"\nseed = 1\n{stages}"
    )
}

fn wrong(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("event.toml");
    std::fs::write(&path, text).unwrap();
    let error = EventConfig::load(&path).unwrap_err().to_string();
    error.split_once("event.toml:").unwrap().1.to_owned()
}

#[test]
fn a_journal_in_the_place_of_the_event_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("event.journal");
    std::fs::write(&path, "{\"n\":0,\"sha256\":\"").unwrap();
    let error = EventConfig::load(&path).unwrap_err().to_string();
    assert!(error.ends_with("is a journal; name the event's file (event.toml)"), "{error}");
}

#[test]
fn every_key_is_in_the_handbook() {
    assert_listed::<RawEvent>("key at the head");
    assert_listed::<RawEntry>("key of an `[[entry]]`");
    assert_listed::<RawEngine>("key of an `[[engine]]`");
    assert_listed::<raw_stage::RawStage>("key of a `[[stage]]`");
}

#[test]
fn an_event_is_read() {
    let config =
        EventConfig::parse(Path::new("dir/e.toml"), &event(STAGES), EntryFiles::There, None)
            .unwrap();
    assert_eq!(config.journal, Path::new("dir/e.journal"));
    assert_eq!(config.pause_marker(), Path::new("dir/e.journal.pause"));
    assert_eq!(config.compensation, Duration::from_secs(2));
    assert_eq!(config.options, [("Hash".to_owned(), "16".to_owned())]);
    let names: Vec<&str> = config.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["B", "A"]);
    let at = crate::model::game::listed::RoundGame { round: 3, game: 1 };
    assert_eq!(config.game_id(&config.stages[0], at, "B", "A x/1"), "a-b/pool/3.1/b/a-x-1");
}

#[test]
fn mistakes_are_told_at_their_place() {
    for (from, to, expected) in [
        ("event = ", "evnt = ", "1:1: unknown field `evnt`"),
        ("\"1+0.1\"", "\"nodes=5\"", "2:16: entries are told only what rule 7.9 lists"),
        ("\"1+0.1\"", "\"x\"", "2:16: the time control \"x\" is not understood"),
        ("\"2s\"", "\"2\"", "3:16: \"2\" is no time such as 5s"),
        ("name = \"B\"", "name = \"a\"", "10:8: another entry is called the same"),
        ("seed = 2", "seed = 1", "12:8: another entry has the seed 1"),
        (
            "robins = 1",
            "robins = 4000000000",
            "15:10: 8000000000 games are more than anybody plays",
        ),
        ("\"none\"", "\"each\"", "16:15: a book of 1 opening is needed, and none is named"),
        ("\"seeds\"", "\"ranking\"", "17:8: the first stage is drawn by"),
        ("\"4k\"", "\"swis\"", "did you mean \"swiss\"?"),
        ("promote = 2", "promote = 3", "19:11: from 1 to 2"),
        ("name = \"B\"", "name = \"B\\nC\"", "10:8: a name is one line"),
        ("event = ", "gate = 0\nevent = ", "1:8: expected a word in quotes: `full` or `quick`"),
        ("event = ", "gate = {}\nevent = ", "1:8: expected a word in quotes: `full` or `quick`"),
        (
            "event = ",
            "tables = 0\nevent = ",
            "1:10: expected a word in quotes: `interrupted` or `all`",
        ),
        (
            "event = ",
            "win-rule = 1979-05-27\nevent = ",
            "1:12: invalid type: a date, expected a table of settings, `{ … }`, with `level` or `moves`",
        ),
        (
            "event = ",
            "win-rule = [1, 2]\nevent = ",
            "1:12: invalid type: a list, expected a table of settings, `{ … }`",
        ),
        ("event = ", "journal = \"\"\nevent = ", "1:11: an empty text names nothing; write a path"),
        ("event = ", "journal = \"a\\u0000b\"\nevent = ", "1:11: no path holds a zero byte"),
        ("event = ", "history = [\"\"]\nevent = ", "an empty text names nothing; write a path"),
        ("path = \"/dev/null\"", "path = \"\"", "an empty text names nothing; write a path"),
        ("name = \"B\"", "name = \"Bye\"", "10:8: a game against it would be read as a bye"),
    ] {
        let told = wrong(&event(STAGES).replace(from, to));
        assert!(told.contains(expected), "{expected:?} is not in {told}");
        assert!(told.contains('^'), "{told}");
    }
}

#[test]
fn the_template_is_the_4k_event() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["zeta", "al pha"] {
        std::fs::write(dir.path().join(name), "#!/bin/sh\n").unwrap();
    }
    // A file that a repository keeps about its entries is no entry.
    std::fs::write(dir.path().join("README.md"), "Two entries.\n").unwrap();
    let text = template(EventTemplate::FourK, Contestants::Directory(dir.path()), dir.path(), &[])
        .unwrap();
    let path = dir.path().join("event.toml");
    std::fs::write(&path, &text).unwrap();
    let config = EventConfig::load(&path).unwrap();
    assert_eq!(config.terms, StageTerms::at(TimeControl::EVENT));
    assert_eq!((config.entries.len(), config.entries[0].name.as_str()), (2, "al pha"));
    assert_eq!(config.entries[0].path, dir.path().join("al pha"));
    let [pool, minifinal] = &config.stages[..] else { panic!("two stages") };
    assert_eq!((pool.openings(), pool.promote), (3, 2));
    assert_eq!((minifinal.openings(), minifinal.draw), (25, SeatDraw::ReversedRanking));
    assert!(
        template(
            EventTemplate::FourK,
            Contestants::Directory(&dir.path().join("zeta")),
            dir.path(),
            &[]
        )
        .is_err()
    );
}

#[test]
fn the_template_names_entries_so_that_run_takes_them() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["ELF", "elf", "elf (2)", "e_l-f", "++", "§"] {
        std::fs::write(dir.path().join(name), "#!/bin/sh\n").unwrap();
    }
    let path = dir.path().join("event.toml");
    std::fs::write(
        &path,
        template(EventTemplate::FourK, Contestants::Directory(dir.path()), dir.path(), &[])
            .unwrap(),
    )
    .unwrap();
    let config = EventConfig::load(&path).unwrap();
    assert_eq!(config.entries.len(), 6);
    let of = |file: &str| {
        let path = dir.path().join(file);
        config.entries.iter().find(|entry| entry.path == path).unwrap().name.clone()
    };
    assert_eq!(
        (of("ELF"), of("elf"), of("e_l-f")),
        ("ELF".into(), "elf (2)".into(), "e_l-f".into())
    );
    assert!(of("++").starts_with("entry "), "{}", of("++"));
}

#[test]
fn the_template_names_the_books_that_it_is_given_as_it_will_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let entries = dir.path().join("entries");
    std::fs::create_dir(&entries).unwrap();
    for name in ["a", "b"] {
        std::fs::write(entries.join(name), "#!/bin/sh\n").unwrap();
    }
    let below = dir.path().join("below");
    let books = |beside: &Path, given: &[&str]| -> Vec<PathBuf> {
        let given: Vec<PathBuf> = given.iter().map(|name| dir.path().join(name)).collect();
        let text = template(EventTemplate::FourK, Contestants::Directory(&entries), beside, &given)
            .unwrap();
        assert_eq!(text.lines().filter(|line| line.starts_with("path = ")).count(), 2, "{text}");
        books_of(&text).into_iter().map(|book| beside.join(book)).collect()
    };
    let there = |name: &str| dir.path().join(name);
    assert_eq!(books(dir.path(), &[]), [there("pool.pgn"), there("minifinal.pgn")]);
    assert_eq!(books(dir.path(), &["one.pgn"]), [there("one.pgn")]);
    assert_eq!(books(dir.path(), &["1.pgn", "2.pgn"]), [there("1.pgn"), there("2.pgn")]);
    assert_eq!(books(dir.path(), &["1", "2", "3"]), [there("1"), there("2")]);
    // An event file in another folder than its entries and openings finds them all the same.
    assert_eq!(books(&below, &["one.pgn"]), [there("one.pgn")]);
    let text =
        template(EventTemplate::FourK, Contestants::Directory(&entries), &below, &[]).unwrap();
    assert!(text.contains(entries.join("a").to_str().unwrap()), "{text}");
}

#[test]
fn every_event_that_can_be_written_can_be_played() {
    let dir = tempfile::tempdir().unwrap();
    let entries = dir.path().join("entries");
    std::fs::create_dir(&entries).unwrap();
    for number in 1..=37 {
        std::fs::write(entries.join(format!("e{number}")), "x").unwrap();
    }
    for (like, stages, games) in [
        (
            EventTemplate::Season17,
            7,
            8 * 7 - 14 + 16 * 15 + 2 * 16 * 15 + 3 * 2 + 2 * 6 * 5 + 2 * 10 * 9 + 116,
        ),
        (EventTemplate::Leagues, 6, 15 * 14 + 2 * (2 * 12 * 11) + 4 * 8 * 7 + 3 * 2 + 124),
        (EventTemplate::FourK, 2, 4 * 32 * 31 + 50),
        (EventTemplate::Swiss, 1, 12 * 32),
        (EventTemplate::Cup, 1, 2 * (16 * 2 + 8 * 3 + 4 * 4 + 2 * 6 + 8 + 12)),
        (EventTemplate::CupOlder, 1, 2 * 2 * 32),
        (EventTemplate::Ntcec, 6, 112 + 56 + 56 + 56 + 36 + 48),
        (EventTemplate::Frd, 8, 4 * 2 * 8 * 7 + 2 * 2 * 6 * 5 + 4 * 6 * 5 + 50),
    ] {
        // A cup has 32; the leagues have more.
        if like == EventTemplate::FourK {
            (33..=37).for_each(|number| {
                std::fs::remove_file(entries.join(format!("e{number}"))).unwrap()
            });
        }
        let path = dir.path().join("event.toml");
        let text = template(like, Contestants::Directory(&entries), dir.path(), &[]).unwrap();
        assert!(!text.contains('@'), "{text}");
        // The 4096 bytes and the gate are the 4k event's.
        let is_4k = like == EventTemplate::FourK;
        assert_eq!(text.contains("\n[[entry]]"), is_4k, "{like:?}");
        assert_eq!(text.contains("\ngate = "), is_4k, "{like:?}");
        every_line_of_the_head_names_its_rule(&text);
        std::fs::write(&path, text).unwrap();
        let config = EventConfig::load(&path).unwrap();
        assert_eq!(config.stages.len(), stages, "{like:?}");
        let all: u64 = config.stages.iter().map(|stage| stage.format.games(stage.seats)).sum();
        assert_eq!(all, games, "{like:?}");
    }
}

#[test]
fn an_event_is_not_written_for_fewer_or_more_engines_than_can_play_it() {
    for (like, least) in [
        (EventTemplate::Swiss, 13),
        (EventTemplate::Cup, 32),
        (EventTemplate::CupOlder, 9),
        (EventTemplate::Ntcec, 16),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let entries = dir.path().join("entries");
        std::fs::create_dir(&entries).unwrap();
        let add = |number: usize| std::fs::write(entries.join(format!("e{number}")), "x").unwrap();
        (1..least).for_each(add);
        let write = || template(like, Contestants::Directory(&entries), dir.path(), &[]);
        let error = write().unwrap_err().to_string();
        let needs = if like == EventTemplate::Cup { "needs exactly" } else { "needs at least" };
        assert!(error.contains(&format!("{needs} {least}; put each engine's file")), "{error}");
        add(least);
        let path = dir.path().join("event.toml");
        std::fs::write(&path, write().unwrap()).unwrap();
        assert!(EventConfig::load(&path).is_ok(), "{like:?}");
        add(least + 1);
        let more = write().map_err(|error| error.to_string());
        if like == EventTemplate::Cup {
            let error = more.unwrap_err();
            assert!(
                error.contains("there are 33 engines") && error.contains("leave 1 out"),
                "{error}"
            );
        } else {
            std::fs::write(&path, more.unwrap()).unwrap();
            assert!(EventConfig::load(&path).is_ok(), "{like:?}");
        }
    }
}

#[test]
fn a_name_that_is_no_utf_8_is_shown_where_no_event_is_written_for_it() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), "x").unwrap();
    std::fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"od\xffd")), "x").unwrap();
    let entries = Contestants::Directory(dir.path());
    let error = template(EventTemplate::FourK, entries, dir.path(), &[]).unwrap_err().to_string();
    assert!(error.contains("the name od\\xffd in it is no UTF-8"), "{error}");
}

/// In the comment above it, by number, or in nTCEC by the title of its section.
fn every_line_of_the_head_names_its_rule(text: &str) {
    let head = text.lines().take_while(|line| !line.starts_with("[["));
    let (mut comment, mut is_open) = (String::new(), false);
    for line in head {
        if line.starts_with('#') {
            comment = if is_open { format!("{comment}{line}\n") } else { format!("{line}\n") };
        } else if line.contains(" = ") && !["event", "site"].iter().any(|key| line.starts_with(key))
        {
            let is_named = ["ule", "\""].iter().any(|word| comment.contains(word));
            assert!(is_named, "{line} has no rule: {comment}");
        }
        is_open = line.starts_with('#');
    }
}

/// All that cutechess keeps of an engine stands in the event's own file, which freezes it.
#[test]
fn engines_come_from_cutechess_with_their_directories_arguments_and_options() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("own");
    std::fs::create_dir(&own).unwrap();
    for name in ["A", "B"] {
        let program = own.join(name);
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        let may_run = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, may_run).unwrap();
    }
    let json = dir.path().join("engines.json");
    let text = r#"[
        {"name": "Alpha", "protocol": "uci", "command": "./A --uci \"a b\"", "workingDirectory": "OWN",
         "initStrings": ["xboard off"], "options": [{"name": "Own Book", "value": false}, {"name": "Hash", "value": 16}]},
        {"name": "Beta", "protocol": "uci", "command": "OWN/B"}
    ]"#;
    let text = text.replace("OWN", &own.to_string_lossy());
    std::fs::write(&json, &text).unwrap();
    let written =
        template(EventTemplate::FourK, Contestants::File(&json), dir.path(), &[]).unwrap();
    let path = dir.path().join("event.toml");
    std::fs::write(&path, &written).unwrap();
    let config = EventConfig::load(&path).unwrap();
    let [alpha, beta] = &config.entries[..] else { panic!("two engines") };
    assert_eq!((&*alpha.name, &*beta.name), ("Alpha", "Beta"));
    assert!(alpha.path.ends_with("A") && beta.path == own.join("B"), "{written}");
    let trusted = alpha.trusted.as_ref().unwrap();
    assert_eq!(trusted.arguments, ["--uci", "a b"]);
    assert_eq!(trusted.init, ["xboard off"]);
    assert_eq!(trusted.directory.as_deref(), Some(&*own));
    let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(trusted.options, [option("Hash", "16"), option("Own Book", "false")]);
    std::fs::write(&json, text.replace("\"uci\"", "\"xboard\"")).unwrap();
    let error =
        template(EventTemplate::FourK, Contestants::File(&json), dir.path(), &[]).unwrap_err();
    assert!(error.to_string().contains("does not speak UCI"), "{error}");
}

/// The file of an event of so many engines in the order of their seeds, with these stages, written from the last engine to
/// the first where `reversed`.
fn seeded(dir: &Path, engines: usize, stages: &str, reversed: bool) -> EventConfig {
    let mut tables: Vec<String> = (1..=engines)
        .map(|seed| {
            std::fs::write(dir.join(format!("e{seed}")), "x").unwrap();
            format!("[[engine]]\nname = \"e{seed}\"\ncmd = \"e{seed}\"\nseed = {seed}\n")
        })
        .collect();
    if reversed {
        tables.reverse();
    }
    let path = dir.join("event.toml");
    let text = format!("event = \"E\"\ntime-control = \"1+1\"\n{}{stages}", tables.concat());
    std::fs::write(&path, text).unwrap();
    EventConfig::load(&path).unwrap()
}

/// Leagues, rule 2.6: the lot draws the seats, and neither the order of the file nor anything else.
#[test]
fn a_lot_draws_the_seats_whatever_the_order_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let stage = |draw: &str| {
        format!(
            "[[stage]]\nname = \"S\"\nformat = {{ round-robin = {{ doubles = 1 }} }}\nbook-policy = \"none\"\n\
             ties = \"4k\"\n{draw}"
        )
    };
    let seats = |draw: &str, reversed| {
        let config = seeded(dir.path(), 8, &stage(draw), reversed);
        super::super::draw::drawn(&config, &Ledger::default(), 0).seats
    };
    let order: Vec<String> = (1..=8).map(|seed| format!("e{seed}")).collect();
    assert_eq!(seats("", true), order);
    let drawn = seats("draw = { shuffle = 7 }", false);
    assert_eq!(drawn, seats("draw = { shuffle = 7 }", true));
    assert_ne!(drawn, order);
    assert_ne!(drawn, seats("draw = { shuffle = 8 }", false));
}

#[test]
fn engines_of_events_before_are_drawn_by_their_places_or_by_their_seeds() {
    let dir = tempfile::tempdir().unwrap();
    let stage = "[[stage]]\nname = \"S\"\nformat = { round-robin = { doubles = 1 } }\nbook-policy = \"none\"\n\
                 ties = \"4k\"\n";
    let mut config = seeded(dir.path(), 4, stage, false);
    config.stages[0].previous = ["e3", "e1"].map(str::to_owned).to_vec();
    config.stages[0].engines = ["e4", "e2"].map(str::to_owned).to_vec();
    let mut seats = |draw: SeatDraw| {
        config.stages[0].draw = draw;
        super::super::draw::drawn(&config, &Ledger::default(), 0).seats
    };
    assert_eq!(seats(SeatDraw::Ranking), ["e3", "e1", "e2", "e4"]);
    assert_eq!(seats(SeatDraw::ReversedRanking), ["e2", "e4", "e1", "e3"]);
    assert_eq!(seats(SeatDraw::Seeds), ["e1", "e2", "e3", "e4"]);
}

#[test]
fn odd_and_even_places_are_as_many_as_there_is_room_for() {
    let dir = tempfile::tempdir().unwrap();
    let stage = |name: &str, more: &str| {
        format!(
            "[[stage]]\nname = \"{name}\"\nformat = {{ round-robin = {{ doubles = 1 }} }}\nbook-policy = \"none\"\n\
             ties = \"4k\"\n{more}"
        )
    };
    let stages = stage("S", "")
        + &stage("Odd", "from = \"S:odd\"\nsize = 3\n")
        + &stage("Even", "from = \"S:even\"\nsize = 2\n");
    let config = seeded(dir.path(), 6, &stages, false);
    assert_eq!(config.stages[1].from, [(0, vec![1, 3, 5])]);
    assert_eq!(config.stages[2].from, [(0, vec![2, 4])]);
    assert_eq!(config.stages[0].promote, 5);
}

#[test]
fn the_settings_of_a_journal_tell_where_crashes_disqualify() {
    let settings = "crash-limit = 3\nevent = \"E\"\n\
        [[stage]]\nname = \"P\"\nformat = { round-robin = { doubles = 1 } }\n\
        [[stage]]\nname = \"Q\"\nformat = { round-robin = { doubles = 1 } }\nterms = { crash-limit = 5 }\n\
        [[stage]]\nname = \"S\"\nformat = { swiss = { rounds = 5, pairing = \"dutch\" } }\n";
    let stages = counted_stages(settings);
    let limit = |name: &str| stages[name].crash_limit.map(NonZeroU32::get);
    assert_eq!([limit("P"), limit("Q"), limit("S")], [Some(3), Some(5), None]);
}

#[test]
fn journals_of_one_stem_share_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let stages = "[[stage]]\nname = \"S\"\nformat = { round-robin = { doubles = 1 } }\nbook-policy = \"none\"\n\
                  ties = \"4k\"\n";
    let mut config = seeded(dir.path(), 2, stages, false);
    let mut told = |journal: &str| {
        config.journal = journal.into();
        [config.live_file(), config.crashes()]
    };
    assert_eq!(told("a.journal"), ["a.live.json", "a.crashes"].map(std::path::PathBuf::from));
    assert_eq!(told("a.log"), ["a.log-live.json", "a.log-crashes"].map(std::path::PathBuf::from));
    assert_eq!(told("a"), ["a-live.json", "a-crashes"].map(std::path::PathBuf::from));
}
