//! The journal of a match, or of one shard of it: what is kept in it, and which games are still due.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::note;
use crate::cli::{MatchArgs, SprtScale};
use crate::event::journal::{JournalError, JournalOf};
use crate::judge::error::CheckError;
use crate::model::exit::Exit;
use crate::model::game::result::GameResult;
use crate::model::text::{hex, shown};
use crate::model::units::Bytes;
use crate::runner::Engine;
use crate::runner::schedule::{MatchSchedule, ScheduledGame};
use crate::runner::spec::{Asked, EngineSource};
use crate::shard::record::{MatchRun, ShardGame, ShardHeader, ShardRecord, Test, VERSION};
use crate::shard::{self, LostEnd, Shard, Wish, scheduler};

/// The test that the command line asks for.
pub(super) fn asked_test(args: &MatchArgs) -> Option<Test> {
    let normalized = args.scale == SprtScale::Normalized;
    args.sprt.map(|asked| Test { elo0: asked.elo0, elo1: asked.elo1, normalized })
}

/// A match that cannot begin.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotReady {
    /// The engines, the settings or this host.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl NotReady {
    pub(super) fn exit(&self) -> Exit {
        match self {
            NotReady::Check(error) => error.exit(),
            NotReady::Journal(error) => exit(error),
        }
    }
}

/// Undecided where another try may go well: the disk has room again, the other runner has ended.
pub(super) fn exit(error: &JournalError) -> Exit {
    match error {
        JournalError::Write { .. } | JournalError::Locked { .. } => Exit::Undecided,
        _ => Exit::Usage,
    }
}

pub(super) fn configuration(words: impl ToString) -> CheckError {
    CheckError::Configuration(words.to_string().into())
}

