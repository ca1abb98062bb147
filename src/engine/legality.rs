//! The reasons, in words, why a move may not be played.

use shakmaty::uci::UciMove;
use shakmaty::{Bitboard, Chess, Color, Move, Position, Rank, Role, Square, attacks};

use crate::engine::uci::read_move;
use crate::game::legal::find;
use crate::model::evidence::WhyIllegal;
use crate::model::game::result::color_name;

/// The legal move that a word is, or why it is none.
///
/// # Errors
/// The reason where it is none.
pub fn judge(position: &Chess, word: &str) -> Result<Move, WhyIllegal> {
    let one = read_move(word).map_err(WhyIllegal::Word)?;
    find(position, one).ok_or_else(|| explain(position, one))
}

/// The reason why a move is not legal.
fn explain(position: &Chess, one: UciMove) -> WhyIllegal {
    let UciMove::Normal { from, to, promotion } = one else {
        return WhyIllegal::on_board("not a move of standard chess");
    };
    let board = position.board();
    let us = position.turn();
    let Some(piece) = board.piece_at(from) else {
        return WhyIllegal::on_board(format_args!("no piece stands on {from}"));
    };
    if piece.color != us {
        let (piece, us) = (name(piece.role), color_name(us));
        return WhyIllegal::on_board(format_args!("the {piece} on {from} is not {us}'s"));
    }
    if from == to {
        return WhyIllegal::on_board("the piece stays where it is");
    }
    if piece.role == Role::King && is_castling(position, from, to) {
        return castling(position, from, to);
    }
    if board.color_at(to) == Some(us) {
        return WhyIllegal::on_board(format_args!("a piece of its own stands on {to}"));
    }
    if piece.role == Role::Pawn {
        let last = to.rank() == us.fold_wb(Rank::Eighth, Rank::First);
        match promotion {
            None if last => {
                return WhyIllegal::promotion_letter("a pawn on the last rank needs a", "");
            }
            Some(_) if !last => {
                return WhyIllegal::promotion_letter("a", " without a promotion");
            }
            _ => {}
        }
        if let Some(why) = pawn(position, us, from, to) {
            return WhyIllegal::on_board(why);
        }
    } else if promotion.is_some() {
        let of_piece = format!(" on a {}'s move", name(piece.role));
        return WhyIllegal::promotion_letter("a", &of_piece);
    } else if !attacks::attacks(from, piece, board.occupied()).contains(to) {
        let open = attacks::attacks(from, piece, Bitboard::EMPTY).contains(to);
        return WhyIllegal::on_board(if open {
            format!("a piece stands between {from} and {to}")
        } else {
            format!("a {} does not move from {from} to {to}", name(piece.role))
        });
    }
    WhyIllegal::on_board(if position.is_check() && piece.role != Role::King {
        "the king stays in check"
    } else {
        "the king would be in check"
    })
}

fn is_castling(position: &Chess, from: Square, to: Square) -> bool {
    let home = position.turn().fold_wb(Square::E1, Square::E8);
    let own_rook = (position.our(Role::Rook)).contains(to);
    from == home && from.rank() == to.rank() && (from.distance(to) == 2 || own_rook)
}

fn castling(position: &Chess, from: Square, to: Square) -> WhyIllegal {
    if position.our(Role::Rook).contains(to) {
        return WhyIllegal::CastlingAsRook;
    }
    let rook = Square::from_coords(
        if to.file() > from.file() { shakmaty::File::H } else { shakmaty::File::A },
        from.rank(),
    );
    WhyIllegal::on_board(if !position.castles().castling_rights().contains(rook) {
        "castling there, but the king or that rook has moved or is gone"
    } else if position.is_check() {
        "castling out of check"
    } else if attacks::between(from, rook).intersects(position.board().occupied()) {
        "castling with a piece between king and rook"
    } else {
        "castling through or into check"
    })
}

