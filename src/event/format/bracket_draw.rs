//! The places of the seeds in a bracket.

use super::super::lot;
use super::super::schedule::Seat;

/// Where the seeds stand in a bracket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BracketDraw {
    /// Seats are the places of the bracket.
    #[default]
    AsDrawn,
    /// Seats are seeds at equal distances.
    EqualDistance,
    /// The first eight of 32 seeds at equal distances, the others by lot.
    PreSeeded {
        /// The random seed of the lot.
        shuffle: u64,
    },
}

impl BracketDraw {
    /// The seats in the order of the places; some are nobody's where the bracket is not full.
    #[must_use]
    pub(crate) fn places(self, seats: usize) -> Vec<Seat> {
        match self {
            BracketDraw::AsDrawn => (0..seats.max(2).next_power_of_two()).map(Seat).collect(),
            BracketDraw::PreSeeded { shuffle } if seats == 32 => pre_seeded(shuffle),
            BracketDraw::EqualDistance | BracketDraw::PreSeeded { .. } => equal_distance(seats),
        }
    }
}

/// The seeds (from 0) of an equal-distance bracket in the order of its places: 1,32 meet only in the end.
fn equal_distance(seats: usize) -> Vec<Seat> {
    let size = seats.max(2).next_power_of_two();
    let mut places = vec![0usize];
    while places.len() < size {
        // Each place splits into itself and the one that is next by the number of places so far.
        let step = places.len();
        places = places.iter().flat_map(|seed| [*seed, seed + step]).collect();
    }
    places.into_iter().map(Seat).collect()
}

/// The seeds (from 0) of a bracket of 32 in the order of its places, where the first eight are set at equal
/// distances and all others are drawn by lot (EDPS8-RRC). The same shuffle gives the same bracket.
fn pre_seeded(shuffle: u64) -> Vec<Seat> {
    const SET: [usize; 8] = [0, 4, 2, 6, 1, 5, 3, 7];
    let mut rest: Vec<usize> = (8..32).collect();
    lot::shuffle(&mut rest, shuffle);
    // Matches 1, 3, 5 … begin with a seed; the other places are the lot's.
    let mut lot = rest.into_iter();
    let mut places = Vec::new();
    for seed in SET {
        places.push(seed);
        places.extend(lot.by_ref().take(3));
    }
    places.into_iter().map(Seat).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leaves_of_thirty_two() {
        let told: Vec<String> = equal_distance(32)
            .chunks(2)
            .map(|pair| format!("{},{}", pair[0].0 + 1, pair[1].0 + 1))
            .collect();
        assert_eq!(
            told.join("|"),
            "1,17|9,25|5,21|13,29|3,19|11,27|7,23|15,31|2,18|10,26|6,22|14,30|4,20|12,28|8,24|16,32"
        );
    }

    #[test]
    fn eight_seeds_stand_at_equal_distances_and_the_rest_is_drawn_by_lot() {
        let places = pre_seeded(7);
        let firsts: Vec<usize> = places.iter().step_by(4).map(|seat| seat.0 + 1).collect();
        assert_eq!(firsts, [1, 5, 3, 7, 2, 6, 4, 8]);
        let all: std::collections::BTreeSet<Seat> = places.iter().copied().collect();
        assert_eq!(all.len(), 32);
        assert_eq!(pre_seeded(7), places);
        assert_ne!(pre_seeded(8), places);
    }
}
