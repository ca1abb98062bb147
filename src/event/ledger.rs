//! The event's state, made by nothing but the records of a journal.
//!
//! Each record is counted once, when it comes: of a game that has ended only its result and its figures stay,
//! so that a table after each game costs no look back at the moves of all the others.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;

use shakmaty::Color;

use super::config::EventConfig;
use super::field::{self, EventGame, Field, FieldBuilder, Removal};
use super::format::{Format, PlayedPairing, StageHistory};
use super::journal::record::{
    AfterAnnulment, Annulled, Bye, ChangedSettings, Fix, GameFinished, GameStarted, GateReceipt,
    History, Interrupted, JournalHeader, JournalPly, JournalRecord, StageFinished, StageStarted,
    TieDecision, Update, Withdrawn,
};
use super::journal_games;
use super::schedule::Seat;
use super::stage::{Stage, StageFormat};
use crate::model::game::listed::{ListedPlayer, RoundGame};
use crate::model::game::result::GameResult;

/// An event's state.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The stages as the event's file has them.
    plan: Arc<[Stage]>,
    /// The journal's first record.
    pub(crate) header: Option<JournalHeader>,
    /// The latest receipt of each entry.
    pub(crate) receipts: BTreeMap<String, GateReceipt>,
    /// The games before the event that its rating list counts.
    pub(crate) history: Option<History>,
    /// The stages that have begun.
    pub stages: Vec<StageState>,
    /// Games that have begun and not ended, by id.
    pub(crate) open: BTreeMap<String, OpenGame>,
    /// Games that were struck out.
    pub annulled: Vec<Annulled>,
    /// Engines that were withdrawn, in that order.
    pub withdrawn: Vec<Withdrawn>,
    /// Crash fixes.
    pub(crate) fixes: Vec<Fix>,
    /// Updates between stages.
    pub(crate) updates: Vec<Update>,
    /// The engines that were fixed, updated or withdrawn since the last stage ended.
    pub(crate) changed: BTreeSet<String>,
    /// The winner, once the event is over; several where they share the first place.
    pub(crate) winners: Vec<String>,
    /// The reason for the last stop, if it has not gone on since.
    pub(crate) paused: Option<String>,
    /// The reasons for all stops since the last stage ended.
    pub(crate) pauses: BTreeSet<String>,
    /// The number of interruptions that were decided.
    pub(crate) interruptions: usize,
    /// Breaches of the rules by engines in games, in words, in that order.
    pub(crate) incidents: Vec<String>,
}

/// A stage that has begun.
#[derive(Clone, Debug)]
pub struct StageState {
    /// Its draw.
    pub started: StageStarted,
    /// Its games that have ended, as standings count them.
    games: FieldBuilder,
    /// The same as formats see them.
    past: StageHistory,
    /// The engines that were withdrawn from it.
    withdrawn: Vec<(String, field::WithdrawnGames)>,
    /// The engines that would go on from it without a game, and were withdrawn while it was played.
    pub(super) gone: Vec<String>,
    /// Ties that were decided.
    pub(crate) decisions: Vec<TieDecision>,
    /// Its outcome.
    pub(crate) outcome: Option<StageFinished>,
}

impl StageState {
    /// A stage before its first game.
    pub(crate) fn new(started: StageStarted) -> StageState {
        let mut past = StageHistory { taken: started.through.len(), ..StageHistory::default() };
        // An engine that has not played yet has a row in the standings all the same.
        let mut games = FieldBuilder::default();
        for name in started.playing() {
            games.enter(&started.player(name));
        }
        // Who meets a place that nobody has has won: it is a seat that left before its first game.
        let vacant = started.seats.iter().enumerate().filter(|(_, name)| name.is_empty());
        past.out.extend(vacant.map(|(seat, _)| (Seat(seat), 0)));
        StageState {
            started,
            games,
            past,
            withdrawn: Vec::new(),
            gone: Vec::new(),
            decisions: Vec::new(),
            outcome: None,
        }
    }

    /// Counts a game of `event` that has ended.
    ///
    /// # Errors
    /// When its moves are not legal, or another game has ended in its place.
    pub(crate) fn add(&mut self, event: &str, game: &GameFinished) -> Result<(), String> {
        let listed = journal_games::listed(event, &self.started, game)
            .ok_or_else(|| format!("the moves of {} are not legal", game.id))?;
        let result = listed.record.ending.result;
        if self.took_place(game.place(), &game.white, &game.black, result) {
            return Err(format!("{} ends where another game has ended", game.id));
        }
        self.games.add(&listed, 0);
        Ok(())
    }

