//! The whole way of one entry through the rooms: read, measured, run, judged, reported.

mod attach;
mod fingerprint;
mod games;
pub mod waive;

pub use attach::{Attached, refused};
pub(crate) use fingerprint::{file_sha256, program as program_sha256};
pub use games::{GamesWanted, MATCH_LIMIT, NotGames};

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tracing::{debug, trace};

use crate::judge::error::CheckError;
use crate::judge::probe::{ProbePlan, Waits};
use crate::judge::rules::match_;
use crate::judge::support::words::Words;
use crate::judge::{probe, rules as conformance};
use crate::model::entry_report::{Circumstances, EntryReport, Leftover, RunSummary, StartTimes};
use crate::model::evidence::{
    Capabilities, Evidence, Games, HostFacts, Limits, Purpose, Run, Shell,
};
use crate::model::game_shown::GameShown;
use crate::model::layer_status as status;
use crate::model::layer_status::{Layer, LayerName, State};
use crate::model::rule::{RULES, RuleId};
use crate::model::size_figures::{EntrySize, SizeFigures};
use crate::model::text::{escape, shown};
use crate::model::verdict::{Finding, Verdict};
use crate::pack::hint::{self, Hint};
use crate::policy::allowlist::{self, Allowlist, AllowlistError};
use crate::policy::decide::Strictness;
use crate::policy::toolchain::Toolchain;
use crate::sandbox::capability::{self, Capability};
use crate::sandbox::devices::{self, DeviceClass};
use crate::sandbox::plan::{Audit, Launcher, Plan, SandboxError, Staging};
use crate::sandbox::{Sandbox, limits};
use crate::submission::Submission;
use crate::submission::entry::{self, LoadError, LoadOptions};
use crate::submission::format::{self, Format, ThisHost};
use crate::submission::payload::{self, Counting, PayloadReport};
use crate::submission::size::{self, FileParts, SizeReport};

/// What the caller chose; the defaults are the event's.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The configuration, where it does not lie beside the entry.
    pub engines_json: Option<PathBuf>,
    /// Which engine of a configuration with several.
    pub name: Option<String>,
    /// An allow-list in place of the one built in.
    pub allowlist: Option<PathBuf>,
    /// What that allow-list says, where it is not to be read from its file.
    pub allowlist_text: Option<String>,
    /// Time limits.
    pub limits: Limits,
    /// Tolerated commands count as refused.
    pub strict: bool,
    /// Probes that can only advise are left out.
    pub quick: bool,
    /// Layers of the sandbox without which nothing is run, beside those that are always mandatory.
    pub required: Vec<LayerName>,
    /// Mappings of 4 GiB or more reserve no memory.
    pub lazy_memory: bool,
    /// Device nodes that are opened to the entry.
    pub devices: Vec<DeviceClass>,
    /// How many probes run beside each other.
    pub jobs: NonZeroUsize,
    /// The games of rule `match`.
    pub games: GamesWanted,
    /// How long these may take.
    pub games_limit: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            engines_json: None,
            name: None,
            allowlist: None,
            allowlist_text: None,
            limits: Limits::default(),
            strict: false,
            quick: false,
            required: Vec::new(),
            lazy_memory: false,
            devices: Vec::new(),
            jobs: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            games: GamesWanted::AsUsual,
            games_limit: MATCH_LIMIT,
        }
    }
}

/// Takes one line on what is being done now; called from any thread.
pub type Progress<'a> = &'a (dyn Fn(&str) + Sync);

/// The gate on this host, opened once and used for every entry.
pub struct Gate {
    settings: Settings,
    list: Arc<Allowlist>,
    list_sha256: String,
    host: OnceLock<Host>,
}

/// What an entry is by its bytes, as far as a receipt speaks of it.
#[derive(Clone, Debug)]
pub struct Held {
    /// The SHA-256 of its file; none where there is no single one.
    pub sha256: Option<String>,
    /// The SHA-256 of its engines.json, where it has one.
    pub engines_json_sha256: Option<String>,
    /// Whether it is one file.
    pub single: Finding,
}

/// What is found out of the host when the first entry has to be run.
struct Host {
    tools: Arc<Toolchain>,
    sandbox: Arc<Sandbox>,
    landlock: bool,
    facts: HostFacts,
}

