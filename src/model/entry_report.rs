//! All that is told of one entry: what every view reads, and the judge writes.

use super::evidence::PlayedGame;
use super::size_figures::SizeFigures;
use crate::model::evidence::{
    Capabilities, Exec, LeftFile, LeftProcess, Purpose, Run, RunEnding, Shell,
};
use crate::model::layer_status::Layer;
use crate::model::next_step;
use crate::model::source_place::SourcePlace;
use crate::model::verdict::{Finding, Verdict};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// All that is told of one entry.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct EntryReport {
    /// The path as it was given.
    #[serde(with = "crate::model::path_text")]
    pub path: PathBuf,
    /// The entry's file below it, or the same path where no single file was found.
    #[serde(with = "crate::model::path_text")]
    pub file: PathBuf,
    /// The SHA-256 of the file in hex; none where no single file was found.
    pub sha256: Option<String>,
    /// The bytes; none where no single file was found.
    pub size: Option<SizeFigures>,
    /// The decision.
    pub verdict: Verdict,
    /// The findings, in the order of the registry of rules.
    pub findings: Vec<Finding>,
    /// The time that the main run took to start.
    pub startup: StartTimes,
    /// The programs that the main run started.
    pub execs: Vec<Exec>,
    /// The leftovers of the main run.
    pub leftovers: Vec<Leftover>,
    /// The layers of the sandbox with their states; empty where the entry was never started.
    pub layers: Vec<Layer>,
    /// The engine's capabilities; none where it was never started.
    pub capabilities: Option<Capabilities>,
    /// The conversation of the main run, one escaped line each with its time.
    pub transcript: Vec<String>,
    /// Every run in a line.
    pub runs: Vec<RunSummary>,
    /// The games of rule `match`, as far as they began.
    pub games: Vec<PlayedGame>,
    /// The circumstances of the judgement, and the origin of this report.
    pub circumstances: Circumstances,
}

impl EntryReport {
    /// The report with the name of the entry's file in its next steps; none where the entry has no file of its own.
    #[must_use]
    pub(crate) fn naming(mut self, file: Option<&Path>) -> EntryReport {
        for finding in &mut self.findings {
            finding.help = next_step::naming(&finding.help, file);
            for detail in &mut finding.details {
                *detail = next_step::naming(detail, file);
            }
        }
        self
    }
}

/// The circumstances of a report that its reader must know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Circumstances {
    /// The number of other entries that were judged on this host at the same time, at most. Times are upper bounds
    /// then: other entries can make one slower, never faster.
    pub beside: usize,
    /// The settings of the check that are other than those of the 4k event's rules, as the command line has them.
    #[serde(default)]
    pub terms: Vec<String>,
    /// When it was judged, in RFC 3339, where that was earlier and nothing has changed since.
    pub judged: Option<String>,
    /// The SHA-256 of the entry's engines.json in hex, where it has one.
    pub engines_json_sha256: Option<String>,
    /// The engine of that engines.json that was judged.
    pub engine: Option<EngineOfFile>,
}

/// One engine of an engines.json.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct EngineOfFile {
    /// Its name there, if it has one.
    pub(crate) name: Option<String>,
    /// The SHA-256 of its object in canonical form, in hex.
    pub(crate) sha256: String,
}

/// A finding that is of no entry, but on a line of the configuration.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ConfigFinding {
    /// The configuration.
    #[serde(with = "crate::model::path_text")]
    pub(crate) file: PathBuf,
    /// Where in it.
    pub(crate) at: SourcePlace,
    /// The finding.
    pub(crate) finding: Finding,
}

/// All that a report tells.
#[derive(Clone, Copy, Debug)]
pub struct ReportInput<'a> {
    /// The entries, in their order.
    pub entries: &'a [EntryReport],
    /// The findings that are of no entry.
    pub config_findings: &'a [ConfigFinding],
}

#[cfg(test)]
impl<'a> ReportInput<'a> {
    /// Entries alone.
    pub(crate) fn of(entries: &'a [EntryReport]) -> ReportInput<'a> {
        ReportInput { entries, config_findings: &[] }
    }
}

/// From exec to the first answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct StartTimes {
    /// To `uciok`.
    pub uciok: Option<Duration>,
    /// To the first `readyok`.
    pub readyok: Option<Duration>,
}

/// Something that remained after the end.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Leftover {
    /// A file, or something else with a path.
    File(LeftFile),
    /// A process.
    Process(LeftProcess),
}

/// One run in a line of the report.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RunSummary {
    /// The purpose of the run.
    pub purpose: Purpose,
    /// The shell that stood for `/bin/sh`.
    pub shell: Shell,
    /// The time that it took to start.
    pub startup: StartTimes,
    /// Questions asked, and those among them that were answered well.
    pub asked: usize,
    /// See [`RunSummary::asked`].
    pub answered: usize,
    /// Its end.
    pub ending: RunEnding,
    /// See [`Run::strained`].
    pub strained: bool,
}

