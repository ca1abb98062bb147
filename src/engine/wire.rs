//! The pipes to an engine, as lines with times, that nothing an engine does can block or fill.
//!
//! Every wait is a poll over all pipes at once with a deadline: while we wait to write we still read,
//! so that an engine which writes before it reads never locks up with us; standard error is always
//! drained. The end of the first process counts, not the end of its output, because the background
//! `sleep 3; rm` of a stub holds the pipes open long after the engine has gone.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::model::transcript::Transcript;
use crate::model::units::Bytes;
use crate::sandbox::plan::Pipes;

/// A line longer than this without its end is a flood.
const LONGEST_LINE: usize = 64 * 1024;
/// More bytes than this in answer to one question are a flood.
const MOST_BYTES: u64 = 64 << 20;
/// More lines than this in answer to one question are a flood.
const MOST_LINES: u64 = 1 << 20;
/// How much of standard error is kept.
const STDERR_TAIL: usize = 4096;
/// The first process has ended but something holds its output open: after so long without a byte it
/// counts as closed.
const QUIET: Duration = Duration::from_secs(1);

/// What came of an attempt to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The whole line is in the pipe.
    Whole,
    /// The engine does not read and the pipe is full.
    NotTaken,
    /// Nobody holds the other end any more.
    Closed,
}

/// What came of an attempt to receive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// A line without its end.
    Line {
        /// When the read that brought its end returned.
        at: Instant,
        /// The bytes as they came.
        bytes: Vec<u8>,
    },
    /// No line until the deadline.
    Timeout,
    /// There will be no more: output was closed, or the first process has ended and all is quiet.
    Closed,
    /// More than anybody says in answer to one question.
    Flood(Bytes),
}

/// The pipes of one started entry.
#[derive(Debug)]
pub struct Wire {
    stdin: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    ended: Option<OwnedFd>,
    epoch: Instant,
    partial: Vec<u8>,
    lines: VecDeque<(Instant, Vec<u8>)>,
    bytes: u64,
    count: u64,
    flooded: bool,
    last_output: Instant,
    stderr_tail: VecDeque<u8>,
    transcript: Transcript,
    chunk: Vec<u8>,
}

impl Wire {
    /// Takes over the pipes; times in the transcript are since `epoch`.
    ///
    /// # Errors
    /// When the pipes cannot be made non-blocking.
    pub fn new(pipes: Pipes, epoch: Instant) -> std::io::Result<Wire> {
        for fd in [&pipes.stdin, &pipes.stdout, &pipes.stderr] {
            let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
            fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
        }
        Ok(Wire {
            stdin: Some(pipes.stdin),
            stdout: Some(pipes.stdout),
            stderr: Some(pipes.stderr),
            ended: Some(pipes.ended),
            epoch,
            partial: Vec::new(),
            lines: VecDeque::new(),
            bytes: 0,
            count: 0,
            flooded: false,
            last_output: epoch,
            stderr_tail: VecDeque::new(),
            transcript: Transcript::default(),
            chunk: vec![0; 64 * 1024],
        })
    }

    /// The record so far.
    #[must_use]
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Puts a remark into the record.
    pub fn note(&mut self, text: &str) {
        self.transcript.note(self.epoch.elapsed(), text);
    }

