//! The records of a shard's journal.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Shard;
use crate::event::journal::JournalKind;
use crate::model::game::result::GameResult;
use crate::model::text::hex;
use crate::runner::schedule::{ColourOrder, MOST_GAMES, MatchSchedule, PairingSystem};

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

    /// Checks that a match can have these engines and so many games.
    fn within_bounds(&self) -> Result<(), String> {
        let engines = self.engines.len();
        if let Some(seeds) = self.seeds.filter(|seeds| seeds.get() >= engines) {
            return Err(format!("{seeds} seeds among {engines} engines"));
        }
        if self.engines.iter().collect::<BTreeSet<_>>().len() < engines {
            return Err("two engines of one name".into());
        }
        match self.plan().total() {
            games if games > MOST_GAMES => Err(format!("a match of {games} games")),
            _ => Ok(()),
        }
    }
}

impl ShardGame {
    /// Checks that the counted result is the one of the words and of the PGN.
    fn within_bounds(&self) -> Result<(), String> {
        let number = self.game + 1;
        let result = self.result;
        if result == GameResult::Unfinished {
            return Err(format!("game {number} without a result"));
        }
        let is_told = self.summary.starts_with(&format!("{result} "))
            && self.pgn.lines().any(|line| line == format!("[Result \"{result}\"]"));
        match is_told {
            true => Ok(()),
            false => Err(format!("game {number} with two results")),
        }
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

    fn within_bounds(&self) -> Result<(), String> {
        match self {
            ShardRecord::Shard(header) => header.run.within_bounds(),
            ShardRecord::Game(game) => game.within_bounds(),
            ShardRecord::Host { .. } => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Color;

    fn run() -> MatchRun {
        MatchRun {
            engines: vec!["a".into(), "b".into()],
            schedule: PairingSystem::RoundRobin,
            seeds: None,
            rounds: 2,
            games: 2,
            colours: ColourOrder::Reversed,
            test: None,
            settings: BTreeMap::new(),
        }
    }

    /// Of numbers like these `merge` asked for more memory than there is, or never ended.
    #[test]
    fn a_run_that_no_match_has_is_refused() {
        assert_eq!(run().within_bounds(), Ok(()));
        let wrong = |change: fn(&mut MatchRun)| {
            let mut run = run();
            change(&mut run);
            run.within_bounds().unwrap_err()
        };
        assert_eq!(wrong(|run| run.rounds = 10_000_000), "a match of 20000000 games");
        assert!(wrong(|run| run.rounds = usize::MAX).starts_with("a match of "));
        assert!(wrong(|run| run.games = usize::MAX / 2 + 1).starts_with("a match of "));
        let seeded = |run: &mut MatchRun| {
            (run.schedule, run.seeds) = (PairingSystem::Gauntlet, NonZeroUsize::new(1 << 60));
        };
        assert_eq!(wrong(seeded), "1152921504606846976 seeds among 2 engines");
        assert_eq!(wrong(|run| run.engines[1] = "a".into()), "two engines of one name");
    }

    #[test]
    fn a_game_that_tells_two_results_is_refused() {
        let game = |result, summary: &str, pgn: &str| {
            let (summary, pgn) = (summary.to_owned(), pgn.to_owned());
            ShardGame { game: 0, result, summary, pgn, lost: None }.within_bounds()
        };
        let (black, words) = (GameResult::Win(Color::Black), "0-1 {White loses on time}");
        let pgn = "[Event \"?\"]\n[Result \"0-1\"]\n\n0-1\n\n";
        assert_eq!(game(black, words, pgn), Ok(()));
        let two = Err("game 1 with two results".to_owned());
        assert_eq!(game(GameResult::Win(Color::White), words, pgn), two);
        assert_eq!(game(black, "1-0 {Black loses on time}", pgn), two);
        assert_eq!(game(black, words, ""), two);
        let none = Err("game 1 without a result".to_owned());
        assert_eq!(game(GameResult::Unfinished, "* {}", "[Result \"*\"]\n"), none);
    }
}
