//! The measure of rest: an engine that waits for us should use no processor.
//!
//! A share of the wall clock cannot tell: on a crowded host one that computes gets no processor for a while, and one that
//! winds down its search takes long about it: 256 threads that end, or tables that are cleared, use a processor for a good
//! part of a second. So it is looked at until it was seen to rest, or has used more of a processor than any winding down
//! takes.
//!
//! After a `bestmove` a moment of rest is no proof: one that ponders may begin a little later. There it is looked at for
//! seconds from then on, and all that it used in them counts, by whatever processes and however short they lived.

use std::time::{Duration, Instant};

use super::evidence::ConversationRecord;
use crate::engine::wire::Wire;
use crate::model::evidence::IdleSeen;
use crate::sandbox::cpu::CpuTimes;
use crate::sandbox::plan::Confined;

/// Below this share of one processor an engine is at rest (rule 0.1, as `ponder` has it).
const REST: f64 = 0.2;
/// Looks at the states of its threads in each window.
const LOOKS: u32 = 15;
/// Windows after which it still does not rest, whatever it has used: many threads that end use much in a moment.
const AT_LEAST: u32 = 16;
/// Processor time, in windows, that no winding down takes.
const ENOUGH: u32 = AT_LEAST;
/// Windows that are waited for either; only on a host that gives an engine next to nothing it comes to that.
const AT_MOST: u32 = 100;
/// Windows for which it is watched once it must rest.
const WATCHED: u32 = 24;
/// Windows that one takes in all which rests from the start: one before its first move, the others after it.
pub(crate) const WINDOWS_OF_ONE_AT_REST: u32 = 1 + AT_LEAST + WATCHED;
/// Below this share of one processor all the while, nothing was wound down.
const STILL: f64 = 0.1;
/// The least share of the looks at which an engine that may have been starved was at work, or waited to be.
const WANTED: f64 = 0.5;
/// The share of one processor below which such an engine may have been starved.
const STARVED: f64 = 0.25;

/// The answer to a look at a waiting engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RestAnswer<T> {
    Seen(T),
    /// The engine neither rested nor got the processor time that tells.
    Unclear,
}

/// The time that an engine is watched after a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RestWatch {
    /// One that is still for as long as winding down may take is believed.
    Short,
    /// Each is watched after that, too, since it may begin to ponder late.
    Whole,
}

/// An engine that waits for its first `go`: the share of a processor that it used or wanted in the window in which it
/// rested, or in the last; none when all of it has ended.
pub(super) fn before_go(
    wire: &mut Wire<ConversationRecord>,
    confined: &dyn Confined,
    window: Duration,
) -> Option<RestAnswer<f64>> {
    let began = confined.cpu_times();
    for windows in 1..=AT_MOST {
        let share = Window::of(wire, confined, window)?.share();
        let computed = confined.cpu_times().computed_since(&began);
        if share < REST || (windows >= AT_LEAST && computed >= window * ENOUGH) {
            return Some(RestAnswer::Seen(share));
        }
    }
    Some(RestAnswer::Unclear)
}

/// An engine that has moved: first it may wind down, then it is watched; none when all of it has ended.
pub(super) fn after_move(
    wire: &mut Wire<ConversationRecord>,
    confined: &dyn Confined,
    window: Duration,
    watch: RestWatch,
) -> Option<RestAnswer<IdleSeen>> {
    let began = confined.cpu_times();
    let mut rested = false;
    let mut settling = Duration::ZERO;
    let mut all = Window::begin(began.clone());
    for windows in 1.. {
        rested |= Window::of(wire, confined, window)?.share() < REST;
        all.look(&confined.cpu_times(), all.began.elapsed());
        settling = all.used;
        if watch == RestWatch::Short && windows == AT_LEAST && all.share() < STILL {
            return Some(RestAnswer::Seen(all.seen(Duration::ZERO)));
        }
        if windows >= AT_LEAST && (rested || settling >= window * ENOUGH) {
            break;
        }
        if windows == AT_MOST {
            return Some(RestAnswer::Unclear);
        }
    }
    let mut seen = Window::begin(confined.cpu_times());
    seen.go_on(wire, confined, window * WATCHED)?;
    // One that is given next to nothing is watched on, until it has used what tells.
    let tells = seen.passed.mul_f64(STARVED);
    while seen.wanted() >= WANTED && seen.used < tells {
        if seen.passed >= window * AT_MOST {
            return Some(RestAnswer::Unclear);
        }
        seen.go_on(wire, confined, window * ENOUGH)?;
    }
    Some(RestAnswer::Seen(seen.seen(settling)))
}

/// One stretch of waiting.
struct Window {
    began: Instant,
    first: CpuTimes,
    passed: Duration,
    used: Duration,
    system: Duration,
    looks: u32,
    /// Looks at which something of it was at work.
    at_work: u32,
}

impl Window {
    fn of(
        wire: &mut Wire<ConversationRecord>,
        confined: &dyn Confined,
        length: Duration,
    ) -> Option<Window> {
        let mut seen = Window::begin(confined.cpu_times());
        seen.go_on(wire, confined, length)?;
        Some(seen)
    }

    fn begin(first: CpuTimes) -> Window {
        let [passed, used, system] = [Duration::ZERO; 3];
        Window { began: Instant::now(), first, passed, used, system, looks: 0, at_work: 0 }
    }

    /// Waits for so long, or longer; none when all of the engine has ended: where its first process has, others may play on.
    fn go_on(
        &mut self,
        wire: &mut Wire<ConversationRecord>,
        confined: &dyn Confined,
        length: Duration,
    ) -> Option<()> {
        let (end, looks) = (self.passed + length, self.looks + LOOKS / 2);
        // Where we are starved ourselves a window is longer, not made of fewer looks.
        while self.passed < end || self.looks < looks {
            let next = Instant::now() + length / LOOKS;
            wire.idle(next);
            if wire.has_ended() {
                wire.drain();
                if confined.wait_empty(next) {
                    return None;
                }
            }
            self.look(&confined.cpu_times(), self.began.elapsed());
        }
        Some(())
    }

    fn look(&mut self, now: &CpuTimes, passed: Duration) {
        self.passed = passed;
        self.used = now.computed_since(&self.first);
        self.system = now.system_since(&self.first);
        self.looks += 1;
        self.at_work += u32::from(now.any_at_work());
    }

    fn seen(&self, settling: Duration) -> IdleSeen {
        IdleSeen {
            settling,
            watched: self.passed,
            used: self.used,
            system: self.system,
            wanted: self.wanted(),
        }
    }

    fn share(&self) -> f64 {
        let used = self.used.as_secs_f64() / self.passed.as_secs_f64();
        used.max(self.wanted())
    }

    /// The share of the looks that met something at work, or waiting to be.
    fn wanted(&self) -> f64 {
        f64::from(self.at_work) / f64::from(self.looks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn share(looks: &[CpuTimes]) -> f64 {
        let mut window = Window::begin(CpuTimes::one(Duration::ZERO));
        for (index, now) in (1..).zip(looks) {
            window.look(now, MS * 10 * index);
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
