//! The words of a PGN's moves that its parser would pass over in silence: told, so that no move is lost unseen.
//!
//! `pgn-reader` takes a word that is no move for nothing (`e2-e4`, `exd6e.p.`, `foo`), and goes on behind it. So a comment is put
//! behind each such word, in which those who read the games find it.

use shakmaty::san::SanPlus;

use crate::model::text::escape;

/// The beginning of such a comment. One that stands in a file by itself is taken for such a word as well, and refused.
const MARK: &str = "[%unread ";
/// May stand at the beginning of a file.
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];
/// The bytes of a word that are kept.
const MOST: usize = 60;

/// The place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    LineStart,
    Tag,
    Moves,
    /// In braces.
    Comment,
    /// Behind a semicolon.
    LineComment,
}

/// Looks at a PGN, byte by byte.
#[derive(Debug)]
pub(super) struct WordWatch {
    part: Part,
    /// The variations that are open; nobody reads them.
    depth: usize,
    word: Vec<u8>,
}

impl Default for WordWatch {
    fn default() -> WordWatch {
        WordWatch { part: Part::LineStart, depth: 0, word: Vec::new() }
    }
}

impl WordWatch {
    /// Takes the next byte; gives the comment that is to stand before it, if one is.
    pub(super) fn push(&mut self, byte: u8) -> Option<String> {
        match (self.part, byte) {
            (Part::Comment, b'}') => self.part = Part::Moves,
            (Part::Tag | Part::LineComment, b'\n') => self.part = Part::LineStart,
            (Part::Comment | Part::Tag | Part::LineComment, _) => {}
            (Part::LineStart, b) if BYTE_ORDER_MARK.contains(&b) => {
                self.word.push(b);
                if self.word == BYTE_ORDER_MARK {
                    self.word.clear();
                }
            }
            (Part::LineStart, b'[') => {
                self.depth = 0;
                self.part = Part::Tag;
            }
            (Part::LineStart | Part::Moves, _) => return self.of_moves(byte),
        }
        None
    }

    fn of_moves(&mut self, byte: u8) -> Option<String> {
        // A move number ends at its dots; those of `e.p.` belong to the word.
        let is_dot = byte == b'.' && !self.word.first().is_some_and(u8::is_ascii_alphabetic);
        let ends = is_dot || byte.is_ascii_whitespace() || b"{}()!?$;*".contains(&byte);
        self.part = match byte {
            b'\n' => Part::LineStart,
            b'{' => Part::Comment,
            b';' => Part::LineComment,
            _ => Part::Moves,
        };
        if !ends {
            self.word.push(byte);
            return None;
        }
        let told = self.end();
        match byte {
            b'(' => self.depth += 1,
            b')' => self.depth = self.depth.saturating_sub(1),
            b'$' => self.word.push(byte),
            _ => {}
        }
        told
    }

    /// The comment behind the last word, if one is to stand there.
    pub(super) fn end(&mut self) -> Option<String> {
        let word = std::mem::take(&mut self.word);
        if self.depth > 0 || is_known(&word) {
            return None;
        }
        let word = escape(&word, MOST).replace('}', "");
        Some(format!("{{{MARK}{word}]}}"))
    }

    /// True within a comment, where a line may begin with anything.
    pub(super) fn is_in_comment(&self) -> bool {
        self.part == Part::Comment
    }
}

/// True for a word that the parser reads, or that says nothing of a move: numbers, results, moves, glyphs.
fn is_known(word: &[u8]) -> bool {
    /// Written behind moves, and no part of them.
    const NOTES: [&str; 6] = ["e.p.", "e.p", "ep", "N", "TN", "D"];
    let Ok(text) = std::str::from_utf8(word) else { return false };
    let text = text.replace(['–', '—'], "-");
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    // Glyphs, and what may be meant for a result: a game without one is told by those who read it.
    let is_no_move = text.chars().all(|c| "+-=/~#".contains(c) || c.is_ascii_digit());
    let is_move = |text: &str| SanPlus::from_ascii(text.as_bytes()).is_ok();
    is_no_move
        || text.strip_prefix('$').is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
        || text == "½-½"
        || NOTES.contains(&&*text)
        || is_move(&text)
        || (number.starts_with(|c: char| c.is_ascii_alphabetic()) && is_move(number))
}

/// The word that a comment of ours tells; none of any other comment.
pub(crate) fn unread(comment: &[u8]) -> Option<String> {
    let word = comment.strip_prefix(MARK.as_bytes())?.strip_suffix(b"]")?;
    Some(escape(word, MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let mut watch = WordWatch::default();
        let comments: Vec<String> =
            text.bytes().filter_map(|byte| watch.push(byte)).collect::<Vec<_>>();
        let all = comments.into_iter().chain(watch.end());
        all.filter_map(|comment| {
            unread(comment.trim_start_matches('{').trim_end_matches('}').as_bytes())
        })
        .collect()
    }

    #[test]
    fn the_words_of_real_games_are_known() {
        let game = "\u{feff}[Event \"e2-e4 foo\"]\n\n1. e4 {e2-e4, foo} e5 2.Nf3! Nc6?! 3. O-O-O+ (foo bar (x) {)} y) \
                    0-0 4... exd6 e.p. 5. e8=Q# $12 +- = N ; rest of the line\n6. Rdxd1$4 Qh4e1 *\n\n[Event \"x\"]\n1-0";
        assert_eq!(told(game), Vec::<String>::new());
        for result in ["1-0", "0-1", "1/2-1/2", "*", "1–0", "½-½", "12e4", "--", "1/2", "0-2"] {
            assert_eq!(told(result), Vec::<String>::new(), "{result}");
        }
    }

    #[test]
    fn a_word_that_the_parser_passes_over_is_told() {
        for word in ["e2-e4", "foo", "exd6e.p.", "@@@", "♘f3", "xyz", "Nf3+-x", "mate", "$x"] {
            assert_eq!(told(&format!("1. d4 d5 2. {word} *")), [word], "{word}");
            assert_eq!(told(&format!("1. d4 d5 2. {word}")), [word], "{word}");
        }
        assert_eq!(told("1. e4 (foo) bar"), ["bar"]);
    }
}
