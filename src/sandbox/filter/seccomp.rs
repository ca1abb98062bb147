//! The system call filter: what is refused, and what stops for the tracer.
//!
//! Landlock decides over files and programs; this filter covers what Landlock does not (sockets, namespaces,
//! mounts, ptrace, bpf, io_uring, keys, `TIOCSTI` …) and makes the calls that are reported stop. A refused
//! call stops too, so that it can be named; a process that somehow runs without a tracer gets ENOSYS, so the
//! refusal never depends on the tracer.
//!
//! x86-64 and i386 are both known (rule texts speak of 32-bit assembly); x32 numbers and foreign
//! architectures are refused. Arguments that the kernel reads as 32 bits are compared as 32 bits
//! (`TIOCSTI + 2^32`).

use std::collections::BTreeMap;

use libc::{
    BPF_ABS, BPF_ALU, BPF_AND, BPF_JA, BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JMP, BPF_JSET, BPF_K, BPF_LD,
    BPF_RET, BPF_W, sock_filter,
};

use crate::sandbox::filter::arch::{
    self, ATTRIBUTES_AT, CLOSE_RANGE, CallTable, FILE_SETATTR, MEMFD_SECRET, OPEN_TREE_ATTR,
    PROCESS_MADVISE, TELL_MOUNTS,
};
use crate::sandbox::filter::stop::{COMPAT, StoppedCall};

// Offsets in struct seccomp_data.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const fn argument(n: u32) -> u32 {
    16 + 8 * n
}

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

