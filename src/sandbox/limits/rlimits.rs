//! Resource limits of the entry's processes.
//!
//! Memory that is really used is limited elsewhere (`memory.rs`; the size of the private tmpfs); address space
//! never is, because real entries reserve 256 GiB and touch little of it.

use libc::{c_int, rlimit};
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit, setrlimit};

use crate::model::evidence::{LARGEST_FILE, Overcommit};
use crate::model::units::Bytes;

/// Open files of a process, as most systems have it. Together with [`TASKS`] it is a bound on those of an entry, 1.3 million:
/// the host has a table of all, and an entry that filled it would end others.
const OPEN_FILES: u64 = 1024;
/// Locked memory: what a program locks to keep a secret.
const LOCKED: u64 = 64 << 10;
/// Signals that wait, timers included.
const WAITING_SIGNALS: u64 = 4096;
/// Processes and threads: real entries start up to 512 threads; a fork bomb ends here.
pub(crate) const TASKS: u32 = 1280;
/// Processes of ours that the kernel counts with an entry's in namespaces of its own: the first one and the entry's parent.
const OUR_TASKS: u32 = 2;

/// The processes and threads that the kernel may count, for an entry to have so many of its own.
pub(super) fn counted_tasks(tasks: u32, namespaces: bool) -> u32 {
    if namespaces { tasks + OUR_TASKS } else { tasks }
}

/// The memory that an entry may really use on a host with this much: the rest is for the supervisor and
/// whatever else runs there.
#[must_use]
pub(crate) fn memory(host: Bytes) -> Bytes {
    /// The memory of a host that does not say how much it has.
    const UNKNOWN: u64 = 4 << 30;
    if host.0 == 0 { Bytes(UNKNOWN) } else { Bytes(host.0 / 4 * 3) }
}

/// The kernel's answer to requests for more memory than it has.
#[must_use]
pub fn overcommit() -> Overcommit {
    let text = std::fs::read_to_string("/proc/sys/vm/overcommit_memory").unwrap_or_default();
    match text.trim() {
        "1" => Overcommit::Always,
        "2" => Overcommit::Never,
        _ => Overcommit::Heuristic,
    }
}

/// The host's physical memory; zero where it does not say.
#[must_use]
pub fn host_memory() -> Bytes {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    Bytes(kib.unwrap_or_default() * 1024)
}

/// A limit, and how it is called in reports.
struct Limit {
    resource: Resource,
    name: &'static str,
    /// The value that the sandbox grants at most.
    most: u64,
    /// The value that has been enough for every sound entry: with less, the host may be why one fails, unseen.
    enough: u64,
}

/// The sandbox's own limits.
///
/// `tasks`: the process limit counts per user namespace (since Linux 5.14), so it is set only where the
/// entry has one of its own; elsewhere it would count the user's other processes and refuse threads for no
/// fault of the entry, and the tracer counts in its place.
fn own(tasks: Option<u32>) -> Vec<Limit> {
    let limit = |resource, name, most, enough| Limit { resource, name, most, enough };
    let mut limits = vec![
        // One byte, and not none: the kernel gives a core to a program of the host's (`|` in core_pattern) whatever the limit is,
        // but for this one.
        limit(Resource::RLIMIT_CORE, "core", 1, 0),
        limit(Resource::RLIMIT_FSIZE, "file size", LARGEST_FILE.0, 64 << 20),
        limit(Resource::RLIMIT_NOFILE, "open files", OPEN_FILES, 1024),
        // Nothing that an engine needs, and all of it the host's: real-time and higher priorities, memory that cannot be
        // swapped, and signals that wait.
        limit(Resource::RLIMIT_RTPRIO, "real-time priority", 0, 0),
        limit(Resource::RLIMIT_NICE, "priority", 0, 0),
        limit(Resource::RLIMIT_MEMLOCK, "locked memory", LOCKED, 0),
        limit(Resource::RLIMIT_SIGPENDING, "waiting signals", WAITING_SIGNALS, 64),
    ];
    if let Some(tasks) = tasks {
        // However few an entry gets: a process or thread that the kernel refuses is seen, and is an excuse of its own.
        let counted = u64::from(counted_tasks(tasks, true));
        limits.push(limit(Resource::RLIMIT_NPROC, "processes", counted, 0));
    }
    limits
}

/// Resources that are counted for all processes of a user together: of these, each entry gets a share, so that one a
/// processor leaves half to whatever else the user does.
const PER_USER: [Resource; 2] = [Resource::RLIMIT_NPROC, Resource::RLIMIT_SIGPENDING];
/// No share is smaller: few processes less, and no compiler starts.
const LEAST_SHARE: u64 = 512;

