//! Processes of an entry, as /proc and their memory tell of them. Each read has a bound, and none waits.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{IoSliceMut, Read};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{Pid, SysconfVar, getsid, sysconf};

use crate::sandbox::inspect::descriptors::patiently;

/// The most that is read of a file of /proc: maps of a process with thousands of mappings.
const MOST: u64 = 16 << 20;
/// The most threads of a process that are looked at.
const MOST_THREADS: usize = 1 << 16;

/// A file of /proc/ID, where ID is a process or a thread.
pub(in crate::sandbox) fn bytes(id: i32, name: &str) -> std::io::Result<Vec<u8>> {
    let mut all = Vec::new();
    let path = format!("/proc/{id}/{name}");
    patiently(|| File::open(&path))?.take(MOST).read_to_end(&mut all)?;
    Ok(all)
}

/// A file of /proc as text; names in it may be anything.
pub(in crate::sandbox) fn text(id: i32, name: &str) -> std::io::Result<String> {
    Ok(String::from_utf8_lossy(&bytes(id, name)?).into_owned())
}

/// The target of a link of /proc/ID, as text.
pub(in crate::sandbox) fn link(id: i32, name: &str) -> std::io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/{id}/{name}"))
}

/// True if a process or thread has this number.
pub(in crate::sandbox) fn exists(id: i32) -> bool {
    std::path::Path::new(&format!("/proc/{id}")).exists()
}

/// The user that a process belongs to.
pub(in crate::sandbox) fn owner(id: i32) -> Option<u32> {
    std::fs::metadata(format!("/proc/{id}")).ok().map(|metadata| metadata.uid())
}

/// True if a thread belongs to a process.
pub(in crate::sandbox) fn is_thread_of(process: i32, thread: i32) -> bool {
    std::path::Path::new(&format!("/proc/{process}/task/{thread}")).exists()
}

/// True if the calling thread traces a thread. A number that is free by now, or a stranger's, is none that it traces.
pub(in crate::sandbox) fn is_traced_here(thread: i32) -> bool {
    tracer(thread) == Some(nix::unistd::gettid().as_raw())
}

/// Waits for those of an entry's ended processes that nobody has waited for. Without a process namespace they become children of
/// gate4k's first thread when their parent ends, and a tracer's own waits do not see another thread's children: they would keep their
/// numbers until gate4k ends, and an entry could take them from the next one, and itself have no more.
pub(in crate::sandbox) fn reap_orphans(ended: &[i32]) {
    let own = getsid(None).map(Pid::as_raw).ok();
    for process in ended {
        // What a tracer of ours has yet to wait for is its own, and so is a program that gate4k itself has started: the number was
        // given away since. An entry's processes are never of gate4k's session.
        let is_entrys = || session(*process) != own && tracer(*process) == Some(0);
        if state(*process) == Some('Z') && is_entrys() {
            let flags = WaitPidFlag::WNOHANG | WaitPidFlag::__WALL;
            // A stranger's, or gone by now, is no child.
            let _ = waitpid(Pid::from_raw(*process), Some(flags));
        }
    }
}

/// The thread that traces a thread; 0 for none.
fn tracer(thread: i32) -> Option<i32> {
    let status = text(thread, "status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("TracerPid:"))?.trim().parse().ok()
}

/// The threads of a process, those that have ended but for their number included.
pub(in crate::sandbox) fn threads(process: i32) -> Vec<i32> {
    let items = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    let numbers = items.filter_map(|item| item.ok()?.file_name().to_str()?.parse().ok());
    numbers.take(MOST_THREADS).collect()
}

/// The fields of proc_pid_stat(5) from the third on (the state): what stands before them may hold blanks and brackets.
pub(in crate::sandbox) fn after_name(stat: &str) -> Option<std::str::SplitAsciiWhitespace<'_>> {
    Some(stat.rsplit_once(')')?.1.split_ascii_whitespace())
}

/// The state of a thread as one letter.
pub(in crate::sandbox) fn state(thread: i32) -> Option<char> {
    after_name(&text(thread, "stat").ok()?)?.next()?.chars().next()
}

