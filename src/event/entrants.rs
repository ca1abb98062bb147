//! Entries on their way into the event: judged, frozen, ready to be started (rules 4.4 and 7). Programs that the organisers
//! trust are frozen alike, and neither judged nor confined.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::config::{EventConfig, EventEntry, GateKind, Trusted};
use super::journal::record::{Frozen, GateReceipt};
use crate::engine::frozen_file::FrozenFile;
use crate::engine::process::{EngineProgram, EngineStart};
use crate::judge::Judge;
use crate::judge::error::CheckError;
use crate::judge::settings::Settings;
use crate::judge::start::PlayableEntry;
use crate::model::entry_report::EntryReport;
use crate::model::text::{sha256, shown};
use crate::model::verdict::Verdict;
use crate::policy::allowlist::BUILT_IN;
use crate::runner::Engine;
use crate::runner::spec::UciSubset;

/// An entry as it is on the disk now.
pub(crate) struct Entrant {
    /// Its name in the event.
    pub(crate) name: String,
    /// The sums of its files.
    pub(crate) frozen: Frozen,
    path: PathBuf,
    kind: EntrantKind,
}

enum EntrantKind {
    /// An entry, which passes the gate and plays in the sandbox.
    Confined { judge: Arc<Judge>, playable: Box<PlayableEntry> },
    /// A program of the organisers' own choice, with its file and those that it is given.
    Trusted(Trusted, Vec<FrozenFile>),
}

/// An entry on its way through the gate.
pub(crate) struct GateCandidate {
    /// Its name in the event.
    pub(crate) name: String,
    /// Where it lies.
    pub(crate) path: PathBuf,
    /// The judge with its configuration.
    pub(crate) judge: Arc<Judge>,
}

/// Judges by the configuration that they are opened with, so that the host is looked at once.
#[derive(Default)]
pub(crate) struct Judges(Vec<(EnginesJson, Arc<Judge>)>);

/// An entry's own configuration: the file, and the engine in it.
type EnginesJson = (Option<PathBuf>, Option<String>);

impl Judges {
    fn of(&mut self, config: &EventConfig, entry: &EventEntry) -> Result<Arc<Judge>, CheckError> {
        let key = (entry.engines_json.clone(), entry.engine.clone());
        if let Some((_, judge)) = self.0.iter().find(|(known, _)| *known == key) {
            return Ok(Arc::clone(judge));
        }
        let judge = Arc::new(Judge::open(Settings {
            engines_json: key.0.clone(),
            name: key.1.clone(),
            allowlist: config.allowlist.clone(),
            quick: config.gate == GateKind::Quick,
            files: config.files,
            size_limit: config.size_limit,
            memory_limit: config.memory_limit,
            lazy_memory: config.lazy_memory,
            devices: config.devices.clone(),
            waivers: config.waivers.clone(),
            ..Settings::default()
        })?);
        self.0.push((key, Arc::clone(&judge)));
        Ok(judge)
    }
}

/// Stands for the gate's verdict on a program that the organisers trust.
pub(crate) const TRUSTED: &str = "trusted";

/// The gate's decision on an entry.
#[derive(Debug)]
pub(crate) enum Admission {
    /// The engine plays.
    Admitted(GateReceipt),
    /// The engine does not play; the report tells why.
    Refused(Box<EntryReport>),
}

/// Now, as RFC 3339.
pub(crate) fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

