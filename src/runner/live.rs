//! The live file: the games under way, in one small file that is replaced whole.
//!
//! The listener of a match hands each event on, which costs a copy of a move; a thread of its own makes the text and
//! replaces the file, some twenty times a second at most. The file is for those who watch: they
//! read from it since when a clock runs. No game and no result is made of it, so it is never forced onto the disk, and a write
//! that fails ends no game.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use shakmaty::Position;

use super::events::{Board, Event, MovePlayed};
use super::schedule::ScheduledGame;
use crate::files::write::replace;
use crate::model::lock::lock;

/// The name and version of the form.
pub(crate) const SCHEMA: &str = "gate4k-live-1";

/// The least time between two of its texts.
const PERIOD: Duration = Duration::from_millis(50);

/// A game's names.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Names {
    /// Its id in an event, or its number in a match.
    pub(crate) id: String,
    /// The engine with White.
    pub(crate) white: String,
    /// The engine with Black.
    pub(crate) black: String,
}

/// The file, and the thread that replaces it.
#[derive(Debug)]
pub(crate) struct LiveFile {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    games: BTreeMap<usize, Game>,
    is_new: bool,
    over: bool,
    failed: Option<io::Error>,
}

/// A game under way.
#[derive(Clone, Debug)]
struct Game {
    names: Arc<Names>,
    board: Board,
    last: Option<Arc<MovePlayed>>,
    /// The moment at which the clock of the side to move began to run.
    since: SystemTime,
}

impl LiveFile {
    /// Begins the file, which holds no game yet.
    ///
    /// # Errors
    /// When it cannot be written, or no thread be started.
    pub(crate) fn start(path: &Path) -> io::Result<LiveFile> {
        replace(path, &text(&BTreeMap::new(), false))?;
        let shared = Arc::new(Shared::default());
        let (own, path) = (Arc::clone(&shared), path.to_owned());
        let thread =
            std::thread::Builder::new().name("live".into()).spawn(move || own.write(&path))?;
        Ok(LiveFile { shared, thread: Some(thread) })
    }

    /// Takes what has happened; `names` tells those of a game that begins.
    pub(crate) fn hear(&self, event: &Event, names: impl FnOnce(&ScheduledGame) -> Names) {
        match event {
            Event::GameStarted { pairing, board: Some(board) } => {
                let (names, since) = (Arc::new(names(pairing)), SystemTime::now());
                let game = Game { names, board: board.as_ref().clone(), last: None, since };
                self.change(|games| drop(games.insert(pairing.game, game)));
            }
            Event::MovePlayed(played) => {
                let (number, since) = (played.pairing.game, SystemTime::now());
                let last = Arc::new(played.as_ref().clone());
                self.change(|games| {
                    if let Some(game) = games.get_mut(&number) {
                        (game.last, game.since) = (Some(last), since);
                    }
                });
            }
            Event::GameFinished(finished) => {
                let number = finished.pairing.game;
                self.change(|games| drop(games.remove(&number)));
            }
            _ => {}
        }
    }

    /// Writes what is left to write, and ends.
    ///
    /// # Errors
    /// When it could not be written at some time.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.end();
        lock(&self.shared.state).failed.take().map_or(Ok(()), Err)
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<usize, Game>)) {
        let mut state = lock(&self.shared.state);
        change(&mut state.games);
        // The thread that sleeps its period out looks by itself.
        if !std::mem::replace(&mut state.is_new, true) {
            self.shared.changed.notify_one();
        }
    }

    fn end(&mut self) {
        let mut state = lock(&self.shared.state);
        (state.over, state.is_new) = (true, true);
        state.games.clear();
        drop(state);
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for LiveFile {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.end();
        }
    }
}

