//! The tracer's loop: it follows every process of an entry by ptrace and writes down what it starts, opens, looks for and is
//! refused. It enforces nothing but the naming of calls that the filter refuses; files and programs are Landlock's business.

use std::time::{Duration, Instant};

use crate::model::evidence::{ExitHow, FatalSignal, LARGEST_FILE, Resource};
use crate::sandbox::child::{self, TraceeResume, WaitResult};
use crate::sandbox::inspect::process;
use crate::sandbox::trace::calls::message;
use crate::sandbox::trace::exit_channel::{ExitChannel, ExitMessage};
use crate::sandbox::trace::record::{MOST_CRASHES, RawRecord, found_nowhere};
use crate::sandbox::trace::tracee;
use crate::sandbox::trace::tracer::{Tracee, Tracer, killed_for_memory};

impl Tracer<'_> {
    /// Follows everything until nothing is left.
    pub(in crate::sandbox) fn run(mut self, exit_channel: &mut ExitChannel<'_>) -> RawRecord {
        while let Some((pid, status)) = self.next(exit_channel) {
            // The watchdog of this thread sees by it whether an event takes too long.
            let _busy = self.shared.busy();
            if libc::WIFSTOPPED(status) {
                if self.shared.is_killing() {
                    self.shared.kill_one(pid);
                }
                self.stopped(pid, status);
            } else if libc::WIFEXITED(status) {
                self.gone(pid, ExitHow::Status(libc::WEXITSTATUS(status)));
            } else if libc::WIFSIGNALED(status) {
                self.gone(pid, ExitHow::Signal(libc::WTERMSIG(status)));
            }
        }
        if let Some((used, _)) = self.shared.was_over() {
            self.refused_to(self.greedy, Resource::Used(used));
        }
        process::reap_orphans(&self.ended);
        self.raw.not_installed = found_nowhere(self.looked, &self.found, self.path_dirs.len());
        self.raw
    }

    /// The next event; none when nothing is left.
    fn next(&mut self, exit_channel: &mut ExitChannel<'_>) -> Option<(i32, i32)> {
        if let Some(event) = self.next_in_turn() {
            return Some(event);
        }
        let ended = |pid| self.number_goes(pid);
        let mut patience = Duration::from_millis(1);
        // Pid 1 alone knows that nothing is left: a process whose parent was killed in the middle of its birth comes as
        // an event of which nothing has told before. There is no waiting for both, but nearly always pid 1 speaks at
        // once. One that was killed does not.
        while self.tracees.is_empty() && !self.shared.is_killing() {
            match child::wait_any(false, ended) {
                WaitResult::Event(pid, status) => return Some((pid, status)),
                WaitResult::NoChildren => return None,
                WaitResult::Nothing => {}
            }
            match exit_channel.listen(patience) {
                ExitMessage::Empty => return None,
                ExitMessage::None => patience = (patience * 2).min(Duration::from_millis(50)),
                ExitMessage::Never => break,
            }
        }
        match child::wait_any(true, ended) {
            WaitResult::Event(pid, status) => Some((pid, status)),
            WaitResult::Nothing | WaitResult::NoChildren => None,
        }
    }

    /// The next event of one that is asked in turn. The kernel shows those of the youngest first, and where the young ones always have
    /// one, an old one would wait for ever. So each tracee is asked by itself after every two events for each tracee that there is. A
    /// single tracee is in nobody's way.
    fn next_in_turn(&mut self) -> Option<(i32, i32)> {
        self.since_turn += 1;
        let count = self.tracees.len();
        if self.in_turn.is_empty() && count > 1 && self.since_turn > 2 * count {
            self.since_turn = 0;
            self.in_turn.extend(self.tracees.keys());
        }
        while let Some(pid) = self.in_turn.pop() {
            if let WaitResult::Event(pid, status) = child::look_at(pid, |pid| self.number_goes(pid))
            {
                return Some((pid, status));
            }
        }
        None
    }

    fn stopped(&mut self, pid: i32, status: i32) {
        let signal = libc::WSTOPSIG(status);
        match status >> 16 {
            0 if signal == libc::SIGTRAP | 0x80 => {
                // One that was killed since stops once more, and is looked at there.
                if self.call_ended(pid) {
                    child::resume(pid, TraceeResume::Go, 0);
                }
            }
            0 => {
                self.signalled(pid, signal);
                child::resume(pid, TraceeResume::Go, signal);
            }
            event @ (libc::PTRACE_EVENT_FORK
            | libc::PTRACE_EVENT_VFORK
            | libc::PTRACE_EVENT_CLONE) => {
                self.forked(pid, event);
                self.go_on(pid);
            }
            libc::PTRACE_EVENT_EXEC => {
                self.execed(pid);
                child::resume(pid, TraceeResume::Go, 0);
            }
            libc::PTRACE_EVENT_SECCOMP => {
                let how = self.call_begins(pid);
                child::resume(pid, how, 0);
            }
            libc::PTRACE_EVENT_EXIT => {
                self.ends(pid);
                child::resume(pid, TraceeResume::Go, 0);
            }
            libc::PTRACE_EVENT_STOP => self.event_stop(pid, signal),
            _ => child::resume(pid, TraceeResume::Go, 0),
        }
    }

    /// After an event in the middle of a call whose end is awaited, the end must still stop.
    fn go_on(&self, pid: i32) {
        let awaits = self.tracees.get(&pid).is_some_and(|tracee| tracee.pending.is_some());
        child::resume(pid, if awaits { TraceeResume::ToCallEnd } else { TraceeResume::Go }, 0);
    }

    fn event_stop(&mut self, pid: i32, signal: i32) {
        if matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) {
            // A real group stop: it stays stopped, as it would without us.
            self.shared.stops(pid);
            child::resume(pid, TraceeResume::Listen, 0);
        } else if self.tracees.contains_key(&pid) {
            self.shared.goes_on(pid);
            child::resume(pid, TraceeResume::Go, 0);
        } else {
            // It stopped before its parent's event was read; and that may never come, if the parent was killed.
            self.adopt(pid);
        }
    }

    fn forked(&mut self, pid: i32, event: i32) {
        let Some(child) = message(pid, event).and_then(|child| i32::try_from(child).ok()) else {
            return;
        };
        self.born(pid, child);
        self.told_of_child(pid);
    }

    /// A thread has told of its child.
    fn born(&mut self, pid: i32, child: i32) {
        let Some(parent) = self.tracees.get(&pid) else {
            return;
        };
        let thread = process::is_thread_of(parent.process, child);
        self.shares_descriptors |= !thread && tracee::clones_descriptors(pid);
        let its_process = if thread { parent.process } else { child };
        let (program, own_code) = (parent.program, parent.own_code);
        let parent = if thread { parent.parent } else { parent.process };
        if !self.was_adopted(child, program, own_code, parent) {
            // It may have been killed and waited for before this was read; then its number is free, or another's.
            if !process::is_traced_here(child) {
                return;
            }
            let (process, pending) = (its_process, None);
            let tracee = Tracee { process, parent, program, own_code, pending };
            self.tracees.insert(child, tracee);
            if !thread {
                self.shared.born(child);
            }
        }
        if self.tasks < self.tracees.len() {
            self.too_many(program, self.tracees.len());
        }
    }

    fn too_many(&mut self, by: Option<usize>, tasks: usize) {
        self.refused_to(by, Resource::Tasks(tasks as u32));
        self.shared.kill();
    }

    /// A process that waits for none of its children takes the host's process numbers with them, where no kernel counts. Of those whose
    /// parent has ended as well, the numbers are given back.
    fn keeps_number(&mut self, pid: i32, by: Option<usize>) {
        self.ended.push(pid);
        // The processes are looked at seldom, so that the end of one costs few looks.
        if self.ended.len() > self.kept + self.tasks / 8 {
            self.let_calls_end();
            process::reap_orphans(&self.ended);
            self.ended.retain(|pid| process::state(*pid) == Some('Z'));
            self.kept = self.ended.len();
            if self.kept > self.tasks {
                self.too_many(by, self.kept);
            }
        }
    }

    fn gone(&mut self, pid: i32, how: ExitHow) {
        let Some(tracee) = self.tracees.remove(&pid) else {
            // Pid 1 of the namespace, or a process that was killed before its maker's event was read.
            self.keeps_number(pid, None);
            return;
        };
        // Its number may be another's by the time that its maker tells.
        self.births.waiting.remove(&pid);
        self.ends_making(pid, tracee.program, tracee.own_code, tracee.pending.as_ref());
        if tracee.pending.is_some_and(|pending| pending.opens()) {
            self.missed(tracee.process);
        }
        if tracee.process != pid {
            return;
        }
        // The first thread ends last. But a thread whose exec made it the first has left its own number, and where the process was killed at
        // that moment nobody has told which.
        self.tracees.retain(|_, thread| thread.process != pid);
        self.missed.remove(&pid);
        if self.shared.was_over().is_some_and(|(_, greedy)| greedy == pid) {
            self.greedy = tracee.program;
        }
        self.keeps_number(pid, tracee.program);
        let now = Instant::now();
        if let Some(exec) = tracee.program.and_then(|index| self.raw.execs.get_mut(index))
            && exec.pid == pid
        {
            exec.ended = Some(now);
            exec.exit = Some(how);
        }
        if how == ExitHow::Signal(libc::SIGKILL)
            && !self.shared.is_killing()
            && killed_for_memory() > self.killed_for_memory
        {
            self.refused_to(tracee.program, Resource::NoneLeft);
        }
        if let ExitHow::Signal(signal) = how
            && signal != libc::SIGKILL
            && signal != libc::SIGPIPE
            && signal != libc::SIGTERM
            && self.raw.crashes.len() < MOST_CRASHES
        {
            let crash = FatalSignal { at: Duration::ZERO, by: tracee.program, signal };
            self.raw.crashes.push((now, crash));
        }
        self.shared.died(pid, (pid == self.entry).then_some(how));
    }

    fn signalled(&mut self, pid: i32, signal: i32) {
        if signal == libc::SIGILL && tracee::lacks_instruction(pid) {
            self.refused(pid, Resource::Instruction);
        }
        // A tracer is shown it where the process ignores it, too, and is told EFBIG.
        if signal == libc::SIGXFSZ {
            self.refused(pid, Resource::FileSize(LARGEST_FILE));
        }
        tracee::pass_over(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::trace::calls::PendingCall;
    use crate::sandbox::trace::with_tracer;

    // No process has numbers so high.
    const MAKER: i32 = i32::MAX - 1;
    const OTHER: i32 = i32::MAX - 2;

    fn of_process(process: i32) -> Tracee {
        Tracee { process, parent: 1, program: None, own_code: false, pending: None }
    }

    #[test]
    fn a_child_that_ended_before_its_birth_was_told_is_none() {
        with_tracer(|tracer| {
            tracer.tracees.insert(MAKER, of_process(MAKER));
            tracer.gone(OTHER, ExitHow::Signal(libc::SIGKILL));
            tracer.born(MAKER, OTHER);
            // The number may be a stranger's by now, as this test's own is.
            tracer.born(MAKER, nix::unistd::getpid().as_raw());
            assert!(!tracer.tracees.contains_key(&OTHER));
            assert_eq!(tracer.tracees.len(), 2);
            assert_eq!(tracer.shared.live(), [i32::MAX]);
        });
    }

    #[test]
    fn a_child_that_ended_while_it_waited_for_its_maker_is_none() {
        with_tracer(|tracer| {
            let pending = Some(PendingCall::Clone { told: false });
            tracer.tracees.insert(MAKER, Tracee { pending, ..of_process(MAKER) });
            tracer.adopt(OTHER);
            tracer.gone(OTHER, ExitHow::Signal(libc::SIGKILL));
            assert!(!tracer.births.some_wait());
            tracer.born(MAKER, OTHER);
            assert!(!tracer.tracees.contains_key(&OTHER));
        });
    }

    #[test]
    fn a_number_that_a_thread_left_at_its_exec_ends_with_its_process() {
        with_tracer(|tracer| {
            tracer.tracees.insert(MAKER, of_process(MAKER));
            tracer.tracees.insert(OTHER, of_process(MAKER));
            tracer.gone(MAKER, ExitHow::Signal(libc::SIGKILL));
            assert_eq!(tracer.tracees.keys().collect::<Vec<_>>(), [&i32::MAX]);
        });
    }
}
