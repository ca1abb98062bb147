//! Calls on a process by its number, where numbers are the host's. One of the entry's own that has ended gives its number back, and it
//! may come round to a stranger of the same user: between the tracer's look and the moment at which a caller that is kept waiting makes its
//! call. So no number is given back while such a call is under way. Some the tracer cannot keep: that of a process that it has waited for
//! already, and its parent has not, of a thread that starts a program, and of a group that is left. There, whoever has reached a stranger
//! is seen at the end of the call.

use std::time::Duration;

use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use crate::sandbox::filter::call_names::call_name;
use crate::sandbox::filter::stop::{Call, StoppedCall};
use crate::sandbox::inspect::process;
use crate::sandbox::trace::calls::{PendingCall, process_meant};
use crate::sandbox::trace::tracee;
use crate::sandbox::trace::tracer::{Tracee, Tracer};

/// Between two looks whether a call has come to its end.
const LOOK_AGAIN: Duration = Duration::from_micros(50);

impl Tracer<'_> {
    /// A call on a process begins.
    pub(super) fn call_on_process(
        &mut self,
        pid: i32,
        stop: StoppedCall,
        call: &Call,
    ) -> Option<PendingCall> {
        match process_meant(stop, call, |number| self.is_own_process(number)) {
            // A clock is found by the number at once, and may be waited for as long as one likes. It tells a time and changes nothing.
            Ok(number) => number
                .filter(|number| stop != StoppedCall::ProcessClock && !self.stays(pid, *number))
                .map(|number| PendingCall::Process { number, call: *call }),
            Err(errno) => {
                if errno == libc::EPERM {
                    self.foreign(pid, call);
                }
                tracee::refuse(pid, errno);
                Some(PendingCall::Refused)
            }
        }
    }

    /// A call on another process has succeeded. Whoever has its number now may be whom it reached.
    pub(super) fn call_on_process_ended(&mut self, pid: i32, number: i32, call: &Call) {
        if !self.is_own_process(number) && process::exists(number) {
            self.foreign(pid, call);
            self.shared.kill();
        }
    }

    /// A tracee has ended, and has its number until it is waited for, which is now.
    pub(super) fn number_goes(&self, pid: i32) {
        self.let_calls_end();
        self.shared.ends(pid);
    }

    /// Lets the calls end that are under way. All of them, by whatever number: who ends may be the last one of a group. They wait for
    /// nothing but the processor. An entry that keeps it from them is one whose tracer takes too long, and given up for that.
    pub(super) fn let_calls_end(&self) {
        let calls = |(caller, known): (&i32, &Tracee)| {
            matches!(known.pending, Some(PendingCall::Process { .. })).then_some(*caller)
        };
        let mut busy = None;
        for caller in self.tracees.iter().filter_map(calls) {
            while is_under_way(caller) && !self.shared.is_killing() {
                busy.get_or_insert_with(|| self.shared.busy());
                std::thread::sleep(LOOK_AGAIN);
            }
        }
    }

    fn foreign(&mut self, pid: i32, call: &Call) {
        self.denied(pid, call_name(call) + " of a foreign process");
    }

    /// True for a number that nobody else can get while a thread makes a call: its own one, and its process's.
    fn stays(&self, pid: i32, number: i32) -> bool {
        number == pid || self.tracees.get(&pid).is_some_and(|caller| caller.process == number)
    }

    /// True for the number of one of the entry's own threads or processes, of one that has ended and was not waited for yet, or of a group
    /// that one of them is in: its leader may be gone, and the group is still there.
    fn is_own_process(&self, number: i32) -> bool {
        self.tracees.iter().any(|(task, known)| *task == number || known.process == number)
            || (self.ended.contains(&number) && process::state(number) == Some('Z'))
            || self.tracees.keys().any(|task| process::group(*task) == Some(number))
    }
}

/// True for a tracee that runs: it has neither stopped nor ended since it was let go. What has happened to it stays to be told.
fn is_under_way(tracee: i32) -> bool {
    let flags = WaitPidFlag::WEXITED
        | WaitPidFlag::WNOWAIT
        | WaitPidFlag::WNOHANG
        | WaitPidFlag::__WALL
        | WaitPidFlag::__WNOTHREAD;
    // (An error is that of a real-time signal, or of one that is gone.)
    waitid(Id::Pid(Pid::from_raw(tracee)), flags) == Ok(WaitStatus::StillAlive)
}
