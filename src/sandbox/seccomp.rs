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

use libc::{
    BPF_ABS, BPF_JA, BPF_JEQ, BPF_JGT, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W,
    sock_filter,
};

use super::plan::Audit;

/// What a stopped call is; travels in the 16 data bits of SECCOMP_RET_TRACE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Stop {
    /// `execve(path, argv)`.
    Exec = 1,
    /// `execveat(dirfd, path, argv)`.
    ExecAt,
    /// `open(path, flags)`.
    Open,
    /// `openat(dirfd, path, flags)`.
    OpenAt,
    /// `openat2(dirfd, path, how)`.
    OpenAt2,
    /// `creat`, `mkdir`, `mknod`: the path comes first.
    Create,
    /// `mkdirat`, `mknodat`: directory, path.
    CreateAt,
    /// `rename`, `link`, `symlink`: the new path is the second.
    CreateSecond,
    /// `renameat`, `linkat`: the new directory and path are the third and fourth.
    CreateThird,
    /// `symlinkat`: the new directory and path are the second and third.
    SymlinkAt,
    /// `stat`, `lstat`, `access`: shells looking for a command.
    Look,
    /// `newfstatat`, `faccessat`, `statx`.
    LookAt,
    /// `mmap` of 4 GiB or more.
    BigMap,
    /// `clone`, `fork`, `vfork`.
    Clone,
    /// Refused; the tracer names it and makes it fail with EPERM.
    Denied,
    /// A call on the process of the first argument: the tracer lets it reach the entry's own only.
    Process,
    /// The same where the process is the second argument (`setpriority`, `ioprio_set`).
    ProcessSecond,
    /// Changes a file's mode, owner, times or attributes, which Landlock does not confine.
    Meta,
}

/// The i386 flag beside the [`Stop`].
const COMPAT: u16 = 0x100;

impl Stop {
    const ALL: [Stop; 18] = [
        Stop::Exec,
        Stop::ExecAt,
        Stop::Open,
        Stop::OpenAt,
        Stop::OpenAt2,
        Stop::Create,
        Stop::CreateAt,
        Stop::CreateSecond,
        Stop::CreateThird,
        Stop::SymlinkAt,
        Stop::Look,
        Stop::LookAt,
        Stop::BigMap,
        Stop::Clone,
        Stop::Denied,
        Stop::Process,
        Stop::ProcessSecond,
        Stop::Meta,
    ];

    /// The stop and whether it is a call of the i386 table, from the event's message.
    pub(super) fn from_message(message: i64) -> Option<(Stop, bool)> {
        let data = message as u16;
        let stop = Stop::ALL.into_iter().find(|stop| *stop as u16 == data & !COMPAT)?;
        Some((stop, data & COMPAT != 0))
    }
}

const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;
const AUDIT_ARCH_I386: u32 = 0x4000_0003;
const X32_BIT: u32 = 0x4000_0000;
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
    /// The low word of argument n is this.
    Is(u32, u32),
    /// The low word of argument n is not this.
    IsNot(u32, u32),
    /// The high word of argument n is not zero.
    Huge(u32),
    /// The low words of the first and the second argument are these.
    Pair(u32, u32),
}

#[derive(Clone, Copy)]
enum Then {
    Stop(Stop),
    NoSuchCall,
}

struct Rule {
    number: u32,
    when: When,
    then: Then,
}

/// The calls of one architecture's table.
struct Table {
    arch: u32,
    compat: bool,
    exec: u32,
    execat: u32,
    paths: &'static [(u32, Stop)],
    looks: &'static [(u32, Stop)],
    mmap: Option<u32>,
    forks: &'static [u32],
    clone: u32,
    clone3: u32,
    ioctl: u32,
    sockets: &'static [u32],
    always_denied: &'static [u32],
    shared_memory: &'static [u32],
    prctl: u32,
    fcntl: &'static [u32],
    /// Calls on a process by its number, as the first and as the second argument.
    processes: &'static [u32],
    processes_second: &'static [u32],
    /// Calls that change a file's mode, owner, times or extended attributes.
    meta: &'static [u32],
    /// The last call that this program knows.
    last: u32,
}

macro_rules! numbers {
    ($($name:ident)*) => { &[$(libc::$name as u32),*] };
}

