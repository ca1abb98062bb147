//! `gate4k event watch`: follows an event's journal and shows it on a terminal, or in plain lines.

use std::collections::BTreeMap;
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::following::Following;
use crate::cmd::live::Live;
use crate::event::broadcast::{BroadcastGame, GameKey};
use crate::event::config::EventConfig;
use crate::model::exit::Exit;
use crate::model::text::escape;
use crate::view::screen::{Screen, begin_line, end_line, move_line, state_line, waiting};
use crate::view::{standings, text};

/// The interval between two looks for changes.
const LOOK: Duration = Duration::from_millis(50);
/// The interval at which the clocks are drawn anew.
const TICK: Duration = Duration::from_millis(500);

/// Watches until the event is over.
pub(super) fn run(config: &EventConfig, out: &mut impl Write) -> anyhow::Result<Exit> {
    // The games of this host come first.
    let _ = rustix::process::nice(10);
    let mut watch = Watch(Following::new(config));
    let mut live = Live::on_output();
    if live.is_shown() {
        watch.draw(&mut live);
    } else {
        watch.tell(out)?;
    }
    writeln!(out, "{}", watch.screen(text::width(), 1).headline())?;
    let broadcast = watch.0.broadcast();
    let stages = 0..broadcast.ledger.stages.len();
    let table = stages.filter_map(|stage| broadcast.table(config, stage)).next_back();
    if let Some(table) = table.filter(|table| !table.standings.rows.is_empty()) {
        write!(out, "\n{}", standings::text(&table.standings, text::width()))?;
    }
    Ok(Exit::Success)
}

struct Watch(Following);

impl Watch {
    /// Draws it anew until it is over.
    fn draw(&mut self, live: &mut Live) {
        let mut drawn: Option<Instant> = None;
        loop {
            self.0.look_for_runner();
            let Some(changes) = self.0.look(|| live.clear()) else { continue };
            if self.0.is_over() {
                return live.clear();
            }
            if !changes.is_none() || drawn.is_none_or(|drawn| drawn.elapsed() >= TICK) {
                let Following { config, follower, .. } = &mut self.0;
                follower.find_running(config);
                live.draw(&self.screen(live.width(), live.height()).lines());
                drawn = Some(Instant::now());
            }
            thread::sleep(LOOK);
        }
    }

    /// Tells it in lines until it is over: each move once, of an event that is met half-way from now on.
    fn tell(&mut self, out: &mut impl Write) -> anyhow::Result<()> {
        let mut told = ShownMoves::default();
        let mut head = String::new();
        let mut waits = None;
        let mut is_early = !self.0.config.journal.exists();
        loop {
            self.0.look_for_runner();
            let Some(changes) = self.0.look(|| ()) else { continue };
            if changes.is_anew {
                told = ShownMoves::default();
            }
            let is_met = changes.is_anew && !std::mem::take(&mut is_early);
            let (config, broadcast) = (&self.0.config, self.0.broadcast());
            let state = state_line(config, broadcast);
            if state != head && !self.0.is_over() {
                writeln!(out, "{state}")?;
                head = state;
            }
            let games = changes.games.iter().filter_map(|key| broadcast.games.get(key));
            for line in games.flat_map(|game| told.news(config, game, is_met)) {
                writeln!(out, "{line}")?;
            }
            let now = waiting(config, broadcast, self.0.runner).filter(|_| !self.0.is_over());
            if let Some(words) = now.as_ref().filter(|words| waits.as_ref() != Some(*words)) {
                writeln!(out, "{words}")?;
            }
            waits = now;
            out.flush()?;
            if self.0.is_over() {
                return Ok(());
            }
            thread::sleep(LOOK);
        }
    }

    fn screen(&self, width: usize, height: usize) -> Screen<'_> {
        Screen {
            config: &self.0.config,
            broadcast: self.0.broadcast(),
            running: &self.0.follower.running,
            now: SystemTime::now(),
            runner: self.0.runner,
            width,
            height,
        }
    }
}

/// The moves and ends that were told.
#[derive(Default)]
struct ShownMoves(BTreeMap<GameKey, OfGame>);

#[derive(Clone, Copy, Default)]
struct OfGame {
    moves: usize,
    has_ended: bool,
}

impl ShownMoves {
    /// The lines that a game is due; of one that is met half-way only its last move.
    fn news(&mut self, config: &EventConfig, game: &BroadcastGame, is_met: bool) -> Vec<String> {
        let moves = game.moves();
        let before = self.0.get(&game.key()).copied();
        let now = OfGame { moves: moves.len(), has_ended: !game.is_open() };
        self.0.insert(game.key(), now);
        if is_met && now.has_ended {
            return Vec::new();
        }
        // Fewer moves than before: it is played again.
        let before = before.filter(|before| before.moves <= now.moves);
        let mut lines = Vec::new();
        if before.is_none() {
            lines.push(begin_line(config, game));
        }
        let first = before.map_or(0, |before| before.moves);
        let first = if is_met { moves.len().saturating_sub(1) } else { first };
        let own = moves.iter().skip(first).filter(|one| one.ply.is_some());
        lines.extend(own.map(|one| move_line(game, one)));
        if now.has_ended && !before.is_some_and(|before| before.has_ended) {
            lines.extend(end_line(game));
        }
        let lines = lines.into_iter().map(|line| escape(line.as_bytes(), usize::MAX));
        lines.collect()
    }
}
