//! A directory that is kept as the event is: each file replaced whole, and only where its text has changed.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{Destination, Failure, RetryValue};
use crate::event::broadcast::{EventChanges, Follower};
use crate::event::config::EventConfig;
use crate::files::write::{make_folder, replace};
use crate::model::text::{escape, sha256, shown};
use crate::view::site::{File, Site, SiteKind};
use crate::view::tcec::{ChangedGames, Tcec};

/// The files that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FolderForm {
    /// The event's own pages.
    Site,
    /// The files that TCEC's page watches.
    Tcec,
}

/// The directory.
#[derive(Debug)]
pub(crate) struct Folder {
    dir: PathBuf,
    form: FolderForm,
    /// The sums of the files as they were written.
    written: BTreeMap<String, String>,
    /// The directory that they were written to, by its device and its number there.
    seen: Option<(u64, u64)>,
}

/// The file that names the event whose files a directory has: two events in one would take each other's away.
const OWNER: &str = ".gate4k-event";

impl Folder {
    /// Makes the directory, for the event of a name.
    ///
    /// # Errors
    /// When it cannot be made, or has the files of another event.
    pub(crate) fn open(dir: &Path, form: FolderForm, event: &str) -> io::Result<Folder> {
        make_folder(dir)?;
        match std::fs::read_to_string(dir.join(OWNER)) {
            Ok(other) if other != event => {
                return Err(io::Error::other(format!(
                    "it has the files of another event, {}; name another folder, or empty this one",
                    escape(other.as_bytes(), 100)
                )));
            }
            Ok(_) => {}
            Err(_) => replace(&dir.join(OWNER), event)?,
        }
        Ok(Folder { dir: dir.to_owned(), form, written: BTreeMap::new(), seen: None })
    }

    fn write(&mut self, files: Vec<File>) -> io::Result<()> {
        let now = std::fs::metadata(&self.dir).map(|seen| (seen.dev(), seen.ino())).ok();
        if self.seen.is_some() && self.seen != now {
            // Another directory, or none: it has nothing of ours.
            self.forget();
            return Err(io::Error::new(io::ErrorKind::NotFound, "the directory was taken away"));
        }
        make_folder(&self.dir)?;
        self.seen = std::fs::metadata(&self.dir).map(|seen| (seen.dev(), seen.ino())).ok();
        for (name, text) in files {
            let sum = sha256(&text);
            if self.written.get(&name) == Some(&sum) {
                continue;
            }
            let path = self.dir.join(&name);
            if let Some(parent) = path.parent() {
                make_folder(parent)?;
            }
            replace(&path, &text)?;
            self.written.insert(name, sum);
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.written.clear();
        self.seen = None;
    }
}

impl Destination for Folder {
    fn name(&self) -> String {
        shown(&self.dir)
    }

    fn period(&self) -> Duration {
        Duration::from_millis(50)
    }

    fn patience(&self) -> u32 {
        1
    }

    fn put(
        &mut self,
        config: &EventConfig,
        event: &Follower,
        changes: &EventChanges,
    ) -> Result<(), Failure> {
        let mut files = match self.form {
            FolderForm::Site => pages(config, event, changes),
            FolderForm::Tcec => {
                let games = match changes.is_anew {
                    true => ChangedGames::All,
                    false => ChangedGames::These(&changes.games),
                };
                Tcec { config, broadcast: &event.broadcast, now: SystemTime::now() }.files(games)
            }
        };
        files.push((OWNER.into(), config.event.clone()));
        self.write(files).map_err(|error| Failure {
            words: format!("cannot write to it: {error}; make room, or give it back"),
            after: Duration::from_secs(1),
            hope: RetryValue::Some,
        })
    }
}

fn pages(config: &EventConfig, event: &Follower, changes: &EventChanges) -> Vec<File> {
    let broadcast = &event.broadcast;
    let is_over = broadcast.ledger.is_over();
    let kind = if is_over { SiteKind::Exported } else { SiteKind::Mirrored };
    let site = Site { config, broadcast, running: &[], now: SystemTime::now(), kind };
    let mut files = if changes.is_anew || is_over {
        site.all_files()
    } else {
        let mut files = site.event_files();
        let games = changes.games.iter().filter_map(|key| broadcast.games.get(key));
        files.extend(games.flat_map(|game| site.game_files(game)));
        if changes.has_turned {
            files.push(("games.pgn".into(), site.all_games()));
        }
        files
    };
    files.push(("live.pgn".into(), site.live_pgn()));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> Vec<File> {
        vec![("a.json".into(), "same".into()), ("games/b.json".into(), text.into())]
    }

    #[test]
    fn a_file_is_written_when_it_changes_and_all_of_them_to_another_directory() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("published");
        let mut folder = Folder::open(&own, FolderForm::Tcec, "E").unwrap();
        folder.write(files("1")).unwrap();
        std::fs::write(own.join("a.json"), "changed by another").unwrap();
        folder.write(files("2")).unwrap();
        let read = |name: &str| std::fs::read_to_string(own.join(name)).unwrap();
        assert_eq!(
            (read("a.json"), read("games/b.json")),
            ("changed by another".into(), "2".into())
        );
        std::fs::remove_dir_all(&own).unwrap();
        assert!(folder.write(files("3")).is_err());
        folder.write(files("3")).unwrap();
        assert_eq!((read("a.json"), read("games/b.json")), ("same".into(), "3".into()));
    }

    #[test]
    fn a_directory_is_of_one_event() {
        let dir = tempfile::tempdir().unwrap();
        let open = |event| Folder::open(dir.path(), FolderForm::Site, event);
        open("One").unwrap();
        assert!(open("Other").unwrap_err().to_string().contains("another event, One"));
        open("One").unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_written_leaves_nothing_half_done_and_comes_later() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = Folder::open(dir.path(), FolderForm::Site, "E").unwrap();
        std::fs::create_dir(dir.path().join("a.json")).unwrap();
        assert!(folder.write(files("1")).is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
        std::fs::remove_dir(dir.path().join("a.json")).unwrap();
        folder.write(files("1")).unwrap();
        assert_eq!(std::fs::read_to_string(dir.path().join("games/b.json")).unwrap(), "1");
    }
}
