//! A cleaner that outlives a supervisor that is killed without a chance to clean up: a shell in a process group
//! of its own that waits for the end of a pipe, of which the supervisor alone has the other end, and then
//! removes one directory.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A line means that all is done. At the end of input the supervisor is gone; what it traced is being
/// killed and may still write for a moment, so one attempt need not be enough.
macro_rules! script {
    ($remove:literal) => {
        concat!(
            "trap '' HUP INT TERM QUIT\n",
            "read -r word && exit 0\n",
            "n=0\n",
            "while [ -e \"$1\" ] && [ \"$n\" -lt 200 ]; do\n",
            $remove,
            "n=$((n + 1))\n",
            "[ -e \"$1\" ] && sleep 0.05\n",
            "done\n"
        )
    };
}

/// The kind of directory that is guarded.
#[derive(Clone, Copy, Debug)]
pub(in crate::sandbox) enum Kind {
    /// A directory with files. `chmod` comes first because an entry may have closed directories to their
    /// own owner.
    Files,
    /// A cgroup with one level of groups below it.
    Cgroup,
}

/// The wait for an ending guardian.
const PATIENCE: Duration = Duration::from_secs(30);

/// A shell in a process group of its own that runs a script, which reads a pipe from us and has one argument; none where the host
/// has no shell to start.
pub(crate) fn waiting_shell(script: &str, argument: &OsStr) -> Option<Child> {
    let child = Command::new("/bin/sh")
        .args(["-c", script, "guardian"])
        .arg(argument)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
    child.ok()
}

/// A waiting shell; none where the host has no shell to start.
#[derive(Debug)]
pub(in crate::sandbox) struct Guardian(Option<Child>);

impl Guardian {
    /// Guards `path`, which need not exist yet.
    pub(in crate::sandbox) fn of(path: &Path, kind: Kind) -> Guardian {
        let script = match kind {
            Kind::Files => script!("chmod -R u+rwx \"$1\"\nrm -rf \"$1\"\n"),
            Kind::Cgroup => {
                script!("echo 1 >\"$1/cgroup.kill\"\nrmdir \"$1\"/*/ \"$1\"\n")
            }
        };
        Guardian(waiting_shell(script, path.as_os_str()))
    }

    /// Lets it end: at once where the path is gone (or not ours), else when it has removed it. A removal that takes longer than half a
    /// minute is not waited for.
    pub(in crate::sandbox) fn dismiss(&mut self, gone: bool) {
        if let Some(mut child) = self.0.take() {
            if let Some(mut input) = child.stdin.take()
                && gone
            {
                // Where it has died before, there is nobody to tell.
                let _ = input.write_all(b"done\n");
            }
            // It goes on alone where there is more to remove than anybody should wait for.
            let until = Instant::now() + PATIENCE;
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_removes_what_a_dead_supervisor_left() {
        let top = tempfile::tempdir().unwrap().keep();
        std::fs::write(top.join("left"), "x").unwrap();
        // The end of its input is all that it knows of our end.
        Guardian::of(&top, Kind::Files).dismiss(false);
        assert!(!top.exists());
    }

    #[test]
    fn told_that_all_is_done_it_touches_nothing() {
        let top = tempfile::tempdir().unwrap();
        Guardian::of(top.path(), Kind::Files).dismiss(true);
        assert!(top.path().exists());
    }
}
