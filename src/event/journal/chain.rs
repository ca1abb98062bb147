//! The chain of sums through a journal: the sum of each record is SHA-256 over the sum before it, its number and its
//! text. A change, omission, addition or splice of a record changes every later sum, the last one included.

use std::fmt;

use ct_codecs::{Decoder, Hex};
use sha2::{Digest, Sha256};

use crate::model::text::hex;

/// The sum of all records up to one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordChain([u8; 32]);

/// Hexadecimal digits of a sum.
pub(super) const DIGITS: usize = 64;

impl RecordChain {
    /// The sum with one more record.
    pub(super) fn with(&self, number: u64, record: &str) -> RecordChain {
        let mut sum = Sha256::new();
        sum.update(self.0);
        sum.update(number.to_le_bytes());
        sum.update(record.as_bytes());
        RecordChain(sum.finalize().into())
    }

    /// Reads [`DIGITS`] small hexadecimal digits.
    pub(super) fn read(digits: &str) -> Option<RecordChain> {
        let small = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if digits.len() != DIGITS || !digits.bytes().all(small) {
            return None;
        }
        let mut bytes = [0; 32];
        Hex::decode(&mut bytes, digits, None).ok()?;
        Some(RecordChain(bytes))
    }
}

impl fmt::Display for RecordChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_depends_on_all_before_it_and_is_read_as_written() {
        let first = RecordChain::default().with(0, "a");
        let sums = [
            first,
            first.with(1, "b"),
            first.with(2, "b"),
            first.with(1, "c"),
            RecordChain::default().with(1, "b"),
        ];
        for (at, sum) in sums.iter().enumerate() {
            assert_eq!(sums.iter().position(|other| other == sum), Some(at));
            assert_eq!(RecordChain::read(&sum.to_string()), Some(*sum));
        }
        for wrong in ["", "AB", &"A".repeat(64), &"é".repeat(32), &"0".repeat(65)] {
            assert_eq!(RecordChain::read(wrong), None);
        }
    }
}