/// An entry that may be started in a game.
pub struct Seated {
    /// Its file and configuration.
    pub submission: Submission,
    /// What starts it, confined.
    pub launcher: Arc<dyn Launcher + Send + Sync>,
    /// How.
    pub plan: Plan,
}

/// What is known of an entry by its bytes alone.
struct Read {
    submission: Submission,
    format: Format,
    size: SizeReport,
    payload: PayloadReport,
    findings: Vec<Finding>,
}

impl Gate {
    /// Opens the gate.
    ///
    /// # Errors
    /// When the allow-list that was named cannot be read or has a mistake.
    pub fn open(settings: Settings) -> Result<Gate, CheckError> {
        let (list, text) = match (&settings.allowlist, &settings.allowlist_text) {
            (None, _) => (Allowlist::built_in().clone(), allowlist::BUILT_IN.to_owned()),
            (Some(path), text) => {
                let text = match text {
                    Some(text) => Ok(text.clone()),
                    None => std::fs::read_to_string(path).map_err(|source| {
                        AllowlistError::Unreadable { path: path.clone(), source }
                    }),
                };
                text.and_then(|text| Ok((Allowlist::parse(&text, path)?, text)))
                    .map_err(|error| CheckError::Configuration(Box::new(error)))?
            }
        };
        let list_sha256 = sha256(text.as_bytes());
        debug!(sha256 = list_sha256, path = ?settings.allowlist, "allow-list read");
        Ok(Gate { settings, list: Arc::new(list), list_sha256, host: OnceLock::new() })
    }

    /// The SHA-256 of the text of the allow-list in force.
    #[must_use]
    pub fn list_sha256(&self) -> &str {
        &self.list_sha256
    }

    /// The bytes that an entry could save, the most first.
    ///
    /// # Errors
    /// When there is nothing at `path`, or it cannot be read.
    pub fn hints(&self, path: &Path) -> Result<Vec<Hint>, CheckError> {
        let (read, _) = self.read(path)?;
        let whole = read.filter(|read| read.submission.is_whole());
        Ok(whole.map_or_else(Vec::new, |read| {
            let stub = read.size.stub.and_then(|stub| usize::try_from(stub.0).ok());
            hint::all(&read.submission.bytes, stub.unwrap_or_default())
        }))
    }

    /// What an entry is by its bytes, without judging it.
    ///
    /// # Errors
    /// When there is nothing at `path`, or it cannot be read.
    pub fn held(&self, path: &Path) -> Result<Held, CheckError> {
        let (read, single) = self.read(path)?;
        let submission = read.map(|read| read.submission);
        Ok(Held {
            sha256: submission.as_ref().and_then(|submission| submission.sha256.clone()),
            engines_json_sha256: submission.as_ref().and_then(configuration),
            single,
        })
    }

    /// Judges one entry.
    ///
    /// # Errors
    /// When there is nothing to judge or a setting is wrong. An entry that breaks rules is no error.
    pub fn check(&self, path: &Path, progress: Progress<'_>) -> Result<EntryReport, CheckError> {
        self.check_with(path, self.settings.jobs, progress)
    }

