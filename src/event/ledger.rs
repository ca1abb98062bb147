//! What a journal's records amount to: the event's state, made by nothing but them.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::journal::record::{
    Decision, Fix, GameFinished, GameStarted, Header, History, Interrupted, Ply, Receipt, Record,
    StageFinished, StageStarted,
};
use super::stage::Results;

/// An event's state.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// What the journal is.
    pub header: Option<Header>,
    /// The latest receipt of each entry.
    pub receipts: BTreeMap<String, Receipt>,
    /// The games before the event that its rating list counts.
    pub history: Option<History>,
    /// The stages that have begun.
    pub stages: Vec<StageState>,
    /// Games that have begun and not ended, by id.
    pub open: BTreeMap<String, OpenGame>,
    /// Crash fixes.
    pub fixes: Vec<Fix>,
    /// Who won, once it is over.
    pub winner: Option<String>,
    /// Why it stopped last, if it has not gone on since.
    pub paused: Option<String>,
    /// How many interruptions were decided.
    pub interruptions: usize,
    /// The ids of the games that have ended.
    ended: HashSet<String>,
}

/// A stage that has begun.
#[derive(Clone, Debug)]
pub struct StageState {
    /// Its draw.
    pub started: StageStarted,
    /// Its games, in the order in which they ended.
    pub finished: Vec<GameFinished>,
    /// Ties that were decided.
    pub decisions: Vec<Decision>,
    /// Its outcome.
    pub outcome: Option<StageFinished>,
}

impl StageState {
    /// Its results by place.
    #[must_use]
    pub fn results(&self) -> Results<'_> {
        self.finished.iter().map(|game| (game.place(), game)).collect()
    }
}

/// A game that has begun and not ended.
#[derive(Clone, Debug)]
pub struct OpenGame {
    /// How it began, or went on the last time.
    pub started: GameStarted,
    /// The moves that engines made, of all attempts.
    pub plies: Vec<Ply>,
    /// How many of them were made before it last went on.
    pub before: usize,
    /// The last decision on it.
    pub interrupted: Option<Interrupted>,
}

impl Ledger {
    /// Takes in the next record.
    ///
    /// # Errors
    /// Says why it cannot follow those before it.
    pub fn apply(&mut self, record: Record) -> Result<(), String> {
        match record {
            Record::Header(header) => {
                if self.header.is_some() {
                    return Err("a second header".into());
                }
                self.header = Some(header);
            }
            Record::Receipt(receipt) => {
                let entry = receipt.entry.clone();
                if self.receipts.insert(entry.clone(), receipt).is_some() {
                    return Err(format!("a second receipt of {entry}"));
                }
            }
            Record::History(history) => {
                if self.history.is_some() || !self.stages.is_empty() {
                    return Err("a history after the event has begun".into());
                }
                self.history = Some(history);
            }
            Record::StageStarted(started) => self.stage_started(started)?,
            Record::GameStarted(started) => self.game_started(started)?,
            Record::Ply(ply) => {
                let game = self.open.get_mut(&ply.id).ok_or_else(|| not_open(&ply.id))?;
                if ply.number != game.plies.len() {
                    return Err(format!(
                        "move {} of {} where {} is due",
                        ply.number,
                        ply.id,
                        game.plies.len()
                    ));
                }
                game.plies.push(ply);
            }
            Record::Interrupted(decision) => {
                self.interruptions += 1;
                let id = &decision.id;
                let game = self.open.get_mut(id).ok_or_else(|| not_open(id))?;
                game.interrupted = Some(decision);
            }
            Record::GameFinished(finished) => self.game_finished(finished)?,
            Record::Decision(decision) => self.stage(decision.stage)?.decisions.push(decision),
            Record::StageFinished(outcome) => {
                let stage = self.stage(outcome.stage)?;
                if stage.outcome.is_some() {
                    return Err("the stage is over already".into());
                }
                stage.outcome = Some(outcome);
            }
            Record::Fix(fix) => {
                self.receipts.insert(fix.entry.clone(), fix.receipt.clone());
                self.fixes.push(fix);
            }
            Record::Paused { why } => self.paused = Some(why),
            Record::EventFinished { winner } => self.winner = Some(winner),
            Record::EngineKilled(_) | Record::Note { .. } => {}
        }
        Ok(())
    }

    fn stage(&mut self, number: usize) -> Result<&mut StageState, String> {
        self.stages.get_mut(number).ok_or_else(|| format!("stage {number} has not begun"))
    }

    fn stage_started(&mut self, started: StageStarted) -> Result<(), String> {
        if started.stage != self.stages.len() {
            return Err(format!("stage {} where {} is due", started.stage, self.stages.len()));
        }
        self.stages.push(StageState {
            started,
            finished: Vec::new(),
            decisions: Vec::new(),
            outcome: None,
        });
        Ok(())
    }

    fn game_started(&mut self, started: GameStarted) -> Result<(), String> {
        self.paused = None;
        self.stage(started.stage)?;
        if self.ended.contains(&started.id) {
            return Err(format!("the game {} begins again after its end", started.id));
        }
        match self.open.get_mut(&started.id) {
            None if started.attempt == 1 => {
                let id = started.id.clone();
                let game = OpenGame { started, plies: Vec::new(), before: 0, interrupted: None };
                self.open.insert(id, game);
            }
            Some(game) if started.attempt == game.started.attempt + 1 => {
                game.before = game.plies.len();
                game.started = started;
            }
            _ => return Err(format!("attempt {} of {}", started.attempt, started.id)),
        }
        Ok(())
    }

    fn game_finished(&mut self, finished: GameFinished) -> Result<(), String> {
        if self.open.remove(&finished.id).is_none() {
            return Err(not_open(&finished.id));
        }
        self.ended.insert(finished.id.clone());
        self.stage(finished.stage)?.finished.push(finished);
        Ok(())
    }

    /// How often each entry crashed, over all stages.
    #[must_use]
    pub fn crashes(&self) -> HashMap<&str, u32> {
        let mut crashes = HashMap::new();
        for game in self.stages.iter().flat_map(|stage| &stage.finished) {
            if let Some(name) = crashed(game) {
                *crashes.entry(name).or_default() += 1;
            }
        }
        crashes
    }
}

/// Who crashed in a game, if it ended so (rule 6.2).
fn crashed(game: &GameFinished) -> Option<&str> {
    let words = game.details.as_str();
    let is_crash = super::termination::named(Some(words)).is_some_and(|end| end.is_crash())
        || super::termination::named(game.termination.as_deref()).is_some_and(|end| end.is_crash());
    match game.result() {
        crate::game::end::GameResult::Win(winner) if is_crash => Some(game.name(!winner)),
        _ => None,
    }
}

fn not_open(id: &str) -> String {
    format!("the game {id} is not under way")
}
