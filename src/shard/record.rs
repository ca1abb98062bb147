//! The records of a shard's journal.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Shard;
use crate::event::journal::JournalKind;
use crate::model::game::result::GameResult;
use crate::model::text::hex;
use crate::runner::schedule::{ColourOrder, MatchSchedule, PairingSystem};

/// The version of the journal's form.
pub const VERSION: u32 = 1;

/// A record of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShardRecord {
    /// The first one: the run that this is a part of.
    Shard(Box<ShardHeader>),
    /// A host begins or goes on here.
    Host {
        /// Its name.
        name: String,
    },
    /// A game has ended with a result.
    Game(ShardGame),
}

/// The run and the part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ShardHeader {
    /// See [`VERSION`].
    pub version: u32,
    /// The part of the run.
    pub shard: Shard,
    /// The run.
    pub run: MatchRun,
}

/// A match, told so fully that two equal ones play the same games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MatchRun {
    /// The engines' names.
    pub engines: Vec<String>,
    /// The pairings.
    pub schedule: PairingSystem,
    /// The number of engines of a gauntlet that meet all the others, where it is not the first alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<NonZeroUsize>,
    /// Encounters of each two engines.
    pub rounds: usize,
    /// Games of an encounter.
    pub games: usize,
    /// The order of colours.
    pub colours: ColourOrder,
    /// The test, where there is one.
    pub test: Option<Test>,
    /// All other settings and the sums of files, by their names.
    pub settings: BTreeMap<String, String>,
}

/// The hypotheses of a test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Test {
    /// The lower one, in Elo.
    pub(crate) elo0: f64,
    /// The upper one, in Elo.
    pub(crate) elo1: f64,
    /// True if these are of normalized Elo.
    pub(crate) normalized: bool,
}

/// A game that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ShardGame {
    /// Its number in the run, from 0.
    pub game: usize,
    /// Its result.
    pub result: GameResult,
    /// The result and its reason, as they are printed.
    pub summary: String,
    /// The game as PGN.
    pub pgn: String,
    /// The engine that crashed, hung or did not start, by its place in the run, where that ended the game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<usize>,
}

impl MatchRun {
    /// The plan of all of its games.
    pub(crate) fn plan(&self) -> MatchSchedule {
        let count = self.engines.len();
        let plan = MatchSchedule::new(count, self.schedule, self.rounds, self.games, self.colours);
        match self.seeds {
            Some(seeds) => plan.seeded(seeds.get()),
            None => plan,
        }
    }

    /// The mark in the file that ends this run and no other (`match --until`): the SHA-256 of all that is told of the run.
    pub(crate) fn mark(&self) -> String {
        // invariant: names, numbers and text make JSON.
        hex(Sha256::digest(serde_json::to_vec(self).unwrap_or_default()))
    }

    /// True if the statistics count pairs of games.
    pub(crate) fn paired(&self) -> bool {
        self.colours == ColourOrder::Reversed && self.games > 1
    }

    /// The first thing in which another run differs from this one; none where it is the same run.
    pub(crate) fn difference(&self, other: &MatchRun) -> Option<String> {
        let tell =
            |name: &str, one: &str, other: &str| Some(format!("{name} is {one} and {other}"));
        let both = [self, other].map(|run| {
            [
                ("engines", run.engines.join(", ")),
                ("schedule", format!("{:?}", run.schedule)),
                ("seeds", run.seeds.map_or(1, NonZeroUsize::get).to_string()),
                ("rounds", run.rounds.to_string()),
                ("games", run.games.to_string()),
                ("colours", format!("{:?}", run.colours)),
                ("sprt", format!("{:?}", run.test)),
            ]
        });
        let [ours, theirs] = &both;
        for ((name, one), (_, other)) in ours.iter().zip(theirs) {
            if one != other {
                return tell(name, one, other);
            }
        }
        let names = self.settings.keys().chain(other.settings.keys());
        names.into_iter().find_map(|name| {
            let [one, other] =
                [self, other].map(|run| run.settings.get(name).map_or("not there", String::as_str));
            if one == other { None } else { tell(name, one, other) }
        })
    }
}

impl JournalKind for ShardRecord {
    const REPAIR: &'static str = super::REPAIR;
    const ORIGIN: &'static str = super::ORIGIN;
    const VERSION: u32 = VERSION;
    const NO_HEADER: &'static str = "it does not begin with the run that it is a part of";

    fn version(&self) -> Option<u32> {
        match self {
            ShardRecord::Shard(header) => Some(header.version),
            _ => None,
        }
    }
}
