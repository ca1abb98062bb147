//! The processes behind engines of games: how they are started, ended and looked at. Trusted ones are plain
//! processes in a group of their own; entries live in the sandbox. Both give the same pipes, so nothing behind this
//! file knows the difference.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{AccessFlags, Pid, access};
use rustix::process::{WaitId, WaitIdOptions, waitid};

use super::frozen_file::FrozenFile;
use super::group_guard::GroupGuard;
use super::memory::Limit;
use crate::model::evidence::{Departure, ExitHow, LeftByProcess, Refusal, Resource};
use crate::model::secret;
use crate::model::units::Bytes;
use crate::sandbox::cpu::CpuTimes;
use crate::sandbox::plan::{Confined, Launcher, Pipes, SandboxError, StartPlan, Traces};

/// The way in which an engine is started.
#[derive(Clone)]
pub(crate) enum EngineStart {
    /// A program that is trusted: it may do what the user may.
    Trusted(EngineProgram),
    /// An entry, confined.
    Entry(Arc<dyn Launcher + Send + Sync>, StartPlan),
}

/// A program with its words and surroundings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EngineProgram {
    /// The program: a path, or a name looked for along PATH.
    pub(crate) command: PathBuf,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
    /// The folder that it runs in; the current one if none is named.
    pub(crate) directory: Option<PathBuf>,
    /// Variables set besides ours.
    pub(crate) environment: BTreeMap<String, String>,
    /// The memory that all its processes may really use together; it is killed where they use more.
    pub(crate) memory: Option<Bytes>,
    /// Its files that may not change; none outside an event.
    pub(crate) frozen: Vec<FrozenFile>,
}

/// A started engine.
pub(crate) trait EngineProcess: Send {
    /// The end of the first process, if it has ended or does until the deadline.
    fn exit(&mut self, deadline: Instant) -> Option<ExitHow>;
    /// The threads it runs now.
    fn threads(&self) -> usize;
    /// The processor time that all it started has used, threads and processes that have ended included; none where that
    /// is not kept.
    fn computed(&self) -> Option<Duration> {
        None
    }
    /// Its process number, where it has one that means something outside.
    fn pid(&self) -> Option<u32>;
    /// The start is over: what is only watched then need be watched no more.
    fn is_up(&self) {}
    /// Kills it and all it started; returns when it is gone, with the record of what it did, where that was watched.
    fn kill(&mut self) -> LeftByProcess;
    /// After `quit`: waits until all that it started has ended, or `until`, then kills the rest. Says what it left, where that is
    /// watched.
    fn leave(&mut self, _until: Instant) -> LeftByProcess {
        self.kill()
    }
}

/// An engine that was not started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// A program that cannot be run, with what to do.
    #[error("{0}")]
    Program(String),
    /// A sandbox that cannot be built: the host's fault and no engine's.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
}

/// Starts an engine.
///
/// # Errors
/// See [`StartError`].
pub(crate) fn start(how: &EngineStart) -> Result<(Box<dyn EngineProcess>, Pipes), StartError> {
    match how {
        EngineStart::Trusted(program) => {
            TrustedProcess::start(program).map_err(StartError::Program)
        }
        EngineStart::Entry(launcher, plan) => {
            let (confined, pipes) = launcher.launch(plan)?;
            Ok((Box::new(ConfinedProcess { confined: Some(confined) }), pipes))
        }
    }
}

struct TrustedProcess {
    child: Child,
    exit: Option<ExitHow>,
    /// Watches what it uses, where that is limited.
    limit: Option<Limit>,
    /// The memory that it used, where that was too much.
    exceeded: Option<Bytes>,
    guard: GroupGuard,
}

impl EngineProgram {
    /// Looks for the program's file, which may be run, without running it.
    ///
    /// # Errors
    /// Names it, with what to do.
    pub(crate) fn look(&self) -> Result<PathBuf, String> {
        let place = self.directory.as_deref().unwrap_or(Path::new(""));
        let runs = |path: &PathBuf| path.is_file() && access(path, AccessFlags::X_OK).is_ok();
        let found = if self.command.components().count() > 1 || self.command.is_absolute() {
            Some(place.join(&self.command)).filter(runs)
        } else {
            let own = self.environment.get("PATH").map(OsString::from);
            let all = own.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
            std::env::split_paths(&all)
                .map(|dir| place.join(dir).join(&self.command))
                .find(|path| runs(path))
        };
        let shown = crate::model::text::shown(&self.command);
        found.ok_or_else(|| {
            format!(
                "cannot run {shown}: there is no such program, or it may not be executed; check the command"
            )
        })
    }
}

