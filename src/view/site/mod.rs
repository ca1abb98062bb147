//! An event as a site: plain files that any host can serve. The same files are written by `gate4k event export site`
//! and served by `gate4k event serve`; the words of every page are in its HTML, and the script adds what moves.

mod bracket;
mod crash;
mod data;
mod front;
mod game;
mod pairings;
mod result_link;
mod shell;
mod stage;
mod terms;
#[cfg(test)]
mod tests;

use std::time::{Duration, SystemTime};

use crate::event::broadcast::{Broadcast, BroadcastGame, GameKey, Running, Slot};
use crate::event::config::EventConfig;
use crate::view::figures::word;
use crate::view::screen::Runner;
pub(crate) use crash::SiteCrash;

/// The time, beyond what the clocks have, in which engines start and games end.
const RESPITE: Duration = Duration::from_mins(1);

/// The words where the runner has gone in the midst of an event.
const LEFT: &str = "No runner is at work.";

/// A file: its name below the site's root, and its text.
pub(crate) type File = (String, String);

/// The way in which the pages are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SiteKind {
    /// From `gate4k event serve`, which tells when something has changed.
    Served,
    /// From files that are replaced as the event goes on, on a host that tells nothing of it.
    Mirrored,
    /// From files that do not change.
    Exported,
    /// From one file that stands alone: without a script, and without the games.
    Alone,
}

/// An event at a moment.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) config: &'a EventConfig,
    /// Its games and its state.
    pub(crate) broadcast: &'a Broadcast,
    /// The clocks that run, where a live file tells them.
    pub(crate) running: &'a [Running],
    /// The program that plays it.
    pub(crate) runner: Runner,
    pub(crate) now: SystemTime,
    /// The way in which it is read.
    pub(crate) kind: SiteKind,
}

impl Site<'_> {
    /// An event as it lies on the disk, for files.
    pub(crate) fn exported<'a>(config: &'a EventConfig, broadcast: &'a Broadcast) -> Site<'a> {
        Site {
            config,
            broadcast,
            running: &[],
            runner: Runner::AtWork,
            now: SystemTime::now(),
            kind: SiteKind::Exported,
        }
    }

    /// True if the event has begun and goes on, and nobody plays it.
    fn is_left(&self) -> bool {
        let ledger = &self.broadcast.ledger;
        let goes_on = !ledger.is_over() && ledger.paused.is_none() && !ledger.stages.is_empty();
        goes_on && self.runner == Runner::Away
    }

    /// The moment by which files that are replaced have changed again, if a runner is at work: a move of some game under way is due
    /// before it. None where no game is under way, and of other pages, which say who plays.
    fn due_by(&self) -> Option<SystemTime> {
        let open = self.broadcast.under_way().filter(|_| self.kind == SiteKind::Mirrored);
        let left = open.map(|game| {
            let mover = game.turn_after(game.length()).fold_wb(0, 1);
            Duration::from_micros(game.clocks[mover])
        });
        self.now.checked_add(left.min()? + self.config.margin + RESPITE)
    }

    /// True if a game is under way.
    fn is_open(&self, slot: &Slot) -> bool {
        slot.game(self.broadcast).is_some_and(BroadcastGame::is_open)
    }

    /// The file that changes with nothing.
    pub(crate) fn script() -> File {
        ("page.js".into(), include_str!("page.js").into())
    }

    /// The files that change when a game begins or ends.
    pub(crate) fn event_files(&self) -> Vec<File> {
        let settings = self.broadcast.ledger.header.as_ref().map(|header| header.settings.clone());
        vec![
            ("index.html".into(), self.front()),
            ("event.json".into(), data::event(self)),
            ("settings.toml".into(), settings.unwrap_or_default()),
        ]
    }

    pub(crate) fn game_files(&self, game: &BroadcastGame) -> Vec<File> {
        let path = path(game.key());
        let mut files = vec![
            (format!("{path}.html"), game::page(self, game)),
            (format!("{path}.json"), data::game(self, game)),
        ];
        files.extend(crash::files(self, game));
        let pgn = game.pgn(self.config, &self.broadcast.ledger);
        files.extend(pgn.map(|pgn| (Site::pgn_file(game), pgn)));
        files
    }

    /// The name of a game's file that changes with each move.
    pub(crate) fn live_file(game: &BroadcastGame) -> String {
        format!("{}.live.html", path(game.key()))
    }

    /// True for the name of a file that changes with each move of a game.
    pub(crate) fn is_live_file(name: &str) -> bool {
        name == "live.json" || name.ends_with(".live.html")
    }

    /// The name of a finished game's PGN.
    pub(crate) fn pgn_file(game: &BroadcastGame) -> String {
        format!("{}.pgn", path(game.key()))
    }

    /// The files that change with every move of a game under way, and once more with its end.
    pub(crate) fn live_files(&self, games: &[&BroadcastGame]) -> Vec<File> {
        let of_game = |game: &&BroadcastGame| {
            (Site::live_file(game), game::fragment(self, game).into_string())
        };
        let mut files: Vec<File> = games.iter().map(of_game).collect();
        files.push(("live.json".into(), data::live(self)));
        files
    }

    /// Every file of a site that does not change any more.
    pub(crate) fn all_files(&self) -> Vec<File> {
        let mut files = vec![Site::script()];
        files.extend(self.event_files());
        files.push(("games.pgn".into(), self.all_games()));
        files.extend(self.broadcast.games.values().flat_map(|game| self.game_files(game)));
        files
    }

    /// Every game that has ended as PGN, in the order of the schedule.
    pub(crate) fn all_games(&self) -> String {
        let games = self.broadcast.games.values();
        games.filter_map(|game| game.pgn(self.config, &self.broadcast.ledger)).collect()
    }

    /// The games under way as PGN, for relays that ask for it again and again.
    pub(crate) fn live_pgn(&self) -> String {
        self.broadcast.live_pgn(self.config)
    }

    /// The crashes, each with the files of its folder.
    pub(crate) fn crashes(&self) -> Vec<SiteCrash> {
        self.broadcast.games.values().flat_map(|game| crash::of_game(self, game)).collect()
    }

    /// The page of the event.
    pub(crate) fn front(&self) -> String {
        front::page(self)
    }
}

/// The path of a game's files, without their endings.
fn path(key: GameKey) -> String {
    format!("games/{key}")
}
