//! The page: a table of all entries, then a card an entry.

use std::fmt::Write;

use super::{board, games, illegal, size_bar, timeline};
use crate::model::entry_report::{EntryReport, ReportInput};
use crate::model::text::shown;
use crate::model::verdict::Finding;
use crate::view::facts::{circumstances, sandbox, start, summary, understands};
use crate::view::human;
use crate::view::markdown::left;
use crate::view::markup::html as safe;
use crate::view::text::clean;
use crate::view::weight::{FindingWeight, is_told};

/// Says to the browser what the page is anyhow: nothing is loaded and nothing is run, whatever an entry
/// might have smuggled into its text.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The page of all entries.
#[must_use]
pub(crate) fn check<'a>(told: impl Into<ReportInput<'a>>) -> String {
    let ReportInput { entries: reports, config_findings } = told.into();
    let tally = human::tally(reports.iter().map(|report| Some(report.verdict)));
    let title = match reports {
        [one] => format!("{}: {}", shown(&one.path), one.verdict.word()),
        _ => tally.trim_end().to_owned(),
    };
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>gate4k: {}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n<h1>gate4k check</h1>\n",
        safe(&title),
        include_str!("style.css")
    );
    if reports.len() != 1 {
        overview(&mut page, reports, &tally);
    }
    if reports.iter().any(|report| !report.games.is_empty() || illegal::is_drawn(report)) {
        page.push_str(board::PIECES);
    }
    for (number, report) in reports.iter().enumerate() {
        card(&mut page, number, report);
    }
    // Writing to a string cannot fail, here and below.
    for config_finding in config_findings {
        let place = format!("{}:{}", shown(&config_finding.file), config_finding.at);
        let _ = writeln!(page, "<article>\n<h2>{}</h2>", safe(&place));
        finding(&mut page, &config_finding.finding);
        page.push_str("</article>\n");
    }
    let _ = write!(
        page,
        "</main>\n<footer>gate4k {}, by the rules of TCEC 4k</footer>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    page
}

fn overview(page: &mut String, reports: &[EntryReport], tally: &str) {
    let _ = write!(
        page,
        "<p>{}</p>\n<table>\n<thead><tr><th scope=\"col\">Entry</th><th scope=\"col\">Verdict</th>\
         <th scope=\"col\" class=\"number\">Bytes</th></tr></thead>\n<tbody>\n",
        safe(tally.trim_end())
    );
    for (number, report) in reports.iter().enumerate() {
        let word = report.verdict.word();
        let _ = writeln!(
            page,
            "<tr><td><a href=\"#entry-{number}\">{}</a></td><td class=\"{word} word\">{word}</td>\
             <td class=\"number\">{}</td></tr>",
            safe(&shown(&report.path)),
            report.size.as_ref().map_or_else(|| "–".to_owned(), |size| size.total.0.to_string())
        );
    }
    page.push_str("</tbody>\n</table>\n");
}

fn card(page: &mut String, number: usize, report: &EntryReport) {
    let word = report.verdict.word();
    let _ = writeln!(
        page,
        "<article id=\"entry-{number}\">\n<h2><span class=\"badge {word}\">{word}</span>{}</h2>",
        safe(&shown(&report.path))
    );
    if let Some(size) = &report.size {
        page.push_str(&size_bar::bar(size));
    }
    findings(page, &report.findings);
    let chart = timeline::chart(report);
    if !chart.is_empty() {
        let _ = write!(page, "<h3>Start</h3>\n<p>{}</p>\n{chart}", safe(&start(report)));
    }
    page.push_str(&games::pictures(report));
    leftovers(page, report);
    facts(page, report);
    if !report.transcript.is_empty() {
        let lines: Vec<String> = report.transcript.iter().map(|line| safe(&clean(line))).collect();
        let _ = writeln!(
            page,
            "<details><summary>Transcript of the main run</summary>\n<pre tabindex=\"0\">{}</pre>\n</details>",
            lines.join("\n")
        );
    }
    page.push_str("</article>\n");
}

