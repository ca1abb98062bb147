//! An event for those who watch it: the games with all that is known of each move, made of the journal's records as
//! they come, and the schedule with the times at which games are expected.

mod bracket;
mod follow;
mod moment;
mod moves;
mod record_text;
mod recorded;
mod recorded_comment;
mod rounds;
mod timetable;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use shakmaty::Color;

use super::config::EventConfig;
use super::export::{self, End};
use super::journal::record::{
    AfterAnnulment, Annulled, EngineKilled, GameFinished, GameStarted, Interrupted, JournalPly,
    JournalRecord, Withdrawn,
};
use super::ledger::Ledger;
use super::stage_table;
use super::standings::Standings;
use crate::game::pgn::Style;
use crate::model::game::ending::Termination;
use crate::model::game::listed::RoundGame;
use crate::model::game::result::color_name;

pub(crate) use bracket::{
    BracketLevel, BracketMatch, BracketSlot, BroadcastBracket, Prize, Side, bracket,
};
pub(crate) use follow::{EventChanges, Follower, Running};
pub(crate) use moves::ShownMove;
use moves::ShownSoFar;
pub(crate) use rounds::{Pairing, Round, Rounds, rounds};
pub(crate) use timetable::{GameState, Slot, progress, timetable};

/// A game's place in the event, which is its address for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GameKey {
    /// The stage, from 0.
    pub(crate) stage: usize,
    /// The place in its schedule.
    pub(crate) at: RoundGame,
}

impl fmt::Display for GameKey {
    /// `1-12.3`: the stage from 1, the round, the game.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.stage + 1, self.at)
    }
}

/// A game as far as it has been played.
#[derive(Debug, Default)]
pub(crate) struct BroadcastGame {
    /// The record of its beginning.
    pub(crate) started: GameStarted,
    /// The moves of its engines.
    pub(crate) plies: Vec<JournalPly>,
    /// Both clocks, White's first, in microseconds: after the last move, or as it went on after an interruption.
    pub(crate) clocks: [u64; 2],
    /// Its end, struck out where the organisers did that.
    pub(crate) finished: Option<GameFinished>,
    /// The decisions on its interruptions (rule 6.1).
    pub(crate) rulings: Vec<Interrupted>,
    /// Its engines that had to be killed.
    pub(crate) killed: Vec<EngineKilled>,
    /// The organisers' decision against it.
    pub(crate) annulled: Option<Annulled>,
    /// The number of the record that began it, by which games stand in the order of the journal: a clock of the host
    /// may be set back.
    pub(crate) began: usize,
    /// The number of the record that ended it.
    ended: Option<usize>,
    /// Its PGN, where it was recorded as that and not in a journal.
    recorded: Option<String>,
    /// Its moves as far as they were shown.
    shown: ShownSoFar,
}

impl BroadcastGame {
    /// Its place.
    pub(crate) fn key(&self) -> GameKey {
        GameKey { stage: self.started.stage, at: self.started.place() }
    }

    /// True if it is being played, or waits to go on.
    pub(crate) fn is_open(&self) -> bool {
        self.finished.is_none() && self.annulled.is_none()
    }

    /// The position before its first move, as FEN.
    pub(crate) fn start(&self) -> &str {
        const CLASSICAL: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        self.started.start.as_deref().unwrap_or(CLASSICAL)
    }

    /// The side to move after so many plies.
    pub(crate) fn turn_after(&self, plies: usize) -> Color {
        let is_black = self.start().split(' ').nth(1) == Some("b");
        Color::from_white(plies.is_multiple_of(2) != is_black)
    }

    /// The plies on the board, those of the opening among them.
    pub(crate) fn length(&self) -> usize {
        self.started.opening.split_ascii_whitespace().count() + self.plies.len()
    }

    /// As PGN; none while it is played. Struck out, it has no result.
    pub(crate) fn pgn(&self, config: &EventConfig, ledger: &Ledger) -> Option<String> {
        if self.recorded.is_some() {
            return self.recorded.clone();
        }
        self.written(config, ledger, self.end()?, Style::Event)
    }

