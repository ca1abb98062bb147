//! The thread of one start: it works out what the children are to do, clones them, and traces the entry to its end.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Arc, mpsc};

use nix::sys::ptrace::Options;
use nix::unistd::Pid;

use crate::model::evidence::LaunchFailure;
use crate::sandbox::child::{self, ChildSetup, HeardFromChild};
use crate::sandbox::child_setup::{self, HostReady};
use crate::sandbox::fs::host_directory::HostDirectory;
use crate::sandbox::fs::workspace::{Dirs, StagedEntry, Workspace, setup, staged};
use crate::sandbox::inspect::files::EntryFiles;
use crate::sandbox::inspect::process;
use crate::sandbox::limits::cgroup::Group;
use crate::sandbox::plan::{SandboxError, StartPlan};
use crate::sandbox::trace::exit_channel::ExitChannel;
use crate::sandbox::trace::record::RawRecord;
use crate::sandbox::trace::shared::TreeState;
use crate::sandbox::trace::tracer::Tracer;
use crate::sandbox::{failure, users};

/// All that the thread of one start is given.
pub(super) struct StartRequest {
    pub(super) host: Arc<HostReady>,
    pub(super) plan: StartPlan,
    /// The directory of workspaces on a host without a mount namespace to hold them.
    pub(super) host_directory: Option<Arc<HostDirectory>>,
    pub(super) group: Option<Arc<Group>>,
    /// The children's end of the socket, and ours.
    pub(super) theirs: OwnedFd,
    pub(super) talk: Arc<OwnedFd>,
    pub(super) shared: Arc<TreeState>,
}

/// All that the thread of one start brings back.
pub(super) struct StartOutcome {
    pub(super) raw: RawRecord,
    pub(super) launch_failure: Option<LaunchFailure>,
}

impl StartRequest {
    /// The whole start: tells when the entry waits for its streams, or why it does not come to that, and at the end what
    /// was seen. Either receiver may have gone; then nobody wants to know.
    pub(super) fn run(
        self,
        report: &mpsc::Sender<Result<Workspace, SandboxError>>,
        at_end: &mpsc::Sender<StartOutcome>,
    ) {
        let shared = Arc::clone(&self.shared);
        let end = || {
            shared.kill();
            child::wait_for_all();
            shared.all_gone();
        };
        match panic::catch_unwind(AssertUnwindSafe(|| self.supervise(report))) {
            Ok(Ok(outcome)) => {
                shared.all_gone();
                let _ = at_end.send(outcome);
            }
            Ok(Err(error)) => {
                end();
                let _ = report.send(Err(error));
            }
            // A fault of gate4k, which is told already: whoever waits for the entry's end goes on, and finds no record.
            Err(_) => end(),
        }
        child::wait_for_all();
    }

    fn supervise(
        self,
        report: &mpsc::Sender<Result<Workspace, SandboxError>>,
    ) -> Result<StartOutcome, SandboxError> {
        let (dirs, staged, setup_of_child) = self.make()?;
        let StartRequest { host, plan, group, theirs, talk, shared, .. } = self;
        let (entry, root) = begin(&setup_of_child, theirs, &talk, &shared, group.as_deref())?;
        let (files, workspace) = match (dirs, root) {
            (Some(dirs), _) => (EntryFiles::on_host(dirs.top.path()), dirs.into_workspace(staged)),
            (None, Some(root)) => {
                let root = File::from(root);
                let bound = host.bound().to_vec();
                let files = EntryFiles::inside(&root, staged.folder());
                (files, Workspace::Inside(root, bound, staged))
            }
            (None, None) => {
                return Err(setup("receiving the new root")(io::Error::other("none was sent")));
            }
        };
        let files = files.map_err(setup("looking at the entry's root"))?;
        let us = std::process::id() as i32;
        let path = host.host.path.clone();
        let bound = host.host.grants.bound();
        let parent = match setup_of_child.root {
            Some(_) => Some(parent_of(entry)?),
            None => None,
        };
        let tracer = Tracer::new(&shared, entry, us, files, path, bound, host.host.tasks);
        drop(group);
        if report.send(Ok(workspace)).is_err() {
            // Nobody waits for it any more, and nobody will let it run.
            shared.kill();
        }
        let mut exit_channel = ExitChannel::new(&talk, parent);
        let raw = tracer.run(&mut exit_channel);
        let failed = exit_channel.exec_failed();
        let launch_failure = failed.map(|errno| failure::launch_failure(errno, &plan.bytes));
        Ok(StartOutcome { raw, launch_failure })
    }

