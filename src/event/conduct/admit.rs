//! Entries on their way into the event: new ones through the gate, known ones unchanged (rule 4.4).

use std::ops::ControlFlow;
use std::sync::Arc;

use super::{Conductor, EventError, EventOutcome, GateRefusal};
use crate::engine::stop::StopLevel;
use crate::event::config::EventConfig;
use crate::event::draw;
use crate::event::entrants::{Admission, Entrant, Judges, now};
use crate::event::gate::Gate;
use crate::event::journal::record::{GateReceipt, JournalRecord, Update};
use crate::event::ledger::Ledger;
use crate::event::stage::Updates;
use crate::event::update;
use crate::model::text::shown;
use crate::model::verdict::Verdict;
use crate::runner::Engine;

/// The end of a run of the gate.
pub(super) enum GateEnd {
    /// Every entry has a decision.
    AllDecided,
    /// The event was asked to stop before.
    Stopped,
}

impl Conductor<'_> {
    /// All entries as engines, or the outcome of a run that ends at the gate.
    pub(super) fn entrants(
        &mut self,
    ) -> Result<ControlFlow<EventOutcome, Vec<Arc<Engine>>>, EventError> {
        let mut judges = Judges::default();
        let may_update = update::may_update(self.config, &self.ledger);
        let mut entrants = Vec::new();
        let mut new = Vec::new();
        for entry in &self.config.entries {
            if self.ledger.withdrawal(&entry.name).is_some() {
                // Its files may be others: it plays no more.
                continue;
            }
            let entrant = Entrant::read(&mut judges, self.config, entry)?;
            match self.ledger.receipts.get(&entry.name) {
                None => new.push(entrants.len()),
                Some(receipt) => match receipt.frozen.difference(&entrant.frozen) {
                    None => {}
                    Some(_) if may_update.contains(&entry.name) => new.push(entrants.len()),
                    Some(changed) => return Err(self.changed_too_soon(&entry.name, changed)),
                },
            }
            entrants.push(entrant);
        }
        let new: Vec<&Entrant> = new.into_iter().filter_map(|index| entrants.get(index)).collect();
        let (mut refused, mut verdict) = (Vec::new(), GateRefusal::Undecided);
        let end = self.through_the_gate(&new, |conductor, admission| match admission {
            Admission::Admitted(receipt) => conductor.freeze(receipt),
            Admission::Refused(report) => {
                conductor.audience.refused(&report);
                // One that is rejected outweighs any that is undecided.
                if report.verdict != Verdict::Undecided {
                    verdict = GateRefusal::Rejected;
                }
                refused.push(shown(&report.path));
                Ok(())
            }
        })?;
        Ok(match end {
            GateEnd::Stopped => ControlFlow::Break(EventOutcome::Paused),
            GateEnd::AllDecided if !refused.is_empty() => {
                ControlFlow::Break(EventOutcome::Refused { entries: refused, verdict })
            }
            GateEnd::AllDecided => ControlFlow::Continue(
                entrants.iter().map(|entrant| entrant.engine(self.config)).collect(),
            ),
        })
    }

    /// Judges these, and hands over each decision in their order.
    pub(super) fn through_the_gate(
        &mut self,
        entrants: &[&Entrant],
        mut take: impl FnMut(&mut Self, Admission) -> Result<(), EventError>,
    ) -> Result<GateEnd, EventError> {
        let candidates: Vec<_> = entrants.iter().filter_map(|one| one.candidate()).collect();
        let count = candidates.len();
        let watch = self.audience.gate_opens(Gate::concurrency().workers(count), count);
        let gate = Gate::open(candidates, watch)?;
        let mut end = Ok(GateEnd::AllDecided);
        for entrant in entrants {
            let decided = match entrant.candidate() {
                None => Ok(Admission::Admitted(entrant.trusted())),
                Some(_) => match gate.next(self.stop) {
                    Some(judged) => {
                        judged.and_then(|report| entrant.admission(self.config, report))
                    }
                    None => {
                        end = Ok(GateEnd::Stopped);
                        break;
                    }
                },
            };
            let taken = decided.map_err(EventError::from).and_then(|one| take(self, one));
            if let Err(error) = taken {
                end = Err(error);
                break;
            }
        }
        self.audience.gate_closes();
        let stopped = self.stop.level() != StopLevel::GoOn;
        end.map(|end| if stopped { GateEnd::Stopped } else { end })
    }

    /// Keeps the receipt of an entry that plays from now on.
    fn freeze(&mut self, receipt: GateReceipt) -> Result<(), EventError> {
        let entry = receipt.entry.clone();
        let before = self.ledger.receipts.get(&entry).map(|receipt| receipt.frozen.clone());
        self.audience.say(&format!(
            "{entry} is {} and frozen: SHA-256 {}",
            receipt.verdict, receipt.frozen.file
        ));
        self.keep(match before {
            None => JournalRecord::Receipt(receipt),
            Some(before) => JournalRecord::Update(Update {
                entry,
                stage: self.ledger.stages.len(),
                before,
                receipt,
                at: now(),
            }),
        })
    }

    /// The error for an entry of which a file is not what its receipt has (rule 4.4), with the stage before which it may be
    /// updated, where there is one.
    fn changed_too_soon(
        &self,
        entry: &str,
        (what, before, now): (String, String, String),
    ) -> EventError {
        let stage = turn(self.config, &self.ledger, entry).map(str::to_owned);
        let entry = entry.to_owned();
        match stage {
            Some(stage) => EventError::UpdatedTooSoon { entry, what, before, now, stage },
            None => EventError::EntryChanged { entry, what, before, now },
        }
    }
}

