//! The games of the files that a command was given.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use super::early_end::EarlyEnd;
use super::warn;
use crate::event::config::CountedStage;
use crate::event::journal::record::{Bye, StageStarted, TieDecision, Withdrawn};
use crate::event::journal::{self, JournalRecord};
use crate::event::pgn_source::PgnSource;
use crate::event::{config, journal_games};
use crate::model::exit::Exit;
use crate::model::game::listed::{ListedGame, ListedPlayer};
use crate::model::text::shown;
use crate::model::words::counted;

/// The wanted stages of a journal.
pub(super) enum Stages {
    /// All: a rating list.
    All,
    /// The last one that has begun: standings mix no stages.
    Last,
    /// The one of this name.
    Named(String),
}

/// An item of the files as they are read: one game at a time, so that no file is ever held whole.
pub(super) enum FileItem<'a> {
    Game(&'a ListedGame),
    /// A stage of a journal that is wanted alone, with what its event has of it: the games of this file so far are not.
    Stage(Option<CountedStage>, &'a StageStarted),
    /// A bye in a stage of a journal.
    Bye(&'a ListedPlayer, &'a Bye),
    /// An engine that was withdrawn from a stage of a journal.
    Withdrawn(&'a ListedPlayer, &'a Withdrawn),
    /// A tie in a stage of a journal that the organisers decided.
    Decision(TieDecision),
    /// The file with this number has ended.
    End,
}

/// The records that tell more than a game does itself.
const WANTED: &[&str] = &["settings", "stage-started", "bye", "withdrawn", "decision"];

/// The finished games of a journal, in one pass: what a game needs besides its record is told before it.
fn of_journal(
    file: &Path,
    stages: &Stages,
    take: &mut dyn FnMut(FileItem<'_>),
) -> Result<(), EarlyEnd> {
    let mut event = String::new();
    let mut counted = BTreeMap::new();
    let mut begun: Vec<StageStarted> = Vec::new();
    journal_games::read(file, WANTED, &mut |record| {
        match record {
            JournalRecord::Header(header) => {
                counted = config::counted_stages(&header.settings);
                event = header.event;
            }
            JournalRecord::Settings(changed) => {
                counted = config::counted_stages(&changed.settings);
            }
            JournalRecord::StageStarted(started) => {
                let alone = match stages {
                    Stages::All => false,
                    Stages::Last => true,
                    Stages::Named(name) => *name == started.name,
                };
                if alone {
                    take(FileItem::Stage(counted.get(&started.name).cloned(), &started));
                }
                begun.push(started);
            }
            JournalRecord::Bye(bye) => {
                if let Some(stage) = begun.get(bye.stage).filter(|stage| is_wanted(stages, stage)) {
                    take(FileItem::Bye(&stage.player(&bye.engine), &bye));
                }
            }
            JournalRecord::Withdrawn(withdrawn) => {
                let stage = begun.get(withdrawn.stage);
                if let Some(stage) = stage.filter(|stage| is_wanted(stages, stage)) {
                    take(FileItem::Withdrawn(&stage.player(&withdrawn.engine), &withdrawn));
                    if let Some(bye) = withdrawn.walkover() {
                        take(FileItem::Bye(&stage.player(&bye.engine), &bye));
                    }
                }
            }
            JournalRecord::Decision(decision)
                if begun.get(decision.stage).is_some_and(|stage| is_wanted(stages, stage)) =>
            {
                take(FileItem::Decision(decision));
            }
            JournalRecord::GameFinished(game) => {
                let stage = begun
                    .get(game.stage)
                    .ok_or_else(|| format!("the game {} belongs to no stage", game.id))?;
                if is_wanted(stages, stage) {
                    let listed = journal_games::listed(&event, stage, &game)
                        .ok_or_else(|| format!("the moves of {} are not legal", game.id))?;
                    take(FileItem::Game(&listed));
                }
            }
            _ => {}
        }
        Ok(())
    })
    .map_err(EarlyEnd::usage)?;
    if let Stages::Named(name) = stages
        && !begun.iter().any(|stage| stage.name == *name)
    {
        let there: Vec<&str> = begun.iter().map(|stage| stage.name.as_str()).collect();
        let there = there.join(", ");
        let words = format!("{} has no stage {name:?}; there are: {there}", shown(file));
        return Err(EarlyEnd::usage(words));
    }
    Ok(())
}

fn is_wanted(stages: &Stages, stage: &StageStarted) -> bool {
    !matches!(stages, Stages::Named(name) if *name != stage.name)
}

/// Hands on every game with the number of its file. A file that cannot be read is reported, and ends it all: a table
/// that leaves out games is worse than none.
pub(super) fn each(
    files: &[PathBuf],
    stages: &Stages,
    mut take: impl FnMut(FileItem<'_>, usize),
) -> Result<(), EarlyEnd> {
    let mut any = false;
    let mut copies = Copies::default();
    for (number, file) in files.iter().enumerate() {
        let mut games: u64 = 0;
        if journal::is_journal(file) {
            of_journal(file, stages, &mut |told| {
                match told {
                    FileItem::Game(game) => {
                        copies.look(game);
                        games += 1;
                    }
                    FileItem::Stage(..) => games = 0,
                    FileItem::Bye(..)
                    | FileItem::Withdrawn(..)
                    | FileItem::Decision(_)
                    | FileItem::End => {}
                }
                take(told, number);
            })?;
        } else {
            let mut source = PgnSource::open(file).map_err(EarlyEnd::of_file)?;
            while let Some(game) = source.next() {
                let game = game.map_err(EarlyEnd::of_file)?;
                copies.look(&game);
                take(FileItem::Game(&game), number);
                games += 1;
                for warning in source.warnings() {
                    warn(&warning.to_string());
                }
            }
        }
        take(FileItem::End, number);
        any |= games > 0;
    }
    if let Some(words) = copies.in_words() {
        warn(&words);
    }
    if any {
        return Ok(());
    }
    let names: Vec<String> = files.iter().map(|file| shown(file)).collect();
    Err(EarlyEnd::new(Exit::Nothing, format!("there are no games in {}", names.join(", "))))
}

/// Games that were read before: of one event and round, between the same two, and with the same moves. Without a round, two of engines that
/// always answer alike cannot be told from one that is there twice.
#[derive(Default)]
struct Copies {
    seen: HashSet<u64>,
    number: usize,
    /// The first of them.
    first: Option<String>,
}

impl Copies {
    fn look(&mut self, game: &ListedGame) {
        let Some(round) = game.round else { return };
        let [white, black] = [&game.white.name, &game.black.name];
        let mut hasher = DefaultHasher::new();
        (&game.event, round, white, black, game.record.ending.result).hash(&mut hasher);
        game.record.plies.iter().for_each(|ply| ply.played.hash(&mut hasher));
        if !self.seen.insert(hasher.finish()) {
            self.number += 1;
            self.first.get_or_insert_with(|| format!("{round}, {white} - {black}"));
        }
    }

    fn in_words(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        let games = counted(self.number, "game");
        Some(format!(
            "{games} with the players, the round and the moves of one before, each counted as well; the first is {first}"
        ))
    }
}
