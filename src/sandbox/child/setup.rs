//! A description of what the children are to do, complete before the clone: they may not allocate.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use libc::{c_int, c_uint};

/// One step of building the new root, done by pid 1 before it starts the entry.
#[derive(Debug)]
pub(in crate::sandbox) enum SetupStep {
    /// Makes every mount private, so that nothing done here reaches the host.
    Private,
    /// Mounts a tmpfs on an existing directory and makes it the root; the old one is at `/.host`.
    NewRoot { on: CString, options: CString },
    /// Makes a directory.
    Dir { path: CString, mode: c_uint, entry_owns: bool },
    /// Makes a symbolic link.
    Link { target: CString, path: CString },
    /// Makes a file with these bytes.
    File { path: CString, mode: c_uint, bytes: Arc<[u8]> },
    /// Binds a host path (given below `/.host`), read-only.
    Bind { source: CString, target: CString, recursive: bool, device: bool },
    /// Mounts the new process namespace's /proc.
    Proc { target: CString },
    /// Puts one of our files or directories over something in /proc.
    Cover { cover: CString, target: CString },
    /// Gives the machine another name.
    HostName { name: CString },
    /// Lets go of the host's root.
    DropHost,
}

/// An empty directory of the new root, which covers what is not to be seen.
pub(in crate::sandbox) const NO_FILES: &CStr = c"/.machine/empty";

/// The steps that build the new root.
#[derive(Debug)]
pub(in crate::sandbox) struct Root {
    /// The steps that all entries share.
    pub(in crate::sandbox) common: Arc<[SetupStep]>,
    /// The steps that put the entry itself in place.
    pub(in crate::sandbox) staging: Vec<SetupStep>,
}

impl Root {
    /// All steps in their order.
    pub(in crate::sandbox) fn steps(&self) -> impl Iterator<Item = &SetupStep> {
        self.common.iter().chain(&self.staging)
    }
}

/// A directory that only exists inside, to be added to the Landlock ruleset there.
#[derive(Debug)]
pub(in crate::sandbox) struct InnerRule {
    pub(in crate::sandbox) path: CString,
    pub(in crate::sandbox) rights: u64,
}

/// The user and group that the entry runs as.
#[derive(Clone, Copy, Debug)]
pub(in crate::sandbox) struct Ids {
    /// User and group inside; never zero.
    pub(in crate::sandbox) uid: u32,
    pub(in crate::sandbox) gid: u32,
    /// True if the child starts with the power to become them (a root supervisor).
    pub(in crate::sandbox) switch: bool,
}

/// Everything the children need, made before the clone.
#[derive(Debug)]
pub(in crate::sandbox) struct ChildSetup {
    /// New namespaces (user, mount, pid, net, ipc, uts, cgroup) with this root, or none.
    pub(in crate::sandbox) root: Option<Root>,
    /// Without a root of its own: the entry's file. The child writes it, since a descriptor of ours would be held open by whatever
    /// another thread clones or spawns meanwhile, and the kernel executes no file that somebody may write (ETXTBSY).
    pub(in crate::sandbox) staging: Option<SetupStep>,
    pub(in crate::sandbox) inner_rules: Vec<InnerRule>,
    pub(in crate::sandbox) landlock: OwnedFd,
    pub(in crate::sandbox) seccomp: Arc<[libc::sock_filter]>,
    pub(in crate::sandbox) rlimits: Vec<(c_int, libc::rlimit)>,
    pub(in crate::sandbox) ids: Ids,
    pub(in crate::sandbox) cwd: CString,
    /// Tried in order: the next one only after ENOEXEC, as execvp does.
    pub(in crate::sandbox) attempts: Vec<Attempt>,
    pub(in crate::sandbox) env: Vec<CString>,
    /// The addresses of our arguments and environment: pid 1 is a copy of us, and the entry can read its command line.
    pub(in crate::sandbox) arguments: std::ops::Range<usize>,
    /// Only the namespaces are tried; no entry is started.
    pub(in crate::sandbox) probe: bool,
}

/// One execve.
#[derive(Debug)]
pub(in crate::sandbox) struct Attempt {
    pub(in crate::sandbox) path: CString,
    pub(in crate::sandbox) argv: Vec<CString>,
}

/// The steps of the entry's own side, as numbered in `CHILD_FAILED`.
pub(in crate::sandbox) const CHILD_STEPS: [&str; 10] = [
    "staging the entry",
    "leaving the supervisor's session",
    "granting the workspace by Landlock",
    "setting resource limits",
    "leaving the supervisor's groups and user",
    "dropping capabilities",
    "no_new_privs",
    "entering the Landlock domain",
    "entering the current directory",
    "installing the seccomp filter",
];
