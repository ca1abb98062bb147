//! Progress of many entries on standard error: a line a worker on a terminal, else a line an entry.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::batch::pool::{Judged, Watch};
use crate::model::text::{escape, shown};

/// How the entries are told of.
pub(crate) enum WorkerLines {
    /// On a terminal: what each worker does, and how many are done.
    Lines { all: MultiProgress, workers: Vec<ProgressBar>, done: ProgressBar },
    /// Elsewhere: a line for each entry that is done.
    Plain { total: usize },
    /// Not at all.
    Silent,
}

impl WorkerLines {
    /// For `total` entries that `workers` judge.
    pub(crate) fn new(quiet: bool, workers: usize, total: usize) -> WorkerLines {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let terminal = std::io::stderr().is_terminal();
        if quiet || (total < 2 && (dumb || !terminal)) {
            return WorkerLines::Silent;
        }
        if dumb || !terminal {
            return WorkerLines::Plain { total };
        }
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let line = |template: &str| {
            ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_spinner())
        };
        let workers = (0..workers)
            .map(|_| all.add(ProgressBar::new_spinner().with_style(line("{spinner} {wide_msg}"))))
            .collect();
        let done = all.add(ProgressBar::new(total as u64));
        done.set_style(line("{bar:40} {pos} of {len} entries, {elapsed}"));
        if total < 2 {
            done.set_draw_target(ProgressDrawTarget::hidden());
        } else {
            done.enable_steady_tick(Duration::from_secs(1));
        }
        WorkerLines::Lines { all, workers, done }
    }

    /// An entry is judged; `number` counts from one.
    pub(crate) fn done(&self, number: usize, path: &Path, judged: &Judged) {
        match self {
            WorkerLines::Lines { done, .. } => done.inc(1),
            WorkerLines::Plain { total } => {
                let word = judged.as_ref().map_or("not judged", |report| report.verdict.word());
                // Not eprintln: it panics where standard error is closed.
                let _ =
                    writeln!(std::io::stderr(), "{number} of {total}: {word:<10}  {}", shown(path));
            }
            WorkerLines::Silent => {}
        }
    }

    /// Prints something while the lines are away.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        match self {
            WorkerLines::Lines { all, .. } => all.suspend(print),
            WorkerLines::Plain { .. } | WorkerLines::Silent => print(),
        }
    }
}

impl Watch for WorkerLines {
    fn step(&self, worker: usize, entry: &Path, step: &str) {
        if let WorkerLines::Lines { workers, .. } = self
            && let Some(line) = workers.get(worker)
        {
            let step = escape(step.as_bytes(), 200);
            line.set_message(format!("{}: {step}", shown(entry)));
            line.tick();
        }
    }

    fn rests(&self, worker: usize) {
        if let WorkerLines::Lines { workers, .. } = self
            && let Some(line) = workers.get(worker)
        {
            line.set_message("");
        }
    }
}

impl Drop for WorkerLines {
    fn drop(&mut self) {
        if let WorkerLines::Lines { all, .. } = self {
            // The lines are gone in any case when the report is there.
            let _ = all.clear();
        }
    }
}
