//! One fresh process of the entry from start to end.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::files::{FileOpen, LeftFile, LeftProcess};
use super::programs::{Exec, ExitHow};
use super::questions::Ask;
use super::refusals::{Denial, FatalSignal, Refusal};
use crate::model::text::{from_millis_opt, millis, millis_opt};
use crate::model::transcript::Transcript;
use crate::model::units::{Bytes, Ply};

/// The reason for the start of a fresh process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// The run that is measured: start, handshake, first moves, quit, leftovers.
    #[default]
    Main,
    /// A share of the positions of rule `legal-moves`.
    Positions,
    /// A game of this many plies on one line.
    LongGame(Ply),
    /// The use of the clock.
    Clock,
    /// `OwnBook` and `Ponder`, and what it does while it waits.
    Idle,
    /// Bare `go`.
    BareGo,
    /// Failed at the `go` with a clock, of an entry that knows bare `go`: rule 7.9 asks for one of the two.
    OtherGo,
    /// FEN, stop, movetime, depth, nodes, setoption.
    Capabilities,
    /// End of input in place of `quit`.
    EndOfInput,
    /// `quit` while it thinks.
    QuitWhileThinking,
    /// An entry that is killed in the middle.
    KilledMidway,
    /// Failed on a clock that the event does not produce, and went well on one that it does.
    SmallClock,
    /// Broke off, and went well when all of it was asked once more on the same clock.
    ByChance,
    /// Failed on a clock, and on a bigger one not all was asked again that it failed after.
    Unrepeated,
    /// One question that was answered badly, once more.
    Again,
    /// Staged at a path with a blank.
    BlankPath,
    /// Started by the other shell.
    OtherShell,
    /// Started under its own file name.
    OwnName,
}

/// The least time that an engine which minds its clock ever has left in the event, with an increment of as much a move.
pub(crate) const LEAST_LEFT: Duration = Duration::from_secs(3);

/// The list of moves that rule `long-game` asks of every engine: the longest of 1,148 games of real 4k events.
pub(crate) const LONG_GAME: Ply = Ply(340);

impl Purpose {
    /// True if no more is asked than the rules demand, so that a fault can reject the entry; all else can only add
    /// advice.
    pub(crate) fn can_reject(self) -> bool {
        match self {
            Purpose::Main
            | Purpose::OtherShell
            | Purpose::Positions
            | Purpose::Clock
            | Purpose::Idle => true,
            Purpose::LongGame(plies) => plies <= LONG_GAME,
            Purpose::BareGo
            | Purpose::OtherGo
            | Purpose::Capabilities
            | Purpose::EndOfInput
            | Purpose::QuitWhileThinking
            | Purpose::KilledMidway
            | Purpose::SmallClock
            | Purpose::ByChance
            | Purpose::Unrepeated
            | Purpose::Again
            | Purpose::BlankPath
            | Purpose::OwnName => false,
        }
    }
}

/// The shell that read a script without an interpreter of its own, or with `#!/bin/sh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shell {
    /// The kernel decides; `/bin/sh` is what the host has.
    #[default]
    AsIs,
    /// dash, as `/bin/sh`.
    Dash,
    /// bash, as `/bin/sh`.
    Bash,
}

/// One `option` line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeclaredOption {
    /// Its name.
    pub(crate) name: String,
    /// `check`, `spin`, `combo`, `button`, `string`.
    pub(crate) kind: String,
    /// Its default as written.
    pub(crate) default: Option<String>,
}

/// The way in which the run was brought to its end, and what was seen then.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RunEnding {
    /// The way in which it came to its end.
    pub how: EndHow,
    /// The end of the engine's first process; none where it did not end.
    pub exit: Option<ExitHow>,
    /// From `quit` (or the kill) to the end of the first process.
    #[serde(
        rename = "exit_after_ms",
        serialize_with = "millis_opt",
        deserialize_with = "from_millis_opt"
    )]
    pub exit_after: Option<Duration>,
    /// From `quit` to the end of every process; none where some were left at the grace limit.
    #[serde(
        rename = "emptied_after_ms",
        serialize_with = "millis_opt",
        deserialize_with = "from_millis_opt"
    )]
    pub emptied_after: Option<Duration>,
}

/// The cause of a run's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndHow {
    /// `quit` was sent.
    Quit,
    /// Input was closed.
    EndOfInput,
    /// gate4k killed it.
    #[default]
    Killed,
    /// The engine ended before it was asked to.
    ByItself,
    /// The engine never started.
    NotStarted,
}

/// The reason that an entry could not even be started.
#[derive(Clone, Debug, Serialize)]
pub struct LaunchFailure {
    /// The errno of exec.
    pub(crate) errno: i32,
    /// In words, with the path or interpreter at fault.
    pub what: String,
}

