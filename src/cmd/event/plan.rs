//! `gate4k event plan`: what an event file would play.

use std::io::Write;
use std::time::Duration;

use crate::cmd::without_numbers;
use crate::event::conduct::{books, tables};
use crate::event::config::EventConfig;
use crate::event::format::{Format, knockout::Knockout};
use crate::event::history;
use crate::event::outlook::{LONG_GAME, outlook};
use crate::event::stage::{Stage, StageFormat};
use crate::game::clock::TimeControl;
use crate::model::exit::Exit;
use crate::model::text::{escape, shown};
use crate::model::words::{all, counted};

/// Prints each stage; [`Exit::Rejected`] where a book is not there or is too small, and where tables or games before the
/// event cannot be read.
pub(super) fn run(config: &EventConfig, out: &mut impl Write) -> anyhow::Result<Exit> {
    writeln!(
        out,
        "{}: {} at {}, {} at a time",
        config.event,
        counted(config.entries.len(), "engine"),
        config.clocks(),
        counted(config.concurrency.get(), "game")
    )?;
    let (mut games, mut after_ties, mut up_to) = (0, 0, "");
    let (mut longest, mut exit) = (Duration::ZERO, Exit::Success);
    for (stage, planned) in outlook(config).into_iter().zip(&config.stages) {
        let (further, again) = after_tie(planned);
        let clock = match planned.terms.control {
            control if control == config.terms.control => String::new(),
            control => format!(" at {control}"),
        };
        let on = match (stage.is_conditional, stage.is_played_on, &further[..]) {
            (true, _, _) => format!(" or more{clock}, only if places are tied"),
            (false, true, "") => format!("{clock}, and pairs until one is decisive{again} if tied"),
            (false, true, more) => {
                format!("{clock}, and if tied {more}, then pairs until one is decisive{again}")
            }
            (false, false, "") => clock,
            (false, false, more) => format!("{clock}, and {more} if tied"),
        };
        let fewer = if stage.ends_early { "up to " } else { "" };
        writeln!(
            out,
            "{}: {}, {}, {fewer}{}{on}; {}",
            stage.name,
            counted(stage.engines, "engine"),
            counted(stage.rounds, "round"),
            counted(stage.games, "game"),
            hours(stage.longest)
        )?;
        for line in &planned.passed_over {
            writeln!(out, "  {}", escape(line.as_bytes(), usize::MAX))?;
        }
        if let Some(line) = unused_pairs(planned) {
            writeln!(out, "  {line}")?;
        }
        let needed = stage.openings;
        if let Some(seed) = planned.start_seed {
            let starts = counted(needed, "start position");
            writeln!(out, "  {starts}, drawn by the lot of {seed}")?;
        } else if needed > 0 && books(planned, out)? == Exit::Rejected {
            exit = Exit::Rejected;
        }
        if stage.is_conditional {
            after_ties += stage.games;
        } else {
            games += stage.games;
            after_ties += stage.after_ties;
            up_to = if stage.ends_early { "up to " } else { up_to };
        }
        longest = longest.saturating_add(stage.longest);
    }
    overruled(config, out)?;
    let files = [tables(config, out)?, history(config, out)?];
    if files.contains(&Exit::Rejected) {
        exit = Exit::Rejected;
    }
    let more = match after_ties {
        0 => String::new(),
        more => format!(", and {} or more after ties", counted(more, "game")),
    };
    writeln!(
        out,
        "in all {up_to}{}{more}; {} if each has {LONG_GAME} moves and uses all its time",
        counted(games, "game"),
        hours(longest)
    )?;
    Ok(exit)
}

/// The further games that a match has after a tie, in words, and the clock of the pairs that then come again: each part
/// with its clock, where it has one of its own.
fn after_tie(stage: &Stage) -> (String, String) {
    let StageFormat::Of(Format::Match(of)) = &stage.format else { return Default::default() };
    let clock = |own: &Option<TimeControl>| match own {
        Some(control) => format!(" at {control}"),
        None => String::new(),
    };
    let (mut once, mut again) = (Vec::<(u64, String)>::new(), String::new());
    for (then, own) in of.then.iter().zip(&stage.clocks_after) {
        if then.again {
            again = clock(own);
            break;
        }
        let (games, clock) = (2 * u64::from(then.pairs.get()), clock(own));
        match once.last_mut().filter(|(_, last)| *last == clock) {
            Some((before, _)) => *before += games,
            None => once.push((games, clock)),
        }
    }
    let told =
        once.into_iter().map(|(games, clock)| format!("{} more{clock}", counted(games, "game")));
    (all(&told.collect::<Vec<_>>()), again)
}

