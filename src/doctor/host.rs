//! The kernel and the layers of the sandbox as lines.

use nix::sys::resource::{Resource, getrlimit};

use super::{HostLine, HostState};
use crate::model::layer_status as status;
use crate::model::layer_status::{Layer, LayerName};
use crate::sandbox::timing::TimingFact;

/// The rights that Landlock's interface gained, version by version.
const RIGHTS: [(i32, &str); 6] = [
    (1, "files"),
    (2, "links between directories"),
    (3, "truncation"),
    (4, "TCP"),
    (5, "ioctl on devices"),
    (6, "signals and abstract sockets"),
];

/// The kernel's release, and its settings that the sandbox depends on.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    /// Its release.
    pub(crate) release: String,
    /// Landlock's interface version; zero or less where there is none.
    pub(crate) landlock_abi: i32,
    /// `kernel.yama.ptrace_scope`, where Yama is there.
    pub(crate) ptrace_scope: Option<String>,
    /// `kernel.seccomp.actions_avail`, where it can be read.
    pub(crate) seccomp_actions: Option<String>,
    /// `kernel.core_pattern`, where it can be read.
    pub(crate) core_pattern: Option<String>,
    /// True if nobody under this process may leave a core, of however few bytes.
    pub(crate) no_cores: bool,
    /// True if this process is root's.
    pub(crate) root: bool,
}

impl Kernel {
    /// Reads the settings of this host.
    pub(crate) fn read(landlock_abi: i32) -> Kernel {
        let setting = |path: &str| std::fs::read_to_string(path).ok().map(|s| s.trim().to_owned());
        Kernel {
            release: crate::sandbox::capability::kernel_release(),
            landlock_abi,
            ptrace_scope: setting("/proc/sys/kernel/yama/ptrace_scope"),
            seccomp_actions: setting("/proc/sys/kernel/seccomp/actions_avail"),
            core_pattern: setting("/proc/sys/kernel/core_pattern"),
            no_cores: getrlimit(Resource::RLIMIT_CORE).is_ok_and(|(_, hard)| hard == 0),
            root: nix::unistd::Uid::effective().is_root(),
        }
    }

    /// A line each.
    pub(crate) fn lines(&self) -> Vec<HostLine> {
        vec![
            HostLine::pass("kernel", "release", &self.release),
            self.landlock(),
            self.ptrace(),
            self.seccomp(),
            self.crashes(),
        ]
    }

    fn landlock(&self) -> HostLine {
        let abi = self.landlock_abi;
        let (has, lacks): (Vec<_>, Vec<_>) = RIGHTS.iter().partition(|(since, _)| *since <= abi);
        let words = |rights: Vec<&(i32, &'static str)>| {
            rights.iter().map(|(_, word)| *word).collect::<Vec<_>>().join(", ")
        };
        if abi <= 0 {
            return HostLine::pass("kernel", "landlock", "not there").but(
                HostState::Fail,
                "Linux 6.2 or newer, with landlock in the lsm= list of its command line \
                 (GRUB_CMDLINE_LINUX in /etc/default/grub, then update-grub, then reboot)",
            );
        }
        let lacking = !lacks.is_empty();
        let mut what = format!("ABI {abi}: {}", words(has));
        if lacking {
            what.push_str(&format!("; not: {}", words(lacks)));
        }
        let line = HostLine::pass("kernel", "landlock", what);
        let newer = "a newer kernel: apt-get install -t bookworm-backports linux-image-amd64";
        match abi {
            ..3 => line.but(HostState::Fail, newer),
            _ if lacking => line.but(HostState::Caution, newer),
            _ => line,
        }
    }

    fn ptrace(&self) -> HostLine {
        let line = |what: &str| HostLine::pass("kernel", "ptrace", what);
        let fix = "sysctl -w kernel.yama.ptrace_scope=1";
        match self.ptrace_scope.as_deref() {
            None => line("not restricted (no Yama)"),
            Some("0") => line("not restricted (yama.ptrace_scope 0)"),
            Some("1") => line("own descendants (yama.ptrace_scope 1)"),
            Some("2") if self.root => line("for root (yama.ptrace_scope 2)"),
            Some("2") => line("for root only (yama.ptrace_scope 2)").but(HostState::Fail, fix),
            Some(other) => line(&format!("for nobody (yama.ptrace_scope {other})")).but(
                HostState::Fail,
                "remove kernel.yama.ptrace_scope=3 from /etc/sysctl.d and reboot",
            ),
        }
    }

