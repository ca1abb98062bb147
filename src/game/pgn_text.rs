//! The text of a PGN on its way to the parser: plain or xz, its lines counted, blank lines inside a
//! game's moves harmless, lines that begin with `%` left out, and words told that the parser would pass over.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lzma_rust2::XzReader;
use pgn_reader::{RawTag, Reader};

use super::pgn_words::WordWatch;
pub(crate) use super::pgn_words::unread;
use crate::files::read;
use crate::model::text::escape;

/// The first bytes of an xz file (the .xz file format, section 2.1.1.1).
const XZ_MAGIC: [u8; 6] = [0xfd, b'7', b'z', b'X', b'Z', 0];

/// The memory that an xz file may make us allocate, in KiB; `xz -9` needs 64 MiB.
const XZ_MEMORY_KIB: u32 = 256 << 10;

/// The first bytes of files that hold games and are no PGN, and the names of their formats.
const OTHERS: [(&[u8], &str); 8] = [
    (b"\x1f\x8b", "packed with gzip"),
    (b"BZh", "packed with bzip2"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd"),
    (b"PK\x03\x04", "a zip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
    (b"version https://git-lfs", "a pointer to a file in Git LFS, not the file"),
];

/// Unpacks what starts like an xz file, whatever its name, and leaves everything else as it is.
///
/// # Errors
/// When it cannot be read, or starts like a file of another kind.
pub(crate) fn unpacked(mut input: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut start = Vec::new();
    input.by_ref().take(32).read_to_end(&mut start)?;
    if let Some((_, what)) = OTHERS.iter().find(|(mark, _)| start.starts_with(mark)) {
        let what =
            format!("it is {what}; games are read from plain text (UTF-8, Latin-1) and from xz");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let packed = start.starts_with(&XZ_MAGIC);
    let whole = io::Cursor::new(start).chain(input);
    Ok(if packed {
        Box::new(Packed(XzReader::new_mem_limit(whole, true, XZ_MEMORY_KIB)))
    } else {
        Box::new(whole)
    })
}

/// A reader of the games of a file, plain or xz, whose tags and comments may have so many bytes.
///
/// # Errors
/// As [`unpacked`], and when the file cannot be opened.
pub(crate) fn reader(
    path: &Path,
    tag_bytes: usize,
    comment_bytes: usize,
) -> io::Result<Reader<Lines<Box<dyn Read + Send>>>> {
    let (lines, _) = Lines::new(unpacked(Box::new(read::stream(path)?))?);
    Ok(Reader::build(lines)
        .set_supported_tag_line_length(tag_bytes)
        .set_supported_comment_length(comment_bytes)
        .finish())
}

/// The value of a tag as one harmless line of so many characters at most.
pub(crate) fn tag(value: RawTag<'_>, most: usize) -> String {
    escape(decoded(value.decode().trim_ascii()).as_bytes(), most)
}

/// A text: UTF-8, or Latin-1 where it is none (PGN standard, 4.1).
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into(),
    }
}

/// An unpacked stream, whose errors say that it was packed.
struct Packed<R>(R);

impl<R: Read> Read for Packed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            kind => io::Error::new(kind, format!("the xz file is damaged or cut off ({error})")),
        })
    }
}

/// The number of line ends that were handed on; it can be read while the parser owns the reader.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineCount(Arc<AtomicU64>);

impl LineCount {
    /// The line at which the parser stands, from 1, given what it has not looked at yet.
    pub(crate) fn line(&self, unread: &[u8]) -> u64 {
        let ahead = unread.iter().filter(|byte| is_line_end(**byte)).count() as u64;
        (self.0.load(Ordering::Relaxed) + 1).saturating_sub(ahead)
    }
}

fn is_line_end(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

/// Hands text on with `\n` for every line end, but with `\r` for a line end that makes a blank line,
/// unless tags follow: the parser takes a blank line for the end of a game, and PGN does not say so.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    chunk: Vec<u8>,
    /// The place in `chunk` from which it is still to be looked at.
    at: usize,
    /// Line ends that wait for what follows them.
    held: usize,
    /// Line ends that are on their way out, and whether they are blank lines within a game.
    out: usize,
    joined: bool,
    blank_ends: bool,
    first: bool,
    begun: bool,
    ended: bool,
    fault: Option<io::Error>,
    count: LineCount,
    watch: WordWatch,
    /// Bytes that are handed on before anything else is read.
    due: VecDeque<u8>,
}

impl<R: Read> Lines<R> {
    /// A blank line ends a game, as in a book of games without tags.
    pub(super) fn of_book(input: R) -> Lines<R> {
        Lines { blank_ends: true, ..Lines::new(input).0 }
    }

    pub(crate) fn new(input: R) -> (Lines<R>, LineCount) {
        let count = LineCount::default();
        let lines = Lines {
            input,
            chunk: Vec::new(),
            at: 0,
            held: 0,
            out: 0,
            joined: false,
            blank_ends: false,
            first: false,
            begun: false,
            ended: false,
            fault: None,
            count: count.clone(),
            watch: WordWatch::default(),
            due: VecDeque::new(),
        };
        (lines, count)
    }

