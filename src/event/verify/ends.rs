//! The checks of a game's end: by the rules on the board, by a ruling, by evaluations, by tables, or by a side that forfeits.

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};

use super::course::course;
use super::{RecordCheck, ToldGame};
use crate::engine::uci;
use crate::event::journal::record::GameFinished;
use crate::event::journal_games;
use crate::event::terms::AskTables;
use crate::game::end::Referee;
use crate::game::legal;
use crate::model::game::ending::{GameEnding, Termination};
use crate::model::game::result::GameResult;
use crate::model::units::whole_micros;

/// Pieces of the largest tables that there are.
const LARGEST_TABLES: usize = 8;

impl RecordCheck<'_> {
    /// Checks that a game's moves are legal and its result is what they, a ruling, its evaluations or its reason say.
    pub(super) fn game(&mut self, told: &ToldGame, game: &GameFinished) {
        let id = &game.id;
        let mut due: Vec<&str> = told.started.opening.split_whitespace().collect();
        let book = due.len();
        due.extend(told.plies.iter().map(|ply| ply.uci.as_str()));
        let moves: Vec<&str> = game.moves.split_whitespace().collect();
        let is_as_told = due == moves && book == game.book;
        if !is_as_told {
            self.wrong(format!("the moves of {id} are not those that were told one by one"));
        }
        let began = &told.started;
        let place = (game.stage, game.place(), &game.white, &game.black);
        if (began.stage, began.place(), &began.white, &began.black) != place {
            self.wrong(format!(
                "{id} began as {} against {} at {} of stage {}, and ended as {} against {} at {} of stage {}",
                began.white,
                began.black,
                began.place(),
                began.stage + 1,
                game.white,
                game.black,
                game.place(),
                game.stage + 1
            ));
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
        let recorded = game.kept_ending();
        if recorded.details() != game.details
            || recorded.termination().map(str::to_owned) != game.termination
        {
            self.wrong(format!(
                "{id} ended by {:?}, and its words say {}",
                game.reason, game.details
            ));
        }
        self.ruled(told, game);
        match ending {
            Some(ending) if ending != recorded => {
                let (due, recorded) = (in_words(&ending), in_words(&recorded));
                self.wrong(format!("{id} ended {due}, and is recorded as {recorded}"));
            }
            None if game.reason.is_on_the_board() => {
                self.wrong(format!(
                    "{id} had not ended on the board, and is recorded as {}",
                    game.details
                ));
            }
            None => self.without_board(told, game, referee.position()),
            Some(_) => {}
        }
        if is_as_told {
            self.evaluations(told, game);
        }
    }

    /// Checks that a game which is over by a ruling has one, and that one which was ruled on and did not go on is over by it.
    fn ruled(&mut self, told: &ToldGame, game: &GameFinished) {
        let GameFinished { id, result, reason, .. } = game;
        let recorded = format!("{id} is recorded as {result} by {}", game.details);
        match (&game.by_rule, &told.ruling) {
            (None, None) => {}
            // The organisers may have given it to one side: an engine does not start.
            (None, Some(ruling))
                if ruling.result.is_none() && matches!(reason, Termination::NoStart(_)) => {}
            (None, Some(_)) => {
                self.wrong(format!("{recorded}, and did not go on after its interruption"));
            }
            (Some(rule), ruling) => {
                let fits = match rule.as_str() {
                    "6.1.2" => *reason == Termination::WinByEval,
                    "6.1.3" => *reason == Termination::DrawByEval,
                    "6.1.4" => *reason == Termination::Tables,
                    _ => false,
                };
                let says = ruling.as_ref().is_some_and(|ruling| {
                    ruling.rule == *rule && ruling.result.as_ref() == Some(result)
                });
                if !fits || !says {
                    self.wrong(format!("{recorded} (rule {rule}), and no ruling says so"));
                }
            }
        }
    }

    /// Checks the end of a game whose last position has none.
    fn without_board(&mut self, told: &ToldGame, game: &GameFinished, position: &Chess) {
        let (id, turn) = (&game.id, position.turn());
        let recorded = game.kept_ending();
        let loser = recorded.loser();
        // An engine that is not there when a game begins or goes on may be either.
        let in_play = self.has_moved(id) || game.unanswered.is_some();
        match &game.reason {
            Termination::Time { .. } | Termination::IllegalMove(_) | Termination::Resignation
                if loser != Some(turn) =>
            {
                self.wrong(format!("{id} was lost by the side that was not to move"));
            }
            Termination::Crash { .. } | Termination::Stall { .. }
                if in_play && loser != Some(turn) =>
            {
                self.wrong(format!("{id} was lost by the side that was not to move"));
            }
            reason if reason.is_crash() && loser.is_none() => {
                self.wrong(format!("{id} was lost by nobody: {}", game.details));
            }
            Termination::IllegalMove(said) => {
                let read = uci::read_move(said).ok();
                if read.and_then(|one| legal::find(position, one)).is_some() {
                    self.wrong(format!("{id} was lost by an illegal move, and {said} is legal"));
                }
            }
            Termination::Tables if game.by_rule.is_none() => {
                let stage = self.config.stages.get(game.stage);
                if stage.is_some_and(|stage| stage.terms.tables == AskTables::All) {
                    self.by_tables(id, position, &game.result, LARGEST_TABLES);
                } else {
                    self.wrong(format!("{id} is over by tables, which its stage does not ask"));
                }
            }
            Termination::Aborted(_)
            | Termination::Standstill { .. }
            | Termination::Annulled(_)
            | Termination::Interrupted(_)
            | Termination::Adjudicated
            | Termination::Unknown => {
                self.wrong(format!("{id} is recorded as over, and has no end: {}", game.details));
            }
            _ if recorded.result == GameResult::Unfinished => {
                self.wrong(format!("{id} is recorded as over, and has no result"));
            }
            _ => {}
        }
        let Some([waited, left]) = game.unanswered else { return };
        // A move may come late by the margin; of the roundings, the bound may be one off.
        let allowed = left.saturating_add(whole_micros(self.config.margin));
        if matches!(game.reason, Termination::Time { .. } | Termination::Stall { .. })
            && (waited < allowed || waited <= left)
        {
            self.wrong(format!("{id} was lost for want of a move with time left"));
        }
        let clock = told.clocks[turn.fold_wb(0, 1)];
        if left.abs_diff(clock) > 1 {
            self.wrong(format!(
                "{id} ended with {left} µs for the side to move, whose clock shows {clock} µs"
            ));
        }
    }

    /// Checks that a stage's rules on evaluations end a game where it ended by them, and nowhere before.
    fn evaluations(&mut self, told: &ToldGame, game: &GameFinished) {
        let id = &game.id;
        let Some(stage) = self.config.stages.get(game.stage) else { return };
        let Some(course) = course(&told.started, &told.plies, self.config.material, &stage.terms)
        else {
            return;
        };
        if let Some(odd) = course.rules_in {
            self.wrong(format!(
                "after move {} of {id} the draw and the win rule are {} plies away, and not {}",
                odd.number, odd.due, odd.told
            ));
        }
        let recorded = game.kept_ending();
        let words = format!("is recorded as {}", in_words(&recorded));
        let by_evaluations = matches!(
            game.reason,
            Termination::WinByEval | Termination::DrawByEval | Termination::Length
        );
        match course.ending {
            Some((number, ending)) if number + 1 < told.plies.len() => {
                let due = in_words(&ending);
                self.wrong(format!("{id} goes on after move {number}, with which it ended {due}"));
            }
            Some((_, ending)) if ending != recorded && !self.may_end_otherwise(game) => {
                self.wrong(format!("{id} ended {}, and {words}", in_words(&ending)));
            }
            None if by_evaluations && game.by_rule.is_none() => {
                self.wrong(format!("{id} had not ended by its evaluations, and {words}"));
            }
            _ => {}
        }
    }

    /// True if a game whose evaluations have ended it may have another end: its tables were asked first, or its runner was
    /// ended before it kept that one, and it was ruled on, lost at its next start, or given to one side by the organisers.
    fn may_end_otherwise(&self, game: &GameFinished) -> bool {
        let is_lost_at_start = game.reason.is_crash() && !self.has_moved(&game.id);
        let is_forfeited = matches!(game.reason, Termination::NoStart(_));
        game.by_rule.is_some()
            || game.reason == Termination::Tables
            || is_lost_at_start
            || is_forfeited
    }

    /// True if a move was made in a game under way since it began or last went on.
    fn has_moved(&self, id: &str) -> bool {
        self.ledger.open.get(id).is_some_and(|game| game.plies.len() > game.before)
    }
}

/// `1-0 by White mates`.
fn in_words(ending: &GameEnding) -> String {
    format!("{} by {}", ending.result, ending.details())
}