    /// As [`Gate::check`], with `jobs` probes beside each other: less than the settings say where other
    /// entries are judged at the same time.
    ///
    /// # Errors
    /// As [`Gate::check`].
    pub fn check_with(
        &self,
        path: &Path,
        jobs: NonZeroUsize,
        progress: Progress<'_>,
    ) -> Result<EntryReport, CheckError> {
        let progress: Progress<'_> = &|step| {
            debug!(entry = %shown(path), "{}", escape(step.as_bytes(), 200));
            progress(step);
        };
        progress("reading");
        let (read, single) = self.read(path)?;
        let Some(read) = read else {
            return Ok(unread(path, single));
        };
        let mut findings = read.findings;
        findings.push(single);
        let mut report = EntryReport {
            path: path.to_owned(),
            file: read.submission.path.clone(),
            sha256: read.submission.sha256.clone(),
            size: Some(figures(&read.size)),
            verdict: Verdict::Undecided,
            findings: Vec::new(),
            startup: StartTimes::default(),
            execs: Vec::new(),
            leftovers: Vec::new(),
            layers: Vec::new(),
            capabilities: None,
            transcript: Vec::new(),
            runs: Vec::new(),
            games: Vec::new(),
            circumstances: Circumstances {
                engines_json_sha256: configuration(&read.submission),
                ..Circumstances::default()
            },
        };
        if read.submission.is_whole() {
            findings.extend(self.run(&read.submission, &read.format, jobs, &mut report, progress));
        } else {
            findings.extend(skipped_but(&findings, RuleId::Size));
        }
        findings.sort_by_key(|finding| finding.rule);
        report.verdict = Verdict::of(&findings);
        report.findings = findings;
        for found in &report.findings {
            trace!(rule = found.rule.name(), status = found.status.word(), "{}", found.summary);
        }
        debug!(entry = %shown(path), verdict = report.verdict.word(), "judged");
        Ok(report)
    }

    /// Counts one entry's bytes without running it.
    ///
    /// # Errors
    /// When there is nothing to measure or a setting is wrong.
    pub fn measure(&self, path: &Path) -> Result<EntrySize, CheckError> {
        let (read, single) = self.read(path)?;
        let Some(read) = read else {
            return Err(CheckError::Nothing { path: path.to_owned(), what: single.summary });
        };
        let counted = read.payload.fields.iter().filter(|f| f.counting != Counting::NotCounted);
        // Of the findings by bytes, only that on the size decides what `size` says.
        let about_size: Vec<Finding> = read
            .findings
            .into_iter()
            .filter(|finding| matches!(finding.rule, RuleId::Size | RuleId::Payload))
            .collect();
        Ok(EntrySize {
            path: path.to_owned(),
            sha256: read.submission.sha256.unwrap_or_default(),
            format: read.format.describe(),
            verdict: Verdict::of(&about_size),
            size: figures(&read.size),
            counted: counted
                .map(|field| {
                    format!("{}: {} ({})", field.field, field.size.canonical, field.reason)
                })
                .collect(),
        })
    }

    /// Reads an entry as it is now, without judging it, with what starts it in a game.
    ///
    /// # Errors
    /// When there is no entry, or this host cannot confine one.
    pub fn seat(&self, path: &Path) -> Result<Seated, CheckError> {
        let (read, single) = self.read(path)?;
        let Some(read) = read else {
            return Err(CheckError::Nothing { path: path.to_owned(), what: single.summary });
        };
        let host = self.host();
        if !host.landlock {
            return Err(CheckError::Sandbox(SandboxError::Missing {
                what: "this host has no Landlock that could confine an entry".into(),
                next: "play on a host with Linux 6.2 or newer and Landlock".into(),
            }));
        }
        let plan = Plan {
            bytes: Arc::clone(&read.submission.bytes),
            staging: Staging::Neutral,
            shell: Shell::AsIs,
            audit: Audit::ProgramsOnly,
        };
        let launcher: Arc<dyn Launcher + Send + Sync> = Arc::clone(&host.sandbox) as _;
        Ok(Seated { submission: read.submission, launcher, plan })
    }

    fn read(&self, path: &Path) -> Result<(Option<Read>, Finding), CheckError> {
        let options = LoadOptions {
            engines_json: self.settings.engines_json.clone(),
            name: self.settings.name.clone(),
        };
        let loaded = entry::load(path, &options).map_err(load_error)?;
        let Some(submission) = loaded.submission else {
            return Ok((None, loaded.finding));
        };
        let (format, on_format) =
            format::judge(&submission.bytes, submission.mode, &ThisHost, &self.list);
        let (payload, on_payload) =
            payload::judge(submission.engines_json.as_ref(), &submission.file_name, &self.list);
        let (size, on_size) = size::judge(submission.size, FileParts::from(&format), &payload);
        let findings = vec![on_format, on_payload, on_size];
        Ok((Some(Read { submission, format, size, payload, findings }), loaded.finding))
    }

    fn host(&self) -> &Host {
        self.host.get_or_init(|| {
            let strictness =
                if self.settings.strict { Strictness::Strict } else { Strictness::Tolerant };
            let capability = Capability::probe();
            let tools = Arc::new(Toolchain::discover(Arc::clone(&self.list), strictness));
            let mut host = tools.host(capability.namespaces.is_ok());
            host.lazy_memory = self.settings.lazy_memory;
            host.cgroups = capability.cgroups.clone().ok();
            let opened =
                devices::open(&mut host.grants, &self.settings.devices, capability.landlock_abi);
            let mut layers = capability.layers();
            layers.push(opened);
            let facts = HostFacts {
                kernel: capability::kernel_release(),
                cpus: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
                memory: capability::memory(),
                layers,
                lowered_limits: limits::lowered(),
                missing_commands: tools.missing.clone(),
                chess_libraries: tools.chess_libraries.clone(),
            };
            Host {
                sandbox: Arc::new(Sandbox::new(host, tools.clone())),
                landlock: capability.enforces_files(),
                tools,
                facts,
            }
        })
    }

    /// Runs the entry and judges what was seen.
    fn run(
        &self,
        submission: &Submission,
        format: &Format,
        jobs: NonZeroUsize,
        report: &mut EntryReport,
        progress: Progress<'_>,
    ) -> Vec<Finding> {
        progress("looking at the host");
        let host = self.host();
        report.layers.clone_from(&host.facts.layers);
        if !host.landlock {
            return unconfined(
                "this host has no Landlock that could confine it, so it was not started",
                NEEDS_LANDLOCK,
            );
        }
        let unmet = status::unmet(&self.settings.required, &host.facts.layers);
        if !unmet.is_empty() {
            return unconfined(
                &format!(
                    "it was not started, for want of what --require asks: {}",
                    unmet.join("; ")
                ),
                "run `gate4k doctor` for what this host lacks and how to get it, or judge the entry on \
                 another host",
            );
        }
        let available: Vec<Shell> = [("dash", Shell::Dash), ("bash", Shell::Bash)]
            .into_iter()
            .filter(|(name, _)| host.tools.shell(name).is_some())
            .map(|(_, shell)| shell)
            .collect();
        let sh = host.tools.shell("sh");
        let host_sh = [("dash", Shell::Dash), ("bash", Shell::Bash)]
            .into_iter()
            .find(|(name, _)| sh.is_some() && host.tools.shell(name) == sh)
            .map(|(_, shell)| shell);
        let plan = ProbePlan {
            bytes: Arc::clone(&submission.bytes),
            own_name: submission.file_name.clone(),
            script_with_sh: format.is_for_sh(),
            shells_available: available,
            host_sh,
            quick: self.settings.quick,
            jobs: jobs.get(),
            limits: self.settings.limits,
            waits: Waits::default(),
        };
        let (runs, capabilities) = match probe::gather(&*host.sandbox, &plan, progress) {
            Ok(gathered) => gathered,
            Err(error) => {
                note_missing_layer(&mut report.layers, &error);
                return unconfined(&error.to_string(), NEEDS_LANDLOCK);
            }
        };
        progress("judging");
        let mut evidence = Evidence {
            runs,
            capabilities,
            games: Games::NotYet,
            host: host.facts.clone(),
            limits: self.settings.limits,
            strict: self.settings.strict,
            quick: self.settings.quick,
        };
        let words = Words::new(&host.tools);
        let mut findings = conformance::judge_all(&evidence, &format.needed, &words);
        if let Some(finding) = findings.iter().position(|finding| finding.rule == RuleId::Match) {
            findings[finding] = match games::before_games(&findings) {
                Some(on) => Finding::skipped(RuleId::Match, on),
                None => {
                    evidence.games = self.games(submission, &evidence, host, jobs, progress);
                    match_::judge(&evidence)
                }
            };
        }
        tell(report, &evidence);
        findings
    }
}

