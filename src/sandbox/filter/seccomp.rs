//! The system call filter as the kernel runs it, made of the rules.
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

use super::arch::{self, CallTable};
use super::rules::{CallRule, FilterAnswer, When, rules};
use super::stop::{COMPAT, StoppedCall};

// Offsets in struct seccomp_data.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const fn argument(n: u32) -> u32 {
    16 + 8 * n
}

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
    let mut calls: BTreeMap<u32, Vec<CallRule>> = BTreeMap::new();
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
    /// The most numbers that are looked through one by one.
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
fn checks(rules: &[CallRule], compat: bool) -> Vec<sock_filter> {
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

fn then(then: FilterAnswer, compat: bool) -> u32 {
    match then {
        FilterAnswer::Stop(stop) => {
            let flag = if compat { COMPAT } else { 0 };
            libc::SECCOMP_RET_TRACE | u32::from(stop as u16 | flag)
        }
        FilterAnswer::NoSuchCall => libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32,
        FilterAnswer::NotSupported => libc::SECCOMP_RET_ERRNO | libc::EOPNOTSUPP as u32,
        FilterAnswer::Done => libc::SECCOMP_RET_ERRNO,
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
    use super::super::arch::{LAST, MEMFD_SECRET};
    use super::super::rules::{FIOSETOWN, SIOCSPGRP, TIOCSTI};
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
        let applies = |rule: &CallRule| match rule.when {
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
        let kill = |whom: u64, signal| call(libc::SYS_kill, [whom, signal, 0, 0, 0, 0]);
        assert_eq!(kill(2, 0), libc::SECCOMP_RET_ERRNO);
        assert_eq!([kill(2, 9), kill(3, 0), kill(1, 0)], [libc::SECCOMP_RET_ALLOW; 3]);
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
    fn without_a_network_namespace_no_socket_tells_of_interfaces_or_gets_a_name() {
        let both = |namespaced, native: i64, i386, args| {
            let p = program(namespaced);
            let compat = run(&p, AUDIT_ARCH_I386, i386, args);
            (run(&p, AUDIT_ARCH_X86_64, native as u32, args), compat)
        };
        let (denied, allowed) = (DENIED | u32::from(COMPAT), libc::SECCOMP_RET_ALLOW);
        for request in [0x8912, 0x8b01, 1 << 32 | 0x8910] {
            let args = [0, request, 0, 0, 0, 0];
            assert_eq!(both(false, libc::SYS_ioctl, 54, args), (DENIED, denied), "{request:x}");
            assert_eq!(both(true, libc::SYS_ioctl, 54, args), (allowed, allowed), "{request:x}");
        }
        let senders = [libc::SO_PASSCRED, 76];
        for option in [libc::SO_BINDTODEVICE, libc::SO_BINDTOIFINDEX].into_iter().chain(senders) {
            let args = [0, 1, option as u64, 0, 0, 0];
            assert_eq!(both(false, libc::SYS_setsockopt, 366, args), (DENIED, denied), "{option}");
            assert_eq!(both(true, libc::SYS_setsockopt, 366, args), (allowed, allowed));
        }
        // What is asked of pipes and pairs: the bytes that wait, and not to block.
        for request in [libc::FIONREAD, libc::FIONBIO, libc::TIOCOUTQ] {
            let args = [0, request, 0, 0, 0, 0];
            assert_eq!(both(false, libc::SYS_ioctl, 54, args), (allowed, allowed), "{request:x}");
        }
    }

    #[test]
    fn only_huge_mappings_and_those_of_huge_pages_stop() {
        let p = program(true);
        let map =
            |len: u64| run(&p, AUDIT_ARCH_X86_64, libc::SYS_mmap as u32, [0, len, 0, 0, 0, 0]);
        assert_eq!(map(1 << 20), libc::SECCOMP_RET_ALLOW);
        assert_eq!(map(256 << 30), libc::SECCOMP_RET_TRACE | StoppedCall::BigMap as u32);
        let stops = libc::SECCOMP_RET_TRACE | StoppedCall::HugePages as u32;
        let flagged = |arch, number, len: u64, flags: i32| {
            run(&p, arch, number, [0, len, 3, flags as u64, u64::MAX, 0])
        };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let huge = flags | libc::MAP_HUGETLB;
        for len in [2 << 20, 256 << 30] {
            assert_eq!(flagged(AUDIT_ARCH_X86_64, libc::SYS_mmap as u32, len, huge), stops);
        }
        let plain = flagged(AUDIT_ARCH_X86_64, libc::SYS_mmap as u32, 2 << 20, flags);
        assert_eq!(plain, libc::SECCOMP_RET_ALLOW);
        assert_eq!(flagged(AUDIT_ARCH_I386, 192, 2 << 20, huge), stops | u32::from(COMPAT));
    }
}
