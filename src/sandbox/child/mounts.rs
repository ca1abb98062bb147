//! One step of building the new root, carried out by pid 1 of the new namespaces.

use std::ffi::CStr;
use std::ptr;

use libc::{c_int, c_uint};

use crate::sandbox::child::errno::{check, errno};
use crate::sandbox::child::setup::{Ids, SetupStep};

const OLD_ROOT: &CStr = c"/.host";

pub(in crate::sandbox) fn run_step(step: &SetupStep, ids: Ids) -> Result<(), c_int> {
    // SAFETY: every pointer is to a NUL-terminated string or buffer of `step`, which outlives the calls;
    // the remaining arguments are integers.
    unsafe {
        match step {
            SetupStep::Private => {
                let flags = libc::MS_REC | libc::MS_PRIVATE;
                check(
                    libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), flags, ptr::null()).into(),
                )?;
            }
            SetupStep::NewRoot { on, options } => {
                let tmpfs = c"tmpfs".as_ptr();
                let flags = libc::MS_NOSUID | libc::MS_NODEV;
                check(
                    libc::mount(tmpfs, on.as_ptr(), tmpfs, flags, options.as_ptr().cast()).into(),
                )?;
                check(libc::chdir(on.as_ptr()).into())?;
                check(libc::mkdir(c".host".as_ptr(), 0o700).into())?;
                check(libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".host".as_ptr()))?;
                check(libc::chdir(c"/".as_ptr()).into())?;
            }
            SetupStep::Dir { path, mode, entry_owns } => {
                if libc::mkdir(path.as_ptr(), 0o755) == -1 && errno() != libc::EEXIST {
                    return Err(errno());
                }
                if *entry_owns && ids.switch {
                    check(libc::chown(path.as_ptr(), ids.uid, ids.gid).into())?;
                }
                check(libc::chmod(path.as_ptr(), *mode).into())?;
            }
            SetupStep::Link { target, path } => {
                check(libc::symlink(target.as_ptr(), path.as_ptr()).into())?;
            }
            SetupStep::File { path, mode, bytes } => {
                let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
                let fd = check(libc::open(path.as_ptr(), flags, 0o600).into())? as c_int;
                let mut rest: &[u8] = bytes;
                while !rest.is_empty() {
                    let n = libc::write(fd, rest.as_ptr().cast(), rest.len());
                    match n {
                        -1 if errno() == libc::EINTR => {}
                        -1 => return Err(errno()),
                        n => rest = rest.get(n as usize..).unwrap_or(&[]),
                    }
                }
                check(libc::fchmod(fd, *mode).into())?;
                libc::close(fd);
            }
            SetupStep::Bind { source, target, recursive, device } => {
                let flags = libc::MS_BIND | if *recursive { libc::MS_REC } else { 0 };
                check(
                    libc::mount(source.as_ptr(), target.as_ptr(), ptr::null(), flags, ptr::null())
                        .into(),
                )?;
                let attributes = libc::mount_attr {
                    // A device can be written to all the same; its times, which are the host's, cannot be set.
                    attr_set: libc::MOUNT_ATTR_NOSUID
                        | libc::MOUNT_ATTR_RDONLY
                        | if *device { libc::MOUNT_ATTR_NOEXEC } else { libc::MOUNT_ATTR_NODEV },
                    attr_clr: 0,
                    propagation: 0,
                    userns_fd: 0,
                };
                check(libc::syscall(
                    libc::SYS_mount_setattr,
                    libc::AT_FDCWD,
                    target.as_ptr(),
                    if *recursive { libc::AT_RECURSIVE as c_uint } else { 0 },
                    &raw const attributes,
                    size_of::<libc::mount_attr>(),
                ))?;
            }
            SetupStep::Proc { target } => {
                let proc = c"proc".as_ptr();
                let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
                check(libc::mount(proc, target.as_ptr(), proc, flags, ptr::null()).into())?;
            }
            SetupStep::Cover { cover, target } => {
                let (from, to) = (cover.as_ptr(), target.as_ptr());
                let done = libc::mount(from, to, ptr::null(), libc::MS_BIND, ptr::null());
                // A file that this kernel's configuration lacks needs no cover.
                if done == -1 && errno() != libc::ENOENT {
                    return Err(errno());
                }
            }
            SetupStep::HostName { name } => {
                check(libc::sethostname(name.as_ptr(), name.as_bytes().len()).into())?;
            }
            SetupStep::DropHost => {
                check(libc::umount2(OLD_ROOT.as_ptr(), libc::MNT_DETACH).into())?;
                check(libc::rmdir(OLD_ROOT.as_ptr()).into())?;
            }
        }
    }
    Ok(())
}
