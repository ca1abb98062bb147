//! Errors above a single rule, and the exit code for each.
//!
//! An entry that breaks a rule is no error: it is a finding. Errors are what kept us from judging.

use crate::model::exit::Exit;
use crate::model::text::shown;
use std::error::Error;
use std::path::PathBuf;

use crate::sandbox::plan::SandboxError;

/// An error that keeps an entry from being judged at all.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The path leads to nothing that could be an entry.
    #[error("no entry at {}: {what}; name an entry's file or its folder", shown(path))]
    Nothing {
        /// The path as given.
        path: PathBuf,
        /// The thing that was found instead (`no such file`, `the directory is empty`).
        what: String,
    },
    /// A file that belongs to the entry or to the settings cannot be read.
    #[error("cannot read {}: {source}; name a file or a directory that you may read", shown(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The entry is another than the one that the check lists in its journal.
    #[error(
        "{} was changed after the check had begun; begin the check again, with a new journal",
        shown(path)
    )]
    Changed {
        /// The path as given.
        path: PathBuf,
    },
    /// An allow-list, an engines.json or a setting is wrong; the message points at the place.
    #[error("{0}")]
    Configuration(Box<dyn Error + Send + Sync>),
    /// The host cannot confine an entry: nobody's fault, and nothing is run without it.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// A state that must not happen.
    #[error("gate4k's own fault: {0}")]
    Internal(String),
}

impl CheckError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            CheckError::Nothing { .. } => Exit::Nothing,
            CheckError::Read { .. } | CheckError::Configuration(_) => Exit::Usage,
            CheckError::Sandbox(_) | CheckError::Changed { .. } => Exit::Undecided,
            CheckError::Internal(_) => Exit::Bug,
        }
    }

    /// True if the next entry would meet the same error, so that going on is of no use.
    pub(crate) fn ends_all(&self) -> bool {
        matches!(
            self,
            CheckError::Configuration(_) | CheckError::Internal(_) | CheckError::Sandbox(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_a_message_is_harmless() {
        let error =
            CheckError::Nothing { path: PathBuf::from("a\x1b[2J\nb"), what: "no such file".into() };
        let told = "no entry at a\\u{1b}[2J\\nb: no such file; name an entry's file or its folder";
        assert_eq!(error.to_string(), told);
        assert_eq!(error.exit(), Exit::Nothing);
    }
}