    /// Gives an engine a bye.
    fn bye(&mut self, bye: &Bye) -> Result<(), String> {
        if !self.past.byes.insert((self.seat(&bye.engine), bye.round)) {
            return Err(format!("{} has a second bye in round {}", bye.engine, bye.round));
        }
        self.games.add_bye(&self.started.player(&bye.engine), bye.round, bye.wins);
        Ok(())
    }

    /// Ends a tie by a decision: on places, or on games that are played on without an end, which their format counts.
    fn decide(&mut self, stage: Option<&Stage>, decision: TieDecision) {
        if stage.is_none_or(|stage| !stage.is_played(self)) {
            let order = decision.order.iter().map(|name| self.seat(name)).collect();
            self.past.decided.push(order);
        }
        self.decisions.push(decision);
    }

    /// Forgets the decisions that rest on the game of a place: those on places, and that on the match of the two that
    /// played it. In a playoff all engines of a go play for the same spots.
    fn forget_decisions(&mut self, stage: Option<&Stage>, at: RoundGame) {
        self.decisions.clear();
        if matches!(stage, Some(Stage { format: StageFormat::Of(Format::Playoff(_)), .. })) {
            self.past.decided.clear();
        } else if let Some(game) = self.past.games.get(&at) {
            let both = [game.white, game.black];
            self.past.decided.retain(|order| !both.iter().all(|seat| order.contains(seat)));
        }
    }

    /// Gives a place its result; whether it had one.
    fn took_place(&mut self, at: RoundGame, white: &str, black: &str, result: GameResult) -> bool {
        let (white, black) = (self.seat(white), self.seat(black));
        self.past.games.insert(at, PlayedPairing { at, white, black, result }).is_some()
    }

    /// The seat of an engine; one that nobody has for an engine that does not play here.
    fn seat(&self, name: &str) -> Seat {
        let seats = &self.started.seats;
        Seat(seats.iter().position(|seat| seat == name).unwrap_or(usize::MAX))
    }

    /// Strikes out the game of a place; false where there was none.
    fn strike(&mut self, at: RoundGame, then: AfterAnnulment) -> bool {
        match then {
            // A place with a result that is none: nothing is due there, and it counts for nothing.
            AfterAnnulment::Nothing => {
                self.games.annul(at);
                let game = self.past.games.get_mut(&at);
                game.map(|game| game.result = GameResult::Unfinished).is_some()
            }
            AfterAnnulment::PlayedAgain => {
                self.games.remove(at);
                self.past.games.remove(&at).is_some()
            }
        }
    }

    /// Takes out an engine, and scores the games that it leaves unplayed in the open round of a Swiss for its opponent.
    fn withdraw(&mut self, withdrawn: &Withdrawn) -> Result<(), String> {
        let Withdrawn { engine, round, played, .. } = withdrawn;
        let seat = self.seat(engine);
        self.past.out.push((seat, *round));
        // It is in none of these rounds, and another engine may have their byes.
        self.past.byes.retain(|(bye, of)| *bye != seat || of < round);
        self.games.remove_byes_of(engine, *round);
        self.withdrawn.push((engine.clone(), *played));
        for one in &withdrawn.walkovers {
            let winner = if one.white == *engine { Color::Black } else { Color::White };
            let result = GameResult::Win(winner);
            if self.took_place(one.place(), &one.white, &one.black, result) {
                return Err(format!("the game {} is given away after its end", one.place()));
            }
            self.past.walkovers.insert(one.place());
        }
        if let Some(bye) = withdrawn.walkover() {
            self.games.add_bye(&self.started.player(&bye.engine), bye.round, bye.wins);
        }
        Ok(())
    }

    /// True if an engine was withdrawn from it.
    pub(crate) fn has_withdrawn(&self, name: &str) -> bool {
        self.withdrawn.iter().any(|(engine, _)| engine == name)
    }

    /// The engine in the game of a place that has been withdrawn since.
    pub(crate) fn withdrawn_from(&self, at: RoundGame) -> Option<&str> {
        let game = self.past.games.get(&at)?;
        let mut both = [game.white, game.black].into_iter();
        let name = both.find_map(|seat| {
            self.started.seats.get(seat.0).filter(|name| self.has_withdrawn(name))
        })?;
        Some(name)
    }

