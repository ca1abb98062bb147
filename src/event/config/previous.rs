//! Places of events that were played before, as their journals have them: `swiss.journal:1..32`, or of one of its stages
//! `last.journal/League 1:3..8`.

use std::path::{Path, PathBuf};

use super::super::journal;
use super::super::journal::record::Previous;
use super::super::ledger::Ledger;
use crate::model::text::shown;
use crate::model::words::all;

/// The ending by which such a source names a journal.
const ENDING: &str = ".journal";

/// An event that was played before.
#[derive(Clone, Debug)]
pub(super) struct PlayedEvent {
    /// The part of it that the journal of this event keeps.
    pub(super) kept: Previous,
    /// Its stages that are over: name, and the places, the best first; the engines of a group share one.
    stages: Vec<(String, Vec<Vec<String>>)>,
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
    if !ledger.is_over() {
        return Err(format!("{} is not over; its places are known when it is", shown(&path)));
    }
    let over = ledger.stages.into_iter();
    let stages = over.filter_map(|stage| Some((stage.started.name, stage.outcome?.places())));
    Ok(PlayedEvent {
        kept: Previous { name: name.to_owned(), sha256: mark.sum.to_string() },
        stages: stages.collect(),
    })
}

impl PlayedEvent {
    /// Everybody of a stage, the best first; without a name of the last one. Where only some of those that share a place
    /// are taken, or their order counts (`by_ranking`), nobody knows which.
    pub(super) fn order(
        &self,
        stage: Option<&str>,
        taken: &[usize],
        by_ranking: bool,
    ) -> Result<Vec<String>, String> {
        let found = match stage {
            Some(stage) => self.stages.iter().find(|(name, _)| name == stage),
            None => self.stages.last(),
        };
        let Some((name, places)) = found else {
            let names: Vec<&str> = self.stages.iter().map(|(name, _)| name.as_str()).collect();
            return Err(format!("{} has the stages {}", self.kept.name, names.join(", ")));
        };
        let mut first = 1;
        for group in places {
            let last = first + group.len() - 1;
            let here = (first..=last).filter(|place| taken.contains(place)).count();
            if here > 0 && (here < group.len() || by_ranking && group.len() > 1) {
                let before = match first {
                    1 => String::new(),
                    _ => format!("take the places before {first} by `from`, and "),
                };
                return Err(format!(
                    "{} share the places {first} to {last} of {name}, and no rule puts them into an order; {before}name these \
                     engines, and those behind them, in `engines` = [...], in the order that the organisers give them",
                    all(group)
                ));
            }
            first = last + 1;
        }
        Ok(places.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::{PlayedEvent, Previous, named};

    /// A Swiss in which two share the first place and two the third.
    #[test]
    fn shared_places_are_taken_together_and_in_no_order() {
        let group = |names: &[&str]| names.iter().copied().map(str::to_owned).collect::<Vec<_>>();
        let places = vec![group(&["a", "b"]), group(&["c", "d"]), group(&["e"])];
        let kept = Previous { name: "swiss.journal".into(), sha256: String::new() };
        let played = PlayedEvent { kept, stages: vec![("Swiss".into(), places)] };
        let order = |taken: &[usize], by_ranking| played.order(None, taken, by_ranking);
        assert_eq!(order(&[1, 2, 3, 4], false).unwrap(), ["a", "b", "c", "d", "e"]);
        assert_eq!(order(&[5], true).unwrap()[4], "e");
        let told = order(&[1, 2], true).unwrap_err();
        assert!(told.starts_with("a and b share the places 1 to 2 of Swiss"), "{told}");
        let told = order(&[1, 2, 3], false).unwrap_err();
        assert!(told.starts_with("c and d share the places 3 to 4 of Swiss"), "{told}");
        assert!(played.order(Some("Cup"), &[1], true).unwrap_err().contains("the stages Swiss"));
    }

    #[test]
    fn a_source_names_a_journal_and_its_stage() {
        assert_eq!(named("swiss.journal"), Some(("swiss.journal", None)));
        assert_eq!(named("../27/l.journal/League 1"), Some(("../27/l.journal", Some("League 1"))));
        assert_eq!(named("League 1"), None);
        assert_eq!(named("a.journals"), None);
    }
}
