//! Processor time of processes, thread by thread, as it was at a moment.
//!
//! Threads come and go: the sum over those that live may fall when one of them ends. So two moments are compared thread
//! by thread, and process by process with what the kernel keeps of threads that have ended.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// What processes had used when it was looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    processes: BTreeMap<i32, Used>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Used {
    /// On a processor and waiting for one, by thread: a busy engine is busy on a crowded host, too.
    threads: BTreeMap<i32, Duration>,
    /// On a processor, those threads included that have ended; in ticks of the kernel's clock.
    ticks: Duration,
}

impl Used {
    fn since(&self, earlier: &Used) -> Duration {
        let before = |thread| earlier.threads.get(thread).copied().unwrap_or_default();
        let threads =
            self.threads.iter().map(|(thread, time)| time.saturating_sub(before(thread))).sum();
        self.ticks.saturating_sub(earlier.ticks).max(threads)
    }
}

impl CpuTimes {
    /// Looks at these processes.
    #[must_use]
    pub fn of(pids: impl IntoIterator<Item = i32>) -> CpuTimes {
        let seen = |pid| {
            let path = format!("/proc/{pid}");
            let ticks = ticks(Path::new(&path))?;
            Some((pid, Used { threads: threads(Path::new(&path)), ticks }))
        };
        CpuTimes { processes: pids.into_iter().filter_map(seen).collect() }
    }

    /// All of it.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.since(&CpuTimes::default())
    }

    /// What was used since an earlier look; a process that began meanwhile counts whole, one that ended does not.
    #[must_use]
    pub fn since(&self, earlier: &CpuTimes) -> Duration {
        let none = Used::default();
        let before = |pid| earlier.processes.get(pid).unwrap_or(&none);
        self.processes.iter().map(|(pid, used)| used.since(before(pid))).sum()
    }
}

/// Nanoseconds on and waiting for a processor, from /proc/PID/task/TID/schedstat (Linux,
/// Documentation/scheduler/sched-stats.rst); nothing where the kernel does not keep them.
fn threads(process: &Path) -> BTreeMap<i32, Duration> {
    let Ok(tasks) = std::fs::read_dir(process.join("task")) else {
        return BTreeMap::new();
    };
    let time = |task: &Path| {
        let text = std::fs::read_to_string(task.join("schedstat")).ok()?;
        let mut fields = text.split_ascii_whitespace().map(|field| field.parse::<u64>().ok());
        Some(Duration::from_nanos(fields.next()?? + fields.next()??))
    };
    tasks
        .filter_map(Result::ok)
        .filter_map(|task| Some((task.file_name().to_str()?.parse().ok()?, time(&task.path())?)))
        .collect()
}

fn ticks(process: &Path) -> Option<Duration> {
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    // proc_pid_stat(5): utime and stime are fields 14 and 15; the list starts at field 3.
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // USER_HZ is 100 on every Linux architecture that matters here.
    Some(Duration::from_millis(ticks * 10))
}

#[cfg(test)]
impl CpuTimes {
    /// One process with one thread.
    pub(crate) fn one(time: Duration) -> CpuTimes {
        let used = Used { threads: BTreeMap::from([(1, time)]), ticks: Duration::ZERO };
        CpuTimes { processes: BTreeMap::from([(1, used)]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(threads: &[(i32, u64)], ticks: u64) -> CpuTimes {
        let threads = threads.iter().map(|(id, ms)| (*id, Duration::from_millis(*ms))).collect();
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
    fn this_process_computes_while_it_computes() {
        let me = [std::process::id() as i32];
        let before = CpuTimes::of(me);
        let begin = std::time::Instant::now();
        while begin.elapsed() < Duration::from_millis(60) {
            std::hint::black_box(begin);
        }
        let after = CpuTimes::of(me);
        assert!(after.since(&before) >= Duration::from_millis(20), "{after:?}");
        assert!(after.total() >= after.since(&before));
        assert_eq!(CpuTimes::of([i32::MAX]), CpuTimes::default());
    }
}
