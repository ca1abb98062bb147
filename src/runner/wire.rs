//! The pipes to an engine on the way that must be fast: one write for a question, one poll and one read for
//! its answer, no memory taken, and no wait without a bound.
//!
//! The poll also watches standard error (always drained: nothing an engine writes there can block it), the
//! end of the first process (a stub's `sleep 3; rm` holds the pipes open long after the engine died), and the
//! request to stop at once.
//!
//! One that answers at once is let run before anything is waited for ([`HandOver`]), and then there is no poll.
//!
//! The calls of this file go to the kernel by rustix, without the C library's bookkeeping for threads that
//! are cancelled.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, read, write};
use rustix::thread::sched_yield;

use super::hand_over::{Choice, HandOver};
use super::stop::{Level, Stop};
use crate::sandbox::plan::Pipes;

/// The longest line that is looked at; what is longer is passed over up to its end.
const LONGEST: usize = 64 * 1024;
/// How much of standard error is kept.
const STDERR_KEPT: usize = 4096;

/// Why nothing came or could be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Silence {
    /// The deadline passed.
    Timeout,
    /// The process has ended or closed its pipes.
    Gone,
    /// Asked to stop at once.
    Stopped,
}

/// The pipes of one engine.
#[derive(Debug)]
pub(super) struct Wire {
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: Option<OwnedFd>,
    ended: OwnedFd,
    stop: Stop,
    buffer: Box<[u8]>,
    /// What was read and not yet taken: `buffer[start..end]`, without a line end before `looked`.
    start: usize,
    looked: usize,
    end: usize,
    /// Inside a line that is too long.
    skipping: bool,
    /// When the last question was written.
    asked: Option<Instant>,
    read_at: Instant,
    hand_over: HandOver,
    stderr_tail: Vec<u8>,
}

impl Wire {
    /// Takes over the pipes.
    pub(super) fn new(pipes: Pipes, stop: Stop) -> std::io::Result<Wire> {
        for fd in [&pipes.stdin, &pipes.stdout, &pipes.stderr] {
            fcntl_setfl(fd, fcntl_getfl(fd)? | OFlags::NONBLOCK)?;
        }
        Ok(Wire {
            stdin: pipes.stdin,
            stdout: pipes.stdout,
            stderr: Some(pipes.stderr),
            ended: pipes.ended,
            stop,
            buffer: vec![0; LONGEST].into_boxed_slice(),
            start: 0,
            looked: 0,
            end: 0,
            skipping: false,
            asked: None,
            read_at: Instant::now(),
            hand_over: HandOver::here(),
            stderr_tail: Vec::new(),
        })
    }

