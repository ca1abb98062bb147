//! Books of one line of moves a line: `e2e4 e7e5`, `e4 e5`, `1. e4 e5 2. Nf3`, each as it likes. In a book of Chess960
//! the number of the start position comes first: `518 e2e4`, in double Chess960 `336:518 e2e4`.

use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position};

use super::positions::numbered;
use super::{BookPart, Wrong, playable, text_lines};
use crate::model::game::opening::Opening;
use crate::model::game::variant::Variant;
use crate::model::words::counted;

pub(super) fn read(bytes: &[u8], wanted: BookPart) -> Result<Vec<Opening>, Wrong> {
    text_lines(bytes)
        .take(wanted.most)
        .map(|(place, text)| {
            line(&text, wanted.variant)
                .and_then(|opening| playable(opening, wanted))
                .map_err(|what| (place, what))
        })
        .collect()
}

fn line(text: &str, variant: Variant) -> Result<Opening, String> {
    let mut words = text.split_whitespace();
    let start = match variant {
        Variant::Standard => Chess::default(),
        Variant::Chess960 | Variant::DoubleChess960 => {
            numbered(words.next().unwrap_or_default(), variant)?
        }
    };
    let mut position = start.clone();
    let mut moves = Vec::new();
    for word in words {
        let word = without_number(word);
        if word.is_empty() || matches!(word, "*" | "1-0" | "0-1" | "1/2-1/2") {
            continue;
        }
        let one = read_move(&position, word).ok_or_else(|| {
            format!("{word:?} is no legal move after {}", counted(moves.len(), "ply"))
        })?;
        position.play_unchecked(one);
        moves.push(one);
    }
    Ok(Opening::new(start, moves))
}

/// Takes `12.` or `12...` away, also where it is written together with the move.
fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < word.len() && rest.starts_with('.') {
        rest.trim_start_matches('.')
    } else {
        word
    }
}

/// A move in UCI's writing or in SAN.
pub(super) fn read_move(position: &Chess, word: &str) -> Option<Move> {
    if let Ok(uci) = word.parse::<UciMove>()
        && let Ok(one) = uci.to_move(position)
    {
        return Some(one);
    }
    word.parse::<SanPlus>().ok()?.san.to_move(position).ok()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{all, told};
    use super::*;

    #[test]
    fn uci_and_san_with_and_without_numbers() {
        let text = "# Italian\n1. e4 e5 2.Nf3 Nc6 3. Bc4 *\ne2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1\n\n\
                    e4 e5 Nf3 Nc6 Bc4 Nf6 O-O # castled\r\n";
        let openings = read(text.as_bytes(), all()).unwrap();
        assert_eq!(
            told(&openings),
            [
                "e2e4 e7e5 g1f3 b8c6 f1c4",
                "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1",
                "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 e1g1",
            ]
        );
        assert!(openings.iter().all(Opening::is_move_list));
    }

    #[test]
    fn the_place_of_a_bad_move_is_told() {
        let (place, what) = read(b"e4 e5\ne4 Ke3", all()).unwrap_err();
        assert_eq!(place.to_string(), "line 2");
        assert_eq!(what, "\"Ke3\" is no legal move after 1 ply");
    }
}
