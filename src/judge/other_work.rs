//! Other work on the host while an entry is judged.
//!
//! Where other programs take the processors, a sound entry misses limits. Such a failure is not held against it: it is
//! judged again once the host is quiet, and the finding stays open where the host never is. The kernel's pressure
//! figures (PSI) were rejected as the measure, since they count the judge's own probes as well.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::error::CheckError;
use super::host_load::{HeldBack, HostLoad, Measurement, STRETCH};
use super::rules::{self, CausedByLoad};
use super::support::{came_again, excuse, wording};
use crate::model::entry_report::{EntryReport, RunSummary};
use crate::model::evidence::{
    AskedAgain, EndHow, ExitHow, GameEnd, GameFault, PartOfTime, PlayedGame,
};
use crate::model::rule::RuleId;
use crate::model::text::shown;
use crate::model::verdict::{Finding, Status, Verdict};

/// The length of one measurement of the host's load while a quiet host is waited for.
const LOOK: Duration = Duration::from_secs(2);
/// The longest wait for a quiet host.
const WAIT: Duration = Duration::from_secs(60);
/// The most times that an entry is judged again because other work disturbed it.
const AGAIN: usize = 2;

/// A host that can be measured; a trait so that tests have one that is as busy as they say.
trait MeasuredHost {
    /// Begins to measure.
    fn begin(&mut self);
    /// The most other work in any stretch since then; none where that cannot be told.
    fn since(&mut self) -> Option<HostLoad>;
    /// Waits until the host is quiet, with nothing of the entry left.
    fn wait(&mut self) -> Quiet;
}

/// The outcome of waiting for a host to become quiet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quiet {
    ByNow,
    Never,
}

