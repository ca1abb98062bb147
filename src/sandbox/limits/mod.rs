//! Limits on what an entry uses: resource limits, memory, control groups; and the processor time that it used.

pub(crate) mod cgroup;
pub(crate) mod cpu;
pub(crate) mod memory;
pub(crate) mod processor_quota;
pub(in crate::sandbox) mod rlimits;

pub(crate) use rlimits::{TASKS, lowered, memory, open_many_files};
pub use rlimits::{host_memory, overcommit};
