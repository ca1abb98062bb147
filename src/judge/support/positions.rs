//! The positions of rules `legal-moves` and `long-game`, as move lists from the start position.
//!
//! Every list is legal and has the property that its name says; the tests prove it. The odd ones (a
//! double check, one legal move) come from games that nobody would play, because an engine must know
//! the rules and not the openings.
//!
//! The long games are made so that nobody passes them by luck: in their last position White must answer a
//! check with a move of a king far from home, and not one of its legal moves was legal in any position
//! of the game up to 60 plies before. An engine that ignores the list, or knows only its beginning (100
//! moves, 256 plies, 1,024 or 2,048 characters), has no way to answer legally.

use crate::engine::moves::Moves;
use crate::model::evidence::LONG_GAME;
use crate::model::units::Ply;

/// A name and a list.
type Listed = (&'static str, &'static str);

const MIDDLEGAME: &str = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 c2c3 g8f6 d2d3 d7d6 e1g1 e8g8 f1e1 a7a6 \
    a2a4 c5a7 h2h3 h7h6 b1d2 f8e8 d2f1 c8e6";

/// On the eve of a threefold, after 22 plies of a game.
const THREEFOLD_LATE: &str = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 c2c3 g8f6 d2d3 d7d6 e1g1 e8g8 f1e1 a7a6 a2a4 c5a7 h2h3 h7h6 \
    b1d2 f8e8 d2f1 c8e6 f1g3 e6d7 g3f1 d7e6 f1g3 e6d7 g3f1";

const ENDGAME: &str = "b2b4 f7f5 d2d4 e7e5 d4e5 f8b4 b1c3 b4c3 d1d2 c3d2 e1d2 e8f8 c1a3 d8e7 a3e7 g8e7 \
    e2e3 h7h5 f1d3 f5f4 e3f4 h5h4 d3f1 h4h3 g2h3 b7b6 c2c4 c7c5 a1b1 a7a6 b1b6 e7d5 c4d5 d7d6 e5d6 h8h4 \
    f1b5 a6b5 b6b5 h4f4 b5c5 f4f2 d2e1 f2a2 c5c8 f8f7 c8e8 f7e8 g1e2 e8d7 e2g3 d7d6 g3e2 d6d5 h1f1 d5e4 \
    e2c3 e4d3 c3a2 a8a2 f1f8 a2h2";

