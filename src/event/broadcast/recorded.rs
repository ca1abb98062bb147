//! An event that was recorded as PGN: its games as the records that a journal would have, so that it is shown as every other
//! event is. Clocks, evaluations and lines are those of the comments, as the event and TCEC write them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pgn_reader::{Nag, RawComment, RawTag, SanPlus, Visitor};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Color, Outcome, Position};

use super::record_text::RecordText;
use super::recorded_comment::RecordedComment;
use super::{Broadcast, BroadcastGame, GameKey};
use crate::event::config::EventConfig;
use crate::event::engine_names::{self, MetNames};
use crate::event::format::Format;
use crate::event::journal::record::{
    Bye, GameFinished, GameStarted, JournalPly, JournalRecord, StageFinished, StageStarted,
};
use crate::event::recorder;
use crate::event::stage::{Stage, StageFormat};
use crate::event::termination;
use crate::game::pgn_text::{self, reader, unread};
use crate::model::game::ending::GameEnding;
use crate::model::game::listed::RoundGame;
use crate::model::game::opening::OpeningNames;
use crate::model::game::result::GameResult;
use crate::model::game::rule_distances::RuleDistances;
use crate::model::text::shown;
use crate::model::units::whole_micros;
use crate::model::words::{all, counted};

/// The longest tag and comment that are read, in bytes.
const LONG: usize = 1 << 16;

/// Games that are not those of an event.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordedError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}; name a PGN of the event's games", shown(path))]
    Read { path: PathBuf, source: io::Error },
    /// A game cannot be one of the event's.
    #[error("{}: game {game}: {what}", shown(path))]
    Game {
        path: PathBuf,
        /// Its number there, from 1.
        game: usize,
        what: String,
    },
}

/// A game as a file has it.
#[derive(Debug, Default)]
struct RecordedGame {
    tags: BTreeMap<String, String>,
    moves: Vec<RecordedMove>,
    result: Option<GameResult>,
    /// The words for a move that is not legal, behind which nothing is read.
    fault: Option<String>,
    /// The last position.
    position: Chess,
    text: RecordText,
}

#[derive(Debug)]
struct RecordedMove {
    uci: String,
    side: Color,
    comment: RecordedComment,
}

struct RecordedVisitor;

/// A game on its way: its comment stands behind its move.
struct OnTheWay {
    game: RecordedGame,
    before: Chess,
    comment: Vec<u8>,
}

impl Visitor for RecordedVisitor {
    type Tags = RecordedGame;
    type Movetext = OnTheWay;
    type Output = RecordedGame;

    fn begin_tags(&mut self) -> ControlFlow<RecordedGame, RecordedGame> {
        ControlFlow::Continue(RecordedGame::default())
    }

