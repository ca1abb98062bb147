//! Recorded games of real events, run through the formats of an event file: every difference is told.
//!
//! Each step is computed from what was really played before it, so that one difference does not bring others.

#[cfg(test)]
mod agreement;
mod assigned;
mod bracket;
#[cfg(test)]
mod changed_games;
mod encounter;
mod league;
#[cfg(test)]
mod odd_files;
#[cfg(test)]
mod organisers_files;
mod promotions;
mod read;
mod report;
mod rounds;
mod seating;
mod stage_games;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::engine_names;
use super::field::FieldBuilder;
use super::format::Format;
use super::plan::{EventPlan, PlannedStage, Seating, Variant};
use super::standings::{Standings, StandingsRow, TieOfTwo};
use crate::model::game::listed::ListedPlayer;
use crate::model::game::result::GameResult;
use crate::model::text::shown;
use crate::model::words::counted;
use assigned::{Assigned, assigned};
use promotions::{LevelForSpots, StageOutcome, promotions};
pub(crate) use report::{ComparisonKind, Replay, ReportRow, StageReplay};
use rounds::{PlayedBye, System};
use stage_games::{Id, StageGame, StageGames, TagUse, moves_sum};

/// An error because of which nothing could be replayed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    /// A file cannot be opened.
    #[error("cannot open {}: {source}; name a PGN of the event's games", shown(path))]
    Open { path: PathBuf, source: std::io::Error },
    /// No game belongs to a stage.
    #[error(
        "no game of these files belongs to a stage of the event; name the end of its Event tag in the stage, \
         such as games = \"Round of 32\" (`*` takes every game); seen: {seen}"
    )]
    NoGames {
        /// The Event tags.
        seen: String,
    },
    /// No game can be read.
    #[error("these files hold no game that can be read{}", .notes.iter().map(|note| format!("; {note}")).collect::<String>())]
    Unreadable {
        /// The oddities that were found in them.
        notes: Vec<String>,
    },
}

/// Replays files.
///
/// # Errors
/// When a file cannot be opened, or none of the games belongs to a stage.
pub(crate) fn replay(plan: &EventPlan, files: &[PathBuf]) -> Result<Replay, ReplayError> {
    let mut out = Replay { event: plan.event.clone(), ..Replay::default() };
    let mut games = assigned(plan, files, &mut out)?;
    let named = named(&mut games);
    let mut replayed =
        ReplayedStages { plan, games: &games, named: &named, outcomes: BTreeMap::new() };
    for (number, planned) in plan.stages.iter().enumerate() {
        let own = replayed.games_of(number);
        if own.is_empty() {
            out.notes.extend(replayed.pass_over(planned));
        } else {
            out.stages.push(replayed.stage(planned, own));
        }
    }
    Ok(out)
}

/// The games of all stages, and the outcomes of the stages that were replayed.
struct ReplayedStages<'a> {
    plan: &'a EventPlan,
    games: &'a [Assigned],
    named: &'a Named,
    /// The outcomes by the names of the stages.
    outcomes: BTreeMap<String, StageOutcome>,
}

/// A stage whose ties another one breaks.
struct TiedStage<'a> {
    name: &'a str,
    outcome: StageOutcome,
    /// The engines that are level for the spots of a playoff; none in any other format.
    level: LevelForSpots,
}

impl<'a> ReplayedStages<'a> {
    /// The games of a stage by its number, with the engines by their ids.
    fn games_of(&self, stage: usize) -> Vec<StageGame> {
        let own = self.games.iter().zip(&self.named.ids).enumerate();
        let own = own.filter(|(_, (game, _))| game.stage == stage);
        own.map(|(number, (game, &(white, black)))| {
            let record = &game.recorded.game.record;
            StageGame {
                white,
                black,
                result: record.ending.result,
                at: game.recorded.game.round,
                tag: game.recorded.tag,
                part: game.part,
                number,
                moves: moves_sum(record),
                crashed: record.ending.crashed().map(|side| side.fold_wb(white, black)),
                began: game.recorded.began.as_deref().and_then(read::moment),
            }
        })
        .collect()
    }