    /// Whether the entry's first process has ended, as far as it was seen.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended.is_none()
    }

    /// Whether any byte came from the engine since the question began.
    #[must_use]
    pub fn has_spoken(&self) -> bool {
        self.bytes > 0
    }

    /// The last bytes of standard error.
    #[must_use]
    pub fn stderr_tail(&self) -> Vec<u8> {
        self.stderr_tail.iter().copied().collect()
    }

    /// A new question begins: what the engine said unasked is forgotten (the record keeps it), and the
    /// measure of a flood starts again.
    pub fn begin(&mut self) {
        self.turn(Instant::now(), false);
        self.lines.clear();
        self.bytes = self.partial.len() as u64;
        self.count = 0;
    }

    /// Writes a line and its LF; returns when all of it was taken, or at the deadline.
    pub fn send(&mut self, line: &str, deadline: Instant) -> Sent {
        self.transcript.sent(self.epoch.elapsed(), line.as_bytes());
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        let mut rest = bytes.as_slice();
        loop {
            let Some(stdin) = &self.stdin else {
                return Sent::Closed;
            };
            match nix::unistd::write(stdin, rest) {
                Ok(written) => rest = &rest[written.min(rest.len())..],
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => {
                    if Instant::now() >= deadline {
                        return Sent::NotTaken;
                    }
                    self.turn(deadline, true);
                }
                Err(_) => {
                    self.stdin = None;
                    return Sent::Closed;
                }
            }
            if rest.is_empty() {
                return Sent::Whole;
            }
        }
    }

    /// Closes the engine's standard input.
    pub fn close_input(&mut self) {
        self.note("input closed");
        self.stdin = None;
    }

    /// The next line, or why there is none.
    pub fn receive(&mut self, deadline: Instant) -> Received {
        loop {
            if let Some((at, bytes)) = self.lines.pop_front() {
                if at > deadline {
                    self.lines.push_front((at, bytes));
                    return Received::Timeout;
                }
                return Received::Line { at, bytes };
            }
            if self.flooded {
                return Received::Flood(Bytes(self.bytes));
            }
            if self.stdout.is_none() {
                return Received::Closed;
            }
            let now = Instant::now();
            let mut until = deadline;
            if self.has_ended() {
                let quiet = self.last_output + QUIET;
                if now >= quiet {
                    self.note("the first process has ended and nothing more comes");
                    self.stdout = None;
                    return Received::Closed;
                }
                until = until.min(quiet);
            }
            if now >= deadline {
                return Received::Timeout;
            }
            self.turn(until, false);
        }
    }

    /// Waits without a question, keeping the pipes empty; returns early when the first process ends.
    pub fn idle(&mut self, until: Instant) {
        while !self.has_ended() && Instant::now() < until {
            self.turn(until, false);
            self.forget();
        }
    }

    /// Takes what lies in the pipes, without waiting.
    pub fn drain(&mut self) {
        self.turn(Instant::now(), false);
        self.forget();
    }

    fn forget(&mut self) {
        self.lines.clear();
        self.bytes = 0;
        self.count = 0;
    }

    /// One poll over everything, and one read of what is ready.
    fn turn(&mut self, until: Instant, to_write: bool) {
        let wait = until.saturating_duration_since(Instant::now());
        // Rounded up, or the last millisecond would be spent spinning.
        let millis = wait.as_micros().div_ceil(1000);
        let timeout = PollTimeout::try_from(millis.min(60_000)).unwrap_or(PollTimeout::MAX);
        let mut out = Readiness::default();
        {
            // After a flood nothing more is read, so the engine waits for us and not we for it.
            let stdout = self.stdout.as_ref().filter(|_| !self.flooded);
            let stdin = self.stdin.as_ref().filter(|_| to_write);
            let watched = [
                (stdout, PollFlags::POLLIN, Role::Stdout),
                (self.stderr.as_ref(), PollFlags::POLLIN, Role::Stderr),
                (self.ended.as_ref(), PollFlags::POLLIN, Role::Ended),
                (stdin, PollFlags::POLLOUT, Role::Stdin),
            ];
            let (mut fds, roles): (Vec<PollFd<'_>>, Vec<Role>) = watched
                .into_iter()
                .filter_map(|(fd, flags, role)| Some((PollFd::new(fd?.as_fd(), flags), role)))
                .unzip();
            // An error here is EINTR; the caller's loop comes back.
            if poll(&mut fds, timeout).unwrap_or(0) > 0 {
                for (fd, role) in fds.iter().zip(&roles) {
                    if fd.revents().is_some_and(|events| !events.is_empty()) {
                        match role {
                            Role::Stdout => out.stdout = true,
                            Role::Stderr => out.stderr = true,
                            Role::Ended => out.ended = true,
                            Role::Stdin => {}
                        }
                    }
                }
            }
        }
        if out.stdout {
            self.read_stdout();
        }
        if out.stderr {
            self.read_stderr();
        }
        if out.ended {
            self.ended = None;
            self.last_output = Instant::now();
            self.note("the first process has ended");
        }
    }

    fn read_stdout(&mut self) {
        let Some(fd) = &self.stdout else { return };
        match nix::unistd::read(fd, &mut self.chunk) {
            Ok(0) => {
                self.note("output closed");
                self.stdout = None;
                if !self.partial.is_empty() {
                    // A last line without its end still counts as said, as every line reader takes it.
                    let line = std::mem::take(&mut self.partial);
                    self.take_line(Instant::now(), line);
                }
            }
            Ok(length) => {
                let at = Instant::now();
                self.last_output = at;
                self.bytes += length as u64;
                self.split(at, length);
                let endless = self.partial.len() > LONGEST_LINE;
                if endless || self.bytes > MOST_BYTES || self.count > MOST_LINES {
                    self.flooded = true;
                    let line = std::mem::take(&mut self.partial);
                    if !line.is_empty() {
                        self.transcript.received(at - self.epoch, &line);
                    }
                    self.note("a flood: nothing more is read");
                }
            }
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(_) => self.stdout = None,
        }
    }

    fn split(&mut self, at: Instant, length: usize) {
        let chunk = std::mem::take(&mut self.chunk);
        let mut rest = &chunk[..length];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let mut line = std::mem::take(&mut self.partial);
            line.extend_from_slice(&rest[..end]);
            self.take_line(at, line);
            rest = &rest[end + 1..];
        }
        self.partial.extend_from_slice(rest);
        self.chunk = chunk;
    }

    fn take_line(&mut self, at: Instant, line: Vec<u8>) {
        self.transcript.received(at.saturating_duration_since(self.epoch), &line);
        self.count += 1;
        self.lines.push_back((at, line));
    }

    fn read_stderr(&mut self) {
        let Some(fd) = &self.stderr else { return };
        match nix::unistd::read(fd, &mut self.chunk) {
            Ok(0) => self.stderr = None,
            Ok(length) => {
                let chunk = &self.chunk[..length];
                self.transcript.stderr(self.epoch.elapsed(), chunk);
                let keep = &chunk[length.saturating_sub(STDERR_TAIL)..];
                self.stderr_tail.extend(keep);
                let excess = self.stderr_tail.len().saturating_sub(STDERR_TAIL);
                self.stderr_tail.drain(..excess);
            }
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(_) => self.stderr = None,
        }
    }
}

