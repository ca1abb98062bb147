//! `gate4k event run --publish`: the places that are told of the event while it is played.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::cli::Publish;
use crate::cmd::note;
use crate::engine::stop::{Stop, StopLevel};
use crate::event::config::EventConfig;
use crate::model::text::shown;
use crate::publish::{Destination, Folder, FolderForm, Lichess, Publisher};

/// The longest time after the event's end in which a place may still fail to take the rest.
const AFTER_THE_EVENT: Duration = Duration::from_secs(120);
/// The longest time for that after a run that ended before the event: the next run sends what is missing, and somebody has
/// to hear why this one ended.
const BETWEEN_RUNS: Duration = Duration::from_secs(5);

/// The places that were asked for.
pub(super) struct Publishing(Vec<Publisher>);

impl Publishing {
    pub(super) fn start(config: &EventConfig, asked: &[Publish]) -> anyhow::Result<Publishing> {
        let dirs = asked.iter().filter_map(|place| match place {
            Publish::Dir(dir) | Publish::Tcec(dir) => Some(dir),
            Publish::Lichess(_) => None,
        });
        let mut met = BTreeSet::new();
        if let Some(twice) = dirs.into_iter().find(|dir| !met.insert(*dir)) {
            anyhow::bail!(
                "cannot publish to {} twice: name another folder for one of the two",
                shown(twice)
            );
        }
        let places: Vec<Box<dyn Destination>> =
            asked.iter().map(|place| open(config, place)).collect::<Result<_, _>>()?;
        let start =
            |place| Publisher::start(config, place, note).context("a thread to publish the event");
        Ok(Publishing(places.into_iter().map(start).collect::<Result<_, _>>()?))
    }

    /// Waits for those that do not have all of it yet; a signal ends that.
    pub(super) fn finish(self, stop: &Stop, event_is_over: bool) {
        let patience = if event_is_over { AFTER_THE_EVENT } else { BETWEEN_RUNS };
        let (before, until) = (stop.level(), Instant::now() + patience);
        for place in self.0 {
            place.finish(note, || {
                let is_asked = stop.level() > before || stop.level() == StopLevel::Now;
                is_asked || Instant::now() >= until
            });
        }
    }
}

fn open(config: &EventConfig, asked: &Publish) -> anyhow::Result<Box<dyn Destination>> {
    let folder = |dir: &std::path::Path, form| -> anyhow::Result<Box<dyn Destination>> {
        let opened = Folder::open(dir, form, &config.event, &config.journal);
        let folder = opened.with_context(|| format!("cannot publish to {}", shown(dir)))?;
        Ok(Box::new(folder))
    };
    match asked {
        Publish::Dir(dir) => folder(dir, FolderForm::Site),
        Publish::Tcec(dir) => folder(dir, FolderForm::Tcec),
        Publish::Lichess(round) => Ok(Box::new(Lichess::open(round)?)),
    }
}
