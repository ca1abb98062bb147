//! Replays a journal and checks what can be checked: every move, clock, result, place and promotion.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use shakmaty::Position;
use shakmaty::uci::UciMove;

use super::config::EventConfig;
use super::draw;
use super::format::{Due, Next};
use super::journal::record::{
    Bye, GameFinished, GameStarted, JournalPly, JournalRecord, StageFinished, StageStarted,
    TieDecision, Withdrawn,
};
use super::journal::{self, JournalError};
use super::journal_games;
use super::ledger::{Ledger, StageState};
use super::ratings::EventRatings;
use super::stage::{Stage, StageFormat, Updates};
use super::withdraw;
use crate::game::clock::TimeControl;
use crate::game::end::Referee;
use crate::model::game::ending::Termination;
use crate::model::units::whole_micros;
use crate::model::words::counted;

/// The result of a verification.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verified {
    /// Records read.
    pub(crate) records: u64,
    /// Finished games.
    pub(crate) games: usize,
    /// Moves of engines.
    pub(crate) moves: usize,
    /// The faults, each with its line.
    pub(crate) wrong: Vec<String>,
}

/// A game as its records told it.
struct RecordedGame {
    started: GameStarted,
    plies: Vec<JournalPly>,
    /// The time that the clocks must show before the next move.
    clocks: [u64; 2],
}

const OTHER_FILE: &str = "the event file is not the one it was begun with";

/// Verifies an event's journal.
///
/// # Errors
/// When it cannot be read, is damaged, or its records cannot follow each other.
pub(crate) fn verify(config: &EventConfig) -> Result<Verified, JournalError> {
    let mut found = Verified::default();
    let mut ledger = Ledger::default();
    let mut open: BTreeMap<String, RecordedGame> = BTreeMap::new();
    let mut openings = Openings::new();
    let torn = journal::read(&config.journal, &mut |line, mut record| {
        found.records += 1;
        let mut check = RecordCheck {
            config,
            ledger: &ledger,
            openings: &mut openings,
            line,
            found: &mut found.wrong,
        };
        match &record {
            JournalRecord::Header(header) if !config.admits_otherwise(&header.settings) => {
                check.wrong(OTHER_FILE.into());
            }
            JournalRecord::Header(header) if header.previous != config.previous => {
                check.wrong(
                    "the journals of the events before are not those it was begun with".into(),
                );
            }
            JournalRecord::StageStarted(started) => {
                check.ratings(started);
                let drawn = draw::drawn(config, &ledger, started.stage);
                if (&drawn.seats, &drawn.through, &drawn.level)
                    != (&started.seats, &started.through, &started.level)
                {
                    check.wrong(format!(
                        "those who play in {} do not follow from the stages before",
                        started.name
                    ));
                }
            }
            JournalRecord::Bye(bye) => check.bye(bye),
            JournalRecord::GameStarted(started) => {
                let due = check.due(started);
                check.start(started, due);
                check.opening(started, due);
                let told = open.entry(started.id.clone()).or_insert_with(|| RecordedGame {
                    started: started.clone(),
                    plies: Vec::new(),
                    clocks: started.clocks,
                });
                told.clocks = started.clocks;
            }
            JournalRecord::Ply(ply) => {
                found.moves += 1;
                if let Some(told) = open.get_mut(&ply.id) {
                    check.clock(told, ply);
                    told.plies.push(ply.clone());
                }
            }
            JournalRecord::Interrupted(ruling) if ruling.begins_anew => {
                if let Some(told) = open.get_mut(&ruling.id) {
                    told.plies.clear();
                }
            }
            JournalRecord::GameFinished(game) => {
                found.games += 1;
                if let Some(told) = open.remove(&game.id) {
                    check.game(&told, game);
                }
            }
            JournalRecord::Annulled(annulled) => {
                open.remove(&annulled.id);
            }
            JournalRecord::Withdrawn(withdrawn) => {
                open.retain(|id, _| !withdrawn.broken_off.contains(id));
                check.withdrawal(withdrawn);
            }
            JournalRecord::Decision(decision) => check.decision(decision),
            JournalRecord::StageFinished(outcome) => check.stage(outcome),
            JournalRecord::Update(update) => {
                let stage = config.stages.get(update.stage);
                if stage.is_none_or(|stage| stage.updates == Updates::Forbidden) {
                    check.wrong(format!(
                        "{} was updated before a stage that forbids it",
                        update.entry
                    ));
                }
            }
            JournalRecord::EventFinished { winner, shared } => {
                let last = ledger.stages.last().and_then(|stage| stage.outcome.as_ref());
                let won = last.map(StageFinished::winners).unwrap_or_default();
                if !won.iter().eq(std::iter::once(winner).chain(shared)) {
                    check.wrong(format!("{winner} did not win the last stage"));
                }
            }
            _ => {}
        }
        if let JournalRecord::GameFinished(game) = &mut record
            && journal_games::opening(game.start.as_deref(), &game.moves).is_none()
        {
            // The fault is reported; the result counts all the same, so that the rest can be looked at.
            game.moves.clear();
        }
        ledger.apply(record)
    })?;
    if found.records == 0 {
        found.wrong.push("it has no record, so nothing is known of the event".into());
    }
    // Where no more than `admit-undecided` is other, the change is in the journal.
    let header = ledger.header.filter(|header| config.admits_otherwise(&header.settings));
    if header.is_some_and(|header| header.settings_sha256 != config.sha256) {
        found.wrong.push(format!("line 1: {OTHER_FILE}"));
    }
    if let Some(torn) = torn {
        found.wrong.push(format!("line {}: it is torn; the next run cuts it off", torn.line));
    }
    Ok(found)
}

