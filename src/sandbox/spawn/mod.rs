//! Starts the entry: clone, the child's side of every layer, and the hand-shake with the tracer.
//!
//! This file and `child.rs` beside it are the only ones of the crate that may use `unsafe`. Everything that a
//! child needs is prepared before the clone (a multi-threaded parent's child may not allocate), so the code
//! between clone and exec is a list of plain system calls over borrowed memory.
//!
//! The tree is: supervisor (the tracer's thread) → pid 1 of the new namespaces (mounts, reaps, never runs
//! the entry's code) → the entry. Without namespaces the entry is the supervisor's own child.
#![expect(
    unsafe_code,
    reason = "clone, exec and the system calls of the child have no safe wrapper"
)]

use std::ffi::CString;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::{io, ptr};

use libc::{c_int, c_long, c_uint, c_void};

mod child;
mod network;

pub(super) use network::Network;

/// One step of building the new root, done by pid 1 before it starts the entry.
#[derive(Debug)]
pub(super) enum Step {
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
    /// Binds a host path (given below `/.host`), read-only unless it is a device.
    Bind { source: CString, target: CString, recursive: bool, device: bool },
    /// Mounts the new process namespace's /proc.
    Proc { target: CString },
    /// Lets go of the host's root.
    DropHost,
}

/// How the new root is built.
#[derive(Debug)]
pub(super) struct Root {
    /// What every entry finds.
    pub(super) common: Arc<[Step]>,
    /// The entry itself.
    pub(super) staging: Vec<Step>,
}

impl Root {
    /// All steps in their order.
    pub(super) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.common.iter().chain(&self.staging)
    }
}

/// A directory that only exists inside, to be added to the Landlock ruleset there.
#[derive(Debug)]
pub(super) struct InnerRule {
    pub(super) path: CString,
    pub(super) rights: u64,
}

/// Who the entry is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    /// User and group inside; never zero.
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// Whether the child starts with the power to become them (a root supervisor).
    pub(super) switch: bool,
}

/// Everything the children need, made before the clone.
#[derive(Debug)]
pub(super) struct Script {
    /// New namespaces (user, mount, pid, net, ipc, uts, cgroup) with this root, or none.
    pub(super) root: Option<Root>,
    pub(super) inner_rules: Vec<InnerRule>,
    pub(super) landlock: OwnedFd,
    pub(super) seccomp: Arc<[libc::sock_filter]>,
    pub(super) rlimits: Vec<(c_int, libc::rlimit)>,
    pub(super) ids: Ids,
    pub(super) cwd: CString,
    /// Tried in order: the next one only after ENOEXEC, as execvp does.
    pub(super) attempts: Vec<Attempt>,
    pub(super) env: Vec<CString>,
    /// Only the namespaces are tried; no entry is started.
    pub(super) probe: bool,
}

/// One execve.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) path: CString,
    pub(super) argv: Vec<CString>,
}

/// Bytes of stack for the entry's side; it needs a few hundred.
const STACK: usize = 64 << 10;

/// The first process: pid 1 inside, or the entry itself.
#[derive(Debug)]
pub(super) struct First {
    pub(super) pid: i32,
    pub(super) pidfd: OwnedFd,
}

/// What a child says on the socket: the kind, then an errno or the number of a step.
pub(super) const HELLO: u8 = b'h';
pub(super) const STEP_FAILED: u8 = b's';
pub(super) const CHILD_FAILED: u8 = b'c';
pub(super) const EXEC_FAILED: u8 = b'e';
pub(super) const PROBED: u8 = b'p';
/// Pid 1: every process inside has ended and been reaped.
pub(super) const EMPTY: u8 = b'0';
/// What the supervisor says: the users are mapped; and, with its three streams, that the entry may run.
pub(super) const GO: u8 = b'g';
pub(super) const RUN: u8 = b'r';

/// The steps of the entry's own side, as numbered in `CHILD_FAILED`.
pub(super) const CHILD_STEPS: [&str; 9] = [
    "leaving the supervisor's session",
    "setting resource limits",
    "leaving the supervisor's groups and user",
    "dropping capabilities",
    "no_new_privs",
    "granting the workspace by Landlock",
    "entering the Landlock domain",
    "entering the current directory",
    "installing the seccomp filter",
];

/// Where the first process begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begin<'a> {
    /// Where the supervisor is, or in namespaces that are all new; then its users are still to be mapped.
    Here,
    /// In a network that is kept, and otherwise in new namespaces; its users are mapped by these lines.
    In(&'a Network, &'a [u8]),
}

