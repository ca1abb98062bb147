//! A crash as files for the engine's author: what is known of it, its moment again, the dialogue, standard error.

use crate::model::text::escape;

/// A crash in a game, told by whoever has the game.
#[derive(Clone, Debug)]
pub struct GameCrash {
    /// The known facts, a line each.
    pub facts: Vec<String>,
    /// The program that plays the moment again, for the command at the end of the facts, such as `gate4k run ENTRY`.
    pub again: &'static str,
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
}

impl GameCrash {
    /// The files of the crash's folder, with their names.
    #[must_use]
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
        files
    }

    fn told(&self) -> String {
        let mut text: String = self.facts.iter().map(|line| line.clone() + "\n").collect();
        let name = self.again.rsplit(' ').next().unwrap_or_default();
        text += &format!("\nThe moment again, with the engine in place of {name}:\n");
        text + &format!("    (cat moment.uci; sleep 10) | {}\n", self.again)
    }

    /// The words between gate4k and the engine: its moves before, the question that it did not answer, and what it was heard
    /// to say last.
    fn dialogue(&self) -> String {
        let mut text = String::new();
        for one in &self.moves {
            let depth = one.depth.map(|depth| format!(" depth {depth}")).unwrap_or_default();
            let eval = one.eval.map(|eval| format!(" eval {eval}")).unwrap_or_default();
            let CrashMove { numbered, millis, .. } = one;
            let line = escape(one.expected.as_bytes(), WORD);
            text += &format!("({numbered}{depth}{eval}, {millis} ms, expected {line})\n");
            text += &format!("< bestmove {}\n", one.uci);
        }
        if !text.is_empty() {
            text.push('\n');
        }
        for line in &self.moment {
            text += &format!("> {}\n", escape(line.as_bytes(), usize::MAX));
        }
        for line in &self.said {
            text += &format!("< {}\n", escape(line.as_bytes(), WORD));
        }
        text + &format!("({})\n", escape(self.why.as_bytes(), WORD))
    }
}

/// The longest line of a stranger's, in characters.
const WORD: usize = 400;
