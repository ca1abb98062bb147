//! Puts a run together: the plan and the host become a script for the child, the child becomes a tracee.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, mpsc};
use std::thread;
use std::time::Instant;

use nix::sys::ptrace::Options;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socketpair, sockopt};
use nix::unistd::Pid;

use super::calls::OwnPlace;
use super::capability;
use super::cgroup::Group;
use super::exec_audit::Tracer;
use super::failure;
use super::landlock::Grants;
use super::last_word::LastWord;
use super::memory;
use super::networks::Networks;
use super::plan::{Audit, Plan, SandboxError, Staging, Streams};
use super::record::Raw;
use super::script::{self, Host, HostReady};
use super::shared::Shared;
use super::spawn::{self, Begin, Heard, Network, Script};
use super::users;
use super::workspace::{Dirs, STAGING, Workspace, setup, stage_on_host, staged};
use crate::evidence::{LaunchFailure, Shell};
use crate::units::Bytes;

/// An entry in its sandbox with everything done but its exec.
pub(super) struct Prepared {
    pub(super) workspace: Workspace,
    pub(super) shared: Arc<Shared>,
    /// Tells what was seen, when everything has ended.
    pub(super) outcome: mpsc::Receiver<Outcome>,
    pub(super) group: Option<Arc<Group>>,
    /// Becomes readable when the entry's first process has ended.
    pub(super) ended: OwnedFd,
    /// Where it waits for its streams.
    pub(super) talk: Arc<OwnedFd>,
}

/// What the tracer's thread brings home.
pub(super) struct Outcome {
    pub(super) raw: Raw,
    pub(super) launch_failure: Option<LaunchFailure>,
}

/// Prepares the start of an entry, up to its exec; in a network that is lent for it, if any is.
pub(super) fn prepare(
    host: &HostReady,
    plan: &Plan,
    networks: Option<Arc<Networks>>,
) -> Result<Prepared, SandboxError> {
    let (ours, theirs) = talk()?;
    let ours = Arc::new(ours);
    let ended = nix::sys::eventfd::EventFd::from_flags(nix::sys::eventfd::EfdFlags::EFD_CLOEXEC)
        .map_err(|e| setup("making an eventfd")(e.into()))?;
    let ended: OwnedFd = ended.into();
    let shared = Arc::new(Shared::new(
        ended.try_clone().map_err(setup("making an eventfd"))?,
        plan.audit == Audit::Full,
        host.host.lazy_memory,
    ));
    let dirs = if host.host.namespaces { None } else { Some(Dirs::new(host.nest()?)?) };
    let entry = staged(plan, dirs.as_ref().map_or(Path::new("/"), |dirs| dirs.top.path()));
    if dirs.is_some() {
        stage_on_host(&entry, &plan.bytes)?;
    }
    let script = script::script(host, plan, &entry, dirs.as_ref())?;
    let its_talk = Arc::clone(&ours);
    let (report, reported) = mpsc::channel();
    let for_thread = Arc::clone(&shared);
    let path_dirs = host.host.path.clone();
    let tasks = host.host.tasks;
    let below = dirs.as_ref().map(|dirs| {
        // The kernel's own paths have no links in them.
        let top = dirs.top.path();
        top.canonicalize().unwrap_or_else(|_| top.to_owned())
    });
    let entry_bytes = Arc::clone(&plan.bytes);
    let group = host.group()?.map(Arc::new);
    let to_enter = group.clone();
    let (at_end, outcome) = mpsc::channel();
    let tracer = thread::Builder::new()
        .name("tracer".into())
        .spawn(move || {
            let network = networks.as_ref().and_then(|all| all.lend(script.ids));
            let outcome = supervise(
                &script,
                theirs,
                &its_talk,
                &for_thread,
                path_dirs,
                tasks,
                below,
                &report,
                &entry_bytes,
                to_enter.as_deref(),
                network.as_ref(),
            );
            drop(to_enter);
            for_thread.all_gone();
            // The caller may have gone.
            let _ = at_end.send(outcome);
            spawn::wait_for_all();
            if let (Some(all), Some(network)) = (networks, network) {
                all.give_back(network);
            }
        })
        .map_err(setup("starting the tracer's thread"))?;
    let root = match reported.recv() {
        Ok(Ok(begun)) => begun,
        Ok(Err(error)) => {
            let _ = tracer.join();
            return Err(error);
        }
        Err(_) => {
            let _ = tracer.join();
            return Err(setup("starting the tracer's thread")(io::Error::other(
                "it ended at once",
            )));
        }
    };
    let workspace = match (root, dirs) {
        (_, Some(dirs)) => dirs.into_workspace(),
        (Some(root), None) => Workspace::Inside(File::from(root)),
        (None, None) => {
            shared.kill();
            let _ = tracer.join();
            return Err(setup("receiving the new root")(io::Error::other("none was sent")));
        }
    };
    Ok(Prepared { workspace, shared, outcome, group, ended, talk: ours })
}

