//! Reads a stopped process: registers, strings, argument lists, paths.

use std::ffi::OsStr;
use std::io::IoSliceMut;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::sys::ptrace;
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

/// The longest path that the kernel takes (PATH_MAX).
const PATH_MAX: usize = 4096;
/// How many arguments are kept, and how much of each.
const ARGUMENTS: usize = 16;
const ARGUMENT_LENGTH: usize = 200;

/// A system call as it stands in the registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) number: u64,
    pub(super) args: [u64; 6],
    /// The i386 table: pointers are 32 bits wide.
    pub(super) compat: bool,
}

/// The call that a stopped process is about to make.
pub(super) fn call(pid: i32, compat: bool) -> Option<Call> {
    let r = ptrace::getregs(Pid::from_raw(pid)).ok()?;
    let args = if compat {
        [r.rbx, r.rcx, r.rdx, r.rsi, r.rdi, r.rbp].map(|value| value & 0xffff_ffff)
    } else {
        [r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9]
    };
    Some(Call { number: r.orig_rax, args, compat })
}

/// The process that a thread belongs to, and that process's parent, from /proc/PID/status.
pub(super) fn family(pid: i32) -> (i32, i32) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse::<i32>().ok()
    };
    (field("Tgid:").unwrap_or(pid), field("PPid:").unwrap_or_default())
}

/// The result of a call at its end: zero or more, or the negated errno.
pub(super) fn result(pid: i32) -> Option<i64> {
    let value = ptrace::getregs(Pid::from_raw(pid)).ok()?.rax as i64;
    // A 32-bit process has its result in the lower half.
    let narrow = i64::from(value as i32);
    Some(if (-4095..0).contains(&narrow) && value >> 32 == 0 { narrow } else { value })
}

/// Makes the call fail with `errno` without being made.
pub(super) fn refuse(pid: i32, errno: i32) {
    let pid = Pid::from_raw(pid);
    if let Ok(mut registers) = ptrace::getregs(pid) {
        registers.orig_rax = u64::MAX;
        registers.rax = i64::from(-errno) as u64;
        if ptrace::setregs(pid, registers).is_ok() {
            return;
        }
    }
    // It must not go on with the call: what cannot be refused is killed.
    let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
}

/// Lets a private anonymous mapping that is about to be made reserve no memory: pages count when they are
/// touched. True where that changed the call.
pub(super) fn reserve_nothing(pid: i32, call: &Call) -> bool {
    const PRIVATE_ANONYMOUS: u64 = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
    const NO_RESERVE: u64 = libc::MAP_NORESERVE as u64;
    let flags = call.args[3];
    if call.compat || flags & PRIVATE_ANONYMOUS != PRIVATE_ANONYMOUS || flags & NO_RESERVE != 0 {
        return false;
    }
    let pid = Pid::from_raw(pid);
    let Ok(mut registers) = ptrace::getregs(pid) else {
        return false;
    };
    registers.r10 = flags | NO_RESERVE;
    ptrace::setregs(pid, registers).is_ok()
}

/// Whether a process that got SIGILL stands at an instruction that this processor refused: any but `ud2`, which
/// is how compilers write a trap.
pub(super) fn lacks_instruction(pid: i32) -> bool {
    const UD2: [u8; 2] = [0x0f, 0x0b];
    let mut bytes = [0u8; 2];
    ptrace::getregs(Pid::from_raw(pid))
        .ok()
        .and_then(|registers| read(pid, registers.rip, &mut bytes))
        .is_some_and(|count| count == 2 && bytes != UD2)
}

fn read(pid: i32, address: u64, into: &mut [u8]) -> Option<usize> {
    let remote = [RemoteIoVec { base: usize::try_from(address).ok()?, len: into.len() }];
    process_vm_readv(Pid::from_raw(pid), &mut [IoSliceMut::new(into)], &remote).ok()
}

/// A NUL-terminated string of at most `max` bytes. Reads never cross a page that may not be there.
pub(super) fn string(pid: i32, mut address: u64, max: usize) -> Option<Vec<u8>> {
    if address == 0 {
        return None;
    }
    let mut out = Vec::new();
    let mut page = [0u8; 4096];
    while out.len() < max {
        let room = 4096 - (address % 4096) as usize;
        let want = room.min(max - out.len()).min(512);
        let n = read(pid, address, page.get_mut(..want)?)?;
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
pub(super) fn argv(pid: i32, address: u64, compat: bool) -> Vec<Vec<u8>> {
    let width = if compat { 4 } else { 8 };
    let mut out = Vec::new();
    for index in 0..ARGUMENTS as u64 {
        let mut pointer = [0u8; 8];
        let Some(slot) = pointer.get_mut(..width) else {
            break;
        };
        if read(pid, address + index * width as u64, slot) != Some(width) {
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
pub(super) fn word(pid: i32, address: u64) -> Option<u64> {
    let mut bytes = [0u8; 8];
    (read(pid, address, &mut bytes)? == 8).then(|| u64::from_le_bytes(bytes))
}

/// The path argument at `address`, made absolute as the process sees it: relative to `dirfd`, or to its
/// current directory where that is `None` or AT_FDCWD.
pub(super) fn path(pid: i32, dirfd: Option<u64>, address: u64) -> Option<PathBuf> {
    let given = string(pid, address, PATH_MAX)?;
    let given = Path::new(OsStr::from_bytes(&given));
    if given.is_absolute() {
        return Some(given.to_owned());
    }
    let base = match dirfd.map(|fd| fd as i32) {
        None | Some(libc::AT_FDCWD) => PathBuf::from(format!("/proc/{pid}/cwd")),
        Some(fd) => PathBuf::from(format!("/proc/{pid}/fd/{fd}")),
    };
    let base = std::fs::read_link(base).ok()?;
    Some(if given.as_os_str().is_empty() { base } else { base.join(given) })
}
