//! The folders beside an event's journal that keep what is known of engines that had to be ended, written as soon as the
//! game is over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use crate::cmd::{note, say};
use crate::event::broadcast::Follower;
use crate::event::config::EventConfig;
use crate::model::text::shown;
use crate::runner::events::Event;
use crate::view::site::{Site, SiteCrash};

/// The thread that writes them. It reads the journal as any reader does: no game waits for it.
pub(super) struct CrashKeeper {
    thread: Option<(Sender<()>, JoinHandle<()>)>,
    /// Games with an engine that had to be ended, by their numbers in what is played together.
    waits: Vec<usize>,
}

impl CrashKeeper {
    /// Begins; where there is no thread the site has them all the same.
    pub(super) fn start(config: &EventConfig) -> CrashKeeper {
        let (sender, asked) = mpsc::channel();
        let config = config.clone();
        let work = move || {
            // The games of this host come first.
            let _ = rustix::process::nice(10);
            while asked.recv().is_ok() {
                // Requests that came meanwhile are done with it.
                while asked.try_recv().is_ok() {}
                keep(&config);
            }
        };
        let thread = std::thread::Builder::new().name("crashes".into()).spawn(work);
        CrashKeeper { thread: thread.ok().map(|thread| (sender, thread)), waits: Vec::new() }
    }

    /// Takes what the journal has.
    pub(super) fn hear(&mut self, event: &Event) {
        match event {
            Event::EngineKilled { game: Some(game), .. } => self.waits.push(*game),
            Event::GameFinished(finished) if self.waits.contains(&finished.pairing.game) => {
                self.waits.retain(|game| *game != finished.pairing.game);
                if let Some((sender, _)) = &self.thread {
                    let _ = sender.send(());
                }
            }
            _ => {}
        }
    }

    /// Waits until all are written.
    pub(super) fn finish(mut self) {
        if let Some((sender, thread)) = self.thread.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

/// The file of a crash's folder that has its game.
const GAME: &str = "game.pgn";

/// Writes the folders that are not there.
fn keep(config: &EventConfig) {
    let mut follower = Follower::new(config);
    if follower.look(config).is_err() {
        return;
    }
    for crash in Site::exported(config, &follower.broadcast).crashes() {
        if !crash.is_over {
            continue;
        }
        match write(&config.crashes(), &crash.name, &crash.files) {
            Ok(None) => {}
            Ok(Some(place)) => say(&format!("what is known of the crash is in {}", shown(&place))),
            Err(error) => note(&format!("the crash could not be kept: {error}")),
        }
    }
}

/// Writes a folder whole, and tells where; none where it lies there already. A game that is played again may have
/// another crash: an older one of the same name is left as it is.
fn write(all: &Path, name: &str, files: &[(&str, String)]) -> io::Result<Option<PathBuf>> {
    for name in names(name) {
        let place = all.join(&name);
        if !place.exists() {
            fs::create_dir_all(all)?;
            let part = all.join(format!(".{name}.part"));
            fs::create_dir_all(&part)?;
            for (file, text) in files {
                fs::write(part.join(file), text)?;
            }
            fs::rename(&part, &place)?;
            return Ok(Some(place));
        }
        if is_of(&place, files) {
            break;
        }
    }
    Ok(None)
}

/// The folder of a crash as it lies here; none where there is none.
pub(super) fn find(config: &EventConfig, crash: &SiteCrash) -> Option<PathBuf> {
    let all = config.crashes();
    let places = names(&crash.name).map(|name| all.join(name)).take_while(|place| place.is_dir());
    let places: Vec<PathBuf> = places.collect();
    let own = places.iter().find(|place| is_of(place, &crash.files));
    // Another version may have used other words.
    own.or(places.last()).cloned()
}

/// The names that the folder of a crash may have: that of its game, and those of the same game played again.
fn names(name: &str) -> impl Iterator<Item = String> {
    let again = (2..).map(move |number| format!("{name}-again-{number}"));
    std::iter::once(name.to_owned()).chain(again)
}

/// True if a folder has a crash. Its game may have been struck out since, so that the PGN has another end.
fn is_of(place: &Path, files: &[(&str, String)]) -> bool {
    let is_same = |(file, text): &(&str, String)| {
        *file == GAME || fs::read(place.join(file)).is_ok_and(|known| known == text.as_bytes())
    };
    files.iter().all(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_whole_or_not_there_and_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let all = dir.path().join("crashes");
        // Of a run that was killed while it wrote.
        fs::create_dir_all(all.join(".1-1.1-1.part")).unwrap();
        let put = |text: &str| write(&all, "1-1.1-1", &[("crash.txt", text.into())]).unwrap();
        assert_eq!(put("first"), Some(all.join("1-1.1-1")));
        assert_eq!(put("first"), None);
        assert_eq!(put("second"), Some(all.join("1-1.1-1-again-2")));
        assert_eq!((put("second"), put("first")), (None, None));
        assert_eq!(fs::read_to_string(all.join("1-1.1-1/crash.txt")).unwrap(), "first");
        assert_eq!(fs::read_dir(&all).unwrap().count(), 2);
    }

    /// The game is annulled behind the crash: its PGN has another end, and the crash is the same.
    #[test]
    fn a_crash_stays_one_folder_when_its_game_is_struck_out() {
        let dir = tempfile::tempdir().unwrap();
        let put = |game: &str| {
            let files = [("crash.txt", "first".into()), (GAME, game.into())];
            write(dir.path(), "1-1.1-1", &files).unwrap()
        };
        assert_eq!(put("1-0"), Some(dir.path().join("1-1.1-1")));
        assert_eq!(put("*"), None);
    }
}
