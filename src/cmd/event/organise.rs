//! The commands of organisers besides running an event.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow};

use super::{failed, typed};
use crate::batch::discover;
use crate::cli::NewArgs;
use crate::cmd::early_end::EarlyEnd;
use crate::cmd::reports::cannot;
use crate::cmd::worker_lines::{ProgressLook, WorkerLines};
use crate::cmd::{note, without_numbers};
use crate::engine::stop::Stop;
use crate::event::conduct::{Audience, Conductor, EventError, books};
use crate::event::config::{Contestants, EventConfig, books_of, template};
use crate::event::gate::Watcher;
use crate::event::{config, journal};
use crate::files::write::cannot_write;
use crate::judge::mistaken_file;
use crate::model::entry_report::EntryReport;
use crate::model::exit::Exit;
use crate::model::text::shown;
use crate::model::units::Bytes;
use crate::view::human;
use crate::view::layout::PageLayout;
use crate::view::text::clean;

/// Writes an event's file; one that is there is left alone.
pub(super) fn new(args: &NewArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let path = &args.file.event;
    let beside = path.parent().unwrap_or(Path::new(""));
    let contestants = match (&args.entries, &args.engines) {
        (_, Some(file)) => Contestants::File(file),
        (Some(entries), None) => Contestants::Directory(entries),
        // invariant: the command line asks for one of both.
        (None, None) => return Ok(Exit::Usage),
    };
    if let Some(missing) = args.book.iter().find(|book| !book.is_file()) {
        let words = format!("there is no file {}; --book names a file of openings", shown(missing));
        return Err(EarlyEnd::usage(words).into());
    }
    let text =
        template(args.like, contestants, beside, &args.book).map_err(|error| match error {
            config::NoEntries::TooFew { .. } => EarlyEnd::new(Exit::Nothing, error),
            config::NoEntries::Read { .. } => EarlyEnd::of_file(error),
            _ => EarlyEnd::usage(error),
        })?;
    if !args.book.is_empty() {
        refuse_unusable_books(path, &text)?;
    }
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = opened.map_err(|error| {
        let why = match error.kind() {
            ErrorKind::AlreadyExists => "it is there already; remove it, or name a new file",
            ErrorKind::NotFound => "there is no such folder; make it, or name another",
            _ => return EarlyEnd::usage(cannot_write(path, &error)),
        };
        EarlyEnd::usage(format!("{}: {why}", cannot(path)))
    })?;
    if let Err(error) = file.write_all(text.as_bytes()) {
        // Half of it would be taken for an event, and be in the way of the next try.
        let _ = std::fs::remove_file(path);
        return Err(anyhow!(cannot_write(path, &error)));
    }
    if let Contestants::Directory(entries) = contestants {
        for member in discover::members(entries).unwrap_or_default() {
            if let Some(hint) = mistaken_file::hint_of_file(&member) {
                note(&format!("{}: {hint}, or take it out of {}", shown(&member), shown(path)));
            }
        }
    }
    let books = if args.book.is_empty() { books_of(&text) } else { Vec::new() };
    let word = super::file_word(path);
    match books.as_slice() {
        [] => writeln!(
            out,
            "wrote {}; `gate4k event plan {word}` tells what it would play, `gate4k event run {word}` plays it",
            shown(path)
        )?,
        books => writeln!(
            out,
            "wrote {}; it still lacks its openings: put them at {}, or remove it and write it anew with --book FILE; then \
             `gate4k event run {word}` plays it",
            shown(path),
            books.join(", ")
        )?,
    }
    Ok(Exit::Success)
}

/// Refuses books that no stage of this event file could be played with; whatever else is wrong with it `event plan` tells.
fn refuse_unusable_books(path: &Path, text: &str) -> Result<(), EarlyEnd> {
    let Ok(config) = EventConfig::of_text(path, text) else { return Ok(()) };
    for stage in &config.stages {
        books::read(stage).map_err(|error| {
            EarlyEnd::usage(format!("{}: {}", stage.name, without_numbers(&error.to_string())))
        })?;
    }
    Ok(())
}

/// Leaves the marker that a runner looks for.
pub(super) fn pause(config: &EventConfig, out: &mut impl Write) -> anyhow::Result<Exit> {
    super::views::require_begun(config)?;
    let (ledger, _) = super::views::ledger(config).map_err(super::views::unread(&config.path))?;
    if ledger.is_over() {
        return Err(EarlyEnd::usage("the event is over: there is nothing to pause").into());
    }
    // The next run takes an older wish for a pause away.
    if !journal::is_in_use(&config.journal) {
        let words = format!(
            "no runner is at work: there is nothing to pause; {} goes on",
            typed("run", &config.path)
        );
        return Err(EarlyEnd::usage(words).into());
    }
    let marker = config.pause_marker();
    std::fs::write(&marker, "").map_err(|error| anyhow!(cannot_write(&marker, &error)))?;
    writeln!(
        out,
        "asked the runner to stop after the games under way; {} goes on",
        typed("run", &config.path)
    )?;
    Ok(Exit::Success)
}

/// Cuts off a last record that is not whole.
pub(super) fn repair(config: &EventConfig, out: &mut impl Write) -> anyhow::Result<Exit> {
    let repaired = journal::repair(&config.journal).map_err(super::views::unread(&config.path))?;
    match repaired {
        None => {
            super::views::require_begun(config)?;
            writeln!(out, "{} is whole: there is nothing to repair", shown(&config.journal))?;
        }
        Some(repaired) => writeln!(
            out,
            "cut off line {} of {} ({}), kept in {}; every record before it is whole, and {} goes on",
            repaired.line,
            shown(&config.journal),
            Bytes(repaired.bytes),
            shown(&repaired.kept),
            typed("run", &config.path)
        )?,
    }
    Ok(Exit::Success)
}

/// Journals a ruling of the organisers, and prints what `act` tells of it.
pub(super) fn rule(
    config: &EventConfig,
    out: &mut impl Write,
    act: impl FnOnce(&mut Conductor<'_>) -> Result<String, EventError>,
) -> anyhow::Result<Exit> {
    super::views::require_begun(config)?;
    let stop = Stop::new().context("a descriptor for stopping")?;
    let mut words = Words::default();
    let done = Conductor::open(config, &stop, &mut words).and_then(|mut open| act(&mut open));
    out.write_all(words.0.as_bytes())?;
    // A reason is a text of people, and may hold whatever a line can begin with.
    writeln!(out, "{}", clean(&done.map_err(failed)?))?;
    Ok(Exit::Success)
}

/// Keeps what is said until it can be printed.
#[derive(Default)]
struct Words(String);

impl Audience for Words {
    fn say(&mut self, line: &str) {
        self.0 += line;
        self.0.push('\n');
    }

    fn gate_opens(&mut self, workers: usize, entries: usize) -> Watcher {
        Arc::new(WorkerLines::new(ProgressLook::Nothing, workers, entries))
    }

    fn refused(&mut self, report: &EntryReport) {
        let layout = PageLayout::of_width(crate::view::text::width());
        self.0 += &human::entry(report, layout);
    }
}