    /// Its games and byes by place; a game that was annulled has no result that counts.
    pub(crate) fn past(&self) -> &StageHistory {
        &self.past
    }

    /// Returns the same without more engines that play no more.
    pub(crate) fn past_without(&self, out: &BTreeSet<String>) -> StageHistory {
        let mut past = self.past.clone();
        past.out.extend(out.iter().map(|name| (self.seat(name), 0)));
        past
    }

    /// Returns the engines that are disqualified by season 17's crash rule, where there is a limit.
    pub fn disqualified(&self, crash_limit: Option<NonZeroU32>) -> BTreeSet<String> {
        if crash_limit.is_none() {
            return BTreeSet::new();
        }
        let field = self.field(crash_limit);
        let out = field.indices().filter(|one| field.removal(*one) == Some(Removal::Disqualified));
        out.map(|engine| field.engine(engine).name.clone()).collect()
    }

    /// The number of its games that have ended.
    pub(crate) fn finished(&self) -> usize {
        self.games.len()
    }

    /// Its games in the order in which they ended, with the engines, White's first.
    pub(crate) fn games(&self) -> impl Iterator<Item = ([&ListedPlayer; 2], &EventGame)> {
        self.games.games()
    }

    /// Its games as standings count them, by season 17's crash rule where there is a limit.
    pub fn field(&self, crash_limit: Option<NonZeroU32>) -> Field {
        let mut field = self.games.clone().finish();
        for (engine, played) in &self.withdrawn {
            field.withdraw(engine, *played);
        }
        if let Some(limit) = crash_limit {
            field.disqualify_after(limit.get());
        }
        field
    }
}

/// A game that has begun and not ended.
#[derive(Clone, Debug)]
pub(crate) struct OpenGame {
    /// The record of its beginning, or of the last time that it went on.
    pub(crate) started: GameStarted,
    /// The moves that engines made, of all attempts since it began, or began anew.
    pub(crate) plies: Vec<JournalPly>,
    /// The number of them that were made before it last went on.
    pub(crate) before: usize,
    /// The last decision on it.
    pub(crate) interrupted: Option<Interrupted>,
}

impl OpenGame {
    /// Adds the next move.
    fn add(&mut self, ply: JournalPly) -> Result<(), String> {
        let due = self.plies.len();
        if ply.number != due {
            return Err(format!("move {} of {} where {due} is due", ply.number, ply.id));
        }
        self.plies.push(ply);
        Ok(())
    }

    /// Takes in a decision on an interruption, by which the game may begin anew.
    fn interrupt(&mut self, decision: Interrupted) {
        if decision.begins_anew {
            self.plies.clear();
        }
        self.interrupted = Some(decision);
    }
}

impl Ledger {
    /// The state of an event before its first record.
    pub(crate) fn of(config: &EventConfig) -> Ledger {
        Ledger { plan: config.stages.clone().into(), ..Ledger::default() }
    }

