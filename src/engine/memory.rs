//! The memory limit of trusted engines: an engine's processes are the one that was started and all below it. The
//! thread that watches entries watches these as well.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::model::lock::lock;
use crate::model::units::Bytes;
use crate::sandbox::limits::memory::{self, ProcessTree};

/// The deepest tree of processes that is followed.
const DEEPEST: usize = 64;

/// A limit that holds while this lives.
pub(super) struct Limit(Arc<Engine>);

struct Engine {
    pid: i32,
    /// True once somebody waits for the process: from then on its number may be another's.
    waited_for: Mutex<bool>,
    /// The bytes in use when that was too much; zero before.
    exceeded: AtomicU64,
}

impl Limit {
    /// Watches a process that leads a group of its own; none where nothing can be watched.
    pub(super) fn watch(pid: u32, most: Bytes) -> Option<Limit> {
        let engine = Arc::new(Engine {
            pid: i32::try_from(pid).ok()?,
            waited_for: Mutex::new(false),
            exceeded: AtomicU64::new(0),
        });
        let weak: Weak<Engine> = Arc::downgrade(&engine);
        memory::watch(weak, most);
        Some(Limit(engine))
    }

    /// The memory in use when that was more than allowed; the group was killed then.
    pub(super) fn exceeded(&self) -> Option<Bytes> {
        match self.0.exceeded.load(Ordering::Acquire) {
            0 => None,
            used => Some(Bytes(used)),
        }
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        *lock(&self.0.waited_for) = true;
    }
}

impl ProcessTree for Engine {
    fn has_ended(&self) -> bool {
        *lock(&self.waited_for)
    }

    fn processes(&self) -> Vec<i32> {
        let mut all = vec![self.pid];
        below(self.pid, DEEPEST, &mut all);
        all
    }

    fn files(&self) -> u64 {
        0
    }

    fn exceeds(&self, used: Bytes, _: i32) {
        let waited_for = lock(&self.waited_for);
        if !*waited_for {
            self.exceeded.store(used.0, Ordering::Release);
            let _ = killpg(Pid::from_raw(self.pid), Signal::SIGKILL);
        }
    }

    /// A trusted engine has no reason to hide anything; all of it that can be counted is.
    fn cannot_be_counted(&self) {}
}

/// All processes below one, by /proc/PID/task/TID/children.
fn below(pid: i32, deepest: usize, all: &mut Vec<i32>) {
    let Some(deeper) = deepest.checked_sub(1) else { return };
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    for task in tasks {
        let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_ascii_whitespace().filter_map(|word| word.parse().ok()) {
            all.push(child);
            below(child, deeper, all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_started_is_below_it() {
        let mut child = std::process::Command::new("/bin/sleep").arg("60").spawn().unwrap();
        let mut all = Vec::new();
        below(std::process::id() as i32, 2, &mut all);
        assert!(all.contains(&(child.id() as i32)), "{all:?}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
