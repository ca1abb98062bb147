//! Reports in Markdown, for comments and for the summary of a step, which GitHub limits to 1 MiB.

use super::facts;
use super::human;
use super::markup::{fenced, markdown as safe};
use super::text::{clean, clean_lines};
use super::weight::{because, is_told};
use crate::model::entry_report::{ConfigFinding, EntryReport, Leftover, ReportInput};
use crate::model::text::shown;
use crate::model::verdict::{Finding, Verdict};

/// The bytes that the summary of a step may hold at most.
pub(crate) const SUMMARY_LIMIT: usize = 1 << 20;

/// The extent of what is told of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// The whole report.
    Whole,
    /// Without the conversation.
    NoTranscript,
    /// Only what did not pass.
    Faults,
    /// A row of the table.
    Row,
}

/// The page with all of it.
pub(crate) fn check(input: ReportInput<'_>) -> String {
    page(input, Detail::Whole)
}

/// The page of a run that judged nothing.
pub(crate) fn failure(why: &str) -> String {
    format!("**gate4k judged nothing**\n\n    {}\n", clean_lines(why).replace('\n', "\n    "))
}

/// As [`check`] within `room` bytes: first the conversations go, then what passed, then all but the table,
/// then rows of the table, and the page says so.
pub(crate) fn within(input: ReportInput<'_>, room: usize) -> String {
    let reports = input.entries;
    for detail in [Detail::Whole, Detail::NoTranscript, Detail::Faults, Detail::Row] {
        let page = page(input, detail);
        if page.len() <= room {
            return page;
        }
    }
    // The rows that ask for something come first when not all of them fit.
    let mut sorted: Vec<&EntryReport> = reports.iter().collect();
    sorted.sort_by_key(|report| std::cmp::Reverse(report.verdict));
    let last = format!("\nMore entries than fit here: {} in all.\n", reports.len());
    let mut page = head(reports);
    for report in sorted {
        let row = row(report);
        if page.len() + row.len() + last.len() > room {
            break;
        }
        page.push_str(&row);
    }
    page.push_str(&last);
    if page.len() <= room { page } else { String::new() }
}

fn page(input: ReportInput<'_>, detail: Detail) -> String {
    let reports = input.entries;
    let mut page = head(reports);
    for report in reports {
        page.push_str(&row(report));
    }
    config_findings(&mut page, input.config_findings);
    if detail != Detail::Row {
        for report in reports {
            entry(&mut page, report, detail);
        }
    }
    let left_out = match detail {
        Detail::Whole => return page,
        Detail::NoTranscript => "the conversations are",
        Detail::Faults => "the conversations and what passed are",
        Detail::Row => "all but the verdicts is",
    };
    page.push_str(&format!("\nFor want of room {left_out} left out here.\n"));
    page
}

fn head(reports: &[EntryReport]) -> String {
    let tally = match reports {
        [] => "no entry was judged".to_owned(),
        [one] => one.verdict.word().to_owned(),
        _ => human::tally(reports.iter().map(|report| Some(report.verdict))),
    };
    let mut head = format!("## gate4k: {}\n", safe(tally.trim_end()));
    if !reports.is_empty() {
        head += "\n| Entry | Verdict | Bytes | Because of |\n| :-- | :-- | --: | :-- |\n";
    }
    head
}

fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Accepted => "✅",
        Verdict::Undecided => "❔",
        Verdict::Rejected => "❌",
    }
}

fn row(report: &EntryReport) -> String {
    format!(
        "| {} | {} {} | {} | {} |\n",
        safe(&shown(&report.path)),
        sign(report.verdict),
        report.verdict.word(),
        report.size.as_ref().map_or_else(|| "–".to_owned(), |size| size.total.0.to_string()),
        because(report)
    )
}

/// The findings that are of no entry, below the file that they are on.
fn config_findings(page: &mut String, config_findings: &[ConfigFinding]) {
    for config_finding in config_findings {
        page.push_str(&format!(
            "\n### {}:{}\n\n",
            safe(&shown(&config_finding.file)),
            config_finding.at
        ));
        finding(page, &config_finding.finding);
    }
}

fn entry(page: &mut String, report: &EntryReport, detail: Detail) {
    page.push_str(&format!(
        "\n### {} {}: {}\n\n",
        sign(report.verdict),
        safe(&shown(&report.path)),
        report.verdict.word()
    ));
    if let Some(size) = &report.size {
        page.push_str(&format!("**{}**\n\n", safe(&size.words())));
    }
    let loud = |found: &&Finding| is_told(found);
    for found in report.findings.iter().filter(loud) {
        finding(page, found);
    }
    let quiet: Vec<&Finding> = report.findings.iter().filter(|found| !loud(found)).collect();
    if detail == Detail::Faults {
        return;
    }
    if !quiet.is_empty() {
        page.push_str(&format!(
            "\n<details><summary>{} rules with nothing to do</summary>\n\n\
             | Rule | Section | | |\n| :-- | :-- | :-- | :-- |\n",
            quiet.len()
        ));
        for found in quiet {
            page.push_str(&format!(
                "| {} | {} | {} | {} |\n",
                found.rule.name(),
                found.rule.rule().section,
                found.status.word(),
                safe(&clean(&found.summary))
            ));
        }
        page.push_str("\n</details>\n");
    }
    fold_facts(page, report);
    if detail == Detail::Whole && !report.transcript.is_empty() {
        let lines: Vec<String> = report.transcript.iter().map(|line| clean(line)).collect();
        page.push_str(&format!(
            "\n<details><summary>Transcript of the main run</summary>\n\n{}\n</details>\n",
            fenced(&lines)
        ));
    }
}

