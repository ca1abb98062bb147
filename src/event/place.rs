//! Places in standings, and the reasons for them.

use super::tiebreak::Criterion;

/// A place in the standings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A rank.
    Ranked {
        /// From 1; engines that are tied have the same, and the next rank leaves room for them.
        rank: u32,
        /// True if other engines have it too.
        tied: bool,
        /// The reason that puts it behind the engine before, where both have the same points.
        by: Option<PlacedBy>,
    },
    /// Crashed too often: no rank, all games annulled.
    Disqualified,
    /// Withdrawn by its author.
    Withdrawn {
        /// None but in a bracket that is over: there it keeps the rank that its last match gave it.
        rank: Option<u32>,
        /// True if other engines have that rank, too.
        tied: bool,
    },
}

/// The reason that puts an engine behind another one that has the same points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacedBy {
    /// A criterion of the chain.
    Criterion(Criterion),
    /// A decision of the organisers.
    Organisers,
}

impl PlacedBy {
    /// Its name for programs.
    pub(crate) fn id(self) -> &'static str {
        match self {
            PlacedBy::Criterion(criterion) => criterion.id(),
            PlacedBy::Organisers => "organisers",
        }
    }

    /// Its name in a sentence.
    pub(crate) fn title(self) -> &'static str {
        match self {
            PlacedBy::Criterion(criterion) => criterion.title(),
            PlacedBy::Organisers => "decided by the organisers",
        }
    }
}

impl Place {
    /// The rank, where it has one.
    pub(crate) fn rank(self) -> Option<u32> {
        match self {
            Place::Ranked { rank, .. } => Some(rank),
            Place::Withdrawn { rank, .. } => rank,
            Place::Disqualified => None,
        }
    }

    /// True if other engines have its rank, too.
    pub(crate) fn is_shared(self) -> bool {
        match self {
            Place::Ranked { tied, .. } | Place::Withdrawn { tied, .. } => tied,
            Place::Disqualified => false,
        }
    }
}