impl Entrant {
    /// Reads an entry of the event.
    ///
    /// # Errors
    /// When it cannot be read or confined.
    pub(crate) fn read(
        judges: &mut Judges,
        config: &EventConfig,
        entry: &EventEntry,
    ) -> Result<Entrant, CheckError> {
        if let Some(trusted) = &entry.trusted {
            let program = frozen(&entry.path)?;
            let given = trusted.files()?;
            let listed = trusted.listed.as_deref().map(read).transpose()?;
            return Ok(Entrant {
                name: entry.name.clone(),
                frozen: Frozen {
                    file: program.sha256.clone(),
                    engines_json: listed.map(sha256),
                    allowlist: "none".to_owned(),
                    files: sums(&given),
                },
                path: entry.path.clone(),
                kind: EntrantKind::Trusted(
                    trusted.clone(),
                    given.into_values().chain([program]).collect(),
                ),
            });
        }
        let judge = judges.of(config, entry)?;
        let allowlist = match &config.allowlist {
            Some(path) => sha256(read(path)?),
            None => sha256(BUILT_IN.as_bytes()),
        };
        let playable = judge.playable(&entry.path, None)?;
        let submission = &playable.submission;
        let file = submission.sha256.clone().ok_or_else(|| CheckError::Nothing {
            path: entry.path.clone(),
            what: "a file far beyond 4096 bytes".into(),
        })?;
        let engines_json =
            submission.engines_json.as_ref().map(|json| sha256(json.text.as_bytes()));
        let frozen = Frozen { file, engines_json, allowlist, files: BTreeMap::new() };
        let kind = EntrantKind::Confined { judge, playable: Box::new(playable) };
        Ok(Entrant { name: entry.name.clone(), frozen, path: entry.path.clone(), kind })
    }

    /// Its way through the gate; none for a program that the organisers trust.
    pub(crate) fn candidate(&self) -> Option<GateCandidate> {
        match &self.kind {
            EntrantKind::Confined { judge, .. } => Some(GateCandidate {
                name: self.name.clone(),
                path: self.path.clone(),
                judge: Arc::clone(judge),
            }),
            EntrantKind::Trusted(..) => None,
        }
    }

    /// The receipt of a program that the organisers trust.
    pub(crate) fn trusted(&self) -> GateReceipt {
        GateReceipt {
            entry: self.name.clone(),
            frozen: self.frozen.clone(),
            verdict: TRUSTED.to_owned(),
            bytes: None,
            findings: BTreeMap::new(),
            at: now(),
        }
    }

    /// The gate's decision by the report on it.
    ///
    /// # Errors
    /// When it changed meanwhile.
    pub(crate) fn admission(
        &self,
        config: &EventConfig,
        report: EntryReport,
    ) -> Result<Admission, CheckError> {
        if report.sha256.as_ref() != Some(&self.frozen.file) {
            let what =
                format!("{} changed while it was checked; run the event again", shown(&self.path));
            return Err(CheckError::Configuration(what.into()));
        }
        let admitted = match report.verdict {
            Verdict::Accepted => true,
            Verdict::Undecided => config.admit_undecided,
            Verdict::Rejected => false,
        };
        if !admitted {
            return Ok(Admission::Refused(Box::new(report)));
        }
        Ok(Admission::Admitted(GateReceipt {
            entry: self.name.clone(),
            frozen: self.frozen.clone(),
            verdict: report.verdict.word().to_owned(),
            bytes: report.size.map(|size| size.total.0),
            findings: report
                .findings
                .iter()
                .map(|finding| (finding.rule.name().to_owned(), finding.status.word().to_owned()))
                .collect(),
            at: now(),
        }))
    }

    /// The engine that the runner plays. It is told the event's options, and those of its configuration
    /// that the event does not set.
    pub(crate) fn engine(&self, config: &EventConfig) -> Arc<Engine> {
        let mut options = config.options.clone();
        let (start, own, subset) = match &self.kind {
            EntrantKind::Confined { playable, .. } => {
                let start =
                    EngineStart::Entry(Arc::clone(&playable.launcher), playable.plan.clone());
                (start, playable.submission.options(), UciSubset::Rule79)
            }
            EntrantKind::Trusted(trusted, frozen) => {
                let Trusted { arguments, options, directory, .. } = trusted;
                let program = EngineProgram {
                    // A name without a directory would be looked for on PATH.
                    command: std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone()),
                    arguments: arguments.clone(),
                    directory: directory.clone(),
                    environment: BTreeMap::new(),
                    memory: None,
                    frozen: frozen.clone(),
                };
                (EngineStart::Trusted(program), options.clone(), UciSubset::Full)
            }
        };
        for (name, value) in own {
            if options.iter().all(|(set, _)| !set.eq_ignore_ascii_case(&name)) {
                options.push((name, value));
            }
        }
        let mut engine =
            Engine::new(self.name.clone(), start, options, config.terms.control, subset);
        if let EntrantKind::Trusted(trusted, _) = &self.kind {
            engine.init = trusted.init.clone();
        }
        Arc::new(engine)
    }
}

