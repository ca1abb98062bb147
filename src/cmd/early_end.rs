//! Commands that are not carried out: errors that say why, and with which exit code the command ends.

use std::error::Error;
use std::io;

use super::{tell, with_causes};
use crate::event::journal::JournalError;
use crate::judge::error::CheckError;
use crate::model::exit::Exit;
use crate::shard::parts::MergeError;

/// The reason that a command is not carried out, in words for people.
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
pub(super) struct EarlyEnd {
    words: String,
    exit: Exit,
}

impl EarlyEnd {
    pub(super) fn new(exit: Exit, words: impl ToString) -> EarlyEnd {
        EarlyEnd { words: words.to_string(), exit }
    }

    /// The command line, a setting or a file that it names is wrong.
    pub(super) fn usage(words: impl ToString) -> EarlyEnd {
        EarlyEnd::new(Exit::Usage, words)
    }

    /// A file cannot be used: nothing is there, or it is no such file.
    pub(super) fn of_file(error: impl Error) -> EarlyEnd {
        let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        let is_missing = source.is_some_and(|source| source.kind() == io::ErrorKind::NotFound);
        EarlyEnd::new(if is_missing { Exit::Nothing } else { Exit::Usage }, error)
    }

    /// The same as [`EarlyEnd::usage`] of an error with its causes.
    pub(super) fn of(error: anyhow::Error) -> EarlyEnd {
        EarlyEnd::usage(with_causes(&error))
    }
}

/// The exit code of an error that is a reason not to carry a command out; none of any other.
fn exit(error: &anyhow::Error) -> Option<Exit> {
    let exit = error.downcast_ref().map(|end: &EarlyEnd| end.exit);
    let exit = exit.or_else(|| error.downcast_ref().map(CheckError::exit));
    let exit = exit.or_else(|| error.downcast_ref().map(of_journal));
    exit.or_else(|| error.downcast_ref().map(of_merge))
}

/// Undecided where another try may go well: the disk has room again, the other runner has ended.
fn of_journal(error: &JournalError) -> Exit {
    match error {
        JournalError::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            Exit::Nothing
        }
        JournalError::Write { .. } | JournalError::Locked { .. } | JournalError::Taken { .. } => {
            Exit::Undecided
        }
        _ => Exit::Usage,
    }
}

fn of_merge(error: &MergeError) -> Exit {
    match error {
        MergeError::Empty(_) | MergeError::Changed(_) => Exit::Undecided,
        MergeError::Journal(error) => of_journal(error),
        MergeError::OtherRun { .. } | MergeError::Twice { .. } => Exit::Usage,
    }
}

/// Tells the reason of an early end; the exit code with which the command ends. Any other error is handed on.
pub(super) fn told(error: anyhow::Error) -> anyhow::Result<Exit> {
    let Some(exit) = exit(&error) else { return Err(error) };
    tell(&with_causes(&error));
    Ok(exit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    /// `gate4k pack` once said of a host that could not start an entry that the result could not be written.
    #[test]
    fn what_keeps_an_entry_from_being_judged_ends_every_command_with_its_own_exit_code() {
        let nothing = || CheckError::Nothing { path: "x".into(), what: "no such file".into() };
        let locked = || JournalError::Locked { path: "j".into() };
        let missing = || {
            let source = io::ErrorKind::NotFound.into();
            JournalError::Read { path: "j".into(), source }
        };
        for (error, expected) in [
            (nothing().into(), Exit::Nothing),
            (Err::<(), _>(nothing()).context("with hint 1").unwrap_err(), Exit::Nothing),
            (locked().into(), Exit::Undecided),
            (missing().into(), Exit::Nothing),
            (MergeError::Journal(locked()).into(), Exit::Undecided),
            (EarlyEnd::new(Exit::Rejected, "no").into(), Exit::Rejected),
        ] {
            assert_eq!(told(error).unwrap(), expected);
        }
        assert!(told(std::io::Error::other("the disk is full").into()).is_err());
    }
}
