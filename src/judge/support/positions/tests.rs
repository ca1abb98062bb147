//! Each list has the property that its name says.

use super::*;
use crate::engine::legality::judge;
use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{
    Bitboard, CastlingMode, CastlingSide, Chess, Color, EnPassantMode, Position, Role, Square,
    attacks,
};
use std::collections::{HashMap, HashSet};

fn at(name: &str) -> Moves {
    let (_, list) = POSITIONS.iter().find(|(known, _)| *known == name).unwrap();
    Moves::read(list).unwrap()
}

fn legal(name: &str, word: &str) -> bool {
    judge(at(name).position(), word).is_ok()
}

fn why(name: &str, word: &str) -> String {
    judge(at(name).position(), word).unwrap_err().to_string()
}

fn written(position: &Chess) -> HashSet<String> {
    position
        .legal_moves()
        .iter()
        .map(|one| one.to_uci(CastlingMode::Standard).to_string())
        .collect()
}

fn attacked(position: &Chess, square: Square) -> bool {
    let board = position.board();
    board.attacks_to(square, !position.turn(), board.occupied()).any()
}

#[test]
fn every_list_is_legal_and_leaves_something_to_do() {
    let mut names = HashSet::new();
    for (name, list) in POSITIONS {
        let moves = Moves::read(list).unwrap_or_else(|bad| panic!("{name}: {bad}"));
        assert!(names.insert(name), "{name} twice");
        assert!(!moves.is_over(), "{name}");
        assert!(!moves.position().is_insufficient_material(), "{name}");
        assert_eq!(list.split_ascii_whitespace().count(), moves.list().len());
    }
    assert!(all().len() >= 30);
    for color in [Color::White, Color::Black] {
        assert!(all().iter().any(|(_, moves)| moves.position().turn() == color));
    }
}

#[test]
fn few_men_are_left_where_the_name_says_so() {
    for (name, men) in
        [("lone-pawn-strong", 3), ("lone-pawn-weak", 3), ("lone-rook-weak", 3), ("four-men", 4)]
    {
        assert_eq!(at(name).position().board().occupied().count(), men, "{name}");
    }
    assert_eq!(at("lone-pawn-strong").position().turn(), Color::White);
    assert_eq!(at("lone-pawn-weak").position().turn(), Color::Black);
    assert_eq!(at("lone-rook-weak").position().board().rooks().count(), 1);
}

#[test]
fn castling_is_allowed_where_the_name_says_so() {
    for (name, word) in [
        ("castling-both-wings-white", "e1g1"),
        ("castling-both-wings-white", "e1c1"),
        ("castling-both-wings-black", "e8g8"),
        ("castling-both-wings-black", "e8c8"),
        ("castling-long-past-attacked-b1", "e1c1"),
    ] {
        assert!(legal(name, word), "{name} {word}");
    }
    let past = at("castling-long-past-attacked-b1");
    assert!(attacked(past.position(), Square::B1));
}

