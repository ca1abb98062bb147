//! Waiting until an entry is saved.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use crate::error::shown;

/// Editors write a file in several steps; what comes within this time is one change.
const SETTLES: Duration = Duration::from_millis(150);

/// Why nothing can be watched.
#[derive(Debug, thiserror::Error)]
#[error("--watch: {} cannot be watched: {source}", shown(path))]
pub(super) struct WatchError {
    path: PathBuf,
    source: notify::Error,
}

/// What is watched, until this is dropped.
pub(super) struct Watched {
    _watcher: RecommendedWatcher,
    events: Receiver<notify::Result<Event>>,
}

impl Watched {
    /// Watches files and directories. A file is watched by way of its directory, since many editors put a
    /// new file in its place.
    ///
    /// # Errors
    /// When there is nothing at a path, or the system watches no more.
    pub(super) fn new(paths: &[PathBuf]) -> Result<Watched, WatchError> {
        let (send, events) = channel();
        let error = |path: &Path| {
            let path = path.to_owned();
            move |source| WatchError { path, source }
        };
        let mut watcher = notify::recommended_watcher(send).map_err(error(Path::new(".")))?;
        for path in paths {
            let folder = match path.parent() {
                _ if path.is_dir() => path,
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                _ => Path::new("."),
            };
            watcher.watch(folder, RecursiveMode::NonRecursive).map_err(error(folder))?;
        }
        Ok(Watched { _watcher: watcher, events })
    }

    /// Waits for a change and until it has settled; false where no more will come.
    pub(super) fn wait(&self) -> bool {
        loop {
            match self.events.recv() {
                Ok(event) if is_change(&event) => break,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        loop {
            match self.events.recv_timeout(SETTLES) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }
}

/// That we read the entry ourselves is no change of it. What could not be told may be one.
fn is_change(event: &notify::Result<Event>) -> bool {
    event.as_ref().map_or(true, |event| !event.kind.is_access())
}
