//! Threads beside the tracer's: one bounds the memory of an entry, one the time that the tracer takes for an event.
//!
//! Nothing that the tracer does should ever wait for the entry. If it does all the same, the entry is killed and the run ends
//! without a record, which is said: a batch goes on, and nobody is accepted for it.

use std::fs::File;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::thread;
use std::time::Duration;

use crate::model::lock::lock;
use crate::model::units::Bytes;
use crate::sandbox::limits::memory::{self, ProcessTree};
use crate::sandbox::trace::shared::TreeState;

/// Longer than any event takes, even on a host that is short of processors.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at the tracers.
const PERIOD: Duration = Duration::from_secs(1);

/// The processes of one entry and the file system that is its own.
pub(super) struct EntryTree {
    pub(super) shared: Arc<TreeState>,
    /// The root in memory, where it has one.
    pub(super) root: Option<File>,
}

impl ProcessTree for EntryTree {
    fn has_ended(&self) -> bool {
        self.shared.is_empty()
    }

    fn processes(&self) -> Vec<i32> {
        self.shared.live()
    }

    fn files(&self) -> u64 {
        let stat = self.root.as_ref().and_then(|root| nix::sys::statvfs::fstatvfs(root).ok());
        stat.map_or(0, |stat| (stat.blocks() - stat.blocks_free()) * stat.fragment_size())
    }

    fn exceeds(&self, used: Bytes, greediest: i32) {
        self.shared.over(used, greediest);
        self.shared.kill();
    }

    fn cannot_be_counted(&self) {
        self.shared.give_up();
    }
}

/// Watches an entry's memory and its tracer. The tree must be kept as long as it is to be watched.
pub(super) fn watch(tree: &Arc<EntryTree>, most: Bytes) {
    let weak: Weak<EntryTree> = Arc::downgrade(tree);
    memory::watch(weak, most);
    lock(tracers()).push(Arc::downgrade(&tree.shared));
}

/// All tracers that are watched; the first call starts the thread that does.
fn tracers() -> &'static Mutex<Vec<Weak<TreeState>>> {
    static TRACERS: Mutex<Vec<Weak<TreeState>>> = Mutex::new(Vec::new());
    static THREAD: OnceLock<()> = OnceLock::new();
    THREAD.get_or_init(|| {
        let look = || {
            loop {
                thread::sleep(PERIOD);
                let mut all = lock(&TRACERS);
                all.retain(|shared| shared.upgrade().is_some_and(|shared| !shared.is_empty()));
                let now: Vec<Arc<TreeState>> = all.iter().filter_map(Weak::upgrade).collect();
                drop(all);
                now.iter().filter(|shared| takes_too_long(shared)).for_each(|s| s.give_up());
            }
        };
        // As for the thread that watches memory.
        let _ = thread::Builder::new().name("watchdog".into()).spawn(look);
    });
    &TRACERS
}

fn takes_too_long(shared: &TreeState) -> bool {
    shared.busy_for() > PATIENCE
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn shared() -> TreeState {
        let ended = nix::sys::eventfd::EventFd::new().unwrap();
        TreeState::new(ended.into(), false, false)
    }

    #[test]
    fn a_tracer_is_busy_only_while_it_handles_an_event() {
        let shared = shared();
        assert_eq!(shared.busy_for(), Duration::ZERO);
        let busy = shared.busy();
        thread::sleep(Duration::from_millis(20));
        assert!(shared.busy_for() >= Duration::from_millis(10));
        drop(busy);
        assert_eq!(shared.busy_for(), Duration::ZERO);
    }

    #[test]
    fn whoever_waits_for_a_tracer_that_was_given_up_goes_on() {
        let shared = Arc::new(shared());
        let waiting = Arc::clone(&shared);
        let waits = thread::spawn(move || {
            let end = Instant::now() + Duration::from_secs(60);
            (waiting.wait_first(end).is_some(), waiting.wait_empty(end))
        });
        shared.give_up();
        assert_eq!(waits.join().unwrap(), (true, true));
        assert!(shared.is_stuck() && shared.is_empty());
    }
}
