//! Reports for people: the verdict first, then the bytes, then each finding that asks for something, the one that
//! rejects before all others. Rules that were kept, remarks that ask for nothing and rules that were not tried are a line
//! each; `-v` tells every rule by itself.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use super::facts::{self, summary};
use super::layout::PageLayout;
use super::size;
use super::text::{clean, put};
use super::weight::{FindingWeight, is_told};
use crate::model::entry_report::{ConfigFinding, EntryReport};
use crate::model::text::shown;
use crate::model::verdict::{Finding, Status, Verdict};
use crate::model::words::counted;

/// Columns of a finding before its summary: status, rule and section with two blanks around each.
const COLUMNS: usize = 2 + 9 + 2 + 18 + 2 + 8 + 2;
/// Columns of a label below the findings.
const LABEL: usize = 15;

/// More rules than these that were not tried are told by their number: the one that failed is what counts.
const MANY: usize = 10;

pub(super) fn verdict_style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Accepted => AnsiColor::Green,
        Verdict::Undecided => AnsiColor::Yellow,
        Verdict::Rejected => AnsiColor::Red,
    }
    .on_default()
    .bold()
}

fn status_style(status: Status) -> Style {
    match status {
        Status::Pass => AnsiColor::Green.on_default(),
        Status::Fail => AnsiColor::Red.on_default().bold(),
        Status::Undecided => AnsiColor::Yellow.on_default().bold(),
        Status::Advice => AnsiColor::Cyan.on_default(),
        Status::Skipped => Style::new().dimmed(),
    }
}

/// The page of one entry.
pub(crate) fn entry(report: &EntryReport, layout: PageLayout) -> String {
    let mut page = String::new();
    header(&mut page, report, layout);
    if let Some(figures) = &report.size {
        page.push_str(&size::lines(figures, layout));
    }
    page.push('\n');
    if layout.verbose {
        for found in &report.findings {
            finding(&mut page, found, layout);
        }
    } else {
        telling(&mut page, &report.findings, layout);
    }
    page.push('\n');
    let mut fact = |label: &str, text: &str| {
        if layout.plain {
            let label = if label.is_empty() { String::new() } else { format!("{label}: ") };
            put(&mut page, "  ", 2, &format!("{label}{text}"), layout.width);
        } else {
            put(&mut page, &format!("  {label:<13}"), LABEL, text, layout.width);
        }
    };
    for (label, text) in facts::lines(report, false, layout.verbose) {
        fact(label, &text);
    }
    if let Some(sha256) = &report.sha256 {
        fact("sha256", sha256);
    }
    if layout.verbose {
        for (number, run) in report.runs.iter().enumerate() {
            fact(if number == 0 { "runs" } else { "" }, &summary(run));
        }
        if !report.transcript.is_empty() {
            page.push_str("\n  transcript of the main run\n");
            for line in &report.transcript {
                // Never wrapped: these are somebody's exact words.
                let _ = writeln!(page, "    {}", clean(line));
            }
        }
    }
    page.push('\n');
    page
}

/// Findings that are of no entry, below the name of the file that they are on.
pub(crate) fn config_findings(config_findings: &[ConfigFinding], layout: PageLayout) -> String {
    let mut page = String::new();
    for config_finding in config_findings {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "{}:{}", shown(&config_finding.file), config_finding.at);
        finding(&mut page, &config_finding.finding, layout);
        page.push('\n');
    }
    page
}