/// Judges, and judges again where other work on the host may have caused what failed.
pub(crate) fn judged_when_quiet(
    mut judge: impl FnMut() -> Result<EntryReport, CheckError>,
    waits: impl Fn(),
) -> Result<EntryReport, CheckError> {
    if is_busy_always()? {
        let measurement = Measurement::begin();
        let mut report = judge()?;
        if let Some(work) = measurement.worst().filter(|work| work.is_much()) {
            note_late_moves(&mut report, work);
        }
        return Ok(report);
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
    loop {
        host.begin();
        let mut report = judge()?;
        let Some(work) = host.since().filter(|work| work.is_much()) else {
            return Ok(report);
        };
        note_late_moves(&mut report, work);
        if !may_be_caused_by_load(&report) {
            return Ok(report);
        }
        if times < AGAIN && work.held_back().is_none() {
            waits();
        }
        // What its control group is granted stays as it is.
        if times == AGAIN || work.held_back().is_some() || host.wait() == Quiet::Never {
            leave_open(&mut report, work);
            return Ok(report);
        }
        times += 1;
    }
}

/// True if an entry missed something that it might have reached on a quiet host, and nothing else speaks against it.
pub(crate) fn may_be_caused_by_load(report: &EntryReport) -> bool {
    let gates = || report.findings.iter().filter(|found| found.rule.is_gate());
    // What is open for the bytes alone is as open on a quiet host.
    let depends_on_load = |found: &Finding| {
        matches!(found.status, Status::Fail | Status::Undecided)
            && rules::caused_by_load(found.rule) != CausedByLoad::Never
    };
    gates().any(depends_on_load)
        && report.circumstances.judged.is_none()
        && report.verdict != Verdict::Accepted
        && !report.runs.is_empty()
        && !gates().any(|found| found.status == Status::Fail && fails_at_any_speed(found, report))
        && !never_started(report)
}

/// True if the entry never came up, by no way of starting it, for what a faster host would not change.
fn never_started(report: &EntryReport) -> bool {
    let alone = is_alone(report);
    report.runs.iter().all(|run| run.startup.readyok.is_none() && (alone || !run.strained))
}

/// True if it was one program alone that ended by itself each time, with one and the same status: it raced against nothing, and was asked
/// for nothing that takes time. (One that starts others may race against them.)
fn is_alone(report: &EntryReport) -> bool {
    let status = |run: &RunSummary| match (run.ending.how, run.ending.exit) {
        (EndHow::ByItself, Some(ExitHow::Status(status))) if status != 0 => Some(status),
        _ => None,
    };
    let first = report.runs.first().and_then(status);
    first.is_some()
        && report.runs.iter().all(|run| status(run) == first)
        && report.execs.iter().all(|exec| exec.by.is_none())
}

/// True if a failure cannot be the fault of a slow host.
fn fails_at_any_speed(found: &Finding, report: &EntryReport) -> bool {
    if excuse::is_over_limit(found) || came_again::is_noted(found) {
        return true;
    }
    match rules::caused_by_load(found.rule) {
        CausedByLoad::Never => true,
        CausedByLoad::IfStrained => {
            !report.runs.iter().any(|run| run.purpose.can_reject() && run.strained)
        }
        CausedByLoad::Possibly => {
            let sure = |game: &PlayedGame| is_misspelt(game) || came_again(game);
            found.rule == RuleId::Match && report.games.iter().any(sure)
        }
    }
}

/// True if a game ended by a move that is written in another way than UCI's.
fn is_misspelt(game: &PlayedGame) -> bool {
    matches!(&game.end, GameEnd::Fault(GameFault::Illegal { why, .. }) if why.is_a_way_of_writing())
}

/// True if the fault of a game came again on every clock, in a way in which time has no part.
fn came_again(game: &PlayedGame) -> bool {
    let proved = |again: &AskedAgain| again.held.is_none() && again.time == PartOfTime::None;
    game.is_fault() && game.again.as_ref().is_some_and(proved)
}

/// Says of moves that came after the clock that the host's load may be the reason.
fn note_late_moves(report: &mut EntryReport, work: HostLoad) {
    let is_late = |found: &&mut Finding| {
        let late = found.evidence.get("late").and_then(|late| late.as_array());
        found.rule == RuleId::Match
            && found.status == Status::Advice
            && late.is_some_and(|late| !late.is_empty())
    };
    for found in report.findings.iter_mut().filter(is_late) {
        let busy = busy_words(work);
        found.summary +=
            &format!("; the host was busy meanwhile ({busy}), which may be the reason");
        found.help = format!(
            "judge it again on a host where little else runs (`uptime` shows its load); if moves are late there as well: {}",
            found.help
        );
    }
}

/// The load in words: `other work took 3.2 of its 4 processors from 20.0 to 23.0 s after the check began`.
fn busy_words(work: HostLoad) -> String {
    if let Some(HeldBack { granted, withheld }) = work.held_back() {
        return format!(
            "the control group of gate4k may use {granted:.2} of a processor, and {withheld:.2} were withheld from it for {} or more",
            wording::secs(STRETCH)
        );
    }
    if !work.takes_half() {
        return format!("gate4k itself waited for a processor for {}", wording::secs(work.late));
    }
    let HostLoad { taken, processors, from, until, .. } = work;
    let (from, until) = (from.as_secs_f64(), until.as_secs_f64());
    format!(
        "other work took {taken:.1} of its {processors:.0} processors from {from:.1} to {until:.1} s after the check began"
    )
}

/// Takes back what was held against the entry while the host was busy.
fn leave_open(report: &mut EntryReport, work: HostLoad) {
    for found in &mut report.findings {
        if found.status == Status::Fail && found.rule.is_gate() {
            found.status = Status::Undecided;
            let busy = format!("the host was too busy to tell ({}): ", busy_words(work));
            found.summary.insert_str(0, &busy);
            let quiet = if work.held_back().is_some() {
                "judge it again where gate4k has a whole processor or more (`docker run --cpus`, `limits.cpu` of Kubernetes, `CPUQuota` of systemd)"
            } else {
                "judge it again on a host where little else runs; `uptime` shows its load"
            };
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
struct ThisHost(Option<Measurement>);

impl MeasuredHost for ThisHost {
    fn begin(&mut self) {
        self.0 = Some(Measurement::begin());
    }

    fn since(&mut self) -> Option<HostLoad> {
        self.0.take()?.worst()
    }

    fn wait(&mut self) -> Quiet {
        let until = Instant::now() + WAIT;
        while Instant::now() < until {
            self.begin();
            thread::sleep(LOOK);
            if self.since().is_none_or(|work| !work.is_much()) {
                return Quiet::ByNow;
            }
        }
        Quiet::Never
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::model::entry_report::tests::report;
    use crate::model::evidence::{Rival, WhyIllegal};
    use std::cell::Cell;

    /// A host that is as busy as the list says, one item a judgement, and becomes quiet or not.
    struct Played {
        taken: Vec<f64>,
        becomes: Quiet,
    }

    impl MeasuredHost for Played {
        fn begin(&mut self) {}

        fn since(&mut self) -> Option<HostLoad> {
            let taken = (!self.taken.is_empty()).then(|| self.taken.remove(0))?;
            let (from, until) = (Duration::from_secs(20), Duration::from_secs(23));
            let late = Duration::ZERO;
            Some(HostLoad { taken, processors: 4.0, from, until, late, held_back: None })
        }

        fn wait(&mut self) -> Quiet {
            self.becomes
        }
    }

    /// A host that keeps the judge waiting for as many milliseconds as the list says, one item a judgement.
    struct LateHost(Vec<u64>);

    impl MeasuredHost for LateHost {
        fn begin(&mut self) {}

        fn since(&mut self) -> Option<HostLoad> {
            let late = Duration::from_millis(self.0.remove(0));
            let (from, until) = (Duration::ZERO, Duration::from_secs(3));
            let held_back = None;
            Some(HostLoad { taken: 0.1, processors: 4.0, from, until, late, held_back })
        }

        fn wait(&mut self) -> Quiet {
            Quiet::ByNow
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
        let (report, times) = judged(&[3.0, 0.0], Quiet::ByNow, RuleId::Startup, 1);
        assert_eq!((report.verdict, times), (Verdict::Accepted, 2));
        let (report, times) = judged(&[3.0, 0.0], Quiet::ByNow, RuleId::Startup, 9);
        assert_eq!(
            (report.verdict, times),
            (Verdict::Rejected, 2),
            "it fails on a quiet host, too"
        );
    }

    #[test]
    fn a_failure_on_a_host_that_is_never_quiet_stays_open_with_the_figures() {
        for (taken, becomes, expected) in
            [(vec![3.0], Quiet::Never, 1), (vec![3.0; 9], Quiet::ByNow, AGAIN + 1)]
        {
            let (report, times) = judged(&taken, becomes, RuleId::Startup, 99);
            assert_eq!((report.verdict, times), (Verdict::Undecided, expected));
            let found = &report.findings[0];
            assert!(found.summary.contains("no answer within 60 s"), "{found:?}");
            assert!(
                found.summary.contains("3.0 of its 4 processors from 20.0 to 23.0 s after"),
                "{found:?}"
            );
            assert!(found.help.contains("judge it again"), "{found:?}");
        }
    }

    /// A virtual machine that was stopped for a while, or got no processor without being told so.
    #[test]
    fn a_failure_while_gate4k_itself_had_to_wait_is_judged_again() {
        let mut host = LateHost(vec![2_100, 700, 3]);
        let times = Cell::new(0);
        let judge = || {
            times.set(times.get() + 1);
            Ok(with(vec![Finding::fail(RuleId::UciQuit, "it does not end").help("end")]))
        };
        let report = judged_on(&mut host, judge, || {}).unwrap();
        assert_eq!((report.verdict, times.get()), (Verdict::Rejected, 3), "the third was calm");
        let mut host = LateHost(vec![2_100; 9]);
        let judge = || Ok(with(vec![Finding::fail(RuleId::UciQuit, "it does not end")]));
        let report = judged_on(&mut host, judge, || {}).unwrap();
        assert_eq!(report.verdict, Verdict::Undecided);
        let told = &report.findings[0].summary;
        assert!(told.contains("(gate4k itself waited for a processor for 2.10 s)"), "{told}");
    }

    /// In a container with half of a processor nothing is gained by another try.
    #[test]
    fn a_failure_for_want_of_a_processor_that_a_container_has_not_stays_open_at_once() {
        struct Container;
        impl MeasuredHost for Container {
            fn begin(&mut self) {}

            fn since(&mut self) -> Option<HostLoad> {
                let held_back = Some(HeldBack { granted: 0.5, withheld: 0.48 });
                let (from, until, late) = (Duration::ZERO, Duration::from_secs(3), Duration::ZERO);
                Some(HostLoad { taken: 0.1, processors: 4.0, from, until, late, held_back })
            }

            fn wait(&mut self) -> Quiet {
                panic!("nobody waits")
            }
        }
        let judge = || Ok(with(vec![Finding::fail(RuleId::Startup, "no uciok within 60 s")]));
        let report = judged_on(&mut Container, judge, || panic!("nobody waits")).unwrap();
        assert_eq!(report.verdict, Verdict::Undecided);
        let found = &report.findings[0];
        let told = "(the control group of gate4k may use 0.50 of a processor, and 0.48 were withheld from it for 3.00 s or more)";
        assert!(found.summary.contains(told), "{}", found.summary);
        assert!(found.help.contains("docker run --cpus"), "{}", found.help);
        let judge = || Ok(with(vec![Finding::fail(RuleId::Commands, "sed")]));
        let report = judged_on(&mut Container, judge, || {}).unwrap();
        assert_eq!(report.verdict, Verdict::Rejected, "no want of time explains it");
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
    fn nobody_waits_for_what_is_open_on_every_host() {
        let times = |findings: Vec<Finding>| {
            let times = Cell::new(0);
            let mut host = Played { taken: vec![4.0, 4.0, 4.0], becomes: Quiet::ByNow };
            let judge = || {
                times.set(times.get() + 1);
                Ok(with(findings.clone()))
            };
            judged_on(&mut host, judge, || {}).unwrap();
            times.get()
        };
        let size = || Finding::undecided(RuleId::Size, "the two readings differ");
        let commands = || Finding::undecided(RuleId::Commands, "it is not known");
        assert_eq!(times(vec![size(), commands()]), 1);
        assert_eq!(times(vec![size(), Finding::undecided(RuleId::Startup, "late")]), AGAIN + 1);
    }

    #[test]
    fn no_host_excuses_a_move_in_a_game_that_is_written_in_another_way() {
        let verdict = |why| {
            let fault = GameFault::Illegal { said: "e1h1".into(), why };
            let game = testing::game(1, Rival::Itself);
            let game = PlayedGame { end: GameEnd::Fault(fault), ..game };
            let judge = || {
                let mut report = with(vec![Finding::fail(RuleId::Match, "no move")]);
                report.games = vec![game.clone()];
                Ok(report)
            };
            let mut host = Played { taken: vec![4.0], becomes: Quiet::Never };
            judged_on(&mut host, judge, || {}).unwrap().verdict
        };
        assert_eq!(verdict(WhyIllegal::CastlingAsRook), Verdict::Rejected);
        let in_check = WhyIllegal::on_board("the king would be in check");
        assert_eq!(verdict(in_check), Verdict::Undecided);
    }

    #[test]
    fn no_host_excuses_what_came_again_on_every_clock_in_a_game() {
        let verdict = |held: Option<&str>, time| {
            let again = AskedAgain { held: held.map(str::to_owned), time, ..AskedAgain::default() };
            let game = testing::game(1, Rival::Itself);
            let end = GameEnd::Fault(GameFault::Gone);
            let game = PlayedGame { end, again: Some(again), ..game };
            let judge = || {
                let mut report = with(vec![Finding::fail(RuleId::Match, "it ends")]);
                report.games = vec![game.clone()];
                Ok(report)
            };
            let mut host = Played { taken: vec![4.0], becomes: Quiet::Never };
            judged_on(&mut host, judge, || {}).unwrap().verdict
        };
        assert_eq!(verdict(None, PartOfTime::None), Verdict::Rejected);
        assert_eq!(verdict(None, PartOfTime::Some), Verdict::Undecided);
        assert_eq!(verdict(Some("go wtime 3000"), PartOfTime::None), Verdict::Undecided);
    }

    #[test]
    fn no_host_excuses_what_came_again_on_every_clock_in_a_position() {
        let verdict = |finding: fn(Finding) -> Finding| {
            let mut host = Played { taken: vec![4.0], becomes: Quiet::Never };
            let finding = finding(Finding::fail(RuleId::LegalMoves, "no legal move"));
            judged_on(&mut host, || Ok(with(vec![finding.clone()])), || {}).unwrap().verdict
        };
        assert_eq!(verdict(|finding| finding), Verdict::Undecided);
        assert_eq!(verdict(|finding| came_again::noted(finding, true)), Verdict::Rejected);
        assert_eq!(verdict(|finding| came_again::noted(finding, false)), Verdict::Undecided);
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
    fn a_start_that_ends_by_itself_counts_where_the_host_was_quiet() {
        let exit = |status, alone: bool| {
            let mut report = with(vec![Finding::fail(RuleId::Startup, "it ended")]);
            for run in &mut report.runs {
                run.startup.readyok = None;
                run.ending.how = EndHow::ByItself;
                run.ending.exit = Some(ExitHow::Status(status));
            }
            for exec in &mut report.execs {
                exec.by = (!alone).then_some(0);
            }
            report
        };
        let judged_as = |taken: &[f64], becomes, alone| {
            let times = Cell::new(0);
            let mut host = Played { taken: taken.to_vec(), becomes };
            let judge = || {
                times.set(times.get() + 1);
                Ok(exit(1, alone))
            };
            (judged_on(&mut host, judge, || {}).unwrap().verdict, times.get())
        };
        let judged = |taken: &[f64], becomes| judged_as(taken, becomes, false);
        // One program alone races against nothing, whatever the host does.
        assert_eq!(judged_as(&[4.0; 9], Quiet::Never, true), (Verdict::Rejected, 1));
        // It may race against a sleep of its own, and lose alike as long as others compute.
        assert_eq!(judged(&[4.0; 9], Quiet::Never), (Verdict::Undecided, 1));
        assert_eq!(judged(&[4.0; 9], Quiet::ByNow), (Verdict::Undecided, AGAIN + 1));
        assert_eq!(judged(&[4.0, 0.0], Quiet::ByNow), (Verdict::Rejected, 2));
        assert_eq!(judged(&[0.0], Quiet::Never), (Verdict::Rejected, 1));
    }

    #[test]
    fn late_moves_on_a_busy_host_are_told_with_its_load() {
        let late = |taken: &[f64]| {
            let mut host = Played { taken: taken.to_vec(), becomes: Quiet::ByNow };
            let finding = Finding::advice(RuleId::Match, "1 move came after the clock")
                .with("late", vec![1])
                .help("look at the clock inside the search");
            let judge = || Ok(with(vec![finding.clone()]));
            let report = judged_on(&mut host, judge, || {}).unwrap();
            report.findings.into_iter().next().unwrap()
        };
        let busy = late(&[3.0]);
        let words = "the host was busy meanwhile (other work took 3.0 of its 4 processors";
        assert!(busy.summary.contains(words), "{}", busy.summary);
        assert!(busy.help.starts_with("judge it again on a host"), "{}", busy.help);
        assert!(busy.help.ends_with("look at the clock inside the search"), "{}", busy.help);
        let quiet = late(&[0.5]);
        assert_eq!(quiet.summary, "1 move came after the clock");
        assert_eq!(quiet.help, "look at the clock inside the search");
    }
}