#[test]
fn castling_is_denied_where_the_name_says_so() {
    for (name, word, reason) in [
        ("castling-through-check-white", "e1g1", "through or into"),
        ("castling-through-check-black", "e8g8", "through or into"),
        ("castling-into-check-white", "e1g1", "through or into"),
        ("castling-long-into-check-white", "e1c1", "through or into"),
        ("castling-into-check-black", "e8g8", "through or into"),
        ("castling-long-into-check-black", "e8c8", "through or into"),
        ("castling-long-through-check-white", "e1c1", "through or into"),
        ("castling-long-through-check-black", "e8c8", "through or into"),
        ("castling-out-of-check-white", "e1g1", "out of check"),
        ("castling-out-of-check-black", "e8g8", "out of check"),
        ("castling-long-over-a-knight-white", "e1c1", "a piece between"),
        ("castling-long-over-a-knight-black", "e8c8", "a piece between"),
        ("castling-after-king-moved", "e1g1", "has moved"),
        ("castling-after-king-moved-black", "e8g8", "has moved"),
        ("castling-after-rook-moved", "e1g1", "has moved"),
        ("castling-after-rook-moved-black", "e8g8", "has moved"),
        ("castling-long-after-rook-moved-white", "e1c1", "has moved"),
        ("castling-long-after-rook-moved-black", "e8c8", "has moved"),
        ("castling-after-rook-captured", "e1g1", "is gone"),
        ("castling-after-rook-captured-black", "e8g8", "is gone"),
        ("castling-long-after-rook-captured-white", "e1c1", "is gone"),
        ("castling-long-after-rook-captured-black", "e8c8", "is gone"),
        ("castling-with-the-other-rook-white", "e1g1", "is gone"),
        ("castling-with-the-other-rook-black", "e8g8", "is gone"),
        ("castling-after-a-promotion-took-the-rook", "e8c8", "is gone"),
        ("castling-after-a-knight-took-the-rook-white", "e1g1", "is gone"),
        ("castling-after-a-knight-took-the-rook-black", "e8g8", "is gone"),
        ("castling-long-after-a-knight-took-the-rook-white", "e1c1", "is gone"),
        ("castling-long-after-a-knight-took-the-rook-black", "e8c8", "is gone"),
    ] {
        assert!(why(name, word).contains(reason), "{name}: {}", why(name, word));
    }
    let attacks = |name: &str, square| attacked(at(name).position(), square);
    assert!(attacks("castling-through-check-white", Square::F1));
    assert!(!attacks("castling-through-check-white", Square::G1));
    assert!(attacks("castling-through-check-black", Square::F8));
    assert!(!attacks("castling-through-check-black", Square::G8));
    assert!(attacks("castling-into-check-white", Square::G1));
    assert!(!attacks("castling-into-check-white", Square::F1));
    assert!(attacks("castling-long-into-check-white", Square::C1));
    assert!(!attacks("castling-long-into-check-white", Square::D1));
    assert!(attacks("castling-into-check-black", Square::G8));
    assert!(!attacks("castling-into-check-black", Square::F8));
    assert!(attacks("castling-long-into-check-black", Square::C8));
    assert!(!attacks("castling-long-into-check-black", Square::D8));
    assert!(attacks("castling-long-through-check-black", Square::D8));
    assert!(!attacks("castling-long-through-check-black", Square::C8));
    assert!(attacks("castling-long-through-check-white", Square::D1));
    assert!(!attacks("castling-long-through-check-white", Square::C1));
    // Nothing but the right that is lost stands in the way.
    for (name, king, between) in [
        ("castling-after-king-moved", Square::E1, &[Square::F1, Square::G1] as &[Square]),
        ("castling-after-king-moved-black", Square::E8, &[Square::F8, Square::G8]),
        ("castling-after-rook-moved", Square::E1, &[Square::F1, Square::G1]),
        ("castling-after-rook-moved-black", Square::E8, &[Square::F8, Square::G8]),
        ("castling-long-after-rook-moved-white", Square::E1, &[Square::B1, Square::C1, Square::D1]),
        ("castling-long-after-rook-moved-black", Square::E8, &[Square::B8, Square::C8, Square::D8]),
        ("castling-after-rook-captured", Square::E1, &[Square::F1, Square::G1]),
        ("castling-after-rook-captured-black", Square::E8, &[Square::F8, Square::G8]),
        (
            "castling-long-after-rook-captured-white",
            Square::E1,
            &[Square::B1, Square::C1, Square::D1],
        ),
        (
            "castling-long-after-rook-captured-black",
            Square::E8,
            &[Square::B8, Square::C8, Square::D8],
        ),
        ("castling-after-a-knight-took-the-rook-white", Square::E1, &[Square::F1, Square::G1]),
        ("castling-after-a-knight-took-the-rook-black", Square::E8, &[Square::F8, Square::G8]),
        ("castling-long-after-a-knight-took-the-rook-white", Square::E1, &[Square::C1, Square::D1]),
        ("castling-long-after-a-knight-took-the-rook-black", Square::E8, &[Square::C8, Square::D8]),
    ] {
        let moves = at(name);
        let board = moves.position().board();
        assert_eq!(board.king_of(moves.position().turn()), Some(king), "{name}");
        for square in between {
            assert!(board.piece_at(*square).is_none(), "{name} {square}");
            assert!(!attacks(name, *square), "{name} {square}");
        }
    }
}

