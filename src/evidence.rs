//! What was seen of an entry: the typed record that every rule judges.
//!
//! Probes fill it, rules read it, reports show it. Nothing here decides anything. Times are since the
//! exec of the entry in the run they belong to, unless said otherwise. Text that came from an entry is
//! kept as bytes turned into escaped strings ([`escape`]), so that no report can be forged by a name.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::sandbox::status::Layer;
use crate::uci::transcript::Transcript;
use crate::units::{Bytes, Ply};

/// Writes a duration as whole and decimal milliseconds in JSON.
pub fn millis<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((time.as_secs_f64() * 1e6).round() / 1e3)
}

/// As [`millis`], for a time that may be missing.
pub fn millis_opt<S: Serializer>(time: &Option<Duration>, s: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => millis(time, s),
        None => s.serialize_none(),
    }
}

/// Reads what [`millis`] wrote.
fn from_millis<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let time = f64::deserialize(from)?;
    Duration::try_from_secs_f64(time / 1e3).map_err(serde::de::Error::custom)
}

/// Reads what [`millis_opt`] wrote.
fn from_millis_opt<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let time: Option<f64> = Option::deserialize(from)?;
    time.map(|time| Duration::try_from_secs_f64(time / 1e3).map_err(serde::de::Error::custom))
        .transpose()
}

/// Bytes of a stranger as one harmless line: UTF-8 kept, control characters, newlines and broken
/// sequences written as `\n`, `\x1b` …, and cut after `max` characters with an ellipsis.
#[must_use]
pub fn escape(bytes: &[u8], max: usize) -> String {
    let mut out = String::new();
    let mut count = 0usize;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if count >= max {
                out.push('…');
                return out;
            }
            count += 1;
            match c {
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c if c.is_control()
                    || ('\u{200b}'..='\u{200f}').contains(&c)
                    || ('\u{202a}'..='\u{202e}').contains(&c)
                    || ('\u{2066}'..='\u{2069}').contains(&c) =>
                {
                    out.push_str(&c.escape_default().to_string());
                }
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            if count >= max {
                out.push('…');
                return out;
            }
            count += 1;
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

/// How a process ended.
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

/// What a program is to rule 7.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramClass {
    /// The entry itself.
    Entry,
    /// Named by rule 7.5.
    Listed,
    /// What a listed command starts by itself (cc1, as, ld …), below that command.
    Helper,
    /// Not in rule 7.5, tolerated with a reason in allowlist.toml.
    Tolerated,
    /// Made by the entry in its own workspace: it is the engine.
    OwnProduct,
    /// Everything else.
    Refused,
}

/// What came of an attempt to start a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecOutcome {
    /// It ran; the kernel's own word for what ran is in [`Exec::real`].
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
    /// When.
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
    /// What the kernel really ran (`/proc/PID/exe`), escaped; for a script this is the interpreter.
    pub real: Option<String>,
    /// The arguments, each escaped, at most 16 of them of 200 characters.
    pub argv: Vec<String>,
    /// What came of it.
    pub outcome: ExecOutcome,
    /// What it is to rule 7.5.
    pub class: ProgramClass,
    /// The name under which the allow-list knows it (`xz` for /usr/bin/xz), or its base name.
    pub name: String,
    /// How long it ran; none if it was still running when the run was over.
    #[serde(
        rename = "lasted_ms",
        serialize_with = "millis_opt",
        deserialize_with = "from_millis_opt"
    )]
    pub lasted: Option<Duration>,
    /// How it ended, where it did.
    pub exit: Option<ExitHow>,
    /// For own products: size and SHA-256 of what ran.
    pub product: Option<Product>,
}

/// A program that the entry made itself.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Product {
    /// Its size.
    pub size: Bytes,
    /// Its SHA-256, in hex.
    pub sha256: String,
}

/// What a program wanted of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileAccess {
    /// To read it.
    Read,
    /// To write, create, rename or remove it.
    Write,
}

/// One opening of a file, seen until the last `readyok` of the start.
#[derive(Clone, Debug, Serialize)]
pub struct FileOpen {
    /// When.
    #[serde(rename = "at_ms", serialize_with = "millis")]
    pub at: Duration,
    /// Index in the run's list of execs of the program that did it.
    pub by: Option<usize>,
    /// The path as given, made absolute, escaped.
    pub path: String,
    /// Read or write.
    pub access: FileAccess,
    /// True where the sandbox refused it (EACCES, EPERM, EROFS).
    pub denied: bool,
    /// True where there is no such file.
    pub missing: bool,
}

