//! Follows a journal that a runner writes, and the live file that it may keep beside it.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use serde::Deserialize;

use super::{Broadcast, GameKey};
use crate::event::config::EventConfig;
use crate::event::journal::{JournalError, Mark, Reader};
use crate::files::read;

/// The changes since the last look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventChanges {
    /// Games.
    pub(crate) games: BTreeSet<GameKey>,
    /// True if more than the moves of games under way has changed: results, the schedule, the event's state.
    pub(crate) has_turned: bool,
    /// True if it was read from its beginning: whatever was told before may be of another journal.
    pub(crate) is_anew: bool,
}

impl EventChanges {
    /// True if nothing has changed.
    pub(crate) fn is_none(&self) -> bool {
        self.games.is_empty() && !self.has_turned && !self.is_anew
    }
}

/// An event that somebody else runs.
#[derive(Debug)]
pub(crate) struct Follower {
    reader: Reader,
    /// The file that it reads, by its device and its number there.
    file: Option<(u64, u64)>,
    /// The event as far as it was read.
    pub(crate) broadcast: Broadcast,
    /// The clocks that run.
    pub(crate) running: Vec<Running>,
}

impl Follower {
    /// Begins before the first record.
    pub(crate) fn new(config: &EventConfig) -> Follower {
        Follower {
            reader: Reader::new(&config.journal),
            file: None,
            broadcast: Broadcast::of(config),
            running: Vec::new(),
        }
    }

    /// Reads what has come since the last time; all of it where another file lies in the journal's place.
    ///
    /// # Errors
    /// When it cannot be read or is damaged; a new follower may begin again.
    pub(crate) fn look(&mut self, config: &EventConfig) -> Result<EventChanges, JournalError> {
        let file = std::fs::metadata(&config.journal).ok().map(|seen| (seen.dev(), seen.ino()));
        let is_anew = file.is_some() && file != self.file;
        if is_anew {
            *self = Follower { file, ..Follower::new(config) };
        }
        let broadcast = &mut self.broadcast;
        self.reader.more(&mut |_, record| broadcast.apply(record))?;
        Ok(EventChanges {
            games: std::mem::take(&mut broadcast.changed),
            has_turned: std::mem::take(&mut broadcast.has_turned),
            is_anew,
        })
    }

    /// The journal as far as it was read.
    pub(crate) fn mark(&self) -> Mark {
        self.reader.mark()
    }

    /// Finds since when the clocks run: as the live file tells it where a runner keeps one, else since the journal
    /// was last written to.
    pub(crate) fn find_running(&mut self, config: &EventConfig) {
        let told = Running::read(&config.live_file());
        let written = std::fs::metadata(&config.journal).and_then(|seen| seen.modified());
        let written = written.unwrap_or_else(|_| SystemTime::now());
        let before = std::mem::take(&mut self.running);
        let open = self.broadcast.under_way();
        self.running = open
            .map(|game| {
                let (id, plies) = (&game.started.id, game.plies.len());
                let find = |all| Running::find(all, id, plies);
                let known = find(&told).or_else(|| find(&before));
                let since = Running { id: id.clone(), plies, since: written };
                known.cloned().unwrap_or(since)
            })
            .collect();
    }
}

/// The clock that runs in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    /// The game's id.
    pub(crate) id: String,
    /// The moves that its engines have made.
    pub(crate) plies: usize,
    /// Since when.
    pub(crate) since: SystemTime,
}

impl Running {
    /// The clock that runs in the game of an id, after so many moves of its engines.
    pub(crate) fn find<'a>(all: &'a [Running], id: &str, plies: usize) -> Option<&'a Running> {
        all.iter().find(|running| running.id == id && running.plies == plies)
    }

    /// The games of a live file; none where there is no such file, or it is none.
    pub(crate) fn read(path: &Path) -> Vec<Running> {
        #[derive(Deserialize)]
        struct Document {
            games: Vec<Game>,
        }
        #[derive(Deserialize)]
        struct Game {
            id: String,
            since: String,
            last: Option<Last>,
        }
        #[derive(Deserialize)]
        struct Last {
            number: usize,
        }
        let text = read::kept(path).unwrap_or_default();
        let games = serde_json::from_str::<Document>(&text).map(|document| document.games);
        let games = games.unwrap_or_default().into_iter();
        games
            .filter_map(|game| {
                let since = humantime::parse_rfc3339(&game.since).ok()?;
                let plies = game.last.map_or(0, |last| last.number + 1);
                Some(Running { id: game.id, plies, since })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_a_live_file_that_is_a_pipe() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("event.live.json");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(Running::read(&path), []);
    }
}
