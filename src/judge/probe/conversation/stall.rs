//! Tells an engine that was late for want of a processor from one that would have been as late on a faster host.
//!
//! Entries are judged beside each other, and one that misses a limit there may reach it alone. But one that sleeps while
//! it is waited for, and starts nothing, and reads no disk, is as late alone.

use std::time::{Duration, Instant};

use crate::model::units::Bytes;
use crate::sandbox::cpu::CpuTimes;
use crate::sandbox::plan::Confined;

/// The first and the last part of a wait, between which it is looked at what was computed.
const EDGE: Duration = Duration::from_millis(300);

/// Less is taken in a moment by any host.
const MUCH_MEMORY: Bytes = Bytes(1 << 30);

/// One wait, with looks at the processor time near its beginning and near its end, so that nothing is added to it.
pub(super) struct StallDetector {
    began: Instant,
    deadline: Instant,
    looks: Vec<(Instant, CpuTimes)>,
    /// The resident memory at the last look.
    resident: Bytes,
}

impl StallDetector {
    pub(super) fn new(began: Instant, deadline: Instant) -> StallDetector {
        StallDetector { began, deadline, looks: Vec::new(), resident: Bytes(0) }
    }

    /// Until when to wait now: for the next look, or the end.
    pub(super) fn until(&self) -> Instant {
        let edge = (self.deadline.saturating_duration_since(self.began) / 4).min(EDGE);
        match self.looks.len() {
            0 => self.began + edge,
            1 => self.deadline - edge,
            _ => self.deadline,
        }
    }

    /// True if nothing is waited for any more.
    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Looks at what was computed so far.
    pub(super) fn look(&mut self, confined: &dyn Confined) {
        self.looks.push((Instant::now(), confined.cpu_times()));
        self.resident = confined.resident();
    }

    /// At the end: what is resident, where that is much and still grows.
    pub(super) fn still_takes_memory(&self, confined: &dyn Confined) -> Option<Bytes> {
        let now = confined.resident();
        let grows = self.looks.len() > 1 && now.0 > self.resident.0 + self.resident.0 / 1000;
        (now >= MUCH_MEMORY && grows).then_some(now)
    }

    /// At the end: whether nothing was computed worth the name, nothing at all lately, no process has begun or ended in
    /// the second half, and none waits for a processor or a disk. One that compiles for long and then sleeps for a moment is none of
    /// these.
    pub(super) fn only_waited(&self, confined: &dyn Confined) -> bool {
        let [(first_at, first), (last_at, last)] = self.looks.as_slice() else {
            return false;
        };
        let now = confined.cpu_times();
        now.since(first) < first_at.elapsed() / 10
            && now.since(last) < last_at.elapsed() / 50
            && confined.unchanged_for() >= self.began.elapsed() / 2
            && [first, last, &now].iter().all(|look| !look.any_at_work())
    }
}
