//! An event from its first gate to its last game, and from wherever its journal ends.

mod admit;
mod annul;
pub(crate) mod books;
mod decide;
mod error;
mod play;
mod settle;
pub(crate) mod tables;
mod withdraw;

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::config::EventConfig;
use super::draw::{self, Drawn};
use super::endless::MOST_MORE_PAIRS;
use super::entrants::now;
use super::fix;
use super::format::{Due, Format, Next};
use super::gate::Watcher;
use super::history;
use super::journal::Journal;
use super::journal::record::{
    Bye, ChangedSettings, FrozenBook, GameStarted, JournalRecord, StageFinished, StageStarted,
};
use super::ledger::{Ledger, StageState};
use super::ratings::EventRatings;
use super::schedule::Seat;
use super::stage::{Ranking, Stage, StageFormat, Updates, playing};
use super::stage_table;
use super::standings::Standings;
use crate::engine::stop::{Stop, StopLevel};
use crate::model::entry_report::EntryReport;
use crate::model::text::shown;
use crate::model::units::Bytes;
use crate::model::words::{all, counted};
use crate::runner::events::Event;
use crate::runner::{self, Engine, EngineBounds};
pub(crate) use error::EventError;
use play::{Batch, NotStarted};

/// The end of a run of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventOutcome {
    /// The event is over.
    Over {
        /// The winner, or those that share the first place.
        winners: Vec<String>,
    },
    /// The run was asked to stop.
    Paused,
    /// Not every entry passed the gate.
    Refused {
        /// The paths of the entries that did not pass.
        entries: Vec<String>,
        /// The verdict on them.
        verdict: GateRefusal,
    },
    /// An engine did not start, and that may be the host's fault.
    NotStarted {
        game: String,
        /// The engine and the reason.
        why: String,
    },
    /// A stage is over, and engines may be updated before the next.
    MayUpdate {
        /// The next.
        stage: String,
    },
    /// A stage is over, and engines that crashed may be fixed before the next.
    MayFix {
        /// The next.
        stage: String,
        engines: Vec<String>,
    },
    /// A match that is played on is still level.
    StillLevel {
        stage: String,
        /// Pairs that were played on in this run.
        pairs: usize,
        /// The engines of each tie that the organisers may end.
        ties: Vec<Vec<String>>,
    },
    /// The organisers have to decide a tie.
    Tied {
        stage: String,
        /// The tied engines.
        engines: Vec<String>,
        /// The words of its tie-breaks for that.
        decide: &'static str,
    },
}

/// The gate's verdict on entries that do not pass it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GateRefusal {
    /// One at least is rejected.
    Rejected,
    /// None is more than undecided.
    Undecided,
}

/// The receiver of an event's news.
pub(crate) trait Audience {
    /// One line.
    fn say(&mut self, line: &str);
    /// This number of entries is judged now, by this number of workers; returns what observes these.
    fn gate_opens(&mut self, workers: usize, entries: usize) -> Watcher;
    /// Nobody waits for the gate any more.
    fn gate_closes(&mut self) {}
    /// An entry that does not play.
    fn refused(&mut self, report: &EntryReport);
    /// True if a table is worth making then.
    fn wants_table(&self, _moment: TableMoment) -> bool {
        false
    }
    /// An event of the games, when the journal has it, with the game that it is of.
    fn heard(&mut self, _event: &Event, _game: Option<&GameStarted>) {}
    /// The table and the ratings (rule 5.2).
    fn table(&mut self, _standings: &Standings, _ratings: &EventRatings) {}
}

/// The moments at which there is a new table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableMoment {
    /// A game has ended.
    Game,
    /// All games of a stage have.
    Stage,
}

