//! The games of rule `match` as reports show them.

use serde::{Deserialize, Serialize};

use crate::model::evidence::{Colours, GameEnd, GameFault, PlayedGame, PlayedPly, Rival};

/// One game.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct GameShown {
    /// Its number, from 1.
    pub number: usize,
    /// Who sat opposite.
    pub rival: Rival,
    /// The entry's colours.
    pub colours: Colours,
    /// The result as PGN writes it.
    pub result: String,
    /// How it ended.
    pub end: GameEnd,
    /// The position at its end as FEN.
    pub fen: String,
    /// Every ply from the start position.
    pub moves: Vec<PlayedPly>,
}

impl From<&PlayedGame> for GameShown {
    fn from(game: &PlayedGame) -> GameShown {
        GameShown {
            number: game.number,
            rival: game.rival,
            colours: game.colours,
            result: game.result.to_owned(),
            end: game.end.clone(),
            fen: game.fen.clone(),
            moves: game.line.clone(),
        }
    }
}

impl GameShown {
    /// Whether the entry was at fault.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        matches!(self.end, GameEnd::Fault(_))
    }

    /// How it ended, in words.
    #[must_use]
    pub fn how(&self) -> String {
        match &self.end {
            GameEnd::Whole(how) => how.clone(),
            GameEnd::Cut(why) => format!("cut: {why}"),
            GameEnd::Rival(how) => format!("{how} (the reference engine)"),
            GameEnd::Fault(fault) => match fault {
                GameFault::Illegal { said, .. } => format!("`bestmove {said}` is no move here"),
                GameFault::NoMove { .. } => "no move where there are some".to_owned(),
                GameFault::Gone => "the entry ended".to_owned(),
                GameFault::Silent { waited, .. } => {
                    format!("no answer within {:.1} s", waited.as_secs_f64())
                }
                GameFault::NoStart(_) => "the entry did not start".to_owned(),
            },
        }
    }

    /// Who has White, and who Black.
    #[must_use]
    pub fn sides(&self) -> (&'static str, &'static str) {
        let rival = match self.rival {
            Rival::Itself => "the entry again",
            Rival::Reference => "the reference engine",
        };
        match self.colours {
            Colours::White | Colours::Both => ("the entry", rival),
            Colours::Black => (rival, "the entry"),
        }
    }
}
