//! The reporter: follows every process of an entry by ptrace and writes down what it starts, opens, looks
//! for and is refused. It enforces nothing but the naming of calls that the filter refuses; files and
//! programs are Landlock's business. After exec, `/proc/PID/exe` is the kernel's own word for what runs.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::calls::{
    OwnPlace, Pending, exec, file, hides, is_shared_object, message, other_process,
};
use super::meta;
use super::plan::Seen;
use super::record::{
    MOST_CRASHES, MOST_DENIALS, MOST_DENIED_OPENS, MOST_EXECS, MOST_MADE, MOST_OPENS,
    MOST_OWN_OPENS, MOST_REFUSALS, MOST_TOLD_APART, Raw, RawExec, RawOpen, Told, found_nowhere,
};
use super::shared::Shared;
use super::spawn::{self, Resume};
use super::stop::Stop;
use super::tracee;
use crate::evidence::{Crash, Denial, ExecOutcome, ExitHow, FileAccess, Refusal, Resource, escape};
use crate::units::Bytes;

struct Tracee {
    /// The process that the thread belongs to.
    process: i32,
    parent: i32,
    /// The exec that it runs.
    program: Option<usize>,
    pending: Option<Pending>,
}

/// The tracer of one entry; lives on the thread that cloned it.
pub(super) struct Tracer<'a> {
    shared: &'a Shared,
    entry: i32,
    /// What is the entry's own.
    own: OwnPlace,
    path_dirs: Vec<PathBuf>,
    tracees: HashMap<i32, Tracee>,
    /// Tracees that stopped before their parent's event was read, which then brings nothing new.
    adopted: HashSet<i32>,
    opened: HashSet<(Option<usize>, PathBuf, FileAccess, bool)>,
    /// Names looked for, where, and who looked.
    looked: HashMap<String, (HashSet<PathBuf>, Option<usize>)>,
    found: HashSet<String>,
    /// Where a program that was started again was first written down.
    programs: HashMap<Told, usize>,
    /// Files opened: the host's, refused ones, the entry's own.
    counts: [usize; 3],
    /// The program of the process that had most memory when it was too much.
    greedy: Option<usize>,
    tasks: usize,
    raw: Raw,
}

