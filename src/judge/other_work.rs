//! Other work on the host while an entry is judged.
//!
//! Where other programs take the processors, a sound entry misses limits. Such a failure is not held against it: it is
//! judged again once the host is quiet, and the finding stays open where the host never is. The kernel's pressure
//! figures (PSI) were rejected as the measure, since they count the judge's own probes as well.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use super::error::CheckError;
use super::rules::{self, CausedByLoad};
use super::support::excuse;
use crate::model::entry_report::{EntryReport, RunSummary};
use crate::model::evidence::{EndHow, ExitHow, Purpose, Shell};
use crate::model::rule::RuleKind;
use crate::model::text::shown;
use crate::model::verdict::{Finding, Status, Verdict};

/// A time shorter than this says nothing, since the kernel counts in hundredths of a second.
const LEAST: Duration = Duration::from_millis(500);
/// The host is looked at for so long to see whether it is quiet,
const LOOK: Duration = Duration::from_secs(2);
/// again and again for so long,
const WAIT: Duration = Duration::from_secs(60);
/// and an entry is judged again at most so often.
const AGAIN: usize = 2;

/// Processors that other work took, of all that the host has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OtherWork {
    taken: f64,
    processors: f64,
}

impl OtherWork {
    /// True if half of the host or more was taken: then a single thread may have had to wait.
    fn is_much(self) -> bool {
        self.taken * 2.0 >= self.processors
    }
}

/// A host that can be measured; a trait so that tests have one that is as busy as they say.
trait MeasuredHost {
    /// Begins to measure.
    fn begin(&mut self);
    /// The other work since then; none where that cannot be told.
    fn since(&mut self) -> Option<OtherWork>;
    /// Waits until the host is quiet, with nothing of the entry left.
    fn wait(&mut self) -> Quiet;
}

/// The time that a host took to become quiet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quiet {
    AtOnce,
    Later,
    Never,
}

/// Judges, and judges again where other work on the host may have caused what failed.
///
/// # Errors
/// As `judge`.
pub(crate) fn judged_when_quiet(
    mut judge: impl FnMut() -> Result<EntryReport, CheckError>,
    waits: impl Fn(),
) -> Result<EntryReport, CheckError> {
    if is_busy_always()? {
        return judge();
    }
    judged_on(&mut ThisHost::default(), judge, waits)
}

/// The variable of the environment by which whoever runs gate4k says that the host is busy all the time, and that a
/// failure counts all the same: `GATE4K_ON_BUSY_HOST=judge-once`.
const ON_BUSY_HOST: &str = "GATE4K_ON_BUSY_HOST";

fn is_busy_always() -> Result<bool, CheckError> {
    match std::env::var_os(ON_BUSY_HOST) {
        None => Ok(false),
        Some(value) if value == "judge-again" => Ok(false),
        Some(value) if value == "judge-once" => Ok(true),
        Some(value) => {
            let value = shown(Path::new(&value));
            let what = format!("{ON_BUSY_HOST}={value}: write judge-again or judge-once");
            Err(CheckError::Configuration(what.into()))
        }
    }
}

fn judged_on(
    host: &mut impl MeasuredHost,
    mut judge: impl FnMut() -> Result<EntryReport, CheckError>,
    waits: impl Fn(),
) -> Result<EntryReport, CheckError> {
    let mut times = 0;
    let mut always_at_once = true;
    let mut ends_before = None;
    loop {
        host.begin();
        let mut report = judge()?;
        let work = host.since().filter(|work| work.is_much());
        let Some(work) = work.filter(|_| may_be_caused_by_load(&report)) else {
            return Ok(report);
        };
        if let Some(ends) = ends_by_itself(&report) {
            let before = ends_before.replace(ends);
            if before == ends_before {
                return Ok(report);
            }
            if before.is_none() {
                // An entry that races against a sleep of its own loses alike on a host that stays busy.
                waits();
                host.wait();
                continue;
            }
        }
        waits();
        let quiet = host.wait();
        always_at_once &= quiet == Quiet::AtOnce;
        if times == AGAIN || quiet == Quiet::Never {
            // Work that begins with the entry and ends with it, each time, is its own: processes that nobody waits for
            // are in no account of ours.
            if !always_at_once {
                leave_open(&mut report, work);
            }
            return Ok(report);
        }
        times += 1;
    }
}

