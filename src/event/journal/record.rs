//! The records of a journal. Times are whole microseconds, evaluations hundredths of a pawn from White's view, moves
//! UCI. Fields are only ever added, and then optional.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use super::outcome::StageFinished;
pub(crate) use super::outcome::{StagesBehind, won_by};
pub use super::withdrawn::{Bye, Walkover, Withdrawn};
use crate::model::game::ending::{GameEnding, Termination};
use crate::model::game::listed::{ListedPlayer, RoundGame};
use crate::model::game::opening::OpeningNames;
use crate::model::game::result::GameResult;
use crate::model::game::rule_distances::RuleDistances;

/// One record.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum JournalRecord {
    /// The journal's own data; the first record.
    Header(JournalHeader),
    /// The organisers changed whether an entry may play that could not be decided, before anything was played.
    Settings(ChangedSettings),
    /// An entry has passed the gate and is frozen (rule 4.4).
    Receipt(GateReceipt),
    /// The games before the event that its rating list counts (rule 5.2).
    History(History),
    /// A stage begins.
    StageStarted(StageStarted),
    /// An engine does not play in a round of a Swiss.
    Bye(Bye),
    /// A game begins, or goes on (rule 6.1.5).
    GameStarted(GameStarted),
    /// A move of a game.
    Ply(JournalPly),
    /// An engine had to be killed.
    EngineKilled(EngineKilled),
    /// A game was interrupted, and this became of it (rule 6.1).
    Interrupted(Interrupted),
    /// A game has a result.
    GameFinished(GameFinished),
    /// The organisers struck out a game.
    Annulled(Annulled),
    /// An engine was withdrawn.
    Withdrawn(Withdrawn),
    /// The organisers decided a tie (rule 3.1.7).
    Decision(TieDecision),
    /// A stage is over.
    StageFinished(StageFinished),
    /// A crash was fixed between stages (rule 6.3).
    Fix(Fix),
    /// An engine was updated before a stage that allows it (rule 4.2).
    Update(Update),
    /// The event stopped before its end.
    Paused {
        /// The reason.
        why: String,
    },
    /// The event is over.
    EventFinished {
        /// The winner of the last stage.
        winner: String,
        /// The others that share its place, where the rules let them (Swiss, rule 3.5).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        shared: Vec<String>,
    },
    /// Anything worth keeping that nothing follows from.
    Note {
        /// In words.
        text: String,
        /// The section of the event's rules that an engine broke by it, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
    },
}

/// The journal's version and the settings by which the event is played.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct JournalHeader {
    /// The version of the form.
    pub version: u32,
    /// The event's name.
    pub event: String,
    /// The version of gate4k.
    pub gate4k: String,
    /// The settings as they were written.
    pub settings: String,
    /// Their SHA-256.
    pub settings_sha256: String,
    /// The journals of events before that engines come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub previous: Vec<Previous>,
}

/// The settings as they are from here on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ChangedSettings {
    /// The settings as they were written.
    pub(crate) settings: String,
    /// Their SHA-256.
    pub(crate) settings_sha256: String,
    /// When, in RFC 3339.
    pub(crate) at: String,
}

/// The journal of an event that was played before, as it was when this one began.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Previous {
    /// Its name, as the settings have it.
    pub(crate) name: String,
    /// The sum of its last record, as hexadecimal digits.
    pub(crate) sha256: String,
}

/// The state of an entry when it passed the gate.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct GateReceipt {
    /// Its name in the event.
    pub entry: String,
    /// Its files.
    pub frozen: Frozen,
    /// The gate's verdict, `accepted` or `undecided` (where the settings admit that).
    pub verdict: String,
    /// The bytes that count towards its 4096 (rule 7.1).
    pub bytes: Option<u64>,
    /// Every rule and what was found, as `rule: status`.
    pub findings: BTreeMap<String, String>,
    /// When, as RFC 3339.
    pub at: String,
}

/// The SHA-256 sums of all that decides what an entry does.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Frozen {
    /// The sum of the entry's file.
    pub file: String,
    /// The sum of the entry's engines.json, where it has one.
    pub engines_json: Option<String>,
    /// The sum of the allow-list.
    pub allowlist: String,
    /// The sums of the files that the arguments and options of a trusted program name, such as a network, by their paths; none in
    /// journals before 0.2.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// Stands for the sum of a file that is not there.
