//! The journal: the event itself, one record a line, only ever added to. Standings, PGN, resuming and
//! verifying are all derived from it.
//!
//! Every record is on the disk before anything that follows from it happens. A last record that was torn by
//! a crash is cut off when the journal is opened for writing, with a notice; damage before it is an error
//! that names the place, and nothing is repaired.
//!
//! Each record carries the sum of all before it ([`RecordChain`]), and the last of them stands for the whole journal.

mod bounds;
mod chain;
mod error;
#[cfg(test)]
mod every_record;
mod line;
mod outcome;
pub mod record;
mod repair;
mod withdrawn;

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::files::write::folder_of;
pub(crate) use chain::RecordChain;
pub use error::JournalError;
pub use record::JournalRecord;
pub(crate) use repair::repair_of;
pub use repair::{Repaired, repair};

/// The version of the journal's form.
pub const VERSION: u32 = 1;

/// The wait for the lock of a runner that has just ended.
const LINGERING: Duration = Duration::from_millis(1500);

/// The length of a journal, and the sum of all of its records up to there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The number of records.
    pub(crate) records: u64,
    /// The sum of the last of them.
    pub(crate) sum: RecordChain,
}

/// The records of one kind of journal. All kinds have the same lines and the same chain of sums.
pub trait JournalKind: Serialize + DeserializeOwned {
    /// The command that cuts off a last record that is not whole, such as "let `gate4k …`".
    const REPAIR: &'static str;
    /// The next step where a file is none of these journals, such as "name a file that `--journal` wrote".
    const ORIGIN: &'static str;
    /// The version of these journals.
    const VERSION: u32;
    /// The fault of a journal whose first record is not of this kind.
    const NO_HEADER: &'static str;

    /// The version that a first record names; none where it is no first record.
    fn version(&self) -> Option<u32>;

    /// Checks that a journal of this kind and version begins with this record.
    ///
    /// # Errors
    /// Says how it is another one.
    fn begins(&self) -> Result<(), String> {
        match self.version() {
            Some(version) if version == Self::VERSION => Ok(()),
            Some(version) => {
                Err(format!("it is of version {version}, and this is for {}", Self::VERSION))
            }
            None => Err(Self::NO_HEADER.into()),
        }
    }

    /// Checks that what a record tells can be.
    ///
    /// # Errors
    /// Says what of it cannot.
    fn within_bounds(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Where a record stands in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// The number of the line, from 1.
    pub line: u64,
    /// Where it begins, in bytes.
    pub(crate) offset: u64,
    /// The number of its bytes that there are, with its line end.
    pub(crate) bytes: u64,
}

/// The journal of an event.
pub type Journal = JournalOf<JournalRecord>;

/// A journal as it was read.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    /// Records so far.
    number: u64,
    /// The last one's sum.
    chain: RecordChain,
    /// The last one's checksum, as gate4k 0.1 writes it; none where it has only the sum.
    crc: Option<u32>,
    /// Bytes so far.
    offset: u64,
}

/// No record is longer: what is, was not written by gate4k, and is not read into memory.
const LONGEST: u64 = 64 << 20;

/// True if a file begins as a journal does.
pub(crate) fn is_journal(path: &Path) -> bool {
    let Ok(file) = open(path) else { return false };
    let mut head = Vec::new();
    let longest = line::BEGINNINGS.iter().map(|b| b.len()).max().unwrap_or_default();
    let read = file.take(longest as u64).read_to_end(&mut head);
    read.is_ok() && line::BEGINNINGS.iter().any(|b| head.starts_with(b.as_bytes()))
}

/// The first line of a journal with its end; none where it is not there whole.
pub(crate) fn first_line(path: &Path) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    BufReader::new(open(path).ok()?.take(LONGEST)).read_until(b'\n', &mut line).ok()?;
    line.ends_with(b"\n").then_some(line)
}

/// The number of the first lines of a journal that gate4k 0.1 wrote; nothing else has their checksums.
pub(crate) fn lines_of_0_1(path: &Path) -> u64 {
    let Ok(file) = open(path) else { return 0 };
    let mut reader = BufReader::new(file);
    let (mut lines, mut bytes) = (0, Vec::new());
    loop {
        bytes.clear();
        let read = (&mut reader).take(LONGEST).read_until(b'\n', &mut bytes);
        let text = bytes.strip_suffix(b"\n").and_then(|line| std::str::from_utf8(line).ok());
        match text.and_then(line::read) {
            Some(line) if read.is_ok() && matches!(line.sum, line::Sum::Crc(_)) => lines += 1,
            _ => return lines,
        }
    }
}

