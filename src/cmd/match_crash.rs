//! The folder beside a match's games that keeps what is known of engines that were lost, as the page of an event does.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use shakmaty::{ByColor, Color, Position};

use crate::cli::{MatchArgs, OutputReader};
use crate::engine::process::EngineStart;
use crate::game::clock::GameClock;
use crate::game::go::Go;
use crate::game::{moment, notation};
use crate::model::game::crash::{CrashMove, GameCrash, shell_words};
use crate::model::game::record::GameRecord;
use crate::model::game::result::color_name;
use crate::model::text::{escape, shown};
use crate::runner::Match;
use crate::runner::events::{Event, Finished};
use crate::sandbox::capability::kernel_release;
use crate::view::screen::numbered_move;

/// Crashes that one run keeps.
const MOST: usize = 20;

/// The folder, and the engines that were lost in games whose end is still to be told.
pub(super) struct Crashes {
    beside: PathBuf,
    waiting: Vec<LostGame>,
    kept: usize,
}

struct LostGame {
    engine: usize,
    game: usize,
    why: String,
    exit: Option<String>,
    stderr: Vec<String>,
    said: Vec<String>,
}

impl Crashes {
    /// Beside the games, or the journal that has them; none without either. OpenBench's client cleans its folder of
    /// games, and knows of no folder in it.
    pub(super) fn beside(args: &MatchArgs) -> Option<Crashes> {
        let beside = args.pgn.clone().or(args.journal.clone())?;
        let wanted = args.told == OutputReader::People;
        wanted.then_some(Crashes { beside, waiting: Vec::new(), kept: 0 })
    }

    /// Takes what has happened; gives a word on what was kept of it.
    pub(super) fn hear(
        &mut self,
        event: &Event,
        of: &Match,
        name: &str,
        pgn: impl FnOnce(&Finished) -> Option<String>,
    ) -> Option<String> {
        match event {
            Event::EngineKilled { engine, why, exit, stderr, game: Some(game), said } => {
                self.waiting.push(LostGame {
                    engine: *engine,
                    game: *game,
                    why: why.clone(),
                    exit: exit.map(|exit| exit.to_string()),
                    stderr: stderr.clone(),
                    said: said.clone(),
                });
                None
            }
            Event::GameFinished(finished) => {
                let is_its = |lost: &LostGame| lost.game == finished.pairing.game;
                let at = self.waiting.iter().position(is_its)?;
                let lost = self.waiting.swap_remove(at);
                // A pipe or a terminal has no folder beside it.
                if self.kept > MOST || !self.beside.is_file() {
                    return None;
                }
                self.kept += 1;
                if self.kept > MOST {
                    return Some(format!("no more than {MOST} crashes are kept"));
                }
                let crash = crash(&lost, finished, of, name, pgn(finished));
                Some(match self.keep(&crash, lost.game) {
                    Ok(folder) => format!("what is known of the crash is in {}", shown(&folder)),
                    Err(error) => format!("the crash could not be kept: {error}"),
                })
            }
            _ => None,
        }
    }

    /// Writes the files of a crash; an older crash of the same number is left as it is.
    fn keep(&self, crash: &GameCrash, game: usize) -> io::Result<PathBuf> {
        let folder = free(&self.beside.with_extension("crashes"), game + 1)?;
        for (name, text) in crash.files() {
            fs::write(folder.join(name), text)?;
        }
        Ok(folder)
    }
}

/// Makes the folder of a game: `12`, and where that is there already `12-2`.
fn free(all: &Path, game: usize) -> io::Result<PathBuf> {
    fs::create_dir_all(all)?;
    let mut number = 1;
    loop {
        let name = if number == 1 { game.to_string() } else { format!("{game}-{number}") };
        let folder = all.join(name);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            made => return made.map(|()| folder),
        }
    }
}

