//! The private places of one run: where the entry is staged, and where it may write.

use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::sandbox::fs::clear::clear;
use crate::sandbox::fs::host_directory::HostDirectory;
use crate::sandbox::fs::writable::{self, HOME};
use crate::sandbox::plan::{SandboxError, Staging, StartPlan};
use crate::sandbox::users::ids;

/// Names the step that failed.
pub(in crate::sandbox) fn setup(step: &'static str) -> impl Fn(io::Error) -> SandboxError {
    move |source| SandboxError::Setup { step, path: None, source }
}

/// Names the step that failed, and on what.
pub(in crate::sandbox) fn at(
    step: &'static str,
    path: &Path,
) -> impl Fn(io::Error) -> SandboxError {
    let path = path.to_owned();
    move |source| SandboxError::Setup { step, path: Some(path.clone()), source }
}

/// The workspace on the host's file system, where there is no mount namespace.
#[derive(Debug)]
pub(in crate::sandbox) struct Dirs {
    pub(in crate::sandbox) top: TempDir,
    /// The directory that it lies in; goes after it.
    host_directory: Arc<HostDirectory>,
}

/// The way to the workspace when the run is over.
#[derive(Debug)]
pub(in crate::sandbox) enum Workspace {
    /// In the namespace's root, held by a descriptor, with the directories of the host that are bound at their own path there.
    Inside(File, Vec<PathBuf>, StagedEntry),
    /// In a directory of the host.
    OnHost(
        #[expect(dead_code, reason = "removes the directories when dropped")] Dirs,
        Vec<WatchedDirectory>,
    ),
}

impl Workspace {
    /// HOME as reports show it.
    pub(in crate::sandbox) fn home(&self) -> &'static str {
        match self {
            Workspace::Inside(..) => HOME,
            Workspace::OnHost(..) => "$HOME",
        }
    }

    /// The file system that is the entry's alone, where it has one.
    pub(in crate::sandbox) fn own_file_system(&self) -> Option<File> {
        match self {
            Workspace::Inside(root, ..) => root.try_clone().ok(),
            Workspace::OnHost(..) => None,
        }
    }

    pub(in crate::sandbox) fn watched(&self) -> Vec<WatchedDirectory> {
        match self {
            Workspace::Inside(root, bound, entry) => {
                let base = PathBuf::from(format!("/proc/self/fd/{}", root.as_raw_fd()));
                let places = writable::places().iter().map(PathBuf::as_path);
                places
                    .chain([entry.folder()])
                    .map(|dir| WatchedDirectory {
                        real: base.join(dir.strip_prefix("/").unwrap_or(dir)),
                        inside: dir.to_owned(),
                        shown: dir.to_owned(),
                        bound: bound.clone(),
                        entry: entry.in_folder(dir),
                    })
                    .collect()
            }
            Workspace::OnHost(_, watched) => watched.clone(),
        }
    }
}

/// A directory that must be empty at the end.
#[derive(Clone, Debug)]
pub(in crate::sandbox) struct WatchedDirectory {
    /// Its path for gate4k.
    pub(in crate::sandbox) real: PathBuf,
    /// Its path for the entry.
    pub(in crate::sandbox) inside: PathBuf,
    /// Its name in reports.
    pub(in crate::sandbox) shown: PathBuf,
    /// Directories of the host that are bound there, as the entry names them: they and those above them are not the entry's.
    pub(in crate::sandbox) bound: Vec<PathBuf>,
    /// The entry's own file, where it lies there: as it was handed in, it is nothing that was left.
    pub(in crate::sandbox) entry: Option<StagedEntry>,
}

/// The copy of an entry that is started.
#[derive(Clone, Debug)]
pub(in crate::sandbox) struct StagedEntry {
    /// As the entry knows it.
    pub(in crate::sandbox) path: PathBuf,
    pub(in crate::sandbox) bytes: Arc<[u8]>,
}