/// The shard that is asked for, or all of the run.
pub(super) fn shard_of(wish: Option<Wish>) -> Result<Shard, CheckError> {
    match wish {
        None => Ok(Shard::WHOLE),
        Some(Wish::Given(shard)) => Ok(shard),
        Some(Wish::Auto(of)) => {
            scheduler::shard(of, &|name| std::env::var(name).ok()).map_err(configuration)
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

/// The sums of what the engines are.
pub(super) fn engines(asked: &[Asked]) -> Result<Vec<String>, CheckError> {
    let sum = |one: &Asked| match &one.source {
        EngineSource::Program(program) => {
            let words = &program.arguments;
            let sum = sum_of(&program.look().map_err(configuration)?)?;
            let (environment, folder) = (&program.environment, &program.directory);
            Ok(format!(
                "sha256 {sum}, arguments {words:?}, environment {environment:?}, directory {folder:?}, memory {:?}",
                one.memory
            ))
        }
        EngineSource::Entry(path) => {
            Ok(format!("entry, sha256 {}, memory {:?}", sum_of(path)?, one.memory))
        }
    };
    asked.iter().map(sum).collect()
}

/// The sum of a file, or of the files of an entry's folder with their names.
fn sum_of(path: &Path) -> Result<String, CheckError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => {
            CheckError::Nothing { path: path.to_owned(), what: "no such file".into() }
        }
        _ => CheckError::Read { path: path.to_owned(), source },
    };
    let mut sum = Sha256::new();
    let mut files = vec![path.to_owned()];
    if path.is_dir() {
        let all: io::Result<Vec<PathBuf>> = std::fs::read_dir(path)
            .and_then(|all| all.map(|one| one.map(|one| one.path())).collect());
        files = all.map_err(failed)?.into_iter().filter(|path| path.is_file()).collect();
        files.sort();
    }
    for file in &files {
        if path.is_dir() {
            sum.update(file.file_name().unwrap_or_default().as_encoded_bytes());
            sum.update([0]);
        }
        sum.update(std::fs::read(file).map_err(failed)?);
    }
    Ok(hex(sum.finalize()))
}

/// The settings that decide a match and are not in its plan. Settings of this host alone (games at a time, cores) are
/// not among them.
fn settings(
    args: &MatchArgs,
    engines: &[Arc<Engine>],
    sums: &[String],
    book: Option<&str>,
) -> Result<BTreeMap<String, String>, CheckError> {
    let program = std::env::current_exe()
        .map_err(|source| CheckError::Read { path: "/proc/self/exe".into(), source })?;
    let allowlist = args.allowlist.as_deref().map(sum_of).transpose()?;
    let all = [
        ("gate4k", format!("{} {}", env!("CARGO_PKG_VERSION"), sum_of(&program)?)),
        ("openings", book.unwrap_or("none").to_owned()),
        ("variant", format!("{:?}", args.variant)),
        ("shuffle", format!("{:?}", args.shuffle)),
        ("start", args.start.to_string()),
        ("plies", format!("{:?}", args.plies)),
        ("restart", args.restart.to_string()),
        ("margin", format!("{:?}", args.margin)),
        ("answer-limit", format!("{:?}", args.answer_limit)),
        ("startup-limit", format!("{:?}", args.startup_limit)),
        ("quit-limit", format!("{:?}", args.quit_limit)),
        ("memory", format!("{:?}", args.memory)),
        ("allowlist", allowlist.unwrap_or_else(|| "built in".to_owned())),
        ("strict", args.strict.to_string()),
        ("draw-rule", format!("{:?}", args.draw_rule)),
        ("win-rule", format!("{:?}", args.win_rule)),
        ("resign", format!("{:?}", args.resign)),
        ("draw", format!("{:?}", args.draw)),
        ("max-plies", format!("{:?}", args.max_plies)),
        ("syzygy", (!args.syzygy.is_empty()).to_string()),
        ("syzygy-pieces", format!("{:?}", args.syzygy_pieces)),
        ("no-material-draws", args.no_material_draws.to_string()),
        ("pgn-style", format!("{:?}", args.pgn_style)),
        ("event", args.event.clone()),
        ("site", args.site.clone()),
    ];
    let mut settings: BTreeMap<String, String> =
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    for (engine, sum) in engines.iter().zip(sums) {
        let Engine { name, control, subset, init, .. } = &**engine;
        let options = engine.options_line();
        settings.insert(
            format!("engine {name}"),
            format!("{sum}, tc {control}, {subset:?}, {options}, init {init:?}"),
        );
    }
    Ok(settings)
}

/// The journal of a match that is played.
pub(super) struct KeptGames {
    journal: JournalOf<ShardRecord>,
    shard: Shard,
    plan: MatchSchedule,
    before: Vec<(usize, GameResult)>,
    known: HashSet<usize>,
}

impl KeptGames {
    pub(super) fn open(
        path: &Path,
        args: &MatchArgs,
        engines: &[Arc<Engine>],
        sums: &[String],
        book: Option<&str>,
        plan: &MatchSchedule,
    ) -> Result<KeptGames, NotReady> {
        let shard = shard_of(args.shard)?;
        let run = MatchRun {
            engines: engines.iter().map(|engine| engine.name.clone()).collect(),
            schedule: args.schedule,
            seeds: args.seeds,
            rounds: args.rounds.get(),
            games: args.games.get(),
            colours: plan.colours(),
            test: asked_test(args),
            settings: settings(args, engines, sums, book)?,
        };
        let mut header: Option<ShardHeader> = None;
        let mut before = Vec::new();
        let (mut journal, lost) = shard::open::<ShardRecord>(path, &mut |record| match record {
            ShardRecord::Shard(found) if header.is_none() => {
                header = Some(*found);
                Ok(())
            }
            ShardRecord::Shard(_) => Err("it begins a second time".into()),
            ShardRecord::Host { .. } => Ok(()),
            ShardRecord::Game(ShardGame { game, result, .. }) => {
                before.push((game, result));
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
                let refusal = shard::refusal(path, "match", differs, [header.shard, shard]);
                if let Some(words) = refusal {
                    return Err(configuration(words).into());
                }
            }
        }
        let mut known = HashSet::new();
        for (game, _) in &before {
            let own = plan.pairing(*game).is_some_and(|one| shard.has(plan.unit(&one)));
            if !own || !known.insert(*game) {
                let what = format!("game {} is none that is due there", game + 1);
                return Err(JournalError::Foreign { path: path.to_owned(), what }.into());
            }
        }
        journal.append(&ShardRecord::Host { name: host_name() })?;
        Ok(KeptGames { journal, shard, plan: plan.clone(), before, known })
    }

    /// True if a game is of this shard and was not played before.
    pub(super) fn is_due(&self, pairing: &ScheduledGame) -> bool {
        self.shard.has(self.plan.unit(pairing)) && !self.known.contains(&pairing.game)
    }

    /// True if this is all of the match.
    pub(super) fn is_whole(&self) -> bool {
        self.shard == Shard::WHOLE
    }

    /// Where its games begin among the cores: shards may well run beside each other on one machine.
    pub(super) fn first_core(&self, concurrency: usize) -> usize {
        (self.shard.index() - 1).saturating_mul(concurrency)
    }

    /// The games that were played before.
    pub(super) fn played(&self) -> impl Iterator<Item = (ScheduledGame, GameResult)> {
        let all = self.before.iter();
        all.filter_map(|(game, result)| Some((self.plan.pairing(*game)?, *result)))
    }

    pub(super) fn keep(&mut self, game: ShardGame) -> Result<(), JournalError> {
        self.journal.append(&ShardRecord::Game(game))
    }
}
