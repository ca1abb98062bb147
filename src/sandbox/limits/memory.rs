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

use nix::time::{ClockId, clock_gettime};

use crate::model::lock::lock;
use crate::model::units::Bytes;
use crate::sandbox::inspect::process::{self, Share};

/// Between two looks. A tree that takes memory as fast as it can gets some gigabytes beyond its limit.
const PERIOD: Duration = Duration::from_millis(100);
/// Files in memory are looked for in every fifth look only: it means reading every descriptor and mapping.
const FILES_EVERY: u32 = 5;
/// Processor time that one look at one tree takes at most: until it ends, nobody looks at the others.
const LONGEST_LOOK: Duration = Duration::from_secs(2);

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
    /// The tree has so many processes, files and mappings that nobody can count what it uses while the others are looked after: it is
    /// to be ended.
    fn cannot_be_counted(&self);
}

struct Watched {
    tree: Weak<dyn ProcessTree>,
    most: Bytes,
}

#[derive(Default)]
struct MemoryWatch {
    trees: Mutex<Vec<Watched>>,
    /// Wakes the watching thread once there is a tree to watch.
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
    let mut trees = lock(&watch.trees);
    trees.push(Watched { tree, most });
    watch.some.notify_one();
}

impl MemoryWatch {
    fn run(&self) {
        let mut look = 0u32;
        loop {
            let mut trees = lock(&self.trees);
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
                look_at(&*tree, most, look.is_multiple_of(FILES_EVERY));
            }
            thread::sleep(PERIOD);
        }
    }
}

/// The resident memory of these processes, pages that several share counted for each.
pub(in crate::sandbox) fn resident(pids: &[i32]) -> Bytes {
    Bytes(pids.iter().filter_map(|pid| Some(process::resident_pages(*pid)? * page())).sum())
}

/// One look at a tree; with the files that live in no directory, where they are wanted.
fn look_at(tree: &dyn ProcessTree, most: Bytes, files: bool) {
    let pids = tree.processes();
    let look = MemoryLook::begins();
    let count = || {
        let mut beside = NonResident { bytes: tree.files(), mapped: MappedFiles::Resident };
        if files {
            beside.look(&pids, &look)?;
        }
        let rest = most.0.saturating_sub(beside.bytes);
        let used = used(&pids, rest, beside.mapped, tree.files(), &look)?;
        Ok(used.map(|(used, pid)| (Bytes(used + beside.bytes), pid)))
    };
    match count() {
        Ok(Some((used, pid))) => tree.exceeds(used, pid),
        Ok(None) => {}
        Err(TooMuchToCount) => tree.cannot_be_counted(),
    }
}

/// A look, which ends when this thread has used so much processor time.
struct MemoryLook {
    until: Duration,
}

/// A look that took too long.
#[derive(Debug, PartialEq, Eq)]
struct TooMuchToCount;

impl MemoryLook {
    fn begins() -> MemoryLook {
        MemoryLook { until: own_time() + LONGEST_LOOK }
    }

    /// Each process, as long as there is time.
    fn each<T>(
        &self,
        pids: &[i32],
        mut at: impl FnMut(i32) -> T,
    ) -> Result<Vec<T>, TooMuchToCount> {
        let one = |&pid: &i32| {
            let seen = at(pid);
            if own_time() > self.until { Err(TooMuchToCount) } else { Ok(seen) }
        };
        pids.iter().map(one).collect()
    }
}

/// The processor time of this thread.
fn own_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}