    /// The stage whose ties a stage breaks, where that one has an outcome.
    fn tied(&self, planned: &'a PlannedStage) -> Option<TiedStage<'a>> {
        let name = planned.tied.as_ref()?;
        let outcome = self.outcomes.get(name)?.clone();
        let level = match &planned.format {
            Format::Playoff(format) => outcome.level_for(format.spots.get() as usize),
            _ => LevelForSpots::default(),
        };
        Some(TiedStage { name, outcome, level })
    }

    /// Gives a stage without games the outcome of the one whose ties it breaks. Returns a note, unless no game was due.
    fn pass_over(&mut self, planned: &'a PlannedStage) -> Option<String> {
        let note = format!("there are no games of {}", planned.name);
        let Some(TiedStage { outcome, level, .. }) = self.tied(planned) else { return Some(note) };
        // Points tell who goes on, or whatever broke the tie there.
        self.outcomes.insert(planned.name.clone(), outcome);
        if level.tied.is_empty() {
            return None;
        }
        let tied: Vec<&str> = level.tied.iter().map(|id| self.named.names[id.0].as_str()).collect();
        Some(format!("{note}, for which {} are level", tied.join(", ")))
    }

    /// Compares the games of a stage with its format, and keeps the outcome for the stages after it.
    fn stage(&mut self, planned: &'a PlannedStage, own: Vec<StageGame>) -> StageReplay {
        let tied = self.tied(planned);
        let tags = if planned.format.ranks() { TagUse::Numbers } else { TagUse::Places };
        let (stage, notes) = StageGames::new(own, &self.named.names, tags);
        let stage = stage.with_crash_limit(planned.crash_limit);
        let mut told = StageReplay {
            stage: planned.name.clone(),
            engines: stage.roster().len(),
            games: stage.games.len(),
            notes,
            ..StageReplay::default()
        };
        self.named.tell_misspelt(&stage, &mut told);
        let ranked = promotions(planned, &stage, &self.outcomes, &mut told);
        if let Some(tied) = &tied {
            promotions::playoff(&tied.level, tied.name, &stage, &mut told);
        }
        let given = seats(self.plan, planned, &stage, self.games, ranked, &mut told);
        // An engine that was promoted and does not play has no seat: the games tell those of the others.
        let given =
            given.filter(|ids| BTreeSet::from_iter(ids) == BTreeSet::from_iter(&stage.roster()));
        let taken = tied.as_ref().map_or(0, |tied| tied.level.through.len());
        let with = |given: Option<Vec<Id>>| compared(planned, &stage, taken, given, told.clone());
        let compared = match (given, own_seeds(self.plan, planned, &stage)) {
            // The games tell the seats, unless the file's own seeds explain them as well.
            (None, Some(seeds)) => with(Some(seeds)).unless_nearer(with(None)),
            (given, _) => with(given),
        };
        let Compared { mut told, byes, places } = compared;
        variants(planned, &stage, self.games, &mut told);
        let is_incomplete = note_unfinished(&stage, &mut told) || told.lacks_games();
        let groups = match places {
            Some(places) => {
                bracket_table(&places, &stage, &mut told);
                places
            }
            None => table(planned, &stage, self.games, &byes, &mut told),
        };
        // Of a match or a playoff that its games do not decide nobody is known to have come.
        if !groups.is_empty() {
            let outcome = match tied {
                Some(tied) => tied.outcome.after_playoff(&tied.level.through, groups),
                None => StageOutcome { level: by_points(&stage, &told), groups, is_incomplete },
            };
            self.outcomes.insert(planned.name.clone(), outcome);
        }
        told
    }
}

/// Notes the games without a result. Returns true if there are some.
fn note_unfinished(stage: &StageGames<'_>, out: &mut StageReplay) -> bool {
    let unfinished = stage.games.iter().filter(|game| game.result == GameResult::Unfinished);
    let unfinished: Vec<StageGame> = unfinished.copied().collect();
    if unfinished.is_empty() {
        return false;
    }
    let games = counted(unfinished.len(), "game");
    let verb = if unfinished.len() == 1 { "has" } else { "have" };
    let list = stage.list(&unfinished);
    out.notes.push(format!("{games} {verb} no result; without one nothing counts: {list}"));
    true
}

/// A stage that was compared with its format.
struct Compared {
    told: StageReplay,
    /// The byes of a Swiss.
    byes: Vec<PlayedBye>,
    /// The places that the format itself gives.
    places: Option<Vec<Vec<Id>>>,
}

impl Compared {
    /// Returns this comparison, or another one of the same stage where that has fewer differences.
    fn unless_nearer(self, other: Compared) -> Compared {
        let differences = |one: &Compared| one.told.differences.len();
        if differences(&other) < differences(&self) { other } else { self }
    }
}

/// Compares a stage with its format, in which so many spots are taken without a game.
fn compared(
    planned: &PlannedStage,
    stage: &StageGames<'_>,
    taken: usize,
    given: Option<Vec<Id>>,
    mut told: StageReplay,
) -> Compared {
    let out = &mut told;
    let (mut byes, mut places) = (Vec::new(), None);
    match &planned.format {
        Format::RoundRobin(format) => league::round_robin(format, stage, given, out),
        Format::Match(format) => places = Some(league::match_(format, stage, given, out)),
        Format::Playoff(format) => {
            places = Some(league::playoff(format, taken, stage, given, out));
        }
        Format::Knockout(format) => {
            places = Some(bracket::knockout(format, stage, given, planned.tags.len(), out));
        }
        Format::Swiss(format) => byes = rounds::swiss(System::Monrad(*format), stage, given, out),
        Format::Dutch(format) => byes = rounds::swiss(System::Dutch(*format), stage, given, out),
    }
    Compared { told, byes, places }
}

/// The seats by the seeds of the event file, for a stage in which its engines begin and whose first round gives them else.
fn own_seeds(plan: &EventPlan, planned: &PlannedStage, stage: &StageGames<'_>) -> Option<Vec<Id>> {
    let is_of_rounds =
        matches!(&planned.format, Format::Knockout(_) | Format::Swiss(_) | Format::Dutch(_));
    let begins = planned.seating == Seating::AsPlayed && planned.from.is_empty();
    if is_of_rounds && begins { by_seeds(plan, stage) } else { None }
}

/// The engines of a stage by the seeds of the event file; none where it lacks one of them.
fn by_seeds(plan: &EventPlan, stage: &StageGames<'_>) -> Option<Vec<Id>> {
    // By the first words, as many of them as two that begin alike need.
    let seed = |id: &Id| {
        let own = words(stage.name(*id));
        let common = |name: &String| {
            words(name).iter().zip(&own).take_while(|(one, other)| one == other).count()
        };
        let most = plan.engines.iter().map(common).max().filter(|most| *most > 0)?;
        plan.engines.iter().position(|name| common(name) == most)
    };
    let roster = stage.roster();
    let seeds: Option<Vec<(usize, Id)>> =
        roster.into_iter().map(|id| Some((seed(&id)?, id))).collect();
    let mut seeds = seeds?;
    seeds.sort_unstable();
    Some(seeds.into_iter().map(|(_, id)| id).collect())
}

/// The words of a name or tag, in small letters.
fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    parts.map(str::to_lowercase).collect()
}

