//! The users that there are inside, and who they are outside.

use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use nix::sys::stat::{SFlag, fstat};
use nix::unistd::{Gid, Uid, fchown};

use crate::sandbox::child::Ids;

/// Maps the users of a process that has just got its own (user_namespaces(7)).
///
/// # Errors
/// The kernel's error, with the file.
pub(super) fn map(pid: i32, ids: Ids) -> io::Result<()> {
    let write = |name: &str, text: String| {
        let path = PathBuf::from(format!("/proc/{pid}/{name}"));
        let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", path.display()));
        std::fs::write(&path, text).map_err(named)
    };
    let (uid, gid) = (Uid::effective().as_raw(), Gid::effective().as_raw());
    if ids.switch {
        // The supervisor is root: inside, the entry is an ordinary user that is nobody outside.
        write("uid_map", format!("0 {uid} 1\n{} {NOBODY} 1\n", ids.uid))?;
        write("gid_map", format!("0 {gid} 1\n{} {NOBODY} 1\n", ids.gid))
    } else {
        write("setgroups", "deny".into())?;
        write("uid_map", format!("{} {uid} 1\n", ids.uid))?;
        write("gid_map", format!("{} {gid} 1\n", ids.gid))
    }
}

/// The user that owns nothing, by convention.
pub(super) const NOBODY: u32 = 65534;
/// The user inside.
const INSIDE: u32 = 1000;

/// The user and group that the entry runs as.
pub(super) fn ids(namespaces: bool) -> Ids {
    let switch = Uid::effective().is_root() && is_mapped(NOBODY);
    let id = if namespaces { INSIDE } else { NOBODY };
    Ids { uid: id, gid: id, switch }
}

/// Makes the entry's user the owner of the pipes among its streams. It opens them anew by their paths (`/dev/stdout`,
/// `/proc/self/fd/1`, a shell's `2>/dev/stderr`), which a kernel grants to a pipe's owner alone; where the supervisor is an
/// ordinary user, entry and pipes are that user's anyway.
///
/// # Errors
/// As the kernel says it: root without CAP_CHOWN.
pub(super) fn hand_over(streams: [BorrowedFd<'_>; 3], ids: Ids) -> io::Result<()> {
    if !ids.switch {
        return Ok(());
    }
    for stream in streams {
        let file = fstat(stream)?;
        let is_fifo = file.st_mode & SFlag::S_IFMT.bits() == SFlag::S_IFIFO.bits();
        // (A test of the host has files in their place.)
        if is_fifo {
            fchown(stream, Some(Uid::from_raw(NOBODY)), Some(Gid::from_raw(NOBODY)))?;
        }
    }
    Ok(())
}

/// True if a user exists here: the root of a user namespace may be its only one.
fn is_mapped(id: u32) -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.lines().any(|line| {
        let mut words = line.split_whitespace().map(str::parse::<u64>);
        match (words.next(), words.next(), words.next()) {
            (Some(Ok(first)), Some(_), Some(Ok(count))) => {
                (first..first.saturating_add(count)).contains(&u64::from(id))
            }
            _ => false,
        }
    })
}
