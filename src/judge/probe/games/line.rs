//! A game ply by ply, as the evidence keeps it.

use shakmaty::{CastlingMode, Color, Move};

use super::mover;
use crate::game::eval::Eval;
use crate::game::play::GameRecord;
use crate::model::evidence::{PlayedPly, Score};
use crate::model::units::Ply;

/// Every ply from the start position: the opening's, then those that were thought about.
pub(super) fn plies(record: &GameRecord) -> Vec<PlayedPly> {
    let opening = record.opening.moves();
    let of_book = opening.iter().map(|one| PlayedPly { uci: uci(one), took: None, score: None });
    let thought = record.plies.iter().enumerate().map(|(at, ply)| PlayedPly {
        uci: uci(&ply.played),
        took: Some(ply.used()),
        score: ply.info.eval.map(|eval| score(eval, mover(opening.len() + at))),
    });
    of_book.chain(thought).collect()
}

fn uci(one: &Move) -> String {
    one.to_uci(CastlingMode::Standard).to_string()
}

/// An evaluation of the side that moved, for White.
fn score(eval: Eval, by: Color) -> Score {
    let eval = eval.for_white(by);
    match eval.mate_in() {
        // invariant: a mate is at most some thousand plies away
        Some(Ply(plies)) => {
            Score::Mate(i32::try_from(plies).unwrap_or(i32::MAX) * eval.value().signum())
        }
        None => Score::Centipawns(eval.value()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::legality;
    use crate::game::clock::Stamp;
    use crate::game::end::Ending;
    use crate::game::info::Info;
    use crate::game::play::PlyRecord;
    use shakmaty::Position;
    use std::time::Duration;

    #[test]
    fn scores_are_white_s_whoever_moves() {
        assert_eq!(score(Eval::centipawns(30), Color::White), Score::Centipawns(30));
        assert_eq!(score(Eval::centipawns(30), Color::Black), Score::Centipawns(-30));
        assert_eq!(score(Eval::mate(2), Color::Black), Score::Mate(-3));
        assert_eq!(score(Eval::mate(-2), Color::Black), Score::Mate(4));
    }

    #[test]
    fn a_move_of_the_opening_has_neither_time_nor_score() {
        let opening = super::super::opening(0);
        let mut position = shakmaty::Chess::default();
        for one in opening.moves() {
            position.play_unchecked(*one);
        }
        let ply = PlyRecord {
            played: legality::judge(&position, "f1b5").unwrap(),
            sent: Stamp(Duration::from_millis(100)),
            heard: Stamp(Duration::from_millis(350)),
            left: Duration::ZERO,
            info: Info { eval: Some(Eval::centipawns(-7)), ..Info::default() },
            pv: 0..0,
            rules_in: (-1, -1),
        };
        let record = GameRecord {
            opening,
            plies: vec![ply],
            pvs: Vec::new(),
            ending: Ending::aborted("enough"),
            unanswered: None,
            hung: None,
        };
        let line = plies(&record);
        let words: Vec<&str> = line.iter().map(|ply| &*ply.uci).collect();
        assert_eq!(words, ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5"]);
        assert!(line[..4].iter().all(|ply| ply.took.is_none() && ply.score.is_none()));
        assert_eq!(line[4].took, Some(Duration::from_millis(250)));
        assert_eq!(line[4].score, Some(Score::Centipawns(-7)));
    }
}
