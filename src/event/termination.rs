//! The end of a game of a PGN, from the words that runners use for it or from its last position.

use std::time::Duration;

use shakmaty::{Chess, Color, Position};

use crate::model::game::ending::Termination;
use crate::model::game::result::GameResult;

const STALL: Termination = Termination::Stall { waited: Duration::ZERO };
const UNFINISHED: Termination = Termination::Aborted(String::new());

/// Parts of the words of `TerminationDetails` and `Termination` tags (the event's fork of cutechess,
/// cutechess, fastchess, the PGN standard), in lower case; the first that is found decides.
static WORDS: [(&str, Termination); 28] = [
    ("insufficient", Termination::InsufficientMaterial),
    ("stalemate", Termination::Stalemate),
    ("3-fold", Termination::Threefold),
    ("repetition", Termination::Threefold),
    ("fifty", Termination::FiftyMoves),
    ("50 move", Termination::FiftyMoves),
    ("50-move", Termination::FiftyMoves),
    ("illegal", Termination::IllegalMove(String::new())),
    ("rules infraction", Termination::IllegalMove(String::new())),
    ("resign", Termination::Resignation),
    ("stall", STALL),
    ("disconnect", Termination::Crash { exit: None }),
    ("crash", Termination::Crash { exit: None }),
    ("abandoned", Termination::Crash { exit: None }),
    ("died", Termination::Crash { exit: None }),
    ("on time", Termination::Time { over: None }),
    ("time forfeit", Termination::Time { over: None }),
    ("timeout", Termination::Time { over: None }),
    ("adjudicat", Termination::Adjudicated),
    ("tablebase", Termination::Adjudicated),
    ("syzygy", Termination::Adjudicated),
    ("tb position", Termination::Adjudicated),
    ("draw rule", Termination::Adjudicated),
    ("win rule", Termination::Adjudicated),
    ("manual", Termination::Adjudicated),
    ("unterminated", UNFINISHED),
    ("mates", Termination::Mate),
    ("checkmate", Termination::Mate),
];

/// The meaning of a tag's words; none for words that are not known, such as `normal`.
fn named(words: Option<&str>) -> Option<Termination> {
    let words = words?.to_ascii_lowercase();
    WORDS.iter().find(|(part, _)| words.contains(part)).map(|(_, termination)| termination.clone())
}

/// The end of a game by its tags `TerminationDetails` and `Termination` and its last position. A position that shows another result than the
/// game has is not its end.
pub(crate) fn of(
    details: Option<&str>,
    word: Option<&str>,
    position: &Chess,
    result: GameResult,
) -> Termination {
    let denied = on_the_board(position).is_some_and(|shown| shown != result);
    let by_position =
        [Termination::Mate, Termination::Stalemate, Termination::InsufficientMaterial];
    named(details)
        .or_else(|| named(word))
        .or_else(|| seen(position))
        .filter(|end| !denied || !by_position.contains(end))
        .unwrap_or(Termination::Unknown)
}

/// The result of a mate or stalemate on the board; none where there is neither.
pub(crate) fn on_the_board(position: &Chess) -> Option<GameResult> {
    match seen(position)? {
        Termination::Mate => Some(GameResult::Win(!position.turn())),
        Termination::Stalemate => Some(GameResult::Draw),
        _ => None,
    }
}

/// The end that the last position shows by itself.
fn seen(position: &Chess) -> Option<Termination> {
    if position.is_checkmate() {
        Some(Termination::Mate)
    } else if position.is_stalemate() {
        Some(Termination::Stalemate)
    } else if position.is_insufficient_material() {
        Some(Termination::InsufficientMaterial)
    } else {
        None
    }
}

/// The result that the words of `TerminationDetails` or the last position give; none where they leave it open.
pub(crate) fn result(details: &str, position: &Chess) -> Option<GameResult> {
    if position.is_checkmate() {
        return Some(GameResult::Win(!position.turn()));
    }
    let side = match details.split([' ', '\'']).next()? {
        "White" => Color::White,
        "Black" => Color::Black,
        _ => return seen(position).map(|_| GameResult::Draw),
    };
    match named(Some(details))? {
        Termination::IllegalMove(_)
        | Termination::Resignation
        | Termination::Stall { .. }
        | Termination::Crash { .. } => Some(GameResult::Win(!side)),
        // A side that cannot mate does not win by time.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_tells_its_result_where_it_leaves_none_open() {
        let mated = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1".parse::<shakmaty::fen::Fen>().unwrap();
        let mated: Chess = mated.into_position(shakmaty::CastlingMode::Standard).unwrap();
        let white = Some(GameResult::Win(Color::White));
        assert_eq!(result("", &mated), white);
        for (details, expected) in [
            ("Black disconnects", white),
            ("Black's connection stalls", white),
            ("White makes an illegal move: a1a1", Some(GameResult::Win(Color::Black))),
            ("White loses on time", None),
            ("TCEC win rule", None),
            ("", None),
        ] {
            assert_eq!(result(details, &Chess::default()), expected, "{details}");
        }
    }

    #[test]
    fn the_words_of_real_events_are_known() {
        for (words, termination) in [
            ("White mates", Termination::Mate),
            ("3-Fold repetition", Termination::Threefold),
            ("Fifty moves rule", Termination::FiftyMoves),
            ("Insufficient material", Termination::InsufficientMaterial),
            ("Stalemate", Termination::Stalemate),
            ("Black loses on time", Termination::Time { over: None }),
            ("White's connection stalls", STALL),
            ("Black disconnects", Termination::Crash { exit: None }),
            ("White makes an illegal move: e2e5", Termination::IllegalMove(String::new())),
            ("TCEC draw rule", Termination::Adjudicated),
            ("SyzygyTB", Termination::Adjudicated),
            ("time forfeit", Termination::Time { over: None }),
            ("rules infraction", Termination::IllegalMove(String::new())),
        ] {
            assert_eq!(named(Some(words)), Some(termination), "{words}");
        }
        assert_eq!(named(Some("normal")), None);
        assert_eq!(named(None), None);
    }
}