const NATIVE: Table = Table {
    arch: AUDIT_ARCH_X86_64,
    compat: false,
    exec: libc::SYS_execve as u32,
    execat: libc::SYS_execveat as u32,
    paths: &[
        (libc::SYS_open as u32, Stop::Open),
        (libc::SYS_openat as u32, Stop::OpenAt),
        (libc::SYS_openat2 as u32, Stop::OpenAt2),
        (libc::SYS_creat as u32, Stop::Create),
        (libc::SYS_mkdir as u32, Stop::Create),
        (libc::SYS_mknod as u32, Stop::Create),
        (libc::SYS_mkdirat as u32, Stop::CreateAt),
        (libc::SYS_mknodat as u32, Stop::CreateAt),
        (libc::SYS_rename as u32, Stop::CreateSecond),
        (libc::SYS_link as u32, Stop::CreateSecond),
        (libc::SYS_symlink as u32, Stop::CreateSecond),
        (libc::SYS_renameat as u32, Stop::CreateThird),
        (libc::SYS_renameat2 as u32, Stop::CreateThird),
        (libc::SYS_linkat as u32, Stop::CreateThird),
        (libc::SYS_symlinkat as u32, Stop::SymlinkAt),
    ],
    looks: &[
        (libc::SYS_stat as u32, Stop::Look),
        (libc::SYS_access as u32, Stop::Look),
        (libc::SYS_newfstatat as u32, Stop::LookAt),
        (libc::SYS_faccessat as u32, Stop::LookAt),
        (libc::SYS_faccessat2 as u32, Stop::LookAt),
    ],
    mmap: Some(libc::SYS_mmap as u32),
    forks: numbers!(SYS_fork SYS_vfork),
    clone: libc::SYS_clone as u32,
    clone3: libc::SYS_clone3 as u32,
    ioctl: libc::SYS_ioctl as u32,
    sockets: numbers!(SYS_socket SYS_socketpair),
    always_denied: numbers!(
        SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_kcmp SYS_pidfd_getfd
        SYS_unshare SYS_setns SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot
        SYS_open_tree SYS_move_mount SYS_fsopen SYS_fsconfig SYS_fsmount SYS_fspick SYS_mount_setattr
        SYS_bpf SYS_perf_event_open SYS_userfaultfd
        SYS_add_key SYS_request_key SYS_keyctl
        SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register
        SYS_kexec_load SYS_kexec_file_load SYS_init_module SYS_finit_module SYS_delete_module
        SYS_open_by_handle_at SYS_name_to_handle_at SYS_fanotify_init SYS_fanotify_mark
        SYS_acct SYS_swapon SYS_swapoff SYS_reboot SYS_quotactl SYS_quotactl_fd
        SYS_settimeofday SYS_clock_settime SYS_clock_adjtime SYS_adjtimex
        SYS_sethostname SYS_setdomainname SYS_iopl SYS_ioperm SYS_syslog SYS_vhangup
        SYS_mq_open SYS_modify_ldt
        // A filter of the entry's own could overrule ours: of two actions the kernel takes a notification
        // (which may then say "go on") before a stop, and of two stops the data of the newer filter.
        SYS_seccomp
    ),
    shared_memory: numbers!(SYS_shmget SYS_msgget SYS_semget),
    prctl: libc::SYS_prctl as u32,
    fcntl: numbers!(SYS_fcntl),
    processes: numbers!(
        SYS_kill SYS_tkill SYS_tgkill SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo SYS_pidfd_open
        SYS_prlimit64 SYS_sched_setaffinity SYS_sched_setscheduler SYS_sched_setparam SYS_sched_setattr
        SYS_migrate_pages SYS_move_pages
    ),
    processes_second: numbers!(SYS_setpriority SYS_ioprio_set),
    meta: numbers!(
        SYS_chmod SYS_fchmod SYS_fchmodat SYS_fchmodat2 SYS_chown SYS_lchown SYS_fchown SYS_fchownat
        SYS_utime SYS_utimes SYS_futimesat SYS_utimensat
        SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_removexattr SYS_lremovexattr SYS_fremovexattr
    ),
    last: LAST,
};

/// The newest call that was weighed (`file_setattr`, Linux 6.17). What a later kernel adds nobody has weighed yet: ENOSYS, as on an
/// older kernel. Both tables have the same numbers here.
const LAST: u32 = 469;
/// Linux 6.15, in both tables.
const OPEN_TREE_ATTR: u32 = 467;