/// Everything that is an entry's own.
const NAMESPACES: c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// Clones the first process. The calling thread becomes its parent and must be the one that traces.
pub(super) fn clone_first(
    script: &Script,
    begin: Begin<'_>,
    talk: BorrowedFd<'_>,
    parent_end: BorrowedFd<'_>,
    cgroup: Option<BorrowedFd<'_>>,
) -> io::Result<First> {
    let mut flags = libc::CLONE_PIDFD | libc::SIGCHLD;
    if script.root.is_some() {
        flags |= NAMESPACES;
    }
    // The pointer arrays that execve wants, made here because the child may not allocate.
    let argvs: Vec<Vec<*const libc::c_char>> =
        script.attempts.iter().map(|attempt| pointers(&attempt.argv)).collect();
    let env = pointers(&script.env);
    // What the entry's process lives on until its exec.
    let mut stack = vec![0u128; STACK / size_of::<u128>()];
    let mut run = || -> c_int {
        let talk = talk.as_raw_fd();
        // SAFETY: only the child comes here; these descriptors are its own, and closing the parent's end lets the end of
        // the parent be seen as end of file.
        unsafe { libc::close(parent_end.as_raw_fd()) };
        if script.root.is_some() {
            child::first_main(script, talk, &argvs, &env, &mut stack)
        } else {
            child::entry_main(script, talk, None, &argvs, &env)
        }
    };
    if let Begin::In(network, maps) = begin {
        return network::clone_in(network, maps, cgroup, &mut run);
    }
    let mut pidfd: c_int = -1;
    // SAFETY: of both calls: a null stack means the child goes on with a copy of ours, as fork does; `pidfd`
    // outlives the call. The child never returns from `run` and touches only prepared memory.
    let pid = unsafe {
        match cgroup {
            // The group is entered by being born there: moving costs milliseconds.
            Some(cgroup) => clone_into(flags, &raw mut pidfd, cgroup),
            None => libc::syscall(libc::SYS_clone, c_long::from(flags), 0, &raw mut pidfd, 0, 0),
        }
    };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => child::exit(run()),
        pid => {
            // SAFETY: the kernel has just made this descriptor for us.
            let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
            Ok(First { pid: pid as i32, pidfd })
        }
    }
}

/// As the call above, into a cgroup, which only clone3 knows.
///
/// # Safety
/// As for fork; `pidfd` must outlive the call.
unsafe fn clone_into(flags: c_int, pidfd: *mut c_int, cgroup: BorrowedFd<'_>) -> c_long {
    // libc's constant is too narrow for it.
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
    // SAFETY: all-zero is what the kernel takes for "not given" in every field.
    let mut args: libc::clone_args = unsafe { std::mem::zeroed() };
    args.flags = (flags & !libc::SIGCHLD) as u64 | CLONE_INTO_CGROUP;
    // A child of our own parent tells it as we would.
    let sibling = flags & libc::CLONE_PARENT != 0;
    args.exit_signal = if sibling { 0 } else { libc::SIGCHLD as u64 };
    args.pidfd = pidfd as u64;
    args.cgroup = cgroup.as_raw_fd() as u64;
    // SAFETY: the structure has the kernel's layout and outlives the call.
    unsafe { libc::syscall(libc::SYS_clone3, &raw const args, size_of::<libc::clone_args>()) }
}

/// Gives free memory back to the kernel: each clone copies the tables of all pages that this process has, and most of them
/// are left over from looking through the host.
pub(super) fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: an integer; it takes the allocator's own locks.
    unsafe {
        libc::malloc_trim(0)
    };
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|s| s.as_ptr()).chain([ptr::null()]).collect()
}

/// Sends a signal through a pidfd: never reaches another process that got the number since.
pub(super) fn pidfd_kill(pidfd: BorrowedFd<'_>, signal: c_int) {
    // SAFETY: plain system call over integers; a null siginfo is what kill(2) would send. A process
    // that has ended already gives ESRCH, which is what was wanted.
    unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            pidfd.as_raw_fd(),
            signal,
            ptr::null::<c_void>(),
            0,
        )
    };
}

/// How a stopped tracee goes on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Resume {
    /// Until the next event.
    Go,
    /// Until the end of the system call that it is in.
    ToCallEnd,
    /// It stays in its group stop until SIGCONT.
    Listen,
}

/// Resumes a tracee with a signal (0: none). `nix` knows neither PTRACE_LISTEN nor real-time signals.
pub(super) fn resume(pid: i32, how: Resume, signal: c_int) {
    let request = match how {
        Resume::Go => libc::PTRACE_CONT,
        Resume::ToCallEnd => libc::PTRACE_SYSCALL,
        Resume::Listen => libc::PTRACE_LISTEN,
    };
    // SAFETY: no memory is passed; a tracee that was killed meanwhile gives ESRCH, which is fine: its end
    // is reported by the next wait.
    unsafe { libc::ptrace(request, pid, 0, c_long::from(signal)) };
}

