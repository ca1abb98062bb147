//! The one reader of `info` lines.
//!
//! Engines print many of these for each move and a game keeps only the last that counts, so a line is read once,
//! and no further than its `pv` or its `string`: those are as long as an engine likes.

use crate::model::game::record::SearchInfo;
use crate::model::game::score::Score;

/// An `info` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InfoLine<'a> {
    /// Its numbers.
    pub(crate) search: SearchInfo,
    /// True if its score is exact and of the first line of play.
    is_main: bool,
    /// The text after `pv`; empty if there is none.
    pub(crate) pv: &'a [u8],
    /// The text after `string`.
    pub(crate) string: Option<&'a [u8]>,
}

impl<'a> InfoLine<'a> {
    /// Reads a line; none if it is no `info`.
    pub(crate) fn read(line: &'a [u8]) -> Option<InfoLine<'a>> {
        let mut words = Words(line);
        if words.next() != Some(b"info") {
            return None;
        }
        let mut info = SearchInfo::default();
        let (mut is_main, mut pv, mut string): (_, &[u8], _) = (true, b"", None);
        while let Some(word) = words.next() {
            match word {
                b"depth" => info.depth = words.number(),
                b"seldepth" => info.seldepth = words.number(),
                b"nodes" => info.nodes = words.number(),
                b"nps" => info.speed = words.number(),
                b"hashfull" => info.hashfull = words.number(),
                b"tbhits" => info.table_hits = words.number(),
                b"cp" => info.score = words.number().map(Score::centipawns),
                b"mate" => info.score = words.number().map(Score::mate),
                b"lowerbound" | b"upperbound" => is_main = false,
                b"multipv" => is_main &= words.next() == Some(b"1"),
                b"pv" => {
                    pv = words.0.trim_ascii();
                    break;
                }
                // Free text may look like anything.
                b"string" => {
                    string = Some(words.0.trim_ascii());
                    break;
                }
                _ => {}
            }
        }
        Some(InfoLine { search: info, is_main, pv, string })
    }

    /// True if it tells of the move to come: it has a score, which is exact and of the first line of play.
    pub(crate) fn counts(&self) -> bool {
        self.is_main && self.search.score.is_some()
    }
}

/// The words of a line; the rest of it begins behind the last that was taken.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    /// Takes the next word; none where it is no number of this type.
    fn number<T: TryFrom<i64>>(&mut self) -> Option<T> {
        number(self.next()?)?.try_into().ok()
    }
}

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
            let counts = InfoLine::read(line.as_bytes()).is_some_and(|line| line.counts());
            assert_eq!(counts, expected, "{line}");
        }
    }

    #[test]
    fn a_line_is_read_to_its_pv() {
        let line =
            b"info depth 9 seldepth 14 score cp +0031 nodes 123 nps 4.5 hashfull 12 tbhits 0 pv \
                     e2e4 e7e5 ";
        let InfoLine { search, pv, .. } = InfoLine::read(line).unwrap();
        assert_eq!(
            search,
            SearchInfo {
                depth: Some(9),
                seldepth: Some(14),
                nodes: Some(123),
                speed: Some(4),
                hashfull: Some(12),
                table_hits: Some(0),
                score: Some(Score::centipawns(31)),
            }
        );
        assert_eq!(pv, b"e2e4 e7e5");
        let line = b"info score mate -2 depth x string depth 7 pv e2e4";
        let InfoLine { search, pv, string, .. } = InfoLine::read(line).unwrap();
        assert_eq!((search.score, search.depth), (Some(Score::mate(-2)), None));
        assert_eq!((pv, string), (&b""[..], Some(&b"depth 7 pv e2e4"[..])));
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
            let _ = InfoLine::read(&line);
            let _ = InfoLine::read(&[b"info ", line.as_slice()].concat());
        }
    }
}
