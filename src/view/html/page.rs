//! The page: a table of all entries, then a card an entry.

use std::path::Path;

use maud::{Markup, PreEscaped, html};

use super::{board, games, illegal, size_bar, timeline};
use crate::model::entry_report::{EntryReport, ReportInput};
use crate::model::text::shown;
use crate::model::verdict::Finding;
use crate::model::words::counted;
use crate::view::facts::{self, start, summary};
use crate::view::human;
use crate::view::markdown::left;
use crate::view::text::clean;
use crate::view::weight::{FindingWeight, is_told};

/// Says to the browser what the page is anyhow: nothing is loaded and nothing is run, whatever an entry
/// might have smuggled into its text.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The page of all entries.
pub(crate) fn check(input: ReportInput<'_>) -> String {
    let ReportInput { entries: reports, config_findings } = input;
    let tally = human::tally(reports.iter().map(|report| Some(report.verdict)));
    let tally = tally.trim_end();
    let is_drawn =
        reports.iter().any(|report| !report.games.is_empty() || illegal::is_drawn(report));
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width,initial-scale=1";
                title {
                    "gate4k: "
                    @match reports {
                        [one] => { (path(&one.path)) ": " (one.verdict.word()) },
                        _ => (tally),
                    }
                }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                main {
                    h1 { "gate4k check" }
                    @if reports.len() != 1 { (overview(reports, tally)) }
                    @if is_drawn { (PreEscaped(board::PIECES)) }
                    @for (number, report) in reports.iter().enumerate() { (card(number, report)) }
                    @for found in config_findings {
                        article {
                            h2 { (path(&found.file)) ":" (found.at) }
                            (finding(&found.finding))
                        }
                    }
                }
                footer { "gate4k " (env!("CARGO_PKG_VERSION")) ", by the rules of TCEC 4k" }
            }
        }
    };
    page.into_string() + "\n"
}

fn path(path: &Path) -> String {
    clean(&shown(path))
}

fn overview(reports: &[EntryReport], tally: &str) -> Markup {
    html! {
        p { (tally) }
        table {
            thead { tr { th scope="col" { "Entry" } th scope="col" { "Verdict" } th.number scope="col" { "Bytes" } } }
            tbody {
                @for (number, report) in reports.iter().enumerate() {
                    @let word = report.verdict.word();
                    tr {
                        td { a href={ "#entry-" (number) } { (path(&report.path)) } }
                        td class={ (word) " word" } { (word) }
                        td.number { @if let Some(size) = &report.size { (size.total.0) } @else { "–" } }
                    }
                }
            }
        }
    }
}

fn card(number: usize, report: &EntryReport) -> Markup {
    let word = report.verdict.word();
    let chart = timeline::chart(report);
    html! {
        article id={ "entry-" (number) } {
            h2 { span class={ "badge " (word) } { (word) } (path(&report.path)) }
            @if let Some(size) = &report.size { (size_bar::bar(size)) }
            (findings(&report.findings))
            @if let Some(chart) = &chart { h3 { "Start" } p { (clean(&start(report))) } (chart) }
            (games::pictures(report))
            @if !report.leftovers.is_empty() {
                h3 { "Left behind" }
                ul { @for leftover in &report.leftovers { li { (clean(&left(leftover))) } } }
            }
            h3 { "Facts" }
            dl {
                @for (label, text) in facts::lines(report, chart.is_some(), true) { dt { (label) } dd { (clean(&text)) } }
                @if let Some(sha256) = &report.sha256 { dt { "sha256" } dd { (clean(sha256)) } }
            }
            @if !report.runs.is_empty() {
                details {
                    summary { (counted(report.runs.len(), "run")) }
                    ul { @for run in &report.runs { li { (clean(&summary(run))) } } }
                }
            }
            @if !report.transcript.is_empty() {
                details { summary { "Transcript of the main run" } (lines(&report.transcript)) }
            }
        }
    }
}

/// Lines as they were said.
fn lines(lines: &[String]) -> Markup {
    let text = lines.iter().map(|line| clean(line)).collect::<Vec<_>>().join("\n");
    html! { pre tabindex="0" { (text) } }
}

fn findings(findings: &[Finding]) -> Markup {
    let (mut loud, quiet): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|found| is_told(found));
    // The finding that rejects comes first, and what is left open before mere remarks.
    loud.sort_by_key(|found| FindingWeight::of(found));
    html! {
        h3 { "Findings" }
        @for found in &loud { (finding(found)) }
        @if !quiet.is_empty() {
            // Where nothing else is to be read, this is.
            details open[loud.is_empty()] {
                summary { (quiet.len()) " rules with nothing to do" }
                table.quiet {
                    thead {
                        tr {
                            th scope="col" { "Rule" } th scope="col" { "Section" } th scope="col" { "Status" }
                            th scope="col" { "Found" }
                        }
                    }
                    tbody {
                        @for found in quiet {
                            @let (rule, word) = (found.rule.rule(), found.status.word());
                            tr {
                                td title=(rule.title) { (rule.name) }
                                td.word { (rule.section) }
                                td class={ (word) " word" } { (word) }
                                td { (clean(&found.summary)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn finding(found: &Finding) -> Markup {
    let (rule, word) = (found.rule.rule(), found.status.word());
    html! {
        section class={ "finding " (word) } {
            p.head { b class=(word) { (word) } (rule.name) " " span { (rule.section) ": " (rule.title) } }
            p { (clean(&found.summary)) }
            (illegal::boards(found))
            @if !found.details.is_empty() { (lines(&found.details)) }
            @if !found.help.is_empty() { p.help { (clean(&found.help)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::ConfigFinding;
    use crate::model::entry_report::tests::{config_finding, report};
    use crate::model::rule::RuleId;

    #[test]
    fn the_page_needs_nothing_else_and_closes_what_it_opens() {
        let page = check(ReportInput::of(&[report(), report()]));
        for outside in ["http:", "https:", "src=", "<link", "<script", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        for tag in [
            "html",
            "head",
            "body",
            "article",
            "table",
            "thead",
            "tbody",
            "tr",
            "td",
            "th",
            "span",
            "div",
            "h1",
            "h2",
            "h3",
            "p",
            "pre",
            "ul",
            "li",
            "dl",
            "dt",
            "dd",
            "details",
            "summary",
            "section",
            "i",
            "b",
            "a",
            "footer",
            "style",
            "strong",
            "figure",
            "figcaption",
            "main",
            "svg",
            "symbol",
            "text",
        ] {
            let opened = page.matches(&format!("<{tag}>")).count()
                + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }

    #[test]
    fn a_hostile_name_is_text_wherever_it_stands() {
        let name = "</pre><script>alert(1)</script>\"' onload=x";
        let mut hostile = report();
        hostile.path = name.into();
        hostile.sha256 = Some(name.into());
        hostile.findings = vec![
            Finding::fail(RuleId::Size, name).detail(name).help(name),
            Finding::pass(RuleId::Format, name),
        ];
        hostile.transcript = vec![name.into()];
        hostile.layers[2].reason = name.into();
        hostile.execs[0].name = name.into();
        hostile.execs[0].argv = vec![name.into()];
        let finding = Finding::advice(RuleId::Size, name).detail(name).help(name);
        let config_findings = [ConfigFinding { file: name.into(), finding, ..config_finding() }];
        let page = check(ReportInput {
            entries: &[hostile.clone(), hostile],
            config_findings: &config_findings,
        });
        assert!(!page.contains("<script"), "{page}");
        assert!(!page.contains("\"' onload"), "{page}");
    }
}
