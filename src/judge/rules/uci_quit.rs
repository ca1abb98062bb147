//! Rule 7.9: `quit` ends the engine. So should the end of input, and `quit` while it thinks; these are advice.

use super::{CausedByLoad, JudgedRule};
use crate::judge::support::{excuse, one_answer, runs, wording};
use nix::sys::signal::Signal;

use crate::model::evidence::{Answer, Ask, Evidence, Exec, ExitHow, ProgramClass, Question, Run};
use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, Status};

const RULE: RuleId = RuleId::UciQuit;

pub(crate) const JUDGED: JudgedRule =
    JudgedRule::by_answers(RULE, CausedByLoad::IfStrained, |case| judge(case.evidence));

/// Judges every `quit` that was sent to a run that counts.
fn judge(evidence: &Evidence) -> Finding {
    let limit = evidence.limits.quit;
    let asked = runs::all_asked(evidence, &Question::Quit);
    if asked.is_empty() {
        return never_asked(evidence);
    }
    let time = |run: &Run, ask: &Ask| run.ending.exit_after.unwrap_or(ask.took);
    // An end that was seen after the limit came before it was looked for: the look was late, and the engine need not have been.
    let obeyed = |ask: &Ask| matches!(ask.answer, Answer::Done | Answer::Ended(Some(_)));
    // An engine that had died before could not obey; that is the matter of the rule under which it died.
    let alive: Vec<_> = asked.iter().filter(|(_, _, ask)| ask.answer != Answer::NotTaken).collect();
    let deaf: Vec<_> = alive.iter().filter(|(_, _, ask)| !obeyed(ask)).collect();
    if let Some((run, index, ask)) = deaf.first() {
        let finding = Finding::fail(
            RULE,
            format!(
                "it does not end at `quit` ({} of {} runs): in {} it still ran after {} (limit {})",
                deaf.len(),
                alive.len(),
                runs::purpose(run),
                wording::secs(time(run, ask)),
                wording::secs(limit)
            ),
        )
        .details(runs::conversation(run, *index))
        .with("asked", alive.len())
        .with("ignored", deaf.len())
        .with("commands", runs::commands_upto(run, *index))
        .help(waiting_stub(run).map_or_else(
            || "read the line `quit` and exit; 4 bytes of code (exit) are enough".to_owned(),
            |sleep| {
                format!(
                    "the stub still waits in `{sleep}` when the engine has ended: `(sleep 3;rm $T)&exec $T` does not"
                )
            },
        ));
        return excuse::excused(finding, excuse::refusal(run, &evidence.host));
    }
    let slowest = alive.iter().map(|(run, _, ask)| time(run, ask)).max();
    let Some(slowest) = slowest else {
        return Finding::skipped(RULE, RuleId::LegalMoves);
    };
    let base = format!(
        "`quit` ends it within {} ({})",
        wording::secs(slowest),
        wording::times(alive.len())
    );
    let mut finding = Finding::pass(RULE, base)
        .with("asked", alive.len())
        .with("slowest_ms", slowest.as_secs_f64() * 1e3)
        .with("end_of_input", evidence.capabilities.end_of_input)
        .with("quit_while_thinking", evidence.capabilities.quit_while_thinking);
    for (what, help) in remarks(evidence, &alive) {
        if finding.status == Status::Pass {
            finding.status = Status::Advice;
            finding.summary = format!("{}; {what}", finding.summary);
            finding.help = help.to_owned();
        } else {
            finding.details.push(what);
        }
    }
    finding
}

/// The `sleep` in which a script waits that began after its engine had ended.
fn waiting_stub(run: &Run) -> Option<String> {
    let own = |exec: &&Exec| exec.class == ProgramClass::OwnProduct;
    let ended =
        run.execs.iter().filter(own).filter_map(|exec| Some(exec.at + exec.lasted?)).max()?;
    let sleeps = |exec: &&Exec| {
        exec.class == ProgramClass::Listed && exec.name == "sleep" && exec.at >= ended
    };
    let sleep = run.execs.iter().find(sleeps)?;
    Some(wording::shorten(&sleep.argv.join(" "), 40))
}

/// The name of a signal by which processes ask each other to end (`kill 0` in a stub): none of a crash.
fn asked_to_end(exit: ExitHow) -> Option<&'static str> {
    let ExitHow::Signal(number) = exit else { return None };
    let signal = Signal::try_from(number).ok()?;
    let asks = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGPIPE, Signal::SIGTERM];
    asks.contains(&signal).then(|| signal.as_str())
}

