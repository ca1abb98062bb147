//! The judging of questions that have one right answer (`isready`, `ucinewgame`): all asked, all answered.

use crate::judge::support::runs::AskInRun;
use crate::judge::support::{came_again, excuse, runs, wording};
use crate::model::evidence::{
    Answer, Ask, Evidence, GoQuestion, LEAST_LEFT, Purpose, Question, Run,
};
use crate::model::rule::RuleId;
use crate::model::verdict::Finding;

/// A question and the one answer that is right.
pub(crate) struct Exchange {
    /// The command that was sent (`isready`).
    pub(crate) sent: &'static str,
    /// The answer that must come (`readyok`).
    pub(crate) answer: &'static str,
    /// The next step where it does not.
    pub(crate) help: &'static str,
}

/// Judges every time the question was asked in a run that counts.
pub(crate) fn judge(
    rule: RuleId,
    evidence: &Evidence,
    question: &Question,
    exchange: &Exchange,
) -> Finding {
    let mut asked = runs::all_asked(evidence, question);
    asked.retain(|(run, index, ask)| ask.answer.is_good() || !is_below_event(run, *index));
    if asked.is_empty() {
        return not_asked(rule, evidence, exchange.sent);
    }
    let bad: Vec<&AskInRun<'_>> =
        asked.iter().filter(|(_, _, ask)| !ask.answer.is_good()).collect();
    let slowest = asked.iter().map(|(_, _, ask)| ask.took).max().unwrap_or_default();
    let Some((run, index, ask)) = bad.first() else {
        let summary = format!(
            "`{}` answered {}, the slowest in {}",
            exchange.sent,
            wording::times(asked.len()),
            wording::secs(slowest)
        );
        let finding = match weak(evidence, question) {
            None => Finding::pass(rule, summary),
            Some((run, index, ask, go)) => Finding::advice(
                rule,
                format!(
                    "{summary}; it is weak on clocks below the event's: after its move to `{}`, {}",
                    go.go,
                    runs::answer_words(ask, run)
                ),
            )
            .details(runs::conversation(run, index))
            .with("commands", runs::commands_upto(run, index))
            .help(
                "see what the search leaves behind when its time is short: an engine that ends loses the game, though \
                 below the event's clock that is no reason to reject",
            ),
        };
        return finding.with("asked", asked.len()).with("slowest_ms", slowest.as_secs_f64() * 1e3);
    };
    // An engine that lives without the option may end by it.
    let sets = ask.set.iter().flat_map(|set| set.lines());
    let set: String = sets.map(|set| format!("{}, ", wording::shorten(set, 80))).collect();
    let finding = Finding::fail(
        rule,
        format!(
            "`{}{}` was not answered with `{}` in {}: {}",
            set,
            exchange.sent,
            exchange.answer,
            runs::purpose(run),
            runs::answer_words(ask, run)
        ),
    )
    .detail(format!("{} of {} were answered", asked.len() - bad.len(), asked.len()))
    .details(runs::account(run, *index))
    .with("asked", asked.len())
    .with("unanswered", bad.len())
    .with("ask", ask)
    .with("commands", runs::commands_upto(run, *index))
    .help(next_step(ask, exchange.help));
    let finding = came_again::noted(finding, came_again::ended_each_time(evidence, question));
    excuse::excused(finding, excuse::refusal(run, &evidence.host))
}

/// True for a question that follows a search on a clock below the event's, in a run that asks on such clocks.
fn is_below_event(run: &Run, index: usize) -> bool {
    run.purpose == Purpose::Clock
        && search_before(run, index).and_then(|go| go.left).is_some_and(|left| left < LEAST_LEFT)
}

fn search_before(run: &Run, index: usize) -> Option<&GoQuestion> {
    run.asks.iter().take(index).rev().find_map(Ask::search)
}

/// The question without its answer after a search on a clock that was found too small for the entry.
fn weak<'a>(
    evidence: &'a Evidence,
    question: &Question,
) -> Option<(&'a Run, usize, &'a Ask, &'a GoQuestion)> {
    evidence.runs.iter().find_map(|run| {
        let index = runs::first_trouble(run)?;
        let ask = run.asks.get(index).filter(|ask| ask.question == *question)?;
        let small = run.purpose == Purpose::SmallClock || is_below_event(run, index);
        search_before(run, index).filter(|_| small).map(|go| (run, index, ask, go))
    })
}

/// The next step after a question without its answer: the usual one, unless the engine ended there.
pub(crate) fn next_step(ask: &Ask, usual: &'static str) -> &'static str {
    match ask.answer {
        Answer::Ended(_) => {
            "it ended in place of an answer: send it the commands of the conversation by hand, or under a debugger, and mend \
             what ends it"
        }
        _ => runs::line_end_help(ask).unwrap_or(usual),
    }
}

/// The rule that every unanswered question of this kind breaks.
fn rule_of(question: &Question) -> Option<RuleId> {
    match question {
        Question::IsReady => Some(RuleId::UciIsready),
        Question::NewGame => Some(RuleId::UciNewgame),
        Question::Uci | Question::Go(_) | Question::Quit | Question::EndOfInput => None,
    }
}

/// A question that was never put: because the engine did not start, or because a probe did not get to it.
pub(crate) fn not_asked(rule: RuleId, evidence: &Evidence, what: &str) -> Finding {
    if runs::engine(evidence).is_none() {
        return Finding::skipped(rule, RuleId::Startup);
    }
    // An engine that fails at one question is not asked the next.
    let mut troubles = runs::gate_runs(evidence)
        .filter_map(|run| run.asks.get(runs::first_trouble(run)?))
        .filter_map(|ask| rule_of(&ask.question));
    if let Some(on) = troubles.find(|on| *on != rule) {
        return Finding::skipped(rule, on);
    }
    let searches = || {
        let asks = runs::gate_runs(evidence).flat_map(|run| &run.asks);
        asks.filter(|ask| ask.is_search())
    };
    if searches().count() > 0 && !searches().any(Ask::moved) {
        return Finding::skipped(rule, RuleId::UciGo);
    }
    let trouble = runs::gate_runs(evidence)
        .filter_map(|run| Some((run, runs::first_trouble(run)?)))
        .filter(|(run, at)| run.asks.get(*at).is_some_and(Ask::is_search));
    let (its_own, others): (Vec<_>, Vec<_>) =
        trouble.partition(|(run, _)| matches!(run.purpose, Purpose::LongGame(_) | Purpose::Clock));
    // Of these `legal-moves` tells.
    if !others.is_empty() && rule != RuleId::LegalMoves {
        return Finding::skipped(rule, RuleId::LegalMoves);
    }
    let finding = Finding::undecided(rule, format!("`{what}` was not tried"));
    let refused =
        evidence.runs.iter().find_map(|run| excuse::refused(&run.refusals, &evidence.host));
    if let Some(refused) = refused {
        return finding.detail(refused.why).help(refused.help);
    }
    let seen = its_own.first().and_then(|(run, at)| Some((*run, *at, run.asks.get(*at)?)));
    if let Some((run, at, ask)) = seen {
        return finding
            .detail(format!("before, in {}: {}", runs::purpose(run), runs::answer_words(ask, run)))
            .details(runs::conversation(run, at))
            .with("commands", runs::commands_upto(run, at))
            .help("send it these commands by hand, one after the other, and mend what ends or holds it there");
    }
    finding.help("check it again; if this comes back, it is a fault of gate4k: please report it")
}