impl<'a> Tracer<'a> {
    /// A tracer of `entry`, which has been seized and waits for its exec.
    pub(super) fn new(
        shared: &'a Shared,
        entry: i32,
        parent: i32,
        own: OwnPlace,
        path_dirs: Vec<PathBuf>,
        tasks: u32,
    ) -> Tracer<'a> {
        let first = Tracee { process: entry, parent, program: None, pending: None };
        shared.born(entry);
        Tracer {
            shared,
            entry,
            own,
            path_dirs,
            tracees: HashMap::from([(entry, first)]),
            adopted: HashSet::new(),
            opened: HashSet::new(),
            looked: HashMap::new(),
            found: HashSet::new(),
            programs: HashMap::new(),
            counts: [0; 3],
            greedy: None,
            tasks: tasks as usize,
            raw: Raw::default(),
        }
    }

    /// Follows everything until nothing is left.
    pub(super) fn run(mut self) -> Raw {
        while let Some((pid, status)) = spawn::wait_any() {
            if libc::WIFSTOPPED(status) {
                if self.shared.is_killing() {
                    self.shared.kill_one(pid);
                }
                self.stopped(pid, status);
            } else if libc::WIFEXITED(status) {
                self.gone(pid, ExitHow::Status(libc::WEXITSTATUS(status)));
            } else if libc::WIFSIGNALED(status) {
                self.gone(pid, ExitHow::Signal(libc::WTERMSIG(status)));
            }
        }
        if let Some((used, _)) = self.shared.was_over() {
            self.refused_to(self.greedy, Resource::Used(used));
        }
        self.raw.not_installed = found_nowhere(self.looked, &self.found, self.path_dirs.len());
        self.raw
    }

    fn stopped(&mut self, pid: i32, status: i32) {
        let signal = libc::WSTOPSIG(status);
        match status >> 16 {
            0 if signal == libc::SIGTRAP | 0x80 => {
                self.call_ended(pid);
                spawn::resume(pid, Resume::Go, 0);
            }
            0 => {
                self.signalled(pid, signal);
                spawn::resume(pid, Resume::Go, signal);
            }
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
                self.forked(pid);
                self.go_on(pid);
            }
            libc::PTRACE_EVENT_EXEC => {
                self.execed(pid);
                spawn::resume(pid, Resume::Go, 0);
            }
            libc::PTRACE_EVENT_SECCOMP => {
                let how = self.call_begins(pid);
                spawn::resume(pid, how, 0);
            }
            libc::PTRACE_EVENT_STOP => self.event_stop(pid, signal),
            _ => spawn::resume(pid, Resume::Go, 0),
        }
    }

    /// After an event in the middle of a call whose end is awaited, the end must still stop.
    fn go_on(&self, pid: i32) {
        let awaits = self.tracees.get(&pid).is_some_and(|tracee| tracee.pending.is_some());
        spawn::resume(pid, if awaits { Resume::ToCallEnd } else { Resume::Go }, 0);
    }

    fn event_stop(&mut self, pid: i32, signal: i32) {
        if matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) {
            // A real group stop: it stays stopped, as it would without us.
            spawn::resume(pid, Resume::Listen, 0);
        } else if self.tracees.contains_key(&pid) {
            spawn::resume(pid, Resume::Go, 0);
        } else {
            // It stopped before its parent's event was read; and that may never come, if the parent was killed.
            self.adopt(pid);
            spawn::resume(pid, Resume::Go, 0);
        }
    }

    /// Takes on a new tracee that only /proc knows of yet.
    fn adopt(&mut self, pid: i32) {
        let (process, parent) = tracee::family(pid);
        let above = if process == pid { parent } else { process };
        let program = self
            .tracees
            .get(&above)
            .or_else(|| self.tracees.values().find(|tracee| tracee.process == above))
            .and_then(|tracee| tracee.program);
        self.adopted.insert(pid);
        self.tracees.insert(pid, Tracee { process, parent, program, pending: None });
        if process == pid {
            self.shared.born(pid);
        }
    }

    fn forked(&mut self, pid: i32) {
        let Some(child) = message(pid).and_then(|child| i32::try_from(child).ok()) else {
            return;
        };
        let Some(parent) = self.tracees.get(&pid) else {
            return;
        };
        let thread = Path::new(&format!("/proc/{}/task/{child}", parent.process)).exists();
        let process = if thread { parent.process } else { child };
        let program = parent.program;
        let parent = if thread { parent.parent } else { parent.process };
        if self.adopted.remove(&child) {
            // It may have started another program meanwhile, or be gone.
            let raw = &self.raw.execs;
            if let Some(known) = self.tracees.get_mut(&child) {
                let index = known.program;
                if index.and_then(|index| raw.get(index)).is_none_or(|exec| exec.pid != child) {
                    known.program = program;
                    known.parent = parent;
                }
            }
            return;
        }
        self.tracees.insert(child, Tracee { process, parent, program, pending: None });
        if !thread {
            self.shared.born(child);
        }
        if self.tasks < self.tracees.len() {
            let count = self.tracees.len() as u32;
            self.refused(pid, Resource::Tasks(count));
            self.shared.kill();
        }
    }

    fn gone(&mut self, pid: i32, how: ExitHow) {
        let Some(tracee) = self.tracees.remove(&pid) else {
            // Pid 1 of the namespace: nothing is left inside.
            return;
        };
        if tracee.process != pid {
            return;
        }
        if self.shared.was_over().is_some_and(|(_, greedy)| greedy == pid) {
            self.greedy = tracee.program;
        }
        let now = Instant::now();
        if let Some(exec) = tracee.program.and_then(|index| self.raw.execs.get_mut(index))
            && exec.pid == pid
        {
            exec.ended = Some(now);
            exec.exit = Some(how);
        }
        if let ExitHow::Signal(signal) = how
            && signal != libc::SIGKILL
            && signal != libc::SIGPIPE
            && signal != libc::SIGTERM
            && self.raw.crashes.len() < MOST_CRASHES
        {
            let crash = Crash { at: std::time::Duration::ZERO, by: tracee.program, signal };
            self.raw.crashes.push((now, crash));
        }
        self.shared.died(pid, (pid == self.entry).then_some(how));
    }

    fn signalled(&mut self, pid: i32, signal: i32) {
        if signal == libc::SIGILL && tracee::lacks_instruction(pid) {
            self.refused(pid, Resource::Instruction);
        }
    }

    fn refused(&mut self, pid: i32, what: Resource) {
        self.refused_to(self.tracees.get(&pid).and_then(|t| t.program), what);
    }

    fn refused_to(&mut self, by: Option<usize>, what: Resource) {
        let refusal = Refusal { by, what };
        if self.raw.refusals.len() < MOST_REFUSALS && !self.raw.refusals.contains(&refusal) {
            self.raw.refusals.push(refusal);
        }
    }

    fn lazy(&mut self, size: Bytes) {
        let maps = &mut self.raw.lazy_maps;
        if maps.len() < MOST_REFUSALS && !maps.contains(&size) {
            maps.push(size);
        }
    }

    /// A call that the filter makes stop; says how the process goes on.
    fn call_begins(&mut self, pid: i32) -> Resume {
        let Some((stop, compat)) = message(pid).and_then(Stop::from_message) else {
            return Resume::Go;
        };
        let watching = self.shared.is_auditing();
        let always = matches!(
            stop,
            Stop::Exec
                | Stop::ExecAt
                | Stop::Denied
                | Stop::Process
                | Stop::ProcessSecond
                | Stop::Meta
        );
        let may_create = !matches!(stop, Stop::Look | Stop::LookAt | Stop::BigMap | Stop::Clone);
        if !watching && !always && !may_create && stop != Stop::BigMap {
            return Resume::Go;
        }
        let Some(call) = tracee::call(pid, compat) else {
            // It was killed meanwhile; a call that nobody has looked at must not be made.
            self.shared.kill_one(pid);
            return Resume::Go;
        };
        let pending = match stop {
            Stop::Exec => exec(pid, &call, None, 0),
            Stop::ExecAt => exec(pid, &call, Some(call.args[0]), 1),
            Stop::Denied => {
                self.denied(pid, super::names::call_name(&call));
                tracee::refuse(pid, libc::EPERM);
                Some(Pending::Refused)
            }
            Stop::Process | Stop::ProcessSecond => {
                let Some(errno) = other_process(stop, &call, |number| self.is_own_process(number))
                else {
                    return Resume::Go;
                };
                if errno == libc::EPERM {
                    self.denied(pid, super::names::call_name(&call) + " of a foreign process");
                }
                tracee::refuse(pid, errno);
                Some(Pending::Refused)
            }
            Stop::Meta => {
                let errno = match self.own.top().map(|top| meta::answer(pid, &call, top)) {
                    Some(meta::Answer::Ends(errno)) => errno,
                    Some(meta::Answer::Foreign(path)) => {
                        let path = escape(path.as_os_str().as_bytes(), 300);
                        self.denied(pid, format!("{}({path})", super::names::call_name(&call)));
                        libc::EPERM
                    }
                    None => libc::EPERM,
                };
                tracee::refuse(pid, errno);
                Some(Pending::Refused)
            }
            Stop::BigMap => {
                let size = Bytes(call.args[1]);
                if self.shared.lazy_memory() && tracee::reserve_nothing(pid, &call) {
                    self.lazy(size);
                }
                Some(Pending::Map { size })
            }
            Stop::Clone => Some(Pending::Clone),
            Stop::Look => self.look(pid, None, call.args[0]),
            Stop::LookAt => self.look(pid, Some(call.args[0]), call.args[1]),
            _ => file(pid, stop, &call, watching),
        };
        let Some(pending) = pending else {
            return Resume::Go;
        };
        let refused = matches!(pending, Pending::Refused);
        if let Some(tracee) = self.tracees.get_mut(&pid) {
            tracee.pending = (!refused).then_some(pending);
        }
        if refused { Resume::Go } else { Resume::ToCallEnd }
    }

    fn look(&self, pid: i32, dirfd: Option<u64>, address: u64) -> Option<Pending> {
        let path = tracee::path(pid, dirfd, address)?;
        let in_path = path.parent().is_some_and(|dir| self.path_dirs.iter().any(|d| d == dir));
        in_path.then_some(Pending::Look { path })
    }

    fn is_own_process(&self, number: i32) -> bool {
        self.tracees.iter().any(|(task, known)| *task == number || known.process == number)
    }

    fn denied(&mut self, pid: i32, what: String) {
        let by = self.tracees.get(&pid).and_then(|tracee| tracee.program);
        let denials = &mut self.raw.denials;
        if let Some(denial) = denials.iter_mut().find(|d| d.by == by && d.what == what) {
            denial.count = denial.count.saturating_add(1);
        } else if denials.len() < MOST_DENIALS {
            denials.push(Denial { by, what, count: 1 });
        }
    }

    fn call_ended(&mut self, pid: i32) {
        let Some(tracee) = self.tracees.get_mut(&pid) else {
            return;
        };
        let (by, parent, process) = (tracee.program, tracee.parent, tracee.process);
        let Some(pending) = tracee.pending.take() else {
            return;
        };
        let Some(result) = tracee::result(pid) else {
            return;
        };
        let error = if result < 0 { -result as i32 } else { 0 };
        match pending {
            Pending::Exec { asked, argv } => {
                // A successful exec was written down at its event.
                if error != 0 {
                    self.exec_failed(process, parent, by, asked, &argv, error);
                }
            }
            Pending::Open { path, access, creates } => {
                let denied = matches!(error, libc::EACCES | libc::EPERM | libc::EROFS);
                if error == 0
                    && creates
                    && self.raw.made.len() < MOST_MADE
                    && let Some(by) = by
                {
                    self.raw.made.insert(path.clone(), by);
                }
                // Of what does not exist, only libraries tell anything: what a program could not load.
                let missing = error == libc::ENOENT && is_shared_object(&path);
                if (error == 0 || denied || missing) && self.shared.is_auditing() {
                    self.opened(RawOpen { at: Instant::now(), by, path, access, denied, missing });
                }
            }
            Pending::Look { path } => self.path_answer(by, &path, error == 0),
            Pending::Map { size } if error == libc::ENOMEM => {
                self.refused(pid, Resource::Memory(size));
            }
            Pending::Clone if error == libc::EAGAIN => {
                let count = self.tracees.len() as u32;
                self.refused(pid, Resource::Threads(count));
            }
            Pending::Map { .. } | Pending::Clone | Pending::Refused => {}
        }
    }

    fn opened(&mut self, open: RawOpen) {
        let (kind, most) = match (open.denied, self.own.may_hold(&open.path)) {
            (true, _) => (1, MOST_DENIED_OPENS),
            (false, true) => (2, MOST_OWN_OPENS),
            (false, false) => (0, MOST_OPENS),
        };
        let key = (open.by, open.path.clone(), open.access, open.denied);
        if self.counts[kind] < most && self.opened.insert(key) {
            self.counts[kind] += 1;
            self.raw.opens.push(open);
        }
    }

    /// A shell or execvp asked whether a command is in one directory of PATH.
    fn path_answer(&mut self, by: Option<usize>, path: &Path, there: bool) {
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return;
        };
        if !self.path_dirs.iter().any(|d| d == dir) {
            return;
        }
        let name = escape(name.as_encoded_bytes(), 100);
        if there {
            self.found.insert(name);
        } else if self.looked.len() < MOST_DENIALS || self.looked.contains_key(&name) {
            let (places, looker) = self.looked.entry(name).or_default();
            places.insert(dir.to_owned());
            *looker = by;
        }
    }

    fn exec_failed(
        &mut self,
        pid: i32,
        parent: i32,
        by: Option<usize>,
        asked: PathBuf,
        argv: &[Vec<u8>],
        error: i32,
    ) {
        let outcome = match error {
            libc::ENOENT | libc::ENOTDIR => ExecOutcome::NotFound,
            libc::EACCES | libc::EPERM => ExecOutcome::Denied,
            other => ExecOutcome::Failed(other),
        };
        self.path_answer(by, &asked, outcome != ExecOutcome::NotFound);
        let (mut target, mut path) = self.own.resolve(pid, &asked);
        let mut asked = asked;
        let is_own = |file: &Option<std::fs::Metadata>, path: &Option<PathBuf>| {
            self.own.holds(file.as_ref(), path.as_deref())
        };
        // A script of the entry's own was refused because of what should read it: that is what was asked
        // for. (A file without an execute bit is refused for its own sake.) The kernel follows five.
        for _ in 0..5 {
            if outcome != ExecOutcome::NotFound
                && is_own(&target, &path)
                && target.as_ref().is_some_and(|file| file.mode() & 0o111 != 0)
                && let Some(interpreter) = path.as_deref().and_then(|path| self.own.read(pid, path))
            {
                (target, path) = self.own.resolve(pid, &interpreter);
                asked = interpreter;
            } else {
                break;
            }
        }
        let seen = Seen {
            own: is_own(&target, &path),
            inode: target.map(|t| (t.dev(), t.ino())),
            real: path.filter(|_| outcome != ExecOutcome::NotFound),
            argv: argv.iter().map(|a| escape(a, 200)).collect(),
            script: false,
            asked,
        };
        if self.again(&seen, by, outcome).is_some() {
            return;
        }
        let now = Instant::now();
        self.raw.execs.push(RawExec {
            at: now,
            pid,
            parent,
            by,
            seen,
            outcome,
            ended: Some(now),
            exit: None,
            file: None,
        });
    }

    fn execed(&mut self, pid: i32) {
        // A thread that execs becomes the process; its own number is gone without an exit event.
        let former = message(pid).and_then(|m| i32::try_from(m).ok()).unwrap_or(pid);
        let mut pending = None;
        if former != pid
            && let Some(thread) = self.tracees.remove(&former)
        {
            pending = thread.pending;
        }
        let Some(tracee) = self.tracees.get_mut(&pid) else {
            return;
        };
        let pending = pending.or_else(|| tracee.pending.take());
        tracee.pending = None;
        let (asked, argv) = match pending {
            Some(Pending::Exec { asked, argv }) => (asked, argv),
            _ => (PathBuf::new(), Vec::new()),
        };
        let now = Instant::now();
        let (by, parent) = (tracee.program, tracee.parent);
        // The program before ended where it became this one.
        if let Some(before) = by.and_then(|index| self.raw.execs.get_mut(index))
            && before.pid == pid
        {
            before.ended = Some(now);
        }
        let link = format!("/proc/{pid}/exe");
        let real = std::fs::read_link(&link).ok();
        let file = File::open(&link).ok();
        let running = std::fs::metadata(&link);
        let hidden =
            running.as_ref().is_err_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied);
        let running = running.ok();
        let inode = running.as_ref().map(|m| (m.dev(), m.ino()));
        let (target, path) = self.own.resolve(pid, &asked);
        let in_memory = real
            .as_deref()
            .is_some_and(|path| path.as_os_str().as_encoded_bytes().starts_with(b"/memfd:"));
        // What runs cannot always be looked at; then it is nothing but what was asked for.
        let script =
            inode.is_some() && target.as_ref().is_some_and(|m| Some((m.dev(), m.ino())) != inode);
        let own = in_memory
            || self.own.holds(target.as_ref(), path.as_deref())
            || self.own.holds(running.as_ref(), real.as_deref());
        // Of a script, the product is the script and not its interpreter.
        let file = match path {
            Some(path) if script => self.own.open(pid, &path),
            _ => file,
        };
        // Nor can it be listed with its hash.
        let hidden = hidden || (own && !script && file.is_none() && hides(&link));
        self.path_answer(by, &asked, true);
        let seen = Seen {
            asked,
            real,
            inode,
            argv: argv.iter().map(|a| escape(a, 200)).collect(),
            own,
            script,
        };
        let again = self.again(&seen, by, ExecOutcome::Ran);
        if let Some(tracee) = self.tracees.get_mut(&pid) {
            tracee.program = Some(again.unwrap_or(self.raw.execs.len()));
        }
        if hidden {
            // It can be executed and not be looked at, as a file of mode 0111 is: nothing of it could be told.
            self.denied(pid, "a program that cannot be looked at".into());
            self.shared.kill_one(pid);
        }
        if again.is_some() {
            return;
        }
        self.raw.execs.push(RawExec {
            at: now,
            pid,
            parent,
            by,
            file: file.filter(|_| seen.own),
            seen,
            outcome: ExecOutcome::Ran,
            ended: None,
            exit: None,
        });
    }

    /// Where the same start was written down before, once there are many.
    fn again(&mut self, seen: &Seen, by: Option<usize>, outcome: ExecOutcome) -> Option<usize> {
        let count = self.raw.execs.len();
        let starter = by.and_then(|index| self.raw.execs.get(index)).and_then(|e| e.seen.inode);
        let path = if seen.inode.is_some() { PathBuf::new() } else { seen.asked.clone() };
        let told = (seen.inode, path, seen.argv.first().cloned(), starter, outcome);
        if let Some(first) = self.programs.get(&told) {
            return (count >= MOST_TOLD_APART).then_some(*first);
        }
        if count >= MOST_EXECS {
            let what = format!("more than {MOST_EXECS} different programs (it was killed)");
            if !self.raw.denials.iter().any(|denial| denial.what == what) {
                self.raw.denials.push(Denial { by, what, count: 1 });
            }
            self.shared.kill();
            return Some(count.saturating_sub(1));
        }
        self.programs.insert(told, count);
        None
    }
}
