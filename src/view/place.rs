//! The place of an entry, as a report tells it.
//!
//! GitHub, and viewers of SARIF, want files as they lie in the repository, not as they were named from
//! wherever the program was started.

use std::path::{Component, Path, PathBuf};

use crate::model::text::shown;

/// The directory that relative paths start from, and the one that they are told from.
#[derive(Clone, Debug, Default)]
pub struct BasePaths {
    /// The directory that paths were given in: the current one.
    pub base: PathBuf,
    /// The directory that they are told from: the top of the repository.
    pub root: PathBuf,
}

impl BasePaths {
    /// The path below the root, with `/` between its parts; the whole path where it lies elsewhere.
    /// Links are not followed: what counts is the name that the repository has.
    pub(crate) fn relative(&self, path: &Path) -> PathBuf {
        let whole = plain(&plain(&self.base).join(path));
        match whole.strip_prefix(plain(&self.root)) {
            Ok(below) if below.as_os_str().is_empty() => ".".into(),
            Ok(below) => below.to_owned(),
            Err(_) => whole,
        }
    }

    /// As [`BasePaths::relative`], as one harmless line.
    pub(crate) fn line(&self, path: &Path) -> String {
        shown(&self.relative(path))
    }

    /// A reference of RFC 3986: relative below the root, `file:` elsewhere.
    pub(crate) fn uri(&self, path: &Path) -> String {
        let relative = self.relative(path);
        let mut uri = String::new();
        if relative.is_absolute() {
            uri.push_str("file://");
        }
        for byte in relative.as_os_str().as_encoded_bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                    uri.push(char::from(*byte));
                }
                byte => uri.push_str(&format!("%{byte:02X}")),
            }
        }
        uri
    }
}

/// Without `.`, and without `..` where that can be told from the words alone.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> BasePaths {
        BasePaths { base: "/repo/entries".into(), root: "/repo".into() }
    }

    #[test]
    fn files_are_told_from_the_top_of_the_repository() {
        for (path, told) in [
            ("tiny/engine", "entries/tiny/engine"),
            ("./tiny//engine", "entries/tiny/engine"),
            ("../other", "other"),
            ("/repo/x", "x"),
            ("/repo", "."),
            ("/elsewhere/x", "/elsewhere/x"),
            ("../../x", "/x"),
        ] {
            assert_eq!(places().relative(Path::new(path)), Path::new(told), "{path}");
        }
    }

    #[test]
    fn a_uri_has_no_sign_that_means_something() {
        assert_eq!(places().uri(Path::new("a b%\n:é?#")), "entries/a%20b%25%0A%3A%C3%A9%3F%23");
        assert_eq!(places().uri(Path::new("/tmp/x")), "file:///tmp/x");
        assert_eq!(places().line(Path::new("a\nb")), "entries/a\\nb");
    }
}
