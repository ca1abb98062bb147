//! Files that an entry leaves behind in its private workspace, looked for after its last process has ended.

use std::fs::{FileType, Metadata, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use walkdir::WalkDir;

use crate::model::evidence::LeftFile;
use crate::model::text::escape;
use crate::model::units::Bytes;
use crate::sandbox::fs::workspace::{StagedEntry, WatchedDirectory};
use crate::sandbox::inspect::python_cache::is_of_its_source;

/// The files that remain, as far as there is room for them.
pub(in crate::sandbox) struct LeftFiles {
    pub(in crate::sandbox) files: Vec<LeftFile>,
    pub(in crate::sandbox) complete: bool,
}

/// A file or directory that remains, as it is asked whether it is a cache.
pub(in crate::sandbox) struct Remains<'a> {
    /// Its path as the entry knows it.
    pub(in crate::sandbox) inside: &'a Path,
    /// Its path as it is shown.
    pub(in crate::sandbox) shown: &'a str,
    pub(in crate::sandbox) size: Bytes,
    /// Device and inode.
    pub(in crate::sandbox) inode: Option<(u64, u64)>,
    /// The first bytes of a regular file.
    pub(in crate::sandbox) head: Option<&'a [u8]>,
    /// True for what Python compiled of a source that lies beside it.
    pub(in crate::sandbox) is_of_its_source: bool,
}

/// The longest time for which files that remain are looked for, however many there are: others wait for this entry.
pub(in crate::sandbox) const LONGEST: Duration = Duration::from_secs(10);
/// The most files that are listed.
const MOST: usize = 500;
/// Directories within each other that are looked into; each keeps a descriptor open.
const DEEPEST: usize = 64;

/// Everything in the watched directories, without the directories themselves.
///
/// After `longest` no more is looked for, and the list is not complete. `made_by` is asked with the path as the entry knows it.
pub(in crate::sandbox) fn scan(
    watched: &[WatchedDirectory],
    longest: Duration,
    made_by: impl Fn(&Path) -> Option<String>,
    cache: impl Fn(&Remains<'_>) -> Option<String>,
) -> LeftFiles {
    let mut left = Vec::new();
    let mut complete = true;
    let until = Instant::now() + longest;
    for place in watched {
        // The real path may be a link to a descriptor; the walk itself follows no links. A directory is read as it is
        // walked, so that one with a million names takes no memory for those that are not listed.
        let walk = WalkDir::new(place.real.join("."))
            .min_depth(1)
            .max_depth(DEEPEST)
            .max_open(DEEPEST + 1)
            .follow_links(false)
            .into_iter()
            // Such a directory shows what the host has there, as long as its mount lives.
            .filter_entry(|item| !place.bound.contains(&place.named_inside(item.path())));
        let first = left.len();
        for item in walk {
            if left.len() >= MOST || Instant::now() >= until {
                complete = false;
                break;
            }
            let (path, kind, size, inode) = match &item {
                Ok(item) => {
                    complete &= item.depth() < DEEPEST || !item.file_type().is_dir();
                    let found = item.metadata().ok();
                    let size = found.as_ref().map(Metadata::len).unwrap_or_default();
                    let inode = found.map(|found| (found.dev(), found.ino()));
                    (item.path(), kind(item.file_type()), Bytes(size), inode)
                }
                // A directory that cannot be read is left all the same.
                Err(error) => match error.path() {
                    Some(path) => (path, "unreadable", Bytes(0), None),
                    None => {
                        complete = false;
                        continue;
                    }
                },
            };
            let inside = place.named_inside(path);
            if place.entry.as_ref().is_some_and(|entry| is_unchanged(entry, &inside, path)) {
                continue;
            }
            let shown = place.shown.join(inside.strip_prefix(&place.inside).unwrap_or(&inside));
            if kind == "directory" && place.bound.iter().any(|bound| bound.starts_with(&inside)) {
                continue;
            }
            let made_by = made_by(&inside);
            let text = escape(shown.as_os_str().as_bytes(), 300);
            let head = head(path);
            let head = head.as_deref().filter(|_| kind == "file");
            let remains = Remains {
                inside: &inside,
                shown: &text,
                size,
                inode,
                head,
                is_of_its_source: head.is_some_and(|head| is_of_its_source(path, head)),
            };
            // The target of a link, or a file that cannot be read, could say anything.
            let exempt = match (kind, head) {
                ("file", Some(_)) | ("directory", _) => cache(&remains),
                _ => None,
            };
            left.push(LeftFile { path: text, size, kind: kind.to_owned(), made_by, exempt });
        }
        if let Some(here) = left.get_mut(first..) {
            here.sort_by(|a, b| a.path.cmp(&b.path));
            count_empty_directories(here);
        }
    }
    LeftFiles { files: left, complete }
}

/// Makes directories count that lead to no cache: their names, and how they lie in each other, could say anything.
fn count_empty_directories(files: &mut [LeftFile]) {
    let caches = files.iter().filter(|file| file.exempt.is_some() && file.kind != "directory");
    let caches: Vec<String> = caches.map(|file| file.path.clone()).collect();
    for directory in files.iter_mut().filter(|file| file.kind == "directory") {
        let leads_to = |cache: &String| {
            cache.strip_prefix(&directory.path).is_some_and(|rest| rest.starts_with('/'))
        };
        if !caches.iter().any(leads_to) {
            directory.exempt = None;
        }
    }
}

/// True for the entry's own file, as it was handed in.
fn is_unchanged(entry: &StagedEntry, inside: &Path, path: &Path) -> bool {
    let length = entry.bytes.len() as u64 + 1;
    inside == entry.path
        && first_bytes(path, length).is_some_and(|found| found[..] == entry.bytes[..])
}

/// The bytes of a regular file by which caches are known.
fn head(path: &Path) -> Option<Vec<u8>> {
    first_bytes(path, 64)
}

/// The first bytes of a regular file, at most `length`.
fn first_bytes(path: &Path, length: u64) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    file.take(length).read_to_end(&mut head).ok()?;
    Some(head)
}

