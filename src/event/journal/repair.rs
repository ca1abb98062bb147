//! Cutting off a last record that is not whole, which is offered and never done unasked: who kept a copy of the journal may
//! have it whole there.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{
    JournalError, JournalKind, JournalRecord, Position, RecordPlace, lock, regular, scan,
    sync_directory,
};

/// A record that was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The number of the line, from 1.
    pub(crate) line: u64,
    /// The number of its bytes that there were.
    pub(crate) bytes: u64,
    /// Where these are kept.
    pub(crate) kept: PathBuf,
}

/// Cuts off a last record that is not whole, and keeps it in a file beside the journal; none where all is whole.
///
/// # Errors
/// When the journal is in use, cannot be read or written, or is damaged before its last record.
pub fn repair(path: &Path) -> Result<Option<Repaired>, JournalError> {
    repair_of::<JournalRecord>(path)
}

/// As [`repair`], for a journal of any kind.
///
/// # Errors
/// As for [`repair`].
pub(crate) fn repair_of<R: JournalKind>(path: &Path) -> Result<Option<Repaired>, JournalError> {
    let unopened = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => JournalError::Read { path: path.to_owned(), source },
        _ => JournalError::Open { path: path.to_owned(), source },
    };
    let opened =
        OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(path);
    let file = opened.map_err(unopened)?;
    regular(path, &file)?;
    let file = lock(path, file)?;
    let nothing = &mut |_, _: R| Ok(());
    let begin = Position::default();
    let RecordPlace { line, offset, bytes } =
        match scan(path, &file, begin, u64::MAX, None, nothing) {
            Ok((_, None)) => return Ok(None),
            Ok((_, Some(place))) | Err(JournalError::LastDamaged { place, .. }) => place,
            Err(error) => return Err(error),
        };
    let kept = path.with_added_extension(format!("cut-{offset}"));
    let failed = |source| JournalError::Write { path: path.to_owned(), source };
    keep(&file, offset, &kept)
        .map_err(|source| JournalError::Write { path: kept.clone(), source })?;
    file.set_len(offset).and_then(|()| file.sync_all()).map_err(failed)?;
    Ok(Some(Repaired { line, bytes, kept }))
}

/// Copies what is cut off; it is on the disk when this returns.
fn keep(mut file: &File, offset: u64, kept: &Path) -> io::Result<()> {
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.read_to_end(&mut tail)?;
    let mut copy = File::create(kept)?;
    copy.write_all(&tail)?;
    copy.sync_all()?;
    sync_directory(kept)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{notes_of, written};
    use super::super::{Journal, line};
    use super::*;

    /// The states in which a crash may leave the bytes behind `from`: none of them, zeros for all, or for those of the first block.
    fn left(whole: &[u8], from: usize, to: usize) -> [Vec<u8>; 3] {
        let cut = whole[..from].to_vec();
        let mut zeros = whole[..to].to_vec();
        zeros[from..].fill(0);
        let mut first = whole[..to].to_vec();
        first[from..from + (to - from).div_ceil(2)].fill(0);
        [cut, zeros, first]
    }

    /// Every record is a place where the power may go: at its end, and after each of its bytes.
    #[test]
    fn nothing_that_was_on_the_disk_is_lost_wherever_the_power_goes() {
        let notes = ["first".to_owned(), "second, longer".to_owned(), "ü third".to_owned()];
        let (_dir, path, begins) = written(&notes);
        let whole = std::fs::read(&path).unwrap();
        let mut offered = 0;
        // The record that was being written when the power went; those before it were on the disk. The first is the header.
        for (at, ends) in begins.windows(2).enumerate() {
            let kept = &notes[..at.saturating_sub(1)];
            for from in ends[0]..ends[1] {
                for bytes in left(&whole, from, ends[1]) {
                    std::fs::write(&path, &bytes).unwrap();
                    let opened = Journal::open(&path, &mut |_, _| Ok(())).map(|_| ());
                    if let Err(error) = opened {
                        // With its line end on the disk it is not cut off unasked.
                        assert!(matches!(error, JournalError::LastDamaged { .. }), "{error}");
                        assert!(error.to_string().contains("event repair"), "{error}");
                        assert_eq!(std::fs::read(&path).unwrap(), bytes);
                        let repaired = repair(&path).unwrap().unwrap();
                        assert_eq!(repaired.line as usize, at + 1);
                        let copy = std::fs::read(&repaired.kept).unwrap();
                        assert_eq!(copy, bytes[ends[0]..]);
                        offered += 1;
                    }
                    let (read, torn) = notes_of(&path).unwrap();
                    assert_eq!((&read[..], torn), (kept, None));
                    assert_eq!(repair(&path).unwrap(), None);
                }
            }
        }
        assert!(offered > 0);
    }

    /// Nothing is known of another file, and nothing of it may be cut off.
    #[test]
    fn a_file_of_one_line_that_is_no_journal_is_never_cut_off() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        let flipped = br#"{"n":0,"sha256":"","record":{}}"#;
        for bytes in [&b"[Event \"x\"]\0\0\n"[..], b"text\n", b"text\0", &flipped[..], b"x\0\n"] {
            std::fs::write(&path, bytes).unwrap();
            if bytes.ends_with(b"}") {
                std::fs::write(&path, [bytes, b"\n"].concat()).unwrap();
            }
            assert!(repair(&path).is_err(), "{bytes:?}");
        }
    }

    /// As of a journal that this user may not write.
    #[test]
    fn a_file_that_cannot_be_written_is_not_said_to_be_unreadable() {
        let dir = tempfile::tempdir().unwrap();
        let error = repair(dir.path()).unwrap_err();
        assert!(matches!(error, JournalError::Open { .. }), "{error}");
        let missing = repair(&dir.path().join("none")).unwrap_err();
        assert!(matches!(missing, JournalError::Read { .. }), "{missing}");
    }

    #[test]
    fn damage_before_the_last_record_is_never_cut_off() {
        let (_dir, path, begins) = written(&["a".into(), "b".into()]);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[begins[1] + line::BEGINNINGS[0].len()..begins[2] - 1].fill(0);
        std::fs::write(&path, &bytes).unwrap();
        let error = repair(&path).unwrap_err().to_string();
        assert!(error.contains("is damaged at line 2"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
}