impl Trusted {
    /// Its own options that it is not told, since the event has a value of its own for them.
    pub(crate) fn overruled(&self, config: &EventConfig) -> Vec<&str> {
        let is_set =
            |name: &str| config.options.iter().any(|(set, _)| set.eq_ignore_ascii_case(name));
        self.options.iter().map(|(name, _)| name.as_str()).filter(|name| is_set(name)).collect()
    }

    /// The files that its arguments and options name, such as a network or a script, by their paths as they
    /// are written. A log and what an engine learns are its own to change.
    fn files(&self) -> Result<BTreeMap<String, FrozenFile>, CheckError> {
        const ITS_OWN: [&str; 3] = ["log", "experience", "learn"];
        let is_its_own = |word: &str| {
            let word = word.to_ascii_lowercase();
            ITS_OWN.iter().any(|own| word.contains(own))
        };
        let arguments = self.arguments.iter().filter_map(|argument| {
            let (key, value) = argument.split_once('=').unwrap_or(("", argument));
            (!is_its_own(key)).then_some(value)
        });
        let options = self.options.iter().filter(|(name, _)| !is_its_own(name));
        let mut files = BTreeMap::new();
        for named in arguments.chain(options.map(|(_, value)| value.as_str())) {
            let path = self.directory.as_deref().unwrap_or(Path::new("")).join(named);
            if !named.is_empty() && path.is_file() {
                files.insert(named.to_owned(), frozen(&path)?);
            }
        }
        Ok(files)
    }
}

fn frozen(path: &Path) -> Result<FrozenFile, CheckError> {
    FrozenFile::read(path).map_err(|source| CheckError::Read { path: path.to_owned(), source })
}

/// The sums of files, by the same names.
fn sums(files: &BTreeMap<String, FrozenFile>) -> BTreeMap<String, String> {
    files.iter().map(|(name, file)| (name.clone(), file.sha256.clone())).collect()
}

fn read(path: &Path) -> Result<Vec<u8>, CheckError> {
    std::fs::read(path).map_err(|source| CheckError::Read { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_a_trusted_program_is_given_are_frozen_and_its_logs_are_not() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["net", "net.pb", "a.log"] {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        let words = |words: &[&str]| words.iter().copied().map(str::to_owned).collect();
        let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let trusted = Trusted {
            arguments: words(&["--uci", "--weights=net.pb", "--logfile=a.log", "none.py"]),
            options: vec![option("EvalFile", "net"), option("Debug Log File", "a.log")],
            directory: Some(dir.path().to_owned()),
            init: Vec::new(),
            listed: None,
        };
        let files = trusted.files().unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["net", "net.pb"]);
        let frozen = |files| Frozen {
            file: "1".into(),
            engines_json: None,
            allowlist: "none".into(),
            files,
        };
        std::fs::write(dir.path().join("net"), "another").unwrap();
        let [before, now] = [files, trusted.files().unwrap()].map(|files| frozen(sums(&files)));
        assert_eq!(before.difference(&now).unwrap().0, "the file net");
        // A receipt of gate4k 0.1 has none of them.
        assert_eq!(frozen(BTreeMap::new()).difference(&now), None);
    }
}
