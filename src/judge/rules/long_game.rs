//! Rule 7.9 at length: a game of 450 plies on one line still gets a legal answer. The longest real 4k game
//! had 422 plies. 1,000 plies are advice.

use super::{CausedByLoad, JudgedRule, Needed};
use crate::judge::support::{excuse, one_answer, runs, wording};
use crate::model::evidence::{Answer, Evidence, LONG_GAME, Purpose};
use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, Status};

const RULE: RuleId = RuleId::LongGame;

/// The rule as the registry lists it.
pub const JUDGED: JudgedRule = JudgedRule {
    id: RULE,
    evidence: Needed::Runs,
    load: CausedByLoad::IfStrained,
    leans_on: &[],
    judge: |case| judge(case.evidence),
};

/// Judges the answer to the longest list that is demanded.
fn judge(evidence: &Evidence) -> Finding {
    if runs::engine(evidence).is_none() {
        return Finding::skipped(RULE, RuleId::Startup);
    }
    let found = evidence
        .of(Purpose::LongGame(LONG_GAME))
        .find_map(|run| runs::searches(run).last().map(|(i, ask, go)| (run, i, ask, go)));
    let Some((run, index, ask, go)) = found else {
        return no_answer(evidence);
    };
    let length = go.command.len();
    match &ask.answer {
        Answer::Legal(uci) => {
            let mut finding = Finding::pass(
                RULE,
                format!("after {} on one line it answers {uci} in {}", go.plies, wording::secs(ask.took)),
            );
            if evidence.capabilities.thousand_plies == Some(false) {
                finding.status = Status::Advice;
                finding.summary.push_str("; 1000 plies are too many for it");
                finding.help = "optional: the longest real 4k game had 422 plies; make the line buffer and \
                                the game's history bigger, if bytes are left"
                    .into();
            }
            finding
        }
        answer => {
            let finding = Finding::fail(
                RULE,
                format!(
                    "after {} on one line there is no legal answer: {}",
                    go.plies,
                    runs::answer_words(ask, run)
                ),
            )
            .details(runs::crashes(run))
            .details(runs::stderr(run))
            .details(runs::conversation(run, index))
            .help(match answer {
                Answer::Illegal { .. } => {
                    "read the whole line: a buffer of 4096 bytes holds 800 plies; the move fits a shorter list"
                }
                _ => {
                    "make the line buffer (at least 4096 bytes) and the history of the game (at least 512 \
                     positions) bigger: a real game had 422 plies"
                }
            });
            excuse::excused(finding, excuse::refusal(run, &evidence.host))
        }
    }
    .with("plies", go.plies)
    .with("command_bytes", length)
    .with("answer", &ask.answer)
    .with("took_ms", ask.took.as_secs_f64() * 1e3)
    .with("thousand_plies", evidence.capabilities.thousand_plies)
}

/// The probe did not get to its question: its own start failed, or it was not run.
fn no_answer(evidence: &Evidence) -> Finding {
    let run = evidence.of(Purpose::LongGame(LONG_GAME)).next();
    let Some(run) = run.filter(|run| !runs::is_up(run)) else {
        return one_answer::not_asked(RULE, evidence, "position startpos moves with 450 plies");
    };
    Finding::undecided(
        RULE,
        "not tried: the fresh process for it did not start, though the measured one did",
    )
    .details(runs::stderr(run))
    .help("start the engine several times at once and see why one of them fails")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::judge::support::testing::{Build, illegal};
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
        assert!(finding.summary.contains("after 450 plies"));
        let finding = judge(&with(Answer::Ended(Some(ExitHow::Signal(11)))));
        assert!(finding.summary.contains("SIGSEGV"));
        assert!(finding.help.contains("422 plies"));
    }

    #[test]
    fn a_thousand_plies_are_advice() {
        let mut evidence = testing::evidence();
        assert_eq!(judge(&evidence).status, Status::Pass);
        evidence.capabilities.thousand_plies = Some(false);
        assert_eq!(judge(&evidence).status, Status::Advice);
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
    }
}
