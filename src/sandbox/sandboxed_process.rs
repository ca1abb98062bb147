//! A started entry: its state, its end, and the report of what the tracer saw.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::unistd::pipe2;

use crate::model::evidence::{
    Exec, ExitHow, FileOpen, LeftProcess, ProgramClass, RecordPart, Refusal, Resource,
};
use crate::model::lock::lock;
use crate::model::text::escape;
use crate::model::units::Bytes;
use crate::sandbox::child;
use crate::sandbox::child_setup::{HostReady, HostSettings};
use crate::sandbox::fs::workspace::{Workspace, setup};
use crate::sandbox::inspect::files::Sums;
use crate::sandbox::inspect::process;
use crate::sandbox::inspect::residue::{self, Remains};
use crate::sandbox::launch::{StartedEntry, launch};
use crate::sandbox::limits::cgroup::Group;
use crate::sandbox::limits::cpu::CpuTimes;
use crate::sandbox::plan::{
    CacheCandidate, Confined, FileMaker, Launcher, Pipes, Programs, SandboxError, SeenProgram,
    StartPlan, Streams, Traces,
};
use crate::sandbox::supervise::StartOutcome;
use crate::sandbox::trace::calls::is_shared_object;
use crate::sandbox::trace::record::{
    MOST_MADE, MOST_OF_A_PATH, MOST_TOLD_APART, MadeBy, RawExec, RawOpen, RawRecord,
};
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

    /// Starts an entry on streams that the caller already has; the descriptor becomes readable when its
    /// first process has ended.
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
        CpuTimes::of(ended, live)
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
        let RawRecord {
            execs,
            opens,
            denials,
            mut refusals,
            lazy_maps,
            crashes,
            not_installed,
            made,
            written,
        } = raw;
        if let Some(limit) = self.group.as_ref().and_then(|group| group.ran_out())
            && !refusals.iter().any(|refusal| matches!(refusal.what, Resource::Used(_)))
        {
            // The kernel counts those of a group's limit among the host's.
            refusals.retain(|refusal| refusal.what != Resource::NoneLeft);
            refusals.push(Refusal { by: None, what: Resource::Used(limit) });
        }
        let mut known: Vec<Exec> = Vec::with_capacity(execs.len());
        let mut serve_libraries: HashMap<usize, Vec<PathBuf>> = HashMap::new();
        let mut readers: HashMap<usize, String> = HashMap::new();
        let mut sums = Sums::new();
        let first = execs.first().filter(|first| first.seen.own && first.seen.script);
        let reader = first.map(|first| self.programs.classify(&interpreter(&first.seen), &[]).1);
        for (index, raw) in execs.into_iter().enumerate() {
            let reader = self.reader(&raw.seen);
            let in_starter = raw.seen.starter_libraries.clone();
            let (exec, served) =
                self.describe(raw, &known, (&serve_libraries, &readers), &mut sums);
            serve_libraries.extend(served.then_some((index, in_starter)));
            readers.extend(reader.map(|reader| (index, reader)));
            known.push(exec);
        }
        let maker = |path: &Path| {
            made.get(path).and_then(|by| known.get(by.program)).map(|exec| exec.name.clone())
        };
        let home = self.workspace.home();
        // A script of the entry's own writes by the program that reads it.
        let reader = reader.as_deref();
        // A product of the entry's own is no program of the system, whatever it is called.
        let own = |by: &str| {
            known.iter().any(|exec| exec.class == ProgramClass::OwnProduct && exec.name == by)
        };
        // Of so many starts, one of them stands for others that may have had other arguments.
        let has_arguments = known.len() < MOST_TOLD_APART;
        let cache_of = |remains: &Remains<'_>, by: MadeBy| {
            let exec = known.get(by.program)?;
            let name = Some(exec.name.as_str());
            let name =
                if name == Some(ENTRY) { reader.or(name) } else { name.filter(|by| !own(by)) };
            let is_its = |open: &&RawOpen| {
                open.by.is_some_and(|it| it == by.program || it == by.alike)
                    && !(open.own || open.denied || open.missing)
                    && is_shared_object(&open.path)
            };
            let opened = opens.iter().filter(is_its).map(|open| &open.path);
            let served = serve_libraries.get(&by.program).into_iter().flatten();
            let opened: Vec<&str> = opened.chain(served).filter_map(|path| path.to_str()).collect();
            // A compiler starts itself once more, with more words than are kept, which it makes of its own.
            let starter = exec.by.and_then(|by| known.get(by)).filter(|by| by.name == exec.name);
            let is_whole = exec.argv.len() < FileMaker::MOST_ARGUMENTS;
            let told = starter.filter(|_| !is_whole).unwrap_or(exec);
            let argv = has_arguments.then_some(told.argv.as_slice());
            self.programs.cache(&CacheCandidate {
                path: remains.shown,
                home,
                size: remains.size,
                head: remains.head,
                maker: Some(FileMaker { name, argv, opened: &opened }),
            })
        };
        let cache = |remains: &Remains<'_>| {
            // Beyond the bound, others may have written to a file than those that are known.
            if written.len() >= MOST_MADE {
                return None;
            }
            let writer = remains.head.and(remains.inode).and_then(|inode| written.get(&inode));
            let maker = *made.get(remains.inside).or(writer)?;
            let exempt = cache_of(remains, maker)?;
            // Whoever wrote to it last, by whatever name, must be one who writes such caches, too.
            let is_writer = |by: &MadeBy| *by == maker || cache_of(remains, *by).is_some();
            writer.is_none_or(is_writer).then_some(exempt)
        };
        let of_the_entry = |by: Option<usize>| {
            by.and_then(|i| known.get(i)).is_none_or(|exec| !self.programs.looks_around(&exec.name))
        };
        let not_installed = not_installed
            .into_iter()
            .filter(|(_, by)| of_the_entry(*by))
            .map(|(name, _)| name)
            .collect();
        let left = residue::scan(&self.workspace.watched(), residue::LONGEST, maker, cache);
        if !left.complete {
            let what = Resource::Unrecorded(RecordPart::LeftFiles);
            refusals.push(Refusal { by: None, what });
        }
        let since = |at: Instant| at.saturating_duration_since(self.at);
        Traces {
            launch_failure,
            opens: opens
                .into_iter()
                .map(|open| FileOpen {
                    at: since(open.at),
                    by: open.by,
                    path: escape(open.path.as_os_str().as_encoded_bytes(), MOST_OF_A_PATH),
                    own: open.own,
                    access: open.access,
                    denied: open.denied,
                    missing: open.missing,
                    opener: open.opener,
                })
                .collect(),
            not_installed,
            denials,
            refusals,
            lazy_maps,
            crashes: crashes
                .into_iter()
                .map(|(at, mut crash)| {
                    crash.at = since(at);
                    crash
                })
                .collect(),
            left_files: left.files,
            execs: known,
        }
    }
}

