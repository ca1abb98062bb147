//! Knockouts: a bracket of matches, with or without a match for the third place.

use std::num::NonZeroU32;

use super::super::record::{GameResult, RoundGame};
use super::super::schedule::{OpeningIndex, Seat};
use super::due::{Due, Next, PairId, Past};
use super::match_::{Match, MatchState};

/// Which of two adjacent places of the bracket has White in the first game of a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhiteFirst {
    /// The lower place, as in the later cups.
    #[default]
    Lower,
    /// The upper place.
    Upper,
}

/// A knockout. Seat 0 is the first place of the bracket; neighbours meet, and the winners of neighbouring
/// matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knockout {
    /// Pairs of each round; the last is the final's, and rounds beyond take the last.
    pub pairs: Vec<NonZeroU32>,
    /// Pairs of the match between the losers of the semifinals, which comes before the final.
    pub bronze: Option<NonZeroU32>,
    /// Whether a match ends as soon as the lead is out of reach.
    pub early: bool,
    /// Who has White first.
    pub white_first: WhiteFirst,
}

/// A match of the bracket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encounter {
    /// Its number, from 1, as they are played.
    pub number: u32,
    /// Its round, from 1; the match for the third place has the final's.
    pub round: u32,
    /// Who has White in the first game.
    pub white: Seat,
    /// The other.
    pub black: Seat,
    /// How long it is.
    pub format: Match,
}

impl Knockout {
    /// The rounds of so many seats.
    #[must_use]
    pub fn rounds(seats: usize) -> u32 {
        seats.max(2).next_power_of_two().trailing_zeros()
    }

    fn length(&self, round: u32) -> NonZeroU32 {
        let at = (round as usize).saturating_sub(1);
        self.pairs.get(at).or(self.pairs.last()).copied().unwrap_or(NonZeroU32::MIN)
    }

    fn encounter(
        &self,
        number: u32,
        round: u32,
        pairs: NonZeroU32,
        seats: (Seat, Seat),
    ) -> Encounter {
        let (white, black) = match self.white_first {
            WhiteFirst::Lower => (seats.1, seats.0),
            WhiteFirst::Upper => seats,
        };
        Encounter { number, round, white, black, format: Match::until_decisive(pairs, self.early) }
    }

    /// Every match that can be told by the winners so far: `won` tells who won a match by its number.
    #[must_use]
    pub fn bracket(&self, seats: usize, won: impl Fn(&Encounter) -> Option<Seat>) -> Bracket {
        let rounds = Knockout::rounds(seats);
        // Places that nobody has are byes for their neighbours.
        let mut places: Vec<Place> = (0..seats.max(2).next_power_of_two())
            .map(|seat| if seat < seats { Place::Taken(Seat(seat)) } else { Place::Empty })
            .collect();
        let mut bracket = Bracket { encounters: Vec::new(), groups: Vec::new() };
        let mut number = 0;
        for round in 1..=rounds {
            let mut losers = Vec::new();
            let mut next = Vec::new();
            let is_final = round == rounds;
            if is_final && let Some(pairs) = self.bronze {
                number += 1;
                if let [Place::Taken(a), Place::Taken(b)] = bracket.semifinal_losers()[..] {
                    let bronze = self.encounter(number, round, pairs, (a, b));
                    let winner = won(&bronze);
                    bracket.third(&bronze, winner);
                    bracket.encounters.push(bronze);
                }
            }
            for pair in places.chunks(2) {
                let [upper, lower] = pair else { continue };
                let (winner, loser) = match (upper, lower) {
                    (Place::Empty, other) | (other, Place::Empty) => (*other, Place::Empty),
                    (Place::Taken(a), Place::Taken(b)) => {
                        number += 1;
                        let one = self.encounter(number, round, self.length(round), (*a, *b));
                        let winner = won(&one);
                        bracket.encounters.push(one);
                        match winner {
                            Some(seat) => {
                                (Place::Taken(seat), Place::Taken(if seat == *a { *b } else { *a }))
                            }
                            None => (Place::Open, Place::Open),
                        }
                    }
                    _ => {
                        number += 1;
                        (Place::Open, Place::Open)
                    }
                };
                next.push(winner);
                losers.push(loser);
            }
            bracket.groups.push(losers);
            places = next;
        }
        bracket.groups.push(places);
        bracket
    }

    /// What is due: of each match under way the games that no early end can take away.
    #[must_use]
    pub fn next(&self, seats: usize, past: &Past) -> Next {
        let state = |one: &Encounter| {
            if past.out.contains(&one.white) || past.out.contains(&one.black) {
                let winner = if past.out.contains(&one.white) { one.black } else { one.white };
                return Some(winner);
            }
            match one.format.after(&results(past, one)) {
                MatchState::Won(seat, _) => Some(if seat.0 == 0 { one.white } else { one.black }),
                MatchState::Due(_) | MatchState::Level(_) => None,
            }
        };
        let bracket = self.bracket(seats, state);
        let mut due = Vec::new();
        for one in bracket.encounters.iter().filter(|one| state(one).is_none()) {
            let played = results(past, one);
            let MatchState::Due(sure) = one.format.after(&played) else { continue };
            due.extend((played.len()..played.len() + sure).map(|game| one.due(game)));
        }
        if due.is_empty() { Next::Over(bracket.places()) } else { Next::Play(due) }
    }
}

