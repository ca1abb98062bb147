//! The shard that a scheduler's environment names.

use std::num::NonZeroUsize;

use super::Shard;

/// The reason for which the environment names no shard.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoShard {
    /// No scheduler is there.
    #[error(
        "--shard auto: none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX and PARALLEL_SEQ is \
         set; run it as one of an array of jobs, or write --shard I/N"
    )]
    None,
    /// Two schedulers, or a scheduler and the command line, that say different things.
    #[error("--shard auto: {0} and {1} disagree; write --shard I/N")]
    Disagree(String, String),
    /// A scheduler that does not tell how many there are.
    #[error(
        "--shard auto: {0} tells which shard this is and not of how many; write --shard auto/N"
    )]
    Count(&'static str),
    /// A value that is none.
    #[error("--shard auto: {0}; write --shard I/N")]
    Odd(String),
}

/// A scheduler's word: its variable, the shard from 1, and of how many where it tells.
type SchedulerWord = (&'static str, usize, Option<usize>);

/// Asks the environment, through `get`; `given` is the number of shards of the command line.
///
/// # Errors
/// See [`NoShard`].
pub(crate) fn shard(
    given: Option<NonZeroUsize>,
    get: &dyn Fn(&str) -> Option<String>,
) -> Result<Shard, NoShard> {
    let all = [slurm(get)?, kubernetes(get)?, aws(get)?, parallel(get)?];
    let mut told = all.into_iter().flatten();
    let (name, index, mut of) = told.next().ok_or(NoShard::None)?;
    for (other, its_index, its_of) in told {
        if its_index != index || of.zip(its_of).is_some_and(|(of, its)| of != its) {
            return Err(NoShard::Disagree(words(name, index, of), words(other, its_index, its_of)));
        }
        of = of.or(its_of);
    }
    let of = match (given.map(NonZeroUsize::get), of) {
        (Some(given), Some(of)) if given != of => {
            let asked = format!("--shard auto/{given}");
            return Err(NoShard::Disagree(words(name, index, Some(of)), asked));
        }
        (given, of) => given.or(of).ok_or(NoShard::Count(name))?,
    };
    Shard::new(index, of).ok_or_else(|| NoShard::Odd(words(name, index, Some(of))))
}

fn words(name: &str, index: usize, of: Option<usize>) -> String {
    let of = of.map(|of| format!("/{of}")).unwrap_or_default();
    format!("{name} (shard {index}{of})")
}

/// A variable as a number; an empty one is not there.
fn number(name: &str, get: &dyn Fn(&str) -> Option<String>) -> Result<Option<usize>, NoShard> {
    let Some(text) = get(name).filter(|text| !text.is_empty()) else { return Ok(None) };
    let number = text.parse().map_err(|_| NoShard::Odd(format!("{name}={text:?} is no number")))?;
    Ok(Some(number))
}

/// Counted from 0; the largest number has no next one.
fn from_zero(name: &str, index: usize) -> Result<usize, NoShard> {
    index.checked_add(1).ok_or_else(|| NoShard::Odd(format!("{name} is too large")))
}

/// `--array=A-B:STEP`: tasks are counted from the first. A list with gaps has no such order.
fn slurm(get: &dyn Fn(&str) -> Option<String>) -> Result<Option<SchedulerWord>, NoShard> {
    const NAME: &str = "SLURM_ARRAY_TASK_ID";
    let Some(id) = number(NAME, get)? else { return Ok(None) };
    let need = |name: &str| {
        number(name, get)?.ok_or_else(|| NoShard::Odd(format!("{NAME} is set and {name} is not")))
    };
    let (count, min) = (need("SLURM_ARRAY_TASK_COUNT")?, need("SLURM_ARRAY_TASK_MIN")?);
    let step = number("SLURM_ARRAY_TASK_STEP", get)?.unwrap_or(1).max(1);
    let past = id.checked_sub(min).filter(|past| past % step == 0 && past / step < count);
    // An array with gaps has fewer tasks than there are steps from its first to its last.
    let max = number("SLURM_ARRAY_TASK_MAX", get)?;
    let is_whole = max.is_none_or(|max| {
        max.checked_sub(min).is_some_and(|span| span % step == 0 && span / step + 1 == count)
    });
    let past = past.filter(|_| is_whole).ok_or_else(|| {
        NoShard::Odd(format!(
            "{NAME}={id} is none of {count} tasks from {min} in steps of {step}, so the array has gaps"
        ))
    })?;
    Ok(Some((NAME, past / step + 1, Some(count))))
}

fn kubernetes(get: &dyn Fn(&str) -> Option<String>) -> Result<Option<SchedulerWord>, NoShard> {
    const NAME: &str = "JOB_COMPLETION_INDEX";
    let Some(index) = number(NAME, get)? else { return Ok(None) };
    Ok(Some((NAME, from_zero(NAME, index)?, None)))
}

fn aws(get: &dyn Fn(&str) -> Option<String>) -> Result<Option<SchedulerWord>, NoShard> {
    const NAME: &str = "AWS_BATCH_JOB_ARRAY_INDEX";
    let Some(index) = number(NAME, get)? else { return Ok(None) };
    Ok(Some((NAME, from_zero(NAME, index)?, number("AWS_BATCH_JOB_ARRAY_SIZE", get)?)))
}

fn parallel(get: &dyn Fn(&str) -> Option<String>) -> Result<Option<SchedulerWord>, NoShard> {
    const NAME: &str = "PARALLEL_SEQ";
    Ok(number(NAME, get)?.map(|sequence| (NAME, sequence, None)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(given: usize, set: &[(&str, &str)]) -> Result<String, String> {
        let get = |name: &str| {
            set.iter().find(|(its, _)| *its == name).map(|(_, value)| (*value).to_owned())
        };
        let found = shard(NonZeroUsize::new(given), &get);
        found.map(|shard| shard.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn each_scheduler_is_understood() {
        let slurm = |id, min, step, count| {
            told(
                0,
                &[
                    ("SLURM_ARRAY_TASK_ID", id),
                    ("SLURM_ARRAY_TASK_MIN", min),
                    ("SLURM_ARRAY_TASK_STEP", step),
                    ("SLURM_ARRAY_TASK_COUNT", count),
                ],
            )
        };
        assert_eq!(slurm("1", "1", "1", "8").unwrap(), "1/8");
        assert_eq!(slurm("0", "0", "", "8").unwrap(), "1/8");
        assert_eq!(slurm("14", "2", "4", "4").unwrap(), "4/4");
        assert!(slurm("7", "1", "1", "3").unwrap_err().contains("gaps"));
        // The tasks 1 to 8 and 12: the second sees the gap, too.
        let with_gap = [
            ("SLURM_ARRAY_TASK_ID", "2"),
            ("SLURM_ARRAY_TASK_MIN", "1"),
            ("SLURM_ARRAY_TASK_MAX", "12"),
            ("SLURM_ARRAY_TASK_COUNT", "9"),
        ];
        assert!(told(0, &with_gap).unwrap_err().contains("gaps"));
        assert_eq!(told(5, &[("JOB_COMPLETION_INDEX", "4")]).unwrap(), "5/5");
        let batch = [("AWS_BATCH_JOB_ARRAY_INDEX", "0"), ("AWS_BATCH_JOB_ARRAY_SIZE", "3")];
        assert_eq!(told(0, &batch).unwrap(), "1/3");
        assert_eq!(told(9, &[("PARALLEL_SEQ", "9")]).unwrap(), "9/9");
    }

    #[test]
    fn what_is_not_clear_is_refused_with_names() {
        for (given, set, word) in [
            (4, &[][..], "none of SLURM_ARRAY_TASK_ID"),
            (0, &[("PARALLEL_SEQ", "2")], "auto/N"),
            (2, &[("PARALLEL_SEQ", "3")], "shard 3/2"),
            (2, &[("PARALLEL_SEQ", "x")], "no number"),
            (2, &[("JOB_COMPLETION_INDEX", "18446744073709551615")], "too large"),
            (4, &[("SLURM_ARRAY_TASK_ID", "1")], "SLURM_ARRAY_TASK_COUNT is not"),
            (4, &[("PARALLEL_SEQ", "2"), ("JOB_COMPLETION_INDEX", "2")], "disagree"),
            (
                4,
                &[("AWS_BATCH_JOB_ARRAY_INDEX", "0"), ("AWS_BATCH_JOB_ARRAY_SIZE", "3")],
                "disagree",
            ),
        ] {
            let error = told(given, set).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
        let agreeing = [("PARALLEL_SEQ", "3"), ("JOB_COMPLETION_INDEX", "2")];
        assert_eq!(told(4, &agreeing).unwrap(), "3/4");
    }
}
