//! `allowlist.toml`: what rules 7.3 to 7.8 allow, line by line, each with its rule or its reason.
//!
//! The list is data, so that the organisers can add to it (7.8) without a new gate4k. A mistake in it is
//! shown at its line: a list that is read differently from what its author meant judges wrongly.

use std::fmt;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::files::read;
use crate::model::source_place::{Misplaced, parsed};

mod cache;
mod verify;

pub use cache::AllowedCache;

/// The version of the format that is read here.
pub(crate) const VERSION: u32 = 1;

/// The list that is built in, as text.
pub const BUILT_IN: &str = include_str!("../../allowlist.toml");

/// A string of the list that remembers where it was written.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Text(Spanned<String>);

impl Text {
    /// A string that was written in no list.
    fn new(text: &str) -> Text {
        Text(Spanned::new(0..0, text.to_owned()))
    }

    /// The bytes of the list that it was written with.
    fn span(&self) -> Range<usize> {
        self.0.span()
    }
}

impl Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        self.0.get_ref()
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

/// The class of a command of the list under rule 7.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CommandClass {
    /// Named by rule 7.5.
    Listed,
    /// Not named there; a pass with advice, a rejection under `--strict`.
    Tolerated,
    /// Granted to one entry by a waiver of the organisers (rule 7.8). No list can say so: only
    /// [`Allowlist::granting`] makes such commands.
    #[serde(skip)]
    Waived,
}

/// A command that an entry may start.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct AllowedCommand {
    /// Its name along PATH.
    pub(crate) name: Text,
    /// Listed or tolerated.
    pub(crate) class: CommandClass,
    /// Files and directories that it needs beyond its own shared libraries, as patterns.
    #[serde(default)]
    pub(crate) reads: Vec<Text>,
    /// The rule that allows it.
    pub(crate) rule: Option<Text>,
    /// The reason that it is allowed, where no rule names it.
    pub(crate) reason: Option<Text>,
}

/// A program that commands of the list start by themselves, allowed only below them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Helper {
    /// Its base name.
    pub(crate) name: Text,
    /// The commands and helpers that may start it.
    pub below: Vec<Text>,
    /// Commands through which they start it: a shell that a helper starts for one line.
    #[serde(default)]
    pub through: Vec<Text>,
    /// The arguments with which alone it may be started; any, where none are named.
    #[serde(default)]
    pub(crate) arguments: Vec<Text>,
    /// The forms of its arguments, all words of each as patterns, where it may be started in these alone. Code of the entry's own may still
    /// not start it, since it chooses the files.
    #[serde(default)]
    pub(crate) forms: Vec<Vec<Text>>,
    /// The commands that may start it as well, with certain arguments alone.
    #[serde(default)]
    pub(crate) asked: Vec<AskedHelper>,
    /// Where it lies when not along PATH, as patterns.
    #[serde(default)]
    pub(crate) places: Vec<Text>,
    /// As for [`AllowedCommand::reads`].
    #[serde(default)]
    pub(crate) reads: Vec<Text>,
    /// The rule that allows it.
    pub(crate) rule: Option<Text>,
    /// The reason that it is allowed.
    pub(crate) reason: Option<Text>,
}

/// Commands that ask a helper something, as an interpreter does by itself. It serves them in no other way.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct AskedHelper {
    /// The commands that may start it.
    pub(crate) below: Vec<Text>,
    /// All arguments, each as a pattern.
    pub(crate) arguments: Vec<Text>,
    /// The option behind which directories of the system's libraries may stand between them.
    pub(crate) directories: Option<Text>,
}

/// Shared libraries that an entry may load or Python modules that it may import (7.6), or chess libraries that it may not (7.7).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct NamedLibrary {
    /// A pattern for the base name of a shared library (`libc.so*`), or for a module's top-level name.
    pub(crate) name: Text,
    /// The programs that it starts by itself, in whatever program has loaded it. They are granted where the list has them as helpers, and
    /// refused without a charge where it has not.
    #[serde(default)]
    pub(crate) starts: Vec<Text>,
    /// Its part in how programs speak to an accelerator (`--devices`), if it has one.
    pub(crate) accelerator: Option<AcceleratorPart>,
    /// The rule that allows or forbids it.
    pub(crate) rule: Option<Text>,
    /// The reason.
    pub(crate) reason: Option<Text>,
}

/// The part of a library in how programs speak to an accelerator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AcceleratorPart {
    /// The library looks for drivers, and loads those that the host has.
    Loader,
    /// The library speaks to the device.
    Driver,
}

