//! The paths that the sandbox grants for the programs that were found.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::allowlist::{Allowlist, HostAccess, NamedLibrary};
use super::find::FoundProgram;
use super::places::{Expander, children, name_of};
use super::{elf_needs, pattern};
use crate::sandbox::plan::is_shared_object;
use crate::sandbox::{Grants, devices};

/// The files of /proc that tell of the machine alone; run-times crash where they cannot read them.
const ABOUT_THE_MACHINE: [&str; 2] = ["/proc/cpuinfo", "/proc/meminfo"];

/// Directories in which Python and Perl keep what is installed besides their standard libraries.
const INSTALLED: [&str; 4] = ["site-packages", "dist-packages", "site_perl", "vendor_perl"];

/// The rights of the sandbox on this host.
pub(super) struct Granted {
    pub(super) grants: Grants,
    /// The chess libraries of this host, which get none.
    pub(super) chess: Vec<PathBuf>,
    /// Links by which granted libraries were found.
    pub(super) links: BTreeSet<PathBuf>,
}

/// The rights of the sandbox for the programs that were found.
pub(super) fn grants(list: &Allowlist, found: &[FoundProgram], rust: Option<&Path>) -> Granted {
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
        trees.extend(trees_of(list, &mut expander, rust, name));
    }
    if let Some(rust) = rust {
        // rustc finds its driver library beside its bin directory.
        trees.insert(rust.join("lib"));
    }
    trees.extend(python_homes(found));

    for tree in trees {
        if let Ok(tree) = tree.canonicalize() {
            let mut tree = Tree {
                list,
                read: &mut read,
                names_only: &mut names_only,
                chess: &mut chess,
                top: tree,
            };
            let top = tree.top.clone();
            tree.grant(&top);
        }
    }
    for place in ["/usr/lib/python3/dist-packages", "/usr/local/lib/python3/dist-packages"] {
        let place = Path::new(place);
        if place.is_dir() {
            installed(list, place, &mut read, &mut chess);
            names_only.insert(place.to_owned());
        }
    }
    names_only.extend(python_search_path());

    let directories = library_directories(list, &mut expander);
    // Some linkers (gold) list the directories that they search, and give up where they cannot.
    names_only.extend(outermost(directories.iter().cloned().collect()));
    // The libraries that an allowed library is itself linked with come along (an OpenCL driver needs a compiler's).
    let mut allowed: Vec<PathBuf> = Vec::new();
    let mut links: BTreeSet<PathBuf> = BTreeSet::new();
    for directory in &directories {
        for path in children(directory).into_iter().filter(|path| is_one_of(&list.libraries, path))
        {
            let Ok(real) = path.canonicalize() else { continue };
            if is_named_as_a_loader(&name_of(&path)) {
                execute.insert(real.clone());
            } else if real.is_file() {
                allowed.push(real.clone());
                read.insert(real.clone());
            }
            if real != path {
                links.insert(path);
            }
        }
    }
    let opened = read.iter().filter(|path| path.is_dir()).flat_map(|dir| shared_objects(dir));
    let programs = execute.iter().cloned().chain(opened).chain(allowed).collect::<Vec<_>>();
    let needs = elf_needs::follow(programs, &directories);
    execute.extend(needs.loaders);
    read.extend(needs.libraries);
    links.extend(needs.links);

    let has_arguments = |program: &&FoundProgram| list.depends_on_arguments(&program.name);
    let grants = Grants {
        with_arguments: found.iter().filter(has_arguments).map(|f| f.real.clone()).collect(),
        read: outermost(read),
        execute: execute.into_iter().collect(),
        list: names_only.into_iter().collect(),
        devices: plain,
        accelerators,
    };
    Granted { grants, chess: chess.into_iter().collect(), links }
}

/// The files of the host that a program needs by itself.
#[derive(Debug, Default)]
pub(super) struct OwnNeeds {
    /// The files that it reads: the directories of its own, the allowed libraries, and what everybody may read.
    pub(super) read: BTreeSet<PathBuf>,
    /// The libraries that it and its extension modules are linked with, which the loader brings along.
    pub(super) linked: BTreeSet<PathBuf>,
}

