//! A start in the sandbox and what came of it.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use gate4k::model::evidence::{Exec, ExecOutcome, ExitHow, LeftProcess};
use gate4k::sandbox::plan::{Launcher, StartPlan, Traces};

/// A start whose processes have all ended or been ended.
pub(crate) struct Done {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) exit: Option<ExitHow>,
    pub(crate) emptied: bool,
    pub(crate) left: Vec<LeftProcess>,
    pub(crate) traces: Traces,
}

impl Done {
    pub(crate) fn exec(&self, name: &str) -> &Exec {
        // A program that is not in the first directories of PATH was asked for there in vain.
        let mut execs = self.traces.execs.iter();
        let found = execs.find(|e| e.name == name && e.outcome != ExecOutcome::NotFound);
        found.unwrap_or_else(|| panic!("no exec of {name}: {:#?}", self.traces.execs))
    }

    pub(crate) fn files(&self) -> Vec<&str> {
        self.traces.left_files.iter().map(|file| file.path.as_str()).collect()
    }
}

/// Runs it with its input closed. `first` is how long its first process is waited for, `rest` how long all others are
/// after that.
pub(crate) fn run_plan(
    sandbox: &dyn Launcher,
    plan: &StartPlan,
    first: Duration,
    rest: Duration,
) -> Done {
    let (confined, pipes) = sandbox.launch(plan).expect("the sandbox starts");
    drop(pipes.stdin);
    let (out, err) = (reader(pipes.stdout), reader(pipes.stderr));
    let exit = confined.wait_first(Instant::now() + first);
    let emptied = confined.wait_empty(Instant::now() + rest);
    let left = confined.processes();
    let traces = confined.close();
    Done { out: out.join().unwrap(), err: err.join().unwrap(), exit, emptied, left, traces }
}

/// Reads all, so that nobody waits for room in the pipe.
fn reader(fd: OwnedFd) -> JoinHandle<String> {
    spawn(move || {
        let mut text = Vec::new();
        let _ = File::from(fd).read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    })
}
