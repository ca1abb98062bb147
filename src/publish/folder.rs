//! A directory that is kept as the event is: each file replaced whole, and only where its text has changed.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{Destination, Failure, RetryValue};
use crate::event::broadcast::{Broadcast, EventChanges, Follower};
use crate::event::config::EventConfig;
use crate::event::journal::{self, Mark};
use crate::files::read;
use crate::files::write::{PART, make_folder, replace};
use crate::model::text::{escape, sha256, shown};
use crate::view::screen::Runner;
use crate::view::site::{File, Site, SiteKind};
use crate::view::tcec::{ARCHIVE, Archive, ArchivedStage, ChangedGames, Tcec};

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
    owner: FolderOwner,
    /// The sums of the files as they were written.
    written: BTreeMap<String, String>,
    /// The directory that they were written to, by its device and its number there.
    seen: Option<(u64, u64)>,
    /// The archive of TCEC's page as it was written.
    archived: Archive,
}

/// The files that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    All,
    Changed,
}

/// The event whose files a directory has: two events in one would take each other's away.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FolderOwner {
    /// Its name.
    event: String,
    /// Its journal.
    journal: PathBuf,
    /// The beginning of its journal up to its first games, which tells it from an earlier event of its name; none before
    /// the first game.
    began: Option<Mark>,
}

/// The file that names the owner.
const OWNER: &str = ".gate4k-event";

impl FolderOwner {
    /// The text of the file that names it.
    fn text(&self) -> String {
        match &self.began {
            Some(Mark { records, sum }) => format!("{}\n{records} {sum}\n", self.event),
            None => self.event.clone(),
        }
    }

    /// Takes a directory for the event, where it is empty or has files of the event.
    ///
    /// # Errors
    /// When it cannot be read, or has other files.
    fn claim(&mut self, dir: &Path) -> io::Result<()> {
        let text = match read::kept(&dir.join(OWNER)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Parts of files are of a run that was killed.
                let mut all = std::fs::read_dir(dir)?.map(|one| one.map(|one| one.file_name()));
                let other = all.find(|name| {
                    !name.as_ref().is_ok_and(|name| name.as_bytes().starts_with(PART.as_bytes()))
                });
                return match other.transpose()? {
                    None => replace(&dir.join(OWNER), &self.text()),
                    Some(name) => Err(io::Error::other(format!(
                        "it has files that are none of this event's, such as {}; name another folder, or empty this one",
                        shown(Path::new(&name))
                    ))),
                };
            }
            Err(error) => {
                let words =
                    format!("its file {OWNER} cannot be read: {error}; name another folder");
                return Err(io::Error::other(words));
            }
        };
        let began = match text.split_once('\n') {
            None if text == self.event => None,
            Some((event, began)) if event == self.event => Some(began),
            _ => {
                let other = text.lines().next().unwrap_or_default();
                return Err(io::Error::other(format!(
                    "it has the files of another event, {}; name another folder, or empty this one",
                    escape(other.as_bytes(), 100)
                )));
            }
        };
        let Some(began) = began else { return Ok(()) };
        self.began = self.mark_of(began);
        if self.began.is_none() {
            return Err(io::Error::other(format!(
                "it has the files of an earlier event of this name, or of one with another journal than {}; name another \
                 folder, or empty this one",
                shown(&self.journal)
            )));
        }
        Ok(())
    }

    /// True if the directory names this event, with its mark or as before its first game.
    fn is_named_in(&self, dir: &Path) -> bool {
        let named = read::kept(&dir.join(OWNER));
        named.is_ok_and(|text| text == self.text() || text == self.event)
    }

    /// Reads a mark; none where the journal does not begin so.
    fn mark_of(&self, text: &str) -> Option<Mark> {
        let records = text.split(' ').next()?.parse().ok()?;
        let mark = journal::mark(&self.journal, records).ok()?;
        let own = FolderOwner { began: Some(mark), ..self.clone() };
        (own.text() == format!("{}\n{text}", self.event)).then_some(mark)
    }
}

impl Folder {
    /// Makes the directory, for the event of a name and a journal.
    ///
    /// # Errors
    /// When it cannot be made, or has files that are not of this event.
    pub(crate) fn open(
        dir: &Path,
        form: FolderForm,
        event: &str,
        journal: &Path,
    ) -> io::Result<Folder> {
        make_folder(dir)?;
        let mut owner =
            FolderOwner { event: event.to_owned(), journal: journal.to_owned(), began: None };
        owner.claim(dir)?;
        let (written, archived) = (BTreeMap::new(), Archive::new());
        Ok(Folder { dir: dir.to_owned(), form, owner, written, seen: None, archived })
    }

