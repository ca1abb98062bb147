//! The games before an event that its rating list counts, too (rule 5.2): added up once, when the event
//! begins, and kept in its journal, so that the list follows from that alone.

use std::collections::BTreeMap;
use std::path::PathBuf;

use shakmaty::Color;

use super::journal::record::{History, HistoryFile, JournalRecord, Meeting};
use super::journal::{self, JournalError};
use super::journal_games;
use super::pgn_source::{PgnError, PgnSource};
use crate::judge::file_sha256;
use crate::model::game::result::GameResult;
use crate::model::text::shown;

/// An error in reading the games before an event.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HistoryError {
    /// A file cannot be read.
    #[error(
        "cannot read the games in {}: {source}; name PGN files or journals in `history`",
        shown(path)
    )]
    Read { path: PathBuf, source: std::io::Error },
    /// A PGN is wrong.
    #[error(transparent)]
    Pgn(#[from] PgnError),
    /// A journal is.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Adds up the games of PGN files (plain or packed with xz) and of journals; tells what was odd about them, too.
///
/// # Errors
/// When a file cannot be read: a list that leaves out games is worse than none.
pub(crate) fn read(files: &[PathBuf]) -> Result<(History, Vec<String>), HistoryError> {
    let mut meetings: BTreeMap<(String, String), [u32; 3]> = BTreeMap::new();
    let (mut told, mut odd) = (Vec::new(), Vec::new());
    for path in files {
        let mut games = 0;
        let mut take = |white: &str, black: &str, result: GameResult| {
            let place = match result {
                GameResult::Win(Color::White) => 0,
                GameResult::Draw => 1,
                GameResult::Win(Color::Black) => 2,
                GameResult::Unfinished => return,
            };
            let counts = meetings.entry((white.to_owned(), black.to_owned())).or_default();
            counts[place] = counts[place].saturating_add(1);
            games += 1;
        };
        if journal::is_journal(path) {
            journal_games::read(path, &["game-finished"], &mut |record| {
                if let JournalRecord::GameFinished(game) = record {
                    take(&game.white, &game.black, game.result());
                }
                Ok(())
            })?;
        } else {
            let mut source = PgnSource::open(path)?;
            while let Some(game) = source.next() {
                let game = game?;
                odd.extend(source.warnings().iter().map(PgnError::to_string));
                let result = game.record.ending.result;
                take(&game.white.name, &game.black.name, result);
            }
        }
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        told.push(HistoryFile {
            name: name.unwrap_or_default(),
            sha256: file_sha256(path)
                .map_err(|source| HistoryError::Read { path: path.clone(), source })?,
            games,
        });
    }
    let meetings = meetings
        .into_iter()
        .map(|((white, black), results)| Meeting { white, black, results })
        .collect();
    Ok((History { files: told, meetings }, odd))
}

#[cfg(test)]
mod tests {
    use super::super::journal::Journal;
    use super::super::journal::record::JournalHeader;
    use super::super::journal_games::tests::finished;
    use super::*;
    use crate::model::game::listed::RoundGame;

    const PGN: &str = "[White \"a 1\"]\n[Black \"b\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n\n\
                       [White \"a 1\"]\n[Black \"b\"]\n[Result \"1/2-1/2\"]\n\n1. e4 1/2-1/2\n\n\
                       [White \"b\"]\n[Black \"a 1\"]\n[Result \"*\"]\n\n*\n\n";

    #[test]
    fn games_of_a_pgn_and_of_a_journal_are_added_up() {
        let dir = tempfile::tempdir().unwrap();
        let (pgn, old) = (dir.path().join("a.pgn"), dir.path().join("old.journal"));
        std::fs::write(&pgn, PGN).unwrap();
        let (mut journal, _) = Journal::open(&old, &mut |_, _| Ok(())).unwrap();
        let header = JournalHeader {
            version: journal::VERSION,
            event: "Old".into(),
            gate4k: String::new(),
            settings: String::new(),
            settings_sha256: String::new(),
            previous: Vec::new(),
        };
        journal.append(&JournalRecord::Header(header)).unwrap();
        let at = RoundGame { round: 1, game: 1 };
        journal
            .append(&JournalRecord::GameFinished(finished("b", "a 1", at, "0-1", "e2e4")))
            .unwrap();
        let (history, odd) = read(&[pgn.clone(), old]).unwrap();
        assert_eq!(odd, [""; 0]);
        let told: Vec<_> = history.files.iter().map(|f| (f.name.as_str(), f.games)).collect();
        assert_eq!(told, [("a.pgn", 2), ("old.journal", 1)]);
        assert_eq!(history.files[0].sha256, crate::model::text::sha256(PGN.as_bytes()));
        let meeting = |white: &str, black: &str, results| Meeting {
            white: white.into(),
            black: black.into(),
            results,
        };
        assert_eq!(
            history.meetings,
            [meeting("a 1", "b", [1, 1, 0]), meeting("b", "a 1", [0, 0, 1])]
        );
    }

    #[test]
    fn a_history_that_cannot_be_read_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("none.pgn");
        let error = read(std::slice::from_ref(&missing)).unwrap_err().to_string();
        assert!(error.contains("none.pgn"), "{error}");
        std::fs::write(&missing, "[White \"a\"]\n\n1. e5 1-0\n").unwrap();
        assert!(read(&[missing]).unwrap_err().to_string().contains("game 1"));
    }
}
