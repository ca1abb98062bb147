//! An end that goes wrong (a `quit` that is not heeded, files or processes that remain) after searches on clocks below the event's: what
//! the event cannot produce rejects nobody (docs/decisions/013).
//!
//! One question on a clock of the event, in a fresh process, tells whether the entry ends so anyway: then all stays as it was found.
//! Where it ends well, everything is asked again on that clock.

use std::time::Duration;

use super::conversation::{Search, quit};
use super::{Bench, LEAST_CLOCK, clock};
use crate::engine::moves::Moves;
use crate::judge::support::runs;
use crate::model::evidence::{Answer, EndHow, LEAST_LEFT, Purpose, Question, Run};
use crate::sandbox::plan::SandboxError;

/// True if an end went wrong after a search on a small clock, and goes well after one on the event's.
pub(super) fn is_of_small_clocks(bench: &Bench<'_>, found: &[Run]) -> Result<bool, SandboxError> {
    if !found.iter().any(is_doubtful) {
        return Ok(false);
    }
    (bench.progress)("its end again, after a move on a clock of the event");
    let start = Moves::start();
    let search = Search::after("startpos", &start, LEAST_CLOCK);
    let ready = bench.start(Purpose::Again)?.shake_hands();
    let mut over = quit(ready.and_then(|ready| Ok(ready.new_game()?.go(search)?.0)));
    if over.ended_by() != EndHow::Killed {
        over.wait_for_leftovers();
    }
    let run = over.finish();
    Ok(runs::was_told_to_quit(&run) && !ends_badly(&run))
}

/// Takes the runs that were found so for advice, and asks again for what the event's own clock was asked in them.
pub(super) fn set_aside(bench: &Bench<'_>, found: &mut Vec<Run>) -> Result<(), SandboxError> {
    let mut lacks_clock = false;
    for run in found.iter_mut().filter(|run| is_doubtful(run)) {
        lacks_clock |= run.purpose == Purpose::Clock;
        run.purpose = Purpose::SmallClock;
    }
    if lacks_clock {
        found.extend(clock::event_alone(bench)?);
    }
    Ok(())
}

/// True if the end can reject, went wrong, and comes after a search on a clock that no event produces, in whichever part of its process.
fn is_doubtful(run: &Run) -> bool {
    let small = |left: Option<Duration>| left.is_some_and(|left| left < LEAST_LEFT);
    run.purpose.can_reject()
        && (runs::searches(run).any(|search| small(search.go.left))
            || run.before.iter().any(|line| small(least_shown(line))))
        && runs::was_told_to_quit(run)
        && ends_badly(run)
}

/// The smaller clock that a `go` shows.
fn least_shown(line: &str) -> Option<Duration> {
    let words: Vec<&str> = line.strip_prefix("go ")?.split(' ').collect();
    let clocks = words.windows(2).filter(|pair| ["wtime", "btime"].contains(&pair[0]));
    clocks.filter_map(|pair| pair[1].parse().ok()).min().map(Duration::from_millis)
}

fn ends_badly(run: &Run) -> bool {
    let heeds = |answer: &Answer| matches!(answer, Answer::Done | Answer::Ended(Some(_)));
    run.asks.iter().any(|ask| ask.question == Question::Quit && !heeds(&ask.answer))
        || !run.left_processes.is_empty()
        || runs::leaves_finally(run) && run.left_files.iter().any(|file| file.exempt.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing::{self, ms};

    /// A `(sleep 3;rm $T)` is on its way where nobody waits for it, as in a quick check.
    #[test]
    fn files_of_a_run_that_was_cut_short_are_no_bad_end() {
        let mut run = testing::run(Purpose::Positions).left("/tmp/tmp.x", None);
        for ask in &mut run.asks {
            if let Question::Go(go) = &mut ask.question {
                go.left = Some(ms(600));
            }
        }
        assert!(is_doubtful(&run), "all processes had gone, and the file stayed");
        run.ending.emptied_after = None;
        assert!(!is_doubtful(&run));
        assert!(is_doubtful(&run.still_runs("/tmp/tmp.x", 'R')));
    }
}
