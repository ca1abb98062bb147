//! Programs: what was started, what was refused, what was looked for in PATH.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::model::command_words::telling;
use crate::model::evidence::{Denial, ExecOutcome, RecordPart};
use crate::model::text::escape;
use crate::sandbox::inspect::descriptors::HeldFile;
use crate::sandbox::inspect::files::{self, FoundFile};
use crate::sandbox::inspect::process::{self, Mapping};
use crate::sandbox::plan::{SeenProgram, is_shared_object};
use crate::sandbox::trace::calls::{PendingCall, StarterCode, message};
use crate::sandbox::trace::own_rules;
use crate::sandbox::trace::record::{
    ExecIdentity, FEW_PRODUCTS, MOST_DENIALS, MOST_EXECS, MOST_PRODUCTS, MOST_TOLD_APART, RawExec,
    bytes_of,
};
use crate::sandbox::trace::tracee;
use crate::sandbox::trace::tracer::Tracer;

/// The words of a program, by which it is judged. A report cuts them further.
pub(super) fn escaped(words: &[Vec<u8>]) -> Vec<String> {
    /// The most bytes that are kept of a word: as many as a path can have.
    const MOST_OF_A_WORD: usize = 4_096;
    words.iter().map(|word| escape(word, MOST_OF_A_WORD)).collect()
}

/// A file that a process runs or has mapped.
#[derive(Clone, Copy)]
struct MappedFile<'a> {
    inode: u64,
    /// True if it is the entry's own.
    own: bool,
    path: &'a OsStr,
}

impl MappedFile<'_> {
    /// True if two files are one. Devices cannot be compared everywhere (btrfs shows others in mappings), and the number of an inode
    /// alone is not enough: an entry can give a file of its own that of a file of the host, and overlayfs shows another one in
    /// mappings than elsewhere of a file that was changed since it was first looked at.
    fn is(self, other: MappedFile<'_>) -> bool {
        let (same_inode, same_path) = (self.inode == other.inode, self.path == other.path);
        match (self.own, other.own) {
            (false, false) => same_inode || same_path,
            (true, true) => same_inode,
            _ => same_inode && same_path,
        }
    }
}

/// The program that a process runs, as the kernel tells it.
struct RunningProgram {
    /// The file that runs; none where it cannot be looked at.
    running: Option<FoundFile>,
    /// True if it runs to read a script, which is what was asked for.
    script: bool,
    /// True for a program or a script of the entry's own.
    own: bool,
    /// True if what reads the script is the entry's own.
    own_reader: bool,
    /// True if it can be executed and not be read.
    hidden: bool,
    /// Device and inode of the entry's own product.
    product: Option<(u64, u64)>,
    /// The product's file, at the first of its starts.
    file: Option<HeldFile>,
}

