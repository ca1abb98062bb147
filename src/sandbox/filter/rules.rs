//! The rules of the system call filter: each call that is refused or stops, with the condition on its arguments.

use super::arch::{
    self, ATTRIBUTES_AT, CLOSE_RANGE, CallTable, FILE_SETATTR, MEMFD_SECRET, OPEN_TREE_ATTR,
    PROCESS_MADVISE, TELL_MOUNTS,
};
use super::stop::StoppedCall;

/// Every CLONE_NEW* flag that clone(2) can carry, and the one that makes a child which is not traced: nobody
/// would see what it does, nor kill it at the end.
const REFUSED_CLONES: u32 = (libc::CLONE_UNTRACED
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP) as u32;

/// The condition of a rule on the arguments of its call.
#[derive(Clone, Copy)]
pub(super) enum When {
    Always,
    /// Any of these bits of the low word of argument n.
    Bits(u32, u32),
    /// Of the bits of the low word of argument n, all of the first are set and none of the second.
    Some(u32, u32, u32),
    /// The low word of argument n is this.
    Is(u32, u32),
    /// The low word of argument n is not this.
    IsNot(u32, u32),
    /// The high word of argument n is not zero.
    Huge(u32),
    /// The low words of argument n and of the one after it are these.
    Pair(u32, u32, u32),
    /// The second byte of argument n is this: the family of an ioctl's request.
    Family(u32, u8),
}

/// The filter's answer to a call.
#[derive(Clone, Copy)]
pub(super) enum FilterAnswer {
    /// The call stops for the tracer.
    Stop(StoppedCall),
    /// ENOSYS.
    NoSuchCall,
    /// EOPNOTSUPP.
    NotSupported,
    /// The call is not made, and succeeds.
    Done,
}

/// One rule on a system call; of several on the same call, the first that holds counts.
pub(super) struct CallRule {
    pub(super) number: u32,
    pub(super) when: When,
    pub(super) then: FilterAnswer,
}

impl CallRule {
    fn denied(number: u32, when: When) -> CallRule {
        CallRule { number, when, then: FilterAnswer::Stop(StoppedCall::Denied) }
    }

    fn stops(number: u32, stop: StoppedCall) -> CallRule {
        CallRule { number, when: When::Always, then: FilterAnswer::Stop(stop) }
    }

    fn no_such_call(number: u32) -> CallRule {
        CallRule { number, when: When::Always, then: FilterAnswer::NoSuchCall }
    }
}

