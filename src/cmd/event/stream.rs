//! The files in which `gate4k event run` tells of its games while they are played: `--events` and `--live`.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;

use crate::cli::EventRunArgs;
use crate::cmd::note;
use crate::cmd::reports::cannot;
use crate::event::config::EventConfig;
use crate::event::journal::record::GameStarted;
use crate::files::outputs::{self, NamedPath, SameFile};
use crate::files::write;
use crate::model::text::escape;
use crate::runner::events::Event;
use crate::runner::live::{LiveFile, Names};

/// The files that were asked for. None of them is the event: one that cannot be written any more is given up, and
/// the event goes on.
pub(super) struct EventStream {
    events: Option<(PathBuf, File)>,
    live: Option<(PathBuf, LiveFile)>,
}

/// A line of the events, with the game's id in the event: numbers of games count within a batch only.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    event: &'a Event,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
}

impl EventStream {
    pub(super) fn open(config: &EventConfig, args: &EventRunArgs) -> anyhow::Result<EventStream> {
        let events = match &args.events {
            Some(path) => {
                apart(config, "--events", path)?;
                Some((path.clone(), write::append(path).with_context(|| cannot(path))?))
            }
            None => None,
        };
        let live = match args.live {
            true => {
                let path = config.live_file();
                let live = LiveFile::start(&path).with_context(|| cannot(&path))?;
                Some((path, live))
            }
            false => None,
        };
        Ok(EventStream { events, live })
    }

    pub(super) fn hear(&mut self, event: &Event, game: Option<&GameStarted>) {
        if let Some((_, live)) = &self.live {
            live.hear(event, |_| names(game));
        }
        if let Some((path, file)) = &mut self.events {
            let line = Line { event, id: game.map(|game| game.id.as_str()) };
            let text = serde_json::to_string(&line).map_err(std::io::Error::from);
            // One write for one line, so that no reader sees half of it.
            if let Err(error) = text.and_then(|text| file.write_all((text + "\n").as_bytes())) {
                note(&format!("{}: {error}; the event goes on without it", cannot(path)));
                self.events = None;
            }
        }
    }

    pub(super) fn finish(&mut self) {
        if let Some((path, live)) = self.live.take()
            && let Err(error) = live.finish()
        {
            note(&format!("{}: {error}", cannot(&path)));
        }
    }
}

/// Refuses an output that is a file which the event is made of: its journal would be lost.
pub(super) fn apart(config: &EventConfig, option: &str, path: &Path) -> Result<(), SameFile> {
    let live = config.live_file();
    let mut inputs: Vec<NamedPath<'_>> = vec![
        ("the journal", &config.journal),
        ("the event file", &config.path),
        ("the live file", &live),
    ];
    let books = config.stages.iter().flat_map(|stage| &stage.books);
    inputs.extend(books.map(|book| ("a book", book.as_path())));
    outputs::distinct(&[(option, path)], &inputs)
}

fn names(game: Option<&GameStarted>) -> Names {
    let [id, white, black] = match game {
        Some(game) => [&game.id, &game.white, &game.black].map(|name| escape(name.as_bytes(), 400)),
        None => Default::default(),
    };
    Names { id, white, black }
}
