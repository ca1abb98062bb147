//! The journal of a match, or of one shard of it: what is kept in it, and which games are still due.

use std::collections::HashSet;
use std::path::Path;

use super::early_end::EarlyEnd;
use super::note;
use crate::cli::MatchArgs;
use crate::event::journal::{JournalError, JournalOf};
use crate::model::game::result::GameResult;
use crate::model::text::shown;
use crate::model::units::Bytes;
use crate::runner::schedule::{MatchSchedule, ScheduledGame};
use crate::shard::record::{MatchRun, ShardGame, ShardHeader, ShardRecord, VERSION};
use crate::shard::{self, LostEnd, Shard, ShardRequest, scheduler};

/// The shard that is asked for, or all of the run.
pub(super) fn shard_of(wish: Option<ShardRequest>) -> Result<Shard, EarlyEnd> {
    match wish {
        None => Ok(Shard::WHOLE),
        Some(ShardRequest::Given(shard)) => Ok(shard),
        Some(ShardRequest::Auto(of)) => {
            scheduler::shard(of, &|name| std::env::var(name).ok()).map_err(EarlyEnd::usage)
        }
    }
}

/// This host's name.
pub(super) fn host_name() -> String {
    nix::unistd::gethostname().unwrap_or_default().to_string_lossy().into_owned()
}

/// Tells what a journal has lost with its last record.
pub(super) fn tell_lost(path: &Path, lost: &LostEnd, unit: &str, done: &str) {
    let path = shown(path);
    match lost {
        LostEnd::Nothing => {}
        LostEnd::Torn => {
            note(&format!("{path} ended with {unit} that was not kept whole; it is {done} again"));
        }
        LostEnd::Damaged(cut) => note(&format!(
            "the last record of {path} was damaged and is cut off, {} of which {} is a copy; what it held is {done} again",
            Bytes(cut.bytes),
            shown(&cut.kept)
        )),
    }
}

/// A game that a journal holds from before.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeptGame {
    pub(super) pairing: ScheduledGame,
    pub(super) result: GameResult,
    /// The engine that was lost in it.
    pub(super) lost: Option<usize>,
}

/// The journal of a match that is played.
pub(super) struct KeptGames {
    journal: JournalOf<ShardRecord>,
    shard: Shard,
    plan: MatchSchedule,
    before: Vec<KeptGame>,
    known: HashSet<usize>,
    mark: String,
}

impl KeptGames {
    pub(super) fn open(
        path: &Path,
        args: &MatchArgs,
        run: MatchRun,
        plan: &MatchSchedule,
    ) -> anyhow::Result<KeptGames> {
        let shard = shard_of(args.shard)?;
        let mark = run.mark();
        let mut header: Option<ShardHeader> = None;
        let mut found = Vec::new();
        let (mut journal, lost) = shard::open::<ShardRecord>(path, &mut |record| match record {
            ShardRecord::Shard(first) if header.is_none() => {
                header = Some(*first);
                Ok(())
            }
            ShardRecord::Shard(_) => Err("it begins a second time".into()),
            ShardRecord::Host { .. } => Ok(()),
            ShardRecord::Game(ShardGame { game, result, lost, .. }) => {
                found.push((game, result, lost));
                Ok(())
            }
        })?;
        tell_lost(path, &lost, "a game", "played");
        match header {
            None => {
                let header = ShardHeader { version: VERSION, shard, run };
                journal.append(&ShardRecord::Shard(Box::new(header)))?;
            }
            Some(header) => {
                let differs = header.run.difference(&run);
                let goes_on = shard::goes_on(path, "match", differs, [header.shard, shard]);
                goes_on.map_err(EarlyEnd::usage)?;
            }
        }
        let mut known = HashSet::new();
        let mut before = Vec::new();
        for (game, result, lost) in found {
            let pairing = plan.pairing(game).filter(|one| shard.has(plan.unit(one)));
            let Some(pairing) = pairing.filter(|_| known.insert(game)) else {
                let what = format!("game {} is none that is due there", game + 1);
                return Err(JournalError::Foreign { path: path.to_owned(), what }.into());
            };
            before.push(KeptGame { pairing, result, lost });
        }
        journal.append(&ShardRecord::Host { name: host_name() })?;
        Ok(KeptGames { journal, shard, plan: plan.clone(), before, known, mark })
    }

    /// True if a game is of this shard and was not played before.
    pub(super) fn is_due(&self, pairing: &ScheduledGame) -> bool {
        self.shard.has(self.plan.unit(pairing)) && !self.known.contains(&pairing.game)
    }

    /// See [`MatchRun::mark`].
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// True if this is all of the match.
    pub(super) fn is_whole(&self) -> bool {
        self.shard == Shard::WHOLE
    }

    /// The core of its first game: shards may well run beside each other on one machine.
    pub(super) fn first_core(&self, concurrency: usize) -> usize {
        (self.shard.index() - 1).saturating_mul(concurrency)
    }

    /// The games that were played before.
    pub(super) fn played(&self) -> impl Iterator<Item = KeptGame> {
        self.before.iter().copied()
    }

    pub(super) fn keep(&mut self, game: ShardGame) -> Result<(), JournalError> {
        self.journal.append(&ShardRecord::Game(game))
    }
}
