//! The bytes of an entry as figures.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::units::Bytes;
use super::verdict::{Finding, Verdict};

/// The bytes that count towards the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct SizeFigures {
    /// The file.
    pub file: Bytes,
    /// The part of the file that is the stub, which unpacks the rest; none where nothing is packed.
    pub stub: Option<Bytes>,
    /// The part of engines.json that counts, as `"Name":"value"`.
    pub payload: Bytes,
    /// The part of engines.json that counts, by its bare values.
    pub payload_bare: Bytes,
    /// File and payload.
    pub total: Bytes,
    /// The limit.
    pub limit: Bytes,
}

/// The answer of `gate4k size` for an entry.
#[derive(Clone, Debug)]
pub(crate) struct EntrySize {
    /// The path as it was given.
    pub(crate) path: PathBuf,
    /// The SHA-256 of the file in hex.
    pub(crate) sha256: String,
    /// The format of the file, in a line: `sh stub, xz payload`.
    pub(crate) format: String,
    /// The next step of an author whose file is none that starts.
    pub(crate) step: Option<String>,
    /// The verdict on its size; undecided where the two readings of rule 7.3 differ, and a rejection where the file is none that starts
    /// or engines.json cannot be read.
    pub(crate) verdict: Verdict,
    /// The finding on engines.json, where it cannot be read: what it adds is unknown.
    pub(crate) problem: Option<Finding>,
    /// The figures.
    pub(crate) size: SizeFigures,
    /// The parts of engines.json that count, with the reasons, a line each, escaped.
    pub(crate) counted: Vec<String>,
}

impl SizeFigures {
    /// `3721 of 4096 bytes, 375 left`, or `21 over`.
    pub(crate) fn words(&self) -> String {
        let rest = match self.over() {
            Bytes(0) => format!("{} left", self.left()),
            over => format!("{} over", over.0),
        };
        format!("{} of {}, {rest}", self.total.0, self.limit)
    }

    /// Bytes over the limit; zero where there are none.
    pub(crate) fn over(&self) -> Bytes {
        self.total.saturating_sub(self.limit)
    }

    /// Bytes left, negative where there are too many.
    pub(crate) fn left(&self) -> i64 {
        let figure = |bytes: Bytes| i64::try_from(bytes.0).unwrap_or(i64::MAX);
        figure(self.limit).saturating_sub(figure(self.total))
    }
}
