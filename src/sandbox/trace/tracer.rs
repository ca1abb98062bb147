//! The tracer's state: the threads that it follows, and its record of what they did.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use crate::model::evidence::{Denial, RecordPart, Refusal, Resource};
use crate::model::units::Bytes;
use crate::sandbox::inspect::files::EntryFiles;
use crate::sandbox::inspect::process;
use crate::sandbox::trace::calls::PendingCall;
use crate::sandbox::trace::record::{
    ExecIdentity, MOST_DENIALS, MOST_REFUSALS, OpenIdentity, RawRecord, RecordRoom,
};
use crate::sandbox::trace::shared::TreeState;

/// One thread of the entry's.
pub(super) struct Tracee {
    /// The process that the thread belongs to.
    pub(super) process: i32,
    pub(super) parent: i32,
    /// The exec that it runs.
    pub(super) program: Option<usize>,
    /// True once the loader has opened a file of the entry's own in its process, since it runs that program: code of it may have been in
    /// the memory, and taken out again.
    pub(super) own_code: bool,
    pub(super) pending: Option<PendingCall>,
}

/// The state that a new thread or process takes over from the thread that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Inherited {
    pub(super) program: Option<usize>,
    pub(super) own_code: bool,
}

/// The births of which nobody has told yet.
#[derive(Debug, Default)]
pub(super) struct Births {
    /// The children that stopped first, and the threads that were in the middle of making one then.
    pub(super) waiting: HashMap<i32, HashSet<i32>>,
    /// The programs of threads that ended in the middle of making a child, and told of none.
    pub(super) untold: HashSet<Inherited>,
}

impl Births {
    /// True while a child waits for its maker to tell of it.
    pub(super) fn some_wait(&self) -> bool {
        !self.waiting.is_empty()
    }
}

/// The tracer of one entry; lives on the thread that cloned it.
pub(in crate::sandbox) struct Tracer<'a> {
    pub(super) shared: &'a TreeState,
    pub(super) entry: i32,
    pub(super) files: EntryFiles,
    pub(super) path_dirs: Vec<PathBuf>,
    /// Device and inode of the programs that may be started with certain arguments alone.
    pub(super) bound: HashSet<(u64, u64)>,
    pub(super) tracees: HashMap<i32, Tracee>,
    /// Tracees that are still to be asked for an event by themselves, and the events that came since all of them were to be.
    pub(super) in_turn: Vec<i32>,
    pub(super) since_turn: usize,
    pub(super) births: Births,
    /// Files opened.
    pub(super) opened: HashSet<OpenIdentity>,
    /// Names looked for, where, and who looked.
    pub(super) looked: HashMap<String, (HashSet<PathBuf>, Option<usize>)>,
    pub(super) found: HashSet<String>,
    /// The first record of each program, for those that are started again.
    pub(super) programs: HashMap<ExecIdentity, usize>,
    /// Products of the entry's own whose file is held to be summed up at the end.
    pub(super) products: HashSet<(u64, u64)>,
    /// Files opened.
    pub(super) counts: OpenCounts,
    pub(super) room: RoomOfRecords,
    /// The program of the process that had most memory when it was too much.
    pub(super) greedy: Option<usize>,
    /// The host's count of processes that were killed because no memory was left, at the beginning.
    pub(super) killed_for_memory: u64,
    pub(super) tasks: usize,
    /// Processes that have ended; those that their parent has not waited for keep their number.
    pub(super) ended: Vec<i32>,
    /// How many of these there were when they were last looked at.
    pub(super) kept: usize,
    /// True if a process was born that shares another one's table of descriptors.
    pub(super) shares_descriptors: bool,
    /// Processes with a thread that has ended in the middle of a call that opens, and of which nobody saw what came.
    pub(super) missed: HashSet<i32>,
    pub(super) raw: RawRecord,
}

/// Files opened, as far as they were written down.
#[derive(Default)]
pub(super) struct OpenCounts {
    /// The host's.
    pub(super) host: usize,
    /// Refused ones.
    pub(super) denied: usize,
    /// The entry's own.
    pub(super) own: usize,
}

/// Bytes that are left for each kind of record: what fills one of them takes none from another.
pub(super) struct RoomOfRecords {
    pub(super) of_programs: RecordRoom,
    pub(super) of_repeats: RecordRoom,
    pub(super) of_opens: RecordRoom,
    pub(super) of_denied_opens: RecordRoom,
    pub(super) of_own_opens: RecordRoom,
}

impl Default for RoomOfRecords {
    fn default() -> RoomOfRecords {
        RoomOfRecords {
            of_programs: RecordRoom::new(RecordRoom::LARGE),
            of_repeats: RecordRoom::new(RecordRoom::OF_REPEATS),
            of_opens: RecordRoom::new(RecordRoom::LARGE),
            of_denied_opens: RecordRoom::new(RecordRoom::SMALL),
            of_own_opens: RecordRoom::new(RecordRoom::SMALL),
        }
    }
}

