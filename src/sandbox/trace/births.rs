//! Children that stop before the event of the thread that made them was read. Such a child stays stopped until that thread tells of it, so
//! that it runs as what it is. A thread that was killed in the middle tells nothing; then its child has what that thread had.

use crate::model::evidence::RecordPart;
use crate::sandbox::child::{self, TraceeResume};
use crate::sandbox::trace::calls::PendingCall;
use crate::sandbox::trace::tracee;
use crate::sandbox::trace::tracer::{Inherited, Tracee, Tracer};

/// True for a thread that is making a child, and has not told which.
fn is_making(pending: Option<&PendingCall>) -> bool {
    matches!(pending, Some(PendingCall::Clone { told: false }))
}

impl Tracer<'_> {
    /// Takes on a new tracee that has stopped before its birth was told. It goes on when it is. Who its maker is, /proc does not
    /// say: a thread may make a brother of its process (CLONE_PARENT).
    pub(in crate::sandbox::trace) fn adopt(&mut self, pid: i32) {
        let (process, parent) = tracee::family(pid);
        let making =
            |(number, known): (&i32, &Tracee)| is_making(known.pending.as_ref()).then_some(*number);
        let makers = self.tracees.iter().filter_map(making).collect();
        self.births.waiting.insert(pid, makers);
        let tracee = Tracee { process, parent, program: None, own_code: true, pending: None };
        self.tracees.insert(pid, tracee);
        if process == pid {
            self.shared.born(pid);
        }
        self.settle_births();
    }

    /// True of a tracee that has stopped already: it gets what its maker has, and goes on, unless it is gone.
    pub(in crate::sandbox::trace) fn was_adopted(
        &mut self,
        child: i32,
        program: Option<usize>,
        own_code: bool,
        parent: i32,
    ) -> bool {
        if self.births.waiting.remove(&child).is_none() {
            return false;
        }
        if let Some(known) = self.tracees.get_mut(&child) {
            (known.program, known.own_code, known.parent) = (program, own_code, parent);
            child::resume(child, TraceeResume::Go, 0);
        }
        true
    }

    /// A thread has told of the child that it makes, and that one is known.
    pub(in crate::sandbox::trace) fn told_of_child(&mut self, maker: i32) {
        if let Some(PendingCall::Clone { told }) =
            self.tracees.get_mut(&maker).and_then(|known| known.pending.as_mut())
        {
            *told = true;
        }
        self.makes_none(maker);
    }

    /// A thread makes no child any more. Whoever waited for its word alone waits for none.
    pub(in crate::sandbox::trace) fn makes_none(&mut self, maker: i32) {
        if !self.births.some_wait() {
            return;
        }
        for makers in self.births.waiting.values_mut() {
            makers.remove(&maker);
        }
        self.settle_births();
    }

    /// A thread ends in the call that it stands in. If it was making a child, that one may be there, and nobody tells of it.
    pub(in crate::sandbox::trace) fn ends_making(
        &mut self,
        maker: i32,
        program: Option<usize>,
        own_code: bool,
        pending: Option<&PendingCall>,
    ) {
        if is_making(pending) {
            self.births.untold.insert(Inherited { program, own_code });
        }
        self.makes_none(maker);
    }

    /// Lets those children go on whose makers can no longer tell of them.
    fn settle_births(&mut self) {
        let waiting = &self.births.waiting;
        let orphans = waiting.iter().filter(|(_, makers)| makers.is_empty());
        let orphans: Vec<i32> = orphans.map(|(child, _)| *child).collect();
        for child in orphans {
            self.births.waiting.remove(&child);
            self.born_untold(child);
        }
    }

    fn born_untold(&mut self, child: i32) {
        let Some(process) = self.tracees.get(&child).map(|known| known.process) else {
            return;
        };
        let maker = if process == child {
            // Whether it shares its maker's descriptors is not known either.
            self.shares_descriptors = true;
            let mut untold = self.births.untold.iter();
            untold.next().copied().filter(|_| untold.next().is_none())
        } else {
            // A thread was made by another one of its process.
            let mut all = self.tracees.iter();
            let other = all.find(|(number, one)| **number != child && one.process == process);
            other.map(|(_, one)| Inherited { program: one.program, own_code: one.own_code })
        };
        if let Some((known, maker)) = self.tracees.get_mut(&child).zip(maker) {
            (known.program, known.own_code) = (maker.program, maker.own_code);
            child::resume(child, TraceeResume::Go, 0);
        } else {
            // It may be the child of any of several programs: nobody could say what it does.
            self.unrecorded(RecordPart::Programs);
            self.shared.kill_one(child);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::evidence::Resource;
    use crate::sandbox::trace::with_tracer;

    // No process has numbers so high.
    const MAKER: i32 = i32::MAX - 1;
    const OTHER: i32 = i32::MAX - 2;
    const CHILD: i32 = i32::MAX - 3;

    fn makes(tracer: &mut Tracer<'_>, maker: i32, program: usize, own_code: bool) {
        let pending = Some(PendingCall::Clone { told: false });
        let program = Some(program);
        let known = Tracee { process: maker, parent: 1, program, own_code, pending };
        tracer.tracees.insert(maker, known);
    }

    /// A maker is killed before it has told.
    fn killed(tracer: &mut Tracer<'_>, maker: i32) {
        let known = tracer.tracees.remove(&maker).unwrap();
        tracer.ends_making(maker, known.program, known.own_code, known.pending.as_ref());
    }

    fn of_child(tracer: &Tracer<'_>) -> (Option<usize>, bool) {
        let known = &tracer.tracees[&CHILD];
        (known.program, known.own_code)
    }

    #[test]
    fn a_child_that_stopped_before_its_birth_was_told_waits_for_its_maker() {
        with_tracer(|tracer| {
            makes(tracer, MAKER, 2, false);
            makes(tracer, OTHER, 3, true);
            tracer.adopt(CHILD);
            killed(tracer, OTHER);
            assert!(tracer.births.some_wait());
            assert!(tracer.was_adopted(CHILD, Some(2), false, MAKER));
            assert!(!tracer.was_adopted(CHILD, Some(2), false, MAKER));
            assert_eq!(of_child(tracer), (Some(2), false));
            tracer.told_of_child(MAKER);
            assert!(!is_making(tracer.tracees[&MAKER].pending.as_ref()));
            assert!(tracer.raw.refusals.is_empty());
        });
    }

    #[test]
    fn a_child_whose_maker_was_killed_before_it_told_has_what_that_one_had() {
        for before in [false, true] {
            with_tracer(|tracer| {
                makes(tracer, MAKER, 2, true);
                if before {
                    killed(tracer, MAKER);
                    tracer.adopt(CHILD);
                } else {
                    tracer.adopt(CHILD);
                    killed(tracer, MAKER);
                }
                assert!(!tracer.births.some_wait());
                assert_eq!(of_child(tracer), (Some(2), true));
                assert!(tracer.raw.refusals.is_empty());
            });
        }
    }

    #[test]
    fn a_child_of_one_of_several_killed_makers_makes_the_record_incomplete() {
        with_tracer(|tracer| {
            makes(tracer, MAKER, 2, false);
            makes(tracer, OTHER, 2, true);
            tracer.adopt(CHILD);
            killed(tracer, OTHER);
            assert!(tracer.births.some_wait() && tracer.raw.refusals.is_empty());
            killed(tracer, MAKER);
            assert!(!tracer.births.some_wait());
            let programs = Resource::Unrecorded(RecordPart::Programs);
            assert!(tracer.raw.refusals.iter().any(|refusal| refusal.what == programs));
        });
    }
}
