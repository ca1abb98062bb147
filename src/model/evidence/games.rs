//! Games that the entry played when the rules had passed (rule `match`).

use std::time::Duration;

use serde::{Deserialize, Serialize};
use shakmaty::ByColor;

use super::files::{FileOpen, LeftFile, LeftProcess};
use super::programs::{Exec, ExitHow};
use super::refusals::{Denial, Refusal};
use super::why_illegal::WhyIllegal;
use crate::model::game::result::GameResult;
use crate::model::game::score::Score;
use crate::model::rule::RuleId;
use crate::model::text::{from_millis, from_millis_opt, millis, millis_opt};
use crate::model::units::Ply;

/// The fate of the games.
#[derive(Clone, Debug, Default)]
pub enum GamesEvidence {
    /// None were wanted, or none can be asked of it; in words, to stand after `no games:`.
    LeftOut(String),
    /// None were played so far.
    #[default]
    NotYet,
    /// This host could not play them, with the reason.
    Impossible(String),
    /// The games that began, with their terms.
    Played(PlayedGames),
}

/// The games and their terms.
#[derive(Clone, Debug, Serialize)]
pub struct PlayedGames {
    /// The entry's time control, as in PGN.
    pub(crate) control: String,
    /// The time that all of them together might take.
    #[serde(rename = "limit_ms", serialize_with = "millis")]
    pub(crate) limit: Duration,
    /// The time that they took.
    #[serde(rename = "took_ms", serialize_with = "millis")]
    pub(crate) took: Duration,
    /// The number of games that were wanted.
    pub(crate) wanted: usize,
    /// The games that began.
    pub(crate) games: Vec<PlayedGame>,
    /// The record of each process of the entry that played, with whatever it left when it was asked to quit.
    pub(crate) left: Vec<LeftByProcess>,
    /// True if the entry told a move that nothing had asked for.
    #[serde(skip)]
    pub(crate) surplus_moves: bool,
    /// Games on a smaller clock before these, which broke off by a fault that does not happen on the event's clock.
    pub(crate) disproved: Vec<PlayedGame>,
}

/// The end of a process that played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Departure {
    /// gate4k killed it: whatever lay or ran there then is held against nobody.
    #[default]
    Killed,
    /// The process was asked to quit, and all that it had started ended within the grace.
    Emptied,
    /// The process was asked to quit, and not all was seen to end within the grace.
    NotEmptied,
}

/// The leftovers of a process that played, and the record of what it did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LeftByProcess {
    /// Its end.
    pub(crate) departure: Departure,
    /// Files of its own.
    pub(crate) files: Vec<LeftFile>,
    /// Processes that still ran at the end of the grace.
    pub(crate) processes: Vec<LeftProcess>,
    /// The programs that it had started by then.
    #[serde(skip)]
    pub(crate) execs: Vec<Exec>,
    /// The libraries that it had opened.
    #[serde(skip)]
    pub(crate) opens: Vec<FileOpen>,
    /// Names that it looked for along PATH and that are found nowhere.
    #[serde(skip)]
    pub(crate) not_installed: Vec<String>,
    /// Other things that the sandbox refused it.
    #[serde(skip)]
    pub(crate) denials: Vec<Denial>,
    /// Resources that it was refused.
    #[serde(skip)]
    pub(crate) refusals: Vec<Refusal>,
}

/// A rule that a process broke in its games, by a program that it started or a library that it loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The rule.
    pub(crate) rule: RuleId,
    /// The deed, in words.
    pub(crate) what: String,
    /// The time of it since the start of the process, where that is known.
    pub(crate) at: Option<Duration>,
}

/// A fault in a game, asked again on clocks that the event can produce.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AskedAgain {
    /// The `go` to which a legal move came in the end; none where the fault is proved.
    pub(crate) held: Option<String>,
    /// Each try, in words.
    pub(crate) tries: Vec<String>,
    /// The lines up to the failure, whole and in order: those of the last try where it failed there, or else those of the game and of the
    /// games before it in the same process.
    pub(crate) commands: Vec<String>,
    /// True if it was answered on the clocks of the game as well, alone and after the game up to it.
    pub(crate) by_chance: bool,
    /// The part that time can have had in it.
    #[serde(skip)]
    pub(crate) time: PartOfTime,
}

/// The part that time, and so a busy host, can have had in a fault that came again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartOfTime {
    /// Some: it was silent, ended by itself, or was not asked on every clock.
    #[default]
    Some,
    /// None: a move that is none, a fatal signal, or an end with a status at once, came on each clock.
    None,
}

/// The opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rival {
    /// The entry again.
    Itself,
    /// The reference engine.
    Reference,
}

impl Rival {
    /// For people, behind `against`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Rival::Itself => "itself",
            Rival::Reference => "the reference engine",
        }
    }
}

/// The entry's colours in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryColours {
    /// White.
    White,
    /// Black.
    Black,
    /// Both, against itself.
    Both,
}

