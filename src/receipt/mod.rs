//! Receipts: what an organiser needs to trust a verdict that was reached elsewhere or earlier.
//!
//! [`document`] is what is written, [`verify`] tells whether it still holds for an entry, [`sign`] puts a
//! minisign signature beside it.

pub mod document;
pub mod sign;
pub mod verify;