fn pawn(position: &Chess, us: Color, from: Square, to: Square) -> Option<String> {
    let board = position.board();
    if attacks::pawn_attacks(us, from).contains(to) {
        let taken = board.piece_at(to).is_some() || position.pseudo_legal_ep_square() == Some(to);
        return (!taken).then(|| format!("nothing to capture on {to}, en passant neither"));
    }
    let step = us.fold_wb(8, -8);
    let one = from.offset(step);
    let from_home = from.rank() == us.fold_wb(Rank::Second, Rank::Seventh);
    let two = one.and_then(|square| square.offset(step)).filter(|_| from_home);
    let blocked =
        |square: Option<Square>| square.is_some_and(|square| board.occupied().contains(square));
    if one == Some(to) {
        blocked(one).then(|| format!("a piece stands on {to}"))
    } else if two == Some(to) {
        (blocked(one) || blocked(two)).then(|| "a piece stands before the pawn".into())
    } else {
        Some(format!("a pawn does not move from {from} to {to}"))
    }
}

fn name(role: Role) -> &'static str {
    match role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::moves::Moves;
    use crate::model::evidence::MoveFault;
    use proptest::prelude::*;
    use shakmaty::CastlingMode;

    fn why(list: &str, word: &str) -> WhyIllegal {
        let moves = Moves::read(list).unwrap();
        judge(moves.position(), word).expect_err(word)
    }

    #[test]
    fn a_way_of_writing_is_told_from_another_fault() {
        let told = |word| why("e2e4 e7e5 g1f3 g8f6 f1c4 f8c5", word).is_a_way_of_writing();
        for word in ["e1h1", "E1G1", "O-O", "e1-g1", "f3g5q"] {
            assert!(told(word), "{word}");
        }
        for word in ["e1c1", "a1a1", "e4e5", "zz"] {
            assert!(!told(word), "{word}");
        }
    }

    #[test]
    fn each_reason_in_words() {
        let open = "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5";
        for (list, word, expected) in [
            ("", "e3e4", "no piece stands on e3"),
            ("", "e7e5", "the pawn on e7 is not White's"),
            ("", "e2e5", "a pawn does not move from e2 to e5"),
            ("", "g1g3", "a knight does not move from g1 to g3"),
            ("", "a1a3", "a piece stands between a1 and a3"),
            ("", "d1d2", "a piece of its own stands on d2"),
            ("", "e2e2", "the piece stays where it is"),
            ("", "e2d3", "nothing to capture on d3, en passant neither"),
            ("", "e2e4q", "a promotion letter without a promotion"),
            ("", "g1f3q", "a promotion letter on a knight's move"),
            ("", "e1c1", "castling with a piece between king and rook"),
            (open, "e1h1", "castling is written as the king's own move"),
            ("e2e4 e7e5 e1e2 a7a6 e2e1 a6a5", "e1g1", "castling there, but the king"),
            ("e2e4 d7d5 f2f3 d8d6 f1a6 d6g3", "e1f2", "the king would be in check"),
            ("e2e4 e7e5 f2f3 d8h4", "a2a3", "the king stays in check"),
            (
                "a2a4 a7a5 b2b4 a5b4 a4a5 b4b3 a5a6 b3c2 a6b7 c2d1q e1d1 h7h6",
                "b7a8",
                "needs a promotion letter",
            ),
            ("e2e4 e7e5", "e4e5", "a piece stands on e5"),
        ] {
            let text = why(list, word).to_string();
            assert!(text.starts_with("illegal: "), "{word}: {text}");
            assert!(text.contains(expected), "{word}: {text}");
        }
        assert_eq!(why("", "E2E4"), WhyIllegal::Word(MoveFault::UpperCase));
        assert!(judge(Moves::read(open).unwrap().position(), "e1g1").is_ok());
    }

    proptest! {
        /// A reason is found for any two squares in any position of a random game, without a panic.
        #[test]
        fn anything_is_explained(
            steps in proptest::collection::vec(any::<prop::sample::Index>(), 0..60),
            from in 0u32..64, to in 0u32..64, letter in 0usize..5,
        ) {
            let mut moves = Moves::start();
            for step in steps {
                let legal = moves.position().legal_moves();
                if legal.is_empty() { break }
                moves.play(*step.get(&legal));
            }
            let letter = ["", "q", "r", "b", "n"][letter];
            let word = format!("{}{}{letter}", Square::new(from), Square::new(to));
            let written = moves.position().legal_moves().iter()
                .any(|one| one.to_uci(CastlingMode::Standard).to_string() == word);
            prop_assert_eq!(judge(moves.position(), &word).is_ok(), written);
        }
    }
}
