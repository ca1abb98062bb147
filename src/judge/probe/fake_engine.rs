//! Doubles of the sandbox for tests: engines that are threads of the test itself, and engines that are
//! plain processes, for what only processes can do.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use nix::sys::eventfd::EventFd;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use shakmaty::{CastlingMode, Position};

use crate::engine::moves::Moves;
use crate::model::evidence::{ExitHow, LeftProcess, Limits, Refusal, Resource, Shell};
use crate::sandbox::cpu::CpuTimes;
use crate::sandbox::plan::{
    Audit, Confined, Launcher, Pipes, SandboxError, Staging, StartPlan, Traces,
};

/// Limits for tests: long enough for a loaded machine, short where the limit itself is tested.
pub(crate) fn limits() -> Limits {
    Limits {
        startup: Duration::from_secs(20),
        answer: Duration::from_secs(10),
        quit: Duration::from_secs(5),
        grace: Duration::from_secs(10),
    }
}

/// A plan that starts these bytes.
pub(crate) fn plan_of(bytes: &str) -> StartPlan {
    StartPlan {
        bytes: Arc::from(bytes.as_bytes()),
        staging: Staging::Neutral,
        shell: Shell::AsIs,
        audit: Audit::Full,
    }
}

/// Set once, waited for with a deadline, and visible to poll.
struct Gone {
    exit: Mutex<Option<(ExitHow, Instant)>>,
    changed: Condvar,
    event: EventFd,
}

impl Gone {
    fn new() -> (Arc<Gone>, OwnedFd) {
        let event = EventFd::new().unwrap();
        let ours = nix::unistd::dup(&event).unwrap();
        let gone = Gone { exit: Mutex::new(None), changed: Condvar::new(), event };
        (Arc::new(gone), ours)
    }

    fn set(&self, exit: ExitHow) {
        self.exit.lock().unwrap().get_or_insert((exit, Instant::now()));
        self.changed.notify_all();
        self.event.write(1).unwrap();
    }

    fn wait(&self, deadline: Instant) -> Option<ExitHow> {
        self.wait_for(deadline).map(|(exit, _)| exit)
    }

    /// The end, and when it was.
    fn wait_for(&self, deadline: Instant) -> Option<(ExitHow, Instant)> {
        let left = deadline.saturating_duration_since(Instant::now());
        let exit = self.exit.lock().unwrap();
        let (exit, _) = self.changed.wait_timeout_while(exit, left, |exit| exit.is_none()).unwrap();
        *exit
    }
}

/// The acts of a puppet that is to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PuppetAct {
    /// Its first legal move.
    Move,
    /// A line of any words.
    Say(String),
    /// Ends.
    Die,
    /// Says nothing more, hears nothing more.
    Hang,
}

/// The view of a puppet: the position, the `go` line, and the lines before it in its life.
pub(crate) struct PuppetView<'a> {
    pub(crate) moves: &'a Moves,
    pub(crate) go: &'a str,
    pub(crate) before: &'a [String],
}

