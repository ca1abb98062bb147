//! The results of a check, entry by entry, whether they are of just now or from a journal.

use std::io::Write;
use std::path::Path;

use super::reports::Reports;
use super::tell;
use crate::model::entry_report::{ConfigFinding, EntryReport, ReportInput};
use crate::model::exit::Exit;
use crate::shard::check::EntryOutcome;
use crate::view::table::TableRow;

/// All results so far.
pub(super) struct Total {
    outputs: Reports,
    reports: Vec<EntryReport>,
    rows: Vec<TableRow>,
    outcomes: Vec<Exit>,
}

impl Total {
    pub(super) fn new(outputs: Reports) -> Total {
        Total { outputs, reports: Vec::new(), rows: Vec::new(), outcomes: Vec::new() }
    }

    /// The next entry, which people are told of at once.
    pub(super) fn take(
        &mut self,
        path: &Path,
        outcome: EntryOutcome,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        self.outcomes.push(outcome.exit());
        match outcome {
            EntryOutcome::Judged(report) => {
                self.outputs.entry(&report, out)?;
                self.rows.push(TableRow::judged(&report));
                self.reports.push(*report);
            }
            EntryOutcome::NotJudged { what, .. } => {
                tell(&what);
                self.rows.push(TableRow::not_judged(path, &what));
            }
        }
        Ok(())
    }

    /// Writes the reports; gives the outcome of each entry, for the exit code.
    pub(super) fn finish(
        self,
        config_findings: &[ConfigFinding],
        out: &mut impl Write,
    ) -> anyhow::Result<(Vec<Exit>, Vec<EntryReport>)> {
        let told = ReportInput { entries: &self.reports, config_findings };
        self.outputs.finish(told, &self.rows, out)?;
        Ok((self.outcomes, self.reports))
    }
}
