//! A position as a picture: squares, the last move, and pieces of our own drawing.

use std::fmt::Write;

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Color, File, Position, Rank, Square};

use crate::view::markup::html;

/// The pieces as symbols that every board of the page uses.
pub(in crate::view) const PIECES: &str = include_str!("pieces.svg");

/// The side of a square.
const SQUARE: usize = 40;

/// The board of a position, White below; nothing where it is none. `last` is the move that led to it, in
/// UCI's words, and `label` what the picture is to those who do not see it.
pub(in crate::view) fn board(fen: &str, last: Option<&str>, label: &str) -> String {
    let position =
        fen.parse().ok().and_then(|fen: Fen| fen.into_position(CastlingMode::Standard).ok());
    let Some(position): Option<Chess> = position else { return String::new() };
    let dark = Square::ALL.into_iter().filter(|square| !square.is_light());
    let mut out = format!(
        "<svg class=\"board\" viewBox=\"0 0 320 320\" role=\"img\" aria-label=\"{}\">\n\
         <path class=\"light\" d=\"M0 0h320v320h-320z\"/>\n<path class=\"dark\" d=\"{}\"/>\n",
        html(label),
        path(dark)
    );
    let squares = last.into_iter().flat_map(|word| [word.get(..2), word.get(2..4)]);
    let played = squares.flatten().filter_map(|name| name.parse().ok());
    layer(&mut out, "last", played);
    let in_check =
        (!position.checkers().is_empty()).then(|| position.board().king_of(position.turn()));
    layer(&mut out, "check", in_check.flatten());
    for (square, piece) in position.board() {
        let (x, y) = corner(square);
        let side = if piece.color == Color::White { "white" } else { "black" };
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            out,
            "<use href=\"#piece-{}\" class=\"{side}\" x=\"{x}\" y=\"{y}\" width=\"{SQUARE}\" height=\"{SQUARE}\"/>",
            piece.role.char()
        );
    }
    for file in File::ALL {
        let (x, _) = corner(Square::from_coords(file, Rank::First));
        let _ = write!(out, "<text x=\"{}\" y=\"317\">{}</text>", x + 33, file.char());
    }
    for rank in Rank::ALL {
        let (_, y) = corner(Square::from_coords(File::A, rank));
        let _ = write!(out, "<text x=\"2\" y=\"{}\">{}</text>", y + 10, rank.char());
    }
    out.push_str("\n</svg>\n");
    out
}

fn layer(out: &mut String, class: &str, squares: impl IntoIterator<Item = Square>) {
    let path = path(squares);
    if !path.is_empty() {
        let _ = writeln!(out, "<path class=\"{class}\" d=\"{path}\"/>");
    }
}

fn path(squares: impl IntoIterator<Item = Square>) -> String {
    squares.into_iter().map(corner).map(|(x, y)| format!("M{x} {y}h40v40h-40z")).collect()
}

/// The upper left corner of a square.
fn corner(square: Square) -> (usize, usize) {
    (square.file().to_usize() * SQUARE, (7 - square.rank().to_usize()) * SQUARE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Role;

    #[test]
    fn every_piece_stands_on_its_square_with_its_symbol() {
        let fen = "r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4";
        let svg = board(fen, Some("h5f7"), "");
        assert_eq!(svg.matches("<use ").count(), 31);
        assert!(svg.contains("#piece-q\" class=\"white\" x=\"200\" y=\"40\""), "{svg}");
        assert!(
            svg.contains("class=\"last\" d=\"M280 120h40v40h-40zM200 40h40v40h-40z\""),
            "{svg}"
        );
        assert!(svg.contains("class=\"check\" d=\"M160 0h"), "{svg}");
        assert_eq!(svg.matches("zM").count(), 31 + 1);
        for role in Role::ALL {
            assert!(PIECES.contains(&format!("id=\"piece-{}\"", role.char())));
        }
    }

    #[test]
    fn what_is_no_position_is_no_board() {
        assert_eq!(board("8/8/8 w", None, ""), "");
        assert_eq!(board("<script>", Some("é"), ""), "");
        assert!(board("4k3/8/8/8/8/8/8/4K3 w - - 0 1", Some("é9x"), "").contains("<use "));
    }
}
