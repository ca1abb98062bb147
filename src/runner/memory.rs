//! What trusted engines may use of memory (the sandbox watches entries itself).
//!
//! As there, it is memory that is really used, and never address space: engines reserve much and touch little.
//! One thread looks ten times a second while there is something to watch; an engine's processes are the one that
//! was started and all below it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::model::units::Bytes;

/// Between two looks.
const PERIOD: Duration = Duration::from_millis(100);
/// The deepest tree of processes that is followed.
const DEEPEST: usize = 64;

/// A limit that holds while this lives.
pub(super) struct Limit {
    pid: i32,
    /// What was used when that was too much; zero before.
    exceeded: Arc<AtomicU64>,
}

#[derive(Clone)]
struct Watched {
    most: Bytes,
    exceeded: Arc<AtomicU64>,
}

#[derive(Default)]
struct Watch {
    engines: Mutex<BTreeMap<i32, Watched>>,
    /// Something is to be watched.
    some: Condvar,
}

fn watch() -> &'static Watch {
    static WATCH: OnceLock<Watch> = OnceLock::new();
    WATCH.get_or_init(Watch::default)
}

impl Limit {
    /// Watches a process that leads a group of its own; none where nothing can be watched.
    pub(super) fn watch(pid: u32, most: Bytes) -> Option<Limit> {
        static THREAD: OnceLock<bool> = OnceLock::new();
        let runs = *THREAD.get_or_init(|| {
            thread::Builder::new().name("engine-memory".into()).spawn(|| watch().run()).is_ok()
        });
        let pid = i32::try_from(pid).ok().filter(|_| runs)?;
        let exceeded = Arc::new(AtomicU64::new(0));
        let watched = Watched { most, exceeded: Arc::clone(&exceeded) };
        watch().lock().insert(pid, watched);
        watch().some.notify_one();
        Some(Limit { pid, exceeded })
    }

    /// What was used when that was more than allowed; the group was killed then.
    pub(super) fn exceeded(&self) -> Option<Bytes> {
        match self.exceeded.load(Ordering::Acquire) {
            0 => None,
            used => Some(Bytes(used)),
        }
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        watch().lock().remove(&self.pid);
    }
}

impl Watch {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<i32, Watched>> {
        self.engines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        loop {
            let mut engines = self.lock();
            while engines.is_empty() {
                engines = self.some.wait(engines).unwrap_or_else(PoisonError::into_inner);
            }
            let now: Vec<(i32, Watched)> =
                engines.iter().map(|(pid, watched)| (*pid, watched.clone())).collect();
            drop(engines);
            for (pid, watched) in now {
                let used = used(pid, DEEPEST);
                if used > watched.most.0 {
                    // Its number is surely still its own as long as it is watched: whoever waits for it
                    // takes it out of here first.
                    let engines = self.lock();
                    if engines.contains_key(&pid) {
                        watched.exceeded.store(used, Ordering::Release);
                        let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
                    }
                }
            }
            thread::sleep(PERIOD);
        }
    }
}

/// Resident bytes of a process and all below it (/proc/PID/statm and /proc/PID/task/TID/children). Pages that
/// several of them share count for each.
fn used(pid: i32, deepest: usize) -> u64 {
    let own = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok();
    let pages = own.and_then(|text| text.split_ascii_whitespace().nth(1)?.parse::<u64>().ok());
    let mut sum = pages.unwrap_or(0) * page();
    let Some(deeper) = deepest.checked_sub(1) else { return sum };
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    for task in tasks {
        let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_ascii_whitespace().filter_map(|word| word.parse().ok()) {
            sum += used(child, deeper);
        }
    }
    sum
}

fn page() -> u64 {
    let size = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten();
    size.and_then(|size| u64::try_from(size).ok()).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_something() {
        let me = i32::try_from(std::process::id()).unwrap();
        assert!(used(me, 1) > 100_000);
        assert_eq!(used(i32::MAX, 1), 0);
    }
}
