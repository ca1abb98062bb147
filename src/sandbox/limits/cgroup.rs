//! cgroup v2: limits of what all processes of an entry use together, and a kill that none of them escapes.
//!
//! Groups can be made where the kernel's root group is ours (root on a host without a manager of groups), or
//! where a group was delegated to us and nobody else is in it: `systemd-run --user --scope -p Delegate=yes`
//! makes such a scope. <https://docs.kernel.org/admin-guide/cgroup-v2.html>
//!
//! Best effort: an entry is never judged by it. The report tells which limits are there.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, io};

use crate::model::layer_status::{Layer, LayerName, LayerState};
use crate::model::units::Bytes;
use crate::model::words::counted;
use crate::sandbox::fs::guardian::{Guardian, Kind};
use crate::sandbox::fs::host_directory::own_name;
use crate::sandbox::inspect::process;
use crate::sandbox::limits::rlimits;

/// The name of gate4k's own group in a group that was delegated: a group that hands limits on may hold no process.
const SELF: &str = "gate4k-self";
/// The time that a group may take to empty itself after its processes were killed.
const EMPTYING: Duration = Duration::from_secs(5);

/// The place of this host in which groups can be made, and their powers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Groups {
    base: PathBuf,
    can: BTreeSet<GroupPower>,
}

/// A thing that the groups of a host can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum GroupPower {
    /// Limit the memory.
    Memory,
    /// Limit the number of tasks.
    Pids,
    /// Kill all that is in one at once.
    Kill,
}

impl GroupPower {
    /// The powers that a group hands on to those below it.
    const HANDED_ON: [GroupPower; 2] = [GroupPower::Memory, GroupPower::Pids];

    /// Its name in the kernel.
    fn name(self) -> &'static str {
        match self {
            GroupPower::Memory => "memory",
            GroupPower::Pids => "pids",
            GroupPower::Kill => "cgroup.kill",
        }
    }

    /// Its name, and the limit that is set with it.
    fn in_use(self) -> String {
        match self {
            GroupPower::Memory => {
                format!("memory.max {}", rlimits::memory(rlimits::host_memory()).human())
            }
            GroupPower::Pids => format!("pids.max {}", rlimits::TASKS),
            GroupPower::Kill => self.name().to_owned(),
        }
    }
}

impl Groups {
    /// Finds the place and tries it with a group that holds nothing.
    ///
    /// # Errors
    /// In words, why none can be made.
    pub(crate) fn find() -> Result<Groups, String> {
        let read = |path: &str| fs::read_to_string(path).map_err(|e| format!("{path}: {e}"));
        let own = own_group(&read("/proc/self/mountinfo")?, &read("/proc/self/cgroup")?)
            .ok_or("cgroup v2 is not mounted")?;
        Groups::at(own)
    }

    /// As [`Groups::find`], with our own group given.
    fn at(own: PathBuf) -> Result<Groups, String> {
        let shown = own.display();
        let available = fs::read_to_string(own.join("cgroup.controllers"))
            .map_err(|e| format!("{shown} cannot be read: {e}"))?;
        let has = |name: &str| available.split_whitespace().any(|word| word == name);
        let mut can: BTreeSet<GroupPower> =
            GroupPower::HANDED_ON.into_iter().filter(|power| has(power.name())).collect();
        // Only the root group may hold processes and hand limits on; it has no events of its own.
        if own.join("cgroup.events").exists() {
            alone_in(&own)?;
            enter(&own.join(SELF), std::process::id())
                .map_err(|e| format!("{shown} is not delegated to us: {e}"))?;
        }
        for name in can.iter().map(|power| power.name()) {
            fs::write(own.join("cgroup.subtree_control"), format!("+{name}"))
                .map_err(|e| format!("{shown} does not hand on the limits of {name}: {e}"))?;
        }
        let try_out = own.join(own_name());
        fs::create_dir(&try_out).map_err(|e| format!("no group can be made in {shown}: {e}"))?;
        if try_out.join("cgroup.kill").exists() {
            can.insert(GroupPower::Kill);
        }
        fs::remove_dir(&try_out).map_err(|e| format!("no group can be removed in {shown}: {e}"))?;
        Ok(Groups { base: own, can })
    }

