//! Rule 7.9 at length: a game as long as the longest of the real events still gets a legal answer on one line. A
//! failure only beyond that is advice.

use super::{CausedByLoad, JudgedRule};
use crate::judge::support::runs::SearchInRun;
use crate::judge::support::{came_again, excuse, one_answer, runs, wording};
use crate::model::evidence::{Answer, Ask, Evidence, LONG_GAME, Purpose};
use crate::model::rule::RuleId;
use crate::model::units::Ply;
use crate::model::verdict::{Finding, Status};

const RULE: RuleId = RuleId::LongGame;

pub(crate) const JUDGED: JudgedRule =
    JudgedRule::by_answers(RULE, CausedByLoad::IfStrained, |case| judge(case.evidence));

/// Judges the answer to the longest list that is demanded.
fn judge(evidence: &Evidence) -> Finding {
    if runs::engine(evidence).is_none() {
        return Finding::skipped(RULE, RuleId::Startup);
    }
    let Some(search) = demanded(evidence) else {
        return no_answer(evidence);
    };
    let finding = match &search.ask.answer {
        Answer::Legal(uci) => answered(evidence, &search, uci),
        Answer::Resigned => resigned(&search),
        _ => failed(evidence, &search),
    };
    finding
        .with("plies", search.go.plies)
        .with("command_bytes", search.go.command.len())
        .with("answer", &search.ask.answer)
        .with("took_ms", search.ask.took.as_secs_f64() * 1e3)
        .with("thousand_plies", evidence.capabilities.thousand_plies)
}

/// The search after the longest list that is demanded. A run that resigned is followed by one on the list without its
/// last ply, which counts unless it resigned as well.
fn demanded(evidence: &Evidence) -> Option<SearchInRun<'_>> {
    let runs = evidence.runs.iter().filter(|run| match run.purpose {
        Purpose::LongGame(plies) => plies <= LONG_GAME,
        _ => false,
    });
    runs.filter_map(|run| runs::searches(run).last())
        .min_by_key(|search| search.ask.answer == Answer::Resigned)
}

/// The finding on a legal answer: an advice where there was none after a longer list.
fn answered(evidence: &Evidence, search: &SearchInRun<'_>, uci: &str) -> Finding {
    let mut finding = Finding::pass(
        RULE,
        format!(
            "after {} on one line it answers {uci} in {}",
            search.go.plies,
            wording::secs(search.ask.took)
        ),
    );
    let Some((plies, words)) = first_failure(evidence) else { return finding };
    finding.status = Status::Advice;
    let known = last_good(evidence, plies);
    finding.summary.push_str(&if known.0 + 1 == plies.0 {
        format!("; from {plies} on it fails: {words}")
    } else {
        format!(
            "; it fails at {plies}, and not at {known} (it is slow: no length between was asked): {words}"
        )
    });
    finding.help = "optional: of 1,148 games of real 4k events the longest had 340 plies; make the line \
                    buffer and the game's history bigger, if bytes are left, since a longer game would \
                    be lost"
        .into();
    finding.with("fails_from", plies)
}

/// The finding on a resignation whichever side is to move.
fn resigned(search: &SearchInRun<'_>) -> Finding {
    let summary = format!(
        "after {} on one line it resigns, whichever side is to move, so that no move shows what it has read",
        search.go.plies
    );
    Finding::undecided(RULE, summary)
        .details(runs::conversation(search.run, search.index))
        .with("commands", runs::commands_upto(search.run, search.index))
        .help(
            "answer with a move as long as the game is not lost: a resignation loses the game (rule 2.1)",
        )
}

/// The finding on any other answer, or none.
fn failed(evidence: &Evidence, search: &SearchInRun<'_>) -> Finding {
    let SearchInRun { run, index, ask, go } = *search;
    let summary = format!(
        "after {} on one line there is no legal answer: {}",
        go.plies,
        runs::answer_words(ask, run)
    );
    let finding = Finding::fail(RULE, summary)
        .details(runs::account(run, index))
        .with("commands", runs::commands_upto(run, index))
        .help(next_step(ask));
    let finding = came_again::noted(finding, came_again::came_again(evidence, search));
    excuse::excused(finding, excuse::refusal(run, &evidence.host))
}

/// The next step after a long list without a legal answer.
fn next_step(ask: &Ask) -> &'static str {
    match &ask.answer {
        Answer::Illegal { why, .. } if why.is_no_move() => {
            "have a move ready, and see that the whole line was read (a buffer of 4096 bytes holds 800 plies)"
        }
        Answer::Illegal { .. } => runs::writing_help(&ask.answer).unwrap_or(
            "read the whole line (a buffer of 4096 bytes holds 800 plies), and count the moves in more than a byte",
        ),
        Answer::Timeout => runs::line_end_help(ask).unwrap_or(
            "where it fails after short lists as well, do first what legal-moves tells; else see what takes so long with so many moves, or never \
             ends: a loop over them that goes wrong, or work that grows with each of them (a real game had 340 plies)",
        ),
        _ => {
            "where it fails after short lists as well, do first what legal-moves tells; else make the line buffer (at least 4096 bytes) and the history of the game (at least 512 \
             positions) bigger: a real game had 340 plies"
        }
    }
}