/// Opens a journal for reading. A pipe would never end, and a device has no end.
fn open(path: &Path) -> Result<File, JournalError> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    let file = file.map_err(JournalError::unread(path))?;
    regular(path, &file)?;
    Ok(file)
}

fn regular(path: &Path, file: &File) -> Result<(), JournalError> {
    if file.metadata().map_err(JournalError::unread(path))?.is_file() {
        return Ok(());
    }
    Err(JournalError::Foreign { path: path.to_owned(), what: "it is no regular file".into() })
}

/// Reads a journal, handing on every record with its place; it may be in use. Gives the place of a last record that was torn,
/// if there is one.
///
/// # Errors
/// When it cannot be read, is damaged before its last line, or `take` finds a record that cannot be.
pub fn read(
    path: &Path,
    take: &mut dyn FnMut(RecordPlace, JournalRecord) -> Result<(), String>,
) -> Result<Option<RecordPlace>, JournalError> {
    read_of(path, take)
}

/// As [`read`], for a journal of any kind.
///
/// # Errors
/// As for [`read`].
pub(crate) fn read_of<R: JournalKind>(
    path: &Path,
    take: &mut dyn FnMut(RecordPlace, R) -> Result<(), String>,
) -> Result<Option<RecordPlace>, JournalError> {
    Ok(scan(path, &open(path)?, Position::default(), u64::MAX, None, take)?.1)
}

/// The record in a line that was read before.
pub(crate) fn record_in<R: JournalKind>(line: &[u8]) -> Option<R> {
    let text = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
    serde_json::from_str(line::read(text)?.record).ok()
}

/// As [`read_of`], for readers that want these kinds of records alone, such as `game-finished`: the others are checked but not
/// understood. The first record is handed on whatever it is.
///
/// # Errors
/// As for [`read`].
pub(crate) fn read_some<R: JournalKind>(
    path: &Path,
    wanted: &[&str],
    take: &mut dyn FnMut(RecordPlace, R) -> Result<(), String>,
) -> Result<Option<RecordPlace>, JournalError> {
    Ok(scan(path, &open(path)?, Position::default(), u64::MAX, Some(wanted), take)?.1)
}

/// The sum of the first `records` of a journal, or of all where it has fewer.
///
/// # Errors
/// As for [`read`].
pub(crate) fn mark(path: &Path, records: u64) -> Result<Mark, JournalError> {
    let nothing = &mut |_, _: JournalRecord| Ok(());
    let begin = Position::default();
    let (at, _) = scan(path, &open(path)?, begin, records, Some(&[]), nothing)?;
    Ok(Mark { records: at.number, sum: at.chain })
}

/// Reads a journal that somebody else writes, a part at a time.
#[derive(Debug)]
pub(crate) struct Reader {
    path: PathBuf,
    at: Position,
}

impl Reader {
    /// Begins at the first record.
    pub(crate) fn new(path: &Path) -> Reader {
        Reader { path: path.to_owned(), at: Position::default() }
    }

    /// The journal as far as it was read.
    pub(crate) fn mark(&self) -> Mark {
        Mark { records: self.at.number, sum: self.at.chain }
    }

    /// Hands on the records that have come since the last time; one that is not whole yet is left for the next.
    ///
    /// # Errors
    /// As for [`read`]; also where what was read before is not there any more. The reader is of no use then.
    pub(crate) fn more(
        &mut self,
        take: &mut dyn FnMut(RecordPlace, JournalRecord) -> Result<(), String>,
    ) -> Result<(), JournalError> {
        let file = open(&self.path)?;
        let failed = JournalError::unread(&self.path);
        if file.metadata().map_err(&failed)?.len() < self.at.offset {
            return Err(failed(io::Error::other("it is shorter than it was")));
        }
        (self.at, _) = scan(&self.path, &file, self.at, u64::MAX, None, take)?;
        Ok(())
    }
}