/// Returns the numbers of `pairs` that no round of a bracket uses, in words; none where each has its round.
fn unused_pairs(stage: &Stage) -> Option<String> {
    let StageFormat::Of(Format::Knockout(of)) = &stage.format else { return None };
    let rounds = Knockout::rounds(stage.seats) as usize;
    let unused = of.pairs.get(rounds..).filter(|unused| !unused.is_empty())?;
    let unused: Vec<String> = unused.iter().map(ToString::to_string).collect();
    Some(format!(
        "pairs has {}, and the bracket {}: {} at their end {} not used",
        counted(of.pairs.len(), "number"),
        counted(rounds, "round"),
        all(&unused),
        if unused.len() == 1 { "is" } else { "are" }
    ))
}

/// Prints what the books of a stage must hold, and hold; [`Exit::Rejected`] where one is not there, or is too small.
fn books(stage: &Stage, out: &mut impl Write) -> anyhow::Result<Exit> {
    let mut exit = Exit::Success;
    let read = books::read(stage);
    for (number, (path, needed)) in stage.books.iter().zip(books::needed(stage)).enumerate() {
        let there = match &read {
            Ok(book) => {
                let file = book.as_ref().and_then(|book| book.files().get(number));
                match file.map_or(0, |file| file.openings().len()) {
                    there if there >= needed => format!("which holds {there}"),
                    there => {
                        exit = Exit::Rejected;
                        format!("which holds only {there}")
                    }
                }
            }
            Err(error) => {
                exit = Exit::Rejected;
                format!("which cannot be used: {}", without_numbers(&error.to_string()))
            }
        };
        writeln!(out, "  {} of {}, {there}", counted(needed, "opening"), shown(path))?;
    }
    Ok(exit)
}

/// Names the options that an engine is not told, since the event's are told in their place.
fn overruled(config: &EventConfig, out: &mut impl Write) -> anyhow::Result<()> {
    for entry in &config.entries {
        let Some(trusted) = &entry.trusted else { continue };
        let options = trusted.overruled(config);
        if !options.is_empty() {
            let its_own = if options.len() == 1 { "option" } else { "options" };
            writeln!(
                out,
                "{}: its own {its_own} {} will not be told, since the head of the event has a value for all",
                entry.name,
                escape(all(&options).as_bytes(), usize::MAX)
            )?;
        }
    }
    Ok(())
}

/// Prints whether the endgame tables can be used.
fn tables(config: &EventConfig, out: &mut impl Write) -> anyhow::Result<Exit> {
    match tables::read(config) {
        Ok(None) => Ok(Exit::Success),
        Ok(Some(tables)) => {
            writeln!(out, "endgame tables of up to {}", counted(tables.most_pieces(), "piece"))?;
            Ok(Exit::Success)
        }
        Err(error) => {
            writeln!(out, "{}", without_numbers(&error.to_string()))?;
            Ok(Exit::Rejected)
        }
    }
}

/// Prints whether the games before the event can be read.
fn history(config: &EventConfig, out: &mut impl Write) -> anyhow::Result<Exit> {
    if config.history.is_empty() {
        return Ok(Exit::Success);
    }
    match history::read(&config.history) {
        Ok((history, _)) => {
            let games: u64 = history.files.iter().map(|file| file.games).sum();
            let games = counted(games, "game");
            writeln!(out, "{games} before the event for the ratings")?;
            Ok(Exit::Success)
        }
        Err(error) => {
            writeln!(out, "{}", without_numbers(&error.to_string()))?;
            Ok(Exit::Rejected)
        }
    }
}

