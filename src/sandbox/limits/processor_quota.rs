//! The limit on processor time of the control group that this process is in: `docker run --cpus`, `limits.cpu` of Kubernetes,
//! `CPUQuota` of systemd.
//!
//! Below one processor an entry that computes is stopped for a part of each tenth of a second, and is late for that alone. No other figure of
//! the host shows it. <https://docs.kernel.org/admin-guide/cgroup-v2.html> (`cpu.max`, `cpu.stat`),
//! <https://docs.kernel.org/scheduler/sched-bwc.html> (the same of version 1).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The version of the kernel's interface to control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// A limit on the processor time of all processes of a control group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProcessorQuota {
    /// The group's directory.
    group: PathBuf,
    version: Version,
    processors: f64,
}

impl ProcessorQuota {
    /// The smallest that holds this process; none where there is none, or none can be read.
    pub(crate) fn find() -> Option<ProcessorQuota> {
        ProcessorQuota::of_host(Path::new("/"))
    }

    /// The same of the host whose files begin at `root`.
    pub(crate) fn of_host(root: &Path) -> Option<ProcessorQuota> {
        let read = |path: &str| fs::read_to_string(root.join(path)).ok();
        let (mounts, groups) = (read("proc/self/mountinfo")?, read("proc/self/cgroup")?);
        let all = [Version::One, Version::Two].into_iter().filter_map(|version| {
            let (point, below) = own_group(version, &mounts, &groups)?;
            // A limit on a group holds all groups in it.
            let own = point.join(below);
            let above = own.ancestors().take_while(|group| group.starts_with(&point));
            let quotas = above.filter_map(|group| {
                let group = root.join(group.strip_prefix("/").ok()?);
                let processors = version.processors(&group)?;
                Some(ProcessorQuota { group, version, processors })
            });
            smallest(quotas)
        });
        smallest(all)
    }

    /// The processors that are granted at a time; less than one is a share of one.
    pub(crate) fn processors(&self) -> f64 {
        self.processors
    }

    /// True if not even one that computes alone has a processor all the time.
    pub(crate) fn is_less_than_one(&self) -> bool {
        self.processors < 1.0
    }

    /// The time so far in which something of the group wanted a processor and was kept from it, summed over the processors.
    pub(crate) fn withheld(&self) -> Option<Duration> {
        let stat = fs::read_to_string(self.group.join("cpu.stat")).ok()?;
        let figure = |name: &str| {
            let is_it = |line: &str| line.strip_prefix(name)?.trim().parse::<u64>().ok();
            stat.lines().find_map(is_it)
        };
        match self.version {
            Version::One => figure("throttled_time ").map(Duration::from_nanos),
            Version::Two => figure("throttled_usec ").map(Duration::from_micros),
        }
    }
}

fn smallest(quotas: impl Iterator<Item = ProcessorQuota>) -> Option<ProcessorQuota> {
    quotas.min_by(|one, other| one.processors.total_cmp(&other.processors))
}

impl Version {
    /// The limit that a group itself has.
    fn processors(self, group: &Path) -> Option<f64> {
        let read = |file: &str| fs::read_to_string(group.join(file)).ok();
        let (quota, period) = match self {
            Version::One => (read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?),
            Version::Two => {
                let max = read("cpu.max")?;
                let (quota, period) = max.trim().split_once(' ')?;
                (quota.to_owned(), period.to_owned())
            }
        };
        // Without a limit the quota is `max`, or -1.
        let (quota, period) =
            (quota.trim().parse::<u64>().ok()?, period.trim().parse::<u64>().ok()?);
        (period > 0).then(|| quota as f64 / period as f64)
    }

    /// True for a mount of the hierarchy that has these limits, by its type and its options.
    fn is_mount(self, kind: &str, options: &str) -> bool {
        match self {
            Version::One => kind == "cgroup" && options.split(',').any(|option| option == "cpu"),
            Version::Two => kind == "cgroup2",
        }
    }

    /// True for the line of /proc/PID/cgroup with these controllers.
    fn is_line(self, controllers: &str) -> bool {
        match self {
            Version::One => controllers.split(',').any(|controller| controller == "cpu"),
            Version::Two => controllers.is_empty(),
        }
    }
}

/// The place where the hierarchy is mounted, and our own group below it. (proc_pid_mountinfo(5): root and mount point are fields 4 and 5, the
/// type follows the dash; cgroups(7).)
fn own_group(version: Version, mounts: &str, groups: &str) -> Option<(PathBuf, PathBuf)> {
    let (root, point) = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        let mut after = after.split(' ');
        let (kind, options) = (after.next()?, after.nth(1)?);
        version.is_mount(kind, options).then_some((fields.next()?, fields.next()?))
    })?;
    let own = groups.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        version.is_line(controllers).then_some(path)
    })?;
    // In a container that has no namespace of its own for groups, the mount is its group.
    let below = Path::new(own).strip_prefix(root).unwrap_or(Path::new(""));
    Some((point.into(), below.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host with these files.
    fn host(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    const OF_TWO: &str = "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n";
    const OF_ONE: &str = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
        33 31 0:30 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn the_smallest_limit_of_the_group_and_those_above_it_counts() {
        let files = |own: &'static str, above: &'static str| {
            host(&[
                ("proc/self/mountinfo", OF_TWO),
                ("proc/self/cgroup", "0::/jobs/one\n"),
                ("sys/fs/cgroup/jobs/one/cpu.max", own),
                ("sys/fs/cgroup/jobs/cpu.max", above),
                ("sys/fs/cgroup/jobs/cpu.stat", "usage_usec 9\nthrottled_usec 2500000\n"),
            ])
        };
        let root = files("150000 100000\n", "20000 100000\n");
        let quota = ProcessorQuota::of_host(root.path()).unwrap();
        assert!(quota.is_less_than_one() && (quota.processors() - 0.2).abs() < 1e-9, "{quota:?}");
        assert_eq!(quota.withheld(), Some(Duration::from_millis(2500)));
        let root = files("150000 100000\n", "max 100000\n");
        let quota = ProcessorQuota::of_host(root.path()).unwrap();
        assert!(!quota.is_less_than_one() && quota.withheld().is_none(), "{quota:?}");
        let root = files("max 100000\n", "max 100000\n");
        assert_eq!(ProcessorQuota::of_host(root.path()), None);
        assert_eq!(ProcessorQuota::of_host(host(&[]).path()), None);
    }

    /// A container on a host with version 1: its group is where the hierarchy is mounted.
    #[test]
    fn version_one_has_the_same_in_two_files() {
        let files = |quota: &'static str| {
            host(&[
                ("proc/self/mountinfo", OF_ONE),
                ("proc/self/cgroup", "4:memory:/m\n2:cpu,cpuacct:/docker/abc\n0::/\n"),
                ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", quota),
                ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
                ("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 7\nthrottled_time 1500000000\n"),
            ])
        };
        let root = files("50000\n");
        let quota = ProcessorQuota::of_host(root.path()).unwrap();
        assert!((quota.processors() - 0.5).abs() < 1e-9, "{quota:?}");
        assert_eq!(quota.withheld(), Some(Duration::from_millis(1500)));
        assert_eq!(ProcessorQuota::of_host(files("-1\n").path()), None);
    }
}
