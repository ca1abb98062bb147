//! Descriptors of this process, of which an entry must use up none that others need. Where there are none for a moment, a look at a file
//! waits: it would find no file, and a sound entry be accused for that.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit};

/// Longer than a tracer may take for one event: its run is given up then, and accuses nobody.
const PATIENCE: Duration = Duration::from_secs(120);

/// Opens something, and waits while this process may open nothing more.
///
/// # Errors
/// As the kernel says it; that nothing more may be opened only where that lasts for minutes.
pub(crate) fn patiently<T>(open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    within(PATIENCE, open)
}

fn within<T>(patience: Duration, mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let until = Instant::now() + patience;
    loop {
        match open() {
            Err(error) if lacks_descriptors(&error) && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(10));
            }
            other => return other,
        }
    }
}

fn lacks_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM))
}

/// A file that is held open for an entry until its run is over.
#[derive(Debug)]
pub(in crate::sandbox) struct HeldFile {
    file: File,
    counted: bool,
}

/// The number of held files that are counted, of all entries together.
static HELD: AtomicU64 = AtomicU64::new(0);

/// The most that may be held where a process may have so many descriptors.
fn most(descriptors: u64) -> u64 {
    descriptors / 4
}

impl HeldFile {
    /// Holds a file; none where the entries of this process hold so many already that others would lack descriptors.
    pub(in crate::sandbox) fn new(file: File) -> Option<HeldFile> {
        let descriptors = getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| soft);
        let one_more = |held| (held < most(descriptors)).then_some(held + 1);
        HELD.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok()?;
        Some(HeldFile { file, counted: true })
    }

    /// Holds one of the few that each entry may have, however many the others hold.
    pub(in crate::sandbox) fn one_of_few(file: File) -> HeldFile {
        HeldFile { file, counted: false }
    }

    pub(in crate::sandbox) fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for HeldFile {
    fn drop(&mut self) {
        if self.counted {
            HELD.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_want_of_descriptors_is_waited_for() {
        let mut tries = 0;
        let mut open = |errors: &[i32], patience| {
            tries = 0;
            let result = within(patience, || {
                tries += 1;
                errors
                    .get(tries - 1)
                    .map_or(Ok(7), |error| Err(io::Error::from_raw_os_error(*error)))
            });
            (result.map_err(|error| error.raw_os_error()), tries)
        };
        let long = Duration::from_secs(600);
        assert_eq!(open(&[libc::EMFILE, libc::ENFILE, libc::EMFILE], long), (Ok(7), 4));
        assert_eq!(open(&[libc::ENOENT], long), (Err(Some(libc::ENOENT)), 1));
        assert_eq!(open(&[libc::EMFILE, libc::EACCES], long), (Err(Some(libc::EACCES)), 2));
        assert_eq!(open(&[libc::EMFILE], Duration::ZERO), (Err(Some(libc::EMFILE)), 1));
    }

    #[test]
    fn files_that_are_held_leave_most_descriptors_to_others() {
        assert_eq!((most(1024), most(0)), (256, 0));
        let before = HELD.load(Ordering::Relaxed);
        let held = HeldFile::new(File::open("/dev/null").unwrap()).unwrap();
        assert!(held.file().metadata().is_ok());
        drop((held, HeldFile::one_of_few(File::open("/dev/null").unwrap())));
        // (Other tests may hold some meanwhile.)
        assert!(HELD.load(Ordering::Relaxed) <= before + most(1 << 20));
    }
}
