//! The judging of questions that have one right answer (`isready`, `ucinewgame`): all asked, all answered.

use super::{host, seen};
use crate::model::evidence::{Ask, Evidence, Question, Run};
use crate::model::rule::RuleId;
use crate::model::verdict::Finding;

/// A question and its answer in words.
pub(crate) struct Words {
    /// What was sent (`isready`).
    pub(crate) sent: &'static str,
    /// What must come (`readyok`).
    pub(crate) answer: &'static str,
    /// The next step where it does not.
    pub(crate) help: &'static str,
}

/// Judges every time the question was asked in a run that counts.
pub(crate) fn judge(
    rule: RuleId,
    evidence: &Evidence,
    question: &Question,
    words: &Words,
) -> Finding {
    // A run that said `uciok` can be judged by `isready` even where the start failed for want of it.
    let asked: Vec<(&Run, usize, &Ask)> = seen::gate_runs(evidence)
        .filter(|run| run.uciok.is_some())
        .flat_map(|run| {
            run.asks
                .iter()
                .enumerate()
                .take(seen::first_trouble(run).map_or(usize::MAX, |trouble| trouble + 1))
                .filter(|(_, ask)| ask.question == *question)
                .map(move |(index, ask)| (run, index, ask))
        })
        .collect();
    if asked.is_empty() {
        return not_asked(rule, evidence, words.sent);
    }
    let bad: Vec<&(&Run, usize, &Ask)> =
        asked.iter().filter(|(_, _, ask)| !ask.answer.is_good()).collect();
    let slowest = asked.iter().map(|(_, _, ask)| ask.took).max().unwrap_or_default();
    let Some((run, index, ask)) = bad.first() else {
        return Finding::pass(
            rule,
            format!(
                "`{}` answered {}, the slowest in {}",
                words.sent,
                times(asked.len()),
                seen::secs(slowest)
            ),
        )
        .with("asked", asked.len())
        .with("slowest_ms", slowest.as_secs_f64() * 1e3);
    };
    let finding = Finding::fail(
        rule,
        format!(
            "`{}` was not answered with `{}` in {}: {}",
            words.sent,
            words.answer,
            seen::purpose(run),
            seen::answer_words(ask, run)
        ),
    )
    .detail(format!("{} of {} were answered", asked.len() - bad.len(), asked.len()))
    .details(seen::crashes(run))
    .details(seen::stderr(run))
    .details(seen::conversation(run, *index))
    .with("asked", asked.len())
    .with("unanswered", bad.len())
    .with("ask", ask)
    .help(words.help);
    host::excused(finding, host::refusal(run, &evidence.host))
}

/// `once`, `3 times`.
pub(crate) fn times(number: usize) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}

/// A question that was never put: because the engine did not start, or because a probe did not get to it.
pub(crate) fn not_asked(rule: RuleId, evidence: &Evidence, what: &str) -> Finding {
    if seen::engine(evidence).is_none() {
        return Finding::skipped(rule, RuleId::Startup);
    }
    Finding::undecided(rule, format!("`{what}` was not tried"))
        .help("check it again; if this comes back, it is a fault of gate4k: please report it")
}