/// One game. Reports show it without what only rules look at.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PlayedGame {
    /// Its number, from 1.
    pub number: usize,
    /// The opponent.
    pub rival: Rival,
    /// The entry's colours.
    pub colours: EntryColours,
    /// The result.
    pub result: GameResult,
    /// Its end.
    pub end: GameEnd,
    /// The position at its end as FEN.
    pub fen: String,
    /// Every ply from the start position, the opening's among them.
    pub moves: Vec<PlayedPly>,
    /// Searches of the entry that it answered with a legal move.
    #[serde(skip)]
    pub answered: usize,
    /// The slowest of these.
    #[serde(skip)]
    pub slowest: Option<Duration>,
    /// The `position` command at the game's end.
    #[serde(skip)]
    pub command: String,
    /// The times on both clocks as each `go` told them, from the opening's end on; none where they were not kept.
    #[serde(skip)]
    pub told: Vec<ByColor<Duration>>,
    /// The fate of its fault when it was asked again.
    #[serde(skip)]
    pub again: Option<AskedAgain>,
    /// The entry's moves that came when its clock had run out.
    #[serde(skip)]
    pub late: Vec<LateMove>,
    /// The end of the process at fault, where it ended by itself.
    #[serde(skip)]
    pub exit: Option<ExitHow>,
    /// The last lines of its standard error, escaped.
    #[serde(skip)]
    pub stderr: Vec<String>,
    /// The kernel's refusals to it.
    #[serde(skip)]
    pub refusals: Vec<Refusal>,
}

impl PlayedGame {
    /// The times on both clocks at its end; none where they were not kept.
    pub(crate) fn clocks_at_end(&self) -> Option<ByColor<Duration>> {
        self.told.last().copied()
    }

    /// Plies on the board, the opening's among them.
    pub(crate) fn plies(&self) -> Ply {
        Ply(u32::try_from(self.moves.len()).unwrap_or(u32::MAX))
    }

    /// True if the entry was at fault.
    pub(crate) fn is_fault(&self) -> bool {
        matches!(self.end, GameEnd::Fault(_))
    }

    /// The game's end, in words.
    pub(crate) fn how(&self) -> String {
        match &self.end {
            GameEnd::Whole(how) => how.clone(),
            GameEnd::Cut(why) => format!("cut: {why}"),
            GameEnd::Rival(how) => format!("{how} (the reference engine)"),
            GameEnd::Fault(fault) => match fault {
                GameFault::Illegal { said, .. } => format!("`bestmove {said}` is no move here"),
                GameFault::NoMove { .. } => "no move where there are some".to_owned(),
                GameFault::Gone => "the entry ended".to_owned(),
                GameFault::Silent { waited, .. } => {
                    format!("no answer within {:.1} s", waited.as_secs_f64())
                }
                GameFault::NoStart(_) => "the entry did not start".to_owned(),
            },
        }
    }

    /// White and Black in words.
    pub(crate) fn sides(&self) -> (&'static str, &'static str) {
        let rival = match self.rival {
            Rival::Itself => "the entry again",
            Rival::Reference => "the reference engine",
        };
        match self.colours {
            EntryColours::White | EntryColours::Both => ("the entry", rival),
            EntryColours::Black => (rival, "the entry"),
        }
    }
}

/// One ply of a game.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct PlayedPly {
    /// The move in UCI's words.
    #[serde(rename = "move")]
    pub uci: String,
    /// The time that it was thought about; none for a move of the opening.
    #[serde(
        rename = "took_ms",
        serialize_with = "millis_opt",
        deserialize_with = "from_millis_opt"
    )]
    pub took: Option<Duration>,
    /// The mover's score of it, from White's point of view; none where it gave no exact one.
    pub score: Option<Score>,
}

/// A move that came when the clock had run out.
#[derive(Clone, Debug, Serialize)]
pub struct LateMove {
    /// The plies before it.
    pub(crate) ply: Ply,
    /// The clock when it was asked for.
    #[serde(rename = "left_ms", serialize_with = "millis")]
    pub(crate) left: Duration,
    /// The time that it took.
    #[serde(rename = "took_ms", serialize_with = "millis")]
    pub(crate) took: Duration,
}

/// The end of a game, from the entry's point of view.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GameEnd {
    /// As games do: by the rules on the board, by resignation or at the longest length; in PGN's words.
    Whole(String),
    /// Broken off by gate4k, with the reason.
    Cut(String),
    /// The reference engine was at fault, which says nothing of the entry; in PGN's words.
    Rival(String),
    /// The entry was at fault.
    Fault(GameFault),
}

/// An entry's fault in a game.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GameFault {
    /// A move that is not legal there.
    Illegal {
        /// As it was said, escaped.
        said: String,
        /// The reason why it is not legal.
        why: WhyIllegal,
    },
    /// The engine took the game for over (`0000`, `(none)`, a `bestmove` without a move) where it was not.
    NoMove {
        /// The word after `bestmove`, escaped.
        said: String,
        /// Legal moves that there were.
        legal: usize,
    },
    /// Its process ended, or closed its output.
    Gone,
    /// No answer at all, for so long.
    Silent {
        /// The time on the clock.
        #[serde(rename = "left_ms", serialize_with = "millis", deserialize_with = "from_millis")]
        left: Duration,
        /// The time that was waited for it.
        #[serde(rename = "waited_ms", serialize_with = "millis", deserialize_with = "from_millis")]
        waited: Duration,
    },
    /// The engine did not start, or not again, with the reason.
    NoStart(String),
}
