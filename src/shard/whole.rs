//! The journals of all shards of a run, put together: games in the order of the plan, none twice, none missing unless
//! that is allowed.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::Shard;
use super::parts::{MergeError, Parts, read_all};
use super::record::{MatchRun, ShardGame, ShardHeader, ShardRecord};
use crate::event::journal::{self, JournalError, RecordPlace};
use crate::runner::schedule::MatchSchedule;

/// The place of a game in the journals.
#[derive(Clone, Copy, Debug)]
struct FoundGame {
    file: usize,
    offset: u64,
    bytes: u64,
}

/// The most journals that are kept open, fewer than a system allows a program; a game of any other opens its journal again.
const OPEN: usize = 200;

/// All shards that there are of a run.
#[derive(Debug)]
pub(crate) struct WholeRun {
    /// The run.
    pub(crate) run: MatchRun,
    /// The shards.
    pub(crate) parts: Parts,
    plan: MatchSchedule,
    files: Vec<(PathBuf, Option<File>)>,
    /// By the games' numbers.
    found: BTreeMap<usize, FoundGame>,
}

impl WholeRun {
    /// Reads journals and checks them against each other; of games only the places are kept in memory.
    ///
    /// # Errors
    /// See [`MergeError`].
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Option<WholeRun>, MergeError> {
        read_all(paths, WholeRun::add, |whole| &mut whole.parts)
    }

    fn add(whole: &mut Option<WholeRun>, path: &Path) -> Result<(), MergeError> {
        let mut header: Option<ShardHeader> = None;
        let mut plan: Option<MatchSchedule> = None;
        let mut games: Vec<(usize, RecordPlace)> = Vec::new();
        journal::read_of(path, &mut |place, record| {
            match record {
                ShardRecord::Shard(found) if header.is_none() => {
                    plan = Some(found.run.plan());
                    header = Some(*found);
                }
                ShardRecord::Shard(_) => return Err("it begins a second time".into()),
                ShardRecord::Host { .. } => {}
                ShardRecord::Game(ShardGame { game, .. }) => {
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
        let whole = whole.get_or_insert_with(|| WholeRun {
            run: header.run.clone(),
            parts: Parts::like(header.shard),
            files: Vec::new(),
            found: BTreeMap::new(),
            plan,
        });
        whole.take(path, &header, &games)
    }

    fn take(
        &mut self,
        path: &Path,
        header: &ShardHeader,
        games: &[(usize, RecordPlace)],
    ) -> Result<(), MergeError> {
        self.parts.add(path, header.shard, self.run.difference(&header.run))?;
        for (game, place) in games {
            let found =
                FoundGame { file: self.files.len(), offset: place.offset, bytes: place.bytes };
            if self.found.insert(*game, found).is_some() {
                return Err(MergeError::Journal(JournalError::Damaged {
                    path: path.to_owned(),
                    line: place.line,
                    offset: place.offset,
                    what: format!("game {} stands there twice", game + 1),
                }));
            }
        }
        let failed = |source| JournalError::Read { path: path.to_owned(), source };
        let is_kept = self.files.len() < OPEN;
        let file = is_kept.then(|| File::open(path)).transpose().map_err(failed)?;
        self.files.push((path.to_owned(), file));
        Ok(())
    }

    /// The plan of all games.
    pub(crate) fn plan(&self) -> &MatchSchedule {
        &self.plan
    }

    /// The shards of which there is no journal, and those of which games are missing, with how many.
    pub(crate) fn gaps(&self) -> Vec<(Shard, Option<usize>)> {
        let missing = (0..self.plan.total()).filter(|game| !self.found.contains_key(game));
        let units = missing.filter_map(|game| Some(self.plan.unit(&self.plan.pairing(game)?)));
        self.parts.gaps(units)
    }

    /// The games that there are, in the order of the plan.
    ///
    /// # Errors
    /// Where a file is no longer what it was.
    pub(crate) fn games(&self) -> impl Iterator<Item = Result<ShardGame, MergeError>> {
        let mut line = Vec::new();
        self.found.iter().filter_map(move |(&number, found)| {
            let (path, file) = self.files.get(found.file)?;
            line.resize(usize::try_from(found.bytes).unwrap_or_default(), 0);
            let read = match file {
                Some(file) => file.read_exact_at(&mut line, found.offset),
                None => File::open(path).and_then(|f| f.read_exact_at(&mut line, found.offset)),
            };
            match read.ok().and_then(|()| journal::record_in(&line)) {
                Some(ShardRecord::Game(game)) if game.game == number => Some(Ok(game)),
                _ => Some(Err(MergeError::Changed(path.clone()))),
            }
        })
    }
}
