//! The reasons why no event file can be written for these engines.

use std::path::PathBuf;

use crate::model::text::shown;
use crate::runner::spec::SpecError;

/// The number of engines in the Cup (TCEC Cup rules, 1.c).
pub(super) const CUP_ENGINES: usize = 32;

/// An error that keeps an event file from being written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoEntries {
    /// The directory cannot be read.
    #[error(
        "cannot read the entries in {}: {source}; name a folder with the file or the folder of each engine",
        shown(path)
    )]
    Read {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file of engines is not understood.
    #[error(transparent)]
    Engines(#[from] SpecError),
    /// There are fewer than the event needs.
    #[error(
        "there are not {least} engines in {}{why}; put each in a file or directory of its own there, named as it \
         shall be called",
        shown(path)
    )]
    TooFew {
        /// The directory, or the file of engines.
        path: PathBuf,
        /// The least number of engines.
        least: usize,
        /// The reason why the event needs as many, behind a comma; empty where it is plain.
        why: &'static str,
    },
    /// There are more than the bracket of the Cup has places for.
    #[error(
        "there are {found} engines in {}, and the bracket of the Cup has places for {CUP_ENGINES}, the first of the last Swiss; \
         leave {} out",
        shown(path),
        found - CUP_ENGINES
    )]
    TooMany {
        /// The directory, or the file of engines.
        path: PathBuf,
        /// The number of engines.
        found: usize,
    },
}
