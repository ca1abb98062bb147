//! Programs: what was started, what came of it, how it ended.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::text::{from_millis, from_millis_opt, millis, millis_opt};
use crate::model::units::Bytes;

/// The end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExitHow {
    /// By itself, with this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
}

impl fmt::Display for ExitHow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExitHow::Status(code) => write!(f, "exit status {code}"),
            ExitHow::Signal(number) => match nix::sys::signal::Signal::try_from(*number) {
                Ok(signal) => write!(f, "killed by {}", signal.as_str()),
                Err(_) => write!(f, "killed by signal {number}"),
            },
        }
    }
}

/// The class of a program under rule 7.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramClass {
    /// The entry itself.
    Entry,
    /// Named by rule 7.5.
    Listed,
    /// A program that a listed command starts by itself (cc1, as, ld …), below that command.
    Helper,
    /// Not in rule 7.5, tolerated with a reason in allowlist.toml.
    Tolerated,
    /// Not allowed by the list, and granted to this entry alone by the organisers (rule 7.8).
    Waived,
    /// Made by the entry in its own workspace: it is the engine.
    OwnProduct,
    /// Everything else.
    Refused,
}

/// The outcome of an attempt to start a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecOutcome {
    /// The program ran; the kernel's own word for what ran is in [`Exec::real`].
    Ran,
    /// The sandbox refused it (EACCES, EPERM).
    Denied,
    /// There is no such file (ENOENT, ENOTDIR); shells try their whole PATH, so this is no accusation.
    NotFound,
    /// The kernel could not run it, with the errno (ENOEXEC: not an executable; then shells read it as a script).
    Failed(i32),
}

/// One attempt to start a program.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Exec {
    /// The time of the attempt, since the start of the run.
    #[serde(rename = "at_ms", serialize_with = "millis", deserialize_with = "from_millis")]
    pub at: Duration,
    /// The process that became it, as numbered by the host.
    pub pid: i32,
    /// The process that started it.
    pub parent: i32,
    /// Index (in the run's list) of the program that asked for it; none for the entry itself.
    pub by: Option<usize>,
    /// The path as the program gave it, escaped.
    pub asked: String,
    /// The file that the kernel really ran (`/proc/PID/exe`), escaped; for a script this is the interpreter.
    pub real: Option<String>,
    /// True for a script of the entry's own, which the file that ran only reads.
    #[serde(skip)]
    pub script: bool,
    /// The arguments, each escaped, at most 16 of them of 200 characters.
    pub argv: Vec<String>,
    /// The outcome.
    pub outcome: ExecOutcome,
    /// Its class under rule 7.5.
    pub class: ProgramClass,
    /// The name under which the allow-list knows it (`xz` for /usr/bin/xz), or its base name.
    pub name: String,
    /// The time that it ran; none if it was still running when the run was over.
    #[serde(
        rename = "lasted_ms",
        serialize_with = "millis_opt",
        deserialize_with = "from_millis_opt"
    )]
    pub lasted: Option<Duration>,
    /// Its end, where it had one.
    pub exit: Option<ExitHow>,
    /// For own products: size and SHA-256 of what ran.
    pub product: Option<Product>,
    /// Of a file of the entry's own that did not start for it: the interpreter or loader that it names and that was not found, escaped.
    #[serde(skip)]
    pub lacks: Option<String>,
}

/// A program that the entry made itself.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Product {
    /// Its size.
    pub size: Bytes,
    /// Its SHA-256, in hex.
    pub sha256: String,
}
