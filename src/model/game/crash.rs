//! A crash as files for the engine's author: what is known of it, its moment again, the dialogue, standard error.

use crate::model::text::escape;

/// A crash in a game, told by whoever has the game.
#[derive(Clone, Debug)]
pub struct GameCrash {
    /// The known facts, a line each.
    pub facts: Vec<String>,
    /// The command that starts the engine again, such as `gate4k run entries/a`.
    pub again: String,
    /// The reason why the engine was ended.
    pub why: String,
    /// The lines that bring an engine to that moment.
    pub moment: Vec<String>,
    /// The last position, as FEN.
    pub fen: String,
    /// The engine's moves before.
    pub moves: Vec<CrashMove>,
    /// The last lines that it said.
    pub said: Vec<String>,
    /// The last lines of its standard error.
    pub stderr: Vec<String>,
    /// The game as PGN; none where its moves are no game.
    pub pgn: Option<String>,
}

/// A move before a crash.
#[derive(Clone, Debug)]
pub struct CrashMove {
    /// `12. Nf3`.
    pub numbered: String,
    /// As UCI writes it.
    pub uci: String,
    /// The depth of its search.
    pub depth: Option<u32>,
    /// The evaluation, White's view.
    pub eval: Option<i32>,
    /// The time that it took, in milliseconds.
    pub millis: u128,
    /// The line of play that was expected; empty where none is known.
    pub expected: String,
    /// The position and the question that it answers.
    pub asked: Vec<String>,
}

impl GameCrash {
    /// The files of the crash's folder, with their names.
    pub fn files(&self) -> Vec<(&'static str, String)> {
        let lines = |lines: &[String], most: usize| -> String {
            lines.iter().map(|line| escape(line.as_bytes(), most) + "\n").collect()
        };
        let mut files = vec![
            ("crash.txt", self.told()),
            // Of any length: a game's moves are more than other texts.
            ("moment.uci", lines(&self.moment, usize::MAX)),
            ("position.fen", self.fen.clone() + "\n"),
            ("dialogue.txt", self.dialogue()),
        ];
        if !self.stderr.is_empty() {
            files.push(("stderr.txt", lines(&self.stderr, WORD)));
        }
        files.extend(self.pgn.clone().map(|pgn| ("game.pgn", pgn)));
        files
    }

    fn told(&self) -> String {
        let mut text: String = self.facts.iter().map(|line| line.clone() + "\n").collect();
        text += "\nThe moment again, with the engine at its place:\n";
        let again = escape(self.again.as_bytes(), usize::MAX);
        text + &format!("    (cat moment.uci; sleep 10) | {again}\n")
    }

    /// The words between gate4k and the engine, as far as the game has them: its start, each question with the move that
    /// answered it, the question without an answer, and what it was heard to say last.
    fn dialogue(&self) -> String {
        let mut text = String::new();
        let told = |text: &mut String, lines: &[String]| {
            for line in lines {
                *text += &format!("> {}\n", escape(line.as_bytes(), usize::MAX));
            }
        };
        // A moment ends with the position and the question.
        let (start, question) = self.moment.split_at(self.moment.len().saturating_sub(2));
        told(&mut text, start);
        for one in &self.moves {
            told(&mut text, &one.asked);
            let depth = one.depth.map(|depth| format!(" depth {depth}")).unwrap_or_default();
            let eval = one.eval.map(|eval| format!(" eval {eval}")).unwrap_or_default();
            let CrashMove { numbered, millis, .. } = one;
            let line = escape(one.expected.as_bytes(), WORD);
            let line = if line.is_empty() { line } else { format!(", expected {line}") };
            text += &format!("({numbered}{depth}{eval}, {millis} ms{line})\n");
            text += &format!("< bestmove {}\n", one.uci);
        }
        text.push('\n');
        told(&mut text, question);
        for line in &self.said {
            text += &format!("< {}\n", escape(line.as_bytes(), WORD));
        }
        text + &format!("({})\n", escape(self.why.as_bytes(), WORD))
    }
}

/// The longest line of a stranger's, in characters.
const WORD: usize = 400;

/// The words of a command as a shell takes them.
pub(crate) fn shell_words<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./+=:,@%".contains(c);
    let word = |word: &str| match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_that_a_shell_reads() {
        let told = shell_words(["gate4k", "run", "my entry", "it's", "", "$(x)", "a/b-c_1.py"]);
        assert_eq!(told, "gate4k run 'my entry' 'it'\\''s' '' '$(x)' a/b-c_1.py");
    }
}
