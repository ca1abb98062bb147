//! Legal moves without a list of all of them: a move is judged by where it leads, and shakmaty is asked for a list
//! only where that does not decide.

use shakmaty::uci::UciMove;
use shakmaty::{Bitboard, CastlingSide, Chess, Move, Position, Role, Square, attacks};

/// The legal move that UCI writes like this. Castling is the king's move of two squares, and in Chess960 that of the king
/// to his own rook.
pub(crate) fn find(position: &Chess, said: UciMove) -> Option<Move> {
    let UciMove::Normal { from, to, promotion } = said else { return None };
    let board = position.board();
    let piece = board.piece_at(from).filter(|piece| piece.color == position.turn())?;
    let is_said = |one: &Move| one.to_uci(position.castles().mode()) == said;
    // A step of the king, and a move of a piece that nothing can hold, are judged by where they lead.
    let simple = match piece.role {
        Role::King => king_may_step(position, from, to),
        Role::Pawn => false,
        _ => {
            is_free(position, from) && attacks::attacks(from, piece, board.occupied()).contains(to)
        }
    };
    if simple && promotion.is_none() && !position.us().contains(to) {
        let capture = board.role_at(to);
        return Some(Move::Normal { role: piece.role, from, capture, to, promotion });
    }
    if piece.role == Role::King {
        let castling = CastlingSide::ALL.into_iter().flat_map(|side| position.castling_moves(side));
        return castling.into_iter().find(is_said);
    }
    position.san_candidates(piece.role, to).into_iter().find(is_said)
}

/// True if there is a legal move. A list of all is made only where nothing simpler shows that there is one.
pub(crate) fn can_move(position: &Chess) -> bool {
    let king = position.board().king_of(position.turn());
    let steps =
        |king| attacks::king_attacks(king).into_iter().any(|to| king_may_step(position, king, to));
    has_free_pawn(position) || king.is_some_and(steps) || !position.legal_moves().is_empty()
}

/// True if it is a step of the king to where nothing attacks it, itself no longer in the way.
fn king_may_step(position: &Chess, king: Square, to: Square) -> bool {
    let (board, them) = (position.board(), !position.turn());
    (attacks::king_attacks(king) & !position.us()).contains(to)
        && board.attacks_to(to, them, board.occupied().without(king)).is_empty()
}

/// True if a pawn can step forward that neither a check nor a pin can hold.
fn has_free_pawn(position: &Chess) -> bool {
    let free = position.our(Role::Pawn) & !holdable(position);
    let ahead = free.shift(position.turn().fold_wb(8, -8)) & !position.board().occupied();
    ahead.any() && position.checkers().is_empty()
}

/// True if the piece there may go wherever it can.
fn is_free(position: &Chess, from: Square) -> bool {
    !holdable(position).contains(from) && position.checkers().is_empty()
}

/// The squares on a line of the king: only there a piece can be pinned.
fn holdable(position: &Chess) -> Bitboard {
    let king = position.board().king_of(position.turn());
    king.map_or(Bitboard::FULL, |king| attacks::queen_attacks(king, Bitboard::EMPTY))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::random_positions::random_positions;
    use crate::game::start_positions::StartNumber;
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    fn start(fen: &str) -> Chess {
        fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
    }

    #[test]
    fn exactly_the_legal_moves_are_found() {
        for position in (7..12).flat_map(random_positions) {
            let legal = position.legal_moves();
            let mut found = Vec::new();
            for (from, to) in
                Square::ALL.into_iter().flat_map(|from| Square::ALL.map(|to| (from, to)))
            {
                for promotion in [None, Some(Role::Queen), Some(Role::Knight)] {
                    found.extend(find(&position, UciMove::Normal { from, to, promotion }));
                }
            }
            let asked = |one: &&Move| !matches!(one.promotion(), Some(Role::Rook | Role::Bishop));
            let expected = legal.iter().filter(asked).count();
            assert_eq!(found.len(), expected, "{:?}", position);
            assert!(found.iter().all(|one| legal.contains(one)), "{:?}", position);
        }
    }

    /// Games of random moves from start positions of Chess960 and of its double.
    #[test]
    fn exactly_the_legal_moves_of_chess960_are_found() {
        let mut lot = 7u64;
        let mut castled = 0;
        for number in (0..960).step_by(97) {
            let start = format!("{number}:{}", (number * 11 + 5) % 960);
            let start: StartNumber = start.parse().unwrap();
            let mut position = start.position().unwrap();
            for _ in 0..60 {
                let legal = position.legal_moves();
                for from in Square::ALL {
                    for to in Square::ALL {
                        let said = UciMove::Normal { from, to, promotion: None };
                        let expected =
                            legal.iter().find(|one| one.to_uci(CastlingMode::Chess960) == said);
                        assert_eq!(find(&position, said).as_ref(), expected, "{position:?} {said}");
                    }
                }
                lot = lot.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                // The king castles where he can.
                let castling = legal.iter().find(|one| one.is_castle());
                let any = (lot >> 33) as usize % legal.len().max(1);
                let Some(one) = castling.or(legal.get(any)) else { break };
                castled += usize::from(one.is_castle());
                position.play_unchecked(*one);
            }
        }
        assert!(castled > 5, "{castled}");
    }

    #[test]
    fn where_nothing_can_move_is_seen_wherever_it_is() {
        let (mut stuck, mut free) = (0, 0);
        for position in (0..250).flat_map(random_positions) {
            let can = !position.legal_moves().is_empty();
            assert_eq!(can_move(&position), can, "{position:?}");
            assert!(can || !has_free_pawn(&position), "{position:?}");
            stuck += usize::from(!can);
            free += usize::from(has_free_pawn(&position));
        }
        assert!(stuck > 10 && free > 10_000, "{stuck} {free}");
    }

    #[test]
    fn a_pawn_that_a_pin_or_a_check_holds_is_not_free() {
        for (fen, free) in [
            ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", false),
            ("4k3/8/8/8/8/8/3P4/4K3 w - - 0 1", false),
            ("4k3/8/8/8/8/8/P7/4K3 w - - 0 1", true),
            ("4k3/8/8/8/8/p7/P7/4K3 w - - 0 1", false),
            ("4k3/8/8/8/4r3/8/P7/4K3 w - - 0 1", false),
            ("4k3/p7/8/8/8/8/8/4K3 b - - 0 1", true),
            ("4k3/7P/8/8/8/8/8/4K3 w - - 0 1", true),
        ] {
            assert_eq!(has_free_pawn(&start(fen)), free, "{fen}");
        }
    }
}
