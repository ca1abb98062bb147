//! Both directions of a conversation, interleaved, with times.
//!
//! Bounded, whatever the engine floods: a long line keeps its beginning and the number of bytes that
//! are missing, and when there are too many lines the middle goes, with a count in its place. The
//! beginning holds the handshake and the end holds what went wrong, so both stay.

use std::collections::VecDeque;
use std::time::Duration;

use crate::model::text::{escape, lines_of};

/// The most lines that are kept from the beginning.
const HEAD: usize = 120;
/// The most lines that are kept from the end.
const TAIL: usize = 280;
/// The most bytes that are kept of a line from the engine.
const LINE: usize = 240;
/// The most bytes that are kept of a line to the engine: enough for every line, so that each can be sent again.
const SENT: usize = 64 << 10;

/// The speaker of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// We, on its standard input.
    Sent,
    /// The engine, on its standard output.
    Received,
    /// The engine, on its standard error.
    Stderr,
    /// A remark of ours that was not sent.
    Note,
}

impl Speaker {
    /// The sign that stands before its lines.
    #[must_use]
    pub(crate) fn sign(self) -> char {
        match self {
            Speaker::Sent => '>',
            Speaker::Received => '<',
            Speaker::Stderr => '!',
            Speaker::Note => '#',
        }
    }
}

/// One line of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TranscriptLine {
    /// When, since the exec of the entry.
    pub(crate) at: Duration,
    /// The speaker.
    pub(crate) voice: Speaker,
    /// The beginning of the line, as it came.
    pub(crate) text: Vec<u8>,
    /// The number of bytes of the line that are not kept.
    pub(crate) more: usize,
}

impl TranscriptLine {
    fn new(at: Duration, voice: Speaker, text: &[u8]) -> TranscriptLine {
        let kept = text.len().min(if voice == Speaker::Sent { SENT } else { LINE });
        TranscriptLine { at, voice, text: text[..kept].to_vec(), more: text.len() - kept }
    }

    /// One harmless line for a report: `  1.234 < bestmove e2e4`.
    pub(crate) fn line(&self) -> String {
        let text = escape(&self.text, SENT);
        let mut line = format!("{:8.3} {} {text}", self.at.as_secs_f64(), self.voice.sign());
        if self.more > 0 {
            line.push_str(&format!(" … {} more bytes", self.more));
        }
        line
    }
}

/// A record of what was said; bounded, whatever the engine floods.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transcript {
    head: Vec<TranscriptLine>,
    tail: VecDeque<TranscriptLine>,
    dropped: u64,
}

impl Transcript {
    /// We sent a line (given without its end).
    pub(crate) fn sent(&mut self, at: Duration, line: &[u8]) {
        self.push(TranscriptLine::new(at, Speaker::Sent, line));
    }

    /// The engine wrote a line (given without its end).
    pub(crate) fn received(&mut self, at: Duration, line: &[u8]) {
        self.push(TranscriptLine::new(at, Speaker::Received, line));
    }

    /// The engine wrote to its standard error; the chunk may hold several lines.
    pub(crate) fn stderr(&mut self, at: Duration, chunk: &[u8]) {
        for line in lines_of(chunk) {
            self.push(TranscriptLine::new(at, Speaker::Stderr, line));
        }
    }

    /// Something that a reader should know at this point.
    pub(crate) fn note(&mut self, at: Duration, text: &str) {
        self.push(TranscriptLine::new(at, Speaker::Note, text.as_bytes()));
    }

    fn push(&mut self, entry: TranscriptLine) {
        if self.head.len() < HEAD {
            self.head.push(entry);
            return;
        }
        if self.tail.len() == TAIL {
            self.tail.pop_front();
            self.dropped += 1;
        }
        self.tail.push_back(entry);
    }

    /// The record for a report, harmless line by line.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.head.iter().map(TranscriptLine::line).collect();
        if self.dropped > 0 {
            lines.push(format!("         … {} lines left out …", self.dropped));
        }
        lines.extend(self.tail.iter().map(TranscriptLine::line));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Duration = Duration::from_millis(1234);

    #[test]
    fn a_conversation_reads_in_order() {
        let mut record = Transcript::default();
        record.sent(Duration::ZERO, b"uci");
        record.received(AT, b"uciok\r");
        record.stderr(AT, b"warning: x\nnote\n");
        record.note(AT, "idle");
        assert_eq!(
            record.lines(),
            [
                "   0.000 > uci",
                "   1.234 < uciok\\r",
                "   1.234 ! warning: x",
                "   1.234 ! note",
                "   1.234 # idle",
            ]
        );
    }

    #[test]
    fn long_lines_are_cut_and_hostile_ones_harmless() {
        let mut record = Transcript::default();
        record.received(AT, &vec![b'a'; LINE + 17]);
        record.received(AT, b"\x1b[31m\xff\0");
        let lines = record.lines();
        assert!(lines[0].ends_with("a … 17 more bytes"), "{}", lines[0]);
        assert_eq!(lines[1], "   1.234 < \\u{1b}[31m\\xff\\u{0}");
    }

    #[test]
    fn what_was_sent_is_kept_whole() {
        let mut record = Transcript::default();
        let line = format!("position startpos moves{}", " e2e4".repeat(340));
        record.sent(AT, line.as_bytes());
        assert_eq!(record.lines(), [format!("   1.234 > {line}")]);
    }

    #[test]
    fn a_flood_keeps_both_ends() {
        let mut record = Transcript::default();
        for number in 0..100_000 {
            record.received(AT, number.to_string().as_bytes());
        }
        let lines = record.lines();
        assert_eq!(lines.len(), HEAD + 1 + TAIL);
        assert!(lines[0].ends_with("< 0"));
        assert!(lines[HEAD].contains("99600 lines left out"), "{}", lines[HEAD]);
        assert!(lines[HEAD + TAIL].ends_with("< 99999"));
    }
}