impl Shared {
    fn write(&self, path: &Path) {
        loop {
            let mut state = lock(&self.state);
            while !state.is_new {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.is_new = false;
            let (games, over) = (state.games.clone(), state.over);
            drop(state);
            if let Err(error) = replace(path, &text(&games, over)) {
                lock(&self.state).failed.get_or_insert(error);
            }
            if over {
                return;
            }
            std::thread::sleep(PERIOD);
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct LiveDocument<'a> {
    schema: &'static str,
    at: String,
    over: bool,
    games: Vec<LiveGame<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct LiveGame<'a> {
    #[serde(flatten)]
    names: &'a Names,
    to_move: &'static str,
    since: String,
    #[serde(flatten)]
    board: Option<&'a Board>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<&'a MovePlayed>,
}

fn text(games: &BTreeMap<usize, Game>, over: bool) -> String {
    let moment = |at| humantime::format_rfc3339_millis(at).to_string();
    let games = games.values().map(|game| {
        let first = game.board.position.turn();
        let turn = game.last.as_ref().map_or(first, |last| !last.mover);
        LiveGame {
            names: &game.names,
            to_move: turn.fold_wb("white", "black"),
            since: moment(game.since),
            board: game.last.is_none().then_some(&game.board),
            last: game.last.as_deref(),
        }
    });
    let document = LiveDocument {
        schema: SCHEMA,
        at: moment(SystemTime::now()),
        over,
        games: games.collect(),
    };
    // Nothing in it can fail to be written.
    serde_json::to_string(&document).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::game::record::PlyRecord;
    use serde_json::Value;
    use shakmaty::uci::UciMove;
    use shakmaty::{ByColor, Chess, Color};

    fn pairing(game: usize) -> ScheduledGame {
        ScheduledGame {
            game,
            round: 1,
            in_round: game + 1,
            white: 0,
            black: 1,
            couple: 0,
            encounter: 0,
            paired: true,
        }
    }

    fn read(path: &Path) -> Value {
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn the_file_follows_a_game_and_is_whole_at_any_moment() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("live.json");
        let live = LiveFile::start(&path).unwrap();
        assert_eq!(read(&path)["games"], Value::Array(Vec::new()));
        let names =
            |_: &ScheduledGame| Names { id: "7".into(), white: "A\n".into(), black: "<b>".into() };
        let clocks = ByColor { white: Some(Duration::from_secs(9)), black: None };
        let board = Some(Box::new(Board { position: Chess::default(), clocks }));
        live.hear(&Event::GameStarted { pairing: pairing(0), board }, names);
        let wait_for = |what: &dyn Fn(&Value) -> bool| loop {
            let now = read(&path);
            if what(&now["games"]) {
                return now["games"][0].clone();
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let game = wait_for(&|games| games[0]["id"] == "7");
        assert_eq!((&game["to-move"], &game["black"]), (&"white".into(), &"<b>".into()));
        assert_eq!(game["clocks"], serde_json::json!({"white": 9_000_000, "black": null}));
        let before = Chess::default();
        let one = "e2e4".parse::<UciMove>().unwrap().to_move(&before).unwrap();
        let played = MovePlayed {
            pairing: pairing(0),
            number: 0,
            mover: Color::White,
            ply: PlyRecord::bare(one),
            clocks: ByColor { white: Duration::from_secs(8), black: Duration::from_secs(9) },
            pv: b"e2e4 \xff<i>".to_vec(),
            before,
        };
        live.hear(&Event::MovePlayed(Box::new(played)), names);
        let game = wait_for(&|games| games[0]["to-move"] == "black");
        let last = &game["last"];
        assert_eq!((&last["san"], &last["ply"]["uci"]), (&"e4".into(), &"e2e4".into()));
        assert_eq!(last["pv"], "e2e4 \\xff<i>");
        assert_eq!(last["fen"], "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
        live.finish().unwrap();
        let over = read(&path);
        assert_eq!((&over["over"], &over["games"]), (&true.into(), &Value::Array(Vec::new())));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_told() {
        let dir = tempfile::tempdir().unwrap();
        assert!(LiveFile::start(&dir.path().join("no/live.json")).is_err());
        let path = dir.path().join("live.json");
        let live = LiveFile::start(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(live.finish().is_err());
    }
}
