//! Group 28: memory that nobody seems to hold, the high halves of arguments, and calls and files of the kernel that are rare.

use super::attack::Named::{Denial, Resource};
use super::attack::{Attack, Control, c};

/// Refused by the filter, and by which name.
const REFUSED: [(&str, &[super::attack::Named]); 51] = [
    ("socket_high_type", &[Denial("socket(AF_INET, SOCK_STREAM)")]),
    ("socketpair_inet", &[Denial("socketpair(AF_INET, SOCK_STREAM)")]),
    ("socketpair_tipc", &[Denial("socketpair(family 30, SOCK_SEQPACKET)")]),
    ("prctl_seccomp_high", &[Denial("prctl(PR_SET_SECCOMP)")]),
    ("prctl_dumpable_high", &[Denial("prctl(PR_SET_DUMPABLE, 0)")]),
    ("fcntl_lease_high", &[Denial("fcntl(F_SETLEASE)")]),
    ("fadvise_high", &[Denial("fadvise64(POSIX_FADV_DONTNEED)")]),
    ("clone_newcgroup", &[Denial("clone(new namespaces)")]),
    ("clone_newipc", &[Denial("clone(new namespaces)")]),
    ("clone_newuts", &[Denial("clone(new namespaces)")]),
    ("unshare_time", &[Denial("unshare")]),
    ("unshare_files", &[Denial("unshare")]),
    ("io_uring_enter", &[Denial("io_uring_enter")]),
    ("io_uring_register", &[Denial("io_uring_register")]),
    ("process_vm_write_self", &[Denial("process_vm_writev")]),
    ("fsmount", &[Denial("fsmount")]),
    ("fsconfig", &[Denial("fsconfig")]),
    ("fspick", &[Denial("fspick")]),
    ("quotactl_fd", &[Denial("quotactl_fd")]),
    ("open_tree_attr", &[Denial("system call 467")]),
    ("mount_told", &[Denial("statmount")]),
    ("kexec_file", &[Denial("kexec_file_load")]),
    ("finit_module", &[Denial("finit_module")]),
    ("delete_module", &[Denial("delete_module")]),
    ("acct", &[Denial("acct")]),
    ("vhangup", &[Denial("vhangup")]),
    ("clock_settime", &[Denial("clock_settime")]),
    ("clock_adjtime", &[Denial("clock_adjtime")]),
    ("adjtimex", &[Denial("adjtimex")]),
    ("setdomainname", &[Denial("setdomainname")]),
    ("swapoff", &[Denial("swapoff")]),
    ("handle_open", &[Denial("open_by_handle_at")]),
    ("fanotify_mark", &[Denial("fanotify_mark")]),
    ("send_many", &[Denial("sendmmsg")]),
    ("keyctl_join", &[Denial("keyctl")]),
    ("keyctl_persistent", &[Denial("keyctl")]),
    ("core_scheduling", &[Denial("prctl(PR_SCHED_CORE)")]),
    ("barrier_of_all", &[Denial("membarrier(of all processes)")]),
    ("barrier_for_all", &[Denial("membarrier(of all processes)")]),
    ("sync_host", &[Denial("sync")]),
    ("sync_host_by_file", &[Denial("syncfs")]),
    ("add_logon_key", &[Denial("add_key")]),
    ("netns_cookie", &[Denial("getsockopt(a cookie)")]),
    ("pages_lent_to_a_pipe", &[Denial("vmsplice")]),
    ("filter_of_a_socket", &[Denial("setsockopt(a filter)")]),
    ("file_made_huge", &[Denial("madvise(MADV_COLLAPSE)")]),
    ("socket_by_high_number", &[Denial("socket(AF_INET, SOCK_STREAM)")]),
    ("priority_by_high_number", &[Denial("setpriority of a foreign process")]),
    ("priority_of_the_group", &[Denial("setpriority of a foreign process")]),
    ("class_of_the_group", &[Denial("ioprio_set of a foreign process")]),
    ("pages_dropped_after", &[Denial("preadv2(RWF_NOWAIT)")]),
];

/// Refused by what a start has no right to; nothing names them.
const WITHOUT_RIGHTS: [&str; 28] = [
    "clone3_into_cgroup",
    "clone3_pidfd",
    "other_program_file",
    "nice_back",
    "real_time",
    "deadline_class",
    "lock_all_memory",
    "less_likely_killed",
    "maps_of_ids",
    "memory_of_pid1",
    "descriptors_of_pid1",
    "maps_of_pid1",
    "kernel_memory",
    "timers_of_all",
    "pressure",
    "cgroup_files",
    "debug_files",
    "tracing_files",
    "userfault_device",
    "fuse_device",
    "loop_device",
    "kvm_device",
    "tun_device",
    "memory_device",
    "whiteout",
    "block_node",
    "sparse_terabyte",
    "other_processors",
];

pub(crate) fn attacks() -> Vec<Attack> {
    const USED: &[super::attack::Named] = &[Resource("memory in use")];
    let unlimited = Control::Skipped("outside nobody limits it");
    let system = Control::Skipped("outside it depends on the rights of who runs the tests");
    let mut all = vec![
        c(28, "memory_mapped").named(USED).control(unlimited).seen_by_root(),
        c(28, "memory_let_go").named(USED).control(unlimited).seen_by_root(),
        c(28, "memory_tables").named(USED).control(unlimited),
    ];
    all.extend(REFUSED.map(|(name, named)| c(28, name).named(named).control(system)));
    all.push(c(28, "memory_of_nodes").only(true).control(Control::IfAble));
    all.push(c(28, "size_of_pid1").only(true));
    all.push(
        c(28, "size_of_parent").only(true).control(Control::Skipped("outside anybody may read it")),
    );
    all.push(c(28, "size_of_pid1_by_another_way").only(true));
    all.extend(WITHOUT_RIGHTS.map(|name| c(28, name).control(system)));
    all
}
