//! What an engine thinks of a position, from one side's point of view.

use std::fmt;

use serde::Serialize;
use shakmaty::Color;

use crate::model::units::Ply;

/// Hundredths of a pawn; a mate in n plies is a number far above every one of them, less n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Eval(i32);

impl Eval {
    /// A mate on the board; no evaluation in centipawns reaches down to the mates.
    const MATE: i32 = 1_000_000;
    /// The longest mate that can be written; above every evaluation in centipawns.
    const LONGEST: i32 = 10_000;

    /// From centipawns; what is absurdly large stays below every mate.
    #[must_use]
    pub fn centipawns(value: i64) -> Eval {
        let most = i64::from(Eval::MATE - Eval::LONGEST - 1);
        Eval(i32::try_from(value.clamp(-most, most)).unwrap_or_default())
    }

    /// From UCI's mate in so many moves; zero and less: the engine itself is mated.
    #[must_use]
    pub fn mate(moves: i64) -> Eval {
        let length =
            i32::try_from(moves.unsigned_abs()).unwrap_or(Eval::LONGEST).min(Eval::LONGEST / 2);
        if moves > 0 { Eval(Eval::MATE - (2 * length - 1)) } else { Eval(2 * length - Eval::MATE) }
    }

    /// From what [`Eval::value`] gave, mates included.
    #[must_use]
    pub fn from_value(value: i32) -> Eval {
        Eval(value.clamp(-Eval::MATE, Eval::MATE))
    }

    /// The same from White's point of view, given by the side to move.
    #[must_use]
    pub fn for_white(self, by: Color) -> Eval {
        by.fold_wb(self, Eval(-self.0))
    }

    /// Its distance from level.
    #[must_use]
    pub fn size(self) -> Eval {
        Eval(self.0.abs())
    }

    /// As hundredths of a pawn.
    #[must_use]
    pub fn value(self) -> i32 {
        self.0
    }

    /// Appends it as it is displayed, without the formatting machinery: a game has hundreds.
    pub(super) fn push(self, out: &mut String) {
        let mut digits = itoa::Buffer::new();
        if self.0 < 0 {
            out.push('-');
        }
        if let Some(Ply(plies)) = self.mate_in() {
            out.push('M');
            out.push_str(digits.format(plies));
            return;
        }
        let size = self.0.unsigned_abs();
        out.push_str(digits.format(size / 100));
        out.push_str(if size % 100 < 10 { ".0" } else { "." });
        out.push_str(digits.format(size % 100));
    }

    /// The plies to mate where it is one.
    #[must_use]
    pub fn mate_in(self) -> Option<Ply> {
        let plies = Eval::MATE - self.0.abs();
        if plies > Eval::LONGEST {
            return None;
        }
        u32::try_from(plies).ok().map(Ply)
    }
}

/// As in the event's files, which count mates in plies: `0.25`, `-11.06`, `M7`, `-M4`.
impl fmt::Display for Eval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.push(&mut text);
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_as_in_the_events_files() {
        for (eval, text) in [
            (Eval::centipawns(0), "0.00"),
            (Eval::centipawns(-5), "-0.05"),
            (Eval::centipawns(1106), "11.06"),
            (Eval::mate(4), "M7"),
            (Eval::mate(-2), "-M4"),
        ] {
            assert_eq!(eval.to_string(), text);
        }
        assert_eq!(Eval::centipawns(30).for_white(Color::Black), Eval::centipawns(-30));
    }

    #[test]
    fn every_mate_is_above_every_number() {
        assert!(Eval::mate(i64::MAX) > Eval::centipawns(i64::MAX));
        assert!(Eval::mate(i64::MIN) < Eval::centipawns(i64::MIN));
        assert!(Eval::mate(1) > Eval::mate(2));
        assert!(Eval::mate(0) < Eval::mate(-1));
        assert_eq!(Eval::mate(-2).mate_in(), Some(Ply(4)));
    }
}
