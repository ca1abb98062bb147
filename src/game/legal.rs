//! The legal move that an engine's word means.

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position};

/// The legal move that UCI writes like this. Castling is the king's move of two squares, and in Chess960 that of the king
/// to his own rook: shakmaty's own reading takes either in both.
pub(crate) fn find(position: &Chess, said: UciMove) -> Option<Move> {
    said.to_move(position).ok().filter(|one| one.to_uci(position.castles().mode()) == said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::random_positions::random_positions;
    use crate::game::start_positions::StartNumber;
    use shakmaty::fen::Fen;
    use shakmaty::{CastlingMode, Role, Square};

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
    fn moves_are_found_by_the_one_way_in_which_uci_writes_them() {
        let castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        let pinned = "4k3/8/8/8/1b6/2N5/8/4K3 w - - 0 1";
        let passant = "4k3/8/8/2pP4/8/8/P7/4K3 w - c6 0 1";
        let promotes = "8/P6k/8/8/8/8/8/4K3 w - - 0 1";
        let (classical, random) = (CastlingMode::Standard, CastlingMode::Chess960);
        for (fen, mode, said, expected) in [
            (castling, classical, "e1g1", true),
            (castling, classical, "e1c1", true),
            (castling, classical, "e1h1", false),
            (castling, random, "e1h1", true),
            (castling, random, "e1a1", true),
            (castling, random, "e1g1", false),
            (pinned, classical, "c3d5", false),
            (pinned, classical, "e1e2", true),
            (passant, classical, "d5c6", true),
            (passant, classical, "d5e6", false),
            (promotes, classical, "a7a8n", true),
            (promotes, classical, "a7a8", false),
            (promotes, classical, "a7a8k", false),
            (promotes, classical, "0000", false),
        ] {
            let position: Chess = fen.parse::<Fen>().unwrap().into_position(mode).unwrap();
            let found = find(&position, said.parse().unwrap());
            assert_eq!(found.is_some(), expected, "{fen} {said}");
            assert!(found.is_none_or(|one| one.to_uci(mode).to_string() == said), "{fen} {said}");
        }
    }
}
