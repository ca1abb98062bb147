//! An entry that is started to play, not to be judged: by hand (`gate4k run`), or by a runner of games. The sandbox is
//! the one of a check, with the programs that a waiver grants to the entry.

use std::path::Path;
use std::sync::{Arc, Mutex};

use super::by_games;
use super::error::CheckError;
use super::host::{Host, HostFor};
use super::read::ReadEntry;
use super::{Judge, mistaken_file};
use crate::model::evidence::{
    Breach, Exec, ExecOutcome, LeftByProcess, ProgramClass, Resource, Shell,
};
use crate::model::layer_status as status;
use crate::model::lock::lock;
use crate::model::text::shown;
use crate::model::units::Bytes;
use crate::model::verdict::Status;
use crate::sandbox::plan::{
    Audit, Confined, Launcher, Pipes, SandboxError, Staging, StartPlan, Traces,
};
use crate::submission::Submission;

/// An entry that may be started in a game.
pub(crate) struct PlayableEntry {
    /// Its file and configuration.
    pub(crate) submission: Submission,
    /// The sandbox that starts it.
    pub(crate) launcher: Arc<dyn Launcher + Send + Sync>,
    pub(crate) plan: StartPlan,
}

/// An entry that runs, whoever speaks to it.
pub(crate) struct LaunchedEntry {
    /// Its process, with all that it started.
    pub(crate) confined: Box<dyn Confined>,
    /// The ends of its pipes.
    pub(crate) pipes: Pipes,
    /// Remarks for the caller, a line each.
    pub(crate) notes: Vec<String>,
}

impl Judge {
    /// Reads an entry as it is now, to be played without a verdict. `memory` limits it below the host's own limit.
    pub(crate) fn playable(
        self: &Arc<Self>,
        path: &Path,
        memory: Option<Bytes>,
    ) -> Result<PlayableEntry, CheckError> {
        let read = self.entry(path)?;
        let wanted = self.host_for(path, &read.submission, memory);
        let host = self.host(wanted.clone());
        if !host.landlock {
            return Err(CheckError::Sandbox(SandboxError::Missing {
                what: "this host has no Landlock that could confine an entry".into(),
                next: "play on a host with Linux 6.2 or newer and Landlock".into(),
            }));
        }
        let now = Mutex::new(HostNow { host, replaced: Vec::new() });
        let launcher = Arc::new(PresentHost { judge: Arc::clone(self), wanted, now });
        let plan = plan(&read);
        Ok(PlayableEntry { submission: read.submission, launcher, plan })
    }

    /// Starts an entry.
    ///
    /// # Errors
    /// When there is no entry of the right shape at `path`, or this host cannot confine it.
    pub(crate) fn launch(&self, path: &Path) -> Result<LaunchedEntry, CheckError> {
        let (read, single) = self.read(path)?;
        let whole = read.filter(|read| read.submission.is_whole());
        let (Some(read), true) = (whole, single.status == Status::Pass) else {
            let what = if single.status == Status::Pass {
                "it is far larger than an entry can be".to_owned()
            } else {
                single.summary
            };
            return Err(CheckError::Configuration(
                format!("{}: not an entry: {what}", shown(path)).into(),
            ));
        };
        let host = self.host(self.host_for(path, &read.submission, None));
        let missing = |what: String| {
            let next = "run `gate4k doctor` for what this host lacks and how to get it".to_owned();
            CheckError::Sandbox(SandboxError::Missing { what, next })
        };
        if !host.landlock {
            return Err(missing("this host has no Landlock that could confine an entry".into()));
        }
        let unmet = status::unmet(&self.settings.required, &host.facts.layers);
        if !unmet.is_empty() {
            return Err(missing(format!("--require: {}", unmet.join("; "))));
        }
        let (confined, pipes) = host.sandbox.launch(&plan(&read))?;
        let mut notes: Vec<String> = mistaken_file::hint(&read.submission).into_iter().collect();
        if !read.payload.fields.is_empty() {
            notes.push(
                "of engines.json nothing is sent: options and initStrings are for whoever speaks to \
                 the engine"
                    .to_owned(),
            );
        }
        Ok(LaunchedEntry { confined, pipes, notes })
    }

    fn host_for(&self, path: &Path, submission: &Submission, memory: Option<Bytes>) -> HostFor {
        let waivers = self.waivers(path, submission);
        HostFor { memory, ..HostFor::of(submission, &waivers) }
    }
}

