//! Landlock's system calls, for the supervisor and for the children.

use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::{io, ptr};

use libc::{c_int, c_long, c_uint, c_void};

use crate::sandbox::child::errno::check;

/// The Landlock interface of the kernel; zero or less where there is none.
pub(in crate::sandbox) fn landlock_abi() -> i32 {
    const LANDLOCK_CREATE_RULESET_VERSION: c_uint = 1;
    // SAFETY: a null attribute of size zero asks for the version only.
    let abi = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            ptr::null::<c_void>(),
            0usize,
            LANDLOCK_CREATE_RULESET_VERSION,
        )
    };
    abi as i32
}

/// Adds a rule to a Landlock ruleset: these rights on the file, or beneath the directory. The crate `landlock` looks at
/// each file once more to leave out rights that do not fit; hundreds of rules are looked at before instead, once.
/// <https://docs.kernel.org/userspace-api/landlock.html>
pub(in crate::sandbox) fn landlock_grant(
    ruleset: BorrowedFd<'_>,
    path: BorrowedFd<'_>,
    rights: u64,
) -> io::Result<()> {
    match add_rule(ruleset.as_raw_fd(), path.as_raw_fd(), rights) {
        Ok(_) => Ok(()),
        Err(error) => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Adds a rule to a Landlock ruleset: these rights on the file, or beneath the directory. A number that is no open
/// descriptor gives EBADF.
pub(in crate::sandbox) fn add_rule(
    ruleset: RawFd,
    path: RawFd,
    rights: u64,
) -> Result<c_long, c_int> {
    #[repr(C, packed)]
    struct PathBeneath {
        allowed_access: u64,
        parent_fd: i32,
    }
    const LANDLOCK_RULE_PATH_BENEATH: c_int = 1;
    let beneath = PathBeneath { allowed_access: rights, parent_fd: path };
    // SAFETY: the structure has the kernel's (packed) layout and outlives the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset,
            LANDLOCK_RULE_PATH_BENEATH,
            &raw const beneath,
            0 as c_uint,
        )
    })
}