/// The processes of this host that its kernel has killed because no memory was left.
pub(super) fn killed_for_memory() -> u64 {
    process::killed_for_memory(&std::fs::read_to_string("/proc/vmstat").unwrap_or_default())
}

impl<'a> Tracer<'a> {
    /// A tracer of `entry`, which has been seized and waits for its exec.
    pub(in crate::sandbox) fn new(
        shared: &'a TreeState,
        entry: i32,
        parent: i32,
        files: EntryFiles,
        path_dirs: Vec<PathBuf>,
        bound: HashSet<(u64, u64)>,
        tasks: u32,
    ) -> Tracer<'a> {
        let first =
            Tracee { process: entry, parent, program: None, own_code: false, pending: None };
        shared.born(entry);
        Tracer {
            shared,
            entry,
            files,
            path_dirs,
            bound,
            tracees: HashMap::from([(entry, first)]),
            in_turn: Vec::new(),
            since_turn: 0,
            births: Births::default(),
            opened: HashSet::new(),
            looked: HashMap::new(),
            found: HashSet::new(),
            programs: HashMap::new(),
            products: HashSet::new(),
            counts: OpenCounts::default(),
            room: RoomOfRecords::default(),
            greedy: None,
            killed_for_memory: killed_for_memory(),
            tasks: tasks as usize,
            ended: Vec::new(),
            kept: 0,
            shares_descriptors: false,
            missed: HashSet::new(),
            raw: RawRecord::default(),
        }
    }

    pub(super) fn refused(&mut self, pid: i32, what: Resource) {
        self.refused_to(self.tracees.get(&pid).and_then(|t| t.program), what);
    }

    pub(super) fn refused_to(&mut self, by: Option<usize>, what: Resource) {
        let refusal = Refusal { by, what };
        let ends_all =
            matches!(refusal.what, Resource::Used(_) | Resource::NoneLeft | Resource::Tasks(_));
        let has_room = self.raw.refusals.len() < MOST_REFUSALS || ends_all;
        if has_room && !self.raw.refusals.contains(&refusal) {
            self.raw.refusals.push(refusal);
        }
    }

    pub(super) fn lazy(&mut self, size: Bytes) {
        let maps = &mut self.raw.lazy_maps;
        if maps.len() < MOST_REFUSALS && !maps.contains(&size) {
            maps.push(size);
        }
    }

    pub(super) fn denied(&mut self, pid: i32, what: String) {
        let by = self.tracees.get(&pid).and_then(|tracee| tracee.program);
        let denials = &mut self.raw.denials;
        if let Some(denial) = denials.iter_mut().find(|d| d.by == by && d.what == what) {
            denial.count = denial.count.saturating_add(1);
        } else if denials.len() < MOST_DENIALS {
            denials.push(Denial { by, what, count: 1 });
        } else {
            // The call is named all the same, without what it was for.
            let call = what.split('(').next().unwrap_or_default();
            let what = format!("{call}, one of more than {MOST_DENIALS} different denials");
            let count = denials.len();
            match denials.iter_mut().find(|d| d.what == what) {
                Some(denial) => denial.count = denial.count.saturating_add(1),
                None if count < 2 * MOST_DENIALS => {
                    denials.push(Denial { by, what, count: 1 });
                }
                None => {}
            }
            self.unrecorded(RecordPart::Denials);
        }
    }

    /// Notes that something happened for which there is no room, or that could not be seen: the record is not whole.
    pub(super) fn unrecorded(&mut self, record: RecordPart) {
        let refusal = Refusal { by: None, what: Resource::Unrecorded(record) };
        if !self.raw.refusals.contains(&refusal) {
            self.raw.refusals.push(refusal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::trace::with_tracer;

    #[test]
    fn room_that_is_gone_is_kept_for_what_ended_the_run_and_for_what_is_not_written_down() {
        with_tracer(|tracer| {
            for number in 0..2 * MOST_REFUSALS as u64 {
                tracer.refused_to(None, Resource::Memory(Bytes(number)));
                tracer.lazy(Bytes(number));
            }
            assert_eq!(
                (tracer.raw.refusals.len(), tracer.raw.lazy_maps.len()),
                (MOST_REFUSALS, MOST_REFUSALS)
            );
            tracer.refused_to(None, Resource::Used(Bytes(1)));
            tracer.unrecorded(RecordPart::Files);
            tracer.unrecorded(RecordPart::Files);
            assert_eq!(tracer.raw.refusals.len(), MOST_REFUSALS + 2);
        });
    }
}
