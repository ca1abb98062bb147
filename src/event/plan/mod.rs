//! An event as a graph of stages: formats, where the engines come from, and terms, as an event file has them.

pub(in crate::event) mod formats;
pub(in crate::event) mod raw;
mod read;
pub(in crate::event) mod sources;

use std::num::NonZeroU32;

use super::format::Format;
use super::tiebreak::TiebreakChain;
pub(crate) use crate::model::game::variant::Variant;
pub(crate) use sources::{PlaceRange, PlaceSource};

/// An event.
#[derive(Clone, Debug)]
pub(crate) struct EventPlan {
    /// Its name.
    pub(crate) event: String,
    /// Engines that the file names, in the order of their seeds.
    pub(crate) engines: Vec<String>,
    /// The stages, each after all that it takes engines from.
    pub(crate) stages: Vec<PlannedStage>,
}

/// A stage.
#[derive(Clone, Debug)]
pub(crate) struct PlannedStage {
    /// Its name.
    pub(crate) name: String,
    /// The ends of the Event tags of its games, in the order of play; other words for the same part of a stage
    /// stand in one list.
    pub(crate) tags: Vec<Vec<String>>,
    /// The format.
    pub(crate) format: Format,
    /// The rule for the seats of its engines.
    pub(crate) seating: Seating,
    /// Where its engines come from; nothing where the organisers invite them.
    pub(crate) from: Vec<PlaceSource>,
    /// The stage whose engines play it that are level for its spots: nobody where points tell who goes on.
    pub(crate) tied: Option<String>,
    /// True if invited engines play beside those.
    pub(crate) invited: bool,
    /// The tie-breaks.
    pub(crate) chain: &'static TiebreakChain,
    /// Crashes after which an engine is disqualified and its games are annulled.
    pub(crate) crash_limit: Option<NonZeroU32>,
    /// The start positions of its games.
    pub(crate) variant: Variant,
}

/// The rule for the seats of a stage's engines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Seating {
    /// As the games have it: the organisers' lot.
    #[default]
    AsPlayed,
    /// By the seeds of the file.
    Seeds,
    /// By name.
    Alphabetical,
    /// By the ratings that the first games tell, the highest first.
    Rating,
    /// As the stages before ranked them.
    Ranking,
    /// The other way round: in a match, the winner has Black in the first game of each pair.
    ReversedRanking,
}
