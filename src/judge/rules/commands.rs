//! Rules 7.5 and 7.8: only allowed commands are started. Every program that was started, by whom, and
//! what it is to the rule.

use super::{CausedByLoad, InGames, JudgedRule, Needed};
use crate::judge::support::allowed::Allowed;
use crate::judge::support::{complaints, paths, program_list, refused_access, runs};
use crate::model::command_words::base_name;
use serde_json::{Value, json};

use crate::judge::waive;
use crate::model::evidence::{
    Evidence, Exec, ExecOutcome, FileOpen, ProgramClass, RecordPart, Run,
};
use crate::model::layer_status::LayerName;
use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, Status};
use crate::model::words::{self, counted};
use crate::policy::toolchain::HostProgram;

const RULE: RuleId = RuleId::Commands;

/// One accusation: the sentence, and the exec or name behind it.
struct Charge {
    what: String,
    evidence: Value,
}

/// All accusations, each once.
#[derive(Default)]
struct Charges {
    /// The accusations that break the rule.
    counted: Vec<Charge>,
    /// The accusations of starts that failed, where these are advice alone.
    aside: Vec<Charge>,
}

impl Charges {
    fn of(evidence: &Evidence, policy: &dyn Allowed) -> Charges {
        let mut all = Charges::default();
        for run in &evidence.runs {
            let (did, lacked) = (done(run, evidence, policy), absent(run, evidence, policy));
            if runs::counts_for_nothing(evidence, run) {
                add(&mut all.aside, did.into_iter().chain(lacked));
                continue;
            }
            add(&mut all.counted, did);
            // A shell for which another one makes up reads what follows the stub as commands. An event may have that
            // shell, so programs that were really asked for count, and names that nothing bears do not.
            let noise = runs::failed_aside(evidence, run);
            add(if noise { &mut all.aside } else { &mut all.counted }, lacked);
        }
        all
    }
}

/// Adds the accusations that are not there yet.
fn add(known: &mut Vec<Charge>, more: impl IntoIterator<Item = Charge>) {
    for charge in more {
        if !known.iter().any(|other| other.what == charge.what) {
            known.push(charge);
        }
    }
}

/// Tells what was asked for only where a start failed aside.
fn with_advice(mut finding: Finding, aside: &[Charge]) -> Finding {
    let Some(first) = aside.first() else { return finding };
    finding.status = Status::Advice;
    finding.summary =
        format!("{}; where it does not come up and need not, {}", finding.summary, first.what);
    if finding.help.is_empty() {
        finding.help =
            "optional: let the stub end where a step of it fails, and write \"$0\" in quotes"
                .into();
    }
    let more = aside.iter().skip(1).take(9);
    finding
        .details(more.map(|charge| format!("where it need not come up: {}", charge.what)))
        .with("aside", aside.iter().map(|charge| &charge.evidence).collect::<Vec<_>>())
}

pub(crate) const JUDGED: JudgedRule = JudgedRule {
    id: RULE,
    evidence: Needed::Runs,
    load: CausedByLoad::Never,
    leans_on: &[
        LayerName::ExecReporter,
        LayerName::Landlock,
        LayerName::Seccomp,
        LayerName::Privileges,
    ],
    rests_on: &[RecordPart::Programs, RecordPart::Denials, RecordPart::Paths, RecordPart::Tracer],
    before_games: false,
    in_games: InGames::LikeRuns,
    judge: |case| judge(case.evidence, case.allowed),
};

/// Judges every program that any run of the entry started or wanted.
fn judge(evidence: &Evidence, policy: &dyn Allowed) -> Finding {
    if evidence.runs.iter().all(|run| run.execs.is_empty() && run.not_installed.is_empty()) {
        return Finding::skipped(RULE, RuleId::Startup);
    }
    let Charges { counted: charges, aside } = Charges::of(evidence, policy);
    let finding = match charges.first() {
        Some(first) => Finding::fail(RULE, first.what.clone())
            .details(charges.iter().skip(1).take(9).map(|charge| charge.what.clone()))
            .with("refused", charges.iter().map(|c| &c.evidence).collect::<Vec<_>>())
            .help(
                "do without it: rule 7.5 allows bzip2, bash, c++, cargo, cc, clang, chmod, gzip, lzma, \
                 mktemp, perl, python, python3, pypy3, rustc, sh, sleep, tail and xz; the organisers may \
                 add others (rule 7.8)",
            ),
        None => with_advice(allowed(evidence, policy), &aside),
    };
    let mut finding =
        finding.details(program_list::tree(evidence)).with("programs", program_list::all(evidence));
    if let Some(granted) = program_list::classes(evidence).get("waived") {
        finding = finding.with(waive::GRANTED, granted);
    }
    finding
}

