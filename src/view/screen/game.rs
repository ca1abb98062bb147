//! A game as lines for a terminal: the board, and beside it the players and the last moves.

use std::time::Duration;

use shakmaty::{Board, ByColor, Color, File, Piece, Rank, Role, Square};

use super::NAME;
use crate::event::journal::record::JournalPly;
use crate::model::text::escape;
use crate::view::figures::{clock, depth, evaluation, large, nodes, numbered_move};
use crate::view::text::columns;

/// A game at a moment.
pub(crate) struct GameOnScreen<'a> {
    /// Its place and its terms.
    pub(crate) head: String,
    pub(crate) board: Board,
    pub(crate) players: ByColor<PlayerOnScreen<'a>>,
    /// Its last moves, a line for those of both sides; see [`last_moves`].
    pub(crate) moves: Vec<String>,
    /// Its state, in a sentence.
    pub(crate) said: String,
}

/// A player at a moment.
pub(crate) struct PlayerOnScreen<'a> {
    pub(crate) name: &'a str,
    /// Its time; none where it plays without a clock.
    pub(crate) left: Option<Duration>,
    /// True if its time runs.
    pub(crate) runs: bool,
    /// Its last search.
    pub(crate) search: Option<&'a JournalPly>,
}

impl GameOnScreen<'_> {
    /// With fewer columns a clock stands below its name, and the sentence above the board.
    const WIDE: usize = 70;
    /// The columns of the board with what is around it.
    const BOARD: usize = 20;
    /// The lines of each game.
    pub(crate) const HEIGHT: usize = 11;

    /// The lines of the whole game, on so many columns.
    pub(crate) fn lines(&self, width: usize) -> Vec<String> {
        let is_wide = width >= Self::WIDE;
        let [mut beside, white] = [Color::Black, Color::White].map(|color| {
            let player = self.players.get(color);
            if is_wide {
                player.lines(color)
            } else {
                player.narrow(color, width.saturating_sub(Self::BOARD))
            }
        });
        beside.push(String::new());
        beside.extend(self.moves.iter().map(|line| format!("  {line}")));
        beside.resize(6, String::new());
        beside.extend(white);
        let [above, below] = if is_wide { ["", &self.said] } else { [&*self.said, ""] };
        let mut lines = vec![self.head.clone(), above.to_owned()];
        for (rank, beside) in Rank::ALL.into_iter().rev().zip(&beside) {
            lines.push(format!("{}   {beside}", row(&self.board, rank)));
        }
        lines.push(format!("  a b c d e f g h    {below}").trim_end().to_owned());
        lines
    }

    /// The game in a line, where it has no room: `1-2.1 A – B: 12. Nf3, Black to move, 0:58 0:59`.
    pub(crate) fn brief(&self, place: &str) -> String {
        let [white, black] = [&self.players.white, &self.players.black];
        let name = |player: &PlayerOnScreen<'_>| escape(player.name.as_bytes(), NAME);
        let clocks: Vec<String> =
            [white, black].into_iter().filter_map(|player| player.left).map(clock).collect();
        let clocks =
            if clocks.is_empty() { String::new() } else { format!(", {}", clocks.join(" ")) };
        format!("{place} {} – {}: {}{clocks}", name(white), name(black), self.said)
    }
}

impl PlayerOnScreen<'_> {
    /// Name and clock, and what the last search told.
    fn lines(&self, color: Color) -> Vec<String> {
        let mark = mark(color);
        let name = escape(self.name.as_bytes(), NAME - 1);
        let (time, runs) = self.clock();
        vec![
            format!("{mark} {name:<NAME$} {time:>8}{runs}"),
            format!("  {}", self.figures().join("  ")),
        ]
    }

    /// The player on few columns: the clock and as many figures as there is room for stand below the name.
    fn narrow(&self, color: Color, width: usize) -> Vec<String> {
        let name = escape(self.name.as_bytes(), width.saturating_sub(3));
        let (time, runs) = self.clock();
        let mut below = format!("  {time}{runs}");
        for figure in self.figures() {
            if columns(&below) + 2 + columns(&figure) > width {
                break;
            }
            below += &format!("  {figure}");
        }
        vec![format!("{} {name}", mark(color)), below]
    }

    /// Its time, and a mark if that runs.
    fn clock(&self) -> (String, &'static str) {
        (self.left.map(clock).unwrap_or_default(), if self.runs { " ◂" } else { "" })
    }

    /// The figures of the last search.
    fn figures(&self) -> Vec<String> {
        let mut figures = Vec::new();
        if let Some(ply) = self.search {
            figures.extend(ply.eval.map(evaluation));
            figures.extend(depth(ply).map(|depth| format!("depth {depth}")));
            figures.extend(ply.nodes.map(nodes));
            figures.extend(ply.speed.map(|speed| format!("{}/s", large(speed))));
        }
        figures
    }
}

