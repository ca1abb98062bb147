//! The lines below the findings on the page for people: start-up, sandbox, capabilities, runs.

use std::time::Duration;

use serde_json::Value;

use super::text::clean;
use crate::model::entry_report::{EntryReport, RunSummary, StartTimes};
use crate::model::evidence::{Capabilities, EndHow};
use crate::model::layer_status::{Layer, LayerState};
use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, Status};

fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}

/// The time that the entry's start took, in words.
pub(crate) fn start(report: &EntryReport) -> String {
    let skipped =
        |found: &Finding| found.rule == RuleId::Startup && found.status == Status::Skipped;
    if report.layers.is_empty() {
        "not tried".to_owned()
    } else if report.findings.iter().any(skipped)
        || report.runs.first().is_some_and(|run| run.ending.how == EndHow::NotStarted)
    {
        // A source, an archive, a file of another machine.
        "it cannot be started".to_owned()
    } else {
        took(report.startup)
    }
}

fn took(times: StartTimes) -> String {
    match (times.uciok, times.readyok) {
        (None, _) => "no uciok".to_owned(),
        (Some(uciok), None) => format!("uciok after {}, no readyok", seconds(uciok)),
        (Some(uciok), Some(readyok)) => {
            format!("uciok after {}, readyok after {}", seconds(uciok), seconds(readyok))
        }
    }
}

/// Each fact with its label: the start where it is not `charted`, and the capabilities where they are `asked` for.
pub(crate) fn lines(
    report: &EntryReport,
    charted: bool,
    asked: bool,
) -> impl Iterator<Item = (&'static str, String)> {
    let start = (!charted).then(|| ("start-up", start(report)));
    let capabilities = report.capabilities.as_ref().filter(|_| asked);
    let understood = capabilities.map(|all| ("understands", understands(all)));
    let known = circumstances(report).into_iter().chain(sandbox(&report.layers));
    start.into_iter().chain(known).chain(understood)
}

/// The circumstances of the judgement that a reader must know of.
pub(super) fn circumstances(report: &EntryReport) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if !report.circumstances.terms.is_empty() {
        let terms = report.circumstances.terms.join(" ");
        lines.push(("terms", format!("not those of the 4k event: {}", clean(&terms))));
    }
    if let Some(judged) = &report.circumstances.judged {
        lines.push(("from cache", format!("judged {}; nothing has changed since", clean(judged))));
    }
    match report.circumstances.beside {
        0 => {}
        1 => lines.push(("judged", "beside 1 other entry, so times are upper bounds".to_owned())),
        others => lines.push((
            "judged",
            format!("beside up to {others} other entries, so times are upper bounds"),
        )),
    }
    lines
}

/// The layers that were enforced in one line, and each gap in a line of its own.
fn sandbox(layers: &[Layer]) -> Vec<(&'static str, String)> {
    if layers.is_empty() {
        return vec![("sandbox", "not used: the entry was not started".to_owned())];
    }
    let enforced: Vec<&str> = layers
        .iter()
        .filter(|layer| layer.state == LayerState::Enforced)
        .map(|layer| layer.name.word())
        .collect();
    let enforced = match &enforced[..] {
        [] => "nothing enforced".to_owned(),
        names => format!("enforced: {}", names.join(", ")),
    };
    let gap = |layer: &Layer| {
        let mandatory = if layer.name.is_mandatory() { " (needed for a verdict)" } else { "" };
        let (state, name) = (layer.state.word(), layer.name.word());
        ("", format!("{state}: {name}{mandatory}: {}", clean(&layer.reason)))
    };
    let gaps = layers.iter().filter(|layer| layer.state != LayerState::Enforced).map(gap);
    std::iter::once(("sandbox", enforced)).chain(gaps).collect()
}

/// The engine's capabilities in one line, from their serialised form, so that one that is added there is shown here.
fn understands(capabilities: &Capabilities) -> String {
    let fields = match serde_json::to_value(capabilities) {
        Ok(Value::Object(fields)) => fields,
        _ => return String::new(),
    };
    let named = |wanted: &Value| {
        fields
            .iter()
            .filter(|(_, seen)| *seen == wanted)
            .map(|(name, _)| name.replace('_', "-"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    [("yes", Value::Bool(true)), ("no", Value::Bool(false)), ("not told", Value::Null)]
        .iter()
        .map(|(word, wanted)| (word, named(wanted)))
        .filter(|(_, names)| !names.is_empty())
        .map(|(word, names)| format!("{word}: {names}"))
        .collect::<Vec<_>>()
        .join(" · ")
}

/// The name of a unit variant, or `name value` of one with a value.
fn word(value: impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(Value::Object(fields)) => fields
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect::<Vec<_>>()
            .join(" "),
        _ => String::new(),
    }
}

/// A run in a line.
pub(crate) fn summary(run: &RunSummary) -> String {
    let exit = run.ending.exit.map_or_else(|| "no exit seen".to_owned(), |exit| exit.to_string());
    let after = run
        .ending
        .exit_after
        .map_or_else(String::new, |after| format!(" after {}", seconds(after)));
    format!(
        "{} ({}): {}; {} of {} questions answered; {}, {exit}{after}",
        word(run.purpose),
        word(run.shell),
        took(run.startup),
        run.answered,
        run.asked,
        word(run.ending.how),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::tests::report;

    #[test]
    fn a_file_that_cannot_be_started_was_not_asked() {
        let mut told = report();
        told.startup = StartTimes::default();
        assert_eq!(start(&told), "no uciok");
        told.runs[0].ending.how = EndHow::NotStarted;
        assert_eq!(start(&told), "it cannot be started");
        told.layers.clear();
        assert_eq!(start(&told), "not tried");
    }
}
