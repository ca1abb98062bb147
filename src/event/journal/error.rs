//! The errors of journals.

use std::io;
use std::path::{Path, PathBuf};

use super::RecordPlace;
use crate::model::text::shown;
use crate::model::units::Bytes;

/// The advice for a journal that cannot be read.
fn instead(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => "make it one that you may read",
        _ => "name a file that `--journal` wrote, or the event's journal (event.journal)",
    }
}

/// An error that makes a journal unusable.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The journal cannot be opened or read.
    #[error("cannot read the journal {}: {source}; {}", shown(path), instead(source))]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The journal cannot be opened for writing.
    #[error(
        "cannot open the journal {} for writing: {source}; name a file that you may write, in a folder that is there",
        shown(path)
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Somebody else removed, replaced or changed the journal while it was written.
    #[error(
        "the journal {} was removed, replaced or changed while it was written; nothing is written to it any more: put the file \
         back as it was, and give the command again",
        shown(path)
    )]
    Taken {
        /// The file.
        path: PathBuf,
    },
    /// A record could not be kept.
    #[error(
        "cannot write to the journal {}: {source}; nothing that it holds is lost: make room or mend the \
         disk, then give the command again",
        shown(path)
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Somebody else writes to it.
    #[error(
        "another runner is writing to {}; let it go on, or end it before you start one",
        shown(path)
    )]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// A record in the middle is not what was written.
    #[error(
        "the journal {} is damaged at line {line} (byte {offset}): {what}; put back a copy that is whole, \
         this one is left as it is",
        shown(path)
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// Where it begins, in bytes.
        offset: u64,
        /// The fault.
        what: String,
    },
    /// The last record is not what was written: a crash of the host may have left it so.
    #[error(
        "the last record of the journal {} (line {}, byte {}) is not whole: {what}; put back a copy that \
         is, or {mend} cut off these {}, of which it keeps a copy",
        shown(path),
        place.line,
        place.offset,
        Bytes(place.bytes)
    )]
    LastDamaged {
        /// The file.
        path: PathBuf,
        /// Where it stands.
        place: RecordPlace,
        /// The fault.
        what: String,
        /// See [`JournalKind::REPAIR`].
        mend: &'static str,
    },
    /// The file does not begin as a journal does.
    #[error("{} is no journal; {origin}", shown(path))]
    NoJournal {
        /// The file.
        path: PathBuf,
        /// See [`JournalKind::ORIGIN`].
        origin: &'static str,
    },
    /// The file is something else, or of another version.
    #[error("{} is no journal that this gate4k can read: {what}", shown(path))]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The reason.
        what: String,
    },
}

impl JournalError {
    /// The error for a journal that cannot be read.
    pub(super) fn unread(path: &Path) -> impl Fn(io::Error) -> JournalError {
        move |source| JournalError::Read { path: path.to_owned(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_fits_the_reason() {
        let told = |kind: io::ErrorKind| {
            JournalError::Read { path: "j".into(), source: kind.into() }.to_string()
        };
        assert!(told(io::ErrorKind::PermissionDenied).ends_with("make it one that you may read"));
        assert!(told(io::ErrorKind::NotFound).ends_with("the event's journal (event.journal)"));
    }
}
