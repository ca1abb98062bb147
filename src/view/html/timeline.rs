//! The start as a chart: each program that ran as a bar from its exec to its end.

use std::fmt::Write;
use std::time::Duration;

use crate::model::entry_report::EntryReport;
use crate::model::evidence::{Exec, ExecOutcome, ProgramClass};
use crate::view::markup::html;
use crate::view::text::clean;

/// Bars of a chart; an entry may start thousands of programs.
const MOST: usize = 60;

/// The chart; nothing where nothing ran.
pub(super) fn chart(report: &EntryReport) -> String {
    let ran: Vec<&Exec> =
        report.execs.iter().filter(|exec| exec.outcome == ExecOutcome::Ran).collect();
    let Some(end) = end(report, &ran) else { return String::new() };
    let (within, later): (Vec<&Exec>, Vec<&Exec>) =
        ran.into_iter().partition(|exec| exec.at <= end);
    let percent = |time: Duration| time.min(end).as_secs_f64() * 100.0 / end.as_secs_f64();
    let mut out = String::from("<div class=\"chart\">\n");
    for exec in within.iter().take(MOST) {
        let from = percent(exec.at);
        let stop = exec.lasted.map(|lasted| exec.at + lasted);
        let to = stop.map_or(100.0, percent);
        let lasted = match exec.lasted {
            Some(lasted) => format!("{} from {}", seconds(lasted), seconds(exec.at)),
            None => format!("from {} to the end", seconds(exec.at)),
        };
        let beyond = if stop.is_none_or(|stop| stop > end) { " beyond" } else { "" };
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            out,
            "<div class=\"row\"><span class=\"name\" title=\"{}\">{}</span><span class=\"track\">\
             <i class=\"{}{beyond}\" style=\"left:{from:.3}%;width:{:.3}%\"></i></span>\
             <span class=\"time\">{}</span></div>",
            html(&clean(&exec.argv.join(" "))),
            html(&clean(&exec.name)),
            class(exec.class),
            (to - from).max(0.0),
            html(&lasted)
        );
    }
    let mark = |out: &mut String, name: &str, time: Option<Duration>| {
        if let Some(time) = time {
            let _ = writeln!(
                out,
                "<div class=\"row mark\"><span class=\"name\">{name}</span><span class=\"track\">\
                 <b style=\"left:{:.3}%\"></b></span><span class=\"time\">{}</span></div>",
                percent(time),
                seconds(time)
            );
        }
    };
    mark(&mut out, "uciok", report.startup.uciok);
    mark(&mut out, "readyok", report.startup.readyok);
    out.push_str("</div>\n<p class=\"legend\">");
    for (class, name) in [
        ("entry", "the entry"),
        ("listed", "listed command"),
        ("helper", "its helper"),
        ("tolerated", "tolerated or waived"),
        ("own", "made by itself"),
        ("refused", "refused"),
    ] {
        let _ = write!(out, "<span><i class=\"{class}\"></i>{name}</span> ");
    }
    out.push_str("</p>\n");
    let hidden = within.len().saturating_sub(MOST);
    if hidden > 0 {
        let _ = writeln!(out, "<p>{hidden} more programs are not shown.</p>");
    }
    if !later.is_empty() {
        let names: Vec<String> =
            later.iter().take(8).map(|exec| html(&clean(&exec.name))).collect();
        let more = if later.len() > names.len() { " …" } else { "" };
        let _ = writeln!(
            out,
            "<p>{} after the start: {}{more}</p>",
            programs(later.len()),
            names.join(", ")
        );
    }
    out
}

/// Where the chart ends: a little after readyok, or, without it, after the last that is known.
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

fn programs(count: usize) -> String {
    if count == 1 { "1 program".to_owned() } else { format!("{count} programs") }
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
        chart(&EntryReport { startup: StartTimes { uciok: None, readyok }, execs, ..report() })
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
