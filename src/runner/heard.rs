//! The games whose end the listener has taken. A worker begins its next game only then: what a listener keeps of one game, such as a
//! record in a journal, does not depend on the moves of the next.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, PoisonError};

use crate::model::lock::lock;

/// The ends of games that were told and not yet waited for, by the number of the game.
#[derive(Default)]
pub(super) struct HeardGames {
    games: Mutex<Ends>,
    changed: Condvar,
}

#[derive(Default)]
struct Ends {
    games: BTreeSet<usize>,
    /// True once nobody listens any more.
    closed: bool,
}

/// A listener of the match, as long as this lives.
pub(super) struct Listening<'a>(pub(super) &'a HeardGames);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        lock(&self.0.games).closed = true;
        self.0.changed.notify_all();
    }
}

impl HeardGames {
    /// Notes that the listener has taken the end of a game.
    pub(super) fn note(&self, game: usize) {
        lock(&self.games).games.insert(game);
        self.changed.notify_all();
    }

    /// Waits until the listener has taken the end of a game, or is gone.
    pub(super) fn wait_for(&self, game: usize) {
        let ends = lock(&self.games);
        let is_open = |ends: &mut Ends| !ends.closed && !ends.games.contains(&game);
        let ends = self.changed.wait_while(ends, is_open);
        ends.unwrap_or_else(PoisonError::into_inner).games.remove(&game);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_worker_waits_for_its_own_game_and_for_no_other() {
        let heard = HeardGames::default();
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                heard.wait_for(1);
                sender.send(()).unwrap();
            });
            heard.note(0);
            assert_eq!(receiver.recv_timeout(std::time::Duration::from_millis(50)).ok(), None);
            heard.note(1);
            receiver.recv().unwrap();
        });
        assert_eq!(lock(&heard.games).games, BTreeSet::from([0]));
        drop(Listening(&heard));
        heard.wait_for(2);
    }
}
