//! The error of a system call, without allocation.

use libc::{c_int, c_long};

pub(in crate::sandbox) fn errno() -> c_int {
    // SAFETY: points at this thread's own errno.
    unsafe { *libc::__errno_location() }
}

/// The result of a raw system call, or its error.
pub(in crate::sandbox) fn check(result: c_long) -> Result<c_long, c_int> {
    if result == -1 { Err(errno()) } else { Ok(result) }
}
