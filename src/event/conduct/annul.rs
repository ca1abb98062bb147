//! A game that the organisers strike out.

use shakmaty::Color;

use super::{Conductor, EventError};
use crate::event::entrants::now;
use crate::event::format::match_::MatchFormat;
use crate::event::journal::record::{AfterAnnulment, Annulled, JournalRecord};
use crate::event::recorder::ResumedGame;
use crate::event::stage::StageFormat;
use crate::game::pgn;
use crate::model::game::ending::{GameEnding, Termination};
use crate::model::game::listed::RoundGame;

/// A game of the event.
struct Known {
    id: String,
    stage: usize,
    at: RoundGame,
}

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
        let Some(Known { id, stage, at }) = self.known(word) else {
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
        if let Some(why) = self.ledger.keeps_closed(stage) {
            return Err(EventError::NotNow(format!("{id}: {why}")));
        }
        let state = &self.ledger.stages[stage];
        if let (Some(gone), AfterAnnulment::PlayedAgain) = (state.withdrawn_from(at), then) {
            let what = format!("{id}: {gone} is withdrawn, and plays nothing again");
            return Err(EventError::NotNow(what));
        }
        let under_way = self.ledger.open.values().map(|game| game.started.place());
        let later = state.past().games.keys().copied().chain(under_way).find(|later| {
            match &self.config.stages[stage].format {
                StageFormat::Of(of) => {
                    of.follows(state.started.seats.len(), state.past(), *later, at)
                }
                StageFormat::Pairs(pairs) => {
                    MatchFormat::until_decisive(*pairs, false).follows(later.round, at.round)
                }
                StageFormat::DoubleRoundRobins(_) => false,
            }
        });
        if let Some(later) = later {
            return Err(EventError::NotNow(format!(
                "{id} cannot be struck out any more: game {later}, which was played because of its result, has begun; a \
                 game can be annulled or played again only before that"
            )));
        }
        // The journal takes nothing that could not follow from what it holds.
        let is_played = self.ledger.open.contains_key(&id) || state.past().games.contains_key(&at);
        let last = self.ledger.annulled.iter().rev().find(|one| one.id == id);
        match last.map(|one| one.then) {
            _ if !is_played => {
                return Err(EventError::NotNow(format!("{id} is to be played again already")));
            }
            Some(AfterAnnulment::Nothing) if then == AfterAnnulment::Nothing => {
                return Err(EventError::NotNow(format!("{id} is annulled already")));
            }
            _ => {}
        }
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
        let started = &game.started;
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
        let broken = ResumedGame::replay(game, self.config).map_err(EventError::State)?;
        let ending = GameEnding::win(!side, Termination::NoStart(reason.to_owned()));
        let finished = broken.finished(started, &ending, None);
        let told = format!("{}: {}", started.id, pgn::summary(&ending));
        self.keep(JournalRecord::GameFinished(finished))?;
        Ok(told)
    }

    fn known(&self, word: &str) -> Option<Known> {
        let here = self.ledger.stages.len().checked_sub(1)?;
        let ended = self.ledger.stages.iter().enumerate().flat_map(|(number, state)| {
            state.games().filter_map(move |([white, black], game)| {
                let (stage, at) = (self.config.stages.get(number)?, game.at?);
                let id = self.config.game_id(stage, at, &white.name, &black.name);
                Some(Known { id, stage: number, at })
            })
        });
        let open = self.ledger.open.values().map(|game| Known {
            id: game.started.id.clone(),
            stage: game.started.stage,
            at: game.started.place(),
        });
        let struck = self.ledger.annulled.iter().map(|one| Known {
            id: one.id.clone(),
            stage: one.stage,
            at: one.place(),
        });
        ended.chain(open).chain(struck).find(|game| {
            let place = game.at.to_string();
            let stage = self.config.stages.get(game.stage).map_or("", |stage| &stage.name);
            game.id == word
                || (game.stage == here && place == word)
                || word
                    .strip_prefix(stage)
                    .is_some_and(|rest| rest.strip_prefix(' ') == Some(&place))
        })
    }
}
