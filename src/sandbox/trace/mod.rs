//! The tracer of an entry's processes: it names what they start, open and are refused.

mod births;
mod by_number;
pub(in crate::sandbox) mod call_stops;
pub(in crate::sandbox) mod calls;
pub(in crate::sandbox) mod events;
pub(in crate::sandbox) mod exit_channel;
mod failed_starts;
pub(in crate::sandbox) mod meta;
mod opens;
mod own_rules;
pub(in crate::sandbox) mod programs;
pub(in crate::sandbox) mod record;
pub(in crate::sandbox) mod shared;
pub(in crate::sandbox) mod tracee;
pub(in crate::sandbox) mod tracer;

/// Hands a test the tracer of a process that cannot exist.
#[cfg(test)]
fn with_tracer(test: impl FnOnce(&mut tracer::Tracer<'_>)) {
    let ended = nix::sys::eventfd::EventFd::new().unwrap();
    let shared = shared::TreeState::new(ended.into(), false, false);
    let top = tempfile::tempdir().unwrap();
    let files = super::inspect::files::EntryFiles::on_host(top.path()).unwrap();
    test(&mut tracer::Tracer::new(
        &shared,
        i32::MAX,
        1,
        files,
        Vec::new(),
        std::collections::HashSet::new(),
        10,
    ));
    shared.all_gone();
}
