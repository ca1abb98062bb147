//! Removes a directory in which a stranger could do as it liked: directories that nobody may enter, and trees
//! deeper than the stack, the descriptors or the longest path of whoever removes them.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::path::Arg;

/// The depth to which a directory is emptied in place; deeper directories are moved up first.
const DEPTH: u32 = 60;
/// Names that are read at a time: there may be millions.
const AT_A_TIME: usize = 1000;

/// Empties the directory, as far as it comes until a moment. Links are removed and never followed, whoever puts them there meanwhile:
/// each directory is held by its descriptor.
///
/// # Errors
/// As the kernel says it; [`io::ErrorKind::TimedOut`] where there was too much.
pub(in crate::sandbox) fn clear(top: &Path, until: Instant) -> io::Result<()> {
    let top = opened(CWD, top)?;
    Clearing { top: top.as_fd(), until, number: 0 }.empty(&top, 0)
}

struct Clearing<'a> {
    top: BorrowedFd<'a>,
    until: Instant,
    number: u64,
}

impl Clearing<'_> {
    fn empty(&mut self, directory: &File, depth: u32) -> io::Result<()> {
        loop {
            let mut some = Vec::new();
            for item in rustix::fs::Dir::read_from(directory)? {
                let item = item?;
                if !matches!(item.file_name().to_bytes(), b"." | b"..") {
                    some.push((item.file_name().to_owned(), item.file_type()));
                }
                if some.len() == AT_A_TIME {
                    break;
                }
            }
            if some.is_empty() {
                return Ok(());
            }
            for (name, kind) in some {
                if Instant::now() > self.until {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                // Some file systems do not tell it with the name.
                let kind = match kind {
                    FileType::Unknown => {
                        let seen = rustix::fs::statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW)?;
                        FileType::from_raw_mode(seen.st_mode)
                    }
                    known => known,
                };
                if kind != FileType::Directory {
                    rustix::fs::unlinkat(directory, &name, AtFlags::empty())?;
                    continue;
                }
                // Its owner needs the right to write in it, to move it elsewhere as to empty it.
                let inner = opened(directory.as_fd(), &name)?;
                if depth < DEPTH {
                    self.empty(&inner, depth + 1)?;
                    rustix::fs::unlinkat(directory, &name, AtFlags::REMOVEDIR)?;
                } else {
                    rustix::fs::renameat(directory, &name, self.top, self.free_name())?;
                }
            }
        }
    }

    /// A name at the top that nothing has.
    fn free_name(&mut self) -> String {
        loop {
            self.number += 1;
            let name = format!(".{}", self.number);
            if rustix::fs::statat(self.top, &name, AtFlags::SYMLINK_NOFOLLOW).is_err() {
                return name;
            }
        }
    }
}

/// A directory, open to be read, and to be written in by its owner.
fn opened(at: BorrowedFd<'_>, name: impl Arg) -> io::Result<File> {
    let held = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let held = rustix::fs::openat(at, name, held, Mode::empty())?;
    let path = format!("/proc/self/fd/{}", held.as_raw_fd());
    fs::set_permissions(&path, Permissions::from_mode(0o700))?;
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_link_that_is_exchanged_for_a_directory_meanwhile_leads_nowhere() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let kept = tempfile::tempdir().unwrap();
        fs::write(kept.path().join("x"), "x").unwrap();
        fs::set_permissions(kept.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let (top, beside) = (dir.path().join("top"), dir.path().join("link"));
        fs::create_dir(&top).unwrap();
        std::os::unix::fs::symlink(kept.path(), &beside).unwrap();
        let ends = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    let exchange = rustix::fs::RenameFlags::EXCHANGE;
                    let _ = rustix::fs::renameat_with(CWD, top.join("a"), CWD, &beside, exchange);
                }
            });
            for _ in 0..1000 {
                let _ = fs::create_dir(top.join("a"));
                let _ = clear(&top, later());
            }
            ends.store(true, Ordering::Relaxed);
        });
        assert!(kept.path().join("x").exists());
        assert_eq!(kept.path().metadata().unwrap().permissions().mode() & 0o777, 0o755);
    }

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
