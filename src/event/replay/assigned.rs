//! The stage of each recorded game, by its Event tag, its file's name, or by what is left, and the order of play.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::super::format::Format;
use super::super::plan::EventPlan;
use super::read::{self, Recorded};
use super::report::Replay;
use super::{ReplayError, words};
use crate::model::words::counted;

/// The first part of games that no tag tells apart: behind all that an event file lists.
const UNTOLD: usize = 1000;

/// A game with the stage that it belongs to.
pub(super) struct Assigned {
    pub(super) stage: usize,
    pub(super) part: usize,
    pub(super) recorded: Recorded,
}

/// Games that follow one another in a file, of one Event tag.
struct Run {
    file: usize,
    tag: String,
    /// The stage and its part, where a tag or the file's name tells them.
    place: Option<(usize, usize)>,
    games: Vec<Recorded>,
}

impl Run {
    fn began(&self) -> Option<&str> {
        self.games.iter().find_map(|game| game.began.as_deref())
    }
}

/// Reads all files and finds the stage of each game.
pub(super) fn assigned(
    plan: &EventPlan,
    files: &[PathBuf],
    out: &mut Replay,
) -> Result<Vec<Assigned>, ReplayError> {
    let mut runs: Vec<Run> = Vec::new();
    for (number, path) in files.iter().enumerate() {
        let file = read::read(path).map_err(|(path, source)| ReplayError::Open { path, source })?;
        out.notes.extend(file.notes);
        for recorded in file.games {
            let tag = &recorded.game.event;
            match runs.last_mut() {
                Some(run) if run.file == number && run.tag == *tag => run.games.push(recorded),
                _ => {
                    let place = stage_of(plan, tag).or_else(|| stage_of(plan, &stem(path)));
                    runs.push(Run { file: number, tag: tag.clone(), place, games: vec![recorded] });
                }
            }
        }
    }
    if runs.is_empty() {
        let notes = out.notes.iter().take(5).cloned().collect();
        return Err(ReplayError::Unreadable { notes });
    }
    untold(plan, &mut runs, out);
    let mut strange: BTreeMap<&str, usize> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.place.is_none()) {
        *strange.entry(&run.tag).or_default() += run.games.len();
    }
    if runs.iter().all(|run| run.place.is_none()) {
        let seen: Vec<&str> = strange.into_keys().take(5).collect();
        return Err(ReplayError::NoGames { seen: seen.join(", ") });
    }
    for (tag, games) in strange {
        let verb = if games == 1 { "belongs" } else { "belong" };
        let games = counted(games, "game");
        out.notes.push(format!("{games} of {tag:?} {verb} to no stage of the event"));
    }
    in_time(plan, &mut runs, out);
    mixed(plan, &runs, out);
    let placed = runs.into_iter().filter_map(|run| Some((run.place?, run.games)));
    let each = placed.flat_map(|((stage, part), games)| {
        games.into_iter().map(move |recorded| Assigned { stage, part, recorded })
    });
    Ok(each.collect())
}

/// Finds a stage for games that neither a tag nor a file's name tells: the only one, where it has no others; or one without games,
/// where another stage has the same name and more words, as `4K VI` and `4K VI MiniFinal`; or the first, where nothing is told.
fn untold(plan: &EventPlan, runs: &mut [Run], out: &mut Replay) {
    let has_games = |stage: usize| runs.iter().any(|run| run.place.is_some_and(|at| at.0 == stage));
    let empty: Vec<usize> = (0..plan.stages.len()).filter(|stage| !has_games(*stage)).collect();
    let all: BTreeSet<&str> = runs.iter().map(|run| run.tag.as_str()).collect();
    let (stage, tags): (usize, Vec<String>) = match empty[..] {
        [0] if plan.stages.len() == 1 => (0, all.into_iter().map(str::to_owned).collect()),
        [stage] => {
            let told = runs.iter().filter(|run| run.place.is_some());
            let told: Vec<Vec<String>> = told.map(|run| words(&run.tag)).collect();
            let is_whole = |tag: &&str| {
                let own = words(tag);
                told.iter().any(|other| other.len() > own.len() && other.starts_with(&own))
            };
            (stage, all.into_iter().filter(is_whole).map(str::to_owned).collect())
        }
        [first, ..] if empty.len() == plan.stages.len() && all.len() == 1 => {
            (first, all.into_iter().map(str::to_owned).collect())
        }
        _ => return,
    };
    let mut games = 0;
    for run in runs.iter_mut().filter(|run| run.place.is_none() && tags.contains(&run.tag)) {
        run.place = Some((stage, UNTOLD));
        games += run.games.len();
    }
    if let (Some(planned), true) = (plan.stages.get(stage), games > 0 && plan.stages.len() > 1) {
        let games = counted(games, "game");
        let (tags, name) = (tags.join(", "), &planned.name);
        out.notes.push(format!(
            "{games} of {tags:?} are taken for {name}, of which there are no others"
        ));
    }
}

