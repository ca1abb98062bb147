//! The judge: probes fill the evidence of one entry, rules turn it into findings, and the gate makes the verdict.

pub mod error;
pub mod gate;
pub mod probe;
pub mod rules;
pub mod support;
