//! Progress of the entries on standard error: a line a worker on a terminal; elsewhere a line for each of several entries,
//! and one now and then that says what is waited for.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::batch::pool::{Judged, PoolWatch};
use crate::cmd::say;
use crate::model::text::{escape, shown};

/// After so long without a line one says what is waited for.
const SILENCE: Duration = Duration::from_secs(15);

/// Between two looks of a drawn line.
const TICK: Duration = Duration::from_millis(500);

/// How the entries are told of.
pub(crate) enum WorkerLines {
    /// On a terminal: what each worker does, and how many are done.
    Lines { all: MultiProgress, workers: Vec<ProgressBar>, done: ProgressBar },
    /// Elsewhere: lines that stay.
    Plain(PlainLines),
    /// Not at all.
    Silent,
}

/// Lines that stay.
pub(crate) struct PlainLines {
    total: usize,
    work: Arc<Mutex<Work>>,
    /// Hears of each line that was written; once it is gone, the clock stops and no more is told.
    told: Mutex<Option<Sender<()>>>,
    clock: Option<JoinHandle<()>>,
}

/// The work under way.
struct Work {
    total: usize,
    done: usize,
    workers: Vec<Option<Doing>>,
}

/// An entry that a worker judges.
struct Doing {
    entry: String,
    step: String,
    since: Instant,
}

/// The look of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgressLook {
    /// Drawn anew where standard error is a terminal.
    Drawn,
    /// Only lines that stay.
    Plain,
    /// No lines at all.
    Nothing,
}

impl WorkerLines {
    /// For `total` entries that `workers` judge.
    pub(crate) fn new(look: ProgressLook, workers: usize, total: usize) -> WorkerLines {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        match look {
            ProgressLook::Nothing => WorkerLines::Silent,
            ProgressLook::Drawn if !dumb && std::io::stderr().is_terminal() => {
                drawn(workers, total)
            }
            ProgressLook::Drawn | ProgressLook::Plain => {
                WorkerLines::Plain(PlainLines::new(workers, total))
            }
        }
    }

    /// Takes the lines away for good, also from workers that go on.
    pub(crate) fn end(&self) {
        match self {
            WorkerLines::Lines { all, .. } => {
                // The lines are gone in any case when the report is there.
                let _ = all.clear();
                all.set_draw_target(ProgressDrawTarget::hidden());
            }
            WorkerLines::Plain(plain) => plain.end(),
            WorkerLines::Silent => {}
        }
    }

    /// Prints something while the lines are away.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        match self {
            WorkerLines::Lines { all, .. } => all.suspend(print),
            WorkerLines::Plain(_) | WorkerLines::Silent => print(),
        }
    }
}

fn drawn(workers: usize, total: usize) -> WorkerLines {
    let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
    let line = |template: &str| {
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
    };
    let worker = || {
        let bar = all
            .add(ProgressBar::new_spinner().with_style(line("{spinner} {elapsed:>4}  {wide_msg}")));
        bar.enable_steady_tick(TICK);
        bar
    };
    let workers = (0..workers).map(|_| worker()).collect();
    let done = all.add(ProgressBar::new(total as u64));
    done.set_style(line("{pos} of {len} entries, {elapsed}  {wide_bar}"));
    if total < 2 {
        done.set_draw_target(ProgressDrawTarget::hidden());
    } else {
        done.enable_steady_tick(Duration::from_secs(1));
    }
    WorkerLines::Lines { all, workers, done }
}

impl PlainLines {
    fn new(workers: usize, total: usize) -> PlainLines {
        let workers = (0..workers).map(|_| None).collect();
        let work = Arc::new(Mutex::new(Work { total, done: 0, workers }));
        let (told, heard) = mpsc::channel();
        let watched = Arc::clone(&work);
        let clock = thread::spawn(move || {
            loop {
                match heard.recv_timeout(SILENCE) {
                    Ok(()) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {
                        let work = watched.lock().unwrap_or_else(PoisonError::into_inner);
                        work.line(Instant::now()).iter().for_each(|line| say(line));
                    }
                }
            }
        });
        PlainLines { total, work, told: Mutex::new(Some(told)), clock: Some(clock) }
    }

