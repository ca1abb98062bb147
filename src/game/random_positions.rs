//! Positions for tests of what must hold in all of them.

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Position};

/// Positions of games of random moves, from the start and from where pieces are few.
pub(super) fn random_positions(seed: u64) -> Vec<Chess> {
    let starts = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/P6k/8/2pP4/8/8/p6K/1R6 w - c6 0 1",
        "4k3/8/8/8/8/8/8/4KQR1 w - - 0 1",
    ];
    let mut lot = seed;
    let mut seen = Vec::new();
    for fen in starts {
        let fen: Fen = fen.parse().unwrap();
        let mut position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
        for _ in 0..60 {
            let legal = position.legal_moves();
            seen.push(position.clone());
            lot = lot.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let Some(one) = legal.get((lot >> 33) as usize % legal.len().max(1)) else { break };
            position.play_unchecked(*one);
        }
    }
    seen
}
