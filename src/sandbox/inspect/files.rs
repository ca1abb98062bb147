//! Files of an entry, held by descriptor from the moment in which they were looked up.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::model::evidence::Product;
use crate::model::text::hex;
use crate::model::units::Bytes;
use crate::sandbox::fs::writable;
use crate::sandbox::inspect::descriptors::patiently;
use crate::sandbox::inspect::process::{self, Mapping};

/// The mark by which the entry's own files are told from the host's.
#[derive(Debug)]
pub(in crate::sandbox) enum OwnPlace {
    /// The files lie on this device, which is the entry's alone; the entry itself lies in `folder`.
    Device { device: u64, folder: PathBuf },
    /// The files lie below this directory.
    Below(PathBuf),
}

/// The files of one entry.
#[derive(Debug)]
pub(in crate::sandbox) struct EntryFiles {
    /// The root from which its paths start.
    root: File,
    own: OwnPlace,
}

/// A file that was looked up. It stays this file, whatever its path leads to later.
#[derive(Debug)]
pub(in crate::sandbox) struct FoundFile {
    /// Opened with O_PATH: neither a device nor a pipe takes notice.
    file: File,
    pub(in crate::sandbox) metadata: Metadata,
    /// The kernel's own path of it, without links.
    pub(in crate::sandbox) path: PathBuf,
}

impl FoundFile {
    fn new(file: File) -> Option<FoundFile> {
        let metadata = file.metadata().ok()?;
        let path = std::fs::read_link(by_descriptor(&file)).ok()?;
        Some(FoundFile { file, metadata, path })
    }

    /// Device and inode.
    pub(in crate::sandbox) fn inode(&self) -> (u64, u64) {
        (self.metadata.dev(), self.metadata.ino())
    }

    /// The file itself as a path of ours, for calls that take no descriptor.
    pub(in crate::sandbox) fn handle(&self) -> PathBuf {
        by_descriptor(&self.file)
    }

    /// Opens it to be read, if it is a regular file.
    pub(in crate::sandbox) fn open(&self) -> Option<File> {
        let flags = libc::O_NONBLOCK | libc::O_CLOEXEC;
        self.metadata
            .is_file()
            .then(|| {
                let mut options = OpenOptions::new();
                options.read(true).custom_flags(flags);
                patiently(|| options.open(self.handle())).ok()
            })
            .flatten()
    }

    /// True for a file that somebody may execute.
    pub(in crate::sandbox) fn is_program(&self) -> bool {
        self.metadata.is_file() && self.metadata.mode() & 0o111 != 0
    }

    /// The first bytes of a regular file.
    pub(in crate::sandbox) fn head(&self, bytes: u64) -> Option<Vec<u8>> {
        let mut head = Vec::new();
        self.open()?.take(bytes).read_to_end(&mut head).ok()?;
        Some(head)
    }
}

/// True for a blank of a first line, as the kernel reads it: a carriage return is part of a word.
fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn without_blanks(text: &[u8]) -> &[u8] {
    let is_word = |byte: &u8| !is_blank(byte);
    let begin = text.iter().position(is_word).unwrap_or(text.len());
    let end = text.iter().rposition(is_word).map_or(begin, |at| at + 1);
    text.get(begin..end).unwrap_or_default()
}

/// The first line of a script, as the kernel reads it.
struct FirstLine {
    reader: Vec<u8>,
    /// All that stands behind it is one word.
    word: Vec<u8>,
}

impl FirstLine {
    /// None of a file that is no script.
    fn of(file: &FoundFile) -> Option<FirstLine> {
        /// The bytes in which the kernel looks for it (BINPRM_BUF_SIZE).
        const LENGTH: u64 = 256;
        let head = file.head(LENGTH)?;
        let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
        let line = without_blanks(line.split(|byte| *byte == 0).next()?);
        let end = line.iter().position(is_blank).unwrap_or(line.len());
        let (reader, word) = line.split_at(end);
        Some(FirstLine { reader: reader.to_vec(), word: without_blanks(word).to_vec() })
    }

