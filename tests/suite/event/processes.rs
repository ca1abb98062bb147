//! The processes that a runner has started, by the kernel's word.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

/// A process; its number alone could be somebody else's by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pid: u32,
    /// When it began, in ticks since the host did.
    began: u64,
}

/// Its parent and when it began; none for one that has ended, also one that nobody has waited for.
fn stat(pid: u32) -> Option<(u32, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything.
    let (_, rest) = text.rsplit_once(") ")?;
    let words: Vec<&str> = rest.split(' ').collect();
    if matches!(words.first(), Some(&("Z" | "X"))) {
        return None;
    }
    Some((words.get(1)?.parse().ok()?, words.get(19)?.parse().ok()?))
}

/// All that a process has started, directly or through others.
pub(crate) fn descendants(of: u32) -> Vec<Process> {
    let numbers = fs::read_dir("/proc").expect("a /proc").flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let all: BTreeMap<u32, (u32, u64)> =
        numbers.filter_map(|pid: u32| Some((pid, stat(pid)?))).collect();
    let mut found = vec![of];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        found.extend(all.iter().filter(|(_, (own, _))| *own == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    let began = |pid: &u32| Some(Process { pid: *pid, began: all.get(pid)?.1 });
    found[1..].iter().filter_map(began).collect()
}

/// Waits until none of these runs any more; gives those that still do after two minutes.
pub(crate) fn wait_for_end(mut left: Vec<Process>) -> Vec<Process> {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        left.retain(|one| stat(one.pid).is_some_and(|(_, began)| began == one.began));
        if left.is_empty() || Instant::now() > deadline {
            return left;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
