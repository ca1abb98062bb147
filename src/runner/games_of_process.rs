//! The games that one process of an engine played, by the time at which each began.

use std::time::Instant;

/// The games of a process, in order.
#[derive(Debug, Default)]
pub(super) struct GamesOfProcess(Vec<(Instant, usize)>);

impl GamesOfProcess {
    /// A game begins; for a process that is there already, it is one more.
    pub(super) fn sit(&mut self, game: usize, is_running: bool) {
        self.begin(Instant::now(), game, is_running);
    }

    fn begin(&mut self, now: Instant, game: usize, is_running: bool) {
        if !is_running {
            self.0.clear();
        }
        self.0.push((now, game));
    }

    /// The game of a moment; without a moment, the only one.
    pub(super) fn at(&self, moment: Option<Instant>) -> Option<usize> {
        let (_, first) = self.0.first()?;
        match moment {
            Some(moment) => {
                let last = self.0.iter().rfind(|(began, _)| *began <= moment);
                Some(last.map_or(*first, |(_, game)| *game))
            }
            None => (self.0.len() == 1).then_some(*first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_deed_belongs_to_the_game_that_was_played_then() {
        let start = Instant::now();
        let after = |secs| start + Duration::from_secs(secs);
        let mut games = GamesOfProcess::default();
        assert_eq!(games.at(None), None);
        games.begin(after(0), 2, false);
        games.begin(after(1), 4, false);
        assert_eq!(games.at(None), Some(4));
        games.begin(after(60), 9, true);
        assert_eq!(games.at(Some(after(59))), Some(4));
        assert_eq!(games.at(Some(after(61))), Some(9));
        assert_eq!(games.at(Some(start)), Some(4));
        assert_eq!(games.at(None), None);
    }
}
