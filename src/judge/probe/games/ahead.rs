//! A process of the entry that is started for its games while it is still asked other things: one that starts slowly is there
//! when they begin.

use std::sync::{Arc, Mutex, PoisonError};

use crate::sandbox::plan::{Confined, Launcher, Pipes, SandboxError, StartPlan};

/// The process, to which nothing was said yet.
pub(crate) struct Ahead {
    plan: StartPlan,
    process: Box<dyn Confined>,
    pipes: Pipes,
}

impl std::fmt::Debug for Ahead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ahead").field("plan", &self.plan).finish_non_exhaustive()
    }
}

impl Ahead {
    /// Starts it.
    ///
    /// # Errors
    /// When the sandbox could not be built.
    pub(crate) fn start(launcher: &dyn Launcher, plan: StartPlan) -> Result<Ahead, SandboxError> {
        let (process, pipes) = launcher.launch(&plan)?;
        Ok(Ahead { plan, process, pipes })
    }
}

/// A launcher whose first start of the entry is the process that is there.
pub(crate) struct FirstAhead {
    ahead: Mutex<Option<Ahead>>,
    others: Arc<dyn Launcher + Send + Sync>,
}

impl FirstAhead {
    /// Hands out `ahead`, then what `others` starts.
    pub(crate) fn new(ahead: Ahead, others: Arc<dyn Launcher + Send + Sync>) -> FirstAhead {
        FirstAhead { ahead: Mutex::new(Some(ahead)), others }
    }
}

impl Launcher for FirstAhead {
    fn launch(&self, plan: &StartPlan) -> Result<(Box<dyn Confined>, Pipes), SandboxError> {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        match ahead.take_if(|ahead| ahead.plan == *plan) {
            Some(Ahead { process, pipes, .. }) => Ok((process, pipes)),
            None => self.others.launch(plan),
        }
    }

    fn replaced(&self) -> Vec<String> {
        self.others.replaced()
    }
}
