//! `gate4k standings`: the standings by the games of PGNs and of events' journals.

use std::io::{self, BufWriter, Write};

use serde::Serialize;

use super::games::{self, FileItem, Stages};
use crate::cli::{StandingsArgs, StandingsFormat};
use crate::event::field::FieldBuilder;
use crate::event::standings::{Standings, TieOfTwo};
use crate::model::exit::Exit;
use crate::model::game::ending::Termination;
use crate::view::{standings, text};

/// Counts and prints.
pub(crate) fn run(args: &StandingsArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let stages = args.stage.clone().map_or(Stages::Last, Stages::Named);
    let (mut all, mut file) = (FieldBuilder::default(), FieldBuilder::default());
    let (mut format, mut annulled, mut withdrawn) = (None, Vec::new(), Vec::new());
    games::each(&args.files, &stages, |told, number| match told {
        FileItem::Game(game) => {
            if let Termination::Annulled(reason) = &game.record.ending.reason {
                let place = game.round.map(|at| format!("{at}, ")).unwrap_or_default();
                let [white, black] = [&game.white.name, &game.black.name];
                annulled.push(format!("{place}{white} - {black} is annulled: {reason}"));
            }
            file.add(game, number);
        }
        FileItem::Stage(of) => {
            annulled.clear();
            withdrawn.clear();
            file = FieldBuilder::default();
            format = of;
        }
        FileItem::Bye(player, bye) => file.add_bye(player, bye.round, bye.wins),
        FileItem::Withdrawn(player, one) => {
            file.enter(player);
            annulled.push(one.in_words());
            withdrawn.push((one.engine.clone(), one.played));
        }
        FileItem::End => all.append(std::mem::take(&mut file)),
    })?;
    let mut counted = {
        let mut field = all.finish();
        for (engine, played) in &withdrawn {
            field.withdraw(engine, *played);
        }
        if let Some(limit) = args.crash_limit {
            field.disqualify_after(limit.get());
        }
        // Only a journal by itself tells what its two engines play for.
        match format {
            Some(format) if !format.is_match() && args.files.len() == 1 => {
                Standings::with(&field, args.tiebreaks, TieOfTwo::Broken)
            }
            _ => Standings::of(&field, args.tiebreaks),
        }
    };
    counted.annulled = annulled;
    let page = match args.format {
        StandingsFormat::Text => standings::text(&counted, text::width()),
        StandingsFormat::Plain => standings::plain(&counted, text::width()),
        StandingsFormat::Json => return document(out, &standings::json(&counted)),
        StandingsFormat::Crosstable => return document(out, &standings::crosstable(&counted)),
        StandingsFormat::Markdown => standings::markdown(&counted),
        StandingsFormat::Html => standings::html(&counted),
    };
    out.write_all(page.as_bytes())?;
    Ok(Exit::Success)
}

/// Prints JSON piece by piece: with every game in it, it is much longer than what it is made of.
fn document(out: &mut impl Write, document: &impl Serialize) -> anyhow::Result<Exit> {
    let mut out = BufWriter::new(out);
    serde_json::to_writer_pretty(&mut out, document).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(Exit::Success)
}
