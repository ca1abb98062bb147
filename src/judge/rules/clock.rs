//! Rule 1: 30 minutes and 3 seconds a move. Advice only: to lose on time is a loss, and no reason to reject.

use super::{CausedByLoad, JudgedRule};
use crate::judge::support::{runs, wording};
use std::time::Duration;

use serde_json::{Value, json};

use crate::model::evidence::{Answer, Ask, Evidence, GoQuestion, LeftOut, Purpose, Run};
use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, LEFT_OUT, Status};

const RULE: RuleId = RuleId::Clock;

/// The event's clock.
const BASE: Duration = Duration::from_secs(1800);
/// The event's increment.
const INCREMENT: Duration = Duration::from_secs(3);
/// A long game, in moves of one side.
const GAME: u32 = 200;
/// A clock below this is little.
const LITTLE: Duration = Duration::from_secs(60);

/// A search with a clock: what was left, what it took, whether it was cut there.
#[derive(Clone, Copy)]
struct Sample {
    left: Duration,
    took: Duration,
    cut: bool,
}

impl Sample {
    /// For people.
    fn in_words(&self) -> String {
        format!(
            "{} left: {}{}{}",
            wording::secs(self.left),
            if self.cut { "no answer after " } else { "took " },
            wording::secs(self.took),
            if self.took > self.left { ", lost on time" } else { "" }
        )
    }

    /// For programs.
    fn json(&self) -> Value {
        json!({
            "left_ms": self.left.as_secs_f64() * 1e3,
            "took_ms": self.took.as_secs_f64() * 1e3,
            "cut": self.cut,
        })
    }
}

pub(crate) const JUDGED: JudgedRule =
    JudgedRule::by_answers(RULE, CausedByLoad::Possibly, |case| judge(case.evidence));

/// Tells what the engine does with its time.
fn judge(evidence: &Evidence) -> Finding {
    if runs::engine(evidence).is_none() {
        return Finding::skipped(RULE, RuleId::Startup);
    }
    let samples = samples(evidence);
    if samples.is_empty() || evidence.quick {
        let why = if evidence.quick { "left out by --quick" } else { "not measured" };
        return Finding::new(RULE, Status::Skipped, why);
    }
    let lost = lost_at(&samples);
    let left_out = evidence.capabilities.left_out;
    let mut words = shown(&samples);
    words.extend(match (lost, left_out) {
        (Some(at), _) => Some(format!("a game would be lost on time at move {at}")),
        // Its time for a move with much left, or with little, was not seen.
        (None, Some(_)) => None,
        // When it moves nobody saw there.
        (None, None) if samples.iter().any(|sample| sample.cut) => None,
        (None, None) => Some(format!("a game of {GAME} moves is not lost on time")),
    });
    if let Some(LeftOut { looks, of }) = left_out {
        words.push(format!(
            "it is slow, so {} of {of} probes that can only advise were run",
            of - looks
        ));
    }
    let mut finding = Finding::pass(RULE, words.join("; "));
    if lost.is_some() || samples.iter().any(|s| s.left < LITTLE && s.took > s.left) {
        finding.status = Status::Advice;
        finding.help =
            "spend a share of the clock, such as time / 30 + increment / 2, and stop the search \
                        within an iteration when it is used up"
                .into();
    }
    if let Some(LeftOut { looks, .. }) = left_out {
        finding = finding.with(LEFT_OUT, looks);
    }
    finding
        .details(samples.iter().map(Sample::in_words))
        .with("floor_ms", floor(&samples).map(|time| time.as_secs_f64() * 1e3))
        .with("lost_at_move", lost)
        .with("samples", samples.iter().map(Sample::json).collect::<Vec<_>>())
}

/// The time that moves take, in words: the longest with much time left, that with the least left, and the shortest.
fn shown(samples: &[Sample]) -> Vec<String> {
    let full = samples.iter().filter(|s| s.left >= BASE / 2).max_by_key(|s| s.took);
    let full = full.map(|full| {
        format!(
            "{}{} of {} s + 3 s",
            if full.cut { "at least " } else { "" },
            wording::secs(full.took),
            BASE.as_secs()
        )
    });
    let little = samples.iter().filter(|s| s.left < LITTLE).min_by_key(|s| s.left);
    let little = little.map(|little| {
        format!(
            "{}{} with {} left",
            if little.cut { "more than " } else { "" },
            wording::secs(little.took),
            wording::secs(little.left)
        )
    });
    let floor = floor(samples).map(|floor| format!("never under {}", wording::secs(floor)));
    [full, little, floor].into_iter().flatten().collect()
}

/// The shortest time of a search that came to its end.
fn floor(samples: &[Sample]) -> Option<Duration> {
    samples.iter().filter(|s| !s.cut).map(|s| s.took).min()
}

/// The searches of the clock's run; where there is none, those of the measured run.
fn samples(evidence: &Evidence) -> Vec<Sample> {
    let of = |run: &Run| -> Vec<Sample> {
        runs::searches(run).filter_map(|search| sample(search.ask, search.go)).collect()
    };
    let mut samples: Vec<Sample> = evidence.of(Purpose::Clock).flat_map(of).collect();
    if samples.is_empty() {
        samples = runs::engine(evidence).map(of).unwrap_or_default();
    }
    // One that was cut sooner than another with as much time took tells nothing more.
    let all = samples.clone();
    let is_outdone = |s: &Sample| all.iter().any(|o| o.left >= s.left && o.took > s.took);
    samples.retain(|s| !(s.cut && is_outdone(s)));
    samples.sort_by_key(|s| std::cmp::Reverse(s.left));
    samples
}

