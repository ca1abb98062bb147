//! Books of one position a line, FEN or EPD; of the operations after an EPD, those that stand for a FEN's counters are read (`hmvc`,
//! `fmvn`: PGN standard, 16.2.5), and all others passed over. A book of Chess960 may have numbers
//! of start positions, too.

use shakmaty::Chess;
use shakmaty::fen::Fen;

use super::{BookPart, Wrong, playable, text_lines};
use crate::game::start_positions::{NoStart, StartNumber};
use crate::model::game::opening::Opening;
use crate::model::game::variant::Variant;

pub(super) fn read(bytes: &[u8], wanted: BookPart) -> Result<Vec<Opening>, Wrong> {
    text_lines(bytes)
        .take(wanted.most)
        .map(|(place, text)| {
            position(&text, wanted.variant)
                .and_then(|start| playable(Opening::new(start, Vec::new()), wanted))
                .map_err(|what| (place, what))
        })
        .collect()
}

/// The opening of a start position alone.
pub(super) fn of_number(start: StartNumber) -> Result<Opening, String> {
    let position = start.position().map_err(|why| format!("{start} is no position: {why}"))?;
    Ok(Opening::new(position, Vec::new()))
}

/// The start position of a number, as a variant has it.
pub(super) fn numbered(word: &str, variant: Variant) -> Result<Chess, String> {
    let start: StartNumber = word.parse().map_err(|error: NoStart| error.to_string())?;
    if variant != Variant::DoubleChess960 && !start.is_shared() {
        return Err(format!("{start} is a start position of double Chess960"));
    }
    start.position().map_err(|why| format!("{start} is no position: {why}"))
}

/// The four fields of an EPD, and the two counters of a FEN where there are two numbers.
fn position(text: &str, variant: Variant) -> Result<Chess, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if let ([number], true) = (&words[..], variant.is_chess960()) {
        return numbered(number, variant);
    }
    let is_number = |word: &&&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let counters = words.iter().skip(4).take(2).take_while(is_number).count();
    let fields = if counters == 2 { 6 } else { 4 };
    let mut fen = words
        .get(..fields)
        .ok_or("a position has four fields: board, side, castling, en passant")?
        .join(" ");
    if fields == 4 {
        let operations = words[4..].join(" ");
        let counter = |opcode: &str| {
            let own = |one: &str| one.trim().strip_prefix(opcode)?.trim().parse::<u32>().ok();
            operations.split(';').find_map(own)
        };
        let (halfmoves, moves) = (counter("hmvc ").unwrap_or(0), counter("fmvn ").unwrap_or(1));
        fen += &format!(" {halfmoves} {moves}");
    }
    let fen: Fen = fen.parse().map_err(|why| format!("{fen:?} is no FEN: {why}"))?;
    fen.into_position(variant.castling()).map_err(|why| format!("no position of a game: {why}"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::all;
    use super::*;

    #[test]
    fn fen_and_epd_with_operations() {
        let text = "4k3/8/8/8/8/8/4P3/4K3 w - - 3 17\n\
                    4k3/8/8/8/8/8/4P3/4K3 b - - bm Kd7; id \"x\";\n\
                    rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n\
                    4k3/8/8/8/8/8/4P3/4K3 w - - hmvc 98; fmvn 80; id \"a; b\";\n";
        let openings = read(text.as_bytes(), all()).unwrap();
        let fens: Vec<Option<String>> = openings.iter().map(Opening::fen).collect();
        assert_eq!(
            fens,
            [
                Some("4k3/8/8/8/8/8/4P3/4K3 w - - 3 17".into()),
                Some("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1".into()),
                None,
                Some("4k3/8/8/8/8/8/4P3/4K3 w - - 98 80".into()),
            ]
        );
    }

    #[test]
    fn what_is_no_position_is_told_with_its_line() {
        for text in ["4k3/8 w", "hello", "8/8/8/8/8/8/8/8 w - -", "4k3/9/8/8/8/8/8/4K3 w - -"] {
            let (place, what) = read(format!("\n{text}").as_bytes(), all()).unwrap_err();
            assert_eq!(place.to_string(), "line 2", "{what}");
        }
    }
}
