//! Workers that judge entries beside each other.
//!
//! Other programs can make an entry slower, never faster. So a time limit that an entry keeps beside others it
//! also keeps alone, and the report says that its times are upper bounds. A time limit that it did not keep is
//! nothing to hold against it: the entry is judged again when nothing else runs, and that counts. Other load on
//! the host is for `judge::other_work` to see.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;

use tracing::debug;

use crate::judge::error::CheckError;
use crate::judge::other_work::{judged_when_quiet, may_be_caused_by_load};
use crate::model::entry_report::EntryReport;
use crate::model::in_order::InOrder;
use crate::model::lock::lock;
use crate::model::text::shown;

/// The report on one entry, or why there is none.
pub(crate) type Judged = Result<EntryReport, CheckError>;

/// Judges one entry with so many probes beside each other, and tells each step.
pub(crate) type Assess<'a> =
    &'a (dyn Fn(&Path, NonZeroUsize, &(dyn Fn(&str) + Sync)) -> Judged + Sync);

/// The observer of the workers; called from any of them.
pub(crate) trait PoolWatch: Sync {
    /// A worker does this step of an entry now.
    fn step(&self, worker: usize, entry: &Path, step: &str);
    /// A worker has nothing to do any more.
    fn rests(&self, worker: usize);
    /// An entry is judged, in whatever order.
    fn done(&self, entry: &Path, judged: &Judged);
}

/// The number of entries and probes at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Concurrency {
    /// Entries, where there are several.
    pub(crate) entries: NonZeroUsize,
    /// Probes of an entry that is judged alone.
    pub(crate) probes: NonZeroUsize,
}

impl Concurrency {
    /// As many entries as were asked for; else three for each processor, since a check waits for half of its time (for
    /// clocks, for what must not happen, for the end of processes) and not evenly.
    pub(crate) fn new(asked: Option<NonZeroUsize>, processors: NonZeroUsize) -> Concurrency {
        Concurrency {
            entries: asked.unwrap_or(processors.saturating_add(processors.get().saturating_mul(2))),
            probes: asked.unwrap_or(processors),
        }
    }

    /// The number of these entries judged beside each other.
    pub(crate) fn workers(self, entries: usize) -> usize {
        self.entries.get().min(entries).max(1)
    }

    /// The number of probes of one entry at a time, with so many workers.
    fn probes_each(self, workers: usize) -> NonZeroUsize {
        if workers == 1 {
            return self.probes;
        }
        NonZeroUsize::new(self.entries.get() / workers).unwrap_or(NonZeroUsize::MIN)
    }
}

/// Judges all entries; `keep` gets each with its index as soon as it is judged, `hear` in their order, as early as that allows.
///
/// # Errors
/// The error of `keep` or `hear`, after the entries that are being judged then; no more are begun.
pub(crate) fn run<E>(
    entries: &[PathBuf],
    at_once: Concurrency,
    judge: Assess<'_>,
    watch: &dyn PoolWatch,
    mut keep: impl FnMut(usize, &Judged) -> Result<(), E>,
    mut hear: impl FnMut(usize, Judged) -> Result<(), E>,
) -> Result<(), E> {
    let workers = at_once.workers(entries.len());
    let each = at_once.probes_each(workers);
    let next = AtomicUsize::new(0);
    let running = Running::default();
    let mut order = InOrder::default();
    let mut again = Vec::new();
    let mut settle = |index: usize, judged: Judged| {
        watch.done(&entries[index], &judged);
        keep(index, &judged)?;
        order
            .push(index, (index, judged))
            .into_iter()
            .try_for_each(|(index, judged)| hear(index, judged))
    };
    thread::scope(|scope| {
        // Without a buffer, so that no entry is begun for somebody who has stopped listening.
        let (send, receive) = mpsc::sync_channel(0);
        for worker in 0..workers {
            let (send, next, running) = (send.clone(), &next, &running);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = entries.get(index) else { break };
                    running.begin(index);
                    let mut judged = if workers == 1 {
                        alone(judge, path, each, watch)
                    } else {
                        guarded(judge, path, each, worker, watch)
                    };
                    let beside = running.end(index);
                    if let Ok(report) = &mut judged
                        && report.circumstances.judged.is_none()
                    {
                        report.circumstances.beside = beside;
                    }
                    if send.send((index, judged)).is_err() {
                        break;
                    }
                }
                watch.rests(worker);
            });
        }
        drop(send);
        for (index, judged) in receive {
            if judged.as_ref().is_ok_and(may_be_caused_by_others) {
                debug!(index, "missed something beside others: judged again alone");
                again.push(index);
            } else {
                settle(index, judged)?;
            }
        }
        Ok(())
    })?;
    again.sort_unstable();
    for index in again {
        settle(index, alone(judge, &entries[index], at_once.probes, watch))?;
    }
    watch.rests(0);
    Ok(())
}

