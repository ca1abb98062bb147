//! `gate4k check`: entries through the gate, several at a time.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::{mem, slice};

use tracing::debug;

use super::check_shard::{KeptEntries, outcome};
use super::choice::{self, CheckChoice, ForgedOutput};
use super::early_end::EarlyEnd;
use super::receipt_to::{self, ReceiptTo};
use super::reports::Reports;
use super::surroundings::Surroundings;
use super::total::Total;
use super::watch::Watched;
use super::worker_lines::{ProgressLook, WorkerLines};
use super::{log, note, tell, with_causes};
use crate::batch::cache::ResultCache;
use crate::batch::pool::{self, Assess, Concurrency, Judged};
use crate::cli::{CheckArgs, OutputFormat, ReportTo};
use crate::files::outputs::{self, NamedPath, SameFile};
use crate::judge::error::CheckError;
use crate::judge::{Judge, Progress};
use crate::model::entry_report::EntryReport;
use crate::model::exit::Exit;
use crate::model::lock::lock;
use crate::model::text::shown;
use crate::policy::allowlist::BUILT_IN;
use crate::receipt::document::Receipt;
use crate::shard::checked::Checked;

/// Judges and prints; the outcome is the worst of all entries, with a journal [`Exit::of_a_try`]. With `--watch`, again after
/// each change.
pub(crate) fn run(args: &CheckArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    log::start(args.verbose);
    if !args.watch {
        return once(args, out);
    }
    // Before the first look, so that no change is missed while it lasts.
    let watched = watched(args).map_err(EarlyEnd::of)?;
    watched.again(out, |out| once(args, out))
}

/// The entries of the command line, or else of the configuration.
fn watched(args: &CheckArgs) -> anyhow::Result<Watched> {
    let named = &args.entry.entries;
    let paths =
        if named.is_empty() { CheckChoice::of(args)?.config.entries } else { named.clone() };
    let ours: Vec<&Path> =
        args.report.iter().filter_map(ReportTo::file).map(|(_, path)| path).collect();
    Ok(Watched::new(&paths, &ours)?)
}

/// Refuses an output that is another's file, or one that decides: an entry, settings or a journal would be lost.
fn files_apart(args: &CheckArgs, choice: &CheckChoice) -> Result<(), SameFile> {
    let all = choice::outputs_of(args);
    let outputs: Vec<NamedPath<'_>> = all.iter().map(|(words, path)| (*words, &**path)).collect();
    let mut inputs = outputs::given(&[
        ("the allow-list", choice.settings.allowlist.as_deref()),
        ("--config", args.config.as_deref()),
        ("--sign-key", args.sign_key.as_deref()),
        ("--engines-json", args.entry.engines_json.as_deref()),
    ]);
    inputs.extend(args.entry.entries.iter().map(|path| ("an entry", path.as_path())));
    outputs::distinct(&outputs, &inputs)
}

fn once(args: &CheckArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    if args.dump_allowlist {
        out.write_all(BUILT_IN.as_bytes())?;
        return Ok(Exit::Success);
    }
    let choice = match CheckChoice::of(args) {
        Ok(choice) => choice,
        Err(error) => {
            let why = with_causes(&error);
            tell(&why);
            if matches!(error.downcast_ref(), Some(ForgedOutput::Led { .. })) {
                // The message about it would go there.
                return Ok(Exit::Usage);
            }
            match Reports::open(args, Surroundings::here()) {
                Ok(reports) => reports.failed(&why, out)?,
                Err(error) => tell(&with_causes(&error)),
            }
            return Ok(Exit::Usage);
        }
    };
    if args.dump_config {
        out.write_all(choice.config.dump()?.as_bytes())?;
        return Ok(Exit::Success);
    }
    if args.list {
        for entry in &choice.entries {
            writeln!(out, "{}", shown(entry))?;
        }
        if !args.quiet {
            choice.notes.iter().for_each(|line| note(line));
        }
        return Ok(Exit::Success);
    }
    files_apart(args, &choice).map_err(EarlyEnd::usage)?;
    // Before anything is judged: a path that cannot be written to should not cost minutes.
    let opened = Reports::open(args, Surroundings::here()).and_then(|outputs| {
        Ok((outputs, ReceiptTo::open(args.receipt.as_deref(), args.sign_key.as_deref())?))
    });
    let (outputs, receipt) = opened.map_err(EarlyEnd::of)?;
    if !args.quiet {
        choice.notes.iter().for_each(|line| note(line));
    }
    let judge = match Judge::open(choice.settings.clone()) {
        Ok(judge) => judge,
        Err(error) => {
            outputs.failed(&error.to_string(), out)?;
            return Err(error.into());
        }
    };
    // A caller that names one entry wants it to be looked at.
    let cache = if choice.many && choice.config.cache {
        ResultCache::of_user()
    } else {
        ResultCache::none()
    };
    let kept = KeptResults { judge: &judge, cache, fingerprints: Mutex::default() };
    let assess: Assess<'_> = &|path, jobs, progress| {
        kept.or_judge(path, progress, |progress| judge.assess(path, jobs, progress))
    };
    let mut journal = match &args.journal {
        None => None,
        Some(path) => match KeptEntries::open(path, args.shard, &choice, &judge) {
            Ok(journal) => Some(journal),
            Err(error) => {
                outputs.failed(&with_causes(&error), out)?;
                return Err(error);
            }
        },
    };
    let keep = |path: &Path, judged: &EntryReport| kept.keep(path, judged);
    let judged = judge_all(args, &choice, outputs, out, assess, &keep, journal.as_mut());
    // Where a record cannot be kept, the journal is whole as far as it goes: this host with more room, or another one, goes on.
    let (exit, reports) = judged?;
    if let Some(to) = receipt {
        let receipt = match &args.journal {
            None => Receipt::of(&reports, &judge),
            // Some of it may have been judged elsewhere.
            Some(path) => match Checked::read(slice::from_ref(path))? {
                Some(checked) => receipt_to::receipt(&checked),
                None => return Ok(Exit::Bug),
            },
        };
        to.write(&receipt.text()?)?;
    }
    Ok(exit)
}

