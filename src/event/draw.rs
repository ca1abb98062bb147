//! The seating of a stage, as it follows from the stages before.

use super::config::EventConfig;
use super::format;
use super::ledger::Ledger;
use super::lot;
use super::stage::{SeatDraw, Stage, StageFormat, playing};

/// The engines of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drawn {
    /// The engines by seat. Places that no engine has, after a disqualification, stay empty.
    pub(crate) seats: Vec<String>,
    /// The engines that go on from it without a game: of a playoff the engines that were clear of the tie.
    pub(crate) through: Vec<String>,
    /// The engines of a playoff that the stage before left level in everything, a list for each tie.
    pub(crate) level: Vec<Vec<String>>,
}

/// The engines of a stage by its number.
pub(crate) fn drawn(config: &EventConfig, ledger: &Ledger, number: usize) -> Drawn {
    let Some(stage) = config.stages.get(number) else { return Drawn::default() };
    if let Some(before) = stage.breaks_ties_of {
        return tied(config, ledger, stage, before);
    }
    let outcome = |number: usize| going_on(config, ledger, number);
    let entries = || config.entries.iter().map(|entry| entry.name.clone());
    let mut seats: Vec<String> = if stage.from.is_empty() && !stage.begins_alone() {
        match number.checked_sub(1) {
            Some(before) => outcome(before),
            None => entries().collect(),
        }
    } else {
        let from = stage.from.iter().flat_map(|(before, places)| {
            let there = outcome(*before);
            let taken: Vec<String> =
                places.iter().filter_map(|place| there.get(*place - 1).cloned()).collect();
            taken
        });
        let previous = stage.previous.iter().cloned();
        let own: Vec<String> = match stage.draw {
            // Behind those of events before they stand by their seeds, where the file says nothing of an order.
            SeatDraw::Ranking if stage.from.is_empty() => {
                entries().filter(|name| stage.engines.contains(name)).collect()
            }
            _ => stage.engines.clone(),
        };
        previous.chain(from).chain(own).collect()
    };
    // A place of which nobody has taken the seat is vacant.
    seats.retain(|name| ledger.withdrawal(name).is_none());
    match stage.draw {
        SeatDraw::ReversedRanking => seats.reverse(),
        SeatDraw::Alphabetical => seats.sort_by_key(|name| name.to_lowercase()),
        SeatDraw::Shuffle(number) => lot::shuffle(&mut seats, number),
        SeatDraw::Seeds => {
            let order: Vec<String> = entries().collect();
            seats.sort_by_key(|name| order.iter().position(|entry| entry == name));
        }
        SeatDraw::Ranking => {}
    }
    Drawn { seats, ..Drawn::default() }
}

/// The engines that go on from a stage by their places. The seat of one that was withdrawn since goes to the next behind
/// those that go on; where that place is shared by several the withdrawn one stays here, and its seat is nobody's.
fn going_on(config: &EventConfig, ledger: &Ledger, number: usize) -> Vec<String> {
    let Some((state, outcome)) = ledger.over(number) else { return Vec::new() };
    let mut held = outcome.promoted.clone();
    let (Some(stage), false) = (config.stages.get(number), ledger.withdrawn.is_empty()) else {
        return held;
    };
    let standings = stage.standings_of(state);
    let ranking = playing(&standings, &stage.ranking(&standings, state));
    for (gone, withdrawn) in (1..).zip(&ledger.withdrawn) {
        let Some(place) = held.iter().position(|name| *name == withdrawn.engine) else { continue };
        let before = &ledger.withdrawn[..gone];
        let is_free = |name: &&String| {
            !held.contains(name)
                && !outcome.promoted.contains(name)
                && before.iter().all(|one| one.engine != **name)
        };
        let free = ranking.iter().map(|group| group.iter().filter(is_free).collect::<Vec<_>>());
        let next = free.into_iter().find(|group| !group.is_empty());
        if let Some([next]) = next.as_deref() {
            held[place] = (*next).clone();
        }
    }
    held
}

/// Returns the engines that are level on points for the last spots of a playoff, and the engines before them.
fn tied(config: &EventConfig, ledger: &Ledger, stage: &Stage, before: usize) -> Drawn {
    let mut drawn = Drawn::default();
    let StageFormat::Of(format::Format::Playoff(playoff)) = &stage.format else { return drawn };
    let Some((state, outcome)) = ledger.over(before) else { return drawn };
    let field = state.field(config.stages.get(before).and_then(|stage| stage.crash_limit));
    let order: Vec<_> = outcome
        .order
        .iter()
        .filter_map(|name| Some((name, field.find(name)?)))
        .filter(|(name, engine)| {
            field.removal(*engine).is_none() && ledger.withdrawal(name).is_none()
        })
        .map(|(name, engine)| (name, field.points(engine)))
        .collect();
    let spots = playoff.spots.get() as usize;
    for level in order.chunk_by(|(_, a), (_, b)| a == b) {
        let names = level.iter().map(|(name, _)| (*name).clone());
        if drawn.through.len() >= spots {
            break;
        }
        if drawn.through.len() + level.len() > spots {
            drawn.seats = names.collect();
            break;
        }
        drawn.through.extend(names);
    }
    let stands = |name: &String| drawn.seats.contains(name) || drawn.through.contains(name);
    let groups = outcome.places().into_iter();
    let groups = groups.map(|group| group.into_iter().filter(stands).collect::<Vec<_>>());
    drawn.level = groups.filter(|group| group.len() > 1).collect();
    drawn
}
