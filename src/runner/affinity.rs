//! The processors that a game runs on.
//!
//! Without pondering only one of the three works at a time: our thread, White, Black. On one core they hand
//! over to each other fastest, and neither engine is better placed than the other; so a game of engines that
//! run one thread gets one core, as long as there is a core for every game.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The choice of `--affinity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Affinity {
    /// One core a game while engines run one thread and there are cores enough
    Auto,
    /// One core a game, whatever engines do
    On,
    /// The kernel places everything
    Off,
}

/// The processors that we may use, those of different cores first.
#[derive(Clone, Debug)]
pub(super) struct Cores {
    all: CpuSet,
    order: Vec<usize>,
}

impl Cores {
    pub(super) fn here() -> Cores {
        let all = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
        let mut ranked: Vec<(usize, usize)> =
            members(&all).map(|cpu| (sibling_rank(cpu), cpu)).collect();
        ranked.sort_unstable();
        Cores { all, order: ranked.into_iter().map(|(_, cpu)| cpu).collect() }
    }

    /// The number of processors.
    pub(super) fn count(&self) -> usize {
        self.order.len().max(1)
    }

    /// Puts the calling thread, and what it starts from now on, on one core.
    pub(super) fn pin(&self, worker: usize) {
        let mut one = CpuSet::new();
        let Some(cpu) = self.order.get(worker % self.count()) else {
            return;
        };
        if one.set(*cpu).is_ok() {
            // Where it is not allowed, games are slower, and that is all.
            let _ = sched_setaffinity(Pid::from_raw(0), &one);
        }
    }

    /// Lets the calling thread, and what it starts from now on, run anywhere.
    pub(super) fn unpin(&self) {
        let _ = sched_setaffinity(Pid::from_raw(0), &self.all);
    }
}

fn members(set: &CpuSet) -> impl Iterator<Item = usize> {
    (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false))
}

/// A processor's place among those that share its core; 0 where that is not told.
fn sibling_rank(cpu: usize) -> usize {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    rank_in(&text, cpu)
}

fn rank_in(list: &str, cpu: usize) -> usize {
    let mut members: Vec<usize> = Vec::new();
    for part in list.trim().split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(from), Ok(to)) = (from.parse::<usize>(), to.parse::<usize>()) {
            members.extend(from..=to.min(from + 1024));
        }
    }
    members.iter().position(|member| *member == cpu).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_come_after_all_cores() {
        assert_eq!((rank_in("0,4\n", 0), rank_in("0,4\n", 4)), (0, 1));
        assert_eq!((rank_in("2-3", 2), rank_in("2-3", 3)), (0, 1));
        assert_eq!(rank_in("", 7), 0);
    }

    #[test]
    fn a_pinned_thread_has_one_processor() {
        let cores = Cores::here();
        std::thread::spawn(move || {
            cores.pin(3);
            assert_eq!(Cores::here().count(), 1);
            cores.unpin();
            assert_eq!(Cores::here().count(), cores.count());
        })
        .join()
        .unwrap();
    }
}
