//! Only what the event can produce may reject (docs/decisions/013): what fails on a small clock is asked again, in a fresh
//! process, on clocks that an engine which minds its time sees at 30 minutes and 3 seconds a move.
//!
//! First the one question alone, which tells most failures in seconds. Where it is answered, the whole probe is run again
//! on that clock, so that everything is asked at least once where it counts, after the same questions before. Of a list of positions, which
//! a slow engine is not asked to its end, what failed comes first, after the questions that went directly before it: it may depend on them. What
//! is not asked after all that it failed after stays open ([`Purpose::Unrepeated`]).
//!
//! One that broke off is asked again on the same clock as well, and the whole probe is run again there: where all goes well then, neither
//! the clock nor the questions were the reason.

use std::time::Duration;

use shakmaty::Position;

use super::list::{Item, ask_all};
use super::{Bench, LEAST_CLOCK, MINUTE_CLOCK, ProbeOutcome, SMALL_CLOCK};
use crate::engine::moves::Moves;
use crate::game::go::Go;
use crate::judge::support::runs;
use crate::model::evidence::{Answer, Ask, GoQuestion, Limits, Purpose, Question, Run, WhyIllegal};
use crate::sandbox::plan::SandboxError;

/// The clocks on which the entry is probed, the smallest first: the event produces all but the first.
const CLOCKS: [Go; 3] = [SMALL_CLOCK, LEAST_CLOCK, MINUTE_CLOCK];

/// Questions that go before a failed one of a list where that is asked again.
const BEFORE: usize = 2;
/// Failures of one probe that are asked again so.
const FAILURES: usize = 3;