/// A directory, as a pattern.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Directory {
    /// The directory.
    pub(crate) directory: Text,
    /// The rule that allows it.
    pub(crate) rule: Option<Text>,
    /// The reason that it is allowed.
    pub(crate) reason: Option<Text>,
}

/// Headers of C and C++ that may be compiled into a program (7.6).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Header {
    /// A pattern for the file, or for a directory above it.
    pub(crate) path: Text,
    /// The rule that allows it.
    pub(crate) rule: Option<Text>,
    /// The reason that it is allowed.
    pub(crate) reason: Option<Text>,
}

/// The form of an uncounted option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ValueKind {
    /// Decimal digits, at most `digits` of them.
    Number,
    /// `true` or `false`.
    Bool,
    /// Directories or files, at most `bytes` bytes.
    Path,
    /// One of `words`.
    Word,
    /// None: pressing it is all.
    Button,
}

/// An option of engines.json that is configuration and is not counted (7.3).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct UncountedOption {
    /// Its name, or a pattern.
    pub(crate) name: Text,
    /// The form of its value.
    pub(crate) value: ValueKind,
    /// For numbers: how many digits at most.
    pub(crate) digits: Option<u8>,
    /// For numbers: one may be below zero.
    #[serde(default)]
    pub(crate) signed: bool,
    /// For paths: how many bytes at most.
    pub(crate) bytes: Option<u16>,
    /// For words: which.
    #[serde(default)]
    pub(crate) words: Vec<Text>,
    /// The rule that leaves it uncounted.
    pub(crate) rule: Option<Text>,
    /// The reason that it is not counted.
    pub(crate) reason: Option<Text>,
}

/// The access that an entry may have to a file of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HostAccess {
    /// Read it.
    #[default]
    Read,
    /// Read and write it (devices).
    ReadWrite,
}

/// A file or directory of the host that every entry may read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HostFile {
    /// The path of the file, as a pattern.
    pub(crate) path: Text,
    /// The access.
    #[serde(default)]
    pub(crate) access: HostAccess,
    /// The rule that allows it.
    pub(crate) rule: Option<Text>,
    /// The reason that it may be read.
    pub(crate) reason: Option<Text>,
}

macro_rules! grounds {
    ($($line:ident)*) => {$(
        impl $line {
            /// The rule or the reason that stands behind the line.
            #[must_use]
            pub(crate) fn ground(&self) -> String {
                match (&self.rule, &self.reason) {
                    (Some(rule), Some(reason)) => format!("rule {rule}: {reason}"),
                    (Some(rule), None) => format!("rule {rule}"),
                    (None, Some(reason)) => reason.to_string(),
                    // checked when the list is read
                    (None, None) => String::new(),
                }
            }
        }
    )*};
}
grounds!(AllowedCommand Helper NamedLibrary Directory Header UncountedOption AllowedCache);

/// The whole list.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Allowlist {
    version: Spanned<u32>,
    /// Commands (7.5, 7.8).
    #[serde(default, rename = "command")]
    pub(crate) commands: Vec<AllowedCommand>,
    /// The programs that these start themselves.
    #[serde(default, rename = "helper")]
    pub(crate) helpers: Vec<Helper>,
    /// Shared libraries (7.6).
    #[serde(default, rename = "library")]
    pub(crate) libraries: Vec<NamedLibrary>,
    /// Where the system keeps its shared libraries.
    #[serde(default, rename = "library-directory")]
    pub(crate) library_directories: Vec<Directory>,
    /// Headers (7.6); without any, none is judged.
    #[serde(default, rename = "header")]
    pub(crate) headers: Vec<Header>,
    /// Python modules besides the standard library (7.6).
    #[serde(default, rename = "python-module")]
    pub(crate) python_modules: Vec<NamedLibrary>,
    /// Where Python keeps its standard library.
    #[serde(default, rename = "python")]
    pub(crate) python_directories: Vec<Directory>,
    /// Where Perl keeps its core modules.
    #[serde(default, rename = "perl")]
    pub(crate) perl_directories: Vec<Directory>,
    /// Chess libraries of the host, by name (7.7).
    #[serde(default, rename = "chess-library")]
    pub(crate) chess_libraries: Vec<NamedLibrary>,
    /// Options that are not counted (7.3).
    #[serde(default, rename = "option")]
    pub(crate) options: Vec<UncountedOption>,
    /// Caches (7.4).
    #[serde(default, rename = "cache")]
    pub(crate) caches: Vec<AllowedCache>,
    /// Files of the host that every entry may read.
    #[serde(default, rename = "file")]
    pub(crate) files: Vec<HostFile>,
}