    /// Writes the files that have changed; `files` is asked for all of them where the directory has none yet.
    fn write(&mut self, files: impl FnOnce(Extent) -> Vec<File>) -> io::Result<()> {
        self.look()?;
        let extent = if self.written.is_empty() { Extent::All } else { Extent::Changed };
        let mut files = files(extent);
        files.push((OWNER.into(), self.owner.text()));
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

    /// Writes the files of TCEC's page that have changed.
    fn write_tcec(
        &mut self,
        config: &EventConfig,
        broadcast: &Broadcast,
        changes: &EventChanges,
    ) -> io::Result<()> {
        let tcec = Tcec { config, broadcast, now: SystemTime::now() };
        let mut before = std::mem::take(&mut self.archived);
        let mut archive = Archive::new();
        let written = self.write(|extent| {
            let changed = match (extent, changes) {
                (Extent::All, _) | (_, EventChanges { is_anew: true, .. }) => ChangedGames::All,
                (_, EventChanges { has_turned: false, .. }) => ChangedGames::Moves,
                _ => ChangedGames::These(&changes.games),
            };
            if let ChangedGames::All = changed {
                // Nothing is known of what lies there.
                before.clear();
            }
            let files = tcec.files(changed, &before);
            archive = files.archive;
            files.files
        });
        self.archived = before;
        written?;
        for (stage, archived) in archive {
            if self.archived.get(&stage) != Some(&archived) {
                self.remove_stale(&archived)?;
                self.archived.insert(stage, archived);
            }
        }
        Ok(())
    }

    /// Removes the files of games whose numbers no game has any more, those of an earlier run among them.
    fn remove_stale(&mut self, archived: &ArchivedStage) -> io::Result<()> {
        let all = match std::fs::read_dir(self.dir.join(ARCHIVE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            all => all?,
        };
        for file in all {
            let name = format!("{ARCHIVE}/{}", file?.file_name().to_string_lossy());
            if archived.is_stale(&name) {
                std::fs::remove_file(self.dir.join(&name))?;
                self.written.remove(&name);
            }
        }
        Ok(())
    }

    /// Sees that the directory is still the event's; what was taken away comes again.
    fn look(&mut self) -> io::Result<()> {
        let identity = || std::fs::metadata(&self.dir).map(|seen| (seen.dev(), seen.ino())).ok();
        if self.seen.is_some() && self.seen != identity() {
            // Another directory, or none: it has nothing of ours.
            self.forget();
            return Err(io::Error::new(io::ErrorKind::NotFound, "the directory was taken away"));
        }
        make_folder(&self.dir)?;
        if self.seen.is_none() || !self.owner.is_named_in(&self.dir) {
            self.forget();
            self.owner.claim(&self.dir)?;
        }
        self.seen = std::fs::metadata(&self.dir).map(|seen| (seen.dev(), seen.ino())).ok();
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
        if self.owner.began.is_none() && !event.broadcast.games.is_empty() {
            self.owner.began = Some(event.mark());
        }
        let written = match self.form {
            FolderForm::Site => self.write(|extent| {
                let is_all = extent == Extent::All || changes.is_anew;
                pages(config, event, changes, is_all)
            }),
            FolderForm::Tcec => self.write_tcec(config, &event.broadcast, changes),
        };
        written.map_err(|error| Failure {
            words: format!("cannot write to it: {error}; make room, or give it back"),
            after: Duration::from_secs(1),
            hope: RetryValue::Some,
        })
    }
}

fn pages(
    config: &EventConfig,
    event: &Follower,
    changes: &EventChanges,
    is_all: bool,
) -> Vec<File> {
    let broadcast = &event.broadcast;
    let is_over = broadcast.ledger.is_over();
    let kind = if is_over { SiteKind::Exported } else { SiteKind::Mirrored };
    // It is the runner that asks for them.
    let runner = Runner::AtWork;
    let site = Site { config, broadcast, running: &[], runner, now: SystemTime::now(), kind };
    let mut files = if is_all || is_over {
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
    use crate::event::journal::Journal;
    use crate::event::journal::record::{JournalHeader, JournalRecord};

    fn files(text: &str) -> Vec<File> {
        vec![("a.json".into(), "same".into()), ("games/b.json".into(), text.into())]
    }

    #[test]
    fn a_file_is_written_when_it_changes_and_all_of_them_to_another_directory() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("published");
        let mut folder = open(&own, "E").unwrap();
        folder.write(|_| files("1")).unwrap();
        std::fs::write(own.join("a.json"), "changed by another").unwrap();
        folder.write(|_| files("2")).unwrap();
        let read = |name: &str| std::fs::read_to_string(own.join(name)).unwrap();
        assert_eq!(
            (read("a.json"), read("games/b.json")),
            ("changed by another".into(), "2".into())
        );
        std::fs::remove_dir_all(&own).unwrap();
        assert!(folder.write(|_| files("3")).is_err());
        folder.write(|_| files("3")).unwrap();
        assert_eq!((read("a.json"), read("games/b.json")), ("same".into(), "3".into()));
    }

    /// The journal does not begin, unless a test writes it.
    fn open(dir: &Path, event: &str) -> io::Result<Folder> {
        Folder::open(dir, FolderForm::Site, event, &dir.join("../event.journal"))
    }

    fn why(opened: io::Result<Folder>) -> String {
        opened.expect_err("refused").to_string()
    }

    #[test]
    fn a_directory_is_of_one_event() {
        let dir = tempfile::tempdir().unwrap();
        open(dir.path(), "One").unwrap();
        assert!(why(open(dir.path(), "Other")).contains("another event, One"));
        open(dir.path(), "One").unwrap();
        // Of a part of a file that was never put into its place nothing is lost.
        let killed = dir.path().join("killed");
        make_folder(&killed).unwrap();
        std::fs::write(killed.join(".gate4k-part"), "").unwrap();
        open(&killed, "One").unwrap();
    }

    #[test]
    fn a_directory_with_files_of_somebody_is_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("www");
        make_folder(&own).unwrap();
        std::fs::write(own.join("index.html"), "somebody's").unwrap();
        assert!(why(open(&own, "E")).contains("none of this event's, such as index.html"));
        assert_eq!(std::fs::read_dir(&own).unwrap().count(), 1);
        // Nor is one taken that comes into the directory's place meanwhile.
        std::fs::rename(&own, dir.path().join("other")).unwrap();
        let mut folder = open(&own, "E").unwrap();
        folder.write(|_| files("1")).unwrap();
        std::fs::rename(&own, dir.path().join("gone")).unwrap();
        std::fs::rename(dir.path().join("other"), &own).unwrap();
        assert!(folder.write(|_| files("2")).is_err());
        assert!(folder.write(|_| files("2")).unwrap_err().to_string().contains("index.html"));
        assert_eq!(std::fs::read_dir(&own).unwrap().count(), 1);
    }

    #[test]
    fn an_earlier_event_of_the_same_name_is_another_one() {
        let dir = tempfile::tempdir().unwrap();
        let (own, path) = (dir.path().join("own"), dir.path().join("event.journal"));
        let begin = |text: &str| {
            let _ = std::fs::remove_file(&path);
            let (mut journal, _) = Journal::open(&path, &mut |_, _| Ok(())).unwrap();
            let header = JournalHeader { version: journal::VERSION, ..JournalHeader::default() };
            journal.append(&JournalRecord::Header(header)).unwrap();
            journal.append(&JournalRecord::Note { text: text.into(), rule: None }).unwrap();
            journal
        };
        let mut journal = begin("first");
        let mut folder = open(&own, "E").unwrap();
        folder.owner.began = Some(journal::mark(&path, u64::MAX).unwrap());
        let mark = folder.owner.text();
        folder.write(|_| Vec::new()).unwrap();
        journal.append(&JournalRecord::Note { text: "more".into(), rule: None }).unwrap();
        assert_eq!(open(&own, "E").unwrap().owner.text(), mark);
        assert!(why(open(&own, "Other")).contains("another event, E;"));
        drop(journal);
        drop(begin("again"));
        assert!(why(open(&own, "E")).contains("an earlier event of this name"));
        std::fs::remove_file(&path).unwrap();
        assert!(why(open(&own, "E")).contains("an earlier event of this name"));
    }

    #[test]
    fn a_directory_that_is_emptied_gets_everything_again() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("own");
        let mut folder = open(&own, "E").unwrap();
        let mut extents = Vec::new();
        let mut write = |folder: &mut Folder| {
            folder.write(|extent| {
                extents.push(extent);
                files("1")
            })
        };
        write(&mut folder).unwrap();
        write(&mut folder).unwrap();
        std::fs::remove_dir_all(own.join("games")).unwrap();
        std::fs::remove_file(own.join("a.json")).unwrap();
        std::fs::remove_file(own.join(OWNER)).unwrap();
        write(&mut folder).unwrap();
        assert!(own.join("games/b.json").exists() && own.join("a.json").exists());
        // The next run is let in.
        open(&own, "E").unwrap();
        assert_eq!(extents, [Extent::All, Extent::Changed, Extent::All]);
    }

