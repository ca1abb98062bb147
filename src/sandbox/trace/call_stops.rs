//! System calls that the filter makes stop: looked at before they are made, and what came of them.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::model::evidence::{FileAccess, RecordPart, Resource};
use crate::model::text::escape;
use crate::model::units::Bytes;
use crate::sandbox::child::TraceeResume;
use crate::sandbox::filter::call_names::{call_name, refusal};
use crate::sandbox::filter::stop::{Call, StoppedCall};
use crate::sandbox::inspect::{files, image, process};
use crate::sandbox::trace::calls::{PendingCall, PendingOpen, exec, file, message, stands_at};
use crate::sandbox::trace::failed_starts::FailedStart;
use crate::sandbox::trace::tracer::Tracer;
use crate::sandbox::trace::{meta, tracee};

impl Tracer<'_> {
    /// A call that the filter makes stop; says how the process goes on.
    pub(in crate::sandbox) fn call_begins(&mut self, pid: i32) -> TraceeResume {
        let Some((stop, compat)) =
            message(pid, libc::PTRACE_EVENT_SECCOMP).and_then(StoppedCall::from_message)
        else {
            return TraceeResume::Go;
        };
        let Some(call) = tracee::call(pid, compat) else {
            return TraceeResume::Go;
        };
        let pending = match stop {
            StoppedCall::Exec => Some(self.exec_begins(pid, &call, None, 0)),
            StoppedCall::ExecAt => Some(self.exec_begins(pid, &call, Some(call.args[0]), 1)),
            StoppedCall::Denied => {
                let answer = self.own_lock(pid, &call).unwrap_or_else(|| {
                    self.denied(pid, call_name(&call));
                    refusal(&call)
                });
                tracee::refuse(pid, answer);
                Some(PendingCall::Refused)
            }
            StoppedCall::Process | StoppedCall::ProcessSecond | StoppedCall::ProcessClock => {
                self.call_on_process(pid, stop, &call)
            }
            StoppedCall::Meta => {
                let errno = match meta::answer(pid, &call, &self.files) {
                    meta::CallAnswer::Ends(errno) => errno,
                    meta::CallAnswer::Foreign(path) => {
                        let path = escape(path.as_os_str().as_bytes(), 300);
                        self.denied(pid, format!("{}({path})", call_name(&call)));
                        libc::EPERM
                    }
                };
                tracee::refuse(pid, errno);
                Some(PendingCall::Refused)
            }
            StoppedCall::BigMap => {
                let size = Bytes(call.args[1]);
                if self.shared.lazy_memory() && tracee::reserve_nothing(pid, &call) {
                    self.lazy(size);
                }
                Some(PendingCall::Map { wants: Resource::Memory(size) })
            }
            StoppedCall::HugePages => {
                Some(PendingCall::Map { wants: Resource::HugePages(Bytes(call.args[1])) })
            }
            StoppedCall::Clone => Some(PendingCall::Clone { told: false }),
            StoppedCall::SharedWait => Some(self.shared_wait(pid, call.args[0])),
            StoppedCall::Look => self.look(pid, None, call.args[0]),
            StoppedCall::LookAt => self.look(pid, Some(call.args[0]), call.args[1]),
            _ => self.file(pid, stop, &call),
        };
        let Some(pending) = pending else {
            return TraceeResume::Go;
        };
        // One that was killed meanwhile makes the call no more: the kernel leaves it out (seccomp.c, `__seccomp_filter`). It may stand at
        // its end by now, and goes on from there unseen.
        let awaited =
            !matches!(pending, PendingCall::Refused) && stands_at(pid, libc::PTRACE_EVENT_SECCOMP);
        if let Some(tracee) = self.tracees.get_mut(&pid) {
            tracee.pending = awaited.then_some(pending);
        }
        if awaited { TraceeResume::ToCallEnd } else { TraceeResume::Go }
    }

    /// The answer to a lock of one of the entry's own files (rustc locks its folders, and gives up where it cannot); none where it
    /// must be refused. A lock is of the open file: it is made here, by a descriptor that no thread of the entry can exchange. A caller that would
    /// have to wait for it is refused, since nobody here may wait.
    fn own_lock(&self, pid: i32, call: &Call) -> Option<i32> {
        if call.compat || call.number != libc::SYS_flock as u32 {
            return None;
        }
        let process = self.tracees.get(&pid)?.process;
        let handle = pidfd_open(Pid::from_raw(process)?, PidfdFlags::empty()).ok()?;
        let descriptor = call.args[0] as i32;
        // An open that failed gave a negative number, which is none to ask for.
        if descriptor < 0 {
            return Some(libc::EBADF);
        }
        let file = match pidfd_getfd(&handle, descriptor, PidfdGetfdFlags::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::BADF) => return Some(libc::EBADF),
            Err(_) => return None,
        };
        let found = self.files.find_descriptor(pid, descriptor).ok()?;
        let same = file.metadata().is_ok_and(|file| found.inode() == (file.dev(), file.ino()));
        if !same || !self.files.made(&found) {
            return None;
        }
        let wanted = call.args[1] as i32;
        let operation = match wanted & !libc::LOCK_NB {
            libc::LOCK_SH => FlockOperation::NonBlockingLockShared,
            libc::LOCK_EX => FlockOperation::NonBlockingLockExclusive,
            libc::LOCK_UN => FlockOperation::Unlock,
            _ => return Some(libc::EINVAL),
        };
        match flock(&file, operation) {
            Ok(()) => Some(0),
            Err(Errno::WOULDBLOCK) if wanted & libc::LOCK_NB == 0 => None,
            Err(error) => Some(error.raw_os_error()),
        }
    }

    fn exec_begins(&self, pid: i32, call: &Call, dirfd: Option<u64>, first: usize) -> PendingCall {
        let mut pending = exec(pid, call, dirfd, first, self.starter_code(pid));
        if let PendingCall::Exec { asked, at_begin, readable: true, .. } = &mut pending {
            *at_begin = self.asks_for(pid, asked);
        }
        pending
    }

    /// A call that opens or makes a file.
    fn file(&mut self, pid: i32, stop: StoppedCall, call: &Call) -> Option<PendingCall> {
        let mut pending = file(pid, stop, call)?;
        if let PendingCall::Open(open) = &mut pending
            && let Some(name) = self.open_begins(pid, open)
        {
            self.denied(pid, format!("open({name} of a process)"));
            tracee::refuse(pid, libc::EACCES);
            return Some(PendingCall::Refused);
        }
        // Nothing in /proc can be written to, and CUDA's driver gives up where it cannot name its threads.
        if let PendingCall::Open(PendingOpen {
            path, access: FileAccess::Write, opens: true, ..
        }) = &pending
            && !call.compat
            && let Some((address, flags)) = match stop {
                StoppedCall::Open => Some((call.args[0], call.args[1])),
                StoppedCall::OpenAt => Some((call.args[1], call.args[2])),
                _ => None,
            }
            && flags & NO_PLAIN_OPEN == 0
            && process::is_thread_name(path)
        {
            tracee::open_memory_instead(pid, address, flags);
            return Some(PendingCall::ThreadName { call: *call });
        }
        Some(pending)
    }

    /// A wait at a word of memory. At one that lies in a file of the host, another entry could wake it: as good as a message.
    fn shared_wait(&mut self, pid: i32, address: u64) -> PendingCall {
        if self.is_in_host_file(pid, address) == Some(false) {
            return PendingCall::SharedWait { address };
        }
        // One that was killed meanwhile has no memory any more.
        if !tracee::is_dying(pid) {
            self.denied(pid, WAIT_IN_HOST_FILE.into());
        }
        tracee::refuse(pid, libc::EPERM);
        PendingCall::Refused
    }

    /// True if a word of memory lies in a page of a file that is not the entry's own; none where that cannot be told.
    fn is_in_host_file(&self, pid: i32, address: u64) -> Option<bool> {
        let mapping = process::shared_mapping(pid, address).ok()?;
        Some(mapping.is_some_and(|mapping| !self.files.maps_own(&mapping)))
    }

    fn look(&self, pid: i32, dirfd: Option<u64>, address: u64) -> Option<PendingCall> {
        let path = tracee::path(pid, dirfd, address).path()?;
        let in_path = path.parent().is_some_and(|dir| self.path_dirs.iter().any(|d| d == dir));
        in_path.then_some(PendingCall::Look { path })
    }

    /// A thread is about to end. One that was killed in the middle of a call does not stop at the call's end, and yet may have got
    /// what it asked for: another process may share its descriptors, and another thread of its own take them into a new program.
    pub(in crate::sandbox) fn ends(&mut self, pid: i32) {
        let Some(tracee) = self.tracees.get_mut(&pid) else {
            return;
        };
        // All else that it asked for ends with it. Nobody has seen the answer, which may be that it was killed.
        let (program, own_code) = (tracee.program, tracee.own_code);
        let (making, pending) = match tracee.pending.take() {
            making @ Some(PendingCall::Clone { .. }) => (making, None),
            pending => (None, pending),
        };
        let lasts = |pending: &PendingCall| {
            pending.opens() || matches!(pending, PendingCall::SharedWait { .. })
        };
        tracee.pending = pending.filter(lasts);
        self.ends_making(pid, program, own_code, making.as_ref());
        let _ = self.call_ended(pid);
    }

    /// A thread of a process has ended in the middle of a call that opens, and was not seen at its end. The file, if it came to
    /// one, is lost with it but where a table of descriptors is shared, or goes on with the process into a new program.
    pub(in crate::sandbox) fn missed(&mut self, process: i32) {
        if self.shared.is_killing() {
            return;
        }
        // Of a child whose birth nobody has told, it is not known.
        if self.shares_descriptors || self.births.some_wait() {
            self.unrecorded(RecordPart::Paths);
        }
        self.missed.insert(process);
    }

    /// Looks at what came of a call. False where its thread does not stand there any more: it was killed, and its end is still to come.
    pub(in crate::sandbox) fn call_ended(&mut self, pid: i32) -> bool {
        let Some(tracee) = self.tracees.get_mut(&pid) else {
            return true;
        };
        let (by, parent, process) = (tracee.program, tracee.parent, tracee.process);
        let Some(mut pending) = tracee.pending.take() else {
            return true;
        };
        let Some(result) = tracee::result(pid) else {
            tracee.pending = Some(pending);
            return false;
        };
        let error = if result < 0 { -result as i32 } else { 0 };
        let mut came_to = None;
        if error == 0 && pending.opens() {
            came_to = self.opens(pid, result as i32);
            // The flags of openat2 stand in memory, and may have been others when the kernel read them.
            if let PendingCall::Open(open) = &mut pending {
                match files::may_be_written(pid, result as i32) {
                    Ok(true) => open.access = FileAccess::Write,
                    Ok(false) => {}
                    Err(_) => came_to = None,
                }
            }
        }
        match pending {
            PendingCall::Exec { asked, argv, at_begin, readable, starter } => {
                // A successful exec was written down at its event.
                if error == libc::ENOMEM {
                    // The kernel has given up the program before, and kills what is left of it.
                    let program = self.files.find(pid, &asked);
                    if let Some(size) = program.as_ref().and_then(image::wanted) {
                        self.refused(pid, Resource::Image(size));
                    }
                }
                if error != 0 {
                    if !readable && error != libc::EFAULT {
                        self.unrecorded(RecordPart::Paths);
                    }
                    let starts = FailedStart { process, parent, by, asked, at_begin, error };
                    self.exec_failed(pid, starts, &argv, starter.libraries);
                }
            }
            PendingCall::Unreadable if error != libc::EFAULT => self.unrecorded(RecordPart::Paths),
            PendingCall::Nowhere if error == 0 => self.unrecorded(RecordPart::Paths),
            PendingCall::Open(open) => self.open_ended(pid, by, open, came_to, error),
            PendingCall::Look { path } => self.path_answer(by, &path, error == 0),
            PendingCall::Map { wants } if error == libc::ENOMEM => self.refused(pid, wants),
            PendingCall::Clone { .. } => {
                self.makes_none(pid);
                if error == libc::EAGAIN {
                    let count = self.tracees.len() as u32;
                    self.refused(pid, Resource::Threads(count));
                }
            }
            // Another thread may have put another page there before the kernel looked: who tries that, again and again, is
            // seen here sooner or later, and ended.
            PendingCall::SharedWait { address }
                if self.is_in_host_file(pid, address) == Some(true) =>
            {
                self.denied(pid, WAIT_IN_HOST_FILE.into());
                self.shared.kill();
            }
            PendingCall::Process { number, call } if error == 0 => {
                self.call_on_process_ended(pid, number, &call);
            }
            PendingCall::ThreadName { call } => tracee::give_back(pid, &call),
            // The kernel would wait on without a stop at which anybody could look.
            PendingCall::SharedWait { .. } if error == tracee::WAITS_ON => tracee::interrupt(pid),
            PendingCall::SharedWait { .. }
            | PendingCall::Map { .. }
            | PendingCall::Unreadable
            | PendingCall::Nowhere
            | PendingCall::Process { .. }
            | PendingCall::Refused => {}
        }
        true
    }
}

/// Flags of an open that no file in memory answers.
const NO_PLAIN_OPEN: u64 =
    (libc::O_PATH | libc::O_DIRECTORY | libc::O_TMPFILE | libc::O_EXCL) as u64;

/// A refused wait in words.
const WAIT_IN_HOST_FILE: &str = "futex(in a file of the host)";
