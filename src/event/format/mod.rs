//! The formats of all events, pure: what was played goes in, what is due comes out.

pub mod due;
pub mod dutch;
pub mod knockout;
pub mod match_;
mod matching;
pub mod playoff;
pub mod round_robin;
pub mod swiss;

pub use due::{Due, Next, PairId, Past, Played, points};

/// A format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// Everybody meets everybody.
    RoundRobin(round_robin::RoundRobin),
    /// Two play each other.
    Match(match_::Match),
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
    /// What comes after the past of so many seats.
    #[must_use]
    pub fn next(&self, seats: usize, past: &Past) -> Next {
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