fn scan<R: JournalKind>(
    path: &Path,
    file: &File,
    from: Position,
    most: u64,
    wanted: Option<&[&str]>,
    take: &mut dyn FnMut(RecordPlace, R) -> Result<(), String>,
) -> Result<(Position, Option<RecordPlace>), JournalError> {
    let mut file = file;
    let unread = JournalError::unread(path);
    file.seek(SeekFrom::Start(from.offset)).map_err(&unread)?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut at = from;
    let mut bytes = Vec::new();
    while at.number < most {
        bytes.clear();
        let read = (&mut reader).take(LONGEST).read_until(b'\n', &mut bytes);
        let length = read.map_err(&unread)? as u64;
        if length == 0 {
            break;
        }
        let path_of = || path.to_owned();
        let place = RecordPlace { line: at.number + 1, offset: at.offset, bytes: length };
        let RecordPlace { line, offset, .. } = place;
        let damaged = |what| JournalError::Damaged { path: path_of(), line, offset, what };
        let last =
            |what| JournalError::LastDamaged { path: path_of(), place, what, mend: R::REPAIR };
        let Some((b'\n', text)) = bytes.split_last() else {
            // Another file must not be taken for a journal that was torn, and cut off.
            if at.number == 0 && !line::may_begin(&bytes) {
                if line::is_hollow(&bytes) {
                    return Err(last(ZEROS.into()));
                }
                return Err(JournalError::NoJournal { path: path_of(), origin: R::ORIGIN });
            }
            if length == LONGEST {
                return Err(damaged("it is longer than any record".into()));
            }
            // No line end: the write did not reach its end.
            return Ok((at, Some(place)));
        };
        let (line, chain, crc) = match whole(text, &at) {
            Ok(whole) => whole,
            // All that was there before it is. Of a first record that is not whole only a crash of the host is known, by
            // its zeros: nothing followed from it.
            Err(what)
                if (at.number > 0 || line::is_hollow(text))
                    && reader.fill_buf().map_err(&unread)?.is_empty() =>
            {
                return Err(last(what));
            }
            Err(_) if at.number == 0 && !line::may_begin(text) && !line::is_hollow(text) => {
                return Err(JournalError::NoJournal { path: path_of(), origin: R::ORIGIN });
            }
            Err(what) => return Err(damaged(what)),
        };
        let kind = line::kind(line.record);
        if at.number > 0 && kind.is_none() {
            return Err(damaged("its record is not spelled as gate4k spells one".into()));
        }
        let is_wanted = || wanted.is_none_or(|kinds| kind.is_some_and(|own| kinds.contains(&own)));
        if at.number == 0 || is_wanted() {
            let record: R = serde_json::from_str(line.record).map_err(|error| match at.number {
                // The line is whole, by its sums.
                0 => JournalError::Foreign {
                    path: path_of(),
                    what: "it is a journal of another kind: `gate4k merge` reads those of matches and checks, \
                           `gate4k event` and `standings` those of events"
                        .into(),
                },
                _ => damaged(format!("it cannot be understood: {error}")),
            })?;
            if at.number == 0 {
                let foreign = |what| JournalError::Foreign { path: path_of(), what };
                record.begins().map_err(foreign)?;
            }
            record.within_bounds().map_err(|what| damaged(format!("it tells of {what}")))?;
            take(place, record).map_err(damaged)?;
        }
        at = Position { number: at.number + 1, chain, crc, offset: at.offset + length };
    }
    Ok((at, None))
}

const ZEROS: &str = "it holds zero bytes, as a host that crashed leaves them";

/// A line's record, where it is the one that is due after what was read, with its sum and, in the form of gate4k 0.1, its checksum.
fn whole<'a>(
    text: &'a [u8],
    at: &Position,
) -> Result<(line::JournalLine<'a>, RecordChain, Option<u32>), String> {
    if text.contains(&0) {
        return Err(ZEROS.into());
    }
    let text = std::str::from_utf8(text).map_err(|_| "it is no UTF-8 text")?;
    let line = line::read(text).ok_or("it is no record")?;
    if line.number != at.number {
        return Err(format!("it has the number {} where {} is due", line.number, at.number));
    }
    let chain = at.chain.with(line.number, line.record);
    let told = match line.sum {
        line::Sum::Chain(told) if told == chain => return Ok((line, chain, None)),
        line::Sum::Chain(told) => return Err(format!("its sum is {told} and should be {chain}")),
        line::Sum::Crc(told) => told,
    };
    // Only the first lines of a journal can be of gate4k 0.1.
    if at.crc.is_none() && at.number > 0 {
        return Err("it has no sum, and the line before it has".into());
    }
    let due = line::checksum(at.crc.unwrap_or(0), line.number, line.record);
    if told != due {
        return Err(format!("its checksum is {told:08x} and should be {due:08x}"));
    }
    Ok((line, chain, Some(due)))
}

