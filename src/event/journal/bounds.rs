//! The bounds of what a record tells: what lies beyond them was not written by gate4k, and nothing is counted with it.

use super::record::{JournalRecord, Walkover};
use crate::model::text::{escape, steers};

/// The longest name, in bytes; those of an event's file are shorter.
const NAME_BYTES: usize = 1_000;
/// The most of stages, rounds, games of a round, attempts and wins.
const MOST: u64 = 10_000_000;
/// The longest time, in microseconds: some 3,000 years.
const LONGEST_TIME: u64 = 100_000_000_000_000_000;

/// Checks a record's names, numbers and times.
///
/// # Errors
/// Says which of them cannot be.
pub(super) fn within(record: &JournalRecord) -> Result<(), String> {
    match record {
        JournalRecord::Header(_)
        | JournalRecord::Settings(_)
        | JournalRecord::EngineKilled(_)
        | JournalRecord::Paused { .. }
        | JournalRecord::Note { .. } => Ok(()),
        JournalRecord::Receipt(one) => names([&one.entry]),
        JournalRecord::History(one) => one.meetings.iter().try_for_each(|meeting| {
            // As they stand in the games of others.
            of_fit_length(&meeting.white)?;
            of_fit_length(&meeting.black)?;
            counts(meeting.results)
        }),
        JournalRecord::StageStarted(one) => {
            names([&one.name])?;
            names(one.seats.iter().chain(&one.through).chain(one.level.iter().flatten()))?;
            names(one.ratings.keys())?;
            stage(one.stage)
        }
        JournalRecord::Bye(one) => {
            names([&one.engine])?;
            stage(one.stage)?;
            counts([one.round, one.wins])?;
            place(one.round, 1)
        }
        JournalRecord::GameStarted(one) => {
            names([&one.white, &one.black])?;
            stage(one.stage)?;
            counts([one.attempt])?;
            place(one.round, one.game)?;
            times(one.clocks)
        }
        JournalRecord::Ply(one) => times([one.used, one.clocks[0], one.clocks[1]]),
        JournalRecord::Interrupted(one) => times([one.compensation, one.clocks[0], one.clocks[1]]),
        JournalRecord::GameFinished(one) => {
            names([&one.white, &one.black])?;
            stage(one.stage)?;
            place(one.round, one.game)?;
            times(one.unanswered.into_iter().flatten().chain([one.lasted]))
        }
        JournalRecord::Annulled(one) => {
            stage(one.stage)?;
            place(one.round, one.game)
        }
        JournalRecord::Withdrawn(one) => {
            names([&one.engine])?;
            stage(one.stage)?;
            place(one.round, 1)?;
            one.walkovers.iter().try_for_each(|Walkover { round, game, white, black }| {
                names([white, black])?;
                place(*round, *game)
            })
        }
        JournalRecord::Decision(one) => {
            names(&one.order)?;
            stage(one.stage)
        }
        JournalRecord::StageFinished(one) => {
            names(one.order.iter().chain(&one.promoted).chain(one.shared.iter().flatten()))?;
            stage(one.stage)
        }
        JournalRecord::Fix(one) => {
            names([&one.entry, &one.receipt.entry])?;
            counts([one.crashes])
        }
        JournalRecord::Update(one) => {
            names([&one.entry, &one.receipt.entry])?;
            stage(one.stage)
        }
        JournalRecord::EventFinished { winner, shared } => names(shared.iter().chain([winner])),
    }
}

/// Names of this event's file.
fn names<'a>(names: impl IntoIterator<Item = &'a String>) -> Result<(), String> {
    names.into_iter().try_for_each(|name| {
        of_fit_length(name)?;
        // It could make a line of its own, or turn one round.
        match name.chars().any(steers) {
            true => Err(format!("a name that no event has, {}", escape(name.as_bytes(), 80))),
            false => Ok(()),
        }
    })
}

fn of_fit_length(name: &str) -> Result<(), String> {
    match name.len() {
        bytes if bytes > NAME_BYTES => Err(format!("a name of {bytes} bytes, longer than any")),
        _ => Ok(()),
    }
}

fn stage(number: usize) -> Result<(), String> {
    most("stage", number as u64, MOST)
}

fn counts(numbers: impl IntoIterator<Item = u32>) -> Result<(), String> {
    numbers.into_iter().try_for_each(|number| most("count", number.into(), MOST))
}

/// Rounds and their games are counted from 1.
fn place(round: u32, game: u32) -> Result<(), String> {
    if round == 0 || game == 0 {
        return Err(format!("the place {round}.{game}, where rounds and games begin with 1"));
    }
    counts([round, game])
}

fn times(times: impl IntoIterator<Item = u64>) -> Result<(), String> {
    times.into_iter().try_for_each(|time| most("time", time, LONGEST_TIME))
}

fn most(what: &str, number: u64, most: u64) -> Result<(), String> {
    if number <= most {
        return Ok(());
    }
    Err(format!("the {what} {number}, beyond {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_places_and_times_that_cannot_be_are_told() {
        let long = "x".repeat(70_000);
        let bye = |round: u64, engine: &str| {
            format!(r#"{{"bye":{{"stage":0,"round":{round},"engine":"{engine}","wins":2}}}}"#)
        };
        let stage = |number: u64| {
            format!(r#"{{"stage-finished":{{"stage":{number},"order":[],"promoted":[]}}}}"#)
        };
        let ruling = |time: u64| {
            format!(
                r#"{{"interrupted":{{"id":"x","rule":"6.1.5","why":"","result":null,"clocks":[0,0],"compensation":{time}}}}}"#
            )
        };
        for (text, told) in [
            (bye(1, "A"), None),
            (
                bye(1, "A won\\nall is right"),
                Some("a name that no event has, A won\\nall is right"),
            ),
            (bye(1, "A\\u202eB"), Some("a name that no event has, A\\u{202e}B")),
            (bye(0, "A"), Some("the place 0.1")),
            (bye(4_294_967_295, "A"), Some("the count 4294967295")),
            (bye(1, &long), Some("a name of 70000 bytes")),
            (stage(3), None),
            (stage(u64::MAX), Some("the stage 18446744073709551615")),
            (ruling(1_000_000), None),
            (ruling(u64::MAX), Some("the time 18446744073709551615")),
        ] {
            let record: JournalRecord = serde_json::from_str(&text).unwrap();
            let found = within(&record).err();
            let is_as_due = match (told, &found) {
                (None, found) => found.is_none(),
                (Some(told), Some(found)) => found.contains(told),
                (Some(_), None) => false,
            };
            assert!(is_as_due, "{told:?}: {found:?}");
        }
    }
}
