//! The journal: the event itself, one record a line, only ever added to. Standings, PGN, resuming and
//! verifying are all derived from it.
//!
//! Every record is on the disk before anything that follows from it happens. A last record that was torn by
//! a crash is cut off when the journal is opened for writing, with a notice; damage before it is an error
//! that names the place, and nothing is repaired.

mod line;
pub mod record;
mod repair;

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::model::text::shown;
use crate::model::units::Bytes;
pub use record::Record;
pub use repair::{Repaired, repair};

/// The version of the journal's form.
pub const VERSION: u32 = 1;

/// How long the lock of a runner that has just ended is waited for.
const LINGERING: Duration = Duration::from_millis(1500);

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be opened or read.
    #[error("cannot read the journal {}: {source}", shown(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A record could not be kept.
    #[error(
        "cannot write to the journal {}: {source}; nothing that it holds is lost: make room or mend the \
         disk, then run the event again",
        shown(path)
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else writes to it.
    #[error(
        "another runner is writing to {}; let it go on, or end it before you start one",
        shown(path)
    )]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// A record in the middle is not what was written.
    #[error(
        "the journal {} is damaged at line {line} (byte {offset}): {what}; put back a copy that is whole, \
         this one is left as it is",
        shown(path)
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// Where it begins, in bytes.
        offset: u64,
        /// What is wrong.
        what: String,
    },
    /// The last record is not what was written: a crash of the host may have left it so.
    #[error(
        "the last record of the journal {} (line {line}, byte {offset}) is not whole: {what}; put back a copy that \
         is, or let `gate4k event repair` cut off these {}, of which it keeps a copy",
        shown(path),
        Bytes(*bytes)
    )]
    LastDamaged {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// Where it begins, in bytes.
        offset: u64,
        /// How many bytes of it there are.
        bytes: u64,
        /// The fault.
        what: String,
    },
    /// The file is something else, or of another version.
    #[error("{} is no journal that this gate4k can read: {what}", shown(path))]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Why.
        what: String,
    },
}

/// A last record that was not written to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Which line, from 1.
    pub line: u64,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// How many bytes of it there were.
    pub bytes: u64,
}

/// A journal as it was read.
#[derive(Debug, Default)]
struct Position {
    /// Records so far.
    number: u64,
    /// The last one's checksum.
    crc: u32,
    /// Bytes so far.
    offset: u64,
}

/// Whether a file begins as a journal does.
#[must_use]
pub fn is_journal(path: &Path) -> bool {
    let mut head = vec![0; line::BEGINNING.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == line::BEGINNING.as_bytes()
}

/// Reads a journal, handing on every record with the line it stands on; it may be in use. Gives the torn
/// end, if there is one.
///
/// # Errors
/// When it cannot be read, is damaged before its last line, or `take` finds a record that cannot be.
pub fn read(
    path: &Path,
    take: &mut dyn FnMut(u64, Record) -> Result<(), String>,
) -> Result<Option<Torn>, JournalError> {
    let file =
        File::open(path).map_err(|source| JournalError::Read { path: path.to_owned(), source })?;
    Ok(scan(path, &file, &mut |_| true, take)?.1)
}

/// As [`read`], for readers that want few kinds of records: `wanted` sees the text of each, and what it
/// declines is checked but not understood.
///
/// # Errors
/// As for [`read`].
pub fn read_some(
    path: &Path,
    wanted: &mut dyn FnMut(&str) -> bool,
    take: &mut dyn FnMut(u64, Record) -> Result<(), String>,
) -> Result<Option<Torn>, JournalError> {
    let file =
        File::open(path).map_err(|source| JournalError::Read { path: path.to_owned(), source })?;
    Ok(scan(path, &file, wanted, take)?.1)
}

fn scan(
    path: &Path,
    file: &File,
    wanted: &mut dyn FnMut(&str) -> bool,
    take: &mut dyn FnMut(u64, Record) -> Result<(), String>,
) -> Result<(Position, Option<Torn>), JournalError> {
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut at = Position::default();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let length = reader
            .read_until(b'\n', &mut bytes)
            .map_err(|source| JournalError::Read { path: path.to_owned(), source })?;
        if length == 0 {
            return Ok((at, None));
        }
        let path_of = || path.to_owned();
        let (line, offset) = (at.number + 1, at.offset);
        let damaged = |what| JournalError::Damaged { path: path_of(), line, offset, what };
        let Some((b'\n', text)) = bytes.split_last() else {
            // No line end: the write did not reach its end.
            let bytes = length as u64;
            return Ok((
                at.clone_end(),
                Some(Torn { line: at.number + 1, offset: at.offset, bytes }),
            ));
        };
        let line = match whole(text, &at) {
            Ok(line) => line,
            // All that was there before it is. Of a file whose first record is not whole nothing is known.
            Err(what) if at.number > 0 && is_at_end(&mut reader, path)? => {
                let bytes = length as u64;
                return Err(JournalError::LastDamaged {
                    path: path_of(),
                    line,
                    offset,
                    bytes,
                    what,
                });
            }
            Err(what) => return Err(damaged(what)),
        };
        if at.number == 0 || wanted(line.record) {
            let record: Record = serde_json::from_str(line.record)
                .map_err(|error| damaged(format!("it cannot be understood: {error}")))?;
            if at.number == 0 {
                check_header(path, &record)?;
            }
            take(at.number + 1, record).map_err(damaged)?;
        }
        at = Position { number: at.number + 1, crc: line.crc, offset: at.offset + length as u64 };
    }
}

