//! Starts of entries: what is prepared by a thread of its own, and the word that lets it run.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, mpsc};
use std::time::Instant;
use std::{io, thread};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socketpair, sockopt};

use super::cgroup::Group;
use super::landlock::Grants;
use super::networks::Networks;
use super::plan::{Audit, Plan, SandboxError, Staging, Streams};
use super::script::{self, Host, HostReady};
use super::shared::Shared;
use super::spawn::{self, Begin, Heard};
use super::supervise::{Outcome, Start};
use super::workspace::{Workspace, setup};
use super::{capability, memory, users};
use crate::model::evidence::Shell;
use crate::model::units::Bytes;

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

/// A start that is being prepared by a thread of its own.
pub(super) struct Preparing {
    shared: Arc<Shared>,
    group: Option<Arc<Group>>,
    begun: mpsc::Receiver<Result<Workspace, SandboxError>>,
    outcome: mpsc::Receiver<Outcome>,
    ended: OwnedFd,
    talk: Arc<OwnedFd>,
}

/// Begins to prepare the start of an entry, up to its exec; in a network that is lent for it, if any is.
pub(super) fn prepare(
    host: &Arc<HostReady>,
    plan: &Plan,
    networks: Option<Arc<Networks>>,
) -> Result<Preparing, SandboxError> {
    let (ours, theirs) = talk()?;
    let talk = Arc::new(ours);
    let ended = nix::sys::eventfd::EventFd::from_flags(nix::sys::eventfd::EfdFlags::EFD_CLOEXEC)
        .map_err(|e| setup("making an eventfd")(e.into()))?;
    let ended: OwnedFd = ended.into();
    let shared = Arc::new(Shared::new(
        ended.try_clone().map_err(setup("making an eventfd"))?,
        plan.audit == Audit::Full,
        host.host.lazy_memory,
    ));
    // Here and not there: what guards them when we are killed would be a child of the thread that waits for all of its.
    let nest = if host.host.namespaces { None } else { Some(host.nest()?) };
    let group = host.group()?.map(Arc::new);
    let start = Start {
        host: Arc::clone(host),
        nest,
        group: group.clone(),
        plan: plan.clone(),
        theirs,
        talk: Arc::clone(&talk),
        shared: Arc::clone(&shared),
        networks,
    };
    let (report, begun) = mpsc::channel();
    let (at_end, outcome) = mpsc::channel();
    thread::Builder::new()
        .name("tracer".into())
        .spawn(move || start.run(&report, &at_end))
        .map_err(setup("starting the tracer's thread"))?;
    Ok(Preparing { shared, group, begun, outcome, ended, talk })
}

impl Preparing {
    /// Waits until it is prepared.
    ///
    /// # Errors
    /// When the sandbox could not be built.
    pub(super) fn ready(self) -> Result<Prepared, SandboxError> {
        let Preparing { shared, group, begun, outcome, ended, talk } = self;
        let workspace = begun.recv().unwrap_or_else(|_| {
            Err(setup("starting the tracer's thread")(io::Error::other("it ended at once")))
        })?;
        Ok(Prepared { workspace, shared, outcome, group, ended, talk })
    }
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
