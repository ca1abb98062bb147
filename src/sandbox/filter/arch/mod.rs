//! The differences between processors: the registers of a stopped process and the numbers of system calls.

mod native;
mod table;

#[cfg(target_arch = "aarch64")]
#[path = "aarch64.rs"]
mod current;
#[cfg(target_arch = "x86_64")]
#[path = "x86_64.rs"]
mod current;
#[cfg(target_arch = "x86_64")]
mod i386;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the sandbox knows the system calls of x86-64 and aarch64 only");

use libc::user_regs_struct as Registers;
use nix::sys::ptrace;
use nix::unistd::Pid;

pub(in crate::sandbox) use current::{
    FOREIGN_BIT, OLD_NAMES, TABLES_IN_WORDS, call, change_map_flags, clones_descriptors, give_back,
    interrupt, is_trap, program_counter, refuse, replace, result, take_up_call,
};
pub(in crate::sandbox) use native::TABLES;
#[cfg(test)]
pub(in crate::sandbox) use table::LAST;
pub(in crate::sandbox) use table::{
    ATTRIBUTES_AT, CACHESTAT, CLOSE_RANGE, CallTable, Changes, FCHMODAT2, FILE_SETATTR,
    FileReference, MEMFD_SECRET, NEW_FUTEX, OPEN_TREE_ATTR, PROCESS_MADVISE, TELL_MOUNTS, names,
};

/// Changes the registers of a stopped process.
fn change_registers(pid: Pid, change: impl FnOnce(&mut Registers)) -> nix::Result<()> {
    let mut registers = ptrace::getregs(pid)?;
    change(&mut registers);
    ptrace::setregs(pid, registers)
}

/// The property of a file that a call of either table changes, and the way in which it names the file.
pub(in crate::sandbox) fn change(number: u32, compat: bool) -> Option<(Changes, FileReference)> {
    let number = i64::from(number);
    if compat {
        return current::other_change(number);
    }
    current::old_change(number).or_else(|| change_by_any(number))
}

/// The calls that every processor has.
fn change_by_any(number: i64) -> Option<(Changes, FileReference)> {
    use Changes::{Attribute, Mode, Nothing};
    use FileReference::{At, Descriptor, Link, Path};
    Some(match number {
        libc::SYS_fchmod => (Mode, Descriptor),
        libc::SYS_fchmodat => (Mode, At(None)),
        FCHMODAT2 => (Mode, At(Some(3))),
        libc::SYS_fchown => (Nothing, Descriptor),
        libc::SYS_fchownat => (Nothing, At(Some(4))),
        libc::SYS_utimensat => (Nothing, At(Some(3))),
        libc::SYS_setxattr | libc::SYS_removexattr => (Attribute, Path),
        libc::SYS_lsetxattr | libc::SYS_lremovexattr => (Attribute, Link),
        libc::SYS_fsetxattr | libc::SYS_fremovexattr => (Attribute, Descriptor),
        _ => return None,
    })
}
