//! Registers and memory of any content, as a confined process may have them: the filter decides, the decoder reads,
//! and neither panics nor lets through what it must not. `PROPTEST_CASES` says how many are tried.

use proptest::prelude::*;

use crate::sandbox::filter::call_names::call_name;
use crate::sandbox::filter::seccomp;
use crate::sandbox::filter::stop::{Call, StoppedCall};
use crate::sandbox::inspect::files::EntryFiles;
use crate::sandbox::inspect::process;
use crate::sandbox::trace::calls::{self, PendingCall, PendingOpen};
use crate::sandbox::trace::{meta, tracee};

const X86_64: u32 = 0xc000_003e;
const I386: u32 = 0x4000_0003;

fn arguments() -> impl Strategy<Value = [u64; 6]> {
    let word = prop_oneof![
        any::<u64>(),
        any::<u32>().prop_map(u64::from),
        0u64..64,
        Just(u64::MAX),
        Just(1 << 63),
        Just(libc::AT_FDCWD as u64),
        Just(0x1_0000_5412),
        // An address of ours that can be read: half of what a process points to exists.
        Just(ADDRESS.as_ptr() as u64),
        Just(LIST.0.as_ptr() as u64),
        (0usize..4096).prop_map(|at| ADDRESS.as_ptr() as u64 + at as u64),
    ];
    [word.clone(), word.clone(), word.clone(), word.clone(), word.clone(), word]
}

/// A page without an end of string in its first half.
static ADDRESS: [u8; 8192] = {
    let mut page = [b'/'; 8192];
    let mut at = 4096;
    while at < 8192 {
        page[at] = (at % 256) as u8;
        at += 1;
    }
    page
};

/// A list of strings, as `argv` is: some are there.
static LIST: std::sync::LazyLock<Words> = std::sync::LazyLock::new(|| {
    let at = ADDRESS.as_ptr() as u64;
    Words([at + 4097, at + 100, u64::MAX - 8, at + 8191])
});
struct Words([u64; 4]);

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0u32..480, 1 => any::<u32>(), 1 => (0u32..480).prop_map(|n| n | 0x4000_0000)]
}

proptest! {
    /// The filter answers any call with one of its few actions; foreign tables and unknown calls never pass.
    #[test]
    fn the_filter_decides_every_call(
        number in number(),
        args in arguments(),
        namespaced in any::<bool>(),
        arch in prop_oneof![3 => Just(X86_64), 2 => Just(I386), 1 => any::<u32>()],
    ) {
        let program = seccomp::program(namespaced);
        let action = seccomp::tests::run(&program, arch, number, args);
        let (kind, data) = (action & 0xffff_0000, i64::from(action & 0xffff));
        match kind {
            libc::SECCOMP_RET_ALLOW => {
                prop_assert!(arch == X86_64 || arch == I386);
                prop_assert!(number <= crate::sandbox::filter::arch::LAST);
                if arch == X86_64 {
                    let n = i64::from(number);
                    prop_assert!(![
                        libc::SYS_ptrace, libc::SYS_mount, libc::SYS_bpf, libc::SYS_setns, libc::SYS_unshare,
                        libc::SYS_execve, libc::SYS_execveat, libc::SYS_io_uring_setup, libc::SYS_clone3,
                    ].contains(&n), "{n}");
                    let inet = args[0] as u32 != libc::AF_UNIX as u32;
                    prop_assert!(n != libc::SYS_socket || (namespaced && !inet));
                }
            }
            libc::SECCOMP_RET_TRACE => {
                let stop = StoppedCall::from_message(data);
                prop_assert_eq!(stop.map(|(_, compat)| compat), Some(arch == I386), "{:x}", action);
            }
            libc::SECCOMP_RET_ERRNO => {
                let errors = [libc::ENOSYS, libc::EOPNOTSUPP].map(i64::from);
                // The question whether the parent lives is answered.
                let asks = namespaced && args[0] as u32 == 2 && args[1] as u32 == 0;
                prop_assert!(errors.contains(&data) || (asks && data == 0), "{data}");
            }
            libc::SECCOMP_RET_KILL_PROCESS => prop_assert!(arch != X86_64 && arch != I386),
            other => prop_assert!(false, "{:x}", other),
        }
    }

    /// A message is what the filter can say, or it is nothing.
    #[test]
    fn any_message_is_a_stop_or_none(message in prop_oneof![any::<i64>(), 0i64..0x300]) {
        if let Some((stop, compat)) = StoppedCall::from_message(message) {
            let again = i64::from(stop as u16) | if compat { 0x100 } else { 0 };
            prop_assert_eq!(message & 0xffff, again);
        }
    }

    /// Registers of any content are read, from memory that may not be there.
    #[test]
    fn any_call_is_read(number in number(), args in arguments(), compat in any::<bool>(), which in 0i64..0x20) {
        let pid = std::process::id() as i32;
        let call = Call { number, args, compat };
        let name = call_name(&call);
        prop_assert!(!name.is_empty() && !name.chars().any(char::is_control));
        let Some((stop, _)) = StoppedCall::from_message(which) else { return Ok(()); };
        match stop {
            StoppedCall::Exec | StoppedCall::ExecAt => {
                let dirfd = (stop == StoppedCall::ExecAt).then_some(call.args[0]);
                let first = usize::from(stop == StoppedCall::ExecAt);
                let pending = calls::exec(pid, &call, dirfd, first, calls::StarterCode::default());
                let PendingCall::Exec { argv, .. } = pending else {
                    return Err(TestCaseError::fail("an exec that is none"));
                };
                prop_assert!(argv.len() <= 16 && argv.iter().all(|word| word.len() <= 200));
            }
            StoppedCall::Process | StoppedCall::ProcessSecond => {
                // Nobody's process is its own here: whatever is not refused means itself.
                let meant = calls::process_meant(stop, &call, |_| false);
                let index = usize::from(stop == StoppedCall::ProcessSecond);
                prop_assert!(meant.is_err() || call.args[index] as i32 == 0, "{:?}", call);
            }
            StoppedCall::Meta => {
                // Below an empty directory there is no file of its own; but pipes that we hold open
                // are nobody's files, and theirs would be changed.
                let held = call.args[1] == 0 || matches!((compat, number), (true, 94) | (false, 91));
                if held {
                    return Ok(());
                }
                let top = tempfile::tempdir().unwrap();
                let files = EntryFiles::on_host(top.path()).unwrap();
                if let meta::CallAnswer::Foreign(path) = meta::answer(pid, &call, &files) {
                    prop_assert!(path.is_absolute());
                }
            }
            stop => {
                if let Some(PendingCall::Open(PendingOpen { path, .. })) = calls::file(pid, stop, &call)
                {
                    prop_assert!(path.is_absolute() && path.as_os_str().len() <= 2 * 4096);
                }
            }
        }
        let text = tracee::string(pid, args[0], 300);
        prop_assert!(text.is_none_or(|text| text.len() <= 300 && !text.contains(&0)));
    }
}