/// The engines of all games.
struct Named {
    /// White and Black of each game.
    ids: Vec<(Id, Id)>,
    /// The name of each engine, that of its last game.
    names: Vec<String>,
    /// The names of White and Black of games in which one is misspelt.
    misspelt: BTreeMap<usize, (String, String)>,
}

impl Named {
    /// Tells the games of a stage in which a name is misspelt.
    fn tell_misspelt(&self, stage: &StageGames<'_>, out: &mut StageReplay) {
        for game in &stage.games {
            if let Some((white, black)) = self.misspelt.get(&game.number) {
                let played = format!("{white} – {black}");
                out.differ(ComparisonKind::Pairs, game.place(), stage.told(game), played);
            }
        }
    }
}

/// Gives each engine one name and each game its two engines.
fn named(games: &mut [Assigned]) -> Named {
    let all: Vec<engine_names::MetNames<'_>> = games
        .iter()
        .map(|game| engine_names::MetNames {
            stage: game.stage,
            round: game.recorded.game.round.map_or(0, |at| at.round),
            white: &game.recorded.game.white.name,
            black: &game.recorded.game.black.name,
        })
        .collect();
    let mut keys = engine_names::engines(&all);
    let wrong = engine_names::misspelt(&all, &mut keys);
    let is_wrong = |game: &engine_names::MetNames<'_>| {
        [game.white, game.black].iter().any(|name| wrong.contains_key(name))
    };
    let told = |game: &engine_names::MetNames<'_>| (game.white.to_owned(), game.black.to_owned());
    let misspelt = (0..).zip(&all).filter(|(_, game)| is_wrong(game));
    let misspelt = misspelt.map(|(number, game)| (number, told(game))).collect();
    let meant: BTreeMap<String, String> =
        wrong.iter().map(|(name, meant)| ((*name).to_owned(), (*meant).to_owned())).collect();
    let keys: BTreeMap<String, String> =
        keys.into_iter().map(|(name, key)| (name.to_owned(), key)).collect();
    let engines: Vec<&String> = BTreeSet::from_iter(keys.values()).into_iter().collect();
    let mut names: Vec<String> = vec![String::new(); engines.len()];
    let mut ids = Vec::new();
    for game in games.iter() {
        let id = |name: &String| {
            let key = keys.get(name);
            Id(key.and_then(|key| engines.binary_search(&key).ok()).unwrap_or(0))
        };
        let record = &game.recorded.game;
        let pair = (id(&record.white.name), id(&record.black.name));
        for (id, name) in [(pair.0, &record.white.name), (pair.1, &record.black.name)] {
            names[id.0].clone_from(meant.get(name).unwrap_or(name));
        }
        ids.push(pair);
    }
    for (game, pair) in games.iter_mut().zip(&ids) {
        game.recorded.game.white.name.clone_from(&names[pair.0.0]);
        game.recorded.game.black.name.clone_from(&names[pair.1.0]);
    }
    Named { ids, names, misspelt }
}

