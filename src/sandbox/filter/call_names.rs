//! Names for system calls that the filter refuses, as people know them.

use crate::sandbox::filter::arch;
use crate::sandbox::filter::stop::Call;

const NAMES: &[(i64, &str)] = arch::names!(
    SYS_socket SYS_socketpair SYS_bind SYS_connect SYS_listen SYS_accept SYS_accept4 SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_kcmp
    SYS_pidfd_getfd SYS_unshare SYS_setns SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_open_tree
    SYS_move_mount SYS_fsopen SYS_fsconfig SYS_fsmount SYS_fspick SYS_mount_setattr SYS_bpf
    SYS_perf_event_open SYS_userfaultfd SYS_add_key SYS_request_key SYS_keyctl SYS_io_uring_setup
    SYS_io_uring_enter SYS_io_uring_register SYS_kexec_load SYS_kexec_file_load SYS_init_module
    SYS_finit_module SYS_delete_module SYS_open_by_handle_at SYS_name_to_handle_at SYS_fanotify_init
    SYS_fanotify_mark SYS_acct SYS_swapon SYS_swapoff SYS_reboot SYS_quotactl SYS_quotactl_fd
    SYS_settimeofday SYS_clock_settime SYS_clock_adjtime SYS_adjtimex SYS_sethostname SYS_setdomainname
    SYS_syslog SYS_vhangup SYS_mq_open SYS_mq_unlink SYS_shmat SYS_shmctl SYS_semop SYS_semtimedop SYS_semctl
    SYS_msgsnd SYS_msgrcv SYS_msgctl SYS_sendmsg SYS_sendmmsg SYS_getsockopt SYS_setsockopt SYS_shmget SYS_msgget SYS_semget SYS_vmsplice SYS_clone
    SYS_ioctl SYS_seccomp SYS_prctl SYS_fcntl SYS_kill SYS_tkill SYS_tgkill
    SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo SYS_pidfd_open SYS_prlimit64 SYS_sched_setaffinity
    SYS_sched_setscheduler SYS_sched_setparam SYS_sched_setattr SYS_migrate_pages SYS_move_pages
    SYS_setpriority SYS_ioprio_set SYS_fchmod SYS_fchmodat
    SYS_fchown SYS_fchownat SYS_utimensat SYS_setxattr
    SYS_lsetxattr SYS_fsetxattr SYS_removexattr SYS_lremovexattr SYS_fremovexattr
    SYS_inotify_init1 SYS_io_setup SYS_mincore SYS_flock SYS_fadvise64 SYS_preadv2 SYS_mbind SYS_madvise SYS_process_madvise SYS_statx SYS_membarrier
    SYS_sched_getaffinity SYS_sched_getscheduler SYS_sched_getparam SYS_sched_getattr SYS_sched_rr_get_interval
    SYS_getpgid SYS_getsid SYS_getpriority SYS_ioprio_get
    SYS_clock_gettime SYS_clock_getres SYS_clock_nanosleep SYS_timer_create SYS_sync SYS_syncfs SYS_futex SYS_close_range
);

/// Set in the numbers of the x32 table.
const X32_BIT: i64 = 0x4000_0000;

