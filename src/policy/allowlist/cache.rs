//! The caches of the system's programs that an entry may leave behind (7.4): by path, writer and first bytes.

use serde::Deserialize;

use super::{Allowlist, Text};
use crate::policy::pattern;

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
    /// A pattern for the name of the library without which nothing writes it: the line holds where the host has it.
    pub(crate) library: Option<Text>,
    /// The first bytes of such a file: hexadecimal digits, `?` for any digit. None: any bytes.
    pub(crate) begins: Option<Text>,
    /// The rule that exempts it.
    pub(crate) rule: Option<Text>,
    /// The reason that it is exempt.
    pub(crate) reason: Option<Text>,
}

impl AllowedCache {
    /// True if a file that begins with `head` could be such a cache: a name alone proves nothing.
    #[must_use]
    pub(crate) fn accepts(&self, head: &[u8]) -> bool {
        let digits = head.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let mut digits = digits.map(u32::from);
        (self.begins.iter().flat_map(|begins| begins.chars())).all(|wanted| {
            digits.next().is_some_and(|d| wanted == '?' || wanted.to_digit(16) == Some(d))
        })
    }
}

impl Allowlist {
    /// The line that exempts a file left at `path` by the program `made_by` as a system's cache. `head` is what it begins
    /// with, none for a directory; `has_library` tells of the host whether it has a library that matches a pattern.
    ///
    /// Directories on the way to a cache are exempt as well. Where the maker was not seen, only a
    /// line without makers exempts: what is exempt has to be shown, not guessed.
    #[must_use]
    pub fn cache(
        &self,
        path: &str,
        home: &str,
        made_by: Option<&str>,
        head: Option<&[u8]>,
        has_library: impl Fn(&str) -> bool,
    ) -> Option<&AllowedCache> {
        let home = home.trim_end_matches('/');
        let shortened = match path.strip_prefix(home) {
            Some(rest) if !home.is_empty() && rest.starts_with('/') => format!("~{rest}"),
            _ => path.to_owned(),
        };
        self.caches.iter().find(|cache| {
            let maker = cache.by.is_empty()
                || made_by.is_some_and(|name| cache.by.iter().any(|by| pattern::matches(by, name)));
            let covered = pattern::covers(&cache.path, &shortened);
            let fits = match head {
                Some(head) => covered && cache.accepts(head),
                // Of a line that says how its files begin, no directory is one, whatever its name.
                None if pattern::is_above(&cache.path, &shortened) => shortened != "~",
                None => covered && cache.begins.is_none(),
            };
            maker && fits && cache.library.as_ref().is_none_or(|library| has_library(library))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_exempt_for_their_writers_only() {
        let list = Allowlist::built_in();
        let exempt = |path: &str, by: Option<&str>, head: Option<&[u8]>| {
            list.cache(path, "/home/x", by, head, |_| false).is_some()
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
        assert!(exempt("/home/x/.cache/clang/ModuleCache/A/B.pcm", Some("clang"), Some(b"CPCH")));
        assert!(exempt("/tmp/w/__pycache__", python, None));
        assert!(!exempt("/tmp/w/__pycache__/e2e4.pyc", python, None));
        assert!(!exempt("/tmp/w/__pycache__/m.pyc/e2e4", python, None));
        assert!(!exempt("/tmp/w/__pycache__", python, Some(b"\xa7\x0d\x0d\x0a")));
        assert!(!exempt("/tmp/w/__pycache__/net.bin", python, Some(b"\xa7\x0d\x0d\x0a")));
        assert!(!exempt("/tmp/ccAbCd.o", Some("cc"), Some(b"")));
        assert!(!exempt("/home/x", cargo, None));
    }

    #[test]
    fn a_cache_that_a_library_writes_is_exempt_where_the_host_has_the_library() {
        let list = Allowlist::built_in();
        let lines: Vec<&AllowedCache> =
            list.caches.iter().filter(|cache| cache.by.is_empty()).collect();
        assert!(!lines.is_empty() && lines.iter().all(|cache| cache.library.is_some()));
        let exempt = |has: bool| {
            let path = "/home/x/.nv/ComputeCache/index";
            list.cache(path, "/home/x", None, Some(b""), |name| has && name == "libcuda.so*")
                .is_some()
        };
        assert!(exempt(true) && !exempt(false));
    }

    #[test]
    fn a_cache_begins_as_its_writer_begins_it() {
        let list = Allowlist::built_in();
        let path = "/tmp/__pycache__/m.cpython-311.pyc";
        let accepts =
            |head| list.cache(path, "/home/x", Some("python3"), Some(head), |_| false).is_some();
        assert!(accepts(b"\xa7\x0d\x0d\x0a\0\0\0\0\x5b\x04\x05\x6b\x04\0\0\0\xe3\0\0"));
        assert!(accepts(b"P\x01\r\n\0\0\0\0\x5b\x04\x05\x6b\x04\0\0\0c\0\0"));
        assert!(!accepts(b"e2e4"));
        // The head alone, and whatever else stands behind it.
        assert!(!accepts(b"\xa7\x0d\x0d\x0a\0\0"));
        assert!(!accepts(b"\xa7\x0d\x0d\x0ae2e4 e7e5 g1f3 b8c6"));
        assert!(!accepts(b""));
    }
}