/// `up to 8 days 2h 40m`, never less than the time; seconds only where it is less than a minute.
fn hours(time: Duration) -> String {
    let seconds = time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0));
    if seconds < 60 {
        return format!("up to {seconds}s");
    }
    let minutes = seconds.div_ceil(60);
    let (days, hours, minutes) = (minutes / (24 * 60), minutes / 60 % 24, minutes % 60);
    let mut words = Vec::new();
    if days > 0 {
        words.push(counted(days, "day"));
    }
    if hours > 0 {
        words.push(format!("{hours}h"));
    }
    if minutes > 0 {
        words.push(format!("{minutes}m"));
    }
    format!("up to {}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_never_less_than_it_may_take() {
        let told = |millis| hours(Duration::from_millis(millis));
        assert_eq!(told(3600), "up to 4s");
        assert_eq!(told(59_001), "up to 1m");
        assert_eq!(told(84_000), "up to 2m");
        assert_eq!(told(12_240_000), "up to 3h 24m");
        let days = |days: u64| hours(Duration::from_secs(days * 86_400));
        assert_eq!((days(1), days(74)), ("up to 1 day".into(), "up to 74 days".into()));
        assert_eq!(hours(Duration::from_secs(8 * 86_400 + 2400)), "up to 8 days 40m");
    }

    /// The plan of an event of two programs with these lines at its head.
    fn planned(dir: &std::path::Path, head: &str) -> (Exit, String) {
        planned_as(dir, head, "match = { pairs = 1 }")
    }

    fn planned_as(dir: &std::path::Path, head: &str, format: &str) -> (Exit, String) {
        let path = dir.join("event.toml");
        let text = format!(
            "event = \"E\"\ntime-control = \"1+1\"\n{head}\n\
             [[engine]]\nname = \"A\"\ncmd = \"/dev/null\"\noptions = {{ hash = 64, Threads = 2, Contempt = 0 }}\n\
             [[engine]]\nname = \"B\"\ncmd = \"/dev/null\"\n\
             [[stage]]\nname = \"S\"\nformat = {{ {format} }}\nbook-policy = \"none\"\n"
        );
        std::fs::write(&path, text).unwrap();
        let (config, mut out) = (EventConfig::load(&path).unwrap(), Vec::new());
        let exit = run(&config, &mut out).unwrap();
        (exit, String::from_utf8(out).unwrap())
    }

    #[test]
    fn tables_and_games_before_an_event_that_cannot_be_read_are_told_by_its_plan() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("empty")).unwrap();
        std::fs::write(
            dir.path().join("a.pgn"),
            "[White \"a\"]\n[Black \"b\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n",
        )
        .unwrap();
        for (head, right, expected) in [
            ("", true, "in all 2 games"),
            ("syzygy = [\"none\"]", false, "cannot read the endgame tables in "),
            ("syzygy = [\"empty\"]", false, "there are no endgame tables in "),
            ("history = [\"none.pgn\"]", false, "none.pgn"),
            ("history = [\"a.pgn\"]", true, "1 game before the event for the ratings"),
        ] {
            let (exit, told) = planned(dir.path(), head);
            assert!(told.contains(expected) && !told.contains("os error"), "{told}");
            assert_eq!(exit == Exit::Success, right, "{told}");
        }
    }

    #[test]
    fn games_after_a_tie_are_counted_apart() {
        let dir = tempfile::tempdir().unwrap();
        let again = "{ pairs = 1, until = \"decisive\" }";
        for (format, stage, all) in [
            ("match = { pairs = 2 }".to_owned(), "4 rounds, 4 games;", "in all 4 games; "),
            (
                "match = { pairs = 2, then = [{ pairs = 3 }] }".to_owned(),
                "4 rounds, 4 games, and 6 games more if tied;",
                "in all 4 games, and 6 games or more after ties; ",
            ),
            (
                format!("match = {{ pairs = 2, early = true, then = [{{ pairs = 1 }}, {again}] }}"),
                "up to 4 games, and if tied 2 games more, then pairs until one is decisive;",
                "in all up to 4 games, and 2 games or more after ties; ",
            ),
            (
                format!("match = {{ pairs = 2, then = [{again}] }}"),
                "4 games, and pairs until one is decisive if tied;",
                "in all 4 games; ",
            ),
        ] {
            let (_, told) = planned_as(dir.path(), "", &format);
            assert!(told.contains(stage) && told.contains(all), "{told}");
        }
    }

    #[test]
    fn pairs_that_no_round_of_a_bracket_uses_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let told =
            |pairs: &str| planned_as(dir.path(), "", &format!("knockout = {{ pairs = {pairs} }}"));
        let (exit, page) = told("[2, 3, 4]");
        assert_eq!(exit, Exit::Success);
        let line =
            "\n  pairs has 3 numbers, and the bracket 1 round: 3 and 4 at their end are not used\n";
        assert!(page.contains(line), "{page}");
        assert!(told("[2, 3]").1.contains(": 3 at their end is not used"));
        assert!(!told("[2]").1.contains("at their end"));
    }

    #[test]
    fn games_after_a_tie_are_told_with_their_own_clocks() {
        let dir = tempfile::tempdir().unwrap();
        let (_, told) = planned_as(
            dir.path(),
            "",
            "match = { pairs = 1, then = [{ pairs = 2, time-control = \"30+2\" }, \
             { pairs = 1, time-control = \"20+1\" }, \
             { pairs = 1, until = \"decisive\", time-control = \"10+3\" }] }",
        );
        let on = "2 games, and if tied 4 games more at 30+2 and 2 games more at 20+1, then pairs until one is decisive \
                  at 10+3;";
        assert!(told.contains(on), "{told}");
    }

    #[test]
    fn options_that_an_engine_is_not_told_are_named_by_the_plan() {
        let dir = tempfile::tempdir().unwrap();
        let (_, told) = planned(dir.path(), "hash = 16\nthreads = 1");
        assert!(told.contains("A: its own options Threads and hash will not be told"), "{told}");
        let (_, told) = planned(dir.path(), "threads = 1");
        assert!(told.contains("A: its own option Threads will not"), "{told}");
        assert!(!planned(dir.path(), "").1.contains("its own"));
    }
}