/// The wings on which nothing stands between the king and a rook that castles still, and what attacks the squares where the king passes and
/// ends there.
fn open_wings(moves: &Moves) -> Vec<(CastlingSide, [Bitboard; 2])> {
    let (position, us) = (moves.position(), moves.position().turn());
    let (board, king) = (position.board(), position.our(Role::King).single_square().unwrap());
    let attackers = |square| board.attacks_to(square, !us, board.occupied());
    let open = CastlingSide::ALL.into_iter().filter_map(|side| {
        let rook = position.castles().rook(us, side)?;
        let between = attacks::between(king, rook) & board.occupied();
        let ends = [side.rook_to(us), side.king_to(us)];
        between.is_empty().then(|| (side, ends.map(attackers)))
    });
    open.collect()
}

#[test]
fn a_check_alone_forbids_to_castle() {
    for (name, role, wings) in [
        ("castling-out-of-check-by-a-bishop-white", Role::Bishop, 2),
        ("castling-out-of-check-by-a-rook-white", Role::Rook, 2),
        ("castling-out-of-check-by-a-pawn-white", Role::Pawn, 1),
        ("castling-out-of-check-by-a-knight-black", Role::Knight, 2),
        ("castling-out-of-check-by-a-queen-black", Role::Queen, 2),
        ("castling-out-of-check-by-a-pawn-black", Role::Pawn, 1),
    ] {
        let moves = at(name);
        let checker = moves.position().checkers().single_square().unwrap();
        assert_eq!(moves.position().board().role_at(checker), Some(role), "{name}");
        let free = |(_, attackers): &(_, [Bitboard; 2])| attackers.iter().all(|all| all.is_empty());
        assert_eq!(open_wings(&moves).iter().filter(|wing| free(wing)).count(), wings, "{name}");
    }
}

#[test]
fn one_kind_of_men_keeps_the_king_from_passing() {
    for (name, [long, short]) in [
        ("castling-past-a-pawn-white", [Role::Pawn; 2]),
        ("castling-past-a-pawn-black", [Role::Pawn; 2]),
        ("castling-past-a-knight-white", [Role::Knight; 2]),
        ("castling-past-a-knight-black", [Role::Knight; 2]),
        ("castling-past-rook-and-queen-white", [Role::Queen, Role::Rook]),
        ("castling-past-queen-and-rook-black", [Role::Rook, Role::Queen]),
    ] {
        let moves = at(name);
        assert!(!moves.position().is_check(), "{name}");
        let wings = open_wings(&moves);
        assert_eq!(wings.len(), 2, "{name}");
        for (side, [passed, end]) in wings {
            let role = if side.is_king_side() { short } else { long };
            assert!(passed.any() && end.is_empty(), "{name} {side:?}");
            assert_eq!(passed, passed & moves.position().board().by_role(role), "{name} {side:?}");
        }
    }
}

#[test]
fn the_other_king_alone_denies_three_squares() {
    for (name, turn, [files, ranks]) in [
        ("kings-face-to-face-upwards", Color::White, [0, 2]),
        ("kings-face-to-face-downwards", Color::Black, [0, -2]),
        ("kings-side-by-side-to-the-right", Color::White, [2, 0]),
        ("kings-side-by-side-to-the-left", Color::Black, [-2, 0]),
    ] {
        let moves = at(name);
        let (position, board) = (moves.position(), moves.position().board());
        assert_eq!(position.turn(), turn, "{name}");
        let [own, other] = [turn, !turn].map(|side| board.king_of(side).unwrap());
        assert_eq!(other.file() - own.file(), files, "{name}");
        assert_eq!(other.rank() - own.rank(), ranks, "{name}");
        let denied = attacks::king_attacks(own) & attacks::king_attacks(other);
        assert_eq!(denied.count(), 3, "{name}");
        for square in denied {
            assert_ne!(board.color_at(square), Some(turn), "{name}");
            let attackers = board.attacks_to(square, !turn, board.occupied());
            assert_eq!(attackers.single_square(), Some(other), "{name} {square}");
        }
    }
}