const POSITIONS: &[Listed] = &[
    // Castling allowed.
    (
        "castling-both-wings-white",
        "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 d2d3 d7d6 b1c3 b8c6 c1e3 c8e6 d1d2 d8d7",
    ),
    (
        "castling-both-wings-black",
        "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 d2d3 d7d6 b1c3 b8c6 c1e3 c8e6 d1d2 d8d7 h2h3",
    ),
    (
        "castling-long-past-attacked-b1",
        "d2d4 c7c5 d4c5 h7h6 e2e4 g7g6 d1h5 e7e6 c1e3 d8a5 b1d2 a5a2",
    ),
    // Castling denied.
    ("castling-through-check-white", "g1f3 f7f6 e2e4 b7b6 f1a6 c8a6"),
    ("castling-through-check-black", "d2d3 g7g6 b2b3 g8f6 h2h4 f8h6 c1h6"),
    ("castling-into-check-white", "g2g3 b7b6 f2f4 f7f6 g1f3 e7e6 f1g2 f8c5"),
    ("castling-long-into-check-white", "d2d3 e7e5 c1h6 g8h6 d1d2 f8a3 b1c3 a3b2"),
    ("castling-into-check-black", "e2e4 e7e5 f1c4 f7f6 g1f3 f8c5 a2a3 g8h6 a3a4"),
    ("castling-long-into-check-black", "g2g3 b7b6 f1h3 c8a6 e2e3 d7d5 a2a3 d8d6 a3a4 b8c6 g1f3"),
    (
        "castling-long-through-check-black",
        "d2d3 e7e5 g2g3 d8g5 c1g5 b7b6 g3g4 d7d6 d3d4 c8a6 c2c3 b8c6 d1b3",
    ),
    ("castling-long-through-check-white", "d2d4 d7d6 b1c3 c8g4 c1f4 a7a6 d1d3 h7h6 e2e4 b7b6"),
    ("castling-out-of-check-white", "e2e4 e7e6 g1h3 d8f6 f1d3 f6f2"),
    ("castling-out-of-check-black", "e2e4 e7e6 g2g3 b7b5 f1b5 f8a3 b1c3 g8h6 b5d7"),
    ("castling-after-king-moved", "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1e2 d7d6 e2e1 a7a6"),
    ("castling-after-king-moved-black", "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 a2a3 e8e7 a3a4 e7e8 h2h3"),
    ("castling-after-rook-moved", "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 h1g1 d7d6 g1h1 a7a6"),
    ("castling-after-rook-moved-black", "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 a2a3 h8g8 a3a4 g8h8 h2h3"),
    (
        "castling-long-after-rook-moved-white",
        "d2d4 d7d5 b1c3 b8c6 c1f4 c8f5 d1d3 d8d6 a1b1 a7a6 b1a1 h7h6",
    ),
    (
        "castling-long-after-rook-moved-black",
        "d2d4 d7d5 b1c3 b8c6 c1f4 c8f5 d1d3 d8d6 a2a3 a8b8 a3a4 b8a8 h2h3",
    ),
    ("castling-after-rook-captured", "g2g4 b7b6 f1h3 c8b7 d2d3 b7h1 g1f3 h7h6"),
    ("castling-after-rook-captured-black", "b2b3 g7g6 c1b2 f8h6 b2h8 e7e6 e2e3 g8e7 e3e4"),
    (
        "castling-long-after-rook-captured-white",
        "b2b3 g7g6 c1a3 f8g7 d2d3 g7a1 d1d2 h7h6 b1c3 a7a6",
    ),
    (
        "castling-long-after-rook-captured-black",
        "h2h3 b7b6 g2g3 c8a6 f1g2 d7d6 g2a8 d8d7 h3h4 b8c6 h4h5",
    ),
    // A rook that went there from its other corner, and a right that was lost by a capture that promotes.
    (
        "castling-with-the-other-rook-white",
        "e2e4 b7b6 g1h3 c8b7 f1c4 b7e4 a2a4 e4g2 a1a3 g2h1 h3f4 h1e4 h2h4 a7a6 a3h3 a6a5 h3h1 h7h6",
    ),
    (
        "castling-with-the-other-rook-black",
        "h2h3 e7e5 b2b3 g8h6 c1b2 f8c5 b2e5 a7a5 e5g7 a8a6 g7h8 h6f5 h8e5 h7h5 a2a3 a6h6 a3a4 h6h8 h3h4",
    ),
    (
        "castling-after-a-promotion-took-the-rook",
        "h2h3 b7b5 a2a4 d7d5 a4b5 c8f5 b5b6 d8d6 b6b7 b8c6 b7a8n h7h6 g2g3",
    ),
    ("castling-long-over-a-knight-white", "d2d4 d7d5 c1f4 c8f5 d1d3 d8d6"),
    ("castling-long-over-a-knight-black", "d2d4 d7d5 c1f4 c8f5 d1d3 d8d6 h2h3"),
    // The check alone forbids it, on both wings but for that of the pawn.
    (
        "castling-out-of-check-by-a-bishop-white",
        "b1a3 g7g6 g1h3 b7b6 e2e4 a7a5 f1b5 f7f6 d1g4 a8a7 d2d3 g6g5 c1f4 e7e5 g2g3 f8b4",
    ),
    (
        "castling-out-of-check-by-a-rook-white",
        "b1a3 g7g6 g1h3 b7b6 e2e4 a7a5 f1b5 f7f6 d1g4 a8a7 d2d3 h7h6 c1g5 h6g5 g4g5 h8h3 b5c6 h3e3",
    ),
    (
        "castling-out-of-check-by-a-pawn-white",
        "d2d4 a7a5 c1f4 d7d6 d1d2 f7f6 b1c3 g7g5 c3b5 g8h6 h2h3 g5g4 f4e3 g4g3 c2c4 g3f2",
    ),
    (
        "castling-out-of-check-by-a-knight-black",
        "g2g4 b8c6 b1a3 g8f6 b2b3 d7d5 h2h4 c8g4 a3b5 d8d6 h4h5 g7g6 f1h3 f8h6 c2c4 d6d7 b5c7",
    ),
    (
        "castling-out-of-check-by-a-queen-black",
        "e2e4 b8c6 f1d3 g8h6 b1a3 e7e5 d1g4 f8c5 g1e2 d8f6 g4g3 b7b5 d3b5 c8b7 f2f3 b7a6 g3e5",
    ),
    ("castling-out-of-check-by-a-pawn-black", "c2c4 g8h6 c4c5 g7g6 e2e4 f8g7 c5c6 a7a6 c6d7"),
    // One square that the king passes is attacked on each wing, by such men alone.
    (
        "castling-past-a-pawn-white",
        "g1f3 e7e5 b1c3 e5e4 d2d3 e4d3 c1g5 d3e2 d1d4 f8b4 g2g3 b4a5 f1h3 b8c6",
    ),
    (
        "castling-past-a-pawn-black",
        "d2d4 g8h6 d4d5 b8a6 d5d6 g7g6 d6e7 f8g7 h2h3 d7d5 e1d2 c8f5 g2g3 d8d7 a2a3",
    ),
    (
        "castling-past-a-knight-white",
        "g1h3 g8h6 b1a3 h6f5 e2e4 f5e3 d1f3 b7b5 f1d3 c7c6 b2b3 d8b6 c1b2 h8g8",
    ),
    (
        "castling-past-a-knight-black",
        "g1h3 g8h6 h3g5 b8c6 g5e6 d7d5 b1c3 d8d6 g2g3 c8d7 f1g2 g7g5 e1f1 f8g7 a2a4",
    ),
    (
        "castling-past-rook-and-queen-white",
        "g1f3 c7c5 b1c3 d8c7 e2e4 c7g3 f1c4 g3f3 d2d4 b7b5 c1g5 e8d8 d1d3 a7a5 d3d2 f3h5 e4e5 a8a6 d2f4 a6f6 f4h4 f6f2",
    ),
    (
        "castling-past-queen-and-rook-black",
        "e2e4 g8f6 d1g4 b8c6 g4g7 e7e5 h2h4 f8b4 g7h6 d8e7 h1h3 b7b5 a2a3 c8b7 h3d3 b4a3 d3d7",
    ),
    ("castling-after-a-knight-took-the-rook-white", "g1h3 g8f6 e2e3 f6e4 g2g3 e4f2 f1d3 f2h1"),
    ("castling-after-a-knight-took-the-rook-black", "g1f3 e7e5 f3g5 g8h6 g5f7 f8e7 f7h8"),
    ("castling-long-after-a-knight-took-the-rook-white", "d2d4 b8c6 c1h6 c6d4 d1d2 d4b3 b1a3 b3a1"),
    (
        "castling-long-after-a-knight-took-the-rook-black",
        "b1c3 d7d6 c3a4 c8e6 a4b6 d8d7 b6a8 b8a6 g2g4",
    ),
    // A man of the other side in the way, where castling would take it.
    ("castling-onto-a-bishop-white", "f2f4 e7e6 g2g3 f8c5 f1g2 a7a6 g1f3 c5g1"),
    ("castling-onto-a-bishop-black", "f2f4 f7f5 e2e4 f5e4 b1c3 g7g6 f1c4 f8g7 g1h3 g8f6 c4g8"),
    ("castling-long-onto-a-knight-white", "c2c4 b8a6 d1b3 a6c5 b1c3 c5b3 h2h3 b3c1"),
    ("castling-long-onto-a-knight-black", "b1a3 c7c5 a3c4 d8b6 c4b6 b8c6 b6c8"),
    ("kings-face-to-face", "f2f4 f7f5 e1f2 e8f7 f2g3 f7g6 g3h4"),
    // Three squares are denied by the other king alone.
    ("kings-face-to-face-upwards", "f2f4 e7e5 e1f2 e8e7 f2e3 e7e6 e3e4 d8e7"),
    ("kings-face-to-face-downwards", "e2e3 d7d6 e1e2 e8d7 e2d3 d7c6 d3c4"),
    (
        "kings-side-by-side-to-the-right",
        "d2d4 e7e5 e1d2 e8e7 d2e3 e7f6 d1d2 f6g5 e3e4 g5g4 d4e5 f7f6",
    ),
    ("kings-side-by-side-to-the-left", "e2e3 d7d6 e1e2 e8d7 e2d3 d7e6 d3c3 e6f5 c3d4 b8a6 d4d5"),
    // En passant.
    ("en-passant-white", "e2e4 a7a6 e4e5 d7d5"),
    ("en-passant-black", "a2a3 e7e5 a3a4 e5e4 d2d4"),
    ("en-passant-two-ways-black", "g1h3 a7a5 c2c3 b7b5 c3c4 b5c4 e2e4 a5a4 b2b4"),
    (
        "en-passant-answers-check",
        "h2h3 f7f6 a2a4 a7a5 c2c4 e8f7 d2d3 f6f5 f2f3 f5f4 b2b3 f7f6 e1f2 f6f5 b1c3 e7e6 e2e4",
    ),
    ("en-passant-no-answer-white", "e2e4 a7a6 e4e5 a6a5 f2f3 a5a4 e1f2 a4a3 f2g3 h7h6 g3h3 d7d5"),
    (
        "en-passant-no-answer-black",
        "a2a3 e7e5 a3a4 e5e4 a4a5 f7f6 a5a6 e8f7 h2h3 f7g6 b2b3 g6h6 d2d4",
    ),
    ("en-passant-a-move-too-late", "e2e4 a7a6 e4e5 d7d5 h2h3 h7h6"),
    ("en-passant-after-a-single-step", "e2e4 d7d6 a2a3 a7a6 e4e5 d6d5"),
    // A double step, and then no quiet move that would take the square back: for the pawns of its own side, and a move too late for the others.
    ("no-en-passant-after-a-capture", "g1f3 b8c6 f3d4 a7a6 e2e4 c6d4"),
    ("no-en-passant-after-a-pawn-takes", "e2e4 d7d5 a2a4 d5e4"),
    ("no-en-passant-after-a-promotion", "a2a3 h7h5 g2g4 h5g4 h2h3 g4h3 b2b3 h3h2 e2e4 h2g1q"),
    ("no-en-passant-after-castling", "a2a3 g8f6 a3a4 g7g6 a4a5 f8g7 d2d4 e8g8"),
    ("en-passant-too-late-after-a-capture", "e2e4 b8c6 e4e5 c6d4 g1f3 d7d5 f3d4 a7a6"),
    ("en-passant-too-late-after-a-pawn-takes", "e2e4 a7a6 e4e5 a6a5 b2b4 d7d5 b4a5 h7h6"),
    (
        "en-passant-too-late-after-a-promotion",
        "h2h4 g7g5 h4g5 h7h6 g5h6 a7a6 h6h7 a6a5 e2e4 b7b6 e4e5 d7d5 h7g8q b6b5",
    ),
    ("en-passant-too-late-after-castling", "e2e4 e7e6 e4e5 a7a6 g1f3 a6a5 f1e2 d7d5 e1g1 h7h6"),
    (
        "en-passant-pinned-on-the-rank",
        "g2g4 a7a5 g4g5 a5a4 e2e3 a8a5 e1e2 b7b6 e2f3 b8c6 f3g4 c6b8 g4h5 f7f5",
    ),
    (
        "en-passant-pinned-on-the-rank-black",
        "c2c3 g7g5 a2a4 g5g4 a4a5 e7e6 a1a4 e8e7 b2b3 e7f6 b1a3 f6g5 a3b1 g5h4 f2f4",
    ),
    ("en-passant-pinned-on-the-diagonal", "e2e4 c7c6 e4e5 d8c7 e1e2 a7a6 e2f3 a6a5 f3g3 f7f5"),
    (
        "en-passant-pinned-black",
        "e2e4 f7f5 g1f3 e7e5 f3e5 g7g6 g2g4 d8g5 e5d3 g5e3 f1e2 e3e2 d1e2 f5e4 e1f1 a7a5 f2f4",
    ),
    // A pawn on the other edge takes there on a board of 64 squares in a row whose edges nobody minds.
    ("en-passant-beyond-the-edge-h4-a6", "h2h4 g8f6 a2a3 a7a5"),
    ("en-passant-beyond-the-edge-a6-h6", "a2a4 g8f6 a4a5 f6g8 a5a6 h7h5"),
    ("en-passant-beyond-the-edge-a5-h3", "a2a3 a7a5 h2h4"),
    ("en-passant-beyond-the-edge-h3-a3", "g1f3 h7h5 f3g1 h5h4 g1f3 h4h3 a2a4"),
    // Castled, taken or promoted in the list, so that a check stands on the board which an engine that plays the move by halves does not see.
    ("after-castling-short-white", "e2e3 g8h6 f1b5 f7f5 f2f3 g7g6 e3e4 f5e4 f3e4 f8g7 e1f1 e8g8"),
    (
        "after-castling-short-black",
        "g1h3 e7e6 f2f4 f8b4 g2g3 f7f6 f1g2 e6e5 f4e5 f6e5 a2a3 e8f8 e1g1",
    ),
    ("after-castling-long-white", "e2e4 d7d5 a2a3 d5e4 d2d3 c8f5 d3e4 d8d1 e1d1 b8c6 h2h3 e8c8"),
    ("after-castling-long-black", "d2d4 e7e5 d4e5 d7d6 c1f4 d6e5 d1d8 e8d8 b1c3 a7a6 e1c1"),
    ("after-en-passant-white", "f2f3 e7e5 e1f2 e5e4 a2a3 f8c5 d2d4 e4d3"),
    ("after-en-passant-black", "e2e4 f7f6 e4e5 e8f7 f1c4 d7d5 e5d6"),
    ("after-promotion-to-knight-white", "a2a3 f7f5 g2g4 f5g4 f2f3 g4g3 f3f4 g3g2 e1f2 g2h1n"),
    ("after-promotion-to-knight-black", "f2f4 g7g5 f4g5 f7f6 g5g6 f6f5 g6g7 e8f7 g7h8n"),
    // Castled in the list: a rook that is left in the corner could take a queen.
    ("rook-gone-from-a1", "d2d4 c7c6 c1f4 h7h6 d1d3 h6h5 b1d2 h5h4 a2a4 d8a5 e1c1 a5a4"),
    (
        "rook-gone-from-a8",
        "c2c4 g7g6 h2h4 b8a6 f2f3 d7d6 g2g3 c8h3 d1a4 d8d7 f1h3 e8c8 a4a6 h7h5 a6a7",
    ),
    ("rook-gone-from-h8", "e2e4 e7e6 a2a3 f8d6 a3a4 g8e7 a4a5 h7h5 b2b3 e8g8 d1h5"),
    // Moves of the list that look like another: what is read as castling, as en passant or as a promotion to a queen leaves another board, on
    // which a check is not seen, or a piece that stands to be taken can be.
    (
        "after-e1g1-of-a-queen",
        "h2h4 g7g5 h4g5 e7e5 e2e4 f7f6 f1c4 e8e7 g1f3 b7b5 e1e2 a7a6 d1e1 a6a5 e1g1 a5a4 h1h7",
    ),
    (
        "after-e8c8-of-a-queen",
        "b2b4 a7a5 d2d4 a5b4 c2c4 e7e6 e2e4 b7b6 e1e2 c8b7 e4e5 e8e7 h2h3 d8e8 h3h4 g8f6 g2g3 e8c8 f2f3 a8a2",
    ),
    (
        "after-a-knight-passes-a-pawn",
        "e2e4 b8c6 e1e2 c6b4 e2e3 h7h6 b1c3 h6h5 c3b5 d7d5 b5d6 e7d6 a2a3 d5d4",
    ),
    (
        "after-promotion-to-rook",
        "h2h4 g7g5 h4g5 h7h6 g5h6 f7f6 h6h7 c7c5 h7g8r d8a5 g2g3 a5b4 g3g4 b4c4",
    ),
    ("after-promotion-to-bishop", "h2h4 g7g5 h4g5 h7h6 g5h6 e7e5 h6h7 d8g5 h7g8b a7a6"),
    (
        "after-promotion-to-rook-black",
        "a2a3 h7h5 g2g4 h5g4 h2h3 g4h3 f2f3 h3h2 c2c4 h2g1r d1a4 g7g6 a4b5 g6g5 b5c5",
    ),
    ("after-promotion-to-bishop-black", "a2a3 h7h5 g2g4 h5g4 h2h3 g4h3 e2e4 h3h2 d1g4 h2g1b a3a4"),
    // Promotions, all four at once.
    ("promotion-by-push-white", "f2f4 g7g5 f4g5 g8h6 g5g6 a7a6 e2e4 h8g8 g6h7 g8g5"),
    ("promotion-by-capture-white", "f2f4 g8h6 f4f5 a7a5 f5f6 d7d6 f6g7 c7c5"),
    ("promotion-by-push-black", "b2b4 f7f5 c1b2 d7d5 b2g7 d5d4 e2e3 f5f4 c2c4 d4e3 d1c2 e3d2 e1e2"),
    ("promotion-by-capture-black", "d2d4 f7f5 g2g3 f5f4 f1g2 f4g3 d1d2 g3f2 e1f1"),
    (
        "promotion-or-hardly-anything",
        "b2b3 b8c6 c1b2 a8b8 b2g7 f7f5 g1h3 h7h5 b3b4 c6b4 h3g1 b4a2 e2e4 e7e6 e4f5 h5h4 f5e6 b7b6 d1h5 \
         e8e7 a1a2 b6b5 h5e8 d8e8 e6d7 c7c6 g7f8 e7f8",
    ),
    // Checks and pins.
    ("check-white", "d2d4 e7e6 c2c4 f8b4"),
    ("check-black", "e2e4 c7c6 d2d4 d7d5 e4d5 c6d5 f1b5"),
    ("double-check-black", "c2c3 e7e6 e2e4 d8h4 d1f3 f7f5 f3e2 g7g6 e4f5 d7d6 f5e6 c8d7 e6d7"),
    (
        "double-check-white",
        "h2h4 g8h6 d2d3 f7f6 e1d2 g7g6 a2a4 f8g7 g1h3 b7b5 a4b5 h6f5 a1a7 g7h6 e2e3 f5e3 a7a8 e3c4",
    ),
    ("pin-white", "e2e4 e7e5 d2d3 f8b4 b1c3 d7d6"),
    ("pin-black", "e2e4 e7e5 g1f3 d7d6 d2d4 b8c6 f1b5"),
    // Each piece pinned, with something to take; and pinned where it could answer a check, or promote.
    ("pinned-queen-white", "g1h3 c7c6 f2f3 b7b6 b2b3 e7e5 d2d4 e5d4 c1a3 f8b4 d1d2 b8a6"),
    ("pinned-queen-black", "b2b3 d7d6 e2e4 d6d5 f1b5 d8d7 a2a4 g7g6 d1g4"),
    ("pinned-rook-white", "a2a4 e7e6 d2d4 d8h4 a1a3 a7a6 a3c3 f8b4"),
    ("pinned-rook-black", "a2a3 a7a5 e2e3 d7d5 d1h5 a8a6 h2h4 a6c6 f1b5"),
    ("pinned-bishop-white", "d2d3 e7e5 g2g3 g8h6 h2h3 g7g6 h3h4 f8b4 c1d2 a7a5"),
    ("pinned-bishop-black", "e2e4 b7b5 g2g3 d7d6 g1h3 g7g6 f1b5 c8d7 a2a4"),
    ("pinned-pawn-white", "f2f3 f7f5 e1f2 f5f4 a2a3 c7c6 e2e3 d8b6"),
    ("pinned-pawn-black", "c2c3 a7a6 f2f4 f7f6 f4f5 e8f7 d1b3 e7e6 b1a3"),
    (
        "pinned-pawn-promotes-white",
        "f2f4 e7e5 e1f2 f7f5 f2g3 d8g5 f4g5 f8c5 g5g6 c7c6 g6h7 b7b6 g3h4 e8e7",
    ),
    (
        "pinned-pawn-promotes-black",
        "a2a3 f7f5 e2e4 e8f7 f2f4 f7g6 d1g4 f5g4 f1c4 g4g3 c2c3 g3h2 b2b3 g6h5 e1e2",
    ),
    ("pinned-answers-check-white", "d2d3 f7f6 e2e3 h7h5 e1d2 b8c6 d1h5 h8h5 d2e2 h5e5 f2f3 c6d4"),
    (
        "pinned-answers-check-black",
        "b1a3 g7g6 g2g3 f7f6 f2f4 b7b5 a3b5 a7a5 f1h3 c7c5 c2c4 c8a6 h3d7 d8d7 d1a4 h7h6 b5c7",
    ),
    // The king may not go on along the ray, nor take what is guarded: one move is left.
    (
        "check-along-the-ray-white",
        "e2e3 g8f6 e1e2 e7e5 b2b3 f6h5 b1a3 b7b6 e2f3 e5e4 f3e4 h7h6 c1b2 f7f5 e4e5 d8f6",
    ),
    (
        "check-along-the-ray-black",
        "h2h3 h7h5 d2d4 h8h6 d1d2 h6c6 b2b4 e7e5 b4b5 e8e7 e1d1 e7f6 d2g5",
    ),
    // One legal move.
    ("one-move-white", "b1a3 e7e5 f2f3 d8h4"),
    ("one-move-black", "e2e4 f7f6 d1h5"),
    ("one-move-king-takes", "e2e4 b8a6 f1c4 f7f6 c4f7"),
    // Draws near.
    ("threefold-possible", "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1"),
    ("threefold-possible-late", THREEFOLD_LATE),
    ("fifty-moves-98", FIFTY_98),
    ("fifty-moves-99", FIFTY_99),
    // Few men, and no draw: a pawn, a rook or more on one side.
    ("lone-pawn-strong", LONE_PAWN_STRONG),
    ("lone-pawn-weak", LONE_PAWN_WEAK),
    ("lone-rook-weak", LONE_ROOK),
    ("four-men", FOUR_MEN),
    // Plain, and not so plain.
    ("opening", "d2d4 g8f6 c2c4 g7g6 b1c3 d7d5 c4d5 f6d5 e2e4 d5c3 b2c3 f8g7"),
    ("middlegame", MIDDLEGAME),
    ("endgame", ENDGAME),
    (
        "many-queens",
        "a2a4 f7f6 d2d4 d7d5 h2h4 g7g5 h4g5 h7h5 c2c4 d5c4 g5g6 h5h4 g2g4 h4h3 b2b4 h3h2 f2f4 h2g1q b4b5 \
         c4c3 d4d5 b7b6 a4a5 b6a5 f4f5 a5a4 g6g7 e7e6 g7h8q a7a6 d5d6 e6f5 b5a6 a4a3 d6c7 f5g4 c7b8q c3c2 \
         h8f6 c2b1q",
    ),
];