/// Starts an entry on the host as it is at each start: games go on for days, and packages are upgraded meanwhile.
struct PresentHost {
    judge: Arc<Judge>,
    wanted: HostFor,
    now: Mutex<HostNow>,
}

/// The host as it was at the last start.
struct HostNow {
    host: Arc<Host>,
    /// The programs and files that were replaced since the first.
    replaced: Vec<String>,
}

impl PresentHost {
    /// Looks at the host anew where an allowed program or library is another by now.
    fn look(&self) -> (Arc<Host>, Vec<String>) {
        let mut now = lock(&self.now);
        let replaced = now.host.tools.replaced();
        if !replaced.is_empty() {
            now.replaced.extend(replaced);
            now.host = self.judge.host(self.wanted.clone());
        }
        (Arc::clone(&now.host), now.replaced.clone())
    }
}

impl Launcher for PresentHost {
    fn launch(&self, plan: &StartPlan) -> Result<(Box<dyn Confined>, Pipes), SandboxError> {
        self.look().0.sandbox.launch(plan)
    }

    fn replaced(&self) -> Vec<String> {
        self.look().1
    }

    fn breaches(&self, left: &LeftByProcess) -> Vec<Breach> {
        // By the host as it was at the last start.
        let host = Arc::clone(&lock(&self.now).host);
        by_games::breaches(left, &host.facts, &*host.tools, self.judge.settings.strict)
    }
}

fn plan(read: &ReadEntry) -> StartPlan {
    StartPlan {
        bytes: Arc::clone(&read.submission.bytes),
        staging: Staging::Neutral,
        shell: Shell::AsIs,
        audit: Audit::ProgramsOnly,
    }
}

/// The refusals of the sandbox in a run, a line each.
pub(crate) fn refused(traces: &Traces) -> Vec<String> {
    let by = |by: Option<usize>| match by.and_then(|index| traces.execs.get(index)) {
        Some(exec) => format!(" (by {})", exec.name),
        None => String::new(),
    };
    let program = |exec: &Exec| match exec.outcome {
        // A program that is refused by class ran only where the kernel could not tell it from an allowed one.
        ExecOutcome::Ran if exec.class == ProgramClass::Refused => Some("ran, and is not allowed"),
        ExecOutcome::Denied if exec.class == ProgramClass::Refused => Some("refused"),
        _ => None,
    };
    let mut lines = Vec::new();
    for exec in &traces.execs {
        if let Some(word) = program(exec) {
            let line = format!("program {word}: {}{}", exec.asked, by(exec.by));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines.extend(
        traces.denials.iter().map(|denial| format!("refused: {}{}", denial.what, by(denial.by))),
    );
    lines.extend(
        traces.lazy_maps.iter().map(|size| {
            format!("--lazy-memory: {} were mapped without being reserved", size.human())
        }),
    );
    lines.extend(traces.refusals.iter().filter_map(|refusal| match refusal.what {
        Resource::Unrecorded(record) => Some(format!("not all of it was seen: {record}")),
        _ => None,
    }));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing::exec;
    use crate::model::evidence::{Denial, RecordPart, Refusal};
    use crate::model::units::Bytes;

    #[test]
    fn each_refusal_is_told_once_with_who_asked() {
        let mut traces = Traces {
            execs: vec![
                exec(None, "sh", ProgramClass::Entry),
                exec(Some(0), "sed", ProgramClass::Refused),
                exec(Some(0), "sed", ProgramClass::Refused),
                exec(Some(0), "cat", ProgramClass::Refused),
            ],
            denials: vec![Denial { by: Some(0), what: "mount".into(), count: 9 }],
            lazy_maps: vec![Bytes(256 << 30)],
            refusals: vec![Refusal { by: None, what: Resource::Unrecorded(RecordPart::Tracer) }],
            ..Traces::default()
        };
        for exec in &mut traces.execs[1..3] {
            exec.outcome = ExecOutcome::Denied;
        }
        traces.execs[3].outcome = ExecOutcome::NotFound;
        let lines = refused(&traces);
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[0].starts_with("program refused: ") && lines[0].ends_with(" (by sh)"));
        assert_eq!(lines[1], "refused: mount (by sh)");
        assert!(lines[2].contains("256") && lines[3].contains("given up"), "{lines:?}");
    }
}