/// The i386 table; numbers from the kernel's arch/x86/entry/syscalls/syscall_32.tbl.
const I386: Table = Table {
    arch: AUDIT_ARCH_I386,
    compat: true,
    exec: 11,
    execat: 358,
    paths: &[
        (5, Stop::Open),
        (295, Stop::OpenAt),
        (437, Stop::OpenAt2),
        (8, Stop::Create),
        (39, Stop::Create),
        (14, Stop::Create),
        (296, Stop::CreateAt),
        (297, Stop::CreateAt),
        (38, Stop::CreateSecond),
        (9, Stop::CreateSecond),
        (83, Stop::CreateSecond),
        (302, Stop::CreateThird),
        (353, Stop::CreateThird),
        (303, Stop::CreateThird),
        (304, Stop::SymlinkAt),
    ],
    looks: &[
        (106, Stop::Look),
        (195, Stop::Look),
        (33, Stop::Look),
        (300, Stop::LookAt),
        (307, Stop::LookAt),
        (439, Stop::LookAt),
    ],
    mmap: None,
    forks: &[2, 190],
    clone: 120,
    clone3: 435,
    ioctl: 54,
    sockets: &[359, 360],
    always_denied: &[
        102, // socketcall: its arguments are in memory and cannot be filtered
        26, 347, 348, 349,
        438, // ptrace, process_vm_readv, process_vm_writev, kcmp, pidfd_getfd
        310, 346, 21, 22, 52, 217,
        61, // unshare, setns, mount, umount, umount2, pivot_root, chroot
        428, 429, 430, 431, 432, 433, 442, // open_tree … fspick, mount_setattr
        357, 336, 374, 286, 287,
        288, // bpf, perf_event_open, userfaultfd, add_key, request_key, keyctl
        425, 426, 427, // io_uring
        283, 128, 350, 129, // kexec_load, init_module, finit_module, delete_module
        342, 341, 338, 339, // open_by_handle_at, name_to_handle_at, fanotify
        51, 87, 115, 88, 131, 443, // acct, swapon, swapoff, reboot, quotactl, quotactl_fd
        79, 25, 264, 404, 343, 405,
        124, // settimeofday, stime, clock_settime, clock_adjtime, adjtimex
        74, 121, 110, 101, 103,
        111, // sethostname, setdomainname, iopl, ioperm, syslog, vhangup
        277, 117, 123, 354, // mq_open, ipc, modify_ldt, seccomp
    ],
    shared_memory: &[395, 399, 393],
    prctl: 172,
    fcntl: &[55, 221],
    // kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_open, prlimit64, sched_setaffinity,
    // sched_setscheduler, sched_setparam, sched_setattr, migrate_pages, move_pages
    processes: &[37, 238, 270, 178, 335, 434, 340, 241, 156, 154, 351, 294, 317],
    processes_second: &[97, 289],
    // chmod … fchmodat2; chown with 16 and 32 bits; utime …; the attributes
    meta: &[
        15, 94, 306, 452, 182, 16, 95, 212, 198, 207, 298, 30, 271, 299, 320, 412, 226, 227, 228,
        235, 236, 237,
    ],
    last: LAST,
};

/// The terminal ioctls that push input into, or drive, the supervisor's terminal.
const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;
/// The ioctls that change a file's flags (`chattr`) through a descriptor that may only read it.
const FS_IOC_SETFLAGS: u32 = 0x4008_6602;
const FS_IOC_FSSETXATTR: u32 = 0x401c_5820;
/// The descriptor's owner gets a signal of the caller's choice: another way to kill.
const F_SETOWN: u32 = 8;
const F_SETOWN_EX: u32 = 15;
/// setxattrat, removexattrat (Linux 6.13) and file_setattr (6.17).
const META_AT: [u32; 3] = [463, 466, 469];

/// Builds the filter. `namespaced`: unix sockets, process numbers and foreign files are harmless where the
/// namespaces are the entry's own; elsewhere they are refused. `lazy_memory`: large mappings stop even where
/// nothing is audited.
pub(super) fn program(audit: Audit, namespaced: bool, lazy_memory: bool) -> Vec<sock_filter> {
    let mut code = vec![load(ARCH)];
    for table in [&NATIVE, &I386] {
        let body = block(table, audit, namespaced, lazy_memory);
        // A jump over the whole block: conditional jumps reach only 255 instructions.
        code.push(jump(BPF_JEQ, table.arch, 1, 0));
        code.push(sock_filter {
            code: (BPF_JMP | BPF_JA) as u16,
            jt: 0,
            jf: 0,
            k: body.len() as u32,
        });
        code.extend(body);
    }
    code.push(ret(libc::SECCOMP_RET_KILL_PROCESS));
    code
}

