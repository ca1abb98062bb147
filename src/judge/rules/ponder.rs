//! Rule 0.1: pondering that is on by default can be switched off. An engine that ponders unasked uses the
//! processor after its `bestmove`, and did not before its first `go`.

use super::{CausedByLoad, JudgedRule, Needed};
use std::time::Duration;

use crate::judge::support::{one_answer, runs, wording};
use crate::model::evidence::Evidence;
use crate::model::rule::RuleId;
use crate::model::verdict::Finding;

const RULE: RuleId = RuleId::Ponder;

/// Below this share of one processor an engine is at rest.
const REST: f64 = 0.2;
/// A winding down that asks for a remark.
const LONG: Duration = Duration::from_millis(500);
/// Above this share it works.
const WORK: f64 = 0.5;

/// The rule as the registry lists it.
pub const JUDGED: JudgedRule = JudgedRule {
    id: RULE,
    evidence: Needed::Runs,
    load: CausedByLoad::Possibly,
    leans_on: &[],
    judge: |case| judge(case.evidence),
};

/// Judges the processor time that was used while the engine waited.
fn judge(evidence: &Evidence) -> Finding {
    if runs::engine(evidence).is_none() {
        return Finding::skipped(RULE, RuleId::Startup);
    }
    let measured =
        evidence.runs.iter().filter_map(|run| run.idle_after_move).max_by(f64::total_cmp);
    let Some(after) = measured else {
        if evidence.runs.iter().any(|run| run.idle_before_go.is_some() && run.strained) {
            return Finding::undecided(
                RULE,
                "it got so little of a processor that whether it rests after its bestmove could not be told".to_owned(),
            )
            .help("check it again on a quieter host");
        }
        return one_answer::not_asked(RULE, evidence, "waiting after a bestmove");
    };
    let off = evidence.runs.iter().filter_map(|run| run.idle_ponder_off).max_by(f64::total_cmp);
    let settling = evidence.runs.iter().filter_map(|run| run.settling).max();
    let before = evidence.runs.iter().filter_map(|run| run.idle_before_go).max_by(f64::total_cmp);
    decide(before, after, off, has_option(evidence), settling)
        .with("settling_ms", settling.map(|took| took.as_secs_f64() * 1e3))
        .with("before_go", before)
        .with("after_move", after)
        .with("after_move_ponder_off", off)
        .with("option", has_option(evidence))
}

fn decide(
    before: Option<f64>,
    after: f64,
    off: Option<f64>,
    option: bool,
    settling: Option<Duration>,
) -> Finding {
    let figure = format!("{} of a processor after its bestmove", percent(after));
    if after <= WORK {
        return match settling.filter(|took| *took >= LONG) {
            None => Finding::pass(RULE, format!("it rests while it waits: {figure}")),
            Some(took) => Finding::advice(
                RULE,
                format!(
                    "it rests while it waits: {figure}, once it has worked on for {} of processor time",
                    wording::secs(took)
                ),
            )
            .help("end the search and its threads before the bestmove: what goes on takes the opponent's processor"),
        };
    }
    let Some(before) = before else {
        return Finding::undecided(
            RULE,
            format!("it uses {figure}; whether it did before its first go was not measured"),
        )
        .help("check it again on a quieter host");
    };
    if before >= REST {
        return Finding::advice(
            RULE,
            format!(
                "it uses {figure} and {} before its first go: it waits in a loop, which is no pondering",
                percent(before)
            ),
        )
        .help("wait for input in a blocking read: a loop takes the processor from the opponent");
    }
    match (option, off) {
        (false, _) => Finding::fail(
            RULE,
            format!(
                "it uses {figure} and {} before its first go: it ponders, and no option switches it off",
                percent(before)
            ),
        )
        .help("stop searching at the bestmove; or announce `option name Ponder type check default false`, and obey it"),
        (true, Some(off)) if off > WORK => Finding::fail(
            RULE,
            format!("with Ponder set to false it still uses {} of a processor after its bestmove", percent(off)),
        )
        .help("let `setoption name Ponder value false` end the search at the bestmove"),
        (true, Some(off)) => Finding::pass(
            RULE,
            format!("it ponders by default ({figure}), and Ponder switches it off ({})", percent(off)),
        ),
        (true, None) => Finding::undecided(
            RULE,
            format!("it ponders by default ({figure}); whether Ponder switches it off was not measured"),
        )
        .help("check it again; `setoption name Ponder value false` must end it"),
    }
}

/// True if the engine announced the option.
fn has_option(evidence: &Evidence) -> bool {
    evidence
        .runs
        .iter()
        .flat_map(|run| &run.options)
        .any(|option| option.name.eq_ignore_ascii_case("ponder"))
}

fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::model::evidence::{DeclaredOption, Purpose};
    use crate::model::verdict::Status;

    fn of(before: Option<f64>, after: f64, off: Option<f64>, option: bool) -> Finding {
        let mut idle = testing::run(Purpose::Idle);
        idle.idle_before_go = before;
        idle.idle_after_move = Some(after);
        idle.idle_ponder_off = off;
        if option {
            idle.options.push(DeclaredOption {
                name: "Ponder".into(),
                kind: "check".into(),
                default: Some("true".into()),
            });
        }
        judge(&testing::evidence_of([testing::run(Purpose::Main), idle]))
    }

    #[test]
    fn work_after_the_move_is_pondering_only_if_it_rested_before() {
        assert_eq!(of(Some(0.0), 0.05, None, false).status, Status::Pass);
        let finding = of(Some(0.0), 0.98, None, false);
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("98% of a processor after its bestmove"));
        let spins = of(Some(1.0), 1.0, None, false);
        assert_eq!(spins.status, Status::Advice);
        assert!(spins.summary.contains("waits in a loop"));
    }

    #[test]
    fn what_winds_down_slowly_is_told_and_no_pondering() {
        let mut idle = testing::run(Purpose::Idle);
        idle.idle_before_go = Some(0.0);
        idle.idle_after_move = Some(0.0);
        for (took, status) in [(290, Status::Pass), (900, Status::Advice)] {
            idle.settling = Some(testing::ms(took));
            let evidence = testing::evidence_of([testing::run(Purpose::Main), idle.clone()]);
            assert_eq!(judge(&evidence).status, status);
        }
    }

    #[test]
    fn an_option_must_work() {
        assert_eq!(of(Some(0.0), 0.9, Some(0.0), true).status, Status::Pass);
        assert_eq!(of(Some(0.0), 0.9, Some(0.9), true).status, Status::Fail);
        assert_eq!(of(Some(0.0), 0.9, None, true).status, Status::Undecided);
        assert_eq!(of(None, 0.9, None, false).status, Status::Undecided);
    }

    #[test]
    fn a_host_too_crowded_to_tell_is_named() {
        let mut main = testing::run(Purpose::Main);
        (main.idle_before_go, main.strained) = (Some(0.0), true);
        let finding = judge(&testing::evidence_of([main]));
        assert_eq!(finding.status, Status::Undecided);
        assert!(finding.summary.contains("little of a processor"), "{}", finding.summary);
    }

    #[test]
    fn what_was_not_measured_is_not_guessed() {
        let finding = judge(&testing::evidence_of([testing::run(Purpose::Main)]));
        assert_eq!(finding.status, Status::Undecided);
    }
}
