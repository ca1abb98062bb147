//! The games of a stage in their order, and when those to come are expected to begin.

use std::time::{Duration, SystemTime};

use super::{Broadcast, BroadcastGame, GameKey};
use crate::event::config::EventConfig;
use crate::event::draw::{self, Drawn};
use crate::event::journal::record::{AfterAnnulment, StageStarted};
use crate::event::ledger::StageState;
use crate::event::outlook::long_game;
use crate::game::clock::TimeControl;
use crate::model::game::listed::RoundGame;

/// A game of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Its place.
    pub(crate) key: GameKey,
    /// The engine with White.
    pub(crate) white: String,
    /// The engine with Black.
    pub(crate) black: String,
    /// Its state.
    pub(crate) state: GameState,
}

impl Slot {
    /// Its game, once it has begun.
    pub(crate) fn game<'a>(&self, broadcast: &'a Broadcast) -> Option<&'a BroadcastGame> {
        broadcast.games.get(&self.key).filter(|_| self.state == GameState::Begun)
    }
}

/// The state of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GameState {
    /// The game has begun.
    Begun,
    /// The game is due; the time is none while the event stands still.
    Due(Option<SystemTime>),
    /// The game is due so long after the beginning of an event that has not begun.
    DueAfter(Duration),
}

/// The games of a stage, as far as its engines are known and they are planned, in the order of rounds.
pub(crate) fn timetable(
    config: &EventConfig,
    broadcast: &Broadcast,
    stage: usize,
    now: SystemTime,
) -> Vec<Slot> {
    if broadcast.ledger.stages.len() <= stage {
        return to_come(config, broadcast, stage, now);
    }
    let is_played_again = |game: &BroadcastGame| {
        game.annulled.as_ref().is_some_and(|annulled| annulled.then == AfterAnnulment::PlayedAgain)
    };
    let begun = broadcast.games.iter();
    let begun = begun.filter(|(key, game)| key.stage == stage && !is_played_again(game));
    let mut slots: Vec<Slot> = begun
        .map(|(key, game)| Slot {
            key: *key,
            white: game.started.white.clone(),
            black: game.started.black.clone(),
            state: GameState::Begun,
        })
        .collect();
    let lengths = GameLengths::of(config, broadcast);
    let mut times = starts(config, broadcast, &lengths, now);
    slots.extend(due(config, broadcast, stage).into_iter().map(|(key, white, black)| {
        let at = times.as_mut().map(|times| times.next(lengths.expected(config, key)));
        Slot { key, white, black, state: GameState::Due(at) }
    }));
    slots.sort_by_key(|slot| slot.key);
    slots
}

/// The games of a stage that has not begun: none where it is not known who plays in it.
fn to_come(
    config: &EventConfig,
    broadcast: &Broadcast,
    number: usize,
    now: SystemTime,
) -> Vec<Slot> {
    let ledger = &broadcast.ledger;
    let Some(stage) = config.stages.get(number) else { return Vec::new() };
    let Drawn { seats, .. } = draw::drawn(config, ledger, number);
    if seats.len() != stage.seats || seats.len() < 2 {
        return Vec::new();
    }
    let has_begun = !ledger.stages.is_empty();
    // As if it began now, where nobody knows when it will.
    let lengths = GameLengths::of(config, broadcast);
    let mut times = starts(config, broadcast, &lengths, now);
    for before in 0..number {
        let games = match ledger.stages.get(before) {
            Some(_) => due(config, broadcast, before).len() as u64,
            None => config.stages[before].format.games(config.stages[before].seats),
        };
        let first = GameKey { stage: before, at: RoundGame { round: 1, game: 1 } };
        let each = lengths.expected(config, first);
        times = times.map(|times| times.after_all_of(games, each));
    }
    let name = stage.name.clone();
    let state = StageState::new(StageStarted { name, seats, ..StageStarted::default() });
    let seats = &state.started.seats;
    let due = stage.to_come(seats.len(), state.past()).into_iter();
    let slots = due.map(|pairing| {
        let name = |seat: usize| seats.get(seat).cloned().unwrap_or_default();
        let key = GameKey { stage: number, at: pairing.at };
        let at = times.as_mut().map(|times| times.next(lengths.expected(config, key)));
        let after = at.map(|at| at.duration_since(now).unwrap_or_default());
        let state = match after {
            Some(after) if !has_begun => GameState::DueAfter(after),
            _ => GameState::Due(at),
        };
        Slot { key, white: name(pairing.white.0), black: name(pairing.black.0), state }
    });
    let mut slots: Vec<Slot> = slots.collect();
    slots.sort_by_key(|slot| slot.key);
    slots
}

