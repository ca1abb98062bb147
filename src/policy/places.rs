//! Path patterns of the allow-list, expanded to what this host has.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::pattern;
use crate::sandbox::patiently;

/// Expands patterns, remembering directory listings.
#[derive(Debug, Default)]
pub(super) struct Expander {
    listed: HashMap<PathBuf, Vec<PathBuf>>,
}

impl Expander {
    /// Every existing path that the pattern names. A `**` at the end names the directory itself (a grant
    /// on it covers what is below); elsewhere it is not expanded, since that would walk the whole disk.
    pub(super) fn expand(&mut self, pattern: &str) -> Vec<PathBuf> {
        let pattern = pattern.strip_suffix("/**").unwrap_or(pattern);
        if pattern.contains("**") || !pattern.starts_with('/') {
            return Vec::new();
        }
        let mut paths = vec![PathBuf::from("/")];
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            if part.contains('*') {
                paths = paths.iter().flat_map(|dir| self.matching(dir, part)).collect();
            } else {
                for path in &mut paths {
                    path.push(part);
                }
                paths.retain(|path| path.exists());
            }
        }
        paths
    }

    /// As [`Expander::expand`], with the paths that the pattern names below a toolchain of Rust that lies elsewhere.
    pub(super) fn expand_beside(&mut self, pattern: &str, rust: Option<&Path>) -> Vec<PathBuf> {
        let mut paths = self.expand(pattern);
        if let (Some(rust), Some(rest)) = (rust, pattern.strip_prefix("/usr/")) {
            paths.extend(self.expand(&rust.join(rest).to_string_lossy()));
        }
        paths
    }

    fn matching(&mut self, dir: &Path, part: &str) -> Vec<PathBuf> {
        let fits = |path: &&PathBuf| {
            path.file_name().is_some_and(|name| pattern::matches(part, &name.to_string_lossy()))
        };
        let listing = self.listed.entry(dir.to_owned()).or_insert_with(|| children(dir));
        listing.iter().filter(fits).cloned().collect()
    }
}

/// The name of a file or directory, broken UTF-8 replaced.
pub(super) fn name_of(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// The paths in a directory, sorted; none where it cannot be read.
pub(super) fn children(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = patiently(|| std::fs::read_dir(dir))
        .map(|items| items.filter_map(Result::ok).map(|item| item.path()).collect())
        .unwrap_or_default();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stay_within_a_component() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a1/x", "a2/x", "b/x", "a1/y"] {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let top = dir.path().to_string_lossy();
        let mut expander = Expander::default();
        assert_eq!(expander.expand(&format!("{top}/a*/x")).len(), 2);
        assert_eq!(expander.expand(&format!("{top}/a*")).len(), 2);
        assert_eq!(expander.expand(&format!("{top}/nowhere/*")).len(), 0);
        assert_eq!(expander.expand(&format!("{top}/b/**")), [dir.path().join("b")]);
    }
}
