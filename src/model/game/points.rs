//! Points that are added and compared exactly: halves for games, quarters for products of them.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// Points in halves: a win is two of them, a draw one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HalfPoints(pub u32);

impl HalfPoints {
    /// Nothing: a lost game.
    pub(crate) const ZERO: HalfPoints = HalfPoints(0);
    /// A drawn game.
    pub(crate) const HALF: HalfPoints = HalfPoints(1);
    /// A won game.
    pub(crate) const ONE: HalfPoints = HalfPoints(2);

    /// For JSON and for shares of a maximum; exact, since halves are.
    #[must_use]
    pub(crate) fn as_f64(self) -> f64 {
        f64::from(self.0) / 2.0
    }
}

impl Add for HalfPoints {
    type Output = HalfPoints;
    fn add(self, other: HalfPoints) -> HalfPoints {
        HalfPoints(self.0.saturating_add(other.0))
    }
}

impl AddAssign for HalfPoints {
    fn add_assign(&mut self, other: HalfPoints) {
        *self = *self + other;
    }
}

impl Sum for HalfPoints {
    fn sum<I: Iterator<Item = HalfPoints>>(points: I) -> HalfPoints {
        points.fold(HalfPoints::ZERO, Add::add)
    }
}

impl fmt::Display for HalfPoints {
    /// `34.5`, `26`, with the formatter's width.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let half = if self.0 % 2 == 1 { ".5" } else { "" };
        f.pad(&format!("{}{half}", self.0 / 2))
    }
}

/// Points in quarters: the product of two [`HalfPoints`], as Sonneborn-Berger sums them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuarterPoints(pub(crate) u64);

impl QuarterPoints {
    /// `result` × `score`.
    pub(crate) fn product(result: HalfPoints, score: HalfPoints) -> QuarterPoints {
        QuarterPoints(u64::from(result.0) * u64::from(score.0))
    }

    /// For JSON; exact for every sum that an event can reach.
    #[must_use]
    pub(crate) fn as_f64(self) -> f64 {
        self.0 as f64 / 4.0
    }
}

impl Sum for QuarterPoints {
    fn sum<I: Iterator<Item = QuarterPoints>>(points: I) -> QuarterPoints {
        QuarterPoints(points.fold(0, |sum, next| sum.saturating_add(next.0)))
    }
}

impl fmt::Display for QuarterPoints {
    /// Always two places, as tables of the event have it: `519.75`, `269.00`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{:02}", self.0 / 4, self.0 % 4 * 25))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_and_quarters_are_written_as_people_write_them() {
        assert_eq!(HalfPoints(69).to_string(), "34.5");
        assert_eq!(HalfPoints(52).to_string(), "26");
        assert_eq!(HalfPoints(1).to_string(), "0.5");
        assert_eq!(format!("{:>5}|", HalfPoints(3)), "  1.5|");
        assert_eq!(QuarterPoints(2079).to_string(), "519.75");
        assert_eq!(QuarterPoints(1076).to_string(), "269.00");
        assert_eq!(QuarterPoints(1).to_string(), "0.25");
    }

    #[test]
    fn a_product_of_halves_is_in_quarters() {
        let product = QuarterPoints::product(HalfPoints::HALF, HalfPoints(69));
        assert_eq!(product.to_string(), "17.25");
        assert_eq!(product.as_f64(), 17.25);
        assert_eq!(
            [HalfPoints::ONE, HalfPoints::HALF].into_iter().sum::<HalfPoints>(),
            HalfPoints(3)
        );
    }
}