pub(crate) const NO_FILE: &str = "none";

impl Frozen {
    /// Returns what is not as it was: the file, its sum before and its sum now. Files that were not frozen are passed over.
    pub(crate) fn difference(&self, now: &Frozen) -> Option<(String, String, String)> {
        let none = || NO_FILE.to_owned();
        let json = |of: &Frozen| of.engines_json.clone().unwrap_or_else(none);
        let sums = [
            ("the file".to_owned(), self.file.clone(), now.file.clone()),
            ("the engines.json".to_owned(), json(self), json(now)),
            ("the allow-list".to_owned(), self.allowlist.clone(), now.allowlist.clone()),
        ];
        let files = self.files.iter().map(|(path, before)| {
            let now = now.files.get(path).cloned().unwrap_or_else(none);
            (format!("the file {path}"), before.clone(), now)
        });
        sums.into_iter().chain(files).find(|(_, before, now)| before != now)
    }
}

/// Games before the event, added up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct History {
    /// Where they were read.
    pub(crate) files: Vec<HistoryFile>,
    /// The results of each two engines, in the order of names.
    pub(crate) meetings: Vec<Meeting>,
}

/// A file with games.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct HistoryFile {
    /// Its name.
    pub(crate) name: String,
    /// Its SHA-256.
    pub(crate) sha256: String,
    /// Its games that have a result.
    pub(crate) games: u64,
}

/// All games between two engines with the same colours.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Meeting {
    /// The engine with White.
    pub(crate) white: String,
    /// The engine with Black.
    pub(crate) black: String,
    /// White's wins, draws, Black's wins.
    pub(crate) results: [u32; 3],
}

/// A stage and its draw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct StageStarted {
    /// Its number, from 0.
    pub stage: usize,
    /// Its name.
    pub name: String,
    /// The engines by seat. An empty name is a place of a bracket that nobody has.
    pub seats: Vec<String>,
    /// Of a playoff after a stage: those that were clear of the tie and go on without a game, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<String>,
    /// Of a playoff after a stage: those whom that stage left level in everything, by place; where both have a spot, the
    /// organisers say who comes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level: Vec<Vec<String>>,
    /// The ratings with which they enter it, of those that have one, in Elo.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ratings: BTreeMap<String, i32>,
    /// The book, frozen; none for a stage without one, and in journals before 0.2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub book: Option<FrozenBook>,
}

impl StageStarted {
    /// The engines that play in it, in the order of their seats.
    pub(crate) fn playing(&self) -> impl Iterator<Item = &String> {
        self.seats.iter().filter(|name| !name.is_empty())
    }

    /// An engine with the rating that it entered with.
    pub(crate) fn player(&self, name: &str) -> ListedPlayer {
        ListedPlayer { name: name.to_owned(), rating: self.ratings.get(name).copied() }
    }

    /// Returns the engines that go on without a game, each with a place of its own.
    pub(crate) fn through_alone(&self) -> impl Iterator<Item = Vec<String>> {
        self.through.iter().map(|name| vec![name.clone()])
    }

    /// Returns the places of a playoff that a later stage is seated by: who shares one stands there as the stage before has
    /// it, unless that left them level in everything.
    pub(crate) fn told_apart(&self, played: &[Vec<String>]) -> Vec<Vec<String>> {
        let is_level = |a: &String, b: &String| {
            self.level.iter().any(|group| group.contains(a) && group.contains(b))
        };
        let groups = std::iter::once(&self.through).chain(played);
        groups.flat_map(|group| group.chunk_by(is_level)).map(<[String]>::to_vec).collect()
    }
}

/// A stage's book as it was when the stage began.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct FrozenBook {
    /// The SHA-256 of its file.
    pub(crate) sha256: String,
    /// Those of its other files, where each round or part has its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) further: Vec<String>,
    /// The openings that the stage needs, in their order, each as its moves in UCI; in Chess960 the position before them
    /// comes first, as FEN.
    pub(crate) openings: Vec<String>,
}

