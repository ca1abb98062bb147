//! What an `info` line says of a search, as far as a game's record asks.
//!
//! Engines print many of these for each move and only the last that counts is kept, so a line is read once,
//! and no further than its `pv` or its `string`: those are as long as an engine likes.

use serde::Serialize;

use crate::game::eval::Eval;

/// One search in numbers; what was not said is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Info {
    /// Plies searched.
    pub depth: Option<u32>,
    /// The deepest line, in plies.
    pub seldepth: Option<u32>,
    /// Positions searched.
    pub nodes: Option<u64>,
    /// Positions a second.
    pub speed: Option<u64>,
    /// The hash table's filling, per mille.
    pub hashfull: Option<u32>,
    /// Positions found in endgame tables.
    pub table_hits: Option<u64>,
    /// The evaluation, from the engine's own point of view.
    pub eval: Option<Eval>,
}

impl Info {
    /// Reads a line that counts: an `info` with an evaluation that is exact, and of the first line of play.
    /// The second value is the text of its `pv`, empty if there is none.
    #[must_use]
    pub fn read(line: &[u8]) -> Option<(Info, &[u8])> {
        let rest = line.strip_prefix(b"info ")?;
        let mut info = Info::default();
        let mut pv: &[u8] = b"";
        let mut words = Words(rest);
        while let Some(word) = words.next() {
            let mut number = || words.next().and_then(number);
            match word {
                b"depth" => info.depth = number().and_then(|n| u32::try_from(n).ok()),
                b"seldepth" => info.seldepth = number().and_then(|n| u32::try_from(n).ok()),
                b"nodes" => info.nodes = number().and_then(|n| u64::try_from(n).ok()),
                b"nps" => info.speed = number().and_then(|n| u64::try_from(n).ok()),
                b"hashfull" => info.hashfull = number().and_then(|n| u32::try_from(n).ok()),
                b"tbhits" => info.table_hits = number().and_then(|n| u64::try_from(n).ok()),
                b"cp" => info.eval = number().map(Eval::centipawns),
                b"mate" => info.eval = number().map(Eval::mate),
                b"lowerbound" | b"upperbound" => return None,
                b"multipv" if words.next() != Some(b"1") => return None,
                b"pv" => {
                    pv = words.0.trim_ascii();
                    break;
                }
                // Free text may look like anything.
                b"string" => break,
                _ => {}
            }
        }
        info.eval.map(|_| (info, pv))
    }
}

/// The words of a line; what is left of it is what stands behind the last that was taken.
struct Words<'a>(&'a [u8]);

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        while let [b'\0'..=b' ', rest @ ..] = self.0 {
            self.0 = rest;
        }
        let mut length = 0;
        while self.0.get(length).is_some_and(|byte| *byte > b' ') {
            length += 1;
        }
        let word;
        (word, self.0) = self.0.split_at_checked(length)?;
        (length > 0).then_some(word)
    }
}

/// A whole number as sloppy engines print it: `+00031`, `-5`, `00112`, or a fraction, which is cut.
fn number(word: &[u8]) -> Option<i64> {
    let (negative, digits) = match word {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, word),
    };
    let whole = digits.iter().take_while(|byte| **byte != b'.');
    let mut value = None;
    for byte in whole {
        let digit = i64::from(byte.checked_sub(b'0').filter(|digit| *digit < 10)?);
        value = Some(value.unwrap_or(0_i64).checked_mul(10)?.checked_add(digit)?);
    }
    value.map(|value| if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_exact_scores_of_the_first_line_count() {
        for (line, expected) in [
            ("info depth 3 score cp 12 pv e2e4", true),
            ("info depth 3 multipv 1 score mate -3 nodes 5", true),
            ("info depth 3 multipv 2 score cp 12", false),
            ("info depth 3 multipv 12 score cp 12", false),
            ("info depth 3 score cp 12 lowerbound nodes 5", false),
            ("info depth 3 score mate 2 upperbound", false),
            ("info depth 3 currmove e2e4", false),
            ("info score cp 5 multipv 2 pv e2e4", false),
            ("info score cp 5 pv e2e4 multipv 2", true),
            ("info  depth 3\tscore cp 5", true),
            ("info string the score cp 3 counts not", false),
            ("info depth 3 score", false),
            ("info depth 3 score cp", false),
            ("information score cp 3", false),
            ("bestmove e2e4 score cp 3", false),
            ("", false),
        ] {
            assert_eq!(Info::read(line.as_bytes()).is_some(), expected, "{line}");
        }
    }

    #[test]
    fn a_line_is_read_to_its_pv() {
        let line =
            b"info depth 9 seldepth 14 score cp +0031 nodes 123 nps 4.5 hashfull 12 tbhits 0 pv \
                     e2e4 e7e5 ";
        let (info, pv) = Info::read(line).unwrap();
        assert_eq!(
            info,
            Info {
                depth: Some(9),
                seldepth: Some(14),
                nodes: Some(123),
                speed: Some(4),
                hashfull: Some(12),
                table_hits: Some(0),
                eval: Some(Eval::centipawns(31)),
            }
        );
        assert_eq!(pv, b"e2e4 e7e5");
        let line = b"info score mate -2 depth x string depth 7 pv e2e4";
        let (info, pv) = Info::read(line).unwrap();
        assert_eq!((info.eval, info.depth), (Some(Eval::mate(-2)), None));
        assert_eq!(pv, b"");
    }

    #[test]
    fn numbers_are_read_as_sloppily_as_they_are_printed() {
        for (word, expected) in [
            ("7", Some(7)),
            ("+00031", Some(31)),
            ("-5", Some(-5)),
            ("-0", Some(0)),
            ("12.75", Some(12)),
            ("-1.5", Some(-1)),
            (".5", None),
            ("", None),
            ("-", None),
            ("+-1", None),
            ("1e3", None),
            ("9223372036854775807", Some(i64::MAX)),
            ("9223372036854775808", None),
        ] {
            assert_eq!(number(word.as_bytes()), expected, "{word}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_will_do(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Info::read(&line);
            let _ = Info::read(&[b"info ", line.as_slice()].concat());
        }
    }
}
