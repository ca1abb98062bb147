//! The child processes from the clone to the exec: system calls only, without allocation, locks or panics.

use std::ops::Range;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;

use libc::{c_int, c_long, c_uint, c_ulong, c_void};

use crate::sandbox::child::errno::{check, errno};
use crate::sandbox::child::landlock::add_rule;
use crate::sandbox::child::memory_mark;
use crate::sandbox::child::mounts::run_step;
use crate::sandbox::child::setup::{CHILD_STEPS, ChildSetup, Ids, NO_FILES};
use crate::sandbox::child::talk::{
    CHILD_FAILED, EMPTY, EXEC_FAILED, GO, HELLO, PROBED, ROOT, RUN, STEP_FAILED,
};

pub(in crate::sandbox) fn exit(status: c_int) -> ! {
    // SAFETY: ends the process without running any destructor.
    unsafe { libc::_exit(status) }
}

/// Tells the supervisor and ends.
fn give_up(talk: RawFd, kind: u8, detail: u8, error: c_int) -> ! {
    let e = error.to_le_bytes();
    let message = [kind, detail, e[0], e[1], e[2], e[3]];
    // SAFETY: the buffer outlives the call.
    unsafe { libc::send(talk, message.as_ptr().cast(), message.len(), libc::MSG_NOSIGNAL) };
    exit(125)
}

/// Waits for the supervisor's word; ends with it.
fn await_go(talk: RawFd) {
    let mut byte = 0u8;
    loop {
        // SAFETY: one byte of our own stack.
        let n = unsafe { libc::read(talk, (&raw mut byte).cast(), 1) };
        if n == 1 && byte == GO {
            return;
        }
        if n == -1 && errno() == libc::EINTR {
            continue;
        }
        exit(124);
    }
}

/// Waits until the entry may run, and wires it to the streams that come with that word; ends with the supervisor.
fn await_streams(talk: RawFd) {
    // SAFETY: the control buffer is aligned for a header and larger than one with three descriptors (checked by the
    // macros' own arithmetic: what was cut off does not count as three), and everything pointed to lives on this stack.
    unsafe {
        let mut word = 0u8;
        let mut part = libc::iovec { iov_base: (&raw mut word).cast(), iov_len: 1 };
        let mut control = [0u64; 8];
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        let got = loop {
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = size_of_val(&control) as _;
            let got = libc::recvmsg(talk, &raw mut message, 0);
            if got != -1 || errno() != libc::EINTR {
                break got;
            }
        };
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        let three = libc::CMSG_LEN((3 * size_of::<c_int>()) as c_uint);
        if got != 1
            || word != RUN
            || header.is_null()
            || (*header).cmsg_type != libc::SCM_RIGHTS
            || (*header).cmsg_len as u64 != u64::from(three)
        {
            exit(124);
        }
        let streams = libc::CMSG_DATA(header).cast::<[c_int; 3]>().read_unaligned();
        // The streams come in the order of their numbers, so none is overwritten before it is in its place.
        for (from, to) in streams.into_iter().zip(0..) {
            if libc::dup2(from, to) == -1 {
                exit(124);
            }
        }
    }
}

/// Closes everything from the fourth descriptor on but these: what is open in the supervisor must not be held open here,
/// or nobody would see it end.
fn keep_only(mut kept: [RawFd; 2]) {
    kept.sort_unstable();
    let mut from = 3;
    for fd in kept {
        if fd > from {
            // SAFETY: integers only.
            unsafe {
                libc::syscall(
                    libc::SYS_close_range,
                    from as c_uint,
                    (fd - 1) as c_uint,
                    0 as c_uint,
                )
            };
        }
        from = from.max(fd + 1);
    }
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_close_range, from as c_uint, c_uint::MAX, 0 as c_uint) };
}

/// Gives a descriptor the lowest number that is free. A copy of a table of descriptors is as long as its highest number needs, and the
/// entry's would tell by its length how many files its maker has open.
fn moved_down(fd: RawFd) -> RawFd {
    // SAFETY: integers only; where there is no lower number, the descriptor keeps its own.
    unsafe {
        let other = libc::fcntl(fd, libc::F_DUPFD, 3);
        let (moved, old) = if (0..fd).contains(&other) { (other, fd) } else { (fd, other) };
        libc::close(old);
        moved
    }
}

