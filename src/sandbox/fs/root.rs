//! The view that an entry has of the machine: a fresh root in memory with the host's system directories
//! bound read-only, its own /proc, a minimal /dev, and an empty private workspace.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::model::units::Bytes;
use crate::sandbox::child::{NO_FILES, SetupStep};
use crate::sandbox::fs::writable::{self, HOME, WORK};

/// Other names that Debian has for such directories, and for those above them, with what they lead to.
const OTHER_NAMES: [(&str, &str); 2] = [("/var/run", "/run"), ("/var/lock", "/run/lock")];

/// Memory for files of the entry, and their number: compiling needs some megabytes, unpacking engines up
/// to a gigabyte. It counts as memory that is used, and is at most half of what the entry gets.
fn options(memory: Bytes) -> String {
    const MOST: u64 = 2 << 30;
    const LEAST: u64 = 64 << 20;
    let size = (memory.0 / 2).clamp(LEAST, MOST);
    format!("mode=0755,size={size},nr_inodes=65536")
}

/// Device nodes that are safe to share.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// Files of /proc that run-times read; they keep what they said when the first entry was started.
const AS_IT_IS: [&str; 2] = ["cpuinfo", "meminfo"];
/// Files of /proc that say the same at all times on all hosts with this kernel, and what is the namespaces' own.
const HARMLESS: [&str; 2] = ["filesystems", "sysvipc"];
/// Files and directories of /proc that the driver of an accelerator reads: the numbers of devices, and what NVIDIA's driver tells of
/// itself. An entry with an accelerator gets a copy of them.
const FOR_DRIVERS: [&str; 2] = ["devices", "driver/nvidia"];
/// The most files that are copied of one of them; a host with eight devices has some 100.
const MOST_DRIVER_FILES: usize = 1024;
/// The most bytes of such a file; most have less than a page.
const LONGEST_DRIVER_FILE: usize = 64 << 10;

/// Files of each memory node below /sys, by which the free memory and more could be followed; they keep what they said as well.
const OF_A_NODE: [&str; 3] = ["meminfo", "vmstat", "numastat"];
/// System directories bound whole; Landlock decides what of them may be read.
const SYSTEM: [&str; 2] = ["/usr", "/etc"];
/// Directories that merged-/usr hosts have as links.
const MERGED: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Makes a C string of a path. A path with a NUL cannot exist, so it is cut there.
pub(in crate::sandbox) fn c(path: impl AsRef<OsStr>) -> CString {
    let bytes = path.as_ref().as_bytes();
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}

/// The steps that build the root, the same for every entry on this host.
///
/// `more` are host directories outside the system ones that the grants need (a toolchain in a home
/// directory), bound at their own path; `accelerators` are device nodes that were asked for.
pub(in crate::sandbox) fn common(
    more: &[PathBuf],
    accelerators: &[PathBuf],
    memory: Bytes,
) -> Vec<SetupStep> {
    let mut root = Root { steps: vec![SetupStep::Private], made: BTreeSet::new() };
    root.steps.push(SetupStep::NewRoot { on: c("/tmp"), options: c(options(memory)) });
    for path in SYSTEM {
        root.bind(Path::new(path));
    }
    for path in MERGED.map(Path::new) {
        match std::fs::read_link(path) {
            Ok(target) => root.steps.push(SetupStep::Link { target: c(target), path: c(path) }),
            Err(_) if path.is_dir() => root.bind(path),
            Err(_) => {}
        }
    }
    // Only the part of /sys that tells of processors and memory; it has no mounts below it.
    root.bind(Path::new("/sys/devices/system"));
    root.dir(Path::new("/proc"));
    root.steps.push(SetupStep::Proc { target: c("/proc") });
    root.hide_machine(!accelerators.is_empty());
    root.steps.push(SetupStep::HostName { name: c("entry") });
    let shared = DEVICES.iter().map(|name| Path::new("/dev").join(name));
    for path in accelerators {
        root.link_by_number(path, accelerators);
    }
    for path in shared.chain(accelerators.iter().cloned()) {
        root.file(&path, 0o666, &Arc::from([]));
        root.steps.push(SetupStep::Bind {
            source: c(host(&path)),
            target: c(&path),
            recursive: false,
            device: true,
        });
    }
    for (name, target) in
        [("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")]
    {
        root.steps
            .push(SetupStep::Link { target: c(target), path: c(Path::new("/dev").join(name)) });
    }
    for path in more {
        root.bind(path);
    }
    for path in writable::places() {
        root.parents(path);
        let shared = path != Path::new(WORK) && path != Path::new(HOME);
        let mode = if shared { 0o1777 } else { 0o755 };
        root.steps.push(SetupStep::Dir { path: c(path), mode, entry_owns: !shared });
        root.made.insert(path.clone());
    }
    for (name, target) in OTHER_NAMES {
        let path = Path::new(name);
        root.parents(path);
        if root.made.insert(path.to_owned()) {
            root.steps.push(SetupStep::Link { target: c(target), path: c(path) });
        }
    }
    root.steps.push(SetupStep::DropHost);
    root.steps
}

