//! Places of events that were played before, as their journals have them: `swiss.journal:1..32`, or of one of its stages
//! `last.journal/League 1:3..8`.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::super::journal::record::{JournalHeader, Previous};
use super::super::journal::{self, JournalError};
use super::super::ledger::Ledger;
use super::EventConfig;
use super::counted::counted_stages;
use crate::model::text::shown;
use crate::model::words::all;

/// The ending by which such a source names a journal.
const ENDING: &str = ".journal";

/// An event that was played before.
#[derive(Clone, Debug)]
pub(super) struct PlayedEvent {
    /// The part of it that the journal of this event keeps.
    pub(super) kept: Previous,
    /// Its stages that are over.
    stages: Vec<PlayedStage>,
}

/// A stage of an event that was played before.
#[derive(Clone, Debug, Default)]
struct PlayedStage {
    name: String,
    /// The places of those who play on, the best first; the engines of a group share one. Behind them there is an empty name
    /// for each engine that does not.
    places: Vec<Vec<String>>,
    /// The engines that do not, each with the number of those before it who do, and the reason.
    gone: Vec<(usize, String, &'static str)>,
}

impl PlayedStage {
    /// The stage with these places, of which the engines with a reason play no more.
    fn of(
        name: &str,
        all: &[Vec<String>],
        why_gone: impl Fn(&str) -> Option<&'static str>,
    ) -> PlayedStage {
        let mut stage = PlayedStage { name: name.to_owned(), ..PlayedStage::default() };
        let mut before = 0;
        for group in all {
            let (playing, gone): (Vec<&String>, Vec<&String>) =
                group.iter().partition(|name| why_gone(name).is_none());
            let reasons = gone.into_iter().filter_map(|name| Some((name, why_gone(name)?)));
            stage.gone.extend(reasons.map(|(name, why)| (before, name.clone(), why)));
            before += playing.len();
            if !playing.is_empty() {
                stage.places.push(playing.into_iter().cloned().collect());
            }
        }
        let nobody = std::iter::repeat_n(vec![String::new()], stage.gone.len());
        stage.places.extend(nobody);
        stage
    }
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
    journal::read(&path, &mut |_, record| ledger.apply(record)).map_err(|error| match &error {
        JournalError::Read { source, .. } if source.kind() == ErrorKind::NotFound => format!(
            "there is no journal {}, from which engines come; put back the one of that event",
            shown(&path)
        ),
        _ => error.to_string(),
    })?;
    let mark = journal::mark(&path, u64::MAX).map_err(|error| error.to_string())?;
    if ledger.header.is_none() {
        return Err(format!(
            "{} holds no record: that event has not begun, and its places are known when it is over",
            shown(&path)
        ));
    }
    if !ledger.is_over() {
        return Err(format!("{} is not over; its places are known when it is", shown(&path)));
    }
    let settings = ledger.header.as_ref().map_or("", |header| header.settings.as_str());
    let counted = counted_stages(settings);
    let stages = ledger.stages.iter().filter_map(|stage| {
        let name = &stage.started.name;
        let out = stage.disqualified(counted.get(name).and_then(|counted| counted.crash_limit));
        let why_gone = |engine: &str| match (out.contains(engine), ledger.withdrawal(engine)) {
            (true, _) => Some("disqualified"),
            (false, Some(_)) => Some("withdrawn"),
            (false, None) => None,
        };
        Some(PlayedStage::of(name, &stage.outcome.as_ref()?.places(), why_gone))
    });
    Ok(PlayedEvent {
        kept: Previous { name: name.to_owned(), sha256: mark.sum.to_string() },
        stages: stages.collect(),
    })
}

impl PlayedEvent {
    /// A stage by its name; without one the last.
    fn stage(&self, name: Option<&str>) -> Option<&PlayedStage> {
        match name {
            Some(name) => self.stages.iter().find(|stage| stage.name == name),
            None => self.stages.last(),
        }
    }

