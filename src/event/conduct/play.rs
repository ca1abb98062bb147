//! The games of a stage: from the schedule to the runner, and from its events to the journal.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::books::StageBook;
use super::{Conductor, EventError, TableMoment};
use crate::engine::stop::{Stop, StopLevel};
use crate::event::entrants::now;
use crate::event::format::Due;
use crate::event::journal::record::{EngineKilled, GameStarted, JournalRecord};
use crate::event::recorder::{clocks, finished, ply, uci};
use crate::event::stage::Stage;
use crate::event::terms::AskTables;
use crate::game::clock::Patience;
use crate::game::pgn;
use crate::game::play::GameSettings;
use crate::model::game::ending::Termination;
use crate::model::game::opening::Opening;
use crate::model::game::record::Resume;
use crate::model::game::result::GameResult;
use crate::model::units::whole_micros;
use crate::model::words::counted;
use crate::runner::events::{Event, Finished, MovePlayed, not_offered};
use crate::runner::{
    self, Affinity, Engine, EngineBounds, Match, MatchGames, Missing, Restart, WantedGame, schedule,
};

/// A referee that did not run for so long has not heard its engines: the games under way are cases of rule 6.1.
const STANDSTILL: Duration = Duration::from_secs(1);

/// The stage and its data, shared by games that are played together.
pub(super) struct Batch<'a> {
    pub(super) stage: &'a Stage,
    pub(super) number: usize,
    pub(super) seats: &'a [String],
    /// The games of the stage as far as they are planned.
    pub(super) planned: usize,
    pub(super) book: Option<&'a StageBook>,
}

/// A game that goes on after an interruption.
pub(super) struct ContinuedGame {
    pub(super) opening: Opening,
    pub(super) resume: Resume,
    /// The time that it was played before.
    pub(super) before: Duration,
}

/// A game that is about to begin or go on.
struct Upcoming {
    started: GameStarted,
    before: Duration,
}

/// The games of a batch as they go.
struct Hearing<'a> {
    batch: &'a Batch<'a>,
    upcoming: &'a [Upcoming],
    names: &'a [String],
    /// Ends this batch; the event's own stop does too.
    stop: &'a Stop,
    done: usize,
    lasted: Duration,
    /// The first game whose engine did not start.
    missing: Option<NotStarted>,
}

/// A game that cannot be played, since an engine does not start.
pub(super) struct NotStarted {
    pub(super) game: String,
    pub(super) why: String,
}