/// Something else that the sandbox refused: a socket, a system call, a privilege.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Denial {
    /// Index in the run's list of execs of the program that tried.
    pub by: Option<usize>,
    /// What it was, for people: `socket(AF_INET, SOCK_STREAM)`, `ptrace`, `mount`.
    pub what: String,
    /// How often it was seen.
    pub count: u32,
}

/// A resource that the kernel refused: the sign of an entry made for a bigger machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Index in the run's list of execs of the program that asked.
    pub by: Option<usize>,
    /// What was asked for.
    pub what: Resource,
}

/// What can be refused for want of machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// A mapping of this size (mmap, ENOMEM).
    Memory(Bytes),
    /// Another thread or process (clone, EAGAIN), when so many were there.
    Threads(u32),
    /// An instruction that this processor does not have (SIGILL).
    Instruction,
    /// Memory that all its processes used together, beyond what an entry gets here; it was killed.
    Used(Bytes),
    /// So many processes and threads at once, more than an entry gets here; it was killed.
    Tasks(u32),
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::Memory(size) => write!(f, "a mapping of {}", size.human()),
            Resource::Threads(count) => write!(f, "one more thread beside {count}"),
            Resource::Used(size) => {
                write!(f, "{} of memory in use at once (it was killed)", size.human())
            }
            Resource::Tasks(count) => {
                write!(f, "{count} processes and threads at once (it was killed)")
            }
            Resource::Instruction => write!(f, "an instruction that this processor lacks (SIGILL)"),
        }
    }
}

/// A fatal signal that a process of the entry got.
#[derive(Clone, Debug, Serialize)]
pub struct Crash {
    /// When.
    #[serde(rename = "at_ms", serialize_with = "millis")]
    pub at: Duration,
    /// Index in the run's list of execs of the program that died.
    pub by: Option<usize>,
    /// The signal's number.
    pub signal: i32,
}

/// A file that remained.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct LeftFile {
    /// Where, as the entry sees it (`/tmp/tmp.x`), escaped.
    pub path: String,
    /// Its size.
    pub size: Bytes,
    /// What it is: `file`, `directory`, `symlink`, `fifo`, `socket`, `shared memory`.
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

/// Why a fresh process was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// The run that is measured: start, handshake, first moves, quit, leftovers.
    Main,
    /// A share of the positions of rule `legal-moves`.
    Positions,
    /// A game of this many plies on one line.
    LongGame(Ply),
    /// How the clock is used.
    Clock,
    /// `OwnBook` and `Ponder`, and what it does while it waits.
    Idle,
    /// Bare `go`.
    BareGo,
    /// FEN, stop, movetime, depth, nodes, setoption.
    Capabilities,
    /// End of input in place of `quit`.
    EndOfInput,
    /// `quit` while it thinks.
    QuitWhileThinking,
    /// Killed in the middle.
    KilledMidway,
    /// Staged at a path with a blank.
    BlankPath,
    /// Started by the other shell.
    OtherShell,
    /// Started under its own file name.
    OwnName,
}

/// The shell that read a script without an interpreter of its own, or with `#!/bin/sh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shell {
    /// The kernel decides; `/bin/sh` is what the host has.
    AsIs,
    /// dash, as `/bin/sh`.
    Dash,
    /// bash, as `/bin/sh`.
    Bash,
}

/// What an engine was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// `uci`, until `uciok`.
    Uci,
    /// `isready`, until `readyok`.
    IsReady,
    /// `ucinewgame`, then `isready`, until `readyok`.
    NewGame,
    /// A position and `go`, until `bestmove`.
    Go(GoQuestion),
    /// `quit`, until the engine has ended.
    Quit,
    /// Input closed, until the engine has ended.
    EndOfInput,
}

/// A search that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GoQuestion {
    /// The name of the position (`castling-short-white`), or of the probe.
    pub position: String,
    /// The `position` command, escaped and cut.
    pub command: String,
    /// Plies in its move list.
    pub plies: Ply,
    /// The position as FEN, for the report.
    pub fen: String,
    /// The `go` command.
    pub go: String,
    /// What the rule's clock had left for the engine; none for forms without a clock.
    #[serde(rename = "left_ms", serialize_with = "millis_opt")]
    pub left: Option<Duration>,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// `uciok`, `readyok`, or the end after `quit`.
    Done,
    /// A move that is legal there, as written.
    Legal(String),
    /// A `bestmove` that is not a legal move there: the line, escaped, and why.
    Illegal {
        /// The line as it came, escaped.
        line: String,
        /// `illegal: the king would be in check`, `not written as in UCI: upper case` …
        why: String,
    },
    /// Nothing within the limit.
    Timeout,
    /// Output ended (closed by the engine, or it ended by itself).
    Ended(Option<ExitHow>),
    /// More than the allowed number of bytes came without the answer: a flood.
    Flood(Bytes),
    /// The engine no longer took input.
    NotTaken,
}

