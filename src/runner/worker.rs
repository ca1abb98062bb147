//! One thread that plays one game after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use shakmaty::{ByColor, Chess, Color, Position};

use super::affinity::{Affinity, Cores};
use super::engine::{LostEngine, Missing};
use super::events::{Board, Event, Finished, MovePlayed};
use super::heard::HeardGames;
use super::heartbeat::Heartbeat;
use super::match_::{Match, Restart, WantedGame};
use super::schedule::ScheduledGame;
use super::seat::{EngineSeat, QuitLate};
use crate::engine::stop::{Stop, StopLevel};
use crate::game::clock::Monotonic;
use crate::game::play::{GameTerms, play_watched};
use crate::model::evidence::{Breach, Refusal, Resource};
use crate::model::game::ending::{GameEnding, Termination};
use crate::model::game::record::{GameRecord, PlayedMove};
use crate::model::game::result::GameResult;

/// The things that all workers of a match share.
pub(super) struct Shared<'a> {
    pub(super) game: &'a Match,
    pub(super) stop: &'a Stop,
    pub(super) next: AtomicUsize,
    pub(super) epoch: Monotonic,
    pub(super) cores: Cores,
    /// Where the referee is watched, with the standstill that breaks off games.
    pub(super) heartbeat: Option<(Heartbeat, Duration)>,
    /// Set when a game was broken off by no fault of its engines: whoever gave the games decides what comes next.
    pub(super) broken_off: AtomicBool,
    /// The games whose end was heard.
    pub(super) heard: HeardGames,
}

/// Games after which it is looked how many threads engines run: some start theirs with the first search.
const LOOKS: usize = 3;

