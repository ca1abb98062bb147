//! A process of the entry that is started for its games while it is still asked other things: one that starts slowly is there
//! when they begin.

use std::sync::{Arc, Mutex};

use crate::model::lock::lock;
use crate::sandbox::plan::{Confined, Launcher, Pipes, SandboxError, StartPlan};

/// The process, to which nothing was said yet.
pub(crate) struct EarlyProcess {
    plan: StartPlan,
    process: Box<dyn Confined>,
    pipes: Pipes,
}

impl std::fmt::Debug for EarlyProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EarlyProcess").field("plan", &self.plan).finish_non_exhaustive()
    }
}

impl EarlyProcess {
    pub(crate) fn start(
        launcher: &dyn Launcher,
        plan: StartPlan,
    ) -> Result<EarlyProcess, SandboxError> {
        let (process, pipes) = launcher.launch(&plan)?;
        Ok(EarlyProcess { plan, process, pipes })
    }
}

/// A launcher whose first start of the entry is the process that is there.
pub(crate) struct EarlyLauncher {
    early: Mutex<Option<EarlyProcess>>,
    others: Arc<dyn Launcher + Send + Sync>,
}

impl EarlyLauncher {
    /// Hands out `early`, then what `others` starts.
    pub(crate) fn new(
        early: EarlyProcess,
        others: Arc<dyn Launcher + Send + Sync>,
    ) -> EarlyLauncher {
        EarlyLauncher { early: Mutex::new(Some(early)), others }
    }
}

impl Launcher for EarlyLauncher {
    fn launch(&self, plan: &StartPlan) -> Result<(Box<dyn Confined>, Pipes), SandboxError> {
        let mut early = lock(&self.early);
        match early.take_if(|early| early.plan == *plan) {
            Some(EarlyProcess { process, pipes, .. }) => Ok((process, pipes)),
            None => self.others.launch(plan),
        }
    }

    fn replaced(&self) -> Vec<String> {
        self.others.replaced()
    }
}
