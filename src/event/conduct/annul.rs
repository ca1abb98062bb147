//! A game that the organisers strike out.

use shakmaty::Color;

use super::{Conductor, EventError};
use crate::event::annulment::{self, KnownGame};
use crate::event::entrants::now;
use crate::event::journal::record::{AfterAnnulment, Annulled, JournalRecord};
use crate::event::recorder::ResumedGame;
use crate::game::pgn;
use crate::model::game::ending::{GameEnding, Termination};

impl Conductor<'_> {
    /// Strikes out a game that has ended or is under way: `word` is its id, its place in the last stage (`3.1`), or its
    /// stage and place (`Pool 3.1`). Gives what was done, in words.
    ///
    /// # Errors
    /// When there is no such game, or something has followed from its result.
    pub(crate) fn annul(
        &mut self,
        word: &str,
        then: AfterAnnulment,
        reason: &str,
    ) -> Result<String, EventError> {
        let Some(game) = self.known(word) else {
            return Err(EventError::NotNow(format!(
                "no game {word:?} has been played or is under way; name it by its place in this stage, such as \
                 3.1, by stage and place, such as {:?}, or by its id",
                self.config
                    .stages
                    .first()
                    .map(|stage| format!("{} 3.1", stage.name))
                    .unwrap_or_default()
            )));
        };
        let refused = annulment::refusal(self.config, &self.ledger, &game, then)
            .or_else(|| annulment::leaves_undue(self.config, &self.ledger, &game, then));
        if let Some(why) = refused {
            return Err(EventError::NotNow(why));
        }
        let KnownGame { id, stage, at } = game;
        let state = &self.ledger.stages[stage];
        let annulled = Annulled {
            id,
            stage,
            round: at.round,
            game: at.game,
            then,
            reason: reason.to_owned(),
            at: now(),
        };
        let mut told = annulled.in_words();
        if state.outcome.is_some() {
            told += &format!("; {} is open again", state.started.name);
        }
        self.keep(JournalRecord::Annulled(annulled))?;
        Ok(told)
    }

    /// Scores a game under way, whose engine does not start, as lost by it. Gives what was done, in words.
    ///
    /// # Errors
    /// When no such game is under way, or `loser` does not play in it.
    pub(crate) fn forfeit(
        &mut self,
        word: &str,
        loser: &str,
        reason: &str,
    ) -> Result<String, EventError> {
        let known = self.known(word).map(|known| known.id);
        let Some(game) = known.and_then(|id| self.ledger.open.get(&id)) else {
            let under_way = self.ledger.open.keys().map(String::as_str).collect::<Vec<_>>();
            return Err(EventError::NotNow(format!(
                "no game {word:?} is under way; there {}",
                match &under_way[..] {
                    [] => "is none".to_owned(),
                    some => format!("are {}", some.join(", ")),
                }
            )));
        };
        let game = game.clone();
        let started = &game.started;
        if self.ledger.over(started.stage).is_some() {
            let stage = self.config.stage_name(started.stage);
            let what = format!("{stage} is over, and {} counts for nothing in it", started.id);
            return Err(EventError::NotNow(what));
        }
        let side = match loser {
            name if name == started.white => Color::White,
            name if name == started.black => Color::Black,
            _ => {
                return Err(EventError::NotNow(format!(
                    "{loser} does not play in {}: {} and {} do",
                    started.id, started.white, started.black
                )));
            }
        };
        let broken = ResumedGame::replay(&game, self.config).map_err(EventError::State)?;
        let id = &started.id;
        if self.had_ended(started, &broken)? {
            let what = format!("{id} had ended on the board, and its result is kept");
            return Err(EventError::NotNow(what));
        }
        let ruled = game.interrupted.as_ref().filter(|ruling| ruling.result.is_some());
        if let Some(ruling) = ruled {
            let what = format!(
                "{id} is over by rule {}: {}; `gate4k event run` keeps its result",
                ruling.rule, ruling.why
            );
            return Err(EventError::NotNow(what));
        }
        let ending = GameEnding::win(!side, Termination::NoStart(reason.to_owned()));
        let finished = broken.finished(started, &ending, None);
        let told = format!("{}: {}", started.id, pgn::summary(&ending));
        self.keep(JournalRecord::GameFinished(finished))?;
        Ok(told)
    }

    fn known(&self, word: &str) -> Option<KnownGame> {
        let here = self.ledger.stages.len().checked_sub(1)?;
        annulment::known(self.config, &self.ledger).find(|game| {
            let place = game.at.to_string();
            let stage = self.config.stage_name(game.stage);
            game.id == word
                || (game.stage == here && place == word)
                || word
                    .strip_prefix(stage)
                    .is_some_and(|rest| rest.strip_prefix(' ') == Some(&place))
        })
    }
}
