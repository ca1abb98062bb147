//! The child's side: from the clone to the exec. No allocation, no locks, no panics; only system calls.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;

use libc::{c_int, c_long, c_uint, c_ulong, c_void};

use super::{
    CHILD_FAILED, CHILD_STEPS, EMPTY, EXEC_FAILED, GO, HELLO, Ids, PROBED, RUN, STEP_FAILED,
    Script, Step, errno,
};

pub(super) fn exit(status: c_int) -> ! {
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

/// Keeps its namespaces until it is killed, or the supervisor is gone.
pub(super) fn hold(talk: RawFd) -> ! {
    let mut byte = 0u8;
    // Of what other threads have open it must hold nothing: they may wait for the end of it.
    keep_only([talk, talk]);
    // SAFETY: integers, and one byte of our own stack. With the supervisor's thread this process ends; where that has ended
    // before, so has the other end.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        while libc::read(talk, (&raw mut byte).cast(), 1) == -1 && errno() == libc::EINTR {}
    }
    exit(0)
}

/// Writes a map of users or groups of a process (user_namespaces(7)), which must be done in one piece.
pub(super) fn write_map(pid: c_int, name: &CStr, map: &[u8]) -> Result<(), c_int> {
    let mut path = [0u8; 40];
    let mut digits = [0u8; 10];
    let (mut left, mut count) = (pid.unsigned_abs(), 0);
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (left % 10) as u8;
        left /= 10;
        count += 1;
        if left == 0 {
            break;
        }
    }
    let number = digits.get(digits.len() - count..).unwrap_or(&[]);
    let parts = b"/proc/".iter().chain(number).chain(b"/").chain(name.to_bytes());
    for (to, from) in path.iter_mut().zip(parts) {
        *to = *from;
    }
    // SAFETY: the path is shorter than its buffer of zeros, so it ends with one; the map outlives the call.
    unsafe {
        let fd = check(libc::open(path.as_ptr().cast(), libc::O_WRONLY | libc::O_CLOEXEC).into())?;
        let written = check(libc::write(fd as c_int, map.as_ptr().cast(), map.len()) as c_long);
        libc::close(fd as c_int);
        written.map(drop)
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
        // They come in the order of their numbers, so none is overwritten before it is in its place.
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

type Argvs = [Vec<*const libc::c_char>];

/// Pid 1 of the new namespaces.
pub(super) fn first_main(
    script: &Script,
    talk: RawFd,
    argvs: &Argvs,
    env: &[*const libc::c_char],
    stack: &mut [u128],
) -> ! {
    // SAFETY: only integers are passed. When the supervisor's thread ends, so does this process, and with
    // it every process of its namespace.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    await_go(talk);
    if let Some(root) = &script.root {
        for (index, step) in root.steps().enumerate() {
            if let Err(error) = run_step(step, script.ids) {
                give_up(talk, STEP_FAILED, index as u8, error);
            }
        }
    }
    if script.probe {
        give_up(talk, PROBED, 0, 0);
    }
    // This process waits as long as the entry waits for its streams.
    keep_only([talk, script.landlock.as_raw_fd()]);
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: a NUL-terminated path and flags.
    let root = match check(unsafe { libc::open(c"/".as_ptr(), flags) }.into()) {
        Ok(root) => root as RawFd,
        Err(error) => give_up(talk, STEP_FAILED, u8::MAX, error),
    };
    // As vfork: this memory is lent to the entry's process, and this one waits until its exec. A copy of the page tables
    // would be made only to be thrown away there.
    let entry = Entry { script, talk, root, argvs, env };
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is aligned, ours alone, and grows downwards from its end; `entry` lives in this frame, which
    // waits meanwhile; `start_entry` never returns.
    let pid = unsafe {
        let top = stack.as_mut_ptr_range().end.cast();
        libc::clone(start_entry, top, flags, (&raw const entry).cast_mut().cast())
    };
    match pid {
        -1 => give_up(talk, STEP_FAILED, u8::MAX, errno()),
        _ => reap(script.ids, talk),
    }
}

/// What the entry's process is made of.
struct Entry<'a> {
    script: &'a Script,
    talk: RawFd,
    root: RawFd,
    argvs: &'a Argvs,
    env: &'a [*const libc::c_char],
}

