//! Positions and moves as others read them: FEN, SAN, and an engine's expected line as far as it is legal.

use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, EnPassantMode, Move, Position};

/// Most positions need no more bytes.
const USUAL_FEN: usize = 72;

/// A position as FEN.
pub fn fen(position: &Chess) -> String {
    let mut text = String::with_capacity(USUAL_FEN);
    // Not by way of a formatter, which takes each character by itself: each move that is told has its position.
    Fen::from_position(position, EnPassantMode::Legal).append_to_string(&mut text);
    text
}

/// A legal move in SAN, and the position after it.
pub(crate) fn played(before: &Chess, one: Move) -> (String, Chess) {
    let mut after = before.clone();
    let san = SanPlus::from_move_and_play_unchecked(&mut after, one);
    (san.to_string(), after)
}

/// A move of a line, in both notations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineMove {
    /// As UCI writes it.
    pub(crate) uci: String,
    /// As people write it.
    pub(crate) san: String,
}

/// An expected line in UCI's words, up to the first word that is no legal move.
pub(crate) fn line(from: &Chess, words: &str) -> Vec<LineMove> {
    let mut position = from.clone();
    let mut found = Vec::new();
    for word in words.split_ascii_whitespace() {
        let Some(one) = word.parse::<UciMove>().ok().and_then(|uci| uci.to_move(&position).ok())
        else {
            break;
        };
        let uci = one.to_uci(position.castles().mode()).to_string();
        let san = SanPlus::from_move_and_play_unchecked(&mut position, one).to_string();
        found.push(LineMove { uci, san });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_it_is_not_legal_any_more() {
        let told = line(&Chess::default(), "e2e4 e7e5 <script> g1f3");
        let words: Vec<_> = told.iter().map(|one| (one.uci.as_str(), one.san.as_str())).collect();
        assert_eq!(words, [("e2e4", "e4"), ("e7e5", "e5")]);
        assert_eq!(line(&Chess::default(), "e2e5 e7e5"), []);
    }

    #[test]
    fn a_move_leads_to_its_position() {
        let one = "g1f3".parse::<UciMove>().unwrap().to_move(&Chess::default()).unwrap();
        let (san, after) = played(&Chess::default(), one);
        assert_eq!(san, "Nf3");
        assert_eq!(fen(&after), "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1");
    }
}