/// The opening of each encounter of a stage, with the first game that had it: stage, double round robin, both engines.
type Openings = HashMap<(usize, u32, [usize; 2]), (String, String)>;

/// The checks of one record against all before it.
struct RecordCheck<'a> {
    config: &'a EventConfig,
    ledger: &'a Ledger,
    openings: &'a mut Openings,
    line: u64,
    found: &'a mut Vec<String>,
}

impl<'a> RecordCheck<'a> {
    /// A stage with what was played in it.
    fn stage_at(&self, number: usize) -> Option<(&'a Stage, &'a StageState)> {
        self.config.stages.get(number).zip(self.ledger.stages.get(number))
    }

    fn wrong(&mut self, what: String) {
        self.found.push(format!("line {}: {what}", self.line));
    }

    /// Checks that the entries enter a stage with the ratings that the list gives them, but for rounding.
    fn ratings(&mut self, started: &StageStarted) {
        let due = EventRatings::of(self.config, self.ledger).entered();
        let is_near = |name: &String| {
            let both = due.get(name).zip(started.ratings.get(name));
            both.is_some_and(|(due, told)| due.abs_diff(*told) <= 1)
        };
        if due.len() != started.ratings.len() || !due.keys().all(is_near) {
            self.wrong(format!(
                "the ratings at the beginning of {} are not the list's",
                started.name
            ));
        }
    }

    /// Checks that a withdrawal was allowed, and has the consequences that its stage's format gives it.
    fn withdrawal(&mut self, withdrawn: &Withdrawn) {
        let Withdrawn { engine, reason, at, .. } = withdrawn;
        match withdraw::withdrawal(self.config, self.ledger, engine) {
            Err(why) => self.wrong(format!("{engine} could not be withdrawn: {why}")),
            Ok(due) => {
                let due = Withdrawn { reason: reason.clone(), at: at.clone(), ..due };
                if due != *withdrawn {
                    self.wrong(format!(
                        "the withdrawal of {engine} has other consequences than it should"
                    ));
                }
            }
        }
    }

    /// Checks that a decision while games are still due is on a tie that was played on without an end.
    fn decision(&mut self, decision: &TieDecision) {
        let Some((stage, state)) = self.stage_at(decision.stage) else { return };
        let past = state.past_without(&state.disqualified(stage.crash_limit));
        if matches!(stage.next(state.started.seats.len(), &past), Next::Over(_)) {
            return;
        }
        let order: BTreeSet<&String> = decision.order.iter().collect();
        if !stage.endless(state).iter().any(|tied| tied.iter().collect::<BTreeSet<_>>() == order) {
            self.wrong(format!("{} was decided while its games were played", stage.name));
        }
    }

    /// Checks that a bye is the one that its round has.
    fn bye(&mut self, bye: &Bye) {
        let Some((stage, state)) = self.stage_at(bye.stage) else { return };
        let seats = &state.started.seats;
        let due = match stage.next(seats.len(), state.past()) {
            Next::Bye(seat, round) => seats.get(seat.0).map(|engine| (engine, round)),
            Next::Play(_) | Next::Over(_) => None,
        };
        let wins = matches!(&stage.format, StageFormat::Of(format) if format.games_each() == bye.wins as usize);
        if due != Some((&bye.engine, bye.round)) || !wins {
            self.wrong(format!("{} has a bye in round {} that was not due", bye.engine, bye.round));
        }
    }

