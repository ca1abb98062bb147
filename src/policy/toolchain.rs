//! Finds the programs of this host behind the names of the allow-list, and what they need to run.
//!
//! The system's directories come before the user's PATH, so that a shim (pyenv, rustup, ccache) is only
//! looked behind where the system has no program of that name itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::allowlist::{Allowlist, Command, CommandClass, HostAccess};
use super::decide::{self, Above, Form, Origin, Program, Strictness};
use super::places::{Expander, children};
use super::{elf_needs, multi_call, pattern};
use crate::model::evidence::ProgramClass;
use crate::sandbox::plan::{Programs, Seen};
use crate::sandbox::{Grants, Host, capability, devices, limits};

/// Where an ordinary system keeps commands, in the order in which PATH has them.
const SYSTEM_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// Below these no entry can make a name.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/etc"];

/// The allow-list as it is on this host.
#[derive(Debug)]
pub struct Toolchain {
    list: Arc<Allowlist>,
    strictness: Strictness,
    /// What the sandbox grants.
    pub grants: Grants,
    /// PATH inside the sandbox.
    pub path: Vec<PathBuf>,
    /// Commands of rule 7.5, or granted by a waiver, that this host lacks.
    pub missing: Vec<String>,
    /// The host's own chess libraries; none of them is granted.
    pub chess_libraries: Vec<PathBuf>,
    known: HashMap<(u64, u64), Known>,
    found: Vec<Found>,
}

/// A program file of the host.
#[derive(Clone, Debug)]
struct Known {
    names: Vec<String>,
    form: Form,
}

/// A name and the real file behind it.
#[derive(Debug)]
struct Found {
    name: String,
    real: PathBuf,
}

impl Toolchain {
    /// Looks through the host.
    #[must_use]
    pub fn discover(list: Arc<Allowlist>, strictness: Strictness) -> Toolchain {
        let mut search = Search::new(&list);
        for name in decide::granted(&list, strictness) {
            search.command(name);
        }
        let Search { found, rust, .. } = search;
        let mut known: HashMap<(u64, u64), Known> = HashMap::new();
        for Found { name, real } in &found {
            let Ok(metadata) = std::fs::metadata(real) else {
                continue;
            };
            let entry = known
                .entry((metadata.dev(), metadata.ino()))
                .or_insert_with(|| Known { names: Vec::new(), form: multi_call::form(real) });
            if !entry.names.contains(name) {
                entry.names.push(name.clone());
            }
        }
        let has = |name: &str| found.iter().any(|f| f.name == name);
        let missing = (list.commands.iter())
            .filter(|c| c.class != CommandClass::Tolerated && !has(&c.name))
            .map(|c| c.name.to_string())
            .collect();
        let mut path: Vec<PathBuf> =
            SYSTEM_PATH.iter().map(PathBuf::from).filter(|dir| dir.is_dir()).collect();
        for Found { name, real } in &found {
            let in_system = SYSTEM_PATH.iter().any(|dir| Path::new(dir).join(name).exists());
            if let Some(dir) = real.parent()
                && list.command(name).is_some()
                && !in_system
                && !path.iter().any(|known| known == dir)
            {
                path.push(dir.to_owned());
            }
        }
        let (grants, chess_libraries) = grants(&list, &found, rust.as_deref());
        Toolchain { strictness, grants, path, missing, chess_libraries, known, found, list }
    }

    /// The real file of a command, where the host has it.
    #[must_use]
    pub fn shell(&self, name: &str) -> Option<PathBuf> {
        let place =
            SYSTEM_PATH.iter().map(|dir| Path::new(dir).join(name)).find(|p| p.is_file())?;
        let real = place.canonicalize().ok()?;
        let metadata = std::fs::metadata(&real).ok()?;
        self.known.contains_key(&(metadata.dev(), metadata.ino())).then_some(real)
    }

    /// Each command of the list, with the real file behind it where this host has one.
    pub fn commands(&self) -> impl Iterator<Item = (&Command, Option<&Path>)> {
        self.list.commands.iter().map(|command| {
            let found = self.found.iter().find(|found| found.name == *command.name);
            (command, found.map(|found| found.real.as_path()))
        })
    }