/// The call with the arguments that matter: `socket(AF_INET, SOCK_STREAM)`, `mount`, `clone(new namespaces)`.
pub(in crate::sandbox) fn call_name(call: &Call) -> String {
    let number = i64::from(call.number);
    if call.compat {
        return match number {
            102 => "socketcall (i386)".into(),
            359 => format!("{} (i386)", socket("socket", call)),
            361 => "bind (i386)".into(),
            54 => ioctl(call) + " (i386)",
            345 => "sendmmsg (i386)".into(),
            370 => "sendmsg (i386)".into(),
            447 => "memfd_secret (i386)".into(),
            55 | 221 => fcntl(call).to_owned() + " (i386)",
            143 => "flock (i386)".into(),
            62 => "ustat (i386)".into(),
            436 => "close_range(CLOSE_RANGE_UNSHARE) (i386)".into(),
            117 => "ipc (i386)".into(),
            375 => "membarrier(of all processes) (i386)".into(),
            219 => madvise("madvise", call.args[2]) + " (i386)",
            366 => setsockopt(call).to_owned() + " (i386)",
            291 | 332 => "inotify_init (i386)".into(),
            120 if call.args[0] & libc::CLONE_UNTRACED as u64 != 0 => {
                "clone(untraced) (i386)".into()
            }
            _ => format!("system call {number} (i386)"),
        };
    }
    if number & X32_BIT != 0 {
        return format!("system call {} (x32)", number & !X32_BIT);
    }
    let name = NAMES
        .iter()
        .chain(arch::OLD_NAMES)
        .chain(&[
            (arch::FCHMODAT2, "SYS_fchmodat2"),
            (arch::MEMFD_SECRET as i64, "SYS_memfd_secret"),
            (arch::CACHESTAT as i64, "SYS_cachestat"),
            (arch::TELL_MOUNTS[0] as i64, "SYS_statmount"),
            (arch::TELL_MOUNTS[1] as i64, "SYS_listmount"),
            (arch::ATTRIBUTES_AT[0] as i64, "SYS_setxattrat"),
            (arch::ATTRIBUTES_AT[1] as i64, "SYS_removexattrat"),
            (arch::FILE_SETATTR as i64, "SYS_file_setattr"),
        ])
        .find(|(n, _)| *n == number)
        .map(|(_, name)| name.trim_start_matches("SYS_"));
    match name {
        Some(name @ ("socket" | "socketpair")) => socket(name, call),
        Some("clone") if call.args[0] & libc::CLONE_UNTRACED as u64 != 0 => {
            "clone(untraced)".into()
        }
        Some("clone") if call.args[0] & libc::CLONE_THREAD as u64 != 0 => {
            "clone(thread without CLONE_FILES)".into()
        }
        Some("clone") => "clone(new namespaces)".into(),
        Some("membarrier") => "membarrier(of all processes)".into(),
        Some("prctl") if call.args[0] as i32 == libc::PR_SET_SECCOMP => {
            "prctl(PR_SET_SECCOMP)".into()
        }
        Some("prctl") if call.args[0] as i32 == libc::PR_SET_DUMPABLE => {
            "prctl(PR_SET_DUMPABLE, 0)".into()
        }
        Some("prctl") if call.args[0] as i32 == 67 => "prctl(PR_SET_MEMORY_MERGE)".into(),
        Some("prctl") => "prctl(PR_SCHED_CORE)".into(),
        Some("futex") => "futex(FUTEX_REQUEUE)".into(),
        Some("getsockopt") => "getsockopt(a cookie)".into(),
        Some("fcntl") => fcntl(call).into(),
        Some("close_range") => "close_range(CLOSE_RANGE_UNSHARE)".into(),
        Some("mbind") => "mbind(MPOL_MF_MOVE)".into(),
        Some("setsockopt") => setsockopt(call).into(),
        Some("madvise") => madvise("madvise", call.args[2]),
        Some("process_madvise") => madvise("process_madvise", call.args[3]),
        Some("statx") => "statx(STATX_MNT_ID_UNIQUE)".into(),
        Some("fadvise64") => "fadvise64(POSIX_FADV_DONTNEED)".into(),
        Some("preadv2") => "preadv2(RWF_NOWAIT)".into(),
        Some("ioctl") => ioctl(call),
        Some(name) => name.into(),
        None => format!("system call {number}"),
    }
}

fn madvise(name: &str, advice: u64) -> String {
    match advice as u32 {
        21 => format!("{name}(MADV_PAGEOUT)"),
        25 => format!("{name}(MADV_COLLAPSE)"),
        _ => format!("{name}(MADV_MERGEABLE)"),
    }
}

fn setsockopt(call: &Call) -> &'static str {
    match call.args[2] as u32 {
        25 | 62 => "setsockopt(an interface)",
        16 | 76 => "setsockopt(the sender)",
        _ => "setsockopt(a filter)",
    }
}

fn fcntl(call: &Call) -> &'static str {
    match call.args[1] as u32 {
        8 | 15 => "fcntl(F_SETOWN)",
        1024 => "fcntl(F_SETLEASE)",
        1026 => "fcntl(F_NOTIFY)",
        1031 => "fcntl(F_SETPIPE_SZ)",
        1036 | 1038 => "fcntl(a hint)",
        _ => "fcntl(a lock)",
    }
}

/// The error with which a refused call fails. Programs go on without locks where the file system has none.
pub(in crate::sandbox) fn refusal(call: &Call) -> i32 {
    let flock = if call.compat { 143 } else { libc::SYS_flock as u32 };
    if call.number == flock { libc::EOPNOTSUPP } else { libc::EPERM }
}

/// The kernel reads the request as 32 bits: the others make no other name.
fn ioctl(call: &Call) -> String {
    match call.args[1] as u32 {
        0x5412 => "ioctl(TIOCSTI)".into(),
        0x541c => "ioctl(TIOCLINUX)".into(),
        0x8901 => "ioctl(FIOSETOWN)".into(),
        0x8902 => "ioctl(SIOCSPGRP)".into(),
        request => format!("ioctl(0x{request:x})"),
    }
}

fn socket(name: &str, call: &Call) -> String {
    let family = match call.args[0] as i32 {
        libc::AF_UNIX => "AF_UNIX".into(),
        libc::AF_INET => "AF_INET".into(),
        libc::AF_INET6 => "AF_INET6".into(),
        libc::AF_NETLINK => "AF_NETLINK".into(),
        libc::AF_PACKET => "AF_PACKET".into(),
        libc::AF_VSOCK => "AF_VSOCK".into(),
        libc::AF_ALG => "AF_ALG".into(),
        // AF_MAX is 46 today.
        other @ 0..64 => format!("family {other}"),
        _ => "no family".into(),
    };
    let kind = match call.args[1] as i32 & 0xf {
        libc::SOCK_STREAM => "SOCK_STREAM".into(),
        libc::SOCK_DGRAM => "SOCK_DGRAM".into(),
        libc::SOCK_RAW => "SOCK_RAW".into(),
        libc::SOCK_SEQPACKET => "SOCK_SEQPACKET".into(),
        other => format!("type {other}"),
    };
    if call.args[2] as i32 == libc::IPPROTO_MPTCP {
        return format!("{name}({family}, {kind}, IPPROTO_MPTCP)");
    }
    format!("{name}({family}, {kind})")
}