#[test]
fn castling_would_take_a_man_of_the_other_side() {
    for (name, word) in [
        ("castling-onto-a-bishop-white", "e1g1"),
        ("castling-onto-a-bishop-black", "e8g8"),
        ("castling-long-onto-a-knight-white", "e1c1"),
        ("castling-long-onto-a-knight-black", "e8c8"),
    ] {
        assert!(why(name, word).contains("a piece between"), "{name}: {}", why(name, word));
        let moves = at(name);
        let (board, us) = (moves.position().board(), moves.position().turn());
        let to: Square = word[2..].parse().unwrap();
        assert_eq!(board.color_at(to), Some(!us), "{name}");
        // Nothing else stands in the way.
        let king = board.king_of(us).unwrap();
        let corner = moves.position().castles().rook(us, CastlingSide::from_king_side(to > king));
        let between = attacks::between(king, corner.unwrap());
        assert_eq!((between & board.occupied()).single_square(), Some(to), "{name}");
        assert!(!moves.position().is_check(), "{name}");
    }
}

#[test]
fn en_passant_is_possible_or_not() {
    assert!(legal("en-passant-white", "e5d6"));
    assert!(legal("en-passant-black", "e4d3"));
    assert!(legal("en-passant-two-ways-black", "a4b3"));
    assert!(legal("en-passant-two-ways-black", "c4b3"));
    let check = at("en-passant-answers-check");
    assert!(check.position().is_check());
    assert!(legal("en-passant-answers-check", "f4e3"));
    assert!(why("en-passant-a-move-too-late", "e5d6").contains("en passant"));
    assert!(why("en-passant-after-a-single-step", "e5d6").contains("en passant"));
    for name in [
        "en-passant-pinned-on-the-rank",
        "en-passant-pinned-on-the-rank-black",
        "en-passant-pinned-on-the-diagonal",
        "en-passant-pinned-black",
    ] {
        let moves = at(name);
        let square = moves.position().pseudo_legal_ep_square().expect(name);
        assert_eq!(moves.position().legal_ep_square(), None, "{name}");
        assert!(!moves.position().is_check(), "{name}");
        let side = moves.position().turn();
        let pawns = attacks::pawn_attacks(!side, square) & moves.position().our(Role::Pawn);
        for pawn in pawns {
            let text = why(name, &format!("{pawn}{square}"));
            assert!(text.contains("would be in check"), "{name}: {text}");
        }
    }
}

#[test]
fn a_square_of_en_passant_is_gone_after_any_move() {
    for (name, then, word) in [
        ("no-en-passant-after-a-capture", "c6d4", "d2e3"),
        ("no-en-passant-after-a-pawn-takes", "d5e4", "b2a3"),
        ("no-en-passant-after-a-promotion", "h2g1q", "d2e3"),
        ("no-en-passant-after-castling", "e8g8", "c2d3"),
        ("en-passant-too-late-after-a-capture", "f3d4", "e5d6"),
        ("en-passant-too-late-after-a-pawn-takes", "b4a5", "e5d6"),
        ("en-passant-too-late-after-a-promotion", "h7g8q", "e5d6"),
        ("en-passant-too-late-after-castling", "e1g1", "e5d6"),
    ] {
        let moves = at(name);
        let list: Vec<String> = moves.list().iter().map(ToString::to_string).collect();
        let last = list.iter().rposition(|one| one == then).unwrap();
        let [from, to]: [Square; 2] =
            [&word[..2], &word[2..]].map(|square| square.parse().unwrap());
        let mut before = Chess::default();
        for one in &moves.list()[..last] {
            before.play_unchecked(one.to_move(&before).unwrap());
        }
        assert_eq!(before.ep_square(EnPassantMode::Always), Some(to), "{name}");
        let board = moves.position().board();
        assert!(moves.position().our(Role::Pawn).contains(from), "{name}");
        assert!(board.piece_at(to).is_none() && !moves.position().is_check(), "{name}");
        assert!(!legal(name, word), "{name}");
    }
}