/// The parent of a process.
pub(in crate::sandbox) fn parent(process: i32) -> Option<i32> {
    after_name(&text(process, "stat").ok()?)?.nth(1)?.parse().ok()
}

/// The group of a process.
pub(in crate::sandbox) fn group(process: i32) -> Option<i32> {
    after_name(&text(process, "stat").ok()?)?.nth(2)?.parse().ok()
}

/// The session of a process.
fn session(process: i32) -> Option<i32> {
    after_name(&text(process, "stat").ok()?)?.nth(3)?.parse().ok()
}

/// True if a path is that of the name of a thread of the process that asks.
pub(in crate::sandbox) fn is_thread_name(path: &Path) -> bool {
    let Ok(rest) = path.strip_prefix("/proc") else { return false };
    let words: Vec<&str> = rest.iter().filter_map(|word| word.to_str()).collect();
    match words.as_slice() {
        ["self" | "thread-self", "comm"] => true,
        ["self", "task", thread, "comm"] => thread.bytes().all(|byte| byte.is_ascii_digit()),
        _ => false,
    }
}

/// The numbers of a thread's process and of itself where they live, in the innermost namespace (proc_pid_status(5)).
pub(in crate::sandbox) fn numbers_inside(thread: i32) -> Option<(u32, u32)> {
    let status = text(thread, "status").ok()?;
    let innermost = |name| {
        let numbers = status.lines().find_map(|line| line.strip_prefix(name))?;
        numbers.split_ascii_whitespace().next_back()?.parse().ok()
    };
    Some((innermost("NStgid:")?, innermost("NSpid:")?))
}

/// True if a thread does nothing on a signal, and no other waits for it that it handles (proc_pid_status(5): each set is a number of
/// 64 bits).
pub(in crate::sandbox) fn ignores(thread: i32, signal: i32) -> bool {
    const BY_DEFAULT: [i32; 4] = [libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH];
    let status = text(thread, "status").unwrap_or_default();
    let set = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        u64::from_str_radix(line.trim(), 16).ok()
    };
    let sets = ["SigPnd:", "ShdPnd:", "SigBlk:", "SigIgn:", "SigCgt:"].map(set);
    let ([Some(pending), Some(shared), Some(blocked), Some(ignored), Some(caught)], 1..=64) =
        (sets, signal)
    else {
        return false;
    };
    let bit = 1 << (signal - 1);
    let does_nothing = ignored & bit != 0 || (caught & bit == 0 && BY_DEFAULT.contains(&signal));
    does_nothing && (pending | shared) & caught & !blocked == 0
}

/// The processor time that a process has used with all its threads, those that have ended included, and none of its
/// children's; to the nanosecond, also of one that has ended and is not waited for yet.
pub(in crate::sandbox) fn processor_time(process: i32) -> Option<Duration> {
    let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(process)).ok()?;
    clock_gettime(clock).ok().map(Duration::from)
}

/// The processes that the kernel has killed because no memory was left, as `/proc/vmstat` and `memory.events` count them.
pub(in crate::sandbox) fn killed_for_memory(counts: &str) -> u64 {
    let count = counts.lines().find_map(|line| line.strip_prefix("oom_kill "));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

/// The work of the thread that traces processes, for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::sandbox) struct TracerWork {
    /// On a processor.
    pub(in crate::sandbox) ran: Duration,
    /// True while it is at work.
    pub(in crate::sandbox) is_busy: bool,
}

/// The processor time of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::sandbox) struct Ran {
    /// As [`processor_time`] has it.
    pub(in crate::sandbox) all: Duration,
    /// The part of it in which the kernel worked, mostly for its calls: to a clock tick, by samples.
    pub(in crate::sandbox) system: Duration,
}

impl std::ops::AddAssign for Ran {
    fn add_assign(&mut self, other: Ran) {
        self.all += other.all;
        self.system += other.system;
    }
}

/// The processor time of a process, and the kernel's part of it.
pub(in crate::sandbox) fn ran(process: i32) -> Option<Ran> {
    let all = processor_time(process)?;
    Some(Ran { all, system: system_time(process).unwrap_or_default() })
}

