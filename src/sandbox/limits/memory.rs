//! Memory that is really used, where the kernel sets no limit: one thread of the supervisor looks at all
//! confined trees ten times a second and kills a tree that uses more than it gets.
//!
//! Address space is never limited, because real entries reserve 256 GiB and touch little of it. What counts
//! is what is resident in all processes of a tree together, pages that several of them share counted once,
//! and files in memory (`memfd_create`) that nobody has mapped.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use crate::model::units::Bytes;
use crate::sandbox::trace::shared::Shared;

/// Between two looks. A tree that takes memory as fast as it can gets some gigabytes beyond its limit.
const PERIOD: Duration = Duration::from_millis(100);
/// Files in memory are looked for in every fifth look only: it means reading every descriptor.
const FILES_EVERY: u32 = 5;

struct Watched {
    tree: Weak<Shared>,
    most: Bytes,
}

#[derive(Default)]
struct Watch {
    trees: Mutex<Vec<Watched>>,
    /// Something is to be watched.
    some: Condvar,
}

/// Watches a tree until it is gone.
pub(in crate::sandbox) fn watch(tree: &Arc<Shared>, most: Bytes) {
    static WATCH: OnceLock<Arc<Watch>> = OnceLock::new();
    let watch = WATCH.get_or_init(|| {
        let watch = Arc::new(Watch::default());
        let its_own = Arc::clone(&watch);
        // Without the thread nothing is watched; a host that cannot start one cannot run an entry either.
        let _ = thread::Builder::new().name("memory".into()).spawn(move || its_own.run());
        watch
    });
    let mut trees = watch.trees.lock().unwrap_or_else(PoisonError::into_inner);
    trees.push(Watched { tree: Arc::downgrade(tree), most });
    watch.some.notify_one();
}

impl Watch {
    fn run(&self) {
        let mut look = 0u32;
        loop {
            let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
            trees.retain(|watched| watched.tree.upgrade().is_some_and(|tree| !tree.is_empty()));
            while trees.is_empty() {
                trees = self.some.wait(trees).unwrap_or_else(PoisonError::into_inner);
            }
            let now: Vec<(Arc<Shared>, Bytes)> = trees
                .iter()
                .filter_map(|watched| Some((watched.tree.upgrade()?, watched.most)))
                .collect();
            drop(trees);
            look = look.wrapping_add(1);
            for (tree, most) in now {
                let pids = tree.live();
                let files = if look.is_multiple_of(FILES_EVERY) { in_memory(&pids) } else { 0 };
                if let Some((used, pid)) = used(&pids, most.0.saturating_sub(files)) {
                    tree.over(Bytes(used + files), pid);
                    tree.kill();
                }
            }
            thread::sleep(PERIOD);
        }
    }
}

/// What the processes use together and which of them uses most, where that is more than `most`.
fn used(pids: &[i32], most: u64) -> Option<(u64, i32)> {
    let resident: Vec<(u64, i32)> =
        pids.iter().filter_map(|&pid| Some((resident(pid)?, pid))).collect();
    let (_, biggest) = resident.iter().copied().max()?;
    if resident.iter().map(|(bytes, _)| bytes).sum::<u64>() <= most {
        return None;
    }
    // Forked processes share most of what they have: now it is worth counting exactly.
    let exactly = || resident.iter().map(|&(bytes, pid)| share(pid, bytes)).sum::<u64>();
    // One after the other they are looked at, and what ends meanwhile leaves its share to those that are still to come:
    // a second count must say the same.
    let used = exactly();
    (used > most)
        .then(exactly)
        .filter(|again| *again > most)
        .map(|again| (again.min(used), biggest))
}

/// Resident bytes: the second field of /proc/PID/statm (proc_pid_statm(5)), which everybody may read.
fn resident(pid: i32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * page())
}

/// Resident bytes, each page divided by the number of processes that have it; `all` where we may not know. A process
/// that has ended since has none: counted with all of its own, the end of many at once would look like a flood.
fn share(pid: i32, all: u64) -> u64 {
    match std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) {
        Ok(text) => text
            .lines()
            .find_map(|line| line.strip_prefix("Pss:"))
            .and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok())
            .map_or(0, |kib| kib * 1024),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => all,
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => all,
        Err(_) => 0,
    }
}

/// Bytes of files that live in no directory and that processes hold open, each file once. Those that are
/// mapped as well are counted twice: that errs on the side of the host by one file.
fn in_memory(pids: &[i32]) -> u64 {
    let mut files: HashMap<u64, u64> = HashMap::new();
    for pid in pids {
        let Ok(items) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
            continue;
        };
        for path in items.filter_map(Result::ok).map(|item| item.path()) {
            let in_memory = std::fs::read_link(&path)
                .is_ok_and(|link| link.as_os_str().as_bytes().starts_with(b"/memfd:"));
            if in_memory && let Ok(file) = std::fs::metadata(&path) {
                files.insert(file.ino(), file.blocks() * 512);
            }
        }
    }
    files.values().sum()
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
        assert!(used(&[me], 1).is_some_and(|(bytes, pid)| bytes > 100_000 && pid == me));
        assert_eq!(used(&[me], 1 << 50), None);
        assert_eq!(used(&[], 0), None);
    }
}
