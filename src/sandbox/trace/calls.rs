//! A call as it begins, read from the registers and memory of the thread that makes it.

use std::path::{Path, PathBuf};

use crate::model::evidence::{FileAccess, Resource};
use crate::sandbox::filter::stop::{Call, StoppedCall};
use crate::sandbox::inspect::files::FoundFile;
use crate::sandbox::inspect::process;
use crate::sandbox::plan::{header_name, is_shared_object, is_static_object};
use crate::sandbox::trace::tracee::{self, PathArgument};

/// A file of the host that a path of the entry's own led to when a call on it began. The path may lead elsewhere when the call has
/// failed: what the kernel refused may have been either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sandbox) struct AskedFile {
    /// The path, or the interpreter that a script there names.
    pub(super) asked: PathBuf,
    /// The kernel's own path of the file.
    pub(super) real: PathBuf,
    pub(super) inode: (u64, u64),
    pub(super) program: bool,
}

impl AskedFile {
    pub(super) fn new(asked: PathBuf, found: &FoundFile) -> AskedFile {
        let (real, inode) = (found.path.clone(), found.inode());
        AskedFile { asked, real, inode, program: found.is_program() }
    }
}

/// A call that was seen at its start and whose end is awaited.
pub(in crate::sandbox) enum PendingCall {
    Exec {
        asked: PathBuf,
        argv: Vec<Vec<u8>>,
        /// The program of the host that the path leads to as the call begins.
        at_begin: Option<AskedFile>,
        readable: bool,
        starter: StarterCode,
    },
    Open(PendingOpen),
    Look {
        path: PathBuf,
    },
    Map {
        /// The resource that the host has too little of, where the mapping cannot be made.
        wants: Resource,
    },
    /// A path that we cannot read, though the kernel may.
    Unreadable,
    /// A path that leads nowhere, unless somebody changes it now.
    Nowhere,
    /// A child is being made.
    Clone {
        /// True once its maker has told of it.
        told: bool,
    },
    /// The opening of a thread's name to write it, in place of which a file in memory is made; the call as it was.
    ThreadName {
        call: Call,
    },
    /// A wait at a word that other processes may share.
    SharedWait {
        address: u64,
    },
    /// A call on another process of the entry's own.
    Process {
        /// The number by which the call has it, or its group.
        number: i32,
        call: Call,
    },
    /// A call that was refused; its end needs no look.
    Refused,
}

impl PendingCall {
    /// True if the call may return a descriptor of a file that has to be written down.
    pub(in crate::sandbox) fn opens(&self) -> bool {
        match self {
            PendingCall::Open(open) => open.opens,
            PendingCall::Unreadable | PendingCall::Nowhere => true,
            _ => false,
        }
    }
}

/// A call on a file, by its path.
pub(in crate::sandbox) struct PendingOpen {
    pub(in crate::sandbox) path: PathBuf,
    pub(in crate::sandbox) access: FileAccess,
    pub(in crate::sandbox) creates: bool,
    /// True if the call returns a descriptor of the file.
    pub(in crate::sandbox) opens: bool,
    /// True if that descriptor surely gives nothing of the file (O_PATH).
    pub(in crate::sandbox) names_only: bool,
    /// The file of the host that the path leads to as the call begins, by links or upwards.
    pub(in crate::sandbox) at_begin: Option<AskedFile>,
}

/// True if a file can become a part of the program that it is read for: a shared object, or a header or object code of the host's.
pub(in crate::sandbox) fn is_library(path: &Path) -> bool {
    let name = path.to_string_lossy();
    is_shared_object(path)
        || header_name(&name).is_some()
        || (is_static_object(&name) && is_of_the_host(path))
}

