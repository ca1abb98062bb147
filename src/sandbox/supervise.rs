//! The thread of one start: it works out what the children are to do, clones them, and traces the entry to its end.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, PoisonError, mpsc};

use nix::sys::ptrace::Options;
use nix::unistd::Pid;

use super::calls::OwnPlace;
use super::cgroup::Group;
use super::exec_audit::Tracer;
use super::last_word::LastWord;
use super::nest::Nest;
use super::networks::Networks;
use super::plan::{Plan, SandboxError};
use super::record::Raw;
use super::script::{self, HostReady};
use super::shared::Shared;
use super::spawn::{self, Begin, Heard, Network, Script};
use super::workspace::{Dirs, STAGING, Workspace, setup, stage_on_host, staged};
use super::{failure, users};
use crate::model::evidence::LaunchFailure;

/// What the thread is given.
pub(super) struct Start {
    pub(super) host: Arc<HostReady>,
    pub(super) plan: Plan,
    /// Where workspaces lie, where there is no mount namespace to hold them.
    pub(super) nest: Option<Arc<Nest>>,
    pub(super) group: Option<Arc<Group>>,
    /// The children's end of the socket, and ours.
    pub(super) theirs: OwnedFd,
    pub(super) talk: Arc<OwnedFd>,
    pub(super) shared: Arc<Shared>,
    /// What lends it a network, if anything does.
    pub(super) networks: Option<Arc<Networks>>,
}

/// What the thread brings home.
pub(super) struct Outcome {
    pub(super) raw: Raw,
    pub(super) launch_failure: Option<LaunchFailure>,
}

impl Start {
    /// The whole start: tells when the entry waits for its streams, or why it does not come to that, and at the end what
    /// was seen. Of who is told, each may have gone; then nobody wants to know.
    pub(super) fn run(
        self,
        report: &mpsc::Sender<Result<Workspace, SandboxError>>,
        at_end: &mpsc::Sender<Outcome>,
    ) {
        let shared = Arc::clone(&self.shared);
        let networks = self.networks.clone();
        let (outcome, network) = self.supervise(report);
        shared.all_gone();
        if let Some(outcome) = outcome {
            let _ = at_end.send(outcome);
        }
        spawn::wait_for_all();
        if let (Some(all), Some(network)) = (networks, network) {
            all.give_back(network);
        }
    }

    fn supervise(
        self,
        report: &mpsc::Sender<Result<Workspace, SandboxError>>,
    ) -> (Option<Outcome>, Option<Network>) {
        let (dirs, script) = match self.make() {
            Ok(made) => made,
            Err(error) => {
                let _ = report.send(Err(error));
                return (None, None);
            }
        };
        let Start { host, plan, group, theirs, talk, shared, networks, .. } = self;
        let network = networks.and_then(|all| all.lend(script.ids));
        let begun = begin(&script, theirs, &talk, &shared, group.as_deref(), network.as_ref());
        let (entry, root) = match begun {
            Ok(begun) => begun,
            Err(error) => {
                shared.kill();
                spawn::wait_for_all();
                let _ = report.send(Err(error));
                return (None, network);
            }
        };
        let (own, workspace) = match (dirs, root) {
            (Some(dirs), _) => {
                let top = dirs.top.path();
                // The kernel's own paths have no links in them.
                let own = OwnPlace::Below(top.canonicalize().unwrap_or_else(|_| top.to_owned()));
                (own, dirs.into_workspace())
            }
            (None, Some(root)) => {
                let root = File::from(root);
                // No device has the number 0 with anything of the host on it.
                let own = OwnPlace::Device(root.metadata().map_or(0, |meta| meta.dev()));
                (own, Workspace::Inside(root))
            }
            (None, None) => {
                shared.kill();
                spawn::wait_for_all();
                let none = io::Error::other("none was sent");
                let _ = report.send(Err(setup("receiving the new root")(none)));
                return (None, network);
            }
        };
        let us = std::process::id() as i32;
        let path = host.host.path.clone();
        let tracer = Tracer::new(&shared, entry, us, own, path, host.host.tasks);
        drop(group);
        let _ = report.send(Ok(workspace));
        let mut last_word = LastWord::new(&talk, script.root.is_some());
        let raw = tracer.run(&mut last_word);
        let failed = last_word.exec_failed();
        let launch_failure = failed.map(|errno| failure::launch_failure(errno, &plan.bytes));
        (Some(Outcome { raw, launch_failure }), network)
    }

    /// The entry's place on the host, if it has one there, and what the children are to do.
    fn make(&self) -> Result<(Option<Dirs>, Script), SandboxError> {
        let (host, plan) = (&self.host, &self.plan);
        let dirs = self.nest.as_ref().map(|nest| Dirs::new(Arc::clone(nest))).transpose()?;
        let entry = staged(plan, dirs.as_ref().map_or(Path::new("/"), |dirs| dirs.top.path()));
        if dirs.is_some() {
            stage_on_host(&entry, &plan.bytes)?;
        }
        let script = script::script(host, plan, &entry, dirs.as_ref())?;
        Ok((dirs, script))
    }
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