    /// The game that the stage has at the place of one that begins.
    fn due(&self, started: &GameStarted) -> Option<Due> {
        let (stage, state) = self.stage_at(started.stage)?;
        stage.at(state.started.seats.len(), state.past(), started.place())
    }

    /// Checks that a game is the one that the schedule has at its place.
    fn start(&mut self, started: &GameStarted, due: Option<Due>) {
        let Some((stage, state)) = self.stage_at(started.stage) else { return };
        let id = self.config.game_id(stage, started.place(), &started.white, &started.black);
        if id != started.id {
            self.wrong(format!("the game {} should be called {id}", started.id));
        }
        let control = stage.control(started.place()).to_string();
        if control != started.time_control {
            self.wrong(format!(
                "{} is played at {}, and not at {control}",
                started.id, started.time_control
            ));
        }
        for name in [&started.white, &started.black] {
            if state.has_withdrawn(name) {
                self.wrong(format!("{} is played by {name}, which is withdrawn", started.id));
            }
        }
        let seats = &state.started.seats;
        let names = due.map(|pairing| {
            [seats.get(pairing.white.0).cloned(), seats.get(pairing.black.0).cloned()]
        });
        if names != Some([Some(started.white.clone()), Some(started.black.clone())]) {
            self.wrong(format!("{} is not the game that the schedule has there", started.id));
        }
        let sum =
            |name: &str| self.ledger.receipts.get(name).map(|receipt| receipt.frozen.file.as_str());
        let names = [&started.white, &started.black];
        for (name, played) in names.into_iter().zip(&started.sha256) {
            if sum(name) != Some(played) {
                self.wrong(format!(
                    "{name} played with the SHA-256 {played}, which is not its receipt's"
                ));
            }
        }
    }

    /// Checks that a game has the opening that was drawn for it, and the same as its reverse.
    fn opening(&mut self, started: &GameStarted, due: Option<Due>) {
        let (Some(pairing), Some(state)) = (due, self.ledger.stages.get(started.stage)) else {
            return;
        };
        let (id, opening) = (&started.id, &started.frozen_opening());
        if let Some(book) = &state.started.book {
            let drawn = pairing
                .opening
                .map_or(Some(""), |index| book.openings.get(index.0).map(String::as_str));
            // Beyond the openings of the match a tie is played on; that the file was the same is known by its sum.
            if drawn.is_some_and(|drawn| drawn != opening) {
                self.wrong(format!("{id} has not the opening that was drawn for it"));
            }
        }
        let mut seats = [pairing.white.0, pairing.black.0];
        seats.sort_unstable();
        let at = (started.stage, pairing.pair.0, seats);
        let (first, game) =
            self.openings.entry(at).or_insert_with(|| (opening.clone(), id.clone()));
        if first != opening {
            let what = format!("{id} and its reverse {game} have different openings");
            self.wrong(what);
        }
    }

    /// Checks that the clocks follow from the time that was used.
    fn clock(&mut self, told: &mut RecordedGame, ply: &JournalPly) {
        let Some(stage) = self.config.stages.get(told.started.stage) else { return };
        let control = stage.control(told.started.place());
        let TimeControl::Clock { increment, .. } = control else { return };
        let book = told.started.opening.split_whitespace().count();
        // A position of a book of Chess960 may be Black's.
        let first = told.started.start.as_deref().and_then(|fen| fen.split(' ').nth(1));
        let mover = (book + ply.number + usize::from(first == Some("b"))) % 2;
        let mut due = told.clocks;
        let increment = whole_micros(increment);
        due[mover] = due[mover].saturating_sub(ply.used).saturating_add(increment);
        // Durations are finer than what is recorded: each of both roundings may be one off.
        let off = due[mover]
            .abs_diff(ply.clocks[mover])
            .max(due[1 - mover].abs_diff(ply.clocks[1 - mover]));
        if off > 1 {
            self.wrong(format!(
                "after move {} of {} the clocks show {:?} and should show {due:?}",
                ply.number, ply.id, ply.clocks
            ));
        }
        told.clocks = ply.clocks;
    }

