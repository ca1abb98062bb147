//! Files: what an entry may reach of the host's, and the place that is its own.

pub(in crate::sandbox) mod clear;
pub(crate) mod devices;
pub(in crate::sandbox) mod guardian;
pub(in crate::sandbox) mod host_directory;
pub(in crate::sandbox) mod landlock;
pub(in crate::sandbox) mod root;
pub(in crate::sandbox) mod workspace;
pub(in crate::sandbox) mod writable;
