//! The checks of a game under way: its place in the schedule, its clocks, and the rulings on its interruptions.

use shakmaty::{Chess, Position};

use super::{RecordCheck, ToldGame, ToldGames};
use crate::event::config::Trusted;
use crate::event::format::{Due, Format, Next};
use crate::event::interrupted::{self, PIECES};
use crate::event::journal::record::{
    EngineKilled, GameFinished, GameStarted, Interrupted, JournalPly,
};
use crate::event::recorder::ResumedGame;
use crate::event::stage::StageFormat;
use crate::game::clock::TimeControl;
use crate::model::game::ending::Termination;
use crate::model::units::whole_micros;
use crate::runner::options_line;

impl RecordCheck<'_> {
    /// The game that is due at the place of one that begins. One that was begun before an engine in it was disqualified goes on.
    pub(super) fn due(&mut self, started: &GameStarted) -> Option<Due> {
        if let Some(round) = self.due_in_round(started.stage) {
            return round.iter().copied().find(|due| due.at == started.place());
        }
        let (stage, state) = self.stage_at(started.stage)?;
        let (seats, past, place) = (state.started.seats.len(), state.past(), started.place());
        if stage.crash_limit.is_none() || self.ledger.open.contains_key(&started.id) {
            return stage.due_at(seats, past, place);
        }
        // So many games are given to the runner together: of these one may begin after another has ended.
        let at_a_time = self.config.concurrency.get();
        let under_way = self.ledger.under_way(started.stage);
        if at_a_time > 1
            && let Next::Play(due) = stage.next_with(state, &under_way)
        {
            let together = due.iter().take(at_a_time);
            self.together.extend(together.map(|due| (started.stage, due.at)));
        }
        let was_given = self.together.remove(&(started.stage, place));
        let out = state.disqualified(stage.crash_limit);
        if let Some(name) =
            [&started.white, &started.black].into_iter().find(|name| out.contains(*name))
            && !was_given
        {
            self.wrong(format!("{} is played by {name}, which is disqualified", started.id));
        }
        stage.due_at(seats, past, place)
    }

    /// Checks that a game which begins is the first that is due, where one is played at a time. Where several are, those that are
    /// given to the runner together begin as its workers come to them, and what is due may be another game by then.
    pub(super) fn order(&mut self, started: &GameStarted) {
        let Some((stage, state)) = self.stage_at(started.stage) else { return };
        if self.config.concurrency.get() > 1 || self.ledger.open.contains_key(&started.id) {
            return;
        }
        let under_way = self.ledger.under_way(started.stage);
        let mut due = match self.due_in_round(started.stage) {
            Some(round) => round.to_vec(),
            None => match stage.next_with(state, &under_way) {
                Next::Play(due) => due,
                Next::Bye(..) | Next::Over(_) => return,
            },
        };
        due.retain(|due| !under_way.contains(&due.at));
        let first = match &stage.format {
            // A bracket is played match by match.
            StageFormat::Of(Format::Knockout(_)) => due.iter().min_by_key(|due| due.at.round),
            _ => due.first(),
        };
        let is_due = due.iter().any(|due| due.at == started.place());
        if let Some(first) = first.filter(|first| is_due && first.at != started.place()) {
            self.wrong(format!(
                "{} begins before game {}, which is due first",
                started.id, first.at
            ));
        }
    }

    /// Checks that an engine that had to be killed is one of the event, and one of the two of a game under way where the record
    /// names a game; the game then has to end by that.
    pub(super) fn killed(&mut self, killed: &EngineKilled, open: &mut ToldGames) {
        let name = &killed.entry;
        if self.config.entry(name).is_none() {
            self.wrong(format!("{name}, which had to be ended, is no engine of the event"));
        }
        // Before 0.2 no game was named.
        let Some(id) = &killed.id else { return };
        let Some(told) = open.get_mut(id) else {
            self.wrong(format!("{name} had to be ended in {id}, which is not under way"));
            return;
        };
        if !told.started.plays(name) {
            self.wrong(format!("{name} had to be ended in {id}, in which it does not play"));
        }
        told.killed = Some(name.clone());
    }

    /// Checks that a game which an engine was killed in is lost by that one, and that one which is lost by a crash tells of it.
    pub(super) fn lost_by(&mut self, told: &ToldGame, game: &GameFinished) {
        // The organisers may give away a game after a runner that was ended in the middle of this.
        if self.is_of_0_1 || matches!(game.reason, Termination::NoStart(_)) {
            return;
        }
        let loser = game.ending().crashed().map(|side| side.fold_wb(&game.white, &game.black));
        let id = &game.id;
        match (&told.killed, loser) {
            (Some(killed), loser) if loser != Some(killed) => {
                self.wrong(format!("{killed} had to be ended in {id}, which did not end by that"));
            }
            (None, Some(loser)) => {
                self.wrong(format!(
                    "{id} is lost by a crash of {loser}, and no record tells of it"
                ));
            }
            _ => {}
        }
    }

    /// Checks that a game is the one that is due at its place, in a stage that is not over.
    pub(super) fn start(&mut self, started: &GameStarted, due: Option<Due>) {
        let Some((stage, state)) = self.stage_at(started.stage) else { return };
        let id = self.config.game_id(stage, started.place(), &started.white, &started.black);
        if id != started.id {
            self.wrong(format!("the game {} should be called {id}", started.id));
        }
        if state.outcome.is_some() {
            self.wrong(format!("{id} is played after the end of {}", stage.name));
        }
        let control = stage.control(started.place()).to_string();
        if control != started.time_control {
            self.wrong(format!(
                "{} is played at {}, and not at {control}",
                started.id, started.time_control
            ));
        }
        for (name, told) in [&started.white, &started.black].into_iter().zip(&started.options) {
            if !self.is_of_0_1 && !self.are_options_of(name, told) {
                self.wrong(format!("{id}: {name} plays with other options than its own: {told}"));
            }
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

    /// True if an engine is told these options: the event's come first, and then its own. Those of its configuration are in a file
    /// that may be another by now.
    fn are_options_of(&self, name: &str, told: &str) -> bool {
        let Some(entry) = self.config.entry(name) else { return true };
        let set = options_line(&self.config.options);
        match &entry.trusted {
            Some(Trusted { listed: None, options, .. }) => {
                let mut all = self.config.options.clone();
                let is_set = |name: &str| {
                    self.config.options.iter().any(|(set, _)| set.eq_ignore_ascii_case(name))
                };
                all.extend(options.iter().filter(|(name, _)| !is_set(name)).cloned());
                told == options_line(&all)
            }
            _ => told.starts_with(&set),
        }
    }

    /// Checks that the clocks follow from the time that was used.
    pub(super) fn clock(&mut self, told: &mut ToldGame, ply: &JournalPly) {
        let Some(stage) = self.config.stages.get(told.started.stage) else { return };
        let control = stage.control(told.started.place());
        let TimeControl::Clock { increment, .. } = control else { return };
        let book = told.started.opening.split_whitespace().count();
        // A position of a book of Chess960 may be Black's.
        let first = told.started.start.as_deref().and_then(|fen| fen.split(' ').nth(1));
        let mover = (book + ply.number % 2 + usize::from(first == Some("b"))) % 2;
        let mut due = told.clocks;
        // A move that comes later loses on time and is not played; of the roundings, each of both may be one off.
        let allowed = due[mover].saturating_add(whole_micros(self.config.margin));
        if ply.used > allowed.saturating_add(2) {
            self.wrong(format!(
                "move {} of {} took {} µs, and the clock allowed {allowed} µs",
                ply.number, ply.id, ply.used
            ));
        }
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

    /// Checks that a game begins with whole clocks, and goes on only after a ruling, with the clocks that this gives it.
    pub(super) fn attempt(&mut self, started: &GameStarted, told: Option<&ToldGame>) {
        let Some(stage) = self.config.stages.get(started.stage) else { return };
        let (id, attempt) = (&started.id, started.attempt);
        let base = stage.control(started.place()).base().map_or(0, whole_micros);
        let due = match told.map(|told| told.ruling.as_ref()) {
            None => [base, base],
            Some(None) => {
                self.wrong(format!(
                    "attempt {attempt} of {id} follows no ruling on an interruption"
                ));
                return;
            }
            Some(Some(ruling)) if ruling.result.is_some() => {
                self.wrong(format!("{id} goes on, and the ruling on it had ended it"));
                return;
            }
            Some(Some(ruling)) if ruling.begins_anew => [base, base],
            Some(Some(ruling)) => {
                ruling.clocks.map(|left| left.saturating_add(ruling.compensation))
            }
        };
        if started.clocks != due {
            self.wrong(format!(
                "attempt {attempt} of {id} begins with the clocks {:?}, and not with {due:?}",
                started.clocks
            ));
        }
    }

    /// Checks that an interruption was ruled on by its stage's rule. A ruling that rests on tables is judged as far as these are at
    /// hand: others may have been when it was played.
    pub(super) fn ruling(&mut self, ruling: &Interrupted) {
        let id = &ruling.id;
        let Some(game) = self.ledger.open.get(id) else { return };
        let Some(stage) = self.config.stages.get(game.started.stage) else { return };
        let broken = match ResumedGame::replay(game, self.config) {
            Ok(broken) => broken,
            Err(why) => {
                self.wrong(why);
                return;
            }
        };
        if let Some(ending) = &broken.ending {
            let details = ending.details();
            self.wrong(format!("{id} is ruled on as interrupted after its end: {details}"));
            return;
        }
        let rule = stage.terms.interruption;
        let due = interrupted::decide(&broken.moment, |_| None, self.config.compensation, rule);
        let record = broken.interrupted(id, &due);
        if (ruling.rule.as_str(), due.rule) == ("6.1.4", "6.1.5") {
            let as_due = Interrupted {
                rule: ruling.rule.clone(),
                why: ruling.why.clone(),
                result: ruling.result.clone(),
                compensation: 0,
                ..record
            };
            if *ruling != as_due {
                self.wrong(format!("the ruling on {id} by tables has other clocks than the game"));
            }
            let result = ruling.result.as_deref().unwrap_or("undecided");
            self.by_tables(id, &broken.moment.position, result, PIECES);
            return;
        }
        // The words may be those of another version.
        if *ruling != (Interrupted { why: ruling.why.clone(), ..record }) {
            self.wrong(format!(
                "the ruling on {id} by rule {} should be by rule {}: {}",
                ruling.rule, due.rule, due.why
            ));
        }
    }

    /// Checks that a position can have been looked up in tables of so many pieces at most, and with this result.
    pub(super) fn by_tables(&mut self, id: &str, position: &Chess, result: &str, most: usize) {
        let pieces = position.board().occupied().count();
        if self.config.syzygy.is_empty() {
            self.wrong(format!("{id} is decided by tables, and the event names none"));
        } else if pieces > most || position.castles().any() {
            self.wrong(format!("{id} is decided by tables, which do not hold its position"));
        } else if let Some(ending) = self.tables.probe(position)
            && ending.result.word() != result
        {
            let word = ending.result.word();
            self.wrong(format!("{id} is {result} by tables, which say {word}"));
        }
    }
}
