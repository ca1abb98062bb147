//! `gate4k merge` of a check: the shards' results as one check's reports.

use std::io::Write;

use super::early_end::EarlyEnd;
use super::merge_match::{gap_words, tell_empty};
use super::note;
use super::receipt_to::{ReceiptTo, receipt};
use super::reports::{Extent, Reports, WantedReports};
use super::surroundings::Surroundings;
use super::total::Total;
use crate::cli::{MergeArgs, OutputFormat};
use crate::model::exit::Exit;
use crate::model::text::shown;
use crate::shard::check::EntryOutcome;
use crate::shard::checked::Checked;

/// Reports what the shards found; an entry that none of them has is undecided.
pub(super) fn run(args: &MergeArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    if args.pgn.is_some() {
        return Err(EarlyEnd::usage("--pgn is of a match, and these are shards of a check").into());
    }
    let Some(mut checked) = Checked::read(&args.journals)? else { return Ok(Exit::Nothing) };
    tell_empty(checked.parts.empty(), args)?;
    let gaps = checked.gaps();
    if !gaps.is_empty() && !args.partial {
        let lines = gap_words(&gaps, "entry");
        return Err(EarlyEnd::new(Exit::Undecided, format!(
            "this is not the whole check: {}; judge them all, or report what there is with --partial",
            lines.join(", ")
        )).into());
    }
    let wanted = WantedReports {
        report: &args.report,
        format: args.format.unwrap_or(OutputFormat::Human),
        verbose: args.verbose,
        extent: Extent::of(args.summary),
    };
    let opened = Reports::open(wanted, Surroundings::here()).and_then(|outputs| {
        Ok((outputs, ReceiptTo::open(args.receipt.as_deref(), args.sign_key.as_deref())?))
    });
    let (outputs, receipt_to) = opened.map_err(EarlyEnd::of)?;
    let receipt = receipt_to.is_some().then(|| receipt(&checked));
    let mut total = Total::new(outputs);
    for (number, listed) in checked.check.entries.iter().enumerate() {
        let outcome = checked.found.remove(&number).map(|found| found.outcome);
        let missing = || EntryOutcome::NotJudged {
            what: format!(
                "{}: shard {} has no result on it",
                shown(&listed.path),
                checked.shard(number)
            ),
            exit: Exit::Undecided,
        };
        total.take(&listed.path, outcome.unwrap_or_else(missing), out)?;
    }
    gap_words(&gaps, "entry").iter().for_each(|words| note(words));
    let (outcomes, _) = total.finish(&checked.check.config_findings, out)?;
    if let Some((to, receipt)) = receipt_to.zip(receipt) {
        to.write(&receipt.text()?)?;
    }
    Ok(Exit::worst(outcomes))
}
