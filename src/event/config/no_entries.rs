//! The reasons why no event file can be written for these engines.

use std::path::PathBuf;

use crate::model::text::shown;
use crate::model::words::counted;
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
    Read { path: PathBuf, source: std::io::Error },
    /// The file of engines is not understood.
    #[error(transparent)]
    Engines(#[from] SpecError),
    /// There are fewer than the event needs.
    #[error(
        "{} holds {}; {needs}; put {} into {}",
        shown(path),
        counted(*found, "engine"),
        if *is_file { "the others" } else { "each engine's file or folder" },
        shown(path)
    )]
    TooFew {
        /// The directory, or the file of engines.
        path: PathBuf,
        /// True of a file of engines.
        is_file: bool,
        /// The number of engines.
        found: usize,
        /// The number that the event needs, in words.
        needs: String,
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