fn sample(ask: &Ask, go: &GoQuestion) -> Option<Sample> {
    let cut = match ask.answer {
        Answer::Legal(_) | Answer::Illegal { .. } => false,
        Answer::Timeout => true,
        // A death or a flood says nothing of the clock.
        _ => return None,
    };
    Some(Sample { left: go.left?, took: ask.took, cut })
}

/// Plays a game on the clock alone, the time of each move read off the samples; the move at which the flag
/// falls. Where a search was cut, at least that time is counted: the real game ends no later.
fn lost_at(samples: &[Sample]) -> Option<u32> {
    let mut left = BASE;
    for number in 1..=GAME {
        let takes = time_at(samples, left)?;
        if takes > left {
            return Some(number);
        }
        left = left - takes + INCREMENT;
    }
    None
}

/// The time of a move with so much left, between the two nearest samples in a straight line, flat beyond.
fn time_at(samples: &[Sample], left: Duration) -> Option<Duration> {
    let above = samples
        .iter()
        .filter(|s| s.left >= left)
        .min_by_key(|s| (s.left, std::cmp::Reverse(s.took)));
    let below = samples.iter().filter(|s| s.left <= left).max_by_key(|s| (s.left, s.took));
    match (below, above) {
        (Some(below), Some(above)) if above.left > below.left => {
            let share = (left - below.left).as_secs_f64() / (above.left - below.left).as_secs_f64();
            let took = below.took.as_secs_f64()
                + share * (above.took.as_secs_f64() - below.took.as_secs_f64());
            Duration::try_from_secs_f64(took).ok()
        }
        (Some(one), _) | (_, Some(one)) => Some(one.took),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::judge::support::testing::{ask, go, legal, ms};
    use crate::model::evidence::Question;

    fn of(samples: &[(u64, u64, bool)]) -> Finding {
        let mut clock = testing::run(Purpose::Clock);
        clock.asks = samples
            .iter()
            .map(|&(left, took, cut)| {
                let question =
                    GoQuestion { left: Some(ms(left)), ..go("clock", testing::LISTED, 1) };
                let answer = if cut { Answer::Timeout } else { legal("e7e5") };
                ask(Question::Go(question), 0, took, answer)
            })
            .collect();
        judge(&testing::evidence_of([testing::run(Purpose::Main), clock]))
    }

    #[test]
    fn a_sensible_engine_passes_with_its_figures() {
        let finding =
            of(&[(1_800_000, 45_000, false), (60_000, 3_000, false), (1_000, 100, false)]);
        assert_eq!(finding.status, Status::Pass, "{}", finding.summary);
        assert!(finding.summary.contains("45.0 s of 1800 s + 3 s"));
        assert!(finding.summary.contains("never under 0.10 s"));
        assert!(finding.summary.contains("0.10 s with 1.00 s left"));
    }

    #[test]
    fn a_fixed_time_above_the_increment_loses_at_a_known_move() {
        // 10 s a move: 7 s lost a move; after n moves 1800 - 7 n is left, and 10 s no longer at n = 256.
        assert_eq!(of(&[(1_800_000, 10_000, false)]).evidence["lost_at_move"], json!(null));
        // 20 s a move: 17 s lost a move: 1800 - 17 (n - 1) < 20 first at n = 106.
        let finding = of(&[(1_800_000, 20_000, false)]);
        assert_eq!(finding.status, Status::Advice);
        assert_eq!(finding.evidence["lost_at_move"], 106);
    }

    #[test]
    fn a_floor_above_what_is_left_is_told() {
        let finding = of(&[(1_800_000, 3_000, false), (1_000, 2_500, false)]);
        assert_eq!(finding.status, Status::Advice);
        assert!(finding.details.iter().any(|line| line.contains("lost on time")));
    }

    #[test]
    fn a_cut_search_is_a_lower_bound() {
        let finding = of(&[(1_800_000, 20_000, true)]);
        assert!(finding.summary.starts_with("at least 20.0 s"));
        // Nobody saw when it moves, so that nothing is known of a game.
        assert_eq!(of(&[(1_800_000, 3_000, true)]).summary, "at least 3.00 s of 1800 s + 3 s");
        let finding = of(&[(1_800_000, 1_000, false), (1_000, 1_500, true)]);
        assert!(!finding.summary.contains("not lost"), "{}", finding.summary);
    }

    #[test]
    fn the_other_side_that_is_cut_sooner_tells_nothing_of_the_time() {
        let finding = of(&[(1_800_000, 20_000, false), (1_783_519, 500, true)]);
        assert_eq!(finding.evidence["lost_at_move"], 106);
        assert_eq!(finding.evidence["samples"].as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn of_a_slow_entry_it_says_how_many_looks_were_taken() {
        let mut clock = testing::run(Purpose::Clock);
        let question = GoQuestion { left: Some(BASE), ..go("clock-event", testing::LISTED, 1) };
        clock.asks = vec![ask(Question::Go(question), 0, 3000, Answer::Timeout)];
        let mut evidence = testing::evidence_of([testing::run(Purpose::Main), clock]);
        evidence.capabilities.left_out = Some(LeftOut { looks: 5, of: 7 });
        let finding = judge(&evidence);
        assert!(finding.summary.ends_with("2 of 7 probes that can only advise were run"));
        assert!(!finding.summary.contains("is not lost"), "{}", finding.summary);
        assert_eq!(finding.evidence[LEFT_OUT], 5);
    }

    #[test]
    fn quick_leaves_it_out() {
        let mut evidence = testing::evidence_of([testing::run(Purpose::Main)]);
        evidence.quick = true;
        assert_eq!(judge(&evidence).status, Status::Skipped);
    }
}
