//! A game with its players and its place in an event, as a PGN or a journal lists it; standings and ratings start
//! here.

use std::fmt;
use std::str::FromStr;

use shakmaty::Color;

use super::record::GameRecord;

/// A game of an event.
#[derive(Clone, Debug)]
pub struct ListedGame {
    /// The event's name; empty where none is known.
    pub event: String,
    /// White.
    pub white: ListedPlayer,
    /// Black.
    pub black: ListedPlayer,
    /// Its place in the schedule.
    pub round: Option<RoundGame>,
    /// The game itself.
    pub record: GameRecord,
}

impl ListedGame {
    /// The player of a colour.
    pub fn player(&self, color: Color) -> &ListedPlayer {
        color.fold_wb(&self.white, &self.black)
    }
}

/// A player as a game names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPlayer {
    /// The name, made harmless for printing.
    pub name: String,
    /// The rating it entered with, in Elo.
    pub rating: Option<i32>,
}

/// A place in the schedule, written `round.game`, both counted from 1 (PGN tag `Round`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoundGame {
    /// The round.
    pub round: u32,
    /// The game within the round.
    pub game: u32,
}

impl fmt::Display for RoundGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{}", self.round, self.game))
    }
}

/// The text is no `round.game`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no round; write ROUND.GAME, both from 1 (such as 12.3)")]
pub struct NoRound(String);

impl FromStr for RoundGame {
    type Err = NoRound;

    /// `12.3`; a bare `12` is the first game of its round.
    fn from_str(text: &str) -> Result<RoundGame, NoRound> {
        let number = |part: &str| part.parse().ok().filter(|number| *number > 0);
        let (round, game) = text.split_once('.').unwrap_or((text, "1"));
        match (number(round), number(game)) {
            (Some(round), Some(game)) => Ok(RoundGame { round, game }),
            _ => Err(NoRound(text.to_owned())),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::game::ending::{GameEnding, Termination};
    use crate::model::game::opening::Opening;
    use crate::model::game::result::GameResult;
    use shakmaty::san::San;
    use shakmaty::{Chess, Position};

    /// A game with these moves in SAN from the start position.
    pub(crate) fn listed(white: &str, black: &str, result: GameResult, moves: &str) -> ListedGame {
        let mut position = Chess::default();
        let moves = moves
            .split_whitespace()
            .map(|san| {
                let played: San = san.parse().unwrap();
                let played = played.to_move(&position).unwrap();
                position.play_unchecked(played);
                played
            })
            .collect();
        let ending = GameEnding { result, reason: Termination::Unknown };
        ListedGame {
            event: "Test".into(),
            white: ListedPlayer { name: white.into(), rating: None },
            black: ListedPlayer { name: black.into(), rating: None },
            round: None,
            record: GameRecord::of_moves(Opening::default(), moves, ending),
        }
    }

    #[test]
    fn rounds_are_read_and_written() {
        assert_eq!("12.3".parse(), Ok(RoundGame { round: 12, game: 3 }));
        assert_eq!("7".parse(), Ok(RoundGame { round: 7, game: 1 }));
        for wrong in ["", "?", "-", "0.1", "1.0", "1.2.3", "-1.1"] {
            assert!(wrong.parse::<RoundGame>().is_err(), "{wrong}");
        }
        assert_eq!(RoundGame { round: 12, game: 3 }.to_string(), "12.3");
    }

    #[test]
    fn positions_follow_the_moves() {
        let game = listed("a", "b", GameResult::Unfinished, "f3 e5 g4 Qh4").record;
        let last = game.positions().last().map(|(_, position)| position);
        assert!(last.is_some_and(|position| position.is_checkmate()));
        assert_eq!((game.positions().count(), game.length()), (4, 4));
        assert_eq!(game.mover(3), Color::Black);
    }
}
