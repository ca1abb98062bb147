//! What can go wrong above a single rule, and the exit code for each outcome.
//!
//! An entry that breaks a rule is no error: it is a finding. Errors are what kept us from judging.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::evidence::escape;
use crate::sandbox::plan::SandboxError;
use crate::verdict::Verdict;

/// The exit codes of the program; the format of a report never changes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// Every entry is accepted, or what was asked for is done.
    Success,
    /// At least one entry is rejected.
    Rejected,
    /// The command line, a setting or a file of settings is wrong.
    Usage,
    /// There is nothing at the path that was given.
    Nothing,
    /// No entry is rejected, but at least one could not be decided here.
    Undecided,
    /// A bug in gate4k itself.
    Bug,
    /// What the entry itself ended with: its own status, or 128 and the number of its signal (`run`).
    Entry(u8),
}

impl Exit {
    /// The number that the shell sees.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Rejected => 1,
            Exit::Usage => 2,
            Exit::Nothing => 3,
            Exit::Undecided => 4,
            Exit::Bug => 70,
            Exit::Entry(code) => code,
        }
    }

    /// How strongly an outcome of one entry speaks for the whole command: our own faults first, since
    /// they make every other word doubtful, then the definite "no", then what was not there to judge.
    fn weight(self) -> u8 {
        match self {
            Exit::Success | Exit::Entry(_) => 0,
            Exit::Undecided => 1,
            Exit::Nothing => 2,
            Exit::Rejected => 3,
            Exit::Usage => 4,
            Exit::Bug => 5,
        }
    }

    /// The outcome of several entries: rejected beats undecided beats accepted.
    #[must_use]
    pub fn worst(outcomes: impl IntoIterator<Item = Exit>) -> Exit {
        outcomes.into_iter().max_by_key(|outcome| outcome.weight()).unwrap_or(Exit::Success)
    }
}

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Exit {
        match verdict {
            Verdict::Accepted => Exit::Success,
            Verdict::Undecided => Exit::Undecided,
            Verdict::Rejected => Exit::Rejected,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Why an entry could not be judged at all.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The path leads to nothing that could be an entry.
    #[error("nothing to check at {}: {what}", shown(path))]
    Nothing {
        /// The path as given.
        path: PathBuf,
        /// What was found instead (`no such file`, `the directory is empty`).
        what: String,
    },
    /// A file that belongs to the entry or to the settings cannot be read.
    #[error("cannot read {}: {source}", shown(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An allow-list, an engines.json or a setting is wrong; the message points at the place.
    #[error("{0}")]
    Configuration(Box<dyn Error + Send + Sync>),
    /// The host cannot confine an entry: nobody's fault, and nothing is run without it.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// Something that must not happen.
    #[error("gate4k's own fault: {0}")]
    Internal(String),
}

impl CheckError {
    /// The exit code.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            CheckError::Nothing { .. } => Exit::Nothing,
            CheckError::Read { .. } | CheckError::Configuration(_) => Exit::Usage,
            CheckError::Sandbox(_) => Exit::Undecided,
            CheckError::Internal(_) => Exit::Bug,
        }
    }

    /// Whether the next entry would meet the same error, so that going on is of no use.
    #[must_use]
    pub fn ends_all(&self) -> bool {
        matches!(
            self,
            CheckError::Configuration(_) | CheckError::Internal(_) | CheckError::Sandbox(_)
        )
    }
}

/// A path as one harmless line.
pub(crate) fn shown(path: &std::path::Path) -> String {
    escape(path.as_os_str().as_encoded_bytes(), usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_the_documented_ones() {
        let codes =
            [Exit::Success, Exit::Rejected, Exit::Usage, Exit::Nothing, Exit::Undecided, Exit::Bug]
                .map(Exit::code);
        assert_eq!(codes, [0, 1, 2, 3, 4, 70]);
    }

    #[test]
    fn rejected_beats_undecided_beats_accepted() {
        use Exit::{Bug, Nothing, Rejected, Success, Undecided};
        assert_eq!(Exit::worst([Success, Undecided, Success]), Undecided);
        assert_eq!(Exit::worst([Undecided, Rejected, Success]), Rejected);
        assert_eq!(Exit::worst([Nothing, Undecided]), Nothing);
        assert_eq!(Exit::worst([Nothing, Rejected]), Rejected);
        assert_eq!(Exit::worst([Rejected, Bug]), Bug);
        assert_eq!(Exit::worst([]), Success);
        assert_eq!(Exit::worst([Verdict::Accepted.into()]), Success);
    }

    #[test]
    fn a_path_in_a_message_is_harmless() {
        let error =
            CheckError::Nothing { path: PathBuf::from("a\x1b[2J\nb"), what: "no such file".into() };
        assert_eq!(error.to_string(), "nothing to check at a\\u{1b}[2J\\nb: no such file");
        assert_eq!(error.exit(), Exit::Nothing);
    }
}
