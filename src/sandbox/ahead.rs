//! The next start of an entry is prepared while the last one runs.
//!
//! A check starts the same entry dozens of times. Namespaces, root, rules and filter cost some milliseconds each time,
//! and need nothing of the start but its plan, which is nearly always that of the start before. What is prepared is the
//! whole sandbox of its own, with the entry's process in it that waits for its streams; one that nobody takes goes
//! without having run. Only with namespaces: without them there is little to prepare, and no pid 1 that would end it
//! with us.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::confined::{Preparing, Sandbox, Waiting, pipes};
use super::networks::Networks;
use super::plan::{Audit, Confined, Launcher, Pipes, Plan, SandboxError, Staging};

/// A sandbox for starts of one entry after another.
pub struct Ahead {
    sandbox: Arc<Sandbox>,
    next: Mutex<Next>,
    /// The entry's own, from one start to the next.
    networks: Arc<Networks>,
}

/// What there is for the next start.
enum Next {
    Nothing,
    /// It is being prepared, or ready. If it fails, the next start will meet the error itself.
    Begun(Plan, Preparing),
}

impl Ahead {
    /// Nothing is prepared before the first start.
    #[must_use]
    pub fn new(sandbox: Arc<Sandbox>) -> Ahead {
        Ahead { sandbox, next: Mutex::new(Next::Nothing), networks: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Next> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was prepared for such a start.
    fn take(&self, plan: &Plan) -> Option<Waiting> {
        let mut next = self.lock();
        match std::mem::replace(&mut *next, Next::Nothing) {
            Next::Begun(for_this, making) if same(&for_this, plan) => {
                drop(next);
                making.ready().ok()
            }
            other => {
                *next = other;
                None
            }
        }
    }

    /// Begins to prepare the start that is likely to come after this one.
    fn make_next(&self, plan: &Plan) {
        if plan.staging != Staging::Neutral {
            // A question of its own, asked once.
            return;
        }
        // The start is audited in full once, too.
        let likely = Plan { audit: Audit::ProgramsOnly, ..plan.clone() };
        let mut next = self.lock();
        if matches!(&*next, Next::Begun(plan, _) if same(plan, &likely)) {
            return;
        }
        let networks = Some(Arc::clone(&self.networks));
        let Ok(making) = self.sandbox.prepare(&likely, networks) else {
            // Then the next start prepares itself.
            return;
        };
        let before = std::mem::replace(&mut *next, Next::Begun(likely, making));
        drop(next);
        before.discard();
    }
}

impl Next {
    /// Ends what was prepared in vain.
    fn discard(self) {
        if let Next::Begun(_, making) = self {
            drop(making.ready());
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        std::mem::replace(&mut *self.lock(), Next::Nothing).discard();
    }
}

impl Launcher for Ahead {
    fn launch(&self, plan: &Plan) -> Result<(Box<dyn Confined>, Pipes), SandboxError> {
        if !self.sandbox.has_namespaces() {
            return self.sandbox.launch(plan);
        }
        let (theirs, [stdin, stdout, stderr]) = pipes()?;
        // One that was killed while it waited is replaced.
        let taken = self.take(plan).and_then(|ready| self.sandbox.let_run(ready, &theirs).ok());
        let (confined, ended) = match taken {
            Some(running) => running,
            None => {
                let networks = Some(Arc::clone(&self.networks));
                self.sandbox.let_run(self.sandbox.prepare(plan, networks)?.ready()?, &theirs)?
            }
        };
        drop(theirs);
        self.make_next(plan);
        Ok((confined, Pipes { stdin, stdout, stderr, ended }))
    }
}

/// Whether what was prepared for the one serves the other.
fn same(one: &Plan, other: &Plan) -> bool {
    Arc::ptr_eq(&one.bytes, &other.bytes)
        && (&one.staging, one.shell, one.audit) == (&other.staging, other.shell, other.audit)
}