    fn seccomp(&self) -> HostLine {
        let line = |what: &str| HostLine::pass("kernel", "seccomp", what);
        match &self.seccomp_actions {
            Some(actions)
                if ["trace", "errno", "kill_process"].iter().all(|a| actions.contains(a)) =>
            {
                line(actions)
            }
            Some(actions) => line(actions).but(HostState::Fail, "Linux 4.14 or newer"),
            None => line("its settings cannot be read; it was tried below"),
        }
    }

    /// The kernel's use of the memory of an entry that crashes. The kernel keeps to no limit where it speaks to a socket (Linux 6.16 and
    /// newer), and to one of a byte, which is one too many where the hard limit is zero, where it starts a program.
    fn crashes(&self) -> HostLine {
        let line = |what: String| HostLine::pass("kernel", "crashes", what);
        let mend = "sysctl -w kernel.core_pattern=core, and so in /etc/sysctl.d";
        match self.core_pattern.as_deref() {
            Some(pattern) if pattern.starts_with('@') => {
                line(format!("the memory of an entry goes to a socket (kernel.core_pattern {pattern})"))
                    .but(HostState::Caution, mend)
            }
            Some(pattern) if pattern.starts_with('|') && self.no_cores => line(format!(
                "an entry starts a program (kernel.core_pattern {pattern}), since cores are forbidden for good (ulimit -Hc 0)"
            ))
            .but(HostState::Caution, format!("{mend}; or start gate4k under another limit")),
            Some(pattern) => line(format!("nothing of an entry is kept (kernel.core_pattern {pattern})")),
            None => line("kernel.core_pattern cannot be read".to_owned()),
        }
    }
}

/// Returns a line for each fact that times depend on here. No entry is judged otherwise for it, so each is told with a
/// way to steadier times, and none makes the host unfit.
pub(crate) fn timing(facts: &[TimingFact]) -> Vec<HostLine> {
    let line = |fact: &TimingFact| {
        let line = HostLine::pass("timing", fact.name, &fact.what);
        fact.fix.map_or(line.clone(), |fix| line.but(HostState::Caution, fix))
    };
    facts.iter().map(line).collect()
}

/// The layers of the sandbox, a line each; `required` as by --require.
pub(crate) fn layers(layers: &[Layer]) -> Vec<HostLine> {
    let known = |name: LayerName| match name {
        // Told with the kernel, in more words.
        LayerName::Landlock | LayerName::Seccomp => false,
        _ => true,
    };
    layers
        .iter()
        .filter(|layer| known(layer.name))
        .map(|layer| {
            let line = HostLine::pass("sandbox", layer.name.word(), &layer.reason);
            if layer.state == status::LayerState::Enforced {
                return line;
            }
            let what = format!("{}: {}", layer.state.word(), layer.reason);
            let state =
                if layer.name.is_mandatory() { HostState::Fail } else { HostState::Caution };
            HostLine { what, ..line }.but(state, fix(layer, rustix::process::geteuid().is_root()))
        })
        .collect()
}

