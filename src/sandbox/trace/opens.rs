//! Files that an entry makes and opens: where their paths lead before the call, and the file that it came to.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::model::evidence::{FileAccess, Opener, OpenerCode, RecordPart};
use crate::sandbox::inspect::files::{EntryFiles, FoundFile};
use crate::sandbox::inspect::process::Mapping;
use crate::sandbox::inspect::{closed_files, process};
use crate::sandbox::plan::{PSEUDO_TERMINAL, is_shared_object};
use crate::sandbox::trace::calls::{PendingOpen, is_library, is_of_the_host};
use crate::sandbox::trace::record::{
    MOST_DENIED_OPENS, MOST_MADE, MOST_OF_A_PATH, MOST_OPENS, MOST_OWN_OPENS, MadeBy, RawOpen,
};
use crate::sandbox::trace::tracee;
use crate::sandbox::trace::tracer::Tracer;

impl Tracer<'_> {
    /// Remembers who made a path, and who may have written to the file that it came to.
    pub(in crate::sandbox::trace) fn made(
        &mut self,
        path: Option<&PathBuf>,
        file: Option<&FoundFile>,
        by: Option<usize>,
    ) {
        let Some((program, alike)) = by.zip(self.first_alike(by)) else { return };
        let by = MadeBy { program, alike };
        if let Some(path) = path {
            self.raw.made.insert(path, by);
        }
        if let Some(file) = file.filter(|file| self.files.made(file))
            && self.raw.written.len() < MOST_MADE
        {
            self.raw.written.insert(file.inode(), by);
        }
    }

    /// Looks at where the path of a call that opens leads; the name of a file that must stay closed.
    pub(in crate::sandbox::trace) fn open_begins(
        &self,
        pid: i32,
        open: &mut PendingOpen,
    ) -> Option<&'static str> {
        let path = &open.path;
        if path.starts_with("/proc")
            && let Some(name) = closed_files::stays_closed(pid, path)
        {
            return Some(name);
        }
        if !open.opens || is_of_the_host(path) || !self.files.may_lead_away(path) {
            return None;
        }
        let found = self.files.find(pid, path)?;
        open.at_begin = self.leads_to(path, &found);
        closed_files::file_stays_closed(pid, &found)
    }

    /// The path of a call that opens can be another one by the time the kernel looks; what came of it stays what it is, and
    /// is returned. Nothing takes a descriptor back, so whoever came to a file that must stay closed is ended. Its path did not lead there
    /// when the call began: another thread or process has exchanged it, and may have done so before without being seen.
    pub(in crate::sandbox::trace) fn opens(&mut self, pid: i32, fd: i32) -> Option<FoundFile> {
        let file = self.files.find_descriptor(pid, fd).ok()?;
        if let Some(name) = closed_files::descriptor_stays_closed(pid, fd, &file.path) {
            self.denied(pid, format!("open({name} of a process)"));
            self.unrecorded(RecordPart::Paths);
            // Not the process alone: another may share its descriptors, or the memory that it reads into.
            self.shared.kill();
        }
        Some(file)
    }

    /// Writes down what came of a call on a file that a program made: the file that it came to, or the error.
    pub(in crate::sandbox::trace) fn open_ended(
        &mut self,
        pid: i32,
        by: Option<usize>,
        open: PendingOpen,
        mut came_to: Option<FoundFile>,
        error: i32,
    ) {
        let denied = matches!(error, libc::EACCES | libc::EPERM | libc::EROFS);
        if error == 0 && (open.creates || open.access == FileAccess::Write) {
            self.made(open.creates.then_some(&open.path), came_to.as_ref(), by);
        }
        // Of what does not exist, only libraries tell anything, which a program could not load, and the one device that no entry has.
        let told = is_shared_object(&open.path) || open.path == Path::new(PSEUDO_TERMINAL);
        let missing = error == libc::ENOENT && told;
        if error == 0 && open.opens && came_to.is_none() && !self.shared.is_killing() {
            // Another thread has taken the descriptor away: nobody knows what it was.
            self.unrecorded(RecordPart::Paths);
        }
        // A refused file has no descriptor: its path is looked up where it says nothing by itself.
        if denied && !is_of_the_host(&open.path) {
            came_to = self.files.find(pid, &open.path);
            self.refused_at_begin(pid, by, &open, came_to.as_ref());
        }
        let PendingOpen { path, access, opens, names_only, .. } = open;
        let own = match &came_to {
            Some(found) => self.files.made(found),
            None => self.files.may_hold(&path),
        };
        if own
            && opens
            && let Some(found) = &came_to
        {
            self.may_load(pid, found);
        }
        let program = !own && came_to.as_ref().is_some_and(FoundFile::is_program);
        let path = match came_to {
            Some(found)
                if !own
                    && found.path.is_absolute()
                    && (denied || is_other(&self.files, pid, &path, &found)) =>
            {
                found.path
            }
            _ => path,
        };
        let late = !self.shared.is_auditing();
        // A library may be loaded, and a program copied, at any time, whatever the start is for. In a start that is not
        // watched closely, they count once they are open.
        let used = (is_library(&path) || program) && (error == 0 || self.shared.audits());
        // A file that it saves at its quit is as much a try to write as at its start; one start tells of it.
        let save = denied && access == FileAccess::Write && self.shared.audits();
        // A descriptor that only names a program is none to copy it by; who opens or starts it by that is told then.
        let names_program = program && names_only && error == 0;
        if (!late || used || save) && (error == 0 || denied || missing) && !names_program {
            let by = if late { self.first_alike(by) } else { by };
            let at = Instant::now();
            let opener = if own || missing || !is_shared_object(&path) {
                Opener::LOADER
            } else {
                self.opener(pid)
            };
            self.opened(RawOpen { at, by, path, own, access, denied, missing, opener });
        }
    }

    /// Remembers that a process has had code of the entry's own in its memory, where the loader opens a file of the entry's own. All code
    /// of its own comes to a program of the host so, and may be unmapped again before anybody looks.
    fn may_load(&mut self, pid: i32, file: &FoundFile) {
        let Some(tracee) = self.tracees.get(&pid) else { return };
        let process = tracee.process;
        if tracee.own_code {
            return;
        }
        let caller = tracee::address_of_call(pid).map(|address| process::code_at(pid, address));
        let Some(Ok(Some(caller))) = caller else { return };
        // (musl's loader is its C library, too, which opens all else.)
        let loads_only = !is_musl(&caller.path);
        if !self.files.maps_own(&caller)
            && is_loader(&caller.path)
            && (loads_only || file.head(4).as_deref() == Some(b"\x7fELF"))
        {
            for tracee in self.tracees.values_mut().filter(|known| known.process == process) {
                tracee.own_code = true;
            }
        }
    }

    /// The code of a process that has made a call. One that was killed meanwhile has its memory until its end was seen; of one that was
    /// not, nothing is known, and another process may have what it got.
    pub(in crate::sandbox::trace) fn opener(&mut self, pid: i32) -> Opener {
        let code = tracee::address_of_call(pid).map(|address| process::code_at(pid, address));
        if tracee::is_dying(pid) {
            if !self.shared.is_killing() {
                self.unrecorded(RecordPart::Paths);
            }
            return Opener::LOADER;
        }
        let is_loader =
            |mapping: &Mapping| !self.files.maps_own(mapping) && is_loader(&mapping.path);
        let by = match code {
            Some(Ok(Some(mapping))) if is_loader(&mapping) => OpenerCode::Loader,
            _ => OpenerCode::Reader,
        };
        Opener { by, beside_own_code: self.starter_code(pid).own }
    }

    pub(in crate::sandbox::trace) fn opened(&mut self, open: RawOpen) {
        let is_own = open.own && !open.denied;
        let (count, most, room) = match (open.denied, open.own) {
            (true, _) => {
                (&mut self.counts.denied, MOST_DENIED_OPENS, &mut self.room.of_denied_opens)
            }
            (false, true) => (&mut self.counts.own, MOST_OWN_OPENS, &mut self.room.of_own_opens),
            (false, false) => (&mut self.counts.host, MOST_OPENS, &mut self.room.of_opens),
        };
        // One that was not there may be opened later: the kernel looks for the same path in another place (RESOLVE_IN_ROOT).
        let path = open.path.clone();
        let key = (open.by, path, open.access, open.denied, open.missing, open.opener);
        if self.opened.contains(&key) {
            return;
        }
        // Its path is kept twice, and what is around it.
        let bytes = 2 * open.path.as_os_str().len() + 100;
        if *count < most && room.takes(bytes) {
            self.opened.insert(key);
            *count += 1;
            self.raw.opens.push(open);
        } else if !is_own {
            // (Files of its own are nobody's business but for what it leaves.)
            self.unrecorded(RecordPart::Files);
        }
    }
}

