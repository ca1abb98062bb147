//! Times and strangers' text as reports may show them.

use std::io::{self, Read};
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer};
use sha2::{Digest, Sha256};

/// Adds all that a reader gives to a sum, by parts: a network may be large.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn add_all(sum: &mut impl Digest, mut from: impl Read) -> io::Result<()> {
    let mut part = vec![0; 1 << 16];
    loop {
        match from.read(&mut part)? {
            0 => return Ok(()),
            length => sum.update(part.get(..length).unwrap_or_default()),
        }
    }
}

/// A duration as whole and decimal milliseconds, as JSON has it.
pub(crate) fn in_millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// Writes a duration so.
pub(crate) fn millis<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(in_millis(*time))
}

/// As [`millis`], for a time that may be missing.
pub(crate) fn millis_opt<S: Serializer>(time: &Option<Duration>, s: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => millis(time, s),
        None => s.serialize_none(),
    }
}

/// Reads what [`millis`] wrote.
pub(super) fn from_millis<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let time = f64::deserialize(from)?;
    Duration::try_from_secs_f64(time / 1e3).map_err(serde::de::Error::custom)
}

/// Reads what [`millis_opt`] wrote.
pub(super) fn from_millis_opt<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Duration>, D::Error> {
    let time: Option<f64> = Option::deserialize(from)?;
    time.map(|time| Duration::try_from_secs_f64(time / 1e3).map_err(serde::de::Error::custom))
        .transpose()
}

/// The lines of some output, without their ends; the last one may have none.
pub(crate) fn lines_of(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.strip_suffix(b"\n").unwrap_or(output).split(|byte| *byte == b'\n')
}

/// Bytes in hexadecimal, as sums are written.
pub(crate) fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The SHA-256 sum in hexadecimal.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hex(Sha256::digest(bytes))
}

/// True if a character moves a terminal's cursor, ends a line, turns the order of writing or is not seen at all, or
/// Unicode calls it `Default_Ignorable_Code_Point` (DerivedCoreProperties.txt of 16.0).
pub(crate) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Bytes of a stranger as one harmless line: UTF-8 kept, control characters, newlines and broken
/// sequences written as `\n`, `\x1b` …, and cut after `max` characters with an ellipsis. Nor does it hold a command for a CI runner.
pub fn escape(bytes: &[u8], max: usize) -> String {
    without_commands(&in_one_line(bytes, max))
}

fn in_one_line(bytes: &[u8], max: usize) -> String {
    let mut out = String::new();
    let mut count = 0usize;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if count >= max {
                out.push('…');
                return out;
            }
            count += 1;
            match c {
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c if steers(c) => out.push_str(&c.escape_default().to_string()),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            if count >= max {
                out.push('…');
                return out;
            }
            count += 1;
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

/// A path as one harmless line.
pub(crate) fn shown(path: &std::path::Path) -> String {
    escape(path.as_os_str().as_encoded_bytes(), usize::MAX)
}

/// A path as one word of a command for a shell; none where a line cannot hold it as it is.
pub(crate) fn shell_word(path: &std::path::Path) -> Option<String> {
    let text = path.to_str()?;
    if shown(path) != text {
        return None;
    }
    let option = if text.starts_with('-') { "./" } else { "" };
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    Some(if !text.is_empty() && text.chars().all(is_plain) {
        format!("{option}{text}")
    } else {
        format!("'{option}{}'", text.replace('\'', "'\\''"))
    })
}

/// Text without what runners (of Azure and GitHub, and of GitLab) read as commands, in the midst of a line, or at the beginning of
/// one that is broken at a blank.
fn without_commands(text: &str) -> String {
    let mut out = text
        .replace("##[", "#\\u{23}[")
        .replace("##vso[", "#\\u{23}vso[")
        .replace("section_start:", "section_start\\u{3a}")
        .replace("section_end:", "section_end\\u{3a}");
    let mut from = 0;
    while let Some(at) = out.get(from..).and_then(|rest| rest.find("::")).map(|at| from + at) {
        if out[..at].chars().next_back().is_none_or(char::is_whitespace) {
            out.replace_range(at..=at, "\\u{3a}");
        }
        from = at + 1;
    }
    out
}

/// JSON leaves characters alone that move a terminal's cursor or turn the order of writing (a file's
/// name may hold them). The document itself has none of them, so they can only stand in strings, where
/// `\u` says the same.
pub(crate) fn harmless(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        // The document's own line ends and indents stay.
        if steers(c) && c != '\n' && c != '\t' {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    // Text that a CI runner would take for a command in the midst of a line.
    out.replace("##[", "#\\u0023[")
        .replace("##vso[", "#\\u0023vso[")
        .replace("section_start:", "section_start\\u003a")
        .replace("section_end:", "section_end\\u003a")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_is_one_harmless_line() {
        assert_eq!(escape(b"a\nb\x1b[31m\xff", 100), "a\\nb\\u{1b}[31m\\xff");
        assert_eq!(escape("abc\u{202e}".as_bytes(), 100), "abc\\u{202e}");
        assert_eq!(escape(b"abcdef", 3), "abc…");
    }

    #[test]
    fn no_unseen_character_is_left_in_a_line_or_in_json() {
        for c in
            "\u{1b}\u{7}\u{9b}\u{200b}\u{202e}\u{2028}\u{2029}\u{2060}\u{2066}\u{feff}\u{e0041}\u{e0100}\u{fe0f}\u{3164}\u{34f}"
                .chars()
        {
            let line = escape(c.to_string().as_bytes(), 9);
            assert!(line.is_ascii() && line.starts_with("\\u{"), "{line}");
            let json = harmless(&format!("\"{c}\""));
            assert!(json.is_ascii() && !json.contains(c), "{json}");
            if c >= ' ' {
                assert_eq!(serde_json::from_str::<String>(&json).unwrap(), c.to_string());
            }
        }
    }
}