    /// Writes all of a text, and gives the moment just before.
    ///
    /// What lies unread in the buffer belongs to an older question and is dropped.
    pub(super) fn send(
        &mut self,
        text: &[u8],
        patience: Duration,
    ) -> (Instant, Result<(), Silence>) {
        (self.start, self.looked, self.end) = (0, 0, 0);
        let last = self.asked.and_then(|asked| self.read_at.checked_duration_since(asked));
        self.hand_over.ask(last);
        let began = Instant::now();
        self.asked = Some(began);
        let mut rest = text;
        while !rest.is_empty() {
            match write(&self.stdin, rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    // It reads no more while its input is full of our text.
                    if let Err(silence) = self.wait(began + patience, true) {
                        return (began, Err(silence));
                    }
                }
                Err(_) => return (began, Err(Silence::Gone)),
            }
        }
        (began, Ok(()))
    }

    /// The next line without its end, and when the read that brought its end returned.
    pub(super) fn line(&mut self, deadline: Instant) -> Result<(Instant, &[u8]), Silence> {
        let (from, to) = loop {
            if let Some(range) = self.take_line() {
                break range;
            }
            self.fill(deadline)?;
        };
        let line = self.buffer.get(from..to).unwrap_or_default();
        Ok((self.read_at, line.strip_suffix(b"\r").unwrap_or(line)))
    }

    fn take_line(&mut self) -> Option<(usize, usize)> {
        loop {
            let unseen = self.buffer.get(self.looked..self.end)?;
            let Some(length) = memchr::memchr(b'\n', unseen) else {
                self.looked = self.end;
                return None;
            };
            let (from, to) = (self.start, self.looked + length);
            self.start = to + 1;
            self.looked = to + 1;
            if !std::mem::take(&mut self.skipping) {
                return Some((from, to));
            }
        }
    }

    /// Waits for output and reads once.
    fn fill(&mut self, deadline: Instant) -> Result<(), Silence> {
        if self.start == self.end {
            (self.start, self.looked, self.end) = (0, 0, 0);
        } else if self.end == self.buffer.len() {
            if self.start == 0 {
                self.skipping = true;
                (self.looked, self.end) = (0, 0);
            } else {
                self.buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.looked = self.end;
                self.start = 0;
            }
        }
        let choice = self.hand_over.take();
        if choice != Choice::Wait && self.stop.level() != Level::Now {
            if choice == Choice::Yield {
                sched_yield();
            }
            if self.read(deadline)? {
                return Ok(());
            }
            self.hand_over.missed();
        }
        self.wait(deadline, false)?;
        self.read(deadline).map(|_| ())
    }

    /// Reads once, and says whether there was anything.
    fn read(&mut self, deadline: Instant) -> Result<bool, Silence> {
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        match read(&self.stdout, room) {
            Ok(0) => Err(Silence::Gone),
            Ok(length) => {
                self.read_at = Instant::now();
                self.end += length;
                // One that never stops talking must not talk over the deadline.
                if self.read_at > deadline {
                    return Err(Silence::Timeout);
                }
                Ok(true)
            }
            Err(Errno::INTR | Errno::AGAIN) => Ok(false),
            Err(_) => Err(Silence::Gone),
        }
    }

    /// Returns when there is output to read, or (`to_write`) room to write.
    fn wait(&mut self, deadline: Instant, to_write: bool) -> Result<(), Silence> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let main = if to_write {
                PollFd::new(&self.stdin, PollFlags::OUT)
            } else {
                PollFd::new(&self.stdout, PollFlags::IN)
            };
            let errors = self.stderr.as_ref().unwrap_or(&self.stdout);
            let mut fds = [
                main,
                PollFd::new(&self.ended, PollFlags::IN),
                PollFd::from_borrowed_fd(self.stop.fd(), PollFlags::IN),
                PollFd::new(errors, PollFlags::IN),
            ];
            let watched = if self.stderr.is_some() { 4 } else { 3 };
            let ready = poll(fds.get_mut(..watched).unwrap_or_default(), Some(&timeout(left)));
            let [main, ended, stop, errors] = fds.map(|fd| !fd.revents().is_empty());
            match ready {
                Err(Errno::INTR) => continue,
                Err(_) => return Err(Silence::Gone),
                Ok(0) if left.is_zero() => return Err(Silence::Timeout),
                Ok(_) => {}
            }
            if stop {
                return Err(Silence::Stopped);
            }
            if watched == 4 && errors {
                self.drain_stderr();
            }
            // Output before the end: a move that was said is a move.
            if main {
                return Ok(());
            }
            if ended {
                return Err(Silence::Gone);
            }
            if left.is_zero() {
                return Err(Silence::Timeout);
            }
        }
    }

    fn drain_stderr(&mut self) {
        let Some(fd) = &self.stderr else { return };
        let mut chunk = [0; 4096];
        match read(fd, &mut chunk) {
            Ok(0) => self.stderr = None,
            Ok(length) => {
                self.stderr_tail.extend_from_slice(chunk.get(..length).unwrap_or_default());
                let excess = self.stderr_tail.len().saturating_sub(STDERR_KEPT);
                self.stderr_tail.drain(..excess);
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => self.stderr = None,
        }
    }

    /// The last that was written to standard error.
    pub(super) fn stderr_tail(&mut self) -> &[u8] {
        self.drain_stderr();
        &self.stderr_tail
    }

    /// Waits until the first process has ended, keeping its pipes empty.
    pub(super) fn wait_end(&mut self, deadline: Instant) -> bool {
        loop {
            match self.wait(deadline, false) {
                Err(Silence::Gone) => return true,
                Err(_) => return false,
                Ok(()) => match read(&self.stdout, &mut *self.buffer) {
                    // Closed, which is not yet ended.
                    Ok(0) => {
                        let left = deadline.saturating_duration_since(Instant::now());
                        let mut fd = [PollFd::new(&self.ended, PollFlags::IN)];
                        return poll(&mut fd, Some(&timeout(left))) == Ok(1);
                    }
                    Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {
                        if Instant::now() > deadline {
                            return false;
                        }
                    }
                    Err(_) => return true,
                },
            }
        }
    }
}