type Play = dyn Fn(PuppetView<'_>) -> PuppetAct + Send + Sync;
/// Tells by the lines before it.
type AfterLines = dyn Fn(&[String]) -> bool + Send + Sync;

/// A launcher whose engines are threads; well-behaved but for what the settings say.
pub(crate) struct Puppets {
    play: Arc<Play>,
    greeting: String,
    starts: Arc<dyn Fn(&StartPlan) -> bool + Send + Sync>,
    deaf_to_quit: Arc<AfterLines>,
    dies_at_newgame: Arc<AfterLines>,
    busy: f64,
    lingers: Duration,
    refused: Vec<Refusal>,
    pub(crate) started: Mutex<Vec<(Staging, Shell)>>,
}

impl Puppets {
    pub(crate) fn new(
        play: impl Fn(PuppetView<'_>) -> PuppetAct + Send + Sync + 'static,
    ) -> Puppets {
        Puppets {
            play: Arc::new(play),
            greeting: "id name Puppet".into(),
            starts: Arc::new(|_| true),
            deaf_to_quit: Arc::new(|_| false),
            dies_at_newgame: Arc::new(|_| false),
            busy: 0.0,
            // As in the sandbox, it is known a moment after the first process has gone.
            lingers: Duration::from_millis(1),
            refused: Vec::new(),
            started: Mutex::new(Vec::new()),
        }
    }

    /// Lines before `uciok`.
    pub(crate) fn greeting(mut self, lines: &str) -> Puppets {
        self.greeting = lines.into();
        self
    }

    /// True if a plan starts at all.
    pub(crate) fn starts(
        mut self,
        when: impl Fn(&StartPlan) -> bool + Send + Sync + 'static,
    ) -> Puppets {
        self.starts = Arc::new(when);
        self
    }

    /// Hangs at a `quit` after such lines.
    pub(crate) fn deaf_to_quit(
        mut self,
        after: impl Fn(&[String]) -> bool + Send + Sync + 'static,
    ) -> Puppets {
        self.deaf_to_quit = Arc::new(after);
        self
    }

    /// Ends at a `ucinewgame` after such lines.
    pub(crate) fn dies_at_newgame(
        mut self,
        after: impl Fn(&[String]) -> bool + Send + Sync + 'static,
    ) -> Puppets {
        self.dies_at_newgame = Arc::new(after);
        self
    }

    /// The kernel seems to refuse it this, in each of its runs.
    pub(crate) fn refused(mut self, what: Resource) -> Puppets {
        self.refused.push(Refusal { by: None, what });
        self
    }

    /// A process of the engine goes on for so long after its first process has gone.
    pub(crate) fn lingers(mut self, time: Duration) -> Puppets {
        self.lingers = time;
        self
    }

    /// Processor seconds a second that it seems to use.
    pub(crate) fn busy(mut self, share: f64) -> Puppets {
        self.busy = share;
        self
    }
}

struct PuppetOnStrings {
    started: Instant,
    gone: Arc<Gone>,
    cut: Arc<AtomicBool>,
    busy: f64,
    lingers: Duration,
    refused: Vec<Refusal>,
}

impl Launcher for Puppets {
    fn launch(&self, plan: &StartPlan) -> Result<(Box<dyn Confined>, Pipes), SandboxError> {
        self.started.lock().unwrap().push((plan.staging.clone(), plan.shell));
        let pipe = || nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC).unwrap();
        let ((their_in, stdin), (stdout, their_out), (stderr, their_err)) =
            (pipe(), pipe(), pipe());
        let (gone, ended) = Gone::new();
        let cut = Arc::new(AtomicBool::new(false));
        let started = Instant::now();
        let (play, greeting) = (Arc::clone(&self.play), self.greeting.clone());
        let deaf_to_quit = Arc::clone(&self.deaf_to_quit);
        let dies_at_newgame = Arc::clone(&self.dies_at_newgame);
        let starts = (self.starts)(plan);
        let (theirs, strings) = (Arc::clone(&gone), Arc::clone(&cut));
        std::thread::spawn(move || {
            if starts {
                let input = BufReader::new(File::from(their_in));
                let mut output = File::from(their_out);
                let puppet = Puppet {
                    play: &*play,
                    greeting: &greeting,
                    deaf_to_quit: &*deaf_to_quit,
                    dies_at_newgame: &*dies_at_newgame,
                    cut: &strings,
                };
                let _ = puppet.live(input, &mut output);
                drop(output);
            }
            drop(their_err);
            let exit = if strings.load(Ordering::SeqCst) {
                ExitHow::Signal(9)
            } else {
                ExitHow::Status(i32::from(!starts))
            };
            theirs.set(exit);
        });
        let pipes = Pipes { stdin, stdout, stderr, ended };
        let (busy, lingers, refused) = (self.busy, self.lingers, self.refused.clone());
        let confined = PuppetOnStrings { started, gone, cut, busy, lingers, refused };
        Ok((Box::new(confined), pipes))
    }
}

struct Puppet<'a> {
    play: &'a Play,
    greeting: &'a str,
    deaf_to_quit: &'a AfterLines,
    dies_at_newgame: &'a AfterLines,
    cut: &'a AtomicBool,
}

impl Puppet<'_> {
    fn live(&self, input: BufReader<File>, output: &mut File) -> std::io::Result<()> {
        let mut moves = Moves::start();
        let mut before = Vec::new();
        for line in input.lines() {
            let line = line?;
            let words: Vec<&str> = line.split(' ').collect();
            match words[0] {
                "uci" => writeln!(output, "{}\nuciok", self.greeting)?,
                "isready" => writeln!(output, "readyok")?,
                "ucinewgame" if (self.dies_at_newgame)(&before) => return Ok(()),
                "position" if words[1] == "startpos" => {
                    moves = Moves::read(&words.get(3..).unwrap_or_default().join(" ")).unwrap();
                }
                "go" => {
                    let scene = PuppetView { moves: &moves, go: &line, before: &before };
                    match (self.play)(scene) {
                        PuppetAct::Move => {
                            let first = moves.position().legal_moves()[0];
                            let first = first.to_uci(CastlingMode::Standard);
                            writeln!(output, "info depth 1 score cp 1 pv {first}")?;
                            writeln!(output, "bestmove {first}")?;
                        }
                        PuppetAct::Say(text) => writeln!(output, "{text}")?,
                        PuppetAct::Die => return Ok(()),
                        PuppetAct::Hang => self.hang(),
                    }
                }
                "quit" if (self.deaf_to_quit)(&before) => self.hang(),
                "quit" => return Ok(()),
                _ => {}
            }
            before.push(line);
        }
        Ok(())
    }

    fn hang(&self) {
        while !self.cut.load(Ordering::SeqCst) {
            std::thread::park_timeout(Duration::from_millis(2));
        }
    }
}

