//! The caches of the system's programs that an entry may leave behind (7.4): by path, writer and first bytes.

use serde::Deserialize;

use super::{Allowlist, Text};
use crate::model::command_words::base_name;
use crate::model::units::Bytes;
use crate::policy::pattern;
use crate::sandbox::plan::{CacheCandidate, FileMaker};

/// Files that programs of the system may leave behind as caches (7.4).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AllowedCache {
    /// A pattern for the path; `~` is the home directory.
    pub(crate) path: Text,
    /// The programs whose cache it is: base names as patterns. Empty: whoever loads the library that
    /// writes it.
    #[serde(default)]
    pub(crate) by: Vec<Text>,
    /// A pattern for the name of the library without which nothing writes it: the line holds for a program that has loaded it.
    pub(crate) library: Option<Text>,
    /// The first bytes of such a file: hexadecimal digits, `?` for any digit. None: any bytes.
    pub(crate) begins: Option<Text>,
    /// The most bytes that such a file has.
    pub(crate) bytes: Option<u64>,
    /// True for compiled modules of Python, which are caches only beside the source that they were compiled from.
    #[serde(default)]
    pub(crate) source: bool,
    /// The rule that exempts it.
    pub(crate) rule: Option<Text>,
    /// The reason that it is exempt.
    pub(crate) reason: Option<Text>,
}

impl AllowedCache {
    /// True if a file of this size that begins with `head` could be such a cache: a name alone proves nothing.
    #[must_use]
    pub(crate) fn accepts(&self, head: &[u8], size: Bytes) -> bool {
        let digits = head.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let mut digits = digits.map(u32::from);
        self.bytes.is_none_or(|most| size.0 <= most)
            && (self.begins.iter().flat_map(|begins| begins.chars())).all(|wanted| {
                digits.next().is_some_and(|d| wanted == '?' || wanted.to_digit(16) == Some(d))
            })
    }

    /// True if the maker of a file is one that writes such caches by itself. A program that was told the name of the file writes
    /// there whatever it was given. Where the maker was not seen, nothing is exempt: it has to be shown, not guessed.
    fn is_made_by(
        &self,
        left: &CacheCandidate<'_>,
        is_system_library: impl Fn(&str) -> bool,
    ) -> bool {
        let Some(maker) = &left.maker else { return false };
        let is_writer = |name: &str| self.by.iter().any(|by| pattern::matches(by, name));
        let is_loaded = |library: &str| {
            let is_it = |path: &str| pattern::matches(library, base_name(path));
            maker.opened.iter().any(|path| is_it(path) && is_system_library(path))
        };
        (self.by.is_empty() || (maker.name.is_some_and(is_writer) && !self.names(left, maker)))
            && self.library.as_ref().is_none_or(|library| is_loaded(library))
    }

    /// True if the words that a program was started with name a file that it made, or may name it: in words that the record does not
    /// keep, or in a file of words (`@FILE`).
    fn names(&self, left: &CacheCandidate<'_>, maker: &FileMaker<'_>) -> bool {
        let name = base_name(left.path.trim_end_matches('/'));
        // The directories that the line itself names are the same for all.
        if left.head.is_none() && self.path.split('/').any(|part| part == name) {
            return false;
        }
        let is_cut =
            |word: &String| word.ends_with('…') || word.len() >= FileMaker::ARGUMENT_LENGTH;
        let is_told = |word: &String| word.starts_with('@') || word.contains(name);
        // (A word that begins with `::` is kept in another form.)
        name.ends_with('…')
            || name.contains("::")
            || maker.argv.is_none_or(|argv| {
                argv.len() >= FileMaker::MOST_ARGUMENTS
                    || argv.iter().any(is_cut)
                    || argv.iter().skip(1).any(is_told)
            })
    }
}

