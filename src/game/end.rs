//! When a game ends by the rules on the board (rule 2 of the event), and which moves are legal.

use shakmaty::uci::UciMove;
use shakmaty::{
    Bitboard, CastlingMode, CastlingSide, Chess, Move, Position, Role, Square, attacks,
};

pub use super::ending::{Ending, GameResult, Reason};
use crate::model::units::Ply;

/// What the referee looks for besides mate, stalemate, threefold and fifty moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Material {
    /// Positions in which neither side can mate are drawn, as the real events play.
    Draws,
    /// The letter of rule 2.2: the game goes on.
    PlaysOn,
}

/// Follows a game and says when the rules on the board end it.
///
/// A repetition is the same placement, side to move, castling rights, and the same possible en passant
/// captures (a right to capture that no legal move can use does not count).
#[derive(Clone, Debug)]
pub struct Referee {
    position: Chess,
    /// Every position since the last move that cannot be taken back, the present one last.
    since: Vec<Chess>,
    plies: Ply,
    material: Material,
}

impl Referee {
    /// A game from this position.
    #[must_use]
    pub fn new(start: Chess, material: Material) -> Referee {
        let mut since = Vec::with_capacity(128);
        since.push(start.clone());
        Referee { position: start, since, plies: Ply(0), material }
    }

    /// The position reached.
    #[must_use]
    pub fn position(&self) -> &Chess {
        &self.position
    }

    /// The plies played, from this game's start position.
    #[must_use]
    pub fn plies(&self) -> Ply {
        self.plies
    }

    /// The legal move that UCI writes like this. Castling is the king's move of two squares.
    #[must_use]
    pub fn find(&self, said: UciMove) -> Option<Move> {
        let UciMove::Normal { from, to, promotion } = said else { return None };
        let (position, board) = (&self.position, self.position.board());
        let piece = board.piece_at(from).filter(|piece| piece.color == position.turn())?;
        let is_said = |one: &Move| one.to_uci(CastlingMode::Standard) == said;
        // A step of the king, and a move of a piece that nothing can hold, are judged by where they lead.
        let simple = match piece.role {
            Role::King => king_may_step(position, from, to),
            Role::Pawn => false,
            _ => {
                is_free(position, from)
                    && attacks::attacks(from, piece, board.occupied()).contains(to)
            }
        };
        if simple && promotion.is_none() && !position.us().contains(to) {
            let capture = board.role_at(to);
            return Some(Move::Normal { role: piece.role, from, capture, to, promotion });
        }
        if piece.role == Role::King {
            let castling =
                CastlingSide::ALL.into_iter().flat_map(|side| position.castling_moves(side));
            return castling.into_iter().find(is_said);
        }
        position.san_candidates(piece.role, to).into_iter().find(is_said)
    }

    /// Plays one of the legal moves here and says whether the game is over.
    pub fn play(&mut self, one: Move) -> Option<Ending> {
        // Castling and moves of king or rook keep the list: the castling rights in the positions
        // themselves tell them apart.
        let zeroing = one.is_capture() || one.role() == Role::Pawn;
        self.position.play_unchecked(one);
        self.plies = Ply(self.plies.0.saturating_add(1));
        if zeroing {
            self.since.clear();
        }
        self.since.push(self.position.clone());
        self.ending()
    }

    /// Whether the game is over here, by the rules on the board.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        if !can_move(&self.position) {
            return Some(if self.position.is_check() {
                Ending::win(!self.position.turn(), Reason::Mate)
            } else {
                Ending::draw(Reason::Stalemate)
            });
        }
        if self.material == Material::Draws && self.position.is_insufficient_material() {
            return Some(Ending::draw(Reason::InsufficientMaterial));
        }
        if self.position.halfmoves() >= 100 {
            return Some(Ending::draw(Reason::FiftyMoves));
        }
        if self.occurrences() >= 3 {
            return Some(Ending::draw(Reason::Threefold));
        }
        None
    }

    /// How often this position has been on the board, now included.
    fn occurrences(&self) -> usize {
        // Back to it takes both sides two moves at least.
        1 + self.since.iter().rev().step_by(2).skip(2).filter(|one| **one == self.position).count()
    }
}