impl Tracer<'_> {
    /// A shell or execvp asked whether a command is in one directory of PATH.
    pub(in crate::sandbox) fn path_answer(&mut self, by: Option<usize>, path: &Path, there: bool) {
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return;
        };
        if !self.path_dirs.iter().any(|d| d == dir) {
            return;
        }
        let name = escape(name.as_encoded_bytes(), 100);
        if there {
            self.found.insert(name);
        } else if self.looked.len() < MOST_DENIALS || self.looked.contains_key(&name) {
            let (places, looker) = self.looked.entry(name).or_default();
            places.insert(dir.to_owned());
            *looker = by;
        } else {
            self.unrecorded(RecordPart::Programs);
        }
    }

    pub(in crate::sandbox) fn execed(&mut self, pid: i32) {
        // A thread that execs becomes the process; its own number is gone without an exit event.
        let former = message(pid, libc::PTRACE_EVENT_EXEC).and_then(|m| i32::try_from(m).ok());
        let is_another = |former: &i32| {
            *former != pid && self.tracees.get(former).is_some_and(|thread| thread.process == pid)
        };
        let thread = former.filter(is_another).and_then(|former| self.tracees.remove(&former));
        let Some(tracee) = self.tracees.get_mut(&pid) else {
            return;
        };
        let of_first = tracee.pending.take();
        let (pending, cut_off) = match thread {
            Some(thread) => (thread.pending, of_first),
            None => (of_first, None),
        };
        let (by, own_code) = (tracee.program, tracee.own_code);
        // A first thread that another one has ended for the new program's sake.
        self.ends_making(pid, by, own_code, cut_off.as_ref());
        // The table of descriptors outlives the threads that the kernel has ended for the new program's sake.
        if self.missed.remove(&pid) || cut_off.is_some_and(|pending| pending.opens()) {
            self.unrecorded(RecordPart::Paths);
        }
        let Some(tracee) = self.tracees.get(&pid) else {
            return;
        };
        let (asked, claimed, starter) = match pending {
            Some(PendingCall::Exec { asked, argv, starter, .. }) => (asked, argv, starter),
            _ => (PathBuf::new(), Vec::new(), StarterCode::default()),
        };
        let now = Instant::now();
        let (by, parent) = (tracee.program, tracee.parent);
        // The program before ended where it became this one.
        if let Some(before) = by.and_then(|index| self.raw.execs.get_mut(index))
            && before.pid == pid
        {
            before.ended = Some(now);
        }
        // The words that the program got may be others than those that were there when it was asked for. No more of them are looked
        // at than the first two, which tell one program of a file of many from another; a word that is cut is no program's name.
        let words = process::command_line(pid);
        let program = self.look_at_running(pid, &asked, &words);
        let path = program.running.as_ref().map(|running| running.path.as_path());
        let is_asked_of_make =
            !program.own && !program.script && own_rules::are_of_a_compiler(path, &words);
        let got: Vec<Vec<u8>> = words.into_iter().take(tracee::ARGUMENTS).collect();
        let (argv, reader_argv) = if program.script { (claimed, got) } else { (got, Vec::new()) };
        let own_code =
            starter.own || path.is_some_and(|path| own_rules::brought_by(pid, path, &argv));
        // A program of the entry's own that reads a script is listed beside it.
        let running = program.running.as_ref().filter(|_| !program.own_reader);
        let loaders = self.loaders(pid, running, &argv);
        self.path_answer(by, &asked, true);
        if tracee::is_dying(pid) {
            // Killed before the new program's first instruction: it never ran, and what was seen of it may be half of it.
            return;
        }
        // A make that starts anything else follows rules of the entry's own.
        if let Some(above) = by.and_then(|index| self.raw.execs.get_mut(index))
            && !is_asked_of_make
            && (!above.seen.own || (above.seen.script && !above.seen.own_reader))
            && own_rules::is_make(above.seen.real.as_deref())
        {
            above.own_code = true;
        }
        let seen = SeenProgram {
            asked,
            inode: program.running.as_ref().map(FoundFile::inode),
            real: program.running.map(|found| found.path),
            argv: escaped(&argv),
            reader_argv: escaped(&reader_argv),
            own: program.own,
            script: program.script,
            own_reader: program.own_reader,
            starter_libraries: starter.libraries,
        };
        let ran = |seen| RawExec {
            at: now,
            pid,
            parent,
            by,
            seen,
            outcome: ExecOutcome::Ran,
            ended: None,
            exit: None,
            file: None,
            product: None,
            own_code,
            lacks: None,
        };
        for seen in loaders {
            if self.again(&seen, by, ExecOutcome::Ran, own_code).is_none() {
                self.raw.execs.push(ran(seen));
            }
        }
        let again = self.again(&seen, by, ExecOutcome::Ran, own_code);
        if let Some(tracee) = self.tracees.get_mut(&pid) {
            tracee.program = Some(again.unwrap_or(self.raw.execs.len()));
            tracee.own_code = false;
        }
        if program.hidden {
            // It can be executed and not be looked at, as a file of mode 0111 is: nothing of it could be told.
            self.denied(pid, "a program that cannot be looked at".into());
            self.shared.kill_one(pid);
        }
        if again.is_some() {
            return;
        }
        let (file, product) = (program.file, program.product);
        self.raw.execs.push(RawExec { file, product, ..ran(seen) });
    }

    /// Looks at the program that a process runs, with these words, since its exec of the path `asked`.
    fn look_at_running(&mut self, pid: i32, asked: &Path, words: &[Vec<u8>]) -> RunningProgram {
        let running = files::running(pid);
        let unreadable =
            running.as_ref().is_err_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied);
        let running = running.ok();
        let inode = running.as_ref().map(FoundFile::inode);
        // The path may lead elsewhere by now. The kernel tells what runs; the path is asked for one thing only: the
        // script that an interpreter was started for.
        let script = self.files.find(pid, asked).filter(|found| {
            inode.is_some_and(|inode| {
                found.inode() != inode && self.files.is_read_by(pid, found, inode, words)
            })
        });
        let is_own = |found: &FoundFile| self.files.made(found);
        // Of a program that cannot be looked at, and is ended for that, the path alone tells whose it is.
        let named = || self.files.find(pid, asked).is_some_and(|found| is_own(&found));
        let own = script.iter().chain(&running).any(is_own) || (unreadable && named());
        let own_reader = script.is_some() && running.as_ref().is_some_and(is_own);
        // Of a script, the product is the script and not its interpreter.
        let product = script.as_ref().or(running.as_ref()).filter(|_| own);
        let file = product.and_then(FoundFile::open);
        // Nor can it be listed with its hash.
        let hidden = unreadable || (product.is_some() && script.is_none() && file.is_none());
        let product = product.map(FoundFile::inode);
        let file = product.zip(file).and_then(|(inode, file)| self.hold(inode, file));
        RunningProgram { script: script.is_some(), running, own, own_reader, hidden, product, file }
    }

    /// Holds the file of a product, to be summed up at the end, where it is the first of its starts.
    fn hold(&mut self, inode: (u64, u64), file: File) -> Option<HeldFile> {
        if self.products.contains(&inode) {
            return None;
        }
        let held = match self.products.len() {
            0..FEW_PRODUCTS => Some(HeldFile::one_of_few(file)),
            FEW_PRODUCTS..MOST_PRODUCTS => HeldFile::new(file),
            _ => None,
        };
        if held.is_some() {
            self.products.insert(inode);
        } else {
            // The program is listed without its sum.
            self.unrecorded(RecordPart::Programs);
        }
        held
    }

    /// Programs that the kernel has mapped beside the one that runs, because its file names them as its loader (PT_INTERP):
    /// they run first. The system's own loaders do nothing else.
    fn loaders(&self, pid: i32, running: Option<&FoundFile>, argv: &[Vec<u8>]) -> Vec<SeenProgram> {
        let is_running = |mapping: &Mapping, file: &FoundFile| {
            let runs = MappedFile {
                inode: file.metadata.ino(),
                own: self.files.made(file),
                path: file.path.as_os_str(),
            };
            runs.is(MappedFile {
                inode: mapping.inode,
                own: self.files.maps_own(mapping),
                path: OsStr::from_bytes(&mapping.path),
            })
        };
        let beside = |mapping: &Mapping| !running.is_some_and(|file| is_running(mapping, file));
        let seen = |mapping: Mapping| {
            let own = self.files.maps_own(&mapping);
            let path = PathBuf::from(OsStr::from_bytes(&mapping.path));
            let name = path.file_name().unwrap_or_default().as_bytes();
            if !own && name.starts_with(b"ld-") && is_shared_object(&path) {
                return None;
            }
            let found = self.files.find(pid, &path).filter(|f| f.metadata.ino() == mapping.inode);
            let inode = found.map_or((mapping.device, mapping.inode), |found| found.inode());
            Some(SeenProgram {
                asked: path.clone(),
                real: Some(path),
                inode: Some(inode),
                argv: escaped(argv),
                reader_argv: Vec::new(),
                own,
                script: false,
                own_reader: false,
                starter_libraries: Vec::new(),
            })
        };
        let all = process::executable_mappings(pid).unwrap_or_default();
        all.into_iter().filter(beside).filter_map(seen).collect()
    }

    /// The code in a process that starts a program. Where a program of the host has code of the entry's own in its memory (a
    /// library that was preloaded, a plug-in), or once had, the programs that it starts are started by the entry.
    pub(in crate::sandbox::trace) fn starter_code(&self, pid: i32) -> StarterCode {
        let tracee = self.tracees.get(&pid);
        let program = tracee.and_then(|tracee| tracee.program);
        let had_own = tracee.is_some_and(|tracee| tracee.own_code);
        let Some(exec) = program.and_then(|index| self.raw.execs.get(index)) else {
            return StarterCode::default();
        };
        let Some(all) = process::executable_mappings(pid) else {
            return StarterCode { own: true, libraries: Vec::new() };
        };
        let (own, host): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|mapping| self.files.maps_own(mapping));
        let paths = host.iter().map(|mapping| PathBuf::from(OsStr::from_bytes(&mapping.path)));
        let libraries = paths.filter(|path| is_shared_object(path)).collect();
        // Of a script, the interpreter's own code runs.
        let is_own = if exec.seen.script { exec.seen.own_reader } else { exec.seen.own };
        StarterCode { own: is_own || had_own || !own.is_empty(), libraries }
    }

    /// The first start of the same program in the same way: of what one does again and again, one record is enough.
    pub(in crate::sandbox::trace) fn first_alike(&self, by: Option<usize>) -> Option<usize> {
        let exec = self.raw.execs.get(by?)?;
        let told = self.told(&exec.seen, exec.by, exec.outcome, exec.own_code);
        self.programs.get(&told).copied().or(by)
    }

    /// The marks by which starts are told apart.
    fn told(
        &self,
        seen: &SeenProgram,
        by: Option<usize>,
        outcome: ExecOutcome,
        own_code: bool,
    ) -> ExecIdentity {
        let path = if seen.inode.is_some() { PathBuf::new() } else { seen.asked.clone() };
        let is_bound = seen.inode.is_some_and(|inode| self.bound.contains(&inode));
        let words = |all: &[String]| if is_bound { all.to_vec() } else { telling(all).to_vec() };
        ExecIdentity {
            inode: seen.inode,
            path,
            words: words(&seen.argv),
            reader: words(&seen.reader_argv),
            above: self.above(by),
            libraries: seen.starter_libraries.clone(),
            own_code,
            outcome,
        }
    }

    /// The programs above a start, the nearest first. One that starts itself again and again stands there once.
    fn above(&self, by: Option<usize>) -> Vec<Option<(u64, u64)>> {
        /// More than stand between the last helper of a compiler and the entry.
        const MOST: usize = 12;
        let mut above = Vec::new();
        let mut next = by;
        while let Some(exec) = next.and_then(|index| self.raw.execs.get(index))
            && above.len() < MOST
        {
            if above.last() != Some(&exec.seen.inode) {
                above.push(exec.seen.inode);
            }
            next = exec.by;
        }
        above
    }

    /// Where the same start was written down before, once there are many.
    pub(in crate::sandbox::trace) fn again(
        &mut self,
        seen: &SeenProgram,
        by: Option<usize>,
        outcome: ExecOutcome,
        own_code: bool,
    ) -> Option<usize> {
        let count = self.raw.execs.len();
        let told = self.told(seen, by, outcome, own_code);
        let bytes = bytes_of(seen);
        if let Some(first) = self.programs.get(&told) {
            let first = *first;
            let has_room = count < MOST_TOLD_APART && self.room.of_repeats.takes(bytes);
            self.raw.some_stand_for_others |= !has_room;
            return (!has_room).then_some(first);
        }
        if count >= MOST_EXECS || !self.room.of_programs.takes(bytes) {
            let what = if count >= MOST_EXECS {
                format!("more than {MOST_EXECS} different programs (it was killed)")
            } else {
                "more different programs than there is room for (it was killed)".to_owned()
            };
            if !self.raw.denials.iter().any(|denial| denial.what == what) {
                self.raw.denials.push(Denial { by, what, count: 1 });
            }
            self.unrecorded(RecordPart::Programs);
            self.shared.kill();
            return Some(count.saturating_sub(1));
        }
        self.programs.insert(told, count);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::trace::with_tracer;

    fn seen(inode: u64, argv: &str, reader_argv: &str) -> SeenProgram {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        SeenProgram {
            asked: PathBuf::from("/x"),
            real: None,
            inode: Some((1, inode)),
            argv: words(argv),
            reader_argv: words(reader_argv),
            own: false,
            script: false,
            own_reader: false,
            starter_libraries: Vec::new(),
        }
    }

    /// The start of a program by another one; where it, or one that is like it, was written down.
    fn start(tracer: &mut Tracer<'_>, inode: u64, by: Option<usize>, own_code: bool) -> usize {
        start_of(tracer, seen(inode, "", ""), by, own_code)
    }

    fn start_of(
        tracer: &mut Tracer<'_>,
        seen: SeenProgram,
        by: Option<usize>,
        own_code: bool,
    ) -> usize {
        let (at, outcome) = (Instant::now(), ExecOutcome::Ran);
        if let Some(first) = tracer.again(&seen, by, outcome, own_code) {
            return first;
        }
        tracer.raw.execs.push(RawExec {
            at,
            pid: i32::MAX,
            parent: i32::MAX,
            by,
            seen,
            outcome,
            ended: None,
            exit: None,
            file: None,
            product: None,
            own_code,
            lacks: None,
        });
        tracer.raw.execs.len() - 1
    }

    #[test]
    fn a_file_of_the_entry_with_a_number_of_the_hosts_is_another_one() {
        let file = |inode, own, path| MappedFile { inode, own, path: OsStr::new(path) };
        let host = file(7, false, "/usr/sbin/ldconfig");
        assert!(host.is(file(7, false, "/sbin/ldconfig")));
        assert!(!host.is(file(7, true, "/work/p")));
        assert!(!host.is(file(8, false, "/usr/bin/env")));
        assert!(file(7, true, "/memfd:p").is(file(7, false, "/memfd:p")));
    }

    #[test]
    fn a_file_of_the_host_is_the_same_where_overlayfs_numbers_it_in_two_ways() {
        let file = |inode, own, path| MappedFile { inode, own, path: OsStr::new(path) };
        let host = file(7, false, "/usr/sbin/ldconfig.real");
        assert!(host.is(file(8, false, "/usr/sbin/ldconfig.real")));
        assert!(!host.is(file(8, true, "/usr/sbin/ldconfig.real")));
        let own = file(7, true, "/work/p");
        assert!(!own.is(file(8, true, "/work/p")));
    }

    #[test]
    fn a_word_is_as_long_as_a_path_can_be() {
        let name = format!("{}.dwo", "x".repeat(300));
        assert_eq!(escaped(&[name.clone().into_bytes()]), [name]);
    }

    #[test]
    fn however_many_starts_there_were_other_arguments_of_a_bound_program_are_a_new_one() {
        with_tracer(|tracer| {
            tracer.bound.insert((1, 2));
            for _ in 0..=MOST_TOLD_APART {
                start_of(tracer, seen(1, "sleep 0", ""), None, false);
            }
            start_of(tracer, seen(2, "ldconfig -p", ""), None, false);
            let many = tracer.raw.execs.len();
            start_of(tracer, seen(2, "ldconfig -p", ""), None, false);
            start_of(tracer, seen(1, "sleep 1", ""), None, false);
            assert_eq!(tracer.raw.execs.len(), many);
            start_of(tracer, seen(2, "ldconfig -C x", ""), None, false);
            let mut served = seen(1, "sleep 0", "");
            served.starter_libraries.push("/usr/lib/libx.so".into());
            start_of(tracer, served, None, false);
            assert_eq!(tracer.raw.execs.len(), many + 2);
        });
    }

    #[test]
    fn however_many_starts_there_were_one_below_another_program_is_a_new_one() {
        with_tracer(|tracer| {
            let [entry_file, shell, compiler, maker, helper, other] = [1, 2, 3, 4, 5, 6];
            let entry = start(tracer, entry_file, None, false);
            let compiles = start(tracer, compiler, Some(entry), false);
            let makes = start(tracer, maker, Some(compiles), false);
            let its_shell = start(tracer, shell, Some(makes), false);
            let helps = start(tracer, helper, Some(its_shell), false);
            let assembles = start(tracer, other, Some(compiles), false);
            for _ in 0..MOST_TOLD_APART {
                start(tracer, entry_file, Some(entry), false);
            }
            // The very same is not written down again.
            assert_eq!(start(tracer, helper, Some(its_shell), false), helps);
            assert_eq!(start(tracer, other, Some(compiles), false), assembles);
            // By a shell of the entry's own, and by a compiler with the entry's code in it, it is.
            let own_shell = start(tracer, shell, Some(entry), false);
            assert!(start(tracer, helper, Some(own_shell), false) > own_shell);
            assert_ne!(start(tracer, other, Some(compiles), true), assembles);
            // One that goes on and on starting itself is still one program.
            let mut last = entry;
            for _ in 0..MOST_EXECS {
                last = start(tracer, entry_file, Some(last), false);
            }
            assert!(tracer.raw.refusals.is_empty() && tracer.raw.execs.len() < MOST_EXECS);
        });
    }

    #[test]
    fn however_many_starts_there_were_another_program_of_the_same_file_is_a_new_one() {
        with_tracer(|tracer| {
            for _ in 0..=MOST_TOLD_APART {
                start_of(tracer, seen(1, "busybox tail x", ""), None, false);
                start_of(tracer, seen(1, "s", "/bin/busybox tail s"), None, false);
            }
            let many = tracer.raw.execs.len();
            // More words than tell the program make it no other one.
            start_of(tracer, seen(1, "busybox tail y", ""), None, false);
            assert_eq!(tracer.raw.execs.len(), many);
            let new = [("busybox sed p", ""), ("-busybox wget", ""), ("s", "/bin/busybox sed s")];
            for (at, (words, reader)) in new.into_iter().enumerate() {
                start_of(tracer, seen(1, words, reader), None, false);
                assert_eq!(tracer.raw.execs.len(), many + at + 1, "{words} {reader}");
            }
        });
    }
}