/// The seats that the event file gives; nothing where the games tell them.
fn seats(
    plan: &EventPlan,
    planned: &PlannedStage,
    stage: &StageGames<'_>,
    games: &[Assigned],
    ranked: Option<Vec<Id>>,
    out: &mut StageReplay,
) -> Option<Vec<Id>> {
    let mut roster = stage.roster();
    match planned.seating {
        Seating::AsPlayed => None,
        Seating::Alphabetical => {
            roster.sort_by_key(|id| stage.name(*id).to_lowercase());
            Some(roster)
        }
        Seating::Rating => {
            let rating = |id: &Id| {
                let of = |game: &StageGame| {
                    let record = &games.get(game.number)?.recorded.game;
                    if game.white == *id { record.white.rating } else { record.black.rating }
                };
                let mut own =
                    stage.games.iter().filter(|game| [game.white, game.black].contains(id));
                own.find_map(of).unwrap_or(i32::MIN)
            };
            roster
                .sort_by_key(|id| (std::cmp::Reverse(rating(id)), stage.name(*id).to_lowercase()));
            Some(roster)
        }
        Seating::Seeds => {
            let seeds = by_seeds(plan, stage);
            if seeds.is_none() {
                out.notes.push(
                    "not every engine has a seed in the event file; the games tell".to_owned(),
                );
            }
            seeds
        }
        Seating::Ranking => ranked,
        Seating::ReversedRanking => ranked.map(|ranked| ranked.into_iter().rev().collect()),
    }
}