/// True for the system's loader; musl's is the C library itself, under one name or the other.
fn is_loader(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    name.starts_with(b"ld-") || is_musl(path)
}

/// True for a file of musl's C library.
fn is_musl(path: &[u8]) -> bool {
    memchr::memmem::find(path, b"musl").is_some()
}
/// True if a file of the host is to be told by the kernel's own name of it, and not by the path that was read when the call began: that
/// one is a link of the entry's own to it, or another thread has exchanged it before the kernel looked. A name that the host has
/// given to it stays: the allow-list may know the link and not the file behind it. One that a report would cut does not:
/// links of the host that lead upwards make it as long as one likes, and its end tells that it is a library.
fn is_other(files: &EntryFiles, pid: i32, path: &Path, real: &FoundFile) -> bool {
    if path == real.path {
        return false;
    }
    if is_of_the_host(path)
        && path.as_os_str().len() <= MOST_OF_A_PATH
        && !files.may_hold(path)
        && is_library(path) == is_library(&real.path)
    {
        return files.find(pid, path).is_none_or(|named| named.inode() != real.inode());
    }
    is_library(&real.path) || real.is_program()
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::evidence::Resource;
    use crate::sandbox::trace::with_tracer;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn a_library_is_told_by_what_was_opened_and_not_by_a_string_that_changed_since() {
        let me = std::process::id() as i32;
        let own = tempfile::tempdir().unwrap();
        let files = EntryFiles::on_host(own.path()).unwrap();
        // Two libraries of this host, of which one is known by the name of a link.
        let maps = process::executable_mappings(me).unwrap();
        let mut libraries: Vec<PathBuf> = (maps.iter())
            .map(|mapping| PathBuf::from(std::ffi::OsStr::from_bytes(&mapping.path)))
            .filter(|path| is_shared_object(path))
            .collect();
        libraries.sort();
        libraries.dedup();
        let [one, other] = [&libraries[0], &libraries[1]];
        let found = files.find(me, one).unwrap();
        let told = |path: &Path| is_other(&files, me, path, &found);
        assert!(!told(one));
        assert!(told(other), "a string that was another one when it was read");
        // A link of the host's own, to the very file: its name stays.
        let up = one.strip_prefix("/usr").unwrap_or(one);
        let link = Path::new("/").join(up.strip_prefix("/").unwrap_or(up));
        if link != *one && link.exists() {
            assert!(!told(&link));
            // The same by a name that a report would cut before its end.
            let long = format!("{}{}", "/".repeat(400), link.display());
            assert!(told(Path::new(&long)));
        }
        // A link of the entry's own says nothing of what it leads to.
        assert!(told(&own.path().canonicalize().unwrap().join("libm.so.6")));
        assert!(told(Path::new("/etc/passwd")));
        // Nor of a header, nor does a way to it by `..`.
        let header = Path::new("/usr/include/stdio.h");
        if let Some(stdio) = files.find(me, header) {
            assert!(!is_other(&files, me, header, &stdio));
            let round = Path::new("/usr/include/linux/../stdio.h");
            assert!(is_other(&files, me, round, &stdio));
            assert!(is_other(&files, me, &own.path().join("x.h"), &stdio));
        }
        // Nor does one that leads to a program.
        let program = files.find(me, Path::new("/bin/sh")).unwrap();
        assert!(is_other(&files, me, &own.path().join("sh"), &program));
    }

    #[test]
    fn long_paths_fill_the_room_of_their_kind_and_of_no_other() {
        with_tracer(|tracer| {
            let open = |number: usize, denied, length| RawOpen {
                at: Instant::now(),
                by: None,
                path: format!("/usr/{}{number}", "x".repeat(length)).into(),
                own: false,
                access: FileAccess::Read,
                denied,
                missing: false,
                opener: Opener::LOADER,
            };
            let files = Resource::Unrecorded(RecordPart::Files);
            for number in 0..500 {
                tracer.opened(open(number, true, 4_000));
            }
            assert!(tracer.raw.opens.len() < 50);
            assert!(tracer.raw.refusals.iter().any(|refusal| refusal.what == files));
            tracer.raw.refusals.clear();
            tracer.opened(open(0, false, 10));
            tracer.opened(open(0, true, 4_000));
            assert!(tracer.raw.refusals.is_empty());
        });
    }
}
