//! The refusals of the sandbox and of the kernel, and the signals that followed.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::model::text::millis;
use crate::model::units::Bytes;

/// Something else that the sandbox refused: a socket, a system call, a privilege.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Denial {
    /// Index in the run's list of execs of the program that tried.
    pub(crate) by: Option<usize>,
    /// The attempt, for people: `socket(AF_INET, SOCK_STREAM)`, `ptrace`, `mount`.
    pub what: String,
    /// The number of times that it was seen.
    pub(crate) count: u32,
}

/// A resource that the kernel refused: the sign of an entry made for a bigger machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Index in the run's list of execs of the program that asked.
    pub(crate) by: Option<usize>,
    /// The resource.
    pub what: Resource,
}

/// The largest file that an entry may write, in memory or on a disk. The bound is there for the disk, which is the host's where an entry has
/// no mount namespace.
pub(crate) const LARGEST_FILE: Bytes = Bytes(1 << 30);

/// A resource that a host may have too little of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// A mapping of this size (mmap, ENOMEM).
    Memory(Bytes),
    /// A mapping of this size in huge pages, of which the administrator sets a number apart (mmap with MAP_HUGETLB, ENOMEM).
    HugePages(Bytes),
    /// All that a program is made of when it is loaded, its tables included (execve, ENOMEM).
    Image(Bytes),
    /// No resource yet: it still took memory when the time for its start was over, and used so much then.
    StillTaking(Bytes),
    /// Another thread or process (clone, EAGAIN), when so many were there.
    Threads(u32),
    /// An instruction that this processor does not have (SIGILL).
    Instruction,
    /// Memory that all its processes used together, beyond what an entry gets here; it was killed.
    Used(Bytes),
    /// Memory that the host no longer had, whoever else used it: its kernel killed a process of the entry.
    NoneLeft,
    /// A file, in memory or not, that grows beyond [`LARGEST_FILE`] (SIGXFSZ, EFBIG).
    FileSize(Bytes),
    /// This number of processes and threads at once, more than an entry gets here; the entry was killed.
    Tasks(u32),
    /// No resource: room in gate4k's own record of the run, which therefore is not whole.
    Unrecorded(RecordPart),
}

/// A part of a run's record, past whose room nothing more is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordPart {
    /// Programs that were started or looked for.
    Programs,
    /// Files of the host that were opened, or refused.
    Files,
    /// Calls that were refused.
    Denials,
    /// Files that were left.
    LeftFiles,
    /// Paths in memory that the kernel can read and the tracer cannot.
    Paths,
    /// Everything: it could not be followed, and was given up.
    Tracer,
}

impl fmt::Display for RecordPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RecordPart::Programs => {
                "it started or looked for more different programs than are recorded"
            }
            RecordPart::Files => "it opened more different files than are recorded",
            RecordPart::Denials => "it was refused more different calls than are recorded",
            RecordPart::LeftFiles => "it left more files than are recorded",
            RecordPart::Paths => "it named files by paths that the tracer could not read",
            RecordPart::Tracer => {
                "it could not be followed any longer and was given up; everything was killed"
            }
        })
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::Memory(size) => write!(f, "a mapping of {}", size.human()),
            Resource::HugePages(size) => {
                write!(f, "a mapping of {} in huge pages (MAP_HUGETLB)", size.human())
            }
            Resource::Image(size) => write!(
                f,
                "{} that a program of its own wants when it is loaded (tables in .bss)",
                size.human()
            ),
            Resource::StillTaking(size) => write!(
                f,
                "time to take more memory than {}, which it still did at the start's limit",
                size.human()
            ),
            Resource::Threads(count) => write!(f, "one more thread beside {count}"),
            Resource::Used(size) => {
                write!(f, "{} of memory in use at once (it was killed)", size.human())
            }
            Resource::NoneLeft => {
                write!(f, "more memory when none was left on the host (it was killed)")
            }
            Resource::FileSize(size) => write!(f, "a file of more than {}", size.human()),
            Resource::Tasks(count) => {
                write!(f, "{count} processes and threads at once (it was killed)")
            }
            Resource::Unrecorded(record) => write!(f, "room in the record: {record}"),
            Resource::Instruction => write!(f, "an instruction that this processor lacks (SIGILL)"),
        }
    }
}

/// A fatal signal that a process of the entry got.
#[derive(Clone, Debug, Serialize)]
pub struct FatalSignal {
    /// The time of its end, since the start of the run.
    #[serde(rename = "at_ms", serialize_with = "millis")]
    pub(crate) at: Duration,
    /// Index in the run's list of execs of the program that died.
    pub(crate) by: Option<usize>,
    /// The signal's number.
    pub(crate) signal: i32,
}