impl FrozenBook {
    /// An opening as it stands here.
    pub(crate) fn opening(start: Option<&str>, moves: &str) -> String {
        let words = [start.unwrap_or_default(), moves];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// A game's terms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct GameStarted {
    /// Its id, the same whenever and wherever the event is played.
    pub id: String,
    /// The stage's number.
    pub stage: usize,
    /// Its round, from 1.
    pub round: u32,
    /// Its number in the round, from 1.
    pub game: u32,
    /// The engine with White.
    pub white: String,
    /// The engine with Black.
    pub black: String,
    /// The number of the attempt at playing it, from 1.
    pub attempt: u32,
    /// In Chess960 the position before them, as FEN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The opening's moves.
    pub opening: String,
    /// The opening's names in the book.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening_names: Option<OpeningNames>,
    /// The time control.
    pub time_control: String,
    /// The SHA-256 of both files.
    pub sha256: [String; 2],
    /// The options of both engines.
    pub options: [String; 2],
    /// The time on both clocks.
    pub clocks: [u64; 2],
    /// When, as RFC 3339.
    pub at: String,
}

impl GameStarted {
    /// Its place in the schedule.
    pub(crate) fn place(&self) -> RoundGame {
        RoundGame { round: self.round, game: self.game }
    }

    /// True if an engine plays in it.
    pub(crate) fn plays(&self, name: &str) -> bool {
        self.white == name || self.black == name
    }
}

/// A move.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct JournalPly {
    /// The game.
    pub id: String,
    /// The moves that the engines made before it.
    pub number: usize,
    /// The move.
    #[serde(rename = "move")]
    pub uci: String,
    /// The time that it took.
    pub used: u64,
    /// Both clocks after it.
    pub clocks: [u64; 2],
    /// The mover's evaluation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval: Option<i32>,
    /// Plies searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// The deepest line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seldepth: Option<u32>,
    /// Positions searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Positions a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<u64>,
    /// The hash table's filling, per mille.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hashfull: Option<u32>,
    /// Positions found in tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_hits: Option<u64>,
    /// The expected line of play.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pv: String,
    /// Plies to the draw and the win rule.
    pub rules_in: RuleDistances,
}

/// An engine that had to be killed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct EngineKilled {
    /// The game that it lost by that; none after its last game, and in journals before 0.2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// Its name.
    pub(crate) entry: String,
    /// The reason.
    pub(crate) why: String,
    /// Its end in words, where it had ended by itself.
    pub(crate) exit: Option<String>,
    /// The last lines of its standard error.
    pub(crate) stderr: Vec<String>,
    /// The last lines that it said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) said: Vec<String>,
    /// The programs of the host that it ran under, with their versions; none in older journals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) versions: Vec<String>,
}

/// The ruling on a game that was interrupted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Interrupted {
    /// The game.
    pub(crate) id: String,
    /// The rule: `6.1.2` to `6.1.5`, or `restart`.
    pub(crate) rule: String,
    /// The decision and its grounds, in words.
    pub(crate) why: String,
    /// The result, where the game does not go on.
    pub(crate) result: Option<String>,
    /// The time left on both clocks.
    pub(crate) clocks: [u64; 2],
    /// The time added to both.
    pub(crate) compensation: u64,
    /// True if the moves made so far do not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) begins_anew: bool,
}

/// A game's end.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct GameFinished {
    /// The game.
    pub id: String,
    /// The stage's number.
    pub stage: usize,
    /// Its round, from 1.
    pub round: u32,
    /// Its number in the round, from 1.
    pub game: u32,
    /// The engine with White.
    pub white: String,
    /// The engine with Black.
    pub black: String,
    /// The result as PGN has it.
    pub result: String,
    /// The PGN tag `Termination`; none for a normal end.
    pub termination: Option<String>,
    /// The reason for the end, in words (the PGN tag `TerminationDetails`).
    pub details: String,
    /// The reason for the end, for programs.
    pub reason: Termination,
    /// The rule by which an interruption ended it (6.1.2 to 6.1.4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_rule: Option<String>,
    /// In Chess960 the position before them, as FEN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The moves of the opening and of the engines.
    pub moves: String,
    /// The number of them that are the opening's.
    pub book: usize,
    /// For a loss on time or of the process: how long was waited, and what the clock allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<[u64; 2]>,
    /// The time that it took, interruptions left out.
    pub lasted: u64,
    /// When it ended, as RFC 3339.
    pub at: String,
}

