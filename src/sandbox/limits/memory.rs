//! Memory that is really used, where the kernel sets no limit: one thread looks at all trees of processes ten times a second
//! and ends a tree that uses more than it gets.
//!
//! Address space is never limited, because real entries reserve 256 GiB and touch little of it. The limit counts
//! the memory that is resident in all processes of a tree together, pages that several of them share counted once,
//! and files in memory: those of the tree's own file system, and those that no directory holds (`memfd_create`,
//! memory shared without a name), and the tables of pages.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use crate::model::units::Bytes;
use crate::sandbox::inspect::process;

/// Between two looks. A tree that takes memory as fast as it can gets some gigabytes beyond its limit.
const PERIOD: Duration = Duration::from_millis(100);
/// Files in memory are looked for in every fifth look only: it means reading every descriptor and mapping.
const FILES_EVERY: u32 = 5;

/// Processes that share a limit.
pub(crate) trait ProcessTree: Send + Sync {
    /// True if all of it has ended, and nothing will begin any more.
    fn has_ended(&self) -> bool;
    /// Its processes.
    fn processes(&self) -> Vec<i32>;
    /// Bytes that its file system keeps in memory.
    fn files(&self) -> u64;
    /// More is in use than it gets, most of it by one process: it is to be ended.
    fn exceeds(&self, used: Bytes, greediest: i32);
}

struct Watched {
    tree: Weak<dyn ProcessTree>,
    most: Bytes,
}

#[derive(Default)]
struct MemoryWatch {
    trees: Mutex<Vec<Watched>>,
    /// Something is to be watched.
    some: Condvar,
}

/// Watches a tree until it has ended.
pub(crate) fn watch(tree: Weak<dyn ProcessTree>, most: Bytes) {
    static WATCH: OnceLock<MemoryWatch> = OnceLock::new();
    static THREAD: OnceLock<()> = OnceLock::new();
    let watch = WATCH.get_or_init(MemoryWatch::default);
    THREAD.get_or_init(|| {
        // Without the thread nothing is watched; a host that cannot start one cannot run an entry either.
        let _ = thread::Builder::new().name("memory".into()).spawn(|| watch.run());
    });
    let mut trees = watch.trees.lock().unwrap_or_else(PoisonError::into_inner);
    trees.push(Watched { tree, most });
    watch.some.notify_one();
}

impl MemoryWatch {
    fn run(&self) {
        let mut look = 0u32;
        loop {
            let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
            trees.retain(|watched| watched.tree.upgrade().is_some_and(|tree| !tree.has_ended()));
            while trees.is_empty() {
                trees = self.some.wait(trees).unwrap_or_else(PoisonError::into_inner);
            }
            let now: Vec<_> = trees
                .iter()
                .filter_map(|watched| Some((watched.tree.upgrade()?, watched.most)))
                .collect();
            drop(trees);
            look = look.wrapping_add(1);
            for (tree, most) in now {
                let pids = tree.processes();
                let mut beside = Beside { bytes: tree.files(), mapped: Mapped::Resident };
                if look.is_multiple_of(FILES_EVERY) {
                    beside.look(&pids);
                }
                let rest = most.0.saturating_sub(beside.bytes);
                if let Some((used, pid)) = used(&pids, rest, beside.mapped, tree.files()) {
                    tree.exceeds(Bytes(used + beside.bytes), pid);
                }
            }
            thread::sleep(PERIOD);
        }
    }
}

/// The resident memory of these processes, pages that several share counted for each.
pub(in crate::sandbox) fn resident(pids: &[i32]) -> Bytes {
    Bytes(pids.iter().filter_map(|pid| Some(process::resident_pages(*pid)? * page())).sum())
}

/// The bytes that the processes use together and the process that uses most, where the sum is more than `most`.
fn used(pids: &[i32], most: u64, mapped: Mapped, files: u64) -> Option<(u64, i32)> {
    let resident: Vec<(u64, i32)> = pids
        .iter()
        .filter_map(|&pid| Some((process::resident_pages(pid)? * page(), pid)))
        .collect();
    let (_, biggest) = resident.iter().copied().max()?;
    if resident.iter().map(|(bytes, _)| bytes).sum::<u64>() <= most {
        return None;
    }
    // Forked processes share most of what they have: now it is worth counting exactly.
    let exactly = || {
        let shares = resident.iter().map(|&(bytes, pid)| share(pid, bytes));
        let (own, shared) = shares.fold((0, 0), |(own, shared), share| {
            (own + share.own, shared + share.of_files_in_memory)
        });
        own + match mapped {
            // Files of the entry that it has mapped are counted with its files.
            Mapped::Resident => shared.saturating_sub(files),
            Mapped::Whole => 0,
        }
    };
    // One after the other they are looked at, and what ends meanwhile leaves its share to those that are still to come:
    // a second count must say the same.
    let used = exactly();
    (used > most)
        .then(exactly)
        .filter(|again| *again > most)
        .map(|again| (again.min(used), biggest))
}

/// Resident bytes, each page divided by the number of processes that have it; `all` where we may not know. A process
/// that has ended since has none: counted with all of its own, the end of many at once would look like a flood.
fn share(pid: i32, all: u64) -> Shares {
    match process::share(pid) {
        Ok(share) => Shares {
            own: share.all.saturating_sub(share.of_files_in_memory),
            of_files_in_memory: share.of_files_in_memory,
        },
        Err(error) if matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES)) => {
            Shares { own: all, of_files_in_memory: 0 }
        }
        Err(_) => Shares { own: 0, of_files_in_memory: 0 },
    }
}

/// The resident bytes of a process, each page divided by the number of processes that have it.
struct Shares {
    /// Bytes of pages that belong to no file in memory.
    own: u64,
    /// Bytes of pages of files in memory.
    of_files_in_memory: u64,
}

/// How files in memory that processes have mapped are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mapped {
    /// By the pages that some process has touched.
    Resident,
    /// Whole, with the other files.
    Whole,
}

/// Memory that no process has resident.
struct Beside {
    bytes: u64,
    mapped: Mapped,
}

impl Beside {
    /// Adds the files that live in no directory, each once, whether a descriptor or a mapping alone keeps them, and what the
    /// kernel holds for the processes. Where mappings cannot be looked at, files that are mapped as well as open count
    /// twice: that errs on the side of the host by one file.
    fn look(&mut self, pids: &[i32]) {
        let open = pids.iter().flat_map(|pid| process::files_in_memory(*pid));
        let mut files: HashMap<u64, u64> = open.collect();
        let mapped: std::io::Result<Vec<_>> =
            pids.iter().map(|pid| process::mapped_in_memory(*pid)).collect();
        if let Ok(mapped) = mapped {
            files.extend(mapped.into_iter().flatten());
            self.mapped = Mapped::Whole;
        }
        self.bytes += files.values().sum::<u64>();
        self.bytes += pids.iter().map(|pid| process::beside_resident(*pid)).sum::<u64>();
    }
}

fn page() -> u64 {
    static PAGE: OnceLock<u64> = OnceLock::new();
    *PAGE.get_or_init(|| {
        let size = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten();
        size.and_then(|size| u64::try_from(size).ok()).unwrap_or(4096)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_something_and_less_than_everything() {
        let me = std::process::id() as i32;
        assert!(
            used(&[me], 1, Mapped::Resident, 0)
                .is_some_and(|(bytes, pid)| bytes > 100_000 && pid == me)
        );
        assert_eq!(used(&[me], 1 << 50, Mapped::Resident, 0), None);
        assert_eq!(used(&[], 0, Mapped::Whole, 0), None);
    }
}
