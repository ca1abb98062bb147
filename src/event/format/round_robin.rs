//! Round robins: everybody meets everybody, in Berger order or in the older rotation.

use std::num::NonZeroU32;

use super::super::schedule::{BookPolicy, Seat, StageSchedule, TooFewOrMany};
use super::due::{Due, Next, StageHistory, groups, open, points};
use crate::model::game::listed::RoundGame;
use crate::model::words::counted;

/// In which order the pairs of a cycle come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PairOrder {
    /// FIDE's Berger tables.
    #[default]
    Berger,
    /// The last seat stays and has Black in the first cycle, the others move on by one: nTCEC.
    Rotation,
}

impl PairOrder {
    /// Every order.
    pub(crate) const ALL: [PairOrder; 2] = [PairOrder::Berger, PairOrder::Rotation];

    /// Its word in an event file.
    pub(crate) fn word(self) -> &'static str {
        match self {
            PairOrder::Berger => "berger",
            PairOrder::Rotation => "rotation",
        }
    }
}

/// Cycles in which everybody meets everybody once; every second one is the cycle before it with colours reversed,
/// from the same openings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoundRobin {
    /// Cycles: two are a double round robin.
    pub(crate) cycles: NonZeroU32,
    /// The order within a cycle.
    pub(crate) order: PairOrder,
}

impl RoundRobin {
    /// A number of double round robins.
    pub(crate) fn of_doubles(doubles: NonZeroU32, order: PairOrder) -> RoundRobin {
        RoundRobin { cycles: doubles.saturating_mul(NonZeroU32::MIN.saturating_add(1)), order }
    }

    /// Its double round robins; of one that is not whole there are openings all the same.
    pub(crate) fn doubles(&self) -> NonZeroU32 {
        NonZeroU32::new(self.cycles.get().div_ceil(2)).unwrap_or(NonZeroU32::MIN)
    }

    /// Its length in words, such as `2 double round robins`.
    pub(crate) fn in_words(&self) -> String {
        let cycles = self.cycles.get();
        let (number, kind) = match cycles.is_multiple_of(2) {
            true => (cycles / 2, "double round robin"),
            false => (cycles, "single round robin"),
        };
        counted(number, kind)
    }

    /// Every game, in order.
    ///
    /// # Errors
    /// For a number of engines that cannot play each other.
    pub(crate) fn games(&self, seats: usize) -> Result<Vec<Due>, TooFewOrMany> {
        let schedule = StageSchedule::new(seats, self.doubles(), BookPolicy::None)?;
        if self.order == PairOrder::Rotation {
            return Ok(self.rotation(seats));
        }
        let cycle = schedule.games_per_double() / 2;
        Ok((0..cycle * self.cycles.get() as usize)
            .zip(schedule.pairings())
            .map(|(number, game)| {
                Due::of_pair(game.at, (game.white, game.black), pair(number, cycle))
            })
            .collect())
    }

    fn rotation(&self, seats: usize) -> Vec<Due> {
        let even = seats.next_multiple_of(2);
        let last = even - 1;
        let rounds = u32::try_from(last).unwrap_or(u32::MAX);
        let mut games = Vec::new();
        for cycle in 0..self.cycles.get() {
            for round in 0..last {
                let pairs = (0..even / 2).map(|i| {
                    let first = (round + i) % last;
                    (first, if i == 0 { last } else { (round + last - i) % last })
                });
                let pairs = pairs.filter(|(first, second)| *first < seats && *second < seats);
                for ((first, second), game) in pairs.zip(1..) {
                    let pair = pair(games.len(), seats * (seats - 1) / 2);
                    let is_reverse = cycle % 2 == 1;
                    let (white, black) = if is_reverse { (second, first) } else { (first, second) };
                    let round = u32::try_from(round).unwrap_or(u32::MAX);
                    let at = RoundGame { round: cycle * rounds + round + 1, game };
                    games.push(Due::of_pair(at, (Seat(white), Seat(black)), pair));
                }
            }
        }
        games
    }

    /// Returns the games that are due, or the end.
    pub(crate) fn next(&self, seats: usize, past: &StageHistory) -> Next {
        let due = open(self.games(seats).unwrap_or_default(), past);
        if !due.is_empty() {
            return Next::Play(due);
        }
        Next::Over(groups((0..seats).map(Seat).collect(), |seat| points(past, seat)))
    }
}

/// The encounter of the game of a number: its reverse comes a cycle later.
fn pair(number: usize, cycle: usize) -> usize {
    number / (2 * cycle) * cycle + number % cycle
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubles(number: u32, order: PairOrder) -> RoundRobin {
        RoundRobin::of_doubles(NonZeroU32::new(number).unwrap(), order)
    }

    #[test]
    fn a_single_round_robin_is_the_first_half_of_a_double_one() {
        for order in [PairOrder::Berger, PairOrder::Rotation] {
            for seats in 2..=20 {
                for cycles in 1..=3 {
                    let some = RoundRobin { cycles: NonZeroU32::new(cycles).unwrap(), order };
                    let games = some.games(seats).unwrap();
                    assert_eq!(games.len(), cycles as usize * seats * (seats - 1) / 2);
                    assert_eq!(games, doubles(2, order).games(seats).unwrap()[..games.len()]);
                }
            }
        }
        let words = |cycles| {
            RoundRobin { cycles: NonZeroU32::new(cycles).unwrap(), order: PairOrder::Berger }
                .in_words()
        };
        assert_eq!(
            [1, 2, 3, 4].map(words),
            [
                "1 single round robin",
                "1 double round robin",
                "3 single round robins",
                "2 double round robins"
            ]
        );
    }

    #[test]
    fn the_rotation_is_that_of_the_older_seasons() {
        let games = doubles(3, PairOrder::Rotation).games(4).unwrap();
        let told: Vec<String> =
            games.iter().map(|due| format!("{}{}", due.white.0, due.black.0)).collect();
        assert_eq!(told[..12].join(" "), "03 12 13 20 23 01 30 21 31 02 32 10");
        assert_eq!(games.len(), 36);
        assert_eq!(games[35].at, RoundGame { round: 18, game: 2 });
    }

    #[test]
    fn each_pair_has_one_opening_and_both_colours() {
        for order in [PairOrder::Berger, PairOrder::Rotation] {
            for seats in 2..=60 {
                let games = doubles(2, order).games(seats).unwrap();
                assert_eq!(games.len(), 2 * seats * (seats - 1));
                let mut pairs = std::collections::BTreeMap::<_, Vec<Due>>::new();
                for due in &games {
                    pairs.entry(due.pair).or_default().push(*due);
                }
                assert_eq!(pairs.len(), seats * (seats - 1));
                for pair in pairs.values() {
                    assert_eq!(pair.len(), 2);
                    assert_eq!((pair[0].white, pair[0].black), (pair[1].black, pair[1].white));
                    assert_eq!(pair[0].opening, pair[1].opening);
                }
                for round in games.chunk_by(|a, b| a.at.round == b.at.round) {
                    let mut busy: Vec<Seat> =
                        round.iter().flat_map(|due| [due.white, due.black]).collect();
                    busy.sort();
                    busy.dedup();
                    assert_eq!(busy.len(), 2 * (seats / 2));
                }
            }
        }
    }
}