/// True if an entry missed something that it might have reached on a quiet host, and nothing else speaks against it.
pub(crate) fn may_be_caused_by_load(report: &EntryReport) -> bool {
    let gates = || report.findings.iter().filter(|found| found.rule.rule().kind == RuleKind::Gate);
    report.circumstances.judged.is_none()
        && report.verdict != Verdict::Accepted
        && !report.runs.is_empty()
        && !gates().any(|found| found.status == Status::Fail && fails_at_any_speed(found, report))
        && !never_started(report)
}

/// A start that ended by itself: why it was started, by which shell, and how it ended.
type OwnEnd = (Purpose, Shell, Option<ExitHow>);

/// The starts that ended by themselves before the first `readyok`, where nothing else may have been caused by load: a
/// program that does not compile ends alike each time.
fn ends_by_itself(report: &EntryReport) -> Option<Vec<OwnEnd>> {
    // By a status that a program or an interpreter chose; a signal, or a program that is not there, may come of a race.
    let by_itself = |run: &RunSummary| {
        run.startup.readyok.is_none()
            && run.ending.how == EndHow::ByItself
            && matches!(run.ending.exit, Some(ExitHow::Status(status)) if status < 126)
    };
    let strained = || report.runs.iter().filter(|run| run.strained);
    (strained().count() > 0 && strained().all(by_itself))
        .then(|| strained().map(|run| (run.purpose, run.shell, run.ending.exit)).collect())
}

/// True if the entry never came up, by no way of starting it, for what a faster host would not change.
fn never_started(report: &EntryReport) -> bool {
    report.runs.iter().all(|run| run.startup.readyok.is_none() && !run.strained)
}

/// True if a failure cannot be the fault of a slow host.
fn fails_at_any_speed(found: &Finding, report: &EntryReport) -> bool {
    if excuse::is_over_limit(found) {
        return true;
    }
    match rules::caused_by_load(found.rule) {
        CausedByLoad::Never => true,
        CausedByLoad::IfStrained => {
            !report.runs.iter().any(|run| run.purpose.can_reject() && run.strained)
        }
        CausedByLoad::Possibly => false,
    }
}

/// Takes back what was held against the entry while the host was busy.
fn leave_open(report: &mut EntryReport, work: OtherWork) {
    let OtherWork { taken, processors } = work;
    for found in &mut report.findings {
        if found.status == Status::Fail && found.rule.rule().kind == RuleKind::Gate {
            found.status = Status::Undecided;
            let busy = format!(
                "the host was too busy to tell (other work took {taken:.1} of its {processors:.0} processors): "
            );
            found.summary.insert_str(0, &busy);
            let quiet = "judge it again on a host where little else runs; `uptime` shows its load";
            found.help = match &*found.help {
                "" => quiet.to_owned(),
                help => format!("{quiet}; if it fails there as well: {help}"),
            };
        }
    }
    report.verdict = Verdict::of(&report.findings);
}

/// The host that this process runs on.
#[derive(Default)]
struct ThisHost {
    begun: Option<Reading>,
}

impl MeasuredHost for ThisHost {
    fn begin(&mut self) {
        self.begun = Reading::now();
    }

    fn since(&mut self) -> Option<OtherWork> {
        self.begun.take()?.until(&Reading::now()?)
    }

    fn wait(&mut self) -> Quiet {
        let until = Instant::now() + WAIT;
        let mut quiet = Quiet::AtOnce;
        while Instant::now() < until {
            self.begin();
            thread::sleep(LOOK);
            if self.since().is_none_or(|work| !work.is_much()) {
                return quiet;
            }
            quiet = Quiet::Later;
        }
        Quiet::Never
    }
}

/// Times of the host and of ourselves at one moment.
struct Reading {
    at: Instant,
    /// The processor time of all, and what the hypervisor took.
    all: Duration,
    /// The time of this process and of all that it has started and waited for: when an entry was judged, no process
    /// of it is left.
    ours: Duration,
    processors: usize,
}

