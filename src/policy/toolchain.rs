//! Finds the programs of this host behind the names of the allow-list, and what they need to run.
//!
//! The system's directories come before the user's PATH, so that a shim (pyenv, rustup, ccache) is only
//! looked behind where the system has no program of that name itself.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

use super::allowlist::{AllowedCommand, Allowlist, CommandClass};
use super::decide::{self, Ancestor, Origin, ProgramForm, StartedProgram, Strictness};
use super::find::{FoundProgram, NameWalk, SYSTEM_PATH};
use super::grants::{self, Granted, OwnNeeds, grants};
use super::libraries::{self, is_shared_library};
use super::places::name_of;
use super::{multi_call, pattern};
use crate::model::command_words::base_name;
use crate::model::evidence::ProgramClass;
use crate::model::text::shown;
use crate::sandbox::plan::{CacheCandidate, Programs, SeenProgram};
use crate::sandbox::{Grants, HostSettings, capability, limits, patiently};

/// Below these no entry can make a name.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/etc"];

/// The allow-list as it is on this host.
#[derive(Debug)]
pub struct Toolchain {
    list: Arc<Allowlist>,
    strictness: Strictness,
    /// The files that the sandbox grants.
    pub(crate) grants: Grants,
    /// PATH inside the sandbox.
    pub(crate) path: Vec<PathBuf>,
    /// Commands of rule 7.5, or granted by a waiver, that this host lacks.
    pub missing: Vec<String>,
    /// The host's own chess libraries; none of them is granted.
    pub chess_libraries: Vec<PathBuf>,
    known: HashMap<(u64, u64), Known>,
    found: Vec<FoundProgram>,
    /// Names of the same files that `--strict` does not grant: a program is judged by the name that it was called by.
    aliases: Vec<FoundProgram>,
    /// The directory of a Rust toolchain outside the system's directories.
    rust: Option<PathBuf>,
    /// The programs and libraries, and the names by which they are found, as they were then; none where nothing was there.
    files: Vec<(PathBuf, Option<Inode>)>,
    /// Per program, what it needs by itself, once it was asked.
    own_needs: Mutex<HashMap<PathBuf, OwnNeeds>>,
    /// Per program or library, the libraries that it is linked with, once it was asked.
    linked: Mutex<HashMap<PathBuf, BTreeSet<PathBuf>>>,
}

/// A file's device and number.
type Inode = (u64, u64);

/// The file of the host that a path names, and its own path; none where the path leads through a link of a process (`/dev/fd/5`,
/// `/proc/self/root`): to an entry that is another file than to us.
fn on_this_host(path: &Path) -> Option<(std::fs::Metadata, PathBuf)> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let how = ResolveFlags::NO_MAGICLINKS;
    let file = patiently(|| Ok(openat2(CWD, path, flags, Mode::empty(), how)?)).ok()?;
    Some((File::from(file).metadata().ok()?, path.canonicalize().ok()?))
}

fn inode(path: &Path) -> Option<Inode> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// A program of the host that no entry may start by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostProgram {
    /// A compiler's helper.
    Helper,
    /// A compiler's helper that is a script: whoever runs it opens it.
    HelperScript,
    /// One that is on no list. Some lie among the files that a compiler reads.
    Unlisted,
}

fn has_elf_head(path: &Path) -> bool {
    let mut head = [0; 4];
    let file = patiently(|| File::open(path));
    file.and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == *b"\x7fELF"
}

/// A program file of the host.
#[derive(Clone, Debug)]
struct Known {
    names: Vec<String>,
    form: ProgramForm,
}