fn fix(layer: &Layer, is_root: bool) -> String {
    let why = &layer.reason;
    let fix = match layer.name {
        // Version 1 has the controllers, and no scope brings them over.
        LayerName::Cgroup if is_root && why.contains("cgroup v2 has no") => {
            "boot with systemd.unified_cgroup_hierarchy=1, so that cgroup v2 has all controllers"
        }
        LayerName::Cgroup if is_root => {
            "start gate4k in a scope of its own: systemd-run --scope -p Delegate=yes gate4k …"
        }
        LayerName::Cgroup => {
            "start gate4k in a scope of its own: systemd-run --user --scope -p Delegate=yes gate4k …"
        }
        LayerName::Devices => "leave out --devices",
        _ if why.contains("apparmor") => "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        _ if why.contains("max_user_namespaces") => "sysctl -w user.max_user_namespaces=15000",
        _ if why.contains("unprivileged_userns_clone") => {
            "sysctl -w kernel.unprivileged_userns_clone=1"
        }
        _ => {
            "in a container, let it make user namespaces (docker run --security-opt \
             seccomp=unconfined --security-opt systempaths=unconfined …)"
        }
    };
    fix.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel() -> Kernel {
        Kernel {
            release: "6.18".into(),
            landlock_abi: 7,
            ptrace_scope: None,
            seccomp_actions: Some("kill_process kill_thread trap errno trace allow".into()),
            core_pattern: Some("core".into()),
            no_cores: false,
            root: false,
        }
    }

    #[test]
    fn a_good_kernel_passes() {
        assert!(kernel().lines().iter().all(|line| line.state == HostState::Pass));
    }

    #[test]
    fn each_gap_has_its_weight_and_its_command() {
        for (abi, state, part) in [
            (0, HostState::Fail, "lsm="),
            (2, HostState::Fail, "linux-image"),
            (4, HostState::Caution, "linux-image"),
            (6, HostState::Pass, ""),
        ] {
            let line = Kernel { landlock_abi: abi, ..kernel() }.landlock();
            assert_eq!(line.state, state, "{abi}");
            assert!(line.fix.unwrap_or_default().contains(part), "{abi}");
        }
        let line = Kernel { ptrace_scope: Some("2".into()), ..kernel() }.ptrace();
        assert_eq!(line.fix.as_deref(), Some("sysctl -w kernel.yama.ptrace_scope=1"));
        let line = Kernel { ptrace_scope: Some("2".into()), root: true, ..kernel() }.ptrace();
        assert_eq!(line.state, HostState::Pass);
    }

    #[test]
    fn a_crash_that_reaches_the_host_is_told() {
        for (pattern, no_cores, state) in [
            ("core", true, HostState::Pass),
            ("|/usr/lib/systemd/systemd-coredump %P", false, HostState::Pass),
            ("|/usr/lib/systemd/systemd-coredump %P", true, HostState::Caution),
            ("@/run/crash.socket", false, HostState::Caution),
            ("@@/run/crash.socket", false, HostState::Caution),
        ] {
            let core_pattern = Some(pattern.to_owned());
            let line = Kernel { core_pattern, no_cores, ..kernel() }.crashes();
            assert_eq!(line.state, state, "{pattern} {no_cores}");
            assert!(line.what.contains(pattern), "{line:?}");
        }
        let line = Kernel { core_pattern: None, ..kernel() }.crashes();
        assert_eq!(line.state, HostState::Pass);
    }

    #[test]
    fn root_is_told_no_step_of_a_user() {
        let step = |reason: &str, is_root| {
            let state = status::LayerState::Absent;
            let layer = Layer { name: LayerName::Cgroup, state, reason: reason.into() };
            fix(&layer, is_root)
        };
        let hybrid = "cgroup v2 has no memory and pids in /sys/fs/cgroup/unified";
        assert!(step(hybrid, true).contains("systemd.unified_cgroup_hierarchy=1"));
        assert!(step("/g is not delegated to us: EBUSY", true).contains("systemd-run --scope"));
        assert!(step(hybrid, false).contains("systemd-run --user --scope"));
    }

    #[test]
    fn an_absent_layer_names_the_setting() {
        let user = |reason: &str| {
            let layer = Layer {
                name: LayerName::User,
                state: status::LayerState::Absent,
                reason: reason.into(),
            };
            layers(&[layer]).remove(0)
        };
        let line = user("EPERM; AppArmor restricts (sysctl kernel.apparmor_restrict…=0 allows)");
        assert_eq!(line.state, HostState::Caution);
        assert!(line.fix.unwrap().contains("apparmor_restrict_unprivileged_userns=0"));
        assert!(user("user.max_user_namespaces").fix.unwrap().ends_with("=15000"));
        let gone = Layer {
            name: LayerName::ExecReporter,
            state: status::LayerState::Absent,
            reason: "x".into(),
        };
        assert_eq!(layers(&[gone])[0].state, HostState::Fail);
    }
}
