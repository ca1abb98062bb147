//! One record as a line: `{"n":12,"sha256":"9ae0…","record":{…}}`, with the sum of [`RecordChain`].
//!
//! Journals that gate4k 0.1 has begun have CRC-32 in place of it, over the record's text, begun with the number and the
//! checksum before it: such lines are read, and never written.

use std::fmt::Write as _;

use super::chain::{DIGITS, RecordChain};

/// The parts of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JournalLine<'a> {
    pub(super) number: u64,
    pub(super) sum: Sum,
    /// The record as JSON.
    pub(super) record: &'a str,
}

/// The sum that a line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sum {
    Chain(RecordChain),
    /// Of gate4k 0.1.
    Crc(u32),
}

/// The beginnings of journals.
pub(super) const BEGINNINGS: [&str; 2] = [r#"{"n":0,"sha256":""#, r#"{"n":0,"crc":""#];

/// True if a first line that has no end can be that of a journal; a host that crashed leaves zeros.
pub(super) fn may_begin(bytes: &[u8]) -> bool {
    let as_far = |beginning: &&str| beginning.bytes().zip(bytes).all(|(due, byte)| due == *byte);
    BEGINNINGS.iter().any(as_far) || bytes.iter().all(|byte| *byte == 0)
}

/// True if a first line is that of a journal in which a host that crashed has left zeros.
pub(super) fn is_hollow(bytes: &[u8]) -> bool {
    let zero = bytes.iter().position(|byte| *byte == 0);
    zero.is_some_and(|at| may_begin(&bytes[..at]))
}

const AFTER_SUM: &str = r#"","record":"#;

/// The checksum of a record in a line of gate4k 0.1.
pub(super) fn checksum(before: u32, number: u64, record: &str) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&before.to_le_bytes());
    hasher.update(&number.to_le_bytes());
    hasher.update(record.as_bytes());
    hasher.finalize()
}

/// Writes a line with its end; gives its sum.
pub(super) fn write(
    out: &mut String,
    before: RecordChain,
    number: u64,
    record: &str,
) -> RecordChain {
    let sum = before.with(number, record);
    // invariant: writing to memory does not fail.
    let _ = writeln!(out, r#"{{"n":{number},"sha256":"{sum}{AFTER_SUM}{record}}}"#);
    sum
}

/// Reads a line without its end; none where it is not of this form.
pub(super) fn read(text: &str) -> Option<JournalLine<'_>> {
    let rest = text.strip_prefix(r#"{"n":"#)?;
    let (number, rest) = rest.split_once(r#",""#)?;
    let (sum, rest) = if let Some(rest) = rest.strip_prefix(r#"sha256":""#) {
        let (digits, rest) = rest.split_at_checked(DIGITS)?;
        (Sum::Chain(RecordChain::read(digits)?), rest)
    } else {
        let (digits, rest) = rest.strip_prefix(r#"crc":""#)?.split_at_checked(8)?;
        let hex = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (Sum::Crc(u32::from_str_radix(digits, 16).ok().filter(|_| hex)?), rest)
    };
    let record = rest.strip_prefix(AFTER_SUM)?.strip_suffix('}')?;
    let plain = number.bytes().all(|byte| byte.is_ascii_digit());
    Some(JournalLine { number: number.parse().ok().filter(|_| plain)?, sum, record })
}

/// The kind of a record, with which all begin; none where this one does not. Readers that want few kinds look at no more of the
/// others.
pub(super) fn kind(record: &str) -> Option<&str> {
    let (kind, _) = record.strip_prefix("{\"")?.split_once("\":")?;
    let is_of_word = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
    Some(kind).filter(|kind| !kind.is_empty() && kind.bytes().all(is_of_word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_is_json_of_one_form() {
        let mut text = String::new();
        let sum = write(&mut text, RecordChain::default(), 3, r#"{"note":"x"}"#);
        assert_eq!(
            text,
            format!("{{\"n\":3,\"sha256\":\"{sum}\",\"record\":{{\"note\":\"x\"}}}}\n")
        );
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
    }

    #[test]
    fn a_first_line_without_an_end_is_known_by_its_beginning() {
        let whole = br#"{"n":0,"sha256":"9ae0"#;
        assert!((0..=whole.len()).all(|end| may_begin(&whole[..end])));
        assert!(may_begin(&[0; 40]) && may_begin(br#"{"n":0,"crc":"01"#));
        assert!(!may_begin(b"#!/bin/sh") && !may_begin(br#"{"n":1,"#) && !may_begin(b"{}"));
    }

    #[test]
    fn a_line_of_0_1_is_read() {
        let text = r#"{"n":3,"crc":"0123abcd","record":{}}"#;
        let line = JournalLine { number: 3, sum: Sum::Crc(0x0123_abcd), record: "{}" };
        assert_eq!(read(text), Some(line));
        assert_eq!(read(&text.replace("abcd", "ABCD")), None);
    }

    #[test]
    fn another_spelling_of_a_record_is_none() {
        assert_eq!(kind(r#"{"game-finished":{"id":"x"}}"#), Some("game-finished"));
        assert_eq!(kind(r#"{"note":{}}"#), Some("note"));
        for other in
            [r#"{ "annulled":{}}"#, r#"{"annulled" :{}}"#, r#"{"\u0061nnulled":{}}"#, " {}", "{}"]
        {
            assert_eq!(kind(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(number: u64, record in "\\PC*") {
            let mut text = String::new();
            let sum = write(&mut text, RecordChain::default().with(0, "x"), number, &record);
            let line = read(text.trim_end_matches('\n')).unwrap();
            prop_assert_eq!(line, JournalLine { number, sum: Sum::Chain(sum), record: &record });
        }

        #[test]
        fn one_changed_byte_is_noticed(record in "[ -~]{1,60}", at in 0usize..60, bit in 0u8..7) {
            let mut bytes = record.clone().into_bytes();
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            let changed = String::from_utf8(bytes).unwrap();
            prop_assert_ne!(checksum(1, 2, &record), checksum(1, 2, &changed));
            let chain = RecordChain::default();
            prop_assert_ne!(chain.with(2, &record), chain.with(2, &changed));
        }
    }
}
