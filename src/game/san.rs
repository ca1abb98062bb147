//! Moves in SAN (PGN standard, 8.2.3), for those who write whole games: nothing is made that is not needed.

use shakmaty::san::{San, SanPlus, Suffix};
use shakmaty::{Bitboard, Chess, Move, MoveList, Piece, Position, Role, attacks};

/// Appends a legal move of this position, and plays it.
pub(super) fn push_and_play(out: &mut String, position: &mut Chess, one: Move) {
    // Others of its kind that see the square; whether they may go there is asked only where there are any. A
    // pawn names its file where it takes, and a king has no rival.
    let rivals = match one {
        Move::Normal { role, from, to, .. } if role != Role::Pawn => {
            let (board, piece) = (position.board(), Piece { color: position.turn(), role });
            let near = attacks::attacks(to, piece, board.occupied());
            (near & board.by_piece(piece)).without(from)
        }
        _ => Bitboard::EMPTY,
    };
    let san = if rivals.any() {
        San::from_move(&*position, one)
    } else {
        San::disambiguate(one, &MoveList::new())
    };
    position.play_unchecked(one);
    // No mate without a check, and most moves give none.
    let suffix = position.is_check().then(|| Suffix::from_position(position)).flatten();
    SanPlus { san, suffix }.append_to_string(out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::random_positions::random_positions;
    use shakmaty::fen::Fen;
    use shakmaty::{CastlingMode, EnPassantMode};

    /// Every legal move, as shakmaty writes it, and the position after.
    fn all_as_shakmaty_writes_them(position: &Chess) -> usize {
        let moves = position.legal_moves();
        for one in &moves {
            let (mut after, mut text) = (position.clone(), String::new());
            push_and_play(&mut text, &mut after, *one);
            let mut expected = position.clone();
            let san = SanPlus::from_move_and_play_unchecked(&mut expected, *one);
            let fen = Fen::from_position(position, EnPassantMode::Legal);
            assert_eq!(text, san.to_string(), "{fen}");
            assert_eq!(after, expected, "{fen}");
        }
        moves.len()
    }

    #[test]
    fn moves_are_written_as_shakmaty_writes_them_in_games_random_positions() {
        let written: usize = (0..50)
            .flat_map(random_positions)
            .map(|position| all_as_shakmaty_writes_them(&position))
            .sum();
        assert!(written > 100_000, "{written}");
    }

    #[test]
    fn the_rare_moves_too() {
        for (fen, expected) in [
            // Pinned: only one of two knights can go there, so it needs no file.
            ("4k3/8/8/8/1b6/2N5/8/4K1N1 w - - 0 1", "Ne2"),
            // Three queens: file and rank.
            ("1k6/8/8/8/4Q2Q/8/8/K6Q w - - 0 1", "Qh4e1"),
            ("3k4/8/8/8/8/8/8/R3K2R w KQ - 0 1", "O-O-O+"),
            ("4k3/1P6/8/8/8/8/8/4K3 w - - 0 1", "b8=Q+"),
            ("8/8/8/3pP2r/K7/8/8/7k w - d6 0 1", "exd6"),
            ("6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1", "Re8#"),
        ] {
            let fen: Fen = fen.parse().unwrap();
            let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
            all_as_shakmaty_writes_them(&position);
            let written: Vec<String> = position
                .legal_moves()
                .iter()
                .map(|one| {
                    let mut text = String::new();
                    push_and_play(&mut text, &mut position.clone(), *one);
                    text
                })
                .collect();
            assert!(written.iter().any(|text| text == expected), "{expected}: {written:?}");
        }
    }
}
