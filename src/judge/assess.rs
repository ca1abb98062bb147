//! The way of one entry to its verdict: bytes, waivers, probes, rules, waivers applied, games, verdict.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use tracing::{debug, trace};

use super::by_games;
use super::configured::{self, CommandParts};
use super::error::CheckError;
use super::games::before_games;
use super::host::{Host, HostFor};
use super::probe::{self, Gathered, ProbePlan, ProbeWaits};
use super::read::{ReadEntry, engine_of_file, engines_json_sha256};
use super::rules::{self, Case, Needed};
use super::support::runs::shown_run;
use super::waiver::Waiver;
use super::{Judge, Progress, waive};
use super::{mistaken_file, not_given, not_here};
use crate::model::entry_report::{EntryReport, Leftover, RunSummary, StartTimes};
use crate::model::evidence::{Capabilities, Evidence, GamesEvidence, Shell};
use crate::model::layer_status as status;
use crate::model::layer_status::{Layer, LayerName, LayerState};
use crate::model::rule::{RULES, RuleId};
use crate::model::text::{escape, shown};
use crate::model::verdict::{Finding, Verdict};
use crate::policy::toolchain::Toolchain;
use crate::sandbox::plan::SandboxError;
use crate::submission::Submission;

impl Judge {
    /// Judges one entry, with `jobs` probes beside each other.
    ///
    /// # Errors
    /// When there is nothing to judge or a setting is wrong. An entry that breaks rules is no error.
    pub fn assess(
        &self,
        path: &Path,
        jobs: NonZeroUsize,
        progress: Progress<'_>,
    ) -> Result<EntryReport, CheckError> {
        let report = self.judge(path, jobs, progress)?;
        let file = report.file.clone();
        Ok(report.naming(Some(&file)))
    }

    /// Judges a copy of what the report is about, which names that in its place.
    pub(crate) fn assess_copy(
        &self,
        copy: &Path,
        of: CopyOf<'_>,
        jobs: NonZeroUsize,
        progress: Progress<'_>,
    ) -> Result<EntryReport, CheckError> {
        let report = self.judge(copy, jobs, progress)?;
        let (path, file, entry) = match of {
            CopyOf::Source(source) => (source, source, None),
            CopyOf::Entry { path, file } => (path, file, Some(file)),
        };
        let report = EntryReport { path: path.to_owned(), file: file.to_owned(), ..report };
        Ok(report.naming(entry))
    }

