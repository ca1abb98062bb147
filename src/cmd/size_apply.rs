//! `gate4k size --hints --apply N`: what a hint promises, done to a copy that passes the check as the entry does.

use std::fs::{self, Permissions};
use std::io::Write;
use std::num::NonZeroUsize;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::early_end::EarlyEnd;
use super::entry_file;
use super::reports::cannot;
use super::settings;
use super::worker_lines::WorkerLines;
use crate::batch::pool::PoolWatch;
use crate::cli::SizeArgs;
use crate::judge::error::CheckError;
use crate::judge::other_work::judged_when_quiet;
use crate::judge::settings::Settings;
use crate::judge::{CopyOf, Judge};
use crate::model::entry_report::EntryReport;
use crate::model::exit::Exit;
use crate::model::rule::RuleId;
use crate::model::text::shown;
use crate::model::verdict::{Finding, Status, Verdict};
use crate::pack::hint::Hint;
use crate::view::layout::PageLayout;
use crate::view::{human, text};

/// Applies one hint to one entry.
pub(super) fn run(
    args: &SizeArgs,
    number: NonZeroUsize,
    output: &Path,
    out: &mut impl Write,
) -> anyhow::Result<Exit> {
    let [path] = args.entry.entries.as_slice() else {
        let words = "--apply needs one <ENTRY>, and no more: a hint is about a single file";
        return Err(EarlyEnd::usage(words).into());
    };
    // The check proves it; games and what can only advise would tell no more of a stub.
    let judge = Judge::open(Settings { quick: true, ..settings(&args.entry) })?;
    let (file, hint) = chosen(&judge, path, number)?;
    entry_file::may_write(output, &file, args.force).map_err(EarlyEnd::usage)?;
    let lines = WorkerLines::of_one(args.quiet);
    let jobs = judge.settings().jobs;
    let step = |step: &str| lines.step(0, path, &format!("as it is: {step}"));
    let waits = || step("waiting for the host to be quiet");
    let before = judged_when_quiet(|| judge.assess(path, jobs, &step), waits)?;
    let copy = copy_with(&file, &hint.entry)?;
    let step = |step: &str| lines.step(0, path, &format!("with hint {number}: {step}"));
    let waits = || step("waiting for the host to be quiet");
    let of = || CopyOf::Entry { path, file: &file };
    let after = judged_when_quiet(|| judge.assess_copy(copy.path(), of(), jobs, &step), waits)?;
    drop(lines);
    let worse = worse(&before, &after);
    if !worse.is_empty() {
        out.write_all(human::entry(&after, PageLayout::of_width(text::width())).as_bytes())?;
        let rules: Vec<&str> = worse.iter().map(|rule| rule.name()).collect();
        return Err(EarlyEnd::new(
            Exit::Rejected,
            format!(
                "with hint {number} it no longer keeps {}; above is why, and nothing was written",
                rules.join(", ")
            ),
        )
        .into());
    }
    // The file there may have changed while the copy was judged.
    entry_file::may_write(output, &file, args.force).map_err(EarlyEnd::usage)?;
    entry_file::write(output, &hint.entry).with_context(|| cannot(output))?;
    writeln!(
        out,
        "{}: {} bytes, {} less than {} ({}); {} by `gate4k check --quick`{}",
        shown(output),
        hint.entry.len(),
        hint.saves,
        shown(path),
        hint.what,
        after.verdict.word(),
        if after.verdict == Verdict::Accepted { "" } else { ", as it was before" },
    )?;
    Ok(Exit::Success)
}

/// The entry's file, and the hint.
fn chosen(judge: &Judge, path: &Path, number: NonZeroUsize) -> Result<(PathBuf, Hint), CheckError> {
    let mut found = judge.hints(path)?;
    let count = found.len();
    if number.get() > count {
        let words = match count {
            0 => "there is no hint for this entry: nothing that was tried saves a byte".to_owned(),
            1 => format!("there is one hint for this entry, and no number {number}"),
            _ => format!("there are {count} hints for this entry, and no number {number}"),
        };
        return Err(CheckError::Configuration(words.into()));
    }
    let file = if path.is_dir() { judge.file_of(path)? } else { path.to_owned() };
    Ok((file, found.swap_remove(number.get() - 1)))
}

/// A directory with the new bytes under the entry's own name, and the entry's engines.json.
fn copy_with(file: &Path, bytes: &[u8]) -> anyhow::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir().context("no room for a copy")?;
    let copy = folder.path().join(file.file_name().unwrap_or_default());
    fs::write(&copy, bytes)?;
    fs::set_permissions(&copy, Permissions::from_mode(0o755))?;
    let config = file.with_file_name("engines.json");
    if config.is_file() {
        fs::copy(&config, folder.path().join("engines.json"))?;
    }
    Ok(folder)
}

/// The rules of the gate that the entry keeps and the copy does not; those that could not be tried for it, where no other
/// is broken.
fn worse(before: &EntryReport, after: &EntryReport) -> Vec<RuleId> {
    let is_kept = |status| matches!(status, Status::Pass | Status::Advice);
    let was_kept =
        |rule: RuleId| before.findings.iter().any(|one| one.rule == rule && is_kept(one.status));
    let gates = after.findings.iter().filter(|one| one.rule.is_gate());
    let (skipped, broken): (Vec<&Finding>, Vec<&Finding>) = gates
        .filter(|one| !is_kept(one.status) && was_kept(one.rule))
        .partition(|one| one.status == Status::Skipped);
    let worse = if broken.is_empty() { skipped } else { broken };
    worse.into_iter().map(|one| one.rule).collect()
}
