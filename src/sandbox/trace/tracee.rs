//! Reads a stopped process: registers, strings, argument lists, paths.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::sys::ptrace;
use nix::unistd::Pid;

use crate::sandbox::filter::arch;
use crate::sandbox::filter::stop::Call;
use crate::sandbox::inspect::process;
use crate::sandbox::plan::FileMaker;

/// The longest path that the kernel takes (PATH_MAX).
const PATH_MAX: usize = 4096;
/// The number of arguments that are kept, and how much of each.
pub(in crate::sandbox) const ARGUMENTS: usize = FileMaker::MOST_ARGUMENTS;
const ARGUMENT_LENGTH: usize = FileMaker::ARGUMENT_LENGTH;

/// The call that a stopped process is about to make; none where its thread has a fatal signal by now, with which it makes none.
pub(in crate::sandbox) fn call(pid: i32, compat: bool) -> Option<Call> {
    let registers = ptrace::getregs(Pid::from_raw(pid));
    // A call that nobody has looked at must not be made.
    or_kill(pid, registers.map(drop));
    Some(arch::call(&registers.ok()?, compat))
}

/// The process that a thread belongs to, and that process's parent, from /proc/PID/status.
pub(in crate::sandbox) fn family(pid: i32) -> (i32, i32) {
    let status = process::text(pid, "status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse::<i32>().ok()
    };
    (field("Tgid:").unwrap_or(pid), field("PPid:").unwrap_or_default())
}

/// True if a stopped process was killed meanwhile: it has no memory any more, and so no program, no
/// root and no directory.
pub(in crate::sandbox) fn is_dying(pid: i32) -> bool {
    match process::link(pid, "exe") {
        Ok(_) => false,
        Err(error) => {
            error.kind() == std::io::ErrorKind::NotFound
                || error.raw_os_error() == Some(libc::ESRCH)
        }
    }
}

/// The result of a call at its end: zero or more, or the negated errno.
pub(in crate::sandbox) fn result(pid: i32) -> Option<i64> {
    Some(arch::result(&ptrace::getregs(Pid::from_raw(pid)).ok()?))
}

/// True if the child that a process is about to get shares its table of descriptors.
pub(in crate::sandbox) fn clones_descriptors(pid: i32) -> bool {
    let Ok(registers) = ptrace::getregs(Pid::from_raw(pid)) else { return true };
    arch::clones_descriptors(&registers)
}

/// The address from which a call is made.
pub(in crate::sandbox) fn address_of_call(pid: i32) -> Option<u64> {
    Some(arch::program_counter(&ptrace::getregs(Pid::from_raw(pid)).ok()?))
}

/// The error of a call that is to go on where a signal has interrupted it (the kernel's ERESTART_RESTARTBLOCK); programs never see it.
pub(in crate::sandbox) const WAITS_ON: i32 = 516;

/// Lets a call that has ended so fail with EINTR instead, after which programs make it anew.
pub(in crate::sandbox) fn interrupt(pid: i32) {
    // One that was killed meanwhile makes no call any more.
    let _ = arch::interrupt(Pid::from_raw(pid));
}

/// Makes the call fail with `errno` without being made.
pub(in crate::sandbox) fn refuse(pid: i32, errno: i32) {
    or_kill(pid, arch::refuse(Pid::from_raw(pid), errno));
}

/// Lets a private anonymous mapping that is about to be made reserve no memory: pages count when they are
/// touched. True where that changed the call.
pub(in crate::sandbox) fn reserve_nothing(pid: i32, call: &Call) -> bool {
    const PRIVATE_ANONYMOUS: u64 = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
    const NO_RESERVE: u64 = libc::MAP_NORESERVE as u64;
    let flags = call.args[3];
    if call.compat || flags & PRIVATE_ANONYMOUS != PRIVATE_ANONYMOUS || flags & NO_RESERVE != 0 {
        return false;
    }
    arch::change_map_flags(Pid::from_raw(pid), flags | NO_RESERVE).is_ok()
}

/// Lets a call that is about to open a file make one in memory instead, which is called like the path at `address`.
pub(in crate::sandbox) fn open_memory_instead(pid: i32, address: u64, flags: u64) {
    let closes = flags & libc::O_CLOEXEC as u64 != 0;
    let arguments = [address, if closes { u64::from(libc::MFD_CLOEXEC) } else { 0 }];
    or_kill(pid, arch::replace(Pid::from_raw(pid), libc::SYS_memfd_create as u64, arguments));
}

/// Gives back the arguments of that call at its end.
pub(in crate::sandbox) fn give_back(pid: i32, call: &Call) {
    let [first, second, ..] = call.args;
    // The call is over; one that was killed meanwhile needs them no more.
    let _ = arch::give_back(Pid::from_raw(pid), [first, second]);
}