impl Conductor<'_> {
    pub(super) fn play(
        &mut self,
        batch: &Batch<'_>,
        due: &[Due],
        engines: &[Arc<Engine>],
        going_on: &mut HashMap<String, ContinuedGame>,
    ) -> Result<Option<NotStarted>, EventError> {
        let mut list = Vec::new();
        let mut upcoming = Vec::new();
        for pairing in due {
            let (given, game) = self.prepare(batch, pairing, list.len(), engines, going_on)?;
            list.push(given);
            upcoming.push(game);
        }
        let config = self.config;
        let terms = batch.stage.terms;
        // All games of a batch have one clock: a further part of a match is due when all before it is played.
        let control = due.first().map_or(terms.control, |due| batch.stage.control(due.at));
        let tables = match terms.tables {
            AskTables::All => self.tables()?,
            AskTables::Interrupted => None,
        };
        let at = |engine: &Arc<Engine>| match engine.control == control {
            true => Arc::clone(engine),
            false => Arc::new(engine.at(control)),
        };
        let engines: Vec<Arc<Engine>> = engines.iter().map(at).collect();
        let game = Match {
            engines: engines.clone(),
            games: MatchGames::Given(list),
            settings: GameSettings {
                patience: Patience { margin: config.margin, ..Patience::default() },
                material: config.material,
                rules: terms.rules,
                tables,
                keep_pv: true,
                keep_comments: false,
            },
            bounds: EngineBounds { missing: Missing::BreaksOff, ..EngineBounds::default() },
            concurrency: config.concurrency,
            affinity: Affinity::Auto,
            first_core: 0,
            restart: Restart::Needed,
            tell_moves: true,
            standstill: Some(STANDSTILL),
            wait: Duration::ZERO,
            dialogue: None,
        };
        let names: Vec<String> = engines.iter().map(|engine| engine.name.clone()).collect();
        let stop = self.stop;
        let mut hearing = Hearing {
            batch,
            upcoming: &upcoming,
            names: &names,
            stop,
            done: 0,
            lasted: Duration::ZERO,
            missing: None,
        };
        let mut failed = None;
        runner::run(&game, stop, |event| {
            if failed.is_some() {
                return;
            }
            if let Err(error) = self.hear(&event, &mut hearing) {
                // A game that cannot be recorded is not played on.
                stop.raise(StopLevel::Now);
                failed = Some(error);
                return;
            }
            let game = event.game().and_then(|game| upcoming.get(game));
            self.audience.heard(&event, game.map(|game| &game.started));
        })?;
        failed.map_or(Ok(hearing.missing), Err)
    }

    /// A pairing of the schedule as the runner wants it, and as the journal will have it.
    fn prepare(
        &self,
        batch: &Batch<'_>,
        pairing: &Due,
        place: usize,
        engines: &[Arc<Engine>],
        going_on: &mut HashMap<String, ContinuedGame>,
    ) -> Result<(WantedGame, Upcoming), EventError> {
        let find = |seat: usize| {
            let name = batch.seats.get(seat)?;
            engines.iter().position(|engine| engine.name == *name)
        };
        let (Some(white), Some(black)) = (find(pairing.white.0), find(pairing.black.0)) else {
            let what = format!("a seat of {} is not an entry of the event", batch.stage.name);
            return Err(EventError::State(what));
        };
        let both = [&engines[white], &engines[black]];
        let names = both.map(|engine| engine.name.clone());
        let id = self.config.game_id(batch.stage, pairing.at, &names[0], &names[1]);
        let known = self.ledger.open.get(&id).map(|game| &game.started);
        let attempt = known.map_or(1, |started| started.attempt + 1);
        let (opening, resume, before) = match going_on.remove(&id) {
            Some(game) => {
                let names = known.and_then(|started| started.opening_names.clone());
                (game.opening.named(names), Some(game.resume), game.before)
            }
            None => {
                let seats = batch.seats.len();
                let own = batch.book.map(|book| book.opening(batch.stage, seats, pairing));
                (own.unwrap_or_default(), None, Duration::ZERO)
            }
        };
        let control = batch.stage.control(pairing.at);
        let base = control.base().map_or(0, whole_micros);
        let sum = |name: &String| {
            let receipt = self.ledger.receipts.get(name);
            receipt.map(|receipt| receipt.frozen.file.clone()).unwrap_or_default()
        };
        let started = GameStarted {
            id,
            stage: batch.number,
            round: pairing.at.round,
            game: pairing.at.game,
            attempt,
            start: opening.fen(),
            opening: uci(opening.moves(), opening.castling()),
            opening_names: opening.names().cloned(),
            time_control: control.to_string(),
            sha256: [sum(&names[0]), sum(&names[1])],
            options: both.map(|engine| engine.options_line()),
            clocks: resume.as_ref().map_or([base, base], |resume| clocks(resume.clocks)),
            white: names[0].clone(),
            black: names[1].clone(),
            at: String::new(),
        };
        let pairing = schedule::ScheduledGame {
            game: place,
            round: pairing.at.round as usize,
            in_round: pairing.at.game as usize,
            white,
            black,
            couple: 0,
            encounter: pairing.pair.0 as usize,
            paired: true,
        };
        Ok((WantedGame { pairing, opening, resume }, Upcoming { started, before }))
    }

    /// Keeps what happened before anything follows from it.
    fn hear(&mut self, event: &Event, hearing: &mut Hearing<'_>) -> Result<(), EventError> {
        if hearing.stop.level() == StopLevel::GoOn && self.config.pause_marker().exists() {
            let _ = std::fs::remove_file(self.config.pause_marker());
            self.audience.say("a pause was asked for: the games under way are finished");
            hearing.stop.raise(StopLevel::FinishGames);
        }
        match event {
            Event::GameStarted { pairing, .. } => {
                let started = &hearing.upcoming[pairing.game].started;
                self.keep(JournalRecord::GameStarted(GameStarted { at: now(), ..started.clone() }))
            }
            Event::MovePlayed(played) => self.moved(played, hearing),
            Event::GameFinished(game) => self.ended(game, hearing),
            Event::EngineKilled { engine, why, exit, stderr, game, said } => {
                let entry = hearing.names[*engine].clone();
                let exit = exit.map(|exit| exit.to_string());
                let how = exit.as_ref().map(|exit| format!(" ({exit})")).unwrap_or_default();
                self.audience.say(&format!("{entry} was ended: {why}{how}"));
                let id = game.and_then(|game| hearing.upcoming.get(game));
                self.keep(JournalRecord::EngineKilled(EngineKilled {
                    id: id.map(|upcoming| upcoming.started.id.clone()),
                    entry,
                    why: why.clone(),
                    exit,
                    stderr: stderr.clone(),
                    said: said.clone(),
                    versions: versions(),
                }))
            }
            Event::Unasked { engine, said } => {
                let text = format!(
                    "{} said {said:?} without being asked; it was passed over",
                    hearing.names[*engine]
                );
                self.note(text, None)
            }
            Event::OptionsNotOffered { engine, options } => {
                self.note(format!("{} {}", hearing.names[*engine], not_offered(options)), None)
            }
            Event::HostChanged { engine, replaced } => {
                let name = &hearing.names[*engine];
                let replaced = replaced.join(", ");
                let text = format!("replaced on this host before {name} was started: {replaced}");
                self.note(text, None)
            }
            Event::Ponders { engine, how } => {
                let name = &hearing.names[*engine];
                self.note(format!("{name} {how} (rule 0.1)"), Some("0.1"))
            }
            Event::BrokeRule { engine, section, what, game, .. } => {
                let name = &hearing.names[*engine];
                let game = game.and_then(|game| hearing.upcoming.get(game));
                let place = game.map(|game| format!(" in {}", game.started.id));
                let place = place.unwrap_or_default();
                self.note(format!("{name}{place}: {what} (rule {section})"), Some(section))
            }
            Event::MatchStarted { .. }
            | Event::EngineStarted { .. }
            | Event::EngineLeft { .. }
            | Event::MatchFinished { .. } => Ok(()),
        }
    }

    /// Says a line, and keeps it with the section of the rules that an engine broke by it, if one did; people decide what follows.
    fn note(&mut self, text: String, rule: Option<&str>) -> Result<(), EventError> {
        self.audience.say(&text);
        self.keep(JournalRecord::Note { text, rule: rule.map(str::to_owned) })
    }

    fn moved(&mut self, played: &MovePlayed, hearing: &Hearing<'_>) -> Result<(), EventError> {
        let id = &hearing.upcoming[played.pairing.game].started.id;
        self.keep(JournalRecord::Ply(ply(id, played)))
    }

    fn ended(&mut self, game: &Finished, hearing: &mut Hearing<'_>) -> Result<(), EventError> {
        let upcoming = &hearing.upcoming[game.pairing.game];
        let ending = &game.record.ending;
        if ending.result == GameResult::Unfinished {
            return match &ending.reason {
                // Somebody asked for it; the game stays open and rule 6.1 decides on it.
                _ if hearing.stop.level() == StopLevel::Now => Ok(()),
                // The game stays open, too, and its fate is decided when the others under way have ended.
                Termination::Standstill { .. } => {
                    self.note(format!("{}: {}", upcoming.started.id, ending.details()), None)
                }
                Termination::NoStart(why) => {
                    let (game, why) = (upcoming.started.id.clone(), why.clone());
                    self.audience.say(&format!("{game}: {why}"));
                    hearing.missing.get_or_insert(NotStarted { game, why });
                    Ok(())
                }
                Termination::Aborted(why) => {
                    let game = upcoming.started.id.clone();
                    Err(EventError::Host { game, why: why.clone() })
                }
                _ => Ok(()),
            };
        }
        self.keep(JournalRecord::GameFinished(finished(&upcoming.started, game, upcoming.before)))?;
        hearing.done += 1;
        hearing.lasted += game.lasted;
        let batch = hearing.batch;
        let played = self.ledger.stages[batch.number].finished();
        let left = batch.planned.saturating_sub(played);
        let mean = hearing.lasted / u32::try_from(hearing.done).unwrap_or(u32::MAX);
        let rest = mean * u32::try_from(left).unwrap_or(u32::MAX)
            / u32::try_from(self.config.concurrency.get()).unwrap_or(1);
        let rest = humantime::format_duration(Duration::from_secs(rest.as_secs())).to_string();
        self.audience.say(&format!(
            "{} {}.{}, {} - {}: {} ({played} of {}, about {rest} left)",
            batch.stage.name,
            game.pairing.round,
            game.pairing.in_round,
            upcoming.started.white,
            upcoming.started.black,
            pgn::summary(ending),
            counted(batch.planned, "game"),
        ));
        if let Some(side) = ending.crashed() {
            let crashed = side.fold_wb(&upcoming.started.white, &upcoming.started.black);
            self.tell_of_disqualification(batch, crashed);
        }
        self.show_table(batch.number, TableMoment::Game);
        Ok(())
    }

    /// Tells that an engine is out where the crash that ended its last game is the one by which it is.
    fn tell_of_disqualification(&mut self, batch: &Batch<'_>, crashed: &str) {
        let Some(limit) = batch.stage.crash_limit else { return };
        let field = self.ledger.stages[batch.number].field(Some(limit));
        // One that is out already may still end the games that were under way.
        if field.find(crashed).is_some_and(|engine| field.crashes(engine) == limit.get()) {
            self.audience.say(&format!(
                "{crashed} is disqualified after {}: all its games are annulled",
                counted(limit.get(), "crash")
            ));
        }
    }
}

/// The programs of this host that an engine runs under.
fn versions() -> Vec<String> {
    let mut versions = vec![format!("gate4k {}", env!("CARGO_PKG_VERSION"))];
    versions.extend(nix::sys::utsname::uname().ok().map(|host| {
        let [system, release, machine] = [host.sysname(), host.release(), host.machine()];
        [system, release, machine].map(|word| word.to_string_lossy()).join(" ")
    }));
    versions
}
