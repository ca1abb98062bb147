//! The schedule of a stage: its pairings, with their colours, order and openings.
//!
//! One shape serves both stages of the 4k event: a round robin by FIDE's Berger tables, whose every odd
//! cycle swaps the colours of the one before and reuses its openings. With two engines that is a match of
//! pairs, each opening followed at once by its reverse; the pool's winner takes seat 1, so that it is Black
//! in the first game of each pair.

use std::num::NonZeroU32;

use crate::model::game::listed::RoundGame;

/// The most engines of a stage.
pub(crate) const MOST_SEATS: usize = 1000;

/// A place in the draw, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seat(pub usize);

/// An opening of the stage's book, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpeningIndex(pub usize);

/// The order in which openings are handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BookPolicy {
    /// No game has one.
    None,
    /// All games of a double round robin have the same, and the first double round robin has none: the
    /// pools of the event.
    FirstBookless,
    /// All games of a double round robin have the same, from the first on: with two engines, distinct
    /// openings with immediate reverses, as in the MiniFinals of the event.
    EachDouble,
}

impl BookPolicy {
    /// The opening of a double round robin by its number, from 0.
    pub(crate) fn opening(self, double: usize) -> Option<OpeningIndex> {
        match self {
            BookPolicy::None => None,
            BookPolicy::FirstBookless => double.checked_sub(1).map(OpeningIndex),
            BookPolicy::EachDouble => Some(OpeningIndex(double)),
        }
    }
}

/// A stage's schedule: `doubles` double round robins between `seats` engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StageSchedule {
    seats: usize,
    doubles: NonZeroU32,
    book: BookPolicy,
}

/// The error for a number of engines that has no schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} engines cannot play each other; a stage needs 2 to {most}", most = MOST_SEATS)]
pub struct TooFewOrMany(usize);

/// One game to be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StagePairing {
    /// Its place, as the PGN's Round tag has it.
    pub at: RoundGame,
    /// The seat with White.
    pub white: Seat,
    /// The seat with Black.
    pub black: Seat,
    /// The double round robin that it belongs to, from 0. The other game between the two engines in it is its reverse.
    pub(crate) double: u32,
    /// Its opening; none for a bookless game.
    pub opening: Option<OpeningIndex>,
}

impl StageSchedule {
    /// A schedule, also for a stage that is a match: of the MiniFinal (rules 0.4 and 3.2) seat 1 is the pool's winner, and a tie
    /// is played on with [`StageSchedule::double`] beyond the last pair.
    ///
    /// # Errors
    /// Fewer than 2 engines, or more than anybody could ever play.
    pub fn new(
        seats: usize,
        doubles: NonZeroU32,
        book: BookPolicy,
    ) -> Result<StageSchedule, TooFewOrMany> {
        if !(2..=MOST_SEATS).contains(&seats) {
            return Err(TooFewOrMany(seats));
        }
        Ok(StageSchedule { seats, doubles, book })
    }

    /// Engines.
    pub(crate) fn seats(&self) -> usize {
        self.seats
    }

    /// Games of one double round robin.
    pub(crate) fn games_per_double(&self) -> usize {
        self.seats * (self.seats - 1)
    }

    /// Games in all.
    pub fn games(&self) -> usize {
        self.games_per_double() * self.doubles.get() as usize
    }

    /// Rounds of one cycle (half a double round robin).
    pub(crate) fn rounds_per_cycle(&self) -> u32 {
        rounds_per_cycle(self.seats)
    }

    /// Every game, in order.
    pub fn pairings(self) -> impl Iterator<Item = StagePairing> {
        (0..self.doubles.get()).flat_map(move |double| self.double(double))
    }

    /// The games of one double round robin, in order; also of one beyond the last.
    pub(crate) fn double(self, double: u32) -> impl Iterator<Item = StagePairing> {
        // Rounds that no number tells are played by nobody.
        let rounds = 2 * self.rounds_per_cycle();
        let first = rounds.saturating_mul(double).saturating_add(1);
        (first..first.saturating_add(rounds)).flat_map(move |round| self.round(round))
    }

