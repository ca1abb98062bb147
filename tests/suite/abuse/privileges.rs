//! Groups 19 and 20: rights, namespaces, filters, terminals.

use super::attack::Named::{Denial, Left};
use super::attack::{Attack, Control, Param, c};

pub(crate) fn attacks() -> Vec<Attack> {
    let (able, root) = (Control::IfAble, Control::Root);
    let dangerous = Control::Skipped("outside it would touch the machine itself");
    let missing = Control::Skipped("it shows only the answer of the filter");
    let mut all = vec![
        c(19, "clone_user").named(&[Denial("clone(new namespaces)")]).control(able),
        c(19, "clone_user_high_bits").named(&[Denial("clone(new namespaces)")]).control(able),
        c(19, "clone_untraced").named(&[Denial("clone(untraced)")]),
        c(19, "clone3_user").control(able),
        c(19, "seccomp_notify").named(&[Denial("seccomp")]),
        c(19, "seccomp_data").named(&[Denial("seccomp")]),
        c(19, "seccomp_prctl").named(&[Denial("prctl(PR_SET_SECCOMP)")]),
        c(19, "vm_readv").tells(Param::Secret).named(&[Denial("process_vm_readv")]).control(able),
        c(19, "setuid_root").control(root),
        c(19, "setgid_root").control(root),
        c(19, "capabilities").control(root),
        c(19, "setuid_product").named(&[Left("/s")]).control(root),
        c(19, "new_privs"),
        c(19, "new_call").control(Control::Skipped("no kernel has it")),
        c(20, "tiocsti").named(&[Denial("ioctl(TIOCSTI)")]).control(missing),
        c(20, "tiocsti_high_bits").named(&[Denial("ioctl(TIOCSTI)")]).control(missing),
        c(20, "tioclinux").named(&[Denial("ioctl(TIOCLINUX)")]).control(missing),
        c(20, "ioctl_verity").named(&[Denial("ioctl(0x40806685)")]).control(missing),
        c(20, "ioctl_subvolume").named(&[Denial("ioctl(0x5000940e)")]).control(missing),
        c(20, "ioctl_version").named(&[Denial("ioctl(0x40087602)")]).control(missing),
        c(20, "ioctl_key").named(&[Denial("ioctl(0xc0506617)")]).control(missing),
        c(20, "setflags").named(&[Denial("ioctl(0x40086602)")]).control(missing),
        c(20, "tty").control(Control::Skipped("tests have no terminal")),
        c(20, "new_terminal").control(able),
        c(20, "inherited"),
    ];
    // One system call each, refused by its own name.
    let calls: [(&str, &'static [super::attack::Named], Control); 36] = [
        ("unshare_user", &[Denial("unshare")], able),
        ("unshare_net", &[Denial("unshare")], root),
        ("unshare_mount", &[Denial("unshare")], root),
        ("setns_own", &[Denial("setns")], root),
        ("mount_tmpfs", &[Denial("mount")], root),
        ("mount_bind", &[Denial("mount")], root),
        ("umount", &[Denial("umount2")], root),
        ("chroot", &[Denial("chroot")], root),
        ("pivot_root", &[Denial("pivot_root")], missing),
        ("fsopen", &[Denial("fsopen")], root),
        ("open_tree", &[Denial("open_tree")], root),
        ("move_mount", &[Denial("move_mount")], missing),
        ("mount_setattr", &[Denial("mount_setattr")], root),
        ("ptrace_me", &[Denial("ptrace")], able),
        ("ptrace_child", &[Denial("ptrace")], able),
        ("vm_writev", &[Denial("process_vm_writev")], able),
        ("pidfd_getfd", &[Denial("pidfd_getfd")], able),
        ("kcmp", &[Denial("kcmp")], able),
        ("bpf", &[Denial("bpf")], root),
        ("perf", &[Denial("perf_event_open")], Control::RootIfAble),
        ("userfaultfd", &[Denial("userfaultfd")], able),
        ("add_key", &[Denial("add_key")], able),
        ("keyctl", &[Denial("keyctl")], able),
        ("request_key", &[Denial("request_key")], able),
        ("handle", &[Denial("name_to_handle_at")], able),
        ("fanotify", &[Denial("fanotify_init")], root),
        ("syslog", &[Denial("syslog")], root),
        ("iopl", &[Denial("iopl")], Control::RootIfAble),
        ("modify_ldt", &[Denial("modify_ldt")], able),
        ("mq_open", &[Denial("mq_open")], able),
        ("sethostname", &[Denial("sethostname")], dangerous),
        ("reboot", &[Denial("reboot")], dangerous),
        ("settimeofday", &[Denial("settimeofday")], dangerous),
        ("init_module", &[Denial("init_module")], dangerous),
        ("swapon", &[Denial("swapon")], dangerous),
        ("quotactl", &[Denial("quotactl")], missing),
    ];
    all.extend(calls.map(|(name, named, control)| c(19, name).named(named).control(control)));
    all
}
