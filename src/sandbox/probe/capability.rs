//! The layers that this host can enforce: found out once, by trying.

use std::io;

use crate::model::layer_status::{Layer, LayerName, LayerState};
use crate::sandbox::child;
use crate::sandbox::filter::arch;
use crate::sandbox::fs::landlock::LEAST_ABI;
use crate::sandbox::limits::cgroup::{self, Groups};
use crate::sandbox::limits::rlimits;
use crate::sandbox::probe::namespaces;

/// The host's powers.
#[derive(Clone, Debug)]
pub struct Capability {
    /// Landlock's interface version; zero or less where there is none.
    pub landlock_abi: i32,
    /// Ok if the whole sequence of namespaces and mounts works, else the reason that it does not.
    pub namespaces: Result<(), String>,
    /// The place in which cgroups can be made, or the reason why none can.
    pub(crate) cgroups: Result<Groups, String>,
}

impl Capability {
    /// Tries everything in a throw-away child.
    #[must_use]
    pub fn probe() -> Capability {
        Capability {
            landlock_abi: child::landlock_abi(),
            namespaces: namespaces::try_all().map_err(|error| explain(&error)),
            cgroups: Groups::find(),
        }
    }

    /// True if files and programs can be confined at all.
    #[must_use]
    pub(crate) fn enforces_files(&self) -> bool {
        self.landlock_abi >= LEAST_ABI
    }

    /// The layers that a run on this host has.
    #[must_use]
    pub fn layers(&self) -> Vec<Layer> {
        let layer = |name, state, reason: &str| Layer { name, state, reason: reason.to_owned() };
        let landlock = match self.landlock_abi {
            abi if abi >= LEAST_ABI => {
                layer(LayerName::Landlock, LayerState::Enforced, &format!("ABI {abi}"))
            }
            abi if abi > 0 => layer(
                LayerName::Landlock,
                LayerState::Absent,
                &format!("ABI {abi}; at least {LEAST_ABI} is needed (Linux 6.2)"),
            ),
            _ => layer(
                LayerName::Landlock,
                LayerState::Absent,
                "the kernel has it not, or it is off at boot",
            ),
        };
        let mut layers = vec![
            landlock,
            layer(LayerName::Seccomp, LayerState::Enforced, arch::TABLES_IN_WORDS),
            layer(LayerName::Privileges, LayerState::Enforced, "no_new_privs, no capabilities"),
            layer(LayerName::Rlimits, LayerState::Enforced, &rlimits(&rlimits::lowered())),
            layer(LayerName::ExecReporter, LayerState::Enforced, "ptrace"),
        ];
        match &self.namespaces {
            Ok(()) => {
                layers.push(layer(
                    LayerName::Workspace,
                    LayerState::Enforced,
                    "in memory, private",
                ));
                for (name, reason) in [
                    (LayerName::User, "an ordinary user inside"),
                    (LayerName::Mount, "a fresh root, system directories read-only"),
                    (LayerName::Pid, "its own processes only"),
                    (LayerName::Net, "no interface"),
                    (LayerName::Ipc, "its own"),
                    (LayerName::Uts, "its own"),
                ] {
                    layers.push(layer(name, LayerState::Enforced, reason));
                }
            }
            Err(why) => {
                layers.push(layer(
                    LayerName::Workspace,
                    LayerState::Enforced,
                    "a private directory; /tmp and /dev/shm themselves are closed",
                ));
                for name in [
                    LayerName::User,
                    LayerName::Mount,
                    LayerName::Pid,
                    LayerName::Net,
                    LayerName::Ipc,
                    LayerName::Uts,
                ] {
                    layers.push(layer(name, LayerState::Absent, why));
                }
            }
        }
        layers.push(cgroup::layer(&self.cgroups));
        layers
    }
}

/// The resources that the limits are on, and those on which the host is lower: an entry may then fail where it
/// would not on another host, so it is said.
fn rlimits(lowered: &[String]) -> String {
    let all = "files, file size, core, processes";
    match lowered {
        [] => all.to_owned(),
        lowered => format!("{all}; lower here (ulimit): {}", lowered.join(", ")),
    }
}

/// The reason in words, with the setting that is known to cause it.
fn explain(error: &io::Error) -> String {
    let setting = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    if setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" {
        return format!(
            "{error}; AppArmor restricts user namespaces (sysctl \
             kernel.apparmor_restrict_unprivileged_userns=0 allows them)"
        );
    }
    let limits = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"]
        .map(|kind| (kind, setting(&format!("/proc/sys/user/max_{kind}_namespaces"))));
    if let Some(why) = no_more(error.raw_os_error(), &limits) {
        return format!("{error}; {why}");
    }
    if setting("/proc/sys/kernel/unprivileged_userns_clone") == "0" {
        return format!("{error}; sysctl kernel.unprivileged_userns_clone is 0");
    }
    error.to_string()
}

/// The reason that no more namespaces may be made, from the limits of each kind. ENOSPC means that some limit is
/// reached (namespaces(7)), in this user namespace or one above it.
fn no_more(errno: Option<i32>, limits: &[(&str, String)]) -> Option<String> {
    let closed = limits.iter().find(|(_, limit)| limit == "0").map(|(kind, _)| *kind);
    match (closed, errno) {
        (Some(kind), _) => Some(format!("the sysctl user.max_{kind}_namespaces is 0")),
        (None, Some(libc::ENOSPC)) => Some(
            "the limit of user.max_user_namespaces (or of another user.max_*_namespaces) is reached, here or in \
             the user namespace around this one"
                .to_owned(),
        ),
        _ => None,
    }
}

pub use crate::sandbox::limits::{host_memory as memory, overcommit};

/// The kernel's release, as `uname -r` prints it.
#[must_use]
pub fn kernel_release() -> String {
    nix::sys::utsname::uname()
        .map(|name| name.release().to_string_lossy().into_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_namespaces_is_named() {
        let limits = |user: &str| [("user", user.to_owned()), ("net", "7".to_owned())];
        let why = no_more(Some(libc::ENOSPC), &limits("0")).unwrap();
        assert_eq!(why, "the sysctl user.max_user_namespaces is 0");
        let why = no_more(Some(libc::ENOSPC), &limits("9")).unwrap();
        assert!(why.contains("user.max_user_namespaces"), "{why}");
        assert_eq!(no_more(Some(libc::EPERM), &limits("9")), None);
        let error = io::Error::from_raw_os_error(libc::ENOSPC);
        assert!(
            explain(&error).contains("max_user_namespaces") || explain(&error).contains("AppArmor")
        );
    }
}
