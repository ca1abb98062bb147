//! Removes a directory in which a stranger could do as it liked: directories that nobody may enter, and trees
//! deeper than the stack, the descriptors or the longest path of whoever removes them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, io};

/// So deep is a directory emptied where it is; what lies deeper is moved up first.
const DEPTH: u32 = 60;
/// Names that are read at a time: there may be millions.
const AT_A_TIME: usize = 1000;

/// Empties the directory, as far as it comes until a moment. Links are removed and never followed.
///
/// # Errors
/// As the kernel says it; [`io::ErrorKind::TimedOut`] where there was too much.
pub(in crate::sandbox) fn clear(top: &Path, until: Instant) -> io::Result<()> {
    Clearing { top, until, number: 0 }.empty(top, 0)
}

struct Clearing<'a> {
    top: &'a Path,
    until: Instant,
    number: u64,
}

impl Clearing<'_> {
    fn empty(&mut self, directory: &Path, depth: u32) -> io::Result<()> {
        loop {
            let some = entries(directory)?;
            if some.is_empty() {
                return Ok(());
            }
            for item in some {
                if Instant::now() > self.until {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                let path = item.path();
                if !item.file_type()?.is_dir() {
                    fs::remove_file(&path)?;
                } else if depth < DEPTH {
                    self.empty(&path, depth + 1)?;
                    fs::remove_dir(&path)?;
                } else {
                    // Its owner needs the right to write in it to move it elsewhere.
                    fs::set_permissions(&path, PermissionsExt::from_mode(0o700))?;
                    fs::rename(&path, self.free_name())?;
                }
            }
        }
    }

    /// A name at the top that nothing has.
    fn free_name(&mut self) -> PathBuf {
        loop {
            self.number += 1;
            let name = self.top.join(format!(".{}", self.number));
            if name.symlink_metadata().is_err() {
                return name;
            }
        }
    }
}

/// Some of what is in a directory, once it can be read.
fn entries(directory: &Path) -> io::Result<Vec<fs::DirEntry>> {
    fs::set_permissions(directory, PermissionsExt::from_mode(0o700))?;
    fs::read_dir(directory)?.take(AT_A_TIME).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn there_is_an_end_to_it_however_much_there_is() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x"), "x").unwrap();
        let error = clear(dir.path(), Instant::now()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(dir.path().join("x").exists());
    }

    #[test]
    fn deep_and_closed_directories_go_and_what_links_lead_to_stays() {
        let kept = tempfile::tempdir().unwrap();
        fs::write(kept.path().join("x"), "x").unwrap();
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("top");
        fs::create_dir_all(top.join("a/b/c")).unwrap();
        std::os::unix::fs::symlink(kept.path(), top.join("a/link")).unwrap();
        std::os::unix::fs::symlink(kept.path(), top.join("link")).unwrap();
        fs::write(top.join("a/b/c/f"), "").unwrap();
        for _ in 0..3000 {
            // Built from the inside out, so that no path here is long either.
            let outer = dir.path().join("outer");
            fs::create_dir(&outer).unwrap();
            fs::rename(&top, outer.join("d")).unwrap();
            fs::rename(&outer, &top).unwrap();
        }
        fs::set_permissions(&top, PermissionsExt::from_mode(0o0)).unwrap();
        clear(&top, later()).unwrap();
        assert_eq!(fs::read_dir(&top).unwrap().count(), 0);
        assert!(kept.path().join("x").exists());
    }
}