    /// The games of one round, from 1, in order; also of one beyond the last double round robin.
    fn round(self, round: u32) -> impl Iterator<Item = StagePairing> {
        let rounds = self.rounds_per_cycle();
        let (cycle, in_cycle) = ((round - 1) / rounds, (round - 1) % rounds);
        let double = cycle / 2;
        let opening = self.book.opening(double as usize);
        berger_round(self.seats, in_cycle).zip(1..).map(move |((first, second), game)| {
            StagePairing {
                at: RoundGame { round, game },
                white: if cycle.is_multiple_of(2) { first } else { second },
                black: if cycle.is_multiple_of(2) { second } else { first },
                double,
                opening,
            }
        })
    }

    /// The game of a place, also of one beyond the last double round robin; none where no schedule has one.
    #[must_use]
    pub(crate) fn at(self, place: RoundGame) -> Option<StagePairing> {
        let game = place.game.checked_sub(1)? as usize;
        (place.round > 0).then(|| self.round(place.round).nth(game))?
    }

    /// The number of a place in the order of play, from 0, for a place that the schedule has.
    pub(crate) fn number(self, place: RoundGame) -> u64 {
        // In a field of odd size one engine has a bye in each round.
        let per_round = self.seats as u64 / 2;
        let before = |number: u32| u64::from(number.saturating_sub(1));
        before(place.round) * per_round + before(place.game)
    }

    /// The place of a number in the order of play.
    #[must_use]
    pub(crate) fn place(self, number: u64) -> RoundGame {
        let per_round = self.seats as u64 / 2;
        let part = |part: u64| u32::try_from(part).unwrap_or(u32::MAX - 1) + 1;
        RoundGame { round: part(number / per_round), game: part(number % per_round) }
    }
}

/// Rounds in which each of `engines` meets every other once.
pub(crate) fn rounds_per_cycle(engines: usize) -> u32 {
    // No event has as many engines as would not fit.
    u32::try_from(engines.next_multiple_of(2) - 1).unwrap_or(u32::MAX)
}

