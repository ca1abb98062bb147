//! How games end: the rules on the board (rule 2 of the event) and every other end, as one typed value
//! with the words that the event's PGN uses.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, Move, MoveList, Position, Role};

use crate::evidence::ExitHow;
use crate::units::Ply;

/// The result as PGN writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// One side won.
    Win(Color),
    /// Half a point each.
    Draw,
    /// No result: the game was broken off from outside.
    Unfinished,
}

impl GameResult {
    /// `1-0`, `0-1`, `1/2-1/2`, `*`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            GameResult::Win(Color::White) => "1-0",
            GameResult::Win(Color::Black) => "0-1",
            GameResult::Draw => "1/2-1/2",
            GameResult::Unfinished => "*",
        }
    }

    /// Reads the PGN word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<GameResult> {
        [
            GameResult::Win(Color::White),
            GameResult::Win(Color::Black),
            GameResult::Draw,
            GameResult::Unfinished,
        ]
        .into_iter()
        .find(|result| result.word() == word)
    }

    /// Half points for a side; none for an unfinished game.
    #[must_use]
    pub fn half_points(self, side: Color) -> Option<u8> {
        match self {
            GameResult::Win(winner) if winner == side => Some(2),
            GameResult::Win(_) => Some(0),
            GameResult::Draw => Some(1),
            GameResult::Unfinished => None,
        }
    }
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Serialize for GameResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// Why a game ended. Ends that one side suffers name no side: [`Ending::loser`] does.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Mate on the board (rule 2.1).
    Mate,
    /// No legal move and no check (rule 2.2).
    Stalemate,
    /// The same position for the third time (rule 2.2).
    Threefold,
    /// A hundred plies without a pawn move or a capture (rule 2.2).
    FiftyMoves,
    /// Neither side can mate. Rule 2.2 does not list it, the real events played so: a setting.
    InsufficientMaterial,
    /// A `bestmove` that is no legal move (rule 2.1), with what it said.
    IllegalMove(String),
    /// Out of time (rules 1.2, 2.1).
    Time {
        /// How much later than the clock allowed the move came; none if it never came.
        over: Option<Duration>,
    },
    /// `bestmove resign` (rule 2.1).
    Resignation,
    /// The process ended or closed its output in the middle of the game (rule 6.2).
    Crash {
        /// How it ended, where that is known.
        exit: Option<ExitHow>,
    },
    /// Without a clock: no answer within the bound on every wait.
    Stall {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The engine could not be started, with the reason.
    NoStart(String),
    /// The draw rule on evaluations.
    DrawByEval,
    /// The win rule on evaluations.
    WinByEval,
    /// The result that the endgame tables give.
    Tables,
    /// The longest game that was asked for.
    Length,
    /// Broken off from outside: no fault of an engine.
    Aborted(String),
}

/// The end of a game: result, reason, and the side that it is told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ending {
    /// The result.
    pub result: GameResult,
    /// Why.
    pub reason: Reason,
}

impl Ending {
    /// A draw.
    #[must_use]
    pub fn draw(reason: Reason) -> Ending {
        Ending { result: GameResult::Draw, reason }
    }

    /// A win.
    #[must_use]
    pub fn win(winner: Color, reason: Reason) -> Ending {
        Ending { result: GameResult::Win(winner), reason }
    }

    /// No result.
    #[must_use]
    pub fn aborted(why: impl Into<String>) -> Ending {
        Ending { result: GameResult::Unfinished, reason: Reason::Aborted(why.into()) }
    }

    /// The side that lost, where one did.
    #[must_use]
    pub fn loser(&self) -> Option<Color> {
        match self.result {
            GameResult::Win(winner) => Some(!winner),
            _ => None,
        }
    }

