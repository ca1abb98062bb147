//! A call that stops for the tracer: what it is, and how it stands in the registers.

use crate::model::listed_enum::listed_enum;

/// A system call as it stands in the registers.
#[derive(Clone, Copy, Debug)]
pub(in crate::sandbox) struct Call {
    /// The kernel takes 32 bits of the register.
    pub(in crate::sandbox) number: u32,
    pub(in crate::sandbox) args: [u64; 6],
    /// The i386 table: pointers are 32 bits wide.
    pub(in crate::sandbox) compat: bool,
}

listed_enum! {
    /// The kind of a stopped call; travels in the 16 data bits of SECCOMP_RET_TRACE.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u16)]
    pub(in crate::sandbox) enum StoppedCall {
        /// `execve(path, argv)`.
        Exec = 1,
        /// `execveat(dirfd, path, argv)`.
        ExecAt,
        /// `open(path, flags)`.
        Open,
        /// `openat(dirfd, path, flags)`.
        OpenAt,
        /// `openat2(dirfd, path, how)`.
        OpenAt2,
        /// `creat(path)`, which opens what it makes.
        Creat,
        /// `mkdir`, `mknod`: the path comes first.
        Create,
        /// `mkdirat`, `mknodat`: directory, path.
        CreateAt,
        /// `rename`, `link`, `symlink`: the new path is the second.
        CreateSecond,
        /// `renameat`, `linkat`: the new directory and path are the third and fourth.
        CreateThird,
        /// `symlinkat`: the new directory and path are the second and third.
        SymlinkAt,
        /// `stat`, `lstat`, `access`: shells looking for a command.
        Look,
        /// `newfstatat`, `faccessat`, `statx`.
        LookAt,
        /// `mmap` of 4 GiB or more.
        BigMap,
        /// `mmap` of huge pages.
        HugePages,
        /// `clone`, `fork`, `vfork`.
        Clone,
        /// Refused; the tracer names it and makes it fail with EPERM.
        Denied,
        /// A call on the process of the first argument: the tracer lets it reach the entry's own only.
        Process,
        /// The same where the process is the second argument (`setpriority`, `ioprio_set`).
        ProcessSecond,
        /// The same where the process stands in the number of a clock (`clock_gettime`).
        ProcessClock,
        /// Waits until another process says so, who may find the word in memory by a file that both have (`futex`).
        SharedWait,
        /// Changes a file's mode, owner, times or attributes, which Landlock does not confine.
        Meta,
    }
}

/// The flag of the 32-bit table beside the [`StoppedCall`].
pub(in crate::sandbox) const COMPAT: u16 = 0x100;

impl StoppedCall {
    /// The stop and whether it is a call of the i386 table, from the event's message.
    pub(in crate::sandbox) fn from_message(message: i64) -> Option<(StoppedCall, bool)> {
        let data = message as u16;
        let stop = StoppedCall::ALL.into_iter().find(|stop| *stop as u16 == data & !COMPAT)?;
        Some((stop, data & COMPAT != 0))
    }
}
