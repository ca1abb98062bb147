//! A file of a trusted engine that must not change as long as the engine plays (4k rule 4.4): its sum, and by what a change is noticed
//! without reading it again.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::model::text::{sha256, shown};

/// A file as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FrozenFile {
    path: PathBuf,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub(crate) sha256: String,
    stamp: FileStamp,
}

/// The marks of a file that the kernel changes with each write and each replacement: device, inode, size, and the time of the last
/// change of either (`ctime`, which nobody can set).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl FileStamp {
    fn of(file: &Metadata) -> FileStamp {
        FileStamp {
            device: file.dev(),
            inode: file.ino(),
            size: file.size(),
            changed: (file.ctime(), file.ctime_nsec()),
        }
    }
}

impl FrozenFile {
    /// Reads a file. The stamp is taken first: a file that is written meanwhile is one that has changed.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn read(path: &Path) -> io::Result<FrozenFile> {
        let stamp = FileStamp::of(&std::fs::metadata(path)?);
        Ok(FrozenFile { path: path.to_owned(), sha256: sha256(std::fs::read(path)?), stamp })
    }

    /// The change of the file since, in words; none where its bytes are the same.
    pub(crate) fn change(&self) -> Option<String> {
        let path = shown(&self.path);
        let now = std::fs::metadata(&self.path).map(|file| FileStamp::of(&file));
        if now.as_ref().is_ok_and(|now| *now == self.stamp) {
            return None;
        }
        match now.and_then(|_| FrozenFile::read(&self.path)) {
            Ok(now) if now.sha256 == self.sha256 => None,
            Ok(now) => Some(format!(
                "{path} changed since it was frozen: SHA-256 {}, it was {}; put the old one back",
                now.sha256, self.sha256
            )),
            Err(why) => Some(format!("{path} cannot be read any more: {why}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_changed_where_its_bytes_have() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("net");
        std::fs::write(&path, "old").unwrap();
        let frozen = FrozenFile::read(&path).unwrap();
        assert_eq!(frozen.change(), None);
        std::fs::write(&path, "old").unwrap();
        assert_eq!(frozen.change(), None);
        std::fs::write(dir.path().join("new"), "new").unwrap();
        std::fs::rename(dir.path().join("new"), &path).unwrap();
        let change = frozen.change().unwrap();
        assert!(change.contains(&sha256("new")) && change.contains(&frozen.sha256), "{change}");
        std::fs::remove_file(&path).unwrap();
        assert!(frozen.change().unwrap().contains("cannot be read"));
    }
}
