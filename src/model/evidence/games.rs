//! Games that the entry played when the rules had passed (rule `match`).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::programs::ExitHow;
use super::refusals::Refusal;
use crate::model::text::{from_millis, from_millis_opt, millis, millis_opt};
use crate::model::units::Ply;

/// What became of the games.
#[derive(Clone, Debug, Default)]
pub enum Games {
    /// None were wanted, or none can be asked of it; in words, to stand after `no games:`.
    LeftOut(String),
    /// None were played so far.
    #[default]
    NotYet,
    /// This host could not play them, with the reason.
    Impossible(String),
    /// They were played.
    Played(Played),
}

/// The games and their terms.
#[derive(Clone, Debug, Serialize)]
pub struct Played {
    /// The entry's time control, as in PGN.
    pub control: String,
    /// How long all of them together might take.
    #[serde(rename = "limit_ms", serialize_with = "millis")]
    pub limit: Duration,
    /// How long they took.
    #[serde(rename = "took_ms", serialize_with = "millis")]
    pub took: Duration,
    /// How many were wanted.
    pub wanted: usize,
    /// Those that began.
    pub games: Vec<PlayedGame>,
    /// Games on a smaller clock before these, which broke off by what does not happen on the event's.
    pub disproved: Vec<PlayedGame>,
}

/// A fault in a game, asked again on clocks that the event can produce.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AskedAgain {
    /// The `go` to which a legal move came in the end; none where the fault is proved.
    pub held: Option<String>,
    /// Each try, in words.
    pub tries: Vec<String>,
    /// The lines that were sent in the last of them, whole and in order.
    pub commands: Vec<String>,
}

/// Who sat opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rival {
    /// The entry again.
    Itself,
    /// The reference engine.
    Reference,
}

/// Which colours the entry had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Colours {
    /// White.
    White,
    /// Black.
    Black,
    /// Both, against itself.
    Both,
}

/// One game.
#[derive(Clone, Debug, Serialize)]
pub struct PlayedGame {
    /// Its number, from 1.
    pub number: usize,
    /// Who sat opposite.
    pub rival: Rival,
    /// The entry's colours.
    pub colours: Colours,
    /// Plies on the board, the opening's among them.
    pub plies: Ply,
    /// Searches of the entry that it answered with a legal move.
    pub answered: usize,
    /// The slowest of these.
    #[serde(rename = "slowest_ms", serialize_with = "millis_opt")]
    pub slowest: Option<Duration>,
    /// The `position` command at the game's end.
    pub command: String,
    /// The same position as FEN.
    pub fen: String,
    /// Every ply from the start position, the opening's among them.
    pub line: Vec<PlayedPly>,
    /// The result as PGN writes it.
    pub result: &'static str,
    /// How it ended.
    pub end: GameEnd,
    /// How its fault fared when it was asked again.
    pub again: Option<AskedAgain>,
    /// The entry's moves that came when its clock had run out.
    pub late: Vec<LateMove>,
    /// How the process at fault ended, where it did by itself.
    pub exit: Option<ExitHow>,
    /// The last lines of its standard error, escaped.
    pub stderr: Vec<String>,
    /// What the kernel had refused it.
    pub refusals: Vec<Refusal>,
}

/// One ply of a game.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct PlayedPly {
    /// The move in UCI's words.
    #[serde(rename = "move")]
    pub uci: String,
    /// How long it was thought about; none for a move of the opening.
    #[serde(
        rename = "took_ms",
        serialize_with = "millis_opt",
        deserialize_with = "from_millis_opt"
    )]
    pub took: Option<Duration>,
    /// What the mover thought of it; none where it gave no exact score.
    pub score: Option<Score>,
}

/// What an engine thinks of a position, from White's point of view whoever moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// Hundredths of a pawn.
    Centipawns(i32),
    /// White mates within so many plies; where it is negative, Black does.
    Mate(i32),
}

/// A move that came when the clock had run out.
#[derive(Clone, Debug, Serialize)]
pub struct LateMove {
    /// The plies before it.
    pub ply: Ply,
    /// What the clock showed when it was asked for.
    #[serde(rename = "left_ms", serialize_with = "millis")]
    pub left: Duration,
    /// How long it took.
    #[serde(rename = "took_ms", serialize_with = "millis")]
    pub took: Duration,
}

/// How a game ended, from the entry's point of view.
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

/// What an entry did wrong in a game.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GameFault {
    /// A move that is not legal there.
    Illegal {
        /// As it was said, escaped.
        said: String,
        /// Why it is not.
        why: String,
    },
    /// It took the game for over (`0000`, `(none)`, a `bestmove` without a move) where it was not.
    NoMove {
        /// What stood after `bestmove`, escaped.
        said: String,
        /// Legal moves that there were.
        legal: usize,
    },
    /// Its process ended, or closed its output.
    Gone,
    /// No answer at all, for so long.
    Silent {
        /// What the clock showed.
        #[serde(rename = "left_ms", serialize_with = "millis", deserialize_with = "from_millis")]
        left: Duration,
        /// How long it was waited for.
        #[serde(rename = "waited_ms", serialize_with = "millis", deserialize_with = "from_millis")]
        waited: Duration,
    },
    /// It did not start, or not again, with the reason.
    NoStart(String),
}
