//! Entries on their way into the event: new ones through the gate, known ones unchanged (rule 4.4).

use std::sync::Arc;

use super::{Conductor, EventError, EventOutcome, unchanged};
use crate::engine::stop::StopLevel;
use crate::event::draw;
use crate::event::entrants::{Admission, Entrant, Judges, now};
use crate::event::gate::Gate;
use crate::event::journal::record::{GateReceipt, JournalRecord, Update};
use crate::event::stage::Updates;
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
    /// All entries as engines.
    pub(super) fn entrants(
        &mut self,
    ) -> Result<Result<Vec<Arc<Engine>>, EventOutcome>, EventError> {
        let mut judges = Judges::default();
        let may_update = self.may_update();
        let mut entrants = Vec::new();
        let mut new = Vec::new();
        for entry in &self.config.entries {
            if self.ledger.withdrawal(&entry.name).is_some() {
                // Its files may be others: it plays no more.
                continue;
            }
            let entrant = Entrant::read(&mut judges, self.config, entry)?;
            match self.ledger.receipts.get(&entry.name) {
                Some(receipt) if receipt.frozen.difference(&entrant.frozen).is_none() => {}
                Some(receipt) if !may_update.contains(&entry.name) => {
                    unchanged(&entry.name, &receipt.frozen, &entrant.frozen)?;
                }
                _ => new.push(entrants.len()),
            }
            entrants.push(entrant);
        }
        let new: Vec<&Entrant> = new.into_iter().filter_map(|index| entrants.get(index)).collect();
        let (mut refused, mut undecided) = (Vec::new(), true);
        let end = self.through_the_gate(&new, |conductor, admission| match admission {
            Admission::Admitted(receipt) => conductor.freeze(receipt),
            Admission::Refused(report) => {
                conductor.audience.refused(&report);
                // One that is rejected outweighs any that is undecided.
                undecided &= report.verdict == Verdict::Undecided;
                refused.push(shown(&report.path));
                Ok(())
            }
        })?;
        Ok(match end {
            GateEnd::Stopped => Err(EventOutcome::Paused),
            GateEnd::AllDecided if !refused.is_empty() => {
                Err(EventOutcome::Refused { entries: refused, undecided })
            }
            GateEnd::AllDecided => {
                Ok(entrants.iter().map(|entrant| entrant.engine(self.config)).collect())
            }
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

    /// The entries that may come with other files now: those that play in the next stage, where it allows that and has not begun.
    fn may_update(&self) -> Vec<String> {
        let number = self.ledger.stages.len();
        let is_between = self.ledger.stages.last().is_some_and(|stage| stage.outcome.is_some());
        let next = self.config.stages.get(number).filter(|_| is_between);
        match next.filter(|stage| stage.updates == Updates::Allowed) {
            Some(_) => draw::drawn(self.config, &self.ledger, number).seats,
            None => Vec::new(),
        }
    }
}
