//! The programs and files that an entry may start, load, read and leave: the allow-list, and the decisions
//! made with it.
//!
//! [`allowlist`] reads `allowlist.toml`, [`decide`] answers questions with it; both are pure. [`toolchain`] is the list
//! as it is on this host: the programs behind the names (`find`), and what they need to run (`grants`).

pub mod allowlist;
pub mod decide;
mod elf_needs;
pub(crate) mod find;
mod grants;
pub(crate) mod libraries;
mod multi_call;
pub(crate) mod options;
pub(crate) mod pattern;
mod places;
pub mod toolchain;
