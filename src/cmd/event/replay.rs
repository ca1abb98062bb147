//! `gate4k event replay-games`: recorded games against the formats of an event file.

use std::io::Write;

use crate::cli::{OutputFormat, ReplayArgs};
use crate::cmd::{look_of, tell};
use crate::event::plan::{EventPlan, PlanError};
use crate::event::replay::{ReplayError, replay};
use crate::model::exit::Exit;
use crate::view;

/// Replays and prints; the exit code tells whether all agrees.
pub(super) fn run(args: &ReplayArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let not_found = |source: &std::io::Error| source.kind() == std::io::ErrorKind::NotFound;
    let plan = match EventPlan::load(&args.event) {
        Ok(plan) => plan,
        Err(error) => {
            tell(&error.to_string());
            let is_missing = matches!(&error, PlanError::Read { source, .. } if not_found(source));
            return Ok(if is_missing { Exit::Nothing } else { Exit::Usage });
        }
    };
    let replayed = match replay(&plan, &args.files) {
        Ok(replayed) => replayed,
        Err(error) => {
            tell(&error.to_string());
            return Ok(match &error {
                ReplayError::Open { source, .. } if not_found(source) => Exit::Nothing,
                ReplayError::NoGames { .. } | ReplayError::Unreadable { .. } => Exit::Nothing,
                ReplayError::Open { .. } => Exit::Usage,
            });
        }
    };
    match args.format {
        OutputFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, &replayed).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
        }
        format => out.write_all(view::replay::text(&replayed, look_of(format)).as_bytes())?,
    }
    Ok(if replayed.agrees() { Exit::Success } else { Exit::Rejected })
}
