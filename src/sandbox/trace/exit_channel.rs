//! The last messages: by the entry's process when its exec failed, by pid 1 when nothing is left inside.
//!
//! Pid 1 says so before it ends. Its own end takes the namespaces down, for which the kernel waits until all processors
//! have taken notice; nobody else needs to wait for that.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::sandbox::child;

/// The socket after the entry was let go.
pub(in crate::sandbox) struct ExitChannel<'a> {
    talk: &'a OwnedFd,
    /// The entry's parent, where there is a pid 1 that will speak: it would wait for this one, too.
    parent: Option<OwnedFd>,
    exec_failed: Option<i32>,
}

/// The last message of pid 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sandbox) enum ExitMessage {
    /// Every process inside has ended and been reaped.
    Empty,
    /// Nothing yet.
    None,
    /// Nothing, and nothing will come: it was killed, or there is none.
    Never,
}

impl<'a> ExitChannel<'a> {
    pub(in crate::sandbox) fn new(talk: &'a OwnedFd, parent: Option<OwnedFd>) -> ExitChannel<'a> {
        ExitChannel { talk, parent, exec_failed: None }
    }

    /// Listens for at most this long, when no process of the entry is known any more: now its parent may go.
    pub(in crate::sandbox) fn listen(&mut self, patience: Duration) -> ExitMessage {
        let Some(parent) = &self.parent else {
            return ExitMessage::Never;
        };
        child::pidfd_kill(parent.as_fd(), libc::SIGKILL);
        let timeout = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
        let mut sockets = [PollFd::new(self.talk.as_fd(), PollFlags::POLLIN)];
        if !matches!(poll(&mut sockets, timeout), Ok(n) if n > 0) {
            return ExitMessage::None;
        }
        self.read()
    }

    /// Takes what has been said.
    fn read(&mut self) -> ExitMessage {
        loop {
            match child::receive(self.talk.as_fd(), false) {
                Ok(child::HeardFromChild::Message(message)) => match message.kind {
                    child::EMPTY => return ExitMessage::Empty,
                    child::EXEC_FAILED => self.exec_failed = Some(message.errno),
                    _ => {}
                },
                Ok(child::HeardFromChild::Silence) => return ExitMessage::None,
                Ok(child::HeardFromChild::End) | Err(_) => return ExitMessage::Never,
            }
        }
    }

    /// The errno of the entry's exec, if it failed.
    pub(in crate::sandbox) fn exec_failed(mut self) -> Option<i32> {
        self.read();
        self.exec_failed
    }
}
