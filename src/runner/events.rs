//! The stream of typed events of a match. All output, files and counts are made of these alone; as JSON, one a
//! line, they are also what `--events` writes.

use std::time::{Duration, SystemTime};

use serde::{Serialize, Serializer};
use shakmaty::{ByColor, CastlingMode, Chess, Color, Position};

use super::engine::LostEngine;
use super::schedule::ScheduledGame;
use crate::game::notation;
use crate::model::evidence::{ExitHow, LeftByProcess};
use crate::model::game::record::{GameRecord, PlyRecord, Unanswered};
use crate::model::game::result::GameResult;
use crate::model::game::score::Score;
use crate::model::rule::RuleId;
use crate::model::text::escape;
use crate::model::units::whole_micros;
use crate::model::words::all;

/// The version of the stream's form; it changes when a reader of an older one would read wrongly.
pub(crate) const VERSION: u32 = 2;

/// The longest part of an expected line that is told, in characters; the journal of an event keeps as much.
const LONGEST_PV: usize = 400;

/// The words for options that an engine does not offer, behind its name.
pub(crate) fn not_offered(options: &[String]) -> String {
    format!(
        "does not offer {}, so it was not told {}; see the options that it names to `uci`",
        all(options),
        if options.len() == 1 { "that" } else { "them" }
    )
}

/// An event of a match.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub(crate) enum Event {
    /// The match begins.
    MatchStarted {
        /// See [`VERSION`].
        version: u32,
        /// The engines' names, in the order by which all else refers to them.
        engines: Vec<String>,
        /// Games to play.
        games: usize,
    },
    /// An engine's process is up and ready.
    EngineStarted {
        /// Its place in the list.
        engine: usize,
        /// Its process, where it has a number outside a sandbox.
        pid: Option<u32>,
        /// From start to `readyok`, in microseconds.
        #[serde(serialize_with = "micros")]
        took: Duration,
    },
    /// An engine was to be told options that it does not offer, and was not told them.
    OptionsNotOffered {
        /// Its place in the list.
        engine: usize,
        /// Their names, as they were asked for.
        options: Vec<String>,
    },
    /// Allowed programs or libraries of this host are others since an engine was last started: it starts by the new ones.
    HostChanged {
        /// Its place in the list.
        engine: usize,
        /// The programs by name, the libraries by path.
        replaced: Vec<String>,
    },
    /// An engine had to be killed.
    EngineKilled {
        /// Its place in the list.
        engine: usize,
        /// The reason.
        why: String,
        /// Its end, where it had ended by itself.
        exit: Option<ExitHow>,
        /// The last lines of its standard error.
        stderr: Vec<String>,
        /// The game's place in the plan, where it was lost in one.
        #[serde(skip_serializing_if = "Option::is_none")]
        game: Option<usize>,
        /// The last lines that it said.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        said: Vec<String>,
    },
    /// A process has ended after `quit`, or was killed, where it is looked at what it did and leaves.
    EngineLeft {
        /// Its place in the list.
        engine: usize,
        /// Its leftovers, and the record of what it did.
        left: LeftByProcess,
    },
    /// An engine said a move in its game without having been asked for one; it was passed over.
    Unasked {
        /// Its place in the list.
        engine: usize,
        /// The first such line.
        said: String,
    },
    /// An entry computed while its opponent thought, in a game on a long clock (rule 0.1).
    Ponders {
        /// Its place in the list.
        engine: usize,
        /// The extent, in words that go on after its name.
        how: String,
    },
    /// An entry broke a rule by a program or a library in its games; known when its process ends, and told once for each process.
    BrokeRule {
        /// Its place in the list.
        engine: usize,
        /// The rule.
        rule: RuleId,
        /// Its section of the event's rules.
        section: &'static str,
        /// The deed, in words.
        what: String,
        /// The game's place in the plan, where it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        game: Option<usize>,
    },
    /// A game begins.
    GameStarted {
        /// Its place in the plan.
        #[serde(flatten)]
        pairing: ScheduledGame,
        /// The board at the engines' first move; told only where the moves are.
        #[serde(flatten)]
        board: Option<Box<Board>>,
    },
    /// A move was played; told only where that was asked for.
    MovePlayed(Box<MovePlayed>),
    /// A game has ended.
    GameFinished(Box<Finished>),
    /// The match is over.
    MatchFinished {
        /// Games that ended with a result.
        played: usize,
        /// The reason why it ended before its last game, if it did.
        early: Option<String>,
    },
}