impl Confined for PuppetOnStrings {
    fn started(&self) -> Instant {
        self.started
    }
    fn start_is_over(&self) {}
    fn wait_first(&self, deadline: Instant) -> Option<ExitHow> {
        self.gone.wait(deadline)
    }
    fn wait_empty(&self, deadline: Instant) -> bool {
        let Some((_, gone)) = self.gone.wait_for(deadline) else { return false };
        let known = gone + self.lingers;
        std::thread::sleep(known.min(deadline).saturating_duration_since(Instant::now()));
        deadline >= known
    }
    fn processes(&self) -> Vec<LeftProcess> {
        let alive = self.gone.exit.lock().unwrap().is_none();
        let puppet = LeftProcess { pid: 1, state: 'S', command: "puppet".into() };
        alive.then_some(puppet).into_iter().collect()
    }
    fn cpu_times(&self) -> CpuTimes {
        CpuTimes::one(self.started.elapsed().mul_f64(self.busy))
    }
    fn unchanged_for(&self) -> Duration {
        self.started.elapsed()
    }
    fn signal(&self, _: i32) {}
    fn kill(&self) {
        self.cut.store(true, Ordering::SeqCst);
    }
    fn close(self: Box<Self>) -> Traces {
        Traces { refusals: self.refused, ..Traces::default() }
    }
}

/// A launcher of plain processes: no sandbox, only their own process group.
pub(crate) struct PlainLauncher {
    dir: tempfile::TempDir,
}

impl PlainLauncher {
    pub(crate) fn new() -> PlainLauncher {
        PlainLauncher { dir: tempfile::tempdir().unwrap() }
    }
}

struct Group {
    started: Instant,
    group: Pid,
    gone: Arc<Gone>,
}

impl Launcher for PlainLauncher {
    fn launch(&self, plan: &StartPlan) -> Result<(Box<dyn Confined>, Pipes), SandboxError> {
        let file = tempfile::NamedTempFile::new_in(&self.dir).unwrap();
        std::fs::write(file.path(), &plan.bytes).unwrap();
        let shell = match plan.shell {
            Shell::AsIs => "sh",
            Shell::Dash => "dash",
            Shell::Bash => "bash",
        };
        let started = Instant::now();
        let mut child = Command::new(shell)
            .arg(file.path())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (gone, ended) = Gone::new();
        let pipes = Pipes {
            stdin: child.stdin.take().unwrap().into(),
            stdout: child.stdout.take().unwrap().into(),
            stderr: child.stderr.take().unwrap().into(),
            ended,
        };
        let group = Pid::from_raw(i32::try_from(child.id()).unwrap());
        let theirs = Arc::clone(&gone);
        std::thread::spawn(move || {
            let status = child.wait().unwrap();
            drop(file);
            theirs.set(match status.signal() {
                Some(signal) => ExitHow::Signal(signal),
                None => ExitHow::Status(status.code().unwrap_or(-1)),
            });
        });
        let confined = Group { started, group, gone };
        Ok((Box::new(confined), pipes))
    }
}

impl Confined for Group {
    fn started(&self) -> Instant {
        self.started
    }
    fn start_is_over(&self) {}
    fn wait_first(&self, deadline: Instant) -> Option<ExitHow> {
        self.gone.wait(deadline)
    }
    fn wait_empty(&self, deadline: Instant) -> bool {
        loop {
            if self.processes().is_empty() {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    fn processes(&self) -> Vec<LeftProcess> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let mut stat = String::new();
            let opened = File::open(entry.path().join("stat"));
            if opened.and_then(|mut file| file.read_to_string(&mut stat)).is_err() {
                continue;
            }
            let Some((_, rest)) = stat.rsplit_once(") ") else {
                continue;
            };
            let fields: Vec<&str> = rest.split(' ').collect();
            let state = fields[0].chars().next().unwrap();
            if fields[2] == self.group.to_string() && state != 'Z' {
                found.push(LeftProcess { pid, state, command: "?".into() });
            }
        }
        found
    }
    fn cpu_times(&self) -> CpuTimes {
        CpuTimes::default()
    }
    fn signal(&self, signal: i32) {
        let _ = kill(self.group, Signal::try_from(signal).unwrap());
    }
    fn kill(&self) {
        let _ = killpg(self.group, Signal::SIGKILL);
    }
    fn close(self: Box<Self>) -> Traces {
        self.kill();
        Traces::default()
    }
}
