//! Properties of a host that make times differ from run to run: two processors that share a core, clocks that rise
//! and fall, memory that is swapped out, other work. Nothing here decides over an entry; whoever runs an event may
//! want to mend it.

use std::path::Path;

use crate::sandbox::limits::processor_quota::ProcessorQuota;

/// A fact that times depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimingFact {
    /// Its name.
    pub(crate) name: &'static str,
    /// The state of this host.
    pub(crate) what: String,
    /// The command that makes times steadier; none where they are steady, or nothing can be done.
    pub(crate) fix: Option<&'static str>,
}

/// The facts that this host tells of itself; others are left out.
#[must_use]
pub(crate) fn facts() -> Vec<TimingFact> {
    read(Path::new("/"))
}

fn read(root: &Path) -> Vec<TimingFact> {
    let text = |path: &str| {
        let text = std::fs::read_to_string(root.join(path)).ok()?;
        Some(text.trim().to_owned())
    };
    let of_cpus = |file: &str| -> Vec<String> {
        (0..4096)
            .map_while(|cpu| {
                let directory = format!("sys/devices/system/cpu/cpu{cpu}");
                root.join(&directory).is_dir().then(|| text(&format!("{directory}/{file}")))
            })
            .flatten()
            .collect()
    };
    let mut facts = Vec::new();
    let mut tell = |name, what: String, unsteady: bool, fix| {
        facts.push(TimingFact { name, what, fix: unsteady.then_some(fix) });
    };
    if let Some(swaps) = text("proc/swaps") {
        let count = swaps.lines().count().saturating_sub(1);
        let what = if count == 0 { "none".to_owned() } else { format!("{count} in use") };
        tell("swap", what, count > 0, "swapoff -a");
    }
    if let Some(smt) = text("sys/devices/system/cpu/smt/active") {
        let on = smt == "1";
        let what = if on { "processors share cores" } else { "each processor is a core" };
        tell("smt", what.into(), on, "echo off > /sys/devices/system/cpu/smt/control");
    }
    let mut governors = of_cpus("cpufreq/scaling_governor");
    governors.sort();
    governors.dedup();
    if !governors.is_empty() {
        let unsteady = governors != ["performance"];
        tell("governor", governors.join(", "), unsteady, "cpupower frequency-set -g performance");
    }
    let boost = text("sys/devices/system/cpu/cpufreq/boost")
        .map(|on| (on == "1", "echo 0 > /sys/devices/system/cpu/cpufreq/boost"));
    let turbo = text("sys/devices/system/cpu/intel_pstate/no_turbo")
        .map(|off| (off == "0", "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"));
    if let Some((on, fix)) = turbo.or(boost) {
        tell("boost", if on { "on" } else { "off" }.into(), on, fix);
    }
    if let Some(aslr) = text("proc/sys/kernel/randomize_va_space") {
        let on = aslr != "0";
        let what = if on { "addresses differ from start to start" } else { "off" };
        tell("aslr", what.into(), on, "sysctl -w kernel.randomize_va_space=0");
    }
    if let Some(huge) = text("sys/kernel/mm/transparent_hugepage/enabled") {
        let chosen = huge.split(['[', ']']).nth(1).unwrap_or("unknown").to_owned();
        let always = chosen == "always";
        let fix = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";
        tell("huge-pages", chosen, always, fix);
    }
    let mut cores = of_cpus("cpu_capacity");
    if cores.is_empty() {
        cores = of_cpus("cpufreq/cpuinfo_max_freq");
    }
    if !cores.is_empty() {
        cores.sort();
        cores.dedup();
        let mixed = cores.len() > 1;
        let what = match cores.len() {
            1 => "all alike".to_owned(),
            kinds => format!("{kinds} kinds of cores"),
        };
        tell("cores", what, mixed, "taskset -c CORES gate4k …, with cores of one kind");
    }
    if let Some(per_mille) = text("proc/stat").and_then(|stat| stolen(&stat)) {
        // Another host's work cannot be ended from here.
        let what = format!("{}.{} % taken by the host below", per_mille / 10, per_mille % 10);
        tell("steal", what, per_mille > 0, "run it on a machine of its own");
    }
    if let Some(quota) = ProcessorQuota::of_host(root) {
        let what =
            format!("the control group of gate4k may use {:.2} processors", quota.processors());
        let fix =
            "give it one or more: docker run --cpus, limits.cpu of Kubernetes, CPUQuota of systemd";
        tell("quota", what, quota.is_less_than_one(), fix);
    }
    if let Some(load) = text("proc/loadavg")
        && let Some(one) = load.split(' ').next()
    {
        let busy = one.parse::<f64>().is_ok_and(|load| load >= 0.5);
        tell("load", one.to_owned(), busy, "top -b -n1 | head -20, and end what else works");
    }
    facts
}

