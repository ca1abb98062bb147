//! A caller's request to the sandbox, and its answer. The traits let tests of the probes run
//! without a kernel that can confine.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::model::evidence::{
    Breach, Denial, Exec, ExitHow, FatalSignal, FileOpen, LaunchFailure, LeftByProcess, LeftFile,
    LeftProcess, ProgramClass, Refusal, Shell,
};
use crate::model::text::shown;
use crate::model::units::Bytes;
use crate::sandbox::limits::cpu::CpuTimes;

/// The folders in which a host keeps headers of C and C++ beside those of its compilers.
const HEADERS: [&str; 2] = ["/usr/include/", "/usr/local/include/"];

/// The part of a header's path by which a program names it; none of a file that is no header of the host.
pub(crate) fn header_name(path: &str) -> Option<&str> {
    HEADERS.iter().find_map(|top| path.strip_prefix(top)).filter(|name| !name.is_empty())
}

/// True if a path is that of object code which a linker puts into a program: an archive, an object file, a library of Rust.
pub(crate) fn is_static_object(path: &str) -> bool {
    [".a", ".o", ".rlib"].iter().any(|end| path.ends_with(end))
}

/// True if a file has the name of a shared object, `libx.so` or `libx.so.6`.
pub(crate) fn is_shared_object(path: impl AsRef<Path>) -> bool {
    let name = path.as_ref().file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".so") || name.contains(".so.")
}

/// The device of which a pseudo-terminal is made; no entry has it.
pub(crate) const PSEUDO_TERMINAL: &str = "/dev/ptmx";

/// The name and place under which the entry is staged (docs/decisions/002).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Staging {
    /// A fresh random name in a directory without blanks.
    Neutral,
    /// A neutral name in a directory with a blank in its path.
    Blank,
    /// The entry's own file name.
    OwnName(String),
}

/// The extent of what is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audit {
    /// Programs, files opened, look-ups and refusals, until [`Confined::start_is_over`].
    Full,
    /// Programs only.
    ProgramsOnly,
}

/// One start of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartPlan {
    /// The entry's bytes, staged as a fresh read-only executable copy.
    pub bytes: Arc<[u8]>,
    /// The folder and the name under which it is staged.
    pub staging: Staging,
    /// The shell that stands for `/bin/sh` when the entry is a script.
    pub shell: Shell,
    /// The extent of the watch.
    pub audit: Audit,
}

/// Standard input, output and error: those that become an entry's (the child's ends of pipes, or files that are gate4k's own), or the
/// caller's, from and to which an entry's are copied.
#[derive(Debug)]
pub(crate) struct Streams {
    /// Its standard input.
    pub(crate) stdin: OwnedFd,
    /// Its standard output.
    pub(crate) stdout: OwnedFd,
    /// Its standard error.
    pub(crate) stderr: OwnedFd,
}

/// The ends of the pipes to a started entry; all are close-on-exec, none is non-blocking.
#[derive(Debug)]
pub struct Pipes {
    /// Its standard input.
    pub stdin: OwnedFd,
    /// Its standard output.
    pub stdout: OwnedFd,
    /// Its standard error.
    pub stderr: OwnedFd,
    /// Becomes readable when the entry's first process has ended (an eventfd).
    pub(crate) ended: OwnedFd,
}

/// A program that ran, or was asked for, as far as the kernel knows.
#[derive(Clone, Debug)]
pub struct SeenProgram {
    /// The path as given, where an exec was seen.
    pub(crate) asked: PathBuf,
    /// The file that ran (`/proc/PID/exe`); for a script its interpreter.
    pub(crate) real: Option<PathBuf>,
    /// Device and inode of that file.
    pub(crate) inode: Option<(u64, u64)>,
    /// The arguments, from `argv[0]` on, escaped.
    pub(crate) argv: Vec<String>,
    /// Of a script, the arguments that the kernel gave to its interpreter, from its `argv[0]` on, escaped: the script's own are its
    /// starter's word, and say nothing of what an interpreter does that is many programs.
    pub(crate) reader_argv: Vec<String>,
    /// True where the file lies in the entry's own workspace or memory.
    pub(crate) own: bool,
    /// True for a file that is a script (asked for by its own name, run by an interpreter).
    pub(crate) script: bool,
    /// True for a script whose interpreter is the entry's own program.
    pub(crate) own_reader: bool,
    /// The shared libraries of the host that its starter had in its memory.
    pub(crate) starter_libraries: Vec<PathBuf>,
}

/// A file or directory that remained, where it may be a cache of a system program.
#[derive(Clone, Copy, Debug)]
pub struct CacheCandidate<'a> {
    /// Its path as reports show it.
    pub path: &'a str,
    /// The entry's HOME, as reports show it.
    pub home: &'a str,
    /// Its size.
    pub size: Bytes,
    /// The first bytes of a regular file; none for a directory.
    pub head: Option<&'a [u8]>,
    /// True for what Python compiled of a source that lies beside it, with the time and the size that its head tells.
    pub is_of_its_source: bool,
    /// The program that made it and wrote to it last, where both were seen.
    pub maker: Option<FileMaker<'a>>,
}

