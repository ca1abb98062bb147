//! `gate4k standings`: who stands where, by the games of PGNs and of events' journals.

use std::io::Write;

use super::games::{self, Stages};
use crate::cli::{StandingsArgs, StandingsFormat};
use crate::error::Exit;
use crate::event::field::FieldBuilder;
use crate::event::standings::Standings;
use crate::report::{standings, text};

/// Counts and prints.
pub(crate) fn run(args: &StandingsArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let mut builder = FieldBuilder::default();
    let stages = args.stage.clone().map_or(Stages::Last, Stages::Named);
    if let Err(exit) = games::each(&args.files, &stages, |game, file| builder.add(game, file)) {
        return Ok(exit);
    }
    let mut field = builder.finish();
    if let Some(limit) = args.crash_limit {
        field.disqualify_after(limit.get());
    }
    let counted = Standings::of(&field, args.tiebreaks);
    let page = match args.format {
        StandingsFormat::Text => standings::text(&counted, text::width()),
        StandingsFormat::Json => standings::json(&counted)?,
        StandingsFormat::Crosstable => standings::crosstable(&counted)?,
        StandingsFormat::Markdown => standings::markdown(&counted),
        StandingsFormat::Html => standings::html(&counted),
    };
    out.write_all(page.as_bytes())?;
    Ok(Exit::Success)
}
