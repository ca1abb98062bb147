//! Files of /proc that no thread of an entry may open, though Landlock grants /proc as a whole.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::sys::statfs::{PROC_SUPER_MAGIC, statfs};

use crate::sandbox::inspect::files::FoundFile;
use crate::sandbox::inspect::process::numbers_inside;

/// Files of a process in /proc that tell of others. By the first, how many processes have a page of a file in their memory: two entries
/// that read the same file of the host could tell each other thousands of bits at once. The others stand in the network's directory,
/// and count for the whole machine in every network namespace: packets, and sockets with their memory.
const OF_OTHERS: [&str; 10] = [
    "smaps",
    "smaps_rollup",
    "pagemap",
    "numa_maps",
    "softnet_stat",
    "sockstat",
    "sockstat6",
    "protocols",
    "rt_cache",
    "rt_acct",
];

/// The directory with a file for each descriptor of a process.
const FDINFO: &str = "fdinfo";

/// The file that is the memory of a process: whoever reads that of a compiler copies the compiler's libraries.
const MEMORY: &str = "mem";

/// The process whose memory a path names, in the words of the path.
fn process_of_memory(path: &Path) -> Option<&str> {
    let words: Vec<&str> = path.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    match words.as_slice() {
        [.., process, "task", _, MEMORY] | [.., process, MEMORY] => Some(process),
        _ => None,
    }
}

/// The name of a file of /proc that a thread must not open, where a path names one: it tells of others, or is another process's memory.
pub(in crate::sandbox) fn stays_closed(thread: i32, path: &Path) -> Option<&'static str> {
    tells_of_others(path).or_else(|| {
        let process = process_of_memory(path)?.parse::<u32>().ok()?;
        // One that is gone opens nothing.
        let (own, own_thread) = numbers_inside(thread)?;
        (![own, own_thread].contains(&process)).then_some(MEMORY)
    })
}

/// The name of a file that tells of others, or of its directory, where a path ends in one.
fn tells_of_others(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?;
    // Of eventfds and others it tells numbers that the kernel gives out for the whole machine.
    let fdinfo = path.parent().and_then(Path::file_name).is_some_and(|name| name == FDINFO);
    OF_OTHERS.into_iter().find(|known| name == *known).or(fdinfo.then_some(FDINFO))
}

/// The name of a closed file that a thread's descriptor is of, whatever path has led to it.
pub(in crate::sandbox) fn descriptor_stays_closed(
    thread: i32,
    fd: i32,
    file: &Path,
) -> Option<&'static str> {
    // The process of whose files it is one may have ended since, and share its memory with another.
    let file = file.as_os_str().as_bytes();
    let file = Path::new(OsStr::from_bytes(file.strip_suffix(b" (deleted)").unwrap_or(file)));
    let name = stays_closed(thread, file)?;
    let path = format!("/proc/{thread}/fd/{fd}");
    let system = statfs(Path::new(&path)).ok()?;
    (system.filesystem_type() == PROC_SUPER_MAGIC).then_some(name)
}

/// The same of a file that was looked up as a thread would.
pub(in crate::sandbox) fn file_stays_closed(
    thread: i32,
    found: &FoundFile,
) -> Option<&'static str> {
    let name = stays_closed(thread, &found.path)?;
    let system = statfs(&found.handle()).ok()?;
    (system.filesystem_type() == PROC_SUPER_MAGIC).then_some(name)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn memory_is_told_from_that_of_another_process() {
        let me = std::process::id() as i32;
        let closed = |path: &str| stays_closed(me, Path::new(path));
        for own in [
            "/proc/self/mem".to_owned(),
            "/proc/thread-self/mem".to_owned(),
            "/proc/self/task/7/mem".to_owned(),
            format!("/proc/{me}/mem"),
            format!("/proc/{me}/task/7/mem"),
            "/work/mem".to_owned(),
            "/proc/1/maps".to_owned(),
        ] {
            assert_eq!(closed(&own), None, "{own}");
        }
        assert_eq!(closed("/proc/1/mem"), Some("mem"));
        assert_eq!(closed("/proc/1/task/7/mem"), Some("mem"));
        assert_eq!(closed("/proc/self/smaps"), Some("smaps"));
        assert_eq!(closed("/proc/self/fdinfo/3"), Some("fdinfo"));
    }

    #[test]
    fn a_descriptor_of_the_memory_of_another_process_is_told() {
        let (me, parent) = (std::process::id() as i32, std::os::unix::process::parent_id());
        let null = File::open("/dev/null").unwrap();
        let own = File::open("/proc/self/mem").unwrap();
        let told = |file: &File, path: &str| {
            descriptor_stays_closed(me, file.as_raw_fd(), Path::new(path))
        };
        assert_eq!(told(&own, &format!("/proc/{me}/mem")), None);
        assert_eq!(told(&own, &format!("/proc/{parent}/mem")), Some("mem"));
        assert_eq!(told(&own, &format!("/proc/{parent}/mem (deleted)")), Some("mem"));
        assert_eq!(told(&null, &format!("/proc/{parent}/mem")), None, "it is no file of /proc");
    }
}
