//! The high-water mark of memory that an entry's process begins with.
//!
//! At an exec the kernel keeps the mark of the memory before it, and getrusage(2) tells it (`ru_maxrss`) from then on. Before the exec
//! that memory is the supervisor's, which is larger in a check than in a match. So it is raised to about the same height for every
//! start, by pages that all starts share and nobody writes, and by some more that chance decides: the kernel counts pages of each
//! processor by itself, and what is left of a difference must not tell.
//!
//! Each of these pages that is mapped is a minor fault (one for each 64 KiB), which getrusage and `/proc/self/stat` count: mark less faults was the
//! supervisor's memory again. So the faults are raised as well, to a number that all starts share and some more by chance: the first page is
//! let go and read again, as often as it takes.

use std::ptr;
use std::sync::OnceLock;

use libc::c_void;

/// The height; a supervisor that has more is raised to the next multiple of it.
const HEIGHT: usize = 16 << 20;
/// At most so much more is added by chance.
const CHANCE: usize = HEIGHT / 4;
/// The largest page of any processor that is known here.
const LARGEST_PAGE: usize = 64 << 10;
/// The number of minor faults, more than any start has by itself (up to 330 were seen); one that has more is raised to the next multiple.
const FAULTS: usize = 512;
/// At most so many more are added by chance.
const FAULTS_BY_CHANCE: usize = 256;
/// Maps pages as if each had been read (Linux 5.14).
const MADV_POPULATE_READ: i32 = 22;

/// The address of the shared pages; none where there was no room for them.
static SHARED: OnceLock<Option<usize>> = OnceLock::new();

/// Makes the shared pages, before anything is cloned that is to use them.
pub(super) fn prepare() {
    SHARED.get_or_init(|| {
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
        // SAFETY: a new mapping at a place of the kernel's choice.
        let at =
            unsafe { libc::mmap(ptr::null_mut(), HEIGHT + CHANCE, libc::PROT_READ, flags, -1, 0) };
        (at != libc::MAP_FAILED).then_some(at as usize)
    });
}

/// Raises this process's mark to the next multiple of the height, and its faults to the next multiple of theirs. System calls and reads only.
pub(super) fn raise() {
    let Some(Some(start)) = SHARED.get() else { return };
    let Some((used, _)) = usage() else { return };
    let missing = (HEIGHT - used % HEIGHT + chance(CHANCE)) / LARGEST_PAGE * LARGEST_PAGE;
    // SAFETY: within the mapping, which stays until the exec.
    let done = unsafe { libc::madvise(*start as *mut c_void, missing, MADV_POPULATE_READ) } == 0;
    if !done {
        for at in (*start..*start + missing).step_by(4096) {
            // SAFETY: as above; the pages may be read.
            unsafe { ptr::read_volatile(at as *const u8) };
        }
    }
    let Some((_, faults)) = usage() else { return };
    for _ in 0..FAULTS - faults % FAULTS + chance(FAULTS_BY_CHANCE) {
        // SAFETY: as above; of these pages nothing is ever written, and whoever reads them gets them again.
        unsafe {
            libc::madvise(*start as *mut c_void, 1, libc::MADV_DONTNEED);
            ptr::read_volatile(*start as *const u8);
        }
    }
}

/// The mark of this process in bytes, and its minor faults.
fn usage() -> Option<(usize, usize)> {
    // SAFETY: a structure of integers on our own stack, which the kernel fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        if libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) != 0 {
            return None;
        }
        usage
    };
    let number = |value: libc::c_long| usize::try_from(value).unwrap_or_default();
    Some((number(usage.ru_maxrss) * 1024, number(usage.ru_minflt)))
}

/// A number below `end` by chance; where there is none, always the same one.
fn chance(end: usize) -> usize {
    let mut bytes = [0u8; 8];
    // SAFETY: eight bytes of our own stack.
    unsafe { libc::syscall(libc::SYS_getrandom, bytes.as_mut_ptr(), bytes.len(), 0) };
    usize::from_ne_bytes(bytes) % end
}

/// Lets the pages go again, in a process that lives on.
pub(super) fn let_go() {
    if let Some(Some(start)) = SHARED.get() {
        // SAFETY: the mapping's own pages, of which nothing is ever written.
        unsafe { libc::madvise(*start as *mut c_void, HEIGHT + CHANCE, libc::MADV_DONTNEED) };
    }
}
