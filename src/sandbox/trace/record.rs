//! The record of one run, and its bounds.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::model::evidence::{
    Denial, ExecOutcome, ExitHow, FatalSignal, FileAccess, Opener, Refusal,
};
use crate::model::units::Bytes;
use crate::sandbox::inspect::descriptors::HeldFile;
use crate::sandbox::plan::SeenProgram;

/// Bounds of the record of one run. An entry that repeats itself only loses detail; room that one kind of event
/// fills takes none from another, so that nothing can be hidden behind a flood of something else.
///
/// From this number of programs on, the same program started again is not written down again.
pub(in crate::sandbox) const MOST_TOLD_APART: usize = 1_000;
/// An entry that goes beyond this number is ended: what it runs can no longer be told.
pub(in crate::sandbox) const MOST_EXECS: usize = 2_000;
/// Files of the host that were opened, files that were refused, and files of the entry's own.
pub(in crate::sandbox) const MOST_OPENS: usize = 5_000;
pub(in crate::sandbox) const MOST_DENIED_OPENS: usize = 1_000;
pub(in crate::sandbox) const MOST_OWN_OPENS: usize = 1_000;
/// Fatal signals: they explain a failure, and nobody is acquitted by them.
pub(in crate::sandbox) const MOST_CRASHES: usize = 50;
pub(in crate::sandbox) const MOST_DENIALS: usize = 200;
/// The most different resources that were refused and are recorded: each is an excuse, and one of them is enough. The refusal
/// that ended the run has room beyond. As many large mappings are told, for those who read of them.
pub(in crate::sandbox) const MOST_REFUSALS: usize = 50;
/// Products of the entry's own that are summed up.
pub(in crate::sandbox) const MOST_PRODUCTS: usize = 200;
/// Those of them for which there is room whatever other entries hold: its own file, and as many as a stub has.
pub(in crate::sandbox) const FEW_PRODUCTS: usize = 8;
/// Characters of a path that a report shows.
pub(in crate::sandbox) const MOST_OF_A_PATH: usize = 300;
/// Files whose maker is remembered. A file without one is a file that remains: only makers that are known are exempt for caches.
pub(in crate::sandbox) const MOST_MADE: usize = 10_000;

/// Room in bytes for what an entry fills beside these numbers: gate4k's own memory shows in the next start (`child/memory_mark.rs`), and
/// the paths and words of a record may be long.
#[derive(Debug)]
pub(in crate::sandbox) struct RecordRoom(usize);

impl RecordRoom {
    /// Room for each of different programs and the host's files that were opened.
    pub(in crate::sandbox) const LARGE: usize = 1 << 20;
    /// Room for programs that are started again.
    pub(in crate::sandbox) const OF_REPEATS: usize = 512 << 10;
    /// Room for each of refused and own files.
    pub(in crate::sandbox) const SMALL: usize = 256 << 10;

    pub(in crate::sandbox) fn new(bytes: usize) -> RecordRoom {
        RecordRoom(bytes)
    }

