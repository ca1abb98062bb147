//! Rule 0.1: pondering that is on by default can be switched off. An engine that ponders unasked uses the
//! processor after its `bestmove`, and did not before its first `go`.

use super::{CausedByLoad, JudgedRule};
use std::time::Duration;

use crate::judge::support::allowed::Allowed;
use crate::judge::support::{one_answer, runs, wording};
use crate::model::evidence::{EndHow, Evidence, FileOpen, IdleSeen, Purpose, Run};
use crate::model::layer_status::{Layer, LayerName, LayerState};
use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, Status};

const RULE: RuleId = RuleId::Ponder;

/// A part of one processor: one that uses no more of it rests, and one that uses so much more than before its first `go`
/// ponders.
const MORE: f64 = 0.25;
/// Processor time that tells, where a crowded host gave it less than its share of the time in which it was watched.
const TELLS: Duration = Duration::from_millis(900);
/// The least part of its processor time that the kernel works in a loop that waits for input: each turn of one is a call.
/// docs/decisions/016 has what real loops show; a search has next to nothing.
const CALLS: f64 = 0.05;
/// A winding down that asks for a remark.
const LONG: Duration = Duration::from_millis(500);

pub(crate) const JUDGED: JudgedRule =
    JudgedRule::by_answers(RULE, CausedByLoad::Possibly, |case| {
        unseen(judge(case.evidence), case.evidence, case.allowed)
    });

/// Says of what rests that an accelerator may not: nobody counts what it does.
fn unseen(mut finding: Finding, evidence: &Evidence, policy: &dyn Allowed) -> Finding {
    let opened =
        |layer: &Layer| layer.name == LayerName::Devices && layer.state != LayerState::Enforced;
    let drives = |open: &FileOpen| !open.missing && policy.accelerator_part(&open.path).is_some();
    let has_one = evidence.host.layers.iter().any(opened)
        && evidence.runs.iter().flat_map(|run| &run.opens).any(drives);
    if has_one && finding.status == Status::Pass {
        finding.summary.push_str("; work of an accelerator is not seen");
    }
    finding
}

/// Judges the processor time that was used while the engine waited.
fn judge(evidence: &Evidence) -> Finding {
    if runs::engine(evidence).is_none() {
        return Finding::skipped(RULE, RuleId::Startup);
    }
    let measured = || evidence.runs.iter().flat_map(|run| &run.idle_after_moves);
    let busiest = measured().max_by(|a, b| a.share().total_cmp(&b.share()));
    let settling = measured().map(|seen| seen.settling).max();
    let Some((busiest, settling)) = busiest.zip(settling) else {
        let starved = |run: &Run| run.strained && run.ending.how != EndHow::ByItself;
        if evidence.of(Purpose::Idle).any(starved) {
            return Finding::undecided(
                RULE,
                "it got so little of a processor that whether it rests after its bestmove could not be told".to_owned(),
            )
            .help("check it again on a quieter host");
        }
        return one_answer::not_asked(RULE, evidence, "waiting after a bestmove");
    };
    let after = IdleSeen { settling, ..*busiest };
    let before = evidence.runs.iter().filter_map(|run| run.idle_before_go).max_by(f64::total_cmp);
    decide(before, after, has_option(evidence))
        .with("settling_ms", after.settling.as_secs_f64() * 1e3)
        .with("watched_ms", after.watched.as_secs_f64() * 1e3)
        .with("used_ms", after.used.as_secs_f64() * 1e3)
        .with("system_ms", after.system.as_secs_f64() * 1e3)
        .with("before_go", before)
        .with("option", has_option(evidence))
}