// One move short of the limit and one ply short, without a position seen twice.
macro_rules! fifty_98 {
    () => {
        "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 c2c3 g8f6 d2d3 d7d6 e1g1 e8g8 f1e1 a7a6 a2a4 c5a7 h2h3 h7h6 b1d2 \
    f8e8 d2f1 c8e6 c4a2 c6a5 a2d5 g8h8 e1e2 e8e7 c1d2 e7d7 d1c2 a7e3 f3h2 d8e7 d2e1 a5b3 c2b1 e3d2 \
    b1c1 a8g8 c1d1 b3a5 h2f3 a5b3 d1c2 f6g4 f3g5 g8a8 c2d1 g4e3 f1g3 e3c2 e2e3 c2b4 d1b1 e7f6 g1h2 \
    d2c1 g5h7 e6g4 g3h5 f6f3 d5c6 d7e7 b1c2 b3a5 a1a2 h8g8 c2b3 g4f5 e1d2 f5c8 h2h1 c8d7 c6b5 b4c2 \
    h7f6 g8h8 a2a1 d7c8 b3d5 c2a3 d5c6 f3f4 a1b1 a3c4 b1a1 f4h4 d2e1 c4b6 a1b1 h4f4 c6d7 a5b3 d7c6 \
    b3c5 c6d5 f4g3 b5d7 c1d2 b1a1 e7e6 h5f4 d2c1 d5a2 a8b8 f6h5 b6c4 a2b3 c1d2 b3b4 e6g6 b4b3 d2c1 \
    d7e8 b8a8"
    };
}

