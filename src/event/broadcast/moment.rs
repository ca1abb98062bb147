//! The moment at which a game stands, as lines that bring an engine there.

use std::time::Duration;

use shakmaty::{ByColor, Color};

use super::BroadcastGame;
use crate::event::config::EventConfig;
use crate::event::journal_games;
use crate::game::clock::{GameClock, Patience};
use crate::game::go::Go;
use crate::game::moment;

impl BroadcastGame {
    /// The side to move after its last move.
    #[must_use]
    pub(crate) fn turn(&self) -> Color {
        self.turn_after(self.length())
    }

    /// The lines that an engine of a side is told from its start on until it has to move where the game stands.
    #[must_use]
    pub(crate) fn moment(&self, config: &EventConfig, side: Color) -> Vec<String> {
        let opening = self.started.opening.split_ascii_whitespace();
        let moves: Vec<&str> = opening.chain(self.plies.iter().map(|ply| &*ply.uci)).collect();
        let stage = config.stages.get(self.started.stage);
        let control =
            stage.map_or(config.terms.control, |stage| stage.control(self.started.place()));
        let both = ByColor { white: control, black: control };
        let left = self.clocks.map(Duration::from_micros);
        let left = ByColor { white: left[0], black: left[1] };
        let book = self.length() - self.plies.len();
        let count = |color: Color| {
            let own = |at: &usize| self.turn_after(book + at) == color;
            u32::try_from((0..self.plies.len()).filter(own).count()).unwrap_or(u32::MAX)
        };
        let made = ByColor { white: count(Color::White), black: count(Color::Black) };
        let clock = GameClock::resumed(both, Patience::default(), left, made);
        let options = self.started.options[side.fold_wb(0, 1)].split(';');
        let options = options.filter_map(|option| option.trim().split_once('='));
        let start = journal_games::opening(self.started.start.as_deref(), "")
            .and_then(|opening| opening.uci_fen());
        let options = options
            .filter(|(name, _)| *name != "Protocol")
            .chain(start.is_some().then_some(("UCI_Chess960", "true")));
        moment::lines(options, start.as_deref(), &moves, Go::of(&clock, self.turn()))
    }
}
