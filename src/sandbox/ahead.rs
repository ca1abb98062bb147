//! The next starts of an entry are prepared while the last one runs.
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

/// A sandbox for the starts of one entry: each entry gets an `Ahead` of its own, since its starts share networks.
pub struct Ahead {
    sandbox: Arc<Sandbox>,
    next: Mutex<Vec<Next>>,
    /// The entry's own, from one start to the next.
    networks: Arc<Networks>,
}

/// So many wait: while one of two processors prepares a start, the other lets one run.
const WAITING: usize = 2;

/// A start that is being prepared, or ready. If it fails, the start that wants it will meet the error itself.
struct Next {
    plan: Plan,
    making: Preparing,
}

impl Ahead {
    /// Nothing is prepared before the first start.
    #[must_use]
    pub fn new(sandbox: Arc<Sandbox>) -> Ahead {
        Ahead { sandbox, next: Mutex::default(), networks: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Next>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was prepared for such a start: of several, the one that was begun first.
    fn take(&self, plan: &Plan) -> Option<Waiting> {
        let mut waiting = self.lock();
        let index = waiting.iter().position(|next| same(&next.plan, plan))?;
        let next = waiting.remove(index);
        drop(waiting);
        next.making.ready().ok()
    }

    /// Begins to prepare the starts that are likely to come after this one.
    fn make_next(&self, plan: &Plan) {
        if plan.staging != Staging::Neutral {
            // A question of its own, asked once.
            return;
        }
        // The start is audited in full once, too.
        let likely = Plan { audit: Audit::ProgramsOnly, ..plan.clone() };
        let mut waiting = self.lock();
        let vain: Vec<Next> = waiting.extract_if(.., |next| !same(&next.plan, &likely)).collect();
        while waiting.len() < WAITING {
            let networks = Some(Arc::clone(&self.networks));
            let Ok(making) = self.sandbox.prepare(&likely, networks) else {
                // Then the next start prepares itself.
                break;
            };
            waiting.push(Next { plan: likely.clone(), making });
        }
        drop(waiting);
        vain.into_iter().for_each(Next::discard);
    }
}

impl Next {
    /// Ends what was prepared in vain.
    fn discard(self) {
        drop(self.making.ready());
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        let vain = std::mem::take(&mut *self.lock());
        vain.into_iter().for_each(Next::discard);
    }
}

impl Launcher for Ahead {
    fn launch(&self, plan: &Plan) -> Result<(Box<dyn Confined>, Pipes), SandboxError> {
        if !self.sandbox.has_namespaces() {
            return self.sandbox.launch(plan);
        }
        let (theirs, [stdin, stdout, stderr]) = pipes()?;
        let mut taken = None;
        // One that was killed while it waited does not run.
        while taken.is_none()
            && let Some(ready) = self.take(plan)
        {
            taken = self.sandbox.let_run(ready, &theirs).ok();
        }
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