fn findings(page: &mut String, findings: &[Finding]) {
    page.push_str("<h3>Findings</h3>\n");
    let (mut loud, quiet): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|found| is_told(found));
    // The finding that rejects comes first, and what is left open before mere remarks.
    loud.sort_by_key(|found| FindingWeight::of(found));
    for found in &loud {
        finding(page, found);
    }
    if quiet.is_empty() {
        return;
    }
    // Where nothing else is to be read, this is.
    let open = if loud.is_empty() { " open" } else { "" };
    let _ = write!(
        page,
        "<details{open}><summary>{} rules with nothing to do</summary>\n<table class=\"quiet\">\n\
         <thead><tr><th scope=\"col\">Rule</th><th scope=\"col\">Section</th><th scope=\"col\">Status</th>\
         <th scope=\"col\">Found</th></tr></thead>\n<tbody>\n",
        quiet.len()
    );
    for found in quiet {
        let word = found.status.word();
        let _ = writeln!(
            page,
            "<tr><td title=\"{}\">{}</td><td class=\"word\">{}</td><td class=\"{word} word\">{word}</td>\
             <td>{}</td></tr>",
            safe(found.rule.rule().title),
            found.rule.name(),
            found.rule.rule().section,
            safe(&clean(&found.summary))
        );
    }
    page.push_str("</tbody>\n</table>\n</details>\n");
}

fn finding(page: &mut String, found: &Finding) {
    let word = found.status.word();
    let rule = found.rule.rule();
    let _ = write!(
        page,
        "<section class=\"finding {word}\">\n<p class=\"head\"><b class=\"{word}\">{word}</b>{} \
         <span>{}: {}</span></p>\n<p>{}</p>\n",
        rule.name,
        rule.section,
        safe(rule.title),
        safe(&clean(&found.summary))
    );
    page.push_str(&illegal::boards(found));
    if !found.details.is_empty() {
        let lines: Vec<String> = found.details.iter().map(|line| safe(&clean(line))).collect();
        let _ = writeln!(page, "<pre tabindex=\"0\">{}</pre>", lines.join("\n"));
    }
    if !found.help.is_empty() {
        let _ = writeln!(page, "<p class=\"help\">{}</p>", safe(&clean(&found.help)));
    }
    page.push_str("</section>\n");
}

fn leftovers(page: &mut String, report: &EntryReport) {
    if report.leftovers.is_empty() {
        return;
    }
    page.push_str("<h3>Left behind</h3>\n<ul>\n");
    for leftover in &report.leftovers {
        let _ = writeln!(page, "<li>{}</li>", safe(&left(leftover)));
    }
    page.push_str("</ul>\n");
}

fn facts(page: &mut String, report: &EntryReport) {
    page.push_str("<h3>Facts</h3>\n<dl>\n");
    let mut fact = |name: &str, text: &str| {
        let _ = writeln!(page, "<dt>{name}</dt><dd>{}</dd>", safe(text));
    };
    if timeline::chart(report).is_empty() {
        fact("start-up", &start(report));
    }
    for (label, text) in circumstances(report) {
        fact(label, &text);
    }
    for (label, text) in sandbox(&report.layers) {
        fact(label, &text);
    }
    if let Some(capabilities) = &report.capabilities {
        fact("understands", &understands(capabilities));
    }
    if let Some(sha256) = &report.sha256 {
        fact("sha256", sha256);
    }
    page.push_str("</dl>\n");
    if !report.runs.is_empty() {
        let count = report.runs.len();
        let noun = if count == 1 { "run" } else { "runs" };
        let _ = write!(page, "<details><summary>{count} {noun}</summary>\n<ul>\n");
        for run in &report.runs {
            let _ = writeln!(page, "<li>{}</li>", safe(&summary(run)));
        }
        page.push_str("</ul>\n</details>\n");
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
        let page = check(&[report(), report()]);
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
