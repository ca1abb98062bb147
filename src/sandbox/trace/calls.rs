//! A call as it begins: what is read of it, and whose file it means.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use crate::model::evidence::FileAccess;
use crate::model::units::Bytes;
use crate::sandbox::filter::stop::{Call, Stop};
use crate::sandbox::fs::root::WORKSPACE;
use crate::sandbox::trace::tracee;

/// A call that was seen at its start and whose end is awaited.
pub(in crate::sandbox) enum Pending {
    Exec {
        asked: PathBuf,
        argv: Vec<Vec<u8>>,
    },
    Open {
        path: PathBuf,
        access: FileAccess,
        creates: bool,
    },
    Look {
        path: PathBuf,
    },
    Map {
        size: Bytes,
    },
    Clone,
    /// A call that was refused; its end needs no look.
    Refused,
}

/// How the entry's own files are told from the host's.
#[derive(Debug)]
pub(in crate::sandbox) enum OwnPlace {
    /// They lie on this device, which is the entry's alone.
    Device(u64),
    /// They lie below this directory.
    Below(PathBuf),
}

impl OwnPlace {
    /// The directory of the host that is the entry's, where it has no root of its own.
    pub(in crate::sandbox) fn top(&self) -> Option<&Path> {
        match self {
            OwnPlace::Device(_) => None,
            OwnPlace::Below(top) => Some(top),
        }
    }

    /// Whether a path leads to where the entry's own files are, as far as the path itself tells.
    pub(in crate::sandbox) fn may_hold(&self, path: &Path) -> bool {
        match self {
            OwnPlace::Device(_) => WORKSPACE.iter().any(|dir| path.starts_with(dir)),
            OwnPlace::Below(top) => path.starts_with(top),
        }
    }

    pub(in crate::sandbox) fn holds(
        &self,
        file: Option<&std::fs::Metadata>,
        path: Option<&Path>,
    ) -> bool {
        match self {
            OwnPlace::Device(device) => file.is_some_and(|file| file.dev() == *device),
            // The kernel's own path of what runs, or the path that was asked for with its links resolved.
            OwnPlace::Below(top) => path.is_some_and(|path| path.starts_with(top)),
        }
    }

    /// The root that paths of the process start from, for us.
    fn root(&self, pid: i32) -> PathBuf {
        match self {
            OwnPlace::Device(_) => PathBuf::from(format!("/proc/{pid}/root")),
            OwnPlace::Below(_) => PathBuf::from("/"),
        }
    }

    /// Opens a file by its path without links as the process knows it.
    pub(in crate::sandbox) fn open(&self, pid: i32, path: &Path) -> Option<File> {
        let there = self.root(pid).join(path.strip_prefix("/").unwrap_or(path));
        // It may be a pipe to which nobody ever writes: the tracer must not wait for one.
        let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        OpenOptions::new().read(true).custom_flags(flags).open(there).ok()
    }

    /// The interpreter of the first line of a script, given by its path without links as the process knows it.
    pub(in crate::sandbox) fn read(&self, pid: i32, path: &Path) -> Option<PathBuf> {
        let mut head = Vec::new();
        let file = self.open(pid, path)?;
        file.take(256).read_to_end(&mut head).ok()?;
        let interpreter = crate::sandbox::failure::interpreter(&head)?;
        Some(PathBuf::from(std::ffi::OsStr::from_bytes(interpreter)))
    }

    /// The file that a path means to the process, and its path with the links on the way resolved as the
    /// process would.
    pub(in crate::sandbox) fn resolve(
        &self,
        pid: i32,
        asked: &Path,
    ) -> (Option<std::fs::Metadata>, Option<PathBuf>) {
        let (path, there) = follow(pid, &self.root(pid), asked);
        (std::fs::metadata(&there).ok(), Some(path))
    }
}