/// The reason that an allow-list cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AllowlistError {
    /// The list cannot be read.
    #[error(
        "cannot read the allow-list {}: {source}; name a readable TOML file (--allowlist, or `allowlist` of \
         gate4k.toml), or name none to use the one that is built in", path.display()
    )]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// There is a mistake in it.
    #[error(transparent)]
    Wrong(Misplaced),
}

impl Allowlist {
    /// The list that is compiled in.
    #[must_use]
    pub fn built_in() -> &'static Allowlist {
        #[expect(clippy::expect_used, reason = "the text is compiled in, and a test reads it")]
        static LIST: LazyLock<Allowlist> = LazyLock::new(|| {
            // invariant: the built-in list is correct
            Allowlist::parse(BUILT_IN, Path::new("allowlist.toml")).expect("built-in allow-list")
        });
        &LIST
    }

    /// This list for one entry to which the organisers grant more programs, each with the ground of its
    /// waiver. A command that rule 7.5 names keeps its place.
    #[must_use]
    pub(crate) fn granting(&self, programs: &[(String, String)]) -> Allowlist {
        let mut list = self.clone();
        for (name, ground) in programs {
            let is_listed = |command: &AllowedCommand| command.class == CommandClass::Listed;
            if list.command(name).is_some_and(is_listed) {
                continue;
            }
            let known = list.commands.iter().position(|command| *command.name == **name);
            let before = known.map(|at| list.commands.remove(at));
            list.commands.push(AllowedCommand {
                name: Text::new(name),
                class: CommandClass::Waived,
                reads: before.map(|command| command.reads).unwrap_or_default(),
                rule: None,
                reason: Some(Text::new(ground)),
            });
        }
        list
    }

    /// Reads the list that `--allowlist FILE` names; it replaces the built-in one.
    ///
    /// # Errors
    /// When the file cannot be read, or at the first mistake in it.
    pub(crate) fn load(path: &Path) -> Result<Allowlist, AllowlistError> {
        let text = read::text(path, read::SETTINGS)
            .map_err(|source| AllowlistError::Unreadable { path: path.to_owned(), source })?;
        Allowlist::parse(&text, path)
    }

    /// Reads a list from text; `path` is what errors call it.
    ///
    /// # Errors
    /// At the first mistake.
    pub fn parse(text: &str, path: &Path) -> Result<Allowlist, AllowlistError> {
        parsed(text)
            .and_then(|list| verify::check(&list).map(|()| list))
            .map_err(|(span, what)| AllowlistError::Wrong(Misplaced::new(path, text, span, &what)))
    }

    /// The command of that name.
    #[must_use]
    pub(crate) fn command(&self, name: &str) -> Option<&AllowedCommand> {
        self.commands.iter().find(|command| &*command.name == name)
    }

    /// The command of that name, or of which it names a version (`python3.12`).
    pub(crate) fn command_or_version(&self, name: &str) -> Option<&AllowedCommand> {
        let is_version =
            |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '-');
        let named =
            |command: &&AllowedCommand| name.strip_prefix(&*command.name).is_some_and(is_version);
        self.commands.iter().filter(named).max_by_key(|command| command.name.len())
    }

    /// The helper of that name.
    #[must_use]
    pub(crate) fn helper(&self, name: &str) -> Option<&Helper> {
        self.helpers.iter().find(|helper| &*helper.name == name)
    }

    /// True for a helper that may be started with certain arguments alone.
    pub(crate) fn has_fixed_arguments(&self, name: &str) -> bool {
        self.helper(name).is_some_and(|helper| !helper.arguments.is_empty())
    }

    /// True for a helper that may be started in some ways and not in others.
    pub(crate) fn depends_on_arguments(&self, name: &str) -> bool {
        let depends = |helper: &Helper| {
            let Helper { arguments, forms, asked, .. } = helper;
            !(arguments.is_empty() && forms.is_empty() && asked.is_empty())
        };
        self.helper(name).is_some_and(depends)
    }

    /// The helpers that may run somewhere below `name`, directly or through one another.
    #[must_use]
    pub(crate) fn helpers_of(&self, name: &str) -> Vec<&Helper> {
        let mut above: Vec<&str> = vec![name];
        let mut found: Vec<&Helper> = Vec::new();
        let mut next = 0;
        while let Some(starter) = above.get(next).copied() {
            next += 1;
            for helper in &self.helpers {
                let new = found.iter().all(|known| known.name.0 != helper.name.0);
                if new && helper.below.iter().any(|below| &**below == starter) {
                    found.push(helper);
                    above.push(&helper.name);
                }
            }
        }
        found
    }

    /// The patterns of files that `name` and its helpers need beyond their shared libraries.
    #[must_use]
    pub(crate) fn reads_of(&self, name: &str) -> Vec<&str> {
        let own = self.command(name).into_iter().flat_map(|c| &c.reads);
        let helpers = self.helpers_of(name).into_iter().flat_map(|h| &h.reads);
        let mut all: Vec<&str> = own.chain(helpers).map(|text| &**text).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrong(text: &str) -> String {
        Allowlist::parse(text, Path::new("list.toml")).unwrap_err().to_string()
    }

    #[test]
    fn the_built_in_list_has_what_the_rules_name() {
        let list = Allowlist::built_in();
        let listed = [
            "bzip2", "bash", "c++", "cargo", "cc", "clang", "chmod", "gzip", "lzma", "mktemp",
            "perl", "python", "python3", "pypy3", "rustc", "sh", "sleep", "tail", "xz",
        ];
        let tolerated = [
            "rm", "clang++", "g++", "gcc", "unxz", "xzcat", "unlzma", "lzcat", "gunzip", "zcat",
            "bunzip2", "bzcat", "head", "basename", "env",
        ];
        for name in listed {
            assert_eq!(list.command(name).unwrap().class, CommandClass::Listed);
            assert_eq!(&**list.command(name).unwrap().rule.as_ref().unwrap(), "7.5");
        }
        for name in tolerated {
            assert_eq!(list.command(name).unwrap().class, CommandClass::Tolerated);
            assert!(list.command(name).unwrap().reason.is_some());
        }
        assert_eq!(list.commands.len(), listed.len() + tolerated.len());
    }

    #[test]
    fn helpers_are_found_through_one_another() {
        let list = Allowlist::built_in();
        let names = |of| -> Vec<&str> { list.helpers_of(of).iter().map(|h| &*h.name).collect() };
        for name in ["cc1", "as", "collect2", "ld"] {
            assert!(names("cc").contains(&name), "{name}");
        }
        assert!(names("rustc").contains(&"rust-lld"));
        assert!(names("xz").is_empty());
        assert!(list.reads_of("cc").contains(&"/usr/include"));
    }

    #[test]
    fn mistakes_are_shown_at_their_line() {
        let text = "version = 1\n[[command]]\nname = \"xz\"\nclass = \"listed\"\nhelprs = []\n";
        let shown = wrong(text);
        assert!(shown.starts_with("list.toml:5:1: unknown field `helprs`"), "{shown}");
        assert!(shown.ends_with("5 | helprs = []\n  | ^^^^^^"), "{shown}");
        assert!(wrong("version = 1\n[[comand]]\n").contains("did you mean `command`?"));
        assert!(wrong("version = 2\n").contains("list.toml:1:11: this gate4k reads version 1"));
        assert!(wrong("version = 1\nversion = 1\n").contains("2:1"));
        assert!(wrong("").contains("version"));
        let helper = "version = 1\n[[helper]]\nname = \"cc1\"\nbelow = [\"ccc\"]\nrule = \"7.5\"\n";
        assert!(wrong(helper).contains("4:10: no command or helper of this list is called `ccc`"));
        let ground = "version = 1\n[[library]]\nname = \"libc.so*\"\n";
        assert!(wrong(ground).contains("3:8: `libc.so*` needs a `rule` or a `reason`"));
        let option =
            "version = 1\n[[option]]\nname = \"Hash\"\nvalue = \"number\"\nrule = \"7.3\"\n";
        assert!(wrong(option).contains("needs `digits`"));
        let cache = "version = 1\ncache = [{ path = \"a\", begins = \"0x\", rule = \"7.4\" }]";
        assert!(wrong(cache).contains(": hexadecimal digits are wanted here"));
    }

    /// Found by `tests/suite/fuzz.rs`.
    #[test]
    fn a_mistake_that_is_repeated_moves_no_terminal() {
        let text =
            "version = 1\n[[command]]\nname = \"sh\"\nclass = \"\\u001b[2J\"\nrule = \"7.5\"\n";
        let error = Allowlist::parse(text, Path::new("list.toml")).unwrap_err().to_string();
        assert!(error.contains("\\u{1b}[2J"), "{error}");
        assert!(error.chars().all(|c| !c.is_control() || c == '\n'), "{error:?}");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,60}(\n\\PC{0,40}){0,3}") {
            let _ = Allowlist::parse(&text, Path::new("list.toml"));
        }
    }
}
