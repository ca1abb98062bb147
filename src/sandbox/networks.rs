//! Network namespaces, lent to the starts of one entry.
//!
//! The kernel works longer on making and taking down a network namespace than on all other namespaces of a start together,
//! and there is nothing in it: no address, a loopback that is down, and nobody who may change that. So one from which every
//! process has gone serves another start of the same entry. Never two at once, which could meet there, and never another
//! entry's: what the kernel counts in a namespace would tell one of the other.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::spawn::{Ids, Network};
use super::users;

/// Those that nobody uses now.
#[derive(Debug, Default)]
pub(super) struct Networks(Mutex<Vec<Network>>);

impl Networks {
    fn free(&self) -> MutexGuard<'_, Vec<Network>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One for a start; none where none can be kept: then the start makes its own. The calling thread has a child for a
    /// moment.
    pub(super) fn lend(&self, ids: Ids) -> Option<Network> {
        let free = self.free().pop();
        free.or_else(|| Network::make(|pid| users::map(pid, ids)).ok())
    }

    /// Takes it back, when every process that was started in it has ended and been waited for.
    pub(super) fn give_back(&self, network: Network) {
        self.free().push(network);
    }
}