const FIFTY_98: &str = fifty_98!();
const FIFTY_99: &str = concat!(fifty_98!(), " f4e6");

// Hardly any men are left: the last pawn but one stands to be taken.
macro_rules! four_men {
    () => {
        "b2b4 e7e5 c1a3 f8b4 a3b4 b7b5 d1c1 a7a5 b4a5 a8a5 f2f4 e5f4 b1a3 a5a3 g2g4 a3a2 a1a2 g8f6 e1f2 f6g4 \
        f2f3 g4h2 h1h2 e8e7 f3f4 h8e8 h2h7 e7f6 h7g7 e8e2 g1e2 f6g7 c1d1 d8f6 f4g4 d7d6 g4h5 f6g6 h5h4 c8e6 \
        a2a5 e6g4 a5b5 g4e2 b5b8 e2d1 b8b2 d1c2 b2c2 g6g2 c2c7 g2h2 h4g5 h2h4 g5h4 g7f6 c7f7 f6f7 f1h3 d6d5 \
        h3g2 f7e6 g2d5"
    };
}

const FOUR_MEN: &str = four_men!();
const LONE_PAWN_STRONG: &str = concat!(four_men!(), " e6d5");
const LONE_PAWN_WEAK: &str = concat!(four_men!(), " e6d5 h4g4");

