//! Limits on what an entry uses: resource limits, memory, control groups; and the processor time that it used.

pub mod cgroup;
pub mod cpu;
pub mod memory;
pub(in crate::sandbox) mod rlimits;

pub use rlimits::{TASKS, host_memory, lowered, memory, overcommit};
