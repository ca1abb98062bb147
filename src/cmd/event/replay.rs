//! `gate4k event replay-games`: recorded games against the formats of an event file.

use std::io::Write;

use crate::cli::{OutputFormat, ReplayArgs};
use crate::cmd::early_end::EarlyEnd;
use crate::cmd::layout_of;
use crate::event::plan::EventPlan;
use crate::event::replay::{ReplayError, replay};
use crate::model::exit::Exit;
use crate::view;

/// Replays and prints; the exit code tells whether all agrees.
pub(super) fn run(args: &ReplayArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let plan = EventPlan::load(&args.event).map_err(EarlyEnd::of_file)?;
    let replayed = replay(&plan, &args.files).map_err(|error| match &error {
        ReplayError::Open { .. } => EarlyEnd::of_file(error),
        ReplayError::NoGames { .. } | ReplayError::Unreadable { .. } => {
            EarlyEnd::new(Exit::Nothing, error)
        }
    })?;
    match args.format {
        OutputFormat::Json => {
            out.write_all(view::json::pretty(&replayed)?.as_bytes())?;
        }
        format => out.write_all(view::replay::text(&replayed, layout_of(format)).as_bytes())?,
    }
    Ok(if replayed.agrees() { Exit::Success } else { Exit::Rejected })
}
