//! One record as a line: `{"n":12,"crc":"9ae0daaf","record":{…}}`.
//!
//! The checksum is CRC-32 over the record's text, begun with the number and the checksum before it: a line
//! that was changed, left out or put elsewhere does not fit.

use std::fmt::Write as _;

/// What a line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) number: u64,
    pub(super) crc: u32,
    /// The record as JSON.
    pub(super) record: &'a str,
}

/// How every journal begins.
pub(super) const BEGINNING: &str = r#"{"n":0,"crc":""#;
const AFTER_CRC: &str = r#"","record":"#;

/// The checksum of a record.
pub(super) fn checksum(before: u32, number: u64, record: &str) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&before.to_le_bytes());
    hasher.update(&number.to_le_bytes());
    hasher.update(record.as_bytes());
    hasher.finalize()
}

/// Writes a line with its end; gives its checksum.
pub(super) fn write(out: &mut String, before: u32, number: u64, record: &str) -> u32 {
    let crc = checksum(before, number, record);
    // invariant: writing to memory does not fail.
    let _ = writeln!(out, r#"{{"n":{number},"crc":"{crc:08x}{AFTER_CRC}{record}}}"#);
    crc
}

/// Reads a line without its end; none where it is not of this form.
pub(super) fn read(text: &str) -> Option<Line<'_>> {
    let rest = text.strip_prefix(r#"{"n":"#)?;
    let (number, rest) = rest.split_once(r#","crc":""#)?;
    let (crc, rest) = rest.split_at_checked(8)?;
    let record = rest.strip_prefix(AFTER_CRC)?.strip_suffix('}')?;
    let plain = number.bytes().all(|byte| byte.is_ascii_digit());
    let hex = crc.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !plain || !hex {
        return None;
    }
    Some(Line { number: number.parse().ok()?, crc: u32::from_str_radix(crc, 16).ok()?, record })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_is_json_of_one_form() {
        let mut text = String::new();
        let crc = write(&mut text, 7, 3, r#"{"note":"x"}"#);
        assert_eq!(
            text,
            format!("{{\"n\":3,\"crc\":\"{crc:08x}\",\"record\":{{\"note\":\"x\"}}}}\n")
        );
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(before: u32, number: u64, record in "\\PC*") {
            let mut text = String::new();
            let crc = write(&mut text, before, number, &record);
            let line = read(text.trim_end_matches('\n')).unwrap();
            prop_assert_eq!(line, Line { number, crc, record: &record });
            prop_assert_eq!(checksum(before, line.number, line.record), crc);
        }

        #[test]
        fn one_changed_byte_is_noticed(record in "[ -~]{1,60}", at in 0usize..60, bit in 0u8..7) {
            let mut bytes = record.clone().into_bytes();
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            let changed = String::from_utf8(bytes).unwrap();
            prop_assert_ne!(checksum(1, 2, &record), checksum(1, 2, &changed));
        }
    }
}
