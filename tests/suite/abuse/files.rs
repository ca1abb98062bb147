//! Group 16: files of the host and of others.

use super::attack::Named::{Denial, Open};
use super::attack::{Attack, Control, Param, c, sh};

pub(crate) fn attacks() -> Vec<Attack> {
    const SECRET: &[super::attack::Named] = &[Open("")];
    let (able, root) = (Control::IfAble, Control::Root);
    let system = Control::Skipped("outside it would touch the machine itself");
    let secret = |name| c(16, name).tells(Param::Secret).bare(SECRET);
    let victim = |name| c(16, name).tells(Param::Victim);
    vec![
        secret("read"),
        secret("read_openat2"),
        secret("read_map"),
        c(16, "read_opath").tells(Param::Secret),
        c(16, "read_symlink").tells(Param::Secret).bare(SECRET),
        secret("read_dotdot"),
        sh(16, "shell_read", "read x <@P && echo ESCAPED").tells(Param::Secret).bare(SECRET),
        sh(16, "python_read", "python3 -c 'open(\"@P\").read();print(\"ESCAPED\")'")
            .tells(Param::Secret)
            .bare(SECRET),
        sh(16, "cc_include", "echo '#include \"@P\"'|cc -E -xc - >/dev/null 2>&1 && echo ESCAPED")
            .tells(Param::Secret)
            .bare(SECRET),
        sh(16, "shadow", "read x </etc/shadow && echo ESCAPED")
            .named(&[Open("/etc/shadow")])
            .control(root),
        sh(16, "home_of_root", "read x </root/.bashrc && echo ESCAPED").control(root),
        sh(16, "other_modules", "python3 -c 'import yaml;print(\"ESCAPED\")'").control(able),
        sh(
            16,
            "etc_listing",
            "for f in /etc/*;do test \"$f\" = '/etc/*' || { echo ESCAPED;break;};done",
        )
        .named(&[Open("/etc")]),
        victim("write").bare(&[Open("/file")]),
        victim("create").bare(&[Open("/new")]),
        victim("truncate"),
        victim("unlink"),
        victim("rename_over"),
        victim("mkdir").bare(&[Open("/dir")]),
        victim("symlink").bare(&[Open("/link")]),
        victim("mkfifo").bare(&[Open("/fifo")]),
        victim("link_out").control(able),
        victim("chmod").bare(&[Denial("chmod(")]),
        victim("fchmodat").bare(&[Denial("fchmodat(")]),
        victim("chmod_symlink").bare(&[Denial("chmod(")]),
        victim("utime").bare(&[Denial("utim")]),
        victim("utimensat_link").bare(&[Denial("utimensat(")]),
        c(16, "touch_device").bare(&[Denial("utimensat(")]).control(able),
        c(16, "touch_device_by_descriptor").bare(&[Denial("utimensat(")]).control(able),
        victim("chown").bare(&[Denial("chown(")]),
        victim("setxattr").bare(&[Denial("setxattr(")]).control(able),
        victim("bind_unix").bare(&[Denial("socket(AF_UNIX")]),
        c(16, "system_file").named(&[Open("/etc/hostname")]).control(root),
        c(16, "system_dir").named(&[Open("/usr/lib/gate4k-was-here")]).control(system),
        c(16, "proc_sys").control(root),
        c(16, "sysrq").control(Control::RootIfAble),
        c(16, "disk").control(Control::RootIfAble),
        c(16, "kmsg").control(Control::RootIfAble),
        c(16, "mknod_device").control(root),
        c(16, "own_modes").control(Control::Skipped("it is no attack: it must work inside")),
    ]
}
