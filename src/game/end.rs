//! The ends of a game by the rules on the board (rule 2 of the event).

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position, Role};

use crate::game::legal;
use crate::model::game::ending::{GameEnding, Termination};
use crate::model::units::Ply;

/// The setting for positions in which neither side can mate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Material {
    /// Positions in which neither side can mate are drawn, as the real events play.
    #[default]
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
    pub fn new(start: Chess, material: Material) -> Referee {
        let mut since = Vec::with_capacity(128);
        since.push(start.clone());
        Referee { position: start, since, plies: Ply(0), material }
    }

    /// The position reached.
    pub fn position(&self) -> &Chess {
        &self.position
    }

    /// The plies played, from this game's start position.
    pub fn plies(&self) -> Ply {
        self.plies
    }

    /// The legal move here that UCI writes like this.
    pub(crate) fn find(&self, said: UciMove) -> Option<Move> {
        legal::find(&self.position, said)
    }

    /// Plays one of the legal moves here and says whether the game is over.
    pub fn play(&mut self, one: Move) -> Option<GameEnding> {
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

    /// True if the game is over here, by the rules on the board.
    pub(crate) fn ending(&self) -> Option<GameEnding> {
        if self.position.legal_moves().is_empty() {
            return Some(if self.position.is_check() {
                GameEnding::win(!self.position.turn(), Termination::Mate)
            } else {
                GameEnding::draw(Termination::Stalemate)
            });
        }
        if self.material == Material::Draws && self.position.is_insufficient_material() {
            return Some(GameEnding::draw(Termination::InsufficientMaterial));
        }
        if self.position.halfmoves() >= 100 {
            return Some(GameEnding::draw(Termination::FiftyMoves));
        }
        if self.occurrences() >= 3 {
            return Some(GameEnding::draw(Termination::Threefold));
        }
        None
    }

    /// The number of times that this position has been on the board, now included.
    fn occurrences(&self) -> usize {
        // Back to it takes both sides two moves at least.
        1 + self.since.iter().rev().step_by(2).skip(2).filter(|one| **one == self.position).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    fn start(fen: &str) -> Chess {
        fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
    }

    /// Plays words until an end comes, and says after how many plies.
    fn play(referee: &mut Referee, moves: &str) -> Option<(u32, GameEnding)> {
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

    fn from_start(moves: &str) -> Option<(u32, GameEnding)> {
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
        assert_eq!(end, GameEnding::draw(Termination::Stalemate));
    }

    #[test]
    fn mate_on_the_hundredth_ply_is_mate() {
        let mut game = Referee::new(start("7k/8/6K1/8/8/8/8/R7 w - - 99 80"), Material::Draws);
        assert_eq!(play(&mut game, "a1a8").unwrap().1.reason, Termination::Mate);
        let mut game = Referee::new(start("7k/8/6K1/8/8/8/8/R7 w - - 99 80"), Material::Draws);
        assert_eq!(play(&mut game, "a1a7").unwrap().1.reason, Termination::FiftyMoves);
    }

    #[test]
    fn the_third_time_counts_the_start() {
        let shuffle = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8";
        assert_eq!(from_start(shuffle), Some((8, GameEnding::draw(Termination::Threefold))));
        // After a pawn move the earlier ones cannot come again.
        let moves = format!("g1f3 g8f6 f3g1 f6g8 e2e4 e7e5 {shuffle}");
        assert_eq!(from_start(&moves), Some((14, GameEnding::draw(Termination::Threefold))));
    }

    #[test]
    fn lost_castling_rights_make_another_position() {
        // The rook's trip takes a right: the position after it is new, whatever the board looks like.
        let mut game = Referee::new(start("r3k3/8/8/8/8/8/8/4K2R w Kq - 0 1"), Material::Draws);
        let trip = "h1h2 a8a7 h2h1 a7a8 h1h2 a8a7 h2h1 a7a8";
        assert_eq!(play(&mut game, trip), None);
        let (ply, end) = play(&mut game, "h1h2 a8a7").unwrap();
        assert_eq!((ply, end.reason), (10, Termination::Threefold));
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
        assert_eq!((ply, end.reason), (9, Termination::Threefold));
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
}
