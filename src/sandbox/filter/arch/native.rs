//! The table of this processor's own width, and all tables that its kernel has.

use crate::sandbox::filter::arch::current;
#[cfg(target_arch = "x86_64")]
use crate::sandbox::filter::arch::i386::I386;
use crate::sandbox::filter::arch::table::{CACHESTAT, CallTable, FCHMODAT2, LAST, numbers};
use crate::sandbox::filter::stop::StoppedCall;

/// All tables of this kernel.
#[cfg(target_arch = "x86_64")]
pub(in crate::sandbox) const TABLES: &[&CallTable] = &[&NATIVE, &I386];
/// All tables of this kernel.
#[cfg(target_arch = "aarch64")]
pub(in crate::sandbox) const TABLES: &[&CallTable] = &[&NATIVE];

/// The calls that set and remove extended attributes.
const ATTRIBUTES: &[u32] = numbers!(
    SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_removexattr SYS_lremovexattr SYS_fremovexattr
);

/// The calls of a program of this processor's own width.
pub(in crate::sandbox) const NATIVE: CallTable = CallTable {
    arch: current::AUDIT_ARCH,
    compat: false,
    exec: libc::SYS_execve as u32,
    execat: libc::SYS_execveat as u32,
    paths: &[
        current::OLD_PATHS,
        &[
            (libc::SYS_openat as u32, StoppedCall::OpenAt),
            (libc::SYS_openat2 as u32, StoppedCall::OpenAt2),
            (libc::SYS_mkdirat as u32, StoppedCall::CreateAt),
            (libc::SYS_mknodat as u32, StoppedCall::CreateAt),
            (libc::SYS_renameat as u32, StoppedCall::CreateThird),
            (libc::SYS_renameat2 as u32, StoppedCall::CreateThird),
            (libc::SYS_linkat as u32, StoppedCall::CreateThird),
            (libc::SYS_symlinkat as u32, StoppedCall::SymlinkAt),
        ],
    ],
    looks: &[
        current::OLD_LOOKS,
        &[
            (libc::SYS_newfstatat as u32, StoppedCall::LookAt),
            (libc::SYS_faccessat as u32, StoppedCall::LookAt),
            (libc::SYS_faccessat2 as u32, StoppedCall::LookAt),
        ],
    ],
    mmap: Some(libc::SYS_mmap as u32),
    flagged_map: libc::SYS_mmap as u32,
    forks: current::FORKS,
    clone: libc::SYS_clone as u32,
    clone3: libc::SYS_clone3 as u32,
    ioctl: libc::SYS_ioctl as u32,
    socket: libc::SYS_socket as u32,
    socketpair: libc::SYS_socketpair as u32,
    named_sockets: numbers!(SYS_bind SYS_connect SYS_listen SYS_accept SYS_accept4),
    always_denied: &[
        current::OLD_DENIED,
        numbers!(
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
            SYS_sethostname SYS_setdomainname SYS_syslog SYS_vhangup
            SYS_mq_open SYS_mq_unlink
            // Objects that others have made are known by their number alone, where the host's are the entry's as well.
            SYS_shmat SYS_shmctl SYS_semop SYS_semtimedop SYS_semctl SYS_msgsnd SYS_msgrcv SYS_msgctl
            // A filter of the entry's own could overrule ours: of two actions the kernel takes a notification
            // (which may then say "go on") before a stop, and of two stops the data of the newer filter.
            SYS_seccomp
        ),
    ],
    held_by_nobody: numbers!(SYS_shmget SYS_msgget SYS_semget SYS_vmsplice),
    shared_with_host: &[
        current::OLD_SHARED_WITH_HOST,
        numbers!(
            SYS_inotify_init1 SYS_io_setup SYS_mincore SYS_flock SYS_migrate_pages SYS_move_pages
            SYS_sync SYS_syncfs
        ),
        &[CACHESTAT],
    ],
    fadvise: &[(libc::SYS_fadvise64 as u32, 3)],
    flagged_reads: numbers!(SYS_preadv2),
    mbind: libc::SYS_mbind as u32,
    madvise: libc::SYS_madvise as u32,
    statx: libc::SYS_statx as u32,
    membarrier: libc::SYS_membarrier as u32,
    set_affinity: libc::SYS_sched_setaffinity as u32,
    getsockopt: libc::SYS_getsockopt as u32,
    setsockopt: libc::SYS_setsockopt as u32,
    sends: numbers!(SYS_sendmsg SYS_sendmmsg),
    prctl: libc::SYS_prctl as u32,
    fcntl: numbers!(SYS_fcntl),
    kill: libc::SYS_kill as u32,
    processes: numbers!(
        SYS_kill SYS_tkill SYS_tgkill SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo SYS_pidfd_open
        SYS_prlimit64 SYS_sched_setaffinity SYS_sched_setscheduler SYS_sched_setparam SYS_sched_setattr
        SYS_sched_getaffinity SYS_sched_getscheduler SYS_sched_getparam SYS_sched_getattr
        SYS_sched_rr_get_interval SYS_getpgid SYS_getsid
    ),
    processes_second: numbers!(SYS_setpriority SYS_ioprio_set SYS_getpriority SYS_ioprio_get),
    sets: numbers!(
        SYS_prlimit64 SYS_sched_setaffinity SYS_sched_setscheduler SYS_sched_setparam SYS_sched_setattr
    ),
    sets_second: &[(libc::SYS_setpriority as u32, 2), (libc::SYS_ioprio_set as u32, 3)],
    futex: numbers!(SYS_futex),
    clocks: numbers!(SYS_clock_gettime SYS_clock_getres SYS_clock_nanosleep SYS_timer_create),
    meta: &[
        current::OLD_META,
        &[FCHMODAT2 as u32],
        numbers!(
            SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat
            SYS_utimensat
        ),
        ATTRIBUTES,
    ],
    attributes: ATTRIBUTES,
    last: LAST,
};