impl Event {
    /// The game that it is of, where it is of one.
    pub(crate) fn pairing(&self) -> Option<&ScheduledGame> {
        match self {
            Event::GameStarted { pairing, .. } => Some(pairing),
            Event::MovePlayed(played) => Some(&played.pairing),
            Event::GameFinished(finished) => Some(&finished.pairing),
            _ => None,
        }
    }

    /// The place in the plan of the game that it is of, where it is of one.
    pub(crate) fn game(&self) -> Option<usize> {
        match self {
            Event::EngineKilled { game, .. } | Event::BrokeRule { game, .. } => *game,
            _ => self.pairing().map(|pairing| pairing.game),
        }
    }
}

/// A game's board and clocks when its engines begin, or go on.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    /// The position.
    pub(crate) position: Chess,
    /// Both clocks; none where there is no clock.
    pub(crate) clocks: ByColor<Option<Duration>>,
}

impl Serialize for Board {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct View {
            fen: String,
            clocks: Both<Option<u64>>,
        }
        let clocks = Both::of(self.clocks.map(|clock| clock.map(whole_micros)));
        View { fen: notation::fen(&self.position), clocks }.serialize(serializer)
    }
}

/// A move of a game that is under way.
#[derive(Clone, Debug)]
pub(crate) struct MovePlayed {
    /// The game.
    pub(crate) pairing: ScheduledGame,
    /// The moves that players made before it in this game.
    pub(crate) number: usize,
    /// Its side.
    pub(crate) mover: Color,
    /// The move; its expected line is in [`MovePlayed::pv`].
    pub(crate) ply: PlyRecord,
    /// Both clocks after it.
    pub(crate) clocks: ByColor<Duration>,
    /// The line of play that its search expected, in UCI's words.
    pub(crate) pv: Vec<u8>,
    /// The position before it.
    pub(crate) before: Chess,
}

impl Serialize for MovePlayed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "kebab-case")]
        struct View {
            game: usize,
            number: usize,
            side: &'static str,
            san: String,
            fen: String,
            clocks: Both<u64>,
            ply: MoveView,
            #[serde(skip_serializing_if = "Option::is_none")]
            seldepth: Option<u32>,
            #[serde(skip_serializing_if = "Option::is_none")]
            nodes: Option<u64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            speed: Option<u64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            hashfull: Option<u32>,
            #[serde(skip_serializing_if = "Option::is_none")]
            table_hits: Option<u64>,
            #[serde(skip_serializing_if = "String::is_empty")]
            pv: String,
        }
        let (san, after) = notation::played(&self.before, self.ply.played);
        let info = &self.ply.info;
        let view = View {
            game: self.pairing.game,
            number: self.number,
            side: self.mover.fold_wb("white", "black"),
            san,
            fen: notation::fen(&after),
            clocks: Both::of(self.clocks.map(whole_micros)),
            ply: MoveView::of(&self.ply, self.before.castles().mode()),
            seldepth: info.seldepth,
            nodes: info.nodes,
            speed: info.speed,
            hashfull: info.hashfull,
            table_hits: info.table_hits,
            pv: escape(&self.pv, LONGEST_PV),
        };
        view.serialize(serializer)
    }
}

/// A game that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Its place in the plan.
    pub(crate) pairing: ScheduledGame,
    /// The moment at which it began.
    pub(crate) started: SystemTime,
    /// The time that it took.
    pub(crate) lasted: Duration,
    /// The record of it.
    pub(crate) record: GameRecord,
    /// The remains of engines that were lost in this game.
    pub(crate) remains: ByColor<Option<LostEngine>>,
}

