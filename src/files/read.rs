//! Files that are read: a pipe that nobody writes to is empty, a device has no end, and a text has a bound.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::model::units::Bytes;

/// The most bytes of a file of settings, of an event or of engines: a parser needs several times as many.
pub(crate) const SETTINGS: Bytes = Bytes(16 << 20);

/// The most bytes of a receipt, of thousands of entries.
pub(crate) const RECEIPT: Bytes = Bytes(256 << 20);

/// The most bytes of a small file that gate4k itself keeps: a mark, a list of files, the games under way.
pub(crate) const KEPT: Bytes = Bytes(64 << 20);

/// The most bytes of a book.
pub(crate) const BOOK: Bytes = Bytes(1 << 30);

/// The time that a pipe may be without a writer, in milliseconds: one that is begun beside us opens it soon.
const WRITER: u16 = 2000;

/// Opens a file or pipe. A pipe that nobody writes to is empty, in place of waiting for ever.
///
/// # Errors
/// When it cannot be opened, or is a directory.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if kind.is_fifo() {
        let flags = PollFlags::POLLIN | PollFlags::POLLHUP;
        poll(&mut [PollFd::new(file.as_fd(), flags)], PollTimeout::from(WRITER))?;
    }
    fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(file)
}

/// Opens a file or pipe that is read to its end, however long it is.
///
/// # Errors
/// When it cannot be opened, or is a directory or a device, which has no end.
pub(crate) fn stream(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_char_device() || kind.is_block_device() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is a device; name a file"));
    }
    Ok(file)
}

/// Reads a whole file.
///
/// # Errors
/// As [`stream`], and when it cannot be read or is longer.
pub(crate) fn bytes(path: &Path, most: Bytes) -> io::Result<Vec<u8>> {
    within(stream(path)?, most)
}

/// Reads a whole text.
///
/// # Errors
/// When it cannot be opened or read, is a directory, is longer, or is not in UTF-8.
pub(crate) fn text(path: &Path, most: Bytes) -> io::Result<String> {
    in_utf8(within(open(path)?, most)?)
}

/// Reads a whole text that gate4k keeps by itself: whatever else lies in its place is not read, and nobody waits for it.
///
/// # Errors
/// When it is no regular file, cannot be opened or read, is longer, or is not in UTF-8.
pub(crate) fn kept(path: &Path) -> io::Result<String> {
    // Some devices do something when they are opened.
    regular(path.metadata()?)?;
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    regular(file.metadata()?)?;
    in_utf8(within(file, KEPT)?)
}

fn regular(seen: Metadata) -> io::Result<()> {
    if seen.is_file() {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "it is no regular file"))
}

fn in_utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let (bytes, valid) = (error.as_bytes(), error.utf8_error().valid_up_to());
        let line = 1 + bytes.iter().take(valid).filter(|byte| **byte == b'\n').count();
        let words = format!("line {line} is no text in UTF-8; save the file in UTF-8");
        io::Error::new(ErrorKind::InvalidData, words)
    })
}

fn within(file: File, most: Bytes) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.0 + 1).read_to_end(&mut bytes)?;
    if Bytes::of(&bytes) > most {
        let words = format!("it is longer than {}, the most that is read", most.human());
        return Err(io::Error::new(ErrorKind::InvalidData, words));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    fn why(read: io::Result<impl Sized>) -> String {
        read.err().expect("an error").to_string()
    }

    #[test]
    fn a_text_has_a_bound_whatever_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("text");
        std::fs::write(&path, "12345678").unwrap();
        assert_eq!(text(&path, Bytes(8)).unwrap(), "12345678");
        assert!(why(text(&path, Bytes(7))).contains("longer than 7 B"));
        // A file that is longer than memory has nothing but a hole.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(why(bytes(&path, Bytes(7))).contains("longer than 7 B"));
        assert!(why(text(Path::new("/dev/zero"), Bytes(7))).contains("longer than 7 B"));
        assert_eq!(text(Path::new("/dev/null"), Bytes(7)).unwrap(), "");
    }

    #[test]
    fn nothing_but_a_regular_file_is_one_of_ours() {
        let dir = tempfile::tempdir().unwrap();
        let there = |name: &str| dir.path().join(name);
        nix::unistd::mkfifo(&there("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        std::os::unix::fs::symlink("/dev/zero", there("link")).unwrap();
        for path in [&there("pipe"), &there("link"), dir.path()] {
            assert!(why(kept(path)).contains("no regular file"), "{}", path.display());
        }
        assert_eq!(kept(&there("none")).unwrap_err().kind(), ErrorKind::NotFound);
        std::fs::write(there("file"), "text").unwrap();
        assert_eq!(kept(&there("file")).unwrap(), "text");
        File::create(there("file")).unwrap().set_len(1 << 40).unwrap();
        assert!(why(kept(&there("file"))).contains("longer"));
    }

    #[test]
    fn the_line_that_is_no_text_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("text");
        std::fs::write(&path, b"a\nb\nc\xe9d\n").unwrap();
        assert!(why(text(&path, SETTINGS)).starts_with("line 3 is no text in UTF-8"));
    }

    #[test]
    fn what_has_no_end_is_no_stream() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(stream(dir.path()).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert!(why(stream(Path::new("/dev/zero"))).contains("it is a device"));
        let socket = dir.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        assert!(stream(&socket).is_err());
    }

    #[test]
    fn a_pipe_is_read_from_its_writer_and_is_empty_without_one() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(text(&pipe, SETTINGS).unwrap(), "");
        std::thread::scope(|scope| {
            // It waits for us, and we for what it writes.
            scope.spawn(|| std::fs::write(&pipe, "written").unwrap());
            assert_eq!(text(&pipe, SETTINGS).unwrap(), "written");
        });
    }
}
