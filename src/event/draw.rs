//! Who sits where in a stage, as it follows from the stages before.

use super::config::Config;
use super::ledger::Ledger;
use super::stage::Draw;

/// The engines of a stage by their seats. Places that nobody has, after a disqualification, stay empty.
#[must_use]
pub fn seats(config: &Config, ledger: &Ledger, number: usize) -> Vec<String> {
    let Some(stage) = config.stages.get(number) else { return Vec::new() };
    let outcome = |number: usize| {
        let outcome = ledger.stages.get(number).and_then(|before| before.outcome.as_ref());
        outcome.map(|outcome| &outcome.promoted[..]).unwrap_or_default()
    };
    let entries = || config.entries.iter().map(|entry| entry.name.clone());
    let mut seats: Vec<String> = if stage.from.is_empty() && stage.engines.is_empty() {
        match number.checked_sub(1) {
            Some(before) => outcome(before).to_vec(),
            None => entries().collect(),
        }
    } else {
        let place = |before: usize, place: &usize| outcome(before).get(*place - 1).cloned();
        let from = stage
            .from
            .iter()
            .flat_map(|(before, places)| places.iter().filter_map(move |one| place(*before, one)));
        from.chain(entries().filter(|name| stage.engines.contains(name))).collect()
    };
    match stage.draw {
        Draw::ReversedRanking => seats.reverse(),
        Draw::Alphabetical => seats.sort_by_key(|name| name.to_lowercase()),
        Draw::Seeds | Draw::Ranking => {}
    }
    seats
}
