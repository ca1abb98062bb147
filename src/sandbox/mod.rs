//! The sandbox: what an entry may touch, enforced by the kernel and reported layer by layer.

mod ahead;
mod arch;
mod calls;
pub mod capability;
pub mod cgroup;
mod clear;
mod confined;
pub mod cpu;
pub mod devices;
mod exec_audit;
mod failure;
#[cfg(all(test, target_arch = "x86_64"))]
mod fuzz;
mod guardian;
mod landlock;
mod last_word;
mod launch;
pub mod limits;
mod memory;
mod meta;
mod names;
mod namespaces;
mod nest;
mod networks;
pub mod plan;
mod record;
mod residue;
mod script;
mod seccomp;
mod shared;
mod spawn;
mod stop;
mod supervise;
mod tracee;
mod users;
mod workspace;

pub use ahead::Ahead;
pub use confined::Sandbox;
pub use landlock::Grants;
pub use script::Host;
