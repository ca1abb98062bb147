//! An event with files of its own, played by the real program.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::outcome::Outcome;

pub(crate) const POOL: &str = "[[stage]]\nname = \"Pool\"\nformat = { double-round-robins = 1 }\n\
    book-policy = \"each\"\nbook = \"book.txt\"\ndraw = \"seeds\"\ntie-breaks = \"4k\"\npromote = 2\n";
pub(crate) const MINIFINAL: &str = "[[stage]]\nname = \"MiniFinal\"\nformat = { pairs = 1 }\n\
    book-policy = \"each\"\nbook = \"book.txt\"\ndraw = \"reversed-ranking\"\ntie-breaks = \"4k\"\n\
    promote = 1\n";

/// An event with files of its own.
pub(crate) struct Event {
    pub(crate) dir: TempDir,
}

impl Event {
    /// An event of these shipped entries, each under a name of its own.
    pub(crate) fn new(entries: &[(&str, &str)], control: &str, stages: &str) -> Event {
        Event::with(entries, control, "", stages)
    }

    /// The same with more settings.
    pub(crate) fn with(entries: &[(&str, &str)], control: &str, more: &str, stages: &str) -> Event {
        let event = Event { dir: tempfile::tempdir().unwrap() };
        let mut text = format!(
            "event = \"Small\"\ngate = \"quick\"\nadmit-undecided = true\n\
             time-control = \"{control}\"\ncompensation = \"100ms\"\n{more}"
        );
        for (name, entry) in entries {
            let here = event.path(name);
            fs::create_dir(&here).unwrap();
            fs::copy(shipped(entry).join("engine"), here.join("engine")).unwrap();
            text += &format!("[[entry]]\nname = \"{name}\"\npath = \"{name}\"\n");
        }
        event.write("book.txt", "e4 e5\nd4 d5\nc4 c5\n");
        event.write("event.toml", &(text + stages));
        event
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gate4k"));
        command.args(words).current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn ask(&self, words: &[&str]) -> (i32, String) {
        Outcome::of(&mut self.command(words)).together()
    }

    pub(crate) fn start(&self) -> Child {
        let mut command = self.command(&["event", "run", "--quiet"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Runs to the end.
    pub(crate) fn finish(&self) -> String {
        let (code, text) = self.ask(&["event", "run", "--quiet"]);
        assert_eq!(code, 0, "{text}");
        let (code, verified) = self.ask(&["event", "verify"]);
        assert_eq!(code, 0, "{verified}");
        text
    }

    /// The whole records of a kind.
    pub(crate) fn records(&self, kind: &str) -> Vec<Value> {
        let text = fs::read(self.path("event.journal")).unwrap_or_default();
        String::from_utf8_lossy(&text)
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .filter_map(|line| {
                let line: Value = serde_json::from_str(line).unwrap();
                line["record"].get(kind).cloned()
            })
            .collect()
    }

    /// Finished games by id; none twice.
    pub(crate) fn finished(&self) -> BTreeMap<String, Value> {
        let mut games = BTreeMap::new();
        for game in self.records("game-finished") {
            let id = game["id"].as_str().unwrap().to_owned();
            assert!(games.insert(id.clone(), game).is_none(), "{id} ended twice");
        }
        games
    }
}

/// A shipped entry's directory.
pub(crate) fn shipped(entry: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/accept").join(entry)
}

/// A number from the environment, for what takes too long for every day.
pub(crate) fn wanted(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.parse().ok()
}
