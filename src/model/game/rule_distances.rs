//! The distances of a game to its ends by evaluations.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Plies until a rule would end the game if all goes on so. Files have a number: negative while the rule counts nothing yet, and
/// -1000 for a rule that does not hold, as the event's files write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleDistance(i32);

impl RuleDistance {
    /// The distance to a rule that does not hold.
    pub(crate) const OFF: RuleDistance = RuleDistance(-1000);

    /// So many plies; `counts` is true once the rule counts some of them.
    pub(crate) fn new(plies: u32, counts: bool) -> RuleDistance {
        let plies = i32::try_from(plies).unwrap_or(i32::MAX);
        RuleDistance(if counts { plies } else { -plies })
    }

    /// The number that files have.
    pub(crate) fn number(self) -> i32 {
        self.0
    }

    /// The plies, and whether the rule counts some of them; none of a rule that does not hold.
    pub(crate) fn plies(self) -> Option<(u32, bool)> {
        (self != RuleDistance::OFF).then_some((self.0.unsigned_abs(), self.0 >= 0))
    }
}

/// The distances to the rules that end games by evaluations; files have a list of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "(i32, i32)", into = "(i32, i32)")]
pub struct RuleDistances {
    /// To the draw rule.
    pub(crate) draw: RuleDistance,
    /// To the win rule.
    pub(crate) win: RuleDistance,
}

impl RuleDistances {
    /// The distances of a game in which neither rule holds.
    pub const OFF: RuleDistances =
        RuleDistances { draw: RuleDistance::OFF, win: RuleDistance::OFF };
}

impl From<(i32, i32)> for RuleDistances {
    fn from((draw, win): (i32, i32)) -> RuleDistances {
        RuleDistances { draw: RuleDistance(draw), win: RuleDistance(win) }
    }
}

impl From<RuleDistances> for (i32, i32) {
    fn from(both: RuleDistances) -> (i32, i32) {
        (both.draw.number(), both.win.number())
    }
}

impl fmt::Display for RuleDistances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.draw.number(), self.win.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_numbers() {
        let draw = RuleDistance::new(8, false);
        let both = RuleDistances { draw, win: RuleDistance::OFF };
        assert_eq!(serde_json::to_string(&both).unwrap(), "[-8,-1000]");
        assert_eq!(serde_json::from_str::<RuleDistances>("[-8,-1000]").unwrap(), both);
        assert_eq!(both.to_string(), "(-8, -1000)");
        assert_eq!((draw.plies(), both.win.plies()), (Some((8, false)), None));
        assert_eq!(RuleDistance::new(3, true).plies(), Some((3, true)));
    }
}