/// A process whose call cannot be changed must not go on with it. A thread that is gone, or about to be, makes none: another one of
/// its process may be starting a program, which must not be killed with it.
fn or_kill(pid: i32, changed: nix::Result<()>) {
    if changed.is_err_and(|error| error != nix::errno::Errno::ESRCH) {
        let _ = nix::sys::signal::kill(Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
    }
}

/// A signal that its process ignores interrupts nothing. One that is traced gets it all the same, and its `epoll_wait` would fail with
/// EINTR, as it never does outside: the call is made anew.
pub(in crate::sandbox) fn pass_over(pid: i32, signal: i32) {
    if process::ignores(pid, signal) {
        // One that was killed meanwhile makes no call any more.
        let _ = arch::take_up_call(Pid::from_raw(pid));
    }
}

/// True if a process that got SIGILL stands at an instruction that this processor refused: any but the one by
/// which compilers write a trap.
pub(in crate::sandbox) fn lacks_instruction(pid: i32) -> bool {
    let mut bytes = [0u8; 4];
    ptrace::getregs(Pid::from_raw(pid))
        .ok()
        .and_then(|registers| instruction(pid, arch::program_counter(&registers), &mut bytes))
        .is_some_and(|()| !arch::is_trap(bytes))
}

/// As many bytes as can be read, and two at least: an instruction may stand at the end of what is mapped.
fn instruction(pid: i32, address: u64, into: &mut [u8; 4]) -> Option<()> {
    if process::memory(pid, address, into) != Some(4) {
        let (first, _) = into.split_at_mut(2);
        if process::memory(pid, address, first) != Some(2) {
            return None;
        }
    }
    Some(())
}

/// A NUL-terminated string of at most `max` bytes. Reads never cross a page that may not be there.
pub(in crate::sandbox) fn string(pid: i32, mut address: u64, max: usize) -> Option<Vec<u8>> {
    if address == 0 {
        return None;
    }
    let mut out = Vec::new();
    let mut page = [0u8; 4096];
    while out.len() < max {
        let room = 4096 - (address % 4096) as usize;
        let want = room.min(max - out.len()).min(512);
        let n = process::memory(pid, address, page.get_mut(..want)?)?;
        let got = page.get(..n)?;
        if let Some(end) = got.iter().position(|byte| *byte == 0) {
            out.extend_from_slice(got.get(..end)?);
            return Some(out);
        }
        if n == 0 {
            return None;
        }
        out.extend_from_slice(got);
        address += n as u64;
    }
    Some(out)
}

/// An argument list, cut to what a report shows.
pub(in crate::sandbox) fn argv(pid: i32, address: u64, compat: bool) -> Vec<Vec<u8>> {
    let width = if compat { 4 } else { 8 };
    let mut out = Vec::new();
    for index in 0..ARGUMENTS as u64 {
        let mut pointer = [0u8; 8];
        let Some(slot) = pointer.get_mut(..width) else {
            break;
        };
        if process::memory(pid, address + index * width as u64, slot) != Some(width) {
            break;
        }
        match string(pid, u64::from_le_bytes(pointer), ARGUMENT_LENGTH) {
            Some(argument) => out.push(argument),
            None => break,
        }
    }
    out
}

/// A 64-bit word (the flags of openat2's structure).
pub(in crate::sandbox) fn word(pid: i32, address: u64) -> Option<u64> {
    let mut bytes = [0u8; 8];
    (process::memory(pid, address, &mut bytes)? == 8).then(|| u64::from_le_bytes(bytes))
}

/// The path argument of a call.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::sandbox) enum PathArgument {
    /// Absolute, as the process sees it.
    Path(PathBuf),
    /// There is none, or nothing can be below the descriptor that it starts from: the call fails.
    Nothing,
    /// The kernel may be able to read it; we are not.
    Unreadable,
}

impl PathArgument {
    pub(in crate::sandbox) fn path(self) -> Option<PathBuf> {
        match self {
            PathArgument::Path(path) => Some(path),
            PathArgument::Nothing | PathArgument::Unreadable => None,
        }
    }
}

/// The path argument at `address`: relative to `dirfd`, or to the current directory where that is `None` or AT_FDCWD.
pub(in crate::sandbox) fn path(pid: i32, dirfd: Option<u64>, address: u64) -> PathArgument {
    if address == 0 {
        return PathArgument::Nothing;
    }
    let Some(given) = string(pid, address, PATH_MAX) else {
        return PathArgument::Unreadable;
    };
    let given = plain(Path::new(OsStr::from_bytes(&given)));
    if given.is_absolute() {
        return PathArgument::Path(given);
    }
    let base = match dirfd.map(|fd| fd as i32) {
        None | Some(libc::AT_FDCWD) => process::link(pid, "cwd"),
        Some(fd) => process::link(pid, &format!("fd/{fd}")),
    };
    // A pipe or a socket is called `pipe:[7]`, and there is nothing below it: the call fails.
    match base.ok().filter(|base| base.is_absolute()) {
        None => PathArgument::Nothing,
        Some(base) if given.as_os_str().is_empty() => PathArgument::Path(base),
        Some(base) => PathArgument::Path(base.join(given)),
    }
}

/// A path in its shortest spelling: without `.` and repeated slashes, which mean nothing.
fn plain(path: &Path) -> PathBuf {
    let plain: PathBuf =
        path.components().filter(|part| !matches!(part, std::path::Component::CurDir)).collect();
    // A slash at the end says that a directory is meant.
    if path.as_os_str().as_bytes().ends_with(b"/") { plain.join("") } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn below_a_pipe_there_is_no_path() {
        let pid = std::process::id() as i32;
        let address = c"x".as_ptr() as u64;
        let (pipe, _writer) = nix::unistd::pipe().unwrap();
        assert_eq!(path(pid, Some(pipe.as_raw_fd() as u64), address), PathArgument::Nothing);
        let dir = std::fs::File::open("/usr").unwrap();
        let below = path(pid, Some(dir.as_raw_fd() as u64), address);
        assert_eq!(below, PathArgument::Path("/usr/x".into()));
        assert_eq!(path(pid, None, 8), PathArgument::Unreadable);
    }
}
