//! The system calls that the filter knows, by number.

use crate::sandbox::filter::stop::StoppedCall;

/// The calls of one table. Lists of lists: what all processors have, and what only this one has.
pub(in crate::sandbox) struct CallTable {
    pub(in crate::sandbox) arch: u32,
    pub(in crate::sandbox) compat: bool,
    pub(in crate::sandbox) exec: u32,
    pub(in crate::sandbox) execat: u32,
    pub(in crate::sandbox) paths: &'static [&'static [(u32, StoppedCall)]],
    pub(in crate::sandbox) looks: &'static [&'static [(u32, StoppedCall)]],
    /// `mmap`, where its length can be more than 32 bits.
    pub(in crate::sandbox) mmap: Option<u32>,
    /// `mmap` with its flags in the fourth argument.
    pub(in crate::sandbox) flagged_map: u32,
    pub(in crate::sandbox) forks: &'static [u32],
    pub(in crate::sandbox) clone: u32,
    pub(in crate::sandbox) clone3: u32,
    pub(in crate::sandbox) ioctl: u32,
    pub(in crate::sandbox) socket: u32,
    pub(in crate::sandbox) socketpair: u32,
    /// Calls that give a socket a name, or reach one by it. `bind` alone is not confined by Landlock.
    pub(in crate::sandbox) named_sockets: &'static [u32],
    pub(in crate::sandbox) always_denied: &'static [&'static [u32]],
    /// Calls that make memory which no process is seen to have.
    pub(in crate::sandbox) held_by_nobody: &'static [u32],
    /// Calls on things of which the host has one, or so many for each user: one entry could use them up for others, or
    /// signal to another entry by them.
    pub(in crate::sandbox) shared_with_host: &'static [&'static [u32]],
    /// `posix_fadvise`, with the place of its advice.
    pub(in crate::sandbox) fadvise: &'static [(u32, u32)],
    /// Reads with flags.
    pub(in crate::sandbox) flagged_reads: &'static [u32],
    /// `mbind`, whose flags can move the pages of a file between parts of the memory.
    pub(in crate::sandbox) mbind: u32,
    pub(in crate::sandbox) madvise: u32,
    pub(in crate::sandbox) statx: u32,
    pub(in crate::sandbox) membarrier: u32,
    pub(in crate::sandbox) set_affinity: u32,
    pub(in crate::sandbox) getsockopt: u32,
    pub(in crate::sandbox) setsockopt: u32,
    /// Calls that can carry descriptors.
    pub(in crate::sandbox) sends: &'static [u32],
    pub(in crate::sandbox) prctl: u32,
    pub(in crate::sandbox) fcntl: &'static [u32],
    pub(in crate::sandbox) kill: u32,
    /// Calls on a process by its number, as the first and as the second argument.
    pub(in crate::sandbox) processes: &'static [u32],
    pub(in crate::sandbox) processes_second: &'static [u32],
    /// Of these, those that change something of the process; the second with the value by which they mean all of a user's.
    pub(in crate::sandbox) sets: &'static [u32],
    pub(in crate::sandbox) sets_second: &'static [(u32, u32)],
    pub(in crate::sandbox) futex: &'static [u32],
    /// Calls on a clock, which can be that of a process.
    pub(in crate::sandbox) clocks: &'static [u32],
    /// Calls that change a file's mode, owner, times or extended attributes.
    pub(in crate::sandbox) meta: &'static [&'static [u32]],
    /// Of these, those that set and remove extended attributes.
    pub(in crate::sandbox) attributes: &'static [u32],
    /// The last call that this program knows.
    pub(in crate::sandbox) last: u32,
}

macro_rules! numbers {
    ($($name:ident)*) => { &[$(libc::$name as u32),*] };
}
pub(in crate::sandbox) use numbers;

/// The numbers of system calls with their names.
macro_rules! names {
    ($($name:ident)*) => { &[$((libc::$name, stringify!($name))),*] };
}
pub(in crate::sandbox) use names;

/// The newest call that was weighed (`file_setattr`, Linux 6.17). Calls of a later kernel, which nobody has weighed
/// yet, get ENOSYS, as on an older kernel. All tables have the same numbers here.
pub(in crate::sandbox) const LAST: u32 = 469;
/// Linux 6.15, in all tables.
pub(in crate::sandbox) const OPEN_TREE_ATTR: u32 = 467;
/// setxattrat and removexattrat (Linux 6.13), in all tables.
pub(in crate::sandbox) const ATTRIBUTES_AT: [u32; 2] = [463, 466];
/// Linux 6.17, in all tables: what `chattr` sets.
pub(in crate::sandbox) const FILE_SETATTR: u32 = 469;
/// Linux 5.14, in all tables.
pub(in crate::sandbox) const MEMFD_SECRET: u32 = 447;
/// Linux 6.5, in all tables: which pages of a file are in memory.
pub(in crate::sandbox) const CACHESTAT: u32 = 451;
/// futex_waitv (Linux 5.16), futex_wait and futex_requeue (6.7), in all tables: they have in memory what the filter would have to see.
pub(in crate::sandbox) const NEW_FUTEX: [u32; 3] = [449, 455, 456];
/// Linux 5.10, in all tables.
pub(in crate::sandbox) const PROCESS_MADVISE: u32 = 440;
/// Linux 5.9, in all tables.
pub(in crate::sandbox) const CLOSE_RANGE: u32 = 436;
/// statmount and listmount (Linux 6.8), in all tables: numbers of mounts that the kernel counts from its start on.
pub(in crate::sandbox) const TELL_MOUNTS: [u32; 2] = [457, 458];
/// Linux 6.6, in all tables; `libc` does not know it everywhere.
pub(in crate::sandbox) const FCHMODAT2: i64 = 452;

/// The property of a file that a call changes.
#[derive(Clone, Copy)]
pub(in crate::sandbox) enum Changes {
    Mode,
    /// Times and owners, which no engine needs.
    Nothing,
    Attribute,
}

/// The way in which a call says which file it means.
#[derive(Clone, Copy)]
pub(in crate::sandbox) enum FileReference {
    Path,
    /// The path's last component, even if it is a link.
    Link,
    Descriptor,
    /// Directory and path, with flags at this argument.
    At(Option<usize>),
}