/// The needs of a program which is called by `names`.
pub(super) fn own_needs(
    list: &Allowlist,
    granted: &Grants,
    program: &Path,
    names: &[&str],
    rust: Option<&Path>,
) -> OwnNeeds {
    let mut expander = Expander::default();
    let is_python = names.iter().any(|name| name.starts_with("python") || name.starts_with("pypy"));
    let of_each = names.iter().flat_map(|name| trees_of(list, &mut expander, rust, name));
    let mut trees: Vec<PathBuf> = of_each.collect();
    if is_python {
        let name = names.first().copied().unwrap_or_default().to_owned();
        trees.extend(python_homes(&[FoundProgram { name, real: program.to_owned() }]));
    }
    trees.retain_mut(|tree| tree.canonicalize().map(|real| *tree = real).is_ok());
    let installed = |path: &Path| is_python && path.parent().is_some_and(is_installed);
    let mut read: BTreeSet<PathBuf> = (granted.read.iter())
        .filter(|path| installed(path) || trees.iter().any(|tree| path.starts_with(tree)))
        .cloned()
        .collect();
    read.extend(
        trees.into_iter().filter(|tree| granted.read.iter().any(|above| tree.starts_with(above))),
    );
    // Links among them lead to files elsewhere (Debian's libstd of Rust).
    let of_links: Vec<PathBuf> = read.iter().flat_map(|dir| linked_objects(dir)).collect();
    read.extend(of_links);
    let opened: Vec<PathBuf> = read.iter().flat_map(|dir| shared_objects(dir)).collect();
    let allowed = granted.read.iter().filter(|path| is_one_of(&list.libraries, path));
    read.extend(allowed.cloned());
    let programs = opened.into_iter().chain([program.to_owned()]);
    let linked = elf_needs::follow(programs, &library_directories(list, &mut expander)).libraries;
    read.extend(list.files.iter().flat_map(|file| expander.expand(&file.path)));
    OwnNeeds { read, linked }
}

/// The libraries that a program or a library is linked with, be it by way of others.
pub(super) fn linked_with(list: &Allowlist, library: PathBuf) -> BTreeSet<PathBuf> {
    elf_needs::follow([library], &library_directories(list, &mut Expander::default())).libraries
}

/// The directories that a program reads by the allow-list; the same below a toolchain of Rust that lies elsewhere.
fn trees_of(
    list: &Allowlist,
    expander: &mut Expander,
    rust: Option<&Path>,
    name: &str,
) -> Vec<PathBuf> {
    let patterns = list.reads_of(name).into_iter();
    patterns.flat_map(|pattern| expander.expand_beside(pattern, rust)).collect()
}

/// Directories that a program reads, granted around what is installed in them: each grant costs each start of an entry some
/// microseconds, so they are as few as that allows.
struct Tree<'a> {
    list: &'a Allowlist,
    top: PathBuf,
    read: &'a mut BTreeSet<PathBuf>,
    names_only: &'a mut BTreeSet<PathBuf>,
    chess: &'a mut BTreeSet<PathBuf>,
}

impl Tree<'_> {
    fn grant(&mut self, path: &Path) {
        if !path.is_dir() || !self.hides(path) {
            self.read.insert(path.to_owned());
            return;
        }
        for inner in children(path) {
            if is_installed(&inner) {
                installed(self.list, &inner, self.read, self.chess);
            } else if inner.is_symlink() {
                // The file that a link leads to is granted where it lies, if it lies here.
                if inner.canonicalize().is_ok_and(|real| !real.starts_with(&self.top)) {
                    self.read.insert(inner);
                }
            } else {
                self.grant(&inner);
            }
        }
        self.names_only.insert(self.top.clone());
    }

    /// True if something is installed below a directory, however deep, that no entry may have.
    fn hides(&self, directory: &Path) -> bool {
        let harmless = |path: &PathBuf| {
            is_one_of(&self.list.python_modules, path)
                || path.file_name().is_some_and(|name| name == "README")
        };
        let all = walkdir::WalkDir::new(directory).into_iter().filter_map(Result::ok);
        all.filter(|item| item.file_type().is_dir() && is_installed(item.path()))
            .any(|item| !children(item.path()).iter().all(harmless))
    }
}

/// Adds the allowed modules of a directory of installed ones to `read`, and its chess libraries to `chess`.
fn installed(
    list: &Allowlist,
    directory: &Path,
    read: &mut BTreeSet<PathBuf>,
    chess: &mut BTreeSet<PathBuf>,
) {
    for path in children(directory) {
        if is_one_of(&list.python_modules, &path) {
            read.insert(path);
        } else if is_one_of(&list.chess_libraries, &path) {
            chess.insert(path);
        }
    }
}

/// True if the name of a file or directory is that of one of these.
fn is_one_of(lines: &[NamedLibrary], path: &Path) -> bool {
    let name = name_of(path);
    lines.iter().any(|line| pattern::matches(&line.name, &name))
}

pub(super) fn is_installed(path: &Path) -> bool {
    path.file_name().is_some_and(|name| INSTALLED.iter().any(|i| name == *i))
}

