//! The games that an event will play, before it begins: engines, rounds, games, openings and hours of each stage.

use std::num::NonZeroU32;
use std::time::Duration;

use super::config::EventConfig;
use super::format::{self, knockout::Knockout};
use super::schedule::rounds_per_cycle;
use super::stage::{Stage, StageFormat};
use crate::game::clock::TimeControl;

/// The moves of each side in a long game; those of real events are shorter but for a few.
pub(crate) const LONG_GAME: u32 = 80;

/// A stage to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StageOutlook {
    /// Its name.
    pub(crate) name: String,
    /// The number of engines that play in it.
    pub(crate) engines: usize,
    /// Its rounds.
    pub(crate) rounds: u64,
    /// Its games, those after a tie left out; where matches end early they may be fewer.
    pub(crate) games: u64,
    /// The games of the further parts that a match has after a tie, but for those that come again until it is decided.
    pub(crate) after_ties: u64,
    /// True if a match ends as soon as it is decided.
    pub(crate) ends_early: bool,
    /// True if a tie is played on.
    pub(crate) is_played_on: bool,
    /// True if it is played only if places are tied; its numbers are those of the fewest engines.
    pub(crate) is_conditional: bool,
    /// The openings that its book must hold.
    pub(crate) openings: usize,
    /// The time that it takes if each game, also of those parts, has [`LONG_GAME`] moves and uses all its time.
    pub(crate) longest: Duration,
}

/// The stages of an event, in order.
pub(crate) fn outlook(config: &EventConfig) -> Vec<StageOutlook> {
    let at_a_time = config.concurrency.get() as u64;
    let mut stages = Vec::new();
    for stage in &config.stages {
        let engines = stage.seats;
        let all = stage.format.games(engines);
        let games = match &stage.format {
            StageFormat::Of(format::Format::Match(of)) => 2 * u64::from(of.pairs.get()),
            _ => all,
        };
        let turns = |games: u64| u32::try_from(games.div_ceil(at_a_time)).unwrap_or(u32::MAX);
        let longest = games_by_clock(stage).into_iter();
        let longest = longest.fold(Duration::ZERO, |sum, (games, control)| {
            sum.saturating_add(long_game(control).saturating_mul(turns(games)))
        });
        stages.push(StageOutlook {
            name: stage.name.clone(),
            engines,
            rounds: rounds(&stage.format, engines),
            games,
            after_ties: all - games,
            ends_early: match &stage.format {
                StageFormat::Of(format::Format::Match(of)) => of.early,
                StageFormat::Of(format::Format::Knockout(of)) => of.early,
                _ => false,
            },
            is_played_on: stage.format.is_played_on(),
            is_conditional: stage.breaks_ties_of.is_some(),
            openings: stage.openings(),
            longest,
        });
    }
    stages
}

/// The games of a stage with their clocks: the further parts of a match may have clocks of their own.
fn games_by_clock(stage: &Stage) -> Vec<(u64, TimeControl)> {
    let own = stage.terms.control;
    let StageFormat::Of(format::Format::Match(of)) = &stage.format else {
        return vec![(stage.format.games(stage.seats), own)];
    };
    let games = |pairs: NonZeroU32| 2 * u64::from(pairs.get());
    let then = of.then.iter().zip(&stage.clocks_after).filter(|(then, _)| !then.again);
    let then = then.map(|(then, clock)| (games(then.pairs), clock.unwrap_or(own)));
    std::iter::once((games(of.pairs), own)).chain(then).collect()
}

/// The time that a game takes that has [`LONG_GAME`] moves and uses all its time.
pub(crate) fn long_game(control: TimeControl) -> Duration {
    match control {
        TimeControl::Clock { base, increment, .. } => 2 * (base + LONG_GAME * increment),
        _ => Duration::ZERO,
    }
}

/// The rounds of a stage; of a bracket those in which all its matches of one level are played.
fn rounds(of: &StageFormat, engines: usize) -> u64 {
    let of_cycles = |cycles: u64| cycles * u64::from(rounds_per_cycle(engines));
    let cycles = |doubles: NonZeroU32| of_cycles(2 * u64::from(doubles.get()));
    match of {
        StageFormat::DoubleRoundRobins(doubles) | StageFormat::Pairs(doubles) => cycles(*doubles),
        StageFormat::Of(format::Format::RoundRobin(format)) => {
            of_cycles(u64::from(format.cycles.get()))
        }
        StageFormat::Of(format::Format::Playoff(format)) => cycles(format.doubles),
        StageFormat::Of(format::Format::Match(of)) => 2 * u64::from(of.pairs.get()),
        StageFormat::Of(format::Format::Swiss(format)) => u64::from(format.rounds.get()),
        StageFormat::Of(format::Format::Dutch(format)) => u64::from(format.rounds.get()),
        StageFormat::Of(format::Format::Knockout(_)) => u64::from(Knockout::rounds(engines)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_parts_of_a_match_take_the_time_of_their_own_clocks() {
        let engine = |name| format!("[[engine]]\nname = \"{name}\"\ncmd = \"/bin/true\"\n");
        let text = format!(
            "event = \"E\"\ntime-control = \"120:00+12\"\nconcurrency = 2\n{}{}\
             [[stage]]\nname = \"M\"\nbook-policy = \"none\"\n\
             format = {{ match = {{ pairs = 1, then = [{{ pairs = 50, time-control = \"60+0\" }}] }} }}\n",
            engine("A"),
            engine("B")
        );
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("event.toml");
        std::fs::write(&path, text).unwrap();
        let planned = outlook(&EventConfig::load(&path).unwrap()).remove(0);
        assert_eq!((planned.games, planned.after_ties), (2, 100));
        // Two games beside each other on the first clock, then fifty times two.
        let first = 2 * (2 * 3600 + 80 * 12);
        assert_eq!(planned.longest, Duration::from_secs(first + 50 * 2 * 60));
    }
}