pub(super) struct Worker<'a> {
    number: usize,
    shared: &'a Shared<'a>,
    events: SyncSender<Event>,
    seats: Vec<(usize, EngineSeat<'a>)>,
    pinned: bool,
    played: usize,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        number: usize,
        shared: &'a Shared<'a>,
        events: SyncSender<Event>,
    ) -> Worker<'a> {
        Worker { number, shared, events, seats: Vec::new(), pinned: false, played: 0 }
    }

    /// Plays until there is no game left or the match is stopped.
    pub(super) fn run(mut self) {
        while self.shared.stop.level() == StopLevel::GoOn
            && !self.shared.broken_off.load(Ordering::Relaxed)
        {
            let number = self.shared.next.fetch_add(1, Ordering::Relaxed);
            let Some(given) = self.shared.game.games.game(number) else {
                break;
            };
            self.pause();
            if self.shared.stop.level() == StopLevel::GoOn {
                self.game(&given);
            }
        }
        self.end_seats();
    }

    /// Lets the time between two games pass, unless the match is being stopped.
    fn pause(&self) {
        const LOOK: Duration = Duration::from_millis(20);
        let until = Instant::now() + self.shared.game.wait;
        while self.played > 0 && self.shared.stop.level() == StopLevel::GoOn {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            thread::sleep(left.min(LOOK));
        }
    }

    fn tell(&self, event: Event) {
        // Nobody listens any more only where the listener gave up, and then the match is being stopped.
        let _ = self.events.send(event);
    }

    fn game(&mut self, given: &WantedGame) {
        let pairing = given.pairing;
        self.place(&pairing);
        let mut white = self.take_seat(pairing.white);
        let mut black = self.take_seat(pairing.black);
        for seat in [&mut white, &mut black] {
            seat.sit(pairing.game, given.opening.castling());
        }
        self.end_seats();
        let game = self.shared.game;
        let controls = ByColor { white: white.engine.control, black: black.engine.control };
        let mut position = game.tell_moves.then(|| beginning(given));
        let board = position.clone().map(|position| {
            let resumed = given.resume.as_ref().map(|resume| resume.clocks.map(Some));
            let clocks = resumed.unwrap_or_else(|| controls.map(|control| control.base()));
            Box::new(Board { position, clocks })
        });
        self.tell(Event::GameStarted { pairing, board });
        let terms = GameTerms {
            opening: &given.opening,
            controls,
            settings: &game.settings,
            margins: ByColor { white: white.engine.margin, black: black.engine.margin },
            resume: given.resume.as_ref(),
        };
        let (started, began) = (SystemTime::now(), Instant::now());
        let players = ByColor { white: &mut white, black: &mut black };
        let events = &self.events;
        let mut record = play_watched(&terms, players, &mut |played| {
            if let Some(position) = &mut position {
                let PlayedMove { number, mover, ply, clocks, pv } = played;
                let before = position.clone();
                position.play_unchecked(ply.played);
                let (ply, pv) = (ply.clone(), pv.to_vec());
                let told = MovePlayed { pairing, number, mover, ply, clocks, pv, before };
                let _ = events.send(Event::MovePlayed(Box::new(told)));
            }
        });
        let lasted = began.elapsed();
        if let (Termination::NoStart(why), Some(missing)) =
            (&record.ending.reason, record.ending.loser())
        {
            let seat = missing.fold_wb(&white, &black);
            let name = &seat.engine.name;
            let changed = match &seat.replaced[..] {
                [] => String::new(),
                replaced => format!("; replaced on this host meanwhile: {}", replaced.join(", ")),
            };
            // Nobody loses by an upgrade of the host.
            if game.bounds.missing == Missing::BreaksOff || !changed.is_empty() {
                record.ending = GameEnding {
                    result: GameResult::Unfinished,
                    reason: Termination::NoStart(format!("{name} does not start: {why}{changed}")),
                };
            }
        }
        let is_nobodys = matches!(
            record.ending,
            GameEnding { result: GameResult::Unfinished, reason: Termination::NoStart(_) }
                | GameEnding { reason: Termination::Standstill { .. }, .. }
        );
        if is_nobodys {
            self.shared.broken_off.store(true, Ordering::Relaxed);
        }
        let mut remains = ByColor { white: None, black: None };
        let both = [(Color::White, pairing.white, white), (Color::Black, pairing.black, black)];
        for (side, engine, mut seat) in both {
            self.tell_start(engine, &mut seat);
            if let Some(said) = seat.unasked.take() {
                self.tell(Event::Unasked { engine, said });
            }
            if let Some(how) = seat.waits.told() {
                self.tell(Event::Ponders { engine, how });
            }
            self.after(&pairing, side, &mut seat, &record);
            self.tell_killed(engine, &mut seat);
            *remains.get_mut(side) = seat.remains.take();
            if game.restart == Restart::EveryGame {
                self.end(engine, seat);
            } else {
                self.seats.push((engine, seat));
            }
        }
        self.played += 1;
        self.tell(Event::GameFinished(Box::new(Finished {
            pairing,
            started,
            lasted,
            record,
            remains,
        })));
        self.shared.heard.wait_for(pairing.game);
    }

    /// Puts this thread, and what it starts, on one core or on all; engines that were started on the wrong
    /// ones are ended, so that they start anew on the right ones.
    fn place(&mut self, pairing: &ScheduledGame) {
        let wide = [pairing.white, pairing.black]
            .iter()
            .filter_map(|engine| self.shared.game.engines.get(*engine))
            .any(|engine| engine.is_wide());
        let enough = self.shared.game.concurrency.get() <= self.shared.cores.count();
        let pin = match self.shared.game.affinity {
            Affinity::Auto => enough && !wide,
            Affinity::On => true,
            Affinity::Off => false,
        };
        if pin == self.pinned {
            return;
        }
        self.pinned = pin;
        self.end_seats();
        if pin {
            self.shared.cores.pin(self.shared.game.first_core.saturating_add(self.number));
        } else {
            self.shared.cores.unpin();
        }
    }

    fn take_seat(&mut self, engine: usize) -> EngineSeat<'a> {
        if let Some(at) = self.seats.iter().position(|(owner, _)| *owner == engine) {
            return self.seats.swap_remove(at).1;
        }
        let shared = self.shared;
        let engine = &shared.game.engines[engine];
        let log = shared.game.dialogue.as_ref();
        EngineSeat::new(
            Arc::clone(engine),
            shared.epoch,
            shared.game.bounds,
            shared.stop.clone(),
            shared.heartbeat.as_ref(),
            log.map(|log| log.sender(&engine.name, shared.epoch)),
        )
    }

    fn tell_start(&self, engine: usize, seat: &mut EngineSeat<'_>) {
        if let Some(took) = seat.started_in.take() {
            let pid = seat.pid();
            self.tell(Event::EngineStarted { engine, pid, took });
        }
        let replaced = std::mem::take(&mut seat.replaced);
        if !replaced.is_empty() {
            self.tell(Event::HostChanged { engine, replaced });
        }
        let options = std::mem::take(&mut seat.not_offered);
        if !options.is_empty() {
            self.tell(Event::OptionsNotOffered { engine, options });
        }
    }

    /// The deeds of a killed process are evidence as well.
    fn tell_killed(&self, engine: usize, seat: &mut EngineSeat<'_>) {
        for left in seat.killed.drain(..) {
            self.tell(Event::EngineLeft { engine, left });
        }
        for (breach, game) in seat.breaches.drain(..) {
            let Breach { rule, what, .. } = breach;
            let section = rule.rule().section;
            self.tell(Event::BrokeRule { engine, rule, section, what, game });
        }
    }

    /// After a game: an engine that was lost in it, or that must not be asked again, is killed.
    fn after(
        &self,
        pairing: &ScheduledGame,
        side: Color,
        seat: &mut EngineSeat<'_>,
        record: &GameRecord,
    ) {
        if self.played < LOOKS {
            seat.look_at_threads();
        }
        let lost = record.ending.crashed() == Some(side);
        let stopped = matches!(
            record.ending.reason,
            Termination::Aborted(_) | Termination::Standstill { .. }
        );
        // Where what it leaves is looked at, an engine that did nothing wrong is asked to quit, however its game ended.
        let is_asked = stopped && self.shared.game.bounds.grace.is_some();
        if (lost || stopped) && !is_asked {
            seat.kill();
            if !stopped {
                let LostEngine { exit, stderr, refusals, said } =
                    seat.remains.clone().unwrap_or_default();
                self.tell(Event::EngineKilled {
                    engine: side.fold_wb(pairing.white, pairing.black),
                    why: with_refusals(
                        match &record.ending.reason {
                            Termination::NoStart(why) => why.clone(),
                            _ => record.ending.details(),
                        },
                        &refusals,
                    ),
                    exit,
                    stderr,
                    game: Some(pairing.game),
                    said,
                });
            }
        }
    }

    /// Ends the processes of all engines that have no game.
    fn end_seats(&mut self) {
        for (engine, seat) in std::mem::take(&mut self.seats) {
            self.end(engine, seat);
        }
    }

    /// Ends a process in order; at a stop, at once, but for those whose leftovers are looked at.
    fn end(&self, engine: usize, mut seat: EngineSeat<'_>) {
        self.tell_killed(engine, &mut seat);
        if !seat.is_running() {
            return;
        }
        if self.shared.stop.level() == StopLevel::Now && self.shared.game.bounds.grace.is_none() {
            seat.kill();
            self.tell_killed(engine, &mut seat);
            return;
        }
        let (late, left) = seat.quit();
        self.tell_killed(engine, &mut seat);
        if late == Some(QuitLate) {
            self.tell(Event::EngineKilled {
                engine,
                why: "it did not end after quit".into(),
                exit: None,
                stderr: Vec::new(),
                game: None,
                said: Vec::new(),
            });
        }
        if let Some(left) = left {
            self.tell(Event::EngineLeft { engine, left });
        }
    }
}

/// The position in which the engines of a game are asked for their first move now.
fn beginning(given: &WantedGame) -> Chess {
    let mut position = given.opening.start();
    let before = given.resume.iter().flat_map(|resume| &resume.plies).map(|ply| ply.played);
    for one in given.opening.moves().iter().copied().chain(before) {
        position.play_unchecked(one);
    }
    position
}

/// The reason why an engine was lost, with its refusals before.
fn with_refusals(mut why: String, refusals: &[Refusal]) -> String {
    for refusal in refusals.iter().take(3) {
        why += &match &refusal.what {
            used @ (Resource::Used(_) | Resource::Tasks(_)) => format!("; it had {used}"),
            unseen @ Resource::Unrecorded(_) => format!("; it ran out of {unseen}"),
            asked => format!("; the kernel had refused it {asked}"),
        };
    }
    why
}
