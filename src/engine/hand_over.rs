//! The choice to let an engine run before anything is waited for.
//!
//! On the one processor that a game has, an engine that answers at once needs nobody woken for its answer: if
//! we stay ready to run and only yield, it runs until it waits for the next question, and we find the answer
//! written. Waited for in a poll, its write wakes us instead, and in about half of the plies we take the
//! processor from it before it has come to wait: one more switch between processes. With engines that answer
//! in some ten microseconds this is about a tenth of a game.
//!
//! One that yields goes to the end of the line, though: where others want the processor too, each yield
//! costs a slice of theirs (4 ms was seen), which is time on an engine's clock; who is woken from a poll
//! goes first there. So only engines that just answered at once are yielded to, and after a yield that took
//! long the engine is polled for a while, the longer the oftener that happens.
//!
//! A yield is within one's own scheduling group. An entry in the sandbox is a session, and so may be a group
//! of its own (autogroup, see sched(7)): there we come back from the yield before it ran. That group keeps a
//! greedy entry from starving its referee, which is worth more than these switches. Its slice is shorter than
//! ours, though (see `sandbox/child/inside.rs`), so that it mostly runs as soon as the question is written, and
//! a look before the wait finds the answer. A look costs little and nobody's turn, so it is done wherever there
//! is hope and a yield is not trusted.

use std::time::Duration;

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

/// An engine that answered sooner than this is expected to do so again.
const AT_ONCE: Duration = Duration::from_micros(200);
/// The number of questions that are polled for after the first yield that did no good, and after the last of many.
const POLLS: std::ops::RangeInclusive<u32> = 64..=4096;

/// The thing to do for one answer before waiting for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerStep {
    /// Wait at once.
    Wait,
    /// See whether the answer is there.
    Look,
    /// Yield, and then see.
    Yield,
}

/// The choice for each question to one engine.
#[derive(Debug)]
pub(super) struct HandOver {
    /// True if the engine has the same one processor as we.
    one_core: bool,
    choice: AnswerStep,
    /// True if the present question was yielded for.
    yielded: bool,
    /// Questions to go before it is yielded to again.
    polls_left: u32,
    /// The next value of `polls_left`.
    next_polls: u32,
}

impl HandOver {
    /// For an engine that the calling thread started, and that so runs where this thread does.
    pub(super) fn here() -> HandOver {
        HandOver::new(is_one_core())
    }

    fn new(one_core: bool) -> HandOver {
        let next_polls = *POLLS.start();
        HandOver { one_core, choice: AnswerStep::Wait, yielded: false, polls_left: 0, next_polls }
    }

    /// Before a question is written: `last` is how long the answer to the one before took, if one came.
    pub(super) fn ask(&mut self, last: Option<Duration>) {
        let at_once = last.is_some_and(|last| last < AT_ONCE);
        if !self.yielded {
            self.polls_left = self.polls_left.saturating_sub(1);
        } else if at_once {
            self.next_polls = self.next_polls.saturating_sub(1).max(*POLLS.start());
        } else {
            self.missed();
        }
        self.yielded = false;
        self.choice = if !self.one_core || !at_once {
            AnswerStep::Wait
        } else if self.polls_left == 0 {
            AnswerStep::Yield
        } else {
            AnswerStep::Look
        };
    }

    /// The thing to do before waiting; something once a question at most.
    pub(super) fn take(&mut self) -> AnswerStep {
        let choice = std::mem::replace(&mut self.choice, AnswerStep::Wait);
        self.yielded |= choice == AnswerStep::Yield;
        choice
    }

    /// Notes that no answer was there; if the processor was yielded for it, that did no good.
    pub(super) fn missed(&mut self) {
        if std::mem::take(&mut self.yielded) {
            self.polls_left = self.next_polls;
            self.next_polls = self.next_polls.saturating_mul(2).min(*POLLS.end());
        }
    }
}

/// True if the calling thread, and what it starts from now on, has but one processor.
fn is_one_core() -> bool {
    let all = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
    (0..CpuSet::count()).filter(|cpu| all.is_set(*cpu).unwrap_or(false)).count() == 1
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use nix::sched::sched_setaffinity;

    /// Puts the calling thread on one processor.
    pub(in crate::engine) fn on_one_core() {
        let all = sched_getaffinity(Pid::from_raw(0)).unwrap();
        let mut one = CpuSet::new();
        let first = (0..CpuSet::count()).find(|cpu| all.is_set(*cpu).unwrap());
        one.set(first.unwrap()).unwrap();
        sched_setaffinity(Pid::from_raw(0), &one).unwrap();
        assert!(is_one_core());
    }

    const QUICK: Option<Duration> = Some(Duration::from_micros(30));
    const SLOW: Option<Duration> = Some(Duration::from_millis(4));

    /// Asks once and says whether it was yielded.
    fn asked(hand_over: &mut HandOver, last: Option<Duration>) -> bool {
        hand_over.ask(last);
        let choice = hand_over.take();
        assert_eq!(hand_over.take(), AnswerStep::Wait, "twice for one question");
        choice == AnswerStep::Yield
    }

    #[test]
    fn only_one_that_answered_at_once_is_yielded_to() {
        let mut one = HandOver::new(true);
        let seen = [None, QUICK, QUICK, SLOW].map(|last| asked(&mut one, last));
        assert_eq!(seen, [false, true, true, false]);
        let mut elsewhere = HandOver::new(false);
        assert!(!asked(&mut elsewhere, QUICK));
    }

    /// Polled questions until it is yielded to again.
    fn polled(one: &mut HandOver) -> usize {
        (0..10_000).take_while(|_| !asked(one, QUICK)).count()
    }

    #[test]
    fn after_a_yield_that_took_long_it_is_polled_for_a_while_and_longer_each_time() {
        let mut one = HandOver::new(true);
        assert!(asked(&mut one, QUICK));
        let waits: Vec<usize> = (0..9)
            .map(|_| {
                assert!(!asked(&mut one, SLOW));
                polled(&mut one)
            })
            .collect();
        assert_eq!(waits, [63, 127, 255, 511, 1023, 2047, 4095, 4095, 4095]);
        // And shorter again when all was well for long.
        assert!((0..5000).all(|_| asked(&mut one, QUICK)));
        assert!(!asked(&mut one, SLOW));
        assert_eq!(polled(&mut one), 63);
    }

    #[test]
    fn one_that_is_slow_while_it_is_polled_makes_nobody_wary() {
        let mut one = HandOver::new(true);
        assert!(!asked(&mut one, SLOW));
        assert!(asked(&mut one, QUICK));
    }

    #[test]
    fn a_yield_that_brings_nothing_counts_as_one_that_took_long() {
        let mut one = HandOver::new(true);
        assert!(asked(&mut one, QUICK));
        one.missed();
        assert_eq!(polled(&mut one), 63);
        assert!(!asked(&mut one, None));
        assert!(!asked(&mut one, QUICK));
    }

    #[test]
    fn one_that_is_not_yielded_to_any_more_is_looked_for_and_that_changes_nothing() {
        let mut one = HandOver::new(true);
        assert!(asked(&mut one, QUICK));
        one.missed();
        for _ in 0..63 {
            one.ask(QUICK);
            assert_eq!(one.take(), AnswerStep::Look);
            one.missed();
        }
        assert!(asked(&mut one, QUICK));
        one.ask(SLOW);
        assert_eq!(one.take(), AnswerStep::Wait);
    }
}