    /// Takes so many bytes of it; false where there are not so many, after which there is none at all.
    pub(in crate::sandbox) fn takes(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// About as many bytes as a program's start takes in the record, where its libraries stand twice.
pub(in crate::sandbox) fn bytes_of(seen: &SeenProgram) -> usize {
    let real = seen.real.as_ref().map_or(0, |path| path.as_os_str().len());
    let words: usize = seen.argv.iter().chain(&seen.reader_argv).map(|word| word.len() + 24).sum();
    let libraries: usize =
        seen.starter_libraries.iter().map(|path| path.as_os_str().len() + 24).sum();
    300 + seen.asked.as_os_str().len() + real + words + 2 * libraries
}

/// The program that made each path. Paths are as long as the entry wants; of each a hash is kept, by keys that no entry knows.
#[derive(Debug, Default)]
pub(in crate::sandbox) struct MakersOfPaths {
    keys: RandomState,
    by: HashMap<u64, MadeBy>,
}

impl MakersOfPaths {
    pub(in crate::sandbox) fn insert(&mut self, path: &Path, by: MadeBy) {
        if self.by.len() < MOST_MADE {
            self.by.insert(self.keys.hash_one(path), by);
        }
    }

    pub(in crate::sandbox) fn get(&self, path: &Path) -> Option<&MadeBy> {
        self.by.get(&self.keys.hash_one(path))
    }
}

/// One exec as seen; classified when the run is over.
#[derive(Debug)]
pub(in crate::sandbox) struct RawExec {
    pub(in crate::sandbox) at: Instant,
    pub(in crate::sandbox) pid: i32,
    pub(in crate::sandbox) parent: i32,
    pub(in crate::sandbox) by: Option<usize>,
    pub(in crate::sandbox) seen: SeenProgram,
    pub(in crate::sandbox) outcome: ExecOutcome,
    pub(in crate::sandbox) ended: Option<Instant>,
    pub(in crate::sandbox) exit: Option<ExitHow>,
    /// The file that ran, for hashing own products later.
    pub(in crate::sandbox) file: Option<HeldFile>,
    /// Device and inode of that file, where it is a product; of files that run several times only the first is held.
    pub(in crate::sandbox) product: Option<(u64, u64)>,
    /// True if the program that asked for it had code of the entry's own in its memory, or if it followed rules of the entry's own (`make`).
    pub(in crate::sandbox) own_code: bool,
    /// The interpreter or loader that a file of the entry's own names and that was not found, where that is why it did not start.
    pub(in crate::sandbox) lacks: Option<PathBuf>,
}

/// One opening, deduplicated.
#[derive(Debug)]
pub(in crate::sandbox) struct RawOpen {
    pub(in crate::sandbox) at: Instant,
    pub(in crate::sandbox) by: Option<usize>,
    pub(in crate::sandbox) path: PathBuf,
    /// True if it lies where the entry itself makes files.
    pub(in crate::sandbox) own: bool,
    pub(in crate::sandbox) access: FileAccess,
    pub(in crate::sandbox) denied: bool,
    pub(in crate::sandbox) missing: bool,
    pub(in crate::sandbox) opener: Opener,
}

/// The marks by which openings are told apart: by whom, path, access, refused, not there, by which code.
pub(in crate::sandbox) type OpenIdentity = (Option<usize>, PathBuf, FileAccess, bool, bool, Opener);

/// Everything that was seen.
#[derive(Debug, Default)]
pub(in crate::sandbox) struct RawRecord {
    pub(in crate::sandbox) execs: Vec<RawExec>,
    /// True once a start was not written down because another one of the same program was.
    pub(in crate::sandbox) some_stand_for_others: bool,
    pub(in crate::sandbox) opens: Vec<RawOpen>,
    pub(in crate::sandbox) denials: Vec<Denial>,
    pub(in crate::sandbox) refusals: Vec<Refusal>,
    /// Sizes of the mappings that were made lazy.
    pub(in crate::sandbox) lazy_maps: Vec<Bytes>,
    pub(in crate::sandbox) crashes: Vec<(Instant, FatalSignal)>,
    /// Names that are in no directory of PATH, and which program looked for them.
    pub(in crate::sandbox) not_installed: Vec<(String, Option<usize>)>,
    /// The program that made each path.
    pub(in crate::sandbox) made: MakersOfPaths,
    /// The program that opened each file of the entry's own last to write to it, by device and inode: by whatever path it did.
    pub(in crate::sandbox) written: HashMap<(u64, u64), MadeBy>,
}

/// A program behind a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sandbox) struct MadeBy {
    /// Its index in the list of execs.
    pub(in crate::sandbox) program: usize,
    /// The index of the first start of the same program in the same way, which stands for it in what is recorded once.
    pub(in crate::sandbox) alike: usize,
}

/// The marks that tell one program's start from another's.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(in crate::sandbox) struct ExecIdentity {
    pub(in crate::sandbox) inode: Option<(u64, u64)>,
    /// The path of one without an inode.
    pub(in crate::sandbox) path: PathBuf,
    /// The words by which it was called, as far as they say which program it is: one file may be many.
    pub(in crate::sandbox) words: Vec<String>,
    /// The words by which its interpreter was called, where it is a script.
    pub(in crate::sandbox) reader: Vec<String>,
    /// The inodes of the programs above it, the nearest first: a helper may run below some and not below others.
    pub(in crate::sandbox) above: Vec<Option<(u64, u64)>>,
    /// The libraries in the memory of the program that starts it: some of them may start a program, whoever has loaded them.
    pub(in crate::sandbox) libraries: Vec<PathBuf>,
    pub(in crate::sandbox) own_code: bool,
    pub(in crate::sandbox) outcome: ExecOutcome,
}

/// The names that were looked for in every directory of PATH, `dirs` of them, and were in none; and who looked.
pub(in crate::sandbox) fn found_nowhere(
    looked: HashMap<String, (HashSet<PathBuf>, Option<usize>)>,
    found: &HashSet<String>,
    dirs: usize,
) -> Vec<(String, Option<usize>)> {
    let mut names: Vec<(String, Option<usize>)> = looked
        .into_iter()
        .filter(|(name, (places, _))| places.len() >= dirs && !found.contains(name))
        .map(|(name, (_, by))| (name, by))
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_that_was_asked_for_too_much_is_full() {
        let mut room = RecordRoom::new(10);
        assert!(room.takes(4) && !room.takes(7) && !room.takes(1));
    }

    #[test]
    fn makers_are_found_by_the_whole_path() {
        let mut made = MakersOfPaths::default();
        let long = |end: &str| PathBuf::from(format!("/{}{end}", "x/".repeat(2_000)));
        let by = MadeBy { program: 1, alike: 0 };
        made.insert(&long("a"), by);
        assert_eq!((made.get(&long("a")), made.get(&long("b"))), (Some(&by), None));
        for number in 0..2 * MOST_MADE {
            made.insert(Path::new(&number.to_string()), by);
        }
        assert_eq!(made.by.len(), MOST_MADE);
    }
}
