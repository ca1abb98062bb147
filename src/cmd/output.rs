//! Standard output, of which the reader may have had enough, and which breaks lines where a terminal would.

use std::io::{self, ErrorKind, Write};

use crate::view::text;

/// A writer that goes on quietly when its reader has gone away (`gate4k check * | head`): what is
/// left to judge is still judged, so that the exit code does not depend on who reads.
#[derive(Debug)]
pub(crate) struct Output<W> {
    inner: W,
    gone: bool,
    /// The number of columns after which a terminal would break a line in the midst of a word.
    width: Option<usize>,
    /// The written part of a line that has not ended.
    line: Vec<u8>,
}

impl<W: Write> Output<W> {
    /// Lines of more than `width` columns are broken at blanks, if there is a width.
    pub(crate) fn new(inner: W, width: Option<usize>) -> Output<W> {
        Output { inner, gone: false, width, line: Vec::new() }
    }

    fn fitted(&mut self, bytes: &[u8], width: usize) -> io::Result<()> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.whole_line(width)?;
            }
        }
        Ok(())
    }

    fn whole_line(&mut self, width: usize) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        match std::str::from_utf8(&line) {
            Ok(line) => {
                let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
                let fitted = text::fit(text, width) + end;
                self.try_once((), |inner| inner.write_all(fitted.as_bytes()))
            }
            Err(_) => self.try_once((), |inner| inner.write_all(&line)),
        }
    }

    fn try_once<T>(
        &mut self,
        otherwise: T,
        act: impl FnOnce(&mut W) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.gone {
            return Ok(otherwise);
        }
        match act(&mut self.inner) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(otherwise)
            }
            result => result,
        }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.width {
            Some(width) => self.fitted(bytes, width).map(|()| bytes.len()),
            None => self.try_once(bytes.len(), |inner| inner.write(bytes)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(width) = self.width.filter(|_| !self.line.is_empty()) {
            self.whole_line(width)?;
        }
        self.try_once((), Write::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes one write, then fails with the given kind.
    struct Once(bool, ErrorKind);

    impl Write for Once {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if std::mem::replace(&mut self.0, true) { Err(self.1.into()) } else { Ok(bytes.len()) }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_left_is_no_error_but_a_full_disk_is() {
        let mut out = Output::new(Once(false, ErrorKind::BrokenPipe), None);
        for _ in 0..3 {
            out.write_all(b"line\n").unwrap();
        }
        let mut out = Output::new(Once(false, ErrorKind::StorageFull), None);
        out.write_all(b"line\n").unwrap();
        assert!(out.write_all(b"line\n").is_err());
    }

    #[test]
    fn lines_are_broken_where_a_terminal_would_break_them() {
        let mut page = Vec::new();
        let mut out = Output::new(&mut page, Some(12));
        out.write_all(b"one two th").unwrap();
        out.write_all(b"ree four\nshort\nno end").unwrap();
        out.flush().unwrap();
        drop(out);
        assert_eq!(String::from_utf8(page).unwrap(), "one two\n  three four\nshort\nno end");
    }
}
