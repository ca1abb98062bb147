//! Polyglot's books: entries of 16 bytes, big-endian, sorted by key: the position's hash (8), a move (2),
//! its weight (2), and what learning programs keep (4).
//!
//! Such a book is a graph, not a list. Lines are walked through it from the start position: from the
//! heaviest to the lightest, or drawn by weight with a seed; no line comes twice.

use std::collections::HashSet;

use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, Chess, EnPassantMode, File, Move, Position, Rank, Role, Square};

use super::sequence::{BookOrder, Random};
use super::{BookPart, BookPlace, Wrong, playable};
use crate::model::game::opening::Opening;
use crate::model::units::Ply;
use crate::model::words::counted;

const ENTRY: usize = 16;
/// Without a length, lines are as long as the book has moves, but no longer than this: books have cycles.
const LONGEST: u32 = 60;
/// The number of walks in a row without a new line that are the end of a book.
const STALE: usize = 200;

pub(super) fn read(bytes: &[u8], wanted: BookPart) -> Result<Vec<Opening>, Wrong> {
    if bytes.is_empty() {
        return Err((BookPlace::File, "it is empty".to_owned()));
    }
    if !bytes.len().is_multiple_of(ENTRY) {
        let what = format!("its length, {}, is no multiple of 16", counted(bytes.len(), "byte"));
        return Err((BookPlace::File, what));
    }
    let table = PolyglotBook { bytes };
    if table.choices(&Chess::default()).is_empty() {
        let what = "it has no move for the start position".to_owned();
        return Err((BookPlace::File, what));
    }
    let plies = wanted.plies.unwrap_or(Ply(LONGEST)).0.min(LONGEST);
    let depth = usize::try_from(plies).unwrap_or(usize::MAX);
    let found = match wanted.order {
        BookOrder::Sequential => {
            let mut found = Vec::new();
            table.all(&Chess::default(), &mut Vec::new(), depth, wanted.most, &mut found);
            found
        }
        BookOrder::Shuffled { seed } => table.drawn(Random::new(seed), depth, wanted.most),
    };
    let numbered = (1..).map(BookPlace::Opening).zip(found);
    numbered
        .map(|(place, opening)| playable(opening, wanted).map_err(|what| (place, what)))
        .collect()
}

struct PolyglotBook<'a> {
    bytes: &'a [u8],
}

impl PolyglotBook<'_> {
    fn entry(&self, index: usize) -> Option<[u8; ENTRY]> {
        let at = index * ENTRY;
        self.bytes.get(at..at + ENTRY)?.try_into().ok()
    }

    fn key(&self, index: usize) -> u64 {
        self.entry(index).map_or(u64::MAX, |[a, b, c, d, e, f, g, h, ..]| {
            u64::from_be_bytes([a, b, c, d, e, f, g, h])
        })
    }

    /// The legal moves of a position with their weights, heaviest first; weight 0 means "never play".
    fn choices(&self, position: &Chess) -> Vec<(Move, u16)> {
        // Polyglot hashes an en passant file whenever a pawn stands beside, pinned or not.
        let Zobrist64(key) = position.zobrist_hash(EnPassantMode::PseudoLegal);
        let (mut low, mut high) = (0, self.bytes.len() / ENTRY);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.key(middle) < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let mut choices: Vec<(Move, u16)> = (low..self.bytes.len() / ENTRY)
            .take_while(|index| self.key(*index) == key)
            .filter_map(|index| {
                let entry = self.entry(index)?;
                let weight = u16::from_be_bytes([entry[10], entry[11]]);
                let one = decode(position, u16::from_be_bytes([entry[8], entry[9]]))?;
                (weight > 0).then_some((one, weight))
            })
            .collect();
        choices.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
        choices
    }

    fn all(
        &self,
        position: &Chess,
        line: &mut Vec<Move>,
        depth: usize,
        most: usize,
        found: &mut Vec<Opening>,
    ) {
        if found.len() >= most {
            return;
        }
        let choices = if line.len() < depth { self.choices(position) } else { Vec::new() };
        if choices.is_empty() {
            found.push(Opening::new(Chess::default(), line.clone()));
            return;
        }
        for (one, _) in choices {
            let mut next = position.clone();
            next.play_unchecked(one);
            line.push(one);
            self.all(&next, line, depth, most, found);
            line.pop();
        }
    }

    fn drawn(&self, mut random: Random, depth: usize, most: usize) -> Vec<Opening> {
        let mut found = Vec::new();
        let mut known = HashSet::new();
        let mut stale = 0;
        while found.len() < most && stale < STALE {
            let mut position = Chess::default();
            let mut line = Vec::new();
            while line.len() < depth {
                let choices = self.choices(&position);
                let total: u64 = choices.iter().map(|(_, weight)| u64::from(*weight)).sum();
                if total == 0 {
                    break;
                }
                let mut left = random.below(total);
                for (one, weight) in choices {
                    if left < u64::from(weight) {
                        position.play_unchecked(one);
                        line.push(one);
                        break;
                    }
                    left -= u64::from(weight);
                }
            }
            if known.insert(line.clone()) {
                stale = 0;
                found.push(Opening::new(Chess::default(), line));
            } else {
                stale += 1;
            }
        }
        found
    }
}

