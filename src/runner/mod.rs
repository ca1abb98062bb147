//! The match runner: workers play the games of a schedule, one blocking thread a game, and everything that
//! happens goes to one listener as typed events.

mod affinity;
mod chess960;
mod dialogue;
mod engine;
pub(crate) mod events;
mod games_of_process;
mod heard;
mod heartbeat;
pub(crate) mod live;
mod match_;
mod offers;
mod pondering;
pub mod schedule;
pub(crate) mod score;
mod seat;
pub(crate) mod spec;
mod worker;

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::Duration;

pub(crate) use affinity::Affinity;
pub(crate) use dialogue::Dialogue;
pub(crate) use engine::{Engine, EngineBounds, LostEngine, Missing, options_line};
pub(crate) use match_::{Match, MatchGames, Restart, WantedGame};
pub(crate) use offers::without_chess960;

use crate::engine::stop::{self, Stop};
use crate::game::clock::Monotonic;
use crate::model::game::ending::Termination;
use affinity::Cores;
use events::Event;
use heard::{HeardGames, Listening};
use heartbeat::Heartbeat;
use worker::{Shared, Worker};

/// Events that a worker may be ahead of the listener.
const EVENTS_AHEAD: usize = 4;
/// Events that a worker may be ahead where moves are told: those of a few milliseconds between engines that answer at once. A game's end is waited for.
const MOVES_AHEAD: usize = 512;

/// After a move the listener sleeps for so long before it waits for more. To wake it costs a game some ten microseconds;
/// to leave it a move while it sleeps, less than one.
const GATHERING_TIME: Duration = Duration::from_millis(2);

/// A message to the listener of a match.
pub(crate) enum HeardOfMatch {
    /// An event.
    Event(Event),
    /// No event waits: whatever was put off has its time. Told once after events, and then again after each pause that was asked for.
    Pause,
}

/// The events, those of moves in handfuls.
struct Gathering {
    receiver: mpsc::Receiver<Event>,
    after_move: bool,
    /// True if it was told that no event waits.
    has_paused: bool,
    /// The time without an event after which that is told again.
    pause: Option<Duration>,
}

impl Iterator for Gathering {
    type Item = HeardOfMatch;

    fn next(&mut self) -> Option<HeardOfMatch> {
        let mut event = self.receiver.try_recv();
        if matches!(event, Err(TryRecvError::Empty)) {
            if !std::mem::replace(&mut self.has_paused, true) {
                return Some(HeardOfMatch::Pause);
            }
            if std::mem::take(&mut self.after_move) {
                thread::sleep(GATHERING_TIME);
                event = self.receiver.try_recv();
            }
        }
        let event = match (event, self.pause) {
            (Err(TryRecvError::Empty), Some(pause)) => match self.receiver.recv_timeout(pause) {
                Err(RecvTimeoutError::Timeout) => return Some(HeardOfMatch::Pause),
                other => other.ok(),
            },
            (Err(TryRecvError::Empty), None) => self.receiver.recv().ok(),
            (other, _) => other.ok(),
        };
        self.after_move = matches!(event, Some(Event::MovePlayed(_)));
        self.has_paused = false;
        event.map(HeardOfMatch::Event)
    }
}

/// The reason why a match ended before its last game, where nothing was wrong.
pub(crate) const STOPPED: &str = "it was stopped";

/// Plays a match. Events come in the order in which they happened, on the calling thread; games that were
/// broken off are among them, with no result.
///
/// The listener may end the match through `stop`; it is called until every engine has ended all the same.
///
/// # Errors
/// When no thread can be started.
pub(crate) fn run(
    game: &Match,
    stop: &Stop,
    mut listener: impl FnMut(Event),
) -> std::io::Result<()> {
    run_with_pauses(game, stop, None, |heard| match heard {
        HeardOfMatch::Event(event) => listener(event),
        HeardOfMatch::Pause => {}
    })
}

/// The same for a listener that is also told when no event waits, and, where a pause is given, again and again: clocks run meanwhile.
///
/// # Errors
/// When no thread can be started.
pub(crate) fn run_with_pauses(
    game: &Match,
    stop: &Stop,
    pause: Option<Duration>,
    mut listener: impl FnMut(HeardOfMatch),
) -> std::io::Result<()> {
    let shared = Shared {
        game,
        stop,
        next: AtomicUsize::new(0),
        epoch: Monotonic::start(),
        cores: Cores::here(),
        heartbeat: game.standstill.map(|limit| (Heartbeat::new(), limit)),
        broken_off: AtomicBool::new(false),
        heard: HeardGames::default(),
    };
    let total = game.games.total();
    listener(HeardOfMatch::Event(Event::MatchStarted {
        version: events::VERSION,
        engines: game.engines.iter().map(|engine| engine.name.clone()).collect(),
        games: total,
    }));
    let workers = game.concurrency.get().min(total);
    let mut played = 0;
    let mut broken_off: Option<String> = None;
    let mut spawned = Ok(());
    thread::scope(|scope| {
        // A bound, so that a slow listener slows the games instead of filling the memory.
        let ahead = if game.tell_moves { MOVES_AHEAD } else { EVENTS_AHEAD };
        let (sender, receiver) = mpsc::sync_channel(ahead * workers.max(1));
        for number in 0..workers {
            let worker = Worker::new(number, &shared, sender.clone());
            let builder = thread::Builder::new().name(format!("game-{number}"));
            if let Err(error) = builder.spawn_scoped(scope, move || worker.run()) {
                stop.raise(stop::StopLevel::Now);
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
                    stop.raise(stop::StopLevel::Now);
                    spawned = Err(error);
                    None
                }
            }
        });
        let listening = Listening(&shared.heard);
        for heard in (Gathering { receiver, after_move: false, has_paused: false, pause }) {
            let ended = match &heard {
                HeardOfMatch::Event(Event::GameFinished(finished)) => {
                    let ending = &finished.record.ending;
                    match &ending.reason {
                        _ if ending.result.points(shakmaty::Color::White).is_some() => played += 1,
                        Termination::NoStart(why) => {
                            broken_off.get_or_insert_with(|| why.clone());
                        }
                        _ => {}
                    }
                    Some(finished.pairing.game)
                }
                _ => None,
            };
            listener(heard);
            if let Some(game) = ended {
                shared.heard.note(game);
            }
        }
        drop(listening);
        if let Some((heartbeat, thread)) = beating {
            heartbeat.end();
            thread.thread().unpark();
        }
    });
    spawned?;
    let stopped = || STOPPED.to_owned();
    let early = (played < total).then(|| broken_off.unwrap_or_else(stopped));
    listener(HeardOfMatch::Event(Event::MatchFinished { played, early }));
    Ok(())
}
