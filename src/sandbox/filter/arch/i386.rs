//! The 32-bit table of x86-64: rule texts speak of 32-bit assembly.

use crate::sandbox::filter::arch::table::{CACHESTAT, CallTable, Changes, FileReference, LAST};
use crate::sandbox::filter::stop::StoppedCall;

const AUDIT_ARCH: u32 = 0x4000_0003;

/// Setting and removing the extended attributes of a path, of a link and of a descriptor.
const ATTRIBUTES: &[u32] = &[226, 227, 228, 235, 236, 237];

/// The i386 table; numbers from the kernel's arch/x86/entry/syscalls/syscall_32.tbl.
pub(in crate::sandbox) const I386: CallTable = CallTable {
    arch: AUDIT_ARCH,
    compat: true,
    exec: 11,
    execat: 358,
    paths: &[&[
        (5, StoppedCall::Open),
        (295, StoppedCall::OpenAt),
        (437, StoppedCall::OpenAt2),
        (8, StoppedCall::Creat),
        (39, StoppedCall::Create),
        (14, StoppedCall::Create),
        (296, StoppedCall::CreateAt),
        (297, StoppedCall::CreateAt),
        (38, StoppedCall::CreateSecond),
        (9, StoppedCall::CreateSecond),
        (83, StoppedCall::CreateSecond),
        (302, StoppedCall::CreateThird),
        (353, StoppedCall::CreateThird),
        (303, StoppedCall::CreateThird),
        (304, StoppedCall::SymlinkAt),
    ]],
    looks: &[&[
        (106, StoppedCall::Look),
        (195, StoppedCall::Look),
        (33, StoppedCall::Look),
        (300, StoppedCall::LookAt),
        (307, StoppedCall::LookAt),
        (439, StoppedCall::LookAt),
    ]],
    mmap: None,
    flagged_map: 192, // mmap2: the old call has its arguments in memory
    forks: &[2, 190],
    clone: 120,
    clone3: 435,
    ioctl: 54,
    socket: 359,
    socketpair: 360,
    named_sockets: &[361, 362, 363, 364], // bind, connect, listen, accept4
    always_denied: &[&[
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
        277, 278, 117, 123, 354, 86, // mq_open, mq_unlink, ipc, modify_ldt, seccomp, uselib
        397, 396, 420, 394, 400, 401,
        402, // shmat, shmctl, semtimedop with 64 bits of time, semctl, msgsnd, msgrcv, msgctl
    ]],
    // shmget, msgget, semget, vmsplice
    held_by_nobody: &[395, 399, 393, 316],
    // inotify_init, inotify_init1, io_setup, mincore, flock, migrate_pages, move_pages, sync, syncfs, ustat
    shared_with_host: &[&[291, 332, 245, 218, 143, 294, 317, 36, 344, 62, CACHESTAT]],
    // fadvise64, fadvise64_64: places and lengths of 64 bits take two arguments
    fadvise: &[(250, 4), (272, 5)],
    flagged_reads: &[378],
    mbind: 274,
    madvise: 219,
    statx: 383,
    membarrier: 375,
    set_affinity: 241,
    getsockopt: 365,
    setsockopt: 366,
    // sendmsg, sendmmsg
    sends: &[370, 345],
    prctl: 172,
    fcntl: &[55, 221],
    kill: 37,
    // kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_open, prlimit64, sched_setaffinity,
    // sched_setscheduler, sched_setparam, sched_setattr; the same asked for, sched_rr_get_interval with 32 and 64 bits,
    // getpgid, getsid
    processes: &[
        37, 238, 270, 178, 335, 434, 340, 241, 156, 154, 351, 242, 157, 155, 352, 161, 423, 132,
        147,
    ],
    // setpriority, ioprio_set, getpriority, ioprio_get
    processes_second: &[97, 289, 96, 290],
    // prlimit64, sched_setaffinity, sched_setscheduler, sched_setparam, sched_setattr; setpriority, ioprio_set
    sets: &[340, 241, 156, 154, 351],
    sets_second: &[(97, 2), (289, 3)],
    // futex with 32 and 64 bits of time
    futex: &[240, 422],
    // clock_gettime, clock_getres, clock_nanosleep with 32 and 64 bits, timer_create
    clocks: &[265, 403, 266, 406, 267, 407, 259],
    // chmod … fchmodat2; chown with 16 and 32 bits; utime …
    meta: &[
        &[15, 94, 306, 452, 182, 16, 95, 212, 198, 207, 298, 30, 271, 299, 320, 412],
        ATTRIBUTES,
    ],
    attributes: ATTRIBUTES,
    last: LAST,
};

/// The property of a file that a call changes, and the way in which it names the file.
pub(in crate::sandbox) fn change(number: i64) -> Option<(Changes, FileReference)> {
    use Changes::{Attribute, Mode, Nothing};
    use FileReference::{At, Descriptor, Link, Path};
    Some(match number {
        15 => (Mode, Path),
        94 => (Mode, Descriptor),
        306 => (Mode, At(None)),
        452 => (Mode, At(Some(3))),
        182 | 212 | 30 | 271 => (Nothing, Path),
        16 | 198 => (Nothing, Link),
        95 | 207 => (Nothing, Descriptor),
        298 => (Nothing, At(Some(4))),
        299 => (Nothing, At(None)),
        320 | 412 => (Nothing, At(Some(3))),
        226 | 235 => (Attribute, Path),
        227 | 236 => (Attribute, Link),
        228 | 237 => (Attribute, Descriptor),
        _ => return None,
    })
}
