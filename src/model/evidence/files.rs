//! Files: what was opened, what remained; and the processes that did.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::text::millis;
use crate::model::units::Bytes;

/// The access to a file that a program wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileAccess {
    /// To read it.
    Read,
    /// To write, create, rename or remove it.
    Write,
}

/// The code that opened a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Opener {
    /// The place of the code that made the call.
    pub by: OpenerCode,
    /// True where the process had machine code of the entry's own in its memory.
    pub beside_own_code: bool,
}

/// The code that made the call which opened a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpenerCode {
    /// The system's loader, which maps it into the process.
    Loader,
    /// Any other code, which reads it.
    Reader,
}

impl Opener {
    /// The loader, in a process without code of the entry's own.
    pub(crate) const LOADER: Opener = Opener { by: OpenerCode::Loader, beside_own_code: false };
}

/// One opening of a file, seen until the last `readyok` of the start.
#[derive(Clone, Debug, Serialize)]
pub struct FileOpen {
    /// The time of the opening, since the start of the run.
    #[serde(rename = "at_ms", serialize_with = "millis")]
    pub(crate) at: Duration,
    /// Index in the run's list of execs of the program that did it.
    pub(crate) by: Option<usize>,
    /// The path as given, made absolute, escaped.
    pub path: String,
    /// True if it lies where the entry itself makes files.
    #[serde(skip)]
    pub own: bool,
    /// Read or write.
    pub(crate) access: FileAccess,
    /// True where the sandbox refused it (EACCES, EPERM, EROFS).
    pub denied: bool,
    /// True where there is no such file.
    pub(crate) missing: bool,
    /// The code that opened it, where it is a library of the host.
    #[serde(skip)]
    pub opener: Opener,
}

/// A file that remained.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct LeftFile {
    /// Where, as the entry sees it (`/tmp/tmp.x`), escaped.
    pub path: String,
    /// Its size.
    pub size: Bytes,
    /// Its kind: `file`, `directory`, `symlink`, `fifo`, `socket`, `shared memory`.
    pub kind: String,
    /// The allow-list name of the program that made it, where that was seen.
    pub made_by: Option<String>,
    /// The pattern of allowlist.toml that exempts it as a cache of a system program, if one does.
    pub exempt: Option<String>,
}

/// A process that was still there.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct LeftProcess {
    /// As numbered by the host.
    pub pid: i32,
    /// Its state letter from /proc (R, S, T …).
    pub state: char,
    /// Its command line, escaped.
    pub command: String,
}

impl LeftProcess {
    /// The state of one that a signal has stopped, and nothing has made go on.
    pub(crate) const STOPPED: char = 'T';
}
