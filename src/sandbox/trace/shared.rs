//! State that the tracer's thread and the session's thread share: who lives, who ended, what to do.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;

use crate::model::evidence::ExitHow;
use crate::model::units::Bytes;
use crate::sandbox::child;
use crate::sandbox::inspect::process::{self, Ran, TracerWork};

/// The state of one confined tree.
#[derive(Debug)]
pub(in crate::sandbox) struct TreeState {
    state: Mutex<SharedState>,
    changed: Condvar,
    /// Written when the entry's first process has ended.
    ended: OwnedFd,
    /// True if files that are opened are written down at all (`audits`), and still are (`auditing`).
    audits: bool,
    auditing: AtomicBool,
    killing: AtomicBool,
    /// The tracer's thread took too long, or does not end.
    stuck: AtomicBool,
    /// Since when the tracer's thread has been busy with one event, in milliseconds since `made`, plus one; zero while it waits.
    busy_since: AtomicU64,
    /// Processor time of that thread up to its last event, in nanoseconds.
    worked: AtomicU64,
    made: Instant,
    /// True if large mappings are made without reserving memory for them.
    lazy_memory: bool,
}

#[derive(Debug, Default)]
struct SharedState {
    /// Processes (not threads), as numbered outside.
    live: BTreeSet<i32>,
    /// The live processes that a signal has stopped, and nothing has made go on.
    stopped: BTreeSet<i32>,
    /// Processor time of processes that have ended.
    spent: Ran,
    /// The entry's own number, and how it ended.
    entry: Option<i32>,
    first: Option<ExitHow>,
    empty: bool,
    /// The moment at which a process was last born or seen ending.
    changed: Option<Instant>,
    /// The memory that was in use when that was too much, and the process with most of it.
    over: Option<(Bytes, i32)>,
    /// Pid 1 of the namespace, or the entry itself.
    pidfd: Option<OwnedFd>,
}

/// The work of all entries of this process, so that other work on the host can be told from it. The kernel's own sums
/// (getrusage(2)) lack processes that nobody waited for.
#[derive(Debug)]
struct AllTrees {
    live: BTreeSet<i32>,
    spent: Duration,
}

static ALL_TREES: Mutex<AllTrees> =
    Mutex::new(AllTrees { live: BTreeSet::new(), spent: Duration::ZERO });

fn all_trees() -> MutexGuard<'static, AllTrees> {
    ALL_TREES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The processor time of every process that any entry ever had under this process, those that live included.
#[must_use]
pub fn time_of_all_entries() -> Duration {
    let all = all_trees();
    let live = all.live.iter().filter_map(|pid| process::processor_time(*pid));
    all.spent + live.sum::<Duration>()
}

impl TreeState {
    pub(in crate::sandbox) fn new(ended: OwnedFd, auditing: bool, lazy_memory: bool) -> TreeState {
        TreeState {
            state: Mutex::default(),
            changed: Condvar::new(),
            ended,
            audits: auditing,
            auditing: AtomicBool::new(auditing),
            killing: AtomicBool::new(false),
            stuck: AtomicBool::new(false),
            busy_since: AtomicU64::new(0),
            worked: AtomicU64::new(0),
            made: Instant::now(),
            lazy_memory,
        }
    }

    pub(in crate::sandbox) fn lazy_memory(&self) -> bool {
        self.lazy_memory
    }