/// The next stage before which an entry may be updated; none where there is none, or its seats are not known yet.
fn turn<'a>(config: &'a EventConfig, ledger: &Ledger, entry: &str) -> Option<&'a str> {
    let to_come = config.stages.iter().enumerate().skip(ledger.stages.len());
    let plays = |number| draw::drawn(config, ledger, number).seats.iter().any(|seat| seat == entry);
    let mut its_own =
        to_come.filter(|(number, stage)| stage.updates == Updates::Allowed && plays(*number));
    its_own.next().map(|(_, stage)| stage.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::journal::record::{StageFinished, StageStarted};

    /// Of four engines the first two play in 2a, the others in 2b, and the best of both in 3.
    #[test]
    fn an_entry_that_was_updated_too_soon_is_told_its_turn() {
        let dir = tempfile::tempdir().unwrap();
        let mut text = "event = \"E\"\ntime-control = \"1+1\"\n".to_owned();
        for name in ["A", "B", "C", "D"] {
            text += &format!("[[engine]]\nname = {name:?}\ncmd = \"/dev/null\"\n");
        }
        for (name, from) in [
            ("1", ""),
            ("2a", "from = \"1:1..2\"\nupdates = true\n"),
            ("2b", "from = \"1:3..4\"\nupdates = true\n"),
            ("3", "from = [\"2a:1\", \"2b:1\"]\nupdates = true\n"),
        ] {
            text += &format!(
                "[[stage]]\nname = {name:?}\nformat = {{ round-robin = {{ doubles = 1 }} }}\nbook-policy = \"none\"\n\
                 ties = \"4k\"\n{from}"
            );
        }
        let path = dir.path().join("event.toml");
        std::fs::write(&path, text).unwrap();
        let config = EventConfig::load(&path).unwrap();
        let names = ["A", "B", "C", "D"].map(str::to_owned);
        let mut ledger = Ledger::default();
        let stage = |ledger: &mut Ledger, number: usize, seats: &[String]| {
            let name = config.stages[number].name.clone();
            let started =
                StageStarted { stage: number, name, seats: seats.to_vec(), ..Default::default() };
            ledger.apply(JournalRecord::StageStarted(started)).unwrap();
            let places: Vec<Vec<String>> = seats.iter().map(|name| vec![name.clone()]).collect();
            let finished = StageFinished::of(number, &places, seats.to_vec());
            ledger.apply(JournalRecord::StageFinished(finished)).unwrap();
        };
        let turns = |ledger: &Ledger| names.each_ref().map(|name| turn(&config, ledger, name));
        assert_eq!(turns(&ledger), [None; 4]);
        stage(&mut ledger, 0, &names);
        assert_eq!(turns(&ledger), [Some("2a"), Some("2a"), Some("2b"), Some("2b")]);
        stage(&mut ledger, 1, &names[..2]);
        assert_eq!(turns(&ledger), [Some("3"), None, Some("2b"), Some("2b")]);
    }
}
