//! Files that an entry leaves behind in its private workspace, looked for after its last process has ended.

use std::fs::{FileType, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use walkdir::WalkDir;

use crate::model::evidence::LeftFile;
use crate::model::text::escape;
use crate::model::units::Bytes;
use crate::sandbox::fs::workspace::Watched;

/// The files that remain, as far as there is room for them.
pub(in crate::sandbox) struct Left {
    pub(in crate::sandbox) files: Vec<LeftFile>,
    pub(in crate::sandbox) complete: bool,
}

/// At most so many are listed.
const MOST: usize = 500;

/// Everything in the watched directories, without the directories themselves.
///
/// `made_by` is asked with the path as the entry knows it, `cache` with the path as it is shown.
pub(in crate::sandbox) fn scan(
    watched: &[Watched],
    made_by: impl Fn(&Path) -> Option<String>,
    cache: impl Fn(&str, Option<&str>, Option<&[u8]>) -> Option<String>,
) -> Left {
    let mut left = Vec::new();
    for place in watched {
        // The real path may be a link to a descriptor; the walk itself follows no links.
        let walk =
            WalkDir::new(place.real.join(".")).min_depth(1).follow_links(false).sort_by_file_name();
        for item in walk {
            if left.len() >= MOST {
                return Left { files: left, complete: false };
            }
            let (path, kind, size) = match &item {
                Ok(item) => {
                    let size = item.metadata().map(|m| m.len()).unwrap_or_default();
                    (item.path(), kind(item.file_type()), Bytes(size))
                }
                // A directory that cannot be read is left all the same.
                Err(error) => match error.path() {
                    Some(path) => (path, "unreadable", Bytes(0)),
                    None => continue,
                },
            };
            let inner = path.strip_prefix(place.real.join(".")).unwrap_or(path);
            let shown = place.shown.join(inner);
            let made_by = made_by(&place.inside.join(inner));
            let text = escape(shown.as_os_str().as_bytes(), 300);
            let head = if kind == "file" { head(path) } else { None };
            let exempt = cache(&text, made_by.as_deref(), head.as_deref());
            left.push(LeftFile { path: text, size, kind: kind.to_owned(), made_by, exempt });
        }
    }
    Left { files: left, complete: true }
}

/// How a regular file begins.
fn head(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    file.take(64).read_to_end(&mut head).ok()?;
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
        std::os::unix::fs::symlink("/nowhere", dir.path().join("d/l")).unwrap();
        let watched =
            [Watched { real: dir.path().to_owned(), inside: "/t".into(), shown: "/tmp".into() }];
        let left = scan(&watched, |_| Some("cc".into()), |_, _, _| None).files;
        let seen: Vec<_> =
            left.iter().map(|f| (f.path.as_str(), f.kind.as_str(), f.size.0)).collect();
        assert_eq!(seen[0], ("/tmp/.hidden", "file", 5));
        assert_eq!((seen[1].0, seen[1].1), ("/tmp/d", "directory"));
        assert_eq!((seen[2].0, seen[2].1), ("/tmp/d/l", "symlink"));
        assert_eq!(left[0].made_by.as_deref(), Some("cc"));
    }
}