/// An entry beside which nothing else is judged: what other work on the host may have caused is judged again.
fn alone(judge: Assess<'_>, path: &Path, jobs: NonZeroUsize, watch: &dyn PoolWatch) -> Judged {
    let waits = || watch.step(0, path, "waiting for the host to be quiet");
    judged_when_quiet(|| guarded(judge, path, jobs, 0, watch), waits)
}

/// One entry that breaks the judge must not take the others with it.
fn guarded(
    judge: Assess<'_>,
    path: &Path,
    jobs: NonZeroUsize,
    worker: usize,
    watch: &dyn PoolWatch,
) -> Judged {
    let work = || judge(path, jobs, &|step| watch.step(worker, path, step));
    // Nothing that this entry touched is looked at again.
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(CheckError::Internal(format!(
            "{} could not be judged to its end; report this, with the entry",
            shown(path)
        )))
    })
}

/// True if an entry missed something beside others that it might have reached alone.
fn may_be_caused_by_others(report: &EntryReport) -> bool {
    report.circumstances.beside > 0 && may_be_caused_by_load(report)
}

/// The entries that are being judged now, each with the most others that it has met.
#[derive(Default)]
struct Running(Mutex<BTreeMap<usize, usize>>);

impl Running {
    fn begin(&self, index: usize) {
        let mut running = lock(&self.0);
        let others = running.len();
        for met in running.values_mut() {
            *met = others.max(*met);
        }
        running.insert(index, others);
    }

    fn end(&self, index: usize) -> usize {
        lock(&self.0).remove(&index).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::StartTimes;
    use crate::model::entry_report::tests::report;
    use crate::model::rule::RuleId;
    use crate::model::verdict::{Finding, Verdict};
    use std::convert::Infallible;
    use std::sync::Barrier;
    use std::time::Duration;

    struct Nobody;

    impl PoolWatch for Nobody {
        fn step(&self, _: usize, _: &Path, _: &str) {}
        fn rests(&self, _: usize) {}
        fn done(&self, _: &Path, _: &Judged) {}
    }

    fn judged(path: &Path, findings: Vec<Finding>) -> EntryReport {
        let verdict = Verdict::of(&findings);
        let mut judged = EntryReport { path: path.into(), findings, verdict, ..report() };
        for run in &mut judged.runs {
            run.startup.readyok = Some(Duration::from_secs(1));
            run.strained = true;
        }
        judged
    }

    fn jobs(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).unwrap()
    }

    fn all(names: &[&str], jobs_: usize, judge: Assess<'_>) -> Vec<(usize, Judged)> {
        let paths: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        let mut heard = Vec::new();
        run(
            &paths,
            Concurrency::new(Some(jobs(jobs_)), jobs(1)),
            judge,
            &Nobody,
            |_, _| Ok(()),
            |index, judged| {
                heard.push((index, judged));
                Ok::<_, Infallible>(())
            },
        )
        .unwrap();
        heard
    }

    #[test]
    fn entries_run_beside_each_other_and_come_in_order() {
        // Each waits for the other, so this only ends if both run at once.
        let both = Barrier::new(2);
        let heard = all(&["a", "b"], 4, &|path, jobs, _| {
            assert_eq!(jobs.get(), 2);
            both.wait();
            let report = judged(path, vec![Finding::pass(RuleId::Size, "")]);
            both.wait();
            Ok(report)
        });
        assert_eq!(heard.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [0, 1]);
        for (_, judged) in &heard {
            assert_eq!(judged.as_ref().unwrap().circumstances.beside, 1);
        }
    }

    #[test]
    fn what_came_too_late_beside_others_is_judged_again_alone() {
        let both = Barrier::new(2);
        let calls = Mutex::new(Vec::new());
        let heard = all(&["slow", "wrong"], 2, &|path, jobs, _| {
            calls.lock().unwrap().push((path.to_owned(), jobs.get()));
            if jobs.get() == 1 {
                both.wait();
                both.wait();
            }
            let slow = path == Path::new("slow") && jobs.get() == 1;
            Ok(judged(
                path,
                vec![match (path.to_str().unwrap(), slow) {
                    ("slow", true) => Finding::fail(RuleId::Startup, "61 s"),
                    ("slow", false) => Finding::pass(RuleId::Startup, "59 s"),
                    _ => Finding::fail(RuleId::Commands, "sed"),
                }],
            ))
        });
        let verdicts: Vec<_> = heard
            .iter()
            .map(|(_, judged)| judged.as_ref().unwrap())
            .map(|report| (report.verdict, report.circumstances.beside))
            .collect();
        assert_eq!(verdicts, [(Verdict::Accepted, 0), (Verdict::Rejected, 1)]);
        let calls = calls.into_inner().unwrap();
        assert_eq!(calls.len(), 3, "{calls:?}");
        assert_eq!(calls[2], ("slow".into(), 2));
    }

