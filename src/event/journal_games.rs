//! Games of a journal as standings, ratings and PGN want them.

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position};

use super::journal::record::{GameFinished, StageStarted};
use super::record::{Engine, GameRecord, GameResult, PlyRecord, Termination};
use super::termination;
use crate::game::end;

/// The moves of a text in UCI's words, from the start position; none where one is not legal.
#[must_use]
pub fn moves(text: &str) -> Option<Vec<Move>> {
    let mut position = Chess::default();
    text.split_ascii_whitespace()
        .map(|word| {
            let one = word.parse::<UciMove>().ok()?.to_move(&position).ok()?;
            position.play_unchecked(one);
            Some(one)
        })
        .collect()
}

/// A finished game of a stage; none where its moves are not legal.
#[must_use]
pub fn record(event: &str, stage: &StageStarted, game: &GameFinished) -> Option<GameRecord> {
    let plies = moves(&game.moves)?
        .into_iter()
        .enumerate()
        .map(|(number, one)| PlyRecord { book: number < game.book, ..PlyRecord::bare(one) })
        .collect();
    let engine =
        |name: &String| Engine { name: name.clone(), rating: stage.ratings.get(name).copied() };
    let termination = termination::named(Some(&game.details))
        .or_else(|| termination::named(game.termination.as_deref()));
    Some(GameRecord {
        event: format!("{event}: {}", stage.name),
        white: engine(&game.white),
        black: engine(&game.black),
        round: Some(game.place()),
        result: match game.result() {
            end::GameResult::Win(color) => GameResult::Won(color),
            end::GameResult::Draw => GameResult::Drawn,
            end::GameResult::Unfinished => GameResult::Unfinished,
        },
        termination: termination.unwrap_or(Termination::Unknown),
        detail: game.details.clone(),
        start: Chess::default(),
        plies,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::event::journal::record::GameStarted;
    use crate::event::record::RoundGame;
    use crate::game::end::Reason;
    use shakmaty::Color;

    /// A finished game as a journal has it.
    pub(crate) fn finished(
        white: &str,
        black: &str,
        at: RoundGame,
        result: &str,
        moves: &str,
    ) -> GameFinished {
        GameFinished {
            id: format!("e-s-{at}-{white}-{black}"),
            stage: 0,
            round: at.round,
            game: at.game,
            white: white.into(),
            black: black.into(),
            result: result.into(),
            termination: None,
            details: String::new(),
            reason: Reason::Mate,
            by_rule: None,
            moves: moves.into(),
            book: 1,
            unanswered: None,
            lasted: 0,
            at: String::new(),
        }
    }

    /// How that game began.
    pub(crate) fn started(game: &GameFinished) -> GameStarted {
        GameStarted {
            id: game.id.clone(),
            stage: game.stage,
            round: game.round,
            game: game.game,
            white: game.white.clone(),
            black: game.black.clone(),
            attempt: 1,
            opening: String::new(),
            opening_names: None,
            time_control: String::new(),
            sha256: [String::new(), String::new()],
            options: [String::new(), String::new()],
            clocks: [0, 0],
            at: String::new(),
        }
    }

    #[test]
    fn a_finished_game_is_a_record_with_its_crash() {
        let at = RoundGame { round: 2, game: 3 };
        let mut game = finished("a", "b", at, "0-1", "e2e4 e7e5 g1f3");
        game.termination = Some("abandoned".into());
        game.details = "White disconnects".into();
        let stage = StageStarted {
            stage: 0,
            name: "Pool".into(),
            seats: Vec::new(),
            ratings: [("b".to_owned(), 2500)].into(),
        };
        let record = record("E", &stage, &game).unwrap();
        assert_eq!((record.white.rating, record.black.rating), (None, Some(2500)));
        assert_eq!(record.event, "E: Pool");
        assert_eq!((record.round, record.book_plies()), (Some(at), 1));
        assert_eq!(record.crashed(), Some(Color::White));
        assert_eq!(record.positions().count(), 3);
        assert!(moves("e2e4 e2e4").is_none());
    }
}
