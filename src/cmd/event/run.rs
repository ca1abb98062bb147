//! `gate4k event run`: what it prints while it goes.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::Context;

use super::crashes::CrashKeeper;
use super::publish::Publishing;
use super::stream::EventStream;
use super::{decide_command, failed, file_word};
use crate::cli::EventRunArgs;
use crate::cmd::early_end::EarlyEnd;
use crate::cmd::worker_lines::{ProgressLook, WorkerLines};
use crate::cmd::{match_, say};
use crate::engine::stop::Stop;
use crate::event::conduct::{self, Audience, EventOutcome, GateRefusal, TableMoment};
use crate::event::config::EventConfig;
use crate::event::gate::Watcher;
use crate::event::journal::record::{GameStarted, won_by};
use crate::event::ratings::EventRatings;
use crate::event::standings::Standings;
use crate::model::entry_report::EntryReport;
use crate::model::exit::Exit;
use crate::model::lock::lock;
use crate::model::text::{escape, shell_word};
use crate::model::words::{all, counted};
use crate::runner::events::Event;
use crate::view::layout::PageLayout;
use crate::view::{event_ratings, human, standings, text};

/// Runs, or goes on.
pub(super) fn run(
    config: &EventConfig,
    args: &EventRunArgs,
    out: &mut impl Write,
) -> anyhow::Result<Exit> {
    let stop = Stop::new().context("a descriptor for stopping")?;
    let gate = OpenGate::default();
    let (asked, judging) = (stop.clone(), Arc::clone(&gate));
    match_::listen_to_signals(move || {
        // Held until it is told, since the gate closes as soon as somebody has asked.
        let gate = lock(&judging);
        let level = asked.ask();
        match &*gate {
            Some(lines) => lines.suspend(|| say(STOPPING)),
            None => say(match_::while_playing(level)),
        }
    });
    let stream = EventStream::open(config, args).map_err(EarlyEnd::of)?;
    let publishing = Publishing::start(config, &args.publish).map_err(EarlyEnd::of)?;
    let tables = match (args.quiet, args.table) {
        (true, _) => ShownTables::None,
        (false, false) => ShownTables::Stages,
        (false, true) => ShownTables::Games,
    };
    let crashes = CrashKeeper::start(config);
    let mut page = Page { out, quiet: args.quiet, tables, gate, failed: None, stream, crashes };
    let outcome = conduct::run(config, &stop, &mut page);
    page.stream.finish();
    page.crashes.finish();
    publishing.finish(&stop, matches!(outcome, Ok(EventOutcome::Over { .. })));
    if let Some(error) = page.failed {
        // The event goes on without somebody who listens; the outcome alone cannot be told.
        let _ = writeln!(std::io::stderr(), "the output was lost: {error}");
    }
    let (words, exit) = told(config, outcome.map_err(failed)?);
    writeln!(out, "{}", escape(words.as_bytes(), usize::MAX))?;
    Ok(exit)
}