/// The sum of an entry's configuration.
fn configuration(submission: &Submission) -> Option<String> {
    submission.engines_json.as_ref().map(|config| sha256(config.text.as_bytes()))
}

/// A SHA-256 sum in hex.
fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the report shows of the runs.
fn tell(report: &mut EntryReport, evidence: &Evidence) {
    report.runs = evidence.runs.iter().map(RunSummary::from).collect();
    if let Games::Played(played) = &evidence.games {
        report.games = played.games.iter().map(GameShown::from).collect();
    }
    report.capabilities = Some(Capabilities::clone(&evidence.capabilities));
    let Some(main) = shown_run(&evidence.runs) else { return };
    report.startup = StartTimes { uciok: main.uciok, readyok: main.readyok };
    report.execs.clone_from(&main.execs);
    report.transcript = main.transcript.lines();
    report.leftovers = main
        .left_files
        .iter()
        .cloned()
        .map(Leftover::File)
        .chain(main.left_processes.iter().cloned().map(Leftover::Process))
        .collect();
}

/// The measured run: the first main run that came up, else the first of all.
fn shown_run(runs: &[Run]) -> Option<&Run> {
    let up = |run: &&Run| run.purpose == Purpose::Main && run.readyok.is_some();
    runs.iter().find(up).or_else(|| runs.first())
}

