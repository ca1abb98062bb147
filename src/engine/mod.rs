//! The client of engines: the process, its pipes, and what is said on them. Probes and games use the same one.

pub mod hand_over;
pub mod info;
pub mod legality;
mod memory;
pub mod moves;
pub mod process;
pub mod stop;
pub mod uci;
pub mod wire;
