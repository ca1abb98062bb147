//! Rule 0.1 in games: an engine that computes while its opponent thinks ponders.
//!
//! A check watches an entry for seconds after a move; one that begins later, or only on the event's clock, shows in games alone.
//! Only long waits tell, and only what is used beyond any winding down (tables that are cleared, threads that end).

use std::time::Duration;

/// A shorter wait tells nothing.
const LONG: Duration = Duration::from_secs(6);
/// Processor time that winding down may take, and time that it may take on an idle host; what a check allows
/// (`judge/probe/conversation/rest.rs`).
const SETTLING: Duration = Duration::from_millis(2400);
/// Beyond these a waiting engine that uses more of a processor ponders; what a check allows.
const MORE: f64 = 0.25;
/// Waits with pondering before it is told, so that one odd wait accuses nobody.
const ENOUGH: u32 = 3;

/// The waits of one engine in one game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PonderWaits {
    pondered: u32,
    /// Waits in which it pondered, together.
    waited: Duration,
    used: Duration,
}

impl PonderWaits {
    /// Takes down one wait: how long it was, and the processor time that was used in it.
    pub(super) fn note(&mut self, waited: Duration, used: Duration) {
        if waited < LONG {
            return;
        }
        let beyond = used.saturating_sub(SETTLING);
        if beyond > (waited - SETTLING).mul_f64(MORE) {
            self.pondered += 1;
            self.waited += waited;
            self.used += used;
        }
    }

    /// The accusation in words, where there is one.
    pub(super) fn told(&self) -> Option<String> {
        (self.pondered >= ENOUGH).then(|| {
            format!(
                "used {:.1} s of processor time in {:.1} s of its opponent's thinking ({} waits): it ponders",
                self.used.as_secs_f64(),
                self.waited.as_secs_f64(),
                self.pondered
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(waits: &[(f64, f64)]) -> Option<String> {
        let mut all = PonderWaits::default();
        for (waited, used) in waits {
            all.note(Duration::from_secs_f64(*waited), Duration::from_secs_f64(*used));
        }
        all.told()
    }

    #[test]
    fn one_that_begins_to_ponder_seconds_after_its_move_is_told() {
        let words = after(&[(40.0, 32.0); 3]).unwrap();
        assert_eq!(
            words,
            "used 96.0 s of processor time in 120.0 s of its opponent's thinking (3 waits): it ponders"
        );
        assert!(after(&[(20.0, 8.0); 3]).is_some());
    }

    #[test]
    fn clearing_tables_and_short_waits_accuse_nobody() {
        assert_eq!(after(&[(6.0, 2.4); 50]), None);
        assert_eq!(after(&[(60.0, 3.0); 50]), None);
        assert_eq!(after(&[(5.9, 5.9); 50]), None);
        assert_eq!(after(&[(40.0, 40.0); 2]), None);
        assert_eq!(after(&[]), None);
    }
}