    /// What the sandbox needs to know of this host.
    #[must_use]
    pub fn host(&self, namespaces: bool) -> Host {
        Host {
            namespaces,
            grants: self.grants.clone(),
            path: self.path.clone(),
            dash: self.shell("dash"),
            bash: self.shell("bash"),
            lazy_memory: false,
            cgroups: None,
            memory: limits::memory(capability::memory()),
            tasks: limits::TASKS,
        }
    }

    /// The allowed programs in whose place the host has another file by now, by name: a package was upgraded.
    #[must_use]
    pub fn replaced(&self) -> Vec<&str> {
        let is_new = |found: &&Found| {
            let inode = std::fs::metadata(&found.real).map(|file| (file.dev(), file.ino()));
            !inode.is_ok_and(|inode| self.known.contains_key(&inode))
        };
        self.found.iter().filter(is_new).map(|found| &*found.name).collect()
    }

    /// A program that is not the file that was found, and stands in its place on the host by now. Where allowed programs
    /// lie no entry can write.
    fn put_in_its_place(&self, seen: &Seen) -> Option<Known> {
        let real = seen.real.as_ref().filter(|_| !seen.own)?;
        let here = std::fs::metadata(real).ok().map(|file| (file.dev(), file.ino()));
        let same = self.found.iter().filter(|found| found.real == *real);
        let names: Vec<String> = same.map(|found| found.name.clone()).collect();
        (!names.is_empty() && here.is_some() && here == seen.inode)
            .then(|| Known { names, form: multi_call::form(real) })
    }

    /// Whether tolerated commands are refused.
    #[must_use]
    pub fn strictness(&self) -> Strictness {
        self.strictness
    }

    /// Whether the sandbox lets this file of the host be read.
    #[must_use]
    pub fn grants_reading(&self, path: &Path) -> bool {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let granted = self.grants.read.iter().chain(&self.grants.execute);
        granted.into_iter().any(|granted| real.starts_with(granted))
    }

    /// The allow-list that this was made from.
    #[must_use]
    pub fn list(&self) -> &Allowlist {
        &self.list
    }
}

impl Programs for Toolchain {
    fn classify(&self, seen: &Seen, above: &[(String, ProgramClass)]) -> (ProgramClass, String) {
        let known = seen.inode.and_then(|inode| self.known.get(&inode)).cloned();
        let known = known.or_else(|| self.put_in_its_place(seen));
        let (names, form) = match &known {
            Some(known) => (known.names.iter().map(String::as_str).collect(), known.form),
            None => (Vec::new(), Form::Ordinary),
        };
        let names: Vec<&str> = names;
        // A link of the entry's own may have any name; what it leads to has one.
        let made_up = !SYSTEM.iter().any(|dir| seen.asked.starts_with(dir));
        let asked = match &seen.real {
            Some(real) if made_up && !seen.own && names.is_empty() => real.to_string_lossy(),
            _ => seen.asked.to_string_lossy(),
        };
        let argv: Vec<&str> = seen.argv.iter().map(String::as_str).collect();
        let above: Vec<Above<'_>> =
            above.iter().map(|(name, class)| Above { name, class: *class }).collect();
        let program = Program {
            known_as: &names,
            asked: &asked,
            argv: &argv,
            form,
            origin: if seen.own { Origin::Workspace } else { Origin::Host },
        };
        let decision = decide::program(&self.list, &program, &above, self.strictness);
        (decision.class, decision.name)
    }

    fn cache(
        &self,
        path: &str,
        home: &str,
        made_by: Option<&str>,
        head: Option<&[u8]>,
    ) -> Option<String> {
        let cache = self.list.cache(path, home, made_by)?;
        let fits = head.is_none_or(|head| cache.accepts(head));
        fits.then(|| format!("{} ({})", &*cache.path, cache.ground()))
    }

