//! Why a game ended, from the words that runners use for it or from its last position.

use shakmaty::{Chess, Position};

use super::record::Termination;

/// Parts of the words of `TerminationDetails` and `Termination` tags (the event's fork of cutechess,
/// cutechess, fastchess, the PGN standard), in lower case; the first that is found decides.
const WORDS: [(&str, Termination); 28] = [
    ("insufficient", Termination::InsufficientMaterial),
    ("stalemate", Termination::Stalemate),
    ("3-fold", Termination::Threefold),
    ("repetition", Termination::Threefold),
    ("fifty", Termination::FiftyMoves),
    ("50 move", Termination::FiftyMoves),
    ("50-move", Termination::FiftyMoves),
    ("illegal", Termination::IllegalMove),
    ("rules infraction", Termination::IllegalMove),
    ("resign", Termination::Resignation),
    ("stall", Termination::Stalled),
    ("disconnect", Termination::Disconnected),
    ("crash", Termination::Disconnected),
    ("abandoned", Termination::Disconnected),
    ("died", Termination::Disconnected),
    ("on time", Termination::TimeForfeit),
    ("time forfeit", Termination::TimeForfeit),
    ("timeout", Termination::TimeForfeit),
    ("adjudicat", Termination::Adjudication),
    ("tablebase", Termination::Adjudication),
    ("syzygy", Termination::Adjudication),
    ("tb position", Termination::Adjudication),
    ("draw rule", Termination::Adjudication),
    ("win rule", Termination::Adjudication),
    ("manual", Termination::Adjudication),
    ("unterminated", Termination::Unterminated),
    ("mates", Termination::Mate),
    ("checkmate", Termination::Mate),
];

/// What a tag's words mean; none for words that are not known, such as `normal`.
pub(crate) fn named(words: Option<&str>) -> Option<Termination> {
    let words = words?.to_ascii_lowercase();
    WORDS.iter().find(|(part, _)| words.contains(part)).map(|(_, termination)| *termination)
}

/// What the last position shows by itself.
pub(crate) fn seen(position: &Chess) -> Option<Termination> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_real_events_are_known() {
        for (words, termination) in [
            ("White mates", Termination::Mate),
            ("3-Fold repetition", Termination::Threefold),
            ("Fifty moves rule", Termination::FiftyMoves),
            ("Insufficient material", Termination::InsufficientMaterial),
            ("Stalemate", Termination::Stalemate),
            ("Black loses on time", Termination::TimeForfeit),
            ("White's connection stalls", Termination::Stalled),
            ("Black disconnects", Termination::Disconnected),
            ("White makes an illegal move: e2e5", Termination::IllegalMove),
            ("TCEC draw rule", Termination::Adjudication),
            ("SyzygyTB", Termination::Adjudication),
            ("time forfeit", Termination::TimeForfeit),
            ("rules infraction", Termination::IllegalMove),
        ] {
            assert_eq!(named(Some(words)), Some(termination), "{words}");
        }
        assert_eq!(named(Some("normal")), None);
        assert_eq!(named(None), None);
    }
}