    fn reader(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.reader))
    }

    /// True if the words of a program begin with it.
    fn begins(&self, words: &[Vec<u8>]) -> bool {
        words.first() == Some(&self.reader)
            && (self.word.is_empty() || words.get(1) == Some(&self.word))
    }
}

fn by_descriptor(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

impl EntryFiles {
    /// The files of an entry with a root of its own, which lies in `folder` there.
    ///
    /// # Errors
    /// When the descriptor of the root cannot be copied or looked at.
    pub(in crate::sandbox) fn inside(root: &File, folder: &Path) -> io::Result<EntryFiles> {
        let own = OwnPlace::Device { device: root.metadata()?.dev(), folder: folder.to_owned() };
        Ok(EntryFiles { root: root.try_clone()?, own })
    }

    /// The files of an entry in the host's root, whose own lie below `top`.
    ///
    /// # Errors
    /// When the root or `top` cannot be opened.
    pub(in crate::sandbox) fn on_host(top: &Path) -> io::Result<EntryFiles> {
        // The kernel's own paths have no links in them.
        let own = OwnPlace::Below(top.canonicalize()?);
        Ok(EntryFiles { root: File::open("/")?, own })
    }

    /// True if a path leads to where the entry's own files are, as far as the path itself tells.
    pub(in crate::sandbox) fn may_hold(&self, path: &Path) -> bool {
        match &self.own {
            OwnPlace::Device { folder, .. } => {
                path.starts_with(folder)
                    || writable::places().iter().any(|dir| path.starts_with(dir))
            }
            OwnPlace::Below(top) => path.starts_with(top),
        }
    }

    /// True if a file is the entry's own.
    pub(in crate::sandbox) fn holds(&self, found: &FoundFile) -> bool {
        match &self.own {
            OwnPlace::Device { device, .. } => found.metadata.dev() == *device,
            OwnPlace::Below(top) => found.path.starts_with(top),
        }
    }

    /// True if the entry made it: a file of its own, or memory behind a descriptor.
    pub(in crate::sandbox) fn made(&self, found: &FoundFile) -> bool {
        self.holds(found) || found.path.as_os_str().as_bytes().starts_with(b"/memfd:")
    }

    /// True if a mapping is of a file of the entry's own.
    pub(in crate::sandbox) fn maps_own(&self, mapping: &Mapping) -> bool {
        // (Memory that processes share without a name is a file as well.)
        let shared: [&[u8]; 2] = [b"/dev/zero (deleted)", b"/anon_hugepage (deleted)"];
        let path = &*mapping.path;
        path.starts_with(b"/memfd:")
            || shared.contains(&path)
            || match &self.own {
                OwnPlace::Device { device, .. } => mapping.device == *device,
                OwnPlace::Below(top) => path.starts_with(top.as_os_str().as_bytes()),
            }
    }

    /// True if a path leads upwards, or over a link, to somewhere that it does not say itself.
    pub(in crate::sandbox) fn may_lead_away(&self, path: &Path) -> bool {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let how = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS;
        let look = || {
            patiently(|| {
                Ok(rustix::fs::openat2(self.root.as_fd(), path, flags, Mode::empty(), how)?)
            })
        };
        let is_absent =
            |error: io::Error| matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR));
        path.components().any(|part| part == Component::ParentDir)
            || look().is_err_and(|error| !is_absent(error))
    }

    /// Looks up an absolute path as a thread of the entry would.
    pub(in crate::sandbox) fn find(&self, tid: i32, asked: &Path) -> Option<FoundFile> {
        self.find_end(tid, asked, false).ok()
    }

    /// Looks up an absolute path as a thread of the entry would; of a link at its end the link itself, where `link` is true.
    ///
    /// # Errors
    /// As the kernel says it.
    pub(in crate::sandbox) fn find_end(
        &self,
        tid: i32,
        asked: &Path,
        link: bool,
    ) -> io::Result<FoundFile> {
        let end = if link { OFlags::NOFOLLOW } else { OFlags::empty() };
        let nothing = || io::Error::from_raw_os_error(libc::ENOENT);
        let file = match self.at_once(asked, end) {
            Ok(file) if !is_of_proc(&file) => file,
            // (In /proc, names mean something else to each process.)
            _ => self.name_by_name(tid, asked, end)?,
        };
        FoundFile::new(file).ok_or_else(nothing)
    }

    fn at_once(&self, asked: &Path, end: OFlags) -> io::Result<File> {
        /// The kernel gives up when something was renamed meanwhile; a thread that does nothing else shall not keep us.
        const TRIES: usize = 8;
        let flags = OFlags::PATH | OFlags::CLOEXEC | end;
        let how = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let look = || {
            patiently(|| {
                Ok(rustix::fs::openat2(self.root.as_fd(), asked, flags, Mode::empty(), how)?)
            })
        };
        let mut seen = look();
        for _ in 1..TRIES {
            if !seen.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                break;
            }
            seen = look();
        }
        seen.map(File::from)
    }

    /// Follows a path one name after the other, as the kernel does for this thread: wherever on the way it comes to a link of a process
    /// (`/proc/self/fd/3`, `/proc/self/root`), it goes on from what that process has there.
    fn name_by_name(&self, tid: i32, asked: &Path, end: OFlags) -> io::Result<File> {
        /// The most links that are followed in one path, as by the kernel.
        const LINKS: usize = 40;
        let open = |at: &File, name: &OsStr, flags| {
            let flags = OFlags::PATH | OFlags::CLOEXEC | flags;
            patiently(|| Ok(rustix::fs::openat(at, name, flags, Mode::empty())?)).map(File::from)
        };
        // The last stands first.
        let names = |path: &Path| -> Vec<OsString> {
            path.components().rev().map(|part| part.as_os_str().to_owned()).collect()
        };
        let top = self.root.metadata()?;
        let mut at = patiently(|| self.root.try_clone())?;
        let mut left = names(asked);
        let mut links = 0;
        while let Some(mut name) = left.pop() {
            let here = at.metadata()?;
            if name == "/" {
                at = patiently(|| self.root.try_clone())?;
                continue;
            }
            if name == ".." && (here.dev(), here.ino()) == (top.dev(), top.ino()) {
                continue;
            }
            let among_processes = here.ino() == ROOT_OF_PROC && is_of_proc(&at);
            if among_processes {
                name = self.number(tid, name)?;
            }
            let next = open(&at, &name, OFlags::NOFOLLOW)?;
            if !next.metadata()?.is_symlink() || (left.is_empty() && end.contains(OFlags::NOFOLLOW))
            {
                at = next;
                continue;
            }
            links += 1;
            if links > LINKS {
                return Err(Errno::LOOP.into());
            }
            if is_of_proc(&next) && !among_processes {
                at = open(&at, &name, OFlags::empty())?;
            } else {
                let target = rustix::fs::readlinkat(&next, "", Vec::new())?;
                left.extend(names(Path::new(OsStr::from_bytes(target.as_bytes()))));
            }
        }
        Ok(at)
    }

    /// A name at the top of /proc, as a thread means it. In the host's /proc, other processes are no business of the entry's.
    fn number(&self, tid: i32, name: OsString) -> io::Result<OsString> {
        let nothing = || io::Error::from_raw_os_error(libc::ENOENT);
        let (process, thread) = process::numbers_inside(tid).ok_or_else(nothing)?;
        let number = match name.as_bytes() {
            b"self" => process,
            b"thread-self" => thread,
            other => match std::str::from_utf8(other).ok().and_then(|name| name.parse().ok()) {
                Some(number) => number,
                None => return Ok(name),
            },
        };
        match self.own {
            OwnPlace::Below(_) if ![process, thread].contains(&number) => Err(nothing()),
            _ => Ok(number.to_string().into()),
        }
    }

    /// True for a script that a program was started to read: the kernel has put the reader that the first line names, and the one word behind it,
    /// before the script's own words. Its path alone proves nothing, since it may have led to any other file when the kernel looked.
    ///
    /// Of a script of the host, which counts as a command of its own name, that reader must be the program of the inode, too.
    pub(in crate::sandbox) fn is_read_by(
        &self,
        tid: i32,
        script: &FoundFile,
        reader: (u64, u64),
        words: &[Vec<u8>],
    ) -> bool {
        /// Scripts that read each other, as the kernel allows them.
        const NESTED: usize = 5;
        let Some(mut line) = FirstLine::of(script) else { return false };
        let mut named = self.find(tid, line.reader());
        for _ in 0..NESTED {
            let Some(next) = named.as_ref().and_then(FirstLine::of) else { break };
            named = self.find(tid, next.reader());
            line = next;
        }
        line.begins(words)
            && (self.made(script) || named.is_some_and(|named| named.inode() == reader))
    }

    /// Looks up a descriptor of a thread.
    ///
    /// # Errors
    /// As the kernel says it.
    pub(in crate::sandbox) fn find_descriptor(&self, tid: i32, fd: i32) -> io::Result<FoundFile> {
        of_thread(tid, &format!("fd/{fd}"))
    }
}