/// A king and a rook against a king.
const LONE_ROOK: &str = "c2c4 c7c6 d2d4 g8h6 c1h6 g7h6 g1f3 c6c5 d4c5 d8a5 f3d2 a5d2 e1d2 d7d6 c5d6 e7d6 d2c1 f7f5 d1d6 f8d6 e2e4 \
    d6h2 e4f5 c8f5 h1h2 f5b1 c1b1 e8d8 h2h6 b8a6 h6h7 h8h7 c4c5 a6c5 b2b4 h7f7 b4c5 f7f2 a2a3 f2g2 f1g2 d8d7 \
    g2b7 a8g8 b7c8 g8c8 c5c6 c8c6 b1a2 c6c5 a3a4 d7e6 a1e1 e6d5 e1e3 c5a5 a2b3 a5a4 b3a4 d5d6 a4b5 d6d7 e3c3 \
    d7e6 c3c7 e6e5 c7a7";

/// 340 plies, as many as the longest of 1,148 games of real 4k events.
const LONG_340: &str = include_str!("long-340.txt");

/// 1,000 plies.
const LONG_1000: &str = include_str!("long-1000.txt");

/// Parts of the long game, between the longest of the lists above and all of it.
const PARTS: &[(&str, Ply)] = &[
    ("after-129-plies", Ply(129)),
    ("after-156-plies", Ply(156)),
    ("after-200-plies", Ply(200)),
    ("after-245-plies", Ply(245)),
    ("after-290-plies", Ply(290)),
];