    fn judge(
        &self,
        path: &Path,
        jobs: NonZeroUsize,
        progress: Progress<'_>,
    ) -> Result<EntryReport, CheckError> {
        let progress: Progress<'_> = &|step| {
            debug!(entry = %shown(path), "{}", escape(step.as_bytes(), 200));
            progress(step);
        };
        progress("reading");
        let (read, single) = self.read(path)?;
        let mut report =
            EntryReport { path: path.to_owned(), file: path.to_owned(), ..EntryReport::default() };
        report.circumstances.terms = self.settings.other_terms(&self.list_sha256);
        let mut findings = vec![single];
        if let Some(read) = read {
            let submission = &read.submission;
            report.file.clone_from(&submission.path);
            report.sha256.clone_from(&submission.sha256);
            report.size = Some(read.size);
            report.circumstances.engines_json_sha256 = engines_json_sha256(submission);
            report.circumstances.engine = engine_of_file(submission);
            findings.extend(read.findings.iter().cloned());
            let waivers = self.waivers(path, submission);
            if submission.is_whole() {
                waive::apply(&mut findings, &waivers, submission.sha256.as_deref());
                findings.extend(self.run(&read, &waivers, jobs, &mut report, progress));
                mistaken_file::keep_only_the_mistake(&mut findings, submission, &report.execs);
                let beside = CommandParts::of(submission).beside();
                not_given::leave_open(&mut findings, &read.payload, beside.as_deref());
                configured::tell(&mut findings, submission, &self.list);
                not_here::leave_open(&mut findings);
            } else {
                findings.extend(skipped_but(&findings, RuleId::Size));
                waive::apply(&mut findings, &waivers, submission.sha256.as_deref());
            }
        } else {
            findings.extend(skipped_but(&findings, RuleId::SingleFile));
            let waivers = self.settings.waivers.iter();
            let waivers: Vec<&Waiver> = waivers.filter(|one| one.is_about(path, path)).collect();
            waive::apply(&mut findings, &waivers, None);
        }
        findings.sort_by_key(|finding| finding.rule);
        report.verdict = Verdict::of(&findings);
        report.findings = findings;
        for found in &report.findings {
            trace!(rule = found.rule.name(), status = found.status.word(), "{}", found.summary);
        }
        debug!(entry = %shown(path), verdict = report.verdict.word(), "judged");
        Ok(report)
    }

    /// The waivers that are about an entry.
    pub(super) fn waivers(&self, path: &Path, submission: &Submission) -> Vec<&Waiver> {
        let waivers = self.settings.waivers.iter();
        waivers.filter(|waiver| waiver.is_about(path, &submission.path)).collect()
    }

    /// Runs the entry and judges what was seen; again, on the host as it is then, where an allowed program or library was
    /// replaced meanwhile and something did not hold.
    fn run(
        &self,
        read: &ReadEntry,
        waivers: &[&Waiver],
        jobs: NonZeroUsize,
        report: &mut EntryReport,
        progress: Progress<'_>,
    ) -> Vec<Finding> {
        progress("looking at the host");
        let mut all_replaced = BTreeSet::new();
        for _ in 0..TRIES {
            let host = self.host(HostFor::of(&read.submission, waivers));
            let mut findings = self.run_on(&host, read, waivers, jobs, report, progress);
            let replaced = host.tools.replaced();
            let is_new = !replaced.is_empty();
            all_replaced.extend(replaced);
            if !is_new || Verdict::of(&findings) == Verdict::Accepted {
                all_replaced.extend(self.replaced_list());
                note_replaced(&mut findings, &all_replaced);
                return findings;
            }
            progress("judging again: programs of this host were replaced meanwhile");
        }
        unconfined(
            &format!(
                "programs of this host were replaced each time that it was judged: {}",
                all_replaced.into_iter().collect::<Vec<_>>().join(", ")
            ),
            "judge it again when the upgrade of this host's packages is over",
        )
    }

    /// Runs the entry once, judges what was seen, and applies the waivers. Games follow from that: none are played for
    /// an entry that is rejected anyway.
    fn run_on(
        &self,
        host: &Host,
        read: &ReadEntry,
        waivers: &[&Waiver],
        jobs: NonZeroUsize,
        report: &mut EntryReport,
        progress: Progress<'_>,
    ) -> Vec<Finding> {
        let submission = &read.submission;
        let sha256 = submission.sha256.as_deref();
        report.layers.clone_from(&host.facts.layers);
        if !host.landlock {
            return unconfined(
                "this host has no Landlock that could confine it, so it was not started",
                NEEDS_LANDLOCK,
            );
        }
        let unmet = status::unmet(&self.settings.required, &host.facts.layers);
        if !unmet.is_empty() {
            return unconfined(
                &format!(
                    "it was not started, for want of what --require asks: {}",
                    unmet.join("; ")
                ),
                "run `gate4k doctor` for what this host lacks and how to get it, or judge the entry on \
                 another host",
            );
        }
        let plan = self.probe_plan(read, host, jobs);
        let Gathered { runs, capabilities, early } =
            match probe::gather(&*host.sandbox, &plan, progress) {
                Ok(gathered) => gathered,
                Err(error) => {
                    note_missing_layer(&mut report.layers, &error);
                    let step = next_step(&error, &host.facts.lowered_limits);
                    return unconfined(&error.to_string(), &step);
                }
            };
        progress("judging");
        let mut evidence = Evidence {
            runs,
            capabilities,
            games: GamesEvidence::NotYet,
            host: host.facts.clone(),
            limits: self.settings.limits,
            strict: self.settings.strict,
            quick: self.settings.quick,
        };
        let allowed: &Toolchain = &host.tools;
        let (needed, bytes) = (&read.format.needed, &submission.bytes);
        let mut findings = rules::judge_runs(&Case { evidence: &evidence, needed, allowed, bytes });
        waive::apply(&mut findings, waivers, sha256);
        let barred = before_games(&findings);
        if barred.is_none() {
            evidence.games = self.games(submission, &evidence, host, early, jobs, progress);
        }
        let case = Case { evidence: &evidence, needed, allowed, bytes };
        let rules_of_games = rules::needing(Needed::Games).map(|rule| match barred {
            Some(on) => Finding::skipped(rule.id, on),
            None => rule.finding(&case),
        });
        let mut games: Vec<Finding> = rules_of_games.collect();
        waive::apply(&mut games, waivers, sha256);
        findings.extend(games);
        by_games::judge(&mut findings, &case);
        // The games' own records count as those of the probes do.
        rules::open_unrecorded(&mut findings, &evidence);
        show(report, &evidence);
        findings
    }

    fn probe_plan(&self, read: &ReadEntry, host: &Host, jobs: NonZeroUsize) -> ProbePlan {
        let shells = [("dash", Shell::Dash), ("bash", Shell::Bash)];
        let sh = host.tools.shell("sh");
        ProbePlan {
            bytes: Arc::clone(&read.submission.bytes),
            own_name: read.submission.file_name.clone(),
            script_with_sh: read.format.is_for_sh(),
            shells_available: shells
                .into_iter()
                .filter(|(name, _)| host.tools.shell(name).is_some())
                .map(|(_, shell)| shell)
                .collect(),
            host_sh: shells
                .into_iter()
                .find(|(name, _)| sh.is_some() && host.tools.shell(name) == sh)
                .map(|(_, shell)| shell),
            options: read.submission.options(),
            quick: self.settings.quick,
            jobs: jobs.get(),
            limits: self.settings.limits,
            waits: ProbeWaits::default(),
        }
    }
}

