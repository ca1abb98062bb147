//! The match runner: workers play the games of a schedule, one blocking thread a game, and everything that
//! happens goes to one listener as typed events.

mod affinity;
mod body;
mod engine;
pub mod events;
mod hand_over;
pub mod in_order;
mod memory;
pub mod schedule;
pub mod score;
pub mod spec;
pub mod stop;
mod wire;
mod worker;

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, mpsc};
use std::thread;

pub use affinity::Affinity;
pub use body::{Program, Start};
pub use engine::{Bounds, Engine, Remains};

use crate::game::adjudicate::Rules;
use crate::game::clock::{Monotonic, Patience};
use crate::game::end::Material;
use crate::game::openings::{Book, Opening, Sequence};
use crate::game::play::Resume;
use crate::game::tables::Tables;
use affinity::Cores;
use events::Event;
use schedule::{Pairing, Schedule};
use stop::Stop;
use worker::Worker;

/// When engines are started anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Only where they must be: after a crash, or to change places.
    Needed,
    /// For every game.
    EveryGame,
}

/// A match.
pub struct Match {
    /// Who plays.
    pub engines: Vec<Arc<Engine>>,
    /// Who meets whom.
    pub games: Games,
    /// Time margins and bounds on moves.
    pub patience: Patience,
    /// Bounds on what is no move.
    pub bounds: Bounds,
    /// Whether insufficient material is a draw.
    pub material: Material,
    /// Adjudication.
    pub rules: Rules,
    /// Tables to adjudicate by.
    pub tables: Option<Tables>,
    /// Games at a time.
    pub concurrency: NonZeroUsize,
    /// Placement on cores.
    pub affinity: Affinity,
    /// When engines are started anew.
    pub restart: Restart,
    /// Whether expected lines of play are kept.
    pub keep_pv: bool,
    /// Whether every move is told when it is played.
    pub tell_moves: bool,
}

/// The games of a match.
pub enum Games {
    /// By a plan, with the openings of a book; the start position if there is none.
    Planned(Schedule, Option<(Book, Sequence)>),
    /// One by one, as an event has them.
    Given(Vec<Given>),
}

/// A game that an event wants played.
#[derive(Clone, Debug)]
pub struct Given {
    /// Who, with which colours; its `game` is its place in the list.
    pub pairing: Pairing,
    /// Where it begins.
    pub opening: Opening,
    /// What was played of it before an interruption.
    pub resume: Option<Resume>,
}

impl Games {
    /// How many.
    #[must_use]
    pub fn total(&self) -> usize {
        match self {
            Games::Planned(schedule, _) => schedule.total(),
            Games::Given(list) => list.len(),
        }
    }

    /// The game of a number, from 0.
    fn game(&self, number: usize) -> Option<Given> {
        match self {
            Games::Planned(schedule, book) => {
                let pairing = schedule.pairing(number)?;
                let opening = book.as_ref().and_then(|(book, sequence)| {
                    let index = sequence.opening(pairing.encounter)?;
                    book.openings().get(index).cloned()
                });
                Some(Given { pairing, opening: opening.unwrap_or_default(), resume: None })
            }
            Games::Given(list) => list.get(number).cloned(),
        }
    }
}

/// What the workers of a match share.
struct Shared<'a> {
    game: &'a Match,
    stop: &'a Stop,
    next: AtomicUsize,
    epoch: Monotonic,
    cores: Cores,
}

/// Plays a match. Events come in the order in which they happened, on the calling thread; games that were
/// broken off are among them, with no result.
///
/// The listener may end the match through `stop`; it is called until every engine has ended all the same.
///
/// # Errors
/// When no thread can be started.
pub fn run(game: &Match, stop: &Stop, mut listener: impl FnMut(Event)) -> std::io::Result<()> {
    let shared = Shared {
        game,
        stop,
        next: AtomicUsize::new(0),
        epoch: Monotonic::start(),
        cores: Cores::here(),
    };
    let total = game.games.total();
    listener(Event::MatchStarted {
        version: events::VERSION,
        engines: game.engines.iter().map(|engine| engine.name.clone()).collect(),
        games: total,
    });
    let workers = game.concurrency.get().min(total);
    let mut played = 0;
    let mut spawned = Ok(());
    thread::scope(|scope| {
        // A bound, so that a slow listener slows the games instead of filling the memory.
        let (sender, receiver) = mpsc::sync_channel(4 * workers.max(1));
        for number in 0..workers {
            let worker = Worker::new(number, &shared, sender.clone());
            let builder = thread::Builder::new().name(format!("game-{number}"));
            if let Err(error) = builder.spawn_scoped(scope, move || worker.run()) {
                stop.raise(stop::Level::Now);
                spawned = Err(error);
                break;
            }
        }
        drop(sender);
        for event in receiver {
            if let Event::GameFinished(finished) = &event
                && finished.record.ending.result.half_points(shakmaty::Color::White).is_some()
            {
                played += 1;
            }
            listener(event);
        }
    });
    spawned?;
    let early = (played < total).then(|| "it was stopped".to_owned());
    listener(Event::MatchFinished { played, early });
    Ok(())
}