fn decide(before: Option<f64>, after: IdleSeen, option: bool) -> Finding {
    let share = if after.used >= TELLS { after.share().max(after.wanted) } else { after.share() };
    let switched = if option { "with Ponder set to false " } else { "" };
    let figure = format!(
        "{} of processor time in {} of waiting after its bestmove",
        wording::secs(after.used),
        wording::secs(after.watched)
    );
    if share <= MORE {
        return if after.settling < LONG {
            Finding::pass(RULE, format!("{switched}it rests while it waits: {figure}"))
        } else {
            Finding::advice(
                RULE,
                format!(
                    "{switched}it rests while it waits: {figure}, once it has worked on for {} of processor time",
                    wording::secs(after.settling)
                ),
            )
            .help("end the search and its threads before the bestmove: what goes on takes the opponent's processor")
        };
    }
    let Some(before) = before else {
        return Finding::undecided(
            RULE,
            format!(
                "{switched}it uses {figure}; whether it did before its first go was not measured"
            ),
        )
        .help("check it again on a quieter host");
    };
    let rested = format!("{} of a processor before its first go", percent(before));
    if share - before <= MORE {
        return as_before(&figure, &rested, &after);
    }
    if option {
        Finding::fail(
            RULE,
            format!("with Ponder set to false it still uses {figure}, and {rested}"),
        )
        .help("let `setoption name Ponder value false` end the search at the bestmove, also after `ucinewgame`")
    } else {
        Finding::fail(
            RULE,
            format!("it uses {figure}, and {rested}: it ponders, and no option switches it off"),
        )
        .help("stop searching at the bestmove; or announce `option name Ponder type check default false`, and obey it")
    }
}