/// The fewest plies beyond the demanded that got no legal answer, and what came in its place.
fn first_failure(evidence: &Evidence) -> Option<(Ply, String)> {
    let beyond = evidence.runs.iter().filter_map(|run| match run.purpose {
        Purpose::LongGame(plies) if plies > LONG_GAME => {
            let last = runs::searches(run).last()?;
            (!last.ask.moved()).then(|| (plies, runs::answer_words(last.ask, run)))
        }
        _ => None,
    });
    beyond.min_by_key(|(plies, _)| *plies)
}

/// The most plies below `bad` that got a legal answer.
fn last_good(evidence: &Evidence, bad: Ply) -> Ply {
    let good = evidence.runs.iter().filter_map(|run| match run.purpose {
        Purpose::LongGame(plies) if plies < bad => {
            runs::searches(run).last()?.ask.moved().then_some(plies)
        }
        _ => None,
    });
    good.max().unwrap_or(LONG_GAME)
}

/// The probe did not get to its question: its own start failed, or it was not run.
fn no_answer(evidence: &Evidence) -> Finding {
    let run = evidence.of(Purpose::LongGame(LONG_GAME)).next();
    let Some(run) = run.filter(|run| !runs::is_up(run)) else {
        return one_answer::not_asked(RULE, evidence, "position startpos moves with 340 plies");
    };
    let what = "not tried: the fresh process for it did not start, though the measured one did";
    let finding = match excuse::refused(&run.refusals, &evidence.host) {
        Some(refused) => {
            Finding::undecided(RULE, format!("{what}; {}", refused.why)).help(refused.help)
        }
        None => Finding::undecided(RULE, what)
            .help("start the engine several times at once and see why one of them fails"),
    };
    finding.details(runs::stderr(run))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::judge::support::testing::illegal;
    use crate::model::evidence::{ExitHow, Resource};
    use crate::model::units::Bytes;

    fn with(answer: Answer) -> Evidence {
        let mut evidence = testing::evidence();
        for run in &mut evidence.runs {
            if matches!(run.purpose, Purpose::LongGame(_)) {
                run.asks[0].answer = answer.clone();
            }
        }
        evidence
    }

    #[test]
    fn a_short_memory_shows() {
        let finding = judge(&with(illegal("bestmove a2a3", "illegal")));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("after 340 plies"));
        assert!(finding.help.contains("read the whole line"));
        let capitals = illegal("bestmove A2A3", "not written as in UCI: upper case");
        assert!(judge(&with(capitals)).help.starts_with("write moves as `e2e4`"));
        let finding = judge(&with(Answer::Ended(Some(ExitHow::Signal(11)))));
        assert!(finding.summary.contains("SIGSEGV"));
        assert!(finding.help.contains("340 plies"));
    }

    #[test]
    fn who_resigns_there_is_judged_by_the_answer_for_the_other_side() {
        let mut evidence = with(Answer::Resigned);
        let finding = judge(&evidence);
        assert_eq!(finding.status, Status::Undecided);
        assert!(finding.help.contains("rule 2.1"), "{}", finding.help);
        for (answer, status) in [
            (Answer::Resigned, Status::Undecided),
            (illegal("bestmove a2a3", "illegal"), Status::Fail),
            (testing::legal("f2f7"), Status::Pass),
        ] {
            let mut before = testing::run(Purpose::LongGame(Ply(339)));
            before.asks.truncate(4);
            before.asks[3].answer = answer;
            evidence.runs.push(before);
            assert_eq!(judge(&evidence).status, status);
            evidence.runs.pop();
        }
    }

    #[test]
    fn a_thousand_plies_are_advice() {
        let mut evidence = testing::evidence();
        assert_eq!(judge(&evidence).status, Status::Pass);
        for (plies, answer) in [
            (1000, Answer::Timeout),
            (406, illegal("bestmove a2a3", "illegal")),
            (405, testing::legal("e2e4")),
        ] {
            let mut longer = testing::run(Purpose::LongGame(Ply(plies)));
            longer.asks.truncate(4);
            longer.asks[3].answer = answer;
            evidence.runs.push(longer);
        }
        let finding = judge(&evidence);
        assert_eq!(finding.status, Status::Advice);
        assert!(finding.summary.contains("from 406 plies on it fails"), "{}", finding.summary);
        // The bound was not found in the time for it.
        evidence.runs.pop();
        let summary = judge(&evidence).summary;
        assert!(summary.contains("it fails at 406 plies, and not at 340 plies"), "{summary}");
    }

    #[test]
    fn a_refusal_or_a_failed_start_leaves_it_open() {
        let mut evidence = with(Answer::Timeout);
        let at = evidence.runs.len() - 3;
        let long = evidence.runs[at].clone();
        assert!(matches!(long.purpose, Purpose::LongGame(_)));
        evidence.runs[at] = long.clone().refused(Resource::Memory(Bytes(1 << 40)));
        assert_eq!(judge(&evidence).status, Status::Undecided);
        evidence.runs[at] = long.not_up();
        assert!(judge(&evidence).summary.contains("did not start"));
        assert!(judge(&evidence).help.starts_with("start the engine several times"));
        // The host had no process left for it.
        evidence.runs[at] = evidence.runs[at].clone().refused(Resource::Threads(30));
        let finding = judge(&evidence);
        assert_eq!(finding.status, Status::Undecided);
        assert!(finding.help.contains("`ulimit -u`"), "{}", finding.help);
        evidence.runs[at].refusals[0].what = Resource::Threads(1280);
        assert!(!judge(&evidence).help.contains("ulimit"));
    }
}