/// The (White, Black) seats of one round of a cycle, `round` from 0, without byes.
///
/// With c = the number of seats rounded up to even, round 1 pairs the seats (i, c−1−i). After each round
/// every seat but the last moves on by c/2 modulo c−1; the last is White in even rounds, Black in odd ones.
fn berger_round(seats: usize, round: u32) -> impl Iterator<Item = (Seat, Seat)> {
    let even = seats.next_multiple_of(2);
    let last = even - 1;
    let shift = round as usize % last * (even / 2) % last;
    (0..even / 2)
        .map(move |i| {
            let first = (i + shift) % last;
            if i > 0 {
                (first, (last - i + shift) % last)
            } else if round.is_multiple_of(2) {
                (first, last)
            } else {
                (last, first)
            }
        })
        .filter(move |(white, black)| *white < seats && *black < seats)
        .map(|(white, black)| (Seat(white), Seat(black)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn doubles(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    fn cycle(seats: usize) -> String {
        let rounds: Vec<String> = (0..rounds_per_cycle(seats))
            .map(|round| {
                let games: Vec<String> = berger_round(seats, round)
                    .map(|(white, black)| format!("{}{}", white.0, black.0))
                    .collect();
                games.join(" ")
            })
            .collect();
        rounds.join(" | ")
    }

    #[test]
    fn the_berger_tables_of_six_and_seven() {
        assert_eq!(cycle(6), "05 14 23 | 53 42 01 | 15 20 34 | 54 03 12 | 25 31 40");
        assert_eq!(
            cycle(7),
            "16 25 34 | 53 62 01 | 20 36 45 | 64 03 12 | 31 40 56 | 05 14 23 | 42 51 60"
        );
        assert_eq!(cycle(2), "01");
        assert_eq!(cycle(3), "12 | 01 | 20");
    }

    #[test]
    fn a_pool_has_the_rules_number_of_games() {
        // Rule 0.2: 120 games at 6 engines.
        let pool = StageSchedule::new(6, doubles(4), BookPolicy::FirstBookless).unwrap();
        assert_eq!(pool.games(), 120);
        assert_eq!(pool.pairings().count(), 120);
    }

    #[test]
    fn a_reverse_game_comes_one_cycle_later_with_the_same_opening() {
        for seats in 2..12 {
            let pool = StageSchedule::new(seats, doubles(3), BookPolicy::FirstBookless).unwrap();
            let games: Vec<StagePairing> = pool.pairings().collect();
            let cycle = seats * (seats - 1) / 2;
            for (at, game) in games.iter().enumerate() {
                if at / cycle % 2 == 1 {
                    let first = &games[at - cycle];
                    assert_eq!((game.white, game.black), (first.black, first.white));
                    assert_eq!((game.opening, game.double), (first.opening, first.double));
                }
                let expected = game.double.checked_sub(1).map(|i| OpeningIndex(i as usize));
                assert_eq!(game.opening, expected);
            }
        }
    }

    #[test]
    fn everybody_meets_everybody_with_both_colours_in_each_double() {
        for seats in 2..15 {
            let pool = StageSchedule::new(seats, doubles(2), BookPolicy::None).unwrap();
            for double in 0..2 {
                let mut met = HashMap::new();
                for game in pool.double(double) {
                    *met.entry((game.white, game.black)).or_insert(0) += 1;
                }
                assert_eq!(met.len(), pool.games_per_double());
                assert!(met.values().all(|times| *times == 1));
            }
        }
    }

    #[test]
    fn nobody_plays_twice_in_a_round_and_places_are_in_order() {
        for seats in 2..12 {
            let pool = StageSchedule::new(seats, doubles(2), BookPolicy::None).unwrap();
            let games: Vec<StagePairing> = pool.pairings().collect();
            assert!(games.is_sorted_by(|a, b| a.at < b.at));
            for round in games.chunk_by(|a, b| a.at.round == b.at.round) {
                let mut busy: Vec<Seat> = round.iter().flat_map(|g| [g.white, g.black]).collect();
                busy.sort();
                busy.dedup();
                assert_eq!(busy.len(), round.len() * 2);
                assert_eq!(round[0].at.game, 1);
            }
        }
    }

    #[test]
    fn a_place_tells_its_game_and_its_number() {
        for seats in 2..9 {
            let pool = StageSchedule::new(seats, doubles(3), BookPolicy::FirstBookless).unwrap();
            for (number, game) in (0..).zip(pool.pairings()) {
                assert_eq!(pool.at(game.at), Some(game));
                assert_eq!((pool.number(game.at), pool.place(number)), (number, game.at));
            }
            let none = |round, game| pool.at(RoundGame { round, game });
            assert_eq!([none(0, 1), none(1, 0), none(1, seats as u32 / 2 + 1)], [None; 3]);
            // Beyond the last double round robin it goes on.
            assert_eq!(none(6 * pool.rounds_per_cycle() + 1, 1).map(|game| game.double), Some(3));
            assert!(none(u32::MAX, 1).is_some());
        }
    }

    #[test]
    fn a_minifinal_has_distinct_openings_each_followed_by_its_reverse() {
        let minifinal = StageSchedule::new(2, doubles(25), BookPolicy::EachDouble).unwrap();
        let games: Vec<StagePairing> = minifinal.pairings().collect();
        assert_eq!(games.len(), 50);
        for (pair, games) in games.chunks(2).enumerate() {
            assert!(games.iter().all(|g| g.opening == Some(OpeningIndex(pair))));
            // Seat 1, the pool's winner, is Black first.
            assert_eq!((games[0].white, games[0].black), (Seat(0), Seat(1)));
            assert_eq!((games[1].white, games[1].black), (Seat(1), Seat(0)));
            assert_eq!(games[1].at.to_string(), format!("{}.1", 2 * pair + 2));
        }
        // Played on after a tie: the 26th pair.
        let next: Vec<StagePairing> = minifinal.double(25).collect();
        assert_eq!(next[0].at, RoundGame { round: 51, game: 1 });
        assert_eq!(next[0].opening, Some(OpeningIndex(25)));
    }

    #[test]
    fn one_engine_plays_nobody() {
        for seats in [0, 1, 1001] {
            let error = StageSchedule::new(seats, doubles(1), BookPolicy::None).unwrap_err();
            assert!(error.to_string().starts_with(&seats.to_string()));
        }
    }
}