    /// Checks that a game's moves are legal and its result is what they, or its reason, say.
    fn game(&mut self, told: &RecordedGame, game: &GameFinished) {
        let id = &game.id;
        let mut due: Vec<&str> = told.started.opening.split_whitespace().collect();
        let book = due.len();
        due.extend(told.plies.iter().map(|ply| ply.uci.as_str()));
        let moves: Vec<&str> = game.moves.split_whitespace().collect();
        if due != moves || book != game.book {
            self.wrong(format!("the moves of {id} are not those that were told one by one"));
        }
        if told.started.start != game.start {
            self.wrong(format!("{id} ended from another start position than it began with"));
        }
        let Some(start) = journal_games::opening(game.start.as_deref(), "") else {
            self.wrong(format!("the start position of {id} is none"));
            return;
        };
        let mut referee = Referee::new(start.start(), self.config.material);
        let mut ending = None;
        for (number, word) in moves.iter().enumerate() {
            if ending.is_some() {
                self.wrong(format!("{id} goes on after its end at half-move {number}"));
                return;
            }
            let Some(one) = word.parse::<UciMove>().ok().and_then(|word| referee.find(word)) else {
                self.wrong(format!("half-move {number} of {id}, {word}, is not legal"));
                return;
            };
            ending = referee.play(one);
        }
        let recorded = game.ending();
        if recorded.details() != game.details
            || recorded.termination().map(str::to_owned) != game.termination
        {
            self.wrong(format!(
                "{id} ended by {:?}, and its words say {}",
                game.reason, game.details
            ));
        }
        match ending {
            Some(ending) if ending != recorded => self.wrong(format!(
                "{id} ended {} by {}, and is recorded as {} by {}",
                ending.result,
                ending.details(),
                recorded.result,
                recorded.details()
            )),
            None if game.reason.is_on_the_board() => {
                self.wrong(format!(
                    "{id} had not ended on the board, and is recorded as {}",
                    game.details
                ));
            }
            None => {
                // The side that forfeits is the side to move.
                let forfeits = matches!(
                    game.reason,
                    Termination::Time { .. }
                        | Termination::IllegalMove(_)
                        | Termination::Resignation
                        | Termination::Stall { .. }
                );
                if forfeits && recorded.loser() != Some(referee.position().turn()) {
                    self.wrong(format!("{id} was lost by the side that was not to move"));
                }
                if let (Termination::Time { .. } | Termination::Stall { .. }, Some([waited, left])) =
                    (&game.reason, game.unanswered)
                    && waited <= left
                {
                    self.wrong(format!("{id} was lost for want of a move with time left"));
                }
            }
            Some(_) => {}
        }
    }

    /// Checks that a stage's games were all played and its order follows from them.
    fn stage(&mut self, outcome: &StageFinished) {
        let Some((stage, state)) = self.stage_at(outcome.stage) else { return };
        let standings = stage.standings(&state.field(stage.crash_limit));
        let ranking = stage.ranking(&standings, state);
        let seats = &state.started.seats;
        if seats.len() < 2 {
            // All others were disqualified before it, or no place was tied.
            let mut due = [&state.started.through[..], seats].concat();
            if !state.started.level.is_empty() && stage.open_tie(&standings, &ranking).is_none() {
                due = ranking.concat();
            }
            if outcome.order != due || outcome.promoted != due {
                self.wrong(format!("{} was won by somebody who was not in it", stage.name));
            }
            return;
        }
        let due = StageFinished::of(outcome.stage, &ranking, outcome.promoted.clone());
        // Journals before 0.2 tell no shared places.
        let shares = outcome.shared.is_empty() || outcome.shared == due.shared;
        let is_open = stage.open_tie(&standings, &ranking).is_some();
        if outcome.order != due.order || !shares || is_open {
            self.wrong(format!("the order of {} does not follow from its games", stage.name));
        }
        if stage.promoted(&standings, &ranking) != outcome.promoted {
            self.wrong(format!("{} promotes others than its first", stage.name));
        }
        if stage.crash_limit.is_some() {
            return;
        }
        match stage.next(seats.len(), state.past()) {
            Next::Play(due) => {
                let left = counted(due.len(), "game");
                self.wrong(format!("{} was ended with {left} to play", stage.name));
            }
            Next::Bye(_, round) => {
                self.wrong(format!("{} was ended before its round {round}", stage.name));
            }
            Next::Over(_) => {}
        }
    }
}
