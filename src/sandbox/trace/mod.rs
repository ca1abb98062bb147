//! The tracer of an entry's processes: it names what they start, open and are refused.

pub(in crate::sandbox) mod call_stops;
pub(in crate::sandbox) mod calls;
pub(in crate::sandbox) mod events;
pub(in crate::sandbox) mod exit_channel;
pub(in crate::sandbox) mod meta;
pub(in crate::sandbox) mod programs;
pub(in crate::sandbox) mod record;
pub(in crate::sandbox) mod shared;
pub(in crate::sandbox) mod tracee;
pub(in crate::sandbox) mod tracer;
