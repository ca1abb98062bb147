//! Cloning an entry's first processes, what they do until the exec, and the few system calls for which there is no safe wrapper.
//!
//! Everything `unsafe` in this program is here. Children are cloned from a process with threads, so between clone and exec
//! they only make system calls: no allocation, no locks, no panics. All that they need is prepared before.
#![expect(unsafe_code, reason = "clone, ptrace and Landlock have no safe interface")]

mod errno;
mod inside;
mod landlock;
mod memory_mark;
mod mounts;
mod ptrace;
mod setup;
mod start;
mod talk;

pub(in crate::sandbox) use landlock::{landlock_abi, landlock_grant};
#[cfg(target_arch = "aarch64")]
pub(in crate::sandbox) use ptrace::set_call_number;
pub(in crate::sandbox) use ptrace::{
    TraceeResume, WaitResult, look_at, pidfd_kill, resume, wait_any, wait_for_all,
};
pub(in crate::sandbox) use setup::{
    Attempt, CHILD_STEPS, ChildSetup, Ids, InnerRule, NO_FILES, Root, SetupStep,
};
pub(in crate::sandbox) use start::{clone_first, trim};
pub(in crate::sandbox) use talk::{
    CHILD_FAILED, EMPTY, EXEC_FAILED, GO, HELLO, HeardFromChild, PROBED, ROOT, STEP_FAILED,
    let_run, receive,
};