/// The mode of the entry's copy: everybody may read and start it, nobody change it.
pub(in crate::sandbox) const STAGED: u32 = 0o555;

/// The steps that stage an entry in that root: in a directory of its own, in which it may write, and bound read-only on itself,
/// so that it can be neither changed nor removed.
pub(in crate::sandbox) fn staging(entry: &Path, bytes: &Arc<[u8]>) -> Vec<SetupStep> {
    let mut root = Root { steps: Vec::new(), made: BTreeSet::new() };
    if let Some(folder) = entry.parent() {
        root.parents(folder);
        root.made.insert(folder.to_owned());
        root.steps.push(SetupStep::Dir { path: c(folder), mode: 0o755, entry_owns: true });
    }
    root.file(entry, STAGED, bytes);
    let path = c(entry);
    let target = path.clone();
    root.steps.push(SetupStep::Bind { source: path, target, recursive: false, device: false });
    root.steps
}

fn host(path: &Path) -> PathBuf {
    Path::new("/.host").join(path.strip_prefix("/").unwrap_or(path))
}

struct Root {
    steps: Vec<SetupStep>,
    made: BTreeSet<PathBuf>,
}

impl Root {
    /// Covers all of /proc that is of the machine and not of a process: who could read it would know the host, and two entries of one
    /// game could tell each other something by what changes there. Processors and memory stay as they are now.
    fn hide_machine(&mut self, has_accelerator: bool) {
        let top = Path::new("/.machine");
        let empty = Path::new(OsStr::from_bytes(NO_FILES.to_bytes())).to_owned();
        let nothing = top.join("nothing");
        self.parents(&empty);
        self.dir(&empty);
        self.file(&nothing, 0o444, &Arc::from([]));
        // A host may have thousands of processes: none of them is looked at.
        let is_process = |name: &OsStr| name.as_bytes().iter().all(u8::is_ascii_digit);
        let mut found: Vec<_> = std::fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .filter(|item| !is_process(&item.file_name()))
            .collect();
        found.sort_by_key(std::fs::DirEntry::file_name);
        for item in found {
            let (name, path) = (item.file_name(), item.path());
            let Ok(seen) = item.metadata() else { continue };
            let kind = seen.file_type();
            // Links lead to what is a process's own (`self`, `mounts`, `net`); the entry's user may read what all may.
            if kind.is_symlink()
                || seen.mode() & 0o004 == 0
                || HARMLESS.iter().any(|harmless| name == *harmless)
            {
                continue;
            }
            let for_drivers = FOR_DRIVERS.iter().find(|known| {
                let mut room = MOST_DRIVER_FILES;
                has_accelerator
                    && Path::new(known).starts_with(&name)
                    && self.copy(&Path::new("/proc").join(known), &top.join(known), &mut room)
            });
            let cover = if for_drivers.is_some() {
                top.join(&name)
            } else if kind.is_dir() {
                empty.clone()
            } else if AS_IT_IS.iter().any(|known| name == *known) {
                let cover = top.join(&name);
                self.file(&cover, 0o444, &std::fs::read(&path).unwrap_or_default().into());
                cover
            } else {
                nothing.clone()
            };
            self.steps.push(SetupStep::Cover { cover: c(&cover), target: c(&path) });
        }
        // The first process of the namespace is a copy of this one: by its memory and the length of its arguments the entry would know
        // what it is started for.
        self.steps.push(SetupStep::Cover { cover: c(&empty), target: c("/proc/1") });
        let nodes = std::fs::read_dir("/sys/devices/system/node").into_iter().flatten().flatten();
        let mut nodes: Vec<_> = nodes.map(|node| node.path()).collect();
        nodes.sort();
        for path in nodes.iter().flat_map(|node| OF_A_NODE.map(|name| node.join(name))) {
            let Ok(text) = std::fs::read(&path) else { continue };
            let cover = top.join(path.strip_prefix("/").unwrap_or(&path));
            self.file(&cover, 0o444, &text.into());
            self.steps.push(SetupStep::Cover { cover: c(&cover), target: c(&path) });
        }
    }