impl Answer {
    /// Whether the question was answered as it should be.
    #[must_use]
    pub fn is_good(&self) -> bool {
        matches!(self, Answer::Done | Answer::Legal(_))
    }
}

/// A question, its answer, and the time between.
#[derive(Clone, Debug, Serialize)]
pub struct Ask {
    /// What was asked.
    pub question: Question,
    /// When it was sent.
    #[serde(rename = "at_ms", serialize_with = "millis")]
    pub at: Duration,
    /// From the write of the question to the read of the answer (or to giving up).
    #[serde(rename = "took_ms", serialize_with = "millis")]
    pub took: Duration,
    /// What came.
    pub answer: Answer,
    /// `info` lines seen meanwhile.
    pub infos: u32,
    /// The last `info` line with a score, escaped.
    pub last_info: Option<String>,
}

impl Ask {
    /// True where a search was not waited for as long as its clock allowed: the missing answer is then no
    /// fault of the engine's.
    #[must_use]
    pub fn was_cut(&self) -> bool {
        match &self.question {
            Question::Go(go) => {
                self.answer == Answer::Timeout && go.left.is_some_and(|left| self.took < left)
            }
            _ => false,
        }
    }
}

/// One `option` line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeclaredOption {
    /// Its name.
    pub name: String,
    /// `check`, `spin`, `combo`, `button`, `string`.
    pub kind: String,
    /// Its default as written.
    pub default: Option<String>,
}

/// How the run was brought to its end, and what was seen then.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Ending {
    /// How.
    pub how: EndHow,
    /// How the engine's first process ended; none where it did not.
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

/// What ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndHow {
    /// `quit` was sent.
    Quit,
    /// Input was closed.
    EndOfInput,
    /// gate4k killed it.
    Killed,
    /// It ended before it was asked to.
    ByItself,
    /// It never started.
    NotStarted,
}

/// Why an entry could not even be started.
#[derive(Clone, Debug, Serialize)]
pub struct LaunchFailure {
    /// The errno of exec.
    pub errno: i32,
    /// In words, with the path or interpreter at fault.
    pub what: String,
}

/// One fresh process of the entry from start to end.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Why it was started.
    pub purpose: Purpose,
    /// Which shell read it.
    pub shell: Shell,
    /// Set where exec itself failed.
    pub launch_failure: Option<LaunchFailure>,
    /// From exec to `uciok`.
    #[serde(rename = "uciok_ms", serialize_with = "millis_opt")]
    pub uciok: Option<Duration>,
    /// From exec to the first `readyok`.
    #[serde(rename = "readyok_ms", serialize_with = "millis_opt")]
    pub readyok: Option<Duration>,
    /// Questions and answers in order.
    pub asks: Vec<Ask>,
    /// `id name`, escaped.
    pub id_name: Option<String>,
    /// `id author`, escaped.
    pub id_author: Option<String>,
    /// The options it announced.
    pub options: Vec<DeclaredOption>,
    /// How it ended.
    pub ending: Ending,
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
    pub lazy_maps: Vec<Bytes>,
    /// Fatal signals.
    pub crashes: Vec<Crash>,
    /// Files that remained.
    pub left_files: Vec<LeftFile>,
    /// Processes that remained at the grace limit.
    pub left_processes: Vec<LeftProcess>,
    /// The last bytes of its standard error, escaped line by line.
    pub stderr_tail: Vec<String>,
    /// CPU time of all its processes that was used while it waited for us before the first `go`, per
    /// second of waiting; none where that was not measured.
    pub idle_before_go: Option<f64>,
    /// The same after a `bestmove`.
    pub idle_after_move: Option<f64>,
    /// The same after a `bestmove` once `Ponder` was switched off, where the engine announced it.
    pub idle_ponder_off: Option<f64>,
    /// What was seen of an opening book.
    pub book: BookSeen,
    /// Both directions with times.
    #[serde(skip)]
    pub transcript: Transcript,
}