/// True if the sandbox refused this start, or would have had to. A file of the entry's own that the kernel
/// would not run for want of an execute bit is no accusation; a program in memory instead of a file is one.
pub(crate) fn is_denied(exec: &Exec) -> bool {
    match (exec.outcome, exec.class) {
        (ExecOutcome::Denied, ProgramClass::Entry) => exec.by.is_some(),
        (ExecOutcome::Denied, ProgramClass::OwnProduct) => !is_own_file(exec),
        // A program that a library of the system starts by itself, and can do without.
        (ExecOutcome::Denied, ProgramClass::Helper) => false,
        (ExecOutcome::Denied, _)
        | (ExecOutcome::Ran | ExecOutcome::Failed(_), ProgramClass::Refused) => true,
        _ => false,
    }
}

/// True if an own product is a file with a path, and not memory behind a descriptor.
pub(crate) fn is_own_file(exec: &Exec) -> bool {
    let hidden = |path: &str| {
        path.is_empty()
            || ["/memfd:", "memfd:", "/proc/", "/dev/fd/"].iter().any(|mark| path.starts_with(mark))
    };
    exec.class == ProgramClass::OwnProduct
        && !hidden(&exec.asked)
        && !exec.real.as_deref().is_some_and(hidden)
}

/// Names that are not allowed, were looked for by the entry, and are not installed here.
pub(crate) fn wanted_and_absent(run: &Run, policy: &dyn Allowed) -> Vec<String> {
    let mut names = run.not_installed.clone();
    // After the start a stub may run its own payload as commands: then what shells say is noise, and
    // only a run that did not come up is judged by it.
    if !runs::is_up(run) {
        names.extend(complaints::not_found_names(&run.stderr_tail));
    }
    names.retain(|name| {
        complaints::is_command_name(name)
            && policy.command(name).class == ProgramClass::Refused
            && !policy.is_version(name)
    });
    names.dedup();
    names
}

/// True if the look-up of an absent name was an attempt to start it. A `command -v` alone cannot be told
/// from one by the look-up; a shell's complaint or an exec tells.
fn was_attempted(run: &Run, name: &str) -> bool {
    // A closed directory in PATH: the shell has looked in vain everywhere else.
    let closed = format!(": {name}: Permission denied");
    complaints::not_found_names(&run.stderr_tail).iter().any(|n| n == name)
        || run.stderr_tail.iter().any(|line| line.trim_end().ends_with(&closed))
        || run.execs.iter().any(|exec| exec.outcome == ExecOutcome::NotFound && exec.name == name)
}

/// The accusations for what a run started and read.
fn done(run: &Run, evidence: &Evidence, policy: &dyn Allowed) -> Vec<Charge> {
    let mut charges = Vec::new();
    for (index, exec) in run.execs.iter().enumerate() {
        if let Some(what) = charge(run, exec, evidence.strict) {
            charges.push(Charge {
                what,
                evidence: json!({
                    "run": run.purpose,
                    "by": runs::lineage(run, exec.by),
                    "lineage": runs::lineage(run, Some(index)),
                    "exec": exec,
                }),
            });
        }
    }
    for open in &run.opens {
        let by = runs::lineage(run, open.by);
        let what = if let Some(program) = program_read(run, open, policy) {
            let what = match program {
                HostProgram::Helper | HostProgram::HelperScript => {
                    "a compiler's helper, which may run only below its compiler and not as a copy"
                }
                HostProgram::Unlisted => {
                    "a program that is not in rule 7.5, of which a copy must not run either"
                }
            };
            format!("{by} read {}, {what}", open.path)
        } else if open.denied
            && let Some(name) = paths::program_of(&open.path)
            && policy.command(name).class == ProgramClass::Refused
        {
            format!(
                "{by} wanted to read {}, a program that is not in rule 7.5; it was refused",
                open.path
            )
        } else {
            continue;
        };
        charges.push(Charge { what, evidence: json!({"run": run.purpose, "read": open.path}) });
    }
    charges
}

/// The accusations for what a run wanted and did not find.
fn absent(run: &Run, evidence: &Evidence, policy: &dyn Allowed) -> Vec<Charge> {
    let failed_start = !runs::is_up(run) && runs::engine(evidence).is_none();
    let names = wanted_and_absent(run, policy).into_iter();
    let counted = names.filter(|name| failed_start || was_attempted(run, name));
    let charge = |name: String| Charge {
        what: format!(
            "it wanted {name}, which is not in rule 7.5 (and not installed here, so that it could not run)"
        ),
        evidence: json!({"run": run.purpose, "not_installed": name}),
    };
    counted.map(charge).collect()
}

/// The program that was opened to be read and that no entry may start by itself: a copy of it would be a program of the entry's own.
/// (A helper that is a script is opened by the shell that runs it.)
fn program_read(run: &Run, open: &FileOpen, policy: &dyn Allowed) -> Option<HostProgram> {
    if open.own || open.denied || open.missing {
        return None;
    }
    let program = policy.program_at(&open.path)?;
    let reader = run.exec(open.by);
    // It may have been asked for by another path (/sbin is a link).
    let runs_it = reader.is_some_and(|exec| {
        base_name(&exec.asked) == base_name(&open.path)
            && policy.program_at(&exec.asked) == Some(program)
    });
    (program != HostProgram::HelperScript || !runs_it).then_some(program)
}

