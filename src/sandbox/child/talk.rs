//! The socket between the supervisor and the children: its messages, and the supervisor's end of it.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// A child's message on the socket: the kind, then an errno or the number of a step.
pub(in crate::sandbox) const HELLO: u8 = b'h';
/// Pid 1: a descriptor of the new root comes along.
pub(in crate::sandbox) const ROOT: u8 = b'd';
pub(in crate::sandbox) const STEP_FAILED: u8 = b's';
pub(in crate::sandbox) const CHILD_FAILED: u8 = b'c';
pub(in crate::sandbox) const EXEC_FAILED: u8 = b'e';
pub(in crate::sandbox) const PROBED: u8 = b'p';
/// Pid 1: every process inside has ended and been reaped.
pub(in crate::sandbox) const EMPTY: u8 = b'0';
/// The supervisor's messages: the users are mapped; and, with its three streams, the entry may run.
pub(in crate::sandbox) const GO: u8 = b'g';
pub(in crate::sandbox) const RUN: u8 = b'r';

/// Lets the entry run, on these streams. It waits for that with everything done but its exec.
pub(in crate::sandbox) fn let_run(
    talk: BorrowedFd<'_>,
    streams: [BorrowedFd<'_>; 3],
) -> io::Result<()> {
    use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
    let streams = streams.map(|stream| stream.as_raw_fd());
    let rights = [ControlMessage::ScmRights(&streams)];
    let word = [io::IoSlice::new(&[RUN])];
    sendmsg::<()>(talk.as_raw_fd(), &word, &rights, MsgFlags::MSG_NOSIGNAL, None)?;
    Ok(())
}

/// A message from a child.
#[derive(Debug)]
pub(in crate::sandbox) struct Message {
    pub(in crate::sandbox) kind: u8,
    /// The number of the step, where one failed.
    pub(in crate::sandbox) step: usize,
    pub(in crate::sandbox) errno: i32,
    /// The sender, as numbered outside.
    pub(in crate::sandbox) pid: i32,
    pub(in crate::sandbox) root: Option<OwnedFd>,
}

/// The result of listening.
#[derive(Debug)]
pub(in crate::sandbox) enum HeardFromChild {
    Message(Message),
    /// Nothing has come; only without waiting.
    Silence,
    /// Nobody is left who could say anything.
    End,
}

/// Reads one message.
pub(in crate::sandbox) fn receive(talk: BorrowedFd<'_>, wait: bool) -> io::Result<HeardFromChild> {
    use nix::sys::socket::{ControlMessageOwned, MsgFlags, UnixCredentials, recvmsg};
    let mut bytes = [0u8; 8];
    let mut parts = [io::IoSliceMut::new(&mut bytes)];
    let mut control = nix::cmsg_space!(RawFd, UnixCredentials);
    let mut flags = MsgFlags::MSG_CMSG_CLOEXEC;
    if !wait {
        flags |= MsgFlags::MSG_DONTWAIT;
    }
    let got = recvmsg::<()>(talk.as_raw_fd(), &mut parts, Some(&mut control), flags);
    let message = match got {
        Ok(message) => message,
        Err(nix::errno::Errno::EAGAIN) => return Ok(HeardFromChild::Silence),
        Err(error) => return Err(error.into()),
    };
    let length = message.bytes;
    let mut pid = 0;
    let mut root = None;
    for part in message.cmsgs()? {
        match part {
            ControlMessageOwned::ScmCredentials(who) => pid = who.pid(),
            ControlMessageOwned::ScmRights(fds) => {
                for fd in fds {
                    // SAFETY: the kernel has just made this descriptor for us.
                    root = Some(unsafe { OwnedFd::from_raw_fd(fd) });
                }
            }
            _ => {}
        }
    }
    if length == 0 {
        return Ok(HeardFromChild::End);
    }
    let errno = i32::from_le_bytes([bytes[2], bytes[3], bytes[4], bytes[5]]);
    let step = usize::from(bytes[1]);
    Ok(HeardFromChild::Message(Message { kind: bytes[0], step, errno, pid, root }))
}