    fn looks_around(&self, name: &str) -> bool {
        // Compilers search PATH for their helpers by themselves.
        !self.list.helpers_of(name).is_empty() || self.list.helper(name).is_some()
    }
}

struct Search<'a> {
    list: &'a Allowlist,
    path: Vec<PathBuf>,
    found: Vec<Found>,
    /// The directory of a Rust toolchain outside the system's directories.
    rust: Option<PathBuf>,
    expander: Expander,
}

impl<'a> Search<'a> {
    fn new(list: &'a Allowlist) -> Search<'a> {
        let user = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::split_paths(&user).filter(|dir| dir.is_absolute()).collect();
        Search { list, path, found: Vec::new(), rust: None, expander: Expander::default() }
    }

    fn command(&mut self, name: &str) {
        let mut places: Vec<PathBuf> =
            SYSTEM_PATH.iter().map(|dir| Path::new(dir).join(name)).collect();
        if let Some(helper) = self.list.helper(name) {
            for place in &helper.places {
                places.extend(self.expander.expand(place));
                // The same place below a toolchain that lies elsewhere.
                if let (Some(rust), Some(rest)) = (&self.rust, place.strip_prefix("/usr/")) {
                    places.extend(self.expander.expand(&rust.join(rest).to_string_lossy()));
                }
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
            self.found.push(Found { name: name.to_owned(), real });
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

/// What of /proc tells of the machine alone; run-times crash where they cannot read it.
const ABOUT_THE_MACHINE: [&str; 2] = ["/proc/cpuinfo", "/proc/meminfo"];

/// Directories in which Python keeps what is installed besides its standard library.
const INSTALLED: [&str; 2] = ["site-packages", "dist-packages"];

fn grants(list: &Allowlist, found: &[Found], rust: Option<&Path>) -> (Grants, Vec<PathBuf>) {
    let mut expander = Expander::default();
    let mut execute: BTreeSet<PathBuf> = found.iter().map(|f| f.real.clone()).collect();
    let mut read: BTreeSet<PathBuf> = BTreeSet::new();
    let mut names_only: BTreeSet<PathBuf> = BTreeSet::new();
    let mut chess: BTreeSet<PathBuf> = BTreeSet::new();
    let mut plain = Vec::new();
    let mut accelerators = Vec::new();

    for file in &list.files {
        // /proc is the sandbox's own where it has one; without, nothing of it is open that tells of others.
        if (file.path.starts_with("/proc") && !ABOUT_THE_MACHINE.contains(&&*file.path))
            || file.path.starts_with("/dev/std")
            || &*file.path == "/dev/fd"
        {
            continue;
        }
        for path in expander.expand(&file.path) {
            match file.access {
                HostAccess::Read => {
                    read.insert(path);
                }
                HostAccess::ReadWrite if devices::is_accelerator(&path) => accelerators.push(path),
                HostAccess::ReadWrite => plain.push(path),
            }
        }
    }

    let mut trees: BTreeSet<PathBuf> = BTreeSet::new();
    let names: BTreeSet<&str> = found.iter().map(|f| f.name.as_str()).collect();
    for name in names {
        for pattern in list.reads_of(name) {
            trees.extend(expander.expand(pattern));
            if let (Some(rust), Some(rest)) = (rust, pattern.strip_prefix("/usr/")) {
                trees.extend(expander.expand(&rust.join(rest).to_string_lossy()));
            }
        }
    }
    if let Some(rust) = rust {
        // rustc finds its driver library beside its bin directory.
        trees.insert(rust.join("lib"));
    }
    trees.extend(python_homes(found));

    // A Python directory is granted child by child, without what is installed in it.
    for tree in trees {
        let Ok(tree) = tree.canonicalize() else {
            continue;
        };
        let inner = children(&tree);
        let python = inner.iter().any(|path| is_installed(path))
            || list
                .python_directories
                .iter()
                .any(|d| pattern::matches(&d.directory, &tree.to_string_lossy()));
        if !python {
            read.insert(tree);
            continue;
        }
        // Where nothing is installed that must stay hidden, one grant on the whole tree does: every grant
        // costs each start of an entry some microseconds.
        let hides = inner.iter().filter(|p| is_installed(p)).flat_map(|dir| children(dir));
        let harmless = |path: &PathBuf| {
            is_allowed_module(list, path) || path.file_name().is_some_and(|name| name == "README")
        };
        if hides.into_iter().all(|path| harmless(&path)) {
            read.insert(tree);
            continue;
        }
        for path in inner {
            if is_installed(&path) {
                installed(list, &path, &mut read, &mut chess);
            } else {
                read.insert(path);
            }
        }
        names_only.insert(tree);
    }
    for place in ["/usr/lib/python3/dist-packages", "/usr/local/lib/python3/dist-packages"] {
        let place = Path::new(place);
        if place.is_dir() {
            installed(list, place, &mut read, &mut chess);
            names_only.insert(place.to_owned());
        }
    }
    names_only.extend(python_search_path());

    let mut directories: Vec<PathBuf> = Vec::new();
    for directory in &list.library_directories {
        directories.extend(expander.expand(&directory.directory));
    }
    directories.extend(loader_configuration());
    let directories: Vec<PathBuf> =
        unique(directories.into_iter().filter_map(|d| d.canonicalize().ok()));
    // What an allowed library is itself linked with comes along (an OpenCL driver needs a compiler's).
    let mut allowed: Vec<PathBuf> = Vec::new();
    for directory in &directories {
        for path in children(directory) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if list.libraries.iter().any(|library| pattern::matches(&library.name, &name)) {
                let Ok(real) = path.canonicalize() else {
                    continue;
                };
                if is_loader(&name) {
                    execute.insert(real);
                } else if real.is_file() {
                    allowed.push(real.clone());
                    read.insert(real);
                }
            }
        }
    }
    let opened = read.iter().filter(|path| path.is_dir()).flat_map(|dir| shared_objects(dir));
    let programs = execute.iter().cloned().chain(opened).chain(allowed).collect::<Vec<_>>();
    let needs = elf_needs::follow(programs, &directories);
    execute.extend(needs.loaders);
    read.extend(needs.libraries);

    let grants = Grants {
        read: outermost(read),
        execute: execute.into_iter().collect(),
        list: names_only.into_iter().collect(),
        devices: plain,
        accelerators,
    };
    (grants, chess.into_iter().collect())
}

/// What of a directory of installed modules is allowed, and which chess libraries are in it.
fn installed(
    list: &Allowlist,
    directory: &Path,
    read: &mut BTreeSet<PathBuf>,
    chess: &mut BTreeSet<PathBuf>,
) {
    for path in children(directory) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if is_allowed_module(list, &path) {
            read.insert(path);
        } else if list.chess_libraries.iter().any(|module| pattern::matches(&module.name, &name)) {
            chess.insert(path);
        }
    }
}

fn is_allowed_module(list: &Allowlist, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    list.python_modules.iter().any(|module| pattern::matches(&module.name, &name))
}

fn is_installed(path: &Path) -> bool {
    path.file_name().is_some_and(|name| INSTALLED.iter().any(|i| name == *i))
}

/// Standard libraries of interpreters that lie outside the system's directories (pyenv, /opt).
fn python_homes(found: &[Found]) -> Vec<PathBuf> {
    found
        .iter()
        .filter(|f| f.name.starts_with("python") || f.name.starts_with("pypy"))
        .filter(|f| !f.real.starts_with("/usr"))
        .filter_map(|f| f.real.parent()?.parent().map(|home| home.join("lib")))
        .flat_map(|lib| children(&lib))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("python") || name.starts_with("pypy") || name.starts_with("libp")
        })
        .collect()
}

/// Directories of modules that Python lists at its start even where nothing in them may be read.
fn python_search_path() -> Vec<PathBuf> {
    children(Path::new("/usr/local/lib"))
        .into_iter()
        .filter(|path| path.file_name().unwrap_or_default().to_string_lossy().starts_with("python"))
        .collect()
}

fn is_loader(name: &str) -> bool {
    name.starts_with("ld-linux") || name.starts_with("ld-musl")
}

/// Extension modules and plug-ins below a directory.
fn shared_objects(directory: &Path) -> Vec<PathBuf> {
    walkdir::WalkDir::new(directory)
        .follow_links(false)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|item| item.file_type().is_file())
        .filter(|item| {
            let name = item.file_name().to_string_lossy();
            name.ends_with(".so") || name.contains(".so.")
        })
        .map(walkdir::DirEntry::into_path)
        .collect()
}