/// Standard libraries of interpreters that lie outside the system's directories (pyenv, /opt).
fn python_homes(found: &[FoundProgram]) -> Vec<PathBuf> {
    found
        .iter()
        .filter(|f| f.name.starts_with("python") || f.name.starts_with("pypy"))
        .filter(|f| !f.real.starts_with("/usr"))
        .filter_map(|f| f.real.parent()?.parent().map(|home| home.join("lib")))
        .flat_map(|lib| children(&lib))
        .filter(|path| {
            let name = name_of(path);
            name.starts_with("python") || name.starts_with("pypy") || name.starts_with("libp")
        })
        .collect()
}

/// Directories of modules that Python lists at its start even where nothing in them may be read.
fn python_search_path() -> Vec<PathBuf> {
    children(Path::new("/usr/local/lib"))
        .into_iter()
        .filter(|path| name_of(path).starts_with("python"))
        .collect()
}

fn is_named_as_a_loader(name: &str) -> bool {
    ["ld-linux", "ld-lsb", "ld-musl"].iter().any(|start| name.starts_with(start))
}

/// Extension modules and plug-ins below a directory.
fn shared_objects(directory: &Path) -> Vec<PathBuf> {
    objects(directory, |kind| kind.is_file()).collect()
}

/// The shared objects that links below a directory lead to.
fn linked_objects(directory: &Path) -> Vec<PathBuf> {
    objects(directory, |kind| kind.is_symlink())
        .filter_map(|link| link.canonicalize().ok())
        .collect()
}

/// Everything below a directory that is of this kind and has the name of a shared object.
fn objects(
    directory: &Path,
    kind: impl Fn(std::fs::FileType) -> bool,
) -> impl Iterator<Item = PathBuf> {
    let all = walkdir::WalkDir::new(directory).follow_links(false).into_iter();
    all.filter_map(Result::ok)
        .filter(move |item| kind(item.file_type()))
        .filter(|item| is_shared_object(item.path()))
        .map(walkdir::DirEntry::into_path)
}

/// The directories in which the loader finds libraries, in order.
fn library_directories(list: &Allowlist, expander: &mut Expander) -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = Vec::new();
    for directory in &list.library_directories {
        directories.extend(expander.expand(&directory.directory));
    }
    directories.extend(loader_configuration());
    let mut seen = BTreeSet::new();
    let real = directories.into_iter().filter_map(|directory| directory.canonicalize().ok());
    real.filter(|directory| seen.insert(directory.clone())).collect()
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

    #[test]
    fn what_is_installed_stays_hidden_however_deep_it_lies() {
        // As PyPy's own archive has it, and Fedora its Perl.
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        let at = |path: &str| top.join(path);
        for file in [
            "bin/pypy3",
            "lib/pypy3.9/os.py",
            "lib/pypy3.9/json/decoder.py",
            "lib/pypy3.9/site-packages/README",
            "lib/pypy3.9/site-packages/torch/__init__.py",
            "lib/pypy3.9/site-packages/chess/__init__.py",
            "lib/pypy3.9/site-packages/numpy/__init__.py",
            "perl5/CORE/perl.h",
            "perl5/vendor_perl/JSON/XS.pm",
        ] {
            std::fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            std::fs::write(at(file), "").unwrap();
        }
        std::os::unix::fs::symlink("lib", at("lib64")).unwrap();
        std::os::unix::fs::symlink("/usr/share/zoneinfo", at("zones")).unwrap();
        let (mut read, mut names_only, mut chess) = Default::default();
        let list = Allowlist::built_in();
        let of = |path: &str| path.to_owned();
        let mut tree = Tree {
            list,
            top: top.clone(),
            read: &mut read,
            names_only: &mut names_only,
            chess: &mut chess,
        };
        tree.grant(&top);
        let seen = |paths: &BTreeSet<PathBuf>| -> Vec<String> {
            paths
                .iter()
                .map(|path| of(path.strip_prefix(&top).unwrap().to_str().unwrap()))
                .collect()
        };
        let packages = "lib/pypy3.9/site-packages";
        let granted = ["bin", "lib/pypy3.9/json", "lib/pypy3.9/os.py"].map(of);
        let numpy = format!("{packages}/numpy");
        let rest = ["perl5/CORE", "zones"].map(of);
        assert_eq!(seen(&read), [&granted[..], &[numpy], &rest[..]].concat());
        assert_eq!(seen(&names_only), [""]);
        assert_eq!(seen(&chess), [format!("{packages}/chess")]);
    }
}