/// The verdict word, the path, and below them the rules that made it so.
fn header(page: &mut String, report: &EntryReport, layout: PageLayout) {
    let style = verdict_style(report.verdict);
    let word = report.verdict.word();
    // Writing to a string cannot fail, here and below.
    let path = shown(&report.path);
    let _ = if layout.plain {
        writeln!(page, "{style}{word}{style:#}: {path}")
    } else {
        writeln!(page, "{style}{word:<9}{style:#}  {path}")
    };
    let named = |statuses: &[Status]| {
        report
            .findings
            .iter()
            .filter(|found| found.rule.is_gate())
            .filter(|found| statuses.contains(&found.status))
            .map(|found| found.rule.name())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let (word, names) = match report.verdict {
        Verdict::Accepted => return,
        Verdict::Rejected => ("breaks", named(&[Status::Fail])),
        Verdict::Undecided => ("open:", named(&[Status::Undecided, Status::Skipped])),
    };
    if !names.is_empty() {
        put(page, "  ", 2, &format!("{word} {names}"), layout.width);
    }
}

/// The findings that ask for something, by weight, then the names of all others.
fn telling(page: &mut String, findings: &[Finding], layout: PageLayout) {
    let mut told: Vec<&Finding> = findings.iter().filter(|f| is_told(f)).collect();
    told.sort_by_key(|found| FindingWeight::of(found));
    for found in told {
        finding(page, found, layout);
    }
    let mut folded = |status: Status, text: String| {
        let style = status_style(status);
        let word = status.word();
        if layout.plain {
            put(page, "  ", 2, &format!("{style}{word}{style:#}: {text}"), layout.width);
        } else {
            put(page, &format!("  {style}{word:<9}{style:#}  "), 13, &text, layout.width);
        }
    };
    let names = |of: &dyn Fn(&Finding) -> bool| {
        let named: Vec<&str> =
            findings.iter().filter(|found| of(found)).map(|found| found.rule.name()).collect();
        (!named.is_empty()).then(|| named.join(", "))
    };
    let untold = |weight| names(&|found| FindingWeight::of(found) == weight && !is_told(found));
    if let Some(noted) = untold(FindingWeight::Remark) {
        folded(Status::Advice, format!("{noted} (nothing to do; -v tells)"));
    }
    if let Some(kept) = untold(FindingWeight::Kept) {
        folded(Status::Pass, kept);
    }
    let mut causes: Vec<&str> = Vec::new();
    for found in findings.iter().filter(|found| found.status == Status::Skipped) {
        if !causes.contains(&found.summary.as_str()) {
            causes.push(&found.summary);
        }
    }
    for cause in causes {
        let same = |found: &Finding| found.status == Status::Skipped && found.summary == cause;
        let count = findings.iter().filter(|found| same(found)).count();
        if count > MANY {
            folded(Status::Skipped, format!("{}: {count} rules (-v names them)", clean(cause)));
            continue;
        }
        let skipped = names(&same).unwrap_or_default();
        folded(Status::Skipped, format!("{}: {skipped}", clean(cause)));
    }
}

fn finding(page: &mut String, found: &Finding, layout: PageLayout) {
    summary_of(page, found, layout);
    let evidence = match found.status {
        Status::Fail | Status::Undecided => true,
        // The line of a waiver is what its reader may want to change.
        Status::Advice if found.is_waived() => true,
        Status::Pass | Status::Advice | Status::Skipped => layout.verbose,
    };
    if evidence {
        for line in &found.details {
            put(page, "      ", 6, &clean(line), layout.width);
        }
    }
    if !found.help.is_empty() && found.status != Status::Pass {
        put(page, &format!("      {}", layout.step()), 8, &clean(&found.help), layout.width);
    }
}

/// Status, rule and what was found.
fn summary_of(page: &mut String, found: &Finding, layout: PageLayout) {
    let style = status_style(found.status);
    if layout.plain {
        let (status, rule, section) =
            (found.status.word(), found.rule.name(), found.rule.rule().section);
        let line =
            format!("{style}{status}{style:#}: {rule} (rule {section}): {}", clean(&found.summary));
        put(page, "  ", 2, &line, layout.width);
        return;
    }
    // With one blank less the longest section just fits into 40 columns.
    let gap = if layout.width < COLUMNS { 1 } else { 2 };
    let lead = format!(
        "  {style}{:<9}{style:#}  {:<18}{:gap$}{:<8}  ",
        found.status.word(),
        found.rule.name(),
        "",
        found.rule.rule().section
    );
    let text = clean(&found.summary);
    if layout.width >= COLUMNS + 30 {
        put(page, &lead, COLUMNS, &text, layout.width);
    } else {
        put(page, "", 0, lead.trim_end(), layout.width);
        put(page, "      ", 6, &text, layout.width);
    }
}

/// The last line when several entries were asked for; none stands for one that was not judged.
pub(crate) fn tally(verdicts: impl IntoIterator<Item = Option<Verdict>>) -> String {
    let verdicts: Vec<Option<Verdict>> = verdicts.into_iter().collect();
    let words = [
        (Some(Verdict::Accepted), "accepted"),
        (Some(Verdict::Undecided), "undecided"),
        (Some(Verdict::Rejected), "rejected"),
        (None, "not judged"),
    ];
    let parts: Vec<String> = words
        .iter()
        .map(|(wanted, word)| (verdicts.iter().filter(|v| *v == wanted).count(), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    format!("{}: {}\n", counted(verdicts.len(), "entry"), parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::StartTimes;
    use crate::model::entry_report::tests::{config_finding, report};
    use crate::model::rule::{RULES, RuleId};
    use crate::model::verdict::LEFT_OUT;
    use crate::model::verdict::WAIVED;

    fn plain(report: &EntryReport, width: usize, verbose: bool) -> String {
        let page = entry(report, PageLayout { verbose, ..PageLayout::of_width(width) });
        anstream::adapter::strip_str(&page).to_string()
    }

    #[test]
    fn the_columns_fit_every_rule() {
        for rule in RULES {
            assert!(rule.name.len() <= 18 && rule.section.len() <= 8);
        }
    }

    #[test]
    fn a_whole_page() {
        let expected = "\
rejected   entries/tiny
  breaks size
  █▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓│▒  4117 of 4096 bytes, 21 over
  █ stub 69   ▓ payload 4028   ▒ engines.json 20
  (by its bare values, engines.json counts 12)

  fail       size                7.1, 7.3  4117 bytes, 21 over
      file 4097, engines.json 20
      → save 21 bytes
  undecided  commands            7.5, 7.8  pypy3 is not installed here
      asked for by sh after 3 ms
      → install pypy3
  advice     long-game           7.9       a list of 1000 plies is cut
      → make the buffer longer
  pass       single-file
  skipped    not tried, because of commands: uci-go

  start-up     uciok after 0.412 s, readyok after 0.413 s
  sandbox      enforced: landlock, seccomp
               partial: net: loopback is up
               absent: user: refused by the host
  sha256       abababababababababababababababababababababababababababababababab

";
        assert_eq!(plain(&report(), 100, false), expected);
    }

    #[test]
    fn a_remark_that_asks_for_nothing_is_a_name() {
        let mut quiet = report();
        quiet.findings = vec![
            Finding::advice(RuleId::UciQuit, "it reads late"),
            Finding::pass(RuleId::Size, "4000 bytes"),
            Finding::pass(RuleId::LegalMoves, "9 of 40 positions were asked").with(LEFT_OUT, 31),
            Finding::advice(RuleId::LeftoverFiles, "one remains when killed").help("remove it"),
            Finding::advice(RuleId::Commands, "waived: sed").with(WAIVED, true),
        ];
        let page = plain(&quiet, 100, false);
        let at = |part: &str| page.find(part).unwrap_or_else(|| panic!("no {part:?} in {page}"));
        assert!(at("leftover-files") < at("  advice     uci-quit (nothing to do; -v tells)\n"));
        assert!(at("uci-quit (nothing") < at("  pass       size\n"));
        assert!(page.contains("9 of 40 positions were asked"), "{page}");
        assert!(page.contains("waived: sed") && !page.contains("it reads late"));
        assert!(plain(&quiet, 100, true).contains("it reads late"));
    }

    #[test]
    fn a_plain_page_has_words_in_place_of_bars_arrows_and_columns() {
        let page = entry(&report(), PageLayout { plain: true, ..PageLayout::of_width(100) });
        let page = anstream::adapter::strip_str(&page).to_string();
        let expected = "\
rejected: entries/tiny
  breaks size
  4117 of 4096 bytes, 21 over
  stub 69, payload 4028, engines.json 20
  (by its bare values, engines.json counts 12)

  fail: size (rule 7.1, 7.3): 4117 bytes, 21 over
      file 4097, engines.json 20
      next step: save 21 bytes
  undecided: commands (rule 7.5, 7.8): pypy3 is not installed here
      asked for by sh after 3 ms
      next step: install pypy3
";
        assert!(page.starts_with(expected), "{page}");
        assert!(page.contains("\n  pass: single-file\n") && page.is_ascii(), "{page}");
    }

    #[test]
    fn a_narrow_page_puts_summaries_below() {
        let page = plain(&report(), 60, false);
        assert!(
            page.contains(
                "\n  fail       size                7.1, 7.3\n      4117 bytes, 21 over\n"
            ),
            "{page}"
        );
        for line in page.lines().filter(|line| !line.contains("abab")) {
            assert!(line.chars().count() <= 60, "{line}");
        }
    }

    #[test]
    fn verbose_adds_evidence_runs_and_transcript() {
        let page = plain(&report(), 140, true);
        for part in [
            "      not shown\n",
            "      also not shown\n",
            "  understands  yes: go-clock, stop · no: fen · not told: go-bare, movetime, depth, nodes, ",
            "  runs         long-game 340 (dash): no uciok; 3 of 4 questions answered; killed, \
             killed by SIGKILL\n",
            "\n  transcript of the main run\n       0.000 > uci\n       0.412 < uciok\n",
        ] {
            assert!(page.contains(part), "{part:?} is not in {page}");
        }
    }

    #[test]
    fn what_is_of_no_entry_stands_below_its_place() {
        let page = config_findings(&[config_finding()], PageLayout::of_width(100));
        assert_eq!(
            anstream::adapter::strip_str(&page).to_string(),
            "gate4k.toml:3:9\n  advice     size                7.1, 7.3  the waiver matches nothing\n      \
             → remove it\n\n"
        );
    }

    #[test]
    fn an_entry_that_never_ran_says_so() {
        let never = EntryReport {
            sha256: None,
            size: None,
            startup: StartTimes::default(),
            layers: Vec::new(),
            capabilities: None,
            verdict: Verdict::Undecided,
            ..report()
        };
        let page = plain(&never, 100, false);
        assert!(
            page.starts_with("undecided  entries/tiny\n  open: commands, uci-go\n\n"),
            "{page}"
        );
        assert!(page.contains("start-up     not tried\n  sandbox      not used"), "{page}");
    }

    #[test]
    fn a_hostile_name_cannot_forge_a_line() {
        let mut forged = report();
        forged.path = "x\naccepted  y".into();
        forged.findings = vec![Finding::fail(RuleId::Size, "a\naccepted \x1b[2J")];
        let page = plain(&forged, 100, false);
        assert!(!page.lines().any(|line| line.starts_with("accepted")), "{page}");
        assert!(
            !entry(&forged, PageLayout { verbose: true, ..PageLayout::of_width(100) })
                .contains("\x1b[2J")
        );
    }

    #[test]
    fn the_tally_counts_what_was_not_judged() {
        let accepted = EntryReport { verdict: Verdict::Accepted, ..report() };
        assert_eq!(
            tally([Some(report().verdict), Some(accepted.verdict), None, None]),
            "4 entries: 1 accepted, 1 rejected, 2 not judged\n"
        );
    }
}