/// True if a path names a place where hosts keep libraries, which no entry can write to.
pub(in crate::sandbox) fn is_of_the_host(path: &Path) -> bool {
    const PLACES: [&str; 8] =
        ["/usr", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/snap", "/nix"];
    PLACES.iter().any(|place| path.starts_with(place))
        && !path.components().any(|part| part == std::path::Component::ParentDir)
}

/// The message of a tracee that has stopped at an event; none where it was killed since. Then it stands at its end, whose message is
/// its exit code: who takes that for the number of a process would kill a stranger's.
pub(in crate::sandbox) fn message(pid: i32, event: i32) -> Option<i64> {
    let message = nix::sys::ptrace::getevent(nix::unistd::Pid::from_raw(pid)).ok()?;
    // It leaves its end for no other stop, so it stood at the event when the message was read if it stands there now.
    stands_at(pid, event).then_some(message)
}

/// True for a tracee that still stands at the event at which it has stopped. One that was killed since does not.
pub(in crate::sandbox) fn stands_at(pid: i32, event: i32) -> bool {
    let stop = nix::sys::ptrace::getsiginfo(nix::unistd::Pid::from_raw(pid));
    stop.is_ok_and(|stop| stop.si_code >> 8 == event)
}

/// The code in the memory of a process that starts a program.
#[derive(Default)]
pub(in crate::sandbox) struct StarterCode {
    /// True if some of it is the entry's own.
    pub(in crate::sandbox) own: bool,
    /// The shared libraries of the host.
    pub(in crate::sandbox) libraries: Vec<PathBuf>,
}

/// A call that starts a program.
pub(in crate::sandbox) fn exec(
    pid: i32,
    call: &Call,
    dirfd: Option<u64>,
    first: usize,
    starter: StarterCode,
) -> PendingCall {
    let asked = tracee::path(pid, dirfd, call.args[first]);
    let readable = asked != PathArgument::Unreadable;
    let asked = asked.path().unwrap_or_else(|| UNREADABLE.into());
    let argv = tracee::argv(pid, call.args[first + 1], call.compat);
    PendingCall::Exec { asked, argv, at_begin: None, readable, starter }
}

/// The place of a path that we could not read.
const UNREADABLE: &str = "(unreadable)";

/// A call that opens or makes a file.
pub(in crate::sandbox) fn file(pid: i32, stop: StoppedCall, call: &Call) -> Option<PendingCall> {
    const WRITES: u64 = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u64;
    let a = call.args;
    let (dirfd, address, flags) = match stop {
        StoppedCall::Open => (None, a[0], Some(a[1])),
        StoppedCall::OpenAt => (Some(a[0]), a[1], Some(a[2])),
        StoppedCall::OpenAt2 => match tracee::word(pid, a[2]) {
            Some(flags) => (Some(a[0]), a[1], Some(flags)),
            None => return Some(PendingCall::Unreadable),
        },
        StoppedCall::Creat => {
            (None, a[0], Some((libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) as u64))
        }
        StoppedCall::Create => (None, a[0], None),
        StoppedCall::CreateAt => (Some(a[0]), a[1], None),
        StoppedCall::CreateSecond => (None, a[1], None),
        StoppedCall::CreateThird => (Some(a[2]), a[3], None),
        StoppedCall::SymlinkAt => (Some(a[1]), a[2], None),
        _ => return None,
    };
    let creates = flags.is_none_or(|flags| flags & libc::O_CREAT as u64 != 0);
    let writes = flags.is_none_or(|flags| flags & WRITES != 0);
    let access = if writes { FileAccess::Write } else { FileAccess::Read };
    // Another thread may have changed flags that stand in memory by the time the kernel reads them.
    let names_only =
        stop != StoppedCall::OpenAt2 && flags.is_some_and(|flags| flags & libc::O_PATH as u64 != 0);
    match tracee::path(pid, dirfd, address) {
        PathArgument::Path(path) => {
            let opens = flags.is_some();
            let at_begin = None;
            let open = PendingOpen { path, access, creates, opens, names_only, at_begin };
            Some(PendingCall::Open(open))
        }
        PathArgument::Unreadable => Some(PendingCall::Unreadable),
        PathArgument::Nothing => Some(PendingCall::Nowhere),
    }
}

/// The number by which a call has one of the entry's own processes, or their group; none where it has the caller by no number, or a
/// descriptor. Else the error with which the call must fail, or zero.
pub(in crate::sandbox) fn process_meant(
    stop: StoppedCall,
    call: &Call,
    own: impl Fn(i32) -> bool,
) -> Result<Option<i32>, i32> {
    /// Of a clock's number: the part that says what it counts, and the value that stands for a descriptor instead.
    const COUNTS: i32 = 3;
    const PRIORITY: [[u32; 2]; 2] =
        [[libc::SYS_setpriority as u32, libc::SYS_getpriority as u32], [97, 96]];
    const SETTERS: [[u32; 2]; 2] =
        [[libc::SYS_setpriority as u32, libc::SYS_ioprio_set as u32], [97, 289]];
    // PRIO_USER and IOPRIO_WHO_USER mean every process of the user.
    let (user, index) = match stop {
        StoppedCall::ProcessSecond if PRIORITY[usize::from(call.compat)].contains(&call.number) => {
            (2, 1)
        }
        StoppedCall::ProcessSecond => (3, 1),
        _ => (-1, 0),
    };
    let of = call.args[0] as i32;
    if index == 1 && of == user {
        return Err(libc::EPERM);
    }
    // The caller's own group (PRIO_PGRP, IOPRIO_WHO_PGRP) may be that of the first process, which is ours.
    let sets = SETTERS[usize::from(call.compat)].contains(&call.number);
    if index == 1 && sets && of == user - 1 && call.args[1] as i32 == 0 {
        return Err(libc::EPERM);
    }
    let pid = match (stop, call.args[index] as i32) {
        (StoppedCall::ProcessClock, clock) if clock & COUNTS == COUNTS => return Ok(None),
        // The number stands inverted above three bits.
        (StoppedCall::ProcessClock, clock) => !(clock >> 3),
        (_, pid) => pid,
    };
    // The number of no process.
    let Some(number) = pid.checked_abs() else {
        return Err(libc::ESRCH);
    };
    if pid == 0 {
        return Ok(None);
    }
    if pid != -1 && own(number) {
        return Ok(Some(number));
    }
    // Whether its parent lives, which we are, an entry may ask (`kill` with no signal).
    let kill = [libc::SYS_kill as u32, 37][usize::from(call.compat)];
    if call.number == kill && call.args[1] as i32 == 0 && pid == std::process::id() as i32 {
        return Err(0);
    }
    // One of its own may have ended, and been waited for: that is no attempt on a stranger.
    let somebody = pid == -1 || process::exists(number);
    Err(if somebody { libc::EPERM } else { libc::ESRCH })
}
