//! `gate4k merge --watch`: the shards of a match are looked at until the whole decides its test, which ends them.
//!
//! Only the games up to the first that is missing count, in the order of the match. So the decision is the one that a single
//! machine comes to, after the same games: neither the number of shards, nor which of them is fast, nor how often they are
//! looked at moves the test's errors.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::merge_match::decided_before_a_gap;
use crate::cli::MergeArgs;
use crate::event::journal::JournalError;
use crate::model::text::shown;
use crate::shard::parts::MergeError;
use crate::shard::whole::Whole;

/// The shortest time between two looks.
const PAUSE: Duration = Duration::from_secs(1);

/// Between looks a wait is so many times as long as the look took, so that looking costs a twentieth of a processor at most.
const SHARE: u32 = 19;

/// How far a match is.
enum Standing {
    UnderWay,
    /// All of its games are there.
    Played,
    /// Its test is decided, as the line says.
    Decided(String),
}

/// Waits for the end of a match, and makes `file` where its test is decided. Returns what is to be merged then: the journals
/// that there are.
pub(super) fn ended(args: &MergeArgs, file: &Path) -> anyhow::Result<MergeArgs> {
    loop {
        let began = Instant::now();
        // A shard that waits for its machine has no journal yet.
        let journals: Vec<PathBuf> =
            args.journals.iter().filter(|path| path.exists()).cloned().collect();
        let ended = MergeArgs { partial: true, journals, ..args.clone() };
        match standing(&ended.journals)? {
            Standing::UnderWay => {}
            Standing::Played => return Ok(ended),
            Standing::Decided(line) => {
                std::fs::write(file, line + "\n")
                    .with_context(|| format!("cannot write {}", shown(file)))?;
                return Ok(ended);
            }
        }
        std::thread::sleep(PAUSE.max(began.elapsed() * SHARE));
    }
}

fn standing(journals: &[PathBuf]) -> Result<Standing, MergeError> {
    let looked = Whole::read(journals).and_then(|whole| {
        let Some(whole) = whole else { return Ok(Standing::UnderWay) };
        if let Some(line) = decided_before_a_gap(&whole)? {
            return Ok(Standing::Decided(line));
        }
        Ok(if whole.gaps().is_empty() { Standing::Played } else { Standing::UnderWay })
    });
    match looked {
        // A shard that has not begun, and one that writes just now or will mend its last record when it goes on.
        Err(
            MergeError::Empty(_)
            | MergeError::Changed(_)
            | MergeError::Journal(JournalError::LastDamaged { .. }),
        ) => Ok(Standing::UnderWay),
        other => other,
    }
}
