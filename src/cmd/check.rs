//! `gate4k check`: entries through the gate, one after the other.
//!
//! Entries are not judged beside each other, because start-up and clock must be measured alone.

use std::cell::OnceCell;
use std::io::Write;
use std::path::Path;

use super::progress::ProgressLine;
use super::reports::Reports;
use super::surroundings::Surroundings;
use super::{confinement, settings, tell};
use crate::cli::CheckArgs;
use crate::error::{CheckError, Exit, shown};
use crate::gate::{Gate, Progress, Settings};
use crate::report::EntryReport;

/// Judges and prints; the outcome is the worst of all entries.
pub(crate) fn run(args: &CheckArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let gate = OnceCell::new();
    run_with(args, out, Surroundings::here(), &|path, settings, progress| {
        opened(&gate, settings)?.check(path, progress)
    })
}

/// The gate, opened by the first entry.
fn opened<'a>(gate: &'a OnceCell<Gate>, settings: &Settings) -> Result<&'a Gate, CheckError> {
    if let Some(gate) = gate.get() {
        return Ok(gate);
    }
    let opened = Gate::open(settings.clone())?;
    Ok(gate.get_or_init(|| opened))
}

/// As [`run`], with the judge as a parameter so that tests need no engine.
fn run_with(
    args: &CheckArgs,
    out: &mut impl Write,
    surroundings: Surroundings,
    judge: &dyn Fn(&Path, &Settings, Progress<'_>) -> Result<EntryReport, CheckError>,
) -> anyhow::Result<Exit> {
    let mut settings = Settings {
        limits: args.limits(),
        strict: args.strict,
        quick: args.quick,
        games: args.games.unwrap_or_default(),
        games_limit: args.match_limit,
        ..confinement(settings(&args.entry), &args.confine)
    };
    if let Some(jobs) = args.jobs {
        settings.jobs = jobs;
    }
    // Before anything is judged: a path that cannot be written to should not cost minutes.
    let outputs = Reports::open(args, surroundings)?;
    let line = ProgressLine::new(args.quiet);
    let mut reports = Vec::new();
    let mut outcomes = Vec::new();
    for path in &args.entry.entries {
        let name = shown(path);
        let judged = judge(path, &settings, &|step| line.step(&name, step));
        line.clear();
        match judged {
            Ok(report) => {
                outcomes.push(report.verdict.into());
                outputs.entry(&report, out)?;
                reports.push(report);
            }
            Err(error) => {
                tell(&error.to_string());
                outcomes.push(error.exit());
                if error.ends_all() {
                    break;
                }
            }
        }
    }
    outputs.finish(&reports, args.entry.entries.len(), out)?;
    Ok(Exit::worst(outcomes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command, ReportFormat};
    use crate::report::tests::report;
    use crate::verdict::Verdict;
    use clap::{Parser, ValueEnum};

    /// Judges by the name alone.
    fn judge(path: &Path, _: &Settings, _: Progress<'_>) -> Result<EntryReport, CheckError> {
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
        let Command::Check(args) = cli.command else {
            panic!("not check");
        };
        let mut out = Vec::new();
        let exit = run_with(&args, &mut out, Surroundings::default(), &judge).unwrap();
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
                let name = format.to_possible_value().unwrap().get_name().to_owned();
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