/// The program that made a file.
#[derive(Clone, Copy, Debug)]
pub struct FileMaker<'a> {
    /// The name under which the allow-list knows it; none for a program of the entry's own.
    pub name: Option<&'a str>,
    /// Its arguments, from `argv[0]` on, as far as the record keeps them, or those of the same program that started it with too many;
    /// none where it may have got others.
    pub argv: Option<&'a [String]>,
    /// The files that it opened in this run, and what its starter had in its memory where a library starts it by itself.
    pub opened: &'a [&'a str],
}

impl FileMaker<'_> {
    /// The most arguments of a program that are kept in the record.
    pub(crate) const MOST_ARGUMENTS: usize = 16;
    /// The most bytes of an argument that are kept.
    pub(crate) const ARGUMENT_LENGTH: usize = 200;
}

/// The policy on programs and files; implemented by `policy`.
pub trait Programs: Send + Sync {
    /// The class of a program below those of `above` (names and classes, the nearest first), and the name
    /// under which the allow-list knows it.
    fn classify(
        &self,
        seen: &SeenProgram,
        above: &[(String, ProgramClass)],
    ) -> (ProgramClass, String);
    /// True for a helper that may be started with certain arguments alone.
    fn has_fixed_arguments(&self, _helper: &str) -> bool {
        false
    }
    /// The name of a program that a library in its starter's memory starts by itself.
    fn serves_library(&self, _seen: &SeenProgram) -> Option<String> {
        None
    }
    /// The line that exempts a file as a cache of a system program, if one does.
    fn cache(&self, left: &CacheCandidate<'_>) -> Option<String>;
    /// True for programs that search PATH by themselves, so that what they miss says nothing of the entry.
    fn looks_around(&self, name: &str) -> bool;
}

/// The sandbox's record of one run.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    /// Set where exec itself failed.
    pub launch_failure: Option<LaunchFailure>,
    /// Programs.
    pub execs: Vec<Exec>,
    /// Files.
    pub opens: Vec<FileOpen>,
    /// Commands looked for along PATH and found nowhere.
    pub not_installed: Vec<String>,
    /// Other refusals by the sandbox.
    pub denials: Vec<Denial>,
    /// Refusals by the kernel for want of machine.
    pub refusals: Vec<Refusal>,
    /// Large mappings that were made without reserving memory for them (`--lazy-memory`).
    pub(crate) lazy_maps: Vec<Bytes>,
    /// Fatal signals.
    pub crashes: Vec<FatalSignal>,
    /// Files that remained when the last process had ended.
    pub left_files: Vec<LeftFile>,
}

/// The reason that an entry could not be confined; never the entry's own fault.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A layer without which nothing is run is missing.
    #[error("the sandbox cannot be built: {what}; {next}")]
    Missing {
        /// The layer and the reason.
        what: String,
        /// The remedy.
        next: String,
    },
    /// A step of the set-up failed.
    #[error("the sandbox could not be set up: {step}{}: {source}", path.as_ref().map(|path| format!(" ({})", shown(path))).unwrap_or_default())]
    Setup {
        /// The step.
        step: &'static str,
        /// The path that it was for.
        path: Option<PathBuf>,
        /// The kernel's error.
        source: std::io::Error,
    },
}

/// Starts entries.
pub trait Launcher: Sync {
    /// Starts one, confined. Returns when the entry's exec was attempted.
    ///
    /// # Errors
    /// When the sandbox could not be built; an entry that cannot be executed is no error but a
    /// [`Traces::launch_failure`].
    fn launch(&self, plan: &StartPlan) -> Result<(Box<dyn Confined>, Pipes), SandboxError>;
    /// The programs and libraries of this host that were replaced since the launcher was made, where it looks for that.
    fn replaced(&self) -> Vec<String> {
        Vec::new()
    }
    /// The rules that a process of the entry broke by what it started and loaded, where that is judged by nobody else.
    fn breaches(&self, _left: &LeftByProcess) -> Vec<Breach> {
        Vec::new()
    }
}

/// A started entry with all that it started.
pub trait Confined: Send {
    /// The moment of exec, from which start-up counts.
    fn started(&self) -> Instant;
    /// The last `readyok` of the start has come: from now on only programs are watched.
    fn start_is_over(&self);
    /// Waits until the entry's first process has ended, or `deadline`.
    fn wait_first(&self, deadline: Instant) -> Option<ExitHow>;
    /// Waits until every process has ended, or `deadline`; true if all have.
    fn wait_empty(&self, deadline: Instant) -> bool;
    /// The processes that run now.
    fn processes(&self) -> Vec<LeftProcess>;
    /// The most threads that one of them runs; one where that is not known.
    fn threads(&self) -> usize {
        1
    }
    /// The processor time that its processes have used, those that have ended included.
    fn cpu_times(&self) -> CpuTimes;
    /// Memory that is resident in all of them together; zero where that is not known.
    fn resident(&self) -> Bytes {
        Bytes(0)
    }
    /// True if all of it sleeps, and a thread of it in a read of its standard input: everything that was sent is taken.
    fn waits_for_input(&self) -> bool {
        false
    }
    /// The time for which no process has begun or ended; zero where that is not known.
    fn unchanged_for(&self) -> Duration {
        Duration::ZERO
    }
    /// Hands a signal on to the entry's first process.
    fn signal(&self, signal: i32);
    /// Kills everything; returns when nothing is left.
    fn kill(&self);
    /// Kills what is left, looks for files that remained, takes everything down.
    fn close(self: Box<Self>) -> Traces;
}
