//! The measure of rest: an engine that waits for us should use no processor.
//!
//! A share of the wall clock cannot tell: on a crowded host one that computes gets no processor for a while, and one that
//! winds down its search takes long about it: 256 threads that end, or tables that are cleared, use a processor for a good
//! part of a second. So it is looked at until it was seen to rest, or has used more of a processor than any winding down
//! takes.

use std::time::{Duration, Instant};

use super::evidence::Record;
use crate::engine::wire::Wire;
use crate::sandbox::cpu::CpuTimes;
use crate::sandbox::plan::Confined;

/// Below this share of one processor an engine is at rest (rule 0.1, as `ponder` has it).
const REST: f64 = 0.2;
/// Looks at the states of its threads in each window.
const LOOKS: u32 = 15;
/// Windows after which it still does not rest, whatever it has used: many threads that end use much in a moment.
const AT_LEAST: u32 = 16;
/// Processor time, in windows, that no winding down takes.
const ENOUGH: u32 = 8;
/// Windows that are waited for either; only on a host that gives an engine next to nothing it comes to that.
const AT_MOST: u32 = 100;

/// A waiting engine's rest, with the share of a processor that it used or wanted in the last window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rest {
    /// It came to rest, after so much processor time before.
    Found(f64, Duration),
    /// It worked on.
    Missing(f64),
    /// It neither rested nor got the processor time that tells.
    Unclear,
}

/// Looks at it until that is known; none when its first process ends.
pub(super) fn watch(
    wire: &mut Wire<Record>,
    confined: &dyn Confined,
    window: Duration,
) -> Option<Rest> {
    let began = confined.cpu_times();
    for windows in 1..=AT_MOST {
        let before = confined.cpu_times().computed_since(&began);
        let share = Window::of(wire, confined, window)?.share();
        if share < REST {
            return Some(Rest::Found(share, before));
        }
        let computed = confined.cpu_times().computed_since(&began);
        if windows >= AT_LEAST && computed >= window * ENOUGH {
            return Some(Rest::Missing(share));
        }
    }
    Some(Rest::Unclear)
}

/// One stretch of waiting.
struct Window {
    passed: Duration,
    used: Duration,
    looks: u32,
    /// Looks at which something of it was at work.
    at_work: u32,
}

impl Window {
    fn of(wire: &mut Wire<Record>, confined: &dyn Confined, length: Duration) -> Option<Window> {
        let (began, first) = (Instant::now(), confined.cpu_times());
        let mut seen = Window::default();
        // Where we are starved ourselves a window is longer, not made of fewer looks.
        while seen.passed < length || seen.looks < LOOKS / 2 {
            wire.idle(Instant::now() + length / LOOKS);
            if wire.has_ended() {
                return None;
            }
            seen.look(&first, &confined.cpu_times(), began.elapsed());
        }
        Some(seen)
    }

    fn default() -> Window {
        Window { passed: Duration::ZERO, used: Duration::ZERO, looks: 0, at_work: 0 }
    }

    fn look(&mut self, first: &CpuTimes, now: &CpuTimes, passed: Duration) {
        self.passed = passed;
        self.used = now.computed_since(first);
        self.looks += 1;
        self.at_work += u32::from(now.any_at_work());
    }

    fn share(&self) -> f64 {
        let used = self.used.as_secs_f64() / self.passed.as_secs_f64();
        used.max(f64::from(self.at_work) / f64::from(self.looks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn share(looks: &[CpuTimes]) -> f64 {
        let mut window = Window::default();
        for (index, now) in (1..).zip(looks) {
            window.look(&CpuTimes::one(Duration::ZERO), now, MS * 10 * index);
        }
        window.share()
    }

    #[test]
    fn a_starved_engine_does_not_rest() {
        let starved = CpuTimes::one_in('R', MS * 5, Duration::ZERO);
        assert!((share(&vec![starved; 15]) - 1.0).abs() < 1e-9);
        let asleep = CpuTimes::one_in('S', MS * 3, Duration::ZERO);
        assert!(share(&vec![asleep; 15]) < REST);
    }

    #[test]
    fn what_it_used_counts_where_no_look_met_it() {
        let looks: Vec<_> =
            (1..=15).map(|at| CpuTimes::one_in('S', MS * 5 * at, MS * 50 * at)).collect();
        assert!((share(&looks) - 0.5).abs() < 1e-9);
    }
}
