//! x86-64, with the i386 table beside its own; the x32 numbers are refused.

use libc::user_regs_struct as Registers;
use nix::sys::ptrace;
use nix::unistd::Pid;

use super::change_registers;
use crate::sandbox::filter::arch::i386;
use crate::sandbox::filter::arch::table::{Changes, FileReference, names, numbers};
use crate::sandbox::filter::stop::{Call, StoppedCall};

pub(in crate::sandbox) const AUDIT_ARCH: u32 = 0xc000_003e;
/// Set in the numbers of the x32 table, which shares the architecture's word with the native one.
pub(in crate::sandbox) const FOREIGN_BIT: Option<u32> = Some(0x4000_0000);
pub(in crate::sandbox) const TABLES_IN_WORDS: &str = "x86-64 and i386";

pub(in crate::sandbox) const OLD_PATHS: &[(u32, StoppedCall)] = &[
    (libc::SYS_open as u32, StoppedCall::Open),
    (libc::SYS_creat as u32, StoppedCall::Creat),
    (libc::SYS_mkdir as u32, StoppedCall::Create),
    (libc::SYS_mknod as u32, StoppedCall::Create),
    (libc::SYS_rename as u32, StoppedCall::CreateSecond),
    (libc::SYS_link as u32, StoppedCall::CreateSecond),
    (libc::SYS_symlink as u32, StoppedCall::CreateSecond),
];
pub(in crate::sandbox) const OLD_LOOKS: &[(u32, StoppedCall)] =
    &[(libc::SYS_stat as u32, StoppedCall::Look), (libc::SYS_access as u32, StoppedCall::Look)];
pub(in crate::sandbox) const FORKS: &[u32] = numbers!(SYS_fork SYS_vfork);
pub(in crate::sandbox) const OLD_DENIED: &[u32] = numbers!(
    SYS_iopl SYS_ioperm SYS_modify_ldt
    // It opens and maps a library at once.
    SYS_uselib
);
// ustat tells the free space of any file system of the machine, by its number, in whatever namespace it is.
pub(in crate::sandbox) const OLD_SHARED_WITH_HOST: &[u32] = numbers!(SYS_inotify_init SYS_ustat);
pub(in crate::sandbox) const OLD_META: &[u32] =
    numbers!(SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat);

pub(in crate::sandbox) const OLD_NAMES: &[(i64, &str)] = names!(
    SYS_inotify_init SYS_iopl SYS_ioperm SYS_modify_ldt SYS_uselib SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat SYS_ustat
);

pub(in crate::sandbox) fn old_change(number: i64) -> Option<(Changes, FileReference)> {
    Some(match number {
        libc::SYS_chmod => (Changes::Mode, FileReference::Path),
        libc::SYS_chown | libc::SYS_utime | libc::SYS_utimes => {
            (Changes::Nothing, FileReference::Path)
        }
        libc::SYS_lchown => (Changes::Nothing, FileReference::Link),
        libc::SYS_futimesat => (Changes::Nothing, FileReference::At(None)),
        _ => return None,
    })
}

pub(in crate::sandbox) fn other_change(number: i64) -> Option<(Changes, FileReference)> {
    i386::change(number)
}

/// The call that a stopped process is about to make.
pub(in crate::sandbox) fn call(r: &Registers, compat: bool) -> Call {
    let args = if compat {
        [r.rbx, r.rcx, r.rdx, r.rsi, r.rdi, r.rbp].map(|value| value & 0xffff_ffff)
    } else {
        [r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9]
    };
    Call { number: r.orig_rax as u32, args, compat }
}

/// The result of a call: zero or more, or the negated errno.
pub(in crate::sandbox) fn result(registers: &Registers) -> i64 {
    let value = registers.rax as i64;
    // A 32-bit process has its result in the lower half.
    let narrow = i64::from(value as i32);
    if (-4095..0).contains(&narrow) && value >> 32 == 0 { narrow } else { value }
}

/// True if the call that has just made a child shares the table of descriptors with it. No number of a call that makes one is another
/// such call's in the other table.
pub(in crate::sandbox) fn clones_descriptors(r: &Registers) -> bool {
    const NATIVE: u32 = libc::SYS_clone as u32;
    const I386: u32 = 120;
    let flags = match r.orig_rax as u32 {
        NATIVE => r.rdi,
        I386 => r.rbx,
        _ => 0,
    };
    flags & libc::CLONE_FILES as u64 != 0
}

/// Makes the call fail with `errno` without being made.
pub(in crate::sandbox) fn refuse(pid: Pid, errno: i32) -> nix::Result<()> {
    change_registers(pid, |registers| {
        registers.orig_rax = u64::MAX;
        registers.rax = i64::from(-errno) as u64;
    })
}

/// Lets the kernel make the call anew that a signal has interrupted, as it does of itself with most calls; but not where a
/// handler runs after all, for another signal that came meanwhile: the program waits for that EINTR.
pub(in crate::sandbox) fn take_up_call(pid: Pid) -> nix::Result<()> {
    /// From the kernel's `include/linux/errno.h`.
    const ERESTARTNOHAND: i64 = 514;
    let mut registers = ptrace::getregs(pid)?;
    // Outside of a call there is no number of one.
    if registers.orig_rax as i32 >= 0 && result(&registers) == -i64::from(libc::EINTR) {
        registers.rax = -ERESTARTNOHAND as u64;
        ptrace::setregs(pid, registers)?;
    }
    Ok(())
}

/// Lets a call that has ended be one that a signal has interrupted, which the kernel does not take up again by itself.
pub(in crate::sandbox) fn interrupt(pid: Pid) -> nix::Result<()> {
    change_registers(pid, |registers| registers.rax = i64::from(-libc::EINTR) as u64)
}

/// Changes the flags of a mapping that is about to be made.
pub(in crate::sandbox) fn change_map_flags(pid: Pid, flags: u64) -> nix::Result<()> {
    change_registers(pid, |registers| registers.r10 = flags)
}

/// Makes another call of two arguments in place of the one that is about to be made.
pub(in crate::sandbox) fn replace(
    pid: Pid,
    number: u64,
    [first, second]: [u64; 2],
) -> nix::Result<()> {
    change_registers(pid, |registers| {
        (registers.orig_rax, registers.rdi, registers.rsi) = (number, first, second)
    })
}

/// Gives back the arguments of a call that has ended and was replaced: programs count on them.
pub(in crate::sandbox) fn give_back(pid: Pid, [first, second]: [u64; 2]) -> nix::Result<()> {
    change_registers(pid, |registers| (registers.rdi, registers.rsi) = (first, second))
}

/// The address of the next instruction of a stopped process.
pub(in crate::sandbox) fn program_counter(registers: &Registers) -> u64 {
    registers.rip
}

/// True if an instruction is the one by which compilers write a trap (`ud2`).
pub(in crate::sandbox) fn is_trap(bytes: [u8; 4]) -> bool {
    bytes[..2] == [0x0f, 0x0b]
}
