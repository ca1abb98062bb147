//! Receipts: what an organiser needs to trust a verdict that was reached elsewhere or earlier.
//!
//! [`document`] is what is written, [`verify`] tells whether it still holds for an entry, [`sign`] puts a
//! minisign signature beside it.

pub(crate) mod document;
pub(crate) mod sign;
pub(crate) mod verify;
