//! Files that people name: read within a bound and without waiting for anybody, and written where nothing else is lost.

pub(crate) mod outputs;
pub(crate) mod read;
pub(crate) mod settings;
pub(crate) mod write;
