//! The gate of an event: entries judged beside each other as `check` judges a batch, on a thread that nobody waits for
//! once the event was asked to stop. A check that is cut leaves nothing behind, whichever moment it is cut at.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::entrants::GateCandidate;
use crate::batch::pool::{self, Assess, Concurrency, Judged, PoolWatch};
use crate::engine::stop::{Stop, StopLevel};
use crate::judge::error::CheckError;
use crate::judge::settings::Settings;

/// Between two looks whether the event is to stop.
const LOOK: Duration = Duration::from_millis(100);

/// The observer of an event's gate, which may outlive the wait for it.
pub(crate) type Watcher = Arc<dyn PoolWatch + Send>;

/// Entries on their way through.
#[derive(Debug)]
pub(super) struct Gate {
    /// The reports, in the order of the entries.
    reports: Receiver<Judged>,
}

impl Gate {
    /// The number of entries and of probes at a time.
    pub(super) fn concurrency() -> Concurrency {
        Concurrency::new(None, Settings::default().jobs)
    }

    /// Begins to judge these.
    ///
    /// # Errors
    /// When there is no thread.
    pub(super) fn open(candidates: Vec<GateCandidate>, watch: Watcher) -> std::io::Result<Gate> {
        let (send, reports) = mpsc::channel();
        let work = move || {
            // Two entries may be one file, each with its own engine of an engines.json: their names differ.
            let names: Vec<PathBuf> =
                candidates.iter().map(|one| one.name.clone().into()).collect();
            let assess: Assess<'_> = &|name, jobs, progress| {
                let known = candidates.iter().find(|one| name.as_os_str() == one.name.as_str());
                let Some(candidate) = known else {
                    return Err(CheckError::Internal(format!("nobody is {}", name.display())));
                };
                candidate.judge.assess(&candidate.path, jobs, progress)
            };
            let hear = |_, judged| send.send(judged).map_err(drop);
            // An error means that nobody listens any more.
            let _ = pool::run(&names, Gate::concurrency(), assess, &*watch, |_, _| Ok(()), hear);
        };
        thread::Builder::new().name("gate".into()).spawn(work)?;
        Ok(Gate { reports })
    }

    /// The next report; none if the event is to stop before it is there.
    pub(super) fn next(&self, stop: &Stop) -> Option<Judged> {
        loop {
            match self.reports.recv_timeout(LOOK) {
                Ok(judged) => return Some(judged),
                Err(RecvTimeoutError::Timeout) if stop.level() == StopLevel::GoOn => {}
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => {
                    let what = "the gate ended before it had judged every entry".to_owned();
                    return Some(Err(CheckError::Internal(what)));
                }
            }
        }
    }
}