/// Brings the files of each part into the order of play, where they have dates. A game that no tag tells apart is told by its file, and
/// in a knockout of one file by its Event tag.
fn in_time(plan: &EventPlan, runs: &mut [Run], out: &mut Replay) {
    runs.sort_by_key(|run| run.place);
    let mut is_moved = false;
    for part in runs.chunk_by_mut(|a, b| a.place == b.place && a.place.is_some()) {
        let Some((stage, own)) = part.first().and_then(|run| run.place) else { continue };
        let is_one = part.iter().all(|run| Some(run.file) == part.first().map(|run| run.file));
        let is_knockout =
            plan.stages.get(stage).is_some_and(|stage| matches!(stage.format, Format::Knockout(_)));
        // A match may have been played at another time than its place in its file says.
        let by_tag = own == UNTOLD && is_one && is_knockout && tags_tell_matches(part);
        let unit = |run: &Run| (run.file, if by_tag { run.tag.clone() } else { String::new() });
        let mut began: BTreeMap<(usize, String), Option<String>> = BTreeMap::new();
        for run in part.iter() {
            began.entry(unit(run)).or_insert_with(|| run.began().map(str::to_owned));
        }
        let time = |run: &Run| began.get(&unit(run)).cloned().flatten();
        if began.values().all(Option::is_some) && !part.is_sorted_by_key(time) {
            is_moved = true;
            part.sort_by_cached_key(time);
        }
        if own == UNTOLD {
            let mut known = Vec::new();
            for run in part {
                let own = unit(run);
                let at = known.iter().position(|other| *other == own).unwrap_or_else(|| {
                    known.push(own);
                    known.len() - 1
                });
                run.place = Some((stage, UNTOLD + at));
            }
        }
    }
    if is_moved {
        let note = "the files are not in the order of play; the dates of their games give it";
        out.notes.push(note.to_owned());
    }
}

/// True if no two engines met under several Event tags.
fn tags_tell_matches(runs: &[Run]) -> bool {
    let mut tags: BTreeMap<[&str; 2], &str> = BTreeMap::new();
    runs.iter().flat_map(|run| &run.games).all(|recorded| {
        let game = &recorded.game;
        let mut pair = [game.white.name.as_str(), game.black.name.as_str()];
        pair.sort_unstable();
        *tags.entry(pair).or_insert(&game.event) == game.event
    })
}

/// Notes the Event tags of a stage that takes whatever is left, where they are several: it may be more than one event.
fn mixed(plan: &EventPlan, runs: &[Run], out: &mut Replay) {
    for (stage, planned) in plan.stages.iter().enumerate() {
        let takes_all = planned.tags.iter().flatten().any(|tag| tag == "*");
        let is_left = |part: usize| part >= UNTOLD || takes_all;
        let own =
            runs.iter().filter(|run| run.place.is_some_and(|at| at.0 == stage && is_left(at.1)));
        let mut games: BTreeMap<&str, usize> = BTreeMap::new();
        own.for_each(|run| *games.entry(&run.tag).or_default() += run.games.len());
        if games.len() > 1 && !matches!(planned.format, Format::Knockout(_)) {
            let told: Vec<String> =
                games.iter().take(5).map(|(tag, games)| format!("{games} of {tag:?}")).collect();
            let (name, many, told) = (&planned.name, games.len(), told.join(", "));
            out.notes.push(format!("the games of {name} have {many} Event tags: {told}"));
        }
    }
}

/// The name of a file without what tells its kind.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let lower = name.to_ascii_lowercase();
    let stem = lower.trim_end_matches(".xz").trim_end_matches(".pgn").len();
    name.get(..stem).unwrap_or(&name).to_owned()
}

/// The stage and its part whose words an Event tag ends with; the longest words count.
fn stage_of(plan: &EventPlan, tag: &str) -> Option<(usize, usize)> {
    let tag = words(tag);
    let mut best: Option<(usize, (usize, usize))> = None;
    for (stage, planned) in plan.stages.iter().enumerate() {
        for (part, others) in planned.tags.iter().enumerate() {
            for phrase in others {
                let phrase = if phrase == "*" { Vec::new() } else { words(phrase) };
                let is_known = best.is_some_and(|(length, _)| length > phrase.len());
                if tag.ends_with(&phrase) && !is_known {
                    best = Some((phrase.len() + 1, (stage, part)));
                }
            }
        }
    }
    best.map(|(_, place)| place)
}