extern "C" fn start_entry(entry: *mut c_void) -> c_int {
    // SAFETY: this is what `first_main` has passed and keeps.
    let entry = unsafe { &*entry.cast::<Entry<'_>>() };
    entry_main(entry.script, entry.talk, Some(entry.root), entry.argvs, entry.env)
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
    // The entry's user has no business with pid 1, and pid 1 none with the host's root.
    if ids.switch {
        // SAFETY: integers only; a failure leaves it root of a namespace that holds nothing.
        unsafe {
            switch_user(ids).ok();
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        }
    }
    loop {
        // SAFETY: no status is asked for.
        let pid = unsafe { libc::waitpid(-1, ptr::null_mut(), libc::__WALL) };
        if pid == -1 && errno() != libc::EINTR {
            give_up(talk, EMPTY, 0, 0);
        }
    }
}

fn check(result: c_long) -> Result<c_long, c_int> {
    if result == -1 { Err(errno()) } else { Ok(result) }
}

const OLD_ROOT: &CStr = c"/.host";

fn run_step(step: &Step, ids: Ids) -> Result<(), c_int> {
    // SAFETY: every pointer is to a NUL-terminated string or buffer of `step`, which outlives the calls;
    // the remaining arguments are integers.
    unsafe {
        match step {
            Step::Private => {
                let flags = libc::MS_REC | libc::MS_PRIVATE;
                check(
                    libc::mount(ptr::null(), c"/".as_ptr(), ptr::null(), flags, ptr::null()).into(),
                )?;
            }
            Step::NewRoot { on, options } => {
                let tmpfs = c"tmpfs".as_ptr();
                let flags = libc::MS_NOSUID | libc::MS_NODEV;
                check(
                    libc::mount(tmpfs, on.as_ptr(), tmpfs, flags, options.as_ptr().cast()).into(),
                )?;
                check(libc::chdir(on.as_ptr()).into())?;
                check(libc::mkdir(c".host".as_ptr(), 0o700).into())?;
                check(libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".host".as_ptr()))?;
                check(libc::chdir(c"/".as_ptr()).into())?;
            }
            Step::Dir { path, mode, entry_owns } => {
                if libc::mkdir(path.as_ptr(), 0o755) == -1 && errno() != libc::EEXIST {
                    return Err(errno());
                }
                if *entry_owns && ids.switch {
                    check(libc::chown(path.as_ptr(), ids.uid, ids.gid).into())?;
                }
                check(libc::chmod(path.as_ptr(), *mode).into())?;
            }
            Step::Link { target, path } => {
                check(libc::symlink(target.as_ptr(), path.as_ptr()).into())?;
            }
            Step::File { path, mode, bytes } => {
                let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
                let fd = check(libc::open(path.as_ptr(), flags, 0o600).into())? as c_int;
                let mut rest: &[u8] = bytes;
                while !rest.is_empty() {
                    let n = libc::write(fd, rest.as_ptr().cast(), rest.len());
                    match n {
                        -1 if errno() == libc::EINTR => {}
                        -1 => return Err(errno()),
                        n => rest = rest.get(n as usize..).unwrap_or(&[]),
                    }
                }
                check(libc::fchmod(fd, *mode).into())?;
                libc::close(fd);
            }
            Step::Bind { source, target, recursive, device } => {
                let flags = libc::MS_BIND | if *recursive { libc::MS_REC } else { 0 };
                check(
                    libc::mount(source.as_ptr(), target.as_ptr(), ptr::null(), flags, ptr::null())
                        .into(),
                )?;
                let attributes = libc::mount_attr {
                    attr_set: if *device {
                        libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC
                    } else {
                        libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_RDONLY
                    },
                    attr_clr: 0,
                    propagation: 0,
                    userns_fd: 0,
                };
                check(libc::syscall(
                    libc::SYS_mount_setattr,
                    libc::AT_FDCWD,
                    target.as_ptr(),
                    if *recursive { libc::AT_RECURSIVE as c_uint } else { 0 },
                    &raw const attributes,
                    size_of::<libc::mount_attr>(),
                ))?;
            }
            Step::Proc { target } => {
                let proc = c"proc".as_ptr();
                let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
                check(libc::mount(proc, target.as_ptr(), proc, flags, ptr::null()).into())?;
            }
            Step::DropHost => {
                check(libc::umount2(OLD_ROOT.as_ptr(), libc::MNT_DETACH).into())?;
                check(libc::rmdir(OLD_ROOT.as_ptr()).into())?;
            }
        }
    }
    Ok(())
}

/// Says that the entry is ready to be traced, and hands the supervisor a descriptor of the new root, through which it
/// looks for what was left behind even when every process inside is gone.
fn hello(talk: RawFd, root: Option<RawFd>) -> Result<(), c_int> {
    // SAFETY: the control buffer is large and aligned enough for one descriptor (checked by the CMSG
    // macros' own arithmetic on 64 bytes), and everything pointed to lives on this stack.
    unsafe {
        let mut kind = HELLO;
        let mut part = libc::iovec { iov_base: (&raw mut kind).cast(), iov_len: 1 };
        let mut control = [0u64; 8];
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        if let Some(root) = root {
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(size_of::<c_int>() as c_uint) as _;
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(size_of::<c_int>() as c_uint) as _;
            ptr::write_unaligned(libc::CMSG_DATA(header).cast::<c_int>(), root);
        }
        check(libc::sendmsg(talk, &raw const message, libc::MSG_NOSIGNAL) as c_long)?;
    }
    Ok(())
}