impl TrustedProcess {
    fn start(program: &EngineProgram) -> Result<(Box<dyn EngineProcess>, Pipes), String> {
        let mut command = Command::new(&program.command);
        command
            .args(&program.arguments)
            .envs(&program.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own: a Ctrl-C at the terminal is for us, and wrappers die with what they wrap.
            .process_group(0);
        secret::keep_from(&mut command);
        if let Some(directory) = &program.directory {
            command.current_dir(directory);
        }
        let failed = |why: &dyn std::fmt::Display| {
            let shown = crate::model::text::shown(&program.command);
            format!("cannot run {shown}: {why}; check the command and that it may be executed")
        };
        let mut child = spawn(&mut command).map_err(|why| failed(&why))?;
        let pipes = TrustedProcess::pipes(&mut child);
        let limit = program.memory.and_then(|most| Limit::watch(child.id(), most));
        let guard = GroupGuard::of(child.id());
        let mut process = TrustedProcess { child, exit: None, limit, exceeded: None, guard };
        match pipes {
            Ok(pipes) => Ok((Box::new(process), pipes)),
            Err(why) => {
                process.kill();
                Err(failed(&why))
            }
        }
    }

    fn pipes(child: &mut Child) -> std::io::Result<Pipes> {
        let lost = || std::io::Error::other("a pipe is missing");
        let pid = i32::try_from(child.id()).ok();
        let pid = pid.and_then(rustix::process::Pid::from_raw).ok_or_else(lost)?;
        let ended = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())?;
        Ok(Pipes {
            stdin: OwnedFd::from(child.stdin.take().ok_or_else(lost)?),
            stdout: OwnedFd::from(child.stdout.take().ok_or_else(lost)?),
            stderr: OwnedFd::from(child.stderr.take().ok_or_else(lost)?),
            ended,
        })
    }

    /// Ends the watching, before the process is waited for.
    fn unwatch(&mut self) {
        if let Some(limit) = self.limit.take() {
            self.exceeded = self.exceeded.or_else(|| limit.exceeded());
        }
    }

    fn reap(&mut self) {
        if self.exit.is_some() {
            return;
        }
        // Still unwaited for while it is watched, so that its number can be no other's.
        let ended =
            rustix::process::Pid::from_raw(self.child.id().cast_signed()).is_some_and(|pid| {
                let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
                matches!(waitid(WaitId::Pid(pid), look), Ok(Some(_)) | Err(_))
            });
        if ended {
            self.unwatch();
            self.guard.dismiss();
            if let Ok(Some(status)) = self.child.try_wait() {
                self.exit = Some(exit_how(status));
            }
        }
    }
}

fn exit_how(status: std::process::ExitStatus) -> ExitHow {
    match (status.code(), status.signal()) {
        (Some(code), _) => ExitHow::Status(code),
        (None, signal) => ExitHow::Signal(signal.unwrap_or(0)),
    }
}

impl EngineProcess for TrustedProcess {
    fn exit(&mut self, deadline: Instant) -> Option<ExitHow> {
        loop {
            self.reap();
            let left = deadline.saturating_duration_since(Instant::now());
            if self.exit.is_some() || left.is_zero() {
                return self.exit;
            }
            // Only for one that closed its pipes and is about to end; never while a game is on.
            std::thread::sleep(left.min(Duration::from_millis(2)));
        }
    }

    fn threads(&self) -> usize {
        threads_of(self.child.id())
    }

    fn pid(&self) -> Option<u32> {
        Some(self.child.id())
    }

    fn kill(&mut self) -> LeftByProcess {
        if let Ok(pid) = i32::try_from(self.child.id()) {
            // Before the child is waited for, so that the number is still the group's.
            let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
        }
        self.unwatch();
        self.guard.dismiss();
        if self.exit.is_none() {
            let _ = self.child.kill();
            self.exit = self.child.wait().ok().map(exit_how);
        }
        let exceeded = self.exceeded.map(|used| Refusal { by: None, what: Resource::Used(used) });
        LeftByProcess { refusals: exceeded.into_iter().collect(), ..LeftByProcess::default() }
    }
}

impl Drop for TrustedProcess {
    fn drop(&mut self) {
        if self.exit.is_none() {
            self.kill();
        }
    }
}

/// The threads of a process, 1 where that cannot be read.
fn threads_of(pid: u32) -> usize {
    std::fs::read_to_string(format!("/proc/{pid}/status"))
        .ok()
        .and_then(|text| text.split("\nThreads:").nth(1)?.split_whitespace().next()?.parse().ok())
        .unwrap_or(1)
}

