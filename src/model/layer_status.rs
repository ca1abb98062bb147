//! The layers of the sandbox and their states: never hidden, never assumed.

use serde::{Deserialize, Serialize};

use crate::model::listed_enum::listed_enum;

listed_enum! {
    /// A layer of the sandbox.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
    pub enum LayerName {
        /// Files and programs, by Landlock.
        Landlock => "landlock",
        /// System calls, by seccomp.
        Seccomp => "seccomp",
        /// `no_new_privs` and an empty capability set.
        Privileges => "privileges",
        /// Resource limits.
        Rlimits => "rlimits",
        /// The exec reporter (ptrace).
        ExecReporter => "exec-reporter",
        /// A private /tmp, HOME, current directory, /dev/shm and /var/tmp, and other directories in which everybody may write.
        Workspace => "workspace",
        /// A user namespace.
        User => "user",
        /// A mount namespace with a minimal root.
        Mount => "mount",
        /// A process namespace.
        Pid => "pid",
        /// A network namespace without interfaces.
        Net => "net",
        /// A System V and POSIX message namespace.
        Ipc => "ipc",
        /// A host name of its own.
        Uts => "uts",
        /// Limits of memory and processes, and a kill of everything at once, by cgroup v2.
        Cgroup => "cgroup",
        /// No device of the host but those that keep nothing and tell nothing.
        Devices => "devices",
    }
}

impl LayerName {
    /// Without a mandatory layer no entry can be accepted, only left undecided.
    pub fn is_mandatory(self) -> bool {
        matches!(
            self,
            LayerName::Landlock
                | LayerName::Seccomp
                | LayerName::Privileges
                | LayerName::Rlimits
                | LayerName::ExecReporter
                | LayerName::Workspace
        )
    }
}

/// The state of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerState {
    /// In force, whole.
    Enforced,
    /// In force, with a gap that the reason names.
    Partial,
    /// Not in force; the reason says why.
    Absent,
}

impl LayerState {
    /// The word in reports.
    pub(crate) fn word(self) -> &'static str {
        match self {
            LayerState::Enforced => "enforced",
            LayerState::Partial => "partial",
            LayerState::Absent => "absent",
        }
    }
}

/// A layer and its state.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Layer {
    /// The layer.
    pub name: LayerName,
    /// Its state.
    pub state: LayerState,
    /// Its form (`ABI 7`), or the reason that it is partial or absent.
    pub reason: String,
}

/// The gap of a layer in words (`net is absent: …`), none where `layers` hold it whole.
pub(crate) fn gap(name: LayerName, layers: &[Layer]) -> Option<String> {
    match layers.iter().find(|layer| layer.name == name) {
        Some(layer) if layer.state == LayerState::Enforced => None,
        Some(layer) => Some(format!("{} is {}: {}", name.word(), layer.state.word(), layer.reason)),
        None => Some(format!("{} was not reported", name.word())),
    }
}

/// The gaps of the layers of `required`, each in words.
pub(crate) fn unmet(required: &[LayerName], layers: &[Layer]) -> Vec<String> {
    required.iter().filter_map(|name| gap(*name, layers)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_layers_are_one_to_one() {
        for name in LayerName::ALL {
            assert_eq!(LayerName::named(name.word()), Some(name));
        }
        assert_eq!(LayerName::named("landlok"), None);
    }

    #[test]
    fn what_is_required_must_hold_whole() {
        let layer = |name, state| Layer { name, state, reason: "why".into() };
        let layers = [
            layer(LayerName::User, LayerState::Enforced),
            layer(LayerName::Net, LayerState::Absent),
            layer(LayerName::Cgroup, LayerState::Partial),
        ];
        assert_eq!(unmet(&[LayerName::User], &layers), [""; 0]);
        assert_eq!(
            unmet(&[LayerName::Net, LayerName::Cgroup, LayerName::Pid], &layers),
            ["net is absent: why", "cgroup is partial: why", "pid was not reported"]
        );
    }
}