    /// The layer of these groups, with the limits that they set and those that are missing.
    fn layer(&self) -> Layer {
        let has: Vec<String> = self.can.iter().map(|power| power.in_use()).collect();
        let all = [GroupPower::Memory, GroupPower::Pids, GroupPower::Kill].into_iter();
        let lacks: Vec<&str> =
            all.filter(|power| !self.can.contains(power)).map(GroupPower::name).collect();
        let state = match (has.is_empty(), lacks.is_empty()) {
            (_, true) => LayerState::Enforced,
            (true, _) => LayerState::Absent,
            _ => LayerState::Partial,
        };
        let mut reason = has.join(", ");
        if !lacks.is_empty() {
            let lacks = lacks.join(" and ");
            let what = format!("cgroup v2 has no {lacks} in {}", self.base.display());
            reason = if has.is_empty() { what } else { format!("{reason}; {what}") };
        }
        Layer { name: LayerName::Cgroup, state, reason }
    }

    /// The group of all entries of one supervisor.
    pub(in crate::sandbox) fn open(&self) -> io::Result<Top> {
        let path = self.base.join(own_name());
        let mut guardian = Guardian::of(&path, Kind::Cgroup);
        if let Err(error) = fs::create_dir(&path) {
            guardian.dismiss(true);
            return Err(error);
        }
        let top = Top { groups: self.clone(), path, guardian };
        for power in GroupPower::HANDED_ON.iter().filter(|power| self.can.contains(power)) {
            let name = power.name();
            fs::write(top.path.join("cgroup.subtree_control"), format!("+{name}"))?;
        }
        Ok(top)
    }
}

/// The layer as it is on this host.
#[must_use]
pub(in crate::sandbox) fn layer(groups: &Result<Groups, String>) -> Layer {
    match groups {
        Ok(groups) => groups.layer(),
        Err(why) => {
            Layer { name: LayerName::Cgroup, state: LayerState::Absent, reason: why.clone() }
        }
    }
}

/// The directory of our own group.
fn own_group(mounts: &str, groups: &str) -> Option<PathBuf> {
    // proc_pid_mountinfo(5): root and mount point are fields 4 and 5, the type follows the dash.
    let (root, point) = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        (after.split(' ').next()? == "cgroup2").then_some((fields.next()?, fields.next()?))
    })?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let below = Path::new(own).strip_prefix(root).ok()?;
    let point = Path::new(point);
    Some(if below.as_os_str().is_empty() { point.to_owned() } else { point.join(below) })
}

/// Fails, with the reason, unless we are the only process of a group.
fn alone_in(group: &Path) -> Result<(), String> {
    let shown = group.display();
    let inside = fs::read_to_string(group.join("cgroup.procs"))
        .map_err(|e| format!("{shown} cannot be read: {e}"))?;
    let own = std::process::id().to_string();
    let others = inside.lines().filter(|pid| *pid != own).count();
    match others {
        0 => Ok(()),
        others => Err(format!("our group {shown} holds {}", counted(others, "other process"))),
    }
}

/// Makes a group, unless it is there, and puts a process into it.
fn enter(group: &Path, pid: u32) -> io::Result<()> {
    match fs::create_dir(group) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    fs::write(group.join("cgroup.procs"), pid.to_string())
}

/// The group of one supervisor.
#[derive(Debug)]
pub(in crate::sandbox) struct Top {
    groups: Groups,
    path: PathBuf,
    guardian: Guardian,
}

impl Top {
    /// The group of one entry, empty yet.
    pub(in crate::sandbox) fn group(
        self: &Arc<Top>,
        memory: Bytes,
        tasks: u32,
        namespaces: bool,
    ) -> io::Result<Group> {
        let path = self.path.join(own_name());
        fs::create_dir(&path)?;
        let directory = fs::File::open(&path)?;
        let group = Group { path, directory, memory, top: Arc::clone(self) };
        if self.groups.can.contains(&GroupPower::Memory) {
            fs::write(group.path.join("memory.max"), memory.0.to_string())?;
            // One process that the kernel kills for want of memory takes the others along.
            fs::write(group.path.join("memory.oom.group"), "1")?;
        }
        if self.groups.can.contains(&GroupPower::Pids) {
            let counted = rlimits::counted_tasks(tasks, namespaces);
            fs::write(group.path.join("pids.max"), counted.to_string())?;
        }
        Ok(group)
    }
}

