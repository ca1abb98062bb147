//! Waiting until an entry is saved.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use super::early_end;
use crate::batch::discover;
use crate::files::write::{PART, folder_of};
use crate::model::exit::Exit;
use crate::model::text::shown;

/// Editors write a file in several steps; what comes within this time is one change.
const SETTLES: Duration = Duration::from_millis(150);

/// The name of the configuration that lies beside an entry's file.
const BESIDE: &str = "engines.json";

/// An error in watching files.
#[derive(Debug, thiserror::Error)]
pub(super) enum WatchError {
    /// A path that was named leads nowhere: most likely it is misspelt, and waiting for it would take for ever.
    #[error("--watch: there is nothing at {}; name a file or directory that is there", shown(_0))]
    Missing(PathBuf),
    /// The system watches no more.
    #[error("--watch: {} cannot be watched: {source}", shown(path))]
    Refused { path: PathBuf, source: notify::Error },
}

/// The watched paths, until this is dropped.
pub(super) struct Watched {
    _watcher: RecommendedWatcher,
    events: Receiver<notify::Result<Event>>,
    counted: CountedPaths,
}

impl Watched {
    /// Watches files and directories. A file is watched by way of its directory, since many editors put a
    /// new file in its place; what else changes there is no concern of ours, and neither are the files
    /// that we write ourselves (`ours`).
    pub(super) fn new(paths: &[PathBuf], ours: &[&Path]) -> Result<Watched, WatchError> {
        let (send, events) = channel();
        let error = |path: &Path| {
            let path = path.to_owned();
            move |source| WatchError::Refused { path, source }
        };
        let mut watcher = notify::recommended_watcher(send).map_err(error(Path::new(".")))?;
        let mut counted = CountedPaths::default();
        for path in paths {
            if path.symlink_metadata().is_err() {
                return Err(WatchError::Missing(path.clone()));
            }
            // As events name them.
            let path = &std::path::absolute(path).unwrap_or_else(|_| path.clone());
            if path.is_dir() {
                // Below a directory of entries each has a directory of its own, and may get one later.
                let alone = discover::entries(path) == [path.clone()];
                let mode =
                    if alone { RecursiveMode::NonRecursive } else { RecursiveMode::Recursive };
                watcher.watch(path, mode).map_err(error(path))?;
                counted.folders.push(path.clone());
            } else {
                let folder = folder_of(path);
                watcher.watch(folder, RecursiveMode::NonRecursive).map_err(error(folder))?;
                let name = path.file_name().unwrap_or_default();
                counted.files.extend([folder.join(name), folder.join(BESIDE)]);
            }
        }
        counted.ours = ours.iter().flat_map(|path| real(path)).collect();
        Ok(Watched { _watcher: watcher, events, counted })
    }

    /// Does it, and again after each change, until a setting or a file of settings is wrong.
    pub(super) fn again<W: Write>(
        &self,
        out: &mut W,
        mut once: impl FnMut(&mut W) -> anyhow::Result<Exit>,
    ) -> anyhow::Result<Exit> {
        loop {
            let exit = once(out).or_else(early_end::told)?;
            out.flush()?;
            if exit == Exit::Usage || !self.wait() {
                return Ok(exit);
            }
        }
    }

    /// Waits for a change and until it has settled; false where no more will come.
    pub(super) fn wait(&self) -> bool {
        loop {
            match self.events.recv() {
                Ok(event) if self.counted.is_change(&event) => break,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        let mut settled = Instant::now() + SETTLES;
        loop {
            let left = settled.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            match self.events.recv_timeout(left) {
                Ok(event) if self.counted.is_change(&event) => settled = Instant::now() + SETTLES,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }
}

/// The paths whose changes count.
#[derive(Default)]
struct CountedPaths {
    /// Single files.
    files: Vec<PathBuf>,
    /// Folders, with everything below them.
    folders: Vec<PathBuf>,
    /// Files that gate4k itself writes, whose changes never count.
    ours: Vec<PathBuf>,
}

impl CountedPaths {
    /// True if an event may be a change. Our own reading of the entry is none; an event that could not be told may be
    /// one.
    fn is_change(&self, event: &notify::Result<Event>) -> bool {
        match event {
            Ok(event) if event.kind.is_access() => false,
            Ok(event) => event.paths.is_empty() || event.paths.iter().any(|path| self.is_it(path)),
            Err(_) => true,
        }
    }

    fn is_it(&self, path: &Path) -> bool {
        let part = |path: &Path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PART))
        };
        let ours = || part(path) || real(path).iter().any(|path| self.ours.contains(path));
        (self.files.iter().any(|file| file == path)
            || self.folders.iter().any(|folder| path.starts_with(folder)))
            && !ours()
    }
}

/// A file by its own name in the directory that it really lies in, and what it leads to if it is a link.
fn real(path: &Path) -> Vec<PathBuf> {
    let named = folder_of(path).canonicalize().ok().zip(path.file_name());
    let named = named.map(|(folder, name)| folder.join(name));
    named.into_iter().chain(path.canonicalize().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify::EventKind;
    use notify::event::{AccessKind, ModifyKind};
    use std::fs;

    fn event(kind: EventKind, path: &Path) -> notify::Result<Event> {
        Ok(Event::new(kind).add_path(path.to_owned()))
    }

    #[test]
    fn only_the_entry_and_its_configuration_are_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        fs::write(top.join("engine"), "x").unwrap();
        let watched = Watched::new(&[top.join("engine")], &[]).unwrap();
        let changed = |name: &str, kind| watched.counted.is_change(&event(kind, &top.join(name)));
        let modify = EventKind::Modify(ModifyKind::Any);
        assert!(changed("engine", modify) && changed("engine", EventKind::Any));
        assert!(changed("engines.json", modify));
        assert!(!changed("engine", EventKind::Access(AccessKind::Any)));
        assert!(!changed("report.html", modify) && !changed(".engine.swp", modify));
        assert!(watched.counted.is_change(&Ok(Event::new(EventKind::Other))));
        assert!(watched.counted.is_change(&Err(notify::Error::generic("lost"))));
    }

    #[test]
    fn a_report_among_the_entries_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        fs::create_dir_all(top.join("a")).unwrap();
        fs::write(top.join("a/engine"), "x").unwrap();
        let report = top.join("a/../report.html");
        let watched = Watched::new(&[top.to_owned()], &[&report]).unwrap();
        let changed = |name: &str| watched.counted.is_it(&top.join(name));
        assert!(changed("a/engine") && changed("b/engine") && changed("a/notes"));
        assert!(!changed("report.html") && !changed("a/.gate4k-Ab3"));
    }

    #[test]
    fn what_is_not_there_is_told() {
        let error = Watched::new(&["/no/such/engine".into()], &[]).err().unwrap();
        assert!(
            error.to_string().starts_with("--watch: there is nothing at /no/such/engine; "),
            "{error}"
        );
    }
}