/// A line's record, where it is the one that is due after what was read.
fn whole<'a>(text: &'a [u8], at: &Position) -> Result<line::Line<'a>, String> {
    if text.contains(&0) {
        return Err("it holds zero bytes, as a host that crashed leaves them".into());
    }
    let text = std::str::from_utf8(text).map_err(|_| "it is no UTF-8 text")?;
    let line = line::read(text).ok_or("it is no record")?;
    if line.number != at.number {
        return Err(format!("it has the number {} where {} is due", line.number, at.number));
    }
    let crc = line::checksum(at.crc, line.number, line.record);
    if crc != line.crc {
        return Err(format!("its checksum is {:08x} and should be {crc:08x}", line.crc));
    }
    Ok(line)
}

fn is_at_end(reader: &mut impl BufRead, path: &Path) -> Result<bool, JournalError> {
    let rest = reader.fill_buf();
    let rest = rest.map_err(|source| JournalError::Read { path: path.to_owned(), source })?;
    Ok(rest.is_empty())
}

impl Position {
    fn clone_end(&self) -> Position {
        Position { number: self.number, crc: self.crc, offset: self.offset }
    }
}

fn check_header(path: &Path, record: &Record) -> Result<(), JournalError> {
    let foreign = |what| JournalError::Foreign { path: path.to_owned(), what };
    match record {
        Record::Header(header) if header.version == VERSION => Ok(()),
        Record::Header(header) => {
            Err(foreign(format!("it is of version {}, and this is for {VERSION}", header.version)))
        }
        _ => Err(foreign("it does not begin with a header".into())),
    }
}

/// A journal that is open for writing, for one runner alone.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Flock<File>,
    at: Position,
    text: String,
    /// Set where a failed write could not be taken back: what follows would stand behind a torn record.
    broken: bool,
}

impl Journal {
    /// Opens a journal, or makes an empty one; hands on the records that it holds. A torn end is cut off and
    /// told.
    ///
    /// # Errors
    /// When it is in use, cannot be read or written, or is damaged.
    pub fn open(
        path: &Path,
        take: &mut dyn FnMut(u64, Record) -> Result<(), String>,
    ) -> Result<(Journal, Option<Torn>), JournalError> {
        let failed = |source| JournalError::Read { path: path.to_owned(), source };
        let is_new = !path.exists();
        let file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
        let file = lock(path, file)?;
        if is_new {
            sync_directory(path).map_err(failed)?;
        }
        let (at, torn) = scan(path, &file, &mut |_| true, take)?;
        let mut journal =
            Journal { path: path.to_owned(), file, at, text: String::new(), broken: false };
        if torn.is_some() {
            journal.take_back()?;
        }
        Ok((journal, torn))
    }

    /// The records that it holds.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.at.number
    }

    /// Adds a record; it is on the disk when this returns.
    ///
    /// # Errors
    /// When it could not be kept; the journal then ends with the record before it.
    pub fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        let failed = |source| JournalError::Write { path: self.path.clone(), source };
        if self.broken {
            return Err(failed(io::Error::other("a write before this one failed")));
        }
        let json = serde_json::to_string(record).map_err(|error| failed(error.into()))?;
        self.text.clear();
        let crc = line::write(&mut self.text, self.at.crc, self.at.number, &json);
        let written =
            (&*self.file).write_all(self.text.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(source) = written {
            let error = failed(source);
            if self.take_back().is_err() {
                self.broken = true;
            }
            return Err(error);
        }
        self.at.number += 1;
        self.at.crc = crc;
        self.at.offset += self.text.len() as u64;
        Ok(())
    }

    /// Cuts off what stands behind the last whole record.
    fn take_back(&mut self) -> Result<(), JournalError> {
        self.file
            .set_len(self.at.offset)
            .and_then(|()| self.file.sync_all())
            .map_err(|source| JournalError::Write { path: self.path.clone(), source })
    }
}

fn lock(path: &Path, file: File) -> Result<Flock<File>, JournalError> {
    let deadline = Instant::now() + LINGERING;
    let mut file = file;
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(locked) => return Ok(locked),
            // A runner that was killed may still be being taken down.
            Err((again, Errno::EWOULDBLOCK)) if Instant::now() < deadline => {
                file = again;
                std::thread::sleep(Duration::from_millis(20));
            }
            Err((_, Errno::EWOULDBLOCK)) => {
                return Err(JournalError::Locked { path: path.to_owned() });
            }
            Err((_, error)) => {
                return Err(JournalError::Read { path: path.to_owned(), source: error.into() });
            }
        }
    }
}