impl Toolchain {
    /// Looks through the host.
    #[must_use]
    pub fn discover(list: Arc<Allowlist>, strictness: Strictness) -> Toolchain {
        let mut search = NameWalk::new(&list);
        for name in decide::granted(&list, Strictness::Tolerant) {
            search.command(name);
        }
        let NameWalk { found, rust, .. } = search;
        let granted = decide::granted(&list, strictness);
        let (found, mut aliases): (Vec<FoundProgram>, Vec<FoundProgram>) =
            found.into_iter().partition(|program| granted.contains(&program.name.as_str()));
        aliases.retain(|alias| found.iter().any(|program| program.real == alias.real));
        let mut known: HashMap<Inode, Known> = HashMap::new();
        for FoundProgram { name, real } in found.iter().chain(&aliases) {
            let Some(file) = inode(real) else { continue };
            let entry = known
                .entry(file)
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
        for FoundProgram { name, real } in &found {
            let in_system = SYSTEM_PATH.iter().any(|dir| Path::new(dir).join(name).exists());
            if let Some(dir) = real.parent()
                && list.command(name).is_some()
                && !in_system
                && !path.iter().any(|known| known == dir)
            {
                path.push(dir.to_owned());
            }
        }
        let Granted { grants, chess: chess_libraries, links } =
            grants(&list, &found, rust.as_deref());
        let granted = (grants.execute.iter().chain(&grants.read))
            .filter(|path| !["/proc", "/sys", "/dev"].iter().any(|top| path.starts_with(top)))
            .filter(|path| path.is_file());
        // A version that is upgraded may have another file: the name leads elsewhere, while the old file still is there.
        let names = decide::granted(&list, strictness).into_iter();
        let names = names.filter(|name| list.command(name).is_some());
        let places =
            names.flat_map(|name| SYSTEM_PATH.iter().map(move |dir| Path::new(dir).join(name)));
        let files: BTreeSet<PathBuf> = granted.cloned().chain(links).chain(places).collect();
        let files = files.into_iter().map(|path| (path.clone(), inode(&path))).collect();
        Toolchain {
            strictness,
            grants,
            path,
            missing,
            chess_libraries,
            known,
            found,
            aliases,
            rust,
            files,
            own_needs: Mutex::default(),
            linked: Mutex::default(),
            list,
        }
    }

    /// The real file of a command, where the host has it.
    #[must_use]
    pub(crate) fn shell(&self, name: &str) -> Option<PathBuf> {
        let place =
            SYSTEM_PATH.iter().map(|dir| Path::new(dir).join(name)).find(|p| p.is_file())?;
        let real = place.canonicalize().ok()?;
        self.known.contains_key(&inode(&real)?).then_some(real)
    }

    /// Each command of the list, with the real file behind it where this host has one.
    pub(crate) fn commands(&self) -> impl Iterator<Item = (&AllowedCommand, Option<&Path>)> {
        self.list.commands.iter().map(|command| {
            let found = self.found.iter().find(|found| found.name == *command.name);
            (command, found.map(|found| found.real.as_path()))
        })
    }

    /// The facts of this host that the sandbox needs.
    #[must_use]
    pub fn host(&self, namespaces: bool) -> HostSettings {
        HostSettings {
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

    /// The allowed programs, by name, and libraries, by path, in whose place the host has another file by now: a package
    /// was upgraded.
    #[must_use]
    pub(crate) fn replaced(&self) -> Vec<String> {
        let new = self.files.iter().filter(|(path, then)| inode(path) != *then);
        let words = |(path, _): &(PathBuf, Option<Inode>)| {
            let program = self.found.iter().find(|found| found.real == *path);
            let name = path.file_name().and_then(|name| name.to_str());
            match (program, name.filter(|name| self.list.command(name).is_some())) {
                (Some(program), _) => program.name.clone(),
                (None, Some(name)) => name.to_owned(),
                (None, None) => shown(path),
            }
        };
        let names: BTreeSet<String> = new.map(words).collect();
        names.into_iter().collect()
    }

    /// A program that is not the file that was found, and stands in its place on the host by now. Where allowed programs
    /// lie no entry can write.
    fn put_in_its_place(&self, seen: &SeenProgram) -> Option<Known> {
        let real = seen.real.as_ref().filter(|_| !seen.own)?;
        let here = inode(real);
        let all = self.found.iter().chain(&self.aliases);
        let same = all.filter(|found| found.real == *real);
        let names: Vec<String> = same.map(|found| found.name.clone()).collect();
        (!names.is_empty() && here.is_some() && here == seen.inode)
            .then(|| Known { names, form: multi_call::form(real) })
    }

    /// The treatment of tolerated commands.
    #[must_use]
    pub(crate) fn strictness(&self) -> Strictness {
        self.strictness
    }

    /// True if a library is one that an allowed program of this host needs by itself: it is granted, and among that program's own
    /// needs. An interpreter loads what the entry tells it to, and so does a compiler.
    #[must_use]
    pub fn needs(&self, program: Option<&Path>, library: &Path) -> bool {
        self.is_among_needs(program, library, |own, real| {
            own.read.iter().chain(&own.linked).any(|own| real.starts_with(own))
        })
    }

    /// True if a library is one that an allowed program of this host reads by itself, as it does any file of its own directories. The
    /// libraries that it is linked with are loaded and not read: who reads one copies it (`.incbin`, `include_bytes!`).
    #[must_use]
    pub fn reads(&self, program: Option<&Path>, library: &Path) -> bool {
        self.is_among_needs(program, library, |own, real| {
            own.read.iter().any(|own| real.starts_with(own))
        })
    }

    fn is_among_needs(
        &self,
        program: Option<&Path>,
        library: &Path,
        is_among: impl FnOnce(&OwnNeeds, &Path) -> bool,
    ) -> bool {
        let real = on_this_host(library).map_or_else(|| library.to_owned(), |(_, real)| real);
        let mut granted = self.grants.read.iter().chain(&self.grants.execute);
        if !granted.any(|granted| real.starts_with(granted)) {
            return false;
        }
        let Some(program) = program else { return true };
        let mut names: BTreeSet<&str> = (self.found.iter())
            .filter(|found| found.real == program)
            .map(|found| found.name.as_str())
            .collect();
        if names.is_empty() {
            // Another name of the same file, such as bzcat of bzip2.
            let known = inode(program).and_then(|inode| self.known.get(&inode));
            names.extend(known.iter().flat_map(|known| &known.names).map(String::as_str));
        }
        if names.is_empty() {
            // One that is none of the host's is the entry's, wherever it lies.
            return self.grants.execute.iter().any(|granted| granted == program);
        }
        let mut own = self.own_needs.lock().unwrap_or_else(PoisonError::into_inner);
        let own = own.entry(program.to_owned()).or_insert_with(|| {
            if names.iter().any(|name| self.compiles(name)) {
                // The parts of a compiler share its directories.
                let commands = self.list.commands.iter().map(|command| &*command.name);
                names.extend(commands.filter(|name| self.compiles(name)));
            }
            let names: Vec<&str> = names.into_iter().collect();
            grants::own_needs(&self.list, &self.grants, program, &names, self.rust.as_deref())
        });
        is_among(own, &real)
    }

    /// True for compilers and their helpers. A helper that may be started with certain arguments alone compiles nothing.
    fn compiles(&self, name: &str) -> bool {
        let helpers = self.list.helper(name).into_iter().chain(self.list.helpers_of(name));
        helpers.into_iter().any(|helper| helper.arguments.is_empty())
    }

    /// True if a program or a library of this host is linked with another one, be it by way of a third.
    pub(crate) fn is_linked_with(&self, file: &Path, other: &Path) -> bool {
        let (Some((_, file)), Some((_, other))) = (on_this_host(file), on_this_host(other)) else {
            return false;
        };
        let mut linked = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
        let linked = linked
            .entry(file)
            .or_insert_with_key(|file| grants::linked_with(&self.list, file.clone()));
        linked.contains(&other)
    }

    /// The program that a file of this host is, where no entry may start it by itself.
    pub(crate) fn program_at(&self, path: &Path) -> Option<HostProgram> {
        let (file, real) = on_this_host(path)?;
        if !file.is_file() || file.mode() & 0o111 == 0 {
            return None;
        }
        let is_elf = has_elf_head(&real);
        let by_inode = self.known.get(&(file.dev(), file.ino()));
        let by_inode = by_inode.iter().flat_map(|known| &known.names);
        let by_path = self.found.iter().filter(|found| found.real == real);
        let mut names = by_inode.chain(by_path.map(|found| &found.name)).peekable();
        if names.peek().is_none() {
            // (A file of Python's own may be a script that can be executed.)
            let name = name_of(&real);
            return (is_elf && !is_shared_library(&name)).then_some(HostProgram::Unlisted);
        }
        let is_command = names.any(|name| self.list.command(name).is_some());
        let helper = if is_elf { HostProgram::Helper } else { HostProgram::HelperScript };
        (!is_command).then_some(helper)
    }

    /// The allow-list that this was made from.
    #[must_use]
    pub(crate) fn list(&self) -> &Allowlist {
        &self.list
    }
}

impl Programs for Toolchain {
    fn classify(
        &self,
        seen: &SeenProgram,
        above: &[(String, ProgramClass)],
    ) -> (ProgramClass, String) {
        let known = seen.inode.and_then(|inode| self.known.get(&inode)).cloned();
        let known = known.or_else(|| self.put_in_its_place(seen));
        // A link of the entry's own may have any name; what it leads to has one.
        let upwards = seen.asked.components().any(|part| part == Component::ParentDir);
        let made_up = upwards || !SYSTEM.iter().any(|dir| seen.asked.starts_with(dir));
        // A command of the host that is a script (Debian's gunzip) is that command, and not the shell that reads it.
        let name = seen.asked.file_name().and_then(OsStr::to_str);
        let is_script = seen.script && !seen.own && !made_up;
        let script = name.filter(|name| is_script && self.list.command(name).is_some());
        let (names, form): (Vec<&str>, _) = match (script, &known) {
            (Some(name), _) => (vec![name], ProgramForm::Ordinary),
            (None, Some(known)) => (known.names.iter().map(String::as_str).collect(), known.form),
            (None, None) => (Vec::new(), ProgramForm::Ordinary),
        };
        let asked = match &seen.real {
            Some(real) if made_up && !seen.own && names.is_empty() => real.to_string_lossy(),
            _ => seen.asked.to_string_lossy(),
        };
        let argv: Vec<&str> = seen.argv.iter().map(String::as_str).collect();
        let above: Vec<Ancestor<'_>> =
            above.iter().map(|(name, class)| Ancestor { name, class: *class }).collect();
        let program = StartedProgram {
            known_as: &names,
            asked: &asked,
            argv: &argv,
            form,
            origin: if seen.own { Origin::Workspace } else { Origin::Host },
        };
        let decision = decide::program(&self.list, &program, &above, self.strictness);
        (decision.class, decision.name)
    }

    fn has_fixed_arguments(&self, helper: &str) -> bool {
        self.list.has_fixed_arguments(helper)
    }

    fn serves_library(&self, seen: &SeenProgram) -> Option<String> {
        let real = seen.real.as_ref().filter(|_| !seen.own && !seen.script)?;
        let known = seen.inode.and_then(|inode| self.known.get(&inode)).cloned();
        // By the file that ran, whatever it was asked for as; one that the list does not grant was refused.
        let names = match known.or_else(|| self.put_in_its_place(seen)) {
            Some(known) if known.form == ProgramForm::Ordinary => known.names,
            Some(_) => Vec::new(),
            None => {
                let in_system = SYSTEM.iter().any(|dir| real.starts_with(dir));
                let name = real.file_name().filter(|_| in_system);
                name.map(|name| name.to_string_lossy().into_owned()).into_iter().collect()
            }
        };
        let starts = |path: &PathBuf| {
            let path = path.to_string_lossy();
            libraries::judge(&self.list, &path).is_allowed().then(|| base_name(&path).to_owned())
        };
        let loaded: Vec<String> = seen.starter_libraries.iter().filter_map(starts).collect();
        let lines = self
            .list
            .libraries
            .iter()
            .filter(|line| loaded.iter().any(|library| pattern::matches(&line.name, library)));
        let started: Vec<&str> = lines.flat_map(|line| &line.starts).map(|name| &**name).collect();
        names.into_iter().find(|name| started.contains(&name.as_str()))
    }

    fn cache(&self, left: &CacheCandidate<'_>) -> Option<String> {
        let is_system_library = |path: &str| libraries::judge(&self.list, path).is_allowed();
        let cache = self.list.cache(left, is_system_library)?;
        Some(format!("{} ({})", &*cache.path, cache.ground()))
    }

    fn looks_around(&self, name: &str) -> bool {
        // Compilers search PATH for their helpers by themselves.
        !self.list.helpers_of(name).is_empty() || self.list.helper(name).is_some()
    }
}

#[cfg(test)]
mod tests;
