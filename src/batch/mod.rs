//! Many entries at once: which there are, and who judges them when.

pub mod cache;
pub mod changed;
pub mod discover;
pub mod pool;
mod repository;
mod tree;
