//! Trying out what this host can enforce.

pub mod capability;
pub(in crate::sandbox) mod namespaces;
pub(crate) mod timing;