/// The games that have not begun, in order, with their engines.
fn due(
    config: &EventConfig,
    broadcast: &Broadcast,
    number: usize,
) -> Vec<(GameKey, String, String)> {
    let (Some(stage), Some(state)) =
        (config.stages.get(number), broadcast.ledger.stages.get(number))
    else {
        return Vec::new();
    };
    let seats = &state.started.seats;
    if state.outcome.is_some() {
        return Vec::new();
    }
    let due = stage.to_come(seats.len(), &stage.past_of(state));
    due.into_iter()
        .filter_map(|pairing| {
            let key = GameKey { stage: number, at: pairing.at };
            let is_open = broadcast.games.get(&key).is_some_and(BroadcastGame::is_open);
            let name = |seat: usize| seats.get(seat).cloned().unwrap_or_default();
            (!is_open).then(|| (key, name(pairing.white.0), name(pairing.black.0)))
        })
        .collect()
}

/// The moments at which games to come begin: whenever one of those before them is over.
struct Starts {
    /// When each of the places at which games are played is free.
    free: Vec<SystemTime>,
}

impl Starts {
    /// The beginning of the next game, which takes so long.
    fn next(&mut self, takes: Duration) -> SystemTime {
        // There is a place at least.
        let Some(first) = self.free.iter_mut().min() else { return SystemTime::UNIX_EPOCH };
        let begins = *first;
        *first += takes;
        begins
    }

    /// The same when so many more games have been played to their ends, each of which takes so long.
    fn after_all_of(mut self, games: u64, each: Duration) -> Starts {
        let places = self.free.len() as u64;
        let rounds = u32::try_from(games / places.max(1)).unwrap_or(u32::MAX);
        self.free.iter_mut().for_each(|free| *free += each.saturating_mul(rounds));
        for _ in 0..games % places.max(1) {
            self.next(each);
        }
        if games > 0 {
            let last = self.free.iter().max().copied();
            last.into_iter().for_each(|last| self.free.fill(last));
        }
        self
    }
}

/// None while nothing is played.
fn starts(
    config: &EventConfig,
    broadcast: &Broadcast,
    lengths: &GameLengths,
    now: SystemTime,
) -> Option<Starts> {
    let ledger = &broadcast.ledger;
    if ledger.is_over() || ledger.paused.is_some() {
        return None;
    }
    let mut free: Vec<SystemTime> = broadcast
        .under_way()
        .map(|game| {
            let began = humantime::parse_rfc3339(&game.started.at).unwrap_or(now);
            let key = GameKey { stage: game.started.stage, at: game.started.place() };
            (began + lengths.expected(config, key)).max(now)
        })
        .collect();
    free.resize(config.concurrency.get().max(free.len()).max(1), now);
    Some(Starts { free })
}

/// The games that have been played with one clock.
struct PlayedWith {
    control: TimeControl,
    games: u32,
    /// The time that they took together.
    lasted: Duration,
}

/// The games that have been played with each clock.
struct GameLengths(Vec<PlayedWith>);

impl GameLengths {
    fn of(config: &EventConfig, broadcast: &Broadcast) -> GameLengths {
        let mut all: Vec<PlayedWith> = Vec::new();
        for (key, game) in &broadcast.games {
            let Some(finished) = &game.finished else { continue };
            let (control, lasted) =
                (config.control(key.stage, key.at), Duration::from_micros(finished.lasted));
            match all.iter_mut().find(|played| played.control == control) {
                Some(played) => {
                    played.games += 1;
                    played.lasted += lasted;
                }
                None => all.push(PlayedWith { control, games: 1, lasted }),
            }
        }
        GameLengths(all)
    }

    /// The time that a game takes: the mean of those played with the same clock, and before the first of them a long one
    /// with all its time.
    fn expected(&self, config: &EventConfig, key: GameKey) -> Duration {
        let control = config.control(key.stage, key.at);
        let played = self.0.iter().find(|played| played.control == control);
        played.map_or_else(|| long_game(control), |played| played.lasted / played.games)
    }
}

/// The number of games of a stage that have ended, and of those that are planned in all.
pub(crate) fn progress(
    config: &EventConfig,
    broadcast: &Broadcast,
    stage: usize,
) -> (usize, usize) {
    let ended = broadcast.ledger.stages.get(stage).map_or(0, StageState::finished);
    let open = broadcast.under_way().filter(|game| game.started.stage == stage).count();
    (ended, ended + open + due(config, broadcast, stage).len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_begins_when_a_place_is_free() {
        let now = SystemTime::UNIX_EPOCH;
        let at = |seconds| now + Duration::from_secs(seconds);
        // Two at a time: one ends in 30 s, the other in 10 s, and each takes a minute.
        let mut starts = Starts { free: vec![at(30), at(10)] };
        let minute = Duration::from_secs(60);
        let told: Vec<SystemTime> = (0..5).map(|_| starts.next(minute)).collect();
        assert_eq!(told, [at(10), at(30), at(70), at(90), at(130)]);
    }

    #[test]
    fn a_stage_begins_when_all_games_before_it_are_over() {
        let now = SystemTime::UNIX_EPOCH;
        let at = |seconds| now + Duration::from_secs(seconds);
        let minute = Duration::from_secs(60);
        let starts = || Starts { free: vec![at(30), at(10)] };
        for (games, begins) in [(0, 10), (1, 70), (2, 90), (3, 130), (4, 150)] {
            assert_eq!(starts().after_all_of(games, minute).next(minute), at(begins), "{games}");
        }
    }
}
