//! Only what the event can produce may reject (docs/decisions/013): what fails on a small clock is asked again, in a fresh
//! process, on clocks that an engine which minds its time sees at 30 minutes and 3 seconds a move.
//!
//! First the one question alone, which tells most failures in seconds. Where it is answered, the whole probe is run again
//! on that clock, so that everything is asked at least once where it counts, after the same questions before.

use std::time::Duration;

use shakmaty::Position;

use super::list::{Item, ask_all};
use super::{Bench, LEAST_CLOCK, MINUTE_CLOCK, ProbeOutcome, SMALL_CLOCK};
use crate::engine::moves::Moves;
use crate::game::go::Go;
use crate::judge::support::runs;
use crate::model::evidence::{Answer, Ask, GoQuestion, Purpose, Question, Run};
use crate::sandbox::plan::SandboxError;

/// The clocks on which the entry is probed, the smallest first: the event produces all but the first.
const CLOCKS: [Go; 3] = [SMALL_CLOCK, LEAST_CLOCK, MINUTE_CLOCK];

/// Runs a probe on `clock`; where a search fails that is answered on a bigger one, runs it there. The outcome, and the
/// clock that it is of.
pub(super) fn climbing(
    bench: &Bench<'_>,
    mut clock: Go,
    probe: impl Fn(&Bench<'_>, Go) -> Result<ProbeOutcome, SandboxError>,
) -> Result<(ProbeOutcome, Go), SandboxError> {
    let mut disproved = Vec::new();
    let mut outcome = probe(bench, clock)?;
    loop {
        let failed = outcome.runs.iter().find_map(|run| failed(&run.asks)).cloned();
        let Some(failed) = failed else { break };
        let Some(next) = answered_on(bench, &failed, clock, &mut disproved)? else { break };
        for mut run in outcome.runs.drain(..) {
            run.purpose = Purpose::SmallClock;
            disproved.push(run);
        }
        clock = next;
        outcome = probe(bench, clock)?;
    }
    outcome.runs.extend(disproved);
    Ok((outcome, clock))
}

/// The first search that was not answered with a legal move, where nothing else went wrong before.
pub(super) fn failed(asks: &[Ask]) -> Option<&GoQuestion> {
    let first = asks.iter().find(|ask| !ask.answer.is_good() && !ask.was_cut())?;
    match &first.question {
        Question::Go(go) => Some(go),
        _ => None,
    }
}

/// Asks one question again on the clocks above `clock`, each in a fresh process: the first on which a legal move comes.
/// The runs go to `seen`.
pub(super) fn answered_on(
    bench: &Bench<'_>,
    question: &GoQuestion,
    clock: Go,
    seen: &mut Vec<Run>,
) -> Result<Option<Go>, SandboxError> {
    let Some(moves) = moves_of(question) else { return Ok(None) };
    for next in above(clock) {
        (bench.progress)("asked again on a clock of the event");
        let item = Item {
            patience: Some(patience(bench, next, &moves)),
            ..Item::new(&question.position, &moves, next)
        };
        let asked = ask_all(bench, Purpose::Again, &[item])?;
        let answer = asked.iter().flat_map(runs::searches).map(|(_, ask, _)| &ask.answer).last();
        let good = answer.is_some_and(Answer::is_good);
        // One that sleeps is not woken by more time.
        let asleep = answer == Some(&Answer::Timeout) && asked.iter().all(|run| !run.strained);
        seen.extend(asked);
        if good {
            return Ok(Some(next));
        }
        if asleep {
            break;
        }
    }
    Ok(None)
}

/// The clocks above one; none above a form of `go` that has no clock.
fn above(clock: Go) -> impl Iterator<Item = Go> {
    CLOCKS.into_iter().skip_while(move |one| *one != clock).skip(1)
}

/// An engine may think as long as its clock says, and is not waited for until it would lose a game that long ago.
fn patience(bench: &Bench<'_>, clock: Go, moves: &Moves) -> Duration {
    let answer = bench.limits.answer;
    clock.left(moves.position().turn()).unwrap_or_default().min(answer) + answer
}

/// The moves of a question that showed them as a list.
fn moves_of(question: &GoQuestion) -> Option<Moves> {
    let list = question.command.strip_prefix("position startpos")?;
    Moves::read(list.trim_start().strip_prefix("moves").unwrap_or_default()).ok()
}
