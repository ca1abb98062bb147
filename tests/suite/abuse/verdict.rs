//! The findings of a check on an attack: the rules judge the evidence of a sound engine whose start was the attack.
//!
//! The engine's evidence is real (a fixture's, gathered once on this host and in this mode); what the sandbox saw of
//! the attack is put into its measured run. So each attack is judged by the very code that `check` uses,
//! without a check of each. (`checked.rs` has whole checks.)

use std::num::NonZeroUsize;
use std::time::Duration;

use gate4k::judge::probe::{ProbePlan, ProbeWaits};
use gate4k::judge::rules::Case;
use gate4k::judge::{probe, rules};
use gate4k::model::evidence::{
    Answer, Ask, Capabilities, EndHow, Evidence, ExitHow, GamesEvidence, HostFacts, Limits,
    Purpose, Question, Run,
};
use gate4k::model::rule::RuleId;
use gate4k::model::verdict::{Finding, Status, Verdict};
use gate4k::policy::toolchain::Toolchain;
use gate4k::sandbox::capability::{self, Capability};
use gate4k::sandbox::plan::Launcher;

use super::attack::Told;
use crate::sandboxed::Done;

/// An engine that keeps every rule, as its probes saw it.
pub(crate) struct Sound {
    runs: Vec<Run>,
    capabilities: Capabilities,
    host: HostFacts,
}

impl Sound {
    pub(crate) fn probe(launcher: &dyn Launcher, tools: &Toolchain, namespaces: bool) -> Sound {
        let limits = Limits::default();
        let plan = ProbePlan {
            bytes: include_bytes!("../../../fixtures/entries/accept/elf/engine").as_slice().into(),
            own_name: "engine".into(),
            script_with_sh: false,
            shells_available: Vec::new(),
            host_sh: None,
            options: Vec::new(),
            quick: true,
            jobs: 2,
            limits,
            waits: ProbeWaits::default(),
        };
        let probe::Gathered { runs, capabilities, .. } =
            probe::gather(launcher, &plan, &|_| ()).unwrap();
        let mut capability = Capability::probe();
        if !namespaces {
            capability.namespaces = Err("this test does without".into());
        }
        let host = HostFacts {
            kernel: capability::kernel_release(),
            cpus: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            memory: capability::memory(),
            memory_limit: None,
            overcommit: capability::overcommit(),
            lazy_memory: false,
            layers: capability.layers(),
            lowered_limits: Vec::new(),
            missing_commands: tools.missing.clone(),
            chess_libraries: tools.chess_libraries.clone(),
        };
        let sound = Sound { runs, capabilities, host };
        let findings = sound.judge(sound.runs.clone(), tools);
        assert_eq!(Verdict::of(&findings), Verdict::Accepted, "{findings:#?}");
        sound
    }

    fn judge(&self, runs: Vec<Run>, tools: &Toolchain) -> Vec<Finding> {
        let evidence = Evidence {
            runs,
            capabilities: self.capabilities.clone(),
            games: GamesEvidence::LeftOut("left out by --quick".into()),
            host: self.host.clone(),
            limits: Limits::default(),
            strict: false,
            quick: true,
        };
        rules::judge_runs(&Case { evidence: &evidence, needed: &[], allowed: tools, bytes: b"" })
    }

    /// The findings on this engine if its start had been the attack.
    pub(crate) fn with(&self, done: &Done, tools: &Toolchain) -> Vec<Finding> {
        let mut runs = self.runs.clone();
        let main = runs.iter_mut().find(|run| run.purpose == Purpose::Main).unwrap();
        let traces = &done.traces;
        main.execs.clone_from(&traces.execs);
        main.opens.clone_from(&traces.opens);
        main.not_installed.clone_from(&traces.not_installed);
        main.denials.clone_from(&traces.denials);
        main.refusals.clone_from(&traces.refusals);
        main.crashes.clone_from(&traces.crashes);
        main.left_files.clone_from(&traces.left_files);
        main.left_processes.clone_from(&done.left);
        main.stderr_tail = done.err.lines().map(|l| l.chars().take(300).collect()).collect();
        if !done.left.is_empty() {
            main.ending.emptied_after = None;
        }
        if let Some(exit @ ExitHow::Signal(_)) = done.exit {
            // It was killed before it could say `uciok`; then nothing else is probed.
            main.uciok = None;
            main.readyok = None;
            main.asks = vec![Ask {
                set: None,
                question: Question::Uci,
                at: Duration::ZERO,
                took: Duration::from_secs(1),
                answer: Answer::Ended(Some(exit)),
                infos: 0,
                last_info: None,
                other: None,
                unfinished: None,
            }];
            main.ending.how = EndHow::ByItself;
            main.ending.exit = Some(exit);
            let main = main.clone();
            runs = vec![main];
        }
        self.judge(runs, tools)
    }
}

/// Everything that is wrong with what the findings say.
pub(crate) fn wrong(findings: &[Finding], told: &[Told]) -> Vec<String> {
    let mut wrong = Vec::new();
    for told in told {
        let Some(finding) = findings.iter().find(|finding| finding.rule == told.rule) else {
            wrong.push(format!("no finding of {}", told.rule));
            continue;
        };
        let text = format!("{}\n{}", finding.summary, finding.details.join("\n"));
        if finding.status != told.status || !text.contains(&told.name) {
            wrong.push(format!(
                "wanted {told:?}, and {} is {:?}: {text}",
                told.rule, finding.status
            ));
        }
    }
    // And nobody is accused of anything else.
    let decides = |status| matches!(status, Status::Fail | Status::Undecided);
    let accused: Vec<RuleId> =
        findings.iter().filter(|f| decides(f.status)).map(|f| f.rule).collect();
    for rule in accused {
        if !told.iter().any(|told| told.rule == rule && decides(told.status)) {
            let finding = findings.iter().find(|f| f.rule == rule).unwrap();
            wrong.push(format!("{rule} is {:?}: {}", finding.status, finding.summary));
        }
    }
    let wanted = verdict(told);
    let verdict = Verdict::of(findings);
    if verdict != wanted {
        wrong.push(format!("the verdict is {}, not {}", verdict.word(), wanted.word()));
    }
    wrong
}

/// The verdict that these findings give an entry that is sound otherwise.
pub(crate) fn verdict(told: &[Told]) -> Verdict {
    let any = |status| told.iter().any(|told| told.status == status);
    match (any(Status::Fail), any(Status::Undecided)) {
        (true, _) => Verdict::Rejected,
        (false, true) => Verdict::Undecided,
        (false, false) => Verdict::Accepted,
    }
}
