//! The journal of a check, or of one shard of it: what is kept in it, and which entries are still due.

use std::collections::BTreeMap;
use std::path::Path;

use super::choice::CheckChoice;
use super::early_end::EarlyEnd;
use super::match_shard::{host_name, shard_of, tell_lost};
use crate::batch::pool::Judged;
use crate::event::journal::{JournalError, JournalOf};
use crate::judge::Judge;
use crate::judge::waiver::Waiver;
use crate::receipt::document::{HostRecord, ProgramRecord, SettingsRecord, tools};
use crate::shard::check::{
    Check, CheckHeader, CheckRecord, EntryOutcome, JudgedEntry, JudgingHost, Listed, VERSION,
};
use crate::shard::checked::OfShard;
use crate::shard::{self, Shard, ShardRequest};

/// The journal of a check that goes on.
pub(super) struct KeptEntries {
    journal: JournalOf<CheckRecord>,
    shard: Shard,
    known: BTreeMap<usize, EntryOutcome>,
    listed: Vec<Listed>,
}

impl KeptEntries {
    pub(super) fn open(
        path: &Path,
        wish: Option<ShardRequest>,
        choice: &CheckChoice,
        judge: &Judge,
    ) -> anyhow::Result<KeptEntries> {
        let shard = shard_of(wish)?;
        let check = check(choice, judge);
        let listed = check.entries.clone();
        let mut before = OfShard::default();
        let (mut journal, lost) = shard::open(path, &mut |record| before.take(record))?;
        tell_lost(path, &lost, "an entry", "judged");
        match &before.header {
            None => {
                let header = CheckHeader { version: VERSION, shard, check };
                journal.append(&CheckRecord::Check(Box::new(header)))?;
            }
            Some(header) => {
                let differs = header.check.difference(&check);
                let goes_on = shard::goes_on(path, "check", differs, [header.shard, shard]);
                goes_on.map_err(EarlyEnd::usage)?;
            }
        }
        let host = JudgingHost { name: host_name(), host: HostRecord::here() };
        journal.append(&CheckRecord::Host(Box::new(host)))?;
        // An undecided entry is tried again.
        let known = before.found.into_iter().map(|(entry, found)| (entry, found.outcome));
        let known = known.filter(|(_, outcome)| outcome.is_decided()).collect();
        Ok(KeptEntries { journal, shard, known, listed })
    }

    /// True if an entry is one of the shard's.
    pub(super) fn has(&self, entry: usize) -> bool {
        self.shard.has(entry)
    }

    /// The results from before, by the entries' numbers.
    pub(super) fn known(&self) -> &BTreeMap<usize, EntryOutcome> {
        &self.known
    }

    /// All entries of the check as they were when it began.
    pub(super) fn listed(&self) -> &[Listed] {
        &self.listed
    }

    pub(super) fn keep(&mut self, entry: usize, judged: &Judged) -> Result<(), JournalError> {
        let tools = judged.as_ref().map_or_else(|_| Vec::new(), |report| tools([report]));
        let judged = JudgedEntry { entry, outcome: outcome(judged), tools };
        self.journal.append(&CheckRecord::Entry(Box::new(judged)))
    }
}

/// A result as it is kept.
pub(super) fn outcome(judged: &Judged) -> EntryOutcome {
    match judged {
        Ok(report) => EntryOutcome::Judged(Box::new(report.clone())),
        Err(error) => EntryOutcome::NotJudged { what: error.to_string(), exit: error.exit() },
    }
}

fn check(choice: &CheckChoice, judge: &Judge) -> Check {
    let listed = |path: &Path| {
        // A file that cannot be read is told when it is judged.
        let digest = judge.digest(path).ok();
        Listed {
            path: path.to_owned(),
            sha256: digest.as_ref().and_then(|digest| digest.sha256.clone()),
            engines_json_sha256: digest.as_ref().and_then(|it| it.engines_json_sha256.clone()),
            engine: digest.and_then(|digest| digest.engine),
        }
    };
    Check {
        gate4k: ProgramRecord::here(),
        settings: SettingsRecord::of(judge),
        allowlist_sha256: judge.list_sha256().to_owned(),
        waivers: waiver_lines(judge),
        entries: choice.entries.iter().map(|path| listed(path)).collect(),
        config_findings: choice.config_findings.clone(),
    }
}

/// The waivers by which entries are judged and started, a line each.
pub(super) fn waiver_lines(judge: &Judge) -> Vec<String> {
    let line = |waiver: &Waiver| {
        let Waiver { rule, programs, reason, date, sha256, place, .. } = waiver;
        format!("{place} {rule} {programs:?} {reason:?} {date} {sha256:?}")
    };
    judge.settings().waivers.iter().map(line).collect()
}