impl From<&Run> for RunSummary {
    fn from(run: &Run) -> RunSummary {
        RunSummary {
            purpose: run.purpose,
            shell: run.shell,
            startup: StartTimes { uciok: run.uciok, readyok: run.readyok },
            asked: run.asks.len(),
            answered: run.asks.iter().filter(|ask| ask.answer.is_good()).count(),
            ending: run.ending.clone(),
            strained: run.strained,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::evidence::{
        EndHow, EntryColours, ExecOutcome, ExitHow, GameEnd, PlayedPly, ProgramClass, Rival,
    };
    use crate::model::game::result::GameResult;
    use crate::model::game::score::Score;
    use crate::model::layer_status::{LayerName, LayerState};
    use crate::model::rule::RuleId;
    use crate::model::units::Bytes;

    fn layer(name: LayerName, state: LayerState, reason: &str) -> Layer {
        Layer { name, state, reason: reason.into() }
    }

    /// A report with one finding of each status.
    pub(crate) fn report() -> EntryReport {
        EntryReport {
            path: "entries/tiny".into(),
            file: "entries/tiny/x".into(),
            sha256: Some("ab".repeat(32)),
            size: Some(SizeFigures {
                file: Bytes(4097),
                stub: Some(Bytes(69)),
                payload: Bytes(20),
                payload_bare: Bytes(12),
                total: Bytes(4117),
                limit: Bytes::LIMIT_4K,
            }),
            verdict: Verdict::Rejected,
            findings: findings(),
            startup: StartTimes {
                uciok: Some(Duration::from_millis(412)),
                readyok: Some(Duration::from_micros(413_500)),
            },
            execs: vec![exec()],
            leftovers: vec![
                Leftover::File(LeftFile {
                    path: "/tmp/x".into(),
                    size: Bytes(3),
                    kind: "file".into(),
                    made_by: Some("sh".into()),
                    exempt: None,
                }),
                Leftover::Process(LeftProcess { pid: 9, state: 'S', command: "sleep 60".into() }),
            ],
            layers: vec![
                layer(LayerName::Landlock, LayerState::Enforced, "ABI 7"),
                layer(LayerName::Seccomp, LayerState::Enforced, ""),
                layer(LayerName::Net, LayerState::Partial, "loopback is up"),
                layer(LayerName::User, LayerState::Absent, "refused by the host"),
            ],
            capabilities: Some(Capabilities {
                go_clock: Some(true),
                stop: Some(true),
                fen: Some(false),
                ..Capabilities::default()
            }),
            transcript: vec!["   0.000 > uci".into(), "   0.412 < uciok".into()],
            runs: vec![RunSummary {
                purpose: Purpose::LongGame(crate::model::units::Ply(340)),
                shell: Shell::Dash,
                startup: StartTimes::default(),
                asked: 4,
                answered: 3,
                ending: RunEnding {
                    how: EndHow::Killed,
                    exit: Some(ExitHow::Signal(9)),
                    exit_after: None,
                    emptied_after: None,
                },
                strained: false,
            }],
            games: vec![game()],
            circumstances: Circumstances::default(),
        }
    }

    /// A finding of each status.
    fn findings() -> Vec<Finding> {
        vec![
            Finding::pass(RuleId::SingleFile, "one regular file").detail("not shown"),
            Finding::fail(RuleId::Size, "4117 bytes, 21 over")
                .detail("file 4097, engines.json 20")
                .with("over", 21)
                .help("save 21 bytes"),
            Finding::undecided(RuleId::Commands, "pypy3 is not installed here")
                .detail("asked for by sh after 3 ms")
                .help("install pypy3"),
            Finding::advice(RuleId::LongGame, "a list of 1000 plies is cut")
                .detail("also not shown")
                .help("make the buffer longer"),
            Finding::skipped(RuleId::UciGo, RuleId::Commands),
        ]
    }

    /// A start of the entry itself, by its shell.
    fn exec() -> Exec {
        Exec {
            at: Duration::ZERO,
            pid: 7,
            parent: 6,
            by: None,
            asked: "/entry/x".into(),
            real: Some("/usr/bin/dash".into()),
            script: false,
            argv: vec!["/entry/x".into()],
            outcome: ExecOutcome::Ran,
            class: ProgramClass::Entry,
            name: "sh".into(),
            lasted: None,
            exit: Some(ExitHow::Status(0)),
            product: None,
            lacks: None,
        }
    }

    /// A finding on the third line of a configuration.
    pub(crate) fn config_finding() -> ConfigFinding {
        ConfigFinding {
            file: "gate4k.toml".into(),
            at: SourcePlace { line: 3, column: 9 },
            finding: Finding::advice(RuleId::Size, "the waiver matches nothing")
                .detail("its reason was: x")
                .help("remove it"),
        }
    }

    /// A short game that White wins.
    pub(crate) fn game() -> PlayedGame {
        let ply = |(number, word): (i32, &str)| PlayedPly {
            uci: word.into(),
            took: (number > 1)
                .then(|| Duration::from_millis(20 + 3 * number.unsigned_abs() as u64)),
            score: (number > 1).then_some(match number {
                6 => Score::mate_in_plies(1),
                _ => Score::centipawns(i64::from(15 * number)),
            }),
        };
        let words = ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"];
        PlayedGame {
            number: 1,
            rival: Rival::Reference,
            colours: EntryColours::White,
            result: GameResult::Win(shakmaty::Color::White),
            told: Vec::new(),
            again: None,
            end: GameEnd::Whole("White mates".into()),
            fen: "r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4".into(),
            moves: (0..).zip(words).map(ply).collect(),
            answered: 0,
            slowest: None,
            command: String::new(),
            late: Vec::new(),
            exit: None,
            stderr: Vec::new(),
            refusals: Vec::new(),
        }
    }
}
