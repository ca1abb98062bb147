//! Ending a match early: once asked, the games under way are finished; asked twice, everything that waits
//! for an engine wakes up at once.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use nix::sys::eventfd::{EfdFlags, EventFd};

/// The point to which a match is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StopLevel {
    /// The match is played to its end.
    GoOn,
    /// The games under way are played to their end, and no new ones begin.
    FinishGames,
    /// No further move is played.
    Now,
}

#[derive(Debug)]
struct Inner {
    level: AtomicU8,
    /// Readable for ever once the level is [`StopLevel::Now`]: nobody ever reads it.
    now: EventFd,
}

/// A handle by which anybody can end a match; clones end the same one.
#[derive(Clone, Debug)]
pub(crate) struct Stop(Arc<Inner>);

impl Stop {
    /// A match that goes on.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub(crate) fn new() -> std::io::Result<Stop> {
        let now = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        Ok(Stop(Arc::new(Inner { level: AtomicU8::new(0), now })))
    }

    /// Asks for more than was asked for before.
    pub(crate) fn ask(&self) -> StopLevel {
        let before = self.0.level.load(Ordering::Relaxed);
        let level = if before == 0 { StopLevel::FinishGames } else { StopLevel::Now };
        self.raise(level);
        level
    }

    /// Asks for at least this much.
    pub(crate) fn raise(&self, level: StopLevel) {
        self.0.level.fetch_max(level as u8, Ordering::AcqRel);
        if level == StopLevel::Now {
            // The counter cannot overflow: once is enough and nobody asks 2^64 times.
            let _ = self.0.now.write(1);
        }
    }

    /// The level that was asked for.
    pub(crate) fn level(&self) -> StopLevel {
        match self.0.level.load(Ordering::Acquire) {
            0 => StopLevel::GoOn,
            1 => StopLevel::FinishGames,
            _ => StopLevel::Now,
        }
    }

    /// Becomes readable at [`StopLevel::Now`].
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.0.now.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_then_twice() {
        let stop = Stop::new().unwrap();
        assert_eq!(stop.level(), StopLevel::GoOn);
        assert_eq!(stop.clone().ask(), StopLevel::FinishGames);
        assert_eq!(stop.level(), StopLevel::FinishGames);
        assert_eq!(stop.ask(), StopLevel::Now);
        stop.raise(StopLevel::FinishGames);
        assert_eq!(stop.level(), StopLevel::Now);
    }
}