/// True for a descriptor of a thread by which its file can be written (proc_pid_fd(5): the link's permissions are the descriptor's).
///
/// # Errors
/// As the kernel says it.
pub(in crate::sandbox) fn may_be_written(tid: i32, fd: i32) -> io::Result<bool> {
    const WRITES: u32 = 0o200;
    let link = std::fs::symlink_metadata(format!("/proc/{tid}/fd/{fd}"))?;
    Ok(link.mode() & WRITES != 0)
}

/// The number of the directory that /proc is.
const ROOT_OF_PROC: u64 = 1;

fn is_of_proc(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|system| system.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

/// The file that a link in our own /proc leads to.
fn of_thread(tid: i32, link: &str) -> io::Result<FoundFile> {
    let flags = libc::O_PATH | libc::O_CLOEXEC;
    let link = format!("/proc/{tid}/{link}");
    let file = patiently(|| OpenOptions::new().read(true).custom_flags(flags).open(&link))?;
    FoundFile::new(file).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))
}

/// The program that a thread runs, by the kernel's own word.
pub(in crate::sandbox) fn running(tid: i32) -> io::Result<FoundFile> {
    of_thread(tid, "exe")
}

/// Sums of an entry's own products, within a bound on their bytes and on the time for all of them together.
pub(in crate::sandbox) struct Sums {
    left: u64,
    until: Instant,
    known: HashMap<(u64, u64), Product>,
}

