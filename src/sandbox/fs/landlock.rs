//! Files and programs: the Landlock ruleset.
//!
//! Rights are granted per program file and per library directory, never on /usr/bin or /usr/lib whole,
//! because what can be read can be used (facts of the rules against the kernel: ld.so runs any ELF that
//! it can read). <https://docs.kernel.org/userspace-api/landlock.html>

use std::collections::{BTreeMap, HashSet};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathFd, PathFdError,
    Ruleset, RulesetAttr, Scope,
};

use crate::sandbox::child;
use crate::sandbox::plan::SandboxError;

/// The oldest interface that is enough: files, links between directories (2) and truncation (3).
pub(in crate::sandbox) const LEAST_ABI: i32 = 3;

/// The newest interface whose rights this program knows.
const NEWEST: ABI = ABI::V10;

/// The host's files that an entry may use, by the kind of use. Paths are real paths (no links).
#[derive(Clone, Debug, Default)]
pub(crate) struct Grants {
    /// Program files that may be executed (and read).
    pub(crate) execute: Vec<PathBuf>,
    /// The program files that may be started with certain arguments alone: no two of their starts are alike.
    pub(crate) with_arguments: Vec<PathBuf>,
    /// Files and directory trees that may be read.
    pub(crate) read: Vec<PathBuf>,
    /// Directories whose names may be listed, without the right to read what is in them.
    pub(crate) list: Vec<PathBuf>,
    /// Device files that may be read and written.
    pub(crate) devices: Vec<PathBuf>,
    /// Device files whose driver may be spoken to as well (ioctl).
    pub(crate) accelerators: Vec<PathBuf>,
}

impl Grants {
    /// Device and inode of the programs that may be started with certain arguments alone, as they are now.
    pub(in crate::sandbox) fn bound(&self) -> HashSet<(u64, u64)> {
        let found = self.with_arguments.iter().filter_map(|path| std::fs::metadata(path).ok());
        found.map(|file| (file.dev(), file.ino())).collect()
    }
}

/// The rights that this kernel and this program know: any other is refused by the kernel, not left out.
fn known() -> BitFlags<AccessFs> {
    AccessFs::from_all(ABI::from(child::landlock_abi()).min(NEWEST))
}

/// All that an entry may do in its own workspace.
pub(in crate::sandbox) fn workspace_rights() -> u64 {
    // IoctlDev and MakeChar/MakeBlock stay out: there are no devices of its own.
    (known() & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev)).bits()
}

/// To read a tree.
pub(in crate::sandbox) fn read_rights() -> u64 {
    (AccessFs::ReadFile | AccessFs::ReadDir).bits()
}

/// The host's grants, looked up: every start of an entry makes its ruleset of them.
#[derive(Debug)]
pub(in crate::sandbox) struct LandlockRules {
    rules: Vec<(PathFd, BitFlags<AccessFs>)>,
    /// The directories that the granted files lie in, as they were.
    folders: BTreeMap<PathBuf, Option<SystemTime>>,
}

/// The time when a name in a directory last changed.
fn changed(folder: &Path) -> Option<SystemTime> {
    std::fs::metadata(folder).ok()?.modified().ok()
}

/// A granted path, where it is there and may be looked at.
fn opened(path: &Path) -> Result<Option<PathFd>, SandboxError> {
    use std::io::ErrorKind;
    let source = match PathFd::new(path) {
        Ok(file) => return Ok(Some(file)),
        Err(PathFdError::OpenCall { source, .. }) => source,
        Err(other) => std::io::Error::other(other),
    };
    match source.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied => Ok(None),
        _ => Err(SandboxError::Setup {
            step: "opening a file that entries may use",
            path: Some(path.to_owned()),
            source,
        }),
    }
}

impl LandlockRules {
    /// Opens the granted paths. A path that does not exist is left out: allow-lists name files that some hosts
    /// have and others lack; and a path that we may not even look at cannot be granted either.
    ///
    /// # Errors
    /// When this process may open no more files, or the kernel has no memory for them: an entry would be refused what it is
    /// granted.
    pub(in crate::sandbox) fn open(grants: &Grants) -> Result<LandlockRules, SandboxError> {
        let execute = AccessFs::Execute | AccessFs::ReadFile;
        let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
        let tree = AccessFs::ReadFile | AccessFs::ReadDir;
        let all = grants
            .execute
            .iter()
            .map(|path| (path, execute))
            .chain(grants.read.iter().map(|path| (path, tree)))
            .chain(grants.list.iter().map(|path| (path, AccessFs::ReadDir.into())))
            .chain(grants.devices.iter().map(|path| (path, device)))
            .chain(grants.accelerators.iter().map(|path| (path, device | AccessFs::IoctlDev)));
        let mut folders = BTreeMap::new();
        let mut rules = Vec::new();
        for (path, rights) in all {
            if let Some(folder) = path.parent()
                && !folders.contains_key(folder)
            {
                folders.insert(folder.to_owned(), changed(folder));
            }
            let Ok(about) = std::fs::metadata(path) else { continue };
            let names = BitFlags::from(AccessFs::ReadDir);
            let rights = if about.is_dir() { rights } else { rights & !names };
            if !rights.is_empty()
                && let Some(file) = opened(path)?
            {
                rules.push((file, rights));
            }
        }
        Ok(LandlockRules { rules, folders })
    }

    /// False where a file may have been replaced since: an upgrade of a package puts a new file in the place of the
    /// old, and the rule is about the old one.
    pub(in crate::sandbox) fn still_hold(&self) -> bool {
        self.folders.iter().all(|(folder, then)| changed(folder) == *then)
    }

    /// Makes a ruleset for one entry, to which its own workspace is still to be added.
    pub(in crate::sandbox) fn ruleset(&self) -> Result<OwnedFd, SandboxError> {
        let failed = |step: &'static str, error: &dyn std::fmt::Display| SandboxError::Setup {
            step,
            path: None,
            source: std::io::Error::other(error.to_string()),
        };
        let creating = "creating the Landlock ruleset";
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(ABI::V3))
            .map_err(|e| failed(creating, &e))?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(NEWEST))
            .map_err(|e| failed(creating, &e))?
            .handle_access(AccessNet::from_all(NEWEST))
            .map_err(|e| failed(creating, &e))?
            .scope(Scope::from_all(NEWEST))
            .map_err(|e| failed(creating, &e))?
            .create()
            .map_err(|e| failed(creating, &e))?;
        let ruleset = Option::<OwnedFd>::from(ruleset)
            .ok_or_else(|| failed(creating, &"the kernel enforces no Landlock rights"))?;
        let known = known();
        for (file, rights) in &self.rules {
            child::landlock_grant(ruleset.as_fd(), file.as_fd(), (*rights & known).bits())
                .map_err(|e| failed("adding a Landlock rule", &e))?;
        }
        Ok(ruleset)
    }
}