impl Drop for Top {
    fn drop(&mut self) {
        let gone = remove(&self.path);
        self.guardian.dismiss(gone);
    }
}

/// The group of one entry. It goes with its processes.
#[derive(Debug)]
pub(in crate::sandbox) struct Group {
    path: PathBuf,
    directory: fs::File,
    memory: Bytes,
    top: Arc<Top>,
}

impl Group {
    /// The group for clone3: what is born there starts everything else there as well.
    pub(in crate::sandbox) fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// The limit of memory, where the kernel has killed a process because of it: a growth so fast that
    /// nobody who looks now and then has seen it.
    pub(in crate::sandbox) fn ran_out(&self) -> Option<Bytes> {
        let events = fs::read_to_string(self.path.join("memory.events")).ok()?;
        (process::killed_for_memory(&events) > 0).then_some(self.memory)
    }

    /// Kills everything in it, at once, whatever is being born.
    pub(in crate::sandbox) fn kill(&self) {
        if self.top.groups.can.contains(&GroupPower::Kill) {
            // Empty or gone is what was wanted.
            let _ = fs::write(self.path.join("cgroup.kill"), "1");
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        // A group that cannot be removed now goes with the group above it.
        remove(&self.path);
    }
}

/// Removes a group as soon as it is empty; true if it is gone.
fn remove(group: &Path) -> bool {
    let deadline = Instant::now() + EMPTYING;
    loop {
        match fs::remove_dir(group) {
            Ok(()) => return true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return true,
            Err(error)
                if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_group_is_found_below_its_mount() {
        let mounts = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - tmpfs tmpfs rw\n\
                      31 23 0:27 /user.slice /sys/fs/cgroup/unified rw shared:4 - cgroup2 cgroup2 rw\n";
        let own = |groups| own_group(mounts, groups);
        assert_eq!(
            own("1:cpu:/x\n0::/user.slice/a.scope\n"),
            Some("/sys/fs/cgroup/unified/a.scope".into())
        );
        assert_eq!(own("0::/user.slice\n"), Some("/sys/fs/cgroup/unified".into()));
        assert_eq!(own("0::/system.slice\n"), None);
        assert_eq!(own_group("", "0::/\n"), None);
    }

    fn layer_of(can: &[GroupPower]) -> Layer {
        Groups { base: "/g".into(), can: can.iter().copied().collect() }.layer()
    }

    #[test]
    fn what_is_missing_is_named() {
        use GroupPower::{Kill, Memory, Pids};
        assert_eq!(layer_of(&[Memory, Pids, Kill]).state, LayerState::Enforced);
        let partial = layer_of(&[Kill]);
        assert_eq!(partial.state, LayerState::Partial);
        assert_eq!(partial.reason, "cgroup.kill; cgroup v2 has no memory and pids in /g");
        assert_eq!(layer_of(&[]).state, LayerState::Absent);
    }

    #[test]
    fn a_group_with_others_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        write("cgroup.controllers", "memory pids\n");
        write("cgroup.events", "populated 1\n");
        write("cgroup.procs", &format!("1\n{}\n", std::process::id()));
        let error = Groups::at(dir.path().to_owned()).unwrap_err();
        assert!(error.contains("holds 1 other process"), "{error}");
        assert!(!dir.path().join(SELF).exists());
    }

    #[test]
    fn a_delegated_group_is_divided() {
        // A directory that looks like a group shows what is written where.
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        write("cgroup.controllers", "cpu memory pids\n");
        write("cgroup.events", "populated 1\n");
        write("cgroup.procs", &format!("{}\n", std::process::id()));
        let groups = Groups::at(dir.path().to_owned()).unwrap();
        assert_eq!(groups.can, BTreeSet::from(GroupPower::HANDED_ON));
        let own = fs::read_to_string(dir.path().join(SELF).join("cgroup.procs")).unwrap();
        assert_eq!(own, std::process::id().to_string());
    }
}