fn crash(
    lost: &LostGame,
    finished: &Finished,
    of: &Match,
    event: &str,
    pgn: Option<String>,
) -> GameCrash {
    let (record, pairing) = (&finished.record, &finished.pairing);
    let color = Color::from_white(pairing.white == lost.engine);
    let (mut moves, last) = moves(record, color);
    for (number, one) in &mut moves {
        let mut lines = moment(lost.engine, finished, of, *number);
        one.asked = lines.split_off(lines.len().saturating_sub(2));
    }
    let engine = &of.engines[lost.engine];
    let word = |text: &str| escape(text.as_bytes(), 400);
    let name = |engine: usize| word(&of.engines[engine].name);
    let after = match &*last.numbered {
        "" => "before the first move".to_owned(),
        last => format!("after {last}"),
    };
    let side = color_name(color);
    let mut facts = vec![
        format!("{} was ended: {}", name(lost.engine), word(&lost.why)),
        format!(
            "{}: game {}, {} – {}, {after}, with {side}",
            word(event),
            pairing.game + 1,
            name(pairing.white),
            name(pairing.black)
        ),
    ];
    facts.extend(lost.exit.iter().map(|exit| format!("Exit: {exit}")));
    facts.push(format!("Options: {}", word(&engine.options_line())));
    facts.push(format!("Time control: {}", engine.control));
    facts.push(format!("gate4k {}", env!("CARGO_PKG_VERSION")));
    facts.push(format!("Linux {}", kernel_release()));
    GameCrash {
        facts,
        again: match &engine.start {
            EngineStart::Entry(..) => shell_words(["gate4k", "run", &engine.name]),
            EngineStart::Trusted(program) => {
                let command = program.command.to_string_lossy();
                let words = program.arguments.iter().map(|word| &**word);
                shell_words(std::iter::once(&*command).chain(words))
            }
        },
        pgn,
        why: lost.why.clone(),
        moment: moment(lost.engine, finished, of, record.plies.len()),
        fen: last.fen,
        moves: moves.into_iter().map(|(_, one)| one).collect(),
        said: lost.said.clone(),
        stderr: lost.stderr.clone(),
    }
}

/// The last move on the board, which may be none, and the position after it.
struct LastMove {
    numbered: String,
    fen: String,
}

/// A side's own moves with their numbers among those of players, and the game's last one.
fn moves(record: &GameRecord, color: Color) -> (Vec<(usize, CrashMove)>, LastMove) {
    let mut position = record.opening.start();
    let mut numbered = String::new();
    let (book, castling) = (record.opening.moves().len(), record.opening.castling());
    let mut own = Vec::new();
    for (at, played) in record.moves().enumerate() {
        let mover = position.turn();
        let (san, after) = notation::played(&position, played);
        numbered = numbered_move(position.fullmoves().get(), mover, &san);
        position = after;
        let ply = at.checked_sub(book).and_then(|number| Some((number, record.plies.get(number)?)));
        if let Some((number, ply)) = ply.filter(|_| mover == color) {
            let pv = record.pvs.get(ply.pv.clone()).unwrap_or_default();
            let one = CrashMove {
                asked: Vec::new(),
                numbered: numbered.clone(),
                uci: played.to_uci(castling).to_string(),
                depth: ply.info.depth,
                eval: ply.info.score.map(|score| score.for_white(color).value()),
                millis: ply.used().as_millis(),
                expected: String::from_utf8_lossy(pv).into_owned(),
            };
            own.push((number, one));
        }
    }
    (own, LastMove { numbered, fen: notation::fen(&position) })
}

/// The lines that bring an engine to where the game stood after so many moves of players, its own before `uci` among
/// them.
fn moment(engine: usize, finished: &Finished, of: &Match, plies: usize) -> Vec<String> {
    let (record, pairing) = (&finished.record, &finished.pairing);
    let own = &of.engines[engine];
    let castling = record.opening.castling();
    let both = ByColor { white: pairing.white, black: pairing.black };
    let controls = both.map(|engine| of.engines[engine].control);
    let mut left = controls.map(|control| control.base().unwrap_or_default());
    let mut made = ByColor { white: 0, black: 0 };
    let book = record.opening.moves().len();
    for (at, ply) in record.plies.iter().take(plies).enumerate() {
        let mover = record.mover(book + at);
        *left.get_mut(mover) = ply.left;
        *made.get_mut(mover) += 1;
    }
    let clock = GameClock::resumed(controls, of.settings.patience, left, made);
    let go = Go::of(&clock, record.mover(book + plies));
    let options = own.options.iter().map(|(name, value)| (&**name, &**value));
    let options = options.chain(castling.is_chess960().then_some(("UCI_Chess960", "true")));
    let moves: Vec<String> = record
        .moves()
        .take(book + plies)
        .map(|played| played.to_uci(castling).to_string())
        .collect();
    let mut lines = own.init.clone();
    lines.extend(moment::lines(options, record.opening.uci_fen().as_deref(), &moves, go));
    lines
}
