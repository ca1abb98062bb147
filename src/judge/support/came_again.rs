//! Faults that no load causes: a move that is none, or a fatal signal, which came again in fresh processes on the clocks of the
//! event. A busy host makes a sound engine late; it makes it neither move a piece that is not there nor crash at each try.

use std::time::Duration;

use crate::judge::support::runs::{self, SearchInRun};
use crate::model::evidence::{Answer, Ask, Evidence, ExitHow, LEAST_LEFT, Purpose, Question, Run};
use crate::model::verdict::{Finding, Status};

/// The key of a finding's evidence that says so.
const KEY: &str = "came_again";

/// On so much time nobody has to hurry.
const PLENTY: Duration = Duration::from_secs(60);

/// A word in place of a move, or an end, that comes so soon did not come for want of time.
const AT_ONCE: Duration = Duration::from_millis(100);

/// The next step for an engine that broke off once, and not when it was asked the same on the same clock.
pub(crate) const BY_CHANCE: &str = "find the reason for which it now and then ends or falls silent, such as a variable that is read before it is \
     set, an index beyond an array, or threads that race: each such end loses a game (rule 6.2)";

/// The signals that a fault of the program's own brings: SIGILL, SIGABRT, SIGFPE and SIGSEGV. (A SIGBUS may come of a disk
/// that others filled.)
const OF_A_FAULT: [i32; 4] = [4, 6, 8, 11];

/// Notes on a failure that it came again, so that no busy host excuses it.
pub(crate) fn noted(finding: Finding, came_again: bool) -> Finding {
    if came_again { finding.with(KEY, true) } else { finding }
}

/// True for a failure that came again.
pub(crate) fn is_noted(finding: &Finding) -> bool {
    finding.status == Status::Fail && finding.evidence.contains_key(KEY)
}

/// True if a search failed in a way that is no matter of time, and did so again in fresh processes on clocks of the event,
/// on a small one and on one with plenty of time: asked alone, or after the same questions as before.
pub(crate) fn came_again(evidence: &Evidence, search: &SearchInRun<'_>) -> bool {
    let again = || runs::again(evidence, search.go);
    let all = || std::iter::once(*search).chain(again());
    let came_alone = all().all(is_proof)
        && all().filter(is_of_the_event).count() >= 2
        && again().any(|one| has_plenty(&one));
    came_alone || came_in_order(evidence, search)
}

/// The same of a fault that a question shows only after others, since something of them is kept: alone it is answered, and so all were asked
/// again in their order, on each clock up to one with plenty of time.
fn came_in_order(evidence: &Evidence, search: &SearchInRun<'_>) -> bool {
    let same = |one: &SearchInRun| {
        one.go.command == search.go.command && !one.ask.answer.is_good() && is_of_the_event(one)
    };
    let mut before = evidence.of(Purpose::SmallClock).flat_map(runs::searches).filter(same);
    let came_before = before.next().is_some_and(is_proof) && before.all(is_proof);
    came_before && has_plenty(search) && is_proof(*search)
}

/// True if each process that did not answer this question ended at once, by a fault of its own, and two did at least.
pub(crate) fn ended_each_time(evidence: &Evidence, question: &Question) -> bool {
    let bad = |run| {
        let ask = runs::first_trouble(run).and_then(|at| run.asks.get(at))?;
        (ask.question == *question).then_some((run, ask))
    };
    let ended = |(run, ask): (&Run, &Ask)| {
        matches!(ask.answer, Answer::Ended(_))
            && (is_no_matter_of_time(run, ask) || exits_at_once(run, ask))
    };
    let all: Vec<bool> = evidence.runs.iter().filter_map(bad).map(ended).collect();
    all.len() >= 2 && all.iter().all(|ended| *ended)
}

fn is_of_the_event(search: &SearchInRun<'_>) -> bool {
    search.go.left.is_some_and(|left| left >= LEAST_LEFT)
}

fn has_plenty(search: &SearchInRun<'_>) -> bool {
    search.go.left.is_some_and(|left| left >= PLENTY)
}

/// True if time has no part in how a search failed.
fn is_proof(search: SearchInRun<'_>) -> bool {
    is_no_matter_of_time(search.run, search.ask)
        || gives_up_at_once(&search)
        || exits_at_once(search.run, search.ask)
}