    /// Lays a copy of what everyone may read of a file or a directory of /proc. False: there is nothing of it.
    fn copy(&mut self, from: &Path, to: &Path, room: &mut usize) -> bool {
        let Ok(seen) = from.symlink_metadata() else { return false };
        *room = room.saturating_sub(1);
        if *room == 0 || seen.mode() & 0o004 == 0 {
            return false;
        }
        if seen.is_dir() {
            self.parents(to);
            self.dir(to);
            let mut items: Vec<_> =
                std::fs::read_dir(from).into_iter().flatten().flatten().collect();
            items.sort_by_key(std::fs::DirEntry::file_name);
            for item in items {
                self.copy(&item.path(), &to.join(item.file_name()), room);
            }
            return true;
        }
        let text = seen.is_file().then(|| std::fs::read(from).ok()).flatten();
        let Some(text) = text.filter(|text| text.len() <= LONGEST_DRIVER_FILE) else {
            return false;
        };
        self.file(to, 0o444, &text.into());
        true
    }

    /// The link by which a device is found by its number, as udev makes it: NVIDIA's driver looks for its own, and starts a program that is
    /// to make them where they are missing.
    fn link_by_number(&mut self, device: &Path, all: &[PathBuf]) {
        let (Ok(seen), Some(name)) = (device.metadata(), device.strip_prefix("/dev").ok()) else {
            return;
        };
        let number = seen.rdev();
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        let path = Path::new("/dev/char").join(format!("{major}:{minor}"));
        self.parents(&path);
        // A list may name a device by two paths, of which this may be one.
        if !all.contains(&path) && self.made.insert(path.clone()) {
            let target = c(Path::new("..").join(name));
            self.steps.push(SetupStep::Link { target, path: c(&path) });
        }
    }

    fn parents(&mut self, path: &Path) {
        let mut at = PathBuf::from("/");
        let parent = path.parent().unwrap_or(Path::new("/"));
        for part in parent.components() {
            if let Component::Normal(name) = part {
                at.push(name);
                self.dir(&at.clone());
            }
        }
    }

    fn dir(&mut self, path: &Path) {
        if path != Path::new("/") && self.made.insert(path.to_owned()) {
            self.steps.push(SetupStep::Dir { path: c(path), mode: 0o755, entry_owns: false });
        }
    }

    fn file(&mut self, path: &Path, mode: u32, bytes: &Arc<[u8]>) {
        self.parents(path);
        self.steps.push(SetupStep::File { path: c(path), mode, bytes: Arc::clone(bytes) });
    }

    fn bind(&mut self, path: &Path) {
        self.parents(path);
        self.dir(path);
        self.steps.push(SetupStep::Bind {
            source: c(host(path)),
            target: c(path),
            recursive: true,
            device: false,
        });
    }
}

/// The granted directories that lie outside those that are bound anyway, and so need a bind of their own.
pub(in crate::sandbox) fn outside_system(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let covered = |path: &Path| {
        SYSTEM
            .iter()
            .chain(&MERGED)
            .chain(&["/proc", "/dev", "/sys"])
            .any(|top| path.starts_with(top))
    };
    let mut wanted: Vec<PathBuf> = paths.filter(|path| !covered(path) && path.is_dir()).collect();
    wanted.sort();
    wanted.dedup();
    let all = wanted.clone();
    wanted.retain(|path| !all.iter().any(|other| other != path && path.starts_with(other)));
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nested_toolchain_is_bound_once() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("lib");
        std::fs::create_dir(&inner).unwrap();
        let usr = PathBuf::from("/usr/lib");
        let got = outside_system([inner, dir.path().to_owned(), usr].into_iter());
        assert_eq!(got, [dir.path()]);
    }
}
