//! The end of a trusted engine whose gate4k is killed without a chance to end it: a shell in a process group of its own waits for
//! the end of a pipe, of which this process alone has the other end, and then kills the engine's group. An engine that computes
//! hears nothing of a closed input, and would compute beside the games of an event that goes on.
//!
//! (PR_SET_PDEATHSIG would do it without a shell, but ends the engine with the thread that started it.)

use std::io::Write;
use std::process::Child;

use crate::sandbox::waiting_shell;

/// A line means that the engine has ended, and its number may be another's.
const SCRIPT: &str = "trap '' HUP INT TERM QUIT\nread -r word || kill -s KILL -- \"-$1\"\n";

/// A waiting shell; none where the host has no shell to start.
#[derive(Debug)]
pub(super) struct GroupGuard(Option<Child>);

impl GroupGuard {
    /// Guards a process group, by the number of its leader.
    pub(super) fn of(group: u32) -> GroupGuard {
        GroupGuard(waiting_shell(SCRIPT, group.to_string().as_ref()))
    }

    /// Lets it end, before the leader is waited for.
    pub(super) fn dismiss(&mut self) {
        if let Some(mut child) = self.0.take() {
            if let Some(mut input) = child.stdin.take() {
                // Where it has died before, there is nobody to tell.
                let _ = input.write_all(b"done\n");
            }
            let _ = child.wait();
        }
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        self.dismiss();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    fn sleeper() -> Child {
        Command::new("/bin/sleep").arg("60").process_group(0).spawn().unwrap()
    }

    #[test]
    fn a_group_dies_with_the_one_who_guards_it() {
        let mut engine = sleeper();
        let mut guard = GroupGuard::of(engine.id());
        // The end of its input is all that the shell knows of our end.
        let mut shell = guard.0.take().unwrap();
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert!(!engine.wait().unwrap().success());
    }

    #[test]
    fn a_guard_that_is_dismissed_kills_nothing() {
        let mut engine = sleeper();
        GroupGuard::of(engine.id()).dismiss();
        assert!(engine.try_wait().unwrap().is_none());
        engine.kill().unwrap();
        engine.wait().unwrap();
    }
}