fn kind(file_type: FileType) -> &'static str {
    if file_type.is_dir() {
        "directory"
    } else if file_type.is_symlink() {
        "symlink"
    } else if file_type.is_fifo() {
        "fifo"
    } else if file_type.is_socket() {
        "socket"
    } else {
        "file"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_hidden_files_directories_and_links() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(".hidden"), b"12345").unwrap();
        std::fs::create_dir(dir.path().join("d")).unwrap();
        std::fs::create_dir_all(dir.path().join("made/for/it")).unwrap();
        std::os::unix::fs::symlink("/nowhere", dir.path().join("d/l")).unwrap();
        let watched = [WatchedDirectory {
            real: dir.path().to_owned(),
            inside: "/t".into(),
            shown: "/tmp".into(),
            bound: vec!["/t/made/for/it".into()],
            entry: None,
        }];
        let left = scan(&watched, LONGEST, |_| Some("cc".into()), |_| None).files;
        let seen: Vec<_> =
            left.iter().map(|f| (f.path.as_str(), f.kind.as_str(), f.size.0)).collect();
        assert_eq!(seen.len(), 3, "{seen:?}");
        assert_eq!(seen[0], ("/tmp/.hidden", "file", 5));
        assert_eq!((seen[1].0, seen[1].1), ("/tmp/d", "directory"));
        assert_eq!((seen[2].0, seen[2].1), ("/tmp/d/l", "symlink"));
        assert_eq!(left[0].made_by.as_deref(), Some("cc"));
    }

    #[test]
    fn only_files_and_directories_are_ever_a_cache() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("directory/empty")).unwrap();
        std::fs::write(dir.path().join("directory/file"), b"12345").unwrap();
        std::os::unix::fs::symlink("e2e4", dir.path().join("symlink")).unwrap();
        let watched = [WatchedDirectory {
            real: dir.path().to_owned(),
            inside: "/t".into(),
            shown: "/tmp".into(),
            bound: vec!["/t/made/for/it".into()],
            entry: None,
        }];
        let left = scan(&watched, LONGEST, |_| None, |one| Some(format!("{:?}", one.head))).files;
        let seen: Vec<_> = left.iter().map(|f| (f.kind.as_str(), f.exempt.as_deref())).collect();
        let head = format!("{:?}", Some(b"12345"));
        // Nor is a directory one that leads to none.
        let expected = [
            ("directory", Some("None")),
            ("directory", None),
            ("file", Some(head.as_str())),
            ("symlink", None),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn what_lies_too_deep_or_is_too_much_is_said() {
        let scan_for = |dir: &Path, longest| {
            let watched = [WatchedDirectory {
                real: dir.to_owned(),
                inside: "/t".into(),
                shown: "/tmp".into(),
                bound: Vec::new(),
                entry: None,
            }];
            scan(&watched, longest, |_| None, |_| None)
        };
        let scan_of = |dir: &Path| scan_for(dir, LONGEST);
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("d/".repeat(DEEPEST - 1))).unwrap();
        let left = scan_of(dir.path());
        assert!(left.complete && left.files.len() == DEEPEST - 1);
        std::fs::create_dir_all(dir.path().join("d/".repeat(DEEPEST + 10))).unwrap();
        let left = scan_of(dir.path());
        assert!(!left.complete && left.files.len() == DEEPEST);
        let at_once = scan_for(dir.path(), Duration::ZERO);
        assert!(!at_once.complete && at_once.files.is_empty());
        let dir = tempfile::tempdir().unwrap();
        for number in 0..=MOST {
            std::fs::write(dir.path().join(number.to_string()), "").unwrap();
        }
        let left = scan_of(dir.path());
        assert!(!left.complete && left.files.len() == MOST);
    }
}
