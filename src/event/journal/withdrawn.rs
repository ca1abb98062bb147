//! The records of rounds without a game: a bye, and an engine that leaves an event before its end, by its author's wish.

use serde::{Deserialize, Serialize};

use crate::event::field::WithdrawnGames;
use crate::model::game::listed::RoundGame;
use crate::model::words::counted;

/// A bye; it counts as so many won games as an encounter of its stage has.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Bye {
    /// The stage's number.
    pub(crate) stage: usize,
    /// The round, from 1.
    pub(crate) round: u32,
    /// The engine that does not play.
    pub(crate) engine: String,
    /// The games that count as won.
    pub(crate) wins: u32,
}

/// An engine that was withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Withdrawn {
    /// Its name.
    pub engine: String,
    /// The number of the first stage that goes on, or begins, without it.
    pub stage: usize,
    /// The first round of it that is paired without it, from 1.
    pub round: u32,
    /// The fate of the games that it played in this stage.
    pub played: WithdrawnGames,
    /// The games under way that were broken off, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken_off: Vec<String>,
    /// The games of the open round of a Swiss that it leaves unplayed: its opponent has won them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub walkovers: Vec<Walkover>,
    /// The reason.
    pub reason: String,
    /// When, as RFC 3339.
    pub at: String,
}

/// A game that is won without being played.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Walkover {
    /// Its round, from 1.
    pub round: u32,
    /// Its number in the round, from 1.
    pub game: u32,
    /// The engine with White.
    pub white: String,
    /// The engine with Black.
    pub black: String,
}

impl Walkover {
    /// Its place in the schedule.
    pub fn place(&self) -> RoundGame {
        RoundGame { round: self.round, game: self.game }
    }
}

impl Withdrawn {
    /// The walkovers as the opponent's bye: in a round there is but one opponent. None where there are none.
    pub fn walkover(&self) -> Option<Bye> {
        let first = self.walkovers.first()?;
        let winner = if first.white == self.engine { &first.black } else { &first.white };
        let wins = u32::try_from(self.walkovers.len()).unwrap_or(u32::MAX);
        Some(Bye { stage: self.stage, round: first.round, engine: winner.clone(), wins })
    }

    /// The reason for which a game under way was broken off.
    pub(crate) fn of_game(&self) -> String {
        format!("{} is withdrawn: {}", self.engine, self.reason)
    }

    /// In a line.
    pub(crate) fn in_words(&self) -> String {
        let then = match (self.played, self.walkover()) {
            (WithdrawnGames::Annulled, _) => {
                "; its games in this stage count for nobody".to_owned()
            }
            (WithdrawnGames::Counts, Some(bye)) => format!(
                "; {} has {} of round {} without playing",
                bye.engine,
                counted(bye.wins as usize, "win"),
                bye.round
            ),
            (WithdrawnGames::Counts, None) => String::new(),
        };
        self.of_game() + &then
    }
}