    fn tag(
        &mut self,
        game: &mut RecordedGame,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<RecordedGame> {
        let name = String::from_utf8_lossy(name).into_owned();
        let value = pgn_text::tag(value, 1000);
        game.text.tag(&name, &value);
        game.tags.insert(name, value);
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, mut game: RecordedGame) -> ControlFlow<RecordedGame, OnTheWay> {
        if let Some(fen) = game.tags.get("FEN") {
            let read = fen.parse::<Fen>().ok().and_then(|fen| {
                let mode = CastlingMode::detect(fen.as_setup());
                fen.into_position::<Chess>(mode).ok()
            });
            match read {
                Some(position) => game.position = position,
                None => game.fault = Some("its FEN is no position".to_owned()),
            }
        }
        game.text.begin_moves();
        let before = game.position.clone();
        ControlFlow::Continue(OnTheWay { game, before, comment: Vec::new() })
    }

    fn san(&mut self, way: &mut OnTheWay, san: SanPlus) -> ControlFlow<RecordedGame> {
        let game = &mut way.game;
        if game.fault.is_some() {
            return ControlFlow::Continue(());
        }
        match san.san.to_move(&game.position) {
            Ok(played) => {
                way.before = game.position.clone();
                game.text.san(&way.before, &san);
                let side = game.position.turn();
                let uci = played.to_uci(game.position.castles().mode()).to_string();
                game.position.play_unchecked(played);
                game.moves.push(RecordedMove { uci, side, comment: RecordedComment::default() });
            }
            Err(error) => game.fault = Some(format!("{san} is {error}")),
        }
        ControlFlow::Continue(())
    }

    fn nag(&mut self, way: &mut OnTheWay, nag: Nag) -> ControlFlow<RecordedGame> {
        way.game.text.nag(nag);
        ControlFlow::Continue(())
    }

    fn partial_comment(
        &mut self,
        way: &mut OnTheWay,
        comment: RawComment<'_>,
    ) -> ControlFlow<RecordedGame> {
        if way.comment.len() < LONG {
            way.comment.extend_from_slice(comment.as_bytes());
        }
        ControlFlow::Continue(())
    }

    fn comment(
        &mut self,
        way: &mut OnTheWay,
        comment: RawComment<'_>,
    ) -> ControlFlow<RecordedGame> {
        let mut whole = std::mem::take(&mut way.comment);
        whole.extend_from_slice(comment.as_bytes());
        if let Some(word) = unread(&whole) {
            let fault = || {
                format!("{word}, after {}, is no move in SAN", counted(way.game.moves.len(), "ply"))
            };
            let fault = way.game.fault.take().unwrap_or_else(fault);
            way.game.fault = Some(fault);
            return ControlFlow::Continue(());
        }
        way.game.text.comment(&whole);
        if let Some(last) = way.game.moves.last_mut() {
            let text = String::from_utf8_lossy(&whole).replace(['\n', '\r'], " ");
            last.comment = RecordedComment::read(&text, &way.before);
        }
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, way: &mut OnTheWay, outcome: Outcome) -> ControlFlow<RecordedGame> {
        way.game.result = Some(outcome.into());
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, way: OnTheWay) -> RecordedGame {
        way.game
    }
}

/// A game with the place that it has in the event, and in its file.
struct Placed {
    key: GameKey,
    game: RecordedGame,
    path: PathBuf,
    number: usize,
}

impl Placed {
    fn tag(&self, name: &str) -> &str {
        self.game.tags.get(name).map_or("", String::as_str)
    }
}

impl Broadcast {
    /// The event that these files have the games of. A stage has those whose Event tag ends with its name, and the first stage
    /// those that no stage has by that. A stage with all its games is over, by the event's own rules.
    ///
    /// # Errors
    /// When a file cannot be read, or holds a game that cannot be one of the event's.
    pub(crate) fn recorded(
        config: &EventConfig,
        files: &[PathBuf],
    ) -> Result<Broadcast, RecordedError> {
        let mut games: Vec<Placed> = Vec::new();
        for path in files {
            read_file(config, path, &mut games)?;
        }
        name_entries(config, &mut games)?;
        games.sort_by_key(|placed| placed.key);
        let mut broadcast = Broadcast::default();
        let failed = |what| RecordedError::Game { path: config.path.clone(), game: 0, what };
        broadcast.apply(JournalRecord::Header(config.header())).map_err(failed)?;
        for number in 0..config.stages.len() {
            let own: Vec<&Placed> =
                games.iter().filter(|placed| placed.key.stage == number).collect();
            if own.is_empty() {
                break;
            }
            broadcast.stage_of(config, number, &own).map_err(failed)?;
        }
        broadcast.in_order_of_time();
        Ok(broadcast)
    }

    /// Puts the games into the order of the times at which they ended: files tell no other.
    fn in_order_of_time(&mut self) {
        let mut games: Vec<&mut BroadcastGame> = self.games.values_mut().collect();
        games.sort_by_cached_key(|game| game.finished.as_ref().map(|finished| finished.at.clone()));
        for (number, game) in games.into_iter().enumerate() {
            game.ended = game.finished.is_some().then_some(number);
        }
    }

    fn stage_of(
        &mut self,
        config: &EventConfig,
        number: usize,
        games: &[&Placed],
    ) -> Result<(), String> {
        let stage = &config.stages[number];
        let playing: BTreeSet<&str> =
            games.iter().flat_map(|one| [one.tag("White"), one.tag("Black")]).collect();
        let mut ratings = BTreeMap::new();
        for one in games {
            for (name, elo) in [("White", "WhiteElo"), ("Black", "BlackElo")] {
                if let Ok(elo) = one.tag(elo).parse() {
                    ratings.entry(one.tag(name).to_owned()).or_insert(elo);
                }
            }
        }
        let seats = config.names().filter(|name| playing.contains(name)).map(str::to_owned);
        let seats: Vec<String> = seats.collect();
        let byes = byes(stage, number, &seats, games);
        self.apply(JournalRecord::StageStarted(StageStarted {
            stage: number,
            name: stage.name.clone(),
            seats,
            ratings,
            ..StageStarted::default()
        }))?;
        for bye in byes {
            self.apply(JournalRecord::Bye(bye))?;
        }
        for one in games {
            self.game_of(config, one)?;
        }
        let state = &self.ledger.stages[number];
        if !stage.is_played(state) {
            return Ok(());
        }
        let standings = stage.standings_of(state);
        let ranking = stage.ranking(&standings, state);
        if stage.open_tie(&standings, &ranking).is_some() {
            return Ok(());
        }
        let outcome = StageFinished::of(number, &ranking, stage.promoted(&standings, &ranking));
        let mut winners = outcome.winners().into_iter();
        self.apply(JournalRecord::StageFinished(outcome))?;
        if number + 1 == config.stages.len() {
            let winner = winners.next().unwrap_or_default();
            self.apply(JournalRecord::EventFinished { winner, shared: winners.collect() })?;
        }
        Ok(())
    }