/// True for a word in place of a move that came at once, or on a clock on which it proves nothing either way.
fn gives_up_at_once(search: &SearchInRun<'_>) -> bool {
    let hurries = search.go.left.is_none_or(|left| left < PLENTY);
    matches!(&search.ask.answer, Answer::Illegal { why, .. } if why.is_no_move())
        && (hurries || search.ask.took < AT_ONCE)
}

/// True for an end by itself with a status that says that something went wrong, as soon as it was asked: it neither waited for anything
/// nor had to hurry. (One that ends well may have taken a late line for the end of its input.)
fn exits_at_once(run: &Run, ask: &Ask) -> bool {
    let Answer::Ended(exit) = &ask.answer else { return false };
    ask.took < AT_ONCE
        && matches!(exit.or(run.ending.exit), Some(ExitHow::Status(status)) if status != 0)
}

/// The same of a question of a game: its conversation failed at a search, and in such a way.
pub(crate) fn broke_at_any_speed(run: &Run) -> bool {
    let bad = run.asks.iter().find(|ask| !ask.answer.is_good());
    runs::is_up(run)
        && bad.is_some_and(|ask| {
            ask.is_search() && (is_no_matter_of_time(run, ask) || exits_at_once(run, ask))
        })
}

/// True for a move that is none, and for an end by a signal of a fault. One that told no move at all may have had no time to
/// find one (see [`gives_up_at_once`]).
fn is_no_matter_of_time(run: &Run, ask: &Ask) -> bool {
    let exit = match &ask.answer {
        Answer::Illegal { why, .. } => return !why.is_no_move(),
        Answer::Ended(exit) => exit.or(run.ending.exit),
        _ => return false,
    };
    match exit {
        Some(ExitHow::Signal(signal)) => OF_A_FAULT.contains(&signal),
        // A shell says so of the engine that it waited for.
        Some(ExitHow::Status(status)) => run.crashes.iter().any(|crash| {
            crash.at >= ask.at && crash.signal == status - 128 && OF_A_FAULT.contains(&crash.signal)
        }),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing::{self, LISTED, illegal, ms};
    use crate::model::evidence::{FatalSignal, GoQuestion};

    fn go(left: u64) -> GoQuestion {
        GoQuestion { left: Some(ms(left)), ..testing::go("listed", LISTED, 1) }
    }

    fn asked(purpose: Purpose, left: u64, answer: Answer) -> Run {
        let mut run = testing::run(purpose);
        run.asks.retain(|ask| !ask.is_search());
        let mut run = run.asked(Question::Go(go(left)), answer);
        for ask in &mut run.asks {
            ask.took = ms(1_500);
        }
        run
    }

    /// True if it came again where these answers came on these clocks.
    fn came(first: Answer, again: &[(u64, Answer)]) -> bool {
        let run = asked(Purpose::Positions, 600, first);
        let again = again.iter().map(|(left, answer)| asked(Purpose::Again, *left, answer.clone()));
        let evidence = testing::evidence_of(std::iter::once(run).chain(again));
        let run = &evidence.runs[0];
        came_again(&evidence, &runs::searches(run).next().unwrap())
    }

    #[test]
    fn a_move_that_is_none_on_all_clocks_is_no_matter_of_time() {
        let no = || illegal("bestmove d4c5", "illegal: no piece stands on d4");
        let dies = || Answer::Ended(Some(ExitHow::Signal(11)));
        assert!(came(no(), &[(3_000, no()), (60_000, no())]));
        assert!(came(dies(), &[(3_000, no()), (60_000, dies())]));
        // Once more is not enough, nor is one clock, nor one that is answered.
        assert!(!came(no(), &[]));
        assert!(!came(no(), &[(3_000, no())]));
        assert!(!came(no(), &[(60_000, no())]));
        assert!(!came(no(), &[(3_000, no()), (60_000, testing::legal("e7e5"))]));
    }

    #[test]
    fn a_move_that_is_none_only_after_other_questions_is_no_matter_of_time_either() {
        let no = || illegal("bestmove d4c5", "illegal: no piece stands on d4");
        let came = |clocks: [(u64, Answer); 3]| {
            let [first, second, (left, last)] = clocks;
            let set_aside =
                [first, second].map(|(left, answer)| asked(Purpose::SmallClock, left, answer));
            let alone = asked(Purpose::Again, 3_000, testing::legal("e7e5"));
            let last = asked(Purpose::Positions, left, last);
            let runs = std::iter::once(last).chain(set_aside).chain([alone]);
            let evidence = testing::evidence_of(runs);
            let search = runs::searches(&evidence.runs[0]).next().unwrap();
            came_again(&evidence, &search)
        };
        assert!(came([(600, no()), (3_000, no()), (60_000, no())]));
        assert!(came([(600, Answer::Timeout), (3_000, no()), (60_000, no())]));
        // Once on a clock of the event, on no clock with plenty of time, or late once.
        assert!(!came([(600, no()), (600, no()), (60_000, no())]));
        assert!(!came([(600, no()), (3_000, no()), (3_000, no())]));
        assert!(!came([(600, no()), (3_000, Answer::Timeout), (60_000, no())]));
        assert!(!came([(600, no()), (3_000, no()), (60_000, Answer::Timeout)]));
    }

    #[test]
    fn a_word_in_place_of_a_move_is_no_matter_of_time_where_it_comes_at_once() {
        let null = || illegal("bestmove 0000", "the null move 0000");
        let came = |took| {
            let mut runs: Vec<Run> = [(Purpose::Positions, 600), (Purpose::Again, 3_000)]
                .map(|(purpose, left)| asked(purpose, left, null()))
                .into();
            let mut last = asked(Purpose::Again, 60_000, null());
            for ask in &mut last.asks {
                ask.took = ms(took);
            }
            runs.push(last);
            let evidence = testing::evidence_of(runs);
            came_again(&evidence, &runs::searches(&evidence.runs[0]).next().unwrap())
        };
        assert!(came(20));
        assert!(!came(1_500), "it may have waited for a search that got no processor");
    }

    #[test]
    fn an_end_with_a_status_is_no_matter_of_time_where_it_comes_at_once_each_time() {
        let came = |took: [u64; 3], status| {
            let clocks =
                [(Purpose::Positions, 600), (Purpose::Again, 3_000), (Purpose::Again, 60_000)];
            let runs = clocks.into_iter().zip(took).map(|((purpose, left), took)| {
                let mut run = asked(purpose, left, Answer::Ended(Some(ExitHow::Status(status))));
                for ask in &mut run.asks {
                    ask.took = ms(took);
                }
                run
            });
            let evidence = testing::evidence_of(runs);
            let search = runs::searches(&evidence.runs[0]).next().unwrap();
            (came_again(&evidence, &search), broke_at_any_speed(&evidence.runs[2]))
        };
        assert_eq!(came([28, 30, 5], 9), (true, true));
        assert_eq!(came([28, 30, 150], 9), (false, false));
        assert!(!came([600, 30, 5], 9).0, "once, its time may have been over");
        assert_eq!(came([28, 30, 5], 0), (false, false), "it ended well");
    }

    #[test]
    fn what_time_may_have_caused_never_comes_again() {
        let late = [
            Answer::Timeout,
            Answer::Ended(Some(ExitHow::Status(1))),
            Answer::Ended(Some(ExitHow::Signal(9))),
            Answer::Ended(None),
        ];
        let no = || illegal("bestmove d4c5", "illegal: no piece stands on d4");
        for late in late {
            assert!(!came(late.clone(), &[(3_000, late.clone()), (60_000, late.clone())]));
            assert!(!came(no(), &[(3_000, late.clone()), (60_000, no())]), "{late:?}");
        }
    }

    #[test]
    fn a_shell_tells_the_signal_of_its_engine() {
        let mut run = asked(Purpose::Again, 3_000, Answer::Ended(Some(ExitHow::Status(128 + 11))));
        assert!(!broke_at_any_speed(&run), "it may end so by itself");
        run.crashes = vec![FatalSignal { at: ms(1), by: Some(0), signal: 11 }];
        assert!(!broke_at_any_speed(&run), "that was before the question");
        run.crashes[0].at = ms(60_000);
        assert!(broke_at_any_speed(&run));
        assert!(!broke_at_any_speed(&run.not_up()));
    }
}