/// A new file is only there for good when its directory is on the disk.
fn sync_directory(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::record::Header;
    use super::*;
    use proptest::prelude::*;

    fn header() -> Record {
        Record::Header(Header {
            version: VERSION,
            event: "Test".into(),
            gate4k: "0".into(),
            settings: String::new(),
            settings_sha256: String::new(),
        })
    }

    fn note(text: &str) -> Record {
        Record::Note { text: text.into() }
    }

    /// A journal with these notes, and where each of its lines begins.
    pub(super) fn written(notes: &[String]) -> (tempfile::TempDir, PathBuf, Vec<usize>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        let (mut journal, torn) = Journal::open(&path, &mut |_, _| Ok(())).unwrap();
        assert_eq!(torn, None);
        let mut begins = vec![0];
        for record in std::iter::once(header()).chain(notes.iter().map(|text| note(text))) {
            journal.append(&record).unwrap();
            begins.push(std::fs::metadata(&path).unwrap().len() as usize);
        }
        (dir, path, begins)
    }

    pub(super) fn notes_of(path: &Path) -> Result<(Vec<String>, Option<Torn>), JournalError> {
        let mut notes = Vec::new();
        let torn = read(path, &mut |_, record| {
            if let Record::Note { text } = record {
                notes.push(text);
            }
            Ok(())
        })?;
        Ok((notes, torn))
    }

    #[test]
    fn a_second_runner_is_refused_and_a_reader_is_not() {
        let (_dir, path, _) = written(&["a".into()]);
        let (_one, _) = Journal::open(&path, &mut |_, _| Ok(())).unwrap();
        let error = Journal::open(&path, &mut |_, _| Ok(())).unwrap_err();
        assert!(error.to_string().contains("another runner"), "{error}");
        assert_eq!(notes_of(&path).unwrap().0, ["a"]);
    }

    #[test]
    fn another_version_and_another_file_are_told() {
        let (_dir, path, _) = written(&[]);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(is_journal(&path));
        let record =
            text.split_once(r#""record":"#).unwrap().1.trim_end().strip_suffix('}').unwrap();
        let mut other = String::new();
        line::write(&mut other, 0, 0, &record.replacen("\"version\":1", "\"version\":9", 1));
        std::fs::write(&path, other).unwrap();
        assert!(notes_of(&path).unwrap_err().to_string().contains("version 9"));
        std::fs::write(&path, "[Event \"x\"]\n").unwrap();
        assert!(!is_journal(&path));
        assert!(notes_of(&path).unwrap_err().to_string().contains("line 1 (byte 0)"));
    }

    #[test]
    fn a_line_left_out_is_noticed() {
        let (_dir, path, begins) = written(&["a".into(), "b".into(), "c".into()]);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.drain(begins[2]..begins[3]);
        std::fs::write(&path, &bytes).unwrap();
        let error = notes_of(&path).unwrap_err().to_string();
        assert!(error.contains("line 3"), "{error}");
        assert!(error.contains("the number 3 where 2 is due"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn a_torn_end_is_cut_off_wherever_it_tore(
            notes in proptest::collection::vec("\\PC{0,20}", 1..6), cut in 1usize..400,
        ) {
            let (_dir, path, begins) = written(&notes);
            let whole = std::fs::read(&path).unwrap();
            let length = begins[1].max(whole.len().saturating_sub(cut));
            std::fs::write(&path, &whole[..length]).unwrap();
            let kept = begins.iter().filter(|begin| **begin <= length).count() - 2;
            let torn = !begins.contains(&length);
            {
                let (mut journal, told) = Journal::open(&path, &mut |_, _| Ok(())).unwrap();
                prop_assert_eq!(told.is_some(), torn);
                prop_assert_eq!(journal.records() as usize, kept + 1);
                journal.append(&note("more")).unwrap();
            }
            let (read, torn) = notes_of(&path).unwrap();
            prop_assert_eq!(torn, None);
            let mut expected = notes[..kept].to_vec();
            expected.push("more".into());
            prop_assert_eq!(read, expected);
        }

        #[test]
        fn damage_in_the_middle_names_its_place_and_changes_nothing(
            notes in proptest::collection::vec("[a-z]{1,20}", 2..6), at in 0usize..2000, bit in 0u8..7,
        ) {
            let (_dir, path, begins) = written(&notes);
            let mut bytes = std::fs::read(&path).unwrap();
            // Any byte before the last line.
            let at = at % begins[begins.len() - 2];
            bytes[at] ^= 1 << bit;
            std::fs::write(&path, &bytes).unwrap();
            let line = begins.iter().filter(|begin| **begin <= at).count();
            let told = Journal::open(&path, &mut |_, _| Ok(())).unwrap_err().to_string();
            let place = format!("line {line} (byte {})", begins[line - 1]);
            prop_assert!(told.contains(&place) || told.contains("no journal"), "{}", told);
            prop_assert_eq!(std::fs::read(&path).unwrap(), bytes);
        }
    }
}