/// The entry's own process up to its exec.
pub(super) fn entry_main(
    script: &Script,
    talk: RawFd,
    root: Option<RawFd>,
    argvs: &Argvs,
    env: &[*const libc::c_char],
) -> ! {
    for (index, step) in CHILD.iter().enumerate() {
        if let Err(error) = step(script) {
            give_up(talk, CHILD_FAILED, index as u8, error);
        }
    }
    if let Err(error) = hello(talk, root) {
        give_up(talk, CHILD_FAILED, CHILD.len() as u8, error);
    }
    keep_only([talk, talk]);
    await_streams(talk);
    // SAFETY: from the fourth descriptor on nothing survives the exec.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3 as c_uint, c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
    let mut error = libc::ENOENT;
    for (attempt, argv) in script.attempts.iter().zip(argvs) {
        // SAFETY: path, argv and env are NUL-terminated and outlive the call, which only returns on failure.
        unsafe { libc::execve(attempt.path.as_ptr(), argv.as_ptr(), env.as_ptr()) };
        error = errno();
        if error != libc::ENOEXEC {
            break;
        }
    }
    give_up(talk, EXEC_FAILED, 0, error)
}

type ChildStep = fn(&Script) -> Result<(), c_int>;
const CHILD: [ChildStep; CHILD_STEPS.len()] =
    [detach, limit, become_user, drop_capabilities, no_new_privs, grant, restrict, enter, filter];

fn detach(_: &Script) -> Result<(), c_int> {
    // SAFETY: integers and one sigset on our stack. Handlers that Rust's runtime set (SIGPIPE) go back to
    // the default, and nothing stays blocked.
    unsafe {
        check(libc::setsid().into())?;
        for signal in 1..32 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        check(libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut()).into())?;
        libc::umask(0o022);
    }
    take_turns_quickly();
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

fn limit(script: &Script) -> Result<(), c_int> {
    for (resource, value) in &script.rlimits {
        // SAFETY: `value` outlives the call.
        check(unsafe { libc::setrlimit(*resource as _, value) }.into())?;
    }
    Ok(())
}

fn become_user(script: &Script) -> Result<(), c_int> {
    // SAFETY: integers only. The bounding set goes first, while the right to drop it is still there;
    // a number beyond the kernel's last capability gives EINVAL and ends the loop.
    unsafe {
        for capability in 0..64 {
            if libc::prctl(libc::PR_CAPBSET_DROP, capability as c_ulong, 0, 0, 0) == -1 {
                break;
            }
        }
        if script.ids.switch {
            switch_user(script.ids)?;
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

fn drop_capabilities(_: &Script) -> Result<(), c_int> {
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

fn no_new_privs(_: &Script) -> Result<(), c_int> {
    // SAFETY: integers only.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into())?;
    Ok(())
}

/// Adds a rule to a Landlock ruleset: these rights on the file, or beneath the directory. A number that is no open
/// descriptor gives EBADF.
pub(super) fn add_rule(ruleset: RawFd, path: RawFd, rights: u64) -> Result<c_long, c_int> {
    #[repr(C, packed)]
    struct PathBeneath {
        allowed_access: u64,
        parent_fd: i32,
    }
    const LANDLOCK_RULE_PATH_BENEATH: c_int = 1;
    let beneath = PathBeneath { allowed_access: rights, parent_fd: path };
    // SAFETY: the structure has the kernel's (packed) layout and outlives the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset,
            LANDLOCK_RULE_PATH_BENEATH,
            &raw const beneath,
            0 as c_uint,
        )
    })
}

fn grant(script: &Script) -> Result<(), c_int> {
    for rule in &script.inner_rules {
        // SAFETY: the path is NUL-terminated; the descriptors are open.
        unsafe {
            let flags = libc::O_PATH | libc::O_CLOEXEC;
            let fd = check(libc::open(rule.path.as_ptr(), flags).into())? as c_int;
            add_rule(script.landlock.as_raw_fd(), fd, rule.rights)?;
            libc::close(fd);
        }
    }
    Ok(())
}

fn restrict(script: &Script) -> Result<(), c_int> {
    // SAFETY: a descriptor and a flag word.
    check(unsafe {
        libc::syscall(libc::SYS_landlock_restrict_self, script.landlock.as_raw_fd(), 0 as c_uint)
    })?;
    Ok(())
}

fn enter(script: &Script) -> Result<(), c_int> {
    // SAFETY: a NUL-terminated path.
    check(unsafe { libc::chdir(script.cwd.as_ptr()) }.into())?;
    Ok(())
}

fn filter(script: &Script) -> Result<(), c_int> {
    let program = libc::sock_fprog {
        len: script.seccomp.len() as _,
        filter: script.seccomp.as_ptr().cast_mut(),
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
