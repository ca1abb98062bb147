//! `gate4k event plan`: what an event file would play.

use std::io::Write;
use std::time::Duration;

use crate::cmd::without_numbers;
use crate::event::conduct::books;
use crate::event::config::EventConfig;
use crate::event::outlook::{LONG_GAME, outlook};
use crate::event::stage::Stage;
use crate::model::exit::Exit;
use crate::model::text::shown;
use crate::model::words::counted;

/// Prints each stage; [`Exit::Rejected`] where a book is not there, or is too small.
pub(super) fn run(config: &EventConfig, out: &mut impl Write) -> anyhow::Result<Exit> {
    writeln!(
        out,
        "{}: {} at {}, {} at a time",
        config.event,
        counted(config.entries.len(), "engine"),
        config.clocks(),
        counted(config.concurrency.get(), "game")
    )?;
    let (mut games, mut longest, mut exit) = (0, Duration::ZERO, Exit::Success);
    for (stage, planned) in outlook(config).into_iter().zip(&config.stages) {
        let on = if stage.is_conditional {
            " or more, only if places are tied"
        } else if stage.is_played_on {
            ", and pairs until one is decisive if tied"
        } else {
            ""
        };
        let clock = match planned.terms.control {
            control if control == config.terms.control => String::new(),
            control => format!(" at {control}"),
        };
        writeln!(
            out,
            "{}: {}, {}, {}{on}{clock}; {}",
            stage.name,
            counted(stage.engines, "engine"),
            counted(usize::try_from(stage.rounds)?, "round"),
            counted(usize::try_from(stage.games)?, "game"),
            hours(stage.longest)
        )?;
        let needed = stage.openings;
        if let Some(seed) = planned.start_seed {
            let starts = counted(needed, "start position");
            writeln!(out, "  {starts}, drawn by the lot of {seed}")?;
        } else if needed > 0 && books(planned, out)? == Exit::Rejected {
            exit = Exit::Rejected;
        }
        games += stage.games;
        longest += stage.longest;
    }
    writeln!(
        out,
        "in all {}; {} if each has {LONG_GAME} moves and uses all its time",
        counted(usize::try_from(games)?, "game"),
        hours(longest)
    )?;
    Ok(exit)
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

/// `2h 40m`; seconds only where it is less than a minute.
fn hours(time: Duration) -> String {
    let seconds = time.as_secs();
    let whole = if seconds < 60 { seconds } else { seconds - seconds % 60 };
    let time = humantime::format_duration(Duration::from_secs(whole)).to_string();
    format!("up to {}", time.replace("day", " day"))
}
