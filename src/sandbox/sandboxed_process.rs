//! A started entry: its state, its end, and the report of what the tracer saw.

use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::unistd::pipe2;

use crate::model::evidence::{
    ExitHow, FatalSignal, FileOpen, LeftProcess, RecordPart, Refusal, Resource,
};
use crate::model::lock::lock;
use crate::model::text::escape;
use crate::model::units::Bytes;
use crate::sandbox::cache_makers::CacheMakers;
use crate::sandbox::child;
use crate::sandbox::child_setup::{HostReady, HostSettings};
use crate::sandbox::described::DescribedPrograms;
use crate::sandbox::fs::workspace::{Workspace, setup};
use crate::sandbox::inspect::process;
use crate::sandbox::inspect::residue;
use crate::sandbox::launch::{StartedEntry, launch};
use crate::sandbox::limits::cgroup::Group;
use crate::sandbox::limits::cpu::CpuTimes;
use crate::sandbox::plan::{
    Confined, Launcher, Pipes, Programs, SandboxError, StartPlan, Streams, Traces,
};
use crate::sandbox::supervise::StartOutcome;
use crate::sandbox::trace::record::{MOST_OF_A_PATH, RawOpen};
use crate::sandbox::trace::shared::TreeState;
use crate::sandbox::watchdog::EntryTree;

/// Starts entries confined on this host.
pub struct Sandbox {
    host: Arc<HostReady>,
    programs: Arc<dyn Programs>,
}

impl Sandbox {
    /// A sandbox with these grants, whose events are named by `programs`.
    pub fn new(host: HostSettings, programs: Arc<dyn Programs>) -> Sandbox {
        if !host.namespaces {
            // Orphans of the entry come to us, to be reaped by the tracer.
            let _ = nix::sys::prctl::set_child_subreaper(true);
        }
        child::trim();
        Sandbox { host: Arc::new(HostReady::new(host)), programs }
    }

    /// Starts an entry on streams that the caller has made; the descriptor becomes readable when its first process has ended.
    /// No stream may be a stranger's: the entry can change whatever file or terminal it is.
    ///
    /// # Errors
    /// As [`Launcher::launch`].
    pub(crate) fn attach(
        &self,
        plan: &StartPlan,
        streams: Streams,
    ) -> Result<(Box<dyn Confined>, OwnedFd), SandboxError> {
        let StartedEntry { at, workspace, shared, outcome, group, ended, tree } =
            launch(&self.host, plan, &streams)?;
        let (outcome, programs) = (Mutex::new(outcome), Arc::clone(&self.programs));
        let process = SandboxedProcess { at, workspace, group, shared, outcome, programs, tree };
        Ok((Box::new(process), ended))
    }
}

/// Makes the pipes to an entry: its ends, and ours but for what its start will bring.
fn pipes() -> Result<(Streams, [OwnedFd; 3]), SandboxError> {
    let pipe = || pipe2(OFlag::O_CLOEXEC).map_err(|e| setup("making a pipe")(e.into()));
    let ((stdin_child, stdin), (stdout, stdout_child), (stderr, stderr_child)) =
        (pipe()?, pipe()?, pipe()?);
    let theirs = Streams { stdin: stdin_child, stdout: stdout_child, stderr: stderr_child };
    Ok((theirs, [stdin, stdout, stderr]))
}

impl Launcher for Sandbox {
    fn launch(&self, plan: &StartPlan) -> Result<(Box<dyn Confined>, Pipes), SandboxError> {
        let (theirs, [stdin, stdout, stderr]) = pipes()?;
        let (confined, ended) = self.attach(plan, theirs)?;
        Ok((confined, Pipes { stdin, stdout, stderr, ended }))
    }
}

/// The time that the tracer may take to end after everything was killed.
const END_OF_TRACER: Duration = Duration::from_secs(60);
/// Between two looks whether it was given up.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

struct SandboxedProcess {
    at: Instant,
    workspace: Workspace,
    group: Option<Arc<Group>>,
    shared: Arc<TreeState>,
    outcome: Mutex<Receiver<StartOutcome>>,
    programs: Arc<dyn Programs>,
    #[expect(dead_code, reason = "watched as long as it is kept")]
    tree: Arc<EntryTree>,
}

