//! Places of events that were played before, as their journals have them: `swiss.journal:1..32`, or of one of its stages
//! `last.journal/League 1:3..8`.

use std::path::{Path, PathBuf};

use super::super::journal;
use super::super::journal::record::Previous;
use super::super::ledger::Ledger;
use crate::model::text::shown;

/// How such a source names a journal.
const ENDING: &str = ".journal";

/// An event that was played before.
#[derive(Clone, Debug)]
pub(super) struct PlayedEvent {
    /// The part of it that the journal of this event keeps.
    pub(super) kept: Previous,
    /// Its stages that are over: name, and everybody, the best first.
    stages: Vec<(String, Vec<String>)>,
}

/// The journal and the stage that a source names, where it names a journal; without a stage it is the last one.
pub(super) fn named(source: &str) -> Option<(&str, Option<&str>)> {
    if source.ends_with(ENDING) {
        return Some((source, None));
    }
    let at = source.find(&format!("{ENDING}/"))? + ENDING.len();
    Some((&source[..at], Some(&source[at + 1..])))
}

/// Reads a journal beside the event file.
pub(super) fn read(here: &Path, name: &str) -> Result<PlayedEvent, String> {
    let path: PathBuf = here.join(name);
    let mut ledger = Ledger::default();
    journal::read(&path, &mut |_, record| ledger.apply(record))
        .map_err(|error| error.to_string())?;
    let mark = journal::mark(&path, u64::MAX).map_err(|error| error.to_string())?;
    if ledger.winner.is_none() {
        return Err(format!("{} is not over; its places are known when it is", shown(&path)));
    }
    let over = ledger.stages.into_iter();
    let stages = over.filter_map(|stage| Some((stage.started.name, stage.outcome?.order)));
    Ok(PlayedEvent {
        kept: Previous { name: name.to_owned(), sha256: mark.sum.to_string() },
        stages: stages.collect(),
    })
}

impl PlayedEvent {
    /// Everybody of a stage, the best first; without a name of the last one.
    pub(super) fn order(&self, stage: Option<&str>) -> Result<&[String], String> {
        let found = match stage {
            Some(stage) => self.stages.iter().find(|(name, _)| name == stage),
            None => self.stages.last(),
        };
        found.map(|(_, order)| &order[..]).ok_or_else(|| {
            let names: Vec<&str> = self.stages.iter().map(|(name, _)| name.as_str()).collect();
            format!("{} has the stages {}", self.kept.name, names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_source_names_a_journal_and_its_stage() {
        assert_eq!(named("swiss.journal"), Some(("swiss.journal", None)));
        assert_eq!(named("../27/l.journal/League 1"), Some(("../27/l.journal", Some("League 1"))));
        assert_eq!(named("League 1"), None);
        assert_eq!(named("a.journals"), None);
    }
}
