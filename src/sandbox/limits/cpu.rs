//! Processor time of an entry's processes, as it was at a moment.
//!
//! The time of processes that live comes from the clock that the kernel keeps for each, threads that have ended
//! included; the time of processes that have ended is added up by the tracer, which sees each end. So nothing is lost
//! between two moments, however short a process or a thread lives.
//!
//! The kernel tells how long a thread waited for a processor only once it gets one. So its state is kept as well: one
//! that is starved has used nothing, and does not rest.
//!
//! An entry can make its tracer work in its place, by calls at which it is stopped: that thread's time counts with its own.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::sandbox::inspect::process::{self, Ran, TracerWork};

/// Threads that are looked at: of thousands that sleep, some tell for all, and a look must not take long.
const MOST_THREADS: usize = 512;

/// The processor time that processes had used at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// On a processor: processes that have ended.
    ended: Ran,
    tracer: TracerWork,
    processes: BTreeMap<i32, Used>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Used {
    /// On a processor, all its threads.
    ran: Ran,
    threads: BTreeMap<i32, Thread>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Thread {
    /// Ready to run, and waiting for a processor.
    queued: Duration,
    /// As proc_pid_stat(5) has it: `R`, `S`, `D`; none where it was not to be read.
    state: Option<char>,
}

impl CpuTimes {
    /// The time of processes that have ended, of their tracer, and of those that live, whose threads are looked at.
    #[must_use]
    pub(in crate::sandbox) fn of(
        ended: Ran,
        tracer: TracerWork,
        live: Vec<(i32, Ran)>,
    ) -> CpuTimes {
        let mut room = MOST_THREADS;
        let seen = |(pid, ran)| {
            let threads = threads(pid, room);
            room -= threads.len();
            (pid, Used { ran, threads })
        };
        CpuTimes { ended, tracer, processes: live.into_iter().map(seen).collect() }
    }

    /// The time since an earlier look that was spent on a processor or waiting for one: a busy engine is busy on a
    /// crowded host, too.
    #[must_use]
    pub(crate) fn since(&self, earlier: &CpuTimes) -> Duration {
        let queued = self.processes.iter().flat_map(|(pid, used)| {
            let before = earlier.processes.get(pid);
            used.threads.iter().map(move |(id, thread)| {
                let before = before.and_then(|used| used.threads.get(id));
                thread.queued.saturating_sub(before.map(|before| before.queued).unwrap_or_default())
            })
        });
        self.computed_since(earlier) + queued.sum::<Duration>()
    }

    /// The time that its threads ran since an earlier look, without the time that they waited for a processor.
    #[must_use]
    pub(crate) fn computed_since(&self, earlier: &CpuTimes) -> Duration {
        self.computed().saturating_sub(earlier.computed())
    }

    /// The part of that in which the kernel worked, or the tracer, which works for calls alone.
    #[must_use]
    pub(crate) fn system_since(&self, earlier: &CpuTimes) -> Duration {
        self.system().saturating_sub(earlier.system())
    }

    /// True if any thread ran, or could have, or waited for a disk or for its tracer's work. One that is stopped rests.
    #[must_use]
    pub(crate) fn any_at_work(&self) -> bool {
        let mut threads = self.processes.values().flat_map(|used| used.threads.values());
        self.tracer.is_busy || threads.any(|thread| matches!(thread.state, Some('R' | 'D')))
    }

    fn computed(&self) -> Duration {
        let live = self.processes.values().map(|used| used.ran.all);
        self.ended.all + self.tracer.ran + live.sum::<Duration>()
    }

    fn system(&self) -> Duration {
        let live = self.processes.values().map(|used| used.ran.system);
        self.ended.system + self.tracer.ran + live.sum::<Duration>()
    }
}

/// Nanoseconds waiting for a processor, from /proc/PID/task/TID/schedstat (Linux, Documentation/scheduler/sched-stats.rst),
/// and the states of as many threads of a process; no times where the kernel does not keep them.
fn threads(process: i32, most: usize) -> BTreeMap<i32, Thread> {
    let queued = |thread: i32| {
        let text = process::text(thread, "schedstat").ok()?;
        text.split_ascii_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
    };
    let thread = |thread: i32| {
        let queued = queued(thread).unwrap_or_default();
        (thread, Thread { queued, state: process::state(thread) })
    };
    if most == 0 {
        return BTreeMap::new();
    }
    process::threads(process).into_iter().take(most).map(thread).collect()
}

#[cfg(test)]
impl CpuTimes {
    /// One process with one thread.
    pub(crate) fn one(time: Duration) -> CpuTimes {
        CpuTimes::one_in('S', time, Duration::ZERO)
    }

    /// One process with one thread in this state, which has run for so long and waited for a processor for so long.
    pub(crate) fn one_in(state: char, ran: Duration, queued: Duration) -> CpuTimes {
        let thread = Thread { queued, state: Some(state) };
        let ran = Ran { all: ran, system: Duration::ZERO };
        let used = Used { threads: BTreeMap::from([(1, thread)]), ran };
        CpuTimes { processes: BTreeMap::from([(1, used)]), ..CpuTimes::default() }
    }
}

#[cfg(test)]
mod tests {
    use nix::time::{ClockId, clock_gettime};

    use super::*;

    fn at(ended: u64, processes: &[(i32, u64)]) -> CpuTimes {
        let used = |ms| Used { ran: ran(ms, 0), ..Used::default() };
        let processes = processes.iter().map(|(id, ms)| (*id, used(*ms))).collect();
        CpuTimes { ended: ran(ended, 0), processes, ..CpuTimes::default() }
    }

    fn ran(all: u64, system: u64) -> Ran {
        Ran { all: Duration::from_millis(all), system: Duration::from_millis(system) }
    }

    #[test]
    fn what_the_tracer_works_for_an_entry_is_the_entrys_and_no_search() {
        let ms = Duration::from_millis;
        let times = |tracer: u64, all: u64, system: u64| {
            let used = Used { ran: ran(all, system), ..Used::default() };
            CpuTimes {
                ended: ran(70, 50),
                tracer: TracerWork { ran: ms(tracer), is_busy: tracer > 300 },
                processes: BTreeMap::from([(7, used)]),
            }
        };
        // All of the start is before.
        let (before, after) = (times(300, 400, 90), times(1300, 450, 120));
        assert_eq!(after.computed_since(&before), ms(1050));
        assert_eq!(after.system_since(&before), ms(1030));
        assert_eq!(before.system_since(&after), ms(0));
        assert!(after.any_at_work() && !before.any_at_work());
    }

    #[test]
    fn a_process_that_ends_takes_nothing_back() {
        let ms = Duration::from_millis;
        // The second had searched for 900 ms before, and went on for 40; a third began and ended between the looks.
        let (before, after) = (at(5, &[(7, 50), (8, 900)]), at(5 + 940 + 30, &[(7, 60)]));
        assert_eq!(after.computed_since(&before), ms(80));
        assert_eq!(at(0, &[(7, 50)]).computed_since(&CpuTimes::default()), ms(50));
    }

    #[test]
    fn one_that_is_starved_has_computed_nothing_and_does_not_rest() {
        let ms = Duration::from_millis;
        let before = CpuTimes::one_in('R', ms(5), ms(0));
        let starved = CpuTimes::one_in('R', ms(5), ms(0));
        assert_eq!(starved.since(&before), Duration::ZERO);
        assert!(starved.any_at_work());
        assert!(!CpuTimes::one_in('t', ms(5), ms(0)).any_at_work());
        let ran_at_last = CpuTimes::one_in('S', ms(6), ms(300));
        assert_eq!(ran_at_last.since(&before), ms(301));
        assert_eq!(ran_at_last.computed_since(&before), ms(1));
    }

    #[test]
    fn this_process_computes_while_it_computes() {
        let me = std::process::id() as i32;
        let look = || {
            CpuTimes::of(
                Ran::default(),
                TracerWork::default(),
                vec![(me, process::ran(me).unwrap())],
            )
        };
        let before = look();
        // Until it has really had the processor for so long, however many want it.
        let spent = || Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap());
        let begin = spent();
        while spent() - begin < Duration::from_millis(60) {}
        let after = look();
        assert!(after.computed_since(&before) >= Duration::from_millis(60), "{after:?}");
        assert!(after.since(&before) >= after.computed_since(&before));
        assert!(after.any_at_work(), "it runs while it looks: {after:?}");
    }
}
