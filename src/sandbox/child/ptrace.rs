//! System calls of the tracer that no crate offers.

use std::ffi::{c_int, c_long, c_void};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use crate::sandbox::child::errno::errno;

/// Sends a signal through a pidfd: never reaches another process that got the number since.
pub(in crate::sandbox) fn pidfd_kill(pidfd: BorrowedFd<'_>, signal: c_int) {
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

/// The way in which a stopped tracee goes on.
#[derive(Clone, Copy, Debug)]
pub(in crate::sandbox) enum TraceeResume {
    /// Until the next event.
    Go,
    /// Until the end of the system call that it is in.
    ToCallEnd,
    /// The tracee stays in its group stop until SIGCONT.
    Listen,
}

/// Resumes a tracee with a signal (0: none). `nix` knows neither PTRACE_LISTEN nor real-time signals.
pub(in crate::sandbox) fn resume(pid: i32, how: TraceeResume, signal: c_int) {
    let request = match how {
        TraceeResume::Go => libc::PTRACE_CONT,
        TraceeResume::ToCallEnd => libc::PTRACE_SYSCALL,
        TraceeResume::Listen => libc::PTRACE_LISTEN,
    };
    // SAFETY: no memory is passed; a tracee that was killed meanwhile gives ESRCH, which is fine: its end
    // is reported by the next wait.
    unsafe { libc::ptrace(request, pid, 0, c_long::from(signal)) };
}

/// Changes the number of the call that a stopped tracee is about to make; this processor keeps it apart from the
/// registers.
#[cfg(target_arch = "aarch64")]
pub(in crate::sandbox) fn set_call_number(pid: i32, mut number: c_int) -> nix::Result<()> {
    /// From the kernel's `include/uapi/linux/elf.h`.
    const NT_ARM_SYSTEM_CALL: usize = 0x404;
    let mut part = libc::iovec { iov_base: (&raw mut number).cast(), iov_len: size_of::<c_int>() };
    // SAFETY: the part points to our own integer, and both outlive the call.
    let result =
        unsafe { libc::ptrace(libc::PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &raw mut part) };
    nix::errno::Errno::result(result).map(drop)
}

/// The result of a wait.
pub(in crate::sandbox) enum WaitResult {
    /// The number of a child or tracee, and its raw status.
    Event(i32, c_int),
    /// None has changed.
    Nothing,
    /// There are no more.
    NoChildren,
}

/// Waits for any child or tracee of this thread; without `block` it only looks. One that has ended is shown to `ended`
/// while its number is still its own. (`nix` loses events that carry real-time signals.)
pub(in crate::sandbox) fn wait_any(block: bool, ended: impl Fn(i32)) -> WaitResult {
    wait(None, block, ended)
}

/// Looks for an event of one tracee of this thread.
pub(in crate::sandbox) fn look_at(pid: i32, ended: impl Fn(i32)) -> WaitResult {
    wait(Some(pid), false, ended)
}

fn wait(one: Option<i32>, block: bool, ended: impl Fn(i32)) -> WaitResult {
    let (kind, number) = one.map_or((libc::P_ALL, 0), |pid| (libc::P_PID, pid as libc::id_t));
    let ours = libc::__WALL | libc::__WNOTHREAD;
    // A tracee's stops come without being asked for; those of a child that is not traced are nobody's business.
    let any = ours | libc::WEXITED | libc::WNOWAIT;
    let any = any | if block { 0 } else { libc::WNOHANG };
    loop {
        // SAFETY: a siginfo of zeros is a valid one, and says "nothing" where the kernel leaves it alone.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: the structure is ours.
        if unsafe { libc::waitid(kind, number, &raw mut info, any) } != 0 {
            if errno() == libc::EINTR {
                continue;
            }
            return WaitResult::NoChildren;
        }
        // SAFETY: what waitid fills in has this field.
        let pid = unsafe { info.si_pid() };
        if pid == 0 {
            return WaitResult::Nothing;
        }
        if matches!(info.si_code, libc::CLD_EXITED | libc::CLD_KILLED | libc::CLD_DUMPED) {
            ended(pid);
        }
        let mut status = 0;
        // SAFETY: the status is ours.
        let taken = unsafe { libc::waitpid(pid, &raw mut status, ours | libc::WNOHANG) };
        if taken == pid {
            return WaitResult::Event(pid, status);
        }
        // It was killed since it stopped, and has not come to its end: the next look tells.
    }
}

/// Waits until the last child of this thread has ended. A tracee stops once more before its end.
pub(in crate::sandbox) fn wait_for_all() {
    loop {
        match wait_any(true, |_| {}) {
            WaitResult::Event(pid, status) if libc::WIFSTOPPED(status) => {
                resume(pid, TraceeResume::Go, 0);
            }
            WaitResult::Event(..) | WaitResult::Nothing => {}
            WaitResult::NoChildren => break,
        }
    }
}
