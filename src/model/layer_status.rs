//! The layers of the sandbox and their states: never hidden, never assumed.

use serde::{Deserialize, Serialize};

/// A layer of the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerName {
    /// Files and programs, by Landlock.
    Landlock,
    /// System calls, by seccomp.
    Seccomp,
    /// `no_new_privs` and an empty capability set.
    Privileges,
    /// Resource limits.
    Rlimits,
    /// The exec reporter (ptrace).
    ExecReporter,
    /// A private /tmp, HOME, current directory, /dev/shm and /var/tmp, and other directories in which everybody may write.
    Workspace,
    /// A user namespace.
    User,
    /// A mount namespace with a minimal root.
    Mount,
    /// A process namespace.
    Pid,
    /// A network namespace without interfaces.
    Net,
    /// A System V and POSIX message namespace.
    Ipc,
    /// A host name of its own.
    Uts,
    /// Limits of memory and processes, and a kill of everything at once, by cgroup v2.
    Cgroup,
    /// No device of the host but those that keep nothing and tell nothing.
    Devices,
}

impl LayerName {
    /// Every layer, in the order of reports.
    pub const ALL: [LayerName; 14] = [
        LayerName::Landlock,
        LayerName::Seccomp,
        LayerName::Privileges,
        LayerName::Rlimits,
        LayerName::ExecReporter,
        LayerName::Workspace,
        LayerName::User,
        LayerName::Mount,
        LayerName::Pid,
        LayerName::Net,
        LayerName::Ipc,
        LayerName::Uts,
        LayerName::Cgroup,
        LayerName::Devices,
    ];

    /// The layer of a word.
    pub(crate) fn named(word: &str) -> Option<LayerName> {
        LayerName::ALL.into_iter().find(|name| name.word() == word)
    }

    /// The word in reports and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            LayerName::Landlock => "landlock",
            LayerName::Seccomp => "seccomp",
            LayerName::Privileges => "privileges",
            LayerName::Rlimits => "rlimits",
            LayerName::ExecReporter => "exec-reporter",
            LayerName::Workspace => "workspace",
            LayerName::User => "user",
            LayerName::Mount => "mount",
            LayerName::Pid => "pid",
            LayerName::Net => "net",
            LayerName::Ipc => "ipc",
            LayerName::Uts => "uts",
            LayerName::Cgroup => "cgroup",
            LayerName::Devices => "devices",
        }
    }

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

/// The layers of `required` that `layers` do not hold whole, each in words (`net is absent: …`).
pub(crate) fn unmet(required: &[LayerName], layers: &[Layer]) -> Vec<String> {
    let words = |name: &LayerName| match layers.iter().find(|layer| layer.name == *name) {
        Some(layer) if layer.state == LayerState::Enforced => None,
        Some(layer) => Some(format!("{} is {}: {}", name.word(), layer.state.word(), layer.reason)),
        None => Some(format!("{} was not reported", name.word())),
    };
    required.iter().filter_map(words).collect()
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