/// One entry's share of what a user may have.
fn share(of_user: u64, processors: u64) -> u64 {
    (of_user / (2 * processors.max(1))).max(LEAST_SHARE.min(of_user))
}

/// The processors of the host. Not those of this thread, which may be one: the limits would tell a start from another.
fn processors() -> u64 {
    let online = nix::unistd::sysconf(nix::unistd::SysconfVar::_NPROCESSORS_ONLN);
    online.ok().flatten().and_then(|count| u64::try_from(count).ok()).unwrap_or(1)
}

/// The value of a resource's limit that an entry gets.
fn granted(limit: &Limit) -> u64 {
    let hard = hard(limit.resource);
    if !PER_USER.contains(&limit.resource) {
        return limit.most.min(hard);
    }
    let soft = getrlimit(limit.resource).map_or(RLIM_INFINITY, |(soft, _)| soft);
    limit.most.min(share(soft.min(hard), processors()))
}

/// The hard limit of this process on a resource. Nobody without privileges may ask for more (setrlimit(2)), and
/// a limit that an administrator has set is not raised where we could.
fn hard(resource: Resource) -> u64 {
    getrlimit(resource).map_or(RLIM_INFINITY, |(_, hard)| hard)
}

/// The limits as `setrlimit` takes them: the sandbox's own ([`own`]), but never above what the supervisor has
/// itself, nor above a share of what its user has.
pub(in crate::sandbox) fn rlimits(tasks: Option<u32>) -> Vec<(c_int, rlimit)> {
    let both = |n| rlimit { rlim_cur: n, rlim_max: n };
    own(tasks).into_iter().map(|limit| (limit.resource as c_int, both(granted(&limit)))).collect()
}

/// Lets this process open as many files as its hard limit allows, within reason: the usual soft limit is for programs that wait by
/// `select`, and a batch has hundreds open for each entry. Entries get their own.
pub(crate) fn open_many_files() {
    /// There are programs that, once started, close each number up to their limit, which may be a billion.
    const ENOUGH: u64 = 1 << 16;
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // Where that is refused, it stays as it was.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, soft.max(ENOUGH.min(hard)), hard);
    }
}

/// The limits that are so low here that an entry may fail for it, each in words.
#[must_use]
pub(crate) fn lowered() -> Vec<String> {
    let words = |limit: Limit| {
        let granted = granted(&limit);
        let amount = |n: u64| match limit.resource {
            Resource::RLIMIT_FSIZE => Bytes(n).human(),
            _ => n.to_string(),
        };
        (granted < limit.enough).then(|| {
            format!("{} {} in place of {}", limit.name, amount(granted), amount(limit.most))
        })
    };
    own(Some(TASKS)).into_iter().filter_map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// do_coredump() of the kernel: with this limit alone nothing is started for a core, and no file is as small.
    #[test]
    fn a_crash_starts_no_program_of_the_host() {
        let core = rlimits(None).into_iter().find(|(kind, _)| *kind == libc::RLIMIT_CORE as c_int);
        assert_eq!(core.map(|(_, limit)| limit.rlim_max), Some(hard(Resource::RLIMIT_CORE).min(1)));
    }

    #[test]
    fn limits_do_not_tell_on_how_many_processors_a_start_is_placed() {
        use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
        use nix::unistd::Pid;
        let all = sched_getaffinity(Pid::from_raw(0)).unwrap();
        let first = (0..CpuSet::count()).find(|cpu| all.is_set(*cpu).unwrap()).unwrap();
        let placed = std::thread::spawn(move || {
            let mut one = CpuSet::new();
            one.set(first).unwrap();
            sched_setaffinity(Pid::from_raw(0), &one).unwrap();
            processors()
        });
        assert_eq!(placed.join().unwrap(), processors());
    }

    #[test]
    fn entries_that_run_at_once_leave_half_to_the_user() {
        for (user, processors) in [(94_000, 2), (31_000, 16), (1 << 20, 128)] {
            let all = share(user, processors) * processors;
            assert!(all <= user / 2, "{user} {processors}");
        }
        assert_eq!(share(RLIM_INFINITY, 4).min(u64::from(TASKS)), u64::from(TASKS));
        // A share is enough for a compiler, and never more than there is.
        assert_eq!((share(1000, 64), share(100, 64)), (LEAST_SHARE, 100));
    }
}