/// For a poll; what is too long for the kernel is an hour, after which is asked anew.
fn timeout(left: Duration) -> Timespec {
    const LONGEST_POLL: Duration = Duration::from_secs(3600);
    Timespec::try_from(left.min(LONGEST_POLL)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::affinity;
    use super::*;
    use nix::unistd::{pipe, write};

    struct Far {
        stdin: OwnedFd,
        stdout: OwnedFd,
        stderr: OwnedFd,
        ended: OwnedFd,
    }

    fn wire(stop: &Stop) -> (Wire, Far) {
        let (stdin, ours_in) = pipe().unwrap();
        let (ours_out, stdout) = pipe().unwrap();
        let (ours_err, stderr) = pipe().unwrap();
        let (ours_end, ended) = pipe().unwrap();
        let pipes = Pipes { stdin: ours_in, stdout: ours_out, stderr: ours_err, ended: ours_end };
        let far = Far { stdin, stdout, stderr, ended };
        (Wire::new(pipes, stop.clone()).unwrap(), far)
    }

    /// What is there to be read; far more patience than that takes.
    fn line(wire: &mut Wire) -> Result<String, Silence> {
        wire.line(Instant::now() + Duration::from_secs(60))
            .map(|(_, line)| String::from_utf8_lossy(line).into_owned())
    }

    #[test]
    fn lines_come_whole_in_pieces_and_many_at_once() {
        let stop = Stop::new().unwrap();
        let (mut wire, far) = wire(&stop);
        write(&far.stdout, b"one\r\ntwo\nthr").unwrap();
        assert_eq!(line(&mut wire).as_deref(), Ok("one"));
        assert_eq!(line(&mut wire).as_deref(), Ok("two"));
        let soon = Instant::now() + Duration::from_millis(20);
        assert_eq!(wire.line(soon).map(|_| ()), Err(Silence::Timeout));
        write(&far.stdout, b"ee\n").unwrap();
        assert_eq!(line(&mut wire).as_deref(), Ok("three"));
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let stop = Stop::new().unwrap();
        let (mut wire, far) = wire(&stop);
        let writer = std::thread::spawn(move || {
            let mut sent = 0;
            while sent < 3 * LONGEST {
                sent += write(&far.stdout, &[b'x'; 1000]).unwrap();
            }
            write(&far.stdout, b"\nbestmove e2e4\n").unwrap();
            far
        });
        let deadline = Instant::now() + Duration::from_secs(60);
        assert_eq!(wire.line(deadline).unwrap().1, b"bestmove e2e4");
        drop(writer.join());
    }

    #[test]
    fn the_end_of_the_process_counts_though_its_pipes_stay_open() {
        let stop = Stop::new().unwrap();
        let (mut wire, far) = wire(&stop);
        write(&far.stdout, b"last words\n").unwrap();
        write(&far.stderr, b"oh\n").unwrap();
        write(&far.ended, b"x").unwrap();
        assert_eq!(line(&mut wire).as_deref(), Ok("last words"));
        assert_eq!(line(&mut wire), Err(Silence::Gone));
        assert_eq!(wire.stderr_tail(), b"oh\n");
    }

    #[test]
    fn one_that_reads_nothing_is_waited_for_no_longer_than_told() {
        let stop = Stop::new().unwrap();
        let (mut wire, far) = wire(&stop);
        let text = vec![b'x'; 1 << 20];
        let (_, sent) = wire.send(&text, Duration::from_millis(20));
        assert_eq!(sent, Err(Silence::Timeout));
        drop(far.stdin);
        assert_eq!(wire.send(b"x", Duration::ZERO).1, Err(Silence::Gone));
    }

    #[test]
    fn stopping_wakes_who_waits() {
        let stop = Stop::new().unwrap();
        let (mut wire, _far) = wire(&stop);
        stop.raise(super::super::stop::Level::Now);
        let long = Instant::now() + Duration::from_secs(60);
        assert_eq!(wire.line(long).map(|_| ()), Err(Silence::Stopped));
    }

    /// On one processor with an engine that answers at once, then one question late, then not at all.
    #[test]
    fn one_that_is_yielded_to_is_heard_and_waited_for_as_any_other() {
        let seen = std::thread::spawn(|| {
            affinity::Cores::here().pin(0);
            let stop = Stop::new().unwrap();
            let (mut wire, far) = wire(&stop);
            let engine = std::thread::spawn(move || {
                let mut text = [0; 64];
                while let Ok(length @ 1..) = nix::unistd::read(&far.stdin, &mut text) {
                    match &text[..length] {
                        b"late\n" => std::thread::sleep(Duration::from_millis(5)),
                        b"never\n" => continue,
                        _ => {}
                    }
                    write(&far.stdout, &text[..length]).unwrap();
                }
            });
            let mut ask = |text: &str| {
                let patience = Duration::from_millis(if text == "never\n" { 20 } else { 60_000 });
                let (asked, sent) = wire.send(text.as_bytes(), patience);
                sent.unwrap();
                let answer = wire.line(asked + patience);
                answer.map(|(_, line)| String::from_utf8_lossy(line).into_owned())
            };
            let at_once = (0..200).filter(|_| ask("now\n").as_deref() == Ok("now")).count();
            let late = ask("late\n");
            let again = ask("now\n");
            let never = ask("never\n");
            stop.raise(Level::Now);
            let stopped = ask("never\n");
            drop(wire);
            engine.join().unwrap();
            (at_once, late, again, never, stopped)
        })
        .join()
        .unwrap();
        let word = |word: &str| Ok(word.to_owned());
        let silent = (Err(Silence::Timeout), Err(Silence::Stopped));
        assert_eq!(seen, (200, word("late"), word("now"), silent.0, silent.1));
    }
}