    #[test]
    fn two_events_of_one_name_that_begin_together_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let (mut one, mut two) = (open(dir.path(), "E").unwrap(), open(dir.path(), "E").unwrap());
        let mark = |sum: &str| format!("E\n3 {sum}\n");
        one.write(|_| files("1")).unwrap();
        two.write(|_| files("2")).unwrap();
        // The first game of one of them.
        std::fs::write(dir.path().join(OWNER), mark(&"0".repeat(64))).unwrap();
        let why = two.write(|_| files("2")).unwrap_err().to_string();
        assert!(why.contains("an earlier event of this name, or of one with another journal"));
    }

    #[test]
    fn a_mark_that_is_no_file_is_told_at_once() {
        let dir = tempfile::tempdir().unwrap();
        nix::unistd::mkfifo(&dir.path().join(OWNER), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(why(open(dir.path(), "E")).contains("it is no regular file"));
    }

    #[test]
    fn a_file_that_cannot_be_written_leaves_nothing_half_done_and_comes_later() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = open(dir.path(), "E").unwrap();
        std::fs::create_dir(dir.path().join("a.json")).unwrap();
        assert!(folder.write(|_| files("1")).is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "the owner's name, and that");
        std::fs::remove_dir(dir.path().join("a.json")).unwrap();
        folder.write(|_| files("1")).unwrap();
        assert_eq!(std::fs::read_to_string(dir.path().join("games/b.json")).unwrap(), "1");
    }
}