/// The terminal ioctls that push input into, or drive, the supervisor's terminal.
pub(super) const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;
/// The ioctls of file systems (ext4 and those of all, btrfs, F2FS, bcachefs, XFS, FAT, versions): some change a file by a descriptor that may
/// only read it (`chattr`, fs-verity), make or remove a part of a file system below a directory that is open, or leave a key with it,
/// and Landlock is asked for none of them.
const OF_FILE_SYSTEMS: [u8; 7] = [b'f', 0x94, 0xf5, 0xbc, b'X', b'r', b'v'];
/// The ioctls of namespaces and of descriptors of processes. Some tell numbers of namespaces and control groups that the kernel counts
/// from its start on; no engine needs any.
const OF_NAMESPACES: [u8; 2] = [0xb7, 0xff];
/// The ioctls of sockets, those of network interfaces among them, and of wireless ones.
const OF_SOCKETS: [u8; 2] = [0x89, 0x8b];
/// setsockopt(2): binds a socket of any family to an interface, by its name and by its number. It tells which there are, and the first
/// one's counterpart in getsockopt the name of each.
const SOCKET_INTERFACES: [u32; 2] = [25, 62];
/// setsockopt(2): who sends is told with each message (SO_PASSCRED, SO_PASSPIDFD). A socket of packets gets an abstract name of the host's by
/// the first one that it sends then, without bind(2) (unix_autobind in the kernel's net/unix/af_unix.c).
const SOCKET_SENDERS: [u32; 2] = [16, 76];
/// The bit of statx(2)'s mask that asks for such a number of the mount (`STATX_MNT_ID_UNIQUE`).
const UNIQUE_MOUNT: u32 = 0x4000;
/// The ioctls that set a descriptor's owner, as fcntl does.
pub(super) const FIOSETOWN: u32 = 0x8901;
pub(super) const SIOCSPGRP: u32 = 0x8902;
const SO_NETNS_COOKIE: i32 = 71;
/// A process that asks for it shares no core with another: the sibling thread of its core then stands still while it runs.
const PR_SCHED_CORE: u32 = 62;
/// Equal pages of all processes that ask for it become one, and each can tell: by the time of a write, and by how many there are.
const PR_SET_MEMORY_MERGE: u32 = 67;
const MADV_MERGEABLE: u32 = libc::MADV_MERGEABLE as u32;
/// Makes a huge page of a file in memory, of which one byte on its way through a pipe then keeps all. Others of the kernel's ways to huge
/// pages are the administrator's to open for such files.
const MADV_COLLAPSE: u32 = 25;
/// membarrier(2): waits for all processors of the host, or for those of all who have registered (`MEMBARRIER_CMD_GLOBAL`, `_GLOBAL_EXPEDITED`,
/// its registration): how long that takes tells of the others. Run-times use the one for their own threads.
const BARRIERS_OF_ALL: u32 = 1 | 2 | 4;
/// Takes the pages of a file out of memory, of one that the user owns for everybody: how long another entry's first read takes tells it.
const MADV_PAGEOUT: u32 = libc::MADV_PAGEOUT as u32;
/// setsockopt(2): filters of the entry's own on a socket, classic and eBPF, for itself and for its group. The kernel's room for them is
/// one for the whole host, and the sandbox's own filter comes from there.
const SOCKET_FILTERS: [u32; 4] = [26, 50, 51, 52];
/// futex(2): waits at a word that another process may share, with and without a bit set and on either clock. The kernel finds who
/// waits by the file that the word lies in, and any file will do that both may read.
const SHARED_WAITS: [u32; 6] = [0, 9, 11, 256, 256 | 9, 256 | 11];
/// futex(2): moves waiting threads to another word.
const SHARED_MOVES: [u32; 3] = [3, 4, 12];
/// Set in the numbers of clocks that tell the processor time of a process by its number (linux/posix-timers.h).
const CLOCK_OF_PROCESS: u32 = 1 << 31;
/// The descriptor's owner gets a signal of the caller's choice: another way to kill.
const F_SETOWN: u32 = 8;
const F_SETOWN_EX: u32 = 15;
/// fcntl's commands on things that entries share with the host and with each other: locks on files that all may read (POSIX ones in
/// both widths, those of open files, leases), news of directories, and the pages of pipes, of which each user has so many.
/// The last two leave a hint with the file itself, on kernels before 6.9 also on files of others.
const SHARED_BY_FCNTL: [u32; 14] = [5, 6, 7, 12, 13, 14, 36, 37, 38, 1024, 1026, 1031, 1036, 1038];
/// Moves pages between parts of the memory, those of files included: others can tell where they are (`MPOL_MF_MOVE`, `MPOL_MF_MOVE_ALL`).
const MOVES_PAGES: u32 = 0x2 | 0x4;
/// The number of the entry's parent in namespaces of the entry's own, and of all processes there that are ours.
const PARENT: u32 = 2;
const OURS: [u32; 2] = [1, PARENT];
/// Drops a file's pages from memory, so that others can tell.
const FADV_DONTNEED: u32 = 4;
/// Tells whether a file's pages are in memory; drops them after use.
const RWF_NOWAIT_DONTCACHE: u32 = 0x8 | 0x80;