/// `stime` of proc_pid_stat(5), which is that of all threads.
fn system_time(process: i32) -> Option<Duration> {
    /// Behind the name, where the numbers of the fields are plain.
    const STIME: usize = 15 - 3;
    let ticks: u32 = after_name(&text(process, "stat").ok()?)?.nth(STIME)?.parse().ok()?;
    let second = sysconf(SysconfVar::CLK_TCK).ok()??;
    Some(Duration::from_secs(1) * ticks / u32::try_from(second).ok()?.max(1))
}

/// True if every thread of these processes sleeps, and one of them in a read of descriptor 0 (proc_pid_syscall(5)).
pub(in crate::sandbox) fn wait_for_input(processes: &[i32]) -> bool {
    let all: Vec<i32> = processes.iter().flat_map(|process| threads(*process)).collect();
    let sleeps = |thread: &i32| state(*thread).is_none_or(|state| matches!(state, 'S' | 'Z' | 'X'));
    // 3 is the read of i386.
    let read = [libc::SYS_read.to_string(), "3".to_owned()];
    let reads = |thread: &i32| {
        let call = text(*thread, "syscall").unwrap_or_default();
        let mut words = call.split_ascii_whitespace();
        words.next().is_some_and(|number| read.iter().any(|one| one == number))
            && words.next() == Some("0x0")
    };
    all.iter().all(sleeps) && all.iter().any(reads)
}

/// A thread of the process that has not ended. The first one may have: then all that /proc tells of the process by its own
/// number is empty.
pub(in crate::sandbox) fn living_thread(process: i32) -> Option<i32> {
    let lives = |thread: &i32| state(*thread).is_some_and(|state| !matches!(state, 'Z' | 'X'));
    if lives(&process) {
        return Some(process);
    }
    threads(process).into_iter().find(lives)
}

/// The arguments of a process, the empty ones included; the last one may be cut.
pub(in crate::sandbox) fn command_line(thread: i32) -> Vec<Vec<u8>> {
    let mut line = bytes(thread, "cmdline").unwrap_or_default();
    if line.last() == Some(&0) {
        line.pop();
    }
    if line.is_empty() {
        return Vec::new();
    }
    line.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect()
}

/// A file that a process has mapped to execute it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::sandbox) struct Mapping {
    pub(in crate::sandbox) device: u64,
    pub(in crate::sandbox) inode: u64,
    /// As the kernel shows it, with `\012` for the end of a line.
    pub(in crate::sandbox) path: Vec<u8>,
}

/// The rights of a mapping that can be executed.
fn executable(rights: &[u8]) -> bool {
    rights.get(2) == Some(&b'x')
}

/// The files that a process has mapped to execute them, each once; none where that cannot be read.
pub(in crate::sandbox) fn executable_mappings(thread: i32) -> Option<Vec<Mapping>> {
    let maps = bytes(thread, "maps").ok()?;
    if maps.len() as u64 == MOST {
        return None;
    }
    let mut all: Vec<Mapping> = Vec::new();
    // There may be tens of thousands.
    let mut known = HashSet::new();
    for line in maps.split(|byte| *byte == b'\n') {
        if let Some(mapping) = mapping(line, executable)
            && known.insert(mapping.clone())
        {
            all.push(mapping);
        }
    }
    Some(all)
}

/// The file that a word in memory lies in, if it is in one that other processes may have in theirs. Of a file that is mapped to be
/// written for this process alone, the kernel makes a copy when a word is waited at.
///
/// # Errors
/// Where the mappings cannot be read, or are too many.
pub(in crate::sandbox) fn shared_mapping(
    thread: i32,
    address: u64,
) -> std::io::Result<Option<Mapping>> {
    mapping_at(thread, address, |rights| !matches!(rights, [_, b'w', _, b'p']))
}

/// The file whose code lies at an address, if it is a file's.
///
/// # Errors
/// Where the mappings cannot be read, or are too many.
pub(in crate::sandbox) fn code_at(thread: i32, address: u64) -> std::io::Result<Option<Mapping>> {
    mapping_at(thread, address, executable)
}

