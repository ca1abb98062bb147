//! The start as a chart: each program that ran as a bar from its exec to its end.

use std::time::Duration;

use maud::{Markup, html};

use crate::model::entry_report::EntryReport;
use crate::model::evidence::{Exec, ExecOutcome, ProgramClass};
use crate::model::words::counted;
use crate::view::text::clean;

/// Bars of a chart; an entry may start thousands of programs.
const MOST: usize = 60;

/// The chart; none where nothing ran.
pub(super) fn chart(report: &EntryReport) -> Option<Markup> {
    let ran: Vec<&Exec> =
        report.execs.iter().filter(|exec| exec.outcome == ExecOutcome::Ran).collect();
    let end = end(report, &ran)?;
    let (within, later): (Vec<&Exec>, Vec<&Exec>) =
        ran.into_iter().partition(|exec| exec.at <= end);
    let marks = [("uciok", report.startup.uciok), ("readyok", report.startup.readyok)];
    let marks = marks.into_iter().filter_map(|(name, time)| Some((name, time?)));
    let hidden = within.len().saturating_sub(MOST);
    let names: Vec<String> = later.iter().take(8).map(|exec| clean(&exec.name)).collect();
    Some(html! {
        div.chart {
            @for exec in within.iter().take(MOST) { (row(exec, end)) }
            @for (name, time) in marks {
                div.row.mark {
                    span.name { (name) }
                    span.track { b style={ "left:" (percent(time, end)) } {} }
                    span.time { (seconds(time)) }
                }
            }
        }
        p.legend { @for (class, name) in LEGEND { span { i class=(class) {} (name) } " " } }
        @if hidden > 0 { p { (hidden) " more programs are not shown." } }
        @if !later.is_empty() {
            p {
                (counted(later.len(), "program")) " after the start: " (names.join(", "))
                @if later.len() > names.len() { " …" }
            }
        }
    })
}

/// The classes of programs and what the chart calls them.
const LEGEND: [(&str, &str); 6] = [
    ("entry", "the entry"),
    ("listed", "listed command"),
    ("helper", "its helper"),
    ("tolerated", "tolerated or waived"),
    ("own", "made by itself"),
    ("refused", "refused"),
];

/// A program with its bar.
fn row(exec: &Exec, end: Duration) -> Markup {
    let stop = exec.lasted.map(|lasted| exec.at + lasted);
    let width = stop.map_or(100.0, |stop| share(stop, end)) - share(exec.at, end);
    let width = format!("{:.3}%", width.max(0.0));
    let is_beyond = stop.is_none_or(|stop| stop > end);
    html! {
        div.row {
            span.name title=(clean(&exec.argv.join(" "))) { (clean(&exec.name)) }
            span.track {
                i class={ (class(exec.class)) @if is_beyond { " beyond" } }
                    style={ "left:" (percent(exec.at, end)) ";width:" (width) } {}
            }
            span.time {
                @match exec.lasted {
                    Some(lasted) => { (seconds(lasted)) " from " (seconds(exec.at)) },
                    None => { "from " (seconds(exec.at)) " to the end" },
                }
            }
        }
    }
}

/// The place of a moment in the chart, in percent of its width.
fn share(time: Duration, end: Duration) -> f64 {
    time.min(end).as_secs_f64() * 100.0 / end.as_secs_f64()
}

fn percent(time: Duration, end: Duration) -> String {
    format!("{:.3}%", share(time, end))
}

/// The end of the chart: a little after readyok, or, without it, after the last that is known.
fn end(report: &EntryReport, ran: &[&Exec]) -> Option<Duration> {
    let last = || ran.iter().map(|exec| exec.at + exec.lasted.unwrap_or_default()).max();
    let known = report.startup.readyok.or_else(|| last().max(report.startup.uciok))?;
    // A program that starts within it is part of the picture even if the answers came at once.
    Some((known + known / 20).max(Duration::from_millis(1)))
}

fn class(class: ProgramClass) -> &'static str {
    match class {
        ProgramClass::Entry => "entry",
        ProgramClass::Listed => "listed",
        ProgramClass::Helper => "helper",
        ProgramClass::Tolerated | ProgramClass::Waived => "tolerated",
        ProgramClass::OwnProduct => "own",
        ProgramClass::Refused => "refused",
    }
}

fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{:.1} ms", time.as_secs_f64() * 1e3)
    } else {
        format!("{:.2} s", time.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::StartTimes;
    use crate::model::entry_report::tests::report;

    fn at(at: u64, lasted: Option<u64>) -> Exec {
        Exec {
            at: Duration::from_millis(at),
            lasted: lasted.map(Duration::from_millis),
            ..report().execs[0].clone()
        }
    }

    fn drawn(readyok: Option<u64>, execs: Vec<Exec>) -> String {
        let readyok = readyok.map(Duration::from_millis);
        let startup = StartTimes { uciok: None, readyok };
        chart(&EntryReport { startup, execs, ..report() }).unwrap_or_default().into_string()
    }

    #[test]
    fn bars_lie_between_exec_and_end() {
        let page = drawn(Some(1000), vec![at(0, None), at(105, Some(210)), at(900, Some(9000))]);
        assert!(page.contains("entry beyond\" style=\"left:0.000%;width:100.000%\""), "{page}");
        assert!(page.contains("entry\" style=\"left:10.000%;width:20.000%\""), "{page}");
        assert!(page.contains("entry beyond\" style=\"left:85.714%;width:14.286%\""), "{page}");
    }

    #[test]
    fn what_comes_after_the_start_is_counted_and_nothing_is_no_chart() {
        let page = drawn(Some(10), vec![at(0, None), at(500, None)]);
        assert!(page.contains("<p>1 program after the start: sh</p>"), "{page}");
        assert_eq!(drawn(None, Vec::new()), "");
        assert!(drawn(None, vec![at(0, None)]).contains("class=\"row\""));
        let many = drawn(Some(10), (0..100).map(|_| at(1, Some(1))).collect());
        assert!(many.contains("40 more programs"), "{many}");
    }

    #[test]
    fn a_hostile_name_is_text() {
        let mut exec = at(0, None);
        exec.name = "<script>".into();
        exec.argv = vec!["\"><script>".into()];
        let page = drawn(Some(10), vec![exec]);
        assert!(!page.contains("<script>"), "{page}");
    }
}
