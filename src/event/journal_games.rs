//! Games of a journal as standings, ratings and PGN want them.

use std::collections::HashSet;
use std::path::Path;

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move, Position};

use super::journal::record::{AfterAnnulment, Annulled, GameFinished, JournalRecord, StageStarted};
use super::journal::{self, JournalError};
use crate::model::game::listed::ListedGame;
use crate::model::game::opening::Opening;
use crate::model::game::record::GameRecord;

/// The moves of a text in UCI's words, from the classical position or from one of Chess960; none where one is not legal.
pub(crate) fn opening(start: Option<&str>, moves: &str) -> Option<Opening> {
    let start = match start {
        Some(fen) => fen.parse::<Fen>().ok()?.into_position(CastlingMode::Chess960).ok()?,
        None => Chess::default(),
    };
    let mut position: Chess = start.clone();
    let moves: Option<Vec<Move>> = moves
        .split_ascii_whitespace()
        .map(|word| {
            let one = word.parse::<UciMove>().ok()?.to_move(&position).ok()?;
            position.play_unchecked(one);
            Some(one)
        })
        .collect();
    Some(Opening::new(start, moves?))
}

/// A finished game of a stage; none where its moves are not legal.
pub fn listed(event: &str, stage: &StageStarted, game: &GameFinished) -> Option<ListedGame> {
    let all = opening(game.start.as_deref(), &game.moves)?;
    let mut book = all.moves().to_vec();
    let played = book.split_off(game.book.min(book.len()));
    Some(ListedGame {
        event: format!("{event}: {}", stage.name),
        white: stage.player(&game.white),
        black: stage.player(&game.black),
        round: Some(game.place()),
        record: GameRecord::of_moves(Opening::new(all.start(), book), played, game.ending()),
    })
}

/// The games of a journal that were struck out.
#[derive(Debug, Default)]
pub(crate) struct AnnulledGames(Vec<(u64, Annulled)>);

impl AnnulledGames {
    /// Looks through a journal.
    ///
    /// # Errors
    /// When it cannot be read or is damaged.
    pub(crate) fn of(path: &Path) -> Result<AnnulledGames, JournalError> {
        let mut all = AnnulledGames::default();
        journal::read_some(path, &["annulled"], &mut |place, record| {
            if let JournalRecord::Annulled(annulled) = record {
                all.0.push((place.line, annulled));
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// The record that struck out a game whose end stands in this line.
    pub(crate) fn by(&self, id: &str, line: u64) -> Option<&Annulled> {
        let later = self.0.iter().filter(|(at, one)| *at > line && one.id == id);
        later.map(|(_, one)| one).reduce(|one, other| match one.then {
            AfterAnnulment::PlayedAgain => one,
            AfterAnnulment::Nothing => other,
        })
    }
}

/// Hands on the finished games of a journal as they count: those that are played again are left out, the others that
/// were struck out have no result. Other records are handed on as they are, as far as they are `wanted`.
///
/// # Errors
/// When it cannot be read or is damaged, when a game stands in it twice, or `take` finds what cannot be.
pub(crate) fn read(
    path: &Path,
    wanted: &[&str],
    take: &mut dyn FnMut(JournalRecord) -> Result<(), String>,
) -> Result<(), JournalError> {
    let struck = AnnulledGames::of(path)?;
    let mut ended = HashSet::new();
    let wanted = [wanted, &["game-finished"]].concat();
    journal::read_some(path, &wanted, &mut |place, mut record| {
        if let JournalRecord::GameFinished(game) = &mut record {
            match struck.by(&game.id, place.line) {
                Some(Annulled { then: AfterAnnulment::PlayedAgain, .. }) => return Ok(()),
                Some(Annulled { reason, .. }) => game.annul(reason),
                None => {}
            }
            if !ended.insert((game.stage, game.place())) {
                return Err(format!("{} has ended before; it would be counted twice", game.id));
            }
        }
        take(record)
    })?;
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::event::journal::record::GameStarted;
    use crate::model::game::ending::Termination;
    use crate::model::game::listed::RoundGame;
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
            reason: Termination::Mate,
            by_rule: None,
            start: None,
            moves: moves.into(),
            book: 1,
            unanswered: None,
            lasted: 0,
            at: String::new(),
        }
    }

    /// The beginning of that game.
    pub(crate) fn started(game: &GameFinished) -> GameStarted {
        GameStarted {
            id: game.id.clone(),
            stage: game.stage,
            round: game.round,
            game: game.game,
            white: game.white.clone(),
            black: game.black.clone(),
            attempt: 1,
            start: None,
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
        game.reason = Termination::Crash { exit: None };
        let stage = StageStarted {
            name: "Pool".into(),
            ratings: [("b".to_owned(), 2500)].into(),
            ..StageStarted::default()
        };
        let listed = listed("E", &stage, &game).unwrap();
        assert_eq!((listed.white.rating, listed.black.rating), (None, Some(2500)));
        assert_eq!(listed.event, "E: Pool");
        assert_eq!((listed.round, listed.record.opening.moves().len()), (Some(at), 1));
        assert_eq!(listed.record.ending.crashed(), Some(Color::White));
        assert_eq!(listed.record.positions().count(), 3);
        assert!(opening(None, "e2e4 e2e4").is_none());
    }

    #[test]
    fn a_crash_is_known_by_its_type_and_not_by_words() {
        let at = RoundGame { round: 1, game: 1 };
        let stage = StageStarted { name: "Pool".into(), ..StageStarted::default() };
        let mut game = finished("a", "b", at, "0-1", "e2e4");
        game.details = "White disconnects".into();
        game.reason = Termination::IllegalMove("crash".into());
        let ending = |game: &GameFinished| listed("E", &stage, game).unwrap().record.ending;
        assert_eq!(ending(&game).crashed(), None);
        game.details = String::new();
        game.reason = Termination::NoStart("no such file".into());
        assert_eq!(ending(&game).crashed(), Some(Color::White));
    }
}