    /// Its end; none while it is played.
    fn end(&self) -> Option<End> {
        match (&self.annulled, &self.finished) {
            (Some(annulled), None) => Some(End::struck_out(&annulled.reason, &self.plies)),
            (Some(annulled), Some(finished)) => {
                let lasted = finished.lasted;
                Some(End { lasted, ..End::struck_out(&annulled.reason, &self.plies) })
            }
            (None, Some(finished)) => {
                Some(End { ending: finished.ending(), lasted: finished.lasted })
            }
            (None, None) => None,
        }
    }

    /// As PGN for those who follow it, with its moves so far, and with what relays of broadcasts read.
    pub(crate) fn relay_pgn(&self, config: &EventConfig, ledger: &Ledger) -> Option<String> {
        self.so_far(config, ledger, Style::Relay)
    }

    /// As PGN in the event's own form, with its moves so far.
    pub(crate) fn live_pgn(&self, config: &EventConfig, ledger: &Ledger) -> Option<String> {
        self.so_far(config, ledger, Style::Event)
    }

    fn so_far(&self, config: &EventConfig, ledger: &Ledger, style: Style) -> Option<String> {
        let so_far = || End::without_result(Termination::Unknown, &self.plies);
        self.written(config, ledger, self.end().unwrap_or_else(so_far), style)
    }

    fn written(
        &self,
        config: &EventConfig,
        ledger: &Ledger,
        end: End,
        style: Style,
    ) -> Option<String> {
        let started = &self.started;
        let ratings = &ledger.stages.get(started.stage)?.started.ratings;
        let elo = |name: &String| ratings.get(name).copied();
        let elo = shakmaty::ByColor { white: elo(&started.white), black: elo(&started.black) };
        export::one(config, started, &self.plies, end, elo, style)
    }
}

/// A stage as far as it has been played.
#[derive(Clone, Debug)]
pub(crate) struct StageTable {
    /// The places, points and results.
    pub(crate) standings: Standings,
    /// The place of each game that the standings number, in their order.
    pub(crate) places: Vec<Option<RoundGame>>,
}

/// An event as far as it has been played.
#[derive(Debug, Default)]
pub(crate) struct Broadcast {
    /// Its state.
    pub(crate) ledger: Ledger,
    /// Its games by their place; of one that is played again, only the last.
    pub(crate) games: BTreeMap<GameKey, BroadcastGame>,
    /// Engines that were killed in one of two games that they play; the game that ends so tells in which.
    unsettled: Vec<EngineKilled>,
    /// The games that have changed since somebody asked.
    changed: BTreeSet<GameKey>,
    /// True if more than the moves of games under way has changed.
    has_turned: bool,
    /// The records so far.
    records: usize,
}

impl Broadcast {
    /// An event before its first record.
    pub(crate) fn of(config: &EventConfig) -> Broadcast {
        Broadcast { ledger: Ledger::of(config), ..Broadcast::default() }
    }

    /// Takes in the next record.
    ///
    /// # Errors
    /// Says why it cannot follow those before it.
    pub(crate) fn apply(&mut self, record: JournalRecord) -> Result<(), String> {
        self.note(&record);
        self.ledger.apply(record)
    }

    fn note(&mut self, record: &JournalRecord) {
        let mut turned = true;
        self.records += 1;
        let number = self.records;
        match record {
            JournalRecord::GameStarted(started) => self.started(started),
            JournalRecord::Ply(ply) => {
                turned = false;
                if let Some(game) = self.open(&ply.id) {
                    game.clocks = ply.clocks;
                    game.plies.push(ply.clone());
                }
            }
            JournalRecord::GameFinished(finished) => {
                let crashed = finished.ending().crashed();
                let crashed = crashed.map(|side| side.fold_wb(&finished.white, &finished.black));
                let at = self.unsettled.iter().position(|one| Some(&one.entry) == crashed);
                let killed = at.map(|at| self.unsettled.remove(at));
                if let Some(game) = self.open(&finished.id) {
                    game.killed.extend(killed);
                    game.finished = Some(finished.clone());
                    game.ended = Some(number);
                }
            }
            JournalRecord::Interrupted(ruling) => {
                if let Some(game) = self.open(&ruling.id) {
                    if ruling.begins_anew {
                        game.plies.clear();
                        game.shown = ShownSoFar::default();
                    }
                    game.rulings.push(ruling.clone());
                }
            }
            JournalRecord::EngineKilled(killed) if killed.id.is_some() => {
                if let Some(game) = self.open(killed.id.as_deref().unwrap_or_default()) {
                    game.killed.push(killed.clone());
                }
            }
            JournalRecord::EngineKilled(killed) => {
                let plays =
                    |game: &&mut BroadcastGame| game.is_open() && game.started.plays(&killed.entry);
                // The engine is killed before the game that it lost has its end.
                let mut open: Vec<&mut BroadcastGame> =
                    self.games.values_mut().filter(plays).collect();
                if let [game] = &mut open[..] {
                    game.killed.push(killed.clone());
                    let key = game.key();
                    self.changed.insert(key);
                } else {
                    self.unsettled.push(killed.clone());
                }
            }
            JournalRecord::Annulled(annulled) => self.struck_out(annulled),
            JournalRecord::Withdrawn(withdrawn) => self.broken_off(withdrawn),
            _ => {}
        }
        self.has_turned |= turned;
    }

