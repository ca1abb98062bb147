//! Where the engines of a stage come from: places of stages before it, and of events before this one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::super::plan::sources::{NoPlaces, PlaceRange, PlaceSource};
use super::EventEntry;
use super::previous::{self, PlayedEvent};
use super::raw_stage::RawStage;
use super::seated::SeatedEngines;
use crate::model::source_place::TextMistake;
use crate::model::words::counted;

/// The engines that come to a stage besides those that its `engines` names.
#[derive(Default)]
pub(super) struct Sources {
    /// Places of stages before, by their numbers.
    pub(super) places: Vec<(usize, Vec<usize>)>,
    /// Engines by their places in events before, the best first.
    pub(super) previous: Vec<String>,
    /// The engines that those events passed over, and the places that are nobody's by that, in words.
    pub(super) passed_over: Vec<String>,
    /// The stage whose ties on points this one breaks.
    pub(super) tied: Option<usize>,
}

/// The events before this one that a file names.
#[derive(Default)]
pub(super) struct Events {
    /// Those whose journals can be read.
    pub(super) played: BTreeMap<String, PlayedEvent>,
    /// The others, where this event's own journal stands in for them.
    pub(super) lost: Option<LostEvents>,
}

/// Events before this one whose journals cannot be read any more.
pub(super) struct LostEvents {
    /// The reason, in words.
    why: String,
    seated: SeatedEngines,
}

/// Reads every journal that a stage takes places from. For those who look on, the engines that `own_journal` has in the stages
/// stand in for one that cannot be read.
pub(super) fn events(
    raw: &[RawStage],
    here: &Path,
    own_journal: Option<&Path>,
) -> Result<Events, TextMistake> {
    let mut events = Events::default();
    for one in raw {
        let Some(from) = &one.from else { continue };
        for text in from.get_ref().list() {
            let wrong = |what: String| (from.span(), what);
            let source: PlaceSource =
                text.parse().map_err(|error: NoPlaces| wrong(error.to_string()))?;
            let Some((journal, _)) = previous::named(&source.stage) else { continue };
            if events.played.contains_key(journal) {
                continue;
            }
            match (previous::read(here, journal), own_journal) {
                (Ok(played), _) => {
                    events.played.insert(journal.to_owned(), played);
                }
                (Err(why), Some(own)) => {
                    events.lost = Some(LostEvents { why, seated: SeatedEngines::of(own) });
                }
                (Err(why), None) => return Err(wrong(why)),
            }
        }
    }
    Ok(events)
}

