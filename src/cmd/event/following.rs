//! Following an event that somebody else runs, whatever becomes of its journal.

use std::thread;
use std::time::{Duration, SystemTime};

use crate::cmd::note;
use crate::event::broadcast::{Broadcast, EventChanges, Follower};
use crate::event::config::EventConfig;
use crate::event::journal;
use crate::view::screen::Runner;
use crate::view::site::{Site, SiteKind};

/// After a journal that could not be read, so long is waited.
const RESPITE: Duration = Duration::from_secs(1);

/// An event as far as it is known.
pub(super) struct Following {
    pub(super) config: EventConfig,
    pub(super) follower: Follower,
    /// The program that plays it, as it was when it was last looked for.
    pub(super) runner: Runner,
    /// The last fault that was told; the same is not told again.
    fault: Option<String>,
}

impl Following {
    /// Begins before the first record.
    pub(super) fn new(config: &EventConfig) -> Following {
        let follower = Follower::new(config);
        let runner = Runner::Away;
        Following { config: config.clone(), follower, runner, fault: None }
    }

    /// Its games and its state.
    pub(super) fn broadcast(&self) -> &Broadcast {
        &self.follower.broadcast
    }

    /// Its pages as they are served now.
    pub(super) fn site(&mut self) -> Site<'_> {
        let Following { config, follower, runner, .. } = self;
        follower.find_running(config);
        Site {
            config,
            broadcast: &follower.broadcast,
            running: &follower.running,
            runner: *runner,
            now: SystemTime::now(),
            kind: SiteKind::Served,
        }
    }

    /// Looks whether somebody plays it, and tells whether that has changed. Whoever looks at the journal does so after
    /// this: the last words of a runner that has gone are there then.
    pub(super) fn look_for_runner(&mut self) -> bool {
        let at_work = journal::is_in_use(&self.config.journal);
        let now = if at_work { Runner::AtWork } else { Runner::Away };
        std::mem::replace(&mut self.runner, now) != now
    }

    /// True if it has a winner.
    pub(super) fn is_over(&self) -> bool {
        self.broadcast().ledger.is_over()
    }

    /// Reads what has come. None where the journal cannot be read: that is told once, after `before`, and the next
    /// look reads all anew.
    pub(super) fn look(&mut self, before: impl FnOnce()) -> Option<EventChanges> {
        let has_begun = self.broadcast().ledger.header.is_some();
        match self.follower.look(&self.config) {
            Ok(changes) => Some(changes),
            // An event that has not begun has no journal, which is no fault.
            Err(_) if !has_begun && !self.config.journal.exists() => Some(EventChanges::default()),
            Err(error) => {
                let words = error.to_string();
                if self.fault.as_ref() != Some(&words) {
                    before();
                    note(&format!("{words}; what was seen last stays until it can be read"));
                    self.fault = Some(words);
                }
                thread::sleep(RESPITE);
                self.follower = Follower::new(&self.config);
                None
            }
        }
    }
}