#[test]
fn a_pawn_stands_where_it_takes_beyond_the_edge() {
    for (name, from, to, step) in [
        ("en-passant-beyond-the-edge-h4-a6", Square::H4, Square::A6, 9),
        ("en-passant-beyond-the-edge-a6-h6", Square::A6, Square::H6, 7),
        ("en-passant-beyond-the-edge-a5-h3", Square::A5, Square::H3, -9),
        ("en-passant-beyond-the-edge-h3-a3", Square::H3, Square::A3, -7),
    ] {
        let moves = at(name);
        let pawns = moves.position().our(Role::Pawn);
        assert!(pawns.contains(from), "{name}");
        assert_eq!(moves.position().ep_square(EnPassantMode::Always), Some(to), "{name}");
        assert_eq!(i32::from(to) - i32::from(from), step, "{name}");
        assert!(!legal(name, &format!("{from}{to}")), "{name}");
    }
}

#[test]
fn a_list_that_ends_with_a_move_of_two_halves_leaves_a_check() {
    for (name, last) in [
        ("after-castling-short-white", "e8g8"),
        ("after-castling-short-black", "e1g1"),
        ("after-castling-long-white", "e8c8"),
        ("after-castling-long-black", "e1c1"),
        ("after-en-passant-white", "e4d3"),
        ("after-en-passant-black", "e5d6"),
        // A queen, or still a pawn, would give none.
        ("after-promotion-to-knight-white", "g2h1n"),
        ("after-promotion-to-knight-black", "g7h8n"),
    ] {
        let moves = at(name);
        assert_eq!(moves.list().last().unwrap().to_string(), last);
        assert!(moves.position().is_check() && moves.position().legal_moves().len() <= 5);
    }
}

#[test]
fn a_rook_left_in_the_corner_could_take_a_queen() {
    for (name, castled, corner) in [
        ("rook-gone-from-a1", "e1c1", Square::A1),
        ("rook-gone-from-a8", "e8c8", Square::A8),
        ("rook-gone-from-h8", "e8g8", Square::H8),
    ] {
        let moves = at(name);
        assert!(moves.list().iter().any(|one| one.to_string() == castled), "{name}");
        let (board, us) = (moves.position().board(), moves.position().turn());
        assert!(board.piece_at(corner).is_none(), "{name}");
        let rook = attacks::rook_attacks(corner, board.occupied());
        let queen = (rook & board.queens() & board.by_color(!us)).single_square().unwrap();
        assert!(!moves.position().is_check(), "{name}");
        // No other man of that side can take it.
        assert!(board.attacks_to(queen, us, board.occupied()).is_empty(), "{name}");
    }
}

#[test]
fn a_list_with_a_move_that_looks_like_another_has_its_bait() {
    for (name, like, bait) in [
        ("after-e1g1-of-a-queen", "e1g1", "b5c4"),
        ("after-e8c8-of-a-queen", "e8c8", "e5f6"),
        ("after-a-knight-passes-a-pawn", "b5d6", "a3b4"),
        ("after-promotion-to-rook", "h7g8r", "g8c4"),
        ("after-promotion-to-rook-black", "h2g1r", "g1c5"),
        ("after-promotion-to-bishop", "h7g8b", "g8g5"),
        ("after-promotion-to-bishop-black", "h2g1b", "g1g4"),
    ] {
        let moves = at(name);
        assert!(moves.list().iter().any(|one| one.to_string() == like), "{name}");
        assert_eq!(moves.position().is_check(), !name.contains("promotion"), "{name}");
        // A piece of the other side that could be taken, were the board what it was mistaken for.
        let to: Square = bait[2..].parse().unwrap();
        let board = moves.position().board();
        assert_eq!(board.color_at(to), Some(!moves.position().turn()), "{name}");
        assert!(!legal(name, bait), "{name}");
    }
}

