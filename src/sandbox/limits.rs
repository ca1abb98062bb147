//! Resource limits of the entry's processes.
//!
//! Memory that is really used is limited elsewhere (`memory.rs`; the size of the private tmpfs); address space never is, because real entries reserve 256 GiB and touch little of it.

use crate::units::Bytes;
use libc::{RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_NPROC, c_int, rlimit};

/// The largest file an entry may write.
const FILE_SIZE: u64 = 1 << 30;
/// Open files: an engine with a thread and a pipe for each of 512 processors is still far below.
const OPEN_FILES: u64 = 4096;
/// Processes and threads: real entries start up to 512 threads; a fork bomb ends here.
pub const TASKS: u32 = 4096;

/// How much memory an entry may really use on a host with this much: the rest is for the supervisor and
/// whatever else runs there.
#[must_use]
pub fn memory(host: Bytes) -> Bytes {
    /// Where the host does not say how much it has.
    const UNKNOWN: u64 = 4 << 30;
    if host.0 == 0 { Bytes(UNKNOWN) } else { Bytes(host.0 / 4 * 3) }
}

/// The limits as `setrlimit` takes them.
///
/// `tasks`: the process limit counts per user namespace (since Linux 5.14), so it is set only where the
/// entry has one of its own; elsewhere it would count the user's other processes and refuse threads for no
/// fault of the entry, and the tracer counts in its place.
pub(super) fn rlimits(tasks: Option<u32>) -> Vec<(c_int, rlimit)> {
    let both = |n| rlimit { rlim_cur: n, rlim_max: n };
    let mut limits = vec![
        (RLIMIT_CORE as c_int, both(0)),
        (RLIMIT_FSIZE as c_int, both(FILE_SIZE)),
        (RLIMIT_NOFILE as c_int, both(OPEN_FILES)),
    ];
    if let Some(tasks) = tasks {
        limits.push((RLIMIT_NPROC as c_int, both(u64::from(tasks))));
    }
    limits
}
