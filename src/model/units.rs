//! Quantities with their unit in the type, so that a bare integer is never mistaken for one.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

/// A number of bytes (of a file, a string, memory).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// The limit of rule 7.1: 4 KiB.
    pub const LIMIT_4K: Bytes = Bytes(4096);

    /// The length of a slice or string.
    pub fn of(bytes: impl AsRef<[u8]>) -> Bytes {
        Bytes(bytes.as_ref().len() as u64)
    }

    /// `self - other`, or zero where other is larger.
    #[must_use]
    pub(crate) fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }

    /// A rounded figure with a binary unit, for prose (`256 GiB`); sizes that decide are shown exactly.
    #[must_use]
    pub(crate) fn human(self) -> String {
        const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
        let mut value = self.0 as f64;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        if unit == 0 || value.fract() < 0.05 {
            format!("{value:.0} {}", UNITS[unit])
        } else {
            format!("{value:.1} {}", UNITS[unit])
        }
    }
}

/// Whole milliseconds; the most that can be written for a time that no clock reaches.
pub(crate) fn whole_millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Hours, minutes and seconds, two digits each: `01:02:03`.
pub(crate) fn hours_minutes_seconds(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Whole microseconds; the most that can be written for a time that no clock reaches.
pub(crate) fn whole_micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// A size that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the size {0:?} is not understood; write bytes, or a number with K, M, G or T (1024 each): 512M, 2G"
)]
pub struct BadSize(String);

impl FromStr for Bytes {
    type Err = BadSize;

    /// `1048576`, `512M`, `2GiB`: units are powers of 1024.
    fn from_str(text: &str) -> Result<Bytes, BadSize> {
        let bad = || BadSize(text.to_owned());
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = unit.trim().to_ascii_lowercase();
        let unit = unit.strip_suffix("ib").or(unit.strip_suffix('b')).unwrap_or(&unit);
        let power = match unit {
            "" => 0,
            "k" => 1,
            "m" => 2,
            "g" => 3,
            "t" => 4,
            _ => return Err(bad()),
        };
        let number: u64 = number.parse().map_err(|_| bad())?;
        number.checked_mul(1024u64.pow(power)).map(Bytes).ok_or_else(bad)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(iter: I) -> Bytes {
        iter.fold(Bytes(0), Add::add)
    }
}

impl fmt::Display for Bytes {
    /// The exact figure: `4096 bytes`, `1 byte`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 1 { write!(f, "1 byte") } else { write!(f, "{} bytes", self.0) }
    }
}

/// The longest time that anybody waits for; a clock of the system has an end.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// A time that cannot be read, or that nobody waits for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadTime {
    /// The text is no number with a unit.
    #[error("{0:?} is no time such as 5s, 1m30s or 500ms")]
    NoTime(String),
    /// The time is longer than [`LONGEST`].
    #[error("{0:?} is longer than a year; write a time such as 5s, 1m30s or 500ms")]
    TooLong(String),
}

/// Reads a time as people write it: `5s`, `1m 30s`.
///
/// # Errors
/// Where it is none, or longer than a year.
pub(crate) fn time(text: &str) -> Result<Duration, BadTime> {
    match humantime::parse_duration(text) {
        Ok(time) if time <= LONGEST => Ok(time),
        Ok(_) => Err(BadTime::TooLong(text.to_owned())),
        // Whole numbers alone overflow there.
        Err(humantime::DurationError::NumberOverflow) => Err(BadTime::TooLong(text.to_owned())),
        Err(_) => Err(BadTime::NoTime(text.to_owned())),
    }
}

/// Reads a time of a file of settings, as people write it.
///
/// # Errors
/// As [`time`].
pub(crate) fn from_words<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    time(&String::deserialize(from)?).map_err(serde::de::Error::custom)
}

/// A half-move, counted from the start position; a full move is two plies.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize,
)]
#[serde(transparent)]
pub struct Ply(pub u32);

impl fmt::Display for Ply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 1 { write!(f, "1 ply") } else { write!(f, "{} plies", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        let read = |text: &str| text.parse::<Bytes>().map(|bytes| bytes.0).ok();
        for (text, bytes) in [("4096", 4096), ("2K", 2048), ("512MiB", 512 << 20), ("3g", 3 << 30)]
        {
            assert_eq!(read(text), Some(bytes), "{text}");
        }
        for text in ["", "M", "-1", "1.5G", "7 x", "99999999999T"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_ends_within_a_year() {
        assert_eq!(time("1m 30s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("1y"), Ok(Duration::from_secs(31_557_600)));
        for text in ["2y", "584542046090y", "99999999999999999999999d"] {
            assert_eq!(time(text), Err(BadTime::TooLong(text.into())));
        }
        for text in ["", "-1s", "nan", "5", "1e9s"] {
            assert_eq!(time(text), Err(BadTime::NoTime(text.into())));
        }
    }

    #[test]
    fn exact_and_rounded_figures() {
        assert_eq!(Bytes(1).to_string(), "1 byte");
        assert_eq!(Bytes(4096).to_string(), "4096 bytes");
        assert_eq!(Bytes(256 << 30).human(), "256 GiB");
        assert_eq!(Bytes(1536).human(), "1.5 KiB");
        assert_eq!(Bytes(4000) + Bytes(97), Bytes(4097));
    }
}