type Argvs = [Vec<*const libc::c_char>];

/// Pid 1 of the new namespaces.
pub(in crate::sandbox) fn first_main(
    setup: &ChildSetup,
    talk: RawFd,
    argvs: &Argvs,
    env: &[*const libc::c_char],
    stack: &mut [u128],
) -> ! {
    // SAFETY: only integers are passed. When the supervisor's thread ends, so does this process, and with
    // it every process of its namespace.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    forget_arguments(&setup.arguments);
    // The session is led from here and not by the entry: under any event manager an entry leads nothing, so that its own
    // `setsid` and `setpgid` work, and a leader's are refused.
    // SAFETY: no arguments.
    if let Err(error) = check(unsafe { libc::setsid() }.into()) {
        give_up(talk, STEP_FAILED, u8::MAX, error);
    }
    await_go(talk);
    if let Some(root) = &setup.root {
        for (index, step) in root.steps().enumerate() {
            if let Err(error) = run_step(step, setup.ids) {
                give_up(talk, STEP_FAILED, index as u8, error);
            }
        }
    }
    if setup.probe {
        give_up(talk, PROBED, 0, 0);
    }
    // This process lives as long as the entry.
    keep_only([talk, setup.landlock.as_raw_fd()]);
    let (talk, ruleset) = (moved_down(talk), moved_down(setup.landlock.as_raw_fd()));
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: a NUL-terminated path and flags.
    let root = check(unsafe { libc::open(c"/".as_ptr(), flags) }.into());
    if let Err(error) = root.and_then(|root| send_root(talk, root as RawFd)) {
        give_up(talk, STEP_FAILED, u8::MAX, error);
    }
    let entry = ProcessParts { setup, talk, ruleset, argvs, env };
    // SAFETY: integers only; as fork, whose child has a copy of this memory and of these descriptors.
    match unsafe { libc::syscall(libc::SYS_clone, c_long::from(libc::SIGCHLD), 0, 0, 0, 0) } {
        -1 => give_up(talk, STEP_FAILED, u8::MAX, errno()),
        0 => parent_main(&entry, stack),
        _ => reap(setup.ids, talk),
    }
}

/// The entry's parent, number 2 inside. Under any event manager an entry has one that lives, and that is not 1: whoever is a child of the first
/// process is an orphan. It holds nothing of the entry's and does nothing, to its end: the supervisor ends it when nothing else is left.
fn parent_main(entry: &ProcessParts<'_>, stack: &mut [u128]) -> ! {
    let (talk, ids) = (entry.talk, entry.setup.ids);
    let (nothing, own) = (NO_FILES.as_ptr(), c"/proc/self".as_ptr());
    // SAFETY: NUL-terminated strings and integers. By its memory the entry would know what it is started for.
    let hidden = unsafe {
        libc::prctl(libc::PR_SET_NAME, c"manager".as_ptr());
        check(libc::mount(nothing, own, ptr::null(), libc::MS_BIND, ptr::null()).into())
    };
    if let Err(error) = hidden.and_then(|_| forget_signals()) {
        give_up(talk, STEP_FAILED, u8::MAX, error);
    }
    // As vfork: this memory is lent to the entry's process, and this one waits until its exec. A copy of the page tables
    // would be made only to be thrown away there.
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: nobody waits for its child, which is to leave no number behind when it ends. No signal ends it but SIGKILL: the kernel hangs up a
    // group without asking who may. (The child lets them in again.) The stack is aligned, ours alone, and grows downwards from its end; `entry`
    // is kept, and `start_entry` never returns.
    let pid = unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, ptr::null_mut());
        let top = stack.as_mut_ptr_range().end.cast();
        libc::clone(start_entry, top, flags, ptr::from_ref(entry).cast_mut().cast())
    };
    if pid == -1 {
        give_up(talk, STEP_FAILED, u8::MAX, errno());
    }
    memory_mark::let_go();
    // SAFETY: closes every descriptor of this process.
    unsafe { libc::syscall(libc::SYS_close_range, 0 as c_uint, c_uint::MAX, 0 as c_uint) };
    leave_root(ids);
    loop {
        // SAFETY: no arguments.
        unsafe { libc::pause() };
    }
}

