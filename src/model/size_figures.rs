//! The bytes of an entry as figures.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::units::Bytes;
use super::verdict::Verdict;

/// What counts towards the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct SizeFigures {
    /// The file.
    pub file: Bytes,
    /// How much of the file is the stub that unpacks the rest; none where nothing is packed.
    pub stub: Option<Bytes>,
    /// What counts of engines.json, as `"Name":"value"`.
    pub payload: Bytes,
    /// The same by the bare values.
    pub payload_bare: Bytes,
    /// File and payload.
    pub total: Bytes,
    /// The limit.
    pub limit: Bytes,
}

/// What `gate4k size` tells of an entry.
#[derive(Clone, Debug)]
pub struct EntrySize {
    /// The path as it was given.
    pub path: PathBuf,
    /// The SHA-256 of the file in hex.
    pub sha256: String,
    /// What the file is, in a line: `sh stub, xz payload`.
    pub format: String,
    /// Whether it fits; undecided where the two readings of rule 7.3 differ.
    pub verdict: Verdict,
    /// The figures.
    pub size: SizeFigures,
    /// What of engines.json counts and why, a line each, escaped.
    pub counted: Vec<String>,
}

impl SizeFigures {
    /// `3721 of 4096 bytes, 375 left`, or `21 over`.
    #[must_use]
    pub fn words(&self) -> String {
        let rest = if self.total > self.limit {
            format!("{} over", self.total.saturating_sub(self.limit).0)
        } else {
            format!("{} left", self.limit.saturating_sub(self.total).0)
        };
        format!("{} of {}, {rest}", self.total.0, self.limit)
    }

    /// Bytes left, negative where there are too many.
    #[must_use]
    pub fn left(&self) -> i64 {
        let figure = |bytes: Bytes| i64::try_from(bytes.0).unwrap_or(i64::MAX);
        figure(self.limit).saturating_sub(figure(self.total))
    }
}
