//! Finds the program files of this host behind a command's name.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::allowlist::Allowlist;
use super::places::{Expander, children};

/// Where an ordinary system keeps commands, in the order in which PATH has them.
pub(crate) const SYSTEM_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// True for a directory in which an event's machine may have programs.
pub(crate) fn is_systems(directory: &str) -> bool {
    SYSTEM_PATH.contains(&directory) || directory.starts_with("/opt/")
}

/// A name and the real file behind it.
#[derive(Debug)]
pub(super) struct FoundProgram {
    pub(super) name: String,
    pub(super) real: PathBuf,
}

/// A walk over the names of the allow-list.
pub(super) struct NameWalk<'a> {
    list: &'a Allowlist,
    path: Vec<PathBuf>,
    pub(super) found: Vec<FoundProgram>,
    /// The directory of a Rust toolchain outside the system's directories.
    pub(super) rust: Option<PathBuf>,
    expander: Expander,
}

impl<'a> NameWalk<'a> {
    pub(super) fn new(list: &'a Allowlist) -> NameWalk<'a> {
        let user = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::split_paths(&user).filter(|dir| dir.is_absolute()).collect();
        NameWalk { list, path, found: Vec::new(), rust: None, expander: Expander::default() }
    }

    pub(super) fn command(&mut self, name: &str) {
        let mut places: Vec<PathBuf> =
            SYSTEM_PATH.iter().map(|dir| Path::new(dir).join(name)).collect();
        if let Some(helper) = self.list.helper(name) {
            for place in &helper.places {
                places.extend(self.expander.expand_beside(place, self.rust.as_deref()));
            }
        }
        let before = self.found.len();
        for place in places {
            self.take(name, &place);
        }
        if self.found.len() == before && self.list.command(name).is_some() {
            for dir in self.path.clone() {
                if self.take(name, &dir.join(name)) {
                    break;
                }
            }
        }
    }

    /// Takes the real program at `place`, if there is one that this user may run.
    fn take(&mut self, name: &str, place: &Path) -> bool {
        let Ok(real) = place.canonicalize() else {
            return false;
        };
        let Some(real) = self.behind_shim(name, place, real) else {
            return false;
        };
        let runs = std::fs::metadata(&real)
            .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
        if !runs {
            return false;
        }
        if (name == "rustc" || name == "cargo") && !real.starts_with("/usr") {
            self.rust = real.parent().and_then(Path::parent).map(Path::to_owned);
        }
        if !self.found.iter().any(|f| f.name == name && f.real == real) {
            self.found.push(FoundProgram { name: name.to_owned(), real });
        }
        true
    }

    /// Looks behind what only stands in front of the program.
    fn behind_shim(&self, name: &str, place: &Path, real: PathBuf) -> Option<PathBuf> {
        let base = real.file_name()?.to_string_lossy().into_owned();
        match base.as_str() {
            "rustup" | "rustup-init" => rustup(name)?.canonicalize().ok(),
            // It writes its cache into HOME; the compiler itself is further down PATH.
            "ccache" | "distcc" | "icecc" => None,
            _ if place.parent().is_some_and(|dir| dir.ends_with("shims")) => {
                pyenv(place.parent()?.parent()?, name)?.canonicalize().ok()
            }
            _ => Some(real),
        }
    }
}

/// The toolchain's own program behind the rustup proxy: the environment's choice, else the default.
fn rustup(name: &str) -> Option<PathBuf> {
    let home = std::env::var_os("RUSTUP_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".rustup")))?;
    let chosen = std::env::var("RUSTUP_TOOLCHAIN").ok().or_else(|| {
        let settings = std::fs::read_to_string(home.join("settings.toml")).ok()?;
        let settings: toml::Table = settings.parse().ok()?;
        Some(settings.get("default_toolchain")?.as_str()?.to_owned())
    })?;
    let toolchains = home.join("toolchains");
    let exact = toolchains.join(&chosen).join("bin").join(name);
    if exact.is_file() {
        return Some(exact);
    }
    // `stable` is short for `stable-x86_64-unknown-linux-gnu`.
    let longer = |dir: &PathBuf| {
        dir.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&format!("{chosen}-")))
    };
    children(&toolchains).into_iter().find(longer).map(|dir| dir.join("bin").join(name))
}

/// The interpreter that pyenv's global version has under this name.
fn pyenv(root: &Path, name: &str) -> Option<PathBuf> {
    let versions = std::fs::read_to_string(root.join("version")).ok()?;
    versions
        .split_whitespace()
        .map(|version| root.join("versions").join(version).join("bin").join(name))
        .find(|place| place.is_file())
}