/// What an engine said of a book of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BookSeen {
    /// A line that speaks of a book while the option (if any) was at its default.
    pub by_default: Option<String>,
    /// Such a line after the option was set to false.
    pub when_off: Option<String>,
    /// The option that switches it, if one was announced.
    pub option: Option<String>,
}

/// What the engine showed that it understands beyond rule 7.9. None: not tried, or no answer to trust.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Capabilities {
    /// `go wtime A btime B winc C binc D`.
    pub go_clock: Option<bool>,
    /// `go` alone.
    pub go_bare: Option<bool>,
    /// `position fen`.
    pub fen: Option<bool>,
    /// `stop` ends a search.
    pub stop: Option<bool>,
    /// `go movetime`.
    pub movetime: Option<bool>,
    /// `go depth`.
    pub depth: Option<bool>,
    /// `go nodes`.
    pub nodes: Option<bool>,
    /// `setoption` of an announced option is survived.
    pub setoption: Option<bool>,
    /// `id name` is printed.
    pub id: Option<bool>,
    /// `info` lines with a score.
    pub info: Option<bool>,
    /// `info` lines with a pv.
    pub pv: Option<bool>,
    /// Ends at the end of input.
    pub end_of_input: Option<bool>,
    /// Ends at `quit` while it thinks.
    pub quit_while_thinking: Option<bool>,
    /// Starts at a path with a blank.
    pub blank_path: Option<bool>,
    /// Leaves nothing when it is killed in the middle.
    pub clean_when_killed: Option<bool>,
    /// Understands a list of 1,000 plies.
    pub thousand_plies: Option<bool>,
    /// Starts where /bin/sh is dash (scripts only).
    pub dash: Option<bool>,
    /// Starts where /bin/sh is bash (scripts only).
    pub bash: Option<bool>,
}

/// The host, as far as verdicts depend on it.
#[derive(Clone, Debug, Serialize)]
pub struct HostFacts {
    /// Kernel release.
    pub kernel: String,
    /// Processors that may be used.
    pub cpus: usize,
    /// Physical memory.
    pub memory: Bytes,
    /// What was enforced, layer by layer.
    pub layers: Vec<Layer>,
    /// Names of rule 7.5 that this host lacks.
    pub missing_commands: Vec<String>,
    /// Where the host's own chess libraries are, hidden from the entry.
    pub chess_libraries: Vec<PathBuf>,
}

/// The limits in force (settings; the defaults are the event's).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Limits {
    /// Rule 7.4: 60 s from exec to `readyok`.
    #[serde(rename = "startup_ms", serialize_with = "millis")]
    pub startup: Duration,
    /// How long a move may take beyond the clock it was given before it counts as no answer.
    #[serde(rename = "answer_ms", serialize_with = "millis")]
    pub answer: Duration,
    /// How long after `quit` the engine's own process may take to end.
    #[serde(rename = "quit_ms", serialize_with = "millis")]
    pub quit: Duration,
    /// How long after `quit` processes that clean up may still run.
    #[serde(rename = "grace_ms", serialize_with = "millis")]
    pub grace: Duration,
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

/// Everything the running rules judge.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// All runs; the first of purpose [`Purpose::Main`] is the measured one.
    pub runs: Vec<Run>,
    /// What it understands.
    pub capabilities: Capabilities,
    /// The host.
    pub host: HostFacts,
    /// The limits.
    pub limits: Limits,
    /// `--strict`: tolerated commands count as refused.
    pub strict: bool,
    /// `--quick`: probes that can only add advice were left out.
    pub quick: bool,
}

impl Evidence {
    /// The measured run.
    #[must_use]
    pub fn main(&self) -> Option<&Run> {
        self.of(Purpose::Main).next()
    }

    /// The runs of one purpose.
    pub fn of(&self, purpose: Purpose) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(move |run| run.purpose == purpose)
    }

    /// Every `go` that was judged, over all runs, with its run.
    pub fn searches(&self) -> impl Iterator<Item = (&Run, &Ask, &GoQuestion)> {
        self.runs.iter().flat_map(|run| {
            run.asks.iter().filter_map(move |ask| match &ask.question {
                Question::Go(go) => Some((run, ask, go)),
                _ => None,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_is_one_harmless_line() {
        assert_eq!(escape(b"a\nb\x1b[31m\xff", 100), "a\\nb\\u{1b}[31m\\xff");
        assert_eq!(escape("abc\u{202e}".as_bytes(), 100), "abc\\u{202e}");
        assert_eq!(escape(b"abcdef", 3), "abc…");
    }
}