/// Whether there is a legal move. A list of all is made only where nothing simpler shows that there is one.
fn can_move(position: &Chess) -> bool {
    let king = position.board().king_of(position.turn());
    let steps =
        |king| attacks::king_attacks(king).into_iter().any(|to| king_may_step(position, king, to));
    has_free_pawn(position) || king.is_some_and(steps) || !position.legal_moves().is_empty()
}

/// Whether it is a step of the king to where nothing attacks it, itself no longer in the way.
fn king_may_step(position: &Chess, king: Square, to: Square) -> bool {
    let (board, them) = (position.board(), !position.turn());
    (attacks::king_attacks(king) & !position.us()).contains(to)
        && board.attacks_to(to, them, board.occupied().without(king)).is_empty()
}

/// Whether a pawn can step forward that neither a check nor a pin can hold.
fn has_free_pawn(position: &Chess) -> bool {
    let free = position.our(Role::Pawn) & !holdable(position);
    let ahead = free.shift(position.turn().fold_wb(8, -8)) & !position.board().occupied();
    ahead.any() && position.checkers().is_empty()
}

/// Whether the piece there may go wherever it can.
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
    use crate::game::lots::drawn_by_lot;
    use shakmaty::fen::Fen;

    fn start(fen: &str) -> Chess {
        fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
    }

    /// Plays words until an end comes, and says after how many plies.
    fn play(referee: &mut Referee, moves: &str) -> Option<(u32, Ending)> {
        for word in moves.split_whitespace() {
            let one = referee
                .find(word.parse().unwrap())
                .unwrap_or_else(|| panic!("{word} is not legal"));
            if let Some(ending) = referee.play(one) {
                return Some((referee.plies().0, ending));
            }
        }
        None
    }

    fn from_start(moves: &str) -> Option<(u32, Ending)> {
        play(&mut Referee::new(Chess::default(), Material::Draws), moves)
    }

    #[test]
    fn mate_and_stalemate() {
        let (ply, end) = from_start("f2f3 e7e5 g2g4 d8h4").unwrap();
        assert_eq!((ply, end.result.word()), (4, "0-1"));
        assert_eq!(end.details(), "Black mates");
        assert_eq!(end.termination(), None);
        let mut game = Referee::new(start("7k/8/6K1/8/8/8/8/5Q2 w - - 98 80"), Material::Draws);
        let (_, end) = play(&mut game, "f1f7").unwrap();
        assert_eq!(end, Ending::draw(Reason::Stalemate));
    }

    #[test]
    fn mate_on_the_hundredth_ply_is_mate() {
        let mut game = Referee::new(start("7k/8/6K1/8/8/8/8/R7 w - - 99 80"), Material::Draws);
        assert_eq!(play(&mut game, "a1a8").unwrap().1.reason, Reason::Mate);
        let mut game = Referee::new(start("7k/8/6K1/8/8/8/8/R7 w - - 99 80"), Material::Draws);
        assert_eq!(play(&mut game, "a1a7").unwrap().1.reason, Reason::FiftyMoves);
    }

    #[test]
    fn the_third_time_counts_the_start() {
        let shuffle = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8";
        assert_eq!(from_start(shuffle), Some((8, Ending::draw(Reason::Threefold))));
        // After a pawn move the earlier ones cannot come again.
        let moves = format!("g1f3 g8f6 f3g1 f6g8 e2e4 e7e5 {shuffle}");
        assert_eq!(from_start(&moves), Some((14, Ending::draw(Reason::Threefold))));
    }

    #[test]
    fn lost_castling_rights_make_another_position() {
        // The rook's trip takes a right: the position after it is new, whatever the board looks like.
        let mut game = Referee::new(start("r3k3/8/8/8/8/8/8/4K2R w Kq - 0 1"), Material::Draws);
        let trip = "h1h2 a8a7 h2h1 a7a8 h1h2 a8a7 h2h1 a7a8";
        assert_eq!(play(&mut game, trip), None);
        let (ply, end) = play(&mut game, "h1h2 a8a7").unwrap();
        assert_eq!((ply, end.reason), (10, Reason::Threefold));
    }

    #[test]
    fn only_an_en_passant_capture_that_is_legal_makes_another_position() {
        let there = "e8d8 e1d1 d8e8 d1e1 e8d8 e1d1 d8e8 d1e1";
        // e2-e4 with a pawn on d4: the capture is possible once, so the first time is another position.
        let mut game = Referee::new(start("4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1"), Material::Draws);
        assert_eq!(play(&mut game, &format!("e2e4 {there}")), None);
        // The pawn on d4 is pinned to its king: nobody could ever capture, so it is the same position.
        let mut game = Referee::new(start("8/8/8/8/k2p3R/8/4P3/4K3 w - - 0 1"), Material::Draws);
        let there = "a4a3 e1d1 a3a4 d1e1 a4a3 e1d1 a3a4 d1e1";
        let (ply, end) = play(&mut game, &format!("e2e4 {there}")).unwrap();
        assert_eq!((ply, end.reason), (9, Reason::Threefold));
    }

    #[test]
    fn insufficient_material_is_a_setting() {
        let fen = "7k/8/8/8/8/8/1p6/B6K w - - 0 1";
        let mut game = Referee::new(start(fen), Material::Draws);
        let end = play(&mut game, "a1b2").unwrap().1;
        assert_eq!(end.details(), "Insufficient material");
        let mut game = Referee::new(start(fen), Material::PlaysOn);
        assert_eq!(play(&mut game, "a1b2"), None);
        // Two knights can mate with help: the game goes on.
        let mut game = Referee::new(start("7k/8/8/8/8/8/1p6/NK5N b - - 0 1"), Material::Draws);
        assert_eq!(play(&mut game, "h8g8"), None);
    }

    #[test]
    fn moves_are_found_as_uci_writes_them() {
        let game = Referee::new(start("4k3/P7/8/8/8/8/8/4K2R w K - 0 1"), Material::Draws);
        for (word, legal) in [
            ("e1g1", true),
            ("e1h1", false),
            ("a7a8", false),
            ("a7a8n", true),
            ("e1e3", false),
            ("h1h8", true),
        ] {
            let one: UciMove = word.parse().unwrap();
            assert_eq!(game.find(one).is_some(), legal, "{word}");
        }
    }

    #[test]
    fn exactly_the_legal_moves_are_found() {
        for position in (7..12).flat_map(drawn_by_lot) {
            let legal = position.legal_moves();
            let game = Referee::new(position, Material::Draws);
            let mut found = Vec::new();
            for (from, to) in
                Square::ALL.into_iter().flat_map(|from| Square::ALL.map(|to| (from, to)))
            {
                for promotion in [None, Some(Role::Queen), Some(Role::Knight)] {
                    found.extend(game.find(UciMove::Normal { from, to, promotion }));
                }
            }
            let asked = |one: &&Move| !matches!(one.promotion(), Some(Role::Rook | Role::Bishop));
            let expected = legal.iter().filter(asked).count();
            assert_eq!(found.len(), expected, "{:?}", game.position());
            assert!(found.iter().all(|one| legal.contains(one)), "{:?}", game.position());
        }
    }

    #[test]
    fn where_nothing_can_move_is_seen_wherever_it_is() {
        let (mut stuck, mut free) = (0, 0);
        for position in (0..250).flat_map(drawn_by_lot) {
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