/// Time that a hypervisor gave to others, in thousandths of all since the start (proc_stat(5): the eighth figure).
fn stolen(stat: &str) -> Option<u64> {
    let figures = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
    let figures: Vec<u64> = figures.map_while(|word| word.parse().ok()).take(8).collect();
    let stolen = figures.get(7)?;
    (stolen * 1000).checked_div(figures.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host that says these things of itself.
    fn host(files: &[(&str, &str)]) -> Vec<TimingFact> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        read(root.path())
    }

    #[test]
    fn a_host_that_says_nothing_is_not_guessed_at() {
        assert_eq!(host(&[]), []);
    }

    #[test]
    fn each_unsteady_thing_is_named_with_its_command_and_a_steady_one_without() {
        const CPU: &str = "sys/devices/system/cpu";
        let cases = [
            ("swap", "proc/swaps", "Filename\n/dev/sda2 partition 1 0 -2\n", "Filename\n"),
            ("smt", "sys/devices/system/cpu/smt/active", "1\n", "0\n"),
            (
                "governor",
                "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                "powersave\n",
                "performance\n",
            ),
            ("boost", "sys/devices/system/cpu/cpufreq/boost", "1\n", "0\n"),
            ("boost", "sys/devices/system/cpu/intel_pstate/no_turbo", "0\n", "1\n"),
            ("aslr", "proc/sys/kernel/randomize_va_space", "2\n", "0\n"),
            (
                "huge-pages",
                "sys/kernel/mm/transparent_hugepage/enabled",
                "[always] madvise never\n",
                "always [madvise] never\n",
            ),
            (
                "steal",
                "proc/stat",
                "cpu  10 0 10 970 0 0 0 10 0 0\n",
                "cpu  10 0 10 980 0 0 0 0 0 0\n",
            ),
            ("load", "proc/loadavg", "1.50 0.2 0.1 1/99 7\n", "0.10 0.2 0.1 1/99 7\n"),
        ];
        for (name, path, unsteady, steady) in cases {
            for (text, mends) in [(unsteady, true), (steady, false)] {
                let facts = host(&[(path, text)]);
                let fact = facts.iter().find(|fact| fact.name == name).unwrap();
                assert_eq!(fact.fix.is_some(), mends, "{path}: {fact:?}");
            }
        }
        const MOUNT: &str = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        for (max, mends) in [("50000 100000\n", true), ("200000 100000\n", false)] {
            let facts = host(&[
                ("proc/self/mountinfo", MOUNT),
                ("proc/self/cgroup", "0::/\n"),
                ("sys/fs/cgroup/cpu.max", max),
            ]);
            assert_eq!((facts[0].name, facts[0].fix.is_some()), ("quota", mends), "{facts:?}");
        }
        let mixed = host(&[
            (&format!("{CPU}/cpu0/cpufreq/cpuinfo_max_freq"), "5000000\n"),
            (&format!("{CPU}/cpu1/cpufreq/cpuinfo_max_freq"), "3800000\n"),
        ]);
        assert_eq!(mixed[0].what, "2 kinds of cores");
        let alike = host(&[(&format!("{CPU}/cpu0/cpu_capacity"), "1024\n")]);
        assert_eq!((&*alike[0].what, alike[0].fix), ("all alike", None));
    }
}
