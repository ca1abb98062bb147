//! From the paths of a command line to entries.
//!
//! A directory may be one entry (a file and perhaps engines.json) or hold a directory for each of many. Its content
//! decides between the two, and where that is open, it is one entry: rule `single-file` then names whatever lies beside
//! the engine, and nothing is passed over in silence.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::model::text::shown;

/// The names of texts that repositories keep beside their entries, without regard to case.
const TEXTS: [&str; 6] = ["readme", "license", "licence", "copying", "contributing", "changelog"];
/// The endings of such texts.
const ENDINGS: [&str; 3] = [".md", ".txt", ".toml"];

/// The entries behind one path: the path itself, or the directories in it where it is a directory of entries. A path
/// that cannot be read is left to the judge, who gives the reason.
pub(crate) fn entries(path: &Path) -> Vec<PathBuf> {
    let Some(items) = items(path) else { return vec![path.to_owned()] };
    let (folders, others): (Vec<&Item>, Vec<&Item>) = items.iter().partition(|item| item.is_folder);
    if folders.is_empty() || !others.iter().all(|item| item.is_text()) {
        return vec![path.to_owned()];
    }
    folders.into_iter().map(|item| path.join(&item.name)).collect()
}

/// A word on a directory whose entries may not be those that somebody has in mind: one entry for a file beside several
/// folders, or folders with a text beside them that is about nothing known. `taken` are the entries of all paths.
pub(crate) fn remark(path: &Path, taken: &[PathBuf]) -> Option<String> {
    let items = items(path)?;
    let (folders, others): (Vec<&Item>, Vec<&Item>) = items.iter().partition(|item| item.is_folder);
    if folders.len() < 2 {
        return None;
    }
    let name = |item: &Item| shown(Path::new(&item.name));
    let path_words = shown(path);
    if taken.iter().any(|one| one == path) {
        let beside = name(others.iter().find(|item| !item.is_text())?);
        return Some(format!(
            "{path_words} is taken for one entry, since {beside} lies beside its {} folders; to have each of them judged, name \
             them, or move {beside} into a folder of its own",
            folders.len()
        ));
    }
    let is_passed_over = |item: &&&Item| {
        let words = item.name.to_string_lossy().to_lowercase();
        let stem = words.split('.').next().unwrap_or_default();
        let is_known = TEXTS.contains(&stem) || !words.ends_with(".txt");
        !is_known && !taken.contains(&path.join(&item.name))
    };
    let stray = others.iter().find(is_passed_over)?;
    Some(format!("{} in {path_words} is passed over, as a text beside the entries", name(stray)))
}

/// The entries in a directory that is known to hold nothing else: every file and every directory, but for
/// what is hidden and what is text about the others. None where it cannot be read.
pub(crate) fn all_members(folder: &Path) -> Option<Vec<PathBuf>> {
    let items = items(folder)?;
    Some(items.iter().filter(|item| !item.is_text()).map(|item| folder.join(&item.name)).collect())
}

/// The same for a file of text that is to name them: none, too, where one of them has a name that is no UTF-8.
pub(crate) fn members(folder: &Path) -> Option<Vec<PathBuf>> {
    let members = all_members(folder)?;
    let is_text = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_str().is_some());
    members.iter().all(is_text).then_some(members)
}

struct Item {
    name: OsString,
    is_folder: bool,
    is_file: bool,
}

impl Item {
    /// True if it is a file that a repository keeps about entries, and no entry.
    fn is_text(&self) -> bool {
        let name = self.name.to_string_lossy().to_lowercase();
        let stem = name.split('.').next().unwrap_or_default();
        self.is_file
            && (TEXTS.contains(&stem) || ENDINGS.iter().any(|ending| name.ends_with(ending)))
    }
}

