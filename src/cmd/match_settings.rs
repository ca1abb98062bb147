//! The settings of a match that decide its games, as its journal keeps them: shards of which one differs are of another match.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::check_shard::waiver_lines;
use super::early_end::EarlyEnd;
use super::match_test::asked_test;
use crate::cli::MatchArgs;
use crate::engine::process::EngineProgram;
use crate::judge::Judge;
use crate::judge::error::CheckError;
use crate::model::text::{add_all, hex, shown};
use crate::runner::Engine;
use crate::runner::schedule::MatchSchedule;
use crate::runner::spec::{EngineSource, RequestedEngine};
use crate::shard::record::MatchRun;

/// The parts of a match beside its command line.
pub(super) struct MatchSettings<'a> {
    pub(super) engines: &'a [Arc<Engine>],
    /// The sum of each of them, as [`engine_sums`] has it.
    pub(super) sums: &'a [String],
    /// The SHA-256 of the book.
    pub(super) book: Option<&'a str>,
    /// The judge that let entries start, where there is one among the engines.
    pub(super) judge: Option<&'a Judge>,
}

/// The sums of what the engines are.
pub(super) fn engine_sums(asked: &[RequestedEngine]) -> anyhow::Result<Vec<String>> {
    let sum = |one: &RequestedEngine| match &one.source {
        EngineSource::Program(program) => {
            let words = &program.arguments;
            let sum = sum_of(&program.look().map_err(EarlyEnd::usage)?)?;
            let (environment, folder) = (&program.environment, &program.directory);
            let files = named_files(program, &one.options)?;
            Ok(format!(
                "sha256 {sum}, arguments {words:?}, environment {environment:?}, directory {folder:?}, memory {:?}, \
                 files {files:?}",
                one.memory
            ))
        }
        EngineSource::Entry(path) => {
            Ok(format!("entry, sha256 {}, memory {:?}", sum_of(path)?, one.memory))
        }
    };
    asked.iter().map(sum).collect()
}

/// The files that an engine's words, variables and options name, such as a script or a network, with their sums. One that by
/// its option or by the word before it is a log is left out: the engine itself writes it.
fn named_files(
    program: &EngineProgram,
    options: &[(String, String)],
) -> Result<BTreeMap<String, String>, CheckError> {
    let place = program.directory.as_deref().unwrap_or(Path::new(""));
    let words = &program.arguments;
    let before = std::iter::once("").chain(words.iter().map(String::as_str));
    let words = before.zip(words.iter().map(String::as_str));
    let options = options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let variables = program.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut files = BTreeMap::new();
    for (name, value) in words.chain(options).chain(variables) {
        // Of `--net=file` and `EvalFile=file`, too.
        let (own, behind) =
            value.split_once('=').map_or(("", None), |(own, file)| (own, Some(file)));
        let is_log = [name, own].iter().any(|name| name.to_ascii_lowercase().contains("log"));
        for text in [Some(value), behind].into_iter().flatten().filter(|_| !is_log) {
            let path = place.join(text);
            if path.is_file() {
                files.insert(text.to_owned(), sum_of(&path)?);
            }
        }
    }
    Ok(files)
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
        files = files_in(path).map_err(failed)?.into_iter().filter(|path| path.is_file()).collect();
        files.sort();
    }
    for file in &files {
        if path.is_dir() {
            sum.update(file.file_name().unwrap_or_default().as_encoded_bytes());
            sum.update([0]);
        }
        File::open(file).and_then(|file| add_all(&mut sum, file)).map_err(failed)?;
    }
    Ok(hex(sum.finalize()))
}

fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    std::fs::read_dir(folder)?.map(|one| one.map(|one| one.path())).collect()
}

/// The endgame tables of some directories that are looked at: their names and lengths, for to read all of them takes hours.
fn tables(directories: &[PathBuf], most: Option<usize>) -> Result<String, CheckError> {
    let mut found = BTreeSet::new();
    for folder in directories {
        let failed = |source| CheckError::Read { path: folder.clone(), source };
        for file in files_in(folder).map_err(failed)? {
            let Some((name, "rtbw" | "rtbz")) =
                file.file_name().and_then(|name| name.to_str()?.rsplit_once('.'))
            else {
                continue;
            };
            // `KQPvKR` is of five pieces.
            let pieces = name.bytes().filter(u8::is_ascii_uppercase).count();
            if most.is_none_or(|most| pieces <= most) {
                let length = file.metadata().map_err(failed)?.len();
                found.insert(format!(
                    "{} {length}",
                    shown(Path::new(file.file_name().unwrap_or_default()))
                ));
            }
        }
    }
    let mut sum = Sha256::new();
    for line in &found {
        sum.update(format!("{line}\n"));
    }
    Ok(match found.len() {
        0 => "none".to_owned(),
        count => format!("{count} files, sha256 of names and lengths {}", hex(sum.finalize())),
    })
}