#[test]
fn all_four_promotions_are_possible() {
    for (name, start, side) in [
        ("promotion-by-push-white", "h7h8", Color::White),
        ("promotion-by-capture-white", "g7h8", Color::White),
        ("promotion-by-push-black", "d2d1", Color::Black),
        ("promotion-by-capture-black", "f2g1", Color::Black),
    ] {
        assert_eq!(at(name).position().turn(), side);
        for letter in ["q", "r", "b", "n"] {
            assert!(legal(name, &format!("{start}{letter}")), "{name} {letter}");
        }
        assert!(why(name, start).contains("promotion letter"));
    }
    let mostly = at("promotion-or-hardly-anything");
    let promotions = mostly.position().promotion_moves().len();
    assert!(promotions >= 4);
    assert!(mostly.position().legal_moves().len() <= promotions + 3);
}

#[test]
fn checks_pins_and_single_moves() {
    for (name, checkers) in [
        ("check-white", 1),
        ("check-black", 1),
        ("double-check-black", 2),
        ("double-check-white", 2),
    ] {
        assert_eq!(at(name).position().checkers().count(), checkers, "{name}");
    }
    for (name, word) in [("pin-white", "c3d5"), ("pin-black", "c6d4")] {
        assert!(!at(name).position().is_check());
        assert!(why(name, word).contains("would be in check"), "{name}");
    }
    for (name, word) in
        [("one-move-white", "g2g3"), ("one-move-black", "g7g6"), ("one-move-king-takes", "e8f7")]
    {
        assert_eq!(at(name).position().legal_moves().len(), 1, "{name}");
        assert!(legal(name, word), "{name}");
    }
}

#[test]
fn pinned_men_have_something_to_take() {
    for (name, role, word) in [
        ("pinned-queen-white", Role::Queen, "d2d4"),
        ("pinned-queen-black", Role::Queen, "d7g4"),
        ("pinned-rook-white", Role::Rook, "c3c7"),
        ("pinned-rook-black", Role::Rook, "c6c2"),
        ("pinned-bishop-white", Role::Bishop, "d2h6"),
        ("pinned-bishop-black", Role::Bishop, "d7h3"),
        ("pinned-pawn-white", Role::Pawn, "e3f4"),
        ("pinned-pawn-black", Role::Pawn, "e6f5"),
        ("pinned-pawn-promotes-white", Role::Pawn, "h7g8q"),
        ("pinned-pawn-promotes-black", Role::Pawn, "h2g1q"),
        ("pinned-answers-check-white", Role::Pawn, "e3d4"),
        ("pinned-answers-check-black", Role::Queen, "d7c7"),
    ] {
        let moves = at(name);
        let (position, board) = (moves.position(), moves.position().board());
        let square = |at: &str| -> Square { at.parse().unwrap() };
        assert_eq!(board.role_at(square(&word[..2])), Some(role), "{name}");
        assert_eq!(board.color_at(square(&word[2..4])), Some(!position.turn()), "{name}");
        // In check, it is the man that gives the check which would be taken.
        assert_eq!(position.is_check(), name.contains("check"), "{name}");
        let reason = if position.is_check() { "stays in check" } else { "would be in check" };
        assert!(why(name, word).contains(reason), "{name}: {}", why(name, word));
        if position.is_check() {
            assert_eq!(position.checkers().single_square(), Some(square(&word[2..4])), "{name}");
        }
    }
}

#[test]
fn a_check_is_not_answered_by_what_only_looks_like_it() {
    for (name, words) in [
        ("check-along-the-ray-white", &["e5d4", "e5f5", "e5f6"] as &[&str]),
        ("check-along-the-ray-black", &["f6e7", "f6g5"]),
        ("en-passant-no-answer-white", &["e5d6"]),
        ("en-passant-no-answer-black", &["e4d3"]),
    ] {
        let moves = at(name);
        assert!(moves.position().is_check(), "{name}");
        assert!(moves.position().legal_moves().len() <= 4, "{name}");
        for word in words {
            assert!(!legal(name, word), "{name} {word}");
        }
        if name.starts_with("en-passant") {
            let passed: Square = words[0][2..].parse().unwrap();
            assert_eq!(moves.position().pseudo_legal_ep_square(), Some(passed), "{name}");
        }
    }
}

