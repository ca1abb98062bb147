//! A trial of the whole sequence of namespaces and mounts on this host.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{io, thread};

use crate::model::evidence::Shell;
use crate::sandbox::child::{self, HeardFromChild};
use crate::sandbox::child_setup::{self, HostReady, HostSettings};
use crate::sandbox::launch::talk;
use crate::sandbox::limits::TASKS;
use crate::sandbox::plan::{Audit, SandboxError, Staging, StartPlan};
use crate::sandbox::users;

/// Tries the whole sequence of namespaces and mounts in a child that runs nothing.
pub(in crate::sandbox) fn try_all() -> io::Result<()> {
    let (path, bytes) = nothing();
    let host =
        HostReady::new(HostSettings { namespaces: true, tasks: TASKS, ..HostSettings::default() });
    let plan = StartPlan {
        bytes,
        staging: Staging::Neutral,
        shell: Shell::AsIs,
        audit: Audit::ProgramsOnly,
    };
    let all = |error: SandboxError| io::Error::other(error.to_string());
    let mut setup = child_setup::child_setup(&host, &plan, &path, None).map_err(all)?;
    setup.probe = true;
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let (ours, theirs) = talk().map_err(all)?;
            let first = child::clone_first(&setup, theirs.as_fd(), ours.as_fd(), None)?;
            drop(theirs);
            users::map(first.pid, setup.ids)?;
            nix::unistd::write(ours.as_fd(), &[child::GO])?;
            let heard = child::receive(ours.as_fd(), true)?;
            child::wait_for_all();
            match heard {
                HeardFromChild::Message(m) if m.kind == child::PROBED => Ok(()),
                HeardFromChild::Message(m) => {
                    let step = setup.root.as_ref().and_then(|root| root.steps().nth(m.step));
                    let text: String = format!("{step:?}").chars().take(100).collect();
                    let error = io::Error::from_raw_os_error(m.errno);
                    Err(io::Error::new(error.kind(), format!("{error} at {text}")))
                }
                HeardFromChild::Silence | HeardFromChild::End => {
                    Err(io::ErrorKind::UnexpectedEof.into())
                }
            }
        });
        worker.join().unwrap_or_else(|_| Err(io::Error::other("the probe ended at once")))
    })
}

/// An empty entry.
fn nothing() -> (PathBuf, Arc<[u8]>) {
    (Path::new("/entry/probe").to_owned(), Arc::from([]))
}
