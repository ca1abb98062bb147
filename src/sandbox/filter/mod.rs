//! The system call filter: the tables of calls, the program that the kernel runs, and the names for reports.

pub(in crate::sandbox) mod arch;
pub(in crate::sandbox) mod call_names;
mod rules;
pub(in crate::sandbox) mod seccomp;
pub(in crate::sandbox) mod stop;