/// The sources of a stage by its number.
pub(super) fn sources(
    one: &RawStage,
    number: usize,
    known: impl Fn(&str) -> Option<usize>,
    events: &Events,
    entries: &[EventEntry],
) -> Result<Sources, TextMistake> {
    let mut found = Sources::default();
    let by_ranking = one.is_seated_by_ranking();
    let size = one.size.as_ref();
    let Some(from) = &one.from else {
        return match size {
            Some(size) => Err((size.span(), NO_ROOM.into())),
            None => Ok(found),
        };
    };
    let wrong = |what: String| (from.span(), what);
    let list = from.get_ref().list();
    if list.is_empty() {
        return Err(wrong(
            "name the places that its engines come from, or leave `from` out".into(),
        ));
    }
    let (mut met, mut taken) = (BTreeSet::new(), BTreeSet::new());
    let mut open = None;
    let mut is_by_own_journal = false;
    for text in list {
        let source: PlaceSource =
            text.parse().map_err(|error: NoPlaces| wrong(error.to_string()))?;
        if let Some((journal, stage)) = previous::named(&source.stage) {
            if let Some(LostEvents { why, seated }) = &events.lost {
                if !is_by_own_journal {
                    let own = one.engines.as_ref().map_or(&[][..], |engines| engines.get_ref());
                    let newcomers = seated.newcomers(number, own);
                    found.previous = newcomers.ok_or_else(|| wrong(why.clone()))?;
                    found.passed_over.push(format!(
                        "{why}; who played in {} is told by this event's own journal",
                        one.name.get_ref()
                    ));
                    is_by_own_journal = true;
                }
                continue;
            }
            let PlaceRange::These(places) = &source.places else {
                let of = &source.stage;
                return Err(wrong(format!(
                    "places of another event are named one by one or as a range, such as \"{of}:1..8\""
                )));
            };
            let Some(played) = events.played.get(journal) else { continue };
            let order = played.order(stage, places, by_ranking).map_err(wrong)?;
            found.passed_over.extend(played.passed_over(stage, places));
            for place in places {
                if !taken.insert((source.stage.clone(), *place)) {
                    return Err(wrong(format!("place {place} of {} is there twice", source.stage)));
                }
                let engine = order.get(*place - 1);
                if engine.is_some_and(String::is_empty) {
                    // As between the stages of one event.
                    found
                        .passed_over
                        .push(format!("place {place} of {} is nobody's", source.stage));
                    continue;
                }
                match engine.filter(|name| entries.iter().any(|entry| entry.name == **name)) {
                    Some(name) => found.previous.push(name.clone()),
                    // Rule 1.8 of the leagues: the place stays vacant, and more are promoted.
                    None if size.is_some() => {}
                    None => return Err(wrong(missing(&source.stage, *place, engine))),
                }
            }
            continue;
        }
        let Some(stage) = known(&source.stage).filter(|stage| *stage < number) else {
            return Err(wrong(format!("no stage {:?} stands before this one", source.stage)));
        };
        let places = match source.places {
            PlaceRange::These(places) => places,
            PlaceRange::Tied if list.len() == 1 => {
                return Ok(Sources { tied: Some(stage), ..found });
            }
            PlaceRange::Tied => {
                return Err(wrong("a playoff takes those who are tied in one stage".into()));
            }
            range @ (PlaceRange::Best | PlaceRange::Odd | PlaceRange::Even)
                if size.is_some() && open.is_none() =>
            {
                open = Some((found.places.len(), range));
                Vec::new()
            }
            PlaceRange::Best | PlaceRange::Odd | PlaceRange::Even => {
                return Err(wrong(format!(
                    "an event that is played names its places, such as \"{0}:1..3\", or leaves one stage's open with size = 12, \
                     the engines in all: \"{0}:1..\", \"{0}:odd\" or \"{0}:even\"",
                    source.stage
                )));
            }
        };
        if let Some(place) = places.iter().find(|place| !met.insert((stage, **place))) {
            return Err(wrong(format!("place {place} of {} is there twice", source.stage)));
        }
        found.places.push((stage, places));
    }
    match (size, open) {
        (Some(size), Some((open, range))) => {
            let own = one.engines.as_ref().map_or(0, |engines| engines.get_ref().len());
            let places = found.places.iter().map(|(_, places)| places.len()).sum::<usize>();
            let others = own + found.previous.len() + places;
            let room = size.get_ref().checked_sub(others).filter(|room| (1..=1000).contains(room));
            let Some(room) = room else {
                let others = counted(others, "engine");
                let what = format!(
                    "{others} play in it without those that are to be promoted: no place is left"
                );
                return Err((size.span(), what));
            };
            let (stage, places) = &mut found.places[open];
            *places = range.list(2 * room, room);
            if let Some(place) = places.iter().find(|place| met.contains(&(*stage, **place))) {
                return Err(wrong(format!("place {place} of the open stage is there twice")));
            }
        }
        (Some(size), None) => return Err((size.span(), NO_ROOM.into())),
        (None, _) => {}
    }
    Ok(found)
}

const NO_ROOM: &str = "size is for a stage that takes as many of another as there is room for: from = \"League 2:1..\"";

/// The reason why a place of an event before cannot be taken.
fn missing(source: &str, place: usize, engine: Option<&String>) -> String {
    match engine {
        Some(name) => format!(
            "place {place} of {source} is {name}, and no [[entry]] or [[engine]] is called so; with size = N and a stage whose \
             places are left open its place stays vacant, and others are promoted (leagues, rule 1.8)"
        ),
        None => format!("{source} has no place {place}"),
    }
}