fn load_error(error: LoadError) -> CheckError {
    match error {
        LoadError::Nothing { path, what } => CheckError::Nothing { path, what: what.to_owned() },
        LoadError::Unreadable { path, source } if source.kind() == std::io::ErrorKind::NotFound => {
            CheckError::Nothing { path, what: "no such file".into() }
        }
        LoadError::Unreadable { path, source } => CheckError::Read { path, source },
        other => CheckError::Configuration(Box::new(other)),
    }
}

fn figures(size: &SizeReport) -> SizeFigures {
    SizeFigures {
        file: size.file,
        stub: size.stub,
        payload: size.payload,
        payload_bare: size.payload_bare,
        total: size.total,
        limit: size.limit,
    }
}

/// The report on something that could not be read as an entry.
fn unread(path: &Path, single: Finding) -> EntryReport {
    let mut findings = vec![single];
    findings.extend(skipped_but(&findings, RuleId::SingleFile));
    findings.sort_by_key(|finding| finding.rule);
    EntryReport {
        path: path.to_owned(),
        file: path.to_owned(),
        sha256: None,
        size: None,
        verdict: Verdict::of(&findings),
        findings,
        startup: StartTimes::default(),
        execs: Vec::new(),
        leftovers: Vec::new(),
        layers: Vec::new(),
        capabilities: None,
        transcript: Vec::new(),
        runs: Vec::new(),
        games: Vec::new(),
        circumstances: Circumstances::default(),
    }
}

/// Every rule that has no finding yet, as skipped because of `on`.
fn skipped_but(findings: &[Finding], on: RuleId) -> Vec<Finding> {
    RULES
        .iter()
        .filter(|rule| findings.iter().all(|finding| finding.rule != rule.id))
        .map(|rule| Finding::skipped(rule.id, on))
        .collect()
}

/// The next step where the kernel is too old.
const NEEDS_LANDLOCK: &str =
    "judge it on a host whose kernel confines it: Linux 6.2 or newer with Landlock";

/// The findings of an entry that was not run for want of a sandbox: nobody's fault, and nothing decided.
fn unconfined(why: &str, help: &str) -> Vec<Finding> {
    let by_bytes = [RuleId::SingleFile, RuleId::Format, RuleId::Size, RuleId::Payload];
    RULES
        .iter()
        .filter(|rule| !by_bytes.contains(&rule.id))
        .map(|rule| {
            if rule.id == RuleId::Startup {
                Finding::undecided(rule.id, why).help(help)
            } else {
                Finding::skipped(rule.id, RuleId::Startup)
            }
        })
        .collect()
}

fn note_missing_layer(layers: &mut [Layer], error: &SandboxError) {
    if let SandboxError::Missing { what, .. } = error
        && let Some(layer) = layers.iter_mut().find(|layer| layer.name == LayerName::ExecReporter)
    {
        layer.state = State::Absent;
        layer.reason.clone_from(what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::units::Bytes;
    use crate::model::verdict::Status;

    #[test]
    fn without_a_sandbox_nothing_is_accepted_and_nothing_rejected() {
        let findings = unconfined("no Landlock", NEEDS_LANDLOCK);
        assert_eq!(Verdict::of(&findings), Verdict::Undecided);
        assert_eq!(findings.iter().filter(|f| f.status == Status::Undecided).count(), 1);
    }

    #[test]
    fn what_is_no_file_has_a_finding_for_every_rule() {
        let report = unread(Path::new("x"), Finding::fail(RuleId::SingleFile, "a directory"));
        assert_eq!(report.findings.len(), RULES.len());
        assert_eq!(report.verdict, Verdict::Rejected);
        assert_eq!(report.size.map(|s| s.limit), None::<Bytes>);
    }
}