impl Serialize for Finished {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = &self.record;
        let remains = self.remains.as_ref().map(|left| {
            left.as_ref().map(|left| RemainsView { exit: left.exit, stderr: &left.stderr })
        });
        let castling = record.opening.castling();
        let uci = |one: &shakmaty::Move| one.to_uci(castling).to_string();
        FinishedView {
            pairing: self.pairing,
            result: record.ending.result,
            reason: &record.ending.reason,
            details: record.ending.details(),
            started: humantime::format_rfc3339_millis(self.started).to_string(),
            lasted: self.lasted,
            fen: record.opening.fen(),
            opening: record.opening.moves().iter().map(uci).collect(),
            moves: record.plies.iter().map(|ply| MoveView::of(ply, castling)).collect(),
            unanswered: record.unanswered.map(Into::into),
            remains: Both::of(remains),
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct FinishedView<'a> {
    #[serde(flatten)]
    pairing: ScheduledGame,
    result: GameResult,
    reason: &'a crate::model::game::ending::Termination,
    details: String,
    started: String,
    #[serde(serialize_with = "micros")]
    lasted: Duration,
    fen: Option<String>,
    opening: Vec<String>,
    moves: Vec<MoveView>,
    unanswered: Option<UnansweredView>,
    remains: Both<Option<RemainsView<'a>>>,
}

/// Of both sides.
#[derive(Serialize)]
struct Both<T> {
    white: T,
    black: T,
}

impl<T> Both<T> {
    fn of(both: ByColor<T>) -> Both<T> {
        Both { white: both.white, black: both.black }
    }
}

#[derive(Serialize)]
struct RemainsView<'a> {
    exit: Option<ExitHow>,
    stderr: &'a [String],
}

/// A move with both its stamps, so that every loss on time can be proved.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct MoveView {
    uci: String,
    #[serde(serialize_with = "micros")]
    sent: Duration,
    #[serde(serialize_with = "micros")]
    heard: Duration,
    #[serde(serialize_with = "micros")]
    left: Duration,
    #[serde(skip_serializing_if = "Option::is_none")]
    eval: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
}

impl MoveView {
    fn of(ply: &PlyRecord, castling: CastlingMode) -> MoveView {
        MoveView {
            uci: ply.played.to_uci(castling).to_string(),
            sent: ply.sent.0,
            heard: ply.heard.0,
            left: ply.left,
            eval: ply.info.score.map(Score::value),
            depth: ply.info.depth,
        }
    }
}

#[derive(Serialize)]
struct UnansweredView {
    #[serde(serialize_with = "micros")]
    sent: Duration,
    #[serde(serialize_with = "micros")]
    heard: Duration,
    #[serde(serialize_with = "micros")]
    left: Duration,
}

impl From<Unanswered> for UnansweredView {
    fn from(one: Unanswered) -> UnansweredView {
        UnansweredView { sent: one.sent.0, heard: one.heard.0, left: one.left }
    }
}

/// Times in the stream are whole microseconds; stamps count from the beginning of the match.
fn micros<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(whole_micros(*time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_an_event_with_its_kind_first() {
        let event = Event::EngineKilled {
            engine: 1,
            why: "x\ny".into(),
            exit: Some(ExitHow::Signal(6)),
            stderr: vec![],
            game: None,
            said: vec![],
        };
        assert_eq!(
            serde_json::to_string(&event).unwrap(),
            r#"{"event":"engine-killed","engine":1,"why":"x\ny","exit":{"signal":6},"stderr":[]}"#
        );
        assert_eq!(event.game(), None);
        let event =
            Event::EngineStarted { engine: 0, pid: Some(7), took: Duration::from_millis(3) };
        assert_eq!(
            serde_json::to_string(&event).unwrap(),
            r#"{"event":"engine-started","engine":0,"pid":7,"took":3000}"#
        );
    }
    #[test]
    fn an_engine_that_was_ended_in_a_game_is_of_that_game() {
        let event = Event::EngineKilled {
            engine: 1,
            why: "it hung".into(),
            exit: None,
            stderr: vec![],
            game: Some(7),
            said: vec![],
        };
        assert_eq!(event.game(), Some(7));
    }
}
