//! The plan of a match: players, colours and opening as a function of the number of a game, so that
//! workers need to share nothing but a counter.

use serde::{Deserialize, Serialize};

/// The most games of a match: a longer list, such as a slip in a number makes, would fill the memory.
pub(crate) const MOST_GAMES: usize = 10_000_000;

/// The pairings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
pub enum PairingSystem {
    /// Everybody meets everybody
    RoundRobin,
    /// The first engine meets each of the others
    Gauntlet,
}

/// The order of openings and colours in an encounter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColourOrder {
    /// Two games in a row on the same opening, colours reversed.
    Reversed,
    /// A new opening each game, colours in turn.
    InTurn,
}

/// The plan of a match.
#[derive(Clone, Debug)]
pub(crate) struct MatchSchedule {
    couples: Vec<(usize, usize)>,
    rounds: usize,
    games: usize,
    colours: ColourOrder,
}

/// One game of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ScheduledGame {
    /// Its number, from 0.
    pub(crate) game: usize,
    /// Its round, from 1.
    pub(crate) round: usize,
    /// Its number in the round, from 1.
    pub(crate) in_round: usize,
    /// White, by the engine's place in the list.
    pub white: usize,
    /// Black.
    pub black: usize,
    /// The couple of engines, by its place among all couples.
    pub(crate) couple: usize,
    /// The how-manieth opening of this couple it is played in, from 0; both games of a pair share it.
    pub(crate) encounter: usize,
    /// True if it has a partner with reversed colours.
    pub(crate) paired: bool,
}

impl MatchSchedule {
    /// For so many engines: `rounds` times an encounter of `games` games between the two of each couple.
    pub(crate) fn new(
        engines: usize,
        format: PairingSystem,
        rounds: usize,
        games: usize,
        colours: ColourOrder,
    ) -> MatchSchedule {
        let couples = match format {
            PairingSystem::Gauntlet => (1..engines).map(|other| (0, other)).collect(),
            PairingSystem::RoundRobin => (0..engines)
                .flat_map(|one| (one + 1..engines).map(move |other| (one, other)))
                .collect(),
        };
        MatchSchedule { couples, rounds, games, colours }
    }

    /// The schedule as a gauntlet of the first `seeds` engines: each of them meets all the others, and no other of them.
    #[must_use]
    pub(crate) fn seeded(mut self, seeds: usize) -> MatchSchedule {
        let engines = self.couples.iter().map(|(_, other)| other + 1).max().unwrap_or(0);
        let others = |seed: usize| (seeds..engines).map(move |other| (seed, other));
        self.couples = (0..seeds).flat_map(others).collect();
        self
    }

    /// The number of games.
    pub(crate) fn total(&self) -> usize {
        self.per_round().saturating_mul(self.rounds)
    }

    fn per_round(&self) -> usize {
        self.couples.len().saturating_mul(self.games)
    }

    /// The openings that each couple needs.
    pub(crate) fn openings(&self) -> usize {
        self.rounds.saturating_mul(self.openings_an_encounter())
    }

    fn openings_an_encounter(&self) -> usize {
        match self.colours {
            ColourOrder::Reversed => self.games.div_ceil(2),
            ColourOrder::InTurn => self.games,
        }
    }

    /// The order of colours.
    pub(crate) fn colours(&self) -> ColourOrder {
        self.colours
    }

    /// The number of the pair of games (of the single game, where pairs are none) that a game is of: all games of one
    /// opening between the same two engines have it.
    pub(crate) fn unit(&self, pairing: &ScheduledGame) -> usize {
        pairing.encounter.saturating_mul(self.couples.len()).saturating_add(pairing.couple)
    }

    /// The couples, by the engines' places in the list.
    pub(crate) fn couples(&self) -> &[(usize, usize)] {
        &self.couples
    }

    /// The game of a number (from 0); none beyond the last.
    pub(crate) fn pairing(&self, game: usize) -> Option<ScheduledGame> {
        if game >= self.total() {
            return None;
        }
        let (round, in_round) = (game / self.per_round(), game % self.per_round());
        let (couple, part) = (in_round / self.games, in_round % self.games);
        let (one, other) = *self.couples.get(couple)?;
        let (opening, swapped) = match self.colours {
            // An odd game at the end of an encounter changes hands with the round.
            ColourOrder::Reversed if part + 1 == self.games && part % 2 == 0 => {
                (part / 2, (round + couple) % 2 == 1)
            }
            ColourOrder::Reversed => (part / 2, part % 2 == 1),
            ColourOrder::InTurn => (part, (round * self.games + part + couple) % 2 == 1),
        };
        let (white, black) = if swapped { (other, one) } else { (one, other) };
        Some(ScheduledGame {
            game,
            round: round + 1,
            in_round: in_round + 1,
            white,
            black,
            couple,
            encounter: round * self.openings_an_encounter() + opening,
            paired: self.colours == ColourOrder::Reversed
                && (part % 2 == 1 || part + 1 < self.games),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn played(schedule: &MatchSchedule) -> Vec<(usize, usize, usize)> {
        (0..schedule.total())
            .map(|game| schedule.pairing(game).unwrap())
            .map(|p| (p.white, p.black, p.encounter))
            .collect()
    }

    #[test]
    fn pairs_reverse_the_colours_of_one_opening() {
        let two = MatchSchedule::new(2, PairingSystem::RoundRobin, 2, 2, ColourOrder::Reversed);
        assert_eq!(played(&two), [(0, 1, 0), (1, 0, 0), (0, 1, 1), (1, 0, 1)]);
        assert_eq!(two.pairing(4), None);
        let three = MatchSchedule::new(3, PairingSystem::Gauntlet, 1, 2, ColourOrder::Reversed);
        assert_eq!(played(&three), [(0, 1, 0), (1, 0, 0), (0, 2, 0), (2, 0, 0)]);
        let seeds =
            MatchSchedule::new(4, PairingSystem::Gauntlet, 1, 1, ColourOrder::InTurn).seeded(2);
        assert_eq!(seeds.couples(), [(0, 2), (0, 3), (1, 2), (1, 3)]);
        assert_eq!(three.clone().seeded(1).couples(), three.couples());
        let single = MatchSchedule::new(2, PairingSystem::RoundRobin, 3, 1, ColourOrder::Reversed);
        assert_eq!(played(&single), [(0, 1, 0), (1, 0, 1), (0, 1, 2)]);
        assert!(!single.pairing(0).unwrap().paired);
    }

    proptest! {
        #[test]
        fn colours_are_fair_and_no_couple_meets_an_opening_twice_with_the_same_colours(
            engines in 2usize..7, rounds in 1usize..5, games in 1usize..5, reversed: bool,
        ) {
            let colours = if reversed { ColourOrder::Reversed } else { ColourOrder::InTurn };
            let schedule = MatchSchedule::new(engines, PairingSystem::RoundRobin, rounds, games, colours);
            let all = played(&schedule);
            prop_assert_eq!(all.len(), engines * (engines - 1) / 2 * rounds * games);
            let mut seen = std::collections::HashSet::new();
            prop_assert!(all.iter().all(|game| seen.insert(*game)));
            prop_assert!(all.iter().all(|(.., opening)| *opening < schedule.openings()));
            for (one, other) in schedule.couples() {
                let white = all.iter().filter(|(w, b, _)| (w, b) == (one, other)).count();
                let black = all.iter().filter(|(w, b, _)| (b, w) == (one, other)).count();
                prop_assert!(white.abs_diff(black) <= 1);
            }
        }
    }
}