/// All positions of rule `legal-moves`.
pub(crate) fn all() -> Vec<(&'static str, Moves)> {
    let listed = POSITIONS.iter().map(|(name, list)| (*name, known(list)));
    let parts = PARTS.iter().map(|(name, plies)| (*name, first_plies(LONG_340, *plies)));
    listed.chain(parts).collect()
}

/// A quiet position with much to think about, for questions about the clock.
pub(crate) fn middlegame() -> Moves {
    known(MIDDLEGAME)
}

/// The same a ply before, with Black to move.
pub(crate) fn middlegame_as_black() -> Moves {
    first_plies(MIDDLEGAME, Ply(21))
}

/// As late as many games of events end, with White to move.
pub(crate) fn late_in_a_game() -> Moves {
    first_plies(LONG_340, Ply(156))
}

/// A position that shares no legal move with the start position, for questions about FEN.
pub(crate) fn endgame() -> Moves {
    known(ENDGAME)
}

/// The long game of as many plies as the events' longest.
pub(crate) fn long_game() -> Moves {
    known(LONG_340)
}

/// The same a ply before its end, where the side that is lost there is not to move.
pub(crate) fn before_the_long_games_end() -> Moves {
    first_plies(LONG_340, Ply(LONG_GAME.0 - 1))
}

/// The first so many of 1,000 plies.
pub(crate) fn longer_game(plies: Ply) -> Moves {
    first_plies(LONG_1000, plies)
}

fn first_plies(list: &str, plies: Ply) -> Moves {
    let words: Vec<&str> = list.split_ascii_whitespace().take(plies.0 as usize).collect();
    known(&words.join(" "))
}

/// Reads one of the lists above.
fn known(list: &str) -> Moves {
    // invariant: `every_list_is_legal` reads them all, so the default is never taken
    Moves::read(list).unwrap_or_default()
}

#[cfg(test)]
mod tests;
