//! A network namespace that is kept, and the clone that begins in it.
//!
//! To enter it takes power over the user namespace that owns it, which only a process of its own with a single thread can
//! join. So a helper, as short-lived as a vfork's child, joins both and clones the first process in its place: a child of
//! the thread that asked, below the owner's user namespace, without any power over the network.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use libc::{c_int, c_long, c_void};
use nix::fcntl::OFlag;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::sys::stat::Mode;

use super::{First, NAMESPACES, STACK, child, clone_into, errno};

/// A network namespace in which nothing lives, and the user namespace that owns it.
#[derive(Debug)]
pub(in crate::sandbox) struct Network {
    owner: OwnedFd,
    network: OwnedFd,
}

impl Network {
    /// Makes one; `map` is given the process whose users are to be mapped.
    pub(in crate::sandbox) fn make(map: impl FnOnce(i32) -> io::Result<()>) -> io::Result<Network> {
        let (ours, theirs) =
            socketpair(AddressFamily::Unix, SockType::Stream, None, SockFlag::SOCK_CLOEXEC)?;
        let flags = libc::CLONE_NEWUSER | libc::CLONE_NEWNET | libc::SIGCHLD;
        // SAFETY: a null stack means that the child goes on with a copy of ours, as fork does; it makes plain system calls
        // and ends.
        let pid = unsafe { libc::syscall(libc::SYS_clone, c_long::from(flags), 0, 0, 0, 0) };
        match pid {
            -1 => Err(io::Error::last_os_error()),
            0 => child::hold(theirs.as_raw_fd()),
            pid => {
                drop(theirs);
                let pid = pid as i32;
                let open = |name: &str| {
                    let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
                    nix::fcntl::open(&*format!("/proc/{pid}/ns/{name}"), flags, Mode::empty())
                };
                let made = map(pid)
                    .and_then(|()| Ok(Network { owner: open("user")?, network: open("net")? }));
                // The descriptors keep what it was made for. SAFETY: integers; until it is waited for, the number is its.
                unsafe { libc::kill(pid, libc::SIGKILL) };
                wait_for(pid);
                drop(ours);
                made
            }
        }
    }
}

/// Clones the first process into a kept network, on behalf of the calling thread, and maps its users by these lines.
pub(super) fn clone_in(
    network: &Network,
    maps: &[u8],
    cgroup: Option<BorrowedFd<'_>>,
    go_on: &mut dyn FnMut() -> c_int,
) -> io::Result<First> {
    let mut pidfd: c_int = -1;
    let mut errand = Errand {
        owner: network.owner.as_raw_fd(),
        network: network.network.as_raw_fd(),
        maps,
        cgroup,
        pidfd: &raw mut pidfd,
        go_on,
        pid: -1,
        error: 0,
    };
    let mut stack = vec![0u128; STACK / size_of::<u128>()];
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_FILES | libc::SIGCHLD;
    // The helper has our handlers, and shares what they work on: it must not take a signal in our place.
    let blocked = nix::sys::signal::SigSet::all()
        .thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_SETMASK)?;
    // SAFETY: the stack is aligned, the helper's alone, and grows downwards from its end; `errand` and all it points to live
    // in this frame, whose thread waits until the helper has ended.
    let helper = unsafe {
        let top = stack.as_mut_ptr_range().end.cast();
        libc::clone(run_errand, top, flags, (&raw mut errand).cast())
    };
    let failed = (helper == -1).then(io::Error::last_os_error);
    // It cannot fail: the mask is what the kernel has given.
    let _ = blocked.thread_set_mask();
    if let Some(error) = failed {
        return Err(error);
    }
    wait_for(helper);
    let (pid, error) = (errand.pid, errand.error);
    if pid == -1 {
        return Err(io::Error::from_raw_os_error(error));
    }
    // SAFETY: the kernel has just made this descriptor for us: the helper shares our table.
    let first = First { pid, pidfd: unsafe { OwnedFd::from_raw_fd(pidfd) } };
    if error != 0 {
        super::pidfd_kill(first.pidfd.as_fd(), libc::SIGKILL);
        wait_for(pid);
        return Err(io::Error::from_raw_os_error(error));
    }
    Ok(first)
}

/// What the helper is sent for, and what it brings.
struct Errand<'a> {
    owner: RawFd,
    network: RawFd,
    maps: &'a [u8],
    cgroup: Option<BorrowedFd<'a>>,
    pidfd: *mut c_int,
    /// What the first process does; it does not come back from there.
    go_on: &'a mut dyn FnMut() -> c_int,
    pid: i32,
    error: c_int,
}

extern "C" fn run_errand(errand: *mut c_void) -> c_int {
    // SAFETY: this is what `clone_in` has passed and keeps; its thread waits meanwhile.
    let errand = unsafe { &mut *errand.cast::<Errand<'_>>() };
    // SAFETY: descriptors and flags.
    let joined = unsafe {
        libc::setns(errand.owner, libc::CLONE_NEWUSER) != -1
            && libc::setns(errand.network, libc::CLONE_NEWNET) != -1
    };
    if !joined {
        errand.error = errno();
        return 1;
    }
    let flags = libc::CLONE_PIDFD | libc::CLONE_PARENT | (NAMESPACES & !libc::CLONE_NEWNET);
    // SAFETY: as in `clone_first`, whose comment holds for both calls; the child's copy of this stack is its own.
    let pid = unsafe {
        match errand.cgroup {
            Some(cgroup) => clone_into(flags, errand.pidfd, cgroup),
            None => libc::syscall(libc::SYS_clone, c_long::from(flags), 0, errand.pidfd, 0, 0),
        }
    };
    match pid {
        -1 => errand.error = errno(),
        0 => child::exit((errand.go_on)()),
        pid => {
            errand.pid = pid as i32;
            for map in [c"uid_map", c"gid_map"] {
                if let Err(error) = child::write_map(errand.pid, map, errand.maps) {
                    errand.error = error;
                }
            }
        }
    }
    0
}

/// Waits for a child of this thread that has nothing left to do.
fn wait_for(pid: i32) {
    // SAFETY: no status is asked for.
    while unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::__WALL) } == -1
        && errno() == libc::EINTR
    {}
}