/// Returns the items of a directory that are not hidden, in the order of names, whatever bytes these are.
fn items(folder: &Path) -> Option<Vec<Item>> {
    if !folder.symlink_metadata().ok()?.is_dir() {
        return None;
    }
    let mut items = Vec::new();
    for found in folder.read_dir().ok()? {
        let found = found.ok()?;
        let name = found.file_name();
        if !name.as_encoded_bytes().starts_with(b".") {
            let kind = found.file_type().ok()?;
            items.push(Item { name, is_folder: kind.is_dir(), is_file: kind.is_file() });
        }
    }
    items.sort_by(|a, b| a.name.cmp(&b.name));
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    fn tree(names: &[&str]) -> tempfile::TempDir {
        let top = tempfile::tempdir().unwrap();
        for name in names {
            let path = top.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        top
    }

    fn found(names: &[&str]) -> Vec<String> {
        let top = tree(names);
        let entries = entries(top.path());
        let below = |path: &PathBuf| path.strip_prefix(top.path()).unwrap().display().to_string();
        entries.iter().map(below).collect()
    }

    #[test]
    fn a_directory_of_directories_holds_entries() {
        assert_eq!(found(&["b/engine", "a/engine", "a/engines.json"]), ["a", "b"]);
        let with_texts =
            ["a/engine", "README.md", "LICENSE", "gate4k.toml", ".gitignore", ".git/x"];
        assert_eq!(found(&with_texts), ["a"]);
    }

    #[test]
    fn a_directory_with_a_file_of_its_own_is_one_entry() {
        assert_eq!(found(&["engine"]), [""]);
        assert_eq!(found(&["engine", "engines.json"]), [""]);
        // Rule single-file names `data`: this must not become an entry and a directory of entries.
        assert_eq!(found(&["engine", "data/net"]), [""]);
        assert_eq!(found(&["README.md"]), [""]);
        assert_eq!(found(&[".hidden/engine"]), [""]);
    }

    #[test]
    fn what_is_no_directory_is_left_to_the_judge() {
        let top = tree(&["a/engine"]);
        let link = top.path().join("link");
        std::os::unix::fs::symlink(top.path().join("a"), &link).unwrap();
        for path in [link, top.path().join("a/engine"), top.path().join("missing")] {
            assert_eq!(entries(&path), std::slice::from_ref(&path));
        }
        // A link among directories is nobody's text.
        assert_eq!(entries(top.path()), [top.path()]);
    }

    #[test]
    fn a_name_that_is_no_text_is_one_among_others() {
        let top = tree(&["a/engine", "d/engine"]);
        let odd = top.path().join(OsStr::from_bytes(b"c\xff"));
        fs::create_dir(&odd).unwrap();
        let all = [top.path().join("a"), odd.clone(), top.path().join("d")];
        assert_eq!(entries(top.path()), all);
        assert_eq!(all_members(top.path()).unwrap(), all);
        assert_eq!(members(top.path()), None);
        // Hidden, and text, by what of its name is text.
        for name in [b".\xff".as_slice(), b"\xff.md", b"README.\xff"] {
            fs::write(top.path().join(OsStr::from_bytes(name)), "x").unwrap();
        }
        assert_eq!(entries(top.path()), all);
        fs::remove_dir(odd).unwrap();
        assert_eq!(members(top.path()).unwrap().len(), 2);
    }

    #[test]
    fn what_may_have_been_meant_otherwise_is_told() {
        let told = |names: &[&str]| {
            let top = tree(names);
            remark(top.path(), &entries(top.path()))
        };
        let loose = told(&["a/engine", "b/engine", "solo"]).unwrap();
        assert!(loose.contains("for one entry, since solo lies beside its 2 folders"), "{loose}");
        let stray = told(&["a/engine", "b/engine", "stray.txt", "README.txt"]).unwrap();
        assert!(stray.starts_with("stray.txt in "), "{stray}");
        for plain in [
            &["a/engine", "b/engine", "README.md", "notes.md", "licence.txt"][..],
            &["engine", "data/net"],
            &["engine", "engines.json"],
        ] {
            assert_eq!(told(plain), None);
        }
        // A directory that is said to hold entries holds files too.
        let top = tree(&["a/engine", "b/engine", "solo"]);
        assert_eq!(remark(top.path(), &all_members(top.path()).unwrap()), None);
    }

    #[test]
    fn a_directory_that_is_said_to_hold_entries_holds_files_too() {
        let top = tree(&["a/engine", "b", "README.md", ".x"]);
        let names: Vec<_> = all_members(top.path()).unwrap();
        assert_eq!(names, [top.path().join("a"), top.path().join("b")]);
        assert_eq!(all_members(&top.path().join("b")), None);
    }
}
