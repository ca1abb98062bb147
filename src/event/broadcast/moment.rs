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
    /// The lines that an engine of a side is told from its start on until it has to move where the game stands.
    pub(crate) fn moment(&self, config: &EventConfig, side: Color) -> Vec<String> {
        self.moment_after(self.plies.len(), self.clocks, config, side)
    }

    /// The position and the question to which the move of that number, from 0, is the answer.
    pub(crate) fn question(&self, number: usize, config: &EventConfig, side: Color) -> Vec<String> {
        let before = number.checked_sub(1).and_then(|before| self.plies.get(before));
        let clocks = before.map_or(self.started.clocks, |before| before.clocks);
        let mut lines = self.moment_after(number, clocks, config, side);
        lines.split_off(lines.len().saturating_sub(2))
    }

    fn moment_after(
        &self,
        plies: usize,
        clocks: [u64; 2],
        config: &EventConfig,
        side: Color,
    ) -> Vec<String> {
        let opening: Vec<&str> = self.started.opening.split_ascii_whitespace().collect();
        let book = opening.len();
        let own = self.plies.iter().take(plies).map(|ply| &*ply.uci);
        let moves: Vec<&str> = opening.into_iter().chain(own).collect();
        let control = config.control(self.started.stage, self.started.place());
        let both = ByColor { white: control, black: control };
        let left = clocks.map(Duration::from_micros);
        let left = ByColor { white: left[0], black: left[1] };
        let count = |color: Color| {
            let own = |at: &usize| self.turn_after(book + at) == color;
            u32::try_from((0..plies).filter(own).count()).unwrap_or(u32::MAX)
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
        let turn = self.turn_after(moves.len());
        moment::lines(options, start.as_deref(), &moves, Go::of(&clock, turn))
    }
}
