//! What all shards of a run kept, put together: games in the order of the plan, none twice, none missing unless that is allowed.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::Shard;
use super::record::{Game, Header, Record, Run};
use crate::event::journal::{self, JournalError, Place};
use crate::model::text::shown;
use crate::runner::schedule::Schedule;

/// Why shards cannot be put together.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A journal that cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A journal without a record.
    #[error("{} is empty: its shard has not begun", shown(.0))]
    Empty(PathBuf),
    /// A journal of something else.
    #[error("{} is of another run than {}: {what}", shown(path), shown(first))]
    OtherRun {
        /// The one that was read first.
        first: PathBuf,
        /// The one that differs.
        path: PathBuf,
        /// In this.
        what: String,
    },
    /// The same shard in two files.
    #[error(
        "shard {shard} is given twice: {} and {}; leave one of them out",
        shown(first),
        shown(path)
    )]
    Twice {
        /// The shard.
        shard: Shard,
        /// The one that was read first.
        first: PathBuf,
        /// The other one.
        path: PathBuf,
    },
    /// A file that changed while it was read.
    #[error("{} changed while it was read; do it again", shown(.0))]
    Changed(PathBuf),
}

/// Where a game is kept.
#[derive(Clone, Copy, Debug)]
struct Found {
    file: usize,
    offset: u64,
    bytes: u64,
}

/// All shards that there are of a run.
#[derive(Debug)]
pub struct Whole {
    /// The run.
    pub run: Run,
    /// Journals that end before their first record: their shards have not begun.
    pub empty: Vec<PathBuf>,
    plan: Schedule,
    of: usize,
    files: Vec<(PathBuf, File, Shard)>,
    found: Vec<Option<Found>>,
}

impl Whole {
    /// Reads journals and checks them against each other; of games only the places are kept in memory.
    ///
    /// # Errors
    /// See [`MergeError`].
    pub fn read(paths: &[PathBuf]) -> Result<Option<Whole>, MergeError> {
        let mut whole: Option<Whole> = None;
        let mut empty = Vec::new();
        for path in paths {
            match Whole::add(&mut whole, path) {
                Err(MergeError::Empty(path)) => empty.push(path),
                added => added?,
            }
        }
        match (&mut whole, empty.first()) {
            (None, Some(first)) => return Err(MergeError::Empty(first.clone())),
            (Some(whole), _) => whole.empty = empty,
            (None, None) => {}
        }
        Ok(whole)
    }

    fn add(whole: &mut Option<Whole>, path: &Path) -> Result<(), MergeError> {
        let mut header: Option<Header> = None;
        let mut plan: Option<Schedule> = None;
        let mut games: Vec<(usize, Place)> = Vec::new();
        journal::read_of(path, &mut |place, record| {
            match record {
                Record::Shard(found) if header.is_none() => {
                    plan = Some(found.run.plan());
                    header = Some(*found);
                }
                Record::Shard(_) => return Err("it begins a second time".into()),
                Record::Host { .. } => {}
                Record::Game(Game { game, .. }) => {
                    let unit = plan.as_ref().and_then(|plan| Some(plan.unit(&plan.pairing(game)?)));
                    let own = header.as_ref().zip(unit).is_some_and(|(h, unit)| h.shard.has(unit));
                    if !own {
                        return Err(format!("game {} is none of this shard's", game + 1));
                    }
                    games.push((game, place));
                }
            }
            Ok(())
        })?;
        let Some((header, plan)) = header.zip(plan) else {
            return Err(MergeError::Empty(path.to_owned()));
        };
        let whole = whole.get_or_insert_with(|| Whole {
            run: header.run.clone(),
            empty: Vec::new(),
            of: header.shard.of(),
            files: Vec::new(),
            found: vec![None; plan.total()],
            plan,
        });
        whole.take(path, &header, &games)
    }

    fn take(
        &mut self,
        path: &Path,
        header: &Header,
        games: &[(usize, Place)],
    ) -> Result<(), MergeError> {
        if let Some((first, ..)) = self.files.first() {
            let parts = || format!("it is one of {} shards, not of {}", header.shard.of(), self.of);
            let differs = self.run.difference(&header.run);
            let what = differs.or_else(|| (header.shard.of() != self.of).then(parts));
            if let Some(what) = what {
                return Err(MergeError::OtherRun {
                    first: first.clone(),
                    path: path.to_owned(),
                    what,
                });
            }
        }
        if let Some((first, ..)) = self.files.iter().find(|(.., shard)| *shard == header.shard) {
            let (first, path) = (first.clone(), path.to_owned());
            return Err(MergeError::Twice { shard: header.shard, first, path });
        }
        let file = File::open(path)
            .map_err(|source| JournalError::Read { path: path.to_owned(), source })?;
        for (game, place) in games {
            if let Some(slot) = self.found.get_mut(*game) {
                let found =
                    Found { file: self.files.len(), offset: place.offset, bytes: place.bytes };
                if slot.replace(found).is_some() {
                    return Err(MergeError::Journal(JournalError::Damaged {
                        path: path.to_owned(),
                        line: place.line,
                        offset: place.offset,
                        what: format!("game {} stands there twice", game + 1),
                    }));
                }
            }
        }
        self.files.push((path.to_owned(), file, header.shard));
        Ok(())
    }

    /// The plan of all games.
    #[must_use]
    pub fn plan(&self) -> &Schedule {
        &self.plan
    }

    /// The shards of which there is no journal, and those of which games are missing, with how many.
    #[must_use]
    pub fn gaps(&self) -> Vec<(Shard, Option<usize>)> {
        let mut missing = vec![0; self.of];
        for (number, _) in self.found.iter().enumerate().filter(|(_, found)| found.is_none()) {
            if let Some(pairing) = self.plan.pairing(number)
                && let Some(count) = missing.get_mut(self.plan.unit(&pairing) % self.of)
            {
                *count += 1;
            }
        }
        let shards = (1..=self.of).filter_map(|index| Shard::new(index, self.of));
        shards
            .zip(missing)
            .filter_map(|(shard, games)| {
                let is_there = self.files.iter().any(|(.., its)| *its == shard);
                match (is_there, games) {
                    // A shard without a game of its own need not have been started.
                    (_, 0) => None,
                    (false, _) => Some((shard, None)),
                    (true, games) => Some((shard, Some(games))),
                }
            })
            .collect()
    }

    /// The games that there are, in the order of the plan.
    ///
    /// # Errors
    /// Where a file is no longer what it was.
    pub fn games(&self) -> impl Iterator<Item = Result<Game, MergeError>> {
        let mut line = Vec::new();
        self.found.iter().enumerate().filter_map(move |(number, found)| {
            let found = (*found)?;
            let (path, file, _) = self.files.get(found.file)?;
            line.resize(usize::try_from(found.bytes).unwrap_or_default(), 0);
            let read = file.read_exact_at(&mut line, found.offset).ok();
            match read.and_then(|()| journal::record_in(&line)) {
                Some(Record::Game(game)) if game.game == number => Some(Ok(game)),
                _ => Some(Err(MergeError::Changed(path.clone()))),
            }
        })
    }
}