/// One fresh process of the entry from start to end.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Run {
    /// The reason for the start.
    pub purpose: Purpose,
    /// The shell that read it.
    pub(crate) shell: Shell,
    /// Set where exec itself failed.
    pub(crate) launch_failure: Option<LaunchFailure>,
    /// From exec to `uciok`.
    #[serde(rename = "uciok_ms", serialize_with = "millis_opt")]
    pub uciok: Option<Duration>,
    /// From exec to the first `readyok`.
    #[serde(rename = "readyok_ms", serialize_with = "millis_opt")]
    pub readyok: Option<Duration>,
    /// The lines that were sent to the same process before, for another purpose.
    #[serde(skip)]
    pub(crate) before: Vec<String>,
    /// Questions and answers in order.
    pub asks: Vec<Ask>,
    /// `id name`, escaped.
    pub(crate) id_name: Option<String>,
    /// `id author`, escaped.
    pub(crate) id_author: Option<String>,
    /// The options it announced.
    pub(crate) options: Vec<DeclaredOption>,
    /// Its end.
    pub ending: RunEnding,
    /// Every attempt to start a program, in order; the first is the entry.
    pub execs: Vec<Exec>,
    /// Files opened (deduplicated, capped).
    pub opens: Vec<FileOpen>,
    /// Names looked for along PATH and found nowhere.
    pub not_installed: Vec<String>,
    /// Other things that the sandbox refused.
    pub denials: Vec<Denial>,
    /// Resources that the kernel refused.
    pub refusals: Vec<Refusal>,
    /// Large mappings that were made without reserving memory for them (`--lazy-memory`).
    pub(crate) lazy_maps: Vec<Bytes>,
    /// Fatal signals.
    pub crashes: Vec<FatalSignal>,
    /// Files that remained.
    pub left_files: Vec<LeftFile>,
    /// Processes that remained at the grace limit.
    pub left_processes: Vec<LeftProcess>,
    /// A process that a signal had stopped when the last answer that failed did not come.
    #[serde(skip)]
    pub(crate) stopped: Option<LeftProcess>,
    /// The last bytes of its standard error, escaped line by line.
    pub stderr_tail: Vec<String>,
    /// CPU time that all its processes used or wanted while it waited for us before the first `go`, per second of
    /// waiting, once it rested or was seen not to; none where that was not measured, or could not be told.
    pub(crate) idle_before_go: Option<f64>,
    /// After moves in games, with `Ponder` switched off where the engine announced it.
    pub(crate) idle_after_moves: Vec<IdleSeen>,
    /// On a faster host it might have gone otherwise: a limit ran out while something of it wanted a processor or a
    /// disk, it ended before it was asked to, or it gave a move that is none.
    pub(crate) strained: bool,
    /// The signs of an opening book.
    pub(crate) book: BookSeen,
    /// True if it said `bestmove` more often than it was sent `go`.
    #[serde(skip)]
    pub(crate) surplus_moves: bool,
    /// Both directions with times.
    #[serde(skip)]
    pub(crate) transcript: Transcript,
}

/// The processor time of an engine while it waited for us after a `bestmove`, with all its processes, those that ended
/// meanwhile included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct IdleSeen {
    /// Processor time in the first seconds, in which it may wind down.
    #[serde(rename = "settling_ms", serialize_with = "millis")]
    pub(crate) settling: Duration,
    /// The time that it was watched afterwards.
    #[serde(rename = "watched_ms", serialize_with = "millis")]
    pub(crate) watched: Duration,
    /// Processor time in that.
    #[serde(rename = "used_ms", serialize_with = "millis")]
    pub(crate) used: Duration,
    /// The part of that in which the kernel worked for its calls, or the tracer did.
    #[serde(rename = "system_ms", serialize_with = "millis")]
    pub(crate) system: Duration,
    /// The part of the looks in that at which something of it was at work, or waited for a processor.
    pub(crate) wanted: f64,
}

impl Run {
    /// The program of a number among its starts.
    pub(crate) fn exec(&self, number: Option<usize>) -> Option<&Exec> {
        self.execs.get(number?)
    }

    /// The part of this run that served an earlier purpose: the process went on, and its end and its deeds are told once.
    pub(crate) fn unended(self, purpose: Purpose) -> Run {
        Run {
            purpose,
            ending: RunEnding::default(),
            execs: Vec::new(),
            opens: Vec::new(),
            not_installed: Vec::new(),
            denials: Vec::new(),
            left_files: Vec::new(),
            left_processes: Vec::new(),
            stopped: None,
            ..self
        }
    }
}

impl IdleSeen {
    /// The part of one processor that it used while it was watched; more than 1 where it used several.
    pub(crate) fn share(&self) -> f64 {
        self.used.as_secs_f64() / self.watched.as_secs_f64().max(f64::EPSILON)
    }
}

/// The lines in which an engine spoke of a book of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BookSeen {
    /// A line that speaks of a book while the option (if any) was at its default.
    pub(crate) by_default: Option<String>,
    /// Such a line after the option was set to false.
    pub(crate) when_off: Option<String>,
    /// The option that switches it, if one was announced.
    pub(crate) option: Option<String>,
}
