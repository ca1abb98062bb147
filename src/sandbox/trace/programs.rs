//! Programs: what was started, what was refused, what was looked for in PATH.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::model::evidence::{Denial, ExecOutcome};
use crate::model::text::escape;
use crate::sandbox::plan::Seen;
use crate::sandbox::trace::calls::message;
use crate::sandbox::trace::calls::{Pending, hides};
use crate::sandbox::trace::record::{MOST_DENIALS, MOST_EXECS, MOST_TOLD_APART, RawExec};
use crate::sandbox::trace::tracee;
use crate::sandbox::trace::tracer::Tracer;

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
        }
    }

    pub(in crate::sandbox) fn exec_failed(
        &mut self,
        pid: i32,
        parent: i32,
        by: Option<usize>,
        asked: PathBuf,
        argv: &[Vec<u8>],
        error: i32,
    ) {
        let outcome = match error {
            libc::ENOENT | libc::ENOTDIR => ExecOutcome::NotFound,
            libc::EACCES | libc::EPERM => ExecOutcome::Denied,
            other => ExecOutcome::Failed(other),
        };
        self.path_answer(by, &asked, outcome != ExecOutcome::NotFound);
        let (mut target, mut path) = self.own.resolve(pid, &asked);
        let mut asked = asked;
        let is_own = |file: &Option<std::fs::Metadata>, path: &Option<PathBuf>| {
            self.own.holds(file.as_ref(), path.as_deref())
        };
        // A script of the entry's own was refused because of what should read it: that is what was asked
        // for. (A file without an execute bit is refused for its own sake.) The kernel follows five.
        for _ in 0..5 {
            if outcome != ExecOutcome::NotFound
                && is_own(&target, &path)
                && target.as_ref().is_some_and(|file| file.mode() & 0o111 != 0)
                && let Some(interpreter) = path.as_deref().and_then(|path| self.own.read(pid, path))
            {
                (target, path) = self.own.resolve(pid, &interpreter);
                asked = interpreter;
            } else {
                break;
            }
        }
        if tracee::is_dying(pid) {
            // Nobody saw the answer, and what was asked for can no longer be told from a file of the same name outside.
            return;
        }
        let seen = Seen {
            own: is_own(&target, &path),
            inode: target.map(|t| (t.dev(), t.ino())),
            real: path.filter(|_| outcome != ExecOutcome::NotFound),
            argv: argv.iter().map(|a| escape(a, 200)).collect(),
            script: false,
            asked,
        };
        if self.again(&seen, by, outcome).is_some() {
            return;
        }
        let now = Instant::now();
        self.raw.execs.push(RawExec {
            at: now,
            pid,
            parent,
            by,
            seen,
            outcome,
            ended: Some(now),
            exit: None,
            file: None,
        });
    }

    pub(in crate::sandbox) fn execed(&mut self, pid: i32) {
        // A thread that execs becomes the process; its own number is gone without an exit event.
        let former = message(pid).and_then(|m| i32::try_from(m).ok()).unwrap_or(pid);
        let mut pending = None;
        if former != pid
            && let Some(thread) = self.tracees.remove(&former)
        {
            pending = thread.pending;
        }
        let Some(tracee) = self.tracees.get_mut(&pid) else {
            return;
        };
        let pending = pending.or_else(|| tracee.pending.take());
        tracee.pending = None;
        let (asked, argv) = match pending {
            Some(Pending::Exec { asked, argv }) => (asked, argv),
            _ => (PathBuf::new(), Vec::new()),
        };
        let now = Instant::now();
        let (by, parent) = (tracee.program, tracee.parent);
        // The program before ended where it became this one.
        if let Some(before) = by.and_then(|index| self.raw.execs.get_mut(index))
            && before.pid == pid
        {
            before.ended = Some(now);
        }
        let link = format!("/proc/{pid}/exe");
        let real = std::fs::read_link(&link).ok();
        let file = File::open(&link).ok();
        let running = std::fs::metadata(&link);
        let hidden =
            running.as_ref().is_err_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied);
        let running = running.ok();
        let inode = running.as_ref().map(|m| (m.dev(), m.ino()));
        let (target, path) = self.own.resolve(pid, &asked);
        let in_memory = real
            .as_deref()
            .is_some_and(|path| path.as_os_str().as_encoded_bytes().starts_with(b"/memfd:"));
        // What runs cannot always be looked at; then it is nothing but what was asked for.
        let script =
            inode.is_some() && target.as_ref().is_some_and(|m| Some((m.dev(), m.ino())) != inode);
        let own = in_memory
            || self.own.holds(target.as_ref(), path.as_deref())
            || self.own.holds(running.as_ref(), real.as_deref());
        // Of a script, the product is the script and not its interpreter.
        let file = match path {
            Some(path) if script => self.own.open(pid, &path),
            _ => file,
        };
        // Nor can it be listed with its hash.
        let hidden = hidden || (own && !script && file.is_none() && hides(&link));
        self.path_answer(by, &asked, true);
        if tracee::is_dying(pid) {
            // Killed before the new program's first instruction: it never ran, and what was seen of it may be half of it.
            return;
        }
        let seen = Seen {
            asked,
            real,
            inode,
            argv: argv.iter().map(|a| escape(a, 200)).collect(),
            own,
            script,
        };
        let again = self.again(&seen, by, ExecOutcome::Ran);
        if let Some(tracee) = self.tracees.get_mut(&pid) {
            tracee.program = Some(again.unwrap_or(self.raw.execs.len()));
        }
        if hidden {
            // It can be executed and not be looked at, as a file of mode 0111 is: nothing of it could be told.
            self.denied(pid, "a program that cannot be looked at".into());
            self.shared.kill_one(pid);
        }
        if again.is_some() {
            return;
        }
        self.raw.execs.push(RawExec {
            at: now,
            pid,
            parent,
            by,
            file: file.filter(|_| seen.own),
            seen,
            outcome: ExecOutcome::Ran,
            ended: None,
            exit: None,
        });
    }

    /// Where the same start was written down before, once there are many.
    fn again(&mut self, seen: &Seen, by: Option<usize>, outcome: ExecOutcome) -> Option<usize> {
        let count = self.raw.execs.len();
        let starter = by.and_then(|index| self.raw.execs.get(index)).and_then(|e| e.seen.inode);
        let path = if seen.inode.is_some() { PathBuf::new() } else { seen.asked.clone() };
        let told = (seen.inode, path, seen.argv.first().cloned(), starter, outcome);
        if let Some(first) = self.programs.get(&told) {
            return (count >= MOST_TOLD_APART).then_some(*first);
        }
        if count >= MOST_EXECS {
            let what = format!("more than {MOST_EXECS} different programs (it was killed)");
            if !self.raw.denials.iter().any(|denial| denial.what == what) {
                self.raw.denials.push(Denial { by, what, count: 1 });
            }
            self.shared.kill();
            return Some(count.saturating_sub(1));
        }
        self.programs.insert(told, count);
        None
    }
}