#[test]
fn parts_of_the_long_game_stand_between_the_longest_list_and_its_end() {
    let listed = POSITIONS.iter().map(|(_, list)| list.split_ascii_whitespace().count()).max();
    let mut before = u32::try_from(listed.unwrap()).unwrap();
    for (name, plies) in PARTS {
        assert_eq!(*name, format!("after-{}-plies", plies.0));
        assert!(before < plies.0 && plies.0 - before <= 50, "{name}");
        before = plies.0;
        let all = all();
        let (_, moves) = all.iter().find(|(known, _)| known == name).unwrap();
        assert_eq!(moves.plies(), *plies);
        assert!(!moves.is_over());
    }
    assert!(LONG_GAME.0 - before <= 50);
    for odd in [0, 1] {
        assert!(PARTS.iter().any(|(_, plies)| plies.0 % 2 == odd));
    }
}

/// The number of times that each position of a list has stood on the board, the last one by its key.
fn repetitions(list: &[UciMove]) -> (HashMap<u64, u32>, u64) {
    let mut position = Chess::default();
    let mut seen = HashMap::new();
    let key = |position: &Chess| position.zobrist_hash::<Zobrist64>(EnPassantMode::Legal).0;
    *seen.entry(key(&position)).or_default() += 1;
    for one in list {
        position.play_unchecked(one.to_move(&position).unwrap());
        *seen.entry(key(&position)).or_default() += 1;
    }
    (seen, key(&position))
}

#[test]
fn draws_are_near_and_not_there() {
    for (name, plies) in [("fifty-moves-98", 98), ("fifty-moves-99", 99)] {
        let moves = at(name);
        assert_eq!(moves.position().halfmoves(), plies);
        let (seen, _) = repetitions(moves.list());
        assert!(seen.values().all(|count| *count < 3), "{name}");
    }
    for (name, word) in [("threefold-possible", "f6g8"), ("threefold-possible-late", "d7e6")] {
        let moves = at(name);
        let (seen, now) = repetitions(moves.list());
        assert_eq!(seen[&now], 2);
        let mut next = moves.clone();
        next.play(judge(moves.position(), word).unwrap());
        let (seen, now) = repetitions(next.list());
        assert_eq!(seen[&now], 3, "{name}");
    }
}

#[test]
fn queens_and_plain_positions() {
    let queens = at("many-queens");
    for color in [Color::White, Color::Black] {
        let board = queens.position().board();
        assert!((board.queens() & board.by_color(color)).count() >= 3);
    }
    assert!(at("endgame").position().board().occupied().count() <= 7);
    assert!(at("middlegame").position().board().occupied().count() >= 30);
    let start = written(&Chess::default());
    assert!(written(endgame().position()).is_disjoint(&start));
}

#[test]
fn long_games_are_playable_and_not_to_be_guessed() {
    for (plies, characters, moves) in
        [(340, 1700, long_game()), (1000, 4900, longer_game(Ply(1000)))]
    {
        assert_eq!(moves.plies().0, plies);
        assert!(moves.command().len() > characters);
        let end = written(moves.position());
        assert!(end.len() >= 5, "{plies}: {end:?}");
        assert!(moves.position().is_check());
        let mut position = Chess::default();
        for (ply, one) in moves.list().iter().enumerate() {
            assert!(!position.is_game_over(), "{plies}: over at {ply}");
            assert!(position.halfmoves() < 100, "{plies}: fifty moves at {ply}");
            if ply + 60 <= plies as usize {
                let shared = written(&position).intersection(&end).count();
                assert_eq!(shared, 0, "{plies}: guessable after {ply}");
            }
            position.play_unchecked(one.to_move(&position).unwrap());
        }
        let (seen, _) = repetitions(moves.list());
        assert!(seen.values().all(|count| *count < 3));
    }
    assert_eq!(longer_game(Ply(406)).plies(), Ply(406));
}