/// Runs an event until it is over, or until something only people can decide.
///
/// # Errors
/// Says what keeps it from going on; the journal then holds all that happened.
pub(crate) fn run(
    config: &EventConfig,
    stop: &Stop,
    audience: &mut dyn Audience,
) -> Result<EventOutcome, EventError> {
    let mut conductor = Conductor::open(config, stop, audience)?;
    let _ = std::fs::remove_file(config.pause_marker());
    if conductor.ledger.is_over() {
        return Ok(EventOutcome::Over { winners: conductor.ledger.winners.clone() });
    }
    conductor.tables_are_there()?;
    conductor.books()?;
    conductor.history()?;
    let engines = match conductor.entrants()? {
        ControlFlow::Continue(engines) => engines,
        ControlFlow::Break(outcome) => return Ok(outcome),
    };
    conductor.chess960(&engines)?;
    for number in 0..config.stages.len() {
        let is_next = number > 0 && number == conductor.ledger.stages.len();
        if is_next && let Some(outcome) = conductor.pause_before(number)? {
            return Ok(outcome);
        }
        if let Some(outcome) = conductor.stage(number, &engines)? {
            return Ok(outcome);
        }
    }
    let last = conductor.ledger.stages.last().and_then(|stage| stage.outcome.as_ref());
    let winners = last.map(StageFinished::winners).unwrap_or_default();
    let mut rest = winners.iter().cloned();
    let winner = rest.next().unwrap_or_default();
    conductor.keep(JournalRecord::EventFinished { winner, shared: rest.collect() })?;
    Ok(EventOutcome::Over { winners })
}

/// A journal that is open for writing, with the state that it amounts to.
pub(crate) struct Conductor<'a> {
    config: &'a EventConfig,
    stop: &'a Stop,
    /// The receiver of the news.
    pub(crate) audience: &'a mut dyn Audience,
    journal: Journal,
    /// The event's state.
    pub(crate) ledger: Ledger,
}

