//! The games that an event will play, before it begins: engines, rounds, games, openings and hours of each stage.

use std::num::NonZeroU32;
use std::time::Duration;

use super::config::EventConfig;
use super::format::{Format, knockout::Knockout};
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
            StageFormat::Of(Format::Match(of)) => 2 * u64::from(of.pairs.get()),
            _ => all,
        };
        let turns = turns_by_clock(stage, at_a_time).into_iter();
        let longest = turns.fold(Duration::ZERO, |sum, (turns, control)| {
            let turns = u32::try_from(turns).unwrap_or(u32::MAX);
            sum.saturating_add(long_game(control).saturating_mul(turns))
        });
        stages.push(StageOutlook {
            name: stage.name.clone(),
            engines,
            rounds: rounds(&stage.format, engines),
            games,
            after_ties: all - games,
            ends_early: match &stage.format {
                StageFormat::Of(Format::Match(of)) => of.early,
                StageFormat::Of(Format::Knockout(of)) => of.early,
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

/// The most games of a stage that are played one after the other, where so many are at a time, with their clocks: the
/// further parts of a match may have clocks of their own. A round of a Swiss, the matches of a bracket that are played
/// together, and a part of a match end before the next one begins.
fn turns_by_clock(stage: &Stage, at_a_time: u64) -> Vec<(u64, TimeControl)> {
    let own = stage.terms.control;
    let games = |pairs: NonZeroU32| 2 * u64::from(pairs.get());
    let turns = |games: u64| games.div_ceil(at_a_time);
    let all = stage.format.games(stage.seats);
    let of_rounds = |rounds: NonZeroU32| {
        let rounds = u64::from(rounds.get());
        vec![(rounds * turns(all / rounds), own)]
    };
    match &stage.format {
        StageFormat::Of(Format::Swiss(of)) => of_rounds(of.rounds),
        StageFormat::Of(Format::Dutch(of)) => of_rounds(of.rounds),
        StageFormat::Of(Format::Knockout(of)) => {
            // All its matches, as if White always won.
            let matches = of.bracket(stage.seats, |one| Some(one.white)).encounters.into_iter();
            let matches: Vec<_> = matches.map(|one| (one.round, one.format.pairs)).collect();
            let rounds = matches.chunk_by(|(a, _), (b, _)| a == b);
            let together = rounds.flat_map(|round| round.chunks(at_a_time as usize));
            let of_some = |matches: &[(u32, NonZeroU32)]| {
                let lengths: Vec<u64> = matches.iter().map(|(_, pairs)| games(*pairs)).collect();
                turns_together(&lengths, of.early, at_a_time)
            };
            vec![(together.map(of_some).sum(), own)]
        }
        StageFormat::Of(Format::Match(of)) => {
            let first = turns_together(&[games(of.pairs)], of.early, at_a_time);
            let then = of.then.iter().zip(&stage.clocks_after).filter(|(then, _)| !then.again);
            let then = then.map(|(then, clock)| (turns(games(then.pairs)), clock.unwrap_or(own)));
            std::iter::once((first, own)).chain(then).collect()
        }
        _ => vec![(turns(all), own)],
    }
}

/// The most games one after the other in matches of so many games each that are played together. Where a match may end
/// early only the games that are sure to be played begin, and the others follow one by one at the worst.
fn turns_together(lengths: &[u64], early: bool, at_a_time: u64) -> u64 {
    let games: u64 = lengths.iter().sum();
    if !early {
        return games.div_ceil(at_a_time);
    }
    let sure: u64 = lengths.iter().map(|games| (games / 2 + 1).min(*games)).sum();
    let batches = lengths.iter().map(|games| games - (games / 2 + 1).min(*games)).max();
    // Each batch behind the first may end with games that leave others idle.
    let behind = games - sure + batches.unwrap_or(0) * (at_a_time - 1);
    sure.div_ceil(at_a_time) + (behind / at_a_time).min(games - sure)
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
        StageFormat::Of(Format::RoundRobin(format)) => of_cycles(u64::from(format.cycles.get())),
        StageFormat::Of(Format::Playoff(format)) => cycles(format.doubles),
        StageFormat::Of(Format::Match(of)) => 2 * u64::from(of.pairs.get()),
        StageFormat::Of(Format::Swiss(format)) => u64::from(format.rounds.get()),
        StageFormat::Of(Format::Dutch(format)) => u64::from(format.rounds.get()),
        StageFormat::Of(Format::Knockout(_)) => u64::from(Knockout::rounds(engines)),
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

    /// A round of two games is not played in the time of one game with those of the next, however many are at a time.
    #[test]
    fn a_round_ends_before_the_next_one_begins() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("event.toml");
        let turns = |engines: usize, at_a_time: usize, format: &str| {
            let engine =
                |number| format!("[[engine]]\nname = \"E{number}\"\ncmd = \"/bin/true\"\n");
            let engines: String = (1..=engines).map(engine).collect();
            let text = format!(
                "event = \"E\"\ntime-control = \"1:00+0\"\nconcurrency = {at_a_time}\n{engines}\
                 [[stage]]\nname = \"S\"\nbook-policy = \"none\"\ntie-breaks = \"swiss\"\n\
                 format = {{ {format} }}\n"
            );
            std::fs::write(&path, text).unwrap();
            let planned = outlook(&EventConfig::load(&path).unwrap()).remove(0);
            planned.longest.as_secs() / 120
        };
        let swiss = "swiss = { rounds = 3, pairing = \"monrad\", games = 1, sections = 1 }";
        assert_eq!([1, 2, 16].map(|games| turns(4, games, swiss)), [6, 3, 3]);
        let dutch = "swiss = { rounds = 3, pairing = \"dutch\" }";
        assert_eq!([1, 16].map(|games| turns(4, games, dutch)), [6, 3]);
        let cup = |early: bool| format!("knockout = {{ pairs = [2], early = {early} }}");
        // Seven matches of four games, in three rounds.
        assert_eq!([1, 4, 16].map(|games| turns(8, games, &cup(false))), [28, 7, 3]);
        // Three games of a match are sure, and the fourth follows.
        assert_eq!([1, 16].map(|games| turns(8, games, &cup(true))), [28, 6]);
        let early = "match = { pairs = 2, early = true }";
        assert_eq!([1, 2, 4].map(|games| turns(2, games, early)), [4, 3, 2]);
    }
}
