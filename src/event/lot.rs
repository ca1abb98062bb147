//! A lot: an order that a number draws, the same on every host and by every version.

/// Puts these into the order that a number draws.
pub(crate) fn shuffle<T>(these: &mut [T], number: u64) {
    let mut lots = number;
    for left in (1..these.len()).rev() {
        // A linear congruential generator; its upper bits are the good ones.
        lots = lots.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let chosen = usize::try_from(lots >> 33).unwrap_or(0) % (left + 1);
        these.swap(left, chosen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_draws_one_order_and_another_another() {
        let drawn = |number| {
            let mut these: Vec<u32> = (1..=8).collect();
            shuffle(&mut these, number);
            these
        };
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(drawn(7), drawn(8));
        let mut sorted = drawn(7);
        sorted.sort_unstable();
        assert_eq!(sorted, (1..=8).collect::<Vec<_>>());
        // Seats of events that are under way: the order of a number is for ever.
        assert_eq!(drawn(7), EVER);
    }

    const EVER: [u32; 8] = [8, 1, 3, 2, 6, 4, 5, 7];
}