impl Sums {
    /// The bounds for one run.
    pub(in crate::sandbox) fn new() -> Sums {
        const BYTES: u64 = 1 << 30;
        const TIME: Duration = Duration::from_secs(10);
        Sums { left: BYTES, until: Instant::now() + TIME, known: HashMap::new() }
    }

    /// Size and sum of a product, by its file where that has not been summed up yet.
    pub(in crate::sandbox) fn of(
        &mut self,
        inode: (u64, u64),
        file: Option<&File>,
    ) -> Option<Product> {
        if let Some(product) = file.and_then(|file| self.sum(file)) {
            self.known.insert(inode, product);
        }
        self.known.get(&inode).cloned()
    }

    /// Size and sum of a regular file; without its sum beyond the bounds.
    fn sum(&mut self, mut file: &File) -> Option<Product> {
        /// A product larger than this is listed by its size alone.
        const MOST: u64 = 256 << 20;
        let metadata = file.metadata().ok()?;
        let (size, without) = (Bytes(metadata.len()), String::new());
        if !metadata.is_file() || size.0 > MOST.min(self.left) {
            return Some(Product { size, sha256: without });
        }
        self.left -= size.0;
        file.rewind().ok()?;
        let mut hasher = Sha256::new();
        let mut buffer = vec![0u8; 64 << 10];
        // The file may grow meanwhile.
        let mut file = file.take(size.0);
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(_) if Instant::now() > self.until => {
                    return Some(Product { size, sha256: without });
                }
                Ok(n) => hasher.update(buffer.get(..n)?),
                Err(_) => return None,
            }
        }
        let sha256 = hex(hasher.finalize());
        Some(Product { size, sha256 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(top: &Path) -> EntryFiles {
        EntryFiles { root: File::open(top).unwrap(), own: OwnPlace::Below(top.to_owned()) }
    }

    #[test]
    fn links_do_not_lead_out_of_the_root() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        std::fs::create_dir(top.join("etc")).unwrap();
        std::fs::write(top.join("etc/passwd"), "inside").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", top.join("absolute")).unwrap();
        std::os::unix::fs::symlink("../../../../etc/passwd", top.join("relative")).unwrap();
        std::os::unix::fs::symlink("/proc/self/exe", top.join("magic")).unwrap();
        let files = files(&top);
        for name in ["/absolute", "/relative", "/etc/../../etc/passwd"] {
            let found = files.find(1, Path::new(name)).unwrap();
            assert_eq!(found.head(9).as_deref(), Some(&b"inside"[..]), "{name}");
            assert!(files.holds(&found));
        }
        assert!(files.find(1, Path::new("/magic")).is_none());
    }

    #[test]
    fn a_script_is_one_where_the_program_that_it_names_was_started_by_the_kernel() {
        let own = tempfile::tempdir().unwrap();
        let files = EntryFiles {
            root: File::open("/").unwrap(),
            own: OwnPlace::Below(own.path().canonicalize().unwrap()),
        };
        let hosts = tempfile::tempdir().unwrap();
        let find = |path: &Path| files.find(1, path).unwrap();
        let (shell, other) = (find(Path::new("/bin/sh")), find(Path::new("/bin/true")));
        let is_read_by = |folder: &Path, text: &str, reader: &FoundFile, words: &[&str]| {
            let script = folder.join("script");
            std::fs::write(&script, text).unwrap();
            let words: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
            files.is_read_by(1, &find(&script), reader.inode(), &words)
        };
        let (sh, sh_e) = (["/bin/sh", "script"], ["/bin/sh", "-e  -u", "script"]);
        for (line, words) in [
            ("#!/bin/sh\n", &sh[..]),
            ("#! \t/bin/sh \t-e  -u \nexit\n", &sh_e),
            ("#!/bin/sh", &sh),
            ("#!/bin/sh -e\r\n", &["/bin/sh", "-e\r", "script"]),
        ] {
            assert!(is_read_by(hosts.path(), line, &shell, words), "{line}");
            assert!(!is_read_by(hosts.path(), line, &other, words), "{line}");
            // Of the entry's own, whatever reads it is looked at.
            assert!(is_read_by(own.path(), line, &other, words), "{line}");
            // An applet of a program of many, or a make of a compiler's, whose path led to the script a moment later.
            for started in [&["touch", "script"][..], &["/bin/make", "-f", "x"], &[]] {
                assert!(!is_read_by(hosts.path(), line, &shell, started), "{line}");
                assert!(!is_read_by(own.path(), line, &shell, started), "{line}");
            }
        }
        assert!(!is_read_by(hosts.path(), "/bin/sh\n", &shell, &sh));
        assert!(!is_read_by(hosts.path(), "#!\n/bin/sh\n", &shell, &sh));
        // A script that a script reads.
        let reader = own.path().join("reader");
        std::fs::write(&reader, "#!/bin/sh\n").unwrap();
        let nested = format!("#!{}\n", reader.display());
        assert!(is_read_by(own.path(), &nested, &shell, &sh));
        assert!(!is_read_by(own.path(), &nested, &shell, &["/bin/make", "-f", "x"]));
    }

    #[test]
    fn a_descriptor_tells_whether_its_file_may_be_written() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let may_be_written = |options: &OpenOptions| {
            let opened = options.open(file.path()).unwrap();
            super::may_be_written(std::process::id() as i32, opened.as_raw_fd()).unwrap()
        };
        assert!(!may_be_written(OpenOptions::new().read(true)));
        assert!(may_be_written(OpenOptions::new().write(true)));
        assert!(may_be_written(OpenOptions::new().read(true).write(true)));
        assert!(super::may_be_written(std::process::id() as i32, -1).is_err());
    }

    #[test]
    fn only_regular_files_are_read() {
        let files = files(Path::new("/"));
        for name in ["/dev/zero", "/dev/tty", "/usr"] {
            if let Some(found) = files.find(1, Path::new(name)) {
                assert!(found.open().is_none() && found.head(1).is_none(), "{name}");
            }
        }
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRUSR).unwrap();
        // Nobody ever writes into it: an open that waited would wait for ever.
        assert!(files.find(1, &fifo).unwrap().head(1).is_none());
        let sum = Sums::new().sum(&File::open("/dev/zero").unwrap()).unwrap();
        assert_eq!(sum.sha256, "");
    }

    #[test]
    fn paths_of_the_process_itself_are_its_own_and_not_ours() {
        let files = files(Path::new("/"));
        let child = std::process::Command::new("/bin/sleep").arg("60").spawn().unwrap();
        let mut child = child;
        let pid = child.id() as i32;
        let end = Instant::now() + Duration::from_secs(10);
        let ours = running(std::process::id() as i32).unwrap().inode();
        while running(pid).unwrap().inode() == ours && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        for own in ["self".to_owned(), pid.to_string()] {
            let found = files.find(pid, Path::new(&format!("/proc/{own}/exe"))).unwrap();
            assert_ne!(found.inode(), ours, "{own}");
        }
        // Wherever on the way such a link stands, and by whatever link of the entry's own it is come to.
        let dir = tempfile::tempdir().unwrap();
        let link = |name: &str, target: &str| {
            std::os::unix::fs::symlink(target, dir.path().join(name)).unwrap();
        };
        link("exe", "/proc/self/exe");
        link("root", "/proc/self/root/bin");
        let sleeps = running(pid).unwrap().inode();
        let of_child = ["/proc/thread-self/exe", "/proc/../proc/self/exe"];
        let paths = of_child.map(PathBuf::from).into_iter();
        let paths = paths.chain([dir.path().join("exe"), dir.path().join("root/sleep")]);
        for path in paths.chain([PathBuf::from(format!("/proc/self/task/{pid}/exe"))]) {
            let found = files.find(pid, &path).map(|found| found.inode());
            assert_eq!(found, Some(sleeps), "{path:?}");
        }
        // Another process of the host is nothing that the entry could mean.
        let other = format!("/proc/{}/exe", std::process::id());
        assert!(files.find(pid, Path::new(&other)).is_none());
        assert!(files.find_end(pid, &dir.path().join("exe"), true).unwrap().metadata.is_symlink());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_sum_has_a_bound() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, "abc").unwrap();
        let mut sums = Sums::new();
        assert_eq!(sums.sum(&File::open(&path).unwrap()).unwrap().sha256.len(), 64);
        sums.left = 2;
        let product = sums.sum(&File::open(&path).unwrap()).unwrap();
        assert_eq!((product.size, product.sha256.as_str()), (Bytes(3), ""));
    }
}
