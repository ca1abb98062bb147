//! The checks of a stage: those who enter it, leave it and have a bye in it, its ties, its order and its
//! end, which may be the event's.

use super::RecordCheck;
use crate::event::annulment::{self, KnownGame};
use crate::event::draw::{self, Drawn};
use crate::event::format::Next;
use crate::event::journal::record::{
    Annulled, Bye, StageFinished, StageStarted, TieDecision, Update, Withdrawn,
};
use crate::event::ratings::EventRatings;
use crate::event::recorder::ResumedGame;
use crate::event::stage::{StageFormat, Updates, playing};
use crate::event::standings::Standings;
use crate::event::update;
use crate::event::withdraw;
use crate::model::words::{all, counted};

impl RecordCheck<'_> {
    /// Checks that the entries enter a stage with the ratings that the list gives them, but for rounding.
    pub(super) fn ratings(&mut self, started: &StageStarted) {
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

    /// Checks that those who play in a stage are the ones that the stages before give it, which are over.
    pub(super) fn draw(&mut self, started: &StageStarted) {
        let mut before = self.ledger.stages.iter().filter(|state| state.outcome.is_none());
        if let Some(open) = before.next().map(|state| state.started.name.clone()) {
            self.wrong(format!("{} begins, and {open} is not over", started.name));
        }
        let name = self.config.stage_name(started.stage);
        if started.name != name {
            self.wrong(format!("{} begins, and the stage there is called {name}", started.name));
        }
        let is_due = |due: &Drawn| {
            (&due.seats, &due.through, &due.level)
                == (&started.seats, &started.through, &started.level)
        };
        if !is_due(&draw::drawn(self.config, self.ledger, started.stage))
            && !is_due(&draw::drawn_by_0_2(self.config, self.ledger, started.stage))
        {
            self.wrong(format!(
                "those who play in {} do not follow from the stages before",
                started.name
            ));
        }
    }

    /// Checks that an update was taken where one is, and of what played before.
    pub(super) fn update(&mut self, update: &Update) {
        let Update { entry, before, receipt, .. } = update;
        let stage = self.config.stages.get(update.stage);
        if stage.is_none_or(|stage| stage.updates == Updates::Forbidden) {
            self.wrong(format!("{entry} was updated before a stage that forbids it"));
        } else if !update::may_update(self.config, self.ledger).contains(entry)
            || self.ledger.withdrawal(entry).is_some()
        {
            self.wrong(format!(
                "{entry} was updated, and does not play in the next stage, or the one before was not over"
            ));
        }
        if self.ledger.receipts.get(entry).map(|receipt| &receipt.frozen) != Some(before) {
            self.wrong(format!("what {entry} was before its update is not what played"));
        }
        if receipt.entry != *entry {
            self.wrong(format!("the receipt of the updated {entry} is {}'s", receipt.entry));
        }
        self.receipt(receipt);
    }

    /// Checks that an event ends once, after its last stage, and that its winners are those of it.
    pub(super) fn winners(&mut self, winner: &str, shared: &[String]) {
        if self.ledger.is_over() {
            self.wrong("the event had ended before".into());
        }
        if let Some(left) = self.config.stages.get(self.ledger.stages.len()) {
            self.wrong(format!("the event ended without {}", left.name));
        }
        let last = self.ledger.stages.last().and_then(|stage| stage.outcome.as_ref());
        let won = last.map(StageFinished::winners).unwrap_or_default();
        if won.split_first().is_none_or(|(first, rest)| first != winner || rest != shared) {
            self.wrong(format!("{winner} did not win the last stage"));
        }
    }

    /// Checks that a withdrawal was allowed, and has the consequences that its stage's format gives it.
    pub(super) fn withdrawal(&mut self, withdrawn: &Withdrawn) {
        let Withdrawn { engine, reason, at, .. } = withdrawn;
        let ledger = self.ledger;
        for game in withdrawn.broken_off.iter().filter_map(|id| ledger.open.get(id)) {
            let broken = ResumedGame::replay(game, self.config);
            if let Some(ending) = broken.ok().and_then(|broken| broken.ending) {
                let (id, details) = (&game.started.id, ending.details());
                self.wrong(format!("{id} was broken off after its end: {details}"));
            }
        }
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

    /// Checks that a game which is struck out was played at its place, and that nothing had followed from it.
    pub(super) fn annulment(&mut self, annulled: &Annulled) {
        let Annulled { id, stage, then, .. } = annulled;
        let game = KnownGame { id: id.clone(), stage: *stage, at: annulled.place() };
        let why = if annulment::known(self.config, self.ledger).any(|known| known == game) {
            annulment::refusal(self.config, self.ledger, &game, *then)
        } else {
            Some(format!("{id} is not the game of stage {} at {}", stage + 1, game.at))
        };
        if let Some(why) = why {
            self.wrong(format!("a game was struck out that could not be: {why}"));
        }
    }

    /// Checks that a decision is on a tie that the organisers decide, and tells each of its engines once.
    pub(super) fn decision(&mut self, decision: &TieDecision) {
        let Some((stage, state)) = self.stage_at(decision.stage) else { return };
        let sorted = |names: &[String]| {
            let mut names = names.to_vec();
            names.sort_unstable();
            names
        };
        let order = sorted(&decision.order);
        if !stage.ties(state).iter().any(|tied| sorted(tied) == order) {
            let names = all(&decision.order);
            self.wrong(format!(
                "{} was decided between {names}, where they were not tied",
                stage.name
            ));
        }
    }

    /// Checks that a bye is the one that its round has.
    pub(super) fn bye(&mut self, bye: &Bye) {
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

    /// Checks that a stage's games were all played and its order follows from them.
    pub(super) fn stage(&mut self, outcome: &StageFinished) {
        let Some((stage, state)) = self.stage_at(outcome.stage) else { return };
        if let Some(game) = self.ledger.open_in(outcome.stage).next() {
            self.wrong(format!("{} was under way when {} ended", game.id, stage.name));
        }
        let standings = stage.standings_of(state);
        let seats = &state.started.seats;
        let ranking = match seats.len() {
            0 | 1 => stage.places_without_games(&standings, state),
            _ => stage.ranking(&standings, state),
        };
        let promoted = |standings: &Standings| match seats.len() {
            // All others were disqualified before it, or no place was tied.
            0 | 1 => playing(standings, &ranking).concat(),
            _ => stage.promoted(standings, &ranking),
        };
        let is_open = |standings: &Standings| stage.open_tie(standings, &ranking).is_some();
        let mut due = StageFinished::of(outcome.stage, &ranking, promoted(&standings));
        if self.is_of_0_1 && outcome.shared.is_empty() {
            // It told no shared places.
            due.shared.clear();
        }
        // For gate4k 0.2 those went on, too, who would have done so without a game and were withdrawn meanwhile.
        let by_0_2 = Standings { gone: Vec::new(), ..standings.clone() };
        let is_by_0_2 = outcome.promoted != due.promoted && outcome.promoted == promoted(&by_0_2);
        let standings = if is_by_0_2 { &by_0_2 } else { &standings };
        if (&outcome.order, &outcome.shared) != (&due.order, &due.shared) || is_open(standings) {
            self.wrong(format!("the order of {} does not follow from its games", stage.name));
        }
        if outcome.promoted != due.promoted && !is_by_0_2 {
            self.wrong(format!("{} promotes others than its first", stage.name));
        }
        if seats.len() < 2 {
            return;
        }
        // Games of engines that were disqualified are played no more.
        match stage.next(seats.len(), &stage.past_of(state)) {
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