/// Lets it run.
///
/// # Errors
/// When it does not wait any more, because it was killed from outside.
pub(super) fn let_run(
    host: &HostReady,
    talk: &OwnedFd,
    shared: &Arc<Shared>,
    streams: &Streams,
) -> Result<Instant, SandboxError> {
    let at = Instant::now();
    let three = [streams.stdin.as_fd(), streams.stdout.as_fd(), streams.stderr.as_fd()];
    spawn::let_run(talk.as_fd(), three).map_err(setup("letting the entry run"))?;
    memory::watch(shared, host.host.memory);
    Ok(at)
}

fn talk() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    let pair = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)
        .map_err(|e| setup("making a socket pair")(e.into()))?;
    setsockopt(&pair.0, sockopt::PassCred, &true)
        .map_err(|e| setup("asking for credentials on the socket")(e.into()))?;
    Ok(pair)
}

type Begun = Result<Option<OwnedFd>, SandboxError>;

#[expect(clippy::too_many_arguments, reason = "the body of a thread: each is moved in once")]
fn supervise(
    script: &Script,
    theirs: OwnedFd,
    talk: &OwnedFd,
    shared: &Shared,
    path_dirs: Vec<PathBuf>,
    tasks: u32,
    below: Option<PathBuf>,
    report: &mpsc::Sender<Begun>,
    bytes: &[u8],
    group: Option<&Group>,
    network: Option<&Network>,
) -> Outcome {
    let nothing = || Outcome { raw: Raw::default(), launch_failure: None };
    let begun = begin(script, theirs, talk, shared, group, network);
    let (entry, root) = match begun {
        Ok(begun) => begun,
        Err(error) => {
            shared.kill();
            spawn::wait_for_all();
            // The caller may have gone; then nobody wants to know.
            let _ = report.send(Err(error));
            return nothing();
        }
    };
    let parent = std::process::id() as i32;
    let device = || {
        let root = root.as_ref()?.try_clone().ok()?;
        File::from(root).metadata().ok().map(|m| m.dev())
    };
    // No device has the number 0 with anything of the host on it.
    let own = below.map_or_else(|| OwnPlace::Device(device().unwrap_or(0)), OwnPlace::Below);
    let tracer = Tracer::new(shared, entry, parent, own, path_dirs, tasks);
    let _ = report.send(Ok(root));
    let mut last_word = LastWord::new(talk, script.root.is_some());
    let raw = tracer.run(&mut last_word);
    let failed = last_word.exec_failed();
    Outcome { raw, launch_failure: failed.map(|errno| failure::launch_failure(errno, bytes)) }
}