fn block(table: &Table, audit: Audit, namespaced: bool, lazy_memory: bool) -> Vec<sock_filter> {
    let mut code = vec![load(NUMBER)];
    if !table.compat {
        code.push(jump(BPF_JSET, X32_BIT, 0, 1));
        code.push(ret(then(Then::Stop(Stop::Denied), false)));
    }
    code.push(jump(BPF_JGT, table.last, 0, 1));
    code.push(ret(then(Then::NoSuchCall, false)));
    for rule in rules(table, audit, namespaced, lazy_memory) {
        let action = ret(then(rule.then, table.compat));
        let (load_argument, test) = match rule.when {
            When::Always => {
                code.extend([jump(BPF_JEQ, rule.number, 0, 1), action]);
                continue;
            }
            When::Bits(n, bits) => (load(argument(n)), jump(BPF_JSET, bits, 0, 1)),
            When::Is(n, value) => (load(argument(n)), jump(BPF_JEQ, value, 0, 1)),
            When::IsNot(n, value) => (load(argument(n)), jump(BPF_JEQ, value, 1, 0)),
            When::Huge(n) => (load(argument(n) + 4), jump(BPF_JEQ, 0, 1, 0)),
            When::Pair(first, second) => {
                code.extend([
                    jump(BPF_JEQ, rule.number, 0, 6),
                    load(argument(0)),
                    jump(BPF_JEQ, first, 0, 3),
                    load(argument(1)),
                    jump(BPF_JEQ, second, 0, 1),
                    action,
                    load(NUMBER),
                ]);
                continue;
            }
        };
        code.extend([jump(BPF_JEQ, rule.number, 0, 4), load_argument, test, action, load(NUMBER)]);
    }
    code.push(ret(libc::SECCOMP_RET_ALLOW));
    code
}

fn rules(table: &Table, audit: Audit, namespaced: bool, lazy_memory: bool) -> Vec<Rule> {
    let always = |number, stop| Rule { number, when: When::Always, then: Then::Stop(stop) };
    let denied = |number, when| Rule { number, when, then: Then::Stop(Stop::Denied) };
    let mut rules = vec![
        always(table.exec, Stop::Exec),
        always(table.execat, Stop::ExecAt),
        // glibc falls back to clone, whose flags can be read here.
        Rule { number: table.clone3, when: When::Always, then: Then::NoSuchCall },
        denied(table.clone, When::Bits(0, REFUSED_CLONES)),
        denied(table.ioctl, When::Is(1, TIOCSTI)),
        denied(table.ioctl, When::Is(1, TIOCLINUX)),
        denied(table.ioctl, When::Is(1, FS_IOC_SETFLAGS)),
        denied(table.ioctl, When::Is(1, FS_IOC_FSSETXATTR)),
        denied(table.prctl, When::Is(0, libc::PR_SET_SECCOMP as u32)),
        // What hides its memory from the tracer hides what it opens and starts.
        denied(table.prctl, When::Pair(libc::PR_SET_DUMPABLE as u32, 0)),
    ];
    for &number in table.sockets {
        let when = if namespaced { When::IsNot(0, libc::AF_UNIX as u32) } else { When::Always };
        rules.push(denied(number, when));
    }
    rules.extend(table.always_denied.iter().map(|&number| denied(number, When::Always)));
    rules.push(denied(OPEN_TREE_ATTR, When::Always));
    if !namespaced {
        // Without an IPC namespace a segment would outlive the entry on the host.
        rules.extend(table.shared_memory.iter().map(|&number| denied(number, When::Always)));
        // Without a process namespace, the user's other processes can be reached by number.
        let stops = |numbers: &'static [u32], stop| numbers.iter().map(move |&n| always(n, stop));
        rules.extend(stops(table.processes, Stop::Process));
        rules.extend(stops(table.processes_second, Stop::ProcessSecond));
        for &number in table.fcntl {
            rules.push(denied(number, When::Is(1, F_SETOWN)));
            rules.push(denied(number, When::Is(1, F_SETOWN_EX)));
        }
        // Landlock confines neither mode nor times nor attributes of files that the entry owns or may write.
        rules.extend(stops(table.meta, Stop::Meta));
        rules.extend(META_AT.iter().map(|&number| denied(number, When::Always)));
    }
    if audit == Audit::Full {
        rules.extend(
            table.paths.iter().chain(table.looks).map(|&(number, stop)| always(number, stop)),
        );
        rules.extend(
            table.forks.iter().chain([&table.clone]).map(|&number| always(number, Stop::Clone)),
        );
    }
    // (To be made lazy, they must stop in every run.)
    if audit == Audit::Full || lazy_memory {
        rules.extend(table.mmap.map(|number| Rule {
            number,
            when: When::Huge(1),
            then: Then::Stop(Stop::BigMap),
        }));
    }
    rules
}

