//! One run spread over many machines: a shard plays every Nth pair of games, or judges every Nth entry, and keeps them
//! in a journal of its own; the journals of all shards are put together again by [`whole`] and [`checked`]. A scheduler
//! gives each shard its machine.

pub(crate) mod check;
pub(crate) mod checked;
pub(crate) mod parts;
pub mod record;
pub(crate) mod scheduler;
pub(crate) mod whole;

use std::fmt;
use std::num::NonZeroUsize;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::event::journal::{self, JournalError, JournalKind, JournalOf, RecordPlace, Repaired};
use crate::model::text::shown;

/// One part of a run. The same shard is always the same games, and each game is of exactly one shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// The number of the part, from 1.
    index: NonZeroUsize,
    /// Of so many.
    of: NonZeroUsize,
}

impl Shard {
    /// All of a run.
    pub(crate) const WHOLE: Shard = Shard { index: NonZeroUsize::MIN, of: NonZeroUsize::MIN };

    /// None where there is no such part.
    pub fn new(index: usize, of: usize) -> Option<Shard> {
        let (index, of) = NonZeroUsize::new(index).zip(NonZeroUsize::new(of))?;
        (index <= of).then_some(Shard { index, of })
    }

    /// The one that has this unit of the run, of so many.
    pub(crate) fn of_unit(unit: usize, of: NonZeroUsize) -> Shard {
        Shard { index: NonZeroUsize::MIN.saturating_add(unit % of), of }
    }

    /// Returns the number of the part, from 1.
    pub(crate) fn index(self) -> usize {
        self.index.get()
    }

    /// The number of parts.
    pub(crate) fn of(self) -> usize {
        self.of.get()
    }

    /// True if this unit of the run is one of the shard's.
    pub(crate) fn has(self, unit: usize) -> bool {
        Shard::of_unit(unit, self.of) == self
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

/// The command that mends a shard's journal, as [`JournalKind::REPAIR`] has it.
const REPAIR: &str = "give the command of its shard again, which will";
/// The file to name in place of one that is no shard's journal, as [`JournalKind::ORIGIN`] has it.
const ORIGIN: &str = "name a file that `--journal` wrote";

/// The end of a shard's journal that was lost when it was opened; the work is done again.
#[derive(Debug)]
pub(crate) enum LostEnd {
    /// No record was lost.
    Nothing,
    /// A record of which the end was never written.
    Torn,
    /// A last record that was not as it was written, of which a copy is kept.
    Damaged(Repaired),
}

/// Opens a shard's journal, or makes an empty one, and hands on its records. Nobody may be there to repair it, and its last
/// record can be had again by doing the work again, so that one that is damaged is cut off.
///
/// # Errors
/// As for [`JournalOf::open`].
pub(crate) fn open<R: JournalKind>(
    path: &Path,
    take: &mut dyn FnMut(R) -> Result<(), String>,
) -> Result<(JournalOf<R>, LostEnd), JournalError> {
    let lost = match journal::read_of::<R>(path, &mut |_: RecordPlace, _| Ok(())) {
        Err(JournalError::LastDamaged { .. }) => journal::repair_of::<R>(path)?,
        _ => None,
    };
    let (journal, torn) = JournalOf::open(path, &mut |_, record| take(record))?;
    let lost = match (lost, torn) {
        (Some(repaired), _) => LostEnd::Damaged(repaired),
        (None, Some(_)) => LostEnd::Torn,
        (None, None) => LostEnd::Nothing,
    };
    Ok((journal, lost))
}

/// Checks that a journal goes on; `differs` is what its run and the one that is asked for now differ in.
///
/// # Errors
/// Says the first thing in which its header differs from what is asked for now.
pub(crate) fn goes_on(
    path: &Path,
    kind: &str,
    differs: Option<String>,
    [theirs, ours]: [Shard; 2],
) -> Result<(), String> {
    let parts = || format!("shard is {theirs} and {ours}");
    match differs.or_else(|| (theirs != ours).then(parts)) {
        None => Ok(()),
        Some(what) => {
            Err(format!("{} is of another {kind}: {what}; name another journal", shown(path)))
        }
    }
}

/// True if a journal is of a check.
pub(crate) fn is_of_check(path: &Path) -> bool {
    let begins = |line: Vec<u8>| journal::record_in::<check::CheckRecord>(&line)?.begins().ok();
    journal::first_line(path).and_then(begins).is_some()
}

/// The shard as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShardRequest {
    /// The given shard.
    Given(Shard),
    /// The one that the scheduler's environment names, of so many where the scheduler does not tell.
    Auto(Option<NonZeroUsize>),
}

impl FromStr for ShardRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<ShardRequest, String> {
        let bad = || {
            format!(
                "{text:?} is no shard; write I/N with I from 1 to N such as 3/16, auto, or auto/N"
            )
        };
        if text == "auto" {
            return Ok(ShardRequest::Auto(None));
        }
        let (index, of) = text.split_once('/').ok_or_else(bad)?;
        let number = |word: &str| {
            let plain = word.bytes().all(|byte| byte.is_ascii_digit());
            word.parse::<usize>().ok().filter(|_| plain)
        };
        let of = number(of).and_then(NonZeroUsize::new).ok_or_else(bad)?;
        if index == "auto" {
            return Ok(ShardRequest::Auto(Some(of)));
        }
        let shard = number(index).and_then(|index| Shard::new(index, of.get()));
        shard.map(ShardRequest::Given).ok_or_else(bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shards_are_written_from_1() {
        assert_eq!("3/16".parse(), Ok(ShardRequest::Given(Shard::new(3, 16).unwrap())));
        assert_eq!("auto".parse(), Ok(ShardRequest::Auto(None)));
        assert_eq!("auto/8".parse(), Ok(ShardRequest::Auto(NonZeroUsize::new(8))));
        for wrong in ["", "3", "0/4", "5/4", "1/0", "auto/0", "+1/4", "a/b", "1/2/3", "-1/4"] {
            assert!(wrong.parse::<ShardRequest>().is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn each_unit_is_of_exactly_one_shard(unit in 0usize..100_000, of in 1usize..200) {
            let having = (1..=of).filter(|index| Shard::new(*index, of).unwrap().has(unit));
            prop_assert_eq!(having.count(), 1);
        }
    }
}