impl JournalKind for JournalRecord {
    const REPAIR: &'static str = "let `gate4k event repair`";
    const ORIGIN: &'static str = "name the event's journal (event.journal)";
    const VERSION: u32 = VERSION;
    const NO_HEADER: &'static str = "it does not begin with a header";

    fn version(&self) -> Option<u32> {
        match self {
            JournalRecord::Header(header) => Some(header.version),
            _ => None,
        }
    }

    fn within_bounds(&self) -> Result<(), String> {
        bounds::within(self)
    }
}

/// A journal that is open for writing, for one runner alone.
#[derive(Debug)]
pub struct JournalOf<R> {
    path: PathBuf,
    file: Flock<File>,
    at: Position,
    text: String,
    /// Set where a failed write could not be taken back: what follows would stand behind a torn record.
    broken: bool,
    kind: PhantomData<fn(R)>,
}

impl<R: JournalKind> JournalOf<R> {
    /// Opens a journal, or makes an empty one; hands on the records that it holds. A torn end is cut off and
    /// told.
    ///
    /// # Errors
    /// When it is in use, cannot be read or written, or is damaged.
    pub fn open(
        path: &Path,
        take: &mut dyn FnMut(RecordPlace, R) -> Result<(), String>,
    ) -> Result<(JournalOf<R>, Option<RecordPlace>), JournalError> {
        let failed = |source| JournalError::Open { path: path.to_owned(), source };
        let is_new = !path.exists();
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(path)
            .map_err(failed)?;
        regular(path, &file)?;
        let file = lock(path, file)?;
        if is_new {
            sync_directory(path).map_err(failed)?;
        }
        let begin = Position::default();
        let (at, torn) = scan(path, &file, begin, u64::MAX, None, take)?;
        let mut journal = JournalOf {
            path: path.to_owned(),
            file,
            at,
            text: String::new(),
            broken: false,
            kind: PhantomData,
        };
        if torn.is_some() {
            journal.take_back()?;
        }
        Ok((journal, torn))
    }

    /// True if the file still lies at its path, as long as it was written.
    fn is_whole(&self) -> io::Result<bool> {
        let file = self.file.metadata()?;
        let is_there = match std::fs::metadata(&self.path) {
            Ok(there) => (there.dev(), there.ino()) == (file.dev(), file.ino()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        Ok(is_there && file.len() == self.at.offset)
    }

    /// Adds a record; it is on the disk when this returns.
    ///
    /// # Errors
    /// When it could not be kept; the journal then ends with the record before it. When the file was removed, replaced or changed
    /// by somebody else.
    pub fn append(&mut self, record: &R) -> Result<(), JournalError> {
        let failed = |source| JournalError::Write { path: self.path.clone(), source };
        if self.broken {
            return Err(failed(io::Error::other("a write before this one failed")));
        }
        if !self.is_whole().map_err(failed)? {
            self.broken = true;
            return Err(JournalError::Taken { path: self.path.clone() });
        }
        let json = serde_json::to_string(record).map_err(|error| failed(error.into()))?;
        self.text.clear();
        let chain = line::write(&mut self.text, self.at.chain, self.at.number, &json);
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
        self.at.chain = chain;
        self.at.crc = None;
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

/// True if a runner writes to a journal just now.
pub(crate) fn is_in_use(path: &Path) -> bool {
    let locked = open(path).map(|file| Flock::lock(file, FlockArg::LockSharedNonblock));
    matches!(locked, Ok(Err((_, Errno::EWOULDBLOCK))))
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
            Err((_, error)) => return Err(JournalError::unread(path)(error.into())),
        }
    }
}

/// A new file is only there for good when its directory is on the disk.
fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

#[cfg(test)]
mod tests;
