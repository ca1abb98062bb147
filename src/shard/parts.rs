//! Journals as parts of one run: each shard once, and which of them are missing.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use super::Shard;
use crate::event::journal::JournalError;
use crate::model::text::{escape, shown};

/// An error in putting shards together.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MergeError {
    /// A journal that cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A journal without a record.
    #[error(
        "{} is empty: its shard has not begun; start that shard, or leave the file out and use --partial",
        shown(.0)
    )]
    Empty(PathBuf),
    /// A journal of something else.
    #[error(
        "{} is of another run than {}: {}; merge only journals of one run",
        shown(path),
        shown(first),
        escape(what.as_bytes(), 1000)
    )]
    OtherRun {
        /// The one that was read first.
        first: PathBuf,
        /// The one that differs.
        path: PathBuf,
        /// In this.
        what: String,
    },
    /// The same shard in two files.
    #[error(
        "shard {shard} is given twice: {} and {}; leave one of them out",
        shown(first),
        shown(path)
    )]
    Twice {
        /// The shard.
        shard: Shard,
        /// The one that was read first.
        first: PathBuf,
        /// The other one.
        path: PathBuf,
    },
    /// A file that changed while it was read.
    #[error("{} changed while it was read; do it again", shown(.0))]
    Changed(PathBuf),
}

/// The shards that there are.
#[derive(Debug)]
pub(crate) struct Parts {
    of: NonZeroUsize,
    known: Vec<(PathBuf, Shard)>,
    /// Journals that end before their first record: their shards have not begun.
    empty: Vec<PathBuf>,
}

impl Parts {
    /// No shards yet, of as many as `shard` is one of.
    pub(crate) fn like(shard: Shard) -> Parts {
        Parts { of: shard.of, known: Vec::new(), empty: Vec::new() }
    }

    /// The shard of a unit.
    pub(crate) fn shard(&self, unit: usize) -> Shard {
        Shard::of_unit(unit, self.of)
    }

    /// The journals that end before their first record.
    pub(crate) fn empty(&self) -> &[PathBuf] {
        &self.empty
    }

    /// Takes a shard of which the run differs in `differs` from that of the first.
    ///
    /// # Errors
    /// When it is of another run, or there already.
    pub(crate) fn add(
        &mut self,
        path: &Path,
        shard: Shard,
        differs: Option<String>,
    ) -> Result<(), MergeError> {
        if let Some((first, _)) = self.known.first() {
            let parts = || format!("it is one of {} shards, not of {}", shard.of(), self.of);
            if let Some(what) = differs.or_else(|| (shard.of != self.of).then(parts)) {
                let (first, path) = (first.clone(), path.to_owned());
                return Err(MergeError::OtherRun { first, path, what });
            }
        }
        if let Some((first, _)) = self.known.iter().find(|(_, its)| *its == shard) {
            let (first, path) = (first.clone(), path.to_owned());
            return Err(MergeError::Twice { shard, first, path });
        }
        self.known.push((path.to_owned(), shard));
        Ok(())
    }

    /// The shards of which there is no journal, and those of which units are missing, with how many; `missing` are the
    /// numbers of units that there is nothing of.
    pub(crate) fn gaps(&self, missing: impl Iterator<Item = usize>) -> Vec<(Shard, Option<usize>)> {
        // A shard without anything of its own need not have been started.
        let mut counts: BTreeMap<Shard, usize> = BTreeMap::new();
        for unit in missing {
            *counts.entry(self.shard(unit)).or_default() += 1;
        }
        let is_there = |shard| self.known.iter().any(|(_, its)| *its == shard);
        counts.into_iter().map(|(shard, units)| (shard, is_there(shard).then_some(units))).collect()
    }
}

/// Reads each journal by `add`; one that is empty is kept for [`Parts::empty`].
///
/// # Errors
/// The errors of `add`, and [`MergeError::Empty`] where no journal has begun.
pub(super) fn read_all<W>(
    paths: &[PathBuf],
    add: impl Fn(&mut Option<W>, &Path) -> Result<(), MergeError>,
    parts: impl Fn(&mut W) -> &mut Parts,
) -> Result<Option<W>, MergeError> {
    let mut whole: Option<W> = None;
    let mut empty = Vec::new();
    for path in paths {
        match add(&mut whole, path) {
            Err(MergeError::Empty(path)) => empty.push(path),
            added => added?,
        }
    }
    match (&mut whole, empty.first()) {
        (None, Some(first)) => return Err(MergeError::Empty(first.clone())),
        (Some(whole), _) => parts(whole).empty = empty,
        (None, None) => {}
    }
    Ok(whole)
}