/// The accusation against one start, if there is one.
fn charge(run: &Run, exec: &Exec, strict: bool) -> Option<String> {
    let by = runs::lineage(run, exec.by);
    let path = match &exec.real {
        Some(real) if *real != exec.asked => format!("{} (really {real})", exec.asked),
        _ => exec.asked.clone(),
    };
    // One file may be many programs (busybox): then its name is not that of the file.
    let is_its_own = [Some(&exec.asked), exec.real.as_ref()]
        .into_iter()
        .flatten()
        .any(|path| base_name(path) == exec.name);
    let path = if is_its_own || exec.class != ProgramClass::Refused || exec.name.is_empty() {
        path
    } else {
        format!("{path} as {}", exec.name)
    };
    if is_denied(exec) {
        let why = match exec.class {
            ProgramClass::Refused => "is not in rule 7.5",
            ProgramClass::Tolerated => "is not in rule 7.5, and tolerated only without --strict",
            ProgramClass::Waived => "is granted by a waiver, but not in this way",
            ProgramClass::Listed => "is a listed command, but not in this way",
            ProgramClass::OwnProduct => "is the entry's own, but not a file in its workspace",
            ProgramClass::Helper => "is started by a part of the system, but not in this way",
            ProgramClass::Entry => "is the entry, but not in this way",
        };
        let outcome = match exec.outcome {
            ExecOutcome::Ran => "it ran",
            ExecOutcome::Denied => "it was refused",
            _ => "it did not run",
        };
        return Some(if exec.by.is_none() && exec.class == ProgramClass::Refused {
            format!("the entry is to be run by {path}, which {why}; {outcome}")
        } else {
            format!("{by} started {path}, which {why}; {outcome}")
        });
    }
    (strict && exec.class == ProgramClass::Tolerated && exec.outcome == ExecOutcome::Ran).then(|| {
        format!("{by} started {path}, which is not in rule 7.5 and only tolerated; --strict refuses it")
    })
}

/// Programs that the first line of a script of the entry's own names, which the list only tolerates: the kernel starts
/// them with the script, so they are no start of their own.
fn tolerated_readers(evidence: &Evidence, policy: &dyn Allowed) -> Vec<String> {
    let execs = evidence.runs.iter().flat_map(|run| &run.execs).filter(|exec| {
        matches!(exec.class, ProgramClass::Entry | ProgramClass::OwnProduct)
            && exec.outcome == ExecOutcome::Ran
            && exec.real.as_ref().is_some_and(|real| *real != exec.asked)
    });
    execs
        .filter_map(|exec| exec.real.as_deref()?.rsplit('/').next())
        .filter(|name| policy.command(name).class == ProgramClass::Tolerated)
        .map(str::to_owned)
        .collect()
}

/// Nothing is refused: a pass, with advice on what is tolerated, looked for or otherwise denied.
fn allowed(evidence: &Evidence, policy: &dyn Allowed) -> Finding {
    let mut by_class = program_list::classes(evidence);
    for name in tolerated_readers(evidence, policy) {
        let tolerated = by_class.entry("tolerated").or_default();
        if !tolerated.contains(&name) {
            tolerated.push(name);
        }
    }
    let told: Vec<String> = [
        (ProgramClass::Listed, "listed"),
        (ProgramClass::Helper, "helpers"),
        (ProgramClass::Tolerated, "tolerated"),
        (ProgramClass::Waived, "waived"),
        (ProgramClass::OwnProduct, "made by itself"),
    ]
    .into_iter()
    .filter_map(|(class, word)| {
        let names: Vec<&str> = by_class.get(word)?.iter().map(String::as_str).collect();
        Some(if class == ProgramClass::OwnProduct {
            format!("{} made by itself", counted(names.len(), "program"))
        } else {
            format!("{} ({word})", words::some(&names, 8))
        })
    })
    .collect();
    let base =
        if told.is_empty() { "it starts no other program".to_owned() } else { told.join("; ") };
    let mut finding = Finding::pass(RULE, base);
    for name in by_class.get("tolerated").into_iter().flatten() {
        finding.status = Status::Advice;
        finding.details.push(format!(
            "{name} is not in rule 7.5; it is tolerated: {}; only --strict refuses it",
            policy.command(name).reason
        ));
    }
    let looking = evidence.runs.iter().filter(|run| !runs::failed_aside(evidence, run));
    let mut absent: Vec<String> = looking.flat_map(|run| wanted_and_absent(run, policy)).collect();
    absent.sort();
    absent.dedup();
    if !absent.is_empty() {
        finding.status = Status::Advice;
        finding.summary = format!(
            "{}; it looked for {}, not installed here, and would be refused where it is",
            finding.summary,
            words::some(&absent, 3)
        );
        finding.help = "do not look for commands that rule 7.5 does not list".into();
        finding = finding.with("looked_for", absent);
    }
    let denials = refused_access::words(evidence);
    if !denials.is_empty() {
        finding.status = Status::Advice;
        finding.summary =
            format!("{}; the sandbox refused it {}", finding.summary, words::some(&denials, 3));
        let more = denials.iter().skip(3).take(9);
        finding.details.extend(more.map(|what| format!("refused: {what}")));
        finding = finding.with("denials", denials);
    }
    finding
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
