//! The sandbox: the kernel enforces what an entry may touch, and every layer is reported.

mod cache_makers;
mod child;
mod child_setup;
mod described;
mod failure;
mod filter;
mod fs;
#[cfg(all(test, target_arch = "x86_64"))]
mod fuzz;
mod inspect;
mod launch;
pub(crate) mod limits;
pub mod plan;
mod probe;
mod sandboxed_process;
mod supervise;
mod trace;
mod users;
mod watchdog;

pub(crate) use child_setup::HostSettings;
pub(crate) use fs::devices;
pub(crate) use fs::guardian::waiting_shell;
pub(crate) use fs::landlock::Grants;
pub(crate) use inspect::descriptors::patiently;
pub(crate) use limits::cpu;
pub use probe::capability;
pub(crate) use probe::timing;
pub use sandboxed_process::Sandbox;
pub use trace::shared::time_of_all_entries;