/// The file that is mapped at an address, if it is a file's and has these rights.
fn mapping_at(
    thread: i32,
    address: u64,
    wanted: impl Fn(&[u8]) -> bool,
) -> std::io::Result<Option<Mapping>> {
    let maps = bytes(thread, "maps")?;
    if maps.len() as u64 == MOST || maps.is_empty() {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    let holds = |line: &&[u8]| {
        let text = std::str::from_utf8(line.split(|byte| *byte == b' ').next()?).ok()?;
        let (start, end) = text.split_once('-')?;
        let number = |hex| u64::from_str_radix(hex, 16).ok();
        Some((number(start)?..number(end)?).contains(&address))
    };
    let line = maps.split(|byte| *byte == b'\n').find(|line| holds(line) == Some(true));
    Ok(line.and_then(|line| mapping(line, wanted)))
}

/// One line of proc_pid_maps(5), if it is a file's and has these rights.
fn mapping(line: &[u8], wanted: impl Fn(&[u8]) -> bool) -> Option<Mapping> {
    let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let (_, rights, _) = (words.next()?, words.next()?, words.next()?);
    let device = std::str::from_utf8(words.next()?).ok()?;
    let inode = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
    let path = words.collect::<Vec<_>>().join(&b' ');
    if inode == 0 || !wanted(rights) {
        return None;
    }
    let (major, minor) = device.split_once(':')?;
    let number = |hex| u32::from_str_radix(hex, 16).ok();
    let device = libc::makedev(number(major)?, number(minor)?);
    Some(Mapping { device, inode, path })
}

/// Reads memory of a stopped thread: as much as is there, up to the whole buffer. A page that may only be written is read as
/// well: the kernel reads it for the process, too.
pub(in crate::sandbox) fn memory(thread: i32, address: u64, into: &mut [u8]) -> Option<usize> {
    let remote = [RemoteIoVec { base: usize::try_from(address).ok()?, len: into.len() }];
    match process_vm_readv(Pid::from_raw(thread), &mut [IoSliceMut::new(into)], &remote) {
        Ok(n) => Some(n),
        Err(_) => {
            let path = format!("/proc/{thread}/mem");
            patiently(|| File::open(&path)).ok()?.read_at(into, address).ok()
        }
    }
}

/// Pages that are resident, of any living thread's memory (the threads of a process share it).
pub(in crate::sandbox) fn resident_pages(process: i32) -> Option<u64> {
    let of = |thread: i32| -> Option<u64> {
        text(thread, "statm").ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
    };
    match of(process) {
        // A first thread that has ended has no memory any more, and the others may have all of it.
        None | Some(0) => living_thread(process).and_then(of),
        pages => pages,
    }
}

/// A process's part of what is resident, in bytes: each page divided by the number of processes that have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::sandbox) struct Share {
    /// Pages that belong to no file in memory.
    pub(in crate::sandbox) own: u64,
    /// Pages of files in memory.
    pub(in crate::sandbox) of_files_in_memory: u64,
}

/// The share of a process in what is resident.
///
/// # Errors
/// As the kernel says it.
pub(in crate::sandbox) fn share(process: i32) -> std::io::Result<Share> {
    let thread = living_thread(process).unwrap_or(process);
    let text = text(thread, "smaps_rollup")?;
    let kib = |name| kib(&text, name).unwrap_or(0) * 1024;
    let of_files_in_memory = kib("Pss_Shmem:");
    Ok(Share { own: kib("Pss:").saturating_sub(of_files_in_memory), of_files_in_memory })
}

/// Bytes that the kernel holds for a process and counts as nobody's resident pages: tables of pages, and huge pages.
pub(in crate::sandbox) fn beside_resident(process: i32) -> u64 {
    let thread = living_thread(process).unwrap_or(process);
    let text = text(thread, "status").unwrap_or_default();
    ["VmPTE:", "HugetlbPages:"].iter().filter_map(|name| kib(&text, name)).sum::<u64>() * 1024
}

