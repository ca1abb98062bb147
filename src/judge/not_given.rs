//! Parts of engines.json that rule 7.3 counts and that gate4k hands to nobody: words of the command, arguments, initStrings. An
//! entry that does not come up without them may come up where a runner gives them, so its start is left open.

use super::not_here::is_refused;
use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, Status};
use crate::model::words;
use crate::submission::payload::PayloadReport;

/// The rules that an entry breaks by not coming up.
const OF_A_START: [RuleId; 3] = [RuleId::Startup, RuleId::UciHandshake, RuleId::UciIsready];

/// Leaves the start open of an entry that did not come up where its engines.json has more for it than options. One that the kernel
/// could not start is none that any words bring up. `command` are the words of its command.
pub(super) fn leave_open(findings: &mut [Finding], payload: &PayloadReport, command: Option<&str>) {
    let fields = payload.not_given();
    if fields.is_empty() || !did_not_come_up(findings) {
        return;
    }
    let named = words::some(&fields, 1);
    let without = match command {
        Some(words) if fields.first() == Some(&"command") => format!("`{words}`"),
        _ => named.clone(),
    };
    for finding in findings.iter_mut().filter(|one| is_of_a_start(one)) {
        finding.status = Status::Undecided;
        finding.summary =
            format!("{}; {named} of its engines.json was not given to it", finding.summary);
        let usual = std::mem::take(&mut finding.help);
        finding.help = format!(
            "let it start without {without}: gate4k starts the file alone and sends nothing before `uci`; or let the \
             organisers try it by hand; if it needs none of that: {usual}"
        );
    }
}

fn is_of_a_start(finding: &Finding) -> bool {
    finding.status == Status::Fail && OF_A_START.contains(&finding.rule) && !finding.is_waived()
}

/// True if the start failed after the kernel had started the file, and otherwise than by coming too late.
fn did_not_come_up(findings: &[Finding]) -> bool {
    findings.iter().any(|one| {
        one.rule == RuleId::Startup
            && is_of_a_start(one)
            // (Only a start that failed says how: `exit` is there, if only as none.)
            && one.evidence.contains_key("exit")
            && !is_refused(one)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::evidence::ExitHow;
    use crate::model::source_place::SourcePlace;
    use crate::submission::payload::{Counting, PayloadField};

    fn payload(field: &str, counting: Counting) -> PayloadReport {
        let field = PayloadField {
            field: field.into(),
            place: SourcePlace::of("x", 0),
            counting,
            size: Default::default(),
            reason: String::new(),
        };
        PayloadReport { fields: vec![field], ..PayloadReport::nothing() }
    }

    fn status(startup: Finding, payload: &PayloadReport) -> (Status, Finding) {
        let mut findings = vec![
            startup,
            Finding::fail(RuleId::UciHandshake, "never says it"),
            Finding::fail(RuleId::Commands, "sed"),
        ];
        leave_open(&mut findings, payload, Some("stdbuf -oL"));
        assert_eq!(findings[2].status, Status::Fail, "what it did stands");
        assert_eq!(findings[0].status, findings[1].status);
        (findings[0].status, findings.remove(0))
    }

    fn failed() -> Finding {
        Finding::fail(RuleId::Startup, "it did not start: exit status 3")
            .with("exit", Some(ExitHow::Status(3)))
            .with("launch_failure", None::<String>)
            .help("mend it")
    }

    #[test]
    fn a_start_that_lacked_words_of_the_configuration_is_left_open() {
        for field in ["command", "initStrings[0]", "arguments[1]", "args[0]"] {
            let (status, found) = status(failed(), &payload(field, Counting::Counted));
            assert_eq!(status, Status::Undecided, "{field}");
            let told = format!("{field} of its engines.json was not given to it");
            assert!(found.summary.ends_with(&told), "{}", found.summary);
            assert!(found.help.ends_with("if it needs none of that: mend it"), "{}", found.help);
            let words = found.help.contains("without `stdbuf -oL`:");
            assert_eq!(words, field == "command", "{}", found.help);
        }
    }

    #[test]
    fn any_other_failure_stands() {
        let counted = payload("command", Counting::Counted);
        let late = Finding::fail(RuleId::Startup, "uciok after 61 s");
        let unstartable = failed().with("launch_failure", "ENOEXEC");
        assert_eq!(status(late, &counted).0, Status::Fail);
        assert_eq!(status(unstartable, &counted).0, Status::Fail);
        // An option is sent, and what does not count is no part of the engine.
        for other in
            [payload("option X", Counting::Counted), payload("command", Counting::NotCounted)]
        {
            assert_eq!(status(failed(), &other).0, Status::Fail);
        }
        assert_eq!(status(failed(), &PayloadReport::nothing()).0, Status::Fail);
    }
}
