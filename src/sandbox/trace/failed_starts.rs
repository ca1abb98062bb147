//! Starts and openings that the kernel refused: what they were for.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::model::evidence::{ExecOutcome, FileAccess, Opener};
use crate::sandbox::failure;
use crate::sandbox::inspect::files::FoundFile;
use crate::sandbox::inspect::image;
use crate::sandbox::plan::{SeenProgram, is_shared_object};
use crate::sandbox::trace::calls::{AskedFile, PendingOpen, is_library, is_of_the_host};
use crate::sandbox::trace::programs::escaped;
use crate::sandbox::trace::record::{RawExec, RawOpen};
use crate::sandbox::trace::tracee;
use crate::sandbox::trace::tracer::Tracer;

/// A start that the kernel refused.
pub(in crate::sandbox) struct FailedStart {
    pub(in crate::sandbox) process: i32,
    pub(in crate::sandbox) parent: i32,
    /// The program that asked for it.
    pub(in crate::sandbox) by: Option<usize>,
    pub(in crate::sandbox) asked: PathBuf,
    /// The file of the host that the path led to when the call began.
    pub(in crate::sandbox) at_begin: Option<AskedFile>,
    /// The kernel's errno.
    pub(in crate::sandbox) error: i32,
}

/// The interpreter that the first line of a script names.
fn interpreter(script: &FoundFile) -> Option<PathBuf> {
    let head = script.head(256)?;
    Some(PathBuf::from(OsStr::from_bytes(failure::interpreter(&head)?)))
}

impl Tracer<'_> {
    /// The file that a path leads to; for a script of the entry's own that may be executed, the one that should read it. The kernel
    /// follows five.
    fn program_at(&self, thread: i32, mut asked: PathBuf) -> (PathBuf, Option<FoundFile>) {
        let mut found = self.files.find(thread, &asked);
        for _ in 0..5 {
            // (A file without an execute bit is refused for its own sake.)
            if let Some(script) = &found
                && self.files.made(script)
                && script.metadata.mode() & 0o111 != 0
                && let Some(interpreter) = interpreter(script)
            {
                found = self.files.find(thread, &interpreter);
                asked = interpreter;
            } else {
                break;
            }
        }
        (asked, found)
    }

    /// The interpreter or loader that a file of the entry's own names, and that is not there.
    fn lacks(&self, thread: i32, asked: &Path) -> Option<PathBuf> {
        let (named, found) = self.program_at(thread, asked.to_owned());
        let Some(found) = found else {
            return (named != asked).then_some(named);
        };
        let loader = self.files.made(&found).then(|| image::loader(&found)).flatten()?;
        self.files.find(thread, &loader).is_none().then_some(loader)
    }

    /// The program of the host that a start begins to ask for, where its path does not say it.
    pub(in crate::sandbox::trace) fn asks_for(
        &self,
        thread: i32,
        asked: &Path,
    ) -> Option<AskedFile> {
        if is_of_the_host(asked) {
            return None;
        }
        let (asked, found) = self.program_at(thread, asked.to_owned());
        let found = found.filter(|found| !self.files.made(found))?;
        Some(AskedFile::new(asked, &found))
    }

    /// The file of the host that an opening begins to ask for, where its path does not say it.
    pub(in crate::sandbox::trace) fn leads_to(
        &self,
        path: &Path,
        found: &FoundFile,
    ) -> Option<AskedFile> {
        (!self.files.made(found)).then(|| AskedFile::new(path.to_owned(), found))
    }

    /// Writes down a start that failed in a thread: what it asked for is what that thread sees, with its descriptors, and it may live on
    /// when the first thread of its process has ended.
    pub(in crate::sandbox) fn exec_failed(
        &mut self,
        thread: i32,
        failed: FailedStart,
        argv: &[Vec<u8>],
        starter_libraries: Vec<PathBuf>,
    ) {
        let FailedStart { process, parent, by, asked, at_begin, error } = failed;
        let outcome = match error {
            libc::ENOENT | libc::ENOTDIR => ExecOutcome::NotFound,
            libc::EACCES | libc::EPERM => ExecOutcome::Denied,
            other => ExecOutcome::Failed(other),
        };
        self.path_answer(by, &asked, outcome != ExecOutcome::NotFound);
        let lacks =
            (outcome == ExecOutcome::NotFound).then(|| self.lacks(thread, &asked)).flatten();
        let (asked, found) = if outcome == ExecOutcome::NotFound {
            let found = self.files.find(thread, &asked);
            (asked, found)
        } else {
            // A script of the entry's own was refused because of what should read it: that is what was asked for.
            self.program_at(thread, asked)
        };
        if tracee::is_dying(thread) {
            // Nobody saw the answer, and what was asked for can no longer be told from a file of the same name outside.
            return;
        }
        let own = found.as_ref().is_some_and(|found| self.files.made(found));
        let inode = found.as_ref().map(FoundFile::inode);
        let real = found.filter(|_| outcome != ExecOutcome::NotFound).map(|found| found.path);
        let other =
            at_begin.filter(|file| outcome == ExecOutcome::Denied && Some(file.inode) != inode);
        let other = other.map(|file| (file.asked, false, Some(file.inode), Some(file.real)));
        for (asked, own, inode, real) in other.into_iter().chain([(asked, own, inode, real)]) {
            let seen = SeenProgram {
                asked,
                real,
                inode,
                argv: escaped(argv),
                reader_argv: Vec::new(),
                own,
                script: false,
                own_reader: false,
                starter_libraries: starter_libraries.clone(),
            };
            let lacks = lacks.clone().filter(|_| seen.own);
            self.failed_start(process, parent, by, seen, outcome, lacks);
        }
    }

    fn failed_start(
        &mut self,
        pid: i32,
        parent: i32,
        by: Option<usize>,
        seen: SeenProgram,
        outcome: ExecOutcome,
        lacks: Option<PathBuf>,
    ) {
        if self.again(&seen, by, outcome, false).is_some() {
            return;
        }
        let at = Instant::now();
        self.raw.execs.push(RawExec {
            at,
            pid,
            parent,
            by,
            seen,
            outcome,
            ended: Some(at),
            exit: None,
            file: None,
            product: None,
            own_code: false,
            lacks,
        });
    }

    /// Writes down the file that the path of a refused opening led to when the call began, where it is another one now.
    pub(in crate::sandbox::trace) fn refused_at_begin(
        &mut self,
        pid: i32,
        by: Option<usize>,
        open: &PendingOpen,
        now: Option<&FoundFile>,
    ) {
        let Some(file) = &open.at_begin else { return };
        // (Files of /proc have other numbers each time.)
        if now.is_some_and(|now| now.inode() == file.inode || now.path == file.real) {
            return;
        }
        let path = file.real.clone();
        let access = open.access;
        let late = !self.shared.is_auditing();
        let counts = is_library(&path) || file.program || access == FileAccess::Write;
        if late && !(counts && self.shared.audits()) {
            return;
        }
        let by = if late { self.first_alike(by) } else { by };
        let opener = if is_shared_object(&path) { self.opener(pid) } else { Opener::LOADER };
        let (at, own, denied, missing) = (Instant::now(), false, true, false);
        self.opened(RawOpen { at, by, path, own, access, denied, missing, opener });
    }
}