#[derive(Clone, Copy)]
enum When {
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

#[derive(Clone, Copy)]
enum FilterAnswer {
    Stop(StoppedCall),
    NoSuchCall,
    NotSupported,
}

struct Rule {
    number: u32,
    when: When,
    then: FilterAnswer,
}

/// The terminal ioctls that push input into, or drive, the supervisor's terminal.
const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;
/// The ioctls of file systems (ext4 and those of all, btrfs, F2FS, bcachefs, XFS, FAT, versions): some change a file by a descriptor that may
/// only read it (`chattr`, fs-verity), make or remove a part of a file system below a directory that is open, or leave a key with it,
/// and Landlock is asked for none of them.
const OF_FILE_SYSTEMS: [u8; 7] = [b'f', 0x94, 0xf5, 0xbc, b'X', b'r', b'v'];
/// The ioctls of namespaces and of descriptors of processes. Some tell numbers of namespaces and control groups that the kernel counts
/// from its start on; no engine needs any.
const OF_NAMESPACES: [u8; 2] = [0xb7, 0xff];
/// The bit of statx(2)'s mask that asks for such a number of the mount (`STATX_MNT_ID_UNIQUE`).
const UNIQUE_MOUNT: u32 = 0x4000;
/// The ioctls that set a descriptor's owner, as fcntl does.
const FIOSETOWN: u32 = 0x8901;
const SIOCSPGRP: u32 = 0x8902;
const SO_NETNS_COOKIE: i32 = 71;
/// A process that asks for it shares no core with another: the sibling thread of its core then stands still while it runs.
const PR_SCHED_CORE: u32 = 62;
/// Equal pages of all processes that ask for it become one, and each can tell: by the time of a write, and by how many there are.
const PR_SET_MEMORY_MERGE: u32 = 67;
const MADV_MERGEABLE: u32 = libc::MADV_MERGEABLE as u32;
/// Makes a huge page of a file in memory, of which one byte on its way through a pipe then keeps all. Others of the kernel's ways to huge
/// pages are the administrator's to open for such files.
const MADV_COLLAPSE: u32 = 25;
/// Takes the pages of a file out of memory, of one that the user owns for everybody: how long another entry's first read takes tells it.
const MADV_PAGEOUT: u32 = libc::MADV_PAGEOUT as u32;
/// setsockopt(2): filters of the entry's own on a socket, classic and eBPF, for itself and for its group. The kernel's room for them is
/// one for the whole host, and the sandbox's own filter comes from there.
const SOCKET_FILTERS: [u32; 4] = [26, 50, 51, 52];
/// futex(2): waits at a word that another process may share, with and without a bit set and on either clock. The kernel finds who
/// waits by the file that the word lies in, and any file will do that both may read.
const SHARED_WAITS: [u32; 6] = [0, 9, 11, 256, 256 | 9, 256 | 11];
/// Those that let others wait at another word instead.
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
/// Drops a file's pages from memory, so that others can tell.
const FADV_DONTNEED: u32 = 4;
/// Tells whether a file's pages are in memory; drops them after use.
const RWF_NOWAIT_DONTCACHE: u32 = 0x8 | 0x80;

/// Builds the filter. `namespaced`: unix sockets, process numbers and foreign files are harmless where the
/// namespaces are the entry's own; elsewhere they are refused. Every start has the same filter, whatever is
/// written down of it: an entry could tell one from another by how long its calls take.
pub(in crate::sandbox) fn program(namespaced: bool) -> Vec<sock_filter> {
    let mut code = vec![load(ARCH)];
    for table in arch::TABLES {
        let body = block(table, namespaced);
        // A jump over the whole block: conditional jumps reach only 255 instructions.
        code.push(jump(BPF_JEQ, table.arch, 1, 0));
        code.push(over(body.len()));
        code.extend(body);
    }
    code.push(ret(libc::SECCOMP_RET_KILL_PROCESS));
    code
}

/// One table. The kernel runs the filter on every number there is when it is installed (to remember what is always
/// allowed), so the numbers are searched by halves and not one by one.
fn block(table: &CallTable, namespaced: bool) -> Vec<sock_filter> {
    let mut code = vec![load(NUMBER)];
    if let (false, Some(bit)) = (table.compat, arch::FOREIGN_BIT) {
        code.push(jump(BPF_JSET, bit, 0, 1));
        code.push(ret(then(FilterAnswer::Stop(StoppedCall::Denied), false)));
    }
    code.push(jump(BPF_JGT, table.last, 0, 1));
    code.push(ret(then(FilterAnswer::NoSuchCall, false)));
    let mut calls: BTreeMap<u32, Vec<Rule>> = BTreeMap::new();
    for rule in rules(table, namespaced) {
        calls.entry(rule.number).or_default().push(rule);
    }
    let calls: Vec<(u32, Vec<sock_filter>)> =
        calls.into_iter().map(|(number, rules)| (number, checks(&rules, table.compat))).collect();
    code.extend(search(&calls));
    code
}

/// Finds the number among these and does what its rules say; every way ends in it.
fn search(calls: &[(u32, Vec<sock_filter>)]) -> Vec<sock_filter> {
    /// So few are looked through one by one.
    const FEW: usize = 3;
    let mut code = Vec::new();
    let half = calls.len() / 2;
    match calls.get(half) {
        Some((middle, _)) if calls.len() > FEW => {
            let (below, above) = calls.split_at(half);
            let below = search(below);
            // A jump over the whole half: conditional jumps reach only 255 instructions.
            code.push(jump(BPF_JGE, *middle, 0, 1));
            code.push(over(below.len()));
            code.extend(below);
            code.extend(search(above));
        }
        _ => {
            for (number, checks) in calls {
                // A number has some ten rules at most.
                code.push(jump(BPF_JEQ, *number, 0, checks.len() as u8));
                code.extend(checks);
            }
            code.push(ret(libc::SECCOMP_RET_ALLOW));
        }
    }
    code
}

/// The rules on a call whose number is known, by their order; every way ends in them. Each instruction costs each start some
/// time, since the kernel translates the filter anew: a word that is at hand is not loaded again, and nothing stands behind a rule
/// that always holds.
fn checks(rules: &[Rule], compat: bool) -> Vec<sock_filter> {
    /// The second byte of a word.
    const FAMILY: u32 = 0xff00;
    let mut code = Vec::new();
    // The part of the call that is at hand, and the mask that it went through.
    let mut held = None;
    for rule in rules {
        let action = ret(then(rule.then, compat));
        let wanted = match rule.when {
            When::Always => {
                code.push(action);
                return code;
            }
            When::Bits(n, _) | When::Some(n, ..) | When::Is(n, _) => (argument(n), u32::MAX),
            When::IsNot(n, _) | When::Pair(n, ..) => (argument(n), u32::MAX),
            When::Huge(n) => (argument(n) + 4, u32::MAX),
            When::Family(n, _) => (argument(n), FAMILY),
        };
        if held != Some(wanted) {
            code.push(load(wanted.0));
            if let (_, FAMILY) = wanted {
                code.push(and(FAMILY));
            }
        }
        held = Some(wanted);
        match rule.when {
            When::Always => {}
            When::Bits(_, bits) => code.extend([jump(BPF_JSET, bits, 0, 1), action]),
            When::Some(_, set, unset) => {
                code.extend([jump(BPF_JSET, set, 0, 2), jump(BPF_JSET, unset, 1, 0), action]);
            }
            When::Is(_, value) => code.extend([jump(BPF_JEQ, value, 0, 1), action]),
            When::IsNot(_, value) => code.extend([jump(BPF_JEQ, value, 1, 0), action]),
            When::Huge(_) => code.extend([jump(BPF_JEQ, 0, 1, 0), action]),
            When::Family(_, family) => {
                code.extend([jump(BPF_JEQ, u32::from(family) << 8, 0, 1), action]);
            }
            When::Pair(n, first, second) => {
                code.extend([
                    jump(BPF_JEQ, first, 0, 3),
                    load(argument(n + 1)),
                    jump(BPF_JEQ, second, 0, 1),
                    action,
                ]);
                held = None;
            }
        }
    }
    code.push(ret(libc::SECCOMP_RET_ALLOW));
    code
}

fn rules(table: &CallTable, namespaced: bool) -> Vec<Rule> {
    let always = |number, stop| Rule { number, when: When::Always, then: FilterAnswer::Stop(stop) };
    let denied =
        |number, when| Rule { number, when, then: FilterAnswer::Stop(StoppedCall::Denied) };
    let mut rules = vec![
        always(table.exec, StoppedCall::Exec),
        always(table.execat, StoppedCall::ExecAt),
        // glibc falls back to clone, whose flags can be read here.
        Rule { number: table.clone3, when: When::Always, then: FilterAnswer::NoSuchCall },
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
    ];
    rules.extend(TELL_MOUNTS.map(|number| denied(number, When::Always)));
    rules.extend(
        OF_FILE_SYSTEMS
            .into_iter()
            .chain(OF_NAMESPACES)
            .map(|family| denied(table.ioctl, When::Family(1, family))),
    );
    let not_unix = When::IsNot(0, libc::AF_UNIX as u32);
    let socket = if namespaced { not_unix } else { When::Always };
    rules.push(denied(table.socket, socket));
    // A connected pair reaches nobody else, and run-times wait for their children through one (Rust's does). A pair
    // of datagram sockets could be pointed elsewhere: of the types, only those have the second bit.
    rules.push(denied(table.socketpair, not_unix));
    if !namespaced {
        rules.push(denied(table.socketpair, When::Bits(1, libc::SOCK_DGRAM as u32)));
    }
    rules.extend(table.always_denied.iter().copied().flatten().map(|&n| denied(n, When::Always)));
    rules.extend([OPEN_TREE_ATTR, FILE_SETATTR].map(|number| denied(number, When::Always)));
    // Memory that the kernel reads for its owner, and nobody else can.
    rules.push(denied(MEMFD_SECRET, When::Always));
    // Segments and queues that nobody has attached are memory that no process is seen to have; without an IPC namespace
    // they would outlive the entry on the host, too. Sixteen pages that were lent to a pipe keep as many huge pages.
    rules.extend(table.held_by_nobody.iter().map(|&number| denied(number, When::Always)));
    // Numbers that the kernel counts on from start to start.
    for cookie in [libc::SO_COOKIE, SO_NETNS_COOKIE] {
        let asked = When::Pair(1, libc::SOL_SOCKET as u32, cookie as u32);
        rules.push(denied(table.getsockopt, asked));
    }
    for option in SOCKET_FILTERS {
        let set = When::Pair(1, libc::SOL_SOCKET as u32, option);
        rules.push(denied(table.setsockopt, set));
    }
    let shared = table.shared_with_host.iter().copied().flatten();
    rules.extend(shared.map(|&number| denied(number, When::Always)));
    for command in SHARED_BY_FCNTL {
        rules.extend(table.fcntl.iter().map(|&number| denied(number, When::Is(1, command))));
    }
    let advised = |&(number, place)| denied(number, When::Is(place, FADV_DONTNEED));
    rules.extend(table.fadvise.iter().map(advised));
    rules.push(denied(table.mbind, When::Bits(5, MOVES_PAGES)));
    let flagged = |&number| denied(number, When::Bits(5, RWF_NOWAIT_DONTCACHE));
    rules.extend(table.flagged_reads.iter().map(flagged));
    // Files in memory that are on their way through a socket are held by no process.
    rules.extend(table.sends.iter().map(|&number| denied(number, When::Always)));
    for &number in table.futex {
        let waits = |op| Rule {
            number,
            when: When::Is(1, op),
            then: FilterAnswer::Stop(StoppedCall::SharedWait),
        };
        rules.extend(SHARED_WAITS.map(waits));
        rules.extend(SHARED_MOVES.map(|op| denied(number, When::Is(1, op))));
    }
    let missing = |number| Rule { number, when: When::Always, then: FilterAnswer::NoSuchCall };
    rules.extend(arch::NEW_FUTEX.map(missing));
    if namespaced {
        // Attributes stay with a file, or with HOME itself, and are no files that are found. Programs do without.
        let when = When::Always;
        let unsupported = |&number| Rule { number, when, then: FilterAnswer::NotSupported };
        rules.extend(table.attributes.iter().chain(&ATTRIBUTES_AT).map(unsupported));
        // The first process of the namespace is ours, and of the entry's user: the kernel would let it be changed.
        let stop = |number, when, stop| Rule { number, when, then: FilterAnswer::Stop(stop) };
        let first = |&number| stop(number, When::Is(0, 1), StoppedCall::Process);
        rules.extend(table.sets.iter().map(first));
        for &(number, user) in table.sets_second {
            rules.push(stop(number, When::Is(1, 1), StoppedCall::ProcessSecond));
            rules.push(stop(number, When::Is(0, user), StoppedCall::ProcessSecond));
            // The entry may be in the group of that first process.
            rules.push(stop(number, When::Pair(0, user - 1, 0), StoppedCall::ProcessSecond));
        }
    }
    if !namespaced {
        // Without a process namespace, the user's other processes can be reached by number.
        let stops = |numbers: &'static [u32], stop| numbers.iter().map(move |&n| always(n, stop));
        rules.extend(stops(table.processes, StoppedCall::Process));
        rules.extend(stops(table.processes_second, StoppedCall::ProcessSecond));
        rules.extend(table.clocks.iter().map(|&number| Rule {
            number,
            when: When::Bits(0, CLOCK_OF_PROCESS),
            then: FilterAnswer::Stop(StoppedCall::ProcessClock),
        }));
        for &number in table.fcntl {
            rules.push(denied(number, When::Is(1, F_SETOWN)));
            rules.push(denied(number, When::Is(1, F_SETOWN_EX)));
        }
        // Landlock confines neither mode nor times nor attributes of files that the entry owns or may write.
        rules.extend(table.meta.iter().flat_map(|numbers| stops(numbers, StoppedCall::Meta)));
        rules.extend(ATTRIBUTES_AT.iter().map(|&number| denied(number, When::Always)));
    }
    rules.extend(
        table
            .paths
            .iter()
            .chain(table.looks)
            .copied()
            .flatten()
            .map(|&(number, stop)| always(number, stop)),
    );
    rules.extend(
        table.forks.iter().chain([&table.clone]).map(|&number| always(number, StoppedCall::Clone)),
    );
    rules.extend(table.mmap.map(|number| Rule {
        number,
        when: When::Huge(1),
        then: FilterAnswer::Stop(StoppedCall::BigMap),
    }));
    rules
}

fn then(then: FilterAnswer, compat: bool) -> u32 {
    match then {
        FilterAnswer::Stop(stop) => {
            let flag = if compat { COMPAT } else { 0 };
            libc::SECCOMP_RET_TRACE | u32::from(stop as u16 | flag)
        }
        FilterAnswer::NoSuchCall => libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32,
        FilterAnswer::NotSupported => libc::SECCOMP_RET_ERRNO | libc::EOPNOTSUPP as u32,
    }
}

fn load(offset: u32) -> sock_filter {
    sock_filter { code: (BPF_LD | BPF_W | BPF_ABS) as u16, jt: 0, jf: 0, k: offset }
}

fn jump(test: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: (BPF_JMP | test | BPF_K) as u16, jt, jf, k }
}