impl GameFinished {
    /// Its place in the schedule.
    pub(crate) fn place(&self) -> RoundGame {
        RoundGame { round: self.round, game: self.game }
    }

    /// The result.
    pub(crate) fn result(&self) -> GameResult {
        GameResult::from_word(&self.result).unwrap_or(GameResult::Unfinished)
    }

    /// Strikes out its result.
    pub(crate) fn annul(&mut self, reason: &str) {
        let ending = GameEnding {
            result: GameResult::Unfinished,
            reason: Termination::Annulled(reason.to_owned()),
        };
        self.result = ending.result.word().to_owned();
        self.termination = ending.termination().map(str::to_owned);
        self.details = ending.details();
        self.reason = ending.reason;
    }

    /// The end of the game: of one that an interruption ended by its evaluations, the rule of that.
    pub(crate) fn ending(&self) -> GameEnding {
        match (&self.by_rule, &self.reason) {
            (Some(rule), Termination::DrawByEval | Termination::WinByEval) => {
                GameEnding { result: self.result(), reason: Termination::Interrupted(rule.clone()) }
            }
            _ => self.kept_ending(),
        }
    }

    /// The end of the game as the record has it, whose words are those of an adjudication also after an interruption.
    pub(crate) fn kept_ending(&self) -> GameEnding {
        GameEnding { result: self.result(), reason: self.reason.clone() }
    }

    /// The words for its end.
    pub(crate) fn told_details(&self) -> String {
        match self.ending() {
            ending if ending.reason == self.reason => self.details.clone(),
            ending => ending.details(),
        }
    }
}

/// A game that the organisers struck out, whether it had ended or was under way.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Annulled {
    /// The game.
    pub id: String,
    /// The stage's number.
    pub stage: usize,
    /// Its round, from 1.
    pub round: u32,
    /// Its number in the round, from 1.
    pub game: u32,
    /// The fate of its place in the schedule.
    pub then: AfterAnnulment,
    /// The reason.
    pub reason: String,
    /// When, as RFC 3339.
    pub at: String,
}

/// The fate of the place of a game that was struck out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterAnnulment {
    /// Nothing is played there, and it counts for nobody.
    Nothing,
    /// The game is played again from its beginning.
    PlayedAgain,
}

impl Annulled {
    /// Its place in the schedule.
    pub(crate) fn place(&self) -> RoundGame {
        RoundGame { round: self.round, game: self.game }
    }

    /// In a line.
    pub(crate) fn in_words(&self) -> String {
        let again = if self.then == AfterAnnulment::Nothing { "" } else { " and played again" };
        format!("{}: annulled{again} by the organisers: {}", self.id, self.reason)
    }
}

/// A tie that the organisers decided.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct TieDecision {
    /// The stage's number.
    pub(crate) stage: usize,
    /// The tied engines, the best first.
    pub(crate) order: Vec<String>,
    /// The reason.
    pub(crate) reason: String,
    /// When, as RFC 3339.
    pub(crate) at: String,
}

/// A crash fix.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Fix {
    /// The entry.
    pub(crate) entry: String,
    /// The description of the fix.
    pub(crate) reason: String,
    /// The number of times that it crashed.
    pub(crate) crashes: u32,
    /// Its files before.
    pub(crate) before: Frozen,
    /// The receipt of the mended one.
    pub(crate) receipt: GateReceipt,
    /// When, as RFC 3339.
    pub(crate) at: String,
}

/// An update between stages.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Update {
    /// The entry.
    pub(crate) entry: String,
    /// The number of the stage before which it came.
    pub(crate) stage: usize,
    /// Its files before.
    pub(crate) before: Frozen,
    /// The receipt of what plays from now on.
    pub(crate) receipt: GateReceipt,
    /// When, as RFC 3339.
    pub(crate) at: String,
}
