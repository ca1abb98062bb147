//! Modes, owners, times and attributes of files, where an entry runs on the host's file system: Landlock does not
//! confine them, so files that it owns (as the supervisor's own user) or may write would be open to it.
//!
//! A path or descriptor that was looked at can be another one by the time the kernel looks, so no such call
//! ever goes through. Where it means a file of the entry's own, the supervisor changes the mode in its stead
//! (on the very file that was looked at); times and owners, which no engine needs, stay as they are and
//! the call succeeds. Everything else is refused.

use std::fs::{File, OpenOptions, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::sandbox::filter::arch::{self, Changes, Means};
use crate::sandbox::filter::stop::Call;
use crate::sandbox::trace::tracee;

/// What comes of the call.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::sandbox) enum Answer {
    /// It ends with this errno, or zero.
    Ends(i32),
    /// It was for a file that is not the entry's own.
    Foreign(PathBuf),
}

/// Answers the call of a stopped process in the kernel's place. `top` is the directory that is the entry's.
pub(in crate::sandbox) fn answer(pid: i32, call: &Call, top: &Path) -> Answer {
    let Some((what, target)) = arch::change(call.number, call.compat) else {
        return Answer::Ends(libc::EPERM);
    };
    let a = call.args;
    let descriptor = |fd: u64| PathBuf::from(format!("/proc/{pid}/fd/{}", fd as i32));
    let (path, mode, link) = match target {
        Means::Path => (tracee::path(pid, None, a[0]), a[1], false),
        Means::Link => (tracee::path(pid, None, a[0]), a[1], true),
        Means::Descriptor => (Some(descriptor(a[0])), a[1], false),
        // A null path means the descriptor itself (futimens).
        Means::At(_) if a[1] == 0 => (Some(descriptor(a[0])), a[2], false),
        Means::At(flags) => {
            let flags = flags.and_then(|index| a.get(index)).map_or(0, |flags| *flags as i32);
            let link = flags & libc::AT_SYMLINK_NOFOLLOW != 0;
            (tracee::path(pid, Some(a[0]), a[1]), a[2], link)
        }
    };
    let Some(path) = path else {
        return Answer::Ends(libc::EFAULT);
    };
    let file = match open(&path, link) {
        Ok(file) => file,
        Err(error) => return Answer::Ends(error.raw_os_error().unwrap_or(libc::EPERM)),
    };
    let held = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let Ok(real) = std::fs::read_link(&held) else {
        return Answer::Ends(libc::EPERM);
    };
    // Pipes, sockets and files in memory have no path of the host.
    let nowhere = !real.is_absolute() || real.as_os_str().as_bytes().starts_with(b"/memfd:");
    if !nowhere && !real.starts_with(top) {
        return Answer::Foreign(real);
    }
    // The supervisor may be root: only what the entry owns is changed in its stead.
    let owner = |path: PathBuf| std::fs::metadata(path).map(|m| m.uid()).ok();
    let process = owner(PathBuf::from(format!("/proc/{pid}")));
    if process.is_none() || owner(held.clone()) != process {
        return Answer::Ends(libc::EPERM);
    }
    match what {
        Changes::Mode if link => Answer::Ends(libc::EOPNOTSUPP),
        // Set-user-ID and its like mean nothing here, and are not to lie around on the host.
        Changes::Mode => {
            match std::fs::set_permissions(&held, Permissions::from_mode(mode as u32 & 0o777)) {
                Ok(()) => Answer::Ends(0),
                Err(error) => Answer::Ends(error.raw_os_error().unwrap_or(libc::EPERM)),
            }
        }
        Changes::Nothing => Answer::Ends(0),
        Changes::Attribute => Answer::Ends(libc::EOPNOTSUPP),
    }
}

/// Takes hold of the file without opening it: this neither waits nor changes anything.
fn open(path: &Path, link: bool) -> std::io::Result<File> {
    let follow = if link { libc::O_NOFOLLOW } else { 0 };
    OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_CLOEXEC | follow).open(path)
}