fn and(mask: u32) -> sock_filter {
    sock_filter { code: (BPF_ALU | BPF_AND | BPF_K) as u16, jt: 0, jf: 0, k: mask }
}

fn over(count: usize) -> sock_filter {
    sock_filter { code: (BPF_JMP | BPF_JA) as u16, jt: 0, jf: 0, k: count as u32 }
}

fn ret(action: u32) -> sock_filter {
    sock_filter { code: (BPF_RET | BPF_K) as u16, jt: 0, jf: 0, k: action }
}

#[cfg(all(test, target_arch = "x86_64"))]
pub(in crate::sandbox) mod tests {
    use super::super::arch::LAST;
    use super::*;

    const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;
    const AUDIT_ARCH_I386: u32 = 0x4000_0003;
    const X32_BIT: u32 = 0x4000_0000;

    /// A tiny interpreter of the instructions that the assembler uses.
    pub(in crate::sandbox) fn run(
        program: &[sock_filter],
        arch: u32,
        number: u32,
        args: [u64; 6],
    ) -> u32 {
        let word = |offset: u32| match offset {
            NUMBER => number,
            ARCH => arch,
            o => {
                let arg = args[(o as usize - 16) / 8];
                if o % 8 == 0 { arg as u32 } else { (arg >> 32) as u32 }
            }
        };
        let (mut pc, mut acc) = (0usize, 0u32);
        loop {
            let i = program[pc];
            pc += 1;
            match u32::from(i.code) {
                c if c == BPF_LD | BPF_W | BPF_ABS => acc = word(i.k),
                c if c == BPF_RET | BPF_K => return i.k,
                c if c == BPF_ALU | BPF_AND | BPF_K => acc &= i.k,
                c if c == BPF_JMP | BPF_JA => pc += i.k as usize,
                c => {
                    let yes = match c & 0xf0 {
                        BPF_JEQ => acc == i.k,
                        BPF_JGT => acc > i.k,
                        BPF_JGE => acc >= i.k,
                        _ => acc & i.k != 0,
                    };
                    pc += usize::from(if yes { i.jt } else { i.jf });
                }
            }
        }
    }