/// Results of entries that have not changed.
struct KeptResults<'a> {
    judge: &'a Judge,
    cache: ResultCache,
    fingerprints: Mutex<HashMap<PathBuf, String>>,
}

impl KeptResults<'_> {
    /// The result that is kept, or a new one.
    fn or_judge(
        &self,
        path: &Path,
        progress: Progress<'_>,
        judge: impl FnOnce(Progress<'_>) -> Judged,
    ) -> Judged {
        if !self.cache.is_there() {
            return judge(progress);
        }
        if let Some(fingerprint) = self.judge.fingerprint(path)? {
            if let Some(report) = self.cache.get(&fingerprint) {
                debug!(entry = %shown(path), fingerprint, "nothing has changed: taken from the cache");
                return Ok(report);
            }
            debug!(entry = %shown(path), fingerprint, "not in the cache");
            let mut known = lock(&self.fingerprints);
            known.insert(path.to_owned(), fingerprint);
        }
        judge(progress)
    }

    /// Keeps what was judged just now, if nothing has changed meanwhile.
    fn keep(&self, path: &Path, report: &EntryReport) {
        let before = lock(&self.fingerprints).remove(path);
        if let Some(before) = before
            && self.judge.fingerprint(path).is_ok_and(|now| now.as_ref() == Some(&before))
        {
            self.cache.put(&before, report);
        }
    }
}

