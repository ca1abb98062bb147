//! Files that are written: added to, or replaced whole.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use tempfile::NamedTempFile;

use crate::model::text::shown;

/// The beginning of the names of parts: they lie for moments beside what they become.
pub(crate) const PART: &str = ".gate4k-";

/// The folder that a path lies in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A new file beside a path, which is to take its place; the umask is taken from its mode. The part's own name says nothing to
/// anyone, and no error has it.
///
/// # Errors
/// When no file can be made there.
pub(crate) fn part(path: &Path, mode: u32) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    let made =
        builder.prefix(PART).permissions(Permissions::from_mode(mode)).tempfile_in(folder_of(path));
    made.map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            io::Error::new(ErrorKind::NotFound, "there is no such folder; make it, or name another")
        }
        ErrorKind::PermissionDenied => {
            io::Error::new(ErrorKind::PermissionDenied, "its folder may not be written to")
        }
        kind => kind.into(),
    })
}

/// Puts these bytes into a place as a whole.
///
/// # Errors
/// When they cannot be written.
pub(crate) fn whole(path: &Path, mode: u32, bytes: &[u8]) -> io::Result<()> {
    let mut part = part(path, mode)?;
    part.as_file_mut().write_all(bytes)?;
    part.persist(path)?;
    Ok(())
}

/// Opens a file to add lines to, and makes it where it is not there. A line that was cut off is ended first. A pipe needs its reader:
/// without one an open would wait for ever, and no interrupt would end it.
///
/// # Errors
/// When it cannot be opened, is a pipe that nobody reads, or is packed.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    let opened =
        OpenOptions::new().append(true).create(true).custom_flags(libc::O_NONBLOCK).open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ENXIO) => io::Error::new(
            ErrorKind::BrokenPipe,
            "nobody reads this pipe; start its reader first, or name a file",
        ),
        _ => error,
    })?;
    fcntl(&file, FcntlArg::F_SETFL(OFlag::O_APPEND))?;
    end_last_line(path, &file)?;
    Ok(file)
}

fn end_last_line(path: &Path, mut file: &File) -> io::Result<()> {
    const XZ: &[u8] = b"\xfd7zXZ\0";
    let length = file.metadata().ok().filter(Metadata::is_file).map_or(0, |found| found.len());
    // One that may only be written to is taken as it is.
    let Some(there) = File::open(path).ok().filter(|_| length > 0) else { return Ok(()) };
    let mut start = [0; XZ.len()];
    if there.read_exact_at(&mut start, 0).is_ok() && start == XZ {
        let words =
            "it is packed with xz, and what is added behind that cannot be read; name another file";
        return Err(io::Error::new(ErrorKind::InvalidInput, words));
    }
    let mut last = [0];
    there.read_exact_at(&mut last, length - 1)?;
    if last != *b"\n" {
        file.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes a file in the place of another of the same name: a reader sees the old one or the new one, never half of
/// either. A link stays a link, and what it leads to is replaced.
///
/// # Errors
/// When it cannot be written, or what is there is no regular file: a device or pipe would be lost.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    whole(&replaceable(path)?, 0o666, text.as_bytes())
}

/// The words for an error in writing a file or making a folder, with the next step.
pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> String {
    let next = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "; make room there, and give the command again"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "; name a place that you may write to"
        }
        _ => "",
    };
    format!("cannot write {}: {error}{next}", shown(path))
}

/// Makes a folder, and those above it that are missing.
///
/// # Errors
/// When it cannot be made; where a file is in the way, the error tells what to name.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => io::Error::new(
            error.kind(),
            "a file is in the place of this folder, or of one above it; name another folder",
        ),
        _ => error,
    })
}

/// The path at which a file may be put in the place of another.
///
/// # Errors
/// When what is there is no regular file.
pub(crate) fn replaceable(path: &Path) -> io::Result<PathBuf> {
    match path.metadata() {
        Ok(there) if there.is_file() => path.canonicalize(),
        Ok(there) if there.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(_) => {
            let words = "it is no regular file, and would be replaced by one; name a file";
            Err(io::Error::new(ErrorKind::InvalidInput, words))
        }
        Err(_) => Ok(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileTypeExt;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_is_added_begins_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("games.pgn");
        for (before, after) in [("", "new"), ("1. e4 1-0", "1. e4 1-0\nnew"), ("old\n", "old\nnew")]
        {
            std::fs::write(&path, before).unwrap();
            append(&path).unwrap().write_all(b"new").unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
        }
        let packed = b"\xfd7zXZ\0\0\x04";
        std::fs::write(&path, packed).unwrap();
        let error = append(&path).unwrap_err();
        assert!(error.to_string().contains("xz"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), packed);
    }

    #[test]
    fn nothing_but_a_file_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let there = |name: &str| dir.path().join(name);
        nix::unistd::mkfifo(&there("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        symlink("pipe", there("link")).unwrap();
        for name in ["pipe", "link"] {
            let error = replace(&there(name), "text").unwrap_err();
            assert!(error.to_string().contains("no regular file"), "{error}");
        }
        assert!(std::fs::metadata(there("link")).unwrap().file_type().is_fifo());
        assert!(replace(dir.path(), "text").is_err());
        std::fs::write(there("file"), "old").unwrap();
        symlink("file", there("other")).unwrap();
        replace(&there("other"), "new").unwrap();
        assert!(there("other").is_symlink());
        assert_eq!(std::fs::read_to_string(there("file")).unwrap(), "new");
    }

    #[test]
    fn no_error_has_the_name_of_a_part() {
        let dir = tempfile::tempdir().unwrap();
        let words = |path: &Path| whole(path, 0o600, b"x").unwrap_err().to_string();
        assert!(words(&dir.path().join("no/x")).starts_with("there is no such folder"));
        for path in [dir.path(), Path::new("/proc/self/x")] {
            assert!(!words(path).contains(PART), "{}", words(path));
        }
        whole(&dir.path().join("x"), 0o600, b"all").unwrap();
        assert_eq!(std::fs::read(dir.path().join("x")).unwrap(), b"all");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_error_in_writing_has_a_next_step() {
        for (kind, next) in [
            (ErrorKind::StorageFull, "make room there"),
            (ErrorKind::QuotaExceeded, "make room there"),
            (ErrorKind::ReadOnlyFilesystem, "name a place that you may write to"),
            (ErrorKind::PermissionDenied, "name a place that you may write to"),
        ] {
            let told = cannot_write(Path::new("site/index.html"), &kind.into());
            assert!(told.starts_with("cannot write site/index.html: "), "{told}");
            assert!(told.contains(next), "{told}");
        }
    }

    #[test]
    fn a_file_in_the_place_of_a_folder_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let there = |name: &str| dir.path().join(name);
        std::fs::write(there("file"), "text").unwrap();
        for name in ["file", "file/below"] {
            let error = make_folder(&there(name)).unwrap_err();
            assert!(error.to_string().ends_with("name another folder"), "{error}");
        }
        make_folder(&there("a/b")).unwrap();
        make_folder(&there("a/b")).unwrap();
    }

    #[test]
    fn a_pipe_without_a_reader_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let error = append(&pipe).unwrap_err();
        assert!(error.to_string().contains("nobody reads"), "{error}");
    }
}
