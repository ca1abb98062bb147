//! An event for a terminal: the board of a game under way with clocks and evaluations, the other games, and the table,
//! as lines; and the same as words for where nothing can be drawn anew. The board is that of a match, too.

mod game;

use std::time::{Duration, SystemTime};

use shakmaty::fen::Fen;
use shakmaty::{Board, ByColor, Color};

use super::columns::ColumnTable;
use super::figures::{clock, depth, evaluation, numbered, said, search, state, word};
use super::text::wrap;
use crate::event::broadcast::{
    self, BracketLevel, BracketMatch, Broadcast, BroadcastGame, GameKey, Running, ShownMove, Side,
    progress, timetable,
};
use crate::event::config::EventConfig;
use crate::model::text::{escape, shown};
use crate::model::words::counted;

pub(crate) use super::figures::{numbered_move, told, under_way};
pub(crate) use game::{GameOnScreen, MoveOnScreen, PlayerOnScreen, last_moves};

/// The longest name where something stands behind it, in characters; a longer one is cut.
const NAME: usize = 28;
/// The most games to come that are shown before the first one.
const FIRST: usize = 8;
/// The board, what stands around it, and lines between.
const ABOVE_TABLE: usize = 13;

/// An event at a moment, and the room to show it in.
#[derive(Clone, Copy)]
pub(crate) struct Screen<'a> {
    pub(crate) config: &'a EventConfig,
    /// Its games and its state.
    pub(crate) broadcast: &'a Broadcast,
    /// The clocks that run.
    pub(crate) running: &'a [Running],
    pub(crate) now: SystemTime,
    /// The state of the runner.
    pub(crate) runner: Runner,
    /// The columns that there is room for.
    pub(crate) width: usize,
    /// The lines that there is room for.
    pub(crate) height: usize,
}

/// The program that plays the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runner {
    /// The runner is at work.
    AtWork,
    /// No runner is at work: the clocks stand.
    Away,
}