/// The words and the exit code for the end of a run.
fn told(config: &EventConfig, outcome: EventOutcome) -> (String, Exit) {
    let file = file_word(&config.path);
    let words = match outcome {
        EventOutcome::Over { winners } => {
            let words = format!("{} is over: {}", config.event, won_by(&winners));
            return (words, Exit::Success);
        }
        EventOutcome::Paused => format!("paused; `gate4k event run {file}` goes on"),
        EventOutcome::Refused { entries, verdict: GateRefusal::Rejected } => {
            let words = format!(
                "{} did not pass the gate: the event does not begin; mend the entry and run again, or \
                 take it out of {file} and remove {}, since nothing has been played",
                all(&entries),
                crate::model::text::shown(&config.journal)
            );
            return (words, Exit::Rejected);
        }
        EventOutcome::Refused { entries, verdict: GateRefusal::Undecided } => format!(
            "{} could not be decided here; `admit-undecided = true` in {file} lets it play: write it, and run again",
            all(&entries)
        ),
        EventOutcome::NotStarted { game, why } => format!(
            "paused at {game}: {why}; nothing is forfeited. See why it does not start here (an entry by `gate4k \
             run`, another program by its own command), then `gate4k event run {file}` tries it again. Where the engine is at fault, \
             `gate4k event forfeit {game} {file} --loser NAME --reason …` counts the game as lost by a crash"
        ),
        EventOutcome::MayUpdate { stage } => format!(
            "paused before {stage}: engines that play in it may be updated now, through the gate again; \
             `gate4k event run {file}` takes what lies there then"
        ),
        EventOutcome::MayFix { stage, engines } => {
            let fixes = engines.iter().map(|name| {
                let name = shell_word(Path::new(name)).unwrap_or_else(|| name.clone());
                format!("`gate4k event fix {name} {file} --reason …`")
            });
            let fixes: Vec<String> = fixes.collect();
            format!(
                "paused before {stage}: {} crashed more than once, yet {} in it, and may be fixed now (rule 6.3 of the 4k \
                 rules): {} {} through the gate; `gate4k event run {file}` goes on, with a fix or without",
                all(&engines),
                if engines.len() == 1 { "plays" } else { "play" },
                all(&fixes),
                if engines.len() == 1 { "takes the fix" } else { "take the fixes" },
            )
        }
        EventOutcome::StillLevel { stage, pairs, ties } => {
            let ends = ties.iter().map(|tied| {
                let decide = decide_command(&config.path, tied);
                format!("; {decide}, the best first, ends it by the organisers' decision")
            });
            format!(
                "paused: {stage} is still level after {}; see in `gate4k event status {file}` whether both engines \
                 crash, or play the same games again; `gate4k event run {file}` plays on{}",
                counted(pairs, "more pair"),
                ends.collect::<String>()
            )
        }
        EventOutcome::Tied { stage, engines, decide } => format!(
            "{stage}: {} are tied, and {decide}: {}, the best first, then run again",
            all(&engines),
            decide_command(&config.path, &engines)
        ),
    };
    (words, Exit::Undecided)
}

/// The words for a signal while entries are judged.
const STOPPING: &str =
    "stopping; entries without a receipt are judged again when the event goes on";

/// The lines of the gate while it is open; the handler of signals has it, too.
type OpenGate = Arc<Mutex<Option<Arc<WorkerLines>>>>;

/// The tables that are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShownTables {
    None,
    /// One at each stage's end.
    Stages,
    /// One after each game; the last of a stage is that of its end.
    Games,
}

struct Page<'a, W: Write> {
    out: &'a mut W,
    quiet: bool,
    tables: ShownTables,
    gate: OpenGate,
    failed: Option<std::io::Error>,
    stream: EventStream,
    crashes: CrashKeeper,
}

impl<W: Write> Page<'_, W> {
    /// An event is not ended by a terminal that was closed.
    fn put(&mut self, text: &str) {
        let mut write = || self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        let done = match &*lock(&self.gate) {
            Some(lines) => lines.suspend(write),
            None => write(),
        };
        if let Err(error) = done {
            self.failed.get_or_insert(error);
        }
    }
}

impl<W: Write> Audience for Page<'_, W> {
    fn say(&mut self, line: &str) {
        let line = escape(line.as_bytes(), usize::MAX);
        self.put(&format!("{line}\n"));
    }

    fn gate_opens(&mut self, workers: usize, entries: usize) -> Watcher {
        let look = if self.quiet { ProgressLook::Nothing } else { ProgressLook::Drawn };
        let lines = Arc::new(WorkerLines::new(look, workers, entries));
        *lock(&self.gate) = Some(Arc::clone(&lines));
        lines
    }

    fn gate_closes(&mut self) {
        if let Some(lines) = lock(&self.gate).take() {
            lines.end();
        }
    }

    fn refused(&mut self, report: &EntryReport) {
        let layout = PageLayout::of_width(text::width());
        self.put(&human::entry(report, layout));
    }

    fn wants_table(&self, moment: TableMoment) -> bool {
        let wanted = match moment {
            TableMoment::Game => ShownTables::Games,
            TableMoment::Stage => ShownTables::Stages,
        };
        self.tables == wanted && self.failed.is_none()
    }

    fn heard(&mut self, event: &Event, game: Option<&GameStarted>) {
        self.stream.hear(event, game);
        self.crashes.hear(event);
    }

    fn table(&mut self, counted: &Standings, ratings: &EventRatings) {
        self.put(&standings::text(counted, text::width()));
        self.put(&format!(
            "\n{}",
            event_ratings::text(ratings, PageLayout::of_width(text::width()))
        ));
    }
}
