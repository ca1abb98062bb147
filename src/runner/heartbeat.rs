//! A check that the referee itself ran: a thread that only wakes ten times a second, and notices when it did not.
//!
//! A process that was stopped, a host that was suspended and a processor that was taken away look to a game like an
//! engine that thinks for long. The heartbeat counts by the clock that goes on in a suspended host.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::model::lock::lock;
use nix::time::{ClockId, clock_gettime};

const PERIOD: Duration = Duration::from_millis(100);
/// A beat that is later than this is a standstill; less is how threads share a busy processor.
const LATE: Duration = Duration::from_millis(400);
/// Standstills that are remembered: more than happen while one move is thought about.
const REMEMBERED: usize = 64;

/// A moment on the clock that goes on in a suspended host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BootMoment(Duration);

impl BootMoment {
    pub(super) fn now() -> BootMoment {
        // Linux has this clock; without it nothing would ever be late.
        BootMoment(clock_gettime(ClockId::CLOCK_BOOTTIME).map(Duration::from).unwrap_or_default())
    }
}

/// Beats while games are played.
#[derive(Debug)]
pub(super) struct Heartbeat {
    pulse: Mutex<Pulse>,
    over: AtomicBool,
}

#[derive(Debug)]
struct Pulse {
    last: BootMoment,
    standstills: VecDeque<Standstill>,
}

/// No beat came between these.
#[derive(Clone, Copy, Debug)]
struct Standstill {
    from: BootMoment,
    to: BootMoment,
}

impl Heartbeat {
    pub(super) fn new() -> Heartbeat {
        let pulse = Pulse { last: BootMoment::now(), standstills: VecDeque::new() };
        Heartbeat { pulse: Mutex::new(pulse), over: AtomicBool::new(false) }
    }

    /// Beats until [`Heartbeat::end`]; whoever calls that wakes this thread.
    pub(super) fn run(&self) {
        while !self.over.load(Ordering::Acquire) {
            self.with(|pulse| pulse.beat(BootMoment::now()));
            thread::park_timeout(PERIOD);
        }
    }

    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// The longest standstill of the referee since then, one that has only just ended among them. Short ones are not
    /// added up: a game in which a move takes minutes would be broken off for a busy host.
    pub(super) fn longest(&self, since: BootMoment) -> Duration {
        self.with(|pulse| pulse.longest(since, BootMoment::now()))
    }

    fn with<T>(&self, of: impl FnOnce(&mut Pulse) -> T) -> T {
        of(&mut lock(&self.pulse))
    }
}

impl Pulse {
    fn beat(&mut self, now: BootMoment) {
        if let Some(one) = self.since_last(now) {
            self.standstills.push_back(one);
            if self.standstills.len() > REMEMBERED {
                self.standstills.pop_front();
            }
        }
        self.last = now;
    }

    /// Where the beat that is due comes too late, or has not come yet.
    fn since_last(&self, now: BootMoment) -> Option<Standstill> {
        let passed = now.0.saturating_sub(self.last.0);
        (passed > PERIOD + LATE).then_some(Standstill { from: self.last, to: now })
    }

    fn longest(&self, since: BootMoment, now: BootMoment) -> Duration {
        let all = self.standstills.iter().copied().chain(self.since_last(now));
        all.map(|one| one.to.0.saturating_sub(one.from.max(since).0)).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> BootMoment {
        BootMoment(Duration::from_millis(millis))
    }

    fn pulse(beats: &[u64]) -> Pulse {
        let mut pulse = Pulse { last: at(0), standstills: VecDeque::new() };
        for millis in beats {
            pulse.beat(at(*millis));
        }
        pulse
    }

    #[test]
    fn beats_that_are_a_little_late_are_no_standstill() {
        let busy = pulse(&[100, 350, 800, 900]);
        assert_eq!(busy.longest(at(0), at(1200)), Duration::ZERO);
    }

    #[test]
    fn a_standstill_counts_from_the_question_on() {
        let stopped = pulse(&[100, 7100, 7200]);
        assert_eq!(stopped.longest(at(50), at(7250)), Duration::from_millis(7000));
        assert_eq!(stopped.longest(at(5100), at(7250)), Duration::from_millis(2000));
        assert_eq!(stopped.longest(at(7150), at(7250)), Duration::ZERO);
    }

    #[test]
    fn short_standstills_are_not_added_up() {
        let busy = pulse(&[700, 800, 1500, 1600, 2300]);
        assert_eq!(busy.longest(at(0), at(2350)), Duration::from_millis(700));
    }

    /// The thread of a game may wake before the heartbeat's.
    #[test]
    fn a_standstill_is_seen_before_the_next_beat() {
        let stopped = pulse(&[100, 200]);
        assert_eq!(stopped.longest(at(150), at(5200)), Duration::from_millis(5000));
    }

    #[test]
    fn only_so_many_are_remembered() {
        let beats: Vec<u64> = (1..=200).map(|beat| beat * 1000).collect();
        let stopped = pulse(&beats);
        assert_eq!(stopped.standstills.len(), REMEMBERED);
        assert_eq!(stopped.longest(at(199_500), at(200_050)), Duration::from_millis(500));
    }
}
