//! An event told to others while it is played: a thread for each place that follows the journal, as every reader does.
//!
//! No game waits for it: a place that is slow or gone is tried again after a while, and gets then what it has missed.
//! Trouble is told in one line when it begins to last, and its end in another.

mod folder;
mod lichess;
mod push;

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::event::broadcast::{EventChanges, Follower};
use crate::event::config::EventConfig;
use crate::model::lock::lock;

pub(crate) use folder::{Folder, FolderForm};
pub(crate) use lichess::Lichess;

/// The least time between two looks at the journal.
const LOOK: Duration = Duration::from_millis(50);
/// After work that took long, so many times as long passes: it takes no more than a tenth of a processor from the games.
const SHARE: u32 = 10;

/// The most reasons that are told of one trouble.
const REASONS: usize = 3;

/// A place where an event is published.
pub(crate) trait Destination: Send {
    /// In words, for what is told of it.
    fn name(&self) -> String;
    /// The least time between two calls of [`Destination::put`].
    fn period(&self) -> Duration;
    /// The failures in a row after which it is told that there is trouble.
    fn patience(&self) -> u32;
    /// Takes the changes since the last call that ended well.
    ///
    /// # Errors
    /// When it has not taken all of them.
    fn put(
        &mut self,
        config: &EventConfig,
        event: &Follower,
        changes: &EventChanges,
    ) -> Result<(), Failure>;
    /// Matters of single games, to be told once.
    fn remarks(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// A place that did not take all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The reason, with the next step.
    pub(crate) words: String,
    /// The time to wait until it is tried again.
    pub(crate) after: Duration,
    /// The use of waiting.
    pub(crate) hope: RetryValue,
}

/// The use of trying again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryValue {
    /// By itself.
    Some,
    /// Only when somebody changes something.
    None,
}

/// The thread of a place.
#[derive(Debug)]
pub(crate) struct Publisher {
    name: String,
    end: Arc<End>,
    done: mpsc::Receiver<()>,
}

#[derive(Debug, Default)]
struct End {
    asked: Mutex<bool>,
    changed: Condvar,
}

impl End {
    /// Waits so long, and says if the end was asked for.
    fn wait(&self, time: Duration) -> bool {
        let asked = lock(&self.asked);
        let waited = self.changed.wait_timeout_while(asked, time, |asked| !*asked);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Publisher {
    /// Begins to follow an event; `say` takes a line of what people should know.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn start(
        config: &EventConfig,
        place: Box<dyn Destination>,
        say: fn(&str),
    ) -> io::Result<Publisher> {
        let (name, end) = (place.name(), Arc::new(End::default()));
        let (sender, done) = mpsc::channel();
        let thread = PublisherThread {
            config: config.clone(),
            follower: Follower::new(config),
            // There are files before there is a journal.
            waits: EventChanges { is_anew: true, ..EventChanges::default() },
            failures: 0,
            told: BTreeSet::new(),
            place,
            say,
        };
        let own = Arc::clone(&end);
        std::thread::Builder::new().name("publish".into()).spawn(move || {
            // The games of this host come first.
            let _ = rustix::process::nice(10);
            thread.work(&own);
            drop(sender);
        })?;
        Ok(Publisher { name, end, done })
    }

    /// Waits until the place has all that the journal has, as long as that may still come: until `give_up` says so,
    /// which is asked again and again. Tells where it does not come.
    pub(crate) fn finish(self, say: fn(&str), give_up: impl Fn() -> bool) {
        *lock(&self.end.asked) = true;
        self.end.changed.notify_all();
        while self.done.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout) {
            if give_up() {
                say(&format!(
                    "{} does not have all of the event; `gate4k event run` with the same --publish tells it the rest once \
                     it takes that",
                    self.name
                ));
                return;
            }
        }
    }
}

/// Tells one place of the event, on a thread of its own.
struct PublisherThread {
    config: EventConfig,
    follower: Follower,
    /// The changes that the place does not have.
    waits: EventChanges,
    /// The failures in a row.
    failures: u32,
    /// The reasons that somebody was told.
    told: BTreeSet<String>,
    place: Box<dyn Destination>,
    say: fn(&str),
}

impl PublisherThread {
    fn work(mut self, end: &End) {
        let mut pause = Duration::ZERO;
        loop {
            // Asked before the look: what the journal has by then is all.
            let is_last = end.wait(pause);
            self.look();
            if self.waits.is_none() {
                if is_last {
                    return;
                }
                pause = LOOK;
                continue;
            }
            let began = Instant::now();
            let done = self.place.put(&self.config, &self.follower, &self.waits);
            self.place.remarks().iter().for_each(|line| (self.say)(line));
            pause = (SHARE * began.elapsed()).max(self.place.period());
            match done {
                Ok(()) => {
                    (self.waits, self.failures) = (EventChanges::default(), 0);
                    if !std::mem::take(&mut self.told).is_empty() {
                        (self.say)(&format!("{} follows the event again", self.place.name()));
                    }
                }
                Err(failure) => {
                    pause = failure.after;
                    self.failures = self.failures.saturating_add(1);
                    let is_hopeless = failure.hope == RetryValue::None;
                    let lasts = is_hopeless || self.failures >= self.place.patience();
                    // The reasons of a patient place pass, and are told as one.
                    let is_another = self.place.patience() == 1
                        && self.told.len() < REASONS
                        && !self.told.contains(&failure.words);
                    let is_new = self.told.is_empty() || is_another;
                    if lasts && is_new {
                        self.told.insert(failure.words.clone());
                        (self.say)(&format!(
                            "{}: {}; no game waits for it, and it is tried again",
                            self.place.name(),
                            failure.words
                        ));
                    }
                    if is_last && is_hopeless {
                        return;
                    }
                    // Asked for already, the end would not wait.
                    if is_last {
                        std::thread::sleep(pause);
                    }
                }
            }
        }
    }

    fn look(&mut self) {
        match self.follower.look(&self.config) {
            Ok(changes) => {
                self.waits.games.extend(changes.games);
                self.waits.has_turned |= changes.has_turned;
                self.waits.is_anew |= changes.is_anew;
            }
            // There is none before the event begins, and a damaged one ends the event by itself.
            Err(_) => self.follower = Follower::new(&self.config),
        }
    }
}
