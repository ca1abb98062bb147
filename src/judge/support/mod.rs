//! Readings of the evidence that several rules share.

pub mod cause;
pub mod denied;
pub mod host;
pub mod positions;
pub mod programs;
pub mod seen;
pub mod simple;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod unrecorded;
pub mod words;
