//! The share of a processor that the programs of a benchmark have had.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// Processor time of all children that have been waited for.
pub(crate) fn children() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("rusage");
    let time = |time: TimeVal| Duration::new(time.tv_sec() as u64, time.tv_usec() as u32 * 1000);
    time(usage.user_time()) + time(usage.system_time())
}