/// The file that a copy was made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CopyOf<'a> {
    /// A source, which the copy has packed.
    Source(&'a Path),
    /// An entry, by its path and its file.
    Entry { path: &'a Path, file: &'a Path },
}

/// The most times that an entry is judged where programs of the host are replaced each time.
const TRIES: usize = 3;

/// Puts into the report what it shows of the runs.
fn show(report: &mut EntryReport, evidence: &Evidence) {
    report.runs = evidence.runs.iter().map(RunSummary::from).collect();
    if let GamesEvidence::Played(played) = &evidence.games {
        report.games = played.games.clone();
    }
    report.capabilities = Some(Capabilities::clone(&evidence.capabilities));
    let Some(main) = shown_run(&evidence.runs) else { return };
    report.startup = StartTimes { uciok: main.uciok, readyok: main.readyok };
    report.execs.clone_from(&main.execs);
    report.transcript = main.transcript.lines();
    report.leftovers = main
        .left_files
        .iter()
        .cloned()
        .map(Leftover::File)
        .chain(main.left_processes.iter().cloned().map(Leftover::Process))
        .collect();
}

/// Every rule that has no finding yet, as skipped because of `on`.
fn skipped_but(findings: &[Finding], on: RuleId) -> Vec<Finding> {
    RULES
        .iter()
        .filter(|rule| findings.iter().all(|finding| finding.rule != rule.id))
        .map(|rule| Finding::skipped(rule.id, on))
        .collect()
}

/// The next step where the kernel is too old.
const NEEDS_LANDLOCK: &str =
    "judge it on a host whose kernel confines it: Linux 6.2 or newer with Landlock";