    #[test]
    fn one_that_sleeps_or_floods_is_not_judged_again() {
        let calls = AtomicUsize::new(0);
        let both = Barrier::new(2);
        let heard = all(&["sleeps", "computes"], 2, &|path, jobs, _| {
            calls.fetch_add(1, Ordering::Relaxed);
            if jobs.get() == 1 {
                both.wait();
                both.wait();
            }
            let mut report = judged(path, vec![Finding::fail(RuleId::Startup, "no answer")]);
            for run in &mut report.runs {
                run.startup = StartTimes::default();
                run.strained = path == Path::new("computes");
            }
            Ok(report)
        });
        let beside = |index: usize| heard[index].1.as_ref().unwrap().circumstances.beside;
        assert_eq!((beside(0), beside(1)), (1, 0));
        assert_eq!(calls.into_inner(), 3);
    }

    #[test]
    fn what_broke_without_a_limit_running_out_breaks_alone_as_well() {
        use crate::model::evidence::Purpose;
        let with = |rule, purpose, strained| {
            let mut report = judged(Path::new("x"), vec![Finding::fail(rule, "")]);
            report.circumstances.beside = 3;
            for run in &mut report.runs {
                (run.purpose, run.strained) = (purpose, strained);
            }
            assert!(!report.runs.is_empty());
            may_be_caused_by_others(&report)
        };
        for rule in [RuleId::LeftoverFiles, RuleId::UciQuit, RuleId::LegalMoves, RuleId::LongGame] {
            assert!(!with(rule, Purpose::Main, false), "{rule}");
            assert!(with(rule, Purpose::Main, true), "{rule}");
            // Where nothing is asked that could reject it, a limit may run out.
            assert!(!with(rule, Purpose::BareGo, true), "{rule}");
        }
        for rule in [RuleId::Match, RuleId::Ponder] {
            assert!(with(rule, Purpose::Main, false), "{rule}");
        }
        assert!(!with(RuleId::Size, Purpose::Main, true));
    }

    #[test]
    fn room_is_shared_by_entries_and_their_probes() {
        let at_once = Concurrency::new(None, jobs(2));
        let shares = |entries| {
            let workers = at_once.workers(entries);
            (workers, at_once.probes_each(workers).get())
        };
        assert_eq!([1, 2, 3, 4, 9].map(shares), [(1, 2), (2, 3), (3, 2), (4, 1), (6, 1)]);
        let asked = Concurrency::new(Some(jobs(3)), jobs(2));
        assert_eq!((asked.workers(9), asked.workers(1), asked.probes.get()), (3, 1, 3));
    }

    #[test]
    fn one_that_breaks_the_judge_does_not_stop_the_others() {
        let heard = all(&["a", "b", "c"], 1, &|path, _, _| match path.to_str().unwrap() {
            "a" => Err(CheckError::Nothing { path: path.into(), what: "gone".into() }),
            "b" => std::panic::resume_unwind(Box::new("broken")),
            _ => Ok(judged(path, vec![])),
        });
        assert!(matches!(heard[0].1, Err(CheckError::Nothing { .. })));
        assert!(matches!(heard[1].1, Err(CheckError::Internal(_))));
        assert_eq!(heard[2].1.as_ref().unwrap().circumstances.beside, 0);
    }

    #[test]
    fn when_nobody_listens_any_more_no_entry_is_begun() {
        let begun = AtomicUsize::new(0);
        let paths = vec![PathBuf::from("x"); 50];
        let judge: Assess<'_> = &|path, _, _| {
            begun.fetch_add(1, Ordering::Relaxed);
            Ok(judged(path, vec![]))
        };
        // One worker, as reports are heard in the order of the entries: with more of them, a first entry that the host keeps
        // back lets any number of others be judged before anything is heard.
        let at_once = Concurrency::new(Some(jobs(1)), jobs(1));
        let stopped = run(&paths, at_once, judge, &Nobody, |_, _| Ok(()), |_, _| Err("full disk"));
        assert_eq!(stopped, Err("full disk"));
        // The one that was heard, and the one that may have begun meanwhile.
        assert!(begun.swap(0, Ordering::Relaxed) <= 2);
        let stopped = run(&paths, at_once, judge, &Nobody, |_, _| Err("not kept"), |_, _| Ok(()));
        assert_eq!(stopped, Err("not kept"));
        assert!(begun.load(Ordering::Relaxed) <= 2);
    }
}
