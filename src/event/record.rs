//! One game as both a PGN and a journal tell it; everything on standings and ratings starts here.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use shakmaty::{Chess, Color, Move, Position};

use super::points::HalfPoints;

/// A game with its moves.
#[derive(Clone, Debug)]
pub struct GameRecord {
    /// The event's name; empty where none is known.
    pub event: String,
    /// Who had White.
    pub white: Engine,
    /// Who had Black.
    pub black: Engine,
    /// Its place in the schedule.
    pub round: Option<RoundGame>,
    /// The result.
    pub result: GameResult,
    /// Why it ended.
    pub termination: Termination,
    /// The source's own words on the end; empty where it has none.
    pub detail: String,
    /// The position before the first ply.
    pub start: Chess,
    /// Every half-move, the book included.
    pub plies: Vec<PlyRecord>,
}

impl GameRecord {
    /// The engine of a colour.
    #[must_use]
    pub fn engine(&self, color: Color) -> &Engine {
        color.fold_wb(&self.white, &self.black)
    }

    /// The side that crashed, if a crash ended the game. Crashes are counted as losses (rule 6.2).
    #[must_use]
    pub fn crashed(&self) -> Option<Color> {
        match self.result {
            GameResult::Won(winner) if self.termination.is_crash() => Some(!winner),
            _ => None,
        }
    }

    /// The plies that came from the book, counted from the first ply.
    #[must_use]
    pub fn book_plies(&self) -> usize {
        self.plies.iter().take_while(|ply| ply.book).count()
    }

    /// Every ply with the position after it.
    pub fn positions(&self) -> impl Iterator<Item = (&PlyRecord, Chess)> {
        self.plies.iter().scan(self.start.clone(), |position, ply| {
            // A record holds only moves that were legal when it was made.
            position.play_unchecked(ply.played);
            Some((ply, position.clone()))
        })
    }
}

/// An engine as a game names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
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

/// How a game ended for its players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// One side won.
    Won(Color),
    /// A draw.
    Drawn,
    /// It has no result (`*`): it counts for nothing.
    Unfinished,
}

impl GameResult {
    /// The points of a colour; none while the game is unfinished.
    #[must_use]
    pub fn points(self, color: Color) -> Option<HalfPoints> {
        match self {
            GameResult::Won(winner) if winner == color => Some(HalfPoints::ONE),
            GameResult::Won(_) => Some(HalfPoints::ZERO),
            GameResult::Drawn => Some(HalfPoints::HALF),
            GameResult::Unfinished => None,
        }
    }

    /// As PGN writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            GameResult::Won(Color::White) => "1-0",
            GameResult::Won(Color::Black) => "0-1",
            GameResult::Drawn => "1/2-1/2",
            GameResult::Unfinished => "*",
        }
    }
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Termination {
    /// Mate (rule 2.1).
    Mate,
    /// Stalemate (rule 2.2).
    Stalemate,
    /// Threefold repetition (rule 2.2).
    Threefold,
    /// The 50-move rule (rule 2.2).
    FiftyMoves,
    /// Neither side can mate.
    InsufficientMaterial,
    /// The loser's time was up (rules 1.2, 2.1, 2.3): a loss, but no crash.
    TimeForfeit,
    /// The loser played an illegal move (rule 2.1).
    IllegalMove,
    /// The loser resigned (rule 2.1).
    Resignation,
    /// The loser no longer answered.
    Stalled,
    /// The loser's process ended.
    Disconnected,
    /// Somebody else decided: evaluations, tablebases, the organisers.
    Adjudication,
    /// Nothing ended it.
    Unterminated,
    /// The source does not say, or in words that are not known here.
    Unknown,
}

impl Termination {
    /// Whether the loser crashed (rule 6.2): it ended or hung. A lost clock or an illegal move is a loss
    /// of an engine that still works.
    #[must_use]
    pub fn is_crash(self) -> bool {
        matches!(self, Termination::Stalled | Termination::Disconnected)
    }
}

/// One half-move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlyRecord {
    /// What was played, legal in its position.
    pub played: Move,
    /// Whether it came from the event's book.
    pub book: bool,
    /// The mover's evaluation, seen from White.
    pub eval: Option<Eval>,
    /// The mover's clock after it.
    pub left: Option<Duration>,
    /// What the move took.
    pub used: Option<Duration>,
    /// The depth reached, in plies.
    pub depth: Option<u32>,
}

impl PlyRecord {
    /// A ply of which nothing is known but the move.
    #[must_use]
    pub fn bare(played: Move) -> PlyRecord {
        PlyRecord { played, book: false, eval: None, left: None, used: None, depth: None }
    }
}

/// An evaluation, seen from White.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eval {
    /// In hundredths of a pawn.
    Centipawns(i32),
    /// The colour mates in so many moves.
    Mate(Color, u32),
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use shakmaty::san::San;

    /// A record with these moves in SAN from the start position.
    pub(crate) fn record(white: &str, black: &str, result: GameResult, moves: &str) -> GameRecord {
        let mut position = Chess::default();
        let plies = moves
            .split_whitespace()
            .map(|san| {
                let played: San = san.parse().unwrap();
                let played = played.to_move(&position).unwrap();
                position.play_unchecked(played);
                PlyRecord::bare(played)
            })
            .collect();
        GameRecord {
            event: "Test".into(),
            white: Engine { name: white.into(), rating: None },
            black: Engine { name: black.into(), rating: None },
            round: None,
            result,
            termination: Termination::Unknown,
            detail: String::new(),
            start: Chess::default(),
            plies,
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
    fn a_crash_is_the_losers() {
        let mut game = record("a", "b", GameResult::Won(Color::White), "e4 e5");
        assert_eq!(game.crashed(), None);
        game.termination = Termination::Stalled;
        assert_eq!(game.crashed(), Some(Color::Black));
        game.termination = Termination::TimeForfeit;
        assert_eq!(game.crashed(), None);
    }

    #[test]
    fn positions_follow_the_moves() {
        let game = record("a", "b", GameResult::Unfinished, "f3 e5 g4 Qh4");
        let last = game.positions().last().map(|(_, position)| position);
        assert!(last.is_some_and(|position| position.is_checkmate()));
        assert_eq!(game.positions().count(), 4);
    }
}
