//! The client of engines: the process, its pipes, and what is said on them. Probes and games use the same one.

pub(crate) mod frozen_file;
mod group_guard;
pub(crate) mod hand_over;
pub(crate) mod info;
pub mod legality;
mod memory;
pub(crate) mod moves;
pub(crate) mod process;
pub(crate) mod stop;
pub mod uci;
pub(crate) mod wire;