    fn started(&mut self, started: &GameStarted) {
        let key = GameKey { stage: started.stage, at: started.place() };
        self.changed.insert(key);
        match self.games.get_mut(&key) {
            Some(game) if started.attempt > 1 => game.clocks = started.clocks,
            _ => {
                let game = BroadcastGame {
                    started: started.clone(),
                    clocks: started.clocks,
                    began: self.records,
                    ..BroadcastGame::default()
                };
                self.games.insert(key, game);
            }
        }
    }

    fn struck_out(&mut self, annulled: &Annulled) {
        let key = GameKey { stage: annulled.stage, at: annulled.place() };
        self.changed.insert(key);
        if let Some(game) = self.games.get_mut(&key) {
            if let (Some(finished), AfterAnnulment::Nothing) = (&mut game.finished, annulled.then) {
                finished.annul(&annulled.reason);
            }
            game.annulled = Some(annulled.clone());
            game.ended.get_or_insert(self.records);
        }
    }

    /// Ends the games under way of an engine that was withdrawn.
    fn broken_off(&mut self, withdrawn: &Withdrawn) {
        let number = self.records;
        for id in &withdrawn.broken_off {
            let Some(game) = self.open(id) else { continue };
            game.ended = Some(number);
            let GameStarted { stage, round, game: number, .. } = game.started;
            game.annulled = Some(Annulled {
                id: id.clone(),
                stage,
                round,
                game: number,
                then: AfterAnnulment::Nothing,
                reason: withdrawn.of_game(),
                at: withdrawn.at.clone(),
            });
        }
    }

    /// The game of an id that is under way; it is taken to change.
    fn open(&mut self, id: &str) -> Option<&mut BroadcastGame> {
        let started = &self.ledger.open.get(id)?.started;
        let key = GameKey { stage: started.stage, at: started.place() };
        self.changed.insert(key);
        self.games.get_mut(&key)
    }