/// Changes the number of the call that a stopped tracee is about to make; this processor keeps it apart from the
/// registers.
#[cfg(target_arch = "aarch64")]
pub(super) fn set_call_number(pid: i32, mut number: c_int) -> nix::Result<()> {
    /// From the kernel's `include/uapi/linux/elf.h`.
    const NT_ARM_SYSTEM_CALL: usize = 0x404;
    let mut part = libc::iovec { iov_base: (&raw mut number).cast(), iov_len: size_of::<c_int>() };
    // SAFETY: the part points to our own integer, and both outlive the call.
    let result =
        unsafe { libc::ptrace(libc::PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &raw mut part) };
    nix::errno::Errno::result(result).map(drop)
}

/// What waiting gave.
pub(super) enum Waited {
    /// The number of a child or tracee, and its raw status.
    Event(i32, c_int),
    /// None has changed.
    Nothing,
    /// There are no more.
    NoChildren,
}

/// Waits for any child or tracee of this thread; without `block` it only looks. (`nix` loses events that carry
/// real-time signals.)
pub(super) fn wait_any(block: bool) -> Waited {
    let flags = libc::__WALL | libc::__WNOTHREAD | if block { 0 } else { libc::WNOHANG };
    loop {
        let mut status = 0;
        // SAFETY: the status is ours.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, flags) };
        match pid {
            0 => return Waited::Nothing,
            -1 if errno() == libc::EINTR => {}
            -1 => return Waited::NoChildren,
            pid => return Waited::Event(pid, status),
        }
    }
}

/// Waits until the last child of this thread has ended.
pub(super) fn wait_for_all() {
    while !matches!(wait_any(true), Waited::NoChildren) {}
}

/// The Landlock interface of the kernel; zero or less where there is none.
pub(super) fn landlock_abi() -> i32 {
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
pub(super) fn landlock_grant(
    ruleset: BorrowedFd<'_>,
    path: BorrowedFd<'_>,
    rights: u64,
) -> io::Result<()> {
    match child::add_rule(ruleset.as_raw_fd(), path.as_raw_fd(), rights) {
        Ok(_) => Ok(()),
        Err(error) => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Lets the entry run, on these streams. It waits for that with everything done but its exec.
pub(super) fn let_run(talk: BorrowedFd<'_>, streams: [BorrowedFd<'_>; 3]) -> io::Result<()> {
    use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
    let streams = streams.map(|stream| stream.as_raw_fd());
    let rights = [ControlMessage::ScmRights(&streams)];
    let word = [io::IoSlice::new(&[RUN])];
    sendmsg::<()>(talk.as_raw_fd(), &word, &rights, MsgFlags::MSG_NOSIGNAL, None)?;
    Ok(())
}

/// What a child said.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) kind: u8,
    /// The number of the step, where one failed.
    pub(super) step: usize,
    pub(super) errno: i32,
    /// The sender, as numbered outside.
    pub(super) pid: i32,
    pub(super) root: Option<OwnedFd>,
}

/// What listening gave.
#[derive(Debug)]
pub(super) enum Heard {
    Message(Message),
    /// Nothing has come; only without waiting.
    Silence,
    /// Nobody is left who could say anything.
    End,
}

/// Reads one message.
pub(super) fn receive(talk: BorrowedFd<'_>, wait: bool) -> io::Result<Heard> {
    use nix::sys::socket::{ControlMessageOwned, MsgFlags, UnixCredentials, recvmsg};
    let mut bytes = [0u8; 8];
    let mut parts = [io::IoSliceMut::new(&mut bytes)];
    let mut control = nix::cmsg_space!(RawFd, UnixCredentials);
    let mut flags = MsgFlags::MSG_CMSG_CLOEXEC;
    if !wait {
        flags |= MsgFlags::MSG_DONTWAIT;
    }
    let got = recvmsg::<()>(talk.as_raw_fd(), &mut parts, Some(&mut control), flags);
    let message = match got {
        Ok(message) => message,
        Err(nix::errno::Errno::EAGAIN) => return Ok(Heard::Silence),
        Err(error) => return Err(error.into()),
    };
    let length = message.bytes;
    let mut pid = 0;
    let mut root = None;
    for part in message.cmsgs()? {
        match part {
            ControlMessageOwned::ScmCredentials(who) => pid = who.pid(),
            ControlMessageOwned::ScmRights(fds) => {
                for fd in fds {
                    // SAFETY: the kernel has just made this descriptor for us.
                    root = Some(unsafe { OwnedFd::from_raw_fd(fd) });
                }
            }
            _ => {}
        }
    }
    if length == 0 {
        return Ok(Heard::End);
    }
    let errno = i32::from_le_bytes([bytes[2], bytes[3], bytes[4], bytes[5]]);
    let step = usize::from(bytes[1]);
    Ok(Heard::Message(Message { kind: bytes[0], step, errno, pid, root }))
}

fn errno() -> c_int {
    // SAFETY: points at this thread's own errno.
    unsafe { *libc::__errno_location() }
}