/// Spawns a program. One that was written a moment ago may still be open in a child of its writer, and the kernel starts no such file
/// (ETXTBSY): a child lets go of it as soon as it runs a program of its own.
fn spawn(command: &mut Command) -> std::io::Result<Child> {
    const LONGEST: Duration = Duration::from_secs(1);
    let end = Instant::now() + LONGEST;
    loop {
        match command.spawn() {
            Err(why) if why.kind() == ErrorKind::ExecutableFileBusy && Instant::now() < end => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

struct ConfinedProcess {
    confined: Option<Box<dyn Confined>>,
}

impl EngineProcess for ConfinedProcess {
    fn exit(&mut self, deadline: Instant) -> Option<ExitHow> {
        self.confined.as_ref()?.wait_first(deadline)
    }

    fn threads(&self) -> usize {
        self.confined.as_ref().map_or(1, |confined| confined.threads())
    }

    fn computed(&self) -> Option<Duration> {
        let now = self.confined.as_ref()?.cpu_times();
        Some(now.computed_since(&CpuTimes::default()))
    }

    fn pid(&self) -> Option<u32> {
        None
    }

    fn is_up(&self) {
        if let Some(confined) = &self.confined {
            confined.start_is_over();
        }
    }

    fn kill(&mut self) -> LeftByProcess {
        let Some(confined) = self.confined.take() else {
            return LeftByProcess::default();
        };
        confined.kill();
        // Its starts, files and refusals are its own, however it ended; leftovers that it could not tidy up are no fault.
        LeftByProcess { files: Vec::new(), ..record(confined.close(), Departure::Killed) }
    }

    fn leave(&mut self, until: Instant) -> LeftByProcess {
        let Some(confined) = self.confined.take() else {
            return LeftByProcess::default();
        };
        let (departure, processes) = if confined.wait_empty(until) {
            (Departure::Emptied, Vec::new())
        } else {
            (Departure::NotEmptied, confined.processes())
        };
        LeftByProcess { processes, ..record(confined.close(), departure) }
    }
}

/// All that was seen of a process that played.
fn record(traces: Traces, departure: Departure) -> LeftByProcess {
    let Traces { left_files: files, execs, opens, not_installed, denials, refusals, .. } = traces;
    let processes = Vec::new();
    LeftByProcess { departure, files, processes, execs, opens, not_installed, denials, refusals }
}

impl Drop for ConfinedProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(words: &[&str]) -> EngineStart {
        EngineStart::Trusted(EngineProgram {
            command: words[0].into(),
            arguments: words[1..].iter().map(|&word| word.to_owned()).collect(),
            directory: None,
            environment: BTreeMap::new(),
            memory: None,
            frozen: Vec::new(),
        })
    }

    #[test]
    fn what_cannot_be_run_says_so() {
        let Err(StartError::Program(why)) = start(&program(&["/nonexistent/engine"])) else {
            panic!("it runs");
        };
        assert!(why.starts_with("cannot run /nonexistent/engine: No such file"), "{why}");
    }

    #[test]
    fn a_program_that_is_still_open_for_writing_is_waited_for() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let file = std::fs::File::create(&path).unwrap();
        std::fs::copy("/bin/true", &path).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        let start = || start(&program(&[path.to_str().unwrap()]));
        let Err(StartError::Program(why)) = start() else { panic!("it runs") };
        assert!(why.contains("busy"), "{why}");
        let closer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            drop(file);
        });
        let soon = Instant::now() + Duration::from_secs(60);
        let (mut process, _pipes) = start().unwrap();
        assert_eq!(process.exit(soon), Some(ExitHow::Status(0)));
        closer.join().unwrap();
    }

    #[test]
    fn an_exit_is_seen_and_a_group_dies_together() {
        let (mut process, _pipes) = start(&program(&["sh", "-c", "exit 3"])).unwrap();
        let soon = Instant::now() + Duration::from_secs(60);
        assert_eq!(process.exit(soon), Some(ExitHow::Status(3)));

        let (mut process, pipes) =
            start(&program(&["sh", "-c", "sleep 300 & echo $!; wait"])).unwrap();
        let mut number = [0; 20];
        let length = nix::unistd::read(&pipes.stdout, &mut number).unwrap();
        let inner: i32 = std::str::from_utf8(&number[..length]).unwrap().trim().parse().unwrap();
        assert_eq!(process.threads(), 1);
        process.kill();
        let end = Instant::now() + Duration::from_secs(60);
        let status = || std::fs::read_to_string(format!("/proc/{inner}/status"));
        while status().is_ok_and(|text| !text.contains("State:\tZ")) {
            assert!(Instant::now() < end, "the grandchild lives");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