/// Overwrites the supervisor's arguments and environment, and its name: `/proc/1` shows them to the entry.
fn forget_arguments(arguments: &Range<usize>) {
    // SAFETY: the kernel has laid these strings on the stack of the process that we are a copy of, writable and mapped until its
    // end, and nothing here reads them any more; where it does not say where they are, the range is empty. The name is
    // NUL-terminated.
    unsafe {
        ptr::write_bytes(arguments.start as *mut u8, 0, arguments.len());
        libc::prctl(libc::PR_SET_NAME, c"init".as_ptr());
    }
}

/// The parts from which the entry's process is made.
struct ProcessParts<'a> {
    setup: &'a ChildSetup,
    talk: RawFd,
    ruleset: RawFd,
    argvs: &'a Argvs,
    env: &'a [*const libc::c_char],
}

extern "C" fn start_entry(entry: *mut c_void) -> c_int {
    // SAFETY: this is what `parent_main` has passed and keeps.
    let entry = unsafe { &*entry.cast::<ProcessParts<'_>>() };
    entry_main(entry.setup, entry.talk, entry.ruleset, entry.argvs, entry.env)
}

/// The entry's user has no business with this process, and this process none with the host's root.
fn leave_root(ids: Ids) {
    if ids.switch {
        // SAFETY: integers only; a failure leaves it root of a namespace that holds nothing.
        unsafe {
            switch_user(ids).ok();
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        }
    }
}

/// Reaps everything that is orphaned inside; when nothing is left it says so and ends.
fn reap(ids: Ids, talk: RawFd) -> ! {
    // SAFETY: closes every other descriptor of this process, so that it holds none of the entry's pipes open.
    unsafe {
        let talk = talk as c_uint;
        if let Some(below) = talk.checked_sub(1) {
            libc::syscall(libc::SYS_close_range, 0 as c_uint, below, 0 as c_uint);
        }
        libc::syscall(libc::SYS_close_range, talk.saturating_add(1), c_uint::MAX, 0 as c_uint);
    }
    leave_root(ids);
    loop {
        // SAFETY: no status is asked for.
        let pid = unsafe { libc::waitpid(-1, ptr::null_mut(), libc::__WALL) };
        if pid == -1 && errno() != libc::EINTR {
            give_up(talk, EMPTY, 0, 0);
        }
    }
}

/// Hands the supervisor a descriptor of the new root, through which it looks for what was left behind even when every process
/// inside is gone. (The entry's own process may not send any: its filter is in force.)
fn send_root(talk: RawFd, root: RawFd) -> Result<(), c_int> {
    // SAFETY: the control buffer is large and aligned enough for one descriptor (checked by the CMSG
    // macros' own arithmetic on 64 bytes), and everything pointed to lives on this stack.
    unsafe {
        let mut kind = ROOT;
        let mut part = libc::iovec { iov_base: (&raw mut kind).cast(), iov_len: 1 };
        let mut control = [0u64; 8];
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<c_int>() as c_uint) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<c_int>() as c_uint) as _;
        ptr::write_unaligned(libc::CMSG_DATA(header).cast::<c_int>(), root);
        check(libc::sendmsg(talk, &raw const message, libc::MSG_NOSIGNAL) as c_long)?;
    }
    Ok(())
}

/// Says that the entry is ready to be traced.
fn hello(talk: RawFd) -> Result<(), c_int> {
    let kind = HELLO;
    // SAFETY: one byte of our own stack.
    check(unsafe { libc::send(talk, (&raw const kind).cast(), 1, libc::MSG_NOSIGNAL) } as c_long)?;
    Ok(())
}