impl StagedEntry {
    /// The directory that it lies in, alone.
    pub(in crate::sandbox) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// The entry, if it lies in this directory.
    fn in_folder(&self, directory: &Path) -> Option<StagedEntry> {
        (directory == self.folder()).then(|| self.clone())
    }
}

impl WatchedDirectory {
    /// The entry's name for a path below it, which is ours.
    pub(in crate::sandbox) fn named_inside(&self, path: &Path) -> PathBuf {
        self.inside.join(path.strip_prefix(self.real.join(".")).unwrap_or(path))
    }
}

/// A name that carries no information.
fn neutral() -> String {
    // Each RandomState is seeded by the operating system.
    format!("{:08x}", RandomState::new().build_hasher().finish() as u32)
}

/// The path under which the entry is staged below `top`.
pub(in crate::sandbox) fn staged(plan: &StartPlan, top: &Path) -> PathBuf {
    match &plan.staging {
        Staging::Neutral => top.join("entry").join(neutral()),
        Staging::Blank => top.join("my entry").join(neutral()),
        // Only a last component counts: a name can not lead elsewhere.
        Staging::OwnName(name) => {
            top.join("entry").join(Path::new(name).file_name().unwrap_or("entry".as_ref()))
        }
    }
}

/// The parts of a workspace on the host.
pub(in crate::sandbox) const DIRS: [&str; 3] = ["work", "home", "tmp"];

/// The longest time for clearing a workspace before the next entry is judged: millions of files must not hold a batch up.
const CLEARING: Duration = Duration::from_secs(10);

impl Drop for Dirs {
    fn drop(&mut self) {
        // A file that cannot be removed even so, or not in this time, is left to the guardian of the directory that it lies in.
        if clear(self.top.path(), Instant::now() + CLEARING).is_err() {
            self.top.disable_cleanup(true);
            self.host_directory.is_left();
        }
    }
}

/// Lets the entry write in a directory of its workspace on the host.
fn give(path: &Path) -> Result<(), SandboxError> {
    let who = ids(false);
    if who.switch {
        std::os::unix::fs::chown(path, Some(who.uid), Some(who.gid))
            .map_err(at("giving a directory to the entry", path))?;
    }
    Ok(())
}

impl Dirs {
    pub(in crate::sandbox) fn new(
        host_directory: Arc<HostDirectory>,
    ) -> Result<Dirs, SandboxError> {
        let top = tempfile::Builder::new()
            .prefix("run-")
            .tempdir_in(host_directory.path())
            .map_err(setup("making a private directory"))?;
        std::fs::set_permissions(top.path(), PermissionsExt::from_mode(0o711))
            .map_err(at("opening the private directory to the entry", top.path()))?;
        for name in DIRS {
            let path = top.path().join(name);
            std::fs::create_dir(&path).map_err(at("making a private directory", &path))?;
            give(&path)?;
        }
        Ok(Dirs { top, host_directory })
    }

    /// Makes the directory in which the entry is staged, where it may write as well.
    pub(in crate::sandbox) fn make_room(entry: &Path) -> Result<(), SandboxError> {
        let Some(dir) = entry.parent() else { return Ok(()) };
        std::fs::create_dir(dir).map_err(at("making the entry's directory", dir))?;
        give(dir)
    }

    pub(in crate::sandbox) fn into_workspace(self, entry: StagedEntry) -> Workspace {
        let shown = |name: &str| match name {
            "work" => PathBuf::from("."),
            "home" => PathBuf::from("$HOME"),
            _ => PathBuf::from("$TMPDIR"),
        };
        let places = DIRS.iter().map(|name| (self.top.path().join(name), shown(name)));
        let watched = places
            .chain([(entry.folder().to_owned(), PathBuf::from("${0%/*}"))])
            .map(|(real, shown)| WatchedDirectory {
                entry: entry.in_folder(&real),
                inside: real.clone(),
                real,
                shown,
                bound: Vec::new(),
            })
            .collect();
        Workspace::OnHost(self, watched)
    }
}
