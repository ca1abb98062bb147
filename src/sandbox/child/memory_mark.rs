//! The high-water mark of memory that an entry's process begins with.
//!
//! At an exec the kernel keeps the mark of the memory before it, and getrusage(2) tells it (`ru_maxrss`) from then on. Before the exec
//! that memory is the supervisor's, which is larger in a check than in a match. So it is raised to about the same height for every
//! start, by pages that all starts share and nobody writes, and by some more that chance decides: the kernel counts pages of each
//! processor by itself, and what is left of a difference must not tell.

use std::ptr;
use std::sync::OnceLock;

use libc::c_void;

/// The height; a supervisor that has more is raised to the next multiple of it.
const HEIGHT: usize = 16 << 20;
/// At most so much more is added by chance.
const CHANCE: usize = HEIGHT / 4;
/// The largest page of any processor that is known here.
const LARGEST_PAGE: usize = 64 << 10;
/// Maps pages as if each had been read (Linux 5.14).
const MADV_POPULATE_READ: i32 = 22;

/// Where the shared pages lie; none where there was no room for them.
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

/// Raises this process's mark to the next multiple of the height. System calls and reads only.
pub(super) fn raise() {
    let Some(Some(start)) = SHARED.get() else { return };
    // SAFETY: a structure of integers on our own stack, which the kernel fills.
    let used = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        if libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) != 0 {
            return;
        }
        usize::try_from(usage.ru_maxrss).unwrap_or_default() * 1024
    };
    let mut chance = [0u8; 8];
    // SAFETY: eight bytes of our own stack. Without chance it is the height alone.
    unsafe { libc::syscall(libc::SYS_getrandom, chance.as_mut_ptr(), chance.len(), 0) };
    let more = usize::from_ne_bytes(chance) % CHANCE;
    let missing = (HEIGHT - used % HEIGHT + more) / LARGEST_PAGE * LARGEST_PAGE;
    // SAFETY: within the mapping, which stays until the exec.
    let done = unsafe { libc::madvise(*start as *mut c_void, missing, MADV_POPULATE_READ) } == 0;
    if !done {
        for at in (*start..*start + missing).step_by(4096) {
            // SAFETY: as above; the pages may be read.
            unsafe { ptr::read_volatile(at as *const u8) };
        }
    }
}

/// Lets the pages go again, in a process that lives on.
pub(super) fn let_go() {
    if let Some(Some(start)) = SHARED.get() {
        // SAFETY: the mapping's own pages, of which nothing is ever written.
        unsafe { libc::madvise(*start as *mut c_void, HEIGHT + CHANCE, libc::MADV_DONTNEED) };
    }
}