/// The entry's own process up to its exec.
pub(in crate::sandbox) fn entry_main(
    setup: &ChildSetup,
    talk: RawFd,
    ruleset: RawFd,
    argvs: &Argvs,
    env: &[*const libc::c_char],
) -> ! {
    for (index, step) in CHILD.iter().enumerate() {
        if let Err(error) = step(setup, ruleset) {
            give_up(talk, CHILD_FAILED, index as u8, error);
        }
    }
    if let Err(error) = hello(talk) {
        give_up(talk, CHILD_FAILED, CHILD.len() as u8, error);
    }
    keep_only([talk, talk]);
    same_table_of_descriptors(talk);
    await_streams(talk);
    memory_mark::raise();
    // SAFETY: from the fourth descriptor on nothing survives the exec.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3 as c_uint, c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
    let mut error = libc::ENOENT;
    for (attempt, argv) in setup.attempts.iter().zip(argvs) {
        // SAFETY: path, argv and env are NUL-terminated and outlive the call, which only returns on failure.
        unsafe { libc::execve(attempt.path.as_ptr(), argv.as_ptr(), env.as_ptr()) };
        error = errno();
        if error != libc::ENOEXEC {
            break;
        }
    }
    give_up(talk, EXEC_FAILED, 0, error)
}

/// Makes the table of descriptors as large as it can get: its size, which /proc tells, would be that of the supervisor's.
fn same_table_of_descriptors(talk: RawFd) {
    // SAFETY: integers. Where the limit is lower, the table is smaller for every start of this host.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0
            && let Some(last) = limit.rlim_cur.min(1 << 16).checked_sub(1)
            && libc::dup2(talk, last as c_int) != -1
        {
            libc::close(last as c_int);
        }
    }
}

/// A step, and the Landlock ruleset that some need.
type ChildStep = fn(&ChildSetup, RawFd) -> Result<(), c_int>;
const CHILD: [ChildStep; CHILD_STEPS.len()] = [
    stage,
    detach,
    grant,
    limit,
    become_user,
    drop_capabilities,
    no_new_privs,
    restrict,
    enter,
    filter,
];

fn stage(setup: &ChildSetup, _: RawFd) -> Result<(), c_int> {
    match &setup.staging {
        Some(step) => run_step(step, setup.ids),
        None => Ok(()),
    }
}

fn detach(setup: &ChildSetup, _: RawFd) -> Result<(), c_int> {
    if setup.root.is_none() {
        // SAFETY: no arguments.
        check(unsafe { libc::setsid() }.into())?;
    }
    forget_signals()?;
    // SAFETY: an integer.
    unsafe { libc::umask(0o022) };
    take_turns_quickly();
    Ok(())
}

/// Handlers that Rust's runtime set (SIGPIPE) go back to the default, and nothing stays blocked.
fn forget_signals() -> Result<(), c_int> {
    // SAFETY: integers, one sigset and one zeroed action (the default) on our stack, as large as the kernel's.
    unsafe {
        // The C library keeps two signals to itself and refuses to set them.
        let default = [0u64; 4];
        for signal in 1..=64 {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                ptr::null_mut::<c_void>(),
                size_of::<u64>(),
            );
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        check(libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut()).into())?;
    }
    Ok(())
}

/// Asks for the shortest slice there is of an ordinary process (0.1 ms, Linux 6.12 and later; before, nothing
/// happens). The share of the processor stays the same, but whose slice is shorter than its referee's gets a
/// shared processor as soon as it is asked, and keeps it until it waits for the next question: the slice
/// is seen from outside the scheduling group that a session is, where a yield is not. It is about speed alone,
/// so no failure of it matters.
fn take_turns_quickly() {
    const SHORTEST_NS: u64 = 100_000;
    const SIZE: c_uint = size_of::<libc::sched_attr>() as c_uint;
    // SAFETY: the kernel writes and reads `SIZE` bytes of a structure on our own stack, all of them integers.
    unsafe {
        let mut attr: libc::sched_attr = std::mem::zeroed();
        let got = libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attr, SIZE, 0);
        let ordinary = [libc::SCHED_OTHER, libc::SCHED_BATCH].map(|policy| policy as u32);
        if got == 0 && ordinary.contains(&attr.sched_policy) {
            attr.sched_runtime = SHORTEST_NS;
            libc::syscall(libc::SYS_sched_setattr, 0, &raw const attr, 0);
        }
    }
}