/// The finding on an engine that uses as much before its first `go`: it waits in a loop, or has searched since it started.
fn as_before(figure: &str, rested: &str, after: &IdleSeen) -> Finding {
    let calls = after.system.as_secs_f64() / after.used.as_secs_f64().max(f64::EPSILON);
    if calls >= CALLS {
        return Finding::advice(
            RULE,
            format!("it uses {figure}, and {rested}: it waits in a loop, which is no pondering"),
        )
        .help("wait for input in a blocking read: a loop takes the processor from the opponent");
    }
    Finding::undecided(
        RULE,
        format!(
            "it uses {figure}, and {rested}, {} of it in calls of the system: a loop that asks for input makes calls all \
             the while, so this is a loop that asks for nothing, or a search that never ends, and nobody can tell which from here",
            percent(calls)
        ),
    )
    .help(
        "while the opponent thinks, let every thread wait in a read that blocks, in a poll with a timeout other than zero, or at a \
         lock; else the organisers have to look at its source, and may waive the rule (7.8)",
    )
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
    use crate::judge::support::testing::{self, ms};
    use crate::model::evidence::{Answer, DeclaredOption, ExitHow};
    use crate::model::verdict::Status;

    fn of(before: Option<f64>, used: u64, settling: u64, option: bool) -> Finding {
        // As much of it is the kernel's as of a loop in Python.
        let (settling, watched, used) = (ms(settling), ms(3_600), ms(used));
        of_moments(
            before,
            option,
            &[IdleSeen { settling, watched, used, system: used / 4, wanted: 0.0 }],
        )
    }

    fn of_moments(before: Option<f64>, option: bool, moments: &[IdleSeen]) -> Finding {
        let mut idle = testing::run(Purpose::Idle);
        idle.idle_after_moves = moments.to_vec();
        if option {
            idle.options.push(DeclaredOption {
                name: "Ponder".into(),
                kind: "check".into(),
                default: Some("true".into()),
            });
        }
        let mut main = testing::run(Purpose::Main);
        main.idle_before_go = before;
        judge(&testing::evidence_of([main, idle]))
    }

    #[test]
    fn work_after_the_move_is_pondering_only_if_it_rested_before() {
        assert_eq!(of(Some(0.0), 20, 0, false).status, Status::Pass);
        let finding = of(Some(0.0), 3_550, 2_400, false);
        assert_eq!(finding.status, Status::Fail);
        let figure = "3.55 s of processor time in 3.60 s of waiting after its bestmove";
        assert!(finding.summary.contains(figure), "{}", finding.summary);
        let spins = of(Some(1.0), 3_600, 2_400, false);
        assert_eq!(spins.status, Status::Advice);
        assert!(spins.summary.contains("waits in a loop"));
        // A loop of one thread excuses no search of four.
        assert_eq!(of(Some(1.0), 14_000, 9_600, false).status, Status::Fail);
        assert_eq!(of(None, 3_600, 2_400, false).status, Status::Undecided);
    }

    #[test]
    fn only_a_loop_that_makes_calls_is_excused() {
        let with_calls = |system: u64| {
            let seen = IdleSeen {
                settling: ms(2_400),
                watched: ms(3_600),
                used: ms(3_600),
                system: ms(system),
                wanted: 0.0,
            };
            of_moments(Some(1.0), false, &[seen])
        };
        assert_eq!(with_calls(1_800).status, Status::Advice);
        assert_eq!(with_calls(400).status, Status::Advice);
        let searches = with_calls(20);
        assert_eq!(searches.status, Status::Undecided);
        assert!(searches.summary.contains("1% of it in calls"), "{}", searches.summary);
        assert!(searches.evidence.contains_key("system_ms"));
    }

    #[test]
    fn each_moment_counts_in_which_it_was_watched() {
        let seen = |settling: u64, used: u64| IdleSeen {
            settling: ms(settling),
            watched: ms(3_600),
            used: ms(used),
            ..IdleSeen::default()
        };
        let (rests, ponders) = (seen(0, 10), seen(0, 3_500));
        for moments in [[rests, ponders], [ponders, rests]] {
            assert_eq!(of_moments(Some(0.0), false, &moments).status, Status::Fail);
        }
        let winds_down = of_moments(Some(0.0), false, &[rests, seen(900, 0)]);
        assert_eq!(winds_down.status, Status::Advice);
        assert_eq!(of_moments(Some(0.0), false, &[rests, rests]).status, Status::Pass);
    }

    #[test]
    fn one_that_begins_late_or_works_by_half_ponders() {
        assert_eq!(of(Some(0.0), 1_500, 0, false).status, Status::Fail);
        assert_eq!(of(Some(0.0), 1_100, 300, false).status, Status::Fail);
    }

    #[test]
    fn one_that_a_crowded_host_starves_ponders_all_the_same() {
        let seen = |used: u64, wanted: f64| IdleSeen {
            settling: ms(900),
            watched: ms(9_000),
            used: ms(used),
            system: ms(used) / 4,
            wanted,
        };
        assert_eq!(decide(Some(0.0), seen(950, 0.97), false).status, Status::Fail);
        assert_eq!(decide(Some(0.0), seen(950, 0.1), false).status, Status::Advice);
        assert_eq!(decide(Some(0.0), seen(300, 0.4), false).status, Status::Advice);
    }

    #[test]
    fn what_winds_down_slowly_is_told_and_no_pondering() {
        assert_eq!(of(Some(0.0), 0, 290, false).status, Status::Pass);
        let advice = of(Some(0.0), 0, 900, false);
        assert_eq!(advice.status, Status::Advice);
        assert!(advice.summary.contains("0.90 s"), "{}", advice.summary);
    }

    #[test]
    fn an_option_must_work() {
        assert_eq!(of(Some(0.0), 0, 0, true).status, Status::Pass);
        let finding = of(Some(0.0), 3_600, 2_400, true);
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.starts_with("with Ponder set to false"), "{}", finding.summary);
    }

    #[test]
    fn a_host_too_crowded_to_tell_is_named() {
        let mut idle = testing::run(Purpose::Idle);
        idle.strained = true;
        let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), idle]));
        assert_eq!(finding.status, Status::Undecided);
        assert!(finding.summary.contains("little of a processor"), "{}", finding.summary);
    }

    #[test]
    fn an_entry_that_dies_before_it_is_watched_is_not_left_open() {
        for answer in [Answer::Timeout, Answer::Ended(Some(ExitHow::Signal(11)))] {
            let mut idle = testing::run(Purpose::Idle);
            idle.asks[4].answer = answer;
            let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), idle]));
            assert_eq!(finding.status, Status::Skipped);
            assert_eq!(finding.evidence["because_of"], "legal-moves", "which has the next step");
        }
    }

    #[test]
    fn what_was_not_measured_is_not_guessed() {
        let finding = judge(&testing::evidence_of([testing::run(Purpose::Main)]));
        assert_eq!(finding.status, Status::Undecided);
    }
}