impl<'a> Conductor<'a> {
    /// Opens an event's journal, or begins one.
    ///
    /// # Errors
    /// When it is in use, is damaged, or is another event's.
    pub(crate) fn open(
        config: &'a EventConfig,
        stop: &'a Stop,
        audience: &'a mut dyn Audience,
    ) -> Result<Conductor<'a>, EventError> {
        let mut ledger = Ledger::of(config);
        let (journal, torn) =
            Journal::open(&config.journal, &mut |_, record| ledger.apply(record))?;
        if let Some(torn) = torn {
            audience.say(&format!(
                "the last record of {} (line {}, byte {}) was torn and is cut off: {}",
                shown(&config.journal),
                torn.line,
                torn.offset,
                Bytes(torn.bytes)
            ));
        }
        let mut conductor = Conductor { config, stop, audience, journal, ledger };
        conductor.settings()?;
        if let Some(changed) = EventError::settings_changed(config, &conductor.ledger) {
            return Err(changed);
        }
        let header = conductor.ledger.header.as_ref();
        if let Some(header) = header.filter(|header| header.previous != config.previous) {
            return Err(EventError::PreviousChanged { names: config.changed_before(header) });
        }
        if conductor.ledger.stages.len() > config.stages.len() {
            return Err(EventError::State("it has more stages than the event".into()));
        }
        Ok(conductor)
    }

    /// Keeps the settings anew, where nothing was played yet and they differ in whom they admit alone.
    fn settings(&mut self) -> Result<(), EventError> {
        let Some(header) = self.ledger.header.as_ref() else { return Ok(()) };
        let is_new = header.settings_sha256 != self.config.sha256;
        let is_begun = !self.ledger.stages.is_empty();
        if !is_new || is_begun || !self.config.admits_otherwise(&header.settings) {
            return Ok(());
        }
        let may = if self.config.admit_undecided { "may play from now on" } else { "may not play" };
        self.audience.say(&format!(
            "{} changed before anything was played: an entry that cannot be decided here {may}",
            shown(&self.config.path)
        ));
        self.put(JournalRecord::Settings(ChangedSettings {
            settings: self.config.text.clone(),
            settings_sha256: self.config.sha256.clone(),
            at: now(),
        }))
    }

    /// Keeps a record; nothing that follows from it may happen before. The first one freezes the settings: an
    /// event in which nothing has happened yet can still be mended.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub(crate) fn keep(&mut self, record: JournalRecord) -> Result<(), EventError> {
        if self.ledger.header.is_none() {
            self.put(JournalRecord::Header(self.config.header()))?;
        }
        self.put(record)
    }

    fn put(&mut self, record: JournalRecord) -> Result<(), EventError> {
        self.journal.append(&record)?;
        self.ledger.apply(record).map_err(EventError::State)
    }

    /// Keeps the games before the event that its rating list counts, once.
    fn history(&mut self) -> Result<(), EventError> {
        let is_begun = self.ledger.history.is_some() || !self.ledger.stages.is_empty();
        if self.config.history.is_empty() || is_begun {
            return Ok(());
        }
        let (history, odd) = history::read(&self.config.history)?;
        odd.iter().for_each(|line| self.audience.say(line));
        let games: u64 = history.files.iter().map(|file| file.games).sum();
        let count = if games == 1 { "counts" } else { "count" };
        let games = counted(games, "game");
        self.audience.say(&format!("{games} before the event {count} for the ratings"));
        self.keep(JournalRecord::History(history))
    }

    /// Refuses engines that do not offer Chess960, where a stage to come plays it. Each is started for it.
    fn chess960(&self, engines: &[Arc<Engine>]) -> Result<(), EventError> {
        let over = self.ledger.stages_over();
        let mut to_come = self.config.stages.iter().skip(over);
        let Some(stage) = to_come.find(|stage| stage.variant.is_chess960()) else { return Ok(()) };
        match runner::without_chess960(engines, EngineBounds::default(), self.stop) {
            Some(why) => Err(EventError::NotNow(format!(
                "{why}, and cannot play {}, which is Chess960",
                stage.name
            ))),
            None => Ok(()),
        }
    }

    /// Plays a stage to its end; an outcome where the event cannot go on.
    fn stage(
        &mut self,
        number: usize,
        engines: &[Arc<Engine>],
    ) -> Result<Option<EventOutcome>, EventError> {
        let Some(stage) = self.config.stages.get(number) else { return Ok(None) };
        if self.ledger.stages.get(number).is_some_and(|state| state.outcome.is_some()) {
            return Ok(None);
        }
        let book = self.book(stage, number)?;
        if self.ledger.stages.len() == number {
            self.begin(stage, number, book.as_ref().map(|book| book.frozen(stage)))?;
        }
        let seats = self.ledger.stages[number].started.seats.clone();
        if seats.len() < 2 {
            return self.conclude_without_games(stage, number);
        }
        let mut going_on = HashMap::new();
        let beyond = |state: &StageState| stage.pairs_beyond(seats.len(), state.past());
        let level_before = beyond(&self.ledger.stages[number]);
        loop {
            self.settle(number, &mut going_on)?;
            let state = &self.ledger.stages[number];
            let due = match stage.next_with(state, &self.ledger.under_way(number)) {
                Next::Play(due) => due,
                Next::Bye(seat, round) => {
                    self.bye(stage, number, seat, round)?;
                    continue;
                }
                Next::Over(_) => match self.left_under_way(number) {
                    Some(error) => return Err(error),
                    None => break,
                },
            };
            let more = beyond(state).into_iter().map(|(game, pairs)| {
                pairs.saturating_sub(level_before.get(&game).copied().unwrap_or(0))
            });
            let beyond = more.max().unwrap_or(0);
            if beyond >= MOST_MORE_PAIRS {
                let ties = stage.endless(state);
                let why = format!("{} is still level", stage.name);
                self.keep(JournalRecord::Paused { why })?;
                let stage = stage.name.clone();
                return Ok(Some(EventOutcome::StillLevel { stage, pairs: beyond, ties }));
            }
            let planned = state.finished() + due.len();
            let batch = Batch { stage, number, seats: &seats, planned, book: book.as_ref() };
            let due = self.together(stage, due);
            let missing = self.play(&batch, &due, engines, &mut going_on)?;
            if let Some(NotStarted { game, why }) = missing {
                self.keep(JournalRecord::Paused { why: why.clone() })?;
                return Ok(Some(EventOutcome::NotStarted { game, why }));
            }
            // A stage whose last game has ended is over, also where a pause was asked for meanwhile.
            if self.stop.level() != StopLevel::GoOn && !self.is_played(stage, number) {
                return Ok(Some(self.stopped()?));
            }
        }
        self.conclude(stage, number)
    }

    /// True if nothing of a stage is due or under way.
    fn is_played(&self, stage: &Stage, number: usize) -> bool {
        let under_way = self.ledger.under_way(number);
        let next = stage.next_with(&self.ledger.stages[number], &under_way);
        under_way.is_empty() && matches!(next, Next::Over(_))
    }

    /// Keeps that the run was asked to stop.
    fn stopped(&mut self) -> Result<EventOutcome, EventError> {
        self.keep(JournalRecord::Paused { why: "it was asked to stop".into() })?;
        Ok(EventOutcome::Paused)
    }

    /// Pauses before a stage that is next: once where its engines may be updated, or fixed (rule 6.3 of the 4k rules), and
    /// where the run was asked to stop.
    fn pause_before(&mut self, number: usize) -> Result<Option<EventOutcome>, EventError> {
        let stage = self.config.stages[number].name.clone();
        let engines = fix::fixable_before(self.config, &self.ledger, number);
        let may_update = self.config.stages[number].updates == Updates::Allowed;
        let why = match may_update {
            true => format!("engines may be updated before {stage}"),
            false => format!("engines that crashed more than once may be fixed before {stage}"),
        };
        // A runner may have been ended right behind the end of the stage before.
        let has_paused = self.ledger.pauses.contains(&why);
        if !has_paused && (may_update || !engines.is_empty()) {
            self.keep(JournalRecord::Paused { why })?;
            return Ok(Some(match may_update {
                true => EventOutcome::MayUpdate { stage },
                false => EventOutcome::MayFix { stage, engines },
            }));
        }
        if self.stop.level() != StopLevel::GoOn {
            return self.stopped().map(Some);
        }
        Ok(None)
    }

    /// The error for a game that is under way where nothing of its stage is due: gate4k 0.2 struck out games on which such a
    /// one rested. A stage is not over as long as it is open.
    fn left_under_way(&self, number: usize) -> Option<EventError> {
        let id = &self.ledger.open_in(number).next()?.id;
        Some(EventError::NotNow(format!(
            "{id} is under way, and is not due since a game before it was struck out; `gate4k event annul` ends it"
        )))
    }

    /// Begins a stage with those whom its draw gives.
    fn begin(
        &mut self,
        stage: &Stage,
        number: usize,
        book: Option<FrozenBook>,
    ) -> Result<(), EventError> {
        let Drawn { seats, through, level } = draw::drawn(self.config, &self.ledger, number);
        let playing = seats.iter().filter(|name| !name.is_empty());
        let playing: Vec<&str> = playing.map(String::as_str).collect();
        let distinct: BTreeSet<&str> = playing.iter().copied().collect();
        if distinct.len() < playing.len() {
            return Err(EventError::NotNow(format!(
                "{} cannot begin: an engine comes to it by two ways; it would play {}",
                stage.name,
                playing.join(", ")
            )));
        }
        let name = stage.name.clone();
        self.audience.say(&match (&playing[..], &through[..]) {
            ([], through) => {
                format!("{name} is not needed: no place is tied for {}", all(through))
            }
            (_, []) => format!("{name} begins: {}", playing.join(", ")),
            (_, through) => format!(
                "{name} begins: {}; without it {} {}",
                playing.join(", "),
                all(through),
                if through.len() == 1 { "goes on" } else { "go on" }
            ),
        });
        let ratings = EventRatings::of(self.config, &self.ledger).entered();
        let stage = number;
        let started = StageStarted { stage, name, seats, through, level, ratings, book };
        self.keep(JournalRecord::StageStarted(started))
    }

    /// Ends a stage that fewer than two play; an outcome where a tie keeps it open.
    fn conclude_without_games(
        &mut self,
        stage: &Stage,
        number: usize,
    ) -> Result<Option<EventOutcome>, EventError> {
        let state = &self.ledger.stages[number];
        if let [alone] = &state.started.seats[..] {
            self.audience.say(&format!("{}: {alone} has nobody to play", stage.name));
        }
        let standings = stage.standings_of(state);
        let places = stage.places_without_games(&standings, state);
        if places.is_empty() {
            return Err(nobody(stage));
        }
        if let Some(tied) = self.left_open(stage, &standings, &places) {
            return Ok(Some(tied));
        }
        let promoted = playing(&standings, &places).concat();
        self.keep(JournalRecord::StageFinished(StageFinished::of(number, &places, promoted)))?;
        Ok(None)
    }

    /// Returns the due games to play before the format is asked again for due games. A bracket is played match by
    /// match, as many at a time as games can be.
    fn together(&self, stage: &Stage, due: Vec<Due>) -> Vec<Due> {
        let at_a_time = self.config.concurrency.get();
        if matches!(stage.format, StageFormat::Of(Format::Knockout(_))) {
            let matches: BTreeSet<u32> = due.iter().map(|due| due.at.round).collect();
            let last = matches.into_iter().take(at_a_time).next_back();
            return due.into_iter().filter(|due| Some(due.at.round) <= last).collect();
        }
        let limit = stage.crash_limit.map_or(due.len(), |_| at_a_time);
        due.into_iter().take(limit).collect()
    }

    /// Gives an engine a bye.
    fn bye(
        &mut self,
        stage: &Stage,
        number: usize,
        seat: Seat,
        round: u32,
    ) -> Result<(), EventError> {
        let StageFormat::Of(format) = &stage.format else { return Ok(()) };
        let engine = self.ledger.stages[number].started.seats.get(seat.0).cloned();
        let engine = engine
            .ok_or_else(|| EventError::State(format!("nobody has the bye of round {round}")))?;
        let wins = u32::try_from(format.games_each()).unwrap_or(u32::MAX);
        self.audience.say(&format!(
            "{} {round}: {engine} has a bye, {} without a game",
            stage.name,
            counted(wins as usize, "point")
        ));
        self.keep(JournalRecord::Bye(Bye { stage: number, round, engine, wins }))
    }

    fn show_table(&mut self, number: usize, moment: TableMoment) {
        if !self.audience.wants_table(moment) {
            return;
        }
        if let Some(standings) = stage_table::of(self.config, &self.ledger, number) {
            self.audience.table(&standings, &EventRatings::of(self.config, &self.ledger));
        }
    }

    /// The outcome where a tie keeps a stage open; it is told.
    fn left_open(
        &mut self,
        stage: &Stage,
        standings: &Standings,
        ranking: &Ranking,
    ) -> Option<EventOutcome> {
        let engines = stage.open_tie(standings, ranking)?;
        self.audience.say(&level(standings, &engines));
        let decide = stage.chain.organisers_decide();
        Some(EventOutcome::Tied { stage: stage.name.clone(), engines, decide })
    }

    /// Ranks a stage whose games are over; an outcome where a tie keeps it open.
    fn conclude(
        &mut self,
        stage: &Stage,
        number: usize,
    ) -> Result<Option<EventOutcome>, EventError> {
        self.show_table(number, TableMoment::Stage);
        let standings = stage.standings_of(&self.ledger.stages[number]);
        let ranking = stage.ranking(&standings, &self.ledger.stages[number]);
        if let Some(tied) = self.left_open(stage, &standings, &ranking) {
            return Ok(Some(tied));
        }
        let state = &self.ledger.stages[number];
        let promoted = stage.promoted(&standings, &ranking);
        if promoted.is_empty() && stage.promote > 0 {
            return Err(nobody(stage));
        }
        let beyond = stage.pairs_beyond(state.started.seats.len(), state.past());
        let beyond = match beyond.into_values().sum() {
            0 => String::new(),
            pairs => format!(" after {}", counted(pairs, "more pair")),
        };
        let outcome = StageFinished::of(number, &ranking, promoted);
        let then = outcome.in_words(self.config.behind(number));
        self.audience.say(&format!("{} is over{beyond}: {then}", stage.name));
        let engines = outcome.order.clone();
        self.keep(JournalRecord::StageFinished(outcome))?;
        self.tell_of_fixes(&engines);
        Ok(None)
    }
}

/// The error for a stage whose engines are all disqualified, so that the event cannot go on from it.
fn nobody(stage: &Stage) -> EventError {
    EventError::NotNow(format!(
        "{}: every engine is disqualified, and nobody is left to go on; `gate4k event annul` strikes out a game that should \
         not count",
        stage.name
    ))
}

/// Describes a tie that the organisers have to decide: every figure of the chain, the same for all tied engines.
fn level(standings: &Standings, tied: &[String]) -> String {
    let mut rows = standings.rows.iter().filter(|row| tied.contains(&row.engine.name));
    // Without a game here, they are level by the stage before.
    let Some(row) = rows.next() else { return format!("{} are level in everything", all(tied)) };
    if rows.any(|other| other.points != row.points || other.figures != row.figures) {
        // No tie-break was asked.
        return format!("{} share a place by their matches", all(tied));
    }
    let figures: Vec<String> = standings
        .chain
        .criteria
        .iter()
        .zip(&row.figures)
        .filter_map(|(criterion, figure)| Some(format!("{} {}", criterion.title(), (*figure)?)))
        .collect();
    let points = row.points;
    format!("{} are level: points {points}, {}", all(tied), figures.join(", "))
}
