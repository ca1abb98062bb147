//! The streams of `gate4k run`. The entry has pipes of its own, as in every other start, and what goes through them is copied
//! from and to the caller's streams: with a descriptor of the caller's in its hands, an entry could change the mode of the
//! caller's file, the settings of its terminal, or send by its socket.
//!
//! A thread for each stream waits in poll(2) and copies what is there, byte for byte. The caller's streams keep the mode in
//! which they came, since others share it: a thread may wait in a write for a caller that does not read, and nobody waits for
//! that thread longer than [`StreamCopies::finish`] is told to.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::eventfd::{EfdFlags, EventFd};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, ioctl_fionread, read, retry_on_intr, write};

use super::run_end::Conversation;
use crate::sandbox::plan::{Pipes, Streams};

/// The most that is read of the caller's input at once: a pipe that has room at all has room for it (PIPE_BUF), so that no more
/// is taken from the caller than lies in the entry's pipe.
const INPUT_AT_ONCE: usize = 4096;
/// The most that is read of an output at once: as much as a pipe holds.
const OUTPUT_AT_ONCE: usize = 64 * 1024;

/// The threads that copy.
pub(super) struct StreamCopies {
    /// Becomes readable when the entry's first process has ended.
    pub(super) ended: OwnedFd,
    /// The conversation so far.
    pub(super) conversation: Arc<Conversation>,
    /// Readable for ever once everything of the entry has ended: nobody ever reads it.
    over: Arc<EventFd>,
    /// The outputs that could not be copied, and why; closed when both are.
    outputs: Receiver<String>,
}

impl StreamCopies {
    /// Begins to copy between the entry's pipes and the caller's streams.
    pub(super) fn start(pipes: Pipes, caller: Streams) -> io::Result<StreamCopies> {
        let Pipes { stdin, stdout, stderr, ended } = pipes;
        for pipe in [&stdin, &stdout, &stderr] {
            // An entry can take from its own pipes what it was given, between our look and our read.
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        let over = Arc::new(EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?);
        let end = ended.try_clone()?;
        let conversation = Arc::new(Conversation::new());
        let said = Arc::clone(&conversation);
        // Nobody waits for this one: a caller's input may never end. Where it cannot be read, it has ended.
        copying("input", move || {
            if hand_in(&caller.stdin, &stdin, &end, &said) != Ok(InputEnd::NotWanted) {
                said.input_ended();
            }
        })?;
        let (failed, outputs) = mpsc::channel();
        let said = &conversation;
        output("standard output", stdout, caller.stdout, &over, said, failed.clone())?;
        output("standard error", stderr, caller.stderr, &over, said, failed)?;
        Ok(StreamCopies { ended, conversation, over, outputs })
    }

    /// Waits until the caller has all that the entry wrote, at most so long where a bound is named. By now all processes of the
    /// entry have been ended. Gives a line for each output that could not be written.
    pub(super) fn finish(self, patience: Option<Duration>) -> Vec<String> {
        // The counter cannot overflow: this is the one write.
        let _ = self.over.write(1);
        let until = patience.map(|patience| Instant::now() + patience);
        let next = || match until {
            None => self.outputs.recv().ok(),
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                self.outputs.recv_timeout(left).ok()
            }
        };
        std::iter::from_fn(next).collect()
    }
}

fn copying(name: &str, copy: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.into()).spawn(copy).map(drop)
}

/// Copies an output in a thread of its own.
fn output(
    name: &'static str,
    entry: OwnedFd,
    caller: OwnedFd,
    over: &Arc<EventFd>,
    said: &Arc<Conversation>,
    failed: Sender<String>,
) -> io::Result<()> {
    let (over, said) = (Arc::clone(over), Arc::clone(said));
    copying(name, move || match hand_out(&entry, &caller, over.as_fd(), &said) {
        Ok(()) | Err(Errno::PIPE) => {}
        Err(why) => {
            // Where nobody listens any more, the caller was given up.
            let _ = failed.send(format!(
                "{name} cannot be written: {why}; send it elsewhere, or make room there"
            ));
        }
    })
}

/// The end of the caller's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InputEnd {
    /// There is no more.
    Read,
    /// The entry has ended, or reads no more.
    NotWanted,
}