    fn game_of(&mut self, config: &EventConfig, placed: &Placed) -> Result<(), String> {
        let (GameKey { stage: number, at }, game) = (placed.key, &placed.game);
        let stage = &config.stages[number];
        let [white, black] = ["White", "Black"].map(|side| placed.tag(side).to_owned());
        let id = config.game_id(stage, at, &white, &black);
        let base = stage.control(at).base().map_or(0, whole_micros);
        let book = game.moves.iter().take_while(|one| one.comment.is_book).count();
        let words = |moves: &[RecordedMove]| {
            moves.iter().map(|one| one.uci.as_str()).collect::<Vec<_>>().join(" ")
        };
        let named = |tag: &str| Some(placed.tag(tag).to_owned()).filter(|text| !text.is_empty());
        let names = OpeningNames {
            eco: named("ECO"),
            opening: named("Opening"),
            variation: named("Variation"),
        };
        let started = GameStarted {
            id,
            stage: number,
            round: at.round,
            game: at.game,
            white,
            black,
            attempt: 1,
            start: named("FEN"),
            opening: words(&game.moves[..book]),
            opening_names: Some(names).filter(|names| *names != OpeningNames::default()),
            time_control: stage.control(at).to_string(),
            sha256: [String::new(), String::new()],
            options: ["WhiteEngineOptions", "BlackEngineOptions"]
                .map(|tag| placed.tag(tag).to_owned()),
            clocks: [base, base],
            at: moment(placed.tag("GameStartTime")),
        };
        self.apply(JournalRecord::GameStarted(started.clone()))?;
        if let Some(shown) = self.games.get_mut(&placed.key) {
            shown.recorded = game.result.map(|result| game.text.clone().ended(result));
        }
        let mut clocks = [base, base];
        let mut lasted = 0;
        for (number, one) in game.moves[book..].iter().enumerate() {
            let (comment, own) = (&one.comment, one.side.fold_wb(0, 1));
            let used = comment.micros("mt").unwrap_or(0);
            clocks[own] = comment.micros("tl").unwrap_or(clocks[own]);
            lasted += used;
            let mut ply = JournalPly {
                id: started.id.clone(),
                number,
                uci: one.uci.clone(),
                used,
                clocks,
                rules_in: RuleDistances::OFF,
                ..JournalPly::default()
            };
            if !comment.is_silent() {
                let hash = comment.number::<f64>("h").filter(|percent| *percent > 0.0);
                ply = JournalPly {
                    eval: comment.eval(),
                    depth: comment.number("d"),
                    seldepth: comment.number("sd"),
                    nodes: comment.counted("n"),
                    speed: comment.counted("s"),
                    hashfull: hash.map(|percent| (percent * 10.0) as u32),
                    table_hits: comment.number("tb"),
                    pv: comment.pv.clone(),
                    ..ply
                };
            }
            self.apply(JournalRecord::Ply(ply))?;
        }
        let Some(result) = game.result.filter(|result| *result != GameResult::Unfinished) else {
            return Ok(());
        };
        let [details, word] =
            ["TerminationDetails", "Termination"].map(|tag| Some(placed.tag(tag)));
        let reason = termination::of(details, word, &game.position, result);
        let ending = GameEnding { result, reason };
        self.apply(JournalRecord::GameFinished(GameFinished {
            details: details
                .filter(|told| !told.is_empty())
                .map_or_else(|| ending.details(), str::to_owned),
            moves: words(&game.moves),
            book,
            lasted: duration(placed.tag("GameDuration")).unwrap_or(lasted),
            at: moment(placed.tag("GameEndTime")),
            ..recorder::ended(&started, &ending)
        }))
    }
}

/// The word of the Termination tag for a game that the organisers struck out: it counts for nobody.
const ANNULLED: &str = "annulled";

/// The byes of a Swiss: of each round, the one engine that plays no game in it.
fn byes(stage: &Stage, number: usize, seats: &[String], games: &[&Placed]) -> Vec<Bye> {
    let StageFormat::Of(format @ (Format::Swiss(_) | Format::Dutch(_))) = &stage.format else {
        return Vec::new();
    };
    let mut rounds: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for one in games {
        let players = rounds.entry(one.key.at.round).or_default();
        players.extend([one.tag("White"), one.tag("Black")]);
    }
    let wins = u32::try_from(format.games_each()).unwrap_or(u32::MAX);
    let free = |(round, players): (u32, BTreeSet<&str>)| {
        let mut free = seats.iter().filter(|name| !players.contains(name.as_str()));
        let engine = free.next().filter(|_| free.next().is_none())?.clone();
        Some(Bye { stage: number, round, engine, wins })
    };
    rounds.into_iter().filter_map(free).collect()
}

/// Reads a file's games, each with its place.
fn read_file(
    config: &EventConfig,
    path: &Path,
    games: &mut Vec<Placed>,
) -> Result<(), RecordedError> {
    let failed = |source| RecordedError::Read { path: path.to_owned(), source };
    let mut reader = reader(path, LONG, LONG).map_err(failed)?;
    for number in 1.. {
        let Some(game) = reader.read_game(&mut RecordedVisitor).map_err(failed)? else { break };
        let wrong = |what| RecordedError::Game { path: path.to_owned(), game: number, what };
        if let Some(what) = game.fault {
            return Err(wrong(what));
        }
        let tag = |name: &str| game.tags.get(name).cloned().unwrap_or_default();
        if tag("White") == tag("Black") {
            return Err(wrong(format!("{} plays both sides", tag("White"))));
        }
        let said = tag("Result");
        let Some(result) = game.result else {
            return Err(wrong("its moves end without a result; is the file cut off?".to_owned()));
        };
        if GameResult::from_word(&said) != Some(result) {
            return Err(wrong(format!("its tag says {said:?}, but its moves end with {result}")));
        }
        if let Some(shown) =
            termination::on_the_board(&game.position).filter(|shown| *shown != result)
        {
            return Err(wrong(format!("its result is {result}, and its last position {shown}")));
        }
        if tag("Termination") == ANNULLED {
            continue;
        }
        let event = tag("Event");
        let named =
            config.stages.iter().enumerate().filter(|(_, stage)| event.ends_with(&stage.name));
        let stage = named.max_by_key(|(_, stage)| stage.name.len()).map_or(0, |(stage, _)| stage);
        let next = games.iter().filter(|one| one.key.stage == stage).map(|one| one.key.at.round);
        let next = RoundGame { round: next.max().unwrap_or(0) + 1, game: 1 };
        let key = GameKey { stage, at: tag("Round").parse().unwrap_or(next) };
        if games.iter().any(|one| one.key == key) {
            return Err(wrong(format!("there are two games {key}")));
        }
        games.push(Placed { key, game, path: path.to_owned(), number });
    }
    Ok(())
}

/// Gives each player the name of its entry, which may have played in another version (rule 6.3 of 4k events).
fn name_entries(config: &EventConfig, games: &mut [Placed]) -> Result<(), RecordedError> {
    let met = games.iter().map(|one| MetNames {
        stage: one.key.stage,
        round: one.key.at.round,
        white: one.tag("White"),
        black: one.tag("Black"),
    });
    let engines = engine_names::engines(&met.collect::<Vec<_>>());
    let entries = || config.entries.iter().map(|entry| entry.name.as_str());
    let mut named = BTreeMap::new();
    for (name, engine) in &engines {
        let is_same = |entry: &&str| engines.get(entry) == Some(engine);
        let same: Vec<&str> = entries().filter(is_same).collect();
        let only = || <[&str; 1]>::try_from(&same[..]).ok().map(|[entry]| entry);
        let entry = same.iter().copied().find(|entry| entry == name).or_else(only);
        named.insert((*name).to_owned(), entry);
    }
    for Placed { game, path, number, .. } in games {
        for side in ["White", "Black"] {
            let name = game.tags.entry(side.to_owned()).or_default();
            let Some(entry) = named.get(name).copied().flatten() else {
                let names = all(&entries().collect::<Vec<_>>());
                let what = format!("{name} is no entry of the event: {names}");
                return Err(RecordedError::Game { path: path.clone(), game: *number, what });
            };
            entry.clone_into(name);
        }
    }
    Ok(())
}

/// `2024-01-04T02:55:25.663 UTC` and RFC 3339 as RFC 3339; empty where it is neither.
fn moment(text: &str) -> String {
    let text = text.strip_suffix(" UTC").map_or_else(|| text.to_owned(), |text| format!("{text}Z"));
    match humantime::parse_rfc3339(&text) {
        Ok(at) => humantime::format_rfc3339_millis(at).to_string(),
        Err(_) => String::new(),
    }
}

/// `01:13:30`, in microseconds.
fn duration(text: &str) -> Option<u64> {
    let seconds = text
        .split(':')
        .try_fold(0u64, |sum, part| sum.checked_mul(60)?.checked_add(part.parse::<u64>().ok()?))?;
    u64::try_from(Duration::from_secs(seconds).as_micros()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_game_keeps_its_words() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("games.pgn");
        let text = "[Event \"A \\\"cup\\\"\"]\n[Date \"2023.12.31\"]\n[Round \"1.2\"]\n[White \"A\"]\n[Black \"B\"]\n\
                    [Result \"1-0\"]\n[GameEndTime \"2023-12-30T18:28:13.281 UTC\"]\n[WhiteElo \"2965\"]\n\n\
                    {Threads=52; Hash=65536} 1. e4 {book} e5 $2 2. Qh5 {d=4, sd=4, mt=46597,\n s=0, n=0, pv=, wv=-0.55} Ke7 \
                    3. Qxe5# {+M1/2 0.1s} 1-0\n\n";
        std::fs::write(&path, text).unwrap();
        let mut games = reader(&path, LONG, LONG).unwrap();
        let game = games.read_game(&mut RecordedVisitor).unwrap().unwrap();
        assert_eq!(game.fault, None);
        let written = game.text.clone().ended(game.result.unwrap());
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        // Black's move behind a comment has a number.
        assert_eq!(
            words(&written),
            words(
                &text
                    .replace("{book} e5", "{book} 1... e5")
                    .replace("-0.55} Ke7", "-0.55} 2... Ke7")
            )
        );
        assert!(written.starts_with(&text[..text.find("\n\n").unwrap()]));
        assert_eq!(game.moves[2].comment.eval(), Some(-55));
        assert!(!game.moves[2].comment.is_silent());
    }

    #[test]
    fn an_engine_plays_on_for_its_entry_in_another_version() {
        let dir = tempfile::tempdir().unwrap();
        let [toml, pgn] = ["event.toml", "games.pgn"].map(|name| dir.path().join(name));
        let engine = |name: &str| format!("[[engine]]\nname = {name:?}\ncmd = \"x\"\n");
        let stage = |name: &str, promote| {
            format!(
                "[[stage]]\nname = {name:?}\nformat = {{ pairs = 1 }}\npromote = {promote}\ntie-breaks = \"4k\"\nbook-policy = \"none\"\n"
            )
        };
        let text = format!(
            "event = \"E\"\ntime-control = \"1+1\"\n{}{}{}{}",
            engine("Ant 1"),
            engine("Bee"),
            stage("Semi", 2),
            stage("Final", 1),
        );
        std::fs::write(&toml, text).unwrap();
        let game = |stage: &str, game: u32, white: &str, black: &str| {
            format!(
                "[Event \"E {stage}\"]\n[Round \"1.{game}\"]\n[White {white:?}]\n[Black {black:?}]\n\
                 [Result \"1-0\"]\n\n1. e4 1-0\n\n"
            )
        };
        let config = EventConfig::load_recorded(&toml).unwrap();
        let recorded = |final_white| {
            let games =
                [game("Semi", 1, "Ant 1", "Bee"), game("Final", 1, final_white, "Bee")].concat();
            std::fs::write(&pgn, games).unwrap();
            Broadcast::recorded(&config, std::slice::from_ref(&pgn))
        };
        let broadcast = recorded("Ant 1.1").unwrap();
        let players: Vec<_> = broadcast.games.values().map(|game| &*game.started.white).collect();
        assert_eq!(players, ["Ant 1", "Ant 1"]);
        let error = recorded("Cow").unwrap_err().to_string();
        assert!(error.ends_with("game 2: Cow is no entry of the event: Ant 1 and Bee"), "{error}");
    }

    #[test]
    fn moments_and_durations_are_read() {
        assert_eq!(moment("2024-01-04T02:55:25.663 UTC"), "2024-01-04T02:55:25.663Z");
        assert_eq!(
            (moment("yesterday"), duration("01:13:30")),
            (String::new(), Some(4_410_000_000))
        );
        assert_eq!(duration("an hour"), None);
    }
}