    /// Takes in the next record.
    ///
    /// # Errors
    /// Says why it cannot follow those before it.
    pub fn apply(&mut self, record: JournalRecord) -> Result<(), String> {
        match record {
            JournalRecord::Header(header) => {
                if self.header.is_some() {
                    return Err("a second header".into());
                }
                self.header = Some(header);
            }
            JournalRecord::Settings(changed) => self.change_settings(changed)?,
            JournalRecord::Receipt(receipt) => {
                let entry = receipt.entry.clone();
                if self.receipts.insert(entry.clone(), receipt).is_some() {
                    return Err(format!("a second receipt of {entry}"));
                }
            }
            JournalRecord::History(history) => {
                if self.history.is_some() || !self.stages.is_empty() {
                    return Err("a history after the event has begun".into());
                }
                self.history = Some(history);
            }
            JournalRecord::StageStarted(started) => self.stage_started(started)?,
            JournalRecord::GameStarted(started) => self.game_started(started)?,
            JournalRecord::Bye(bye) => self.stage(bye.stage)?.bye(&bye)?,
            JournalRecord::Ply(ply) => self.open_game(&ply.id)?.add(ply)?,
            JournalRecord::Interrupted(decision) => {
                self.interruptions += 1;
                self.open_game(&decision.id)?.interrupt(decision);
            }
            JournalRecord::GameFinished(finished) => self.game_finished(finished)?,
            JournalRecord::Annulled(annulled) => self.annul(annulled)?,
            JournalRecord::Withdrawn(withdrawn) => self.withdraw(withdrawn)?,
            JournalRecord::Decision(decision) => {
                self.paused = None;
                let plan = Arc::clone(&self.plan);
                self.stage(decision.stage)?.decide(plan.get(decision.stage), decision);
            }
            JournalRecord::StageFinished(outcome) => {
                let stage = self.stage(outcome.stage)?;
                if stage.outcome.is_some() {
                    return Err("the stage is over already".into());
                }
                stage.outcome = Some(outcome);
                self.changed.clear();
                self.pauses.clear();
            }
            JournalRecord::Fix(fix) => {
                self.receipts.insert(fix.entry.clone(), fix.receipt.clone());
                self.changed.insert(fix.entry.clone());
                self.fixes.push(fix);
            }
            JournalRecord::Update(update) => {
                if update.stage != self.stages.len() {
                    return Err(format!("{} is updated within a stage", update.entry));
                }
                self.receipts.insert(update.entry.clone(), update.receipt.clone());
                self.changed.insert(update.entry.clone());
                self.updates.push(update);
            }
            JournalRecord::Paused { why } => {
                self.pauses.insert(why.clone());
                self.paused = Some(why);
            }
            JournalRecord::EventFinished { winner, shared } => {
                self.winners = std::iter::once(winner).chain(shared).collect();
            }
            JournalRecord::Note { text, rule: Some(_) } => self.incidents.push(text),
            JournalRecord::EngineKilled(_) | JournalRecord::Note { rule: None, .. } => {}
        }
        Ok(())
    }

    fn stage(&mut self, number: usize) -> Result<&mut StageState, String> {
        self.stages.get_mut(number).ok_or_else(|| format!("stage {number} has not begun"))
    }

    /// The game under way that has this id.
    fn open_game(&mut self, id: &str) -> Result<&mut OpenGame, String> {
        self.open.get_mut(id).ok_or_else(|| not_open(id))
    }

    /// Takes the settings of an event that has not begun as they are now.
    fn change_settings(&mut self, changed: ChangedSettings) -> Result<(), String> {
        let header = self.header.as_mut().filter(|_| self.stages.is_empty());
        let header = header.ok_or("settings that change after the event has begun")?;
        header.settings = changed.settings;
        header.settings_sha256 = changed.settings_sha256;
        Ok(())
    }

    fn stage_started(&mut self, started: StageStarted) -> Result<(), String> {
        if started.stage != self.stages.len() {
            return Err(format!("stage {} where {} is due", started.stage, self.stages.len()));
        }
        self.stages.push(StageState::new(started));
        Ok(())
    }

