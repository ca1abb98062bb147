//! Groups 3 to 15: programs that are not on the list, by whatever way.

use super::attack::Named::{Denial, Left, NotInstalled, Open, Product, Read, Refused};
use super::attack::{Attack, Control, Param, c, sh};

const SED: &[super::attack::Named] = &[Refused("sed")];

pub(crate) fn attacks() -> Vec<Attack> {
    let control = Control::IfAble;
    vec![
        sh(3, "cat", "cat <<X\nESCAPED\nX\n").named(&[Refused("cat")]),
        sh(3, "sed", "echo x|sed s/x/ESCAPED/").named(SED),
        sh(3, "awk", "awk 'BEGIN{print \"ESCAPED\"}'").named(&[Refused("awk")]),
        sh(3, "uname", "uname >/dev/null && echo ESCAPED").named(&[Refused("uname")]),
        sh(3, "dd", "dd if=/dev/null 2>/dev/null && echo ESCAPED").named(&[Refused("dd")]),
        sh(3, "ls", "ls / >/dev/null && echo ESCAPED").named(&[Refused("ls")]),
        sh(3, "cp", "cp --version >/dev/null && echo ESCAPED").named(&[Refused("cp")]),
        sh(3, "find", "find --version >/dev/null && echo ESCAPED").named(&[Refused("find")]),
        sh(3, "id", "id >/dev/null && echo ESCAPED").named(&[Refused("id")]),
        sh(3, "setpriv", "setpriv --version >/dev/null && echo ESCAPED").named(&[Refused("setpriv")]),
        sh(3, "su", "su --version >/dev/null && echo ESCAPED").named(&[Refused("su")]),
        sh(3, "absent_engine", "no-such-engine && echo ESCAPED")
            .named(&[NotInstalled("no-such-engine")])
            .control(Control::Skipped("it is about a program that is not there")),
        sh(4, "loader", "/lib64/ld-linux-x86-64.so.2 /usr/bin/sed --version >/dev/null && echo ESCAPED")
            .named(&[Refused("ld-linux-x86-64.so.2"), Open("/usr/bin/sed")]),
        sh(
            4,
            "copied_loader",
            "T=`mktemp`;tail -c +1 /lib64/ld-linux-x86-64.so.2 >$T;chmod +x $T;$T /usr/bin/sed --version >/dev/null && echo ESCAPED;rm $T",
        )
        .named(&[Open("/usr/bin/sed")]),
        sh(4, "loader_runs_helper", "/lib64/ld-linux-x86-64.so.2 /usr/bin/as --version >/dev/null && echo ESCAPED")
            .named(&[Refused("ld-linux-x86-64.so.2")])
            .may_work(),
        sh(
            4,
            "copied_program",
            "T=`mktemp`;tail -c +1 /usr/bin/sed >$T;chmod +x $T;$T --version >/dev/null && test -s $T && echo ESCAPED;rm $T",
        )
        .named(&[Open("/usr/bin/sed")]),
        sh(
            4,
            "copied_helper",
            "T=`mktemp`;tail -c +1 /usr/bin/touch >$T;chmod +x $T;$T x && test -e x && echo ESCAPED;rm -f $T x",
        )
        .named(&[Read("/usr/bin/touch"), Product])
        .may_work(),
        c(5, "memfd_foreign").named(&[Open("/usr/bin/sed")]),
        c(5, "memfd_own").named(&[Product]).may_work(),
        c(5, "memfd_script").named(SED),
        c(6, "opath_fexecve").named(SED),
        c(6, "proc_self_fd").named(SED),
        c(6, "dev_fd").named(SED),
        c(6, "execveat_dirfd").named(SED),
        c(6, "task_fd").named(SED),
        c(6, "dotted_fd").named(SED),
        c(6, "fd_of_directory").named(SED),
        c(7, "link_to_fd").named(SED),
        c(7, "link_to_own_root").named(SED),
        c(4, "read_by_own_root").named(&[Open("/usr/bin/sed")]),
        c(4, "read_by_dots").named(&[Open("/usr/bin/sed")]),
        c(4, "read_by_link").named(&[Open("/usr/bin/sed")]),
        c(7, "symlink_named_xz").named(&[Refused("sed"), Left("/xz")]),
        c(7, "symlink_chain").named(&[Refused("sed"), Left("/tail")]),
        sh(8, "exec_a", "bash -c 'exec -a xz sed --version' >/dev/null && echo ESCAPED").named(SED),
        c(8, "exec_other_argv0").named(SED),
        c(8, "exec_empty_argv").named(SED),
        c(8, "exec_plain").named(SED),
        c(9, "hard_link_forbidden").control(Control::RootIfAble),
        c(9, "hard_link_allowed").control(Control::RootIfAble),
        c(9, "linkat_empty_path").control(Control::RootIfAble),
        c(10, "path_swap_race").named(&[Refused("sed"), Left("/p")]),
        c(11, "vfork_exec").named(SED),
        c(11, "posix_spawn_exec").named(SED),
        c(11, "thread_exec").named(SED),
        c(11, "last_thread_exec").named(SED),
        sh(11, "python_subprocess", "python3 -c 'import subprocess\nsubprocess.run([\"sed\",\"--version\"],stdout=-3);print(\"ESCAPED\")'")
            .named(SED),
        sh(11, "perl_system", "perl -e 'print \"ESCAPED\\n\" if system(\"sed --version >/dev/null\")==0'").named(SED),
        c(12, "signal_flood").named(SED),
        c(13, "i386_execve").named(SED).control(control),
        c(13, "i386_socket").named(&[Denial("socket(AF_INET, SOCK_STREAM) (i386)")]).control(control),
        c(13, "i386_socketcall").named(&[Denial("socketcall (i386)")]).control(control),
        c(13, "i386_open").tells(Param::Secret).bare(&[Open("")]).control(control),
        c(13, "i386_unshare").named(&[Denial("310 (i386)")]).control(control),
        c(13, "i386_clone_user").named(&[Denial("120 (i386)")]).control(control),
        c(13, "i386_ptrace").named(&[Denial("26 (i386)")]).control(control),
        c(13, "i386_keyctl").named(&[Denial("288 (i386)")]).control(control),
        c(13, "i386_ipc").named(&[Denial("ipc (i386)")]).control(control),
        c(13, "x32_getpid").named(&[Denial("39 (x32)")]).control(control),
        c(13, "x32_socket").named(&[Denial("41 (x32)")]).control(control),
        sh(14, "shebang", "T=`mktemp`;echo '#!/usr/bin/sed --version'>$T;chmod +x $T;$T >/dev/null 2>&1 && echo ESCAPED;rm $T")
            .named(SED),
        sh(
            14,
            "shebang_env",
            "T=`mktemp`;echo '#!/usr/bin/env sed'>$T;chmod +x $T;$T --version >/dev/null 2>&1 && echo ESCAPED;rm $T",
        )
        .named(SED)
        .control(Control::Skipped("sed takes the script itself for its program")),
        sh(
            14,
            "shebang_nested",
            "T=`mktemp`;U=`mktemp`;echo '#!/usr/bin/sed --version'>$T;echo \"#!$T\">$U;chmod +x $T $U;$U >/dev/null 2>&1 && echo ESCAPED;rm $T $U",
        )
        .named(SED),
        sh(15, "as_directly", "as --version >/dev/null && echo ESCAPED").named(&[Refused("as")]).may_work(),
        sh(15, "ld_directly", "ld --version >/dev/null && echo ESCAPED").named(&[Refused("ld")]).may_work(),
        sh(15, "cc1_directly", "`cc -print-prog-name=cc1` --version >/dev/null 2>&1 && echo ESCAPED")
            .named(&[Refused("cc1")])
            .may_work(),
    ]
}