/// Compares the start positions; that all games had another kind of them is one difference.
fn variants(
    planned: &PlannedStage,
    stage: &StageGames<'_>,
    games: &[Assigned],
    out: &mut StageReplay,
) {
    let mut others: Vec<(String, Variant)> = Vec::new();
    for game in &stage.games {
        let Some(start) = games.get(game.number).map(|game| game.recorded.variant) else {
            continue;
        };
        // A lot for each side may give both the same position.
        let is_same_by_lot =
            planned.variant == Variant::DoubleChess960 && start == Variant::Chess960;
        let agrees = start == planned.variant || is_same_by_lot;
        if planned.variant != Variant::Standard || !agrees {
            out.count(ComparisonKind::Variants, agrees);
        }
        if !agrees {
            others.push((game.place(), start));
        }
    }
    let is_one = others.iter().all(|(_, start)| Some(*start) == others.first().map(|one| one.1));
    if is_one && others.len() > 1 && others.len() == stage.games.len() {
        others.truncate(1);
        for (at, _) in &mut others {
            *at = format!("all {}", counted(stage.games.len(), "game"));
        }
    }
    for (at, start) in others {
        let expected = format!("{:?}", planned.variant);
        out.differ(ComparisonKind::Variants, at, expected, format!("{start:?}"));
    }
}

/// The engines of a table by their points.
fn by_points(stage: &StageGames<'_>, told: &StageReplay) -> Vec<Vec<Id>> {
    let ranked = told.table.iter().filter(|row| row.place.is_some() && row.points.is_some());
    let rows: Vec<&ReportRow> = ranked.collect();
    let find = |row: &&ReportRow| stage.engine(&row.engine);
    let level = rows.chunk_by(|a, b| a.points == b.points);
    level.map(|rows| rows.iter().filter_map(find).collect()).collect()
}

fn bracket_table(places: &[Vec<Id>], stage: &StageGames<'_>, out: &mut StageReplay) {
    let mut place = 1;
    for group in places {
        out.table.extend(group.iter().map(|id| ReportRow {
            place: Some(place),
            engine: stage.name(*id).to_owned(),
            points: None,
            sonneborn_berger: None,
        }));
        place += group.len();
    }
}

/// The table of a stage, and its engines by place. Byes count as won games before any tie is broken, as they do in an event that is played.
fn table(
    planned: &PlannedStage,
    stage: &StageGames<'_>,
    games: &[Assigned],
    byes: &[PlayedBye],
    out: &mut StageReplay,
) -> Vec<Vec<Id>> {
    let mut builder = FieldBuilder::default();
    for game in stage.games.iter().filter_map(|game| games.get(game.number)) {
        builder.add(&game.recorded.game, 0);
    }
    for bye in byes {
        let engine = ListedPlayer { name: stage.name(bye.engine).to_owned(), rating: None };
        builder.add_bye(&engine, bye.round, bye.wins);
    }
    let mut field = builder.finish();
    if let Some(limit) = planned.crash_limit {
        field.disqualify_after(limit.get());
    }
    let standings = Standings::with(&field, planned.chain, TieOfTwo::Broken);
    let rank = |row: &StandingsRow| row.place.rank();
    let places = standings.rows.chunk_by(|a, b| rank(a).is_some() && rank(a) == rank(b));
    let groups = places.map(|tied| {
        out.table.extend(tied.iter().map(|row| ReportRow {
            place: rank(row).map(|rank| rank as usize),
            engine: row.engine.name.clone(),
            points: Some(row.points.as_f64()),
            sonneborn_berger: Some(row.sonneborn_berger.as_f64()),
        }));
        tied.iter().filter_map(|row| stage.engine(&row.engine.name)).collect()
    });
    groups.collect()
}