    /// The tracer's thread is busy until the guard goes. One that is busy already is so from then on.
    pub(in crate::sandbox) fn busy(&self) -> Busy<'_> {
        let before = self.busy_since.load(Ordering::Relaxed);
        if before == 0 {
            let now = self.made.elapsed().as_millis() as u64 + 1;
            self.busy_since.store(now, Ordering::Relaxed);
        }
        Busy { state: self, before }
    }

    /// The processor time that the tracer's thread has used for the entry, and whether it is at work for it.
    pub(in crate::sandbox) fn tracers_work(&self) -> TracerWork {
        let ran = Duration::from_nanos(self.worked.load(Ordering::Relaxed));
        TracerWork { ran, is_busy: self.busy_since.load(Ordering::Relaxed) != 0 }
    }

    /// The time for which the tracer's thread has been busy with one event.
    pub(in crate::sandbox) fn busy_for(&self) -> Duration {
        match self.busy_since.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            since => self.made.elapsed().saturating_sub(Duration::from_millis(since - 1)),
        }
    }

    pub(in crate::sandbox) fn is_stuck(&self) -> bool {
        self.stuck.load(Ordering::Acquire)
    }

    /// Gives up the tracer's thread: everything is killed, and nobody waits for it any more.
    pub(in crate::sandbox) fn give_up(&self) {
        self.stuck.store(true, Ordering::Release);
        self.kill();
        let mut state = self.lock();
        state.first.get_or_insert(ExitHow::Signal(libc::SIGKILL));
        state.empty = true;
        // Nobody sees them end, so their numbers may soon be those of others.
        all_trees().live.retain(|pid| !state.live.contains(pid));
        let _ = nix::unistd::write(self.ended.as_fd(), &1u64.to_ne_bytes());
        drop(state);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, SharedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::sandbox) fn is_auditing(&self) -> bool {
        self.auditing.load(Ordering::Relaxed)
    }

    pub(in crate::sandbox) fn audits(&self) -> bool {
        self.audits
    }

    pub(in crate::sandbox) fn stop_auditing(&self) {
        self.auditing.store(false, Ordering::Relaxed);
    }

    pub(in crate::sandbox) fn is_killing(&self) -> bool {
        self.killing.load(Ordering::Acquire)
    }

    pub(in crate::sandbox) fn first_is(&self, pidfd: OwnedFd) {
        self.lock().pidfd = Some(pidfd);
    }

    pub(in crate::sandbox) fn born(&self, pid: i32) {
        let mut state = self.lock();
        state.live.insert(pid);
        all_trees().live.insert(pid);
        state.changed = Some(Instant::now());
        // The first one is the entry itself.
        state.entry.get_or_insert(pid);
    }

    /// A stop signal, its own or one of a terminal, has stopped the process.
    pub(in crate::sandbox) fn stops(&self, pid: i32) {
        self.lock().stopped.insert(pid);
    }

    /// The process goes on after such a stop.
    pub(in crate::sandbox) fn goes_on(&self, pid: i32) {
        self.lock().stopped.remove(&pid);
    }

    pub(in crate::sandbox) fn has_stopped(&self, pid: i32) -> bool {
        self.lock().stopped.contains(&pid)
    }

    /// Sends a signal to the entry's first process, unless that has ended.
    pub(in crate::sandbox) fn signal_first(&self, signal: i32) {
        let state = self.lock();
        // As in `kill`: under the lock a number that is still alive is still the entry's.
        if let Some(pid) = state.entry.filter(|pid| state.live.contains(pid))
            && let Ok(signal) = Signal::try_from(signal)
        {
            // Gone meanwhile is no error: then there is nobody to tell.
            let _ = kill(Pid::from_raw(pid), signal);
        }
    }

    /// A thread has ended whose number is still its own. Where it is the last of a process, its processor time is kept.
    pub(in crate::sandbox) fn ends(&self, pid: i32) {
        let mut state = self.lock();
        state.stopped.remove(&pid);
        if state.live.remove(&pid) {
            let spent = process::ran(pid).unwrap_or_default();
            state.spent += spent;
            let mut all = all_trees();
            all.live.remove(&pid);
            all.spent += spent.all;
        }
    }

    /// The processor time of all processes that have ended, and of each that lives, at one moment.
    pub(in crate::sandbox) fn processor_times(&self) -> (Ran, Vec<(i32, Ran)>) {
        let state = self.lock();
        let of = |pid: &i32| Some((*pid, process::ran(*pid)?));
        (state.spent, state.live.iter().filter_map(of).collect())
    }

    pub(in crate::sandbox) fn died(&self, pid: i32, first: Option<ExitHow>) {
        let mut state = self.lock();
        state.stopped.remove(&pid);
        if state.live.remove(&pid) {
            all_trees().live.remove(&pid);
        }
        state.changed = Some(Instant::now());
        if let Some(how) = first {
            state.first = Some(how);
            // The counter of an eventfd; it cannot fill up with a single write.
            let _ = nix::unistd::write(self.ended.as_fd(), &1u64.to_ne_bytes());
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Everything has ended, or never began.
    pub(in crate::sandbox) fn all_gone(&self) {
        let mut state = self.lock();
        state.empty = true;
        all_trees().live.retain(|pid| !state.live.contains(pid));
        state.live.clear();
        state.pidfd = None;
        let _ = nix::unistd::write(self.ended.as_fd(), &1u64.to_ne_bytes());
        drop(state);
        self.changed.notify_all();
    }

    /// The time for which no process has begun or ended.
    pub(in crate::sandbox) fn unchanged_for(&self) -> Duration {
        self.lock().changed.map_or(Duration::ZERO, |at| at.elapsed())
    }

    /// Everything has ended.
    pub(in crate::sandbox) fn is_empty(&self) -> bool {
        self.lock().empty
    }

    /// Too much memory is in use: everything is about to be killed.
    pub(in crate::sandbox) fn over(&self, used: Bytes, pid: i32) {
        self.lock().over.get_or_insert((used, pid));
    }

    pub(in crate::sandbox) fn was_over(&self) -> Option<(Bytes, i32)> {
        self.lock().over
    }

    pub(in crate::sandbox) fn live(&self) -> Vec<i32> {
        self.lock().live.iter().copied().collect()
    }

    /// Waits until `ready` gives something or the deadline is there.
    fn wait<T>(&self, deadline: Instant, ready: impl Fn(&SharedState) -> Option<T>) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(value) = ready(&state) {
                return Some(value);
            }
            let left = deadline.checked_duration_since(Instant::now())?;
            state =
                self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(in crate::sandbox) fn wait_first(&self, deadline: Instant) -> Option<ExitHow> {
        self.wait(deadline, |state| state.first.or(state.empty.then_some(ExitHow::Signal(9))))
    }

    pub(in crate::sandbox) fn wait_empty(&self, deadline: Instant) -> bool {
        self.wait(deadline, |state| state.empty.then_some(())).is_some()
    }

    /// Kills everything: by the end of pid 1 where there is one, else process by process; the tracer kills
    /// whatever is born meanwhile.
    pub(in crate::sandbox) fn kill(&self) {
        self.killing.store(true, Ordering::Release);
        let state = self.lock();
        if let Some(pidfd) = &state.pidfd {
            child::pidfd_kill(pidfd.as_fd(), libc::SIGKILL);
        }
        // The numbers are still theirs: a process leaves `live` under this lock before its number is free
        // for another, except in the moment between the wait and the lock, when it is the tracer's zombie.
        for &pid in &state.live {
            self.kill_one(pid);
        }
    }

    pub(in crate::sandbox) fn kill_one(&self, pid: i32) {
        // Already gone is what was wanted.
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
}

/// Held by the tracer's thread while it is busy with one event.
pub(in crate::sandbox) struct Busy<'a> {
    state: &'a TreeState,
    /// Since when it was busy before the guard was taken, as [`TreeState`] has it.
    before: u64,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        // On the tracer's own thread, so it is that thread's clock.
        if let Ok(worked) = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID) {
            let worked = Duration::from(worked).as_nanos() as u64;
            self.state.worked.store(worked, Ordering::Relaxed);
        }
        self.state.busy_since.store(self.before, Ordering::Relaxed);
    }
}
