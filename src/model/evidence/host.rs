//! The host and the limits, as far as verdicts depend on them.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::model::layer_status::Layer;
use crate::model::text::millis;
use crate::model::units::Bytes;

/// The host, as far as verdicts depend on it.
#[derive(Clone, Debug, Serialize)]
pub struct HostFacts {
    /// Kernel release.
    pub kernel: String,
    /// Processors that may be used.
    pub cpus: usize,
    /// Physical memory.
    pub memory: Bytes,
    /// The most that an entry may use at once by the event's own rule, where this host can spare that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<Bytes>,
    /// The kernel's answer to requests for more than it has (`vm.overcommit_memory`).
    pub overcommit: Overcommit,
    /// True if large mappings reserve no memory (`--lazy-memory`).
    pub lazy_memory: bool,
    /// The layers of the sandbox with their states.
    pub layers: Vec<Layer>,
    /// Limits that are so low here that an entry may fail for it, each in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lowered_limits: Vec<String>,
    /// Names of rule 7.5 that this host lacks.
    pub missing_commands: Vec<String>,
    /// Where the host's own chess libraries are, hidden from the entry.
    pub chess_libraries: Vec<PathBuf>,
}

/// The kernel's answer to requests for more memory than it has (proc_sys_vm(5)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overcommit {
    /// 0: it refuses what is obviously too much, unless nothing is to be reserved.
    Heuristic,
    /// 1: it refuses nothing.
    Always,
    /// 2: it refuses what it could not give, whatever the program says.
    Never,
}

/// The limits in force (settings; the defaults are the event's).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Limits {
    /// Rule 7.4: 60 s from exec to `readyok`.
    #[serde(rename = "startup_ms", serialize_with = "millis")]
    pub(crate) startup: Duration,
    /// The time that a move may take beyond the clock it was given before it counts as no answer.
    #[serde(rename = "answer_ms", serialize_with = "millis")]
    pub(crate) answer: Duration,
    /// The time that the engine's own process may take to end after `quit`.
    #[serde(rename = "quit_ms", serialize_with = "millis")]
    pub(crate) quit: Duration,
    /// The time that processes that clean up may still run after `quit`.
    #[serde(rename = "grace_ms", serialize_with = "millis")]
    pub(crate) grace: Duration,
}

impl Limits {
    /// The grace after games: beside others its helpers, too, take longer to end.
    pub(crate) fn grace_after_games(&self) -> Duration {
        self.grace * 2
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            startup: Duration::from_secs(60),
            answer: Duration::from_secs(20),
            quit: Duration::from_secs(5),
            grace: Duration::from_secs(10),
        }
    }
}
