//! The journals of all shards of a check, put together: the result on each entry, in the order of the entries.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::Shard;
use super::check::{Check, CheckHeader, CheckRecord, EntryOutcome, JudgedEntry, Listed};
use super::parts::{MergeError, Parts, read_all};
use crate::event::journal;
use crate::model::exit::Exit;
use crate::model::rule::{RULES, Rule};
use crate::model::verdict::Verdict;
use crate::receipt::document::{HostRecord, Tool};

/// The result on one entry, and where it was reached.
#[derive(Debug)]
pub(crate) struct CheckedEntry {
    /// The result.
    pub(crate) outcome: EntryOutcome,
    /// The host's programs that the entry started.
    pub(crate) tools: Vec<Tool>,
    /// The host.
    pub(crate) host: Rc<HostRecord>,
}

/// All shards that there are of a check.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The check.
    pub(crate) check: Check,
    /// The results, by the entries' numbers.
    pub(crate) found: BTreeMap<usize, CheckedEntry>,
    /// The shards.
    pub(crate) parts: Parts,
}

impl Checked {
    /// Reads journals and checks them against each other.
    ///
    /// # Errors
    /// See [`MergeError`].
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Option<Checked>, MergeError> {
        read_all(paths, Checked::add, |checked| &mut checked.parts)
    }

    fn add(checked: &mut Option<Checked>, path: &Path) -> Result<(), MergeError> {
        let mut journal = OfShard::default();
        journal::read_of(path, &mut |_, record| journal.take(record))?;
        let Some(CheckHeader { shard, check, .. }) = journal.header else {
            return Err(MergeError::Empty(path.to_owned()));
        };
        let checked = checked.get_or_insert_with(|| Checked {
            check: check.clone(),
            found: BTreeMap::new(),
            parts: Parts::like(shard),
        });
        checked.parts.add(path, shard, checked.check.difference(&check))?;
        checked.found.append(&mut journal.found);
        Ok(())
    }

    /// The shards of which there is no journal, and those of which entries are missing, with how many.
    pub(crate) fn gaps(&self) -> Vec<(Shard, Option<usize>)> {
        self.parts.gaps((0..self.check.entries.len()).filter(|at| !self.found.contains_key(at)))
    }

    /// The shard of an entry.
    pub(crate) fn shard(&self, entry: usize) -> Shard {
        self.parts.shard(entry)
    }
}

/// The content of the journal of one shard.
#[derive(Debug, Default)]
pub(crate) struct OfShard {
    /// The check, if it has begun.
    pub(crate) header: Option<CheckHeader>,
    /// The results, by the entries' numbers.
    pub(crate) found: BTreeMap<usize, CheckedEntry>,
    host: Option<Rc<HostRecord>>,
}

impl OfShard {
    /// Takes the next record.
    ///
    /// # Errors
    /// Says how it is none that can be there.
    pub(crate) fn take(&mut self, record: CheckRecord) -> Result<(), String> {
        match record {
            CheckRecord::Check(header) if self.header.is_none() => self.header = Some(*header),
            CheckRecord::Check(_) => return Err("it begins a second time".into()),
            CheckRecord::Host(host) => self.host = Some(Rc::new(host.host)),
            CheckRecord::Entry(judged) => {
                let JudgedEntry { entry, outcome, tools } = *judged;
                let header = self.header.as_ref();
                let own = header.is_some_and(|header| {
                    entry < header.check.entries.len() && header.shard.has(entry)
                });
                if !own {
                    return Err(format!("entry {} is none of this shard's", entry + 1));
                }
                let listed = header.and_then(|header| header.check.entries.get(entry));
                check_outcome(&outcome, listed)
                    .map_err(|what| format!("entry {}: {what}", entry + 1))?;
                let host = Rc::clone(self.host.as_ref().ok_or("no host has judged it")?);
                let before = self.found.insert(entry, CheckedEntry { outcome, tools, host });
                if before.is_some_and(|before| before.outcome.is_decided()) {
                    return Err(format!("entry {} stands there twice", entry + 1));
                }
            }
        }
        Ok(())
    }
}

/// Says how a result is none that a check reaches on this entry.
fn check_outcome(outcome: &EntryOutcome, listed: Option<&Listed>) -> Result<(), &'static str> {
    match outcome {
        EntryOutcome::Judged(report) if listed.is_none_or(|listed| !listed.is_of(report)) => {
            Err("another file was judged than the one that the check lists")
        }
        EntryOutcome::Judged(report) => {
            let is_told = |rule: &Rule| report.findings.iter().any(|found| found.rule == rule.id);
            let follows =
                Verdict::of(&report.findings) == Verdict::Accepted && RULES.iter().all(is_told);
            let is_sound = report.verdict != Verdict::Accepted || follows;
            is_sound.then_some(()).ok_or("its verdict does not follow from its findings")
        }
        EntryOutcome::NotJudged { exit: Exit::Success, .. } => {
            Err("it was not judged, and that was a success")
        }
        EntryOutcome::NotJudged { .. } => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::tests::report;
    use crate::model::verdict::Finding;

    #[test]
    fn a_result_is_on_the_file_that_the_check_lists_and_follows_from_its_findings() {
        let mut report = report();
        report.findings = RULES.iter().map(|rule| Finding::pass(rule.id, "fine")).collect();
        report.verdict = Verdict::Accepted;
        let listed = Listed {
            path: report.path.clone(),
            sha256: report.sha256.clone(),
            engines_json_sha256: report.circumstances.engines_json_sha256.clone(),
            engine: report.circumstances.engine.clone(),
        };
        let checked = |report: &crate::model::entry_report::EntryReport| {
            check_outcome(&EntryOutcome::Judged(Box::new(report.clone())), Some(&listed))
        };
        assert_eq!(checked(&report), Ok(()));
        let mut other = report.clone();
        other.sha256 = Some("cd".repeat(32));
        assert!(checked(&other).unwrap_err().starts_with("another file was judged"));
        let mut moved = report.clone();
        moved.path = "entries/other".into();
        assert!(checked(&moved).is_err());
        let mut silent = report.clone();
        silent.findings.pop();
        assert_eq!(checked(&silent), Err("its verdict does not follow from its findings"));
        report.findings[0] = Finding::fail(report.findings[0].rule, "two files");
        assert_eq!(checked(&report), Err("its verdict does not follow from its findings"));
        report.verdict = Verdict::Rejected;
        assert_eq!(checked(&report), Ok(()));
        let untold = EntryOutcome::NotJudged { what: "gone".into(), exit: Exit::Success };
        assert!(check_outcome(&untold, Some(&listed)).is_err());
    }
}