    /// The PGN tag `Termination`; none for a normal end, as the event writes it.
    #[must_use]
    pub fn termination(&self) -> Option<&'static str> {
        Some(match self.reason {
            Reason::Mate
            | Reason::Stalemate
            | Reason::Threefold
            | Reason::FiftyMoves
            | Reason::InsufficientMaterial
            | Reason::Resignation => return None,
            Reason::IllegalMove(_) => "illegal move",
            Reason::Time { .. } => "time forfeit",
            Reason::Crash { .. } | Reason::NoStart(_) => "abandoned",
            Reason::Stall { .. } => "stalled connection",
            Reason::DrawByEval | Reason::WinByEval | Reason::Tables | Reason::Length => {
                "adjudication"
            }
            Reason::Aborted(_) => "unterminated",
        })
    }

    /// The PGN tag `TerminationDetails`, in the event's words where the event has some.
    #[must_use]
    pub fn details(&self) -> String {
        let name = |side: Option<Color>| match side {
            Some(Color::White) => "White",
            Some(Color::Black) => "Black",
            None => "Nobody",
        };
        let loser = name(self.loser());
        let winner = name(self.loser().map(|side| !side));
        match &self.reason {
            Reason::Mate => format!("{winner} mates"),
            Reason::Stalemate => "Stalemate".into(),
            Reason::Threefold => "3-Fold repetition".into(),
            Reason::FiftyMoves => "Fifty moves rule".into(),
            Reason::InsufficientMaterial => "Insufficient material".into(),
            Reason::IllegalMove(said) => format!("{loser} makes an illegal move: {said}"),
            Reason::Time { .. } => format!("{loser} loses on time"),
            Reason::Resignation => format!("{loser} resigns"),
            Reason::Crash { .. } => format!("{loser} disconnects"),
            Reason::Stall { .. } => format!("{loser}'s connection stalls"),
            Reason::NoStart(_) => format!("{loser} does not start"),
            Reason::DrawByEval => "TCEC draw rule".into(),
            Reason::WinByEval => "TCEC win rule".into(),
            Reason::Tables => "Syzygy tables".into(),
            Reason::Length => "Longest game reached".into(),
            Reason::Aborted(why) => format!("Unfinished: {why}"),
        }
    }
}

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
    legal: MoveList,
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
        Referee { legal: start.legal_moves(), position: start, since, plies: Ply(0), material }
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

    /// The legal moves here.
    #[must_use]
    pub fn legal(&self) -> &MoveList {
        &self.legal
    }

    /// The legal move that UCI writes like this. Castling is the king's move of two squares.
    #[must_use]
    pub fn find(&self, said: UciMove) -> Option<Move> {
        let UciMove::Normal { from, to, promotion } = said else { return None };
        self.legal.iter().copied().find(|one| match *one {
            Move::Normal { from: its, to: square, promotion: role, .. } => {
                (its, square, role) == (from, to, promotion)
            }
            other => other.to_uci(CastlingMode::Standard) == said,
        })
    }

    /// Plays one of the legal moves here and says whether the game is over.
    pub fn play(&mut self, one: Move) -> Option<Ending> {
        // Castling and moves of king or rook keep the list: the castling rights in the positions
        // themselves tell them apart.
        let zeroing = one.is_capture() || one.role() == Role::Pawn;
        self.position.play_unchecked(one);
        // The list has room for every position there can be: only the moves that are there are copied.
        self.legal.clone_from(&self.position.legal_moves());
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
        if self.legal.is_empty() {
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
        self.since.iter().rev().step_by(2).filter(|before| **before == self.position).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn the_events_words() {
        let lost = |reason| Ending::win(Color::White, reason);
        for (ending, word, details) in [
            (lost(Reason::Time { over: None }), "time forfeit", "Black loses on time"),
            (
                lost(Reason::Stall { waited: Duration::from_secs(1) }),
                "stalled connection",
                "Black's connection stalls",
            ),
            (
                lost(Reason::IllegalMove("a1a1".into())),
                "illegal move",
                "Black makes an illegal move: a1a1",
            ),
            (lost(Reason::Crash { exit: None }), "abandoned", "Black disconnects"),
        ] {
            assert_eq!(ending.termination(), Some(word));
            assert_eq!(ending.details(), details);
            assert_eq!(ending.loser(), Some(Color::Black));
        }
        assert_eq!(GameResult::from_word("1/2-1/2"), Some(GameResult::Draw));
        assert_eq!(GameResult::Draw.half_points(Color::White), Some(1));
    }
}