/// A process that does nothing but change all that is read of it: words, ends of strings, pointers, pages that are gone for a moment,
/// its directory and its descriptors.
const PEER: &str = r"
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
enum { SIZE = 1 << 16, PAGE = 4096 };
int main(int argc, char **argv) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    unsigned long x = strtoul(argv[1], 0, 10);
    char *all = mmap(0, SIZE, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf(`%lu\n`, (unsigned long)all);
    fflush(stdout);
    for (;;) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        unsigned long at = (x >> 33) % SIZE & ~7ul, rest = SIZE - at;
        switch (x >> 20 & 7) {
        case 0: memset(all + at, '/', rest < 9000 ? rest : 9000); break;
        case 1: case 2: *(unsigned long *)(all + at) = (unsigned long)all + (x >> 40) % SIZE; break;
        case 3: all[at + (x & 7)] = 0; break;
        case 4: memset(all + at, 1 + x % 255, rest < 300 ? rest : 300); break;
        case 5:
            munmap(all + (at & ~(PAGE - 1ul)), PAGE);
            mmap(all + (at & ~(PAGE - 1ul)), PAGE, x >> 50 & 1 ? 3 : PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            break;
        case 6: chdir(x >> 50 & 1 ? `/` : `/usr/bin`); break;
        case 7: dup2(open(x >> 50 & 1 ? `/dev/null` : `/usr`, O_RDONLY), 100 + (x >> 52) % 8); close(3); break;
        }
    }
}
";

/// The decoder reads a process that changes its memory meanwhile: whatever it reads has its bounds. `GATE4K_FUZZ_SECONDS` says how long.
#[test]
fn a_peer_that_changes_while_it_is_read_breaks_no_bound() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let dir = tempfile::tempdir().unwrap();
    let (source, peer) = (dir.path().join("peer.c"), dir.path().join("peer"));
    std::fs::write(&source, PEER.replace('`', "\"")).unwrap();
    let built =
        Command::new("cc").args(["-w", "-O1", "-o"]).arg(&peer).arg(&source).status().unwrap();
    assert!(built.success());
    let seconds = std::env::var("GATE4K_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok());
    let until = Instant::now() + Duration::from_secs(seconds.unwrap_or(2));
    let mut state: u64 = 1;
    while Instant::now() < until {
        state += 1;
        let mut child =
            Command::new(&peer).arg(state.to_string()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (base, pid) = (line.trim().parse::<u64>().unwrap(), child.id() as i32);
        let chance = |below: u64, state: &mut u64| {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (*state >> 33) % below
        };
        let ends = until.min(Instant::now() + Duration::from_secs(10));
        let mut read = 0u32;
        while Instant::now() < ends {
            // Beyond its end, too.
            let address = base + chance(70_000, &mut state);
            let most = 1 + chance(5000, &mut state) as usize;
            if let Some(text) = tracee::string(pid, address, most) {
                assert!(text.len() <= most && !text.contains(&0));
                read += 1;
            }
            let compat = chance(2, &mut state) == 1;
            let words = tracee::argv(pid, address & !7, compat);
            assert!(words.len() <= 16 && words.iter().all(|word| word.len() <= 200));
            let fd = [None, Some(libc::AT_FDCWD as u64), Some(100 + chance(10, &mut state))];
            let fd = fd[chance(3, &mut state) as usize];
            if let tracee::PathArgument::Path(path) = tracee::path(pid, fd, address) {
                assert!(path.is_absolute() && path.as_os_str().len() <= 2 * 4096);
            }
            let _ = tracee::word(pid, address);
            // Its own words, and its mappings, are read in the same way.
            assert!(process::command_line(pid).len() < 100);
            let _ = process::executable_mappings(pid);
        }
        assert!(read > 0, "nothing of it was read");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