/// Hands the caller's input to the entry, until it ends or the entry does not want it any more.
fn hand_in(
    caller: &OwnedFd,
    entry: &OwnedFd,
    ended: &OwnedFd,
    said: &Conversation,
) -> Result<InputEnd, Errno> {
    let mut buffer = [0; INPUT_AT_ONCE];
    loop {
        for (stream, event) in [(entry, PollFlags::OUT), (caller, PollFlags::IN)] {
            if wait(stream, event, entry, ended.as_fd())? != Wake::Ready {
                return Ok(InputEnd::NotWanted);
            }
        }
        match read(caller, &mut buffer) {
            Ok(0) => return Ok(InputEnd::Read),
            Ok(length) => {
                let bytes = buffer.get(..length).unwrap_or_default();
                said.asked(bytes);
                write_all(entry, bytes)?;
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(why) => return Err(why),
        }
    }
}

/// Hands an output of the entry to the caller, until it ends or nobody reads it any more.
fn hand_out(
    entry: &OwnedFd,
    caller: &OwnedFd,
    over: BorrowedFd<'_>,
    said: &Conversation,
) -> Result<(), Errno> {
    let mut buffer = vec![0; OUTPUT_AT_ONCE];
    loop {
        match wait(entry, PollFlags::IN, caller, over)? {
            Wake::Ready => match copy(entry, caller, &mut buffer, said) {
                Ok(0) => return Ok(()),
                Ok(_) | Err(Errno::AGAIN) => {}
                Err(why) => return Err(why),
            },
            Wake::Closed => return Ok(()),
            Wake::Over => break,
        }
    }
    // All that the entry wrote lies in the pipe by now, and should one of its processes have outlived its end, nobody waits for it.
    let mut left = ioctl_fionread(entry)?;
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(OUTPUT_AT_ONCE).min(OUTPUT_AT_ONCE);
        match copy(entry, caller, buffer.get_mut(..most).unwrap_or_default(), said) {
            Ok(0) | Err(Errno::AGAIN) => break,
            Ok(length) => left = left.saturating_sub(length as u64),
            Err(why) => return Err(why),
        }
    }
    Ok(())
}

/// Copies once; 0 at the pipe's end.
fn copy(
    entry: &OwnedFd,
    caller: &OwnedFd,
    buffer: &mut [u8],
    said: &Conversation,
) -> Result<usize, Errno> {
    let length = retry_on_intr(|| read(entry, &mut *buffer))?;
    let bytes = buffer.get(..length).unwrap_or_default();
    said.told(bytes);
    write_all(caller, bytes)?;
    said.taken();
    Ok(length)
}

fn write_all(to: &OwnedFd, mut rest: &[u8]) -> Result<(), Errno> {
    while !rest.is_empty() {
        match write(to, rest) {
            Ok(0) => return Err(Errno::IO),
            Ok(length) => rest = rest.get(length..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            // The entry's pipe, or a stream that the caller gave us so.
            Err(Errno::AGAIN) => {
                let mut one = [PollFd::new(to, PollFlags::OUT)];
                retry_on_intr(|| poll(&mut one, None))?;
            }
            Err(why) => return Err(why),
        }
    }
    Ok(())
}

/// The end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wake {
    /// The stream is ready, or at its end.
    Ready,
    /// Nobody reads at the other end of what is written to.
    Closed,
    /// The entry has ended.
    Over,
}

/// Waits until `stream` is ready for `event`, `written` is closed at its other end, or `over` is readable.
fn wait(
    stream: &OwnedFd,
    event: PollFlags,
    written: &OwnedFd,
    over: BorrowedFd<'_>,
) -> Result<Wake, Errno> {
    let mut all = [
        PollFd::new(stream, event),
        PollFd::new(written, PollFlags::empty()),
        PollFd::from_borrowed_fd(over, PollFlags::IN),
    ];
    retry_on_intr(|| poll(&mut all, None))?;
    let [_, written, over] = all.each_ref().map(|one| !one.revents().is_empty());
    Ok(match (written, over) {
        (true, _) => Wake::Closed,
        (false, true) => Wake::Over,
        (false, false) => Wake::Ready,
    })
}