/// Runs a probe on `clock`; where a search, or what comes after it, fails and goes well on a bigger one, runs it there, or once more on the
/// same one where the clock is not the reason. The outcome, and the clock that it is of.
pub(super) fn climbing(
    bench: &Bench<'_>,
    mut clock: Go,
    probe: impl Fn(&Bench<'_>, Go) -> Result<ProbeOutcome, SandboxError>,
) -> Result<(ProbeOutcome, Go), SandboxError> {
    let mut disproved = Vec::new();
    let mut set_aside: Vec<SetAside> = Vec::new();
    let mut outcome = probe(bench, clock)?;
    let mut chance = Chance::default();
    let mut is_whole = true;
    loop {
        // None is bigger than the event's; a failure there may still come of games on the smallest one before it.
        let on_smallest = clock == SMALL_CLOCK;
        let asked_on = clock;
        let mut asked =
            outcome.runs.iter().filter(|run| run.purpose != Purpose::Clock || on_smallest);
        let failed = asked.find_map(|run| failed(&run.asks));
        let Some(failed) = failed else { break };
        let Some(next) = answered_on(bench, &failed, clock, &mut disproved)? else { break };
        let same_clock = chance.may_explain(bench, &failed, clock, &mut disproved)?;
        if !same_clock {
            clock = next;
        }
        let failures: Vec<FailedInList> = outcome.runs.iter().flat_map(failed_in_list).collect();
        let mut runs = in_order(bench, &failures, clock)?;
        // What comes again there is asked on a bigger clock before the rest is.
        is_whole = above(clock).next().is_none() || !runs.iter().any(fails);
        let mut again = if is_whole { probe(bench, clock)? } else { ProbeOutcome::default() };
        runs.append(&mut again.runs);
        again.runs = runs;
        let by_chance = same_clock && failed.went_well(&again.runs);
        set_aside.push(SetAside { runs: outcome.runs, clock: asked_on, by_chance });
        outcome = again;
    }
    if !is_whole {
        let rest = probe(bench, clock)?;
        outcome = ProbeOutcome { runs: [outcome.runs, rest.runs].concat(), ..rest };
    }
    // The last first, since each is held against those after it.
    let mut later = outcome.runs.clone();
    for SetAside { runs, clock, by_chance } in set_aside.into_iter().rev() {
        for run in &runs {
            let mut purpose = if by_chance { Purpose::ByChance } else { Purpose::SmallClock };
            for failure in failed_in_list(run).into_iter().take(FAILURES) {
                if failure.was_asked(&later) {
                    continue;
                }
                // One that fails with nothing before it fails for want of time.
                let alone = failure.alone(bench, clock)?;
                if !alone.iter().any(fails) {
                    purpose = Purpose::Unrepeated;
                }
                disproved.extend(alone);
            }
            disproved.push(Run { purpose, ..run.clone() });
        }
        later.extend(runs);
    }
    outcome.runs.extend(disproved);
    Ok((outcome, clock))
}

/// The runs of a probe that was made again, since something failed in them.
struct SetAside {
    runs: Vec<Run>,
    clock: Go,
    by_chance: bool,
}

/// A search of a list of positions that went wrong, or that something went wrong after.
struct FailedInList {
    /// Its name for reports.
    name: String,
    /// The positions that its process was asked for up to it, each as its command.
    asked: Vec<String>,
    /// See [`FailedSearch::afterwards`].
    afterwards: bool,
}

impl FailedInList {
    /// Asks it in a fresh process on the clock on which it failed.
    fn alone(&self, bench: &Bench<'_>, clock: Go) -> Result<Vec<Run>, SandboxError> {
        let Some(moves) = self.asked.last().and_then(|command| listed(command)) else {
            return Ok(Vec::new());
        };
        let item = item(bench, Purpose::Again, &self.name, &moves, clock);
        ask_all(bench, &vec![item; if self.afterwards { 2 } else { 1 }])
    }

    /// True if one of these processes was asked this after all that it failed after. (More may have gone before: one that broke off is asked
    /// the rest of its list in a fresh process.)
    fn was_asked(&self, runs: &[Run]) -> bool {
        let length = self.asked.len().max(1);
        let asked =
            |run| positions_asked(run, usize::MAX).windows(length).any(|one| one == self.asked);
        runs.iter().any(asked)
    }
}

/// The positions that a process was asked for up to a question of the run, each as its command.
fn positions_asked(run: &Run, upto: usize) -> Vec<String> {
    let is_position = |line: &String| line.starts_with("position ");
    runs::commands_upto(run, upto).into_iter().filter(is_position).collect()
}

/// The first failure of a list of positions, and each later move that the board does not allow: a wrong board comes of what was asked before.
fn failed_in_list(run: &Run) -> Vec<FailedInList> {
    if run.purpose != Purpose::Positions {
        return Vec::new();
    }
    let first = failed(&run.asks);
    let afterwards = first.as_ref().is_some_and(|failed| failed.afterwards);
    let at_first = first.map(|failed| failed.at);
    let is_wrong =
        |ask: &Ask| matches!(&ask.answer, Answer::Illegal { why: WhyIllegal::OnBoard(_), .. });
    let later =
        run.asks.iter().enumerate().filter(|(at, ask)| Some(*at) > at_first && is_wrong(ask));
    let all = at_first.map(|at| (at, afterwards)).into_iter();
    let all = all.chain(later.map(|(at, _)| (at, false)));
    all.filter_map(|(at, afterwards)| {
        let name = run.asks.get(at)?.search()?.position.clone();
        Some(FailedInList { name, asked: positions_asked(run, at), afterwards })
    })
    .collect()
}

/// Asks failures of a list again, each in a fresh process after the questions that went directly before it, until one comes again.
fn in_order(
    bench: &Bench<'_>,
    failures: &[FailedInList],
    clock: Go,
) -> Result<Vec<Run>, SandboxError> {
    let mut asked = Vec::new();
    // What nothing went before was asked alone already.
    for failure in failures.iter().filter(|failure| failure.asked.len() > 1).take(FAILURES) {
        (bench.progress)("asked again after what went before it");
        let from = failure.asked.len().saturating_sub(BEFORE + 1);
        let lists = failure.asked.iter().skip(from).filter_map(|command| listed(command));
        let mut items: Vec<Item> =
            lists.map(|moves| item(bench, Purpose::Positions, "before", &moves, clock)).collect();
        if let Some(last) = items.last_mut() {
            last.name.clone_from(&failure.name);
        }
        if failure.afterwards {
            items.extend(items.last().cloned());
        }
        let runs = ask_all(bench, &items)?;
        let came_again = runs.iter().any(fails);
        asked.extend(runs);
        if came_again {
            break;
        }
    }
    Ok(asked)
}

/// A position to be asked again, with the time that a question on this clock has.
fn item(bench: &Bench<'_>, purpose: Purpose, name: &str, moves: &Moves, clock: Go) -> Item {
    Item {
        patience: Some(patience(&bench.limits, clock, moves)),
        ..Item::new(purpose, name, moves, clock)
    }
}

/// True if something failed in a run that is asked again on another clock.
fn fails(run: &Run) -> bool {
    failed(&run.asks).is_some()
}

/// A search that went wrong, or that something went wrong after.
#[derive(Clone, Debug)]
pub(super) struct FailedSearch {
    search: GoQuestion,
    /// Its number among the questions.
    at: usize,
    /// True if its move came, and the engine died or hung by the next question.
    afterwards: bool,
    /// True if the engine died or hung.
    broke_off: bool,
}

impl FailedSearch {
    /// True if these runs asked the same, and it did not fail there.
    fn went_well(&self, runs: &[Run]) -> bool {
        let is_same = |search: &GoQuestion| search.command == self.search.command;
        let fails = |run: &Run| failed(&run.asks).is_some_and(|failed| is_same(&failed.search));
        let mut searches = runs.iter().flat_map(|run| &run.asks).filter_map(Ask::search);
        searches.any(is_same) && !runs.iter().any(fails)
    }
}

/// The question whether a failure came by chance, which is asked once of a probe: of an engine that often breaks off on a small clock no
/// number of tries would tell more.
#[derive(Default)]
pub(super) struct Chance {
    asked: bool,
}

impl Chance {
    /// True if an engine broke off at a question that it answers in a fresh process on the same clock. The runs go to `seen`.
    pub(super) fn may_explain(
        &mut self,
        bench: &Bench<'_>,
        failed: &FailedSearch,
        clock: Go,
        seen: &mut Vec<Run>,
    ) -> Result<bool, SandboxError> {
        if !failed.broke_off || std::mem::replace(&mut self.asked, true) {
            return Ok(false);
        }
        (bench.progress)("asked again on the same clock");
        is_answered_on(bench, failed, clock, seen)
    }
}

/// The first failure in a conversation, where a search may be behind it, and a clock behind that.
pub(super) fn failed(asks: &[Ask]) -> Option<FailedSearch> {
    let at = asks.iter().position(|ask| !ask.answer.is_good() && !ask.was_cut())?;
    let (before, from) = asks.split_at(at);
    let failed = from.first()?;
    if let Answer::Illegal { why, .. } = &failed.answer
        && why.is_a_way_of_writing()
    {
        return None;
    }
    let (search, at, afterwards) = match &failed.question {
        Question::Go(search) => (search, at, false),
        Question::IsReady | Question::NewGame => {
            let at = before.iter().rposition(Ask::is_search)?;
            (before.get(at)?.search()?, at, true)
        }
        Question::Uci | Question::Quit | Question::EndOfInput => return None,
    };
    let broke_off = !matches!(failed.answer, Answer::Illegal { .. });
    Some(FailedSearch { search: search.clone(), at, afterwards, broke_off })
}

/// Asks one question again on the clocks above `clock`, each in a fresh process, with what comes after it where that failed: the
/// first on which all goes well. The runs go to `seen`.
pub(super) fn answered_on(
    bench: &Bench<'_>,
    failed: &FailedSearch,
    clock: Go,
    seen: &mut Vec<Run>,
) -> Result<Option<Go>, SandboxError> {
    for next in above(clock) {
        (bench.progress)("asked again on a clock of the event");
        if is_answered_on(bench, failed, next, seen)? {
            return Ok(Some(next));
        }
    }
    Ok(None)
}

/// Asks one question again in a fresh process, with what comes after it where that failed: true if all goes well.
fn is_answered_on(
    bench: &Bench<'_>,
    failed: &FailedSearch,
    clock: Go,
    seen: &mut Vec<Run>,
) -> Result<bool, SandboxError> {
    let question = &failed.search;
    let Some(moves) = listed(&question.command) else { return Ok(false) };
    let item = item(bench, Purpose::Again, &question.position, &moves, clock);
    // Each begins as a new game, with `isready`.
    let items = if failed.afterwards { vec![item.clone(), item] } else { vec![item] };
    let asked = ask_all(bench, &items)?;
    let asks = || asked.iter().flat_map(|run| &run.asks);
    let bad = asks().find(|ask| ask.question != Question::Quit && !ask.answer.is_good());
    let good = bad.is_none() && asks().any(Ask::is_search);
    seen.extend(asked);
    Ok(good)
}

/// The clocks above one; none above a form of `go` that has no clock.
fn above(clock: Go) -> impl Iterator<Item = Go> {
    CLOCKS.into_iter().skip_while(move |one| *one != clock).skip(1)
}

/// An engine may think, or sleep, as long as its clock says, and the limit is beyond that. (Under a limit smaller than the event's the whole
/// wait is smaller in proportion.)
pub(super) fn patience(limits: &Limits, clock: Go, moves: &Moves) -> Duration {
    let left = clock.left(moves.position().turn()).unwrap_or_default();
    left.min(limits.answer * 3) + limits.answer
}

/// The moves of a `position` that shows them as a list.
fn listed(command: &str) -> Option<Moves> {
    let list = command.strip_prefix("position startpos")?;
    Moves::read(list.trim_start().strip_prefix("moves").unwrap_or_default()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::model::evidence::{ExitHow, WhyIllegal};

    #[test]
    fn a_search_is_behind_what_fails_after_it() {
        let dies = || Answer::Ended(Some(ExitHow::Signal(11)));
        let run = testing::run(Purpose::Positions).asked(Question::NewGame, dies());
        let seen = failed(&run.asks).unwrap();
        assert!(seen.afterwards && seen.search.position == "listed", "{seen:?}");
        let run = testing::run(Purpose::Positions).asked(Question::IsReady, Answer::Timeout);
        assert!(failed(&run.asks).is_some_and(|seen| seen.afterwards));
        // Before any search no clock can be the reason.
        let mut run = testing::run(Purpose::Main);
        run.asks[2].answer = dies();
        assert!(failed(&run.asks).is_none());
        let mut run = testing::run(Purpose::Main);
        run.asks[4].answer = dies();
        assert!(failed(&run.asks).is_some_and(|seen| !seen.afterwards));
        assert!(failed(&testing::run(Purpose::Main).asks).is_none());
        // Nor of how a move is written.
        let mut run = testing::run(Purpose::Main);
        let why = WhyIllegal::CastlingAsRook;
        run.asks[4].answer = Answer::Illegal { line: "bestmove e1h1".into(), why };
        assert!(failed(&run.asks).is_none());
    }
}