/// The rules of a table, by their order. `namespaced`: the entry has namespaces of its own.
pub(super) fn rules(table: &CallTable, namespaced: bool) -> Vec<CallRule> {
    let mut rules = with_some_arguments(table);
    rules.extend(on_sockets(table, namespaced));
    rules.extend(denied_whole(table));
    rules.extend(on_socket_options(table));
    rules.extend(on_what_the_host_shares(table));
    // Files in memory that are on their way through a socket are held by no process.
    rules.extend(denied_each(table.sends));
    rules.extend(on_shared_waits(table));
    rules.extend(if namespaced { with_namespaces(table) } else { without_namespaces(table) });
    rules.extend(stopped(table));
    rules
}

fn denied_each(numbers: &[u32]) -> impl Iterator<Item = CallRule> {
    numbers.iter().map(|&number| CallRule::denied(number, When::Always))
}

/// Starts of programs, and calls that are refused with some arguments alone.
fn with_some_arguments(table: &CallTable) -> Vec<CallRule> {
    let denied = CallRule::denied;
    let done = |number, when| CallRule { number, when, then: FilterAnswer::Done };
    let mut rules = vec![
        CallRule::stops(table.exec, StoppedCall::Exec),
        CallRule::stops(table.execat, StoppedCall::ExecAt),
        // glibc falls back to clone, whose flags can be read here.
        CallRule::no_such_call(table.clone3),
        denied(table.clone, When::Bits(0, REFUSED_CLONES)),
        // A thread with descriptors of its own could hide files in memory there.
        denied(table.clone, When::Some(0, libc::CLONE_THREAD as u32, libc::CLONE_FILES as u32)),
        denied(CLOSE_RANGE, When::Bits(2, libc::CLOSE_RANGE_UNSHARE)),
        denied(table.ioctl, When::Is(1, TIOCSTI)),
        denied(table.ioctl, When::Is(1, TIOCLINUX)),
        denied(table.ioctl, When::Is(1, FIOSETOWN)),
        denied(table.ioctl, When::Is(1, SIOCSPGRP)),
        denied(table.prctl, When::Is(0, libc::PR_SET_SECCOMP as u32)),
        // A process that hides its memory from the tracer hides the files it opens and the programs it starts.
        denied(table.prctl, When::Pair(0, libc::PR_SET_DUMPABLE as u32, 0)),
        denied(table.prctl, When::Is(0, PR_SCHED_CORE)),
        denied(table.prctl, When::Is(0, PR_SET_MEMORY_MERGE)),
        denied(table.madvise, When::Is(2, MADV_MERGEABLE)),
        denied(table.madvise, When::Is(2, MADV_COLLAPSE)),
        denied(table.madvise, When::Is(2, MADV_PAGEOUT)),
        denied(PROCESS_MADVISE, When::Is(3, MADV_MERGEABLE)),
        denied(PROCESS_MADVISE, When::Is(3, MADV_COLLAPSE)),
        denied(PROCESS_MADVISE, When::Is(3, MADV_PAGEOUT)),
        denied(table.statx, When::Bits(3, UNIQUE_MOUNT)),
        denied(table.membarrier, When::Bits(0, BARRIERS_OF_ALL)),
        // A game's engines stay on the core that the game was given.
        done(table.set_affinity, When::Is(0, 0)),
    ];
    rules.extend(denied_each(&TELL_MOUNTS));
    let families = OF_FILE_SYSTEMS.into_iter().chain(OF_NAMESPACES);
    rules.extend(families.map(|family| denied(table.ioctl, When::Family(1, family))));
    rules
}

