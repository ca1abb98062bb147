//! The terms of a stage in words: what is played, who goes on, and what breaks a tie.

use super::{Site, word};
use crate::event::format::Format as OtherFormat;
use crate::event::format::knockout::Knockout;
use crate::event::format::match_::MatchFormat;
use crate::event::stage::{Stage, StageFormat};
use crate::model::words::{all, counted};

/// Everything about a stage that is known before it begins, as sentences.
pub(super) fn terms(site: &Site<'_>, number: usize, stage: &Stage) -> String {
    let mut told = played(&stage.format, stage.seats) + ".";
    if let Some(before) = stage.breaks_ties_of.and_then(|before| site.config.stages.get(before)) {
        told += &format!(" It is played only if places of {} are tied.", word(&before.name));
    }
    for line in goes_on(site, number, stage) {
        told += &format!(" {line}.");
    }
    if !stage.format.is_played_on() {
        let titles: Vec<&str> =
            stage.chain.criteria.iter().map(|criterion| criterion.title()).collect();
        if !titles.is_empty() {
            told += &format!(" Ties are broken by {}.", titles.join(", "));
        }
    }
    told
}

/// A format.
fn played(format: &StageFormat, seats: usize) -> String {
    let doubles = |doubles: u32| match doubles {
        1 => "A double round robin".to_owned(),
        many => format!("{many} double round robins"),
    };
    match format {
        StageFormat::DoubleRoundRobins(of) => doubles(of.get()),
        StageFormat::Pairs(pairs) => {
            format!("{}, after a tie further pairs until one is decisive", a_match(pairs.get()))
        }
        StageFormat::Of(OtherFormat::RoundRobin(of)) => match of.cycles.get() {
            1 => "A single round robin".to_owned(),
            cycles if cycles.is_multiple_of(2) => doubles(cycles / 2),
            _ => of.in_words(),
        },
        StageFormat::Of(OtherFormat::Match(of)) => match_in_words(of),
        StageFormat::Of(OtherFormat::Swiss(of)) => {
            let games = counted(of.games.get(), "game");
            format!("A Swiss of {}, {games} a pairing", counted(of.rounds.get(), "round"))
        }
        StageFormat::Of(OtherFormat::Dutch(of)) => format!(
            "A Swiss of {}, one game a pairing, by the Dutch system",
            counted(of.rounds.get(), "round")
        ),
        StageFormat::Of(OtherFormat::Knockout(of)) => {
            let rounds = counted(Knockout::rounds(seats), "round");
            let early = if of.early { ", a match ends as soon as it is decided" } else { "" };
            format!("A knockout of {rounds}{early}; after a tie pairs follow until one is decisive")
        }
        StageFormat::Of(OtherFormat::Playoff(of)) => format!(
            "A playoff for {}: {} at a time, until nobody is level for the last one",
            counted(of.spots.get(), "spot"),
            doubles(of.doubles.get()).to_lowercase()
        ),
    }
}

fn a_match(pairs: u32) -> String {
    format!("A match of {}", counted(pairs, "pair"))
}

fn match_in_words(of: &MatchFormat) -> String {
    let mut told = a_match(of.pairs.get());
    if of.early {
        told += ", which ends as soon as it is decided";
    }
    for then in &of.then {
        let pairs = counted(then.pairs.get(), "pair");
        told += &match then.again {
            true => format!(", after a tie {pairs} at a time until it is decided"),
            false => format!(", after a tie {pairs} more"),
        };
    }
    told
}

/// The places that go on, and where to.
fn goes_on(site: &Site<'_>, number: usize, stage: &Stage) -> Vec<String> {
    let stages = &site.config.stages;
    if number + 1 == stages.len() {
        let mut told = vec!["The first wins the event".to_owned()];
        if stage.promote > 1 {
            told.push(format!("The first {} go on", stage.promote));
        }
        return told;
    }
    let mut told = Vec::new();
    for (at, later) in stages.iter().enumerate().skip(number + 1) {
        let name = word(&later.name);
        if later.breaks_ties_of == Some(number) {
            told.push(format!("Ties for its last spots are played off in {name}"));
            continue;
        }
        if at == number + 1 && later.from.is_empty() && later.engines.is_empty() {
            told.push(match stage.promote {
                1 => format!("The first goes on to {name}"),
                many => format!("The first {many} go on to {name}"),
            });
        }
        for (_, places) in later.from.iter().filter(|(from, _)| *from == number) {
            told.push(match &places[..] {
                [one] => format!("Place {one} goes on to {name}"),
                many => format!("Places {} go on to {name}", ranges(many)),
            });
        }
    }
    told
}

/// `1 to 3, 5 and 8`.
fn ranges(places: &[usize]) -> String {
    let runs = places.chunk_by(|a, b| a + 1 == *b);
    let words: Vec<String> = runs
        .flat_map(|run| match run {
            [first, .., last] if run.len() > 2 => vec![format!("{first} to {last}")],
            few => few.iter().map(ToString::to_string).collect(),
        })
        .collect();
    all(&words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_in_runs() {
        let told = [&[1][..], &[1, 2], &[1, 2, 3, 4], &[1, 4, 5, 8, 9, 10]].map(ranges);
        assert_eq!(told, ["1", "1 and 2", "1 to 4", "1, 4, 5 and 8 to 10"]);
    }
}
