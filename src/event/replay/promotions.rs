//! Comparison of the engines of a stage with those that earlier stages promote.

use std::collections::{BTreeMap, BTreeSet};

use super::super::plan::{PlaceRange, PlannedStage};
use super::report::{ComparisonKind, StageReplay};
use super::stage_games::{Id, StageGames};

/// The outcome of a replayed stage, for later stages.
#[derive(Clone, Debug, Default)]
pub(super) struct StageOutcome {
    /// Its engines by place; those in one group are level, and the organisers told them apart.
    pub(super) groups: Vec<Vec<Id>>,
    /// True if games are missing, so that the places may be others.
    pub(super) is_incomplete: bool,
}

/// Compares the engines of a stage with its sources. The order in which they come from these, where every one
/// was replayed, comes back, the best first.
pub(super) fn promotions(
    planned: &PlannedStage,
    stage: &StageGames<'_>,
    outcomes: &BTreeMap<String, StageOutcome>,
    out: &mut StageReplay,
) -> Option<Vec<Id>> {
    let roster: BTreeSet<Id> = stage.roster().into_iter().collect();
    let mut by_stage: Vec<(&str, Vec<&PlaceRange>)> = Vec::new();
    for source in &planned.from {
        match by_stage.iter_mut().find(|(name, _)| *name == source.stage) {
            Some((_, places)) => places.push(&source.places),
            None => by_stage.push((&source.stage, vec![&source.places])),
        }
    }
    let mut is_known = !by_stage.is_empty();
    let mut order = Vec::new();
    let mut known = BTreeSet::new();
    for (name, places) in by_stage {
        let Some(outcome) = outcomes.get(name) else {
            out.notes
                .push(format!("no games decide {name}, so that nothing tells who came from it"));
            is_known = false;
            continue;
        };
        let all: Vec<Id> = outcome.groups.concat();
        let here: Vec<Id> = all.iter().copied().filter(|id| roster.contains(id)).collect();
        let list = |places: &&PlaceRange| places.list(all.len(), here.len());
        let wanted: BTreeSet<usize> = places.iter().flat_map(list).collect();
        let mut place = 0;
        for group in &outcome.groups {
            let range = place + 1..=place + group.len();
            place += group.len();
            let due = range.clone().filter(|place| wanted.contains(place)).count();
            let (mut present, mut absent): (Vec<Id>, Vec<Id>) =
                group.iter().copied().partition(|id| roster.contains(id));
            let told = |place: usize| format!("place {place} of {name}");
            let doubt = if outcome.is_incomplete { " (games are missing there)" } else { "" };
            for _ in 0..due {
                let promoted = (!present.is_empty()).then(|| present.remove(0));
                order.extend(promoted.or_else(|| absent.first().copied()));
                out.compare(ComparisonKind::Promotions, promoted.is_some(), || {
                    let id = if absent.is_empty() { Id(usize::MAX) } else { absent.remove(0) };
                    (
                        format!("{}{doubt}", told(*range.start())),
                        stage.name(id).to_owned(),
                        "it does not play here".to_owned(),
                    )
                });
            }
            for id in present {
                out.compare(ComparisonKind::Promotions, false, || {
                    let expected = "not promoted".to_owned();
                    (
                        format!("{}{doubt}", told(*range.start())),
                        expected,
                        stage.name(id).to_owned(),
                    )
                });
            }
        }
        known.extend(all);
    }
    for id in roster.iter().filter(|id| is_known && !planned.invited && !known.contains(id)) {
        out.compare(ComparisonKind::Promotions, false, || {
            ("-".to_owned(), "nobody else".to_owned(), stage.name(*id).to_owned())
        });
    }
    let is_whole = is_known && order.len() == roster.len();
    is_whole.then_some(order)
}
