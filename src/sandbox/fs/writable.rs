//! The directories in which an entry may write, and may leave nothing (rule 7.4), as it sees them.

use std::fs::DirEntry;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where entries find themselves.
pub(in crate::sandbox) const WORK: &str = "/work";
/// Their HOME.
pub(in crate::sandbox) const HOME: &str = "/home/entry";
/// Those that every entry has. Debian has the last for everybody, too.
const ALWAYS: [&str; 6] = [WORK, HOME, "/tmp", "/var/tmp", "/dev/shm", "/run/lock"];
/// Where a host may have more in which everybody may write.
const LOOKED_INTO: [&str; 3] = ["/dev", "/run", "/var"];
/// The most of these.
const MOST: usize = 16;
/// The most names of a directory that are looked at.
const MOST_NAMES: usize = 1024;

/// All of them: those that every entry has, and those in which everybody may write on this host. Each is empty, and the entry's alone.
pub(in crate::sandbox) fn places() -> &'static [PathBuf] {
    static PLACES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    PLACES.get_or_init(|| {
        let mut places: Vec<PathBuf> = ALWAYS.map(PathBuf::from).into();
        let more = LOOKED_INTO.iter().flat_map(|top| open_to_all(Path::new(top)));
        let more: Vec<PathBuf> =
            more.filter(|path| !places.iter().any(|known| path.starts_with(known))).collect();
        places.extend(more.into_iter().take(MOST));
        places
    })
}

/// The directories below one, and those below these, in which everybody may make a file, in order.
fn open_to_all(top: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in directories(top) {
        if is_open_to_all(&path) {
            found.push(path);
        } else {
            found.extend(directories(&path).into_iter().filter(|path| is_open_to_all(path)));
        }
    }
    found
}

/// The directories in one, without links, in order.
fn directories(top: &Path) -> Vec<PathBuf> {
    let is_directory = |item: &DirEntry| item.file_type().is_ok_and(|file_type| file_type.is_dir());
    let items = std::fs::read_dir(top).into_iter().flatten().take(MOST_NAMES).flatten();
    let mut found: Vec<PathBuf> = items.filter(is_directory).map(|item| item.path()).collect();
    found.sort();
    found
}

/// True if everybody may make a file in a directory.
fn is_open_to_all(path: &Path) -> bool {
    const WRITE_AND_ENTER: u32 = 0o003;
    path.symlink_metadata()
        .is_ok_and(|seen| seen.permissions().mode() & WRITE_AND_ENTER == WRITE_AND_ENTER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, create_dir_all, set_permissions};

    #[test]
    fn a_directory_is_found_by_its_mode() {
        let top = tempfile::tempdir().unwrap();
        let make = |name: &str, mode| {
            let path = top.path().join(name);
            create_dir_all(&path).unwrap();
            set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        make("closed", 0o755);
        make("closed/deep", 0o775);
        let deep = make("closed/lock", 0o1777);
        let open = make("open", 0o1733);
        make("open/inside", 0o777);
        std::os::unix::fs::symlink("open", top.path().join("a-link")).unwrap();
        assert_eq!(open_to_all(top.path()), [deep, open]);
    }

    #[test]
    fn each_place_is_named_once_and_none_lies_in_another() {
        let places = places();
        assert!(places.iter().any(|path| path == Path::new("/run/lock")));
        for path in places {
            let holding = places.iter().filter(|other| path.starts_with(other)).count();
            assert_eq!(holding, 1, "{path:?}");
        }
    }
}