impl Reading {
    fn now() -> Option<Reading> {
        let stat = fs::read_to_string("/proc/stat").ok()?;
        let (all, processors) = busy(&stat)?;
        let own = |who| {
            let usage = getrusage(who).ok()?;
            let time = usage.user_time() + usage.system_time();
            u64::try_from(time.num_microseconds()).ok().map(Duration::from_micros)
        };
        let ours = own(UsageWho::RUSAGE_SELF)? + own(UsageWho::RUSAGE_CHILDREN)?;
        Some(Reading { at: Instant::now(), all, ours, processors })
    }

    fn until(&self, end: &Reading) -> Option<OtherWork> {
        let lasted = end.at.saturating_duration_since(self.at);
        if lasted < LEAST {
            return None;
        }
        let others =
            end.all.saturating_sub(self.all).saturating_sub(end.ours.saturating_sub(self.ours));
        Some(OtherWork {
            taken: others.as_secs_f64() / lasted.as_secs_f64(),
            processors: end.processors as f64,
        })
    }
}

/// The time that the processors were taken, and their number, from /proc/stat (proc(5)): user, nice, system, irq,
/// softirq and steal in hundredths of a second; guests are in user and nice already.
fn busy(stat: &str) -> Option<(Duration, usize)> {
    let mut lines = stat.lines();
    let fields: Vec<u64> = lines
        .next()?
        .strip_prefix("cpu ")?
        .split_whitespace()
        .map_while(|f| f.parse().ok())
        .collect();
    let ticks: u64 = [0, 1, 2, 5, 6, 7].iter().filter_map(|field| fields.get(*field)).sum();
    let processors = lines.take_while(|line| line.starts_with("cpu")).count();
    (processors > 0).then(|| (Duration::from_millis(ticks * 10), processors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::tests::report;
    use crate::model::rule::RuleId;
    use std::cell::Cell;

    /// A host that is as busy as the list says, one item a judgement, and becomes quiet or not.
    struct Played {
        taken: Vec<f64>,
        becomes: Quiet,
    }

    impl MeasuredHost for Played {
        fn begin(&mut self) {}

        fn since(&mut self) -> Option<OtherWork> {
            let taken = (!self.taken.is_empty()).then(|| self.taken.remove(0))?;
            Some(OtherWork { taken, processors: 4.0 })
        }

        fn wait(&mut self) -> Quiet {
            self.becomes
        }
    }

    fn with(findings: Vec<Finding>) -> EntryReport {
        let verdict = Verdict::of(&findings);
        let mut report = EntryReport { findings, verdict, ..report() };
        for run in &mut report.runs {
            run.startup.readyok = Some(Duration::from_secs(1));
            run.strained = true;
        }
        report
    }

    /// The report in the end, and how often the entry was judged; it is slow as often as `slow` says.
    fn judged(taken: &[f64], becomes: Quiet, rule: RuleId, slow: usize) -> (EntryReport, usize) {
        let times = Cell::new(0);
        let mut host = Played { taken: taken.to_vec(), becomes };
        let judge = || {
            times.set(times.get() + 1);
            Ok(with(vec![if times.get() <= slow {
                Finding::fail(rule, "no answer within 60 s").help("answer")
            } else {
                Finding::pass(rule, "in time")
            }]))
        };
        (judged_on(&mut host, judge, || {}).unwrap(), times.get())
    }

    #[test]
    fn a_failure_on_a_busy_host_is_judged_again_when_it_is_quiet() {
        let (report, times) = judged(&[3.0, 0.0], Quiet::Later, RuleId::Startup, 1);
        assert_eq!((report.verdict, times), (Verdict::Accepted, 2));
        let (report, times) = judged(&[3.0, 0.0], Quiet::AtOnce, RuleId::Startup, 9);
        assert_eq!(
            (report.verdict, times),
            (Verdict::Rejected, 2),
            "it fails on a quiet host, too"
        );
    }

    #[test]
    fn a_failure_on_a_host_that_is_never_quiet_stays_open_with_the_figures() {
        for (taken, becomes, expected) in
            [(vec![3.0], Quiet::Never, 1), (vec![3.0; 9], Quiet::Later, AGAIN + 1)]
        {
            let (report, times) = judged(&taken, becomes, RuleId::Startup, 99);
            assert_eq!((report.verdict, times), (Verdict::Undecided, expected));
            let found = &report.findings[0];
            assert!(found.summary.contains("no answer within 60 s"), "{found:?}");
            assert!(found.summary.contains("3.0 of its 4 processors"), "{found:?}");
            assert!(found.help.contains("judge it again"), "{found:?}");
        }
    }

    #[test]
    fn no_host_excuses_what_time_cannot_have_caused() {
        let (report, times) = judged(&[4.0], Quiet::Never, RuleId::Commands, 9);
        assert_eq!((report.verdict, times), (Verdict::Rejected, 1));
        let (report, times) = judged(&[1.9], Quiet::Never, RuleId::Startup, 9);
        assert_eq!((report.verdict, times), (Verdict::Rejected, 1), "more than half was ours");
        let (report, times) = judged(&[], Quiet::Never, RuleId::Startup, 9);
        assert_eq!((report.verdict, times), (Verdict::Rejected, 1), "nothing could be measured");
    }

    #[test]
    fn no_host_excuses_an_entry_that_used_more_memory_than_the_event_allows() {
        let mut host = Played { taken: vec![4.0], becomes: Quiet::Never };
        let over = Finding::fail(RuleId::Startup, "killed")
            .with("host", serde_json::json!({"memory_limit": 2 << 20, "used": 4 << 20}));
        let report = judged_on(&mut host, || Ok(with(vec![over.clone()])), || {}).unwrap();
        assert_eq!(report.verdict, Verdict::Rejected);
    }

    #[test]
    fn an_entry_that_ends_alike_each_time_needs_no_quiet_host() {
        let exit = |status| {
            let mut report = with(vec![Finding::fail(RuleId::Startup, "it ended")]);
            for run in &mut report.runs {
                run.startup.readyok = None;
                run.ending.how = EndHow::ByItself;
                run.ending.exit = Some(ExitHow::Status(status));
            }
            report
        };
        let judged = |statuses: &[i32]| {
            let mut left = statuses.iter();
            let mut host = Played { taken: vec![4.0; 9], becomes: Quiet::Never };
            let judge = || Ok(left.next().map_or_else(|| with(Vec::new()), |s| exit(*s)));
            let report = judged_on(&mut host, judge, || {}).unwrap();
            (report.verdict, left.len())
        };
        assert_eq!(judged(&[1, 1, 1]), (Verdict::Rejected, 1), "twice is enough");
        assert_eq!(judged(&[1, 2, 1]), (Verdict::Undecided, 1), "not alike, and never quiet");
    }

    #[test]
    fn work_that_comes_and_goes_with_the_entry_excuses_nothing() {
        let (report, times) = judged(&[3.0; 9], Quiet::AtOnce, RuleId::Startup, 99);
        assert_eq!((report.verdict, times), (Verdict::Rejected, AGAIN + 1));
    }

    #[test]
    fn the_kernels_figures_are_read_without_guests_and_waits() {
        let stat = "cpu  100 10 50 9000 700 3 4 5 60 7\ncpu0 1 1\ncpu1 1 1\nintr 5 cpu\n";
        assert_eq!(busy(stat), Some((Duration::from_millis(1720), 2)));
        assert_eq!(busy("intr 5\n"), None);
    }

    #[test]
    fn our_own_work_is_not_other_work() {
        let reading = |seconds: u64, all: u64, ours: u64, at: Instant| Reading {
            at: at + Duration::from_secs(seconds),
            all: Duration::from_secs(all),
            ours: Duration::from_secs(ours),
            processors: 4,
        };
        let now = Instant::now();
        let since = reading(0, 100, 7, now).until(&reading(10, 140, 27, now));
        assert_eq!(since, Some(OtherWork { taken: 2.0, processors: 4.0 }));
        assert_eq!(reading(0, 0, 0, now).until(&reading(0, 9, 0, now)), None);
    }
}
