//! Progress of the entries on standard error: a line a worker on a terminal; elsewhere a line for each of several entries,
//! and one now and then that says what is waited for.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::live::Live;
use crate::batch::pool::{Judged, PoolWatch};
use crate::cmd::say;
use crate::model::lock::lock;
use crate::model::text::{escape, shown};
use crate::model::words::counted;

/// The time without a line after which one says what is waited for.
const SILENCE: Duration = Duration::from_secs(15);

/// The time after which lines that are drawn show the time that has passed.
const TICK: Duration = Duration::from_millis(500);

/// The way in which the entries are told of.
pub(crate) struct WorkerLines {
    work: Arc<Mutex<Work>>,
    /// Hears of each line that was written; once it is gone, the clock stops.
    told: Mutex<Option<Sender<()>>>,
    clock: Option<JoinHandle<()>>,
}

/// The work under way, and where it is told.
struct Work {
    look: WorkerLook,
    total: usize,
    done: usize,
    began: Instant,
    workers: Vec<Option<Doing>>,
}

/// The place where work is told.
enum WorkerLook {
    /// On a terminal: what each worker does, and how many are done.
    Drawn(Live),
    /// Elsewhere: lines that stay.
    Plain,
    /// Nowhere, or no more.
    Nothing,
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
        let live = Live::new(look != ProgressLook::Drawn);
        let (look, pause) = match look {
            ProgressLook::Nothing => (WorkerLook::Nothing, None),
            _ if live.is_shown() => (WorkerLook::Drawn(live), Some(TICK)),
            ProgressLook::Drawn | ProgressLook::Plain => (WorkerLook::Plain, Some(SILENCE)),
        };
        let workers = (0..workers).map(|_| None).collect();
        let work = Work { look, total, done: 0, began: Instant::now(), workers };
        let work = Arc::new(Mutex::new(work));
        let (told, heard) = mpsc::channel();
        let watched = Arc::clone(&work);
        let clock = pause.map(|pause| {
            thread::spawn(move || {
                loop {
                    match heard.recv_timeout(pause) {
                        Ok(()) => {}
                        Err(RecvTimeoutError::Disconnected) => break,
                        Err(RecvTimeoutError::Timeout) => lock(&watched).remind(Instant::now()),
                    }
                }
            })
        });
        WorkerLines { work, told: Mutex::new(Some(told)), clock }
    }

    /// For one entry and one worker: drawn, unless `quiet`.
    pub(crate) fn of_one(quiet: bool) -> WorkerLines {
        WorkerLines::new(if quiet { ProgressLook::Nothing } else { ProgressLook::Drawn }, 1, 1)
    }

    /// Takes the lines away for good, also from workers that go on.
    pub(crate) fn end(&self) {
        // The drawn lines are taken away as it is dropped.
        lock(&self.work).look = WorkerLook::Nothing;
        *lock(&self.told) = None;
    }

    /// Prints something while the lines are away.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        let mut work = lock(&self.work);
        if let WorkerLook::Drawn(live) = &mut work.look {
            live.clear();
        }
        let printed = print();
        work.draw();
        printed
    }
}

impl Drop for WorkerLines {
    fn drop(&mut self) {
        self.end();
        if let Some(clock) = self.clock.take() {
            // A clock that panicked has told so by itself.
            let _ = clock.join();
        }
    }
}

impl Work {
    /// Says what is waited for when nothing was said for a while.
    fn remind(&mut self, now: Instant) {
        match self.look {
            WorkerLook::Drawn(_) => self.draw(),
            WorkerLook::Plain => self.line(now).iter().for_each(|line| say(line)),
            WorkerLook::Nothing => {}
        }
    }

    /// Draws how things stand, where that is seen.
    fn draw(&mut self) {
        let lines = self.lines(Instant::now());
        if let WorkerLook::Drawn(live) = &mut self.look {
            live.draw(&lines);
        }
    }

    /// A line for each worker that has an entry, with the seconds that it has taken; and one on all of several entries.
    fn lines(&self, now: Instant) -> Vec<String> {
        let is_alone = self.workers.len() == 1;
        let passed = |since| format!("{}s", now.saturating_duration_since(since).as_secs());
        let line = |doing: &Doing| {
            let step = &doing.step;
            // Of a single entry the one who waits knows the name.
            let what = if is_alone { step.clone() } else { format!("{}: {step}", doing.entry) };
            format!("{:>5}  {what}", passed(doing.since))
        };
        let mut lines: Vec<String> = self.workers.iter().flatten().map(line).collect();
        if self.total > 1 {
            let all = counted(self.total, "entry");
            lines.push(format!("{:>5}  {} of {all} done", passed(self.began), self.done));
        }
        lines
    }

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
        let mut work = lock(&self.work);
        let Some(place) = work.workers.get_mut(worker) else { return };
        let (entry, step) = (shown(entry), escape(step.as_bytes(), 200));
        match place {
            Some(doing) if doing.entry == entry => doing.step = step,
            _ => *place = Some(Doing { entry, step, since: Instant::now() }),
        }
        work.draw();
    }

    fn rests(&self, worker: usize) {
        let mut work = lock(&self.work);
        if let Some(place) = work.workers.get_mut(worker) {
            *place = None;
        }
        work.draw();
    }

    fn done(&self, path: &Path, judged: &Judged) {
        let mut work = lock(&self.work);
        work.done += 1;
        // Of a single one the report says the same.
        if matches!(work.look, WorkerLook::Plain) && work.total > 1 {
            let word = judged.as_ref().map_or("not judged", |report| report.verdict.word());
            say(&format!("{} of {}: {word:<10}  {}", work.done, work.total, shown(path)));
            if let Some(told) = lock(&self.told).as_ref() {
                // The clock hears until it is told to stop.
                let _ = told.send(());
            }
        }
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
        let mut work = Work {
            look: WorkerLook::Nothing,
            total: 9,
            done: 3,
            began: now - Duration::from_secs(100),
            workers: vec![Some(doing("a", 2)), None],
        };
        work.workers.push(Some(doing("b", 31)));
        assert_eq!(
            work.line(now).unwrap(),
            "still checking b (31 s): game 2 of 4; 3 of 9 entries are done"
        );
        let lines =
            ["   2s  a: game 2 of 4", "  31s  b: game 2 of 4", " 100s  3 of 9 entries done"];
        assert_eq!(work.lines(now), lines);
        work.total = 1;
        assert_eq!(work.line(now).unwrap(), "still checking b (31 s): game 2 of 4");
        work.workers.clear();
        assert_eq!(work.line(now), None);
    }
}
