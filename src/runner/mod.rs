//! The match runner: workers play the games of a schedule, one blocking thread a game, and everything that
//! happens goes to one listener as typed events.

mod affinity;
mod chess960;
mod dialogue;
mod engine;
pub mod events;
mod heartbeat;
pub mod in_order;
pub mod live;
mod match_;
mod offers;
mod pondering;
pub mod schedule;
pub mod score;
mod seat;
pub mod spec;
mod worker;

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc;
use std::thread;

pub use affinity::Affinity;
pub use dialogue::Dialogue;
pub use engine::{Bounds, Engine, Missing, Remains};
pub use match_::{Games, Given, Match, Restart};
pub use offers::without_chess960;

use crate::engine::stop::{self, Stop};
use crate::game::clock::Monotonic;
use affinity::Cores;
use events::Event;
use heartbeat::Heartbeat;
use worker::{Shared, Worker};

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
        heartbeat: game.standstill.map(|limit| (Heartbeat::new(), limit)),
        broken_off: AtomicBool::new(false),
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
        let beating = shared.heartbeat.as_ref().and_then(|(heartbeat, _)| {
            let builder = thread::Builder::new().name("heartbeat".into());
            match builder.spawn_scoped(scope, || heartbeat.run()) {
                Ok(thread) => Some((heartbeat, thread)),
                Err(error) => {
                    stop.raise(stop::Level::Now);
                    spawned = Err(error);
                    None
                }
            }
        });
        for event in receiver {
            if let Event::GameFinished(finished) = &event
                && finished.record.ending.result.points(shakmaty::Color::White).is_some()
            {
                played += 1;
            }
            listener(event);
        }
        if let Some((heartbeat, thread)) = beating {
            heartbeat.end();
            thread.thread().unpark();
        }
    });
    spawned?;
    let early = (played < total).then(|| "it was stopped".to_owned());
    listener(Event::MatchFinished { played, early });
    Ok(())
}