    fn done(&self, path: &Path, judged: &Judged) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        work.done += 1;
        let number = work.done;
        drop(work);
        // Of a single one the report says the same.
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(told) = told.as_ref().filter(|_| self.total > 1) {
            let word = judged.as_ref().map_or("not judged", |report| report.verdict.word());
            say(&format!("{number} of {}: {word:<10}  {}", self.total, shown(path)));
            // The clock hears until it is told to stop.
            let _ = told.send(());
        }
    }

    fn end(&self) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn is_doing(&self, worker: usize, doing: Option<(&Path, &str)>) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(place) = work.workers.get_mut(worker) else { return };
        let Some((entry, step)) = doing else {
            *place = None;
            return;
        };
        let (entry, step) = (shown(entry), escape(step.as_bytes(), 200));
        match place {
            Some(doing) if doing.entry == entry => doing.step = step,
            _ => *place = Some(Doing { entry, step, since: Instant::now() }),
        }
    }
}

impl Drop for PlainLines {
    fn drop(&mut self) {
        self.end();
        if let Some(clock) = self.clock.take() {
            // A clock that panicked has told so by itself.
            let _ = clock.join();
        }
    }
}

impl Work {
    /// The entry that has taken longest so far; none where no worker has one.
    fn line(&self, now: Instant) -> Option<String> {
        let longest = self.workers.iter().flatten().min_by_key(|doing| doing.since)?;
        let seconds = now.saturating_duration_since(longest.since).as_secs();
        let mut line = format!("still checking {} ({seconds} s): {}", longest.entry, longest.step);
        if self.total > 1 {
            line += &format!("; {} of {} entries are done", self.done, self.total);
        }
        Some(line)
    }
}

impl PoolWatch for WorkerLines {
    fn step(&self, worker: usize, entry: &Path, step: &str) {
        match self {
            WorkerLines::Lines { workers, .. } => {
                let Some(line) = workers.get(worker) else { return };
                // Of a single entry the one who waits knows the name.
                let before = match workers.len() {
                    1 => String::new(),
                    _ => format!("{}: ", shown(entry)),
                };
                if line.is_finished() {
                    // A result that load may have caused is judged again when all others are done.
                    line.reset();
                    line.enable_steady_tick(TICK);
                } else if !line.message().starts_with(&before) {
                    line.reset_elapsed();
                }
                line.set_message(before + &escape(step.as_bytes(), 200));
            }
            WorkerLines::Plain(plain) => plain.is_doing(worker, Some((entry, step))),
            WorkerLines::Silent => {}
        }
    }

    fn rests(&self, worker: usize) {
        match self {
            WorkerLines::Lines { workers, .. } => {
                if let Some(line) = workers.get(worker) {
                    line.finish_and_clear();
                }
            }
            WorkerLines::Plain(plain) => plain.is_doing(worker, None),
            WorkerLines::Silent => {}
        }
    }

    fn done(&self, path: &Path, judged: &Judged) {
        match self {
            WorkerLines::Lines { done, .. } => done.inc(1),
            WorkerLines::Plain(plain) => plain.done(path, judged),
            WorkerLines::Silent => {}
        }
    }
}

impl Drop for WorkerLines {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_that_takes_longest_is_told() {
        let now = Instant::now();
        let doing = |entry: &str, seconds| Doing {
            entry: entry.to_owned(),
            step: "game 2 of 4".to_owned(),
            since: now - Duration::from_secs(seconds),
        };
        let mut work = Work { total: 9, done: 3, workers: vec![Some(doing("a", 2)), None] };
        work.workers.push(Some(doing("b", 31)));
        assert_eq!(
            work.line(now).unwrap(),
            "still checking b (31 s): game 2 of 4; 3 of 9 entries are done"
        );
        work.total = 1;
        assert_eq!(work.line(now).unwrap(), "still checking b (31 s): game 2 of 4");
        work.workers.clear();
        assert_eq!(work.line(now), None);
    }
}
