//! A position as a picture: squares, the last move, and pieces of our own drawing.

use maud::{Markup, html};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, File, Position, Rank, Square};

use crate::view::text::clean;

/// The pieces as symbols that every board of the page uses.
pub(in crate::view) const PIECES: &str = include_str!("pieces.svg");

/// The side of a square.
const SQUARE: usize = 40;

/// The board of a position, White below; nothing where it is none. `last` is the move that led to it, in
/// UCI's words, and `label` what the picture is to those who do not see it.
pub(in crate::view) fn board(fen: &str, last: Option<&str>, label: &str) -> Markup {
    let position = fen.parse().ok().and_then(|fen: Fen| {
        let mode = CastlingMode::detect(fen.as_setup());
        fen.into_position(mode).ok()
    });
    let Some(position): Option<Chess> = position else { return html! {} };
    let dark = Square::ALL.into_iter().filter(|square| !square.is_light());
    let squares = last.into_iter().flat_map(|word| [word.get(..2), word.get(2..4)]);
    let played = squares.flatten().filter_map(|name| name.parse().ok());
    let in_check =
        (!position.checkers().is_empty()).then(|| position.board().king_of(position.turn()));
    html! {
        svg.board viewBox="0 0 320 320" role="img" aria-label=(clean(label)) {
            path.light d="M0 0h320v320h-320z" {}
            path.dark d=(path(dark)) {}
            (layer("last", played))
            (layer("check", in_check.flatten()))
            @for (square, piece) in position.board() {
                @let (x, y) = corner(square);
                use href={ "#piece-" (piece.role.char()) } class=(piece.color.fold_wb("white", "black"))
                    x=(x) y=(y) width=(SQUARE) height=(SQUARE) {}
            }
            @for file in File::ALL {
                text x=(corner(Square::from_coords(file, Rank::First)).0 + 33) y="317" { (file.char()) }
            }
            @for rank in Rank::ALL {
                text x="2" y=(corner(Square::from_coords(File::A, rank)).1 + 10) { (rank.char()) }
            }
        }
    }
}

fn layer(class: &str, squares: impl IntoIterator<Item = Square>) -> Markup {
    let path = path(squares);
    html! { @if !path.is_empty() { path class=(class) d=(path) {} } }
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
    fn a_position_of_chess960_is_drawn() {
        let start = "brnkrnqb/pppppppp/8/8/8/8/PPPPPPPP/BRNKRNQB w KQkq - 0 1";
        assert_eq!(board(start, None, "").into_string().matches("<use ").count(), 32);
    }

    #[test]
    fn every_piece_stands_on_its_square_with_its_symbol() {
        let fen = "r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4";
        let svg = board(fen, Some("h5f7"), "").into_string();
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
        assert_eq!(board("8/8/8 w", None, "").0, "");
        assert_eq!(board("<script>", Some("é"), "").0, "");
        assert!(board("4k3/8/8/8/8/8/8/4K3 w - - 0 1", Some("é9x"), "").0.contains("<use "));
    }
}