/// The results of a match in the order of its games, from the view of who has White first.
fn results(past: &Past, one: &Encounter) -> Vec<GameResult> {
    let own = past.games.range(
        RoundGame { round: one.number, game: 0 }..=RoundGame { round: one.number, game: u32::MAX },
    );
    own.map(|(_, game)| game.result).collect()
}

impl Encounter {
    /// A game of it, from 0. Its place names the match and the game within it.
    #[must_use]
    pub fn due(&self, game: usize) -> Due {
        let is_reverse = game % 2 == 1;
        let pair = game / 2;
        Due {
            at: RoundGame { round: self.number, game: u32::try_from(game + 1).unwrap_or(u32::MAX) },
            white: if is_reverse { self.black } else { self.white },
            black: if is_reverse { self.white } else { self.black },
            // A thousand pairs are more than any match has.
            pair: PairId(self.number * 1000 + u32::try_from(pair).unwrap_or(999).min(999)),
            opening: Some(OpeningIndex(pair)),
        }
    }
}

/// A place of the bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Taken(Seat),
    /// Not known yet.
    Open,
    /// Nobody's.
    Empty,
}

/// What is known of a bracket.
#[derive(Clone, Debug)]
pub struct Bracket {
    /// The matches whose two sides are known, in the order in which they are played.
    pub encounters: Vec<Encounter>,
    /// Who lost in each round; at the end who won.
    groups: Vec<Vec<Place>>,
}

impl Bracket {
    fn semifinal_losers(&self) -> Vec<Place> {
        self.groups.last().cloned().unwrap_or_default()
    }

    /// Puts the third before the fourth.
    fn third(&mut self, bronze: &Encounter, winner: Option<Seat>) {
        let Some(third) = winner else { return };
        let fourth = if third == bronze.white { bronze.black } else { bronze.white };
        self.groups.pop();
        self.groups.push(vec![Place::Taken(fourth)]);
        self.groups.push(vec![Place::Taken(third)]);
    }

    /// Those who share a place, the winner first.
    #[must_use]
    pub fn places(&self) -> Vec<Vec<Seat>> {
        let seats = |group: &Vec<Place>| -> Vec<Seat> {
            let taken = group.iter().filter_map(|place| match place {
                Place::Taken(seat) => Some(*seat),
                Place::Open | Place::Empty => None,
            });
            taken.collect()
        };
        self.groups.iter().rev().map(seats).filter(|group| !group.is_empty()).collect()
    }
}

/// The seeds (from 0) of an equal-distance bracket in the order of its places: 1,32 meet only in the end.
#[must_use]
pub fn equal_distance(seats: usize) -> Vec<Seat> {
    let size = seats.max(2).next_power_of_two();
    let mut places = vec![0usize];
    let mut step = size / 2;
    // Each place splits into itself and the one half the rest away.
    while places.len() < size {
        places = places.iter().flat_map(|seed| [*seed, seed + step]).collect();
        step /= 2;
    }
    // Largest distances first: 1,17 in the first round, then 1..9.
    places.into_iter().map(Seat).collect()
}

/// The places (from 0) that the first eight seeds have in a bracket of 32, where the rest is drawn by lot.
pub const PRE_SEEDED: [(usize, usize); 8] =
    [(1, 1), (5, 3), (3, 5), (7, 7), (2, 9), (6, 11), (4, 13), (8, 15)];

#[cfg(test)]
mod tests {
    use super::super::due::Played;
    use super::*;
    use shakmaty::Color;

    fn pairs(numbers: &[u32]) -> Vec<NonZeroU32> {
        numbers.iter().map(|number| NonZeroU32::new(*number).unwrap()).collect()
    }

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

    /// The upper seat always wins.
    #[test]
    fn every_number_of_engines_has_a_winner_and_everybody_a_place() {
        for seats in 2..=60 {
            for bronze in [None, NonZeroU32::new(2)] {
                let format = Knockout {
                    pairs: pairs(&[1, 2]),
                    bronze,
                    early: true,
                    white_first: WhiteFirst::Lower,
                };
                let mut past = Past::default();
                let mut games = 0;
                let groups = loop {
                    match format.next(seats, &past) {
                        Next::Play(due) => {
                            for game in due {
                                let winner = if game.white < game.black {
                                    Color::White
                                } else {
                                    Color::Black
                                };
                                let result = GameResult::Won(winner);
                                let (white, black) = (game.white, game.black);
                                past.add(Played { at: game.at, white, black, result });
                                games += 1;
                            }
                        }
                        Next::Over(groups) => break groups,
                        Next::Bye(..) => panic!("a knockout has no byes to note"),
                    }
                };
                assert_eq!(groups[0], [Seat(0)]);
                assert_eq!(groups.concat().len(), seats);
                let matches = seats - 1 + usize::from(bronze.is_some() && seats > 3);
                let met: std::collections::BTreeSet<u32> =
                    past.games.keys().map(|at| at.round).collect();
                assert_eq!(met.len(), matches, "{seats}");
                assert!(games >= 2 * matches);
            }
        }
    }

    #[test]
    fn the_lower_place_has_white_first() {
        let format = Knockout {
            pairs: pairs(&[1]),
            bronze: None,
            early: true,
            white_first: WhiteFirst::Lower,
        };
        let Next::Play(due) = format.next(4, &Past::default()) else { panic!("games are due") };
        assert_eq!((due[0].white, due[0].black), (Seat(1), Seat(0)));
        assert_eq!(due[0].at, RoundGame { round: 1, game: 1 });
    }
}