/// As [`run`], with the judge as a parameter so that tests need no engine; `keep` hears of every result
/// as it was judged, and `journal` has those from before.
fn judge_all(
    args: &CheckArgs,
    choice: &CheckChoice,
    outputs: Reports,
    out: &mut impl Write,
    assess: Assess<'_>,
    keep: &dyn Fn(&Path, &EntryReport),
    mut journal: Option<&mut KeptEntries>,
) -> anyhow::Result<(Exit, Vec<EntryReport>)> {
    let CheckChoice { entries, settings, config, config_findings, .. } = choice;
    let goes_on = journal.is_some();
    let mut known = journal.as_ref().map_or_else(BTreeMap::new, |journal| journal.known().clone());
    let is_due = |entry: &usize| {
        journal.as_ref().is_none_or(|journal| journal.has(*entry)) && !known.contains_key(entry)
    };
    let listed = journal.as_ref().map_or_else(Vec::new, |journal| journal.listed().to_vec());
    // A journal answers for the files that it lists.
    let assess: Assess<'_> = &|path, jobs, progress| {
        let report = assess(path, jobs, progress)?;
        match listed.iter().find(|one| one.path == path) {
            Some(one) if !one.is_of(&report) => Err(CheckError::Changed { path: path.to_owned() }),
            _ => Ok(report),
        }
    };
    let numbers: Vec<usize> = (0..entries.len()).filter(is_due).collect();
    let due: Vec<PathBuf> = numbers.iter().map(|entry| entries[*entry].clone()).collect();
    let at_once = Concurrency::new(config.jobs, settings.jobs);
    let workers = at_once.workers(due.len());
    let look = match args.entry.format {
        _ if args.quiet || log::is_on(args.verbose) => ProgressLook::Nothing,
        OutputFormat::Plain => ProgressLook::Plain,
        OutputFormat::Human | OutputFormat::Json => ProgressLook::Drawn,
    };
    let lines = WorkerLines::new(look, workers, due.len());
    let mut total = Total::new(outputs);
    let keep = |index: usize, judged: &Judged| {
        if let Ok(report) = judged {
            keep(&due[index], report);
        }
        match &mut journal {
            Some(journal) => journal.keep(numbers[index], judged),
            None => Ok(()),
        }
        .map_err(anyhow::Error::from)
    };
    pool::run(&due, at_once, assess, &lines, keep, |index, judged| {
        let later = known.split_off(&numbers[index]);
        for (entry, outcome) in mem::replace(&mut known, later) {
            lines.suspend(|| total.take(&entries[entry], outcome, out))?;
        }
        lines.suspend(|| total.take(&due[index], outcome(&judged), out))
    })?;
    drop(lines);
    for (entry, outcome) in known {
        total.take(&entries[entry], outcome, out)?;
    }
    let (outcomes, reports) = total.finish(config_findings, out)?;
    let exit = if goes_on { Exit::of_a_try(outcomes) } else { Exit::worst(outcomes) };
    Ok((exit, reports))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, CliCommand};
    use crate::judge::error::CheckError;
    use crate::model::entry_report::tests::report;
    use crate::model::verdict::Verdict;
    use crate::view::report_format::ReportFormat;
    use clap::{Parser, ValueEnum};

    /// Judges by the name alone.
    fn judge(path: &Path) -> Result<EntryReport, CheckError> {
        let verdict = match path.to_str().unwrap() {
            "good" => Verdict::Accepted,
            "bad" => Verdict::Rejected,
            "open" => Verdict::Undecided,
            "broken-list" => return Err(CheckError::Configuration("line 3: no".into())),
            _ => {
                return Err(CheckError::Nothing { path: path.into(), what: "no such file".into() });
            }
        };
        Ok(EntryReport { path: path.into(), verdict, ..report() })
    }

    fn check(words: &[&str]) -> (Exit, String) {
        let cli = Cli::try_parse_from(["gate4k", "check", "-q"].iter().chain(words)).unwrap();
        let CliCommand::Check(args) = cli.command else {
            panic!("not check");
        };
        let mut out = Vec::new();
        let outputs = Reports::open(&*args, Surroundings::default()).unwrap();
        let choice = CheckChoice::of(&args).unwrap();
        let (exit, _) = judge_all(
            &args,
            &choice,
            outputs,
            &mut out,
            &|path, _, _| judge(path),
            &|_, _| {},
            None,
        )
        .unwrap();
        (exit, String::from_utf8(out).unwrap())
    }

    #[test]
    fn the_worst_entry_makes_the_exit_code() {
        assert_eq!(check(&["good"]).0, Exit::Success);
        assert_eq!(check(&["good", "open"]).0, Exit::Undecided);
        assert_eq!(check(&["good", "bad", "open"]).0, Exit::Rejected);
        assert_eq!(check(&["good", "missing"]).0, Exit::Nothing);
        assert_eq!(check(&["broken-list", "bad"]).0, Exit::Usage);
    }

    #[test]
    fn the_format_changes_no_exit_code() {
        let folder = tempfile::tempdir().unwrap();
        for words in
            [["good", "bad"], ["open", "good"], ["good", "missing"], ["broken-list", "good"]]
        {
            let plain = check(&words).0;
            assert_eq!(plain, check(&[words[0], words[1], "--format", "json"]).0);
            for format in ReportFormat::value_variants() {
                let name = format.name();
                let file = folder.path().join(&name);
                let to_file = format!("--report={name}={}", file.display());
                let to_stdout = format!("--report={name}=-");
                let (exit, text) = check(&[words[0], words[1], &to_file]);
                assert_eq!(exit, plain, "{name}");
                assert!(text.is_empty() || text.contains("entries:"), "{text}");
                assert!(file.exists(), "{name}");
                assert_eq!(check(&[words[0], words[1], &to_stdout]).0, plain, "{name}");
            }
        }
    }

    #[test]
    fn an_entry_that_is_not_there_does_not_keep_others_from_being_judged() {
        let (_, text) = check(&["missing", "good"]);
        assert!(text.contains("good"), "{text}");
        assert!(text.ends_with("2 entries: 1 accepted, 1 not judged\n"), "{text}");
        let (_, text) = check(&["missing", "good", "--format=json"]);
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["entries"].as_array().unwrap().len(), 1);
    }
}