impl Allowlist {
    /// The line that exempts what was left as a system's cache. `is_system_library` says of a path whether a library that may be loaded
    /// lies there.
    ///
    /// Directories on the way to a cache are exempt as well.
    #[must_use]
    pub fn cache(
        &self,
        left: &CacheCandidate<'_>,
        is_system_library: impl Fn(&str) -> bool,
    ) -> Option<&AllowedCache> {
        let (path, home) = (left.path, left.home.trim_end_matches('/'));
        let shortened = match path.strip_prefix(home) {
            Some(rest) if !home.is_empty() && rest.starts_with('/') => format!("~{rest}"),
            _ => path.to_owned(),
        };
        self.caches.iter().find(|cache| {
            let covered = pattern::covers(&cache.path, &shortened);
            let fits = match left.head {
                Some(head) => {
                    covered
                        && cache.accepts(head, left.size)
                        && (left.is_of_its_source || !cache.source)
                }
                // Of a line that says how its files begin, no directory is one, whatever its name.
                None if pattern::is_above(&cache.path, &shortened) => shortened != "~",
                None => covered && cache.begins.is_none() && cache.bytes.is_none(),
            };
            fits && cache.is_made_by(left, &is_system_library)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file or directory of `home/x`, made by a program that was started as `argv` and had opened a library of the system; a file beside
    /// its source.
    fn is_exempt(
        path: &str,
        by: Option<&str>,
        argv: &str,
        opened: &[&str],
        head: Option<&[u8]>,
    ) -> bool {
        let argv: Vec<String> = argv.split(' ').map(str::to_owned).collect();
        let maker = FileMaker { name: by, argv: Some(&argv), opened };
        let size = Bytes(head.map_or(4096, |head| head.len() as u64));
        let left = CacheCandidate {
            path,
            home: "/home/x",
            size,
            head,
            is_of_its_source: true,
            maker: Some(maker),
        };
        let is_system_library = |path: &str| path.starts_with("/usr/lib/");
        Allowlist::built_in().cache(&left, is_system_library).is_some()
    }

    const MODULE: &[u8] = b"CPCH\x01\x08\0\0\x22\x0b\0\0\x07\xc1\xb3\xd0\x8c\xc2";

    #[test]
    fn caches_are_exempt_for_their_writers_only() {
        let exempt = |path: &str, by: Option<&str>, head: Option<&[u8]>| {
            is_exempt(path, by, "program", &[], head)
        };
        let (cargo, python) = (Some("cargo"), Some("python3"));
        assert!(exempt("/home/x/.cargo/.package-cache", cargo, Some(b"")));
        assert!(exempt("/home/x/.cargo", cargo, None));
        assert!(!exempt("/home/x/.cargo/.package-cache", Some("sh"), Some(b"")));
        assert!(!exempt("/home/x/.cargo/.package-cache", None, Some(b"")));
        // Told by -o to write there, rustc and clang write whatever they were given.
        assert!(!exempt("/home/x/.cargo/lib.rmeta", Some("rustc"), Some(b"rust")));
        assert!(!exempt("/home/x/.cache/clang", Some("clang"), Some(b"e2e4")));
        assert!(!exempt("/home/x/.cache/clang/book", Some("clang"), Some(b"e2e4")));
        let module = "/home/x/.cache/clang/ModuleCache/A/m-3IYS.pcm";
        assert!(exempt(module, Some("clang"), Some(MODULE)));
        assert!(exempt("/tmp/w/__pycache__", python, None));
        assert!(!exempt("/tmp/w/__pycache__/e2e4.pyc", python, None));
        assert!(!exempt("/tmp/w/__pycache__/m.pyc/e2e4", python, None));
        assert!(!exempt("/tmp/w/__pycache__", python, Some(b"\xa7\x0d\x0d\x0a")));
        assert!(!exempt("/tmp/w/__pycache__/net.bin", python, Some(b"\xa7\x0d\x0d\x0a")));
        assert!(!exempt("/tmp/ccAbCd.o", Some("cc"), Some(b"")));
        assert!(!exempt("/home/x", cargo, None));
    }

    #[test]
    fn a_cache_that_a_library_writes_is_exempt_for_whoever_has_loaded_the_library() {
        let list = Allowlist::built_in();
        let mut lines = list.caches.iter().filter(|cache| cache.by.is_empty());
        assert!(lines.all(|cache| cache.library.is_some()));
        let exempt = |path: &str, by, opened: &[&str]| {
            let path = format!("/home/x/{path}");
            is_exempt(&path, by, "program", opened, Some(b"\0"))
        };
        for (path, library) in [
            (".nv/ComputeCache/index", "libcuda.so.1"),
            (".nv/ComputeCache/index", "libnvidia-opencl.so.1"),
            (".cache/nvidia/x", "libcuda.so.1"),
            (".cache/pocl/kcache/x", "libpocl.so.2"),
            (".cache/mesa_shader_cache_db/x", "libRusticlOpenCL.so.1"),
            (".cache/neo_compiler_cache/x", "libigdrcl.so"),
        ] {
            let loaded = format!("/usr/lib/{library}");
            assert!(exempt(path, None, &[&loaded]), "{path}");
            assert!(exempt(path, Some("python3"), &["/usr/lib/libc.so.6", &loaded]), "{path}");
            // By a program that has loaded no such library, or one of its own.
            assert!(!exempt(path, None, &[]), "{path}");
            assert!(!exempt(path, None, &["/usr/lib/libc.so.6"]), "{path}");
            assert!(!exempt(path, None, &[&format!("/tmp/{library}")]), "{path}");
        }
        let unseen = CacheCandidate {
            path: "/home/x/.cache/pocl/x",
            home: "/home/x",
            size: Bytes(0),
            head: Some(b""),
            is_of_its_source: false,
            maker: None,
        };
        assert!(list.cache(&unseen, |_| true).is_none());
    }

    #[test]
    fn a_program_that_was_told_the_name_of_a_file_writes_no_cache_there() {
        let exempt = |argv: &str| {
            let path = "/home/x/.cache/clang/ModuleCache/A/m-3IYS.pcm";
            is_exempt(path, Some("clang"), argv, &[], Some(MODULE))
        };
        assert!(exempt("clang -fmodules -fsyntax-only -xc -"));
        assert!(exempt(
            "clang -O3 -fmodules -fmodules-cache-path=/home/x/.cache/clang/ModuleCache a.c"
        ));
        for argv in [
            "clang -E -P -xc - -o /home/x/.cache/clang/ModuleCache/A/m-3IYS.pcm",
            "clang -E -P -xc - -o m-3IYS.pcm",
            "clang -E -P -xc - -om-3IYS.pcm",
            "clang -MD -MF ./m-3IYS.pcm -xc -",
            "clang @words",
            "clang -E -P -xc - -o /home/x/.cache/././././…",
        ] {
            assert!(!exempt(argv), "{argv}");
        }
        // More words than the record keeps.
        assert!(!exempt(&format!("clang{}", " -O2".repeat(15))));
        // The directories of the cache are the same for all; one whose name was told says something.
        let directory = |name: &str, argv: &str| {
            is_exempt(&format!("/home/x/.cache/{name}"), Some("clang"), argv, &[], None)
        };
        let told = "clang -fdisable-module-hash -fmodules-cache-path=/home/x/.cache/clang/ModuleCache/e2e4";
        assert!(directory("clang/ModuleCache", told));
        assert!(!directory("clang/ModuleCache/e2e4", told));
        assert!(directory("clang/ModuleCache/1M6T09ZWTXNFV", "clang -fmodules a.c"));
    }

    #[test]
    fn a_cache_begins_as_its_writer_begins_it() {
        let path = "/tmp/__pycache__/m.cpython-311.pyc";
        let accepts = |head| is_exempt(path, Some("python3"), "python3 m.py", &[], Some(head));
        assert!(accepts(b"\xa7\x0d\x0d\x0a\0\0\0\0\x5b\x04\x05\x6b\x04\0\0\0\xe3\0\0"));
        assert!(accepts(b"P\x01\r\n\0\0\0\0\x5b\x04\x05\x6b\x04\0\0\0c\0\0"));
        assert!(!accepts(b"e2e4"));
        // The head alone, and whatever else stands behind it.
        assert!(!accepts(b"\xa7\x0d\x0d\x0a\0\0"));
        assert!(!accepts(b"\xa7\x0d\x0d\x0ae2e4 e7e5 g1f3 b8c6"));
        assert!(!accepts(b""));
        // Without its source it would be a store like any other.
        let argv = ["python3".to_owned()];
        let maker = FileMaker { name: Some("python3"), argv: Some(&argv), opened: &[] };
        let alone = CacheCandidate {
            path,
            home: "/home/x",
            size: Bytes(20),
            head: Some(b"\xa7\x0d\x0d\x0a\0\0\0\0\x5b\x04\x05\x6b\x04\0\0\0\xe3\0\0"),
            is_of_its_source: false,
            maker: Some(maker),
        };
        assert!(Allowlist::built_in().cache(&alone, |_| true).is_none());
        let clang = |name: &str, head: &[u8]| {
            let path = format!("/home/x/.cache/clang/ModuleCache/{name}");
            is_exempt(&path, Some("clang"), "clang -fmodules a.c", &[], Some(head))
        };
        assert!(clang("A/_Builtin_stddef-1GPWH1Q953AYP.pcm", MODULE));
        assert!(!clang("A/m.pcm", MODULE));
        assert!(!clang("A/m-3IYS.pcm", b"CPCH my own book e2e4 e7e5 g1f3"));
        let index = b"BCGI\x01\x08\0\0\x18\0\0\0\x07\x01\xb2\x20";
        assert!(clang("A/modules.idx", index));
        assert!(!clang("A/modules.idx", b"BCGI my own book e2e4 e7e5 g1f3"));
        assert!(clang("modules.timestamp", b"") && clang("modules.timestamp", b"Timestamp file\n"));
        assert!(!clang("modules.timestamp", b"Timestamp file\ne2e4"));
    }
}