fn finding(page: &mut String, found: &Finding) {
    page.push_str(&format!(
        "- **{} {}** ({}): {}\n",
        found.status.word(),
        found.rule.name(),
        found.rule.rule().section,
        safe(&clean(&found.summary))
    ));
    if !found.help.is_empty() {
        page.push_str(&format!("  <br>→ {}\n", safe(&clean(&found.help))));
    }
    if !found.details.is_empty() {
        let lines: Vec<String> = found.details.iter().map(|line| clean(line)).collect();
        page.push('\n');
        for line in fenced(&lines).lines() {
            page.push_str(&format!("  {line}\n"));
        }
    }
}

fn fold_facts(page: &mut String, report: &EntryReport) {
    page.push_str("\n<details><summary>Start, sandbox, leftovers</summary>\n\n");
    let mut fact = |name: &str, text: &str| {
        page.push_str(&format!("- **{name}**: {}\n", safe(text)));
    };
    for (label, text) in facts::lines(report, false, true) {
        fact(if label.is_empty() { "not whole" } else { label }, &text);
    }
    for leftover in &report.leftovers {
        fact("left behind", &left(leftover));
    }
    if let Some(sha256) = &report.sha256 {
        fact("sha256", sha256);
    }
    page.push_str("\n</details>\n");
}

/// A leftover in a line.
pub(super) fn left(leftover: &Leftover) -> String {
    match leftover {
        Leftover::File(file) => {
            let mut line = format!("{} {}, {}", clean(&file.kind), clean(&file.path), file.size);
            if let Some(by) = &file.made_by {
                line.push_str(&format!(", made by {}", clean(by)));
            }
            if let Some(pattern) = &file.exempt {
                line.push_str(&format!(", a cache of a system program ({})", clean(pattern)));
            }
            line
        }
        Leftover::Process(process) => format!(
            "process {} in state {}: {}",
            process.pid,
            clean(&process.state.to_string()),
            clean(&process.command)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::tests::{config_finding, report};
    use crate::model::rule::RuleId;

    #[test]
    fn a_run_that_judged_nothing_has_no_empty_table_and_no_broken_lines() {
        let told = failure("gate4k.toml:6:1: unknown\n6 | x");
        assert!(told.ends_with("    gate4k.toml:6:1: unknown\n    6 | x\n"), "{told}");
        assert_eq!(head(&[]), "## gate4k: no entry was judged\n");
    }

    #[test]
    fn a_hostile_name_starts_no_markup_and_calls_nobody() {
        let name = "a|b\n# <img src=x> @someone [x](http://y) ```";
        let hostile = EntryReport {
            path: name.into(),
            findings: vec![Finding::fail(RuleId::Size, name).detail(name).help(name)],
            transcript: vec![format!("``` </details> {name}")],
            ..report()
        };
        let page = check(ReportInput::of(&[hostile]));
        // The lines in a fence are text; outside of it nothing may be left as it was.
        let mut fence: Option<&str> = None;
        for line in page.lines().map(str::trim_start) {
            let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
            match fence {
                Some(open) if ticks.len() >= open.len() => fence = None,
                Some(_) => {}
                None if ticks.len() >= 3 => fence = Some(ticks),
                None => {
                    for part in ["<img", "@someone", " [x]", "http://", "\\n# "] {
                        assert!(!line.contains(part), "{part}: {line}");
                    }
                }
            }
        }
        assert_eq!(fence, None, "{page}");
    }

    #[test]
    fn what_is_of_no_entry_has_its_own_heading() {
        let config_findings = [config_finding()];
        let page = check(ReportInput { entries: &[], config_findings: &config_findings });
        assert!(
            page.ends_with(
                "\n### gate4k.toml:3:9\n\n- **advice size** (7.1, 7.3): the waiver matches nothing\n  \
                 <br>→ remove it\n\n  ```text\n  its reason was: x\n  ```\n"
            ),
            "{page}"
        );
    }

    #[test]
    fn a_summary_keeps_to_its_room_and_says_what_it_left_out() {
        let reports: Vec<EntryReport> = (0..50)
            .map(|number| EntryReport {
                path: format!("entries/{number}").into(),
                transcript: vec!["x".repeat(500); 4],
                verdict: if number == 49 { Verdict::Rejected } else { Verdict::Accepted },
                ..report()
            })
            .collect();
        let whole = check(ReportInput::of(&reports));
        for room in [whole.len(), 100_000, 40_000, 20_000, 5_000, 1_000, 400, 10] {
            let page = within(ReportInput::of(&reports), room);
            assert!(page.len() <= room, "{} in {room}", page.len());
            let told = page.contains("For want of room") || page.contains("More entries than fit");
            assert_eq!(told, room != whole.len() && room != 10, "{room}: {page}");
        }
        assert!(within(ReportInput::of(&reports), 1_000).contains("entries/49"));
    }
}
