//! The allow-list, as the rules ask it, and the host's toolchain that answers.

use std::path::Path;

use crate::model::command_words::base_name;
use crate::model::evidence::ProgramClass;
use crate::policy::allowlist::AcceleratorPart;
use crate::policy::find::is_systems;
use crate::policy::toolchain::{HostProgram, Toolchain};
use crate::policy::{decide, libraries, pattern};

/// The allow-list's word on the name of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandWord {
    /// Its class: listed, helper, tolerated or refused.
    pub(crate) class: ProgramClass,
    /// The rule or reason beside it in allowlist.toml; empty where it is refused.
    pub(crate) reason: String,
}

/// The allow-list, as far as rules ask it.
pub trait Allowed {
    /// The class of a bare name (`xz`, `curl`).
    fn command(&self, name: &str) -> CommandWord;

    /// True for a name that is a version of an allowed compiler or interpreter (`python3.12`), which another host may have. Of the
    /// plain tools none is: `tail-5` is a slip.
    fn is_version(&self, _name: &str) -> bool {
        false
    }

    /// True for the path of an interpreter or a loader that an event's machine may have where this host does not.
    fn may_be_elsewhere(&self, _path: &str) -> bool {
        false
    }

    /// The reason why a library is refused; none for one that is allowed. It is told by a shared object's name (`libc.so.6`), a module's
    /// name (`numpy`) or a path.
    fn library_refused(&self, name_or_path: &str) -> Option<String>;

    /// True if a file is part of what the allowed command that opened it, by its real path where that was seen, itself
    /// needs (a compiler's arithmetic library, an extension module of Python's own).
    fn belongs_to_command(&self, _program: Option<&str>, _path: &str) -> bool {
        false
    }

    /// True if a file is one that the allowed command reads, rather than a library that its loader brings along.
    fn is_read_by_command(&self, _program: Option<&str>, _path: &str) -> bool {
        false
    }

    /// True if a program or a library of the host is linked with a file.
    fn is_linked_with(&self, _file: &str, _path: &str) -> bool {
        false
    }

    /// The part of a library in how programs speak to accelerators.
    fn accelerator_part(&self, _library: &str) -> Option<AcceleratorPart> {
        None
    }

    /// The program that a file of the host is, where it is nothing that the entry itself may start.
    fn program_at(&self, _path: &str) -> Option<HostProgram> {
        None
    }
}

impl Allowed for Toolchain {
    fn command(&self, name: &str) -> CommandWord {
        let decision = decide::named(self.list(), name, &[], self.strictness());
        CommandWord { class: decision.class, reason: decision.reason }
    }

    fn is_version(&self, name: &str) -> bool {
        // Compilers and interpreters are those that read files of their own.
        let command = self.list().command_or_version(name);
        command.is_some_and(|command| *command.name != *name && !command.reads.is_empty())
    }

    fn may_be_elsewhere(&self, path: &str) -> bool {
        let directory = path.rsplit_once('/').map(|(directory, _)| directory);
        let is_command = self.list().command_or_version(base_name(path)).is_some();
        is_command && directory.is_some_and(is_systems)
            || path.starts_with('/') && libraries::judge(self.list(), path).is_allowed()
    }

    fn library_refused(&self, name_or_path: &str) -> Option<String> {
        match libraries::judge(self.list(), name_or_path) {
            libraries::LibraryDecision::Allowed(_) => None,
            // A module's own name (`torch`, `JSON/XS.pm`) is only asked about where an interpreter did not
            // find it, so it is neither in the standard library nor allowed.
            libraries::LibraryDecision::NotALibrary if !name_or_path.starts_with('/') => {
                Some("rule 7.6 does not allow it".into())
            }
            libraries::LibraryDecision::NotALibrary => None,
            // The C library loads its character sets as libraries, into whatever program asks for one.
            libraries::LibraryDecision::Refused(reason) => {
                let mut files = self.list().files.iter().filter(|f| f.path.starts_with("/usr/lib"));
                let usual = libraries::below_usr(name_or_path);
                let path = usual.as_deref().unwrap_or(name_or_path);
                let is_covered = files.any(|file| pattern::covers(&file.path, path));
                (!is_covered).then_some(reason)
            }
            libraries::LibraryDecision::ChessLibrary(name) => {
                Some(format!("{name} is a chess library of the host, see rule 7.7"))
            }
        }
    }

    fn belongs_to_command(&self, program: Option<&str>, path: &str) -> bool {
        self.needs(program.map(Path::new), path.as_ref())
    }

    fn is_read_by_command(&self, program: Option<&str>, path: &str) -> bool {
        self.reads(program.map(Path::new), path.as_ref())
    }

    fn is_linked_with(&self, file: &str, path: &str) -> bool {
        self.is_linked_with(file.as_ref(), path.as_ref())
    }

    fn accelerator_part(&self, library: &str) -> Option<AcceleratorPart> {
        let name = base_name(library);
        let mut lines = self.list().libraries.iter();
        lines.find(|line| pattern::matches(&line.name, name))?.accelerator
    }

    fn program_at(&self, path: &str) -> Option<HostProgram> {
        self.program_at(path.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::allowlist::Allowlist;
    use crate::policy::decide::Strictness;
    use std::sync::Arc;

    #[test]
    fn an_interpreter_that_another_host_may_have_is_an_allowed_one_at_a_place_of_systems() {
        let list = Arc::new(Allowlist::built_in().clone());
        let tools = Toolchain::discover(list, Strictness::Tolerant);
        for path in ["/lib/ld-musl-x86_64.so.1", "/usr/bin/python3.99", "/usr/local/bin/pypy3"] {
            assert!(tools.may_be_elsewhere(path), "{path}");
        }
        for path in ["/bin/ksh", "/tmp/ld.so", "/tmp/python3", "/usr/bin/python3\\r", "python3"] {
            assert!(!tools.may_be_elsewhere(path), "{path}");
        }
    }

    #[test]
    fn a_character_set_of_the_c_library_is_no_strange_library() {
        let list = Arc::new(Allowlist::built_in().clone());
        let tools = Toolchain::discover(list, Strictness::Tolerant);
        let refused = |path: &str| tools.library_refused(path);
        for directory in
            ["/usr/lib/x86_64-linux-gnu/gconv", "/usr/lib64/gconv", "/lib/x86_64-linux-gnu/gconv"]
        {
            let path = format!("{directory}/ISO8859-1.so");
            assert_eq!(refused(&path), None, "{path}");
        }
        assert!(refused("/usr/lib/x86_64-linux-gnu/ISO8859-1.so").is_some());
    }
}