/// The figure in a line of proc(5) that is in kB.
fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Files in memory that a process holds open: inode and bytes.
pub(in crate::sandbox) fn files_in_memory(process: i32) -> Vec<(u64, u64)> {
    let thread = living_thread(process).unwrap_or(process);
    let items = std::fs::read_dir(format!("/proc/{thread}/fd")).into_iter().flatten();
    items
        .filter_map(|item| {
            let path = item.ok()?.path();
            let link = std::fs::read_link(&path).ok()?;
            link.as_os_str().as_bytes().starts_with(b"/memfd:").then_some(())?;
            let file = std::fs::metadata(&path).ok()?;
            Some((file.ino(), file.blocks() * 512))
        })
        .collect()
}

/// Files that live in no directory and that a process has mapped, descriptor or not: inode and bytes, the pages included that
/// it never touched.
///
/// # Errors
/// Such a file cannot be looked at: only root may.
pub(in crate::sandbox) fn mapped_in_memory(process: i32) -> std::io::Result<HashMap<u64, u64>> {
    let thread = living_thread(process).unwrap_or(process);
    let mut files = HashMap::new();
    let Ok(maps) = text(thread, "maps") else { return Ok(files) };
    for line in maps.lines() {
        // Memory that processes share without a name is a file as well, with this one.
        if !line.contains(" /memfd:") && !line.ends_with(" /dev/zero (deleted)") {
            continue;
        }
        let mut words = line.split_ascii_whitespace();
        let (Some(range), Some(inode)) =
            (words.next(), words.nth(3).and_then(|inode| inode.parse().ok()))
        else {
            continue;
        };
        if files.contains_key(&inode) {
            continue;
        }
        let ends: Vec<&str> = range.split('-').map(|end| end.trim_start_matches('0')).collect();
        match std::fs::metadata(format!("/proc/{thread}/map_files/{}", ends.join("-"))) {
            Ok(file) => drop(files.insert(inode, file.blocks() * 512)),
            // Unmapped meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(files)
}

/// Where this process's own arguments and environment lie, one behind the other (proc_pid_stat(5): `arg_start`, `arg_end`,
/// `env_start`, `env_end`); nowhere, where the kernel does not say.
pub(in crate::sandbox) fn own_arguments() -> Range<usize> {
    /// Behind the name, where the numbers of the fields are plain.
    const ARG_START: usize = 48 - 3;
    static RANGE: OnceLock<Range<usize>> = OnceLock::new();
    let find = || {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        let (_, fields) = stat.rsplit_once(')')?;
        let mut places = fields.split_whitespace().skip(ARG_START).map(str::parse::<usize>);
        let mut next = || places.next()?.ok();
        let (start, arg_end, env_start, end) = (next()?, next()?, next()?, next()?);
        // As the kernel lays them out; more than it can be is not believed.
        let plain = start > 0 && start <= arg_end && arg_end <= env_start && env_start <= end;
        (plain && end - start <= 6 << 20).then_some(start..end)
    };
    RANGE.get_or_init(|| find().unwrap_or(0..0)).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_child_that_nobody_waits_for_gives_its_number_back() {
        #[expect(clippy::zombie_processes, reason = "that is the case")]
        let child = std::process::Command::new("setsid").arg("true").spawn().unwrap();
        let number = child.id() as i32;
        while state(number) != Some('Z') {
            std::thread::sleep(Duration::from_millis(1));
        }
        reap_orphans(&[number, 1]);
        assert_eq!(state(number), None);
    }

    #[test]
    fn a_program_that_gate4k_started_is_left_to_its_starter() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let number = child.id() as i32;
        while state(number) != Some('Z') {
            std::thread::sleep(Duration::from_millis(1));
        }
        reap_orphans(&[number]);
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn the_count_of_the_killed_is_read() {
        assert_eq!(killed_for_memory("nr_free_pages 7\noom_kill 3\npgfault 9\n"), 3);
        assert_eq!(killed_for_memory("low 0\noom 3\noom_kill 1\noom_group_kill 0\n"), 1);
        assert_eq!(killed_for_memory("low 0\noom 3\noom_kill 0\noom_group_kill 2\n"), 0);
        assert_eq!(killed_for_memory(""), 0);
    }

    #[test]
    fn the_name_of_a_thread_is_told_from_other_files() {
        for path in ["/proc/self/comm", "/proc/self/task/8/comm", "/proc/thread-self/comm"] {
            assert!(is_thread_name(Path::new(path)), "{path}");
        }
        for path in
            ["/proc/self/mem", "/proc/7/comm", "/proc/self/task/x/comm", "/tmp/comm", "/proc/comm"]
        {
            assert!(!is_thread_name(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_process_that_sleeps_in_a_read_of_its_input_is_told_from_one_that_just_sleeps() {
        use std::process::{Command, Stdio};
        let waits = |program: &str, argument: &[&str]| {
            let child = Command::new(program).args(argument).stdin(Stdio::piped()).spawn();
            let mut child = child.unwrap();
            let pid = child.id() as i32;
            // Until it has come to where it sleeps.
            let asleep = (0..500).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                state(pid) == Some('S')
            });
            let waits = wait_for_input(&[pid]);
            child.kill().unwrap();
            child.wait().unwrap();
            asleep && waits
        };
        assert!(waits("cat", &[]));
        assert!(!waits("sleep", &["60"]));
    }

    #[test]
    fn mappings_are_read_from_their_lines() {
        let line = b"7f00-7f01 r-xp 00001000 fe:00 1234    /usr/lib/a b.so (deleted)";
        let mapped = mapping(line, executable).unwrap();
        assert_eq!((mapped.device, mapped.inode), (libc::makedev(0xfe, 0), 1234));
        assert_eq!(mapped.path, b"/usr/lib/a b.so (deleted)");
        assert_eq!(mapping(b"7f00-7f01 r--p 00001000 fe:00 1234 /usr/lib/a.so", executable), None);
        assert_eq!(mapping(b"7f00-7f01 r-xp 00000000 00:00 0 [vdso]", executable), None);
        let me = std::process::id() as i32;
        let exe = crate::sandbox::inspect::files::running(me).unwrap();
        let all = executable_mappings(me).unwrap();
        assert!(all.iter().any(|m| m.inode == exe.inode().1), "{all:?}");
    }

    #[test]
    fn a_word_that_others_may_wait_at_lies_in_a_file_and_not_in_a_copy_of_it() {
        let me = std::process::id() as i32;
        let at = |address: u64| shared_mapping(me, address).unwrap();
        static CONSTANT: [u8; 64] = [7; 64];
        static CHANGES: std::sync::Mutex<[u8; 64]> = std::sync::Mutex::new([7; 64]);
        let own = CONSTANT.as_ptr() as u64;
        assert!(at(own).is_some_and(|mapping| !mapping.path.is_empty()), "its own program");
        assert_eq!(at(CHANGES.lock().unwrap().as_ptr() as u64), None, "a copy");
        assert_eq!(at(Box::new(7u64).as_ref() as *const u64 as u64), None, "no file");
        assert_eq!(at(8), None, "nothing");
    }

    #[test]
    fn the_time_of_calls_is_system_time_and_part_of_all() {
        let me = std::process::id() as i32;
        let before = ran(me).unwrap();
        // Until it has really had the processor for so long, however many want it; other tests may run beside it.
        let until = |enough: &dyn Fn(Ran) -> bool| while !enough(ran(me).unwrap()) {};
        let wanted = Duration::from_millis(50);
        until(&|now| now.system >= before.system + wanted);
        let after = ran(me).unwrap();
        // Calls are counted in ticks of 10 ms; of the first and the last one, a part may have been something else's.
        let two_ticks = Duration::from_millis(20);
        let (all, calls) = (after.all - before.all, after.system - before.system);
        assert!(all + two_ticks >= calls, "{before:?} {after:?}");
    }

    #[test]
    fn this_process_has_threads_and_arguments() {
        let me = std::process::id() as i32;
        assert!(threads(me).contains(&me));
        assert_eq!(living_thread(me), Some(me));
        assert!(!command_line(me).is_empty());
        assert!(resident_pages(me).unwrap() > 10);
    }
}
