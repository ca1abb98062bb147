//! A child's instructions, worked out before it is cloned: its root, its rights, its program, its environment.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use libc::sock_filter;

use crate::model::evidence::Shell;
use crate::model::lock::lock;
use crate::model::units::Bytes;
use crate::sandbox::child::{Attempt, ChildSetup, Ids, InnerRule, Root, SetupStep};
use crate::sandbox::filter::seccomp;
use crate::sandbox::fs::devices;
use crate::sandbox::fs::host_directory::HostDirectory;
use crate::sandbox::fs::landlock::{self, Grants, LandlockRules};
use crate::sandbox::fs::root::{self, STAGED, c};
use crate::sandbox::fs::workspace::{DIRS, Dirs, setup};
use crate::sandbox::fs::writable::{self, HOME, WORK};
use crate::sandbox::inspect::process;
use crate::sandbox::limits::cgroup::{Group, Groups, Top};
use crate::sandbox::limits::rlimits;
use crate::sandbox::plan::{SandboxError, StartPlan};
use crate::sandbox::users;

/// The settings that all runs on this host share.
#[derive(Debug, Default)]
pub struct HostSettings {
    /// True if entries get namespaces of their own.
    pub(crate) namespaces: bool,
    /// The host's files that an entry may use.
    pub(crate) grants: Grants,
    /// PATH inside.
    pub(crate) path: Vec<PathBuf>,
    /// dash and bash, where the host has them.
    pub(crate) dash: Option<PathBuf>,
    /// See [`HostSettings::dash`].
    pub(crate) bash: Option<PathBuf>,
    /// Mappings of 4 GiB or more reserve no memory, so that an entry that asks for more than the machine
    /// has is judged on what it touches.
    pub(crate) lazy_memory: bool,
    /// The groups in which entries get cgroups of their own, if there are any.
    pub(crate) cgroups: Option<Groups>,
    /// The memory that all processes of an entry may really use together.
    pub memory: Bytes,
    /// The number of processes and threads that it may have.
    pub tasks: u32,
}

/// The host with everything looked up that each start needs.
#[derive(Debug)]
pub(super) struct HostReady {
    pub(super) host: HostSettings,
    rules: Mutex<Option<Arc<LandlockRules>>>,
    /// Granted directories outside the system's, to be bound at their own path.
    more: Vec<PathBuf>,
    /// The steps that build the root that all entries have in common.
    common: OnceLock<Arc<[SetupStep]>>,
    ids: OnceLock<Ids>,
    filter: OnceLock<Arc<[sock_filter]>>,
    host_directory: OnceLock<Arc<HostDirectory>>,
    top: OnceLock<Arc<Top>>,
}

impl HostReady {
    /// The host's directories outside the system's that are bound at their own path.
    pub(super) fn bound(&self) -> &[PathBuf] {
        &self.more
    }

    pub(super) fn new(host: HostSettings) -> HostReady {
        let granted = host.grants.read.iter().chain(&host.grants.execute).map(|path| {
            if path.is_dir() { path.clone() } else { path.parent().unwrap_or(path).to_owned() }
        });
        let mut more = root::outside_system(granted);
        if !host.grants.accelerators.is_empty() {
            // Of /sys there is otherwise only the part on processors and memory.
            more.extend(devices::sysfs());
        }
        HostReady {
            host,
            rules: Mutex::new(None),
            more,
            common: OnceLock::new(),
            ids: OnceLock::new(),
            filter: OnceLock::new(),
            host_directory: OnceLock::new(),
            top: OnceLock::new(),
        }
    }

    /// The grants as the host's files are now.
    fn rules(&self) -> Result<Arc<LandlockRules>, SandboxError> {
        let mut rules = lock(&self.rules);
        if let Some(opened) = rules.as_ref().filter(|opened| opened.still_hold()) {
            return Ok(Arc::clone(opened));
        }
        // Those of before hold a descriptor for each file.
        *rules = None;
        let opened = Arc::new(LandlockRules::open(&self.host.grants)?);
        Ok(Arc::clone(rules.insert(opened)))
    }

    /// The user and group that entries run as.
    pub(super) fn ids(&self) -> Ids {
        *self.ids.get_or_init(|| users::ids(self.host.namespaces))
    }

    fn common(&self) -> Arc<[SetupStep]> {
        let make =
            || root::common(&self.more, &self.host.grants.accelerators, self.host.memory).into();
        Arc::clone(self.common.get_or_init(make))
    }

    fn filter(&self) -> Arc<[sock_filter]> {
        let make = || seccomp::program(self.host.namespaces).into();
        Arc::clone(self.filter.get_or_init(make))
    }

