//! Whether to let an engine run before anything is waited for.
//!
//! On the one processor that a game has, an engine that answers at once needs nobody woken for its answer: if
//! we stay ready to run and only yield, it runs until it waits for the next question, and we find the answer
//! written. Waited for in a poll, its write wakes us instead, and in about half of the plies we take the
//! processor from it before it has come to wait: two more switches between processes. With engines that
//! answer in some ten microseconds this is a fifth of a game.
//!
//! One that yields goes to the end of the line, though: where others want the processor too, each yield
//! costs a slice of theirs (4 ms was seen), which is time on an engine's clock; who is woken from a poll
//! goes first there. So only engines that just answered at once are yielded to, and after a yield that took
//! long nobody is for a while.

use std::time::Duration;

use super::affinity;

/// One that answered sooner than this is expected to do so again.
const AT_ONCE: Duration = Duration::from_micros(200);
/// So many questions are polled for after a yield that took longer.
const WARY: u32 = 2048;

/// The choice for each question to one engine.
#[derive(Debug)]
pub(super) struct HandOver {
    /// Whether the engine has the same one processor as we.
    one_core: bool,
    choice: Choice,
    /// Questions to go before it is tried again.
    wary: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Poll,
    Yield,
    Yielded,
}

impl HandOver {
    /// For an engine that the calling thread started, and that so runs where this thread does.
    pub(super) fn here() -> HandOver {
        HandOver::new(affinity::is_one_core())
    }

    fn new(one_core: bool) -> HandOver {
        HandOver { one_core, choice: Choice::Poll, wary: 0 }
    }

    /// Before a question is written: `last` is how long the answer to the one before took, if one came.
    pub(super) fn ask(&mut self, last: Option<Duration>) {
        let at_once = last.is_some_and(|last| last < AT_ONCE);
        self.wary = match self.choice {
            Choice::Yielded if !at_once => WARY,
            _ => self.wary.saturating_sub(1),
        };
        let trust = self.one_core && at_once && self.wary == 0;
        self.choice = if trust { Choice::Yield } else { Choice::Poll };
    }

    /// Whether to yield before waiting; true once a question at most.
    pub(super) fn take(&mut self) -> bool {
        let now = self.choice == Choice::Yield;
        if now {
            self.choice = Choice::Yielded;
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Option<Duration> = Some(Duration::from_micros(30));
    const SLOW: Option<Duration> = Some(Duration::from_millis(4));

    /// Asks once and says whether it was yielded.
    fn asked(hand_over: &mut HandOver, last: Option<Duration>) -> bool {
        hand_over.ask(last);
        let yielded = hand_over.take();
        assert!(!hand_over.take(), "twice for one question");
        yielded
    }

    #[test]
    fn only_one_that_answered_at_once_is_yielded_to() {
        let mut one = HandOver::new(true);
        let seen = [None, QUICK, QUICK, SLOW].map(|last| asked(&mut one, last));
        assert_eq!(seen, [false, true, true, false]);
        let mut elsewhere = HandOver::new(false);
        assert!(!asked(&mut elsewhere, QUICK));
    }

    #[test]
    fn after_a_yield_that_took_long_it_is_polled_for_a_while() {
        let mut one = HandOver::new(true);
        assert!(asked(&mut one, QUICK));
        assert!(!asked(&mut one, SLOW));
        let polled = (0..10_000).take_while(|_| !asked(&mut one, QUICK)).count();
        assert_eq!(polled, WARY as usize - 1);
        assert!(asked(&mut one, QUICK));
        // One that was slow while it was polled for is no reason to be wary.
        let mut one = HandOver::new(true);
        assert!(!asked(&mut one, SLOW));
        assert!(asked(&mut one, QUICK));
    }

    #[test]
    fn no_answer_to_a_yield_is_a_long_one() {
        let mut one = HandOver::new(true);
        assert!(asked(&mut one, QUICK));
        assert!(!asked(&mut one, None));
        assert!(!asked(&mut one, QUICK));
    }
}
