//! Standard output, of which the reader may have had enough.

use std::io::{self, ErrorKind, Write};

/// A writer that goes on quietly when its reader has gone away (`gate4k check * | head`): what is
/// left to judge is still judged, so that the exit code does not depend on who reads.
#[derive(Debug)]
pub(crate) struct Output<W> {
    inner: W,
    gone: bool,
}

impl<W: Write> Output<W> {
    pub(crate) fn new(inner: W) -> Output<W> {
        Output { inner, gone: false }
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
        self.try_once(bytes.len(), |inner| inner.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
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
        let mut out = Output::new(Once(false, ErrorKind::BrokenPipe));
        for _ in 0..3 {
            out.write_all(b"line\n").unwrap();
        }
        let mut out = Output::new(Once(false, ErrorKind::StorageFull));
        out.write_all(b"line\n").unwrap();
        assert!(out.write_all(b"line\n").is_err());
    }
}