    /// The first rule that applies, looked for one by one.
    fn first_rule(table: &CallTable, number: u32, args: [u64; 6], bare: bool) -> u32 {
        let low = |n: u32| args[n as usize] as u32;
        let applies = |rule: &Rule| match rule.when {
            When::Always => true,
            When::Bits(n, bits) => low(n) & bits != 0,
            When::Some(n, set, unset) => low(n) & set == set && low(n) & unset == 0,
            When::Is(n, value) => low(n) == value,
            When::IsNot(n, value) => low(n) != value,
            When::Huge(n) => args[n as usize] >> 32 != 0,
            When::Pair(n, first, second) => low(n) == first && low(n + 1) == second,
            When::Family(n, family) => low(n).to_le_bytes()[1] == family,
        };
        let rules = rules(table, !bare);
        let found = rules.iter().find(|rule| rule.number == number && applies(rule));
        found.map_or(libc::SECCOMP_RET_ALLOW, |rule| then(rule.then, table.compat))
    }

    #[test]
    fn every_number_gets_the_word_of_its_first_rule() {
        let words =
            [0, 1, 2, 4, 8, 15, 22, 0x5412, 0x541c, 0x4008_6602, 0x1000_0011, 0x80_0000, 1 << 32];
        for bare in [true, false] {
            let p = program(!bare);
            for (table, arch) in arch::TABLES.iter().zip([AUDIT_ARCH_X86_64, AUDIT_ARCH_I386]) {
                for number in 0..=table.last {
                    for word in
                        words.into_iter().chain([12, 62, 67, 0x4000, 0xb705, 1 << 31, 256 | 9])
                    {
                        for args in [[word; 6], [4, word, 0, 0, 0, 0]] {
                            let wanted = first_rule(table, number, args, bare);
                            assert_eq!(run(&p, arch, number, args), wanted, "{number} {args:?}");
                        }
                    }
                }
            }
        }
    }

