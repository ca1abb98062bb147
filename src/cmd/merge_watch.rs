//! `gate4k merge --watch`: the shards of a match are looked at until the whole decides its test, which ends them.
//!
//! Only the games up to the first that is missing count, in the order of the match. So the decision is the one that a single
//! machine comes to, after the same games: neither the number of shards, nor which of them is fast, nor how often they are
//! looked at moves the test's errors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::merge_match::{decided_before_a_gap, gap_words};
use super::reports::cannot;
use super::{match_until, note};
use crate::cli::MergeArgs;
use crate::event::journal::JournalError;
use crate::model::text::shown;
use crate::shard::parts::MergeError;
use crate::shard::whole::WholeRun;

/// The shortest time between two looks.
const PAUSE: Duration = Duration::from_secs(1);

/// Between looks a wait is so many times as long as the look took, so that looking costs a twentieth of a processor at most.
const SHARE: u32 = 19;

/// The time without a game of a shard after which it is told that the shard is waited for; then twice as long, and so on.
const PATIENCE: Duration = Duration::from_mins(5);

/// The state of a match.
enum Standing {
    /// The missing games, in words, a line a shard; none where that could not be read just now.
    UnderWay(Vec<String>),
    /// All games of the match are there.
    Played,
    /// Its test is decided, as the line says.
    Decided {
        line: String,
        /// See [`crate::shard::record::MatchRun::mark`].
        mark: String,
    },
}

/// Waits for the end of a match, and makes `file` where its test is decided. Returns what is to be merged then: the journals
/// that there are.
pub(super) fn ended(args: &MergeArgs, file: &Path) -> anyhow::Result<MergeArgs> {
    let mut waiting = Waiting::default();
    let start = Instant::now();
    loop {
        let began = Instant::now();
        // A shard that waits for its machine has no journal yet.
        let (journals, absent): (Vec<PathBuf>, Vec<PathBuf>) =
            args.journals.iter().cloned().partition(|path| path.exists());
        let ended = MergeArgs { partial: true, journals, ..args.clone() };
        match standing(&ended.journals)? {
            Standing::UnderWay(gaps) => {
                let absent = absent.iter().map(|path| format!("there is no {} yet", shown(path)));
                let all = absent.chain(gaps).collect();
                if let Some(words) = waiting.look(all, start.elapsed()) {
                    note(&words);
                }
            }
            Standing::Played => return Ok(ended),
            Standing::Decided { line, mark } => {
                match_until::make(file, &line, &mark).with_context(|| cannot(file))?;
                return Ok(ended);
            }
        }
        std::thread::sleep(PAUSE.max(began.elapsed() * SHARE));
    }
}

/// The shards that are waited for, and since when: a shard that has died looks like one that is slow, so that people have to be told.
#[derive(Default)]
struct Waiting {
    /// Each line of what is missing, and when it was seen first.
    since: BTreeMap<String, Duration>,
    /// The moment from which it may be told again; none before the first look.
    next: Option<Duration>,
}

impl Waiting {
    /// Takes what is missing `now`, and gives words where it is time for some: at the first look, and where nothing has come of
    /// a shard for [`PATIENCE`] and its doubles.
    fn look(&mut self, missing: Vec<String>, now: Duration) -> Option<String> {
        if missing.is_empty() {
            return None;
        }
        let before = std::mem::take(&mut self.since);
        self.since = missing
            .into_iter()
            .map(|line| {
                let since = before.get(&line).copied().unwrap_or(now);
                (line, since)
            })
            .collect();
        let Some(next) = self.next else {
            self.next = Some(now + PATIENCE);
            let lines: Vec<&str> = self.since.keys().map(String::as_str).collect();
            return Some(format!("waiting: {}", lines.join(", ")));
        };
        let is_stale = |since: Duration| now.saturating_sub(since) >= PATIENCE;
        let stale: Vec<&str> = self
            .since
            .iter()
            .filter(|(_, since)| is_stale(**since))
            .map(|(line, _)| line.as_str())
            .collect();
        if stale.is_empty() || now < next {
            return None;
        }
        let longest =
            self.since.values().map(|since| now.saturating_sub(*since)).max().unwrap_or_default();
        self.next = Some(now + longest.max(PATIENCE));
        let longest = humantime::format_duration(Duration::from_secs(longest.as_secs()));
        Some(format!(
            "still waiting, in which nothing has come for up to {longest}: {}; see whether these shards run",
            stale.join(", ")
        ))
    }
}

fn standing(journals: &[PathBuf]) -> Result<Standing, MergeError> {
    let looked = WholeRun::read(journals).and_then(|whole| {
        let Some(whole) = whole else { return Ok(Standing::UnderWay(Vec::new())) };
        if let Some(line) = decided_before_a_gap(&whole)? {
            return Ok(Standing::Decided { line, mark: whole.run.mark() });
        }
        let gaps = whole.gaps();
        let missing = || Standing::UnderWay(gap_words(&gaps, "game"));
        Ok(if gaps.is_empty() { Standing::Played } else { missing() })
    });
    match looked {
        Err(MergeError::Empty(path)) => {
            Ok(Standing::UnderWay(vec![format!("{} has not begun", shown(&path))]))
        }
        // A shard that writes just now, or will mend its last record when it goes on.
        Err(
            MergeError::Changed(path) | MergeError::Journal(JournalError::LastDamaged { path, .. }),
        ) => Ok(Standing::UnderWay(vec![format!("{} is not whole", shown(&path))])),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes(number: u64) -> Duration {
        Duration::from_mins(number)
    }

    #[test]
    fn a_shard_that_nothing_comes_of_is_named_and_less_and_less_often() {
        let mut waiting = Waiting::default();
        let mut told = Vec::new();
        for now in 0..=60 {
            // One that plays a game a minute, and one that has died.
            let missing = vec![
                format!("of shard 1/2 {} games are missing", 90 - now),
                "shard 2/2 is missing".into(),
            ];
            if let Some(words) = waiting.look(missing, minutes(now)) {
                told.push((now, words));
            }
        }
        let times: Vec<u64> = told.iter().map(|(now, _)| *now).collect();
        assert_eq!(times, [0, 5, 10, 20, 40]);
        assert_eq!(told[0].1, "waiting: of shard 1/2 90 games are missing, shard 2/2 is missing");
        for (_, words) in &told[1..] {
            assert!(
                words.contains("shard 2/2 is missing; see") && !words.contains("1/2"),
                "{words}"
            );
        }
        assert!(told[1].1.contains("for up to 5m"), "{}", told[1].1);
    }

    #[test]
    fn shards_that_all_go_on_are_not_told_of() {
        let mut waiting = Waiting::default();
        let told = (0..60).filter_map(|now| {
            waiting.look(vec![format!("of shard 1/1 {} games are missing", 90 - now)], minutes(now))
        });
        assert_eq!(told.count(), 1);
        assert_eq!(waiting.look(Vec::new(), minutes(61)), None);
    }
}
