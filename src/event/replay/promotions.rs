//! Comparison of the engines of a stage with those that earlier stages promote.

use std::collections::{BTreeMap, BTreeSet};

use super::super::plan::{PlaceRange, PlannedStage, Seating};
use super::report::{ComparisonKind, StageReplay};
use super::stage_games::{Id, StageGames};

/// The outcome of a replayed stage, for later stages.
#[derive(Clone, Debug, Default)]
pub(super) struct StageOutcome {
    /// Its engines by place; those in one group are level, and the organisers told them apart.
    pub(super) groups: Vec<Vec<Id>>,
    /// Its engines by points alone; none in a bracket.
    pub(super) level: Vec<Vec<Id>>,
    /// True if games are missing, so that the places may be others.
    pub(super) is_incomplete: bool,
}

/// The engines that points give a spot of a playoff after a stage, and those that are level for the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LevelForSpots {
    /// The engines that have one without a game.
    pub(super) through: Vec<Id>,
    /// The engines that play for the rest.
    pub(super) tied: Vec<Id>,
}

impl StageOutcome {
    /// The engines that a playoff of so many spots is about: those that are through, and those that play for the rest.
    pub(super) fn level_for(&self, spots: usize) -> LevelForSpots {
        let mut found = LevelForSpots::default();
        for group in &self.level {
            if found.through.len() + group.len() > spots {
                if found.through.len() < spots {
                    found.tied.clone_from(group);
                }
                break;
            }
            found.through.extend(group);
        }
        found
    }

    /// The outcome of a playoff with these places among some engines of this stage.
    pub(super) fn after_playoff(&self, through: &[Id], places: Vec<Vec<Id>>) -> StageOutcome {
        let played = places.concat();
        let of = |mut group: Vec<Id>| {
            // Engines that are level there stand as this stage has them.
            group.sort_by_key(|id| self.groups.concat().iter().position(|other| other == id));
            group
        };
        let is_other = |id: &Id| !played.contains(id);
        let others = |is_through: bool| {
            let all = self.groups.iter().map(move |group| -> Vec<Id> {
                let mut own = group.clone();
                own.retain(|id| is_other(id) && through.contains(id) == is_through);
                own
            });
            all.collect::<Vec<_>>()
        };
        let mut groups = others(true);
        groups.extend(places.into_iter().map(of));
        groups.extend(others(false));
        groups.retain(|group| !group.is_empty());
        StageOutcome { groups, level: Vec::new(), is_incomplete: self.is_incomplete }
    }
}

/// Compares the engines of a playoff with those that are level for its spots.
pub(super) fn playoff(
    level: &LevelForSpots,
    of: &str,
    stage: &StageGames<'_>,
    out: &mut StageReplay,
) {
    let roster = stage.roster();
    let at = || format!("level in {of}");
    for id in &level.tied {
        out.compare(ComparisonKind::Promotions, roster.contains(id), || {
            (at(), stage.name(*id).to_owned(), "it does not play here".to_owned())
        });
    }
    for id in roster.iter().filter(|id| !level.tied.contains(id)) {
        out.disagree(ComparisonKind::Promotions, at(), "nobody else", stage.name(*id));
    }
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
    let mut is_doubtful = false;
    let mut order = Vec::new();
    let mut known = BTreeSet::new();
    for (name, places) in by_stage {
        let Some(outcome) = outcomes.get(name) else {
            out.notes
                .push(format!("no games decide {name}, so that nothing tells who came from it"));
            is_known = false;
            continue;
        };
        is_doubtful |= outcome.is_incomplete;
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
            let doubt = if outcome.is_incomplete { " (games are missing there)" } else { "" };
            let at = || format!("place {} of {name}{doubt}", range.start());
            for _ in 0..due {
                let promoted = (!present.is_empty()).then(|| present.remove(0));
                order.extend(promoted.or_else(|| absent.first().copied()));
                out.compare(ComparisonKind::Promotions, promoted.is_some(), || {
                    let id = if absent.is_empty() { Id(usize::MAX) } else { absent.remove(0) };
                    (at(), stage.name(id).to_owned(), "it does not play here".to_owned())
                });
            }
            for id in present {
                out.disagree(ComparisonKind::Promotions, at(), "not promoted", stage.name(id));
            }
        }
        known.extend(all);
    }
    for id in roster.iter().filter(|id| is_known && !planned.invited && !known.contains(id)) {
        out.disagree(ComparisonKind::Promotions, "-", "nobody else", stage.name(*id));
    }
    let is_whole = is_known && order.len() == roster.len();
    let is_ranked = matches!(planned.seating, Seating::Ranking | Seating::ReversedRanking);
    if is_whole && is_doubtful && is_ranked {
        let note = "games are missing before it, and its own tell who is ahead";
        out.notes.push(note.to_owned());
    }
    (is_whole && !is_doubtful).then_some(order)
}