/// The bytes that the processes use together and the process that uses most, where the sum is more than `most`.
fn used(
    pids: &[i32],
    most: u64,
    mapped: MappedFiles,
    files: u64,
    look: &MemoryLook,
) -> Result<Option<(u64, i32)>, TooMuchToCount> {
    let all = look.each(pids, |pid| Some((process::resident_pages(pid)? * page(), pid)))?;
    let resident: HashMap<i32, u64> =
        all.into_iter().flatten().map(|(bytes, pid)| (pid, bytes)).collect();
    let Some((_, biggest)) = resident.iter().map(|(pid, bytes)| (bytes, *pid)).max() else {
        return Ok(None);
    };
    if resident.values().sum::<u64>() <= most {
        return Ok(None);
    }
    // Forked processes share most of what they have: now it is worth counting exactly.
    let exactly = || {
        let shares =
            look.each(pids, |pid| share(pid, resident.get(&pid).copied().unwrap_or_default()))?;
        let (own, shared) = shares.into_iter().fold((0, 0), |(own, shared), share| {
            (own + share.own, shared + share.of_files_in_memory)
        });
        Ok(own
            + match mapped {
                // Files of the entry that it has mapped are counted with its files.
                MappedFiles::Resident => shared.saturating_sub(files),
                MappedFiles::Whole => 0,
            })
    };
    // One after the other they are looked at, and what ends meanwhile leaves its share to those that are still to come:
    // a second count must say the same.
    let first = exactly()?;
    if first <= most {
        return Ok(None);
    }
    let again = exactly()?;
    Ok((again > most).then(|| (again.min(first), biggest)))
}

/// Resident bytes, each page divided by the number of processes that have it; `all` where we may not know. A process
/// that has ended since has none: counted with all of its own, the end of many at once would look like a flood.
fn share(pid: i32, all: u64) -> Share {
    match process::share(pid) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES)) => {
            Share { own: all, of_files_in_memory: 0 }
        }
        share => share.unwrap_or_default(),
    }
}

/// The way in which files in memory that processes have mapped are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MappedFiles {
    /// By the pages that some process has touched.
    Resident,
    /// Whole, with the other files.
    Whole,
}

/// Memory that no process has resident.
struct NonResident {
    bytes: u64,
    mapped: MappedFiles,
}

impl NonResident {
    /// Adds the files that live in no directory, each once, whether a descriptor or a mapping alone keeps them, and what the
    /// kernel holds for the processes. Where mappings cannot be looked at, files that are mapped as well as open count
    /// twice: that errs on the side of the host by one file.
    fn look(&mut self, pids: &[i32], look: &MemoryLook) -> Result<(), TooMuchToCount> {
        let open = look.each(pids, process::files_in_memory)?;
        let mut files: HashMap<u64, u64> = open.into_iter().flatten().collect();
        let mapped: std::io::Result<Vec<_>> =
            look.each(pids, process::mapped_in_memory)?.into_iter().collect();
        if let Ok(mapped) = mapped {
            files.extend(mapped.into_iter().flatten());
            self.mapped = MappedFiles::Whole;
        }
        self.bytes += files.values().sum::<u64>();
        self.bytes += look.each(pids, process::beside_resident)?.into_iter().sum::<u64>();
        Ok(())
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
        let used = |pids: &[i32], most, mapped| used(pids, most, mapped, 0, &MemoryLook::begins());
        let something = used(&[me], 1, MappedFiles::Resident).unwrap();
        assert!(something.is_some_and(|(bytes, pid)| bytes > 100_000 && pid == me));
        assert_eq!(used(&[me], 1 << 50, MappedFiles::Resident), Ok(None));
        assert_eq!(used(&[], 0, MappedFiles::Whole), Ok(None));
    }

    #[test]
    fn a_look_that_takes_too_long_is_broken_off() {
        assert_eq!(MemoryLook::begins().each(&[1, 2], |pid| pid), Ok(vec![1, 2]));
        let mut seen = 0;
        let look = MemoryLook { until: own_time() };
        let spend = || (0..1_000_000u64).map(std::hint::black_box).sum::<u64>();
        let work = |_| {
            spend();
            seen += 1;
        };
        assert_eq!(look.each(&[1, 2, 3], work), Err(TooMuchToCount));
        assert_eq!(seen, 1);
    }
}