    /// The entry's place on the host, if it has one there, and what the children are to do.
    fn make(&self) -> Result<(Option<Dirs>, StagedEntry, ChildSetup), SandboxError> {
        let (host, plan) = (&self.host, &self.plan);
        let dirs =
            self.host_directory.as_ref().map(|top| Dirs::new(Arc::clone(top))).transpose()?;
        let entry = staged(plan, dirs.as_ref().map_or(Path::new("/"), |dirs| dirs.top.path()));
        if dirs.is_some() {
            Dirs::make_room(&entry)?;
        }
        let setup_of_child = child_setup::child_setup(host, plan, &entry, dirs.as_ref())?;
        Ok((dirs, StagedEntry { path: entry, bytes: Arc::clone(&plan.bytes) }, setup_of_child))
    }
}

/// Clones, hand-shakes, seizes. The entry waits for its streams afterwards.
fn begin(
    setup_of_child: &ChildSetup,
    theirs: OwnedFd,
    talk: &OwnedFd,
    shared: &TreeState,
    group: Option<&Group>,
) -> Result<(i32, Option<OwnedFd>), SandboxError> {
    let group = group.map(Group::as_fd);
    let first = child::clone_first(setup_of_child, theirs.as_fd(), talk.as_fd(), group)
        .map_err(setup("cloning the first process"))?;
    drop(theirs);
    shared.first_is(first.pidfd);
    if setup_of_child.root.is_some() {
        users::map(first.pid, setup_of_child.ids).map_err(setup("mapping users"))?;
        nix::unistd::write(talk.as_fd(), &[child::GO])
            .map_err(|e| setup("letting the first process go")(e.into()))?;
    }
    let hearing = setup("hearing from the first process");
    let hear = || match child::receive(talk.as_fd(), true).map_err(&hearing)? {
        HeardFromChild::Message(message) => Ok(message),
        HeardFromChild::Silence | HeardFromChild::End => {
            Err(hearing(io::ErrorKind::UnexpectedEof.into()))
        }
    };
    let mut message = hear()?;
    let mut root = None;
    if message.kind == child::ROOT {
        root = message.root.take();
        message = hear()?;
    }
    match message.kind {
        child::HELLO => {
            seize(message.pid)?;
            Ok((message.pid, root))
        }
        child::STEP_FAILED => {
            let step = setup_of_child.root.as_ref().and_then(|root| root.steps().nth(message.step));
            let source = io::Error::from_raw_os_error(message.errno);
            let text = step.map_or_else(|| "start".into(), |step| format!("{step:?}"));
            let text = text.chars().take(120).collect::<String>();
            Err(SandboxError::Setup {
                step: "building the private root",
                path: None,
                source: io::Error::new(source.kind(), format!("{source} at {text}")),
            })
        }
        child::CHILD_FAILED => {
            let step = child::CHILD_STEPS.get(message.step).copied().unwrap_or("saying so");
            Err(setup(step)(io::Error::from_raw_os_error(message.errno)))
        }
        _ => {
            let other = io::Error::from_raw_os_error(message.errno);
            Err(setup("starting the entry")(other))
        }
    }
}

/// The process between pid 1 and the entry, which waits and is alive.
fn parent_of(entry: i32) -> Result<OwnedFd, SandboxError> {
    let found = process::parent(entry).and_then(rustix::process::Pid::from_raw);
    let flags = rustix::process::PidfdFlags::empty();
    let handle = found.ok_or(rustix::io::Errno::SRCH);
    let handle = handle.and_then(|parent| rustix::process::pidfd_open(parent, flags));
    handle.map_err(|error| setup("finding the entry's parent")(error.into()))
}

fn seize(pid: i32) -> Result<(), SandboxError> {
    let options = Options::PTRACE_O_EXITKILL
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEEXIT
        | Options::PTRACE_O_TRACESECCOMP
        | Options::PTRACE_O_TRACESYSGOOD;
    nix::sys::ptrace::seize(Pid::from_raw(pid), options).map_err(|error| SandboxError::Missing {
        what: format!("the exec reporter: ptrace is refused ({error})"),
        next: "see kernel.yama.ptrace_scope; in a container add the capability SYS_PTRACE".into(),
    })
}
