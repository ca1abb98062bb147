//! Which users there are inside, and who they are outside.

use std::io;
use std::path::PathBuf;

use nix::unistd::{Gid, Uid};

use super::script::NOBODY;
use super::spawn::Ids;

/// Maps the users of a process that has just got its own (user_namespaces(7)).
///
/// # Errors
/// What the kernel said, with the file.
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

/// The lines that map users below a user namespace which [`map`] has mapped, to themselves; of groups as well, whose
/// numbers are the same.
pub(super) fn again(ids: Ids) -> String {
    let entry = format!("{0} {0} 1\n", ids.uid);
    if ids.switch { format!("0 0 1\n{entry}") } else { entry }
}
