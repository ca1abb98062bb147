//! Many entries at once: which there are, and who judges them when.

pub(crate) mod cache;
pub mod changed;
pub(crate) mod discover;
pub(crate) mod pool;
mod repository;
mod tree;
