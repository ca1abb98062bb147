//! The order in which openings are played.

/// The order of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BookOrder {
    /// The order of the file.
    Sequential,
    /// Shuffled; the same seed gives the same order on every machine.
    Shuffled {
        /// The seed.
        seed: u64,
    },
}

/// The order in which every pair of engines meets the openings: no pair sees one again before the book is
/// used up, and all pairs see the same in their nth encounter, as in the real pools.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    order: Vec<usize>,
    start: usize,
}

impl Sequence {
    /// For a book of `length` openings, beginning with the one at `start` of the order (from 0).
    pub(crate) fn new(length: usize, order: BookOrder, start: usize) -> Sequence {
        let mut indices: Vec<usize> = (0..length).collect();
        if let BookOrder::Shuffled { seed } = order {
            let mut random = Random::new(seed);
            for last in (1..indices.len()).rev() {
                let other = random.below(last as u64 + 1);
                indices.swap(last, usize::try_from(other).unwrap_or(last));
            }
        }
        Sequence { order: indices, start }
    }

    /// The opening of a pair's nth encounter (from 0); none for an empty book.
    pub(crate) fn opening(&self, encounter: usize) -> Option<usize> {
        let length = self.order.len();
        if length == 0 {
            return None;
        }
        let at = (self.start % length + encounter % length) % length;
        self.order.get(at).copied()
    }
}

/// A small generator of our own (SplitMix64, public domain by its author), because the order that a seed
/// gives must never change with a library's version.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `bound` (which is not 0); the bias is below 2⁻³² for every book there is.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.next()) * u128::from(bound.max(1));
        u64::try_from(wide >> 64).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn an_empty_book_has_no_opening() {
        assert_eq!(Sequence::new(0, BookOrder::Sequential, 3).opening(7), None);
    }

    proptest! {
        #[test]
        fn nothing_comes_again_before_the_book_is_used_up(
            length in 1usize..200, seed: u64, start in 0usize..500, shuffled: bool, round in 0usize..3,
        ) {
            let order = if shuffled { BookOrder::Shuffled { seed } } else { BookOrder::Sequential };
            let sequence = Sequence::new(length, order, start);
            let mut seen: Vec<usize> =
                (0..length).filter_map(|n| sequence.opening(round * length + n)).collect();
            if !shuffled {
                prop_assert_eq!(seen[0], start % length);
            }
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..length).collect::<Vec<_>>());
        }
    }
}