    /// A cgroup for one entry, where there can be any.
    pub(super) fn group(&self) -> Result<Option<Group>, SandboxError> {
        let Some(groups) = &self.host.cgroups else {
            return Ok(None);
        };
        let top = match self.top.get() {
            Some(top) => top,
            None => {
                let made = Arc::new(groups.open().map_err(setup("making a cgroup"))?);
                self.top.get_or_init(|| made)
            }
        };
        let HostSettings { memory, tasks, namespaces, .. } = self.host;
        top.group(memory, tasks, namespaces).map(Some).map_err(setup("making a cgroup"))
    }

    /// The directory of all workspaces on the host's file system, made when the first is needed.
    pub(super) fn host_directory(&self) -> Result<Arc<HostDirectory>, SandboxError> {
        if let Some(made) = self.host_directory.get() {
            return Ok(Arc::clone(made));
        }
        let made = Arc::new(HostDirectory::new().map_err(setup("making a private directory"))?);
        // Of two that were made at once the second goes away again.
        Ok(Arc::clone(self.host_directory.get_or_init(|| made)))
    }
}

/// Works it out for one start.
pub(super) fn child_setup(
    prepared: &HostReady,
    plan: &StartPlan,
    entry: &Path,
    dirs: Option<&Dirs>,
) -> Result<ChildSetup, SandboxError> {
    let host = &prepared.host;
    let rules = |paths: &[(PathBuf, u64)]| {
        paths.iter().map(|(path, rights)| InnerRule { path: c(path), rights: *rights }).collect()
    };
    let workspace = landlock::workspace_rights();
    let entry_dir = entry.parent().unwrap_or(Path::new("/")).to_owned();
    let mut inner = vec![(entry_dir, workspace)];
    let (root, staging, cwd, home, tmp);
    match dirs {
        None => {
            root = Some(Root {
                common: prepared.common(),
                staging: root::staging(entry, &plan.bytes),
            });
            staging = None;
            inner.extend(writable::places().iter().map(|dir| (dir.clone(), workspace)));
            inner.push((PathBuf::from("/proc"), landlock::read_rights()));
            (cwd, home, tmp) = (PathBuf::from(WORK), PathBuf::from(HOME), None);
        }
        Some(dirs) => {
            root = None;
            let bytes = Arc::clone(&plan.bytes);
            staging = Some(SetupStep::File { path: c(entry), mode: STAGED, bytes });
            let top = dirs.top.path();
            for name in DIRS {
                inner.push((top.join(name), workspace));
            }
            (cwd, home, tmp) = (top.join("work"), top.join("home"), Some(top.join("tmp")));
        }
    }
    Ok(ChildSetup {
        root,
        staging,
        inner_rules: rules(&inner),
        landlock: prepared.rules()?.ruleset()?,
        seccomp: prepared.filter(),
        rlimits: rlimits::rlimits(host.namespaces.then_some(host.tasks)),
        ids: prepared.ids(),
        cwd: c(&cwd),
        attempts: attempts(host, plan, entry),
        env: environment(host, &home, tmp.as_deref()),
        arguments: process::own_arguments(),
        probe: false,
    })
}

/// The programs to execute: the file itself, then (after ENOEXEC, as execvp does) a shell that reads it; or the
/// shell that the plan names, as if it were `/bin/sh`.
fn attempts(host: &HostSettings, plan: &StartPlan, entry: &Path) -> Vec<Attempt> {
    let shell = match plan.shell {
        Shell::AsIs => None,
        Shell::Dash => host.dash.as_deref(),
        Shell::Bash => host.bash.as_deref(),
    };
    match shell {
        None => vec![
            Attempt { path: c(entry), argv: vec![c(entry)] },
            Attempt { path: c("/bin/sh"), argv: vec![c("/bin/sh"), c(entry)] },
        ],
        Some(shell) => {
            // A shell that is called `sh` behaves as the host's sh would.
            let mut argv = vec![c("sh")];
            argv.extend(shebang_argument(&plan.bytes));
            argv.push(c(entry));
            vec![Attempt { path: c(shell), argv }]
        }
    }
}

/// The one argument that the kernel hands on from a `#!` line.
fn shebang_argument(bytes: &[u8]) -> Option<CString> {
    let line = bytes.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = line.trim_ascii();
    let blank = line.iter().position(|byte| matches!(byte, b' ' | b'\t'))?;
    Some(c(OsStr::from_bytes(line.get(blank..)?.trim_ascii())))
}

fn environment(host: &HostSettings, home: &Path, tmp: Option<&Path>) -> Vec<CString> {
    let path = host.path.iter().map(|dir| dir.to_string_lossy()).collect::<Vec<_>>().join(":");
    let mut variables = vec![
        format!("PATH={path}"),
        format!("HOME={}", home.display()),
        "USER=entry".into(),
        "LOGNAME=entry".into(),
        "SHELL=/bin/sh".into(),
        "LANG=C.UTF-8".into(),
    ];
    if let Some(tmp) = tmp {
        variables.push(format!("TMPDIR={}", tmp.display()));
    }
    variables.into_iter().map(c).collect()
}
