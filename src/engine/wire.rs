//! The pipes to an engine: one write for a question, one poll and one read for its answer, no memory taken on the
//! way, and no wait without a bound.
//!
//! Every poll also watches standard error (always drained: nothing an engine writes there can block it), the end
//! of the first process (the background `sleep 3; rm` of a stub holds the pipes open long after the engine died),
//! and the request to stop at once. While we wait to write we still read, so that an engine which writes before
//! it reads never locks up with us.
//!
//! An engine that answers at once is let run before anything is waited for (`HandOver`), and then there is no
//! poll. The calls of this file go to the kernel by rustix, without the C library's bookkeeping for threads that
//! are cancelled.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, read, write};
use rustix::thread::sched_yield;

use super::hand_over::{AnswerStep, HandOver};
use super::stop::{Stop, StopLevel};
use crate::model::units::Bytes;
use crate::sandbox::plan::Pipes;

/// The longest line: more than any position or line of play has, and what programs that play matches take as well.
pub(crate) const LONGEST_LINE: usize = 256 * 1024;
/// More bytes than this in answer to one question are a flood.
const MOST_BYTES: u64 = 64 << 20;
/// More lines than this in answer to one question are a flood.
pub(crate) const MOST_LINES: u64 = 1 << 20;
/// The number of bytes of standard error that are kept.
const STDERR_TAIL: usize = 4096;

/// Takes part in a conversation without a word: it may keep a record of it.
pub(crate) trait Observer {
    /// The first process has ended but something holds its output open: after so long without a byte, and without a
    /// question, it counts as closed.
    const QUIET: Duration = Duration::ZERO;
    /// True if a flood ends the conversation. Else lines that are too long are passed over, and the deadline
    /// bounds the rest.
    const FLOODS_END: bool = false;

    /// A line was sent.
    fn sent(&mut self, _line: &[u8]) {}
    /// A line was received.
    fn received(&mut self, _at: Instant, _line: &[u8]) {}
    /// A chunk came on standard error.
    fn stderr(&mut self, _chunk: &[u8]) {}
    /// Something happened that a reader of the record should know.
    fn note(&mut self, _text: &str) {}
}

/// The reason why nothing came or could be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// The deadline passed.
    Timeout,
    /// The process has ended or closed its pipes.
    Gone,
    /// Asked to stop at once.
    Stopped,
    /// More came than anybody says in answer to one question.
    Flood(Bytes),
}

/// The pipes of one engine.
#[derive(Debug)]
pub(crate) struct Wire<O> {
    stdin: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    ended: OwnedFd,
    /// When the first process was seen to have ended.
    ended_at: Option<Instant>,
    stop: Stop,
    /// True once nothing that is waited for is broken off by the request to stop.
    leaving: bool,
    buffer: Box<[u8]>,
    /// Read and not yet taken: `buffer[start..end]`, without a line end before `looked`.
    start: usize,
    looked: usize,
    end: usize,
    /// The end of the last read in the buffer: what stands before it was said last, taken or not.
    heard: usize,
    /// Inside a line that is too long.
    skipping: bool,
    /// The moment at which the last question was written.
    asked: Option<Instant>,
    read_at: Instant,
    hand_over: HandOver,
    /// Bytes and lines of the answer so far.
    bytes: u64,
    lines: u64,
    flooded: bool,
    stderr_tail: Vec<u8>,
    observer: O,
}

/// The findings of a poll.
#[derive(Clone, Copy)]
struct Ready {
    output: bool,
    input: bool,
}

impl<O: Observer> Wire<O> {
    /// Takes over the pipes.
    ///
    /// # Errors
    /// When they cannot be made non-blocking.
    pub(crate) fn new(pipes: Pipes, stop: Stop, observer: O) -> std::io::Result<Wire<O>> {
        for fd in [&pipes.stdin, &pipes.stdout, &pipes.stderr] {
            fcntl_setfl(fd, fcntl_getfl(fd)? | OFlags::NONBLOCK)?;
        }
        Ok(Wire {
            stdin: Some(pipes.stdin),
            stdout: Some(pipes.stdout),
            stderr: Some(pipes.stderr),
            ended: pipes.ended,
            ended_at: None,
            stop,
            leaving: false,
            buffer: vec![0; LONGEST_LINE + 1].into_boxed_slice(),
            start: 0,
            looked: 0,
            end: 0,
            heard: 0,
            skipping: false,
            asked: None,
            read_at: Instant::now(),
            hand_over: HandOver::here(),
            bytes: 0,
            lines: 0,
            flooded: false,
            stderr_tail: Vec::new(),
            observer,
        })
    }

