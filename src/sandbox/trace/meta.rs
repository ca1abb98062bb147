//! Modes, owners, times and attributes of files, where an entry runs on the host's file system: Landlock does not
//! confine them, so files that it owns (as the supervisor's own user) or may write would be open to it.
//!
//! A path or descriptor that was looked at can be another one by the time the kernel looks, so no such call
//! ever goes through. Where it means a file of the entry's own, the supervisor changes the mode in its stead
//! (on the very file that was looked at); times and owners, which no engine needs, stay as they are and
//! the call succeeds. Everything else is refused.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use crate::sandbox::filter::arch::{self, Changes, FileReference};
use crate::sandbox::filter::stop::Call;
use crate::sandbox::inspect::files::EntryFiles;
use crate::sandbox::inspect::process;
use crate::sandbox::trace::tracee;

/// The outcome of the call.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::sandbox) enum CallAnswer {
    /// The call ends with this errno, or zero.
    Ends(i32),
    /// The call was for a file that is not the entry's own.
    Foreign(PathBuf),
}

/// Answers the call of a stopped process in the kernel's place.
pub(in crate::sandbox) fn answer(pid: i32, call: &Call, files: &EntryFiles) -> CallAnswer {
    let Some((what, target)) = arch::change(call.number, call.compat) else {
        return CallAnswer::Ends(libc::EPERM);
    };
    let a = call.args;
    let by_path = |dirfd: Option<u64>, address: u64, link: bool| {
        let path = tracee::path(pid, dirfd, address).path();
        let fault = || io::Error::from_raw_os_error(libc::EFAULT);
        files.find_end(pid, &path.ok_or_else(fault)?, link)
    };
    let by_descriptor = |fd: u64| files.find_descriptor(pid, fd as i32);
    let (found, mode, link) = match target {
        FileReference::Path => (by_path(None, a[0], false), a[1], false),
        FileReference::Link => (by_path(None, a[0], true), a[1], true),
        FileReference::Descriptor => (by_descriptor(a[0]), a[1], false),
        // A null path means the descriptor itself (futimens).
        FileReference::At(_) if a[1] == 0 => (by_descriptor(a[0]), a[2], false),
        FileReference::At(flags) => {
            let flags = flags.and_then(|index| a.get(index)).map_or(0, |flags| *flags as i32);
            let link = flags & libc::AT_SYMLINK_NOFOLLOW != 0;
            (by_path(Some(a[0]), a[1], link), a[2], link)
        }
    };
    let found = match found {
        Ok(found) => found,
        Err(error) => return CallAnswer::Ends(error.raw_os_error().unwrap_or(libc::EPERM)),
    };
    // Pipes and sockets have no path of the host.
    if found.path.is_absolute() && !files.made(&found) {
        return CallAnswer::Foreign(found.path);
    }
    // The supervisor may be root: only what the entry owns is changed in its stead.
    let owner = process::owner(pid);
    if owner.is_none() || Some(found.metadata.uid()) != owner {
        return CallAnswer::Ends(libc::EPERM);
    }
    match what {
        Changes::Mode if link => CallAnswer::Ends(libc::EOPNOTSUPP),
        // Set-user-ID and its like mean nothing here, and are not to lie around on the host.
        Changes::Mode => {
            match std::fs::set_permissions(
                found.handle(),
                Permissions::from_mode(mode as u32 & 0o777),
            ) {
                Ok(()) => CallAnswer::Ends(0),
                Err(error) => CallAnswer::Ends(error.raw_os_error().unwrap_or(libc::EPERM)),
            }
        }
        Changes::Nothing => CallAnswer::Ends(0),
        Changes::Attribute => CallAnswer::Ends(libc::EOPNOTSUPP),
    }
}