/// Bits 0–2 to-file, 3–5 to-rank, 6–8 from-file, 9–11 from-rank, 12–14 promotion (1 knight … 4 queen);
/// castling is written as the king taking its own rook.
fn decode(position: &Chess, bits: u16) -> Option<Move> {
    let square = |low: u16| {
        let file = File::new(u32::from(bits >> low & 7));
        let rank = Rank::new(u32::from(bits >> (low + 3) & 7));
        Square::from_coords(file, rank)
    };
    let (to, from) = (square(0), square(6));
    let promotion = match bits >> 12 & 7 {
        0 => None,
        1 => Some(Role::Knight),
        2 => Some(Role::Bishop),
        3 => Some(Role::Rook),
        4 => Some(Role::Queen),
        _ => return None,
    };
    position.legal_moves().iter().copied().find(|one| {
        one.from() == Some(from)
            && one.promotion() == promotion
            && match one {
                Move::Castle { rook, .. } => {
                    // Old books also write the king's own square of arrival.
                    *rook == to || one.to_uci(CastlingMode::Standard).to() == Some(to)
                }
                _ => one.to() == to,
            }
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{all, told};
    use super::*;

    /// A book with these moves (word, weight) after these lines.
    fn book(entries: &[(&str, &str, u16)]) -> Vec<u8> {
        let mut made: Vec<(u64, u16, u16)> = entries
            .iter()
            .map(|(line, word, weight)| {
                let mut position = Chess::default();
                for word in line.split_whitespace() {
                    let one = super::super::lines::read_move(&position, word).unwrap();
                    position.play_unchecked(one);
                }
                let Zobrist64(key) = position.zobrist_hash(EnPassantMode::PseudoLegal);
                let at = |index: usize, base: u8| u16::from(word.as_bytes()[index] - base);
                let bits = at(2, b'a') | at(3, b'1') << 3 | at(0, b'a') << 6 | at(1, b'1') << 9;
                (key, bits, *weight)
            })
            .collect();
        made.sort_by_key(|(key, ..)| *key);
        let mut bytes = Vec::new();
        for (key, bits, weight) in made {
            bytes.extend(key.to_be_bytes());
            bytes.extend(bits.to_be_bytes());
            bytes.extend(weight.to_be_bytes());
            bytes.extend([0; 4]);
        }
        bytes
    }

    fn small() -> Vec<u8> {
        book(&[
            ("", "d2d4", 1),
            ("", "e2e4", 3),
            ("", "a2a3", 0),
            ("e2e4", "e7e5", 1),
            ("e2e4", "c7c5", 2),
        ])
    }

    #[test]
    fn the_published_key_of_the_start_position() {
        let Zobrist64(key) = Chess::default().zobrist_hash(EnPassantMode::PseudoLegal);
        assert_eq!(key, 0x463b_9618_1691_fc9c);
    }

    #[test]
    fn heaviest_first_each_line_once() {
        let openings = read(&small(), all()).unwrap();
        assert_eq!(told(&openings), ["e2e4 c7c5", "e2e4 e7e5", "d2d4"]);
    }

    #[test]
    fn drawn_by_weight_the_same_for_the_same_seed() {
        let draw = |seed| {
            let wanted = BookPart { order: BookOrder::Shuffled { seed }, ..all() };
            told(&read(&small(), wanted).unwrap())
        };
        assert_eq!(draw(1), draw(1));
        let mut lines = draw(2);
        lines.sort();
        assert_eq!(lines, ["d2d4", "e2e4 c7c5", "e2e4 e7e5"]);
        assert!((0..40).any(|seed| draw(seed) != draw(1)));
    }

    #[test]
    fn castling_is_king_takes_rook() {
        let line = "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5";
        let mut position = Chess::default();
        for word in line.split_whitespace() {
            let one = super::super::lines::read_move(&position, word).unwrap();
            position.play_unchecked(one);
        }
        for to in [7, 6] {
            let one = decode(&position, to | 4 << 6).unwrap();
            assert_eq!(one.to_uci(CastlingMode::Standard).to_string(), "e1g1");
        }
        assert_eq!(decode(&position, 3 | 4 << 6), None);
    }

    #[test]
    fn what_is_no_book_is_refused() {
        assert!(read(b"short", all()).is_err());
        assert!(read(&[0; 32], all()).is_err());
    }
}
