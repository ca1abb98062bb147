//! aarch64: one table. Programs of 32 bits (AArch32) are a foreign architecture to the filter, which ends them.

use libc::user_regs_struct as Registers;
use nix::unistd::Pid;

use super::change_registers;
use crate::sandbox::child;
use crate::sandbox::filter::arch::table::{Changes, FileReference, numbers};
use crate::sandbox::filter::stop::{Call, StoppedCall};

pub(in crate::sandbox) const AUDIT_ARCH: u32 = 0xc000_00b7;
pub(in crate::sandbox) const FOREIGN_BIT: Option<u32> = None;
pub(in crate::sandbox) const TABLES_IN_WORDS: &str = "aarch64";

// The calls without a directory never came to this processor.
pub(in crate::sandbox) const OLD_PATHS: &[(u32, StoppedCall)] = &[];
pub(in crate::sandbox) const OLD_LOOKS: &[(u32, StoppedCall)] = &[];
pub(in crate::sandbox) const FORKS: &[u32] = numbers!();
pub(in crate::sandbox) const OLD_DENIED: &[u32] = &[];
pub(in crate::sandbox) const OLD_SHARED_WITH_HOST: &[u32] = &[];
pub(in crate::sandbox) const OLD_META: &[u32] = &[];
pub(in crate::sandbox) const OLD_NAMES: &[(i64, &str)] = &[];

pub(in crate::sandbox) fn old_change(_: i64) -> Option<(Changes, FileReference)> {
    None
}

pub(in crate::sandbox) fn other_change(_: i64) -> Option<(Changes, FileReference)> {
    None
}

/// The call that a stopped process is about to make.
pub(in crate::sandbox) fn call(r: &Registers, compat: bool) -> Call {
    let args = [r.regs[0], r.regs[1], r.regs[2], r.regs[3], r.regs[4], r.regs[5]];
    Call { number: r.regs[8] as u32, args, compat }
}

/// The result of a call: zero or more, or the negated errno.
pub(in crate::sandbox) fn result(registers: &Registers) -> i64 {
    registers.regs[0] as i64
}

/// True if the call that has just made a child shares the table of descriptors with it.
pub(in crate::sandbox) fn clones_descriptors(r: &Registers) -> bool {
    r.regs[0] & libc::CLONE_FILES as u64 != 0
}

/// Makes the call fail with `errno` without being made: the number of no call leaves the first register as it is.
pub(in crate::sandbox) fn refuse(pid: Pid, errno: i32) -> nix::Result<()> {
    change_registers(pid, |registers| registers.regs[0] = i64::from(-errno) as u64)?;
    child::set_call_number(pid.as_raw(), -1)
}

/// Nothing: here a tracer is not shown the first argument of a call that was interrupted.
pub(in crate::sandbox) fn take_up_call(_: Pid) -> nix::Result<()> {
    Ok(())
}

/// Lets a call that has ended be one that a signal has interrupted, which the kernel does not take up again by itself.
pub(in crate::sandbox) fn interrupt(pid: Pid) -> nix::Result<()> {
    change_registers(pid, |registers| registers.regs[0] = i64::from(-libc::EINTR) as u64)
}

/// Changes the flags of a mapping that is about to be made.
pub(in crate::sandbox) fn change_map_flags(pid: Pid, flags: u64) -> nix::Result<()> {
    change_registers(pid, |registers| registers.regs[3] = flags)
}

/// Makes another call of two arguments in place of the one that is about to be made.
pub(in crate::sandbox) fn replace(
    pid: Pid,
    number: u64,
    [first, second]: [u64; 2],
) -> nix::Result<()> {
    change_registers(pid, |registers| (registers.regs[0], registers.regs[1]) = (first, second))?;
    child::set_call_number(pid.as_raw(), number as i32)
}

/// Gives back the second argument of a call that has ended and was replaced: programs count on it. (The result stands in place of the first.)
pub(in crate::sandbox) fn give_back(pid: Pid, [_, second]: [u64; 2]) -> nix::Result<()> {
    change_registers(pid, |registers| registers.regs[1] = second)
}

/// The address of the next instruction of a stopped process.
pub(in crate::sandbox) fn program_counter(registers: &Registers) -> u64 {
    registers.pc
}

/// True if an instruction is one by which compilers write a trap (`udf`, `brk`).
pub(in crate::sandbox) fn is_trap(bytes: [u8; 4]) -> bool {
    let word = u32::from_le_bytes(bytes);
    word >> 16 == 0 || word & 0xffe0_001f == 0xd420_0000
}
