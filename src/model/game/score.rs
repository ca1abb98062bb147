//! An engine's score of a position, from one side's point of view.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shakmaty::Color;

use crate::model::units::Ply;

/// Hundredths of a pawn; a mate in n plies is a number far above every one of them, less n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(i32);

impl Score {
    /// A mate on the board; no score in centipawns reaches down to the mates.
    const MATE: i32 = 1_000_000;
    /// The longest mate that can be written; above every score in centipawns.
    const LONGEST: i32 = 10_000;

    /// From centipawns; what is absurdly large stays below every mate.
    pub fn centipawns(value: i64) -> Score {
        let most = i64::from(Score::MATE - Score::LONGEST - 1);
        Score(i32::try_from(value.clamp(-most, most)).unwrap_or_default())
    }

    /// From UCI's mate in so many moves; zero and less: the engine itself is mated.
    pub(crate) fn mate(moves: i64) -> Score {
        let length =
            i32::try_from(moves.unsigned_abs()).unwrap_or(Score::LONGEST).min(Score::LONGEST / 2);
        if moves > 0 {
            Score(Score::MATE - (2 * length - 1))
        } else {
            Score(2 * length - Score::MATE)
        }
    }

    /// Mate in so many plies; negative where the side itself is mated.
    pub fn mate_in_plies(plies: i32) -> Score {
        let left = i32::try_from(plies.unsigned_abs()).unwrap_or(Score::LONGEST);
        Score((Score::MATE - left.min(Score::LONGEST)) * if plies < 0 { -1 } else { 1 })
    }

    /// Reads the number of [`Score::value`], mates included.
    pub(crate) fn from_value(value: i32) -> Score {
        Score(value.clamp(-Score::MATE, Score::MATE))
    }

    /// The score from White's point of view; `by` is the side that gave it.
    #[must_use]
    pub(crate) fn for_white(self, by: Color) -> Score {
        by.fold_wb(self, Score(-self.0))
    }

    /// Its distance from level.
    #[must_use]
    pub(crate) fn size(self) -> Score {
        Score(self.0.abs())
    }

    /// As hundredths of a pawn.
    #[must_use]
    pub(crate) fn value(self) -> i32 {
        self.0
    }

    /// Appends it as it is displayed, without the formatting machinery: a game has hundreds.
    pub(crate) fn push(self, out: &mut String) {
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
    pub(crate) fn mate_in(self) -> Option<Ply> {
        let plies = Score::MATE - self.0.abs();
        if plies > Score::LONGEST {
            return None;
        }
        u32::try_from(plies).ok().map(Ply)
    }
}

/// A score in a report: `{"centipawns": 30}`, `{"mate": -4}` with the plies to mate.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Tagged {
    Centipawns(i32),
    Mate(i32),
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tagged = match self.mate_in() {
            // invariant: a mate is at most some thousand plies away
            Some(Ply(plies)) => {
                Tagged::Mate(i32::try_from(plies).unwrap_or(i32::MAX) * self.0.signum())
            }
            None => Tagged::Centipawns(self.0),
        };
        tagged.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Score, D::Error> {
        Ok(match Tagged::deserialize(deserializer)? {
            Tagged::Centipawns(value) => Score::centipawns(value.into()),
            Tagged::Mate(plies) => Score::mate_in_plies(plies),
        })
    }
}

/// As in the event's files, which count mates in plies: `0.25`, `-11.06`, `M7`, `-M4`.
impl fmt::Display for Score {
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
            (Score::centipawns(0), "0.00"),
            (Score::centipawns(-5), "-0.05"),
            (Score::centipawns(1106), "11.06"),
            (Score::mate(4), "M7"),
            (Score::mate(-2), "-M4"),
        ] {
            assert_eq!(eval.to_string(), text);
        }
        assert_eq!(Score::centipawns(30).for_white(Color::Black), Score::centipawns(-30));
    }

    #[test]
    fn every_mate_is_above_every_number() {
        assert!(Score::mate(i64::MAX) > Score::centipawns(i64::MAX));
        assert!(Score::mate(i64::MIN) < Score::centipawns(i64::MIN));
        assert!(Score::mate(1) > Score::mate(2));
        assert!(Score::mate(0) < Score::mate(-1));
        assert_eq!(Score::mate(-2).mate_in(), Some(Ply(4)));
    }

    #[test]
    fn a_report_says_which_kind_it_is() {
        for (score, json) in [
            (Score::centipawns(-7), r#"{"centipawns":-7}"#),
            (Score::mate(2), r#"{"mate":3}"#),
            (Score::mate(-2), r#"{"mate":-4}"#),
        ] {
            assert_eq!(serde_json::to_string(&score).unwrap(), json);
            assert_eq!(serde_json::from_str::<Score>(json).unwrap(), score);
        }
    }
}
