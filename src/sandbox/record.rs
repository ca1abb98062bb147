//! What is written down of one run, and how much of it.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::PathBuf;
use std::time::Instant;

use super::plan::Seen;
use crate::model::evidence::{Crash, Denial, ExecOutcome, ExitHow, FileAccess, Refusal};
use crate::model::units::Bytes;

/// How much is kept of one run. What an entry repeats only loses detail; room that one kind of event fills
/// takes none from another, so that nothing can be hidden behind a flood of something else.
///
/// From this number of programs on, the same program started again is not written down again.
pub(super) const MOST_TOLD_APART: usize = 1_000;
/// An entry that goes beyond this number is ended: what it runs can no longer be told.
pub(super) const MOST_EXECS: usize = 2_000;
/// Files of the host that were opened, files that were refused, and files of the entry's own.
pub(super) const MOST_OPENS: usize = 5_000;
pub(super) const MOST_DENIED_OPENS: usize = 1_000;
pub(super) const MOST_OWN_OPENS: usize = 1_000;
pub(super) const MOST_CRASHES: usize = 50;
pub(super) const MOST_DENIALS: usize = 200;
pub(super) const MOST_REFUSALS: usize = 50;
/// Files whose maker is remembered.
pub(super) const MOST_MADE: usize = 20_000;

/// One exec as seen; classified when the run is over.
#[derive(Debug)]
pub(super) struct RawExec {
    pub(super) at: Instant,
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) by: Option<usize>,
    pub(super) seen: Seen,
    pub(super) outcome: ExecOutcome,
    pub(super) ended: Option<Instant>,
    pub(super) exit: Option<ExitHow>,
    /// The file that ran, for hashing own products later.
    pub(super) file: Option<File>,
}

/// One opening, deduplicated.
#[derive(Debug)]
pub(super) struct RawOpen {
    pub(super) at: Instant,
    pub(super) by: Option<usize>,
    pub(super) path: PathBuf,
    pub(super) access: FileAccess,
    pub(super) denied: bool,
    pub(super) missing: bool,
}

/// Everything that was seen.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub(super) execs: Vec<RawExec>,
    pub(super) opens: Vec<RawOpen>,
    pub(super) denials: Vec<Denial>,
    pub(super) refusals: Vec<Refusal>,
    /// Sizes of the mappings that were made lazy.
    pub(super) lazy_maps: Vec<Bytes>,
    pub(super) crashes: Vec<(Instant, Crash)>,
    /// Names that are in no directory of PATH, and which program looked for them.
    pub(super) not_installed: Vec<(String, Option<usize>)>,
    /// Which program (index of execs) made which path.
    pub(super) made: HashMap<PathBuf, usize>,
}

/// What tells one program's start from another's: inode (or path), `argv[0]`, starter's class by its inode,
/// outcome.
pub(super) type Told =
    (Option<(u64, u64)>, PathBuf, Option<String>, Option<(u64, u64)>, ExecOutcome);

/// The names that were looked for in every directory of PATH, `dirs` of them, and were in none; and who looked.
pub(super) fn found_nowhere(
    looked: HashMap<String, (HashSet<PathBuf>, Option<usize>)>,
    found: &HashSet<String>,
    dirs: usize,
) -> Vec<(String, Option<usize>)> {
    let mut names: Vec<(String, Option<usize>)> = looked
        .into_iter()
        .filter(|(name, (places, _))| places.len() >= dirs && !found.contains(name))
        .map(|(name, (_, by))| (name, by))
        .collect();
    names.sort();
    names
}
