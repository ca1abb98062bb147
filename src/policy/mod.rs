//! What an entry may start, load, read and leave: the allow-list, and the decisions made with it.
//!
//! [`allowlist`] reads `allowlist.toml`, [`decide`] answers questions with it; both are pure. Finding
//! the programs of this host behind the names is another room's work.

pub mod allowlist;
pub mod decide;
mod elf_needs;
pub mod libraries;
mod multi_call;
pub mod options;
pub mod pattern;
mod places;
pub mod toolchain;
