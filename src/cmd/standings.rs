//! `gate4k standings`: the standings by the games of PGNs and of events' journals.

use std::io::{self, BufWriter, Write};

use serde::Serialize;

use super::early_end::EarlyEnd;
use super::games::{self, FileItem, Stages};
use super::{note, warn};
use crate::cli::{StandingsArgs, StandingsFormat};
use crate::event::config::EventConfig;
use crate::event::field::{EventGame, Field, FieldBuilder};
use crate::event::format::{PlayedPairing, StageHistory};
use crate::event::journal;
use crate::event::journal::record::{Annulled, StageStarted, Withdrawn};
use crate::event::ledger::Ledger;
use crate::event::progress::EventProgress;
use crate::event::schedule::Seat;
use crate::event::stage_table;
use crate::event::standings::Standings;
use crate::event::tiebreak::CHAINS;
use crate::model::exit::Exit;
use crate::model::game::ending::Termination;
use crate::model::game::result::GameResult;
use crate::model::text::shown;
use crate::model::words::counted;
use crate::view::{standings, text};

/// Counts and prints.
pub(crate) fn run(args: &StandingsArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let table = match of_event(args) {
        Some(table) => table,
        None => counted_alone(args)?,
    };
    let page = match args.format {
        StandingsFormat::Text => standings::text(&table, text::width()),
        StandingsFormat::Plain => standings::plain(&table, text::width()),
        StandingsFormat::Json => return document(out, &standings::json(&table)),
        StandingsFormat::Crosstable => return document(out, &standings::crosstable(&table)),
        StandingsFormat::Markdown => standings::markdown(&table),
        StandingsFormat::Html => standings::html(&table),
    };
    out.write_all(page.as_bytes())?;
    Ok(Exit::Success)
}

/// The table of a stage of a journal as its event has it, which ranks by matches, too: none of a PGN, of several files,
/// nor where it is to be counted otherwise than in the event.
fn of_event(args: &StandingsArgs) -> Option<Standings> {
    let [file] = &args.files[..] else { return None };
    if !journal::is_journal(file) || args.tiebreaks.is_some() || args.crash_limit.is_some() {
        return None;
    }
    let config = match EventConfig::of_journal(file)? {
        Ok(config) => config,
        Err(mistake) => {
            warn(&format!(
                "{}: {mistake}; so its games alone are counted, and matches do not rank. Put the files that its settings name \
                 beside it",
                shown(file)
            ));
            return None;
        }
    };
    let mut ledger = Ledger::of(&config);
    // Whatever is wrong with the journal is told by the reader of its games.
    journal::read(file, &mut |_, record| ledger.apply(record)).ok()?;
    let mut stages = ledger.stages.iter();
    let number = match &args.stage {
        Some(name) => stages.position(|one| one.started.name == *name),
        None => stages.len().checked_sub(1),
    }?;
    let state = &ledger.stages[number];
    state.games().next()?;
    // One that was played again counts, and there is nothing to tell of it.
    let is_struck = |one: &&Annulled| {
        let own = |game: &EventGame| {
            game.at == Some(one.place()) && game.result == GameResult::Unfinished
        };
        one.stage == number && state.games().any(|(_, game)| own(game))
    };
    let annulled = ledger.annulled.iter().filter(is_struck).map(Annulled::in_words);
    let withdrawn = ledger.withdrawn.iter().filter(|one| one.stage == number);
    let annulled = annulled.chain(withdrawn.map(Withdrawn::in_words)).collect();
    Some(Standings { annulled, ..stage_table::of(&config, &ledger, number)? })
}

/// The table of the games of PGNs and journals by themselves.
fn counted_alone(args: &StandingsArgs) -> Result<Standings, EarlyEnd> {
    let stages = args.stage.clone().map_or(Stages::Last, Stages::Named);
    let (mut all, mut file) = (FieldBuilder::default(), FieldBuilder::default());
    let (mut stage, mut limit) = (None, None);
    let (mut annulled, mut withdrawn, mut decided) = (Vec::new(), Vec::new(), Vec::new());
    games::each(&args.files, &stages, |told, number| match told {
        FileItem::Game(game) => {
            if let Termination::Annulled(reason) = &game.record.ending.reason {
                let place = game.round.map(|at| format!("{at}, ")).unwrap_or_default();
                let [white, black] = [&game.white.name, &game.black.name];
                annulled.push(format!("{place}{white} - {black} is annulled: {reason}"));
            }
            file.add(game, number);
        }
        FileItem::Stage(of, started) => {
            annulled.clear();
            withdrawn.clear();
            decided.clear();
            file = FieldBuilder::default();
            stage = of.map(|of| (of, started.clone()));
        }
        FileItem::Bye(player, bye) => file.add_bye(player, bye.round, bye.wins),
        FileItem::Withdrawn(player, one) => {
            file.enter(player);
            file.remove_byes_of(&one.engine, one.round);
            annulled.push(one.in_words());
            withdrawn.push((one.engine.clone(), one.played));
        }
        FileItem::Decision(decision) => decided.push(decision.order),
        FileItem::End => {
            all.append(std::mem::take(&mut file));
            limit = limit.or(stage.as_ref().and_then(|(stage, _)| stage.crash_limit));
        }
    })?;
    let mut field = all.finish();
    for (engine, played) in &withdrawn {
        field.withdraw(engine, *played);
    }
    let is_alone = args.files.len() == 1;
    if let (None, Some(limit), false) = (args.crash_limit, limit, is_alone) {
        warn(&format!(
            "a stage among these disqualifies after {}, which is not applied to games of several files; \
             --crash-limit {limit} applies it to all",
            counted(limit.get(), "crash")
        ));
    }
    if let Some(limit) = args.crash_limit.or(limit.filter(|_| is_alone)) {
        field.disqualify_after(limit.get());
    }
    // Only a journal by itself tells what its engines play for.
    let mut table = match stage.filter(|_| is_alone) {
        Some((stage, started)) => {
            let past = past(&field, &started);
            field.pair_by(stage.format.pairs(started.seats.len(), &past));
            let chain = args.tiebreaks.unwrap_or(stage.chain);
            if chain != stage.chain {
                note(&format!(
                    "ties are broken by --tiebreaks {}, not as in the event",
                    chain.name
                ));
            }
            let mut table = stage.format.standings(&field, chain);
            if table.progress.is_some() {
                let struck = stage_table::struck(&past);
                table.progress = EventProgress::of_stage(&field, &started.seats, &struck);
            }
            table
        }
        None => Standings::of(&field, args.tiebreaks.unwrap_or(&CHAINS[0])),
    };
    if is_alone {
        table.decide(decided.iter().map(|order| &order[..]));
    }
    table.annulled = annulled;
    Ok(table)
}

/// The games of a field as the format of their stage sees them.
fn past(field: &Field, started: &StageStarted) -> StageHistory {
    let mut past = StageHistory { taken: started.through.len(), ..StageHistory::default() };
    let seat = |engine| {
        let name = &field.engine(engine).name;
        started.seats.iter().position(|seat| seat == name).map(Seat)
    };
    for game in field.games() {
        if let (Some(at), Some(white), Some(black)) = (game.at, seat(game.white), seat(game.black))
        {
            past.add(PlayedPairing { at, white, black, result: game.result });
        }
    }
    past
}

/// Prints JSON piece by piece: with every game in it, it is much longer than what it is made of.
fn document(out: &mut impl Write, document: &impl Serialize) -> anyhow::Result<Exit> {
    let mut out = BufWriter::new(out);
    serde_json::to_writer_pretty(&mut out, document).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(Exit::Success)
}
