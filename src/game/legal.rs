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
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

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
