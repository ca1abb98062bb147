//! The figure of an engine by a criterion, which is compared exactly.

use std::cmp::Ordering;
use std::fmt;

use crate::event::rmobility::RMobility;
use crate::model::game::points::{HalfPoints, QuarterPoints};

/// A figure. Figures of one criterion are of one kind, and are compared as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Points.
    Points(HalfPoints),
    /// Products of points.
    Quarters(QuarterPoints),
    /// r-mobility points.
    RMobility(RMobility),
    /// A number of games or pairs.
    Count(u32),
    /// An average.
    Average(Average),
}

impl Figure {
    /// For programs; none for the average of nothing.
    #[must_use]
    pub(crate) fn as_f64(self) -> Option<f64> {
        match self {
            Figure::Points(points) => Some(points.as_f64()),
            Figure::Quarters(points) => Some(points.as_f64()),
            Figure::RMobility(points) => Some(points.as_f64()),
            Figure::Count(count) => Some(f64::from(count)),
            Figure::Average(average) => average.as_f64(),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Figure::Points(points) => points.fmt(f),
            Figure::Quarters(points) => points.fmt(f),
            Figure::RMobility(points) => points.fmt(f),
            Figure::Count(count) => count.fmt(f),
            Figure::Average(average) => average.fmt(f),
        }
    }
}

/// An average number of moves, kept as a fraction.
///
/// The average of no games is above every other: who won no game is last where short wins count, and who
/// lost none is first where long losses do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Average {
    /// Moves in all.
    pub(crate) moves: u64,
    /// Games.
    pub(crate) games: u64,
}

impl Average {
    /// The average of games of these lengths.
    pub(crate) fn of(lengths: impl Iterator<Item = u32>) -> Average {
        lengths.fold(Average::default(), |sum, moves| Average {
            moves: sum.moves + u64::from(moves),
            games: sum.games + 1,
        })
    }

    /// For programs; none for the average of nothing.
    #[must_use]
    pub(crate) fn as_f64(self) -> Option<f64> {
        (self.games > 0).then(|| self.moves as f64 / self.games as f64)
    }
}

impl Ord for Average {
    fn cmp(&self, other: &Average) -> Ordering {
        match (self.games, other.games) {
            (0, 0) => Ordering::Equal,
            (0, _) => Ordering::Greater,
            (_, 0) => Ordering::Less,
            (own, others) => {
                let left = u128::from(self.moves) * u128::from(others);
                left.cmp(&(u128::from(other.moves) * u128::from(own)))
            }
        }
    }
}

impl PartialOrd for Average {
    fn partial_cmp(&self, other: &Average) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Average {
    fn eq(&self, other: &Average) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Average {}

impl fmt::Display for Average {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_f64() {
            Some(average) => f.pad(&format!("{average:.2}")),
            None => f.pad("–"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn average(moves: u64, games: u64) -> Average {
        Average { moves, games }
    }

    #[test]
    fn averages_are_compared_as_fractions() {
        assert_eq!(average(1, 3), average(2, 6));
        assert!(average(1531, 30) < average(1614, 30));
        assert!(average(51, 1) < average(103, 2));
        assert_eq!(average(1531, 30).to_string(), "51.03");
    }

    #[test]
    fn the_average_of_nothing_is_above_all() {
        assert!(average(0, 0) > average(1000, 1));
        assert_eq!(average(0, 0), average(0, 0));
        assert_eq!(average(0, 0).to_string(), "–");
        assert_eq!(average(0, 0).as_f64(), None);
    }
}