/// The next step where the sandbox could not be built: of the resources of a host, its limits and its disk are not its kernel.
/// One that ends the first process by a signal has no error of its own, so whichever limit is low (`lowered`) is named.
fn next_step(error: &SandboxError, lowered: &[String]) -> String {
    let errno = match error {
        SandboxError::Setup { source, .. } => source.raw_os_error(),
        SandboxError::Missing { .. } => None,
    };
    let step = match errno {
        Some(libc::EMFILE) => "let gate4k open more files (`ulimit -n 4096`), and check again",
        Some(libc::ENFILE) => {
            "this machine has as many files open as it may (fs.file-max): check again with fewer --jobs, or when it has less to do"
        }
        Some(libc::EAGAIN | libc::ENOMEM) => {
            "this machine, or its user (`ulimit -u`), has no room for another process: check again with fewer --jobs, or when it \
             has less to do"
        }
        Some(libc::ENOSPC | libc::EDQUOT) => {
            "make room on the disk that TMPDIR lies on, and check again"
        }
        _ if !lowered.is_empty() => {
            return format!(
                "raise the limits of gate4k itself, which are lower here than they should be (`ulimit`): {}; and check again",
                lowered.join(", ")
            );
        }
        _ => NEEDS_LANDLOCK,
    };
    step.to_owned()
}

/// The findings of an entry that was not run for want of a sandbox: nobody's fault, and nothing decided.
fn unconfined(why: &str, help: &str) -> Vec<Finding> {
    rules::JUDGED
        .iter()
        .map(|rule| {
            if rule.id == RuleId::Startup {
                Finding::undecided(rule.id, why).help(help)
            } else {
                Finding::skipped(rule.id, RuleId::Startup)
            }
        })
        .collect()
}

/// Tells of allowed programs that the host replaced while the entry was judged.
fn note_replaced(findings: &mut [Finding], names: &BTreeSet<String>) {
    let commands = findings.iter_mut().find(|finding| finding.rule == RuleId::Commands);
    if let Some(found) = commands.filter(|_| !names.is_empty()) {
        let names = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        found.details.push(format!("replaced on this host while the entry ran: {names}"));
        found.evidence.insert("replaced".into(), names.into());
    }
}

fn note_missing_layer(layers: &mut [Layer], error: &SandboxError) {
    if let SandboxError::Missing { what, .. } = error
        && let Some(layer) = layers.iter_mut().find(|layer| layer.name == LayerName::ExecReporter)
    {
        layer.state = LayerState::Absent;
        layer.reason.clone_from(what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::verdict::Status;

    #[test]
    fn a_limit_of_the_host_is_not_taken_for_its_kernel() {
        let failed = |errno| SandboxError::Setup {
            step: "making a pipe",
            path: None,
            source: std::io::Error::from_raw_os_error(errno),
        };
        assert!(next_step(&failed(libc::EMFILE), &[]).contains("ulimit -n"));
        assert!(next_step(&failed(libc::ENOSPC), &[]).contains("TMPDIR"));
        assert_eq!(next_step(&failed(libc::ENOSYS), &[]), NEEDS_LANDLOCK);
        // The first process was ended by it (SIGXFSZ), and nothing more is heard of that.
        let ended = SandboxError::Setup {
            step: "hearing from the first process",
            path: None,
            source: std::io::ErrorKind::UnexpectedEof.into(),
        };
        let step = next_step(&ended, &["file size 512 bytes in place of 1 GiB".to_owned()]);
        assert!(step.contains("file size 512 bytes") && !step.contains("Landlock"), "{step}");
        assert_eq!(next_step(&ended, &[]), NEEDS_LANDLOCK);
    }

    #[test]
    fn without_a_sandbox_nothing_is_accepted_and_nothing_rejected() {
        let findings = unconfined("no Landlock", NEEDS_LANDLOCK);
        assert_eq!(Verdict::of(&findings), Verdict::Undecided);
        assert_eq!(findings.iter().filter(|f| f.status == Status::Undecided).count(), 1);
    }

    #[test]
    fn an_entry_that_is_no_file_has_a_finding_for_every_rule() {
        let folder = tempfile::tempdir().unwrap();
        let judge = Judge::open(crate::judge::settings::Settings::default()).unwrap();
        for name in ["one", "other"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        let report = judge.assess(folder.path(), NonZeroUsize::MIN, &|_| {}).unwrap();
        assert_eq!(report.findings.len(), RULES.len());
        assert_eq!((report.verdict, report.size.is_none()), (Verdict::Rejected, true));
    }
}
