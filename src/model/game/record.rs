//! A game as it was played, with the evidence of each move.

use std::ops::Range;
use std::time::Duration;

use shakmaty::{ByColor, Chess, Color, Move, Position};

use super::ending::GameEnding;
use super::opening::Opening;
use super::rule_distances::RuleDistances;
use super::score::Score;

/// A moment, as time since some beginning that all stamps of a game share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp(pub(crate) Duration);

impl Stamp {
    /// The time from `earlier` to here; zero where that is later.
    #[must_use]
    pub(crate) fn since(self, earlier: Stamp) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// A search in the engine's own numbers; a number that it did not give is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchInfo {
    /// Plies searched.
    pub(crate) depth: Option<u32>,
    /// The deepest line, in plies.
    pub(crate) seldepth: Option<u32>,
    /// Positions searched.
    pub(crate) nodes: Option<u64>,
    /// Positions a second.
    pub(crate) speed: Option<u64>,
    /// The hash table's filling, per mille.
    pub(crate) hashfull: Option<u32>,
    /// Positions found in endgame tables.
    pub(crate) table_hits: Option<u64>,
    /// The score, from the engine's own point of view.
    pub(crate) score: Option<Score>,
}

/// A game that goes on after an interruption (rule 6.1.5).
#[derive(Clone, Debug, Default)]
pub(crate) struct Resume {
    /// The moves that players had made.
    pub(crate) plies: Vec<PlyRecord>,
    /// The clocks when it goes on, compensation included.
    pub(crate) clocks: ByColor<Duration>,
}

/// A move as it is told while the game goes on.
#[derive(Debug)]
pub(crate) struct PlayedMove<'a> {
    /// The moves that players made before it.
    pub(crate) number: usize,
    /// Its side.
    pub(crate) mover: Color,
    /// The move.
    pub(crate) ply: &'a PlyRecord,
    /// Both clocks after it.
    pub(crate) clocks: ByColor<Duration>,
    /// The line of play that its search expected.
    pub(crate) pv: &'a [u8],
}

/// One move and its evidence.
#[derive(Clone, Debug)]
pub(crate) struct PlyRecord {
    /// The move.
    pub(crate) played: Move,
    /// When it was asked for.
    pub(crate) sent: Stamp,
    /// When it was heard.
    pub(crate) heard: Stamp,
    /// The mover's clock after it, increment included.
    pub(crate) left: Duration,
    /// The search behind it.
    pub(crate) info: SearchInfo,
    /// Where its expected line stands in [`GameRecord::pvs`].
    pub(crate) pv: Range<usize>,
    /// Plies to the draw and the win rule.
    pub(crate) rules_in: RuleDistances,
}

impl PlyRecord {
    /// A move of which nothing else is known.
    pub(crate) fn bare(played: Move) -> PlyRecord {
        PlyRecord {
            played,
            sent: Stamp::default(),
            heard: Stamp::default(),
            left: Duration::ZERO,
            info: SearchInfo::default(),
            pv: 0..0,
            rules_in: RuleDistances::default(),
        }
    }

    /// The time that the move took.
    pub(crate) fn used(&self) -> Duration {
        self.heard.since(self.sent)
    }
}

/// The question that ended a game without a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unanswered {
    /// When it was asked.
    pub(crate) sent: Stamp,
    /// When the answer came, or the waiting ended.
    pub(crate) heard: Stamp,
    /// The time that the clock allowed.
    pub(crate) left: Duration,
}

/// A game as it was played.
#[derive(Clone, Debug)]
pub struct GameRecord {
    /// The opening.
    pub opening: Opening,
    /// The moves that players made.
    pub(crate) plies: Vec<PlyRecord>,
    /// The expected lines, one after the other.
    pub(crate) pvs: Vec<u8>,
    /// The lines that engines said for the record, by the place of their ply among [`GameRecord::plies`], each with its line end;
    /// empty unless they are asked for.
    pub(crate) comments: Vec<(usize, Vec<u8>)>,
    /// The game's end.
    pub ending: GameEnding,
    /// The question without an answer that counts, where the game ended by one.
    pub(crate) unanswered: Option<Unanswered>,
}

impl GameRecord {
    /// A game of which only moves and end are known.
    pub(crate) fn of_moves(opening: Opening, moves: Vec<Move>, ending: GameEnding) -> GameRecord {
        GameRecord {
            opening,
            plies: moves.into_iter().map(PlyRecord::bare).collect(),
            pvs: Vec::new(),
            comments: Vec::new(),
            ending,
            unanswered: None,
        }
    }

    /// Every move on the board, the opening's first.
    pub fn moves(&self) -> impl Iterator<Item = Move> {
        self.opening.moves().iter().copied().chain(self.plies.iter().map(|ply| ply.played))
    }

    /// The number of moves on the board, the opening's among them.
    pub(crate) fn length(&self) -> usize {
        self.opening.moves().len() + self.plies.len()
    }

    /// Every move with the position after it.
    pub fn positions(&self) -> impl Iterator<Item = (Move, Chess)> {
        self.moves().scan(self.opening.start(), |position, played| {
            // A record holds only moves that were legal when it was made.
            position.play_unchecked(played);
            Some((played, position.clone()))
        })
    }

    /// The side that has the move after so many plies on the board.
    pub(crate) fn mover(&self, plies: usize) -> Color {
        let first = self.opening.start().turn();
        if plies.is_multiple_of(2) { first } else { !first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_passes_backwards() {
        let [early, late] = [2, 5].map(|secs| Stamp(Duration::from_secs(secs)));
        assert_eq!(late.since(early), Duration::from_secs(3));
        assert_eq!(early.since(late), Duration::ZERO);
    }
}