    /// The next byte of the input that matters; none at its end.
    fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            while let Some(byte) = self.chunk.get(self.at) {
                if *byte != b'\r' {
                    return Ok(Some(*byte));
                }
                self.at += 1;
            }
            if self.ended {
                return Ok(None);
            }
            self.chunk.resize(1 << 14, 0);
            self.at = 0;
            let read = loop {
                match self.input.read(&mut self.chunk) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    other => break other,
                }
            };
            // After an error nothing is left to look at, and nothing more is asked for.
            self.chunk.truncate(*read.as_ref().unwrap_or(&0));
            self.ended = !matches!(read, Ok(1..));
            read?;
        }
    }

    /// The next byte for the parser; none at the end.
    fn next(&mut self) -> io::Result<Option<u8>> {
        if let Some(byte) = self.due.pop_front() {
            return Ok(Some(byte));
        }
        let next = self.next_of_file()?;
        let told = match next {
            Some(byte) => self.watch.push(byte),
            None => self.watch.end(),
        };
        let Some(told) = told else { return Ok(next) };
        self.due.extend(told.bytes().chain(next));
        Ok(self.due.pop_front())
    }

    /// Leaves out what stands behind a `%` at the beginning of a line (PGN standard, 6).
    fn skip_escaped(&mut self) -> io::Result<()> {
        if !self.watch.is_in_comment() && self.peek()? == Some(b'%') {
            while self.peek()?.is_some_and(|byte| byte != b'\n') {
                self.at += 1;
            }
        }
        Ok(())
    }

    fn next_of_file(&mut self) -> io::Result<Option<u8>> {
        if self.out == 0 {
            if !std::mem::replace(&mut self.begun, true) {
                self.skip_escaped()?;
            }
            while self.peek()? == Some(b'\n') {
                self.at += 1;
                self.held += 1;
                self.skip_escaped()?;
            }
            let next = self.peek()?;
            if self.held == 0 {
                self.at += usize::from(next.is_some());
                return Ok(next);
            }
            self.out = std::mem::take(&mut self.held);
            self.joined = !self.blank_ends && !matches!(next, None | Some(b'['));
            self.first = true;
        }
        self.out -= 1;
        self.count.0.fetch_add(1, Ordering::Relaxed);
        let blank = !std::mem::take(&mut self.first);
        Ok(Some(if blank && self.joined { b'\r' } else { b'\n' }))
    }
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        for (filled, place) in buffer.iter_mut().enumerate() {
            match self.next() {
                Ok(Some(byte)) => *place = byte,
                Ok(None) => return Ok(filled),
                // Bytes before an error are handed on first.
                Err(error) if filled == 0 => return Err(error),
                Err(error) => {
                    self.fault = Some(error);
                    return Ok(filled);
                }
            }
        }
        Ok(buffer.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(text: &str) -> (String, LineCount) {
        let (mut lines, count) = Lines::new(text.as_bytes());
        let mut out = String::new();
        lines.read_to_string(&mut out).unwrap();
        (out, count)
    }

    #[test]
    fn blank_lines_end_a_game_only_before_tags() {
        let (out, _) = through("[A \"b\"]\r\n\r\n1. e4\n\n\ne5 *\n\n[A \"c\"]\n\n*\n\n");
        assert_eq!(out, "[A \"b\"]\n\r1. e4\n\r\re5 *\n\n[A \"c\"]\n\r*\n\n");
    }

    #[test]
    fn a_line_that_is_escaped_is_no_text() {
        let (out, count) = through("% 0-1\n[A \"b\"]\n\n1. e4\n% 0-1 {\ne5 {\n%} x\n} *\n%");
        assert_eq!(out, "\n[A \"b\"]\n\r1. e4\n\re5 {\n%} x{[%unread x]}\n} *\n");
        assert_eq!(count.line(b""), 9);
    }

    #[test]
    fn a_word_that_is_no_move_is_told_behind_it() {
        let (out, _) = through("1. e2-e4 e5 *");
        assert_eq!(out, "1. e2-e4{[%unread e2-e4]} e5 *");
        assert_eq!(unread(b"[%unread e2-e4]").as_deref(), Some("e2-e4"));
        assert_eq!(through("1. foo").0, "1. foo{[%unread foo]}");
    }

    #[test]
    fn text_that_is_no_utf_8_is_latin_1() {
        assert_eq!(decoded(b"Jos\xe9"), "José");
        assert_eq!(decoded("José".as_bytes()), "José");
    }

    #[test]
    fn lines_are_counted_up_to_what_is_unread() {
        let (out, count) = through("1\n2\n\n3\n4");
        assert_eq!(count.line(b""), 5);
        assert_eq!(count.line(&out.as_bytes()[2..]), 2);
        assert_eq!(count.line(out.as_bytes()), 1);
    }

    #[test]
    fn what_came_before_an_error_is_read_first() {
        struct Broken(bool);
        impl Read for Broken {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                if std::mem::replace(&mut self.0, true) {
                    return Err(io::Error::other("torn"));
                }
                buffer[..3].copy_from_slice(b"123");
                Ok(3)
            }
        }
        let (mut lines, _) = Lines::new(Broken(false));
        let mut buffer = [0; 8];
        assert_eq!(lines.read(&mut buffer).unwrap(), 3);
        assert_eq!(lines.read(&mut buffer).unwrap_err().to_string(), "torn");
        assert_eq!(lines.read(&mut buffer).unwrap(), 0);
    }

    #[test]
    fn files_of_another_kind_are_named() {
        for (mark, what) in OTHERS {
            let text: &'static [u8] = [mark, b"the rest of it"].concat().leak();
            let error = unpacked(Box::new(text)).err().unwrap().to_string();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn plain_text_passes_even_when_it_is_shorter_than_the_mark_of_xz() {
        for text in ["", "ab", "[Event \"x\"]\n"] {
            let mut out = String::new();
            let mut plain = unpacked(Box::new(io::Cursor::new(text.as_bytes()))).unwrap();
            plain.read_to_string(&mut out).unwrap();
            assert_eq!(out, text);
        }
    }
}