/// A remark for the author of an engine that obeys.
fn remarks(evidence: &Evidence, alive: &[&(&Run, usize, &Ask)]) -> Vec<(String, &'static str)> {
    let mut remarks = Vec::new();
    if let Some(signal) = alive.iter().find_map(|(run, ..)| match run.ending.exit {
        Some(exit @ ExitHow::Signal(_)) => Some(exit),
        _ => None,
    }) {
        remarks.push(match asked_to_end(signal) {
            Some(name) => (
                format!("it is ended by {name}"),
                "optional: leave by exit rather than by a signal",
            ),
            None => (
                format!("it ends by a crash ({signal})"),
                "optional: leave by exit rather than by a crash",
            ),
        });
    }
    if evidence.capabilities.end_of_input == Some(false) {
        remarks.push((
            "it does not end when its input is closed".to_owned(),
            "optional: take the end of input (read returns 0) for quit, or a runner that died leaves it spinning",
        ));
    }
    if evidence.capabilities.quit_while_thinking == Some(false) {
        remarks.push((
            "it does not read `quit` while it thinks, which no rule asks for".to_owned(),
            "",
        ));
    }
    remarks
}

/// `quit` was sent to no run: the engine did not start, or had ended before.
fn never_asked(evidence: &Evidence) -> Finding {
    if let Some(run) = runs::engine(evidence) {
        let dead = runs::how_it_ended(run).is_some();
        if dead || runs::first_trouble(run).is_some() {
            let never_moved = runs::searches(run).all(|search| !search.ask.moved());
            let on = if never_moved { RuleId::UciGo } else { RuleId::LegalMoves };
            return Finding::skipped(RULE, on);
        }
    }
    one_answer::not_asked(RULE, evidence, "quit")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::judge::support::testing::ms;
    use crate::model::evidence::{EndHow, Purpose, RunEnding};

    #[test]
    fn a_signal_that_asks_to_end_is_no_crash() {
        let told = |signal: i32| {
            let mut run = testing::run(Purpose::Main);
            run.ending.exit = Some(ExitHow::Signal(signal));
            judge(&testing::evidence_of([run])).summary
        };
        assert!(told(15).ends_with("it is ended by SIGTERM"), "{}", told(15));
        assert!(told(11).ends_with("it ends by a crash (killed by SIGSEGV)"), "{}", told(11));
    }

    fn deaf() -> Run {
        let mut run = testing::run(Purpose::Main);
        run.asks[5].answer = Answer::Timeout;
        run.asks[5].took = ms(5_000);
        run.ending =
            RunEnding { how: EndHow::Quit, exit: None, exit_after: None, emptied_after: None };
        run
    }

    #[test]
    fn an_engine_that_ignores_quit_fails() {
        let finding = judge(&testing::evidence_of([deaf()]));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("still ran after 5.00 s"));
        let commands = finding.evidence["commands"].as_array().unwrap();
        assert!(commands.len() > 5 && commands.last().unwrap() == "quit", "{commands:?}");
    }

    /// On a host that steals time the judge's own look came 0.71 s after the limit, and the engine had ended by then.
    #[test]
    fn an_end_that_was_looked_for_late_is_no_late_end() {
        let mut run = testing::run(Purpose::Main);
        run.asks[5].took = ms(5_710);
        run.ending.exit_after = Some(ms(5_710));
        let finding = judge(&testing::evidence_of([run]));
        assert_eq!(finding.status, Status::Pass, "{}", finding.summary);
        assert!(finding.summary.contains("within 5.71 s"), "{}", finding.summary);
    }

    #[test]
    fn a_stub_that_waits_after_its_engine_is_told_so() {
        let mut run = deaf().started(Some(0), "a.out", ProgramClass::OwnProduct).started(
            Some(0),
            "sleep",
            ProgramClass::Listed,
        );
        run.execs[2].argv = vec!["sleep".into(), "9".into()];
        let help = |run: &Run| judge(&testing::evidence_of([run.clone()])).help;
        assert!(help(&run).starts_with("read the line"), "it began beside the engine");
        run.execs[2].at = run.execs[1].at + ms(20);
        assert!(help(&run).starts_with("the stub still waits in `sleep 9`"), "{}", help(&run));
    }

    #[test]
    fn its_exit_status_is_its_own_affair() {
        let mut run = testing::run(Purpose::Main);
        run.ending.exit = Some(ExitHow::Status(2));
        assert_eq!(judge(&testing::evidence_of([run.clone()])).status, Status::Pass);
        run.ending.exit = Some(ExitHow::Signal(11));
        let finding = judge(&testing::evidence_of([run]));
        assert_eq!(finding.status, Status::Advice);
        assert!(finding.summary.contains("SIGSEGV"));
    }

    #[test]
    fn end_of_input_and_quit_in_thought_are_advice() {
        let mut evidence = testing::evidence();
        evidence.capabilities.end_of_input = Some(false);
        let finding = judge(&evidence);
        assert_eq!(finding.status, Status::Advice);
        assert!(finding.summary.contains("input is closed"));
    }

    #[test]
    fn one_that_had_died_before_is_skipped() {
        let mut run = testing::run(Purpose::Main);
        run.asks.pop();
        run.ending.how = EndHow::ByItself;
        assert_eq!(judge(&testing::evidence_of([run])).status, Status::Skipped);
    }
}