impl Screen<'_> {
    /// The lines of the whole screen.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = wrap(&self.headline(), self.width);
        let open: Vec<&BroadcastGame> = self.broadcast.under_way().collect();
        let shown = open.first().copied().or_else(|| self.broadcast.finished().last().copied());
        if let Some(game) = shown {
            lines.extend(self.game(game, &game.moves()).lines(self.width));
        } else {
            lines.extend(self.coming());
        }
        for game in open.iter().skip(1).take(self.height.saturating_sub(lines.len()) / 3) {
            lines.push(self.game(game, &game.moves()).brief(&game.key().to_string()));
        }
        if let Some(stage) = self.broadcast.ledger.stages.len().checked_sub(1) {
            lines.push(String::new());
            lines.extend(self.table(stage));
        }
        lines
    }

    /// The state of the event, in a line.
    pub(crate) fn headline(&self) -> String {
        let mut line = state_line(self.config, self.broadcast);
        let ledger = &self.broadcast.ledger;
        if let Some(stage) = ledger.stages.len().checked_sub(1) {
            let (played, planned) = progress(self.config, self.broadcast, stage);
            if planned > 0 {
                line += &format!(" {played} of {} played.", counted(planned, "game"));
            }
        }
        if let Some(words) = waiting(self.config, self.broadcast, self.runner) {
            line += &format!(" {words}");
        }
        line
    }

    /// The entries, and the games that come first, of an event without a game.
    fn coming(&self) -> Vec<String> {
        let slots = timetable(self.config, self.broadcast, 0, self.now);
        let stage = self.config.stage_name(0);
        let games = slots.iter().take(FIRST).map(|slot| {
            let [white, black] = [&slot.white, &slot.black].map(|name| word(name));
            format!("  {} {}  {white} – {black}", word(stage), slot.key.at)
        });
        let names: Vec<&str> = self.config.entries.iter().map(|entry| &*entry.name).collect();
        let mut lines = vec![String::new()];
        let entries = format!("{}: {}", counted(names.len(), "entry"), word(&names.join(", ")));
        lines.extend(wrap(&entries, self.width));
        if !slots.is_empty() {
            lines.extend([String::new(), "Games to come:".to_owned()]);
        }
        lines.extend(games);
        lines
    }

    fn game<'a>(&self, game: &'a BroadcastGame, moves: &'a [ShownMove<'a>]) -> GameOnScreen<'a> {
        let last = moves.last();
        let place = place(self.config, game);
        let control = word(&game.started.time_control);
        let opening = game.started.opening_names.as_ref().and_then(|names| names.opening.as_ref());
        let opening = opening.map(|name| format!(", {}", word(name))).unwrap_or_default();
        let seen = last.map_or(game.start(), |last| &last.fen).parse::<Fen>().ok();
        let own = |color: Color| PlayerOnScreen {
            name: color.fold_wb(&game.started.white, &game.started.black),
            left: Some(self.left(game, moves, color)),
            runs: self.runs(game, moves, color),
            search: search(moves, color).map(|(_, ply)| ply),
        };
        let listed = |one: &ShownMove<'_>| MoveOnScreen {
            number: one.number,
            side: one.side,
            san: one.san.clone(),
        };
        GameOnScreen {
            head: format!("{place}, {control}{opening}"),
            board: seen.map_or_else(Board::new, |fen| fen.into_setup().board),
            players: ByColor { white: own(Color::White), black: own(Color::Black) },
            moves: last_moves(&moves.iter().map(listed).collect::<Vec<_>>()),
            said: said(game, last),
        }
    }

    fn runs(&self, game: &BroadcastGame, moves: &[ShownMove<'_>], color: Color) -> bool {
        let turn = moves.last().map_or(game.turn_after(0), |last| !last.side);
        game.is_open() && turn == color && self.runner == Runner::AtWork
    }

    /// A clock, less what has gone since it began to run.
    fn left(&self, game: &BroadcastGame, moves: &[ShownMove<'_>], color: Color) -> Duration {
        let left = Duration::from_micros(game.clocks[color.fold_wb(0, 1)]);
        if !self.runs(game, moves, color) {
            return left;
        }
        let running = Running::find(self.running, &game.started.id, game.plies.len());
        let gone = running.and_then(|running| self.now.duration_since(running.since).ok());
        left.saturating_sub(gone.unwrap_or_default())
    }

    /// The standings of a stage; of a knockout the matches of the level that is played.
    fn table(&self, stage: usize) -> Vec<String> {
        let room = self.height.saturating_sub(ABOVE_TABLE).max(3);
        if let Some(bracket) = broadcast::bracket(self.config, self.broadcast, stage) {
            let is_open =
                |level: &&BracketLevel| level.matches.iter().any(|one| one.winner.is_none());
            let level = bracket.levels.iter().find(is_open).or(bracket.levels.last());
            return level.into_iter().flat_map(|level| &level.matches).map(encounter).collect();
        }
        let table = self.broadcast.table(self.config, stage);
        let Some(table) = table.filter(|table| !table.standings.rows.is_empty()) else {
            return Vec::new();
        };
        let rows = table.standings.rows.iter().take(room).map(|row| {
            let rank = super::standings::rank(row);
            let name = escape(row.engine.name.as_bytes(), NAME - 1);
            vec![rank, name, row.points.to_string(), row.games().to_string()]
        });
        let heads = ["#", "Engine", "Points", "Games"];
        let table = ColumnTable { heads: &heads, name: 1, counts: &[heads.len()] };
        table.lines(&rows.collect::<Vec<_>>(), self.width)
    }
}

/// The state of the event in a sentence.
pub(crate) fn state_line(config: &EventConfig, broadcast: &Broadcast) -> String {
    format!("{} – {}", word(&config.event), state(&broadcast.ledger))
}

/// The reason why no game is under way, where people wait for one: nobody plays the event, or its entries are judged
/// before the first game.
pub(crate) fn waiting(
    config: &EventConfig,
    broadcast: &Broadcast,
    runner: Runner,
) -> Option<String> {
    let ledger = &broadcast.ledger;
    let waits = !ledger.is_over() && ledger.paused.is_none();
    let has_begun = !ledger.stages.is_empty();
    match runner {
        Runner::Away if waits && !has_begun => Some(format!(
            "No runner is at work. `gate4k event run {}` begins the event.",
            shown(&config.path)
        )),
        Runner::Away if waits => Some("No runner is at work.".to_owned()),
        Runner::AtWork if !has_begun => {
            Some("The entries are being checked; then the first game begins.".to_owned())
        }
        Runner::AtWork | Runner::Away => None,
    }
}

/// A move as it is told where nothing is drawn: `1-2.1 A – B: 12. Nf3 +0.31 depth 12/20, 1.25 s, 0:58 0:59`.
pub(crate) fn move_line(game: &BroadcastGame, one: &ShownMove<'_>) -> String {
    let mut line = format!("{} {}: {}", game.key(), players(game), numbered(one));
    match one.ply {
        Some(ply) => {
            line += &ply.eval.map(|eval| format!(" {}", evaluation(eval))).unwrap_or_default();
            line += &depth(ply).map(|depth| format!(" depth {depth}")).unwrap_or_default();
            let clocks = ply.clocks.map(|left| clock(Duration::from_micros(left)));
            line += &format!(", {}, {} {}", super::figures::took(ply), clocks[0], clocks[1]);
        }
        None => line += ", book",
    }
    line
}

/// The beginning of a game as it is told where nothing is drawn.
pub(crate) fn begin_line(config: &EventConfig, game: &BroadcastGame) -> String {
    format!("{} {}: begins, {}", game.key(), players(game), place(config, game))
}

/// The end of a game as it is told where nothing is drawn; none while it is played.
pub(crate) fn end_line(game: &BroadcastGame) -> Option<String> {
    let how = match (&game.finished, &game.annulled) {
        (Some(finished), _) => told(&finished.ending()),
        (None, Some(annulled)) => word(&annulled.in_words()),
        (None, None) => return None,
    };
    Some(format!("{} {}: {how}", game.key(), players(game)))
}

fn players(game: &BroadcastGame) -> String {
    format!("{} – {}", word(&game.started.white), word(&game.started.black))
}

fn place(config: &EventConfig, game: &BroadcastGame) -> String {
    let GameKey { stage, at } = game.key();
    format!("{} {at}", word(config.stage_name(stage)))
}

/// `Semifinal 1: A 2.5 – 1.5 B, A goes on`.
fn encounter(one: &BracketMatch) -> String {
    let [upper, lower] = one.sides.each_ref().map(|side| match side {
        Side::Engine(name) => escape(name.as_bytes(), NAME),
        Side::Winner(number) => format!("winner of match {number}"),
        Side::Loser(number) => format!("loser of match {number}"),
    });
    let is_known = one.sides.iter().all(|side| matches!(side, Side::Engine(_)));
    let [first, second] = one.points.map(|points| match is_known {
        true => format!(" {points} "),
        false => " ".to_owned(),
    });
    let won = one.winner().map(|name| format!(": {}", escape(name.as_bytes(), NAME)));
    format!("{}: {upper}{first}–{second}{lower}{}", one.title, won.unwrap_or_default())
}
