//! Rule 7.9: `uci` is answered with `uciok`. `startup` covers the start and its time; this covers an engine
//! that runs and talks, and does not say the word.

use super::{CausedByLoad, JudgedRule};
use crate::judge::support::{excuse, runs, wording};
use crate::model::evidence::{Answer, Evidence, Question, Run};
use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, Status};
use crate::model::words::counted;

const RULE: RuleId = RuleId::UciHandshake;

pub(crate) const JUDGED: JudgedRule =
    JudgedRule::by_answers(RULE, CausedByLoad::IfStrained, |case| judge(case.evidence));

/// Judges the answer to the first line that every run is sent.
fn judge(evidence: &Evidence) -> Finding {
    let Some(run) = runs::measured(evidence) else {
        return Finding::skipped(RULE, RuleId::Startup);
    };
    let Some(uciok) = run.uciok else {
        return unanswered(evidence, run);
    };
    let id = match &run.id_name {
        Some(name) => format!("id name {name}"),
        None => "no id name, which rule 7.9 does not ask for".to_owned(),
    };
    let took =
        run.asks.iter().find(|ask| ask.question == Question::Uci).map_or(uciok, |ask| ask.took);
    let finding = Finding::pass(
        RULE,
        format!(
            "`uci` answered with `uciok` in {}; {id}; {}",
            wording::secs(took),
            counted(run.options.len(), "option")
        ),
    )
    .details(run.options.iter().take(20).map(|option| {
        let default = option
            .default
            .as_ref()
            .map_or_else(String::new, |default| format!(", default {default}"));
        format!("option {} (type {}{default})", option.name, option.kind)
    }))
    .with("id_name", &run.id_name)
    .with("id_author", &run.id_author)
    .with("options", &run.options);
    if evidence.capabilities.setoption == Some(false) {
        return Finding {
            status: Status::Advice,
            summary: format!(
                "{}; it did not answer `isready` after an option of its own was set to what it is already",
                finding.summary
            ),
            ..finding
        }
        .help("stand `setoption name N value V` for each option that `uci` announces, or announce none: runners set them");
    }
    finding
}

/// No `uciok`: the engine's fault if it ran on or talked; one that ended in silence never was an engine.
fn unanswered(evidence: &Evidence, run: &Run) -> Finding {
    let only_at_end = run.asks.iter().any(|ask| ask.answer == Answer::OnlyAtEnd);
    // Output that came only when the input was closed is no sign that it spoke before.
    let said = said(run).filter(|_| !only_at_end);
    let ended = run.launch_failure.is_some() || runs::how_it_ended(run).is_some();
    let asked = run.asks.iter().position(|ask| ask.question == Question::Uci);
    let (Some(index), false) = (asked, ended && said.is_none()) else {
        return Finding::skipped(RULE, RuleId::Startup);
    };
    let answer = run.asks.get(index).map_or_else(String::new, |ask| runs::answer_words(ask, run));
    let summary = match &said {
        Some(said) => format!("it talks ({said}) but never says `uciok`: {answer}"),
        None => format!("`uci` was not answered with `uciok`: {answer}"),
    };
    let finding = Finding::fail(RULE, summary)
        .details(runs::stderr(run))
        .details(runs::conversation(run, index))
        .with("said", said)
        .help(if runs::said_on_stderr(run, "uciok") {
            "write `uciok` to standard output (file descriptor 1): it went to standard error"
        } else {
            run.asks.get(index).and_then(runs::line_end_help).unwrap_or(
                "answer the line `uci` with the line `uciok`: lower case, alone on its line, ended by LF, flushed",
            )
        });
    excuse::excused(finding, excuse::refusal(run, &evidence.host))
}

/// A sign that the engine talked before the limit.
fn said(run: &Run) -> Option<String> {
    if let Some(name) = &run.id_name {
        return Some(format!("id name {name}"));
    }
    if let Some(author) = &run.id_author {
        return Some(format!("id author {author}"));
    }
    if let Some(option) = run.options.first() {
        return Some(format!("option name {}", option.name));
    }
    run.asks.iter().filter(|ask| ask.question == Question::Uci).find_map(|ask| match &ask.answer {
        Answer::Illegal { line, .. } => Some(line.clone()),
        Answer::Flood(bytes) => Some(bytes.to_string()),
        _ if ask.infos > 0 => {
            Some(ask.last_info.clone().unwrap_or_else(|| counted(ask.infos, "info line")))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::model::evidence::{ExitHow, Purpose};
    use crate::model::units::Bytes;

    #[test]
    fn an_end_in_silence_is_the_start_s_matter_and_all_else_its_own() {
        let died = testing::run(Purpose::Main).died(ExitHow::Status(1));
        assert_eq!(judge(&testing::evidence_of([died.clone()])).status, Status::Skipped);
        let mut talks = died;
        talks.id_name = Some("x".into());
        let finding = judge(&testing::evidence_of([talks]));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("id name x"));
        let silent = testing::run(Purpose::Main).not_up();
        let finding = judge(&testing::evidence_of([silent.clone()]));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("no answer within 60.0 s"));
        let mut elsewhere = silent.clone().stderr("uciok");
        let finding = judge(&testing::evidence_of([elsewhere.clone()]));
        assert!(finding.help.contains("it went to standard error"), "{}", finding.help);
        elsewhere.stderr_tail.clear();
        elsewhere.asks[0].other = Some("uci ok".into());
        let finding = judge(&testing::evidence_of([elsewhere]));
        assert!(finding.summary.contains("60.0 s; it said `uci ok`"), "{}", finding.summary);
        let mut unended = silent.clone();
        unended.asks[0].unfinished = Some("uciok".into());
        let finding = judge(&testing::evidence_of([unended]));
        assert!(finding.summary.ends_with("it said `uciok` without a line's end"), "{finding:?}");
        assert!(finding.help.contains("line feed"), "{}", finding.help);
        let mut flood = silent;
        flood.asks[0].answer = Answer::Flood(Bytes(1 << 30));
        assert_eq!(judge(&testing::evidence_of([flood])).status, Status::Fail);
    }

    #[test]
    fn id_and_options_are_told_and_not_demanded() {
        let finding = judge(&testing::evidence());
        assert_eq!(finding.status, Status::Pass);
        assert!(finding.summary.contains("no id name"));
        let mut evidence = testing::evidence();
        evidence.capabilities.setoption = Some(false);
        let finding = judge(&evidence);
        assert_eq!(finding.status, Status::Advice);
        assert!(finding.summary.contains("after an option of its own was set"), "{finding:?}");
    }
}