impl SandboxedProcess {
    /// The listed command that reads a script of the entry's own: what it starts by itself, it starts whoever wrote the script.
    fn reader(&self, seen: &SeenProgram) -> Option<String> {
        let (class, name) =
            (seen.own && seen.script).then(|| self.programs.classify(&interpreter(seen), &[]))?;
        (class == ProgramClass::Listed).then_some(name)
    }

    /// The program of a record, and whether a library in its starter's memory starts it by itself. Of the programs before it are told
    /// those that are of that kind (what they start in turn, the entry starts), and the commands that read those that are scripts.
    fn describe(
        &self,
        raw: RawExec,
        known: &[Exec],
        (serve_libraries, readers): (&HashMap<usize, Vec<PathBuf>>, &HashMap<usize, String>),
        sums: &mut Sums,
    ) -> (Exec, bool) {
        let index = known.len();
        let seen = &raw.seen;
        let mut above_it = Vec::new();
        let mut above = raw.by;
        while let Some((at, exec)) = above.and_then(|at| Some((at, known.get(at)?))) {
            let served = serve_libraries.contains_key(&at);
            let class = if served { ProgramClass::Refused } else { exec.class };
            if let Some(reader) = readers.get(&at) {
                above_it.push((reader.clone(), ProgramClass::Listed));
            }
            above_it.push((exec.name.clone(), class));
            above = exec.by;
        }
        let (mut class, mut name) = self.programs.classify(seen, &above_it);
        // Code of the entry's own has started it, in the memory of the program that may. Where the arguments are fixed, it does what it
        // would do for that program.
        let is_by_own_code =
            |helper: &str| raw.own_code && !self.programs.has_fixed_arguments(helper);
        if seen.own && seen.script {
            // The program that reads a script of the entry's own must be allowed as well.
            let (its_class, its_name) = self.programs.classify(&interpreter(seen), &above_it);
            if its_class == ProgramClass::Refused
                || its_class == ProgramClass::Helper && is_by_own_code(&its_name)
            {
                (class, name) = (ProgramClass::Refused, its_name);
            }
        }
        if class == ProgramClass::Helper && is_by_own_code(&name) {
            class = ProgramClass::Refused;
        }
        let refused = class == ProgramClass::Refused;
        let served = refused.then(|| self.programs.serves_library(seen)).flatten();
        let serves_library = served.is_some();
        if let Some(helper) = served {
            (class, name) = (ProgramClass::Helper, helper);
        }
        if index == 0 && seen.own && class != ProgramClass::Refused {
            (class, name) = (ProgramClass::Entry, ENTRY.into());
        }
        let exec = Exec {
            at: raw.at.saturating_duration_since(self.at),
            pid: raw.pid,
            parent: raw.parent,
            by: raw.by,
            asked: escape(raw.seen.asked.as_os_str().as_encoded_bytes(), 300),
            real: raw.seen.real.as_ref().map(|p| escape(p.as_os_str().as_encoded_bytes(), 300)),
            script: seen.own && seen.script,
            argv: raw.seen.argv,
            outcome: raw.outcome,
            class,
            name: escape(name.as_bytes(), 300),
            lasted: raw.ended.map(|end| end.saturating_duration_since(raw.at)),
            exit: raw.exit,
            product: raw.product.and_then(|inode| sums.of(inode, raw.file)),
        };
        (exec, serves_library)
    }
}

/// The name of the entry's own program.
const ENTRY: &str = "entry";

/// The program that reads a script.
fn interpreter(script: &SeenProgram) -> SeenProgram {
    let asked = script.real.clone().unwrap_or_default();
    let argv = script.reader_argv.clone();
    SeenProgram { asked, argv, own: false, script: false, ..script.clone() }
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
