//! The games under way of a match on a terminal: the board, clocks as they run, evaluations and the last moves.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use shakmaty::{ByColor, Chess, Color, Position};

use crate::event::journal::record::JournalPly;
use crate::event::recorder;
use crate::game::clock::TimeControl;
use crate::game::notation;
use crate::runner::Match;
use crate::runner::events::{Event, MovePlayed};
use crate::view::screen::{
    GameOnScreen, MoveOnScreen, PlayerOnScreen, last_moves, told, under_way,
};

/// Of more games at a time none is shown: nobody could follow them, and each move that is told costs its game a little.
pub(super) const FEW: usize = 2;
/// Moves are drawn this often at most.
pub(super) const PERIOD: Duration = Duration::from_millis(100);
/// Clocks are drawn this often.
const TICK: Duration = Duration::from_millis(500);

/// The games under way, and those that ended since the last one began.
#[derive(Default)]
pub(super) struct MatchBoard {
    games: BTreeMap<usize, BoardGame>,
    drawn: Option<Instant>,
    has_changed: bool,
}

struct BoardGame {
    head: String,
    names: ByColor<String>,
    position: Chess,
    /// The clocks; none where there is no clock.
    clocks: ByColor<Option<Duration>>,
    /// The moment at which the clock of the side to move began to run.
    since: Instant,
    moves: Vec<MoveOnScreen>,
    searches: ByColor<Option<JournalPly>>,
    /// Its result with the reason.
    ended: Option<String>,
}

impl MatchBoard {
    /// Takes what has happened.
    pub(super) fn hear(&mut self, event: &Event, of: &Match) {
        match event {
            Event::GameStarted { pairing, board: Some(board) } => {
                let both = ByColor { white: pairing.white, black: pairing.black };
                let both = both.map(|engine| &of.engines[engine]);
                let controls = both.map(|engine| engine.control);
                self.games.retain(|_, game| game.ended.is_none());
                let game = BoardGame {
                    head: format!("Game {}, {}", pairing.game + 1, terms(controls)),
                    names: both.map(|engine| engine.name.clone()),
                    position: board.position.clone(),
                    clocks: board.clocks,
                    since: Instant::now(),
                    moves: Vec::new(),
                    searches: ByColor { white: None, black: None },
                    ended: None,
                };
                self.games.insert(pairing.game, game);
            }
            Event::MovePlayed(played) => {
                if let Some(game) = self.games.get_mut(&played.pairing.game) {
                    game.moved(played);
                }
            }
            Event::GameFinished(finished) => {
                let (number, ending) = (finished.pairing.game, &finished.record.ending);
                if let Some(game) = self.games.get_mut(&number) {
                    game.ended = Some(told(ending));
                }
            }
            _ => return,
        }
        self.has_changed = true;
    }

    /// True if it is worth while to draw it again.
    pub(super) fn is_due(&self) -> bool {
        let wait = if self.has_changed { PERIOD } else { TICK };
        self.drawn.is_none_or(|drawn| drawn.elapsed() >= wait)
    }

    /// The board of the first game, the others in a line each, and a blank line: none where there is no room for the board.
    pub(super) fn lines(&mut self, width: usize, room: usize) -> Vec<String> {
        (self.drawn, self.has_changed) = (Some(Instant::now()), false);
        let is_open = |game: &&BoardGame| game.ended.is_none();
        let open = self.games.iter().filter(|(_, game)| is_open(game));
        let mut shown = open.chain(self.games.iter().filter(|(_, game)| !is_open(game)));
        let Some((_, first)) = shown.next().filter(|_| room > GameOnScreen::HEIGHT) else {
            return Vec::new();
        };
        let mut lines = first.on_screen().lines(width);
        let rest = room - lines.len() - 1;
        lines.extend(
            shown
                .take(rest)
                .map(|(number, game)| game.on_screen().brief(&format!("Game {}:", number + 1))),
        );
        lines.push(String::new());
        lines
    }
}

impl BoardGame {
    fn moved(&mut self, played: &MovePlayed) {
        let (san, after) = notation::played(&played.before, played.ply.played);
        let number = played.before.fullmoves().get();
        self.moves.push(MoveOnScreen { number, side: played.mover, san });
        let clocks = played.clocks;
        for side in Color::ALL {
            *self.clocks.get_mut(side) = self.clocks.get(side).map(|_| *clocks.get(side));
        }
        *self.searches.get_mut(played.mover) = Some(recorder::ply("", played));
        (self.position, self.since) = (after, Instant::now());
    }

    fn on_screen(&self) -> GameOnScreen<'_> {
        let turn = self.position.turn();
        let player = |side: Color| {
            let runs = self.ended.is_none() && side == turn;
            let gone = if runs { self.since.elapsed() } else { Duration::ZERO };
            PlayerOnScreen {
                name: self.names.get(side),
                left: self.clocks.get(side).map(|left| left.saturating_sub(gone)),
                runs,
                search: self.searches.get(side).as_ref(),
            }
        };
        let last = self.moves.last().map(MoveOnScreen::numbered);
        GameOnScreen {
            head: self.head.clone(),
            board: self.position.board().clone(),
            players: ByColor { white: player(Color::White), black: player(Color::Black) },
            moves: last_moves(&self.moves),
            said: self.ended.clone().unwrap_or_else(|| under_way(last.as_deref(), turn)),
        }
    }
}

/// `10+0.1`, or of both sides where they differ.
fn terms(controls: ByColor<TimeControl>) -> String {
    let ByColor { white, black } = controls;
    if white == black { white.to_string() } else { format!("{white} against {black}") }
}