    /// The games that are being played, or wait to go on, in the order in which they began.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = &BroadcastGame> {
        let open = self.ledger.open.values().filter_map(|open| {
            let at = open.started.place();
            self.games.get(&GameKey { stage: open.started.stage, at })
        });
        let mut games: Vec<&BroadcastGame> = open.collect();
        games.sort_by_key(|game| game.began);
        games.into_iter()
    }

    /// The games that have ended by themselves, in the order in which they did.
    pub(crate) fn finished(&self) -> Vec<&BroadcastGame> {
        let mut games = self.over();
        games.retain(|game| game.finished.is_some());
        games
    }

    /// The games that are not played any more, those that were struck out under way among them, in the order in which they
    /// ended.
    pub(crate) fn over(&self) -> Vec<&BroadcastGame> {
        let mut games: Vec<&BroadcastGame> =
            self.games.values().filter(|game| !game.is_open()).collect();
        games.sort_by_key(|game| game.ended);
        games
    }

    /// The games under way as PGN with their moves so far, and behind them those that ended last, as many as are
    /// played at a time: whoever asks now and then sees each end.
    pub(crate) fn live_pgn(&self, config: &EventConfig) -> String {
        let last = self.finished();
        let last = last.iter().rev().take(config.concurrency.get()).copied();
        let games = self.under_way().chain(last);
        games.filter_map(|game| game.relay_pgn(config, &self.ledger)).collect()
    }

    /// The goals of a stage's games (rule 3) with the sides that hold them, in words; none of a game that has none.
    pub(crate) fn goals(&self, config: &EventConfig, stage: usize) -> BTreeMap<GameKey, String> {
        let (Some(state), Some(of)) = (self.ledger.stages.get(stage), config.stages.get(stage))
        else {
            return BTreeMap::new();
        };
        let field = state.field(of.crash_limit);
        let held = field.games().iter().filter_map(|game| {
            let (at, held) = (game.at?, game.held?);
            let side = color_name(held.holder);
            Some((GameKey { stage, at }, format!("{} {side}", held.goal)))
        });
        held.collect()
    }

    /// A stage that has begun, counted.
    pub(crate) fn table(&self, config: &EventConfig, stage: usize) -> Option<StageTable> {
        let state = self.ledger.stages.get(stage)?;
        let of = config.stages.get(stage)?;
        let field = state.field(of.crash_limit);
        let standings = stage_table::of(config, &self.ledger, stage)?;
        Some(StageTable { standings, places: field.games().iter().map(|game| game.at).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::field::WithdrawnGames;
    use super::super::journal_games::tests::{finished, started};
    use super::*;
    use crate::event::journal::record::StageStarted;
    use crate::model::game::rule_distances::RuleDistances;

    pub(super) fn begun() -> Broadcast {
        let mut broadcast = Broadcast::default();
        let name = "S".to_owned();
        let stage = StageStarted { stage: 0, name, ..StageStarted::default() };
        broadcast.apply(JournalRecord::StageStarted(stage)).unwrap();
        broadcast
    }

    pub(super) fn ply(id: &str, number: usize, uci: &str, clocks: [u64; 2]) -> JournalRecord {
        JournalRecord::Ply(JournalPly {
            id: id.into(),
            number,
            uci: uci.into(),
            used: 5,
            clocks,
            rules_in: RuleDistances::OFF,
            ..JournalPly::default()
        })
    }

    #[test]
    fn a_game_is_followed_through_a_crash_an_annulment_and_its_replay() {
        let mut broadcast = begun();
        let at = RoundGame { round: 2, game: 3 };
        let mut game = finished("a", "b", at, "0-1", "e2e4 e7e5");
        game.reason = Termination::Crash { exit: None };
        let key = GameKey { stage: 0, at };
        assert_eq!(key.to_string(), "1-2.3");
        broadcast.apply(JournalRecord::GameStarted(started(&game))).unwrap();
        broadcast.apply(ply(&game.id, 0, "e2e4", [7, 9])).unwrap();
        assert_eq!(broadcast.under_way().count(), 1);
        assert_eq!((broadcast.games[&key].plies.len(), broadcast.games[&key].clocks), (1, [7, 9]));
        let killed =
            EngineKilled { entry: "a".into(), why: "gone".into(), ..EngineKilled::default() };
        broadcast.apply(JournalRecord::EngineKilled(killed)).unwrap();
        broadcast.apply(JournalRecord::GameFinished(game.clone())).unwrap();
        assert_eq!(broadcast.games[&key].killed.len(), 1);
        assert!(!broadcast.games[&key].is_open());
        let annulled = Annulled {
            id: game.id.clone(),
            stage: 0,
            round: 2,
            game: 3,
            then: AfterAnnulment::PlayedAgain,
            reason: "a test".into(),
            at: String::new(),
        };
        broadcast.apply(JournalRecord::Annulled(annulled)).unwrap();
        assert!(broadcast.games[&key].annulled.is_some());
        broadcast.apply(JournalRecord::GameStarted(started(&game))).unwrap();
        let again = &broadcast.games[&key];
        assert!(again.is_open() && again.plies.is_empty() && again.killed.is_empty());
    }

    /// A game is struck out while it is under way, and another since its engine leaves.
    #[test]
    fn a_game_that_is_struck_out_under_way_is_over_in_the_order_of_the_journal() {
        let mut broadcast = begun();
        let games: Vec<GameFinished> = (1..=3)
            .map(|round| finished("a", "b", RoundGame { round, game: 1 }, "0-1", "e2e4 e7e5"))
            .collect();
        for game in &games {
            broadcast.apply(JournalRecord::GameStarted(started(game))).unwrap();
        }
        let annulled = Annulled {
            id: games[2].id.clone(),
            stage: 0,
            round: 3,
            game: 1,
            then: AfterAnnulment::Nothing,
            reason: "a test".into(),
            at: String::new(),
        };
        broadcast.apply(JournalRecord::Annulled(annulled)).unwrap();
        broadcast.apply(JournalRecord::GameFinished(games[1].clone())).unwrap();
        let withdrawn = Withdrawn {
            engine: "a".into(),
            stage: 0,
            round: 1,
            played: WithdrawnGames::Counts,
            broken_off: vec![games[0].id.clone()],
            walkovers: Vec::new(),
            reason: "a test".into(),
            at: String::new(),
        };
        broadcast.apply(JournalRecord::Withdrawn(withdrawn)).unwrap();
        let rounds = |games: Vec<&BroadcastGame>| -> Vec<u32> {
            games.iter().map(|game| game.started.round).collect()
        };
        assert_eq!(rounds(broadcast.over()), [3, 2, 1]);
        assert_eq!(rounds(broadcast.finished()), [2]);
    }

    /// The host's clock was set back between the two.
    #[test]
    fn games_stand_in_the_order_of_the_journal_whatever_the_clock_said() {
        let mut broadcast = begun();
        for (round, at) in [(1, "2026-01-02T05:00:00Z"), (2, "2026-01-02T03:00:00Z")] {
            let mut game = finished("a", "b", RoundGame { round, game: 1 }, "0-1", "e2e4 e7e5");
            game.at = at.into();
            broadcast.apply(JournalRecord::GameStarted(started(&game))).unwrap();
            broadcast.apply(JournalRecord::GameFinished(game)).unwrap();
        }
        let rounds = |games: Vec<&BroadcastGame>| -> Vec<u32> {
            games.iter().map(|game| game.started.round).collect()
        };
        assert_eq!(rounds(broadcast.finished()), [1, 2]);
        // By its id, the tenth would come first.
        let open = [9, 10]
            .map(|round| finished("a", "b", RoundGame { round, game: 1 }, "0-1", "e2e4 e7e5"));
        for (game, at) in open.iter().zip(["2026-01-02T05:00:00Z", "2026-01-02T03:00:00Z"]) {
            let started = GameStarted { at: at.into(), ..started(game) };
            broadcast.apply(JournalRecord::GameStarted(started)).unwrap();
        }
        assert_eq!(rounds(broadcast.under_way().collect()), [9, 10]);
    }

    #[test]
    fn a_crash_that_names_its_game_stands_with_that() {
        let mut broadcast = begun();
        let game = |round, white: &str, black: &str| {
            finished(white, black, RoundGame { round, game: 1 }, "0-1", "e2e4 e7e5")
        };
        let games = [game(1, "b", "a"), game(2, "a", "b")];
        for one in &games {
            broadcast.apply(JournalRecord::GameStarted(started(one))).unwrap();
        }
        let (entry, id) = ("a".to_owned(), Some(games[1].id.clone()));
        let killed = EngineKilled { entry, id, ..EngineKilled::default() };
        broadcast.apply(JournalRecord::EngineKilled(killed)).unwrap();
        let with: Vec<usize> = broadcast.games.values().map(|game| game.killed.len()).collect();
        assert_eq!(with, [0, 1]);
    }

    /// An engine plays two games at a time and crashes in the second of them; an older journal does not say in which.
    #[test]
    fn a_crash_stands_with_the_game_that_it_ended() {
        let mut broadcast = begun();
        let game = |round, white: &str, black: &str| {
            finished(white, black, RoundGame { round, game: 1 }, "0-1", "e2e4 e7e5")
        };
        let (first, mut second) = (game(1, "b", "a"), game(2, "a", "b"));
        second.reason = Termination::Crash { exit: None };
        for one in [&first, &second] {
            broadcast.apply(JournalRecord::GameStarted(started(one))).unwrap();
        }
        let entry = "a".to_owned();
        let killed = EngineKilled { entry, why: "gone".into(), ..EngineKilled::default() };
        broadcast.apply(JournalRecord::EngineKilled(killed)).unwrap();
        let with = |broadcast: &Broadcast| -> Vec<usize> {
            broadcast.games.values().map(|game| game.killed.len()).collect()
        };
        assert_eq!(with(&broadcast), [0, 0]);
        broadcast.apply(JournalRecord::GameFinished(first)).unwrap();
        broadcast.apply(JournalRecord::GameFinished(second)).unwrap();
        assert_eq!(with(&broadcast), [0, 1]);
    }
}