fn mark(color: Color) -> char {
    color.fold_wb('○', '●')
}

/// A move as it is listed.
pub(crate) struct MoveOnScreen {
    /// Its number, as people count.
    pub(crate) number: u32,
    pub(crate) side: Color,
    /// As people write it.
    pub(crate) san: String,
}

impl MoveOnScreen {
    /// `12. Nf3`, `12… Nf6`.
    pub(crate) fn numbered(&self) -> String {
        numbered_move(self.number, self.side, &self.san)
    }
}

/// The last moves, three of both sides at most, a line each: `12. Nf3 Nc6`.
pub(crate) fn last_moves(moves: &[MoveOnScreen]) -> Vec<String> {
    const MOST: usize = 3;
    let pairs = moves.chunk_by(|a, b| a.number == b.number).rev().take(MOST);
    let lines = pairs.map(|pair| match pair {
        [first, second, ..] => format!("{} {}", first.numbered(), second.san),
        [one] => one.numbered(),
        [] => String::new(),
    });
    let mut lines: Vec<String> = lines.collect();
    lines.reverse();
    lines
}

/// A row of the board: `8 ♜ · ♝ …`.
fn row(board: &Board, rank: Rank) -> String {
    let mut line = rank.char().to_string();
    for file in File::ALL {
        let piece = board.piece_at(Square::from_coords(file, rank));
        line.push(' ');
        line.push(piece.map_or('·', symbol));
    }
    line
}

fn symbol(piece: Piece) -> char {
    let [white, black] = match piece.role {
        Role::King => ['♔', '♚'],
        Role::Queen => ['♕', '♛'],
        Role::Rook => ['♖', '♜'],
        Role::Bishop => ['♗', '♝'],
        Role::Knight => ['♘', '♞'],
        Role::Pawn => ['♙', '♟'],
    };
    piece.color.fold_wb(white, black)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_is_a_board_with_its_players_and_its_last_moves() {
        let moves = ["e4", "e5", "Nf3", "Nc6", "Bc4", "Bc5", "c3"];
        let moves = moves.into_iter().enumerate().map(|(at, san)| MoveOnScreen {
            number: u32::try_from(at / 2).unwrap() + 1,
            side: Color::from_white(at % 2 == 0),
            san: san.to_owned(),
        });
        let moves: Vec<MoveOnScreen> = moves.collect();
        let player = |name, left, runs| PlayerOnScreen { name, left, runs, search: None };
        let game = GameOnScreen {
            head: "game 1".into(),
            board: Board::default(),
            players: ByColor {
                white: player("A\u{1b}[2J", Some(Duration::from_secs(125)), true),
                black: player("B", None, false),
            },
            moves: last_moves(&moves),
            said: "4. c3, Black to move".into(),
        };
        let lines = game.lines(100);
        assert_eq!(lines.len(), GameOnScreen::HEIGHT);
        assert_eq!(lines[2], format!("8 ♜ ♞ ♝ ♛ ♚ ♝ ♞ ♜   ● {:<37}", "B"));
        let beside: Vec<&str> = lines[5..8].iter().map(|line| line[27..].trim()).collect();
        assert_eq!(beside.len(), 3);
        for (line, part) in lines[5..8].iter().zip(["2. Nf3 Nc6", "3. Bc4 Bc5", "4. c3"]) {
            assert!(line.ends_with(part), "{line}");
        }
        assert!(lines[8].contains("○ A\\u{1b}[2J") && lines[8].ends_with("2:05 ◂"), "{}", lines[8]);
        // Where there is no room beside the board, what counts is still there whole.
        assert_eq!(game.lines(1).len(), GameOnScreen::HEIGHT);
        let narrow = game.lines(38);
        assert_eq!(narrow.len(), GameOnScreen::HEIGHT);
        assert_eq!(narrow[1], "4. c3, Black to move");
        assert!(
            narrow[8].ends_with("○ A\\u{1b}[2J") && narrow[9].ends_with("   2:05 ◂"),
            "{narrow:#?}"
        );
        assert!(narrow.iter().all(|line| columns(line) <= 38), "{narrow:#?}");
        assert_eq!(game.brief("1-2.1"), "1-2.1 A\\u{1b}[2J – B: 4. c3, Black to move, 2:05");
        // From a position in which Black is to move.
        let black = MoveOnScreen { number: 7, side: Color::Black, san: "Kd7".into() };
        assert_eq!(last_moves(&[black]), ["7… Kd7"]);
    }
}
