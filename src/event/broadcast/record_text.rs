//! A game that was recorded as PGN, as PGN again: its own tags, moves, marks and comments. Written from what is known of it, it would have
//! figures that nobody recorded, and lack some that somebody did.

use pgn_reader::{Nag, SanPlus};
use shakmaty::{Chess, Position};

use crate::model::game::result::GameResult;
use crate::model::text::escape;

/// The longest line that is not one word or one comment, in bytes (PGN standard, 8.2.1).
const WIDTH: usize = 80;
/// The longest line of a comment that is kept, in bytes.
const LONG: usize = 1 << 16;

/// The text of a game as it is read.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordText {
    text: String,
    /// The length of its last line.
    column: usize,
    /// True before the first move and behind a comment: Black's moves have a number there, too.
    needs_number: bool,
}

impl RecordText {
    /// A tag, its value without escapes.
    pub(super) fn tag(&mut self, name: &str, value: &str) {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        self.text += &format!("[{name} \"{value}\"]\n");
    }

    /// Its moves begin.
    pub(super) fn begin_moves(&mut self) {
        self.text.push('\n');
        self.needs_number = true;
    }

    /// A move in the position before it.
    pub(super) fn san(&mut self, before: &Chess, san: &SanPlus) {
        let number = before.fullmoves();
        if before.turn().is_white() {
            self.word(&format!("{number}. {san}"));
        } else if self.needs_number {
            self.word(&format!("{number}... {san}"));
        } else {
            self.word(&san.to_string());
        }
        self.needs_number = false;
    }

    /// A mark of the move before.
    pub(super) fn nag(&mut self, nag: Nag) {
        self.word(&nag.to_string());
    }

    /// A comment, without its braces.
    pub(super) fn comment(&mut self, comment: &[u8]) {
        let text = String::from_utf8_lossy(comment);
        // One that went to the end of its line may have a brace.
        let lines = text
            .split('\n')
            .map(|line| escape(line.trim_end_matches('\r').as_bytes(), LONG).replace('}', ")"));
        self.word(&format!("{{{}}}", lines.collect::<Vec<_>>().join("\n")));
        self.needs_number = true;
    }

    /// The whole game.
    pub(super) fn ended(mut self, result: GameResult) -> String {
        self.word(result.word());
        self.text + "\n\n"
    }

    fn word(&mut self, word: &str) {
        let length = word.split('\n').next().map_or(0, str::len);
        if self.column > 0 {
            let fits = self.column + 1 + length <= WIDTH;
            self.text.push(if fits { ' ' } else { '\n' });
            self.column = if fits { self.column + 1 } else { 0 };
        }
        self.text += word;
        self.column = match word.rsplit_once('\n') {
            Some((_, last)) => last.len(),
            None => self.column + word.len(),
        };
    }
}