fn limit(setup: &ChildSetup, _: RawFd) -> Result<(), c_int> {
    for (resource, value) in &setup.rlimits {
        // SAFETY: `value` outlives the call.
        check(unsafe { libc::setrlimit(*resource as _, value) }.into())?;
    }
    Ok(())
}

fn become_user(setup: &ChildSetup, _: RawFd) -> Result<(), c_int> {
    // SAFETY: integers only. The bounding set goes first, while the right to drop it is still there;
    // a number beyond the kernel's last capability gives EINVAL and ends the loop.
    unsafe {
        for capability in 0..64 {
            if libc::prctl(libc::PR_CAPBSET_DROP, capability as c_ulong, 0, 0, 0) == -1 {
                break;
            }
        }
        if setup.ids.switch {
            switch_user(setup.ids)?;
        }
    }
    Ok(())
}

/// Raw system calls: the C library's wrappers take a lock to tell its other threads, and here that lock may
/// have been held by a thread that the clone did not bring along.
fn switch_user(ids: Ids) -> Result<(), c_int> {
    let (uid, gid) = (c_long::from(ids.uid), c_long::from(ids.gid));
    // SAFETY: integers and an empty list of groups.
    unsafe {
        check(libc::syscall(libc::SYS_setgroups, 0usize, ptr::null::<libc::gid_t>()))?;
        check(libc::syscall(libc::SYS_setresgid, gid, gid, gid))?;
        check(libc::syscall(libc::SYS_setresuid, uid, uid, uid))?;
    }
    Ok(())
}

fn drop_capabilities(_: &ChildSetup, _: RawFd) -> Result<(), c_int> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: c_int,
    }
    // _LINUX_CAPABILITY_VERSION_3: two sets of effective, permitted, inheritable.
    let header = Header { version: 0x2008_0522, pid: 0 };
    let none = [[0u32; 3]; 2];
    // SAFETY: both structures have the kernel's layout and outlive the calls.
    unsafe {
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        check(libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()))?;
        // Changing the user made the process unreadable to an unprivileged tracer.
        check(libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0).into())?;
    }
    Ok(())
}

fn no_new_privs(_: &ChildSetup, _: RawFd) -> Result<(), c_int> {
    // SAFETY: integers only.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into())?;
    Ok(())
}

/// Before the limits: this process still has its maker's descriptors, which may be more than an entry may have.
fn grant(setup: &ChildSetup, ruleset: RawFd) -> Result<(), c_int> {
    for rule in &setup.inner_rules {
        // SAFETY: the path is NUL-terminated; the descriptors are open.
        unsafe {
            let flags = libc::O_PATH | libc::O_CLOEXEC;
            let fd = check(libc::open(rule.path.as_ptr(), flags).into())? as c_int;
            add_rule(ruleset, fd, rule.rights)?;
            libc::close(fd);
        }
    }
    Ok(())
}

fn restrict(_: &ChildSetup, ruleset: RawFd) -> Result<(), c_int> {
    // SAFETY: a descriptor and a flag word.
    check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0 as c_uint) })?;
    Ok(())
}

fn enter(setup: &ChildSetup, _: RawFd) -> Result<(), c_int> {
    // SAFETY: a NUL-terminated path.
    check(unsafe { libc::chdir(setup.cwd.as_ptr()) }.into())?;
    Ok(())
}

fn filter(setup: &ChildSetup, _: RawFd) -> Result<(), c_int> {
    let program = libc::sock_fprog {
        len: setup.seccomp.len() as _,
        filter: setup.seccomp.as_ptr().cast_mut(),
    };
    // SAFETY: the program outlives the call, which copies it. SPEC_ALLOW: the filter must not slow the
    // engine by switching speculation off.
    check(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW,
            &raw const program,
        )
    })?;
    Ok(())
}