#[derive(Clone, Copy)]
enum Role {
    Stdin,
    Stdout,
    Stderr,
    Ended,
}

#[derive(Default)]
struct Readiness {
    stdout: bool,
    stderr: bool,
    ended: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::eventfd::EventFd;
    use std::fs::File;
    use std::io::Write;

    /// The engine's side of the pipes, held by the test.
    struct Far {
        stdin: OwnedFd,
        stdout: File,
        stderr: File,
        ended: EventFd,
    }

    fn pair() -> (Wire, Far) {
        let pipe = || nix::unistd::pipe().unwrap();
        let ((their_in, stdin), (stdout, their_out), (stderr, their_err)) =
            (pipe(), pipe(), pipe());
        let event = EventFd::new().unwrap();
        let pipes = Pipes { stdin, stdout, stderr, ended: nix::unistd::dup(&event).unwrap() };
        let far = Far {
            stdin: their_in,
            stdout: File::from(their_out),
            stderr: File::from(their_err),
            ended: event,
        };
        (Wire::new(pipes, Instant::now()).unwrap(), far)
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    fn line(received: Received) -> String {
        match received {
            Received::Line { bytes, .. } => String::from_utf8(bytes).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_come_in_order_and_the_last_may_lack_its_end() {
        let (mut wire, mut far) = pair();
        far.stdout.write_all(b"one\n\ntwo\r\nthr").unwrap();
        assert_eq!(line(wire.receive(soon())), "one");
        assert_eq!(line(wire.receive(soon())), "");
        assert_eq!(line(wire.receive(soon())), "two\r");
        far.stdout.write_all(b"ee").unwrap();
        drop(far.stdout);
        assert_eq!(line(wire.receive(soon())), "three");
        assert_eq!(wire.receive(soon()), Received::Closed);
    }

    #[test]
    fn no_line_by_the_deadline_is_a_timeout_and_nothing_is_lost() {
        let (mut wire, mut far) = pair();
        let now = Instant::now();
        assert_eq!(wire.receive(now), Received::Timeout);
        far.stdout.write_all(b"late\n").unwrap();
        assert_eq!(wire.receive(now), Received::Timeout);
        assert_eq!(line(wire.receive(soon())), "late");
    }

    #[test]
    fn what_was_said_unasked_is_no_answer_to_the_next_question() {
        let (mut wire, mut far) = pair();
        far.stdout.write_all(b"bestmove e2e4\n").unwrap();
        wire.begin();
        far.stdout.write_all(b"readyok\n").unwrap();
        assert_eq!(line(wire.receive(soon())), "readyok");
        let record = wire.transcript().lines().join("\n");
        assert!(record.contains("bestmove e2e4"), "{record}");
    }

    #[test]
    fn only_lf_is_sent() {
        let (mut wire, far) = pair();
        assert_eq!(wire.send("uci", soon()), Sent::Whole);
        let mut buffer = [0; 16];
        let length = nix::unistd::read(&far.stdin, &mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"uci\n");
        drop(far.stdin);
        assert_eq!(wire.send("isready", soon()), Sent::Closed);
        assert_eq!(wire.send("isready", soon()), Sent::Closed);
    }

    #[test]
    fn a_full_pipe_and_no_reader_is_not_taken() {
        let (mut wire, _far) = pair();
        let long = "x".repeat(1 << 20);
        assert_eq!(wire.send(&long, Instant::now()), Sent::NotTaken);
    }

    #[test]
    fn an_endless_line_is_a_flood_and_stays_one() {
        let (mut wire, mut far) = pair();
        let writer = std::thread::spawn(move || {
            // Ends with an error when the wire is dropped, however much there is to come.
            while far.stdout.write_all(&[b'y'; 4096]).is_ok() {}
        });
        let Received::Flood(bytes) = wire.receive(soon()) else { panic!() };
        assert!(bytes.0 > LONGEST_LINE as u64 && bytes.0 < 4 * LONGEST_LINE as u64);
        assert!(matches!(wire.receive(soon()), Received::Flood(_)));
        drop(wire);
        writer.join().unwrap();
    }

    #[test]
    fn the_end_is_seen_though_the_output_stays_open() {
        let (mut wire, mut far) = pair();
        far.stdout.write_all(b"last words\n").unwrap();
        far.ended.write(1).unwrap();
        assert_eq!(line(wire.receive(soon())), "last words");
        assert_eq!(wire.receive(soon()), Received::Closed);
        assert!(wire.has_ended());
        wire.idle(soon());
    }

    #[test]
    fn standard_error_is_drained_and_its_tail_kept() {
        let (mut wire, mut far) = pair();
        let writer = std::thread::spawn(move || {
            far.stderr.write_all(&[b'e'; 300_000]).unwrap();
            far.stderr.write_all(b"the end\n").unwrap();
            far.stdout.write_all(b"uciok\n").unwrap();
            far
        });
        assert_eq!(line(wire.receive(soon())), "uciok");
        let _far = writer.join().unwrap();
        wire.drain();
        wire.drain();
        let tail = wire.stderr_tail();
        assert_eq!(tail.len(), STDERR_TAIL);
        assert!(tail.ends_with(b"the end\n"));
    }
}