    fn game_started(&mut self, started: GameStarted) -> Result<(), String> {
        self.paused = None;
        if self.stage(started.stage)?.past.games.contains_key(&started.place()) {
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
        let event = self.header.as_ref().map(|header| header.event.clone()).unwrap_or_default();
        self.stage(finished.stage)?.add(&event, &finished)
    }

    fn annul(&mut self, annulled: Annulled) -> Result<(), String> {
        self.reopen(annulled.stage).map_err(|why| format!("{}: {why}", annulled.id))?;
        // The reason may have rested on its result.
        self.paused = None;
        let open = self.open.remove(&annulled.id);
        let plan = Arc::clone(&self.plan);
        let stage = self.stage(annulled.stage)?;
        if let (Some(game), AfterAnnulment::Nothing) = (&open, annulled.then) {
            let GameStarted { white, black, .. } = &game.started;
            stage.took_place(annulled.place(), white, black, GameResult::Unfinished);
        }
        stage.forget_decisions(plan.get(annulled.stage), annulled.place());
        // The byes of later rounds followed from its result, and no game of these has begun.
        let round = annulled.place().round;
        stage.past.byes.retain(|(_, of)| *of <= round);
        stage.games.remove_byes_after(round);
        if !stage.strike(annulled.place(), annulled.then) && open.is_none() {
            return Err(format!("{} is annulled and was never played", annulled.id));
        }
        self.annulled.push(annulled);
        Ok(())
    }

    fn withdraw(&mut self, withdrawn: Withdrawn) -> Result<(), String> {
        let engine = &withdrawn.engine;
        if self.withdrawal(engine).is_some() {
            return Err(format!("{engine} is withdrawn twice"));
        }
        for id in &withdrawn.broken_off {
            self.open.remove(id).ok_or_else(|| not_open(id))?;
        }
        if let Some(stage) = self.stages.get_mut(withdrawn.stage) {
            if stage.outcome.is_some() {
                return Err(format!("{engine} is withdrawn from a stage that is over"));
            }
            stage.withdraw(&withdrawn)?;
        } else if let Some(last) = self.stages.last_mut().filter(|last| last.outcome.is_none())
            && last.started.through.contains(engine)
        {
            last.gone.push(engine.clone());
        }
        self.changed.insert(withdrawn.engine.clone());
        self.withdrawn.push(withdrawn);
        Ok(())
    }

    /// Opens a stage again whose outcome may change: the last one, as long as nothing has followed from it. Returns true if
    /// it was over.
    ///
    /// # Errors
    /// Says what has followed.
    pub(crate) fn reopen(&mut self, number: usize) -> Result<bool, String> {
        if let Some(why) = self.keeps_closed(number) {
            return Err(why);
        }
        self.winners.clear();
        let stage = self.stage(number)?;
        Ok(stage.outcome.take().is_some())
    }

    /// The reason why the outcome of a stage stands; none where it may change.
    pub(crate) fn keeps_closed(&self, number: usize) -> Option<String> {
        let state = self.stages.get(number).filter(|state| state.outcome.is_some())?;
        let name = &state.started.name;
        if let Some(next) = self.stages.get(number + 1) {
            return Some(format!(
                "{name} is over, and {} has begun; a game can be annulled or played again until then",
                next.started.name
            ));
        }
        let changed = state.started.seats.iter().find(|name| self.changed.contains(*name))?;
        Some(format!(
            "{name} is over, and since then {changed} was updated, fixed or withdrawn; a game can be annulled or played \
             again until then"
        ))
    }

    /// The games of a stage that are under way.
    pub(crate) fn open_in(&self, stage: usize) -> impl Iterator<Item = &GameStarted> {
        self.open.values().map(|game| &game.started).filter(move |game| game.stage == stage)
    }

    /// The places of these.
    pub(crate) fn under_way(&self, stage: usize) -> BTreeSet<RoundGame> {
        self.open_in(stage).map(GameStarted::place).collect()
    }

    /// A stage that is over, with its outcome.
    pub(crate) fn over(&self, number: usize) -> Option<(&StageState, &StageFinished)> {
        let state = self.stages.get(number)?;
        Some((state, state.outcome.as_ref()?))
    }

    /// The stages that are over.
    pub(crate) fn stages_over(&self) -> usize {
        self.stages.iter().filter(|stage| stage.outcome.is_some()).count()
    }

    /// True if the event has ended.
    pub(crate) fn is_over(&self) -> bool {
        !self.winners.is_empty()
    }

    /// The withdrawal of an engine; none of one that plays.
    pub fn withdrawal(&self, engine: &str) -> Option<&Withdrawn> {
        self.withdrawn.iter().find(|one| one.engine == engine)
    }

    /// The games of a stage that were struck out and the engines that were withdrawn in it, in words.
    pub(crate) fn annulled_in(&self, stage: usize) -> Vec<String> {
        let annulled = self.annulled.iter().filter(|one| one.stage == stage);
        let withdrawn = self.withdrawn.iter().filter(|one| one.stage == stage);
        annulled.map(Annulled::in_words).chain(withdrawn.map(Withdrawn::in_words)).collect()
    }

    /// The number of times that each entry crashed, over all stages (rule 6.2), by name.
    pub(crate) fn crashes(&self) -> BTreeMap<&str, u32> {
        let mut crashes = BTreeMap::new();
        for ([white, black], game) in self.stages.iter().flat_map(StageState::games) {
            if let Some(side) = game.crashed {
                let name = side.fold_wb(&white.name, &black.name).as_str();
                *crashes.entry(name).or_default() += 1;
            }
        }
        crashes
    }
}

fn not_open(id: &str) -> String {
    format!("the game {id} is not under way")
}

#[cfg(test)]
mod tests;