fn then(then: Then, compat: bool) -> u32 {
    match then {
        Then::Stop(stop) => {
            let flag = if compat { COMPAT } else { 0 };
            libc::SECCOMP_RET_TRACE | u32::from(stop as u16 | flag)
        }
        Then::NoSuchCall => libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32,
    }
}

fn load(offset: u32) -> sock_filter {
    sock_filter { code: (BPF_LD | BPF_W | BPF_ABS) as u16, jt: 0, jf: 0, k: offset }
}

fn jump(test: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: (BPF_JMP | test | BPF_K) as u16, jt, jf, k }
}

fn ret(action: u32) -> sock_filter {
    sock_filter { code: (BPF_RET | BPF_K) as u16, jt: 0, jf: 0, k: action }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tiny interpreter of the instructions that the assembler uses.
    fn run(program: &[sock_filter], arch: u32, number: u32, args: [u64; 6]) -> u32 {
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
                c if c == BPF_JMP | BPF_JA => pc += i.k as usize,
                c => {
                    let yes = match c & 0xf0 {
                        BPF_JEQ => acc == i.k,
                        BPF_JGT => acc > i.k,
                        _ => acc & i.k != 0,
                    };
                    pc += usize::from(if yes { i.jt } else { i.jf });
                }
            }
        }
    }

    const DENIED: u32 = libc::SECCOMP_RET_TRACE | Stop::Denied as u32;

    #[test]
    fn native_calls() {
        let p = program(Audit::ProgramsOnly, true, false);
        let call = |nr: i64, args| run(&p, AUDIT_ARCH_X86_64, nr as u32, args);
        assert_eq!(call(libc::SYS_read, [0; 6]), libc::SECCOMP_RET_ALLOW);
        assert_eq!(call(libc::SYS_openat, [0; 6]), libc::SECCOMP_RET_ALLOW);
        assert_eq!(call(libc::SYS_execve, [0; 6]), libc::SECCOMP_RET_TRACE | 1);
        assert_eq!(call(libc::SYS_ptrace, [0; 6]), DENIED);
        assert_eq!(call(libc::SYS_mq_open, [0; 6]), DENIED);
        assert_eq!(call(libc::SYS_socket, [libc::AF_INET as u64, 1, 0, 0, 0, 0]), DENIED);
        let unix = [libc::AF_UNIX as u64, 1, 0, 0, 0, 0];
        assert_eq!(call(libc::SYS_socket, unix), libc::SECCOMP_RET_ALLOW);
        let newuser = [libc::CLONE_NEWUSER as u64 | 17, 0, 0, 0, 0, 0];
        assert_eq!(call(libc::SYS_clone, newuser), DENIED);
        assert_eq!(call(libc::SYS_clone, [17, 0, 0, 0, 0, 0]), libc::SECCOMP_RET_ALLOW);
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
        let bare = program(Audit::ProgramsOnly, false, false);
        let kill = run(&bare, AUDIT_ARCH_X86_64, libc::SYS_kill as u32, [0; 6]);
        assert_eq!(kill, libc::SECCOMP_RET_TRACE | Stop::Process as u32);
    }

    #[test]
    fn other_tables_and_architectures() {
        let p = program(Audit::Full, false, false);
        assert_eq!(run(&p, AUDIT_ARCH_I386, 102, [0; 6]), DENIED | u32::from(COMPAT));
        let exec = run(&p, AUDIT_ARCH_I386, 11, [0; 6]);
        assert_eq!(Stop::from_message(i64::from(exec & 0xffff)), Some((Stop::Exec, true)));
        assert_eq!(run(&p, 0xc000_00b7, 1, [0; 6]), libc::SECCOMP_RET_KILL_PROCESS);
        let unix = [libc::AF_UNIX as u64, 1, 0, 0, 0, 0];
        assert_eq!(run(&p, AUDIT_ARCH_X86_64, libc::SYS_socket as u32, unix), DENIED);
    }

    #[test]
    fn only_huge_mappings_stop() {
        let p = program(Audit::Full, true, false);
        let map =
            |len: u64| run(&p, AUDIT_ARCH_X86_64, libc::SYS_mmap as u32, [0, len, 0, 0, 0, 0]);
        assert_eq!(map(1 << 20), libc::SECCOMP_RET_ALLOW);
        assert_eq!(map(256 << 30), libc::SECCOMP_RET_TRACE | Stop::BigMap as u32);
    }
}