/// The directories that the system's loader is told of.
fn loader_configuration() -> Vec<PathBuf> {
    children(Path::new("/etc/ld.so.conf.d"))
        .into_iter()
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .flat_map(|text| {
            text.lines()
                .map(str::trim)
                .filter(|line| line.starts_with('/'))
                .map(PathBuf::from)
                .collect::<Vec<_>>()
        })
        .collect()
}

fn unique(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut seen = BTreeMap::new();
    for (index, path) in paths.enumerate() {
        seen.entry(path).or_insert(index);
    }
    let mut ordered: Vec<(usize, PathBuf)> = seen.into_iter().map(|(path, i)| (i, path)).collect();
    ordered.sort();
    ordered.into_iter().map(|(_, path)| path).collect()
}

/// Without what lies below another path of the set (it is granted with it).
fn outermost(paths: BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = Vec::new();
    for path in paths {
        // Sorted by component, a directory comes before everything below it.
        if !out.last().is_some_and(|above| path.starts_with(above)) {
            out.push(path);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> Toolchain {
        Toolchain::discover(Arc::new(Allowlist::built_in().clone()), Strictness::Tolerant)
    }

    #[test]
    fn the_shell_is_found_and_forbidden_programs_are_not_granted() {
        let tools = here();
        assert!(!tools.missing.contains(&"sh".to_owned()), "{:?}", tools.missing);
        let granted = |name: &str| {
            let place = Path::new("/usr/bin").join(name).canonicalize();
            place.is_ok_and(|real| {
                let all = tools.grants.execute.iter().chain(&tools.grants.read);
                all.clone().any(|path| real.starts_with(path))
            })
        };
        assert!(granted("sh") && granted("tail") && granted("rm"));
        for name in ["sed", "cat", "dd", "curl", "uname"] {
            assert!(!granted(name), "{name}");
        }
    }

    #[test]
    fn a_program_that_was_replaced_keeps_its_name_and_no_other_gets_it() {
        let mut tools = here();
        let xz = Path::new("/usr/bin/tail").canonicalize().unwrap();
        let inode = std::fs::metadata(&xz).map(|file| (file.dev(), file.ino())).unwrap();
        assert!(tools.replaced().is_empty());
        // As if another file had stood there when it was looked.
        tools.known.remove(&inode);
        assert!(tools.replaced().contains(&"tail"));
        let seen = |real: &Path, own: bool| Seen {
            asked: "/usr/bin/tail".into(),
            inode: std::fs::metadata(real).ok().map(|file| (file.dev(), file.ino())),
            real: Some(real.to_owned()),
            argv: vec!["tail".into()],
            own,
            script: false,
        };
        assert_eq!(tools.classify(&seen(&xz, false), &[]), (ProgramClass::Listed, "tail".into()));
        let other = Path::new("/usr/bin/uname");
        assert_eq!(tools.classify(&seen(other, false), &[]).0, ProgramClass::Refused);
    }

    #[test]
    fn strict_grants_no_tolerated_command() {
        let list = Arc::new(Allowlist::built_in().clone());
        let tools = Toolchain::discover(list, Strictness::Strict);
        let rm = Path::new("/usr/bin/rm").canonicalize().unwrap();
        assert!(!tools.grants.execute.contains(&rm));
    }

    #[test]
    fn nothing_installed_besides_numpy_is_readable() {
        for path in here().grants.read {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let parent_is_installed = path.parent().is_some_and(is_installed);
            assert!(!parent_is_installed || name.starts_with("numpy"), "{}", path.display());
            assert!(!is_installed(&path), "{}", path.display());
        }
    }
}
