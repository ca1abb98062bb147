//! What a journal shows: how far an event is, whether all of it is right, its games.

use std::io::Write;

use super::super::tell;
use crate::cli::ExportWhat;
use crate::error::{Exit, shown};
use crate::event::config::Config;
use crate::event::journal::{self, JournalError};
use crate::event::ledger::Ledger;
use crate::event::ratings::EventRatings;
use crate::event::standings::Standings;
use crate::event::verify;
use crate::event::{export, stage::Stage};
use crate::report::{event_ratings, standings, text};
use crate::words::counted;

/// The event's state by its journal, with a note where its end is torn.
fn ledger(config: &Config) -> Result<(Ledger, Option<journal::Torn>), JournalError> {
    let mut ledger = Ledger::default();
    let torn = journal::read(&config.journal, &mut |_, record| ledger.apply(record))?;
    Ok((ledger, torn))
}

fn told(error: &JournalError) -> Exit {
    tell(&error.to_string());
    match error {
        JournalError::Read { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            Exit::Nothing
        }
        _ => Exit::Usage,
    }
}

fn table(config: &Config, ledger: &Ledger, number: usize, stage: &Stage) -> Option<Standings> {
    let state = ledger.stages.get(number)?;
    Some(stage.standings(&state.field(config.crash_limit)))
}

/// How far it is.
pub(super) fn status(config: &Config, out: &mut impl Write) -> anyhow::Result<Exit> {
    let (ledger, torn) = match ledger(config) {
        Ok(read) => read,
        Err(error) => return Ok(told(&error)),
    };
    writeln!(
        out,
        "{}: {} of {} entries frozen",
        config.event,
        ledger.receipts.len(),
        config.entries.len()
    )?;
    for (number, stage) in config.stages.iter().enumerate() {
        let Some(state) = ledger.stages.get(number) else {
            writeln!(out, "{}: not begun", stage.name)?;
            continue;
        };
        let games = stage.schedule(state.started.seats.len()).map_or(0, |s| s.games());
        let done = state.finished();
        match &state.outcome {
            Some(outcome) => {
                writeln!(
                    out,
                    "{}: over, {}: {}",
                    stage.name,
                    counted(done, "game"),
                    outcome.promoted.join(", ")
                )?;
            }
            None => writeln!(out, "{}: {done} of {}", stage.name, counted(games, "game"))?,
        }
    }
    for game in ledger.open.values() {
        let moves = counted(game.plies.len(), "move");
        writeln!(out, "under way: {}, {moves} of the engines", game.started.id)?;
    }
    for (name, crashes) in ledger.crashes() {
        writeln!(out, "crashed: {name}, {crashes} (counted as losses, rule 6.2)")?;
    }
    if ledger.interruptions > 0 {
        writeln!(out, "interruptions decided by rule 6.1: {}", ledger.interruptions)?;
    }
    if let Some(torn) = torn {
        writeln!(out, "line {} is being written, or was torn", torn.line)?;
    }
    match (&ledger.winner, &ledger.paused) {
        (Some(winner), _) => writeln!(out, "over: {winner} wins")?,
        (None, Some(why)) => writeln!(out, "paused: {why}")?,
        (None, None) => {}
    }
    let last = ledger.stages.len().checked_sub(1);
    let table = last.and_then(|number| table(config, &ledger, number, config.stages.get(number)?));
    if let Some(table) = table.filter(|table| !table.rows.is_empty()) {
        write!(out, "\n{}", standings::text(&table, text::width()))?;
    }
    let ratings = event_ratings::text(&EventRatings::of(config, &ledger));
    if !ratings.is_empty() {
        write!(out, "\n{ratings}")?;
    }
    Ok(Exit::Success)
}

/// Whether all of it is right.
pub(super) fn verify(config: &Config, out: &mut impl Write) -> anyhow::Result<Exit> {
    match verify::verify(config) {
        Err(error) => Ok(told(&error)),
        Ok(found) => {
            for line in &found.wrong {
                writeln!(out, "wrong: {line}")?;
            }
            let verdict = if found.wrong.is_empty() { "all is right" } else { "NOT all is right" };
            writeln!(
                out,
                "{}: {}, {}, {}: {verdict}",
                shown(&config.journal),
                counted(found.records, "record"),
                counted(found.games, "finished game"),
                counted(found.moves, "move")
            )?;
            Ok(if found.wrong.is_empty() { Exit::Success } else { Exit::Rejected })
        }
    }
}

/// Prints it in another form.
pub(super) fn export(
    config: &Config,
    what: ExportWhat,
    out: &mut impl Write,
) -> anyhow::Result<Exit> {
    if what == ExportWhat::Pgn {
        let mut failed = None;
        let read = export::pgn(config, &mut |game| {
            if failed.is_none()
                && let Err(error) = out.write_all(game.as_bytes())
            {
                failed = Some(error);
            }
        });
        return match (read, failed) {
            (Err(error), _) => Ok(told(&error)),
            (Ok(()), Some(error)) => Err(error.into()),
            (Ok(()), None) => Ok(Exit::Success),
        };
    }
    let ledger = match ledger(config) {
        Ok((ledger, _)) => ledger,
        Err(error) => return Ok(told(&error)),
    };
    let tables: Vec<Standings> = config
        .stages
        .iter()
        .enumerate()
        .filter_map(|(number, stage)| table(config, &ledger, number, stage))
        .collect();
    let ratings = EventRatings::of(config, &ledger);
    match what {
        ExportWhat::Settings => {
            let settings = ledger.header.map(|header| header.settings).unwrap_or_default();
            out.write_all(settings.as_bytes())?;
        }
        ExportWhat::Html => {
            out.write_all(
                standings::html_of_all(&tables, &event_ratings::html(&ratings)).as_bytes(),
            )?;
        }
        ExportWhat::Json | ExportWhat::Pgn => {
            let stages = tables.iter().map(|table| serde_json::to_value(standings::json(table)));
            let stages = stages.collect::<Result<Vec<_>, _>>()?;
            let entries: Vec<_> = ledger.receipts.values().collect();
            let document = serde_json::json!({
                "schema": "gate4k-event-1",
                "event": config.event,
                "winner": ledger.winner,
                "entries": entries,
                "stages": stages,
                "ratings": event_ratings::json(&ratings),
            });
            writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
        }
    }
    Ok(Exit::Success)
}
