//! The evidence on an entry: the typed record that every rule judges.
//!
//! Probes fill it, rules read it, reports show it. Nothing here decides anything. Times are since the
//! exec of the entry in the run they belong to, unless said otherwise. Text that came from an entry is
//! kept as bytes turned into escaped strings (`text::escape`), so that no report can be forged by a name.

mod capabilities;
mod files;
mod games;
mod host;
mod programs;
mod questions;
mod refusals;
mod run;
mod why_illegal;

pub use capabilities::{Capabilities, LeftOut};
pub use files::{FileAccess, FileOpen, LeftFile, LeftProcess, Opener, OpenerCode};
pub use games::{
    AskedAgain, Breach, Departure, EntryColours, GameEnd, GameFault, GamesEvidence, LateMove,
    LeftByProcess, PartOfTime, PlayedGame, PlayedGames, PlayedPly, Rival,
};
pub use host::{HostFacts, Limits, Overcommit};
pub use programs::{Exec, ExecOutcome, ExitHow, Product, ProgramClass};
pub use questions::{Answer, Ask, GoQuestion, Question};
pub(crate) use refusals::LARGEST_FILE;
pub use refusals::{Denial, FatalSignal, RecordPart, Refusal, Resource};
pub use run::{
    BookSeen, DeclaredOption, EndHow, IdleSeen, LaunchFailure, Purpose, Run, RunEnding, Shell,
};
pub(crate) use run::{LEAST_LEFT, LONG_GAME};
pub use why_illegal::{MoveFault, WhyIllegal};

/// Everything the running rules judge.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// All runs; the first of purpose [`Purpose::Main`] is the measured one.
    pub runs: Vec<Run>,
    /// The capabilities of the engine.
    pub capabilities: Capabilities,
    /// The games it played.
    pub games: GamesEvidence,
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
    pub(crate) fn main(&self) -> Option<&Run> {
        self.of(Purpose::Main).next()
    }

    /// The runs of one purpose.
    pub(crate) fn of(&self, purpose: Purpose) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(move |run| run.purpose == purpose)
    }
}