fn on_sockets(table: &CallTable, namespaced: bool) -> Vec<CallRule> {
    let not_unix = When::IsNot(0, libc::AF_UNIX as u32);
    let socket = if namespaced { not_unix } else { When::Always };
    let mut rules = vec![
        CallRule::denied(table.socket, socket),
        // A connected pair reaches nobody else, and run-times wait for their children through one (Rust's does).
        CallRule::denied(table.socketpair, not_unix),
    ];
    if !namespaced {
        // A pair of datagram sockets could be pointed elsewhere: of the types, only those have the second bit.
        let datagrams = When::Bits(1, libc::SOCK_DGRAM as u32);
        rules.push(CallRule::denied(table.socketpair, datagrams));
        // An end of a pair can be given an abstract name of the host's.
        rules.extend(denied_each(table.named_sockets));
        // And be asked for the host's interfaces and what passed through them.
        let of_sockets = |family| CallRule::denied(table.ioctl, When::Family(1, family));
        rules.extend(OF_SOCKETS.map(of_sockets));
        let options = SOCKET_INTERFACES.into_iter().chain(SOCKET_SENDERS);
        let of_sockets = options.map(|option| When::Pair(1, libc::SOL_SOCKET as u32, option));
        rules.extend(of_sockets.map(|option| CallRule::denied(table.setsockopt, option)));
    }
    rules
}

/// Calls that are refused with any arguments.
fn denied_whole(table: &CallTable) -> Vec<CallRule> {
    let mut rules: Vec<CallRule> =
        table.always_denied.iter().copied().flat_map(denied_each).collect();
    rules.extend(denied_each(&[OPEN_TREE_ATTR, FILE_SETATTR]));
    // Memory that the kernel reads for its owner, and nobody else can.
    rules.push(CallRule::denied(MEMFD_SECRET, When::Always));
    // Segments and queues that nobody has attached are memory that no process is seen to have; without an IPC namespace
    // they would outlive the entry on the host, too. Sixteen pages that were lent to a pipe keep as many huge pages.
    rules.extend(denied_each(table.held_by_nobody));
    rules
}

fn on_socket_options(table: &CallTable) -> impl Iterator<Item = CallRule> {
    let of_sockets = |option| When::Pair(1, libc::SOL_SOCKET as u32, option);
    // Numbers that the kernel counts on from start to start.
    let cookies = [libc::SO_COOKIE, SO_NETNS_COOKIE].map(|cookie| cookie as u32);
    let cookies = cookies.map(|cookie| CallRule::denied(table.getsockopt, of_sockets(cookie)));
    let filters =
        SOCKET_FILTERS.map(|option| CallRule::denied(table.setsockopt, of_sockets(option)));
    cookies.into_iter().chain(filters)
}

/// Calls on what entries share with the host and with each other: locks, pipes' room, pages of files.
fn on_what_the_host_shares(table: &CallTable) -> Vec<CallRule> {
    let mut rules: Vec<CallRule> =
        table.shared_with_host.iter().copied().flat_map(denied_each).collect();
    for command in SHARED_BY_FCNTL {
        rules.extend(
            table.fcntl.iter().map(|&number| CallRule::denied(number, When::Is(1, command))),
        );
    }
    let advised = |&(number, place)| CallRule::denied(number, When::Is(place, FADV_DONTNEED));
    rules.extend(table.fadvise.iter().map(advised));
    rules.push(CallRule::denied(table.mbind, When::Bits(5, MOVES_PAGES)));
    let flagged = |&number| CallRule::denied(number, When::Bits(5, RWF_NOWAIT_DONTCACHE));
    rules.extend(table.flagged_reads.iter().map(flagged));
    rules
}

fn on_shared_waits(table: &CallTable) -> Vec<CallRule> {
    let mut rules = Vec::new();
    for &number in table.futex {
        let then = FilterAnswer::Stop(StoppedCall::SharedWait);
        rules.extend(SHARED_WAITS.map(|op| CallRule { number, when: When::Is(1, op), then }));
        rules.extend(SHARED_MOVES.map(|op| CallRule::denied(number, When::Is(1, op))));
    }
    rules.extend(arch::NEW_FUTEX.map(CallRule::no_such_call));
    rules
}

