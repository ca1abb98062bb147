//! The games of the files that a command was given.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::tell;
use crate::error::{Exit, shown};
use crate::event::journal::record::StageStarted;
use crate::event::journal::{self, JournalError, Record};
use crate::event::journal_games;
use crate::event::pgn_source::{PgnError, PgnSource};
use crate::event::record::GameRecord;

/// Which stages of a journal are wanted.
pub(super) enum Stages {
    /// All: a rating list.
    All,
    /// The last one that has begun: standings mix no stages.
    Last,
    /// The one of this name.
    Named(String),
}

/// The finished games of a journal.
fn of_journal(file: &Path, stages: &Stages, take: &mut dyn FnMut(&GameRecord)) -> Result<(), Exit> {
    // One pass: what a game needs besides its record is told before it.
    let wanted = |record: &str| {
        ["{\"stage-started\"", "{\"game-finished\""].iter().any(|kind| record.starts_with(kind))
    };
    let mut event = String::new();
    let mut begun: Vec<StageStarted> = Vec::new();
    let mut games = Vec::new();
    journal::read_some(file, &mut |record| wanted(record), &mut |_, record| {
        match record {
            Record::Header(header) => event = header.event,
            Record::StageStarted(started) => {
                if matches!(stages, Stages::Last) {
                    games.clear();
                }
                begun.push(started);
            }
            Record::GameFinished(game) => {
                let stage = begun.get(game.stage).map_or("", |stage| stage.name.as_str());
                if !matches!(stages, Stages::Named(name) if name != stage) {
                    games.push(game);
                }
            }
            _ => {}
        }
        Ok(())
    })
    .map_err(|error| journal_told(&error))?;
    if let Stages::Named(name) = stages
        && !begun.iter().any(|stage| stage.name == *name)
    {
        let there: Vec<&str> = begun.iter().map(|stage| stage.name.as_str()).collect();
        let there = there.join(", ");
        tell(&format!("{} has no stage {name:?}; there are: {there}", shown(file)));
        return Err(Exit::Usage);
    }
    for game in &games {
        let Some(stage) = begun.get(game.stage) else {
            tell(&format!("{} of {} belongs to no stage", game.id, shown(file)));
            return Err(Exit::Usage);
        };
        let Some(record) = journal_games::record(&event, stage, game) else {
            tell(&format!("the moves of {} in {} are not legal", game.id, shown(file)));
            return Err(Exit::Usage);
        };
        take(&record);
    }
    Ok(())
}

fn journal_told(error: &JournalError) -> Exit {
    tell(&error.to_string());
    Exit::Usage
}

/// Hands on every game with the number of its file. What cannot be read is told, and ends it all: a table
/// that leaves out games is worse than none.
pub(super) fn each(
    files: &[PathBuf],
    stages: &Stages,
    mut take: impl FnMut(&GameRecord, usize),
) -> Result<(), Exit> {
    let mut any = false;
    for (number, file) in files.iter().enumerate() {
        if journal::is_journal(file) {
            of_journal(file, stages, &mut |game| {
                take(game, number);
                any = true;
            })?;
            continue;
        }
        let games = PgnSource::open(file).map_err(told)?;
        for game in games {
            take(&game.map_err(told)?, number);
            any = true;
        }
    }
    if any {
        return Ok(());
    }
    let names: Vec<String> = files.iter().map(|file| shown(file)).collect();
    tell(&format!("there are no games in {}", names.join(", ")));
    Err(Exit::Nothing)
}

fn told(error: PgnError) -> Exit {
    tell(&error.to_string());
    match error {
        PgnError::Open { source, .. } if source.kind() == ErrorKind::NotFound => Exit::Nothing,
        _ => Exit::Usage,
    }
}
