//! From a source to the smallest entry that works, and from an entry to the bytes that it could save.
//!
//! Everything here is bytes and words; who packs proves the outcome by sending it through the gate.

pub mod candidate;
mod elf_end;
pub(crate) mod hint;
pub mod language;
pub mod packer;