    const DENIED: u32 = libc::SECCOMP_RET_TRACE | StoppedCall::Denied as u32;

    #[test]
    fn native_calls() {
        let p = program(true);
        let call = |nr: i64, args| run(&p, AUDIT_ARCH_X86_64, nr as u32, args);
        assert_eq!(call(libc::SYS_read, [0; 6]), libc::SECCOMP_RET_ALLOW);
        assert_eq!(
            call(libc::SYS_openat, [0; 6]),
            libc::SECCOMP_RET_TRACE | StoppedCall::OpenAt as u32
        );
        assert_eq!(call(libc::SYS_sendmsg, [0; 6]), DENIED);
        assert_eq!(call(MEMFD_SECRET.into(), [0; 6]), DENIED);
        for owner in [FIOSETOWN, SIOCSPGRP] {
            assert_eq!(call(libc::SYS_ioctl, [0, owner.into(), 0, 0, 0, 0]), DENIED);
            assert_eq!(
                run(&p, AUDIT_ARCH_I386, 54, [0, owner.into(), 0, 0, 0, 0]),
                DENIED | u32::from(COMPAT)
            );
        }
        let thread = (libc::CLONE_VM | libc::CLONE_SIGHAND | libc::CLONE_THREAD) as u64;
        assert_eq!(call(libc::SYS_clone, [thread, 0, 0, 0, 0, 0]), DENIED);
        let shared = thread | libc::CLONE_FILES as u64;
        let stops = libc::SECCOMP_RET_TRACE | StoppedCall::Clone as u32;
        assert_eq!(call(libc::SYS_clone, [shared, 0, 0, 0, 0, 0]), stops);
        assert_eq!(call(libc::SYS_execve, [0; 6]), libc::SECCOMP_RET_TRACE | 1);
        assert_eq!(call(libc::SYS_ptrace, [0; 6]), DENIED);
        assert_eq!(call(libc::SYS_mq_open, [0; 6]), DENIED);
        assert_eq!(call(libc::SYS_vmsplice, [0; 6]), DENIED);
        assert_eq!(call(libc::SYS_uselib, [0; 6]), DENIED);
        assert_eq!(run(&p, AUDIT_ARCH_I386, 86, [0; 6]), DENIED | u32::from(COMPAT));
        assert_eq!(call(libc::SYS_socket, [libc::AF_INET as u64, 1, 0, 0, 0, 0]), DENIED);
        let unix = [libc::AF_UNIX as u64, 1, 0, 0, 0, 0];
        assert_eq!(call(libc::SYS_socket, unix), libc::SECCOMP_RET_ALLOW);
        let newuser = [libc::CLONE_NEWUSER as u64 | 17, 0, 0, 0, 0, 0];
        assert_eq!(call(libc::SYS_clone, newuser), DENIED);
        assert_eq!(
            call(libc::SYS_clone, [17, 0, 0, 0, 0, 0]),
            libc::SECCOMP_RET_TRACE | StoppedCall::Clone as u32
        );
        assert_eq!(call(libc::SYS_clone3, [0; 6]), libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32);
        let sti = [0, u64::from(TIOCSTI) | 1 << 32, 0, 0, 0, 0];
        assert_eq!(call(libc::SYS_ioctl, sti), DENIED);
        assert_eq!(call(libc::SYS_ioctl, [0, 0x5401, 0, 0, 0, 0]), libc::SECCOMP_RET_ALLOW);
        let x32 = run(&p, AUDIT_ARCH_X86_64, X32_BIT | 59, [0; 6]);
        assert_eq!(x32, DENIED);
        assert_eq!(
            call(i64::from(LAST) + 1, [0; 6]),
            libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32
        );
        let dumpable = libc::PR_SET_DUMPABLE as u64;
        assert_eq!(call(libc::SYS_prctl, [dumpable, 0, 0, 0, 0, 0]), DENIED);
        assert_eq!(call(libc::SYS_prctl, [dumpable, 1, 0, 0, 0, 0]), libc::SECCOMP_RET_ALLOW);
        assert_eq!(call(libc::SYS_prctl, [22, 2, 0, 0, 0, 0]), DENIED);
        assert_eq!(call(libc::SYS_seccomp, [1, 8, 0, 0, 0, 0]), DENIED);
        assert_eq!(call(libc::SYS_clone, [0x0080_0011, 0, 0, 0, 0, 0]), DENIED);
        assert_eq!(call(libc::SYS_chmod, [0; 6]), libc::SECCOMP_RET_ALLOW);
        let unsupported = libc::SECCOMP_RET_ERRNO | libc::EOPNOTSUPP as u32;
        assert_eq!(call(libc::SYS_setxattr, [0; 6]), unsupported);
        assert_eq!(run(&p, AUDIT_ARCH_I386, 228, [0; 6]), unsupported);
        let bare = program(false);
        let kill = run(&bare, AUDIT_ARCH_X86_64, libc::SYS_kill as u32, [0; 6]);
        assert_eq!(kill, libc::SECCOMP_RET_TRACE | StoppedCall::Process as u32);
    }

