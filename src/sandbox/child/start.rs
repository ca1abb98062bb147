//! The clone of the first process.

use std::ffi::CString;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::{io, ptr};

use libc::{c_int, c_long};

use crate::sandbox::child::errno::errno;
use crate::sandbox::child::inside;
use crate::sandbox::child::memory_mark;
use crate::sandbox::child::ptrace::pidfd_kill;
use crate::sandbox::child::setup::ChildSetup;

/// Bytes of stack for the entry's side; it needs a few hundred.
const STACK: usize = 64 << 10;

/// The first process: pid 1 inside, or the entry itself.
#[derive(Debug)]
pub(in crate::sandbox) struct FirstProcess {
    pub(in crate::sandbox) pid: i32,
    pub(in crate::sandbox) pidfd: OwnedFd,
}

const NAMESPACES: c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// Clones the first process: in new namespaces where the set-up has a root, whose users are still to be mapped. The calling
/// thread becomes its parent and must be the one that traces.
pub(in crate::sandbox) fn clone_first(
    setup: &ChildSetup,
    talk: BorrowedFd<'_>,
    parent_end: BorrowedFd<'_>,
    cgroup: Option<BorrowedFd<'_>>,
) -> io::Result<FirstProcess> {
    let namespaces = if setup.root.is_some() { NAMESPACES } else { 0 };
    let flags = libc::CLONE_PIDFD | libc::SIGCHLD | namespaces;
    // The pointer arrays that execve wants, made here because the child may not allocate.
    let argvs: Vec<Vec<*const libc::c_char>> =
        setup.attempts.iter().map(|attempt| pointers(&attempt.argv)).collect();
    let env = pointers(&setup.env);
    memory_mark::prepare();
    // Where the entry's process runs until its exec.
    let mut stack = vec![0u128; STACK / size_of::<u128>()];
    let mut pidfd: c_int = -1;
    let mut moves = false;
    // SAFETY: of both calls: a null stack means the child goes on with a copy of ours, as fork does; `pidfd`
    // outlives the call. The child never returns from here and touches only prepared memory.
    let pid = unsafe {
        // The group is entered by being born there: moving costs milliseconds.
        match cgroup.map(|cgroup| clone_into(flags, &raw mut pidfd, cgroup)) {
            // The filter of an old container runtime knows no clone3, and says so as an old kernel would.
            Some(-1) if errno() == libc::ENOSYS => {
                moves = true;
                plain_clone(flags, &raw mut pidfd)
            }
            Some(born) => born,
            None => plain_clone(flags, &raw mut pidfd),
        }
    };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let talk = talk.as_raw_fd();
            // SAFETY: only the child comes here; the descriptor is its own, and closing the parent's end lets the end of
            // the parent be seen as end of file.
            unsafe { libc::close(parent_end.as_raw_fd()) };
            if setup.root.is_some() {
                inside::first_main(setup, talk, &argvs, &env, &mut stack)
            } else {
                inside::entry_main(setup, talk, setup.landlock.as_raw_fd(), &argvs, &env)
            }
        }
        pid => {
            // SAFETY: the kernel has just made this descriptor for us.
            let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
            let first = FirstProcess { pid: pid as i32, pidfd };
            if let (true, Some(cgroup)) = (moves, cgroup)
                && let Err(error) = move_into(cgroup, first.pid)
            {
                pidfd_kill(first.pidfd.as_fd(), libc::SIGKILL);
                return Err(error);
            }
            Ok(first)
        }
    }
}

/// Puts a process into a cgroup. It waits for a word of ours before it starts anything, so nothing of it is elsewhere.
fn move_into(cgroup: BorrowedFd<'_>, pid: i32) -> io::Result<()> {
    let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::CLOEXEC;
    let list = rustix::fs::openat(cgroup, c"cgroup.procs", flags, rustix::fs::Mode::empty())?;
    File::from(list).write_all(pid.to_string().as_bytes())
}

/// As fork, with these flags.
///
/// # Safety
/// As for fork; `pidfd` must outlive the call.
unsafe fn plain_clone(flags: c_int, pidfd: *mut c_int) -> c_long {
    // SAFETY: a null stack means the child goes on with a copy of ours; the rest are integers and the caller's pointer.
    unsafe { libc::syscall(libc::SYS_clone, c_long::from(flags), 0, pidfd, 0, 0) }
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
    args.exit_signal = libc::SIGCHLD as u64;
    args.pidfd = pidfd as u64;
    args.cgroup = cgroup.as_raw_fd() as u64;
    // SAFETY: the structure has the kernel's layout and outlives the call.
    unsafe { libc::syscall(libc::SYS_clone3, &raw const args, size_of::<libc::clone_args>()) }
}

/// Gives free memory back to the kernel: each clone copies the tables of all pages that this process has, and most of them
/// are left over from looking through the host.
pub(in crate::sandbox) fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: an integer; it takes the allocator's own locks.
    unsafe {
        libc::malloc_trim(0)
    };
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|s| s.as_ptr()).chain([ptr::null()]).collect()
}