/// Calls that matter where the entry has namespaces of its own.
fn with_namespaces(table: &CallTable) -> Vec<CallRule> {
    // Attributes stay with a file, or with HOME itself, and are no files that are found. Programs do without.
    let (when, then) = (When::Always, FilterAnswer::NotSupported);
    let unsupported = |&number| CallRule { number, when, then };
    let mut rules: Vec<CallRule> =
        table.attributes.iter().chain(&ATTRIBUTES_AT).map(unsupported).collect();
    // The first process of the namespace and the entry's parent are ours, and of the entry's user: the kernel would let them be
    // changed. (Outside, both numbers are never those of an entry's process.)
    let stop = |number, when, stop| CallRule { number, when, then: FilterAnswer::Stop(stop) };
    for &number in table.sets {
        rules.extend(OURS.map(|one| stop(number, When::Is(0, one), StoppedCall::Process)));
    }
    rules.push(CallRule {
        number: table.set_affinity,
        when: When::Always,
        then: FilterAnswer::Done,
    });
    // Whether its parent lives an entry may ask. Landlock lets no signal out of the sandbox, and this one is none.
    rules.push(CallRule {
        number: table.kill,
        when: When::Pair(0, PARENT, 0),
        then: FilterAnswer::Done,
    });
    for &(number, user) in table.sets_second {
        rules.extend(OURS.map(|one| stop(number, When::Is(1, one), StoppedCall::ProcessSecond)));
        rules.push(stop(number, When::Is(0, user), StoppedCall::ProcessSecond));
        // The entry may be in the group of these two.
        rules.push(stop(number, When::Pair(0, user - 1, 0), StoppedCall::ProcessSecond));
    }
    rules
}

/// Calls that matter where the user's other processes can be reached by number.
fn without_namespaces(table: &CallTable) -> Vec<CallRule> {
    let stops =
        |numbers: &'static [u32], stop| numbers.iter().map(move |&n| CallRule::stops(n, stop));
    let mut rules: Vec<CallRule> = stops(table.processes, StoppedCall::Process).collect();
    rules.extend(stops(table.processes_second, StoppedCall::ProcessSecond));
    rules.extend(table.clocks.iter().map(|&number| CallRule {
        number,
        when: When::Bits(0, CLOCK_OF_PROCESS),
        then: FilterAnswer::Stop(StoppedCall::ProcessClock),
    }));
    for &number in table.fcntl {
        rules.push(CallRule::denied(number, When::Is(1, F_SETOWN)));
        rules.push(CallRule::denied(number, When::Is(1, F_SETOWN_EX)));
    }
    // Landlock confines neither mode nor times nor attributes of files that the entry owns or may write.
    rules.extend(table.meta.iter().flat_map(|numbers| stops(numbers, StoppedCall::Meta)));
    rules.extend(denied_each(&ATTRIBUTES_AT));
    rules
}

/// Calls that stop so that the tracer can look: paths, new processes, great mappings and those of huge pages.
fn stopped(table: &CallTable) -> Vec<CallRule> {
    let paths = table.paths.iter().chain(table.looks).copied().flatten();
    let mut rules: Vec<CallRule> =
        paths.map(|&(number, stop)| CallRule::stops(number, stop)).collect();
    let forks = table.forks.iter().chain([&table.clone]);
    rules.extend(forks.map(|&number| CallRule::stops(number, StoppedCall::Clone)));
    // Before those that are great: what `--lazy-memory` does not reserve of huge pages would be missing at the first touch.
    rules.push(CallRule {
        number: table.flagged_map,
        when: When::Bits(3, libc::MAP_HUGETLB as u32),
        then: FilterAnswer::Stop(StoppedCall::HugePages),
    });
    rules.extend(table.mmap.map(|number| CallRule {
        number,
        when: When::Huge(1),
        then: FilterAnswer::Stop(StoppedCall::BigMap),
    }));
    rules
}