    /// Closes the pipes, and gives the observer back.
    pub(crate) fn into_observer(self) -> O {
        self.observer
    }

    /// The observer.
    pub(crate) fn observer(&self) -> &O {
        &self.observer
    }

    /// Puts a remark into the record.
    pub(crate) fn note(&mut self, text: &str) {
        self.observer.note(text);
    }

    /// When the first process was seen to have ended.
    pub(crate) fn ended_at(&self) -> Option<Instant> {
        self.ended_at
    }

    /// True if the first process has ended, as far as it was seen.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended_at.is_some()
    }

    /// True if any byte came from the engine since the question began.
    pub(crate) fn has_spoken(&self) -> bool {
        self.bytes > 0
    }

    /// The last bytes of standard error.
    pub(crate) fn stderr_tail(&mut self) -> &[u8] {
        self.drain_stderr();
        &self.stderr_tail
    }

    /// The output of the last reads, whoever has taken it: what it said before it fell silent.
    pub(crate) fn heard(&self) -> &[u8] {
        self.buffer.get(..self.heard).unwrap_or_default()
    }

    /// The bytes that it has said since its last whole line: a line without its end, which is none yet.
    pub(crate) fn unfinished(&self) -> &[u8] {
        let rest = self.buffer.get(self.start..self.end).unwrap_or_default();
        // Whole lines that came too late lie there as well.
        if self.skipping || memchr::memchr(b'\n', rest).is_some() { &[] } else { rest }
    }

    /// Writes all of a text of one or more lines, and gives the moment just before.
    ///
    /// Lines that were read and not taken belong to an older question and are dropped.
    pub(crate) fn send(
        &mut self,
        text: &[u8],
        patience: Duration,
    ) -> (Instant, Result<(), Silence>) {
        self.forget();
        let last = self.asked.and_then(|asked| self.read_at.checked_duration_since(asked));
        self.hand_over.ask(last);
        let began = Instant::now();
        self.asked = Some(began);
        self.observer.sent(text.strip_suffix(b"\n").unwrap_or(text));
        (began, self.write(text, began + patience))
    }

    /// Takes the whole lines that lie in the pipe without having been asked for, without waiting; one that never stops
    /// talking is heard no longer than this.
    pub(crate) fn unasked(&mut self, mut hear: impl FnMut(&[u8])) {
        const MOST_READS: u32 = 64;
        for _ in 0..MOST_READS {
            while let Some((from, to)) = self.find_line() {
                let line = self.buffer.get(from..to).unwrap_or_default();
                self.observer.received(self.read_at, line);
                hear(line);
                (self.start, self.looked) = (to + 1, to + 1);
            }
            let far = Instant::now() + Duration::from_secs(1);
            if !self.make_room() || !self.read(far).unwrap_or(false) {
                return;
            }
        }
    }

    fn write(&mut self, mut rest: &[u8], deadline: Instant) -> Result<(), Silence> {
        while !rest.is_empty() {
            let Some(stdin) = &self.stdin else { return Err(Silence::Gone) };
            match write(stdin, rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    if Instant::now() >= deadline {
                        return Err(Silence::Timeout);
                    }
                    let ready = self.poll(deadline, true)?;
                    if ready.output {
                        self.forget();
                        if !self.make_room() {
                            return Err(self.flood());
                        }
                        self.read(deadline)?;
                    } else if self.has_ended() && !ready.input {
                        return Err(Silence::Gone);
                    }
                }
                Err(_) => {
                    self.stdin = None;
                    return Err(Silence::Gone);
                }
            }
        }
        Ok(())
    }

    /// Closes the engine's standard input.
    pub(crate) fn close_input(&mut self) {
        self.note("input closed");
        self.stdin = None;
    }

    /// The next line without its LF, and when the read that brought its end returned.
    pub(crate) fn line(&mut self, deadline: Instant) -> Result<(Instant, &[u8]), Silence> {
        let (from, to) = loop {
            match self.find_line() {
                Some(range) if self.read_at <= deadline => break range,
                Some(_) => return Err(Silence::Timeout),
                None => self.fill(deadline)?,
            }
        };
        (self.start, self.looked) = (to + 1, to + 1);
        self.lines += 1;
        if O::FLOODS_END && self.lines > MOST_LINES {
            return Err(self.flood());
        }
        let line = self.buffer.get(from..to).unwrap_or_default();
        self.observer.received(self.read_at, line);
        Ok((self.read_at, line))
    }

    /// The first whole line in the buffer.
    fn find_line(&mut self) -> Option<(usize, usize)> {
        loop {
            let unseen = self.buffer.get(self.looked..self.end)?;
            let Some(length) = memchr::memchr(b'\n', unseen) else {
                self.looked = self.end;
                return None;
            };
            self.looked += length;
            if !std::mem::take(&mut self.skipping) {
                return Some((self.start, self.looked));
            }
            (self.start, self.looked) = (self.looked + 1, self.looked + 1);
        }
    }

    /// Drops whole lines that nobody asked for; the record keeps them.
    fn forget(&mut self) {
        while let Some((from, to)) = self.find_line() {
            self.observer.received(self.read_at, self.buffer.get(from..to).unwrap_or_default());
            (self.start, self.looked) = (to + 1, to + 1);
        }
        self.bytes = (self.end - self.start) as u64;
        self.lines = 0;
    }

    /// Waits for output and reads once.
    fn fill(&mut self, deadline: Instant) -> Result<(), Silence> {
        if self.flooded {
            return Err(Silence::Flood(Bytes(self.bytes)));
        }
        if self.stdout.is_none() {
            return Err(Silence::Gone);
        }
        if !self.make_room() {
            return Err(self.flood());
        }
        let choice = self.hand_over.take();
        if choice != AnswerStep::Wait && self.stop.level() != StopLevel::Now {
            if choice == AnswerStep::Yield {
                sched_yield();
            }
            if self.read(deadline)? {
                return Ok(());
            }
            self.hand_over.missed();
        }
        self.wait_for_output(deadline)?;
        self.read(deadline).map(|_| ())
    }

    /// Makes room in the buffer; false where the line in it is too long and that is a flood.
    fn make_room(&mut self) -> bool {
        if self.start == self.end {
            (self.start, self.looked, self.end) = (0, 0, 0);
        } else if self.end == self.buffer.len() {
            if self.start == 0 {
                if O::FLOODS_END {
                    return false;
                }
                self.skipping = true;
                (self.looked, self.end) = (0, 0);
            } else {
                self.buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.looked -= self.start;
                self.start = 0;
            }
        }
        true
    }

    fn flood(&mut self) -> Silence {
        self.flooded = true;
        if self.end > self.start {
            let rest = self.buffer.get(self.start..self.end).unwrap_or_default();
            self.observer.received(self.read_at, rest);
            self.start = self.end;
        }
        self.observer.note("a flood: nothing more is read");
        Silence::Flood(Bytes(self.bytes))
    }

    /// Reads once, and says whether there was anything.
    fn read(&mut self, deadline: Instant) -> Result<bool, Silence> {
        let Some(stdout) = &self.stdout else { return Err(Silence::Gone) };
        match read(stdout, self.buffer.get_mut(self.end..).unwrap_or_default()) {
            Ok(0) => {
                self.observer.note("output closed");
                self.stdout = None;
                // A last line without its end still counts as said, as every line reader takes it.
                match self.buffer.get_mut(self.end) {
                    Some(last) if self.end > self.start => {
                        *last = b'\n';
                        self.end += 1;
                        Ok(true)
                    }
                    _ => Err(Silence::Gone),
                }
            }
            Ok(length) => {
                self.read_at = Instant::now();
                self.end += length;
                self.heard = self.end;
                self.bytes += length as u64;
                if O::FLOODS_END && self.bytes > MOST_BYTES {
                    return Err(self.flood());
                }
                // One that never stops talking must not talk over the deadline.
                if self.read_at > deadline {
                    return Err(Silence::Timeout);
                }
                Ok(true)
            }
            Err(Errno::INTR | Errno::AGAIN) => Ok(false),
            Err(_) => {
                self.stdout = None;
                Err(Silence::Gone)
            }
        }
    }

    fn wait_for_output(&mut self, deadline: Instant) -> Result<(), Silence> {
        loop {
            // One whose first process has ended may still answer by another, and is given time for each question.
            let asked = self.asked.unwrap_or(self.read_at);
            let quiet = self.ended_at.map(|at| at.max(self.read_at).max(asked) + O::QUIET);
            let ready = self.poll(quiet.map_or(deadline, |quiet| quiet.min(deadline)), false)?;
            // Output before the end: a move that was said is a move.
            if ready.output {
                return Ok(());
            }
            let now = Instant::now();
            // Where this poll saw the end, another one looks for what was said just before it.
            if quiet.is_some_and(|quiet| now >= quiet) {
                self.observer.note("the first process has ended and nothing more comes");
                self.stdout = None;
                return Err(Silence::Gone);
            }
            if now >= deadline {
                return Err(Silence::Timeout);
            }
        }
    }

    /// Polls all descriptors once.
    fn poll(&mut self, until: Instant, to_write: bool) -> Result<Ready, Silence> {
        let left = until.saturating_duration_since(Instant::now());
        let nothing = self.stop.fd();
        let stops = if self.leaving { PollFlags::empty() } else { PollFlags::IN };
        let mut fds = [
            watched(self.stdout.as_ref().filter(|_| !self.flooded), PollFlags::IN, nothing),
            watched(Some(&self.ended).filter(|_| self.ended_at.is_none()), PollFlags::IN, nothing),
            PollFd::from_borrowed_fd(nothing, stops),
            watched(self.stderr.as_ref(), PollFlags::IN, nothing),
            watched(self.stdin.as_ref().filter(|_| to_write), PollFlags::OUT, nothing),
        ];
        // An error here is EINTR; the caller's loop comes back.
        if poll(&mut fds, Some(&timeout(left))).is_err() {
            return Ok(Ready { output: false, input: false });
        }
        let [output, ended, stop, errors, input] = fds.map(|fd| !fd.revents().is_empty());
        if stop {
            return Err(Silence::Stopped);
        }
        if errors {
            self.drain_stderr();
        }
        if ended {
            self.ended_at = Some(Instant::now());
            self.observer.note("the first process has ended");
        }
        Ok(Ready { output, input })
    }

    fn drain_stderr(&mut self) {
        let mut chunk = [0; STDERR_TAIL];
        // As often as a pipe's usual 64 KiB need: what never stops writing does not keep us here.
        for _ in 0..16 {
            let Some(fd) = &self.stderr else { return };
            match read(fd, &mut chunk) {
                Ok(0) => self.stderr = None,
                Ok(length) => {
                    let chunk = chunk.get(..length).unwrap_or_default();
                    self.observer.stderr(chunk);
                    self.stderr_tail.extend_from_slice(chunk);
                    let excess = self.stderr_tail.len().saturating_sub(STDERR_TAIL);
                    self.stderr_tail.drain(..excess);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.stderr = None,
            }
        }
    }

    /// From now on waits are bounded by their time alone: it is asked to quit because all is to stop.
    pub(crate) fn leave(&mut self) {
        self.leaving = true;
    }

    /// Waits without a question, keeping the pipes empty; returns when the first process has ended.
    pub(crate) fn idle(&mut self, until: Instant) {
        while !self.has_ended() {
            match self.poll(until, false) {
                Ok(ready) if ready.output => self.take_all(),
                Ok(_) => {}
                Err(_) => return,
            }
            if Instant::now() >= until {
                return;
            }
        }
    }

    /// Takes what lies in the pipes, without waiting.
    pub(crate) fn drain(&mut self) {
        if let Ok(Ready { output: true, .. }) = self.poll(Instant::now(), false) {
            self.take_all();
        }
        self.forget();
    }

    /// Reads once and forgets it.
    fn take_all(&mut self) {
        self.forget();
        if self.make_room() {
            // The outcome is known by the next question.
            let _ = self.read(Instant::now());
            self.forget();
        } else {
            self.flood();
        }
    }
}

/// A descriptor to poll; in place of one that is not watched `nothing`, which is never ready for no event.
fn watched<'a>(fd: Option<&'a OwnedFd>, flags: PollFlags, nothing: BorrowedFd<'a>) -> PollFd<'a> {
    match fd {
        Some(fd) => PollFd::from_borrowed_fd(fd.as_fd(), flags),
        None => PollFd::from_borrowed_fd(nothing, PollFlags::empty()),
    }
}

/// For a poll; a wait that is too long for the kernel is cut to an hour, after which the caller's loop asks anew.
fn timeout(left: Duration) -> Timespec {
    const LONGEST_POLL: Duration = Duration::from_secs(3600);
    Timespec::try_from(left.min(LONGEST_POLL)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
