//! `gate4k size`: the bytes alone, at once.

use std::io::Write;

use super::{NO_ENTRY, settings, tell};
use crate::batch::discover;
use crate::cli::{Format, SizeArgs};
use crate::error::Exit;
use crate::gate::Gate;
use crate::report::{json, size, text};

/// Measures and prints; an entry over the limit makes the outcome [`Exit::Rejected`].
pub(crate) fn run(args: &SizeArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    if args.entry.entries.is_empty() {
        tell(NO_ENTRY);
        return Ok(Exit::Usage);
    }
    let gate = match Gate::open(settings(&args.entry)) {
        Ok(gate) => gate,
        Err(error) => {
            tell(&error.to_string());
            return Ok(error.exit());
        }
    };
    let mut measured = Vec::new();
    let mut outcomes = Vec::new();
    for path in args.entry.entries.iter().flat_map(|path| discover::entries(path)) {
        match gate.measure(&path) {
            Ok(entry) => {
                outcomes.push(entry.verdict.into());
                if args.entry.format == Format::Human {
                    out.write_all(size::human(&entry, text::width()).as_bytes())?;
                }
                measured.push(entry);
            }
            Err(error) => {
                tell(&error.to_string());
                outcomes.push(error.exit());
                if error.ends_all() {
                    break;
                }
            }
        }
    }
    if args.entry.format == Format::Json {
        out.write_all(json::size(&measured)?.as_bytes())?;
    }
    Ok(Exit::worst(outcomes))
}