impl SandboxedProcess {
    fn join(&self) -> Option<StartOutcome> {
        self.shared.kill();
        let outcome = lock(&self.outcome);
        let end = Instant::now() + END_OF_TRACER;
        loop {
            // The message comes once; afterwards nobody is there to send another.
            match outcome.recv_timeout(LOOK_AGAIN) {
                Ok(outcome) => return Some(outcome),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if self.shared.is_stuck() => return None,
                Err(RecvTimeoutError::Timeout) if Instant::now() > end => {
                    self.shared.give_up();
                    return None;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Drop for SandboxedProcess {
    fn drop(&mut self) {
        let _ = self.join();
    }
}

impl Confined for SandboxedProcess {
    fn started(&self) -> Instant {
        self.at
    }

    fn start_is_over(&self) {
        self.shared.stop_auditing();
    }

    fn wait_first(&self, deadline: Instant) -> Option<ExitHow> {
        self.shared.wait_first(deadline)
    }

    fn wait_empty(&self, deadline: Instant) -> bool {
        self.shared.wait_empty(deadline)
    }

    fn processes(&self) -> Vec<LeftProcess> {
        let live = self.shared.live().into_iter().filter_map(left_process);
        // The kernel tells one that is stopped from one that we look at for a moment only to its tracer.
        let told = live.map(|process| match self.shared.has_stopped(process.pid) {
            true => LeftProcess { state: LeftProcess::STOPPED, ..process },
            false => process,
        });
        told.collect()
    }

    fn threads(&self) -> usize {
        // The engine is one of them; what a stub left behind (`sleep 3`) has a thread as well, but none that works.
        let all = self.shared.live();
        all.into_iter().map(|pid| process::threads(pid).len()).max().unwrap_or(1).max(1)
    }

    fn cpu_times(&self) -> CpuTimes {
        let (ended, live) = self.shared.processor_times();
        CpuTimes::of(ended, self.shared.tracers_work(), live)
    }

    fn waits_for_input(&self) -> bool {
        process::wait_for_input(&self.shared.live())
    }

    fn resident(&self) -> Bytes {
        crate::sandbox::limits::memory::resident(&self.shared.live())
    }

    fn unchanged_for(&self) -> Duration {
        self.shared.unchanged_for()
    }

    fn signal(&self, signal: i32) {
        self.shared.signal_first(signal);
    }

    fn kill(&self) {
        if let Some(group) = &self.group {
            group.kill();
        }
        self.shared.kill();
        // Killed processes end at once; the bound is for one that sleeps in the kernel.
        self.shared.wait_empty(Instant::now() + Duration::from_secs(5));
    }

    fn close(self: Box<Self>) -> Traces {
        let Some(StartOutcome { raw, launch_failure }) = self.join() else {
            let what = Resource::Unrecorded(RecordPart::Tracer);
            return Traces { refusals: vec![Refusal { by: None, what }], ..Traces::default() };
        };
        let mut refusals = self.refusals(raw.refusals);
        let described = DescribedPrograms::new(&*self.programs, self.at, raw.execs);
        let makers = CacheMakers {
            described: &described,
            some_stand_for_others: raw.some_stand_for_others,
            opens: &raw.opens,
            made: &raw.made,
            written: &raw.written,
            home: self.workspace.home(),
        };
        let left = residue::scan(
            &self.workspace.watched(),
            residue::LONGEST,
            |path| makers.name_of_maker(path),
            |remains| makers.exempting_line(remains),
        );
        if !left.complete {
            let what = Resource::Unrecorded(RecordPart::LeftFiles);
            refusals.push(Refusal { by: None, what });
        }
        let since = |at: Instant| at.saturating_duration_since(self.at);
        let opened = |open: RawOpen| FileOpen {
            at: since(open.at),
            by: open.by,
            path: escape(open.path.as_os_str().as_encoded_bytes(), MOST_OF_A_PATH),
            own: open.own,
            access: open.access,
            denied: open.denied,
            missing: open.missing,
            opener: open.opener,
        };
        let crashed = |(at, crash): (Instant, FatalSignal)| FatalSignal { at: since(at), ..crash };
        let missed = raw.not_installed.into_iter().filter(|(_, by)| !described.looks_around(*by));
        Traces {
            launch_failure,
            not_installed: missed.map(|(name, _)| name).collect(),
            opens: raw.opens.into_iter().map(opened).collect(),
            denials: raw.denials,
            refusals,
            lazy_maps: raw.lazy_maps,
            crashes: raw.crashes.into_iter().map(crashed).collect(),
            left_files: left.files,
            execs: described.into_execs(),
        }
    }
}

impl SandboxedProcess {
    /// The refusals of a record, with the limit of the control group that ran out.
    fn refusals(&self, mut refusals: Vec<Refusal>) -> Vec<Refusal> {
        if let Some(limit) = self.group.as_ref().and_then(|group| group.ran_out())
            && !refusals.iter().any(|refusal| matches!(refusal.what, Resource::Used(_)))
        {
            // The kernel counts those of a group's limit among the host's.
            refusals.retain(|refusal| refusal.what != Resource::NoneLeft);
            refusals.push(Refusal { by: None, what: Resource::Used(limit) });
        }
        refusals
    }
}

fn left_process(pid: i32) -> Option<LeftProcess> {
    // The process goes on while any thread of it does; then the first one may have ended and tells nothing.
    let thread = process::living_thread(pid)?;
    let stat = process::text(thread, "stat").ok()?;
    let state = process::after_name(&stat)?.next()?.chars().next()?;
    let words: Vec<String> = process::command_line(thread)
        .iter()
        .filter(|word| !word.is_empty())
        .map(|word| escape(word, 100))
        .collect();
    let command = if words.is_empty() {
        let (head, _) = stat.rsplit_once(')')?;
        head.split_once('(').map(|(_, name)| escape(name.as_bytes(), 100)).unwrap_or_default()
    } else {
        words.join(" ")
    };
    Some(LeftProcess { pid, state, command })
}