    #[test]
    fn other_tables_and_architectures() {
        let p = program(false);
        assert_eq!(run(&p, AUDIT_ARCH_I386, 102, [0; 6]), DENIED | u32::from(COMPAT));
        let set_flags = run(&p, AUDIT_ARCH_I386, 54, [0, 0x4004_6602, 0, 0, 0, 0]);
        assert_eq!(set_flags, DENIED | u32::from(COMPAT));
        let pair = |kind: i32| {
            let args = [libc::AF_UNIX as u64, kind as u64, 0, 0, 0, 0];
            run(&p, AUDIT_ARCH_X86_64, libc::SYS_socketpair as u32, args)
        };
        assert_eq!(pair(libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC), libc::SECCOMP_RET_ALLOW);
        assert_eq!(pair(libc::SOCK_STREAM), libc::SECCOMP_RET_ALLOW);
        assert_eq!((pair(libc::SOCK_DGRAM), pair(libc::SOCK_RAW)), (DENIED, DENIED));
        let exec = run(&p, AUDIT_ARCH_I386, 11, [0; 6]);
        assert_eq!(
            StoppedCall::from_message(i64::from(exec & 0xffff)),
            Some((StoppedCall::Exec, true))
        );
        assert_eq!(run(&p, 0xc000_00b7, 1, [0; 6]), libc::SECCOMP_RET_KILL_PROCESS);
        let unix = [libc::AF_UNIX as u64, 1, 0, 0, 0, 0];
        assert_eq!(run(&p, AUDIT_ARCH_X86_64, libc::SYS_socket as u32, unix), DENIED);
    }

    #[test]
    fn only_huge_mappings_stop() {
        let p = program(true);
        let map =
            |len: u64| run(&p, AUDIT_ARCH_X86_64, libc::SYS_mmap as u32, [0, len, 0, 0, 0, 0]);
        assert_eq!(map(1 << 20), libc::SECCOMP_RET_ALLOW);
        assert_eq!(map(256 << 30), libc::SECCOMP_RET_TRACE | StoppedCall::BigMap as u32);
    }
}
