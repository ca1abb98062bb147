//! The directory in which workspaces lie where there is no mount namespace to hold them. It is removed when
//! its last user lets go of it, and by a guardian when the supervisor is killed.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;

use crate::sandbox::fs::guardian::{Guardian, Kind};

/// The directory and its guardian.
#[derive(Debug)]
pub(in crate::sandbox) struct HostDirectory {
    top: Option<TempDir>,
    guardian: Guardian,
    /// True if something lies in it that its user could not remove.
    left: AtomicBool,
}

/// A name that nobody else has.
pub(in crate::sandbox) fn own_name() -> String {
    // Each RandomState is seeded by the operating system.
    format!("gate4k-{:016x}", RandomState::new().build_hasher().finish())
}

impl HostDirectory {
    pub(in crate::sandbox) fn new() -> io::Result<HostDirectory> {
        let name = own_name();
        // The guardian first, so that there is no moment at which the directory has none.
        let mut guardian = Guardian::of(&std::env::temp_dir().join(&name), Kind::Files);
        let top = tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir();
        let top = top.and_then(|top| {
            // Others than the owner may pass through, but not look.
            std::fs::set_permissions(top.path(), PermissionsExt::from_mode(0o711))?;
            Ok(top)
        });
        match top {
            Ok(top) => Ok(HostDirectory { top: Some(top), guardian, left: AtomicBool::new(false) }),
            Err(error) => {
                // A file that already has that name is not ours to remove.
                guardian.dismiss(true);
                Err(error)
            }
        }
    }

    /// Leaves the directory to the guardian, who removes the whole, since something in it could not be removed.
    pub(in crate::sandbox) fn is_left(&self) {
        self.left.store(true, Ordering::Relaxed);
    }

    pub(in crate::sandbox) fn path(&self) -> &Path {
        self.top.as_ref().map_or(Path::new("/"), TempDir::path)
    }
}

impl Drop for HostDirectory {
    fn drop(&mut self) {
        let gone = match self.top.take() {
            Some(mut top) if self.left.load(Ordering::Relaxed) => {
                top.disable_cleanup(true);
                false
            }
            // A directory that we cannot remove (it lacks rights) is left to the guardian.
            Some(top) => top.close().is_ok(),
            None => true,
        };
        self.guardian.dismiss(gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_its_user_could_not_remove_is_left_to_the_guardian() {
        let made = HostDirectory::new().unwrap();
        let path = made.path().to_owned();
        std::fs::write(path.join("file"), "x").unwrap();
        made.is_left();
        drop(made);
        assert!(!path.exists());
    }

    #[test]
    fn what_is_closed_to_its_owner_goes_too() {
        let made = HostDirectory::new().unwrap();
        let path = made.path().to_owned();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o711);
        let closed = path.join("run-1/closed");
        std::fs::create_dir_all(&closed).unwrap();
        std::fs::write(closed.join("file"), "x").unwrap();
        std::fs::set_permissions(&closed, PermissionsExt::from_mode(0o000)).unwrap();
        drop(made);
        assert!(!path.exists());
    }
}