    /// The engines of a stage that some places pass over since they play no more, in words.
    pub(super) fn passed_over(&self, stage: Option<&str>, taken: &[usize]) -> Vec<String> {
        let Some(stage) = self.stage(stage) else { return Vec::new() };
        let passed = stage.gone.iter().filter(|(before, ..)| taken.iter().any(|at| at > before));
        let told = passed.map(|(_, engine, why)| {
            format!(
                "{engine} was {why} in {} and is passed over; those behind it move up",
                self.kept.name
            )
        });
        told.collect()
    }

    /// Everybody of a stage who plays on, the best first; without a name of the last one. The last places are nobody's, where
    /// some were disqualified or withdrawn. Where only some of those that share a place are taken, or their order counts
    /// (`by_ranking`), nobody knows which.
    pub(super) fn order(
        &self,
        stage: Option<&str>,
        taken: &[usize],
        by_ranking: bool,
    ) -> Result<Vec<String>, String> {
        let Some(PlayedStage { name, places, .. }) = self.stage(stage) else {
            let names: Vec<&str> = self.stages.iter().map(|stage| stage.name.as_str()).collect();
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

impl EventConfig {
    /// The journals of events before that are not as they were when a journal with this header was begun, in words.
    pub(crate) fn changed_before(&self, header: &JournalHeader) -> String {
        let other = |ours: &[Previous], theirs: &[Previous]| -> Vec<String> {
            let other = ours.iter().filter(|one| !theirs.contains(one));
            other.map(|one| one.name.clone()).collect()
        };
        let names: BTreeSet<String> = other(&header.previous, &self.previous)
            .into_iter()
            .chain(other(&self.previous, &header.previous))
            .collect();
        all(&names.into_iter().collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::field::WithdrawnGames;
    use super::super::super::journal::record::{
        JournalHeader, StageFinished, StageStarted, Withdrawn,
    };
    use super::super::super::journal::{Journal, JournalRecord, VERSION};
    use super::super::super::journal_games::tests::{finished, started};
    use super::super::EventConfig;
    use super::{PlayedEvent, PlayedStage, Previous, named, read};
    use crate::model::game::ending::Termination;
    use crate::model::game::listed::RoundGame;

    /// A Swiss in which two share the first place and two the third.
    #[test]
    fn shared_places_are_taken_together_and_in_no_order() {
        let group = |names: &[&str]| names.iter().copied().map(str::to_owned).collect::<Vec<_>>();
        let places = vec![group(&["a", "b"]), group(&["c", "d"]), group(&["e"])];
        let kept = Previous { name: "swiss.journal".into(), sha256: String::new() };
        let stage = PlayedStage::of("Swiss", &places, |_| None);
        let played = PlayedEvent { kept, stages: vec![stage] };
        let order = |taken: &[usize], by_ranking| played.order(None, taken, by_ranking);
        assert_eq!(order(&[1, 2, 3, 4], false).unwrap(), ["a", "b", "c", "d", "e"]);
        assert_eq!(order(&[5], true).unwrap()[4], "e");
        let told = order(&[1, 2], true).unwrap_err();
        assert!(told.starts_with("a and b share the places 1 to 2 of Swiss"), "{told}");
        let told = order(&[1, 2, 3], false).unwrap_err();
        assert!(told.starts_with("c and d share the places 3 to 4 of Swiss"), "{told}");
        assert!(played.order(Some("Cup"), &[1], true).unwrap_err().contains("the stages Swiss"));
    }

    /// A folder with the journal of an event in which c crashed as often as it allows, and b was withdrawn behind the stage.
    fn one_journal() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let settings = "crash-limit = 1\n[[stage]]\nname = \"P\"\nformat = { round-robin = { doubles = 1 } }\n";
        let header = JournalHeader {
            previous: Vec::new(),
            version: VERSION,
            event: "E".into(),
            gate4k: String::new(),
            settings: settings.into(),
            settings_sha256: String::new(),
        };
        let seats = ["a", "b", "d", "c"].map(str::to_owned).to_vec();
        let begins =
            StageStarted { name: "P".into(), seats: seats.clone(), ..StageStarted::default() };
        let mut game = finished("a", "c", RoundGame { round: 1, game: 1 }, "1-0", "e2e4");
        game.reason = Termination::Crash { exit: None };
        let places: Vec<Vec<String>> = seats.iter().map(|name| vec![name.clone()]).collect();
        let withdrawn = Withdrawn {
            engine: "b".into(),
            stage: 1,
            round: 1,
            played: WithdrawnGames::Counts,
            broken_off: Vec::new(),
            walkovers: Vec::new(),
            reason: "a test".into(),
            at: String::new(),
        };
        let (mut journal, _) =
            Journal::open(&dir.path().join("one.journal"), &mut |_, _| Ok(())).unwrap();
        for record in [
            JournalRecord::Header(header),
            JournalRecord::StageStarted(begins),
            JournalRecord::GameStarted(started(&game)),
            JournalRecord::GameFinished(game),
            JournalRecord::StageFinished(StageFinished::of(0, &places, seats)),
            JournalRecord::Withdrawn(withdrawn),
            JournalRecord::EventFinished { winner: "a".into(), shared: Vec::new() },
        ] {
            journal.append(&record).unwrap();
        }
        dir
    }

    #[test]
    fn who_played_no_more_at_the_end_of_an_event_has_no_place_of_it() {
        let dir = one_journal();
        let played = read(dir.path(), "one.journal").unwrap();
        assert_eq!(played.order(Some("P"), &[1, 2], true).unwrap(), ["a", "d", "", ""]);
        let moves_up = "in one.journal and is passed over; those behind it move up";
        let told =
            [format!("b was withdrawn {moves_up}"), format!("c was disqualified {moves_up}")];
        assert_eq!(played.passed_over(None, &[1]), [""; 0]);
        assert_eq!(played.passed_over(None, &[1, 2]), told[..1]);
        assert_eq!(played.passed_over(None, &[2, 3]), told);
    }

    #[test]
    fn a_stage_seats_the_next_in_rank_and_tells_what_is_wrong_with_its_places() {
        let dir = one_journal();
        std::fs::write(dir.path().join("empty.journal"), "").unwrap();
        let path = dir.path().join("event.toml");
        let load = |from: &str, engines: &[&str]| {
            let named = engines
                .iter()
                .map(|name| format!("[[engine]]\nname = {name:?}\ncmd = \"/dev/null\"\n"));
            let text = format!(
                "event = \"E\"\ntime-control = \"1+1\"\n{}[[stage]]\nname = \"S\"\nfrom = {from}\n\
                 format = {{ round-robin = {{ doubles = 1 }} }}\nbook-policy = \"none\"\nties = \"4k\"\n",
                named.collect::<String>()
            );
            std::fs::write(&path, text).unwrap();
            EventConfig::load(&path)
        };
        let stage = load("\"one.journal:1..2\"", &["a", "d"]).unwrap().stages.remove(0);
        assert_eq!((stage.previous, stage.seats), (vec!["a".to_owned(), "d".to_owned()], 2));
        assert_eq!(stage.passed_over.len(), 1, "{:?}", stage.passed_over);
        let stage = load("\"one.journal/P:1..3\"", &["a", "d"]).unwrap().stages.remove(0);
        assert_eq!(stage.seats, 2);
        assert_eq!(stage.passed_over[2], "place 3 of one.journal/P is nobody's");
        for (from, what) in [
            ("\"one.journal:1,2,1\"", "place 1 of one.journal is there twice"),
            ("\"one.journal:1..5\"", "one.journal has no place 5"),
            ("\"one.journal/P:odd\"", "such as \"one.journal/P:1..8\""),
            ("\"empty.journal:1..2\"", "empty.journal holds no record: that event has not begun"),
        ] {
            let told = load(from, &["a", "d"]).unwrap_err().to_string();
            assert!(told.contains(what), "{from}: {told}");
        }
    }

    #[test]
    fn a_source_names_a_journal_and_its_stage() {
        assert_eq!(named("swiss.journal"), Some(("swiss.journal", None)));
        assert_eq!(named("../27/l.journal/League 1"), Some(("../27/l.journal", Some("League 1"))));
        assert_eq!(named("League 1"), None);
        assert_eq!(named("a.journals"), None);
    }
}
