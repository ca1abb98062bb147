//! Registers and memory of any content, as a confined process may have them: the filter decides, the decoder reads,
//! and neither panics nor lets through what it must not. `PROPTEST_CASES` says how many are tried.

use proptest::prelude::*;

use crate::sandbox::filter::call_names::call_name;
use crate::sandbox::filter::seccomp;
use crate::sandbox::filter::stop::{Call, StoppedCall};
use crate::sandbox::inspect::files::EntryFiles;
use crate::sandbox::trace::calls::{self, PendingCall};
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
            libc::SECCOMP_RET_ERRNO => prop_assert_eq!(data, i64::from(libc::ENOSYS)),
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
        let call = Call { number: u64::from(number), args, compat };
        let name = call_name(&call);
        prop_assert!(!name.is_empty() && !name.chars().any(char::is_control));
        let Some((stop, _)) = StoppedCall::from_message(which) else { return Ok(()); };
        match stop {
            StoppedCall::Exec | StoppedCall::ExecAt => {
                let dirfd = (stop == StoppedCall::ExecAt).then_some(call.args[0]);
                let first = usize::from(stop == StoppedCall::ExecAt);
                let pending = calls::exec(pid, &call, dirfd, first, false);
                let PendingCall::Exec { argv, .. } = pending else {
                    return Err(TestCaseError::fail("an exec that is none"));
                };
                prop_assert!(argv.len() <= 16 && argv.iter().all(|word| word.len() <= 200));
            }
            StoppedCall::Process | StoppedCall::ProcessSecond => {
                // Nobody's process is its own here: whatever is not refused means itself.
                let errno = calls::other_process(stop, &call, |_| false);
                let index = usize::from(stop == StoppedCall::ProcessSecond);
                prop_assert!(errno.is_some() || call.args[index] as i32 == 0, "{:?}", call);
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
                if let Some(PendingCall::Open { path, .. }) = calls::file(pid, stop, &call) {
                    prop_assert!(path.is_absolute() && path.as_os_str().len() <= 2 * 4096);
                }
            }
        }
        let text = tracee::string(pid, args[0], 300);
        prop_assert!(text.is_none_or(|text| text.len() <= 300 && !text.contains(&0)));
    }
}
