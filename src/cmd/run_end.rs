//! The conditions on which `gate4k run` ends an entry: its input has ended, all that was asked of it is answered, and it neither ends nor says any more.
//!
//! An entry that reads to the end of its input and then computes for ever would hold the caller's shell for ever. One that still answers
//! is not cut: a search takes as long as it takes, and so does whatever UCI does not know, or a program that was asked for nothing.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::model::evidence::Limits;
use crate::model::lock::lock;

/// The most bytes of a line that are looked at.
const LOOKED_AT: usize = 64;

/// The words to which UCI has no answer.
const UNANSWERED: [&[u8]; 8] = [
    b"position",
    b"setoption",
    b"ucinewgame",
    b"stop",
    b"quit",
    b"debug",
    b"ponderhit",
    b"register",
];

/// The conversation of the caller and the entry, as far as it tells whether an answer is due.
#[derive(Debug)]
pub(super) struct Conversation(Mutex<State>);

#[derive(Debug)]
struct State {
    asked: Lines,
    told: Lines,
    /// `uci` and `isready` without an answer.
    greetings: usize,
    /// `go` without a `bestmove`.
    searches: usize,
    /// True once a command was sent.
    is_asked: bool,
    /// The entry has answered something: it has come up.
    is_up: bool,
    /// True once a command was sent that UCI does not know.
    is_unknown: bool,
    input_ended: bool,
    /// The outputs that the caller has not taken yet: the entry may wait until there is room again.
    unread: usize,
    /// The moment at which the caller last took what the entry wrote, or the input ended.
    quiet_since: Instant,
}

impl Conversation {
    pub(super) fn new() -> Conversation {
        Conversation(Mutex::new(State {
            asked: Lines::default(),
            told: Lines::default(),
            greetings: 0,
            searches: 0,
            is_asked: false,
            is_up: false,
            is_unknown: false,
            input_ended: false,
            unread: 0,
            quiet_since: Instant::now(),
        }))
    }

    /// Takes what the caller said.
    pub(super) fn asked(&self, bytes: &[u8]) {
        let mut state = lock(&self.0);
        for word in state.asked.words(bytes) {
            state.ask(&word);
        }
    }

    /// The caller says no more.
    pub(super) fn input_ended(&self) {
        let mut state = lock(&self.0);
        for word in state.asked.words(b"\n") {
            state.ask(&word);
        }
        state.input_ended = true;
        state.quiet_since = Instant::now();
    }

    /// Takes what the entry said, before the caller has it.
    pub(super) fn told(&self, bytes: &[u8]) {
        let mut state = lock(&self.0);
        for word in state.told.words(bytes) {
            match &*word {
                b"uciok" | b"readyok" => state.greetings = state.greetings.saturating_sub(1),
                b"bestmove" => state.searches = state.searches.saturating_sub(1),
                _ => continue,
            }
            state.is_up = true;
        }
        state.unread += 1;
    }

    /// The caller has it.
    pub(super) fn taken(&self) {
        let mut state = lock(&self.0);
        state.unread = state.unread.saturating_sub(1);
        state.quiet_since = Instant::now();
    }

    /// The time for which it has been silent, where that is longer than it may be; none as long as it may still answer.
    pub(super) fn is_over(&self, limits: &Limits) -> Option<Duration> {
        let state = lock(&self.0);
        let quiet = state.quiet_since.elapsed();
        state.patience(limits).filter(|patience| quiet >= *patience).map(|_| quiet)
    }
}

impl State {
    fn ask(&mut self, word: &[u8]) {
        self.is_asked = true;
        match word {
            b"uci" | b"isready" => self.greetings += 1,
            b"go" => self.searches += 1,
            word if UNANSWERED.contains(&word) => {}
            _ => self.is_unknown = true,
        }
    }

    fn patience(&self, limits: &Limits) -> Option<Duration> {
        let may_answer = self.searches > 0 || self.is_unknown || !self.is_asked;
        if !self.input_ended || self.unread > 0 || may_answer {
            return None;
        }
        Some(if self.greetings > 0 || !self.is_up { limits.startup } else { limits.quit })
    }
}

/// The first words of lines that come in pieces.
#[derive(Debug, Default)]
struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// The first words of the lines that these bytes end.
    fn words(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut words = Vec::new();
        for byte in bytes {
            if *byte == b'\n' {
                let line = std::mem::take(&mut self.begun);
                let mut all = line.split(u8::is_ascii_whitespace);
                words.extend(all.find(|word| !word.is_empty()).map(<[u8]>::to_vec));
            } else if self.begun.len() < LOOKED_AT {
                self.begun.push(*byte);
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time that the entry may be silent after this was said, in pieces.
    fn patience(asked: &[&str], told: &[&str]) -> Option<Duration> {
        let conversation = Conversation::new();
        asked.iter().for_each(|piece| conversation.asked(piece.as_bytes()));
        for piece in told {
            conversation.told(piece.as_bytes());
            conversation.taken();
        }
        conversation.input_ended();
        lock(&conversation.0).patience(&Limits::default())
    }

    #[test]
    fn one_that_has_answered_all_is_waited_for_as_after_quit() {
        let limits = Limits::default();
        assert_eq!(patience(&["uci\n"], &["id name X\nuci", "ok\n"]), Some(limits.quit));
        let game = ["uci\r\nisready\nposition startpos\ngo movetime 10", "000\n"];
        assert_eq!(patience(&game, &["uciok\nreadyok\nbestmove e2e4\n"]), Some(limits.quit));
    }

    #[test]
    fn one_that_may_still_answer_is_not_cut() {
        assert_eq!(patience(&[], &["compiling\n"]), None);
        assert_eq!(patience(&["quit\n"], &[]), Some(Limits::default().startup));
        assert_eq!(patience(&["go movetime 10000"], &["info depth 1\n"]), None);
        assert_eq!(patience(&["uci\nbench\n"], &["uciok\n"]), None);
        assert_eq!(patience(&["uci\nisready\n"], &["uciok\n"]), Some(Limits::default().startup));
    }

    #[test]
    fn nobody_is_cut_before_the_input_has_ended() {
        let conversation = Conversation::new();
        conversation.asked(b"uci\n");
        conversation.told(b"uciok\n");
        conversation.taken();
        let at_once = Limits { quit: Duration::ZERO, ..Limits::default() };
        assert!(conversation.is_over(&at_once).is_none());
        conversation.input_ended();
        assert!(conversation.is_over(&at_once).is_some());
        conversation.told(b"uciok\n");
        assert!(conversation.is_over(&at_once).is_none(), "the caller has not read it");
    }
}
