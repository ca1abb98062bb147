//! The start of an entry: a thread of its own builds the sandbox and traces, and a word lets the entry run.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use std::{io, thread};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socketpair, sockopt};

use crate::sandbox::child;
use crate::sandbox::child_setup::HostReady;
use crate::sandbox::fs::workspace::{Workspace, setup};
use crate::sandbox::limits::cgroup::Group;
use crate::sandbox::plan::{Audit, SandboxError, StartPlan, Streams};
use crate::sandbox::supervise::{StartOutcome, StartRequest};
use crate::sandbox::trace::shared::TreeState;
use crate::sandbox::users;
use crate::sandbox::watchdog::{self, EntryTree};

/// An entry that runs in its sandbox.
pub(super) struct StartedEntry {
    /// The moment in which it was let run.
    pub(super) at: Instant,
    pub(super) workspace: Workspace,
    pub(super) shared: Arc<TreeState>,
    /// Brings what the tracer saw, when everything has ended.
    pub(super) outcome: mpsc::Receiver<StartOutcome>,
    pub(super) group: Option<Arc<Group>>,
    /// Becomes readable when the entry's first process has ended.
    pub(super) ended: OwnedFd,
    /// Kept as long as it is to be watched.
    pub(super) tree: Arc<EntryTree>,
}

/// Nothing of a start waits for the entry; on a host that is short of processors it takes a second.
const LONGEST_START: Duration = Duration::from_secs(60);

/// Builds the sandbox and lets the entry run on these streams.
///
/// # Errors
/// When the sandbox could not be built, or its processes were killed from outside before the entry ran.
pub(super) fn launch(
    host: &Arc<HostReady>,
    plan: &StartPlan,
    streams: &Streams,
) -> Result<StartedEntry, SandboxError> {
    let (ours, theirs) = talk()?;
    let talk = Arc::new(ours);
    let ended = nix::sys::eventfd::EventFd::from_flags(nix::sys::eventfd::EfdFlags::EFD_CLOEXEC)
        .map_err(|e| setup("making an eventfd")(e.into()))?;
    let ended: OwnedFd = ended.into();
    let shared = Arc::new(TreeState::new(
        ended.try_clone().map_err(setup("making an eventfd"))?,
        plan.audit == Audit::Full,
        host.host.lazy_memory,
    ));
    // Here and not there: its guardian would be a child of the thread that waits for all of its children.
    let host_directory = if host.host.namespaces { None } else { Some(host.host_directory()?) };
    let group = host.group()?.map(Arc::new);
    let start = StartRequest {
        host: Arc::clone(host),
        host_directory,
        group: group.clone(),
        plan: plan.clone(),
        theirs,
        talk: Arc::clone(&talk),
        shared: Arc::clone(&shared),
    };
    let (report, begun) = mpsc::channel();
    let (at_end, outcome) = mpsc::channel();
    thread::Builder::new()
        .name("tracer".into())
        .spawn(move || start.run(&report, &at_end))
        .map_err(setup("starting the tracer's thread"))?;
    let workspace = begun.recv_timeout(LONGEST_START).unwrap_or_else(|why| {
        let why = match why {
            mpsc::RecvTimeoutError::Disconnected => io::Error::other("it ended at once"),
            mpsc::RecvTimeoutError::Timeout => {
                // Its processes are killed; its thread is left behind, and ends whenever it gets on.
                shared.give_up();
                io::Error::new(io::ErrorKind::TimedOut, "it did not get on, and was given up")
            }
        };
        Err(setup("starting the tracer's thread")(why))
    })?;
    let three = [streams.stdin.as_fd(), streams.stdout.as_fd(), streams.stderr.as_fd()];
    users::hand_over(three, host.ids()).map_err(setup("giving the entry its pipes"))?;
    let at = Instant::now();
    child::let_run(talk.as_fd(), three).map_err(setup("letting the entry run"))?;
    let tree = EntryTree { shared: Arc::clone(&shared), root: workspace.own_file_system() };
    let tree = Arc::new(tree);
    watchdog::watch(&tree, host.host.memory);
    Ok(StartedEntry { at, workspace, shared, outcome, group, ended, tree })
}

/// The socket between the supervisor and the children.
///
/// # Errors
/// When the kernel gives none.
pub(super) fn talk() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    let pair = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)
        .map_err(|e| setup("making a socket pair")(e.into()))?;
    setsockopt(&pair.0, sockopt::PassCred, &true)
        .map_err(|e| setup("asking for credentials on the socket")(e.into()))?;
    Ok(pair)
}
