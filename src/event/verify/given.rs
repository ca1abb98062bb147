//! The checks of what an event is given from outside: entries that passed the gate and fixes of them, and the games before
//! the event.

use super::RecordCheck;
use crate::event::entrants::TRUSTED;
use crate::event::fix;
use crate::event::history;
use crate::event::journal::record::{Fix, GateReceipt, History};
use crate::model::verdict::{Status, Verdict};

impl RecordCheck<'_> {
    /// True if the settings, as they were when the last record was written, admit an entry that could not be decided.
    fn admits_undecided(&self) -> bool {
        let header = self.ledger.header.as_ref();
        let settings = header.and_then(|header| header.settings.parse::<toml::Table>().ok());
        settings.is_some_and(|all| {
            all.get("admit-undecided").is_some_and(|it| it.as_bool() == Some(true))
        })
    }

    /// Checks that an entry was let in by its verdict.
    pub(super) fn receipt(&mut self, receipt: &GateReceipt) {
        let GateReceipt { entry, verdict, findings, .. } = receipt;
        let is_trusted = self.config.entry(entry).is_some_and(|known| known.trusted.is_some());
        let admits = [Verdict::Accepted, Verdict::Undecided].map(Verdict::word);
        let may_play = is_trusted && verdict == TRUSTED || admits.contains(&verdict.as_str());
        if !may_play {
            self.wrong(format!("{entry} plays, and the gate's verdict on it is {verdict:?}"));
        }
        if verdict == Verdict::Undecided.word() && !self.admits_undecided() {
            self.wrong(format!(
                "{entry} plays, and the event does not admit one that is undecided"
            ));
        }
        let failed = findings.iter().find(|(_, status)| *status == Status::Fail.word());
        // A waiver lets a rule stand as it was judged.
        if let Some((rule, _)) = failed.filter(|_| self.config.waivers.is_empty()) {
            self.wrong(format!("{entry} plays, and the gate found that it breaks rule {rule}"));
        }
    }

    /// Checks that a fix was taken where rule 6.3 takes one, and of what played before.
    pub(super) fn fix(&mut self, fix: &Fix) {
        let entry = &fix.entry;
        if let Some(why) = fix::refusal(self.config, self.ledger, entry) {
            self.wrong(format!("{entry} could not be fixed (rule 6.3 of the 4k rules): {why}"));
        }
        let crashes = self.ledger.crashes().get(entry.as_str()).copied().unwrap_or(0);
        if crashes != fix.crashes {
            let told = fix.crashes;
            self.wrong(format!("{entry} was fixed after {told} crashes, and had {crashes}"));
        }
        if fix.receipt.entry != *entry {
            self.wrong(format!("the receipt of the fixed {entry} is {}'s", fix.receipt.entry));
        }
        let before = self.ledger.receipts.get(entry).map(|receipt| &receipt.frozen);
        if before != Some(&fix.before) {
            self.wrong(format!("what {entry} was before its fix is not what played"));
        }
        self.receipt(&fix.receipt);
    }

    /// Checks that the games before an event are those of its files. A file that is another by now tells nothing.
    pub(super) fn history(&mut self, told: &History) {
        let there = history::read(&self.config.history).ok().map(|(there, _)| there);
        let is_wrong = |there: &History| {
            let mut both = there.files.iter().zip(&told.files);
            let is_same = both.clone().all(|(there, told)| there.sha256 == told.sha256);
            both.any(|(there, told)| there.sha256 == told.sha256 && there != told)
                || is_same && there.meetings != told.meetings
        };
        if told.files.len() != self.config.history.len() || there.as_ref().is_some_and(is_wrong) {
            self.wrong("the games before the event are not those of its files".into());
        }
    }

    /// Checks that the games before an event are known when its first stage begins.
    pub(super) fn history_is_there(&mut self) {
        let is_missing = self.ledger.stages.is_empty() && self.ledger.history.is_none();
        if is_missing && !self.config.history.is_empty() {
            self.wrong(
                "the event begins without the games before it that its ratings count".into(),
            );
        }
    }
}
