//! A match as data: its engines, its games and its terms.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use super::affinity::Affinity;
use super::dialogue::Dialogue;
use super::engine::{Engine, EngineBounds};
use super::schedule::{MatchSchedule, ScheduledGame};
use crate::game::openings::{Book, Sequence};
use crate::game::play::GameSettings;
use crate::model::game::opening::Opening;
use crate::model::game::record::Resume;

/// The games before which engines are started anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Restart {
    /// Only where they must be: after a crash, or to change places.
    Needed,
    /// For every game.
    EveryGame,
}

/// A match.
pub(crate) struct Match {
    /// The players.
    pub(crate) engines: Vec<Arc<Engine>>,
    /// The pairings.
    pub(crate) games: MatchGames,
    /// The settings that its games share.
    pub(crate) settings: GameSettings,
    /// Bounds on what is no move.
    pub(crate) bounds: EngineBounds,
    /// Games at a time.
    pub(crate) concurrency: NonZeroUsize,
    /// Placement on cores.
    pub(crate) affinity: Affinity,
    /// The core of the first worker, by its place among those that there are: runs beside each other on one machine begin with
    /// different ones.
    pub(crate) first_core: usize,
    /// The games before which engines are started anew.
    pub(crate) restart: Restart,
    /// True if every move is told when it is played.
    pub(crate) tell_moves: bool,
    /// The referee's own standstill that breaks off the games under way, with no new ones begun; none where it is
    /// not watched.
    pub standstill: Option<Duration>,
    /// A pause of each worker between two of its games.
    pub wait: Duration,
    /// The file that has the dialogue of all engines.
    pub dialogue: Option<Dialogue>,
}

/// The games of a match.
pub(crate) enum MatchGames {
    /// By a plan, with the openings of a book; the start position if there is none.
    Planned(MatchSchedule, Option<(Book, Sequence)>),
    /// Games one by one, as an event has them.
    Given(Vec<WantedGame>),
    /// The games of these numbers among others.
    Part(Box<MatchGames>, Vec<usize>),
}

/// A game that an event wants played.
#[derive(Clone, Debug)]
pub(crate) struct WantedGame {
    /// The players and their colours; its `game` is its place in the list.
    pub(crate) pairing: ScheduledGame,
    /// The opening that it begins with.
    pub(crate) opening: Opening,
    /// The moves before an interruption.
    pub(crate) resume: Option<Resume>,
}

impl MatchGames {
    /// The games that are wanted, in the same order.
    pub(crate) fn only(self, wanted: impl Fn(&ScheduledGame) -> bool) -> MatchGames {
        let is_wanted = |number: &usize| self.pairing(*number).is_some_and(|one| wanted(&one));
        let numbers = (0..self.total()).filter(is_wanted).collect();
        MatchGames::Part(Box::new(self), numbers)
    }

    /// The number of them.
    pub(crate) fn total(&self) -> usize {
        match self {
            MatchGames::Planned(schedule, _) => schedule.total(),
            MatchGames::Given(list) => list.len(),
            MatchGames::Part(_, numbers) => numbers.len(),
        }
    }

    fn pairing(&self, number: usize) -> Option<ScheduledGame> {
        match self {
            MatchGames::Planned(schedule, _) => schedule.pairing(number),
            MatchGames::Given(list) => Some(list.get(number)?.pairing),
            MatchGames::Part(all, numbers) => all.pairing(*numbers.get(number)?),
        }
    }

    /// The game of a number, from 0.
    pub(super) fn game(&self, number: usize) -> Option<WantedGame> {
        match self {
            MatchGames::Planned(schedule, book) => {
                let pairing = schedule.pairing(number)?;
                let opening = book.as_ref().and_then(|(book, sequence)| {
                    let index = sequence.opening(pairing.encounter)?;
                    book.openings().get(index).cloned()
                });
                Some(WantedGame { pairing, opening: opening.unwrap_or_default(), resume: None })
            }
            MatchGames::Given(list) => list.get(number).cloned(),
            MatchGames::Part(all, numbers) => all.game(*numbers.get(number)?),
        }
    }
}