impl MatchSettings<'_> {
    /// The match as its journal tells of it.
    pub(super) fn run(
        &self,
        args: &MatchArgs,
        plan: &MatchSchedule,
    ) -> Result<MatchRun, CheckError> {
        Ok(MatchRun {
            engines: self.engines.iter().map(|engine| engine.name.clone()).collect(),
            schedule: args.schedule,
            seeds: args.seeds,
            rounds: args.rounds.get(),
            games: args.games.get(),
            colours: plan.colours(),
            test: asked_test(args.sprt, args.scale),
            settings: self.settings(args)?,
        })
    }

    /// The settings that decide a match and are not in its plan. Settings of this host alone (games at a time, cores) are
    /// not among them.
    fn settings(&self, args: &MatchArgs) -> Result<BTreeMap<String, String>, CheckError> {
        let waivers = self.judge.map_or_else(Vec::new, waiver_lines);
        let program = std::env::current_exe()
            .map_err(|source| CheckError::Read { path: "/proc/self/exe".into(), source })?;
        let allowlist = args.allowlist.as_deref().map(sum_of).transpose()?;
        let all = [
            ("gate4k", format!("{} {}", env!("CARGO_PKG_VERSION"), sum_of(&program)?)),
            ("openings", self.book.unwrap_or("none").to_owned()),
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
            ("waivers", waivers.join("; ")),
            ("draw-rule", format!("{:?}", args.draw_rule)),
            ("win-rule", format!("{:?}", args.win_rule)),
            ("resign", format!("{:?}", args.resign)),
            ("draw", format!("{:?}", args.draw)),
            ("max-plies", format!("{:?}", args.max_plies)),
            ("syzygy", tables(&args.syzygy, args.syzygy_pieces.map(NonZeroUsize::get))?),
            ("syzygy-pieces", format!("{:?}", args.syzygy_pieces)),
            ("no-material-draws", args.no_material_draws.to_string()),
            ("pgn-style", format!("{:?}", args.pgn_style)),
            ("event", args.event.clone()),
            ("site", args.site.clone()),
        ];
        let mut settings: BTreeMap<String, String> =
            all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        // Journals of before have neither.
        if args.confine.lazy_memory {
            settings.insert("lazy-memory".to_owned(), "true".to_owned());
        }
        if !args.confine.devices.is_empty() {
            let devices: Vec<&str> =
                args.confine.devices.iter().map(|class| class.word()).collect();
            settings.insert("devices".to_owned(), devices.join(", "));
        }
        for (engine, sum) in self.engines.iter().zip(self.sums) {
            let Engine { name, control, margin, subset, init, .. } = &**engine;
            let options = engine.options_line();
            settings.insert(
                format!("engine {name}"),
                format!(
                    "{sum}, tc {control}, margin {margin:?}, {subset:?}, {options}, init {init:?}"
                ),
            );
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::spec;

    fn sum(words: &str) -> String {
        engine_sums(&[spec::from_words(words).unwrap()]).unwrap().remove(0)
    }

    #[test]
    fn a_network_and_a_script_are_part_of_an_engine_and_its_log_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().display();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        for name in ["net", "script", "variable", "own.log", "beside"] {
            write(name, "1");
        }
        let words = format!(
            "name=A cmd=/bin/sh dir={here} args='script --net=net --logfile own.log' options.EvalFile={here}/net \
             env.BOOK=variable options.\"Debug Log File\"=own.log"
        );
        let words = words.replace("options.\"Debug Log File\"", "\"options.Debug Log File\"");
        let words = words
            .replace("\"options.Debug Log File\"=own.log", "\"options.Debug Log File=own.log\"");
        let before = sum(&words);
        for (name, is_part) in [
            ("net", true),
            ("script", true),
            ("variable", true),
            ("own.log", false),
            ("beside", false),
        ] {
            write(name, "2");
            assert_eq!(sum(&words) != before, is_part, "{name}");
            write(name, "1");
            assert_eq!(sum(&words), before);
        }
    }

    #[test]
    fn tables_are_told_by_their_names_and_lengths() {
        let both = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let write = |at: usize, name: &str, text: &str| {
            std::fs::write(both[at].path().join(name), text).unwrap();
        };
        let told = |most: Option<usize>| {
            tables(&both.each_ref().map(|dir| dir.path().to_owned()), most).unwrap()
        };
        assert_eq!(told(None), "none");
        write(0, "KQvK.rtbw", "1");
        write(0, "readme", "x");
        let small = told(Some(3));
        assert!(small.starts_with("1 files"), "{small}");
        // The same one in another directory, and a larger one that is not looked at.
        write(1, "KQvK.rtbw", "1");
        write(1, "KQPvKR.rtbw", "12");
        assert_eq!(told(Some(3)), small);
        let large = told(None);
        assert_ne!(large, small);
        write(1, "KQPvKR.rtbw", "123");
        assert_ne!(told(None), large);
    }
}
