//! The formats of all events, pure: what was played goes in, what is due comes out.

pub(crate) mod bracket_draw;
pub(crate) mod due;
pub mod dutch;
mod heaviest;
pub(crate) mod knockout;
pub(crate) mod match_;
mod pair_at;
pub(crate) mod playoff;
#[cfg(test)]
pub(in crate::event) mod properties;
pub(crate) mod round_robin;
pub(crate) mod swiss;

use std::num::NonZeroU32;

use super::schedule::MOST_SEATS;
use crate::model::game::listed::RoundGame;
use crate::model::words::{counted, here_are};
use bracket_draw::BracketDraw;
use dutch::Dutch;
use knockout::Knockout;
use swiss::Swiss;

pub(in crate::event) use due::open;
pub(crate) use due::points_with_byes;
pub use due::{Due, Next, PairId, PlayedPairing, StageHistory};
pub(crate) use pair_at::PairAt;

/// A format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Everybody meets everybody.
    RoundRobin(round_robin::RoundRobin),
    /// Two play each other.
    Match(match_::MatchFormat),
    /// A Swiss in Monrad pairing.
    Swiss(swiss::Swiss),
    /// A Swiss of single games by FIDE's Dutch system.
    Dutch(dutch::Dutch),
    /// A bracket.
    Knockout(knockout::Knockout),
    /// The conditional tiebreak of the leagues.
    Playoff(playoff::Playoff),
}

impl Format {
    /// Returns the reason why so many seats cannot play it; none where they can.
    pub(crate) fn refusal(&self, seats: usize) -> Option<String> {
        if let Some(far_too_many) = self.beyond_any_field() {
            return Some(far_too_many);
        }
        let of_at_least = |what: &str, fewest: usize| {
            let is_right = (fewest..=MOST_SEATS).contains(&seats);
            (is_right, format!("{what} is of {fewest} to {MOST_SEATS}"))
        };
        let (is_right, wanted) = match self {
            Format::RoundRobin(_) => of_at_least("a round robin", 2),
            Format::Match(_) => (seats == 2, "a match is between two".to_owned()),
            Format::Swiss(Swiss { rounds, .. }) | Format::Dutch(Dutch { rounds }) => {
                // Everybody meets somebody else in each round.
                of_at_least(&format!("a Swiss of {rounds} rounds"), rounds.get() as usize + 1)
            }
            Format::Knockout(Knockout { draw: BracketDraw::PreSeeded { .. }, .. }) => {
                (seats == 32, "the bracket \"edps8-rrc\" is of 32".to_owned())
            }
            Format::Knockout(Knockout { draw: BracketDraw::AsDrawn, bronze: Some(_), .. })
                if seats >= 4 =>
            {
                // With fewer, one side of a semifinal is nobody, and there is one loser.
                let size = seats.next_power_of_two();
                let least = size / 4 * 3 + 1;
                let what = format!(
                    "a knockout \"as-drawn\" of {size} places with a match for the third place is of {least} to {size}"
                );
                ((least..=MOST_SEATS).contains(&seats), what)
            }
            Format::Knockout(Knockout { bronze: Some(_), .. }) => {
                of_at_least("a knockout with a match for the third place", 4)
            }
            Format::Knockout(_) => of_at_least("a knockout", 2),
            Format::Playoff(playoff) => {
                let spots = playoff.spots.get() as usize;
                of_at_least(&format!("a playoff for {}", counted(spots, "spot")), spots + 1)
            }
        };
        (!is_right).then(|| format!("{wanted} engines, and {}", here_are(seats)))
    }

    /// Returns the reason why no number of seats can play it; none where some can.
    fn beyond_any_field(&self) -> Option<String> {
        let most = MOST_SEATS - 1;
        match self {
            Format::Swiss(Swiss { rounds, .. }) | Format::Dutch(Dutch { rounds })
                if rounds.get() as usize > most =>
            {
                Some(format!("a Swiss has {most} rounds at most, and not {rounds}"))
            }
            Format::Playoff(playoff) if playoff.spots.get() as usize > most => {
                Some(format!("a playoff is for {most} spots at most, and not {}", playoff.spots))
            }
            _ => None,
        }
    }

    /// The openings that it needs, each encounter its own; those of a tie that is played on left out.
    pub(crate) fn openings(&self, seats: usize) -> usize {
        let everybody =
            |doubles: NonZeroU32| doubles.get() as usize * (seats * seats.saturating_sub(1) / 2);
        match self {
            Format::RoundRobin(format) => everybody(format.doubles()),
            Format::Match(format) => {
                let then = format.then.iter().filter(|then| !then.again);
                let pairs = |pairs: NonZeroU32| pairs.get() as usize;
                then.fold(pairs(format.pairs), |sum, then| sum + pairs(then.pairs))
            }
            Format::Swiss(Swiss { rounds, .. }) | Format::Dutch(Dutch { rounds }) => {
                rounds.get() as usize * (seats / 2)
            }
            Format::Knockout(format) => format.bracket(seats, |_| None).openings,
            Format::Playoff(format) => everybody(format.doubles),
        }
    }

    /// The games of an encounter.
    pub(crate) fn games_each(&self) -> usize {
        match self {
            Format::Swiss(swiss) => swiss.games.get() as usize,
            Format::Dutch(_) => 1,
            Format::RoundRobin(_) | Format::Match(_) | Format::Knockout(_) | Format::Playoff(_) => {
                2
            }
        }
    }

    /// True if the format itself ranks the seats, and not the points of all its games.
    pub(crate) fn ranks(&self) -> bool {
        match self {
            Format::Match(_) | Format::Knockout(_) | Format::Playoff(_) => true,
            Format::RoundRobin(_) | Format::Swiss(_) | Format::Dutch(_) => false,
        }
    }

    /// True if the pairing of game `later`, or that it is played at all, followed from the result of game `from`.
    pub(crate) fn follows(
        &self,
        seats: usize,
        past: &StageHistory,
        later: RoundGame,
        from: RoundGame,
    ) -> bool {
        match self {
            Format::RoundRobin(_) => false,
            Format::Match(format) => format.follows(later.round, from.round),
            Format::Swiss(_) | Format::Dutch(_) => later.round > from.round,
            Format::Knockout(format) => format.follows(seats, later, from),
            Format::Playoff(format) => format.follows(seats, past, later.round, from.round),
        }
    }

    /// Returns the next step of a stage of so many seats after its past.
    pub(crate) fn next(&self, seats: usize, past: &StageHistory) -> Next {
        match self {
            Format::RoundRobin(format) => format.next(seats, past),
            Format::Match(format) => format.next(past),
            Format::Swiss(format) => format.next(seats, past),
            Format::Dutch(format) => format.next(seats, past),
            Format::Knockout(format) => format.next(seats, past),
            Format::Playoff(format) => format.next(seats, past),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_field_can_play_is_refused_as_such() {
        let (few, many) = (NonZeroU32::MIN.saturating_add(3), NonZeroU32::MAX);
        let swiss = |rounds| {
            let (games, sections) = (NonZeroU32::MIN, NonZeroU32::MIN);
            Format::Swiss(Swiss { rounds, games, sections })
        };
        for format in [swiss(many), Format::Dutch(Dutch { rounds: many })] {
            let told = format.refusal(4).unwrap();
            assert_eq!(told, "a Swiss has 999 rounds at most, and not 4294967295");
        }
        let told = swiss(few).refusal(4).unwrap();
        assert_eq!(told, "a Swiss of 4 rounds is of 5 to 1000 engines, and here are 4");
        assert_eq!(swiss(few).refusal(5), None);
    }
}