/// Follows links below `root` and gives the path as the process knows it, and the one where we find it.
/// (`/proc/PID/root` is itself a link, so `canonicalize` would leave the process's root.)
fn follow(pid: i32, root: &Path, asked: &Path) -> (PathBuf, PathBuf) {
    /// As the kernel has it (MAXSYMLINKS).
    const MOST_LINKS: u32 = 40;
    let mut links = 0;
    let mut done = PathBuf::from("/");
    let mut rest: Vec<OsString> = parts(asked);
    while let Some(part) = rest.pop() {
        if part == ".." {
            done.pop();
            continue;
        }
        done.push(&part);
        if (done == Path::new("/proc/self") || done == Path::new("/proc/thread-self"))
            && rest.len() == 2
            && rest.last().is_some_and(|part| part == "fd")
        {
            // A descriptor: the kernel goes to the file itself, whatever its path has become.
            let there =
                PathBuf::from(format!("/proc/{pid}/fd")).join(rest.first().unwrap_or(&part));
            return (std::fs::read_link(&there).unwrap_or_else(|_| asked.to_owned()), there);
        }
        let there = root.join(done.strip_prefix("/").unwrap_or(&done));
        if let Ok(target) = std::fs::read_link(&there)
            && links < MOST_LINKS
            && !done.starts_with("/proc")
        {
            links += 1;
            if target.is_absolute() {
                done = PathBuf::from("/");
            } else {
                done.pop();
            }
            rest.extend(parts(&target));
        }
    }
    let there = root.join(done.strip_prefix("/").unwrap_or(&done));
    (done, there)
}

/// The components, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let mut parts: Vec<OsString> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            _ => None,
        })
        .collect();
    parts.reverse();
    parts
}

pub(in crate::sandbox) fn is_shared_object(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".so") || name.contains(".so.")
}

pub(in crate::sandbox) fn message(pid: i32) -> Option<i64> {
    nix::sys::ptrace::getevent(nix::unistd::Pid::from_raw(pid)).ok()
}

pub(in crate::sandbox) fn exec(
    pid: i32,
    call: &Call,
    dirfd: Option<u64>,
    first: usize,
) -> Option<Pending> {
    let asked = tracee::path(pid, dirfd, call.args[first]).unwrap_or_else(|| "(unreadable)".into());
    let argv = tracee::argv(pid, call.args[first + 1], call.compat);
    Some(Pending::Exec { asked, argv })
}

/// A call that opens or makes a file.
pub(in crate::sandbox) fn file(
    pid: i32,
    stop: Stop,
    call: &Call,
    watching: bool,
) -> Option<Pending> {
    const WRITES: u64 = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u64;
    let a = call.args;
    let (dirfd, address, flags) = match stop {
        Stop::Open => (None, a[0], Some(a[1])),
        Stop::OpenAt => (Some(a[0]), a[1], Some(a[2])),
        Stop::OpenAt2 => (Some(a[0]), a[1], Some(tracee::word(pid, a[2])?)),
        Stop::Create => (None, a[0], None),
        Stop::CreateAt => (Some(a[0]), a[1], None),
        Stop::CreateSecond => (None, a[1], None),
        Stop::CreateThird => (Some(a[2]), a[3], None),
        Stop::SymlinkAt => (Some(a[1]), a[2], None),
        _ => return None,
    };
    let creates = flags.is_none_or(|flags| flags & libc::O_CREAT as u64 != 0);
    if !watching && !creates {
        return None;
    }
    let writes = flags.is_none_or(|flags| flags & WRITES != 0);
    let access = if writes { FileAccess::Write } else { FileAccess::Read };
    Some(Pending::Open { path: tracee::path(pid, dirfd, address)?, access, creates })
}

/// How a call on a process must fail; not at all where it is for one of the entry's own.
pub(in crate::sandbox) fn other_process(
    stop: Stop,
    call: &Call,
    own: impl Fn(i32) -> bool,
) -> Option<i32> {
    const SETPRIORITY: [u64; 2] = [libc::SYS_setpriority as u64, 97];
    // PRIO_USER and IOPRIO_WHO_USER mean every process of the user.
    let (user, index) = match stop {
        Stop::ProcessSecond if call.number == SETPRIORITY[usize::from(call.compat)] => (2, 1),
        Stop::ProcessSecond => (3, 1),
        _ => (-1, 0),
    };
    if index == 1 && call.args[0] as i32 == user {
        return Some(libc::EPERM);
    }
    let pid = call.args[index] as i32;
    // The number of no process.
    let Some(number) = pid.checked_abs() else {
        return Some(libc::ESRCH);
    };
    if pid == 0 || (pid != -1 && own(number)) {
        return None;
    }
    // One of its own may have ended: that is no attempt on a stranger.
    let somebody = pid == -1 || Path::new(&format!("/proc/{number}")).exists();
    Some(if somebody { libc::EPERM } else { libc::ESRCH })
}

/// Whether a program that runs cannot be read by us.
pub(in crate::sandbox) fn hides(link: &str) -> bool {
    File::open(link).is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
}
