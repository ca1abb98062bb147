//! Processor time of processes, thread by thread, as it was at a moment.
//!
//! Threads come and go: the sum over those that live may fall when one of them ends. So two moments are compared thread
//! by thread, and process by process with what the kernel keeps of threads that have ended.
//!
//! What a thread waited for a processor is told by the kernel only once it gets one. So its state is kept as well: one that
//! is starved has used nothing, and does not rest.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::sandbox::inspect::process;

/// What processes had used when it was looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    processes: BTreeMap<i32, Used>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Used {
    threads: BTreeMap<i32, Thread>,
    /// On a processor, those threads included that have ended; in ticks of the kernel's clock.
    ticks: Duration,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Thread {
    /// On a processor.
    ran: Duration,
    /// Ready to run, and waiting for a processor.
    queued: Duration,
    /// As proc_pid_stat(5) has it: `R`, `S`, `D`; none where it was not to be read.
    state: Option<char>,
}

impl Used {
    fn since(&self, earlier: &Used, of: impl Fn(&Thread) -> Duration) -> Duration {
        let before = |thread| earlier.threads.get(thread).map(&of).unwrap_or_default();
        let threads =
            self.threads.iter().map(|(id, thread)| of(thread).saturating_sub(before(id))).sum();
        self.ticks.saturating_sub(earlier.ticks).max(threads)
    }
}

impl CpuTimes {
    /// Looks at these processes.
    #[must_use]
    pub fn of(pids: impl IntoIterator<Item = i32>) -> CpuTimes {
        let seen = |pid| Some((pid, Used { threads: threads(pid), ticks: ticks(pid)? }));
        CpuTimes { processes: pids.into_iter().filter_map(seen).collect() }
    }

    /// All of it.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.since(&CpuTimes::default())
    }

    /// What was used since an earlier look, on a processor or waiting for one: a busy engine is busy on a crowded host,
    /// too. A process that began meanwhile counts whole, one that ended does not.
    #[must_use]
    pub fn since(&self, earlier: &CpuTimes) -> Duration {
        self.sum(earlier, |thread| thread.ran + thread.queued)
    }

    /// The same, on a processor alone: what the work took, whoever else was there.
    #[must_use]
    pub fn computed_since(&self, earlier: &CpuTimes) -> Duration {
        self.sum(earlier, |thread| thread.ran)
    }

    /// Whether any thread ran, or could have, or waited for a disk. One that is stopped rests.
    #[must_use]
    pub fn any_at_work(&self) -> bool {
        let mut threads = self.processes.values().flat_map(|used| used.threads.values());
        threads.any(|thread| matches!(thread.state, Some('R' | 'D')))
    }

    fn sum(&self, earlier: &CpuTimes, of: impl Fn(&Thread) -> Duration) -> Duration {
        let none = Used::default();
        let before = |pid| earlier.processes.get(pid).unwrap_or(&none);
        self.processes.iter().map(|(pid, used)| used.since(before(pid), &of)).sum()
    }
}

/// Nanoseconds on and waiting for a processor, from /proc/PID/task/TID/schedstat (Linux,
/// Documentation/scheduler/sched-stats.rst), and their states; no times where the kernel does not keep them.
fn threads(process: i32) -> BTreeMap<i32, Thread> {
    let times = |thread: i32| {
        let text = process::text(thread, "schedstat").ok()?;
        let mut fields = text.split_ascii_whitespace().map(|field| field.parse().ok());
        Some((Duration::from_nanos(fields.next()??), Duration::from_nanos(fields.next()??)))
    };
    let thread = |thread: i32| {
        let (ran, queued) = times(thread).unwrap_or_default();
        (thread, Thread { ran, queued, state: process::state(thread) })
    };
    process::threads(process).into_iter().map(thread).collect()
}

fn ticks(process: i32) -> Option<Duration> {
    let stat = process::text(process, "stat").ok()?;
    let fields: Vec<&str> = process::after_name(&stat)?.collect();
    // utime and stime are fields 14 and 15; the list starts at field 3.
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // USER_HZ is 100 on every Linux architecture that matters here.
    Some(Duration::from_millis(ticks * 10))
}

#[cfg(test)]
impl CpuTimes {
    /// One process with one thread.
    pub(crate) fn one(time: Duration) -> CpuTimes {
        CpuTimes::one_in('S', time, Duration::ZERO)
    }

    /// The same, in this state, having run for so long and been queued for so long.
    pub(crate) fn one_in(state: char, ran: Duration, queued: Duration) -> CpuTimes {
        let thread = Thread { ran, queued, state: Some(state) };
        let used = Used { threads: BTreeMap::from([(1, thread)]), ticks: Duration::ZERO };
        CpuTimes { processes: BTreeMap::from([(1, used)]) }
    }
}

#[cfg(test)]
mod tests {
    use nix::time::{ClockId, clock_gettime};

    use super::*;

    fn at(threads: &[(i32, u64)], ticks: u64) -> CpuTimes {
        let thread = |ms| Thread { ran: Duration::from_millis(ms), ..Thread::default() };
        let threads = threads.iter().map(|(id, ms)| (*id, thread(*ms))).collect();
        let used = Used { threads, ticks: Duration::from_millis(ticks) };
        CpuTimes { processes: BTreeMap::from([(7, used)]) }
    }

    #[test]
    fn a_thread_that_ends_takes_nothing_back() {
        // The first pondering thread ends in the middle of the measure, the second goes on.
        let (before, after) = (at(&[(7, 50), (8, 900)], 900), at(&[(7, 60), (9, 250)], 1100));
        assert_eq!(after.since(&before), Duration::from_millis(260));
        // Of one that has ended the kernel keeps the time on a processor.
        let (before, after) = (at(&[(7, 50), (8, 900)], 900), at(&[(7, 50)], 1190));
        assert_eq!(after.since(&before), Duration::from_millis(290));
        assert_eq!(at(&[(7, 50)], 40).since(&CpuTimes::default()), Duration::from_millis(50));
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
        let me = [std::process::id() as i32];
        let before = CpuTimes::of(me);
        // Until it has really had the processor for so long, however many want it.
        let spent = || Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap());
        let begin = spent();
        while spent() - begin < Duration::from_millis(60) {}
        let after = CpuTimes::of(me);
        assert!(after.since(&before) >= Duration::from_millis(20), "{after:?}");
        assert!(after.total() >= after.since(&before));
        assert!(after.any_at_work(), "it runs while it looks: {after:?}");
        assert_eq!(CpuTimes::of([i32::MAX]), CpuTimes::default());
    }
}