/// Clones, hand-shakes, seizes. The entry waits for its streams afterwards.
fn begin(
    script: &Script,
    theirs: OwnedFd,
    talk: &OwnedFd,
    shared: &Shared,
    group: Option<&Group>,
    network: Option<&Network>,
) -> Result<(i32, Option<OwnedFd>), SandboxError> {
    let maps = users::again(script.ids);
    let clone = |begin| {
        let _staging = STAGING.read().unwrap_or_else(PoisonError::into_inner);
        let group = group.map(Group::as_fd);
        spawn::clone_first(script, begin, theirs.as_fd(), talk.as_fd(), group)
    };
    // Where the kernel refuses the one, the other keeps the entry apart as well.
    let kept = network.and_then(|network| clone(Begin::In(network, maps.as_bytes())).ok());
    let mapped = kept.is_some();
    let first = match kept {
        Some(first) => first,
        None => clone(Begin::Here).map_err(setup("cloning the first process"))?,
    };
    drop(theirs);
    shared.first_is(first.pidfd);
    if script.root.is_some() {
        if !mapped {
            users::map(first.pid, script.ids).map_err(setup("mapping users"))?;
        }
        nix::unistd::write(talk.as_fd(), &[spawn::GO])
            .map_err(|e| setup("letting the first process go")(e.into()))?;
    }
    let hearing = setup("hearing from the first process");
    let Heard::Message(message) = spawn::receive(talk.as_fd(), true).map_err(&hearing)? else {
        return Err(hearing(io::ErrorKind::UnexpectedEof.into()));
    };
    match message.kind {
        spawn::HELLO => {
            seize(message.pid)?;
            Ok((message.pid, message.root))
        }
        spawn::STEP_FAILED => {
            let step = script.root.as_ref().and_then(|root| root.steps().nth(message.step));
            let source = io::Error::from_raw_os_error(message.errno);
            let text = step.map_or_else(|| "start".into(), |step| format!("{step:?}"));
            let text = text.chars().take(120).collect::<String>();
            Err(SandboxError::Setup {
                step: "building the private root",
                path: None,
                source: io::Error::new(source.kind(), format!("{source} at {text}")),
            })
        }
        spawn::CHILD_FAILED => {
            let step = spawn::CHILD_STEPS.get(message.step).copied().unwrap_or("saying so");
            Err(setup(step)(io::Error::from_raw_os_error(message.errno)))
        }
        _ => {
            let other = io::Error::from_raw_os_error(message.errno);
            Err(setup("starting the entry")(other))
        }
    }
}

fn seize(pid: i32) -> Result<(), SandboxError> {
    let options = Options::PTRACE_O_EXITKILL
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACESECCOMP
        | Options::PTRACE_O_TRACESYSGOOD;
    nix::sys::ptrace::seize(Pid::from_raw(pid), options).map_err(|error| SandboxError::Missing {
        what: format!("the exec reporter: ptrace is refused ({error})"),
        next: "see kernel.yama.ptrace_scope; in a container add the capability SYS_PTRACE".into(),
    })
}

/// Tries the whole sequence of namespaces and mounts in a child that runs nothing.
pub(super) fn probe_namespaces() -> io::Result<()> {
    let (path, bytes) = capability::nothing();
    let host = HostReady::new(Host {
        namespaces: true,
        grants: Grants::default(),
        path: Vec::new(),
        dash: None,
        bash: None,
        lazy_memory: false,
        cgroups: None,
        memory: Bytes(0),
        tasks: super::limits::TASKS,
    });
    let plan =
        Plan { bytes, staging: Staging::Neutral, shell: Shell::AsIs, audit: Audit::ProgramsOnly };
    let all = |error: SandboxError| io::Error::other(error.to_string());
    let mut script = script::script(&host, &plan, &path, None).map_err(all)?;
    script.probe = true;
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let (ours, theirs) = talk().map_err(all)?;
            let first =
                spawn::clone_first(&script, Begin::Here, theirs.as_fd(), ours.as_fd(), None)?;
            drop(theirs);
            users::map(first.pid, script.ids)?;
            nix::unistd::write(ours.as_fd(), &[spawn::GO])?;
            let heard = spawn::receive(ours.as_fd(), true)?;
            spawn::wait_for_all();
            match heard {
                Heard::Message(m) if m.kind == spawn::PROBED => Ok(()),
                Heard::Message(m) => {
                    let step = script.root.as_ref().and_then(|root| root.steps().nth(m.step));
                    let text: String = format!("{step:?}").chars().take(100).collect();
                    let error = io::Error::from_raw_os_error(m.errno);
                    Err(io::Error::new(error.kind(), format!("{error} at {text}")))
                }
                Heard::Silence | Heard::End => Err(io::ErrorKind::UnexpectedEof.into()),
            }
        });
        worker.join().unwrap_or_else(|_| Err(io::Error::other("the probe ended at once")))
    })
}
