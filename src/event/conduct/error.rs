//! The errors that stop an event.

use std::path::PathBuf;

use crate::event::config::EventConfig;
use crate::event::history::HistoryError;
use crate::event::journal::JournalError;
use crate::event::journal::record::NO_FILE;
use crate::event::ledger::Ledger;
use crate::game::openings::{BookError, BookPlace};
use crate::game::tables::TablesError;
use crate::judge::error::CheckError;
use crate::model::text::shown;
use crate::model::words::counted;

/// An error that stops an event.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EventError {
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An entry.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// A stage's openings.
    #[error(transparent)]
    Book(BookError),
    /// Positions for engines that are told moves only.
    #[error(
        "{}, {place} is a position and no list of moves, and the engines of an event are told moves only (rule 7.9), but in \
         stages of Chess960; use a book of moves (PGN, *.txt, polyglot)",
        shown(path)
    )]
    PositionInBook {
        path: PathBuf,
        /// The first such opening.
        place: BookPlace,
    },
    /// A book that is too small.
    #[error(
        "the stage {stage} needs {}, and {} has {there}; give it a larger book",
        counted(*needed, "opening"),
        shown(path)
    )]
    SmallBook {
        stage: String,
        /// The number of openings that it needs.
        needed: usize,
        /// The number of openings that there are.
        there: usize,
        path: PathBuf,
    },
    /// A book that is not what it was when its stage began.
    #[error(
        "the book {} changed since {stage} began: SHA-256 {now}, it was {before}; the games still to come are the \
         reverses of games from the old one: put that back",
        shown(path)
    )]
    BookChanged {
        stage: String,
        path: PathBuf,
        /// The sum in the journal.
        before: String,
        /// The sum now.
        now: String,
    },
    /// The games before the event.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// Places of another event are not what they were when this one began.
    #[error(
        "{names} changed since the event began or cannot be read, and who plays follows from it; put back what it was, or begin an event of \
         another journal"
    )]
    PreviousChanged {
        /// The journals.
        names: String,
    },
    /// Tables that an event names which has not begun.
    #[error(transparent)]
    Tables(#[from] TablesError),
    /// Tables that an event needs which has begun.
    #[error(
        "cannot use the endgame tables in {}: {why}; the event's file is frozen with this folder: put tables (*.rtbw) \
         there, or make it a link to a folder with them",
        shown(path)
    )]
    FrozenTables {
        path: PathBuf,
        /// The reason why they cannot be used.
        why: String,
    },
    /// The event file is not the one the journal was begun with.
    #[error(
        "{0} changed since the event began: SHA-256 {now}, it was {before}; put it back (`gate4k event export \
         settings {0} >as-it-was.toml` writes it), or name another journal for another event",
        shown(path)
    )]
    SettingsChanged {
        path: PathBuf,
        /// The sum in the journal.
        before: String,
        /// The sum now.
        now: String,
    },
    /// An entry is not what it was (rule 4.4).
    #[error(
        "{what} of {entry} {}; no updates are \
         allowed during an event (rule 4.4 of the 4k rules): put the old one back, or see `gate4k event fix` for their rule 6.3",
        changed(before, now)
    )]
    EntryChanged {
        entry: String,
        /// The name of the file that changed.
        what: String,
        /// The sum in the journal.
        before: String,
        /// The sum now.
        now: String,
    },
    /// An entry was updated, and its turn is later.
    #[error(
        "{what} of {entry} {}; its turn to be updated is before \
         {stage}: put the old one back until the run pauses there",
        changed(before, now)
    )]
    UpdatedTooSoon {
        entry: String,
        /// The name of the file that changed.
        what: String,
        /// The sum in the journal.
        before: String,
        /// The sum now.
        now: String,
        /// The stage before which it may be updated.
        stage: String,
    },
    /// The host failed an engine.
    #[error("the game {game} was broken off: {why}; mend the host, then run the event again")]
    Host {
        game: String,
        /// The failure of the host.
        why: String,
    },
    /// The journal holds what cannot be.
    #[error("the journal does not fit the event: {0}; it is left as it is")]
    State(String),
    /// The request is not allowed now.
    #[error("{0}")]
    NotNow(String),
    /// No thread.
    #[error("cannot start a thread for the games: {0}")]
    Thread(#[from] std::io::Error),
}

/// The change of a file since it was frozen, in words.
fn changed(before: &str, now: &str) -> String {
    match (before, now) {
        (_, NO_FILE) => format!("is gone since it was frozen: it was SHA-256 {before}"),
        (NO_FILE, _) => format!("was not there when it was frozen: it is SHA-256 {now}"),
        _ => format!("changed since it was frozen: SHA-256 {now}, it was {before}"),
    }
}

impl From<BookError> for EventError {
    fn from(error: BookError) -> EventError {
        match error {
            BookError::NeedsFen { path, place, .. } => EventError::PositionInBook { path, place },
            error => EventError::Book(error),
        }
    }
}

impl EventError {
    /// The difference of the event's file from the one that its journal was begun with; none where there is none, and
    /// where it is in whom the event admits alone, before its first stage.
    pub(crate) fn settings_changed(config: &EventConfig, ledger: &Ledger) -> Option<EventError> {
        let header = ledger.header.as_ref()?;
        let before = &header.settings_sha256;
        let may = ledger.stages.is_empty() && config.admits_otherwise(&header.settings);
        (*before != config.sha256 && !may).then(|| EventError::SettingsChanged {
            path: config.path.clone(),
            before: before.clone(),
            now: config.sha256.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_gone_is_told_to_be_gone() {
        let told = |before: &str, now: &str| {
            let (entry, what) = ("A".to_owned(), "the file net".to_owned());
            let (before, now) = (before.to_owned(), now.to_owned());
            EventError::EntryChanged { entry, what, before, now }.to_string()
        };
        let gone = told("12ab", NO_FILE);
        let expected =
            "the file net of A is gone since it was frozen: it was SHA-256 12ab; no updates";
        assert!(gone.starts_with(expected), "{gone}");
        let other = told("12ab", "34cd");
        assert!(
            other.contains("changed since it was frozen: SHA-256 34cd, it was 12ab"),
            "{other}"
        );
        let new = told(NO_FILE, "34cd");
        assert!(new.contains("was not there when it was frozen: it is SHA-256 34cd"), "{new}");
    }
}
