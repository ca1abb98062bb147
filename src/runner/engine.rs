//! An engine of a match: its command, its options and its clock, with the bounds that it is held to.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use super::spec::UciSubset;
use crate::engine::process::EngineStart;
use crate::game::clock::TimeControl;
use crate::model::evidence::{ExitHow, Refusal};

/// An engine of a match.
pub(crate) struct Engine {
    /// Its name in the match.
    pub(crate) name: String,
    /// The way in which it is started.
    pub(crate) start: EngineStart,
    /// Lines to send before `uci`, as they are; an entry is sent none.
    pub(crate) init: Vec<String>,
    /// Options to set, where it announces them.
    pub(crate) options: Vec<(String, String)>,
    /// Its time control.
    pub(crate) control: TimeControl,
    /// The time that its moves may come late, where that is another than the match's.
    pub(crate) margin: Option<Duration>,
    /// The part of UCI that it may be sent.
    pub(crate) subset: UciSubset,
    /// Starts in a row that failed.
    pub(super) failures: AtomicU32,
    /// True if it was seen to lack an option that it was to be told.
    pub(super) lacks_options: AtomicBool,
    /// Programs of the host that had been replaced when it last started well.
    replaced: AtomicUsize,
    /// True if it was seen to run more than one thread.
    pub(super) wide: AtomicBool,
}

impl Engine {
    /// An engine that has not been started yet.
    pub(crate) fn new(
        name: String,
        start: EngineStart,
        options: Vec<(String, String)>,
        control: TimeControl,
        subset: UciSubset,
    ) -> Engine {
        let threads = options
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case("threads"))
            .filter_map(|(_, value)| value.parse::<u32>().ok());
        let wide = threads.max().is_some_and(|threads| threads > 1);
        Engine {
            name,
            start,
            init: Vec::new(),
            options,
            control,
            margin: None,
            subset,
            failures: AtomicU32::new(0),
            lacks_options: AtomicBool::new(false),
            replaced: AtomicUsize::new(0),
            wide: AtomicBool::new(wide),
        }
    }

    /// A copy of the engine at another time control, not started yet.
    pub(crate) fn at(&self, control: TimeControl) -> Engine {
        let (name, start, options) = (self.name.clone(), self.start.clone(), self.options.clone());
        Engine {
            init: self.init.clone(),
            margin: self.margin,
            wide: AtomicBool::new(self.is_wide()),
            ..Engine::new(name, start, options, control, self.subset)
        }
    }

    /// The allowed programs and libraries that were replaced on this host since it last started well; what it has started
    /// well by is told once.
    pub(super) fn replaced(&self, started: bool) -> Vec<String> {
        let EngineStart::Entry(launcher, _) = &self.start else { return Vec::new() };
        let mut all = launcher.replaced();
        let known = match started {
            true => self.replaced.fetch_max(all.len(), Ordering::Relaxed),
            false => self.replaced.load(Ordering::Relaxed),
        };
        all.split_off(known.min(all.len()))
    }

    /// The change of a file that may not change as long as it plays, in words.
    pub(super) fn changed_file(&self) -> Option<String> {
        match &self.start {
            EngineStart::Trusted(program) => program.frozen.iter().find_map(|file| file.change()),
            EngineStart::Entry(..) => None,
        }
    }

    /// True if it runs, or is told to run, more than one thread.
    pub(crate) fn is_wide(&self) -> bool {
        self.wide.load(Ordering::Relaxed)
    }

    /// As in the event's files: `Protocol=uci; Threads=1; Hash=64;`.
    pub(crate) fn options_line(&self) -> String {
        options_line(&self.options)
    }
}

/// Options in a line, as a PGN's tags have them.
pub(crate) fn options_line(options: &[(String, String)]) -> String {
    let set = options.iter().map(|(name, value)| format!(" {name}={value};"));
    std::iter::once("Protocol=uci;".to_owned()).chain(set).collect()
}

/// Bounds on what is no move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EngineBounds {
    /// From the start to the first `readyok` (rule 7.4: 60 s).
    pub(crate) startup: Duration,
    /// For `readyok` between games.
    pub(crate) ready: Duration,
    /// From `quit` to the end of the process.
    pub(crate) quit: Duration,
    /// From `quit` to the end of all that it started, where what it leaves is looked at (rule 7.4).
    pub(crate) grace: Option<Duration>,
    /// The fate of games whose engine does not start.
    pub(crate) missing: Missing,
}

/// The fate of a game whose engine does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The engine loses it.
    Loses,
    /// The game has no result, and no new games begin: the host may be at fault, and people have to look.
    BreaksOff,
}

impl Default for EngineBounds {
    fn default() -> EngineBounds {
        EngineBounds {
            startup: Duration::from_secs(60),
            ready: Duration::from_secs(10),
            quit: Duration::from_secs(2),
            grace: None,
            missing: Missing::Loses,
        }
    }
}

/// The remains of an engine that was lost.
#[derive(Clone, Debug, Default)]
pub(crate) struct LostEngine {
    /// The end of its process, where it ended by itself.
    pub(crate) exit: Option<ExitHow>,
    /// The last lines of its standard error, each harmless.
    pub(crate) stderr: Vec<String>,
    /// The kernel's refusals, where it was confined.
    pub(crate) refusals: Vec<Refusal>,
    /// The last lines that it said, each harmless.
    pub(crate) said: Vec<String>,
}
